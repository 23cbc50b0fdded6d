"""Results of a long problem are computed by rows, and never kept whole."""

import io
import json
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from conftest import mostly_slow

from attncalc import InputError, Problem, Solution, solve
from attncalc.base import rounding
from attncalc.base.rounding import Rounded, round_floats
from attncalc.grading.key import key_of
from attncalc.grading.marking import mark
from attncalc.grading.rules import Rules
from attncalc.reading.answers.answer import Answer, matrix_of_floats
from attncalc.solving import connections
from attncalc.solving import limits as memory
from attncalc.solving import long_inputs as blocks
from attncalc.solving import solution as solutions
from attncalc.writing.frames import Screen
from attncalc.writing.page import Contents, Page, make_page
from attncalc.writing.page_data import write_csv, write_csv_files, write_json, write_npz
from attncalc.writing.plotting import heatmap
from attncalc.writing.plotting.drawing import render
from attncalc.writing.plotting.look import Look
from attncalc.writing.problem_file import json_pieces
from attncalc.writing.prose import plain_entry, texts_of_row
from attncalc.writing.terminal import write_notes, write_tables

RANDOM = np.random.default_rng(17)
N = 400
MOST_BESIDE = 2
"""Matrices of n × n that may be in memory beside those that were asked for."""


class Nowhere(io.RawIOBase):
    """A file that keeps nothing."""

    def writable(self) -> bool:
        """Say that anything may be written."""
        return True

    def write(self, data: Any) -> int:
        """Let it go."""
        return len(data)


def drained(pieces: Any) -> None:
    for _ in pieces:
        pass


WRITERS: dict[str, Callable[[Page], None]] = {
    "npz": lambda page: write_npz(page, Nowhere()),  # type: ignore[arg-type]
    "json": lambda page: drained(write_json(page)),
    "csv": lambda page: drained(write_csv(page)),
    "csv files": lambda page: [drained(each) for each in write_csv_files(page).values()] and None,
    "table": lambda page: (
        [drained(each) for each in (write_tables(page, Screen()), write_notes(page))] and None
    ),
}


@pytest.fixture
def long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make 400 tokens a long problem, and what is taken at once small."""
    monkeypatch.setattr(solutions, "LONG", 0)
    monkeypatch.setattr(solutions, "MOST_PROVEN", 0)
    monkeypatch.setattr(rounding, "AT_ONCE", 2**13)
    monkeypatch.setattr(blocks, "ROWS", 16)
    monkeypatch.setattr(blocks, "AREA", 0)
    monkeypatch.setattr(Problem, "is_long", property(lambda _: True))


def random_problem(n: int = N, m: int = N, heads: int = 1, **fields: Any) -> Problem:
    width = 4 * heads
    shape = {"Q": (n, width), "K": (m, width), "V": (m, width)}
    if fields.get("layout") == "columns":
        shape = {name: size[::-1] for name, size in shape.items()}
    given = {name: RANDOM.normal(size=size) for name, size in shape.items()}
    return Problem(**given, heads=heads, **fields)


WAYS = [pytest.param(form, rule) for rule in ("display", "each-step") for form in WRITERS]


@pytest.mark.campaign(2)
@pytest.mark.usefixtures("long")
@pytest.mark.parametrize(("form", "rounding_rule"), mostly_slow(WAYS, 7))
def test_later_steps_need_memory_for_two_matrices(form: str, rounding_rule: str) -> None:
    """Of S, S_scaled and A, or of A alone for texts: there is room for two more beside them."""
    kept = ("A", "O") if form in ("json", "csv", "csv files") else ("S", "S_scaled", "A", "O")
    problem = random_problem(rounding=rounding_rule)
    tracemalloc.start()
    try:
        solution = solve(problem, keep=kept)
        WRITERS[form](make_page(solution, Contents(solution.steps)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    of_zip = 2 * N * N * 8 if form == "npz" else 0  # numpy hands it up to 16 MiB at a time
    assert peak <= (len(kept) - 1 + MOST_BESIDE) * N * N * 8 + of_zip


@pytest.mark.usefixtures("long")
@pytest.mark.parametrize("rounding_rule", ["display", "each-step"])
@pytest.mark.parametrize("heads", [1, 3])
def test_the_other_rounding_is_counted_in_blocks_as_at_once(
    heads: int, rounding_rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = random_problem(90, 70, heads, rounding=rounding_rule, causal=True)
    counted = solve(problem).count_differing()
    other = {"display": "each-step", "each-step": "display"}[rounding_rule]
    monkeypatch.setattr(solutions, "LONG", 10**9)
    one, two = (solve(random) for random in (problem, _with_rounding(problem, other)))
    names = [step.name for step in one.plan]
    assert counted == sum(int((one.rounded(name) != two.rounded(name)).sum()) for name in names)
    assert counted > 0


def _with_rounding(problem: Problem, rule: str) -> Problem:
    given = {name: getattr(problem, name) for name in problem.names}
    return Problem(**given, heads=problem.heads, rounding=rule, causal=problem.causal)


@pytest.mark.slow
@pytest.mark.usefixtures("long")
@pytest.mark.parametrize("layout", ["rows", "columns"])
@pytest.mark.parametrize("heads", [1, 2])
def test_rows_of_digits_are_those_of_the_single_entries(layout: str, heads: int) -> None:
    solution = solve(random_problem(110, 90, heads, layout=layout, causal=True))
    page = make_page(solution, Contents(solution.plan))
    for section in page.sections:
        shown = solution.shown(section.step.name)
        for place, grid in enumerate(section.grids):
            expected = shown[place] if grid.head else shown
            for row in (0, len(grid.rows) // 2, len(grid.rows) - 1):
                entries = [plain_entry(grid.cell(row, j)) for j in range(len(grid.columns))]
                assert texts_of_row(grid, row) == entries == expected[row]


@pytest.mark.usefixtures("long")
def test_rows_before_rounding_are_those_without_blocks() -> None:
    for layout in ("rows", "columns"):
        mask = RANDOM.integers(0, 2, (60, 60))
        solution = solve(
            random_problem(60, 60, 2, layout=layout, rounding="each-step", keep=mask, softcap=3)
        )
        for step in solution.plan:
            whole = solution.exact[step.name]
            for row in (0, 31, 59):
                found = solution.exact_row(step.name, row)
                assert np.allclose(found, whole[..., row, :], rtol=1e-13, atol=1e-15)


@pytest.mark.slow
@pytest.mark.usefixtures("long")
def test_a_matrix_rounded_on_reading_equals_the_rounded_one() -> None:
    for shape in ((90, 200), (2, 90, 200)):
        exact = RANDOM.normal(size=shape)
        exact.flat[:3] = 2.675, -0.001, -np.inf
        one_by_one = np.array([round_floats(np.array(value), 2) for value in exact.flat])
        whole = round_floats(exact, 2)
        assert (whole == one_by_one.reshape(shape)).all()
        lazy = Rounded(exact, 2)
        assert (np.asarray(lazy) == whole).all()
        assert all((np.asarray(a) == b).all() for a, b in zip(lazy, whole, strict=True))
        assert (lazy[..., 5] == whole[..., 5]).all() if len(shape) == 2 else True
        assert lazy[(*[1] * (len(shape) - 1), 3)] == whole[(*[1] * (len(shape) - 1), 3)]


def test_connections_that_all_tie_are_refused_where_they_cannot_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each of n outputs attends to all m inputs alike: n · m places to name."""
    monkeypatch.setattr(solutions, "WORTH_ASKING", 0)
    monkeypatch.setattr(memory, "WORTH_ASKING", 0)
    weights = np.full((40, 50), 0.02)
    head = solutions.Head(0, weights, weights)
    monkeypatch.setattr(memory, "available", lambda: 40 * 50 * 8)
    assert len(head.connections[3].most) == 50
    monkeypatch.setattr(memory, "available", lambda: 40 * 50 * 8 - 1)
    with pytest.raises(InputError) as error:
        _ = solutions.Head(0, weights, weights).connections
    assert "(connections 1 MiB)" in str(error.value)
    assert connections.count_first_places(np.eye(4)) == 4


def test_marking_that_cannot_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "WORTH_ASKING", 0)
    problem = random_problem(20, 20)
    rules = Rules(atol=1e-6)
    answer = Answer("a.npz", {"A": matrix_of_floats(solve(problem)["A"])})
    assert mark(key_of(problem, rules), answer, rules).steps
    key = key_of(problem, rules)
    _ = key.solution
    monkeypatch.setattr(memory, "available", lambda: 20 * 20 * 8 * 20)
    with pytest.raises(InputError) as error:
        mark(key, answer, rules)
    assert str(error.value).endswith(
        "are free: check an answer that has fewer steps, as A and O alone"
    )


def test_json_in_pieces_equals_the_json_module() -> None:
    content: dict[str, Any] = {
        "a": [1, 2.5, "é\n", None, True],
        "empty": [[], {}, [[]]],
        "rows": [[1, 2], ["x, y", "[1,\n  2]"]],
        "inner": {"b": {"c": []}, "d": ({"e": 1}, {"f": (1, 2)})},
    }
    assert "".join(json_pieces(content)) == json.dumps(content, indent=2, ensure_ascii=False)
    lazily = content | {"rows": map(iter, content["rows"])}
    assert "".join(json_pieces(lazily)) == json.dumps(content, indent=2, ensure_ascii=False)
    with pytest.raises(ValueError, match="not JSON compliant"):
        drained(json_pieces([1, float("inf")]))


@pytest.mark.slow
def test_dots_of_a_large_heatmap_are_means_with_a_note(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(heatmap, "MOST_DOTS", 40)
    weights = np.arange(80.0 * 120).reshape(80, 120)
    expected = weights.reshape(40, 2, 40, 3).mean(axis=(1, 3))
    assert np.allclose(heatmap._in_dots(weights), expected)
    assert heatmap._in_dots(weights[:40, :40]) is not weights  # a view, as it is
    assert (heatmap._in_dots(weights[:40, :40]) == weights[:40, :40]).all()
    picture = render(_solved(90), "png", look=Look("heatmap"))
    assert (
        "the heatmap has 40 × 40 dots for 90 × 90 weights: each dot shows the mean of the weights "
        "it covers"
    ) in picture.notes


def _solved(n: int) -> Solution:
    return solve(random_problem(n, n))
