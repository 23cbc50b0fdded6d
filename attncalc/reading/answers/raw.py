"""The output of each form's reader: matrices as texts, with their original names."""

from collections.abc import Sequence
from typing import NamedTuple

from attncalc.base.typed import quoted
from attncalc.problem.fields import MATRICES, role_of
from attncalc.reading.answers.answer import (
    Answer,
    Taken,
    Unread,
    WrittenConnection,
    WrittenMatrix,
    faults_in,
)
from attncalc.reading.answers.expected import Expected
from attncalc.reading.answers.keeping import Collected, Loose
from attncalc.reading.answers.parts import Part, lines_from_one, matrix_of
from attncalc.reading.answers.placing import place_loose
from attncalc.reading.answers.prose import is_of_sums, numbers_in
from attncalc.reading.answers.renaming import with_better_names
from attncalc.reading.naming.at_hand import is_step_at_hand, names_there
from attncalc.reading.naming.keys import name_of_key
from attncalc.reading.naming.name import Name
from attncalc.reading.naming.symbols import STEPS
from attncalc.reading.plain.blocks import Block
from attncalc.reading.plain.grids import Grid
from attncalc.reading.plain.rows import Rows, fitted

MOST_HEADS = 1000


class Raw(NamedTuple):
    """One matrix, or one head of one, as texts, and its first line; 0 for none."""

    name: str
    head: int
    rows: Rows
    line: int = 0


def is_given(name: str) -> bool:
    """Return whether a matrix is given by the problem, and therefore also on worksheets."""
    is_gradient = role_of(name) == "arriving" and name in names_there()  # a step of a target
    is_step = name in STEPS or is_step_at_hand(name)
    return name in MATRICES and not is_step and not is_gradient


def unread(name: str, what: str, line: int = 0, *, is_step: bool = False) -> Unread:
    """Return the unread part under a name, and the reason: the name, or its content."""
    if is_step:
        return Unread(line, name, f"{name}: {what}", could_be_matrix=True)
    text = f"{name}: {what}"[:200]
    return Unread(
        line,
        text,
        f"unknown name {quoted(name)}: it is not a step",
        len(numbers_in(what)) > 1 and not is_of_sums(name),
    )


def assembled(
    place: str,
    found: Sequence[Raw],
    not_read: Sequence[Unread] = (),
    connections: Sequence[WrittenConnection] | None = None,
    expected: Expected | None = None,
) -> Answer:
    """Return the answer with these matrices: parts and heads combined, entries read.

    With `expected`, unnamed matrices are named as in texts.
    """
    not_read = list(not_read)
    faults: list[str] = []
    taken: list[Taken] = []
    loose: list[Raw] = []
    parts: dict[str, dict[tuple[int, int, int], Part]] = {}
    for raw in found:
        name = name_of_key(raw.name)
        text = "; ".join(" ".join(row) for row in raw.rows)[:200]
        if name is None:
            if expected and len(raw.rows) > 1:
                loose.append(raw)
            else:
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
    collected = Collected([part for own in parts.values() for part in own.values()], taken=taken)
    matrices = _matrices(collected, loose, expected)
    faults += faults_in(matrices)
    drawn = None if connections is None else lines_from_one(connections)
    return Answer(
        place, matrices, drawn, tuple(faults), (*not_read, *collected.unread),
        tuple(collected.remarks), tuple(taken),
    )  # fmt: skip


def _matrices(
    collected: Collected, loose: Sequence[Raw], expected: Expected | None
) -> dict[str, WrittenMatrix]:
    """Return the matrices that the parts form, under their intended names."""
    if expected:
        _name_better(collected, loose, expected)
    by_name: dict[str, list[Part]] = {}
    for part in collected.parts:
        by_name.setdefault(part.name, []).append(part)
    return {name: matrix_of(own, (), by_columns=False) for name, own in by_name.items()}


def _name_better(collected: Collected, loose: Sequence[Raw], expected: Expected) -> None:
    """Name matrices without the name of a step, or with a wrong one, by their numbers."""
    for raw in loose:
        text = f"{raw.name}: {'; '.join(' '.join(row) for row in raw.rows)}"[:200]
        grid = Grid((fitted(raw.rows),), raw.line, raw.line, "rows")
        block = Block(raw.line, raw.line, text, [raw.name], grid)
        collected.loose.append(Loose(block, grid, len(collected.parts), raw.name, raw.head))
    place_loose(collected, expected)
    collected.parts = with_better_names(collected, expected)
    collected.remarks = [each.removeprefix("line 0: ") for each in collected.remarks]


def _part(raw: Raw, name: Name) -> Part:
    """Return the part of a matrix for a key and its rows: q1 is a row, or a head."""
    is_row = len(raw.rows) == 1
    head = raw.head or name.head or (0 if is_row and name.row else name.number or name.row)
    row, column = (name.row, name.column) if is_row else (0, 0)
    turned = name.turned and name.matrix == "K"
    return Part(name.matrix, head, row, column, raw.rows, raw.line, turned=turned)


def _place(part: Part) -> tuple[int, int, int]:
    return part.head, part.row, part.column
