"""Every written-out line is read by an independent reader, and must give its result."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from conftest import many
from hypothesis import given
from hypothesis import strategies as st
from oracle_kinds import Kind
from test_kinds import FORMS, Form, kinds
from test_pages import is_solvable
from work_reader import ReadLine, Value, read_line

from attncalc import Solution, solve
from attncalc.writing.page import Contents, make_page
from attncalc.writing.prose import line_in_text

NEAR = Decimal("1e-40")
RATIONAL = ("Q", "K", "V", "S")


def written(kind: Kind, form: Form, **contents: Any) -> tuple[Solution, list[tuple[str, str]]]:
    """Return the solution, and each line of its work with the name of its step."""
    solution = solve(form.problem(kind))
    page = make_page(solution, Contents(solution.steps, work=True, full=True, **contents))
    lines = [
        (section.step.name, line_in_text(line))
        for section in page.sections
        for line in section.lines
    ]
    return solution, lines


def half_away(value: Value, decimals: int) -> Fraction:
    """Round half away from zero."""
    scaled = abs(Fraction(value)) * 10**decimals
    whole = int(scaled + Fraction(1, 2))
    return Fraction(whole, 10**decimals) * (-1 if value < 0 else 1)


def is_near_a_tie(value: Value, decimals: int) -> bool:
    part = abs(Fraction(value)) * 10**decimals % 1
    return not isinstance(value, Fraction) and abs(part - Fraction(1, 2)) < Fraction(NEAR)


def check(line: ReadLine, decimals: int) -> None:
    """Assert that the first form gives the result, and that the sign before it is right."""
    if line.result == "-∞":
        assert "forbidden" in line.remark
        return
    result = Fraction(line.result)
    if not line.forms:  # the result is all there is to say
        return
    value = line.forms[0]
    if is_near_a_tie(value, decimals):
        return
    assert half_away(value, decimals) == result
    if isinstance(value, Fraction):
        assert (line.sign == "=") == (value == result)
    elif abs(value - Decimal(result.numerator) / Decimal(result.denominator)) > NEAR:
        assert line.sign == "≈"


@pytest.mark.slow
@many(80)
@given(kinds(rounding=("each-step",), decimals=4), st.sampled_from(FORMS))
def test_the_numbers_of_each_line_are_those_really_used(kind: Kind, form: Form) -> None:
    """Where each step is rounded, the shown numbers of a line give its result, to the digit."""
    if not is_solvable(form.problem(kind)):
        return
    _, lines = written(kind, form)
    known: dict[str, Value] = {}
    for _, text in lines:
        line = read_line(text, known)
        check(line, kind.decimals)
        if line.result != "-∞":
            known[line.entry] = Fraction(line.result)


@pytest.mark.slow
@many(80)
@given(kinds(rounding=("display",), decimals=3), st.sampled_from(FORMS))
def test_fractions_are_exact(kind: Kind, form: Form) -> None:
    if not is_solvable(form.problem(kind)):
        return
    solution, lines = written(kind, form, fractions="plain")
    has_roots = kind.positions != "none" or kind.qk_norm != "none"
    rational = ("V",) if has_roots else RATIONAL
    if kind.positions == "sinusoidal":
        rational = ()
    for name, text in lines:
        if name in rational:
            line = read_line(text)
            assert line.sign == "="
            assert line.forms[0] == Fraction(line.result)
    shown = {read_line(text).entry: text for name, text in lines if name in rational}
    assert len(shown) == sum(solution[name].size for name in rational if name in solution.floats)


@pytest.mark.slow
@many(60)
@given(kinds(rounding=("display",), decimals=3), st.sampled_from(FORMS))
def test_a_mark_shows_that_a_displayed_zero_is_not_zero(kind: Kind, form: Form) -> None:
    if not is_solvable(form.problem(kind)) or kind.normalizer != "softmax":
        return
    _, lines = written(kind, form)
    for name, text in lines:
        if name == "A":
            line = read_line(text)
            is_zero = not line.forms or line.forms[0] == 0
            assert line.is_marked == (Fraction(line.result) == 0 and not is_zero)
