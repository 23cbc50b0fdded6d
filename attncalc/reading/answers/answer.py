"""A worked answer as written: the entries of some steps, not yet marked."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from attncalc.base.text import entry_name
from attncalc.base.types import Matrix
from attncalc.problem.attention.declared import MOST_DECIMALS

_LINE = re.compile(r"\b(lines? )(\d{1,7})(?:( to )(\d{1,7}))?\b")
ROOM, MOST_BLANK = 10_000, 20
"""Entries that any matrix may have, and how many more for each written entry."""
IN_FULL = 99
"""The number of decimals of an uncut number: a fraction, or a float from a program."""


class Entry(NamedTuple):
    """One entry as written.

    text: as typed.
    value: its number; None if it is blank or unreadable.
    decimals: its number of decimals: 2 for `0.30`, `IN_FULL` for `3/10`.
    fault: why it cannot be read, or "".
    """

    text: str
    value: Decimal | Fraction | None = None
    decimals: int = 0
    fault: str = ""


@dataclass(frozen=True, eq=False)
class WrittenMatrix:
    """One step as written.

    values: its numbers in float64, NaN for missing ones: (rows, columns), or (heads, rows,
        columns).
    faults: why entries cannot be read, by place.
    texts: the entries as typed; None for arrays from a program.
    place: its position in the file: "line 12"; "" if there is none.
    problem: an error of the entire matrix, such as rows of unequal length.
    """

    values: Matrix
    decimals: Matrix
    faults: Mapping[tuple[int, ...], str] = field(default_factory=dict)
    texts: Matrix | None = None
    place: str = ""
    problem: str = ""

    @property
    def shape(self) -> tuple[int, ...]:
        """Its shape, with an axis of heads first if it has any."""
        return self.values.shape

    def text(self, place: tuple[int, ...]) -> str:
        """Return an entry as typed."""
        if self.texts is not None:
            return str(self.texts[place])
        return f"{self.values[place]:.10g}"

    def arranged(self, arrange: Any) -> "WrittenMatrix":
        """Return the matrix with its entries rearranged by `arrange`, a function of arrays."""
        indices = arrange(np.arange(self.values.size).reshape(self.shape))
        faults = np.full(self.shape, "", dtype=object)
        for place, fault in self.faults.items():
            faults[place] = fault
        moved = faults.ravel()[indices]
        return replace(
            self,
            values=self.values.ravel()[indices],
            decimals=self.decimals.ravel()[indices],
            faults={place: moved[place] for place in map(tuple, np.argwhere(moved != "").tolist())},
            texts=None if self.texts is None else self.texts.ravel()[indices],
        )

    def with_heads(self, heads: int) -> "WrittenMatrix":
        """Return the matrix with blank heads added, up to this number."""
        return self.padded((0, heads - len(self.values)), (0, 0), (0, 0))

    def padded(self, *around: tuple[int, int]) -> "WrittenMatrix":
        """Return the matrix with so many blanks before and behind it, by axis."""
        return replace(
            self,
            values=np.pad(self.values, around, constant_values=np.nan),
            decimals=np.pad(self.decimals, around),
            texts=None if self.texts is None else np.pad(self.texts, around, constant_values=""),
        )


class WrittenConnection(NamedTuple):
    """The inputs that the lines of one output lead to, by name, as written.

    `of` is the attention of the map, such as "cross" or "1.self"; "" if none is named. `line` is
    its line; 0 if the form has no lines. `is_told` is true for a sentence in any words, and false
    for the form of a worksheet. `is_one` is true for a form in which only one input could be
    chosen, by its number: one of several that tie is right.
    """

    head: int
    output: str
    most: tuple[str, ...]
    second: tuple[str, ...]
    of: str = ""
    line: int = 0
    is_told: bool = False
    is_one: bool = False

    @property
    def says(self) -> str:
        """The line as read.

        >>> WrittenConnection(0, "3", ("1",), ("2",)).says
        'output 3 → input 1, second 2'
        """
        most = f"input {' and '.join(self.most)}" if self.most else "no input"
        second = f", second {' and '.join(self.second)}" if self.second else ""
        return f"output {self.output} → {most}{second}"


class Unread(NamedTuple):
    """Numbers of an answer that belong to nothing recognized in it.

    line: their line; 0 if the form has no lines.
    text: as typed.
    why: why they are not read.
    could_be_matrix: whether they may be a matrix, or a part of one.
    of_map: whether it seems to state what an output attends to.
    """

    line: int
    text: str
    why: str
    could_be_matrix: bool
    of_map: bool = False


class Taken(NamedTuple):
    """How one part of an answer was interpreted.

    line, last: its first and last line; 0 if the form has no lines.
    what: the name of a step, with head, row or entry if it is a part; "" if it is not a step.
    how: the reason, or a description if it is not a step.
    """

    line: int
    last: int
    what: str
    how: str
    text: str

    @property
    def step(self) -> str:
        """The name of the step, without a head, row or entry."""
        return re.split(r"[\[ ]", self.what, maxsplit=1)[0]

    @property
    def lines(self) -> range:
        """Its lines."""
        return range(self.line, self.last + 1)


@dataclass(frozen=True, eq=False)
class Answer:
    """A worked answer.

    place: the file or source.
    matrices: its steps, by name.
    connections: the lines of its map; None if it has no map.
    faults: the parts that cannot be read, with their place.
    unread: the numbers that belong to nothing recognized.
    remarks: notes about the reading: a guess, a correction, a copying error.
    taken: how each part was interpreted, in order.
    is_arranged: whether each matrix is a step of the plan, in its layout.
    """

    place: str
    matrices: Mapping[str, WrittenMatrix]
    connections: tuple[WrittenConnection, ...] | None = None
    faults: tuple[str, ...] = ()
    unread: tuple[Unread, ...] = ()
    remarks: tuple[str, ...] = ()
    taken: tuple[Taken, ...] = ()
    is_arranged: bool = False

    @property
    def has_unread_matrix(self) -> bool:
        """Whether an unread part of it could be a matrix."""
        return any(each.could_be_matrix for each in self.unread)


def renumbered(answer: Answer, numbers: Sequence[int]) -> Answer:
    """Return an answer with the line numbers of its file instead of the converted text."""

    def line(number: int) -> int:
        return numbers[number - 1] if 0 < number <= len(numbers) else number

    def said(text: str) -> str:
        return _LINE.sub(
            lambda each: "".join(
                str(line(int(piece))) if piece.isdigit() else piece
                for piece in each.groups(default="")
            ),
            text,
        )

    return replace(
        answer,
        matrices={
            name: replace(each, place=said(each.place)) for name, each in answer.matrices.items()
        },
        connections=answer.connections
        and tuple(each._replace(line=line(each.line)) for each in answer.connections),
        faults=tuple(map(said, answer.faults)),
        unread=tuple(
            each._replace(line=line(each.line), why=said(each.why)) for each in answer.unread
        ),
        remarks=tuple(map(said, answer.remarks)),
        taken=tuple(
            each._replace(line=line(each.line), last=line(each.last)) for each in answer.taken
        ),
    )


def is_sparse(size: int, written: int) -> bool:
    """Return whether a matrix of this size would be too sparse to create.

    >>> is_sparse(size=4096 * 4096, written=1), is_sparse(size=64 * 64, written=1)
    (True, False)
    """
    return size > ROOM + MOST_BLANK * written


def faults_in(matrices: Mapping[str, WrittenMatrix]) -> Iterator[str]:
    """Yield the faults of entries, each with the name and the place of its entry."""
    for name, matrix in matrices.items():
        for place, why in matrix.faults.items():
            yield f"{entry_name(name, place)}: {why}"


def not_filled(problem: str, place: str) -> WrittenMatrix:
    """Return an empty matrix with its problem."""
    return replace(matrix_of_entries([[[Entry("")]]], place), problem=problem)


def matrix_of_entries(heads: Sequence[Sequence[Sequence[Entry]]], place: str) -> WrittenMatrix:
    """Return the matrix of these entries: one list of rows, or one for each head."""
    rows = [row for head in heads for row in head]
    lengths = list(dict.fromkeys(len(row) for row in rows))
    heights = list(dict.fromkeys(len(head) for head in heads))
    shape: tuple[int, ...] = (len(heads), max(heights, default=0), max(lengths, default=0))
    if is_sparse(math.prod(shape), sum(map(len, rows))):
        return not_filled(_unevenness(rows, lengths), place)
    flat = [
        head[i][j] if i < len(head) and j < len(head[i]) else Entry("")
        for head in heads
        for i in range(shape[1])
        for j in range(shape[2])
    ]
    shape = shape[1:] if len(heads) == 1 else shape
    values = [math.nan if entry.value is None else float(entry.value) for entry in flat]
    faults = {k: entry.fault for k, entry in enumerate(flat) if entry.fault}
    problem = _unevenness(rows, lengths) if len(lengths) > 1 or len(heights) > 1 else ""
    return WrittenMatrix(
        np.array(values, dtype=float).reshape(shape),
        np.array([entry.decimals for entry in flat], dtype=int).reshape(shape),
        {tuple(map(int, np.unravel_index(k, shape))): why for k, why in faults.items()},
        np.array([entry.text for entry in flat], dtype=object).reshape(shape),
        place,
        problem,
    )


def _unevenness(rows: Sequence[Sequence[Entry]], lengths: Sequence[int]) -> str:
    """Return an error message for rows or heads of different sizes."""
    short = next((i for i, row in enumerate(rows) if len(row) != lengths[0]), None)
    if short is None:
        return "its heads differ in size"
    return f"row 1 has {lengths[0]} entries, row {short + 1} has {len(rows[short])}"


def matrix_of_floats(values: Matrix, place: str = "") -> WrittenMatrix:
    """Return the matrix of a program's floats, in their shortest form: 0.62 has two decimals."""
    floats = values.astype(np.float64)
    decimals = np.full(floats.shape, IN_FULL)
    with np.errstate(over="ignore"):  # huge numbers are whole anyway
        for count in range(MOST_DECIMALS, -1, -1):
            decimals[np.round(floats, count) == floats] = count
    return WrittenMatrix(floats, decimals, place=place)
