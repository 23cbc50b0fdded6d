"""Recognizes the steps of a framework: transposed, scaled, masked, repeated or averaged.

A dump is not written for marking: `Q` may contain the rotated queries, heads may be the second
axis, keys may be repeated for each query head. Arrays are recognized only by their numbers, and
reported; an array that is neither right nor a known mistake is unchanged.
"""

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from attncalc.base.types import Matrix, Range
from attncalc.grading.causes import recipes_that_fit, results_of_recipes
from attncalc.grading.key import Key
from attncalc.grading.known import Known
from attncalc.grading.slack import stands_for_minus_infinity
from attncalc.problem.standing import split_heads
from attncalc.problem.step import Step
from attncalc.reading.answers.answer import Answer, WrittenMatrix

LATER = {
    "Q": ("Q_norm", "Q_rot"),
    "K": ("K_norm", "K_all", "K_rot"),
    "V": ("V_all",),
    "S": ("S_scaled", "S_capped", "S_masked"),
    "S_scaled": ("S_capped", "S_masked", "S"),
    "O": ("C", "H"),
}
"""The steps that may be stored under the name of another."""
Arrange = Callable[[Matrix], Matrix]


class Form(NamedTuple):
    """A layout of an array, and its conversion to that of the plan."""

    says: str
    arrange: Arrange


AS_IT_IS = Form("", lambda array: array)
BY_TOKENS = Form("(tokens, heads, width)", lambda array: array.swapaxes(0, 1))
TURNED = (
    Form("(heads, width, tokens)", lambda array: array.swapaxes(1, 2)),
    Form("(width, heads, tokens)", lambda array: array.transpose(1, 2, 0)),
)
"""Kᵀ, which frameworks store for the product; other transposed steps are mistakes."""


def recognized(key: Key, answer: Answer) -> Answer:
    """Return a program's dump with each array under its step, in the layout of the plan."""
    if answer.is_arranged:
        return answer
    matrices: dict[str, WrittenMatrix] = {}
    remarks: list[str] = []
    fresh = Known(key, key.slack)
    for name, written in answer.matrices.items():
        if name not in key.steps or written.problem or written.values.ndim not in (2, 3):
            matrices[name] = written
            continue
        found = Array(fresh, steps_named(key, name, answer.matrices), written).found()
        if found.step in matrices:
            matrices[name] = written
            continue
        matrices[found.step] = found.written
        remarks += [f"{name} is {said}" for said in found.says]
    return replace(answer, matrices=matrices, remarks=(*answer.remarks, *remarks))


class Found(NamedTuple):
    """The interpretation of an array: its step, its layout, and a remark."""

    step: str
    written: WrittenMatrix
    says: tuple[str, ...] = ()


def steps_named(key: Key, name: str, there: Container[str]) -> list[str]:
    """Return a step, and those that may be stored under its name and not under their own."""
    prefix, _, own = name.rpartition(".")
    later = (f"{prefix}.{each}" if prefix else each for each in LATER.get(own, ()))
    return [name, *(each for each in later if each in key.steps and each not in there)]


class Array:
    """An array of a dump, and its possible steps.

    steps: the steps that it may be, the one that its name says first.
    """

    def __init__(self, known: Known, steps: Sequence[str], written: WrittenMatrix) -> None:
        self.known, self.key, self.written = known, known.key, written
        self.name, self.steps = steps[0], steps

    def found(self) -> Found:
        """Return its interpretation: by its numbers, by a mistake with them, or by its shape."""
        found = self.by_numbers() or self.by_mistake()
        return found or self.by_shape() or Found(self.name, self.written)

    def by_numbers(self) -> Found | None:
        """Return its interpretation if its numbers are those of a step."""
        exact = self.key.exact
        stand = (each for each in self.forms() if self._fits(each, Range.at(exact[each.step])))
        return next(stand, None)

    def by_mistake(self) -> Found | None:
        """Return its interpretation if its numbers follow from the dump's own, or a mistake."""
        steps = self.key.steps
        for found in self.forms() if self.known.points else ():
            if self._fits(found, self.known.result(steps[found.step], None)):
                return found
        if (averaged := self._averaged()) is not None:
            return averaged
        for found in self.forms():
            if found.step != self.name and len(found.says) == 1 and self._is_forbidding(found):
                return found
        mistaken = (
            each
            for each in self.forms()
            if recipes_that_fit(self.known, steps[each.step], each.written)
        )
        return next(mistaken, None)

    def by_shape(self) -> Found | None:
        """Return its interpretation as the step that its name says, if it has a shape of it."""
        return next((each for each in self.forms() if each.step == self.name), None)

    def forms(self) -> Iterator[Found]:
        """Yield each layout with the shape of a step that it may be."""
        seen: set[tuple[str, str]] = set()
        # all steps in the plan's layout first: a transposed array may be another mistake
        for form in self._layouts():
            written = self.written if not form.says else self.written.arranged(form.arrange)
            for step in self.steps:
                shape = self.key.shown[step].shape
                for arranged, said in _without_repeats(written, shape):
                    if (step, said + form.says) in seen:
                        continue
                    seen.add((step, said + form.says))
                    title = self.key.steps[step].title
                    named = () if step == self.name else (f"taken for {step}, {title}",)
                    stands = (f"read as {form.says}",) if form.says else ()
                    yield Found(step, arranged, (*named, *stands, *((said,) if said else ())))

    def _layouts(self) -> tuple[Form, ...]:
        """Return the possible layouts; scores and weights have only one."""
        if self.written.values.ndim != 3 or self.key.steps[self.name].columns == "keys":
            return (AS_IT_IS,)
        turned = TURNED if self.name.rpartition(".")[2].startswith("K") else ()
        return (AS_IT_IS, BY_TOKENS, *turned)

    def _fits(self, found: Found, right: Range) -> bool:
        near = self.key.slack.near(found.written.values, found.written.decimals, right)
        return bool(near.all())

    def _is_forbidding(self, found: Found) -> bool:
        """Return whether it has replacements of −∞ for masked entries: it is masked."""
        right = self.key.shown[found.step]
        forbidden = np.isneginf(right)
        is_masked = self.key.steps[found.step].role == "masked" and forbidden.any()
        stands = stands_for_minus_infinity(found.written.values, right)
        return bool(is_masked and stands[forbidden].all())

    def _averaged(self) -> Found | None:
        """Return the weights of each head, if the array is their mean."""
        step = self.key.steps[self.name]
        right = self.key.exact[self.name]
        values = self.written.values
        if values.ndim == 3 and len(values) == 1:
            values = values[0]
        if step.role != "weights" or right.ndim != 3 or values.shape != right.shape[1:]:
            return None
        made = next(self._of_mean(step, right, values), None)
        if made is None:
            return None
        says = "averaged over the heads: their mean is compared, and not each head's own"
        decimals = np.broadcast_to(self.written.decimals.reshape(values.shape), right.shape)
        return Found(self.name, WrittenMatrix(made, decimals.copy()), (says,))

    def _of_mean(self, step: Step, right: Matrix, values: Matrix) -> Iterator[Matrix]:
        """Yield the heads, right or with one mistake, whose mean is the array."""
        decimals = np.zeros(values.shape)
        for made in (right, *results_of_recipes(self.known, step)):
            if made.shape == right.shape:
                mean = Range.at(made.mean(axis=0))
                if self.key.slack.near(values, decimals, mean).all():
                    yield made


def _without_repeats(
    written: WrittenMatrix, shape: tuple[int, ...]
) -> Iterator[tuple[WrittenMatrix, str]]:
    """Yield a matrix that has a shape, or has it after repeated heads are merged."""
    if written.shape == shape:
        yield written, ""
    elif len(shape) == 3 and written.shape == (shape[1], shape[0] * shape[2]):
        yield written.arranged(partial(split_heads, heads=shape[0])), ""
    elif written.values.ndim == 3 and written.shape[1:] == shape[-2:]:
        heads, count = written.values, shape[0] if len(shape) == 3 else 1
        times, rest = divmod(len(heads), count)
        if rest or not times:
            return
        if times == 1:
            yield written.arranged(lambda array: array[0]), ""
        elif np.array_equal(heads, np.repeat(heads[::times], times, axis=0)):
            said = f"repeated for each head that asks: {times} times, in turn"
            each = written.arranged(lambda array: array[::times])
            yield each if len(shape) == 3 else each.arranged(lambda array: array[0]), said
        elif np.array_equal(heads, np.tile(heads[:count], (times, 1, 1))):
            said = f"repeated {times} times as a whole: heads that ask take turns"
            yield written.arranged(lambda array: array[:count]), said
