"""Every regular expression of the package, how it is used, and texts that are hard for it."""

import ast
import importlib
import itertools
import pkgutil
import re
import re._constants as codes
import re._parser as parser
import time
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import attncalc

METHODS = ("match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer")
SCANNING = ("search", "sub", "subn", "split", "findall", "finditer")
COMMON = " 1a.-,(\n\t_[{|=:*/'é"
"""Characters that many classes of a pattern have in common."""
END = "\x01"
"""What ends a text such that no pattern takes it to its end."""
FEW = (6, 12, 18, 20, 22, 24)
MANY = (1000, 4000, 16000)
NOTICED, TOO_LONG, SURE = 0.0002, 0.02, 8.0
"""Seconds from which a text is looked at again, from which it is judged, and by what growth."""
FAR_TOO_LONG = 5 * TOO_LONG
"""Seconds of the processor that no other work explains: such a text is not tried again."""

TRIES = (1, 3, 9)
"""How often a text is tried before it is called slow: the machine may have other work."""


class Use(NamedTuple):
    """A pattern as one module uses it."""

    place: str
    pattern: "re.Pattern[str]"
    methods: tuple[str, ...]


@cache
def uses() -> list[Use]:
    """Return each pattern of the package: those that modules hold, and those within calls."""
    found: dict[re.Pattern[str], Use] = {}
    for name in _modules():
        for use in (*_held(name), *_called(name)):
            before = found.get(use.pattern, use)
            methods = tuple(sorted({*before.methods, *use.methods}))
            found[use.pattern] = before._replace(methods=methods)
    return list(found.values())


def _modules() -> list[str]:
    walked = pkgutil.walk_packages(attncalc.__path__, "attncalc.")
    return [each.name for each in walked if not each.name.endswith("__main__")]


def _held(name: str) -> Iterator[Use]:
    """Yield the patterns that a module's names hold, in tuples too, and what it does with them."""
    module = importlib.import_module(name)
    held = [
        (own, pattern)
        for own, value in vars(module).items()
        if not own.startswith("__")
        for pattern in _patterns_in(value)
    ]
    if not held:
        return
    on = _methods_on(name)
    others = set().union(*(each for own, each in on.items() if not hasattr(module, own)))
    for own, pattern in held:
        methods = on.get(own, set()) or others & set(METHODS) or {"search"}
        yield Use(f"{name}.{own}", pattern, tuple(sorted(methods)))


def _patterns_in(value: object) -> Iterator["re.Pattern[str]"]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _patterns_in(each)
    elif isinstance(value, dict):
        yield from _patterns_in([*value, *value.values()])


@cache
def _text(name: str) -> str:
    return Path(str(importlib.import_module(name).__file__)).read_text(encoding="utf-8")


OF_MESSAGES = ("attncalc.languages.catalogue",)
"""Modules that make patterns of attncalc's own messages, for sentences of a bounded length."""


@cache
def _tree(name: str) -> ast.Module:
    return ast.parse(_text(name))


@cache
def _methods_on(name: str) -> dict[str, set[str]]:
    """Return which methods a module calls on which of its names."""
    found: dict[str, set[str]] = {}
    for node in ast.walk(_tree(name)):
        if isinstance(node, ast.Attribute) and node.attr in METHODS:
            target = node.value
            held = target.id if isinstance(target, ast.Name) else ""  # an attribute, say
            found.setdefault(held, set()).add(node.attr)
    return found


def _called(name: str) -> Iterator[Use]:
    """Yield the patterns within calls of `re`: a text, or the name of a pattern."""
    if "import re\n" not in _text(name):
        return
    for node in ast.walk(_tree(name)):
        if not (isinstance(node, ast.Call) and _is_of_re(node.func)) or not node.args:
            continue
        method = node.func.attr  # type: ignore[attr-defined]
        first, place = node.args[0], f"{name}:{node.lineno}"
        if isinstance(first, ast.Constant):
            yield Use(place, re.compile(first.value, _flags(node)), _methods_of(method, node))
        elif not _is_of_module(name, node) and name not in OF_MESSAGES:
            raise AssertionError(f"{place}: a pattern that is put together when it is used")


def _is_of_re(function: ast.expr) -> bool:
    known = (*METHODS, "compile")
    return (
        isinstance(function, ast.Attribute)
        and isinstance(function.value, ast.Name)
        and function.value.id == "re"
        and function.attr in known
    )


def _methods_of(method: str, node: ast.Call) -> tuple[str, ...]:
    return () if method == "compile" else (method,)


def _flags(node: ast.Call) -> int:
    named = [each.value for each in node.keywords if each.arg == "flags"]
    texts = [ast.unparse(each) for each in (*node.args[1:], *named)]
    names = {name for text in texts for name in re.findall(r"\bre\.([A-Z]+)\b", text)}
    return sum(int(getattr(re, name)) for name in names)


def _is_of_module(name: str, node: ast.Call) -> bool:
    """Return whether a call is made while its module is loaded: what it makes is held by a name."""
    return any(
        node in ast.walk(statement)
        for statement in _tree(name).body
        if not isinstance(statement, ast.FunctionDef | ast.ClassDef)
    )


class Text(NamedTuple):
    """The text before, the repeated piece, and the text after it."""

    before: str
    piece: str
    behind: str

    def of(self, count: int) -> str:
        """Return the text with this many characters that are repeated."""
        return self.before + self.piece * max(1, count // len(self.piece)) + self.behind


def hard_texts(pattern: "re.Pattern[str]") -> list[Text]:
    """Return texts on which a pattern may take long: its own pieces over and over, and no end."""
    tree = parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)
    befores, pieces = {""}, set(COMMON) | set(_letters(tree))
    for before, piece in _repeated(tree, ""):
        befores.add(before)
        pieces |= {each for each in piece if each}
    whole = _sample(tree)
    pieces |= {whole, whole[:-1], whole[: len(whole) // 2], whole + " "} - {""}
    behinds = ("", END)
    return [Text(b, p, e) for b in sorted(befores) for p in sorted(pieces) for e in behinds]


def _letters(tree: Any) -> Iterator[str]:
    """Yield the characters that a pattern names."""
    for code, value in tree:
        if code in (codes.LITERAL, codes.NOT_LITERAL):
            yield chr(value)
        elif code is codes.RANGE:
            yield chr(value[0])
        elif code is codes.IN:
            yield from list(_letters(value))[:6]
        else:
            for inner in _inner(value):
                yield from _letters(inner)


def _inner(value: Any) -> Iterator[Any]:
    if isinstance(value, parser.SubPattern):
        yield value
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _inner(each)


def _repeated(tree: Any, before: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the part before each quantifier, and the part that it repeats."""
    for place, (code, value) in enumerate(tree):
        here = before + _sample(list(tree)[:place])
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            yield here, [_sample(value[2]), *_branches(value[2])]
        for inner in _inner(value):
            yield from _repeated(inner, here)


def _branches(tree: Any) -> Iterator[str]:
    for code, value in tree:
        if code is codes.BRANCH:
            yield from (_sample(each) for each in value[1])
        else:
            for inner in _inner(value):
                yield from _branches(inner)


def _sample(tree: Iterable[Any]) -> str:
    """Return a short text that a pattern takes."""
    return "".join(_of(code, value) for code, value in tree)


def _of(code: Any, value: Any) -> str:
    if code is codes.LITERAL:
        return chr(value)
    if code is codes.NOT_LITERAL:
        return "a" if value != ord("a") else "b"
    if code is codes.ANY:
        return "a"
    if code is codes.IN:
        return _of_class(value)
    if code is codes.BRANCH:
        return _sample(value[1][0])
    if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        return _sample(value[2]) * min(max(value[0], 1), 3)
    if code in (codes.SUBPATTERN, codes.ATOMIC_GROUP):
        return _sample(value[-1] if code is codes.SUBPATTERN else value)
    return ""


def _of_class(members: list[Any]) -> str:
    if members[0][0] is codes.NEGATE:
        taken = re.compile("[" + "".join(map(_written, members[1:])) + "]")
        return next(each for each in "a1 .(\x7fé漢" if not taken.match(each))
    code, value = members[0]
    if code is codes.LITERAL:
        return chr(value)
    if code is codes.RANGE:
        return chr(value[0])
    kinds = {codes.CATEGORY_DIGIT: "1", codes.CATEGORY_SPACE: " ", codes.CATEGORY_WORD: "a",
             codes.CATEGORY_NOT_DIGIT: "a", codes.CATEGORY_NOT_SPACE: "a",
             codes.CATEGORY_NOT_WORD: " "}  # fmt: skip
    return kinds[value]


def _written(member: Any) -> str:
    code, value = member
    if code is codes.LITERAL:
        return re.escape(chr(value))
    if code is codes.RANGE:
        return f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
    return {codes.CATEGORY_DIGIT: r"\d", codes.CATEGORY_SPACE: r"\s", codes.CATEGORY_WORD: r"\w",
            codes.CATEGORY_NOT_DIGIT: r"\D", codes.CATEGORY_NOT_SPACE: r"\S",
            codes.CATEGORY_NOT_WORD: r"\W"}[value]  # fmt: skip


def seconds(pattern: "re.Pattern[Any]", method: str, text: Any) -> float:
    """Return how much time of the processor a pattern takes for a text, or for its bytes."""
    text = text.encode() if isinstance(pattern.pattern, bytes) else text
    start = time.process_time()
    if method in ("sub", "subn"):
        getattr(pattern, method)("", text)
    elif method == "finditer":
        for _ in pattern.finditer(text):
            pass
    else:
        getattr(pattern, method)(text)
    return time.process_time() - start


def is_slow(pattern: "re.Pattern[str]", method: str, text: Text) -> str:
    """Return what shows that time grows faster than a text; "" where it does not."""
    for count in FEW:
        few = text.of(count * len(text.piece))
        if all(_least(pattern, method, few, tries) > TOO_LONG for tries in TRIES):
            return f"{count} repetitions take over {TOO_LONG} s"
    for small, large in itertools.pairwise(MANY):
        if _least(pattern, method, text.of(small), 1) < NOTICED:
            return ""
        for tries in TRIES:
            before, after = (
                _least(pattern, method, text.of(count), tries) for count in (small, large)
            )
            if after < TOO_LONG or after < SURE * before:
                break
            if after > FAR_TOO_LONG:
                return f"{small} characters take {before:.4f} s, {large} take {after:.4f} s"
        else:
            return f"{small} characters take {before:.4f} s, {large} take {after:.4f} s"
    return ""


def _least(pattern: "re.Pattern[str]", method: str, text: str, tries: int) -> float:
    """Return the least time of some tries; of the first, where it is far too long."""
    least = seconds(pattern, method, text)
    for _ in range(tries - 1):
        if least > FAR_TOO_LONG:
            break
        least = min(least, seconds(pattern, method, text))
    return least
