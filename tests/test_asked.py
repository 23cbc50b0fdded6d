"""What a mark counts, what was not found, and that nothing unread is silent."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import BUNDLED, Command

from attncalc import InputError, Problem, check, read_problem, solve
from attncalc.grading.key import key_of
from attncalc.grading.marking import mark
from attncalc.grading.marks import Marking
from attncalc.grading.rules import Rules, Status
from attncalc.reading.answers.answer import Answer, Unread, matrix_of_floats
from attncalc.writing.reports.marking import as_values
from attncalc.writing.verdict import verdict

pytestmark = pytest.mark.campaign(4)

PROBLEM = str(BUNDLED / "self.json")
ANSWERS = str(BUNDLED / "answers")
HAND = str(BUNDLED / "answers" / "hand.json")
Q = [[1, 3], [-1, 1], [2.5, -2]]
Q_TEXT = "Q = [1 3; -1 1; 2.5 -2]\n"
NO_NAME = "\nfoo bar\n7 8 9\n1 2 3\n4 4 4\n"


def fields() -> dict[str, Any]:
    return dict(json.loads(Path(PROBLEM).read_text("utf-8")))


def marked(answer: Answer, problem: Problem | None = None, **rules: Any) -> Marking:
    problem = problem or read_problem(PROBLEM)
    return mark(key_of(problem, Rules(**rules)), answer, Rules(**rules))


def with_unread(*unread: Unread, **more: Any) -> Answer:
    """Return a correct answer that also contains something else."""
    solution = solve(read_problem(PROBLEM))
    matrices = {
        step.name: matrix_of_floats(np.array(solution.shown(step.name), dtype=float))
        for step in solution.plan
    }
    return Answer("a.txt", matrices, unread=unread, **more)


# ---------------------------------------------------------------- what is asked


def test_every_step_is_asked_for_by_default() -> None:
    marking = check(PROBLEM, {"Q": Q})
    assert marking.score == (1, 6)
    assert marking.not_found == ("K", "V", "S", "A", "O")
    assert marking.verdict == (
        "No mistakes in what you wrote.",
        "Not found: K, V, S, A and O.",
        "Points: Q 1, K 0 of 1, V 0 of 1, S 0 of 1, A 0 of 1, O 0 of 1.",
    )


def test_a_missing_step_differs_from_a_blank_one() -> None:
    marking = check(PROBLEM, {"Q": [[None, None]] * 3}, asked=("Q", "K"))
    found, missing = marking.steps
    assert (found.counts[Status.BLANK], missing.counts[Status.NOT_FOUND]) == (6, 6)
    steps = as_values(marking)["steps"]
    assert steps[0]["counts"] == {"blank": 6}
    assert steps[1]["counts"] == {"not-found": 6}
    assert steps[1]["entries"] == [["not-found"] * 2] * 3
    assert "6 entries are blank, in Q." in marking.verdict
    assert "## `K`: 3 × 2, 0 of 1\n\nnot found\n" in marking.to_markdown()


PASSED = {
    "scaled": ({}, {"S", "A"}, "Q K S_scaled"),
    "only the first": ({}, {"Q"}, ""),
    "keys left out": ({}, {"Q", "S"}, "K"),
    "O alone": ({}, {"O"}, "Q K V S S_scaled A"),
    "masked": ({"causal": True}, {"A"}, "Q K S S_scaled S_masked"),
    "masked, up to the scaled": ({"causal": True}, {"S_scaled"}, "Q K S"),
    "heads": ({"heads": 2}, {"A", "O"}, "Q K V S S_scaled H C"),
    "capped": ({"softcap": 5}, {"Q", "K", "V", "A"}, "S S_scaled S_capped"),
}


@pytest.mark.parametrize("case", PASSED)
def test_steps_left_out_cost_nothing_where_a_later_one_is_written(case: str) -> None:
    settings, written, past = PASSED[case]
    W = [[1, 2], [3, 4]]
    problem = Problem(X=[[1, 0], [0, 1]], W_Q=W, W_K=W, W_V=W, **settings)
    solution = solve(problem)
    matrices = {name: matrix_of_floats(solution[name]) for name in written}
    marking = marked(Answer("a.json", matrices), problem)
    names = [step.name for step in solution.plan]
    assert " ".join(marking.passed) == past
    assert [each.step.name for each in marking.steps] == [n for n in names if n not in past.split()]
    done = len(past.split()) + len(written)
    assert marking.score == (done, len(names))
    said = [text for text in verdict(marking) if "not shown" in text]
    assert bool(said) == bool(past)
    assert as_values(marking)["not_shown"] == past.split()
    blank = {
        **matrices,
        **{name: matrix_of_floats(solution[name] * np.nan) for name in past.split()},
    }
    assert tuple(marked(Answer("a.json", blank), problem).passed) == tuple(past.split())


def test_a_written_step_that_the_output_copies_counts_for_it() -> None:
    W = [[1, 2], [3, 4]]
    problem = Problem(X=[[1, 0], [0, 1]], W_Q=W, W_K=W, W_V=W, heads=2)
    solution = solve(problem)
    written = {name: matrix_of_floats(solution[name]) for name in ("A", "C")}
    marking = marked(Answer("a.json", written), problem)
    assert marking.passed["O"] == "C"
    assert marking.score == (len(solution.plan), len(solution.plan))
    scores = {"S": matrix_of_floats(solution["S"])}
    assert "A" not in marked(Answer("a.json", scores), problem).passed


@pytest.mark.slow
def test_a_required_step_is_asked_for_even_if_a_later_one_is_written() -> None:
    content = {
        "A": [[0, 0, 1], [0, 0, 1], [0.62, 0.38, 0]],
        "O": [[-2, -3], [-2, -3], [1.17, 0.21]],
    }
    assert check(PROBLEM, content).score == (6, 6)
    assert "Q, K and S are not shown; A is right." in check(PROBLEM, content).verdict
    assert "V is not shown; O is right." in check(PROBLEM, content).verdict
    marking = check(PROBLEM, content, require="Q,S")
    assert (marking.score, marking.not_found) == ((4, 6), ("Q", "S"))
    marking = check(PROBLEM, content, require=["connections"])
    assert (marking.score, marking.not_found) == ((6, 7), ("connections",))


@pytest.mark.slow
def test_steps_between_a_mistake_and_the_outputs_are_right() -> None:
    problem, scaled = read_problem(PROBLEM), solve(Problem(**fields() | {"scale": "sqrt_dk"}))
    marking = check(problem, {"O": scaled.shown("O")})
    assert "scale-not-asked" in [cause.code for cause in marking.steps[0].causes]
    assert marking.score == (5, 6)


def test_a_missing_step_may_be_in_unread_text() -> None:
    answer = Answer(
        "a.txt",
        {"Q": matrix_of_floats(np.array(Q, float))},
        unread=tuple(
            Unread(line, "1 2", "it has no name", could_be_matrix=line != 9)
            for line in (12, 13, 14, 9, 3)
        ),
    )
    said = verdict(mark(key_of(read_problem(PROBLEM), Rules()), answer, Rules(asked=("Q", "S"))))
    assert "S may be in lines 3 and 12–14, which could not be read." in said
    assert not any("Not found" in text for text in said)


@pytest.mark.slow
def test_a_problem_lists_its_steps_and_the_rules_override_them() -> None:
    problem = Problem(**fields(), asked="q, A, connections")
    assert problem.asked == ("Q", "A", "connections")
    marking = check(problem, {"Q": Q, "O": [[0, 0]] * 3})
    assert marking.score == (1, 3)
    assert marking.verdict == (
        "No mistakes in what you wrote.",
        "Not found: A and the lines of the map.",
        "Not counted because it is not required: O.",
        "Points: Q 1, A 0 of 1, the lines of the map 0 of 1.",
    )
    assert check(problem, {"Q": Q}, asked=("Q",)).score == (1, 1)
    scaled = Problem(X=[[1]], W_Q=[[1]], W_K=[[1]], W_V=[[1]], asked="S_scaled, A")
    assert check(scaled, {"A": [[1]]}).not_found == ("S_scaled",)  # it was named


def test_steps_q_counts_q_and_nothing_else(attncalc: Command) -> None:
    run = attncalc("check", PROBLEM, HAND, "--steps", "Q", "--brief")
    assert run.code == 0
    assert "Score: 1.0 of 1 (100 %)\nEvery entry is right: Q.\n" in run.out
    assert "K, V, S, A, O and the lines of the map.\nPoints: Q 1.\n" in run.out
    assert "On the map" not in run.out


def test_the_map_counts_only_if_it_is_drawn_or_asked_for(attncalc: Command) -> None:
    content = json.loads(Path(HAND).read_text("utf-8"))
    del content["connections"]
    assert check(PROBLEM, content).score == (6, 6)
    assert check(PROBLEM, HAND).score == (7, 7)
    marking = check(PROBLEM, content, asked=("Q", "connections"))
    assert marking.score == (1, 2)
    assert marking.not_found == ("connections",)


def test_steps_that_are_not_asked_for_are_recognized() -> None:
    marking = check(PROBLEM, {"Q": Q}, asked=("A",))
    assert marking.verdict == (
        "Not found: A.",
        "Not counted because it is not required: Q.",
        "Points: A 0 of 1.",
    )


@pytest.mark.parametrize("form", ["json", "csv", "npz"])
def test_asked_is_read_from_a_file(attncalc: Command, form: str) -> None:
    attncalc("self", PROBLEM, "--asked", "O,Q", "--format", form, "-o", f"p.{form}")
    run = attncalc("check", f"p.{form}", HAND, "--format", "json")
    assert json.loads(run.out)["asked"] == ["Q", "O"]


@pytest.mark.parametrize("said", [["Q", "A"], "Q, A", "Q A", "q;a"])
def test_asked_is_a_list_or_a_text(tmp_path: Path, said: Any) -> None:
    (tmp_path / "p.json").write_text(json.dumps(fields() | {"asked": said}))
    assert read_problem(tmp_path / "p.json").asked == ("Q", "A")


def test_asked_is_read_in_a_sheet_with_decimal_commas(tmp_path: Path) -> None:
    sheet = "asked;S,A\n\nQ\n0,5;1\n\nK\n1,5;1\n\nV\n2,5;1\n"
    (tmp_path / "p.csv").write_text(sheet)
    assert read_problem(tmp_path / "p.csv").asked == ("S", "A")


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("Q, Z", 'asked names "Z", which is not a step of this problem (known: Q, K, V, S, A, O, '),
        ("S_scaled", 'asked names "S_scaled", which is not a step of this problem'),
        ("", "asked takes step names, e.g. Q, S, A, and connections for the map"),
        ([], "asked takes step names"),
        (3, "asked takes step names"),
        (["Q", 1], "asked takes step names"),
    ],
)
def test_asked_refuses_unknown_steps(said: Any, message: str) -> None:
    with pytest.raises(InputError) as error:
        Problem(**fields(), asked=said)
    assert str(error.value).startswith(message)


def test_rules_refuse_unknown_steps() -> None:
    with pytest.raises(InputError) as error:
        check(PROBLEM, {"Q": Q}, asked=("Q", "Z"))
    assert str(error.value).startswith('steps: unknown name "Z"')
    assert str(error.value).endswith("(known: Q, K, V, S, A, O, connections)")


@pytest.mark.slow
def test_no_page_lists_the_asked_steps(attncalc: Command) -> None:
    for form in ("table", "markdown", "latex", "html"):
        plain, asked = (
            re.sub(r"<script.*?</script>", "", attncalc("self", PROBLEM, *flags).out)
            for flags in (("--format", form), ("--asked", "Q", "--format", form))
        )
        assert asked == plain  # the problem as data, which a live page brings, says it


def test_a_program_is_asked_for_the_arrays_of_its_dump() -> None:
    content = {"A": [[0, 0, 1], [0, 0, 1], [0.62, 0.38, 0]]}
    assert check(PROBLEM, content, atol=0.01).score == (1, 1)
    assert check(PROBLEM, content, atol=0.01, asked=("A", "O")).score == (1, 2)


# ---------------------------------------------------------------- what is not read


@pytest.mark.slow
def test_unread_numbers_that_could_be_a_matrix_make_the_score_provisional(
    attncalc: Command, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text(Q_TEXT + NO_NAME)
    run = attncalc("check", PROBLEM, "a.txt", "--steps", "Q", "--brief")
    assert run.code == 1
    after = run.out[run.out.index("Score: ") :].splitlines()
    assert after[:2] == [
        "Score: 1.0 of 1 (100 %)",
        "This score is provisional: 1 part of the answer was not read that could be a matrix.",
    ]
    assert after[-1].startswith("Not read: line 4: 7 8 9 / 1 2 3 / 4 4 4 (it has no name")
    assert sum("7 8 9" in line or "line 4" in line for line in after) == 1
    content = json.loads(attncalc("check", PROBLEM, "a.txt", "--format", "json").out)
    assert content["provisional"] is True
    (unread,) = content["unread"]
    assert (unread["line"], unread["text"]) == (4, "7 8 9 / 1 2 3 / 4 4 4")
    assert unread["why"].startswith("it has no name")
    assert content["faults"] == []
    for form in ("markdown", "latex", "html"):
        page = attncalc("check", PROBLEM, "a.txt", "--format", form).out
        assert page.index("This score is provisional") < page.index("Points: ")
        assert "Not read: line 4: 7 8 9 / 1 2 3 / 4 4 4" in page


def test_a_flawless_answer_is_done_only_if_all_of_it_was_read() -> None:
    doubtful = Unread(9, "1 2 / 3 4", "it has no name", could_be_matrix=True)
    marking = marked(with_unread(doubtful, doubtful))
    assert marking.is_right
    assert not marking.is_done
    assert verdict(marking)[0] == (
        "This score is provisional: 2 parts of the answer were not read that could be matrices."
    )
    harmless = Unread(0, "42", "it is part of no matrix", could_be_matrix=False)
    marking = marked(with_unread(harmless))
    assert marking.is_done
    assert verdict(marking)[-1] == "Not read: 42 (it is part of no matrix)."
    assert as_values(marking)["unread"] == [
        {"line": 0, "text": "42", "why": "it is part of no matrix"}
    ]


def test_unread_matrices_are_listed_first_and_further_parts_counted() -> None:
    unread = [Unread(n, str(n), "prose", could_be_matrix=n == 14) for n in range(1, 15)]
    marking = marked(with_unread(*unread, remarks=("S stands after V: taken as S",)))
    said = [text for text in verdict(marking) if text.startswith("Not read: ")]
    assert said[0] == "Not read: line 14: 14 (prose)."
    assert len(said) == 11
    assert said[-1] == "Not read: 4 more like these."
    assert verdict(marking)[-1] == "As read: S stands after V: taken as S."
    assert len(as_values(marking)["unread"]) == 14
    assert as_values(marking)["remarks"] == ["S stands after V: taken as S"]


def test_unread_text_is_escaped_for_terminals_and_shortened() -> None:
    marking = marked(with_unread(Unread(1, "\x1b[31m1\n2 " + "7 " * 99, "odd", True)))
    (said,) = (text for text in verdict(marking) if text.startswith("Not read: "))
    assert "\x1b" not in said
    assert "\n" not in said
    assert len(said) < 100


# ---------------------------------------------------------------- a class


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with an answer that is right, one not wholly read, and one not at all."""
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "ann.json").write_text(Path(HAND).read_text("utf-8"))
    (tmp_path / "class" / "ann.md").write_text("K = [3 -0.5; 2 -1.5; -2.5 3.5]")
    (tmp_path / "class" / "bob.txt").write_text(Q_TEXT + NO_NAME)
    (tmp_path / "class" / "cat.md").write_text("I give up")
    return tmp_path


@pytest.mark.slow
def test_the_class_table_marks_a_provisional_score_and_lists_unread_parts(
    attncalc: Command, folder: Path
) -> None:
    run = attncalc("check", PROBLEM, "class", "--format", "csv")
    rows = {row["answer"]: row for row in csv.DictReader(io.StringIO(run.out))}
    bob = rows["class/bob.txt"]
    assert bob["provisional"] == "provisional"
    assert bob["not found"] == "K, V, S, A, O"
    assert bob["not read"].startswith("line 4: 7 8 9 / 1 2 3 / 4 4 4 (it has no name")
    assert bob["note"] == ""
    assert rows["class/ann.json"]["provisional"] == rows["class/ann.json"]["not read"] == ""
    table = attncalc("check", PROBLEM, "class").out
    assert "class/bob.txt   1.0 of 6 (17 %), provisional\n" in table
    assert "    not found: K, V, S, A, O   not read: line 4: 7 8 9" in table
    assert "1 answer with a provisional score: something was not read.\n" in table


def test_a_class_is_not_all_right_while_something_is_unread(
    attncalc: Command, folder: Path
) -> None:
    names = ("class/ann.json", "class/bob.txt")
    run = attncalc("check", PROBLEM, *names, "--steps", "Q")
    assert run.code == 1
    assert "2 of 2 answers marked, 1 without a mistake.\n" in run.out


@pytest.mark.slow
def test_the_class_table_fits_80_columns(attncalc: Command, folder: Path) -> None:
    long = folder / "class" / ("a-very-long-name-of-a-student-" * 4 + ".md")
    long.write_text("Q = [1 3; -1 1; 2.5 2]\nS = [1 2; 3 4]\nA = [9 9 9; 9 9 9; 9 9 9]")
    run = attncalc("check", PROBLEM, "class", ANSWERS)
    rows = run.out[: run.out.index("\n\n")].splitlines()
    assert max(map(len, rows)) <= 80
    assert len(rows) >= 13


@pytest.mark.slow
def test_marks_are_decimals_or_fractions_where_they_are_asked_for(attncalc: Command) -> None:
    mine = f"{ANSWERS}/lost-sign.tex"
    for flags, earned in (((), "6.8333"), (("--fractions",), "41/6")):
        run = attncalc("check", PROBLEM, mine, "--format", "csv", *flags)
        (row,) = csv.DictReader(io.StringIO(run.out))
        assert row["earned"] == earned
        attncalc("check", PROBLEM, mine, "--csv", "m.csv", *flags)
    assert "6.83 of 7 (98 %)" in attncalc("check", PROBLEM, mine, HAND).out
    assert "41/6 of 7 (98 %)" in attncalc("check", PROBLEM, mine, HAND, "--fractions").out


@pytest.mark.slow
def test_a_folder_is_filled_with_a_page_for_each_student(attncalc: Command, folder: Path) -> None:
    run = attncalc("check", PROBLEM, "class", "-o", "marked/")
    assert (run.code, run.err) == (1, "note: 4 files written to marked\n")
    assert "class/ann.json   7.0 of 7 (100 %)\n" in run.out
    pages = {path.name: path.read_text("utf-8") for path in (folder / "marked").iterdir()}
    assert sorted(pages) == ["ann.json.md", "ann.md.md", "bob.md", "cat.md"]
    assert "**Score: 7.0 of 7 (100 %)**" in pages["ann.json.md"]
    assert "**Score: 1.0 of 6 (17 %)**" in pages["ann.md.md"]
    assert "This score is provisional" in pages["bob.md"]
    assert "no step is found in it" in pages["cat.md"]
    assert "ann" not in pages["bob.md"] + pages["cat.md"]
    again = attncalc("check", PROBLEM, "class/bob.txt", "-o", "marked")  # a folder that is there
    assert (again.code, again.out) == (1, "")
    to_stdout = attncalc("check", PROBLEM, "class", "-o", "marked/", "--csv", "-")
    assert to_stdout.out.startswith("answer,earned,possible,")
    assert "Mean" not in to_stdout.out


def test_pages_never_overwrite_inputs(attncalc: Command, folder: Path) -> None:
    before = {path: path.read_bytes() for path in (folder / "class").iterdir()}
    for out in ("class/", "class"):
        run = attncalc("check", PROBLEM, "class", "-o", out)
        assert run.code == 2
    run = attncalc("check", PROBLEM, "class/cat.md", HAND, "-o", "class/")
    assert run.code == 2
    assert {path: path.read_bytes() for path in (folder / "class").iterdir()} == before


def test_a_folder_accepts_only_pages(attncalc: Command, folder: Path) -> None:
    run = attncalc("check", PROBLEM, "class", "-o", "marked/", "--format", "json")
    assert run.code == 2
    assert run.err == "error: marked is a folder: it can contain pages in markdown or html\n"


def test_pages_of_equal_names_have_numbers() -> None:
    from attncalc.writing.reports.many import Marked, pages

    places = ["a/ann.md", "b/ann.md", "b/Ann.md", "bob.md", "standard input"]
    names = list(pages([Marked(place, None, "no") for place in places]))
    assert names == ["ann.md", "ann.md-2", "Ann.md-3", "bob", "standard input"]


def test_a_mistake_that_does_not_count_is_named_where_counted_steps_follow_from_it() -> None:
    """Its cause is deducted where it first follows."""
    problem = read_problem(PROBLEM, causal=True, scale="sqrt_dk", asked="S,A,O")
    right = solve(problem)
    S = np.asarray(right.shown("S"), float)
    masked = np.where(np.tril(np.ones_like(S)) > 0, S, -np.inf)  # the scale is forgotten
    A = np.exp(masked - masked.max(1, keepdims=True))
    A /= A.sum(1, keepdims=True)
    outputs = A @ np.asarray(right.shown("V"), float)
    own = {"S": S, "S_masked": masked, "A": A.round(2), "O": outputs.round(2)}
    marking = marked(Answer("a", {n: matrix_of_floats(m) for n, m in own.items()}), problem)
    said = " ".join(verdict(marking))
    assert marking.score.earned == 2
    assert "No mistakes" not in said
    assert "The first mistake is in S_masked" in said
    assert "the scores are not scaled" in said
    assert "Not counted because it is not required: S_masked." in said
    assert not marking.is_right


def test_a_worksheet_has_boxes_for_the_asked_steps_alone(attncalc: Command) -> None:
    flags = ("--asked", "K,V,O", "--format", "markdown")
    sheet = attncalc("self", PROBLEM, "--blank", *flags).out
    assert re.findall(r"^## `(\w+)`", sheet, re.MULTILINE) == ["K", "V", "O"]
    assert "Output 1" not in sheet
    assert "Output 1" in attncalc("self", PROBLEM, "--blank", "--asked", "K,connections").out
    assert "## `Q`" in attncalc("self", PROBLEM, *flags).out
