"""Runs the commands of a page in a separate folder."""

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

REPOSITORY = Path(__file__).parent.parent.parent
COLOURS = ("FORCE_COLOR", "NO_COLOR", "CLICOLOR_FORCE", "TERM", "GITHUB_ACTIONS")
MINUTES = 5


def run_in_shell(commands: str, folder: Path, code: int = 0) -> str:
    """Run shell commands, and return their visible output.

    Raises
    ------
    RuntimeError
        When they do not end with the expected code.
    """
    bash = ["bash", "-euo", "pipefail", "-c", commands]
    return _run(bash, folder, code, {"PATH": f"{door(folder)}{os.pathsep}{os.environ['PATH']}"})


def run_python(program: str, folder: Path) -> str:
    """Run a Python program, and return its output."""
    return _run([sys.executable, "-c", program], folder, 0, {})


def _run(given: Sequence[str], folder: Path, code: int, more: dict[str, str]) -> str:
    kept = {name: value for name, value in os.environ.items() if name not in COLOURS}
    ours = {
        "COLUMNS": "80",
        "PYTHONPATH": str(REPOSITORY),
        "PYTHONIOENCODING": "utf-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "_TYPER_FORCE_DISABLE_TERMINAL": "1",
        "MPLBACKEND": "agg",
    }
    run = subprocess.run(
        given,
        cwd=folder,
        env=kept | ours | more,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=60 * MINUTES,
        check=False,
    )
    printed = run.stdout.decode()
    if run.returncode != code:
        raise RuntimeError(f"{given[-1]}\nended with {run.returncode}, not {code}:\n{printed}")
    return re.sub(r" +$", "", printed, flags=re.MULTILINE)


def door(folder: Path) -> Path:
    """Return a folder with `attncalc` and `python` of this checkout."""
    door = folder.parent / f"{folder.name}-bin"
    door.mkdir(exist_ok=True)
    for name, start in (("attncalc", "-m attncalc "), ("python", "")):
        command = door / name
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" {start}"$@"\n', encoding="utf-8")
        command.chmod(0o755)
    return door
