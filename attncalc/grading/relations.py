"""Matrices of a lesson that follow from matrices printed before, whatever their names.

A matrix that agrees in nearly all entries with the product, the softmax or another function of
earlier ones is that result, and its other entries are wrong. Agreement is counted in bits: how
improbable it is by chance.
"""

import math
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import chain, compress, islice, product
from operator import add, matmul, mul
from typing import Any, NamedTuple

import numpy as np

from attncalc.base.types import Matrix, Range
from attncalc.equations.intervals import Interval, ends_of
from attncalc.equations.operation import Operation, Stated, Statement
from attncalc.equations.operations.normalising import FeatureMean, FeatureVariance, Normalise
from attncalc.grading.lesson_rows import Printed, factors_of, matrices_of, rows_of, stacked
from attncalc.problem.attention.declared import MOST_DECIMALS
from attncalc.reading.lesson import numbers_of, place_of_run, texts_of_numbers
from attncalc.reading.plain.blocks import blocks_of
from attncalc.reading.plain.marks import COMMA
from attncalc.reading.plain.numerals import read_entry
from attncalc.reading.sums import is_misprint, misprints

MOST_MATRICES, MOST_ENTRIES = 80, 2_000
"""The most matrices of a lesson that are compared, and the most entries of one."""
MOST_LINES, LONGEST_LINE = 12, 2_000
"""The most lines from a row of a matrix to the next, and the longest line that is searched."""
MOST_LISTS = 60
"""The most stacks of rows, and the most rows, outside matrices."""
MATRIX, ROW, COLUMN = range(3)
"""The kinds of what is printed."""
FEWEST = 3
"""The fewest entries of a matrix in which one can be wrong."""
LARGEST = 12.0
"""The most bits of one entry."""
ENOUGH, MISPRINTED, IN_A_ROW = 14.0, 6.0, 4.0
"""Bits beyond those of a choice among all relations, those of a usual misprint, and those that
another wrong number of a row needs in addition."""
MOST_WRONG = 0.2
"""The largest share of wrong entries."""
ROOTS = (1, 2, 3, 4, 8, 16, 32, 64)
"""d_k, whose root may divide scores before a softmax."""
LARGEST_ROOT, SCALED, MOST_OFF = 1024, 0.06, 0.25
"""The largest of other roots that divide scores, and the largest errors of its square."""
MASKED = ("-", "–", "—", ".", "·", "…")
"""What is printed for masked entries."""
_NUMBERS = re.compile(r"(?:row )?-?\d[\d.]*(?: of )?")
GRIDS = (1.0, 0.5, 0.25, 0.1, 0.05)
SLACK, SAME = 1e-9, "the matrix on"
MOST_AT_ONCE = 1_000_000
"""The most products of entries that are computed at once."""
ROUNDED, MANY = 2.5, 150
"""The largest error by rounding, in last units, and the entries searched for misprints."""


@dataclass(frozen=True, eq=False)
class Shown:
    """A matrix of a text: its entries as typed and their lines, their values and half last units.

    kind: whether it is a matrix, or a row of numbers, or a column of a table as a row.
    """

    texts: Sequence[Sequence[str]]
    lines: Sequence[Sequence[int]]
    values: Matrix
    half: Matrix
    kind: int = MATRIX
    results: dict[tuple[str, float], Interval] = field(default_factory=dict, init=False)

    @cached_property
    def interval(self) -> Interval:
        """The range of the true values."""
        return Interval(self.values - self.half, self.values + self.half)

    @property
    def spread(self) -> range:
        """The lines that it is on."""
        return range(self.lines[0][0], self.lines[-1][-1] + 1)

    @cached_property
    def most_bits(self) -> float:
        """At most how improbable it is by chance that another matrix has all its entries."""
        of_places = self.values.size * math.log2(self.values.size)
        return max(_of_each_number(self, _telling(self)), of_places * (len(self.values) > 1))

    @cached_property
    def numbers(self) -> frozenset[tuple[int, str]]:
        """Its numbers, each with its line."""
        pairs = (zip(*own, strict=True) for own in zip(self.lines, self.texts, strict=True))
        return frozenset(chain.from_iterable(pairs))

    @property
    def is_distribution(self) -> bool:
        """Whether its rows sum to 1, or to 0 as a gradient of a softmax."""
        off = np.abs(np.subtract.outer((0, 1), self.values.sum(axis=-1))).min(axis=0)
        return bool((off <= 2 * self.half.sum(axis=-1) + SLACK).all())

    def through(self, name: str, half: float = 0) -> Interval:
        """Return what an operation makes of it, if rounded to at most so many decimals."""
        if (name, half) not in self.results:
            self.results[name, half] = _OPERATIONS[name](self.rounded(half).interval)
        return self.results[name, half]

    def rounded(self, half: float) -> "Shown":
        """Return it as if rounded to at most so many decimals, as what is computed from it."""
        return replace(self, half=np.maximum(self.half, half))

    def repaired(self, bad: Mapping[tuple[int, str], str]) -> "Shown":
        """Return it with the right numbers for bad ones; itself without any."""
        meant = {
            (i, j): float(bad[line, self.text((i, j))])
            for i, own in enumerate(self.lines)
            for j, line in enumerate(own)
            if (line, self.text((i, j))) in bad
        }
        values = self.values.copy()
        for place, value in meant.items():
            values[place] = value
        return replace(self, values=values) if meant else self

    def text(self, place: Sequence[int]) -> str:
        """Return an entry as typed, with a decimal point."""
        return self.texts[place[0]][place[1]].replace(COMMA, ".")


class Relation(NamedTuple):
    """How a matrix may follow from others: as text, and as a function of these.

    grid: the unit of which all results are multiples, without rounding; 0 for none.
    """

    says: str
    of: tuple[Shown, ...]
    make: Callable[..., Interval]
    grid: float = 0.0

    @property
    def made(self) -> Interval:
        """The values that it would have."""
        return self.make(*(each.interval for each in self.of))

    def with_entry(self, i: int, place: tuple[int, ...], value: float) -> "Relation":
        """Return it of a matrix with another entry."""
        values = self.of[i].values.copy()
        values[place] = value
        return self._replace(
            of=(*self.of[:i], replace(self.of[i], values=values), *self.of[i + 1 :])
        )

    @property
    def is_distribution(self) -> bool:
        """Whether its rows sum to 1."""
        return "softmax" in self.says or "shares" in self.says

    def manners(self, each: Shown) -> tuple[str, tuple[str, int]]:
        """Return what a lesson repeats for each token: the operation, and how far above it is."""
        says = _NUMBERS.sub("", self.says)
        return says, (says, each.spread[0] - max((one.spread[0] for one in self.of), default=0))


class Unlike(NamedTuple):
    """A wrong entry of a matrix that otherwise follows from others.

    line: its line; `of` has the first lines of the others, and `around` all lines of all.
    why: why it is wrong, or what else may be.
    """

    line: int
    says: str
    of: tuple[int, ...]
    around: frozenset[int]
    found: str
    right: str
    why: str = "its other entries agree"


class Related(NamedTuple):
    """The wrong entries of matrices, and the matrices that are functions of an earlier one."""

    unlike: tuple[Unlike, ...]
    made: tuple[Shown, ...]


@np.errstate(all="ignore")
def related(lines: Sequence[str], bad: Mapping[tuple[int, str], str]) -> Related:
    """Compare the matrices of a text with functions of those before them.

    lines: the lines of the text, with a mark for each decimal comma.
    bad: lines and numbers that are known to be wrong, and the right numbers.
    """
    said: list[Unlike] = []
    explained: list[Shown] = []
    known: list[Shown] = []
    sure, firm, usual = set[int](), set[int](), set[Any]()
    whole: list[Shown] = []
    every = _shown(lines)
    for place, each in enumerate(every):
        widths = [one.values.shape[1] for one in whole if one.spread == each.spread]
        is_part = each.values.shape[1] < max(widths, default=0)
        later = every[place + 1 :]
        relation = None if is_part else _relation_of(each, known, later, firm, usual)
        known += dict.fromkeys((each, each.repaired(bad)))
        if relation is None:
            continue
        whole.append(each)
        made = relation.made
        wrong, right = ~_agrees(each, made), (made.low + made.high) / 2
        repaired = replace(each, values=np.where(wrong, right, each.values))
        if not wrong.any():
            sure.add(id(each.texts))
            usual.update(relation.manners(each))
            firm.update(id(one.texts) for one in relation.of)
            explained += [each] * (len(relation.of) == 1 and not relation.says.endswith(SAME))
            continue
        is_used = _is_used(each, repaired, [*every[:place], *every[place + 1 :]])
        if len(relation.of) > 1 or not is_used:
            # what is given is exact: a product does not agree because its last digit is vague
            is_vague = len(relation.of) > 1 and any(
                one.half.max() > each.half.max() and id(one.texts) not in sure
                for one in relation.of
            )
            own = [] if is_vague else [*_wrong(each, relation, lines, sure, firm, is_used=is_used)]
            told = {(one.line, one.found) for one in said}  # a part of a matrix
            said += [one for one in own if (one.line, one.found) not in told]
            known += [repaired] * any(one.line in each.spread for one in own)
    return Related(tuple(said), tuple(explained))


def _wrong(
    each: Shown, relation: Relation, lines: Sequence[str], sure: Container[int],
    firm: Container[int], *, is_used: bool,
) -> Iterator[Unlike]:  # fmt: skip
    """Yield the misprints before a matrix that cause wrong entries, and its other wrong entries.

    sure: the texts of matrices that follow from others; a misprint is in a copy of their row.
    firm: the texts of those that others follow from as printed.
    """
    around = {line for other in (each, *relation.of) for line in other.spread}
    of = tuple(dict.fromkeys(other.spread[0] for other in relation.of))
    while found := _misprint_before(each, relation, firm, is_used=is_used):
        one, place, text, relation = found
        meant, line = one.text(place), one.lines[place[0]][place[1]]
        between = range(one.spread[-1] + 1, each.spread[-1] + 1)
        row = {text, *one.texts[place[0]]} - {one.texts[place[0]][place[1]]}
        copies = (n for n in between if row <= {t for _, t in texts_of_numbers(lines[n - 1])})
        if id(one.texts) in sure and (copy := next(copies, 0)):
            yield Unlike(copy, relation.says, of, frozenset(around), text, meant)
        else:
            yield Unlike(line, relation.says, of, frozenset(around), meant, text)
            around -= {*one.spread}
    made = relation.made
    right = (made.low + made.high) / 2
    ways = (0, 1) if "softmax" in relation.says else (0,)  # p - y, the gradient of a loss
    off = np.min([np.abs(each.values + way - right) for way in ways], axis=0)
    units = 1 if relation.make is add else ROUNDED
    for at in np.argwhere(~_agrees(each, made) & (off > units * 2 * each.half)).tolist():
        text = each.text(at)
        line, count = each.lines[at[0]][at[1]], len(text.partition(".")[2])
        meant = f"{right[tuple(at)]:.{count}f}"
        wrong = Unlike(line, relation.says, of, frozenset(around), text, meant)
        said = {add: ("term", " + "), mul: ("factor", " · ")}.get(relation.make)
        if said is None:
            yield wrong
        else:
            terms = said[1].join(term.text(at) for term in relation.of)
            yield wrong._replace(why=f"it, or a {said[0]} of {terms}, is wrong")


def _misprint_before(
    each: Shown, relation: Relation, firm: Container[int], *, is_used: bool
) -> tuple[Shown, tuple[int, ...], str, Relation] | None:
    """Return the matrix whose misprint causes most wrong entries: its place, right text, relation.

    It is likelier than several here; with other digits, or if those here are used later, also than
    one here at the same place, which is no misprint.
    """
    right = _agrees(each, relation.made)
    off = np.argwhere(~right).tolist()
    if len(off) == 1 and _is_misprinted(each, relation.made, off[0]):
        return None
    best, most = None, int(right.sum())
    for i, one in enumerate(relation.of):
        for place in np.ndindex(one.values.shape) if off and one.values.size < MANY else ():
            is_same = one.values.shape == each.values.shape and [*place] in off
            is_same = (
                is_same
                and id(one.texts) not in firm
                and not _is_misprinted(each, relation.made, place)
            )
            solved = _solved(each, relation, i, place) if len(off) > 1 else ()
            for text in (*misprints(one.text(place)), *solved):
                fixed = relation.with_entry(i, place, float(text))
                count = int(_agrees(each, fixed.made).sum())
                is_one = is_same and (text.strip("-") != one.text(place).strip("-") or is_used)
                if count > most + (best is None and not is_one):
                    best, most = (one, place, text, fixed), count
    return best


def _solved(each: Shown, relation: Relation, i: int, place: tuple[int, ...]) -> Iterator[str]:
    """Yield the number that a factor of a product needs for the entries that depend on it."""
    one = relation.of[i]
    if len(relation.of) < 2:
        return
    now, value = relation.made, one.values[place]
    moved = relation.with_entry(i, place, value + 1).made
    slopes = (moved.low + moved.high - now.low - now.high) / 2
    steps = ((each.values - (now.low + now.high) / 2) / slopes)[np.abs(slopes) > SLACK]
    if (steps := steps[np.isfinite(steps)]).size > 1:
        text = f"{value + np.median(steps):.{len(one.text(place).partition('.')[2])}f}"
        yield from [text] if float(text) != value else []


def _is_used(each: Shown, repaired: Shown, others: Sequence[Shown]) -> bool:
    """Return whether more entries of later matrices follow from one as printed than as repaired."""
    behind = [other for other in others if other.spread[0] > each.spread[-1]]
    fits = [[_fit(other, one, others) for one in (each, repaired)] for other in behind]
    return any(a > b for a, b in fits) and not any(a < b for a, b in fits)


def _fit(each: Shown, one: Shown, others: Sequence[Shown]) -> int:
    """Return how many entries follow from one matrix as it is, or with others; 0 if few do."""
    one, each = replace(one, half=0 * one.half), replace(each, half=2 * each.half)
    relations = chain(
        _alone(each, [one]), _paired(each, [one], [one, *others]), _paired(each, others, [one])
    )
    fits = (int(_agrees(each, relation.made).sum()) for relation in relations)
    least = max(FEWEST, _least(each.values.size))
    return max((fit for fit in fits if fit >= least), default=0)


def _least(size: int) -> float:
    """Return how many of these entries must be right to tell what a matrix is."""
    return size - max(1, MOST_WRONG * size)


def _shown(lines: Sequence[str]) -> list[Shown]:
    """Return the matrices of a text, and rows of numbers outside them, in its order."""
    blocks, document = blocks_of("\n".join(lines), lambda _: False, lambda *_: False)
    bracketed = {*map(id, document.grids.values())}
    tables = [each.grid for each in blocks if each.grid and id(each.grid) not in bracketed]
    grids = sorted([*document.grids.values(), *tables], key=lambda each: each.line)[:MOST_MATRICES]
    typed = [texts_of_numbers(line) for line in lines]
    numbers_on = [
        [float(text) for _, text in own] if len(line) < LONGEST_LINE else []
        for line, own in zip(lines, typed, strict=True)
    ]
    found: list[Shown] = []
    inside: set[int] = set()
    for grid in grids:
        lines_of_heads = _lines_of(grid.heads, numbers_on, grid.line)
        for head, own in zip(grid.heads, lines_of_heads, strict=True):
            if len({*map(len, head)}) == 1 and (made := _matrix(head, own)):
                found.append(made)
                inside.update(made.spread if id(grid) in bracketed and len(head) > 1 else ())
    numbers = [
        Printed(n, text, float(text), signs)
        for n, own in enumerate(typed, start=1)
        if n not in inside
        for signs, text in own
    ]
    stacks = [made for block in stacked(numbers) for made in matrices_of(block)]
    stacks += [[own] for own in factors_of(numbers)]
    rows = [[own] for row in rows_of(numbers) for own in (row, row[:-1], row[1:], row[1:-1])]
    columns = [[[*own]] for block in stacked(numbers) for own in zip(*block, strict=True)]
    for kind, several in ((MATRIX, stacks), (ROW, rows), (COLUMN, columns)):
        every = (
            _matrix([[n.text for n in row] for row in each],
                    [[n.line for n in row] for row in each], kind)
            for each in several
        )  # fmt: skip
        is_new = (e for e in every if e and not any(_are_same(e, one) for one in found))
        found += islice(is_new, MOST_LISTS)
    return sorted(found, key=lambda each: each.spread[-1])


def _are_same(one: Shown, other: Shown) -> bool:
    is_there = one.spread == other.spread and one.kind == other.kind
    return is_there and np.array_equal(one.values, other.values)


def _are_apart(each: Shown, one: Shown) -> bool:
    """Return whether two matrices have no number in common: a column crosses the rows beside it."""
    are_crossing = COLUMN in (each.kind, one.kind) and each.kind != one.kind
    return not are_crossing or each.numbers.isdisjoint(one.numbers)


def _lines_of(
    heads: Sequence[Sequence[Sequence[str]]], lines: Sequence[Sequence[float]], start: int
) -> Iterator[list[list[int]]]:
    """Yield the line of each entry of each head: the next one with its row, if there is one.

    lines: the numbers of each line of the text.
    """
    at, begin = start, 0  # the line, and its numbers that belong to the rows before
    for head in heads:
        found = []
        for row in head:
            wanted = [number for text in row for number in numbers_of(text)]
            for n in range(at, min(at + MOST_LINES, len(lines)) + 1):
                place = place_of_run(lines[n - 1], wanted, begin if n == at else 0)
                if place is not None:
                    at, begin = n, place + len(wanted)
                    break
            found.append([at] * len(row))
        yield found


def _matrix(
    rows: Sequence[Sequence[str]], lines: Sequence[Sequence[int]], kind: int = MATRIX
) -> Shown | None:
    """Return a matrix of texts; None if an entry is no number, or it has too few or too many."""
    if not 1 < sum(map(len, rows)) <= MOST_ENTRIES:
        return None
    entries = [[read_entry(text) for text in row] for row in rows]
    values = np.array([[each.value for each in row] for row in entries], float)
    counts = np.array([[each.decimals for each in row] for row in entries])
    half = np.where((counts > 0) & (counts <= MOST_DECIMALS), 0.5 * 10.0**-counts, 0)
    is_masked = np.array([[text in MASKED for text in row] for row in rows])
    is_number = (~np.isnan(values) | is_masked).all() and not is_masked.all()
    first = values[0] if kind == COLUMN else values[:, 0]
    counts_rows = first.size > 1 and (np.diff(first) == 1).all() and not half.flat[0]
    is_labeled = counts_rows and (kind == COLUMN or half[:, 1:].any())
    return Shown(rows, lines, values, half, kind) if is_number and not is_labeled else None


def _relation_of(
    each: Shown, known: Sequence[Shown], others: Sequence[Shown], firm: Container[int],
    usual: Container[Any],
) -> Relation | None:  # fmt: skip
    """Return the relation by which all or nearly all entries of a matrix follow from others.

    usual: in which manner others followed.
    None if too few do to tell. That others follow from it with its wrong entries repaired tells.
    """
    if each.values.size < FEWEST or each.most_bits < ENOUGH:
        return None
    known = [one for one in known if _are_apart(each, one)]
    (whole, enough), (best, most) = _likeliest(each, known)
    if best is None or most <= (enough if whole else 0) + ENOUGH:
        return whole
    made = best.made
    agrees = _agrees(each, made)
    wrong = np.argwhere(~agrees).tolist()
    is_before = _misprint_before(each, best, firm, is_used=True) is not None
    count = sum(_is_misprinted(each, made, place) for place in wrong) or int(is_before)
    most += MISPRINTED * count
    is_row = (each.kind or len(each.values) == 1) and count < len(wrong)
    is_sure = not is_row or _is_one_digit(each, made, wrong)
    if not is_sure or not (is_before or agrees.sum() >= _least(agrees.size)):
        return whole
    manner, place = best.manners(each)
    needed = MISPRINTED if place in usual else ENOUGH
    if manner not in usual:
        first = min((one.spread[0] for one in best.of), default=each.spread[0])
        near = [one.spread[0] for one in known if one.spread[0] >= first]
        count = len({*near} if each.kind else near)
        needed += math.log2(2 * (1 + count) * len(ROOTS)) + is_row * IN_A_ROW
    if most >= needed:
        return best
    right = np.where(agrees, each.values, (made.low + made.high) / 2)
    is_told = most + LARGEST >= needed and _is_used(replace(each, values=right), each, others)
    return best if is_told else None


_Likely = tuple[Relation | None, float]
"""A relation, and how improbable its agreement is by chance."""


def _likeliest(each: Shown, known: Sequence[Shown]) -> tuple[_Likely, _Likely]:
    """Return the likeliest relation that all entries have, and that nearly all have."""
    whole: _Likely = None, ENOUGH
    best: _Likely = None, 0.0
    is_other = each.is_distribution
    factors = [one for one in known if COLUMN not in (one.kind, each.kind)]
    candidates = chain(_alone(each, known), _paired(each, factors, factors))
    for relation in chain.from_iterable(_from_exact(each, one) for one in candidates):
        agrees = _agrees(each, relation.made)
        own = _bits(each, relation, agrees)
        if not agrees.all():
            is_possible = not (is_other and relation.is_distribution)
            if own > best[1] and is_possible and not relation.says.endswith(SAME):
                best = relation, own  # both of the same may be right
        elif own >= whole[1]:
            whole = relation, own
            if not any(one.half.any() for one in relation.of):
                break
    return whole, best


def _from_exact(each: Shown, relation: Relation) -> Iterator[Relation]:
    """Yield a relation that may hold if all, some or none of the numbers it is of are exact.

    Some are: those with fewer decimals than the matrix.
    """
    if _is_nearly(_agrees(each, relation.made)):
        most = each.half.max()
        exact = [replace(one, half=0 * one.half) for one in relation.of]
        fine = [
            a if one.half.max() > most else one for a, one in zip(exact, relation.of, strict=True)
        ]
        own = {tuple(map(id, of)): of for of in (exact, fine, relation.of)}
        yield from (relation._replace(of=(*of,)) for of in own.values())


def _alone(each: Shown, known: Sequence[Shown]) -> Iterator[Relation]:
    """Yield the functions of positions, or of single matrices, that may have the shape of one."""
    away = np.abs(np.subtract(*np.indices(each.values.shape)))
    slope = _median(np.abs(each.values / away)) * np.sign(np.nansum(each.values))
    if len(away) > 2 and slope:
        made = Interval(slope * away, slope * away)
        yield Relation(f"{slope:.6g} times the distance of positions", (), lambda: made)
    for one in known:
        (rows, width), (count, size) = one.values.shape, each.values.shape
        if count == 1 < width and 1 < rows == size:
            for says in _OF_ROWS:
                if _agrees(each, one.through(says).transpose()).sum() >= _least(size):
                    yield Relation(says, (one,), partial(_as_row, _OPERATIONS[says]))
        if width == size and count in (1, rows):
            for relation in _functions(each, one):
                yield from _in_shape(relation, each)


def _paired(each: Shown, ones: Iterable[Shown], others: Iterable[Shown]) -> Iterator[Relation]:
    """Yield the products and sums of two matrices that agree with one in nearly all entries."""
    size = each.values.shape[1]
    is_below_one = (np.abs(each.values) > 1).sum() <= 1
    for one, other in product(_by_shape(ones), _by_shape(others)):
        (rows, width), (height, count) = one[0].values.shape, other[0].values.shape
        if not (other := [factor for factor in other if not factor.kind]):
            continue
        is_same, is_whole = (rows, width) == (height, count), each.values.shape == (rows, size)
        is_of_row = len(each.values) in (1, rows)
        kinds = (
            ("the product of", matmul, is_of_row and (width, size) == (height, count)),
            ("the product, transposed, of", _by_transposed,
             is_of_row and (width, size) == (count, height)),
            ("the cosines of rows of", _cosines,
             is_whole and is_below_one and not one[0].kind and (width, size) == (count, height)),
            ("the sum of", add, is_same and is_whole and size == width),
            ("the products of entries of", mul, is_of_row and is_same and size == width),
            ("side by side,", _beside, is_whole and rows == height and size == width + count),
        )  # fmt: skip
        for says, make, fits in kinds:
            step = max(1, MOST_AT_ONCE // (len(other) * rows * width * size))
            for start in range(0, len(one), step) if fits else ():
                for relation in _made_of(each, one[start : start + step], other, says, make):
                    yield from _in_shape(relation, each)


def _by_shape(group: Iterable[Shown]) -> list[list[Shown]]:
    found: dict[tuple[int, ...], list[Shown]] = {}
    for each in group:
        found.setdefault(each.values.shape, []).append(each)
    return [*found.values()]


def _made_of(
    each: Shown, ones: Sequence[Shown], others: Sequence[Shown], says: str,
    make: Callable[[Any, Any], Any],
) -> Iterator[Relation]:  # fmt: skip
    """Yield what one operation makes of two matrices, if it agrees with one in nearly all entries.

    The matrices of each side have the same shape.
    """
    every = make(_stacked(ones)[:, None], _stacked(others)[None])
    every = every.reshape(-1, *every.low.shape[-2:])
    ways = _divided(each, every) if make is _by_transposed else [(1, every)]
    for root, way in ways:
        near = _agrees(each, way).reshape(len(every.low), -1, *each.values.shape)
        by = partial(_over, make, root) if root > 1 else make
        made = f"1/√{root} times {says}" if root > 1 else says
        for at in np.flatnonzero(_is_nearly(near).any(axis=-1)).tolist():
            one, other = ones[at // len(others)], others[at % len(others)]
            # with itself it would be a multiple, or a square, by chance
            is_own = other.lines == one.lines and np.array_equal(other.values, one.values)
            if make not in (add, mul) or not is_own:
                grids = _grid(one.values), _grid(other.values)
                grid = math.prod(grids) * (root == 1) if make in _PRODUCTS else min(grids)
                yield Relation(made, (one, other), by, grid)


def _is_nearly(near: Matrix) -> Matrix:
    """Return whether enough entries are right, or all but those of one of several rows or columns.

    One wrong entry of a factor causes these.
    """
    rows, width = near.shape[-2:]
    is_row, is_column = (near.all(axis=axis).sum(axis=-1) for axis in (-1, -2))
    enough: Matrix = near.sum(axis=(-1, -2)) >= _least(rows * width)
    of_row, of_column = (is_row >= max(2, rows - 1)), (is_column >= max(2, width - 1))
    return enough | (of_row if width > 1 else False) | (of_column if rows > 1 else False)


def _divided(each: Shown, every: Interval) -> Iterator[tuple[int, Interval]]:
    """Yield products as they are, and divided by each root that one of them shows."""
    yield 1, every
    ratios = np.square((every.low + every.high) / 2 / each.values)
    middle = _medians(ratios.reshape(len(ratios), -1))
    nearest = np.abs(np.log(middle[:, None] / ROOTS))
    for root in {ROOTS[i] for i in nearest.argmin(axis=-1)[nearest.min(axis=-1) < SCALED]} - {1}:
        yield root, every / np.sqrt(root)


def _medians(ratios: Matrix) -> Matrix:
    """Return the median of the finite positive numbers of each row; 0 for none."""
    own = np.sort(np.where(np.isfinite(ratios) & (ratios > 0), ratios, np.inf), axis=-1)
    middle = (np.isfinite(own).sum(axis=-1, keepdims=True) // 2).clip(max=own.shape[-1] - 1)
    found: Matrix = np.take_along_axis(own, middle, axis=-1)[..., 0]
    return np.where(np.isfinite(found), found, 0.0)


def _median(ratios: Matrix) -> float:
    """Return the median of finite positive numbers; 0 for none."""
    return float(_medians(ratios.reshape(1, -1))[0]) if ratios.size else 0.0


def _over(make: Callable[..., Any], root: int, *ranges: Interval) -> Any:
    return make(*ranges) / np.sqrt(root)


def _stacked(group: Sequence[Shown]) -> Interval:
    ends = zip(*(ends_of(each.interval) for each in group), strict=True)
    return Interval(*map(np.stack, ends))


def _by_transposed(one: Interval, other: Interval) -> Any:
    return one @ other.each(lambda end: np.swapaxes(end, -1, -2))


def _cosines(one: Interval, other: Interval) -> Any:
    lengths = ((x * x).sum(axis=-1, keepdims=True).each(np.sqrt) for x in (one, other))
    return _by_transposed(*(x / length for x, length in zip((one, other), lengths, strict=True)))


_PRODUCTS = matmul, _by_transposed


def _beside(one: Interval, other: Interval) -> Interval:
    """Return both side by side, each of several with each of others."""
    lead = np.broadcast_shapes(one.low.shape[:-1], other.low.shape[:-1])
    low, high = (
        np.concatenate([np.broadcast_to(x, (*lead, x.shape[-1])) for x in pair], -1)
        for pair in zip(ends_of(one), ends_of(other), strict=True)
    )
    return Interval(low, high)


def _in_shape(relation: Relation, each: Shown) -> Iterator[Relation]:
    """Yield a relation with as many rows as a matrix; for a single row, that for each near row."""
    made = relation.made
    if len(made.low) == len(each.values):
        yield relation
    elif len(each.values) == 1:
        right = _agrees(each, made).sum(axis=-1)
        for row in np.flatnonzero(right >= _least(each.values.size)).tolist():
            make = partial(_row_of, relation.make, row)
            yield relation._replace(says=f"row {row + 1} of {relation.says}", make=make)


def _row_of(make: Callable[..., Interval], row: int, *ranges: Interval) -> Interval:
    return make(*ranges)[row : row + 1]


def _functions(each: Shown, one: Shown) -> Iterator[Relation]:
    """Yield functions of a matrix whose masked entries are 0 in another.

    Those that round on the way read it as if it were rounded, too.
    """
    lowest, *ordered, highest = np.sort(each.values[~np.isnan(each.values)]).tolist()
    low, high = (ordered[0], ordered[-1]) if ordered else (lowest, highest)  # one may be wrong
    yield Relation(SAME, (one,), lambda x: x)
    could = {
        "the exponentials of": low >= 0,
        "the square roots of": low >= 0,
        "the ReLU of": ((one.values < 0) & (each.values == 0)).any(),
        "the tanh of": abs(low) <= 1 >= high,
        "the shares in the sum of": low >= 0
        and high <= 1
        and ((one.values >= 0).all() and one.values.sum(axis=-1).all()),
        _NORMALIZED: lowest < 0 < highest and low**2 < each.values.shape[1] > high**2,
    }
    for name in compress(could, could.values()):
        half = float(each.half.max()) if name == _NORMALIZED else 0.0
        near = _agrees(each, one.through(name, half)).sum(axis=-1)
        if (near if len(each.values) == 1 else near.sum()).max() >= _least(each.values.size):
            source = one.rounded(half) if half else one
            yield Relation(name, (source,), _OPERATIONS[name])
    for says, make in _softmaxes(each.values, one.values):
        yield Relation(says, (one,), make)
    if root := _root(each, one) if each.kind != COLUMN else 0:
        yield Relation(f"1/√{root} times", (one,), lambda x: x / np.sqrt(root))


_NORMALIZED = "the normalized rows of"


def _reach(operation: Operation, *ranges: Interval) -> Interval:
    return Interval(*operation.reach(*(Range(*ends_of(each)) for each in ranges)))


def _variances(x: Interval) -> Interval:
    return _reach(FeatureVariance(), x, _reach(FeatureMean(), x))


def _normalized(x: Interval) -> Interval:
    """Return rows without their mean, divided by their standard deviation."""
    return _reach(Normalise(Fraction(0)), x, _reach(FeatureMean(), x), _variances(x))


_OPERATIONS: dict[str, Callable[[Interval], Interval]] = {
    says: partial(_reach, Stated(Statement(equation)))
    for says, equation in (
        ("the exponentials of", "Y[i,j] = exp(X[i,j])"),
        ("the square roots of", "Y[i,j] = sqrt(X[i,j])"),
        ("the ReLU of", "ReLU"),
        ("the tanh of", "Tanh"),
        ("the shares in the sum of", "DivideBySum"),
    )
} | {
    _NORMALIZED: _normalized,
    "the lengths of rows of": partial(
        _reach, Stated(Statement("Y[i,z in 1] = sqrt(sum(X[i,c] ** 2 for c in d))"))
    ),
    "the sums of rows of": partial(
        _reach, Stated(Statement("Y[i,z in 1] = sum(X[i,c] for c in d)"))
    ),
    "the means of rows of": partial(_reach, FeatureMean()),
    "the variances of rows of": _variances,
}
"""The operations of one matrix, with their names in the report."""
_OF_ROWS = [*_OPERATIONS][-4:]
_SOFTMAX = Stated(Statement("Softmax"))


def _softmaxes(each: Matrix, one: Matrix) -> Iterator[tuple[str, Callable[[Interval], Interval]]]:
    """Yield the softmax of rows and that of columns, by the roots that the weights show."""
    for by in ("", "columns of ") if len(each) > 1 else ("",):
        turned = np.transpose if by else np.asarray
        if root := _root_of_softmax(turned(each), turned(one)):
            is_hidden = turned((each == 0) | np.isnan(each) | np.isnan(one))
            make = partial(_weights, is_hidden, root)
            says = f"the softmax of {by}" + f"1/√{root} times" * (root > 1)
            yield says.strip(), partial(_of_columns, make) if by else make


def _as_row(make: Callable[[Interval], Interval], x: Interval) -> Any:
    return make(x).transpose()


def _of_columns(make: Callable[[Interval], Interval], x: Interval) -> Any:
    return make(x.transpose()).transpose()


def _root_of_softmax(each: Matrix, one: Matrix) -> int:
    """Return which root the weights show: that of most of their logarithms; 0 for none."""
    if one.shape != each.shape or ((each < 0) | (each > 1)).sum() > 1:
        return 0
    largest = np.nan_to_num(each).argmax(axis=-1, keepdims=True)
    after, before = (x - np.take_along_axis(x, largest, -1) for x in (np.log(each), one))
    ratios = (before / after) ** 2
    root = _median(ratios)
    return min(ROOTS, key=lambda x: abs(np.log(root / x))) if root else 0


def _weights(is_hidden: Matrix | bool, root: int, x: Interval) -> Interval:
    low, high = (np.where(is_hidden, -np.inf, end / root**0.5) for end in ends_of(x))
    return _reach(_SOFTMAX, Interval(low, high))


def _root(each: Shown, one: Shown) -> int:
    """Return the whole number whose root divides one matrix, as most entries show; 0 for none."""
    if one.values.shape != each.values.shape or each.kind == ROW:
        return 0
    root = _median((one.values / each.values) ** 2)
    is_whole = 1.5 < root < LARGEST_ROOT and abs(root - round(root)) < min(SCALED * root, MOST_OFF)
    return round(root) if is_whole else 0


def _agrees(each: Shown, made: Interval) -> Matrix:
    """Return which entries are possible."""
    low, high = made.low - each.half - SLACK, made.high + each.half + SLACK
    inside = (each.values >= low) & (each.values <= high)
    return np.asarray(inside | np.isnan(each.values))


def _bits(each: Shown, relation: Relation, agrees: Matrix) -> float:
    """Return how improbable the agreement of entries is by chance, of each number once.

    It is 0 if too few agree. Numbers that follow from their places alone count at each place.
    """
    if not _is_nearly(agrees):
        return 0.0
    made = relation.made
    bits = np.where(agrees, _telling(each, np.maximum(made.high - made.low, relation.grid)), 0)
    if not relation.of:
        return float(bits.sum())
    _, places, counts = np.unique(each.values, return_inverse=True, return_counts=True)
    rare = -np.log2(counts / counts.sum())[places].reshape(agrees.shape)  # among whole numbers
    return max(_of_each_number(each, bits), float(rare[agrees].sum()) * bool(relation.grid))


def _telling(each: Shown, width: Matrix | float = 0.0) -> Matrix:
    """Return how improbable it is by chance that each entry is in a range of some width, in bits.

    It is 0 for 0, and at most that of a range of the last digit.
    """
    unit = np.where(each.half > 0, 2 * each.half, 1.0)
    is_telling = np.isfinite(each.values) & (each.values != 0)
    spread = 2 * each.values[np.isfinite(each.values)].std()
    ratios = np.maximum(1, spread / np.maximum(width, unit))
    return np.where(is_telling, np.nan_to_num(np.minimum(np.log2(ratios), LARGEST)), 0)


def _of_each_number(each: Shown, bits: Matrix) -> float:
    """Return the sum of the bits of each number, without its repetitions."""
    ordered = np.argsort(-bits.ravel(), kind="stable")
    _, firsts = np.unique(np.abs(each.values.ravel()[ordered]), return_index=True)
    return float(bits.ravel()[ordered][firsts].sum())


def _grid(values: Matrix) -> float:
    """Return the largest of some units of which all numbers are multiples; 0 for none."""
    known = values[np.isfinite(values)]
    return next((g for g in GRIDS if (np.abs(known / g - np.round(known / g)) < SLACK).all()), 0.0)


def _is_one_digit(each: Shown, made: Interval, wrong: Sequence[Sequence[int]]) -> bool:
    """Return whether the entries of a row that are right suffice, or the others are misprints."""
    right = (made.low + made.high) / 2
    return each.values.size - len(wrong) >= FEWEST or all(
        len(each.text(at)) > 1 and is_misprint(each.text(at), float(right[tuple(at)]))
        for at in wrong
    )


def _is_misprinted(each: Shown, made: Interval, place: Sequence[int]) -> bool:
    """Return whether only the sign, or the order of two digits, is wrong."""
    row, column = place
    half = each.half[row, column] + SLACK
    numbers = np.array([*map(float, misprints(each.text(place)))])
    low, high = made.low[row, column] - half, made.high[row, column] + half
    return bool(((low <= numbers) & (numbers <= high)).any())
