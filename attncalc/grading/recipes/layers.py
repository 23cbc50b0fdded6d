"""Wrong steps of layers: sums left out, other variances, activations forgotten, rows mixed up."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np

from attncalc.base.types import Matrix, Range
from attncalc.equations.operations import Add, Project, Softmax
from attncalc.equations.operations.assembling import TakeRow, TokenMean
from attncalc.equations.operations.entrywise import KINDS, Activate, Gate
from attncalc.equations.operations.normalising import (
    FeatureMean,
    FeatureSquares,
    FeatureVariance,
    Normalise,
)
from attncalc.equations.rows import exponentials
from attncalc.grading.recipes.common import (
    Read,
    Wrong,
    done_right,
    entry_by_entry,
    times,
    transposed,
)
from attncalc.grading.recipes.tokens import of_tokens
from attncalc.problem.problem import Problem
from attncalc.problem.step import Plan, Step

ROWS: dict[str, TakeRow | TokenMean] = {
    "first": TakeRow("first"),
    "last": TakeRow("last"),
    "mean": TokenMean(),
}


def of_layers(step: Step, problem: Problem, steps: Plan) -> Iterator[Wrong]:
    """Yield the wrong recipes of a step of a part that is not an attention."""
    yield from of_tokens(step, steps)
    yield from of_normalised(step, steps)
    if isinstance(step.operation, Activate | Gate):
        yield from _of_activation(step, step.operation)
    elif isinstance(step.operation, Project):
        yield from _of_projection(step, problem, steps)
    elif isinstance(step.operation, TakeRow | TokenMean):
        yield from _of_reading(step)
    says = f"the rows of {step.name} are written as columns"
    yield "transposed", says, lambda read: transposed(done_right(step, read))
    yield "negated", "every sign is the other one", lambda read: times(done_right(step, read), -1.0)


def of_normalised(step: Step, steps: Plan) -> Iterator[Wrong]:
    """Yield the wrong recipes of a step of a normalisation."""
    yield from _of_feature(step, steps)
    if isinstance(step.operation, Normalise):
        yield from _of_normalising(step, step.operation, steps)


def _of_feature(step: Step, steps: Plan) -> Iterator[Wrong]:
    """Yield the results of other sums, means and variances, and of logits not normalised."""
    operation, first = step.operation, step.inputs[0]
    if isinstance(operation, Add):
        yield from _of_sum(step, steps)
    elif isinstance(operation, FeatureMean):
        yield from _of_mean(first)
    elif isinstance(operation, FeatureVariance):
        yield from _of_variance(step, operation)
    elif isinstance(operation, FeatureSquares):
        says = "the mean is taken off before squaring: that is the variance"
        yield "mean-subtracted", says, partial(_variance_of, first, 0)
    elif isinstance(operation, Softmax):
        says = "exp of each logit is taken, and not divided by the sum"
        yield "not-normalised", says, lambda read: read(first).map(exponentials)


def _of_sum(step: Step, steps: Plan) -> Iterator[Wrong]:
    """Yield the results of a residual sum without its residual, or with that normalised."""
    before, given = step.inputs
    what = "positions" if step.name.endswith("_P") else "residual"
    left, kept = (given, before) if what == "positions" else (before, given)
    yield f"{what}-forgotten", f"{left} is not added", lambda read: read(kept)
    yield "part-forgotten", f"{kept} is not added to {left}", lambda read: read(left)
    says = f"{given} is taken off {before}, to which it should be added"

    def less(read: Read) -> Range:
        return step.operation.over(read(before), times(read(given), -1.0))

    yield f"{what}-subtracted", says, less
    for other in steps:
        if isinstance(other.operation, Normalise) and other.inputs[0] == before:
            says = f"{other.name} is added, and not {before}"
            yield "residual-of-normalised", says, partial(_added, step, other.name, given)


def _added(step: Step, left: str, right: str, read: Read) -> Range:
    return step.operation.over(read(left), read(right))


def _of_mean(tokens: str) -> Iterator[Wrong]:
    says = "the features are added, and not divided by their number"

    def total(read: Read) -> Range:
        values = read(tokens)
        return times(FeatureMean().over(values), float(values.low.shape[-1]))

    yield "sum-for-mean", says, total
    says = "the mean is that of each feature over the tokens, not of each token over its features"
    yield "mean-over-tokens", says, lambda read: FeatureMean().over(transposed(read(tokens)))


def _of_variance(step: Step, operation: FeatureVariance) -> Iterator[Wrong]:
    tokens, mean = step.inputs
    other = replace(operation, ddof=1 - operation.ddof)
    count = "d - 1" if other.ddof else "d"
    says = f"the squares are divided by {count}"

    def of_other(read: Read) -> Range:
        return other.over(read(tokens), read(mean))

    def root(read: Read) -> Range:
        return done_right(step, read).map(np.sqrt)

    def total(read: Read) -> Range:
        return times(done_right(step, read), float(read(tokens).low.shape[-1] - operation.ddof))

    yield "variance-other-count", says, of_other
    yield "deviation-for-variance", "the root is taken: that is the standard deviation", root
    yield "variance-not-divided", "the squares are added, and not divided by their number", total
    says = "the mean is not taken off before squaring"
    yield "mean-not-subtracted", says, lambda read: FeatureSquares().over(read(tokens))
    says = "the variance is that of each feature over the tokens, not of each token"

    def over_tokens(read: Read) -> Range:
        turned = transposed(read(tokens))
        return operation.over(turned, FeatureMean().over(turned))

    yield "mean-over-tokens", says, over_tokens


def _of_normalising(step: Step, operation: Normalise, steps: Plan) -> Iterator[Wrong]:
    """Yield the results of other divisors, without gain or bias, and of other tokens."""

    def otherwise(changed: Normalise, read: Read) -> Range:
        return changed.over(*map(read, step.inputs))

    place = "inside" if not operation.is_inside else "outside"
    if operation.eps:
        moved = replace(operation, is_inside=not operation.is_inside)
        yield f"eps-{place}", f"ε stands {place} the root", partial(otherwise, moved)
        yield (
            "eps-forgotten",
            "ε is not added",
            partial(otherwise, replace(operation, eps=Fraction(0))),
        )
    yield from _of_divisors(step, operation)
    yield from _of_gain_and_bias(step, operation)
    says = "each feature is normalised over the tokens, not each token over its features"
    yield "mean-over-tokens", says, partial(_normalised_turned, step, operation)
    by_name = {each.name: each for each in steps}
    tokens = by_name.get(step.inputs[0])
    for other in tokens.inputs if tokens and isinstance(tokens.operation, Add) else ():
        says = f"{other} is normalised, and not {step.inputs[0]}"
        yield f"norm-of-other:{other}", says, partial(_normalised, step, operation, other)
    says = f"{step.inputs[0]} is not normalised"
    yield "norm-forgotten", says, lambda read: read(step.inputs[0])


def _of_divisors(step: Step, operation: Normalise) -> Iterator[Wrong]:
    spread = step.inputs[1 + operation.is_centred]

    def with_spread(change: str, read: Read) -> Range:
        inputs = [read(name) for name in step.inputs]
        place = step.inputs.index(spread)
        width = inputs[0].low.shape[-1]
        if change == "square":
            inputs[place] = inputs[place].map(lambda end: end * end)
        else:
            inputs[place] = times(inputs[place], width / max(width - 1, 1))
        return operation.over(*inputs)

    says = "it is divided by the variance, and not by its root"
    yield "variance-for-deviation", says, partial(with_spread, "square")
    if operation.is_centred:
        says = "the variance is divided by d - 1"
        yield "variance-other-count", says, partial(with_spread, "sample")


def _of_gain_and_bias(step: Step, operation: Normalise) -> Iterator[Wrong]:
    *_, last = step.inputs
    if operation.has_bias:
        without = replace(operation, has_bias=False)
        says = f"{last} is not added"
        yield "bias-forgotten", says, lambda read: without.over(*map(read, step.inputs[:-1]))
    if operation.has_gain:
        gain = step.inputs[-1 - operation.has_bias]
        bare = replace(operation, has_gain=False)
        rest = tuple(name for name in step.inputs if name != gain)
        says = f"it is not multiplied by {gain}"
        yield "gain-forgotten", says, lambda read: bare.over(*map(read, rest))


def _normalised(step: Step, operation: Normalise, tokens: str, read: Read) -> Range:
    """Return other tokens, normalised in the right way."""
    values = read(tokens)
    return _of_values(step, operation, values, read)


def _of_values(step: Step, operation: Normalise, values: Range, read: Read) -> Range:
    rest = step.inputs[2 + operation.is_centred :]
    if not operation.is_centred:
        return operation.over(values, FeatureSquares().over(values), *map(read, rest))
    mean = FeatureMean().over(values)
    return operation.over(values, mean, FeatureVariance().over(values, mean), *map(read, rest))


def _normalised_turned(step: Step, operation: Normalise, read: Read) -> Range:
    """Return each feature normalised over the tokens, with gain and bias."""
    bare = replace(operation, has_gain=False, has_bias=False)
    bare_step = step._replace(inputs=step.inputs[: 2 + operation.is_centred])
    made = transposed(_of_values(bare_step, bare, transposed(read(step.inputs[0])), read))
    rest = [read(name) for name in step.inputs[2 + operation.is_centred :]]
    if operation.has_gain:
        made = entry_by_entry(made, rest.pop(0).low)
    return made.map(lambda end: end + rest[0].low) if operation.has_bias else made


def _of_activation(step: Step, operation: Activate | Gate) -> Iterator[Wrong]:
    first, *gate = step.inputs
    own = KINDS[operation.kind].title

    def times_gate(values: Range, read: Read) -> Range:
        if not gate:
            return values
        ends = [one * other for one in values for other in read(gate[0])]
        return Range(np.minimum.reduce(ends), np.maximum.reduce(ends))

    yield "activation-forgotten", f"{own} is left out", lambda read: times_gate(read(first), read)
    for kind, other in KINDS.items():
        if kind not in (operation.kind, "tanh"):
            says = f"{other.title} is taken" + (" by tanh" if kind == "gelu-tanh" else "")
            changed = replace(operation, kind=kind)
            yield f"activation-other:{kind}", says, partial(_done_by, changed, step.inputs)
    if gate:
        activate = Activate(operation.kind)
        says = f"it is not multiplied by {gate[0]}"
        yield "gate-forgotten", says, lambda read: activate.over(read(first))
        says = f"{own} is taken of {gate[0]}, and not of {first}"
        yield "gate-swapped", says, partial(_done_by, operation, (gate[0], first))


def _done_by(operation: Activate | Gate, inputs: tuple[str, ...], read: Read) -> Range:
    return operation.over(*map(read, inputs))


def _of_projection(step: Step, problem: Problem, steps: Plan) -> Iterator[Wrong]:
    """Yield the results without bias, with transposed weights, and with unnormalised tokens."""
    tokens, weights, *bias = step.inputs
    if bias:
        says = f"{bias[0]} is left out"
        yield "bias-forgotten", says, lambda read: step.operation.over(read(tokens), read(weights))
    stored = problem.given[weights]
    if stored.shape[-1] == stored.shape[-2]:
        turned = Range.at(stored.swapaxes(-1, -2))
        says = f"{weights} is transposed"
        yield (
            "weights-transposed",
            says,
            lambda read: step.operation.over(read(tokens), turned, *map(read, bias)),
        )
    yield from of_skipped(step, steps)


def of_skipped(step: Step, steps: Plan) -> Iterator[Wrong]:
    """Yield the results of a projection of tokens that are not yet normalised or activated."""
    if not isinstance(step.operation, Project):
        return
    tokens, *others = step.inputs
    before = next((each for each in steps if each.name == tokens), None)
    if before is None or not isinstance(before.operation, Normalise | Activate | Gate):
        return
    earlier = before.inputs[0]

    def of_earlier(read: Read) -> Range:
        return step.operation.over(read(earlier), *map(read, others))

    yield (
        "step-skipped",
        f"{step.name} is computed from {earlier}, and not from {tokens}",
        of_earlier,
    )


def _of_reading(step: Step) -> Iterator[Wrong]:
    (tokens,) = step.inputs
    own = step.name.rpartition("_")[2]
    for which, operation in ROWS.items():
        if which != own:
            what = "the mean of the tokens" if which == "mean" else f"the {which} token"
            yield f"read-other:{which}", f"{what} is read", partial(_read_by, operation, tokens)
    if own == "first":
        says = "the second token is read"
        yield "read-other:second", says, lambda read: read(tokens).map(_second)


def _second(end: Matrix) -> Matrix:
    return end[..., 1:2, :] if end.shape[-2] > 1 else end


def _read_by(operation: TakeRow | TokenMean, tokens: str, read: Read) -> Range:
    return operation.over(read(tokens))


def _variance_of(tokens: str, ddof: int, read: Read) -> Range:
    values = read(tokens)
    return FeatureVariance(ddof).over(values, FeatureMean().over(values))
