"""The changes of a study with their values: "K[a] *= 0:3", "scale=0:inf"."""

import re
from fractions import Fraction
from typing import Any

import numpy as np

from attncalc.base.errors import InputError, about
from attncalc.base.text import of_each
from attncalc.base.typed import NotANumber, quoted, read_number
from attncalc.base.types import Matrix
from attncalc.problem.field import LAYERS
from attncalc.problem.fields import SETTINGS, WHOLE, own_name, read_setting
from attncalc.problem.problem import Problem
from attncalc.reading.names import canonical
from attncalc.reading.studies.names import given_name, index_of, place_of, read_row, tokens_of
from attncalc.studies.changes import (
    INFINITE,
    PERMUTABLE,
    Change,
    How,
    Infinity,
    Span,
    Value,
    Values,
    tokens_in,
)

HOW_TO_CHANGE = (
    'write what changes and its values, as "scale=0.1:10:log", "K[a] *= 0:3", '
    '"K[a] += 0:1 * [1, 0]", "X[2,1] = -2:2", "scale=0.1,1,10" or "permute X = 3 1 2"'
)
HOW_TO_RANGE = "from:to, from:to:steps, from:to:log, or values as 0.1,1,10"

_CHANGE = re.compile(
    r"(?P<name>(?:[1-9]\d{0,3}\.)?(?:(?:self|cross)\.)?[^\W\d][\w ]*+)(?:\[(?P<place>[^\]]*+)\])?"
    r"\s*+(?P<sign>[*+]?=)\s*+(?P<values>.+)",
    re.DOTALL,
)
_DIRECTION = re.compile(r"(?P<values>[^*·×\[]*+)[*·×]\s*+(?P<row>\[.*\])", re.DOTALL)
_HOWS: dict[str, How] = {"=": "set", "+=": "add", "*=": "multiply"}


_PERMUTE = re.compile(r"permute\s+(?P<name>\w+)\s*=\s*(?P<orders>.*)", re.DOTALL)


def read_change(text: str, problem: Problem) -> Change:
    """Read a change, such as "K[a] *= 0:3"."""
    with about(quoted(text)):
        if permuted := _PERMUTE.fullmatch(text.strip()):
            return _of_order(text.strip(), permuted["name"], permuted["orders"], problem)
        found = _CHANGE.fullmatch(text.strip())
        if found is None and "~" in text:
            raise InputError(f"what is drawn is for attncalc simulate; here, {HOW_TO_CHANGE}")
        if found is None:
            raise InputError(HOW_TO_CHANGE)
        named = found["name"].strip()
        name = None if named in problem.more else canonical(named)
        if name and own_name(name) in SETTINGS:
            return _of_setting(text, name, found, problem)
        return _of_matrix(text, given_name(named, problem, SETTINGS), found, problem)


def _of_setting(text: str, name: str, found: re.Match[str], problem: Problem) -> Change:
    _check_setting(name, problem)
    if found["sign"] != "=" or found["place"] is not None:
        raise InputError(f"a setting takes its values by =, as {name}={found['values']}")
    values = read_values(found["values"], name)
    for value in values if isinstance(values, tuple) else (values.first, values.last):
        if isinstance(value, Infinity):
            _check_limit(problem, name)
        elif isinstance(value, str) or isinstance(values, tuple):
            read_setting(name, value)
    is_smooth = _takes_all_between(name, values)
    if isinstance(values, Span) and not is_smooth:
        assert isinstance(values.last, Fraction)
        low, high = int(values.first), int(values.last)
        read_setting(name, values.first)
        read_setting(name, values.last)
        step = max(1, (high - low) // (values.count - 1)) if values.count > 1 else 1
        values = tuple(map(Fraction, range(low, high + 1, step)))
    return Change(text.strip(), name, name, "set", values, is_setting=True, is_smooth=is_smooth)


def _of_order(text: str, name: str, orders: str, problem: Problem) -> Change:
    """Read orders of tokens, by number or by label; the given one comes first."""
    known = [each for each in PERMUTABLE if each in problem.names]
    if name not in known:
        raise InputError(
            f"{quoted(name)} has no tokens to permute: only {of_each(known)} can be permuted"
            if known
            else "this problem has no tokens to permute"
        )
    count, labels = tokens_in(problem, name), tokens_of(name, problem)
    given = " ".join(map(str, range(1, count + 1)))
    found = [given]
    for each in orders.split(","):
        cells = each.split()
        what = f"{name} has {count} tokens"
        order = [index_of(cell, "token", count, labels, what) + 1 for cell in cells]
        twice = next((number for number in order if order.count(number) > 1), None)
        if twice is not None:
            raise InputError(f"token {twice} is there twice: an order has each of {count} once")
        if len(order) != count:
            lacking = next(n for n in range(1, count + 1) if n not in order)
            raise InputError(f"{what}, and this order has {len(order)}: token {lacking} is missing")
        found.append(" ".join(map(str, order)))
    values = tuple(dict.fromkeys(found))
    about = f"the order of {name}"
    return Change(text, name, about, "permute", values, is_setting=True, is_smooth=False)


def _check_setting(name: str, problem: Problem) -> None:
    """Refuse a setting of layers for a single attention, and one of a missing part."""
    problem.check_part(name)
    own = own_name(name)
    if problem.is_alone and SETTINGS[own].kind == LAYERS:
        raise InputError(f"{own} is of an encoder or a decoder, and this is an attention alone")
    if name != own and own in WHOLE:
        raise InputError(f"{own} applies to the whole problem, not to a part: write {own}=…")
    if own in ("block", "asked"):
        raise InputError(f"{own} is not a setting that changes the calculation")


def _check_limit(problem: Problem, name: str) -> None:
    """Refuse a limit that is unknown, or does not exist."""
    if own_name(name) != "scale":
        raise InputError(f"only scale has a limit at inf: give {name} a largest value")
    prefix = name.removesuffix("scale")
    parts = [part for part in problem.calculation.parts if part.attention is not None]
    met: list[Any] = [each.attention for each in parts if each.prefix.startswith(prefix)]
    if len(met) > 1:
        one = f"{parts[0].prefix}scale"
        raise InputError(
            "several attentions have this scale, and at inf ties in a later one would depend on "
            f"how fast the others get there: name one, as {one}, or give a largest value"
        )
    if any(each.softcap is not None for each in met):
        raise InputError("with a softcap scores have no limit at inf: give scale a largest value")
    biases = [each.bias for each in met if each.bias is not None]
    if any(np.any(np.isfinite(bias) & (bias != 0)) for bias in biases):
        raise InputError(
            "a bias is added to the scaled scores, so ties at inf would depend on it: "
            "give scale a largest value"
        )


def _takes_all_between(name: str, values: Values) -> bool:
    """Return whether a setting allows any number between two of these values."""
    if isinstance(values, tuple) and any(isinstance(value, str) for value in values):
        return False
    try:
        read_setting(name, Fraction(3, 2))
    except InputError:
        return False
    return True


def _of_matrix(text: str, name: str, found: re.Match[str], problem: Problem) -> Change:
    place = place_of(name, found["place"], problem)
    along = _DIRECTION.fullmatch(found["values"])
    row = along["row"] if along else None
    values = read_values(along["values"].strip() if along else found["values"], name)
    if isinstance(values, tuple) and any(isinstance(value, str) for value in values):
        raise InputError(f"{name} takes numbers: {HOW_TO_RANGE}")
    if isinstance(values, Span) and isinstance(values.last, Infinity):
        raise InputError(f"only scale has a limit at inf: give {name} a largest value")
    part = problem.stored(name)[place]
    direction = None if row is None else _direction(row, np.shape(part), name)
    sign = found["sign"]
    what = name if found["place"] is None else f"{name}[{found['place'].strip()}]"
    about = what if sign == "=" else f"{what} {sign}"
    shown = f"{about} ·" if row is not None and sign == "=" else about
    how = _HOWS[sign]
    if how == "multiply" and row is not None:
        raise InputError("a matrix is multiplied by numbers alone: write += to move along a row")
    return Change(text.strip(), name, shown, how, values, place, direction)


def _direction(text: str, shape: tuple[int, ...], name: str) -> Matrix:
    numbers = read_row(text)
    if not shape or numbers.shape[-1] != shape[-1]:
        size = shape[-1] if shape else 1
        raise InputError(
            f"{text} has {len(numbers)} numbers, where {name} has {size} here: "
            f"give {'one for each' if size > 1 else 'a number alone'}"
        )
    return numbers


def read_values(text: str, name: str) -> Values:
    """Read a range or a list of values."""
    if ":" not in text:
        return tuple(_value(each, name) for each in text.split(",") if each.strip())
    first, *rest = (part.strip() for part in text.split(":"))
    is_log = "log" in rest
    rest = [part for part in rest if part != "log"]
    if not first or not 1 <= len(rest) <= 2 or not rest[0] or "," in text:
        raise InputError(f"{quoted(text)} is not a range: write {HOW_TO_RANGE}")
    low, high = _bound(first), _bound(rest[0])
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
        raise InputError(f"{quoted(text)}: a logarithmic range starts above 0, e.g. at 0.01")
    return Span(low, high, count, is_log)


def _bound(text: str) -> Fraction | Infinity:
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
            f"{quoted(text)} is not a number of steps: give a whole number from 2, or log"
        )
    return int(number)


def _value(text: str, name: str) -> Value:
    """Read a value; a setting may have words as values."""
    plain = text.strip()
    try:
        return _bound(plain)
    except InputError:
        if own_name(name) in SETTINGS:
            return plain
        raise
