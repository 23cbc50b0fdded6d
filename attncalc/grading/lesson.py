"""Compares the results of a lesson with its own given matrices, under any convention."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from attncalc.base.errors import AttncalcError, InputError
from attncalc.base.text import of_each
from attncalc.base.types import Matrix, Place, Range
from attncalc.grading.digits import DigitsWalk
from attncalc.grading.key import Key
from attncalc.grading.known import Known
from attncalc.grading.marking import mark
from attncalc.grading.marks import Marking, StepMarks
from attncalc.grading.recipes.common import Recipe
from attncalc.grading.rules import ANY_SLIP, NUMBER_OF, Cause, Rules, Status
from attncalc.grading.slack import ToTheDigit
from attncalc.problem.attention.declared import IN_ORDER, MOST_DECIMALS
from attncalc.problem.fields import GIVEN
from attncalc.problem.layers import STEP_TITLES
from attncalc.problem.problem import Problem
from attncalc.problem.step import Step
from attncalc.reading.answers.answer import IN_FULL, Answer, WrittenMatrix
from attncalc.reading.answers.expected import Expected
from attncalc.reading.lesson import numbers_of

RIGHT, WRONG, UNCHECKED = "right", "wrong", "unchecked"
"""The outcome for a result of a lesson."""
CONVENTIONS = (
    *("scale-none", "scale-not-asked", "scale-sqrt-d-model", "scale-dk", "scores-transposed"),
    *("softmax-columns", "base-2", "weights-transposed", "weights-first", "weights-turned"),
    *("mask-forgotten", "mask-not-asked", "not-normalised", "softmax-whole"),
)
"""Recipes that are not mistakes in a lesson: it may use another convention."""
MASKED_BY_ZERO = "the entries with weight 0 are masked"
_CUT = Cause("cut", "digits are cut off", "")
Variant = Mapping[str, tuple[Any, str]]
_COLUMNS: Variant = {"layout": ("columns", "tokens are columns")}
_OUT_IN: Variant = {"weights_layout": ("out-in", "weights are stored as (out, in)")}
_UNSCALED: Variant = {"scale": ("none", "the scores are not scaled")}
_CAUSAL: Variant = {"causal": (True, "a causal mask is used")}
VARIANTS: tuple[Variant, ...] = (
    _COLUMNS,
    _OUT_IN,
    {**_COLUMNS, **_OUT_IN},
    _UNSCALED,
    _CAUSAL,
    {**_UNSCALED, **_CAUSAL},
)
"""Conventions that are settings: their values, and descriptions."""
MOST_AT_ONCE = 2
"""The number of conventions that are tried together, each in addition to the best before."""
FEW_ENTRIES, MOST_WRONG = 9, 0.75
"""Of a matrix with more entries, the largest share that can be wrong under a known convention."""
MOST_ENTRIES = 20_000
"""The largest number of entries of an example for which other conventions are tried."""
MOST_DIVIDED = 10_000
"""The largest number whose root may divide scores."""
NEAR_ROOT = 0.02
"""The largest relative error of a divisor's square by rounded weights; base 2 is no √2."""
ALIKE, MOST_ALIKE = 0.0151, 0.5
"""The largest difference for a number to identify a row, and the share of numbers that must."""
LIKE_A_FLOAT, NEAR = 6, 1e-5
"""The fewest significant digits of a float32, and its largest relative error."""
OF_THE_SAME = 0.75
"""The share of right numbers above which a result belongs to the givens of an earlier example."""
FEWEST_ALIKE = 3
"""The fewest entries of a result whose other entries can show that one of them is wrong."""
SURELY_ROUNDED = 4
"""The number of decimals from which printed matrices probably have more digits."""


class Finding(NamedTuple):
    """The outcome for a result of a lesson, or for some of its lines.

    kind: "wrong" or "right" for a result; "given", "unchecked" or "other" for other content.
    name, place: the step, and the entry as shown, from 1; or the arithmetic.
    found, right: the printed number, and the right one.
    under: the conventions under which it is right; () for the usual ones.
    why: the cause of a wrong number, or why it was not checked.
    where, line, last: its position: as text, and its first and last line.
    """

    kind: str
    name: str
    place: Place = ()
    found: str = ""
    right: str = ""
    under: tuple[str, ...] = ()
    why: str = ""
    where: str = ""
    line: int = 0
    last: int = 0

    @property
    def what(self) -> str:
        """The step and the entry, such as A[2,1]."""
        return f"{self.name}[{','.join(map(str, self.place))}]" if self.place else self.name


class Read(NamedTuple):
    """A lesson with its findings; or the reason why it cannot be read."""

    place: str
    findings: tuple[Finding, ...]
    error: str = ""

    def of(self, kind: str) -> tuple[Finding, ...]:
        """Return the findings of a kind."""
        return tuple(each for each in self.findings if each.kind == kind)


Reader = Callable[[Expected], Answer]


class Checked(NamedTuple):
    """A checked example: its answer, and the finding for each result.

    `steps` are those that follow from its given matrices, with what each is computed from. `lost`
    counts the entries of matrices that are not results under the convention; `loose` those that
    only some rounding explains. `explained` returns the same with the causes of wrong numbers.
    """

    answer: Answer
    given: tuple[str, ...]
    findings: tuple[Finding, ...]
    steps: Mapping[str, tuple[str, ...]]
    lost: int
    loose: int = 0
    explained: Callable[[], Any] = lambda: None

    @property
    def cost(self) -> int:
        """The evidence against the convention: the number of wrong, lost and loose entries."""
        kinds = [(each.kind, each.name) for each in self.findings]
        sizes = [
            self.answer.matrices[name].values.size for kind, name in kinds if kind == UNCHECKED
        ]
        return self.lost + self.loose + sum(kind == WRONG for kind, _ in kinds) + sum(sizes)


@dataclass(frozen=True, eq=False)
class _RoundedKey(Key):
    """The key of a problem whose given matrices are rounded to some decimals, by name."""

    decimals: Mapping[str, int] = field(default_factory=dict)
    has_mistakes: bool = False
    """Whether its recipes are also mistakes, and not only other conventions."""

    @cached_property
    def recipes(self) -> Mapping[str, tuple[Recipe, ...]]:
        """The wrong recipes of each step."""
        found = super().recipes
        if self.has_mistakes:
            return found
        return {n: tuple(e for e in own if _is_convention(e.code)) for n, own in found.items()}

    def changes(self, step: Step) -> tuple[Recipe, ...]:
        """Return the changes of the equation of a step, which are no conventions."""
        return super().changes(step) if self.has_mistakes else ()

    def range_of(self, name: str) -> Range:
        """Return the range of the true values of a matrix, including given ones."""
        found = super().range_of(name)
        if name not in self.decimals:
            return found
        half = 0.5 * 10.0 ** -self.decimals[name]
        return Range(found.low - half, found.high + half)


def _is_convention(code: str) -> bool:
    return code.split(":")[0] in CONVENTIONS


class _Givens(NamedTuple):
    """The fields of a problem, the names of placeholders among them, and decimals by name."""

    fields: Mapping[str, Any]
    filled: frozenset[str]
    decimals: Mapping[str, int]
    most: int


def check_example(
    matrices: Mapping[str, WrittenMatrix], own: frozenset[str], read: Reader,
    said: Mapping[str, Any], *, by_one: bool = False,
) -> Checked | None:  # fmt: skip
    """Check an example by its own given matrices.

    None if no matrix follows from others.

    own: the names of the matrices in its own lines; the others precede it.
    read: returns the answer in its lines, for the expected content.
    said: the conventions that the user gives.
    by_one: whether only the usual conventions are tried, since it is long.
    """
    if (tokens := matrices.get("X")) is not None and tokens.values.ndim == 3:
        batch = [_of_batch(matrices, k) for k in range(len(tokens.values))]
        parts = [
            check_example(each, own, _with_matrices(read, each, own), said, by_one=by_one)
            for each in batch
        ]
        return _joined([each for each in parts if each], tokens.values)
    matrices = {name: _as_rounded(each) for name, each in matrices.items()}
    by_one = by_one or sum(each.values.size for each in matrices.values()) > MOST_ENTRIES
    found = _tried(_givens(matrices), matrices, own, read, said, by_one=by_one)
    if "X" not in matrices or {*matrices} & {"Q", "K", "V", "W_Q", "W_K", "W_V"}:
        return found
    alike = {**matrices, **dict.fromkeys(("Q", "K", "V"), matrices["X"])}
    other = _tried(_givens(alike), alike, own, read, said, by_one=by_one)
    if other is None or (found and found.cost < other.cost):
        return found
    return other._replace(given=("X",))


def _of_batch(matrices: Mapping[str, WrittenMatrix], k: int) -> dict[str, WrittenMatrix]:
    """Return matrices with those of one sequence of a batch, of shape (sequences, n, d)."""
    several = {n: m for n, m in matrices.items() if m.values.ndim == 3 and k < len(m.values)}
    return {**matrices, **{n: m.arranged(lambda each: each[k]) for n, m in several.items()}}


def _with_matrices(
    read: Reader, matrices: Mapping[str, WrittenMatrix], own: frozenset[str]
) -> Reader:
    """Return a reader of the same text that finds these matrices of its own lines."""
    found = {name: matrices[name] for name in own}

    def read_with(expected: Expected) -> Answer:
        known = {name: each for name, each in found.items() if name in expected.steps}
        return replace(read(expected), matrices=known)

    return read_with


def _joined(parts: Sequence[Checked], tokens: Matrix) -> Checked | None:
    """Return the sequences of a batch as one example; a result is right if all of it is."""
    if not parts:
        return None
    findings: dict[str, list[Finding]] = {}
    for k, part in enumerate(parts, start=1):
        for each in part.findings:
            place = (k, *each.place) if each.place else ()
            findings.setdefault(each.name, []).append(each._replace(place=place))
    for name, own in findings.items():
        findings[name] = [each for each in own if each.kind != RIGHT] or own[:1]
    first = parts[0].answer
    matrices = {
        name: replace(
            written,
            values=np.stack([part.answer.matrices[name].values for part in parts]),
            decimals=np.stack([part.answer.matrices[name].decimals for part in parts]),
            texts=None,
        )
        for name, written in first.matrices.items()
        if name in findings and all(name in part.answer.matrices for part in parts)
    }
    given = tokens.ravel().tolist()
    unread = tuple(each for each in first.unread if numbers_of(each.text) != given)
    matrices = {**first.matrices, **matrices}
    return parts[0]._replace(
        answer=replace(first, matrices=matrices, unread=unread),
        findings=tuple(each for name in findings if name in matrices for each in findings[name]),
    )


def _as_rounded(written: WrittenMatrix) -> WrittenMatrix:
    """Return a matrix with its decimals reduced by trailing zeros that all numbers share."""
    values, most = written.values, int(written.decimals.max(initial=0))
    with np.errstate(invalid="ignore"):
        if most > MOST_DECIMALS or (np.isnan(values) | (values == np.round(values))).all():
            return written
        for count in range(1, most):
            if (np.isnan(values) | (values == np.round(values, count))).all():
                return replace(written, decimals=np.minimum(written.decimals, count))
    return written


def _tried(
    givens: _Givens | None, matrices: Mapping[str, WrittenMatrix], own: frozenset[str],
    read: Reader, said: Mapping[str, Any], *, by_one: bool,
) -> Checked | None:  # fmt: skip
    """Return an example under the conventions that leave the fewest wrong numbers."""
    if givens is None:
        return None
    check = _checker(givens, matrices, own, read, said)
    first = best = check(None, {})
    ways = (*VARIANTS, *_scales(matrices), *_normalizers(matrices), *_heads(givens))
    tried = () if by_one else ways
    chosen: Variant = {}
    for _ in range(MOST_AT_ONCE):
        start = chosen
        for variant in tried:
            if variant.keys() & {*said, *start} or (best and not best.cost):
                continue
            found = check(best, {**start, **variant})
            if _is_better(found, best):
                best, chosen = found, {**start, **variant}
    for decimals, least in ((SURELY_ROUNDED, 1), (1, 2)):
        rounded = check(best, chosen, decimals) if best and best.cost else None
        best = rounded if best and _is_better(rounded, best, least) else best
    if best and any(each.kind == WRONG for each in best.findings):
        best = best.explained() or best
    return best and _said_where_needed(best, first)


def _checker(
    givens: _Givens, matrices: Mapping[str, WrittenMatrix], own: frozenset[str], read: Reader,
    said: Mapping[str, Any],
) -> Callable[..., Checked | None]:  # fmt: skip
    """Return a function that checks an example under a convention, and reads it if it is better.

    By the numbers of the first reading, it must be better than the best before.
    """
    done: dict[Any, Checked | None] = {}
    answers: list[Answer] = []

    def read_again(expected: Expected) -> Answer:
        answers.append(read(expected))
        return answers[-1]

    def check(best: Checked | None, way: Variant, least: int = IN_FULL) -> Checked | None:
        rounded = {n: each for n, each in givens.decimals.items() if each >= least}
        at = (*sorted(way.items()), *rounded)
        first: list[Reader] = [lambda _: answers[0]] if answers else []
        made = partial(_checked, givens, matrices, own, said=said, variant=way, rounded=rounded)
        for reader in (*first, read_again) if at not in done else ():
            done[at] = found = made(read=reader)
            if found is None or (best and not _is_better(found, best)):
                break
            again = partial(made, read=lambda _, answer=answers[-1]: answer, has_causes=True)
            done[at] = found._replace(explained=again)
        return done[at]

    return check


def _is_better(found: Checked | None, best: Checked | None, least: int = 1) -> bool:
    return found is not None and (best is None or best.cost - found.cost >= least)


def _said_where_needed(checked: Checked, first: Checked | None) -> Checked:
    """Return an example that names a convention only for results that depend on it."""
    found = first.findings if first else ()
    plain = {(each.kind, each.name, each.place) for each in found if not each.under}
    said = (
        each._replace(under=()) if (each.kind, each.name, each.place) in plain else each
        for each in checked.findings
    )
    return checked._replace(findings=tuple(said))


def _heads(givens: _Givens) -> tuple[Variant, ...]:
    """Return how many heads there may be if only the first is shown."""
    if givens.fields.get("heads") != 1:
        return ()
    widths = [len(rows[0]) for name, rows in givens.fields.items() if name in ("Q", "W_Q")]
    return tuple(
        {"heads": (count, f"there are {count} heads")}
        for count in (2, 4, 8)
        if all(width % count == 0 for width in widths)
    )


def _scales(matrices: Mapping[str, WrittenMatrix]) -> Iterator[Variant]:
    """Yield the root that divides the printed scores, as scaled scores or weights show."""
    scores = matrices.get("S")
    for name in ("S_scaled", "A"):
        other = matrices.get(name)
        if scores is None or other is None or scores.shape != other.shape:
            continue
        with np.errstate(all="ignore"):
            before, after = scores.values, other.values
            if name == "A":  # exp is undone, up to a term for each row
                before, after = (
                    each - each.mean(axis=-1, keepdims=True) for each in (before, np.log(after))
                )
            ratios = (before / after) ** 2
        ratios = ratios[np.isfinite(ratios) & (ratios > 1) & (ratios < MOST_DIVIDED)]
        root = round(float(np.median(ratios))) if ratios.size else 0
        if root and (name != "A" or abs(np.median(ratios) - root) < NEAR_ROOT * root):
            factor = str(Fraction(1) / Fraction(repr(root**0.5)))
            yield {"scale": (factor, f"the scores are divided by √{root}")}


def _normalizers(matrices: Mapping[str, WrittenMatrix]) -> tuple[Variant, ...]:
    """Return what replaces the softmax: the largest score alone, or each score over their sum."""
    weights = matrices.get("A")
    if weights is None or weights.values.shape[-2:] == (1, 1):
        return ()
    shares, says = weights.values, "each score is divided by the sum of its row"
    found = []
    ties = 1 / shares[shares > 0]
    if (shares == 0).any() and (np.abs(ties - np.round(ties)) <= ALIKE * ties).all():
        found.append({"normalizer": ("hardmax", "each query attends to its largest score alone")})
    for scores in (matrices[name].values for name in ("S", "S_scaled") if name in matrices):
        with np.errstate(all="ignore"):
            made = [scores / scores.sum(axis=axis, keepdims=True) for axis in (-1, -2)]
        if scores.shape == shares.shape and any(np.abs(m - shares).mean() <= ALIKE for m in made):
            found.append({"normalizer": ("sum", says)})
    return tuple(found[:1])


def _givens(matrices: Mapping[str, WrittenMatrix]) -> _Givens | None:
    """Return the problem of an example; None if there is none."""
    whole = {
        name: each
        for name, each in matrices.items()
        if not each.problem and not np.isnan(each.values).any()
    }
    fields = {n: each for n, each in whole.items() if n in GIVEN and n not in IN_ORDER[3:]}
    made = {
        name
        for name, tokens in _TOKENS.items()
        if f"W_{name}" in fields
        and not fields.keys().isdisjoint(tokens)
        and not _are_of_others(whole, name, tokens)
    }
    there = made | (fields.keys() & {*_TOKENS})
    for name in _TOKENS:
        for each in (name,) if name in made else (f"W_{name}", f"b_{name}"):
            fields.pop(each, None)
    if not made:
        fields = {name: each for name, each in fields.items() if name not in _OF_TOKENS}
    weights = whole["A"].values if "A" in whole else np.zeros(0)
    if (weights < 0).any() or (weights > 1).any():  # scores in a softmax
        whole.pop("A")
    scores = next((each for each in ("S", "S_scaled", "A") if each in whole), "")
    filled: frozenset[str] = frozenset()
    if there >= {"Q", "K"} or not scores:
        filled = _filled(fields, there)
    elif scores == "A" and "V" not in there:
        return None
    else:
        fields = {n: each for n, each in fields.items() if n not in _OF_SCORES}
        fields["A" if scores == "A" else "S"] = whole[scores]
    if not fields.keys() & {"S", "A", "V", "W_V"}:
        return None
    decimals = [each.decimals for name, each in matrices.items() if name in IN_ORDER]
    most = max((int(each[each < IN_FULL].max(initial=0)) for each in decimals), default=0)
    given = {name: _typed(each) for name, each in fields.items()}
    counts = {name: int(each.decimals.max()) for name, each in fields.items()}
    heads = max((len(each.values) for each in whole.values() if each.values.ndim == 3), default=0)
    return _Givens(
        given
        | ({"scale": "none"} if scores == "S_scaled" and "S" in fields else {})
        | ({"heads": heads} if heads else {}),
        filled,
        {name: count for name, count in counts.items() if 1 <= count < IN_FULL},
        min(max(most, 1), MOST_DECIMALS),
    )


_TOKENS = {"Q": ("X", "X1"), "K": ("X", "X2"), "V": ("X", "X2")}
"""The sources of projections for queries, keys and values."""
_OF_TOKENS = ("X", "X1", "X2", "P")
_OF_SCORES = ("Q", "K", "W_Q", "W_K", "b_Q", "b_K")


def _are_of_others(whole: Mapping[str, WrittenMatrix], name: str, tokens: Sequence[str]) -> bool:
    """Return whether queries, keys or values are printed in a shape that tokens cannot give.

    A single row may be the vector of one token.
    """
    sizes = {size for each in tokens if each in whole for size in whole[each].shape}
    shape = whole[name].shape[-2:] if name in whole else ()
    is_vector = shape == (1, whole[f"W_{name}"].shape[-1])
    return name in whole and not is_vector and sizes.isdisjoint(shape)


def _filled(fields: dict[str, WrittenMatrix], there: set[str]) -> frozenset[str]:
    """Add placeholders for queries, keys or values that a lesson leaves out; return their names."""
    like = next((each for each in "VKQ" if each in there), "")
    missing = sorted(_TOKENS.keys() - there) if like else []
    for name in missing:
        source = like if like in fields else f"W_{like}"
        fields[source.replace(like, name)] = fields[source]
    return frozenset(each for name in missing for each in (name, f"W_{name}"))


def _typed(written: WrittenMatrix) -> Any:
    """Return the entries of a matrix as texts that a problem reads, exactly as typed."""
    texts = [
        f"{value:.{count}f}" if count < IN_FULL and np.isfinite(value) else repr(float(value))
        for value, count in zip(written.values.flat, written.decimals.flat, strict=True)
    ]
    return np.array(texts, dtype=object).reshape(written.shape).tolist()


def _checked(
    givens: _Givens, matrices: Mapping[str, WrittenMatrix], own: frozenset[str], read: Reader,
    said: Mapping[str, Any], variant: Variant, rounded: Mapping[str, int], *,
    has_causes: bool = False,
) -> Checked | None:  # fmt: skip
    """Return an example checked under one convention; None if shapes do not match.

    has_causes: whether the causes of wrong numbers are asked for.
    """
    slack = ToTheDigit(givens.most)
    settings = {name: value for name, (value, _) in variant.items()}
    under = tuple(says for _, says in variant.values())
    try:
        problem = Problem(**{"decimals": givens.most, **givens.fields, **settings, **said})
        key = _RoundedKey(problem, slack, rounded, has_causes)
        steps = {name: each for name, each in key.steps.items() if _follows(key, each, givens)}
        if not steps:
            return None
        expected = replace(
            key.expected,
            steps={name: each for name, each in key.expected.steps.items() if name in steps},
            given={n: m for n, m in key.expected.given.items() if n not in givens.filled},
        )
        with key.names_at_hand(), np.errstate(all="ignore"):
            answer = read(expected)
            there = {name: each for name, each in matrices.items() if name not in own}
            answer = _renamed(_with_rows(answer, {n: matrices[n] for n in own}, key), expected)
            rounded_off = {name: _as_rounded(each) for name, each in answer.matrices.items()}
            rounded_off = {n: _with_all_heads(each, key, n) for n, each in rounded_off.items()}
            answer = replace(answer, matrices=there | rounded_off)
            asked = tuple(name for name in steps if name in answer.matrices)
            marking = mark(key, answer, Rules(asked=asked, require=asked))
    except AttncalcError:
        return None
    if rounded:
        under = (*under, f"{of_each([*rounded])} {'are' if len(rounded) > 1 else 'is'} rounded")
    names = tuple(name for name in givens.fields if name not in givens.filled and name in matrices)
    others = [each for each in own if each in STEP_TITLES and each not in {*steps, *names}]
    judge = _Judge(marking, under, own | {*answer.matrices} - {*there}, others)
    judged = [judge.judged(each) for each in marking.steps]
    shown = tuple(each for said_of in judged for each in said_of if each.name not in there)
    lost = sum(
        matrices[name].values.size
        for name in own
        if name in IN_ORDER and name not in steps and name not in names
    )
    inputs = {name: step.inputs for name, step in steps.items()}
    return Checked(answer, names, shown, inputs, lost, judge.loose)


def _with_all_heads(written: WrittenMatrix, key: Key, name: str) -> WrittenMatrix:
    shape = key.shown[name].shape if name in key.shown else ()
    is_first = len(shape) == 3 and written.shape == (1, *shape[1:])
    return written.with_heads(shape[0]) if is_first else written


def _with_rows(answer: Answer, own: Mapping[str, WrittenMatrix], key: Key) -> Answer:
    """Return an answer in which unnamed single rows belong to the row being computed.

    softmax([2, 4, 4]) = [0.06, 0.47, 0.47] is the row of weights for the row [2, 4, 4] of scores.
    """
    row = None
    for name in key.steps:
        written, shown = answer.matrices.get(name, own.get(name)), key.shown[name]
        if written is None or shown.ndim != 2:
            continue
        if name in answer.matrices:
            answered = np.flatnonzero(~np.isnan(written.values).all(axis=-1))
            row = int(answered[0]) if len(answered) == 1 else None
        elif written.shape == (1, shown.shape[-1]):
            alike = (np.abs(shown - written.values) <= ALIKE).mean(axis=-1)
            row = int(alike.argmax()) if row is None and alike.max() >= MOST_ALIKE else row
            if row is None or row >= len(shown):
                continue
            made = written.padded((row, len(shown) - row - 1), (0, 0))
            unread = tuple(each for each in answer.unread if f"where {name} has" not in each.why)
            answer = replace(answer, matrices={**answer.matrices, name: made}, unread=unread)
    return answer


def _renamed(answer: Answer, expected: Expected) -> Answer:
    """Return an answer with a result under the name of the step that its numbers agree with.

    "Weights (divided by √2)" are not scaled scores if every entry agrees with the weights.
    """
    for name, written in answer.matrices.items():
        if expected.agreement(name, written.values) > 0:
            continue
        there = {*answer.matrices} - {name}
        meant = (n for n in expected.steps if expected.agreement(n, written.values) == 1)
        other = next((each for each in meant if each not in there), None)
        if other is not None:
            matrices = {other if n == name else n: each for n, each in answer.matrices.items()}
            taken = tuple(
                each._replace(what=each.what.replace(name, other))
                if each.what == name or each.what.startswith((f"{name}[", f"{name} "))
                else each
                for each in answer.taken
            )
            return _renamed(replace(answer, matrices=matrices, taken=taken), expected)
    return answer


def _follows(key: Key, step: Step, givens: _Givens) -> bool:
    """Return whether a step follows from given matrices, without placeholders."""
    return step.name not in givens.filled and all(
        name not in givens.filled
        and (name not in key.steps or _follows(key, key.steps[name], givens))
        for name in step.inputs
    )


class _Values(DigitsWalk):
    """Only stores the values of an answer, and looks for no causes."""

    def causes(self, *_: Any) -> tuple[Cause, ...]:
        return ()


class _Judge:
    """Finds the errors of each step, and the conventions under which other entries are right."""

    def __init__(
        self, marking: Marking, under: tuple[str, ...], own: frozenset[str], others: Sequence[str]
    ) -> None:
        self.marking, self.under, self.of_example, self.others = marking, under, own, others
        self.mended: Known | None = None
        self.loose, self.is_of_others = 0, False

    @cached_property
    def own(self) -> Known:
        marking = self.marking
        walk = _Values(marking.key, marking.answer, marking.rules, marking.key.slack)
        walk.marks()
        return walk.own

    def judged(self, marks: StepMarks) -> list[Finding]:
        name, written = marks.step.name, marks.written
        assert written is not None
        if marks.count(Status.WRONG_SHAPE) or written.shape != marks.expected.shape:
            why = marks.problem or "it has another shape"
            self.is_of_others = True
            return [Finding(UNCHECKED, name, why=why)]
        wrong = marks.statuses == NUMBER_OF[Status.WRONG]
        wrong &= ~_is_float(written, marks.expected) & ~self._is_shown(written, marks.expected)
        meant = next((each for each in marks.causes if each.family in CONVENTIONS), None)
        wrong &= meant is None
        wrong |= self._alone(marks, written, meant)
        cut, others = self._cut(marks, written, meant.says if meant else "")
        if cut.sum() > (others & ~wrong).sum():
            meant, cut = meant or _CUT, cut & False
        meant, wrong = None if cut.any() else meant, wrong | cut
        if not wrong.any() or (meant not in (None, _CUT) and wrong.sum() > 1):
            under = (*self.under, meant.says) if meant else self.under
            return [Finding(RIGHT, name, under=under)]
        under, wrong, expected = self._best(marks, written, wrong)
        if not wrong.any():
            return [Finding(RIGHT, name, under=under)]
        answered = ~np.isnan(written.values)
        off, there = (each.sum(axis=(-1, -2), keepdims=True) for each in (wrong, answered))
        is_small = (there <= FEW_ENTRIES) | (off <= MOST_WRONG * there)
        sure: Matrix = wrong & ((2 * off <= there) | (self._is_printed(marks.step) & is_small))
        unsure = Finding(UNCHECKED, name, why="most entries do not follow from the values before")
        rest, wrong = [unsure] if (wrong & ~sure).any() else [], sure
        why = self._unsure(marks.step, written, wrong) if sure.any() else unsure.why
        if why:
            return [Finding(UNCHECKED, name, why=why)]
        points = np.where(wrong, expected, written.values)
        behind = self.marking.key.slack.behind(points, self._fine(written))
        self.mended = (self.mended or self.own).with_matrices({name: points}, {name: behind})
        own = marks.causes if under == self.under else ()
        causes = [each.says for each in own if each.code != ANY_SLIP]
        said = Finding(WRONG, name, under=under, why="; ".join(causes[:2]))
        if cut.any():
            said = said._replace(why="its digits are cut off, where others are rounded")
            unit = np.copysign(10.0**-written.decimals, written.values)
            expected = np.where(cut, written.values + unit, expected)
        places = np.argwhere(wrong).tolist()
        return [
            *(said._replace(**self._entry(written, (*each,), expected)) for each in places),
            *rest,
        ]

    def _alone(self, marks: StepMarks, written: WrittenMatrix, meant: Cause | None) -> Matrix:
        """Return the entry that is wrong if the others are exact, or follow from printed values.

        Entries that only some rounding of earlier values explains are counted as loose.
        """
        none = np.zeros(written.shape, dtype=bool)
        if marks.way or (marks.statuses == NUMBER_OF[Status.CORRECT]).all():
            return none
        fits = [
            self._is_near(written, Range.at(made)) | _is_float(written, made)
            for made in self._exactly(marks.step, meant)
            if made.shape == written.shape
        ]
        answered = ~np.isnan(written.values)
        loose = answered & ~np.logical_or.reduce(fits) if fits else none
        is_alone = loose.sum() == 1 and answered.sum() >= FEWEST_ALIKE
        if is_alone and any((each | loose | ~answered).all() for each in fits):
            return loose
        self.loose += int(loose.sum())
        return none

    def _exactly(self, step: Step, meant: Cause | None) -> Iterator[Matrix]:
        """Yield a step without rounding, and from the values as printed."""
        key = self.marking.key
        recipes = [each for each in key.recipes[step.name] if meant and each.code == meant.code]
        if not recipes:
            yield key.exact[step.name].astype(np.float64)
        for rule in self.own.rules(step)[1:]:
            with suppress(ValueError, InputError), np.errstate(all="ignore"):
                yield self.own.result(step, rule, *recipes[:1]).low

    def _cut(self, marks: StepMarks, written: WrittenMatrix, says: str) -> tuple[Matrix, Matrix]:
        """Return which entries are cut and not rounded, and which are not cut."""
        step = marks.step
        right, cut = (self._styles(step.name, written, cuts=each) for each in (False, True))
        exact = self.marking.key.exact[step.name].astype(np.float64)
        if not says and exact.shape == written.shape:
            right |= self._is_shown(written, exact)
        for under, made in () if marks.way else self._otherwise(step):
            if under == says and made.low.shape == written.shape:
                right |= self._is_near(written, made)
                size = 10.0 ** np.minimum(written.decimals, MOST_DECIMALS)
                with np.errstate(invalid="ignore"):
                    same: Matrix = np.trunc(made.middle * size) == np.round(written.values * size)
                cut |= same
        broken = written.values != np.round(written.values)
        return cut & ~right & broken, ~cut & broken

    def _styles(self, name: str, written: WrittenMatrix, *, cuts: bool) -> Matrix:
        """Return which entries agree with a flawless script that cuts digits, or that rounds."""
        found = np.zeros(written.shape, dtype=bool)
        for style, script in self.marking.key.scripts.items():
            is_so = (style.rule == "truncate") == cuts
            if is_so and name in script and script[name].shape == written.shape:
                found |= script[name] == written.values
        return found

    def _unsure(self, step: Step, written: WrittenMatrix, wrong: Matrix) -> str:
        """Return why a step may follow from something else than the given matrices; "" if not."""
        if self.is_of_others and wrong[~np.isnan(written.values)].all():
            return "a step before it has another shape"
        if wrong.ndim == 3 and any(head.all() for head in wrong):
            return "no entry of a head follows from the values read before it"
        if not self._belongs(step) and wrong.mean() >= 1 - OF_THE_SAME:
            return "it may belong to other given matrices than those of the example before it"
        order = [*STEP_TITLES]
        at = order.index(step.name)
        first = min((order.index(name) for name in step.inputs if name in order), default=at)
        between = [name for name in self.others if first < order.index(name) < at]
        known = "for which no rule is known here"
        return f"it may follow from {of_each(between)}, {known}" if between else ""

    def _is_shown(self, written: WrittenMatrix, expected: Matrix) -> Matrix:
        """Return which entries are right as typed: -2. is -1.999 without decimals."""
        texts = [written.text(place) for place in np.ndindex(written.shape)]
        counts = [len(each.replace(",", ".").partition(".")[2]) for each in texts]
        shown = [np.round(v, c) for v, c in zip(expected.flat, counts, strict=True)]
        return np.asarray(np.reshape(shown, written.shape) == written.values)

    def _entry(self, written: WrittenMatrix, place: Place, expected: Matrix) -> dict[str, Any]:
        key, found = self.marking.key, written.text(place)
        decimals = min(len(found.replace(",", ".").partition(".")[2]), key.problem.decimals)
        shown = tuple(index + 1 for index in key.work.turned(place))
        return {
            "place": shown,
            "found": found.rstrip("†"),
            "right": f"{float(expected[place]):.{decimals}f}",
        }

    def _best(
        self, marks: StepMarks, written: WrittenMatrix, wrong: Matrix
    ) -> tuple[tuple[str, ...], Matrix, Matrix]:
        """Return the conventions with most entries right, the remaining errors, and all errors."""
        answered = ~np.isnan(written.values)
        best = self.under, wrong, marks.expected
        others = [*self._otherwise(marks.step)]
        for says, made in chain(others, _masked(marks.step, written, others)):
            if made.low.shape != wrong.shape:
                continue
            off = ~self._is_near(written, made) & ~_is_float(written, made.middle)
            off &= answered if says else wrong  # a convention applies to all of a step
            if off.sum() < best[1].sum() and (not says or 2 * off.sum() < answered.sum()):
                best = (*self.under, says) if says else self.under, off, made.middle
        return best

    def _is_printed(self, step: Step) -> bool:
        """Return whether the inputs of a step are printed, and not intermediate results."""
        key, written = self.marking.key, self.marking.answer.matrices
        return step.name not in ("Q", "K", "V") and all(
            name in written
            or name not in key.steps
            or (name.startswith("S_") and self._is_printed(key.steps[name]))
            for name in step.inputs
        )

    def _belongs(self, step: Step) -> bool:
        """Return whether a matrix that a step follows from is in the example itself."""
        steps, written = self.marking.key.steps, self.marking.answer.matrices
        return any(
            name in self.of_example
            or (name in steps and name not in written and self._belongs(steps[name]))
            for name in step.inputs
        )

    def _is_near(self, written: WrittenMatrix, made: Range) -> Matrix:
        return self.marking.key.slack.near(written.values, self._fine(written), made)

    def _fine(self, written: WrittenMatrix) -> Matrix:
        return np.asarray(np.maximum(written.decimals, self.marking.key.problem.decimals))

    def _otherwise(self, step: Step) -> Iterator[tuple[str, Range]]:
        """Yield the ranges of a step with earlier mistakes corrected, and by other conventions."""
        plain = Known(self.marking.key, self.marking.key.slack)
        for known in filter(None, (self.own, self.mended, plain)):
            with suppress(ValueError, InputError):
                yield "", known.result(step, None)
            for each in (*known.missing(step), step):
                for recipe in self.marking.key.recipes[each.name]:
                    if _is_convention(recipe.code):
                        with suppress(ValueError, InputError):
                            yield recipe.says, known.result(step, None, recipe)


def _masked(
    step: Step, written: WrittenMatrix, others: Sequence[tuple[str, Range]]
) -> Iterator[tuple[str, Range]]:
    """Yield the ranges of weights if the entries that are shown as 0, or left out, are masked.

    others: the ranges without a mask. Each entry is divided by the sum of those of its row that
        are not masked.
    """
    is_kept = np.nan_to_num(written.values) != 0
    if step.role != "weights" or is_kept.all() or not is_kept.any(axis=-1).all():
        return
    for says, made in others:
        if made.low.shape == is_kept.shape:
            low, high = (np.where(is_kept, each, 0) for each in made)
            least, most = (each.sum(axis=-1, keepdims=True) for each in (low, high))
            with np.errstate(invalid="ignore", divide="ignore"):  # where no weight is left
                masked = Range(low / (low + most - high), high / (high + least - low))
            yield " and ".join(filter(None, (says, MASKED_BY_ZERO))), masked


def _is_float(written: WrittenMatrix, expected: Matrix) -> Matrix:
    """Return which entries are right except for the last digits of a float32."""
    if written.shape != expected.shape:
        return np.zeros(written.shape, dtype=bool)
    digits = np.array([len(str(each).lstrip("-0.").replace(".", "")) for each in (
        written.texts.flat if written.texts is not None else written.values.flat
    )]).reshape(written.shape)  # fmt: skip
    size = np.abs(expected).max(axis=-1, keepdims=True, initial=0, where=np.isfinite(expected))
    with np.errstate(invalid="ignore"):  # of infinities
        near: Matrix = np.abs(written.values - expected) <= NEAR * size
    return near & (digits >= LIKE_A_FLOAT)
