"""Steps that names and layout do not identify, searched in other cuts of the same numbers.

Names and layout decide first, since they also find wrong steps. For steps that were not read, or
not in their shape, this module scores other cuts of the numbers, in bits: by name, layout, order
and agreement with the key.
"""

import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from functools import cache, partial
from itertools import chain, groupby, pairwise

import numpy as np

from attncalc.base.types import Matrix
from attncalc.problem.fields import own_name
from attncalc.reading.answers.answer import (
    IN_FULL,
    Entry,
    Unread,
    WrittenMatrix,
    matrix_of_entries,
)
from attncalc.reading.answers.copying import COPIED
from attncalc.reading.answers.cuts import (
    GAPS,
    STRIDES,
    WIDEST,
    Cut,
    Number,
    cuts,
    numbers_of,
    unmasked,
)
from attncalc.reading.answers.expected import NEAR, Expected, near, share_alike
from attncalc.reading.answers.keeping import Collected
from attncalc.reading.answers.prose import IN_COMMENT, NO_NAME, PROSE
from attncalc.reading.plain.corrections import is_correction, speaks_of_error
from attncalc.reading.plain.marks import COLUMN, COMMA, MASKED, typed

ENOUGH = 0.75
"""The share of entries that must agree for a cut to be a step."""
WRONG = 0.5
"""The share up to which another cut can replace a step that was read."""
PLAIN = 25.0
"""Bits of its numbers with which a whole cut needs no name, even below another."""
EXACT = 5.0
"""Bits for a cut that contains all free numbers between the steps around it."""
STRIDDEN = 4.0
"""Bits that a cut loses if other numbers are between the entries of its rows."""
NAMED, OTHERWISE, UNREAD, ON_LINES, IN_ORDER = 8.0, -10.0, 5.0, 3.0, 3.0
"""Bits for the name of the step before it, and of another step; for unread numbers, for rows on
separate lines, and for a position between the steps around it.
"""
SURE = 10.0
"""Bits required beyond those that select one position among all."""
ALIKE = 0.999
BECAUSE = "its numbers are"
BESIDE = "beside a step, which is whole without it"
STARTS, AROUND = " |>*-#([xX", " =:([{-*#|,;.⎡⎢⎣⎛⎜⎝`'\""
ENDS = ("", "]", ")", "}", ".")
"""The last sign before the number of an item in a list: [1 2] 2) [3 4]."""
FEW = 4
"""The largest number of entries of a step for which all must agree."""
ONE = 0.011
"""The largest rounding error of a weight in a sum."""
MOST_WINDOWS = 6
"""The largest number of repetitions of a step that are recognized."""
LONGEST_HEADING = 60
LIKE_WORK = ("a line of work", "a line of a program")
MOST_ROWS = 100
"""The largest number of rows for which a number at the start of a line may only count it."""

_BETWEEN_DIGITS = re.compile(r"(?<=[\dlIO]),(?=\d)")
_LABEL = re.compile(r"\s*:")
_WORK_BEHIND = re.compile(r"(?<=\d) {1,9}\( ?[^()=\s][^()=\n]{0,60}=[^()\n]{0,40}\)")
"""Work in parentheses behind its result: 1 (because -2 + 3 = 1)."""
_RELATIONS = re.compile(r"[=≈→:]|->")
_RELATION = re.compile(r"[=≈→]")
_OF_WORK = re.compile(r"[=≈·×*+^]")
_BESIDE = re.compile(r"\s{2,}|[|\t]")
"""What separates names side by side."""
_WORD = re.compile(r"[^\W\d_]{2}")
_SENTENCE, _ASIDE = re.compile(r"[.!?;] "), re.compile(r"\([^()]{0,80}\)")
_RULE = re.compile(r"\s*[|:+=─━═┼├┤-][\s|:+=─━═┼├┤-]*")
_NUMBERS = re.compile(r"[\d.,;:|()\[\]=+*/-]+")
_SEPARATORS = re.compile(r"[\s,;|│┃&/]*+(?:(?:and|und|et|y|e|i|en|和|と)[\s,;|│┃&/]*+)?")
_LETTER = re.compile(r"(?<!\w)[OoQlI](?!\w)")
"""A letter that a scanner may write for a digit."""
_OF_ROW = rf"-?[\d.{COMMA}/]{{1,20}}"
_ROWS = re.compile(
    rf"[\[(] ?{_OF_ROW}(?:(?: ?[,;] ?| ){_OF_ROW}){{1,20}} ?[\])]"
    rf"|(?<![\w.,;]){_OF_ROW}(?:[,;] ?{_OF_ROW}){{1,20}}(?:,? [^\W\d]{{1,3}} {_OF_ROW})?(?![\w])"
)
"""Vectors in a sentence: (1, 2), or 0.1, 0.2 and 0.7."""
_WORD_BEFORE, _WORD_BEHIND = (
    re.compile(r"[^\W\d_]{2} ?$"),
    re.compile(r"\.? (?:(?:[^\W\d_] )?[^\W\d_]{2}|[(\[])"),
)
_ARGUMENT = re.compile(r"[^\W\d_]{3}\}?\s*+(?:\\left)?\((?:\s*+\\begin\{\w{1,20}+\})?\s*+[\[(]*+$")
_BRACKET = re.compile(r"[\d}]\s*+(?:\\left)?\s*+(?:\\begin\{\w{1,20}+\}|\(|\[|⎡)\s*+$")

_SLASH = re.compile(r"(?<!√\d)/(?!(?<=\d/)√)")
"""A sign between rows, or that of a quotient without a root."""
ROW_ENDS = re.compile(r" / |; |\n")
"""What separates rows in the text of a part."""


def witnessed(
    text: str,
    found: Collected,
    expected: Expected,
    matrices: Mapping[str, WrittenMatrix],
) -> Mapping[str, WrittenMatrix]:
    """Return matrices with those found in the numbers of a text; the rest is listed as unread.

    A slash is first that of a fraction, then a separator of numbers; one that is drawn as part of
    a bracket is neither.
    """
    is_left = any(each.could_be_matrix for each in found.unread)
    if not is_left and all(_is_settled(matrices.get(n), k) for n, k in expected.steps.items()):
        return matrices
    keys = expected.steps
    read = {name: each for name, each in matrices.items() if name in keys}
    wide = {name for name, each in read.items() if is_side_by_side(each, keys[name])}
    expected = _stacked(expected, wide)
    beside = {n: np.hstack([*key]) for n, key in keys.items() if key.ndim == 3 and n not in wide}
    matrices = {n: _as_stack(each, keys.get(n)) for n, each in matrices.items()}
    text = _WORK_BEHIND.sub(lambda aside: " " * len(aside[0]), _without_discarded(text, found))
    for each in dict.fromkeys((text, _SLASH.sub(" ", text))):
        witness = Witness(each, found, expected, beside)
        matrices = witness.testify(matrices)
        witness.without_witnessed(matrices)
        witness.without_prose(matrices)
        missing = {n: key for n, key in expected.steps.items() if n not in matrices}
        witness.list_announced(missing)
    known = {*chain(*(each.values.ravel().tolist() for each in matrices.values()))}
    with_commas = partial(_BETWEEN_DIGITS.sub, COMMA) if COMMA in text else str
    _list_work_like(found, missing, known, expected, with_commas)
    return {n: _as_heads(each, keys.get(n)) for n, each in matrices.items()}


def _stacked(expected: Expected, others: Container[str]) -> Expected:
    """Return steps, but for others, with the rows of each head below those of the head before."""
    keys = expected.steps
    if all(key.ndim == 2 for key in keys.values()):
        return expected

    def whole(own: Mapping[str, Matrix]) -> dict[str, Matrix]:
        return {name: each.reshape(keys[name].shape) for name, each in own.items()}

    def following(own: Mapping[str, Matrix]) -> Mapping[str, Matrix]:
        return {name: _stack(each) for name, each in expected.follows(whole(own)).items()}

    def mistaken(own: Mapping[str, Matrix], names: Collection[str]) -> Iterator[tuple[str, Matrix]]:
        return ((name, _stack(each)) for name, each in expected.mistaken(whole(own), names))

    steps = {name: key if name in others else _stack(key) for name, key in keys.items()}
    return replace(expected, steps=steps, follows=following, mistaken=mistaken)


def is_side_by_side(written: WrittenMatrix, key: Matrix) -> bool:
    """Return whether the heads of a step may be written side by side."""
    return key.ndim == 3 and written.shape == (key.shape[1], key.shape[0] * key.shape[2])


def _stack(matrix: Matrix) -> Matrix:
    return matrix.reshape(-1, matrix.shape[-1])


def _as_stack(written: WrittenMatrix, key: Matrix | None) -> WrittenMatrix:
    """Return a step with several heads as one matrix, if all of it was read."""
    is_whole = key is not None and key.ndim == 3 and written.shape == key.shape
    return written.arranged(_stack) if is_whole and not written.problem else written


def _as_heads(written: WrittenMatrix, key: Matrix | None) -> WrittenMatrix:
    """Return a step with several heads as its heads again."""
    if key is None or key.ndim != 3 or written.shape != _stack(key).shape:
        return written
    return written.arranged(lambda each: each.reshape(key.shape))


def _is_settled(written: WrittenMatrix | None, key: Matrix) -> bool:
    """Return whether a step was read in its shape, and no other cut can be better."""
    if written is None:
        return False
    if written.problem or written.shape not in (key.shape, (1, *key.shape)):
        return False
    is_full = not np.isnan(written.values.reshape(key.shape)[unmasked(key)]).any()
    return is_full and float(near(written.values, key).mean()) > WRONG


def _without_discarded(text: str, found: Collected) -> str:
    """Return a text without what is struck out or commented out of it."""
    lines = text.split("\n")
    for each in found.taken:
        if each.how in ("struck out", "commented out") and 0 < each.line <= len(lines):
            line = lines[each.line - 1]
            lines[each.line - 1] = line.replace(each.text, " " * len(each.text), 1)
    return "\n".join(lines)


def _holds(key: Matrix, said: list[float]) -> bool:
    """Return whether two or more numbers are entries of a step, and few others are beside them."""
    with np.errstate(invalid="ignore"):  # of infinities
        own = sum(bool((abs(key - value) <= NEAR).any()) for value in said)
    return own > 1 and own >= ENOUGH * len(said)


def _list_work_like(
    found: Collected,
    missing: Mapping[str, Matrix],
    known: Container[float],
    expected: Expected,
    with_commas: Callable[[str], str],
) -> None:
    """List work and prose that may contain an unread step: as many numbers, its rows, its name.

    known: the numbers of the steps that were read.
    with_commas: marks decimal commas.
    """
    read = {line for e in found.taken if e.what for line in e.lines}
    count = max(2, len(expected.labels.keys))  # tokens, which words may number
    for each in [*found.taken]:
        numbers = numbers_of(with_commas(each.text))
        decimals = [number.value for number in numbers if number.entry.decimals]
        said = [value for value in decimals if value not in known]
        name = next((n for n, key in missing.items() if _holds(key, said)), "")
        if each.what or each.line in read:
            is_alone = each.line == each.last and not _OF_WORK.search(each.text)
            is_prose = each.what != "map" and len(_WORD.findall(each.text)) >= FEW
            name = name if is_alone and is_prose else ""
        elif each.how in LIKE_WORK and not _RELATION.search(each.text):
            whole = (n for n, key in missing.items() if key.size == len(numbers))
            are_weights = len(decimals) > 1 and abs(sum(decimals) - 1) <= ONE * len(decimals)
            weights = (n for n in missing if are_weights and own_name(n) == "A")
            name = next(whole if "[" in each.text else weights, "")
        elif each.how != PROSE or _are_counts(numbers[-count:]):
            continue
        elif not name and len(numbers) > 1:
            widths = {len(numbers_of(row)) for row in _ROWS.findall(each.text)}
            words = {expected.step_in(e, whole=False) for e in _NUMBERS.split(each.text[:200])}
            likely = (n for n, key in missing.items() if n in words or key.shape[-1] in widths)
            name = next(likely, "")
        if name:
            if not each.what:
                found.taken.remove(each)
            found.leave(each.line, each.text, f"it may be {name}: name it")


class Witness:
    """Compares cuts of the numbers of a text with the steps that it may contain."""

    def __init__(
        self, text: str, found: Collected, expected: Expected, beside: Mapping[str, Matrix]
    ) -> None:
        """Prepare a search; beside: the steps with several heads, with these side by side."""
        self.has_commas, self.expected = COMMA in text, expected
        text = self._with_commas(text)
        self.lines = text.split("\n")
        self.numbers = self._numbers_in(text)
        self.values = np.array([each.value for each in self.numbers])
        self.at = [each.line for each in self.numbers]
        self.found, self.beside_heads = found, beside
        self.named = cache(expected.step_in)
        self.beside = cache(partial(expected.step_in, whole=False))
        said = {each.line for each in found.taken if each.what == "map"}
        said -= {n.line for n in self.numbers if n.entry.decimals or not 1 <= n.value <= MOST_ROWS}
        is_token = [not n.entry.decimals and n.line in found.of_map | said for n in self.numbers]
        self.free = ~np.array(is_token, bool)
        self.own: dict[str, set[int]] = {}
        self.rows: dict[str, list[list[int]]] = {}
        self.witnessed: list[int] = []
        self.left: set[int] = set()
        self.said: list[tuple[int, str]] = []
        self.groups = [*self._groups()]

    def _on(self, first: int, last: int) -> range:
        """Return the places of the numbers on these lines."""
        return range(bisect_left(self.at, first), bisect_right(self.at, last))

    def _may_hold(self, keys: Mapping[str, Matrix], first: int, last: int) -> bool:
        """Return whether lines have enough free numbers for one of some steps."""
        fewest = WRONG * min((key.size for key in keys.values()), default=math.inf)
        return int(self.free[self._on(first, last)].sum()) >= fewest

    def _with_commas(self, text: str) -> str:
        """Return a text with its decimal commas marked, also after letters read as digits."""
        return _BETWEEN_DIGITS.sub(COMMA, text) if self.has_commas else text

    def _numbers_in(self, text: str) -> list[Number]:
        """Return the numbers of a text, in which the name of a token, as I, is no digit."""
        labels = self.expected.labels
        plain = _LETTER.sub(lambda own: "_" if own[0] in labels else own[0], text)
        return numbers_of(self._with_commas(plain))

    def testify(self, matrices: Mapping[str, WrittenMatrix]) -> dict[str, WrittenMatrix]:
        """Return the matrices with those found in other cuts of the numbers, each with a remark."""
        read = dict(matrices)
        doubtful = [
            name
            for name, key in self.expected.steps.items()
            if key.ndim == 2 and not _is_settled(read.get(name), key)
            if not _is_settled(read.get(name), self.beside_heads.get(name, key))
            if name not in read or not _is_left_blank(read[name])
        ]
        is_left = any(each.could_be_matrix for each in self.found.unread)
        if not self.numbers or not (doubtful or is_left):
            return read
        for matrix in self.expected.given.values():
            self._take_copies(matrix)
        for name, written in read.items():
            self._locate(name, written)
        guesses = {n for n in doubtful if self._is_guess(n) or self._is_misfit(n, read.get(n))}
        for name in guesses:
            self.free[[*self.own.get(name, ())]] = True
        self._take_named(doubtful, read, least=1)
        self._take_best(doubtful, read, least=1)
        self._take_named(doubtful, read, least=0)
        self._take_best(doubtful, read, least=ENOUGH)
        while self._take_mistaken(doubtful, read):
            self._take_best(doubtful, read, least=1)
        self._take_later(read)
        for name in guesses.intersection(doubtful):
            if not self.free[[*self.own.get(name, ())]].all():
                self._forget(name)
                self.left |= self.own.get(name, set())
                del read[name]
        steps = tuple(f"line {self.numbers[place].line}: " for place in self.witnessed)
        remarks = [e for e in self.found.remarks if COPIED not in e or not e.startswith(steps)]
        self.found.remarks[:] = [*remarks, *(remark for _, remark in sorted(self.said))]
        order = [*self.expected.steps]
        return dict(sorted(read.items(), key=lambda e: order.index(e[0]) if e[0] in order else -1))

    def _take_best(self, doubtful: list[str], read: dict[str, WrittenMatrix], least: float) -> None:
        """Read the steps whose numbers agree with a cut, the most certain first.

        Steps that have each other's numbers under their names were exchanged by the student.
        """
        while found := [
            each
            for name, key in self._keys(doubtful, read)
            if (each := self._best(name, read.get(name), key)) and each[2].share >= least
        ]:
            said = {name: self._said(cut, name) for _, name, cut in found}
            sizes = {name: self.expected.shape(name) for name in said}
            exchanged = {
                name
                for name, other in said.items()
                if name != other and said.get(other) == name and sizes[name] == sizes[other]
            }
            found = [each for each in found if each[1] not in exchanged]
            if not found:
                return
            _, name, cut = max(found, key=lambda each: each[0])
            doubtful.remove(name)
            read[name] = self._taken(name, cut, f"{BECAUSE} those of {name}")

    def _take_mistaken(self, doubtful: list[str], read: dict[str, WrittenMatrix]) -> bool:
        """Read the first step whose numbers are those of a common mistake, and return whether."""
        own = self.expected.whole(read)
        missing = [n for n in doubtful if n not in read or np.isnan(read[n].values).any()]
        if not self._may_hold({n: self.expected.steps[n] for n in missing}, 0, len(self.lines)):
            return False
        steps = {**self.expected.steps, **self.expected.follows(own), **own}.values()
        with np.errstate(over="ignore"):
            right = [*steps, *map(np.exp, steps)]  # powers are work beside weights
        used = {place for name in read for place in self.own.get(name, ())}
        for name, key in self.expected.mistaken(own, missing):
            if _is_rearranged(key, self.expected.steps[name]):
                continue
            found = self._best(name, None, key)
            if found is None or found[0] < PLAIN:
                continue
            cut = found[2]
            if cut.share < 1 or used & {*cut.places}:
                continue
            # in any shape: heads one below the other are no C
            is_other = any(share_alike(key.ravel(), each.ravel()) == 1 for each in right)
            if is_other and self._said(cut, name) != name:
                continue
            doubtful.remove(name)
            read[name] = self._taken(name, cut, f"{BECAUSE} those of {name} with a common mistake")
            return True
        return False

    def _take_named(
        self, doubtful: list[str], read: dict[str, WrittenMatrix], least: float
    ) -> None:
        """Read the steps whose rows are all named, one by one."""
        for name in [*doubtful]:
            cut = self._by_name(name, read.get(name))
            if cut is not None and cut.share >= least and name in doubtful:
                masked = name.replace("S_scaled", "S_masked")
                is_masked = np.isneginf(self.values[[*cut.places]]).any()
                meant = masked if is_masked and masked in {*doubtful} - {*read} else name
                doubtful.remove(meant)
                read[meant] = self._taken(meant, cut, f"its rows are named {meant}")

    def _keys(
        self, names: list[str], read: Mapping[str, WrittenMatrix]
    ) -> Iterator[tuple[str, Matrix]]:
        """Yield the possible values of steps: the key's, and those that follow from the answer."""
        steps, followed = self.expected.steps, self.expected.follows(self.expected.whole(read))
        for name in names:
            yield name, steps[name]
            masked = steps.get(name.replace("S", "S_masked"))
            if masked is not None and masked.shape == steps[name].shape:
                yield name, np.where(np.isneginf(masked), -np.inf, steps[name])
            other = followed.get(name)
            if other is None or other.shape != steps[name].shape or not np.isfinite(other).all():
                continue
            if not near(other, steps[name]).all():
                yield name, other
        # last, since outputs of heads side by side are their concatenation
        yield from ((name, each) for name, each in self.beside_heads.items() if name in names)

    def _take_later(self, read: dict[str, WrittenMatrix]) -> None:
        """Read a later version of a step whose numbers are all right, where an earlier is not."""
        for name, key in self.expected.steps.items():
            written, own = read.get(name), self.own.get(name)
            if written is None or not own or written.shape != key.shape or key.size < FEW:
                continue
            share = near(written.values, key).mean()
            if not WRONG < share < 1:
                continue
            later = self.free & (np.arange(len(self.numbers)) > max(own))
            found = cuts(self.numbers, key, later, turned=False, least=1)
            whole = next((c for c in found if c.share == 1 and self._is_close(c)), None)
            if whole is None or self._is_factor(whole):
                continue
            between = self.lines[
                self.numbers[max(own)].line - 1 : self.numbers[min(whole.places)].line
            ]
            if share >= ENOUGH or any(map(speaks_of_error, between)):
                read[name] = self._taken(name, whole, f"it is a later version of {name}")
                self.left -= own

    def _take_copies(self, matrix: Matrix) -> None:
        """Remove from the free numbers those that copy a given matrix."""
        if matrix.ndim != 2 or matrix.size < 4:
            return
        for _ in range(3):
            for cut in cuts(self.numbers, matrix, self.free, turned=False, least=1):
                if cut.share == 1 and self._is_close(cut) and self._is_copy(cut, matrix):
                    self.free[cut.places] = False
                    break
            else:
                return

    def _is_copy(self, cut: Cut, matrix: Matrix) -> bool:
        """Return whether words do not name a cut as a step, and no step has the same numbers."""
        first = {row[0] for row in cut.rows}
        names = {named for group, named in self.groups if first & {*group}}
        steps = self.expected.steps
        return not names & {*steps} and all(share_alike(matrix, key) < 1 for key in steps.values())

    def _is_close(self, cut: Cut) -> bool:
        """Return whether rows are on one line, or at the same place of lines near each other."""
        places, firsts = cut.places, [row[0] for row in cut.rows]
        lines = [self.numbers[place].line for place in firsts]
        before = {
            sum(each.line == line for each in self.numbers[max(0, place - WIDEST) : place])
            for place, line in zip(firsts, lines, strict=True)
        }
        is_aligned = len({*lines}) == 1 or len(before) == 1
        return is_aligned and max(places) - min(places) <= len(places) + 2 * len(cut.rows)

    def _locate(self, name: str, written: WrittenMatrix) -> None:
        """Mark the numbers of a step that was read: no other step uses them."""
        heads = written.values if written.values.ndim == 3 else [written.values]
        heads = [each[~np.isnan(each).all(axis=1)] for each in heads]
        own = [each for each in self.found.taken if each.step == name]
        lines = {line for each in own for line in each.lines}
        below = 2 * heads[0].shape[0] + 4
        windows = [lines, *({*range(e.line, e.last + below)} for e in own if e.what == name)]
        free = self.free.copy()
        for head in (each for each in heads if each.size):
            least = max(WRONG * float((~np.isnan(head)).mean()), 1 / head.size)
            found = list[Cut]()
            for window in windows[:MOST_WINDOWS]:
                there = free & np.array([each.line in window for each in self.numbers], bool)
                found += cuts(self.numbers, head, there, turned=True, least=least)
                if window is lines and any(cut.share == 1 for cut in found):
                    break
            fits = [(cut.share, self._behind_brackets(cut)) for cut in found]
            best = max(fits, default=(0.0, 0))
            for cut in (e for e, fit in zip(found, fits, strict=True) if fit == best >= (least, 0)):
                self.rows[name] = cut.written
                places = np.array(cut.rows)[cut.agreeing]
                self.own.setdefault(name, set()).update(places.tolist())
                self.free[places] = False

    def _behind_brackets(self, cut: Cut) -> int:
        """Return how many rows of a cut begin behind a bracket."""
        return sum(self.numbers[row[0]].is_first for row in cut.written if row)

    def _best(
        self, name: str, written: WrittenMatrix | None, key: Matrix
    ) -> tuple[float, str, Cut] | None:
        """Return the most certain cut for a step of these values, if it is certain enough."""
        free = self.free.copy()
        if self._is_guess(name):
            written = None
        else:
            free[[*self.own.get(name, ())]] = True
        if written is not None and written.shape == key.shape[::-1] != key.shape:
            return None  # its tokens are columns, which is reported
        wanted, least = key, ENOUGH
        is_open = written is None or bool(written.problem) or written.shape != key.shape
        is_copy = written is not None and self._is_given(written)
        if written is not None and not is_open:
            # as read, if it was; if entire rows are missing, in any rows
            is_missing = np.isnan(written.values)
            if not is_missing.all(axis=1).any():
                wanted, least = np.where(is_missing, key, written.values), ALIKE
            if not is_missing.any():
                if self._is_even(self.rows.get(name, [])) and not is_copy:
                    return None
                wanted = key
        is_full = least == ALIKE and wanted is key
        found = [
            (self._bits(name, cut, wanted), name, cut)
            for cut in cuts(
                self.numbers,
                wanted,
                free,
                turned=is_open,
                least=least,
                strides=STRIDES,
                rows_of_head=len(self.beside_heads.get(name, ())),
            )
            if cut.share >= least and (cut.share == 1 or (key.size > FEW and self._is_sound(cut)))
            if cut.share == 1 or cut.stride == 1
            if not cut.is_turned or self._may_be_turned(name, cut)
            if self._is_of_reading(name, cut) or not is_full or is_copy
            if is_full or least == ENOUGH or self._is_even(cut.written, by_lines=True)
        ]
        sure = [e for e in found if e[0] >= SURE + math.log2(self._between(name, e[2]) + 1)]
        return max(sure, key=lambda each: each[0], default=None)

    def _by_name(self, name: str, written: WrittenMatrix | None) -> Cut | None:
        """Return the rows, columns or entries that words name one by one, if none is missing.

        Their numbers may be wrong: the name and the layout of each count.
        """
        key = self.expected.steps[name]
        height, width = key.shape
        groups = self._named_groups(name, height, width)
        is_column = any(COLUMN.search(self._words(each)) for each in groups)
        is_of_shape = written is not None and not written.problem and written.shape == key.shape
        if is_of_shape and not is_column:
            return None
        shape = len(groups), *{len(group) for group in groups}
        if shape == (width, height) and (is_column or width != height):
            rows = [list(row) for row in zip(*groups, strict=True)]
        elif shape == (height, width):
            rows = groups
        elif shape in ((1, key.size), (key.size, 1)):
            places = [place for group in groups for place in group]
            rows = [places[i * width : (i + 1) * width] for i in range(height)]
            lines = [{self.numbers[place].line for place in row} for row in rows]
            if {*map(len, lines)} not in ({1}, {width}):
                return None  # neither a row nor an entry on each line
        else:
            return None
        cut = Cut(rows, near(self.values[np.array(rows)], key), "by name")
        return cut if self._is_parted(cut) and not self._is_factor(cut) else None

    def _named_groups(self, name: str, height: int, width: int) -> list[list[int]]:
        """Return the free groups under a name, without the counts of rows and columns."""
        free = self.free.copy()
        free[[*self.own.get(name, ())]] = True
        groups = [group for group, named in self.groups if named == name]
        widest = max(map(len, groups), default=0)
        groups = [each for each in groups if len(each) > 1 or widest == 1]
        if len(groups) == height + 1 and self._are_counts(groups[0]):
            groups = groups[1:]
        are_wider = all(len(each) == width + 1 for each in groups)
        if are_wider and self._are_counts([each[0] for each in groups]):
            groups = [each[1:] for each in groups]
        return [group for group in groups if free[group].all()]

    def _groups(self) -> Iterator[tuple[list[int], str]]:
        """Yield the numbers side by side on a line, and the step that words before them name.

        A group without a name continues that of the group before it, or of the line above.
        """
        name, line = "", 0
        for group in _side_by_side(self.numbers, *self.lines):
            if len(group) == 1 and self._is_in_prose(self.numbers[group[0]]):
                continue
            number = self.numbers[group[0]].line
            for text in self.lines[line : number - 1]:
                if words := text.strip(AROUND):
                    name = self._in_words(words) or (name if len(words.split()) < FEW else "")
            words = self._words(group).strip(AROUND + "_")
            if words:
                is_short = len(words.split()) < FEW and not _RELATIONS.search(words)
                name = self._before(group) or (name if is_short else "")
            yield group, name
            line = number

    def _are_counts(self, places: list[int]) -> bool:
        """Return whether numbers count rows or columns, from 0 or from 1."""
        return len(places) > 1 and _are_counts([self.numbers[place] for place in places])

    def _is_in_prose(self, number: Number) -> bool:
        """Return whether a number is between two words: divided by the root of 2, then softmax."""
        here = self.lines[number.line - 1]
        before, behind = here[: number.start], here[number.end :]
        return bool(_WORD_BEFORE.search(before) and _WORD_BEHIND.match(behind))

    def _is_given(self, written: WrittenMatrix) -> bool:
        """Return whether a matrix copies a given one, as a factor before a result."""
        given = (np.atleast_2d(each) for each in self.expected.given.values())
        return any(np.array_equal(written.values, each) for each in given)

    def _is_guess(self, name: str) -> bool:
        """Return whether a step was named only by its position and its shape."""
        return any(e.what == name and e.how.startswith("taken as") for e in self.found.taken)

    def _is_misfit(self, name: str, written: WrittenMatrix | None) -> bool:
        """Return whether a step was read with another shape, and not as its transpose."""
        shape = self.expected.shape(name)
        return written is not None and sorted(written.shape) != sorted(shape)

    def _forget(self, name: str) -> None:
        """Remove the notes about the reading of a step."""
        self.found.taken[:] = [
            each for each in self.found.taken if each.step != name or each.how.startswith("given")
        ]
        old = f"taken as {name}: ", f"{name}["
        self.found.remarks[:] = [
            each
            for each in self.found.remarks
            if not each.partition(": ")[2].startswith(old)
            and not each.startswith(f"{name} is written on ")
        ]

    def _is_of_reading(self, name: str, cut: Cut) -> bool:
        """Return whether a cut shares numbers with the reading of its step."""
        own = self.own.get(name, set())
        return 3 * len(own & {*cut.places}) >= len(cut.places)

    def _bits(self, name: str, cut: Cut, key: Matrix) -> float:
        """Return how certain a cut is, in bits."""
        if self._is_factor(cut):
            return 0.0
        total = len(self.numbers) + 2
        alike = near(self.values[:, None], key.ravel()[None, :]).sum(axis=0).reshape(key.shape)
        bits = np.log2(total / (alike + 1))
        is_written = np.array(cut.rows) >= 0
        score = float(np.where(cut.agreeing, bits, -3.0)[is_written].sum())
        rows = cut.written
        width = cut.stride * (len(cut.rows[0]) - 1) + 1
        steps = [b[0] - a[0] + width - len(a) for a, b in pairwise(rows)]
        if len({*steps}) > 1:
            usual = max({*steps}, key=steps.count)
            for step in steps:
                is_near = width <= step <= width + len(GAPS)
                score -= 0 if step == usual else (2 if is_near else math.log2(total))
        if steps and min(steps) > width + WIDEST:
            score -= math.log2(total)  # rows that are all far apart have a position each
        lines = [self.numbers[row[0]].line for row in rows]
        score += ON_LINES * (len({*lines}) == len(lines) and len(lines) > 1)
        score -= STRIDDEN * (cut.stride > 1)
        is_plain = cut.share == 1 and score >= PLAIN
        said = self._said(cut, name)
        if said not in self.expected.steps:
            said = ""  # of a given matrix: "weights of query 1" are not W_Q
        score += NAMED * (said == name) + OTHERWISE * (said not in ("", name))
        unread = {each.line for each in self.found.unread if each.could_be_matrix}
        is_unread = len({*lines} & unread) * 2 >= len({*lines})
        is_other = said not in ("", name) and not (is_unread or is_plain)
        if is_other or not (said or self._is_parted(cut)):
            return 0.0
        score += UNREAD * is_unread
        between = self._between(name, cut)
        return score + IN_ORDER * (between < len(self.numbers)) + EXACT * (between == key.size)

    def _between(self, name: str, cut: Cut) -> int:
        """Return how many free numbers are between the steps around a step, if a cut is there.

        The numbers of a step may be among those of another, as in a sheet with a row of each.
        """
        order = [*self.expected.steps]
        own = order.index(name)
        before = [min(self.own[n]) for n in order[:own] if self.own.get(n)]
        after = [max(self.own[n]) for n in order[own + 1 :] if self.own.get(n)]
        first, last = max(before, default=-1), min(after, default=len(self.numbers))
        if not first < min(cut.places) <= max(cut.places) < last:
            return len(self.numbers)
        return int(self.free[first + 1 : last].sum())

    def _said(self, cut: Cut, wanted: str) -> str:
        """Return the step that words before a cut, or before its rows, name.

        Names of rows may count them: q1, q2 below the heading of the weights.
        """
        own = [each for each in map(self._before, cut.written) if each]
        of_rows = ""
        if own and (2 * len(own) > len(cut.rows) > 1 or {*own} == {wanted}):
            others = [each for each in own if each != wanted]
            of_rows = others[0] if 2 * len(others) >= len(own) else wanted
        return of_rows if of_rows == wanted else self._above(cut, wanted) or of_rows

    def _above(self, cut: Cut, wanted: str) -> str:
        """Return the step that words before a cut name, on its line or on the two above.

        In a line with several names, such as above matrices side by side, `wanted` is preferred.
        """
        first = self.numbers[min(cut.places)]
        here = self.lines[first.line - 1]
        if _ARGUMENT.search(here, 0, first.start):
            return ""
        above = [
            line
            for line in self.lines[max(0, first.line - 5) : first.line - 1]
            if not _RULE.fullmatch(line)
        ][-2:]
        for words in (here[: first.start], *reversed(above)):
            sides = [words, *_RELATION.split(words)[:-1][:1]]  # K = X·W_K
            said = (self.named(each.strip(" =:([{-*#")[-200:]) for each in sides)
            if name := next(filter(None, said), ""):
                beside = {self.named(each) for each in _BESIDE.split(words.strip()[-200:])}
                return wanted if wanted in beside else name
            if any(each.line == first.line - 1 for each in self.numbers[: min(cut.places)]):
                break
        return ""

    def _before(self, row: list[int]) -> str:
        """Return the step that the words directly before a row name, on its line."""
        return self._in_words(self._words(row))

    def _in_words(self, words: str) -> str:
        """Return the step that the last sentence of words names, in its first equation."""
        sides = _RELATIONS.split(_SENTENCE.split(_ASIDE.sub("", words))[-1])
        sides = [side.strip(AROUND)[-200:] for side in sides]
        ends = [side.rpartition(" ")[2] for side in sides]  # a symbol behind an unknown word
        starts = [side.rpartition(" ")[0].strip() for side in sides]
        ends = [
            end
            for start, end in zip(starts, ends, strict=True)
            if not end.isalpha() or end.isupper() or start in self.expected.labels
        ]
        return next(filter(None, map(self.beside, [*sides, *ends])), "")

    def _words(self, row: list[int]) -> str:
        """Return the text between a row and the result before it, on its line."""
        first = self.numbers[row[0]]
        before = (
            number
            for number in reversed(self.numbers[: row[0]])
            if number.line != first.line or not number.is_operand
        )
        other = next(before, None)
        start = other.end if other and other.line == first.line else 0
        return self.lines[first.line - 1][start : first.start]

    def _may_be_turned(self, name: str, cut: Cut) -> bool:
        """Return whether columns are listed as rows, and a matrix is not transposed by mistake."""
        columns = [[*column] for column in zip(*cut.rows, strict=True)]
        are_named = any(COLUMN.search(self._words(column)) for column in columns)
        is_square = len(cut.rows) == len(cut.rows[0])
        return are_named or not (is_square or own_name(name)[:1] in "SA")

    def _is_sound(self, cut: Cut) -> bool:
        """Return whether each row of a cut agrees in half of its entries, at equal distances."""
        return bool((cut.agreeing.mean(axis=1) >= WRONG).all()) and self._is_even(cut.written)

    def _is_even(self, rows: list[list[int]], *, by_lines: bool = False) -> bool:
        """Return whether rows begin at equal distances of lines and (unless `by_lines`) numbers."""
        starts = [np.array((0 if by_lines else r[0], self.numbers[r[0]].line)) for r in rows]
        return len({(*(b - a),) for a, b in pairwise(starts)}) <= 1

    def _is_factor(self, cut: Cut) -> bool:
        """Return whether a number directly precedes the bracket of a cut: 1/2 [1 3; -1 1]."""
        first = min(cut.places)
        before, number = self.numbers[first - 1], self.numbers[first]
        if not first or len(cut.rows) < 2 or not (before.is_result or before.is_operand):
            return False
        text = "\n".join(self.lines[before.line - 1 : number.line])
        start = len(text) - len(self.lines[number.line - 1]) + number.start
        return _BRACKET.search(text, before.start, start) is not None

    def _is_parted(self, cut: Cut) -> bool:
        """Return whether its rows are separated: by lines, words, or another separator."""
        numbers = [[self.numbers[place] for place in row] for row in cut.written]
        if any(row[0].line != other[0].line for row, other in pairwise(numbers)):
            return True
        here = self.lines[numbers[0][0].line - 1]
        within = {here[a.end : b.start].strip() for row in numbers for a, b in pairwise(row)}
        between = {here[a[-1].end : b[0].start].strip() for a, b in pairwise(numbers)}
        return not within & between

    def _taken(self, name: str, cut: Cut, because: str) -> WrittenMatrix:
        """Return the matrix of a cut; its numbers are marked as used, and a remark is added."""
        if name in self.own and not self._is_guess(name):
            self.free[[*self.own[name].difference(self.witnessed)]] = True
            self.left |= self.own[name] - {*cut.places}
            before = {number for row in self.rows.get(name, []) for number in row}
            self.left |= before - {*cut.places}
        self._forget(name)
        self.free[cut.places] = False
        self.witnessed += cut.places
        numbers = [self.numbers[place] for place in cut.places]
        first, last = min(n.line for n in numbers), max(n.line for n in numbers)
        where = f"line {first}" if first == last else f"lines {first} to {last}"
        shown = [(self.lines[n.line - 1][n.start : n.end].strip(), n.entry.text) for n in numbers]
        letters = (f"{typed} = {text}" for typed, text in shown if {*typed} & {*"lIOoQ"})
        said = ", ".join(dict.fromkeys(letters))
        why = f"{because} (letters read as digits: {said})" if said else because
        self.said.append((first, f"{where}: read as {name}, because {why}"))
        lines = {number.line for number in numbers}
        for line in sorted(lines):
            self.found.note(line, name, because, typed(self.lines[line - 1]))
        rows = [
            [self.numbers[k].entry if k >= 0 else self._left_out(name, row) for k in row]
            for row in self._by_labels(name, cut)
        ]
        return matrix_of_entries([rows], f"line {first}")

    def _by_labels(self, name: str, cut: Cut) -> list[list[int]]:
        """Return the rows of a cut in the order of the tokens that name them, if each has one."""
        labels = self.expected.labels
        own = [self._words(row).split()[-1:] for row in cut.written]
        named = [word.strip(AROUND) for words in own for word in words]
        if len(named) < len(cut.rows) or not all(word in labels for word in named):
            return cut.rows
        order = [labels.row(name, word) for word in named]
        by_order = [row for _, row in sorted(zip(order, cut.rows, strict=True))]
        return by_order if len({*order}) == len(order) else cut.rows

    def _left_out(self, name: str, row: list[int]) -> Entry:
        """Return what a row has no number for: no weight, or -∞ if it has a sign for each."""
        if own_name(name) == "A":
            return Entry("0", Decimal(0))
        first = self.numbers[min(place for place in row if place >= 0)]
        here = self.lines[first.line - 1][first.end :]
        signs = sum(here.split().count(sign) for sign in MASKED)
        return Entry("-inf", Decimal("-Infinity"), IN_FULL) if signs == row.count(-1) else Entry("")

    def without_witnessed(self, read: Mapping[str, WrittenMatrix]) -> None:
        """Remove from the unread parts those that are read: results of a step, or repetitions."""
        if not self.numbers:
            return
        left = []
        for each in self.found.unread:
            own = self._numbers_in(each.text)
            again = self._product(own, read)
            if again and each.could_be_matrix:
                self.found.note(each.line, again, f"{again} again", each.text)
            elif not (self._is_read(each, read) if each.could_be_matrix else self._is_used(each)):
                left.append(each)
            else:
                self.found.note(each.line, "", "numbers that are read elsewhere", each.text)
        self.found.unread[:] = [*left, *self._left_over(read)]

    def _is_used(self, unread: Unread) -> bool:
        """Return whether a step has all the numbers of an unread text, on its line."""
        windows = self._windows(unread.line, self._numbers_in(unread.text))
        return any(not self.free[each].any() for each in windows)

    def _product(self, own: list[Number], read: Mapping[str, WrittenMatrix]) -> str:
        """Return the first of known matrices whose numbers follow one another, or ""."""
        known = {name: each.values for name, each in read.items()} | {**self.expected.given}
        said, first = [each.value for each in own], ""
        while said:
            for name, values in known.items():
                sides = (values.ravel().tolist(), np.swapaxes(values, -1, -2).ravel().tolist())
                if values.size > 1 and said[: values.size] in sides:
                    first, said = first or name, said[values.size :]
                    break
            else:
                return ""
        return first

    def without_prose(self, read: Mapping[str, WrittenMatrix]) -> None:
        """Note that unread numbers among words are no step, if they are too few for a missing one.

        They may be one if words name a step or a token, if a row of numbers has the width of one,
        or if a line begins with a missing one.
        """
        steps = self.expected.steps
        missing = {name: key for name, key in steps.items() if name not in read}
        if not read or any(np.isnan(each.values).any() or each.problem for each in read.values()):
            return
        unread = [each for each in self.found.unread if each.could_be_matrix]
        own = [self._numbers_in(each.text) for each in unread]
        heads = (_RELATIONS.split(line, maxsplit=1) for line in self.lines)
        if sum(map(len, own)) >= min(
            (key.size for key in missing.values()), default=math.inf
        ) or any(
            len(each) > 1
            and self.named(each[0].strip(AROUND)[-200:]) in missing
            and len(numbers_of(each[1])) != 1
            for each in heads
        ):
            return
        widths = {key.shape[-1] for key in steps.values()}
        sizes = {1.0, *(float(size) for key in steps.values() for size in key.shape)}
        right = {n for n in read if n in steps and read[n].shape == steps[n].shape}
        right = {n for n in right if near(read[n].values, steps[n]).all()}
        is_done = not missing and right == {*read}
        for each, numbers in zip(unread, own, strict=True):
            words = _NUMBERS.split(each.text[:200])
            known = set[str]() if is_correction(each.text) else right
            said = {self.beside(word) for word in words} & {*steps} - known
            said |= {word for word in words if word.strip(AROUND) in self.expected.labels}
            rows = map(len, _side_by_side(numbers, *each.text.split("\n")))
            is_row = not is_done and any(row > 1 and row in widths for row in rows)
            is_prose = any(map(_WORD.search, words)) and not is_row
            values = {number.value for number in numbers}
            is_size = values <= sizes and 1 < len(numbers) < FEW
            is_alone = len(numbers) == 1 and 1 not in widths and each.why in (NO_NAME, IN_COMMENT)
            if not numbers or (not said and (is_prose or is_alone or is_size)):
                place = self.found.unread.index(each)
                self.found.unread[place] = each._replace(could_be_matrix=False)

    def list_announced(self, missing: Mapping[str, Matrix]) -> None:
        """List the numbers below a heading that names a step which was not read."""
        lines = {each.line for each in self.found.unread if each.could_be_matrix}
        others = {
            line
            for each in self.found.taken
            if "map" in each.what + each.how or each.how in LIKE_WORK
            for line in each.lines
        }
        tallest = max(map(len, missing.values()), default=0)
        for number, text in enumerate(self.lines, start=1):
            is_heading = len(text) < LONGEST_HEADING and not _RELATION.search(text)
            if not is_heading or not self._may_hold(missing, number + 1, number + 1 + tallest):
                continue
            if (name := self.named(text.strip(AROUND))) not in missing:
                continue
            last = number + 1 + len(missing[name])
            below = {*range(number + 1, last + 1)} - others
            own = self._on(number + 1, last)
            count = sum(self.free[place] and self.at[place] in below for place in own)
            if not below & lines and count >= WRONG * missing[name].size:
                why = f"{name} is named here, but the numbers below it are not read"
                self.found.leave(number, text.strip(), why)
                lines.add(number + 1)

    def _is_read(self, unread: Unread, read: Mapping[str, WrittenMatrix]) -> bool:
        """Return whether the results in an unread text are all parts of steps, or e^s of scores."""
        whole = self._with_commas(unread.text)
        texts = ROW_ENDS.split(whole)
        firsts = [row[0] for row in map(self._numbers_in, texts) if len(row) > 1]
        if len(firsts) < len(texts) or not _are_counts(firsts):
            texts = [whole]
        rows = [[(n, _is_label(text, n)) for n in self._numbers_in(text)] for text in texts]
        first = rows[0][0][0] if rows[0] else None
        is_first = first is not None and not texts[0][: first.start].strip(STARTS)
        if is_first and first and first.value in range(1 - (len(rows) > 1), MOST_ROWS):
            rows = [row[1:] for row in rows]  # it may count its row
        own = [number for row in rows for number, _ in row]
        is_power = self._are_powers(own, read)
        are_decimals = [bool(each.entry.decimals) or "/" in each.entry.text for each in own]
        if is_power.sum() > 1 and any(are_decimals) and is_power[are_decimals].mean() >= ENOUGH:
            return True
        is_result = np.array([n.is_last and not label for row in rows for n, label in row], bool)
        if not is_result.any():
            return False
        if any(number.is_operand for number in own):
            known = {*chain(*(e.values.ravel().tolist() for e in read.values()))}
            results = (n for n, is_one in zip(own, is_result, strict=True) if is_one)
            if all(n.entry.decimals and n.value in known for n in results):
                return True
        if windows := [*self._windows(unread.line, own)]:
            is_left = [self.free[each] & ~_are_sums(own) for each in windows]
            return any(
                not (each & is_result).any() or self._are_tokens(whole, own, each)
                for each in is_left
            )
        # the numbers of a column, which are not consecutive, with their powers of e beside them
        last = unread.line + max(4, len(own))
        there = Counter(
            self.numbers[place].value
            for place in self._on(unread.line, last)
            if not self.free[place]
        )
        said = Counter(
            n.value for n, is_one, of_e in zip(own, is_result, is_power, strict=True)
            if is_one and (not of_e or n.value in there)
        )  # fmt: skip
        return bool(said) and said <= there

    @staticmethod
    def _are_powers(own: list[Number], read: Mapping[str, WrittenMatrix]) -> Matrix:
        """Return which numbers are e^s of scores, or the sums of their rows, or quotients."""
        said = np.array([each.value for each in own])
        scores = [each.values for name, each in read.items() if own_name(name)[:1] == "S"]
        with np.errstate(all="ignore"):
            powers = [np.where(np.isfinite(each), np.exp(each), np.nan) for each in scores]
            rows = [np.nansum(each, axis=-1) for each in powers]
            known = np.concatenate([*map(np.ravel, powers), *map(np.ravel, rows), np.empty(0)])
            within = np.abs(said[:, None] - known) <= ONE * np.maximum(1, known)
        weights = [each.values.ravel() for name, each in read.items() if own_name(name) == "A"]
        shares = near(said[:, None], np.concatenate([*weights, np.array([np.nan])]))
        is_quotient = np.array(["/" in each.entry.text for each in own], bool)
        found: Matrix = within.any(axis=1) | (is_quotient & shares.any(axis=1))
        return found

    def _are_tokens(self, text: str, numbers: list[Number], left: Matrix) -> bool:
        """Return whether the numbers that are left among read ones count tokens: token 1, …."""
        counts = [each for each, is_left in zip(numbers, left, strict=True) if is_left]
        are_behind_words = all(_WORD_BEFORE.search(text, 0, each.start) for each in counts)
        lengths = map(len, self.expected.steps.values())
        tokens = len(self.expected.labels.keys) or max(lengths, default=0)
        values = [each.value for each in counts]
        in_order = values == sorted({*values} & {*range(1, tokens + 1)})
        return are_behind_words and in_order and not left.all()

    def _windows(self, line: int, own: list[Number]) -> Iterator[slice]:
        """Yield where the same numbers begin on a line, consecutively."""
        values = [each.value for each in own]
        for start in self._on(line, line):
            if self.values[start : start + len(own)].tolist() == values:
                yield slice(start, start + len(own))

    def _left_over(self, read: Mapping[str, WrittenMatrix]) -> Iterator[Unread]:
        """Yield the numbers that were read as part of a step, and are not part of its cut.

        Powers of e, and their sums, are work beside the weights.
        """
        left = [self.numbers[place] for place in sorted(self.left) if self.free[place]]
        counted = {line for line, own in self._by_line(self.numbers) if _are_counts(own)}
        counted |= {
            line
            for each in self.found.taken
            if each.step in self.expected.steps and not each.how.startswith(BECAUSE)
            for line in each.lines
        }
        left = [number for number in left if number.line not in counted]
        behind = [n for n in left if self.lines[n.line - 1][: n.start].strip(STARTS)]
        could_be = len({each.line for each in behind}) > 1  # a column, not a count of rows
        for line, numbers in self._by_line(left):
            text = " ".join(each.entry.text for each in numbers)
            is_work = self._are_powers(numbers, read).all() or self._is_sum(numbers)
            yield Unread(line, text, BESIDE, could_be and not is_work)

    def _is_sum(self, numbers: list[Number]) -> bool:
        """Return whether one number is the sum of all others on its line, within rounding."""
        row = self.values[self._on(numbers[0].line, numbers[0].line)]
        with np.errstate(invalid="ignore"):  # of infinities
            off = abs(row.sum() - 2 * numbers[0].value)
        return len(numbers) == 1 and len(row) > 2 and bool(off <= ONE * len(row))

    @staticmethod
    def _by_line(numbers: list[Number]) -> Iterator[tuple[int, list[Number]]]:
        return ((line, [*own]) for line, own in groupby(numbers, key=lambda each: each.line))


def _side_by_side(numbers: list[Number], *lines: str) -> list[list[int]]:
    """Return the places of numbers on one line with nothing but separators between them."""
    groups: list[list[int]] = []
    for place, number in enumerate(numbers):
        if number.is_operand:
            continue
        last = numbers[groups[-1][-1]] if groups else None
        is_beside = last is not None and last.line == number.line
        here = lines[number.line - 1]
        if is_beside and last and _SEPARATORS.fullmatch(here[last.end : number.start]):
            groups[-1].append(place)
        else:
            groups.append([place])
    return groups


def _are_counts(numbers: list[Number]) -> bool:
    """Return whether the numbers of a line count columns: 0 1 2, or 1 2."""
    values = [each.value for each in numbers]
    return any(values == [*range(start, start + len(values))] for start in (0, 1))


def _are_sums(numbers: list[Number]) -> Matrix:
    """Return which numbers are the sum 1 of the numbers before them."""
    found = np.zeros(len(numbers), bool)
    for i in range(2, len(numbers)):
        before = [each.value for each in numbers[:i]]
        found[i] = abs(numbers[i].value - 1) < ONE and any(
            abs(sum(before[k:]) - 1) < ONE * (i - k) for k in range(i - 1)
        )
    return found


def _is_rearranged(values: Matrix, key: Matrix) -> bool:
    """Return whether a matrix has the entries of another one, in other rows."""
    alike = (np.sort(each, axis=None) for each in (values, key))
    in_rows = (np.sort(each, axis=-1) for each in (values, key))
    return share_alike(*alike) == 1 > share_alike(*in_rows)


def _is_left_blank(written: WrittenMatrix) -> bool:
    """Return whether a matrix is present and empty, without names of its entries."""
    is_empty = not written.problem and bool(np.isnan(written.values).all())
    texts = [] if written.texts is None else map(str, written.texts.flat)
    return is_empty and not any(c.isalpha() for text in texts for c in text)


def _is_label(text: str, number: Number) -> bool:
    """Return whether a number is part of a name: before a colon, between two words, or as 2)."""
    is_between = (
        not number.entry.decimals
        and _WORD_BEFORE.search(text, 0, number.start)
        and _WORD_BEHIND.match(text, number.end)
    )
    is_item = (
        text[number.end : number.end + 1] == ")" and text[: number.start].rstrip()[-1:] in ENDS
    )
    return bool(is_between) or is_item or _LABEL.match(text, number.end) is not None
