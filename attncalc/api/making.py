"""The function that makes a problem."""

from pathlib import Path
from typing import Any

from attncalc.base.errors import InputError
from attncalc.making.asking import recipe, wishes_of
from attncalc.making.maker import Made, fresh_seed, make, with_words
from attncalc.making.siblings import wishes_like, wishes_taken_over
from attncalc.problem.problem import Problem
from attncalc.reading import read_problem


def new(
    seed: int | None = None,
    *,
    again: Problem | str | Path | None = None,
    words: bool = False,
    **wishes: Any,
) -> Problem:
    """Make a new problem: random matrices whose solution satisfies conditions.

    The same seed and version give the same problem on every machine; `problem.made_by` contains the
    command that makes it again, with its seed.

    Parameters
    ----------
    seed
        The seed of the problem: the same seed makes the same problem. None draws a new one.
    again
        A problem, or its file; the new problem is similar and equally hard.
    words
        Whether tokens have names, from a short list.
    **wishes
        Conditions, by the names of the flags of `attncalc new`, and conventions, by those of
        `Problem`.

    Other Parameters
    ----------------
    kind
        `"self"` (default), `"cross"`, `"encoder"` or `"decoder"`.
    tokens, keys
        The number of query tokens (3), and of key tokens (as many).
    d, d_keys, d_k, d_v, d_ff
        Features: of a token (4), of one attended to (d), of a head's queries and keys (2), of its
        values (d_k), within a feed-forward part (d). X is (tokens, d), W_Q is (d, heads · d_k).
    also
        Additional matrices, such as `["W_O", "b_Q"]`.
    entries
        The values of entries: `"-2:2"` (default), `"-2:2:1/2"` or `[0, 1]`.
    labels, title
        Names of the tokens, and the heading.
    margin
        The smallest distance of a value from the midpoint between two roundings, in units of its
        last digit: 0.01 by default; `"none"` for any.
    same_digits
        Whether both rounding rules give the same digits.
    ties, second_lines
        The number of outputs with a tie for the largest weight (0), and of those with a second line
        (`"any"`).
    sharp
        Whether all weights may be 0 or 1.
    spread
        Bounds of e^H / n of each row, such as `(0.3, 0.8)`, with the row's entropy H in nats
        (Shannon, *A Mathematical Theory of Communication*, 1948, section 6).
    largest_score
        The largest absolute score; by default 15.
    tell_apart
        Whether each common mistake changes a digit; by default true.
    negatives
        The number of negative entries.

    Returns
    -------
    Problem
        The problem, with `made_by`.

    Raises
    ------
    InputError
        If a condition or its value does not exist, or no problem satisfies all conditions: the
        message names the condition.

    Examples
    --------
    >>> problem = new(7, tokens=3)
    >>> problem.as_typed("X").astype(int).tolist()
    [[-1, -1, 0, 2], [1, 0, 0, 0], [0, -1, -2, -1]]
    >>> problem.made_by.partition(": ")[2]
    'attncalc new --tokens 3 --seed 7'
    """
    chosen = fresh_seed() if seed is None else seed
    if isinstance(chosen, bool) or not isinstance(chosen, int) or chosen < 0:
        raise InputError(f"seed takes a whole number from 0, not {seed}")
    asked = {name: value for name, value in wishes.items() if value is not None}
    return made_anew(asked, chosen, again, words=words).problem


def made_anew(
    asked: dict[str, Any], seed: int, again: Problem | str | Path | None, *, words: bool
) -> Made:
    """Return a new problem, with what was tried; the arguments are those of `new`."""
    if again is None:
        wished = wishes_of(asked)
    else:
        problem = again if isinstance(again, Problem) else read_problem(again)
        place = "" if isinstance(again, Problem) else str(again)
        wished = wishes_like(problem, asked, place)
        name = Path(place).name or "problem"
        asked = wishes_taken_over(problem) | asked | {"again": name}
    if words:
        wished = with_words(wished, seed)
        asked["labels"] = ",".join(wished.labels or ())
    return make(wished, seed, recipe(asked, seed))
