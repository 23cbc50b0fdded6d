"""The name of the next matrix: headings, labels and captions, and the head they mention."""

import re
from itertools import pairwise

from attncalc.reading.answers.expected import Expected
from attncalc.reading.answers.prose import is_worked
from attncalc.reading.naming.at_hand import is_step_at_hand
from attncalc.reading.naming.expressions import step_of_expression
from attncalc.reading.naming.name import Name, head_in, is_on_the_way, name_in
from attncalc.reading.naming.symbols import STEPS
from attncalc.reading.plain.blocks import Block

_REFINED = (("S", "S_scaled"), ("S", "S_masked"), ("A", "S"), ("A", "S_scaled"),
            ("O", "C"))  # fmt: skip
_SUREST = ("symbol", "expression", "words")
LONGEST_LETTER = 20
_STATEMENT = re.compile(r"[,;] ?(?=\w{1,20}\s*$)")
_LETTER = re.compile(r"\b[A-Za-z]\w{0,20}")
SHORT_LABEL = 6
"""The largest number of words of a label; more are prose, which names less reliably."""
_CAPTION = re.compile(r"\b(row|column)s? (\d{1,6})(?: to (\d{1,6}))? of \d+", re.IGNORECASE)
_HEAD_ALONE = re.compile(
    r"^\W*(?:head|kopf|t[eê]te|cabeza)[\W_]*(?:\d+|one|two|three|four)\s*"
    r"(?:of \d+)?\s*(?:\([^()]*\))?\W*$",
    re.IGNORECASE,
)


class Labels:
    """The last name, and its reliability.

    `head_is_wide` is true if a head was named for all further matrices, and not for one.
    """

    def __init__(self, expected: Expected) -> None:
        self.expected = expected
        self.label: Name | None = None
        self.label_is_sure = self.is_fresh = False
        self.head = 0
        self.head_is_wide = self.head_is_new = False
        self.row_from = self.column_from = 0
        self.is_part = self.caption_is_new = self.is_work = self.is_interrupted = False
        self.letters: dict[str, str] = {}

    def learn(self, names: list[str]) -> None:
        """Remember the steps that letters mean, or "": E = exp(S), and only E below it.

        A line may have several statements: E = exp(S), Z = sum(E, 2).
        """
        for letter, other in pairwise(names):
            last = _STATEMENT.split(letter)[-1].strip()
            if last and len(last) <= LONGEST_LETTER:
                self._learn(last, _STATEMENT.split(other)[0])

    def _learn(self, letter: str, other: str) -> None:
        self.letters.pop(letter, None)
        if letter in STEPS:
            return
        meant = _LETTER.sub(lambda own: self.letters.get(own[0]) or own[0], other)
        if step := step_of_expression(meant):
            if name_in(letter, self.expected.labels) is None:
                self.letters[letter] = step
        elif is_on_the_way(other):
            self.letters[letter] = ""

    def takes_caption(self, block: Block) -> bool:
        """Read a caption that only names a part or a head; return whether it was one."""
        captions = list(_CAPTION.finditer(block.text))
        for caption in captions:
            self._caption(caption)
        parts = re.split(r" {2,}|\t+|\|", block.text.strip(" |"))
        if len(parts) > 1 and all(map(_HEAD_ALONE.match, parts)):
            self.head, self.head_is_new, self.head_is_wide = 0, False, False
            return True
        alone = _HEAD_ALONE.match(block.text) and block.text.rstrip().endswith(":")
        if alone or (head_in(block.text) and self.name(block.names) is None):
            self.head, self.head_is_new = head_in(block.text), True
            self.is_fresh = self.label is not None
            return True
        return bool(captions)

    def announce(self, name: Name, block: Block) -> None:
        """Remember the name in a line of words, unless a more reliable one precedes it."""
        ends = block.text.rstrip().endswith((":", "=", "≈", "→"))
        words = len(re.findall(r"[^\W\d_]{2,}", block.text))
        is_sure = block.is_heading or words <= SHORT_LABEL or ends
        if self.is_fresh and self.label_is_sure and not is_sure:
            return
        if name.weak and (self.is_fresh or not ends):
            return
        self.begin(name)
        self.label_is_sure = is_sure

    def begin(self, name: Name) -> None:
        """Set the name of the next matrix."""
        if self.head_is_new:
            self.head_is_wide = True
        if name.head:
            self.head_is_wide = self.head_is_wide and name.head == self.head
            self.head = name.head
        elif not self.head_is_wide:
            self.head = 0
        self.head_is_new = False
        self.label, self.is_fresh, self.is_work, self.is_interrupted = name, True, False, False
        if not self.caption_is_new:
            self.row_from = self.column_from = 0
            self.is_part = False
        self.caption_is_new = False

    def is_of_work(self, names: list[str]) -> bool:
        """Return whether a name is intermediate work of a step, or the letter of one."""
        return is_worked(names) or bool(names and self.letters.get(names[0].strip()) == "")

    def _caption(self, caption: "re.Match[str]") -> None:
        place = int(caption[2]) - 1
        if caption[1].lower() == "row":
            self.row_from, self.column_from = place, 0
        else:
            self.column_from = place
        self.is_part = self.caption_is_new = True

    def _named(self, text: str) -> Name | None:
        """Return the name in a text, or that of a vector behind a bracket, as v1 in "O (v1"."""
        inner = name_in(text.rpartition("(")[2], self.expected.labels) if ")" not in text else None
        return inner if inner and inner.is_vector else name_in(text, self.expected.labels)

    def name(self, names: list[str]) -> Name | None:
        """Return the name in the sides of an equation: a symbol first, then an expression."""
        meant = self.letters.get(names[0].strip()) if names else None
        if meant is not None:
            return Name(meant, how="expression") if meant else None
        named = [(text, self._named(text)) for text in names]
        found = [name for _, name in named if name]
        if not found:
            ends = [text.rpartition(". ")[2] for text in names if ". " in text]
            return self.name(ends) if ends else None
        first = min(found, key=lambda name: (name.weak, _SUREST.index(name.how)))
        last = found[-1]
        if first.is_whole and last.row and last.matrix == first.matrix:
            return last  # Q: q1 = (1, 3), and scores: s11 = 2
        is_step = first.matrix in STEPS or is_step_at_hand(first.matrix)
        if not is_step and last.matrix in STEPS and last.is_vector and not last.weak:
            return last  # x1: q1 = (1, 3)
        others = [name for name in found if name.how == "expression" and not name.row]
        if others and not first.row and first.matrix in STEPS:
            first = self._agreed(first, others[-1])
        is_product = any(
            name and name.how == "expression" and name.matrix == "O" and "W" not in text
            for text, name in named
        )
        return self._of_its_head(first) if is_product else first

    def _of_its_head(self, name: Name) -> Name:
        """Return A V as the outputs of a head, if heads are concatenated later."""
        is_own = name.how == "expression" or name.head or name.number or self.head
        if name.matrix == "O" and is_own and "H" in self.expected.steps:
            return name._replace(matrix="H")
        return name

    def _agreed(self, symbol: Name, other: Name) -> Name:
        """Return the common name of two sides: S = QK^T/√2 is S_scaled, for example."""
        pair = symbol.matrix, other.matrix
        if symbol.how == "expression":
            return symbol
        if pair in _REFINED:
            return symbol._replace(matrix=other.matrix)
        if pair == ("H", "O") and self.expected.steps and "H" not in self.expected.steps:
            return symbol._replace(matrix="O")
        return symbol
