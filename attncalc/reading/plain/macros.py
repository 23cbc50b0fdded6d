r"""LaTeX's abbreviations: `\newcommand{\q}{\mathbf{Q}}` is read where `\q` stands."""

import re

MOST = 100
LONGEST = 60
_DEFINED = re.compile(
    r"\\(?:(?:re)?newcommand\*?|providecommand\*?|DeclareMathOperator\*?) ?\{?\\([A-Za-z]{1,30})\}?"
    r" ?\{((?:[^{}]|\{[^{}]{0,60}\}){1,120})\}"
    r"|\\def ?\\([A-Za-z]{1,30}) ?\{((?:[^{}]|\{[^{}]{0,60}\}){1,120})\}"
)
_USED = re.compile(r"\\([A-Za-z]{1,30})")


def without_macros(text: str) -> str:
    r"""Return a text with the abbreviations that it declares written out, one level deep.

    Those with arguments, and those of more than 60 characters, stay as they are.

    Examples
    --------
    >>> without_macros(r"\newcommand{\q}{Q}" + "\n" + r"\q = 1")
    '\nQ = 1'
    """
    if "\\newcommand" not in text and "\\def" not in text and "\\Declare" not in text:
        return text
    meant: dict[str, str] = {}
    for match in _DEFINED.finditer(text):
        name, body = match[1] or match[3], match[2] or match[4]
        if len(meant) < MOST and len(body) <= LONGEST and "#" not in body:
            meant[name] = body
    text = _DEFINED.sub(lambda match: "\n" * match[0].count("\n"), text)
    return _USED.sub(lambda match: meant.get(match[1], match[0]), text)
