"""Given matrices that an answer copies: a slip of copying is found beside what was given."""

import numpy as np

from attncalc.numbers.types import Matrix
from attncalc.reading.answers.answer import matrix_of_entries
from attncalc.reading.answers.expected import Expected, share_alike
from attncalc.reading.answers.parts import entries_of
from attncalc.reading.plain.blocks import Block
from attncalc.reading.plain.grids import Grid

LIKE = 0.5
"""The share of entries that a copy has in common with what it copies, at the least."""


class Copies:
    """Compares what is copied with what was given."""

    def __init__(self, expected: Expected) -> None:
        self.given = expected.given

    def look(self, block: Block, remarks: list[str]) -> None:
        """Compare the factors of an equation with what was given, where they look like it."""
        for factor in block.factors:
            if name := self.name_of(factor):
                self._tell(name, factor, block.line, remarks)

    def compare(self, name: str, block: Block, remarks: list[str]) -> None:
        """Compare a matrix that is copied under its name."""
        if name in self.given and block.grid is not None:
            self._tell(name, block.grid, block.line, remarks)

    def name_of(self, grid: Grid) -> str:
        """Return the given matrix that a grid looks like; "" for none."""
        if not self._may_be(grid):
            return ""
        values = values_of(grid)
        shares = {name: share_alike(values, np.atleast_2d(m)) for name, m in self.given.items()}
        best = max(shares, key=lambda name: shares[name], default="")
        return best if best and shares[best] >= LIKE else ""

    def _may_be(self, grid: Grid) -> bool:
        """Say whether any given matrix is of the size of a grid: others need no look at numbers."""
        rows = [row for head in grid.heads for row in head]
        size = max(map(len, grid.heads), default=0), max(map(len, rows), default=0)
        return any(np.atleast_2d(matrix).shape[-2:] == size for matrix in self.given.values())

    def holds(self, grid: Grid) -> bool:
        """Say whether a row stands in a given matrix."""
        values = values_of(grid)
        rows = [row for matrix in self.given.values() for row in np.atleast_2d(matrix)]
        return values.shape[0] == 1 and any(np.array_equal(values[0], row) for row in rows)

    def is_row(self, grid: Grid) -> bool:
        """Say whether a row looks like one of a given matrix, copied with a slip it may be."""
        values = values_of(grid)
        rows = [row for matrix in self.given.values() for row in np.atleast_2d(matrix)]
        is_single = values.shape[0] != 1 or values.size < 2
        return not is_single and any(share_alike(values[0], row) >= LIKE for row in rows)

    def is_unlike(self, name: str, grid: Grid) -> bool:
        """Say whether a matrix has few of the numbers of the given one that it is called."""
        values, given = values_of(grid), np.atleast_2d(self.given[name])
        if min(values.shape) < 2 or self.holds_all(grid):
            return False
        turned = np.swapaxes(given, -1, -2)
        parts = [*given] if given.ndim == 3 else _columns(given, values.shape[-1])
        return all(share_alike(values, each) < LIKE for each in (given, turned, *parts))

    def holds_all(self, grid: Grid) -> bool:
        """Say whether each row of a matrix stands in a given one: some of its rows or heads."""
        return all(self.holds(grid._replace(heads=([row],))) for row in grid.rows)

    def is_copy(self, grid: Grid) -> str:
        """Return the given matrix whose numbers a grid holds, every one; "" for none."""
        if not self._may_be(grid):
            return ""
        values = values_of(grid)
        for name, matrix in self.given.items():
            if share_alike(values, np.atleast_2d(matrix)) == 1:
                return name
        return ""

    def _tell(self, name: str, grid: Grid, line: int, remarks: list[str]) -> None:
        values, given = values_of(grid), np.atleast_2d(self.given[name])
        if values.shape != given.shape or share_alike(values, given) < LIKE:
            return  # other numbers under its name are no slip of copying
        with np.errstate(invalid="ignore"):  # -inf less -inf, of a bias that forbids
            places = np.argwhere((np.abs(values - given) > 1e-9) & ~np.isnan(values))
        for place in places[:3]:
            i, j = place[-2:]
            remarks.append(
                f"line {line}: {name}[{i + 1},{j + 1}] is copied as "
                f"{values[tuple(place)]:g}, where {given[tuple(place)]:g} is given"
            )


def values_of(grid: Grid) -> Matrix:
    """Return the numbers of a grid."""
    return matrix_of_entries([entries_of(rows) for rows in grid.heads], "").values


def _columns(matrix: Matrix, count: int) -> list[Matrix]:
    """Return so many columns side by side of a matrix that is written in parts: all that can be."""
    return [matrix[:, start : start + count] for start in range(matrix.shape[-1] - count + 1)]
