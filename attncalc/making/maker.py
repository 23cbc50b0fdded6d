"""New problems: candidates are drawn and solved until one satisfies the conditions."""

import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from random import Random

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.types import Matrix
from attncalc.languages.catalogue import ENGLISH, catalogue
from attncalc.making.drawing import Shapes, draw, problem_of, shapes_of, stood, with_heads_anew
from attncalc.making.judging import (
    IN_FLOATS,
    LARGE,
    Judged,
    Rejected,
    at_sight,
    common_mistakes,
    judged,
    judged_by,
)
from attncalc.making.wishes import Wishes
from attncalc.problem.attention.declared import DISPLAY, EACH_STEP
from attncalc.problem.problem import Problem
from attncalc.solving.plan import plan
from attncalc.solving.solution import LONG, Solution, solve

MOST_TRIED = 1000
"""Number of candidates that are solved before the conditions count as impossible."""
MOST_SCORES = 150_000
"""Number of scores of all candidates that has the same effect, for large problems."""
MOST_REDRAWN = 50
"""Number of times that single heads of a candidate are redrawn, before all of it is."""
PER_SOLVED = 100
"""Candidates that are checked without solving, for each that is solved."""
MOST_AT_SIGHT = 1000
"""Candidates that are checked without solving, before one of them is solved."""
CALMER, CALMEST = 0.97, 0.2
"""How much less often large entries are drawn after a score that was too large, and how little;
of more than 100 scores the largest is large more often."""
SAME = 1e-9
"""The relative difference of numbers that only float errors explain."""
WORDS = (
    "the cat sat on a mat dogs run far she saw red birds fly home we like warm tea they sing old "
    "songs he reads long books rain falls all day you ask me why fish swim deep sun sets late"
)
"""More words than a problem by hand has tokens; further tokens get numbers."""


@dataclass(frozen=True)
class Made:
    """A new problem, and how it was found.

    tried: the number of candidates, including this one.
    rejected: the number of rejected candidates by reason, the most frequent first.
    waived: common mistakes that no problem of its kind can show.
    """

    problem: Problem
    tried: int
    rejected: Mapping[Rejected, int]
    waived: tuple[str, ...] = ()

    @property
    def report(self) -> str:
        """The numbers of candidates, as a sentence."""
        but = f"; {untold_as(self.waived)}" if self.waived else ""
        if self.tried == 1:
            return f"the first candidate has all requested properties{but}"
        return f"{self.tried:,} candidates were tried; rejected: {_counted(self.rejected)}{but}"


def untold_as(mistakes: Sequence[str]) -> str:
    """Return the note on mistakes that no problem of a kind can show.

    >>> untold_as(["scores transposed in S"])
    'no problem of these sizes and conventions distinguishes: scores transposed in S'
    """
    return f"no problem of these sizes and conventions distinguishes: {', '.join(mistakes)}"


def fresh_seed() -> int:
    """Return a random seed of 128 bits."""
    return secrets.randbits(128)


def make(wishes: Wishes, seed: int, made_by: str = "") -> Made:
    """Return the first problem drawn from a seed that satisfies the conditions.

    The same seed gives the same problem on every machine: Python guarantees the numbers of its
    generator, and the deciding digits are exact.

    Raises InputError if no candidate satisfies them; the message names the condition.
    """
    _refuse_one_number(wishes)
    shapes, random = shapes_of(wishes), Random(seed)
    rejected: Counter[Rejected] = Counter()
    solved = tried = 0
    calm, jury = 1.0, _Jury(wishes, made_by)
    most = max(10, min(MOST_TRIED, MOST_SCORES // wishes.scores))
    redrawn, last = 0, Judged()
    matrices = dict[str, Matrix]()
    while solved < most and tried < most * PER_SOLVED and (solved or tried < MOST_AT_SIGHT):
        tried += 1
        redrawn = redrawn + 1 if last.heads and redrawn < MOST_REDRAWN else 0
        if redrawn:
            matrices = with_heads_anew(wishes, matrices, last.heads, random, calm)
        else:
            matrices = draw(wishes, shapes, random, calm)
        last = Judged(at_sight(matrices))
        if last.rejected is None:
            solved += 1
            last = jury.judged(matrices)
        if last.rejected is None:
            return Made(jury.problem(matrices), tried, dict(rejected.most_common()), jury.waived)
        if last.rejected == LARGE and not redrawn:
            calm = max(calm * CALMER ** (1 + wishes.scores // 100), CALMEST)
        rejected[last.rejected] += 1
    raise InputError(_blamed(rejected, tried))


class _Jury:
    """Judges candidates: at a glance, and then exactly."""

    def __init__(self, wishes: Wishes, made_by: str) -> None:
        self.wishes, self.made_by = wishes, made_by
        self.glance: _Glance | None = None
        self.untold: Mapping[tuple[str, str], str] | None = None

    @property
    def waived(self) -> tuple[str, ...]:
        """The mistakes that no problem of this kind can show."""
        return tuple(f"{says} in {step}" for (step, _), says in (self.untold or {}).items())

    def problem(self, matrices: dict[str, Matrix]) -> Problem:
        """Return a candidate."""
        return problem_of(self.wishes, matrices, self.made_by)

    def judged(self, matrices: dict[str, Matrix]) -> Judged:
        """Return why a candidate is rejected, if it is."""
        if self.glance is not None:
            seen = self.glance.judged(matrices, self.wishes)
            if seen.rejected is not None:
                return seen
        problem = self.problem(matrices)
        if self.glance is None and problem.most_scores < LONG:
            self.glance = _Glance(problem, matrices)
        found = judged(problem, self.wishes)
        if self.untold is None and found.wish == "tell-apart":
            self.untold = _untold(self.wishes, shapes_of(self.wishes))
            self.wishes = replace(self.wishes, untold=self.untold)
            found = judged(problem, self.wishes)
        return found


class _Glance:
    """Judges candidates that differ from a problem only in the entries of the drawn matrices.

    Floats are enough to reject a candidate. Exact decimals must accept it.

    problem: an earlier candidate.
    matrices: its drawn matrices, upright.
    """

    def __init__(self, problem: Problem, matrices: Mapping[str, Matrix]) -> None:
        self.problem = problem
        self.places = {name: _places(problem, name, each.shape) for name, each in matrices.items()}

    def judged(self, matrices: Mapping[str, Matrix], wishes: Wishes) -> Judged:
        """Return why a candidate is certainly rejected, if it is."""
        drawn = {
            name: matrix.ravel().astype(self.problem.stored(name).dtype)[self.places[name]]
            for name, matrix in matrices.items()
        }
        given = {**self.problem.given, **drawn}
        found = judged_by(IN_FLOATS, lambda: _InFloats.of(self.problem, given, self), wishes)
        return found if found.wish != "entries" else Judged()

    @cached_property
    def other(self) -> Problem:
        """The same problem under the other rounding rule."""
        rule = DISPLAY if self.problem.rounding == EACH_STEP else EACH_STEP
        return replace(self.problem, rounding=rule)


def _places(problem: Problem, name: str, shape: tuple[int, ...]) -> Matrix:
    """Return the place of each entry of a given matrix, as steps read it, in the drawn one."""
    places = np.arange(int(np.prod(shape))).reshape(shape)
    drawn: Matrix = np.ravel(stood(problem.standing, name, places))[problem.places_of(name)]
    return drawn


@dataclass(frozen=True, eq=False, repr=False)
class _InFloats(Solution):
    """The solution of a candidate in floats, with the problem of another for all but numbers."""

    given: Mapping[str, Matrix] = field(default_factory=dict)
    glance: _Glance | None = None

    @classmethod
    def of(cls, problem: Problem, given: Mapping[str, Matrix], glance: _Glance) -> "_InFloats":
        return cls(problem, plan(problem), proves=False, given=given, glance=glance)

    @cached_property
    def other_rounding(self) -> "_InFloats":
        assert self.glance is not None
        return _InFloats.of(self.glance.other, self.given, self.glance)

    @cached_property
    def _digits(self) -> None:
        return None


def _untold(wishes: Wishes, shapes: Shapes) -> dict[tuple[str, str], str]:
    """Return the mistakes that no such problem can show: step and code, and their descriptions.

    One score is its own transpose. They are found if random numbers do not show them either.
    """
    random = Random(0)
    try:
        one, other = (_unseen(wishes, shapes, random) for _ in range(2))
    except InputError:  # random numbers may be impossible for such a problem
        return {}
    return {place: says for place, says in one.items() if place in other}


def _unseen(wishes: Wishes, shapes: Shapes, random: Random) -> dict[tuple[str, str], str]:
    """Return the mistakes that change nothing in one problem with random numbers."""
    matrices = {
        name: np.array([random.random() * 2 - 1 for _ in range(prod(shape))]).reshape(shape)
        for name, shape in shapes.items()
    }
    solution = solve(replace(problem_of(wishes, matrices, ""), rounding=DISPLAY))
    return {
        (each.step, each.code): each.says
        for each in common_mistakes(solution)
        if each.made is not None
        and each.made.shape == (right := np.asarray(solution.floats[each.step], dtype=float)).shape
        and np.allclose(each.made, right, SAME, SAME)
    }


def _refuse_one_number(wishes: Wishes) -> None:
    """Refuse conditions that no candidate can meet, before drawing any."""
    values = set(wishes.entries.values)
    if len(values) == 1 and values != {0}:  # of zeros, drawing raises the error
        raise InputError(
            f"entries: of {wishes.entries.text} all matrices are equal: allow more numbers"
        )


def _blamed(rejected: Counter[Rejected], tried: int) -> str:
    """Return the error if no candidate fits: the condition that rejected most of them."""
    worst, count = rejected.most_common(1)[0]
    return (
        f"no problem has the requested properties: of {tried:,} candidates {count:,} had "
        f"{worst.says}. Change --{worst.wish}, or the options that conflict with it "
        f"(rejected: {_counted(rejected)})"
    )


def _counted(rejected: Mapping[Rejected, int]) -> str:
    ordered = Counter(rejected).most_common()
    return ", ".join(f"{count:,} × {reason.says}" for reason, count in ordered)


def with_words(wishes: Wishes, seed: int) -> Wishes:
    """Return the conditions with names for tokens, from the list of words."""
    count = wishes.tokens
    if wishes.kind in ("cross", "decoder"):
        count += wishes.keys or wishes.tokens
    start = int(Random(f"words {seed}").random() * 1000)
    return replace(wishes, labels=words(count, start, wishes.settings.get("language", ENGLISH)))


def words(count: int, start: int, language: str = ENGLISH) -> tuple[str, ...]:
    """Return so many words from the list in a language, beginning at `start`.

    >>> words(3, 0)
    ('the', 'cat', 'sat')
    """
    listed = catalogue(language).say(WORDS).split()
    known = len(listed)
    return tuple(
        listed[(start + place) % known] + (f" {place // known + 1}" if place >= known else "")
        for place in range(count)
    )
