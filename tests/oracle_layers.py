"""Layers by hand: an oracle of plain Python that shares no code with attncalc.

Numbers are Fractions, as in `oracle`; what is irrational is taken to 120 digits.
"""

from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from typing import Any

from oracle import BLUR, Rows, as_carried, exact_values, rounded

DIGITS = 120
Fields = dict[str, Any]


def layer_by_hand(  # noqa: C901 - one step after the other, as by hand
    fields: Fields, rounding: str, decimals: int
) -> dict[str, Rows]:
    """Return every step of an encoder layer of one head, before it is rounded.

    Parameters
    ----------
    fields
        Those of a problem: X, W_Q, W_K, W_V, W_O, W_1 and so on, matrices as rows of Fractions.
    """
    full: dict[str, Rows] = {}

    def read(name: str) -> Rows:
        if name not in full:
            return fields[name]  # type: ignore[no-any-return]
        return as_carried({name: full[name]}, rounding, decimals)[name]

    norm, is_rms = fields.get("norm", "post"), fields.get("normalization") == "rms"
    parallel = fields.get("parallel", "none")

    def normalise(tokens: str, number: str, name: str) -> str:
        spread = f"{'ms' if is_rms else 'var'}_{number}"
        if not is_rms:
            full[f"mu_{number}"] = [[sum(row) / len(row)] for row in read(tokens)]
            means = [row[0] for row in read(f"mu_{number}")]
        else:
            means = [Fraction(0)] * len(read(tokens))
        count = len(read(tokens)[0]) - (0 if is_rms else fields.get("ddof", 0))
        squares = [
            [sum((x - mean) ** 2 for x in row) / count]
            for row, mean in zip(read(tokens), means, strict=True)
        ]
        full[spread] = squares
        eps = Fraction(fields.get("eps", Fraction(1, 100_000)))
        for row, mean, (variance,) in zip(read(tokens), means, read(spread), strict=True):
            if fields.get("eps_place") == "outside":
                below = root(variance) + eps
            else:
                below = root(variance + eps)
            gains = fields.get(f"gamma_{number}", [[Fraction(1)] * len(row)])[0]
            biases = fields.get(f"beta_{number}", [[Fraction(0)] * len(row)])[0]
            full.setdefault(name, []).append(
                [
                    rounded(g * (x - mean) / below + b, DIGITS)
                    for x, g, b in zip(row, gains, biases, strict=True)
                ]
            )
        return name

    tokens = "X"
    if norm == "pre":
        tokens = normalise("X", "1", "N_1")
    of_attention = exact_values(
        read(tokens), read(tokens), fields["W_Q"], fields["W_K"], fields["W_V"],
        "none", rounding, decimals,
    )  # fmt: skip
    full |= {
        ("H" if name == "O" else name): [[rounded(x, DIGITS) for x in row] for row in rows]
        for name, rows in of_attention.items()
    }
    full["O"] = product(read("H"), fields["W_O"])
    if parallel == "none":
        full["R_1"] = added(read("X"), read("O"))
        tokens = "R_1"
        if norm == "post":
            tokens = normalise("R_1", "1", "N_1")
        before = tokens
        if norm == "pre":
            tokens = normalise("R_1", "2", "N_2")
    elif parallel == "own":
        tokens = normalise("X", "2", "N_2")
    full["F_1"] = shifted(product(read(tokens), fields["W_1"]), fields["b_1"][0])
    full["G"] = [
        [rounded(ACTIVATIONS[fields["activation"]](x), DIGITS) for x in row] for row in read("F_1")
    ]
    full["F_2"] = product(read("G"), fields["W_2"])
    if parallel != "none":
        last = "R_1" if norm == "post" else "Y"
        full[last] = added(added(read("X"), read("O")), read("F_2"))
        if norm == "post":
            normalise("R_1", "1", "Y")
        return full
    last = "R_2" if norm == "post" else "Y"
    full[last] = added(read(before), read("F_2"))
    if norm == "post":
        normalise("R_2", "2", "Y")
    return full


def product(left: Rows, right: Rows) -> Rows:
    columns = list(zip(*right, strict=True))
    return [
        [sum(a * b for a, b in zip(row, column, strict=True)) for column in columns] for row in left
    ]


def added(left: Rows, right: Rows) -> Rows:
    return [
        [a + b for a, b in zip(one, other, strict=True)]
        for one, other in zip(left, right, strict=True)
    ]


def shifted(rows: Rows, bias: Sequence[Fraction]) -> Rows:
    return [[x + b for x, b in zip(row, bias, strict=True)] for row in rows]


def root(number: Fraction) -> Fraction:
    """Return the root, exactly where it is rational."""
    with localcontext() as context:
        context.prec = DIGITS
        value = Fraction((Decimal(number.numerator) / Decimal(number.denominator)).sqrt())
    near = value.limit_denominator(10**6)
    return near if near * near == number else rounded(value, DIGITS)


def power_of_e(x: Fraction) -> Fraction:
    with localcontext() as context:
        context.prec = DIGITS
        return rounded(Fraction((Decimal(x.numerator) / Decimal(x.denominator)).exp()), DIGITS)


@cache
def pi() -> Fraction:
    """Return π by Euler's sum 2 (1 + 1/3 + 1·2/(3·5) + …)."""
    term = total = Fraction(2)
    n = 1
    while term > BLUR / 10**6:
        term = term * n / (2 * n + 1)
        total += term
        n += 1
    return total


def erf(x: Fraction) -> Fraction:
    """Return the error function by its power series 2/√π (x - x³/3 + x⁵/10 - …)."""
    with localcontext() as context:
        context.prec = 2 * DIGITS  # its terms grow before they fall
        number = Decimal(x.numerator) / Decimal(x.denominator)
        power = total = number
        n = 0
        while abs(power) > Decimal(10) ** -DIGITS:
            n += 1
            power *= -number * number / n
            total += power / (2 * n + 1)
        return rounded(2 * Fraction(total) / root(pi()), DIGITS)


def relu(x: Fraction) -> Fraction:
    return max(x, Fraction(0))


def gelu(x: Fraction) -> Fraction:
    return x * (1 + erf(x / root(Fraction(2)))) / 2


def silu(x: Fraction) -> Fraction:
    return x / (1 + power_of_e(-x))


def gelu_tanh(x: Fraction) -> Fraction:
    doubled = power_of_e(2 * root(2 / pi()) * (x + Fraction("0.044715") * x**3))
    return x * (1 + (doubled - 1) / (doubled + 1)) / 2


def gelu_quick(x: Fraction) -> Fraction:
    return x / (1 + power_of_e(-Fraction("1.702") * x))


ACTIVATIONS: dict[str, Callable[[Fraction], Fraction]] = {
    "relu": relu,
    "relu2": lambda x: relu(x) ** 2,
    "gelu": gelu,
    "gelu-tanh": gelu_tanh,
    "gelu-quick": gelu_quick,
    "silu": silu,
}
