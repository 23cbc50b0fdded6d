"""Steps in the language of Maxima, with the student's own earlier matrices as inputs.

They call the functions of `templates/functions.mac`: softmax, masks, comparisons with ranges, and
lines of the map; 1 is right, and 0 is wrong.

The functions use only what STACK allows: stack/cas/security-map.json of
https://github.com/maths/moodle-qtype_stack.
"""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from attncalc.base.types import Matrix
from attncalc.equations import expressions as node
from attncalc.problem.step import Step
from attncalc.solving.plan import formula
from attncalc.solving.solution import Solution
from attncalc.writing.mathematics import MathWriter


class Place(NamedTuple):
    """A step, or one head of it: from 1, or 0 without heads."""

    name: str
    head: int

    @property
    def variable(self) -> str:
        """Its name in Maxima, and as an input."""
        plain = "".join(sign for sign in self.name if sign.isalnum())
        return f"ans{plain}h{self.head}" if self.head else f"ans{plain}"


class UnwrittenError(Exception):
    """No expression of Maxima is known for a step."""


def heads_of(solution: Solution, name: str) -> int:
    """Return the number of heads of a step, 0 for a single matrix."""
    shape = solution.shape_of(name)
    return shape[0] if len(shape) == 3 else 0


def in_maxima(solution: Solution, place: Place, inputs: Iterable[Place]) -> str:
    """Return a step, or one head of it, from the inputs that are asked for.

    Raises UnwrittenError if one of its operations is not written here.
    """
    step = next(each for each in solution.plan if each.name == place.name)
    return _Maxima(solution, step, place.head, inputs).own()


class _Maxima(MathWriter):
    """Writes a step, or one head, from the inputs that are asked for before it."""

    def __init__(self, solution: Solution, step: Step, head: int, inputs: Iterable[Place]) -> None:
        self.solution, self.step, self.head = solution, step, head
        self.inputs = tuple(inputs)
        self.steps = {each.name: each for each in solution.plan}

    def own(self) -> str:
        return self.write(formula(self.step, self.solution.problem))

    def symbol(self, symbol: node.Symbol) -> str:
        name, problem = symbol.name, self.solution.problem
        if name == "d_k":
            return str(problem.attention_of(self.step.name).d_k)
        if name in self.steps:
            count = heads_of(self.solution, name)
            if count and not self.head:
                raise UnwrittenError
            return self._in_head(name, self._head_in(count))
        if name not in problem.names:
            raise UnwrittenError
        given = np.asarray(problem.given[name], np.float64)
        count = len(given) if given.ndim == 3 else 0
        own = given[self._head_in(count) - 1] if count else given
        return matrix(own.T if problem.standing.is_turned(name) else own)

    def _head_in(self, count: int) -> int:
        """Return the head of a matrix that this head reads: several may share one."""
        heads = heads_of(self.solution, self.step.name)
        return (self.head - 1) * count // heads + 1 if count and self.head else 0

    def number(self, number: node.Number) -> str:
        if number.exact is None:
            raise UnwrittenError
        return f"({number.exact})"

    def ratio(self, ratio: node.Ratio) -> str:
        return f"({ratio.exact})"

    def sum(self, total: node.Sum) -> str:
        return f"({' + '.join(map(self._term, total.terms))})"

    def _term(self, term: node.Expression) -> str:
        """Write a term; a row that is added to each row is repeated."""
        given = self.solution.problem.given
        if isinstance(term, node.Symbol) and term.name in given:
            rows = self.solution.shape_of(self.step.name)[-2]
            if given[term.name].shape[-2] == 1 < rows:
                return f"attn_down({self.write(term)}, {rows})"
        return self.write(term)

    def negative(self, negative: node.Negative) -> str:
        return f"(-1*{self.write(negative.term)})"

    def product(self, product: node.Product) -> str:
        if product.sign == "⊙":
            return f"({'*'.join(map(self.write, product.factors))})"
        return f"({' . '.join(map(self.write, product.factors))})"

    def quotient(self, quotient: node.Quotient) -> str:
        return f"({self.write(quotient.top)}/{self.write(quotient.bottom)})"

    def root(self, root: node.Root) -> str:
        return f"float(sqrt({self.write(root.radicand)}))"

    def transposed(self, transposed: node.Transposed) -> str:
        return f"transpose({self.write(transposed.matrix)})"

    def call(self, call: node.Call) -> str:
        if call.function == "softmax":
            return f"attn_softmax({self.write(call.argument)})"
        name = call.argument.name if isinstance(call.argument, node.Symbol) else ""
        count = heads_of(self.solution, name) if name in self.steps else 0
        if call.function not in ("concat", "mean") or not count:  # others are of rows
            raise UnwrittenError
        heads = [self._in_head(name, head) for head in range(1, count + 1)]
        if call.function == "mean":
            return f"(({' + '.join(heads)})/{count})"
        joined, *others = heads
        for other in others:
            joined = f"attn_beside({joined}, {other})"
        return joined

    def _in_head(self, name: str, head: int) -> str:
        """Return the input for a head of a step, or else the expression of that head."""
        if (place := Place(name, head)) in self.inputs:
            return place.variable
        return f"({_Maxima(self.solution, self.steps[name], head, self.inputs).own()})"

    def where(self, where: node.Where) -> str:
        digits = np.asarray(self.solution.shown(self.step.name), np.float64)
        allowed = np.isfinite(digits[self.head - 1] if self.head else digits).astype(np.float64)
        return f"attn_where({self.write(where.value)}, {matrix(allowed)})"

    def __getattr__(self, name: str) -> Any:
        """Refuse every kind of expression that has no method here."""
        if name.startswith("_"):
            raise AttributeError(name)
        raise UnwrittenError


def matrix(values: Matrix | list[list[Decimal]]) -> str:
    """Return a matrix of numbers.

    >>> matrix([[Decimal("0.5"), Decimal(-1)]])
    'matrix([0.5,-1])'
    """
    rows = (",".join(map(_plain, row)) for row in values)
    return f"matrix({','.join(f'[{row}]' for row in rows)})"


def lists(values: Any) -> str:
    """Return nested lists of numbers.

    >>> lists([[Decimal("0.5")], []])
    '[[0.5],[]]'
    """
    if isinstance(values, Decimal):
        return _plain(values)
    return f"[{','.join(map(lists, values))}]"


def _plain(value: Any) -> str:
    exact = value if isinstance(value, Decimal) else Decimal(repr(float(value)))
    return f"{exact.normalize():f}"
