"""Equations of the user's own: each replaces the step of its name, or adds a step.

A problem without an attention can be equations alone. One that lacks queries, keys or values may
state them: the attention then reads what the equation gives.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from attncalc.problem.field import KINDS, setting

if TYPE_CHECKING:
    from attncalc.equations.operation import Shape
    from attncalc.equations.own import Line
    from attncalc.operations.step import Axis, Plan, Step
    from attncalc.problem.calculation import Calculation
    from attncalc.problem.scope import Outer

MOST_LINES = 200
STATED = ("Q", "K", "V", "S", "A")
"""What an attention can read from an equation where it is not given."""
INSTEAD = {"Q": ("W_Q",), "K": ("W_K",), "V": ("W_V",), "S": ("W_Q", "Q"), "A": ("W_Q", "Q", "S")}
"""What is given where an attention makes these itself: an equation then replaces its step."""


class Lines(tuple[str, ...]):
    """Equations, one text each."""

    __slots__ = ()


def read_lines(given: Any) -> Lines:
    """Read a list of equations, or a text with one on each line.

    Examples
    --------
    >>> read_lines("a[i] = X[i,0]  # first\\nb[i] = X[i,1]")
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
        "An equation that replaces a step or adds one, as 'S[i,j] = ...  # title'; may be repeated.",
        KINDS,
        is_list=True,
        flag="--equation",
    )
    more: Any = None


@cache
def parsed(texts: Sequence[str]) -> "tuple[Line, ...]":
    """Return equations as they are parsed.

    Raises
    ------
    EquationError
        When one cannot be read, or a name is stated twice.
    """
    from attncalc.equations.own import read_line

    found: dict[str, Line] = {}
    for text in texts:
        line = read_line(text)
        if line.name in found:
            raise line.fault(f"{line.name} is stated twice")
        found[line.name] = line
    return tuple(found.values())


def read_by(texts: Sequence[str]) -> set[str]:
    """Return the names that equations read and none of them states."""
    lines = parsed(tuple(texts))
    return {name for line in lines for name in line.reads} - {line.name for line in lines}


def placeholders(problem: "Outer") -> "dict[str, Shape]":
    """Return the shapes of what equations state and the attention would need to be given."""
    lines = parsed(problem.equations)
    missing = [
        line.name
        for line in lines
        if line.name in STATED and not problem.those_given(line.name, *INSTEAD[line.name])
    ]
    shapes = _resolved((), lines, problem, only=missing)[1] if missing else {}
    return {name: shapes[name] for name in missing}


def with_equations(problem: "Outer", calculation: "Calculation") -> "Calculation":
    """Return a calculation with the equations of a problem in it.

    Raises
    ------
    EquationError
        When one reads what is not there, sizes do not agree, or they go round in a circle.
    """
    from attncalc.problem.part import Built

    lines = parsed(problem.equations)
    steps, _ = _resolved(calculation.steps, lines, problem)
    replaced = {step.name for step in calculation.steps}
    added = tuple(step for step in steps if step.name not in replaced)
    says = tuple(f"{line.name} is stated by an equation" for line in lines)
    own = Built(added, names={step.name: step.name for step in added}, says=says)
    return calculation.restated(own, steps)


def _resolved(
    steps: "Plan", lines: "Sequence[Line]", problem: "Outer", only: Sequence[str] = ()
) -> "tuple[Plan, dict[str, Shape]]":
    """Return steps and equations in order, each after what it reads, and all shapes.

    Parameters
    ----------
    steps
        The steps without equations.
    lines
        The equations.
    only
        The equations wanted; those that cannot be reached are left out. By default all.
    """
    from attncalc.equations.operation import Own, Statement
    from attncalc.equations.own import Known, resolved
    from attncalc.equations.tree import equation_source

    of_lines = {line.name: line for line in lines}
    of_steps = {step.name: step for step in steps}
    shapes: dict[str, Shape] = {name: matrix.shape for name, matrix in problem.given.items()}
    axes: dict[str, tuple[Axis, Axis]] = {name: _axes_of_given(name) for name in shapes}
    made: dict[str, Step] = {}
    opened: list[str] = []

    def put(name: str) -> None:
        if name in made or (name in shapes and name not in of_lines):
            return
        line, step = of_lines.get(name), of_steps.get(name)
        if line is None and step is None:
            return  # refused where the equation that reads it is resolved
        if name in opened:
            closing = next(of_lines[each] for each in reversed(opened) if each in of_lines)
            circle = " → ".join([*opened[opened.index(name) :], name])
            at = next((at for each, at in closing.uses() if each in opened), None)
            raise closing.fault(f"these read one another in a circle: {circle}", at)
        opened.append(name)
        for each in line.reads if line is not None else step.inputs if step else ():
            if each != name:
                put(each)
        opened.pop()
        if line is None:
            assert step is not None
            made[name] = step
            shapes[name] = step.operation.shape(*(shapes[each] for each in step.inputs))
            axes[name] = step.rows, step.columns
            return
        own, settings = resolved(line, Known(shapes, _sizes(problem, shapes)), _side(step, shapes))
        operation = Own(Statement(equation_source(own), settings=settings), line)
        inputs = tuple(each for each in own.reads if each != name)
        made[name] = _step(line, step, operation, inputs, own, axes)
        shapes[name] = operation.shape(*(shapes[each] for each in inputs))
        axes[name] = made[name].rows, made[name].columns

    for step in steps:
        put(step.name)
    for line in lines:
        if not only or line.name in only:
            put(line.name)
    return tuple(made.values()), shapes


def _side(step: "Step | None", shapes: "Mapping[str, Shape]") -> "Shape | None":
    """Return the shape of the step that an equation replaces, as far as it is known."""
    if step is None or not all(name in shapes for name in step.inputs):
        return None
    return step.operation.shape(*(shapes[name] for name in step.inputs))


def _sizes(problem: "Outer", shapes: "Mapping[str, Shape]") -> dict[str, int]:
    """Return the sizes that have a value, from the matrices that are known so far."""

    def side(axis: int, *names: str) -> Iterator[int]:
        yield from (shapes[name][axis] for name in names if name in shapes)

    found = {
        "n": side(-2, "Q", "S", "A", "X", "X1"),
        "m": side(-2, "K_all", "K", "X", "X2"),
        "d": side(-1, "X", "X1"),
        "d_k": side(-1, "K", "Q"),
        "d_v": side(-1, "V"),
        "d_ff": side(-1, "F_1", "W_1"),
        "heads": (shapes[name][0] for name in ("Q", "S", "A") if len(shapes.get(name, ())) > 2),
    }
    sizes = {name: next(values, 0) for name, values in found.items()}
    for name in ("S", "A"):
        if name in shapes and not sizes["m"]:
            sizes["m"] = shapes[name][-1]
    if not sizes["heads"]:
        sizes["heads"] = problem.heads or 1
    return {name: size for name, size in sizes.items() if size}


def _axes_of_given(name: str) -> "tuple[Axis, Axis]":
    from attncalc.problem.fields import own_name, role_of

    role, own = role_of(name), own_name(name)
    if role in ("scores", "marks", "start"):
        return "queries", "keys"
    if role in ("tokens", "positions", "projected"):
        return ("queries" if own in ("X", "X1", "P", "P1", "Q") else "keys"), "features"
    return "values", "features"


def _step(
    line: "Line",
    step: "Step | None",
    operation: Any,
    inputs: tuple[str, ...],
    own: Any,
    axes: "Mapping[str, tuple[Axis, Axis]]",
) -> "Step":
    """Return the step that an equation makes, in place of the one of its name."""
    from attncalc.equations.tree import Entry, Name
    from attncalc.operations.step import Step
    from attncalc.problem.parts import STEP_TITLES

    if step is not None:
        return step._replace(operation=operation, inputs=inputs, title=line.title or step.title)
    found: list[Axis] = []
    for index in own.at[-2:]:
        kinds = [
            axes[x.name][axis - len(x.at) + 2]
            for x in own.nodes
            if isinstance(x, Entry) and x.name in axes
            for axis, place in enumerate(x.at)
            if place == Name(index) and axis - len(x.at) + 2 >= 0
        ]
        size = own.sizes.get(index)
        by_size = {Name("n"): "queries", Name("m"): "keys"}.get(size)  # type: ignore[arg-type]
        of_tokens = [kind for kind in kinds if kind in ("queries", "keys")]
        found.append(by_size or next(iter(of_tokens or kinds), "features"))
    rows, columns = found
    title = line.title or STEP_TITLES.get(line.name, "stated by an equation")
    role = {"O": "outputs", "A": "weights", "S_masked": "masked"}.get(line.name, "")
    is_attention = rows == "queries" and (columns == "keys" or role == "outputs")
    return Step(line.name, title, operation, inputs, rows, columns, role if is_attention else "")
