"""What a person had to go on: their own values, and what these lead to.

A step is a pure function of named matrices, so what follows from a script is that step run on the
script's own values.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from attncalc.errors import InputError
from attncalc.grading.key import RULES, Key
from attncalc.grading.recipes import Recipe
from attncalc.grading.slack import Slack
from attncalc.numbers.rounding import Rule, round_floats
from attncalc.numbers.types import Matrix, Range
from attncalc.operations import Weigh
from attncalc.operations.step import Step


@dataclass(frozen=True, eq=False)
class Known:
    """The values that later steps of a script can be based on.

    Parameters
    ----------
    key
        What is used where the script says nothing: of a wrong shape, or blank.
    slack
        How numbers were cut.
    points
        The script's own values, by step.
    behind
        Where the values may lie that were carried on.
    unusable, doubtful
        Steps of a wrong shape, and those with mistakes: weights may no longer sum to 1.
    """

    key: Key
    slack: Slack
    points: dict[str, Matrix] = field(default_factory=dict)
    behind: dict[str, Range] = field(default_factory=dict)
    unusable: set[str] = field(default_factory=set)
    doubtful: set[str] = field(default_factory=set)
    _cache: dict[tuple[str, Rule | None], Range] = field(default_factory=dict)
    _results: dict[tuple[str, Rule | None], Range] = field(default_factory=dict)

    def keep(self, name: str, points: Matrix, behind: Range) -> None:
        """Take in one step of the script."""
        self.points[name], self.behind[name] = points, behind
        self._results.clear()  # they are as large as the step, and it is marked

    def missing(self, step: Step) -> Iterator[Step]:
        """Yield the steps before this one that the script leaves out, back to what it shows."""
        for name in step.inputs:
            if name in self.key.steps and name not in self.points and name not in self.unusable:
                yield from self.missing(self.key.steps[name])
                yield self.key.steps[name]

    def rules(self, step: Step) -> tuple[Rule | None, ...]:
        """Return how a script's values can be read: as more was carried, or as they are written.

        Steps that are left out may have been rounded by any rule.
        """
        if self.key.in_tolerance:
            return (None,)
        return (None, *RULES) if any(True for _ in self.missing(step)) else (None, RULES[0])

    def results(self, step: Step) -> Iterator[Range]:
        """Yield what a step comes to, for each way to round what was left out before it."""
        for rule in self.rules(step):
            yield self.result(step, rule)

    def result(self, step: Step, rule: Rule | None, wrong: Recipe | None = None) -> Range:
        """Return where the entries of a step may lie.

        Parameters
        ----------
        step
            The step.
        rule
            How steps that the script leaves out were rounded; None for carried in full.
        wrong
            A wrong recipe that stands in for one of the steps that are left out.
        """
        if wrong is not None:
            return self._result(step, rule, wrong)
        if (step.name, rule) not in self._results:
            self._results[step.name, rule] = self._result(step, rule, None)
        return self._results[step.name, rule]

    def _result(self, step: Step, rule: Rule | None, wrong: Recipe | None) -> Range:
        inputs = [self.read(name, rule, wrong) for name in step.inputs]
        operation = step.operation
        if isinstance(operation, Weigh) and (wrong or step.inputs[0] in self.doubtful):
            operation = Weigh()
        with np.errstate(all="ignore"):
            try:
                return operation.over(*inputs)
            except InputError:  # own scores that sum to 0, say: nothing follows from them
                return Range.at(np.full(self.key.shown[step.name].shape, np.nan))

    def by(self, wrong: Recipe, step: Step, rule: Rule | None) -> Range | None:
        """Return what a step comes to when it, or one left out before it, is done wrongly."""
        with np.errstate(all="ignore"):
            try:
                if wrong.step == step.name:
                    return wrong.make(lambda name: self.read(name, rule))
                return self.result(step, rule, wrong)
            except (ValueError, InputError):  # shapes that do not go together, a sum of 0
                return None

    def read(self, name: str, rule: Rule | None, wrong: Recipe | None = None) -> Range:
        """Return where the values of a matrix may lie that a step reads."""
        if name in self.points:
            points = self.points[name]
            return self.behind[name] if rule is None else Range.at(points)
        if name not in self.key.steps or name in self.unusable:
            return self.key.range_of(name)
        if wrong is None and (name, rule) in self._cache:
            return self._cache[name, rule]
        made = self._made(self.key.steps[name], rule, wrong)
        if wrong is None:
            self._cache[name, rule] = made
        return made

    def _made(self, step: Step, rule: Rule | None, wrong: Recipe | None) -> Range:
        if wrong is not None and wrong.step == step.name:
            made = wrong.make(lambda name: self.read(name, rule))
            if made is None:
                raise ValueError
        else:
            made = self.result(step, rule, wrong)
        if rule is None:
            return made
        decimals = self.key.problem.decimals
        return made.map(lambda end: round_floats(end, decimals, rule))


def with_mistakes_mended(known: Known, wrong: Mapping[str, Matrix]) -> Known:
    """Return the same script with the key's values where its own are wrong."""
    mended = Known(known.key, known.slack, unusable=known.unusable, doubtful=known.doubtful)
    for name, own in known.points.items():
        right = zip(known.key.ranges[name], known.behind[name], strict=True)
        points = np.where(wrong[name], known.key.shown[name], own)
        if known.key.in_tolerance:
            mended.keep(name, points, Range.at(points))
            continue
        ends = (np.where(wrong[name], ours, theirs) for ours, theirs in right)
        mended.keep(name, points, Range(*ends))
    return mended
