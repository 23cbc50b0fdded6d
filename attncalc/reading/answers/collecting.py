"""From blocks to parts of steps: the name of each block, on its line or above it."""

import re

import numpy as np

from attncalc.problem.fields import own_name
from attncalc.reading.answers.answer import WrittenConnection
from attncalc.reading.answers.copying import LIKE
from attncalc.reading.answers.expected import Expected, share_alike
from attncalc.reading.answers.keeping import SURELY, Collected, Keeper, size_of
from attncalc.reading.answers.lines import attention_in, connection_in, is_behind_numbers
from attncalc.reading.answers.map_lines import MapReader
from attncalc.reading.answers.parts import values_of
from attncalc.reading.answers.prose import (
    IN_SENTENCE,
    NO_NAME,
    PROSE,
    asks_for_work,
    could_be_entry,
    is_constant,
    is_page,
    is_size,
    is_telephone,
    is_worked,
    numbers_in,
    role_of_words,
)
from attncalc.reading.naming.expressions import step_of_expression
from attncalc.reading.naming.name import (
    Name,
    head_in,
    is_on_the_way,
    row_in,
    says_again,
    without_again,
)
from attncalc.reading.plain.blocks import Block
from attncalc.reading.plain.grids import Grid
from attncalc.reading.plain.numerals import read_entry
from attncalc.reading.plain.rows import Rows

SENTENCE = 6
"""The number of words from which a line that begins with a number is prose: 2 heads, their outputs
….
"""
_TOKEN = re.compile(
    r"\W*(?:(?:for|für|fuer|pour|para)\s+)?"
    r"(?:(?:token|tok|word|wort|mot|palabra|row|zeile|fila|ligne)\s*|(?-i:(x)_?|[^\W\d_]_?))"
    r"(\d{1,3})(?: ?\([^()\d]{1,30}\))?",
    re.IGNORECASE,
)
_SIDE_BY_SIDE = re.compile(r"\d(?:\s?+[|;]\s?+[-+]?|,\s[-+]?|\s)\d")
"""Numbers without an operator between them."""
_LISTED = re.compile(
    r"(?<![\w.,;/^_\[({-])"
    r"(?:[-+]?\d{1,9}(?:[.,]\d{1,9})?%?(?:, ?| ?; ?| and | und | et | y | )){2,9}"
    r"[-+]?\d{1,9}(?:[.,]\d{1,9})?%?(?![\w/^)\]}])"
)
"""Three or more numbers side by side."""
_BARE = re.compile(r"[\s\d.,;|&/−-]{2,}")
"""Numbers and what separates them, with no operator."""
_VECTOR = re.compile(r"\W{0,4}[qkv]_?\W?\d{1,3}\W{0,3}", re.IGNORECASE)
"""A vector in a chain of equal ones: q1 = k1 = v1."""
_SENTENCES = re.compile(r"[.;] ")
LONGEST_PROSE = 400
_PAIR = re.compile(r"\d\.\d{1,9}%?,? (?:(?:and|und|et|y) )?[-+]?\d")
_BESIDE_TOKEN = " \t-*·\"'“”„«»"
"""Characters beside a token: list markers and quotation marks."""
_BETWEEN_TOKENS = " ·*×•.,;:/→>-–∘()"
"""Signs between the query and the key of an entry."""
MOST_ALONE = 2
"""The largest number of unnamed numbers in a line that is not a row."""
WEAKLY = 1 / 3
"""The share of numbers that must be right for a weak word to name a matrix."""


def collected(blocks: list[Block], expected: Expected, of_map: MapReader) -> Collected:
    """Return the interpretation of each block, in order."""
    collector = _Collector(expected, of_map)
    for block in blocks:
        collector.take(block)
    collector.finish()
    collector.found.of_map |= of_map.whole
    return collector.found


class _Collector(Keeper):
    """Goes through the blocks, and remembers which matrix is next."""

    def __init__(self, expected: Expected, reader: MapReader) -> None:
        super().__init__(expected)
        self.reader = reader
        self.said: list[tuple[WrittenConnection, str]] = []
        self.of_map = ""
        self.counts = ""
        self.pending: list[Block] = []
        self.told: list[Block] = []

    def take(self, block: Block) -> None:
        """Read one block."""
        if block.is_new:
            self.token = 0, 0
        self.learn(block.names)
        if block.is_other:
            self._line_of_map(block)
        elif block.grid is None:
            self._words(block)
        else:
            self._numbers(block, block.grid)
        is_kept = any(each.line == block.line for each in self.found.connections[-1:])
        if not (block.is_other or is_kept) and is_behind_numbers(block.text):
            self._line_of_map(block)
        text, rows = self.reader.told.pop(block.line, ("", []))
        for each in rows:
            own = each._replace(head=each.head or self.head, of=each.of or self.of_map)
            self.said.append((own, text))
        self.before = block

    def _line_of_map(self, block: Block) -> None:
        self.is_fresh = False
        found = connection_in(block.text, self.head, self.of_map)
        if block.line in self.reader.told:
            return
        if found and not self.reader.knows(found):
            self.reader.missed[block.line] = block.text
        elif found:
            self.found.connections.append(found._replace(line=block.line))
            self._note_line(self.found.connections[-1], block.text)
        else:
            self.note(block, "", "a line of the map")

    def _note_line(self, line: WrittenConnection, text: str) -> None:
        self.found.note(line.line, "map", "", text)

    def _finish_map(self) -> None:
        """Store the map that tables state."""
        texts = {each.line: text for each, text in self.said}
        for each in self.reader.new((each for each, _ in self.said), self.found.connections):
            self.found.connections.append(each)
            self._note_line(each, texts[each.line])

    def _words(self, block: Block) -> None:
        """Read words: they name the next matrix, and describe their own numbers."""
        self._say_map(block)
        if self.takes_caption(block) or self._takes_token(block):
            self.note(block, "", "words")
            return
        said = block.names or [each for each in [block.text.strip(" *:")] if each[:1] in ("/", "÷")]
        name = self.name(said)
        self.copies.look(block, self.found.remarks)
        self.again = self.again or says_again(block.text)
        is_beside = self.before is not None and self.before.line == block.line
        if block.is_heading or (name and not (block.goes_on or is_beside)):
            self.token = 0, 0
        is_valued = any(read_entry(each).value is not None for each in block.work[-1:])
        if name and name.row and is_valued and not block.goes_on:
            how = "its calculation, which is evaluated"
            self.keep_part(block, name, [[block.work[-1]]], how)
            return
        columns_of_work = sum(is_worked([each]) for each in block.text.split("|")) > 1
        if asks_for_work(block.text) or columns_of_work:
            self.label, self.is_fresh, self.is_work = None, False, True
        elif name and not block.goes_on:
            self.announce(name, block)
        elif self.is_of_work(block.names) and (
            _says_only(block.text) or is_on_the_way(block.names[-1])
        ):
            self.label, self.is_fresh, self.is_work = None, False, True
        elif block.is_heading:
            self.label, self.is_fresh = None, False
        self.is_interrupted = not name
        self._say_role(block)

    def _takes_token(self, block: Block) -> bool:
        """Read a heading that is only the number of a token, whose vectors are below it."""
        row = _TOKEN.fullmatch(block.text.strip(" #*=-:"))
        if not row or row[1] or self.name([block.text]):
            return False
        self.token, self.last = (block.line, int(row[2])), None
        return True

    def _say_map(self, block: Block) -> None:
        """Read the attention of the next map from words; a heading without one resets it."""
        of = attention_in(block.text)
        if of and of != self.of_map and not head_in(block.text):
            self.head = 0  # that of the previous attention: this one may have none
        if of or block.is_heading:
            self.of_map = of

    def _say_role(self, block: Block) -> None:
        """Note how the numbers among words are interpreted."""
        is_work = block.work or self.is_of_work(block.names)
        said = role_of_words(block.text)
        if not said and self.is_work and is_worked([block.text]):  # rows with their sums
            said = "work on the way"
        if said == PROSE and _LISTED.search(block.text):
            said = ""
        if not said and is_work and self._ends_in_step(block.text):
            is_work = False
        if is_work and not self.is_fresh and _BARE.fullmatch(block.text):
            self.leave(block, NO_NAME, could_be=True)
            return
        role = said or ("a line of work" if is_work else "")
        is_told = said == PROSE and not (block.factors or "=" in block.text)
        if is_told and len(numbers_in(block.text)) > MOST_ALONE:
            self.told.append(block)
            return
        if block.factors:
            self.pending.append(block)
            self.last = None  # text that continues below belongs to this product
        elif role:
            self.note(block, "", role)
        else:
            self._leave_words(block)

    def _leave_words(self, block: Block) -> None:
        """List words whose numbers are not read, unless they are those of an expression."""
        if step_of_expression(block.text) and not _SIDE_BY_SIDE.search(block.text):
            self.note(block, "", "words")  # S / 3**0.5
        else:
            self.leave(block, IN_SENTENCE)

    def _ends_in_step(self, text: str) -> bool:
        """Return whether numbers side by side follow the name of a step: … Weights 0.2, 0.8, 0."""
        pieces = _SENTENCES.split(text[:LONGEST_PROSE])
        said = [_LISTED.sub(" ", piece) for piece in pieces if _LISTED.search(piece)]
        return any(self.name([piece]) is not None for piece in said)

    def finish(self) -> None:
        """Interpret the numbers in products, after everything else is read."""
        self._finish_told()
        self._finish_map()
        if self.pending:
            self._finish_products()

    def _finish_products(self) -> None:
        """Note whether the factors of products are matrices elsewhere, or their transposes."""
        there = [part.rows for part in self.found.parts]
        there += [loose.grid.rows for loose in self.found.loose]
        known = {made(rows): True for rows in there for made in (_key, _turned)}
        for block in self.pending:
            for each in block.factors:
                if (key := _key(each.rows)) not in known:
                    known[key] = bool(self.copies.name_of(each)) or self.copies.holds(each)
            others = [each for each in block.factors if not known[_key(each.rows)]]
            role = role_of_words(block.text) if others else "a product of what is known"
            if role and not (role == PROSE and self._are_vectors(others)):
                self.note(block, "", role)
            else:
                self.leave(block, IN_SENTENCE)

    def _finish_told(self) -> None:
        """Note whether sentences with many numbers repeat numbers from elsewhere."""
        matrices = [*self.expected.given.values()] if self.told else []
        known = {abs(float(each)) for matrix in matrices for each in np.ravel(matrix)}
        for part in self.found.parts if self.told else ():
            values = part.values
            known |= {abs(float(each)) for each in values.ravel()}
        for block in self.told:
            said = [read_entry(each).value for each in numbers_in(block.text)]
            are_known = all(each is not None and abs(float(each)) in known for each in said)
            if are_known or self.name(_SENTENCES.split(block.text[:LONGEST_PROSE])) is None:
                self.note(block, "", PROSE)
            else:
                self.leave(block, IN_SENTENCE)

    def _are_vectors(self, grids: list[Grid]) -> bool:
        """Return whether brackets among words may contain rows of a step, and not sizes."""
        rows = [row for each in grids for row in each.rows]
        widths = {key.shape[-1] for key in self.expected.steps.values()}
        return len(rows) > 1 and {len(row) for row in rows} <= widths

    def _numbers(self, block: Block, grid: Grid) -> None:
        """Read numbers: by their own name, as a continuation, by the label above, or unnamed."""
        grid = self._in_order(self.without_counts(grid), block.row_names)
        self.again = self.again or any(map(says_again, block.names))
        self.copies.look(block, self.found.remarks)
        for text in block.names:
            match = _TOKEN.fullmatch(without_again(text.strip()))
            if match and (match[1] or self.name([text]) is None):
                self.token = block.line, int(match[2])
        if any(_LISTED.search(name) or _PAIR.search(name) for name in block.names):
            self.leave(block, "there are numbers before its name, too", could_be=True)
        if self._by_own_name(block, grid) or self._by_going_on(block, grid):
            return
        if block.names and not block.is_table:
            self._not_known(block, grid)
        elif not self._by_label(block, grid):
            self._without_name(block, grid)

    def _in_order(self, grid: Grid, names: list[str]) -> Grid:
        """Return a grid whose rows are named by the tokens in the order of the tokens."""
        for side in (self.expected.labels.queries, self.expected.labels.keys):
            is_each_named = len(names) == len(grid.rows) and sorted(names) == sorted(side)
            if is_each_named and len({*names}) == len(names) and len(grid.heads) == 1:
                return grid._replace(heads=([grid.rows[names.index(each)] for each in side],))
        return grid

    def _by_own_name(self, block: Block, grid: Grid) -> bool:
        if self._are_several(block, grid):
            return True
        name = self._of_token(block, grid) or self._of_pair(block) or self.name(block.names)
        if name is None and len(block.row_names) == 1 and not self.is_fresh:
            name = self.name(block.row_names)
        if name is None:
            return False
        name = self.of_one_head(name, grid)
        if block.is_table and not name.row and self.is_fresh and self.label is not None:
            is_corners = self.fits(name, grid) and not self.fits(self.label, grid)
            is_surer = name.how != "words" and self.label.how == "words"
            # a heading above, and a word in the corner of its table
            name = name if is_corners or is_surer else self.label
        counts, row = "", name.row or name.number
        if self._is_counted_by(name, grid) and (label := self._label_of_rows(grid, row)):
            name = label._replace(row=row, column=0, number=0)  # q1: 1 3 2, below Scores
            counts = label.matrix
        self.counts = counts
        self.begin(name)
        self.is_fresh = False
        self.keep(block, grid, name, "its name")
        return True

    def _is_counted_by(self, name: Name, grid: Grid) -> bool:
        """Return whether the name of a vector only counts a row of something else.

        Its width differs, or the entire named matrix was written before.
        """
        width = self.expected.shape(name.matrix)[-1:]
        label = self.label
        is_row = (name.row or name.number) and not name.column and len(grid.rows) == 1
        if label is None or not is_row or self.again:
            return False
        if width and width != (len(grid.rows[0]),):
            return True
        is_below = self.is_fresh or self.counts == label.matrix
        if not (name.row and is_below and label.matrix != name.matrix):
            return False
        if name.matrix == "S" and label.matrix in ("S_scaled", "S_masked"):
            return not self._is_row_of(name, grid)
        if self._row_share(label._replace(row=name.row), grid) > self._row_share(name, grid):
            return True
        head = name.head or self._head_of(name)
        before = [e for e in self.found.parts if (e.name, e.head) == (name.matrix, head)]
        own = [each for each in before if each.is_whole or each.row == name.row]
        return any(grid.rows[0] not in each.rows for each in own)

    def _is_row_of(self, name: Name, grid: Grid) -> bool:
        """Return whether a row agrees with that row of a step."""
        return self._row_share(name, grid) >= LIKE

    def _row_share(self, name: Name, grid: Grid) -> float:
        """Return the share of a row that agrees with that row of a step; 1 for unknown ones."""
        name = self.of_one_head(name, grid)
        key = self.expected.of_head(name.matrix, name.head or self.head)
        if key is None or name.row > len(key):
            return 1.0
        return share_alike(values_of(grid.heads), key[name.row - 1 : name.row])

    def _are_several(self, block: Block, grid: Grid) -> bool:
        """Read one number for several entries, a_12 = a_13 = 0, or one row for several rows."""
        is_negated = any(each.strip()[:1] == "-" for each in block.names[1:])  # k3 = -k2 = (2, 2)
        if len(block.names) < 2 or len(grid.rows) > 1 or is_negated:
            return False
        said = [self.name([each]) for each in block.names]
        while said and not (said[0] and said[0].row):  # words before it: the first two: a1 = a2 = …
            said = said[1:]
        names = [self.with_number(each, grid) for each in said if each]
        places = {each[:4] for each in names if each.row and bool(each.column) == block.is_single}
        is_one = len({each.matrix for each in names}) == 1 or all(
            map(_VECTOR.fullmatch, block.names)
        )
        if len(said) < 2 or len(places) < len(said) or not is_one:
            return False
        for name in names:
            self.keep(block, grid, name, "its name")
        return True

    def _of_token(self, block: Block, grid: Grid) -> Name | None:
        """Return the row that a token selects: token 1: q = …, or Outputs: I = …, see = …."""
        is_vector = 1 in (len(grid.rows), *map(len, grid.rows)) and len(grid.heads) == 1
        if not is_vector or block.is_single or not block.names:
            return None
        if name := self._by_token(block.names):
            return name
        line, row = self.token
        base = self.name(block.names[-1:])
        if line != block.line:
            return None if base else self._of_next_row(block.names[-1], grid)
        if base is None and (said := self._step_before(block, grid)):
            return said._replace(row=row)  # softmax, row 1: [0.2 0.8]
        if base is None:  # row 1: [0.2 0.8], below its heading
            label = self._label_of_rows(grid, row)
            return label._replace(row=row, column=0, number=0) if label else None
        if self.is_given(base) and (label := self._label_of_rows(grid)):
            return label._replace(row=row, column=0, number=0)  # x1 -> (1, 3), below Queries
        return base._replace(row=row) if not base.row and not base.number else None

    def _by_token(self, names: list[str]) -> Name | None:
        """Return the row of a token in the step that is named before it, or above.

        Unknown words before a row that is already written are the heading of another step.
        """
        token, base = names[-1].strip(_BESIDE_TOKEN), self.name(names[:-1])
        label = base or self.label
        if label is None or token not in self.expected.labels:
            return None
        row, shape = (
            self.expected.labels.row(label.matrix, token),
            self.expected.shape(label.matrix),
        )
        written = (part.row for part in self.found.parts if part.name == label.matrix)
        if base is None and self.is_interrupted and not self.again and row in written:
            self.label = None
            return None
        is_there = not shape or row <= shape[-1 if self.expected.by_columns else -2]  # else c = A V
        return label._replace(row=row, number=0) if is_there else None

    def _of_pair(self, block: Block) -> Name | None:
        """Return the entry of scores or weights that two tokens name: cat·mat = 3, below Scores."""
        label, labels = self.label, self.expected.labels
        if label is None or not block.is_single or own_name(label.matrix) not in ("S", "A"):
            return None
        text = block.names[-1].strip() if block.names else ""
        for query in filter(text.startswith, labels.queries):
            key = text.removeprefix(query).strip(_BETWEEN_TOKENS) if query else ""
            if key in labels.keys and key:
                row, column = labels.row(label.matrix, query), labels.row("K", key)
                return label._replace(row=row, column=column, number=0)
        return None

    def _of_next_row(self, text: str, grid: Grid) -> Name | None:
        """Return the row behind the last one, if words number it: and the second row is …."""
        last, counted = self.last, row_in(text)
        if last is None or counted is None or not last.row or last.column:
            return None
        if counted[0] != last.row + 1:
            return None
        is_of_width = self.expected.shape(last.name)[-1:] == (len(grid.rows[0]),)
        return Name(last.name, last.head, counted[0]) if is_of_width else None

    def _step_before(self, block: Block, grid: Grid) -> Name | None:
        """Return the step named before its row, if the row has its width."""
        said = self.name(block.names[:-1])
        if said is None or not said.is_whole or self.is_given(said):
            return None
        return said if self.expected.shape(said.matrix)[-1:] == (len(grid.rows[0]),) else None

    def _label_of_rows(self, grid: Grid, row: int = 0) -> Name | None:
        """Return the step whose rows are below its name, if a row is one of them.

        A row that is also in a given matrix counts if its numbers agree, or if it is the next row.
        """
        if self.label is None or self.is_given(self.label):
            return None
        label = self.of_one_head(self.label._replace(row=row or 1), grid)
        last = self.last
        is_next = last is not None and (last.name, last.row) == (label.matrix, row - 1)
        is_it = bool(row) and (is_next or self._is_row_of(label._replace(row=row), grid))
        if self.copies.holds(grid) and not is_it:
            return None
        return label if self.expected.shape(label.matrix)[-1:] == (len(grid.rows[0]),) else None

    def _by_going_on(self, block: Block, grid: Grid) -> bool:
        """Read the continuation of an equation: of the words above, or of the previous matrix."""
        if not block.goes_on or block.names:
            return False
        if self.before in self.pending[-1:]:
            self.note(self.pending.pop(), "", "factors, and their product below them")
        if self.is_fresh and self.label is not None:
            self.is_fresh = False
            self.keep(block, grid, self.label, "the equation goes on")
            return True
        if self.last is None:
            return False
        if self.label is not None and self.token[0] > self.last.line and len(grid.rows) == 1:
            self.keep(block, grid, self.label, "the equation goes on")
            return True
        self.keep_instead(block, grid, "the equation goes on")
        return True

    def _by_label(self, block: Block, grid: Grid) -> bool:
        """Read numbers below a heading or a label, or a further part of the same matrix."""
        if self.label is None:
            return False
        if self.is_fresh and self._is_doubtful(grid):
            self.keep_loose(block, grid, "")
            return True
        if self.is_fresh and not self._is_stray(block):
            how = "its heading" if self.label.how != "words" else "the words above it"
            self.is_fresh = self.head_is_new = False
            self.keep(block, grid, self.label, how)
            return True
        if self.is_part:
            self.keep(block, grid, self.label, "it is a part of the one before")
        return self.is_part

    def _without_name(self, block: Block, grid: Grid) -> None:
        if self.is_work:
            self.is_work = False
            self.note(block, "", "work on the way")
            return
        if block.is_single:
            self._single(block)
        elif is_telephone(block.text) or is_page(block.text):
            self.note(block, "", "the number of a telephone, or of a page")
        elif self._replaces_last(block, grid):
            self.keep_instead(block, grid, "the result below its factors")
        else:
            self.keep_loose(block, grid, "")

    def _is_like_a_step(self, grid: Grid) -> bool:
        """Return whether numbers named as work agree with a step: max(0, N_1 W_1)."""
        values = values_of(grid.heads)
        if len(grid.rows) < 2:  # a vector of one number for each token
            values = values.T if values.size > MOST_ALONE else values[:0]
        return any(self.expected.agreement(each, values) > SURELY for each in self.expected.steps)

    def _is_stray(self, block: Block) -> bool:
        """Return whether a single number does not fit the announced matrix."""
        if not block.is_single or self.label is None:
            return False
        shape = self.expected.shape(self.label.matrix)
        return bool(shape) and shape[-2:] != (1, 1) and not (self.label.row and self.label.column)

    def _is_doubtful(self, grid: Grid) -> bool:
        """Return whether a matrix disagrees with the weak word above it, such as results."""
        label = self.label
        if label is None or not label.weak or label.matrix not in self.expected.steps:
            return False
        return self.expected.agreement(label.matrix, values_of(grid.heads)) < WEAKLY

    def _replaces_last(self, block: Block, grid: Grid) -> bool:
        """Return whether an unnamed matrix directly below another is its result."""
        last = self.last
        if (
            block.is_new
            or last is None
            or not last.is_whole
            or last.name not in self.expected.steps
        ):
            return False
        shape = self.expected.shape(last.name)[-2:]
        return size_of(grid) == shape and (len(last.rows), len(last.rows[0])) != shape

    def _not_known(self, block: Block, grid: Grid) -> None:
        """Read numbers under a name that is not a step."""
        if self.is_of_work(block.names) and not block.factors and not self._is_like_a_step(grid):
            self.note(block, "", "a line of work")
        elif is_constant(block.names) and (block.is_single or is_size(grid.rows)):
            self.note(block, "", "a dimension, or a number of its own")
        elif block.is_single:
            if any(map(str.isalpha, "".join(block.names))) and could_be_entry(block.names):
                self.leave(block, f'"{block.names[0]}" is not an entry of a step', could_be=True)
            else:
                self.note(block, "", "a number of its own")
        else:
            self.keep_loose(block, grid, block.names[0])

    def _single(self, block: Block) -> None:
        if block.work or block.text.lstrip("& ").startswith((r"\approx", "≈")):
            self.note(block, "", "a line of work")
        elif len(block.text.split()) >= SENTENCE and (role := role_of_words(block.text)):
            self.note(block, "", role)
        else:
            several = len(set(numbers_in(block.text))) > MOST_ALONE
            self.leave(block, "a number alone", could_be=several)


def _says_only(text: str) -> bool:
    """Return whether words are a label: they end in a sign, or are one or two words."""
    are_few = len(re.findall(r"[^\W\d_]{2,}", text)) <= MOST_ALONE
    has_numbers = any(map(str.isdigit, text.lstrip("0123456789.) \t")))
    return text.endswith(("=", ":")) or (are_few and not has_numbers)


def _key(rows: Rows) -> tuple[tuple[str, ...], ...]:
    return tuple(map(tuple, rows))


def _turned(rows: Rows) -> tuple[tuple[str, ...], ...]:
    return tuple(zip(*rows, strict=False))
