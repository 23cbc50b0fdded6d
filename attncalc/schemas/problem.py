"""The schema of a problem file, from the declared fields.

attncalc reads every file that it allows, and more: keys and words in any case and spelling.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from attncalc.problem.attention.declared import AttentionFields, even, read_scale
from attncalc.problem.attention.rope_scaling import NEEDS, UNSCALED, read_rope_scaling
from attncalc.problem.field import (
    AtLeast,
    MatrixField,
    OneOf,
    OrNone,
    Setting,
    Whole,
    names,
    number,
    sides,
    yes_or_no,
)
from attncalc.problem.fields import (
    ALIASES,
    GIVEN,
    NESTED,
    SETTINGS,
    TEXTS,
    WHOLE,
    read_ids,
    read_lines,
)
from attncalc.schemas.pieces import (
    LIST_OF_TEXTS,
    TEXT,
    YES_NO,
    Schema,
    either,
    listed,
    or_none,
    shared,
    thing,
)

_UNSIGNED = r"([0-9]+(\.[0-9]*)?|\.[0-9]+)"
_DECIMAL = rf"[+\-−–]?{_UNSIGNED}([eE][+\-−–]?[0-9]+)?"
_RATIO = rf"[+\-−–]?{_UNSIGNED} ?[/⁄∕] ?{_UNSIGNED}"
_VULGAR = r"[+\-−–]?[0-9]*[¼-¾⅐-⅞↉]"
_NUMBER = rf"({_DECIMAL}|{_RATIO}|{_VULGAR})"
NUMBER_TEXT, UNSIGNED_TEXT = rf"^\s*{_NUMBER}\s*$", rf"^\s*(?![−–-]){_NUMBER}\s*$"

_FACTOR: Schema = shared("number")
_READERS: Mapping[Callable[[Any], Any], Schema] = {
    number: _FACTOR,
    yes_or_no: YES_NO,
    names: either(TEXT, listed(TEXT, minItems=1)),
    even: {"type": "integer", "minimum": 2, "multipleOf": 2},
    sides: either(
        {"type": "integer", "minimum": 1},
        TEXT,
        listed({"type": "integer", "minimum": 1}, minItems=1, maxItems=2),
    ),
    read_ids: either(TEXT, listed({"type": "integer", "minimum": 0}, minItems=1)),
    read_lines: either(TEXT, LIST_OF_TEXTS),
    read_scale: either({"enum": ["sqrt_dk", "none"]}, _FACTOR),
    read_rope_scaling: either(
        TEXT,
        {
            "type": "object",
            "properties": {"rope_type": {"enum": [*NEEDS, UNSCALED]}},
            "required": ["rope_type"],
        },
    ),
}
"""The values of settings that are neither words nor whole numbers."""

_ENTRIES = {
    "marks": either({"enum": [0, 1]}, YES_NO, {"enum": ["0", "1"]}),
    "scores": either(_FACTOR, {"enum": ["-inf"]}),
}
"""The entries of matrices that are not only numbers, by role."""
_SIDES = {name: or_none(shared("attention")) for name in NESTED if name != "layers"}


def problem() -> Schema:
    """Return the schema of a problem file."""
    return {**shared("problem"), "description": "A file that attncalc reads."}


def of_setting(setting: Setting) -> Schema:
    """Return the schema of a setting's value."""
    return {
        **of_reader(setting.read),
        "description": setting.says,
        **({} if setting.default is None else {"default": _plain(setting.default)}),
    }


def of_reader(read: Callable[[Any], Any]) -> Schema:
    """Return the schema of the values that a setting's reader accepts."""
    if isinstance(read, OrNone):
        return of_reader(read.read)
    if isinstance(read, OneOf):
        return {"enum": list(read.values)}
    if isinstance(read, Whole):
        return {"type": "integer", "minimum": read.low, "maximum": read.high}
    if isinstance(read, AtLeast):
        lowest = {"exclusiveMinimum" if read.is_above else "minimum": read.low}
        return either({"type": "number", **lowest}, shared("unsignedText"))
    return _READERS[read]


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else float(value)
    return value


def of_given(given: MatrixField, name: str) -> Schema:
    """Return the schema of a matrix that can be given."""
    role = "scores" if name == "S" else given.role
    kind = role if role in _ENTRIES else "numbers"
    return {**shared(f"{kind}Matrix"), "description": given.says}


def defined() -> dict[str, Schema]:
    """Return the definitions that the schema of a problem uses."""
    of_side = {*AttentionFields.__dataclass_fields__} - {*WHOLE}
    of_layer = {*GIVEN, *SETTINGS} - {*WHOLE}
    return {
        "numberText": {"type": "string", "pattern": NUMBER_TEXT, "maxLength": 400},
        "unsignedText": {"type": "string", "pattern": UNSIGNED_TEXT, "maxLength": 400},
        "number": either({"type": "number"}, shared("numberText")),
        "numbersMatrix": _matrix(shared("number")),
        **{f"{role}Matrix": _matrix(entry) for role, entry in _ENTRIES.items()},
        "labels": either(LIST_OF_TEXTS, {"type": "object", "additionalProperties": LIST_OF_TEXTS}),
        "attention": thing("An attention of a decoder.", {}, _fields(of_side)),
        "layer": thing("A layer.", {}, {**_fields(of_layer), **_SIDES}),
        "problem": _problem(),
    }


def _matrix(entry: Schema) -> Schema:
    row = listed(entry, minItems=1)
    rows = listed(row, minItems=1)
    several = listed(rows, minItems=1)
    text = {"type": "string", "description": "Rows separated by ;, for example 1 0; 0 1."}
    return either(rows, row, several, text)


def _fields(among: set[str]) -> dict[str, Schema]:
    matrices = {n: of_given(each, n) for n, each in GIVEN.items() if n in among}
    settings = {n: or_none(of_setting(each)) for n, each in SETTINGS.items() if n in among}
    return matrices | settings


def _problem() -> Schema:
    fields = _fields({*GIVEN, *SETTINGS})
    alone = {
        "$schema": {"type": "string", "description": "For editors; attncalc ignores it."},
        **{name: or_none(TEXT) for name in TEXTS},
        "labels": or_none({**shared("labels"), "description": "The names of the tokens."}),
        "layers": or_none(listed(shared("layer"), minItems=1)),
        **_SIDES,
    }
    # as the homework names them
    others = {alias: fields[name] for alias, name in ALIASES.items() if alias.islower()}
    may = {**alone, **fields, **others}
    made = thing("An attention problem: matrices and conventions.", {}, may)
    # with equations, matrices may have other names
    own = {"required": ["equations"], "properties": {"equations": {"not": {"type": "null"}}}}
    del made["additionalProperties"]
    return made | {
        "if": own,
        "then": {
            "properties": dict.fromkeys(made["properties"], True),
            "additionalProperties": either(shared("numbersMatrix"), shared("number")),
        },
        "else": {"propertyNames": {"enum": list(made["properties"])}},
    }
