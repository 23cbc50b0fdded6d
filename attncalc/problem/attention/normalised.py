"""Queries and keys normalised head by head: Henry et al., *Query-Key Normalization* (2020)."""

from collections.abc import Iterator

from attncalc.operations import Operation
from attncalc.operations.normalisation import (
    FeatureMean,
    FeatureSquares,
    FeatureVariance,
    Normalise,
)
from attncalc.operations.step import Axis, Step
from attncalc.problem.attention.attention import Attention


def normalised(attention: Attention, name: str, source: str, axis: Axis) -> Iterator[Step]:
    """Yield the steps that normalise each row of a head's queries or keys.

    Parameters
    ----------
    attention
        The attention.
    name
        "Q" or "K".
    source
        The matrix that is normalised: keys may be those of a cache and the new ones.
    axis
        What its rows stand for.
    """

    def column(step: str, title: str, operation: Operation, *inputs: str) -> Step:
        # one number for each row, which people go past on the way
        return Step(step, title, operation, inputs, axis, "values", is_between=True)

    of = "query" if name == "Q" else "key"
    is_centred = attention.qk_norm == "layer"
    mean, spread = f"mu_{name}", f"var_{name}" if is_centred else f"ms_{name}"
    if is_centred:
        yield column(mean, f"mean of each {of}", FeatureMean(), source)
        yield column(spread, f"variance of each {of}", FeatureVariance(), source, mean)
    else:
        yield column(spread, f"mean square of each {of}", FeatureSquares(), source)
    given = attention.those_given(f"gamma_{name}", f"beta_{name}")
    normalise = Normalise(
        attention.norm_eps,
        is_centred=is_centred,
        has_gain=f"gamma_{name}" in given,
        has_bias=f"beta_{name}" in given,
        of=of,
        eps_field="a qk_eps",
    )
    inputs = (source, *((mean, spread) if is_centred else (spread,)), *given)
    title = "normalised queries" if name == "Q" else "normalised keys"
    yield Step(f"{name}_norm", title, normalise, inputs, axis, "features")
