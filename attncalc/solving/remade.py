"""A matrix too large to keep: its rows are recomputed, a block at a time, when read.

A page of a long problem shows a few rows and reads all of them for its notes: it needs the memory
of a block.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from attncalc.base.types import Matrix

ENTRIES = 2**18
"""Entries of a block: 2 MiB of float64."""
BLOCKS, ROWS = 4, 32
"""The numbers of blocks, for several threads, and of rows that are cached."""


def height_of(keys: int) -> int:
    """Return the number of rows that are computed at once for so many columns.

    >>> height_of(10_000), height_of(10**9)
    (26, 1)
    """
    return max(1, ENTRIES // keys)


class Blocks:
    """The rows of matrices that are not kept, by head and block: the last few `make` returned."""

    def __init__(
        self, make: Callable[[int, slice], Mapping[str, Matrix]], shape: tuple[int, int, int]
    ) -> None:
        self.shape = shape
        self._make = make
        self.height = height_of(shape[2])
        self._block = lru_cache(maxsize=BLOCKS)(self._made)
        self.row = lru_cache(maxsize=ROWS)(self._row)

    def rows(self, name: str, head: int, rows: range) -> Matrix:
        """Return consecutive rows of the matrix with this name."""
        made = [
            self._block(head, start)[name][max(rows.start - start, 0) : rows.stop - start]
            for start in range(rows.start - rows.start % self.height, rows.stop, self.height)
        ]
        if len(made) == 1:
            part: Matrix = made[0]
            return part
        return np.concatenate(made or [np.empty((0, self.shape[2]))])

    def _row(self, name: str, head: int, row: int) -> Matrix:
        start = row - row % self.height
        made: Matrix = self._block(head, start)[name][row - start]
        return made.copy()  # the block need not stay for it

    def _made(self, head: int, start: int) -> Mapping[str, Matrix]:
        return self._make(head, slice(start, min(start + self.height, self.shape[1])))


class Remade:
    """A matrix of a long problem, (n, m) or (heads, n, m), that is read like an array.

    name: its step.
    head: the head, from 0; None for all.
    """

    def __init__(
        self, name: str, blocks: Blocks, dtype: "np.dtype[Any]", head: int | None = None
    ) -> None:
        self.name, self.dtype, self._blocks, self._head = name, dtype, blocks, head

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Its shape, with an axis of heads first if there are several."""
        return self._blocks.shape if self._head is None else self._blocks.shape[1:]

    @property
    def ndim(self) -> int:
        """The number of its axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of its entries."""
        return int(np.prod(self.shape, dtype=object))

    @property
    def nbytes(self) -> int:
        """Its memory, which does not grow with its size."""
        return ENTRIES * self.dtype.itemsize

    def __len__(self) -> int:
        """Return the number of rows, or of heads."""
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        """Yield its rows, or its heads."""
        return (self[index] for index in range(len(self)))

    def __getitem__(self, place: Any) -> Any:
        """Return an entry, a row or some rows as an array; a head of several is made as read."""
        axes = self._axes(place if isinstance(place, tuple) else (place,))
        if self._head is None:
            head, *axes = axes
            if isinstance(head, slice):
                heads = range(len(self))[head]
                return np.stack([self._of(each)[tuple(axes)] for each in heads])
            if axes == [slice(None), slice(None)]:
                return self._of(head)
            return self._of(head)[tuple(axes)]
        return self._read(self._head, *axes)

    def astype(self, dtype: Any, copy: bool = True) -> "Remade":
        """Return the matrix in another type of numbers."""
        return Remade(self.name, self._blocks, np.dtype(dtype), self._head)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Matrix:
        """Return the full array."""
        return np.asarray(self[...], dtype)

    def _axes(self, place: tuple[Any, ...]) -> list[Any]:
        """Return the index of each axis; axes without one are read completely."""
        missing = [slice(None)] * (self.ndim - sum(each is not Ellipsis for each in place))
        at = place.index(Ellipsis) if Ellipsis in place else len(place)
        named = [each for each in place if each is not Ellipsis]
        return [*named[:at], *missing, *named[at:]]

    def _of(self, head: int) -> "Remade":
        return Remade(self.name, self._blocks, self.dtype, range(self.shape[0])[head])

    def _read(self, head: int, rows: Any, columns: Any) -> Any:
        count = range(self._blocks.shape[1])
        if isinstance(rows, slice):
            made = self._blocks.rows(self.name, head, count[rows])[:, columns]
        else:
            made = self._blocks.row(self.name, head, count[rows])[columns]
        return made.astype(self.dtype, copy=False)
