"""Attention by hand: an oracle of plain Python that shares no code with attncalc.

Numbers are Fractions. What is rational stays exact; a root or an exponential is taken to 120 digits
and then carried as the Fraction of those digits, so that only `BLUR` separates it from the truth.
"""

from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Context
from fractions import Fraction
from math import isqrt

Rows = list[list[Fraction]]
Texts = list[list[str]]
Ranking = tuple[tuple[int, ...], tuple[int, ...]]

BLUR = Fraction(1, 10**100)
"""A value this little below a tie is the tie: three thirds of 0.125, not 0.12499…9."""

SAME = Fraction(1, 10**9)
"""Weights this near each other, relative to the larger, share a place."""

_DIGITS = Context(
    prec=120,
    rounding=ROUND_HALF_EVEN,
    Emin=-999_999_999_999_999_999,
    Emax=999_999_999_999_999_999,
    traps=[],
)


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

    def read(name: str) -> Rows:
        return as_carried({name: full[name]}, rounding, decimals)[name]

    full = {"Q": _product(X1, W_Q), "K": _product(X2, W_K), "V": _product(X2, W_V)}
    full["S"] = _product(read("Q"), _turned(read("K")))
    scores = read("S")
    factor = _factor(scale, d_k=len(W_Q[0]))
    if factor is not None:
        full["S_scaled"] = [[score * factor for score in row] for row in scores]
        scores = read("S_scaled")
    full["A"] = [_softmax(row) for row in scores]
    full["O"] = _product(read("A"), read("V"))
    return full


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


def shown(value: Fraction, decimals: int) -> str:
    """Return a number at its decimals, rounded half away from zero, and never as -0.

    Examples
    --------
    >>> [shown(Fraction(text), 2) for text in ("2.675", "-1.005", "-0.004", "3")]
    ['2.68', '-1.01', '0.00', '3.00']
    """
    units = _units(value, decimals)
    digits = str(abs(units)).rjust(decimals + 1, "0")
    whole, part = digits[: len(digits) - decimals], digits[len(digits) - decimals :]
    return ("-" if units < 0 else "") + whole + ("." + part if part else "")


def rounded(value: Fraction, decimals: int) -> Fraction:
    """Return the number that is shown.

    Examples
    --------
    >>> rounded(Fraction("-0.125"), 2)
    Fraction(-13, 100)
    """
    return Fraction(_units(value, decimals), 10**decimals)


def _units(value: Fraction, decimals: int) -> int:
    """Return how many units of the last decimal the rounded value has."""
    size = (abs(value) + BLUR) * 10**decimals + Fraction(1, 2)
    units = size.numerator // size.denominator
    return -units if value < 0 else units


def _product(left: Rows, right: Rows) -> Rows:
    return [
        [
            sum((a * b for a, b in zip(row, column, strict=True)), Fraction(0))
            for column in zip(*right, strict=True)
        ]
        for row in left
    ]


def _turned(matrix: Rows) -> Rows:
    return [list(column) for column in zip(*matrix, strict=True)]


def _factor(scale: str | Fraction, d_k: int) -> Fraction | None:
    """Return what multiplies the scores, or nothing where they are not scaled."""
    if scale == "none" or scale == 1:
        return None
    if scale != "sqrt_dk":
        return Fraction(scale)
    root = isqrt(d_k)
    if root * root == d_k:
        return Fraction(1, root)
    return 1 / Fraction(_DIGITS.sqrt(_DIGITS.create_decimal(d_k)))


def _softmax(scores: Sequence[Fraction]) -> list[Fraction]:
    """Return e^s of each score over their sum; a power too small for 120 digits is nothing."""
    largest = max(scores)
    powers = [_exp(score - largest) for score in scores]
    total = sum(powers)
    return [power / total for power in powers]


def _exp(exponent: Fraction) -> Fraction:
    if exponent < -700:  # e^-700 is 1e-304: far beyond every decimal that is shown
        return Fraction(0)
    numerator = _DIGITS.create_decimal(exponent.numerator)
    return Fraction(
        _DIGITS.exp(_DIGITS.divide(numerator, _DIGITS.create_decimal(exponent.denominator)))
    )


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
