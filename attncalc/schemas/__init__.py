"""JSON Schemas (2020-12) of input and output, generated from the declarations."""

from collections.abc import Callable

from attncalc.base.errors import InputError
from attncalc.base.typed import quoted
from attncalc.schemas import diagnosis, marking, problem, steps, studies
from attncalc.schemas.pieces import Schema, whole

_ALL: dict[str, tuple[str, Callable[[], Schema]]] = {
    "problem": ("a problem file", problem.problem),
    "steps": ("self, cross, encoder, decoder, vit, explain, open, aim --save", steps.steps),
    "marking": ("check, of one answer", marking.marking),
    "class": ("check, of a folder of answers", marking.class_of),
    "rubric": ("check --rubric", marking.rubric),
    "reading": ("check --reading", marking.reading),
    "dumps": ("check, of two dumps of a program", marking.dumps),
    "lessons": ("check --lesson", marking.lessons),
    "conformance": ("conform", marking.conformance),
    "why": ("why", marking.why),
    "variation": ("vary", studies.variation),
    "simulation": ("simulate", studies.simulation),
    "training": ("train", studies.training),
    "aim": ("aim", studies.aim),
    "counts": ("count", studies.counts),
    "generation": ("generate, open --generate", studies.generation),
    "next": ("open, without a layer", studies.probable),
    "layers": ("open --layer all, --lens, --rollout, --ablate, --patch", studies.layers),
    "doctor": ("doctor", diagnosis.doctor),
}
"""The subject of each schema, and the function that returns it."""
NAMES = tuple(_ALL)
OF = {name: says for name, (says, _) in _ALL.items()}
"""The subject of each schema: the commands whose JSON it describes."""


def schema(name: str) -> Schema:
    """Return a self-contained schema.

    Raises InputError if there is none with this name.

    >>> schema("marking")["$id"]
    'urn:attncalc:marking'
    """
    if name not in _ALL:
        raise InputError(f"there is no schema {quoted(name)}: there are {', '.join(NAMES)}")
    says, body = _ALL[name]
    parts = (problem, steps, marking, studies)
    defined = {each: body for part in parts for each, body in part.defined().items()}
    return whole(name, body(), f"attncalc: {says}", defined)
