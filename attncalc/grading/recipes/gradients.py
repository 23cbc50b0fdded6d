"""Wrong gradients: transposed wrongly, through half a Jacobian, through one path of several."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from attncalc.base.types import Range
from attncalc.equations.operation import PLAIN, Stated, Statement
from attncalc.equations.operations import Add, DivideBySqrt, Multiply, Scores, Softmax, Weigh
from attncalc.grading.recipes.common import (
    Make,
    Read,
    Wrong,
    done_right,
    entry_by_entry,
    less,
    times,
    total,
    transposed,
)
from attncalc.problem.fields import own_name, role_of
from attncalc.problem.gradients.naming import gradient_from
from attncalc.problem.problem import Problem
from attncalc.problem.step import Plan, Step

SLOPES = ("ReLUBack", "GELUBack", "GELUtanhBack", "SiLUBack", "TanhBack")


def of_gradients(step: Step, problem: Problem, steps: Plan) -> Iterator[Wrong]:
    """Yield the wrong recipes of a step of the backward pass."""
    operation = step.operation
    if gradient_from(step.name) is None:  # a step after gradient descent
        yield from _of_entries(step)
    elif operation.name in ("SoftmaxBack", "DivideBySumBack"):
        yield from _of_jacobian(step, problem, steps)
    elif operation.name == "TransposedTimes":
        yield from _of_transposed_times(step, steps)
    elif operation.name in ("TimesTransposed", "Scores", "GroupedScores"):
        yield from _of_times_transposed(step)
        yield from _of_other_factors(step, steps)
    elif operation.name in ("Weigh", "GroupedWeigh"):
        yield from _of_times(step)
        yield from _of_other_factors(step, steps)
    elif isinstance(operation, DivideBySqrt | Multiply):
        yield from _of_scale(step)
    elif isinstance(operation, Add):
        yield from _of_parts(step)
    else:
        yield from _of_entries(step)
    yield from _of_the_whole(step, steps)


def _of_the_whole(step: Step, steps: Plan) -> Iterator[Wrong]:
    """Yield mistakes of any gradient: another one in its place, transposed, or its signs."""
    for other in _like(step.name, steps):
        yield f"gradient-swapped:{other}", f"it is {other}, and not {step.name}", _reading(other)
    says = f"the rows of {step.name} are written as columns"
    yield "transposed", says, lambda read: transposed(done_right(step, read))
    yield "negated", "every sign is the other one", lambda read: times(done_right(step, read), -1.0)


def _of_jacobian(step: Step, problem: Problem, steps: Plan) -> Iterator[Wrong]:
    """Yield the results of half the Jacobian of softmax, or of its sum along other lines."""
    *_, A, dA = step.inputs
    line, other = problem.standing.line, problem.standing.line_across

    def diagonal(read: Read) -> Range:
        weights = read(A)
        return entry_by_entry(read(dA), entry_by_entry(weights, weights.map(lambda end: 1 - end)))

    def with_sum(axis: int, read: Read) -> Range:
        mean = total(entry_by_entry(read(A), read(dA)), axis=axis)
        return entry_by_entry(read(A), less(read(dA), mean))

    def unweighted(read: Read) -> Range:
        return entry_by_entry(read(A), less(read(dA), total(read(dA), axis=-1)))

    says = "the Jacobian is taken as its diagonal, A(1 - A): the entries beside it are left out"
    yield "jacobian-diagonal", says, diagonal
    says = f"{A} ⊙ {dA} is added along each {other}, not along each {line}"
    yield "rowsum-axis", says, partial(with_sum, -2)
    says = f"the sum of {A} ⊙ {dA} along each {line} is not taken off"
    yield "rowsum-forgotten", says, lambda read: entry_by_entry(read(A), read(dA))
    says = f"the sum of {dA} along each {line} is taken off, and not that of {A} ⊙ {dA}"
    yield "rowsum-unweighted", says, unweighted
    says = f"{dA} is taken as it is: the softmax is not gone back through"
    yield "softmax-back-forgotten", says, lambda read: read(dA)
    yield from _of_mask(step, A, dA, steps)


def _of_mask(step: Step, A: str, dA: str, steps: Plan) -> Iterator[Wrong]:
    """Yield the result of a gradient that is not 0 for masked entries."""
    weights = next(each for each in steps if each.name == A)
    # given scores are not a step
    masked = next((each for each in steps if each.name == weights.inputs[0]), None)
    if masked is None or masked.role != "masked":
        return
    says = "the gradient is not 0 where the mask forbids"

    def let_through(read: Read) -> Range:
        forbidden = np.isneginf(read(masked.name).low)
        return done_right(step, read).replaced(forbidden, read(dA))

    yield "mask-gradient", says, let_through
    if isinstance(weights.operation, Softmax):

        def unmasked(read: Read) -> Range:
            return step.operation.over(Softmax().over(read(masked.inputs[0])), read(dA))

        yield "mask-gradient", f"{says}: the weights are those without it", unmasked


def _of_transposed_times(step: Step, steps: Plan) -> Iterator[Wrong]:
    """Yield the results of Aᵀ B without its transpose, transposed, or for fewer heads."""
    left, right = step.inputs
    says = f"{left} is not transposed: {left} {right} is computed, not {left}ᵀ {right}"
    yield "transpose-forgotten", says, lambda read: Weigh().over(read(left), read(right))
    found = step.operation.statement(PLAIN, PLAIN)
    if (sharing := int(found.settings.get("sharing", 1))) > 1:
        yield from _of_shared(step, sharing, has_heads="grouped" in found.given)
    for other in _like(right, steps):
        says = f"{other} is used in place of {right}"
        yield (
            f"gradient-swapped:{other}",
            says,
            partial(_with_other, step, {right: other}),
        )


def _of_shared(step: Step, sharing: int, *, has_heads: bool) -> Iterator[Wrong]:
    """Yield the results without the sum over the gradients of heads that share a matrix."""
    left, right = step.inputs

    def of_one(place: int, read: Read) -> Range:
        each = Stated(Statement("TransposedTimes"))
        made = each.over(read(left), read(right))
        picked = made.map(lambda end: end[place::sharing])
        return picked if has_heads else picked.map(lambda end: end[0])

    for place, which in ((0, "first"), (sharing - 1, "last")):
        says = f"the gradients of the heads that share are not added: that of the {which} is kept"
        yield "heads-not-added", says, partial(of_one, place)

    def mean(read: Read) -> Range:
        return times(done_right(step, read), 1 / sharing)

    yield "heads-averaged", "the gradients of the heads that share are averaged, not added", mean


def _like(name: str, steps: Plan) -> Iterator[str]:
    """Yield the other gradients that may be confused with one: dK for dQ."""
    start, _, own = name.rpartition("d")
    if own not in ("Q", "K", "V"):
        return
    names = {each.name for each in steps}
    for other in ("Q", "K", "V"):
        if other != own and f"{start}d{other}" in names:
            yield f"{start}d{other}"


def _with_other(step: Step, instead: dict[str, str], read: Read) -> Range:
    return step.operation.over(*(read(instead.get(name, name)) for name in step.inputs))


def _of_times_transposed(step: Step) -> Iterator[Wrong]:
    """Yield the results of A Bᵀ without its transpose."""
    left, right = step.inputs
    says = f"{right} is not transposed: {left} {right} is computed, not {left} {right}ᵀ"

    def untransposed(read: Read) -> Range:
        return step.operation.over(read(left), transposed(read(right)))

    yield "transpose-forgotten", says, untransposed
    says = f"{right} {left}ᵀ is computed, not {left} {right}ᵀ"
    yield "product-turned", says, lambda read: transposed(done_right(step, read))


def _of_other_factors(step: Step, steps: Plan) -> Iterator[Wrong]:
    """Yield the results of K for V or Q in a product, and of ones for the arriving gradient."""
    gradient, right = step.inputs
    start, own = right[: -len(own_name(right))], own_name(right)
    names = {each.name for each in steps}
    for other in ("Q", "K", "V") if own in ("Q", "K", "V") else ():
        if other != own and start + other in names:
            says = f"{start}{other} is used in place of {right}"
            made = partial(_with_other, step, {right: start + other})
            yield f"factor-swapped:{start}{other}", says, made
    if role_of(gradient) == "arriving":
        says = f"every entry of {gradient} is taken as 1"

        def of_ones(read: Read) -> Range:
            ones = read(gradient).map(np.ones_like)
            return step.operation.over(ones, read(right))

        yield "arriving-ones", says, of_ones


def _reading(name: str) -> Make:
    return lambda read: read(name)


def _of_times(step: Step) -> Iterator[Wrong]:
    """Yield the results of dS K with either of them transposed."""
    left, right = step.inputs
    says = f"{left} is transposed: {left}ᵀ {right} is computed, not {left} {right}"
    yield "weights-turned", says, lambda read: Weigh().over(transposed(read(left)), read(right))
    says = f"{right} is transposed: {left} {right}ᵀ is computed, not {left} {right}"
    yield "transpose-added", says, lambda read: Scores().over(read(left), read(right))


def _of_scale(step: Step) -> Iterator[Wrong]:
    """Yield the results of no scale in the backward pass, or of applying it twice."""
    (gradient,) = step.inputs
    says = "the scale is forgotten in the backward pass"
    yield "scale-back-forgotten", says, lambda read: read(gradient)
    says = "the scale is used twice in the backward pass"

    def twice(read: Read) -> Range:
        return step.operation.over(done_right(step, read))

    yield "scale-back-twice", says, twice

    def inverse(read: Read) -> Range | None:
        once = step.operation.over(Range.at(np.ones((1, 1)))).low.item()
        return times(read(gradient), 1 / once) if once else None

    yield "scale-back-inverse", "the gradient is divided by the scale of the scores", inverse


def _of_parts(step: Step) -> Iterator[Wrong]:
    """Yield the results of a sum over paths without one, or with only one."""
    names = step.inputs
    for left_out in names:
        kept = [name for name in names if name != left_out]
        says = f"{left_out} is not added"
        yield f"part-not-added:{left_out}", says, partial(_sum_of, kept)
    for only in names if len(names) > 2 else ():
        says = f"{only} alone is taken: the gradients of the other ways are not added"
        yield f"part-alone:{only}", says, partial(_sum_of, [only])


def _sum_of(names: list[str], read: Read) -> Range:
    if len(names) == 1:
        return read(names[0])
    return Add().over(*map(read, names))


def _of_entries(step: Step) -> Iterator[Wrong]:
    """Yield the results without slopes, ones and rates."""
    operation, last = step.operation, step.inputs[-1]
    if operation.name == "SumTo":
        says = f"the rows of {last} are averaged, and not added"

        def mean(read: Read) -> Range:
            return times(done_right(step, read), 1 / read(last).low.shape[-2])

        yield "mean-for-sum", says, mean
    elif operation.name in SLOPES and len(step.inputs) == 2:
        says = "the slope of the activation is left out"
        yield "slope-forgotten", says, lambda read: read(last)
    elif operation.name == "LessOneHot":
        yield "onehot-forgotten", "the one-hot target is not taken off", lambda read: read(last)
    elif operation.name == "Difference":
        says = f"{last} is not taken off"
        yield "target-forgotten", says, lambda read: read(step.inputs[0])
    elif operation.name == "Descend":
        yield from _of_descent(step)


def _of_descent(step: Step) -> Iterator[Wrong]:
    """Yield the results of gradient ascent, or of a step by the entire gradient."""
    weights, gradient = step.inputs

    def with_gradient(factor: float, read: Read) -> Range:
        return step.operation.over(read(weights), times(read(gradient), factor))

    whole = 1 / float(step.operation.statement().settings["rate"])
    yield "step-up", "the gradient is added, not taken off", partial(with_gradient, -1.0)
    yield "rate-forgotten", "the whole gradient is taken off", partial(with_gradient, whole)
