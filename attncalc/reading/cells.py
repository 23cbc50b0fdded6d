"""From rows of cells to a matrix, or to a list of errors with their places."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.typed import NotANumber, Number, quoted, read_number
from attncalc.base.types import Matrix
from attncalc.problem.fields import MARKS

MOST_FAULTS = 20
_MARKS = {"1": Decimal(1), "true": Decimal(1), "0": Decimal(0), "false": Decimal(0)}


@dataclass
class Faults:
    """The errors of one source, collected so that all are reported at once."""

    place: str
    found: list[str] = field(default_factory=list)

    @property
    def enough(self) -> bool:
        """Whether there are already more than are shown."""
        return len(self.found) > MOST_FAULTS

    def add(self, fault: str) -> None:
        """Add one error: its place and the content found."""
        self.found.append(fault)

    def raise_if_any(self) -> None:
        """Raise one InputError that lists the first twenty errors, if there are any."""
        if self.found:
            raise InputError(in_place(self.place, self.found))


def in_place(place: str, faults: Sequence[str]) -> str:
    """Return one message for these errors, with their place; it lists the first twenty.

    >>> print(in_place("in.json", ["X is empty", "W_Q is empty"]))
    in.json: 2 things are wrong
      X is empty
      W_Q is empty
    """
    if len(faults) == 1:
        return f"{place}: {faults[0]}"
    lines = [f"{place}: {len(faults)} things are wrong", *faults[:MOST_FAULTS]]
    if len(faults) > MOST_FAULTS:
        lines.append(f"… and {len(faults) - MOST_FAULTS} more")
    return "\n  ".join(lines)


def read_cells(
    name: str,
    rows: Sequence[Sequence[object]],
    faults: Faults,
    *,
    field: str = "",
    decimal_comma: bool = False,
    line: Callable[[int], str] = lambda row: "",
) -> Matrix | None:
    """Return the matrix in the cells, as Decimals and Fractions; or add each error.

    name: the name of the matrix, for messages.
    field: the matrix of the problem, if its name differs: masks have other entries.
    rows: its rows of cells: texts, or other values of JSON.
    decimal_comma: whether `2,5` is 2.5.
    line: returns the place of a row (from 0) in its file, such as ` (line 7)`.
    """
    before = len(faults.found)
    if not rows or not any(rows):
        faults.add(f"{name} is empty: it needs at least one row and one column")
    _note_ragged(name, rows, faults, line)
    numbers: list[list[Number]] = []
    for i, row in enumerate(rows):
        numbers.append([])
        for j, cell in enumerate(row):
            try:
                numbers[-1].append(read_cell(field or name, cell, decimal_comma=decimal_comma))
            except NotANumber as reason:
                faults.add(f"{name}, row {i + 1}, column {j + 1}{line(i)}: {reason}")
    return None if len(faults.found) > before else np.array(numbers, dtype=object)


def read_cell(field: str, cell: object, *, decimal_comma: bool = False) -> Number:
    """Read one cell; in JSON, it may not be a text."""
    text = str(cell).lower() if isinstance(cell, bool) and field in MARKS else cell
    if not isinstance(text, str):
        raise NotANumber(f"{in_words(cell)} is not a number")
    word = text.strip().lower().replace("−", "-")
    if field in MARKS:
        if word not in _MARKS:
            raise NotANumber(f"{quoted(text)} is not a mark: write 1 or 0, true or false")
        return _MARKS[word]
    if field in ("bias", "S") and word in ("-inf", "-infinity", "-∞"):
        return Decimal("-Infinity")
    return read_number(text, decimal_comma=decimal_comma)


def in_words(value: object) -> str:
    """Return the name of the kind of a JSON value, for messages."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "an object"
    return "a list" if isinstance(value, list | tuple) else "a text"


def _note_ragged(
    name: str, rows: Sequence[Sequence[object]], faults: Faults, line: Callable[[int], str]
) -> None:
    lengths = [len(row) for row in rows]
    usual = Counter(lengths).most_common(1)[0][0] if lengths else 0
    other = lengths.index(usual) + 1 if lengths else 0
    for i, length in enumerate(lengths):
        if length != usual:
            entries = "1 entry" if length == 1 else f"{length} entries"
            faults.add(f"{name}, row {i + 1}{line(i)}: {entries}, where row {other} has {usual}")
