"""Columns of tables that follow from columns beside them: `| 2^-4 | 0.0625 |`, `| x | x² | exp |`.

A row whose numbers do not is wrong if it would with a misprint less.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, permutations, product
from typing import NamedTuple

import numpy as np

from attncalc.base.types import Matrix
from attncalc.reading.sums import Sum, half_unit, is_misprint, literal_in, misprints

MOST_COLUMNS, MOST_ROWS, FEWEST_ROWS = 8, 60, 3
ENOUGH = 8
"""How many digits of results agree in the rows of a table that tell how its columns follow."""
FAR = 5
"""The least error of a misprint, in units of its last place."""
_ONE: dict[str, Callable[[Matrix], Matrix]] = {
    **{"{}": lambda x: x, "exp({})": np.exp, "({})^2": np.square, "√({})": np.sqrt},
    **{"ln({})": np.log, "-ln({})": lambda x: -np.log(x), "tanh({})": np.tanh},
    **{f"{name}({{}}{over})": lambda x, f=wave, n=10**k: f(x / n)
       for name, wave in (("sin", np.sin), ("cos", np.cos))
       for k, over in enumerate(("", "/10", "/100", "/1000", "/10000"))},
}  # fmt: skip
_TWO: dict[str, Callable[[Matrix, Matrix], Matrix]] = {
    **{"{} + {}": np.add, "{} - {}": np.subtract, "{} · {}": np.multiply, "{} / {}": np.divide},
}


class _Cell(NamedTuple):
    """A number or vector in a cell: its text, its numbers as typed, and half their last units."""

    text: str
    numbers: tuple[str, ...]
    values: Matrix
    half: Matrix

    @property
    def is_shown(self) -> bool:
        """Whether it is no arithmetic."""
        return len(self.numbers) == self.values.size


_Column = list[_Cell | None]


def sums_of_tables(lines: Sequence[str]) -> Iterator[Sum]:
    """Yield the wrong numbers of rows of tables, whose other rows tell how their columns follow."""
    cells = [line.strip().strip("|").split("|") if "|" in line else [] for line in lines]
    for width, run in groupby(enumerate(cells, start=1), lambda each: len(each[1])):
        rows = [(n, [*map(_cell, own)]) for n, own in run] if 1 < width <= MOST_COLUMNS else []
        rows = [(n, own) for n, own in rows if sum(each is not None for each in own) > 1]
        if FEWEST_ROWS <= len(rows) <= MOST_ROWS:
            told: set[int] = set()
            for one in _of_rows([n for n, _ in rows], [list(c) for c in zip(*(o for _, o in rows))]):
                if one.line not in told:
                    told.add(one.line)
                    yield one


def _cell(text: str) -> _Cell | None:
    side = literal_in(text)
    if side is None:
        return None
    values = np.atleast_1d(np.squeeze(side.value))
    half = np.array([half_unit(each) if "." in each else 0.0 for each in side.numbers])
    return _Cell(text.strip(), side.numbers, values, half if len(half) == values.size else 0 * values)


def _of_rows(lines: Sequence[int], columns: Sequence[_Column]) -> Iterator[Sum]:
    """Yield the wrong numbers of the first relation by which each column follows."""
    for last in range(1, len(columns)):
        ways = [((a,), says, make) for a, (says, make) in product(range(last), _ONE.items())]
        ways += [
            (pair, says, make)
            for pair in permutations(range(last), 2)
            for says, make in _TWO.items()
        ]  # fmt: skip
        found = ([*_by(lines, [columns[i] for i in of], columns[last], says, make)]
                 for of, says, make in ways)  # fmt: skip
        yield from next(filter(None, found), [])


def _by(
    lines: Sequence[int], of: Sequence[_Column], column: _Column, says: str, make: Callable[..., Matrix]
) -> Iterator[Sum]:
    """Yield the wrong numbers of a column if all other rows follow by a function."""
    digits, count, wrong = 0, 0, []
    seen: set[str] = set()
    for line, result, *terms in zip(lines, column, *of, strict=True):
        if result is None or not result.is_shown or None in terms:
            continue
        off = _off(result, terms, make)
        if off is None:
            return
        if (off <= 1).all():
            digits += sum(len(t.strip("-0.").replace(".", "")) for t in {*result.numbers} - seen)
            seen.update(result.numbers)
        else:
            wrong.append((line, result, terms))
        count += 1
    if len(wrong) == 1 and count >= FEWEST_ROWS and digits >= ENOUGH:
        yield from _misprints(*wrong[0], says, make)


@np.errstate(all="ignore")
def _off(result: _Cell, terms: Sequence[_Cell], make: Callable[..., Matrix]) -> Matrix | None:
    """Return the errors of a result, in the largest one by rounding; None for another shape."""
    values = [each.values for each in terms]
    if any(each.shape != result.values.shape for each in values):
        return None
    right = make(*values)
    room = result.half + 1e-9
    for i, each in enumerate(terms):
        ends = [make(*values[:i], values[i] + way * each.half, *values[i + 1 :]) for way in (-1, 1)]
        room = room + np.max([np.abs(end - right) for end in ends], axis=0)
    off = np.abs(result.values - right) / room
    return off if np.isfinite(off).all() else None


def _misprints(
    line: int, result: _Cell, terms: Sequence[_Cell], says: str, make: Callable[..., Matrix]
) -> Iterator[Sum]:
    """Yield the numbers of a row that are misprints: in its result, or else in one of its terms."""
    right, text = make(*(each.values for each in terms)), says.format(*(t.text for t in terms))
    for number, value, meant, half in zip(
        result.numbers, result.values, right, result.half, strict=True
    ):
        one = Sum(line, line, text, float(meant), number, is_right=False)
        if abs(value - meant) > FAR * 2 * half and is_misprint(number, one.right):
            yield one
            return
    for i, term in enumerate(terms):
        for other in misprints(term.text):
            fixed = term._replace(values=np.array([float(other)]))
            off = _off(result, [*terms[:i], fixed, *terms[i + 1 :]], make)
            if off is not None and (off <= 1).all():
                yield Sum(line, line, text, float(other), term.text, is_right=False)
                return
