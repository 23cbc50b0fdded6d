"""Columns of tables that follow from columns beside them: `| 2^-4 | 0.0625 |`, `| x | x² | exp |`.

A row whose numbers do not is wrong if it would with a misprint less.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, permutations, product
from typing import NamedTuple

import numpy as np

from attncalc.base.types import Matrix
from attncalc.reading.sums import Sum, half_unit, is_misprint, literal_in, misprints, plain

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
    for width, run in groupby(enumerate(map(_split, lines), start=1), lambda each: len(each[1])):
        texts = [*run] if 1 < width <= MOST_COLUMNS else []
        rows = [(n, [*map(_cell, own)]) for n, own in texts[:MOST_ROWS]]
        rows = [(n, own) for n, own in rows if sum(each is not None for each in own) > 1]
        if len(rows) >= FEWEST_ROWS:
            columns = [*map(list, zip(*(own for _, own in rows), strict=True))]
            found = _of_rows([n for n, _ in rows], columns, [*map(_heading, texts[0][1])])
            yield from {one.line: one for one in found}.values()


def _split(line: str) -> list[str]:
    """Return the cells of a line of a table, in Markdown or LaTeX."""
    if "|" in line:
        return line.strip().strip("|").split("|")
    return line.split("&") if "&" in line and r"\begin" not in line else []


def _heading(text: str) -> str:
    """Return what a heading says, as the formulas of columns are written here."""
    return re.sub(r"[ (){}\[\]]", "", plain(text)).replace("e^", "exp").replace("sqrt", "√")


def _cell(text: str) -> _Cell | None:
    side = literal_in(text)
    if side is None:
        return None
    values = np.atleast_1d(np.squeeze(side.value))
    half = np.array([half_unit(each) if "." in each else 0.0 for each in side.numbers])
    return _Cell(text.strip(), side.numbers, values, half if len(half) == values.size else 0 * values)


def _of_rows(
    lines: Sequence[int], columns: Sequence[_Column], headings: Sequence[str]
) -> Iterator[Sum]:
    """Yield the wrong numbers of the first relation by which each column follows."""
    for last in range(1, len(columns)):
        ways = [((a,), says, make) for a, (says, make) in product(range(last), _ONE.items())]
        ways += [
            (pair, says, make)
            for pair in permutations(range(last), 2)
            for says, make in _TWO.items()
        ]  # fmt: skip
        ways += [
            ((*range(first, last),), " + ".join(["{}"] * (last - first)), _total)
            for first in range(last - 2)
        ]
        for of, says, make in ways:
            is_said = headings[last] == _heading(says.format(*(headings[i] for i in of)))
            enough = 1 if is_said and says != "{}" else ENOUGH
            if own := [*_by(lines, [columns[i] for i in of], columns[last], says, make, enough)]:
                yield from own
                break


def _total(*values: Matrix) -> Matrix:
    return np.sum(values, axis=0)


def _by(
    lines: Sequence[int], of: Sequence[_Column], column: _Column, says: str,
    make: Callable[..., Matrix], enough: int,
) -> Iterator[Sum]:  # fmt: skip
    """Yield the wrong numbers of a column if all other rows follow by a function.

    enough: the digits that must agree. If headings state the function, any number can be wrong.
    """
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
    if len(wrong) == 1 and count >= FEWEST_ROWS and digits >= enough:
        yield from _misprints(*wrong[0], says, make, is_said=enough < ENOUGH)


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
    line: int, result: _Cell, terms: Sequence[_Cell], says: str, make: Callable[..., Matrix], *,
    is_said: bool,
) -> Iterator[Sum]:  # fmt: skip
    """Yield the numbers of a row that are misprints: in its result, or else in one of its terms."""
    right, text = make(*(each.values for each in terms)), says.format(*(t.text for t in terms))
    for number, value, meant, half in zip(
        result.numbers, result.values, right, result.half, strict=True
    ):
        one = Sum(line, line, text, float(meant), number, is_right=False)
        if abs(value - meant) > FAR * 2 * half and is_misprint(number, one.right):
            yield one
            return
    if is_said and result.values.size == 1:
        yield one
        return
    for i, term in enumerate(terms):
        for other in misprints(term.text):
            fixed = term._replace(values=np.array([float(other)]))
            off = _off(result, [*terms[:i], fixed, *terms[i + 1 :]], make)
            if off is not None and (off <= 1).all():
                yield Sum(line, line, text, float(other), term.text, is_right=False)
                return
