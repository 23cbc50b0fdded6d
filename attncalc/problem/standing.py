"""Layouts: the only module that handles tokens as columns, and weights (out, in).

Internally tokens are rows, weights are (in, out), and several heads are a first axis. A problem may
have tokens as columns, weights as (out, in) or heads side by side in one matrix. This module
converts given matrices to the internal layout, and results back, by transposing and splitting.
"""

from typing import Any, NamedTuple, TypeVar

import numpy as np

from attncalc.base.types import Matrix, Place
from attncalc.equations.expressions import Expression, Symbol, Transposed, turned_round
from attncalc.problem.fields import role_of

T = TypeVar("T")
LISTS = ("bias", "frequencies", "heads", "ids")
"""Roles of matrices that are lists of numbers."""
ALIKE = ("buckets", "image")
"""Roles of matrices with one form in both layouts: their rows are not tokens."""


class Standing(NamedTuple):
    """The layout of the matrices of a problem.

    by_columns: whether tokens are columns: every matrix is transposed, also weights.
    out_in: whether weights are stored (out, in), as in PyTorch.
    unturned: the names of weights that no layout transposes.
    """

    by_columns: bool = False
    out_in: bool = False
    unturned: tuple[str, ...] = ()

    def is_turned(self, name: str) -> bool:
        """Return whether a given matrix is transposed."""
        role = role_of(name)
        if name in self.unturned or role in ALIKE:
            return False
        return self.by_columns or (role == "weights" and self.out_in)

    def has_token_columns(self, name: str) -> bool:
        """Return whether a given matrix has a column, and not a row, for each token."""
        return self.by_columns and role_of(name) not in ("weights", "ids", *ALIKE)

    def upright(self, name: str, matrix: Matrix) -> Matrix:
        """Return a given matrix with tokens as rows, weights (in, out); heads are not split yet."""
        # a bias is a row here, whether it was typed as a list, a row or a column
        if role_of(name) in LISTS:
            return matrix.reshape(1, -1)
        return matrix.swapaxes(-1, -2) if self.is_turned(name) else matrix

    def shown(self, matrix: Matrix) -> Matrix:
        """Return an internal matrix in the layout of the problem, or the reverse."""
        return np.swapaxes(matrix, -1, -2) if self.by_columns else matrix

    def place(self, place: Place) -> Place:
        """Return the shown place of an entry of an internal matrix, or the reverse."""
        if not self.by_columns:
            return place
        *head, row, column = place
        return (*head, column, row)

    def row(self, index: int) -> tuple[Any, ...]:
        """Return the index of a shown row in the internal matrix."""
        return (..., index) if self.by_columns else (index,)

    def pair(self, of_rows: T, of_columns: T) -> tuple[T, T]:
        """Return the values for shown rows and for shown columns."""
        return (of_columns, of_rows) if self.by_columns else (of_rows, of_columns)

    def expression(self, expression: Expression) -> Expression:
        """Return an expression in the layout of the problem."""
        return turned_round(expression) if self.by_columns else expression

    def symbol(self, name: str) -> Expression:
        """Return a matrix in an equation: weights stored (out, in) are transposed there."""
        if name in self.unturned:
            return Transposed(Symbol(name)) if self.by_columns else Symbol(name)
        # with tokens as columns, weights (out, in) have the orientation of the equation Q = W_Q X
        return Transposed(Symbol(name)) if self.is_transposed(name) else Symbol(name)

    def is_transposed(self, name: str) -> bool:
        """Return whether equations transpose weights: those (out, in), if tokens are rows."""
        is_stored = role_of(name) == "weights" and name not in self.unturned
        return is_stored and self.out_in and not self.by_columns

    def is_shown_transposed(self, name: str) -> bool:
        """Return whether a given matrix as shown is the transpose of the internal one.

        Weights (out, in) are, if tokens are rows. If tokens are columns, everything shown is
        transposed, and so are matrices with one form in both layouts.
        """
        is_alike = name in self.unturned or role_of(name) in ALIKE
        return self.by_columns if is_alike else self.is_transposed(name)

    @property
    def ins(self) -> str:
        """The part of weights that tokens multiply: their rows or their columns."""
        return self.pair("rows", "columns")[0] if not self.out_in else "columns"

    @property
    def outs(self) -> str:
        """The part of weights for the features of the result."""
        return "rows" if self.ins == "columns" else "columns"

    @property
    def features(self) -> str:
        """Whether features are rows or columns, as a word."""
        return self.pair("rows", "columns")[1]

    @property
    def line(self) -> str:
        """Whether the weights of one output are a row or a column."""
        return self.pair("row", "column")[0]

    @property
    def line_across(self) -> str:
        """Whether the weights of one input are a row or a column."""
        return self.pair("row", "column")[1]


def split_heads(matrix: Matrix, heads: int) -> Matrix:
    """Split a matrix into heads: head i has the columns i·d … (i+1)·d.

    >>> split_heads(np.array([[1, 2, 3, 4]]), 2).tolist()
    [[[1, 2]], [[3, 4]]]
    """
    if matrix.ndim == 3:
        return matrix[0] if heads == 1 else matrix
    if heads == 1:
        return matrix
    rows, columns = matrix.shape
    return matrix.reshape(rows, heads, columns // heads).swapaxes(0, 1)
