"""Pages that show what their own commands print and draw.

What stands in a `text` block right behind an `sh` or `python` block is what that block printed, and
a picture `pictures/PAGE-NAME.png` is the NAME.png that the commands of PAGE.md wrote.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tools.pictures import small
from tools.running import run_in_shell, run_python

BLOCK = re.compile(
    r"^(?:<!-- (?P<word>file|ends with) (?P<said>[^>\n]+) -->\n)?"
    r"^```(?P<language>\w+)\n(?P<body>.*?)^```$"
    r"|^<!-- in (?P<file>\S+): (?P<old>.+) => (?P<new>.+) -->$",
    re.MULTILINE | re.DOTALL,
)
"""A block, and what a comment says of it: a file that a reader saves, or the exit code. A comment
alone may say what a reader changes in a file."""
PICTURE = re.compile(r"!\[[^]]*\]\(((?:\.\./)?pictures/[^)]+\.png)\)")
SET_UP = ".venv"
"""Blocks with it set attncalc up: they are left to `.ci/run`."""


class Renewed(NamedTuple):
    """A page as it should be, and the pictures that it shows."""

    text: str
    pictures: dict[Path, bytes]


def renewed(page: Path) -> Renewed:
    """Return a page with what its commands print today, and the pictures that they draw."""
    text = page.read_text(encoding="utf-8")
    with TemporaryDirectory() as place:
        folder = Path(place) / "work"
        folder.mkdir()
        pieces = "".join(_pieces(text, folder))
        return Renewed(pieces, dict(_pictures(page, text, folder)))


def _pieces(text: str, folder: Path) -> Iterator[str]:
    """Yield the text, piece by piece, running each block on the way."""
    end, printed = 0, None
    for block in BLOCK.finditer(text):
        between = text[end : block.start()]
        yield between
        end = block.end()
        if block["language"] == "text" and printed is not None and not between.strip():
            yield f"```text\n{printed.rstrip()}\n```"
            printed = None
        else:
            yield block.group()
            printed = _run(block, folder)
    yield text[end:]


def _run(block: re.Match[str], folder: Path) -> str | None:
    """Do what a block tells a reader to do; return what that prints, or None of other blocks."""
    body = block["body"]
    if block["file"]:
        _change(folder / block["file"], block["old"], block["new"])
    elif block["word"] == "file":
        (folder / block["said"]).write_text(body, encoding="utf-8")
    elif block["language"] == "python":
        return run_python(body, folder)
    elif block["language"] == "sh" and SET_UP not in body:
        return run_in_shell(body, folder, int(block["said"] or 0))
    return None


def _change(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{old} stands {text.count(old)} times in {file.name}"
    file.write_text(text.replace(old, new), encoding="utf-8")


def _pictures(page: Path, text: str, folder: Path) -> Iterator[tuple[Path, bytes]]:
    for place in PICTURE.findall(text):
        stem, _, name = Path(place).name.partition("-")
        if stem == page.stem:
            yield (page.parent / place).resolve(), small(folder / name)
