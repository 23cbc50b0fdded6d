"""Entries typed into the fields of a page, marked for PrairieLearn: each has a score."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from html import unescape
from itertools import groupby
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from attncalc.base.errors import AttncalcError
from attncalc.exporting.handed_in import COURSE, PROBLEM
from attncalc.exporting.lines import Line, as_written, lines_of, options_of, shares_of
from attncalc.exporting.rules import Course, read_course
from attncalc.grading.key import Key, key_of
from attncalc.grading.marking import mark
from attncalc.grading.marks import Marking
from attncalc.languages.catalogue import catalogue
from attncalc.problem.fields import LINES
from attncalc.reading import read_problem
from attncalc.reading.answers import answer_of
from attncalc.writing.verdict import verdict

VERSIONS = "versions"
"""The folder of the problems of a class, and of their questions as HTML."""


class Entry(NamedTuple):
    """One entry of a step as shown: its head from 1 (0 for the only one), row and column from 0."""

    step: str
    head: int
    row: int
    column: int

    @property
    def name(self) -> str:
        """The name of its field.

        >>> Entry("A", 2, 0, 1).name, Entry("1.Q", 0, 0, 0).name
        ('A_h2_1_2', '1_Q_1_1')
        """
        plain = "".join(sign if sign.isalnum() else "_" for sign in self.step)
        of_head = f"_h{self.head}" if self.head else ""
        return f"{plain}{of_head}_{self.row + 1}_{self.column + 1}"


def entries_of(key: Key, course: Course) -> Iterator[Entry]:
    """Yield all entries that are asked for."""
    for name in course.steps:
        for *head, row, column in np.ndindex(np.shape(key.solution.shown(name))):
            yield Entry(name, head[0] + 1 if head else 0, row, column)


def version_of(folder: str, seed: int) -> str:
    """Return the number of the version that a variant of the question gets; "" for the only one."""
    count = len(list((Path(folder) / VERSIONS).glob("*.json")))
    return str(seed % count + 1) if count else ""


def statement_of(folder: str, version: str) -> str:
    """Return the HTML of a version: its given matrices and its fields."""
    return (Path(folder) / VERSIONS / f"{version}.html").read_text(encoding="utf-8")


def correct_answers(folder: str, version: str = "") -> dict[str, str]:
    """Return the digits of each field."""
    key, course = _key(folder, version)
    shown = (text for name in course.steps for text in np.ravel(key.solution.shown(name)))
    return {each.name: str(text) for each, text in zip(entries_of(key, course), shown, strict=True)}


def marked(folder: str, typed: Mapping[str, Any], version: str = "") -> dict[str, Any]:
    """Return the score of each field, that of the question, and the sentences of the verdict."""
    key, course = _key(folder, version)
    matrices, say = _matrices(key, course, typed), catalogue(key.problem.language).say
    chosen = dict(_chosen(key, course, typed))
    if not matrices and not chosen:
        return {"partial_scores": {}, "score": 0.0, "verdict": [say("No answer was entered.")]}
    try:
        with key.names_at_hand():
            answer = replace(
                answer_of(matrices), connections=as_written(key.solution, chosen) or None
            )
        marking = mark(key, answer, course.rules)
    except AttncalcError as error:
        why = str(error).removeprefix("answer.json: ")
        return {"partial_scores": {}, "score": 0.0, "verdict": [say(why)]}
    earned, possible = marking.score
    return {
        "partial_scores": dict(_scores(marking, key, course)),
        "score": float(earned / possible),
        "verdict": [*map(say, verdict(marking))],
    }


def _key(folder: str, version: str) -> tuple[Key, Course]:
    home, course = Path(folder), read_course(Path(folder) / COURSE)
    place = home / VERSIONS / f"{version}.json" if version else home / PROBLEM
    return key_of(read_problem(place), course.rules), course


def _matrices(key: Key, course: Course, typed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the steps with typed entries, with a blank for each empty field."""
    steps: dict[str, Any] = {}
    for name, own in groupby(entries_of(key, course), key=lambda each: each.step):
        texts = [_with_point(str(typed.get(each.name) or "")) for each in own]
        if any(texts):
            steps[name] = np.reshape(texts, np.shape(key.solution.shown(name))).tolist()
    return steps


def _with_point(text: str) -> str:
    """Return a typed number with a point in place of a comma, as practice pages do.

    >>> _with_point(" 0,5"), _with_point("1,000.5")
    ('0.5', '1,000.5')
    """
    text = text.strip()
    return text.replace(",", ".") if text.count(",") == 1 and "." not in text else text


def _scores(marking: Marking, key: Key, course: Course) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield the share that each field earns, so that a step has its weight."""
    by_step = {marks.step.name: marks for marks in marking.steps}
    for each in entries_of(key, course):
        marks = by_step[each.step]
        head = (each.head - 1,) if each.head else ()
        place = key.work.turned((*head, each.row, each.column))
        weight = course.most(each.step) / prod(key.solution.shape_of(each.step))
        share = float(marking.rules.credit(marks.status(place)))
        yield each.name, {"score": share, "weight": float(weight)}
    for line, share in shares_of(marking):
        weight = course.most(LINES) / (2 * len(marking.lines))
        yield line.name, {"score": share, "weight": float(weight)}


def _chosen(key: Key, course: Course, typed: Mapping[str, Any]) -> Iterator[tuple[Line, int]]:
    """Yield the option that is chosen for each line of the map."""
    if LINES not in course.asked:
        return
    options = options_of(key.solution)
    for line in lines_of(key.solution):
        text = unescape(str(typed.get(line.name) or "")).strip()  # PrairieLearn submits HTML
        if text in options:
            yield line, options.index(text)
