"""`attncalc equations`, and `attncalc explain --equations`: equations as lines of text."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from attncalc.base.errors import InputError
from attncalc.cli.targets import check_targets, deliver, output, target_of
from attncalc.equations.algebra import plain
from attncalc.equations.library import equation, stated
from attncalc.equations.operation import UnstatedError
from attncalc.equations.tree import EquationError, equation_source
from attncalc.problem.problem import Problem
from attncalc.problem.stating import lines_of

SHOWN = ("causal", "plain")
"""The flags with which equations are listed, in addition to their optional inputs."""


def equations(flags: Mapping[str, Any]) -> None:
    """List the built-in equations, or those whose names contain one of these words."""
    target = target_of("--out", flags["out"])
    check_targets(target)
    wanted = [word.lower() for word in flags["words"] or ()]
    names = [n for n in stated() if not wanted or any(word in n.lower() for word in wanted)]
    if not names:
        raise InputError(f"no equation has this name: {', '.join(stated())}")
    deliver(output(target, "\n".join(line for name in names for line in _built_in(name)) + "\n"))


def _built_in(name: str) -> Iterator[str]:
    optional = [each[:-1] for each in stated()[name].inputs if each.endswith("?")]
    # an optional input may replace something else, and a sum is over heads or rows
    for given in ((*optional, *SHOWN), SHOWN, (*SHOWN, "rows"), (*SHOWN, "heads")):
        with suppress(EquationError):
            own = equation(name, frozenset(given))
            own = replace(own, right=plain(own.right), taught=())
            yield f"{name}: {equation_source(own)}"
            break
    if paper := stated()[name].paper:
        yield f"    {paper}"


def equations_of(problem: Problem, out: str | None) -> None:
    """Write the calculation of a problem as equations that a problem can state."""
    target = target_of("--out", out)
    check_targets(target)
    try:
        lines = list(lines_of(problem, problem.calculation))
    except UnstatedError as error:
        raise InputError(f"no equation states the step {error} of this problem") from None
    deliver(output(target, "\n".join(lines) + "\n"))
