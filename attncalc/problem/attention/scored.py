"""The matrices of each kind of score, and those allowed with given scores or weights."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from attncalc.base.errors import InputError
from attncalc.problem.attention.attention import Attention, size_of
from attncalc.problem.attention.declared import CONCAT, DOT, GENERAL, NONE, OF_SCORE, SQRT_DK
from attncalc.problem.fields import MASKS, OF_HEADS

_MADE_OF = (
    *("X1", "Q", "W_Q", "b_Q", "P", "P1", "K", "W_K", "b_K", "past_K", "past_V"),
    *("W_S", "W_Sq", "W_Sk", "v_S", "b_S"),
)
"""Matrices that scores are computed from: no step would read them with given scores."""


def check_score(problem: Attention) -> None:
    """Check that a score has the matrices of its kind, and none of another's."""
    needed, _ = OF_SCORE[problem.score]
    for name in problem.those_given("W_S", "W_Sq", "W_Sk", "v_S", "b_S"):
        if name not in problem.of_score:
            kinds = " and ".join(
                kind for kind, (own, more) in OF_SCORE.items() if name in own + more
            )
            raise InputError(
                f"{name} is given, which {problem.score} scores do not take: {kinds} scores do "
                "(score)"
            )
    missing = [name for name in needed if not problem.those_given(name)]
    if missing:
        raise InputError(f"missing matrices: {', '.join(missing)}, of {problem.score} scores")


def check_start(problem: Attention) -> None:
    """Check that every matrix with given scores or weights is read by a step."""
    start = problem.start
    if not start:
        return
    what = "scores" if start == "S" else "weights"
    if start == "S" and problem.A is not None:
        raise InputError("S and A both given: given weights are not computed from scores")
    strange = [f"{start} and {name} both given" for name in problem.those_given(*_MADE_OF)]
    for name, default in (("score", DOT), ("positions", "none"), ("qk_norm", "none")):
        if (value := getattr(problem, name)) != default:
            strange.append(f"{start} is given, and {name} is {value}")
    for fault in strange:
        raise InputError(f"{fault}: {what} that are given are not computed from queries and keys")
    _check_values(problem, what)
    if start == "S":
        _check_given_scores(problem)
    else:
        _check_given_weights(problem)


def _check_values(problem: Attention, what: str) -> None:
    """Check how many heads there are, and that a bias of values has something to be added to."""
    if problem.heads not in (None, problem.n_heads):
        size = problem.size(problem.start)
        raise InputError(
            f"heads is {problem.heads}, and {problem.start} is {size}: {what} are a list of "
            "matrices, one for each head"
        )
    if problem.those_given("W_V", "b_V") and problem.V is None and problem.W_V is None:
        raise InputError("b_V is given, and no W_V: a bias belongs to a projection")


def _check_given_scores(problem: Attention) -> None:
    if problem.scale == SQRT_DK:
        raise InputError(
            "scale is sqrt_dk, and S is given: without queries and keys there is no d_k; use a "
            "number such as 1/2, or none"
        )
    is_upside_down = isinstance(problem.scale, Fraction) and problem.scale <= 0
    for name, harms in (("scale", is_upside_down), ("softcap", problem.softcap is not None)):
        if harms and problem.S is not None and np.isneginf(problem.S).any():
            raise InputError(
                f"S has -inf, of which {name} makes another number: give the scores before the "
                "mask, and the mask as keep, ignore or bias"
            )


def _check_given_weights(problem: Attention) -> None:
    masks = (*MASKS, *OF_HEADS, "rel_bias", "window", "softcap")
    unread = [name for name in masks if getattr(problem, name) is not None]
    unread += [name for name in ("causal", "alibi") if getattr(problem, name)]
    unread += ["normalizer"] if problem.normalizer != "softmax" else []
    unread += ["scale"] if problem.scale != NONE and problem.scale != 1 else []
    for name in unread:
        raise InputError(
            f"{name} is given, and so are the weights A: given weights are not scaled, masked or "
            "normalized again"
        )


def score_faults(problem: Attention) -> Iterator[str]:
    """Find matrices of a score that do not fit queries and keys."""
    d_q, d_k = problem.d_q, problem.d_k
    if problem.score == GENERAL:
        yield from _weights_fault(problem, "W_S", (d_q, d_k), "of queries", "for those of keys")
    elif problem.score == CONCAT:
        shape = (d_q + d_k, problem.d_hidden)
        yield from _weights_fault(problem, "W_S", shape, "of queries and keys side by side", "")
    elif problem.score not in (DOT, "distance"):
        hidden = problem.d_hidden
        yield from _weights_fault(problem, "W_Sq", (d_q, hidden), "of queries", "")
        keys_as = "for as many as queries have in the sum"
        yield from _weights_fault(problem, "W_Sk", (d_k, hidden), "of keys", keys_as)
        if problem.W_Sk is None and d_k != hidden:
            yield (
                f"additive scores add queries of {hidden} numbers to keys of {d_k}: W_Sq and W_Sk "
                "make them equally wide"
            )
    for name in problem.those_given("v_S", "b_S"):
        count, heads = getattr(problem, name).size, problem.n_heads
        if count not in (problem.d_hidden, problem.d_hidden * heads):
            each = f", or {problem.d_hidden * heads} for all heads" if heads > 1 else ""
            yield (
                f"{name} has {count} {'number' if count == 1 else 'numbers'}: it needs "
                f"{problem.d_hidden}{each}, one for each number that tanh is taken of"
            )


def _weights_fault(
    problem: Attention, name: str, shape: tuple[int, int], ins: str, outs: str
) -> Iterator[str]:
    """Find weights of another shape than (in, out), or of other heads."""
    if not problem.those_given(name):
        return
    given = getattr(problem, name)
    upright = problem.standing.upright(name, given)
    heads = len(upright) if upright.ndim == 3 else 1
    own, side = (problem.n_kv_heads, "keys") if name == "W_Sk" else (problem.n_heads, "queries")
    if upright.shape[-2:] == shape:
        if heads not in (1, own):
            each = f", or a list of one for each of the {own} heads of {side}" if own > 1 else ""
            whose = "all heads" if own > 1 else f"the one head of {side}"
            yield f"{name} is {size_of(given)}: it needs to be one matrix for {whose}{each}"
        return
    wanted = shape[::-1] if problem.standing.is_turned(name) else shape
    lead = f"{own} × " if heads > 1 < own else ""
    other = f" and {shape[1]} {outs}" if outs else ""
    yield (
        f"{name} is {size_of(given)}: it needs to be {lead}{wanted[0]} × {wanted[1]}, for the "
        f"{shape[0]} numbers {ins}{other}"
    )
