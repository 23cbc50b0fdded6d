"""All patterns of a solution, the most informative first, and those that repeat others.

Patterns of all heads of an attention are found here: comparisons of heads, and the effects of other
choices. Another scale, no mask, or 0 for weights that round to 0 is the same plan run on a problem,
or an attention, that differs only in that.
"""

from collections.abc import Iterable, Iterator, Mapping
from decimal import ROUND_UP, Context, Decimal
from functools import partial
from itertools import combinations, islice
from typing import Any, NamedTuple

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.rounding import blocks_of_rows
from attncalc.base.types import Matrix, Place
from attncalc.problem.attention.declared import SQRT_DK
from attncalc.problem.step import run
from attncalc.solving.choosing import attention_and_head
from attncalc.solving.solution import Solution, given_in_decimals
from attncalc.studies.changes import moved, orders, tokens_in, what_depends_on_order
from attncalc.studies.patterns.pattern import (
    ALONE,
    CODES,
    MOST_LISTED,
    NEAR,
    Amount,
    Pattern,
    needed_for_patterns,
)
from attncalc.studies.patterns.rows import OF_A_HEAD
from attncalc.studies.patterns.view import Rows, SolvedAttention, View, counted, rows_of

MOST_HEADS = 16
"""The largest number of heads that are all compared; more are compared with the first."""
MOST_IN_LINE = 4
"""Heads from which a square of places is a convolution: fewer are shifts."""
MOST_PERMUTED = 40_000
"""Scores up to which a problem is solved again with its tokens in another order."""
NO_SCALE = "none"
UP = Context(prec=2, rounding=ROUND_UP)
"""The rounding of a bound: two digits, and never too low."""
REPEATED = {"identity": ("one-hot", "all-own"), "permutation": ("one-hot",)}
"""Patterns that follow from another pattern."""


class _Pair(NamedTuple):
    """Two heads, from 1, and the total difference of each of their rows."""

    one: int
    other: int
    apart: Matrix


def heads(attended: SolvedAttention) -> Iterator[Pattern]:
    """Yield the heads with equal weights, and the two others that differ most."""
    if len(attended.heads) > 1:
        # all pairs of heads, or for very many those with the first
        numbers = range(1, len(attended.heads) + 1)
        every = len(numbers) <= MOST_HEADS
        those = combinations(numbers, 2) if every else ((1, other) for other in numbers[1:])
        pairs = []
        for one, other in those:
            left, right = (attended.heads[number - 1].weights for number in (one, other))
            blocks = blocks_of_rows(left.shape)
            rows_apart = [np.abs(left[rows] - right[rows]).sum(axis=1) for rows in blocks]
            pairs.append(_Pair(one, other, np.concatenate(rows_apart)))
        groups: list[set[int]] = []
        for one, other, apart in pairs:
            if apart.max() < NEAR:
                known = next((group for group in groups if one in group), None)
                if known is None:
                    groups.append({one, other})
                    continue
                compared = (each for each in pairs if each.other == other and each.one in known)
                if all(each.apart.max() < NEAR for each in compared):
                    known.add(other)
        for group in map(sorted, groups):
            yield attended.pattern("heads-alike", "heads", {"heads": group, "threshold": NEAR})
        yield from _heads_differ(attended, pairs)


def _heads_differ(attended: SolvedAttention, pairs: list[_Pair]) -> Iterator[Pattern]:
    differing = [pair for pair in pairs if pair.apart.max() >= NEAR]
    if not differing:
        return
    most = max(differing, key=lambda pair: float(pair.apart.mean()))
    leads = [attended.heads[number - 1].weights.argmax(axis=1) for number in most[:2]]
    values = {
        "heads": [most.one, most.other],
        "output": int(most.apart.argmax()) + 1,
        "elsewhere": attended.amount(most.apart.max() / 2),
        "mean": attended.amount(most.apart.mean() / 2),
        "leads": (np.flatnonzero(leads[0] != leads[1]) + 1).tolist(),
        "pairs": [[pair.one, pair.other] for pair in differing],
        "only_with_first": len(attended.heads) > MOST_HEADS,
        "threshold": NEAR,
    }
    yield attended.pattern("heads-differ", "heads", values)


def scaling(attended: SolvedAttention) -> Iterator[Pattern]:
    """Yield the spread of the rows, and with scores scaled differently."""
    fields = attended.fields
    scale = fields.scale
    # if no scale is the default, √d_k is not of interest, and given scores have none
    if scale == fields.default_scale == NO_SCALE:
        return
    other: Any = NO_SCALE if scale not in (NO_SCALE, 1) else SQRT_DK
    if SQRT_DK in (scale, other) and fields.d_k == 1:
        return  # divided by 1, nothing changes
    changed = attended.otherwise(scale=other)
    if changed is None:
        return
    own, others = _all_rows(head.weights for head in attended.heads), _all_rows(changed)
    known = np.isfinite(own.entropy) & np.isfinite(others.entropy)
    if known.any() and fields.m > 1:
        values = {
            "scale": scale if isinstance(scale, str) else float(scale),
            "other": other,
            "d_k": fields.d_k,
            "entropy": _with_and_without(attended, own.entropy[known], others.entropy[known]),
            "effective": _with_and_without(attended, own.effective[known], others.effective[known]),
        }
        yield attended.pattern("scaling", attended.weights.name, values)


def _with_and_without(attended: SolvedAttention, own: Matrix, others: Matrix) -> dict[str, Any]:
    return {"here": attended.amount(own.mean()), "other": attended.amount(others.mean())}


def _all_rows(heads: Iterable[Matrix]) -> Rows:
    return Rows(*(np.concatenate(parts) for parts in zip(*map(rows_of, heads), strict=True)))


def masked(attended: SolvedAttention) -> Iterator[Pattern]:
    """Yield the number of masked weights, and their size without the mask."""
    where = attended.forbidden
    if where is None or not (where.any() or attended.fields.bias is not None):
        return  # for example, the last query has no masked keys and no biases
    fields = attended.fields
    # otherwise a bias by distance would change its direction without a causal mask
    both_ways = None if fields.rel_bias is None else fields.rel_both_ways
    none = dict.fromkeys(("window", "keep", "ignore", "bias"))
    free = attended.otherwise(causal=False, rel_bidirectional=both_ways, **none)
    if free is None:
        return
    heads = [head.weights for head in attended.heads]
    by_head = [where] * len(heads) if where.ndim == 2 else list(where)
    pairs = zip(by_head, free, strict=True)
    taken = np.array([np.where(at, head, 0).sum(axis=1) for at, head in pairs])
    moved = [np.abs(own - head).sum(axis=1) / 2 for own, head in zip(heads, free, strict=True)]
    number, output = np.unravel_index(int(taken.argmax()), taken.shape)
    values = {
        "forbidden": sum(int(np.broadcast_to(at, heads[0].shape).sum()) for at in by_head),
        "of": sum(each.size for each in heads),
        "mean": attended.amount(taken.mean()),
        "most": {
            "output": int(output) + 1,
            "head": attended.heads[int(number)].number,
            "taken": attended.amount(taken.max()),
        },
        "moved": attended.amount(np.max(moved)),
        "adds": attended.fields.bias is not None,
    }
    yield attended.pattern("masked", attended.weights.name, values)


def order(attended: SolvedAttention) -> Iterator[Pattern]:
    """Yield whether the outputs of a problem depend on the order of its tokens, and through what.

    A cycle and an exchange of tokens are tried, which together make up every order.
    """
    problem = attended.solution.problem
    if problem.most_scores > MOST_PERMUTED or any(n.startswith("past_") for n in problem.names):
        return
    given = {"X", "X1", "X2", "X3"} & {*problem.names}
    for names in (["X"], ["X1"], ["X2", "X3"]):
        names = [name for name in names if name in given]
        counts = {tokens_in(problem, name) for name in names}
        if len(counts) != 1 or counts == {1}:
            continue
        try:
            found = [moved(problem, names, each) for each in orders(counts.pop())]
        except InputError:  # no such problem: its tokens are not free to move
            continue
        how = {each.how for each in found}
        values: dict[str, Any] = {"of": names, "step": found[0].step}
        if "otherwise" in how:
            values["because"] = list(what_depends_on_order(problem))
            yield attended.pattern("order-matters", attended.weights.name, values)
        else:
            values["moves"] = "alike" in how
            yield attended.pattern("equivariant", attended.weights.name, values)


class _Offset(NamedTuple):
    """How far from its own place in a grid each output of a head attends."""

    down: int
    across: int


def convolution(attended: SolvedAttention) -> Iterator[Pattern]:
    """Yield that heads are a k x k convolution of a grid of tokens, and its kernel.

    Each head takes the input alone that is some rows and columns of the grid from its own place,
    and all heads together fill a square. At the border, where there is no such input, it has no
    weight. Cordonnier et al., On the Relationship between Self-Attention and Convolutional Layers
    (2020).
    """
    weights = [head.weights for head in attended.heads]
    n, m = weights[0].shape
    sizes = [rows for rows in range(2, n // 2 + 1) if n % rows == 0]
    for rows in sorted(sizes, key=lambda rows: abs(rows - n // rows)) if n == m else ():
        offsets = [_offset(each, rows, n // rows) for each in weights]
        known = [each for each in offsets if each is not None]
        side = {each.down for each in known}, {each.across for each in known}
        is_square = len(known) == len({*known}) == len(weights) == len(side[0]) * len(side[1])
        if not is_square or len(side[0]) != len(side[1]) or len(weights) < MOST_IN_LINE:
            continue
        kernel = _kernel(attended, len(weights))
        size, numbers = len(side[0]), None
        if kernel is not None and kernel.shape[1:] == (1, 1):
            order = sorted(range(len(known)), key=lambda head: known[head])
            line = [attended.amount(kernel[head, 0, 0]) for head in order]
            numbers = [line[start : start + size] for start in range(0, len(line), size)]
        values = {
            "grid": [rows, n // rows],
            "size": size,
            "offsets": [list(each) for each in known],
            "kernel": numbers,
            "channels": None if kernel is None else _channels(kernel),
            "threshold": ALONE,
        }
        yield attended.pattern("convolution", "heads", values)
        return


def _offset(weights: Matrix, rows: int, columns: int) -> _Offset | None:
    """Return the place in a grid, relative to its own, that each output attends to alone."""
    places = np.stack(np.divmod(np.arange(rows * columns), columns))
    has_any = weights.any(axis=1)
    if not has_any.any() or (weights[has_any].max(axis=1) < ALONE).any():
        return None
    lead = weights.argmax(axis=1)
    apart = (places[:, lead] - places)[:, has_any]
    if (apart != apart[:, :1]).any():
        return None
    down, across = (int(each) for each in apart[:, 0])
    there = places + np.array([[down], [across]])
    is_inside = ((there >= 0) & (there < np.array([[rows], [columns]]))).all(axis=0)
    return _Offset(down, across) if (is_inside == has_any).all() else None


def _kernel(attended: SolvedAttention, heads: int) -> Matrix | None:
    """Return what each head multiplies its input by: W_V W_O, (heads, d, d_out)."""
    given = attended.fields.given
    if not {"W_V", "W_O"} <= given.keys() or given["W_V"].ndim != 3 or len(given["W_V"]) != heads:
        return None
    each = given["W_O"].reshape(heads, -1, given["W_O"].shape[-1])
    return np.asarray(given["W_V"] @ each)


def _channels(kernel: Matrix) -> str:
    """Return how channels are mixed: each alone ("depthwise"), in groups, or all with all."""
    reached = (np.abs(kernel) > 0).any(axis=0)
    d, out = reached.shape
    if d == out > 1 and not (reached & ~np.eye(d, dtype=bool)).any():
        return "depthwise"
    for groups in range(min(d, out), 1, -1):
        if d % groups == 0 and out % groups == 0:
            inside = np.kron(np.eye(groups), np.ones((d // groups, out // groups))).astype(bool)
            if not (reached & ~inside).any():
                return f"{groups} groups"
    return "all"


def rounded_away(attended: SolvedAttention) -> Iterator[Pattern]:
    """Yield the nonzero weights that are shown as 0, and their effect on an output."""
    solution, name = attended.solution, attended.weights.name
    made = solution.exact[name]
    digits = attended.solution.digits[attended.weights.name]
    hidden = np.zeros(made.shape, bool)
    for place in blocks_of_rows(made.shape):
        hidden[place] = (made[place] != 0) & (np.asarray(digits[place]) == 0)
    count = int(hidden.sum())
    if not count or solution.plan[-1].name == name:  # nothing reads them
        return
    moved = _outputs(attended, np.where(hidden, made, made * 0))
    if moved is None:
        return
    change = np.abs(moved)
    places = map(solution.problem.standing.place, islice(_places(hidden), MOST_LISTED))
    values = {
        "step": name,
        "count": count,
        "weights": [*map(counted, places)],
        "decimals": solution.problem.decimals,
        "change": _bound(change.max()),
        "output": int(np.unravel_index(int(change.argmax()), change.shape)[-2]) + 1,
        # the outputs of a network are different
        **({} if solution.problem.is_alone else {"of": attended.outputs.name}),
    }
    yield attended.pattern("rounded-away", name, values)


def _outputs(attended: SolvedAttention, weights: Matrix) -> Matrix | None:
    """Return how far these weights move the outputs: the difference to weights of 0.

    None if these are computed row by row together with the weights.
    """
    solution, name = attended.solution, attended.weights.name
    place = [step.name for step in attended.steps].index(name)
    after = attended.steps[place + 1 :]
    if not after:  # an equation defines the weights, and another reads them
        after = tuple(step for step in solution.plan if name in step.inputs)[:1]
    if not after:
        return None
    with solution.arithmetic():
        known: Mapping[str, Matrix] = solution.problem.given
        if solution.is_exact:
            known = given_in_decimals(solution.problem)
        known = {**known, **solution.carried}
        moved = run(after, {**known, name: weights})[after[-1].name]
        still = run(after, {**known, name: weights * 0})[after[-1].name]
        return np.asarray(moved - still)


def _bound(value: Any) -> Amount:
    """Return a bound, shown with two digits that are rounded up: 0.0038, or 4.7×10^-13."""
    bound = UP.create_decimal(Decimal(float(value)))
    power = bound.adjusted() if bound else 0
    if -5 < power < 6:
        return Amount(float(value), f"{bound:f}")
    return Amount(float(value), f"{bound.scaleb(-power):f}×10^{power}")


def _places(hidden: Matrix) -> Iterator[Place]:
    """Yield the places of hidden entries, row by row: a large matrix has millions."""
    for place in np.ndindex(hidden.shape[:-1]):
        for column in np.flatnonzero(hidden[place]).tolist():
            yield (*place, column)


def patterns_of(solution: Solution) -> tuple[Pattern, ...]:
    """Return all patterns, the most informative first, head after head.

    Several attentions follow one another. Raises InputError if there is no attention, or its
    weights or values were not kept.
    """
    needed = needed_for_patterns(solution.problem)
    if missing := [name for name in needed if not solution.keeps(name)]:
        raise InputError(
            f"the patterns are computed from {', '.join(needed)}, "
            f"and {', '.join(missing)} {'was' if len(missing) == 1 else 'were'} not kept"
        )
    by_code = partial(sorted, key=lambda pattern: CODES.index(pattern.code))
    attentions = [SolvedAttention(solution, weights) for weights in solution.all_weights]
    own = [[*_found(each)] for each in attentions]
    own[-1] += order(attentions[-1])  # of the outputs of the whole
    return tuple(pattern for each in own for pattern in by_code(each))


def _found(attention: SolvedAttention) -> Iterator[Pattern]:
    for head in attention.heads:
        view = View(attention, head)
        for of_a_head in OF_A_HEAD:
            yield from of_a_head(view)
    for of_all in (heads, masked, scaling, convolution, rounded_away):
        yield from of_all(attention)


def of_head(
    solution: Solution, patterns: tuple[Pattern, ...], wanted: str | int
) -> tuple[Pattern, ...]:
    """Return the patterns of one attention of several, or of one head.

    Raises InputError if there is no such head.

    wanted: the head, from 1, or the weights of an attention, such as "cross.A", or "cross.A,2".
    """
    step, asked = attention_and_head(solution, wanted, mean=False)
    number = int(asked or 0) if len(solution.heads_of(step)) > 1 else 0
    own = (each for each in patterns if each.weights == step.name)
    return tuple(each for each in own if not number or each.head == number)


def worth_telling(patterns: tuple[Pattern, ...]) -> tuple[Pattern, ...]:
    """Return the patterns without those that only repeat an earlier one of the head."""
    return tuple(each for each in patterns if not any(_says(other, each) for other in patterns))


def leading(patterns: tuple[Pattern, ...], count: int) -> tuple[Pattern, ...]:
    """Return the patterns, the most important ones of all attentions, `count`, first."""
    first = sorted(patterns, key=lambda pattern: CODES.index(pattern.code))[:count]
    return (*first, *(each for each in patterns if not any(each is other for other in first)))


def _says(one: Pattern, other: Pattern) -> bool:
    if (one.head, one.weights) != (other.head, other.weights):
        return False
    if one.code == "one-hot" and other.code == "spread":
        return other.values.get("output") in one.values["outputs"]
    if one.code == "uniform" and other.code == "ties":
        return {each["output"] for each in other.values["ties"]} <= set(one.values["outputs"])
    if one.code in ("uniform", "ties") and other.code == "margin":
        return not other.values["highest"]["margin"].value
    return other.code in REPEATED.get(one.code, ())
