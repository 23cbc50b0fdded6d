"""Wrong weights: normalised along other lines, with other powers, of unfinished scores."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from attncalc.base.types import Range
from attncalc.equations.operation import Operation
from attncalc.equations.operations import (
    DivideBySqrt,
    DivideBySum,
    Mask,
    Multiply,
    SoftCap,
    Softmax,
)
from attncalc.equations.operations.distances import Alibi, RelativeBias
from attncalc.equations.rows import exponentials
from attncalc.grading.recipes.common import Read, Wrong, beside_sinks, done_right, times, transposed
from attncalc.problem.attention.attention import Attention
from attncalc.problem.step import Plan, Step

LEFT_OUT: dict[type[Operation], tuple[str, str]] = {
    DivideBySqrt: ("scale-none", "they are scaled"),
    Multiply: ("scale-none", "they are scaled"),
    SoftCap: ("cap-forgotten", "they are capped"),
    Alibi: ("alibi-forgotten", "slope times distance is taken off"),
    RelativeBias: ("rel-bias-forgotten", "the relative bias"),
    Mask: ("mask-forgotten", "the mask"),
}
"""Operations that may be missing in the normalised scores."""


def of_weights(step: Step, problem: Attention, steps: Plan) -> Iterator[Wrong]:
    """Yield the results of other lines, other powers, and other scores."""
    scores, *sinks = step.inputs
    line, other = problem.standing.line, problem.standing.line_across
    softmax = Softmax(masked=problem.is_masked)
    normalize = softmax if sinks else step.operation
    to_sum = DivideBySum(masked=problem.is_masked)

    def of(change: Callable[[Range], Range], read: Read) -> Range:
        return normalize.over(change(read(scores)))

    def across(read: Read) -> Range:
        return transposed(step.operation.over(transposed(read(scores)), *map(read, sinks)))

    def together(read: Read) -> Range:
        values = read(scores)
        flat = values.map(lambda end: end.reshape(*end.shape[:-2], 1, -1))
        made = step.operation.over(flat, *map(read, sinks))
        return made.map(lambda end: end.reshape(values.low.shape))

    def powers(read: Read) -> Range:
        return read(scores).map(exponentials)

    yield from _of_sinks(step, softmax, line)
    yield "softmax-columns", f"each {other} is made to sum to 1, not each {line}", across
    yield "softmax-whole", "the whole matrix is made to sum to 1, not each " + line, together
    if isinstance(step.operation, Softmax):
        says = f"each score is divided by the sum of its {line}: exp is left out"
        yield "no-exp", says, beside_sinks(step, lambda read: to_sum.over(read(scores)))
        yield "not-normalised", "exp of each score is taken, and not divided by the sum", powers
        for code, says, factor in (
            ("base-2", "powers of 2 are taken, not of e", float(np.log(2))),
            ("base-10", "powers of 10 are taken, not of e", float(np.log(10))),
            ("exp-negative", "exp(-s) is taken, not exp(s)", -1.0),
        ):
            changed = partial(of, partial(_powered, factor=factor))
            yield code, says, beside_sinks(step, changed)
        if problem.d_k > 1:
            says = f"the weights are divided by √d_k = √{problem.d_k}"
            yield "weights-scaled", says, partial(_scaled_weights, step, problem.d_k**-0.5)
    else:
        yield "softmax-not-asked", "softmax is taken", lambda read: softmax.over(read(scores))
    yield from _of_earlier_scores(step, steps)


def _of_earlier_scores(step: Step, steps: Plan) -> Iterator[Wrong]:
    """Yield the weights of scores that are not yet scaled, capped or masked."""
    by_name = {each.name: each for each in steps}
    last = by_name.get(step.inputs[0], step)  # given scores follow from nothing
    while found := next((each for each in LEFT_OUT if isinstance(last.operation, each)), None):
        code, words = LEFT_OUT[found]
        before = last.inputs[0]
        says = f"the weights are those of the scores before {words}"
        yield code, says, partial(_weights_of, step, before)
        if found is Mask:
            after = "the mask is laid on the weights after the softmax: they no longer sum to 1"
            yield "mask-after-softmax", after, partial(_masked_after, step, last.name, before)
        last = by_name.get(before, step)


def _of_sinks(step: Step, softmax: Softmax, line: str) -> Iterator[Wrong]:
    scores, *sinks = step.inputs
    for name in sinks:
        says = f"{name} are left out of the sum: the weights of each {line} sum to 1"
        yield "sink-forgotten", says, lambda read: softmax.over(read(scores))
        says = f"{name} are added to the sum as they are, and not e to them"
        yield "sink-no-exp", says, partial(_beside_plain_sinks, step)


def _beside_plain_sinks(step: Step, read: Read) -> Range | None:
    scores, sinks = map(read, step.inputs)
    if (sinks.low <= 0).any():
        return None
    return step.operation.over(scores, sinks.map(np.log))


def _powered(scores: Range, factor: float) -> Range:
    """Return scores multiplied by a factor; masked ones stay masked, for any sign."""
    forbidden = np.isneginf(scores.high)
    finite = scores.map(lambda end: np.where(forbidden, 0.0, end))
    return times(finite, factor).map(lambda end: np.where(forbidden, -np.inf, end))


def _scaled_weights(step: Step, factor: float, read: Read) -> Range:
    return times(done_right(step, read), factor)


def _weights_of(step: Step, scores: str, read: Read) -> Range:
    return step.operation.over(read(scores), *map(read, step.inputs[1:]))


def _masked_after(step: Step, masked: str, scores: str, read: Read) -> Range:
    forbidden = np.isneginf(read(masked).low)
    return _weights_of(step, scores, read).map(lambda end: np.where(forbidden, 0.0, end))
