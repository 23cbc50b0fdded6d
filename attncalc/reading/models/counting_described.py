"""Counts of a model whose family a file describes, by the shapes of its tensors."""

from collections.abc import Iterator, Sequence
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from attncalc.base.arrays import Owned
from attncalc.base.errors import InputError
from attncalc.equations.operations.products import Project, Scoring, Weigh
from attncalc.equations.own import Own
from attncalc.problem.problem import Problem
from attncalc.reading.models.counting import USUAL_TOKENS
from attncalc.reading.models.family import NEXT
from attncalc.reading.models.folder import Shapes
from attncalc.reading.models.names import IN_OUT, is_buffer
from attncalc.reading.models.opening import Model
from attncalc.studies.counting import Count, Load, count_problem

_COUNTED = (Project, Scoring, Weigh, Own)
"""The operations whose work and results count, as in known families: products and equations."""
_OF_EXPERTS = ("F_1", "F_3", "F_E")
"""The steps of all experts, of which a token uses some."""


def count_described(folder: Path, family: Any, load: Load) -> Count:
    """Return the counts of a model; of its tensors, only shapes are read.

    Raises InputError if it does not read tokens, or a file is wrong.

    family, load: as in `Model`, and in `count_config`.
    """
    load.check()
    model = Model(folder, family=family)
    if model.family.takes != "tokens":
        what = f"it reads an {model.family.takes}"
        raise InputError(f"{folder}: {what}: of families in files, those that read tokens count")
    model.weights = Shapes(model.weights)
    found = Count(load._replace(tokens=load.tokens or USUAL_TOKENS))
    inner: set[str] = set()
    for side in filter(None, (model, model.decoder)):
        of_side = f"{side.family.settings['block']} " if model.decoder else ""
        kinds: dict[Any, list[int]] = {}
        for layer in range(side.count):
            starts = side.places_of(layer)
            names = [name for name in side.weights if name.startswith(starts)]
            shapes = tuple((_inside(name, starts), side.weights.shape(name)) for name in names)
            kind = repr(side.family.of_layer(side.config, layer)), shapes
            kinds.setdefault(kind, []).append(layer)
            inner |= {*names}
        for (_, shapes), layers in kinds.items():
            part = f"{of_side}layers" + (f" {_listed(layers)}" if len(kinds) > 1 else "")
            for name, shape in shapes:
                _add_tensor(found, side, name, shape, (part, len(layers)))
            _add_steps(found, side, layers, part)
    for name in (name for name in model.weights if name not in inner):
        _add_tensor(found, model, name, model.weights.shape(name), ("outside the layers", 0))
    return found


def _inside(name: str, starts: Sequence[str]) -> str:
    """Return the name of a tensor in a layer; of one in several lists, after that of its list."""
    start = next(each for each in starts if name.startswith(each))
    before = "" if len(starts) == 1 else f"{start.split('.')[-3]}."
    return before + name.removeprefix(start)


def _listed(layers: Sequence[int]) -> str:
    """Return numbers of layers as text, such as "0, 2 to 5"."""
    ends = [each for each in layers if each + 1 not in layers]
    starts = [each for each in layers if each - 1 not in layers]
    pairs = zip(starts, ends, strict=True)
    return ", ".join(f"{first}" if first == last else f"{first} to {last}" for first, last in pairs)


def _add_tensor(
    found: Count, side: Model, name: str, shape: tuple[int, ...], place: tuple[str, int]
) -> None:
    part, layers = place
    if not is_buffer(name) and not name.endswith(side.family.ignored):
        found.add("parameters", name, *shape, part=part, layers=layers)


def _add_steps(found: Count, side: Model, layers: Sequence[int], part: str) -> None:
    """Add the steps of layers of one kind, and after the last layer those of the head."""
    own = side.layer(layers[0])
    of_self, axis = own.get("self", own), 0 if own["weights_layout"] == IN_OUT else 1
    found.width = of_self["W_Q"].array.shape[axis]
    X = Owned(np.zeros((found.load.tokens or 0, found.width), np.float32))
    tokens = {"X1": X, "X2": X} if "self" in own else {"X": X}
    end = side.end(own["weights_layout"]) if side.count - 1 in layers else {}
    if end and side.head is not None and side.head.gives == NEXT:
        end["read"] = "all"
    inside = {step.name for step in Problem(**(own | tokens)).calculation.steps}
    whole = Problem(**(own | tokens | end))
    found.window = whole.attentions[0].window
    for what, name, factors in _terms(whole):
        is_of_head = what in ("multiply_adds", "results") and name not in inside
        place = ("head", 0) if is_of_head else (part, len(layers))
        found.add(what, name, *factors, part=place[0], layers=place[1])


def _terms(problem: Problem) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """Yield the counts of a problem other than parameters, without what models leave out."""
    steps = {step.name: step for step in problem.calculation.steps}
    found = count_problem(problem, Load()).terms
    sizes = {each.name: each.total for each in found["results"]}
    kinds = [kind for kind in found if kind != "parameters"]
    for what, each in ((kind, each) for kind in kinds for each in found[kind]):
        step, factors = steps.get(each.name), each.factors
        if step and what in ("multiply_adds", "results"):
            is_weights = what == "results" and step.role == "weights"
            if not is_weights and not isinstance(step.operation, _COUNTED):
                continue
        if step and what == "multiply_adds":
            has_bias = isinstance(step.operation, Project) and len(step.inputs) > 2
            work = prod(factors) - sizes[each.name] * has_bias
            if problem.n_experts and each.name in _OF_EXPERTS:
                work = work * (problem.top_k or problem.n_experts) // problem.n_experts
            factors = (work,)
        yield what, each.name, factors
