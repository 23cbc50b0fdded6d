"""Output of programs around results: prompts, and matrices of R, SymPy and Typst."""

import re
from decimal import Decimal

_PROMPTS = re.compile(
    r"(?m)^[ \t]*(?:(?:In|Out) ?\[\d{0,5}\](?::=?|(?://\w{1,20})?=) ?|>>> ?|\.\.\.:? "
    r"|octave:\d{1,5}> ?|julia> ?|sage: ?|irb\(\w{1,20}\):\d{1,5}(?::\d{1,3})?[>*] ?)"
)
_COUNTED_COLUMNS = re.compile(r"(?m)^[ \t]*(?:\[,\d{1,4}\][ \t]*)+$")
_COUNTED_ROW = re.compile(r"(?m)^([ \t]*)\[\d{1,4},\](?=[ \t]+[-.\d])")
_MATRIX = re.compile(
    r"\bmatrix\( ?c\(([-+.,\d\s/]{1,4000})\)"
    r"((?: ?, ?(?:(?:nrow|ncol|byrow) ?= ?)?[\w.]{1,9}){1,3})"
    r"(?: ?, ?dimnames ?= ?list\((?:c\([^()\n]{0,80}\)|[^()\n]){1,160}+\))? ?\)"
)
_VECTOR = re.compile(r"\bc\(([^()=]{1,400})\)")
_BOUND = re.compile(r"\b([rc])bind\(((?:\s*+(?:\w{1,20} ?= ?)?c\([^()=]{1,400}\)\s*+,?){2,100}+)\)")
"""R's rbind(c(1, 2), c(3, 4)), with or without names."""
MOST = 2000
"""The largest number of entries of a sparse matrix."""
_SPARSE = re.compile(
    r"\bMatrix\( ?(\d{1,3}) ?, ?(\d{1,3}) ?, ?\{([^{}\n]{1,20000})\}"
    r"(?:, ?\w{1,20} ?= ?[\w\[\]]{1,40}){0,6}\)"
)
"""A matrix of Maple's lprint: Matrix(2,2,{(1, 1) = 3, (1, 2) = 4}); missing entries are 0."""
_PLACED = re.compile(r"\((\d{1,3}), ?(\d{1,3})\) ?= ?([-+.\deE/]{1,40})")
_KNITTED = re.compile(r"(?m)^##[ \t][^\n]*(?:\n##[ \t][^\n]*)*+")
LEAST = 2
"""The smallest number of lines of a matrix of R Markdown: column numbers, and a row."""
_COUNT = re.compile(r"\d+")
_FACTOR = re.compile(r"[ \t]*1\.0{1,6}e([-+]\d{2,3}) ?\*[ \t]*")
_BELOW_FACTOR = re.compile(r"[ \t]+[-.\d][-.\d \tInfaN]*|[ \t]*Columns? .{1,40}|[ \t]*")
_DECIMAL = re.compile(r"(?<![\d.])\d{1,12}\.\d{1,9}(?![\d.])")
_OPTION = re.compile(r"(?:(nrow|ncol|byrow) ?= ?)?([\w.]+)")

_IN_DICTIONARY = ("': array(", "': tensor(", "': Array(", "': Matrix(", "': [[")
_PRINTED = tuple(
    (signs, re.compile(pattern, re.M), plain)
    for signs, pattern, plain in (
        # Julia: the size and type above a matrix; dots for each entry, as in MATLAB
        (("×",), r"^\d{1,5}(?:×\d{1,5}){1,2} [^\n]{0,60}"
         r"(?:Matrix|Array|Vector)[^\n]{0,60}:[ \t]*$", ""),
        ((".(", "./", ".*", ".^"), r"(?<=[a-z])\.(?=\()|(?<=[A-Za-z_)' ])\.(?=[*/^])", ""),
        # R: counts before the numbers of a vector
        (("[1] ",), r"^[ \t]*\[\d{1,5}\](?=[ \t]+[-.\d])", ""),
        (("%*%",), r"%\*%", "@"),
        # torch and JAX: one number
        (("tensor(", "rray("), r"\b(?:tensor|Array|array)\( ?([-+]?[.\d][-+.\de]{0,30})"
         r"(?:, ?\w{4,13} ?= ?[\w.:<>']{1,40}){0,4} ?\)", r"\1"),
        # elementwise functions, and results printed after their assignment
        (("map(", "apply"),
         r"\b(\w{1,20})\.(?:apply|applyfunc|apply_map|applymap|map)\("
         r"(?:lambda \w{1,9} ?: ?)?(?:\w{1,9}\.)?exp\b[^\n;]{0,60}\)(?=[ \t]*(?:;|$))", r"exp(\1)"),
        ((";",), r"^([ \t]*([A-Za-z]\w{0,20}) ?= ?[^\n;]{1,200});[ \t]*\2[ \t]*$", r"\1"),
        # Python: matrices in a dictionary
        (_IN_DICTIONARY, r"(?<=[\]\d'>][)\]])\}(?=[ \t]*$)", ""),
        (_IN_DICTIONARY, r"(?:^[ \t]*\{)?['\"]([A-Za-z]\w{0,40})['\"] ?: ?"
         r"(?=(?:array|tensor|Array|Matrix)\(|\[\[)", r"\1 = "),
        # sizes in brackets behind names
        (("shape",), r" ?[(\[](?:of )?shape ?[:=]? ?\(\d{1,4}(?:, ?\d{1,4}){0,3},?\)[)\]]", ""),
        # TensorFlow, and Rust's ndarray
        (("<tf.",), r"(?<=\d\))>(?=[ \t]*$)|<tf\.(?:Tensor|Variable)\b[^<>\n]{0,80}numpy=\s?", ""),
        (("], strides=[",),
         r", shape=\[[\d, ]{1,20}\], strides=\[[-\d, ]{1,20}\], layout=[^\n]{0,60}", ""),
        # Julia's frames, Stata's headings, Maxima's matrices
        ((" Row │",),
         r"^(?:\d{1,5}×\d{1,5} DataFrame| {0,6}Row │[^\n]{0,400}|─{2,20}┼─{2,400}"
         r"| {4,12}│(?: {1,20}(?:Float|Int|String|Any|Union)[\w{}, ?]{0,20})++)[ \t]*$"
         r"|^ {0,8}\d{1,6} │(?= )", ""),
        ((". matrix list ",), r"^([A-Za-z]\w{0,31})\[\d{1,4},\d{1,4}\][ \t]*$", r"\1 ="),
        (("(%o", "(%i"), r"^\(%[io]\d{1,4}\) ?", ""),
        (("matrix([",),
         r"\bmatrix\((\[[^\[\]()]{1,400}\](?:, ?\[[^\[\]()]{1,400}\])*+)\)", r"[\1]"),
        # comparisons in tests
        (("llclose(", "_equal(", "_close("),
         r"^([ \t]*)(?:assert )?(?:\w{1,12}\.){0,2}(?:assert_)?(?:allclose|array_(?:almost_)?equal"
         r"|equal|close|all_close)\(((?:\w{1,20}\()?[A-Za-z]\w{0,20})(?:\([\w, ]{0,20}\))?\)?, ?"
         r"(?:\w{1,12}\.(?:array|tensor)\()?(\[[^()\n]{1,2000}\])\)?"
         r"(?:, ?[ar]tol ?= ?[\d.e-]{1,9}){0,2}\)[ \t]*$", r"\1\2 = \3"),
        # times before the lines of a log
        ((":",), r"^\[?\d{4}[-/.]\d\d[-/.]\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d{1,6})?Z?\]?(?: [-|])? ?"
         r"(?=\[?[A-Za-z])", ""),
        # C and JavaScript: one pair of brackets for each index
        (("][",), r"(?<=\w)\[(\d{1,3})\]\[(\d{1,3})\](?=\s?[=:])", r"[\1,\2]"),
        # tables of SQL, and of JavaScript's console
        (("elect ", "ELECT "), r"^[^\n]{0,20}\b(?:select|SELECT)\b[^\n;]{1,60}\b(?:from|FROM) "
         r"([A-Za-z]\w{0,30})\b[^\n;]{0,80};?[ \t]*$", r"\1:"),
        (("(index)",), r"^[│|][ \t]+(?:\d{1,4}|'[^'\n]{1,30}')[ \t]+(?=[│|])"
         r"|^[│|][ \t]+\(index\)[ \t]+[│|][^\n]{0,400}$", ""),
        # J: negative numbers
        (("=:",), r"(?<!\S)_(?=\d[\d.]{0,20}(?:[ \t]{1,9}_?\d[\d.]{0,20}){0,30}[ \t]*$)", "-"),
        # SymPy, whose rows on one line are read as R's matrix below, and Typst
        (("Rational(",), r"\bRational\( ?(-?\d{1,40}) ?, ?(\d{1,40}) ?\)", r"\1/\2"),
        (("Matrix(",), r"\bMatrix\( ?\d{1,4} ?, ?\d{1,4} ?, ?(?=\[ ?\[)", "Matrix("),
        (("Matrix(",), r"\bMatrix\( ?(\d{1,4}) ?, ?(\d{1,4}) ?, ?\[([^\[\]]{1,4000})\]",
         r"matrix(c(\3), \1, \2, TRUE"),
        (("mat(",), r"\bmat\(([^()\[\]]{1,20000})\)", r"[\1]"),
    )
)  # fmt: skip
"""Signs of what programs print, and how each is read."""


def without_session(text: str) -> str:
    """Return a text without the prompts of a session and R's counts of rows and columns.

    >>> without_session("In [3]: Q = matrix(c(1, 2, 3, 4), nrow=2, byrow=TRUE)")
    'Q = [1 2; 3 4]'
    """
    text = _PROMPTS.sub("", text)
    if "\n## " in text:
        text = _KNITTED.sub(_without_marks, text)
    for signs, pattern, plain in _PRINTED:
        if any(sign in text for sign in signs):
            text = pattern.sub(plain, text)
    if "bind(" in text:
        text = _BOUND.sub(_as_bound, text)
    if "[," in text:
        text = _COUNTED_ROW.sub(r"\1", _COUNTED_COLUMNS.sub(_as_heading, text))
    if "e+" in text or "e-" in text:
        text = _with_factors(text)
    if "Matrix(" in text:
        text = _SPARSE.sub(_of_places, text)
    return _MATRIX.sub(_as_rows, text) if "matrix(" in text else text


def _without_marks(match: "re.Match[str]") -> str:
    """Return the output of an R Markdown chunk without its marks; headings stay."""
    lines = match[0].split("\n")
    if len(lines) < LEAST or not any(map(_COUNTED_ROW.match, (line[2:] for line in lines))):
        return match[0]
    return "\n".join(line[2:] for line in lines)


def _as_heading(match: "re.Match[str]") -> str:
    """Return R's column numbers as a heading of MATLAB, which later columns continue."""
    counts = _COUNT.findall(match[0])
    return f"Columns {counts[0]} to {counts[-1]}"


def _with_factors(text: str) -> str:
    """Return a text with the factor that MATLAB prints above a matrix multiplied in."""
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


def _of_places(match: "re.Match[str]") -> str:
    """Return Maple's Matrix(1, 2, {(1, 1) = 3}) as [3 0]."""
    height, width = int(match[1]), int(match[2])
    said = {(int(i), int(j)): value for i, j, value in _PLACED.findall(match[3])}
    if len(said) != match[3].count("=") or len(said) > height * width or height * width > MOST:
        return match[0]
    rows = [
        " ".join(said.get((i, j), "0") for j in range(1, width + 1)) for i in range(1, height + 1)
    ]
    return f"[{'; '.join(rows)}]"


def _as_bound(match: "re.Match[str]") -> str:
    """Return the vectors of R's rbind as rows, and those of cbind as columns."""
    vectors = [[cell.strip() for cell in each.split(",")] for each in _VECTOR.findall(match[2])]
    if len({len(each) for each in vectors}) != 1:
        return match[0]
    rows = vectors if match[1] == "r" else zip(*vectors, strict=True)
    return "[" + "; ".join(map(" ".join, rows)) + "]" + "\n" * match[0].count("\n")


def _as_rows(match: "re.Match[str]") -> str:
    """Return a matrix of R as rows: it fills columns first, unless byrow is set."""
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
