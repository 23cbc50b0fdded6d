"""The numbers as witnesses: steps that words and layout did not yield, cut from them otherwise.

Names and layout decide first, for they carry wrong steps too. Here stand the steps that were
not read, or not in their shape: other cuts of the same numbers are compared by one score, in
bits, of how surely they are the step: name, layout, order and agreement with the key.
"""

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from attncalc.numbers.types import Matrix
from attncalc.reading.answers.answer import Taken, WrittenMatrix, matrix_of_entries
from attncalc.reading.answers.cuts import Cut, Number, cuts, near, numbers_of
from attncalc.reading.answers.expected import Expected
from attncalc.reading.answers.keeping import Collected

ENOUGH = 0.75
"""The share of entries that must agree for a cut to be a step."""
WRONG = 0.5
"""The share up to which the reading of a step is questioned by another cut of its numbers."""
NAMED, OTHERWISE, UNREAD, ON_LINES, IN_ORDER = 8.0, -10.0, 5.0, 3.0, 3.0
"""Bits for a name of the step before it, and of another; for numbers that nothing else reads,
rows on lines of their own, and the place between the steps around it."""
SURE = 10.0
"""Bits beyond those that tell one place among all of them."""
ALIKE = 0.999

StepNamed = Callable[[str], str]


class Witness:
    """Compares cuts of the numbers of a text with the steps that it may hold."""

    def __init__(
        self, text: str, found: Collected, expected: Expected, named: StepNamed
    ) -> None:
        self.lines = text.split("\n")
        self.numbers = numbers_of(text)
        self.values = np.array([each.value for each in self.numbers])
        self.found, self.expected, self.named = found, expected, named
        self.free = np.ones(len(self.numbers), bool)
        self.own: dict[str, set[int]] = {}

    def testify(self, matrices: Mapping[str, WrittenMatrix]) -> dict[str, WrittenMatrix]:
        """Return the matrices with those that other cuts of the numbers yield; each is a remark."""
        read = dict(matrices)
        doubtful = [name for name, key in self.expected.steps.items()
                    if key.ndim == 2 and not self._is_settled(read.get(name), key)]  # fmt: skip
        if not doubtful or not self.numbers:
            return read
        for matrix in self.expected.given.values():
            self._take_copies(matrix)
        for name, written in read.items():
            self._locate(name, written, keeps=name not in doubtful)
        best = [each for name in doubtful if (each := self._best(name, read.get(name)))]
        for _, name, _ in sorted(best, key=lambda each: -each[0]):
            again = self._best(name, read.get(name))
            if again is not None:
                read[name] = self._taken(name, again[2])
        order = [*self.expected.steps]
        return dict(sorted(read.items(), key=lambda each: order.index(each[0]) if each[0] in order else -1))

    def _is_settled(self, written: WrittenMatrix | None, key: Matrix) -> bool:
        """Say whether a step was read in its shape, and no other cut can be better."""
        if written is None:
            return False
        if written.shape != key.shape or written.problem:
            return False
        return float(near(written.values, key).mean()) > WRONG

    def _take_copies(self, matrix: Matrix) -> None:
        """Take from the free numbers those that copy a given matrix."""
        if matrix.ndim != 2 or matrix.size < 4:
            return
        for _ in range(3):
            copies = [c for c in cuts(self.numbers, matrix, self.free, turned=False) if c.share == 1]
            whole = next((c for c in copies if self._is_close(c)), None)
            if whole is None:
                return
            self.free[whole.places] = False

    def _is_close(self, cut: Cut) -> bool:
        places = cut.places
        return max(places) - min(places) <= len(places) + 2 * len(cut.rows)

    def _locate(self, name: str, written: WrittenMatrix, *, keeps: bool) -> None:
        """Note which numbers the reading of a step has, and take them where it stays."""
        heads = written.values if written.values.ndim == 3 else [written.values]
        own = {line for each in self.found.taken if each.what.split("[")[0].split(" ")[0] == name
               for line in range(each.line, each.last + 1)}  # fmt: skip
        there = np.array([each.line in own for each in self.numbers], bool) & self.free
        places: set[int] = set()
        for head in heads:
            found = cuts(self.numbers, head, there, turned=True)
            if found:
                cut = max(found, key=lambda each: each.share)
                if keeps:
                    places.update(np.array(cut.rows)[cut.agreeing].tolist())
                else:
                    places.update(cut.places)
        self.own[name] = places
        if keeps:
            self.free[list(places)] = False

    def _best(self, name: str, written: WrittenMatrix | None) -> tuple[float, str, Cut] | None:
        """Return the cut for a step that is surest, where it is sure enough."""
        key = self.expected.steps[name]
        has_shape = written is not None and written.shape == key.shape and not written.problem
        as_columns = written is not None and written.shape == key.shape[::-1]
        turned = key.shape[0] != key.shape[1] and written is None
        if as_columns and key.shape[0] != key.shape[1]:
            return None
        found = []
        for cut in cuts(self.numbers, key, self.free, turned=turned):
            if cut.share < (ALIKE if has_shape else ENOUGH):
                continue
            if has_shape and not self._overlaps(name, cut):
                continue
            bits = self._bits(name, cut)
            if bits >= SURE + math.log2(len(self.numbers) + 1) + 8 * has_shape:
                found.append((bits, name, cut))
        return max(found, key=lambda each: each[0], default=None)

    def _overlaps(self, name: str, cut: Cut) -> bool:
        """Say whether a cut has half of the numbers that the reading of its step has."""
        own = self.own.get(name, set())
        return 2 * len(own & {*cut.places}) >= len(cut.places)

    def _bits(self, name: str, cut: Cut) -> float:
        """Return how surely a cut is a step, in bits."""
        key = self.expected.steps[name]
        total = len(self.numbers) + 2
        alike = near(self.values[:, None], key.ravel()[None, :]).sum(axis=0).reshape(key.shape)
        bits = np.log2(total / (alike + 1))
        score = float(np.where(cut.agreeing, bits, -3.0).sum())
        lines = [self.numbers[row[0]].line for row in cut.rows]
        score += ON_LINES * (len({*lines}) == len(lines) and len(lines) > 1)
        said = self._said(cut)
        score += NAMED * (said == name) + OTHERWISE * (said not in ("", name))
        unread = {each.line for each in self.found.unread if each.could_be_matrix}
        score += UNREAD * (len({*lines} & unread) * 2 >= len({*lines}))
        return score + IN_ORDER * self._is_in_order(name, min(lines))

    def _said(self, cut: Cut) -> str:
        """Return the step that words before a cut name, on its line or on the two above."""
        first = self.numbers[min(cut.places)]
        here = self.lines[first.line - 1]
        for words in (here[: first.start], *reversed(self.lines[max(0, first.line - 3) : first.line - 1])):
            if name := self.named(words.strip(" =:([{-*#")[-200:]):
                return name
            if any(each.line == first.line - 1 for each in self.numbers[:min(cut.places)]):
                break
        return ""

    def _is_in_order(self, name: str, line: int) -> bool:
        order = [*self.expected.steps]
        own = order.index(name)
        before = [p.line for p in self.found.parts if p.name in order and order.index(p.name) < own]
        after = [p.line for p in self.found.parts if p.name in order and order.index(p.name) > own]
        return max(before, default=0) <= line <= min(after, default=line)

    def _taken(self, name: str, cut: Cut) -> WrittenMatrix:
        """Return the matrix that a cut makes; its numbers are taken, and that is said."""
        self.free[cut.places] = False
        numbers = [self.numbers[place] for place in cut.places]
        first, last = min(n.line for n in numbers), max(n.line for n in numbers)
        where = f"line {first}" if first == last else f"lines {first} to {last}"
        self.found.remarks.append(f"{where}: read as {name}, because its numbers are those of {name}")
        lines = {number.line for number in numbers}
        for line in sorted(lines):
            self.found.taken.append(
                Taken(line, line, name, f"its numbers are those of {name}", self.lines[line - 1])
            )
        return matrix_of_entries(
            [[[self.numbers[place].entry for place in row] for row in cut.rows]], f"line {first}"
        )

    def without_witnessed(self) -> None:
        """Drop from the unread what is read now: lines on which no number is left."""
        left: dict[int, int] = {}
        for number, is_free in zip(self.numbers, self.free, strict=True):
            left[number.line] = left.get(number.line, 0) + bool(is_free)
        taken = {each.line for each in self.found.taken if each.how.startswith("its numbers are")}
        self.found.unread[:] = [
            each for each in self.found.unread
            if each.line not in taken or left.get(each.line, 0) > 0
        ]  # fmt: skip
