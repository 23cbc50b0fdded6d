"""An exam for Numbas: one part a step, marked from the student's own earlier matrices.

Its form is that of https://docs.numbas.org.uk/en/latest/; `precround` of Numbas takes -1.005 to
-1.00, so halves are rounded away from zero by a function of our own.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np

from attncalc.errors import InputError
from attncalc.exporting.handed_in import DIGITS
from attncalc.exporting.rules import Course
from attncalc.exporting.worksheet import inert, refuse_the_map, refuse_too_many, worksheet
from attncalc.numbers.typed import quoted
from attncalc.numbers.types import Matrix
from attncalc.operations.expressions import (
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
from attncalc.operations.step import Step
from attncalc.problem.attention.fields import EACH_STEP
from attncalc.problem.fields import role_of
from attncalc.problem.stated import heading
from attncalc.solving.plan import formula
from attncalc.solving.solution import Solution
from attncalc.text import in_json, on_a_line
from attncalc.writing.mathematics import MathWriter, in_text

MOST_CELLS = 900
"""Fields of a page before a browser takes seconds over them."""
SPECIAL = "{}$\\"
"""What Numbas takes for a formula, or for a part of one, even in a text."""
NOTE = (
    "Numbas marks each step from the student's own earlier matrices; a step with an empty cell "
    "earns nothing until all of it is filled in"
)
ON_CARRYING = (
    "what follows from a mistake is worked out from the numbers as they are typed: with full "
    "precision carried it can differ in its last digit (--rounding each-step does not)"
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
    "attn_where": (
        (("m", "matrix"), ("allowed", "matrix")),
        "matrix",
        _EACH.replace("function(row)", "function(row, i)").format(
            "return row.map(function(x, j) { return allowed[i][j] ? x : -1e300; });"
        ),
    ),
}
"""What Numbas has not: its parameters, what it returns, and what it does, in JavaScript."""


class _Jme(MathWriter):
    """Writes an expression in the language of Numbas, and refuses what that does not have."""

    def __init__(self, solution: Solution, step: Step) -> None:
        self.solution, self.step = solution, step

    def _refused(self, expression: Expression) -> str:
        text = in_text(formula(self.step, self.solution.problem))
        raise InputError(
            f"{self.step.name} = {text}: the exam for Numbas holds products, sums, scales, causal "
            "masks and softmax, of one head alone"
        )

    def symbol(self, symbol: Symbol) -> str:
        problem = self.solution.problem
        if symbol.name == "d_k":
            return str(self.solution.shape_of("K")[-1] if "K" in self._steps else _width(problem))
        if symbol.name in self._steps or symbol.name in problem.names:
            return variable(symbol.name)
        return self._refused(symbol)

    @property
    def _steps(self) -> tuple[str, ...]:
        return tuple(step.name for step in self.solution.plan)

    def number(self, number: Number) -> str:
        exact = number.exact
        return self._refused(number) if exact is None else f"({exact})"

    def ratio(self, ratio: Ratio) -> str:
        return f"({ratio.exact})"

    def sum(self, total: Sum) -> str:
        shape = self.solution.shape_of(self.step.name)
        given = self.solution.problem.names
        terms = [each.name for each in total.terms if isinstance(each, Symbol)]
        if any(
            self.solution.problem.stored(name).shape != shape for name in terms if name in given
        ):
            return self._refused(total)  # Numbas adds no row to each row
        return f"({' + '.join(map(self.write, total.terms))})"

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
        if call.function != "softmax":
            return self._refused(call)
        return f"attn_softmax({self.write(call.argument)})"

    def where(self, where: Where) -> str:
        return f"attn_where({self.write(where.value)}, {variable('allowed')})"

    def __getattr__(self, name: str) -> Any:
        """Refuse every kind of expression that has no method here."""
        if name.startswith("_"):
            raise AttributeError(name)
        return self._refused


def _width(problem: Any) -> int:
    return int(problem.stored("K").shape[-1])


def variable(name: str) -> str:
    """Return what a matrix is called in Numbas, where e and i are numbers.

    Examples
    --------
    >>> variable("W_Q")
    'attn_W_Q'
    """
    return "attn_" + "".join(sign if sign.isalnum() else "_" for sign in name)


def exam(solution: Solution, course: Course) -> str:
    """Return the exam: one question with a part for each step that is asked for.

    Raises
    ------
    InputError
        When a step is none that Numbas can work out anew, or a text would be a formula to it.
    """
    _refuse_what_numbas_cannot_hold(solution, course)
    asked = [step for step in solution.plan if step.name in course.asked]
    title = on_a_line(heading(solution.problem))
    question = {
        "name": title,
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
        "parts": [_part(solution, course, step, asked) for step in asked],
    }
    whole = {
        "name": title,
        "duration": 0,
        "percentPass": 0,
        "question_groups": [
            {"name": "", "pickingStrategy": "all-ordered", "questions": [question]}
        ],
    }
    return f"// Numbas version: exam_results_page_options\n{in_json(whole, indent=1)}\n"


def _of_nothing(course: Course) -> Course:
    return replace(course, rules=replace(course.rules, asked=()))


def _refuse_what_numbas_cannot_hold(solution: Solution, course: Course) -> None:
    problem = solution.problem
    refuse_the_map(course, "Numbas")
    refuse_too_many(solution, course, "Numbas", MOST_CELLS)
    if problem.layout != "rows" or problem.block != "attention":
        raise InputError("the exam for Numbas holds attention alone, with tokens as rows")
    heads = [step.name for step in solution.plan if len(solution.shape_of(step.name)) != 2]
    if heads:
        raise InputError(f"{heads[0]} has several heads: the exam for Numbas holds one")
    infinite = [name for name in course.asked if not _finite(solution, name).all()]
    if infinite:
        others = ",".join(name for name in course.asked if name not in infinite)
        raise InputError(f"{infinite[0]} holds -inf, which no cell can: say --steps {others}")
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
    """Yield what is given, and each step as it follows from what is before it."""
    problem = solution.problem
    for name in problem.names:
        if role_of(name) != "marks":
            yield _variable(name, _matrix(np.asarray(problem.stored(name), np.float64), name))
    for step in solution.plan:
        expression = formula(step, problem)
        if isinstance(expression, Where):
            allowed = _finite(solution, step.name)
            if not allowed.any(axis=1).all():
                raise InputError("a token may attend to nothing, for which Numbas has no weights")
            yield _variable("allowed", _matrix(allowed.astype(np.float64), "allowed"))
        value = _Jme(solution, step).write(expression)
        if problem.rounding == EACH_STEP and not isinstance(expression, Where):
            value = f"attn_round({value}, {problem.decimals})"
        yield _variable(step.name, value)


def _variable(name: str, definition: str) -> dict[str, str]:
    return {
        "name": variable(name),
        "group": "Ungrouped variables",
        "definition": definition,
        "description": "",
        "templateType": "anything",
    }


def _matrix(matrix: Matrix, name: str) -> str:
    if matrix.ndim != 2 or not np.isfinite(matrix).all():
        raise InputError(f"{name} is no single matrix of finite numbers, as Numbas needs it")
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


def _part(solution: Solution, course: Course, step: Step, asked: list[Step]) -> Mapping[str, Any]:
    """Return the part of a step; where it is not right, what it reads is taken from the student."""
    problem = solution.problem
    rows, columns = solution.shape_of(step.name)
    text = f"{step.name}: {step.title}, {rows} × {columns}"
    equation = f"{step.name} = {in_text(formula(step, problem))}"
    names = [each.name for each in asked]
    half = Decimal(5).scaleb(-problem.decimals - 1)
    return {
        "type": "matrix",
        "useCustomName": True,
        "customName": step.name,
        "marks": float(round(course.most(step.name), DIGITS)),
        "prompt": f"<p>{inert(text)}</p>\n<p>{inert(equation)}</p>",
        "scripts": {},
        "variableReplacements": [
            {"variable": variable(name), "part": f"p{names.index(name)}", "must_go_first": False}
            for name in _read(solution, step, names)
        ],
        "variableReplacementStrategy": "originalfirst",
        "correctAnswer": f"attn_round({variable(step.name)}, {problem.decimals})",
        "numRows": str(rows),
        "numColumns": str(columns),
        "allowResize": False,
        "tolerance": f"{half * Decimal('1.000001'):f}",
        "markPerCell": True,
        "allowFractions": True,
        "precisionType": "none",
    }


def _read(solution: Solution, step: Step, asked: list[str]) -> list[str]:
    """Return the steps asked for that a step reads, at once or through others that are not."""
    plan = {each.name: each for each in solution.plan}
    found: dict[str, None] = {}
    for name in step.inputs:
        if name in asked:
            found[name] = None
        elif name in plan:
            found |= dict.fromkeys(_read(solution, plan[name], asked))
    return list(found)
