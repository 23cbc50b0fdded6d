"""The maps of several attentions: whose lines are meant, and how they are marked."""

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Command

from attncalc import Problem, read_problem, solve
from attncalc.grading.key import Key, key_of
from attncalc.grading.marking import mark
from attncalc.grading.marks import Marking
from attncalc.grading.rules import Rules
from attncalc.problem.samples import sample
from attncalc.reading.answers import read_answer_bytes
from attncalc.writing.reports.marking import marking_as_json
from attncalc.writing.verdict import verdict

FILE = sample("decoder").path
RIGHT_SELF = ["Output le: most le, no second", "Output chat: solid le, dashed chat"]
RIGHT_CROSS = ["Output le: most sat, second the", "Output chat: most cat, second the"]
WRONG_CROSS = ["Output le: most sat, second the", "Output chat: most the, second cat"]


def the_key() -> Key:
    return key_of(read_problem(FILE), Rules())


def marked(text: str, place: str, **rules: Any) -> Marking:
    key = the_key()
    with key.names_at_hand():
        answer = read_answer_bytes(text.encode(), place, key.expected)
    return mark(key, answer, Rules(**rules))


def lines_of(marking: Marking) -> list[tuple[str, str]]:
    return [(line.weights, line.status.value) for line in marking.lines]


def on(step: str, *statuses: str) -> list[tuple[str, str]]:
    return [(step, status) for status in statuses]


@pytest.mark.parametrize(
    "heading",
    ["cross map:", "Cross-attention map", "## What each output attends to: cross.A",
     "Map of cross.A:", "lines of the cross attention:", "\\section*{Cross}"],
)  # fmt: skip
def test_lines_below_a_word_for_an_attention_are_of_its_map(heading: str) -> None:
    place = "a.tex" if heading.startswith("\\") else "a.md"
    marking = marked("\n\n".join([heading, *WRONG_CROSS]), place)
    assert lines_of(marking) == on("cross.A", "correct", "wrong")
    said = verdict(marking)
    assert (
        "On the map of cross.A, the lines of output chat are wrong: "
        "the solid line should go to cat, the dashed line to the."
    ) in said
    assert not any("nothing says which attention" in each for each in said)


def test_each_map_is_marked_by_its_own_weights() -> None:
    text = "\n".join(["self map:", *RIGHT_SELF, "", "cross map:", *RIGHT_CROSS])
    marking = marked(text, "a.txt")
    assert lines_of(marking) == on("self.A", "correct", "correct") + on(
        "cross.A", "correct", "correct"
    )
    assert "On the map, every line is right." in verdict(marking)


def test_a_sentence_may_name_its_map() -> None:
    text = "\n".join([f"cross: {line}" for line in WRONG_CROSS] + [f"self: {RIGHT_SELF[0]}"])
    marking = marked(text, "a.txt")
    assert lines_of(marking) == on("self.A", "correct", "blank") + on("cross.A", "correct", "wrong")


def test_lines_without_an_attention_are_reported_as_not_marked() -> None:
    text = "\n".join([*RIGHT_SELF, "", "cross map:", *RIGHT_CROSS])
    marking = marked(text, "a.txt")
    assert lines_of(marking) == on("cross.A", "correct", "correct")
    assert (
        "What each output attends to is not marked: the problem has several "
        "attentions. "
        'Write the name above it, for example "cross.A:" (names: self.A and cross.A).'
    ) in verdict(marking)


@pytest.mark.slow
def test_lines_that_follow_from_own_weights_name_their_map() -> None:
    answer = {
        "cross.A": [["0.19", "0.01", "0.80"], ["0.57", "0.40", "0.03"]],
        "connections": {"cross.A": WRONG_CROSS},
    }
    marking = marked(json.dumps(answer), "a.json")
    assert lines_of(marking) == on("cross.A", "correct", "follows")


def test_all_maps_are_asked_for_by_the_problem() -> None:
    text = "\n".join(["cross map:", *RIGHT_CROSS])
    marking = marked(text, "a.txt", asked=("connections",))
    assert lines_of(marking) == on("self.A", "blank", "blank") + on("cross.A", "correct", "correct")
    assert json.loads(marking_as_json(marking, "full"))["connections"][0]["weights"] == "self.A"


@pytest.mark.slow
@pytest.mark.parametrize("form", ["json", "markdown", "csv", "latex"])
def test_an_attncalc_page_is_all_right_with_its_maps(
    form: str, attncalc: Command, tmp_path: Path
) -> None:
    ending = {"json": "json", "markdown": "md", "csv": "csv", "latex": "tex"}[form]
    page = tmp_path / f"page.{ending}"
    assert attncalc("decoder", str(FILE), "-o", str(page)).code == 0
    run = attncalc("check", str(FILE), str(page), "--format", "json")
    assert run.code == 0, run.err
    lines = json.loads(run.out)["connections"]
    assert [(each["weights"], each["code"]) for each in lines] == on(
        "self.A", "correct", "correct"
    ) + on("cross.A", "correct", "correct")


def test_the_reading_names_the_map_of_lines(attncalc: Command, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("\n".join(["cross map:", *WRONG_CROSS]), encoding="utf-8")
    again = tmp_path / "again.json"
    assert attncalc(
        "check", str(FILE), str(tmp_path / "a.txt"), "--reading", "-o", str(again)
    ).code == 0  # fmt: skip
    key = the_key()
    answer = read_answer_bytes(again.read_bytes(), "again.json", key.expected)
    assert lines_of(mark(key, answer, Rules())) == on("cross.A", "correct", "wrong")


def test_a_layer_names_the_map_if_it_has_one_attention() -> None:
    """In a stack without sides "layer 2" is enough; of two sides in it, it is not."""
    eye = [[1, 0], [0, 1]]
    one = {"W_Q": eye, "W_K": eye, "W_V": eye, "norm": "none"}
    problem = Problem(X=eye, layers=[one, one])
    solution = solve(problem)
    key = key_of(problem, Rules())
    assert solution["2.A"][0].argmax() == 0
    text = "Layer 2:\nOutput 1: most 1, second 2\nOutput 2: most 2, second 1"
    marking = mark(key, read_answer_bytes(text.encode(), "a.txt", key.expected), Rules())
    assert lines_of(marking) == on("2.A", "correct", "correct")
