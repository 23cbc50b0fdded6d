"""The page of JSON: every key of the schemas, with an example value from a command."""

import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from attncalc.schemas import OF, schema
from tools.inside import run

STARTS = (
    "attncalc samples self -o self.json",
    "attncalc samples lost-sign -o mine.tex",
    "attncalc samples answers -o answers",
    "attncalc samples average -o average.json",
)
COMMANDS = {
    "steps": "attncalc self self.json --work --explain --format json",
    "marking": "attncalc check self.json mine.tex --format json",
    "class": "attncalc check self.json answers --format json",
    "variation": 'attncalc vary average.json "scale=0.1:10:log" --format json',
    "simulation": 'attncalc simulate average.json "K[a] ~ N(mu, 0.1 I)" --draws 50 --format json',
    "aim": 'attncalc aim average.json "1/2 v_a + 1/2 v_b" --format json',
}
"""A command with an example of each schema; some have none."""
LONGEST = 40
ELSEWHERE = ("problem", "conventions", "patterns[].values")
"""Keys that are fields or codes, which other pages describe."""


class Key(NamedTuple):
    """A key: the types of its value, its description, and whether it is required."""

    kinds: tuple[str, ...]
    says: str
    always: bool


def page() -> str:
    """Return the page."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield "# JSON\n"
    yield (
        "The JSON output of the commands, generated from the [schemas](../promises.md#schemas): "
        "each key with its type and an example value. `[]` is any entry of a list, `*` any name. "
        "The keys of a problem are its [fields](../fields.md); [patterns](../patterns.md) "
        "describes the values of each pattern.\n"
    )
    with TemporaryDirectory() as place:
        folder = Path(place)
        for command in STARTS:
            run(command, folder)
        for name, says in OF.items():
            if name in ELSEWHERE:
                continue
            command = COMMANDS.get(name, "")
            written = json.loads(run(command, folder)) if command else None
            yield f"## {name}\n\nJSON of {says}.\n"
            yield f"```sh\n{command}\n```\n" if command else ""
            yield from _table(_declared(name), dict(_found("", written)))


def _declared(name: str) -> dict[str, Key]:
    whole = schema(name)
    return {key: each for key, each in _walk("", whole, whole, True) if key and key[-1] != "]"}


def _table(declared: dict[str, Key], values: dict[str, Any]) -> Iterator[str]:
    yield "| key | type | meaning | example |\n|---|---|---|---|"
    for key in dict.fromkeys([*declared, *values]):
        said = declared.get(key, Key((_kind(values.get(key)),), "", True))
        may = "" if said.always else "optional; "
        kinds = may + " or ".join(dict.fromkeys(said.kinds))
        yield f"| `{key}` | {kinds} | {said.says} | {_short(values.get(key))} |"
    yield ""


def _walk(key: str, part: Any, whole: Any, always: bool) -> Iterator[tuple[str, Key]]:
    """Yield each key below a part of a schema, once for each of its types."""
    kinds = tuple(_kinds(part, whole))
    yield key, Key(kinds, _says(part, whole), always)
    if key in ELSEWHERE:
        return
    for one in _ways(part, whole):
        for name, inner in one.get("properties", {}).items():
            needed = name in one.get("required", ())
            yield from _walk(f"{key}.{name}".lstrip("."), inner, whole, needed)
        if isinstance(inner := one.get("additionalProperties"), dict):
            yield from _walk(f"{key}.*".lstrip("."), inner, whole, False)
        if isinstance(inner := one.get("items"), dict):
            yield from _walk(f"{key}[]", inner, whole, True)


def _ways(part: Any, whole: Any) -> Iterator[Any]:
    """Yield the alternatives of a part of a schema, with references resolved."""
    while "$ref" in part:
        part = whole["$defs"][part["$ref"].rpartition("/")[2]]
    for one in part.get("anyOf", part.get("oneOf", [])):
        yield from _ways(one, whole)
    if "type" in part or "enum" in part or "properties" in part:
        yield part


def _says(part: Any, whole: Any) -> str:
    while "description" not in part and "$ref" in part:
        part = whole["$defs"][part["$ref"].rpartition("/")[2]]
    return str(part.get("description", "")).replace("|", "\\|")


def _kinds(part: Any, whole: Any) -> Iterator[str]:
    words = {"boolean": "true or false"}
    for one in _ways(part, whole):
        given = one.get("type", [])
        if "enum" in one:
            yield ", ".join(f"`{value}`" for value in one["enum"])
        elif given == "array":
            inner = dict.fromkeys(_kinds(one.get("items", {}), whole))
            yield f"list of {' or '.join(inner)}" if inner else "list"
        else:
            for name in given if isinstance(given, list) else [given]:
                yield words.get(name, name)


def _found(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the keys of some output with their values; a matrix is one value."""
    if key and not key.endswith("[]"):
        yield key, value
    if key in ELSEWHERE:
        return
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _found(f"{key}.{name}".lstrip("."), each)
    elif isinstance(value, list):
        for each in reversed(value):  # the first one overrides the others
            if isinstance(each, dict):
                yield from _found(f"{key}[]", each)


def _kind(value: Any) -> str:
    if isinstance(value, list):
        inner = {_kind(each) for each in value}
        return f"list of {' or '.join(sorted(inner))}" if inner else "list"
    kinds = {dict: "object", str: "string", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "number")


def _short(value: Any) -> str:
    """Return the beginning of a value, or nothing for objects."""
    inner = value[0] if isinstance(value, list) and value else value
    if value is None or isinstance(inner, dict):
        return ""
    text = json.dumps(value, ensure_ascii=False)
    cut = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    return f"`{cut}`".replace("|", "\\|")
