"""Cells of a spreadsheet with their references: A2: 1 | 3 is not a row of a matrix A."""

import re

_CELL = re.compile(r"[ \t]{0,8}\$?([A-Z]{1,2})\$?(\d{1,4})[ \t]{0,4}[:=|\t][ \t]{0,4}(?=\S)")
_BESIDE = re.compile(r"(?<![ \t])[ \t]++[A-Z]{1,2}\d{1,4}: ?(?=[-+.\d])")
"""A reference before a further cell of a line."""
_FORMULA = re.compile(
    r"(?m)^[ \t]{0,8}[A-Z]{1,2}\d{1,4}:[A-Z]{1,2}\d{1,4}[ \t]{0,20}=(?=[A-Z\d])"
    r"[^\n=→]{1,120}?(?:->|→|= ?)"
)
"""A range of cells and its formula before the values: B2:D4 =MMULT(X;WQ) -> 1 2."""
LEAST = 3
"""The smallest number of lines with references that make a sheet."""


def without_references(text: str) -> str:
    r"""Return a text without cell references, if it is clearly a sheet.

    It is a sheet if such a line contains words, like a heading: rows of a matrix contain numbers.
    A sheet contains each cell once; T1, the name of a row, may repeat.

    Examples
    --------
    >>> without_references("A1: Scores\nA2: 1 | 3\nA3: -1 | 1").splitlines()
    ['Scores', '1 | 3', '-1 | 1']
    >>> without_references("A1: 0 1\nA2: 1 0\nA3: 0 1").splitlines()
    ['A1: 0 1', 'A2: 1 0', 'A3: 0 1']
    >>> without_references("T1: Scores\nT1: 1 0\nT2: 0 1").splitlines()
    ['T1: Scores', 'T1: 1 0', 'T2: 0 1']
    """
    text = _FORMULA.sub("", text)
    lines = text.split("\n")
    found = [_CELL.match(line) for line in lines]
    cells = [match for match in found if match]
    if len(cells) < LEAST or not any(map(_is_heading, cells)):
        return text
    if len({match.groups() for match in cells}) < len(cells):  # repeated names of rows
        return text
    if 2 * len(cells) < sum(bool(line.strip()) for line in lines):
        return text
    return "\n".join(
        _BESIDE.sub("  ", line[match.end() :]) if match else line
        for line, match in zip(lines, found, strict=True)
    )


def _is_heading(cell: "re.Match[str]") -> bool:
    """Return whether a cell contains words, and no number."""
    rest = cell.string[cell.end() :].strip()
    rest = rest.strip("\"'")
    return rest[:1].isalpha() and "|" not in rest
