"""Finds the step of each tensor of a program, by its name, its shape and its numbers.

A tensor whose numbers are those of a step is that step. Others are a step only if their name says
so, or if they follow from the program's own numbers or from one mistake with them. The rest is
listed, and never matched by force.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.types import Matrix, Range
from attncalc.grading.framework import LATER, Array, Found
from attncalc.grading.key import Key
from attncalc.grading.known import Known
from attncalc.grading.slack import Within, stands_for_minus_infinity
from attncalc.problem.fields import own_name
from attncalc.reading.answers.answer import IN_FULL, Answer, Unread, WrittenMatrix
from attncalc.reading.answers.expected import MINUS_INFINITY_WRITTEN
from attncalc.reading.models.hooks import Meant, Names

MOST_BATCHED = 16
"""The largest number of elements of a batch that are compared."""
MOST_UNSURE = 3
"""The number of steps for which mistakes explain a tensor whose name may be any of several."""
TOKENS = ("X", "X1", "X2", "X3")
"""The given matrices that every program has, and that need no remark."""
_OF_NO_KEYS = "rows of queries without allowed keys are not compared (weights here: 0)"
OPERANDS = (".query()", ".key()", ".value()")
"""The ends of the names of what an operation reads."""
OF_OPERATION = "()"
"""The end of the name of an operation that a trace records, and that need not be any step."""
_OF_TITLE = re.compile(r"\blayer (\d{1,5})\b")
"""The number of a layer, in the title of a problem of a model."""
_SECOND = re.compile(r"\.outputs?(\.\d)?$")
"""The end of the name of another output of a module, or of a module in it with this name."""


def answer_of_tensors(
    key: Key,
    tensors: Mapping[str, Matrix],
    place: str,
    own: Mapping[str, str],
    known: Mapping[str, str],
) -> Answer:
    """Return the answer in a program's tensors: each step under its name, in the plan's layout.

    key: the solved layer, with the tolerance.
    tensors: the arrays, by the names that hooks or a program give them.
    own: fields by ends of names with a special meaning in the family of the model.
    known: the name that says what a tensor is, by its own, where these differ.
    """
    names = Names(key.steps, own, LATER)
    meant = {name: names.meant(known.get(name, name)) for name in tensors}
    layers = sorted({each.layer for each in meant.values() if each.layer is not None})
    if len(layers) > 1:  # of a whole model: modules outside of its layers are no steps of one
        meant = {
            name: Meant() if each.layer is None and "." in name else each
            for name, each in meant.items()
        }
    has_several = len(layers) > 1 and not any(name[0].isdigit() for name in key.steps)
    if not has_several:
        return _Reading(key, _tensors(key, tensors, meant)).answer(place)
    readings = {layer: _Reading(key, _tensors(key, tensors, meant, only=layer)) for layer in layers}
    best, why = max(readings, key=lambda layer: len(readings[layer].names)), "its numbers agree"
    if not readings[best].names:
        titled = _OF_TITLE.search(key.problem.title or "")
        best, why = int(titled[1]) if titled else -1, "the title of the problem says so"
    if best not in readings:
        raise InputError(
            f"{place}: layers {', '.join(map(str, layers))} are in it, and the numbers of none are "
            "those of this problem: keep the tensors of the layer to compare, or allow larger "
            "differences, as --atol 1e-5"
        )
    others = ", ".join(str(each) for each in layers if each != best)
    said = f"layer {best} is compared, since {why}, and not layer {others}"
    return readings[best].answer(place, (said,))


Element = tuple[int, WrittenMatrix]
"""An element of a batch, from 0, and its matrix; -1 for a tensor without a batch."""


class Tensor(NamedTuple):
    """A tensor, or a part of one, and the steps that it may be."""

    name: str
    elements: tuple[Element, ...]
    steps: tuple[str, ...] = ()
    is_sure: bool = False


def _tensors(
    key: Key, tensors: Mapping[str, Matrix], meant: Mapping[str, Meant], only: int | None = None
) -> list[Tensor]:
    """Return the tensors of a layer, each part of a fused one by itself."""
    found: list[Tensor] = []
    for name, array in tensors.items():
        said = meant[name]
        if only is not None and said.layer not in (None, only):
            continue
        fused = _split(key, name, array, said) if len(said.parts) > 1 else []
        found += fused or [
            Tensor(name, _without_batch(array), said.parts[0] if said.parts else (), said.is_sure)
        ]
    return found


def _split(key: Key, name: str, array: Matrix, said: Meant) -> list[Tensor]:
    """Return the parts of an array with several steps side by side; [] if it has another width.

    They are one after another, or so in each of several blocks of heads: the order in which more
    numbers agree.
    """
    shapes = [key.shown[steps[0]].shape for steps in said.parts]
    heads = [shape[0] if len(shape) == 3 else 1 for shape in shapes]
    widths = [shape[-1] * count for shape, count in zip(shapes, heads, strict=True)]
    if array.ndim < 2 or array.shape[-1] != sum(widths):
        return []
    orders = [range(len(shapes)), (0, 2, 1)][: len(shapes) - 1]  # CodeGen: Q, V, K
    listed = []
    for blocks, order in product(range(1, min(heads) + 1), orders):
        if any(count % blocks for count in heads):
            continue
        ends = np.cumsum([widths[at] // blocks for at in order])[:-1]
        parts = np.split(array.reshape(*array.shape[:-1], blocks, -1), ends, axis=-1)
        whole = [parts[order.index(at)].reshape(*array.shape[:-1], -1) for at in range(len(parts))]
        listed.append(
            [
                Tensor(f"{name}[{steps[0]}]", _without_batch(part), steps, said.is_sure)
                for part, steps in zip(whole, said.parts, strict=True)
            ]
        )
    return max(listed, key=lambda each: len(_Reading(key, each).names))


def _without_batch(array: Matrix) -> tuple[Element, ...]:
    """Return the matrices that an array may be: itself, or an element of its batch."""
    wide = np.asarray(array, np.float64)
    while wide.ndim > 3 and len(wide) == 1:
        wide = wide[0]
    found = [(-1, wide)] if wide.ndim in (2, 3) else []
    if wide.ndim in (3, 4):
        found += enumerate(wide[:MOST_BATCHED])
        found += [(0, wide[:, 0])] if wide.shape[1] == 1 else []
    written = ((at, WrittenMatrix(each, np.full(each.shape, IN_FULL))) for at, each in found)
    return tuple((at, each) for at, each in written if each.values.size)


class _Reading:
    """The steps that tensors are: those with the numbers of a step first, in `names`."""

    def __init__(self, key: Key, tensors: Sequence[Tensor]) -> None:
        self.key = key
        self.names: dict[str, str] = {}
        self.left: list[Tensor] = []
        self.own, self.batch = Known(self.key, self.key.slack), Counter[int]()
        self.remarks: list[str] = []
        self._given = self.key.problem.given
        self.agreed: set[str] = set()
        self._sizes = {n: _size(each, self.key) for n, each in self.key.exact.items()}
        self._matrices: dict[str, WrittenMatrix] = {}
        weights = {n: self.key.exact[n] for n, e in self.key.steps.items() if e.role == "weights"}
        no_keys = {
            n: np.any((A == 0).all(axis=-1).reshape(-1, A.shape[-2]), axis=0)
            for n, A in weights.items()
        }
        self._without_keys = {n: rows for n, rows in no_keys.items() if 0 < rows.sum() < len(rows)}
        self._firsts = {each.steps[0] for each in tensors if each.is_sure and each.steps}
        # names first: an array without one is never what another is called
        for each in sorted(tensors, key=lambda each: (not each.steps, not each.is_sure)):
            self._by_numbers(each)

    def _by_numbers(self, tensor: Tensor) -> None:
        """Take a tensor with the numbers of a step; also if it is that step once more."""
        named = self._firsts - self.agreed
        steps = self._steps(tensor) or [n for n in self.key.steps if n not in named]
        for element, written in tensor.elements:
            filled = {n: self._filled(written, n) for n in steps}
            near = {n: each for n, each in filled.items() if self._may_be(each.values, n)}
            found = (Array(self.own, [n], each).by_numbers() for n, each in near.items())
            taken = next((each for each in found if each is not None), None)
            taken = taken or self._in_other_order([*near], written)
            if taken is not None:
                if sum(at >= 0 for at, _ in tensor.elements) > 1 and element >= 0:
                    self.batch[element] += 1
                self._take(tensor, taken)
                self.agreed.add(taken.step)
                return
        if not any(self._is_given(tensor, written) for _, written in tensor.elements):
            self.left.append(tensor)

    def _filled(self, written: WrittenMatrix, step: str) -> WrittenMatrix:
        """Return an array with the numbers of a step in rows of queries without allowed keys.

        Their softmax is NaN in PyTorch, and equal weights in transformers.
        """
        right, values = np.asarray(self.key.exact[step], np.float64), written.values
        if right.ndim == 3 and values.shape[-1] == len(right) * right.shape[-1]:
            right = np.concatenate([*right], axis=1)  # heads side by side
        known = [A for n, A in self._without_keys.items() if n in self.key.before[step]]
        rows = [each for each in known if right.ndim > 1 and len(each) == right.shape[-2]]
        if not rows or (*values.shape[-right.ndim :], values.size) != (*right.shape, right.size):
            return written
        near = self.key.slack.near(values, written.decimals, Range.at(right))
        other = ~near & np.any(rows, axis=0)[:, np.newaxis]
        return replace(written, values=np.where(other, right, values)) if other.any() else written

    def _in_other_order(self, steps: Sequence[str], written: WrittenMatrix) -> Found | None:
        """Return queries or keys of a latent attention whose columns have another order.

        Programs place the columns that rope turns first or last: the scores are the same.
        """
        if not any(own_name(name) == "K_R" for name in self.key.steps):
            return None
        for step in (n for n in steps if own_name(n) in ("Q", "Q_rot", "K", "K_rot")):
            right = self.key.exact[step]
            for found in Array(self.own, [step], written).forms():
                marks = (_marks(each) for each in (right, found.written.values))
                ours, theirs = (np.argsort(each) for each in marks)
                order = np.empty_like(ours)
                order[ours] = theirs
                ordered = found.written.arranged(lambda array, to=order: array[..., to])
                if self.key.slack.near(ordered.values, ordered.decimals, Range.at(right)).all():
                    return Found(step, ordered, (*found.says, "read in another order of columns"))
        return None

    def _steps(self, tensor: Tensor) -> list[str]:
        return [each for each in tensor.steps if each in self.key.steps]

    def _may_be(self, values: Matrix, step: str) -> bool:
        """Return whether the mean square of numbers, in any layout, is that of a step."""
        size, allowed = self._sizes[step]
        return abs(_root_mean_square(values) - size) <= allowed

    def _is_given(self, tensor: Tensor, written: WrittenMatrix) -> bool:
        """Return whether a tensor is a given matrix, such as the tokens, or rows of one or a step.

        Programs compute only the used rows of a table: these are no other numbers of its step.
        """
        steps = self._steps(tensor)
        tokens = [n for n in TOKENS if n in self._given]
        tables = [n for n in tensor.steps if n in self._given] or [*tokens, *steps]
        for name in tables if tensor.steps else self._given:
            table = self._given[name] if name in self._given else self.key.exact[name]
            if (start := self._start_in(np.asarray(table, np.float64), written)) is None:
                continue
            if name not in TOKENS:
                rows = f"rows {start + 1} to {start + written.shape[0]} of {name}"
                self.remarks.append(f"{tensor.name} is {rows}")
            return True
        return False

    def _start_in(self, table: Matrix, written: WrittenMatrix) -> int | None:
        """Return the row of a table, heads side by side, where a tensor begins; None for none."""
        wide = np.concatenate([*table], axis=1) if table.ndim == 3 else table
        values, decimals = written.values, written.decimals
        if values.ndim != 2 or wide.ndim != 2 or values.shape[1] != wide.shape[1]:
            return None
        near, count = self.key.slack.near, len(values)
        starts = range(len(wide) - count + 1)
        first = [
            n for n in starts if near(values[:1], decimals[:1], Range.at(wide[n : n + 1])).all()
        ]
        fits = (n for n in first if near(values, decimals, Range.at(wide[n : n + count])).all())
        return next(fits, None)

    def _take(self, tensor: Tensor, found: Found) -> None:
        """Keep a tensor as its step, unless the step is there already."""
        name, values = found.step, found.written.values
        if name in self.names:
            return
        self.names[name] = tensor.name
        if not tensor.name.endswith(OF_OPERATION):
            is_other = [f"taken for {name}"] if [name] != self._steps(tensor)[:1] else []
            self.remarks += [f"{tensor.name} is {each}" for each in (*is_other, *found.says)]
        shown = self.key.shown[name]
        if values.shape == shown.shape:
            points = np.where(stands_for_minus_infinity(values, shown), -np.inf, values)
            self.own.keep(name, points, Range.at(points))
        place = tensor.name
        self._matrices[name] = WrittenMatrix(values, found.written.decimals, place=place)

    def answer(self, place: str, remarks: Sequence[str] = ()) -> Answer:
        """Return the answer, with the tensors that differ where their names or a mistake say so."""
        order = {name: number for number, name in enumerate(self.key.steps)}
        self.left.sort(key=lambda each: order.get(each.steps[0], 10**6) if each.steps else 0)
        unread = [why for each in self.left for why in self._differing(each)]
        said = (*remarks, *dict.fromkeys(self.remarks))
        unnamed = [each.name for each in self.left if not each.steps]
        if self._without_keys:
            said = (*said, _OF_NO_KEYS)
        if unnamed := [name for name in unnamed if not name.endswith(OF_OPERATION)]:
            said = (*said, f"no step has the numbers of {', '.join(unnamed)}")
        if self.batch:
            said = (*said, *(f"element {at + 1} of the batch is compared" for at in self._element))
        return Answer(place, self._matrices, unread=tuple(unread), remarks=said, is_arranged=True)

    def _differing(self, tensor: Tensor) -> Iterator[Unread]:
        """Take a tensor that has the numbers of no step, or yield why it is none."""
        steps = self._steps(tensor)
        written = self._written(tensor, steps)
        written = [self._filled(each, steps[0]) for each in written] if steps else written
        if any(self._is_again(n, each) for n in steps if n in self.names for each in written):
            return
        steps = [n for n in steps if self._is_open(n, tensor)]
        is_operand = tensor.name.endswith(OPERANDS)
        if is_operand:  # of a product: what is read there, whatever was there before
            steps = [n for n in steps if self._read_otherwise(n, tensor, written)]
        free = [n for n in steps if n not in self.names]
        taken = self._by_mistake(tensor, free if tensor.is_sure else free[:MOST_UNSURE], written)
        if taken is not None:
            self._take(tensor, taken)
        elif self._is_expected(tensor):
            yield self._why(tensor)

    def _written(self, tensor: Tensor, steps: Sequence[str]) -> list[WrittenMatrix]:
        """Return the matrix that a tensor is: as a whole if a step has its shape, or of a batch."""
        whole = [each for at, each in tensor.elements if at < 0]
        if steps and any(True for each in whole for _ in Array(self.own, steps, each).forms()):
            return whole
        wanted = {-1, *self._element}
        return [each for at, each in tensor.elements if at in wanted]

    def _by_mistake(
        self, tensor: Tensor, steps: Sequence[str], written: Sequence[WrittenMatrix]
    ) -> Found | None:
        """Return the step that a tensor is although its numbers are others; None for none."""
        stand = [each for one in written if steps for each in Array(self.own, steps, one).forms()]
        if len(stand) == 1 and tensor.is_sure:
            return stand[0]
        found = (Array(self.own, steps, each).by_mistake() for each in written if stand)
        taken = next((each for each in found if each is not None), None)
        return taken or (stand[0] if tensor.is_sure and stand else None)

    def _is_again(self, step: str, written: WrittenMatrix) -> bool:
        """Return whether numbers are those of the tensor that is a step already."""
        found, points = Array(self.own, [step], written).by_shape(), self.own.points.get(step)
        if found is None or points is None or found.written.shape != points.shape:
            return False
        right = Range.at(points)
        return bool(self.key.slack.near(found.written.values, written.decimals, right).all())

    def _read_otherwise(self, step: str, tensor: Tensor, written: Sequence[WrittenMatrix]) -> bool:
        """Take the operand of a product in place of a step that agrees, if one mistake made it.

        Return whether the step is still to be found.
        """
        if step not in self.names:
            return True
        points = self.own.points.pop(step, None)
        behind = self.own.behind.pop(step, None)
        fresh = self.own.with_matrices({}, {})
        found = [Array(fresh, [step], each).by_mistake() for each in written]
        taken = next((each for each in found if each is not None), None)
        if taken is not None:
            del self.names[step]
            self.agreed.discard(step)
            self._take(tensor, taken)
        elif points is not None and behind is not None:
            self.own.keep(step, points, behind)
        return False

    @property
    def _element(self) -> list[int]:
        """The element of a batch that agrees most often; the first one if none does."""
        return [at for at, _ in self.batch.most_common(1)] or [0]

    def _is_open(self, step: str, tensor: Tensor) -> bool:
        """Return whether no later step agrees that follows from this one.

        An operation, and a name that may mean several steps, are then another one.
        """
        if tensor.is_sure and not tensor.name.endswith(OF_OPERATION):
            return True
        return not any(step in self.key.before[n] and n != step for n in self.agreed)

    def _is_expected(self, tensor: Tensor) -> bool:
        """Return whether a tensor should be a step: its name says so, and the step is not there.

        A name that may mean several steps is another one, if these all agree, and so is one output
        of a module if another is the step.
        """
        if tensor.name.endswith(OF_OPERATION) or not tensor.steps:
            return False
        taken = self.names.get(tensor.steps[0], "")
        if _SECOND.sub("", taken) == _SECOND.sub("", tensor.name):
            return False
        return tensor.is_sure or not self.agreed.issuperset(self._steps(tensor))

    def _why(self, tensor: Tensor) -> Unread:
        shape = (
            " × ".join(map(str, tensor.elements[0][1].shape)) if tensor.elements else "not a matrix"
        )
        steps = self._steps(tensor) or tensor.steps
        why = f"it has not the numbers of {' or '.join(steps)}"
        if steps[0] in self.names:
            why = f"it has not the numbers of {steps[0]}, which {self.names[steps[0]]} is"
        return Unread(0, f"{tensor.name}: {shape}", why, could_be_matrix=tensor.is_sure)


def _root_mean_square(values: Matrix) -> float:
    counted = values[np.isfinite(values) & (values > MINUS_INFINITY_WRITTEN)]
    return float(np.sqrt(np.mean(counted**2))) if counted.size else 0.0


def _marks(values: Matrix) -> Matrix:
    """Return a number for each column, by which columns with the same numbers are recognized."""
    rows = values.reshape(-1, values.shape[-1])
    return np.asarray(np.cos(np.arange(len(rows))) @ rows)


def _size(right: Matrix, key: Key) -> tuple[float, float]:
    """Return the root mean square of a step, and its largest error within the tolerance."""
    finite = np.where(np.isfinite(right), right, 0.0)
    largest = float(np.abs(finite).max(initial=0.0))
    slack = key.slack
    assert isinstance(slack, Within)
    return _root_mean_square(right), slack.atol + (slack.rtol + slack.share + 1e-12) * largest
