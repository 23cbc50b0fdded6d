"""Adds the output of each command to the pages of the gallery when the site is built."""

import html
import re
import shlex
from pathlib import Path

from tools.inside import run

BLOCK = re.compile(
    r"^### (?P<says>[^\n]*)\n\n"
    r"```sh\n(?P<commands>.*?)^```\n",
    re.MULTILINE | re.DOTALL,
)
SHOWN_LINES = 24
LANGUAGES = {".md": "markdown", ".tex": "latex", ".json": "json"}


def with_results(text: str, folder: Path) -> str:
    """Run all commands of the page, save their output in a folder, and return the page with it.

    Pages are saved in its subfolder `pages`, which the site copies unchanged.
    """
    work = folder / "work"
    for each in (work, folder / "pages"):
        each.mkdir(parents=True)
    ran: set[str] = set()

    def with_result(block: re.Match[str]) -> str:
        commands = block["commands"].splitlines()
        for command in commands:
            if command not in ran:
                run(command, work)
                ran.add(command)
        return f"{block.group()}\n{_shown(block['says'], work / _place(commands[-1]), folder)}"

    return BLOCK.sub(with_result, text)


def _place(command: str) -> str:
    """Return the file that a command writes."""
    words = shlex.split(command)
    return words[words.index("-o") + 1]


def _shown(says: str, made: Path, folder: Path) -> str:
    """Return the Markdown that shows an output."""
    if made.suffix in (".png", ".svg"):
        (folder / made.name).write_bytes(made.read_bytes())
        return f"![{says}]({made.name})\n"
    (folder / "pages" / made.name).write_bytes(made.read_bytes())
    link = f'<a href="pages/{made.name}">{html.escape(made.name)}</a>'
    return f"Open {link}.\n{_beginning(made)}"


def _beginning(made: Path) -> str:
    """Return the first lines of a text file as a code block."""
    if made.suffix == ".html":
        return ""
    lines = made.read_text(encoding="utf-8").splitlines()
    shown = "\n".join(lines[:SHOWN_LINES])
    beginning = f"\n````{LANGUAGES.get(made.suffix, 'text')}\n{shown}\n````\n"
    more = f"\nThe first {SHOWN_LINES} of its {len(lines)} lines.\n"
    return beginning + more * (len(lines) > SHOWN_LINES)
