"""Columns of tables that follow from columns before them: `| 2^-4 | 0.0625 |`, `| x | x² |`."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby, permutations

import numpy as np

from attncalc.base.types import Range
from attncalc.equations.bound import reach
from attncalc.equations.tree import Equation, parse
from attncalc.reading.sums import (
    MOST_RIGHT,
    NOTHING,
    UNIT,
    ZEROS,
    Sum,
    bounds,
    compared,
    is_sure,
    names_sum,
    plain,
)

MOST_COLUMNS, MOST_ROWS, FEWEST_ROWS = 8, 60, 3
ENOUGH, MISPRINTED = 9, 2
"""How many digits of results agree in the rows of a table that tell how its columns follow, and
those for which a misprint counts."""
_NUMBER = re.compile(r"\d[\d.]*")
_ONE = (
    *("{}", "exp({})", "({})^2", "√({})", "ln({})", "-ln({})", "tanh({})"),
    *(f"{name}({{}}{by})" for name in ("sin", "cos") for by in ("", "/10", "/100", "/1000")),
)
_TWO = ("{} + {}", "{} - {}", "{} · {}", "{} / {}")
_Way = tuple[Sequence[int], str]
"""The columns that one follows from, and its formula."""


def sums_of_tables(lines: Sequence[str]) -> Iterator[Sum]:
    """Yield the wrong numbers of rows of tables, whose other rows tell how their columns follow."""
    cells = (_cells(each) for each in lines)
    printed = Counter(number for line in lines for number in _NUMBER.findall(line))
    for width, run in groupby(enumerate(cells, start=1), lambda each: len(each[1])):
        rows = [*run][:MOST_ROWS] if 1 < width <= MOST_COLUMNS else []
        told: dict[int, Sum] = {}
        for last in range(1, width) if len(rows) > FEWEST_ROWS else ():
            headings = [*map(_heading, rows[0][1])]
            columns = [_column(rows, k, is_result=k == last) for k in range(last + 1)]
            ways = [*_ways(last), *_multiples(columns)]
            found = (
                _wrong(rows, way, last, strict, _is_said(headings, way, last))
                for way in ways
                if _is_possible(columns, way)
                if not any(_fits(rows, each, last) for each in ways if _is_like(each, way))
                for strict in (0, 2)
            )
            for one in filter(None, found):
                told.setdefault(one.line, one)
                break
        yield from told.values()
        yield from _wrong_totals(rows, printed)


def _wrong_totals(
    rows: Sequence[tuple[int, list[str]]], printed: Mapping[str, int]
) -> Iterator[Sum]:
    """Yield the misprinted numbers of a last row of sums, or of the only row that explains it.

    printed: how often each number is printed.
    """
    *above, (line, totals) = rows or [(0, [""])]
    for k in range(1, len(totals)) if names_sum(totals[0]) else ():
        own = [(at, cells[k]) for at, cells in above if any(map(str.isdecimal, cells[k]))]
        made = compared(line, " + ".join(each for _, each in own), totals[k])
        if made and not made[0].is_right:
            ways = [
                compared(at, " - ".join((totals[k], *(e for n, e in own if n != at))), each)
                for at, each in own
            ]
            meant = [way for way in (made, *ways) if way and is_sure(way, 1)]
            if len(meant) > 1:  # a number that is printed elsewhere, too, is right
                meant = [way for way in meant if printed[way[0].result] == 1]
            yield from meant[0] if len(meant) == 1 else []


def _cells(line: str) -> list[str]:
    """Return the cells of a row of a table, also in LaTeX; [] for other lines."""
    if "&" in line and "\\begin" not in line:
        line = re.sub(r"\\\\.*|\\(?:hline|midrule|toprule|bottomrule)", "", line).replace("&", "|")
    if "|" not in line and len(columns := re.split(r"\s{2,}|\t", line.strip())) > 2:
        line = "|".join(columns)
    cells = plain(line).strip().strip("|").split("|") if "|" in line else []
    numbers = (UNIT.sub("", each.strip()) for each in cells)
    return [a if a.isdecimal() else each.strip() for a, each in zip(numbers, cells, strict=True)]


def _ways(last: int) -> Iterator[_Way]:
    """Yield the ways in which a column may follow from those before it."""
    yield from (((i,), each) for i in range(last) for each in _ONE)
    yield from ((pair, each) for pair in permutations(range(last), 2) for each in _TWO)
    for i in range(last - 2):
        yield range(i, last), " + ".join(["{}"] * (last - i))
        yield range(i, last), "".join(f"-{{{k}}}·ln({{{k}}})" for k in range(last - i))  # entropy


def _column(rows: Sequence[tuple[int, list[str]]], k: int, *, is_result: bool) -> Range:
    """Return the ranges of the numbers of a column."""
    return Range(*np.transpose([bounds(cells[k], whole=is_result) for _, cells in rows]))


@lru_cache(maxsize=256)
def _equation(says: str, count: int) -> Equation:
    """Return the formula of a column as an equation."""
    for sign, name in (("·", "*"), ("√", "sqrt"), ("ln", "log"), ("^", " ** ")):
        says = says.replace(sign, name)
    return parse(f"y[i] = {says.format(*(f'x{k}[i]' for k in range(count)))}")


@np.errstate(invalid="ignore")  # of vectors, which are endless
def _is_possible(columns: Sequence[Range], way: _Way) -> bool:
    """Return whether one row with numbers may not follow so, and all others may.

    It may if its exact numbers do not, and the others if those within twice the rounding do.
    """
    *own, last = (columns[i] for i in (*way[0], -1))
    known = ~np.isnan([each.low for each in (*own, last)]).any(axis=0)
    for times, fewest, most in ((2, 0, 1), (0, 1, known.size)):
        near = {f"x{k}": Range.around(e.middle, times * e.spread) for k, e in enumerate(own)}
        made = reach(_equation(way[1], len(own)), near)
        off = known & ~((made.low <= last.high) & (made.high >= last.low))
        is_endless = np.isnan(made.low)
        count = (off & ~is_endless).sum() if times else off.sum()
        if not fewest <= count <= most or (known & ~off | is_endless).sum() < 1:
            return False
    return True


@np.errstate(all="ignore")
def _multiples(columns: Sequence[Range]) -> list[_Way]:
    """Return by which whole number a column is multiplied or divided for the last, in most rows."""
    found: list[_Way] = []
    for i, each in enumerate(columns[:-1]):
        known = each.middle[~np.isnan(each.middle)]
        if np.array_equal(known, 1 + np.arange(known.size)):
            continue  # the numbers of rows
        ratios = columns[-1].middle / each.middle
        for sign, by in (("·", ratios), ("/", 1 / ratios)):
            whole = by[(by == np.round(by)) & (by > 1) & np.isfinite(by)].tolist()
            if len(whole) >= FEWEST_ROWS - 1:
                found.append(((i,), f"{{}} {sign} {max(whole, key=whole.count):.0f}"))
    return found


def _is_said(headings: Sequence[str], way: _Way, last: int) -> bool:
    of, says = way
    called = _heading(says.format(*(headings[i] for i in of))), _heading(says.replace("{}", ""))
    if len(of) > 1 and "+" in says and names_sum(headings[last]):
        return True
    return says != "{}" and bool(headings[last]) and headings[last] in called


def _heading(text: str) -> str:
    """Return what a heading says, as the formulas of columns are written here."""
    return re.sub(r"[ (){}\[\]]", "", text).replace("e^", "exp").replace("sqrt", "√")


def _is_like(way: _Way, other: _Way) -> bool:
    """Return whether a column follows by the same formula, from another column."""
    return way[1] == other[1] and [*way[0]] != [*other[0]] and len(way[0]) == 1


def _fits(rows: Sequence[tuple[int, list[str]]], way: _Way, last: int) -> bool:
    """Return whether a column follows so in all rows with numbers."""
    of, says = way
    sides = ((line, [cells[i] for i in of], cells[last]) for line, cells in rows)
    made = [compared(line, says.format(*own), result) for line, own, result in sides if all(own)]
    return any(made) and all(each.is_right for own in made for each in own)


def _wrong(
    rows: Sequence[tuple[int, list[str]]], way: _Way, last: int, strict: int, is_said: bool
) -> Sum | None:
    """Return the wrong number of a column that follows so in all rows but one; None for others.

    It is a misprint, or headings say how the column follows.
    """
    of, says = way
    right, wrong = list[str](), list[list[Sum]]()
    for line, cells in rows:
        own = [cells[i] for i in of]
        own = ["0" if e in NOTHING and " + " in says else e for e in own if e]
        terms = [f"({e})" if {*"+-/·"} & {*e} else e for e in own]
        left = says.format(*terms) if len(terms) == len(of) else ""
        made = compared(line, left, cells[last], strict)
        right += [each.result for each in made if each.is_right]
        wrong += [made] if made and not made[0].is_right else []
        if len(wrong) > 1:
            return None
    digits = sum(len(ZEROS.sub("", each)) for each in {*right})
    count = sum(len(each.split(",")) for each in right)
    if not wrong or count < (1 if is_said else FEWEST_ROWS - 1):
        return None
    digits += MISPRINTED * is_sure(wrong[0], 1)
    is_right = digits >= (1 if is_said else ENOUGH)
    return wrong[0][0] if is_right and is_sure(wrong[0], MOST_RIGHT if is_said else 1) else None
