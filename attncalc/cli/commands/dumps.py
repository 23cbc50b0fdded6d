"""`attncalc check dump-a.npz dump-b.npz`: two implementations, the first taken as the key."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attncalc.base.errors import InputError
from attncalc.cli.commands.refusals import refuse
from attncalc.cli.commands.screens import written
from attncalc.cli.targets import check_targets, deliver, output, target_of
from attncalc.grading.dumps import compared
from attncalc.reading.dumps import beside, is_dump, read_dump
from attncalc.writing.forms import form_of
from attncalc.writing.reports.dumps import dumps_as_json, dumps_document

FORMS = ("table", "markdown", "json")
_OF_MARKS = ("sheet", "steps", "weight", "reading")


def are_dumps(flags: Mapping[str, Any]) -> bool:
    """Return whether the given problem and the only answer are dumps of programs."""
    file, answers = flags["file"], flags["answers"]
    if flags["dump"] or file in (None, "-") or len(answers) != 1 or answers[0] == "-":
        return False
    return Path(answers[0]).is_file() and is_dump(Path(file))


def check_dumps(flags: Mapping[str, Any]) -> bool:
    """Compare them, write that where it is asked for, and return whether any array differs."""
    refuse(flags, _OF_MARKS, "{} is for answers to a problem, and these are two dumps")
    target = target_of("--out", flags["out"])
    implied = None if target.place is None else form_of(target.place.suffix)
    form = flags["format"] or implied or "table"
    if form not in FORMS:
        raise InputError(f"two dumps are compared as {', '.join(FORMS)}, and not as {form}")
    places = flags["file"], flags["answers"][0]
    key, other, alone = beside(*(read_dump(Path(place)) for place in places))
    check_targets(target)
    if not key:
        raise InputError(f"{places[0]} and {places[1]} have no array of one name")
    atol, rtol = flags["atol"] or 0.0, flags["rtol"] or 0.0
    found = compared(key, other, atol, rtol)
    said = f"within {atol:g}" + (f" + {rtol:g} · |key|" if rtol else "")
    document = dumps_document(found, *places, said if atol or rtol else "to the last bit", alone)
    if form == "json":
        deliver(output(target, dumps_as_json(found, alone)))
    else:
        notes = document.notes if form == "table" else ()
        deliver(output(target, written(document, form, target), *notes))
    return any(each.differ for each in found)
