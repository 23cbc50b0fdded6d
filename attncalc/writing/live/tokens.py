"""The pages' own script taken apart into tokens, and what each name in it is."""

import re
from typing import NamedTuple

_TOKEN = re.compile(
    r"(?:\s|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/)*+"
    r"(?:(?P<name>[A-Za-z_$][\w$]*+)"
    r"|(?P<sign>=>|\+\+|--|\?\.|\.\.\.|[^\s\w$\"'])"
    r"|(?P<number>[0-9][\w.]*+)"
    r'|(?P<string>"(?:[^"\\\n]|\\.)*+")'
    r"|(?P<end>\Z))"
)
"""The next token, behind what is none; what begins as a sign may be an expression, or a text."""
_REGEX = re.compile(r"(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*+\])++/[a-z]*+")
_TEXT = re.compile(r"(?:[^`\\$]|\\.|\$(?!\{))*+(?:`|\$\{)", re.DOTALL)
"""Text of a template up to its end, or up to an expression in it."""
WORDS = frozenset((
    "break", "catch", "class", "const", "continue", "delete", "do", "else", "export", "extends",
    "finally", "for", "function", "get", "if", "import", "in", "instanceof", "let",
    "new", "null", "of", "return", "static", "super", "this", "throw", "true", "false", "try",
    "typeof", "undefined", "void", "while", "yield",
))  # fmt: skip
_BEFORE_VALUE = frozenset(
    (
        "return",
        "typeof",
        "in",
        "of",
        "instanceof",
        "new",
        "delete",
        "void",
        "throw",
        "else",
        "yield",
    )
)
_BEFORE_BLOCK = frozenset((")", "=>", ";", "{", "}", "else", "try", "finally", "do", "catch", ""))
_OPEN, _CLOSED = frozenset("([{"), frozenset(")]}")


class Token(NamedTuple):
    """A piece of a script; spaces and comments are none.

    Parameters
    ----------
    kind
        "name", "number", "string", "sign", "regex", or "text" of a template: from its beginning,
        or from the end of an expression in it, to its end, or to the next expression.
    text
        The text as written.
    role
        Of a name: "variable"; "property" of something; "both" where it names a property and
        the variable of that name, as in `{ name }`; "" for words of the language, and all else.
    depth
        How many brackets are open around it.
    """

    kind: str
    text: str
    role: str
    depth: int


def tokens(text: str) -> list[Token]:
    """Return the tokens of a script that is written as those of this folder are.

    Strings are in double quotes, statements end in semicolons, and there are no labels.

    Raises
    ------
    ValueError
        When something in it is none of these.

    Examples
    --------
    >>> [each.text for each in tokens("a.b / 2") if each.role == "variable"]
    ['a']
    """
    plain = _plain(text)
    found: list[Token] = []
    around, before, is_class = ["block"], "", False
    for (kind, said), (_, after) in zip(plain, [*plain[1:], ("", "")], strict=True):
        if said in _CLOSED or (kind == "text" and said[0] == "}"):
            around.pop()
        role = _role(said, before, after, around[-1]) if kind == "name" else ""
        found.append(Token(kind, said, role, len(around) - 1))
        is_class = is_class or (said == "class" and kind == "name" and not role)
        if said == "{":
            is_block = before in _BEFORE_BLOCK
            around.append("class" if is_class else "block" if is_block else "object")
            is_class = False
        elif said in _OPEN or (kind == "text" and said.endswith("${")):
            around.append(said)
        before = said
    return found


def _plain(text: str) -> list[tuple[str, str]]:
    """Return kinds and texts of tokens."""
    found: list[tuple[str, str]] = []
    braces = [0]  # that are open in each expression of a template, within one another
    at, next_token = 0, _TOKEN.match
    while (match := next_token(text, at)) and match.lastgroup != "end":
        kind = match.lastgroup or ""
        said, at = match[kind], match.end()
        if kind == "sign" and said in "`{}/":
            is_text_again = said == "}" and len(braces) > 1 and not braces[-1]
            if said == "`" or is_text_again:
                kind, said, at = "text", *_rest(_TEXT, text, at)
                braces = braces[: -1 if is_text_again else None] + [0] * said.endswith("${")
            elif said == "/" and not _is_value(found):
                kind, said, at = "regex", *_rest(_REGEX, text, at)
            elif said != "/":
                braces[-1] += 1 if said == "{" else -1
        found.append((kind, said))
    if match is None:
        raise ValueError(f"no token of a script: {text[at : at + 30]!r}")
    return found


def _rest(pattern: re.Pattern[str], text: str, at: int) -> tuple[str, int]:
    """Return what begins with the last letter read, and where it ends."""
    if (found := pattern.match(text, at)) is None:
        raise ValueError(f"no token of a script: {text[at - 1 : at + 30]!r}")
    return text[at - 1 : found.end()], found.end()


def _is_value(found: list[tuple[str, str]]) -> bool:
    """Say whether a value was the last, so that a slash after it divides it."""
    kind, text = found[-1] if found else ("", "")
    if kind == "name":
        return text not in _BEFORE_VALUE
    is_end = text in _CLOSED or (kind == "text" and text.endswith("`"))
    return is_end or kind in ("number", "string", "regex")


def _role(name: str, before: str, after: str, around: str) -> str:
    if before in (".", "?."):
        return "property"
    if around == "object" and before in ("{", ","):
        if after in (":", "("):
            return "property"
        if after in (",", "}", "="):
            return "both"
    if around == "class" and after == "(" and before in ("{", "}", "get", "static"):
        return "property"
    return "" if name in WORDS else "variable"
