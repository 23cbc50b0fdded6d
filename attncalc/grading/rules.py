"""What an entry can be, and how much of it counts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction


class Status(Enum):
    """What is said of one entry; the value is its code in JSON."""

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
        """Whether nothing is to be said against it."""
        return self in (Status.CORRECT, Status.ROUNDING)


STATUSES = tuple(Status)
NUMBER_OF = {status: number for number, status in enumerate(STATUSES)}
"""How arrays hold a status."""


@dataclass(frozen=True)
class Rules:
    """How an answer is marked.

    Parameters
    ----------
    follow_penalty, rounding_penalty, precision_penalty
        What an entry loses that follows from an earlier mistake, that differs from the key by
        rounding alone, or that is right with too few decimals; from 0 to 1.
    weights
        What steps count, where not 1.
    asked
        The steps that are asked for, and "connections" for the map; None for what the problem
        says, as `attncalc.grading.asked` has it.
    same_for_all
        Whether every answer is asked for the same where neither these rules nor the problem say
        for what: for every step, and for no map. A step that one may go past, as S_scaled, then
        earns what the next one does.
    atol, rtol
        For programs: how far a number may be off, absolute and relative to the right one. None
        for answers that are written to the problem's decimals.
    """

    follow_penalty: Fraction = Fraction(0)
    rounding_penalty: Fraction = Fraction(0)
    precision_penalty: Fraction = Fraction(1, 2)
    weights: Mapping[str, Fraction] = field(default_factory=dict)
    asked: tuple[str, ...] | None = None
    same_for_all: bool = False
    atol: float | None = None
    rtol: float | None = None

    @property
    def in_tolerance(self) -> bool:
        """Whether numbers are compared within a tolerance, and not digit by digit."""
        return self.atol is not None or self.rtol is not None

    def credit(self, status: Status) -> Fraction:
        """Return what an entry earns."""
        losses = {
            Status.CORRECT: Fraction(0),
            Status.ROUNDING: self.rounding_penalty,
            Status.FOLLOWS: self.follow_penalty,
            Status.MATCHES_KEY: Fraction(0),
            Status.PRECISION: self.precision_penalty,
        }
        return 1 - losses.get(status, Fraction(1))
