"""Files are written whole or not at all."""

import os
import stat
import threading
from pathlib import Path
from typing import IO

import pytest
from conftest import Command

from attncalc import OutputError
from attncalc.writing import files
from attncalc.writing.files import check_folder, check_places, write_files


def test_a_file_is_written_with_the_usual_rights(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_bytes(b"")
    write_files({tmp_path / "new": b"content"})
    assert (tmp_path / "new").read_bytes() == b"content"
    assert (tmp_path / "new").stat().st_mode == plain.stat().st_mode


def test_an_existing_file_keeps_its_rights_and_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "real").chmod(0o640)
    (tmp_path / "link").symlink_to("real")
    write_files({tmp_path / "link": b"new"})
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"
    assert stat.S_IMODE((tmp_path / "real").stat().st_mode) == 0o640


def test_a_failure_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that fills up in the middle must not cost the file that was there."""
    (tmp_path / "kept").write_bytes(b"old")

    def no_space(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.Path, "replace", no_space)
    with pytest.raises(OutputError) as error:
        write_files({tmp_path / "kept": b"new"})
    assert str(error.value) == f"cannot write {tmp_path}/kept: No space left on device"
    assert os.listdir(tmp_path) == ["kept"]  # noqa: PTH208 - hidden files count
    assert (tmp_path / "kept").read_bytes() == b"old"


def test_a_device_is_written_to_and_not_replaced() -> None:
    write_files({Path(os.devnull): b"gone"})
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)


def test_places_without_a_folder_are_refused(tmp_path: Path) -> None:
    refused = {
        tmp_path: "it is a folder",
        tmp_path / "no" / "x": f"the folder {tmp_path}/no does not exist",
        tmp_path / "file" / "x": f"{tmp_path}/file is not a folder",
        tmp_path / "circle": "it is a link that leads back to itself",
        tmp_path / "dangling": f"the folder {tmp_path}/no does not exist",
        tmp_path / ("long" * 100): "File name too long",
        Path("/dev/fd/977"): "Bad file descriptor",
    }
    (tmp_path / "file").write_text("")
    (tmp_path / "circle").symlink_to("circle")
    (tmp_path / "dangling").symlink_to("no/x")
    for path, reason in refused.items():
        with pytest.raises(OutputError) as error:
            write_files({path: b""})
        assert str(error.value) == f"cannot write {path}: {reason}"


def test_folders_that_cannot_be_filled_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder, reason in {
        tmp_path / "file": "it is not a folder",
        tmp_path / "no" / "x": f"the folder {tmp_path}/no does not exist",
        tmp_path / ("long" * 100): "File name too long",
    }.items():
        with pytest.raises(OutputError) as error:
            write_files({folder / "x": b""}, folder=folder)
        assert str(error.value) == f"cannot write {folder}: {reason}"


def test_a_protected_output_is_refused_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user of the tests may have all permissions; so the system call is patched to refuse."""
    (tmp_path / "file").write_text("")
    denied: set[Path] = set()
    monkeypatch.setattr(os, "access", lambda place, _: Path(place) not in denied)
    for place, reason in {
        tmp_path / "file": "it is write-protected",
        tmp_path: f"no permission to create files in {tmp_path}",
    }.items():
        denied |= {place}
        with pytest.raises(OutputError) as error:
            check_places(tmp_path / ("file" if place != tmp_path else "new"))
        assert str(error.value).endswith(reason)
    with pytest.raises(OutputError, match="no permission to create files in it"):
        check_folder(tmp_path)


def test_an_open_file_is_appended_to(tmp_path: Path) -> None:
    """As a shell opens it: `-o /dev/fd/3 3>> log`."""
    log = tmp_path / "log"
    log.write_text("before\n")
    with log.open("ab") as file:
        write_files({Path(f"/dev/fd/{file.fileno()}"): iter(["after\n"])})
    assert log.read_text() == "before\nafter\n"
    with log.open("ab") as file:
        (tmp_path / "link").symlink_to(f"/dev/fd/{file.fileno()}")
        write_files({tmp_path / "link": print_to})
    assert log.read_text() == "before\nafter\nback\n"


def print_to(out: IO[bytes]) -> None:
    """Write as a writer of archives does, which goes back."""
    out.write(b"BACK\n")
    out.seek(0)
    out.write(b"back")


def test_a_pipe_is_written_while_it_is_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    write_files({tmp_path / "pipe": "content", tmp_path / "file": "beside"})
    reader.join()
    assert found == [b"content"]
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert (tmp_path / "file").read_text() == "beside"


def test_a_page_for_an_open_file_is_written_without_its_map(
    attncalc: Command, tmp_path: Path
) -> None:
    with (tmp_path / "page.md").open("wb") as file:
        done = attncalc("self", "--format", "markdown", "-o", f"/dev/fd/{file.fileno()}")
    assert done.code == 0, done.err
    assert "the map is left out" in done.err
    assert "-map.png" not in (tmp_path / "page.md").read_text(encoding="utf-8")
