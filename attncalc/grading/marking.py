"""Marking: each entry beside the key first, then beside what the script itself leads to."""

from dataclasses import replace

import numpy as np

from attncalc.grading.arranging import arranged, turned, with_plain_whole_numbers
from attncalc.grading.causes import causes_of
from attncalc.grading.key import RULES, Key, Style
from attncalc.grading.known import Known, with_mistakes_mended
from attncalc.grading.lines import LineMark, mark_lines
from attncalc.grading.marks import Marking, StepMarks
from attncalc.grading.rules import LINES, NUMBER_OF, Rules, Status
from attncalc.grading.slack import DUST, RELATIVE_DUST, Slack, ToTheDigit, stands_for_minus_infinity
from attncalc.numbers.rounding import round_floats
from attncalc.numbers.types import Matrix, Range
from attncalc.operations.step import Step
from attncalc.reading.answers.answer import Answer, WrittenMatrix
from attncalc.solving.memory import refuse_what_cannot_fit

BYTES_OF_MARKING, BYTES_OF_KEY = 160, 120
"""What marking takes for each entry that is written, and for each score of the problem."""


def mark(key: Key, answer: Answer, rules: Rules) -> Marking:
    """Mark an answer.

    Parameters
    ----------
    key
        The problem, solved; one key serves any number of answers.
    answer
        What was written.
    rules
        How it is marked.

    Raises
    ------
    InputError
        When marking so many entries takes more memory than there is.
    """
    _refuse_too_many_entries(key, answer)
    steps = _Marker(key, answer, rules, key.slack).all_marks()
    if not rules.in_tolerance and any(_mistakes(steps)):
        cutting = ToTheDigit(key.problem.decimals, cuts=True)
        steps = min(steps, _Marker(key, answer, rules, cutting).all_marks(), key=_mistakes)
    if rules.asked is not None:
        steps = tuple(marks for marks in steps if marks.step.name in rules.asked)
    known = (*key.steps, *key.problem.names)
    not_asked = tuple(name for name in answer.matrices if name not in known)
    style = _style(key, steps, rules)
    return Marking(key, answer, steps, rules, style, not_asked, _lines(key, answer, steps, rules))


def _refuse_too_many_entries(key: Key, answer: Answer) -> None:
    """Refuse what marking cannot hold: beside each entry stand its bounds, its status and more."""
    written = sum(each.values.size for each in answer.matrices.values())
    scores = key.problem.n_heads * key.problem.n * key.problem.m
    sizes = {"marking": BYTES_OF_MARKING * written, "key": BYTES_OF_KEY * scores}
    refuse_what_cannot_fit(sizes, set(), "check an answer that holds fewer steps, as A and O alone")


def _lines(
    key: Key, answer: Answer, steps: tuple[StepMarks, ...], rules: Rules
) -> tuple[LineMark, ...]:
    """Mark the lines of the map, where the answer says anything of them."""
    if answer.connections is None and LINES not in (rules.asked or ()):
        return ()
    own = next((marks for marks in steps if marks.step.name == "A"), None)
    usable = own is not None and not own.count(Status.WRONG_SHAPE)
    weights = own.written if own and usable else None
    return mark_lines(key, answer.connections or (), weights, rules)


def _mistakes(steps: tuple[StepMarks, ...]) -> tuple[int, bool, int, int]:
    """Return how many entries are wrong, whether they are explained, and how many are odd.

    Of two ways to read a script, the one with the least of these is meant.
    """
    wrong = [marks for marks in steps if marks.count(Status.WRONG, Status.WRONG_SHAPE)]
    return (
        sum(marks.count(Status.WRONG, Status.WRONG_SHAPE) for marks in wrong),
        bool(wrong) and not wrong[0].causes,
        sum(not marks.causes for marks in wrong),
        sum(marks.count(Status.MATCHES_KEY) for marks in steps),
    )


class _Marker:
    """Takes a script step by step, and keeps what later steps can be based on."""

    def __init__(self, key: Key, answer: Answer, rules: Rules, slack: Slack) -> None:
        self.key = key
        self.answer = answer
        self.rules = rules
        self.slack = slack
        self.own = Known(key, slack)
        self.tainted: dict[str, Matrix] = {}
        self.charged: set[str] = set()

    def all_marks(self) -> tuple[StepMarks, ...]:
        """Mark all steps that are there or asked for, in the order of the plan."""
        return tuple(self.marks(step) for step in self.key.steps.values() if self.is_asked(step))

    def is_asked(self, step: Step) -> bool:
        """Say whether a step is marked: it is there, or it is asked for."""
        asked = self.rules.asked
        return step.name in self.answer.matrices or (asked is not None and step.name in asked)

    def marks(self, step: Step) -> StepMarks:
        """Mark one step, and keep its values for later ones."""
        shape = self.key.shown[step.name].shape
        given = self.answer.matrices.get(step.name)
        if given is None:
            return StepMarks(step, None, self._all(shape, Status.BLANK), self.key.shown[step.name])
        written, problem = arranged(self.key, step, given)
        if written is None:
            return self._of_wrong_shape(step, given, problem)
        written = with_plain_whole_numbers(written, self.key.problem.decimals)
        marks = self._compared(step, written)
        self._keep(step, written, marks)
        return marks

    def _all(self, shape: tuple[int, ...], status: Status) -> Matrix:
        return np.full(shape, NUMBER_OF[status])

    def _of_wrong_shape(self, step: Step, given: WrittenMatrix, problem: str) -> StepMarks:
        self.own.unusable.add(step.name)
        shown = self.key.shown[step.name]
        found = causes_of(self.own, step, turned(self.key, given))
        marks = StepMarks(
            step, given, self._all(shown.shape, Status.WRONG_SHAPE), shown, found, problem=problem
        )
        return self._charged(marks)

    def _compared(self, step: Step, written: WrittenMatrix) -> StepMarks:
        """Mark entries of the right shape: by the key first, then by the script's own values."""
        values = written.values
        codes, is_near, coarsely = _by_key(self.key, self.slack, step.name, written, self.rules)
        has_mistakes = any(each.any() for each in self.tainted.values())
        clean = with_mistakes_mended(self.own, self.tainted) if has_mistakes else self.own
        open_ = codes == NUMBER_OF[Status.WRONG]
        differs = self._differs(step, clean) if has_mistakes else np.zeros(values.shape, dtype=bool)
        if open_.any() or has_mistakes:
            coarsely |= self._by_own(codes, open_, step, written, clean, differs)
        still = (codes == NUMBER_OF[Status.WRONG]) & is_near
        codes[still] = np.where(
            differs[still], NUMBER_OF[Status.MATCHES_KEY], NUMBER_OF[Status.ROUNDING]
        )
        codes[(codes == NUMBER_OF[Status.WRONG]) & coarsely] = NUMBER_OF[Status.PRECISION]
        from_own = open_ & (codes == NUMBER_OF[Status.FOLLOWS])
        if written.texts is not None:  # in a program's array NaN is wrong
            codes[np.isnan(values)] = NUMBER_OF[Status.BLANK]
        for place in written.faults:
            codes[place] = NUMBER_OF[Status.UNREADABLE]
        wrong = codes == NUMBER_OF[Status.WRONG]
        expected = self._expected(step, clean)
        causes = causes_of(self.own, step, written, wrong) if wrong.any() else ()
        return self._charged(
            StepMarks(
                step,
                written,
                codes,
                expected,
                causes,
                from_own=bool(from_own.any()),
                from_mistakes=differs,
            )
        )

    def _by_own(
        self,
        codes: Matrix,
        open_: Matrix,
        step: Step,
        written: WrittenMatrix,
        clean: Known,
        differs: Matrix,
    ) -> Matrix:
        """Settle what the key leaves open, and flag what fits the key and not the script.

        Returns where a number of too few decimals is what the script leads to.
        """
        values = written.values
        fine = np.maximum(written.decimals, self.key.problem.decimals)
        fits_clean = self._fits(clean, step, values, fine)
        fits = fits_clean if clean is self.own else self._fits(self.own, step, values, fine)
        coarsely = fits
        if (written.decimals < fine).any():
            coarsely = self._fits(self.own, step, values, written.decimals)
        settled = Status.CORRECT if self.rules.in_tolerance else Status.ROUNDING
        codes[open_ & fits_clean] = NUMBER_OF[settled]
        codes[open_ & fits & (differs | ~fits_clean)] = NUMBER_OF[Status.FOLLOWS]
        if clean is not self.own:
            codes[~open_ & ~coarsely] = NUMBER_OF[Status.MATCHES_KEY]
        return coarsely

    def _fits(self, known: Known, step: Step, values: Matrix, decimals: Matrix) -> Matrix:
        """Say which numbers follow from what is known, however steps between were rounded."""
        fits = np.zeros(values.shape, dtype=bool)
        for result in known.results(step):
            fits |= self.slack.near(values, decimals, result)
        return fits

    def _differs(self, step: Step, clean: Known) -> Matrix:
        """Say where own mistakes lead elsewhere than the key's values do."""
        own, right = self.own.result(step, None), clean.result(step, None)
        low = _are_unequal(own.low, right.low)
        if own.is_point and right.is_point:
            return low
        return low | _are_unequal(own.high, right.high)

    def _expected(self, step: Step, clean: Known) -> Matrix:
        """Return what each entry should be: the key's, or what follows from own mistakes."""
        shown = self.key.shown[step.name]
        if clean is self.own:
            return shown
        rule = None if self.rules.in_tolerance else RULES[0]
        own, right = (known.result(step, rule).low for known in (self.own, clean))
        rounded = own if self.rules.in_tolerance else round_floats(own, self.key.problem.decimals)
        return np.where(_are_unequal(own, right) & ~np.isnan(rounded), rounded, shown)

    def _keep(self, step: Step, written: WrittenMatrix, marks: StepMarks) -> None:
        """Keep a step's values for later ones; the key's where there is no answer."""
        key, name = self.key, step.name
        values, decimals = written.values, written.decimals.copy()
        answered = ~np.isnan(values)
        coarse = marks.statuses == NUMBER_OF[Status.PRECISION]
        decimals[~coarse] = np.maximum(decimals, key.problem.decimals)[~coarse]
        masked = stands_for_minus_infinity(values, key.shown[name])
        points = np.where(masked, -np.inf, np.where(answered, values, key.shown[name]))
        may_be_exact = key.is_shown_exactly[name] & (points == key.shown[name])
        exactly = np.isinf(points) | (may_be_exact & ~marks.from_mistakes)
        behind = self.slack.behind(points, decimals)
        if not self.rules.in_tolerance:
            right = zip(behind, key.ranges[name], strict=True)
            behind = Range(
                *(
                    np.where(exactly, points, np.where(answered, own, theirs))
                    for own, theirs in right
                )
            )
        self.own.keep(name, points, behind)
        wrong = [NUMBER_OF[status] for status in (Status.WRONG, Status.FOLLOWS)]
        if marks.count(Status.WRONG, Status.PRECISION, Status.MATCHES_KEY):
            self.own.doubtful.add(name)
        self.tainted[name] = np.isin(marks.statuses, wrong) | marks.from_mistakes

    def _charged(self, marks: StepMarks) -> StepMarks:
        """Charge a cause once: what is the same mistake again costs nothing more."""
        if not marks.cause:
            return marks
        family = marks.cause.family
        repeated = family in self.charged
        self.charged.add(family)
        if not repeated:
            return marks
        return replace(marks, is_repeated=True)


def _are_unequal(left: Matrix, right: Matrix) -> Matrix:
    unequal: Matrix = ~((left == right) | (np.isnan(left) & np.isnan(right)))
    return unequal


def _by_key(
    key: Key, slack: Slack, name: str, written: WrittenMatrix, rules: Rules
) -> tuple[Matrix, Matrix, Matrix]:
    """Return the status of each entry beside the key, and where the key can reach it at all.

    The status is `WRONG` where the key leaves it open. The last matrix says where a number of too
    few decimals is what they leave of the key's: it may still be right to the digit, as 0.2 is
    where 0.20 follows.
    """
    values, decimals = written.values, written.decimals
    shown, exact = key.shown[name], key.exact[name]
    codes = np.full(values.shape, NUMBER_OF[Status.WRONG])
    if rules.in_tolerance:
        right = key.allows(name, written)
        codes[right] = NUMBER_OF[Status.CORRECT]
        return codes, right, np.zeros_like(right)
    asked = key.problem.decimals
    is_rounded = _is_rounded_from(exact, values, decimals)
    for script in key.scripts.values():
        if name in script:
            same = (values == script[name]) & np.isfinite(values)
            codes[same] = NUMBER_OF[Status.ROUNDING]
    right = (values == shown) | ((decimals > asked) & is_rounded)
    codes[right | stands_for_minus_infinity(values, shown)] = NUMBER_OF[Status.CORRECT]
    is_near = slack.near(values, np.maximum(decimals, asked), key.reached[name])
    return codes, is_near, (decimals < asked) & is_rounded


def _is_rounded_from(exact: Matrix, values: Matrix, decimals: Matrix) -> Matrix:
    """Say which numbers are the exact ones to their own decimals; no infinity is."""
    finite = np.isfinite(exact) & np.isfinite(values)
    true, own = (np.where(finite, each, 0.0) for each in (exact, values))
    half = (0.5 + DUST) * 10.0 ** -decimals.astype(float) + RELATIVE_DUST * np.abs(true)
    with np.errstate(over="ignore"):
        near: Matrix = finite & (np.abs(own - true) <= half)
    return near


def _style(key: Key, steps: tuple[StepMarks, ...], rules: Rules) -> Style | None:
    """Return how a script rounds, where that is not the key's way and explains each such entry.

    A single entry says too little.
    """
    if rules.in_tolerance or sum(marks.count(Status.ROUNDING) for marks in steps) < 2:
        return None
    decimals = key.problem.decimals
    for style, script in list(key.scripts.items())[1:]:
        if all(
            _is_in_style(marks, script[marks.step.name], decimals, style)
            for marks in steps
            if marks.step.name in script
        ):
            return style
    return None


def _is_in_style(marks: StepMarks, script: Matrix, decimals: int, style: Style) -> bool:
    """Say whether the right entries of a step are those of a flawless script in this style."""
    if marks.written is None or marks.count(Status.WRONG_SHAPE):
        return True
    right = np.isin(marks.statuses, [NUMBER_OF[each] for each in Status if each.is_right])
    right &= np.isfinite(script)  # -∞ may be written as -1e9
    cut = round_floats(marks.written.values, decimals, style.rule)
    same: bool = (cut == script)[right].all()
    return bool(same)
