"""A set of files is written whole or not at all, at whichever call the disk is full."""

import errno
import io
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import killing
import pytest
from conftest import GOOD, IN_FULL, Command, clean_environment, mostly_slow, outputs_of_the_command

from attncalc import OutputError
from attncalc.base.signals import held_back
from attncalc.cli import targets
from attncalc.problem.samples import KERNELS, sample
from attncalc.writing import files as writing
from attncalc.writing.files import Content, write_files

ANSWER = '{"Q": [[1, 2], [3, 4]], "S": [[1, 2], [3, 4]]}'
KEYS = {"K": [[1, 0], [0, 1]], "V": [[1, 2], [3, 4]], "Q": [[1, 1]]}
CROSS = {"X1": GOOD["X"], "X2": GOOD["X"]} | {n: m for n, m in GOOD.items() if n != "X"}

SPEC = {"problems": [{}], "formats": ["markdown"], "seed": 7}

WRITING = [
    ("self", "in.json", "-o", "page.md"),
    ("self", "in.json", "--blank", "-o", "page.html"),
    ("self", "in.json", "--only", "Q,O", "-o", "tables/"),
    ("self", "in.json", "-o", "page.npz"),
    ("cross", "cross.json", "--work", "-o", "page.tex"),
    ("self", "in.json", "--practice", "-o", "page.html"),
    ("cross", "cross.json", "--step", "0.1", "-o", "back.tex"),
    ("encoder", "in.json", "--no-residual", "-o", "layer.md"),
    ("decoder", "in.json", "--no-residual", "-o", "layer.json"),
    ("vit", "vit.json", "-o", "patches.md"),
    ("plot", "in.json", "-o", "map.svg"),
    ("plot", "in.json", "--kind", "heatmap", "--of", "dS", "-o", "ds.svg"),
    ("plot", "vit.json", "-o", "image.png"),
    ("check", "in.json", "mine.json", "-o", "marks.json", "--csv", "marks.csv"),
    ("check", "in.json", "class", "-o", "marked/", "--csv", "marks.csv"),
    ("check", "in.json", "class", "-o", "marked/", "--format", "html"),
    ("check", "set", "answers", "--csv", "marks.csv", "--overview", "class.md"),
    ("check", "in.json", "mine.json", "--reading", "-o", "read.json"),
    ("explain", "in.json", "-o", "told.md"),
    ("vary", "in.json", "scale=0.1,1", "-o", "curve.csv"),
    ("simulate", "in.json", "X ~ U(0, 1)", "--draws", "3", "-o", "spread.csv"),
    ("aim", "keys.json", "v_1", "-o", "aim.md", "--save", "aimed.json"),
    ("open", "model", "--tokens", "2 4", "--layer", "0", "--only", "A", "-o", "layer.md"),
    ("new", "--seed", "7", "-o", "new.json"),
    ("new", "--class", "roster.csv", "--problems", "spec.json", "-o", "made/"),
    ("export", "in.json", "--to", "moodle", "-o", "question.xml"),
    ("export", "in.json", "--to", "prairielearn", "-o", "question"),
    ("samples", "cross", "-o", "mine.txt"),
    ("samples", "answers", "-o", "answers"),
    ("schema", "problem", "-o", "problem.schema.json"),
    ("equations", "softmax", "-o", "equations.txt"),
    ("doctor", "in.json", "-o", "doctor.txt"),
    ("generate", "model", "--tokens", "2 4", "--count", "2", "-o", "tokens.md"),
    ("train", "target.json", "--steps", "1", "-o", "loss.csv", "--save", "trained.json"),
    ("count", "in.json", "-o", "counts.md"),
    ("playground", "in.json", "-o", "play.html"),
    ("slides", "in.json", "-o", "talk.html"),
    ("why", "in.json", "O[1,1]", "-o", "why.html"),
    ("conform", "kernel.py", "--quick", "--only", "scale", "-o", "report.xml"),
    ("conform", "kernel.py", "--quick", "--only", "scale", "--badge", "badge.svg"),
]

Calls = list[tuple[dict[Path, list[bytes]], Path | None]]


@pytest.mark.slow
def test_every_command_that_writes_is_among_them() -> None:
    written = {(called[0], flag) for called in WRITING for flag in called if flag[0] == "-"}
    assert outputs_of_the_command() <= written


@pytest.fixture(params=mostly_slow(WRITING, 3), ids=" ".join)
def asked(
    request: pytest.FixtureRequest,
    attncalc: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> tuple[dict[Path, bytes], Path | None]:
    """Return what a command asks to be written, in a folder where nothing is written yet."""
    calls: list[tuple[dict[Path, bytes], Path | None]] = []

    def noted(files: Mapping[Path, Content], folder: Path | None = None) -> None:
        calls.append(({path: whole(content) for path, content in files.items()}, folder))

    (tmp_path / "in.json").write_text(json.dumps(GOOD))
    (tmp_path / "vit.json").write_text(sample("vit").path.read_text())
    (tmp_path / "cross.json").write_text(json.dumps(CROSS))
    (tmp_path / "keys.json").write_text(json.dumps(KEYS))
    shutil.copytree(sample("model").path, tmp_path / "model")
    shutil.copy(KERNELS[0].path / "right.py", tmp_path / "kernel.py")
    shutil.copy(sample("gradients-target").path, tmp_path / "target.json")
    (tmp_path / "roster.csv").write_text("name\nada\n")
    (tmp_path / "spec.json").write_text(json.dumps(SPEC))
    (tmp_path / "set" / "ada").mkdir(parents=True)
    (tmp_path / "set" / "ada" / "problem.json").write_text(json.dumps(GOOD))
    handed = {"problem": "1", "file": "ada/problem.json"}
    listed = {"students": [{"name": "ada", "folder": "ada", "problems": [handed]}]}
    (tmp_path / "set" / "manifest.json").write_text(json.dumps(listed))
    for place in ("mine.json", "class/ada.json", "class/bob.json", "answers/ada.json"):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).write_text(ANSWER)
    monkeypatch.setattr(targets, "write_files", noted)
    assert attncalc(*request.param).code in (0, 1)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(writing, "AT_ONCE", 2)  # threads cost more than these files
    (only,) = calls  # all that a command writes is one set
    return only


def whole(content: Content) -> bytes:
    if callable(content):
        return writing.as_bytes(content)
    pieces = [content] if isinstance(content, str | bytes) else content
    return b"".join(each.encode() if isinstance(each, str) else each for each in pieces)


class Disk:
    """What fails at a call: the first, the second, …; and where it is full, at all that follow."""

    def __init__(self, fails_at: int, *, stays_full: bool) -> None:
        self.calls, self.fails_at, self.stays_full = 0, fails_at, stays_full

    @property
    def has_failed(self) -> bool:
        """Whether it is full by now."""
        return self.calls >= self.fails_at

    def asked(self, *, takes_space: bool) -> None:
        """Fail where it is time."""
        self.calls += 1
        if self.calls == self.fails_at or (self.has_failed and self.stays_full and takes_space):
            raise OSError(errno.ENOSPC, "No space left on device")


def use(disk: Disk, patch: pytest.MonkeyPatch) -> None:
    """Have everything that changes the disk ask this one first."""

    class Raw(io.FileIO):
        def write(self, data: Any, /) -> int:
            disk.asked(takes_space=True)
            return super().write(bytes(data)[: max(1, len(data) // 2)])

    def opened(place: Path, mode: str, opener: Any) -> io.BufferedWriter:
        disk.asked(takes_space=True)
        return io.BufferedWriter(Raw(place, mode.replace("b", ""), opener=opener))

    def asking(owner: Any, name: str, *, takes_space: bool) -> None:
        real = getattr(owner, name)

        def called(*arguments: Any, **options: Any) -> Any:
            disk.asked(takes_space=takes_space)
            return real(*arguments, **options)

        patch.setattr(owner, name, called)

    patch.setattr(writing, "open", opened, raising=False)
    patch.setattr(os, "fsync", lambda descriptor: disk.asked(takes_space=True))  # and no wait
    asking(Path, "mkdir", takes_space=True)
    asking(Path, "hardlink_to", takes_space=True)
    asking(Path, "replace", takes_space=False)
    asking(Path, "chmod", takes_space=False)


def everything(folder: Path) -> dict[str, tuple[int, bytes | None]]:
    """Return all there is by name, hidden or not: its rights and what it holds."""
    return {
        str(path.relative_to(folder)): (
            path.stat().st_mode,
            path.read_bytes() if path.is_file() else None,
        )
        for path in folder.rglob("*")
    }


@pytest.mark.slow
def test_a_disk_that_fails_at_any_call_changes_nothing(
    asked: tuple[dict[Path, bytes], Path | None], tmp_path: Path
) -> None:
    """Whether none, some or all of the files were there, and whether it stays full or not."""
    files, folder = asked
    for there, stays_full in ((0, True), (2, False), (1, True)):
        for path in files:
            path.unlink(missing_ok=True)
        if folder is not None and folder.exists():
            shutil.rmtree(folder)
        if folder is not None and there:
            folder.mkdir()
            for path in files:
                path.parent.mkdir(parents=True, exist_ok=True)
        for path in list(files)[::there] if there else ():
            path.write_bytes(b"before")
            path.chmod(0o640)
        fail_at_each_call(files, folder, tmp_path, stays_full=stays_full)


def fail_at_each_call(
    files: dict[Path, bytes], folder: Path | None, tmp_path: Path, *, stays_full: bool
) -> None:
    before, failures = everything(tmp_path), 0
    for call in range(1, 1000):
        disk = Disk(call, stays_full=stays_full)
        with pytest.MonkeyPatch.context() as patch:
            use(disk, patch)
            said = written(files, folder)
        if said is None:
            break
        failures += 1
        assert "No space left on device" in said
        assert everything(tmp_path) == before
    assert failures > len(files) * 2  # its making, its writing
    after = everything(tmp_path)
    around = {parent for path in files for parent in path.parents}
    assert after.keys() - before.keys() <= {str(path) for path in (*files, folder, *around)}
    for path, content in files.items():
        assert path.read_bytes() == content


def written(files: Mapping[Path, bytes], folder: Path | None) -> str | None:
    """Write a set, and return the error if that fails."""
    try:
        write_files(files, folder)
    except OutputError as error:
        return str(error)
    return None


def test_a_set_of_many_is_put_on_the_disk_before_any_is_moved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a power cut may leave names that lead to nothing."""
    done: list[str] = []
    sync, replace = os.fsync, Path.replace

    def synced(descriptor: int) -> None:
        done.append("folder" if os.path.isdir(descriptor) else "file")  # noqa: PTH112 - of a number
        sync(descriptor)

    def moved(self: Path, target: Path) -> Path:
        done.append("move")
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", moved)
    write_files({tmp_path / f"{number}": b"content" for number in range(20)})
    assert done == ["file"] * 20 + ["move"] * 20 + ["folder"]
    done.clear()
    write_files({tmp_path / "new" / "page": b"content"}, folder=tmp_path / "new")
    assert done == ["file", "folder", "move", "folder"]


def test_a_failed_restore_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some disks have one name for a file alone, and then nothing can be kept."""
    replace = Path.replace

    def moved(self: Path, target: Path) -> Path:
        if target.name == "b":
            raise PermissionError(1, "Operation not permitted")
        return replace(self, target)

    def refused(self: Path, target: Path) -> None:
        raise PermissionError(1, "Operation not permitted")

    for name in ("a", "b"):
        (tmp_path / name).write_text("before")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Path, "replace", moved)
    assert written({Path("a"): b"x", Path("b"): b"y"}, None) == (
        "cannot write b: Operation not permitted"
    )
    assert Path("a").read_text() == "before"
    monkeypatch.setattr(Path, "hardlink_to", refused)
    assert written({Path("a"): b"x", Path("b"): b"y"}, None) == (
        "cannot write b: Operation not permitted; written before that: a"
    )
    assert sorted(os.listdir()) == ["a", "b"]  # noqa: PTH208 - hidden files count


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_while_files_are_written_leaves_none(tmp_path: Path, name: str) -> None:
    """It comes between two pieces of a text, when others of the set are already beside theirs."""
    program = (
        "import os, signal, sys; from pathlib import Path\n"
        "from attncalc.base.signals import end_with_a_line\n"
        "from attncalc.writing.files import write_files\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "end_with_a_line()\n"
        "def text():\n"
        "    yield 'a'\n"
        f"    os.kill(os.getpid(), signal.{name})\n"
        "    assert len(os.listdir()) == 2\n"
        "    yield 'b'\n"
        "write_files({Path('first'): b'whole', Path('second'): text()})\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=clean_environment() | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        check=False,
        timeout=300,
    )
    what, code = ("interrupted", 130) if name == "SIGINT" else ("ended by SIGTERM", 143)
    assert done.stderr.decode() == f"error: {what}: no file is incomplete\n"
    assert done.returncode == code
    assert os.listdir(tmp_path) == []  # noqa: PTH208 - hidden files count


def test_delayed_signals_arrive_at_the_end() -> None:
    come: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: come.append(number))
    try:
        with held_back() as came:
            signal.raise_signal(signal.SIGTERM)
            assert (come, came) == ([], [signal.SIGTERM])
        assert come == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, before)


RUNS = 20 if IN_FULL else 8


@pytest.mark.slow
@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGINT"])
def test_interrupted_runs_leave_complete_files(name: str) -> None:
    found = killing.campaign(RUNS, getattr(signal, name))
    assert found["half"] == 0
    assert found["each file whole"] == RUNS
    if name != "SIGKILL":
        assert found["some written"] == found["temporary file left"] == found["?"] == 0
