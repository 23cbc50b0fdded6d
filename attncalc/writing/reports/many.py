"""Many answers to one problem: a row for each, and which mistakes were common."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain, count
from pathlib import Path
from statistics import mean, median
from typing import Any, NamedTuple

from attncalc.base.text import amount, as_key, for_any_system, harmless_cell, in_json, on_a_line
from attncalc.grading.marks import Marking, StepMarks, flags
from attncalc.grading.rules import Status
from attncalc.languages.catalogue import ENGLISH
from attncalc.problem.fields import LINES
from attncalc.writing import verdict
from attncalc.writing.document import Appendix, Bullets, Document, Extent, Field, Table
from attncalc.writing.problem_file import as_lines
from attncalc.writing.reports.marking import as_values, marking_document, percent

COLUMNS = (
    *("answer", "earned", "possible", "percent", "provisional", "first wrong", "causes", "flags"),
    *("not found", "not read", "note"),
)
CAUSES = COLUMNS.index("causes")
LONG = COLUMNS[-2:]
"""Columns with sentences, which are a separate table on a page."""
MOST_COMMON = 10
MOST_FAULTS = 3
"""Number of unread texts of an answer that a row lists."""
LONGEST_PLACE = 36
DECIMALS = 4


class Marked(NamedTuple):
    """One of many answers: its marking, or why it was not marked."""

    place: str
    marking: Marking | None
    error: str = ""


class Shown(NamedTuple):
    """The extent of markings, and the notation of points.

    extent: the shown part of a marking.
    fractions, decimals: whether points are fractions, and otherwise their largest number of
        decimals; None for the default.
    """

    extent: Extent = "elided"
    fractions: bool = False
    decimals: int | None = None

    def in_words(self, points: Fraction, least: int = 1) -> str:
        """Return points as text."""
        return self._text(points, 2, least)

    def in_cell(self, points: Fraction, least: int = 0) -> str:
        """Return points for a spreadsheet, which reads 7/8 as a date."""
        return self._text(points, DECIMALS, least)

    def _text(self, points: Fraction, decimals: int, least: int) -> str:
        if self.fractions:
            return str(points)
        asked = decimals if self.decimals is None else self.decimals
        return verdict.points_text(points, asked, least)


AS_FITS = Shown()


def as_csv(answers: Sequence[Marked], names: Sequence[str], *, shown: Shown = AS_FITS) -> str:
    """Return a row for each answer, with its points in each of the named steps.

    Marks are decimals, since a spreadsheet reads 7/8 as a date; or fractions, which are exact.
    """
    said = shown.in_cell
    rows: list[Sequence[str]] = [(*COLUMNS, *names, LINES)]
    for each in answers:
        shares = {} if each.marking is None else each.marking.shares
        points = (said(shares[name]) if name in shares else "" for name in (*names, LINES))
        rows.append((*row_of(each, said), *points))
    return "".join(map(csv_line, rows))


def csv_line(cells: Iterable[str], delimiter: str = ",") -> str:
    """Return a row of CSV, without formulas."""
    return next(as_lines([[harmless_cell(cell) for cell in cells]], delimiter))


def as_json(answers: Sequence[Marked], extent: Extent = "elided") -> str:
    """Return all markings, and the summary, as one JSON object."""

    def values(each: Marked) -> dict[str, Any]:
        error = {"answer": each.place, "error": each.error}
        return error if each.marking is None else as_values(each.marking, extent)

    content = {"answers": [*map(values, answers)], "summary": list(summary(answers))}
    return in_json(content, indent=2) + "\n"


def answers_document(
    answers: Sequence[Marked], shown: Shown = AS_FITS, *, on_screen: bool = False
) -> Document:
    """Return a row for each answer, which mistakes were common, and off the screen each marking."""
    rows = [_row_in_words(each, shown.in_words) for each in answers]
    markings = [each.marking for each in answers if each.marking is not None]
    language = markings[0].key.problem.language if markings else ENGLISH
    bullets = Bullets(tuple(map(on_a_line, summary(answers))))
    if on_screen:
        table = Table("Answers", COLUMNS, tuple(rows), tuple(map(told, rows)))
        return Document("", (table, bullets), language=language)
    each_alone = tuple(page_of(each, shown) for each in answers if each.marking is not None)
    tables = _on_a_page(rows)
    return Document("", (*tables, bullets, Appendix(each_alone)), language=language)


def _row_in_words(answer: Marked, said: verdict.Said) -> tuple[str, ...]:
    known = None if answer.marking is None else fact(answer.marking)
    return in_words(tuple(row_of(answer, said)), known)


def in_words(row: Sequence[str], known: "Fact | None") -> tuple[str, ...]:
    """Return a row for people: with the causes that explain a step as clauses, and not as codes."""
    mistakes = () if known is None else known.mistakes
    causes = "; ".join(f"{step}: {says}" for step, says, _ in mistakes)
    return tuple(map(on_a_line, (*row[:CAUSES], causes, *row[CAUSES + 1 :])))


def _on_a_page(rows: Sequence[tuple[str, ...]]) -> Iterator[Table]:
    """Yield rows as a table without empty columns, and their long texts as another one."""
    used = [any(column) for column in zip(*rows, strict=True)]
    kept = [place for place, name in enumerate(COLUMNS) if used[place] and name not in LONG]
    short = tuple(tuple(row[place] for place in kept) for row in rows)
    texts = tuple(told((*row[: -len(LONG)], *[""] * len(LONG))) for row in rows)
    yield Table("Answers", tuple(COLUMNS[place] for place in kept), short, texts)
    notes = tuple(
        (row[0], f"not read: {text}" if name == LONG[0] else text)
        for row in rows
        for name, text in zip(LONG, row[-len(LONG) :], strict=True)
        if text
    )
    if notes:
        yield Table("Not read, and notes", (COLUMNS[0], LONG[1]), notes, notes)


def told(row: tuple[str, ...]) -> tuple[str, ...]:
    """Return a row as sentences."""
    place, earned, possible, share, provisional, first, causes, flagged, missing, unread, note = row
    said = f"{earned} of {possible} ({share})" if earned else "not marked"
    said += ", provisional" if provisional else ""
    if len(place) > LONGEST_PLACE:
        place = "…" + place[1 - LONGEST_PLACE :]
    more = (
        *(("first wrong", first), ("", causes), ("look at", flagged)),
        *(("not found:", missing), ("not read:", unread), ("", note)),
    )
    return place, said, *(f"{opening} {what}".strip() for opening, what in more if what)


class Fact(NamedTuple):
    """The facts about a marked answer for the summary.

    provisional: whether a part was not read.
    share: the earned share; None if nothing can be earned.
    first: the step that first went wrong, or "".
    mistakes: steps, the causes of the mistake in each, and an entry as written and as it should be.
    """

    right: bool
    provisional: bool
    share: Fraction | None
    first: str
    mistakes: Sequence[Sequence[str]]


def fact(marking: Marking) -> Fact:
    """Return the facts of a marking for the summary."""
    wrong, (earned, possible) = marking.first_wrong, marking.score
    share = earned / possible if possible else None
    first = "" if wrong is None else wrong.marks.step.name
    known = [(each, verdict.explained(each)) for each in marking.judged]
    mistakes = [(each.step.name, says, _sample(marking, each)) for each, says in known if says]
    return Fact(marking.is_done, marking.is_provisional, share, first, mistakes)


def _sample(marking: Marking, marks: StepMarks) -> str:
    """Return the first wrong entry of a step, as in "K[1,1] = 3, not 2"; "" without one."""
    place = next(marks.places(Status.WRONG), None)
    if place is None:
        return ""
    name, found = verdict.entry_named(marking, marks, place).name, verdict.found_text(marks, place)
    return f"{name} = {found}, not {verdict.expected_text(marking, marks, place)}"


def summary(answers: Sequence[Marked]) -> Iterator[str]:
    """Yield the number of right answers, the mean, and the common mistakes."""
    return summary_of([fact(x.marking) for x in answers if x.marking is not None], len(answers))


def summary_of(facts: Sequence[Fact], count: int) -> Iterator[str]:
    """Yield the same from the stored facts of each marking, out of so many answers."""
    yield from totals_in_words(facts, count)
    first = Counter(each.first for each in facts if each.first)
    for name, number in first.most_common(MOST_COMMON):
        yield f"{amount(number, 'answer')} first went wrong in {name}."
    mistakes = Counter(tuple(mistake[:2]) for each in facts for mistake in each.mistakes)
    for (name, says), number in mistakes.most_common(MOST_COMMON):
        yield f"{amount(number, 'answer')}, {name}: {says}."


def totals_in_words(facts: Sequence[Fact], count: int) -> Iterator[str]:
    """Yield the number of right answers, of provisional ones, and the mean."""
    right = sum(each.right for each in facts)
    yield f"{len(facts):,} of {amount(count, 'answer')} marked, {right} without a mistake."
    if unread := sum(each.provisional for each in facts):
        yield f"{amount(unread, 'answer')} with a provisional score: something was not read."
    shares = [each.share for each in facts if each.share is not None]
    if shares:
        yield f"Mean {round(100 * mean(shares))} %, median {round(100 * median(shares))} %."


def row_of(answer: Marked, said: verdict.Said) -> Iterator[str]:
    """Yield the cells of an answer's row."""
    marking = answer.marking
    yield answer.place
    if marking is None:
        yield from (*[""] * (len(COLUMNS) - 2), answer.error)
        return
    total = marking.score
    yield from (said(total.earned), said(total.possible, least=0), percent(total))
    yield "provisional" if marking.is_provisional else ""
    yield _first_wrong(marking)
    yield "; ".join(
        f"{marks.step.name}: {' / '.join(cause.code for cause in marks.causes)}"
        for marks in marking.judged
        if marks.causes
    )
    yield "; ".join(f"{flag.step}: {flag.code}" for flag in flags(marking))
    yield ", ".join(marking.not_found)
    yield _few(verdict.unread_in_words(marking))
    yield _few([*marking.answer.faults, *marking.answer.remarks])


def _few(texts: Sequence[str]) -> str:
    more = [f"{len(texts) - MOST_FAULTS} more"] if len(texts) > MOST_FAULTS else []
    return "; ".join([*texts[:MOST_FAULTS], *more])


def _first_wrong(marking: Marking) -> str:
    wrong = marking.first_wrong
    if wrong is None:
        return ""
    if wrong.place is None:
        return f"{wrong.marks.step.name}: shape"
    return verdict.entry_named(marking, wrong.marks, wrong.place).name


def has_mistakes(answers: Sequence[Marked]) -> bool:
    """Return whether any answer was not marked, is not right, or was not wholly read."""
    return any(each.marking is None or not each.marking.is_done for each in answers)


def pages(answers: Sequence[Marked], shown: Shown = AS_FITS) -> Mapping[str, Document]:
    """Return the page to hand back with each answer, by the name that it has without an ending."""
    names = _apart([Path(each.place) for each in answers])
    return {name: page_of(each, shown) for name, each in zip(names, answers, strict=True)}


def page_of(answer: Marked, shown: Shown = AS_FITS) -> Document:
    """Return the page of one answer: its marking, or why it is not marked."""
    if answer.marking is not None:
        return marking_document(answer.marking, shown.extent, shown.in_words)
    place, why = on_a_line(answer.place), on_a_line(answer.error)
    return Document("Not marked", (Field("answer", place), Bullets((why,))))


def _apart(places: Sequence[Path]) -> list[str]:
    """Return a name for each file: without its ending, if no other is called so in any case."""
    stems = Counter(as_key(for_any_system(place.stem)) for place in places)
    names: dict[str, str] = {}
    for place in places:
        is_shared = stems[as_key(for_any_system(place.stem))] > 1
        wanted = for_any_system(place.name if is_shared else place.stem)
        numbered = (f"{wanted}-{number}" for number in count(2))
        name = next(each for each in chain([wanted], numbered) if as_key(each) not in names)
        names[as_key(name)] = name
    return list(names.values())
