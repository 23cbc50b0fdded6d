"""Pattern: a fact about the weights of a solution; all codes, thresholds, and inputs."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_DOWN, Context, Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from attncalc.base.errors import InputError

if TYPE_CHECKING:  # schemas read only the codes, without numpy
    from attncalc.problem.problem import Problem

NO_ATTENTION = "this problem has no attention, so there are no weights to explain"
CODES = (
    *("convolution", "identity", "permutation", "shift", "band", "blocks", "uniform", "one-hot"),
    *("sink", "equal-rows", "ties", "unattended", "none-own", "all-own", "induction"),
    *("previous-token", "duplicate-token", "heads-alike", "heads-differ", "spread", "margin"),
    *("masked", "scaling", "equivariant", "order-matters", "rounded-away"),
)
"""The codes of patterns, the most informative first."""

ALONE = 0.995
"""The share of an output's weight from which it attends almost only to an input."""
NEAR = 0.005
"""The largest total difference of rows that are near."""
LITTLE, SHARE_OF_EQUAL = 0.005, 0.1
"""The smallest weight of an attended input; for many inputs, the share of an equal weight."""
EVEN = 0.005
"""The largest relative difference of uniform weights from their mean."""
ONE_DIGIT = Context(prec=1, rounding=ROUND_DOWN)
OFTEN = 0.4
"""The smallest mean weight of previous tokens, of duplicates, or of the tokens after these."""
MOST_ROWS = 20
"""The number of outputs, of all heads together, up to which each has its own patterns."""
MOST_LISTED = 100
"""Number of places, and of tied inputs, that are listed; of more, only the count is given."""


class Amount(NamedTuple):
    """A number, and its shown digits."""

    value: float
    shown: str


@dataclass(frozen=True)
class Pattern:
    """A fact about the weights; `docs/patterns.md` describes each code and its values.

    code: one of `CODES`.
    about: its subject: the weights "A", "head 2", "output 3", "heads".
    values: its numbers, by name. Outputs, inputs and heads are counted from 1; every applied
        threshold is among them.
    head: its head, from 1; 0 for the only one, and for all.
    weights: the step of its weights.
    where: the place of these among several attentions: "cross", "layer 2"; "" for the only ones.
    """

    code: str
    about: str
    values: Mapping[str, Any]
    head: int = 0
    weights: str = ""
    where: str = ""

    @property
    def plain(self) -> dict[str, Any]:
        """Its values as lists, texts and numbers, as in JSON."""
        return {name: _plain(value) for name, value in self.values.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Amount):
        return value.value
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


def little(inputs: int) -> float:
    """Return the weight below which an output does not attend to an input.

    For many inputs it is rounded down to one digit, so that a sentence can state it.

    >>> little(3), little(700)
    (0.005, 0.0001)
    """
    share = ONE_DIGIT.create_decimal(Decimal(SHARE_OF_EQUAL / inputs))
    return min(LITTLE, float(share))


def needed_for_patterns(problem: "Problem") -> dict[str, None]:
    """Return the names of the steps that patterns read."""
    if not problem.attentions:
        raise InputError(NO_ATTENTION)
    plan = problem.calculation.steps
    weights = ("masked", "weights")
    if not problem.is_alone:
        # the inputs of an attention in layers, and its steps without a column for each key
        return {s.name: None for s in plan if s.columns != "keys" or s.role in weights}
    place = next(i for i, step in enumerate(plan) if step.role == "weights")
    after = plan[place + 1 :]
    read = {name for step in after for name in (step.name, *step.inputs)}
    return {step.name: None for step in plan if step.role in weights or step.name in read}
