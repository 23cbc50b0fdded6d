"""All layers of a model in one run: their steps, the logit lens, attention rollout, interventions.

nostalgebraist, *interpreting GPT: the logit lens* (2020); Abnar and Zuidema, *Quantifying
Attention Flow in Transformers* (2020).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.typed import quoted
from attncalc.base.types import Matrix
from attncalc.problem.fields import own_name
from attncalc.problem.problem import Problem
from attncalc.problem.step import Plan, Step, run
from attncalc.solving.choosing import by_name
from attncalc.solving.plan import plan
from attncalc.solving.solution import Solution

Layer = tuple[int, Solution]
Named = tuple[str, Matrix]
MOST_PROBABLE = 5


@dataclass(frozen=True, eq=False)
class Walk:
    """A model with its input: each iteration runs its layers once, one in memory at a time.

    title, remarks: the title and remarks of pages.
    ids, words: the tokens and their names; of an image or a spectrogram there are none.
    only: the names of the shown steps; None for all.
    run: returns an iterator over the number and the solution of each layer.
    model: what tells the model from others, and its input, stored beside its outputs.
    """

    title: str
    remarks: tuple[str, ...]
    ids: tuple[int, ...]
    words: tuple[str, ...]
    only: tuple[str, ...] | None
    run: Callable[[], Iterator[Layer]]
    model: tuple[bytes, bytes]

    @property
    def walk(self) -> "Walk":
        """Itself, as of every study of layers."""
        return self

    def arrays(self) -> Iterator[Named]:
        """Yield the shown steps of each layer."""
        for number, solution in self.run():
            for step in chosen(solution.problem, self.only):
                yield f"{number}.{step.name}", solution[step.name]


def chosen(problem: Problem, names: Iterable[str] | None) -> Plan:
    """Return the steps of these names, in the order of the plan; all for None.

    A layer may lack some: others of the model may have them.
    """
    steps = plan(problem)
    if names is None:
        return steps
    found = {step.name for name in names if (step := named(steps, name))}
    return tuple(step for step in steps if step.name in found)


def named(steps: Plan, name: str) -> Step | None:
    """Return the step of a name; None if there is none."""
    known = by_name(steps)
    return known.get(name.lower(), known.get(name))


def unknown_step(name: str, steps: Plan, which: str = "a layer") -> InputError:
    """Return the error about a step that no layer has, with the steps of one."""
    return InputError(f"no step {quoted(name)}: {which} has {', '.join(e.name for e in steps)}")


class Tail(NamedTuple):
    """The steps after the last layer: a normalization and the head.

    steps, given: the steps, and the matrices they read.
    reads: the name of the layer's outputs.
    """

    steps: Plan
    given: Mapping[str, Matrix]
    reads: str

    def apply(self, outputs: Matrix) -> tuple[Matrix, Matrix]:
        """Return the logits and the probabilities after outputs of any layer."""
        made = run(self.steps, {**self.given, self.reads: outputs})
        logits, prob = (made[step.name] for step in self.steps[-2:])
        return logits, prob


@dataclass(frozen=True, eq=False)
class Lens:
    """The logit lens: the head applied to the outputs of each layer.

    walk: the model with its input.
    at: the token, from 0, whose prediction is followed through the layers.
    best, shares: the ids of the most probable tokens after each layer and token, and their
        probabilities: (layers, tokens, 5).
    logits, prob: the logits and the probabilities at the followed token, (layers, vocabulary).
    names: the names of predicted tokens or classes, by id.
    """

    walk: Walk
    at: int
    numbers: tuple[int, ...]
    best: Matrix
    shares: Matrix
    logits: Matrix
    prob: Matrix
    names: Mapping[int, str]

    def arrays(self) -> Iterator[Named]:
        """Yield the arrays."""
        yield "layers", np.array(self.numbers)
        for name in ("best", "shares", "logits"):
            yield name, getattr(self, name)

    @property
    def final(self) -> int:
        """The prediction after the last layer."""
        return int(self.logits[-1].argmax())

    @property
    def ranks(self) -> list[int]:
        """The rank of that prediction after each layer, from 1."""
        final = self.logits[:, [self.final]]
        return [int(each) + 1 for each in (self.logits > final).sum(axis=1)]


def lens(
    walk: Walk,
    outputs: Iterable[tuple[int, Matrix]],
    tail: Callable[[], Tail],
    at: int,
    names: Callable[[list[int]], list[str]],
) -> Lens:
    """Return what the head predicts after each layer.

    walk, at: as in Lens.
    tail: returns the steps after the last layer; called after the first output.
    names: returns the names of predicted tokens or classes.
    """
    head: Tail | None = None
    rows = []
    for number, made in outputs:
        head = head or tail()
        logits, prob = head.apply(made)
        best = np.stack([*map(_best, prob)])
        row = min(at, len(logits) - 1)
        shares = np.take_along_axis(prob, best, 1)
        rows.append((number, best, shares, logits[row].copy(), prob[row].copy()))
    numbers, *stacked = zip(*rows, strict=True)
    best, shares, logits, prob = (np.stack(each) for each in stacked)
    ids = [int(each) for each in np.unique(best)]
    known = dict(zip(ids, names(ids), strict=True))
    return Lens(walk, at, numbers, best, shares, logits, prob, known)


def _best(shares: Matrix) -> Matrix:
    """Return the places of the largest shares; of equal ones, the first."""
    most = min(MOST_PROBABLE, len(shares))
    ids = np.flatnonzero(shares >= np.partition(shares, -most)[-most])  # few, to sort only these
    return ids[np.argsort(-shares[ids], kind="stable")[:most]]


@dataclass(frozen=True, eq=False)
class Rollout:
    """Attention rollout: how much each token after a layer comes from each input token.

    walk: the model with its input.
    matrices: the rollout after each layer, by its number, (n, n).
    """

    walk: Walk
    queries: tuple[str, ...]
    matrices: Mapping[int, Matrix]

    def arrays(self) -> Iterator[Named]:
        """Yield the rollout after each layer."""
        yield from ((f"{number}.rollout", each) for number, each in self.matrices.items())


def rollout(walk: Walk) -> Rollout:
    """Multiply the weights of all layers: (mean of the heads + identity) / 2, rows sum to 1."""
    made: dict[int, Matrix] = {}
    rolled: Matrix | None = None
    for number, solution in walk.run():
        step = solution.weights
        weights = None
        if step is not None and own_name(step.name) == "A":
            weights = solution.floats[step.name].astype(np.float64)
        if step is None or weights is None or (weights < 0).any():
            why = "has none" if weights is None else "has some below 0"
            raise InputError(
                f"attention rollout needs the weights A of every layer, from 0: layer {number} "
                f"{why}"
            )
        mean = weights.mean(axis=0) if weights.ndim == 3 else weights
        mixed = mean + np.eye(len(mean))
        mixed /= mixed.sum(axis=1, keepdims=True)
        rolled = mixed if rolled is None else mixed @ rolled
        made[number] = rolled
        queries = solution.row_labels(step)
    return Rollout(walk, queries, made)


class Pair(NamedTuple):
    """A layer without and with changes."""

    number: int
    clean: Solution
    changed: Solution


class Effect(NamedTuple):
    """Logits and probabilities at a token, without and with changes; the names of the likeliest."""

    clean: tuple[Matrix, Matrix]
    changed: tuple[Matrix, Matrix]
    names: Mapping[int, str]


@dataclass(frozen=True, eq=False)
class Comparison:
    """A model without and with changes of its steps.

    walk: the model with its input.
    at: the token, from 0, of the logits.
    run: returns an iterator over the layers from the first that is changed; with a head, the last
        is the effect on its logits.
    """

    walk: Walk
    said: tuple[str, ...]
    at: int
    run: Callable[[], Iterator[Pair | Effect]]

    def arrays(self) -> Iterator[Named]:
        """Yield the shown steps of each layer, without and with the changes."""
        for pair in self.run():
            if isinstance(pair, Effect):
                yield from (("clean.logits", pair.clean[0]), ("changed.logits", pair.changed[0]))
                continue
            for step in chosen(pair.clean.problem, self.walk.only):
                yield f"clean.{pair.number}.{step.name}", pair.clean[step.name]
                yield f"changed.{pair.number}.{step.name}", pair.changed[step.name]
