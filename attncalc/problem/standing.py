"""How given matrices are stored, and the one form in which plans read them.

A plan reads tokens as rows, weights as (in, out), and several heads as a first axis. A person may
give tokens as columns, weights as (out, in) or heads side by side in one matrix: here each given
matrix is turned into the plan's form, by transposing and splitting alone.
"""

from typing import TYPE_CHECKING

import numpy as np

from attncalc.numbers.types import Matrix
from attncalc.problem.fields import BIASES, WEIGHTS

if TYPE_CHECKING:
    from attncalc.problem.problem import Problem

ASKING = ("W_Q", "b_Q", "Q")
ANSWERING = ("W_K", "b_K", "K", "W_V", "b_V", "V")


def upright(problem: "Problem", name: str, matrix: Matrix) -> Matrix:
    """Return a given matrix with tokens as rows and weights as (in, out), heads not yet parted."""
    if name in BIASES:
        return matrix.reshape(1, -1)
    return matrix.swapaxes(-1, -2) if is_turned(problem, name) else matrix


def is_turned(problem: "Problem", name: str) -> bool:
    """Say whether a given matrix stands the other way round: tokens as columns, weights (out, in).

    Weights with tokens as columns are (out, in) in either case.
    """
    columns = problem.layout == "columns"
    return columns or (name in WEIGHTS and problem.weights_layout == "torch")


def in_plan_form(problem: "Problem", name: str, matrix: Matrix) -> Matrix:
    """Return a given matrix as the plan reads it: upright, one matrix for each head."""
    standing = upright(problem, name, matrix)
    if name in ASKING:
        return split_heads(standing, problem.n_heads)
    if name in ANSWERING:
        return split_heads(standing, problem.n_kv_heads)
    return standing[0] if standing.ndim == 3 and len(standing) == 1 else standing


def split_heads(matrix: Matrix, heads: int) -> Matrix:
    """Part a matrix into heads: head i has the columns i·d … (i+1)·d.

    Examples
    --------
    >>> split_heads(np.array([[1, 2, 3, 4]]), 2).tolist()
    [[[1, 2]], [[3, 4]]]
    """
    if matrix.ndim == 3:
        return matrix[0] if heads == 1 else matrix
    if heads == 1:
        return matrix
    rows, columns = matrix.shape
    return matrix.reshape(rows, heads, columns // heads).swapaxes(0, 1)


def back_to_layout(problem: "Problem", matrix: Matrix) -> Matrix:
    """Return a plan's matrix as the problem's layout shows it: turned where tokens are columns."""
    return np.swapaxes(matrix, -1, -2) if problem.layout == "columns" else matrix
