"""Wrong scores of other kinds: weights left out, tanh forgotten, distances not squared."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from attncalc.base.types import Matrix, Range
from attncalc.equations.operations import (
    Add,
    AdditiveScores,
    ConcatScores,
    DistanceScores,
    Project,
    Scores,
)
from attncalc.grading.recipes.common import Read, Wrong, done_right, times, transposed
from attncalc.problem.step import Step


def of_scored(step: Step) -> Iterator[Wrong]:
    """Yield the results for queries or keys of scores with additional weights."""
    read, weights = step.inputs
    yield (
        "score-weights-forgotten",
        f"{weights} is left out",
        partial(_of_width, step, read, weights),
    )
    says = f"{weights} is transposed"
    yield (
        "score-weights-transposed",
        says,
        lambda get: step.operation.over(get(read), transposed(get(weights))),
    )


def _of_width(step: Step, read: str, weights: str, get: Read) -> Range | None:
    """Return the input itself, if it has the width of its product."""
    rows, columns = get(weights).low.shape[-2:]
    return get(read) if rows == columns else None


def of_other_scores(step: Step) -> Iterator[Wrong]:
    """Yield the results of a score that is not a dot product, computed wrongly."""
    operation = step.operation
    if isinstance(operation, DistanceScores):
        yield from _of_distance(step)
    else:
        assert isinstance(operation, AdditiveScores | ConcatScores)
        yield from _of_tanh(step)
    says = "the scores are transposed"
    yield "scores-transposed", says, lambda get: transposed(done_right(step, get))


def _of_distance(step: Step) -> Iterator[Wrong]:
    Q, K = step.inputs
    changes: tuple[tuple[str, str, Callable[[Matrix], Matrix]], ...] = (
        ("distance-not-halved", "the squared distance is not halved", lambda s: 2 * s),
        ("distance-root", "the distance itself is taken, and not half its square", _root),
        ("distance-root-halved", "half the distance is taken, and not half its square", _half_root),
    )
    for code, says, change in changes:
        yield code, says, partial(_changed, step, change)
    sign = "the sign is left out: keys far away get large scores"
    yield "distance-sign", sign, lambda get: times(done_right(step, get), -1.0)
    both = "the sign is left out, and the squared distance is not halved"
    yield "distance-sign-not-halved", both, lambda get: times(done_right(step, get), -2.0)
    says = "the dot product is taken, and no distance"
    yield "dot-for-distance", says, lambda get: Scores().over(get(Q), get(K))


def _changed(step: Step, change: Callable[[Matrix], Matrix], get: Read) -> Range:
    return done_right(step, get).map(change)


def _root(scores: Matrix) -> Matrix:
    """Return -‖q - k‖ of -‖q - k‖² / 2."""
    root: Matrix = -np.sqrt(np.maximum(-2 * scores, 0))
    return root


def _half_root(scores: Matrix) -> Matrix:
    return _root(scores) / 2


def _of_tanh(step: Step) -> Iterator[Wrong]:
    """Yield the results without tanh, and with tanh of other rows."""
    Q, K, *others = step.inputs
    operation = step.operation
    yield "tanh-forgotten", "tanh is left out", partial(_without_tanh, step)
    if "b_S" in others:
        kept = [name for name in others if name != "b_S"]
        yield (
            "bias-forgotten",
            "b_S is not added",
            lambda get: operation.over(get(Q), get(K), *map(get, kept)),
        )
    says = "the numbers that tanh gives are added up: v_S is left out"
    yield "v_S-forgotten", says, partial(_with_ones, step)
    if isinstance(operation, ConcatScores):
        swapped = f"{K} is before {Q}, and not behind it"
        yield "concat-order", swapped, partial(_swapped, step)
        says = "W_S is transposed"
        yield "score-weights-transposed", says, partial(_with_turned, step)


def _hidden(step: Step, get: Read) -> tuple[Range, Range]:
    """Return the terms of queries and of keys in the sum inside tanh."""
    Q, K, *others = map(get, step.inputs)
    if not isinstance(step.operation, ConcatScores):
        return Q, K
    width = Q.low.shape[-1]
    upper = others[0].map(lambda end: end[..., :width, :])
    lower = others[0].map(lambda end: end[..., width:, :])
    return Project().over(Q, upper), Project().over(K, lower)


def _without_tanh(step: Step, get: Read) -> Range:
    """Return v (q + k + b): v of queries, and v of keys."""
    left, right = _hidden(step, get)
    if "b_S" in step.inputs:
        left = Add().over(left, get("b_S"))
    of_queries, of_keys = (Scores().over(each, get("v_S")) for each in (left, right))
    return Add().over(of_queries, transposed(of_keys))


def _with_ones(step: Step, get: Read) -> Range:
    inputs = [get(name).map(np.ones_like) if name == "v_S" else get(name) for name in step.inputs]
    return step.operation.over(*inputs)


def _swapped(step: Step, get: Read) -> Range | None:
    """Return the scores of [k; q] in place of [q; k]."""
    Q, K, *others = map(get, step.inputs)
    if Q.low.shape[-1] != K.low.shape[-1]:
        return None
    return transposed(step.operation.over(K, Q, *others))


def _with_turned(step: Step, get: Read) -> Range | None:
    Q, K, W, *others = map(get, step.inputs)
    rows, columns = W.low.shape[-2:]
    return step.operation.over(Q, K, transposed(W), *others) if rows == columns else None
