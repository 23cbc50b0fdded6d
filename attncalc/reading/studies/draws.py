"""Random draws: "K[a] ~ N(mu, 0.01 I + 1/2 mu muT)", "K[a] ~ U(0, 1)"."""

import re
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from attncalc.base.errors import InputError, about
from attncalc.base.typed import quoted
from attncalc.base.types import Matrix
from attncalc.problem.problem import Problem
from attncalc.reading.studies.names import (
    given_name,
    number_of,
    place_of,
    read_row,
    row_named,
    split_outside,
)
from attncalc.studies.draws import Draw, Normal, Uniform, check_covariance, root_of

HOW_TO_DRAW = (
    'write what is drawn and how, as "K[a] ~ N(mu, 0.01 I)", "K[a] ~ N(mu, 0.01 I + 1/2 mu muT)", '
    '"K[a] ~ N(mu, [[1, 0], [0, 2]])" or "X[2,1] ~ U(0, 1)"'
)
HOW_TO_SPREAD = (
    "a covariance is a number times I, a matrix as [[1, 0], [0, 2]], a row times itself as "
    "mu muT, or a sum of these"
)

_DRAW = re.compile(
    r"(?P<name>(?:[1-9]\d{0,3}\.)?(?:(?:self|cross)\.)?[^\W\d]\w*+)\s*+(?:\[(?P<place>[^\]]*+)\]\s*+)?~\s*+"
    r"(?P<law>\w++)\s*+\((?P<inner>.*)\)",
    re.DOTALL,
)
_TERM = re.compile(
    r"(?P<factor>[0-9./⁄e]*+(?:(?<=e)-[0-9]++)?)\s*+(?:[*·]\s*+)?(?P<what>.*)", re.DOTALL
)
_MU = re.compile(r"mu|μ|µ")
_TRANSPOSED = r"(?:\s{0,9}+(?:\^\{?T\}?|\^\{?⊤\}?|ᵀ|⊤|T|'))"
_NAMED = (
    r"(?:mu|μ|µ|\[[^\[\]]{0,400}+\]|[A-Z]\w{0,40}+\[[^\[\]]{0,400}+\]"
    r"|[xkvq]_(?:\{[^{}]{0,80}+\}|\w{1,40}?))"
)
_OUTER = re.compile(
    rf"(?P<left>{_NAMED})\s{{0,9}}+(?:[*·]\s{{0,9}}+)?(?P<right>{_NAMED}){_TRANSPOSED}", re.DOTALL
)


def read_draw(text: str, problem: Problem) -> Draw:
    """Read a draw."""
    with about(quoted(text)):
        found = _DRAW.fullmatch(text.strip())
        law = found["law"].lower() if found else ""
        if found is None or law not in ("n", "normal", "u", "uniform"):
            raise InputError(HOW_TO_DRAW)
        name = given_name(found["name"], problem)
        place = place_of(name, found["place"], problem)
        is_turned = problem.standing.has_token_columns(name)
        part = np.asarray(problem.stored(name)[place], dtype=np.float64)
        rows = part.swapaxes(-1, -2) if is_turned and part.ndim > 1 else part
        rows = rows.reshape(-1, rows.shape[-1] if rows.ndim else 1)
        if not np.isfinite(rows).all():
            raise InputError(f"{name} has -inf there: name entries that are numbers")
        parts = split_outside(found["inner"])
        made = _uniform(parts, rows) if law.startswith("u") else _normal(parts, rows, problem)
        return Draw(text.strip(), name, place, made, is_turned)


def _uniform(parts: list[str], rows: Matrix) -> Uniform:
    if len(parts) != 2:
        raise InputError("U takes two numbers, as U(0, 1)")
    low, high = (number_of(part) for part in parts)
    if low >= high:
        raise InputError(f"U({parts[0]}, {parts[1]}) is empty: the first is below the second")
    return Uniform(float(low), float(high), (rows.shape[0], rows.shape[1]))


def _normal(parts: list[str], rows: Matrix, problem: Problem) -> Normal:
    if not 1 <= len(parts) <= 2:
        raise InputError("N takes a mean and a covariance, as N(mu, 0.01 I)")
    # without a mean, the given matrix is the mean
    mean, covariance = parts if len(parts) == 2 else ("mu", parts[0])
    with np.errstate(over="ignore", invalid="ignore"):
        means = np.stack([_mean(mean, row, problem) for row in rows])
        spreads = [_covariance(covariance, row, problem) for row in rows]
    if not all(np.isfinite(each).all() for each in (means, *spreads)):
        raise InputError(
            f"N({', '.join(parts)}) exceeds the largest float64 (about 1.8e+308): "
            "give smaller numbers"
        )
    for each in spreads:
        check_covariance(each)
    return Normal(means, np.stack([root_of(each) for each in spreads]))


def _mean(text: str, given: Matrix, problem: Problem) -> Matrix:
    factor, what = _factored(text)
    if not what:
        return np.full(given.shape, float(factor))
    return float(factor) * _row(what, given, problem, text)


def _row(text: str, given: Matrix, problem: Problem, whole: str) -> Matrix:
    """Return a row of numbers: mu, that of a matrix, or a typed one."""
    if _MU.fullmatch(text.strip()):
        return given
    row = read_row(text) if text.strip().startswith("[") else row_named(text, problem)
    if row is None:
        raise InputError(f"{quoted(whole)} is not understood: {HOW_TO_SPREAD}")
    if len(row) != len(given):
        raise InputError(f"{text.strip()} has {len(row)} numbers, where {len(given)} are drawn")
    return np.asarray(row, dtype=np.float64)


def _covariance(text: str, given: Matrix, problem: Problem) -> Matrix:
    total = np.zeros((len(given), len(given)))
    for sign, term in _terms(text):
        factor, what = _factored(term)
        total += sign * float(factor) * _summand(what, given, problem, term)
    return total


def _summand(what: str, given: Matrix, problem: Problem, term: str) -> Matrix:
    size = len(given)
    if what == "I" or (not what and size == 1):
        return np.eye(size)
    if what.startswith("[["):
        return _matrix(what, size)
    if found := _OUTER.fullmatch(what):
        left, right = (_row(found[side], given, problem, term) for side in ("left", "right"))
        return np.outer(left, right)
    raise InputError(f"{quoted(term)} is not a covariance of {size} numbers: {HOW_TO_SPREAD}")


def _matrix(text: str, size: int) -> Matrix:
    rows = [read_row(row) for row in re.findall(r"\[([^\[\]]*)\]", text)]
    if len(rows) != size or any(len(row) != size for row in rows):
        raise InputError(f"{text} is not {size} × {size}, as the covariance of {size} numbers is")
    return np.array(rows, dtype=np.float64)


def _terms(text: str) -> Iterator[tuple[int, str]]:
    """Yield the terms of a sum with their signs; a minus within brackets or after e is not one."""
    depth, start = 0, 0
    for place, letter in enumerate(f"{text}+"):
        depth += (letter == "[") - (letter == "]")
        before = text[max(start, place - 2) : place]
        is_exponent = before[:1].isdecimal() and before[1:] == "e"
        if letter in "+-−" and depth == 0 and not is_exponent:
            if term := text[start:place].strip():
                yield (-1 if text[start - 1 : start] in ("-", "−") else 1), term
            start = place + 1


def _factored(term: str) -> tuple[Fraction, str]:
    """Return the factor and the rest of a term; the factor is 1 if there is none."""
    found = _TERM.fullmatch(term.strip())
    assert found is not None
    factor = number_of(found["factor"]) if found["factor"] else Fraction(1)
    return factor, found["what"].strip()
