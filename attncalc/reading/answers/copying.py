"""Given matrices that an answer copies: finds copying errors."""

import numpy as np

from attncalc.base.types import Matrix
from attncalc.reading.answers.answer import matrix_of_entries
from attncalc.reading.answers.expected import Expected, share_alike
from attncalc.reading.answers.parts import entries_of
from attncalc.reading.plain.blocks import Block
from attncalc.reading.plain.grids import Grid

COPIED = "is copied as"
LIKE = 0.5
"""The smallest share of entries that a copy has in common with its original."""


class Copies:
    """Compares copied matrices with the given ones."""

    def __init__(self, expected: Expected) -> None:
        self.given = expected.given

    def look(self, block: Block, remarks: list[str]) -> None:
        """Compare the factors of an equation with similar given matrices."""
        for factor in block.factors:
            if name := self.name_of(factor):
                self._tell(name, factor, block.line, remarks)

    def compare(self, name: str, block: Block, remarks: list[str]) -> None:
        """Compare a matrix copied under its name."""
        if name in self.given and block.grid is not None:
            self._tell(name, block.grid, block.line, remarks)

    def name_of(self, grid: Grid) -> str:
        """Return the given matrix that a grid resembles; "" for none."""
        if not self._may_be(grid):
            return ""
        values = values_of(grid)
        shares = {name: share_alike(values, np.atleast_2d(m)) for name, m in self.given.items()}
        best = max(shares, key=lambda name: shares[name], default="")
        return best if best and shares[best] >= LIKE else ""

    def _may_be(self, grid: Grid) -> bool:
        """Return whether a given matrix has the size of a grid: others need no comparison."""
        rows = [row for head in grid.heads for row in head]
        size = max(map(len, grid.heads), default=0), max(map(len, rows), default=0)
        return any(np.atleast_2d(matrix).shape[-2:] == size for matrix in self.given.values())

    def holds(self, grid: Grid) -> bool:
        """Return whether a given matrix contains a row."""
        values = values_of(grid)
        rows = [row for matrix in self.given.values() for row in np.atleast_2d(matrix)]
        return values.shape[0] == 1 and any(np.array_equal(values[0], row) for row in rows)

    def is_row(self, grid: Grid) -> bool:
        """Return whether a row resembles one of a given matrix, perhaps with a copying error."""
        values = values_of(grid)
        rows = [row for matrix in self.given.values() for row in np.atleast_2d(matrix)]
        is_single = values.shape[0] != 1 or values.size < 2
        return not is_single and any(share_alike(values[0], row) >= LIKE for row in rows)

    def is_unlike(self, name: str, grid: Grid) -> bool:
        """Return whether a matrix has few numbers of the given matrix with its name."""
        values, given = values_of(grid), np.atleast_2d(self.given[name])
        if min(values.shape) < 2 or self.holds_all(grid):
            return False
        turned = np.swapaxes(given, -1, -2)
        parts = [*given] if given.ndim == 3 else _columns(given, values.shape[-1])
        return all(share_alike(values, each) < LIKE for each in (given, turned, *parts))

    def holds_all(self, grid: Grid) -> bool:
        """Return whether a given matrix contains every row of a matrix, such as some heads."""
        return all(self.holds(grid._replace(heads=([row],))) for row in grid.rows)

    def is_copy(self, grid: Grid) -> str:
        """Return the given matrix with every number of a grid; "" for none."""
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
            return  # other numbers under its name are not a copying error
        with np.errstate(invalid="ignore"):  # -inf minus -inf, of a bias that masks
            places = np.argwhere((np.abs(values - given) > 1e-9) & ~np.isnan(values))
        for place in places[:3]:
            i, j = place[-2:]
            remarks.append(
                f"line {line}: {name}[{i + 1},{j + 1}] {COPIED} "
                f"{values[tuple(place)]:g}, where {given[tuple(place)]:g} is given"
            )


def values_of(grid: Grid) -> Matrix:
    """Return the numbers of a grid."""
    return matrix_of_entries([entries_of(rows) for rows in grid.heads], "").values


def _columns(matrix: Matrix, count: int) -> list[Matrix]:
    """Return the possible runs of adjacent columns of a matrix that is written in parts."""
    return [matrix[:, start : start + count] for start in range(matrix.shape[-1] - count + 1)]
