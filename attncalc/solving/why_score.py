"""A score as one sum: over features, biases, positions and the mask.

With biases and rope, a query is q = R (x W_Q + b_Q), a key likewise. Then q · k is the sum over
features of x W_Q · x W_K, what added positions add to it, b_Q · k, x W_Q · b_K, and the difference
that the rotation R makes. Each later step multiplies these, adds a term, or makes a difference.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from attncalc.base.types import Matrix, Place
from attncalc.equations.operations.angles import Rotate
from attncalc.equations.operations.assembling import Add
from attncalc.equations.operations.distances import Alibi, RelativeBias
from attncalc.equations.operations.entrywise import (
    DivideBySqrt,
    Mask,
    Multiply,
    MultiplyEach,
    SoftCap,
)
from attncalc.equations.operations.products import Project, Scores
from attncalc.equations.tree import Entry, Node, Number, rebuilt
from attncalc.problem.fields import own_name
from attncalc.problem.step import Step
from attncalc.solving.solution import Solution
from attncalc.solving.why import NEAR, OneEntry, Part, Why, checked
from attncalc.solving.work import Work

KINDS: dict[type, str] = {Alibi: "distance", RelativeBias: "distance", Mask: "mask"}
"""What the terms of a step are, by its operation."""
ENTRYWISE = (DivideBySqrt, Multiply, MultiplyEach, SoftCap, *KINDS)
"""The operations between the product of queries and keys, and the softmax."""


def why_score(solution: Solution, step: Step, shown: Place) -> Why | None:
    """Return the parts of a score back to features of queries and keys; None for other entries."""
    steps = {each.name: each for each in solution.plan}
    later: list[Step] = []
    at: Step | None = step
    while at is not None and isinstance(at.operation, ENTRYWISE):
        later.insert(0, at)
        at = steps.get(at.inputs[0])
    if at is None or type(at.operation) is not Scores:
        return None
    with solution.arithmetic():
        score = _Score(solution, shown)
        score.multiply(at)
        for each in later:
            score.follow(each)
        number = np.asarray(solution.exact[step.name])[score.place]
        entry = score.work.called(step.name, score.place)
        how = f"{entry} is the sum of these parts"
        how += f"; features are those of {score.less}" if score.less else ""
        how += f"; products times {float(score.factor):.6g}" if score.factor != 1 else ""
        return checked(entry, how, number, tuple(score.parts), solution.problem.dtype)


class _Row(NamedTuple):
    """A query or a key: as scored, before its rotation, what biases and positions add to that.

    `less` is the text of what remains without these, if there are any, `called` returns the text of
    a feature, and `made` is the step that computes it, if any.
    """

    used: Matrix
    plain: Matrix
    bias: Matrix
    position: Matrix
    less: str
    called: Callable[[int], str]
    made: Step | None


class _Score:
    """The parts of a score, after each step (solution, shown: as in `why_score`)."""

    def __init__(self, solution: Solution, shown: Place) -> None:
        self.solution, self.work = solution, Work(solution)
        self.steps = {each.name: each for each in solution.plan}
        self.place = self.work.turned(shown)
        self.held = {**solution.carried, **self.work.given_matrices}
        self.parts: list[Part] = []
        self.factor: Any = 1
        self.less = ""

    def add(self, text: str, value: Any, asks: tuple[str, ...] = ()) -> None:
        """Add a part, unless it is 0."""
        if value != 0:
            self.parts.append(Part(text, value, asks))

    def multiply(self, step: Step) -> None:
        """Start with the product of a query and a key."""
        q, k = (self._row(step, side) for side in (0, 1))
        bare = q.plain - q.bias, k.plain - k.bias
        features = (bare[0] - q.position) * (bare[1] - k.position)
        names = [each.called(0).partition("[")[0] for each in (q, k)]
        if q.less or k.less:
            self.less = f"{q.less or names[0]}·{k.less or names[1]}"
        for c, value in enumerate(features):
            text = f"{q.called(c)}·{k.called(c)}"
            asks = tuple(each.called(c) for each in (q, k) if each.made is not None)
            self.parts.append(Part(f"feature {c + 1}" if self.less else text, value, asks))
        self.add("added positions", sum(bare[0] * bare[1]) - sum(features))
        self.add(f"bias of {names[0]}", sum(q.bias * k.plain))
        self.add(f"bias of {names[1]}", sum(bare[0] * k.bias))
        self.add("rotation by positions", sum(q.used * k.used) - sum(q.plain * k.plain))

    def _row(self, step: Step, side: int) -> _Row:
        """Return the query or the key that the score reads."""
        *heads, head = (0, *self.place[:-2])
        count = len(self.held[step.name]) if heads else 1
        row = self.place[-2:][side]

        def at(matrix: Matrix, c: int) -> Place:
            of_row = (row if matrix.shape[-2] > 1 else 0), c
            return of_row if matrix.ndim < 3 else (head * len(matrix) // count, *of_row)

        def row_of(matrix: Matrix) -> Matrix:
            return np.asarray(matrix[at(matrix, 0)[:-1]])

        name = step.inputs[side]
        made = self.steps.get(name)
        used = row_of(self.held[name])

        def called(c: int) -> str:
            return self.work.called(name, at(self.held[name], c))

        if made is not None and isinstance(made.operation, Rotate):
            name = made.inputs[0]
            made = self.steps.get(name)
        plain = row_of(self.held[name])
        bias, position, less = used * 0, used * 0, ""
        if made is not None and isinstance(made.operation, Project):
            if len(made.inputs) > 2:
                bias, less = row_of(self.held[made.inputs[2]]), f"{less} - {made.inputs[2]}"
            if added := self._positions(made.inputs[0]):
                moved = made.operation.apply(self.held[added], self.held[made.inputs[1]])
                position, less = row_of(moved), f"{less} - {added} {made.inputs[1]}"

        return _Row(used, plain, bias, position, f"({name}{less})" if less else "", called, made)

    def _positions(self, tokens: str) -> str:
        """Return the name of positions that are added to tokens; "" for none."""
        made = self.steps.get(tokens)
        if made is None or not isinstance(made.operation, Add):
            return ""
        added = made.inputs[1]
        return added if own_name(added).rstrip("12") == "P" else ""

    def follow(self, step: Step) -> None:
        """Apply a step to the parts: a factor, a term of its own, or a difference."""
        own, name = OneEntry(self.solution, step, self.place, self.work), step.inputs[0]
        before = self.held[name][self.place]
        self.add(f"rounding of {name}", before - self.solution.exact[name][self.place])
        kind = KINDS.get(type(step.operation), "")
        if reason := own.remark:
            self.parts.append(Part(reason, own.number))
            return
        for term in own.terms(own.at_place):
            factor, rest = (own.value(_with(own, name, term, number)) for number in (1, 0))
            value = own.value(term)
            near = NEAR.get(self.solution.problem.dtype, 1e-9) * abs(float(value))
            if factor == rest:  # it does not read the score before
                made = own.part(term)
                self.add(f"{kind}: {made.text}", made.value, made.asks)
            elif abs(float(factor * before) - float(value)) <= near:
                self.parts = [p._replace(value=p.value * factor) for p in self.parts]
                self.factor = self.factor * factor
            else:
                self.add(f"softcap of {name}", value - before)


def _with(own: OneEntry, name: str, term: Node, number: int) -> Node:
    """Return a term in which the entry of a matrix is a number."""

    def put(x: Node) -> Node:
        if isinstance(x, Entry) and own.titles.get(x.name) == name:
            return Number(Fraction(number))
        return rebuilt(x, put)

    return put(term)
