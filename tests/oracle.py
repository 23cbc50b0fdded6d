"""Attention of one head by hand, as `oracle_kinds` computes it, and the lines of its map.

What is rational stays exact; only `BLUR` separates the rest from the truth.
"""

from collections.abc import Sequence
from fractions import Fraction

from oracle_kinds import BLUR, Kind, Rows, exact_by_hand, rounded, shown

__all__ = ["BLUR", "rounded"]

Texts = list[list[str]]
Ranking = tuple[tuple[int, ...], tuple[int, ...]]

SAME = Fraction(1, 10**9)
"""Weights this near each other, relative to the larger, share a place."""


def solve_by_hand(
    X1: Rows,
    X2: Rows,
    W_Q: Rows,
    W_K: Rows,
    W_V: Rows,
    scale: str | Fraction,
    rounding: str,
    decimals: int,
) -> dict[str, Texts]:
    """Return every step as it is shown; for self-attention, X1 and X2 are both X.

    Examples
    --------
    >>> one = [[Fraction(1)], [Fraction(1)]]
    >>> half = [[Fraction(1, 2)]]
    >>> solve_by_hand(one, one, half, half, half, "none", "display", 1)["A"]
    [['0.5', '0.5'], ['0.5', '0.5']]
    """
    return as_shown(exact_values(X1, X2, W_Q, W_K, W_V, scale, rounding, decimals), decimals)


def exact_values(
    X1: Rows,
    X2: Rows,
    W_Q: Rows,
    W_K: Rows,
    W_V: Rows,
    scale: str | Fraction,
    rounding: str,
    decimals: int,
) -> dict[str, Rows]:
    """Return every step before rounding, computed from the values of the steps before it."""
    kind = Kind(
        X1=X1, X2=X2, W_Q=[W_Q], W_K=[W_K], W_V=[W_V], scale=scale, rounding=rounding,
        decimals=decimals,
    )  # fmt: skip
    return {name: matrix for name, (matrix,) in exact_by_hand(kind).items()}


def as_carried(full: dict[str, Rows], rounding: str, decimals: int) -> dict[str, Rows]:
    """Return the steps as they are under `"display"`, and rounded under `"each-step"`."""
    if rounding == "display":
        return full
    return {
        name: [[rounded(value, decimals) for value in row] for row in matrix]
        for name, matrix in full.items()
    }


def as_shown(steps: dict[str, Rows], decimals: int) -> dict[str, Texts]:
    """Return the texts of every entry of every step."""
    return {
        name: [[shown(value, decimals) for value in row] for row in matrix]
        for name, matrix in steps.items()
    }


def connections_by_hand(weights_rows: Rows, shown_rows: Texts) -> list[Ranking]:
    """Return, for each output, the inputs in first place and those in second, from 0."""
    return [_ranking(*rows) for rows in zip(weights_rows, shown_rows, strict=True)]


def _ranking(weights: Sequence[Fraction], texts: Sequence[str]) -> Ranking:
    most = _first_place(dict(enumerate(weights)))
    if len(most) != 1:
        return most, ()
    others = {index: weight for index, weight in enumerate(weights) if index not in most}
    second = _first_place(others)
    return most, tuple(index for index in second if texts[index].strip("0.") != "")


def _first_place(weights: dict[int, Fraction]) -> tuple[int, ...]:
    largest = max(weights.values(), default=Fraction(0))
    if largest == 0:
        return ()
    return tuple(i for i, weight in weights.items() if largest - weight <= SAME * largest)
