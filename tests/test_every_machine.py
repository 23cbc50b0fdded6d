"""What Windows and macOS do otherwise, held by tests that need neither."""

import errno
import json
import os
import shutil
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
from conftest import BUNDLED, GOOD, ROOT, Command, clean_environment, mostly_slow

from attncalc import OutputError, read_problem
from attncalc.base import sources, workers
from attncalc.base.text import as_key, for_any_system, what_forbids
from attncalc.cli import streams
from attncalc.cli.app import COMMANDS
from attncalc.problem.samples import KERNELS, SAMPLES
from attncalc.problem.serialising import in_json
from attncalc.writing import files as writing
from attncalc.writing.files import write_files
from attncalc.writing.reports.many import _apart

pytestmark = pytest.mark.campaign(4)

# -- consoles that have few letters ---------------------------------------------------------------

CONSOLES = ("cp1252", "cp437", "ascii")
PRINTED = [
    ("conform", "right.py", "--quick", "--only", "scale"),
    ("train", "target.json", "--steps", "1"),
    ("self", "in.json"),
    ("self", "in.json", "--work", "--explain", "--backward"),
    ("self", "in.json", "--format", "html"),
    ("self", "in.json", "--format", "latex", "--work"),
    ("cross",),
    ("encoder", "--only", "Y"),
    ("decoder", "--only", "Y"),
    ("vit", "--only", "A"),
    ("explain", "in.json"),
    ("vary", "in.json", "scale=0:inf"),
    ("simulate", "in.json", "X ~ U(0, 1)", "--draws", "3"),
    ("count", "in.json"),
    ("playground", "in.json"),
    ("slides", "in.json"),
    ("why", "in.json", "O[1,1]"),
    ("generate", "model", "--tokens", "2 4", "--count", "2"),
    ("aim", "average.json", "1/2 v_a + 1/2 v_b"),
    ("check", "in.json", "mine.txt"),
    ("check", "in.json", "mine.txt", "--reading"),
    ("new", "--seed", "7"),
    ("open", "model", "--tokens", "2 4", "--layer", "0", "--only", "A"),
    ("export", "in.json", "--to", "moodle"),
    ("samples",),
    ("schema",),
    ("equations",),
    ("doctor", "in.json"),
    ("help", "fields"),
    ("plot", "in.json", "-o", "map.png"),
    # and what is refused
    ("self", "猫.json"),
    ("self", "wrong.json"),
    ("self", "--decimals", "猫"),
    ("self", "--nö"),
    ("self", "in.json", "-o", "nö/猫.md"),
    ("check", "in.json", "猫.txt"),
    ("plot", "in.json", "-o", "map.猫"),
]
LABELLED = {**GOOD, "title": "Ψ: 猫 – “€”", "labels": ["œuf", "猫"], "decimals": 3}


def test_every_command_is_printed_to_them() -> None:
    assert {called[0] for called in PRINTED} == set(COMMANDS)


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "in.json").write_text(json.dumps(LABELLED), encoding="utf-8")
    (tmp_path / "wrong.json").write_text('{"X猫": [[1]]}', encoding="utf-8")
    (tmp_path / "mine.txt").write_text("Q = [1 2; 3 4]\nK = [猫 1]\n", encoding="utf-8")
    shutil.copy(BUNDLED / "average.json", tmp_path)
    shutil.copytree(BUNDLED / "model", tmp_path / "model")
    shutil.copy(KERNELS[0].path / "right.py", tmp_path)
    shutil.copy(BUNDLED / "gradients-target.json", tmp_path / "target.json")
    return tmp_path


@pytest.mark.campaign(3)
@pytest.mark.parametrize(
    ("console", "called"),
    mostly_slow([pytest.param(*each) for each in product(CONSOLES, PRINTED)], every=7),
)
def test_a_console_of_few_letters_shows_all_characters(
    called: tuple[str, ...], console: str, attncalc: Command, here: Path
) -> None:
    """What a console lacks is spelled out: nothing is lost, and nothing is a question mark."""
    plain = attncalc(*called)
    assert plain.code in (0, 1, 2), plain.err
    (here / "map.png").unlink(missing_ok=True)
    run = attncalc(*called, PYTHONIOENCODING=console)
    assert run.code == plain.code
    for text, whole in ((run.out, plain.out), (run.err, plain.err)):
        assert "Traceback" not in text
        assert "internal error" not in text
        assert text.count("?") <= whole.count("?")
        if "猫" in whole:
            assert "\\u732b" in text


# -- line ends ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("each", "end"), mostly_slow([pytest.param(*p) for p in product(SAMPLES, ["\r\n", "\r"])], 7)
)
def test_lines_may_end_as_windows_and_old_macs_end_them(
    each: object, end: str, tmp_path: Path
) -> None:
    path: Path = each.path  # type: ignore[attr-defined]
    if path.suffix not in (".json", ".csv"):
        pytest.skip("no text")
    turned = tmp_path / path.name
    turned.write_bytes(path.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", end.encode()))
    assert in_json(read_problem(turned)) == in_json(read_problem(path))


@pytest.mark.slow
def test_pages_with_such_lines_are_read_alike(attncalc: Command, tmp_path: Path) -> None:
    attncalc("samples", "self", "-o", "in.json")
    for name in ("key.md", "key.tex", "key.csv"):
        assert attncalc("self", "in.json", "-o", name).code == 0
        page = (tmp_path / name).read_bytes()
        assert b"\r" not in page  # what is written is the same everywhere
        (tmp_path / name).write_bytes(page.replace(b"\n", b"\r\n"))
        run = attncalc("check", "in.json", name)
        assert (run.code, "Score: 7.0 of 7" in run.out) == (0, True), name


# -- names of files -------------------------------------------------------------------------------

FORBIDDEN = [
    *("CON", "nul.txt", "Aux.md", "com1", "LPT9.png", "com¹.txt", "aux .md"),
    *("ab:c", "a<b", 'a"b', "a|b", "a?b", "a*b", "page.", "page ", "a\x07b"),
]


@pytest.mark.parametrize("name", FORBIDDEN)
def test_names_that_windows_reserves_are_changed(name: str) -> None:
    assert what_forbids(name)
    assert what_forbids(for_any_system(name)) == ""
    assert for_any_system(for_any_system(name)) == for_any_system(name)


@pytest.mark.parametrize(
    "name", ["key.md", ".hidden", "console.txt", "com10", "é", "猫.md", "a-b_c.d"]
)
def test_other_names_stay(name: str) -> None:
    assert (what_forbids(name), for_any_system(name)) == ("", name)


@pytest.mark.parametrize("name", [name for name in FORBIDDEN if name.isprintable()])
def test_on_windows_such_an_output_is_refused_before_any_work(
    name: str, attncalc: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """There ab:c would be a hidden stream of ab, and nul.txt nothing at all."""
    monkeypatch.setattr(writing, "ON_WINDOWS", True)
    run = attncalc("self", "--format", "markdown", "-o", name)
    assert (run.code, run.out) == (2, "")
    assert run.err.endswith(
        f"error: cannot write {name}: the name {name} {what_forbids(name)}, which Windows does "
        f"not allow\n"
    )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("place", ["sub/key.csv", "../up.csv"])
def test_on_windows_other_outputs_are_written(
    place: str, attncalc: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(writing, "ON_WINDOWS", True)
    (tmp_path / "sub").mkdir()
    assert attncalc("self", "-o", place).code == 0
    (tmp_path / "../up.csv").unlink(missing_ok=True)


def test_drives_and_shares_are_not_part_of_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    for place in (r"C:\homework\key.md", r"\\server\share\key.md", "C:key.md", "D:/a/../b/key.md"):
        writing._check_name(Path(place))
    for place in (r"C:\homework\nul", r"\\server\share\a?.md", r"C:\con\key.md"):
        with pytest.raises(OutputError, match="which Windows does not allow"):
            writing._check_name(Path(place))


def test_a_path_with_a_drive_is_a_file_and_no_study(attncalc: Command) -> None:
    r"""C:\ is neither `scale=…` nor a draw: the message names it whole."""
    place = r"C:\Users\Ada\in.json"
    for called in (
        ("self", place),
        ("vary", place, "scale=0:1"),
        ("simulate", place, "X ~ U(0, 1)"),
        ("aim", place, "v_1"),
        ("check", place, place),
        ("doctor", place),
    ):
        run = attncalc(*called)
        assert (run.code, run.out) == (2, "")
        assert run.err.startswith(f"error: {place}: "), (called, run.err)


def test_the_clone_can_be_had_on_every_system() -> None:
    """No file of it has a name that Windows has not, nor one that differs from another by case."""
    asked = ["git", "ls-files", "-z"]
    done = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    names = done.stdout.split("\0")[:-1]
    if done.returncode or not names:
        pytest.skip("outside a clone there is no list of its files")
    assert not [name for name in names if any(map(what_forbids, name.split("/")))]
    assert len({as_key(name) for name in names}) == len(names)
    assert (ROOT / ".gitattributes").read_text().endswith("* -text\n")


def test_pages_of_a_class_have_names_that_every_system_has() -> None:
    names = ["CON.txt", "aux.md", "what?.py", "Ada.txt", "ada.md", "é.txt", "e\u0301.md", "a..md"]
    found = _apart([Path(name) for name in names])
    assert all(what_forbids(name) == "" for name in found)
    assert len({name.casefold() for name in found}) == len(names)


def test_two_outputs_that_differ_only_by_case_are_refused(
    attncalc: Command, tmp_path: Path
) -> None:
    """Where case does not matter, the second would be written over the first."""
    (tmp_path / "mine.txt").write_text("Q = [1 2; 3 4]")
    (tmp_path / "in.json").write_text(json.dumps(GOOD))
    run = attncalc("check", "in.json", "mine.txt", "-o", "Marks.csv", "--csv", "marks.CSV")
    assert (run.code, run.out) == (2, "")
    assert "they are the same file; use two names" in run.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.json", "mine.txt"]


def test_inputs_are_not_overwritten_on_file_systems_without_case(
    attncalc: Command, tmp_path: Path
) -> None:
    """A second name of one file simulates such a folder: both have the same inode."""
    (tmp_path / "in.json").write_text(json.dumps(GOOD))
    (tmp_path / "IN.JSON").hardlink_to(tmp_path / "in.json")
    run = attncalc("self", "in.json", "-o", "IN.JSON")
    assert (run.code, run.out) == (2, "")
    assert "it is in.json, which was read" in run.err


@pytest.mark.slow
def test_files_without_inode_numbers_are_compared_by_path(
    attncalc: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As FAT on Windows: with number 0 for all, each output would be what was read."""
    real = Path.stat

    def unnumbered(path: Path, **how: bool) -> os.stat_result:
        found = list(real(path, **how))
        found[1] = 0
        return os.stat_result(found)

    (tmp_path / "in.json").write_text(json.dumps(GOOD))
    (tmp_path / "old.md").write_text("")
    monkeypatch.setattr(sources.Path, "stat", unnumbered)
    assert attncalc("self", "in.json", "-o", "old.md").code == 0
    run = attncalc("self", "in.json", "--format", "json", "-o", "./in.json")
    assert "it is in.json, which was read" in run.err


# -- files that are open --------------------------------------------------------------------------


def test_a_file_that_is_open_elsewhere_is_one_message_and_leaves_nothing(
    attncalc: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows replaces no file that another program, as Excel, has open."""
    (tmp_path / "marks.csv").write_text("old")
    monkeypatch.setattr(writing, "ON_WINDOWS", True)
    refused = PermissionError(errno.EACCES, "Access is denied")

    def replace(path: Path, target: Path) -> None:
        raise refused

    monkeypatch.setattr(writing.Path, "replace", replace)
    run = attncalc("self", "-o", "marks.csv")
    assert (run.code, run.out) == (2, "")
    assert run.err.endswith(
        "error: cannot write marks.csv: Access is denied (if it is open in another program, close "
        "it there)\n"
    )
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"marks.csv": "old"}


def test_of_a_set_of_files_none_is_replaced_where_one_is_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "ab":
        (tmp_path / name).write_text("old")
    monkeypatch.setattr(writing, "ON_WINDOWS", True)
    real = Path.replace

    def replace(path: Path, target: Path) -> Path:
        if Path(target).name == "b":
            raise PermissionError(errno.EACCES, "Access is denied")
        return real(path, target)

    monkeypatch.setattr(writing.Path, "replace", replace)
    with pytest.raises(OutputError, match="Access is denied"):
        write_files({tmp_path / "a": "new", tmp_path / "b": "new"})
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "old", "b": "old"}


# -- processes ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_where_processes_cannot_be_copied_new_ones_work(
    attncalc: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A set is made and marked as on one core, where each worker starts from nothing."""
    roster = "name\n" + "\n".join(f"Student {n}" for n in range(6))
    (tmp_path / "roster.csv").write_text(roster)
    (tmp_path / "spec.json").write_text(
        json.dumps({"problems": [{"tokens": 2}], "seed": 7, "secret": "5e" * 16})
    )
    made = ("new", "--class", "roster.csv", "--problems", "spec.json")
    assert attncalc(*made, "-o", "one/", "--jobs", "1").code == 0
    monkeypatch.setattr(workers, "START", "spawn")
    # what a worker imports is found where we found it
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    assert attncalc(*made, "-o", "two/", "--jobs", "2").code == 0
    for path in sorted((tmp_path / "one").rglob("*")):
        if path.is_file():
            other = tmp_path / "two" / path.relative_to(tmp_path / "one")
            assert other.read_bytes() == path.read_bytes(), path
    (tmp_path / "answers").mkdir()
    for n in range(6):
        shutil.copy(tmp_path / f"one/keys/Student-{n}/key.md", tmp_path / f"answers/Student-{n}.md")
    run = attncalc("check", "two/", "answers", "--csv", "marks.csv", "--jobs", "2")
    assert run.code == 0, run.err
    assert (tmp_path / "marks.csv").read_text().count("100 %") == 6


def test_signals_that_windows_has_not_are_not_missed(tmp_path: Path) -> None:
    """Windows has no SIGHUP and no SIGPIPE: the whole command runs without them."""
    program = (
        "import signal\n"
        "for name in ('SIGHUP', 'SIGPIPE', 'SIGQUIT', 'SIGKILL', 'SIGALRM', 'SIGUSR1'):\n"
        "    delattr(signal, name)\n"
        "import sys; sys.argv = ['attncalc', 'self', '-o', 'key.csv']\n"
        "from attncalc.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=clean_environment() | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    assert (tmp_path / "key.csv").stat().st_size > 100


def test_a_closed_pipe_is_quiet_on_windows_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """There a write to it is an invalid argument, and no broken pipe."""
    invalid = OSError(errno.EINVAL, "Invalid argument")
    assert not streams.nobody_reads(invalid)
    assert streams.nobody_reads(BrokenPipeError())
    monkeypatch.setattr(streams.sys, "platform", "win32")
    assert streams.nobody_reads(invalid)
    assert not streams.nobody_reads(OSError(errno.ENOSPC, "No space left on device"))
