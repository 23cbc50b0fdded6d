"""What each form's reader returns: matrices as texts, under the names they were given."""

from collections.abc import Sequence
from typing import NamedTuple

from attncalc.numbers.typed import quoted
from attncalc.problem.fields import MATRICES
from attncalc.reading.answers.answer import Answer, Taken, Unread, WrittenConnection
from attncalc.reading.answers.parts import Part, matrix_of
from attncalc.reading.answers.prose import numbers_in
from attncalc.reading.naming.keys import name_of_key
from attncalc.reading.naming.name import Name
from attncalc.reading.naming.symbols import STEPS
from attncalc.reading.plain.rows import Rows

MOST_HEADS = 1000


class Raw(NamedTuple):
    """One matrix, or one head of one, as texts, and the line where it begins; 0 for none."""

    name: str
    head: int
    rows: Rows
    line: int = 0


def is_given(name: str) -> bool:
    """Say whether a matrix is the problem's own, which stands on a worksheet too."""
    return name in MATRICES and name not in STEPS


def unread(name: str, what: str, line: int = 0, *, is_step: bool = False) -> Unread:
    """Return what stands under a name, and why it is not read: the name, or what it holds."""
    if is_step:
        return Unread(line, name, f"{name}: {what}", could_be_matrix=True)
    text = f"{name}: {what}"[:200]
    return Unread(
        line, text, f"unknown name {quoted(name)}: it is no step", len(numbers_in(what)) > 1
    )


def assembled(
    place: str,
    found: Sequence[Raw],
    not_read: Sequence[Unread] = (),
    connections: Sequence[WrittenConnection] | None = None,
) -> Answer:
    """Return the answer that these matrices make: parts and heads put together, entries read."""
    not_read = list(not_read)
    faults: list[str] = []
    taken: list[Taken] = []
    parts: dict[str, dict[tuple[int, int, int], Part]] = {}
    for raw in found:
        name = name_of_key(raw.name)
        text = "; ".join(" ".join(row) for row in raw.rows)[:200]
        if name is None:
            not_read.append(unread(raw.name, text, raw.line))
            continue
        if is_given(name.matrix):
            taken.append(Taken(raw.line, raw.line, name.matrix, "given, copied", text))
            continue
        part = _part(raw, name)
        if part.head > MOST_HEADS:
            why = f"there is no head {part.head}"
            not_read.append(unread(part.name, why, raw.line, is_step=True))
            continue
        own = parts.setdefault(part.name, {})
        if own.pop(_place(part), None) is not None:
            where = f"line {raw.line}: " if raw.line else ""
            faults.append(f"{where}{part.name} is written twice: the later one counts")
        own[_place(part)] = part
        taken.append(Taken(raw.line, raw.line, part.what, "its name", text))
    matrices = {
        name: matrix_of(list(own.values()), (), by_columns=False) for name, own in parts.items()
    }
    for step, matrix in matrices.items():
        faults += [f"{step}{_index(where)}: {why}" for where, why in matrix.faults.items()]
    drawn = None if connections is None else tuple(connections)
    return Answer(place, matrices, drawn, tuple(faults), tuple(not_read), taken=tuple(taken))


def _part(raw: Raw, name: Name) -> Part:
    """Return the part of a matrix that a key and its rows are: q1 is a row, or a head."""
    is_row = len(raw.rows) == 1
    head = raw.head or name.head or (0 if is_row and name.row else name.number or name.row)
    row, column = (name.row, name.column) if is_row else (0, 0)
    turned = name.turned and name.matrix == "K"
    return Part(name.matrix, head, row, column, raw.rows, raw.line, turned=turned)


def _place(part: Part) -> tuple[int, int, int]:
    return part.head, part.row, part.column


def _index(place: tuple[int, ...]) -> str:
    return f"[{','.join(str(index + 1) for index in place)}]"
