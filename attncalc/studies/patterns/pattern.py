"""Pattern: one fact about the weights of a solution; all codes, all thresholds, what is read."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_DOWN, Context, Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from attncalc.base.errors import InputError

if TYPE_CHECKING:  # schemas read the codes alone, without numpy
    from attncalc.problem.problem import Problem

NO_ATTENTION = "this problem has no attention, so there are no weights to explain"
CODES = (
    "identity",
    "permutation",
    "shift",
    "band",
    "blocks",
    "uniform",
    "one-hot",
    "sink",
    "equal-rows",
    "ties",
    "unattended",
    "none-own",
    "all-own",
    "heads-alike",
    "heads-differ",
    "spread",
    "margin",
    "masked",
    "scaling",
    "rounded-away",
)
"""What a pattern can be, most telling first."""

ALONE = 0.995
"""The share of an output's weight from which it takes an input alone."""
NEAR = 0.005
"""Rows whose weights differ by less, added up, are the same but for that."""
LITTLE, SHARE_OF_EQUAL = 0.005, 0.1
"""Below this weight nothing is attended to; of many inputs, below this part of an equal share."""
EVEN = 0.005
"""How far from their mean, relative to it, weights are alike."""
ONE_DIGIT = Context(prec=1, rounding=ROUND_DOWN)
MOST_ROWS = 20
"""Outputs, of all heads together, up to which each has a pattern of its own."""
MOST_LISTED = 100
"""Number of places, and of tied inputs, that are listed; of more, only the count is given."""


class Amount(NamedTuple):
    """A number, and the digits it is shown with."""

    value: float
    shown: str


@dataclass(frozen=True)
class Pattern:
    """A fact about the weights; `docs/patterns.md` describes each code and its values.

    Parameters
    ----------
    code
        One of `CODES`.
    about
        What it is about: the weights "A", "head 2", "output 3", "heads".
    values
        Its numbers, by name. Outputs, inputs and heads are counted from 1; every threshold that
        decided is among them.
    head
        Which head it is about, from 1; 0 for the only one, and for all of them.
    weights
        The step of the weights that it is a fact about.
    where
        Where these are among several attentions: "cross", "layer 2"; "" for the only ones.
    """

    code: str
    about: str
    values: Mapping[str, Any]
    head: int = 0
    weights: str = ""
    where: str = ""

    @property
    def plain(self) -> dict[str, Any]:
        """Its values as lists, texts and numbers alone, as JSON has them."""
        return {name: _plain(value) for name, value in self.values.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Amount):
        return value.value
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


def little(inputs: int) -> float:
    """Return the weight below which an output does not attend to an input, of so many.

    Of many inputs it is rounded down to one digit, so that a sentence can state it.

    Examples
    --------
    >>> little(3), little(700)
    (0.005, 0.0001)
    """
    share = ONE_DIGIT.create_decimal(Decimal(SHARE_OF_EQUAL / inputs))
    return min(LITTLE, float(share))


def needed_for_patterns(problem: "Problem") -> dict[str, None]:
    """Return the names of the steps that patterns read.

    Raises
    ------
    InputError
        If there is no attention.
    """
    if not problem.attentions:
        raise InputError(NO_ATTENTION)
    plan = problem.calculation.steps
    weights = ("masked", "weights")
    if not problem.is_alone:
        # what an attention in layers reads, and all of it that has no column for each key
        return {s.name: None for s in plan if s.columns != "keys" or s.role in weights}
    place = next(i for i, step in enumerate(plan) if step.role == "weights")
    after = plan[place + 1 :]
    read = {name for step in after for name in (step.name, *step.inputs)}
    return {step.name: None for step in plan if step.role in weights or step.name in read}
