"""An exam for Numbas: one part per step, marked from the student's own earlier matrices.

The format is that of https://docs.numbas.org.uk/en/latest/. `precround` of Numbas rounds -1.005 to
-1.00, so a function of the exam rounds halves away from zero.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.text import in_json, on_a_line
from attncalc.base.typed import quoted
from attncalc.base.types import Matrix
from attncalc.equations.expressions import (
    Call,
    Expression,
    Negative,
    Number,
    Product,
    Quotient,
    Ratio,
    Root,
    Sum,
    Symbol,
    Transposed,
    Where,
)
from attncalc.exporting.handed_in import DIGITS
from attncalc.exporting.rules import Course
from attncalc.exporting.worksheet import in_symbols, refuse_the_map, refuse_too_many, worksheet
from attncalc.problem.attention.declared import EACH_STEP
from attncalc.problem.fields import role_of
from attncalc.problem.problem import Problem
from attncalc.problem.stated import heading
from attncalc.problem.step import Step
from attncalc.solving.plan import formula
from attncalc.solving.solution import Solution
from attncalc.writing.mathematics import MathWriter, in_text

MOST_CELLS = 900
"""The number of fields from which a browser takes seconds for a page."""
SPECIAL = "{}$\\"
"""Characters that Numbas interprets as parts of formulas, even in a text."""
NOTE = (
    "Numbas marks each step from the student's own earlier matrices; a step with an empty cell "
    "earns no points"
)
ON_CARRYING = (
    "after a mistake, later steps are computed from the typed numbers: with full precision their "
    "last digit can differ (not with --rounding each-step)"
)

_EACH = "var r = m.map(function(row) {{ {} }}); r.rows = m.rows; r.columns = m.columns; return r;"
FUNCTIONS = {
    "attn_round": (
        (("m", "matrix"), ("d", "number")),
        "matrix",
        "var unit = Math.pow(10, d); "
        + _EACH.format(
            "return row.map(function(x) { var s = Math.abs(x) * unit; "
            "return Math.sign(x) * Math.floor(s * (1 + 1e-12) + 0.5) / unit; });"
        ),
    ),
    "attn_softmax": (
        (("m", "matrix"),),
        "matrix",
        _EACH.format(
            "var most = Math.max.apply(null, row); "
            "var e = row.map(function(x) { return Math.exp(x - most); }); "
            "var all = e.reduce(function(a, b) { return a + b; }, 0); "
            "return e.map(function(x) { return x / all; });"
        ),
    ),
    "attn_down": (
        (("m", "matrix"), ("n", "number")),
        "matrix",
        "var r = []; for (var i = 0; i < n; i++) { r.push(m[0].slice()); } "
        "r.rows = n; r.columns = m.columns; return r;",
    ),
    "attn_where": (
        (("m", "matrix"), ("allowed", "matrix")),
        "matrix",
        _EACH.replace("function(row)", "function(row, i)").format(
            "return row.map(function(x, j) { return allowed[i][j] ? x : -1e300; });"
        ),
    ),
}
"""Functions missing in Numbas: their parameters, results, and JavaScript."""


class _Place(NamedTuple):
    """A step, or one head of it: from 1, or 0 without heads."""

    step: Step
    head: int

    @property
    def name(self) -> str:
        """Its name for students."""
        return f"{self.step.name}, head {self.head}" if self.head else self.step.name

    @property
    def variable(self) -> str:
        """Its name in Numbas."""
        return variable(self.step.name, self.head)


def _places(solution: Solution, steps: Iterable[Step]) -> Iterator[_Place]:
    """Yield the steps, head by head."""
    for step in steps:
        heads = _count(solution.shape_of(step.name))
        yield from (_Place(step, head) for head in (range(1, heads + 1) if heads else (0,)))


def _count(shape: tuple[int, ...]) -> int:
    """Return the number of heads of a matrix, 0 for a single one."""
    return shape[0] if len(shape) == 3 else 0


def _head_in(count: int, head: int, heads: int) -> int:
    """Return the head of a matrix that a head reads: several may share one."""
    return (head - 1) * count // heads + 1 if count and head else 0


class _Jme(MathWriter):
    """Writes an expression in the language of Numbas, and refuses unsupported ones."""

    def __init__(self, solution: Solution, place: _Place) -> None:
        self.solution, self.place, self.step = solution, place, place.step

    def _refused(self, expression: Expression) -> str:
        text = in_text(formula(self.step, self.solution.problem))
        raise InputError(
            f"{self.step.name} = {text}: a Numbas exam supports products, sums, scales, causal "
            "masks, softmax, and heads joined or averaged"
        )

    def symbol(self, symbol: Symbol) -> str:
        problem, name = self.solution.problem, symbol.name
        if name == "d_k":
            return str(self.solution.shape_of("K")[-1] if "K" in self._steps else _width(problem))
        if name in self._steps:
            return self._of_head(name, self.solution.shape_of(name))
        if name in problem.names:
            return self._of_head(name, problem.given[name].shape)
        return self._refused(symbol)

    def _of_head(self, name: str, shape: tuple[int, ...]) -> str:
        heads = _count(self.solution.shape_of(self.step.name))
        return variable(name, _head_in(_count(shape), self.place.head, heads))

    @property
    def _steps(self) -> tuple[str, ...]:
        return tuple(step.name for step in self.solution.plan)

    def number(self, number: Number) -> str:
        exact = number.exact
        return self._refused(number) if exact is None else f"({exact})"

    def ratio(self, ratio: Ratio) -> str:
        return f"({ratio.exact})"

    def sum(self, total: Sum) -> str:
        return f"({' + '.join(map(self._term, total.terms))})"

    def _term(self, term: Expression) -> str:
        """Write a term; a row that is added to each row is repeated, for Numbas."""
        given = self.solution.problem.given
        if not isinstance(term, Symbol) or term.name not in given:
            return self.write(term)
        rows, columns = self.solution.shape_of(self.step.name)[-2:]
        shape = given[term.name].shape[-2:]
        if shape == (rows, columns):
            return self.write(term)
        if shape == (1, columns):
            return f"attn_down({self.write(term)}, {rows})"
        return self._refused(term)

    def negative(self, negative: Negative) -> str:
        return f"(-1 * {self.write(negative.term)})"

    def product(self, product: Product) -> str:
        if product.sign == "⊙":
            return self._refused(product)
        return f"({' * '.join(map(self.write, product.factors))})"

    def quotient(self, quotient: Quotient) -> str:
        return f"((1 / {self.write(quotient.bottom)}) * {self.write(quotient.top)})"

    def root(self, root: Root) -> str:
        return f"sqrt({self.write(root.radicand)})"

    def transposed(self, transposed: Transposed) -> str:
        return f"transpose({self.write(transposed.matrix)})"

    def call(self, call: Call) -> str:
        if call.function in ("concat", "mean") and isinstance(call.argument, Symbol):
            return self._joined(call.function, call.argument.name)
        if call.function != "softmax":
            return self._refused(call)
        return f"attn_softmax({self.write(call.argument)})"

    def _joined(self, how: str, name: str) -> str:
        count = _count(self.solution.shape_of(name))
        heads = [variable(name, head) for head in range(1, count + 1)]
        if how == "mean":
            return f"((1 / {count}) * ({' + '.join(heads)}))"
        return reduce(lambda one, other: f"combine_horizontally({one}, {other})", heads)

    def where(self, where: Where) -> str:
        return f"attn_where({self.write(where.value)}, {variable('allowed')})"

    def __getattr__(self, name: str) -> Any:
        """Refuse every kind of expression that has no method here."""
        if name.startswith("_"):
            raise AttributeError(name)
        return self._refused


def _width(problem: Any) -> int:
    return int(problem.stored("K").shape[-1])


def variable(name: str, head: int = 0) -> str:
    """Return the name of a matrix, or of one head, in Numbas, where e and i are numbers.

    Examples
    --------
    >>> variable("W_Q"), variable("A", 2)
    ('attn_W_Q', 'attn_A_head2')
    """
    of_head = f"_head{head}" if head else ""
    return "attn_" + "".join(sign if sign.isalnum() else "_" for sign in name) + of_head


def exam(solution: Solution, course: Course) -> str:
    """Return the exam: one question with a part for each step that is asked for.

    Raises
    ------
    InputError
        If Numbas cannot compute a step, or would read a text as a formula.
    """
    title = on_a_line(heading(solution.problem))
    return exam_of(title, [[question(solution, course)]])


def exam_of(title: str, groups: Sequence[Sequence[Mapping[str, Any]]]) -> str:
    """Return an exam with one random question from each group."""
    whole = {
        "name": title,
        "duration": 0,
        "percentPass": 0,
        "question_groups": [
            {"name": "", "pickingStrategy": "all-ordered", "questions": list(group)}
            if len(group) == 1
            else {
                "name": "",
                "pickingStrategy": "random-subset",
                "pickQuestions": 1,
                "questions": list(group),
            }
            for group in groups
        ],
    }
    return f"// Numbas version: exam_results_page_options\n{in_json(whole, indent=1)}\n"


def question(solution: Solution, course: Course) -> dict[str, Any]:
    """Return a question in the format of an exam."""
    _refuse_what_numbas_cannot_hold(solution, course)
    asked = list(_places(solution, (s for s in solution.plan if s.name in course.asked)))
    return {
        "name": on_a_line(heading(solution.problem)),
        "tags": [],
        "metadata": {"description": "", "licence": "None specified"},
        "statement": worksheet(solution, _of_nothing(course), lambda grid: ""),
        "advice": "",
        "rulesets": {},
        "extensions": [],
        "variables": {each["name"]: each for each in _variables(solution)},
        "variablesTest": {"condition": "", "maxRuns": 100},
        "ungrouped_variables": [each["name"] for each in _variables(solution)],
        "variable_groups": [],
        "functions": dict(_functions()),
        "preamble": {"js": "", "css": ""},
        "parts": [_part(solution, course, place, asked) for place in asked],
    }


def _of_nothing(course: Course) -> Course:
    return replace(course, rules=replace(course.rules, asked=()))


def _refuse_what_numbas_cannot_hold(solution: Solution, course: Course) -> None:
    problem = solution.problem
    refuse_the_map(course, "Numbas")
    refuse_too_many(solution, course, "Numbas", MOST_CELLS)
    if problem.layout != "rows" or problem.block != "attention":
        raise InputError("a Numbas exam supports only attention, with tokens as rows")
    infinite = [name for name in course.asked if not _finite(solution, name).all()]
    if infinite:
        others = ",".join(name for name in course.asked if name not in infinite)
        raise InputError(f"{infinite[0]} holds -inf, which a cell cannot: use --steps {others}")
    queries, keys = problem.queries, problem.keys
    for text in (problem.title or "", *queries, *keys):
        if any(sign in text for sign in SPECIAL):
            raise InputError(
                f"{quoted(text)}: Numbas takes {' '.join(SPECIAL)} for parts of a formula: "
                "give the title or the token another name"
            )


def _finite(solution: Solution, name: str) -> Matrix:
    return np.isfinite(np.asarray(solution.shown(name), np.float64))


def _variables(solution: Solution) -> Iterator[dict[str, str]]:
    """Yield the given matrices, and each step computed from earlier ones, head by head."""
    problem = solution.problem
    for name in problem.names:
        if role_of(name) != "marks":
            yield from _given(problem, name)
    for step in solution.plan:
        if isinstance(formula(step, problem), Where):
            yield _variable("allowed", _matrix(_allowed(solution, step), "allowed"))
        yield from (
            _variable(step.name, _value(solution, each), each.head)
            for each in _places(solution, [step])
        )


def _given(problem: Problem, name: str) -> Iterator[dict[str, str]]:
    upright = problem.given[name]
    if not _count(upright.shape):
        yield _variable(name, _matrix(np.asarray(problem.stored(name), np.float64), name))
        return
    for head, own in enumerate(np.asarray(upright, np.float64), 1):
        standing = own.T if problem.standing.is_turned(name) else own
        yield _variable(name, _matrix(standing, name), head)


def _allowed(solution: Solution, step: Step) -> Matrix:
    """Return which scores are unmasked: 1 if they are, the same in all heads."""
    finite = _finite(solution, step.name)
    heads = finite.reshape(-1, *finite.shape[-2:])
    if not (heads == heads[0]).all():
        raise InputError(
            f"{step.name} masks heads differently, which a Numbas exam does not support"
        )
    if not heads[0].any(axis=1).all():
        raise InputError(
            "a token may have no key to attend to, which a Numbas exam does not support"
        )
    allowed: Matrix = heads[0].astype(np.float64)
    return allowed


def _value(solution: Solution, place: _Place) -> str:
    """Return the formula of a step, or of a head of it."""
    problem, expression = solution.problem, formula(place.step, solution.problem)
    value = _Jme(solution, place).write(expression)
    if problem.rounding == EACH_STEP and not isinstance(expression, Where):
        return f"attn_round({value}, {problem.decimals})"
    return value


def _variable(name: str, definition: str, head: int = 0) -> dict[str, str]:
    return {
        "name": variable(name, head),
        "group": "Ungrouped variables",
        "definition": definition,
        "description": "",
        "templateType": "anything",
    }


def _matrix(matrix: Matrix, name: str) -> str:
    if matrix.ndim != 2 or not np.isfinite(matrix).all():
        raise InputError(f"{name} is not a single matrix of finite numbers, which Numbas needs")
    rows = (", ".join(f"{Decimal(repr(float(each))):f}" for each in row) for row in matrix)
    return f"matrix({', '.join(f'[{row}]' for row in rows)})"


def _functions() -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, (parameters, kind, definition) in FUNCTIONS.items():
        yield (
            name,
            {
                "parameters": [list(each) for each in parameters],
                "type": kind,
                "language": "javascript",
                "definition": definition,
            },
        )


def _part(
    solution: Solution, course: Course, place: _Place, asked: list[_Place]
) -> Mapping[str, Any]:
    """Return the part of a step; if it is wrong, its inputs are the student's."""
    problem, step = solution.problem, place.step
    shape = solution.shape_of(step.name)
    rows, columns = shape[-2:]
    of_head = f", head {place.head}" if place.head else ""
    text = f"{step.name}: {step.title}{of_head}, {rows} × {columns}"
    equation = f"{step.name} = {in_text(formula(step, problem))}"
    half = Decimal(5).scaleb(-problem.decimals - 1)
    return {
        "type": "matrix",
        "useCustomName": True,
        "customName": place.name,
        "marks": float(round(course.most(step.name) / max(_count(shape), 1), DIGITS)),
        "prompt": f"<p>{in_symbols(text)}</p>\n<p>{in_symbols(equation)}</p>",
        "scripts": {},
        "variableReplacements": [
            {"variable": each.variable, "part": f"p{asked.index(each)}", "must_go_first": False}
            for each in _read(solution, place, asked)
        ],
        "variableReplacementStrategy": "originalfirst",
        "correctAnswer": f"attn_round({place.variable}, {problem.decimals})",
        "numRows": str(rows),
        "numColumns": str(columns),
        "allowResize": False,
        "tolerance": f"{half * Decimal('1.000001'):f}",
        "markPerCell": True,
        "allowFractions": True,
        "precisionType": "none",
    }


def _read(solution: Solution, place: _Place, asked: list[_Place]) -> list[_Place]:
    """Return the asked steps that a step reads, directly or through others."""
    plan = {each.name: each for each in solution.plan}
    heads = _count(solution.shape_of(place.step.name))
    found: dict[_Place, None] = {}
    for name in place.step.inputs:
        if name not in plan:
            continue
        count = _count(solution.shape_of(name))
        own = _head_in(count, place.head, heads)
        for each in _places(solution, [plan[name]]):
            if own and each.head != own:
                continue  # an input of another head
            found |= dict.fromkeys([each] if each in asked else _read(solution, each, asked))
    return list(found)
