"""The gradients of a calculation as a part of it: the chain rule, from the last step to the first.

Each operation knows its own gradients; here they are chained. Where a matrix is read several
times, each part of its gradient is a step, and their sum is one more. Rumelhart, Hinton and
Williams, *Learning Representations by Back-propagating Errors* (1986).
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from attncalc.base.errors import InputError
from attncalc.base.typed import as_written
from attncalc.equations.library import TURNED
from attncalc.equations.operation import PLAIN, RESULT, Operation, Shape, Stated, Statement, Way
from attncalc.equations.operations.assembling import Add
from attncalc.equations.operations.distances import RelativeBias
from attncalc.equations.operations.losses import descend
from attncalc.equations.operations.products import ConcatScores, Project
from attncalc.problem.attention.attention import LARGEST_KEPT
from attncalc.problem.calculation import Built, Calculation
from attncalc.problem.fields import own_name, role_of
from attncalc.problem.gradients.naming import gradient_name, part_name, title_of
from attncalc.problem.gradients.starting import LOSS, Start, started
from attncalc.problem.scope import Scope
from attncalc.problem.standing import Standing
from attncalc.problem.step import Axis, Plan, Step, shapes_of

NO_GRADIENT = ("marks", "arriving", "ids", "frequencies")
"""Roles of given matrices that have no gradient."""
OF_NO_TOKEN = ("weights", "bias", "table", "heads", "buckets", "image")
"""Roles of given matrices whose rows are no tokens."""


class _Use(NamedTuple):
    """A matrix, a step that reads it, and how that step gives its gradient."""

    name: str
    by: Step
    way: Way


def with_gradients(problem: Scope, calculation: Calculation) -> Calculation:
    """Return a calculation followed by the gradients of all given matrices."""
    scores = max((each.scores for each in calculation.attentions), default=0)
    if scores > LARGEST_KEPT:
        raise InputError(
            f"backward keeps every matrix of scores and supports up to {LARGEST_KEPT:,} scores: "
            f"this problem has {scores:,} (give fewer tokens, or leave backward out)"
        )
    shapes = shapes_of(calculation.steps, problem.given)
    start = started(problem, calculation, shapes)
    back = _WayBack(problem, calculation.steps, shapes, start)
    steps, says = [*start.steps, *back.steps()], start.says
    if problem.step is not None:
        steps += steps_of_descent(problem, calculation.steps, start, back.leaves, shapes)
        says = (*says, f"a step against them: W - {as_written(problem.step)} dW (step)")
    names = {step.name for step in calculation.steps}
    of = {gradient_name(step.name): step.name for step in calculation.steps}
    for step in calculation.steps:
        for name in step.inputs:
            if name not in names:
                of.setdefault(gradient_name(name), step.name)
            of.setdefault(part_name(name, step.name), name if name in names else step.name)
    of |= {new_name(step.name): step.name for step in calculation.steps}
    told_with = {step.name: of.get(step.name, calculation.steps[-1].name) for step in steps}
    return calculation.followed_by(Built(tuple(steps), says=says), told_with)


class _WayBack:
    """The chain rule through the forward steps, from the first gradient to all given matrices."""

    def __init__(
        self, problem: Scope, forward: Plan, shapes: Mapping[str, Shape], start: Start
    ) -> None:
        self._problem = problem
        self._forward = forward
        self._start = start
        self._shapes = shapes
        self._made = {step.name: step for step in forward}
        self._uses = _uses(problem, forward, shapes, start.of)
        self._counts = Counter(use.name for uses in self._uses.values() for use in uses)
        self.leaves: list[str] = []

    def steps(self) -> Iterator[Step]:
        """Yield the steps in the order in which they are found."""
        known = {self._start.of: self._start.gradient}
        parts: dict[str, list[str]] = {self._start.of: [self._start.gradient]}
        yield from self._through_rows(self._made[self._start.of], parts, known)
        groups: list[list[Step]] = []
        for step in self._forward:
            beside = groups[-1] if groups else []
            alike = beside and beside[0].operation.name == step.operation.name
            if alike and not {each.name for each in beside} & set(step.inputs):
                beside.append(step)
            else:
                groups.append([step])
        for group in reversed(groups):
            uses = chain(*(self._uses.get(step.name, ()) for step in group if step.name in known))
            for use in sorted(uses, key=self._turn):
                yield from self._led_back(use, known, parts)

    def _turn(self, use: _Use) -> int:
        """Return its place in the order: weights first, steps that lead further back last."""
        if role_of(use.name) in ("weights", "bias"):
            return 0
        made = self._made.get(use.name)
        return 2 if made is not None and made.columns == "keys" else 1

    def _led_back(
        self, use: _Use, known: dict[str, str], all_parts: dict[str, list[str]]
    ) -> Iterator[Step]:
        """Yield the gradient of a matrix, or one part of it, and after the last part their sum."""
        parts = all_parts.setdefault(use.name, [])
        count, own = self._counts[use.name], gradient_name(use.name)
        made = self._made.get(use.name)
        recurs = made is not None and bool(made.rows_of)
        results = reversed(use.by.rows_of or (use.by.name,))
        at = (*use.by.inputs, *results, known[use.by.name])
        reads = tuple(at[number] for number in use.way.reads)
        operation = self._as_stored(use)
        if count > 1 and operation.name == "Same":  # as it is, it needs no name of its own
            parts.append(reads[0])
        else:
            is_part = count > 1 or recurs
            parts.append(part_name(use.name, use.by.name) if is_part else own)
            yield self._step(parts[-1], use, operation, reads)
        if len(parts) < count:
            return
        if made is not None and recurs:
            if all(len(all_parts.get(name, ())) == self._counts[name] for name in made.rows_of):
                yield from self._through_rows(made, all_parts, known)
            return
        if count > 1:
            yield self._step(own, use, Add(), tuple(parts))
        known[use.name] = own
        if use.name not in self._made:
            self.leaves.append(use.name)

    def _through_rows(
        self, by: Step, parts: Mapping[str, list[str]], known: dict[str, str]
    ) -> Iterator[Step]:
        """Yield the gradients of steps that are computed together, from the last row on."""
        names = {
            name: part_name(name, name) if name == self._start.of else gradient_name(name)
            for name in by.rows_of
        }
        for made in (step for step in reversed(self._forward) if step.name in names):
            arriving = [parts.get(name, []) for name in made.rows_of]
            shapes = [self._shapes[each] for each in made.inputs]
            way = made.operation.through_rows([*map(len, arriving)], *shapes)
            at = (*made.inputs, *chain(*arriving))
            reads = tuple(
                at[place] if place >= 0 else made.rows_of[RESULT - place] for place in way.reads
            )
            known[made.name] = names[made.name]
            yield Step(
                names[made.name],
                f"gradient of {made.name}, through all later rows",
                way.operation,
                reads,
                made.rows,
                made.columns,
                slices=made.slices,
                rows_of=tuple(names[name] for name in made.rows_of),
            )

    def _as_stored(self, use: _Use) -> Operation:
        """Return the operation, in the layout of the given matrix: weights may be (out, in)."""
        operation = use.way.operation
        if not self._problem.standing.is_shown_transposed(use.name):
            return operation
        stated = operation.statement(*[PLAIN] * len(use.way.reads))
        flag = "turned" if operation.name == "TransposedTimes" else TURNED
        return Stated(stated.with_flags(**{flag: True}))

    def _step(self, name: str, use: _Use, operation: Operation, reads: tuple[str, ...]) -> Step:
        rows, columns = self._axes(use)
        via = use.by.name if name != gradient_name(use.name) else ""
        title = title_of(use.name, self._made, via)
        made = self._made.get(use.name)
        is_between = bool(via) or (made is not None and made.is_between)
        return Step(name, title, operation, reads, rows, columns, is_between=is_between)

    def _axes(self, use: _Use) -> tuple[Axis, Axis]:
        """Return what rows and columns belong to: as of the matrix itself."""
        made = self._made.get(use.name)
        if made is not None:
            return made.rows, made.columns
        role, own = role_of(use.name), own_name(use.name)
        if role in OF_NO_TOKEN:
            return "values", "features"
        if role in ("scores", "start"):
            return "queries", "keys"
        asks = own in ("X", "X1", "P", "P1", "Q")
        return ("queries" if asks else "keys"), "features"


def _uses(
    problem: Scope, forward: Plan, shapes: Mapping[str, Shape], end: str
) -> dict[str, list[_Use]]:
    """Return, by the steps up to `end` that read them, matrices whose gradient is required."""
    wanted = {name for name in problem.given if role_of(name) not in NO_GRADIENT}
    uses: dict[str, list[_Use]] = {}
    rows_of = {step.name: step.rows_of for step in forward}
    last: set[str] = set()
    for step in forward:
        if found := list(_uses_in(step, wanted, shapes)):
            wanted |= {step.name, *step.rows_of}
            uses[step.name] = found
        if end in (step.name, *step.rows_of):
            last = {step.name, *step.rows_of}
        elif last:
            break
    leading = last
    for name in reversed(uses):
        if name in leading:
            for use in uses[name]:
                leading |= {use.name, *rows_of.get(use.name, ())}
    return {name: found for name, found in uses.items() if name in leading}


def _uses_in(step: Step, wanted: set[str], shapes: Mapping[str, Shape]) -> Iterator[_Use]:
    for number, name in enumerate(step.inputs):
        if name not in wanted:
            continue
        try:
            way = step.operation.way_back(number, [shapes[each] for each in step.inputs])
        except InputError as error:
            raise InputError(f"backward, {step.name} ({step.title}): {error}") from None
        if way is not None:
            yield _Use(name, step, way)


LEARNED = ("weights", "bias", "table", "heads", "buckets")
"""Roles of given matrices that a step changes."""
OF_ITSELF = ("weights", "buckets")
"""Those of them that may be given in another layout than the internal one."""


def new_name(name: str) -> str:
    """Return the name of a matrix after the step."""
    return f"{name}_new"


def steps_of_descent(
    problem: Scope, forward: Plan, start: Start, leaves: list[str], shapes: Mapping[str, Shape]
) -> Iterator[Step]:
    """Yield the new weights, all that follows from them, L after the step, and how far it fell."""
    own = problem.more or ()
    learned = [name for name in leaves if role_of(name) in LEARNED or name in own]
    if not learned:
        raise InputError("step is given, but there are no weights or biases to change")
    standing = problem.standing
    changed: dict[str, str] = {}
    for name in learned:
        of_heads = role_of(name) == "buckets"  # a row for each head, and given as its columns
        is_turned = standing.is_shown_transposed(name) != of_heads
        operation = descend(problem.step, shapes[name], is_turned=is_turned, of_heads=of_heads)
        title = f"{name} after the step"
        inputs = (name, gradient_name(name))
        yield Step(new_name(name), title, operation, inputs, "values", "features")
        changed[name] = new_name(name)
    for step in (*forward, start.loss):
        if not any(name in changed for name in step.inputs):
            continue
        changed[step.name] = new_name(step.name)
        yield step._replace(
            name=changed[step.name],
            title=f"{step.title} after the step",
            operation=_reading(step, changed, standing),
            inputs=tuple(changed.get(name, name) for name in step.inputs),
            rows_of=tuple(map(new_name, step.rows_of)),
            role="masked" if step.role == "masked" else "",
            is_between=True,
        )
    inputs = (LOSS, new_name(LOSS))
    less = Stated(Statement("Difference"))
    yield Step("L_fell", "by how much L fell", less, inputs, "values", "features")


def _reading(step: Step, changed: Mapping[str, str], standing: Standing) -> Operation:
    """Return the operation of a step that reads changed matrices in the layout of the given ones.

    Internal matrices are upright; new values of given matrices keep the layout they were given in.
    """
    operation = step.operation
    weights = [name for name in step.inputs if name in changed and role_of(name) in OF_ITSELF]
    if isinstance(operation, RelativeBias) and weights:
        return replace(operation, stands="columns" if standing.by_columns else "rows")
    if isinstance(operation, Project | ConcatScores) and any(
        map(standing.is_shown_transposed, weights)
    ):
        return replace(operation, is_turned=True)
    return operation
