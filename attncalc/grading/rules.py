"""The status of an entry, possible causes, and the rules for points."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple


class Status(Enum):
    """The status of one entry; the value is its code in JSON."""

    CORRECT = "correct"
    ROUNDING = "rounding"
    FOLLOWS = "follows"
    MATCHES_KEY = "matches-key"
    PRECISION = "precision"
    WRONG = "wrong"
    NOT_FOUND = "not-found"
    BLANK = "blank"
    UNREADABLE = "unreadable"
    WRONG_SHAPE = "wrong-shape"

    @property
    def is_right(self) -> bool:
        """Whether the entry is right."""
        return self in (Status.CORRECT, Status.ROUNDING)


STATUSES = tuple(Status)
NUMBER_OF = {status: number for number, status in enumerate(STATUSES)}
"""The number of a status in arrays."""
CONCEPTUAL, COPYING = "conceptual", "copying"
"""Kinds of causes: another way to do a step, and right numbers misplaced or misread."""


OF_COPYING = (
    *("miscopied", "rows-swapped", "columns-swapped", "row-repeated", "column-repeated"),
    *("rows-permuted", "columns-permuted", "tokens-permuted"),
    *("entries-swapped", "transposed", "negated", "weights-signless", "heads-order"),
)
"""The start of the codes of copying mistakes: lines, signs, heads in other places."""
ANY_SLIP = "slip"


class Cause(NamedTuple):
    """A possible mistake in a step.

    code: its name in JSON.
    says: the mistake, as a clause.
    step: the step with the mistake: this one, or one left out before it.
    is_slip: whether it concerns one entry, and not the entire step.
    """

    code: str
    says: str
    step: str
    is_slip: bool = False

    @property
    def family(self) -> str:
        """Its code without numbers and names: W_K for W_Q, and W_Q for W_K, are one confusion."""
        return self.code.split(":")[0]

    @property
    def kind(self) -> str:
        """Its kind: "conceptual", "copying", or "slip"."""
        if self.is_slip:
            return ANY_SLIP
        return COPYING if self.code.startswith(OF_COPYING) else CONCEPTUAL


@dataclass(frozen=True)
class Rules:
    """The rules of marking: a rubric.

    follow_penalty, rounding_penalty, precision_penalty: the deduction for an entry that follows
        from an earlier mistake, that differs from the key only by rounding, or that is right with
        too few decimals; from 0 to 1.
    weights: the weights of steps, and of "connections" for the map, if not 1.
    asked: the steps that are asked for, and "connections" for the map; None for those of the
        problem, or all steps if it names none.
    may_skip: whether an asked step may be left out if a later one is written, as it may by default.
    require: the steps that must be shown even if a later one is written, and "connections" for the
        map.
    points: the points of a flawless answer; None for the sum of the weights of its steps.
    deductions: the deduction for a step with a cause, as a share of it and instead of its wrong
        entries: by the code of the cause, or by its kind, "conceptual" or "copying".
    hint_costs: the share of a step's points that a hint of each level costs.
    hints: the levels of the hints that an answer took, by their steps.
    atol, rtol: for programs: the absolute and the relative tolerance. None for answers written to
        the problem's decimals.
    """

    follow_penalty: Fraction = Fraction(0)
    rounding_penalty: Fraction = Fraction(0)
    precision_penalty: Fraction = Fraction(1, 2)
    weights: Mapping[str, Fraction] = field(default_factory=dict)
    asked: tuple[str, ...] | None = None
    may_skip: bool = False
    require: tuple[str, ...] = ()
    points: Fraction | None = None
    deductions: Mapping[str, Fraction] = field(default_factory=lambda: {CONCEPTUAL: Fraction(1)})
    hint_costs: Mapping[str, Fraction] = field(
        default_factory=lambda: {"1": Fraction(0), "2": Fraction(1, 4), "3": Fraction(1, 2)}
    )
    hints: Mapping[str, int] = field(default_factory=dict)
    atol: float | None = None
    rtol: float | None = None

    @property
    def in_tolerance(self) -> bool:
        """Whether numbers are compared within a tolerance, and not digit by digit."""
        return self.atol is not None or self.rtol is not None

    def credit(self, status: Status) -> Fraction:
        """Return the share that an entry earns."""
        return self._credits.get(status, Fraction(0))

    @cached_property
    def _credits(self) -> Mapping[Status, Fraction]:
        return {
            Status.CORRECT: Fraction(1),
            Status.ROUNDING: 1 - self.rounding_penalty,
            Status.FOLLOWS: 1 - self.follow_penalty,
            Status.MATCHES_KEY: Fraction(1),
            Status.PRECISION: 1 - self.precision_penalty,
        }

    def hint_cost(self, level: int) -> Fraction:
        """Return the share of a step's points that a hint costs."""
        return self.hint_costs.get(str(level), Fraction(0))

    def weight(self, name: str) -> Fraction:
        """Return the weight of a step or of the map."""
        return self.weights.get(name, Fraction(1))

    def deduction(self, causes: Sequence[Cause]) -> Fraction | None:
        """Return the deduction for the causes of a step; the smallest of several.

        None if its wrong entries are counted one by one.
        """
        names = ((each.code, each.family, each.kind) for each in causes)
        found = [
            next((self.deductions[n] for n in own if n in self.deductions), None) for own in names
        ]
        said = [each for each in found if each is not None]
        return min(said) if said and len(said) == len(found) else None
