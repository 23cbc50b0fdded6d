"""One entry of an answer, in any form in which a person writes a number."""

import re
from decimal import Decimal
from fractions import Fraction

from attncalc.numbers.typed import LONGEST, NotANumber, quoted, read_number
from attncalc.reading.answers.answer import IN_FULL, Entry

_MARKS = re.compile(r"[†●○✓✗`'\"]|\*\*|&nbsp;|\\dagger|\\[,;:! ]|\$|~(?!\d)")
"""What stands beside a number, in our own pages too, and is no part of it."""
_WRAPPERS = re.compile(
    r"\\(?:mathbf|underline|boldsymbol|mathrm|textbf|text|mathit|boxed|color\{\w*\})\s*\{([^{}]*)\}"
)
_SPACES = re.compile(
    r"\\(?:hspace|vphantom|phantom)\*?\s*\{[^{}]*\}|\\rule\s*\{[^{}]*\}\s*\{[^{}]*\}"
)
_FRACTION = re.compile(r"\\[tdc]?frac\s*(?:\{([^{}]*)\}|(\d))\s*(?:\{([^{}]*)\}|(\d))")
_POWER = re.compile(
    r"(?:([+-]?[\d.,]+)\s*(?:×|x|\*|·|\\times|\\cdot)\s*|([+-]?))10\s*(?:\^|\*\*)\s*([+-]?\d+)"
)
_MIXED = re.compile(r"^([+-]?)(\d+)[ +]+(\d+) ?/ ?(\d+)$")
_BLANK = re.compile(r"^[_\s.…?]*$|^-{1,3}$|^[–—]$|^\\[cv]dots$")
_INFINITE = re.compile(
    r"-\s*(?:(?:np|numpy|math|torch)\.)?(?:inf(?:inity|ty)?|∞|\\infty)"
    r"|-\s*float\(\s*inf(?:inity)?\s*\)|float\(\s*-\s*inf(?:inity)?\s*\)",
    re.IGNORECASE,
)
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_SUPERSCRIPT = re.compile(r"10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
_SIGNS = str.maketrans({"−": "-", "–": "-", "⁄": "/", "∕": "/", "\u00a0": " ", "\u2009": " "})


def read_entry(text: str, *, decimal_comma: bool = False) -> Entry:
    r"""Read one entry as typed.

    Parameters
    ----------
    text
        `0.30`, `3/10`, `.3`, `2 1/2`, `½`, `\frac{1}{2}`, `2.5×10^-3`, `-∞`; marks beside it are
        taken off. A blank, a line to write on or `?` is no answer.
    decimal_comma
        Read `2,5` as 2.5.

    Examples
    --------
    >>> read_entry("2 1/2").value, read_entry("0.30†").decimals, read_entry("_____").value
    (Fraction(5, 2), 2, None)
    """
    if len(text) > LONGEST:
        return Entry(text[:LONGEST], fault=f"{quoted(text)} is too long for a number")
    typed = text.strip()
    clean = _plain(typed)
    if not clean.strip("_?.… ") or _BLANK.match(clean):
        return Entry(typed)
    if _INFINITE.fullmatch(clean):
        return Entry(typed, Decimal("-Infinity"), IN_FULL)
    try:
        number = _number(clean, decimal_comma=decimal_comma)
    except NotANumber as reason:
        return Entry(typed, fault=str(reason).replace(quoted(clean), quoted(typed)))
    decimals = IN_FULL if isinstance(number, Fraction) else max(0, -int(number.as_tuple().exponent))
    return Entry(typed, number, decimals)


def looks_like_entry(text: str) -> bool:
    """Say whether a cell holds a number, or the space for one: and no name."""
    entry = read_entry(text)
    return not entry.fault


def _plain(text: str) -> str:
    """Return what is left of an entry without marks, and TeX's way to set it."""
    clean = _MARKS.sub("", _SPACES.sub("", text.translate(_SIGNS))).strip("* ")
    for _ in range(4):
        clean = _WRAPPERS.sub(r"\1", clean)
    clean = re.sub(r"\\[tdc]?frac", r"\\frac", clean)
    clean = _FRACTION.sub(lambda m: f" {m[1] or m[2]}/{m[3] or m[4]}", clean)
    clean = re.sub(r"^([+-]) +", r"\1", clean.strip())
    clean = _SUPERSCRIPT.sub(lambda m: f"10^{m[1].translate(_SUPERSCRIPTS)}", clean)
    clean = re.sub(r"\^\s*(?:\{\s*\}|$)", "", clean)
    while re.fullmatch(r"\{.*\}|\(.*\)", clean):
        clean = clean[1:-1].strip()
    return re.sub(r"^[≈=]\s*", "", clean.replace("{", "").replace("}", "")).strip()


def _number(clean: str, *, decimal_comma: bool) -> Decimal | Fraction:
    if mixed := _MIXED.match(clean):
        sign, whole, above, below = mixed.groups()
        part = read_number(f"{above}/{below}")
        return (int(whole) + Fraction(part)) * (-1 if sign == "-" else 1)
    if power := _POWER.fullmatch(clean):
        factor, sign, exponent = power.groups()
        if len(exponent) > 4:
            raise NotANumber(f"{quoted(clean)} is out of range")
        return read_number(f"{factor or sign + '1'}e{exponent}", decimal_comma=decimal_comma)
    return read_number(clean, decimal_comma=decimal_comma)
