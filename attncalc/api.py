"""Attention for people with arrays in hand: one call, a Solution back."""

from typing import Any

from attncalc.problem import Problem
from attncalc.solution import Solution, solve


def self_attention(X: Any, W_Q: Any, W_K: Any, W_V: Any, **conventions: Any) -> Solution:
    """Compute self-attention, step by step.

    Parameters
    ----------
    X
        Tokens as rows, (n, d).
    W_Q, W_K, W_V
        Weights, (d, d_k), (d, d_k) and (d, d_v).
    **conventions
        `labels`, `title`, `scale`, `rounding`, `decimals`: see `Problem`.

    Returns
    -------
    Solution
        By name: Q (n, d_k), K (n, d_k), V (n, d_v), S, S_scaled and A (n, n), O (n, d_v).

    Raises
    ------
    InputError, ShapeError
        As `Problem` and `solve` do.

    Notes
    -----
    softmax(Q Kᵀ / √d_k) V: Vaswani et al., *Attention Is All You Need* (2017), equation 1.

    Examples
    --------
    >>> solution = self_attention([[1, 0], [0, 1]], [[1], [0]], [[1], [1]], [[2], [4]])
    >>> solution.shown("A"), solution["O"].shape
    ([['0.50', '0.50'], ['0.50', '0.50']], (2, 1))
    """
    return solve(Problem(X=X, W_Q=W_Q, W_K=W_K, W_V=W_V, **conventions))


def cross_attention(X1: Any, X2: Any, W_Q: Any, W_K: Any, W_V: Any, **conventions: Any) -> Solution:
    """Compute cross-attention, step by step: the tokens of X1 attend to those of X2.

    Parameters
    ----------
    X1
        Tokens that ask, as rows, (n, d_1).
    X2
        Tokens attended to, as rows, (m, d_2).
    W_Q, W_K, W_V
        Weights, (d_1, d_k), (d_2, d_k) and (d_2, d_v).
    **conventions
        `labels`, `title`, `scale`, `rounding`, `decimals`: see `Problem`.

    Returns
    -------
    Solution
        By name: Q (n, d_k), K (m, d_k), V (m, d_v), S, S_scaled and A (n, m), O (n, d_v).

    Raises
    ------
    InputError, ShapeError
        As `Problem` and `solve` do.

    Notes
    -----
    As `self_attention`, with Q = X1 W_Q, K = X2 W_K and V = X2 W_V: Vaswani et al. (2017),
    section 3.2.3.

    Examples
    --------
    >>> cross_attention([[1]], [[0], [0]], [[1]], [[1]], [[2]])["A"]
    array([[0.5, 0.5]])
    """
    return solve(Problem(X1=X1, X2=X2, W_Q=W_Q, W_K=W_K, W_V=W_V, **conventions))
