"""Slips of a single entry: its sign, its digits, its place; and copying mistakes of any size."""

import math
from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.rounding import fixed
from attncalc.base.text import entry_name
from attncalc.base.types import Matrix, Place, Range
from attncalc.equations.operations.assembling import Add, Concat, Mean, Patches, Same, Stack
from attncalc.equations.operations.normalising import Softmax
from attncalc.equations.operations.products import Project
from attncalc.grading.known import Known
from attncalc.grading.recipes.common import transposed
from attncalc.grading.rules import Cause
from attncalc.grading.slack import Slack
from attncalc.problem.step import Step
from attncalc.reading.answers.answer import WrittenMatrix

MOST_MEANT = 4
"""The largest number of intended values that are all tried."""
MOST_TERMS = 64
"""The largest number of terms of a sum that are left out in turn."""
MISCOPIED = "miscopied"
MOST_TRIED = 400
"""The largest number of entries of a given matrix that are all tried."""
MOST_TOKENS = 6
"""The largest number of tokens of which every order is tried."""
MOST_DECIMALS = 4
"""The most decimals of a typed number; a value with more was not copied."""

Found = tuple[Cause, int]
"""A cause, and the number of entries that show it."""


def slips(known: Known, step: Step, place: Place, written: WrittenMatrix) -> tuple[Cause, ...]:
    """Return the possible slips of one entry, each once.

    step, place: the step, and the place of the entry in the layout of the plan.
    written: the matrix in the answer, in the layout of the plan.
    """
    found: dict[str, str] = {}
    entry = _Entry(known.slack, float(written.values[place]), int(written.decimals[place]))
    for rule in known.rules(step):
        for code, says in _slips(known, step, place, entry, known.result(step, rule)):
            found.setdefault(code, says)
    return tuple(Cause(code, says, step.name, is_slip=True) for code, says in found.items())


def _slips(
    known: Known, step: Step, place: Place, entry: "_Entry", right: Range
) -> Iterator[tuple[str, str]]:
    low, high = float(right.low[place]), float(right.high[place])
    decimals = known.key.problem.decimals
    if not np.isfinite([entry.written, low, high]).all():
        return
    meant = [*_could_be_meant(low, high, decimals), *_in_scripts(known, step, place)]
    yield from _of_the_number(entry, low, high, meant, decimals)
    for name, there in _neighbours(right.low, place):
        if entry.is_near(float(right.low[there]), float(right.high[there])):
            yield "neighbour", f"the entry {name} is written here"
            break
    if any(entry.is_near(*ends) for ends in _without_a_term(known, step, place)):
        yield "term-dropped", "a term of its sum is left out"


class _Entry(NamedTuple):
    """A written number, and its accepted difference."""

    slack: Slack
    written: float
    decimals: int

    def is_near(self, low: float, high: float) -> bool:
        right = Range(np.array([low]), np.array([high]))
        written, decimals = np.array([self.written]), np.array([self.decimals])
        return bool(self.slack.near(written, decimals, right)[0])


def _of_the_number(
    entry: _Entry, low: float, high: float, meant: Sequence[float], decimals: int
) -> Iterator[tuple[str, str]]:
    """Yield the slips of the number itself, for a few intended values."""
    if entry.written != 0 and entry.is_near(-high, -low):
        yield "sign-lost", "its sign is lost" if entry.written > 0 else "it has a minus too many"
    if any(_digits_are_swapped(entry.written, number, decimals) for number in meant):
        yield "digits-swapped", "two of its digits are swapped"
    for factor, words in ((10, "large"), (0.1, "small")):
        if any(number and entry.is_near(number * factor, number * factor) for number in meant):
            yield "factor-ten", f"it is ten times too {words}"


def _could_be_meant(low: float, high: float, decimals: int) -> list[float]:
    """Return the numbers of so many decimals that a person may have intended."""
    unit = 10.0**-decimals
    if not math.isfinite(max(-low, high) / unit):
        return []
    first, last = math.floor(low / unit), math.ceil(high / unit)
    if last - first > MOST_MEANT:
        middle = (low + high) / 2 / unit
        first, last = math.floor(middle), math.ceil(middle)
    return [round(place * unit, decimals) for place in range(first, last + 1)]


def _in_scripts(known: Known, step: Step, place: Place) -> list[float]:
    """Return the values of flawless answers at a place, if own mistakes do not change it."""
    right = known.result(step, None)
    scripts = (script.get(step.name) for script in known.key.scripts.values())
    shown = {
        float(each[place]) for each in scripts if each is not None and each.shape == right.low.shape
    }
    unit = 10.0**-known.key.problem.decimals
    low, high = float(right.low[place]) - unit, float(right.high[place]) + unit
    return [each for each in shown if low <= each <= high]


def _digits_are_swapped(written: float, right: float, decimals: int) -> bool:
    here, there = (fixed(abs(each), decimals) for each in (written, right))
    width = max(len(here), len(there))
    here, there = here.zfill(width), there.zfill(width)
    differ = [i for i in range(width) if here[i] != there[i]]
    if len(differ) != 2 or written * right < 0:
        return False
    first, second = differ
    return here[first] == there[second] and here[second] == there[first]


def _neighbours(matrix: Matrix, place: Place) -> Iterator[tuple[str, Place]]:
    """Yield the place of each neighbor of an entry, with a description."""
    *head, i, j = place
    rows, columns = matrix.shape[-2:]
    names = ("to its left", "to its right", "above it", "below it")
    for name, (down, right) in zip(names, ((0, -1), (0, 1), (-1, 0), (1, 0)), strict=True):
        if 0 <= i + down < rows and 0 <= j + right < columns:
            yield name, (*head, i + down, j + right)


def _without_a_term(known: Known, step: Step, place: Place) -> Iterator[tuple[float, float]]:
    """Yield the value of an entry without each term of its sum."""
    if isinstance(step.operation, Add | Concat | Mean | Same):
        return
    first, *others = (known.read(name, None) for name in step.inputs)
    if first.low.ndim < 2 or first.low.shape[-1] > MOST_TERMS:
        return
    if place[-2] >= first.low.shape[-2]:  # its rows are not summed, like keys after earlier ones
        return
    nothing = -np.inf if isinstance(step.operation, Softmax) else 0.0
    # with another number of heads, such as for the sum of a gradient, all of them give the term
    has_own = first.low.ndim == len(place) and place[0] < len(first.low)
    row: tuple[Any, ...] = place[:-1] if has_own else (..., place[-2])
    for k in range(first.low.shape[-1]):
        if step.role == "weights" and k == place[-1]:
            continue
        is_left_out = np.zeros(first.low.shape, bool)
        is_left_out[(*row, k)] = True
        without = first.replaced(is_left_out, Range.at(np.array(nothing)))
        try:
            with np.errstate(all="ignore"):
                made = step.operation.over(without, *others)
        except InputError:  # the remaining scores sum to 0
            continue
        yield float(made.low[place]), float(made.high[place])


def mistakes_of_copying(
    known: Known, step: Step, written: WrittenMatrix, *, is_explained: bool = False
) -> dict[Cause, int]:
    """Return the possible copying mistakes, each with the number of entries that show it.

    Where a recipe explains the step, an order of all rows or columns is not another cause.
    """
    found = {**dict(_miscopied(known, step, written)), **dict(_misplaced(known, step, written))}
    return {c: n for c, n in found.items() if not (is_explained and "-permuted" in c.code)}


def _miscopied(known: Known, step: Step, written: WrittenMatrix) -> Iterator[Found]:
    """Yield the entries of given matrices that explain a projection if one of them was misread.

    The product is linear in each of them, so that the misread value is computed from the result.
    """
    given = known.key.problem.given
    # after a step of gradient descent, weights are steps themselves
    if not isinstance(step.operation, Project) or not given.keys() >= set(step.inputs):
        return
    right = known.key.exact[step.name]
    if right.shape != written.shape or not np.isfinite(written.values).all():
        return
    for name in step.inputs[:2]:
        places = np.ndindex(given[name].shape) if given[name].size <= MOST_TRIED else ()
        for place in places:
            yield from _of_one_entry(known, step, written, name, place)


def _of_one_entry(
    known: Known, step: Step, written: WrittenMatrix, name: str, place: Place
) -> Iterator[Found]:
    """Yield the misread value of an entry, if it gives every written entry."""
    given = known.key.problem.given
    own = float(given[name][place])

    def made_with(value: float) -> Matrix:
        matrix = given[name].copy()
        matrix[place] = value
        inputs = (matrix if each == name else given[each] for each in step.inputs)
        return step.operation.apply(*inputs)

    right = made_with(own)
    effect = made_with(own + 1) - right
    size = float((effect**2).sum())
    if not size:
        return
    change = float(((written.values - right) * effect).sum()) / size
    places = range(MOST_DECIMALS)
    fits = (d for d in places if (np.abs(given[name] - np.round(given[name], d)) < 1e-12).all())
    value = round(own + change, next(fits, MOST_DECIMALS)) + 0.0  # not -0
    made = made_with(value)
    near = known.slack.near(written.values, written.decimals, Range.at(made))
    if value != own and near.all():
        unit = 10.0**-known.key.problem.decimals
        seen_in = int((np.abs(made - right) > unit / 2).sum())
        if seen_in > 1:  # for one entry, a slip explains as much
            entry = _entry_name(known, name, place)
            says = f"{entry} is taken for {value:g} and not {own:g}"
            yield Cause(f"{MISCOPIED}-{entry}:{value:g}", says, step.name), seen_in


def _entry_name(known: Known, name: str, place: Place) -> str:
    return entry_name(name, known.key.problem.standing.place(place))


class _Compared(NamedTuple):
    """Written and right numbers: (rows, columns), or (heads, rows, columns)."""

    slack: Slack
    values: Matrix
    decimals: Matrix
    right: Range

    @property
    def turned(self) -> "_Compared":
        values, decimals = (each.swapaxes(-1, -2) for each in (self.values, self.decimals))
        return _Compared(self.slack, values, decimals, transposed(self.right))

    @property
    def near(self) -> Matrix:
        """Where a written number may be the right one."""
        return self.slack.near(self.values, self.decimals, self.right)

    def heads(self) -> list["_Compared"]:
        if self.values.ndim == 2:
            return [self]
        each = zip(self.values, self.decimals, *self.right, strict=True)
        return [_Compared(self.slack, a, b, Range(low, high)) for a, b, low, high in each]

    def sources(self) -> list[int]:
        """Return the right row in place of each; none if one is not found."""
        found: list[int] = []
        for number in range(len(self.values)):
            rows = sorted(range(len(self.values)), key=lambda row: row != number)
            source = next((row for row in rows if self.is_row(number, row)), None)
            if source is None:
                return []
            found.append(source)
        return found

    def is_row(self, number: int, row: int) -> bool:
        right = Range(self.right.low[row], self.right.high[row])
        return bool(self.slack.near(self.values[number], self.decimals[number], right).all())


def _misplaced(known: Known, step: Step, written: WrittenMatrix) -> Iterator[Found]:
    """Yield the rows, columns, or two neighbors in other places."""
    if isinstance(step.operation, Patches | Stack):
        return  # here, an image that is cut differently explains all
    for rule in known.rules(step):
        right = known.result(step, rule)
        if right.low.shape == written.shape:
            compared = _Compared(known.slack, written.values, written.decimals, right)
            standing = known.key.problem.standing
            rows = _of_rows(step, compared, "row", standing.line)
            columns = _of_rows(step, compared.turned, "column", standing.line_across)
            lines = [*rows, *columns] or [*_of_tokens(step, compared)]
            yield from lines
            if not lines or min(compared.values.shape[-2:]) > 1:  # otherwise lines are entries
                yield from _of_neighbours(known, step, compared)


def _of_rows(step: Step, compared: _Compared, code: str, word: str) -> Iterator[Found]:
    """Yield two rows that are exchanged, or one that replaces another.

    In one head, or in all heads alike.
    """
    heads = [head.sources() for head in compared.heads()]
    own = list(range(compared.values.shape[-2]))
    moved = [number for number, sources in enumerate(heads) if sources != own]
    if not all(heads) or not moved or any(heads[each] != heads[moved[0]] for each in moved):
        return
    if 1 < len(moved) < len(heads):
        return
    sources, of = heads[moved[0]], f" in head {moved[0] + 1}" if len(moved) < len(heads) else ""
    places = [row for row in own if sources[row] != row]
    seen_in = len(moved) * len(places) * compared.values.shape[-1]
    for kind, says in _said(sources, places, word):
        listed = sources if kind.endswith("permuted") else places
        numbers = ",".join(str(row + 1) for row in listed)
        yield Cause(f"{code}{kind}:{numbers}", f"{says}{of}", step.name), seen_in


def _of_tokens(step: Step, compared: _Compared) -> Iterator[Found]:
    """Yield the order of tokens in which rows and columns alike are those that are right."""
    rows, columns = compared.values.shape[-2:]
    if rows != columns or rows > MOST_TOKENS or compared.near.all():
        return
    own = tuple(range(rows))
    for order in permutations(own):
        places: Any = (..., *np.ix_(order, order))
        right = Range(compared.right.low[places], compared.right.high[places])
        if order != own and compared._replace(right=right).near.all():
            named = ", ".join(str(row + 1) for row in order)
            says = f"rows and columns are in the order {named}: the tokens are permuted"
            cause = Cause(f"tokens-permuted:{named.replace(' ', '')}", says, step.name)
            yield cause, int((compared.right.low != right.low).sum())
            return


def _said(sources: Sequence[int], places: Sequence[int], word: str) -> Iterator[tuple[str, str]]:
    is_permuted = sorted(sources) == list(range(len(sources)))
    if is_permuted and len(places) == 2:
        yield "s-swapped", f"{word}s {places[0] + 1} and {places[1] + 1} are exchanged"
    elif is_permuted:
        order = ", ".join(str(row + 1) for row in sources)
        yield "s-permuted", f"the {word}s are in the order {order}"
    elif len(places) == 1:
        (place,) = places
        yield "-repeated", f"{word} {sources[place] + 1} is in the place of {word} {place + 1}, too"


def _of_neighbours(known: Known, step: Step, compared: _Compared) -> Iterator[Found]:
    """Yield two adjacent entries, side by side or one above the other, that are exchanged."""
    places = np.argwhere(~compared.near)
    if len(places) != 2 or np.abs(places[0] - places[1]).tolist()[-2:] not in ([0, 1], [1, 0]):
        return
    first, second = (tuple(place.tolist()) for place in places)
    values, decimals = compared.values.copy(), compared.decimals.copy()
    for matrix in (values, decimals):
        matrix[first], matrix[second] = matrix[second], matrix[first]
    if first[:-2] == second[:-2] and compared._replace(values=values, decimals=decimals).near.all():
        names = [_entry_name(known, step.name, place) for place in (first, second)]
        says = f"{names[0]} and {names[1]} are exchanged"
        yield Cause(f"entries-swapped-{names[0]}", says, step.name), 2
