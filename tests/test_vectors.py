"""Tokens from a text file of word vectors, as word2vec and GloVe write them."""

import json
from pathlib import Path

import numpy as np
import pytest
from conftest import Command

from attncalc import read_problem
from attncalc.reading.vectors import LONGEST_LINE, read_vectors

GLOVE = "the 0.1 0.2\ncat 1 -0.5\nsat 0.25 1e-1\nnew york 3 4\n"
EYE = [[1, 0], [0, 1]]


@pytest.fixture(autouse=True)
def weights(tmp_path: Path) -> None:
    fields = {"W_Q": EYE, "W_K": EYE, "W_V": EYE, "decimals": 3}
    (tmp_path / "weights.json").write_text(json.dumps(fields), encoding="utf-8")
    (tmp_path / "glove.txt").write_text(GLOVE, encoding="utf-8")


@pytest.mark.parametrize(
    "text",
    [
        GLOVE,
        f"4 2\n{GLOVE}",
        "4 2\nthe\t0.1\t0.2 \r\ncat 1 -0.5 \r\nsat 0.25  1e-1 \r\n",
        "zoë 7 7\n" + GLOVE.strip(),
    ],
    ids=["GloVe", "word2vec", "tabs", "no last line break"],
)
def test_the_words_of_a_text_are_tokens_with_their_vectors(
    attncalc: Command, tmp_path: Path, text: str
) -> None:
    (tmp_path / "v.txt").write_text(text, encoding="utf-8", newline="")
    asked = ("self", "weights.json", "--vectors", "v.txt", "--text", "the cat sat the")
    run = attncalc(*asked, "--format", "json")
    assert run.code == 0, run.err
    (tmp_path / "out.json").write_text(run.out, encoding="utf-8")
    problem = read_problem(tmp_path / "out.json")
    assert problem.X.tolist() == [[0.1, 0.2], [1, -0.5], [0.25, 0.1], [0.1, 0.2]]
    assert problem.queries == ("the (1)", "cat", "sat", "the (4)")
    numbers = "0.1 0.2; 1 -0.5; 0.25 0.1; 0.1 0.2"
    typed = attncalc("self", "weights.json", "--X", numbers, "--format", "npz", "-o", "a.npz")
    named = attncalc(*asked, "--format", "npz", "-o", "b.npz")
    assert typed.code == named.code == 0
    one, other = np.load(tmp_path / "a.npz"), np.load(tmp_path / "b.npz")
    assert all(np.array_equal(one[name], other[name]) for name in ("X", "Q", "A", "O"))


def test_words_with_blanks_are_skipped_and_the_first_of_several_vectors_is_used(
    tmp_path: Path,
) -> None:
    (tmp_path / "v.txt").write_text(GLOVE + "cat 9 9\nyork 1 1\n", encoding="utf-8")
    tokens, note = read_vectors(tmp_path / "v.txt", "york cat")
    assert tokens["X"] == [[1, 1], [1, -0.5]]
    assert note.endswith('v.txt: more than one vector of "cat" (lines 2 and 5): the first is used')


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        (GLOVE, "The cot zzz", 'no vector of "The": try "the"; no vector of "cot": try "cat"; no'),
        (GLOVE, " ", "--text has no words"),
        ("the 1 2\ncat 1\n", "the", "v.txt, line 2: needs 2 numbers behind a word, and has 1"),
        ("2 2\nthe 1\n", "the", "v.txt, line 2: needs 2 numbers behind a word, and has 1"),
        ("the\n", "the", "v.txt, line 1: needs numbers, and has 0"),
        ("the 1 x\n", "the", 'v.txt, line 1: "x" is not a number'),
        ("the 1 \x1b[31m\n", "the", "v.txt, line 1: "),
        ("", "the", 'v.txt: no vector of "the"'),
        ("a" * (LONGEST_LINE + 1), "the", "v.txt, line 1: longer than 1,048,576 bytes"),
    ],
)
def test_what_is_no_vector_is_refused_with_its_line(
    attncalc: Command, tmp_path: Path, text: str, words: str, said: str
) -> None:
    (tmp_path / "v.txt").write_text(text, encoding="utf-8")
    run = attncalc("self", "weights.json", "--vectors", "v.txt", "--text", words)
    assert (run.code, run.out) == (2, "")
    assert said in run.err
    assert "\x1b" not in run.err


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--text", "the"], "--vectors and --text give X together: give both, and no other X"),
        (["--vectors", "glove.txt"], "--vectors and --text give X together"),
        (["--vectors", "glove.txt", "--text", "the", "--X", "1 0"], "and no other X"),
        (["--vectors", "no.txt", "--text", "the"], "no.txt: no such file"),
        (["--vectors", ".", "--text", "the"], ".: a folder, where a file is needed"),
        (
            ["--vectors", "glove.txt", "--text", "the cat", "--layout", "columns"],
            "--vectors gives tokens as rows, and here they are columns (layout)",
        ),
    ],
)
def test_flags_that_do_not_go_together_are_refused(
    attncalc: Command, flags: list[str], said: str
) -> None:
    run = attncalc("self", "weights.json", *flags)
    assert (run.code, run.out) == (2, "")
    assert said in run.err


def test_a_file_of_vectors_is_not_overwritten(attncalc: Command) -> None:
    run = attncalc(
        "self", "weights.json", "--vectors", "glove.txt", "--text", "the", "-o", "glove.txt"
    )
    assert run.code == 2
    assert "which was read" in run.err
