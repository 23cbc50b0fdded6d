"""The page's script works out every problem as attncalc does, digit for digit."""

import json
from decimal import Decimal
from importlib import import_module
from importlib.resources import files
from random import Random
from typing import Any

import numpy as np
import pytest
from conftest import IN_FULL, mostly_slow
from live_answers import MARKED, compared
from live_pages import drawn, drawn_with, in_node, needs_node, reread, shown
from test_work import normalised_without_gain

from attncalc.equations.expressions import significant
from attncalc.operations import Operation
from attncalc.problem.problem import Problem
from attncalc.problem.samples import sample
from attncalc.reading import read_problem, read_stream
from attncalc.solving.exactness import LARGEST_COST, most_digits
from attncalc.solving.solution import Solution, solve
from attncalc.solving.work import Fractions, Work
from attncalc.writing.live.data import live_data
from attncalc.writing.live.mirrored import BACKS, MIRRORED, RARE, name_of, unknown_in
from attncalc.writing.live.script import PROPERTIES
from attncalc.writing.mathematics import in_text
from attncalc.writing.prose import line_in_text

RUN = "return $plan.shown($plan.run(line, line.steps));"


def compare(seed: int, count: int) -> tuple[int, list[str]]:
    """Return how many digits were compared, and where the script shows others."""
    entries, differing = digits_differing(_some(seed, count))
    return entries, [f"seed {seed}: {each}" for each in differing]


def _some(seed: int, count: int) -> list[Solution]:
    rng = Random(seed)
    return [drawn(rng) for _ in range(count)]


def digits_differing(solutions: list[Solution]) -> tuple[int, list[str]]:
    """Return how many digits are shown, and of which problems the script shows others."""
    made = in_node(RUN, (live_data(each.problem) for each in solutions))
    entries, differing = 0, []
    for number, (solution, found) in enumerate(zip(solutions, made, strict=True)):
        wanted = shown(solution)
        entries += sum(map(len, wanted.values()))
        if found != wanted:
            steps = [name for name in wanted if found.get(name) != wanted[name]]
            differing.append(f"problem {number}: {found.get('error', steps)}")
    return entries, differing


@needs_node
def test_problems_of_every_kind_show_the_same_digits() -> None:
    _, differing = compare(seed=1, count=25)
    assert not differing


@needs_node
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 6 if IN_FULL else 4))
def test_hundreds_of_problems_show_the_same_digits(seed: int) -> None:
    _, differing = compare(seed, count=200)
    assert not differing


@needs_node
def test_what_was_edited_is_worked_out_with_the_digits_that_its_file_takes() -> None:
    rng = Random(7)
    solutions = [solve(reread(drawn(rng).problem)) for _ in range(12)]
    lines = [_edited(each) for each in solutions]
    precisions = "return $plan.digitsFor(line, line.steps);"
    assert list(in_node(precisions, lines)) == [
        live_data(each.problem)["digits"] for each in solutions
    ]
    assert list(in_node(RUN, lines)) == list(map(shown, solutions))


def _edited(solution: Solution) -> dict[str, Any]:
    """Return a problem as a page has it after an edit: how many digits it takes is not said."""
    most = most_digits(solution.problem, solution.plan)
    return live_data(solution.problem) | {"digits": None, "most": most}


@needs_node
def test_what_takes_more_digits_than_attncalc_carries_is_refused(
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
        made += in_node("return $plan.digitsFor(line, line.steps);", lines)
    assert made == wanted
    assert 5 <= wanted.count(refusal) <= 15


def _with_extremes(name: str) -> Problem:
    """Return a sample with 1e15 and a number of 17 decimals in it."""
    said = json.loads(sample(name).path.read_text("utf-8"))
    said["W_Q"][0][:2] = ["1e15", "1.00000000000000007"]
    return read_stream(json.dumps(said).encode(), "problem.json")


WORK = """
    const solution = $plan.run(line, line.steps);
    const work = new WORK(solution);
    const said = {};
    for (const { name } of solution.steps) {
      const { h, r, c } = solution.known[name];
      said[name] = [];
      for (let k = 0; k < (h || 1); k += 1) for (let i = 0; i < r; i += 1)
        for (let j = 0; j < c; j += 1) said[name].push(work.text(name, k, i, j));
    }
    return said;
"""


def lines_differing(
    solutions: list[Solution], fractions: Fractions | None = None
) -> tuple[int, list[tuple[str, str]]]:
    """Return how many lines of work were compared, and those that the script writes otherwise."""
    program = WORK.replace("WORK", "$fractional.Work" if fractions else "$work.Work")
    data = (live_data(each.problem, in_fractions=fractions is not None) for each in solutions)
    made = in_node(program, data, fractions)
    compared, differing = 0, []
    for solution, found in zip(solutions, made, strict=True):
        if "error" in found:
            differing.append(("", str(found["error"])))
            continue
        work = Work(solution, fractions)
        for step in solution.plan:
            places = np.ndindex(solution.digits[step.name].shape)
            wanted = [line_in_text(work.line(step.name, place)) for place in places]
            compared += len(wanted)
            pairs = zip(wanted, found[step.name], strict=True)
            differing += [pair for pair in pairs if pair[0] != pair[1]]
    return compared, differing


@needs_node
def test_lines_of_work_are_those_of_the_work() -> None:
    """Of random problems, and of one whose sums begin with minus a negative number."""
    _, differing = lines_differing([*_some(seed=11, count=10), solve(normalised_without_gain())])
    assert not differing


@needs_node
@pytest.mark.parametrize("fractions", ["plain", pytest.param("mixed", marks=pytest.mark.slow)])
def test_lines_of_work_in_fractions_are_those_of_the_work(fractions: Fractions) -> None:
    """Under either rounding: what is rounded is a fraction no longer, nor what is made of it."""
    count, differing = lines_differing(_some(seed=12, count=6), fractions)
    assert count
    assert not differing


@needs_node
@pytest.mark.parametrize("rounding", ["display", pytest.param("each-step", marks=pytest.mark.slow)])
def test_fractions_are_shown_without_writing_out_how_they_come_about(rounding: str) -> None:
    """Else an edit of a hundred tokens would take seconds: that is for one entry, pointed at."""
    solution = solve(read_problem(sample("identity").path, rounding=rounding, scale="1/2"))
    program = f"""
        const solution = $plan.run(line, line.steps);
        const work = new $fractional.Work(solution);
        work.{PROPERTIES["explain"]} = () => {{ throw new Error("written out"); }};
        return $plan.shown(solution).S_scaled.map((_, k) => {{
          const {{ r, c }} = solution.known.S_scaled;
          return $expressions.written(work.shown("S_scaled", 0, Math.floor(k / c), k % c));
        }});
    """
    (found,) = in_node(program, [live_data(solution.problem, in_fractions=True)], "plain")
    places = np.ndindex(solution.digits["S_scaled"].shape)
    work = Work(solution, "plain")
    assert found == [in_text(work.shown("S_scaled", place)) for place in places]


@needs_node
@pytest.mark.slow
@pytest.mark.parametrize("fractions", ["plain", "mixed"])
def test_thousands_of_lines_in_fractions_are_those_of_the_work(fractions: Fractions) -> None:
    _, differing = lines_differing(_some(seed=13, count=300 if IN_FULL else 60), fractions)
    assert not differing


@needs_node
def test_what_stands_for_a_blank_and_infinities_are_marked_anywhere() -> None:
    """Nothing follows from -∞ where a number is needed, and what stands for a blank is none."""
    for name in ("encoder", "self", "gradients"):
        solution = solve(read_problem(sample(name).path))
        first, *others = (each for each in shown(solution).items() if each[0] != "X")
        wrong = ["-inf", "?", "--", "…", *first[1][4:]]
        line = {"data": live_data(solution.problem), "texts": dict([(first[0], wrong), *others])}
        (said,) = in_node(MARKED, [line])
        assert "error" not in said, said
        assert said[first[0]][:4] == ["wrong", "blank", "blank", "blank"]


@needs_node
def test_what_is_all_there_is_has_no_more_zeros() -> None:
    """However many digits it was computed with, in decimals or in bits."""
    values = ["0.1", "0.1" + "0" * 45 + "1", "0.101", "0.0015", "-0.25"]
    program = "return $expressions.significant($numbers.readNumber(line), 2).text;"
    wanted = ["0.1", "0.1", "0.10", "0.0015", "-0.25"]
    assert [significant(Decimal(each), 2).text for each in values] == wanted
    assert list(in_node(program, values)) == wanted


LIKE_CHECK = 0.995
"""How many entries have the same status as check gives: it compares floats, and pages do not."""


def check_practice(seed: int, count: int, *, planted: bool = False) -> None:
    found = compared(seed, count, planted=planted)
    same = sum(found[pair] for pair in found if pair[0] == pair[1])
    assert same >= LIKE_CHECK * found.total(), found


@needs_node
def test_a_worksheet_says_of_entries_what_check_says() -> None:
    check_practice(seed=3, count=8)


@needs_node
@pytest.mark.slow
def test_many_lines_of_work_are_those_of_the_work() -> None:
    _, differing = lines_differing(_some(seed=12, count=80 if IN_FULL else 40))
    assert not differing


@needs_node
@pytest.mark.slow
# of 5, one has 12 decimals, in which floats are off
@pytest.mark.parametrize("seed", [4, 6, 7] if IN_FULL else [4])
def test_a_worksheet_says_of_many_answers_what_check_says(seed: int) -> None:
    check_practice(seed, count=25)
    check_practice(seed, count=25, planted=True)


NOT_MIRRORED = {"MultiplyEach"}  # of studies alone
"""Operations whose pages are static, and say so."""


def test_operations_that_the_script_does_not_know_are_these() -> None:
    for module in files("attncalc.operations").iterdir():
        if module.name.endswith(".py"):
            import_module(f"attncalc.operations.{module.name.removesuffix('.py')}")
    made = {
        each.__name__
        for each in _all_of(Operation)
        if not each.__name__.startswith("_") and each.apply is not Operation.apply
    }
    assert made - set(MIRRORED) == NOT_MIRRORED | {"Turned"}  # it is told by what it turns
    assert set(MIRRORED) <= made


def _all_of(kind: type) -> set[type]:
    below = {each for each in kind.__subclasses__() if each.__module__.startswith("attncalc.")}
    return below | {deeper for each in below for deeper in _all_of(each)}


SEEDS = (12, 35, 56, 81, 125, 151, 161, 303, 325, 453, 466, 533, 543, 639, 802)
"""Of problems that between them take every operation that the script knows."""


def of_all_operations() -> list[Solution]:
    solutions = [drawn(Random(seed)) for seed in SEEDS]
    steps = [step for each in solutions for step in each.plan]
    taken = {type(step.operation).__name__ for step in steps} | set(map(name_of, steps))
    assert taken == {*MIRRORED, *RARE}, "where drawn changes, other seeds are needed"
    return solutions


@needs_node
def test_every_operation_of_the_script_shows_the_same_digits() -> None:
    assert not digits_differing(of_all_operations())[1]


@needs_node
@pytest.mark.slow
def test_every_operation_of_the_script_is_explained_alike() -> None:
    assert not lines_differing(of_all_operations())[1]


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
}
"""What has gradients, or is read after a step, that the house has the other way round."""


@pytest.mark.campaign(2)
@needs_node
@pytest.mark.parametrize("what", mostly_slow(OTHERWISE, every=3))
def test_what_stands_otherwise_than_in_the_house_shows_the_same(what: str) -> None:
    more, way = OTHERWISE[what]
    own = {"W_Q": [[1, 0], [1, 2]], "W_K": [[0, 1], [1, 1]], "W_V": [[1, 0], [0, 1]]}
    tokens = {} if "image" in more else {"X": [[1, 2, 0], [0, 1, "1/2"]], **own}
    if way != "columns" and tokens:
        tokens["X"] = [[1, 0], [2, 1], [0, "1/2"]]
    said = {"columns": {"layout": way}, "torch": {"weights_layout": way}, "": {}}[way]
    given = json.dumps(tokens | more | said).encode()
    solution = solve(read_stream(given, "problem.json"))
    assert unknown_in(solution.plan) is None
    assert not digits_differing([solution])[1]
    assert not lines_differing([solution])[1]


@needs_node
@pytest.mark.slow
@pytest.mark.parametrize("operation", sorted(BACKS))
def test_gradients_of_rarer_kinds_show_the_same_digits_and_lines(operation: str) -> None:
    """Each in several problems: in one alone, much of it may be 0."""
    rng = Random(21)
    solutions = [drawn_with(rng, operation) for _ in range(6 if IN_FULL else 3)]
    assert not digits_differing(solutions)[1]
    assert not lines_differing(solutions)[1]
