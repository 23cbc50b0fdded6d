r"""LaTeX macros: `\newcommand{\q}{\mathbf{Q}}` replaces each `\q`."""

import itertools
import re
from collections.abc import Mapping

MOST = 100
LONGEST = 60
MOST_ARGUMENTS = 4
DEEPEST = 5
MOST_USES = 500
"""The largest number of macros with arguments that are expanded; further ones stay unchanged."""
_DEFINED = re.compile(
    r"\\(?:(?:re)?newcommand\*?|providecommand\*?|DeclareMathOperator\*?) ?\{?\\([A-Za-z]{1,30})\}?"
    r" ?(?:\[(\d)\] ?)?\{((?:[^{}]|\{[^{}]{0,60}\}){1,120})\}"
    r"|\\def ?\\([A-Za-z]{1,30}) ?\{((?:[^{}]|\{[^{}]{0,60}\}){1,120})\}"
)
_USED = re.compile(r"\\([A-Za-z]{1,30})")
_PARAMETER = re.compile(r"#(\d)")
_DEEP = r"(?:[^{}]|\{[^{}]{0,400}+\}){0,400}+"
_GROUP = rf"[ \n]{{0,9}}+\{{((?:[^{{}}]|\{{{_DEEP}\}}){{0,4000}}+)\}}"
"""A group in braces, perhaps with others inside."""


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
    by_count: list[dict[str, str]] = [{} for _ in range(MOST_ARGUMENTS + 1)]
    for match in itertools.islice(_DEFINED.finditer(text), MOST):
        name, body = match[1] or match[4], match[3] or match[5]
        count = int(match[2] or 0)
        is_plain = sorted(_PARAMETER.findall(body)) == [str(k + 1) for k in range(count)]
        if len(body) <= LONGEST and is_plain and count <= MOST_ARGUMENTS:
            by_count[count][name] = body
    text = _DEFINED.sub(lambda match: "\n" * match[0].count("\n"), text)
    text = _USED.sub(lambda match: by_count[0].get(match[1], match[0]), text)
    for _ in range(DEEPEST):  # one may contain another
        for count, bodies in enumerate(by_count[1:], start=1):
            text = _with_arguments(text, bodies, count) if bodies else text
    return text


def _with_arguments(text: str, bodies: Mapping[str, str], count: int) -> str:
    """Return a text with the macros of so many arguments expanded; lines stay lines.

    Each argument is inserted once: a text does not grow beyond its macros.
    """

    def filled(used: "re.Match[str]") -> str:
        written = _PARAMETER.sub(lambda each: used[int(each[1]) + 1], bodies[used[1]])
        return written + "\n" * (used[0].count("\n") - written.count("\n"))

    names = "|".join(sorted(bodies, key=len, reverse=True))
    used = re.compile(rf"\\({names})(?![A-Za-z]){_GROUP * count}")
    return used.sub(filled, text, count=MOST_USES)
