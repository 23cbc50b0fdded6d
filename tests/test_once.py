"""What is solved is solved once: counted, for each command."""

import sys
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from conftest import BUNDLED

from attncalc.cli import run as run_command
from attncalc.grading import key
from attncalc.problem.attention.attention import Attention
from attncalc.problem.problem import Problem
from attncalc.problem.step import Plan, run
from attncalc.solving import solution
from attncalc.studies.patterns import finding

SAMPLES = BUNDLED
SELF, CROSS, HEADS = (str(SAMPLES / f"{name}.json") for name in ("self", "cross", "heads"))
COMMANDS = [
    ("self", SELF, "--only", "Q"),
    ("self", SELF, "--work"),
    ("self", HEADS, "--work", "--fractions"),
    ("self", SELF, "--blank"),
    ("self", SELF, "-o", "page.md"),
    ("self", SELF, "-o", "steps.npz"),
    ("cross", CROSS, "--format", "json"),
    ("cross", CROSS, "--entry", "A"),
    ("plot", CROSS, "--kind", "both"),
    ("check", SELF, str(SAMPLES / "answers" / "hand.json")),
    ("check", SELF, str(SAMPLES / "answers")),
]


class Counted:
    """What was asked for, and how often; what is counted is kept, so that no two are one."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[object, ...]] = Counter()
        self.kept: list[object] = []

    def add(self, owner: object, *what: object) -> None:
        """Count what an object is asked for."""
        self.kept.append(owner)
        self.counts[id(owner), *what] += 1

    def of(self, *what: object) -> list[int]:
        """Return how often each object was asked for this."""
        return [count for (_, *each), count in self.counts.items() if tuple(each) == what]


@pytest.fixture
def solved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Counted]:
    """Run a command in this process, and return which plans it ran in which numbers."""
    monkeypatch.chdir(tmp_path)
    found = Counted()

    def counting(steps: Plan, given: Mapping[str, Any], after: Any = None, *rest: Any) -> Any:
        in_decimals = any(matrix.dtype == object for matrix in given.values())
        rule = after.keywords.get("rule") if isinstance(after, partial) else None
        found.add(steps, "decimals" if in_decimals else "floats", rule)
        return run(steps, given, after, *rest)

    def called(*arguments: str) -> Counted:
        monkeypatch.setattr(solution, "run", counting)
        monkeypatch.setattr(key, "run", counting)
        monkeypatch.setattr(sys, "argv", ["attncalc", *arguments])
        assert run_command() in (0, 1)
        return found

    return called


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_plan_runs_once_in_floats_and_once_in_decimals(
    solved: Callable[..., Counted], command: tuple[str, ...]
) -> None:
    """The other rounding is another plan; each of `check`'s other ways to round is another run."""
    found = solved(*command)
    assert found.counts
    assert set(found.counts.values()) == {1}
    plans = {owner for owner, *_ in found.counts}
    assert len(plans) <= 2  # the problem's, and for the note the other rounding's


@pytest.mark.parametrize("command", [("explain", SELF), ("self", HEADS, "--explain")], ids=" ".join)
def test_problems_that_patterns_compare_with_are_solved_once(
    solved: Callable[..., Counted], command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The problem's plan, that of the other rounding, and that of the other scale."""
    monkeypatch.setattr(finding, "MOST_PERMUTED", 0)  # each order of tokens is solved, too
    found = solved(*command)
    assert set(found.counts.values()) == {1}
    assert len({owner for owner, *_ in found.counts}) == 3


def test_without_the_note_nothing_but_the_problem_is_solved(
    solved: Callable[..., Counted],
) -> None:
    found = solved("self", SELF, "--blank")
    assert found.of("decimals", None) == [1]
    assert found.of("floats", None) == []


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_given_matrix_is_turned_into_the_form_of_plans_once(
    solved: Callable[..., Counted], monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    turns, typed = Counted(), Counted()
    turned, as_typed = Attention.turned, Problem.as_typed
    made: dict[tuple[int, str], Any] = {}

    def counting(self: Attention, name: str, matrix: Any) -> Any:
        turns.add(self, name, matrix is getattr(self, name))
        return turned(self, name, matrix)

    def converting(self: Problem, name: str) -> Any:
        typed.add(self, name)
        found = as_typed(self, name)
        assert made.setdefault((id(self), name), found) is found
        return found

    monkeypatch.setattr(Attention, "turned", counting)
    monkeypatch.setattr(Problem, "as_typed", converting)
    solved(*command)
    assert set(turns.of("W_Q", True)) == {1}
    assert typed.counts
