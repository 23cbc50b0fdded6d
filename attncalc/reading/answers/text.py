"""Answers in text of any kind: mails, Markdown, LaTeX, programs, spreadsheets, worksheets."""

import re
from collections.abc import Mapping

from attncalc.reading.answers.answer import Answer, Taken, Unread, WrittenMatrix
from attncalc.reading.answers.collecting import Collected, collected
from attncalc.reading.answers.expected import Expected
from attncalc.reading.answers.lines import is_about_lines
from attncalc.reading.answers.parts import Part, entries_of, matrix_of
from attncalc.reading.answers.placing import place_loose
from attncalc.reading.answers.prose import role_of_words
from attncalc.reading.answers.renaming import with_better_names
from attncalc.reading.naming.name import name_in
from attncalc.reading.plain.blocks import blocks_of
from attncalc.reading.plain.comments import Comment
from attncalc.reading.plain.marks import MOST_GRIDS, typed

MOST_FAULTS = 100
_DOTS = re.compile(r"[^●•]{0,60}[●•]\s{3,}[●•][^●•]{0,60}|\s*(?:\S{1,40} )?[●•]\s*")


def read_text_answer(text: str, place: str, expected: Expected | None = None) -> Answer:
    """Return the answer that a text holds; what cannot be read is noted, and the rest is kept."""
    expected = expected or Expected()

    def names_a_row(label: str) -> bool:
        name = name_in(label, expected.labels)
        return name is not None and name.matrix not in ("X", "X1", "X2", "X3")

    blocks, document = blocks_of(text, names_a_row, _is_of_map, expected.labels)
    found = collected(blocks, expected)
    for struck in document.struck:
        found.taken.append(Taken(struck.line, struck.line, "", "struck out", struck.text))
    for comment in document.comments:
        _take_comment(comment, found)
    faults = [_at(line, fault) for line, fault in document.faults[:MOST_FAULTS]]
    if document.cut_at:
        why = "there is too much before it: what follows is not read"
        found.unread.append(Unread(document.cut_at, "…", why, could_be_matrix=True))
    if document.is_full:
        why = f"only the first {MOST_GRIDS:,} matrices in brackets are looked at"
        found.unread.append(Unread(0, "…", why, could_be_matrix=True))
    place_loose(found, expected)
    parts = with_better_names(found, expected)
    matrices = _matrices(parts, expected, found)
    faults += found.faults
    for name, matrix in matrices.items():
        faults += [f"{name}{_index(where)}: {why}" for where, why in matrix.faults.items()]
    unread = tuple(sorted(found.unread, key=lambda each: each.line))
    taken = tuple(sorted(found.taken, key=lambda each: each.line))
    connections = tuple(found.connections) or None
    return Answer(
        place, matrices, connections, tuple(faults), unread, tuple(found.remarks), taken
    )  # fmt: skip


def _take_comment(comment: Comment, found: Collected) -> None:
    """Say what the numbers of a comment are."""
    line, text = comment.line, comment.text
    if comment.is_out:
        found.taken.append(Taken(line, line, "", "commented out", text))
    elif role := "words" if comment.is_size else role_of_words(text):
        how = "a comment" if role == "words" else f"a comment: {role}"
        found.taken.append(Taken(line, line, "", how, text))
    else:
        why = "these numbers stand in a comment"
        found.unread.append(Unread(line, text, why, "=" not in text or "[" in text))


def _matrices(
    parts: list[Part], expected: Expected, found: Collected
) -> Mapping[str, WrittenMatrix]:
    by_name: dict[str, list[Part]] = {}
    for part in parts:
        by_name.setdefault(part.name, []).append(part)
    matrices = {}
    for name, own in by_name.items():
        latest = _latest(_in_order(own, expected, found), expected, found)
        matrices[name] = matrix_of(latest, expected.shape(name), expected.by_columns)
    return matrices


def _in_order(parts: list[Part], expected: Expected, found: Collected) -> list[Part]:
    """Return single rows under one name as the rows of its matrix, where they are as many."""
    height, width = (0, 0, *expected.shape(parts[0].name))[-2:]
    rows = [part for part in parts if part.is_whole and part.size == (1, width) and not part.head]
    if len(rows) != height or len(rows) < 2 or len(rows) < len(parts):
        return parts
    name, lines = parts[0].name, f"lines {rows[0].line} to {rows[-1].line}"
    found.remarks.append(f"{lines}: these rows are taken as those of {name}, in their order")
    return [part._replace(row=i) for i, part in enumerate(rows, start=1)]


def _latest(parts: list[Part], expected: Expected, found: Collected) -> list[Part]:
    """Return the parts of a matrix; where it was written twice, the later ones, and say so."""
    kept: dict[int, list[Part]] = {}
    for part in parts:
        own = kept.setdefault(part.head, [])
        if part.is_whole and part.row_from == part.column_from == 0:
            wholes = [each for each in own if each.is_whole]
            if wholes and _differ(wholes, part):
                if _is_other(wholes[-1], part, expected):
                    _list(part, wholes[-1], found)
                    continue
                lines = f"line {wholes[0].line} and again on line {part.line}"
                found.remarks.append(f"{part.what} is written on {lines}: the later one counts")
                if _is_lost(wholes[-1], part, expected):
                    _list(wholes[-1], part, found)
            own[:] = [each for each in own if not each.is_whole]
        own.append(part)
    return [part for own in kept.values() for part in own]


def _is_lost(before: Part, part: Part, expected: Expected) -> bool:
    """Say whether a matrix may be another than the later one of its name, and no version of it."""
    if before.size == (1, 1):  # a number beside a name, in prose
        return False
    is_right = part.size == expected.shape(part.name)[-2:]
    return not is_right or (part.size != before.size and len(before.rows) > 1)


def _is_other(before: Part, part: Part, expected: Expected) -> bool:
    """Say whether a matrix is no later version of the one before it, which has its step's shape."""
    shape = expected.shape(part.name)[-2:]
    return before.size == shape != part.size


def _list(lost: Part, kept: Part, found: Collected) -> None:
    """List a matrix of another size than the one of its name that counts."""
    text = "; ".join(" ".join(row) for row in lost.rows)
    why = f"{lost.what} stands on line {kept.line} too"
    why += "" if lost.size == kept.size else ", in another size"
    found.unread.append(Unread(lost.line, typed(text), why, could_be_matrix=True))


def _differ(wholes: list[Part], part: Part) -> bool:
    before = [entry for each in wholes for row in entries_of(each.rows) for entry in row]
    after = [entry for row in entries_of(part.rows) for entry in row]
    return [entry.value for entry in before] != [entry.value for entry in after]


def _is_of_map(line: str) -> bool:
    """Say whether a line is about the map: a sentence, or the dots to draw lines between."""
    return is_about_lines(line) or _DOTS.fullmatch(line) is not None


def _at(line: int, what: str) -> str:
    return f"line {line}: {what}" if line else what


def _index(place: tuple[int, ...]) -> str:
    return f"[{','.join(str(index + 1) for index in place)}]"
