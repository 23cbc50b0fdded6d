"""Every rule of shape: which matrices a problem needs, and how they must fit together."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from attncalc.errors import InputError, ShapeError
from attncalc.numbers.types import Matrix
from attncalc.problem.attention.attention import Attention
from attncalc.problem.fields import BIASES, MASKS, POSITIONS
from attncalc.problem.standing import Standing

LARGEST_ANGLE = 10**9
"""Radians of rope: of larger angles float64 does not hold enough to turn by."""


def size_of(matrix: Matrix) -> str:
    """Return a shape as people write it: "3 × 4"."""
    return " × ".join(str(length) for length in matrix.shape)


def check_shapes(problem: Attention) -> None:
    """Check that all that is needed is there, nothing twice over, and that all of it fits."""
    _check_presence(problem)
    _refuse(ShapeError, _product_faults(problem))
    _refuse(ShapeError, _head_faults(problem))
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
    sources = {"Q": problem.query_source, "K": problem.key_source, "V": problem.value_source}
    for name, source in sources.items():
        for twice in problem.those_given(f"W_{name}", f"b_{name}") if source == name else ():
            raise InputError(f"{name} and {twice} both given: {name} is then not projected")
    projected = {name: source for name, source in sources.items() if source != name}
    _check_missing(problem, projected)
    _check_unused(problem, set(projected.values()))


def _check_missing(problem: Attention, projected: dict[str, str]) -> None:
    weights = [f"W_{name}" for name in projected if not problem.those_given(f"W_{name}")]
    tokens = [source for source in projected.values() if not problem.those_given(source)]
    if not problem.those_given("X", "X1", "X2", "Q", "K", "V"):
        tokens = ["X (self-attention) or X1 and X2 (cross-attention)"]
    missing = list(dict.fromkeys([*tokens, *weights]))
    if missing:
        raise InputError(f"missing matrices: {', '.join(missing)}")


def _check_unused(problem: Attention, used: set[str]) -> None:
    for source in problem.those_given("X", "X1", "X2", "X3"):
        if source not in used:
            raise InputError(f"{source} is given, but Q, K and V leave nothing to project from it")
    for name in problem.those_given(*POSITIONS):
        source = name.replace("P", "X")
        if source not in used:
            raise InputError(f"{name} is given, but there is no {source} to add it to")
        if problem.positions == "sinusoidal":
            raise InputError(f"{name} is given, and positions are sinusoidal: give one of them")


def _product_faults(problem: Attention) -> Iterator[str]:
    """Find the weights that their tokens cannot be multiplied by."""
    groups: dict[str, list[str]] = {}
    for weights, source in (
        ("W_Q", problem.query_source),
        ("W_K", problem.key_source),
        ("W_V", problem.value_source),
    ):
        if source not in ("Q", "K", "V"):
            groups.setdefault(source, []).append(weights)
    for source, names in groups.items():
        yield from _source_faults(problem, source, names)


def _source_faults(problem: Attention, source: str, weights: list[str]) -> Iterator[str]:
    standing = problem.standing
    X = getattr(problem, source)
    if X.ndim != 2:
        yield f"{source} is {size_of(X)}: tokens are one matrix, whatever the heads"
        return
    tokens, width = standing.upright(source, X).shape
    ins = {name: standing.upright(name, getattr(problem, name)).shape[-2] for name in weights}
    wrong = [name for name in weights if ins[name] != width]
    if len(wrong) == len(weights) and set(ins.values()) == {tokens} and tokens != width:
        yield (
            f"{source} is {size_of(X)}, and the weights it is multiplied by "
            f"({', '.join(weights)}) have {tokens} {standing.ins}: they need as many as "
            f"{source} has {standing.features} ({width}). "
            f"{source} looks transposed: tokens are {problem.layout}"
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


def _product(problem: Attention, source: str, weights: str) -> str:
    stored = problem.standing
    turned = "ᵀ" if stored.out_in and not stored.by_columns else ""
    return " ".join(stored.pair(source, f"{weights}{turned}"))


def _head_faults(problem: Attention) -> Iterator[str]:
    """Find the matrices that do not part into heads."""
    standing = problem.standing
    (asking,) = problem.those_given("Q", "W_Q")
    heads = problem.n_heads
    if problem.heads not in (None, heads):
        yield f"heads is {problem.heads}, but {asking} lists {heads} matrices"
        return
    if getattr(problem, asking).ndim == 2 and problem.width_of(asking) % heads:
        yield (
            f"{asking} is {size_of(getattr(problem, asking))}: "
            f"its {problem.width_of(asking)} {standing.outs} cannot be parted into {heads} heads"
        )
        return
    yield from _kv_head_faults(problem, standing)


def _kv_head_faults(problem: Attention, standing: Standing) -> Iterator[str]:
    (asking,), (answering,), (giving,) = (
        problem.those_given("Q", "W_Q"),
        problem.those_given("K", "W_K"),
        problem.those_given("V", "W_V"),
    )
    groups, heads = problem.n_kv_heads, problem.n_heads
    width = problem.width_of(answering)
    keys_d = width if getattr(problem, answering).ndim == 3 else width // max(groups, 1)
    if keys_d != problem.d_k or groups < 1 or (groups * problem.d_k != width and keys_d != width):
        for_each = " for each head" if heads > 1 else ""
        yield (
            f"{asking} is {size_of(getattr(problem, asking))} and {answering} is "
            f"{size_of(getattr(problem, answering))}: both need the same number of {standing.outs} "
            f"(d_k){for_each}, for {' '.join(standing.pair('Q', 'Kᵀ'))} to exist"
        )
    elif heads % groups:
        yield (
            f"{heads} query heads cannot share {groups} key and value heads: "
            "the second number must divide the first"
        )
    elif getattr(problem, giving).ndim == 3:
        if getattr(problem, giving).shape[0] != groups:
            yield f"{giving} lists {len(getattr(problem, giving))} matrices, {answering} {groups}"
    elif problem.width_of(giving) % groups:
        yield (
            f"{giving} is {size_of(getattr(problem, giving))}: "
            f"its {problem.width_of(giving)} {standing.outs} cannot be parted into {groups} heads"
        )


def _size_faults(problem: Attention) -> Iterator[str]:
    """Find what does not have the one shape that it must have."""
    yield from _token_faults(problem)
    standing = problem.standing
    joined = problem.d_v * (problem.n_heads if problem.combine == "concat" else 1)
    if problem.W_O is not None:
        upright = standing.upright("W_O", problem.W_O)
        if upright.ndim != 2 or upright.shape[0] != joined:
            yield (
                f"W_O is {size_of(problem.W_O)}: it needs {joined} {standing.ins}, "
                "one for each number the heads give together"
            )
    out = joined if problem.W_O is None else problem.width_of("W_O")
    widths = {
        "b_Q": problem.d_k * problem.n_heads,
        "b_K": problem.d_k * problem.n_kv_heads,
        "b_V": problem.d_v * problem.n_kv_heads,
        "b_O": out,
    }
    for name in problem.those_given(*BIASES):
        if getattr(problem, name).size != widths[name]:
            yield (
                f"{name} has {getattr(problem, name).size} numbers: it needs {widths[name]}, "
                f"one for each of the {standing.outs} of {'W' + name[1:]}"
            )
    for name in problem.those_given(*MASKS):
        yield from _mask_faults(problem, name)
    if problem.positions == "rope" and problem.d_k % 2:
        yield f"rope turns pairs of columns: d_k must be even, and is {problem.d_k}"


def _token_faults(problem: Attention) -> Iterator[str]:
    for name in problem.those_given(*POSITIONS):
        source = name.replace("P", "X")
        if getattr(problem, name).shape != getattr(problem, source).shape:
            yield (
                f"{name} is {size_of(getattr(problem, name))} and {source} is "
                f"{size_of(getattr(problem, source))}: positions need the shape of their tokens"
            )
    values = problem.standing.upright(problem.value_source, getattr(problem, problem.value_source))
    if values.shape[-2] != problem.m:
        yield (
            f"{problem.key_source} has {problem.m} tokens and {problem.value_source} has "
            f"{values.shape[-2]}: each key needs its value"
        )


def _mask_faults(problem: Attention, name: str) -> Iterator[str]:
    n, m, heads = problem.n, problem.m, problem.n_heads
    mask = problem.standing.upright(name, getattr(problem, name))
    fits = mask.shape[-1] == m and mask.shape[-2] in (1, n)
    if mask.ndim == 3:
        fits = fits and mask.shape[0] in (1, heads)
    if not fits:
        n_m, one_m = problem.standing.pair(n, m), problem.standing.pair(1, m)
        yield (
            f"{name} is {size_of(getattr(problem, name))}: it needs to be {n_m[0]} × {n_m[1]}, "
            f"{one_m[0]} × {one_m[1]} or {heads} × {n_m[0]} × {n_m[1]}"
        )


def _angle_faults(problem: Attention) -> Iterator[str]:
    """Find angles of rope's so large that nothing is known of where they point."""
    if problem.positions != "rope":
        return
    farthest = max(abs(place) for place in problem.rope_places) + max(problem.n, problem.m)
    if farthest / min(Fraction(1), Fraction(problem.rope_base)) > LARGEST_ANGLE:
        yield (
            "rope turns by angles that are too large for their sines to be right (above "
            f"{LARGEST_ANGLE:,}): give a smaller rope_offset or rope_query_offset, "
            "or a rope_base from 1"
        )


def _mark_faults(problem: Attention) -> Iterator[str]:
    """Find an entry that is both kept and ignored."""
    if problem.keep is None or problem.ignore is None:
        return
    both = np.argwhere(problem.keep & problem.ignore)
    if len(both):
        *_, row, column = both[0] + 1
        yield (
            f"keep and ignore both mark row {row}, column {column}: "
            "a query may attend there or may not"
        )
