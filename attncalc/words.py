"""What every output says in sentences: the conventions, the connections, and the notes.

Names and titles in them are made harmless: a sentence can be shown as it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from attncalc.connections import Connection
from attncalc.errors import InputError
from attncalc.plan import Step
from attncalc.problem import EACH_STEP, SQRT_DK, Problem
from attncalc.rounding import fixed
from attncalc.safe_text import on_a_line
from attncalc.solution import Solution

MOST_NAMED = 6
"""Names listed in a sentence before the rest is counted."""


@dataclass(frozen=True)
class Note:
    """Something a reader should know: of one step, or of the whole solution (`step` is "")."""

    text: str
    step: str = ""


def heading(problem: Problem) -> str:
    """Return what a page is headed with: the kind of attention, and the problem's title."""
    kind = "Self-attention" if problem.kind == "self" else "Cross-attention"
    return f"{kind}: {on_a_line(problem.title)}" if problem.title else kind


def conventions(problem: Problem) -> tuple[str, ...]:
    """State every convention of a problem, each in a few words.

    Examples
    --------
    >>> problem = Problem(X=[[1, 0]], W_Q=[[1], [0]], W_K=[[1], [1]], W_V=[[2], [4]])
    >>> for convention in conventions(problem):
    ...     print(convention)
    tokens are rows
    scores divided by √d_k = √1
    shown to 2 decimals, halves away from zero
    full precision carried from step to step (rounding: display)
    """
    decimals = "1 decimal" if problem.decimals == 1 else f"{problem.decimals} decimals"
    if problem.rounding == EACH_STEP:
        carried = "each step rounded before the next reads it (rounding: each-step)"
    else:
        carried = "full precision carried from step to step (rounding: display)"
    return (
        "tokens are rows",
        _scale_in_words(problem),
        f"shown to {decimals}, halves away from zero",
        carried,
    )


def influence(solution: Solution, connection: Connection) -> str:
    """Say which input influences an output most, and which second.

    Examples
    --------
    >>> from attncalc import self_attention
    >>> solution = self_attention([[1], [2]], [[1]], [[1]], [[1]])
    >>> influence(solution, solution.connections[1])
    'Output 2: most input 2 (0.88), second input 1 (0.12)'
    """
    output = f"Output {on_a_line(solution.problem.queries[connection.output])}"
    if not connection.most:
        return f"{output}: no input (every weight is 0)"
    inputs = partial(_inputs, solution, connection.output)
    if connection.second:
        return f"{output}: most {inputs(connection.most)}, second {inputs(connection.second)}"
    if len(connection.most) > 1:
        return f"{output}: most {inputs(connection.most)}, so no second"
    zero = fixed(0.0, solution.problem.decimals)
    rest = f"no second (the other weights show as {zero})" if solution.problem.m > 1 else "no other"
    return f"{output}: most {inputs(connection.most)}, {rest}"


def notes(solution: Solution) -> tuple[Note, ...]:
    """Return what a reader of this solution should know."""
    found = (_row_sums(solution), _rounding_matters(solution))
    return tuple(note for note in found if note)


def of_each(names: Sequence[str]) -> str:
    """List names, the first few of them, and count the rest.

    Examples
    --------
    >>> of_each(["1", "2", "3"])
    '1, 2 and 3'
    """
    if len(names) > MOST_NAMED + 1:
        names = [*names[:MOST_NAMED], f"{len(names) - MOST_NAMED} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def shape(solution: Solution, step: Step) -> str:
    """Return the shape of a step's matrix, as in "3 × 2"."""
    rows, columns = solution[step.name].shape
    return f"{rows} × {columns}"


def _scale_in_words(problem: Problem) -> str:
    if problem.scale == SQRT_DK:
        return f"scores divided by √d_k = √{problem.d_k}"
    if isinstance(problem.scale, Fraction) and problem.scale != 1:
        return f"scores multiplied by {problem.scale}"
    return "scores not scaled"


def _inputs(solution: Solution, output: int, inputs: tuple[int, ...]) -> str:
    names = of_each([on_a_line(solution.problem.keys[index]) for index in inputs])
    weight = fixed(solution.rounded("A")[output, inputs[0]], solution.problem.decimals)
    if len(inputs) == 1:
        return f"input {names} ({weight})"
    return f"inputs {names} ({weight} each)"


def _row_sums(solution: Solution) -> Note | None:
    """State what the shown weights of a row sum to, where rounding made that miss 1."""
    decimals = solution.problem.decimals
    sums = solution.rounded("A").sum(axis=1)
    shown = [fixed(total, decimals) for total in sums]
    one = fixed(1.0, decimals)
    missing = [
        f"row {on_a_line(name)} sums to {total}"
        for name, total in zip(solution.problem.queries, shown, strict=True)
        if total != one
    ]
    if not missing:
        return None
    return Note(f"weights are rounded as shown, so {of_each(missing)}, not {one}", "A")


def _rounding_matters(solution: Solution) -> Note | None:
    """Count the entries that the other rounding rule would show with other digits."""
    try:
        other = solution.other_rounding
    except InputError:  # the other rule overflows where this one does not
        return None
    names = [step.name for step in solution.steps]
    differ = sum(int((solution.rounded(name) != other.rounded(name)).sum()) for name in names)
    total = sum(solution[name].size for name in names)
    if not differ:
        return None
    rule = other.problem.rounding
    does = "rounding each step" if rule == EACH_STEP else "carrying full precision"
    return Note(
        f"{does} (--rounding {rule}) would show other digits in {differ} of {total} entries"
    )
