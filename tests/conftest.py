"""What tests share: the command as a person runs it, problems to break, and how much is tried."""

import io
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).parent.parent

SHARE = 6
"""Of the random problems that `pytest -m slow` tries, plain `pytest` tries one in so many."""


@dataclass(frozen=True)
class Run:
    """What one run of the command printed, and how it ended."""

    code: int
    out: str
    err: str


Command = Callable[..., Run]


def pytest_configure(config: pytest.Config) -> None:
    """Make this process an environment to run the command in, and note how much is to be tried."""
    global _THOROUGH
    asked = str(config.option.markexpr)
    _THOROUGH = bool(re.search(r"(?<!not )\bslow\b", asked))
    for name in set(os.environ) - set(clean_environment()):
        del os.environ[name]
    # Typer reads the one when it is imported; rich would else measure the tester's own terminal
    os.environ |= {"_TYPER_FORCE_DISABLE_TERMINAL": "1", "COLUMNS": "80", "LINES": "25"}


_THOROUGH = False


SLOW = pytest.mark.slow
"""Tries more of the same: see `many` and `some_of`."""


def some_of(count: int) -> list[Any]:
    """Return seeds from 0: a share of them for plain `pytest`, and the others for `-m slow`."""
    few = -(-count // SHARE)
    return [*range(few), *(pytest.param(seed, marks=SLOW) for seed in range(few, count))]


def many(examples: int, **changes: Any) -> Callable[..., Any]:
    """Return what makes a test a property of random problems, however slow the machine.

    `pytest -m slow` tries so many examples of it, and plain `pytest` a share of them: what
    plain `pytest` tries is the same every time, so that it fails on a change alone.
    """
    checks = settings(
        max_examples=examples if _THOROUGH else -(-examples // SHARE),
        derandomize=not _THOROUGH,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        **changes,
    )
    return lambda test: SLOW(checks(test)) if _THOROUGH else checks(test)


@pytest.fixture
def attncalc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Return a function that runs `attncalc` in this process, inside the test's own folder.

    What depends on a process (signals, pipes, a terminal, what is imported) starts one itself.
    """

    def run(*arguments: str, stdin: str | bytes = b"", **environment: str) -> Run:
        from attncalc.cli import run

        encoding = environment.pop("PYTHONIOENCODING", "utf-8")
        given = io.BytesIO(stdin.encode() if isinstance(stdin, str) else stdin)
        out, err = io.BytesIO(), io.BytesIO()
        with monkeypatch.context() as patch:
            patch.chdir(tmp_path)
            patch.setattr(sys, "argv", ["attncalc", *arguments])
            for name, value in environment.items():
                patch.setenv(name, value)
            for name, stream in (("stdin", given), ("stdout", out), ("stderr", err)):
                patch.setattr(sys, name, io.TextIOWrapper(stream, encoding, write_through=True))
            code = run()
            return Run(code, out.getvalue().decode(), err.getvalue().decode())

    return run


@pytest.fixture
def process(tmp_path: Path) -> Command:
    """Return a function that runs `attncalc` in a process, inside the test's own folder."""

    def run(*arguments: str, stdin: str | bytes = b"", **environment: str) -> Run:
        done = subprocess.run(
            [sys.executable, "-m", "attncalc", *arguments],
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            cwd=tmp_path,
            env=clean_environment() | environment,
            check=False,
            timeout=300,
        )
        return Run(done.returncode, done.stdout.decode(), done.stderr.decode())

    return run


def clean_environment() -> dict[str, str]:
    """Return the environment without what would colour or widen the output."""
    unwanted = {"FORCE_COLOR", "NO_COLOR", "COLUMNS", "TERM", "CLICOLOR_FORCE", "GITHUB_ACTIONS"}
    kept = {name: value for name, value in os.environ.items() if name not in unwanted}
    return kept | {"_TYPER_FORCE_DISABLE_TERMINAL": "1", "PYTHONIOENCODING": "utf-8"}


GOOD = {
    "X": [[1, 2], [3, 4]],
    "W_Q": [[1, 0], [0, 1]],
    "W_K": [[0, 1], [1, 0]],
    "W_V": [[1], [1]],
}
"""A small problem without a fault, for tests to break."""
