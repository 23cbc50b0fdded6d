"""What programs put around results: prompts, and matrices as R, SymPy and Typst write them."""

import re

_PROMPTS = re.compile(r"(?m)^[ \t]*(?:(?:In|Out) ?\[\d{0,5}\]: ?|>>> ?|\.\.\.:? )")
_COUNTED_COLUMNS = re.compile(r"(?m)^[ \t]*(?:\[,\d{1,4}\][ \t]*)+$")
_COUNTED_ROW = re.compile(r"(?m)^([ \t]*)\[\d{1,4},\](?=[ \t]+[-.\d])")
_MATRIX = re.compile(
    r"\bmatrix\( ?c\(([-+.,\d\s/]{1,4000})\)"
    r"((?: ?, ?(?:(?:nrow|ncol|byrow) ?= ?)?[\w.]{1,9}){1,3}) ?\)"
)
_RATIONAL = re.compile(r"\bRational\( ?(-?\d{1,40}) ?, ?(\d{1,40}) ?\)")
_TYPST = re.compile(r"\bmat\(([^()\[\]]{1,20000})\)")
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
    if "Rational(" in text:
        text = _RATIONAL.sub(r"\1/\2", text)
    if "mat(" in text:
        text = _TYPST.sub(r"[\1]", text)
    return _MATRIX.sub(_as_rows, text) if "matrix(" in text else text


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
