"""What is around each part of a layer: a normalization of its tokens, and a residual connection.

He et al., *Deep Residual Learning* (2016).
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from attncalc.base.errors import InputError, ShapeError
from attncalc.base.typed import as_written
from attncalc.equations.operation import Operation
from attncalc.equations.operations.assembling import Add
from attncalc.equations.operations.entrywise import Multiply
from attncalc.equations.operations.normalising import (
    FeatureMean,
    FeatureSquares,
    FeatureVariance,
    Normalise,
)
from attncalc.problem.calculation import Built, Part, Placed, Stream, Streams
from attncalc.problem.fields import TOKENS
from attncalc.problem.step import Step

NUMBERS = ("1", "2", "3", "4", "E", "out", "pre")
TITLES = {
    **{f"mu_{each}": "mean of each token" for each in NUMBERS},
    **{f"var_{each}": "variance of each token" for each in NUMBERS},
    **{f"ms_{each}": "mean square of each token" for each in NUMBERS},
    **{f"N_{each}": "normalized tokens" for each in NUMBERS},
}


def _built(placed: Placed, streams: Streams) -> Built:
    (name,) = placed.reads
    tokens = streams[name]
    check_normalised(placed, tokens)
    gives = placed.gives or placed.named(f"N_{placed.number}")
    steps = tuple(normalised(placed, name, gives))
    return Built(steps, tokens._replace(name=gives))


def check_normalised(placed: Placed, tokens: Stream) -> None:
    """Refuse a gain or a bias that does not fit the tokens that are normalized."""
    size = placed.size((tokens.tokens, tokens.width))
    _refuse_other_tokens(placed, tokens, size)
    for own in _gain_and_bias(placed):
        placed.check_features(own, tokens)
    if placed.fields.ddof >= tokens.width:
        raise placed.fault(
            InputError,
            f"{tokens.name} is {size}: with ddof 1 a token of one feature has no variance",
        )


def _refuse_other_tokens(placed: Placed, tokens: Stream, size: str) -> None:
    """Refuse given tokens of a width that nothing here is for: a change of them alone will do."""
    fields = placed.fields
    if tokens.name not in TOKENS or not fields.those_given(tokens.name):
        return
    widths = {own: getattr(fields, own).size for own in _gain_and_bias(placed)}
    for own in fields.those_given("W_Q", "W_K", "W_V"):
        widths[own] = fields.standing.upright(own, getattr(fields, own)).shape[-2]
    if len(widths) > 1 and len({*widths.values()}) == 1 and tokens.width not in widths.values():
        *most, last = map(placed.named, widths)
        width, features = widths.popitem()[1], fields.standing.features
        raise placed.fault(
            ShapeError,
            f"{tokens.name} is {size}, and {', '.join(most)} and {last} are for tokens of {width} "
            f"features: {tokens.name} needs {width} {features}",
        )


def _gain_and_bias(placed: Placed) -> list[str]:
    given: list[str] = placed.fields.those_given(f"gamma_{placed.number}", f"beta_{placed.number}")
    return given


def normalised(placed: Placed, tokens: str, gives: str) -> Iterator[Step]:
    """Return the steps of a normalization: of its number in `placed`, of these tokens."""
    fields, number, own = placed.fields, placed.number, _gain_and_bias(placed)
    normalise = Normalise(
        fields.eps,
        fields.eps_place == "inside",
        fields.normalization == "layer",
        has_gain=f"gamma_{number}" in own,
        has_bias=f"beta_{number}" in own,
    )
    inputs = (tokens, *map(placed.named, own))
    last = Step(gives, TITLES["N_1"], normalise, inputs)
    return with_statistics(last, normalise, number, placed.prefix, fields.ddof)


def with_statistics(
    last: Step,
    normalise: Normalise,
    number: str,
    prefix: str = "",
    ddof: int = 0,
    squares: Operation | None = None,
) -> Iterator[Step]:
    """Yield the means and the variances of rows, then the step that normalizes these rows.

    last, normalise: that step, which reads the matrix, a gain and a bias; its operation.
    number, prefix: what follows and what precedes the names of means and variances, as in 1.mu_2.
    squares: the operation of mean squares; None for those of each row.
    """
    matrix, *own = last.inputs

    def column(name: str, title: str, operation: Operation, *inputs: str) -> Step:
        # one number for each row, which may be skipped
        title = f"{title} of each {normalise.of}"
        return Step(name, title, operation, inputs, last.rows, "values", is_between=True)

    names: tuple[str, ...] = (f"{prefix}ms_{number}",)
    if normalise.is_centred:
        names = (f"{prefix}mu_{number}", f"{prefix}var_{number}")
        yield column(names[0], "mean", FeatureMean(), matrix)
        yield column(names[1], "variance", FeatureVariance(ddof), matrix, names[0])
    else:
        yield column(names[0], "mean square", squares or FeatureSquares(), matrix)
    yield last._replace(inputs=(matrix, *names, *own))


_WHERE = {
    "pre": "before each part",
    "post": "after each part",
    "pre-second": "before each part but the first",
    "around": "before each part and after it, before it is added",
    "output": "after each part, before the residual sum",
}


def _said(fields: Any) -> Iterator[str]:
    if fields.norm != "none":
        yield f"tokens normalized {_WHERE[fields.norm]} (norm: {fields.norm})"
    eps = f"ε = {as_written(fields.eps)}"
    where = "inside the root" if fields.eps_place == "inside" else "added to the root"
    if fields.normalization == "rms":
        yield f"normalized by the root of the mean square (rms), {eps} {where}"
        return
    count = "d - 1" if fields.ddof else "d"
    yield f"normalized to mean 0, by the variance over {count} features, {eps} {where}"


def _settings(placed: Placed) -> Iterator[str]:
    yield from ("normalization", "eps", "eps_place")
    if placed.fields.normalization == "layer":
        yield "ddof"


NORMALISATION = Part("normalization", _built, TITLES, _said, _settings)


OF_RESIDUAL = {
    **dict.fromkeys(("R_1", "R_2", "R_3"), "residual sum"),
    **{f"{name}_scaled": "scaled outputs" for name in ("O", "F_2", "N_1", "N_2", "N_3", "N_4")},
}


def _summed(placed: Placed, streams: Streams) -> Built:
    """Return the sum of the input and the output of a part, or of parallel parts."""
    read, *others = (streams[name] for name in placed.reads)
    for given in others:
        if (read.tokens, read.width) == (given.tokens, given.width):
            continue
        sizes = [placed.size((each.tokens, each.width)) for each in (read, given)]
        raise placed.fault(
            ShapeError,
            f"{read.name} is {sizes[0]} and {given.name} is {sizes[1]}: matrices that "
            'are added need the same shape (or set "residual": false)',
        )
    name = placed.gives or placed.named(f"R_{placed.number}")
    steps, added = [], [each.name for each in others]
    if placed.fields.residual and (factor := Fraction(placed.fields.residual_scale)) != 1:
        added = [f"{each}_scaled" for each in added]
        steps = [
            Step(scaled, "scaled outputs", Multiply(factor), (each.name,))
            for scaled, each in zip(added, others, strict=True)
        ]
    whole = Step(name, OF_RESIDUAL["R_1"], Add(), (read.name, *added))
    return Built((*steps, whole), read._replace(name=name))


_READ = {"shared": "the same tokens", "own": "the same tokens, each normalized by itself"}


def _residual_said(fields: Any) -> Iterator[str]:
    if fields.parallel != "none":
        what = f"attention and feed-forward read {_READ[fields.parallel]}, and one sum adds both"
        yield f"{what} (parallel: {fields.parallel})"
    if fields.residual and fields.residual_scale != 1:
        factor = as_written(Fraction(fields.residual_scale))
        yield f"outputs times {factor} are added (residual_scale)"


def _of_sums(placed: Placed) -> Iterator[str]:
    yield from ("residual_scale",) if placed.fields.residual else ()


RESIDUAL = Part("residual", _summed, OF_RESIDUAL, _residual_said, _of_sums)
