"""A set for a class, marked: a row for each student and problem, and one page for each student."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

from attncalc.base.text import on_a_line
from attncalc.grading.credit import shares_of
from attncalc.languages.catalogue import ENGLISH
from attncalc.problem.fields import LINES
from attncalc.writing.document import Appendix, Bullets, Document, Field, Part, Table
from attncalc.writing.reports import many
from attncalc.writing.verdict import Said

OF_A_CLASS = ("student", "id", "email", "folder", "problem", "answer", "paired by", "late")
NO_ANSWER = "no answer"
EARNED, POSSIBLE, SHARE = 1, 2, 3
"""The columns of these in a row."""


class Outcome(NamedTuple):
    """The stored result of one answer after its page is written: plain values, as in JSON.

    place, how: the answer, and how its student was found; "" if there is none.
    cells: its row, points as fractions, from the answer's name on.
    shares: the points of each step, as fractions; and of the map.
    fact: its line of the summary; None if it was not marked.
    """

    place: str
    how: str
    cells: Sequence[str]
    shares: Mapping[str, str]
    fact: Sequence[Any] | None

    @property
    def marked(self) -> many.Fact | None:
        """Its facts for the summary."""
        return None if self.fact is None else many.Fact(*self.fact)


def outcome(answer: many.Marked, how: str, possible: Fraction) -> Outcome:
    """Return the result of an answer, or of a missing one."""
    marking, cells = answer.marking, list(many.row_of(answer, many.Shown(fractions=True).in_cell))
    cells[POSSIBLE] = cells[POSSIBLE] or str(possible)
    if marking is None:
        return Outcome(answer.place, how, cells, {}, None)
    shares = {name: str(share) for name, share in shares_of(marking).items()}
    return Outcome(answer.place, how, cells, shares, many.fact(marking))


class ClassRow(NamedTuple):
    """A row of the class: a student, by name, id, email and folder; a problem; the outcome."""

    student: tuple[str, str, str, str]
    problem: str
    outcome: Outcome
    is_late: bool = False


class Stray(NamedTuple):
    """An answer that is "unmatched", "replaced" or "to review", with the reason."""

    place: str
    why: str
    what: str = "unmatched"


def as_csv(
    entries: Sequence[ClassRow], strays: Sequence[Stray], steps: Sequence[str], said: Said
) -> Iterator[str]:
    """Yield the table as CSV: a row for each student and problem, then one for each stray answer.

    entries: the class, in the order of its list.
    strays: answers without a student, with the reason.
    steps: the steps that have a column.
    said: returns points as text.
    """
    columns = (*steps, LINES)
    yield many.csv_line([*OF_A_CLASS, *many.COLUMNS[1:], *columns])
    for entry in entries:
        cells, made = _cells(entry.outcome, said), entry.outcome
        shares = (
            said(Fraction(made.shares[name])) if name in made.shares else "" for name in columns
        )
        late = "late" if entry.is_late else ""
        which = (*entry.student, entry.problem, made.place, made.how, late)
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
    """Return the table of the answers, their common mistakes, and who handed in none or late.

    entries, strays, said: as in `as_csv`.
    several: whether there are several problems.
    language: the language of the class.
    """
    rows = []
    handed = [each for each in entries if each.outcome.place]
    for name, _, _, folder, problem, made in ((*e.student, e.problem, e.outcome) for e in handed):
        who = folder if name == folder else name
        cells = (f"{who}, {problem}" if several else who, *_cells(made, said)[1:])
        rows.append(tuple(map(on_a_line, cells)))
    table = Table("Class", ("student", *many.COLUMNS[1:]), tuple(rows), tuple(map(many.told, rows)))
    facts = [fact for each in handed if (fact := each.outcome.marked) is not None]
    texts = [*many.summary_of(facts, len(handed)), *_listed(entries, several)]
    texts += [f"{what}: {place}: {why}" for place, why, what in strays]
    return Document("", (table, Bullets(tuple(map(on_a_line, texts)))), language=language)


def _listed(entries: Sequence[ClassRow], several: bool) -> Iterator[str]:
    """Yield who handed in late, and who handed in nothing, to each problem."""
    found: dict[str, list[str]] = {}
    for entry in entries:
        what = ("late" if entry.is_late else "") if entry.outcome.place else NO_ANSWER
        if what:
            which = f"{what} (problem {entry.problem})" if several else what
            found.setdefault(which, []).append(entry.student[0])
    yield from (f"{which}: {', '.join(found[which])}" for which in sorted(found))


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
