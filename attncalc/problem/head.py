"""A head as a part: the tokens it reads, a hidden layer, logits = Y W_out + b_out, probabilities.

G_pre = tanh(Y W_pre + b_pre) if there is a hidden layer, which is normalized if a gain or a bias is
given (Devlin et al., *BERT*, 2019); W_Eᵀ for W_out if it is tied.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from attncalc.base.errors import InputError, ShapeError
from attncalc.base.typed import as_written
from attncalc.equations.operations.assembling import TakeRow, TokenMean
from attncalc.equations.operations.entrywise import Activate, SoftCap
from attncalc.equations.operations.normalising import Softmax
from attncalc.equations.operations.products import Project
from attncalc.problem.calculation import Built, Part, Placed, Stream, Streams
from attncalc.problem.feed_forward import IN_WORDS
from attncalc.problem.normalisation import NORMALISATION, check_normalised, normalised
from attncalc.problem.step import Axis, Step

TITLES = {
    "Y_first": "first token",
    "Y_last": "last token",
    "Y_mean": "mean of the tokens",
    "F_pre": "hidden layer",
    "G_pre": "its activations",
    "N_pre": "these, normalized",
    "logits_uncapped": "logits before the cap",
    "logits": "logits",
    "prob": "probabilities",
}
KINDS = {"tanh": "tanh", **IN_WORDS, "none": "no activation"}
GIVEN = ("W_out", "b_out", "W_pre", "b_pre", "gamma_pre", "beta_pre")
"""Where one of these is given, or weights are tied, there is a head."""


def is_there(fields: Any) -> bool:
    """Return whether fields are those of a head."""
    return bool(fields.those_given(*GIVEN)) or fields.tied


def _built(placed: Placed, streams: Streams) -> Built:
    (name,) = placed.reads
    tokens = streams[name]
    _check_presence(placed)
    if placed.fields.W_pre is not None:
        placed.check_projection(tokens, "W_pre", "b_pre")
        tokens = Stream(_hidden(placed.fields), tokens.tokens, placed.fields.width_of("W_pre"))
        if _is_normalised(placed.fields):
            check_normalised(placed._replace(number="pre"), tokens)
            tokens = tokens._replace(name="N_pre")
    if placed.fields.tied:
        _check_tied(placed, tokens)
    elif placed.fields.W_out is not None:
        placed.check_projection(tokens, "W_out", "b_out")
    return Built(tuple(_steps(placed, name)))


def _is_normalised(fields: Any) -> bool:
    """Return whether the hidden layer is normalized, which a gain or a bias of it says."""
    return bool(fields.those_given("gamma_pre", "beta_pre"))


def _hidden(fields: Any) -> str:
    """Return the name of the hidden layer's outputs, which a function may be applied to."""
    return "F_pre" if fields.activation_pre == "none" else "G_pre"


def _check_presence(placed: Placed) -> None:
    fields = placed.fields
    for name in fields.those_given("gamma_pre", "beta_pre", "b_pre"):
        placed.check_given("W_pre", name)
    if fields.b_out is not None and not fields.tied:
        placed.check_given("W_out", "b_out")
    if fields.tied and fields.W_out is not None:
        raise placed.fault(InputError, "W_out is given, and weights are tied to W_E: give one")
    if fields.tied and fields.W_E is None:
        raise placed.fault(InputError, "weights are tied to W_E, which is not given")


def _check_tied(placed: Placed, tokens: Stream) -> None:
    fields = placed.fields
    rows, width = fields.standing.upright("W_E", fields.W_E).shape
    if width != tokens.width:
        size = placed.size((tokens.tokens, tokens.width))
        raise placed.fault(
            ShapeError,
            f"{tokens.name} is {size} and W_E is {fields.size('W_E')}: tokens need as many "
            "features as W_E",
        )
    if fields.b_out is not None and fields.b_out.size != rows:
        raise placed.fault(
            ShapeError,
            f"b_out has {fields.b_out.size} numbers and W_E is {fields.size('W_E')}: it needs "
            f"{rows}, one for each of its tokens",
        )


def _steps(placed: Placed, tokens: str) -> Iterator[Step]:
    fields = placed.fields
    rows: Axis = "queries" if fields.read == "all" else "values"  # one row, of no token's name
    if fields.read != "all":
        row = TokenMean() if fields.read == "mean" else TakeRow(fields.read)
        name = f"Y_{fields.read}"
        yield Step(name, TITLES[name], row, (tokens,), "values", "features")
        tokens = name
    if fields.W_pre is not None:
        inputs = (tokens, *fields.those_given("W_pre", "b_pre"))
        yield Step("F_pre", TITLES["F_pre"], Project(), inputs, rows, "features")
        tokens = _hidden(fields)
        if tokens == "G_pre":
            activate = Activate(fields.activation_pre)
            yield Step(tokens, TITLES[tokens], activate, ("F_pre",), rows, "features")
        if _is_normalised(fields):
            for step in normalised(placed._replace(number="pre"), tokens, "N_pre"):
                yield step._replace(rows=rows)
            tokens = "N_pre"
    if fields.W_out is None and not fields.tied:
        return
    project = Project(is_turned=fields.tied)
    inputs = (tokens, "W_E" if fields.tied else "W_out", *fields.those_given("b_out"))
    first = "logits" if fields.softcap_out is None else "logits_uncapped"
    yield Step(first, TITLES[first], project, inputs, rows, "features")
    if first != "logits":
        cap = SoftCap(Fraction(fields.softcap_out))
        yield Step("logits", TITLES["logits"], cap, (first,), rows, "features")
    yield Step("prob", TITLES["prob"], Softmax(), ("logits",), rows, "features")


def _said(fields: Any) -> Iterator[str]:
    of_several = {"all": "all tokens", "mean": "the mean of the tokens"}
    what = of_several.get(fields.read, f"the {fields.read} token")
    yield f"the head reads {what} (read: {fields.read})"
    if fields.W_pre is not None:
        then = ", then normalized" if _is_normalised(fields) else ""
        yield f"a hidden layer of the head, with {KINDS[fields.activation_pre]}{then}"
    if fields.softcap_out is not None:
        yield f"logits capped at {as_written(Fraction(fields.softcap_out))} by tanh"
    if fields.tied:
        yield "the weights of the head are those of W_E (tied)"


def _settings(placed: Placed) -> Iterator[str]:
    yield from ("read", "tied")
    if placed.fields.tied or placed.fields.W_out is not None:
        yield "softcap_out"
    if placed.fields.W_pre is not None:
        yield "activation_pre"
    if _is_normalised(placed.fields):
        yield from NORMALISATION.settings(placed)


HEAD = Part("head", _built, TITLES, _said, _settings)
