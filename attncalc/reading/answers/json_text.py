"""Answers as JSON: a step under each name, or what attncalc itself writes."""

import json
from typing import Any

from attncalc.errors import InputError
from attncalc.reading.answers.answer import Answer, Unread
from attncalc.reading.answers.lines import connections_in
from attncalc.reading.answers.raw import Raw, assembled, is_given, unread
from attncalc.reading.cells import Faults, in_words
from attncalc.reading.json_text import parse, plain
from attncalc.reading.naming.keys import name_of_key
from attncalc.reading.plain.grids import only_grid

_NOT_STEPS = (
    *("attncalc", "kind", "title", "problem", "conventions", "work", "notes", "patterns"),
    *("name", "student"),
)
"""What may stand in the object beside the steps."""


MOST_NAMES = 5000
"""Names of an answer that are read: the entries of matrices, each under a name of its own."""


def read_json_answer(text: str, place: str) -> Answer:
    """Return the answer of a JSON object: `{"Q": [[1, 3]], "A": [["0.30", null]]}`."""
    try:
        content = plain(parse(text, Faults(place)))
    except RecursionError:
        raise InputError(f"{place}: not an answer: its lists are nested too deeply") from None
    if isinstance(content, dict) and isinstance(content.get("answer"), dict):
        content = content["answer"]
    if not isinstance(content, dict):
        raise InputError(
            f'{place}: an answer is one JSON object, like {{"Q": [[1, 3]], "A": [[0.3, 0.7]]}}'
        )
    found: list[Raw] = []
    not_read: list[Unread] = []
    connections = None
    steps = _steps(content)
    for key, value in steps[:MOST_NAMES]:
        if key == "connections":
            connections = list(connections_in(value))
        elif key not in _NOT_STEPS or name_of_key(key):
            _add(key, value, found, not_read)
    if (more := len(steps) - MOST_NAMES) > 0:
        why = f"{more:,} more names stand behind {MOST_NAMES:,}: they are not read"
        not_read.append(Unread(0, "…", why, could_be_matrix=True))
    return assembled(place, found, not_read, connections)


def _steps(content: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return what stands under each name; steps may stand in a list, as we write them."""
    pairs: list[tuple[str, Any]] = []
    for key, value in content.items():
        if key == "steps" and isinstance(value, dict):
            pairs += value.items()
        elif key == "steps" and isinstance(value, list):
            for step in value:
                if isinstance(step, dict) and "name" in step:
                    pairs.append((str(step["name"]), step.get("shown", step.get("values"))))
        else:
            pairs.append((key, value))
    return pairs


def _add(key: str, value: Any, found: list[Raw], not_read: list[Unread]) -> None:
    """Keep a matrix: a list of rows, of heads, one row, an entry, or rows written as text."""
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
        listed = [row if isinstance(row, list) else [row] for row in rows]
        cells = [[_cell(cell) for cell in row] for row in listed]
        found.append(Raw(key, number if len(heads) > 1 else 0, cells))


def _as_lists(value: Any) -> Any:
    """Return the rows that a text or a step's object holds; anything else as it is."""
    if isinstance(value, dict) and ("shown" in value or "values" in value):
        return value.get("shown", value.get("values"))
    if not isinstance(value, str):
        return value
    grid = only_grid(value)
    if grid is None:
        return value
    return grid.rows if len(grid.heads) == 1 else list(grid.heads)


def _said(value: Any) -> str:
    """Return a value as it stands, if it is not long."""
    return str(value) if not isinstance(value, list | dict) else json.dumps(value)


def _depth(value: Any) -> int:
    if not isinstance(value, list):
        return 0
    return 1 + max((_depth(each) for each in value), default=0)


def _cell(cell: Any) -> str:
    if cell is None:
        return ""
    return cell if isinstance(cell, str) else in_words(cell)
