"""JSON other than problems: objects as dicts, numbers as typed."""

import json
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


def read_json_object(source: Path, what: str) -> dict[str, Any]:
    """Return the object in a JSON file; `what` names it in messages."""
    text = decode(read_bytes(source), str(source))
    try:
        found = json.loads(
            text,
            parse_int=Typed,
            parse_float=Typed,
            parse_constant=Typed,
            object_pairs_hook=lambda pairs: _once(pairs, source),
        )
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise InputError(f"{source}: not JSON at {where}: {error.msg}") from None
    except RecursionError:
        raise InputError(f"{source}: lists or objects too deep within one another") from None
    if not isinstance(found, dict):
        raise InputError(f"{source}: {what} is one JSON object, between {{ and }}")
    if _depth(found) > DEEPEST:
        raise InputError(f"{source}: lists or objects too deep within one another")
    return found


def _once(pairs: list[tuple[str, Any]], source: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise InputError(f"{source}: {quoted(name)} is given twice")
        found[name] = value
    return found


def _depth(value: Any) -> int:
    """Return the depth of a value, up to one more than the limit."""
    depth, level = 0, [value]
    while level and depth <= DEEPEST:
        depth += 1
        level = [
            inner
            for each in level
            if isinstance(each, dict | list)
            for inner in (each.values() if isinstance(each, dict) else each)
        ]
    return depth
