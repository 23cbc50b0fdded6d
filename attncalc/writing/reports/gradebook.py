"""A class, marked: a row for each student and problem, gradebooks, and all at a glance."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from attncalc.base.text import as_key, on_a_line
from attncalc.languages.catalogue import ENGLISH
from attncalc.problem.fields import LINES
from attncalc.writing.document import Appendix, Bullets, Document, Field, Part, Table
from attncalc.writing.reports import many
from attncalc.writing.reports.many import COLUMNS, MOST_COMMON, csv_line, totals_in_words
from attncalc.writing.verdict import Said

OF_A_CLASS = ("student", "id", "email", "folder", "problem", "answer", "paired by", "late")
NO_ANSWER = "no answer"
EARNED, POSSIBLE, SHARE = 1, 2, 3
"""The columns of these in a row."""


class Outcome(NamedTuple):
    """What is kept of one answer after its page is written: the page and the key are large.

    place, how: the answer, and how its student was found; "" if there is none.
    cells: its row, points as fractions, from the answer's name on.
    shares: the points of each step, and of the map.
    fact: its line of the summary; None if it was not marked.
    """

    place: str
    how: str
    cells: Sequence[str]
    shares: Mapping[str, Fraction]
    fact: many.Fact | None


def outcome(answer: many.Marked, how: str, possible: Fraction) -> Outcome:
    """Return the result of an answer, or of a missing one."""
    marking, cells = answer.marking, list(many.row_of(answer, many.Shown(fractions=True).in_cell))
    cells[POSSIBLE] = cells[POSSIBLE] or str(possible)
    if marking is None:
        return Outcome(answer.place, how, cells, {}, None)
    return Outcome(answer.place, how, cells, marking.shares, many.fact(marking))


class Who(NamedTuple):
    """A student: the fields that tell them from others, and their first and last name."""

    name: str
    id: str
    email: str
    folder: str
    first: str
    last: str


class ClassRow(NamedTuple):
    """A row of the class: a student, a problem, and the outcome."""

    student: Who
    problem: str
    outcome: Outcome
    is_late: bool = False


class Stray(NamedTuple):
    """An answer that is not marked, or to review, with the reason.

    what: "unmatched", "replaced", "unchanged", "not read" or "to review".
    """

    place: str
    why: str
    what: str = "unmatched"


def as_csv(
    entries: Sequence[ClassRow], strays: Sequence[Stray], steps: Sequence[str], said: Said
) -> Iterator[str]:
    """Yield the table as CSV: a row for each student and problem, then each stray answer."""
    columns = (*steps, LINES)
    yield many.csv_line([*OF_A_CLASS, *many.COLUMNS[1:], *columns])
    for entry in entries:
        cells, made = _cells(entry.outcome, said), entry.outcome
        shares = (said(made.shares[name]) if name in made.shares else "" for name in columns)
        late = "late" if entry.is_late else ""
        which = (*entry.student[:4], entry.problem, made.place, made.how, late)
        yield many.csv_line([*which, *cells[1:], *shares])
    for place, why, what in strays:
        before, after = [""] * (len(many.COLUMNS) - 2), [""] * len(columns)
        yield many.csv_line(["", "", "", "", "", place, what, "", *before, why, *after])


def _cells(made: Outcome, said: Said) -> tuple[str, ...]:
    cells = list(made.cells)
    if cells[EARNED]:
        cells[EARNED] = said(Fraction(cells[EARNED]))
    cells[POSSIBLE] = said(Fraction(cells[POSSIBLE]), least=0)
    return tuple(cells)


def class_document(
    entries: Sequence[ClassRow],
    strays: Sequence[Stray],
    said: Said,
    *,
    several: bool,
    language: str = ENGLISH,
) -> Document:
    """Return the table of the answers, their common mistakes, and who handed in none or late."""
    rows, names = [], names_of(entries)
    handed = [each for each in entries if each.outcome.place]
    for each in handed:
        who = names[each.student]
        cells = (f"{who}, {each.problem}" if several else who, *_cells(each.outcome, said)[1:])
        rows.append(many.in_words(cells, each.outcome.fact))
    table = Table("Class", ("student", *many.COLUMNS[1:]), tuple(rows), tuple(map(many.told, rows)))
    facts = [fact for each in handed if (fact := each.outcome.fact) is not None]
    texts = [*many.summary_of(facts, len(handed)), *_listed(entries, several)]
    texts += [f"{what}: {place}: {why}" for place, why, what in strays]
    return Document("", (table, Bullets(tuple(map(on_a_line, texts)))), language=language)


def names_of(entries: Sequence[ClassRow]) -> Mapping[Who, str]:
    """Return the name of each student, with the id, email or folder if others have the same."""
    students = dict.fromkeys(each.student for each in entries)
    counts = Counter(as_key(name) for name, *_ in students)
    return {
        student: student[0]
        if counts[as_key(student[0])] == 1
        else f"{student[0]} ({next(filter(None, student[1:]))})"
        for student in students
    }


def _listed(entries: Sequence[ClassRow], several: bool) -> Iterator[str]:
    """Yield who handed in late, and who handed in nothing, to each problem."""
    found, names = dict[str, list[str]](), names_of(entries)
    for entry in entries:
        what = ("late" if entry.is_late else "") if entry.outcome.place else NO_ANSWER
        if what:
            which = f"{what} (problem {entry.problem})" if several else what
            found.setdefault(which, []).append(names[entry.student])
    for which, those in sorted(found.items()):
        joint = "; " if any("," in name for name in those) else ", "  # Gómez, Ruiz
        yield f"{which}: {joint.join(those)}"


def feedback(student: str, pages: Sequence[Document]) -> Document:
    """Return the page of a student: that of their answer, or those of several."""
    name = Field("student", on_a_line(student))
    if len(pages) == 1:
        return replace(pages[0], parts=(name, *pages[0].parts))
    parts: tuple[Part, ...] = (name, Appendix(tuple(pages)))
    return Document("", parts, language=pages[0].language)


def not_marked(problem: str, why: str, language: str) -> Document:
    """Return the text of a page for an answer that was not marked, or not handed in."""
    title, bullets = f"Problem {problem}: not marked", Bullets((on_a_line(why),))
    return Document(title, (bullets,), language=language)


POINTS_POSSIBLE = "Points Possible"
OF_TOTALS = ("grade", "total score")
"""The headings of the total in exports of Moodle and Gradescope."""
_NUMBER = re.compile(r"\d+(\.\d+)?")
_LARGEST_GRADE = re.compile(r"\d+[.,]\d\d")
"""The largest grade in a grading worksheet of Moodle, in any language."""
BEFORE = {
    "moodle": ("Full name", "ID number", "Email address"),
    "canvas": ("Student", "ID", "SIS User ID", "SIS Login ID", "Section"),
    "gradescope": ("First Name", "Last Name", "SID", "Email", "Sections", "Total Score",
                   "Max Points", "Status"),
}  # fmt: skip


class Totals(NamedTuple):
    """The marks of a student: of each problem, None if an answer was not marked; "" without one."""

    student: Who
    problems: tuple[str, ...]
    earned: tuple[Fraction | None, ...]
    possible: tuple[Fraction, ...]
    handed_in: tuple[bool, ...]
    is_provisional: bool

    @property
    def total(self) -> Fraction | None:
        """The sum; None if nothing was handed in, or an answer was not marked."""
        marked = [each for each, has in zip(self.earned, self.handed_in, strict=True) if has]
        if not marked or None in marked:
            return None
        return sum((each for each in marked if each is not None), Fraction(0))

    @property
    def status(self) -> str:
        """Its status, as Gradescope has it."""
        if not any(self.handed_in):
            return "Missing"
        return "Ungraded" if self.total is None else "Graded"


def totals_of(entries: Sequence[ClassRow]) -> Iterator[Totals]:
    """Yield the marks of each student, from the rows of the class in their order."""
    of_one: dict[Who, list[ClassRow]] = {}
    for entry in entries:
        of_one.setdefault(entry.student, []).append(entry)
    for student, rows in of_one.items():
        made = [row.outcome for row in rows]
        yield Totals(
            student,
            tuple(row.problem for row in rows),
            tuple(Fraction(each.cells[EARNED]) if each.cells[EARNED] else None for each in made),
            tuple(Fraction(each.cells[POSSIBLE]) for each in made),
            tuple(bool(each.place) for each in made),
            any(each.fact is not None and each.fact.provisional for each in made),
        )


def gradebook(system: str, totals: Sequence[Totals], title: str, said: Said) -> Iterator[str]:
    """Yield a gradebook in the columns of a system, as CSV.

    Canvas makes an assignment of each unknown column, so it gets the total only.
    """
    problems, possible = totals[0].problems, totals[0].possible
    several = len(problems) > 1 and system != "canvas"
    named = [f"Problem {name}" for name in problems] if several else []
    most = [said(each, least=0) for each in possible] if several else []
    whole = said(sum(possible, Fraction(0)), least=0)
    if system == "gradescope":
        pairs = enumerate(zip(named, most, strict=True), start=1)
        yield csv_line([*BEFORE[system], *(f"{n}: {name} ({p} pts)" for n, (name, p) in pairs)])
    elif system == "moodle":
        yield csv_line([*BEFORE[system], *(f"{each} (Real)" for each in (*named, title))])
    else:
        yield csv_line([*BEFORE[system], title])
        yield csv_line([f"    {POINTS_POSSIBLE}", "", "", "", "", whole])
    for each in totals:
        name, code, email, _, first, last = each.student
        total, own = _said(each.total, said), [_said(one, said) for one in each.earned]
        yield csv_line({
            "moodle": [name, code, email, *(own if several else ()), total],
            "canvas": [name, "", code, "" if code else email, "", total],
            "gradescope": [first, last, code, email, "", total, whole, each.status,
                           *(own if several else ())],
        }[system])  # fmt: skip


def filled(
    rows: Sequence[Sequence[str]],
    totals: Sequence[Totals | None],
    title: str,
    said: Said,
    delimiter: str = ",",
) -> Iterator[str]:
    """Yield the rows of an export with the total of each student, as CSV; all else is unchanged.

    The total is in the column of that name, scaled to its points, or in a new one. It has the
    decimal sign of the largest grade beside it.
    """
    at = column_of(rows, title)
    most = next((sum(each.possible, Fraction(0)) for each in totals if each is not None), None)
    whole = "" if most is None else said(most, least=0)
    scale = (points_of_column(rows, title) or 0) / most if most else 0
    sign = "," if "," in _most_beside(rows, at) else "."
    for number, (row, each) in enumerate(zip(rows, totals, strict=True)):
        cells = [*row, *[""] * (at + 1 - len(row))]
        if number == 0:
            cells[at] = cells[at] or title
        elif each is not None:
            cells[at] = _said(each.total and each.total * (scale or 1), said).replace(".", sign)
        elif row and row[0].strip() == POINTS_POSSIBLE:
            cells[at] = cells[at] or whole
        yield csv_line(cells, delimiter)


def points_of_column(rows: Sequence[Sequence[str]], title: str) -> Fraction | None:
    """Return the points of the column of the total, as Canvas and Moodle have them; or None."""
    at = column_of(rows, title)
    cells = (row[at] for row in rows if row[0].strip() == POINTS_POSSIBLE and at < len(row))
    text = (next(cells, "").strip() or _most_beside(rows, at)).replace(",", ".")
    return Fraction(text) if _NUMBER.fullmatch(text) else None


def column_of(rows: Sequence[Sequence[str]], title: str) -> int:
    """Return the column of the total.

    It has this title in any punctuation, or is that of the total by its heading; in other
    languages it is the only one beside a column of largest grades. Otherwise it is a new one.
    """
    plain = [each.strip().lower() for each in rows[0]]
    named = [
        place
        for place, each in enumerate(plain)
        if each in OF_TOTALS or _words(each.partition(" (")[0]) == _words(title)
    ]
    beside = [place for place in range(len(plain)) if _most_beside(rows, place)]
    return next(iter(named or (beside if len(beside) == 1 else [])), len(plain))


def _most_beside(rows: Sequence[Sequence[str]], at: int) -> str:
    """Return the largest grade, if the next column has nothing else, as Moodle writes it; or "".

    The column itself has grades up to it, or none yet.
    """
    grades, largest = ([row[n].strip() for row in rows[1:] if n < len(row)] for n in (at, at + 1))
    if len({*largest}) != 1 or not _LARGEST_GRADE.fullmatch(largest[0]):
        return ""
    given = [each.replace(",", ".") for each in grades if each not in ("", "-")]
    most = Fraction(largest[0].replace(",", "."))
    fit = all(_NUMBER.fullmatch(each) and Fraction(each) <= most for each in given)
    return largest[0] if fit else ""


def _words(title: str) -> list[str]:
    return re.findall(r"\w+", title.lower().replace("_", " "))


def _said(points: Fraction | None, said: Said) -> str:
    return "" if points is None else said(points)


CLASSES = 10
"""The columns of the histogram."""
WIDTH = 30
"""The characters of its longest bar."""
BAR = "█"
FIRST_WRONG = COLUMNS.index("first wrong")
MOST_CAUSES = 2 * MOST_COMMON


def overview(entries: Sequence[ClassRow], title: str, language: str = ENGLISH) -> Document:
    """Return the overview of a class, from its rows."""
    handed = [each for each in entries if each.outcome.place]
    facts = [fact for each in handed if (fact := each.outcome.fact) is not None]
    several = len({each.problem for each in entries}) > 1
    totals = list(totals_of(entries))
    missing = len(entries) - len(handed)
    texts = list(totals_in_words(facts, len(handed)))
    texts += [f"Not handed in: {missing} of {len(entries)}."] if missing else []
    texts += [f"Late: {late}."] if (late := sum(each.is_late for each in entries)) else []
    # the mean above is that of answers handed in
    who = " who handed something in, 0 for each missing problem" if missing and totals else ""
    parts: tuple[Part, ...] = (
        Bullets(tuple(texts)),
        _table(f"Marks of students{who}", ("marks", "students", ""), _histogram(totals)),
        _table("Steps", ("step", "lost points", "of", "first mistake"), _steps(handed, several)),
    )
    if causes := [*_causes(handed, several)]:
        headings = "answers", "step", "cause", "sample", "by"
        parts = (*parts, _table("Causes", headings, iter(causes)))
    return Document(f"Overview: {on_a_line(title)}", parts, language=language)


def _table(title: str, headings: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> Table:
    cells = tuple(tuple(map(on_a_line, row)) for row in rows)
    return Table(title, headings, cells, cells, is_of_names=False)


def _histogram(totals: Sequence[Totals]) -> Iterator[tuple[str, ...]]:
    """Yield the number of students in each tenth of the marks, and those without a total."""
    counts: Counter[int] = Counter()
    for each in totals:
        possible = sum(each.possible, Fraction(0))
        if each.total is not None and possible:
            counts[min(int(each.total / possible * CLASSES), CLASSES - 1)] += 1
    most = max(counts.values(), default=1)
    for number in range(CLASSES):
        ends = f"{100 * number // CLASSES}–{100 * (number + 1) // CLASSES} %"
        yield ends, str(counts[number]), BAR * -(-WIDTH * counts[number] // most)
    if without := len(totals) - counts.total():
        yield "no total", str(without), ""


def _steps(handed: Sequence[ClassRow], several: bool) -> Iterator[tuple[str, ...]]:
    """Yield, for each step, how many answers lost points there, and went wrong there first."""
    lost: Counter[str] = Counter()
    counted: Counter[str] = Counter()
    first: Counter[str] = Counter()
    for each in handed:
        if (fact := each.outcome.fact) is None:
            continue
        first[_named(each, fact.first, several)] += bool(fact.first)
        for name, share in each.outcome.shares.items():
            counted[_named(each, name, several)] += 1
            lost[_named(each, name, several)] += share < 1
    for name, count in counted.items():
        yield name, str(lost[name]), str(count), str(first[name])


def _causes(handed: Sequence[ClassRow], several: bool) -> Iterator[tuple[str, ...]]:
    """Yield the mistakes with a cause, the commonest first, each with its first answer."""
    counts: Counter[tuple[str, str]] = Counter()
    first: dict[tuple[str, str], tuple[str, str]] = {}
    names = names_of(handed)
    for each in handed:
        if (fact := each.outcome.fact) is None:
            continue
        mistakes = [*fact.mistakes]  # and the first one, if it has none
        if fact.first and fact.first not in {step for step, *_ in mistakes}:
            mistakes.append((fact.first, "no known cause", each.outcome.cells[FIRST_WRONG]))
        for step, says, sample in mistakes:
            key = _named(each, step, several), says
            counts[key] += 1
            first.setdefault(key, (sample, names[each.student]))
    for key, count in counts.most_common(MOST_CAUSES):
        yield str(count), *key, *first[key]


def _named(entry: ClassRow, step: str, several: bool) -> str:
    plain = "map" if step == LINES else step
    return f"problem {entry.problem}: {plain}" if several else plain
