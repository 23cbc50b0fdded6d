"""What each form's reader returns: matrices as texts, under the names they were given."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from attncalc.numbers.typed import quoted
from attncalc.problem.fields import MATRICES
from attncalc.reading.answers.answer import (
    Answer,
    Entry,
    WrittenConnection,
    WrittenMatrix,
    matrix_of_entries,
)
from attncalc.reading.names import canonical
from attncalc.reading.naming.symbols import STEPS
from attncalc.reading.plain.numerals import read_entry
from attncalc.reading.plain.rows import Rows

MOST_HEADS = 1000
_ALIASES = {
    "queries": "Q",
    "query": "Q",
    "keys": "K",
    "key": "K",
    "values": "V",
    "value": "V",
    "scores": "S",
    "score": "S",
    "qk^t": "S",
    "qkᵀ": "S",
    "scaled scores": "S_scaled",
    "capped scores": "S_capped",
    "masked scores": "S_masked",
    "attention": "A",
    "attention weights": "A",
    "attention map": "A",
    "weights": "A",
    "outputs": "O",
    "output": "O",
    "each head's outputs": "H",
    "rotated queries": "Q_rot",
    "rotated keys": "K_rot",
}
_SET = re.compile(r"\\(?:mathrm|text|mathbf|operatorname|textbf|mathit|boldsymbol|bf|rm)\s*")
_NUMBERED = re.compile(r"(.+?)[_ ]*(?:head|h)?[_ ]*([0-9]{1,4})", re.IGNORECASE)


class Raw(NamedTuple):
    """One matrix, or one head of one, as texts."""

    name: str
    head: int
    rows: Rows
    place: str = ""
    row_from: int = 0
    column_from: int = 0


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]", "", name).lower()


_BY_PLAIN = {_plain(name): name for name in STEPS} | {
    _plain(alias): name for alias, name in _ALIASES.items()
}


def named(text: str) -> tuple[str, int] | None:
    r"""Return the matrix that a name stands for, and the head (0 for none), if it names one.

    Examples
    --------
    >>> named("S^{\\mathrm{scaled}}"), named("A head 2"), named("A^{(1)}"), named("W_Q")
    (('S_scaled', 0), ('A', 2), ('A', 1), ('W_Q', 0))
    """
    if len(text) > 80:
        return None
    clean = _SET.sub("", text)
    if clean.count("[") != clean.count("]"):
        return None  # a part of something longer: A[2,1]
    clean = re.sub(r"[\^({\[]", "_", clean) if "^t" not in clean.lower() else clean
    clean = re.sub(r"[`*$#)}\]\\:]", "", clean).strip(" _.")
    if known := _known(clean):
        return known, 0
    if (number := _NUMBERED.fullmatch(clean)) and (known := _known(number[1])):
        return known, int(number[2])
    return None


def _known(name: str) -> str | None:
    return _BY_PLAIN.get(_plain(name)) or (name_of_given(name))


def name_of_given(name: str) -> str | None:
    """Return the matrix of the problem itself that a name stands for, if it does."""
    given = canonical(name)
    return given if given in MATRICES else None


def assembled(
    place: str,
    found: Sequence[Raw],
    faults: Sequence[str] = (),
    connections: Sequence[WrittenConnection] | None = None,
) -> Answer:
    """Return the answer that these matrices make: parts and heads put together, entries read."""
    faults = list(faults)
    parts: dict[str, dict[int, list[Raw]]] = {}
    for raw in found:
        what = named(raw.name)
        if what is None:
            faults.append(f"{_at(raw)}unknown name {quoted(raw.name)}: it is no step")
            continue
        name, head = what
        if name in MATRICES and name not in STEPS:
            continue  # the problem itself stands on a worksheet too
        heads = parts.setdefault(name, {})
        number = raw.head or head
        if number > MOST_HEADS:
            faults.append(f"{_at(raw)}{name}: there is no head {number}")
            continue
        if raw.row_from == raw.column_from == 0:
            if number in heads:
                faults.append(f"{_at(raw)}{name} is written twice: the later one counts")
            heads[number] = []
        heads.setdefault(number, []).append(raw)
    matrices = {}
    for name, heads in parts.items():
        matrices[name] = _matrix(heads)
        faults += [f"{name}{_place(where)}: {why}" for where, why in matrices[name].faults.items()]
    return Answer(
        place, matrices, None if connections is None else tuple(connections), tuple(faults)
    )


def _matrix(heads: dict[int, list[Raw]]) -> WrittenMatrix:
    first = next(iter(heads.values()))[0]
    if 0 in heads and len(heads) > 1:  # A, and A of head 2: the heads count
        heads = {number: raws for number, raws in heads.items() if number}
    read = {number: _entries(raws) for number, raws in heads.items()}
    if 0 in read:
        return matrix_of_entries([read[0]], first.place)
    some = next(iter(read.values()))
    blank = [[Entry("") for _ in row] for row in some]
    listed = [read.get(number, blank) for number in range(1, max(read) + 1)]
    matrix = matrix_of_entries(listed, first.place)
    if matrix.values.ndim == 2:  # head 1 alone: still one of several, it may be
        return matrix.arranged(lambda each: each[None])
    return matrix


def _entries(raws: list[Raw]) -> list[list[Entry]]:
    """Return the entries of a matrix whose parts stand beside and below one another."""
    rows: list[list[Entry]] = []
    for raw in raws:
        start = min(raw.row_from, len(rows))
        for i, cells in enumerate(raw.rows, start=start):
            if i == len(rows):
                rows.append([])
            rows[i] += [read_entry(cell) for cell in cells]
    return rows


def _at(raw: Raw) -> str:
    return f"{raw.place}: " if raw.place else ""


def _place(place: tuple[int, ...]) -> str:
    return f"[{','.join(str(index + 1) for index in place)}]"
