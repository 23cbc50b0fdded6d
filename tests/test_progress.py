"""The progress bar: only on a terminal."""

import io

import pytest

from attncalc.cli import streams


class Terminal(io.StringIO):
    """A standard error that a person looks at."""

    def isatty(self) -> bool:
        """Say that it is one."""
        return True


def shown(monkeypatch: pytest.MonkeyPatch, patience: float) -> str:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr(streams, "PATIENCE", patience)
    with streams.reporting() as report:
        assert report is not None
        for done in range(1, 5):
            report(done, 4)
    return terminal.getvalue()


def test_a_wait_shows_a_progress_bar_and_removes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(monkeypatch, patience=0) == (
        "\r[#######-----------------------]  25 %"
        "\r[###############---------------]  50 %"
        "\r[######################--------]  75 %"
        "\r[##############################] 100 %"
        "\r" + " " * 40 + "\r"
    )


def test_a_quick_run_shows_no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(monkeypatch, patience=60) == ""


def test_a_log_file_gets_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", io.StringIO())
    with streams.reporting() as report:
        assert report is None
