"""The README tells the truth: its commands run, and its pictures come from them.

Its two set-up commands are run by `.ci/run`, each in a fresh environment.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, Command, clean_environment

README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


@pytest.fixture
def tour(tmp_path: Path) -> Path:
    """Return a folder in which every command of the tour has been run."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "attncalc").symlink_to(Path(sys.executable).parent / "attncalc")
    commands = [block for block in blocks("sh") if ".venv" not in block]
    subprocess.run(
        ["bash", "-euo", "pipefail", "-c", "\n".join(commands)],
        check=True,
        cwd=tmp_path,
        env=clean_environment() | {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}"},
        stdout=subprocess.DEVNULL,
        timeout=300,
    )
    return tmp_path


def test_every_command_and_the_python_of_the_tour_run(tour: Path) -> None:
    assert json.loads((tour / "steps.json").read_text(encoding="utf-8"))["kind"] == "cross"
    for picture in ("map.png", "map.svg", "map.pdf"):
        assert (tour / picture).stat().st_size > 5000
    for program in blocks("python"):
        subprocess.run(
            [sys.executable, "-c", program], check=True, cwd=tour, stdout=subprocess.DEVNULL
        )
    (command,) = re.findall(r"`(attncalc cross long.npz[^`]*)`", README)
    words = [sys.executable, "-m", *command.split()]
    subprocess.run(words, check=True, cwd=tour, stderr=subprocess.DEVNULL)


def test_the_json_of_the_tour_is_a_problem(attncalc: Command, tmp_path: Path) -> None:
    (tmp_path / "in.json").write_text(blocks("json")[0], encoding="utf-8")
    run = attncalc("self", "in.json")
    assert run.code == 0
    assert "Self-attention: The cat" in run.out


def test_the_work_of_the_tour_is_what_is_printed(attncalc: Command) -> None:
    attncalc("samples", "sentence", "-o", "cat.json")
    printed = attncalc("self", "--work").out
    printed += attncalc("self", "cat.json", "--entry", 'A["cat","dog"]', "--fractions").out
    lines = blocks("text")[0].splitlines()
    assert len(lines) == 3
    assert set(lines) <= set(printed.splitlines())


def test_the_marking_of_the_tour_is_what_is_printed(attncalc: Command) -> None:
    attncalc("samples", "self", "-o", "homework.json")
    attncalc("samples", "transposed-scores", "-o", "mine.py")
    run = attncalc("check", "homework.json", "mine.py")
    assert run.code == 1
    assert run.out.endswith("\n" + blocks("text")[1])


def test_the_page_of_the_tour_is_what_is_written(attncalc: Command, tmp_path: Path) -> None:
    attncalc("self", "--work", "-o", "key.md")
    page = (tmp_path / "key.md").read_text(encoding="utf-8")
    assert page == (ROOT / "docs" / "key.md").read_text(encoding="utf-8")


def test_set_up_is_one_command_each() -> None:
    set_up = [block for block in blocks("sh") if ".venv" in block]
    assert [block.count("\n") for block in set_up] == [1, 1]


def test_its_pictures_exist_and_load_nothing_from_elsewhere() -> None:
    for place in re.findall(r"!\[[^]]+\]\(([^)]+)\)", README):
        assert (ROOT / place).stat().st_size > 1000
    assert "@font-face" not in (ROOT / "docs" / "cross.svg").read_text(encoding="utf-8")
