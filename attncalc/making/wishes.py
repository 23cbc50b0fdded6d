"""The conditions of a new problem: its sizes, its numbers, and properties of its solution."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

from attncalc.base.errors import InputError
from attncalc.problem.fields import read_setting
from attncalc.problem.problem import Problem

KINDS = ("self", "cross", "encoder", "decoder")
MOST_SIZE = 64
"""The largest number of tokens, keys, heads or features of a new problem."""


class Entries(NamedTuple):
    """The numbers that given matrices are drawn from.

    values: the values, equally likely.
    text: the values as typed.
    """

    values: tuple[Fraction, ...]
    text: str


DEFAULT_ENTRIES = Entries(tuple(map(Fraction, range(-2, 3))), "-2:2")


@dataclass(frozen=True)
class Wishes:
    """The conditions of a new problem.

    kind: "self", "cross", "encoder" or "decoder".
    tokens, keys: the number of query tokens, and of key tokens if these differ.
    d, d_keys, d_k, d_v, d_ff: features of a token, of one that is attended to, of a head's queries
        and keys, of its values, and between the two matrices of a feed-forward part. None for
        defaults from the others.
    also: additional given matrices: W_O, a bias, positions.
    settings: conventions by name, as in a file.
    labels: the names of the tokens, queries first; None for none.
    margin: the smallest distance of a value from the midpoint between two roundings, in units of
        the last digit: at two decimals, 0.01 of 0.01; None for any.
    same_digits: whether both rounding rules must give the same digits.
    ties: the number of outputs with tied largest weights; None for any.
    second_lines: the number of outputs with a second, dashed line; None for any.
    sharp: whether all weights may be 0 or 1.
    spread: the range of the effective number of inputs, e^H / n, of each row.
    largest_score: the largest absolute score.
    tell_apart: whether each common mistake must change a digit.
    negatives: the number of negative entries; None for any.
    mean_spread: like `spread`, for the mean of all rows.
    untold: common mistakes that no such problem can show, by step and code: they are ignored.
    like: the problem whose sibling is made: it determines sizes, conventions and names.
    """

    kind: str = "self"
    tokens: int = 3
    keys: int | None = None
    d: int = 4
    d_keys: int | None = None
    d_k: int = 2
    d_v: int | None = None
    d_ff: int | None = None
    also: tuple[str, ...] = ()
    entries: Entries = DEFAULT_ENTRIES
    settings: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""
    labels: tuple[str, ...] | None = None
    margin: Fraction | None = Fraction(1, 100)
    same_digits: bool = False
    ties: int | None = 0
    second_lines: int | None = None
    sharp: bool = False
    spread: tuple[Fraction, Fraction] | None = None
    largest_score: Fraction = Fraction(15)
    tell_apart: bool = True
    negatives: int | None = None
    mean_spread: tuple[Fraction, Fraction] | None = None
    untold: Collection[tuple[str, str]] = ()
    like: Problem | None = None

    def __post_init__(self) -> None:
        """Refuse impossible conditions."""
        if self.kind not in KINDS:
            raise InputError(f"kind takes {', '.join(KINDS[:-1])} or {KINDS[-1]}, not {self.kind}")
        if self.kind in ("self", "encoder") and self.keys is not None:
            raise InputError(f"keys: {self.kind} has one set of tokens: omit it")
        if self.like is None:
            self._check_sizes()
        self._check_counts()

    def _check_sizes(self) -> None:
        for name in ("tokens", "keys", "d", "d_keys", "d_k", "d_v", "d_ff"):
            size = getattr(self, name)
            if size is not None and not 1 <= size <= MOST_SIZE:
                raise InputError(f"{name} takes 1 to {MOST_SIZE}, not {size}")
        if self.heads > MOST_SIZE:
            raise InputError(f"heads takes 1 to {MOST_SIZE}, not {self.heads}")

    def _check_counts(self) -> None:
        if self.margin is not None and not 0 <= self.margin < Fraction(1, 2):
            raise InputError(
                "margin takes a fraction of the last digit from 0 to below 0.5, for example 0.01"
            )
        for name in ("ties", "second_lines"):
            count = getattr(self, name)
            if self.like is None and count is not None and not 0 <= count <= self.most_outputs:
                only = "" if self.most_outputs else ": there is one input to attend to"
                most = f"0 to {self.most_outputs}" if self.most_outputs else "0"
                raise InputError(f"{name} takes {most} outputs, not {count}{only}")
        for name in ("spread", "mean_spread"):
            ends = getattr(self, name)
            if ends is not None and not 0 <= ends[0] < ends[1]:
                raise InputError(f"{name} takes from:to between 0 and 1, as 0.3:0.8")
            if self.like is None and ends is not None and ends[1] < 1 and not self.most_outputs:
                raise InputError(f"{name}: there is one input to attend to, and e^H / n is 1")

    @cached_property
    def heads(self) -> int:
        """The number of query heads."""
        return int(read_setting("heads", self.settings.get("heads", 1)) or 1)

    @property
    def scores(self) -> int:
        """The number of scores of one attention, of all heads together."""
        return self.tokens * (self.keys or self.tokens) * self.heads

    @property
    def most_outputs(self) -> int:
        """The number of rows with several weights: an output of each head, of each attention."""
        keys = self.keys or self.tokens
        attended = {"cross": (keys,), "decoder": (self.tokens, keys)}.get(self.kind, (self.tokens,))
        return self.tokens * self.heads * sum(count > 1 for count in attended)
