"""Columns of tables that follow from columns before them: `| 2^-4 | 0.0625 |`, `| x | x² |`."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, permutations
from typing import NamedTuple

import numpy as np

from attncalc.base.types import Matrix
from attncalc.reading.sums import Sum, half_unit, is_misprint, literal_in, names_sum, plain

MOST_COLUMNS, MOST_ROWS, FEWEST_ROWS = 8, 60, 3
ENOUGH, FAR = 8, 5
"""How many digits of results agree in the rows of a table that tell how its columns follow, and
the least error of a misprint, in units of its last place."""
_WAVES = {f"{name}({{}}{by})": lambda x, f=wave, n=over: f(x / n)
          for name, wave in (("sin", np.sin), ("cos", np.cos))
          for by, over in (("", 1), ("/10", 10), ("/100", 100), ("/1000", 1000))}  # fmt: skip
_ONE: dict[str, Callable[..., Matrix]] = {
    **{"{}": np.array, "exp({})": np.exp, "({})^2": np.square, "√({})": np.sqrt, **_WAVES},
    **{"ln({})": np.log, "-ln({})": lambda x: -np.log(x), "tanh({})": np.tanh},
}
_TWO = {"{} + {}": np.add, "{} - {}": np.subtract, "{} · {}": np.multiply, "{} / {}": np.divide}
_Way = tuple[Sequence[int], str, Callable[..., Matrix]]
"""The columns that one follows from, and how."""


class _Cell(NamedTuple):
    """A number or vector in a cell: its text, its numbers, and half their last units."""

    text: str
    numbers: tuple[str, ...]
    values: Matrix
    half: Matrix


def sums_of_tables(lines: Sequence[str]) -> Iterator[Sum]:
    """Yield the wrong numbers of rows of tables, whose other rows tell how their columns follow."""
    cells = (each.strip().strip("|").split("|") if "|" in each else [] for each in lines)
    for width, run in groupby(enumerate(cells, start=1), lambda each: len(each[1])):
        texts = [*run][:MOST_ROWS] if 1 < width <= MOST_COLUMNS else []
        rows = [(n, [*map(_cell, own)]) for n, own in texts] if len(texts) > FEWEST_ROWS else []
        told: dict[int, Sum] = {}
        for last in range(1, width) if rows else ():
            headings = [*map(_heading, texts[0][1])]
            found = (_wrong(rows, way, last, _is_said(headings, way, last)) for way in _ways(last))
            for one in filter(None, found):
                told.setdefault(one.line, one)
                break
        yield from told.values()


def _ways(last: int) -> Iterator[_Way]:
    """Yield the ways in which a column may follow from those before it."""
    yield from (((i,), *way) for i in range(last) for way in _ONE.items())
    yield from ((pair, *way) for pair in permutations(range(last), 2) for way in _TWO.items())
    for first in range(last - 2):
        yield range(first, last), " + ".join(["{}"] * (last - first)), lambda *x: np.sum(x, axis=0)


def _is_said(headings: Sequence[str], way: _Way, last: int) -> bool:
    of, says, _ = way
    called = _heading(says.format(*(headings[i] for i in of))), _heading(says.replace("{}", ""))
    if len(of) > 1 and "+" in says and names_sum(headings[last]):
        return True
    return says != "{}" and bool(headings[last]) and headings[last] in called


def _heading(text: str) -> str:
    """Return what a heading says, as the formulas of columns are written here."""
    return re.sub(r"[ (){}\[\]]", "", plain(text)).replace("e^", "exp").replace("sqrt", "√")


def _cell(text: str) -> _Cell | None:
    side = literal_in(text)
    if side is None:
        return None
    values, numbers = np.atleast_1d(np.squeeze(side.value)), side.numbers
    is_shown = len(numbers) == values.size  # and no arithmetic
    half = [half_unit(each) if "." in each else 0.0 for each in numbers if is_shown]
    return _Cell(text.strip(), numbers if is_shown else (), values, np.array(half or 0.0))


@np.errstate(all="ignore")
def _wrong(
    rows: Sequence[tuple[int, list[_Cell | None]]], way: _Way, last: int, is_said: bool
) -> Sum | None:
    """Return the wrong number of a column that follows so in all rows but one; None for others.

    It is a misprint, or headings say how the column follows.
    """
    of, says, make = way
    right, wrong = list[str](), list[tuple[int, _Cell, list[_Cell]]]()
    for line, cells in rows:
        result, terms = cells[last], [cell for i in of if (cell := cells[i])]
        if result is None or not result.numbers or len(terms) < len(of):
            continue
        off = _off(result, terms, make)
        right += result.numbers if (off <= 1).all() else ()
        wrong += [] if (off <= 1).all() else [(line, result, terms)]
        if len(wrong) > 1:
            return None
    digits = sum(len(each.strip("-0.").replace(".", "")) for each in {*right})
    if not wrong or len(right) < FEWEST_ROWS - 1 or digits < (1 if is_said else ENOUGH):
        return None
    line, result, terms = wrong[0]
    one = Sum(line, line, says.format(*(each.text for each in terms)), 0.0, "", is_right=False)
    meant = make(*(each.values for each in terms))
    for value, number, half in zip(meant, result.numbers, np.atleast_1d(result.half), strict=False):
        found = one._replace(value=float(value), result=number)
        is_far = abs(value - float(number)) > FAR * 2 * half
        if is_far and (is_misprint(number, found.right) or (is_said and len(meant) == 1)):
            return found
    return None


def _off(result: _Cell, terms: Sequence[_Cell], make: Callable[..., Matrix]) -> Matrix:
    """Return the errors of a result, in the largest one by rounding."""
    values = [each.values for each in terms]
    if any(each.shape != result.values.shape for each in values):
        return np.array(np.inf)
    right, room = make(*values), result.half + 1e-9
    for i, each in enumerate(terms):
        ends = [make(*values[:i], values[i] + way * each.half, *values[i + 1 :]) for way in (-1, 1)]
        room = room + np.max([np.abs(end - right) for end in ends], axis=0)
    off: Matrix = np.nan_to_num(np.abs(result.values - right) / room, nan=np.inf)
    return off
