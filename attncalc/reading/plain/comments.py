"""Comments after code and rows: not part of a matrix, but reported."""

import itertools
import re
from typing import NamedTuple

from attncalc.reading.plain.marks import BREAK, COMMA

_CODE = re.compile(
    r"(?<=[ \t;\])])(?:#(?=[\s\[(=]|[^\W\d])|//(?=\s*[^\W\d])|"
    r"%(?!\s*\d+\s*[=\])])(?=\s*[=\[(]|\s*[^\W_])"
    r"|<-+(?=\s+[^\W\d])(?!\s+(?:c|matrix)\())\s*"
)
_ASIDE = re.compile(
    r"\(\*([^*]{0,400}+)\*\)"
    r"|(?<=[\])\d])[ \t]{1,20}\(((?:[^()\n=]|\([^()\n=]{0,40}\)){1,200}=[^()\n]{1,40})\)[ \t]*$"
)
"""A comment of Mathematica, or a calculation in brackets behind a row."""
_TEX = re.compile(r"(?<![\\\d])%")
_ASSIGNED = re.compile(r"\W{0,8}[A-Za-z][\w.]{0,40}")
"""The text before an arrow of R that assigns a result to a name."""
_MARKED = re.compile(r"[ \t]*+(#|%|//)(?!\1)")
_NUMBERS = re.compile(r"\[|[-+]?[.\d]")
_MATRIX = re.compile(r"(?:\w{1,20}\()?\[\[")
_DOCUMENT = re.compile(r"\\(?:begin\{|documentclass|section|frac)")
_OPENS, _CLOSES = re.compile(r"[\[({]|\\begin\b"), re.compile(r"[\])}]|\\end\b")
_HOLDS_RESULT = re.compile(r"[\[(]\s*[-+.\d\[(]|\\begin|=\s*[-+]?[.\d]")

_CALCULATED = re.compile(rf"[-−–+*·×/()\s√^\d.{COMMA}]+=[-−–\s\d.{COMMA}]+")
"""A calculation of one number: 1·(-1) + 0·1 = -1."""
_SIZE = re.compile(
    r"(?:(?:shape|size|dim)\w*)?\s*+(?:[:=]\s*+)?[(\[]?\d{1,4}(?:\s*+[,x×]\s*+\d{1,4}){1,2}"
    r"[)\]]?\W*+",
    re.I,
)


class Comment(NamedTuple):
    """A comment after a line, and the number of the line."""

    line: int
    text: str
    is_out: bool = False
    """Whether its whole line is commented out, in LaTeX: it does not appear in the document."""

    @property
    def holds_result(self) -> bool:
        """Whether it may contain a matrix, or the result of an equation."""
        if self.is_out or self.is_size or _CALCULATED.fullmatch(self.text):
            return False
        return _HOLDS_RESULT.search(self.text) is not None

    @property
    def is_size(self) -> bool:
        """Whether it contains only a size: (3, 2), shape 3 x 2."""
        return _SIZE.fullmatch(self.text) is not None


def without_comments(text: str) -> tuple[str, list[Comment]]:
    """Return a text without the comments after its lines, and these comments.

    A comment that may contain a result stays as a line of its own, behind its matrix; so does a
    line of a program that is entirely a comment.

    >>> without_comments("Q = [1 3]; % row 1 of 3")
    ('Q = [1 3]; ', [Comment(line=1, text='row 1 of 3', is_out=False)])
    """
    if not any(sign in text for sign in ("#", "%", "//", "<-", "(*", "=")):
        return text, []
    is_tex = "\\" in text
    is_document = is_tex and _DOCUMENT.search(text) is not None
    found: list[Comment] = []
    lines: list[str] = []
    given = text.split("\n") if is_document else _uncommented(text.split("\n"))
    depth, results = 0, list[str]()
    for number, line in enumerate(given, start=1):
        code, comments = _apart(line, number, is_tex=is_tex, is_document=is_document)
        found += [each for each in comments if not each.holds_result]
        results += [each.text for each in comments if each.holds_result]
        depth = max(0, depth + len(_OPENS.findall(code)) - len(_CLOSES.findall(code)))
        depth *= bool(code.strip())  # a matrix does not continue in another paragraph
        lines.append(code)
        if not depth:
            lines[-1] += "".join(BREAK + each for each in results)
            results = []
    return "\n".join(lines) + "".join(BREAK + each for each in results), found


def _apart(line: str, number: int, *, is_tex: bool, is_document: bool) -> tuple[str, list[Comment]]:
    """Return a line without its comments, and these."""
    if is_document and (out := line.lstrip()).startswith("%"):
        inner = out.strip("% \t")
        return "%", [Comment(number, inner, is_out=True)] if inner else []
    texts = ["".join(aside).strip() for aside in _ASIDE.findall(line)]
    line = _ASIDE.sub("", line)
    if match := _behind(line, is_tex):
        comment = line[match.end() :].strip()
        texts += [comment] if comment else []
        line = line[: match.start()] + ("%" if is_tex and not comment else "")
    return line, [Comment(number, text) for text in texts]


def _uncommented(lines: list[str]) -> list[str]:
    """Remove the signs of consecutive comment lines with rows of numbers, and of a matrix."""
    found: list[str] = []
    for mark, group in itertools.groupby(lines, key=_mark_of):
        run = list(group)
        inner = [line.lstrip().removeprefix(mark).removeprefix(" ") for line in run]
        starts = _NUMBERS if len(run) > 1 else _MATRIX
        found += inner if mark and any(starts.match(line.lstrip()) for line in inner) else run
    return found


def _mark_of(line: str) -> str:
    match = _MARKED.match(line)
    return match[1] if match else ""


def _behind(line: str, is_tex: bool) -> "re.Match[str] | None":
    """Return where a comment begins that has text before it."""
    for match in (_TEX if is_tex else _CODE).finditer(line):
        before = line[: match.start()].rstrip()
        if not before.strip(" \t#%/"):
            return None
        if match[0].startswith("<") and _ASSIGNED.fullmatch(before):
            continue
        is_share = match[0].startswith("%") and before[-1].isdigit() and not is_tex
        if not is_share or before.rfind("[") > before.rfind("]"):
            return match
    return None
