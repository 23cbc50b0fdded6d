"""Building blocks of schemas: objects, lists, and shared definitions."""

from collections.abc import Iterator, Mapping
from typing import Any

Schema = dict[str, Any]

DRAFT = "https://json-schema.org/draft/2020-12/schema"

TEXT: Schema = {"type": "string"}
LIST_OF_TEXTS: Schema = {"type": "array", "items": TEXT}
PLACE: Schema = {"type": "integer", "minimum": 1}
COUNT: Schema = {"type": "integer", "minimum": 0}
FLOAT: Schema = {"type": "number"}
YES_NO: Schema = {"type": "boolean"}
FRACTION: Schema = {"type": "string", "pattern": r"^[0-9]+(/[0-9]+)?$"}
CODE: Schema = {"type": "string", "pattern": "^[a-z][a-z0-9-]*(:.+)?$"}
"""A code, and after a colon its details: rows, digits."""


def thing(says: str, needs: Mapping[str, Schema], may: Mapping[str, Schema] = {}) -> Schema:
    """Return the schema of an object with only these names."""
    return {
        "description": says,
        "type": "object",
        "properties": {**needs, **may},
        "required": list(needs),
        "additionalProperties": False,
    }


def listed(items: Schema, **more: Any) -> Schema:
    """Return the schema of a list."""
    return {"type": "array", "items": items, **more}


def named(values: Schema) -> Schema:
    """Return the schema of an object with any names."""
    return {"type": "object", "additionalProperties": values}


def or_none(schema: Schema) -> Schema:
    """Return the schema of a value that may be null."""
    return {"anyOf": [schema, {"type": "null"}]}


def either(*schemas: Schema) -> Schema:
    """Return the schema of one of several values."""
    return {"anyOf": list(schemas)}


def nested(entry: Schema) -> Schema:
    """Return the schema of a matrix as rows, or of several: one for each head."""
    rows = listed(listed(entry))
    return either(rows, listed(rows))


def shared(name: str) -> Schema:
    """Return the reference to a schema that several others contain."""
    return {"$ref": f"#/$defs/{name}"}


def whole(name: str, body: Schema, title: str, defined: Mapping[str, Schema]) -> Schema:
    """Return a self-contained schema: it includes the shared definitions that it needs."""
    needed: dict[str, Schema] = {}
    waiting = list(_names_in(body))
    while waiting:
        if (found := waiting.pop()) not in needed:
            needed[found] = defined[found]
            waiting += _names_in(defined[found])
    start = {"$schema": DRAFT, "$id": f"urn:attncalc:{name}", "title": title}
    return {**start, **body, **({"$defs": dict(sorted(needed.items()))} if needed else {})}


def _names_in(value: Any) -> Iterator[str]:
    """Yield the names of the shared definitions that a schema refers to."""
    if isinstance(value, list):
        for each in value:
            yield from _names_in(each)
    elif isinstance(value, dict):
        if "$ref" in value:
            yield str(value["$ref"]).rpartition("/")[2]
        for each in value.values():
            yield from _names_in(each)
