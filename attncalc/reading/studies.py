"""The little languages of studies: what changes, what is watched.

scale=0.1:10:log      K[a] *= 0:3      K[a] += 0:1 * [1, 0]      X[2,1] = -2:2
A[1,:]    entropy(A)    max(A)    distance(O, V[b])    error(O, mean V[a,b])    norm(O)
"""

import re
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from attncalc.errors import InputError
from attncalc.numbers.typed import NotANumber, quoted, read_number
from attncalc.numbers.types import Matrix
from attncalc.problem.fields import BIASES, GIVEN, MARKS, SETTINGS, read_setting
from attncalc.problem.problem import Problem
from attncalc.reading.names import canonical, unknown
from attncalc.solving.entries import chosen_entries
from attncalc.solving.plan import plan
from attncalc.solving.solution import Solution, solve
from attncalc.studies.changes import (
    INFINITE,
    Change,
    How,
    Infinity,
    Listed,
    Span,
    Value,
    Values,
)
from attncalc.studies.watched import (
    Measure,
    Watched,
    distance_of,
    effective_inputs,
    entropy,
    entry_of,
    largest,
    mean_of_rows,
    norm,
    row_of,
)
from attncalc.text import of_each, on_a_line

HOW_TO_CHANGE = (
    'write what changes and its values, as "scale=0.1:10:log", "K[a] *= 0:3", '
    '"K[a] += 0:1 * [1, 0]", "X[2,1] = -2:2" or "scale=0.1,1,10"'
)
HOW_TO_WATCH = (
    "write an entry, a row or a step, as A[1,2], A[1,:], O, or a measure: entropy(A), max(A), "
    "distance(O, V[b]), error(O, mean V[a,b]), norm(O)"
)
HOW_TO_RANGE = "from:to, from:to:steps, from:to:log, or values as 0.1,1,10"
MOST_SHOWN_UNASKED = 12
"""Weights that are all watched where nobody says what is."""

_CHANGE = re.compile(
    r"\s*(?P<name>[^\W\d][\w ]*?)\s*(?:\[(?P<place>.*?)\])?"
    r"\s*(?P<sign>[*+]?=)\s*(?P<values>.+?)\s*",
    re.DOTALL,
)
_DIRECTION = re.compile(r"(?P<values>.*?)\s*[*·×]\s*(?P<row>\[.*\])", re.DOTALL)
_HOWS: dict[str, How] = {"=": "set", "+=": "add", "*=": "multiply"}


def looks_like_change(text: str) -> bool:
    """Say whether a text on the command line says what changes, and is no file."""
    return "=" in text


def read_change(text: str, problem: Problem) -> Change:
    """Read what changes, as "K[a] *= 0:3".

    Raises
    ------
    InputError
        When it cannot be read, or the problem has no such entry; the message says what would do.
    """
    try:
        return _read_change(text, problem)
    except InputError as error:
        raise InputError(f"{quoted(text)}: {error}") from None


def _read_change(text: str, problem: Problem) -> Change:
    found = _CHANGE.fullmatch(text)
    if found is None:
        raise InputError(HOW_TO_CHANGE)
    name = canonical(found["name"])
    if name in SETTINGS:
        return _of_setting(text, name, found, problem)
    if name not in GIVEN or name in MARKS:
        names = [*problem.names, *SETTINGS]
        raise InputError(unknown(found["name"], [each for each in names if each not in MARKS]))
    return _of_matrix(text, name, found, problem)


def _of_setting(text: str, name: str, found: re.Match[str], problem: Problem) -> Change:
    if found["sign"] != "=" or found["place"] is not None:
        raise InputError(f"a setting takes its values by =, as {name}={found['values']}")
    values = _read_values(found["values"], name)
    for value in values if isinstance(values, Listed) else (values.first, values.last):
        if isinstance(value, Infinity):
            _check_limit(problem, name)
        elif isinstance(value, str) or isinstance(values, Listed):
            read_setting(name, value)
    is_smooth = _takes_all_between(name, values)
    if isinstance(values, Span) and not is_smooth:
        values = _whole(name, values)
    return Change(text.strip(), name, name, "set", values, is_setting=True, is_smooth=is_smooth)


def _check_limit(problem: Problem, name: str) -> None:
    """Refuse a limit that is not known, or is none."""
    if name != "scale":
        raise InputError(f"only scale has a limit at inf: give {name} a largest value")
    if problem.softcap is not None:
        raise InputError("with a softcap scores have no limit at inf: give scale a largest value")
    if problem.bias is not None and np.any(np.isfinite(problem.bias) & (problem.bias != 0)):
        raise InputError(
            "a bias is added to the scaled scores, so ties at inf would hang on it: "
            "give scale a largest value"
        )


def _takes_all_between(name: str, values: Values) -> bool:
    """Say whether a setting takes any number between two of these values."""
    if isinstance(values, Listed) and any(isinstance(value, str) for value in values):
        return False
    try:
        read_setting(name, Fraction(1, 2))
    except InputError:
        return False
    return True


def _whole(name: str, span: Span) -> Values:
    """Return the whole numbers of a range, for a setting that takes no others."""
    assert isinstance(span.last, Fraction)
    low, high = int(span.first), int(span.last)
    read_setting(name, span.first)
    read_setting(name, span.last)
    step = max(1, (high - low) // (span.count - 1)) if span.count > 1 else 1
    return Listed(tuple(map(Fraction, range(low, high + 1, step))))


def _of_matrix(text: str, name: str, found: re.Match[str], problem: Problem) -> Change:
    if name not in problem.names:
        steps = [step.name for step in plan(problem)]
        given = f"there are {of_each([each for each in problem.names if each not in MARKS])}"
        how = f"{name} is worked out here" if name in steps else f"this problem has no {name}"
        raise InputError(f"{how}, and only what is given can change: {given}")
    place = _place(name, found["place"], problem)
    typed, row = _parted(found["values"])
    values = _read_values(typed, name)
    if isinstance(values, Listed) and any(isinstance(value, str) for value in values):
        raise InputError(f"{name} takes numbers: {HOW_TO_RANGE}")
    if isinstance(values, Span) and isinstance(values.last, Infinity):
        raise InputError(f"only scale has a limit at inf: give {name} a largest value")
    part = getattr(problem, name)[place]
    direction = None if row is None else _direction(row, np.shape(part), name)
    sign = found["sign"]
    what = name if found["place"] is None else f"{name}[{found['place'].strip()}]"
    about = what if sign == "=" else f"{what} {sign}"
    shown = f"{about} ·" if row is not None and sign == "=" else about
    how = _HOWS[sign]
    if how == "multiply" and row is not None:
        raise InputError("a matrix is multiplied by numbers alone: write += to move along a row")
    return Change(text.strip(), name, shown, how, values, place, direction)


def _parted(text: str) -> tuple[str, str | None]:
    """Return the values, and the row that they are multiplied by."""
    found = _DIRECTION.fullmatch(text)
    return (found["values"], found["row"]) if found else (text, None)


def _direction(text: str, shape: tuple[int, ...], name: str) -> Matrix:
    numbers = read_row(text)
    if not shape or numbers.shape[-1] != shape[-1]:
        size = shape[-1] if shape else 1
        raise InputError(
            f"{text} has {len(numbers)} numbers, where {name} has {size} here: "
            f"give {'one for each' if size > 1 else 'a number alone'}"
        )
    return numbers


def read_row(text: str) -> Matrix:
    """Read a row of numbers in brackets, exactly: "[1, -1/2]".

    Raises
    ------
    InputError
        When something in it is no number.
    """
    cells = re.split(r"\s*,\s*|\s+", text.strip().strip("[]").strip())
    return np.array([_number(cell) for cell in cells], dtype=object)


def _number(text: str) -> Fraction:
    try:
        return Fraction(read_number(text))
    except NotANumber as reason:
        raise InputError(str(reason)) from None


# values


def _read_values(text: str, name: str) -> Values:
    """Read a range or a list of values.

    Raises
    ------
    InputError
        For a range that is empty or goes backward, and for a log through 0.
    """
    if ":" not in text:
        return Listed(tuple(_value(each, name) for each in text.split(",") if each.strip()))
    first, *rest = (part.strip() for part in text.split(":"))
    is_log = "log" in rest
    rest = [part for part in rest if part != "log"]
    if not first or not 1 <= len(rest) <= 2 or not rest[0] or "," in text:
        raise InputError(f"{quoted(text)} is no range: write {HOW_TO_RANGE}")
    low, high = _bound(first, text), _bound(rest[0], text)
    count = _count(rest[1]) if len(rest) == 2 else 0
    if isinstance(low, Infinity):
        raise InputError("a range begins at a number: inf can only end it")
    return _span(low, high, count, is_log, text)


def _span(low: Fraction, high: Fraction | Infinity, count: int, is_log: bool, text: str) -> Span:
    if isinstance(high, Infinity):
        if low < 0:
            raise InputError("a range to inf begins at 0 or above")
        if count or is_log:
            raise InputError("a range to inf has its own steps, 1, 2, 5, 10, …: write from:inf")
        return Span(low, high)
    if low == high:
        raise InputError(f"{quoted(text)} is empty: it begins where it ends")
    if low > high:
        turned = ":".join([*reversed(text.split(":")[:2]), *text.split(":")[2:]])
        raise InputError(f"{quoted(text)} goes backward: write {turned}")
    if is_log and low <= 0:
        raise InputError(
            f"{quoted(text)}: a log has no 0, and nothing below it: begin above 0, as 0.01"
        )
    return Span(low, high, count, is_log)


def _bound(text: str, whole: str) -> Fraction | Infinity:
    if text.lower() in ("inf", "infinity", "∞"):
        return INFINITE
    try:
        return Fraction(read_number(text))
    except NotANumber as reason:
        raise InputError(f"{reason}: write {HOW_TO_RANGE}") from None


def _count(text: str) -> int:
    try:
        number = Fraction(read_number(text))
    except NotANumber:
        number = Fraction(0)
    if number.denominator != 1 or number < 2:
        raise InputError(
            f"{quoted(text)} is no number of steps: give a whole number from 2, or log"
        )
    return int(number)


def _value(text: str, name: str) -> Value:
    """Read a value; a setting may take words."""
    plain = text.strip()
    if plain.lower() in ("inf", "infinity", "∞"):
        return INFINITE
    try:
        return Fraction(read_number(plain))
    except NotANumber as reason:
        if name in SETTINGS:
            return plain
        raise InputError(f"{reason}: write {HOW_TO_RANGE}") from None


# places in given matrices


class _Axis(NamedTuple):
    kind: str
    size: int
    labels: tuple[str, ...] = ()


def _place(name: str, text: str | None, problem: Problem) -> tuple[int | slice, ...]:
    """Return where a matrix that is given changes: [a] is a token, [2,1] an entry.

    Raises
    ------
    InputError
        When it has no such entry.
    """
    if text is None:
        return ()
    matrix: Matrix = getattr(problem, name)
    axes = _axes(name, matrix, problem)
    indices = split_list(text)
    what = f"{name} is {' × '.join(map(str, matrix.shape))}"
    if len(indices) == 1 and len(axes) > 1:
        token = _token_axis(name, problem)
        place: list[int | slice] = [slice(None)] * len(axes)
        place[token] = _index(indices[0], axes[token], what)
        return tuple(place)
    if len(indices) != len(axes):
        form = f"{name}[{'head,' if len(axes) == 3 else ''}row,column]"
        raise InputError(f"{what}: write {form}, with : for all of a kind")
    return tuple(_index(index, axis, what) for index, axis in zip(indices, axes, strict=True))


def _token_axis(name: str, problem: Problem) -> int:
    """Return which axis an index alone counts: tokens, or the numbers of a bias."""
    if name in BIASES:
        return -1 if problem.layout == "rows" else -2
    is_turned = problem.layout == "columns" and GIVEN[name].role != "weights"
    return -1 if is_turned else -2


def _axes(name: str, matrix: Matrix, problem: Problem) -> list[_Axis]:
    names = tokens_of(name, problem)
    rows, columns = problem.standing.pair(names, ())
    found = [_Axis("row", matrix.shape[-2], rows), _Axis("column", matrix.shape[-1], columns)]
    return [_Axis("head", matrix.shape[0]), *found] if matrix.ndim == 3 else found


def tokens_of(name: str, problem: Problem) -> tuple[str, ...]:
    """Return the names of the tokens that a given matrix has, if it has any."""
    if name in (problem.query_source, problem.query_source.replace("X", "P"), "Q"):
        return problem.queries
    if name in ("K", "V", "X", "X2", "P2"):
        return problem.keys
    return ()


def split_list(text: str) -> list[str]:
    """Return what stands between commas; a name in quotes may hold one."""
    found = re.findall(r"""\s*("[^"]*"|'[^']*'|[^,]*?)\s*(?:,|$)""", text)
    return found[:-1] if len(found) > 1 and not found[-1] else found


def _index(text: str, axis: _Axis, what: str) -> int | slice:
    if text == ":":
        return slice(None)
    return index_of(text, axis.kind, axis.size, axis.labels, what)


def index_of(text: str, kind: str, size: int, labels: Sequence[str], what: str) -> int:
    """Return which of a kind is meant, from 0: by its label, or by its number from 1.

    Raises
    ------
    InputError
        When there is none; it says what there is.
    """
    plain = text.strip("\"'")
    if plain in labels:
        return list(labels).index(plain)
    if re.fullmatch(r"[0-9]{1,12}", text):
        if 1 <= int(text) <= size:
            return int(text) - 1
        raise InputError(f"{what}, so there is no {kind} {int(text)}: give 1 to {size}")
    known = f"there are {of_each([on_a_line(each) for each in labels])}" if labels else ""
    raise InputError(
        f"{what}, and no {kind} is called {quoted(plain)}: {known or f'give 1 to {size}'}"
    )


# what is watched


def read_watched(texts: Sequence[str], problem: Problem) -> tuple[Watched, ...]:
    """Read what is watched, each once; where nothing is said, the weights.

    Raises
    ------
    InputError
        When there is no such entry or measure; the message says what there is.
    """
    solution = solve(problem)
    asked = [part for text in texts for part in _split_outside(text)]
    if not asked:
        asked = [_usual(solution)]
    found = [each for text in asked for each in _watched(text, solution)]
    return tuple({each.name: each for each in found}.values())


def _usual(solution: Solution) -> str:
    assert solution.weights is not None
    name = solution.weights.name
    if solution[name].size <= MOST_SHOWN_UNASKED:
        return name
    head = "1," if solution[name].ndim == 3 else ""
    first = ",".join(solution.problem.standing.pair("1", ":"))
    return f"{name}[{head}{first}]"


def _split_outside(text: str) -> list[str]:
    """Return what stands between commas that stand in no brackets."""
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        depth += (letter in "[(") - (letter in "])")
        if letter == "," and depth == 0:
            parts.append(text[start:place])
            start = place + 1
    return [part.strip() for part in (*parts, text[start:]) if part.strip()]


_MEASURE = re.compile(r"\s*(\w+)\s*\((.*)\)\s*", re.DOTALL)
_ROWS = re.compile(
    r"\s*(?P<mean>mean(?:\s+of)?\s+)?(?P<name>\w+)\s*(?:\[(?P<rows>.*)\])?\s*", re.DOTALL
)
_OF_ROW: dict[str, tuple[tuple[str, Callable[[Matrix], Matrix]], ...]] = {
    "entropy": (("entropy", entropy), ("e^entropy", effective_inputs)),
    "max": (("max", largest),),
    "norm": (("norm", norm),),
}


def _watched(text: str, solution: Solution) -> Iterator[Watched]:
    measure = _MEASURE.fullmatch(text)
    if measure is None:
        yield from _entries(text, solution)
    elif measure[1].lower() in _OF_ROW:
        yield from _of_rows(measure[1].lower(), measure[2], text, solution)
    elif measure[1].lower() in ("distance", "error"):
        yield from _distances(measure[1].lower(), measure[2], text, solution)
    else:
        raise InputError(f"{quoted(text)} is no measure: {HOW_TO_WATCH}")


def _entries(text: str, solution: Solution) -> Iterator[Watched]:
    by_name = {step.name.lower(): step for step in solution.plan}
    by_name = {step.title: step for step in solution.plan} | by_name
    for name, places in chosen_entries(solution, [text], by_name).items():
        is_weight = name == getattr(solution.weights, "name", None)
        for shown in places:
            place = solution.problem.standing.place(shown)
            numbers = ",".join(str(index + 1) for index in shown)
            yield Watched(f"{name}[{numbers}]", entry_of(name, place), name, place, is_weight)


class _Rows(NamedTuple):
    """Rows of a matrix: its name, its heads, which rows, and whether their mean is meant."""

    name: str
    heads: int
    rows: tuple[int, ...]
    is_mean: bool
    width: int

    def named(self, standing: Any, head: int, row: int) -> str:
        which = ",".join(standing.pair(str(row + 1), ":"))
        return f"{self.name}[{f'{head + 1},' if self.heads > 1 else ''}{which}]"


def _rows(text: str, whole: str, solution: Solution) -> _Rows:
    found = _ROWS.fullmatch(text)
    problem = solution.problem
    steps = {step.name.lower(): step.name for step in solution.plan}
    known = steps | {name.lower(): name for name in problem.names if name not in MARKS}
    name = known.get(found["name"].lower()) if found else None
    if found is None or name is None:
        raise InputError(f"{quoted(whole)}: {unknown(text.strip(), list(known.values()))}")
    matrix = solution.floats[name] if name in steps.values() else problem.given[name]
    heads = matrix.shape[0] if matrix.ndim == 3 else 1
    count = matrix.shape[-2]
    labels = _labels(name, count, solution)
    if found["rows"] is None:
        rows: tuple[int, ...] = tuple(range(count))
    else:
        what = f"{quoted(whole)}: {name} has {count} row{'s' * (count > 1)}"
        indices = [each for each in split_list(found["rows"]) if each != ":"]
        rows = tuple(index_of(each, "row", count, labels, what) for each in indices)
    return _Rows(name, heads, rows or tuple(range(count)), bool(found["mean"]), matrix.shape[-1])


def _labels(name: str, count: int, solution: Solution) -> tuple[str, ...]:
    problem = solution.problem
    axis = next((step.rows for step in solution.plan if step.name == name), None)
    if axis is None:
        labels = tokens_of(name, problem)
    else:
        labels = problem.queries if axis == "queries" else problem.keys
    return labels if len(labels) == count else ()


def _of_rows(kind: str, inner: str, text: str, solution: Solution) -> Iterator[Watched]:
    rows = _rows(inner, text, solution)
    weights = getattr(solution.weights, "name", "A")
    if kind == "entropy" and rows.name != weights:
        raise InputError(f"{quoted(text)}: entropy is of weights: write entropy({weights})")
    for head in range(rows.heads):
        for row in rows.rows:
            named = rows.named(solution.problem.standing, head, row)
            for called, of in _OF_ROW[kind]:
                yield Watched(f"{called}({named})", row_of(rows.name, head, row, of))


def _distances(kind: str, inner: str, text: str, solution: Solution) -> Iterator[Watched]:
    sides = _split_outside(inner)
    if len(sides) != 2:
        raise InputError(f"{quoted(text)} takes two: {kind}(O, V[b]) or {kind}(O, mean V[a,b])")
    rows, target = (_rows(side, text, solution) for side in sides)
    if target.heads > 1 or rows.heads > 1:
        which = (target if target.heads > 1 else rows).name
        raise InputError(f"{quoted(text)}: {which} has several heads, and one row is needed")
    if len(target.rows) > 1 and not target.is_mean:
        raise InputError(
            f"{quoted(text)}: name one row of {target.name}, or their mean, as mean {sides[1]}"
        )
    if rows.width != target.width:
        raise InputError(
            f"{quoted(text)}: {rows.name} is {rows.width} wide, and {target.name} {target.width}"
        )
    standing = solution.problem.standing
    of: Callable[[Any], Matrix] = mean_of_rows(target.name, target.rows)
    for row, _ in product(rows.rows, (0,)):
        measure: Measure = distance_of(rows.name, 0, row, of)
        yield Watched(f"{kind}({rows.named(standing, 0, row)}, {sides[1]})", measure)
