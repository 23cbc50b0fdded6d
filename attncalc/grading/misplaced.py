"""Entries in other places: rows, columns or neighbours exchanged, a row that is written twice."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from attncalc.equations.operations.assembling import Patches
from attncalc.grading.causes import Cause
from attncalc.grading.copying import Found, entry_name
from attncalc.grading.known import Known
from attncalc.grading.slack import Slack
from attncalc.numbers.types import Matrix, Range
from attncalc.problem.step import Step
from attncalc.reading.answers.answer import WrittenMatrix

CODES = (
    *("rows-swapped", "columns-swapped", "row-repeated", "column-repeated"),
    "entries-swapped",
)


class _Compared(NamedTuple):
    """What is written beside what is right: (rows, columns), or (heads, rows, columns)."""

    slack: Slack
    values: Matrix
    decimals: Matrix
    right: Range

    @property
    def turned(self) -> "_Compared":
        """The same with columns as rows."""
        values, decimals, low, high = (
            each.swapaxes(-1, -2) for each in (self.values, self.decimals, *self.right)
        )
        return _Compared(self.slack, values, decimals, Range(low, high))

    @property
    def near(self) -> Matrix:
        """Where what is written may come from what is right."""
        return self.slack.near(self.values, self.decimals, self.right)

    def heads(self) -> list["_Compared"]:
        """Return each head alone."""
        if self.values.ndim == 2:
            return [self]
        each = zip(self.values, self.decimals, *self.right, strict=True)
        return [_Compared(self.slack, a, b, Range(low, high)) for a, b, low, high in each]

    def sources(self) -> list[int]:
        """Return which right row stands in the place of each; none where one is not to be found."""
        found: list[int] = []
        for number in range(len(self.values)):
            rows = sorted(range(len(self.values)), key=lambda row: row != number)
            source = next((row for row in rows if self.is_row(number, row)), None)
            if source is None:
                return []
            found.append(source)
        return found

    def is_row(self, number: int, row: int) -> bool:
        """Say whether a right row is written in the place of another."""
        right = Range(self.right.low[row], self.right.high[row])
        return bool(self.slack.near(self.values[number], self.decimals[number], right).all())


def misplaced(known: Known, step: Step, written: WrittenMatrix) -> Iterator[Found]:
    """Yield which rows or columns, or which two neighbours, stand in other places."""
    if isinstance(step.operation, Patches):
        return  # there, an image that is cut otherwise explains what stands elsewhere
    for rule in known.rules(step):
        right = known.result(step, rule)
        if right.low.shape == written.shape:
            compared = _Compared(known.slack, written.values, written.decimals, right)
            yield from _beside(known, step, compared)


def _beside(known: Known, step: Step, compared: _Compared) -> Iterator[Found]:
    """Yield what stands in other places, beside one reading of what is right."""
    standing = known.key.problem.standing
    rows = _of_rows(step, compared, "row", standing.line)
    columns = _of_rows(step, compared.turned, "column", standing.line_across)
    lines = [*rows, *columns]
    yield from lines
    if not lines or min(compared.values.shape[-2:]) > 1:  # else lines are entries
        yield from _of_neighbours(known, step, compared)


def _of_rows(step: Step, compared: _Compared, code: str, word: str) -> Iterator[Found]:
    """Yield which two rows are exchanged, or which one stands in the place of another, too.

    In one head alone, or in all of them alike.
    """
    heads = [head.sources() for head in compared.heads()]
    own = list(range(compared.values.shape[-2]))
    moved = [number for number, sources in enumerate(heads) if sources != own]
    if not all(heads) or not moved or any(heads[each] != heads[moved[0]] for each in moved):
        return
    if 1 < len(moved) < len(heads):
        return
    sources, of = heads[moved[0]], f" of head {moved[0] + 1}" if len(moved) < len(heads) else ""
    places = [row for row in own if sources[row] != row]
    seen_in = len(moved) * len(places) * compared.values.shape[-1]
    for kind, says in _said(sources, places, word):
        numbers = ",".join(str(row + 1) for row in places)
        yield Cause(f"{code}{kind}:{numbers}", f"{says}{of}", step.name), seen_in


def _said(sources: Sequence[int], places: Sequence[int], word: str) -> Iterator[tuple[str, str]]:
    """Yield how a code ends, and what has happened."""
    if len(places) == 2 and sorted(sources) == list(range(len(sources))):
        yield "s-swapped", f"{word}s {places[0] + 1} and {places[1] + 1} are exchanged"
    elif len(places) == 1:
        (place,) = places
        says = f"{word} {sources[place] + 1} stands in the place of {word} {place + 1}, too"
        yield "-repeated", says


def _of_neighbours(known: Known, step: Step, compared: _Compared) -> Iterator[Found]:
    """Yield which two entries side by side, or one above the other, are exchanged."""
    places = np.argwhere(~compared.near)
    if len(places) != 2 or np.abs(places[0] - places[1]).tolist()[-2:] not in ([0, 1], [1, 0]):
        return
    first, second = (tuple(place.tolist()) for place in places)
    values, decimals = compared.values.copy(), compared.decimals.copy()
    for matrix in (values, decimals):
        matrix[first], matrix[second] = matrix[second], matrix[first]
    if first[:-2] == second[:-2] and compared._replace(values=values, decimals=decimals).near.all():
        names = [entry_name(known, step.name, place) for place in (first, second)]
        says = f"{names[0]} and {names[1]} are exchanged"
        yield Cause(f"entries-swapped-{names[0]}", says, step.name), 2
