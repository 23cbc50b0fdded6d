"""One alphabet for texts from mail programs, word processors, Markdown and HTML.

Lines stay lines, so that later steps can report the original line.
"""

import re
import unicodedata
from itertools import groupby
from typing import NamedTuple

from attncalc.reading.html_page import unescaped
from attncalc.reading.plain.marks import BREAK, COMMA, UNMARKED, WIDE
from attncalc.reading.plain.markup_tables import (
    with_bars,
    with_flat_tables,
    with_typst_tables,
    with_wiki_tables,
)
from attncalc.reading.plain.programs import with_printed, without_session
from attncalc.reading.plain.rewriting import rewritten
from attncalc.reading.words import meanings

LONGEST_TEXT = 2_000_000
"""The largest number of characters of a text that are read; a longer one is a program's output."""
MOST_LINES = 50_000
"""The largest number of lines of a text: each is read many times."""

DEEPEST_INDENT = 80
"""The largest number of blanks before a tag that begins a line."""
_CHARACTERS = str.maketrans(
    {
        **meanings("characters", (__package__, "signs.txt")),
        **dict.fromkeys("\u00a0\u2007\u202f\u2009\u2002\u2003\u3000\u200a", " "),
        **dict.fromkeys("\u200b\u200c\u200d\ufeff\u00ad\u2060\u2061\u2062", None),
        **{chr(0xFF01 + i): chr(0x21 + i) for i in range(94)},
        **WIDE,
        "\u2028": "\n",
        "\u2029": "\n",
        "\x0b": "\n",
        "\x0c": "\n",
        "\x85": "\n",
    }
)
_LETTERS = re.compile("[\U0001d400-\U0001d7ff]+")
_VULGAR = re.compile("(?<![\\d.,/])([0-9]{1,6})?([¼½¾⅐-⅞])")
_SUBSCRIPTS = re.compile("[₀-₉₊₋₍₎ₐₑₒₓₖᵢⱼᵥ]+")
_SUPERSCRIPTS = re.compile("[⁰¹²³⁴-⁹⁽⁾⁻]+")
_TAGS = re.compile(
    r"(?P<line>(?:</?(?:p|div|ul|ol|li|h[1-6]|pre|table|tbody|thead|tfoot)(?: [^<>\n]{0,200})?/?>"
    r"[ \t]*)+|<(?:tr|br)(?: [^<>\n]{0,200})?/?>)"
    r"|<(?P<end>/?)(?:(?P<index>sub|sup)|b|i|u|em|strong|span|center|font|code"
    r"|small|big|mark|html|body|math)(?: [^<>\n]{0,200})?/?>",
    re.IGNORECASE,
)
_CELLS_OF = re.compile(rf"(?<=[=:] )\{{([-+\d.,{COMMA};/ ()]{{3,4000}})\}}")
_BRACES = re.compile(r"(?<![_^])\{")
"""Lists of Mathematica."""
_APART = re.compile(r"(?<=\d) \. (?=\d)")
_ROOT = re.compile(r"\b(?:\w{1,9}\.)?[Ss]qrt ?(?:\( ?(\d{1,9}) ?\)|\[ ?(\d{1,9}) ?\])")
"""The root of a whole number, as programs write it: sqrt(2), np.sqrt(2), Sqrt[2]."""
_NUMBER = rf"-?\d{{1,12}}(?:[.,{COMMA}]\d{{1,12}})?"
_SLASHED = re.compile(rf"\b([qkvoz]_?\d{{1,2}} ?= ?)\(({_NUMBER}(?: / {_NUMBER}){{1,9}})\)")
"""A vector with slashes between its entries: q1 = (1 / -2)."""
_STRUCK = (("~~", "~~"), ("<s>", "</s>"), ("<del>", "</del>"), ("<strike>", "</strike>"))


class Struck(NamedTuple):
    """Struck-out text, and the line where it begins."""

    line: int
    text: str


def tidied(text: str) -> tuple[str, list[Struck]]:
    """Return a text in one alphabet, and the text struck out of it.

    >>> tidied("Q₁ = ~~(1, 3)~~ **(1, −3)**")
    ('Q_1 =  (1, -3)', [Struck(line=1, text='(1, 3)')])
    """
    text = UNMARKED.sub("", text).replace("\r\n", "\n").replace("\r", "\n").translate(_CHARACTERS)
    if "\t" in text:
        text = _without_empty_columns(text)
    if "{|" in text or "||" in text:
        text = with_wiki_tables(text)
    text = with_typst_tables(with_bars(with_printed(without_session(text))))
    text, struck = _without_struck(text)
    text = rewritten(_letters(text), "signs")
    if "\\" not in text and "{" in text:
        text = _CELLS_OF.sub(r"[\1]", text)
        if "{{" in text:
            text = _BRACES.sub("[", text).replace("}", "]")
    if "<" in text or "&" in text:
        text = _without_tags(text)
    text = _SLASHED.sub(lambda m: f"{m[1]}({m[2].replace(' / ', '; ')})", _together(text))
    text = rewritten(text, "emphasis")
    return text.replace("`", ""), struck


def _without_empty_columns(text: str) -> str:
    """Return a spreadsheet without the blanks of its blank rows, and empty columns at the end."""
    lines = [line if line.strip() else "" for line in text.split("\n")]
    for is_blank, own in groupby(range(len(lines)), key=lambda i: not lines[i]):
        part = [*own]
        cells = [lines[i].split("\t") for i in part]
        width = max(max((k for k, c in enumerate(row, 1) if c.strip()), default=0) for row in cells)
        if not is_blank and len(part) > 1:
            for i, row in zip(part, cells, strict=True):
                lines[i] = "\t".join(row[:width])
    return "\n".join(lines)


def _together(text: str) -> str:
    """Join numbers that a scanner split, in lines without a sum: 2 . 5."""
    if not _APART.search(text):
        return text
    lines = text.split("\n")
    return "\n".join(line if "+" in line else _APART.sub(".", line) for line in lines)


def _vulgar(match: "re.Match[str]") -> str:
    """Return a fraction in one character, and the whole number before it, as one fraction."""
    above, _, below = unicodedata.normalize("NFKC", match[2]).partition("⁄")
    return f"{int(match[1] or 0) * int(below) + int(above)}/{below}"


def _letters(text: str) -> str:
    """Return mathematical letters as letters, and raised and lowered digits with ^ and _."""
    text = _VULGAR.sub(_vulgar, text)
    text = _LETTERS.sub(lambda m: unicodedata.normalize("NFKC", m[0]), text)
    text = _SUBSCRIPTS.sub(lambda m: "_" + unicodedata.normalize("NFKC", m[0]), text)
    if "qrt" in text:
        text = _ROOT.sub(lambda m: f"√{m[1] or m[2]}", text)
    text = _SUPERSCRIPTS.sub(lambda m: "^" + unicodedata.normalize("NFKC", m[0]), text)
    return text.replace("ᵀ", "^T").replace("^T^", "^T").replace("^^", "^").replace("^−", "^-")


def _without_struck(text: str) -> tuple[str, list[Struck]]:
    """Remove struck-out text, but not the ends of its lines."""
    struck: list[Struck] = []
    for opening, closing in _STRUCK:
        pieces, position, line, counted = [], 0, 1, 0
        lower = text.lower() if opening != "~~" else text
        while (start := lower.find(opening, position)) >= 0:
            stop = lower.find(closing, start + len(opening))
            if stop < 0:
                break
            inner = text[start + len(opening) : stop]
            line, counted = line + text.count("\n", counted, start), start
            if inner.strip():
                struck.append(Struck(line, inner.strip()))
            pieces += [text[position:start], "\n" * inner.count("\n")]
            position = stop + len(closing)
        text = "".join([*pieces, text[position:]])
    return text, struck


def _plain(tag: "re.Match[str]") -> str:
    """Return what a tag means in a text: a line end, unless the file has one, an index."""
    if tag["index"]:
        return "}" if tag["end"] else "_{" if tag["index"].lower() == "sub" else "^{"
    before = tag.string[max(0, tag.start() - DEEPEST_INDENT) : tag.start()].rstrip(" \t")
    has_end = before[-1:] in ("", "\n") or tag.string[tag.end() : tag.end() + 1] == "\n"
    return BREAK if tag["line"] and not has_end else ""


def _without_tags(text: str) -> str:
    text = _TAGS.sub(_plain, with_flat_tables(text))
    return unescaped(text.replace("&nbsp;", " ")).translate(_CHARACTERS)


_TWO_COMMAS = re.compile(r"(?<!\w[\[{])(?<![\d,.])\d+,-?\d+,-?\d")
"""A row of numbers, and no place of an entry, as A[1,2,3]."""
_AFTER_COMMA = re.compile(r"\d, +[-+]?[.\d]|\d,-\d")
_POINT = re.compile(r"(?<![\d.])-?\d+\.\d+(?![\d.])")
_DECIMAL = re.compile(r"(?<![\d.])(?<!(?<!\\),)-?\d+,\d+(?!\d|[,.]\d)")
_ALONE = re.compile(r"[=≈] *-?\d+,\d+ *(?=[;\n]|$)")
_BESIDE = re.compile(r"\d,\d++(?: ?%)?(?:[ \t]*+[|&;][ \t]*+|[ \t]++)[-+]?\d+(?:,\d+)?(?![\d.])")
_AMONG_WHOLES, _AMONG_ANY = (
    re.compile(
        rf"(?m)(?<![\d,.])\d+,\d+ {word} [-+]?\d+(?= ?(?:[;)\]|]|$))"
        rf"|(?:^|[:;=(\[|]) ?[-+]?\d+ {word} [-+]?\d+,\d+(?![\d,.])"
    )
    for word in ("(?:/|e|y|et|und|and|en)", r"[^\W\d_]{1,5}")
)
"""Rows that would have several widths if commas separated numbers: 8,5 / 8, and: 4 e -2,5; and
those with any word, which may be a remark.
"""
_MIXED = re.compile(r"\d,\d{2,}, [-−]?\d+,\d{2}")
"""Numbers with commas in a list whose commas have spaces: (-3,01, 1,67)."""
_BELOW_ONE = re.compile(r"(?<![\d.,\w])(?<!\w[\[({])-?0,\d{2,6}(?!\d|[,.]\d)")
_LISTED = re.compile(r"[\[(] ?-?\d{1,9}(?:,\d{1,9})?(?: ?; ?-?\d{1,9}(?:,\d{1,9})?){1,60} ?[\])]")
"""Numbers between semicolons: [1,1547; 0]."""
LONGEST_WHOLE = 2
"""The most digits of a number beside a comma that may be one of a row: [1,25; 3,10]."""
SEVERAL = 2
"""The smallest number of decimals such as 0,05 for a text without decimal points to use commas."""
_TEX_COMMA = re.compile(r"(?<=\d)\{,\}(?=\d)")


def within_bounds(text: str) -> tuple[str, list[str]]:
    """Return the part of a text that is read, and messages about the rest.

    >>> within_bounds("Q = [1 2]"), within_bounds("1 " * LONGEST_TEXT)[1]
    (('Q = [1 2]', []), ['only the first 2,000,000 characters are read'])
    """
    said = []
    if len(text) > LONGEST_TEXT:
        text = text[:LONGEST_TEXT]
        said.append(f"only the first {LONGEST_TEXT:,} characters are read")
    if text.count("\n") > MOST_LINES:
        text = "\n".join(text.split("\n", MOST_LINES)[:MOST_LINES])
        said.append(f"only the first {MOST_LINES:,} lines are read")
    return text, said


def with_decimal_commas(text: str) -> str:
    """Mark the commas of a document that uses them for all its decimals.

    `2,50 1,00` shows this; in `1, 3` and `[1,-3]`, commas separate numbers. A marked text is
    returned unchanged.
    """
    if COMMA in text:
        return text
    text = _TEX_COMMA.sub(COMMA, text)
    lists = [*_LISTED.finditer(text)]
    if _uses_decimal_commas(text):
        made = _DECIMAL.sub(_with_mark, text)
        is_sure = any("," in each[0] for each in lists)
    else:
        made, is_sure = text, any(map(_are_decimals, lists))
    return _LISTED.sub(_as_row, made) if is_sure else made


def _are_decimals(match: "re.Match[str]") -> bool:
    """Return whether commas are in the numbers of a list between semicolons, which are no rows."""
    parts = [each.partition(",") for each in match[0].strip("[]() ").split(";")]
    is_mixed = len({bool(comma) for _, comma, _ in parts}) > 1
    is_long = any(len(below.strip()) > LONGEST_WHOLE for _, _, below in parts)
    return is_mixed or is_long or _BELOW_ONE.search(match[0]) is not None


def _as_row(match: "re.Match[str]") -> str:
    """Return a list between semicolons with its decimal commas marked; without any, as a row."""
    return match[0].replace(",", COMMA) if "," in match[0] else match[0].replace(";", " ")


def _with_mark(match: "re.Match[str]") -> str:
    """Return a number with its decimal comma marked; an index, as in A[1,2], stays one."""
    before = match.string[max(0, match.start() - 3) : match.start()].rstrip("{([")
    has_bracket = match.string[match.start() - 1 : match.start()] in ("[", "{", "(")
    is_index = (before[-1:] == "_" != before[-2:-1]) or (has_bracket and before[-1:].isalpha())
    return match[0] if is_index else match[0].replace(",", COMMA)


def _uses_decimal_commas(text: str) -> bool:
    decimal = len(_DECIMAL.findall(text))
    if not decimal or _TWO_COMMAS.search(text):
        return False
    points = len(_POINT.findall(text))
    below_one = len(_BELOW_ONE.findall(text))
    if len(_MIXED.findall(text)) + below_one * (below_one >= SEVERAL) > 3 * points:
        return True
    against = points + len(_AFTER_COMMA.findall(text))
    beside = len(_BESIDE.findall(text)) + len(_ALONE.findall(text))
    among_any = len(_AMONG_ANY.findall(text))
    beside += len(_AMONG_WHOLES.findall(text)) + among_any * (among_any > SEVERAL)
    return beside > against or (decimal > 3 * against and _several_places(text) * 2 > decimal)


def _several_places(text: str) -> int:
    return sum(len(match.split(",")[1]) > 1 for match in _DECIMAL.findall(text))
