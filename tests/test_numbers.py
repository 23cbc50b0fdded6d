"""How numbers are read: every form people write, exactly, and nothing else."""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from conftest import any_text, many
from hypothesis import given
from hypothesis import strategies as st

from attncalc.base.decimals import cos_sin
from attncalc.base.rounding import Rounded
from attncalc.base.typed import NotANumber, read_number

pytestmark = pytest.mark.campaign(4)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("3", 3),
        ("-2.5", Fraction(-5, 2)),
        (".5", Fraction(1, 2)),
        ("3.", 3),
        ("+4", 4),
        ("2.5e-3", Fraction(25, 10_000)),
        ("1E2", 100),
        ("1/2", Fraction(1, 2)),
        ("-3/4", Fraction(-3, 4)),
        ("1.5/2", Fraction(3, 4)),
        ("1 / 3", Fraction(1, 3)),
        ("½", Fraction(1, 2)),
        ("-¾", Fraction(-3, 4)),
        ("2½", Fraction(5, 2)),
        ("⅓", Fraction(1, 3)),
        ("⅑", Fraction(1, 9)),
        ("−7", -7),
        ("1⁄4", Fraction(1, 4)),
        ("  8 ", 8),
    ],
)
def test_every_form_people_write_is_read_exactly(text: str, number: Fraction) -> None:
    assert Fraction(read_number(text)) == number


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "blank, but a number is needed"),
        ("   ", "blank, but a number is needed"),
        ("abc", '"abc" is not a number'),
        ("nan", '"nan" is not a number'),
        ("-inf", '"-inf" is not a number'),
        ("Infinity", '"Infinity" is not a number'),
        ("true", '"true" is not a number'),
        ("0x10", '"0x10" is not a number'),
        ("1 2", '"1 2" is not a number'),
        ("٣", '"٣" is not a number'),
        ("²", '"²" is not a number'),
        ("1_000", '"1_000" is not a number: write it without underscores'),
        (
            "1,000",
            '"1,000" is not a number: write a decimal point, and no thousands separators',
        ),
        ("1/0", '"1/0" divides by zero'),
        ("1e400", '"1e400" is too large (the largest number is about 1.8e308)'),
        ("-1e999999999", '"-1e999999999" is too large (the largest number is about 1.8e308)'),
        ("1e-400", '"1e-400" is too small (the smallest number is about 4.9e-324)'),
        ("1" * 500, f'"{"1" * 39}…" is too long for a number (500 characters)'),
    ],
)
def test_anything_else_is_refused_with_its_reason(text: str, reason: str) -> None:
    with pytest.raises(NotANumber) as error:
        read_number(text)
    assert str(error.value) == reason


def test_a_decimal_comma_is_read_only_where_it_is_expected() -> None:
    assert read_number("-2,5", decimal_comma=True) == Decimal("-2.5")
    with pytest.raises(NotANumber):
        read_number("1.234,5", decimal_comma=True)


@many(100)
@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9))
def test_a_decimal_survives_a_round_trip(value: Decimal) -> None:
    assert read_number(f"{value:f}") == value


@many(100)
@given(any_text(12))
def test_no_text_brings_down_the_reader(text: str) -> None:
    """Whatever is typed is a finite number or one clear refusal."""
    try:
        number = read_number(text)
    except NotANumber as reason:
        assert str(reason)  # noqa: PT017 - both ends are right ones
    else:
        assert abs(float(number)) < float("inf")


def test_sines_of_large_angles_keep_every_digit() -> None:
    """Sin 10²² is the value that libraries of mathematics are tested with (Ng, 1992)."""
    with localcontext(prec=28):
        cosines, sines = cos_sin(np.array([Decimal(10) ** 22], dtype=object))
        assert sines[0] == Decimal("-0.8522008497671888017727058938")
        assert cosines[0] == Decimal("0.5232147853951389454975944734")


def test_a_matrix_rounded_on_reading_is_rounded_for_every_access() -> None:
    matrix = Rounded(np.array([[[2.675, -0.001], [0.125, 1.0]]]), 2)
    rounded = [[2.68, 0.0], [0.13, 1.0]]
    assert np.asarray(matrix).tolist() == [rounded]
    assert np.asarray(matrix[0]).tolist() == rounded
    assert matrix[0][1].tolist() == rounded[1]
    assert matrix[0, 0, 0] == 2.68
    assert [np.asarray(head).tolist() for head in matrix] == [rounded]
    assert [row.tolist() for row in matrix[0]] == rounded
    assert (len(matrix), matrix.shape, matrix[0].ndim) == (1, (1, 2, 2), 2)
