"""Pages that show the output and the pictures of their own commands.

A `text` block directly after an `sh` or `python` block is the output of that block. A picture
`pictures/PAGE-NAME.png` is the file NAME.png that the commands of PAGE.md write.
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
"""A block with an optional comment: the file that a reader saves, or the exit code. A comment
without a block is an edit of a file."""
PICTURE = re.compile(r"!\[[^]]*\]\(((?:\.\./)?pictures/[^)]+\.png)\)")
SET_UP = ".venv"
"""Blocks with it install attncalc; `.ci/run` runs them."""


class Renewed(NamedTuple):
    """The up-to-date text of a page, and its pictures."""

    text: str
    pictures: dict[Path, bytes]


def renewed(page: Path) -> Renewed:
    """Return a page with the current output and pictures of its commands."""
    text = page.read_text(encoding="utf-8")
    with TemporaryDirectory() as place:
        folder = Path(place) / "work"
        folder.mkdir()
        pieces = "".join(_pieces(text, folder))
        return Renewed(pieces, dict(_pictures(page, text, folder)))


def _pieces(text: str, folder: Path) -> Iterator[str]:
    """Yield the text in pieces, and run each block."""
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
    """Execute a block; return its output, or None if it is not a command."""
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
    assert text.count(old) == 1, f"{file.name} contains {old} {text.count(old)} times"
    file.write_text(text.replace(old, new), encoding="utf-8")


def _pictures(page: Path, text: str, folder: Path) -> Iterator[tuple[Path, bytes]]:
    for place in PICTURE.findall(text):
        stem, _, name = Path(place).name.partition("-")
        if stem == page.stem:
            yield (page.parent / place).resolve(), small(folder / name)
