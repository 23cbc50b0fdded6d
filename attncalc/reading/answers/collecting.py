"""From blocks to parts of steps: what each block is called, on its own line or above it."""

import re
from dataclasses import dataclass, field

from attncalc.answer import Taken, Unread, WrittenConnection
from attncalc.fields import MATRICES
from attncalc.reading.answers.copying import Copies, values_of
from attncalc.reading.answers.expected import Expected
from attncalc.reading.answers.lines import connection_in
from attncalc.reading.answers.parts import Part
from attncalc.reading.answers.prose import could_be_entry, is_worked, role_of_words
from attncalc.reading.naming.name import Name, head_in, name_in, says_again
from attncalc.reading.naming.symbols import STEPS
from attncalc.reading.plain.blocks import Block
from attncalc.reading.plain.grids import Grid

_CAPTION = re.compile(r"\b(row|column)s? (\d{1,6})(?: to (\d{1,6}))? of \d+", re.IGNORECASE)
_NAMES_OF = re.compile(r"\s*(?:columns|rows|spalten|zeilen|colonnes|lignes|columnas|filas): ", re.I)
_ROMAN = re.compile(r"^\W*(?:head|kopf|t[eê]te|cabeza)\W*\d+\s*(?:of \d+)?\W*$", re.IGNORECASE)
SHORT_LABEL = 6
"""Words that a label has at most; more are prose, which names less surely."""
MOST_HEADS = 1000
WEAKLY = 1 / 3
"""The share of its numbers that must be right for a weak word to name a matrix."""


@dataclass
class Loose:
    """A matrix whose name is not known yet, and the parts that stand before it."""

    block: Block
    grid: Grid
    after: int
    own_name: str = ""
    is_correction: bool = False


@dataclass
class Collected:
    """What the blocks of an answer are, as far as their names say."""

    parts: list[Part] = field(default_factory=list)
    loose: list[Loose] = field(default_factory=list)
    taken: list[Taken] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    connections: list[WrittenConnection] = field(default_factory=list)


def collected(blocks: list[Block], expected: Expected) -> Collected:
    """Return what each block is, in the order in which they stand."""
    collector = _Collector(expected)
    for block in blocks:
        collector.take(block)
    return collector.found


class _Collector:
    """Goes through the blocks, and keeps whose the next matrix is."""

    def __init__(self, expected: Expected) -> None:
        self.expected = expected
        self.copies = Copies(expected)
        self.found = Collected()
        self.label: Name | None = None
        self.label_is_sure = self.is_fresh = self.again = False
        self.head = 0
        self.head_is_wide = self.head_is_new = False
        self.row_from = self.column_from = 0
        self.is_part = self.caption_is_new = False
        self.last: Part | None = None

    def take(self, block: Block) -> None:
        """Take one block."""
        if block.is_other:
            self._line_of_map(block)
        elif block.grid is None:
            self._words(block)
        else:
            self._numbers(block, block.grid)

    def _line_of_map(self, block: Block) -> None:
        if found := connection_in(block.text, self.head):
            self.found.connections.append(found)
        self.is_fresh = False
        self._note(block, "", "a line of the map")

    def _words(self, block: Block) -> None:
        """Take from words whose the next matrix is, and say what their numbers are."""
        captions = list(_CAPTION.finditer(block.text))
        for caption in captions:
            self._caption(caption)
        if _ROMAN.match(block.text) or (head_in(block.text) and self._name(block.names) is None):
            self.head, self.head_is_new = head_in(block.text), True
            self.is_fresh = self.label is not None
            self._note(block, "", "words")
            return
        if captions or _NAMES_OF.match(block.text):
            self._note(block, "", "words")
            return
        name = self._name(block.names)
        self.copies.look(block, self.found.remarks)
        self.again = self.again or says_again(block.text)
        if name and name.row and block.work and not block.goes_on:
            self._valued(block, name)
            return
        if name and not block.goes_on:
            self._announce(name, block)
        elif block.is_heading:
            self.label, self.is_fresh = None, False
        if block.factors and all(map(self._is_known, block.factors)):
            self._note(block, "", "a product of what is known")
            return
        role = role_of_words(block.text)
        if role or block.work:
            self._note(block, "", role or "a line of work")
        else:
            self._unread(block, "these numbers stand among words")

    def _valued(self, block: Block, name: Name) -> None:
        """Take an entry that was left as a calculation."""
        self._part(block, name, [[block.work[-1]]], "its calculation, which is worked out")

    def _announce(self, name: Name, block: Block) -> None:
        ends = block.text.rstrip().endswith((":", "=", "≈", "→"))
        words = len(re.findall(r"[^\W\d_]{2,}", block.text))
        is_sure = block.is_heading or words <= SHORT_LABEL or ends
        if self.is_fresh and self.label_is_sure and not is_sure:
            return
        if name.weak and (self.is_fresh or not ends):
            return
        self._begin(name)
        self.label_is_sure = is_sure

    def _begin(self, name: Name) -> None:
        if self.head_is_new:
            self.head_is_wide = True
        if name.head:
            self.head, self.head_is_wide = name.head, False
        elif not self.head_is_wide:
            self.head = 0
        self.head_is_new = False
        self.label, self.is_fresh = name, True
        if not self.caption_is_new:
            self.row_from = self.column_from = 0
            self.is_part = False
        self.caption_is_new = False

    def _caption(self, caption: "re.Match[str]") -> None:
        place = int(caption[2]) - 1
        if caption[1].lower() == "row":
            self.row_from, self.column_from = place, 0
        else:
            self.column_from = place
        self.is_part = self.caption_is_new = True

    def _name(self, names: list[str]) -> Name | None:
        """Return what the sides of an equation name: a symbol first, and its expression."""
        found = [name for text in names if (name := name_in(text, self.expected.labels))]
        if not found:
            return None
        first = next((name for name in found if not name.weak), found[0])
        others = [name for name in found if name.how == "expression" and not name.row]
        if others and not first.row and first.matrix in STEPS:
            return self._agreed(first, others[-1])
        return first

    def _agreed(self, symbol: Name, other: Name) -> Name:
        """Return the name of S = QK^T/√2, which is S_scaled, and of other pairs like that."""
        pair = symbol.matrix, other.matrix
        if pair in (("S", "S_scaled"), ("S", "S_masked"), ("A", "S"), ("A", "S_scaled")):
            return symbol._replace(matrix=other.matrix)
        if pair == ("H", "O") and self.expected.steps and "H" not in self.expected.steps:
            return symbol._replace(matrix="O")
        return symbol

    def _numbers(self, block: Block, grid: Grid) -> None:
        self.again = self.again or any(map(says_again, block.names))
        self.copies.look(block, self.found.remarks)
        name = self._name(block.names)
        if block.row_names and name is None and not self.is_fresh:
            heading = block.row_names[0]
            name = self._name([heading]) if len(block.row_names) == 1 else None
        if name is not None:
            if block.is_table and not name.row and self.is_fresh and self.label is not None:
                name = self.label  # a heading above, and a word in the corner of its table
            self._begin(name)
            self.is_fresh = False
            self._named(block, grid, name, "its name")
        elif block.goes_on and self.is_fresh and self.label is not None and not block.names:
            self.is_fresh = False
            self._named(block, grid, self.label, "the equation goes on")
        elif block.goes_on and self.last is not None and not block.names:
            self._named(block, grid, self._of_last(), "the equation goes on", replaces=True)
        elif block.names and not block.is_table:
            self._not_known(block, grid)
        elif self.is_fresh and self.label is not None and self._is_doubtful(grid):
            self._keep_loose(block, grid, "")
        elif self.is_fresh and self.label is not None and not self._is_stray(block):
            how = "its heading" if self.label.how != "words" else "the words above it"
            self.is_fresh = self.head_is_new = False
            self._named(block, grid, self.label, how)
        elif self.is_part and self.label is not None:
            self._named(block, grid, self.label, "it is a part of the one before")
        elif block.is_single:
            self._single(block)
        elif self._replaces_last(block, grid):
            self._named(block, grid, self._of_last(), "the result below its factors", replaces=True)
        else:
            self._keep_loose(block, grid, "")

    def _is_stray(self, block: Block) -> bool:
        """Say whether a single number cannot be what was announced."""
        if not block.is_single or self.label is None:
            return False
        shape = self.expected.shape(self.label.matrix)
        return bool(shape) and shape[-2:] != (1, 1) and not (self.label.row and self.label.column)

    def _is_doubtful(self, grid: Grid) -> bool:
        """Say whether a matrix is not what a weak word above it says: results, say."""
        label = self.label
        if label is None or not label.weak or label.matrix not in self.expected.steps:
            return False
        return self.expected.agreement(label.matrix, values_of(grid)) < WEAKLY

    def _is_known(self, factor: Grid) -> bool:
        """Say whether a factor is given, or was written before."""
        return bool(self.copies.name_of(factor)) or any(
            part.rows == factor.rows for part in self.found.parts
        )

    def _of_last(self) -> Name:
        last = self.last
        assert last is not None
        return Name(last.name, last.head, last.row, last.column)

    def _replaces_last(self, block: Block, grid: Grid) -> bool:
        """Say whether a matrix right below another one, without a name, is its result."""
        last = self.last
        if block.is_new or last is None or not last.is_whole or last.name not in self.expected.steps:
            return False
        shape = self.expected.shape(last.name)[-2:]
        return _size(grid) == shape and (len(last.rows), len(last.rows[0])) != shape

    def _not_known(self, block: Block, grid: Grid) -> None:
        """Take numbers under a name that is no step's."""
        if is_worked(block.names) and not block.factors:
            self._note(block, "", "a line of work")
        elif block.is_single:
            if could_be_entry(block.names):
                self._unread(block, f'"{block.names[0]}" is no entry of a step', could_be=True)
            else:
                self._note(block, "", "a number of its own")
        else:
            self._keep_loose(block, grid, block.names[0])

    def _single(self, block: Block) -> None:
        if block.work:
            self._note(block, "", "a line of work")
        else:
            self._unread(block, "a number alone", could_be=False)

    def _keep_loose(self, block: Block, grid: Grid, own_name: str) -> None:
        after = len(self.found.parts)
        self.found.loose.append(Loose(block, grid, after, own_name, self.again))
        self.again = False

    def _named(
        self, block: Block, grid: Grid, name: Name, how: str, *, replaces: bool = False
    ) -> None:
        if name.matrix in MATRICES and name.matrix not in STEPS:
            name = self._given(block, name)
            return
        if replaces and self.found.parts and self.found.parts[-1] is self.last:
            self.found.parts.pop()
        name = self._with_number(name, grid)
        if name.row and name.column and not block.is_single and len(grid.rows[0]) != 1:
            self._keep_loose(block, grid, "")
            return
        if name.is_vector and len(grid.rows) > 1 and len(grid.rows[0]) > 1:
            self._keep_loose(block, grid, "")
            return
        if block.is_single and not name.row and self._is_no_matrix(name):
            if name.how == "words":
                self._note(block, "", "a number of its own")
            else:
                self._unread(block, f"one number, where {name.matrix} has more", could_be=True)
            return
        if self.again:
            how = f"{how}, said to be a correction"
            self.again = False
        turned = (name.turned != block.turned) and name.matrix == "K"
        for number, rows in enumerate(grid.heads, start=1):
            several = number if len(grid.heads) > 1 else 0
            self._part(block, name._replace(turned=turned), rows, how, several)

    def _is_no_matrix(self, name: Name) -> bool:
        shape = self.expected.shape(name.matrix)
        return shape[-2:] != (1, 1) if shape else name.how == "words"

    def _given(self, block: Block, name: Name) -> Name:
        """Take a matrix of the problem itself, copied."""
        self.copies.compare(name.matrix, block, self.found.remarks)
        self._note(block, name.matrix, "given, copied")
        return name

    def _with_number(self, name: Name, grid: Grid) -> Name:
        """Settle what a bare number behind a capital is: a head, or a row."""
        if not name.number:
            return name
        is_row = len(grid.rows) == 1 or all(len(row) == 1 for row in grid.rows)
        heads = self.expected.heads(name.matrix)
        known = name.matrix in self.expected.steps
        if is_row and not heads and (known or name.how == "words" or len(grid.heads) == 1):
            return name._replace(row=name.number, number=0)
        if heads or not known:
            return name._replace(head=name.number, number=0)
        return name._replace(number=0)

    def _part(self, block: Block, name: Name, rows: list[list[str]], how: str, head: int = 0) -> None:
        head = head or name.head or self._head_of(name)
        if head > MOST_HEADS:
            self.found.faults.append(f"line {block.line}: {name.matrix}: there is no head {head}")
            return
        part = Part(
            name.matrix, head, name.row, name.column, rows, block.line,
            self.row_from, self.column_from, name.turned,
        )  # fmt: skip
        self.last = part
        self.found.parts.append(part)
        self._note(block, part.what, how)

    def _head_of(self, name: Name) -> int:
        """Return the head that is spoken of, for a step that has heads."""
        if name.matrix in self.expected.steps and not self.expected.heads(name.matrix):
            return 0
        return self.head

    def _note(self, block: Block, what: str, how: str) -> None:
        self.found.taken.append(Taken(block.line, block.last, what, how, block.text))

    def _unread(self, block: Block, why: str, *, could_be: bool | None = None) -> None:
        several = len(re.findall(r"\d+", block.text)) > 1
        matrix = several if could_be is None else could_be
        self.found.unread.append(Unread(block.line, block.text, why, matrix))


def _size(grid: Grid) -> tuple[int, int]:
    return len(grid.rows), max((len(row) for row in grid.rows), default=0)
