"""Answers with more or fewer heads, rows, columns and steps than the key, and JSON of mixed types.

Each is marked or refused with a message: every counted entry is checked against the key.
"""

import json
from pathlib import Path
from random import Random

import numpy as np
import pytest
from conftest import Command
from fuzz import answering

from attncalc.problem.samples import sample
from attncalc.reading.answers import read_answer_bytes

HEADS = str(sample("heads").path)
ROWS = "[1 0 0; 0 1 0; 0 0 1]"
HUGE = "&#" + "1" * 4400 + ";"


def checked(attncalc: Command, folder: Path, name: str, text: str, problem: str = HEADS) -> str:
    (folder / name).write_text(text, encoding="utf-8")
    ran = attncalc("check", problem, str(folder / name))
    assert ran.code in (1, 2), ran.err
    return ran.out + ran.err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("mine.txt", "".join(f"A head {head} = {ROWS}\n" for head in (1, 2, 3))),
        ("mine.txt", f"A head 3 = {ROWS}\n"),
        ("mine.md", f"Head 7\n\nA = {ROWS}\n"),
        ("mine.csv", "".join(f"S head {head}\n1,0,0\n0,1,0\n0,0,1\n\n" for head in (1, 2, 3))),
        ("mine.json", json.dumps({f"A_{head}": np.eye(3).tolist() for head in (1, 2, 3)})),
        ("mine.json", json.dumps({"A": np.ones((3, 3, 3)).tolist()})),
    ],
)
def test_a_head_that_the_problem_does_not_have_is_a_wrong_shape(
    attncalc: Command, tmp_path: Path, name: str, text: str
) -> None:
    assert "heads of 3 × 3 is written, where it is 2 heads of 3 × 3" in checked(
        attncalc, tmp_path, name, text
    )


@pytest.mark.parametrize(
    "label", ["A head {} =", "A_{} =", "A^({}) =", "Head {}\nA =", "head {} A ="]
)
def test_heads_counted_from_0_are_all_read(label: str) -> None:
    text = "\n".join(f"{label.format(head)} [{head} 2; 3 4]" for head in (0, 1))
    values = read_answer_bytes(text.encode(), "mine.txt").matrices["A"].values
    assert values.tolist() == [[[0, 2], [3, 4]], [[1, 2], [3, 4]]]


def test_maps_of_heads_counted_from_0_are_of_each_head() -> None:
    text = "Head 0\nOutput 1: most input 3\nHead 1\nOutput 1: most input 2\nA = [1 2; 3 4]\n"
    answer = read_answer_bytes(text.encode(), "mine.txt")
    assert answer.connections is not None
    assert [(each.head, each.most) for each in answer.connections] == [(1, ("3",)), (2, ("2",))]


@pytest.mark.parametrize("form", ["json", "npz"])
def test_heads_counted_from_0_are_all_read_from_arrays(form: str, tmp_path: Path) -> None:
    heads = {f"A_{head}": np.full((2, 2), head) for head in (0, 1)}
    place = tmp_path / f"mine.{form}"
    if form == "npz":
        np.savez(place, **heads)  # type: ignore[arg-type]
    else:
        place.write_text(json.dumps({name: head.tolist() for name, head in heads.items()}))
    matrix = read_answer_bytes(place.read_bytes(), str(place)).matrices["A"]
    assert matrix.values[:, 0, 0].tolist() == [0, 1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([True, np.eye(3).tolist()], "row 1 has 1 entries, row 2 has 3"),
        ([np.eye(3).tolist(), None], "row 1 has 3 entries, row 4 has 1"),
        ([[[1, 0, True], [0, 1, 0], [0, 0, 1]], np.eye(3).tolist()], '"true" is not a number'),
        ([[1, 0, 0], {"a": 1}, [0, 0, 1]], "row 1 has 3 entries, row 2 has 1"),
        (True, "true, where a list of rows is needed"),
        ({"head 1": True}, "an object, where a list of rows is needed"),
    ],
)
def test_json_of_mixed_types_is_marked_or_listed(
    attncalc: Command, tmp_path: Path, value: object, said: str
) -> None:
    text = json.dumps({"A": value, "Q": [[1, 2]]})
    assert said in checked(attncalc, tmp_path, "mine.json", text)


@pytest.mark.parametrize("name", ["mine.txt", "mine.md", "mine.html", "page.html"])
def test_a_character_reference_of_4400_digits_is_not_a_character(
    attncalc: Command, tmp_path: Path, name: str
) -> None:
    text = f"A = [1; {HUGE}]\nOutput 1: most input {HUGE}\n"
    text = f"<!doctype html><p title='{HUGE}'>{text}</p>" if name == "page.html" else text
    assert "A" in checked(attncalc, tmp_path, name, text)


@pytest.mark.slow
def test_additive_scores_are_not_carried_on_from_queries_and_keys_of_other_widths(
    attncalc: Command, tmp_path: Path
) -> None:
    problem = str(sample("additive").path)
    for text in ("K_S = [0.50; 1.00; 0.00]", "Q_S = [1; 2]", "Q_S = [1 2 3; 4 5 6]"):
        said = checked(attncalc, tmp_path, "mine.txt", f"{text}\nS = [1 2 3; 4 5 6]", problem)
        assert "is written, where it is" in said


@pytest.mark.parametrize("name", ["gamma_Q", "gamma_K", "beta_Q", "b_Q"])
def test_gradients_are_not_begun_with_a_matrix_that_nothing_reads(
    attncalc: Command, name: str
) -> None:
    problem = str(sample("decoder").path)
    ran = attncalc("decoder", problem, "--backward", f"--{name}", "1")
    assert ran.code == 2
    assert ran.err == f"error: {problem}: {name} is given, but this decoder does not use it\n"


def test_a_text_names_no_tokens_that_a_problem_cannot_have(
    attncalc: Command, tmp_path: Path
) -> None:
    place = tmp_path / "in.txt"
    place.write_text("X9 = [1 0; 0 1]\nX = [1 0; 0 1]\n")
    ran = attncalc("self", str(place))
    assert ran.code == 2
    assert 'line 1: unknown name "X9": did you mean X?' in ran.err


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_answers_of_other_sizes_are_marked_or_refused(
    attncalc: Command, tmp_path: Path, seed: int
) -> None:
    some = Random(f"other sizes {seed}")
    problem = some.choice(answering.keyed())
    name, data = answering.answer_to(some, problem)
    source = tmp_path / problem.name
    source.write_bytes(problem.data)
    (tmp_path / name).write_bytes(data)
    assert attncalc("check", str(source), str(tmp_path / name)).code in (0, 1, 2)
