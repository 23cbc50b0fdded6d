"""The target of a query: "1/2 v_a + 1/2 v_b", "v_b"."""

import re
from fractions import Fraction

from attncalc.base.errors import InputError, about
from attncalc.base.typed import as_written, quoted
from attncalc.problem.problem import Problem
from attncalc.reading.studies.names import index_of, number_of
from attncalc.studies.aim import TargetWeights

HOW_TO_AIM = 'write weights and values, as "1/2 v_a + 1/2 v_b", "v_b" or "0.3 v_1 + 0.7 v_2"'

_TERM = re.compile(
    r"\s{0,9}+(?P<sign>[+−-]?)\s{0,9}+(?P<weight>[0-9./⁄½⅓⅔¼¾]{0,40}+)\s{0,9}+(?:[*·]\s{0,9}+)?"
    r"(?:[vV]_\{(?P<braced>[^{}]{1,80})\}|[vV]\[(?P<index>[^\[\]]{1,80})\]"
    r"|[vV]_(?P<label>[^\s+−-]{1,80}))\s{0,9}+"
)


def read_target(text: str, problem: Problem) -> TargetWeights:
    """Read the target weights."""
    with about(quoted(text)):
        weights = [Fraction(0)] * problem.m
        terms = list(_TERM.finditer(text))
        if not terms or "".join(term[0] for term in terms) != text:
            raise InputError(HOW_TO_AIM)
        for place, term in enumerate(terms):
            if place and not term["sign"]:
                raise InputError(HOW_TO_AIM)
            weight = number_of(term["weight"]) if term["weight"] else Fraction(1)
            name = (term["braced"] or term["index"] or term["label"]).strip()
            key = index_of(name, "value", problem.m, problem.keys, f"there are {problem.m} values")
            weights[key] += -weight if term["sign"] in ("-", "−") else weight
        _check(weights, problem)
        return TargetWeights(text.strip(), tuple(weights))


def _check(weights: list[Fraction], problem: Problem) -> None:
    for key, weight in enumerate(weights):
        if weight < 0:
            raise InputError(
                f"v_{problem.keys[key]} has the weight {as_written(weight)}, and no weight of a "
                "softmax is below 0"
            )
    total = sum(weights, Fraction(0))
    if total == 0:
        raise InputError(f"the weights sum to 0: {HOW_TO_AIM}")
    if total != 1:
        pairs = zip(weights, problem.keys, strict=True)
        shares = " + ".join(f"{weight / total} v_{key}" for weight, key in pairs if weight)
        raise InputError(
            f"the weights sum to {as_written(total)}, and those of a softmax to 1: "
            f"write {shares.replace('1 v_', 'v_') if shares.startswith('1 v_') else shares}"
        )
