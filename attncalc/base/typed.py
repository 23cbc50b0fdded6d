"""How a number is read as typed: `-1/2`, `½`, `2.5e-3`, each kept exactly."""

import re
import unicodedata
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from math import isqrt

from attncalc.base.errors import InputError

Number = Decimal | Fraction
"""An exact typed number: a Decimal, or a Fraction if it was typed as one."""

LONGEST = 400
"""Characters a number may have; float64 itself ends at 1.8e308."""

_SIGNS = str.maketrans("−–⁄∕", "--//")  # U+2212, the en dash of word processors, and slashes
_PLAIN = r"(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)"
_DECIMAL = re.compile(rf"[+-]?{_PLAIN}(?:[eE][+-]?[0-9]+)?")
_RATIO = re.compile(rf"([+-]?{_PLAIN}) ?/ ?({_PLAIN})")
_VULGAR = re.compile(r"([+-]?)([0-9]*)([¼-¾⅐-⅞↉])")


class NotANumber(ValueError):  # noqa: N818 - it is what happened, not what went wrong
    """A text that is not a number; its message is the reason, without the place."""


def read_number(text: str, *, decimal_comma: bool = False) -> Number:
    """Read one number exactly as typed.

    Raises NotANumber for anything else, `nan`, `inf`, `1_000` and blanks included.

    text: `3`, `-2.5`, `.5`, `2.5e-3`, `1/2`, `-3/4`, `½`, with ASCII or Unicode minus.

    >>> read_number("-1/2")
    Fraction(-1, 2)
    >>> read_number("2.50")
    Decimal('2.50')
    """
    # a text of a million digits would only cost time: no float can represent it
    if len(text) > LONGEST:
        raise NotANumber(f"{quoted(text)} is too long for a number ({len(text)} characters)")
    clean = text.strip().translate(_SIGNS)
    number = _parse(clean.replace(",", ".") if decimal_comma else clean)
    if number is None:
        raise NotANumber(_why_not(text, clean))
    return in_range(number, text)


def fraction_of(given: object, what: str) -> Fraction:
    """Return a number exactly. Raises InputError, which begins with `what`, if it is none."""
    if isinstance(given, Fraction):
        return given
    try:
        return Fraction(read_number(str(given)))
    except NotANumber as reason:
        raise InputError(f"{what}: {reason}") from None


def is_number(text: str, *, decimal_comma: bool = False) -> bool:
    """Return whether `text` looks like a number, readable or not (`1/0` and `1e400` do)."""
    clean = text.strip().translate(_SIGNS)
    clean = clean.replace(",", ".") if decimal_comma else clean
    return any(pattern.fullmatch(clean) for pattern in (_DECIMAL, _RATIO, _VULGAR))


def exact(value: float | str) -> Decimal:
    """Return the shortest decimal stored as this float: 0.1 for the float nearest to 0.1.

    >>> exact(0.1)
    Decimal('0.1')
    """
    return Decimal(str(value))


def root_of(value: Fraction) -> Fraction | None:
    """Return the root of the square of a rational number; None of others.

    >>> root_of(Fraction(9, 4)), root_of(Fraction(2))
    (Fraction(3, 2), None)
    """
    if value < 0:
        return None
    root = Fraction(isqrt(value.numerator), isqrt(value.denominator))
    return root if root * root == value else None


def as_written(number: Fraction | Decimal) -> str:
    """Return a given number in its usual notation: 0.5, 10000, 1/3.

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


def quoted(text: str) -> str:
    """Return `text` as a message can show it: in quotes, harmless, and cut when long."""
    short = text if len(text) <= 40 else text[:39] + "…"
    return '"' + "".join(c if c.isprintable() else ascii(c)[1:-1] for c in short) + '"'


def _parse(clean: str) -> Number | None:
    if _DECIMAL.fullmatch(clean):
        try:
            return Decimal(clean)
        except InvalidOperation:  # an exponent beyond those that Decimals have
            raise NotANumber(f"{quoted(clean)} has an exponent that is out of range") from None
    if ratio := _RATIO.fullmatch(clean):
        above, below = (Fraction(part) for part in ratio.groups())
        if below == 0:
            raise NotANumber(f"{quoted(clean)} divides by zero")
        return above / below
    if vulgar := _VULGAR.fullmatch(clean):
        sign, whole, character = vulgar.groups()
        # the value of ⅓ in Unicode is 0.333…; no such character has a denominator above 10
        part = Fraction(unicodedata.numeric(character)).limit_denominator(10)
        return (int(whole or "0") + part) * (-1 if sign == "-" else 1)
    return None


def in_range(number: Number, text: str) -> Number:
    """Return a number; refuse those that float64 would turn into infinity or 0."""
    try:
        size = abs(float(number))
    except OverflowError:
        size = float("inf")
    if size == float("inf"):
        raise NotANumber(f"{quoted(text)} is too large (the largest number is about 1.8e308)")
    # a number that vanishes would turn a product into 0 without a word
    if size == 0 and number != 0:
        raise NotANumber(f"{quoted(text)} is too small (the smallest number is about 4.9e-324)")
    return number


def _why_not(text: str, clean: str) -> str:
    if not clean:
        return "blank, but a number is needed"
    if "_" in clean and is_number(clean.replace("_", "")):
        return f"{quoted(text)} is not a number: write it without underscores"
    if "," in clean and is_number(clean.replace(",", "")):
        return f"{quoted(text)} is not a number: write a decimal point, and no thousands separators"
    return f"{quoted(text)} is not a number"
