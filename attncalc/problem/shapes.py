"""Every rule of shape: which matrices a problem needs, and how they must fit together."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from attncalc.errors import InputError, ShapeError
from attncalc.numbers.types import Matrix
from attncalc.problem.fields import BIASES, MASKS, POSITIONS
from attncalc.problem.standing import upright

if TYPE_CHECKING:
    from attncalc.problem.problem import Problem


def size_of(matrix: Matrix) -> str:
    """Return a shape as people write it: "3 × 4"."""
    return " × ".join(str(length) for length in matrix.shape)


def check_shapes(problem: "Problem") -> None:
    """Check that all that is needed is there, nothing twice over, and that all of it fits."""
    _check_presence(problem)
    _refuse(ShapeError, _product_faults(problem))
    _refuse(ShapeError, _head_faults(problem))
    _refuse(ShapeError, _size_faults(problem))
    _refuse(InputError, _mark_faults(problem))


def count_heads(problem: "Problem") -> int:
    """Return how many heads ask: as `heads` says, or as many matrices as are listed for them."""
    listed = problem.W_Q if problem.Q is None else problem.Q
    if listed is not None and listed.ndim == 3:
        return int(listed.shape[0])
    return problem.heads or 1


def count_kv_heads(problem: "Problem") -> int:
    """Return how many heads keys and values have: as many as are listed, or as fit side by side."""
    for name in _given(problem, "K", "W_K", "V", "W_V"):
        if getattr(problem, name).ndim == 3:
            return int(getattr(problem, name).shape[0])
    if problem.n_heads == 1:
        return 1
    return _width(problem, *_given(problem, "K", "W_K")) // problem.d_k


def _refuse(kind: type[InputError], faults: Iterator[str]) -> None:
    found = list(faults)
    if found:
        raise kind("\n".join(found))


def _given(problem: "Problem", *names: str) -> list[str]:
    return [name for name in names if getattr(problem, name) is not None]


def _width(problem: "Problem", name: str) -> int:
    """Return the columns of a matrix that stands upright, all of its heads together."""
    return int(upright(problem, name, getattr(problem, name)).shape[-1])


def _check_presence(problem: "Problem") -> None:
    if problem.X is not None and _given(problem, "X1", "X2", "X3"):
        raise InputError(
            "X together with X1 or X2: self-attention takes X, cross-attention takes X1 and X2"
        )
    sources = {"Q": problem.query_source, "K": problem.key_source, "V": problem.value_source}
    for name, source in sources.items():
        for twice in _given(problem, f"W_{name}", f"b_{name}") if source == name else ():
            raise InputError(f"{name} and {twice} both given: {name} is then not projected")
    projected = {name: source for name, source in sources.items() if source != name}
    _check_missing(problem, projected)
    _check_unused(problem, set(projected.values()))


def _check_missing(problem: "Problem", projected: dict[str, str]) -> None:
    weights = [f"W_{name}" for name in projected if not _given(problem, f"W_{name}")]
    tokens = [source for source in projected.values() if not _given(problem, source)]
    if not _given(problem, "X", "X1", "X2", "Q", "K", "V"):
        tokens = ["X (self-attention) or X1 and X2 (cross-attention)"]
    missing = list(dict.fromkeys([*tokens, *weights]))
    if missing:
        raise InputError(f"missing matrices: {', '.join(missing)}")


def _check_unused(problem: "Problem", used: set[str]) -> None:
    for source in _given(problem, "X", "X1", "X2", "X3"):
        if source not in used:
            raise InputError(f"{source} is given, but Q, K and V leave nothing to project from it")
    for name in _given(problem, *POSITIONS):
        source = name.replace("P", "X")
        if source not in used:
            raise InputError(f"{name} is given, but there is no {source} to add it to")
        if problem.positions == "sinusoidal":
            raise InputError(f"{name} is given, and positions are sinusoidal: give one of them")


def _product_faults(problem: "Problem") -> Iterator[str]:
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


def _source_faults(problem: "Problem", source: str, weights: list[str]) -> Iterator[str]:
    words = _Words(problem)
    X = getattr(problem, source)
    if X.ndim != 2:
        yield f"{source} is {size_of(X)}: tokens are one matrix, whatever the heads"
        return
    tokens, width = upright(problem, source, X).shape
    ins = {name: upright(problem, name, getattr(problem, name)).shape[-2] for name in weights}
    wrong = [name for name in weights if ins[name] != width]
    if len(wrong) == len(weights) and set(ins.values()) == {tokens} and tokens != width:
        yield (
            f"{source} is {size_of(X)}, and the weights it is multiplied by "
            f"({', '.join(weights)}) have {tokens} {words.ins}: they need as many as {source} has "
            f"{words.width} ({width}). {source} looks transposed: tokens are {problem.layout}"
        )
        return
    for name in wrong:
        W = getattr(problem, name)
        turned = upright(problem, name, W).shape[-1] == width
        yield (
            f"{source} is {size_of(X)} and {name} is {size_of(W)}: "
            f"for {words.product(source, name)}, {name} needs as many {words.ins} as {source} has "
            f"{words.width} ({width})" + (f". {name} looks transposed" if turned else "")
        )


class _Words:
    """What rows and columns are called in a problem's own layout."""

    def __init__(self, problem: "Problem") -> None:
        self.by_columns = problem.layout == "columns"
        stored_out_in = self.by_columns or problem.weights_layout == "torch"
        self.ins = "columns" if stored_out_in else "rows"
        self.outs = "rows" if stored_out_in else "columns"
        self.width = "rows" if self.by_columns else "columns"
        self.transposed = "ᵀ" if stored_out_in and not self.by_columns else ""

    def product(self, source: str, weights: str) -> str:
        if self.by_columns:
            return f"{weights} {source}"
        return f"{source} {weights}{self.transposed}"


def _head_faults(problem: "Problem") -> Iterator[str]:
    """Find the matrices that do not part into heads."""
    words = _Words(problem)
    (asking,) = _given(problem, "Q", "W_Q")
    heads = problem.n_heads
    if problem.heads not in (None, heads):
        yield f"heads is {problem.heads}, but {asking} lists {heads} matrices"
        return
    if getattr(problem, asking).ndim == 2 and _width(problem, asking) % heads:
        yield (
            f"{asking} is {size_of(getattr(problem, asking))}: "
            f"its {_width(problem, asking)} {words.outs} cannot be parted into {heads} heads"
        )
        return
    yield from _kv_head_faults(problem, words)


def _kv_head_faults(problem: "Problem", words: _Words) -> Iterator[str]:
    (asking,), (answering,), (giving,) = (
        _given(problem, "Q", "W_Q"),
        _given(problem, "K", "W_K"),
        _given(problem, "V", "W_V"),
    )
    groups, heads = problem.n_kv_heads, problem.n_heads
    width = _width(problem, answering)
    keys_d = width if getattr(problem, answering).ndim == 3 else width // max(groups, 1)
    if keys_d != problem.d_k or groups < 1 or (groups * problem.d_k != width and keys_d != width):
        for_each = " for each head" if heads > 1 else ""
        yield (
            f"{asking} is {size_of(getattr(problem, asking))} and {answering} is "
            f"{size_of(getattr(problem, answering))}: both need the same number of {words.outs} "
            f"(d_k){for_each}, for {'Kᵀ Q' if words.by_columns else 'Q Kᵀ'} to exist"
        )
    elif heads % groups:
        yield (
            f"{heads} query heads cannot share {groups} key and value heads: "
            "the second number must divide the first"
        )
    elif getattr(problem, giving).ndim == 3:
        if getattr(problem, giving).shape[0] != groups:
            yield f"{giving} lists {len(getattr(problem, giving))} matrices, {answering} {groups}"
    elif _width(problem, giving) % groups:
        yield (
            f"{giving} is {size_of(getattr(problem, giving))}: "
            f"its {_width(problem, giving)} {words.outs} cannot be parted into {groups} heads"
        )


def _size_faults(problem: "Problem") -> Iterator[str]:
    """Find what does not have the one shape that it must have."""
    yield from _token_faults(problem)
    words = _Words(problem)
    joined = problem.d_v * (problem.n_heads if problem.combine == "concat" else 1)
    if problem.W_O is not None:
        standing = upright(problem, "W_O", problem.W_O)
        if standing.ndim != 2 or standing.shape[0] != joined:
            yield (
                f"W_O is {size_of(problem.W_O)}: it needs {joined} {words.ins}, "
                "one for each number the heads give together"
            )
    out = joined if problem.W_O is None else _width(problem, "W_O")
    widths = {
        "b_Q": problem.d_k * problem.n_heads,
        "b_K": problem.d_k * problem.n_kv_heads,
        "b_V": problem.d_v * problem.n_kv_heads,
        "b_O": out,
    }
    for name in _given(problem, *BIASES):
        if getattr(problem, name).size != widths[name]:
            yield (
                f"{name} has {getattr(problem, name).size} numbers: it needs {widths[name]}, "
                f"one for each of the {words.outs} of {'W' + name[1:]}"
            )
    for name in _given(problem, *MASKS):
        yield from _mask_faults(problem, name)
    if problem.positions == "rope" and problem.d_k % 2:
        yield f"rope turns pairs of columns: d_k must be even, and is {problem.d_k}"


def _token_faults(problem: "Problem") -> Iterator[str]:
    for name in _given(problem, *POSITIONS):
        source = name.replace("P", "X")
        if getattr(problem, name).shape != getattr(problem, source).shape:
            yield (
                f"{name} is {size_of(getattr(problem, name))} and {source} is "
                f"{size_of(getattr(problem, source))}: positions need the shape of their tokens"
            )
    values = upright(problem, problem.value_source, getattr(problem, problem.value_source))
    if values.shape[-2] != problem.m:
        yield (
            f"{problem.key_source} has {problem.m} tokens and {problem.value_source} has "
            f"{values.shape[-2]}: each key needs its value"
        )


def _mask_faults(problem: "Problem", name: str) -> Iterator[str]:
    n, m, heads = problem.n, problem.m, problem.n_heads
    mask = upright(problem, name, getattr(problem, name))
    fits = mask.shape[-1] == m and mask.shape[-2] in (1, n)
    if mask.ndim == 3:
        fits = fits and mask.shape[0] in (1, heads)
    if not fits:
        n_m, one_m = (n, m), (1, m)
        if problem.layout == "columns":
            n_m, one_m = (m, n), (m, 1)
        yield (
            f"{name} is {size_of(getattr(problem, name))}: it needs to be {n_m[0]} × {n_m[1]}, "
            f"{one_m[0]} × {one_m[1]} or {heads} × {n_m[0]} × {n_m[1]}"
        )


def _mark_faults(problem: "Problem") -> Iterator[str]:
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
