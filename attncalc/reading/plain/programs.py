"""What programs put around results: prompts, and matrices as R, SymPy and Typst write them."""

import re
from decimal import Decimal

_PROMPTS = re.compile(
    r"(?m)^[ \t]*(?:(?:In|Out) ?\[\d{0,5}\]: ?|>>> ?|\.\.\.:? |octave:\d{1,5}> ?)"
)
_COUNTED_COLUMNS = re.compile(r"(?m)^[ \t]*(?:\[,\d{1,4}\][ \t]*)+$")
_COUNTED_ROW = re.compile(r"(?m)^([ \t]*)\[\d{1,4},\](?=[ \t]+[-.\d])")
_MATRIX = re.compile(
    r"\bmatrix\( ?c\(([-+.,\d\s/]{1,4000})\)"
    r"((?: ?, ?(?:(?:nrow|ncol|byrow) ?= ?)?[\w.]{1,9}){1,3}) ?\)"
)
_RATIONAL = re.compile(r"\bRational\( ?(-?\d{1,40}) ?, ?(\d{1,40}) ?\)")
_TYPST = re.compile(r"\bmat\(([^()\[\]]{1,20000})\)")
_FACTOR = re.compile(r"[ \t]*1\.0{1,6}e([-+]\d{2,3}) ?\*[ \t]*")
_BELOW_FACTOR = re.compile(r"[ \t]+[-.\d][-.\d \tInfaN]*|[ \t]*Columns? .{1,40}|[ \t]*")
_DECIMAL = re.compile(r"(?<![\d.])\d{1,12}\.\d{1,9}(?![\d.])")
_OPTION = re.compile(r"(?:(nrow|ncol|byrow) ?= ?)?([\w.]+)")


def without_session(text: str) -> str:
    """Return a text without the prompts of a session and R's counts of rows and columns.

    Examples
    --------
    >>> without_session("In [3]: Q = matrix(c(1, 2, 3, 4), nrow=2, byrow=TRUE)")
    'Q = [1 2; 3 4]'
    """
    text = _PROMPTS.sub("", text)
    if "[," in text and ",]" in text:
        text = _COUNTED_ROW.sub(r"\1", _COUNTED_COLUMNS.sub("", text))
    if "e+" in text or "e-" in text:
        text = _with_factors(text)
    if "Rational(" in text:
        text = _RATIONAL.sub(r"\1/\2", text)
    if "mat(" in text:
        text = _TYPST.sub(r"[\1]", text)
    return _MATRIX.sub(_as_rows, text) if "matrix(" in text else text


def _with_factors(text: str) -> str:
    """Return a text in which the factor that MATLAB prints above a matrix is multiplied in."""
    lines = text.split("\n")
    power = 0

    def times(number: "re.Match[str]") -> str:
        return f"{Decimal(number[0]).scaleb(power):f}"

    for i, line in enumerate(lines):
        if factor := _FACTOR.fullmatch(line):
            power, lines[i] = int(factor[1]), ""
        elif power and _BELOW_FACTOR.fullmatch(line):
            lines[i] = _DECIMAL.sub(times, line)
        else:
            power = 0
    return "\n".join(lines)


def _as_rows(match: "re.Match[str]") -> str:
    """Return a matrix of R as rows: it fills columns first, if it is not told otherwise."""
    cells = [cell.strip() for cell in match[1].split(",")]
    options = dict(zip(("nrow", "ncol", "byrow"), ("", "", "FALSE"), strict=True))
    for place, (key, value) in enumerate(_OPTION.findall(match[2])):
        options[key or ("nrow", "ncol", "byrow")[place]] = value
    size, other = options["nrow"], options["ncol"]
    height = int(size) if size.isdigit() else len(cells) // int(other) if other.isdigit() else 0
    if not height or len(cells) % height:
        return match[0]
    width = len(cells) // height
    by_row = options["byrow"].upper().startswith("T")
    rows = [
        [cells[i * width + j] if by_row else cells[j * height + i] for j in range(width)]
        for i in range(height)
    ]
    return "[" + "; ".join(" ".join(row) for row in rows) + "]" + "\n" * match[0].count("\n")
