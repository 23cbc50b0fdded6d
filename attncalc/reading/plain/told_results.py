"""Rows told behind their work, on one line: written as rows are written elsewhere.

"Row 1: e^2 = 7.39, e^0 = 1, sum = 8.39, so [0.88, 0.12]" becomes "Row 1: [0.88, 0.12]".
"""

import re

from attncalc.reading.plain.marks import COMMA

LONGEST = 600
_LABEL = re.compile(
    r"[\s>*-]{0,9}(?P<label>(?:row|token|query|zeile|fila|ligne) ?\d{1,2})[\s*_]{0,4}[:.)][\s*_]",
    re.IGNORECASE,
)
_LEADS = re.compile(
    r"(?:[\s,;.]|^)(?:so|thus|hence|therefore|giving|gives|we get|also|somit|ergibt|donc|d'où"
    r"|entonces|así"
    r"|quindi|perciò|dunque|portanto|logo|dus|所以|因此|故|よって|→|=>|⇒|->)"
    r"(?: (?:the )?(?:softmax|weights?|row|result))?(?: (?:is|are))?"
    r" ?[:=≈]?[\s$]{0,4}$",
    re.IGNORECASE,
)
_CELL = rf"[-+−–]?(?:\d{{1,9}}(?:[.,{COMMA}]\d{{1,9}})?|\.\d{{1,9}})%?"
_ROW = re.compile(rf"[\[(] ?{_CELL}(?:(?:[,;] ?| ){_CELL}){{1,20}} ?[\])][\s$.;]{{0,6}}")
_BARE = re.compile(rf" (?P<row>{_CELL}(?:(?:[,;] |,(?=\d+\.)| ){_CELL}){{1,20}})[\s$.;]{{0,6}}$")
"""Numbers at the end, in no brackets."""
_WORK = re.compile(r"\d ?[\s$}]{0,4}[=≈]|[=≈][\s$]{0,4}[-+]?\.?\d")


def with_results(text: str) -> str:
    """Return a text in which a row that stands behind its work stands alone; lines stay lines.

    Examples
    --------
    >>> with_results("Row 2: e^0 = 1, e^0 = 1, sum 2, so (0.5, 0.5).")
    'Row 2: (0.5, 0.5).'
    """
    return "\n".join(_line(line) for line in text.split("\n"))


def _line(line: str) -> str:
    label = _LABEL.match(line) if len(line) <= LONGEST else None
    if label is None:
        return line
    start = max(line.rfind("["), line.rfind("("))
    if start < label.end() or not _ROW.fullmatch(line[start:].rstrip()):
        bare = _BARE.search(line)
        start = bare.start("row") if bare else -1
    if start < label.end():
        return line
    work = line[label.end() : start]
    if not _WORK.search(work) or not _LEADS.search(work[-40:]) or "[" in work:
        return line
    return f"{label['label']}: {line[start:].strip().replace('$', '')}"
