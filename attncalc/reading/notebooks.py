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
    if _SIGN not in text:
        return ""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    cells = content.get("cells") if isinstance(content, dict) else None
    if not isinstance(cells, list) or "nbformat" not in content:
        return ""
    return "\n\n".join(_text_of_cell(cell) for cell in cells if isinstance(cell, dict))


def _text_of_cell(cell: dict[str, Any]) -> str:
    outputs = cell.get("outputs")
    outputs = outputs if isinstance(outputs, list) else []
    shown = [_text_of_output(each) for each in outputs if isinstance(each, dict)]
    return "\n".join([_joined(cell.get("source")), *shown])


def _text_of_output(output: dict[str, Any]) -> str:
    """Return what a cell printed, or its last value; of an error and a picture nothing."""
    data = output.get("data")
    return _joined(data.get("text/plain") if isinstance(data, dict) else output.get("text"))


def _joined(lines: Any) -> str:
    if isinstance(lines, list):
        return "".join(each for each in lines if isinstance(each, str))
    return lines if isinstance(lines, str) else ""
