"""Storing numbers under the names of steps, or noting why they are not read."""

import re
from dataclasses import dataclass, field

import numpy as np

from attncalc.problem.fields import MATRICES, own_name
from attncalc.problem.gradients.naming import gradient_from
from attncalc.reading.answers.answer import Taken, Unread, WrittenConnection
from attncalc.reading.answers.copying import Copies
from attncalc.reading.answers.expected import MASKS, SCORES, Expected, near
from attncalc.reading.answers.labels import Labels
from attncalc.reading.answers.parts import Part, values_of
from attncalc.reading.answers.prose import is_constant, is_worked
from attncalc.reading.naming.at_hand import is_step_at_hand
from attncalc.reading.naming.layer_words import kind_of
from attncalc.reading.naming.name import Name
from attncalc.reading.naming.symbols import STEPS
from attncalc.reading.plain.blocks import Block
from attncalc.reading.plain.grids import Grid
from attncalc.reading.plain.marks import typed
from attncalc.reading.plain.numerals import is_number_cell
from attncalc.reading.plain.rows import (
    without_counted_columns,
    without_counted_rows,
)

MOST_HEADS = 1000
SURELY = 0.8
"""The share of numbers that must be right for numbers named as work to be a step."""


@dataclass
class Loose:
    """A matrix whose name is not known yet, and the parts before it."""

    block: Block
    grid: Grid
    after: int
    own_name: str = ""
    head: int = 0
    is_correction: bool = False
    kind: str = ""
    """The word directly above it: mu or var, without a layer."""
    given: str = ""
    """The given matrix whose name it has, with other numbers."""


@dataclass
class Collected:
    """The interpretation of the blocks of an answer by their names."""

    parts: list[Part] = field(default_factory=list)
    loose: list[Loose] = field(default_factory=list)
    taken: list[Taken] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    connections: list[WrittenConnection] = field(default_factory=list)
    of_map: set[int] = field(default_factory=set)
    """The lines that are only about the map."""

    def note(self, line: int, what: str, how: str, text: str, last: int = 0) -> None:
        """Note the interpretation of a part: a step, or "" for other content."""
        self.taken.append(Taken(line, last or line, what, how, text))

    def leave(self, line: int, text: str, why: str, *, could_be: bool = True) -> None:
        """List a part as not read."""
        self.unread.append(Unread(line, typed(text), why, could_be))

    def tell(self, line: int, what: str) -> None:
        """Remark something about the reading of a line."""
        self.remarks.append(f"line {line}: {what}")


class Keeper(Labels):
    """Stores the numbers of steps, and lists other parts."""

    def __init__(self, expected: Expected) -> None:
        super().__init__(expected)
        self.copies = Copies(expected)
        self.found = Collected()
        self.again = False
        self.last: Part | None = None
        self.token = 0, 0
        self.before: Block | None = None

    def keep(self, block: Block, grid: Grid, name: Name, how: str) -> None:
        """Store numbers that have a name, if they fit it."""
        if self.is_given(name):
            self._given(block, grid, name)
            return
        name = self.of_one_head(name, grid)
        if (given := self._copied(name, grid)) is not None:
            self.note(block, given, "given, copied")
            return
        grid = self.without_counts(grid, name)
        name = self._of_row(self.with_number(name, grid), grid, block)
        if name.matrix.endswith("S_masked") and self._is_mask(name, grid):
            self.note(block, "", "the mask itself")
        elif _is_too_large(name, block, grid):
            self.keep_loose(block, grid, "")
        elif block.is_single and not name.column and self._is_no_matrix(name):
            self._alone(block, name, grid)
        else:
            self._keep_heads(block, grid, self._scaled(block, grid, name, how), how)

    def _scaled(self, block: Block, grid: Grid, name: Name, how: str) -> Name:
        """Return the name of a scaled score, and store the score before it: q1·k2 = 5 → 3.54.

        The quotient may be written: 5 / √2 = 3.54.
        """
        scores, scaled = (self.expected.of_head(each, name.head) for each in SCORES)
        work = "".join(block.work[-1:])
        score, _, by = work.partition("/")
        work = score.strip() if "√" in by else work
        if name.matrix != "S" or not name.column or scores is None or scaled is None:
            return name
        if not is_number_cell(work) or work == grid.rows[0][0] or not scores.any():
            return name
        factor = (scores * scaled).sum() / (scores**2).sum()
        if factor == 1 or not near(values_of(grid.heads), values_of([[[work]]]) * factor).all():
            return name
        self.keep_part(block, name, [[work]], how)
        return name._replace(matrix="S_scaled")

    def keep_instead(self, block: Block, grid: Grid, how: str) -> None:
        """Store numbers that replace the last ones, unless only those are right."""
        last = self.last
        assert last is not None
        name = Name(last.name, last.head, last.row, last.column)
        if self._is_read_right(name, grid):
            if np.isin(values_of(grid.heads), last.values).all():
                self.note(block, "", f"{last.name} again")
            else:
                self.keep_loose(block, grid, "")
            return
        if self.found.parts[-1:] == [last]:
            self.found.parts.pop()
        self.keep(block, grid, name, how)

    def _is_read_right(self, name: Name, grid: Grid) -> bool:
        """Return whether a step was read and is right, and other numbers are not like it."""
        rows = [row for part in self.found.parts if part.name == name.matrix for row in part.rows]
        read = values_of([rows])
        agreement = self.expected.agreement
        return agreement(name.matrix, read) > SURELY > agreement(name.matrix, values_of(grid.heads))

    def _copied(self, name: Name, grid: Grid) -> str | None:
        """Return the given matrix that a grid copies, if the grid does not fit its name.

        Return "" for a row of one: "for x1 = (1, 0, 2)" is not a query. Return None if it is not a
        copy.
        """
        given = self.copies.is_copy(grid)
        if given and not self.fits(name, grid):
            return given
        heads = self.expected.heads(name.matrix) or 1
        widths = [count * w for w in self.expected.shape(name.matrix)[-1:] for count in (1, heads)]
        is_other = name.row and widths and len(grid.rows[0]) not in widths
        return "" if is_other and self.copies.is_row(grid) else None

    def of_one_head(self, name: Name, grid: Grid) -> Name:
        """Return the name of outputs as those of one head, if they fit nothing else."""
        if name.matrix != "O":
            return name
        of_row = slice(1 if name.row else 0, 2)  # of a row, the width is known
        size, own, whole = (
            each[of_row]
            for each in (size_of(grid), self.expected.size("H"), self.expected.size("O"))
        )
        is_of_size = own == size
        is_only = is_of_size and whole != size
        if self.head and is_only:
            return name._replace(matrix="H")
        if name.number and is_of_size and self.expected.heads("H") and len(grid.rows) > 1:
            return name._replace(matrix="H", head=name.number, number=0)  # Z_2, concatenated later
        return name

    def _is_mask(self, name: Name, grid: Grid) -> bool:
        """Return whether a matrix is a mask, and not scores: 0 and 1, or 0 and -∞."""
        values = values_of(grid.heads)
        said = {*values.ravel().tolist()}
        is_one = len(said) == 2 and all(each in (0, 1) or each <= MASKS for each in said)
        return is_one and len(grid.rows) > 1 > 2 * self.expected.agreement(name.matrix, values)

    def fits(self, name: Name, grid: Grid) -> bool:
        """Return whether a matrix has the shape of its step."""
        return self.expected.size(name.matrix) in ((0, 0), size_of(grid))

    def is_given(self, name: Name) -> bool:
        """Return whether a name is that of a given matrix of the problem."""
        matrix, steps = name.matrix, self.expected.steps
        if matrix in STEPS or matrix in steps or is_step_at_hand(matrix):
            return matrix in self.expected.given and matrix not in steps
        return matrix in MATRICES

    def _of_row(self, name: Name, grid: Grid, block: Block) -> Name:
        """Return the name of one row, if a token was named above a single row.

        Below it, an ordinal is not that of a row of scores, weights or outputs: the fourth
        is masked, weights: ….
        """
        shape = self.expected.shape(name.matrix)
        is_below = 0 < self.token[0] < block.line and own_name(name.matrix)[:1] in ("S", "A", "O")
        if is_below and name.how == "words" and not name.column:
            name = name._replace(row=0)
        is_place = name.row or name.column or name.number or len(grid.heads) > 1
        if is_place or not self.token[1] or len(grid.rows) > 1 or shape[-2:-1] == (1,):
            return name
        return name._replace(row=self.token[1])

    def _keep_heads(self, block: Block, grid: Grid, name: Name, how: str) -> None:
        again, self.again = self.again, False
        how = f"{how}, marked as a correction" if again else how
        for number, rows in enumerate(grid.heads, start=1):
            several = number if len(grid.heads) > 1 else 0
            self.keep_part(block, name, rows, how, several)
            if again and self.last is not None and self.found.parts[-1:] == [self.last]:
                self.last = self.found.parts[-1] = self.last._replace(is_again=True)

    def _alone(self, block: Block, name: Name, grid: Grid) -> None:
        """Read one number under the name of a matrix with several."""
        starts_with_ones = gradient_from(name.matrix) is not None and grid.rows == [["1"]]
        is_work = block.work and is_worked(block.names)
        is_told = name.how == "words" and not name.row
        are_constants = is_constant(block.names) or is_constant(block.work)
        if starts_with_ones or are_constants or is_work or is_told:
            self.note(block, "", "a number of its own")
            self.is_fresh = self.is_fresh or starts_with_ones  # the entire matrix may follow
        else:
            self.leave(block, f"one number, where {name.matrix} has more", could_be=True)

    def _is_no_matrix(self, name: Name) -> bool:
        shape = self.expected.shape(name.matrix)
        if name.row:
            return bool(shape) and shape[-2 if self.expected.by_columns else -1] != 1
        if not shape and any(
            part.name == name.matrix and part.size > (1, 1) for part in self.found.parts
        ):
            return True  # an entry of the matrix above
        return shape[-2:] != (1, 1) if shape else name.how == "words"

    def _given(self, block: Block, grid: Grid, name: Name) -> None:
        """Read a copied matrix of the problem; a weak name may mean another matrix."""
        given = self.expected.given
        if block.is_single and block.work:
            self.note(block, "", "a line of work")  # x1 = (1, 1): 0+1 = 1
            return
        if not block.is_single and len(grid.rows) > 1 and self._is_rather_a_step(grid):
            self.keep_loose(block, grid, "")
            return
        may_be_other = name.how == "words" or name.matrix not in given
        is_other = may_be_other and not self.copies.name_of(grid) and not self.copies.is_row(grid)
        if given and is_other and not block.is_single:
            self.keep_loose(block, grid, "" if name.matrix in given else name.matrix)
            return
        if name.matrix in given and not name.row and self.copies.is_unlike(name.matrix, grid):
            self.keep_loose(block, grid, "")
            self.found.loose[-1].given = name.matrix
            return
        if given and is_other and name.how != "words" and not self.copies.holds(grid):
            self.leave(block, f"{name.matrix} is not given", could_be=True)
            return
        self.copies.compare(name.matrix, block, self.found.remarks)
        self.note(block, name.matrix, "given, copied")

    def _is_rather_a_step(self, grid: Grid) -> bool:
        """Return whether a matrix agrees fully with a step, and not fully with the given matrix."""
        if len(grid.heads) > 1 or self.copies.is_copy(grid):
            return False
        values = values_of(grid.heads)
        return any(self.expected.agreement(step, values) == 1 for step in self.expected.steps)

    def with_number(self, name: Name, grid: Grid) -> Name:
        """Return a name whose bare number after a capital is decided: a head, or a row."""
        is_row = len(grid.rows) == 1 or all(len(row) == 1 for row in grid.rows)
        heads = self.expected.heads(name.matrix)
        if heads and name.row and not (name.column or name.head or is_row):
            return name._replace(head=name.row, row=0)  # q_2, of several rows
        if not name.number:
            return name
        known = name.matrix in self.expected.steps
        if is_row and not heads and (known or name.how == "words" or len(grid.heads) == 1):
            return name._replace(row=name.number, number=0)
        if heads or not known:
            return name._replace(head=name.number, number=0)
        return name._replace(number=0)

    def keep_part(
        self, block: Block, name: Name, rows: list[list[str]], how: str, head: int = 0
    ) -> None:
        """Store the rows of one head, or of a step without heads, and note it."""
        head = head or name.head or self._head_of(name)
        if head > MOST_HEADS:
            self.found.faults.append(f"line {block.line}: {name.matrix}: there is no head {head}")
            return
        if not any(rows):
            self.leave(block, "there are no numbers in its columns")
            return
        part = Part(
            name.matrix, head, name.row, name.column, rows, block.line,
            self.row_from, self.column_from, name.turned,
        )  # fmt: skip
        self.last = part
        self.found.parts.append(part)
        self.note(block, part.what, how)

    def _head_of(self, name: Name) -> int:
        """Return the head mentioned before, for a step that has heads."""
        if name.matrix in self.expected.steps and not self.expected.heads(name.matrix):
            return 0
        return self.head

    def note(self, block: Block, what: str, how: str) -> None:
        """Note the interpretation of a block: a step, or "" for other content."""
        self.found.note(block.line, what, how, block.text, block.last)

    def leave(self, block: Block, why: str, *, could_be: bool | None = None) -> None:
        """List an unread block; several numbers may be a matrix unless `could_be` is false."""
        several = len(re.findall(r"\d+", block.text)) > 1
        matrix = several if could_be is None else could_be
        self.found.leave(block.line, block.text, why, could_be=matrix)

    def without_counts(self, grid: Grid, name: Name | None = None) -> Grid:
        """Return a table without its counts, if only its entries have a known shape."""
        without = without_counted_rows, without_counted_columns
        others = [rows for rows in (each(grid.rows) for each in without) if rows]
        if len(grid.heads) > 1 or not others:
            return grid
        known = {**self.expected.given, **self.expected.steps}
        if name and name.matrix in self.expected.steps:
            known = {name.matrix: self.expected.steps[name.matrix]}
        whole = {(1, 1, *matrix.shape)[-3:] for matrix in known.values()}
        shapes = {each[-2:] for each in whole}
        shapes |= {(rows, heads * width) for heads, rows, width in whole}
        own = size_of(grid)
        if own in shapes or own[::-1] in shapes:  # as it is, or transposed
            return grid
        fitting = (rows for rows in others if (len(rows), len(rows[0])) in shapes)
        return next((grid._replace(heads=(rows,)) for rows in fitting), grid)

    def keep_loose(self, block: Block, grid: Grid, own_name: str) -> None:
        """Store a matrix to be named later, with the words around it."""
        after = len(self.found.parts)
        is_below = not own_name and (self.head_is_wide or self.head_is_new)
        head = self.head if is_below else 0
        kind = kind_of(self.before.text) if self.before and not own_name else ""
        steps = (step.rpartition(".")[2] for step in self.expected.steps)
        kind = kind if any(step.startswith(f"{kind}_") for step in steps) else ""
        self.found.loose.append(Loose(block, grid, after, own_name, head, self.again, kind))
        self.again = False


def size_of(grid: Grid) -> tuple[int, int]:
    """Return the number of rows of a grid, and of columns of its widest row."""
    return len(grid.rows), max((len(row) for row in grid.rows), default=0)


def _is_too_large(name: Name, block: Block, grid: Grid) -> bool:
    """Return whether there are more numbers than the named entry or row has."""
    if name.row and name.column:
        return not block.is_single and len(grid.rows[0]) != 1
    return name.is_vector and len(grid.rows) > 1 and len(grid.rows[0]) > 1
