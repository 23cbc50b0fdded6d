"""Given matrices that an answer copies: finds copying errors."""

import numpy as np

from attncalc.reading.answers.expected import Expected, share_alike
from attncalc.reading.answers.parts import values_of
from attncalc.reading.plain.blocks import Block
from attncalc.reading.plain.grids import Grid

COPIED = "is copied as"
LIKE = 0.5
"""The smallest share of entries that a copy has in common with its original."""


class Copies:
    """Compares copied matrices with the given ones."""

    def __init__(self, expected: Expected) -> None:
        self.given = {name: np.atleast_2d(each) for name, each in expected.given.items()}
        self._rows = [row for matrix in self.given.values() for row in matrix]

    def look(self, block: Block, remarks: list[str]) -> None:
        """Compare the factors of an equation with similar given matrices."""
        for factor in block.factors:
            if name := self.name_of(factor):
                self._tell(name, factor, block.line, remarks)

    def compare(self, name: str, block: Block, remarks: list[str]) -> None:
        """Compare a matrix copied under its name."""
        if name in self.given and block.grid is not None:
            self._tell(name, block.grid, block.line, remarks)

    def name_of(self, grid: Grid, least: float = LIKE) -> str:
        """Return the given matrix that a grid resembles; "" for none."""
        rows = [row for head in grid.heads for row in head]
        size = max(map(len, grid.heads), default=0), max(map(len, rows), default=0)
        sized = {n: m for n, m in self.given.items() if m.shape[-2:] == size}
        values = values_of(grid.heads) if sized else np.empty(0)
        shares = {name: share_alike(values, matrix) for name, matrix in sized.items()}
        best = max(shares, key=lambda name: shares[name], default="")
        return best if best and shares[best] >= least else ""

    def is_copy(self, grid: Grid) -> str:
        """Return the given matrix with every number of a grid; "" for none."""
        return self.name_of(grid, least=1)

    def holds(self, grid: Grid) -> bool:
        """Return whether a given matrix contains a row."""
        values = values_of(grid.heads)
        return values.shape[0] == 1 and any(np.array_equal(values[0], row) for row in self._rows)

    def is_row(self, grid: Grid) -> bool:
        """Return whether a row resembles one of a given matrix, perhaps with a copying error."""
        values = values_of(grid.heads)
        is_row = values.shape[0] == 1 < values.size
        return is_row and any(share_alike(values[0], row) >= LIKE for row in self._rows)

    def is_unlike(self, name: str, grid: Grid) -> bool:
        """Return whether a matrix has few numbers of the given matrix with its name."""
        values, given = values_of(grid.heads), self.given[name]
        rows = [grid._replace(heads=([row],)) for row in grid.rows]
        if min(values.shape) < 2 or all(map(self.holds, rows)):  # some of its heads
            return False
        turned = np.swapaxes(given, -1, -2)
        width = values.shape[-1]
        sides = (given[..., start : start + width] for start in range(given.shape[-1] - width + 1))
        parts = given if given.ndim == 3 else sides
        return all(share_alike(values, each) < LIKE for each in (given, turned, *parts))

    def _tell(self, name: str, grid: Grid, line: int, remarks: list[str]) -> None:
        values, given = values_of(grid.heads), self.given[name]
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
