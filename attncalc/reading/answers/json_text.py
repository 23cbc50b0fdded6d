"""Answers as JSON: a step under each name, or attncalc's own JSON."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from math import prod
from typing import Any

from attncalc.base.errors import InputError
from attncalc.reading.answers.answer import Answer, Unread, WrittenConnection, WrittenMatrix
from attncalc.reading.answers.expected import Expected
from attncalc.reading.answers.lines import connections_in
from attncalc.reading.answers.map_choice import stated_map
from attncalc.reading.answers.map_lines import MapReader, told_in
from attncalc.reading.answers.map_unread import UNCLEAR, lines_that_may_state
from attncalc.reading.answers.map_words import lexemes_in
from attncalc.reading.answers.raw import Raw, assembled, is_given, unread
from attncalc.reading.answers.records import Records, steps_of_records
from attncalc.reading.answers.text import read_text_answer
from attncalc.reading.answers.witness import is_side_by_side
from attncalc.reading.cells import Faults, in_words
from attncalc.reading.json_text import parse, plain
from attncalc.reading.naming.keys import name_of_key
from attncalc.reading.naming.name import head_in
from attncalc.reading.plain.grids import Line, only_grid
from attncalc.reading.plain.numerals import is_number_cell

_NOT_STEPS = (
    *("attncalc", "kind", "title", "problem", "conventions", "work", "notes", "patterns"),
    *("name", "student"),
)
"""Keys beside the steps in the object."""
_SHAPES = ("shape", "size", "dims")
_VALUES = ("shown", "values", "value", "matrix", "result", "data")
_NAMES = ("name", "step", "symbol", "matrix_name", "label", "title")
"""Keys of the name and of the matrix, in an object of a list."""
_LETTER = re.compile(r"[^\W\d_]")
_DIGITS = re.compile(r"\d{1,4}")
_Named = tuple[str, Any, int]
"""A name, its value, and its head; 0 for all heads."""


FEW = 4
"""The smallest number of words of a sentence."""
MOST_NAMES = 5000
"""The largest number of names that are read, such as one for each entry."""


def read_json_answer(text: str, place: str, expected: Expected | None = None) -> Answer:
    """Return the answer of a JSON object: `{"Q": [[1, 3]], "A": [["0.30", null]]}`."""
    found: list[Raw] = []
    not_read: list[Unread] = []
    tables = Records(found, not_read)
    content = _without_entries(_content(text, place), expected or Expected(), tables)
    connections = None
    steps = _steps(content)
    for key, value, head in islice(steps, MOST_NAMES):
        if key == "connections":
            own, missed = _map(value, expected)
            not_read += missed
            connections = [*(connections or ()), *own]
        elif key not in _NOT_STEPS or name_of_key(key):
            _add(key, value, found, not_read, head)
    if next(steps, None):
        why = f"only the first {MOST_NAMES:,} names are read"
        not_read.append(Unread(0, "…", why, could_be_matrix=True))
    answer = assembled(place, found, not_read, connections, expected)
    if expected is not None and not answer.connections:
        told = map_told(content, place, expected, answer.matrices)
        left = [
            each._replace(why=UNCLEAR, of_map=True)
            if not told
            and [*lines_that_may_state([(0, each.text)], expected.labels, is_begun=False)]
            else each
            for each in answer.unread
            if not (told and _are_inputs(each.text))
        ]
        answer = replace(answer, connections=told, unread=(*left,))
    if expected is None or not (answer.has_unread_matrix or _are_misfits(answer, expected)):
        return answer
    other = read_text_answer("\n".join(_outline(content)), place, expected)
    more = len(other.matrices) - len(answer.matrices) + _are_misfits(answer, expected)
    if more <= 0 or _are_misfits(other, expected):
        return answer
    return replace(other, connections=answer.connections or other.connections)


def _without_entries(content: dict[str, Any], expected: Expected, found: Records) -> dict[str, Any]:
    """Return an object without its lists of single entries, whose steps are added to `found`."""
    kept = {}
    for key, value in content.items():
        is_list = isinstance(value, list) and key not in _NOT_STEPS
        rows = _records(value, 0) if is_list else []
        del rows[1:2]  # the rule below the keys
        table = steps_of_records(rows, [0] * len(rows), expected)
        if table:
            found.steps.extend(table.steps)
            found.unread.extend(table.unread)
        else:
            is_object = isinstance(value, dict)
            kept[key] = _without_entries(value, expected, found) if is_object else value
    return kept


def map_told(
    content: dict[str, Any], place: str, expected: Expected, matrices: Mapping[str, WrittenMatrix]
) -> tuple[WrittenConnection, ...] | None:
    """Return the map that the texts and the records of an object state.

    matrices: the steps of the object, whose weights rank the inputs.
    """
    said = [each for each in _texts(content) if len(each.split()) >= FEW or "|" in each]
    tables = [Line(k, each) for k, each in enumerate("\n".join(said).split("\n")) if "|" in each]
    told = told_in(tables, expected)[0]
    reader = MapReader(expected)
    heads = reader.heads_of(reader.own_weights(matrices))
    if heads is not None and not reader.is_complete(told):
        outline = (each.replace("_", " ") for each in _outline(content))
        lines = [each for each in outline if _may_state(*each.rpartition(": ")[::2])]
        told = stated_map([*enumerate(lines, start=1)], heads, expected.labels)
    found = told or read_text_answer("\n".join(said), place, expected).connections
    return (*(each._replace(line=0) for each in found or ()),) or None


def _may_state(name: str, value: str) -> bool:
    """Return whether a value may be of the map: it has words, or its name ranks inputs."""
    return _ranks_inputs(name) or _LETTER.search(value) is not None


def _ranks_inputs(name: str) -> bool:
    """Return whether a name is that of the most attended inputs, or of the second ones."""
    words = lexemes_in(name.replace("_", " "), {})
    return any(word.kind in ("most", "second", "attends", "ordinal") for word in words)


def _are_inputs(text: str) -> bool:
    """Return whether a text lists the most attended inputs, or the second ones, by number."""
    name, _, value = text.partition(": ")
    return _ranks_inputs(name) and all(map(str.isdigit, value.split()))


def _texts(value: Any, head: int = 0) -> Iterator[str]:
    """Yield the texts of an object, and its lists of records as tables.

    head: the head that the names before it mention.
    """
    listed = [value] if isinstance(value, list) else []
    if isinstance(value, dict) and all(isinstance(each, dict) for each in value.values()):
        listed = [[{"output": key, **each} for key, each in value.items()]]
    tables = [_records(each, head) for each in listed]
    if isinstance(value, dict):
        tables += [_records(each, head) for each in _columns(value)]
    yield from ("\n".join(["", *(f"| {' | '.join(row)} |" for row in rows), ""])
                for rows in tables if rows)  # fmt: skip
    if not (listed and tables[0]) and isinstance(value, dict | list):
        for name, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _texts(each, head_in(str(name).replace("_", " ")) or head)
    elif isinstance(value, str):
        yield value


def _columns(value: dict[str, Any]) -> Iterator[list[Any]]:
    """Yield records from the lists, or objects, of the most and the second inputs, by output."""
    by_keys: dict[tuple[str, ...], dict[str, dict[str, Any]]] = {}
    for name, each in value.items():
        own = {str(k): one for k, one in enumerate(each, 1)} if isinstance(each, list) else each
        if _ranks_inputs(name) and isinstance(own, dict):
            by_keys.setdefault((*own,), {})[name] = own
    for keys, own in (each for each in by_keys.items() if len(each[1]) > 1):
        yield [{"output": key, **{name: each[key] for name, each in own.items()}} for key in keys]


def _records(values: list[Any], head: int) -> list[list[str]]:
    """Return the rows of objects below their keys, if one has the keys of all; none for others."""
    if head and values and all(isinstance(each, dict) for each in values):
        values = [{"head": head, **each} for each in values]
    if not values or any(not isinstance(each, dict) for each in values):
        return []
    keys = [*max(values, key=len)]
    if len(keys) < 2 or any(not {*each} <= {*keys} for each in values):
        return []
    rows = [[_listing(each.get(key)) for key in keys] for each in values]
    return [[str(key).replace("_", " ") for key in keys], ["---" for _ in keys], *rows]


def _are_misfits(answer: Answer, expected: Expected) -> bool:
    """Return whether a step does not have its shape, with its heads side by side or not."""
    steps = expected.steps
    read = answer.matrices.items()
    return any(
        each.problem
        or not (expected.fits(n, each.values) or (n in steps and is_side_by_side(each, steps[n])))
        for n, each in read
    )


def _outline(value: Any, names: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield lines of text for an object in any form: its keys, and the numbers below them."""
    words = " ".join(names)
    inner = value.items() if isinstance(value, dict) else enumerate(value, start=1)
    listed = [*value.values()] if isinstance(value, dict) else value
    if listed and not any(isinstance(each, list | dict) for each in listed):
        cells = [_cell(each) for each in listed]
        if isinstance(value, list) and all(len(each.split()) >= FEW for each in cells):
            yield from (f"{words}: {each}" for each in cells)  # sentences
            return
        if isinstance(value, list) or all(map(is_number_cell, cells)):
            yield f"{words}: {', '.join(cells)}"
            return
    rows = [[_cell(cell) for cell in row] for row in listed if isinstance(row, list) and row]
    if len(rows) == len(listed) > 1 and all(all(map(is_number_cell, row)) for row in rows):
        yield f"{words}: [{'; '.join(map(' '.join, rows))}]"
        return
    for key, each in inner:
        if isinstance(each, list | dict):
            yield from _outline(each, (*names, str(key)) if isinstance(key, str) else names)
        else:
            yield f"{words} {key}: {_cell(each)}"


def _map(value: Any, expected: Expected | None) -> tuple[list[WrittenConnection], list[Unread]]:
    """Return the lines of the map: from objects with an output each, and from sentences."""
    own = [*connections_in(value)]
    told: list[WrittenConnection] = []
    missed: list[Unread] = []
    if isinstance(value, list) and any(isinstance(each, str) for each in value):
        drawn = [[] if isinstance(each, str) else [*connections_in([each])] for each in value]
        texts = [each for each, found in zip(value, drawn, strict=True) if not found]
        own = [line for found in drawn for line in found]
        told, missed = _told(texts, expected)
    elif value and not own:
        told, missed = _told(value, expected)
    return [*own, *told], missed


def _told(value: Any, expected: Expected | None) -> tuple[list[WrittenConnection], list[Unread]]:
    """Return the map that sentences state, or an object with an input for each output."""
    if isinstance(value, dict):
        value = [f"output {k} -> input {_listing(each)}" for k, each in value.items()]
    listed = value if isinstance(value, list) else str(value).split("\n")
    texts = [each if isinstance(each, str) else _said(each) for each in listed]
    told, missed = told_in([Line(i, text) for i, text in enumerate(texts, 1)], expected)
    # the form has no lines
    return [each._replace(line=0) for each in told], [each._replace(line=0) for each in missed]


def _listing(value: Any) -> str:
    """Return a value as a cell: the inputs of a list, or a dash for none."""
    listed = value if isinstance(value, list) else [value]
    return " and ".join(str(each) for each in listed if each is not None) or "-"


def _content(text: str, place: str) -> dict[str, Any]:
    """Return the object with the steps."""
    try:
        content = plain(parse(text, Faults(place)))
    except RecursionError:
        raise InputError(f"{place}: not an answer: its lists are nested too deeply") from None
    if isinstance(content, list) and content and all(isinstance(each, dict) for each in content):
        content = {"steps": content}
    if isinstance(content, dict) and isinstance(content.get("answer"), dict):
        content = content["answer"]
    if not isinstance(content, dict):
        raise InputError(
            f'{place}: an answer is one JSON object, like {{"Q": [[1, 3]], "A": [[0.3, 0.7]]}}'
        )
    return content


def _steps(content: dict[str, Any], head: int = 0, before: str = "") -> Iterator[_Named]:
    """Yield each name with its value and head; steps may be nested in lists or objects.

    `before` is their layer or attention: "1.", "cross.".
    """
    for key, value in content.items():
        own_head = head_in(key) or _count(key, "head")
        if key in _NOT_STEPS or key == "connections":
            yield key, value, head
        elif _is_object(value) and (
            own_head or name_of_key(key) is None or any(map(_ranks_inputs, value))
        ):
            yield from _steps(value, own_head or head, _of(key, before))
        elif isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
            yield from _listed(key, value, head, before)
        elif _is_object(value) and (rows := _named_rows(value)) is not None:
            yield before + key if name_of_key(before + key) else key, rows, head
        else:
            yield before + key if name_of_key(before + key) else key, value, head


def _is_object(value: Any) -> bool:
    """Return whether a value is an object with steps, and not that of one step."""
    if not isinstance(value, dict) or not any(key in value for key in _VALUES):
        return isinstance(value, dict)
    others = [key for key, each in value.items() if isinstance(each, list | dict)]
    return any(name_of_key(key) for key in others if key not in _VALUES)


def _listed(key: str, values: list[dict[str, Any]], head: int, before: str) -> Iterator[_Named]:
    """Yield the steps of a list of objects: each with its name, or each a head or a layer."""
    for number, each in enumerate(values, start=1):
        texts = {word: text for word, text in each.items() if isinstance(text, str)}
        lists = {word: rows for word, rows in each.items() if isinstance(rows, list)}
        said = [texts[word] for word in (*_NAMES, *texts) if word in texts]
        own = next(filter(name_of_key, said), max(said, key=len, default=""))
        value = next((each[word] for word in (*_VALUES, *lists) if word in each), None)
        if own and value is not None:
            its_head, *places = (each.get(key) for key in ("head", "row", "col", "column"))
            its_head = its_head if isinstance(its_head, int) else head
            place = ",".join(str(each) for each in places if str(each).isdecimal())
            name = name_of_key(own)
            own = f"{name.matrix}[{place}]" if name and place else own
            yield from _steps({own: value}, its_head, before)
        elif key.lower().rstrip("s") == "layer":
            yield from _steps(each, head, f"{number}.")
        elif key.lower().rstrip("s") == "head":
            yield from _steps(each, number, before)
        elif name_of_key(key) is None:
            yield from _steps(each, head, before)
        else:
            yield key, values, head
            return


def _of(key: str, before: str) -> str:
    """Return the layer or attention of a key."""
    if layer := _count(key, "layer"):
        return f"{layer}."
    side = key.lower().removesuffix("attention").strip("_- ")
    return f"{before}{side}." if side in ("self", "cross") else before


def _count(key: str, word: str) -> int:
    """Return the number after a word: layer_2; 0 for any other key."""
    count = key.lower().removeprefix(word).strip("_-# ")
    return int(count) if key.lower().startswith(word) and count.isdigit() and len(count) < 4 else 0


def _named_rows(value: dict[str, Any]) -> list[Any] | None:
    """Return rows or heads with names in order; None for any other value."""
    counts = [int(digits[-1]) for key in value if (digits := _DIGITS.findall(key))]
    if not value or not all(isinstance(each, list) for each in value.values()):
        return None
    in_order = counts == list(range(counts[0], counts[0] + len(value))) if counts else True
    return list(value.values()) if in_order and len({*map(_depth, value.values())}) == 1 else None


def _add(key: str, value: Any, found: list[Raw], not_read: list[Unread], head: int = 0) -> None:
    """Store a matrix: a list of rows, of heads, one row, an entry, or rows written as text."""
    name = name_of_key(key)
    value = _as_lists(value)
    is_entry = name is not None and name.row and name.column
    if is_entry and not isinstance(value, list | dict):
        value = [value]
    is_step = name is not None
    if name and is_given(name.matrix) and not isinstance(value, list):
        return
    if not isinstance(value, list) or not value:
        what = f"{in_words(value)}, where a list of rows is needed"
        not_read.append(unread(key, what if is_step else _said(value), is_step=is_step))
        return
    depth = _depth(value)
    while depth > 2 and len(value) == 1:
        value, depth = value[0], depth - 1  # a batch of one
    if depth > 3:
        what = f"lists nested {depth} deep, where a list of rows is needed"
        not_read.append(unread(key, what if is_step else _said(value), is_step=is_step))
        return
    heads = {1: [[value]], 2: [value], 3: value}[depth]
    for number, rows in enumerate(heads, start=1):
        listed = [_listed_of(row) for row in _listed_of(rows)]
        cells = [[_cell(cell) for cell in row] for row in listed]
        found.append(Raw(key, number if len(heads) > 1 else head, cells))


def _listed_of(value: Any) -> list[Any]:
    """Return a list unchanged, and any other value, such as `true` among rows, in a list."""
    return value if isinstance(value, list) else [value]


def _as_lists(value: Any) -> Any:
    """Return the rows of a text or of the object of a step; other values are unchanged."""
    if isinstance(value, dict):
        rows = next((value[word] for word in _VALUES if word in value), value)
        return _shaped(rows, next((value[word] for word in _SHAPES if word in value), None))
    if not isinstance(value, str):
        return value
    grid = only_grid(value)
    if grid is None:
        return value
    return grid.rows if len(grid.heads) == 1 else list(grid.heads)


def _shaped(values: Any, shape: Any) -> Any:
    """Return a flat list in the shape given beside it; other values are unchanged."""
    sides = shape if isinstance(shape, list) else []
    is_shape = 1 < len(sides) < 4 and all(str(side).isdigit() for side in sides)
    if not is_shape or _depth(values) != 1 or prod(map(int, sides)) != len(values):
        return values
    for side in map(int, reversed(sides[1:])):
        values = [values[i : i + side] for i in range(0, len(values), side)]
    return values


def _said(value: Any) -> str:
    """Return a value as text, shortened if it is long."""
    return str(value) if not isinstance(value, list | dict) else json.dumps(value)


def _depth(value: Any) -> int:
    if not isinstance(value, list):
        return 0
    return 1 + max((_depth(each) for each in value), default=0)


def _cell(cell: Any) -> str:
    if cell is None:
        return ""
    return cell if isinstance(cell, str) else in_words(cell)
