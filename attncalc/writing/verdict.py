"""The verdict: the feedback of a teacher on an answer, in sentences."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import groupby, islice
from typing import NamedTuple

import numpy as np

from attncalc.base.rounding import fixed
from attncalc.base.text import LISTED, capital, numbered, of_each, on_a_line
from attncalc.base.types import Place
from attncalc.equations.operations.assembling import Concat
from attncalc.grading.compare import deviation
from attncalc.grading.key import Style
from attncalc.grading.lines import LineMark, nameless, unknown_outputs
from attncalc.grading.marks import Marking, StepMarks, are, flags
from attncalc.grading.rules import ANY_SLIP, Cause, Status
from attncalc.problem.fields import LINES
from attncalc.writing.mathematics import in_text
from attncalc.writing.prose import line_in_text

MOST_REASONS = 5
"""Possible causes that are listed if any of them may be true."""
Said = Callable[..., str]
"""Writes points, without decimals if `least` is 0 and they are whole."""
MOST_UNREAD = 10
"""Number of unread texts, of faults and of remarks that a verdict lists."""
LONGEST = 60
"""Characters that are shown of unread text."""


def points_text(points: Fraction, decimals: int = 2, least: int = 1) -> str:
    """Return points in decimals, without trailing zeros beyond the least number of them.

    A fraction is never shown as a whole number: nearly all points are not all of them.

    >>> points_text(Fraction(5)), points_text(Fraction(19, 3)), points_text(Fraction(1999, 1000))
    ('5.0', '6.33', '1.99')
    """
    unit = 10**decimals
    count = int(points * unit + Fraction(1, 2))  # no points are below 0
    if decimals and not count % unit and points.denominator != 1:
        count += 1 if count < points * unit else -1
    whole, rest = divmod(count, unit)
    digits = f"{rest:0{decimals}d}".rstrip("0").ljust(min(least, decimals), "0") if decimals else ""
    return f"{whole}.{digits}" if digits else str(whole)


def verdict(marking: Marking, said: Said = points_text) -> tuple[str, ...]:
    """Return the verdict on an answer, with one or a few sentences in each text.

    The first mistake with its cause comes first, then its effects, then the rest; `said` writes
    points.
    """
    return (
        *_provisional(marking),
        *_opening(marking),
        *first_mistake(marking),
        *_what_follows(marking),
        *_later_mistakes(marking),
        *_matches(marking),
        *_precision(marking),
        *_rounding(marking),
        *_unanswered(marking),
        *verdict_of_lines(marking),
        *_counted(marking, said),
        *_for_a_person(marking),
    )


class Named(NamedTuple):
    """One entry as a sentence names it: S[2,3], and its row and column as text."""

    name: str
    where: str


def entry_named(marking: Marking, marks: StepMarks, place: Place) -> Named:
    """Return the name of an entry, and its row and column; with the names of tokens, if any."""
    entry = marking.key.work.entry(marks.step.name, place)
    *head, row, column = map(int, entry.place)
    rows, columns = labels_of(marking, marks)
    words = [f"head {head[0]}"] if head else []
    for kind, number, labels in (("row", row, rows), ("column", column, columns)):
        label = on_a_line(labels[number - 1])
        plain = labels == numbered(len(labels))
        words.append(f"{kind} {number}" if plain else f"{kind} {number} ({label})")
    return Named(in_text(entry), ", ".join(words))


def labels_of(marking: Marking, marks: StepMarks) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the labels of a step's rows and columns; numbers, if it has another shape."""
    solution, shape = marking.key.solution, marks.statuses.shape
    if shape == marking.key.shown[marks.step.name].shape:
        return solution.row_labels(marks.step), solution.column_labels(marks.step)
    rows, columns = marking.key.problem.standing.pair(*shape[-2:])
    return numbered(rows), numbered(columns)


def found_text(marks: StepMarks, place: Place) -> str:
    """Return the written entry at a place."""
    return "" if marks.written is None else on_a_line(marks.written.text(place))[:40]


def expected_text(marking: Marking, marks: StepMarks, place: Place) -> str:
    """Return the right entry at a place."""
    value = float(marks.expected[place])
    if marking.rules.in_tolerance:
        return f"{value:.10g}"
    return fixed(value, marking.key.problem.decimals)


def _distinguished(marking: Marking, marks: StepMarks, place: Place) -> tuple[str, str]:
    """Return the written and the right entry; with all digits if they would look the same."""
    found, expected = found_text(marks, place), expected_text(marking, marks, place)
    if found != expected or marks.written is None:
        return found, expected
    return repr(float(marks.written.values[place])), repr(float(marks.expected[place]))


def _provisional(marking: Marking) -> Iterator[str]:
    if count := sum(each.could_be_matrix for each in marking.answer.unread):
        parts = "1 part of the answer was" if count == 1 else f"{count} parts of the answer were"
        what = "a matrix" if count == 1 else "matrices"
        yield f"This score is provisional: {parts} not read that could be {what}."
    if lines := marking.unread_lines:
        parts = "1 statement" if len(lines) == 1 else f"{len(lines)} statements"
        yield f"This score is provisional: {parts} about the map could not be read."


def _opening(marking: Marking) -> Iterator[str]:
    has_steps = any(marks.written is not None for marks in marking.steps)
    has_lines = any(line.written is not None for line in marking.lines)
    is_right = marking.first_wrong is None and not any(
        line.status is Status.WRONG for line in marking.lines
    )
    if not has_steps and not has_lines and not marking.not_counted:
        yield "No matrix here matches a step of this problem."
    elif has_steps and all(marks.is_right for marks in marking.steps):
        names = of_each([marks.step.name for marks in marking.steps])
        yield f"Every entry is right: {names}."
    elif has_steps and is_right:
        yield "No mistakes in what you wrote."


def first_mistake(marking: Marking) -> Iterator[str]:
    """Yield the first mistake with its cause, and what is right before it."""
    wrong = marking.first_wrong
    if wrong is None:
        return
    name = wrong.marks.step.name
    if wrong.place is None:
        yield f"{name} has the wrong shape: {wrong.marks.problem}.{_then(marking, wrong.marks)}"
    else:
        yield _entry_is_wrong(marking, wrong.marks, wrong.place, "The first mistake is in")
        yield from _how_many(marking, wrong.marks)
    yield from _why(marking, wrong.marks)
    place = marking.judged.index(wrong.marks)
    before = [each.step.name for each in marking.judged[:place] if each.is_right]
    if before:
        yield f"{of_each(before)} {'is' if len(before) == 1 else 'are'} right."


def _then(marking: Marking, marks: StepMarks) -> str:
    """Return how the steps after a matrix of a wrong shape are marked."""
    name, place = marks.step.name, marking.judged.index(marks)
    after = [each for each in marking.judged[place + 1 :] if each.written is not None]
    if not after:
        return ""
    if any(name in each.misread for each in after):
        return f" Later steps are marked from your {name} where possible."
    return f" Later steps are marked with the {name} of the key."


def _entry_is_wrong(marking: Marking, marks: StepMarks, place: Place, opening: str) -> str:
    """Return the written entry, the right one, and its calculation."""
    named = entry_named(marking, marks, place)
    found, expected = _distinguished(marking, marks, place)
    said = f"{opening} {marks.step.name}, {named.where}: {named.name} is {expected}, not {found}."
    if marking.rules.in_tolerance or _is_own(marking, marks, place):
        return said
    return f"{said} {line_in_text(marking.key.work.line(marks.step.name, place))}"


def _how_many(marking: Marking, marks: StepMarks) -> Iterator[str]:
    name, wrong, size = marks.step.name, marks.count(Status.WRONG), marks.statuses.size
    if marking.rules.in_tolerance:
        off = deviation(marking, marks)
        are = "is" if off.differ == 1 else "are"
        said = f"{off.differ} of {off.entries} entries of {name} {are} outside the tolerance"
        if off.worst is not None:
            worst = entry_named(marking, marks, off.worst).name
            said += f"; the worst is {worst}. The largest error is {off.absolute:.3g}, "
            said += f"the largest relative error {off.relative:.3g}"
        yield said + "."
        yield from _in_one_head(marking, marks)
    elif wrong == 1:
        yield f"It is the only wrong entry of {name}."
    elif wrong == size:
        yield f"{'2' if size == 2 else f'All {size}'} entries of {name} are wrong."
    else:
        yield f"{wrong} of {size} entries of {name} are wrong."


def _in_one_head(marking: Marking, marks: StepMarks) -> Iterator[str]:
    """Yield the head that contains all wrong entries of a step, if it is only one of several."""
    wrong = are(marks.statuses, Status.WRONG)
    if isinstance(marks.step.operation, Concat):  # the heads are side by side in it
        heads = marking.key.shown[marks.step.inputs[0]]
        wrong = np.stack(np.split(wrong, len(heads), axis=1))
    if wrong.ndim == 3 and len(wrong) > 1:
        found = np.flatnonzero(wrong.any(axis=(1, 2)))
        if len(found) == 1:
            yield f"All differences are in head {found[0] + 1}."


def _why(marking: Marking, marks: StepMarks) -> Iterator[str]:
    """Yield the mistake, or the mistakes that explain it equally well."""
    name = marks.step.name
    if not marks.causes:
        return
    if marks.cause is not None:
        repeats = " This repeats an earlier mistake; no further points deducted."
        again = repeats if marks.is_repeated else ""
        yield f"Every entry of {name} matches this mistake: {done(marks.cause, name)}.{again}"
        return
    if either := explained(marks):
        yield f"{len(marks.causes)} mistakes explain all of {name} equally well: {either}."
        return
    slips = [each.says for each in marks.causes if each.is_slip and each.code != ANY_SLIP]
    if maybe := _reasons(marks) + slips:
        yield f"Possible cause: {_either(maybe)}."


def explained(marks: StepMarks) -> str:
    """Return the mistake, or the mistakes, that explain all of a step, as a clause; "" without."""
    if marks.cause is not None:
        return marks.cause.says
    is_whole = marks.causes and not any(each.is_slip for each in marks.causes)
    return _either(_reasons(marks)) if is_whole else ""


def _reasons(marks: StepMarks) -> list[str]:
    recipes = [each for each in marks.causes if not each.is_slip]
    return [done(each, marks.step.name) for each in recipes][:MOST_REASONS]


def done(cause: Cause, name: str) -> str:
    """Return a mistake that explains a step, as a clause."""
    return cause.says if cause.step == name else f"{cause.says} (in {cause.step})"


def _either(reasons: Sequence[str]) -> str:
    return reasons[0] if len(reasons) == 1 else f"{'; '.join(reasons[:-1])}, or {reasons[-1]}"


def _what_follows(marking: Marking) -> Iterator[str]:
    for marks in marking.steps:
        for each in marks.pays_for:
            yield f"The mistake in {each.step.name} is deducted in {marks.step.name}."
    following = [
        marks.step.name
        for marks in marking.steps
        if marks.count(Status.FOLLOWS) and not marks.count(Status.WRONG) and not marks.pays_for
    ]
    if not following:
        return
    penalty = marking.rules.follow_penalty
    less = f"entries that differ from the key earn {1 - penalty} of their points"
    cost = less if penalty else "no points deducted"
    are = "is" if len(following) == 1 else "are"
    yield f"{of_each(following)} {are} correct given your earlier values; {cost}."


def _later_mistakes(marking: Marking) -> Iterator[str]:
    first = marking.first_wrong
    for marks in marking.judged:
        if first is None or marks is first.marks:
            continue
        name = marks.step.name
        if marks.count(Status.WRONG_SHAPE):
            yield f"{name} has the wrong shape too: {marks.problem}."
            yield from _why(marking, marks)
        for place in marks.places(Status.WRONG):
            is_own = marks.from_own or _is_own(marking, marks, place)
            own = ", also from your own earlier values" if is_own else ""
            wrong = marks.count(Status.WRONG)
            entries = "an entry is" if wrong == 1 else f"{wrong} entries are"
            entry, where = entry_named(marking, marks, place)
            found, right = _distinguished(marking, marks, place)
            yield f"In {name} {entries} wrong{own}: {entry} is {right}, not {found} ({where})."
            yield from _why(marking, marks)
            break


def _is_own(marking: Marking, marks: StepMarks, place: Place) -> bool:
    """Return whether an entry should be another than the key's, for own values lead there."""
    shown = marking.key.shown[marks.step.name]
    return marks.expected.shape != shown.shape or bool(marks.expected[place] != shown[place])


def _matches(marking: Marking) -> Iterator[str]:
    for marks in marking.steps:
        count = marks.count(Status.MATCHES_KEY)
        is_explained = any(not cause.is_slip for cause in marks.causes)
        if count and not is_explained:
            places = islice(marks.places(Status.MATCHES_KEY), LISTED)
            named = [entry_named(marking, marks, place).name for place in places]
            match, does = ("matches", "does") if count == 1 else ("match", "do")
            then = ": counted as correct, to be reviewed by a person"
            yield (
                f"{of_each(named, count)} {match} the key, but {does} not follow from your "
                f"earlier values{'' if marking.rules.in_tolerance else then}."
            )


def _precision(marking: Marking) -> Iterator[str]:
    total = sum(marks.count(Status.PRECISION) for marks in marking.steps)
    if not total:
        return
    marks = next(each for each in marking.steps if each.count(Status.PRECISION))
    place = next(marks.places(Status.PRECISION))
    named, text = entry_named(marking, marks, place), found_text(marks, place)
    count = "1 entry has" if total == 1 else f"{total} entries have"
    decimals = marking.key.problem.decimals
    yield (
        f"{count} the right value with fewer than the required {decimals} decimals, "
        f"for example {named.name}: {text} instead of {expected_text(marking, marks, place)}."
    )


def _rounding(marking: Marking) -> Iterator[str]:
    count = sum(marks.count(Status.ROUNDING) for marks in marking.steps)
    if not count:
        return
    entries = "1 entry differs" if count == 1 else f"{count} entries differ"
    penalty = marking.rules.rounding_penalty
    cost = f", for {1 - penalty} of the credit" if penalty else ""
    reasons = [_style_in_words(marking, marking.style)] if marking.style else []
    reasons += [f"in {marks.step.name} {marks.way.says}" for marks in marking.steps if marks.way]
    why = f": {', and '.join(reasons)}" if reasons else ""
    yield f"{entries} from the key only by rounding{why}. This counts as correct{cost}."


def _not_shown(marking: Marking) -> Iterator[str]:
    """Yield which steps are left out, and the later ones that they are marked by."""
    by_later: dict[str, list[str]] = {}
    for name, later in marking.passed.items():
        by_later.setdefault(later, []).append(name)
    for marks in marking.steps:
        if left_out := by_later.get(marks.step.name):
            yield verdict_of_left_out(left_out, marks)


def verdict_of_left_out(names: Sequence[str], later: StepMarks) -> str:
    """Return that steps are left out, and the later one that they are marked by."""
    are, it = ("is", "it") if len(names) == 1 else ("are", "them")
    by = f"{later.step.name} is right" if later.is_right else f"{later.step.name} counts for {it}"
    return f"{of_each(list(names))} {are} not shown; {by}."


def _where_unread(marking: Marking) -> str:
    """Return where a missing step may be: in the unread text."""
    could_be = [each for each in marking.answer.unread if each.could_be_matrix]
    if not could_be and not marking.unread_lines:
        return ""
    lines = sorted({each.line for each in (*could_be, *marking.unread_lines) if each.line})
    if not lines:
        return "what could not be read"
    apart = groupby(enumerate(lines), key=lambda each: each[1] - each[0])
    runs = [[line for _, line in run] for _, run in apart]
    to = "–" if len(runs) > 1 else " to "
    texts = [str(run[0]) if len(run) == 1 else f"{run[0]}{to}{run[-1]}" for run in runs]
    return f"line{'s' if len(lines) > 1 else ''} {of_each(texts)}, which could not be read"


def _names(steps: Sequence[str]) -> str:
    """Return the names of steps as a list in a sentence, with the map as text."""
    words = ["the lines of the map" if name == LINES else name for name in steps]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _counted(marking: Marking, said: Said) -> Iterator[str]:
    """Yield the points of each step, and the parts that do not count."""
    if marking.not_counted:
        yield f"Not counted because it is not required: {_names(marking.not_counted)}."
    by_cause = {marks.step.name: marks.deduction(marking.rules) for marks in marking.steps}
    listed = []
    for name, (earned, possible) in marking.points.items():
        words = f"{_names([name])} {said(earned, least=0)}"
        if earned < possible:
            words += f" of {said(possible, least=0)}"
        if lost := by_cause.get(name):
            words += f" (−{said(lost * possible, least=0)} for its cause)"
        if hinted := marking.rules.hint_cost(marking.rules.hints.get(name, 0)):
            words += f" (−{said(hinted * possible, least=0)} for a hint)"
        listed.append(words)
    if marking.rules.asked:
        yield f"Points: {', '.join(listed)}."


def _style_in_words(marking: Marking, style: Style) -> str:
    """Yield the conventions that differ from the key."""
    if style.digits:
        return f"numbers are kept to {style.digits} significant digits"
    cut = {
        "half-away": "",
        "half-even": "halves go to the even digit",
        "truncate": "digits are cut off, not rounded",
    }[style.rule]
    if style.rounding == marking.key.problem.rounding:
        return cut
    carried = {
        "display": "full precision is carried from step to step",
        "each-step": "each step uses the shortened numbers of the previous one",
    }[style.rounding]
    return f"{carried}, and {cut}" if cut else carried


def _unanswered(marking: Marking) -> Iterator[str]:
    yield from _not_shown(marking)
    if missing := marking.not_found:
        maybe = _where_unread(marking)
        names = _names(missing)
        begun = capital(names) if names.startswith("the ") else names  # no step is capitalized
        yield f"{begun} may be in {maybe}." if maybe else f"Not found: {names}."
    for status, words in ((Status.BLANK, "blank"), (Status.UNREADABLE, "not readable as a number")):
        written = (marks for marks in marking.steps if marks.written is not None)
        counts = {marks.step.name: n for marks in written if (n := marks.count(status))}
        if total := sum(counts.values()):
            entries = "1 entry is" if total == 1 else f"{total} entries are"
            yield f"{entries} {words}, in {of_each([*counts])}."
    if marking.not_asked:
        names = of_each(list(marking.not_asked))
        yield f"{names}: this problem has no such step, so it is not marked."
    if nameless(marking.key, marking.answer.connections or ()):
        maps = [each.name for each in marking.key.solution.all_weights]
        yield (
            "What each output attends to is not marked: the problem has several attentions. "
            f'Write the name above it, for example "{maps[-1]}:" (names: {of_each(maps)}).'
            if maps
            else "What each output attends to is not marked: this problem has no attention."
        )


def verdict_of_lines(marking: Marking) -> Iterator[str]:
    """Yield the verdict on the lines of the map."""
    for name in unknown_outputs(marking.key, marking.answer.connections or ()):
        yield f"The map has no output {on_a_line(name)}."
    for line in marking.lines:
        if line.status not in (Status.WRONG, Status.BLANK):
            continue
        if line.status is Status.BLANK and (marking.unread_lines or LINES in marking.not_found):
            continue  # it may be in text that was not read; no lines at all are reported at once
        yield _line_is_wrong(marking, line)
    following = [each for each in marking.lines if each.status is Status.FOLLOWS]
    if following:
        count = "1 output" if len(following) == 1 else f"{len(following)} outputs"
        yield f"On the map, the lines of {count} follow from your weights."
    if marking.lines and all(each.status is Status.CORRECT for each in marking.lines):
        yield "On the map, every line is right."


def _line_is_wrong(marking: Marking, line: LineMark) -> str:
    """Return which lines of an output are wrong or missing, and where they should go."""
    tokens = marking.key.problem.attention_of(line.weights)
    where = f" of {line.weights}" if marking.key.problem.where(line.weights) else ""
    of = on_a_line(tokens.queries[line.right.output])
    of += f" (head {line.head})" if line.head else ""
    if line.written is not None and line.written.is_told:  # not in the form of a worksheet
        place = f"line {line.written.line}" if line.written.line else "the answer"
        of += f" ({place} was read as {on_a_line(line.written.says)})"
    goes = {}
    names, right = ("solid line", "dashed line"), (line.right.most, line.right.second)
    for name, own, is_right in zip(names, right, line.are_right(marking.key), strict=True):
        if not is_right:
            inputs = [on_a_line(tokens.keys[index]) for index in own]
            goes[name] = f"to {of_each(inputs)}" if own else ""
    are = "missing" if line.status is Status.BLANK else "wrong"
    start = f"On the map{where}, the"
    if len(goes) == 1:
        ((name, to),) = goes.items()
        return f"{start} {name} of output {of} is {are}: it should go {to or 'nowhere'}."
    solid, dashed = goes.values()
    first = f"the solid line should go {solid}" if solid else "there should be no solid line"
    then = f"the dashed line {dashed}" if dashed else "there should be no dashed line"
    return f"{start} lines of output {of} are {are}: {first}, {then}."


def verdict_of_step(marking: Marking, marks: StepMarks) -> Iterator[str]:
    """Yield the verdict on one step, for a separate test."""
    if marks.written is None:
        yield "Not found."
    elif marks.is_right:
        yield "Every entry is right."
    elif marks.count(Status.WRONG_SHAPE):
        yield f"It has the wrong shape: {marks.problem}."
        yield from _why(marking, marks)
    elif (place := next(marks.places(Status.WRONG), None)) is not None:
        yield _entry_is_wrong(marking, marks, place, "The first mistake in it is in")
        yield from _how_many(marking, marks)
        yield from _why(marking, marks)
    for status, words in COUNTED.items():
        if marks.written is not None and (count := marks.count(status)):
            yield f"{count} of {marks.statuses.size} {'is' if count == 1 else 'are'} {words}."


COUNTED = {
    Status.ROUNDING: "right except for rounding",
    Status.FOLLOWS: "correct given your earlier values",
    Status.MATCHES_KEY: "equal to the key, but not following from your earlier values",
    Status.PRECISION: "right with too few decimals",
    Status.BLANK: "blank",
    Status.UNREADABLE: "not readable as a number",
}
"""Descriptions of entries that are neither right nor wrong."""


def _for_a_person(marking: Marking) -> Iterator[str]:
    for flag in flags(marking):
        yield f"Needs review: {flag.says}."
    answer = marking.answer
    yield from _bounded("Not read", unread_in_words(marking))
    yield from _bounded("Not read", list(map(on_a_line, answer.faults)))
    yield from _bounded("As read", list(map(on_a_line, answer.remarks)))


def unread_in_words(marking: Marking) -> list[str]:
    """Return the unread parts, possible matrices first."""
    unread = sorted(marking.answer.unread, key=lambda each: not each.could_be_matrix)
    return [_in_words(*each[:3]) for each in unread]


def _in_words(line: int, text: str, why: str) -> str:
    """Return an unread part: its place, its text, and the reason.

    >>> _in_words(3, "1 2", "it has no name")
    'line 3: 1 2 (it has no name)'
    """
    shown = on_a_line(" ".join(text.split()))
    shown = shown if len(shown) <= LONGEST else shown[: LONGEST - 1] + "…"
    where = f"line {line}: " if line else ""
    return f"{where}{shown} ({on_a_line(why)})"


def _bounded(opening: str, said: Sequence[str]) -> Iterator[str]:
    yield from (f"{opening}: {each}." for each in said[:MOST_UNREAD])
    if len(said) > MOST_UNREAD:
        yield f"{opening}: {len(said) - MOST_UNREAD} more like these."
