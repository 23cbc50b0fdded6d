"""All rules of shapes: the required matrices, and how they must match."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from attncalc.base.errors import InputError, ShapeError
from attncalc.problem.attention.attention import GAINS, SAME_WIDTH, Attention, size_of
from attncalc.problem.attention.declared import (
    ADDITIVE,
    CONCAT,
    DOT,
    GENERAL,
    NONE,
    OF_SCORE,
    SQRT_DK,
)
from attncalc.problem.fields import MASKS, OF_HEADS, POSITIONS

MOST_BUCKETS = 1024
"""The largest number of buckets of distances, whose limits are searched."""
LARGEST_ANGLE = 10**9
"""The largest angle of rope in radians: float64 is too coarse for larger ones."""


def check_shapes(problem: Attention) -> None:
    """Check that all required matrices are given, none twice, and that all shapes match."""
    _check_presence(problem)
    _refuse(ShapeError, _product_faults(problem))
    if not problem.start:
        _refuse(ShapeError, _head_faults(problem))
        _refuse(ShapeError, score_faults(problem))
    elif problem.has_values:
        _refuse(ShapeError, value_head_faults(problem))
    _refuse(ShapeError, _size_faults(problem))
    _refuse(InputError, _mark_faults(problem))
    _refuse(InputError, _angle_faults(problem))


def _refuse(kind: type[InputError], faults: Iterator[str]) -> None:
    found = list(faults)
    if found:
        raise kind("\n".join(found))


def _check_presence(problem: Attention) -> None:
    if problem.X is not None and problem.those_given("X1", "X2", "X3"):
        raise InputError(
            "X together with X1 or X2: self-attention takes X, cross-attention takes X1 and X2"
        )
    check_start(problem)
    check_score(problem)
    for name, source in problem.sources.items():
        for twice in problem.those_given(f"W_{name}", f"b_{name}") if source == name else ():
            but = (
                ""
                if problem.score != ADDITIVE or twice not in ("W_Q", "W_K")
                else f"; additive scores multiply it by W_S{twice[-1].lower()}"
            )
            raise InputError(f"{name} and {twice} both given: {name} is then not projected{but}")
    projected = {name: source for name, source in problem.sources.items() if source != name}
    _check_missing(problem, projected)
    for name in problem.those_given(*GAINS) if problem.qk_norm == "none" else ():
        raise InputError(f"{name} is given, and qk_norm is none: set rms or layer")
    if problem.sinks is not None and problem.normalizer != "softmax":
        raise InputError(
            f"sinks are given, and the normalizer is {problem.normalizer}: they join the sum of a "
            "softmax"
        )
    _check_frequencies(problem)
    _check_unused(problem, set(projected.values()))


def _check_frequencies(problem: Attention) -> None:
    if problem.positions != "rope":
        for name, are in (("rope_frequencies", "are"), ("rope_scaling", "is"), ("rope_dims", "is")):
            if getattr(problem, name) is not None:
                raise InputError(
                    f"{name} {are} given, and positions are {problem.positions}: set rope"
                )
    if problem.rope_frequencies is not None and problem.rope_scaling is not None:
        raise InputError("rope_frequencies and rope_scaling are both given: pass only one")


def _check_missing(problem: Attention, projected: dict[str, str]) -> None:
    weights = [
        f"W_{name}"
        for name in projected
        if not (problem.those_given(f"W_{name}") or problem.is_bare(name))
    ]
    tokens = [source for source in projected.values() if not problem.those_given(source)]
    if not problem.those_given("X", "X1", "X2", "Q", "K", "V", "S", "A"):
        tokens = ["X (self-attention) or X1 and X2 (cross-attention)"]
    missing = list(dict.fromkeys([*tokens, *weights]))
    if missing:
        raise InputError(f"missing matrices: {', '.join(missing)}")


def _check_unused(problem: Attention, used: set[str]) -> None:
    for source in problem.those_given("X", "X1", "X2", "X3"):
        if source not in used:
            leave = f"{problem.start} leaves" if problem.start else "Q, K and V leave"
            raise InputError(f"{source} is given, but {leave} nothing to project from it")
    for name in problem.those_given(*POSITIONS):
        source = name.replace("P", "X")
        if source not in used:
            raise InputError(f"{name} is given, but there is no {source} to add it to")
        if problem.positions == "sinusoidal":
            raise InputError(f"{name} is given, and positions are sinusoidal: give one of them")


def _product_faults(problem: Attention) -> Iterator[str]:
    """Find weights that do not match their tokens."""
    groups: dict[str, list[str]] = {}
    for name, source in problem.sources.items():
        if source not in problem.sources:
            groups.setdefault(source, []).extend([] if problem.is_bare(name) else [f"W_{name}"])
    for source, names in groups.items():
        yield from _source_faults(problem, source, names)


def _source_faults(problem: Attention, source: str, weights: list[str]) -> Iterator[str]:
    standing = problem.standing
    X = getattr(problem, source)
    if X.ndim != 2:
        yield f"{source} is {size_of(X)}: tokens are one matrix for all heads"
        return
    tokens, width = standing.upright(source, X).shape
    ins = {name: standing.upright(name, getattr(problem, name)).shape[-2] for name in weights}
    wrong = [name for name in weights if ins[name] != width]
    looks_turned = len(wrong) == len(weights) and set(ins.values()) == {tokens}
    if looks_turned or (len(wrong) > 1 and len({*ins.values()}) == 1):
        # one change of the tokens makes all of it match, and no change of one of the weights
        (needed,) = {*ins.values()}
        yield (
            f"{source} is {size_of(X)}, and the weights it is multiplied by "
            f"({', '.join(weights)}) have {needed} {standing.ins}: "
            f"{source} needs {needed} {standing.features}"
            + _how_all_fit(problem, source, weights, width, looks_turned=looks_turned)
        )
        return
    for name in wrong:
        W = getattr(problem, name)
        turned = standing.upright(name, W).shape[-1] == width
        yield (
            f"{source} is {size_of(X)} and {name} is {size_of(W)}: "
            f"for {_product(problem, source, name)}, {name} needs as many {standing.ins} as "
            f"{source} has {standing.features} ({width})"
            + (f". {name} looks transposed" if turned else "")
        )


def _how_all_fit(
    problem: Attention, source: str, weights: list[str], width: int, *, looks_turned: bool
) -> str:
    """Return the layout in which tokens and all of their weights would match."""
    if looks_turned:
        return f". {source} looks transposed: tokens are {problem.layout}"
    standing = problem.standing
    outs = {standing.upright(name, getattr(problem, name)).shape[-1] for name in weights}
    if outs != {width}:
        return ""
    stored, other = ("(out, in)", "torch") if not standing.out_in else ("(in, out)", "in-out")
    return f"; or, where the weights are stored {stored}, set weights_layout {other}"


def _product(problem: Attention, source: str, weights: str) -> str:
    stored = problem.standing
    turned = "ᵀ" if stored.out_in and not stored.by_columns else ""
    return " ".join(stored.pair(source, f"{weights}{turned}"))


def _head_faults(problem: Attention) -> Iterator[str]:
    """Find matrices that cannot be split into heads."""
    heads, asking = problem.n_heads, _widest(problem, "Q")
    if problem.is_bare("Q"):
        if heads > 1:
            yield (
                f"heads is {heads}, and {asking} are the queries themselves (no "
                "W_Q), which have one head: give W_Q, or leave out heads"
            )
            return
    elif problem.heads not in (None, heads):
        yield f"heads is {problem.heads}, but {asking} lists {heads} matrices"
        return
    elif getattr(problem, asking).ndim == 2 and problem.width_of(asking) % heads:
        yield _undivided(problem, asking, heads)
        return
    yield from _kv_head_faults(problem)


def _undivided(problem: Attention, name: str, heads: int) -> str:
    width, outs = problem.width_of(name), problem.standing.outs
    return (
        f"{name} is {problem.size(name)}: its {width} {outs} cannot be divided into {heads} heads"
    )


def _kv_head_faults(problem: Attention) -> Iterator[str]:
    asking, answering = _widest(problem, "Q"), _widest(problem, "K")
    groups, heads = problem.n_kv_heads, problem.n_heads
    if heads > 1 and problem.is_bare("K"):
        yield (
            f"{heads} heads of queries, and {answering} are the keys themselves (no W_K), which "
            "have one head: give W_K"
        )
        return
    width = problem.width_of(answering)
    keys_d = width if getattr(problem, answering).ndim == 3 else width // max(groups, 1)
    is_one_width = problem.score in SAME_WIDTH
    if heads == 1 and not is_one_width:
        keys_d = problem.d_k  # the matrices of the score determine their width
    if keys_d != problem.d_k or groups < 1 or (groups * problem.d_k != width and keys_d != width):
        outs, for_each = problem.standing.outs, " for each head" if heads > 1 else ""
        why = f"{problem.score} scores take keys of {problem.d_k} {outs}{for_each}"
        if problem.score == DOT:
            product = " ".join(problem.standing.pair("Q", "Kᵀ"))
            why = f"both need the same number of {outs} (d_k){for_each}, for {product} to exist"
        sizes = [f"{name} is {problem.size(name)}" for name in (asking, answering)]
        yield f"{' and '.join(sizes)}: {why}"
    elif heads % groups:
        yield (
            f"{heads} query heads cannot share {groups} key and value heads: "
            "the second number must divide the first"
        )
    elif not problem.is_bare("V"):
        yield from value_head_faults(problem)


def _widest(problem: Attention, name: str) -> str:
    """Return the matrix that determines the width of queries, keys or values, by Q, K or V."""
    given = problem.those_given(name, f"W_{name}")
    return given[0] if given else problem.sources[name]


def value_head_faults(problem: Attention) -> Iterator[str]:
    """Find values that cannot be split into heads as keys are."""
    giving, groups = _widest(problem, "V"), problem.n_kv_heads
    answering = problem.start or _widest(problem, "K")
    if problem.start and problem.n_heads % groups:
        yield (
            f"{problem.n_heads} heads of {problem.start} cannot share {groups} heads of "
            f"{giving}: the second number must divide the first"
        )
    elif getattr(problem, giving).ndim == 3:
        if getattr(problem, giving).shape[0] != groups:
            yield f"{giving} lists {len(getattr(problem, giving))} matrices, {answering} {groups}"
    elif problem.width_of(giving) % groups:
        yield _undivided(problem, giving, groups)


def _size_faults(problem: Attention) -> Iterator[str]:
    yield from _token_faults(problem)
    standing = problem.standing
    yield from _output_faults(problem)
    widths = {
        "b_Q": problem.d_q * problem.n_heads,
        "b_K": problem.d_k * problem.n_kv_heads,
        "b_V": problem.d_v * problem.n_kv_heads,
        "b_O": problem.d_out,
    }
    for name in problem.those_given(*widths):
        if name != "b_O" and problem.is_bare(name[-1]):
            yield f"{name} is given, and no W_{name[-1]}: a bias belongs to a projection"
        elif getattr(problem, name).size != widths[name]:
            yield (
                f"{name} has {getattr(problem, name).size} numbers: it needs {widths[name]}, "
                f"one for each of the {standing.outs} of {'W' + name[1:]}"
            )
    yield from _past_faults(problem)
    for name in problem.those_given(*GAINS):
        yield from _gain_faults(problem, name)
    for name in problem.those_given(*OF_HEADS):
        if (count := getattr(problem, name).size) != problem.n_heads:
            heads = "one head" if problem.n_heads == 1 else f"each of {problem.n_heads} heads"
            yield f"{name} has {count} numbers: it needs {problem.n_heads}, one for {heads}"
    yield from _table_faults(problem)
    for name in problem.those_given(*MASKS):
        yield from _mask_faults(problem, name)
    yield from _rope_faults(problem)


def _output_faults(problem: Attention) -> Iterator[str]:
    for name in problem.those_given("W_O", "b_O") if not problem.has_values else ():
        yield f"{name} is given, and no V: there is nothing to project"
    if problem.W_O is None or not problem.has_values:
        return
    upright = problem.standing.upright("W_O", problem.W_O)
    if upright.ndim != 2 or upright.shape[0] != problem.d_joined:
        yield (
            f"W_O is {problem.size('W_O')}: it needs {problem.d_joined} {problem.standing.ins}, "
            "one for each number the heads give together"
        )


def _table_faults(problem: Attention) -> Iterator[str]:
    """Find a table of biases with other heads, or too few buckets."""
    table, heads = problem.rel_bias, problem.n_heads
    if table is None:
        return
    if table.ndim == 3 or (heads > 1 and table.shape[1] != heads):
        is_turned = table.ndim == 2 and table.shape[0] == heads
        yield (
            f"rel_bias is {size_of(table)}: it needs a row for each bucket, and {heads} columns, "
            f"one for each head{'. rel_bias looks transposed' if is_turned else ''}"
        )
        return
    buckets = table.size // heads
    ways = 2 if problem.rel_both_ways else 1
    if heads == 1 and min(table.shape) > 1:
        yield f"rel_bias is {size_of(table)}: of one head it needs one number for each bucket"
    elif buckets > MOST_BUCKETS:
        yield f"rel_bias has {buckets} buckets: there can be {MOST_BUCKETS}"
    elif buckets < 2 * ways or buckets % ways:
        even = "an even number of buckets from 4, half of them for keys behind a query"
        yield f"rel_bias has {buckets} buckets: it needs {even if ways == 2 else '2 or more'}"
    elif problem.rel_max_distance <= buckets // ways // 2:
        yield (
            f"rel_max_distance is {problem.rel_max_distance}: with {buckets} buckets it must be "
            f"above {buckets // ways // 2}, the distances that have a bucket each"
        )


def _gain_faults(problem: Attention, name: str) -> Iterator[str]:
    heads, count = problem.heads_of(name), getattr(problem, name).size
    width, of = (problem.d_q, "queries") if name.endswith("Q") else (problem.d_k, "keys")
    if count not in (width, width * heads):
        each = f", or {width * heads}, as many for each of {heads} heads" if heads > 1 else ""
        one = f"one for each column of a head's {of}{each}"
        yield f"{name} has {count} numbers: it needs {width}, {one}"


def _rope_faults(problem: Attention) -> Iterator[str]:
    """Find columns that cannot be paired, and pairs without a frequency."""
    if problem.positions != "rope":
        return
    narrowest = min(problem.d_q, problem.d_k)
    odd = next((width for width in (problem.d_q, problem.d_k) if width % 2), problem.d_k)
    turned = problem.rope_dims or odd
    if turned > narrowest:
        yield f"rope_dims is {turned}, and a head's queries have {narrowest} columns to turn"
    elif turned % 2:
        yield f"rope turns pairs of columns: d_k must be even, and is {turned}"
    elif problem.rope_frequencies is not None and problem.rope_frequencies.size * 2 != turned:
        count, pairs = problem.rope_frequencies.size, turned // 2
        yield (
            f"rope_frequencies has {count} numbers: it needs {pairs}, one for each pair of the "
            f"{turned} columns that are turned"
        )


def _token_faults(problem: Attention) -> Iterator[str]:
    for name in problem.those_given(*POSITIONS):
        source = name.replace("P", "X")
        if getattr(problem, name).shape != getattr(problem, source).shape:
            yield (
                f"{name} is {problem.size(name)} and {source} is "
                f"{problem.size(source)}: positions need the shape of their tokens"
            )
    source, count = problem.value_source, problem.tokens_of(problem.value_source)
    if not problem.has_values or problem.n_past + count == problem.m:
        return
    what = f"{problem.key_source} has {problem.m} tokens and {source} has {count}"
    if problem.start:
        size = problem.size(problem.start)
        what = f"{problem.start} is {size}, with {problem.m} keys, and {source} has {count} tokens"
    yield f"{what}: each key needs its value"


def _past_faults(problem: Attention) -> Iterator[str]:
    for name, other in (("past_K", "past_V"), ("past_V", "past_K")):
        if problem.those_given(name) and not problem.those_given(other):
            yield f"{name} is given, and no {other}: each earlier key needs its value"
            return
    if problem.past_K is None:
        return
    heads = problem.n_kv_heads
    for name, width in (("past_K", problem.d_k), ("past_V", problem.d_v)):
        past = getattr(problem, name)
        upright = problem.standing.upright(name, past)
        wanted = (heads, width) if upright.ndim == 3 else (width * heads,)
        if (*upright.shape[:-2], upright.shape[-1]) != wanted:
            yield (
                f"{name} is {size_of(past)}: it needs {width * heads} {problem.standing.features}, "
                f"as the new {name[-1]} has"
            )
            return
    keys, values = map(problem.tokens_of, ("past_K", "past_V"))
    if keys != values:
        yield f"past_K has {keys} tokens and past_V {values}: each earlier key needs its value"


def _mask_faults(problem: Attention, name: str) -> Iterator[str]:
    n, m, heads = problem.n, problem.m, problem.n_heads
    mask = problem.standing.upright(name, getattr(problem, name))
    fits = mask.shape[-1] == m and mask.shape[-2] in (1, n)
    if mask.ndim == 3:
        fits = fits and mask.shape[0] in (1, heads)
    if not fits:
        n_m, one_m = problem.standing.pair(n, m), problem.standing.pair(1, m)
        yield (
            f"{name} is {problem.size(name)}: it needs to be {n_m[0]} × {n_m[1]}, "
            f"{one_m[0]} × {one_m[1]} or {heads} × {n_m[0]} × {n_m[1]}"
        )


def _angle_faults(problem: Attention) -> Iterator[str]:
    """Find rope angles too large for float64."""
    if problem.positions != "rope":
        return
    farthest = max(abs(place) for place in problem.rope_places) + max(problem.n, problem.m)
    factor = 1 if problem.rope_scaling is None else problem.rope_scaling.factor
    fastest = 1 / (min(Fraction(1), Fraction(problem.rope_base)) * min(1, factor))
    if problem.rope_frequencies is not None:
        fastest = Fraction(float(np.abs(problem.rope_frequencies).max()))
    if farthest * fastest > LARGEST_ANGLE:
        yield (
            "rope turns by angles that are too large for their sines to be right (above "
            f"{LARGEST_ANGLE:,}): give a smaller rope_offset or rope_query_offset, "
            "or a rope_base from 1"
        )


def _mark_faults(problem: Attention) -> Iterator[str]:
    """Find an entry that is both kept and ignored."""
    if problem.keep is not None and problem.ignore is not None:
        for *_, row, column in np.argwhere(problem.keep & problem.ignore)[:1] + 1:
            yield f"keep and ignore both mark row {row}, column {column}"


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
