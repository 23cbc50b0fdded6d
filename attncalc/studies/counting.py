"""Counts of a problem or a model: parameters, multiply-adds and bytes, each with its formula."""

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any, NamedTuple

from attncalc.base.errors import InputError
from attncalc.base.typed import quoted
from attncalc.problem.fields import own_name, role_of
from attncalc.problem.problem import Problem

BYTES = {"fp64": 8, "fp32": 4, "bf16": 2, "fp16": 2, "int8": 1}
"""Bytes of a number, by the name of its type."""
TRAINED = {"weights", "bias", "table", "buckets", "positions"}
"""The roles of matrices that are parameters."""
FLOPS = 2
"""Floating-point operations of a multiply-add."""
MOST = 10**12
"""The largest number of tokens or sequences."""


class Term(NamedTuple):
    """A count as a product.

    Parameters
    ----------
    part, name
        Its part, and the name of its matrix or step.
    factors
        The factors.
    layers
        The number of layers with it; 0 outside layers.
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
        """Refuse numbers below 1, and unknown types.

        Raises
        ------
        InputError
            With the values that are possible.
        """
        for name, value in (("tokens", self.tokens), ("batch", self.batch)):
            if value is not None and not 1 <= value <= MOST:
                raise InputError(f"--{name} {value}: from 1 to {MOST:,}")
        if self.dtype not in BYTES:
            raise InputError(f"--dtype {quoted(self.dtype)}: one of {', '.join(BYTES)}")


class Count(NamedTuple):
    """The counts of a problem or a model.

    Parameters
    ----------
    load
        Its use.
    parameters
        The sizes of its trained matrices.
    multiply_adds
        The multiply-adds of its steps, for one sequence.
    results, weights, cached
        The sizes of the results of its steps, of its attention matrices, and of its cached keys
        and values, for one sequence.
    """

    load: Load
    parameters: tuple[Term, ...]
    multiply_adds: tuple[Term, ...]
    results: tuple[Term, ...]
    weights: tuple[Term, ...]
    cached: tuple[Term, ...]

    def as_json(self) -> dict[str, Any]:
        """Return all counts and their formulas."""
        of_layers = [each for each in self.parameters if each.layers]
        return {
            "tokens": self.load.tokens,
            "batch": self.load.batch,
            "dtype": self.load.dtype,
            "parameters": {
                "total": _total(self.parameters),
                "formula": _formula(self.parameters),
                "by_matrix": _by(self.parameters, "name"),
                "by_part": _by(self.parameters, "part"),
                "by_layer": {
                    part: sum(each.each for each in of_layers if each.part == part)
                    for part in dict.fromkeys(each.part for each in of_layers)
                },
            },
            "multiply_adds": {
                "total": self.load.batch * _total(self.multiply_adds),
                "formula": _formula(self.multiply_adds, self.load.batch),
                "by_step": {
                    name: self.load.batch * value
                    for name, value in _by(self.multiply_adds, "name").items()
                },
                "flops": FLOPS * self.load.batch * _total(self.multiply_adds),
            },
            "kv_cache": self._bytes(self.cached),
            "attention_matrix": self._bytes(self.weights),
            "activations": self._bytes(self.results),
        }

    def _bytes(self, terms: Sequence[Term]) -> dict[str, Any]:
        times = self.load.batch, BYTES[self.load.dtype]
        return {"bytes": prod(times) * _total(terms), "formula": _formula(terms, *times)}


def _total(terms: Iterable[Term]) -> int:
    return sum(each.total for each in terms)


def _by(terms: Iterable[Term], key: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for each in terms:
        name = getattr(each, key)
        found[name] = found.get(name, 0) + each.total
    return found


def _formula(terms: Sequence[Term], *times: int) -> str:
    """Return a sum of products with its value."""
    text = " + ".join(each.formula for each in terms if each.total) or "0"
    total = _total(terms) * prod(times)
    if times:
        text = " · ".join([*map(str, times), f"({text})"])
    return f"{text} = {total:,}"


def count_problem(problem: Problem, load: Load) -> Count:
    """Return the counts of a problem, from the equations of its steps and the shapes alone.

    A product with its addition is one multiply-add. Other additions, products and divisions count
    as one each, and a step without arithmetic as one for each entry. Functions such as exp are
    not counted.

    Parameters
    ----------
    problem
        The problem; its numbers are not used.
    load
        Its use; the tokens are those of the problem.

    Raises
    ------
    InputError
        If the tokens of this problem cannot be changed.
    """
    load.check()
    given = {name: matrix.shape for name, matrix in problem.given.items()}
    tokens = problem.attentions[0].n if problem.attentions else None
    if load.tokens not in (None, tokens):
        raise InputError(
            f"--tokens {load.tokens}: the tokens of a problem are its own; a model's config.json "
            "can be counted for any number of tokens"
        )
    shapes = dict(given)
    work, results, weights, cached = [], [], [], []
    for step in problem.calculation.steps:
        inputs = [shapes[name] for name in step.inputs]
        shape = step.operation.shape(*inputs)
        work.append(Term("", step.name, step.operation.cost(*inputs)[:1]))
        shapes[step.name] = shape
        results.append(Term("", step.name, shape))
        if step.role == "weights":
            weights.append(results[-1])
    for attention in problem.attentions:
        if attention.has_values:
            rows = attention.n_kv_heads, attention.m
            cached += [Term("", "K", (*rows, attention.d_k)), Term("", "V", (*rows, attention.d_v))]
    trained = tuple(
        Term("", name, shape)
        for name, shape in given.items()
        if role_of(name) in TRAINED
        or own_name(name) == "sinks"
        or (not role_of(name) and name.startswith("W"))  # of a user's equations
    )
    own = load._replace(tokens=tokens)
    return Count(own, trained, tuple(work), tuple(results), tuple(weights), tuple(cached))
