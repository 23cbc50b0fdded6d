"""The script of a page: a module of this folder and its imports, with shortened names."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from itertools import count, product
from string import ascii_letters, digits
from typing import NamedTuple

_TOKEN = re.compile(
    r"(?:\s|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/)*+"
    r"(?:(?P<name>[A-Za-z_$][\w$]*+)"
    r"|(?P<sign>=>|\+\+|--|\?\.|\.\.\.|[^\s\w$\"'])"
    r"|(?P<number>[0-9][\w.]*+)"
    r'|(?P<string>"(?:[^"\\\n]|\\.)*+")'
    r"|(?P<end>\Z))"
)
"""The next token, after spaces and comments; a sign may begin an expression or a text."""
_REGEX = re.compile(r"(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*+\])++/[a-z]*+")
_TEXT = re.compile(r"(?:[^`\\$]|\\.|\$(?!\{))*+(?:`|\$\{)", re.DOTALL)
"""Text of a template up to its end, or up to an expression in it."""
WORDS = frozenset((
    "break", "catch", "class", "const", "continue", "delete", "do", "else", "export", "extends",
    "finally", "for", "function", "get", "if", "import", "in", "instanceof", "let",
    "new", "null", "of", "return", "static", "super", "this", "throw", "true", "false", "try",
    "typeof", "undefined", "void", "while", "yield",
))  # fmt: skip
_BEFORE_VALUE = frozenset((
    "return", "typeof", "in", "of", "instanceof", "new", "delete", "void", "throw", "else", "yield",
))  # fmt: skip
_BEFORE_BLOCK = frozenset((")", "=>", ";", "{", "}", "else", "try", "finally", "do", "catch", ""))
_OPEN, _CLOSED = frozenset("([{"), frozenset(")]}")
PAGE, PRACTICE, UNMARKED, MARKED, CURVE, PLAYGROUND, SLIDES, NUMBAS = (
    "page", "practice", "unmarked", "marked", "curve", "playground", "slides", "numbas",
)  # fmt: skip
"""The uses of a page: an interactive solution, a worksheet that marks and one that does not, a
marked answer, the curve of a study, the playground, slides, and a question of Numbas."""
IMPORT = re.compile(r'^import \{([^}]*+)\} from "((?:\.\.?/)++)([a-z_/]++)\.js";\n', re.MULTILINE)
GLOBALS = frozenset((
    "Array", "BigInt", "Blob", "Boolean", "CSS", "Error", "Float64Array", "Image", "Infinity",
    "JSON", "Map", "Math", "NaN", "Number", "Numbas", "Object", "RangeError", "RegExp", "Set",
    "String", "SyntaxError", "URL", "WeakMap", "clearTimeout", "decodeURIComponent", "document",
    "encodeURIComponent", "innerHeight", "innerWidth", "location", "matchMedia", "parseInt",
    "requestAnimationFrame", "setTimeout", "structuredClone", "window",
))  # fmt: skip
"""Globals of browsers that the script reads: these names are not changed."""
_LETTERS = frozenset(ascii_letters + digits + "_$")
_ONE_NAME = re.compile(r"(?<![\w$)])\(([\w$]+)\)=>")
_SHORTER = {"true": "!0", "false": "!1", "undefined": "void 0", "const": "let"}
"""Shorter equivalents of words of the language."""


class Token(NamedTuple):
    """A piece of a script, without spaces and comments.

    kind: "name", "number", "string", "sign", "regex", or "text" of a template: from its beginning,
        or from the end of an expression in it, to its end, or to the next expression.
    role: for a name: "variable"; "property"; "both" for a property and a variable, as in `{ name
        }`; "" for keywords and everything else.
    depth: the number of open brackets around it.
    """

    kind: str
    text: str
    role: str
    depth: int


def tokens(text: str) -> list[Token]:
    """Return the tokens of a script in the style of this folder.

    Strings are in double quotes, statements end in semicolons, and there are no labels. Raises
    ValueError if it contains anything else.

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
    found: list[tuple[str, str]] = []
    braces = [0]  # that are open in each expression of a template, within one another
    at, next_token = 0, _TOKEN.match
    while (match := next_token(text, at)) and match.lastgroup != "end":
        kind = match.lastgroup or ""
        said, at = match[kind], match.end()
        if kind == "sign" and said in "`{}/":
            is_text_again = said == "}" and len(braces) > 1 and not braces[-1]
            if said == "`" or is_text_again:
                kind, said, at = "text", *_rest(_TEXT.match(text, at), text, at)
                braces = braces[: -1 if is_text_again else None] + [0] * said.endswith("${")
            elif said == "/" and not _is_value(found):
                kind, said, at = "regex", *_rest(_REGEX.match(text, at), text, at)
            elif said != "/":
                braces[-1] += 1 if said == "{" else -1
        found.append((kind, said))
    if match is None:
        raise ValueError(f"no token of a script: {text[at : at + 30]!r}")
    return found


def _rest(found: re.Match[str] | None, text: str, at: int) -> tuple[str, int]:
    """Return the token that begins with the last letter read, and its end."""
    if found is None:
        raise ValueError(f"no token of a script: {text[at - 1 : at + 30]!r}")
    return text[at - 1 : found.end()], found.end()


def _is_value(found: list[tuple[str, str]]) -> bool:
    """Return whether a value was the last, so that a slash after it divides it."""
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
    if around == "class" and after == "(" and before in ("{", "}", "*", "get", "static"):
        return "property"
    return "" if name in WORDS else "variable"


@cache
def script(what: str = PAGE) -> str:
    """Return the text that calls the function `start` of a module."""
    read = map(_read, _in_order(what))
    found = [(known, piece) for known, all_tokens in read for piece in _pieces(all_tokens)]
    counts = Counter(
        known[each] for known, piece in found for each in _names_in(piece) if each in known
    )
    outer = dict(zip((key for key, _ in counts.most_common()), _names(), strict=False))
    lines = (_squeezed(_renamed(piece, _short(piece, known, outer))) for known, piece in found)
    return f'"use strict";\n{"".join(lines)}{outer[f"{what} start"]}();\n'


def _short(
    piece: Iterable[Token], known: Mapping[str, str], outer: Mapping[str, str]
) -> dict[str, str]:
    """Return the short names in a piece of a module; globals of browsers stay."""
    counts = Counter(_names_in(piece))
    short = {each: outer[known[each]] for each in counts if each in known}
    taken = {*short.values()}
    free = (name for name in _names() if name not in taken)
    own = [each for each, _ in counts.most_common() if each not in short and each not in GLOBALS]
    return short | dict(zip(own, free, strict=False))


def _names_in(piece: Iterable[Token]) -> Iterator[str]:
    return (each.text for each in piece if each.role in ("variable", "both"))


def _pieces(found: Iterable[Token]) -> Iterator[list[Token]]:
    """Yield the declarations outside functions, one after another."""
    piece: list[Token] = []
    for token in found:
        piece.append(token)
        if not token.depth and token.text == (
            "}" if piece[0].text in ("function", "class") else ";"
        ):
            yield piece
            piece = []


@cache
def text_of(name: str) -> str:
    """Return a module as written."""
    return files(__package__).joinpath(*f"{name}.js".split("/")).read_text("utf-8")


@cache
def imports(name: str) -> Mapping[str, str]:
    """Return the names that a module imports, each with its module and its name there."""
    folder, _, _ = name.rpartition("/")
    found = {}
    for names, way, theirs in IMPORT.findall(text_of(name)):
        own = f"{folder}/{theirs}" if way == "./" and folder else theirs
        for each in filter(None, map(str.strip, names.split(","))):
            there, _, here = each.partition(" as ")
            found[here or there] = f"{own} {there}"
    return found


def _in_order(name: str) -> list[str]:
    """Return a module and its imports, each after its own imports."""
    found: dict[str, None] = {}

    def visit(name: str, above: tuple[str, ...] = ()) -> None:
        for each in dict.fromkeys(key.partition(" ")[0] for key in imports(name).values()):
            if each not in found and each not in above:
                visit(each, (*above, name))
        found[name] = None

    visit(name)
    return list(found)


def _read(name: str) -> tuple[Mapping[str, str], list[Token]]:
    """Return the meaning of names outside the functions of a module, and its tokens."""
    found = [each for each in tokens(IMPORT.sub("", text_of(name))) if each.text != "export"]
    return dict(imports(name)) | {own: f"{name} {own}" for own in _declared(found)}, found


def _declared(found: Iterable[Token]) -> Iterator[str]:
    """Yield names declared outside functions: f of `function f`, a and b of `let a, b`."""
    before = statement = ""
    for token in found:
        if token.depth or token.text == "*":
            continue
        if before in ("", ";", "}") or token.text in ("function", "class", "const", "let"):
            statement = token.text
        is_more = before == "," and statement in ("const", "let")
        if token.role == "variable" and ((before in WORDS and before == statement) or is_more):
            yield token.text
        before = token.text


def _names() -> Iterator[str]:
    """Yield names, the shortest first."""
    for more in count():
        for letters in product(ascii_letters + "_$", *[ascii_letters + digits] * more):
            if (name := "".join(letters)) not in WORDS and name not in GLOBALS:
                yield name


def _renamed(piece: Iterable[Token], short: Mapping[str, str]) -> Iterator[str]:
    for token in piece:
        name = short.get(token.text, token.text)
        if token.role == "both":
            yield f"{token.text}:{name}"
        else:
            yield name if token.role == "variable" else _SHORTER.get(token.text, token.text)


def _squeezed(texts: Iterator[str]) -> str:
    """Return texts one after another, with a space only where two would become one."""
    found, last = list[str](), ";"
    for text in texts:
        if text == "}" and last == ";":
            found.pop()
        elif {last[-1], text[0]} <= _LETTERS or (last[-1] == text[0] and text[0] in "+-"):
            found.append(" ")
        found.append(text)
        last = text
    return _ONE_NAME.sub(r"\1=>", "".join(found)) + "\n"
