"""From blocks to parts of steps: what each block is called, on its own line or above it."""

import re
from dataclasses import dataclass, field

import numpy as np

from attncalc.problem.fields import MATRICES
from attncalc.problem.gradients.naming import gradient_from
from attncalc.reading.answers.answer import (
    Taken,
    Unread,
    WrittenConnection,
    matrix_of_entries,
)
from attncalc.reading.answers.copying import LIKE, Copies, values_of
from attncalc.reading.answers.expected import Expected, share_alike
from attncalc.reading.answers.labels import Labels
from attncalc.reading.answers.lines import attention_in, connection_in
from attncalc.reading.answers.parts import Part, entries_of
from attncalc.reading.answers.prose import (
    PROSE,
    asks_for_work,
    could_be_entry,
    is_constant,
    is_of_powers,
    is_size,
    is_telephone,
    is_worked,
    numbers_in,
    role_of_words,
)
from attncalc.reading.naming.at_hand import is_step_at_hand
from attncalc.reading.naming.layer_words import kind_of
from attncalc.reading.naming.name import Name, head_in, is_on_the_way, says_again
from attncalc.reading.naming.symbols import STEPS
from attncalc.reading.plain.blocks import Block
from attncalc.reading.plain.grids import Grid
from attncalc.reading.plain.numerals import read_entry
from attncalc.reading.plain.rows import Rows, without_counted_rows, without_counts_from_0

MOST_HEADS = 1000
SENTENCE = 6
"""Words from which a line that begins with a number is prose: 2 heads, their outputs …."""
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
_SIDE_BY_SIDE = re.compile(r"\d(?:\s?+[|;]\s?+[-+]?|,\s[-+]?|\s)\d")
"""Numbers with no sign of arithmetic between them."""
_LISTED = re.compile(
    r"(?<![\w.,;/^_\[({-])"
    r"(?:[-+]?\d{1,9}(?:[.,]\d{1,9})?%?(?:, ?| ?; ?| and | und | et | y | )){2,9}"
    r"[-+]?\d{1,9}(?:[.,]\d{1,9})?%?(?![\w/^)\]}])"
)
"""Three numbers or more, side by side."""
_SHARE = re.compile(
    r"([^\W\d][^\s:=,;\"“”]{0,40})[\"”]?(?: ?[:=])? [-+]?(?:\d{0,9}[.,]\d|\d{1,3} ?%)"
)
"""A word, and a decimal or a percentage behind it."""
_SENTENCES = re.compile(r"[.;] ")
LONGEST_PROSE = 400
_SHAPE = re.compile(r"\b(?:shapes?|sizes?|dim\w{0,12}|größe|taille|forme?|tamaño)\b", re.I)
_PAIR = re.compile(r"\d\.\d{1,9}%?,? (?:(?:and|und|et|y) )?[-+]?\d")
_BESIDE_TOKEN = " \t-*·\"'“”„«»"
"""What stands beside a token: the sign of a list, and marks of quotation."""
MASKS = -1000
"""What a mask adds, at the most, where it forbids."""
SURELY = 0.8
"""The share of its numbers that must be right for what is called work to be a step."""
MOST_ALONE = 2
"""Numbers without a name that a line may hold and be no row."""
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
    kind: str = ""
    """What is said right above it: mu or var, of which layer it is not."""


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
        self.of_map = ""
        self.last: Part | None = None
        self.token = 0, 0
        self.token_is_inline = False
        self.on_line = (0, "", 0)
        self.counts = ""
        self.pending: list[Block] = []
        self.told: list[Block] = []
        self.before: Block | None = None

    def take(self, block: Block) -> None:
        """Take one block."""
        if block.is_new and self.token_is_inline:
            self.token = 0, 0
        self.learn(block.names)
        if block.is_other:
            self._line_of_map(block)
        elif block.grid is None:
            self._words(block)
        else:
            self._numbers(block, block.grid)
        self.before = block

    def _line_of_map(self, block: Block) -> None:
        if found := connection_in(block.text, self.head, self.of_map):
            self.found.connections.append(found)
        self.is_fresh = False
        self._note(block, "", "a line of the map")

    def _words(self, block: Block) -> None:
        """Take from words whose the next matrix is, and say what their numbers are."""
        self._say_map(block)
        if self.takes_caption(block) or self._is_token(block):
            self._note(block, "", "words")
            return
        name = self.name(block.names) or next(iter(self.names_beside(block)), None)
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
        elif self.is_of_work(block.names) and (
            _says_only(block.text) or is_on_the_way(block.names[-1])
        ):
            self.label, self.is_fresh, self.is_work = None, False, True
        elif block.is_heading:
            self.label, self.is_fresh = None, False
        self._say_role(block)

    def _say_map(self, block: Block) -> None:
        """Take from words which attention's map follows; a heading without a word is of none."""
        of = attention_in(block.text)
        if of and of != self.of_map and not head_in(block.text):
            self.head = 0  # that of the attention before: this one may have none
        if of or block.is_heading:
            self.of_map = of

    def _is_token(self, block: Block) -> bool:
        """Take from words alone that what follows is one token's, or one row."""
        clean = block.text.strip(" #*_:.-")
        if match := _TOKEN.fullmatch(clean):
            self.token, self.token_is_inline = (block.line, int(match[1])), False
            return True
        said = _WORD.fullmatch(clean)
        if said and said[1] in self.expected.labels and self.name([clean]) is None:
            self.token = block.line, self.expected.labels.row("Q", said[1])
            self.token_is_inline = False
            return True
        return False

    def _say_role(self, block: Block) -> None:
        """Say what the numbers among words are."""
        is_work = block.work or self.is_of_work(block.names)
        said = role_of_words(block.text)
        if not said and self.is_work and is_worked([block.text]):  # rows with their sums
            said = "work on the way"
        if said == PROSE and (_LISTED.search(block.text) or self._tells_of_tokens(block.text)):
            said = ""
        if not said and is_work and self._ends_in_step(block.text):
            is_work = False
        role = said or ("a line of work" if is_work else "")
        is_told = said == PROSE and not (block.factors or "=" in block.text)
        if is_told and len(numbers_in(block.text)) > MOST_ALONE:
            self.told.append(block)
            return
        if block.factors:
            self.pending.append(block)
            self.last = None  # what goes on below is this product's
        elif role and not self._holds_rows(block):
            self._note(block, "", role)
        else:
            self._unread(block, "these numbers stand among words")

    def _tells_of_tokens(self, text: str) -> bool:
        """Say whether a decimal stands behind the word of a token: upon gets once 0.20."""
        found = _SHARE.findall(text[:LONGEST_PROSE]) if self.expected.labels else []
        return any(word in self.expected.labels and not word.isdigit() for word in found)

    def _ends_in_step(self, text: str) -> bool:
        """Say whether numbers side by side stand behind a step's name: … Weights 0.2, 0.8, 0."""
        pieces = _SENTENCES.split(text[:LONGEST_PROSE])
        said = [_LISTED.sub(" ", piece) for piece in pieces if _LISTED.search(piece)]
        return any(self.name([piece]) is not None for piece in said)

    def _holds_rows(self, block: Block) -> bool:
        """Say whether the work behind the name of a step is numbers side by side, and no sum."""
        name = self.name(block.names) if any(map(_SIDE_BY_SIDE.search, block.work)) else None
        return name is not None and not name.row and not self._is_given(name)

    def finish(self) -> None:
        """Say what the numbers in products are, now that all the rest is read."""
        self._finish_told()
        there = [part.rows for part in self.found.parts] if self.pending else []
        there += [loose.grid.rows for loose in self.found.loose] if self.pending else []
        known = {key(rows): True for rows in there for key in (_key, _turned)}
        for block in self.pending:
            for each in block.factors:
                if (key := _key(each.rows)) not in known:
                    known[key] = bool(self.copies.name_of(each)) or self.copies.holds(each)
            others = [each for each in block.factors if not known[_key(each.rows)]]
            role = role_of_words(block.text) if others else "a product of what is known"
            if role and not (role == PROSE and self._are_vectors(block, others)):
                self._note(block, "", role)
            else:
                self._unread(block, "these numbers stand among words")

    def _finish_told(self) -> None:
        """Say of sentences with many numbers whether they say again what stands elsewhere."""
        matrices = [*self.expected.given.values()] if self.told else []
        known = {abs(float(each)) for matrix in matrices for each in np.ravel(matrix)}
        for part in self.found.parts if self.told else ():
            values = matrix_of_entries([entries_of(part.rows)], "").values
            known |= {abs(float(each)) for each in values.ravel()}
        for block in self.told:
            said = [read_entry(each).value for each in numbers_in(block.text)]
            are_known = all(each is not None and abs(float(each)) in known for each in said)
            if are_known or self.name(_SENTENCES.split(block.text[:LONGEST_PROSE])) is None:
                self._note(block, "", PROSE)
            else:
                self._unread(block, "these numbers stand among words")

    def _are_vectors(self, block: Block, grids: list[Grid]) -> bool:
        """Say whether what stands in brackets among words may be rows of a step, and no sizes."""
        is_size_told = is_constant(block.names) or _SHAPE.search(block.text) is not None
        rows = [row for each in grids for row in each.rows]
        widths = {key.shape[-1] for key in self.expected.steps.values()}
        return len(rows) > 1 and not is_size_told and {len(row) for row in rows} <= widths

    def _valued(self, block: Block, name: Name) -> None:
        """Take an entry that was left as a calculation."""
        self._part(block, name, [[block.work[-1]]], "its calculation, which is worked out")

    def _numbers(self, block: Block, grid: Grid) -> None:
        """Take numbers: by their own name, as what goes on, by what was said above, or unnamed."""
        grid = self._without_counts(grid)
        self.again = self.again or any(map(says_again, block.names))
        self.copies.look(block, self.found.remarks)
        for text in block.names:
            if match := _TOKEN.fullmatch(text.strip()):
                self.token, self.token_is_inline = (block.line, int(match[1])), True
        if any(_LISTED.search(name) or _PAIR.search(name) for name in block.names):
            self._unread(block, "numbers stand before its name, too", could_be=True)
        if self._by_own_name(block, grid) or self._by_going_on(block, grid):
            return
        if block.names and (not block.is_table or is_of_powers(block.names)):
            self._not_known(block, grid)
        elif not self._by_label(block, grid):
            self._without_name(block, grid)

    def _without_counts(self, grid: Grid, name: Name | None = None) -> Grid:
        """Return a table without its counts, where only its entries have a shape we know."""
        both = without_counts_from_0(grid.rows), without_counted_rows(grid.rows)
        if len(grid.heads) > 1 or not any(both):
            return grid
        known = [*self.expected.steps.values(), *self.expected.given.values()]
        shapes = {np.atleast_2d(matrix).shape[-2:] for matrix in known}
        if name and self.expected.shape(name.matrix):
            shapes = {self.expected.shape(name.matrix)[-2:]}
        for rows in both:
            if rows and _size(grid) not in shapes and (len(rows), len(rows[0])) in shapes:
                return grid._replace(heads=(rows,))
        return grid

    def _by_own_name(self, block: Block, grid: Grid) -> bool:
        if self._are_several(block, grid):
            return True
        name = self._of_token(block, grid) or self.name(block.names)
        if name is None and len(block.row_names) == 1 and not self.is_fresh:
            name = self.name(block.row_names)
        if name is None:
            return False
        if block.is_table and not name.row and self.is_fresh and self.label is not None:
            is_corners = self._fits(name, grid) and not self._fits(self.label, grid)
            # a heading above, and a word in the corner of its table
            name = name if is_corners else self.label
        counts = ""
        if self._is_counted_by(name, grid) and (label := self._label_of_rows(grid)):
            name = label._replace(row=name.row, column=0, number=0)  # q1: 1 3 2, below Scores
            counts = label.matrix
        self.counts = counts
        self.begin(name)
        self.is_fresh = False
        self._named(block, grid, name, "its name")
        return True

    def _is_counted_by(self, name: Name, grid: Grid) -> bool:
        """Say whether a vector's name only counts a row of something else.

        It has another width, or all of the matrix that is named was written before.
        """
        width = self.expected.shape(name.matrix)[-1:]
        label = self.label
        if label is None or not name.row or name.column or len(grid.rows) > 1 or self.again:
            return False
        if width and width != (len(grid.rows[0]),):
            return True
        if not (self.is_fresh or self.counts == label.matrix) or label.matrix == name.matrix:
            return False
        if name.matrix == "S" and label.matrix in ("S_scaled", "S_masked"):
            return not self._is_row_of(name, grid)
        before = [each for each in self.found.parts if each.name == name.matrix]
        own = [each for each in before if each.is_whole or each.row == name.row]
        return any(grid.rows[0] not in each.rows for each in own)

    def _is_row_of(self, name: Name, grid: Grid) -> bool:
        """Say whether a row has the numbers of that row of a step."""
        key = self.expected.steps.get(name.matrix)
        if key is None or key.ndim != 2 or name.row > len(key):
            return True
        return share_alike(values_of(grid), key[name.row - 1 : name.row]) >= LIKE

    def _are_several(self, block: Block, grid: Grid) -> bool:
        """Take one number for several entries, a_12 = a_13 = 0, or one row for several of them."""
        if len(block.names) < 2 or len(grid.rows) > 1:
            return False
        said = [self.name([each]) for each in block.names]
        while said and not (said[0] and said[0].row):  # words before it: the first two: a1 = a2 = …
            said = said[1:]
        names = [self._with_number(each, grid) for each in said if each]
        places = {each[:4] for each in names if each.row and bool(each.column) == block.is_single}
        if len(said) < 2 or len(places) < len(said) or len({each.matrix for each in names}) > 1:
            return False
        for name in names:
            self._named(block, grid, name, "its name")
        return True

    def _of_token(self, block: Block, grid: Grid) -> Name | None:
        """Return the row that a token's name says: token 1: q = …, or Outputs: I = …, see = …."""
        if len(grid.rows) != 1 or len(grid.heads) > 1 or block.is_single or not block.names:
            return None
        last = block.names[-1].strip(_BESIDE_TOKEN)
        if last in self.expected.labels and (base := self.name(block.names[:-1]) or self.label):
            return base._replace(row=self.expected.labels.row(base.matrix, last), number=0)
        line, row = self.token
        base = self.name(block.names[-1:])
        if line != block.line:
            return None
        if base is None and (said := self._step_before(block, grid)):
            return said._replace(row=row)  # softmax, row 1: [0.2 0.8]
        if base is None:  # row 1: [0.2 0.8], below its heading
            label = self._label_of_rows(grid, row) if self._goes_on_with_rows() else None
            return label and label._replace(row=row, column=0, number=0)
        if self._is_given(base) and (label := self._label_of_rows(grid)):
            return label._replace(row=row, column=0, number=0)  # x1 -> (1, 3), below Queries
        return base._replace(row=row) if not base.row and not base.number else None

    def _step_before(self, block: Block, grid: Grid) -> Name | None:
        """Return the step that is named before the row of it, where the row is of its width."""
        said = self.name(block.names[:-1])
        if said is None or not said.is_whole or self._is_given(said):
            return None
        return said if self.expected.shape(said.matrix)[-1:] == (len(grid.rows[0]),) else None

    def _goes_on_with_rows(self) -> bool:
        """Say whether rows of what was named last may stand here: none, or the ones before."""
        label, last = self.label, self.last
        if label is None:
            return False
        return self.is_fresh or (last is not None and bool(last.row) and last.name == label.matrix)

    def _label_of_rows(self, grid: Grid, row: int = 0) -> Name | None:
        """Return the step whose rows stand below its name, where a row is one of them.

        A row that stands in a given matrix, too, is one if it has that row's numbers, or is next.
        """
        label = self.label
        if label is None or self._is_given(label):
            return None
        last = self.last
        is_next = last is not None and (last.name, last.row) == (label.matrix, row - 1)
        is_it = bool(row) and (is_next or self._is_row_of(label._replace(row=row), grid))
        if self.copies.holds(grid) and not is_it:
            return None
        return label if self.expected.shape(label.matrix)[-1:] == (len(grid.rows[0]),) else None

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
            if self.beside and not self._fits(self.label, grid):
                self._keep_loose(block, grid, "")
                return True
            how = "its heading" if self.label.how != "words" else "the words above it"
            self.is_fresh = self.head_is_new = False
            self._named(block, grid, self.label, how)
            return True
        if self.is_part:
            self._named(block, grid, self.label, "it is a part of the one before")
        return self.is_part or self._by_counted_rows(block, grid)

    def _by_counted_rows(self, block: Block, grid: Grid) -> bool:
        """Take rows 2 and 3 below row 1 of what was named: each says which one it is."""
        if self._by_token_above(block, grid):
            return True
        counts = [_TOKEN.fullmatch(name) for name in block.row_names]
        label = self._label_of_rows(grid) if self._goes_on_with_rows() else None
        if label is None or self.last is None or len(counts) != len(grid.rows) or None in counts:
            return False
        rows = [int(each[1]) for each in counts if each]
        if rows != [*range(self.last.row + 1, self.last.row + 1 + len(rows))]:
            return False
        for row, cells in zip(rows, grid.rows, strict=True):
            name = label._replace(row=row, column=0, number=0)
            self._named(block, grid._replace(heads=([cells],)), name, "rows below the one before")
        return True

    def _by_token_above(self, block: Block, grid: Grid) -> bool:
        """Take a row below the line that says which it is: Row 2, and work below that."""
        line, row = self.token
        if self.last is None or not row or line <= self.last.line or len(grid.rows) != 1:
            return False
        label = self._label_of_rows(grid, row) if self._goes_on_with_rows() else None
        if label is None or block.row_names or block.is_single:
            return False
        name = label._replace(row=row, column=0, number=0)
        self._named(block, grid, name, "the row that is named above it")
        return True

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
        if self.is_work and not self._is_like_a_step(grid):
            self.is_work = False
            self._note(block, "", "work on the way")
            return
        if block.is_single:
            self._single(block)
        elif is_telephone(block.text):
            self._note(block, "", "a telephone number")
        elif self._replaces_last(block, grid):
            self._named(block, grid, self._of_last(), "the result below its factors", replaces=True)
        else:
            self._keep_loose(block, grid, "")

    def _is_like_a_step(self, grid: Grid) -> bool:
        """Say whether what is called work has the numbers of a step: max(0, N_1 W_1)."""
        values = values_of(grid)
        if len(grid.rows) < 2:  # a vector of one number for each token
            values = values.T if values.size > MOST_ALONE else values[:0]
        return any(self.expected.agreement(each, values) > SURELY for each in self.expected.steps)

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
        if self.is_of_work(block.names) and not block.factors and not self._is_like_a_step(grid):
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
        elif len(block.text.split()) >= SENTENCE and (role := role_of_words(block.text)):
            self._note(block, "", role)
        else:
            several = len(set(numbers_in(block.text))) > MOST_ALONE
            self._unread(block, "a number alone", could_be=several)

    def _keep_loose(self, block: Block, grid: Grid, own_name: str) -> None:
        after = len(self.found.parts)
        is_below = not own_name and (self.head_is_wide or self.head_is_new)
        head = self.head if is_below else 0
        kind = kind_of(self.before.text) if self.before and not own_name else ""
        steps = (step.rpartition(".")[2] for step in self.expected.steps)
        kind = kind if any(step.startswith(f"{kind}_") for step in steps) else ""
        self.found.loose.append(Loose(block, grid, after, own_name, head, self.again, kind))
        self.again = False

    def _named(
        self, block: Block, grid: Grid, name: Name, how: str, *, replaces: bool = False
    ) -> None:
        """Take numbers that have a name, where they can be what it says."""
        if self._is_given(name):
            self._given(block, grid, name)
            return
        name = self._of_one_head(name, grid)
        if (given := self._copied(name, grid)) is not None:
            self._note(block, given, "given, copied")
            return
        if replaces and self.found.parts and self.found.parts[-1] is self.last:
            self.found.parts.pop()
        grid = self._without_counts(grid, name)
        name = self._of_row(self._with_number(name, grid), grid)
        name = self._of_head_beside(block, name)
        if name.matrix.endswith("S_masked") and self._is_mask(name, grid):
            self._note(block, "", "the mask itself")
        elif _is_too_large(name, block, grid):
            self._keep_loose(block, grid, "")
        elif block.is_single and not name.column and self._is_no_matrix(name):
            self._alone(block, name, grid)
        else:
            self._keep(block, grid, name, how)

    def _copied(self, name: Name, grid: Grid) -> str | None:
        """Return the given matrix that a grid is, where it cannot be what its name says.

        It is "" for a row of one: "for x1 = (1, 0, 2)" is no query. None where it is no copy.
        """
        given = self.copies.is_copy(grid)
        if given and not self._fits(name, grid):
            return given
        width = self.expected.shape(name.matrix)[-1:]
        is_other = name.row and width and width != (len(grid.rows[0]),)
        return "" if is_other and self.copies.is_row(grid) else None

    def _of_one_head(self, name: Name, grid: Grid) -> Name:
        """Return outputs as those of one head, where they can be no others."""
        if name.matrix != "O":
            return name
        if self.head and (self._is_of_head(grid) or self._is_nearer_to_head(grid)):
            return name._replace(matrix="H")
        if name.number and self._is_heads_own(grid):
            return name._replace(matrix="H", head=name.number, number=0)
        return name

    def _is_of_head(self, grid: Grid) -> bool:
        """Say whether outputs have the size of one head's, and not of all heads together."""
        sizes = [self.expected.shape(each)[-2:] for each in ("H", "O")]
        return sizes[0] == _size(grid) != sizes[1]

    def _is_nearer_to_head(self, grid: Grid) -> bool:
        """Say whether outputs below the name of a head are those of that head, by their numbers."""
        heads = self.expected.steps.get("H")
        if heads is None or heads.ndim != 3 or not 0 < self.head <= len(heads):
            return False
        values = values_of(grid)
        if values.ndim != 2:
            return False
        own = share_alike(values, heads[self.head - 1])
        return own > SURELY and own > self.expected.agreement("O", values)

    def _is_heads_own(self, grid: Grid) -> bool:
        """Say whether a matrix under Z_2 is of the second of several heads, put together later."""
        shape = self.expected.shape("H")
        return len(shape) == 3 and len(grid.rows) > 1 and shape[-2:] == _size(grid)

    def _is_mask(self, name: Name, grid: Grid) -> bool:
        """Say whether a matrix says where a mask forbids, and no scores: 0 and 1, or 0 and -∞."""
        values = values_of(grid)
        is_one = len(grid.rows) > 1 and len({*values.ravel()}) == 2
        is_one = is_one and all(each in (0, 1) or each <= MASKS for each in values.ravel())
        return bool(is_one) and self.expected.agreement(name.matrix, values) < LIKE

    def _of_head_beside(self, block: Block, name: Name) -> Name:
        """Return the name of the head in whose column a matrix stands: Head 1     Head 2."""
        if not self.heads_beside or name.head or not self.expected.heads(name.matrix):
            return name
        line, matrix, count = self.on_line
        count = count + 1 if (line, matrix) == (block.line, name.matrix) else 0
        self.on_line = block.line, name.matrix, count
        heads = self.heads_beside
        return name._replace(head=heads[count]) if count < len(heads) else name

    def _fits(self, name: Name, grid: Grid) -> bool:
        """Say whether a matrix is a row, an entry or all of what its name says, as far as known."""
        is_part = name.row or name.column or name.number or name.turned or len(grid.rows) == 1
        shape = self.expected.shape(name.matrix)
        return bool(is_part) or not shape or shape[-2:] == _size(grid)

    def _is_given(self, name: Name) -> bool:
        """Say whether a name is that of a matrix of the problem, as Q is where it is given."""
        matrix, steps = name.matrix, self.expected.steps
        if matrix in STEPS or matrix in steps or is_step_at_hand(matrix):
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
        again, self.again = self.again, False
        how = f"{how}, said to be a correction" if again else how
        turned = (name.turned != block.turned) and self._may_be_turned(name, grid)
        for number, rows in enumerate(grid.heads, start=1):
            several = number if len(grid.heads) > 1 else 0
            self._part(block, name._replace(turned=turned), rows, how, several)
            if again and self.last is not None and self.found.parts[-1:] == [self.last]:
                self.last = self.found.parts[-1] = self.last._replace(is_again=True)

    def _may_be_turned(self, name: Name, grid: Grid) -> bool:
        """Say whether a matrix that is called a transpose is one: its shape says so, or numbers."""
        height, width = self.expected.shape(name.matrix)[-2:] or (0, 0)
        if name.matrix == "K" or not height or name.is_vector or len(grid.heads) > 1:
            return name.matrix == "K"
        if height != width:
            return _size(grid) == (width, height)
        values = values_of(grid)
        agreement = self.expected.agreement
        return agreement(name.matrix, values.T) > agreement(name.matrix, values)

    def _alone(self, block: Block, name: Name, grid: Grid) -> None:
        """Take one number under the name of a matrix that has more."""
        starts_with_ones = gradient_from(name.matrix) is not None and grid.rows == [["1"]]
        if (
            starts_with_ones
            or is_constant(block.names)
            or is_constant(block.work)
            or (block.work and is_worked(block.names))
            or (name.how == "words" and not name.row)
        ):
            self._note(block, "", "a number of its own")
            self.is_fresh = self.is_fresh or starts_with_ones  # all of them may stand below it
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
        if not block.is_single and len(grid.rows) > 1 and self._is_rather_a_step(grid):
            self._keep_loose(block, grid, "")
            return
        may_be_other = name.how == "words" or name.matrix not in given
        is_other = may_be_other and not self.copies.name_of(grid) and not self.copies.is_row(grid)
        if given and is_other and not block.is_single:
            self._keep_loose(block, grid, "" if name.matrix in given else name.matrix)
            return
        if name.matrix in given and not name.row and self.copies.is_unlike(name.matrix, grid):
            self._keep_loose(block, grid, "")
            return
        if given and is_other and name.how != "words" and not self.copies.holds(grid):
            self._unread(block, f"{name.matrix} is not given", could_be=True)
            return
        self.copies.compare(name.matrix, block, self.found.remarks)
        self._note(block, name.matrix, "given, copied")

    def _is_rather_a_step(self, grid: Grid) -> bool:
        """Say whether a matrix has all the numbers of a step, and not all of what is given."""
        if len(grid.heads) > 1 or self.copies.is_copy(grid):
            return False
        values = values_of(grid)
        return any(self.expected.agreement(step, values) == 1 for step in self.expected.steps)

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


def _says_only(text: str) -> bool:
    """Say whether words are a label, and no sentence: they end in a sign, or are one or two."""
    return text.endswith(("=", ":")) or len(re.findall(r"[^\W\d_]{2,}", text)) <= MOST_ALONE


def _key(rows: Rows) -> tuple[tuple[str, ...], ...]:
    return tuple(map(tuple, rows))


def _turned(rows: Rows) -> tuple[tuple[str, ...], ...]:
    return tuple(zip(*rows, strict=False))


def _size(grid: Grid) -> tuple[int, int]:
    return len(grid.rows), max((len(row) for row in grid.rows), default=0)


def _is_too_large(name: Name, block: Block, grid: Grid) -> bool:
    """Say whether numbers are more than the entry, or the row, that their name says."""
    if name.row and name.column:
        return not block.is_single and len(grid.rows[0]) != 1
    return name.is_vector and len(grid.rows) > 1 and len(grid.rows[0]) > 1
