"""Notebooks of Jupyter as text: what was written, what was run, and what came of it."""

import json
from typing import Any

_SIGN = '"nbformat"'


def text_of_notebook(text: str) -> str:
    """Return the cells of a notebook as one text, each behind a blank line; "" for anything else.

    Examples
    --------
    >>> cell = {"cell_type": "markdown", "source": ["Q = [1 3;", " 2 4]"]}
    >>> text_of_notebook(json.dumps({"nbformat": 4, "cells": [cell]}))
    'Q = [1 3; 2 4]'
    """
    return "\n".join(line for _, line in lines_of_notebook(text))


def lines_of_notebook(text: str) -> list[tuple[str, str]]:
    """Return the lines of a notebook, each behind where it stands; none of anything else.

    Examples
    --------
    >>> cell = {"cell_type": "code", "source": "print(Q)", "outputs": [{"text": "[1 3]"}]}
    >>> lines_of_notebook(json.dumps({"nbformat": 4, "cells": [cell]}))
    [('cell 1, line 1', 'print(Q)'), ('cell 1, line 1 of its output', '[1 3]')]
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
    lines: list[tuple[str, str]] = []
    for number, cell in enumerate(cells, start=1):
        if isinstance(cell, dict):
            lines += [(f"cell {number}", "")] * bool(lines)
            lines += _lines_of_cell(number, cell)
    return lines


def _lines_of_cell(number: int, cell: dict[str, Any]) -> list[tuple[str, str]]:
    outputs = cell.get("outputs")
    outputs = outputs if isinstance(outputs, list) else []
    shown = [_text_of_output(each) for each in outputs if isinstance(each, dict)]
    written = _joined(cell.get("source")).split("\n")
    printed = "\n".join(shown).split("\n") if shown else []
    return [
        *((f"cell {number}, line {i}", line) for i, line in enumerate(written, start=1)),
        *((f"cell {number}, line {i} of its output", line) for i, line in enumerate(printed, 1)),
    ]


def _text_of_output(output: dict[str, Any]) -> str:
    """Return what a cell printed, or its last value; of an error and a picture nothing."""
    data = output.get("data")
    return _joined(data.get("text/plain") if isinstance(data, dict) else output.get("text"))


def _joined(lines: Any) -> str:
    if isinstance(lines, list):
        return "".join(each for each in lines if isinstance(each, str))
    return lines if isinstance(lines, str) else ""
