"""What tests share: the command run as a person runs it, in a folder of its own."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Run:
    """What one run of the command printed, and how it ended."""

    code: int
    out: str
    err: str


Command = Callable[..., Run]


@pytest.fixture
def attncalc(tmp_path: Path) -> Command:
    """Return a function that runs `attncalc` in a subprocess, inside the test's own folder."""

    def run(*arguments: str, stdin: str | bytes = b"", **environment: str) -> Run:
        done = subprocess.run(
            [sys.executable, "-m", "attncalc", *arguments],
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            cwd=tmp_path,
            env=clean_environment() | environment,
            check=False,
            timeout=120,
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
