"""The steps that the names of tensors mean, as hooks and programs give them.

Names of modules are those of their weights: a module with W_Q gives the step that reads W_Q, and
its input is what that step reads.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from attncalc.equations.own import Own
from attncalc.equations.tree import Aggregate, Operator
from attncalc.problem.fields import own_name
from attncalc.problem.step import Step
from attncalc.reading.answers.npz_file import STATES
from attncalc.reading.models.families import DENSE
from attncalc.reading.models.layer import FUSED
from attncalc.reading.models.names import renamed, table
from attncalc.reading.naming.keys import name_of_key

_SCORES = ("S_masked", "S_capped", "S_scaled", "S")


def _steps(word: str) -> dict[str, tuple[str, ...]]:
    """Return the steps of each name in the lines of hooks.txt that begin with a word."""
    lines = table("hooks.txt", word).items()
    return {name: tuple(steps.split()) for steps, names in lines for name in names.split()}


_STEPS, _UNSURE = _steps("sure"), _steps("unsure")
_CROSS = {
    *("cross_attn", "crossattention", "cross_attentions"),
    *("encoder_attn", "EncDecAttention", "multihead_attn"),
}
_WHOLE = {**dict.fromkeys(("attn", "self_attn"), ("W_DKV", "W_Q")), "mlp": ("W_1",)}
"""Modules whose input is that of these weights: of the first that are there."""
_LISTS = ("layers", "layer", "h", "blocks", "block")
"""Modules that hold layers by their numbers."""
_EXPERTS = "experts"
"""The module of experts, each of which reads only some of the tokens."""
_PARTS = re.compile(r"[^.\[\]/()'\" ]+")
_ENDS = {"output": False, "outputs": False, "out": False, "input": True, "inputs": True}


class Meant(NamedTuple):
    """What a name says.

    parts: the steps that it may be, the likeliest first; several of these side by side in one
        array.
    is_sure: whether an array with other numbers is this step, too.
    layer: the number of the layer in it; None for none.
    """

    parts: tuple[tuple[str, ...], ...] = ()
    is_sure: bool = False
    layer: int | None = None


class Names:
    """The names of tensors, for the steps of a problem.

    steps: its steps, by name.
    own: fields by ends of names with a special meaning in a family of models; "" for names, and
        for fields, that modules do not give.
    later: the steps that programs store under the name of another.
    """

    def __init__(
        self, steps: Mapping[str, Step], own: Mapping[str, str], later: Mapping[str, Sequence[str]]
    ) -> None:
        self._steps, self._later = steps, later
        self._own, self._stated = {**DENSE, **own}, own
        is_scaled = "lambda_1" in own.values()  # by a layer scale, after its module
        others = {own_name(n) for n, step in steps.items() if not _is_of_modules(step)}
        self._scaled = {"O", "F_2"} if is_scaled else {"O", "F_2"} & others
        self._altered = {name for name, field in own.items() if not field}
        self._has_layers = any(name[0].isdigit() for name in steps)

    def meant(self, name: str) -> Meant:
        """Return what the name of a tensor says."""
        parts = _PARTS.findall(name)
        index = parts.pop() if len(parts) > 1 and parts[-1] in "0123" and parts[-2] in _ENDS else ""
        is_input = _ENDS.get(parts[-1]) if len(parts) > 1 else None
        if is_input is not None and not (parts[-2:] == ["attention", "output"] and not index):
            parts.pop()
        if len(parts) > 1 and parts[-2].endswith("attentions") and parts[-1].isdecimal():
            parts = [*parts[:-2], parts[-1], parts[-2]]
        numbers = [int(each) for each in parts if each.isdecimal() and len(each) < 5]
        layer = numbers[0] if numbers else None
        where = (layer, not _CROSS.isdisjoint(parts))
        if _EXPERTS in (parts if is_input else parts[:-1]):
            return Meant(layer=layer)
        meant = self._by_name(parts, is_input=bool(is_input), where=where)
        if index not in ("", "0") and not is_input:
            # attentions give their weights beside outputs; Llama 4's router its logits second
            own = meant.parts[0] if meant.parts else ()
            is_attention = not own or not {"A", "C"}.isdisjoint(map(own_name, own))
            weights = (n for each in self._found(("A",), where) for n in each if is_attention)
            return Meant((tuple(dict.fromkeys((*weights, *own))),), layer=layer)
        if not meant.parts and len(numbers) == 1 and parts[-1].isdecimal():
            own = ("X", "X_P") if is_input else ("Y",)
            meant = Meant(tuple(self._found(own, where)), is_sure=parts[-2] in _LISTS)
        if any(own_name(each[0]) in self._scaled for each in meant.parts):
            return Meant(layer=layer)
        return meant._replace(layer=layer)

    def _by_name(self, parts: Sequence[str], *, is_input: bool, where: "_Where") -> Meant:
        """Return the meaning of the longest known end of a name."""
        for start in range(len(parts)):
            end = ".".join(parts[start:])
            if is_input and end in _WHOLE:
                there = (n for n in _WHOLE[end] if n not in self._altered)
                found = (self._of_fields((n,), where, is_input=True) for n in there)
                return next((each for each in found if each.parts), Meant())
            if f"{end}.weight" in self._own:
                return self._by_weight(end, where, is_input=is_input)
            for listed, is_sure in ((_UNSURE, False), (_STEPS, True)):
                key = f"{end}.input" if is_input else end
                if key in listed:
                    steps = self._of_activation(parts) if listed[key] == ("G",) else listed[key]
                    return Meant(tuple(self._found(steps, where)), is_sure)
            meaning = renamed(f"{end}.weight", self._own)
            if meaning is not None and not meaning.prefix:
                return self._by_weight(end, where, is_input=is_input)
        said = name_of_key(STATES.get(parts[-1], parts[-1])) if parts and not is_input else None
        if said is None:
            return Meant()
        own = (said.matrix, *self._later.get(said.matrix, ()))
        return Meant(tuple(self._found(own, where)), is_sure=True)

    def _of_activation(self, parts: Sequence[str]) -> tuple[str, ...]:
        """Return the step of an activation; none for a module before a gate multiplies it."""
        own = "G_s" if any("shared" in each for each in parts) else "G"
        step = next((each for name, each in self._steps.items() if own_name(name) == own), None)
        is_before_gate = parts[-1].startswith("act") and step is not None and len(step.inputs) > 1
        return () if is_before_gate else (own,)

    def _by_weight(self, end: str, where: "_Where", *, is_input: bool) -> Meant:
        """Return the meaning of a module by that of its weight; tables of biases give no step."""
        meaning = renamed(f"{end}.weight", self._own)
        if meaning is None or not meaning.field.startswith(("W_", "gamma_")):
            return Meant()
        fields = FUSED.get(meaning.field, (meaning.field,))
        if not self._altered.isdisjoint(fields):
            return Meant()
        found = self._of_fields(fields[:1] if is_input else fields, where, is_input=is_input)
        return found._replace(is_sure=found.is_sure and not self._adds_later(fields, end))

    def _of_fields(self, fields: Sequence[str], where: "_Where", *, is_input: bool) -> Meant:
        """Return the steps that read these matrices, or what these read.

        A module gives only a part of what an equation of a family states, as a clipped projection.
        """
        read: dict[str, tuple[str, ...]] = {}
        for name, step in self._steps.items():
            for own in map(own_name, step.inputs if _is_of_modules(step) else ()):
                if own in fields and self._is_there(name, where):  # several: a module runs twice
                    read[own] = (*read.get(own, ()), step.inputs[0] if is_input else name)
        parts = tuple(read[own] for own in fields if own in read)
        return Meant(parts, is_sure=len(parts) == len(fields))

    def _adds_later(self, fields: Sequence[str], end: str) -> bool:
        """Return whether the bias of a weight is no part of its module: what it gives lacks it."""
        biases = {field.replace("W_", "b_") for field in fields}
        names = [name for name, field in self._stated.items() if field in biases]
        return bool(names) and f"{end}.bias" not in names

    def _found(self, steps: Sequence[str], where: "_Where") -> Iterator[tuple[str, ...]]:
        """Yield the steps of the problem with one of these own names."""
        named = {own: [n for n in self._steps if own_name(n) == own] for own in steps}
        there = [n for own in steps for n in named[own] if self._is_there(n, where)]
        if there or "X" in steps:
            yield (*there, *(("X",) if "X" in steps else ()))

    def _is_there(self, name: str, where: "_Where") -> bool:
        """Return whether a step is of the layer and of the attention that a name says."""
        layer, is_cross = where
        if self._has_layers and layer is not None and name.split(".")[0] != str(layer + 1):
            return False
        sides = [each for each in name.split(".")[:-1] if each in ("self", "cross")]
        return not sides or (sides == ["cross"]) == is_cross


def _is_of_modules(step: Step) -> bool:
    """Return whether modules give a step: an equation of a family has to be one sum of products."""
    right = step.operation.line.equation.right if isinstance(step.operation, Own) else None
    return right is None or (isinstance(right, Aggregate) and isinstance(right.body, Operator))


_Where = tuple[int | None, bool]
"""The layer of a name, and whether it is of cross-attention."""
