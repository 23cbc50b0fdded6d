"""`attncalc doctor`: the facts that a bug report needs, without private ones."""

import json
import platform
import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from conftest import ROOT, Command

from attncalc import __version__, read_problem
from attncalc.cli.app import COMMANDS
from attncalc.cli.commands import doctor
from attncalc.cli.commands.doctor import LIBRARIES, _lines, extras, facts
from attncalc.writing.classes import pages_of
from attncalc.writing.paper.writer import write_paper

LABELS = {"X": [[1], [2]], "W_Q": [[1]], "W_K": [[1]], "W_V": [[1]], "labels": ["chat", "𒀀"]}


def told(out: str) -> dict[str, str]:
    """Return what each line says, by what it is about."""
    return {line[:14].strip(): line[14:] for line in out.splitlines()}


def test_it_prints_the_environment(attncalc: Command) -> None:
    run = attncalc("doctor")
    assert (run.code, run.err) == (0, "")
    lines = told(run.out)
    assert lines["attncalc"].startswith(f"{__version__}, ")
    assert lines["Python"].startswith(f"{platform.python_version()} (")
    assert f"numpy {metadata.version('numpy')}" in lines["libraries"]
    assert re.fullmatch(r"\d+ cores?; .*", lines["threads"])
    assert lines["output"] == "no terminal, utf-8, 80 columns"
    assert lines["errors"] == "no terminal, utf-8"
    assert {"system", "color", "file names", "environment", "LaTeX"} <= set(lines)


@pytest.mark.slow
def test_its_json_is_the_same(attncalc: Command, tmp_path: Path) -> None:
    found = json.loads(attncalc("doctor", "--format", "json").out)
    assert (found["attncalc"], found["python"]["version"]) == (
        __version__,
        platform.python_version(),
    )
    attncalc("doctor", "-o", "doctor.json")
    assert json.loads((tmp_path / "doctor.json").read_text())["libraries"] == found["libraries"]


@pytest.mark.slow
def test_it_lists_letters_that_cannot_be_drawn_or_printed(
    attncalc: Command, tmp_path: Path
) -> None:
    """No font at hand has cuneiform; matplotlib's own has é and Greek."""
    (tmp_path / "in.json").write_text(json.dumps(LABELS))
    lines = told(attncalc("doctor", "in.json").out)
    assert lines["labels"] == "2 names and titles"
    assert lines["fonts"] == "no font here can draw 𒀀 (U+12000)"
    assert lines["encoding"] == "has all of their letters"
    narrow = told(attncalc("doctor", "in.json", PYTHONIOENCODING="cp437").out)
    assert narrow["encoding"] == "has no \\U00012000 (U+12000)"
    assert told(attncalc("doctor", "in.json", PYTHONIOENCODING="ascii").out)["output"].startswith(
        "no terminal, ascii"
    )


def test_labels_that_can_be_shown_are_listed(attncalc: Command, tmp_path: Path) -> None:
    (tmp_path / "in.json").write_text(json.dumps({**LABELS, "labels": ["é", "λ"]}))
    lines = told(attncalc("doctor", "in.json").out)
    assert (lines["fonts"], lines["encoding"]) == (
        "draw all letters of its pages",
        "has all of their letters",
    )


@pytest.mark.slow
def test_the_letters_of_its_pages_are_those_of_a_pdf(attncalc: Command, tmp_path: Path) -> None:
    """The language and the name count, too."""
    (tmp_path / "in.json").write_text(
        json.dumps({**LABELS, "labels": ["a", "b"], "language": "ja", "student": "𒀀"})
    )
    lines = told(attncalc("doctor", "in.json").out)
    worksheet, key = pages_of(read_problem(tmp_path / "in.json"))
    lacking = write_paper([worksheet, key]).lacking
    assert "𒀀" in lacking
    assert lines["fonts"] == "no font here can draw " + ", ".join(
        f"{each} (U+{ord(each):04X})" for each in lacking
    )


def test_a_file_without_a_problem_is_refused(attncalc: Command) -> None:
    run = attncalc("doctor", "missing.json")
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith("error: missing.json: ")


def test_the_home_folder_is_not_reported(
    attncalc: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/ada.lovelace")
    run = attncalc("doctor", TERM="/home/ada.lovelace/xterm", HOME="/home/ada.lovelace")
    assert "lovelace" not in run.out
    assert "TERM=~/xterm" in run.out


def test_a_library_that_cannot_be_loaded_has_a_line(
    attncalc: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broken numpy is what one would ask it about."""
    import sys

    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    run = attncalc("doctor")
    assert run.code == 0
    assert "numpy does not load: ModuleNotFoundError" in told(run.out)["threads"]


def test_missing_libraries_are_reported(attncalc: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ['tokenizers>=0.21; extra == "models"', "no-such-thing>=1; extra == 'models'", "numpy"]
    monkeypatch.setattr(doctor, "_requirements", lambda: lines)
    monkeypatch.setattr(doctor.shutil, "which", lambda name: None)
    assert extras()["models"]["no-such-thing"] is None
    run = told(attncalc("doctor").out)
    assert "no-such-thing missing" in run["[models]"]
    assert run["LaTeX"] == "not found: attncalc lays out PDF pages itself"


def test_it_tells_a_wheel_from_a_clone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert facts()["installed"] == "from a clone"
    (tmp_path / "attncalc" / "samples").mkdir(parents=True)
    place = tmp_path / "attncalc" / "cli" / "commands" / "doctor.py"
    monkeypatch.setattr(doctor, "__file__", str(place))
    assert facts()["installed"] == "from a wheel"


def test_the_libraries_are_those_that_are_needed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = [re.split(r"[<>=]", each)[0] for each in project["dependencies"]]
    assert set(LIBRARIES) == set(needed)
    assert facts()["libraries"] == {name: metadata.version(name) for name in LIBRARIES}


def test_on_a_narrow_terminal_its_lines_are_broken_between_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = list(_lines(facts(), 40))
    assert max(map(len, lines)) <= 40
    assert "".join("".join(lines).split()) == "".join("".join(_lines(facts(), None)).split())


def test_issue_templates_ask_for_it() -> None:
    folder = ROOT / ".github" / "ISSUE_TEMPLATE"
    if not folder.is_dir():
        pytest.skip("outside the clone there are none")
    for place in folder.glob("*.yml"):
        if place.name != "config.yml":
            assert "attncalc doctor" in place.read_text(encoding="utf-8"), place
    assert "doctor" in COMMANDS
