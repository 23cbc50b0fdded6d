"""The fields a problem can have, and what each setting takes."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from attncalc.errors import InputError
from attncalc.numbers import NotANumber, quoted, read_number

SQRT_DK, NONE = "sqrt_dk", "none"
DISPLAY, EACH_STEP = "display", "each-step"
MOST_DECIMALS = 12

TOKENS = ("X", "X1", "X2", "X3")
PROJECTED = ("Q", "K", "V")
WEIGHTS = ("W_Q", "W_K", "W_V", "W_O")
BIASES = ("b_Q", "b_K", "b_V", "b_O")
POSITIONS = ("P", "P1", "P2", "P3")
MARKS = ("keep", "ignore")
MASKS = (*MARKS, "bias")
MATRICES = (*TOKENS, *PROJECTED, *WEIGHTS, *BIASES, *POSITIONS, *MASKS)


@dataclass(frozen=True)
class Setting:
    """A convention: its default, how its value is read, and what it takes, in words.

    `read` returns the value, or raises `NotANumber` or `ValueError` where it cannot be one.
    """

    default: Any
    read: Callable[[Any], Any]
    takes: str


def _one_of(*values: str) -> Callable[[Any], str]:
    def read(given: Any) -> str:
        plain = _plain(given)
        for value in values:
            if plain == _plain(value):
                return value
        raise ValueError

    return read


def _scale(given: Any) -> str | Fraction:
    for value in (SQRT_DK, NONE):
        if _plain(given) == _plain(value):
            return value
    return _number(given)


def _number(given: Any) -> Fraction:
    if isinstance(given, bool):
        raise ValueError
    return given if isinstance(given, Fraction) else Fraction(read_number(str(given)))


def _positive(given: Any) -> Fraction:
    number = _number(given)
    if number <= 0:
        raise ValueError
    return number


def _whole(low: int, high: int) -> Callable[[Any], int]:
    def read(given: Any) -> int:
        number = _number(given)
        if number != int(number) or not low <= number <= high:
            raise ValueError
        return int(number)

    return read


def _yes_or_no(given: Any) -> bool:
    plain = _plain(given)
    if plain not in ("true", "false", "1", "0"):
        raise ValueError
    return plain in ("true", "1")


def _optional(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda given: None if given is None else read(given)


def _plain(given: Any) -> str:
    return str(given).strip().lower().replace("_", "-").replace(" ", "-")


def _said(*values: str) -> str:
    quoted_values = [f'"{value}"' for value in values]
    return f"{', '.join(quoted_values[:-1])} or {quoted_values[-1]}"


def _choice(*values: str) -> Setting:
    return Setting(values[0], _one_of(*values), _said(*values))


SETTINGS: dict[str, Setting] = {
    "scale": Setting(SQRT_DK, _scale, '"sqrt_dk", "none" or a number that multiplies the scores'),
    "rounding": _choice(DISPLAY, EACH_STEP),
    "decimals": Setting(2, _whole(0, MOST_DECIMALS), f"a whole number from 0 to {MOST_DECIMALS}"),
    "heads": Setting(None, _optional(_whole(1, 10_000)), "a whole number from 1"),
    "combine": _choice("concat", "mean"),
    "causal": Setting(False, _yes_or_no, "true or false"),
    "causal_alignment": _choice("top-left", "bottom-right"),
    "softcap": Setting(None, _optional(_positive), "a number above 0"),
    "normalizer": _choice("softmax", "hardmax", "sum"),
    "positions": _choice("none", "sinusoidal", "rope"),
    "rope_base": Setting(Fraction(10_000), _positive, "a number above 0"),
    "rope_offset": Setting(Fraction(0), _number, "a number"),
    "rope_query_offset": Setting(None, _optional(_number), "a number"),
    "rope_pairing": _choice("halves", "interleaved"),
    "layout": _choice("rows", "columns"),
    "weights_layout": _choice("in-out", "torch"),
}
"""Every convention but `labels` and `title`."""

LABELLED = (*TOKENS, "Q", "K")
"""Matrices whose rows are tokens with names of their own."""

ROW_NAMES, COLUMN_NAMES = "row names", "column names"
"""Under what a sheet's own names are kept, until the layout says which of them are tokens."""

RESULTS = "results"
"""Heads what follows the problem in a CSV file of our own: it is not read back."""
TOKEN = "token"
"""Heads the names of tokens in CSV, so that none of them is taken for a number."""
OWN_PROBLEM = "problem.csv"
"""The problem in a folder that attncalc wrote, beside a file for each step."""

KNOWN = (*MATRICES, "labels", "title", *SETTINGS)
"""Every name a problem's file may use."""


def read_setting(name: str, given: Any) -> Any:
    """Return the value of a setting.

    Raises
    ------
    InputError
        When it cannot have that value: its text says what the setting takes.

    Examples
    --------
    >>> read_setting("rounding", "each step"), read_setting("scale", "1/3")
    ('each-step', Fraction(1, 3))
    """
    setting = SETTINGS[name]
    try:
        return setting.read(_alone(given))
    except InputError as error:  # its text starts where the name ends
        raise InputError(f"{name} {error}") from None
    except NotANumber as reason:
        raise InputError(f"{name} takes {setting.takes}: {reason}") from None
    except ValueError:
        raise InputError(f"{name} takes {setting.takes}, not {quoted(str(given))}") from None


def _alone(given: Any) -> Any:
    """Return the number of an array or a tensor of one."""
    if not hasattr(given, "__array__"):
        return given
    from attncalc.arrays import only_value  # here, for the command line alone needs no numpy

    return only_value(given)


def as_written(number: Fraction | Decimal) -> str:
    """Return a number of the person's own as they would write it: 0.5, 10000, 1/3.

    Examples
    --------
    >>> as_written(Fraction(1, 2)), as_written(Fraction(1, 3))
    ('0.5', '1/3')
    """
    fraction = Fraction(number)
    rest, places = fraction.denominator, 0
    for prime in (2, 5):
        count = 0
        while rest % prime == 0:
            rest //= prime
            count += 1
        places = max(places, count)
    if rest != 1:
        return str(fraction)
    digits = str(abs(fraction.numerator) * 10**places // fraction.denominator).zfill(places + 1)
    sign = "-" if fraction < 0 else ""
    return sign + digits[: len(digits) - places] + ("." + digits[-places:] if places else "")
