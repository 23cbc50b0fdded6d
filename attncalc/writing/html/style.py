"""The style of pages, without comments and spaces, and only the rules that a page needs."""

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import NamedTuple

_COMMENT = re.compile(r"/\*(?:[^*]++|\*(?!/))*+(?:\*/)?+")
_AROUND = re.compile(r" ?([{};,>]) ?")
_SPACE = re.compile(r"\s++")
_VALUE = re.compile(r"(?<=[a-z]): ")
_CLASS = re.compile(r"\.([a-z][\w-]*+)")
_WORD = re.compile(r"[a-z][\w-]*+")


class Rule(NamedTuple):
    """Declarations for some elements, or rules for some screens."""

    of: str
    said: str
    within: tuple["Rule", ...] = ()


@cache
def style(package: str, name: str) -> str:
    """Return a style of the package without its comments and spaces."""
    return squeezed(files(package).joinpath(name).read_text("utf-8"))


def squeezed(text: str) -> str:
    """Return a style without comments and without redundant spaces.

    Quoted text in it may not contain any of `{};,>`.

    >>> squeezed("a b { color: red; margin: 0 1px; } /* so */")
    'a b{color:red;margin:0 1px}'
    """
    plain = _SPACE.sub(" ", _COMMENT.sub("", text)).strip()
    return _VALUE.sub(":", _AROUND.sub(r"\1", plain)).replace(";}", "}")


def needed(text: str, page: str) -> str:
    """Return the rules of a minified style that a page may need: those of its classes.

    page: the page and its script: they contain a class as a word.

    >>> needed("a{x:1}.b a,.c{y:2}@media print{.b{z:3}}", '<a class="c">')
    'a{x:1}.c{y:2}'
    """
    words = frozenset(_WORD.findall(page))
    return "".join(_written(_rules(text), words))


@cache
def _rules(text: str) -> tuple[Rule, ...]:
    found, at = [], 0
    while at < len(text):
        opened = text.index("{", at)
        of, is_media = text[at:opened], text.startswith("@media", at)
        closed = text.index("}}" if is_media else "}", opened) + is_media
        said = text[opened + 1 : closed]
        found.append(Rule(of, "", _rules(said)) if is_media else Rule(of, said))
        at = closed + 1
    return tuple(found)


def _written(rules: tuple[Rule, ...], words: frozenset[str]) -> Iterator[str]:
    for rule in rules:
        if rule.within:
            inner = "".join(_written(rule.within, words))
            yield f"{rule.of}{{{inner}}}" if inner else ""
            continue
        # of a list in brackets, no part is taken away
        parts = rule.of.split(",") if "(" not in rule.of else [rule.of]
        of = ",".join(
            each for each in parts if "(" in each or words.issuperset(_CLASS.findall(each))
        )
        yield f"{of}{{{rule.said}}}" if of else ""
