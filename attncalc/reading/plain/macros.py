r"""LaTeX macros: `\newcommand{\q}{\mathbf{Q}}` replaces each `\q`."""

import itertools
import re
from collections.abc import Mapping
from typing import NamedTuple

MOST = 100
LONGEST = 60
MOST_ARGUMENTS = 4
DEEPEST = 5
LONGEST_ARGUMENT = 4000
MOST_BRACES = 200
MOST_USES = 500
"""The largest number of macros with arguments that are expanded; further ones stay unchanged."""
_DEFINED = re.compile(
    r"\\(?:(?:re)?newcommand\*?|providecommand\*?|DeclareMathOperator\*?) ?\{?\\([A-Za-z]{1,30})\}?"
    r" ?(?:\[(\d)\] ?)?\{((?:[^{}]|\{[^{}]{0,60}\}){1,120})\}"
    r"|\\def ?\\([A-Za-z]{1,30}) ?\{((?:[^{}]|\{[^{}]{0,60}\}){1,120})\}"
)
_USED = re.compile(r"\\([A-Za-z]{1,30})")
_BRACE = re.compile(r"(?<!\\)[{}]")
_PARAMETER = re.compile(r"#(\d)")


class _Macro(NamedTuple):
    """The replacement of a macro, and its number of arguments."""

    body: str
    arguments: int = 0


def without_macros(text: str) -> str:
    r"""Return a text with the macros that it declares expanded; one may contain another.

    Macros of more than 60 characters, and those with unusual arguments, stay unchanged.

    Examples
    --------
    >>> without_macros(r"\newcommand{\q}{Q}" + "\n" + r"\q = 1")
    '\nQ = 1'
    >>> without_macros(r"\newcommand{\m}[1]{\begin{pmatrix}#1\end{pmatrix}}\m{1&\num{2}}")
    '\\begin{pmatrix}1&\\num{2}\\end{pmatrix}'
    """
    if "\\newcommand" not in text and "\\def" not in text and "\\Declare" not in text:
        return text
    meant: dict[str, _Macro] = {}
    for match in _DEFINED.finditer(text):
        name, body = match[1] or match[4], match[3] or match[5]
        count = int(match[2] or 0)
        numbers = {int(each) for each in _PARAMETER.findall(body)}
        is_plain = numbers == {*range(1, count + 1)} and count <= MOST_ARGUMENTS
        is_once = len(_PARAMETER.findall(body)) == count
        if len(meant) < MOST and len(body) <= LONGEST and is_plain and is_once:
            meant[name] = _Macro(body, count)
    text = _DEFINED.sub(lambda match: "\n" * match[0].count("\n"), text)
    bare = {name: each.body for name, each in meant.items() if not each.arguments}
    text = _USED.sub(lambda match: bare.get(match[1], match[0]), text)
    others = {name: each for name, each in meant.items() if each.arguments}
    for _ in range(DEEPEST if others else 0):  # one may contain another
        text = _with_arguments(text, others)
    return text


def _with_arguments(text: str, meant: Mapping[str, _Macro]) -> str:
    """Return a text with the macros that take arguments expanded; lines stay lines.

    Each argument is inserted once: a text does not grow beyond its macros.
    """
    pieces, position, uses = [], 0, 0
    for match in _USED.finditer(text) if meant else ():
        macro = meant.get(match[1])
        if macro is None or match.start() < position or uses >= MOST_USES:
            continue
        uses += 1
        found = _arguments(text, match.end(), macro.arguments)
        if found is None:
            continue
        given, stop = found
        written = _filled(macro.body, given)
        lines = text.count("\n", match.start(), stop) - written.count("\n")
        pieces += [text[position : match.start()], written, "\n" * max(0, lines)]
        position = stop
    return "".join([*pieces, text[position:]])


def _filled(body: str, given: list[str]) -> str:
    return _PARAMETER.sub(lambda each: given[int(each[1]) - 1], body)


def _arguments(text: str, start: int, count: int) -> tuple[list[str], int] | None:
    """Return the groups in braces that begin here, and the end of the last; None for others."""
    found: list[str] = []
    while len(found) < count:
        while text[start : start + 1] in (" ", "\n"):
            start += 1
        stop = _closing(text, start) if text.startswith("{", start) else -1
        if stop < 0:
            return None
        found.append(text[start + 1 : stop])
        start = stop + 1
    return found, start


def _closing(text: str, start: int) -> int:
    """Return the position of the closing brace; -1 if it is too far."""
    depth = 0
    braces = _BRACE.finditer(text, start, start + LONGEST_ARGUMENT)
    for brace in itertools.islice(braces, MOST_BRACES):
        depth += 1 if brace[0] == "{" else -1
        if not depth:
            return brace.start()
    return -1
