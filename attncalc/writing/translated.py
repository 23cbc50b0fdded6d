"""A document in another language: its sentences, and the numbers of its matrices and work."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar, cast

from attncalc.equations.expressions import Number, Where
from attncalc.languages.catalogue import ENGLISH, ONE_NUMBER, Catalogue, catalogue
from attncalc.writing import document as parts

D = TypeVar("D", bound=parts.Document)
P = TypeVar("P", bound=parts.Part)
WORDS_OF_FORMULAS = ("via", "for each", "and")
_CODE = re.compile(r"(?<!\S)code [B-Z]{4}-[B-Z]{4}$")
"""The code of a problem, behind the name of its student."""


def in_language(document: D) -> D:
    """Return a document in its language: sentences of its catalog, and decimal signs.

    Documents within it may be in another one.
    """
    words = catalogue(document.language)
    return replace(
        document,
        title=words.say(document.title),
        parts=tuple(_part(part, words) for part in document.parts),
        notes=tuple(map(words.say, document.notes)),
        advice=tuple(map(words.say, document.advice)),
    )


def formulas_in_language(text: str, language: str, *, form: Callable[[str], str] = str) -> str:
    """Return a document with the words within its formulas in a language.

    form: how the kind of file has words.
    """
    for word in WORDS_OF_FORMULAS if language != ENGLISH else ():
        said = form(catalogue(language).say(word))
        text = text.replace(rf"\text{{ {word} }}", rf"\text{{ {said} }}")
        text = text.replace(f">\u00a0{word}\u00a0<", f">\u00a0{said}\u00a0<")
    return text


def part_in_language(part: P, language: str) -> P:
    """Return a part of a document in its language."""
    return cast("P", _part(part, catalogue(language)))


def _part(part: parts.Part, words: Catalogue) -> parts.Part:
    """Return a part with its sentences, legends, matrices and work in the language."""
    if isinstance(part, parts.Appendix):
        return parts.Appendix(tuple(map(in_language, part.documents)))
    if words.language == ENGLISH:
        return part
    changed: dict[str, Any] = {
        name: _FIELDS[name](value, words)
        for name, value in part._asdict().items()
        if name in _FIELDS and isinstance(value, tuple | str)
    }
    if isinstance(part, parts.Connections):
        changed |= _connections(part, words)
    if isinstance(part, parts.Field) and part.text and _CODE.search(part.text):
        changed["text"] = _CODE.sub(lambda found: words.say(found[0]), part.text)
    if isinstance(part, parts.Sheet):
        grid = _sheet(part.grid, words, part.is_of_names)
        changed |= {"title": words.say(part.title), "grid": grid}
    if isinstance(part, parts.Table):
        changed |= {"title": words.say(part.title), "headings": _said(part.headings, words)}
        first = str if part.is_of_names else words.each
        for name in ("rows", "told"):
            rows = ((first(one), *map(words.each, texts)) for one, *texts in getattr(part, name))
            changed[name] = tuple(rows)
    return cast("parts.Part", part._replace(**changed))


def _said(texts: Any, words: Catalogue) -> Any:
    return words.say(texts) if isinstance(texts, str) else tuple(map(words.say, texts))


def _connections(part: parts.Connections, words: Catalogue) -> dict[str, Any]:
    """Return the sentences and the inputs of outputs, each translated when it is asked for."""

    def told(texts: Sequence[str]) -> parts.LazySentences:
        return parts.LazySentences(len(texts), lambda place: words.say(texts[place]))

    def shown(head: int, output: int) -> parts.Attended:
        assert part.attended is not None
        row = part.attended(head, output)
        return row._replace(texts=[*map(words.number, row.texts)])

    heads = tuple((head, told(texts)) for head, texts in part.heads)
    return {"heads": heads, "attended": part.attended and shown}


def _sheet(grid: parts.Grid, words: Catalogue, is_of_names: bool) -> parts.Grid:
    """Return the numbers of a study, with headings of rows and columns that are no names."""

    def said(text: str) -> str:
        number = words.number(text) if ONE_NUMBER.fullmatch(text) else text
        return words.said(text, strict=True) or number

    def cell(i: int, j: int) -> parts.Cell:
        found = grid.cell(i, j)
        return found._replace(content=said(str(found.content)))

    rows = grid.rows if is_of_names else tuple(map(said, grid.rows))
    return grid._replace(rows=rows, columns=tuple(map(said, grid.columns)), cell=cell)


def _grid(grid: parts.Grid, words: Catalogue) -> parts.Grid:
    def cell(i: int, j: int) -> parts.Cell:
        return cast("parts.Cell", _numbers(grid.cell(i, j), words))

    return grid._replace(cell=cell, texts=None, said=words.say(grid.which))


def _numbers(value: Any, words: Catalogue) -> Any:
    """Return work, or an expression in it, with the decimal sign of the language."""
    if isinstance(value, Number):
        return value._replace(text=words.number(value.text))
    if isinstance(value, parts.Mark):
        return value._replace(means=words.say(value.means))
    if isinstance(value, Where):
        condition = value.condition if value.is_formula else words.say(value.condition)
        value = value._replace(said=words.say(value.said), condition=condition)
    if hasattr(value, "_fields"):
        texts = {"remark": words.say} if "remark" in value._fields else {}
        pairs = zip(value._fields, value, strict=True)
        return value._replace(
            **{n: texts[n](v) if n in texts else _numbers(v, words) for n, v in pairs}
        )
    return tuple(_numbers(each, words) for each in value) if isinstance(value, tuple) else value


_FIELDS: dict[str, Callable[[Any, Catalogue], Any]] = {
    **dict.fromkeys(("texts", "sentences", "remarks", "said"), _said),
    **dict.fromkeys(
        ("legend", "entries"), lambda of, words: tuple((sign, words.say(x)) for sign, x in of)
    ),
    "grids": lambda grids, words: tuple(_grid(grid, words) for grid in grids),
    **dict.fromkeys(("lines", "formula"), _numbers),
}
"""How the fields of parts are translated."""
