"""What took longer, or more room, than is promised: each is made small enough for a fast test."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import BUNDLED, Command
from fuzz.pace import takes_longer

from attncalc import InputError, read_problem, vary
from attncalc.exporting.wheels import packed
from attncalc.grading.key import key_of
from attncalc.grading.rules import Rules
from attncalc.problem.samples import sample
from attncalc.reading.answers import read_answer_bytes
from attncalc.reading.plain import tidy
from attncalc.reading.plain.rows import split_row
from attncalc.solving.solution import solve
from attncalc.writing.sentences import notes

VIT = read_problem(sample("vit").path)


def entries(count: int) -> bytes:
    return "".join(f"Q[{i % 3 + 1},{i % 2 + 1}] = 0.5\n" for i in range(count)).encode()


def read(data: bytes, name: str) -> Any:
    return read_answer_bytes(
        data, name, key_of(read_problem(sample("self").path), Rules()).expected
    )


@pytest.mark.slow
def test_a_text_of_entries_is_cut_before_it_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nine megabytes of them took 24 s: all was rewritten, and then a part of it was read."""
    assert tidy.MOST_LINES == 50_000
    monkeypatch.setattr(tidy, "MOST_LINES", 2000)
    found: list[Any] = []
    assert not takes_longer(lambda: found.append(read(entries(160_000), "a.txt")), 2)
    why = [*found[0].faults]
    assert "only the first 2,000 lines are read" in why
    assert "only the first 2,000,000 characters are read" in why
    assert len(why) == len(set(why))


@pytest.mark.slow
def test_five_thousand_entries_are_all_read() -> None:
    answer = read(entries(5_000), "a.txt")
    assert not answer.faults
    assert (answer.matrices["Q"].values == 0.5).all()


@pytest.mark.slow
def test_of_very_many_names_in_json_no_more_are_looked_at_than_are_read() -> None:
    names = json.dumps({f"Q[{i // 700 + 1},{i % 700 + 1}]": 0.5 for i in range(60_000)})
    found: list[Any] = []
    assert not takes_longer(lambda: found.append(read(names.encode(), "a.json")), 1.5)
    assert "only the first 5,000 names are read" in [each.why for each in found[0].unread]


def test_a_cached_line_is_not_changed_by_its_first_caller() -> None:
    first = split_row("1 2 3")
    assert first is not None
    first.append("4")
    assert split_row("1 2 3") == ["1", "2", "3"]


@pytest.mark.slow
@pytest.mark.campaign(3)
@pytest.mark.parametrize(
    "changes", [("decimals=0:12", "softcap=1:5"), ("decimals=8:12:5",), ("X[1,1]=1e-200:1e200:20",)]
)
def test_values_that_need_many_digits_are_not_solved_one_by_one(changes: tuple[str, ...]) -> None:
    """A power of e of 250 digits takes ten times as long as one of 90."""
    problem = VIT if "X" not in changes[0] else read_problem(sample("self").path)
    assert not takes_longer(lambda: vary(problem, *changes), 3)


def test_a_slow_study_with_different_plans_requires_confirmation() -> None:
    with pytest.raises(InputError, match=r"^this is 9,100 solves, which would take about 4[0-9] "):
        vary(VIT, "decimals=0:12:13", "softcap=1:5:700")


def test_a_zip_archive_is_compressed_as_requested() -> None:
    """An entry has a level of its own, and numpy's wheel was packed with the slow one."""
    content = {"a.txt": b"".join(b"%d," % (i * i) for i in range(30_000))}
    assert len(packed(content, 1)) > len(packed(content, 9))


@pytest.mark.parametrize("place", ["x", "x.json", "folder/"])
def test_samples_names_no_file_without_a_sample(
    place: str, attncalc: Command, tmp_path: Path
) -> None:
    run = attncalc("samples", "-o", place)
    assert (run.code, run.out) == (2, "")
    assert run.err == (
        f"error: -o {place} writes one sample: name it, as attncalc samples self -o {place}\n"
    )
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["npz", "json", "tex", "html", "md", "csv"])
def test_a_long_label_is_stored_once(ending: str, attncalc: Command, tmp_path: Path) -> None:
    """It was in every sentence and heading: 40 tokens made 100 MB of arrays."""
    labels = ["a" * 100_000, "a" * 100_001, *map(str, range(10))]
    tokens = np.random.default_rng(0).normal(size=(12, 4)).round(2).tolist()
    given = json.loads((BUNDLED / "self.json").read_text()) | {"X": tokens, "labels": labels}
    (tmp_path / "in.json").write_text(json.dumps(given))
    run = attncalc("self", "in.json", "-o", f"out.{ending}")
    assert run.code == 0
    assert (tmp_path / f"out.{ending}").stat().st_size < 2_500_000
    problem = read_problem(tmp_path / "in.json")
    assert len(set(problem.queries)) == 12
    said = "labels of more than 500 characters are truncated here, not in the problem"
    assert said in [note.text for note in notes(solve(problem))]
    if ending in ("npz", "json", "csv"):
        read = read_problem(tmp_path / f"out.{ending}").labels
        assert labels in (read, read["X"] if isinstance(read, dict) else ())
