"""The output of `--format json` for a solved problem: its steps, work, and patterns."""

from attncalc.problem.field import OneOf, OrNone, Setting, Whole, yes_or_no
from attncalc.problem.fields import DECODER, ENCODER, SETTINGS, VIT
from attncalc.schemas.pieces import (
    FLOAT,
    PLACE,
    TEXT,
    Schema,
    either,
    listed,
    named,
    nested,
    shared,
    thing,
)
from attncalc.schemas.problem import of_reader
from attncalc.studies.patterns.pattern import CODES

KINDS = ("self", "cross", ENCODER, DECODER, VIT)


def steps() -> Schema:
    """Return the schema of a problem's steps."""
    return thing(
        "A problem that attncalc can read back, and the results of its steps.",
        "attncalc kind title:text problem conventions steps notes:text*",
        "work connections patterns",
        attncalc={"type": "string", "description": "The version of attncalc that wrote it."},
        kind={"enum": list(KINDS)},
        steps=listed(shared("step")),
        work=listed(shared("entry")),
        patterns=listed(shared("pattern")),
        **{name: shared(name) for name in ("problem", "conventions", "connections")},
    )


def defined() -> dict[str, Schema]:
    """Return the definitions that the schema of steps uses."""
    lines = listed(shared("connection"))
    return {
        "conventions": _conventions(),
        "step": _step(),
        "value": either(FLOAT, {"enum": ["-inf", "inf", "nan"]}),
        "entry": _entry(),
        "connection": _connection(),
        "connections": either(lines, listed(lines), named(either(lines, listed(lines)))),
        "pattern": _pattern(),
    }


def _conventions() -> Schema:
    says = {name: _stated(each) for name, each in SETTINGS.items()}
    needs = {name: says.pop(name) for name in ("rounding", "decimals")}
    may = {**says, "scale": either(FLOAT, {"enum": ["none"]})}
    return thing("Sizes and settings that are not the default.", needs, {**may, "kv_heads": PLACE})


def _stated(setting: Setting) -> Schema:
    read = setting.read.read if isinstance(setting.read, OrNone) else setting.read
    if isinstance(read, OneOf | Whole) or read is yes_or_no:
        return of_reader(read)
    return {"type": ["number", "string", "array", "object"]}


def _step() -> Schema:
    shown = {**_entries(TEXT), "description": "The digits as shown; empty strings in a worksheet."}
    said = "Values in full precision; omitted in a worksheet."
    values = {**_entries(shared("value")), "description": said}
    words = "name:text formula:text rows:text* columns:text* shown"
    return thing("A step.", words, "heads:place values", shown=shown, values=values)


def _entries(entry: Schema) -> Schema:
    """Return the schema of a step's entries; the gradient of a list is a list."""
    return either(listed(entry), *nested(entry)["anyOf"])


def _entry() -> Schema:
    words = "step:text row:place column:place work:text shown:text exact:yes"
    return thing("How an entry is calculated.", words, "head:place")


def _connection() -> Schema:
    inputs = listed(thing("An input.", "input:text weight:float"))
    return thing(
        "The inputs an output attends to most and second most.",
        "output:text most second",
        most=inputs,
        second=inputs,
    )


def _pattern() -> Schema:
    return thing(
        "A fact about the weights; docs/patterns.md explains its values.",
        "code about:text text:text values",
        code={"enum": list(CODES)},
        values={"type": "object"},
    )
