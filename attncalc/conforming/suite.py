"""The suite run on a kernel: results by feature, and of each failure the smallest case."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from attncalc.base.errors import AttncalcError
from attncalc.base.types import Matrix
from attncalc.conforming.case import NAN, VERSION, Case
from attncalc.conforming.causes import Cause, causes_of, within_lower_precision
from attncalc.conforming.reference import Expected, expected
from attncalc.conforming.running import Called, Inside, Kernel

Callee = Kernel | Inside
DIFFERS = "differs"
MAY_REFUSE = ("mask and causal", "dtypes", "gradients", "memory layout")
"""Features that a kernel may refuse by raising any error."""


class Failure(NamedTuple):
    """A case that failed.

    case, smallest: the case, and the smallest part of it that still fails.
    why: the fault: a shape, an error, or an entry.
    entry: the first wrong entry of the smallest case: its result and its index from 1.
    got, right, bound: the value of that entry, the right one, and the largest error that rounding
        explains.
    causes: the causes of exactly these results.
    """

    case: Case
    smallest: Case
    why: str
    entry: str = ""
    got: float = 0.0
    right: float = 0.0
    bound: float = 0.0
    causes: tuple[Cause, ...] = ()


class Result(NamedTuple):
    """The outcome of a case, with its reason and its largest error in units of its bound."""

    case: Case
    status: str
    units: float = 0.0
    why: str = ""
    failure: Failure | None = None


class Report(NamedTuple):
    """The outcome of all cases."""

    kernel: str
    results: tuple[Result, ...]
    version: int = VERSION

    def of(self, status: str) -> tuple[Result, ...]:
        """Return the results with a status."""
        return tuple(each for each in self.results if each.status == status)

    @property
    def causes(self) -> tuple[tuple[Cause, int], ...]:
        """The fewest causes that explain the failures, with the number that each explains."""
        found = [each.failure.causes for each in self.of("failed") if each.failure]
        says = {each.code: each for own in reversed(found) for each in reversed(own)}
        codes = [{each.code for each in own} for own in found]
        counts = Counter(code for own in codes for code in own)
        chosen: list[str] = []
        while left := [own for own in codes if own and own.isdisjoint(chosen)]:
            open_ = Counter(code for own in left for code in own)
            most = max(open_.values())
            chosen += [code for code in says if open_[code] == most]
        return tuple((says[code], counts[code]) for code in chosen)

    @property
    def by_feature(self) -> Mapping[str, tuple[Result, ...]]:
        """The results of each feature, those with failures first."""
        found: dict[str, list[Result]] = {}
        for each in self.results:
            found.setdefault(each.case.feature, []).append(each)
        failing = [name for name in found if any(r.status == "failed" for r in found[name])]
        return {name: tuple(found[name]) for name in dict.fromkeys([*failing, *found])}


def conform(
    kernel: Callee,
    cases: Sequence[Case],
    name: str = "",
    watch: Callable[[int, int], None] = lambda done, count: None,
) -> Report:
    """Run cases on a kernel.

    cases: the cases, as from `case.suite`.
    name: the name of the kernel in the report.
    watch: called with the number of finished cases, and of all.
    """
    found = []
    for done, case in enumerate(cases):
        found.append(_result(kernel, case))
        watch(done + 1, len(cases))
    return Report(name, tuple(found))


def _result(kernel: Callee, case: Case) -> Result:
    needs = [name for name in case.call if name not in kernel.takes]
    if needs:
        return Result(case, "not tested", why=f"the kernel takes no {' and no '.join(needs)}")
    called = kernel.call(case)
    if called.refused or (called.error and case.feature in MAY_REFUSE):
        return Result(case, "not tested", why=f"refused: {called.error}")
    right = expected(case)
    why, units = _fault(called, right)
    if not why:
        return Result(case, "passed", units)
    if case.feature == NAN and why == DIFFERS and not np.isfinite(called.results["O"]).all():
        why = "nan in masked keys or values reaches the outputs: a weight of 0 times nan is nan"
        return Result(case, "not tested", why=why)
    return Result(case, "failed", units, why, _failure(kernel, case, called, right, why))


def _fault(called: Called, right: Expected) -> tuple[str, float]:
    """Return the fault in the results of a call, or "", and the error in bounds."""
    if called.error:
        return called.error, np.inf
    if called.changed:
        return "the kernel writes to its inputs", np.inf
    if not called.repeats:
        return "a second call gives other bits", np.inf
    largest = 0.0
    for name, value in right.values.items():
        got = called.results[name]
        if got.shape != value.shape:
            return f"{name} has the shape {got.shape}, not {value.shape}", np.inf
        off = _errors(name, got, right)
        largest = max(largest, float(off.max(initial=0.0)))
    return ("" if largest <= 1 else DIFFERS), largest


def _errors(name: str, got: Matrix, right: Expected) -> Matrix:
    """Return the error of each entry in units of its bound; inf where it is not finite."""
    with np.errstate(invalid="ignore", divide="ignore"):
        off = np.abs(got - right.values[name]) / right.bounds[name]
    off = np.where(got == right.values[name], 0.0, off)
    if name == "O":  # PyTorch has given both nan and 0 for a query without a key
        off = np.where(right.empty[..., None] & np.isnan(got), 0.0, off)
    return np.where(np.isnan(off), np.inf, off)


def _failure(kernel: Callee, case: Case, called: Called, right: Expected, why: str) -> Failure:
    causes = causes_of(case, called.results, right) if why == DIFFERS else ()
    smallest, called, right = _shrunk(kernel, case, called, right, why)
    if why != DIFFERS:
        return Failure(case, smallest, why)
    name, off = next(
        (name, off)
        for name, got in called.results.items()
        if ((off := _errors(name, got, right)) > 1).any()
    )
    at = tuple(int(index) for index in np.argwhere(off > 1)[0])
    got, value, bound = called.results[name], right.values[name], right.bounds[name]
    entry = f"{name}[{', '.join(str(index + 1) for index in at)}]"
    if not causes and (lower := within_lower_precision(smallest, called.results)):
        why = f"{why} by no more than the rounding of {lower}"
    numbers = float(got[at]), float(value[at]), float(bound[at])
    return Failure(case, smallest, why, entry, *numbers, causes)


def _shrunk(
    kernel: Callee, case: Case, called: Called, right: Expected, why: str
) -> tuple[Case, Called, Expected]:
    """Return the smallest part of a case that still fails in the same way."""
    is_smaller = True
    while is_smaller:
        is_smaller = False
        for smaller in _smaller(case):
            again = kernel.call(smaller)
            try:
                reference = expected(smaller)
            except AttncalcError:
                continue
            fault = _fault(again, reference)[0]
            if fault and (fault == DIFFERS) == (why == DIFFERS):
                case, called, right, is_smaller = smaller, again, reference, True
                break
    return case, called, right


def _smaller(case: Case) -> Iterator[Case]:
    """Yield parts of a case, those that leave out most first."""
    size = case.size
    groups = case.q.shape[1] // case.k.shape[1]
    of_width = case.call.get("rope_dims", 2 if "rope_base" in case.call else 1)
    for axis, least in ((0, 1), (1, groups), (3, 1), (2, 1), (4, of_width)):
        step = {1: groups, 4: min(2, of_width)}.get(axis, 1)
        for kept in dict.fromkeys((least, size[axis] // 2 // step * step, size[axis] - step)):
            if least <= kept < size[axis]:
                yield case.cut(*(kept if i == axis else each for i, each in enumerate(size)))
