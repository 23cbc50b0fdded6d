"""End runs that write at random moments, and look at what they leave.

As a program: `python tests/killing.py 200 50` kills 200 runs, tells 50 to end, and prints a table.
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

RUNS = (
    ("self", "--work", "-o", "page.md"),
    ("self", "-o", "tables/"),
    ("samples", "answers", "-o", "answers"),
    ("check", "in.json", "class", "-o", "marked/", "--csv", "marks.csv"),
    ("plot", "-o", "map.png"),
)
ANSWERS = 40


def prepared(folder: Path) -> Path:
    """Fill a folder with a problem and a class."""
    made = [
        [sys.executable, "-m", "attncalc", "samples", name, "-o", str(folder / place)]
        for name, place in (("self", "in.json"), ("hand", "hand.json"))
    ]
    for command in made:
        subprocess.run(command, check=True, capture_output=True)
    answer = (folder / "hand.json").read_bytes()
    (folder / "class").mkdir()
    for number in range(ANSWERS):
        (folder / "class" / f"{number:02}.json").write_bytes(answer)
    return folder


def run(folder: Path, called: tuple[str, ...]) -> "subprocess.Popen[bytes]":
    """Start a run, such that it heeds interrupts as one that a person starts does."""
    program = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "import sys; sys.argv[0] = 'attncalc'\n"
        "from attncalc.__main__ import main; main()"
    )
    return subprocess.Popen(
        [sys.executable, "-c", program, *called],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def state(folder: Path) -> dict[str, bytes]:
    """Return all files by name."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def cleared(folder: Path, kept: set[str]) -> None:
    """Remove what a run has written."""
    for name in state(folder).keys() - kept:
        (folder / name).unlink()
    for path in folder.iterdir():
        if path.is_dir() and not any(path.iterdir()):
            path.rmdir()


def campaign(times: int, number: int, seed: int = 0) -> Counter[str]:
    """End so many runs with a signal, and count the outcomes: all but "half" are allowed."""
    chance, found = random.Random(seed), Counter[str]()
    with tempfile.TemporaryDirectory() as made:
        folder = prepared(Path(made))
        before = state(folder)
        whole, took = {}, {}
        for called in RUNS:
            start = time.monotonic()
            with run(folder, called) as process:
                process.communicate()
            took[called], whole[called] = time.monotonic() - start, state(folder)
            cleared(folder, set(before))
        for turn in range(times):
            called = RUNS[turn % len(RUNS)]
            with run(folder, called) as process:
                # half of the moments lie in the last third, where files are written
                early = chance.random() < 0.5
                time.sleep(took[called] * (chance.random() if early else chance.uniform(0.66, 1.1)))
                process.send_signal(number)
                _, said = process.communicate()
            found.update(seen(process.returncode, said, before, state(folder), whole[called]))
            cleared(folder, set(before))
    return found


def seen(
    code: int,
    said: bytes,
    before: dict[str, bytes],
    after: dict[str, bytes],
    whole: dict[str, bytes],
) -> list[str]:
    """Return how a run ended, and which files it left."""
    hidden = {name for name in after if any(part.startswith(".") for part in Path(name).parts)}
    shown = {name: content for name, content in after.items() if name not in hidden}
    half = [name for name, content in shown.items() if whole.get(name) != content]
    marks = [f"code {code}", "half" if half else "each file whole"]
    marks += ["temporary file left"] if hidden else []
    marks += [
        "none written" if shown == before else "all written" if shown == whole else "some written"
    ]
    if code > 2:
        marks.append(
            "one line" if said.count(b"\nerror: ") + said.startswith(b"error: ") == 1 else "?"
        )
    return marks


def main() -> None:
    """Print the outcomes."""
    kills, ends = (int(text) for text in sys.argv[1:3])
    for times, name in ((kills, "SIGKILL"), (ends, "SIGTERM"), (ends, "SIGINT")):
        found = campaign(times, getattr(signal, name), seed=os.getpid())
        print(f"{name} x {times}: " + ", ".join(f"{k}: {n}" for k, n in sorted(found.items())))  # noqa: T201 - a program that prints


if __name__ == "__main__":
    main()
