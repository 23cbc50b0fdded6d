"""A gradebook that a course system exported, to be filled with marks: its rows and students."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from attncalc.base.errors import InputError
from attncalc.base.text import as_key
from attncalc.reading.cells import Faults
from attncalc.reading.csv_text import rows_of
from attncalc.reading.files import decode, read_bytes
from attncalc.reading.roster import Student, path_name

SYSTEMS = ("moodle", "canvas", "gradescope")
IDS = {
    "id": ("id number", "sis user id", "sid", "student id", "id"),
    "email": ("email address", "sis login id", "email"),
    "name": ("full name", "student", "name"),
}
"""The columns that identify a student, by their headings in exports."""
OF_SYSTEM: Mapping[str, tuple[str, ...]] = {
    "canvas": ("sis login id", "sis user id"),
    "gradescope": ("sid", "total score"),
    "moodle": ("email address", "id number", "identifier"),
}
"""Headings that only this system has."""


class Gradebook(NamedTuple):
    """The rows of an export, and the student of each by the index in the class, or None."""

    system: str
    rows: tuple[tuple[str, ...], ...]
    students: tuple[int | None, ...]


def read_gradebook(place: str, students: Sequence[Student]) -> Gradebook:
    """Read the export of a gradebook, and match its rows with the students of a class."""
    text = decode(read_bytes(Path(place)), place)
    delimiter = max("\t;,", key=text.partition("\n")[0].count)
    rows = tuple(tuple(r.cells) for r in rows_of(text, delimiter, Faults(place), stripped=False))
    headings = [cell.strip().lower() for cell in rows[0]] if rows else []
    for system, own in OF_SYSTEM.items():
        if any(name in headings for name in own):
            whose = _Whose(headings, students)
            return Gradebook(system, rows, tuple(whose.student(row) for row in rows))
    raise InputError(
        f"{place}: not a gradebook of Moodle, Canvas or Gradescope, by its first row: export it "
        f"from there, or name the system ({', '.join(SYSTEMS)})"
    )


class _Whose:
    """The student of each row: by id, else by email, else by a name that only one has."""

    def __init__(self, headings: Sequence[str], students: Sequence[Student]) -> None:
        self.columns = {
            what: [place for place, heading in enumerate(headings) if heading in names]
            for what, names in IDS.items()
        }
        self.known: dict[str, dict[str, int | None]] = {what: {} for what in IDS}
        for place, student in enumerate(students):
            for what, known in self.known.items():
                key = _key(what, getattr(student, what))
                known[key] = None if key in known else place
        self.both = [
            headings.index(name) for name in ("first name", "last name") if name in headings
        ]

    def student(self, row: Sequence[str]) -> int | None:
        """Return the index of a row's student."""
        cells = {w: [row[at] for at in where if at < len(row)] for w, where in self.columns.items()}
        cells["name"].append(" ".join(row[at] for at in self.both if at < len(row)))
        for what, texts in cells.items():
            for text in texts:
                found = self.known[what].get(_key(what, text)) if text.strip() else None
                if found is not None:
                    return found
        return None


def _key(what: str, text: str) -> str:
    if what != "name":
        return text.strip().lower()
    last, comma, first = text.partition(",")
    return as_key(path_name(f"{first} {last}" if comma else text, ""))
