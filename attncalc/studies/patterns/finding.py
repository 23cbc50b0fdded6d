"""All patterns of a solution, most telling first, and which of them repeat no other."""

from collections.abc import Iterator
from functools import partial

from attncalc.errors import InputError
from attncalc.problem.problem import Problem
from attncalc.solving.choosing import attention_and_head
from attncalc.solving.solution import Solution
from attncalc.studies.patterns.attention import OF_ALL
from attncalc.studies.patterns.pattern import CODES, Pattern
from attncalc.studies.patterns.rows import OF_A_HEAD
from attncalc.studies.patterns.view import SolvedAttention, View

NO_ATTENTION = "this problem has no attention: there are no weights to explain"


def needed_for_patterns(problem: Problem) -> dict[str, None]:
    """Return the names of the steps that patterns are worked out of."""
    plan = problem.calculation.steps
    weights = ("masked", "weights")
    if not problem.is_alone:
        # what an attention in layers reads, and all of it that has no column for each key
        return {s.name: None for s in plan if s.columns != "keys" or s.role in weights}
    place = next(i for i, step in enumerate(plan) if step.role == "weights")
    after = plan[place + 1 :]
    read = {name for step in after for name in (step.name, *step.inputs)}
    return {step.name: None for step in plan if step.role in weights or step.name in read}


def patterns_of(solution: Solution) -> tuple[Pattern, ...]:
    """Return every pattern that holds, most telling first, and head after head.

    Those of several attentions follow one another.

    Raises
    ------
    InputError
        When there is no attention, or its weights, or what they are weighed with, were not kept.
    """
    if not solution.problem.attentions:
        raise InputError(NO_ATTENTION)
    _check_kept(solution)
    by_code = partial(sorted, key=lambda pattern: CODES.index(pattern.code))
    attentions = (SolvedAttention(solution, weights) for weights in solution.all_weights)
    return tuple(pattern for each in attentions for pattern in by_code(_found(each)))


def _check_kept(solution: Solution) -> None:
    missing = [name for name in needed_for_patterns(solution.problem) if not solution.keeps(name)]
    if missing:
        raise InputError(
            f"the patterns are worked out of {', '.join(needed_for_patterns(solution.problem))}, "
            f"and {', '.join(missing)} {'was' if len(missing) == 1 else 'were'} not kept"
        )


def _found(attention: SolvedAttention) -> Iterator[Pattern]:
    for head in attention.heads:
        view = View(attention, head)
        for of_a_head in OF_A_HEAD:
            yield from of_a_head(view)
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
    """Return the patterns, the most important ones of all attentions, `count`, first."""
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
