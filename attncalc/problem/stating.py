"""Equations of users: each replaces the step with its name, or adds a step.

A problem can consist of equations only. If queries, keys or values are missing, equations may
define them for the attention.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from attncalc.base.errors import InputError
from attncalc.equations.library import equation, inputs_of
from attncalc.equations.operation import (
    NAMES_HEADS,
    Setting,
    Shape,
    Statement,
    UnstatedError,
    is_grouped,
)
from attncalc.equations.operations.normalising import Softmax
from attncalc.equations.own import (
    MODIFIED,
    Known,
    Line,
    Own,
    as_line,
    is_of_scores,
    line_of_scores,
    local,
    parsed,
    resolved,
)
from attncalc.equations.tree import (
    INFINITY,
    Aggregate,
    Entry,
    Equation,
    Function,
    If,
    Name,
    Node,
    Row,
    equation_source,
    parts,
    recurrence_of,
    walk,
)
from attncalc.problem.calculation import Built, Calculation
from attncalc.problem.fields import own_name, role_of
from attncalc.problem.layers import STEP_TITLES
from attncalc.problem.scope import Outer
from attncalc.problem.step import Axis, Plan, Role, Step, shapes_of


def read_by(texts: Sequence[str]) -> set[str]:
    """Return the names that equations read and do not define."""
    lines = parsed(tuple(texts))
    return {name for line in lines for name in line.reads} - {line.name for line in lines}


def deciding(texts: Sequence[str]) -> set[str]:
    """Return the matrices that conditions and places of equations read, such as a graph or ids."""
    nodes = [x for line in parsed(tuple(texts)) for x in line.equation.nodes]
    inner = [y for x in nodes if isinstance(x, Entry) for y in x.at]
    inner += [x.test for x in nodes if isinstance(x, If)]
    inner += [x.where for x in nodes if isinstance(x, Aggregate) and x.where is not None]
    return {y.name for x in inner for y in walk(x) if isinstance(y, Entry)}


def placeholders(problem: Outer) -> Iterator[dict[str, Shape]]:
    """Yield shapes that equations may define: queries, keys and values, scores, then weights."""
    lines = parsed(problem.equations)
    stated = {line.name for line in lines} - set(problem.names)
    projected = [name for name in "QKV" if not problem.those_given(f"W_{name}")]
    for names in (projected, ["S", "V"], ["A", "V"]):
        wanted = [name for name in names if name in stated]
        if not wanted or (names is not projected and names[0] not in stated):
            continue
        resolution = _Resolution((), lines, problem)
        for name in wanted:
            resolution.put(name)
        yield {name: resolution.shapes[name] for name in wanted}


def weights_of(problem: Outer) -> list[tuple[str, Shape]]:
    """Return the equation of the weights, as its name and shape; [] if there is none.

    Weights are rows of a softmax, or another normalizer, that another equation sums with the rows
    of a matrix. Of several, it is the one named A, or the first.
    """
    lines = parsed(problem.equations)
    found = [line.name for line in lines if any(_is_weighed_with(line, each) for each in lines)]
    if not found:
        return []
    resolution = _Resolution((), lines, problem)
    name = "A" if "A" in found else found[0]
    resolution.put(name)
    return [(name, resolution.shapes[name])]


def _is_weighed_with(line: Line, by: Line) -> bool:
    """Return whether an equation sums the rows of a matrix, weighted by another equation."""
    own = line.equation
    if not isinstance(own.right, Row) or len(own.at) < 2 or own.right.at != Name(own.at[-1]):
        return False
    for each in by.equation.nodes:
        if isinstance(each, Aggregate) and each.kind == "sum":
            index, entries = Name(each.index), [x for x in walk(each) if isinstance(x, Entry)]
            weighs = any(x.name == own.name and x.at[-1:] == (index,) for x in entries)
            if weighs and any(x.name != own.name and x.at[-2:-1] == (index,) for x in entries):
                return True
    return False


def with_equations(problem: Outer, calculation: Calculation) -> Calculation:
    """Return a calculation with the equations of a problem."""
    steps, lines = _with_modified_scores(problem, calculation, parsed(problem.equations))
    resolution = _Resolution(steps, lines, problem)
    replaced = [step.name for step in steps]
    stated = [line.name for line in lines]
    for name in stated if set(replaced) <= set(stated) else (*replaced, *stated):
        resolution.put(name)
    _check_reached(resolution.made.values(), replaced, lines)
    steps = _without_those_replaced(resolution.made.values(), steps, lines)
    added = tuple(step for step in steps if step.name not in replaced)
    own = Built(added, names={step.name: step.name for step in added}, says=(_said(lines),))
    return calculation.restated(own, steps)


def _check_reached(made: Iterable[Step], replaced: Sequence[str], lines: Sequence[Line]) -> None:
    """Refuse an equation of scores, such as S_scaled, that this attention does not have."""
    read = {name for step in made for name in step.inputs}
    of_scores = [name for name in replaced if own_name(name) == "S"]
    for name in (line.name for line in lines if of_scores):
        own = own_name(name)
        if own[:2] == "S_" and own in STEP_TITLES and name not in {*replaced, *read}:
            raise InputError(
                f"{name}: nothing reads this equation: by its settings, this attention has "
                f"{', '.join(each for each in replaced if own_name(each)[:1] == 'S')}: state one "
                "of them"
            )


def _said(lines: Sequence[Line]) -> str:
    *names, last = (line.name for line in lines)
    if not names:
        return f"{last} is stated by an equation"
    return f"{', '.join(names)} and {last} are stated by equations"


def _without_those_replaced(made: Iterable[Step], before: Plan, lines: Sequence[Line]) -> Plan:
    """Return steps without those that nothing reads any more."""
    steps, stated = tuple(made), {line.name for line in lines}
    read_before = {name for step in before for name in step.inputs} - stated
    while True:
        read = {name for step in steps for name in step.inputs}
        kept = tuple(each for each in steps if each.name in read or each.name not in read_before)
        if kept == steps:
            return steps
        steps = kept


def _with_modified_scores(
    problem: Outer, calculation: Calculation, lines: tuple[Line, ...]
) -> tuple[Plan, tuple[Line, ...]]:
    """Return steps that read modified scores before they become weights, and their lines."""
    texts = [text for text in problem.equations if is_of_scores(text)]
    steps = list(calculation.steps)
    of_weights = [place for place, step in enumerate(steps) if step.role == "weights"]
    if texts and (not of_weights or not steps[of_weights[0]].inputs):
        raise InputError(f"{texts[0]}: there are no scores here that it could change")
    for number, text in enumerate(texts, start=1):
        step = steps[of_weights[0]]
        scores, *others = step.inputs
        name = MODIFIED if number == 1 else f"{MODIFIED}_{number}"
        heads = problem.heads if len(calculation.attentions) == 1 else 1
        line = line_of_scores(text, scores, name, heads if heads and heads > 1 else 0)
        lines = (*lines, line)
        steps[of_weights[0]] = step._replace(inputs=(name, *others))
    return tuple(steps), lines


class _Resolution:
    """Sorts steps and equations, each after its inputs (steps: the steps without equations)."""

    def __init__(self, steps: Plan, lines: Sequence[Line], problem: Outer) -> None:
        self._lines = {line.name: line for line in lines}
        self._steps = {step.name: step for step in steps}
        self._may_forbid = any(_may_be_infinite(line.equation.right) for line in lines)
        self._heads = problem.heads or 1
        self._given = problem.given
        self.shapes: dict[str, Shape] = {n: each.shape for n, each in problem.given.items()}
        self._axes = {name: _axes_of_given(name) for name in self.shapes}
        self.made: dict[str, Step] = {}
        self._opened: list[str] = []

    def put(self, name: str) -> None:
        """Add a step after all of its inputs; nothing for given matrices."""
        line, step = self._lines.get(name), self._steps.get(name)
        if name in self.made or (line is None and step is None):
            return  # a missing name is refused with the equation that reads it
        if name in self._opened:
            raise self._circle(name)
        self._opened.append(name)
        lines = self._together(name)
        names = [each.name for each in lines] or [name]
        for each in (each for own in names for each in self._reads(own)):
            if each not in names:
                self.put(each)
        self._opened.pop()
        for made in self._stated(lines) if lines else [step]:
            assert made is not None
            if isinstance(made.operation, Softmax) and self._may_forbid:
                made = made._replace(operation=replace(made.operation, masked=True))
            self.made[made.name] = made
            self.shapes[made.name] = self._shape_of(made)
            self._axes[made.name] = made.rows, made.columns

    def _reads(self, name: str) -> tuple[str, ...]:
        line, step = self._lines.get(name), self._steps.get(name)
        return line.reads if line is not None else step.inputs if step is not None else ()

    def _together(self, name: str) -> list[Line]:
        """Return the equations that are computed row by row together with one, including itself.

        Only itself without a cycle, or if rows determine no order: such a cycle is refused later.
        """
        if name not in self._lines:
            return []
        own = self._lines[name]
        names = {each for each in self._leading_to(name) if name in self._leading_to(each)}
        lines = [each for each in self._lines.values() if each.name in names]
        recurs = recurrence_of([each.equation for each in lines])
        if len(lines) != len(names) or recurs is None or len(recurs.order) != len(lines):
            return [own]
        return [self._lines[each.name] for each in recurs.order]

    def _leading_to(self, name: str) -> frozenset[str]:
        """Return all steps that a step or an equation depends on."""
        found: set[str] = set()
        open_ = [name]
        while open_:
            new = set(self._reads(open_.pop())) - found
            found |= new
            open_ += new
        return frozenset(found)

    def _circle(self, name: str) -> Exception:
        closing = next(self._lines[n] for n in reversed(self._opened) if n in self._lines)
        circle = " → ".join([*self._opened[self._opened.index(name) :], name])
        at = next((at for each, at in closing.uses() if each in self._opened), None)
        return closing.fault(f"these read one another in a circle: {circle}", at)

    def _shape_of(self, step: Step) -> Shape:
        return step.operation.shape(*(self.shapes[name] for name in step.inputs))

    def _stated(self, lines: Sequence[Line]) -> Iterator[Step]:
        """Yield the steps of equations, in place of those with their names."""
        step = self._steps.get(lines[0].name)
        is_known = step is not None and all(name in self.shapes for name in step.inputs)
        shape = self._shape_of(step) if step is not None and is_known else None
        found = resolved(lines, Known(self.shapes, self._sizes(), self._given), shape)
        for line, (own, settings) in zip(lines, found, strict=True):
            yield self._step(line, own, settings)

    def _step(self, line: Line, own: Equation, settings: Mapping[str, Setting]) -> Step:
        step = self._steps.get(line.name)
        computed = {each.name for each in own.group}
        inputs = tuple(each for each in own.reads if each not in computed)
        shapes = tuple(self.shapes[each] for each in inputs)
        operation = Own(
            Statement(equation_source(local(own)), frozenset({NAMES_HEADS}), settings),
            line,
            inputs,
            shapes,
        )
        forbids = _may_be_infinite(own.right)
        if step is not None:
            is_given = step.name in step.inputs
            title = line.title or (STEP_TITLES["A"] if is_given else step.title)
            made = step._replace(operation=operation, inputs=inputs, title=title)
            role = "masked" if forbids and step.columns == "keys" else step.role
            return made._replace(rows_of=own.recurring, role=role)
        rows, columns = (self._axis(own, index) for index in own.at[-2:])
        title = line.title or STEP_TITLES.get(line.name, "stated by an equation")
        role = _role(line.name, rows, columns, forbids=forbids)
        of_tokens = len(own.at) > 2 and self._axis(own, own.at[0]) in ("queries", "keys")
        made = Step(line.name, title, operation, inputs, rows, columns, role)
        return made._replace(rows_of=own.recurring, slices="token" if of_tokens else made.slices)

    def _axis(self, own: Equation, index: str) -> Axis:
        """Return the axis of an index of a result: that of the matrices that it indexes."""
        size = own.sizes.get(index)
        if isinstance(size, Name) and size.name in ("n", "m"):
            return "queries" if size.name == "n" else "keys"
        kinds = [
            self._axes[x.name][axis - len(x.at)]
            for x in own.nodes
            if isinstance(x, Entry) and x.name in self._axes
            for axis, place in enumerate(x.at)
            if place == Name(index) and axis - len(x.at) >= -2
        ]
        of_tokens = [kind for kind in kinds if kind in ("queries", "keys")]
        return next(iter(of_tokens or kinds), "features")

    def _sizes(self) -> dict[str, int]:
        """Return the sizes that have a value, from the matrices that are known so far."""

        def side(axis: int, *names: str) -> int:
            found = (self.shapes[name] for name in names if len(self.shapes.get(name, ())) >= -axis)
            return next((shape[axis] for shape in found), 0)

        sizes = {
            "n": side(-2, "Q", "S", "A", "X", "X1"),
            "m": side(-2, "K_all", "K", "X", "X2") or side(-1, "S", "A"),
            "d": side(-1, "X", "X1"),
            "d_k": side(-1, "K", "Q"),
            "d_v": side(-1, "V"),
            "d_ff": side(-1, "F_1", "W_1"),
            "heads": side(-3, "Q", "S", "A") or self._heads,
        }
        return {name: size for name, size in sizes.items() if size}


def _may_be_infinite(x: Node) -> bool:
    """Return whether -inf of a mask reaches the result: softmax, sums and exp make it finite."""
    if isinstance(x, Row | Aggregate) or (isinstance(x, Function) and x.name not in ("max", "min")):
        return False
    return x == INFINITY or any(_may_be_infinite(part) for part in parts(x))


def _role(name: str, rows: Axis, columns: Axis, *, forbids: bool) -> Role:
    if rows == "queries" and name == "O":
        return "outputs"
    if forbids:
        return "masked"
    return "weights" if (name, rows, columns) == ("A", "queries", "keys") else ""


def _axes_of_given(name: str) -> tuple[Axis, Axis]:
    role, own = role_of(name), own_name(name)
    if role in ("scores", "marks", "start"):
        return "queries", "keys"
    if role in ("tokens", "positions", "projected"):
        return ("queries" if own in ("X", "X1", "P", "P1", "Q") else "keys"), "features"
    return "values", "features"


def lines_of(problem: Outer, calculation: Calculation) -> Iterator[str]:
    """Yield each step as an equation of a problem, gradients excepted; or raise UnstatedError."""
    parts = calculation.parts[:-1] if problem.backward else calculation.parts
    forward = {step.name for part in parts for step in part.plan}
    steps = tuple(each for each in calculation.steps if each.name in forward)
    shapes = shapes_of(steps, problem.given)
    for step in steps:
        own = [shapes[name] for name in step.inputs]
        if (
            is_grouped(own)
            and not isinstance(step.operation, Own)
            and not step.operation.statement(*own).name.startswith("Grouped")
        ):
            raise UnstatedError(step.name)
        yield f"{line_of(step, shapes)}  # {step.title}"


def line_of(step: Step, shapes: Mapping[str, Shape]) -> str:
    """Return a step as an equation that a problem can contain.

    Raises UnstatedError if no equation of a user can state it.

    shapes: the shapes of the matrices that it reads, and its own.
    """
    if isinstance(step.operation, Own):
        return step.operation.line.text
    stated = step.operation.statement(*(shapes[name] for name in step.inputs))
    if stated.tables:
        raise UnstatedError(step.name)
    names = dict(zip(inputs_of(stated.name, stated.given), step.inputs, strict=True))
    found = equation(stated.name, stated.given)
    return as_line(found, step.name, names, shapes, stated.settings)
