"""Unnamed files of a folder: a regular file is read; a link or a pipe is refused.

One rule for folders of answers, classes, what Gradescope hands over, problems and models. Only in a
model's folder may a file be a link, for the caches of hubs are made of links.
"""

import json
import os
import shutil
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from conftest import GOOD, Command

from attncalc.exporting import handed_in
from attncalc.exporting.rules import course_of, write_course
from attncalc.grading.key import key_of
from attncalc.grading.rules import Rules
from attncalc.problem.samples import sample
from attncalc.reading import read_problem

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")

SECRET = "Q = [1 2; 3 4]\npassword hunter2"
LINK = "a link, which is not followed: put the file itself there"
PIPE = "a pipe or a device, where a file is needed"

Make = Callable[[Path, Path], object]
WAYS: list[tuple[Make, str]] = [
    (lambda place, secret: place.symlink_to(secret), LINK),
    (lambda place, _: place.symlink_to("/dev/zero"), LINK),
    (lambda place, _: place.symlink_to("gone"), LINK),
    (lambda place, _: os.mkfifo(place), PIPE),
]
ways = pytest.mark.parametrize(("make", "why"), WAYS, ids=["link", "device", "dangling", "pipe"])


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "in.json").write_text(json.dumps(GOOD))
    (tmp_path / "secret.md").write_text(SECRET)
    (tmp_path / "answers").mkdir()
    (tmp_path / "answers" / "zoe.json").write_text('{"Q": [[1, 2], [3, 4]]}')
    return tmp_path


@ways
def test_in_a_folder_of_answers(attncalc: Command, here: Path, make: Make, why: str) -> None:
    make(here / "answers" / "ada.md", here / "secret.md")
    ran = attncalc("check", "in.json", "answers", "--steps", "Q", "-o", "marked/", "--csv", "m.csv")
    assert ran.code == 1
    told = (here / "m.csv").read_text()
    assert f"answers/ada.md: {why}" in told
    assert "zoe.json,1,1" in told.replace('"', "")
    assert "hunter2" not in ran.out + told + "".join(
        page.read_text() for page in (here / "marked").iterdir()
    )


@ways
def test_in_an_answer_that_is_a_folder(attncalc: Command, here: Path, make: Make, why: str) -> None:
    (here / "answers" / "ada").mkdir()
    make(here / "answers" / "ada" / "Q.csv", here / "secret.md")
    ran = attncalc("check", "in.json", "answers/ada")
    assert (ran.code, ran.err) == (2, f"error: answers/ada/Q.csv: {why}\n")


def test_a_linked_folder_of_answers_is_not_followed(attncalc: Command, here: Path) -> None:
    (here / "key").mkdir()
    (here / "key" / "Q.csv").write_text("1,2\n3,4\n")
    (here / "answers" / "ada").symlink_to(here / "key")
    ran = attncalc("check", "in.json", "answers", "--steps", "Q")
    assert f"answers/ada: {LINK}" in ran.out


def test_a_link_that_is_named_is_read(attncalc: Command, here: Path) -> None:
    (here / "link.json").symlink_to("answers/zoe.json")
    (here / "linked").symlink_to("answers")
    for named in ("link.json", "linked"):
        assert attncalc("check", "in.json", named, "--steps", "Q").code == 0


def test_of_several_that_are_named_a_link_is_not_followed(attncalc: Command, here: Path) -> None:
    """A shell expands them from `answers/*`, and the student made the link."""
    (here / "answers" / "ada.json").symlink_to("zoe.json")
    (here / "answers" / "group").symlink_to(".")
    named = sorted(f"answers/{path.name}" for path in (here / "answers").iterdir())
    ran = attncalc("check", "in.json", *named, "--steps", "Q")
    assert ran.code == 1
    assert ran.out.count(LINK) == 2
    assert "1 of 3 answers marked, 1 without a mistake." in ran.out


@pytest.mark.slow
def test_of_a_class_a_named_link_among_several_is_not_followed(
    attncalc: Command, here: Path
) -> None:
    test_in_the_answers_of_a_class(attncalc, here, WAYS[0][0], LINK)
    ran = attncalc("check", "set", "answers/ada.md", "answers/zoe.md")
    assert f"unmatched: answers/ada.md: {LINK}" in ran.out


@pytest.mark.slow
@ways
def test_in_the_answers_of_a_class(attncalc: Command, here: Path, make: Make, why: str) -> None:
    (here / "roster.csv").write_text("name\nAda\nZoe\n")
    (here / "spec.json").write_text('{"problems": [{}], "seed": 7}')
    assert (
        attncalc("new", "--class", "roster.csv", "--problems", "spec.json", "-o", "set").code == 0
    )
    shutil.copy(here / "set" / "keys" / "Zoe" / "key.md", here / "answers" / "zoe.md")
    (here / "answers" / "zoe.json").unlink()
    make(here / "answers" / "ada.md", here / "set" / "keys" / "Ada" / "key.md")
    ran = attncalc("check", "set", "answers", "-o", "marked")
    assert ran.code == 1
    assert f"unmatched: answers/ada.md: {why}" in ran.out
    assert "no answer: Ada" in ran.out
    assert [page.name for page in (here / "marked").glob("*.md")] == ["Zoe.md"]


@ways
def test_in_a_submission_of_gradescope(here: Path, make: Make, why: str) -> None:
    source, submission = here / "source", here / "submission"
    source.mkdir()
    submission.mkdir()
    rules = Rules()
    course = course_of(key_of(read_problem(here / "in.json"), rules), rules, Fraction(1))
    shutil.copy(here / "in.json", source / handed_in.PROBLEM)
    (source / handed_in.COURSE).write_text(write_course(course))
    make(submission / "mine.md", here / "secret.md")
    told = json.loads(handed_in.results(source, submission))
    assert (told["score"], told["output"]) == (0, f"mine.md: {why}")
    (submission / "mine.json").write_text('{"Q": [[1, 2], [3, 4]]}')
    assert json.loads(handed_in.results(source, submission))["score"] > 0


@ways
def test_in_the_folder_of_a_problem(attncalc: Command, here: Path, make: Make, why: str) -> None:
    folder = here / "problem"
    folder.mkdir()
    for name in ("X", "W_K", "W_V"):
        (folder / f"{name}.csv").write_text("1,0\n0,1\n")
    make(folder / "W_Q.csv", here / "secret.md")
    ran = attncalc("self", "problem")
    assert (ran.code, ran.err) == (2, f"error: problem/W_Q.csv: {why}\n")


@pytest.mark.slow
@ways
def test_as_the_problem_in_a_folder(attncalc: Command, here: Path, make: Make, why: str) -> None:
    assert attncalc("self", "in.json", "--format", "csv", "-o", "tables/").code == 0
    (here / "tables" / "problem.csv").rename(here / "away.csv")
    make(here / "tables" / "problem.csv", here / "away.csv")
    ran = attncalc("self", "tables")
    if make is not WAYS[2][0]:  # a link to nothing is no problem of the folder
        assert (ran.code, ran.err) == (2, f"error: tables/problem.csv: {why}\n")


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_a_models_folder_is_read_without_waiting(
    attncalc: Command, tmp_path: Path, name: str, kind: str
) -> None:
    shutil.copytree(sample("model").path, tmp_path / "model")
    place = tmp_path / "model" / name
    place.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(place)
    else:
        place.symlink_to("/dev/zero")
    text = ["--text", "a"] if name == "tokenizer.json" else ["--tokens", "1 2"]
    if name == "tokenizer.json":
        pytest.importorskip("tokenizers")
    ran = attncalc("open", "model", *text)
    assert (ran.code, ran.err) == (2, f"error: model/{name}: {PIPE}\n")


def test_a_model_may_be_made_of_links_as_in_the_caches_of_hubs(
    attncalc: Command, tmp_path: Path
) -> None:
    shutil.copytree(sample("model").path, tmp_path / "blobs")
    (tmp_path / "model").mkdir()
    for blob in (tmp_path / "blobs").iterdir():
        (tmp_path / "model" / blob.name).symlink_to(f"../blobs/{blob.name}")
    assert attncalc("open", "model", "--tokens", "1 2").code == 0
