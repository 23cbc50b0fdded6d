"""The flags of `attncalc check` for marking answers and showing results."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from attncalc.api.marking import SHARES, read_rubric
from attncalc.api.marking import rules_from as rules_of
from attncalc.api.marking import with_known_steps as under_own_names
from attncalc.base.errors import AttncalcError, InputError
from attncalc.grading.key import Key, key_of
from attncalc.grading.rules import Rules
from attncalc.reading import read_problem
from attncalc.reading.sets import ClassSet
from attncalc.writing.reports.many import Shown


def rules_from(flags: Mapping[str, Any]) -> Rules:
    """Return how answers are marked: by the rubric, and by the flags before it."""
    rubric = flags.get("rubric")
    said = {name: flags.get(flag) for name, flag in RULES.items()}
    for name in ("atol", "rtol"):
        if (given := said[name]) is not None and not math.isfinite(given):
            raise InputError(f"--{name} takes a number from 0, not {given}")
    said["weights"] = dict(map(_weight, said["weights"] or ())) or None
    return rules_of(said, Rules() if rubric is None else read_rubric(rubric), _flag)


RULES = {
    **{"asked": "steps", "weights": "weight", "require": "require", "points": "points"},
    **{name: name for name in (*SHARES, "atol", "rtol")},
}
"""The flag of each rule."""


def _flag(name: str) -> str:
    return f"--{RULES.get(name, name).replace('_', '-')}"


def _weight(text: str) -> tuple[str, str]:
    name, sign, number = text.partition("=")
    if not sign:
        raise InputError(f"--weight takes a step and a number, as A=2, not {text}")
    return name.strip(), number


def with_known_steps(rules: Rules, flags: Mapping[str, Any], *keys: Key) -> Rules:
    """Return the rules with the steps under their own names; refuse unknown steps."""

    def place(name: str) -> str:
        rubric, is_typed = flags.get("rubric"), flags.get(RULES.get(name, name))
        return f"{rubric}: {name}" if rubric and not is_typed else _flag(name)

    return under_own_names(rules, *keys, spelled=place)


def rules_of_one(rules: Rules, key: Key) -> Rules:
    """Return the rules for one problem of several, with only its own steps."""
    known = {*key.steps, "connections"}
    asked = rules.asked and tuple(name for name in rules.asked if name in known)
    return replace(
        rules, asked=asked, require=tuple(name for name in rules.require if name in known)
    )


def keys_of_one_student(given: ClassSet, rules: Rules) -> list[Key]:
    """Return the key of one student's version of each problem of a set: all have its steps."""
    return [key_of(read_problem(handed.file), rules) for handed in given.handed[0]]


def reason(place: str, error: Exception) -> str:
    """Return why a file is not marked: its own error, or an internal one."""
    if isinstance(error, AttncalcError):
        return str(error)
    what = f"{type(error).__name__}: {error}".partition("\n")[0]
    return f"{place}: not marked because of an internal error, please report it: {what}"


def shown_from(flags: Mapping[str, Any], form: str | None = None) -> Shown:
    """Return how much of a marking is shown in a form, and how points are written."""
    if flags["brief"] and flags["full"]:
        raise InputError("--brief and --full together: one leaves out what the other shows")
    if flags["marks_decimals"] is not None and flags["fractions"]:
        raise InputError("--fractions and --marks-decimals together: give one of them")
    is_brief = flags["brief"] or (form == "table" and not flags["full"])
    shown = Shown("brief" if is_brief else "full" if flags["full"] else "elided")
    return shown._replace(fractions=flags["fractions"], decimals=flags["marks_decimals"])
