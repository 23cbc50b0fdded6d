"""Which operations the page's script knows too, and what it is told of each."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any

from attncalc.equations.operation import Operation
from attncalc.numbers.typed import as_written
from attncalc.operations.back_standing import Turned
from attncalc.operations.step import Plan, Step
from attncalc.problem.problem import Problem
from attncalc.solving.exactness import digits_for
from attncalc.solving.plan import plan
from attncalc.writing.live.data import given_data, settings_data

ALWAYS: Mapping[str, tuple[str, ...]] = {
    "Activate": ("kind",),
    "Add": (),
    "Concat": (),
    "DivideBySqrt": ("d_k",),
    "DivideBySum": ("masked", "first_row"),
    "FeatureMean": (),
    "FeatureSquares": (),
    "FeatureVariance": ("ddof",),
    "Gate": ("kind",),
    "Given": (),
    "HardMax": ("masked",),
    "Mask": ("masks", "causal_from", "window", "is_causal"),
    "Mean": (),
    "Multiply": ("factor",),
    "Normalise": ("eps", "is_inside", "is_centred", "has_gain", "has_bias"),
    "Project": ("is_turned",),
    "Rotate": ("base", "offset", "pairing", "scaling", "dims", "is_back"),
    "Same": (),
    "Scores": ("clears_dust",),
    "Sinusoids": ("offset",),
    "SoftCap": ("cap",),
    "Softmax": ("masked", "shifted", "has_sink"),
    "Stack": (),
    "TakeRow": ("which",),
    "TokenMean": (),
    "Weigh": ("of_shares",),
}
"""The operations of `operations.js`, and those of their parameters that it knows."""
OTHERS: Mapping[str, tuple[str, ...]] = {
    "AdditiveScores": ("is_concat",),
    "Alibi": ("place", "heads", "farthest", "is_near", "has_own"),
    "ConcatScores": ("is_concat",),
    "DistanceScores": (),
    "Lookup": ("first",),
    "Patches": ("size",),
    "ProjectBack": (),
    "RelativeBias": ("place", "buckets", "longest", "both_ways", "stands"),
}
"""Those of `others.js`, which stands in the pages alone that need it."""
GRADIENTS: Mapping[str, tuple[str, ...]] = {
    "ActivateBack": ("kind",),
    "CentreBack": ("normalise",),
    "CrossEntropy": ("ids",),
    "Descend": ("rate", "is_turned", "of_heads"),
    "Difference": (),
    "DivideBySumBack": (),
    "GainBack": ("normalise", "to"),
    "GatedBack": ("kind",),
    "HalfSquares": (),
    "LessOneHot": ("ids",),
    "MaskBack": ("mask",),
    "MeanBack": ("features",),
    "Ones": (),
    "PlaceRow": ("which", "rows"),
    "QuotientBack": ("normalise",),
    "ShareAmongHeads": ("heads",),
    "ShareAmongRows": ("rows",),
    "SoftCapBack": ("cap",),
    "SoftmaxBack": (),
    "SplitHeads": ("heads",),
    "SpreadBack": ("normalise",),
    "SquaresBack": (),
    "SumTo": ("to", "over_heads"),
    "TakeRows": ("start", "stop"),
    "TimesTransposed": ("heads", "sharing"),
    "Total": (),
    "TotalProduct": (),
    "TransposedTimes": ("heads", "sharing", "is_turned"),
    "VarianceBack": ("ddof",),
}
"""Those of `gradients.js`, likewise."""
BACKS: Mapping[str, tuple[str, ...]] = {
    "BucketBack": ("place", "buckets"),
    "DistanceBack": ("to", "is_of_keys"),
    "GatherRows": ("rows", "first"),
    "PatchesBack": ("size", "to"),
    "SinkBack": ("to",),
    "SlopeBack": ("place", "to"),
    "TanhBack": ("scores", "to", "shapes"),
}
"""Those of `backs.js`: the gradients of what is in `others.js`, which may be `Turned` there."""
RARE = frozenset({"SoftmaxBesideSink", "RotateOtherwise", "ProjectTurned", "ScoresCleared"})
"""What else stands in `others.js`: what operations of every page do rarely."""
OF_MESSAGES = frozenset({"of", "eps_field"})
"""Parameters that only Python's messages read."""
OF_TURNS = ("scaling", "dims", "is_back")
MIRRORED: Mapping[str, tuple[str, ...]] = {**ALWAYS, **OTHERS, **GRADIENTS, **BACKS}

TWO = ("DistanceScores", "FeatureVariance", "Gate", "Lookup", "RelativeBias", "Scores", "Stack")
"""Those that read two matrices; the others read one, but those with parts that may be missing."""
VALUES: Mapping[str, frozenset[object]] = {
    "kind": frozenset({"relu", "gelu", "gelu-tanh", "silu", "tanh"}),
    "pairing": frozenset({"halves", "interleaved"}),
    "which": frozenset({"first", "last"}),
}
"""The values of choices that it knows."""
SEVERAL: Mapping[str, tuple[int, ...]] = {
    **dict.fromkeys(GRADIENTS, (1, 2, 3, 4, 5)),
    **dict.fromkeys(BACKS, (1, 2, 3)),
    "TanhBack": (4, 5, 6),
    "Add": tuple(range(2, 100)),
    "AdditiveScores": (3, 4),
    "Alibi": (1, 2),
    "ConcatScores": (4, 5),
    "Project": (2, 3),
    "ProjectBack": (2, 3),
    "Rotate": (1, 2),
    "Softmax": (1, 2),
    "Weigh": (2,),
}
"""How many matrices those may read that read more than two, or not always as many."""
MASKS = frozenset({"keep", "ignore", "bias"})
_MISSING = object()
"""Stands for a parameter that there is not."""


def unknown_in(steps: Plan) -> str | None:
    """Return the first step that the script cannot work out, or None.

    An operation with a parameter that is new here is not known, unless it is at its default; and
    none that reads another number of matrices.
    """
    return next((step.name for step in steps if not _is_known(step)), None)


def _is_known(step: Step) -> bool:
    operation = _unturned(step.operation)
    name = type(operation).__name__
    if operation is not step.operation and name not in BACKS:
        return False
    if name not in MIRRORED or len(step.inputs) not in _counts(operation, name):
        return False
    return _is_known_alone(operation)


def _unturned(operation: Operation) -> Operation:
    return operation.of if isinstance(operation, Turned) else operation


def _is_known_alone(operation: Operation) -> bool:
    name = type(operation).__name__
    if not all(_is_told(operation, each) for each in MIRRORED[name]):
        return False
    told = {*MIRRORED[name], *OF_MESSAGES}
    others = (each for each in _parameters(operation) if each.name not in told)
    return all(getattr(operation, each.name) == each.default for each in others)


def _is_told(operation: Operation, parameter: str) -> bool:
    """Say whether the script can be told of a parameter, and knows its value."""
    value = getattr(operation, parameter, _MISSING)
    if parameter == "masks":
        return isinstance(value, tuple) and set(value) <= MASKS
    if parameter in VALUES:
        return value in VALUES[parameter]
    if isinstance(value, Operation):
        return _is_known_alone(value)
    return _is_plain(value)


def _is_plain(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, bool | int | str | Fraction)


def _counts(operation: Any, name: str) -> tuple[int, ...]:
    """Return how many matrices the script lets an operation read."""
    if name in SEVERAL:
        return SEVERAL[name]
    if name == "Mask":
        return (1 + len(operation.masks),)
    if name == "Normalise":
        return (2 + operation.is_centred + operation.has_gain + operation.has_bias,)
    return (2 if name in TWO else 1,)


def _parameters(operation: Operation) -> tuple[Any, ...]:
    return fields(operation) if is_dataclass(operation) else ()


def name_of(step: Step) -> str:
    """Return what the script calls the operation of a step: what is rare has a name of its own."""
    operation = _unturned(step.operation)
    name = type(operation).__name__
    if name == "Softmax" and len(step.inputs) > 1:
        return "SoftmaxBesideSink"
    if name == "Project" and getattr(operation, "is_turned", False):
        return "ProjectTurned"
    if name == "Scores" and getattr(operation, "clears_dust", False):
        return "ScoresCleared"
    is_plain = len(step.inputs) == 1 and not any(getattr(operation, each, 0) for each in OF_TURNS)
    return "RotateOtherwise" if name == "Rotate" and not is_plain else name


def step_in_data(step: Step) -> dict[str, Any]:
    """Return a step as the script reads it: its operation by name, numbers as texts."""
    return {
        "name": step.name,
        "title": step.title,
        "op": name_of(step),
        "inputs": list(step.inputs),
        "role": step.role,
        **_parameters_in_data(_unturned(step.operation)),
        **({"turns": True} if isinstance(step.operation, Turned) else {}),
    }


def _parameters_in_data(operation: Operation) -> dict[str, Any]:
    known = MIRRORED[type(operation).__name__]
    return {each: _value(getattr(operation, each)) for each in known}


def _value(value: Any) -> Any:
    if isinstance(value, Operation):
        return _parameters_in_data(value)
    if isinstance(value, Fraction):
        return as_written(value)
    return [_value(each) for each in value] if isinstance(value, tuple) else value


def mirror_data(problem: Problem) -> dict[str, Any]:
    """Return a problem as marking reads it in a worksheet for practice."""
    steps = plan(problem)
    digits = digits_for(problem, steps)
    return {
        "settings": settings_data(problem),
        "digits": None if digits is None else digits._asdict(),
        "given": {name: given_data(problem, name) for name in problem.names},
        "steps": [step_in_data(step) for step in steps],
    }
