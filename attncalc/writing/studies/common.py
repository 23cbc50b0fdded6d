"""Common parts of the documents of all studies."""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from attncalc.base.rounding import fixed, round_floats
from attncalc.base.text import harmless_cell, on_a_line
from attncalc.problem.problem import Problem
from attncalc.problem.stated import conventions
from attncalc.writing.document import Cell, Grid, Sheet
from attncalc.writing.problem_file import as_lines

OF_MEASURES = "entropies, norms and distances are computed in float64 from the carried digits"


def sheet(
    title: str, rows: Iterable[str], columns: Iterable[str], text: Callable[[int, int], str],
    *, full: bool, is_of_names: bool = False,
) -> Sheet:  # fmt: skip
    """Return numbers under their headings; the text of an entry is made when it is shown."""
    names = tuple(map(on_a_line, rows)), tuple(map(on_a_line, columns))
    grid = Grid("the table", 0, *names, lambda i, j: Cell(text(i, j)), full)
    return Sheet(title, grid, is_of_names)


def filled(
    title: str, rows: Iterable[str], columns: Iterable[str], cells: Sequence[Sequence[str]],
    **how: bool,
) -> Sheet:  # fmt: skip
    """Return a sheet with these texts, row by row."""
    return sheet(title, rows, columns, lambda i, j: cells[i][j], **how)


def shown(value: float, decimals: int) -> str:
    """Return a number at so many decimals."""
    return fixed(round_floats(np.array([value]), decimals)[0], decimals)


def lasting(problem: Problem, others: Iterable[Problem]) -> tuple[str, ...]:
    """Return the conventions that all of these problems keep."""
    known = [conventions(other) for other in others]
    return tuple(each for each in conventions(problem) if all(each in own for own in known))


def in_json(content: dict[str, Any], of_lines: tuple[type, ...] = (dict,)) -> str:
    """Return JSON text with one element of a list on each line, if the first is of these types."""
    pairs = []
    for key, value in content.items():
        text = _line(value)
        if isinstance(value, list) and value and isinstance(value[0], of_lines):
            text = "[\n" + ",\n".join(f"    {_line(each)}" for each in value) + "\n  ]"
        pairs.append(f"  {_line(key)}: {text}")
    return "{\n" + ",\n".join(pairs) + "\n}\n"


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def in_rows(rows: Iterable[Sequence[str]]) -> str:
    """Return rows as CSV; cells that a spreadsheet would read as formulas are escaped."""
    return "".join(as_lines([_cell(cell) for cell in row] for row in rows))


def _cell(text: str) -> str:
    try:
        float(text)  # a number may begin with a minus
    except ValueError:
        return harmless_cell(text)
    return text
