"""A class at a glance: how marks are distributed, where and why points were lost."""

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction

from attncalc.base.text import on_a_line
from attncalc.languages.catalogue import ENGLISH
from attncalc.problem.fields import LINES
from attncalc.writing.document import Bullets, Document, Part, Table
from attncalc.writing.reports.class_rows import ClassRow
from attncalc.writing.reports.gradebook import Totals, totals_of
from attncalc.writing.reports.many import COLUMNS, MOST_COMMON, Fact, totals_in_words

CLASSES = 10
"""The columns of the histogram."""
WIDTH = 30
"""The characters of its longest bar."""
BAR = "█"
FIRST_WRONG = COLUMNS.index("first wrong")
MOST_CAUSES = 2 * MOST_COMMON


def overview(entries: Sequence[ClassRow], title: str, language: str = ENGLISH) -> Document:
    """Return the overview of a class, from its rows.

    title: the name of the set.
    language: the language of the class.
    """
    handed = [each for each in entries if each.outcome.place]
    facts = [fact for each in handed if (fact := each.outcome.marked) is not None]
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
        if (fact := each.outcome.marked) is None:
            continue
        first[_named(each, fact.first, several)] += bool(fact.first)
        for name, share in each.outcome.shares.items():
            counted[_named(each, name, several)] += 1
            lost[_named(each, name, several)] += Fraction(share) < 1
    for name, count in counted.items():
        yield name, str(lost[name]), str(count), str(first[name])


def _causes(handed: Sequence[ClassRow], several: bool) -> Iterator[tuple[str, ...]]:
    """Yield the mistakes with a cause, the commonest first, each with its first answer."""
    counts: Counter[tuple[str, str]] = Counter()
    first: dict[tuple[str, str], tuple[str, str]] = {}
    for each in handed:
        fact = each.outcome.marked
        for step, says, sample in () if fact is None else _mistakes(each, fact):
            key = _named(each, step, several), says
            counts[key] += 1
            first.setdefault(key, (sample, each.student[0]))
    for key, count in counts.most_common(MOST_CAUSES):
        yield str(count), *key, *first[key]


def _mistakes(entry: ClassRow, fact: Fact) -> Iterator[Sequence[str]]:
    """Yield the mistakes with one cause, and the first one if it has several or none."""
    yield from fact.mistakes
    if fact.first and fact.first not in {step for step, *_ in fact.mistakes}:
        yield fact.first, "no single cause", entry.outcome.cells[FIRST_WRONG]


def _named(entry: ClassRow, step: str, several: bool) -> str:
    plain = "map" if step == LINES else step
    return f"problem {entry.problem}: {plain}" if several else plain
