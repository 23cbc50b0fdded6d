"""`attncalc vary`: a problem at many values."""

from collections.abc import Mapping
from typing import Any

from attncalc.base.errors import InputError
from attncalc.cli.commands.problem import problem_from
from attncalc.cli.commands.studies import show, wanted_from
from attncalc.cli.progress import reporting
from attncalc.reading.files import exists
from attncalc.reading.studies.changes import HOW_TO_CHANGE, read_change
from attncalc.reading.studies.watched import read_watched
from attncalc.studies.vary import MOST_CHANGES
from attncalc.studies.vary import vary as solve_at_each
from attncalc.writing.studies.forms import forms_of


def vary(flags: Mapping[str, Any]) -> None:
    """Solve at each value, and write the watched quantities."""
    wanted = wanted_from(flags)
    file, *texts = flags["things"]
    if "=" in file and not exists(file):
        file, texts = None, flags["things"]
    if not texts:
        raise InputError(f"nothing changes: {HOW_TO_CHANGE}")
    if len(texts) > MOST_CHANGES:
        raise InputError(f"{len(texts)} changes: one makes a curve, two make a grid")
    problem = problem_from({**flags, "file": file}, fallback="self")
    changes = [read_change(text, problem) for text in texts]
    watched = read_watched(flags["watch"] or (), problem)
    with reporting() as report:
        found = solve_at_each(problem, changes, watched, report, agreed=flags["yes"])
    show(forms_of(found, full=flags["full"]), wanted, flags)
