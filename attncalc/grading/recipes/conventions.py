"""Problems under another convention: a line of a program that is wrong everywhere.

A program normalizes, activates and scales in one place, for all parts and all layers. The result of
another convention is that of the same problem with another setting.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from attncalc.base.arrays import Owned
from attncalc.base.errors import AttncalcError
from attncalc.base.rounding import round_floats
from attncalc.base.typed import as_written
from attncalc.base.types import Matrix
from attncalc.equations.operations.entrywise import KINDS
from attncalc.problem.attention.declared import EACH_STEP
from attncalc.problem.fields import SETTINGS, own_name
from attncalc.problem.problem import Problem
from attncalc.problem.step import run

OTHER_EPS = (Fraction(0), Fraction(1, 10**3), *(Fraction(1, 10**power) for power in (5, 6, 8, 12)))
"""The epsilons of common libraries and models, which may be confused."""
LARGEST = 1_000_000
"""The largest number of scores of a problem that is computed with each convention."""
_NORMS = {
    "post": "normalized after each residual sum",
    "pre": "normalized before each part",
    "around": "normalized before each part and after it",
    "output": "normalized after each part, before the residual sum",
    "none": "not normalized",
}
_ELSEWHERE = ("gamma_E", "beta_E", "gamma_out", "beta_out", "gamma_pre", "beta_pre")
"""The matrices of normalizations outside the layers."""
_UNSAID = {n: SETTINGS[n].default for n in ("normalization", "eps", "eps_place", "ddof")}
"""Settings of normalization without a normalized part: they would be refused as unused."""
_PAIRS = (("W_Q", "W_K"), ("W_Q", "W_V"), ("W_K", "W_V"), ("W_1", "W_3"))


class Otherwise(NamedTuple):
    """A problem computed with another convention: its code in JSON, its clause, its results."""

    code: str
    says: str
    steps: Mapping[str, Matrix]


def otherwise(problem: Problem) -> Iterator[Otherwise]:
    """Yield layers of a small problem, computed with each other possible convention."""
    if problem.is_alone or problem.most_scores > LARGEST or problem.backward:
        return
    for code, says, fields in _changes(problem):
        try:
            changed = problem.with_fields(fields)
            with np.errstate(all="ignore"):
                yield Otherwise(code, says, worked_out(changed))
        except AttncalcError:  # impossible: weights do not fit in place of others
            continue


def worked_out(problem: Problem) -> Mapping[str, Matrix]:
    """Return the results of each step in floats, like all other conventions."""

    def cut(values: Matrix) -> Matrix:
        return round_floats(values, problem.decimals)

    after = cut if problem.rounding == EACH_STEP else None
    made: dict[str, Matrix] = {}
    run(problem.calculation.steps, problem.given, after, made)
    return made


Change = tuple[str, str, Mapping[str, Any]]
"""A code, a clause, and the changed fields."""


def _changes(problem: Problem) -> Iterator[Change]:
    yield from _of_normalisations(problem)
    for kind, own in KINDS.items():
        if kind not in (problem.activation, "tanh"):
            yield f"activation-other:{kind}", f"{own.title} is taken{own.by}", {"activation": kind}
    if problem.residual:
        yield "residual-forgotten", "the residual connections are left out", {"residual": False}
    yield from _of_attentions(problem)
    for prefix in ("", *problem.inner):
        for one, other in _interchangeable(problem, prefix):
            swap = {one: Owned(problem.stored(other)), other: Owned(problem.stored(one))}
            yield "weights-swapped", f"{one} and {other} are exchanged", swap


def _interchangeable(problem: Problem, prefix: str) -> Iterator[tuple[str, str]]:
    there = set(problem.names)
    for one, other in _PAIRS:
        pair = prefix + one, prefix + other
        if there.issuperset(pair) and len({problem.stored(name).shape for name in pair}) == 1:
            yield pair


def _of_normalisations(problem: Problem) -> Iterator[Change]:
    for norm, where in _NORMS.items():
        if norm != problem.norm:
            changed = _with_gains(problem, norm)
            if norm == "none" and not problem.those_given(*_ELSEWHERE):
                changed = {**changed, **_UNSAID}
            yield f"norm-place:{norm}", f"tokens are {where}", changed
    kind = "rms" if problem.normalization == "layer" else "layer"
    by = "by the root of the mean square" if kind == "rms" else "to mean 0 and variance 1"
    yield f"norm-other:{kind}", f"tokens are normalized {by} ({kind})", {"normalization": kind}
    place = "outside" if problem.eps_place == "inside" else "inside"
    yield f"eps-{place}", f"ε is {place} the root", {"eps_place": place}
    ddof = 1 - problem.ddof
    count = "d - 1" if ddof else "d"
    yield "variance-other-count", f"the variance is divided by {count}", {"ddof": ddof}
    own = as_written(Fraction(problem.eps))
    for eps in OTHER_EPS:
        if eps == problem.eps:
            continue
        code = f"eps-other:{float(eps):g}" if eps else "eps-forgotten"
        says = f"ε is {as_written(eps)}, not {own}" if eps else "ε is not added"
        yield code, says, {"eps": eps}
    gains = [name for name in problem.names if own_name(name).startswith("gamma_")]
    for by_one, what in ((-1, "less"), (1, "more")) if gains else ():
        says = f"every gain is too {'small' if by_one < 0 else 'large'} by 1"
        changed = {name: Owned(problem.stored(name) + by_one) for name in gains}
        yield f"gains-{what}-one", says, changed


def _of_attentions(problem: Problem) -> Iterator[Change]:
    """Yield changes of attentions that their own recipes do not contain."""
    if problem.qk_norm != "none":
        gains = [name for name in problem.names if own_name(name) in _QK_GAINS]
        changed = {**dict.fromkeys(gains), "qk_norm": "none"}
        yield "qk-norm-forgotten", "queries and keys are not normalized", changed
        for eps in OTHER_EPS:
            also = f"ε is {as_written(eps)} where queries and keys are normalized"
            yield f"qk-eps-other:{float(eps):g}", also, {"qk_eps": eps}
    for prefix in ("", *problem.inner):
        if not getattr(problem.inner.get(prefix, problem), "causal", True):
            where = f" in {prefix.rstrip('.')}" if prefix else ""
            says = f"a causal mask is used{where}, which is not asked for"
            yield "mask-not-asked", says, {f"{prefix}causal": True}
    if problem.layers:
        yield from _of_a_stack(problem)


def _of_a_stack(problem: Problem) -> Iterator[Change]:
    """Yield changes of all attentions of several layers."""
    pairing = "interleaved" if problem.rope_pairing == "halves" else "halves"
    paired = f"the columns are paired in the other way ({pairing})"
    off: tuple[tuple[bool, str, str, str, Any], ...] = (
        (problem.causal, "mask-forgotten", "no attention is causal", "causal", False),
        (problem.scale != "none", "scale-forgotten", "no scores are scaled", "scale", "none"),
        (problem.softcap is not None, "cap-forgotten", "no scores are capped", "softcap", None),
        (problem.window is not None, "window-forgotten", "the window is left out", "window", None),
        (problem.positions == "rope", "rope-pairing", paired, "rope_pairing", pairing),
    )
    for is_there, code, says, name, value in off:
        if is_there:
            yield code, says, {name: value}


def _with_gains(problem: Problem, norm: str) -> dict[str, Any]:
    """Return the fields for another place of normalizations, with the gains that are read there."""
    changed: dict[str, Any] = {"norm": norm}
    if (problem.norm, norm) != ("around", "pre"):
        return changed
    for name in ("gamma", "beta"):
        third = getattr(problem, f"{name}_3")
        changed[f"{name}_2"] = None if third is None else Owned(third)
        changed |= {f"{name}_3": None, f"{name}_4": None}
    return changed


_QK_GAINS = ("gamma_Q", "beta_Q", "gamma_K", "beta_K")
