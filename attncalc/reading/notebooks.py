"""Jupyter notebooks as text: their text, code and outputs."""

import json
from typing import Any

_SIGN = '"nbformat"'


def text_of_notebook(text: str) -> str:
    """Return the cells of a notebook as one text, each after a blank line; "" for other texts.

    >>> cell = {"cell_type": "markdown", "source": ["Q = [1 3;", " 2 4]"]}
    >>> text_of_notebook(json.dumps({"nbformat": 4, "cells": [cell]}))
    'Q = [1 3; 2 4]'
    """
    return "\n".join(line for _, line in lines_of_notebook(text))


Place = tuple[int, int, bool]
"""The place of a line of a notebook: its cell and line, from 1, and whether it is output."""


def lines_of_notebook(text: str) -> list[tuple[Place, str]]:
    """Return the lines of a notebook, each with its place; none for other texts.

    >>> cell = {"cell_type": "code", "source": "print(Q)", "outputs": [{"text": "[1 3]"}]}
    >>> lines_of_notebook(json.dumps({"nbformat": 4, "cells": [cell]}))
    [((1, 1, False), 'print(Q)'), ((1, 1, True), '[1 3]')]
    """
    if _SIGN not in text:
        return []
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return []
    cells = content.get("cells") if isinstance(content, dict) else None
    if not isinstance(cells, list) or "nbformat" not in content:
        return []
    lines: list[tuple[Place, str]] = []
    for number, cell in enumerate(cells, start=1):
        if isinstance(cell, dict):
            lines += [((number, 0, False), "")] * bool(lines)
            lines += _lines_of_cell(number, cell)
    return lines


def _lines_of_cell(number: int, cell: dict[str, Any]) -> list[tuple[Place, str]]:
    outputs = cell.get("outputs")
    outputs = outputs if isinstance(outputs, list) else []
    shown = [_text_of_output(each) for each in outputs if isinstance(each, dict)]
    written = _joined(cell.get("source")).split("\n")
    printed = "\n".join(shown).split("\n") if shown else []
    return [
        *(((number, i, False), line) for i, line in enumerate(written, start=1)),
        *(((number, i, True), line) for i, line in enumerate(printed, start=1)),
    ]


def _text_of_output(output: dict[str, Any]) -> str:
    """Return the text that a cell printed, or its last value; "" for errors and pictures."""
    data = output.get("data")
    return _joined(data.get("text/plain") if isinstance(data, dict) else output.get("text"))


def _joined(lines: Any) -> str:
    if isinstance(lines, list):
        return "".join(each for each in lines if isinstance(each, str))
    return lines if isinstance(lines, str) else ""
