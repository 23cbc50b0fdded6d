"""Wrong weights: normalised along other lines, by other powers, of scores that are not ready."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from attncalc.grading.recipes.common import Read, Wrong, times, transposed
from attncalc.numbers.types import Range
from attncalc.operations import DivideBySum, Softmax, exponentials
from attncalc.operations.step import Plan, Step
from attncalc.problem.problem import Problem


def of_weights(step: Step, problem: Problem, steps: Plan) -> Iterator[Wrong]:
    """Yield what comes of other lines, other powers, and other scores."""
    (scores,) = step.inputs
    line, other = problem.standing.line, problem.standing.line_across
    softmax = Softmax(masked=problem.is_masked)
    to_sum = DivideBySum(masked=problem.is_masked)

    def of(change: Callable[[Range], Range], read: Read) -> Range:
        return step.operation.over(change(read(scores)))

    def across(read: Read) -> Range:
        return transposed(step.operation.over(transposed(read(scores))))

    def together(read: Read) -> Range:
        values = read(scores)
        flat = values.map(lambda end: end.reshape(*end.shape[:-2], 1, -1))
        made = step.operation.over(flat)
        return made.map(lambda end: end.reshape(values.low.shape))

    def powers(read: Read) -> Range:
        return read(scores).map(exponentials)

    yield "softmax-columns", f"each {other} is made to sum to 1, not each {line}", across
    yield "softmax-whole", "the whole matrix is made to sum to 1, not each " + line, together
    if isinstance(step.operation, Softmax):
        yield (
            "no-exp",
            f"each score is divided by the sum of its {line}: exp is left out",
            lambda read: to_sum.over(read(scores)),
        )
        yield "not-normalised", "exp of each score is taken, and not divided by the sum", powers
        for base in (2, 10):
            says = f"powers of {base} are taken, not of e"
            yield f"base-{base}", says, partial(of, partial(times, factor=float(np.log(base))))
        yield (
            "exp-negative",
            "exp(-s) is taken, not exp(s)",
            partial(of, partial(times, factor=-1.0)),
        )
    else:
        yield "softmax-not-asked", "softmax is taken", lambda read: softmax.over(read(scores))
    yield from _of_earlier_scores(step, steps)


def _of_earlier_scores(step: Step, steps: Plan) -> Iterator[Wrong]:
    """Yield the weights of scores that are not scaled, capped or masked yet."""
    (scores,) = step.inputs
    by_name = {each.name: each for each in steps}
    says = {
        "S_scaled": ("scale-none", "the weights are those of the scores before they are scaled"),
        "S_capped": ("cap-forgotten", "the weights are those of the scores before they are capped"),
        "S_masked": ("mask-forgotten", "the weights are those of the scores before the mask"),
    }
    name = scores
    while name in says:
        before = by_name[name].inputs[0]
        code, words = says[name]
        yield code, words, partial(_weights_of, step, before)
        if name == "S_masked":
            after = "the mask is laid on the weights after the softmax: they no longer sum to 1"
            yield "mask-after-softmax", after, partial(_masked_after, step, name, before)
        name = before


def _weights_of(step: Step, scores: str, read: Read) -> Range:
    return step.operation.over(read(scores))


def _masked_after(step: Step, masked: str, scores: str, read: Read) -> Range:
    forbidden = np.isneginf(read(masked).low)
    return _weights_of(step, scores, read).map(lambda end: np.where(forbidden, 0.0, end))
