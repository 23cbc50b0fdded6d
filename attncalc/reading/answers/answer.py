"""A worked answer as it was written: the entries of some steps, none of them judged yet."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from attncalc.numbers.types import Matrix
from attncalc.problem.attention.declared import MOST_DECIMALS

_LINE = re.compile(r"\b(lines? )(\d{1,7})(?:( to )(\d{1,7}))?\b")
ROOM, MOST_BLANK = 10_000, 20
"""Entries that any matrix may have, and how many beyond for each that is written."""
IN_FULL = 99
"""Decimals of a number that was not cut: a fraction, or a float out of a program."""


class Entry(NamedTuple):
    """One entry as it was written.

    Parameters
    ----------
    text
        As typed.
    value
        The number that it is; None where it is blank or cannot be read.
    decimals
        How many decimals it was given: 2 for `0.30`, `IN_FULL` for `3/10`.
    fault
        Why it cannot be read, if it cannot.
    """

    text: str
    value: Decimal | Fraction | None = None
    decimals: int = 0
    fault: str = ""


@dataclass(frozen=True, eq=False)
class WrittenMatrix:
    """One step as it was written.

    Parameters
    ----------
    values
        Its numbers in float64, NaN where there is none: (rows, columns), or (heads, rows, columns).
    decimals
        How many decimals each of them was given.
    faults
        Why entries cannot be read, by their places.
    texts
        The entries as typed; None for arrays out of a program.
    place
        Where it stands in its file: "line 12"; "" where that says nothing.
    problem
        What is wrong with it as a whole: rows of unequal length, say.
    """

    values: Matrix
    decimals: Matrix
    faults: Mapping[tuple[int, ...], str] = field(default_factory=dict)
    texts: Matrix | None = None
    place: str = ""
    problem: str = ""

    @property
    def shape(self) -> tuple[int, ...]:
        """Its shape, with an axis of heads first where it has any."""
        return self.values.shape

    def text(self, place: tuple[int, ...]) -> str:
        """Return an entry as it was typed."""
        if self.texts is not None:
            return str(self.texts[place])
        return f"{self.values[place]:.10g}"

    def arranged(self, arrange: Any) -> "WrittenMatrix":
        """Return the matrix with its entries where `arrange` puts those of any array."""
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
        """Return the matrix with blank heads after its own, up to this number."""
        more = [(0, heads - len(self.values)), (0, 0), (0, 0)]
        return replace(
            self,
            values=np.pad(self.values, more, constant_values=np.nan),
            decimals=np.pad(self.decimals, more),
            texts=None if self.texts is None else np.pad(self.texts, more, constant_values=""),
        )


class WrittenConnection(NamedTuple):
    """Which inputs the lines of one output lead to, by name, as it was written.

    `of` says which attention's map it is, as "cross" or "1.self"; "" where nothing does. `line`
    is where it stands; 0 where the form has no lines. `is_told` says that it is told in words of
    any kind, and not drawn in the form of a worksheet.
    """

    head: int
    output: str
    most: tuple[str, ...]
    second: tuple[str, ...]
    of: str = ""
    line: int = 0
    is_told: bool = False

    @property
    def says(self) -> str:
        """The line as it was read.

        Examples
        --------
        >>> WrittenConnection(0, "3", ("1",), ("2",)).says
        'output 3 → input 1, second 2'
        """
        most = f"input {' and '.join(self.most)}" if self.most else "no input"
        second = f", second {' and '.join(self.second)}" if self.second else ""
        return f"output {self.output} → {most}{second}"


class Unread(NamedTuple):
    """Numbers of an answer that belong to nothing that was recognised in it.

    Parameters
    ----------
    line
        Where they stand; 0 where the form has no lines.
    text
        As typed.
    why
        What is missing for them to be read.
    could_be_matrix
        Whether they may well be a matrix, or a part of one.
    of_map
        Whether it seems to say what an output attends to.
    """

    line: int
    text: str
    why: str
    could_be_matrix: bool
    of_map: bool = False


class Taken(NamedTuple):
    """What one part of an answer was taken for.

    Parameters
    ----------
    line, last
        The lines that hold it; 0 where the form has none.
    what
        A step's name, with its head, row or entry where it is one; "" for what is no step.
    how
        Why it was taken for that, or what it is if it is no step.
    text
        What stands there.
    """

    line: int
    last: int
    what: str
    how: str
    text: str


@dataclass(frozen=True, eq=False)
class Answer:
    """A worked answer.

    Parameters
    ----------
    place
        Where it was read from.
    matrices
        The steps that it holds, by name.
    connections
        The lines that it draws; None where it says nothing of them.
    faults
        What cannot be read, and where.
    unread
        The numbers in it that belong to nothing else that is recognised.
    remarks
        What a reader should know of how it was read: a guess, a correction, a slip of copying.
    taken
        What each of its parts was taken for, in order.
    """

    place: str
    matrices: Mapping[str, WrittenMatrix]
    connections: tuple[WrittenConnection, ...] | None = None
    faults: tuple[str, ...] = ()
    unread: tuple[Unread, ...] = ()
    remarks: tuple[str, ...] = ()
    taken: tuple[Taken, ...] = ()

    @property
    def has_unread_matrix(self) -> bool:
        """Whether something in it was not read that could be a matrix."""
        return any(each.could_be_matrix for each in self.unread)


def renumbered(answer: Answer, numbers: Sequence[int]) -> Answer:
    """Return an answer whose lines are those of its file, not of the text that was made of it."""

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
    """Say whether a matrix of this size would be so blank that it is better not made.

    Examples
    --------
    >>> is_sparse(size=4096 * 4096, written=1), is_sparse(size=64 * 64, written=1)
    (True, False)
    """
    return size > ROOM + MOST_BLANK * written


def not_filled(problem: str, place: str) -> WrittenMatrix:
    """Return a matrix of which nothing is kept but what is wrong with it."""
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
    """Return what is wrong with rows, or with heads, that differ in size."""
    short = next((i for i, row in enumerate(rows) if len(row) != lengths[0]), None)
    if short is None:
        return "its heads differ in size"
    return f"row 1 has {lengths[0]} entries, row {short + 1} has {len(rows[short])}"


def matrix_of_floats(values: Matrix, place: str = "") -> WrittenMatrix:
    """Return the matrix that a program wrote, its numbers as short as they can be: 0.62 has two."""
    floats = values.astype(np.float64)
    decimals = np.full(floats.shape, IN_FULL)
    with np.errstate(over="ignore"):  # of the huge, which are whole numbers anyway
        for count in range(MOST_DECIMALS, -1, -1):
            decimals[np.round(floats, count) == floats] = count
    return WrittenMatrix(floats, decimals, place=place)
