"""The page's script computes every problem as attncalc does, digit for digit."""

import json
from decimal import Decimal
from random import Random
from typing import Any

import numpy as np
import pytest
from conftest import IN_FULL, mostly_slow
from live_answers import MARKED, compared
from live_pages import drawn, drawn_with, in_node, is_stated, needs_node, reread, shown
from test_live_equations import digits_differing, lines_differing
from test_work import normalised_without_gain

from attncalc.equations.expressions import significant
from attncalc.problem.problem import Problem
from attncalc.problem.samples import SAMPLES, sample
from attncalc.reading import read_problem, read_stream
from attncalc.solving.exactness import LARGEST_COST, longest_product, most_digits
from attncalc.solving.solution import Solution, solve
from attncalc.solving.work import Work
from attncalc.writing.live.data import live_data
from attncalc.writing.mathematics import in_text


@pytest.mark.slow
@needs_node
def test_edited_numbers_are_computed_with_the_digits_of_their_file() -> None:
    rng = Random(7)
    solutions = [solve(reread(drawn(rng).problem)) for _ in range(12)]
    lines = [_edited(each) for each in solutions]
    precisions = "return $digits.digitsFor(...line.numbers);"
    found = list(in_node(precisions, lines))
    assert found == [live_data(each.problem)["digits"] for each in solutions]
    shows = "return $solve.shown($solve.solve(line));"
    lines = [line | {"digits": digits} for line, digits in zip(lines, found, strict=True)]
    assert list(in_node(shows, lines)) == list(map(shown, solutions))


def _edited(solution: Solution) -> dict[str, Any]:
    """Return a problem as a page has it after an edit: the number of its digits is not stated."""
    data = live_data(solution.problem)
    longest = longest_product(solution.plan)
    most = most_digits(solution.problem, solution.plan)
    return data | {"numbers": [data["given"], data["settings"], longest, most]}


@pytest.mark.slow
@needs_node
def test_too_many_digits_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """There attncalc falls back to floats, whose digits are no longer those of the page."""
    wanted, made = list[object](), list[object]()
    problems = list(map(_with_extremes, ("self", "cross", "rope", "encoder", "gradients")))
    refusal = {"error": "with so many digits attncalc works in floats, which could show others"}
    for cost in (10_000, 50_000, 250_000, LARGEST_COST):
        monkeypatch.setattr("attncalc.solving.exactness.LARGEST_COST", cost)
        wanted += [live_data(each)["digits"] or refusal for each in problems]
        lines = (_edited(solve(each)) for each in problems)
        made += in_node("return $digits.digitsFor(...line.numbers);", lines)
    assert made == wanted
    assert 5 <= wanted.count(refusal) <= 15


def _with_extremes(name: str) -> Problem:
    """Return a sample with 1e15 and a number of 17 decimals in it."""
    said = json.loads(sample(name).path.read_text("utf-8"))
    said["W_Q"][0][:2] = ["1e15", "1.00000000000000007"]
    return read_stream(json.dumps(said).encode(), "problem.json")


@pytest.mark.slow
@needs_node
def test_sums_that_begin_with_a_negative_number_are_written_as_in_the_work() -> None:
    assert not lines_differing([solve(normalised_without_gain())])[1]


@needs_node
@pytest.mark.parametrize("rounding", ["display", pytest.param("each-step", marks=pytest.mark.slow)])
def test_fractions_are_shown_without_their_work(rounding: str) -> None:
    """Else an edit of a hundred tokens would take seconds: that is for one entry, pointed at."""
    solution = solve(read_problem(sample("identity").path, rounding=rounding, scale="1/2"))
    program = """
        const solution = $solve.solve(line), work = new $work.Work(solution, line.fractions);
        work.explain = () => { throw new Error("written out"); };
        const { digits } = solution.steps.S_scaled.worked;
        return digits.map((_, k) => $expressions.written(work.shown("S_scaled", k)));
    """
    (found,) = in_node(program, [live_data(solution.problem, "plain")])
    places = np.ndindex(solution.digits["S_scaled"].shape)
    work = Work(solution, "plain")
    assert found == [in_text(work.shown("S_scaled", place)) for place in places]


@needs_node
@pytest.mark.parametrize("name", mostly_slow(["self", "encoder", "gradients"]))
def test_blanks_and_infinities_are_marked_anywhere(name: str) -> None:
    """No entry follows from -∞ if a number is required; "?", "--" and "…" are blanks."""
    solution = solve(read_problem(sample(name).path))
    first, *others = (each for each in shown(solution).items() if each[0] != "X")
    wrong = ["-inf", "?", "--", "…", *first[1][4:]]
    line = {"data": live_data(solution.problem), "texts": dict([(first[0], wrong), *others])}
    (found,) = in_node(MARKED, [line])
    assert "error" not in found, found
    assert found[first[0]][:4] == ["wrong", "blank", "blank", "blank"]


@pytest.mark.slow
@needs_node
def test_exact_values_have_no_trailing_zeros() -> None:
    """However many digits it was computed with, in decimals or in bits."""
    values = ["0.1", "0.1" + "0" * 45 + "1", "0.101", "0.0015", "-0.25"]
    program = "return $expressions.significant($numbers.readNumber(line), 2).text;"
    wanted = ["0.1", "0.1", "0.10", "0.0015", "-0.25"]
    assert [significant(Decimal(each), 2).text for each in values] == wanted
    assert list(in_node(program, values)) == wanted


RIGHT = {"correct", "rounding", "follows"}
MOST_UNDECIDED = 0.06
"""Of all entries, those that only check decides."""
MOST_OTHERWISE = 5e-4
"""Of all entries, those with another mark that is no contradiction: at 12 decimals, floats show."""


def check_practice(seed: int, count: int) -> None:
    """Assert that a worksheet says nothing is right that check says is wrong, nor the reverse."""
    found = compared(seed, count) + compared(seed, count, planted=True)
    decided = {pair: found[pair] for pair in found if pair[0] != "undecided"}
    opposed = {pair for pair in decided if "wrong" in pair and RIGHT & {*pair}}
    assert not opposed, found
    # a masked entry may stay blank: check takes what follows for it
    filled = {pair for pair in decided if pair[0] != "blank" or pair[1] not in RIGHT}
    otherwise = sum(decided[pair] for pair in filled if pair[0] != pair[1])
    assert otherwise <= MOST_OTHERWISE * found.total(), found
    assert found.total() - sum(decided.values()) < MOST_UNDECIDED * found.total(), found


@pytest.mark.slow
@needs_node
def test_a_worksheet_never_contradicts_check() -> None:
    check_practice(seed=3, count=4)


@needs_node
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4, 12) if IN_FULL else [4, 5])
def test_a_worksheet_contradicts_check_on_none_of_many_answers(seed: int) -> None:
    check_practice(seed, count=50)


@pytest.mark.campaign(8)
@pytest.mark.parametrize("name", [each.name for each in SAMPLES])
def test_equations_state_every_step_of_a_sample(name: str) -> None:
    problem = read_problem(sample(name).path)
    assert len(live_data(problem)["steps"]) == len(problem.calculation.steps)


OTHERWISE: dict[str, tuple[dict[str, Any], str]] = {
    "a table": ({"rel_bias": [[1], ["1/2"], [0], [-2]], "step": "1/3"}, "columns"),
    "tables": ({"rel_bias": [[1, 2], ["1/2", 0], [0, 3], [-2, 1]], "heads": 2, "step": "0.1"}, ""),
    "tables in columns": (
        {"rel_bias": [[1, 2], ["1/2", 0], [0, 3], [-2, 1]], "heads": 2, "step": "0.1"},
        "columns",
    ),
    "general": ({"score": "general", "W_S": [[1, 2], [0, "1/2"]], "step": "0.1"}, "columns"),
    "concat": (
        {"score": "concat", "W_S": [[1, 2, 0, "1/2"], [0, 1, 1, 0]], "v_S": [1, -1]}
        | {"backward": True},
        "torch",
    ),
    "image": (
        {"block": "vit", "image": [[1, 2, 0, 1], [0, "1/2", 1, 1]], "patch": 2, "norm": "none"}
        | {"E": [[1, 0, 1, 0], [2, 1, 0, 1]], "W_1": [[1, 2]], "W_2": [[1], ["1/2"]]}
        | {"backward": True},
        "columns",
    ),
    "sinusoids": (
        {"positions": "sinusoidal", "positions_base": "12.5", "decimals": 6},
        "columns",
    ),
}
"""Problems with gradients or inputs that are transposed internally."""


@pytest.mark.campaign(2)
@needs_node
@pytest.mark.parametrize("what", mostly_slow(OTHERWISE, every=9))
def test_other_layouts_show_the_same(what: str) -> None:
    more, way = OTHERWISE[what]
    own = {"W_Q": [[1, 0], [1, 2]], "W_K": [[0, 1], [1, 1]], "W_V": [[1, 0], [0, 1]]}
    tokens = {} if "image" in more else {"X": [[1, 2, 0], [0, 1, "1/2"]], **own}
    if way != "columns" and tokens:
        tokens["X"] = [[1, 0], [2, 1], [0, "1/2"]]
    said = {"columns": {"layout": way}, "torch": {"weights_layout": way}, "": {}}[way]
    given = json.dumps(tokens | more | said).encode()
    solution = solve(read_stream(given, "problem.json"))
    if not is_stated(solution):
        pytest.skip("no equation states one of its steps yet")
    assert not digits_differing([solution])[1]
    assert not lines_differing([solution])[1]


@needs_node
@pytest.mark.slow
@pytest.mark.parametrize(
    "operation", ["BucketBack", "GatherRows", "PatchesBack", "SinkBack", "SlopeBack"]
)
def test_gradients_of_rarer_kinds_show_the_same_digits_and_lines(operation: str) -> None:
    """Each in several problems: in one alone, much of it may be 0."""
    rng = Random(21)
    solutions = [drawn_with(rng, operation) for _ in range(6 if IN_FULL else 3)]
    assert not digits_differing(solutions)[1]
    assert not lines_differing(solutions)[1]
