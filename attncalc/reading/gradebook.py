"""A gradebook that a course system exported, to be filled with marks: its rows and students.

Its headings are in the language of the system, so columns are recognized by their cells: those
with the ids, emails or names of the class.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from attncalc.base.errors import InputError
from attncalc.base.text import as_key, of_each
from attncalc.base.typed import quoted
from attncalc.reading.roster import Student, path_name, rows_in_file

SYSTEMS = ("moodle", "canvas", "gradescope")
KINDS = ("id", "email", "name")
"""What identifies a student."""


class Gradebook(NamedTuple):
    """The rows of an export, and the student of each by the index in the class, or None.

    delimiter: what separates its cells.
    """

    system: str = ""
    rows: tuple[tuple[str, ...], ...] = ()
    students: tuple[int | None, ...] = ()
    notes: tuple[str, ...] = ()
    delimiter: str = ","


class _Column(NamedTuple):
    """A column, or two adjacent ones in either order; the student of each row by its cells."""

    places: tuple[int, ...]
    students: tuple[int | None, ...]
    filled: int

    @property
    def matched(self) -> int:
        """The number of different students in it."""
        return len({*self.students} - {None})


def read_gradebook(place: str, students: Sequence[Student]) -> Gradebook:
    """Read the export of a gradebook, and match its rows with the students of a class."""
    read, delimiter = rows_in_file(place, stripped=False)
    rows = tuple(tuple(row.cells) for row in read)
    columns = [each for what in KINDS if (each := _column(rows, what, students))]
    if not columns:
        raise InputError(
            f"{place}: no column has the ids, emails or names of this class: export a gradebook "
            f"with them, or name the system ({', '.join(SYSTEMS)})"
        )
    of_rows = [{*found} - {None} for found in zip(*(c.students for c in columns), strict=True)]
    named = (" ".join(rows[0][at] for at in c.places if at < len(rows[0])) for c in columns)
    notes = [f"{place}: students are found by {of_each(list(map(quoted, named)))}"]
    notes += [
        f"{place}: row {number} is not filled: its cells are those of different students"
        for number, found in enumerate(of_rows, start=1)
        if len(found) > 1
    ]
    whose = tuple(found.pop() if len(found) == 1 else None for found in of_rows)
    return Gradebook("", rows, whose, tuple(notes), delimiter)


def _column(
    rows: Sequence[Sequence[str]], what: str, students: Sequence[Student]
) -> _Column | None:
    """Return the column with the most students by their id, email or name.

    They are at least half of its cells, or half of the class: others match by chance.
    """
    known: dict[str, int | None] = {}
    for number, student in enumerate(students):
        key = _key(what, getattr(student, what))
        known[key] = None if key in known else number
    known.pop("", None)
    found = (_matched(rows, what, places, known) for places in _places(rows, what))
    best = max(found, key=lambda each: each.matched, default=None)
    if best is None or 2 * best.matched < max(1, min(best.filled, len(students))):
        return None
    return best


def _places(rows: Sequence[Sequence[str]], what: str) -> Iterator[tuple[int, ...]]:
    """Yield the columns, and for names also pairs of adjacent ones: first and last names."""
    width = max(map(len, rows), default=0)
    yield from ((at,) for at in range(width))
    if what == "name":
        yield from (each for pair in pairwise(range(width)) for each in (pair, pair[::-1]))


def _matched(
    rows: Sequence[Sequence[str]], what: str, places: tuple[int, ...], known: dict[str, int | None]
) -> _Column:
    cells = [" ".join(row[at] for at in places if at < len(row)) for row in rows]
    found = tuple(known.get(_key(what, cell)) for cell in cells)
    return _Column(places, found, sum(bool(cell.strip()) for cell in cells[1:]))


def _key(what: str, text: str) -> str:
    if what != "name":
        return text.strip().lower()
    last, comma, first = text.partition(",")
    return as_key(path_name(f"{first} {last}" if comma else text, ""))
