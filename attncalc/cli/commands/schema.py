"""`attncalc schema`: list the JSON Schemas, or write one out."""

from collections.abc import Mapping
from typing import Any

from attncalc.base.text import in_json
from attncalc.cli.targets import check_targets, deliver, output, target_of
from attncalc.schemas import NAMES, OF
from attncalc.schemas import schema as schema_of


def schema(flags: Mapping[str, Any]) -> None:
    """List the schemas, or write one out."""
    name, target = flags["name"], target_of("--out", flags["out"])
    check_targets(target)
    deliver(output(target, listing() if name is None else schema_in_text(name)))


def schema_in_text(name: str) -> str:
    """Return the text of a schema."""
    return in_json(schema_of(name), indent=2) + "\n"


def listing() -> str:
    """Return a line for each schema."""
    widest = max(map(len, NAMES))
    lines = [f"{name:{widest}}  {OF[name]}" for name in NAMES]
    return "\n".join([*lines, "", "Write one out:  attncalc schema NAME -o NAME.schema.json", ""])
