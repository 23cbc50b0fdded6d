"""The page's script: a module of this folder and all that it imports, in one short text."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from itertools import count, product
from string import ascii_letters, digits

from attncalc.writing.live.tokens import WORDS, Token, tokens

PAGE, PRACTICE, MARKED = "page", "practice", "marked"
"""What a reader does with a key, with a worksheet, and with a marked answer."""
IMPORT = re.compile(r'^import \{([^}]*+)\} from "((?:\.\.?/)++)([a-z_/]++)\.js";\n', re.MULTILINE)
GLOBALS = frozenset((
    "Array", "BigInt", "Boolean", "Error", "Float64Array", "Infinity", "JSON", "Map", "Math", "NaN",
    "Number", "Object", "RangeError", "RegExp", "Set", "String", "SyntaxError", "WeakMap",
    "decodeURIComponent", "document", "encodeURIComponent", "parseInt", "structuredClone", "window",
))  # fmt: skip
"""What browsers have, and the script reads: these names stay as they are."""
_LETTERS = frozenset(ascii_letters + digits + "_$")
_ONE_NAME = re.compile(r"(?<![\w$)])\(([\w$]+)\)=>")
_SHORTER = {"true": "!0", "false": "!1", "undefined": "void 0", "const": "let"}
"""Words of the language that say the same in fewer letters."""


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
    """Return what the names in a piece of a module become; what browsers have stays."""
    counts = Counter(_names_in(piece))
    short = {each: outer[known[each]] for each in counts if each in known}
    taken = {*short.values()}
    free = (name for name in _names() if name not in taken)
    own = [each for each, _ in counts.most_common() if each not in short and each not in GLOBALS]
    return short | dict(zip(own, free, strict=False))


def _names_in(piece: Iterable[Token]) -> Iterator[str]:
    return (each.text for each in piece if each.role in ("variable", "both"))


def _pieces(found: Iterable[Token]) -> Iterator[list[Token]]:
    """Yield what is declared outside of functions, one after another."""
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
    """Return a module as it is written."""
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
    """Return a module and those that it imports from, each behind its own."""
    found: dict[str, None] = {}

    def visit(name: str, above: tuple[str, ...] = ()) -> None:
        for each in dict.fromkeys(key.partition(" ")[0] for key in imports(name).values()):
            if each not in found and each not in above:
                visit(each, (*above, name))
        found[name] = None

    visit(name)
    return list(found)


def _read(name: str) -> tuple[Mapping[str, str], list[Token]]:
    """Return what names mean outside of the functions of a module, and its tokens."""
    found = [each for each in tokens(IMPORT.sub("", text_of(name))) if each.text != "export"]
    return dict(imports(name)) | {own: f"{name} {own}" for own in _declared(found)}, found


def _declared(found: Iterable[Token]) -> Iterator[str]:
    """Yield what is declared outside of functions: f of `function f`, a and b of `let a, b`."""
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
    """Yield the texts of tokens under their new names."""
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
