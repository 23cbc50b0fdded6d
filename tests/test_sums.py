"""Arithmetic written out in a text: right statements are right, wrong results are found."""

import random

import pytest
from conftest import for_all

from attncalc.reading.sums import Sum, meant_instead, sums_in
from attncalc.reading.table_sums import sums_of_tables


def found(*lines: str) -> list[tuple[str, str, str]]:
    """Return the text, the result and the outcome of each statement."""
    return [
        (each.text, each.result, "" if each.is_right else each.right) for each in sums_in(lines)
    ]


RIGHT = [
    "max(2, 3) - 1 = 2",
    "- exponentials: $(0.70, 8.34, 4.11)$, sum $13.16$",
    "- 2·3 = 6",
    "3·4 + 1·6 + 1·13 = 31 y 3·1 + 1·9 + 1·6 = 18",
    "Step 3 – 2·3 = 6",
    "Step 3 - 2·3 = 6",
    "Token 1: 0.5 · 2 = 1",
    "2/3 = 0.66...",
    "10^-2 = 0.01",
    "h = 64 / 8 = 8 heads",
    "2.9 · 3 ≈ 9 (rounded)",
    "0.5 * [1, 2] = [0.5, 1]",
    "$= 0.27 (1, 0) + 0.73 (0, 1) = (0.27, 0.73)$",
    r"$\frac{1}{\sqrt{2}} \approx 0.7071$",
    r"$s = \frac{q k^T}{\sqrt{d_k}} = \frac{2}{\sqrt 2} = 1.41$",
    r"\[ a_{11} = \frac{e^{2}}{e^{2} + e^{1} + e^{0}} = \frac{7.39}{11.11} = 0.665 \]",
    r"\text{softmax}\left(\begin{bmatrix} 2 & 1 \end{bmatrix}\right) = (0.73, 0.27)",
    r"\begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix} \begin{bmatrix} 1 \\ 1 \end{bmatrix} = (3, 7)",
    r"z_1 &= 0{,}5 \cdot (2{,}5;\; 0{,}75) + 0{,}5 \cdot (1;\; 1{,}5) = (1{,}75;\; 1{,}125)",
    "√2 ≈ 1.4 and 1.4 · 1.4 = 2.00",
    "[1 0; 1 1] [1 2; 3 4] = [1 2; 4 6]",
    "exp(2) = 7.389   exp(1) = 2.718   exp(3) = 20.086",
    "8 / 11 = 73 %",
    "Z = [0.70, 1.10] and e^{Z} = [2.01, 3.00]",
    r"[10 15; 2 1] [1 0; 0 10] = \begin{bmatrix} 10.000 & 150.000 \\ 2.000 & 10.000 \end{bmatrix}",
]
WRONG = [
    ("q1·k1 = [1, 0]·[2, 1] = 3", "3", "2"),
    ("q_1 · k_1 = (1)(2) + (0)(1) = 3", "3", "2"),
    ("softmax(2, 1) = (0.73, 0.28)", "0.28", "0.27"),
    ("softmax([2 1]) = [0.73 0.28]", "0.28", "0.27"),
    ("The first weight is 7.389 / (7.389 + 2.718 + 1) = 0.655.", "0.655", "0.665"),
    ("Hence e^2 ≈ 7.38 and e^1 ≈ 2.72.", "7.38", "7.39"),
    (r"$\sqrt{2} \approx 1.141$", "1.141", "1.414"),
    (
        r"$0.18 \begin{bmatrix}1 & 0\end{bmatrix} + 0.82 [2, 1] = [1.82, 0.28]$",
        "0.28",
        "0.82",
    ),
    (r"\frac{e^{2.00}}{e^{2.00}+e^{1.00}} &= 0.74", "0.74", "0.73"),
    ("0.21 · 1.2 + 0.25 · 0.3 + 0.07 · (-0.8) + 0.47 · 2.4 = 1.46", "1.46", "1.40"),
    ("8 / √64 = 8 / 8 = 1.1", "1.1", "1.0"),
    ("exp(2) = 7.389   exp(1) = 2.718   exp(3) = 20.068", "20.068", "20.086"),
    ("- exponentials: $(0.70, 8.34, 4.11)$, sum $13.76$", "13.76", "13.15"),
]
NOTHING = [
    "x = 3 == 3",
    "q·k = 1 + 2x = 3",
    "version 3.8 = 3",
    "W = [[1, 2], [3, 4]] and W + 1 = 2",
    "range(3) = 3",
    "f(2) + 1 = 4",
    "12:30 = 3",
    "o_1 = 0.18·v_1 + 0.82·v_2 = [1.64, 0.18]",
    "(2 = 3",
    "2 + = 3",
    "1/0 = 3",
]


@for_all("line", RIGHT)
def test_right_statements_are_right(line: str) -> None:
    statements = found(line)
    assert statements
    assert not any(each[2] for each in statements)


@for_all(("line", "result", "right"), WRONG)
def test_wrong_results_are_found(line: str, result: str, right: str) -> None:
    assert [each[1:] for each in found(line) if each[2]] == [(result, right)]


@for_all("line", NOTHING)
def test_symbols_and_code_state_nothing(line: str) -> None:
    assert found(line) == []


def test_a_statement_continues_on_the_next_line() -> None:
    lines = ("z = 0.5 × [1, 3] + 0.5 × [2, 1]", "  = [0.5 + 1, 1.5 + 0.5]", "  = [1.5, 3.0]")
    assert [(each.line, each.result) for each in sums_in(lines) if not each.is_right] == [
        (3, "3.0")
    ]


def test_a_part_of_a_longer_sum_states_nothing() -> None:
    assert found("o = 0.5 · 3", "  + 0.5 · 2 = 2.5") == []
    assert found("o = 0.5 · 3 +", "  0.5 · 2 = 2.5") == []


def test_a_matrix_of_several_lines_is_one() -> None:
    lines = (r"\begin{pmatrix}", r"1 & 2 \\", r"0 & 1", r"\end{pmatrix} (1, 1)", "= (3, 2)")
    wrong = [each for each in sums_in(lines) if not each.is_right]
    assert [(each.result, each.right, each.line) for each in wrong] == [("2", "1", 5)]


@pytest.mark.parametrize("count", [50, pytest.param(300, marks=pytest.mark.slow)])
def test_each_wrong_digit_of_random_arithmetic_is_found_and_no_right_one(count: int) -> None:
    chance = random.Random(7)
    for _ in range(count):
        a, b, c, d = (chance.randint(-40, 40) / 10 for _ in range(4))
        value = a * b + c * d
        line = f"s = ({a})({b}) + {c} \\cdot ({d}) = {{}}"
        assert all(each.is_right for each in sums_in([line.format(f"{value:.2f}")]))
        wrong: list[Sum] = [*sums_in([line.format(f"{value + 1.5:.2f}")])]
        assert [each.is_right for each in wrong] == [False]


def test_long_lines_take_no_long_time() -> None:
    for text in ("(" * 1900 + "=1", "1+" * 900 + "1 = 901", "[" * 60 + "1 = 1", "e^" * 800 + "1=1"):
        assert found(text) == []


TABLE = [
    "| i | e1 | e2 | e3 | sum |", "|---|---|---|---|---|",
    "| 1 | 4.48 | 4.48 | 1.65 | 10.61 |", "| 2 | 20.09 | 20.09 | 2.72 | 42.90 |",
    "| 3 | 2.72 | 1.00 | 7.39 | 11.11 |", "| 4 | 1.00 | 1.00 | 1.00 | 3.00 |",
]  # fmt: skip


def test_sums_of_the_rows_of_a_table_count_if_most_are_right() -> None:
    assert not [*sums_of_tables(TABLE)]
    wrong = list(sums_of_tables([*TABLE[:-1], TABLE[-1].replace("3.00", "3.30")]))
    assert [(each.line, each.right) for each in wrong] == [(6, "3.00")]
    other = [line.replace("sum", "Z").replace("10.61", "11.61") for line in TABLE]
    others = [line.replace("3.00", "3.30") for line in other]
    assert not [*sums_of_tables(others)]


COLUMNS = (
    ("| n | KB | MB |\n|---|---|---|\n| 1 | 2048 MiB | 512 MiB |\n| 5 | 4096 MiB | 1024 MiB |"
     "\n| 9 | 16384 MiB | 4096 MiB |", "1024", "124"),
    ("| part | numbers |\n|---|---|\n| Q, K, V, O | 1048576 |\n| MLP | 2097152 |\n"
     "| **total** | **3145728** |", "3145728", "3154728"),
    ("| q | a | b | sum |\n|---|---|---|---|\n| 1 | 3.67 | 0.25 | 3.92 |\n"
     "| 2 | 7.39 | 2.46 | 9.85 |", "9.85", "8.85"),
    ("| sum | by | mean |\n|---|---|---|\n| (0.645, 2.088) | 3 | (0.215, 0.696) |\n"
     "| (2.725, 1.275) | 2 | (1.363, 0.637) |", "0.637", "0.673"),
)  # fmt: skip


@for_all("case", COLUMNS)
def test_multiples_totals_and_quotients_of_tables_count(case: tuple[str, str, str]) -> None:
    text, right, wrong = case
    assert not [*sums_of_tables(text.split("\n"))]
    found = [*sums_of_tables(text.replace(right, wrong).split("\n"))]
    assert [(each.result, each.right) for each in found] == [(wrong, right)]


def test_a_wrong_sum_names_the_terms_whose_misprint_it_may_show() -> None:
    (one,) = sums_in(["0.3247 + 0.8285 + 0.6065 + 0.3247 = 2.1384"])
    assert [*meant_instead(one)] == [("0.8285", "0.8825"), ("0.6065", "0.6605")]


SAID = (
    "The exponentials are 2.7183, 1.6487, 1 and 1.6487, with sum 7.0157.",
    "e^0 = 1\n\ne^{1.5} = 4.4817\n\nThe sum is 5.4817, hence 1 / 5.4817 = 0.1824.",
    "$e^0 = 1$，$e^{0.5} = 1.6487$，总和为 2.6487。",
)


@for_all("text", SAID)
def test_a_sum_that_words_name_is_that_of_the_numbers_before_it(text: str) -> None:
    assert all(each.is_right for each in sums_in(text.split("\n")))
    for changed in (text.replace("7.0157", "7.1058"), text.replace("is 5.4817", "is 5.4871"),
                    text.replace("2.6487。", "2.6478。")):  # fmt: skip
        if changed != text:
            assert [each.is_right for each in sums_in(changed.split("\n"))].count(False) == 1


def test_a_number_with_zeros_dropped_is_rounded_as_its_row_is() -> None:
    line = "0.4 · 1.7415 + 1.1 · 0.0403 + (-0.3) · 0.21 + 1.8 · 1.1 = 2.6578"
    assert [each.is_right for each in sums_in([line])] == [False]
    assert [each.is_right for each in sums_in(["1.7415  0.0403  0.2100  1.1000", line])] == [True]
