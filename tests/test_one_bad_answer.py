"""One bad answer never stops a class: its row says what was wrong, and the others are marked."""

import csv
import io
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import GOOD, Command

from attncalc.grading.marking import mark

pytestmark = pytest.mark.campaign(4)

RIGHT = '{"Q": [[1, 2], [3, 4]]}'


def _folder(place: Path) -> None:
    place.mkdir()


def _sheets(place: Path) -> None:
    place.mkdir()
    os.mkfifo(place / "Q.csv")


# what lies there, how it is created, and what its row says
BAD: dict[str, tuple[Callable[[Path], object], str]] = {
    "pipe.md": (os.mkfifo, "a pipe or a device, where a file is needed"),
    "device.md": (lambda place: place.symlink_to("/dev/zero"), "a link, which is not followed"),
    "nowhere.md": (lambda place: place.symlink_to("gone"), "a link, which is not followed"),
    "circle.md": (lambda place: place.symlink_to("circle.md"), "a link, which is not followed"),
    "folder.md": (_folder, "this folder has no step"),
    "sheets": (_sheets, "a pipe or a device, where a file is needed"),
    "noise.txt": (lambda place: place.write_bytes(b"\x81\x02\x00\xff" * 50), "not text in UTF-8"),
    "latin.md": (
        lambda place: place.write_bytes(b"Q = [1 2] \x81\xe9"),
        "not text in UTF-8 (line 1)",
    ),
    "null.md": (lambda place: place.write_bytes(b"Q = [1 2]\0"), "a binary file"),
    "empty.json": (lambda place: place.write_bytes(b""), "empty"),
    "deep.json": (lambda place: place.write_text("[" * 10_000), "nested too deeply"),
    "torn.npz": (lambda place: place.write_bytes(b"PK\x03\x04torn"), "torn.npz: "),
}


def rows(sheet: str) -> dict[str, dict[str, str]]:
    return {Path(row["answer"]).name: row for row in csv.DictReader(io.StringIO(sheet))}


@pytest.fixture
def in_class(
    attncalc: Command, tmp_path: Path
) -> Callable[[], tuple[int, dict[str, dict[str, str]]]]:
    (tmp_path / "in.json").write_text(json.dumps(GOOD))
    (tmp_path / "class").mkdir()
    for name in ("ada.json", "zoe.json"):
        (tmp_path / "class" / name).write_text(RIGHT)

    def marked() -> tuple[int, dict[str, dict[str, str]]]:
        done = attncalc("check", "in.json", "class", "--steps", "Q", "--format", "csv")
        assert done.err == ""
        return done.code, rows(done.out)

    return marked


def test_a_row_reports_an_error_and_the_others_are_marked(
    in_class: Callable[[], tuple[int, dict[str, dict[str, str]]]], tmp_path: Path
) -> None:
    for name, (make, _) in BAD.items():
        make(tmp_path / "class" / name)
    code, found = in_class()
    assert code == 1
    assert found.keys() == {"ada.json", "zoe.json", *BAD}
    for name, row in found.items():
        wrong = BAD.get(name, (None, ""))[1]
        assert wrong in row["note"]
        assert (row["percent"] == "100 %") is (name not in BAD)


def test_a_row_says_that_a_file_may_not_be_read(
    in_class: Callable[[], tuple[int, dict[str, dict[str, str]]]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The user of the tests may be allowed to read everything; so the system call is patched."""
    (tmp_path / "class" / "closed.json").write_text(RIGHT)
    (tmp_path / "class" / "closed").mkdir()
    listed, opened = Path.iterdir, Path.open

    def refused(way: Callable[..., object]) -> Callable[..., object]:
        def asked(self: Path, *arguments: object) -> object:
            if self.stem == "closed":
                raise PermissionError(13, "Permission denied", str(self))
            return way(self, *arguments)

        return asked

    monkeypatch.setattr(Path, "iterdir", refused(listed))
    monkeypatch.setattr(Path, "open", refused(opened))
    code, found = in_class()
    assert code == 1
    for name in ("closed", "closed.json"):
        assert found[name]["note"].endswith(f"{name}: cannot be read: Permission denied")
    assert found["zoe.json"]["percent"] == "100 %"


@pytest.mark.parametrize("at", ["reading", "marking"])
def test_a_row_reports_a_bug_of_attncalc(
    in_class: Callable[[], tuple[int, dict[str, dict[str, str]]]],
    monkeypatch: pytest.MonkeyPatch,
    at: str,
) -> None:
    from attncalc.cli.commands import check
    from attncalc.reading.scans import read_file

    def fails(*given: object) -> object:
        if "ada" in str(given[0]) or "ada" in getattr(given[1], "place", ""):
            raise ZeroDivisionError("by nothing")
        return (read_file if at == "reading" else mark)(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(check, "read_file" if at == "reading" else "mark", fails)
    code, found = in_class()
    assert code == 1
    assert "an internal error" in found["ada.json"]["note"]
    assert "ZeroDivisionError: by nothing" in found["ada.json"]["note"]
    assert found["zoe.json"]["percent"] == "100 %"


def test_several_that_are_named_are_a_class_too(attncalc: Command, tmp_path: Path) -> None:
    (tmp_path / "in.json").write_text(json.dumps(GOOD))
    (tmp_path / "ada.json").write_text(RIGHT)
    (tmp_path / "none").mkdir()
    done = attncalc(
        "check", "in.json", "gone.md", "none", "ada.json", "--steps", "Q", "--format", "csv"
    )
    found = rows(done.out)
    assert (done.code, found["ada.json"]["percent"]) == (1, "100 %")
    assert found["gone.md"]["note"] == "gone.md: no such file"
    assert "none" in found["none"]["note"]


def test_where_none_can_be_read_the_code_is_2(attncalc: Command, tmp_path: Path) -> None:
    (tmp_path / "in.json").write_text(json.dumps(GOOD))
    done = attncalc("check", "in.json", "gone.md", "lost.md", "--format", "csv")
    assert done.code == 2
    assert {row["note"] for row in rows(done.out).values()} == {
        "gone.md: no such file",
        "lost.md: no such file",
    }
