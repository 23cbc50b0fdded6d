"""Conditions as typed: in flags, in a file of several problems, in the recipe of a problem."""

import shlex
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import pairwise
from math import gcd, lcm
from typing import Any

from attncalc.base import __version__
from attncalc.base.errors import InputError
from attncalc.base.typed import as_written, fraction_of, quoted
from attncalc.making.wishes import DEFAULT_ENTRIES, Entries, Wishes
from attncalc.problem.fields import SETTINGS, read_setting

MOST_ENTRIES = 10_001
"""The largest number of values for entries."""
NOT_ASKED = ("block", "asked", "read")
"""Settings that are not conditions: the kind determines the first."""


def wishes_of(asked: Mapping[str, Any], **known: Any) -> Wishes:
    """Return the requested conditions and conventions, by name.

    **known: conditions that always apply.

    >>> wishes_of({"tokens": "2", "entries": "0,1", "causal": True}).entries.values
    (Fraction(0, 1), Fraction(1, 1))
    """
    found: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    for typed, value in asked.items():
        name = typed.replace("-", "_")
        if value is None:
            continue
        if name in READ:
            found[name] = READ[name](typed, value)
        elif name in SETTINGS and name not in NOT_ASKED:
            read_setting(name, value)  # refuses invalid values
            settings[name] = value
        else:
            raise InputError(
                f"{quoted(typed)} is not an option of a new problem: there are {', '.join(READ)}, "
                f"and the conventions of a problem ({', '.join(SETTINGS)})"
            )
    return Wishes(**{"settings": settings, **found, **known})


def recipe(asked: Mapping[str, Any], seed: int | None = None) -> str:
    """Return the command that makes a problem, for its field `made_by`.

    With its seed it makes the same problem again; without one, others like it.

    >>> recipe({"tokens": 3, "causal": True, "sharp": None}, 7).partition(": ")[2]
    'attncalc new --tokens 3 --causal --seed 7'
    """
    words = ["attncalc", "new"]
    for name, value in asked.items():
        flag = f"--{name.replace('_', '-')}"
        if value is True or value is False:
            words.append(flag if value else flag.replace("--", "--no-", 1))
        elif value is not None:
            words += [flag, _as_text(value)]
    if seed is not None:
        words += ["--seed", str(seed)]
    return f"attncalc {__version__}: {shlex.join(words)}"


def asked_of_recipe(made_by: str) -> dict[str, Any]:
    """Return the conditions in the field `made_by` of a problem.

    It is never run: only its conditions are read. Its seed is not one of them.

    Raises InputError if it is not what `attncalc new` writes.
    """
    _, _, command = made_by.partition(": ")
    try:
        words = shlex.split(command)
    except ValueError:
        words = []
    if words[:2] != ["attncalc", "new"]:
        raise InputError(f"made_by is not a command of attncalc new: {quoted(made_by)}")
    asked: dict[str, Any] = {}
    rest = iter(words[2:])
    for flag in rest:
        name = flag.removeprefix("--").replace("-", "_")
        positive = name.removeprefix("no_")
        if _is_switch(name):
            asked[name] = True
        elif positive != name and _is_switch(positive):
            asked[positive] = False
        else:
            asked[name] = next(rest, "")
    return {name: value for name, value in asked.items() if name not in ("seed", "again")}


def _is_switch(name: str) -> bool:
    return SETTINGS[name].is_switch if name in SETTINGS else READ.get(name) is _yes_or_no


def _as_text(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def read_entries(name: str, given: Any) -> Entries:
    """Read the values of entries: a range, a range with its step, or a list.

    >>> [str(value) for value in read_entries("entries", "-1:1:1/2").values]
    ['-1', '-1/2', '0', '1/2', '1']
    """
    text = _as_text(given)
    parts = text.split(":")
    if len(parts) == 1:
        return Entries(tuple(_number(name, each) for each in text.split(",")), text)
    if len(parts) > 3:
        raise InputError(_how_entries(name, text))
    low, high, *step = (_number(name, each) for each in parts)
    by = step[0] if step else Fraction(1)
    if by <= 0 or low > high:
        raise InputError(_how_entries(name, text))
    count = int((high - low) / by) + 1
    if count > MOST_ENTRIES:
        raise InputError(f"{name} {text}: {count:,} numbers are too many to draw from")
    return Entries(tuple(low + by * place for place in range(count)), text)


def _how_entries(name: str, text: str) -> str:
    return (
        f"{name} takes from:to, from:to:step or a list, as -2:2, -2:2:1/2 or 0,1, "
        f"not {quoted(text)}"
    )


def _number(name: str, given: Any) -> Fraction:
    if isinstance(given, bool):
        raise InputError(f"{name} takes a number, not {given}")
    return fraction_of(given, name)


def _whole(name: str, given: Any) -> int:
    value = _number(name, given)
    if value.denominator != 1:
        raise InputError(f"{name} takes a whole number, not {quoted(str(given))}")
    return int(value)


def _whole_or_any(name: str, given: Any) -> int | None:
    return None if given == "any" else _whole(name, given)


def _pair(name: str, given: Any) -> tuple[Fraction, Fraction]:
    parts = _as_text(given).replace(",", ":").split(":")
    if len(parts) != 2:
        raise InputError(f"{name} takes from:to, as 0.3:0.8, not {quoted(_as_text(given))}")
    return _number(name, parts[0]), _number(name, parts[1])


def _margin(name: str, given: Any) -> Fraction | None:
    return None if given == "none" else _number(name, given)


def _yes_or_no(name: str, given: Any) -> bool:
    if not isinstance(given, bool):
        raise InputError(f"{name} is either true or false, not {quoted(str(given))}")
    return given


def _texts(name: str, given: Any) -> tuple[str, ...]:
    listed = given if isinstance(given, list | tuple) else str(given).split(",")
    texts = tuple(str(each).strip() for each in listed)
    if not all(texts):
        raise InputError(f"{name} takes names between commas, but one of them is empty")
    return texts


def _text(name: str, given: Any) -> str:
    if not isinstance(given, str):
        raise InputError(f"{name} takes a text, not {quoted(str(given))}")
    return given


READ: dict[str, Callable[[str, Any], Any]] = {
    "kind": _text,
    **dict.fromkeys(("tokens", "keys", "d", "d_keys", "d_k", "d_v", "d_ff"), _whole),
    "also": _texts,
    "entries": read_entries,
    "labels": _texts,
    "title": _text,
    "margin": _margin,
    "same_digits": _yes_or_no,
    "ties": _whole_or_any,
    "second_lines": _whole_or_any,
    "sharp": _yes_or_no,
    "spread": _pair,
    "mean_spread": _pair,
    "largest_score": _number,
    "tell_apart": _yes_or_no,
    "negatives": _whole,
}
"""Every condition that is not a convention, and the function that reads it."""


def typed_entries(values: set[Fraction]) -> Entries:
    """Return the values of entries that those of a problem suggest: all, or a range of them.

    >>> typed_entries({Fraction(-1), Fraction(0), Fraction(1, 2)}).text
    '-1:0.5:0.5'
    """
    if not values:
        return DEFAULT_ENTRIES
    ordered = sorted(values)
    gaps = [after - before for before, after in pairwise(ordered)]
    if not gaps:
        return Entries((ordered[0],), as_written(ordered[0]))
    unit = lcm(*(gap.denominator for gap in gaps))
    step = Fraction(gcd(*(int(gap * unit) for gap in gaps)), unit)
    if (ordered[-1] - ordered[0]) / step > MOST_ENTRIES - 1:
        return Entries(tuple(ordered), ",".join(map(as_written, ordered)))
    text = ":".join(as_written(each) for each in (ordered[0], ordered[-1], step))
    return read_entries("entries", text)
