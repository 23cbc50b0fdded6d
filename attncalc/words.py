"""What every output says in sentences: the conventions, the connections, and the notes.

Names and titles in them are made harmless: a sentence can be shown as it is.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from attncalc.connections import Connection
from attncalc.errors import InputError
from attncalc.fields import DISPLAY, EACH_STEP, MASKS, SQRT_DK, TOKENS, as_written
from attncalc.plan import Step, sinusoidal_place
from attncalc.problem import Problem
from attncalc.rounding import Matrix, fixed
from attncalc.safe_text import on_a_line
from attncalc.solution import Head, Solution

BLANK = "_____"
"""Where a worksheet wants an answer."""
MOST_NAMED = 6
"""Names listed in a sentence before the rest is counted."""
LISTED = MOST_NAMED + 1
"""Names that are all listed: one more takes no more room than its count."""


@dataclass(frozen=True)
class Note:
    """Something a reader should know: of one step, or of the whole solution (`step` is "")."""

    text: str
    step: str = ""


def heading(problem: Problem) -> str:
    """Return what a page is headed with: the kind of attention, and the problem's title."""
    kind = {"self": "Self-attention", "cross": "Cross-attention"}[problem.kind]
    if not problem.has_tokens:
        kind = "Attention"
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
    return (
        *_layout_in_words(problem),
        *_positions_in_words(problem),
        *_heads_in_words(problem),
        _scale_in_words(problem),
        *_masks_in_words(problem),
        *_rounding_in_words(problem),
    )


def influence(problem: Problem, head: Head, connection: Connection) -> str:
    """Say which input influences an output most, and which second.

    Examples
    --------
    >>> from attncalc import self_attention
    >>> solution = self_attention([[1], [2]], [[1]], [[1]], [[1]])
    >>> influence(solution.problem, solution.heads[0], solution.connections[1])
    'Output 2: most input 2 (0.88), second input 1 (0.12)'
    """
    output = f"Output {on_a_line(problem.queries[connection.output])}"
    if not connection.most:
        return f"{output}: no input (every weight is 0)"
    inputs = partial(_inputs, problem, head.rounded[connection.output])
    if connection.second:
        return f"{output}: most {inputs(connection.most)}, second {inputs(connection.second)}"
    if len(connection.most) > 1:
        return f"{output}: most {inputs(connection.most)}, so no second"
    zero = fixed(0.0, problem.decimals)
    rest = f"no second (the other weights show as {zero})" if problem.m > 1 else "no other"
    return f"{output}: most {inputs(connection.most)}, {rest}"


def influence_to_fill_in(problem: Problem, output: int) -> str:
    """Return a line of a worksheet that asks which inputs influence an output."""
    name = on_a_line(problem.queries[output])
    return f"Output {name}: solid line to {BLANK}, dashed line to {BLANK}"


def legend(problem: Problem, most: str, second: str) -> str:
    """Say what the marks of the largest and of the second weight stand for."""
    return f"{most} largest of its {_line_of(problem)}   {second} second"


def notes(solution: Solution) -> tuple[Note, ...]:
    """Return what a reader of this solution should know."""
    if "A" not in solution.values:
        return tuple(_in_floats(solution))
    found = [
        *(note for head in solution.heads for note in _row_sums(solution.problem, head)),
        *_nothing_left(solution),
        *_in_floats(solution),
        *_rounding_matters(solution),
    ]
    return tuple(found)


def of_each(names: Sequence[str], count: int | None = None) -> str:
    """List names, the first few of them, and count the rest.

    Parameters
    ----------
    names
        The names; of many, the first `LISTED` are enough.
    count
        How many there are; None for as many as are given.

    Examples
    --------
    >>> of_each(["1", "2", "3"])
    '1, 2 and 3'
    """
    count = len(names) if count is None else count
    if count > LISTED:
        names = [*names[:MOST_NAMED], f"{count - MOST_NAMED} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def shape(solution: Solution, step: Step) -> str:
    """Return the shape of a step's matrix, as in "3 × 2", or "2 heads of 3 × 2"."""
    *heads, rows, columns = solution[step.name].shape
    return f"{heads[0]} heads of {rows} × {columns}" if heads else f"{rows} × {columns}"


def _layout_in_words(problem: Problem) -> Iterator[str]:
    yield f"tokens are {problem.layout}"
    if problem.weights_layout == "torch":
        yield "weights are stored (out, in), as PyTorch keeps them"


def _positions_in_words(problem: Problem) -> Iterator[str]:
    if problem.positions == "sinusoidal":
        yield f"sinusoidal positions added to the tokens, {_sinusoidal_places(problem)}"
    if problem.positions == "rope":
        pairs = "half the width apart" if problem.rope_pairing == "halves" else "side by side"
        yield (
            f"queries and keys rotated by rope: base {as_written(Fraction(problem.rope_base))}, "
            f"{_rope_places(problem)}, paired columns {pairs} ({problem.rope_pairing})"
        )


def _sinusoidal_places(problem: Problem) -> str:
    places = {name: sinusoidal_place(problem, name) for name in TOKENS if name in problem.names}
    if len(set(places.values())) == 1:
        return f"the first at place {next(iter(places.values()))}"
    return ", ".join(f"the first of {name} at place {place}" for name, place in places.items())


def _rope_places(problem: Problem) -> str:
    query, key = map(as_written, problem.rope_places)
    if query == key:
        return f"the first token at place {key}"
    return f"the first query at place {query}, the first key at place {key}"


def _heads_in_words(problem: Problem) -> Iterator[str]:
    heads, groups = problem.n_heads, problem.n_kv_heads
    if heads == 1:
        return
    joined = "side by side" if problem.combine == "concat" else "averaged"
    yield f"{heads} heads, their outputs {joined} (combine: {problem.combine})"
    if groups < heads:
        each = (
            "the one key and value head" if groups == 1 else f"each of {groups} key and value heads"
        )
        yield f"{each} serves {heads // groups} query heads in turn"


def _scale_in_words(problem: Problem) -> str:
    if problem.scale == SQRT_DK:
        of = " of a head" if problem.n_heads > 1 else ""
        return f"scores divided by √d_k{of} = √{problem.d_k}"
    if isinstance(problem.scale, Fraction) and problem.scale != 1:
        return f"scores multiplied by {as_written(problem.scale)}"
    return "scores not scaled"


def _masks_in_words(problem: Problem) -> Iterator[str]:
    if problem.softcap is not None:
        yield f"scores capped at {as_written(Fraction(problem.softcap))} by tanh"
    if problem.causal:
        edge = "a query sees keys up to its own place"
        if problem.causal_alignment == "bottom-right":
            edge = "the last query sees all keys, each before it one less"
        yield f"causal, {problem.causal_alignment}: {edge}"
    meanings = {"keep": "1 may attend", "ignore": "1 may not attend", "bias": "added to the scores"}
    for name in MASKS:
        if getattr(problem, name) is not None:
            yield f"mask {name}: {meanings[name]}"
    if problem.normalizer != "softmax":
        means = {
            "hardmax": "all weight to the largest score, ties share it",
            "sum": "each score divided by the sum of its row",
        }
        yield f"normalizer {problem.normalizer}: {means[problem.normalizer]}"


def _rounding_in_words(problem: Problem) -> Iterator[str]:
    decimals = "1 decimal" if problem.decimals == 1 else f"{problem.decimals} decimals"
    yield f"shown to {decimals}, halves away from zero"
    if problem.rounding == EACH_STEP:
        yield "each step rounded before the next reads it (rounding: each-step)"
    else:
        yield "full precision carried from step to step (rounding: display)"


def _inputs(problem: Problem, rounded: Matrix, inputs: tuple[int, ...]) -> str:
    names = of_each([on_a_line(problem.keys[index]) for index in inputs])
    weight = fixed(rounded[inputs[0]], problem.decimals)
    if len(inputs) == 1:
        return f"input {names} ({weight})"
    return f"inputs {names} ({weight} each)"


def _line_of(problem: Problem) -> str:
    """Return what the weights of one output stand in."""
    return "row" if problem.layout == "rows" else "column"


def _row_sums(problem: Problem, head: Head) -> Iterator[Note]:
    """State what the shown weights of a row sum to, where rounding made that miss 1."""
    shown = [fixed(row.sum(), problem.decimals) for row in head.rounded]
    one = fixed(1.0, problem.decimals)
    line = _line_of(problem)
    missing = [
        f"{line} {on_a_line(name)} sums to {total}"
        for name, total, weights in zip(problem.queries, shown, head.weights, strict=True)
        if total != one and weights.any()
    ]
    if missing:
        of = f" in head {head.number}" if head.number else ""
        yield Note(f"weights are rounded as shown, so{of} {of_each(missing)}, not {one}", "A")


def _nothing_left(solution: Solution) -> Iterator[Note]:
    """Name the queries that a mask leaves without any key."""
    problem = solution.problem
    if "S_masked" not in solution.values:
        return
    masked = solution.values["S_masked"]
    for number, head in enumerate(masked if masked.ndim == 3 else [masked], start=1):
        empty = (index for index, row in enumerate(head) if np.isneginf(row).all())
        names = [on_a_line(problem.queries[index]) for index in empty]
        if names:
            of = f" in head {number}" if masked.ndim == 3 else ""
            yield Note(
                f"output {of_each(names)}{of}: no key is left to attend to, all weights are 0", "A"
            )


def _in_floats(solution: Solution) -> Iterator[Note]:
    if not solution.is_exact:
        yield Note("too large for exact decimals: the digits shown are those of float64 arithmetic")


def _rounding_matters(solution: Solution) -> Iterator[Note]:
    """Count the entries that the other rounding rule would show with other digits."""
    try:
        differ = solution.count_differing()
    except InputError:  # the other rule overflows where this one does not
        return
    total = sum(solution[step.name].size for step in solution.steps)
    if differ:
        rule = DISPLAY if solution.problem.rounding == EACH_STEP else EACH_STEP
        does = "rounding each step" if rule == EACH_STEP else "carrying full precision"
        yield Note(
            f"{does} (--rounding {rule}) would show other digits in {differ} of {total} entries"
        )
