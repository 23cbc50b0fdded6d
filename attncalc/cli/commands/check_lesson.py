"""`attncalc check --lesson lesson.md`: compares a document with its own numbers."""

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, groupby
from pathlib import Path
from typing import Any

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.sources import remember
from attncalc.base.text import has_run, of_each
from attncalc.base.workers import cores, mapped
from attncalc.cli.commands.marking import reason
from attncalc.cli.commands.problem import conventions_of
from attncalc.cli.commands.refusals import refuse
from attncalc.cli.commands.screens import written
from attncalc.cli.streams import receive
from attncalc.cli.targets import check_targets, deliver, output, target_of
from attncalc.grading.lesson import RIGHT, UNCHECKED, WRONG, Checked, Finding, Read, check_example
from attncalc.grading.lesson_rows import misprinted
from attncalc.grading.relations import Shown, Unlike, related
from attncalc.languages.catalogue import ENGLISH
from attncalc.problem.fields import GIVEN
from attncalc.reading.answers.answer import Answer, WrittenMatrix
from attncalc.reading.files import is_found, read_bytes, refuse_found
from attncalc.reading.lesson import (
    GIVEN_NAMES,
    Example,
    Lesson,
    lessons_in,
    lines_of,
    numbers_of,
    read_lesson,
)
from attncalc.reading.sums import Sum, half_unit, meant_instead, sums_in
from attncalc.reading.table_sums import sums_of_tables
from attncalc.writing.reports.lesson import lessons_as_json, lessons_document

FORMS = ("table", "markdown", "latex", "html", "json")
LONG = 100_000
"""Characters of an example up to which it is tried by other conventions: each reads it again."""
LATEST = 3.5
"""The largest error by rounding on the way, in units of the last place."""
OTHER_NUMBERS = "the lesson computes it from other numbers than those read before it"
DONE, FOUND, NOTHING = 0, 1, 2
"""How the command ends."""
_OF_MARKS = ("steps", "weight", "points", "require", "rubric", "follow_penalty", "atol", "rtol",
             "rounding_penalty", "precision_penalty", "sheet", "reading")  # fmt: skip


def check_lessons(flags: Mapping[str, Any]) -> int:
    """Check documents, write the findings, and return the exit code."""
    refuse(flags, (*_OF_MARKS, *GIVEN), "{} is for answers to a problem, and not for --lesson")
    target = target_of("--out", flags["out"])
    form = flags["format"] or (target.form if target.place else "table")
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
    if form == "json":
        text = lessons_as_json(read)
    else:
        text = written(lessons_document(read, said.get("language", ENGLISH)), form, target)
    deliver(output(target, text))
    if any(each.of("wrong") for each in read):
        return FOUND
    return DONE if any(each.of("right") for each in read) else NOTHING


def _checked(named: Sequence[str], said: Mapping[str, Any], place: str) -> Read:
    """Return the findings in one document; an unreadable one does not stop the others."""
    try:
        if place == "-":
            return findings_of(read_lesson("standard input", receive()), said)
        if is_found(place, named):
            refuse_found(Path(place))
        return findings_of(read_lesson(place, read_bytes(Path(place))), said)
    except Exception as error:
        return Read(place, (), reason(place, error))


def findings_of(lesson: Lesson, said: Mapping[str, Any]) -> Read:
    """Return the findings in a lesson, under the conventions that the user gives."""
    found: list[Finding] = []
    seen: set[int] = set()

    def keep(one: Finding, first: int, last: int = 0) -> None:
        last = max(first, last)
        seen.update(range(first, last + 1))
        where, ends = lesson.where(first, last), (lesson.line(first), lesson.line(last))
        found.append(one._replace(where=where, line=ends[0], last=ends[1]))

    sums = [*sums_in(lesson.arithmetic), *sums_of_tables(lesson.arithmetic)]
    wrong = {(s.line, s.result): s.right for s in sums if not s.is_right}
    known = related(lesson.with_points, wrong)
    results = [(s.line, s.last, {*numbers_of(s.result)}) for s in sums if s.is_right]
    made = [*_made(known.made, sums, len(lesson.lines))]
    for part in lesson.parts():
        for example in part.examples():
            placed = _of_example(part, example, said, seen, [one.line for one in known.unlike])
            for each in _by_own_results([*placed], results, made):
                keep(*each)
    of_others = partial(_of_relations, wrong=known.unlike)
    of_sums = partial(
        _of_sums, sums=sums, seen=seen, misprints={(one.found, one.right) for one in known.unlike}
    )
    for make in (of_others, of_sums, _of_repeated):
        for each in (*make(lesson, found),):
            keep(*each)
    numbers = range(1, len(lesson.lines) + 1)
    others = [n for n in numbers if n not in seen and numbers_of(lesson.with_points[n - 1])]
    for _, run in groupby(enumerate(others), lambda each: each[1] - each[0]):
        lines = [line for _, line in run]
        why = "no result was read here"
        keep(Finding("other", "", why=why), lines[0], lines[-1])
    return Read(lesson.place, tuple(sorted(found, key=lambda each: each.line)))


Placed = tuple[Finding, int, int]
Numbers = tuple[int, int, set[float]]
"""A finding and its first and last line, and these lines of numbers and the numbers."""


def _made(known: Sequence[Shown], sums: Sequence[Sum], last: int) -> Iterator[Numbers]:
    """Yield the matrices that are functions of others, and the shares of printed exponentials."""
    for each in known:
        yield each.spread[0], each.spread[-1], {*each.values.ravel().tolist()}
    powers = (each for each in sums if each.is_right and each.text.startswith("e"))
    for _, own in groupby(powers, lambda each: each.line):
        values = np.concatenate([numbers_of(each.result) for each in own])
        shares = (values / (values.sum() or 1.0)).tolist()
        yield 1, last, {round(x, n) for x in shares for n in (2, 3, 4)}


def _of_relations(
    lesson: Lesson, found: Sequence[Finding], wrong: Sequence[Unlike]
) -> Iterator[Placed]:
    """Yield the wrong entries of matrices that follow from others, if results have none there.

    A result on lines of its own that follows from its own step is no function of something else.
    """
    told = {each.line for each in found if each.kind == WRONG}
    right = _lines_of_right_blocks(found)
    for one in wrong:
        if told.isdisjoint(map(lesson.line, one.around)) and lesson.line(one.line) not in right:
            of = of_each([*map(lesson.where, one.of)] or [""])
            what = f"{one.says} {of}".strip()
            yield Finding(WRONG, what, (), one.found, one.right, (), one.why), one.line, one.line


def _lines_of_right_blocks(found: Sequence[Finding]) -> set[int]:
    """Return the lines of results that are right and have lines of their own."""
    blocks = [each for each in found if each.kind == RIGHT and each.line < each.last]
    return {n for each in blocks for n in range(each.line, each.last + 1)}


def _of_sums(
    lesson: Lesson, found: Sequence[Finding], sums: Sequence[Sum], seen: set[int],
    misprints: Container[tuple[str, str]],
) -> Iterator[Placed]:  # fmt: skip
    """Yield the report of written-out arithmetic, but for wrong numbers that results report.

    misprints: numbers that are known to be wrong, and the right ones.
    """
    named = {
        (line, each.found.replace(",", "."))
        for each in found
        if each.kind == WRONG
        for line in range(each.line, each.last + 1)
    }
    right = _lines_of_right_blocks(found)
    for one in sums:
        places = [*map(lesson.line, range(one.line, one.last + 1))]
        is_named = any((place, one.result) in named for place in places)
        is_named |= not one.is_right and not right.isdisjoint(places)
        meant = [] if one.is_right or is_named else [*meant_instead(one)]
        is_right = one.is_right or any(each in misprints for each in meant)
        is_named |= not is_right and any(number in one.of for _, number in named)
        if not is_named and (one.line not in seen or not is_right):
            kind = RIGHT if is_right else WRONG
            terms = " or ".join(dict.fromkeys(number for number, _ in meant))
            why = f"it, or {terms}, is wrong" if meant else ""
            result = Finding(kind, one.text, found=one.result, right=one.right, why=why)
            yield result, one.line, one.last


def _of_repeated(lesson: Lesson, found: Sequence[Finding]) -> Iterator[Placed]:
    """Yield what sentences repeat with a misprint, but for what is reported before."""
    told = {(each.line, each.found.replace(",", ".")) for each in found if each.kind == WRONG}
    for what, wrong, right in misprinted(lesson.with_points):
        if (lesson.line(wrong.line), wrong.text) not in told:
            why = "it is printed elsewhere with digits in another order, or with another sign"
            one = Finding(WRONG, what, (), wrong.text, right, (), why)
            yield one, wrong.line, wrong.line


def _of_example(
    lesson: Lesson, example: Example, said: Mapping[str, Any], seen: set[int], wrong: Sequence[int]
) -> Iterator[Placed]:
    """Yield the report of an example, on lines of which some are `wrong` by themselves.

    If several numbers of a result are wrong, those that follow from such a line are not checked;
    nor is a single one in the row of such a line.
    """
    size = sum(len(line) for line in lesson.lines[example.first - 1 : example.last])
    is_plain = size > LONG or bool(lesson.rules)
    read = partial(lesson.read, example)
    checked = check_example(example.matrices, example.own, read, said, by_one=is_plain)
    placed = [*_placed(lesson, example, checked, seen)]
    counts = Counter(one.name for one, _, _ in placed if one.kind == WRONG)
    starts = {one.name: a for one, a, _ in reversed(placed)}
    sources = [(one.name, at, at - a) for one, a, b in placed for at in wrong if a <= at <= b]
    told = set[tuple[str, str]]()
    for one, line, last in placed:
        needs = _needs(one.name, checked.steps if checked else {})
        is_one, row = max(counts.values(), default=0) == 1, line - starts[one.name]
        behind = [
            at
            for name, at, of in sources
            if name in needs and at < line and (not is_one or of == row)
        ]
        if one.kind == WRONG and behind:
            where = lesson.where(min(behind))
            why = f"it follows from a wrong number before it, {where}, and is no second error"
            one = Finding(UNCHECKED, one.name, why=why)
        if (one.name, one.why) not in told:
            yield one, line, last
        told |= {(one.name, one.why)} if one.kind == UNCHECKED else set()


def _needs(name: str, steps: Mapping[str, Sequence[str]]) -> set[str]:
    """Return what a step is computed from, and what that is computed from."""
    return {
        each for one in steps.get(name, ()) for each in (one, *_needs(one, steps)) if each != name
    }


def _placed(
    lesson: Lesson, example: Example, checked: Checked | None, seen: set[int]
) -> Iterator[Placed]:
    """Yield the report of an example: its results, its given matrices, and text not read."""
    first = lesson.read(example)
    answer, given, results, steps, *_ = checked or (first, (), (), ())
    results = (*_by_known_rules(lesson, _of_own_matrix(lesson, example, answer, results)),)
    for name, own in groupby(results, lambda each: each.name):
        matrix = answer.matrices[name]
        lines = lines_of(lesson, answer, name, _rows(matrix)) or [example.first]
        seen.update(range(min(lines), max(lines) + 1))
        for each in own:
            place = tuple(index - 1 for index in each.place)
            at = 0
            if len(place) == matrix.values.ndim:
                entry = int(np.ravel_multi_index(place, matrix.shape, mode="clip"))
                at = lines[min(entry, len(lines) - 1)]
            yield each, at or min(lines), at or max(lines)
    for name in sorted(example.own - {each.name for each in results}):
        lines = lines_of(lesson, first, name, _rows(example.matrices[name])) or [example.first]
        why = (
            "its place among the results is unclear"
            if name in steps
            else "no result that follows from it could be checked"
            if name in GIVEN_NAMES
            else "the matrices it needs are not given"
        )
        one = Finding("given", name) if name in given else Finding("unchecked", name, why=why)
        if min(lines) not in seen:
            yield one, min(lines), max(lines)
            seen.update(each.line for each in first.taken if each.what == name)
    seen.update(each.line for each in first.connections or ())
    for unread in answer.unread:
        if unread.line not in seen and not unread.of_map:
            yield Finding("unchecked", unread.text, why=unread.why), unread.line, unread.line


def _by_own_results(
    placed: Sequence[Placed], results: Sequence[Numbers], made: Sequence[Numbers]
) -> Iterator[Placed]:
    """Yield the report of an example.

    A wrong entry is left out if right arithmetic of the lesson gives it, from numbers that were
    rounded before, or if all of its matrix follows from an earlier one. A result is not checked if
    most of its wrong entries are right by themselves, or if right arithmetic gives it as a vector.

    results: the results of right arithmetic.
    made: the matrices that are functions of earlier ones.
    """
    right_by_name: dict[str, list[bool]] = {}
    other: set[str] = set()
    rounded: set[int] = set()
    for place, (one, first, last) in enumerate(placed):
        if one.kind == WRONG:
            found, right = (numbers_of(e.replace(",", "."))[:1] for e in (one.found, one.right))
            own, made_here = (
                [n for start, stop, n in each if first <= stop and start <= last and {*found} <= n]
                for each in (results, made)
            )
            right_by_name.setdefault(one.name, []).append(bool(own or made_here))
            if any(len(numbers) > 1 for numbers in own):
                other.add(one.name)
            unit = 2 * half_unit(one.found.replace(",", "."))
            is_near = found and right and abs(found[0] - right[0]) < LATEST * unit < LATEST
            is_given = any({*found} <= numbers for _, _, numbers in results)
            if made_here or (is_near and (is_given or found == right)):
                rounded.add(place)
    other |= {name for name, each in right_by_name.items() if 1 < len(each) < 2 * sum(each)}
    for name, entries in groupby(enumerate(placed), lambda each: each[1][0].name):
        run = [*entries]
        left = [each for place, each in run if place not in rounded]
        if name in other:
            yield Finding(UNCHECKED, name, why=OTHER_NUMBERS), run[0][1][1], run[-1][1][2]
        elif left:
            yield from left
        else:
            yield Finding(RIGHT, name), run[0][1][1], run[-1][1][2]


def _of_own_matrix(
    lesson: Lesson, example: Example, answer: Answer, results: Sequence[Finding]
) -> list[Finding]:
    """Return results; a matrix that is not that of the step is left out, or not checked.

    It has another shape by itself, its entries are not printed as such, or all of them are wrong:
    for weights, if the right ones are printed.
    """
    lines = lesson.with_points[example.first - 1 : example.last]
    printed = {abs(number) for line in lines for number in numbers_of(line)}
    found = [(e.name, numbers_of(e.found.replace(",", ".")), e.kind) for e in results]
    others = {n for n, own, kind in found if kind == WRONG and not {*map(abs, own)} <= printed}
    none = set[str]()
    for name, group in groupby(results, lambda each: each.name):
        shape = answer.matrices[name].shape
        wrong = [each.right for each in group if each.kind == WRONG]
        own = example.matrices[name].shape if name in example.own else shape
        is_none = len(wrong) == answer.matrices[name].values.size > 1
        if own[-2:] != shape[-2:] or (
            is_none
            and (name != "A" or has_run([*chain(*map(numbers_of, lines))], [*map(float, wrong)]))
        ):
            others.add(name)
            none |= {name} if is_none and name != "A" else set()
    own_results = [e for e in results if e.kind != WRONG or e.name not in others]
    return own_results + [Finding(UNCHECKED, name, why=OTHER_NUMBERS) for name in sorted(none)]


def _by_known_rules(lesson: Lesson, results: Sequence[Finding]) -> Iterator[Finding]:
    """Yield the results; wrong ones are not checked if their page states a rule unknown here."""
    unknown = {each.name for each in results if each.kind == WRONG} if lesson.rules else ()
    for name, own in groupby(results, lambda each: each.name):
        if name in unknown:
            yield Finding(UNCHECKED, name, why=f"its page states: {lesson.rules[0]}")
        else:
            yield from own


def _rows(written: WrittenMatrix) -> list[list[str]]:
    texts = written.values.astype(str) if written.texts is None else written.texts
    return [list(map(str, row)) for row in texts.reshape(-1, written.shape[-1])]
