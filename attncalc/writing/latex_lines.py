"""Long work on several lines: how wide TeX sets an expression, and where a line is broken.

The widths are those of Computer Modern at 10 points, rounded up.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from attncalc.solving.work import Line
from attncalc.writing.latex_math import TexMath, in_tex
from attncalc.writing.latex_text import in_latex

LINE = 330.0
"""Points that fit on a line: 345 of LaTeX's own article, less some for safety."""
_WIDTHS = {" ": 2.5, ".": 2.8, ",": 2.8, "(": 3.9, ")": 3.9, "[": 2.8, "]": 2.8, "^": 0.0}
_WIDTHS |= {"·": 7.4, "+": 8.0, "-": 8.0, "=": 8.0, "≈": 8.0, "×": 8.0, "√": 8.5, "∞": 10.0}
_WIDTHS |= dict.fromkeys(r"{}\_", 0.0)
_WIDTHS |= {"†": 5.0, "…": 14.0}
_DIGIT, _LETTER = 5.1, 7.5
_SIGNS = {r"\cdot": "·", r"\times": "×", r"\infty": "∞", r"\sqrt": "√", r"\approx": "≈"}
_SIGNS |= {r"\dagger": "†", r"\cdots": "…", r"\vdots": " ", r"\mathbf": " ", r"\quad": "…"}
_COMMAND = re.compile(r"\\[A-Za-z]+")


def width(tex: str) -> float:
    """Return how wide mathematics is at most, in points; what stands raised counts in full."""
    plain = _COMMAND.sub(lambda command: _SIGNS.get(command[0], ""), tex)
    return sum(_WIDTHS.get(c, _DIGIT if c.isdigit() else _LETTER) for c in plain)


def by_rows(lines: Sequence[Line], at_least: int = 1) -> Iterator[list[Line]]:
    """Yield the work in groups of whole rows of a matrix, each of so many entries at least."""
    group: list[Line] = []
    for _, row in groupby(lines, key=lambda line: line.entry.place[:-1]):
        group += row
        if len(group) >= at_least:
            yield group
            group = []
    if group:
        yield group


def in_rows(line: Line, room: float) -> str:
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
    """Lay equal things out in rows: beside one another, below, or broken, as there is room.

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
