"""Maps whose layout comes back for each output: in sentences, tables, lists, or printed places.

The tokens that a text names are a sequence. In a map, the inputs that outputs attend to most are at
equal distances in it, and so are the second ones, whatever other names are between them.
"""

import re
from collections.abc import Container, Iterator, Sequence
from math import log2, prod
from typing import NamedTuple

import numpy as np

from attncalc.base.types import Matrix
from attncalc.reading.answers.map_names import (
    LONGEST,
    VECTOR,
    Lines,
    Mention,
    input_of,
)
from attncalc.reading.answers.map_order import TIE, Said, are_ranked_so, is_ranked
from attncalc.reading.answers.map_words import lexemes_in, rank_in

MOST_PERIOD = 10
"""The most names from one output to the next."""
NEAR, FARTHEST = 4, 12
"""The most lines from one output to the next, unless the same words are before their names; and
those from a name to the next.
"""
BEHIND = 6
"""The most names between the first inputs and a list of the second ones."""
ENOUGH_BITS = 6.0
"""How improbable it is that names fit the weights by chance; less is enough beside words."""
FEWEST = 2
"""The fewest outputs and inputs that can come back."""
BELOW = 8
"""The lines from words about a map that they may be about."""
_CALLS = (
    r"\[[\w~]{1,9}, ?\w{1,9}\] ?= ?(?:max|sort)\b"
    r"|\b(?:arg_?max|which\.max|idxmax|max\.col|arg_?sort|sortperm|topk|maxk|nlargest)"
)
_LARGEST = re.compile(
    rf"(?:{_CALLS}|\b(?:(?:sort|order(?:ing)?)(?= ?[(\[])|rank(?:ing|s)?|ordine|ordre|orden|ordem"
    r"|reihenfolge|kolejność|порядок))\b|순위|顺序|順位",
    re.IGNORECASE,
)
_FORMULA = re.compile(
    r"(?<!=)=(?=\s*[^\s>=])|[*·×^√+]|\\(?:frac|sqrt)|(?<![^\W\d_])[QKVWSAH]_?\{?$|\w[(\[]$"
)
"""A sign of work between names, the letter of a matrix before a number, or a call."""
_WORDS = re.compile(r"[^\W\d_]+|[→⇒>|/&:]")
_SAID = {"attends", "takes", "feeds", "most", "second"}


class _Layout(NamedTuple):
    """Where names of a map are among those of a text; they come back with a period.

    columns: the places of the first input, and of the first second input.
    name: the place of the first output, if outputs are a column.
    others: how many names of each period are in no column.
    begin, stop, end: the places of the first name, behind the last one, and behind the last period.
    """

    period: int
    columns: tuple[int, ...]
    name: tuple[int, ...]
    others: int
    begin: int
    stop: int
    end: int


class About(NamedTuple):
    """The lines of words about a map and those soon below, and those below a program's call."""

    said: Container[int]
    printed: Container[int]


def lines_about(lines: Lines) -> About:
    """Return the lines that may be about a map."""
    texts = [(line, text[:LONGEST]) for line, text in lines]
    calls = [line for line, text in texts if _LARGEST.search(text)]
    said = [n for n, text in texts if any(each.kind in _SAID for each in lexemes_in(text, {}))]
    return About(*({n + k for n in own for k in range(BELOW)} for own in ([*calls, *said], calls)))


def maps_in_periods(
    mentions: Sequence[Mention], weights: Matrix, *, about: About, wrong: int = 0
) -> Iterator[Said]:
    """Yield the maps of a head that names state at equal distances, and the weights confirm.

    wrong: how many outputs may have inputs that the weights do not confirm.
    """
    several = np.flatnonzero(np.count_nonzero(weights > TIE, axis=1) > 1)
    # outputs with one weight may be named in another way
    for rows in (np.arange(len(weights)), *[several] * (several.size < len(weights))):
        yield from _Periods(mentions, weights, rows, about, wrong).found()


class _Periods:
    """The names of a text as a sequence, in which the map of one head is searched.

    rows: the outputs whose inputs are at equal distances.
    """

    def __init__(
        self, mentions: Sequence[Mention], weights: Matrix, rows: Matrix, lines: About, wrong: int
    ) -> None:
        self.mentions, self.weights, self.rows, self.about = mentions, weights, rows, lines
        self.wrong = wrong
        self.choices = np.maximum(np.count_nonzero(weights > TIE, axis=1), 1).tolist()
        self.lines = np.array([each.line for each in mentions], int)
        self.at = np.arange(rows.size)
        inputs = [[input_of(each, k) for each in mentions] for k in rows]
        self.inputs = np.array(inputs, int).reshape(rows.size, len(mentions))

    def found(self) -> Iterator[Said]:
        """Yield the maps at all distances."""
        own, width = self.weights[self.rows], self.weights.shape[1]
        if self.rows.size < FEWEST or width < FEWEST:
            return
        is_there = (self.inputs >= 0) & (self.inputs < width)
        values = np.where(is_there, own[self.at[:, None], np.where(is_there, self.inputs, 0)], -1)
        ranked = np.sort(own)[:, ::-1]
        is_single = np.array(self.choices)[self.rows] == 1
        is_first = values >= ranked[:, :1] - TIE
        is_second = (values >= ranked[:, 1:2] - TIE) & (values > TIE) | is_single[:, None]
        is_output = np.array([each.output for each in self.mentions]) == self.rows[:, None]
        most = self.rows.size - self.wrong
        far = np.cumsum(np.diff(self.lines, prepend=self.lines[:1]) > FARTHEST)
        for period in range(1, MOST_PERIOD + 1):
            starts = len(self.mentions) - period * (self.rows.size - 1)
            if starts < 1:
                return
            steps = period * self.at[:, None] + np.arange(starts)
            is_near = far[len(far) - starts :] == far[:starts]
            firsts, seconds, outputs = (
                np.flatnonzero((np.count_nonzero(own, axis=0) >= least) & is_near)
                for kind, least in (
                    (is_first, most),
                    (is_second, most),
                    (is_output, self.rows.size),
                )
                for own in [kind[self.at[:, None], steps]]
            )
            yield from self._of_period(period, firsts, seconds, outputs)

    def _of_period(
        self, period: int, firsts: Matrix, seconds: Matrix, outputs: Matrix
    ) -> Iterator[Said]:
        """Yield the maps, from the places where columns of inputs and of outputs may begin."""
        span = period * (self.rows.size - 1)
        for first in map(int, firsts):
            near = (seconds > first - period) & (seconds < first + 2 * span + BEHIND)
            is_free = (seconds < first + period) | (seconds > first + span)
            beside = map(int, seconds[near & is_free & (seconds != first)])
            for columns in (*((first, second) for second in beside), (first,)):
                inside = [each for each in columns if each < first + period]
                low, high = max(inside) - period, min(inside) + period
                names = outputs[(outputs > low) & (outputs < high)]
                name = (*(int(each) for each in names if each not in columns),)[:1]
                if names.size and not name and first not in names:
                    continue  # the second inputs would be the names of the outputs
                begin, stop = min(columns + name), max(columns + name) + span + 1
                end = max(stop, begin + span + period)
                others = period - len(inside) - len(name)
                yield from self._found(_Layout(period, columns, name, others, begin, stop, end))

    def _found(self, layout: _Layout) -> Iterator[Said]:
        """Yield the map of a layout, if words and weights rank its inputs so, by no chance."""
        inputs: list[tuple[int, ...]] = [()] * len(self.weights)
        lines = [int(self.lines[layout.columns[0]])] * len(self.weights)
        for i, k in enumerate(self.rows):
            places = [at + i * layout.period for at in layout.columns[: self.choices[k]]]
            inputs[k], lines[k] = (*self.inputs[i, places].tolist(),), int(self.lines[places[0]])
            own = {*inputs[k]}
            if len(own) < len(inputs[k]) or not own <= {*range(self.weights.shape[1])}:
                return
        right = [int(k) for k in self.rows if is_ranked(inputs[k], self.weights[k])]
        wrong = self.rows.size - len(right)
        if wrong > self.wrong:
            return
        # outputs with the same inputs count once
        ways = {inputs[k]: self._ways(k, len(inputs[k])) for k in right}
        bits = log2(prod(ways.values()) * self.rows.size ** (len(layout.name) - wrong))
        if bits < self._least(layout, is_right=not wrong) or not self._is_said_so(layout):
            return
        for k in np.setdiff1d(np.arange(len(self.weights)), self.rows):
            only = int(np.argmax(self.weights[k]))
            is_before = k < self.rows[0]
            edge = self.mentions[layout.begin if is_before else layout.stop - 1].line
            before = self.mentions[: layout.begin][: -layout.period - 1 : -1]
            beside = before if is_before else self.mentions[layout.stop :][: layout.period]
            # farther names are of something else, also if the weights would confirm them
            near = [each for each in beside if abs(each.line - edge) <= NEAR]
            if here := [each.line for each in near if input_of(each, int(k)) == only]:
                inputs[k], lines[k] = (only,), here[0]
        fit = len(lines) - wrong
        found = Said((*lines,), (*inputs,), fit, bits, True, layout.begin, layout.stop)
        yield found._replace(columns=layout.columns, period=layout.period)

    def _is_said_so(self, layout: _Layout) -> bool:
        """Return whether words rank the inputs of a layout so; none need to if it is in order."""
        roles = [""] * (layout.stop - layout.begin)
        for role, at in zip("ms", layout.columns, strict=False):
            for k in range(self.rows.size):
                roles[at + k * layout.period - layout.begin] = role
        run = self.mentions[layout.begin : layout.stop]
        first, second = layout.columns[0], layout.columns[-1]
        is_turned = second < first and run[0].line not in self.about.printed
        named = [rank_in(each.before) for each in run]
        are_named = any(
            (r, n) in (("m", "most"), ("s", "second")) for r, n in zip(roles, named, strict=True)
        )
        return are_ranked_so(run, roles) and (are_named or not is_turned)

    def _ways(self, output: int, count: int) -> float:
        """Return in how many ways inputs could be named, of which one is right; ties all are."""
        ranked = np.sort(self.weights[output])[::-1]
        fits = [int((ranked >= ranked[i] - TIE).sum()) - i for i in range(count)]
        return float(np.prod([(self.choices[output] - i) / n for i, n in enumerate(fits)]))

    def _are_pairs(self, layout: _Layout) -> bool:
        """Return whether words in a layout without outputs are those of outputs and inputs.

        These are arrows, a rank before the first input of an output, and uneven lines.
        """
        run = self.mentions[layout.begin + 1 : layout.stop]
        firsts = self.at[1:] * layout.period + layout.columns[0]
        words = [lexemes_in(each.before, {}) for each in run]
        before = [words[k - layout.begin - 1] for k in firsts]
        kinds = {each.kind for own in before for each in own}
        is_uneven = (
            layout.period > 1 and len({*np.diff(self.lines[[layout.columns[0], *firsts]])}) > 1
        )
        are_arrows = any(each.kind == "arrow" for own in words for each in own)
        return is_uneven or are_arrows or not kinds.isdisjoint(("second", "then"))

    def _least(self, layout: _Layout, *, is_right: bool) -> float:
        """Return how improbable a map of this layout must be by chance, in bits.

        Less is enough if words about a map are there, if names fill their lines, and if the same
        words are between the names of each output; any is enough for what a program prints. Inputs
        may be wrong only beside words, if outputs are named.
        """
        begin, end, period = layout.begin, layout.end, layout.period
        run, name = self.mentions[begin : layout.stop], layout.name
        own = range(run[0].line, run[-1].line + 1)
        is_said = any(line in self.about.said for line in own)
        is_printed = run[0].line in self.about.printed or run[-1].line in self.about.printed
        gaps = [{" ".join(_WORDS.findall(e.before)) for e in run[j::period]} for j in range(period)]
        are_alike = all(len(each) == 1 for each in gaps[1:])
        are_said = all(any(gaps[(at - begin) % period]) for at in layout.columns if at != begin)
        steps = self.at * period
        is_far = any(np.diff(self.lines[at + steps]).max() > NEAR for at in layout.columns)
        is_clear = bool(name) and are_alike and are_said
        is_half = len(layout.columns) == 1 and (
            (layout.others and not is_clear) or not (name or is_printed)
        )
        is_lost = is_far and not (is_clear and len(gaps[0]) == 1)
        is_work = any(_FORMULA.search(e.before) or VECTOR.search(e.before) for e in run[1:])
        is_partial = np.ptp(self.rows) >= self.rows.size and not name  # its outputs are unknown
        is_partial = is_partial or (not name and self._are_pairs(layout))
        is_in_order = [*layout.columns] == sorted(layout.columns) and name[:1] == (begin,)
        is_doubtful = not is_right and not (is_said and is_clear and is_in_order)
        if is_half or is_lost or is_work or is_partial or is_doubtful:
            return np.inf
        ends = {at for at in (begin, end) if 0 < at < len(self.mentions)}
        is_whole = all(
            self.lines[at - 1] < self.lines[at] or (at == begin and ":" in run[0].before)
            for at in ends
        )
        is_regular = are_alike and (not layout.others or is_printed or are_said)
        if not (is_said or is_whole) or not (is_regular or (name and not layout.others)):
            return ENOUGH_BITS + log2(len(self.mentions))
        return 0 if is_printed and is_whole else ENOUGH_BITS / (1 + is_said + is_whole / 2)
