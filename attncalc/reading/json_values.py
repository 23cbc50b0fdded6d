"""JSON other than problems: objects as dicts, numbers as typed."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from attncalc.base.errors import InputError
from attncalc.base.typed import quoted
from attncalc.reading.files import decode, read_bytes

DEEPEST = 40
"""The deepest nesting of lists and objects."""


class Typed(str):
    """A number as typed."""

    __slots__ = ()


class Pairs(tuple[tuple[str, Any], ...]):
    """A JSON object as its pairs, so that a repeated name is visible."""

    __slots__ = ()


def parsed(text: str, of_object: Callable[[list[tuple[str, Any]]], Any] = Pairs) -> Any:
    """Return the content of JSON: numbers as typed, and what a function makes of objects."""
    return json.loads(
        text, parse_int=Typed, parse_float=Typed, parse_constant=Typed, object_pairs_hook=of_object
    )


def is_deep(value: Any, most: int) -> bool:
    """Return whether lists and objects are nested more deeply; Python's own limit varies.

    Since Python 3.12 it parses deeper lists than its own functions can handle.
    """
    level = [value]
    for _ in range(most):
        inside = (each.values() if isinstance(each, dict) else each for each in level)
        level = [
            each for values in inside for each in values if isinstance(each, dict | list | tuple)
        ]
    return bool(level)


def read_json_object(source: Path, what: str) -> dict[str, Any]:
    """Return the object in a JSON file; `what` names it in messages."""
    text = decode(read_bytes(source), str(source))
    try:
        found = parsed(text, partial(_once, source))
        if isinstance(found, dict) and is_deep(found, DEEPEST):
            raise RecursionError
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise InputError(f"{source}: not JSON at {where}: {error.msg}") from None
    except RecursionError:
        raise InputError(f"{source}: lists or objects too deep within one another") from None
    if not isinstance(found, dict):
        raise InputError(f"{source}: {what} is one JSON object, between {{ and }}")
    return found


def _once(source: Path, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise InputError(f"{source}: {quoted(name)} is given twice")
        found[name] = value
    return found
