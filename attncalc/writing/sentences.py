"""The sentences of every output, escaped: conventions, connections and notes."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import starmap
from math import prod
from typing import Any

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.rounding import fixed, round_floats
from attncalc.base.text import of_each, on_a_line
from attncalc.base.typed import as_written, exact
from attncalc.base.types import Matrix
from attncalc.equations.operations.losses import CrossEntropy
from attncalc.equations.own import Own
from attncalc.problem.attention.declared import DISPLAY, EACH_STEP
from attncalc.problem.problem import LONGEST_NAME, Problem
from attncalc.problem.step import Step
from attncalc.solving.solution import Head, Solution
from attncalc.solving.work import DUST_OF_DECIMALS, DUST_OF_FLOATS
from attncalc.studies.patterns.view import counted

IN_FLOATS = "too large for exact decimals: the digits shown come from float64 arithmetic"
IN_WORK = "every result is proven; numbers within its work come from float64 arithmetic"
MOST_HEADS_TOLD = 20
"""Number of heads that have a note each; of more, only the count is noted."""
MOST_PERPLEXITY = 10**9
"""A perplexity that is shown is below this."""
BLANK = "_____"
"""The room for an answer on a worksheet."""


@dataclass(frozen=True)
class Note:
    """A note for the reader: about one step, or about the entire solution (`step` is "").

    Advice is for the user, and is not part of a page to hand in.
    """

    text: str
    step: str = ""
    is_advice: bool = False


def legend(problem: Problem) -> tuple[tuple[str, str], ...]:
    """Return the meanings of the ranks of the largest and of the second weight."""
    return ("most", f"largest of its {problem.standing.line}"), ("second", "second")


def notes(solution: Solution) -> tuple[Note, ...]:
    """Return the notes on this solution."""
    cut = f"labels of more than {LONGEST_NAME} characters are truncated here, not in the problem"
    return (
        *(Note(each, w.name) for w in solution.all_weights for each in _of_weights(solution, w)),
        *_perplexities(solution),
        *_risen(solution),
        *_on_digits(solution),
        *([Note(cut)] if solution.problem.has_cut_names else []),
        *(_rounding_matters(solution) if solution.all_weights else ()),
    )


def _each(texts: Iterable[list[str]], more: str) -> Iterator[str]:
    """Yield the sentences on each head, and of very many heads how many more there are."""
    heads = [text for text in texts if text]
    yield from (text for said in heads[:MOST_HEADS_TOLD] for text in said)
    if len(heads) > MOST_HEADS_TOLD:
        yield f"in {len(heads) - MOST_HEADS_TOLD} more heads, too, {more}"


def _of_weights(solution: Solution, weights: Step) -> Iterator[str]:
    if solution.problem.start == "A":
        yield from _sums_of_given(solution, weights)
        return
    if not isinstance(weights.operation, Own) or weights.operation.gives_shares:
        yield from _row_sums(solution, weights)
    yield from _nothing_left(solution, weights)


def _row_sums(solution: Solution, step: Step) -> Iterator[str]:
    """Yield the sums of shown weights of rows, if rounding made them differ from 1."""
    problem, line = solution.problem, solution.problem.standing.line
    if problem.attention_of(step.name).sinks is not None:
        yield f"the weights of a {line} sum to less than 1: the rest goes to the sink"
        return
    one, queries = fixed(1.0, problem.decimals), problem.attention_of(step.name).queries

    def said(head: Head) -> list[str]:
        rows = zip(queries, head.rounded, head.weights, strict=True)
        missing = [
            f"{line} {on_a_line(name)} sums to {total}"
            for name, row, weights in rows
            if (total := fixed(row.sum(), problem.decimals)) != one and weights.any()
        ]
        of = f" in head {head.number}" if head.number else ""
        if not missing:
            return []
        return [f"weights are rounded as shown, so{of} {of_each(missing)}, not {one}"]

    yield from _each(
        map(said, solution.heads_of(step)), f"weights as shown sum to other than {one}"
    )


def _sums_of_given(solution: Solution, step: Step) -> Iterator[str]:
    """Yield the rows of given weights that do not sum to 1, or contain negative weights."""
    problem, line = solution.problem, solution.problem.standing.line
    names = [f"{line} {on_a_line(name)}" for name in problem.attention_of(step.name).queries]
    weights = problem.given_as_typed[step.name]

    def exactly(number: Any) -> Fraction:
        return Fraction(number if isinstance(number, Decimal | Fraction) else exact(number))

    def said(number: int, head: Any) -> list[str]:
        of = f" in head {number}" if weights.ndim == 3 else ""
        named = [*zip(names, ([*map(exactly, row)] for row in head), strict=True)]
        totals = ((name, sum(row), as_written(Fraction(sum(row)))) for name, row in named)
        sums = [  # exactly if that is short, otherwise to a few digits
            f"{name} sums to {text if len(text) <= 12 else f'{float(total):.6g}'}"
            for name, total, text in totals
            if total != 1
        ]
        below = [name for name, row in named if min(row) < 0]
        found = [f"weights as given need not sum to 1:{of} {of_each(sums)}"] if sums else []
        if below:
            found.append(f"weights as given may be below 0, as in{of} {of_each(below)}")
        return found

    heads = enumerate(weights if weights.ndim == 3 else [weights], start=1)
    yield from _each(starmap(said, heads), "weights as given are no shares of 1")


def _nothing_left(solution: Solution, weights: Step) -> Iterator[str]:
    """Name the queries that a mask leaves without any key."""
    scores = weights.inputs[0]
    step = next((each for each in solution.steps if each.name == scores), None)
    is_given = scores in solution.problem.given and solution.problem.may_forbid
    if not is_given and (step is None or step.role != "masked"):
        return
    queries = solution.problem.attention_of(weights.name).queries
    masked = (solution.problem.given if is_given else solution.floats)[scores]

    def said(number: int, head: Matrix) -> list[str]:
        empty = (index for index, row in enumerate(head) if np.isneginf(row).all())
        names = [on_a_line(queries[index]) for index in empty]
        of = f" in head {number}" if masked.ndim == 3 else ""
        if not names:
            return []
        return [f"output {of_each(names)}{of}: no key is left to attend to, all weights are 0"]

    heads = enumerate(masked if masked.ndim == 3 else [masked], start=1)
    yield from _each(starmap(said, heads), "no key is left to some outputs")


def _perplexities(solution: Solution) -> Iterator[Note]:
    """Return the perplexity beside each cross-entropy: e to its mean over the targets."""
    for step in solution.steps:
        if isinstance(step.operation, CrossEntropy) and solution.keeps(step.name):
            count, places = len(step.operation.ids), solution.problem.decimals
            mean = float(solution.carried[step.name].item()) / count
            (rounded,) = round_floats(np.exp([mean]), places)
            if rounded < MOST_PERPLEXITY:  # pages compute it in floats, too
                text = f"perplexity exp({step.name} / {count}) is {fixed(rounded, places)}"
                yield Note(text, step.name)


def _risen(solution: Solution) -> Iterator[Note]:
    """Return where a step against the gradients has made L larger: it went too far."""
    if solution.problem.step is None or not solution.keeps("L_fell"):
        return
    dust = DUST_OF_DECIMALS if solution.is_exact else float(DUST_OF_FLOATS)
    if solution.carried["L_fell"].item() < -dust:
        rose = fixed(-solution.digits["L_fell"][0, 0], solution.problem.decimals)
        yield Note(f"L rose by {rose}: the step is too long (a shorter step decreases L)", "L_fell")


def _on_digits(solution: Solution) -> Iterator[Note]:
    """Return the note on unproven digits: all of them, or those of undecidable values."""
    if not solution.is_proven:
        yield Note(IN_FLOATS.replace("float64", solution.problem.dtype.name))
    for name, places in solution.undecided.items():
        at = ",".join(map(str, counted(solution.problem.standing.place(places[0]))))
        entry = f"{name}[{at}]" + (f" and {len(places) - 1} more" if len(places) > 1 else "")
        yield Note(f"too near to a half to decide, rounded away from zero: {entry}", name)


def _rounding_matters(solution: Solution) -> Iterator[Note]:
    """Count the entries that the other rounding rule would show with other digits."""
    try:
        differ = solution.count_differing()
    except InputError:  # the other rule overflows where this one does not
        return
    total = sum(prod(solution.shape_of(step.name)) for step in solution.steps)
    if differ:
        rule = DISPLAY if solution.problem.rounding == EACH_STEP else EACH_STEP
        does = "with each step rounded" if rule == EACH_STEP else "with full precision"
        yield Note(
            f"{does} (--rounding {rule}), {differ} of {total} entries differ", is_advice=True
        )
