"""Long work on several lines: how wide TeX sets an expression, and where a line is broken.

The widths are those of Computer Modern at 10 points, rounded up.
"""

import math
import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from attncalc.latex_text import in_latex
from attncalc.solving.work import Derivation
from attncalc.writing.latex_math import TexMath, in_tex

LINE = 330.0
"""Points that fit on a line: 345 of LaTeX's own article, less some for safety."""
LINE_OF_OWN = 478.0
"""Points that fit on a line of a document of our own."""
BETWEEN_COLUMNS = 12.0
_WIDTHS = {" ": 2.5, ".": 2.8, ",": 2.8, "(": 3.9, ")": 3.9, "[": 2.8, "]": 2.8, "^": 0.0}
_WIDTHS |= {"·": 7.4, "+": 8.0, "-": 8.0, "=": 8.0, "≈": 8.0, "×": 8.0, "√": 8.5, "∞": 10.0}
_WIDTHS |= dict.fromkeys(r"{}\_", 0.0)
_WIDTHS |= {"†": 5.0, "…": 14.0, "∂": 6.0}
_DIGIT, _LETTER = 5.1, 7.5
_SIGNS = {r"\cdot": "·", r"\times": "×", r"\infty": "∞", r"\sqrt": "√", r"\approx": "≈"}
_SIGNS |= {r"\dagger": "†", r"\cdots": "…", r"\vdots": " ", r"\mathbf": " ", r"\quad": "…"}
_SIGNS |= {r"\partial": "∂"}
_SET = _WIDTHS | {" ": 0.0, "+": 12.3, "=": 13.4, "·": 7.3, "≈": 13.4, "×": 12.3, "&": 0.0}
_WORDS = {r"\tanh": "tanh", r"\sin": "sin", r"\cos": "cos", r"\Phi": "Φ"}
"""Commands that are set as letters."""
_NARROW, _BROAD = 5.7, 10.5
SCRIPT, BOLD = 0.8, 1.16
"""How wide small and bold letters are, relative to others."""
_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[^\\]")
_LACKING = re.compile(r"\\attncalcletter\{.\}\{[0-9A-F]+\}")
_COMMAND = re.compile(r"\\[A-Za-z]+")


def width(tex: str) -> float:
    """Return how wide mathematics is at most, in points; superscripts count in full."""
    plain = _COMMAND.sub(lambda command: (_SIGNS | _WORDS).get(command[0], ""), tex)
    return sum(_WIDTHS.get(c, _DIGIT if c.isdigit() else _LETTER) for c in plain)


def set_width(tex: str) -> float:
    """Return how wide mathematics is set, in points: as `width`, less generous to what is small."""
    return _of_group(iter(_TOKEN.findall(tex)))


def text_width(tex: str) -> float:
    """Return how wide text is at most, in points; a letter that LaTeX lacks is shown as U+732B."""
    plain = _COMMAND.sub("M", _LACKING.sub("MMMM", tex))
    return sum(_of_token(letter, iter(())) for letter in plain if letter not in "{}\\^_")


def _of_group(tokens: Iterator[str]) -> float:
    """Return the width up to the brace that closes a group; its scripts share their room."""
    total, scripts = 0.0, [0.0]
    for token in tokens:
        if token == "}":
            break
        if token in "^_":
            scripts.append(SCRIPT * _of_token(next(tokens, ""), tokens))
            continue
        total += max(scripts) + _of_token(token, tokens)
        scripts = [0.0]
    return total + max(scripts)


def _of_token(token: str, tokens: Iterator[str]) -> float:
    """Return the width of a token with what belongs to it."""

    def argument() -> float:
        return _of_token(next(tokens, ""), tokens)

    if token == "{":
        return _of_group(tokens)
    if token in (r"\frac", r"\tfrac"):
        return max(argument(), argument()) + 4
    if token in (r"\mathbf", r"\textbf"):
        return BOLD * argument()
    if token in _WORDS:
        return _NARROW * len(_WORDS[token]) + 2
    if token.startswith("\\"):
        return _SET.get(_SIGNS.get(token, ""), 0.0 if token[1:].isalpha() else 2 * _DIGIT)
    if token.isalpha():
        return _BROAD if token in "mwMWQ" else _LETTER + 1 if token.isupper() else _NARROW
    return _SET.get(token, _WIDTHS.get(token, _DIGIT))


def by_rows(lines: Sequence[Derivation], at_least: int = 1) -> Iterator[list[Derivation]]:
    """Yield the work in groups of whole rows of a matrix, each of so many entries at least."""
    group: list[Derivation] = []
    for _, row in groupby(lines, key=lambda line: line.entry.place[:-1]):
        group += row
        if len(group) >= at_least:
            yield group
            group = []
    if group:
        yield group


def in_columns(lines: Sequence[Derivation], room: float) -> Iterator[str]:
    """Yield rows of an aligned block, with as many entries side by side as fit.

    As many as a row of the matrix has, or as make whole rows or parts of one that are equal.
    """
    texts = [in_rows(line, room) for line in lines]
    widths = [math.inf if "\n" in text else set_width(text) + BETWEEN_COLUMNS for text in texts]
    of_row = len(next(iter(by_rows(lines))))
    beside = max(
        count
        for count in range(1, len(lines) + 1)
        if count == 1
        or ((of_row % count == 0 or count % of_row == 0) and count * max(widths) <= room)
    )
    for start in range(0, len(texts), beside):
        yield " & ".join(texts[start : start + beside])


def in_rows(line: Derivation, room: float) -> str:
    """Return the work of one entry for an aligned block, on as many rows as it needs."""
    entry = in_tex(line.entry)
    result = in_tex(line.result)
    if line.hidden:
        result = rf"{{{result}}}^{{\dagger}}"
    parts = [*(("=", TexMath().pieces(form), in_tex(form)) for form in line.forms)]
    parts.append(("=" if line.is_exact else r"\approx", [result], result))
    if line.remark:
        remark = rf"\quad\text{{({in_latex(line.remark)})}}"
        parts.append(("", [remark], remark))
    rows = _rows_of(parts, room - width(entry) - width("="))
    return " \\\\\n".join([f"{entry} &{rows[0]}", *(f"&{row}" for row in rows[1:])])


def _rows_of(parts: Sequence[tuple[str, list[str], str]], room: float) -> list[str]:
    """Lay equal things out in rows: side by side, below, or broken, as there is room.

    Parameters
    ----------
    parts
        The sign before each, the pieces it can be broken into, and how it is written whole.
    room
        The width of a row.
    """
    rows = [""]
    for sign, pieces, whole in parts:
        if rows[-1] and width(rows[-1]) + width(whole) + width(sign) > room:
            rows.append("")
        if width(whole) + width(sign) <= room:
            rows[-1] = f"{rows[-1]} {sign} {whole}".strip()
            continue
        rows[-1] = f"{sign} {pieces[0]}"
        for piece in pieces[1:]:
            if width(rows[-1]) + width(piece) > room:
                rows.append(r"\qquad")
            rows[-1] += f" {piece}"
    return rows
