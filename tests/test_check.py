"""`attncalc check` as people run it: one answer, a class of them, a program's numbers, mistakes."""

import csv
import io
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from conftest import BUNDLED, Command

PROBLEM = str(BUNDLED / "self.json")
ANSWERS = BUNDLED / "answers"


def answer(name: str) -> str:
    return str(ANSWERS / name)


@pytest.mark.slow
def test_a_right_answer_exits_with_0(attncalc: Command) -> None:
    run = attncalc("check", PROBLEM, answer("hand.json"))
    assert (run.code, run.err) == (0, "")
    assert run.out == (
        "Self-attention: Three tokens\n"
        f"answer: {answer('hand.json')}\n"
        "Score: 7.0 of 7 (100 %)\n"
        "Every entry is right: Q, K, V, S, A and O.\n"
        "On the map, every line is right.\n"
        "Points: Q 1, K 1, V 1, S 1, A 1, O 1, the lines of the map 1.\n"
    )
    assert attncalc("check", PROBLEM, answer("full-precision.md")).code == 0


@pytest.mark.slow
def test_minus_infinity_in_scores_that_no_mask_forbids_is_a_wrong_entry(
    attncalc: Command, tmp_path: Path
) -> None:
    place = tmp_path / "answer.json"
    place.write_text('{"S": [["-inf", 8, -6], [1.5, -2, -2.5], [8.5, 8, -12]]}', "utf-8")
    run = attncalc("check", PROBLEM, str(place), "--steps", "S")
    assert (run.code, run.err) == (1, "")
    assert "-inf" in run.out.replace("-∞", "-inf")


@pytest.mark.slow
def test_a_wrong_answer_exits_with_1_and_marks_the_entry_without_colour(
    attncalc: Command,
) -> None:
    full = attncalc("check", PROBLEM, answer("swapped-digits.csv"), "--full")
    assert "│ 3 │  8.5       8    -12.35 ✗ │" in full.out
    assert full.out.endswith("\n✗ wrong\n")
    run = attncalc("check", PROBLEM, answer("swapped-digits.csv"))
    assert run.code == 1
    assert full.out.startswith(run.out)
    assert run.out.endswith(
        "Score: 6.89 of 7 (98 %)\n"
        "The first mistake is in S, row 3, column 3: S[3,3] is -13.25, not -12.35. "
        "S[3,3] = (2.50·-2.50) + (-2.00·3.50) = -13.25\n"
        "It is the only wrong entry of S.\n"
        "Possible cause: two of its digits are swapped.\n"
        "Q, K and V are right.\n"
        "On the map, every line is right.\n"
        "Points: Q 1, K 1, V 1, S 0.89 of 1, A 1, O 1, the lines of the map 1.\n"
    )


@pytest.mark.slow
def test_json_has_the_promised_fields(attncalc: Command) -> None:
    run = attncalc("check", PROBLEM, answer("transposed-scores.txt"), "--format", "json")
    content = json.loads(run.out)
    assert content["score"] == {"earned": "6", "possible": "7"}
    assert [step["name"] for step in content["steps"]] == ["Q", "K", "V", "S", "A", "O"]
    assert content["steps"][3] == {
        "name": "S",
        "credit": "0",
        "counts": {"correct": 3, "wrong": 6},
        "entries": [
            ["correct", "wrong", "wrong"],
            ["wrong", "correct", "wrong"],
            ["wrong", "wrong", "correct"],
        ],
        "cause": ["scores-transposed"],
        "deduction": "1",
        "way": None,
        "follows": False,
    }
    assert content["steps"][5]["follows"] is True
    assert content["first_wrong"] == {
        "step": "S",
        "row": 1,
        "column": 2,
        "found": "-3.5",
        "expected": "-2.50",
    }
    assert content["verdict"].startswith("The first mistake is in S")
    assert (content["provisional"], content["not_found"], content["unread"]) == (False, [], [])
    right = json.loads(attncalc("check", PROBLEM, answer("hand.json"), "--format", "json").out)
    assert right["first_wrong"] is None
    assert right["connections"][2] == {
        "output": "3",
        "code": "correct",
        "most": ["1"],
        "second": ["2"],
    }


@pytest.mark.slow
def test_markdown_can_be_handed_back(attncalc: Command, tmp_path: Path) -> None:
    run = attncalc("check", PROBLEM, answer("worksheet.txt"), "-o", "marked.md")
    assert (run.code, run.out, run.err) == (1, "", "note: written to marked.md\n")
    page = (tmp_path / "marked.md").read_text(encoding="utf-8")
    assert "**Score: 6.0 of 7 (86 %)**" in page
    assert "| **1** | 0.00 | 0.00 | **0.88** ✗ |" in page
    assert "- Every entry of A matches this mistake: each column is made to sum to 1" in page


@pytest.mark.slow
def test_unmarked_files_of_a_folder_are_named(attncalc: Command, tmp_path: Path) -> None:
    folder = tmp_path / "class"
    shutil.copytree(ANSWERS, folder)
    (folder / "deeper").mkdir()
    for name in ("bob.pdf", ".hidden", "deeper/cy.md", "d\x1b[31m.png"):
        (folder / name).touch()
    said = "note: class: not marked, because their names are not those of answers: "
    said += '"bob.pdf", {}"deeper/"\n'
    assert attncalc("check", PROBLEM, "class").err == said.format('"d\\x1b[31m.png", ')
    for number in range(10):
        (folder / f"a{number}.pdf").touch()
    said = attncalc("check", PROBLEM, "class").err
    assert said.endswith('"a9.pdf" and 3 more\n')


@pytest.mark.slow
def test_a_folder_of_answers_has_a_row_for_each_and_a_summary(
    attncalc: Command, tmp_path: Path
) -> None:
    run = attncalc("check", PROBLEM, str(ANSWERS), "--csv", "marks.csv")
    assert run.code == 1
    assert run.err == "note: written to marks.csv\n"
    assert run.out.endswith(
        "\n\n8 of 8 answers marked, 2 without a mistake.\nMean 90 %, median 98 %.\n"
        "3 answers first went wrong in S.\n"
        "1 answer first went wrong in Q.\n"
        "1 answer first went wrong in A.\n"
        "1 answer, S: K Qᵀ is computed, not Q Kᵀ: the scores are transposed.\n"
        "1 answer, A: each column is made to sum to 1, not each row.\n"
    )
    rows = list(csv.DictReader(io.StringIO((tmp_path / "marks.csv").read_text("utf-8"))))
    assert len(rows) == 8
    assert rows[5] == {
        "answer": answer("transposed-scores.txt"),
        "earned": "6",
        "possible": "7",
        "percent": "86 %",
        "provisional": "",
        "first wrong": "S[1,2]",
        "causes": "S: scores-transposed",
        "flags": "",
        "not found": "",
        "not read": "",
        "note": "",
        "Q": "1",
        "K": "1",
        "V": "1",
        "S": "0",
        "A": "1",
        "O": "1",
        "connections": "1",
    }


def test_an_unreadable_script_never_stops_the_rest(attncalc: Command, tmp_path: Path) -> None:
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "ann.md").write_text("Q = [1 3; -1 1; 2.5 -2]")
    (tmp_path / "class" / "bob.json").write_text('{"Q": ')
    (tmp_path / "class" / "cat.md").write_text("I give up")
    run = attncalc("check", PROBLEM, "class", "--format", "json")
    content = json.loads(run.out)
    assert run.code == 1
    assert content["answers"][0]["score"] == {"earned": "1", "possible": "6"}
    assert content["answers"][1]["error"].startswith("class/bob.json: not JSON at line 1")
    assert content["answers"][2]["error"] == (
        "class/cat.md: no step is found in it (name each matrix, as in Q = [1 3; -1 1])"
    )
    assert content["summary"][0] == "1 of 3 answers marked, 0 without a mistake."
    table = attncalc("check", PROBLEM, "class").out
    assert "class/cat.md   not marked\n    class/cat.md: no step is found in it" in table
    run = attncalc("check", PROBLEM, "class/bob.json", "class/cat.md")
    assert run.code == 2


@pytest.mark.slow
def test_an_answer_has_the_same_mark_alone_and_in_a_class(
    attncalc: Command, tmp_path: Path
) -> None:
    drawn = "\nOutput 1: solid line to 3, no dashed line"
    (tmp_path / "one.md").write_text("Q = [1 3; -1 1; 2.5 -2]\nK = [3 -0.5; 2 -1.5; -2.5 3.5]")
    (tmp_path / "two.md").write_text("Q = [1 3; -1 1; 2.5 -2]" + drawn)
    run = attncalc("check", PROBLEM, "one.md", "two.md", "--format", "csv", "--fractions")
    rows = list(csv.DictReader(io.StringIO(run.out)))
    together = [(row["earned"], row["possible"], row["not found"]) for row in rows]
    assert together == [("2", "6", "V, S, A, O"), ("4/3", "7", "K, V, S, A, O")]
    for name, (earned, possible, _) in zip(("one.md", "two.md"), together, strict=True):
        alone = json.loads(attncalc("check", PROBLEM, name, "--format", "json").out)
        assert alone["score"] == {"earned": earned, "possible": possible}


def test_a_cell_of_the_sheet_is_never_a_formula(attncalc: Command, tmp_path: Path) -> None:
    (tmp_path / "=cmd.md").write_text("Q = [1 3; -1 1; 2.5 -2]")
    (tmp_path / "b.md").write_text("Q = [1 3; -1 1; 2.5 -2]")
    run = attncalc("check", PROBLEM, "=cmd.md", "b.md", "--format", "csv")
    assert run.out.splitlines()[1].startswith("'=cmd.md,")


@pytest.mark.slow
def test_standard_input_flags_and_weights(attncalc: Command) -> None:
    text = "Q = [1 3; -1 1; 2.5 -2]\nK = [3 0; 2 -1.5; -2.5 3.5]"
    asked = ("--weight", "K=1/2", "--steps", "Q,K")
    run = attncalc("check", PROBLEM, "-", *asked, "--format", "json", stdin=text)
    assert json.loads(run.out)["score"] == {"earned": "17/12", "possible": "3/2"}
    assert json.loads(run.out)["answer"] == "standard input"
    run = attncalc("check", PROBLEM, "-", "--steps", "q,attention weights", stdin=text)
    assert "Score: 1.0 of 2 (50 %)" in run.out
    asked = ("--steps", "A", "--decimals", "1")
    run = attncalc("check", PROBLEM, "-", *asked, stdin="A = [0 0 1; 0 0 1; 0.6 0.4 0]")
    assert run.code == 0


def test_a_programs_dump_is_compared_with_its_layer(attncalc: Command, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X, *W = (rng.normal(size=size) for size in [(5, 4), (4, 4), (4, 4), (4, 4)])
    np.savez(tmp_path / "layer.npz", X=X, W_Q=W[0], W_K=W[1], W_V=W[2])
    Q, K = (X @ each for each in W[:2])
    np.savez(tmp_path / "dump.npz", Q=Q, K=K, S=Q @ K.T, S_scaled=Q @ K.T)
    run = attncalc("check", "layer.npz", "dump.npz", "--atol", "1e-6", "--format", "json")
    content = json.loads(run.out)
    assert run.code == 1
    assert content["first_wrong"]["step"] == "S_scaled"
    step = content["steps"][3]
    assert step["cause"] == ["scale-none"]
    assert step["deviation"]["differ"] == step["deviation"]["of"] == 25
    assert step["deviation"]["relative"] == pytest.approx(1.0)
    assert step["deviation"]["absolute"] == pytest.approx(np.abs(Q @ K.T).max() / 2)
    np.savez(tmp_path / "right.npz", Q=Q, K=K)
    assert attncalc("check", "layer.npz", "right.npz", "--rtol", "1e-6").code == 0


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """Return a folder with a layer of 2 heads on 80 tokens, and a dump whose S alone is off."""
    rng = np.random.default_rng(0)
    X, *W = (rng.normal(size=size) for size in [(80, 4), (4, 4), (4, 4), (4, 4)])
    np.savez(tmp_path / "layer.npz", X=X, W_Q=W[0], W_K=W[1], W_V=W[2], heads=2)
    Q, K = (np.stack(np.split(X @ each, 2, axis=1)) for each in W[:2])
    S = Q @ K.swapaxes(1, 2)
    noise = rng.choice([-1.0, 1.0], size=S.shape) * 0.01
    np.savez(tmp_path / "dump.npz", S=S + noise, S_scaled=S / 2**0.5)
    return tmp_path


@pytest.mark.slow
def test_large_matrices_are_shown_without_their_middle_with_a_note(
    attncalc: Command, large: Path
) -> None:
    run = attncalc("check", "layer.npz", "dump.npz", "--atol", "1e-6")
    assert run.code == 1
    assert "│" not in run.out
    assert (
        "S_scaled[1,1,1], S_scaled[1,1,2], S_scaled[1,1,3], S_scaled[1,1,4], S_scaled[1,1,5], "
        "S_scaled[1,1,6] and 12794 more match the key, but do not follow from your earlier "
        "values.\n"
    ) in run.out
    full = attncalc("check", "layer.npz", "dump.npz", "--atol", "1e-6", "--full")
    assert full.err == ""
    assert full.out.count("\n│ 40 ") == 4
    attncalc("check", "layer.npz", "dump.npz", "--atol", "1e-6", "-o", "marked.md")
    page = (large / "marked.md").read_text("utf-8")
    assert "\n- the middle of S, S&#95;scaled is left out: --full shows all of it\n" in page


@pytest.mark.slow
def test_brief_prints_only_the_verdict(attncalc: Command, large: Path) -> None:
    asked = ("check", "layer.npz", "dump.npz", "--atol", "1e-6")
    whole, brief = attncalc(*asked), attncalc(*asked, "--brief")
    assert (brief.code, brief.err) == (1, "")
    assert brief.out.startswith("Self-attention\nanswer: dump.npz\nScore: 1.0 of 2 (50 %)\n")
    assert whole.out == brief.out
    page = attncalc(*asked, "--brief", "--format", "markdown").out
    assert "Score: 1.0 of 2" in page
    assert "|" not in page
    content = json.loads(attncalc(*asked, "--brief", "--format", "json").out)
    assert [step["entries"] for step in content["steps"]] == [None, None]
    assert content["verdict"] == "\n".join(brief.out.splitlines()[3:])
    both = attncalc(*asked, "--brief", "--full")
    assert both.code == 2
    assert both.err == ("error: --brief and --full together: one leaves out what the other shows\n")
    right = attncalc("check", PROBLEM, answer("hand.json"), "--brief")
    assert (right.code, right.out.count("\n")) == (0, 6)


@pytest.mark.slow
def test_the_json_of_a_large_dump_counts_what_it_does_not_list(
    attncalc: Command, large: Path
) -> None:
    asked = ("check", "layer.npz", "dump.npz", "--atol", "1e-6", "--format", "json")
    run = attncalc(*asked)
    assert run.err == (
        "note: the entries of S, S_scaled are counted, not listed: --full lists them\n"
    )
    wrong, kept = json.loads(run.out)["steps"]
    assert (wrong["counts"], wrong["entries"]) == ({"wrong": 12800}, None)
    assert (kept["counts"], kept["entries"]) == ({"matches-key": 12800}, None)
    assert wrong["deviation"]["differ"] == 12800
    assert wrong["deviation"]["absolute"] == pytest.approx(0.01)
    assert (kept["deviation"]["differ"], kept["deviation"]["of"]) == (0, 12800)
    assert len(run.out) < 4000
    full = attncalc(*asked, "--full")
    assert full.err == ""
    assert np.shape(json.loads(full.out)["steps"][0]["entries"]) == (2, 80, 80)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([PROBLEM, "nope.md"], "error: nope.md: no such file\n"),
        (["nope.json", "a.md"], "error: nope.json: no such file\n"),
        (
            ["-", "-"],
            "error: - is given for the problem and for an answer: use it for one of them\n",
        ),
        (
            [PROBLEM, "a.md", "--steps", "Q,Z"],
            'error: --steps: unknown name "Z" (known: Q, K, V, S, A, O, connections)\n',
        ),
        (
            [PROBLEM, "a.md", "--weight", "A"],
            "error: --weight takes a step and a number, as A=2, not A\n",
        ),
        ([PROBLEM, "a.md", "--weight", "A=x"], 'error: --weight of A: "x" is not a number\n'),
        (
            [PROBLEM, "a.md", "--follow-penalty", "2"],
            "error: --follow-penalty takes a number from 0 to 1, not 2\n",
        ),
        (
            [PROBLEM, "a.md", "--atol", "nan"],
            "error: --atol takes a number from 0, not nan\n",
        ),
        (
            [PROBLEM, "a.md", "-o", "x.csv", "--csv", "x.csv"],
            "error: cannot write both x.csv and x.csv: they are the same file; use two names\n",
        ),
        (
            [PROBLEM, "a.md", "-o", "marks.docx"],
            "error: marks.docx: end the name in .txt, .json, .md, .tex, .html, .csv, .pdf, or pass "
            "--format\n",
        ),
        (
            [PROBLEM, "a.md", "-o", "nowhere/marks.md"],
            "error: cannot write nowhere/marks.md: the folder nowhere does not exist\n",
        ),
    ],
)
def test_an_unmarkable_answer_states_why_and_exits_with_2(
    attncalc: Command, tmp_path: Path, arguments: list[str], message: str
) -> None:
    (tmp_path / "a.md").write_text("Q = [1 3; -1 1; 2.5 -2]")
    run = attncalc("check", *arguments)
    assert (run.code, run.out, run.err) == (2, "", message)


@pytest.mark.slow
def test_typed_text_is_escaped_for_the_terminal(attncalc: Command, tmp_path: Path) -> None:
    entry = "\x1b[31m[red]:smile:"
    (tmp_path / "a.json").write_text(json.dumps({"Q": [[entry, 3], [-1, 1], [2.5, -2]]}))
    for form in ("table", "markdown", "json"):
        run = attncalc("check", PROBLEM, "a.json", "--format", form)
        assert run.code == 1
        assert "\x1b" not in run.out
    assert "[31m[red]:smile:" in attncalc("check", PROBLEM, "a.json", "--full").out


@pytest.mark.slow
def test_no_mistake_is_100_percent(attncalc: Command, tmp_path: Path) -> None:
    rows = [[0.01] * 100 for _ in range(100)]
    tokens = [[0]] * 100
    problem = {"X": tokens, "W_Q": [[1]], "W_K": [[1]], "W_V": [[1]]}
    (tmp_path / "p.json").write_text(json.dumps(problem))
    rows[5][7] = 0.5
    (tmp_path / "a.json").write_text(json.dumps({"A": rows}))
    run = attncalc("check", "p.json", "a.json", "--steps", "A")
    assert "Score: 0.99 of 1 (99 %)" in run.out


@pytest.mark.slow
def test_a_worksheet_is_written_completely(attncalc: Command, tmp_path: Path) -> None:
    problem = {"X": [[0]] * 24, "W_Q": [[1]], "W_K": [[1]], "W_V": [[1]]}
    (tmp_path / "p.json").write_text(json.dumps(problem))
    for name in ("b.txt", "b.md", "b.tex", "b.csv"):
        attncalc("self", "p.json", "--blank", "-o", name)
        run = attncalc("check", "p.json", name)
        assert "1824 entries are blank, in Q, K, V, S, S_scaled, A and O." in run.out
        assert "shape" not in run.out


@pytest.mark.slow
def test_an_ascii_terminal_gets_ascii(attncalc: Command) -> None:
    run = attncalc("check", PROBLEM, answer("lost-sign.tex"), "--full", PYTHONIOENCODING="ascii")
    assert run.out.isascii()
    assert "x wrong" in run.out


@pytest.mark.parametrize("name", ["s1.csv", "S1.csv", "k2.csv"])
def test_a_sheet_with_the_name_of_a_student_is_one_of_many_answers(
    attncalc: Command, tmp_path: Path, name: str
) -> None:
    folder = tmp_path / "answers"
    folder.mkdir()
    for each in ("Ana.txt", "Bob.txt"):
        (folder / each).write_text("Q = [1 3; -1 1; 2.5 -2]\n")
    (folder / name).write_text("Q\n1,3\n-1,1\n2.5,-2\n")
    assert "3 of 3 answers marked" in attncalc("check", PROBLEM, str(folder)).out


def test_an_answer_that_is_a_problem_is_named(attncalc: Command) -> None:
    attncalc("samples", "self", "-o", "q.json")
    for first in ("q.json", "a.txt"):
        attncalc("samples", "full-precision", "-o", "a.txt")
        refused = attncalc("check", first, "q.json")
        assert refused.code == 2
        if first == "q.json":
            assert "q.json is a problem, not an answer: the problem comes first" in refused.err


def test_messages_on_a_rubric_name_it(attncalc: Command, tmp_path: Path) -> None:
    attncalc("samples", "self", "-o", "q.json")
    attncalc("samples", "full-precision", "-o", "a.md")
    rules = {"weights": '{"Z": 1}', "deductions": '{"Bad One": 1}'}
    for name, rule in rules.items():
        (tmp_path / "r.json").write_text(f'{{"{name}": {rule}}}')
        said = attncalc("check", "q.json", "a.md", "--rubric", "r.json").err
        assert f"r.json: {name}: unknown name" in said


MAIL = (
    "From: Ana\nSubject: homework\n\nQ = [1 3; -1 1; 2.5 -2]\n\nBest,\nAna\nTel. +385 1 4606 111\n"
)


def test_a_mail_is_an_answer_in_a_folder_and_its_signature_is_no_matrix(
    attncalc: Command, tmp_path: Path
) -> None:
    (tmp_path / "in.json").write_text((BUNDLED / "self.json").read_text())
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "Ana.eml").write_text(MAIL)
    (tmp_path / "class" / "Bob.txt").write_text("Q = [1 3; -1 1; 2.5 -2]\n")
    run = attncalc("check", "in.json", "class")
    assert "2 of 2 answers marked" in run.out
    assert run.err == ""
    (line,) = (each for each in run.out.splitlines() if "Ana.eml" in each)
    assert "provisional" not in line
