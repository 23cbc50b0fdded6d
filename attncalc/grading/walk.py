"""Marks an answer step by step: by the key, then by the answer's own values.

Two subclasses compare entries with the key and find causes: `digits` for answers of people,
`compare` for the numbers of programs.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import combinations, product
from typing import ClassVar, NamedTuple

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.types import Matrix, Range
from attncalc.equations.operations.normalising import Softmax
from attncalc.grading.arranging import (
    arranged,
    in_own_shape,
    other_size,
    turned,
    with_masked,
    with_plain_whole_numbers,
)
from attncalc.grading.causes import recipes_that_fit
from attncalc.grading.credit import is_shown
from attncalc.grading.key import Key
from attncalc.grading.known import Known
from attncalc.grading.marks import StepMarks, are
from attncalc.grading.recipes import Recipe
from attncalc.grading.rules import NUMBER_OF, Cause, Rules, Status
from attncalc.grading.slack import Slack, stands_for_minus_infinity
from attncalc.problem.step import Step
from attncalc.reading.answers.answer import Answer, WrittenMatrix

FORCED = "weights-turned"
"""A change that a matrix of a wrong shape enforces, such as Aᵀ V after K Qᵀ: not a new mistake."""
FAR = 0.025
"""The largest difference of a weight that rounding within a step can explain."""
LARGEST_SCORE = 30.0
"""The largest score for which rounding its power can be visible."""
PAIRED = 6
"""The most common roundings of one step, which are combined with those of another step."""
PLAINEST = 2
"""The number of roundings that are tried before adjusted sums, since a sum is often 1 by chance."""
MANY = 5
"""The number of entries from which one may be wrong, and the others still show the rounding."""
ADJUSTED = "weights-adjusted"


class Walk:
    """Marks an answer step by step, and stores the values that later steps use."""

    follows_key: ClassVar[Status]
    """The status of an entry that follows without a mistake, and differs from the key."""

    def __init__(self, key: Key, answer: Answer, rules: Rules, slack: Slack) -> None:
        self.key = key
        self.answer = answer
        self.rules = rules
        self.slack = slack
        self.own = Known(key, slack)
        self.tainted: dict[str, Matrix] = {}
        self.charged: set[str] = set()

    def beside_key(self, name: str, written: WrittenMatrix) -> tuple[Matrix, Matrix]:
        """Return the status of each entry by the key, `WRONG` if it does not decide.

        Also return where a number with too few decimals is the right one rounded. It may still be
        right to the digit, as 0.2 is if 0.20 follows.
        """
        raise NotImplementedError

    def is_near_key(self, name: str, written: WrittenMatrix) -> Matrix | bool:
        """Return where the key can give a number, for any rounding of earlier values."""
        return False

    def causes(
        self, known: Known, step: Step, written: WrittenMatrix, wrong: Matrix | None = None
    ) -> tuple[Cause, ...]:
        """Return the causes of the wrong entries; of the entire matrix, if its shape is wrong."""
        raise NotImplementedError

    def marks(self) -> tuple[StepMarks, ...]:
        """Mark all steps that are written or asked for, in the order of the plan."""
        wanted = {*self.answer.matrices, *(self.rules.asked or ())}
        steps = (step for name, step in self.key.steps.items() if name in wanted)
        return tuple(self._charged(self._marks(step)) for step in steps)

    def _marks(self, step: Step) -> StepMarks:
        """Mark one step, and store its values for later ones."""
        shown = self.key.shown[step.name]
        given = self.answer.matrices.get(step.name)
        if given is None:
            nowhere = np.full(shown.shape, NUMBER_OF[Status.NOT_FOUND], dtype=np.int8)
            return StepMarks(step, None, nowhere, shown)
        given, problem = with_masked(self.key, step, given, self._following), ""
        for known in self._grounds(step):
            written, problem = arranged(self.key, known.shape_of(step), given)
            if written is not None:
                written = with_plain_whole_numbers(written, self.key.problem.decimals)
                marks = self._compared(known, step, written)
                if is_shown(self.answer, step.name):
                    self._keep(known, step, written, marks)
                return marks
        codes = np.full(shown.shape, NUMBER_OF[Status.WRONG_SHAPE])
        written = in_own_shape(self.key, step, given)
        read = turned(self.key, given) if written is None else written
        found = self._causes(self._grounds(step)[0], step, read)
        if written is None:
            self.own.unusable.add(step.name)
        else:
            self._keep_other_shape(step.name, written, written.values)
        return StepMarks(step, given, codes, shown, found, problem=problem)

    def _grounds(self, step: Step) -> list[Known]:
        """Return the values to base a step on: own values of any shape, then the key's."""
        return [each for each in self.own.grounds() if each.shape_of(step)]

    def _causes(
        self, known: Known, step: Step, written: WrittenMatrix, wrong: Matrix | None = None
    ) -> tuple[Cause, ...]:
        """Return the causes of a step: first by own values, even if the plan cannot use them."""
        recipes = () if known is self.own else tuple(recipes_that_fit(self.own, step, written))
        return recipes or self.causes(known, step, written, wrong)

    def _compared(self, known: Known, step: Step, written: WrittenMatrix) -> StepMarks:
        """Mark entries: by the key first, if the shape is the same, then by own values."""
        is_mistaken = known.misshapen or any(each.any() for each in self.tainted.values())
        is_of_key = written.shape == self.key.shown[step.name].shape
        clean = known.mended(self.tainted) if is_mistaken and is_of_key else known
        if step.rows_of and is_of_key:
            known = self._with_own_rows(known, step, written)
        differs = self._differs(step, known, clean, written)
        codes = self._codes(step, written, known, clean, differs)
        if written.texts is not None:  # in a program's array NaN is wrong
            codes[np.isnan(written.values)] = NUMBER_OF[Status.BLANK]
        for place in written.faults:
            codes[place] = NUMBER_OF[Status.UNREADABLE]
        wrong = codes == NUMBER_OF[Status.WRONG]
        rounds = self.slack.rules and wrong.any()  # programs do not round
        way = accepted(known, step, written, wrong) if rounds else None
        if way is not None:
            rounded = way.near & (wrong | (codes == NUMBER_OF[Status.PRECISION]))
            codes[rounded] = NUMBER_OF[Status.ROUNDING]
            codes[rounded & differs] = NUMBER_OF[Status.FOLLOWS]
            wrong = wrong & ~way.near
        found = self._causes(known, step, written, wrong) if wrong.any() else ()
        expected = self._expected(step, known, clean, written.shape)
        problem = other_size(self.key, step, written.shape)
        said = None if way is None else way.way
        return StepMarks(
            step,
            written,
            codes,
            expected,
            found,
            problem=problem,
            from_mistakes=differs,
            way=said,
            misread=known.misread(step),
        )

    def _with_own_rows(self, known: Known, step: Step, written: WrittenMatrix) -> Known:
        """Return the values to base a recurrence on: its earlier rows as written.

        Rows of steps that it is computed with are read from the answer: they may come later.
        """
        points: dict[str, Matrix] = {}
        ranges: dict[str, Range] = {}
        for name in step.rows_of:
            shown, given = self.key.shown[name], self.answer.matrices.get(name)
            if name == step.name:
                rows: WrittenMatrix | None = written
            elif given is None or name in known.points or not is_shown(self.answer, name):
                continue
            else:
                rows, _ = arranged(self.key, shown.shape, given)
            if rows is None:
                continue
            answered = ~np.isnan(rows.values)
            points[name] = np.where(answered, rows.values, shown)
            decimals = np.maximum(rows.decimals, self.key.problem.decimals)
            behind = self.slack.behind(points[name], decimals)
            ranges[name] = behind.replaced(~answered, self.key.ranges[name])
        return known.with_matrices(points, ranges)

    def _codes(
        self, step: Step, written: WrittenMatrix, known: Known, clean: Known, differs: Matrix
    ) -> Matrix:
        """Return the status of each entry, for any effect of own mistakes.

        known, clean: the values to base the step on; the same with the mistakes of the answer
            corrected.
        differs: where the answer's own values give another result than the corrected ones.
        """
        is_of_key = written.shape == self.key.shown[step.name].shape
        judge = self.beside_key if is_of_key else _beside_nothing
        codes, is_coarse = judge(step.name, written)
        open_ = codes == NUMBER_OF[Status.WRONG]
        if open_.any() or clean is not known:
            fine = np.maximum(written.decimals, self.key.problem.decimals)
            fits = fits_clean = self._fits(clean, step, written.values, fine)
            if clean is not known:
                fits = self._fits(known, step, written.values, fine)
            fits_coarsely = fits
            if (written.decimals < fine).any():
                fits_coarsely = self._fits(known, step, written.values, written.decimals)
            codes[open_ & fits_clean] = NUMBER_OF[self.follows_key]
            codes[open_ & fits & (differs | ~fits_clean)] = NUMBER_OF[Status.FOLLOWS]
            if clean is not known:
                codes[~open_ & ~fits_coarsely] = NUMBER_OF[Status.MATCHES_KEY]
            is_coarse = is_coarse | fits_coarsely
        still = codes == NUMBER_OF[Status.WRONG]
        if still.any():
            still &= is_of_key and self.is_near_key(step.name, written)
            codes[still & differs] = NUMBER_OF[Status.MATCHES_KEY]
            codes[still & ~differs] = NUMBER_OF[Status.ROUNDING]
            codes[(codes == NUMBER_OF[Status.WRONG]) & is_coarse] = NUMBER_OF[Status.PRECISION]
        return codes

    def _fits(self, known: Known, step: Step, values: Matrix, decimals: Matrix) -> Matrix:
        """Return which numbers follow from the known values, for any rounding of steps between."""
        results = (known.result(step, rule) for rule in known.rules(step))
        near = [self.slack.near(values, decimals, result) for result in results]
        return np.asarray(np.logical_or.reduce(near))

    def _differs(self, step: Step, known: Known, clean: Known, written: WrittenMatrix) -> Matrix:
        if clean is known:
            is_other = written.shape != self.key.shown[step.name].shape
            return np.full(written.shape, is_other)
        own, right = known.result(step, None), clean.result(step, None)
        low = _are_unequal(own.low, right.low)
        if own.is_point and right.is_point:
            return low
        return low | _are_unequal(own.high, right.high)

    def _following(self, step: Step) -> Matrix:
        known = self.own.mended({}) if self.own.misshapen else self.own
        clean = known.mended(self.tainted) if self.tainted else known
        return self._expected(step, known, clean, self.key.shown[step.name].shape)

    def _expected(self, step: Step, known: Known, clean: Known, shape: tuple[int, ...]) -> Matrix:
        """Return the right value of each entry: the key's, or the one from own mistakes."""
        shown, rule = self.key.shown[step.name], next(iter(self.slack.rules), None)
        if shape != shown.shape:
            return self.slack.written(known.result(step, rule).low)
        if clean is known:
            return shown
        own, right = (each.result(step, rule).low for each in (known, clean))
        handed_in = self.slack.written(own)
        return np.where(_are_unequal(own, right) & ~np.isnan(handed_in), handed_in, shown)

    def _keep(self, known: Known, step: Step, written: WrittenMatrix, marks: StepMarks) -> None:
        """Store the values of a step for later ones; computed values if it was not answered."""
        key, name = self.key, step.name
        shown, decimals = key.shown[name], written.decimals
        if written.shape != shown.shape:
            self._keep_other_shape(name, written, marks.expected)
            return
        answered = ~np.isnan(written.values)
        coarse = marks.statuses == NUMBER_OF[Status.PRECISION]
        decimals = np.where(coarse, decimals, np.maximum(decimals, key.problem.decimals))
        points = np.where(answered, written.values, marks.expected)
        points = np.where(stands_for_minus_infinity(points, shown), -np.inf, points)
        behind = self.slack.behind(points, decimals)
        if not answered.all():
            followed = known.result(step, None)
            behind = behind.replaced(~answered & (points != shown), followed)
            behind = behind.replaced(~answered & (points == shown), key.ranges[name])
        if not behind.is_point:
            may_be_exact = key.is_shown_exactly[name] & (points == shown)
            exactly = np.isinf(points) | (may_be_exact & ~marks.from_mistakes)
            behind = behind.replaced(exactly, Range.at(points))
        self.own.keep(name, points, behind)
        if marks.count(Status.WRONG, Status.PRECISION, Status.MATCHES_KEY):
            self.own.doubtful.add(name)
        is_own = are(marks.statuses, Status.WRONG, Status.FOLLOWS)
        self.tainted[name] = is_own | marks.from_mistakes

    def _keep_other_shape(self, name: str, written: WrittenMatrix, expected: Matrix) -> None:
        """Store a matrix of another shape than the key's; computed values replace blanks."""
        points = np.where(np.isnan(written.values), expected, written.values)
        points = np.where(stands_for_minus_infinity(points, expected), -np.inf, points)
        decimals = np.maximum(written.decimals, self.key.problem.decimals)
        self.own.keep(name, points, self.slack.behind(points, decimals))
        self.own.misshapen.add(name)
        self.own.doubtful.add(name)

    def _charged(self, marks: StepMarks) -> StepMarks:
        """Deduct points for a cause once: the same mistake again costs nothing more."""
        if marks.cause is None:
            return marks
        is_forced = marks.cause.family == FORCED and not self.own.shape_of(marks.step)
        is_repeated = is_forced or marks.cause.family in self.charged
        self.charged.add(marks.cause.family)
        return replace(marks, is_repeated=is_repeated)


def _beside_nothing(name: str, written: WrittenMatrix) -> tuple[Matrix, Matrix]:
    """Return no mark for any entry: a key of another shape has no counterparts."""
    return np.full(written.shape, NUMBER_OF[Status.WRONG]), np.zeros(written.shape, dtype=bool)


def _are_unequal(left: Matrix, right: Matrix) -> Matrix:
    return np.asarray(~((left == right) | (np.isnan(left) & np.isnan(right))))


class Accepted(NamedTuple):
    """The entries that a rounding explains; `way` describes it as a clause."""

    way: Cause
    near: Matrix


def accepted(known: Known, step: Step, written: WrittenMatrix, wrong: Matrix) -> Accepted | None:
    """Return the first rounding within a step that gives every entry, or None.

    step, written: the step, and its matrix in the answer, in the layout of the plan.
    wrong: the entries that nothing else explains.
    """
    if _is_far(known, step, written, wrong):
        return None
    nearly: Accepted | None = None
    for found in _ways(known, step, written):
        misses = int((~found.near & ~np.isnan(written.values)).sum())
        if not misses:
            return found
        explained = int((found.near & wrong).sum())
        if nearly is None and misses == 1 and explained > 1 and written.values.size >= MANY:
            nearly = found
    return nearly


def _is_far(known: Known, step: Step, written: WrittenMatrix, wrong: Matrix) -> bool:
    """Return whether more than one entry differs by more than rounding within a step can."""
    right = known.result(step, None)
    if right.low.shape != written.shape:
        return True
    unit = 10.0**-known.key.problem.decimals
    room: Matrix | float = FAR + unit
    if step.role != "weights":
        finite = np.abs(right.low[np.isfinite(right.low)])
        room = 2 * room * max(1.0, float(finite.max(initial=0.0)))
    elif isinstance(step.operation, Softmax):  # small powers lose most of their digits
        scores = known.read(step.inputs[0], None).low
        total = np.exp(np.minimum(scores, LARGEST_SCORE)).sum(axis=-1, keepdims=True)
        room = room + unit * (scores.shape[-1] + 1) / np.maximum(total, unit)
    with np.errstate(invalid="ignore"):
        far = (written.values < right.low - room) | (written.values > right.high + room)
    return int((far & wrong).sum()) > (1 if wrong.sum() > 2 else 0)


def _ways(known: Known, step: Step, written: WrittenMatrix) -> Iterator[Accepted]:
    """Yield the entries for each rounding: in the step, and in steps that are left out."""
    fine = np.maximum(written.decimals, known.key.problem.decimals)
    for number, recipes in enumerate(_recipes(known, step)):
        if number == PLAINEST and step.role == "weights":
            yield _adjusted(known, step, written)
        near = np.zeros(written.shape, dtype=bool)
        for rule in known.rules(step):
            with suppress(ValueError, InputError), np.errstate(all="ignore"):
                made = known.result(step, rule, *recipes)
                if made.low.shape == written.shape:
                    near |= known.slack.as_written().near(written.values, fine, made)
        codes = "+".join(each.code for each in recipes)
        says = ", and ".join(each.says for each in recipes)
        yield Accepted(Cause(codes, says, recipes[-1].step), near)


def _recipes(known: Known, step: Step) -> Iterator[tuple[Recipe, ...]]:
    """Yield single roundings, then the most common pairs for two steps."""
    names = dict.fromkeys(each.name for each in (*known.missing(step), step))
    ways = [known.key.roundings[name] for name in names if known.key.roundings[name]]
    for each in ways:
        yield from ((recipe,) for recipe in each)
    for first, second in combinations(ways, 2):
        yield from product(first[:PAIRED], second[:PAIRED])


def _adjusted(known: Known, step: Step, written: WrittenMatrix) -> Accepted:
    """Return the rows of weights that were adjusted by a last place so that they sum to 1."""
    unit = 10.0**-known.key.problem.decimals
    values = written.values
    sums_to_1 = np.abs(values.sum(axis=-1, keepdims=True) - 1) < unit / 10
    lows, highs = zip(*(known.result(step, rule) for rule in known.rules(step)), strict=True)
    right = Range(np.minimum.reduce(lows), np.maximum.reduce(highs))
    one_off = (values > right.low - 1.001 * unit) & (values < right.high + 1.001 * unit)
    fits = known.slack.as_written().near(values, written.decimals, right)
    # the difference may also have been added to one entry, such as the largest
    rest = (~one_off).sum(axis=-1, keepdims=True) <= 1
    room = unit * (values.shape[-1] / 2 + 1)
    on_one = rest & (values > right.low - room) & (values < right.high + room)
    near = fits | (sums_to_1 & (one_off | on_one))
    return Accepted(Cause(ADJUSTED, "each row is made to sum to 1 after rounding", step.name), near)
