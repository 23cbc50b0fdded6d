"""What the flags of `attncalc check` say of how answers are marked, and of what is shown."""

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from attncalc.api.marking import number_of
from attncalc.api.marking import with_known_steps as under_own_names
from attncalc.errors import InputError
from attncalc.grading.key import Key, key_of
from attncalc.grading.rules import Rules
from attncalc.reading import read_problem
from attncalc.reading.sets import ClassSet
from attncalc.writing.document import Extent


def rules_from(flags: Mapping[str, Any]) -> Rules:
    """Return how answers are marked."""
    for name in ("atol", "rtol"):
        if flags[name] is not None and not math.isfinite(flags[name]):
            raise InputError(f"--{name} takes a number from 0, not {flags[name]}")
    steps = flags["steps"]
    follow, rounding, precision = (
        number_of(f"--{name}-penalty", flags[f"{name}_penalty"], most=1)
        for name in ("follow", "rounding", "precision")
    )
    return Rules(
        follow,
        rounding,
        precision,
        weights=dict(_weight(text) for text in flags["weight"] or ()),
        asked=None if steps is None else tuple(name.strip() for name in steps.split(",")),
        atol=flags["atol"],
        rtol=flags["rtol"],
    )


def _weight(text: str) -> tuple[str, Fraction]:
    name, sign, number = text.partition("=")
    if not sign:
        raise InputError(f"--weight takes a step and a number, as A=2, not {text}")
    return name.strip(), number_of("--weight", number, most=None)


def with_known_steps(rules: Rules, *keys: Key) -> Rules:
    """Return the rules with the steps under their own names; refuse what is no step."""
    return under_own_names(rules, *keys, asked="--steps", weights="--weight")


def rules_of_one(rules: Rules, key: Key) -> Rules:
    """Return the rules for one problem of several: of what is asked for, each has its own steps."""
    if rules.asked is None:
        return rules
    known = {*key.steps, "connections"}
    return replace(rules, asked=tuple(name for name in rules.asked if name in known))


def keys_of_one_student(given: ClassSet, rules: Rules) -> list[Key]:
    """Return the key of one student's version of each problem of a set: all have its steps."""
    return [key_of(read_problem(handed.file), rules) for handed in given.handed[0]]


def unforeseen(place: str, error: Exception) -> str:
    """Return what stands in the row of an answer in which a mistake of our own came to light."""
    what = f"{type(error).__name__}: {error}".partition("\n")[0]
    return f"{place}: not marked for a mistake of attncalc's own, please report it: {what}"


def extent_from(flags: Mapping[str, Any]) -> Extent:
    """Return how much of a marking is shown."""
    if flags["brief"] and flags["full"]:
        raise InputError("--brief and --full together: one leaves out what the other shows")
    return "brief" if flags["brief"] else "full" if flags["full"] else "elided"


def marks_decimals(flags: Mapping[str, Any]) -> int | None:
    """Return how many decimals marks have; None for as many as are needed, within bounds."""
    decimals: int | None = flags["marks_decimals"]
    if decimals is not None and flags["fractions"]:
        raise InputError("--fractions and --marks-decimals together: give one of them")
    return decimals
