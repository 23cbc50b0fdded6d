"""Answers written by people: digits, rounded in different ways, or truncated."""

from collections.abc import Mapping

import numpy as np

from attncalc.base.rounding import round_floats
from attncalc.base.types import Matrix, Range
from attncalc.grading.arranging import turned
from attncalc.grading.causes import recipes_that_fit
from attncalc.grading.key import Key, Style
from attncalc.grading.known import Known
from attncalc.grading.marks import StepMarks, are
from attncalc.grading.rules import ANY_SLIP, NUMBER_OF, Cause, Rules, Status
from attncalc.grading.slack import (
    DUST,
    MOST_CUT,
    RELATIVE_DUST,
    RULES,
    ToTheDigit,
    stands_for_minus_infinity,
    unit_of_digits,
)
from attncalc.grading.slips import mistakes_of_copying, slips
from attncalc.grading.walk import Walk
from attncalc.problem.step import Step
from attncalc.reading.answers.answer import Answer, WrittenMatrix

WRONG = (Status.WRONG, Status.WRONG_SHAPE)
AMISS = (*WRONG, Status.PRECISION)
RIGHT = tuple(each for each in Status if each.is_right)
FEWEST_DIGITS, MOST_DIGITS = 3, 5
"""The number of significant digits that people and calculators use."""
ON_A_DISPLAY, FEW = 4, 8
MOST_COUNTED = 5000
"""The largest number of entries of a step whose digits are counted."""
SHOWN_BY = 2
"""The number of entries that must show the rounding of an answer for a remark."""
SURE = 3
"""The number of entries that determine the rounding of an answer."""


class DigitsWalk(Walk):
    """Compares digits with the rounded values of the key, or of the answer's own values."""

    follows_key = Status.ROUNDING

    def beside_key(self, name: str, written: WrittenMatrix) -> tuple[Matrix, Matrix]:
        """Mark entries by the key's digits, and by those of other roundings."""
        key, values, decimals = self.key, written.values, written.decimals
        shown, asked = key.shown[name], key.problem.decimals
        codes = np.full(values.shape, NUMBER_OF[Status.WRONG])
        for script in key.scripts.values():
            if name in script:
                same = (values == script[name]) & np.isfinite(values)
                codes[same] = NUMBER_OF[Status.ROUNDING]
        exact = key.exact[name]
        finite = np.isfinite(exact) & np.isfinite(values)
        true, own = (np.where(finite, each, 0.0) for each in (exact, values))
        half = (0.5 + DUST) * 10.0 ** -decimals.astype(float) + RELATIVE_DUST * np.abs(true)
        with np.errstate(over="ignore"):
            is_rounded: Matrix = finite & (np.abs(own - true) <= half)
        if self.slack.digits:
            near = self.slack.near(values, np.maximum(decimals, asked), Range.at(key.exact[name]))
            codes[near] = NUMBER_OF[Status.ROUNDING]
        right = (values == shown) | ((decimals > asked) & is_rounded)
        codes[right | stands_for_minus_infinity(values, shown)] = NUMBER_OF[Status.CORRECT]
        coarse = (decimals < asked) & is_rounded
        if (coarse & (codes == NUMBER_OF[Status.WRONG])).any():  # then 0.7 for 0.707 is not 0.70
            codes[coarse & (codes == NUMBER_OF[Status.ROUNDING])] = NUMBER_OF[Status.WRONG]
        return codes, coarse & (codes == NUMBER_OF[Status.WRONG])

    def is_near_key(self, name: str, written: WrittenMatrix) -> Matrix:
        """Return where the key can give a number, for any rounding of earlier values."""
        fine = np.maximum(written.decimals, self.key.problem.decimals)
        return self.slack.near(written.values, fine, self.key.reached[name])

    def causes(
        self, known: Known, step: Step, written: WrittenMatrix, wrong: Matrix | None = None
    ) -> tuple[Cause, ...]:
        """Return the recipes that give every entry, and slips if only one entry is wrong.

        A recipe that only one entry shows is never the only cause: a slip has the same effect.
        """
        found = recipes_that_fit(known, step, written)
        if wrong is not None:  # for two columns, exp(-s) exchanges the two
            found |= mistakes_of_copying(known, step, written, is_explained=bool(found))
        causes = tuple(found)
        if wrong is None or (wrong.sum() > 1 and any(seen_in > 1 for seen_in in found.values())):
            return causes
        if wrong.sum() == 1:
            (place,) = map(tuple, np.argwhere(wrong).tolist())
            causes += slips(known, step, place, written)
        any_slip = Cause(ANY_SLIP, "it is a slip of another kind", step.name, is_slip=True)
        return (*causes, any_slip) if causes else ()


def marks_of_digits(
    key: Key, answer: Answer, rules: Rules
) -> tuple[tuple[StepMarks, ...], Style | None]:
    """Mark an answer as rounded, as truncated, or with few significant digits.

    Return the marks with the rounding, if it is not the key's and explains every entry. If the
    digits do not determine it, and a mistake is unexplained, the other roundings are tried, and the
    one with the fewest mistakes is used. If they do, and numbers were rounded within steps, another
    rounding must explain every entry.
    """
    shown = _cut_entries(key, answer)
    decimals = key.problem.decimals
    ways = (key.slack, ToTheDigit(decimals, cuts=True))
    likely, other = ways[::-1] if shown > 0 else ways
    steps = DigitsWalk(key, answer, rules, likely).marks()
    if digits := _digits(key, answer, steps):
        in_digits = DigitsWalk(key, answer, rules, ToTheDigit(decimals, digits=digits)).marks()
        if _mistakes(in_digits) < _mistakes(steps):
            return in_digits, Style(key.problem.rounding, RULES[0], digits)
    unexplained = [marks for marks in steps if marks.count(*WRONG) and not marks.causes]
    is_sure = abs(shown) >= SURE
    if not unexplained or (is_sure and not key.roundings[unexplained[0].step.name]):
        return steps, style_of(key, steps)
    others = DigitsWalk(key, answer, rules, other).marks()
    fewer = _mistakes(others)
    is_explained = any(marks.way is not None for marks in others) and not fewer[0]
    is_better = is_explained if is_sure else fewer < _mistakes(steps)
    best = others if is_better else steps
    return best, style_of(key, best)


def _digits(key: Key, answer: Answer, steps: tuple[StepMarks, ...]) -> int:
    """Return the number of significant digits of an answer, if it can explain the entries; else 0.

    Only a few entries may show it, since the required decimals need more. The digits of a
    calculator need not be visible, if they only change last places.
    """
    amiss = [marks for marks in steps if marks.count(*AMISS) and marks.written is not None]
    written = answer.matrices.values()
    is_explained = all(marks.cause and not marks.count(Status.PRECISION) for marks in amiss)
    if is_explained or any(given.values.size > MOST_COUNTED for given in written):
        return 0
    counts = (
        _significant(float(value), int(decimals))
        for given in written
        for value, decimals in zip(given.values.flat, given.decimals.flat, strict=True)
        if decimals <= MOST_CUT and np.isfinite(value)
    )
    most, asked = max((FEWEST_DIGITS, *counts)), key.problem.decimals
    if most > MOST_DIGITS:
        return 0
    for name in answer.matrices.keys() & key.shown.keys():
        shown = key.shown[name].ravel().tolist()
        if any(np.isfinite(each) and _significant(each, asked) > most for each in shown):
            return most
    is_on_a_display = most <= ON_A_DISPLAY and all(_are_last_places(each) for each in amiss)
    return ON_A_DISPLAY if is_on_a_display else 0


def _are_last_places(marks: StepMarks) -> bool:
    """Return whether the errors of a step are a few units of its last place."""
    written = marks.written
    if written is None or written.shape != marks.expected.shape:
        return False
    wrong = are(marks.statuses, *AMISS)
    unit = np.maximum(10.0**-written.decimals, unit_of_digits(marks.expected, ON_A_DISPLAY))
    with np.errstate(invalid="ignore"):
        return bool((np.abs(written.values - marks.expected) <= FEW * unit)[wrong].all())


def _significant(value: float, decimals: int) -> int:
    return len(f"{abs(value):.{decimals}f}".replace(".", "").strip("0"))


def _cut_entries(key: Key, answer: Answer) -> int:
    """Return how many more entries agree only with truncation than agree only with rounding.

    Some agree by chance. Whole numbers are not counted: a wrong weight is often 1.00 or 0.00.
    """
    count = 0
    for name, given in answer.matrices.items():
        values = turned(key, given).values
        shown = key.shown.get(name)
        if shown is None or values.shape != shown.shape:
            continue
        cut, rounded = np.zeros(values.shape, dtype=bool), np.zeros(values.shape, dtype=bool)
        for style, script in key.scripts.items():
            if name in script:
                alike = cut if style.rule == "truncate" else rounded
                alike |= values == script[name]
        if 2 * int((cut | rounded).sum()) <= values.size:
            continue  # it follows from a mistake: what agrees with the key does so by chance
        broken = values != np.round(values)
        count += int((cut & broken).sum()) - int((rounded & broken).sum())
    return count


def _mistakes(steps: tuple[StepMarks, ...]) -> tuple[int, bool, int, int]:
    """Return how many entries are wrong, whether they are explained, and how many are odd.

    Of two interpretations of an answer, the one with the fewest is used.
    """
    wrong = [marks for marks in steps if marks.count(*WRONG)]
    return (
        sum(marks.count(*WRONG) for marks in wrong),
        bool(wrong) and not wrong[0].causes,
        sum(not marks.causes for marks in wrong),
        sum(marks.count(Status.MATCHES_KEY, Status.PRECISION) for marks in steps),
    )


def style_of(key: Key, steps: tuple[StepMarks, ...]) -> Style | None:
    """Return the rounding of an answer, if it is not the key's and explains each such entry.

    One entry is not enough, and those that earlier mistakes change agree with the key by chance; of
    roundings that explain equally much, the simplest is returned.
    """
    rounded = (
        are(each.statuses, Status.ROUNDING) & np.logical_not(each.from_mistakes) for each in steps
    )
    if sum(int(each.sum()) for each in rounded) < SHOWN_BY:
        return None
    _, *others = key.scripts
    for style in sorted(others, key=lambda each: RULES.index(each.rule)):
        script = key.scripts[style]
        shown = [marks for marks in steps if marks.step.name in script]
        if not all(_is_in_style(marks, script[marks.step.name], key, style) for marks in shown):
            continue
        plain = key.scripts[Style(style.rounding, RULES[0])] if style.rule != RULES[0] else {}
        if style.rule == RULES[0] or _shown_by(steps, script, plain) >= SHOWN_BY:
            return style
    return None


def _shown_by(
    steps: tuple[StepMarks, ...], script: Mapping[str, Matrix], plain: Mapping[str, Matrix]
) -> int:
    """Return the number of entries that agree with a rounding, and not with rounding halves up."""
    count = 0
    for marks in steps:
        name, written = marks.step.name, marks.written
        if written is None or name not in script.keys() & plain.keys():
            continue
        if written.shape == script[name].shape:
            shows = (written.values == script[name]) & (script[name] != plain[name])
            count += int((shows & np.logical_not(marks.from_mistakes)).sum())
    return count


def _is_in_style(marks: StepMarks, script: Matrix, key: Key, style: Style) -> bool:
    """Return whether the right entries of a step agree with a flawless answer in this style."""
    if marks.written is None or marks.written.shape != script.shape:
        return True
    right = are(marks.statuses, *RIGHT)
    right &= np.isfinite(script)  # -∞ may be written as -1e9
    cut = round_floats(marks.written.values, key.problem.decimals, style.rule)
    return bool((cut == script)[right].all())
