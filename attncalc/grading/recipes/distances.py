"""Wrong biases by distance: left out, of the wrong sign or slope, added too early."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from attncalc.base.types import Matrix, Range
from attncalc.equations.operations.distances import Alibi, RelativeBias
from attncalc.grading.recipes.common import Read, Wrong, times
from attncalc.problem.step import Step


def of_alibi(step: Step, operation: Alibi, scale: float) -> Iterator[Wrong]:
    """Yield the results without slopes, and with other ones."""
    scores, *own = step.inputs

    def with_slopes(factor: float, read: Read) -> Range:
        slopes = read(own[0]).low if own else operation.slopes(np.empty(0))
        return operation.over(read(scores), Range.at(slopes * factor))

    def of_slopes(slopes: Matrix, read: Read) -> Range:
        return operation.over(read(scores), Range.at(slopes))

    says = "slope times distance is not taken off the scores"
    yield "alibi-forgotten", says, lambda read: read(scores)
    says = "slope times distance is added to the scores, and not taken off"
    yield "alibi-added", says, partial(with_slopes, -1.0)
    if scale != 1:
        says = "slope times distance is taken off before the scores are scaled"
        yield "alibi-before-scale", says, partial(with_slopes, scale)
    if operation.heads > 1:
        turned = lambda read: operation.over(read(scores), read(own[0]).map(_reversed))  # noqa: E731
        slopes = _reversed(operation.slopes(np.empty(0)))
        says = "the slopes of the heads are in reverse order"
        yield "alibi-slopes-reversed", says, turned if own else partial(of_slopes, slopes)
    if not own:
        for start, code in ((1, "alibi-slopes-halved"), (0, "alibi-slopes-from-1")):
            powers = 2.0 ** -np.arange(start, start + operation.heads)
            named = "1/2, 1/4, …" if start else "1, 1/2, …"
            says = f"the slopes of the heads are {named}, and not those of the paper"
            shaped = powers.reshape(operation.slopes(np.empty(0)).shape)
            yield code, says, partial(of_slopes, shaped)


def of_relative(step: Step, operation: RelativeBias, scale: float) -> Iterator[Wrong]:
    """Yield the results without relative bias, with one added too early, and with other buckets."""
    scores, table = step.inputs

    def times_table(factor: float, read: Read) -> Range:
        return operation.over(read(scores), times(read(table), factor))

    def otherwise(changed: RelativeBias, read: Read) -> Range:
        return changed.over(*map(read, step.inputs))

    yield "rel-bias-forgotten", f"{table} is not added", lambda read: read(scores)
    yield "rel-bias-subtracted", f"{table} is subtracted", partial(times_table, -1.0)
    if scale != 1:
        says = f"{table} is added before the scores are scaled"
        yield "rel-bias-before-scale", says, partial(times_table, scale)
    if operation.both_ways:
        says = "keys behind a query are in the first bucket, and have none of their own"
        yield "rel-bias-one-way", says, partial(otherwise, replace(operation, both_ways=False))
    elif operation.buckets % 2 == 0 and operation.buckets > 2:
        says = "half of the buckets are kept for keys behind a query"
        yield "rel-bias-both-ways", says, partial(otherwise, replace(operation, both_ways=True))


def _reversed(slopes: Matrix) -> Matrix:
    return slopes[::-1]
