"""Inputs that tie: a list of them, or a word for all, is one name, with a column of weights."""

from collections.abc import Iterator, Sequence

import numpy as np

from attncalc.base.types import Matrix
from attncalc.reading.answers.map_names import SENTENCE, Mention, Reading, Ties
from attncalc.reading.answers.map_order import ALL, EVERY, TIE, members
from attncalc.reading.answers.map_words import lexemes_in

MOST_TIED = 8
_LISTING = {"sep", "to", "in", "token", "", "unknown", "open", "itself"}
"""The kinds of words between two names of a list: input 2 and to input 3."""
_FEWEST, _MOST_WORDS = 2, 3


def with_ties(readings: Sequence[Reading], heads: Matrix) -> list[Reading]:
    """Return readings in which inputs that tie are one name, of those that name such inputs.

    heads: the weights of each head, of shape (heads, outputs, inputs).
    """
    rows = [(k, row) for head in heads for k, row in enumerate(head)]
    if not any(_tied(EVERY, *each) or _has_tie(each[1]) for each in rows):
        return []
    found = []
    for each in readings:
        groups: dict[tuple[int, ...], int] = {}
        mentions = [*_grouped([*_with_all(each.mentions)], rows, groups)]
        if groups:
            ties = {place: own for own, place in groups.items()}
            found.append(each._replace(mentions=mentions, ties=ties))
    return found


def columns_with(ties: Ties, heads: Matrix) -> Matrix:
    """Return the weights with a column for each list: the weight of its inputs, if they tie.

    >>> columns_with({3: (0, 1)}, np.array([[[0.4, 0.4, 0.2], [0.1, 0.7, 0.2]]])).tolist()
    [[[0.4, 0.4, 0.2, 0.4], [0.1, 0.7, 0.2, 0.0]]]
    """
    more = [
        [[_tied(own, k, row) for own in ties.values()] for k, row in enumerate(head)]
        for head in heads
    ]
    return np.concatenate([heads, np.array(more).reshape(*heads.shape[:2], len(ties))], axis=2)


def _has_tie(row: Matrix) -> bool:
    ranked = np.sort(row[row > TIE])
    return bool((np.diff(ranked) <= TIE).any())


def _tied(inputs: Sequence[int], output: int, row: Matrix) -> float:
    """Return the weight of inputs that tie, if no other has the same; 0 if they do not."""
    places = members(inputs, output, row)
    if len(places) < max(_FEWEST, len(inputs)) or places[-1] >= len(row):
        return 0.0
    own, others = row[places], np.delete(row, places)
    is_tie = np.ptp(own) <= TIE and not (np.abs(others - own[0]) <= TIE).any()
    return float(own.min()) if is_tie else 0.0


def _with_all(mentions: Sequence[Mention]) -> Iterator[Mention]:
    """Yield the names of a text, and words for all behind a name in its sentence."""
    for k, each in enumerate(mentions):
        is_next = k > 0 and each.line == mentions[k - 1].line and each.goes_on
        before = each.before if is_next else mentions[k - 1].behind if k else ""
        if match := ALL.search(before):
            own = before[: match.end()]
            last = mentions[k - 1]
            yield _every(last, own)._replace(behind=before[match.end() :])
            each = each._replace(before=before[match.end() :]) if is_next else each
        yield each
    if mentions and (match := ALL.search(mentions[-1].behind)):
        last = mentions[-1]
        yield _every(last, last.behind[: match.end()])._replace(behind=last.behind[match.end() :])


def _every(last: Mention, before: str) -> Mention:
    """Return a word for all inputs, as a name behind another."""
    (place,) = EVERY
    return last._replace(output=-1, input=place, before=before, is_near=True, goes_on=True)


def _grouped(
    mentions: Sequence[Mention],
    rows: Sequence[tuple[int, Matrix]],
    groups: dict[tuple[int, ...], int],
) -> Iterator[Mention]:
    """Yield the names of a text, one for each list, whose number is added to `groups`."""
    at, width = 0, len(rows[0][1])
    while at < len(mentions):
        first, stop = mentions[at], at + 1
        while stop < len(mentions) and stop - at < MOST_TIED and _is_listed(mentions[stop]):
            stop += 1
        # the longest list
        ends = (
            end
            for end in range(stop, at, -1)
            if first.goes_on and _are_tied(mentions[at:end], rows)
        )
        end = next(ends, at)
        if end > at:
            own = _inputs(mentions[at:end])
            place = groups.setdefault(own, width + len(groups))
            yield first._replace(output=-1, input=place, behind=mentions[end - 1].behind)
        elif first.input not in EVERY:
            yield first
        at = max(end, at + 1)


def _is_listed(mention: Mention) -> bool:
    """Return whether only words of a list are between the name before this one and it."""
    if not mention.goes_on or SENTENCE.search(mention.before):
        return False
    words = [each for each in lexemes_in(mention.before.strip(" .'‘’"), {}) if each.kind != "sep"]
    return len(words) <= _MOST_WORDS and all(each.kind in _LISTING for each in words)


def _inputs(mentions: Sequence[Mention]) -> tuple[int, ...]:
    """Return the inputs of a list; all of them may be named beside the word for all."""
    return (*(each.input for each in mentions if each.input not in EVERY),) or EVERY


def _are_tied(mentions: Sequence[Mention], rows: Sequence[tuple[int, Matrix]]) -> bool:
    own = _inputs(mentions)
    return -2 not in own and any(_tied(own, k, row) > TIE for k, row in rows)
