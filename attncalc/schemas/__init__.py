"""JSON Schemas (2020-12) of input and output, generated from the declarations."""

from collections.abc import Callable
from typing import NamedTuple

from attncalc.base.errors import InputError
from attncalc.base.typed import quoted
from attncalc.schemas import diagnosis, marking, problem, steps, studies
from attncalc.schemas.pieces import Schema, shared, whole


class _Described(NamedTuple):
    """The subject of a schema, and the function that returns it."""

    says: str
    body: Callable[[], Schema]


def _problem() -> Schema:
    return {**shared("problem"), "description": "A file that attncalc reads."}


_ALL = {
    "problem": _Described("a problem file", _problem),
    "steps": _Described(
        "self, cross, encoder, decoder, vit, explain, open, aim --save", steps.steps
    ),
    "marking": _Described("check, of one answer", marking.marking),
    "class": _Described("check, of a folder of answers", marking.class_of),
    "rubric": _Described("check --rubric", marking.rubric),
    "reading": _Described("check --reading", marking.reading),
    "dumps": _Described("check, of two dumps of a program", marking.dumps),
    "lessons": _Described("check --lesson", marking.lessons),
    "conformance": _Described("conform", marking.conformance),
    "why": _Described("why", marking.why),
    "variation": _Described("vary", studies.variation),
    "simulation": _Described("simulate", studies.simulation),
    "training": _Described("train", studies.training),
    "aim": _Described("aim", studies.aim),
    "counts": _Described("count", studies.counts),
    "generation": _Described("generate, open --generate", studies.generation),
    "next": _Described("open, without a layer", studies.probable),
    "layers": _Described("open --layer all, --lens, --rollout, --ablate, --patch", studies.layers),
    "doctor": _Described("doctor", diagnosis.doctor),
}

NAMES = tuple(_ALL)
OF = {name: each.says for name, each in _ALL.items()}
"""The subject of each schema: the commands whose JSON it describes."""


def schema(name: str) -> Schema:
    """Return a self-contained schema.

    Raises InputError if there is none with this name.

    >>> schema("marking")["$id"]
    'urn:attncalc:marking'
    """
    if name not in _ALL:
        raise InputError(f"there is no schema {quoted(name)}: there are {', '.join(NAMES)}")
    found = _ALL[name]
    parts = (problem, steps, marking, studies)
    defined = {each: body for part in parts for each, body in part.defined().items()}
    return whole(name, found.body(), f"attncalc: {found.says}", defined)
