"""Files are written whole or not at all."""

import os
import stat
from pathlib import Path

import pytest

from attncalc import OutputError
from attncalc.writing import files
from attncalc.writing.files import write_files


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


def test_a_failure_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_places_that_cannot_hold_a_file_are_refused(tmp_path: Path) -> None:
    refused = {
        tmp_path: "it is a folder",
        tmp_path / "no" / "x": f"the folder {tmp_path}/no does not exist",
    }
    for path, reason in refused.items():
        with pytest.raises(OutputError) as error:
            write_files({path: b""})
        assert str(error.value) == f"cannot write {path}: {reason}"
