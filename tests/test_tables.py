"""Tables: no digit is lost at any width, and text from a file is only ever text."""

import io
import re
from typing import Any

import pytest
from conftest import many
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from attncalc import Problem, Solution, read_problem, self_attention, solve
from attncalc.problem.samples import sample
from attncalc.writing.document import Document, Table
from attncalc.writing.frames import FRAME, Screen, on_screen
from attncalc.writing.latex import write_latex
from attncalc.writing.markdown import write_markdown
from attncalc.writing.page import Contents, make_page
from attncalc.writing.terminal import write_notes, write_tables

NUMBER = re.compile(r"-?\d+\.\d+")


def drawn(
    solution: Solution, screen: Screen | None = None, only: str = "", *, full: bool = False
) -> str:
    screen = screen or Screen()
    steps = tuple(step for step in solution.steps if not only or step.name in only.split(","))
    console = Console(file=io.StringIO(), color_system=None)
    page = make_page(solution, Contents(steps, given=not only, full=full))
    return on_screen(console, write_tables(page, screen), screen)


def noted(solution: Solution, *, full: bool = False) -> list[str]:
    """Return the notes beside a page that shows its steps, and not what is given."""
    page = make_page(solution, Contents(solution.steps, given=False, full=full))
    return list(write_notes(page))


def of_width(columns: int, **conventions: Any) -> Solution:
    """Return a solution whose V has that many columns, with figures of many digits."""
    wide = [[(-1) ** j * (j + 1) * 12345.678 for j in range(columns)]]
    return self_attention([[1]], [[1]], [[1]], wide, **conventions)


HOMEWORK_WEIGHTS = """\
Self-attention: Three tokens
tokens are rows · scores not scaled · shown to 2 decimals, halves away from zero · \
each step rounded before the next reads it (rounding: each-step)

Q = X W_Q   queries, 3 × 2
╭───┬──────────────╮
│   │     1      2 │
├───┼──────────────┤
│ 1 │  1.00   3.00 │
│ 2 │ -1.00   1.00 │
│ 3 │  2.50  -2.00 │
╰───┴──────────────╯

A = softmax(S)   attention weights, 3 × 3
╭───┬───────────────────────────╮
│   │    1        2        3    │
├───┼───────────────────────────┤
│ 1 │ 0.00†    0.00†    1.00  ● │
│ 2 │ 0.00†    0.00†    1.00  ● │
│ 3 │ 0.62  ●  0.38  ○  0.00†   │
╰───┴───────────────────────────╯
● largest of its row   ○ second
† not zero: A[1,1] 0.0015 · A[1,2] 0.000027 · A[2,1] 0.000075 · A[2,2] 0.000075 · A[3,3] 2.2×10^-10

Output 1: most input 3 (1.00), no second (the other weights show as 0.00)
Output 2: most input 3 (1.00), no second (the other weights show as 0.00)
Output 3: most input 1 (0.62), second input 2 (0.38)
"""


def test_the_homework_is_drawn_to_the_letter() -> None:
    solution = solve(read_problem(sample("self").path))
    assert drawn(solution, only="Q,A") == HOMEWORK_WEIGHTS


@many(60)
@given(
    columns=st.integers(1, 200),
    width=st.one_of(st.none(), st.integers(1, 250)),
    decimals=st.integers(0, 12),
)
def test_no_digit_is_lost_at_any_width(columns: int, width: int | None, decimals: int) -> None:
    solution = of_width(columns, decimals=decimals)
    text = drawn(solution, Screen(width=width), only="V", full=True)
    found = [
        cell for line in text.split("\n") if line.startswith("│ 1") for cell in line.split()[3:-1]
    ]
    assert found == solution.shown("V")[0]


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_blocks_of_columns_fit_the_terminal(width: int) -> None:
    for line in drawn(of_width(60), Screen(width=width), only="V", full=True).split("\n"):
        assert cell_len(line) <= max(width, FRAME + 1 + len("-740740.68"))


def test_a_pipe_gets_one_table_for_each_step() -> None:
    text = drawn(of_width(200), only="V", full=True)
    assert text.count("╭") == 1
    assert "columns" not in text


@pytest.mark.slow
def test_a_large_matrix_is_elided_with_a_note_and_full_shows_it() -> None:
    solution = self_attention([[1]] * 30, [[1]], [[1]], [[1]])
    text = drawn(solution, only="Q,A")
    assert text.count("…") == 2 + 1 + 20 + 22  # a row of Q; a column and a row of A
    assert "Output 15" in text
    notes = noted(solution)
    assert (
        notes[-1] == "the middle of Q, K, V, S, S_scaled, A, O is left out: --full shows all of it"
    )
    full = drawn(solution, only="Q,A", full=True)
    assert "…" not in full
    assert noted(solution, full=True) == notes[:-1]


HOSTILE = [
    "[red]",
    "[/red]",
    ":smile:",
    "$x^2$",
    "a\x1b[31mb\x07\x9b",
    "new\nline",
    "שלום",
    "\u202edlrow",
    "猫と犬",
    "👩‍👩‍👧",
    "[link=http://x]y[/link]",
    "",
]


def test_hostile_tokens_neither_break_nor_colour_the_tables() -> None:
    n = len(HOSTILE)
    X = [[i, 1] for i in range(n)]
    solution = self_attention(X, [[1], [0]], [[1], [0]], [[1], [1]], labels=HOSTILE, title="[bold]")
    console = Console(file=io.StringIO(), force_terminal=True, color_system="truecolor")
    page = make_page(solution, Contents(solution.steps))
    text = on_screen(console, write_tables(page, Screen()), Screen())
    assert not re.search("[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f\u202e]", text)
    codes = set(re.findall("\x1b\\[[0-9;]*.", text))
    assert codes <= {"\x1b[0m", "\x1b[1m", "\x1b[1;7m", "\x1b[4m"}
    plain = re.sub("\x1b\\[[0-9;]*m", "", text)
    for shown in ("[red]", "[/red]", ":smile:", "$x^2$", "a[31mb", "new⏎line", "猫と犬", "(12)"):
        assert f"│ {shown} " in plain
    tables = [line for line in plain.split("\n") if line[:1] in "╭│├╰" and line]
    widths = {cell_len(line) for line in tables if "S" not in line}
    assert len(widths) <= 4, "a table whose lines differ in width is broken"


def test_an_ascii_terminal_gets_ascii() -> None:
    solution = self_attention([[1]] * 30, [[1]], [[1]], [[1]], labels=["é猫"] * 30)
    text = drawn(solution, Screen(encoding="ascii"), only="A")
    assert "\\xe9\\u732b (1)" in text
    assert " * " in text
    assert "●" not in text


def test_rounded_weights_that_miss_1_state_their_sum() -> None:
    solution = self_attention([[0]] * 3, [[1]], [[1]], [[1]])
    assert "weights are rounded as shown, so row 1 sums to 0.99, row 2" in drawn(solution, only="A")
    solution = self_attention([[0]] * 2, [[1]], [[1]], [[1]])
    assert "sums to" not in drawn(solution, only="A")


def test_a_note_counts_entries_that_differ_with_the_other_rounding() -> None:
    """The two roundings of the homework differ in three figures of O: problems.md has both."""
    homework = read_problem(sample("self").path)
    notes = noted(solve(homework))
    assert notes == ["with full precision (--rounding display), 3 of 42 entries differ"]
    shown = Problem(**{**homework.given, "scale": "none"})
    assert noted(solve(shown)) == [
        "with each step rounded (--rounding each-step), 3 of 42 entries differ"
    ]
    alike = self_attention([[1]], [[1]], [[1]], [[1]])
    assert noted(alike) == []


def test_work_that_is_too_long_for_a_line_continues_indented() -> None:
    solution = solve(read_problem(sample("self").path))
    console = Console(file=io.StringIO(), color_system=None)
    page = make_page(solution, Contents(solution.plan, entries={"A": [(0, 0)]}))
    text = on_screen(console, write_tables(page, Screen(50)), Screen(50))
    assert ("A[1,1] = e^1.50 / (e^1.50 + e^-2.50 + e^8.00)\n    = 4.48 / 2985.52 ≈ 0.00†\n") in text


def test_a_class_fits_a_terminal_of_80_columns() -> None:
    rows = (
        ("a.json", "7 of 7 (100 %)"),
        ("answers/of-a-long-name.json", "1/2 of 7 (7 %)", "first wrong S[1,3]", "S: term-dropped"),
    )
    table = Document("", (Table("Answers", (), (), rows),))

    def shown(screen: Screen) -> list[str]:
        console = Console(file=io.StringIO(), color_system=None)
        return on_screen(console, write_tables(table, screen), screen).split("\n")[:-1]

    assert shown(Screen(60)) == [
        "a.json                        7 of 7 (100 %)",
        "answers/of-a-long-name.json   1/2 of 7 (7 %)",
        "    first wrong S[1,3]   S: term-dropped",
    ]
    assert shown(Screen()) == [  # a file is read at 80 columns, too
        "a.json   7 of 7 (100 %)",
        "answers/of-a-long-name.json   1/2 of 7 (7 %)",
        "    first wrong S[1,3]   S: term-dropped",
    ]


def test_the_note_on_the_other_rounding_is_not_handed_in() -> None:
    solution = solve(read_problem(sample("self").path))
    page = make_page(solution, Contents(solution.plan))
    (note,) = page.advice
    assert "(--rounding display)" in note
    assert note in list(write_notes(page))
    assert note not in write_markdown(page)
    assert "--rounding" not in write_latex(page)
