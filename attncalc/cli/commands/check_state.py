"""The state of marking a class: pages, and a line for each, to continue from."""

import json
import os
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from attncalc.base.text import in_json
from attncalc.reading.files import refuse_found, why_not_read
from attncalc.writing.files import naming, write_files

LINES = ".attncalc-marked.jsonl"
"""The file of lines, within the folder of pages."""
AT_ONCE = 32
"""Pages that are put on the disk at once."""


class State:
    """The pages of a folder, with their file ending and states; without a folder, nothing."""

    def __init__(self, folder: Path | None, ending: str) -> None:
        self.folder, self.ending = folder, ending
        self._known = _read(folder)
        self._waiting: list[tuple[Path, str, str]] = []

    def digest_of(self, name: str) -> str:
        """Return the digest of a page's answer when the page was written; "" if it is unknown."""
        known = self._known.get(name)
        if known is None or self.folder is None:
            return ""
        page = self.folder / f"{name}{self.ending}"
        try:
            content = b"" if why_not_read(page) else page.read_bytes()
        except OSError:
            return ""
        return known["digest"] if known["page"] == sha256(content).hexdigest() else ""

    def rows_of(self, name: str) -> list[Any]:
        """Return the rows that were kept with a page."""
        rows: list[Any] = self._known[name]["rows"]
        return rows

    def others(self, names: set[str]) -> list[str]:
        """Return the pages of earlier runs that are about none of these."""
        folder = self.folder
        pages = [f"{name}{self.ending}" for name in self._known if name not in names]
        return [] if folder is None else [each for each in pages if (folder / each).is_file()]

    def keep(self, name: str, page: str, digest: str, rows: Sequence[Any]) -> None:
        """Write a page soon, and then a line that records it."""
        if self.folder is None:
            return
        told = {
            "folder": name,
            "digest": digest,
            "page": sha256(page.encode()).hexdigest(),
            "rows": rows,
        }
        self._waiting.append((self.folder / f"{name}{self.ending}", page, in_json(told)))
        if len(self._waiting) >= AT_ONCE:
            self.write()

    def write(self) -> None:
        """Write the pages that wait: all of them or none, and only then their lines."""
        if not self._waiting or self.folder is None:
            return
        # when the folder exists, inputs need not be compared again with every few pages
        new = None if self.folder.is_dir() else self.folder
        write_files({path: page for path, page, _ in self._waiting}, folder=new)
        place = self.folder / LINES
        with naming(place), place.open("a", encoding="utf-8") as file:
            file.write("\n" + "\n".join(line for *_, line in self._waiting) + "\n")
            file.flush()
            os.fsync(file.fileno())
        self._waiting = []


def _read(folder: Path | None) -> dict[str, Any]:
    """Return the lines by name, the last of each; one that was cut off is skipped."""
    if folder is None:
        return {}
    refuse_found(folder / LINES)  # lines are appended to it: the target of a link would be changed
    try:
        text = (folder / LINES).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return {}
    known = {}
    for line in text.split("\n"):
        try:
            told = json.loads(line)
            if _is_whole(told):
                known[told["folder"]] = told
        except (ValueError, RecursionError):
            continue
    return known


def _is_whole(told: Any) -> bool:
    """Return whether a line has the content that this version writes."""
    if not isinstance(told, dict) or not isinstance(told.get("rows"), list):
        return False
    texts = all(isinstance(told.get(name), str) for name in ("folder", "digest", "page"))
    return texts and all(isinstance(row, list) and len(row) == 5 for row in told["rows"])
