"""The equations that a problem may state: how they are given, and what they are called."""

from dataclasses import dataclass
from typing import Any

from attncalc.problem.field import KINDS, setting

MOST_LINES = 200


class Lines(tuple[str, ...]):
    """Equations, one text each."""

    __slots__ = ()


def read_lines(given: Any) -> Lines:
    r"""Read a list of equations, or a text with one on each line.

    Examples
    --------
    >>> read_lines("a[i] = X[i,0]  # first\nb[i] = X[i,1]")
    ('a[i] = X[i,0]  # first', 'b[i] = X[i,1]')
    """
    listed = given.splitlines() if isinstance(given, str) else given
    if not isinstance(listed, list | tuple) or not all(isinstance(each, str) for each in listed):
        raise ValueError
    found = Lines(each.strip() for each in listed if each.strip())
    if len(found) > MOST_LINES:
        raise ValueError
    return found


def added_lines(before: Any, further: Any) -> Lines:
    """Return equations and further ones, which replace those of the same name.

    Examples
    --------
    >>> added_lines(["a[i] = X[i,0]", "b = 1"], ["b = 2"])
    ('a[i] = X[i,0]', 'b = 2')
    """
    lines = (*read_lines(before), *read_lines(further))
    last = {line.partition("=")[0].partition("[")[0].strip(): line for line in lines}
    return Lines(last.values())


@dataclass(frozen=True, eq=False, repr=False, init=False)
class EquationFields:
    """The equations of a problem; `Problem` says what they mean."""

    equations: Any = setting(
        Lines(),
        read_lines,
        f"a list of up to {MOST_LINES} equations, as S[i,j] = sum(Q[i,c] * K[j,c] for c in d_k)",
        "An equation that replaces or adds a step, as 'S[i,j] = ...  # title'; may be repeated.",
        KINDS,
        is_list=True,
        flag="--equation",
    )
    more: Any = None
