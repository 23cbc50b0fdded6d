"""All patterns of a solution, most telling first, and which of them say something of their own."""

from collections.abc import Callable, Iterator

from attncalc.errors import InputError
from attncalc.patterns.attended import Attended, attended
from attncalc.patterns.band import band
from attncalc.patterns.comparing import masked, rounded_away, scaling
from attncalc.patterns.heads import compared, heads_alike, heads_differ
from attncalc.patterns.pattern import CODES, Pattern
from attncalc.patterns.places import identity, one_hot, permutation, shift
from attncalc.patterns.plan import needed_for_patterns
from attncalc.patterns.shares import (
    all_own,
    blocks,
    equal_rows,
    none_own,
    sink,
    ties,
    unattended,
    uniform,
)
from attncalc.patterns.spreading import margin, spread
from attncalc.patterns.view import View
from attncalc.solving.choosing import attention_and_head
from attncalc.solving.solution import Solution

OF_A_HEAD: tuple[Callable[[View], Iterator[Pattern]], ...] = (
    identity,
    permutation,
    shift,
    band,
    blocks,
    uniform,
    one_hot,
    sink,
    equal_rows,
    ties,
    unattended,
    none_own,
    all_own,
    spread,
    margin,
)
OF_ALL: tuple[Callable[[Attended], Iterator[Pattern]], ...] = (masked, scaling, rounded_away)


def patterns_of(solution: Solution) -> tuple[Pattern, ...]:
    """Return every pattern that holds, most telling first, and head after head.

    Of several attentions they stand one after another.

    Raises
    ------
    InputError
        When there is no attention, or its weights, or what they are weighed with, were not kept.
    """
    _check_kept(solution)
    return tuple(pattern for each in attended(solution) for pattern in _of_attention(each))


def _of_attention(attention: Attended) -> list[Pattern]:
    return sorted(_found(attention), key=lambda pattern: CODES.index(pattern.code))


def _check_kept(solution: Solution) -> None:
    missing = [name for name in needed_for_patterns(solution.problem) if not solution.keeps(name)]
    if missing:
        raise InputError(
            f"the patterns are worked out of {', '.join(needed_for_patterns(solution.problem))}, "
            f"and {', '.join(missing)} {'was' if len(missing) == 1 else 'were'} not kept"
        )


def _found(attention: Attended) -> Iterator[Pattern]:
    views = [View(attention, head) for head in attention.heads]
    for view in views:
        for of_a_head in OF_A_HEAD:
            yield from of_a_head(view)
    if len(views) > 1:
        pairs = compared(attention)
        yield from heads_alike(attention, pairs)
        yield from heads_differ(attention, pairs)
    for of_all in OF_ALL:
        yield from of_all(attention)


def of_head(
    solution: Solution, patterns: tuple[Pattern, ...], wanted: str | int
) -> tuple[Pattern, ...]:
    """Return the patterns of one attention of several, or of one head.

    Parameters
    ----------
    solution, patterns
        The solution, and its patterns.
    wanted
        The head, from 1, or the weights of an attention, as "cross.A", or "cross.A,2".

    Raises
    ------
    InputError
        When there is no such head.
    """
    step, asked = attention_and_head(solution, wanted, mean=False)
    number = int(asked or 0) if len(solution.heads_of(step)) > 1 else 0
    own = (each for each in patterns if each.weights == step.name)
    return tuple(each for each in own if not number or each.head == number)


def worth_telling(patterns: tuple[Pattern, ...]) -> tuple[Pattern, ...]:
    """Return the patterns without those that only repeat what an earlier one of the head says."""
    return tuple(each for each in patterns if not any(_says(other, each) for other in patterns))


def leading(patterns: tuple[Pattern, ...], count: int) -> tuple[Pattern, ...]:
    """Return the patterns with so many that tell most, of whatever attention, before the others."""
    first = sorted(patterns, key=lambda pattern: CODES.index(pattern.code))[:count]
    return (*first, *(each for each in patterns if not any(each is other for other in first)))


REPEATED = {
    "identity": ("one-hot", "all-own"),
    "permutation": ("one-hot",),
}
"""What follows from a pattern without another look at the weights."""


def _says(one: Pattern, other: Pattern) -> bool:
    if (one.head, one.weights) != (other.head, other.weights):
        return False
    if one.code == "one-hot" and other.code == "spread":
        return other.values.get("output") in one.values["outputs"]
    if one.code == "uniform" and other.code == "ties":
        return {each["output"] for each in other.values["ties"]} <= set(one.values["outputs"])
    if one.code in ("uniform", "ties") and other.code == "margin":
        return not other.values["highest"]["margin"].value
    return other.code in REPEATED.get(one.code, ())
