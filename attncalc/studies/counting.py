"""Counts of a problem or a model: parameters, multiply-adds and bytes, each with its formula."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count as count_from
from math import log, prod
from typing import Any, NamedTuple

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.typed import quoted
from attncalc.equations.operations.entrywise import Mask
from attncalc.problem.fields import own_name, role_of
from attncalc.problem.problem import Problem

BYTES = {"fp64": 8, "fp32": 4, "bf16": 2, "fp16": 2, "int8": 1}
"""Bytes of a number, by the name of its type."""
TRAINED = {"weights", "bias", "table", "buckets", "positions"}
"""The roles of matrices that are parameters."""
BY_TOKEN = {"tokens", "projected", "positions", "ids", "arriving"}
"""The roles of matrices with a row for each token."""
FLOPS = 2
"""Floating-point operations of a multiply-add."""
MOST = 10**12
"""The largest number of tokens or sequences."""
MOST_REPEATED, MOST_STATED = 1_000_000, 200
"""The largest numbers of tokens of a problem, without and with its own equations."""
KERNEL = 3
"""Kernel of the convolution, and neighbors without a window, in the comparison of layers."""
OF_A_KIND = "layer", "formula", "multiply_adds", "sequential", "path"


class Term(NamedTuple):
    """A count as a product.

    part, name: its part, and the name of its matrix or step.
    layers: the number of layers with it; 0 outside layers.
    """

    part: str
    name: str
    factors: tuple[int, ...]
    layers: int = 0

    @property
    def each(self) -> int:
        """The count in one layer."""
        return prod(self.factors)

    @property
    def total(self) -> int:
        """The count in all layers."""
        return self.each * (self.layers or 1)

    @property
    def formula(self) -> str:
        """The product with its numbers, such as "12 · 768 · 768"."""
        return " · ".join(map(str, ((self.layers,) if self.layers else ()) + self.factors))


class Load(NamedTuple):
    """How a model is used: tokens of a sequence, sequences of a batch, and the type of numbers."""

    tokens: int | None = None
    batch: int = 1
    dtype: str = "fp32"

    def check(self) -> None:
        """Refuse numbers below 1, and unknown types."""
        for name, value in (("tokens", self.tokens), ("batch", self.batch)):
            if value is not None and not 1 <= value <= MOST:
                raise InputError(f"--{name} {value}: from 1 to {MOST:,}")
        if self.dtype not in BYTES:
            raise InputError(f"--dtype {quoted(self.dtype)}: one of {', '.join(BYTES)}")


@dataclass
class Count:
    """What a problem or a model takes.

    load: how it is used.
    width, window: the features of a token, and how many keys a query attends to; None for all.
    terms: for one sequence: the sizes of its parameters, the multiply_adds of its steps, the sizes
        of their results, of its attention weights and of its cached keys and values; the hidden
        entries of masked weights, and the masked multiply-adds of their scores and values.
    """

    load: Load
    width: int = 0
    window: int | None = None
    terms: defaultdict[str, list[Term]] = field(default_factory=lambda: defaultdict(list))

    def add(self, what: str, name: str, *factors: int, part: str = "", layers: int = 0) -> None:
        """Add a product to the terms of a kind."""
        self.terms[what].append(Term(part, name, factors, layers))

    @property
    def by_step(self) -> dict[str, int]:
        """The multiply-adds of each step, of a batch."""
        return self._by("multiply_adds", "name", self.load.batch)

    def as_json(self) -> dict[str, Any]:
        """Return all counts and their formulas."""
        batch = self.load.batch
        work, masked = (self._sum(what, batch) for what in ("multiply_adds", "masked"))
        by_layer: Counter[str] = Counter()
        for each in self.terms["parameters"]:
            by_layer.update({each.part: each.each} if each.layers else {})
        return {
            **self.load._asdict(),
            "parameters": {
                **self._sum("parameters"),
                "by_matrix": self.by_matrix,
                "by_part": self._by("parameters", "part"),
                "by_layer": by_layer,
            },
            "multiply_adds": {
                **work,
                "by_step": self.by_step,
                "flops": FLOPS * work["total"],
                "masked": masked["total"],
                "masked_formula": masked["formula"],
            },
            "kv_cache": self._bytes("cached"),
            "attention_matrix": {
                **self._bytes("weights"),
                "entries": self._sum("weights", batch)["total"],
                "masked": self._sum("hidden", batch)["total"],
            },
            "activations": self._bytes("results"),
            "kinds_of_layers": [*kinds_of_layers(self)],
        }

    @property
    def by_matrix(self) -> dict[str, int]:
        """The parameters of each matrix."""
        return self._by("parameters", "name")

    def _by(self, what: str, key: str, batch: int = 1) -> dict[str, int]:
        found: Counter[str] = Counter()
        for each in self.terms[what]:
            found[getattr(each, key)] += batch * each.total
        return dict(found)

    def _sum(self, what: str, *times: int) -> dict[str, Any]:
        """Return a total, and its formula: a sum of products with its value."""
        text = " + ".join(each.formula for each in self.terms[what] if each.total) or "0"
        total = sum(each.total for each in self.terms[what]) * prod(times)
        if times:
            text = " · ".join([*map(str, times), f"({text})"])
        return {"total": total, "formula": f"{text} = {total:,}"}

    def _bytes(self, what: str) -> dict[str, Any]:
        total, formula = self._sum(what, self.load.batch, BYTES[self.load.dtype]).values()
        return {"bytes": total, "formula": formula}


def kinds_of_layers(count: Count) -> Iterator[dict[str, str | int]]:
    """Yield kinds of layers for the tokens and the width of a problem or a model.

    The multiply-adds, the operations that follow one another and the longest path between two
    tokens are those of Vaswani et al., *Attention Is All You Need* (2017), table 1.
    """
    n, d, k, r = count.load.tokens, count.width, KERNEL, count.window or KERNEL
    if not n or not d:
        return
    steps = next(steps for steps in count_from(1) if k**steps >= n)
    for name, text, sizes, sequential, path in (
        ("self-attention", "n² · d", (n, n, d), 1, 1),
        ("recurrent", "n · d²", (n, d, d), n, n),
        (f"convolution, k = {k}", "k · n · d²", (k, n, d, d), 1, steps),
        (f"restricted, r = {r}", "r · n · d", (r, n, d), 1, -(-n // r)),
    ):
        formula = f"{text} = {' · '.join(map(str, sizes))}"
        values = name, formula, prod(sizes), sequential, path
        yield dict(zip(OF_A_KIND, values, strict=True))


def visible(n: int, m: int, window: int | None = None, first: int = 1) -> int:
    """Return how many pairs of a query and a key a causal mask leaves.

    n, m: how many queries and keys.
    window: how many keys a query attends to at most, the last ones; None for all.
    first: how many keys the first query attends to.

    >>> visible(4, 4), visible(4, 4, window=2)
    (10, 7)
    """

    def up_to(keys: int) -> int:
        """Return the sum of all numbers to this one, those above m as m, those below 0 as 0."""
        low = min(max(keys, 0), m)
        return low * (low + 1) // 2 + m * max(keys - m, 0)

    def ramp(start: int) -> int:
        return up_to(start + n - 1) - up_to(start - 1)

    return ramp(first) - (0 if window is None else ramp(first - window))


def count_problem(problem: Problem, load: Load) -> Count:
    """Return the counts of a problem, from the equations of its steps and the shapes alone.

    A product with its addition is one multiply-add. Other additions, products and divisions count
    as one each, and a step without arithmetic as one for each entry. Functions such as exp are not
    counted. Raises InputError if the tokens of this problem cannot be changed.

    problem: the problem; its numbers are not used.
    load: how it is used; with other tokens than its own, as if these were repeated.
    """
    load.check()
    problem = with_tokens(problem, load.tokens)
    shapes = {name: matrix.shape for name, matrix in problem.given.items()}
    found = Count(load._replace(tokens=_tokens(problem)))
    for name in shapes:
        is_own = not role_of(name) and name.startswith("W")  # of a user's own equations
        if role_of(name) in TRAINED or own_name(name) == "sinks" or is_own:
            found.add("parameters", name, *shapes[name])
    for step in problem.calculation.steps:
        inputs = [shapes[name] for name in step.inputs]
        shapes[step.name] = shape = step.operation.shape(*inputs)
        found.add("multiply_adds", step.name, *step.operation.cost(*inputs)[:1])
        found.add("results", step.name, *shape)
        if step.role == "weights":
            found.add("weights", step.name, *shape)
        if isinstance(step.operation, Mask):
            hidden = _hidden(step.operation, shape, [problem.given[x] for x in step.inputs[1:]])
            each = problem.attention_of(step.name)
            found.add("hidden", step.name, hidden)
            found.add("masked", step.name, hidden, each.d_k + (each.d_v if each.has_values else 0))
    for each in problem.attentions:
        rows = each.n_kv_heads, min(each.m, each.window or each.m)
        for name, width in (("K", each.d_k), ("V", each.d_v)) if each.has_values else ():
            found.add("cached", name, *rows, width)
    found.width = next((shapes[name][-1] for name in ("X", "X1", "Q") if name in shapes), 0)
    found.window = problem.attentions[0].window if problem.attentions else None
    return found


def _tokens(problem: Problem) -> int | None:
    return problem.attentions[0].n if problem.attentions else None


def with_tokens(problem: Problem, tokens: int | None) -> Problem:
    """Return a problem with so many tokens, those that it has repeated; None for its own."""
    if tokens in (None, _tokens(problem)):
        return problem
    most, what = (MOST_STATED, " with equations") if problem.equations else (MOST_REPEATED, "")
    if tokens > most:
        raise InputError(f"--tokens {tokens}: at most {most:,} for a problem{what}")
    made: dict[str, Any] = {"labels": None}
    for name in problem.given if problem.image is None else ():
        if (role := role_of(name)) in BY_TOKEN:
            matrix = problem.stored(name)
            is_last = problem.standing.has_token_columns(name) or matrix.ndim == 1 or role == "ids"
            axis = -1 if is_last else -2
            rows = tokens - (name in ("X", "ids") and problem.class_token is not None)
            made[name] = matrix.take(np.arange(rows) % matrix.shape[axis], axis)
    if problem.target_ids is not None:
        made["target_ids"] = np.resize(problem.target_ids, tokens).tolist()
    try:
        found = replace(problem, **made)
        if _tokens(found) == tokens:
            return found
        reason = "none of its matrices is known to have a row for each token"
    except InputError as error:
        reason = str(error)
    raise InputError(f"--tokens {tokens}: this problem is for {_tokens(problem)} tokens: {reason}")


def _hidden(mask: Mask, shape: tuple[int, ...], given: Sequence[Any]) -> int:
    if not given and mask.causal_from is not None:
        *heads, n, m = shape
        return prod(heads) * (n * m - visible(n, m, mask.window, mask.causal_from))
    found = mask.forbidden(shape, dict(zip(mask.masks, given, strict=True))).values()
    return int(np.broadcast_to(np.logical_or.reduce([*np.broadcast_arrays(*found)]), shape).sum())


QUANTITIES = {
    "parameters": ("parameters", "total"),
    "multiply-adds": ("multiply_adds", "total"),
    "masked multiply-adds": ("multiply_adds", "masked"),
    "KV cache bytes": ("kv_cache", "bytes"),
    "attention matrix bytes": ("attention_matrix", "bytes"),
    "activation bytes": ("activations", "bytes"),
}
"""The counts that are compared, by their place in JSON."""
Pairs = dict[str, dict[str, float | None]]


def totals(count: Count) -> dict[str, int]:
    """Return the counts that are compared, by their names."""
    found = count.as_json()
    return {name: found[what][key] for name, (what, key) in QUANTITIES.items()}


def compared(count: Count, other: Count) -> dict[str, Pairs]:
    """Return totals, parameters and multiply-adds of two counts with differences and ratios.

    Ratios are those of the other to the first; None if the first is 0.
    """

    def pairs(one: Mapping[str, int], two: Mapping[str, int]) -> Pairs:
        both = {name: (one.get(name, 0), two.get(name, 0)) for name in (*one, *two)}
        return {
            name: {"count": a, "other": b, "difference": b - a, "ratio": b / a if a else None}
            for name, (a, b) in both.items()
        }

    return {
        "totals": pairs(totals(count), totals(other)),
        "by_matrix": pairs(count.by_matrix, other.by_matrix),
        "by_step": pairs(count.by_step, other.by_step),
    }


class Growth(NamedTuple):
    """Counts for several values of a size: its name, its values, and the counts at each."""

    size: str
    values: tuple[int, ...]
    counts: tuple[Count, ...]

    def powers(self) -> dict[str, int]:
        """Return the power with which the multiply-adds of each step grow.

        It is the slope between the last two values on logarithmic axes, rounded.
        """
        before, last = (count.by_step for count in self.counts[-2:])
        ratio = log(self.values[-1] / self.values[-2])
        both = {name: (before.get(name), value) for name, value in last.items()}
        return {name: round(log(b / a) / ratio) for name, (a, b) in both.items() if a and b}

    def curves(self) -> dict[str, list[int]]:
        """Return the totals at each value, and the multiply-adds by their power."""
        rows, powers = [totals(count) for count in self.counts], self.powers()
        curves = {name: [row[name] for row in rows] for name in QUANTITIES}
        for power in sorted({*powers.values()}, reverse=True):
            names = [name for name in powers if powers[name] == power]
            curves[f"as {self.size}^{power}"] = [
                sum(count.by_step.get(name, 0) for name in names) for count in self.counts
            ]
        return curves

    def as_json(self) -> dict[str, Any]:
        """Return the size, its values, the curves over it and the power of each step."""
        return {
            "size": self.size,
            "values": list(self.values),
            "curves": self.curves(),
            "powers": self.powers(),
        }


class Counted(NamedTuple):
    """Counts, those to compare with, and how they grow."""

    first: Count
    other: Count | None = None
    growth: Growth | None = None

    def as_json(self) -> dict[str, Any]:
        """Return all of them."""
        found = self.first.as_json()
        if self.other is not None:
            found["compared"] = compared(self.first, self.other)
        if self.growth is not None:
            found["growth"] = self.growth.as_json()
        return found
