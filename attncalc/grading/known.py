"""The answer's own values, and the results that follow from them.

A step is a pure function of named matrices, so the values that follow from an answer are that step
applied to the answer's own values.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from attncalc.base.errors import InputError, ShapeError
from attncalc.base.rounding import Rule, round_floats
from attncalc.base.types import Matrix, Range
from attncalc.equations.operation import Operation, Stated
from attncalc.equations.operations.entrywise import Mask
from attncalc.equations.operations.products import Weigh
from attncalc.grading.key import Key
from attncalc.grading.recipes import Recipe
from attncalc.grading.slack import Slack
from attncalc.problem.step import Step


@dataclass(frozen=True, eq=False)
class Known:
    """The values that later steps of an answer can be based on.

    key: replaces values of the answer that are missing: of a wrong shape, or blank.
    slack: the rounding of the numbers.
    behind: the ranges of the unrounded values.
    unusable, doubtful: steps that nothing can be based on, and those with mistakes: weights may not
        sum to 1.
    misshapen: steps of another shape than the key's, which later steps use if possible.
    """

    key: Key
    slack: Slack
    points: dict[str, Matrix] = field(default_factory=dict)
    behind: dict[str, Range] = field(default_factory=dict)
    unusable: set[str] = field(default_factory=set)
    doubtful: set[str] = field(default_factory=set)
    misshapen: set[str] = field(default_factory=set)
    # of these values, and not those of a copy with others
    _left_out: dict[tuple[str, Rule | None], Range] = field(default_factory=dict, init=False)
    _results: dict[tuple[str, Rule | None], Range] = field(default_factory=dict, init=False)

    def keep(self, name: str, points: Matrix, behind: Range) -> None:
        """Add one step of the answer."""
        self.points[name], self.behind[name] = points, behind
        self._results.clear()  # they are as large as the step, and it is marked

    def grounds(self) -> Iterator["Known"]:
        """Yield the values to base steps on: own values, then the key's for other shapes."""
        yield self
        if self.misshapen:
            yield self.mended({})

    def shape_of(self, step: Step) -> tuple[int, ...]:
        """Return the shape of a step; () if the shapes of its inputs do not match."""
        if not self.misshapen:
            return self.key.shown[step.name].shape
        with suppress(ValueError):
            return self.result(step, None).low.shape
        return ()

    def misread(self, step: Step) -> tuple[str, ...]:
        """Return the matrices of another shape than the key's that a step depends on."""
        read = (name for each in (*self.missing(step), step) for name in each.inputs)
        return tuple(dict.fromkeys(name for name in read if name in self.misshapen))

    def missing(self, step: Step, seen: set[str] | None = None) -> Iterator[Step]:
        """Yield the steps before this one that the answer leaves out, back to the written ones.

        Each is yielded once, and none of those that are `seen`: in layers, several steps read one.
        """
        seen = set() if seen is None else seen
        for name in step.inputs:
            is_shown = name in self.points or name in self.unusable
            if name in seen or name not in self.key.steps or is_shown:
                continue
            seen.add(name)
            yield from self.missing(self.key.steps[name], seen)
            yield self.key.steps[name]

    def rows_of(self, step: Step) -> list[str]:
        """Return the steps whose own earlier rows a recurrence reads, as written."""
        return [each for each in step.rows_of if each in self.points]

    def rules(self, step: Step) -> tuple[Rule | None, ...]:
        """Return the possible roundings of an answer's values: full precision, or as written.

        Steps that are left out may have been rounded by any rule.
        """
        rules = self.slack.rules
        return (None, *rules) if any(self.missing(step)) else (None, *rules[:1])

    def result(self, step: Step, rule: Rule | None, *instead: Recipe) -> Range:
        """Return the ranges of the entries of a step.

        Raises ValueError, InputError if shapes do not match in the wrong recipe, or a sum in it is
        0.

        rule: the rounding of steps that the answer leaves out; None for full precision.
        instead: recipes that replace the step, or steps that are left out before it.
        """
        if instead:
            return self._result(step, rule, instead, {})
        if (step.name, rule) not in self._results:
            self._results[step.name, rule] = self._result(step, rule, (), {})
        return self._results[step.name, rule]

    def _result(
        self, step: Step, rule: Rule | None, instead: tuple[Recipe, ...], made_so: "_Made"
    ) -> Range:
        with np.errstate(all="ignore"):
            own = next((each for each in instead if each.step == step.name), None)
            if own is not None:
                others = tuple(each for each in instead if each is not own)
                read = partial(self.read, rule=rule, instead=others, made_so=made_so)
                made = own.make(read)
                if made is None or made.low.dtype == bool:  # or where scores are masked
                    raise ValueError(f"{own.code} gives no numbers")
                return made
            inputs = [self.read(name, rule, instead, made_so) for name in step.inputs]
            operation = step.operation
            if isinstance(operation, Stated) and (rows := self.rows_of(step)):
                operation = operation.of_known_rows([each in rows for each in step.rows_of])
                inputs += [self.read(each, rule) for each in rows]
            if self.misshapen and not _allow(operation, inputs):
                raise ValueError
            is_doubtful = instead or self.slack.digits or step.inputs[0] in self.doubtful
            if isinstance(operation, Weigh) and is_doubtful:
                operation = replace(operation, of_shares=False)
            return self._followed(operation, inputs, step)

    def _followed(self, operation: Operation, inputs: Sequence[Range], step: Step) -> Range:
        """Return the result of an operation on the answer's own values; nan if there is none."""
        try:
            if self.misshapen:  # ranges broadcast a single column, but products refuse it
                operation.apply(*(each.low for each in inputs))
            return operation.over(*inputs)
        except ShapeError as error:
            raise ValueError from error
        except InputError:  # own scores that sum to 0, for example: nothing follows from them
            return Range.at(np.full(self.key.shown[step.name].shape, np.nan))

    def read(
        self,
        name: str,
        rule: Rule | None,
        instead: tuple[Recipe, ...] = (),
        made_so: "_Made | None" = None,
    ) -> Range:
        """Return the ranges of the values of a matrix that a step reads.

        `made_so` contains the earlier results of these recipes: in layers, several steps read one.
        """
        if name in self.points:
            return self.behind[name] if rule is None else Range.at(self.points[name])
        if name not in self.key.steps or name in self.unusable:
            return self.key.range_of(name)
        if not any(each.step in self.key.before[name] for each in instead):
            instead = ()
        if not instead and (name, rule) in self._left_out:
            return self._left_out[name, rule]
        made_so = {} if made_so is None else made_so
        place = (name, *map(id, instead))
        if instead and place in made_so:
            return made_so[place]
        step = self.key.steps[name]
        made = self._result(step, rule, instead, made_so) if instead else self.result(step, rule)
        if rule is not None:
            made = made.map(lambda end: round_floats(end, self.key.problem.decimals, rule))
        if instead:
            made_so[place] = made
        else:
            self._left_out[name, rule] = made
        return made

    def with_matrices(self, points: Mapping[str, Matrix], behind: Mapping[str, Range]) -> "Known":
        """Return the same answer with more matrices of its own."""
        return replace(self, points={**self.points, **points}, behind={**self.behind, **behind})

    def mended(self, wrong: Mapping[str, Matrix]) -> "Known":
        """Return the same answer with the key's values for its wrong or misshapen ones."""
        names = [name for name in self.points if name not in self.misshapen]
        points = {name: self.points[name] for name in names}
        behind = {name: self.behind[name] for name in names}
        for name in wrong.keys() & points.keys():
            points[name] = np.where(wrong[name], self.key.shown[name], points[name])
            behind[name] = behind[name].replaced(wrong[name], self.key.ranges[name])
        return replace(
            self,
            points=points,
            behind=behind,
            unusable=self.unusable | self.misshapen,
            misshapen=set(),
        )


_Made = dict[tuple[object, ...], Range]
"""The results of recipes, by the step and the recipes."""


def _allow(operation: Operation, inputs: Sequence[Range]) -> bool:
    """Return whether no input is broadcast along rows or columns."""
    scores = inputs[0].low.shape[-2:]
    if not isinstance(operation, Mask):
        return True
    return all(np.broadcast_shapes(scores, each.low.shape[-2:]) == scores for each in inputs)
