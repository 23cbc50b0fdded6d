"""The one reader of numbers in texts, in any form that people write."""

import re
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from attncalc.base.typed import LONGEST, NotANumber, in_range, quoted, read_number
from attncalc.reading.answers.answer import IN_FULL, Entry
from attncalc.reading.plain.marks import COMMA, typed
from attncalc.reading.plain.tex import without_tex
from attncalc.reading.plain.valuing import value_of

_MARKS = re.compile(r"[†‡●○◦✓✗✔`'\"]|\*\*|&nbsp;|\$|[~≈≃≅](?=\s?[-+.\d½¼¾])|\(!\)")
"""Marks beside a number, also on attncalc's own pages, that are not part of it."""
_PERCENT = re.compile(r"(?<!\\)%")
_POWER = re.compile(r"(?:([+-]?[\d.,]+) ?(?:×|x|\*|·) ?|([+-]?))10 ?(?:\^|\*\*) ?([+-]?\d+)")
_MIXED = re.compile(r"([+-]?)(\d+)[ +]+(\d+) ?/ ?(\d+)")
_DOUBTFUL = re.compile(r"[+-]?\d+ ?\^ ?\{?(\d+ ?/ ?\d+)\}?")
_BLANK = re.compile(r"[_\s.…?]*|-{1,3}|[–—]|[□▢☐]+")
_INFINITE = re.compile(
    r"-\s?(?:(?:np|numpy|math|torch)?\.)?(?:inf(?:inity|ty)?|∞|oo|infty)"
    r"|-\s?float\(\s?inf(?:inity)?\s?\)|float\(\s?-\s?inf(?:inity)?\s?\)",
    re.IGNORECASE,
)
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_SUPERSCRIPT = re.compile(r"10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
_SIGNS = str.maketrans(
    {"−": "-", "–": "-", "⁄": "/", "∕": "/", "\u00a0": " ", "\u2009": " ", COMMA: "."}
)
_LIKE_ARITHMETIC = re.compile(r"(?:[-+*·×/^√(){}eE.\d ]|sqrt|exp)+")


def read_entry(text: str, *, decimal_comma: bool = False) -> Entry:
    r"""Read one entry as typed.

    Parameters
    ----------
    text
        `0.30`, `3/10`, `.3`, `2 1/2`, `½`, `\frac{1}{2}`, `2.5×10^-3`, `62%`, `1/√2`, `-∞`; marks
        beside it are removed. A blank, a line to fill in or `?` is no answer.
    decimal_comma
        Read `2,5` as 2.5.

    Examples
    --------
    >>> read_entry("2 1/2").value, read_entry("0.30†").decimals, read_entry("_____").value
    (Fraction(5, 2), 2, None)
    """
    return _read(text, decimal_comma)


def looks_like_entry(text: str) -> bool:
    """Return whether a cell contains a number or the blank for one, and no name or work."""
    entry = read_entry(text)
    return not entry.fault and not is_work(text)


def is_number_cell(text: str) -> bool:
    """Return whether a cell contains a number, and no work."""
    return read_entry(text).value is not None and not is_work(text)


def is_work(text: str) -> bool:
    """Return whether a text is a calculation, such as `1·0 + 2·1`; `e/(1 + e)` is not."""
    text = _ROOTS.sub("", text)
    inner = _IRRATIONAL.sub("1", _POWERS.sub("e", text)).strip().lstrip("+-−–~≈ ")
    return len(inner) > 1 and _WORK.search(inner) is not None


_POWERS = re.compile(r"(?:exp ?|[eE]\^ ?)\([^()]{0,20}\)")
_ROOTS = re.compile(r" ?[*·] ?(?:√\d{1,9}|\d{1,9} ?\^ ?\(1/2\))(?![\d*·^])")
"""A factor that is a root: 3/2*2^(1/2) is one number."""
_IRRATIONAL = re.compile(r"\([^()eE√]{0,60}[eE√][^()]{0,60}\)")
_WORK = re.compile(
    r"(?<![eE^({×·*/])[+−](?!\d*/)|(?<![eE^({×·*/\s])\s?-\s?|[·*×](?! ?10 ?(?:\^|\*\*|⁻))"
)


@lru_cache(maxsize=20_000)
def _read(text: str, decimal_comma: bool) -> Entry:
    shown = typed(text).strip()
    if len(text) > LONGEST:
        return Entry(shown[:LONGEST], fault=f"{quoted(shown)} is too long for a number")
    if shown in ("=", "≈", ":", "e", "E"):  # a word or a key, not a power of e
        return Entry(shown, fault=f"{quoted(shown)} is not a number")
    clean = _plain(text.strip())
    if not clean.strip("_?.… ") or _BLANK.fullmatch(clean):
        return Entry(shown)
    if _INFINITE.fullmatch(clean):
        return Entry(shown, Decimal("-Infinity"), IN_FULL)
    try:
        number = in_range(_number(clean, decimal_comma=decimal_comma), clean)
    except NotANumber as reason:
        if (value := _valued(clean)) is not None:
            return Entry(shown, value, IN_FULL)
        return Entry(shown, fault=str(reason).replace(quoted(clean), quoted(shown)))
    decimals = IN_FULL if isinstance(number, Fraction) else max(0, -int(number.as_tuple().exponent))
    return Entry(shown, number, decimals)


def _plain(text: str) -> str:
    """Return an entry without marks and without TeX's commands."""
    if "\\" in text:
        text = without_tex(_PERCENT.sub(r"\\%", text)).text
    clean = _MARKS.sub("", text.translate(_SIGNS)).strip('*_ "')
    clean = re.sub(r"^([+-]) +", r"\1", clean.strip())
    clean = _SUPERSCRIPT.sub(lambda m: f"10^{m[1].translate(_SUPERSCRIPTS)}", clean)
    clean = re.sub(r"\^ ?(?:\{ ?\}|\( ?\)|$)", "", clean)
    while _is_wrapped(clean):
        clean = clean[1:-1].strip()
    return re.sub(r"^[≈=] ?", "", clean).strip()


def _is_wrapped(text: str) -> bool:
    """Return whether one pair of brackets encloses all of a text."""
    if len(text) < 2 or text[0] + text[-1] not in ("{}", "()"):
        return False
    depth = 0
    for place, character in enumerate(text):
        depth += (character in "({") - (character in ")}")
        if depth == 0:
            return place == len(text) - 1
    return False


def _number(clean: str, *, decimal_comma: bool) -> Decimal | Fraction:
    if "^" in clean and (doubtful := _DOUBTFUL.fullmatch(clean)):
        whole = clean.split("^")[0].strip()
        raise NotANumber(
            f"{quoted(clean)} is {whole} {doubtful[1]} or a power: write the one that is meant"
        )
    bare = clean if "^" in clean else clean.replace("{", "").replace("}", "")
    if bare.endswith("%"):
        number = read_number(bare[:-1].strip(), decimal_comma=decimal_comma)
        return number.scaleb(-2) if isinstance(number, Decimal) else number / 100
    if mixed := _MIXED.fullmatch(bare):
        sign, units, above, below = mixed.groups()
        part = read_number(f"{above}/{below}")
        return (int(units) + Fraction(part)) * (-1 if sign == "-" else 1)
    powered = bare.replace("{", "").replace("}", "") if "^" in bare else bare
    if power := _POWER.fullmatch(powered):
        factor, sign, exponent = power.groups()
        if len(exponent) > 4:
            raise NotANumber(f"{quoted(clean)} is out of range")
        return read_number(f"{factor or sign + '1'}e{exponent}", decimal_comma=decimal_comma)
    return read_number(bare, decimal_comma=decimal_comma)


def _valued(clean: str) -> Decimal | Fraction | None:
    """Return the value of an expression with an operator, a root or a power."""
    if not _LIKE_ARITHMETIC.fullmatch(clean) or "**" in clean or _DOUBTFUL.fullmatch(clean):
        return None
    value = value_of(clean)
    try:
        return None if value is None else in_range(value, clean)
    except NotANumber:
        return None
