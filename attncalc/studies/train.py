"""Training by hand: forward, loss, backward, step, repeated."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import exp

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.rounding import fixed, round_floats
from attncalc.base.typed import fraction_of
from attncalc.base.types import Matrix
from attncalc.equations.operation import Stated, Statement
from attncalc.equations.operations.losses import descend
from attncalc.problem.attention.declared import EACH_STEP
from attncalc.problem.fields import role_of
from attncalc.problem.gradients.naming import gradient_name
from attncalc.problem.gradients.starting import LOSS
from attncalc.problem.gradients.way_back import LEARNED
from attncalc.problem.problem import Problem
from attncalc.problem.step import Report
from attncalc.solving.solution import Solution, solve
from attncalc.studies.changes import Change, Value
from attncalc.studies.family import OF_PROBLEM, check_count, of_solution
from attncalc.studies.vary import Variation
from attncalc.studies.watched import Watched, watched_values

OPTIMIZERS = ("sgd", "momentum", "adam", "adamw")
MOST_STEPS = 10_000
LEAST_DECIMALS = 4
"""The fewest decimals of tables: a loss often decreases by less than 0.01."""
OF_CLIP, OF_ADAM = Fraction(1, 10**6), Fraction(1, 10**8)
"""The ε of clipping and of Adam, as in PyTorch."""
FIRST, SECOND = Fraction(9, 10), Fraction(999, 1000)
"""The β of Adam."""
WRITTEN_OUT = 2
"""Steps whose updates are kept for the work."""


@dataclass(frozen=True)
class Optimizer:
    """The rule that changes the matrices.

    name, rate, momentum, weight_decay, clip, warmup: as `attncalc.train` takes them.
    """

    name: str = "sgd"
    rate: Fraction = Fraction(1, 10)
    momentum: Fraction = Fraction(9, 10)
    weight_decay: Fraction = Fraction(0)
    clip: Fraction | None = None
    warmup: int = 0

    def __post_init__(self) -> None:
        """Refuse settings outside their range."""
        if self.name not in OPTIMIZERS:
            raise InputError(f"optimizer {self.name!r}: use {', '.join(OPTIMIZERS)}")
        if not self.rate > 0:
            raise InputError(f"rate {float(self.rate):g}: it must be above 0, for example 0.1")
        if not 0 <= self.momentum < 1:
            raise InputError(f"momentum {float(self.momentum):g}: it must be at least 0, below 1")
        if self.weight_decay < 0:
            raise InputError(f"weight decay {float(self.weight_decay):g}: it must not be negative")
        if self.clip is not None and not self.clip > 0:
            raise InputError(f"clip {float(self.clip):g}: the largest norm must be above 0")
        if self.warmup < 0:
            raise InputError(f"warmup {self.warmup}: the number of steps must not be negative")

    @property
    def moments(self) -> dict[str, Stated]:
        """The equations of what it keeps from step to step, for each matrix."""
        if self.name == "momentum":
            return {"v": _stated("Momentum", beta=self.momentum)}
        if self.name == "sgd":
            return {}
        first, second = _stated("FirstMoment", first=FIRST), _stated("SecondMoment", second=SECOND)
        return {"m": first, "v": second}


def read_numbers(typed: Mapping[str, object]) -> dict[str, Fraction]:
    """Return the numbers of an optimizer, by their names, without those that are None."""
    given = ((name, text) for name, text in typed.items() if text is not None)
    return {name: fraction_of(text, f"{name} takes a number") for name, text in given}


@dataclass(frozen=True, eq=False)
class Update:
    """One matrix of an update: its name, its operation, the matrices that it reads, its value."""

    name: str
    operation: Stated
    inputs: tuple[str, ...]
    matrices: tuple[Matrix, ...]
    value: Matrix


@dataclass(eq=False)
class _Descent:
    """The state of an optimizer: its moments, and the rounding of each result."""

    rule: Optimizer
    after: Callable[[Matrix], Matrix]
    kept: dict[str, Matrix] = field(default_factory=dict)
    t: int = 0

    def updates(
        self, weights: Mapping[str, Matrix], gradients: Mapping[str, Matrix], norm: Matrix
    ) -> Iterator[Update]:
        """Yield the matrices of the next step; those of a new weight are called W_new."""
        rule, self.t = self.rule, self.t + 1
        rate = rule.rate * min(Fraction(1), Fraction(self.t, rule.warmup or 1))
        moments = rule.moments
        clips = rule.clip is not None and float(norm[0, 0]) + float(OF_CLIP) > rule.clip
        for name, W in weights.items():
            gradient = gradient_name(name)
            at = {name: W, gradient: gradients[gradient], "norm": norm}

            def made(result: str, what: Stated, *reads: str, at: dict[str, Matrix] = at) -> Update:
                matrices = tuple(at[each] for each in reads)
                at[result] = self.after(what.apply(*matrices))
                return Update(result, what, reads, matrices, at[result])

            g = gradient
            if clips:
                clip = _stated("Clip", limit=rule.clip, eps=OF_CLIP)
                yield made(f"{gradient}_clipped", clip, g, "norm")
                g = f"{gradient}_clipped"
            if rule.weight_decay and rule.name != "adamw":
                yield made(f"{gradient}_decay", _stated("Decay", decay=rule.weight_decay), g, name)
                g = f"{gradient}_decay"
            results = [f"{each}_{name}" for each in moments]
            for result, moment in zip(results, moments.values(), strict=True):
                at[f"{result}_old"] = self.kept.get(result, np.zeros(W.shape))
                yield made(result, moment, g, f"{result}_old")
                self.kept[result] = at[result]
            if rule.name in ("adam", "adamw"):
                numbers = {"rate": rate, "first": FIRST, "second": SECOND, "t": Fraction(self.t)}
                if shrinks := rule.name == "adamw" and rule.weight_decay > 0:
                    numbers["decay"] = rule.weight_decay
                adam = _stated("AdamStep", **numbers, eps=OF_ADAM).stated
                yield made(f"{name}_new", Stated(adam.with_flags(shrinks=shrinks)), name, *results)
            else:
                step = descend(rate, W.shape, is_turned=False, of_heads=False)
                yield made(f"{name}_new", step, name, *(results or [g]))


def _stated(name: str, **numbers: Fraction | None) -> Stated:
    return Stated(Statement(name, settings={k: v for k, v in numbers.items() if v is not None}))


class _Steps(Change):
    """The number of steps, as the axis of a study."""

    def applied(self, problem: Problem, value: Value) -> Problem:
        """Return the problem: its conventions are those of all steps."""
        return problem


@dataclass(frozen=True, eq=False)
class Training:
    """The result of training.

    examples: the problems of the batch, with the matrices at the start.
    rule: the optimizer.
    learned: the names of the matrices that change.
    watched: the watched quantities of the first example.
    values: loss, norm of the gradient and watched quantities before each step and after the last.
    trained: the first problem with its new matrices.
    solutions, means, updates: the first example before the first two steps, the means over a batch,
        and what these steps compute.
    """

    examples: tuple[Problem, ...]
    rule: Optimizer
    learned: tuple[str, ...]
    watched: tuple[Watched, ...]
    values: Matrix
    trained: Problem
    solutions: tuple[Solution, ...]
    means: tuple[tuple[Update, ...], ...]
    updates: tuple[tuple[Update, ...], ...]

    @property
    def targets(self) -> int:
        """The number of target classes in all examples; 0 if a loss is not a cross-entropy."""
        if any(each.target_ids is None for each in self.examples):
            return 0
        return sum(len(each.target_ids or ()) for each in self.examples)

    @cached_property
    def perplexities(self) -> Matrix | None:
        """The perplexity at each step, e to the mean cross-entropy of a target."""
        if not self.targets:
            return None
        sums = self.values[:, 0] * len(self.examples)
        return np.array([exp(min(each / self.targets, 700.0)) for each in sums])

    @cached_property
    def curve(self) -> Variation:
        """The same as a study of the number of steps."""
        columns = [self.values[:, 0], *self.values[:, 1:].T]
        names = [Watched("loss", _never), Watched("gradient norm", _never), *self.watched]
        if self.perplexities is not None:
            columns.insert(1, self.perplexities)
            names.insert(1, Watched("perplexity", _never))
        points = tuple((Fraction(step),) for step in range(len(self.values)))
        text = f"{self.rule.name}, rate {float(self.rule.rate):g}"
        steps = tuple(step for (step,) in points)
        change = _Steps(text, "step", "step", "set", steps)
        values, places = np.stack(columns, axis=-1), self.decimals
        digits = tuple(tuple(fixed(x, places) for x in round_floats(row, places)) for row in values)
        return Variation(self.examples[0], (change,), tuple(names), points, values, digits)

    @property
    def decimals(self) -> int:
        """The decimals of its table."""
        return max(LEAST_DECIMALS, self.examples[0].decimals)


def _never(family: Mapping[str, Matrix]) -> Matrix:
    raise NotImplementedError  # recorded while training


def ready(problem: Problem) -> Problem:
    """Return a problem with its gradients, to be trained. Raises InputError if it has no target."""
    if not problem.those_given("target", "target_ids"):
        raise InputError(
            "train needs a target: give target (L = 1/2 Σ (output - target)²), or target_ids for "
            "the classes of a head (cross-entropy)"
        )
    return replace(problem, backward=True, step=None)


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # infinities and nan are refused
def train(
    problems: Sequence[Problem],
    watched: Sequence[Watched],
    rule: Optimizer,
    *,
    steps: int = 20,
    report: Report | None = None,
    agreed: bool = False,
) -> Training:
    """Repeat forward, loss, backward and step.

    Raises InputError if there are no matrices to train, examples do not match, or the loss
    diverges.

    problems: the examples, each as `ready` returns it. The matrices of the first are trained.
    watched: the quantities of the first example recorded at each step.
    rule: the optimizer.
    report: called with the number of finished steps, and of all.
    agreed: whether to run even if it takes very long.
    """
    if not 1 <= steps <= MOST_STEPS:
        raise InputError(f"steps {steps}: the number of steps is from 1 to {MOST_STEPS:,}")
    first = problems[0]
    check_count(first, (steps + 1) * len(problems), OF_PROBLEM, agreed=agreed)
    made = {step.name for step in first.calculation.steps}
    own = first.more or ()
    learned = tuple(
        name
        for name in first.given
        if gradient_name(name) in made and (role_of(name) in LEARNED or name in own)
    )
    if not learned:
        raise InputError("there are no weights or biases to train")
    weights = {name: np.asarray(first.stored(name), np.float64) for name in learned}
    examples = tuple(_with(each, weights) for each in problems)
    rounds = first.rounding == EACH_STEP
    descent = _Descent(
        rule, lambda matrix: round_floats(matrix, first.decimals) if rounds else matrix
    )
    rows, solutions, means, updates = [], [], [], []
    for step in range(steps + 1):
        found = _solved_at(step, examples, weights)
        mean = {each.name: each for each in _means(found, weights, descent.after)}
        gradients = {gradient_name(name): mean[gradient_name(name)].value for name in learned}
        row = _measured(found[0], step, {LOSS: mean[LOSS].value, **gradients}, tuple(watched))
        rows.append(row)
        if step < steps:
            changes = tuple(descent.updates(weights, gradients, np.array([[row[1]]])))
            if step < WRITTEN_OUT:
                solutions.append(found[0])
                means.append(tuple(mean.values()) if len(found) > 1 else ())
                updates.append(changes)
            new = {each.name: each.value for each in changes}
            weights = {name: new[f"{name}_new"] for name in learned}
        if report:
            report(step + 1, steps + 1)
    kept = tuple(solutions), tuple(means), tuple(updates)
    result = tuple(watched), np.array(rows), _with(first, weights)
    return Training(examples, rule, learned, *result, *kept)


def _solved_at(
    step: int, examples: Sequence[Problem], weights: Mapping[str, Matrix]
) -> list[Solution]:
    try:
        return [solve(_with(each, weights)) for each in examples]
    except InputError as error:
        if not step:
            raise
        raise _diverged(step, str(error)) from None


def _means(
    found: Sequence[Solution], weights: Mapping[str, Matrix], after: Callable[[Matrix], Matrix]
) -> Iterator[Update]:
    """Yield the loss and the gradients of trained matrices: of a batch, their means."""
    read = Solution.precise if found[0].problem.rounding == EACH_STEP else Solution.__getitem__
    mean = Statement.of("BatchMean", len(found))
    what = Stated(mean._replace(settings={"count": Fraction(len(found))}))
    shapes = {LOSS: (1, 1), **{gradient_name(name): W.shape for name, W in weights.items()}}
    for name, shape in shapes.items():
        each_own = tuple(np.asarray(read(each, name)).reshape(shape) for each in found)
        value = each_own[0] if len(found) == 1 else after(what.apply(*each_own))
        yield Update(name, what, (name,) * len(found), each_own, value)


def _measured(
    first: Solution, step: int, means: Mapping[str, Matrix], watched: tuple[Watched, ...]
) -> list[float]:
    loss, *gradients = means.values()
    flat = np.concatenate([each.ravel() for each in gradients])[np.newaxis]
    found = [float(loss[0, 0]), float(_stated("Norm").apply(flat)[0, 0])]
    if not np.isfinite(found).all():
        raise _diverged(step, "the loss or its gradient is not finite")
    family = of_solution(first, exactly=first.problem.rounding == EACH_STEP)
    own = {name: each.reshape(family[name].shape) for name, each in means.items()}
    return [*found, *watched_values(watched, family | own, 1)[0]]


def _diverged(step: int, reason: str) -> InputError:
    return InputError(f"training diverges at step {step}: {reason} (use a smaller rate)")


def _with(problem: Problem, weights: Mapping[str, Matrix]) -> Problem:
    for name, matrix in weights.items():
        if name not in problem.names or problem.stored(name).shape != matrix.shape:
            raise InputError(
                f"the examples must have the same matrices, and one has another {name}: give all "
                "of them weights of the same names and shapes"
            )
    return problem.with_fields({name: problem.as_listed(name, W) for name, W in weights.items()})
