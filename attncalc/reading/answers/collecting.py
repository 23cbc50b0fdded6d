"""From blocks to parts of steps: what each block is called, on its own line or above it."""

import re
from dataclasses import dataclass, field

from attncalc.problem.fields import MATRICES
from attncalc.reading.answers.answer import Taken, Unread, WrittenConnection
from attncalc.reading.answers.copying import Copies, values_of
from attncalc.reading.answers.expected import Expected
from attncalc.reading.answers.labels import Labels
from attncalc.reading.answers.lines import connection_in
from attncalc.reading.answers.parts import Part
from attncalc.reading.answers.prose import (
    asks_for_work,
    could_be_entry,
    is_constant,
    is_size,
    is_worked,
    role_of_words,
)
from attncalc.reading.naming.name import Name, says_again
from attncalc.reading.naming.symbols import STEPS
from attncalc.reading.plain.blocks import Block
from attncalc.reading.plain.grids import Grid
from attncalc.reading.plain.rows import Rows

MOST_HEADS = 1000
_TOKEN = re.compile(
    r"\W*(?:(?:for|für|fuer|pour|para)\s+)?"
    r"(?:(?:token|tok|word|wort|mot|palabra|row|zeile|fila|ligne)\s*|(?-i:x_?))(\d{1,3})",
    re.IGNORECASE,
)
_WORD = re.compile(
    r"(?:(?:for|für|fuer|pour|para) )?(?:(?:the|das|den|le|la|el) )?"
    r"(?:(?:token|word|wort|mot|palabra) )?[\"'“„«»]?(.{1,60}?)[\"'”“»«]?",
    re.IGNORECASE,
)
"""What names a token by its word: For the word "cat"."""
WEAKLY = 1 / 3
"""The share of its numbers that must be right for a weak word to name a matrix."""


@dataclass
class Loose:
    """A matrix whose name is not known yet, and the parts that stand before it."""

    block: Block
    grid: Grid
    after: int
    own_name: str = ""
    head: int = 0
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
    collector.finish()
    return collector.found


class _Collector(Labels):
    """Goes through the blocks, and keeps whose the next matrix is."""

    def __init__(self, expected: Expected) -> None:
        super().__init__(expected)
        self.copies = Copies(expected)
        self.found = Collected()
        self.again = False
        self.last: Part | None = None
        self.token = 0, 0
        self.pending: list[Block] = []
        self.before: Block | None = None

    def take(self, block: Block) -> None:
        """Take one block."""
        if block.is_other:
            self._line_of_map(block)
        elif block.grid is None:
            self._words(block)
        else:
            self._numbers(block, block.grid)
        self.before = block

    def _line_of_map(self, block: Block) -> None:
        if found := connection_in(block.text, self.head):
            self.found.connections.append(found)
        self.is_fresh = False
        self._note(block, "", "a line of the map")

    def _words(self, block: Block) -> None:
        """Take from words whose the next matrix is, and say what their numbers are."""
        if self.takes_caption(block) or self._is_token(block):
            self._note(block, "", "words")
            return
        name = self.name(block.names)
        self.copies.look(block, self.found.remarks)
        self.again = self.again or says_again(block.text)
        if block.is_heading or (name and not block.goes_on):
            self.token = 0, 0
        if name and name.row and block.work and not block.goes_on:
            self._valued(block, name)
            return
        if asks_for_work(block.text):
            self.label, self.is_fresh, self.is_work = None, False, True
        elif name and not block.goes_on:
            self.announce(name, block)
        elif is_worked(block.names) and block.text.endswith(("=", ":")):
            self.label, self.is_fresh, self.is_work = None, False, True
        elif block.is_heading:
            self.label, self.is_fresh = None, False
        self._say_role(block)

    def _is_token(self, block: Block) -> bool:
        """Take from words alone that what follows is one token's, or one row."""
        clean = block.text.strip(" #*_:.-")
        if match := _TOKEN.fullmatch(clean):
            self.token = block.line, int(match[1])
            return True
        said = _WORD.fullmatch(clean)
        if said and said[1] in self.expected.labels and self.name([clean]) is None:
            self.token = block.line, self.expected.labels.row("Q", said[1])
            return True
        return False

    def _say_role(self, block: Block) -> None:
        """Say what the numbers among words are."""
        is_work = block.work or is_worked(block.names)
        role = role_of_words(block.text) or ("a line of work" if is_work else "")
        if block.factors:
            self.pending.append(block)
            self.last = None  # what goes on below is this product's
        elif role:
            self._note(block, "", role)
        else:
            self._unread(block, "these numbers stand among words")

    def finish(self) -> None:
        """Say what the numbers in products are, now that all the rest is read."""
        known = {_key(part.rows): True for part in self.found.parts}
        for block in self.pending:
            for each in block.factors:
                if (key := _key(each.rows)) not in known:
                    known[key] = bool(self.copies.name_of(each)) or self.copies.holds(each)
            is_known = all(known[_key(each.rows)] for each in block.factors)
            role = "a product of what is known" if is_known else role_of_words(block.text)
            if role:
                self._note(block, "", role)
            else:
                self._unread(block, "these numbers stand among words")

    def _valued(self, block: Block, name: Name) -> None:
        """Take an entry that was left as a calculation."""
        self._part(block, name, [[block.work[-1]]], "its calculation, which is worked out")

    def _numbers(self, block: Block, grid: Grid) -> None:
        """Take numbers: by their own name, as what goes on, by what was said above, or unnamed."""
        self.again = self.again or any(map(says_again, block.names))
        self.copies.look(block, self.found.remarks)
        for text in block.names:
            if match := _TOKEN.fullmatch(text.strip()):
                self.token = block.line, int(match[1])
        if self._by_own_name(block, grid) or self._by_going_on(block, grid):
            return
        if block.names and not block.is_table:
            self._not_known(block, grid)
        elif not self._by_label(block, grid):
            self._without_name(block, grid)

    def _by_own_name(self, block: Block, grid: Grid) -> bool:
        if self._are_several(block, grid):
            return True
        name = self._of_token(block, grid) or self.name(block.names)
        if name is None and len(block.row_names) == 1 and not self.is_fresh:
            name = self.name(block.row_names)
        if name is None:
            return False
        if block.is_table and not name.row and self.is_fresh and self.label is not None:
            name = self.label  # a heading above, and a word in the corner of its table
        self.begin(name)
        self.is_fresh = False
        self._named(block, grid, name, "its name")
        return True

    def _are_several(self, block: Block, grid: Grid) -> bool:
        """Take one number for several entries, a_12 = a_13 = 0, or one row for several of them."""
        if len(block.names) < 2 or len(grid.rows) > 1:
            return False
        said = [self.name([each]) for each in block.names]
        names = [self._with_number(each, grid) for each in said if each]
        places = {each[:4] for each in names if each.row and bool(each.column) == block.is_single}
        if len(places) < len(said) or len({each.matrix for each in names}) > 1:
            return False
        for name in names:
            self._named(block, grid, name, "its name")
        return True

    def _of_token(self, block: Block, grid: Grid) -> Name | None:
        """Return the row that a token's name says: token 1: q = …, or Outputs: I = …, see = …."""
        if len(grid.rows) != 1 or len(grid.heads) > 1 or block.is_single or not block.names:
            return None
        last = block.names[-1].strip()
        if last in self.expected.labels and (base := self.name(block.names[:-1]) or self.label):
            return base._replace(row=self.expected.labels.row(base.matrix, last), number=0)
        line, row = self.token
        base = self.name(block.names[-1:])
        if line == block.line and base and not base.row and not base.number:
            return base._replace(row=row)
        return None

    def _by_going_on(self, block: Block, grid: Grid) -> bool:
        """Take what goes on with an equation: of the words above, or of the matrix before."""
        if not block.goes_on or block.names:
            return False
        if self.before in self.pending[-1:]:
            self._note(self.pending.pop(), "", "factors, and their product below them")
        if self.is_fresh and self.label is not None:
            self.is_fresh = False
            self._named(block, grid, self.label, "the equation goes on")
            return True
        if self.last is None:
            return False
        if self.label is not None and self.token[0] > self.last.line and len(grid.rows) == 1:
            self._named(block, grid, self.label, "the equation goes on")
            return True
        self._named(block, grid, self._of_last(), "the equation goes on", replaces=True)
        return True

    def _by_label(self, block: Block, grid: Grid) -> bool:
        """Take what stands below a heading or a label, or a further part of the same matrix."""
        if self.label is None:
            return False
        if self.is_fresh and self._is_doubtful(grid):
            self._keep_loose(block, grid, "")
            return True
        if self.is_fresh and not self._is_stray(block):
            if self._beside(block, grid):
                return True
            how = "its heading" if self.label.how != "words" else "the words above it"
            self.is_fresh = self.head_is_new = False
            self._named(block, grid, self.label, how)
            return True
        if self.is_part:
            self._named(block, grid, self.label, "it is a part of the one before")
        return self.is_part

    def _beside(self, block: Block, grid: Grid) -> bool:
        """Take several matrices side by side under the names above them."""
        names, rows = self.beside, grid.rows
        widths = [self.expected.shape(name.matrix)[-1:] for name in names]
        if (
            not names
            or not all(widths)
            or {len(row) for row in rows} != {sum(w[0] for w in widths)}
        ):
            return False
        start = 0
        for name, (width,) in zip(names, widths, strict=True):
            part = [row[start : start + width] for row in rows]
            self._named(block, grid._replace(heads=(part,)), name, "the names above its columns")
            start += width
        self.is_fresh = False
        return True

    def _without_name(self, block: Block, grid: Grid) -> None:
        if self.is_work:
            self.is_work = False
            self._note(block, "", "work on the way")
            return
        if block.is_single:
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

    def _of_last(self) -> Name:
        last = self.last
        assert last is not None
        return Name(last.name, last.head, last.row, last.column)

    def _replaces_last(self, block: Block, grid: Grid) -> bool:
        """Say whether a matrix right below another one, without a name, is its result."""
        last = self.last
        if (
            block.is_new
            or last is None
            or not last.is_whole
            or last.name not in self.expected.steps
        ):
            return False
        shape = self.expected.shape(last.name)[-2:]
        return _size(grid) == shape and (len(last.rows), len(last.rows[0])) != shape

    def _not_known(self, block: Block, grid: Grid) -> None:
        """Take numbers under a name that is no step's."""
        if is_worked(block.names) and not block.factors:
            self._note(block, "", "a line of work")
        elif is_constant(block.names) and (block.is_single or is_size(grid.rows)):
            self._note(block, "", "a dimension, or a number of its own")
        elif block.is_single:
            if any(map(str.isalpha, "".join(block.names))) and could_be_entry(block.names):
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
        is_below = not own_name and (self.head_is_wide or self.head_is_new)
        head = self.head if is_below else 0
        self.found.loose.append(Loose(block, grid, after, own_name, head, self.again))
        self.again = False

    def _named(
        self, block: Block, grid: Grid, name: Name, how: str, *, replaces: bool = False
    ) -> None:
        """Take numbers that have a name, where they can be what it says."""
        if self._is_given(name):
            self._given(block, grid, name)
            return
        if (given := self.copies.is_copy(grid)) and not self._fits(name, grid):
            self._note(block, given, "given, copied")
            return
        if replaces and self.found.parts and self.found.parts[-1] is self.last:
            self.found.parts.pop()
        name = self._of_row(self._with_number(name, grid), grid)
        if _is_too_large(name, block, grid):
            self._keep_loose(block, grid, "")
        elif block.is_single and not name.column and self._is_no_matrix(name):
            self._alone(block, name)
        else:
            self._keep(block, grid, name, how)

    def _fits(self, name: Name, grid: Grid) -> bool:
        """Say whether a matrix is a row, an entry or all of what its name says, as far as known."""
        is_part = name.row or name.column or name.number or name.turned or len(grid.rows) == 1
        shape = self.expected.shape(name.matrix)
        return bool(is_part) or not shape or shape[-2:] == _size(grid)

    def _is_given(self, name: Name) -> bool:
        """Say whether a name is that of a matrix of the problem, as Q is where it is given."""
        matrix, steps = name.matrix, self.expected.steps
        if matrix in STEPS:
            return matrix in self.expected.given and matrix not in steps
        return matrix in MATRICES

    def _of_row(self, name: Name, grid: Grid) -> Name:
        """Return the name of one row, where a token was named above and one row stands below."""
        shape = self.expected.shape(name.matrix)
        is_place = name.row or name.column or name.number or len(grid.heads) > 1
        if is_place or not self.token[1] or len(grid.rows) > 1 or shape[-2:-1] == (1,):
            return name
        return name._replace(row=self.token[1])

    def _keep(self, block: Block, grid: Grid, name: Name, how: str) -> None:
        if self.again:
            how = f"{how}, said to be a correction"
            self.again = False
        turned = (name.turned != block.turned) and name.matrix == "K"
        for number, rows in enumerate(grid.heads, start=1):
            several = number if len(grid.heads) > 1 else 0
            self._part(block, name._replace(turned=turned), rows, how, several)

    def _alone(self, block: Block, name: Name) -> None:
        """Take one number under the name of a matrix that has more."""
        if (
            is_constant(block.names)
            or is_constant(block.work)
            or (name.how == "words" and not name.row)
        ):
            self._note(block, "", "a number of its own")
        else:
            self._unread(block, f"one number, where {name.matrix} has more", could_be=True)

    def _is_no_matrix(self, name: Name) -> bool:
        shape = self.expected.shape(name.matrix)
        if name.row:
            return bool(shape) and shape[-2 if self.expected.by_columns else -1] != 1
        return shape[-2:] != (1, 1) if shape else name.how == "words"

    def _given(self, block: Block, grid: Grid, name: Name) -> None:
        """Take a matrix of the problem itself, copied; what only words call one may be another."""
        given = self.expected.given
        may_be_other = name.how == "words" or name.matrix not in given
        is_other = may_be_other and not name.row and not self.copies.name_of(grid)
        if given and is_other and not block.is_single:
            self._keep_loose(block, grid, "" if name.matrix in given else name.matrix)
            return
        self.copies.compare(name.matrix, block, self.found.remarks)
        self._note(block, name.matrix, "given, copied")

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

    def _part(
        self, block: Block, name: Name, rows: list[list[str]], how: str, head: int = 0
    ) -> None:
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


def _key(rows: Rows) -> tuple[tuple[str, ...], ...]:
    return tuple(map(tuple, rows))


def _size(grid: Grid) -> tuple[int, int]:
    return len(grid.rows), max((len(row) for row in grid.rows), default=0)


def _is_too_large(name: Name, block: Block, grid: Grid) -> bool:
    """Say whether numbers are more than the entry, or the row, that their name says."""
    if name.row and name.column:
        return not block.is_single and len(grid.rows[0]) != 1
    return name.is_vector and len(grid.rows) > 1 and len(grid.rows[0]) > 1
