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
    file, texts = file_and_texts(flags["things"])
    problem = problem_from({**flags, "file": file}, fallback="self")
    changes = [read_change(text, problem) for text in texts]
    watched = read_watched(flags["watch"] or (), problem)
    with reporting() as report:
        found = solve_at_each(problem, changes, watched, report, agreed=flags["yes"])
    show(forms_of(found, full=flags["full"]), wanted, flags)


def file_and_texts(things: list[str]) -> tuple[str | None, list[str]]:
    """Return the file, if one is named, and the changes."""
    files = things[:1] if exists(things[0]) or "=" not in things[0] else []
    changes = things[len(files) :]
    if not changes:
        raise InputError(f"nothing changes: {HOW_TO_CHANGE}")
    if len(changes) > MOST_CHANGES:
        raise InputError(f"{len(changes)} changes: one makes a curve, two make a grid")
    return (files[0] if files else None), changes
