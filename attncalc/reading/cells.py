"""From rows of cells to a matrix, or to the list of what cannot be read and where."""

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
    """What cannot be read in one source, collected so that a person sees it all at once."""

    place: str
    found: list[str] = field(default_factory=list)

    @property
    def enough(self) -> bool:
        """Whether there are already more than will be shown."""
        return len(self.found) > MOST_FAULTS

    def add(self, fault: str) -> None:
        """Note one fault: where it is and what was found."""
        self.found.append(fault)

    def raise_if_any(self) -> None:
        """Raise one InputError that lists the faults, the first twenty of them."""
        if self.found:
            raise InputError(in_place(self.place, self.found))


def in_place(place: str, faults: Sequence[str]) -> str:
    """Return one message for these faults, the first twenty of them, and where they are.

    Examples
    --------
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
    """Return the matrix the cells hold, as Decimals and Fractions; or note each fault.

    Parameters
    ----------
    name
        The matrix's name, for messages.
    field
        Which matrix of a problem it is, where that is not its name: masks take other entries.
    rows
        Its rows of cells: texts, or what JSON may put in their place.
    faults
        Where faults are noted.
    decimal_comma
        Whether `2,5` is 2.5.
    line
        Says where a row (from 0) stands in its file, as in ` (line 7)`.
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
    """Read one cell, which JSON may have filled with something that is no text."""
    text = str(cell).lower() if isinstance(cell, bool) and field in MARKS else cell
    if not isinstance(text, str):
        raise NotANumber(f"{in_words(cell)} is not a number")
    word = text.strip().lower().replace("−", "-")
    if field in MARKS:
        if word not in _MARKS:
            raise NotANumber(f"{quoted(text)} is no mark: write 1 or 0, true or false")
        return _MARKS[word]
    if field in ("bias", "S") and word in ("-inf", "-infinity", "-∞"):
        return Decimal("-Infinity")
    return read_number(text, decimal_comma=decimal_comma)


def in_words(value: object) -> str:
    """Name what JSON holds where something else was meant."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "an object"
    return "a list" if isinstance(value, list) else "a text"


def _note_ragged(
    name: str, rows: Sequence[Sequence[object]], faults: Faults, line: Callable[[int], str]
) -> None:
    lengths = [len(row) for row in rows]
    usual = Counter(lengths).most_common(1)[0][0] if lengths else 0
    other = lengths.index(usual) + 1 if lengths else 0
    for i, length in enumerate(lengths):
        if length != usual:
            faults.add(
                f"{name}, row {i + 1}{line(i)}: {_entries(length)}, where row {other} has {usual}"
            )


def _entries(count: int) -> str:
    return "1 entry" if count == 1 else f"{count} entries"
