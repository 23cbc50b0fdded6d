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
KINDS: dict[str, Schema] = {
    **{"text": TEXT, "place": PLACE, "count": COUNT, "float": FLOAT, "yes": YES_NO},
    **{"fraction": FRACTION, "code": CODE, "int": {"type": "integer"}},
}
"""Kinds of properties, by the words for `thing`."""


def thing(
    says: str,
    needs: str | Mapping[str, Schema],
    may: str | Mapping[str, Schema] = "",
    **given: Schema,
) -> Schema:
    """Return the schema of an object with only these names.

    needs, may: its properties, as in "name:text rows:count* error:float? cause": each with one of
        `KINDS`, with * for a list and ? for null, or, without a kind, as `given`.
    """
    own, others = (_properties(each, given) for each in (needs, may))
    return {
        "description": says,
        "type": "object",
        "properties": {**own, **others},
        "required": list(own),
        "additionalProperties": False,
    }


def _properties(
    stated: str | Mapping[str, Schema], given: Mapping[str, Schema]
) -> dict[str, Schema]:
    pairs = (each.partition(":") for each in stated.split()) if isinstance(stated, str) else ()
    made = {name: _kind(kind) if kind else given[name] for name, _, kind in pairs}
    return {**stated} if isinstance(stated, Mapping) else made


def _kind(text: str) -> Schema:
    if text.endswith("?"):
        return or_none(_kind(text[:-1]))
    return listed(_kind(text[:-1])) if text.endswith("*") else KINDS[text]


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
