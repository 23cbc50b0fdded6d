"""The work and the notation written from equations, beside what was recorded of the operations."""

import hashlib
import json
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from conftest import for_all
from test_equations import CASES, MORE, NEWER, matrices_for

from attncalc.base.rounding import fixed, half_away
from attncalc.base.typed import exact
from attncalc.equations.expressions import (
    MINUS_INFINITY,
    Indexed,
    Number,
    Operand,
    Symbol,
    fraction,
    given,
)
from attncalc.equations.operations.normalising import DivideBySum, HardMax, Softmax
from attncalc.problem.samples import sample
from attncalc.reading import read_problem
from attncalc.solving.plan import formula
from attncalc.solving.solution import solve
from attncalc.solving.work import Work
from attncalc.writing.mathematics import in_text

pytestmark = pytest.mark.campaign(4)


def _decimal(value):
    return value if isinstance(value, Decimal) else exact(float(value))


def _operand(name, matrix, *, is_known, in_fractions):
    """Return an operand that shows two decimals of what it is, and four of computed values."""

    def shown(value, digits, true):
        if in_fractions and true is not None:
            return fraction(true)
        return Number(fixed(half_away(_decimal(value), digits), digits))

    def quote(place):
        value = matrix[place]
        if isinstance(value, np.bool_):
            return Number(str(int(value)))
        if not np.isfinite(float(value)):
            return MINUS_INFINITY
        true = Fraction(_decimal(value))
        made = shown(value, 2, true)
        return made._replace(exact=true if is_known else None) if type(made) is Number else made

    def entry(place):
        return Indexed(name, tuple(index + 1 for index in place))

    def own(number):
        return fraction(number) if in_fractions else given(number)

    return Operand(name, matrix, quote, entry, lambda value, true: shown(value, 4, true), own)


CASES_OF_WORK = [
    *((case[-2], case[-1]) for case in CASES if case[0] not in NEWER),
    *MORE,
]
INFINITY = np.inf
MASKED = np.array([[1.5, -INFINITY, 0.25], [-INFINITY] * 3, [2, 2, -INFINITY], [-1, 3, 2]])
HUGE = np.array([[231.5, 2, 3], [3, -400, 3], [0, 0, 0.5]])
ROWS = [
    *[
        (kind, [matrix])
        for kind in (Softmax(masked=True), HardMax(), DivideBySum())
        for matrix in (MASKED, HUGE)
    ],
    (Softmax(masked=True), [MASKED, np.array([[0.5]])]),
    (Softmax(masked=True), [np.stack([HUGE, -HUGE]), np.array([[[500]], [[0.0]]])]),
]


RECORDED = json.loads((Path(__file__).parent / "recorded" / "work.json").read_bytes())
"""Digests of the work, written by the operation classes before there were equations."""
FORMULAS = {key.split()[0]: text for key, text in RECORDED["formulas"].items()}


def _digest(lines):
    return hashlib.sha256(repr(lines).encode()).hexdigest()[:16]


def _lines(operation, matrices, **ways):
    operands = [_operand(f"x{n}", matrix, **ways) for n, matrix in enumerate(matrices)]
    shape = operation.apply(*(matrix.copy() for matrix in matrices)).shape
    lines = [operation.explain(place, *operands) for place in np.ndindex(shape)]
    if (
        operation.name == "GELUtanhBack" or getattr(operation, "kind", "") == "gelu-tanh"
    ):  # that GELU'(0) is 1/2 was not known
        return [line._replace(exact=None) for line in lines]
    return lines


@pytest.mark.parametrize("decimals", [False, True], ids=["floats", "decimals"])
@pytest.mark.parametrize("number", range(len(ROWS)))
def test_the_work_of_masked_tied_and_huge_scores_is_as_recorded(number, decimals):
    operation, matrices = ROWS[number]
    with localcontext(Context(prec=60)):
        if decimals:
            matrices = [np.frompyfunc(Decimal, 1, 1)(each.astype(float)) for each in matrices]
        for known in (False, True):
            key = f"{number} {type(operation).__name__} {decimals:d}{known:d}"
            lines = _lines(operation, matrices, is_known=known, in_fractions=known)
            assert _digest(lines) == RECORDED["rows"][key]


@pytest.mark.campaign(24)
@pytest.mark.parametrize("key", sorted(RECORDED["cases"]))
def test_the_work_of_an_operation_is_as_recorded(key):
    number, _, ways = key.split()
    operation, shapes = CASES_OF_WORK[int(number)]
    decimals, known, fractions = (way == "1" for way in ways)
    with localcontext(Context(prec=60)):
        lines = _lines(
            operation, matrices_for(shapes, decimals), is_known=known, in_fractions=fractions
        )
    assert _digest(lines) == RECORDED["cases"][key]


@pytest.mark.campaign(24)
@pytest.mark.parametrize("key", sorted(RECORDED["samples"]))
def test_the_work_and_the_notation_of_a_sample_are_as_recorded(key):
    name, rounding, fractions = key.split()
    solution = solve(read_problem(sample(name).path, rounding=rounding))
    work = Work(solution, None if fractions == "None" else fractions)
    steps = []
    for step in solution.plan:
        lines = [(x.forms, x.result, x.is_exact, x.remark) for x in work.lines(step)]
        steps.append((repr(formula(step, solution.problem)), lines))
    assert _digest(steps) == RECORDED["samples"][key]


@for_all("number", range(len(RECORDED["formulas"])))
def test_the_notation_of_an_operation_is_as_recorded(number):
    operation, shapes = CASES_OF_WORK[number]
    symbols = [Symbol("QKVWXYZ"[n]) for n in range(len(shapes))]
    expected = FORMULAS[str(number)]
    assert in_text(operation.formula(*symbols)) == expected
