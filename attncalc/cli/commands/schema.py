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
    text = _listing() if name is None else in_json(schema_of(name), indent=2) + "\n"
    deliver(output(target, text))


def _listing() -> str:
    widest = max(map(len, NAMES))
    lines = [f"{name:{widest}}  {OF[name]}" for name in NAMES]
    return "\n".join([*lines, "", "Write one out:  attncalc schema NAME -o NAME.schema.json", ""])
