"""`attncalc check` of a set for a class: each answer by its own problem, and a page for each."""

from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from attncalc.base.errors import AttncalcError, InputError, OutputError
from attncalc.base.text import amount, of_each, on_a_line
from attncalc.base.typed import quoted
from attncalc.base.workers import cores, mapped
from attncalc.cli.commands import marking
from attncalc.cli.commands.refusals import refuse_of_a_set
from attncalc.cli.commands.screens import tables_of, written
from attncalc.cli.streams import counted, note
from attncalc.cli.targets import STDOUT, Output, Target, check_targets, deliver, output, target_of
from attncalc.grading.credit import possible_of
from attncalc.grading.key import Key, key_of
from attncalc.grading.marking import mark
from attncalc.grading.rules import Rules
from attncalc.reading import read_problem
from attncalc.reading.answers.answer import Answer
from attncalc.reading.attempts import due_date, is_late
from attncalc.reading.files import refuse_found
from attncalc.reading.gradebook import SYSTEMS, Gradebook, read_gradebook
from attncalc.reading.hints import hints_in
from attncalc.reading.roster import Student
from attncalc.reading.scans import read_file
from attncalc.reading.sets import ClassSet, Paired, anonymous, pairs, read_set, unnamed
from attncalc.writing.classes import FORMS
from attncalc.writing.document import Document
from attncalc.writing.reports import gradebook as reports
from attncalc.writing.reports.many import Marked, Shown, page_of

RIGHT, DIFFERENT, UNREAD = 0, 1, 2
TABLES = ("table", "csv")
HIDDEN = "(hidden)"
"""The name of a file in an anonymous table."""
UNCLEAR = "the names of files do not say which answer it is"
Rows = Mapping[int, tuple[reports.Outcome, ...]]
NOTHING = Marked("", None, reports.NO_ANSWER)
"""The result of an answer that was not handed in."""


class _Way(NamedTuple):
    """How answers are marked and reported."""

    rules: Rules
    shown: Shown
    form: str
    hides: bool
    """Whether the names of answers are hidden."""


class _Work(NamedTuple):
    """A student, their problems and answers.

    student: as they are shown.
    named: as the list names them.
    """

    place: int
    student: Student
    named: Student
    handed: tuple[tuple[str, Path], ...]
    answers: tuple[Paired | None, ...]


def check_class(flags: Mapping[str, Any]) -> int:
    """Mark a class, write the requested output, and return the exit code."""
    page, table = target_of("--out", flags["out"]), target_of("--csv", flags["sheet"])
    if page.place is not None:
        page = Target(page.place, is_folder=True)
    overview, due = _target_of_overview(flags["overview"]), due_date(flags["due"])
    wants_table = flags["sheet"] is not None
    _check_flags(flags, page)
    shown = marking.shown_from(flags)
    check_targets(page, table, *overview)
    given = read_set(Path(flags["file"]))
    rules = marking.rules_from(flags)
    samples = marking.keys_of_one_student(given, rules)
    rules = marking.with_known_steps(rules, flags, *samples)
    form = (flags["format"] if page.place is not None else None) or "markdown"
    way = _Way(rules, shown, form, flags["anonymous"])
    paired, unpaired = pairs(given, flags["answers"])
    late = {(each.student, each.problem) for each in paired if is_late(each.place, due)}
    book = _book(flags["gradebook"], given)
    named = given.students
    if flags["anonymous"]:
        given = anonymous(given)
    check_targets(page, table, *overview)  # again, since inputs are known now
    if page.place is not None:
        _refuse_within(page.place, [flags["file"], *flags["answers"]])
    rows, pages = _marked(given, named, paired, way, flags["jobs"] or cores())
    entries = list(_entries(given, samples, way, rows, late))
    strays = [reports.Stray(str(each.place), each.why, each.what) for each in unpaired]
    strays += copied(given, paired, rows, rules)
    if flags["anonymous"]:
        entries.sort(key=lambda each: each.student)  # the order of the list would name them
        strays = [
            reports.Stray(HIDDEN, "its name may identify a student", each.what) for each in strays
        ]
    in_table = wants_table and table != STDOUT  # the class is on the screen, too
    steps = list(dict.fromkeys(name for key in samples for name in key.steps))
    lines = list(
        reports.as_csv(entries, strays, steps, shown.in_cell)
        if book is None
        else _gradebook(book, entries, () if in_table else strays, given, shown)
    )
    language = samples[0].problem.language
    at_a_glance = partial(reports.overview, entries, given.place.resolve().name, language)
    outputs = [] if page.place is None else [_pages(page.place, form, pages, given)]
    outputs += [output(to, written(at_a_glance(), to.form or "markdown", to)) for to in overview]
    if wants_table:
        outputs.append(output(table, iter(lines)))
    if not wants_table and (book or (page.place is None and flags["format"] == "csv")):
        outputs.append(output(STDOUT, iter(lines)))
    elif in_table or not wants_table:
        several = len(given.problems) > 1
        document = reports.class_document(
            entries, strays, shown.in_words, several=several, language=language
        )
        outputs.append(output(STDOUT, tables_of(document, STDOUT)))
    deliver(*outputs)
    return _ends(entries, strays)


def _book(asked: str | None, given: ClassSet) -> Gradebook | None:
    """Return the gradebook to fill: that of a system, or an export with its rows."""
    if asked is None:
        return None
    if asked.lower() in SYSTEMS:
        return Gradebook(asked.lower())
    return read_gradebook(asked, given.students)


def _gradebook(
    book: Gradebook,
    entries: Sequence[reports.ClassRow],
    strays: Sequence[reports.Stray],
    given: ClassSet,
    shown: Shown,
) -> Iterator[str]:
    """Yield the gradebook, and print which marks it lacks, and what a person should look at."""
    totals, names = list(reports.totals_of(entries)), reports.names_of(entries)
    title = given.place.resolve().name
    absent = [each for n, each in enumerate(totals) if book.rows and n not in book.students]
    lacking = {
        "no total, because an answer was not marked": [x for x in totals if x.status == "Ungraded"],
        "provisional, because a part was not read": [x for x in totals if x.is_provisional],
        "not in the gradebook": absent,
    }
    for why, those in lacking.items():
        if those:
            note(f"{why}: {of_each([names[each.student] for each in those])}")
    for place, why, what in strays:
        note(f"{what}: {place}: {why}")
    if not book.rows:
        return reports.gradebook(book.system, totals, title, shown.in_cell)
    for each in book.notes:
        note(each)
    headings, at = book.rows[0], reports.column_of(book.rows, title)
    if at < len(headings):
        note(f"the total is in the column {quoted(headings[at])}")
    else:
        note(
            f'the total is in a new column, "{title}": a set in a folder that is named as an '
            "assignment fills its column"
        )
    points, most = reports.points_of_column(book.rows, title), sum(totals[0].possible)
    if points and points != most:
        note(f"totals out of {float(most):g} are scaled to the {float(points):g} of this column")
    whose = [None if place is None else totals[place] for place in book.students]
    return reports.filled(book.rows, whose, title, shown.in_cell, book.delimiter)


def _target_of_overview(out: str | None) -> list[Target]:
    target = target_of("--overview", out)
    if target.place is not None and target.place.suffix not in (".html", ".htm", ".md"):
        raise InputError(f"--overview {out}: end the name in .html or .md")
    return [] if out is None else [target]


def _check_flags(flags: Mapping[str, Any], page: Target) -> None:
    if flags["reading"]:
        raise InputError("--reading requires one problem: give it instead of the set")
    if "-" in flags["answers"]:
        raise InputError("the answers of a class are files, named after their students")
    refuse_of_a_set(flags)
    if flags["hint"] is not None:
        raise InputError("--hint takes one problem and one answer: give them instead of the set")
    if flags["anonymous"] and flags["gradebook"]:
        raise InputError("--gradebook and --anonymous together: a gradebook names the students")
    form = flags["format"]
    if page.place is not None and form is not None and form not in FORMS:
        known = " or ".join(FORMS)
        raise OutputError(f"{page.place} is a folder: it can contain pages in {known}")
    if page.place is None and form not in (None, *TABLES):
        raise InputError(f"{form}: choose a folder for the pages of a class, as -o marked/")


def _refuse_within(page: Path, read: Sequence[str]) -> None:
    """Refuse to write pages where they would be taken for answers the next time."""
    for place in read:
        if page.resolve().is_relative_to(Path(place).resolve()):
            raise OutputError(
                f"cannot write {page}: it is in {place}, which was read: choose another place"
            )


def _marked(
    given: ClassSet, named: Sequence[Student], paired: Sequence[Paired], way: _Way, jobs: int
) -> tuple[Rows, dict[str, str]]:
    """Return each student's rows, and the pages by the names of students' folders."""
    works = list(_works(given, named, paired))
    rows, pages = dict[int, tuple[reports.Outcome, ...]](), dict[str, str]()
    marked = zip(works, mapped(partial(_mark, way), works, jobs), strict=True)
    for work, (outcomes, page) in counted(marked, len(works)):
        rows[work.place], pages[work.student.folder] = outcomes, page
    return rows, pages


def _pages(folder: Path, form: str, pages: Mapping[str, str], given: ClassSet) -> Output:
    """Return the pages of students, with notes on those of earlier runs that have none now."""
    ending, _ = FORMS[form]
    left = [folder / f"{x.folder}{ending}" for x in given.students if x.folder not in pages]
    notes = [
        f"{each}: from an earlier run: this answer no longer exists"
        for each in left
        if each.is_file()
    ]
    files = {folder / f"{name}{ending}": page for name, page in pages.items()}
    said = f"{amount(len(files), 'page')} written to {folder}"
    return Output(Target(folder, is_folder=True), files, tuple(notes), said)


def _works(given: ClassSet, named: Sequence[Student], paired: Sequence[Paired]) -> Iterator[_Work]:
    answers: dict[int, dict[int, Paired]] = {}
    for each in paired:
        answers.setdefault(each.student, {})[each.problem] = each
    for place, of_problems in sorted(answers.items()):
        yield _Work(
            place,
            given.students[place],
            named[place],
            tuple((handed.problem, handed.file) for handed in given.handed[place]),
            tuple(of_problems.get(number) for number in range(len(given.problems))),
        )


def _mark(way: _Way, work: _Work) -> tuple[tuple[reports.Outcome, ...], str]:
    """Mark the answers of a student, and return their rows and the page."""
    made = [
        _mark_one(way, name, file, answer, work.named)
        for (name, file), answer in zip(work.handed, work.answers, strict=True)
    ]
    _, write = FORMS[way.form]
    page = write(reports.feedback(work.student.name, [page for _, page in made]))
    return tuple(row for row, _ in made), page


def _mark_one(
    way: _Way, name: str, file: Path, answer: Paired | None, student: Student
) -> tuple[reports.Outcome, Document]:
    problem = read_problem(file)
    key = key_of(problem, way.rules)
    rules = marking.rules_of_one(way.rules, key)
    possible = possible_of(key, rules)
    marked = NOTHING if answer is None else _attempt(key, answer, rules, way, student)
    row = reports.outcome(marked, "" if answer is None else answer.how, possible)
    if marked.marking is None:
        return row, reports.not_marked(name, marked.error, problem.language)
    return row, page_of(marked, way.shown)


def _attempt(key: Key, paired: Paired, rules: Rules, way: _Way, student: Student) -> Marked:
    """Mark an answer; one that cannot be read stops none of the others."""
    place = paired.place
    shown = HIDDEN if way.hides else str(place)
    if paired.unclear:
        return Marked(shown, None, UNCLEAR if way.hides else f"{shown}: {paired.unclear}")
    try:
        refuse_found(place, may_link=True)  # a file in a folder is not a link: see `pairs`
        with key.names_at_hand():
            read = read_file(str(place), key.expected)
        answer = replace(unnamed(read, student, hides=way.hides), place=shown)
        return Marked(shown, mark(key, answer, replace(rules, hints=hints_in(str(place)))))
    except Exception as error:
        why = marking.reason(str(place), error).replace(str(place), shown)
        return Marked(shown, None, student.hidden(why) if way.hides else why)


def _entries(
    given: ClassSet, samples: Sequence[Key], way: _Way, rows: Rows, late: Container[tuple[int, int]]
) -> Iterator[reports.ClassRow]:
    """Yield a row for each student and problem, in the order of the list."""
    possible = (possible_of(key, marking.rules_of_one(way.rules, key)) for key in samples)
    none = tuple(reports.outcome(NOTHING, "", each) for each in possible)
    for place, student in enumerate(given.students):
        who = reports.Who(*map(on_a_line, (*student[:4], *student.parts)))
        for number, made in enumerate(rows.get(place, none)):
            named, is_late = given.problems[number], (place, number) in late
            yield reports.ClassRow(who, named, made, is_late)


def _ends(entries: Sequence[reports.ClassRow], strays: Sequence[reports.Stray]) -> int:
    facts = [each.outcome.fact for each in entries if each.outcome.place]
    if not any(facts):
        return UNREAD
    right = all(each is not None and each.right for each in facts)
    unmatched = any(each.what in ("unmatched", "not read") for each in strays)
    return RIGHT if right and not unmatched and len(facts) == len(entries) else DIFFERENT


LEAST, SHARE = 12, 0.9
"""The numbers of an answer that are compared at least, and the share of them that is equal."""
FIRST, SUSPECT = 3, Fraction(3, 4)
"""Steps that the tokens give, and their mean points from which an answer is to its own problem."""


def copied(
    given: ClassSet, paired: Sequence[Paired], rows: Rows, rules: Rules
) -> Iterator[reports.Stray]:
    """Yield answers whose first steps are wrong, and right for the problem of another student."""

    @cache
    def key(student: int, problem: int) -> Key:
        return key_of(read_problem(given.handed[student][problem].file), rules)

    for each in paired:
        shares = [*rows[each.student][each.problem].shares.values()][:FIRST]
        if sum(shares) >= SUSPECT * len(shares):
            continue
        own = key(each.student, each.problem)
        with suppress(AttncalcError), own.names_at_hand():
            answer = read_file(str(each.place), own.expected)
            for place, student in enumerate(given.students):
                if place != each.student and _has_numbers(answer, key(place, each.problem)):
                    why = f"its numbers are those of the problem of {student.called}"
                    yield reports.Stray(str(each.place), why, "to review")


def _has_numbers(answer: Answer, key: Key) -> bool:
    """Return whether nearly all numbers of an answer are those of a key."""
    steps, near, equal = key.expected.steps, 10.0**-key.problem.decimals, [np.zeros(0)]
    for name, own in answer.matrices.items():
        if name in steps and own.shape == steps[name].shape:
            equal.append(np.ravel(np.abs(own.values - steps[name]) <= near))
    every = np.concatenate(equal)
    return every.size >= LEAST and bool(every.mean() >= SHARE)
