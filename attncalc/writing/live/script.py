"""The page's script: what a page needs of the modules of this folder, in one short text."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from itertools import count, product
from string import ascii_letters, digits

from attncalc.writing.live.mirrored import MIRRORED, RARE, VALUES
from attncalc.writing.live.modules import Declaration, Module, Name, module, needed
from attncalc.writing.live.tokens import WORDS, Token

MODULES = ("numbers", "operations", "plan", "expressions", "work")
"""What every page may need."""
PAGE, CONVENTIONS, PRACTICE, MARKED = "page", "conventions", "practice", "marked"
"""What a reader does with a key, with one that holds plans for other conventions, with a
worksheet, and with a marked answer."""
ALL = frozenset((*MIRRORED, *RARE, *map(str, VALUES["kind"])))
"""All operations that the script knows, and all activations."""
GLOBALS = frozenset((
    "Array", "BigInt", "Boolean", "Error", "Infinity", "JSON", "Map", "Math", "Number", "Object",
    "RegExp", "Set", "String", "WeakMap", "decodeURIComponent", "document", "encodeURIComponent",
    "parseInt", "structuredClone", "window",
))  # fmt: skip
"""What browsers have, and the script reads: these names stay as they are."""
_LETTERS = frozenset(ascii_letters + digits + "_$")

SHORTER = {"true": "!0", "false": "!1", "undefined": "void 0"}
"""Words of the language that say the same in fewer letters."""
OURS = (
    "exact", "matrix", "allowed", "areExact", "bottom", "byColumns", "carried", "comesOut",
    "exactly", "explain", "explanation", "exponent", "factors", "forms", "isEachStep",
    "isExact", "isFloat", "isGiven", "isMade", "isMixed", "isOrdered", "isRational",
    "isUnrounded", "operand", "radicand", "readFor", "readGiven", "readStep", "results",
    "solution", "terms",
)  # fmt: skip
"""Properties of our own values alone, which browsers, strings and data do not name."""
PROPERTIES = dict(zip(OURS, ("$", "_", *(f"${each}" for each in ascii_letters)), strict=False))
"""What these are called in a page."""
MOST_NAMED = 4
"""Times that something of the browser's is named before it gets a short name."""

Declared = Sequence[tuple[Module, Declaration]]
Names = Mapping[Name | str, str]
"""What is called how: what a module declares, and by its own name what browsers have."""


@cache
def script(
    what: str = PAGE,
    operations: Collection[str] = ALL,
    more: tuple[str, ...] = (),
    instead: tuple[str, ...] = (),
) -> str:
    """Return what makes a page live, or a worksheet.

    Parameters
    ----------
    what
        The module whose function `start` is called.
    operations
        The operations that the page's plans have, and their activations; the script knows no
        others.
    more
        Modules beside those that this one reads: those that know further operations.
    instead
        Modules that stand in for others: those that write fractions.
    """
    start = Name(what, "start")
    text, short = _written(needed([start], operations, more, instead))
    of_browsers = (short.get(each, each) for each in ("document", "window"))
    return f'"use strict";\n{text}{short[start]}({",".join(of_browsers)});\n'


@cache
def modules(*others: str, instead: tuple[str, ...] = ()) -> str:
    """Return all that modules export, each as an object: $plan.run and the like, for tests."""
    names = tuple(dict.fromkeys((*MODULES, *others, *instead)))
    exported = [Name(name, each) for name in names for each in module(name).exported]
    text, short = _written(needed(exported, ALL, others, instead), of_browsers=frozenset())
    objects = (
        ",".join(f"{each.name}:{short[each]}" for each in exported if each.module == name)
        for name in names
    )
    said = (f"const ${name}={{{each}}};\n" for name, each in zip(names, objects, strict=True))
    return text + "".join(said)


def _written(found: Declared, of_browsers: Collection[str] = GLOBALS) -> tuple[str, Names]:
    """Return declarations as one text, and what the names outside of functions became.

    Of what browsers have, these may get a name of ours; elsewhere, not all of it is there.
    """
    short = _outer_names(found, of_browsers)
    known = ",".join(f"{name}={each}" for each, name in short.items() if isinstance(each, str))
    lines = [_squeezed(_renamed(owner, each, short)) for owner, each in found]
    return _joined([f"let {known};" if known else "", *lines]), short


def _joined(lines: Sequence[str]) -> str:
    """Return declarations each on a line; `let a;` and `let b;` behind it are one, over two."""
    found: list[str] = []
    for before, line in zip(["", *lines], lines, strict=False):
        is_more = line.startswith("let ") and before.startswith("let ")
        if is_more:
            found[-1] = f"{found[-1].removesuffix(';')},"
        found.append(line.removeprefix("let ") if is_more else line)
    return "".join(f"{line}\n" for line in found)


def _key(owner: Module, token: Token) -> Name | str | None:
    """Return what a token names, if it does: something of a module, or what has its own name."""
    if token.role not in ("variable", "both"):
        return None
    return owner.known.get(token.text, token.text)


def _outer_names(found: Declared, of_browsers: Collection[str]) -> Names:
    """Return names for what is declared outside of functions, the shortest for what is most named.

    Names of one letter are for what is within functions: these get those that nothing has there.
    """
    keys = [_key(owner, token) for owner, each in found for token in each.tokens]
    counts = Counter(filter(None, keys))
    stays = {key for key in counts if isinstance(key, str)}
    often = {key for key in stays if key in of_browsers and counts[key] >= MOST_NAMED}
    outer = [key for key in counts if isinstance(key, Name) or key in often]
    free = (name for name in _names() if name not in stays)
    found_names: dict[Name | str, str] = {}
    for key in sorted(outer, key=lambda key: (-counts[key], str(key))):
        found_names[key] = next(free)
    return found_names


def _inner_names(owner: Module, declaration: Declaration, outer: Names) -> Names:
    """Return names for what is declared within a function, or in the brackets of one.

    One stands for the same in all of a declaration, so that all means what it meant.
    """
    counts = Counter(key for token in declaration.tokens
                     if (key := _key(owner, token)) is not None)  # fmt: skip
    own = {key for key in counts if isinstance(key, str) and key not in GLOBALS}
    stays = {key for key in own if len(key) == 1 or key in WORDS}
    taken = {*stays, *(outer[key] for key in counts if key in outer)}
    free = (name for name in _names() if name not in taken)
    named = sorted(own - stays, key=lambda key: (-counts[key], key))
    short: dict[Name | str, str] = {key: key for key in stays}
    return short | dict(zip(named, free, strict=False))


def _names() -> Iterator[str]:
    """Yield names, the shortest first."""
    for more in count():
        for letters in product(ascii_letters, *[ascii_letters + digits] * more):
            if (name := "".join(letters)) not in WORDS and name not in GLOBALS:
                yield name


def _renamed(owner: Module, declaration: Declaration, outer: Names) -> Iterator[tuple[str, int]]:
    """Yield the texts of a declaration under its new names, each with the brackets around it."""
    short = {**outer, **_inner_names(owner, declaration, outer)}
    for token in declaration.tokens:
        if (key := _key(owner, token)) is None:
            others = PROPERTIES if token.role else SHORTER
            yield others.get(token.text, token.text), token.depth
            continue
        name = short.get(key, str(token.text))
        if token.role == "both" and name != token.text:
            yield PROPERTIES.get(token.text, token.text), token.depth
            yield ":", token.depth
        yield name, token.depth


def _squeezed(texts: Iterator[tuple[str, int]]) -> str:
    """Return texts one after another, with a space only where two would become one.

    All constants are declared by `let`, one after another at once: nothing sets them anyway.
    """
    found, last = list[str](), ";"
    first: dict[int, str] = {}  # words of statements, by the brackets around them
    for text, depth in texts:
        starts = last in (";", "{", "}")
        if starts and text == "const" and last == ";" and first.get(depth) == "const":
            found[-1] = last = ","
            continue
        if starts:
            first[depth] = text
        if text == "}" and last == ";":
            found.pop()
        elif text == "=>" and _has_one_name(found):
            found[-3:] = [found[-2]]  # (a) => is a =>
        elif {last[-1], text[0]} <= _LETTERS or (last[-1] == text[0] and text[0] in "+-"):
            found.append(" ")
        found.append("let" if text == "const" else text)
        last = text
    return "".join(found)


def _has_one_name(found: Sequence[str]) -> bool:
    """Say whether the last is a name in brackets, which it needs nowhere but behind a word."""
    before, bracket, name, end = (*["", "", "", ""], *found)[-4:]
    is_name = bracket == "(" and end == ")" and name[-1:] in _LETTERS and name[-1:] != ""
    return is_name and before[-1:] not in _LETTERS
