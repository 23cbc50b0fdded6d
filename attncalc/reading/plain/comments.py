"""Comments behind code and rows: no part of a matrix, and yet not lost without a word."""

import re
from typing import NamedTuple

_CODE = re.compile(
    r"(?<=[ \t;\])])(?:#(?=[\s\[(=]|[^\W\d])|//(?=\s*[^\W\d])|%(?=\s*[=\[(]|\s*[^\W_])"
    r"|<-+(?=\s+[^\W\d])(?!\s+(?:c|matrix)\())\s*"
)
_TEX = re.compile(r"(?<![\\\d])%")
_HOLDS_RESULT = re.compile(r"[\[(]\s*[-+.\d\[(]|\\begin|=\s*[-+]?[.\d]")

_SIZE = re.compile(
    r"(?:(?:shape|size|dim)\w*)?\s*+(?:[:=]\s*+)?[(\[]?\d{1,4}(?:\s*+[,x×]\s*+\d{1,4}){1,2}"
    r"[)\]]?\W*+",
    re.I,
)


class Comment(NamedTuple):
    """What stands behind a line, and the line."""

    line: int
    text: str

    @property
    def holds_result(self) -> bool:
        """Whether a matrix, or the result of an equation, may stand in it."""
        return _HOLDS_RESULT.search(self.text) is not None and not self.is_size

    @property
    def is_size(self) -> bool:
        """Whether it says nothing but how large something is: (3, 2), shape 3 x 2."""
        return _SIZE.fullmatch(self.text) is not None


def without_comments(text: str) -> tuple[str, list[Comment]]:
    """Return a text without what is commented behind its lines, and those comments.

    A line that is a comment as a whole stays: people comment their results too.

    Examples
    --------
    >>> without_comments("Q = [1 3]; % row 1 of 3")
    ('Q = [1 3]; ', [Comment(line=1, text='row 1 of 3')])
    """
    if not any(sign in text for sign in ("#", "%", "//", "<-")):
        return text, []
    is_tex = "\\" in text
    found: list[Comment] = []
    lines = []
    for number, line in enumerate(text.split("\n"), start=1):
        match = _behind(line, is_tex)
        if match:
            comment = line[match.end() :].strip()
            found += [Comment(number, comment)] if comment else []
            line = line[: match.start()] + ("%" if is_tex and not comment else "")
        lines.append(line)
    return "\n".join(lines), found


def _behind(line: str, is_tex: bool) -> "re.Match[str] | None":
    """Return where a comment begins that has something before it."""
    for match in (_TEX if is_tex else _CODE).finditer(line):
        before = line[: match.start()].rstrip()
        if not before.strip(" \t#%/"):
            return None
        is_share = match[0].startswith("%") and before[-1].isdigit() and not is_tex
        if not is_share or before.rfind("[") > before.rfind("]"):
            return match
    return None
