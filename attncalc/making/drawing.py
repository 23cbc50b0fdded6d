"""Candidates: the matrices of a problem, drawn from the requested numbers."""

from bisect import bisect
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, islice, repeat
from math import prod
from random import Random
from typing import Any

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.types import Matrix
from attncalc.making.wishes import Wishes
from attncalc.problem.attention.declared import CONCAT, DOT, OF_SCORE
from attncalc.problem.fields import NESTED, TOKENS, own_name, read_setting, role_of
from attncalc.problem.problem import Problem
from attncalc.problem.standing import Standing
from attncalc.problem.stating import deciding

Drawn = float | Fraction

Shapes = dict[str, tuple[int, ...]]
"""The shape of each matrix, upright, by its name: such as X, or cross.W_Q in a decoder."""

MOST_FILLED = 100
"""Number of times that rows and columns are redrawn before rows of zeros count as unavoidable."""
OF_A_HEAD = ("W_Q", "W_K", "W_V")
"""Weights that each head has columns of."""
OF_LAYERS = {"encoder": ("",), "decoder": ("self.", "cross.")}
"""The attentions of a layer, by the prefix of the names of their matrices."""


def shapes_of(wishes: Wishes) -> Shapes:
    """Return the shape of each given matrix of a problem of this kind."""
    if wishes.like is not None:
        return {name: matrix.shape for name, matrix in given_upright(wishes.like).items()}
    shapes: Shapes = dict(_needed(wishes))
    possible = dict(_possible(wishes, shapes))
    for name in wishes.also:
        if name not in possible:
            others = ", ".join(possible)
            raise InputError(f"also accepts other matrices of this problem ({others}), not {name}")
        shapes[name] = possible[name]
    return shapes


def given_upright(problem: Problem) -> dict[str, Matrix]:
    """Return the matrices of a problem that can be redrawn, upright: all but its masks.

    Numbers of equations, and matrices that their conditions and places read, stay.
    """
    stay = {name for name, matrix in problem.more.items() if np.size(matrix) == 1}
    if problem.equations:
        stay |= deciding(problem.equations)
    return {
        name: problem.standing.upright(own_name(name), problem.as_typed(name))
        for name in problem.names
        if role_of(name) not in ("marks", "scores") and name not in stay
    }


def _needed(wishes: Wishes) -> Iterator[tuple[str, tuple[int, ...]]]:
    tokens, d, heads = wishes.tokens, wishes.d, wishes.heads
    if wishes.kind in ("self", "encoder"):
        yield "X", (tokens, d)
    else:
        yield "X1", (tokens, d)
        yield "X2", (wishes.keys or tokens, wishes.d_keys or d)
    for prefix in OF_LAYERS.get(wishes.kind, ("",)):
        d_keys = (wishes.d_keys or d) if wishes.kind == "cross" or prefix == "cross." else d
        yield f"{prefix}W_Q", (d, wishes.d_k * heads)
        yield f"{prefix}W_K", (d_keys, wishes.d_k * heads)
        yield f"{prefix}W_V", (d_keys, _d_v(wishes) * heads)
        yield from ((f"{prefix}{name}", shape) for name, shape in _of_score(wishes)[0].items())
        if wishes.kind in OF_LAYERS and _d_joined(wishes) != d:  # residual connections add O to X
            yield f"{prefix}W_O", (_d_joined(wishes), d)
    if wishes.kind in OF_LAYERS:
        yield "W_1", (d, wishes.d_ff or d)
        yield "W_2", (wishes.d_ff or d, d)


def _possible(wishes: Wishes, needed: Shapes) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the additional matrices that such a problem can have."""
    for name, (*_, outs) in needed.items():
        prefix, is_weight, weights = name.rpartition("W_")
        if is_weight and weights != "S":
            yield f"{prefix}b_{weights}", (1, outs)
        elif name.startswith("X"):
            yield name.replace("X", "P"), needed[name]
    for prefix in OF_LAYERS.get(wishes.kind, ("",)):
        yield f"{prefix}W_O", (_d_joined(wishes), wishes.d)
        yield f"{prefix}b_O", (1, wishes.d)
        yield from ((f"{prefix}{name}", shape) for name, shape in _of_score(wishes)[1].items())
    for number in range(1, {"encoder": 2, "decoder": 3}.get(wishes.kind, 0) + 1):
        yield f"gamma_{number}", (1, wishes.d)
        yield f"beta_{number}", (1, wishes.d)


def _of_score(wishes: Wishes) -> tuple[Shapes, Shapes]:
    """Return the matrices that the kind of score needs, and those that it can have.

    All heads share them, and the tanh is as wide as queries and keys.
    """
    kind, d_k = read_setting("score", wishes.settings.get("score", DOT)), wishes.d_k
    square, row = (d_k, d_k), (1, d_k)
    shapes: Shapes = {"W_S": square, "W_Sq": square, "W_Sk": square, "v_S": row, "b_S": row}
    if kind == CONCAT:
        shapes["W_S"] = (2 * d_k, d_k)
    needed, more = ({name: shapes[name] for name in names} for names in OF_SCORE[kind])
    return needed, more


def _d_v(wishes: Wishes) -> int:
    return wishes.d_v or wishes.d_k


def _d_joined(wishes: Wishes) -> int:
    averaged = wishes.settings.get("combine") == "mean"
    return _d_v(wishes) * (1 if averaged else wishes.heads)


def draw(wishes: Wishes, shapes: Shapes, random: Random, calm: float = 1.0) -> dict[str, Matrix]:
    """Return a random matrix of each shape, upright.

    Each entry is `calm` times as likely as one of the next smaller size: below 1, small ones are
    more frequent, so that scores of many features stay small.
    """
    pick = iter(_pickers(wishes, sum(map(prod, shapes.values())), random, calm))
    matrices = {}
    for name, shape in shapes.items():
        own = list(islice(pick, prod(shape)))
        matrix = np.array([urn.one(random) for urn in own]).reshape(shape)
        matrices[name] = _cleared(wishes, name, matrix, own, random)
    return matrices


def with_heads_anew(
    wishes: Wishes,
    matrices: dict[str, Matrix],
    heads: Mapping[str, Collection[int]],
    random: Random,
    calm: float,
) -> dict[str, Matrix]:
    """Return matrices with the weights of some heads redrawn, and all others unchanged.

    Heads are independent: those that satisfy the conditions are kept. The number of entries below 0
    is unchanged if it is a condition.

    matrices: the matrices, upright.
    heads: the heads, by the prefix of the names of their attention's matrices.
    """
    urns = _Urns(wishes, calm)
    changed = dict(matrices)
    for name, matrix in matrices.items():
        prefix = name[: -len(own_name(name))]
        places = [_of_head(matrix, head, wishes.heads) for head in heads.get(prefix, ())]
        if own_name(name) not in OF_A_HEAD or not places:
            continue
        own = [urns.like(value) for value in matrix.flat]
        drawn = matrix.copy()
        for place in np.flatnonzero(np.logical_or.reduce(places)):
            drawn.flat[place] = own[place].one(random)
        changed[name] = _cleared(wishes, name, drawn, own, random)
    return changed


def _of_head(matrix: Matrix, head: int, heads: int) -> Matrix:
    """Return which entries of a matrix of weights are those of a head."""
    is_of_head = np.zeros(matrix.shape, dtype=bool)
    if matrix.ndim == 3:
        is_of_head[head * len(matrix) // heads] = True  # several heads may share keys and values
    else:
        width = matrix.shape[-1] // heads
        is_of_head[:, head * width : (head + 1) * width] = True
    return is_of_head


def _pickers(wishes: Wishes, count: int, random: Random, calm: float) -> Iterable["_Urn"]:
    """Return the source of each entry of all matrices."""
    urns, wanted = _Urns(wishes, calm), wishes.negatives
    if wanted is None:
        return repeat(urns.any, count)
    values = wishes.entries.values
    has_below, has_others = min(values) < 0, max(values) >= 0
    if wanted > count or (wanted and not has_below) or (wanted < count and not has_others):
        raise InputError(
            f"negatives: {wanted} of {count} entries cannot be below 0 with {wishes.entries.text}"
        )
    order = sorted(range(count), key=lambda _: random.random())
    places = set(order[:wanted])
    return [urns.below if place in places else urns.others for place in range(count)]


@lru_cache(maxsize=1)
def _quick(values: tuple[Fraction, ...]) -> Sequence[Drawn]:
    """Return numbers as floats if these are exact: they are compared faster."""
    try:
        floats = tuple(map(float, values))
    except OverflowError:
        return values
    return floats if floats == values else values


def _cleared(
    wishes: Wishes, name: str, matrix: Matrix, urns: list["_Urn"], random: Random
) -> Matrix:
    """Return a matrix with its rows and columns of zeros, and equal tokens, redrawn.

    They teach nothing.
    """
    for _ in range(MOST_FILLED):
        if not (idle := _idle(matrix, are_tokens=name in TOKENS)):
            return matrix
        for place in idle:
            matrix.flat[place] = urns[place].one(random)
    if _idle(matrix, are_tokens=False):
        size = " × ".join(map(str, matrix.shape))
        raise InputError(
            f"entries: of {wishes.entries.text} every {size} matrix drawn had a row or a column "
            "of zeros"
        )
    return matrix


def _idle(matrix: Matrix, *, are_tokens: bool) -> list[int]:
    """Return the entries in rows or columns of zeros, and of tokens in a row like one above it.

    A single row has no columns. Lists are faster than arrays here, as most matrices are small.
    """
    idle: list[int] = []
    *_, height, width = matrix.shape
    for head, rows in enumerate(matrix.reshape(-1, height, width).tolist()):
        zeros = [height > 1 and not any(column) for column in zip(*rows, strict=True)]
        if all(map(any, rows)) and not (any(zeros) or are_tokens):
            continue
        for i, row in enumerate(rows):
            is_again = are_tokens and width > 1 and row in rows[:i]
            first, is_idle = (head * height + i) * width, is_again or not any(row)
            idle += [first + j for j in range(width) if is_idle or zeros[j]]
    return idle


class _Urn:
    """Numbers to draw from, small ones more often if `calm` is below 1."""

    def __init__(self, values: Sequence[Drawn], calm: float) -> None:
        values = values or (0.0,)  # of which none is drawn
        sizes = sorted({_size(value) for value in values}, key=float)
        ranks = {size: rank for rank, size in enumerate(sizes)}
        shares = [1.0] * len(ranks)
        for rank in range(1, len(ranks)):
            shares[rank] = shares[rank - 1] * calm
        self.values, self.last = values, len(values) - 1
        self.ends = list(accumulate(shares[ranks[_size(value)]] for value in values))

    def one(self, random: Random) -> Drawn:
        """Return one of them."""
        # of Random, only random() is promised to be the same in all versions of Python
        return self.values[bisect(self.ends, random.random() * self.ends[-1], 0, self.last)]


class _Urns:
    """The source of entries: any number, or, if they are counted, negative ones and others."""

    def __init__(self, wishes: Wishes, calm: float) -> None:
        values = _quick(wishes.entries.values)
        self.is_counted = wishes.negatives is not None
        self.any = _Urn(values, calm)
        self.below = self.others = self.any
        if self.is_counted:
            self.below = _Urn([value for value in values if value < 0], calm)
            self.others = _Urn([value for value in values if value >= 0], calm)

    def like(self, value: Drawn) -> "_Urn":
        """Return the source of an entry that replaces another."""
        if not self.is_counted:
            return self.any
        return self.below if value < 0 else self.others


def _size(value: Drawn) -> Drawn:
    return -value if value < 0 else value


def problem_of(wishes: Wishes, matrices: dict[str, Matrix], made_by: str) -> Problem:
    """Return the problem with these matrices, in the layout of its conventions."""
    like = wishes.like
    fields = _conventions(wishes) if like is None else _nested(like)
    chosen = {name: read_setting(name, value) for name, value in wishes.settings.items()}
    standing = Standing(chosen.get("layout") == "columns", chosen.get("weights_layout") == "torch")
    if like is not None:
        standing = like.standing
    for name, matrix in matrices.items():
        if like is not None and name in like.more:
            fields["more"] = {**fields.get("more", like.more), name: matrix.tolist()}
            continue
        *prefix, own = name.split(".")
        _inside(fields, prefix)[own] = stood(standing, own, matrix).tolist()
    fields["made_by"] = made_by
    return Problem(**fields) if like is None else replace(like, student="", code="", **fields)


def _nested(problem: Problem) -> dict[str, Any]:
    """Return the layers and attentions of a problem, to be changed."""
    return {name: deepcopy(getattr(problem, name)) for name in NESTED if getattr(problem, name)}


def _conventions(wishes: Wishes) -> dict[str, Any]:
    fields: dict[str, Any] = dict(wishes.settings)
    if wishes.kind in OF_LAYERS:
        fields["block"] = wishes.kind
    if wishes.title:
        fields["title"] = wishes.title
    if wishes.labels is not None:
        labels, n = list(wishes.labels), wishes.tokens
        has_one = wishes.kind in ("self", "encoder")
        fields["labels"] = labels if has_one else {"X1": labels[:n], "X2": labels[n:]}
    return fields


def _inside(fields: dict[str, Any], prefix: list[str]) -> dict[str, Any]:
    """Return the fields of a layer, or of an attention in one: "1", "self"."""
    for name in prefix:
        within = fields["layers"][int(name) - 1] if name.isdigit() else fields.get(name)
        fields = fields.setdefault(name, {}) if within is None else within
    return fields


def stood(standing: Standing, name: str, matrix: Matrix) -> Matrix:
    """Return an upright matrix as a problem of these conventions has it."""
    if role_of(name) == "bias":
        return np.asarray(matrix[0])
    return matrix.swapaxes(-1, -2) if standing.is_turned(name) else matrix
