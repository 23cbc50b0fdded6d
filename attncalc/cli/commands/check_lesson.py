"""`attncalc check --lesson lesson.md`: a document beside what follows from its own numbers."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from attncalc.base.errors import AttncalcError, InputError
from attncalc.base.sources import remember
from attncalc.base.workers import cores, mapped
from attncalc.cli.commands.marking import unforeseen
from attncalc.cli.commands.problem import conventions_of
from attncalc.cli.commands.screens import tables_of
from attncalc.cli.streams import receive
from attncalc.cli.targets import Target, check_targets, deliver, output, target_of
from attncalc.grading.lesson import Checked, Finding, Judged, Read, check_example
from attncalc.problem.fields import GIVEN
from attncalc.reading.answers.answer import Answer, WrittenMatrix
from attncalc.reading.files import is_found, read_bytes, refuse_found
from attncalc.reading.lesson import (
    Example,
    Lesson,
    lessons_in,
    lines_of,
    numbers_of,
    read_lesson,
)
from attncalc.reading.sums import sums_in
from attncalc.writing.forms import form_of
from attncalc.writing.reports.lesson import lessons_as_json, lessons_document

FORMS = ("table", "markdown", "latex", "html", "json")
LONG = 100_000
"""Characters of an example up to which it is tried by other conventions: each reads it again."""
RIGHT, WRONG, NOTHING = 0, 1, 2
"""How the command ends."""
_OF_MARKS = ("steps", "weight", "points", "require", "rubric", "follow_penalty", "atol", "rtol",
             "rounding_penalty", "precision_penalty", "sheet", "reading")  # fmt: skip


def check_lessons(flags: Mapping[str, Any]) -> int:
    """Check documents, write what was found, and return how the command ends."""
    for name in (*_OF_MARKS, *GIVEN):
        if flags.get(name):
            flag = {"sheet": "csv"}.get(name, name.replace("_", "-"))
            raise InputError(f"--{flag} is for answers to a problem, and not for --lesson")
    target = target_of("--out", flags["out"])
    form = flags["format"] or (form_of(target.place.suffix) if target.place else "table")
    if form not in FORMS:
        raise InputError(f"lessons are reported as {', '.join(FORMS)}, and not as {form}")
    said = {name: each for name, each in conventions_of(flags).items() if name != "title"}
    named = [flags["file"], *(flags["answers"] or ())]
    places = [each for place in named for each in lessons_in(place)]
    for place in places:
        if place != "-":
            remember(Path(place))
    check_targets(target)
    work = partial(_checked, named, said)
    read = [*mapped(work, places, 1 if "-" in places else flags["jobs"] or cores())]
    deliver(output(target, _written(read, form, target)))
    if any(each.wrong for each in read):
        return WRONG
    return RIGHT if any(each.right for each in read) else NOTHING


def _written(read: Sequence[Read], form: str, target: Target) -> str:
    if form == "json":
        return lessons_as_json(read)
    document = lessons_document(read)
    if form == "markdown":
        from attncalc.writing.markdown import write_markdown

        return write_markdown(document)
    if form == "latex":
        from attncalc.writing.latex import write_latex

        return write_latex(document)
    if form == "html":
        from attncalc.writing.html.page import write_html

        return write_html(document)
    return tables_of(document, target)


def _checked(named: Sequence[str], said: Mapping[str, Any], place: str) -> Read:
    """Return what was found in one document; one that cannot be read stops none of the others."""
    try:
        if place == "-":
            return findings_of(read_lesson("standard input", receive()), said)
        if is_found(place, named):
            refuse_found(Path(place))
        return findings_of(read_lesson(place, read_bytes(Path(place))), said)
    except AttncalcError as error:
        return Read(place, (), str(error))
    except Exception as error:
        return Read(place, (), unforeseen(place, error))


def findings_of(lesson: Lesson, said: Mapping[str, Any]) -> Read:
    """Return what is found in a lesson, by the conventions that the user states."""
    found: list[Finding] = []
    seen: set[int] = set()
    for example in lesson.examples():
        for each in _of_example(lesson, example, said):
            found.append(each)
            seen.update(range(each.line, each.last + 1))
    for one in sums_in(lesson.lines):
        if one.line not in seen or not one.is_right:
            kind = "right" if one.is_right else "wrong"
            right = f"{one.value:.{len(one.result.partition('.')[2])}f}"
            where = lesson.where(one.line)
            found.append(
                Finding(kind, where, one.line, one.line, one.text, found=one.result, right=right)
            )
            seen.add(one.line)
    others = [
        number
        for number, line in enumerate(lesson.lines, start=1)
        if number not in seen and numbers_of(lesson.with_points[number - 1])
    ]
    for _, run in groupby(enumerate(others), lambda each: each[1] - each[0]):
        lines = [line for _, line in run]
        why = "no result of a step is read in it"
        where = lesson.where(lines[0], lines[-1])
        found.append(Finding("other", where, lines[0], lines[-1], "", why=why))
    placed = (
        each._replace(line=lesson.line(each.line), last=lesson.line(each.last))
        for each in sorted(found, key=lambda each: each.line)
    )
    return Read(lesson.place, tuple(placed))


def _of_example(lesson: Lesson, example: Example, said: Mapping[str, Any]) -> list[Finding]:
    size = sum(len(line) for line in lesson.lines[example.first - 1 : example.last])
    read = partial(lesson.read, example)
    checked = check_example(example.matrices, example.own, read, said, by_one=size > LONG)
    first = lesson.read(example)
    found: list[Finding] = []
    if checked is not None:
        for each in checked.judged:
            found += _of_step(lesson, checked, each)
    named = {each.name for each in found}
    for name in sorted(example.own - named):
        is_given = checked is not None and name in checked.given
        is_known = checked is not None and name in checked.steps
        why = "nothing that it follows from is given"
        why = "" if is_given else "it is not clear where it belongs" if is_known else why
        kind = "given" if is_given else "unchecked"
        one = _finding(kind, lesson, first, name, example.matrices[name])._replace(why=why)
        if not any(each.line <= one.line <= each.last for each in found if each.kind != "given"):
            found.append(one)
    listed = {line for each in found for line in range(each.line, each.last + 1)}
    for unread in checked.answer.unread if checked else first.unread:
        if unread.line in listed:
            continue
        where = lesson.where(unread.line)
        said_of = Finding("unchecked", where, unread.line, unread.line, unread.text, why=unread.why)
        found.append(said_of)
    return found


def _of_step(lesson: Lesson, checked: Checked, judged: Judged) -> list[Finding]:
    """Return what is said of a result: a finding for each wrong number, or one for all of it."""
    step, written = judged.name, judged.written
    whole = _finding("right", lesson, checked.answer, step, written)
    under = " and ".join(judged.under)
    if judged.why_not:
        return [whole._replace(kind="unchecked", why=judged.why_not)]
    if not judged.wrong:
        return [whole._replace(under=under)]
    as_shown = checked.answer.matrices.get(step, written)
    at = lines_of(lesson, checked.answer, step, _rows(as_shown))
    found = [whole._replace(kind="read")]
    for each in judged.wrong:
        shown = tuple(index - 1 for index in each.place)
        line = at[int(np.ravel_multi_index(shown, as_shown.shape, mode="clip"))]
        found.append(
            Finding("wrong", lesson.where(line), line, line, step, each.place, each.found,
                    each.right, under, "; ".join(judged.causes[:2]))
        )  # fmt: skip
    return found


def _finding(
    kind: str, lesson: Lesson, answer: Answer, name: str, written: WrittenMatrix
) -> Finding:
    """Return what is said of all lines of a matrix."""
    lines = lines_of(lesson, answer, name, _rows(written)) or [0]
    first, last = min(lines), max(lines)
    return Finding(kind, lesson.where(first, last), first, last, name)


def _rows(written: WrittenMatrix) -> list[list[str]]:
    """Return the entries of a matrix as typed, row by row, those of each head behind another."""
    texts = written.values.astype(str) if written.texts is None else written.texts
    return [list(map(str, row)) for row in texts.reshape(-1, written.shape[-1])]
