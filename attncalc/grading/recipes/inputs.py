"""The right operation on other matrices, or with other settings: masks, positions, activations."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from attncalc.base.typed import as_written
from attncalc.base.types import Matrix, Range
from attncalc.equations.operation import Operation
from attncalc.equations.operations.angles import Rotate, Sinusoids
from attncalc.equations.operations.assembling import Add, Patches
from attncalc.equations.operations.distances import Alibi, RelativeBias
from attncalc.equations.operations.entrywise import (
    KINDS,
    Activate,
    DivideBySqrt,
    Gate,
    Mask,
    Multiply,
    SoftCap,
)
from attncalc.equations.operations.normalising import (
    FeatureMean,
    FeatureSquares,
    FeatureVariance,
    Normalise,
    Softmax,
)
from attncalc.equations.operations.products import Project, Scores, Scoring, Weigh
from attncalc.grading.recipes.common import (
    Read,
    Steps,
    Wrong,
    done_right,
    times,
)
from attncalc.problem.attention.attention import Attention
from attncalc.problem.fields import own_name, role_of
from attncalc.problem.gradients.naming import gradient_from
from attncalc.problem.problem import Problem
from attncalc.problem.step import Step

LEFT_OUT: dict[type[Operation], tuple[str, str]] = {
    DivideBySqrt: ("scale-none", "they are scaled"),
    Multiply: ("scale-none", "they are scaled"),
    SoftCap: ("cap-forgotten", "they are capped"),
    Alibi: ("alibi-forgotten", "slope times distance is subtracted"),
    RelativeBias: ("rel-bias-forgotten", "the relative bias"),
    Mask: ("mask-forgotten", "the mask"),
}
"""Operations that may be missing in the normalized scores."""
OF_SCORES = (Scoring, DivideBySqrt, Multiply, SoftCap, Mask, Alibi, RelativeBias)
"""Operations that compute scores, finished or not."""


def with_others(step: Step, instead: dict[str, str], read: Read) -> Range:
    """Return a step that reads other matrices."""
    return step.operation.over(*(read(instead.get(name, name)) for name in step.inputs))


def of_projection(
    step: Step, problem: Problem | Attention, attention: Attention | None
) -> Iterator[Wrong]:
    """Yield projections with other or transposed weights, or of other tokens."""
    tokens, weights, *bias = step.inputs
    if weights not in problem.names or step.name in ("Q_S", "K_S"):
        return

    def with_weights(other: Matrix, read: Read) -> Range:
        return step.operation.over(read(tokens), Range.at(other), *map(read, bias))

    stored = problem.given[weights] if attention is None else getattr(attention, weights)
    if stored.shape[-1] == stored.shape[-2]:
        turned = stored.swapaxes(-1, -2)
        turned = turned if attention is None else attention.turned(weights, turned)
        yield "weights-transposed", f"{weights} is transposed", partial(with_weights, turned)
    if attention is None or step.role == "outputs":
        return
    for other in ("W_Q", "W_K", "W_V"):
        if other in problem.names and other != weights:
            says = f"{other} is used in place of {weights}"
            yield f"weights-swapped:{other}", says, partial(with_weights, problem.given[other])
    yield from _of_tokens(step, attention)


def _of_tokens(step: Step, problem: Attention) -> Iterator[Wrong]:
    tokens = step.inputs[0]
    plain = tokens.removesuffix("_P")
    if plain != tokens:
        says = "the positions are not added to the tokens"
        yield "positions-forgotten", says, partial(with_others, step, {tokens: plain})
    for other in ("X1", "X2", "X3"):
        if other in problem.names and other != plain:
            placed = problem.positions == "sinusoidal" or f"P{other[1:]}" in problem.names
            name = other + tokens.removeprefix(plain) if placed else other
            says = f"{step.name} is computed from {other}, and not from {plain}"
            yield f"wrong-source:{other}", says, partial(with_others, step, {tokens: name})


def of_scores(step: Step, steps: Steps) -> Iterator[Wrong]:
    """Yield scores of queries and keys that are not rotated, or not normalized."""
    if not isinstance(step.operation, Scores):
        return
    left, right = step.inputs
    while True:
        pair = [steps[name] for name in (left, right) if name in steps]
        if len(pair) < 2 or not all(isinstance(x.operation, Rotate | Normalise) for x in pair):
            return
        is_turned = isinstance(pair[0].operation, Rotate)
        left, right = (each.inputs[0] for each in pair)
        instead = dict(zip(step.inputs, (left, right), strict=True))
        code, done = ("rope", "rotated") if is_turned else ("norm", "normalized")
        says = f"queries and keys are not {done}"
        yield f"{code}-forgotten", says, partial(with_others, step, instead)


def of_scale_not_asked(step: Step, problem: Attention, steps: Steps) -> Iterator[Wrong]:
    """Yield what follows from scores divided by √d_k without a request."""
    scores = steps.get(step.inputs[0])
    if problem.d_k <= 1 or problem.scale != "none" or scores is None:
        return
    if isinstance(scores.operation, Scoring) and gradient_from(scores.name) is None:
        says = f"the scores are divided by √d_k = √{problem.d_k}, which is not asked for"
        yield "scale-not-asked", says, partial(_of_divided, step, problem.d_k**0.5)


def _of_divided(step: Step, divisor: float, read: Read) -> Range:
    scores, *others = map(read, step.inputs)
    return step.operation.over(times(scores, 1 / divisor), *others)


def of_weights(step: Step, steps: Steps) -> Iterator[Wrong]:
    """Yield the weights of scores that are not scaled, capped or masked yet."""
    if step.role != "weights":
        return
    scores = step.inputs[0]
    last = steps.get(scores, step)  # given scores are not a step
    while found := next((each for each in LEFT_OUT if isinstance(last.operation, each)), None):
        code, words = LEFT_OUT[found]
        earlier = {scores: last.inputs[0]}
        says = f"the weights are those of the scores before {words}"
        yield code, says, partial(with_others, step, earlier)
        if found is Mask:
            after = "the mask is applied to the weights after the softmax: they no longer sum to 1"
            yield "mask-after-softmax", after, partial(_masked_after, step, last.name, earlier)
        last = steps.get(last.inputs[0], step)


def _masked_after(step: Step, masked: str, earlier: dict[str, str], read: Read) -> Range:
    forbidden = np.isneginf(read(masked).low)
    return with_others(step, earlier, read).map(lambda end: np.where(forbidden, 0.0, end))


def of_outputs(step: Step, steps: Steps) -> Iterator[Wrong]:
    """Yield the values weighed with scores; those that are -∞ count as 0."""
    if not isinstance(step.operation, Weigh):
        return
    A, V = step.inputs

    def weighed(scores: str, read: Read) -> Range:
        finite = read(scores).map(lambda end: np.where(np.isneginf(end), 0.0, end))
        return Weigh().over(finite, read(V))

    for each in steps.values():
        if isinstance(each.operation, OF_SCORES):
            says = f"the scores {each.name} weigh the values, and not {A}"
            yield f"scores-for-weights:{each.name}", says, partial(weighed, each.name)


def of_skipped(step: Step, steps: Steps) -> Iterator[Wrong]:
    """Yield a projection of tokens that are not normalized, or not activated, yet."""
    if not isinstance(step.operation, Project):
        return
    tokens = step.inputs[0]
    before = steps.get(tokens)
    if before is not None and isinstance(before.operation, Normalise | Activate | Gate):
        earlier = before.inputs[0]
        says = f"{step.name} is computed from {earlier}, and not from {tokens}"
        yield "step-skipped", says, partial(with_others, step, {tokens: earlier})


def of_sum(step: Step, steps: Steps) -> Iterator[Wrong]:
    """Yield a residual sum with the normalized tokens."""
    if step.operation.name != "Add":
        return
    before = step.inputs[0]
    for other in steps.values():
        if isinstance(other.operation, Normalise) and other.inputs[0] == before:
            says = f"{other.name} is added, and not {before}"
            yield "residual-of-normalised", says, partial(with_others, step, {before: other.name})


def of_normalised(step: Step, operation: Normalise, steps: Steps) -> Iterator[Wrong]:
    """Yield other tokens normalized."""
    tokens = step.inputs[0]
    sum_ = steps.get(tokens)
    for other in sum_.inputs if sum_ and isinstance(sum_.operation, Add) else ():
        says = f"{other} is normalized, and not {tokens}"

        def of_other(read: Read, other: str = other) -> Range:
            return _normalised(step, operation, read(other), read)

        yield f"norm-of-other:{other}", says, of_other


def _normalised(step: Step, operation: Normalise, values: Range, read: Read) -> Range:
    rest = map(read, step.inputs[2 + operation.is_centred :])
    if not operation.is_centred:
        return operation.over(values, FeatureSquares().over(values), *rest)
    mean = FeatureMean().over(values)
    return operation.over(values, mean, FeatureVariance().over(values, mean), *rest)


def of_gradient(step: Step, steps: Steps) -> Iterator[Wrong]:
    """Yield gradients of other factors, of fewer parts, or without the mask."""
    name = step.operation.name.removeprefix("Grouped")
    if name in ("SoftmaxBack", "DivideBySumBack"):
        yield from _of_mask(step, steps)
    elif name in ("TransposedTimes", "TimesTransposed", "Scores", "Weigh"):
        yield from _of_factors(step, steps)
    elif isinstance(step.operation, Add):
        names = step.inputs
        for left_out in names:
            kept = [name for name in names if name != left_out]
            yield f"part-not-added:{left_out}", f"{left_out} is not added", partial(_sum_of, kept)
        for only in names if len(names) > 2 else ():
            says = f"{only} alone is taken: the gradients of the other paths are not added"
            yield f"part-alone:{only}", says, partial(_sum_of, [only])
    for other in _like(step.name, steps):
        says = f"it is {other}, and not {step.name}"
        yield f"gradient-swapped:{other}", says, partial(_sum_of, [other])


def _like(name: str, steps: Steps) -> Iterator[str]:
    """Yield the other steps that may be confused with one: dK or dV for dQ, K for Q."""
    start, own = name[:-1], own_name(name).removeprefix("d")
    others = ("Q", "K", "V") if own in ("Q", "K", "V") else ()
    yield from (start + other for other in others if other != own and start + other in steps)


def _of_mask(step: Step, steps: Steps) -> Iterator[Wrong]:
    """Yield a gradient that is not 0 at masked entries."""
    *_, A, dA = step.inputs
    weights = steps[A]
    masked = steps.get(weights.inputs[0])  # given scores are not a step
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

        yield "mask-gradient", f"{says}: the weights are those without the mask", unmasked


def _of_factors(step: Step, steps: Steps) -> Iterator[Wrong]:
    gradient, right = step.inputs
    kind = "gradient" if own_name(right).startswith("d") else "factor"
    for other in _like(right, steps):
        says = f"{other} is used in place of {right}"
        yield f"{kind}-swapped:{other}", says, partial(with_others, step, {right: other})
    if role_of(gradient) == "arriving":
        says = f"every entry of {gradient} is taken as 1"

        def of_ones(read: Read) -> Range:
            return step.operation.over(read(gradient).map(np.ones_like), read(right))

        yield "arriving-ones", says, of_ones


def _sum_of(names: list[str], read: Read) -> Range:
    return read(names[0]) if len(names) == 1 else Add().over(*map(read, names))


OTHER_BASES = (Fraction(10_000), Fraction(500_000), Fraction(1_000_000))
"""The bases of rope in common models, which may be confused."""
MOST_SHIFTED = 16
"""The largest difference of places: by tokens of padding, or of a cache."""
ORDERS = {
    "column-first": (
        ("channel", "column", "row"),
        "each patch is flattened column by column, and not row by row",
    ),
    "channels-last": (
        ("row", "column", "channel"),
        "the channels of a pixel are side by side, not one channel after the other",
    ),
}
"""Other orders of the numbers of a patch."""


def of_settings(step: Step, attention: Attention | None) -> Iterator[Wrong]:
    """Yield an operation with other settings."""
    for kind, changes in OF_ANY.items():
        if isinstance(step.operation, kind):
            yield from changes(step, step.operation)
    for kind, changes in OF_PLACES.items() if attention is not None else ():
        if isinstance(step.operation, kind):
            yield from changes(step, step.operation, attention)


def scale_of(problem: Attention) -> float:
    """Return the factor of the scores of a problem."""
    if isinstance(problem.scale, Fraction):
        return float(problem.scale)
    return 1.0 if problem.scale == "none" else float(problem.d_k**-0.5)


def _otherwise(step: Step, read: Read, **change: Any) -> Range:
    operation: Any = step.operation
    return done_right(step._replace(operation=replace(operation, **change)), read)


def _of_sinusoids(step: Step, operation: Sinusoids) -> Iterator[Wrong]:
    if operation.offset:
        says = "places are counted from 0, as those of keys"
        yield "places-of-keys", says, partial(_otherwise, step, offset=0)
    if operation.base != Sinusoids.base:
        says = f"the base of the angles is 10000, not {as_written(operation.base)}"
        yield "positions-base", says, partial(_otherwise, step, base=Sinusoids.base)


def _of_rotation(step: Step, operation: Rotate, problem: Attention) -> Iterator[Wrong]:
    first, *own = step.inputs
    if operation.scaling is not None:
        yield "rope-unscaled", "rope_scaling is left out", partial(_otherwise, step, scaling=None)
    if own:
        says = f"the frequencies are those of the base, and not {own[0]}"
        yield "rope-unscaled", says, partial(done_right, step._replace(inputs=(first,)))
    if operation.dims not in (None, problem.d_k) and not own and problem.d_k % 2 == 0:
        says = f"all {problem.d_k} columns are rotated, and not the first {operation.dims} alone"
        yield "rope-all-columns", says, partial(_otherwise, step, dims=None)
    other = "interleaved" if operation.pairing == "halves" else "halves"
    says = f"the columns are paired in the other way ({other})"
    yield "rope-pairing", says, partial(_otherwise, step, pairing=other)
    says = "the columns are rotated in the opposite direction: the sines have the wrong sign"
    yield "rope-sign", says, partial(_otherwise, step, is_back=not operation.is_back)
    for base in OTHER_BASES:
        if not own and base != operation.base:
            says = f"the base of the angles is {as_written(base)}, not {as_written(operation.base)}"
            yield "rope-base", says, partial(_otherwise, step, base=base)
    if operation.offset != problem.rope_offset:
        of_keys = problem.rope_places[1]
        says = f"places are counted from {as_written(of_keys)}, as those of keys"
        yield "places-of-keys", says, partial(_otherwise, step, offset=of_keys)
    yield from _from_other_places(step, operation, problem.rope_offset)


def _from_other_places(step: Step, operation: Rotate, of_keys: Fraction) -> Iterator[Wrong]:
    """Yield places that start too high or too low, other than those of keys."""
    for by in (sign * count for count in range(1, MOST_SHIFTED + 1) for sign in (1, -1)):
        if operation.offset + by != of_keys:
            count, way = "one" if abs(by) == 1 else abs(by), "high" if by > 0 else "low"
            says = f"places start {count} too {way}"
            yield "rope-offset", says, partial(_otherwise, step, offset=operation.offset + by)


def _of_relative(step: Step, operation: RelativeBias, problem: Attention) -> Iterator[Wrong]:
    scores, table = step.inputs
    scale = scale_of(problem)

    def times_table(factor: float, read: Read) -> Range:
        return operation.over(read(scores), times(read(table), factor))

    yield "rel-bias-subtracted", f"{table} is subtracted", partial(times_table, -1.0)
    if scale != 1:
        says = f"{table} is added before the scores are scaled"
        yield "rel-bias-before-scale", says, partial(times_table, scale)
    if operation.both_ways:
        says = "all keys after a query share the first bucket"
        yield "rel-bias-one-way", says, partial(_otherwise, step, both_ways=False)
    elif operation.buckets % 2 == 0 and operation.buckets > 2:
        says = "half of the buckets are kept for keys after a query"
        yield "rel-bias-both-ways", says, partial(_otherwise, step, both_ways=True)


def _of_window(step: Step, operation: Mask) -> Iterator[Wrong]:
    if (window := operation.window) is None:
        return
    for width in (window + 1, window - 1) if window > 1 else (window + 1,):
        says = f"the window is off by one: its width is {width}, not {window}"
        yield "window-off", says, partial(_otherwise, step, window=width)
    says = "the window is left out: each query sees all keys up to its own place"
    yield "window-forgotten", says, partial(_otherwise, step, window=None)


def _of_activation(step: Step, operation: Activate | Gate) -> Iterator[Wrong]:
    first, *gate = step.inputs
    for kind, other in KINDS.items():
        if kind not in (operation.kind, "tanh"):
            says = f"{other.title} is taken{other.by}"
            yield f"activation-other:{kind}", says, partial(_otherwise, step, kind=kind)
    if gate:
        says = f"it is not multiplied by {gate[0]}"
        alone = step._replace(operation=Activate(operation.kind), inputs=(first,))
        yield "gate-forgotten", says, partial(done_right, alone)
        says = f"{KINDS[operation.kind].title} is taken of {gate[0]}, and not of {first}"
        swapped = step._replace(inputs=(gate[0], first))
        yield "gate-swapped", says, partial(done_right, swapped)


def _of_patches(step: Step, operation: Patches) -> Iterator[Wrong]:
    for code, (order, says) in ORDERS.items():
        yield f"patches-{code}", says, partial(_otherwise, step, order=order)
    says = "patches are counted down the image first"
    yield "patches-down-first", says, partial(_otherwise, step, down_first=True)
    says = "the image is reshaped row by row, not cut into patches"

    def in_lengths(read: Read) -> Range:
        shape = done_right(step, read).low.shape
        return read(step.inputs[0]).map(lambda end: end.reshape(shape))

    if operation.size[0] > 1:
        yield "patches-reshaped", says, in_lengths


def of_mask(step: Step, operation: Mask) -> Iterator[Wrong]:
    """Yield the results with a mask that is shifted, and with one of several masks left out."""
    yield from _of_one_mask(step, operation)
    scores, *masks = step.inputs
    for by, way in ((1, "further"), (-1, "less")):
        says = f"the mask is shifted by one: each query sees one key {way}"
        yield "mask-shifted", says, partial(_shifted_mask, operation, scores, masks, by)


def _of_one_mask(step: Step, operation: Mask) -> Iterator[Wrong]:
    """Yield the results with one of several masks left out, or inverted."""
    scores, *masks = step.inputs
    if operation.causal_from is not None and operation.window is None and masks:
        says = "the causal mask is left out"
        yield "causal-forgotten", says, partial(_otherwise, step, causal_from=None)
    for kind, name in zip(operation.masks, masks, strict=True):
        rest = [each for each in operation.masks if each != kind]
        if kind == "bias" or not (rest or operation.causal_from):
            continue
        inputs = (scores, *(each for each in masks if each != name))
        left = step._replace(operation=replace(operation, masks=tuple(rest)), inputs=inputs)
        yield f"{kind}-forgotten", f"{name} is left out", partial(done_right, left)
        other = "ignore" if kind == "keep" else "keep"
        if other not in rest:
            kinds = tuple(other if each == kind else each for each in operation.masks)
            yield f"{kind}-inverted", f"{name} is inverted", partial(_otherwise, step, masks=kinds)


def in_rows_with_keys(step: Step, mistakes: Iterable[Wrong]) -> Iterator[Wrong]:
    """Yield mistakes of a mask, also as they show where queries without keys are not compared."""

    def compared(make: Callable[[Read], Range | None], read: Read) -> Range | None:
        right = done_right(step, read)
        without_keys = np.asarray(np.isneginf(right.low).all(axis=-1, keepdims=True))
        made = make(read) if without_keys.any() else None
        return made and made.replaced(without_keys, right)

    for code, says, make in mistakes:
        yield code, says, make
        yield code, says, partial(compared, make)


def _shifted_mask(operation: Mask, scores: str, masks: list[str], by: int, read: Read) -> Range:
    """Shift the causal edge by one key, or the columns of other masks."""
    if operation.causal_from is not None:
        moved = replace(operation, causal_from=operation.causal_from + by)
        return moved.over(read(scores), *map(read, masks))

    rolled = (read(name).map(lambda end: _rolled(end, by)) for name in masks)
    return operation.over(read(scores), *rolled)


def _rolled(mask: Matrix, by: int) -> Matrix:
    """Return a mask with its columns shifted by one; the one at the edge stays."""
    places = np.clip(np.arange(mask.shape[-1]) - by, 0, mask.shape[-1] - 1)
    return np.asarray(mask[..., places])


OF_ANY: Mapping[type[Operation], Callable[..., Iterator[Wrong]]] = {
    Sinusoids: _of_sinusoids,
    Mask: _of_window,
    Activate: _of_activation,
    Gate: _of_activation,
    Patches: _of_patches,
}
OF_PLACES: Mapping[type[Operation], Callable[..., Iterator[Wrong]]] = {
    Rotate: _of_rotation,
    RelativeBias: _of_relative,
}
"""The changes of operations, and of those whose positions an attention determines."""
