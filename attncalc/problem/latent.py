"""Latent attention as a part: queries, keys and values from narrow vectors of each token.

C_KV = N W_DKV is normalized, and values and most columns of the keys are made of it; the columns
that rope turns are K_R = N W_KR, for all heads. DeepSeek-AI, *DeepSeek-V2* (2024), section 2.1.
"""

from collections.abc import Iterator
from typing import Any

from attncalc.base.typed import as_written
from attncalc.equations.operation import Stated, Statement
from attncalc.equations.operations.normalising import Normalise
from attncalc.equations.operations.products import Project
from attncalc.problem.calculation import Built, Part, Placed, Stream, Streams
from attncalc.problem.normalisation import with_statistics
from attncalc.problem.step import Step

OF = {"Q": "queries", "KV": "keys and values"}
TITLES = {
    **{f"C_{each}": f"latent vectors of {what}" for each, what in OF.items()},
    **{f"ms_C_{each}": "mean square of each latent vector" for each in OF},
    **{f"N_C_{each}": f"normalized latent vectors of {what}" for each, what in OF.items()},
    "K_R": "columns of keys for rope, the same for all heads",
    "L_K": "columns for rope, beside the latent vectors",
}


def _built(placed: Placed, streams: Streams) -> Built:
    """Return the normalized latent vectors of the queries, or of keys and values."""
    (name,) = placed.reads
    tokens, number = streams[name], placed.number
    weights, bias = f"W_D{number}", f"b_D{number}"
    own = placed.fields.those_given(weights, bias)
    placed.check_given(weights, "a latent attention")
    placed.check_projection(tokens, weights, bias)
    made = placed.named(f"C_{number}")
    out = Stream(placed.gives, tokens.tokens, placed.fields.width_of(weights), tokens.labels)
    gain = placed.fields.those_given(f"gamma_D{number}")
    for each in gain:
        placed.check_features(each, out._replace(name=made))
    project = (name, *map(placed.named, own))
    first = Step(made, TITLES[f"C_{number}"], Project(), project)
    norm = Normalise(placed.fields.norm_eps, is_centred=False, has_gain=bool(gain))
    last = Step(placed.gives, TITLES[f"N_C_{number}"], norm, (made, *map(placed.named, gain)))
    return Built((first, *with_statistics(last, norm, f"C_{number}", placed.prefix)), out)


def _joined(placed: Placed, streams: Streams) -> Built:
    """Return the columns that rope turns, and beside them the latent vectors."""
    tokens, latent = (streams[name] for name in placed.reads)
    own = placed.fields.those_given("W_KR", "b_KR")
    placed.check_given("W_KR", "a latent attention")
    placed.check_projection(tokens, "W_KR", "b_KR")
    made = placed.named("K_R")
    inputs = (tokens.name, *map(placed.named, own))
    first = Step(made, TITLES["K_R"], Project(), inputs, "keys", "features")
    join = Stated(Statement("JoinColumns"))
    last = Step(placed.gives, TITLES["L_K"], join, (made, latent.name), "keys", "features")
    width = placed.fields.width_of("W_KR") + latent.width
    return Built((first, last), latent._replace(name=placed.gives, width=width))


def _said(fields: Any) -> Iterator[str]:
    eps = as_written(fields.norm_eps)
    yield f"latent vectors normalized by the root of the mean square, ε = {eps} inside the root"


def _settings(placed: Placed) -> Iterator[str]:
    yield "eps" if placed.fields.qk_eps is None else "qk_eps"


LATENT = Part("latent vectors", _built, TITLES, _said, _settings)
JOINED = Part("keys", _joined, {})


def latent(placed: Placed, fields: Any, tokens: str) -> list[Placed]:
    """Return the parts before a latent attention, and the attention with what it reads; else it."""
    if not fields.those_given("W_DQ", "W_DKV", "W_KR"):
        return [placed]

    def before(part: Part, number: str, gives: str, *reads: str) -> Placed:
        return placed._replace(part=part, number=number, reads=reads, gives=placed.prefix + gives)

    queries = [before(LATENT, "Q", "N_C_Q", tokens)] if fields.those_given("W_DQ") else []
    source = queries[0].gives if queries else tokens
    values = before(LATENT, "KV", "N_C_KV", tokens)
    keys = before(JOINED, "K", "L_K", tokens, values.gives)
    return [*queries, values, keys, placed._replace(reads=(source, keys.gives, values.gives))]
