"""What the weights show, beside definitions in whole hundredths: found where it is, and only there.

Weights are planted through the solve itself: scores over their sum, of queries that are the rows.
"""

import csv
import json
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from conftest import ROOT, Command, some_of

from attncalc import InputError, Problem, read_problem, solve
from attncalc.api import Solution
from attncalc.problem.samples import COMMANDS, sample
from attncalc.studies.patterns.finding import _channels, worth_telling
from attncalc.studies.patterns.pattern import CODES
from attncalc.writing.patterns import _Sentences

pytestmark = pytest.mark.campaign(4)

Weights = list[list[int]]
"""Rows of hundredths, or of thousandths, that add up to 1."""


class Planted(NamedTuple):
    """Weights to plant: those of each head, the fields around them, and other settings."""

    heads: tuple[Weights, ...]
    unit: int = 100
    is_self: bool = True
    says: dict[str, Any] = {}

    @property
    def solution(self) -> Solution:
        """The solution that has these weights."""
        n, m = len(self.heads[0]), len(self.heads[0][0])
        Q = [[[Fraction(w, self.unit) for w in row] for row in head] for head in self.heads]
        tokens: dict[str, Any] = {"X1": eye(n), "X2": eye(m)}
        if self.is_self and n == m:
            tokens = {"X": eye(n)}
        W_K = [eye(m) for _ in Q]
        values = [[1 + (3 * i) % 5, i] for i in range(m)]
        several: dict[str, Any] = {"W_Q": Q, "W_K": W_K, "W_V": [values for _ in Q]}
        weights = several if len(Q) > 1 else {name: each[0] for name, each in several.items()}
        conventions = {"normalizer": "sum", "scale": "none"} | self.says
        return solve(Problem(**tokens, **weights, **conventions))


def eye(size: int) -> list[list[int]]:
    return [[int(i == j) for j in range(size)] for i in range(size)]


def composition(rng: random.Random, size: int, least: int = 0, whole: int = 100) -> list[int]:
    """Return parts of a whole, at least so large each."""
    cuts = sorted(rng.randint(0, whole - least * size) for _ in range(size - 1))
    parts = [b - a for a, b in zip([0, *cuts], [*cuts, whole - least * size], strict=True)]
    return [part + least for part in parts]


def dense(rng: random.Random, n: int, m: int, least: int = 0) -> Weights:
    return [composition(rng, m, least) for _ in range(n)]


def alone(size: int, place: int) -> list[int]:
    return [100 if j == place else 0 for j in range(size)]


def moved(weights: Weights, output: int, source: int, target: int, by: int = 1) -> Weights:
    """Return weights with one digit changed: what one input loses, another gets."""
    changed = [row[:] for row in weights]
    changed[output][source] -= by
    changed[output][target] += by
    return changed


Pair = tuple[Any, Any]
"""Weights that have a pattern, and others that nearly have it."""


def one(weights: Weights, near: Weights, **how: Any) -> Pair:
    return Planted((weights,), **how), Planted((near,), **how)


def identity(rng: random.Random) -> Pair:
    n = rng.randint(2, 6)
    A = [alone(n, i) for i in range(n)]
    output = rng.randrange(n)
    return one(A, moved(A, output, output, (output + 1) % n))


def permutation(rng: random.Random) -> Pair:
    n = rng.randint(2, 6)
    order = list(range(n))
    while order == sorted(order):
        rng.shuffle(order)
    A = [alone(n, place) for place in order]
    output = rng.randrange(n)
    return one(A, moved(A, output, order[output], (order[output] + 1) % n))


def shift(rng: random.Random) -> Pair:
    n, by = rng.randint(4, 6), rng.choice([-2, -1, 1, 2])
    A = [alone(n, i + by) if 0 <= i + by < n else composition(rng, n) for i in range(n)]
    output = rng.choice([i for i in range(n) if 0 <= i + by < n])
    return one(A, moved(A, output, output + by, (output + by + 1) % n))


def band(rng: random.Random) -> Pair:
    n, low, width = rng.randint(5, 6), rng.choice([-2, -1, 0]), rng.randint(2, 3)
    kernel = composition(rng, width, least=5)
    A = []
    for i in range(n):
        inside = [j for j in range(i + low, i + low + width) if 0 <= j < n]
        parts = kernel if len(inside) == width else composition(rng, len(inside)) if inside else []
        row = [0] * n
        for j, part in zip(inside, parts, strict=True):
            row[j] = part
        A.append(row if any(row) else alone(n, min(max(i + low, 0), n - 1)))
    fits = [i for i in range(n) if i + low >= 0 and i + low + width <= n]
    output = rng.choice(fits)
    return one(A, moved(A, output, output + low, output + low + 1))


def blocks(rng: random.Random) -> Pair:
    sizes = [rng.randint(2, 3), rng.randint(2, 3)]
    n, A = sum(sizes), []
    for start, size in ((0, sizes[0]), (sizes[0], sizes[1])):
        for _ in range(size):
            row = composition(rng, size, least=2)
            A.append([0] * start + row + [0] * (n - start - size))
    return one(A, moved(A, 0, 0, n - 1))


def uniform(rng: random.Random) -> Pair:
    m = rng.choice([2, 4, 5])
    A = [[100 // m] * m] + [composition(rng, m, least=1) for _ in range(rng.randint(1, 3))]
    for row in A[1:]:
        if len(set(row)) == 1:
            row[0], row[1] = row[0] + 1, row[1] - 1
    return one(A, moved(A, 0, 0, 1))


def one_hot(rng: random.Random) -> Pair:
    n, m = rng.randint(2, 5), rng.randint(2, 5)
    A = dense(rng, n, m, least=1)
    output, place = rng.randrange(n), rng.randrange(m)
    A[output] = alone(m, place)
    return one(A, moved(A, output, place, (place + 1) % m))


def sink(rng: random.Random) -> Pair:
    n, m, place = rng.randint(2, 5), rng.randint(2, 4), rng.randrange(2)
    A = []
    for _ in range(n):
        row = composition(rng, m - 1, whole=45)
        A.append([*row[:place], 55, *row[place:]])
    near = [row[:] for row in A]
    near[-1] = [0] * m
    near[-1][place], near[-1][(place + 1) % m] = 50, 50
    return one(A, near)


def previous_token(rng: random.Random) -> Pair:
    n = rng.randint(4, 6)
    A = [[30] * n for _ in range(n)]
    for i in range(1, n):
        A[i] = [60 if j == i else 40 if j == i - 1 else 0 for j in range(n)]
    A[0] = alone(n, 0)
    return one(A, moved(A, n - 1, n - 2, n - 1))


def duplicate_token(rng: random.Random) -> Pair:
    """Tokens a b x a b: the last two attend to the first two, or to those after them."""
    return _repeated(0)


def induction(rng: random.Random) -> Pair:
    return _repeated(1)


def _repeated(by: int) -> Pair:
    A = [alone(5, i) for i in range(3)]
    A += [[40 if j == i + by else 60 if j == i + 3 else 0 for j in range(5)] for i in range(2)]
    return one(A, moved(A, 4, 1 + by, 4), says={"labels": ["a", "b", "x", "a", "b"]})


def equal_rows(rng: random.Random) -> Pair:
    n, m = rng.randint(2, 5), rng.randint(3, 5)
    A = [[50 + i, 50 - i, *([0] * (m - 2))] for i in range(n)]
    A[-1] = A[0][:]
    return one(A, moved(A, n - 1, 0, 2))


def ties(rng: random.Random) -> Pair:
    n, m = rng.randint(1, 4), rng.randint(3, 5)
    A = [[60 - i, 30 - i, 10 + 2 * i, *([0] * (m - 3))] for i in range(n)]
    A[0] = [45, 10, 45, *([0] * (m - 3))]
    return one(A, moved(A, 0, 0, 1), is_self=False)


def unattended(rng: random.Random) -> Pair:
    n, m = rng.randint(1, 5), rng.randint(2, 5)
    A = [[*row, 0] for row in dense(rng, n, m, least=1)]
    return one(A, moved(A, rng.randrange(n), 0, m))


def none_own(rng: random.Random) -> Pair:
    n = rng.randint(2, 5)
    A = []
    for i in range(n):
        row = composition(rng, n - 1, least=1)
        A.append([*row[:i], 0, *row[i:]])
    output = rng.randrange(n)
    return one(A, moved(A, output, (output + 1) % n, output))


def all_own(rng: random.Random) -> Pair:
    n = rng.randint(2, 5)
    A = dense(rng, n, n, least=1)
    output = rng.randrange(n)
    own = A[output][output]
    return one(A, moved(A, output, output, (output + 1) % n, by=own))


def heads_alike(rng: random.Random) -> Pair:
    A = dense(rng, 3, 3, least=1)
    return Planted((A, A)), Planted((A, moved(A, rng.randrange(3), 0, 1)))


def heads_differ(rng: random.Random) -> Pair:
    alike, differing = heads_alike(rng)
    return differing, alike


def spread(rng: random.Random) -> Pair:
    return one(dense(rng, 3, 3), [[100], [100]])


def scaling(rng: random.Random) -> Pair:
    return spread(rng)


def margin(rng: random.Random) -> Pair:
    return spread(rng)


def masked(rng: random.Random) -> Pair:
    A = dense(rng, 3, 3, least=1)
    keep = [[1, 1, 0], [1, 1, 1], [0, 1, 1]]
    return Planted((A,), says={"keep": keep}), Planted((A,))


def rounded_away(rng: random.Random) -> Pair:
    A = [composition(rng, 3, least=200, whole=1000) for _ in range(2)]
    A[0][0], A[0][1] = 4, A[0][0] + A[0][1] - 4
    return one(A, moved(A, 0, 1, 0), unit=1000)


def equivariant(rng: random.Random) -> Pair:
    A = dense(rng, 3, 3, least=1)
    return Planted((A,)), Planted((A,), says={"causal": True})


def order_matters(rng: random.Random) -> Pair:
    there, nearly = equivariant(rng)
    return nearly, there


class Grid(NamedTuple):
    """Heads on a grid of tokens, each of which attends to one place relative to its own."""

    rows: int
    columns: int
    offsets: tuple[tuple[int, int], ...]

    @property
    def solution(self) -> Solution:
        """The solution of these heads, with the kernel 1, 2, …, 9."""
        n, heads = self.rows * self.columns, len(self.offsets)
        down, across = (
            " + ".join(
                f"{each[side]} * (1 if h == {h} else 0)" for h, each in enumerate(self.offsets)
            )
            for side in (0, 1)
        )
        at = f"j // {self.columns} == i // {self.columns} + {down} and "
        at += f"j % {self.columns} == i % {self.columns} + {across}"
        nothing, ones = [[0] * heads], [[1] * heads]
        kernel = [[place + 1] for place in range(heads)]
        equations = [
            f"S_at[h,i,j] = S[h,i,j] if {at} else -inf",
            "A[h,i,j] = softmax(S_at[h,i,k] for k in m)[j]",
        ]
        weights: dict[str, Any] = {"W_Q": nothing, "W_K": nothing, "W_V": ones, "W_O": kernel}
        X = [[place % 5] for place in range(n)]
        return solve(Problem(X=X, **weights, heads=heads, scale="none", equations=equations))


def convolution(rng: random.Random) -> tuple[Grid, Grid]:
    rows, columns = 3, rng.choice([3, 4])
    down, across = rng.choice([(0, 0), (-1, -1), (0, -1)])
    offsets = [(down + i, across + j) for i in (0, 1) for j in (0, 1)]
    nearly = (*offsets[:3], (down, across + 2))
    return Grid(rows, columns, tuple(offsets)), Grid(rows, columns, nearly)


PLANTED: dict[str, Callable[[random.Random], Pair]] = {
    "identity": identity,
    "permutation": permutation,
    "shift": shift,
    "band": band,
    "blocks": blocks,
    "uniform": uniform,
    "one-hot": one_hot,
    "sink": sink,
    "equal-rows": equal_rows,
    "ties": ties,
    "unattended": unattended,
    "none-own": none_own,
    "all-own": all_own,
    "induction": induction,
    "previous-token": previous_token,
    "duplicate-token": duplicate_token,
    "heads-alike": heads_alike,
    "heads-differ": heads_differ,
    "spread": spread,
    "margin": margin,
    "masked": masked,
    "scaling": scaling,
    "rounded-away": rounded_away,
    "equivariant": equivariant,
    "order-matters": order_matters,
    "convolution": convolution,
}
OF_ORDER = {"equivariant", "order-matters"}
"""What holds of any weights of tokens: one of the two."""


def codes(solution: Solution) -> set[str]:
    return {pattern.code for pattern in solution.patterns}


def test_every_code_has_a_planter_a_sentence_and_a_line_in_the_docs() -> None:
    assert set(PLANTED) == set(CODES)
    assert all(hasattr(_Sentences, code.replace("-", "_")) for code in CODES)
    page = (ROOT / "docs" / "patterns.md").read_text(encoding="utf-8")
    for code in CODES:
        assert f"\n| `{code}` |" in page, code


@pytest.mark.campaign(4)
@pytest.mark.parametrize("seed", some_of(24))
@pytest.mark.parametrize("code", CODES)
def test_a_pattern_is_found_where_it_is_and_not_where_one_digit_breaks_it(
    code: str, seed: int
) -> None:
    there, nearly = PLANTED[code](random.Random(f"{code} {seed}"))
    assert code in codes(there.solution)
    assert code not in codes(nearly.solution)


# the definitions once more, in whole hundredths


def _leads(row: list[int]) -> list[int]:
    return [j for j, weight in enumerate(row) if weight == max(row)]


def _offsets(A: Weights) -> tuple[int, int]:
    seen = [j - i for i, row in enumerate(A) for j, weight in enumerate(row) if weight]
    return min(seen), max(seen)


def _shifts(A: Weights) -> set[int]:
    n, m = len(A), len(A[0])
    found = set()
    for by in range(1 - n, m):
        fits = [i for i in range(n) if 0 <= i + by < m]
        enough = by and len(fits) >= 2 and 2 * len(fits) >= n
        if enough and all(A[i][i + by] == 100 for i in fits):
            found.add(by)
    return found


def _has_band(A: Weights) -> bool:
    (low, high), n, m = _offsets(A), len(A), len(A[0])
    fits = [i for i in range(n) if i + low >= 0 and i + high < m]
    kernels = {tuple(A[i][i + low : i + high + 1]) for i in fits}
    return 1 < high - low + 1 < m and len(fits) > 1 and len(kernels) == 1


def _has_blocks(A: Weights) -> bool:
    groups: list[tuple[set[int], set[int]]] = []
    for i, row in enumerate(A):
        rows, columns = {i}, {j for j, weight in enumerate(row) if weight}
        for group in [group for group in groups if group[1] & columns]:
            groups.remove(group)
            rows |= group[0]
            columns |= group[1]
        groups.append((rows, columns))
    return len(groups) > 1 and any(len(rows) > 1 < len(columns) for rows, columns in groups)


def _has_tie(row: list[int]) -> bool:
    first = _leads(row)
    rest = [weight for j, weight in enumerate(row) if j not in first]
    return len(first) > 1 or (rest.count(max(rest, default=0)) > 1 and max(rest) > 0)


def defined(A: Weights, *, is_self: bool) -> Iterator[str]:
    """Yield the codes of one head's weights, in hundredths."""
    n, m = len(A), len(A[0])
    square, rows = n == m > 1, [tuple(row) for row in A]
    columns = list(zip(*A, strict=True))
    own = [A[i][i] for i in range(n)] if square and is_self else []
    only = [_leads(row)[0] for row in A if max(row) == 100]
    first = {tuple(_leads(row)) for row in A}
    holds = {
        "identity": square and only == list(range(n)),
        "permutation": square and sorted(only) == list(range(n)) != only,
        "shift": bool(_shifts(A)),
        "band": _has_band(A),
        "blocks": _has_blocks(A),
        "uniform": m > 1 and any(len(set(row)) == 1 for row in A),
        "one-hot": bool(only),
        "sink": n > 1 and m > 1 and len(first) == 1 and len(next(iter(first))) == 1,
        "equal-rows": len(set(rows)) < n,
        "ties": any(map(_has_tie, A)),
        "unattended": m > 1 and any(not any(column) for column in columns),
        "none-own": bool(own) and not any(own),
        "all-own": bool(own) and all(own),
        "previous-token": bool(own)
        and n >= 4
        and sum(A[i][i - 1] for i in range(1, n)) / (n - 1) >= 40 - 1e-9,
        "spread": m > 1,
        "margin": m > 1,
        "scaling": m > 1,
    }
    yield from (code for code, is_so in holds.items() if is_so)


@pytest.mark.slow
@pytest.mark.parametrize("seed", some_of(360))
def test_only_defined_patterns_are_reported(seed: int) -> None:
    rng = random.Random(seed)
    code = rng.choice(CODES[1:14])
    n, m = rng.randint(1, 6), rng.randint(1, 6)
    sparse = [[rng.choice([0, 1]) for _ in range(m)] for _ in range(n)]
    shares = [[100 * x // max(sum(row), 1) for x in row] for row in sparse]
    for row in shares:
        row[rng.randrange(m)] += 100 - sum(row)
    there, nearly = PLANTED[code](rng)
    is_self = rng.random() < 0.5
    for planted in (
        there,
        nearly,
        Planted((shares,), is_self=is_self),
        Planted((dense(rng, n, m),), is_self=is_self),
    ):
        (A,) = planted.heads
        own = planted.is_self and len(A) == len(A[0])
        assert codes(planted.solution) - OF_ORDER == set(defined(A, is_self=own)), A


BORDERS: list[tuple[str, Weights, Weights]] = [
    ("identity", [[995, 5], [0, 1000]], [[994, 6], [0, 1000]]),
    ("one-hot", [[995, 5]], [[994, 6]]),
    ("unattended", [[996, 4], [997, 3]], [[995, 5], [997, 3]]),
    ("none-own", [[4, 996], [996, 4]], [[4, 996], [995, 5]]),
    ("all-own", [[5, 995], [500, 500]], [[4, 996], [500, 500]]),
    ("uniform", [[251, 250, 250, 249]], [[252, 250, 250, 248]]),
    ("sink", [[501, 499], [900, 100]], [[500, 500], [900, 100]]),
    (
        "band",
        [[1000, 0, 0], [400, 600, 0], [0, 402, 598]],
        [[1000, 0, 0], [400, 600, 0], [0, 403, 597]],
    ),
    (
        "blocks",
        [[500, 496, 4], [300, 700, 0], [0, 0, 1000]],
        [[500, 495, 5], [300, 700, 0], [0, 0, 1000]],
    ),
]
"""Weights in thousandths just within what a pattern asks for, and just beyond it."""


@pytest.mark.parametrize(("code", "there", "beyond"), BORDERS, ids=lambda each: str(each)[:12])
def test_a_threshold_is_where_its_text_states(code: str, there: Weights, beyond: Weights) -> None:
    assert code in codes(Planted((there,), unit=1000).solution)
    assert code not in codes(Planted((beyond,), unit=1000).solution)


@pytest.mark.parametrize("seed", some_of(24))
def test_heads_are_compared_each_with_each(seed: int) -> None:
    rng = random.Random(seed)
    some = [dense(rng, 3, 3, least=1) for _ in range(2)]
    heads = tuple(rng.choice(some) for _ in range(rng.randint(2, 4)))
    found = Planted(heads).solution.patterns
    alike = [each.values["heads"] for each in found if each.code == "heads-alike"]
    pairs = [each.values["pairs"] for each in found if each.code == "heads-differ"]
    groups = [[i + 1 for i, head in enumerate(heads) if head == each] for each in some]
    assert sorted(alike) == sorted(group for group in groups if len(group) > 1)
    numbers = range(1, len(heads) + 1)
    differing = [[i, j] for i, j in combinations(numbers, 2) if heads[i - 1] != heads[j - 1]]
    assert pairs == ([differing] if differing else [])


@pytest.mark.parametrize("seed", range(8))
def test_of_heads_that_differ_the_two_that_differ_most_are_named_and_where(seed: int) -> None:
    """Beside whole hundredths: half of all differences is the weight that lies elsewhere."""
    rng = random.Random(seed)
    heads = tuple(dense(rng, 3, 4, least=1) for _ in range(4))
    found = values(Planted(heads).solution, "heads-differ")
    elsewhere = {
        (i, j): [sum(map(abs, np.subtract(*rows))) / 2 for rows in zip(one, other, strict=True)]
        for (i, one), (j, other) in combinations(enumerate(heads, start=1), 2)
    }
    most = max(sum(each) for each in elsewhere.values())
    (pair,) = (pair for pair, each in elsewhere.items() if sum(each) == most)
    assert found["heads"] == list(pair)
    rows = elsewhere[pair]
    assert rows[found["output"] - 1] == max(rows)
    assert [found[name] for name in ("elsewhere", "mean")] == pytest.approx(
        [max(rows) / 100, sum(rows) / 300]
    )
    leads = [[row.index(max(row)) for row in heads[number - 1]] for number in pair]
    differing = [i for i, two in enumerate(zip(*leads, strict=True), start=1) if len({*two}) > 1]
    assert found["leads"] == differing


# what the values are


def values(solution: Solution, code: str) -> dict[str, Any]:
    return next(each.plain for each in solution.patterns if each.code == code)


def test_a_shift_states_by_how_much() -> None:
    A = [[20, 30, 30, 20], alone(4, 0), alone(4, 1), alone(4, 2)]
    found = values(Planted((A,)).solution, "shift")
    assert (found["by"], found["outputs"]) == (-1, [2, 4])


def test_hidden_weights_change_the_outputs_as_stated() -> None:
    solution = Planted(([[4, 496, 500], [300, 300, 400]],), unit=1000, is_self=False).solution
    found = values(solution, "rounded-away")
    assert (found["count"], found["weights"], found["output"]) == (1, [[1, 1]], 1)
    assert found["change"] == pytest.approx(0.004, rel=1e-12)  # 0.004 of the value (1, 0)


def test_the_masked_weight_equals_the_weight_without_mask() -> None:
    A = [[20, 30, 50], [10, 80, 10], [25, 25, 50]]
    solution = Planted((A,), says={"keep": [[1, 1, 0], [1, 1, 1], [0, 1, 1]]}).solution
    found = values(solution, "masked")
    assert (found["forbidden"], found["of"]) == (2, 9)
    assert found["most"]["output"] == 1
    assert found["most"]["taken"] == pytest.approx(0.5, rel=1e-12)
    assert found["mean"] == pytest.approx(0.25, rel=1e-12)


def test_another_scale_has_the_entropy_of_the_logistic() -> None:
    """Two keys, scores 2 apart: the weights are logistic, with and without √d_k = √4."""
    one_query = {"Q": [[2, 0, 0, 0]], "K": [[1, 0, 0, 0], [0, 0, 0, 0]], "V": [[1], [2]]}
    found = values(solve(Problem(**one_query)), "scaling")

    def entropy(apart: float) -> float:
        p = 1 / (1 + np.exp(-apart))
        return float(-p * np.log(p) - (1 - p) * np.log(1 - p))

    assert (found["scale"], found["other"]) == ("sqrt_dk", "none")
    assert found["entropy"]["here"] == pytest.approx(entropy(1), rel=1e-12)
    assert found["entropy"]["other"] == pytest.approx(entropy(2), rel=1e-12)


def test_digits_are_rounded_as_the_tables_round_them() -> None:
    """0.615 - 0.385 is 0.23, and 0.6275 - 0.3725 a tie, 0.255, whatever the binary floats say."""
    for weights, shown in (([615, 385], "0.23"), ([6275, 3725], "0.26")):
        unit = sum(weights)
        solution = Planted(([weights],), unit=unit, is_self=False).solution
        (margin,) = (each for each in solution.patterns if each.code == "margin")
        assert margin.values["lowest"]["margin"].shown == shown
        (row,) = (each for each in solution.patterns if each.code == "spread")
        assert [weight.shown for weight in row.values["weights"]] == solution.shown("A")[0]


# sentences


HOMEWORK = [
    "Outputs 1 and 2 attend almost only to input 3 (at least 0.995 of their weight)",
    "Outputs 1 and 2 have equal weights (within a billionth), so they show the same digits",
    "No output attends to its own position (no such weight reaches 0.005)",
    "Output 3 mixes inputs 1 and 2 (0.62 and 0.38), effectively 1.94 of 3 inputs (e^H); "
    "the rest shows as 0.00",
    "The largest weight exceeds the second by 0.24 (output 3) to 1.00 (output 1)",
    "With scores not scaled an output effectively mixes 1.31 inputs on average (entropy "
    "0.22 nats); divided by √d_k = √2, 1.34 (0.24 nats)",
    "A[1,1], A[1,2], A[2,1], A[2,2] and A[3,3] are not 0 but show as 0.00: setting them to 0 "
    "changes no output by more than 0.0038",
]
HOMEWORK.insert(6, "Permuting the tokens X permutes the outputs O alike: permutation equivariant")


def test_the_homework_is_described_as_by_a_good_student() -> None:
    assert list(solve(read_problem(sample("self").path)).explain()) == HOMEWORK


def test_cross_attention_states_which_side_is_read() -> None:
    told = solve(read_problem(sample("cross").path)).explain()
    assert told[0] == (
        "In output 1, inputs 3 and 4 of X2 tie for first place (0.40 each), "
        "equal within a billionth"
    )
    assert told[1].startswith("Output 1 mixes inputs 3, 4, 2 and 1 of X2 (0.40, 0.40, 0.15 and 0.0")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("identity", "Each output attends almost only to its own input"),
        ("permutation", "The outputs permute the inputs: red attends to blue, green attends"),
        ("running-linear", "like a 1 × 1 convolution"),
        ("convolution", "a convolution of the values of the inputs with the kernel (0.25, 0.50, 0"),
        ("copy", "Output q attends almost only to input k2"),
        ("average", "In output q, inputs a and b tie for first place (0.50 each)"),
        ("long-key", "Every output attends equally to all 2 inputs (0.50 each"),
        ("noisy-key", "Every output attends equally to all 2 inputs (0.50 each"),
        ("two-queries", "Head 2: output q attends almost only to input b"),
        ("temperature", "Output q mixes inputs a, b and c (0.51, 0.31 and 0.19), effectively 2.7"),
    ],
)
def test_the_samples_of_theory_are_named_and_state_their_command(name: str, said: str) -> None:
    problem = read_problem(sample(name).path)
    assert said in "\n".join(solve(problem).explain()[:3])
    assert f"{name}.json" in COMMANDS[name]


def test_a_page_does_not_repeat_what_an_earlier_sentence_says() -> None:
    solution = solve(read_problem(sample("identity").path))
    assert {"identity", "one-hot", "all-own", "spread"} < codes(solution)
    told = {each.code for each in worth_telling(solution.patterns)}
    assert told == {"identity", "margin", "scaling", "equivariant", "rounded-away"}


@pytest.mark.slow
def test_names_from_a_file_are_shown_and_obeyed_by_nothing(attncalc: Command) -> None:
    labels = ["[red]x", "\x1b[31m", "$x$|\n", "\\input{}"]
    problem = {"X": eye(4), "W_Q": eye(4), "W_K": eye(4), "W_V": eye(4), "labels": labels}
    text = json.dumps(problem)
    for form in ("table", "markdown", "latex", "csv"):
        out = attncalc("explain", "-", "--format", form, stdin=text).out
        assert "\x1b" not in out
        assert "\\input{}" not in out or form in ("table", "csv")
    assert "Output [red]x mixes" in attncalc("explain", "-", "--all", stdin=text).out


# forms


def test_every_form_contains_the_sentences(attncalc: Command, tmp_path: Path) -> None:
    plain = attncalc("explain", "--all").out
    assert plain.split("What the weights show\n")[1].splitlines() == HOMEWORK
    markdown = attncalc("explain", "--all", "--format", "markdown").out
    assert markdown.count("\n- ") == 4 + len(HOMEWORK)
    assert r"\subsection*{What the weights show}" in attncalc("explain", "--format", "latex").out
    rows = [*csv.reader(attncalc("explain", "--all", "--format", "csv").out.splitlines())]
    start = rows.index(["patterns"])
    assert [row[0] for row in rows[start + 1 : start + 1 + len(HOMEWORK)]] == HOMEWORK
    attncalc("explain", "-o", "a.npz")
    with np.load(tmp_path / "a.npz") as arrays:
        assert arrays["patterns"].tolist() == HOMEWORK


@pytest.mark.slow
def test_json_contains_every_pattern_with_its_code_and_its_values(attncalc: Command) -> None:
    content = json.loads(attncalc("explain", "--format", "json").out)
    found = content["patterns"]
    assert [set(each) for each in found] == [{"code", "about", "text", "values"}] * len(found)
    assert [each["code"] for each in found] == [
        *("one-hot", "equal-rows", "none-own", "spread", "spread", "spread"),
        *("margin", "scaling", "equivariant", "rounded-away"),
    ]
    assert found[0]["values"] == {"outputs": [1, 2], "inputs": [3, 3], "threshold": 0.995}
    assert [each["about"] for each in found[3:6]] == ["output 1", "output 2", "output 3"]
    assert found[5]["values"]["weights"] == [0.62, 0.38]
    assert set(HOMEWORK) < {each["text"] for each in found}
    steps = json.loads(attncalc("self", "--explain", "--format", "json").out)
    assert steps["patterns"] == found
    assert "patterns" not in json.loads(attncalc("self", "--format", "json").out)


@pytest.mark.slow
def test_pages_and_pictures_contain_patterns_on_request(attncalc: Command) -> None:
    page = attncalc("self", "--explain").out
    shown = [*HOMEWORK[:3], "5 more sentences: attncalc explain --all shows them"]
    assert page.index("Output 3: most input 1") < page.index("What the weights show\n")
    assert page.splitlines()[-4:] == shown
    assert attncalc("self", "--explain", "--full").out.splitlines()[-len(HOMEWORK) :] == HOMEWORK
    assert "What the weights show" not in attncalc("self").out
    assert "Output 1 mixes inputs 3, 4, 2" in attncalc("cross", "--only", "Q", "--explain").out
    drawn = attncalc("plot", "--explain", "-o", "map.svg").out.splitlines()
    assert drawn == ["map.svg", "", "What the weights show", *shown]


def test_a_worksheet_contains_no_patterns(attncalc: Command) -> None:
    run = attncalc("self", "--blank", "--explain")
    assert (run.code, run.out) == (2, "")
    assert "--blank and --explain together" in run.err


def test_without_the_weights_there_are_no_patterns() -> None:
    solution = solve(read_problem(sample("self").path), keep=("A",))
    with pytest.raises(InputError, match="V, A, O, and V, O were not kept"):
        _ = solution.patterns


def test_selected_steps_do_not_prevent_a_comparison() -> None:
    """Another scale and no mask have other steps than those that answers are asked for."""
    problem = read_problem(sample("causal").path, asked=["S_scaled", "S_masked"])
    assert {"scaling", "masked"} <= codes(solve(problem))


@pytest.mark.slow
def test_of_many_outputs_and_sentences_some_are_shown_and_the_rest_counted(
    attncalc: Command,
) -> None:
    rng = np.random.default_rng(1)
    many = {"X": rng.normal(size=(60, 4)).round(2).tolist(), "heads": 20, "W_O": eye(20)}
    weights = {name: rng.normal(size=(4, 20)).round(2).tolist() for name in ("W_Q", "W_K", "W_V")}
    text = json.dumps(many | weights)
    told = attncalc("explain", "-", "--all", stdin=text).out.splitlines()
    assert [line for line in told if line.startswith("Head 1: outputs effectively mix")]
    assert "Heads 1 and" in "".join(told)
    assert " (only pairs with head 1 are compared)" in "".join(told)
    found = solve(Problem(**many, **weights)).patterns
    assert len(found) < 200
    assert len(worth_telling(found)) > 20


def test_many_similar_outputs_share_one_sentence() -> None:
    told = solve(Problem(Q=[[0]] * 30, K=[[1]] * 3, V=[[1], [2], [3]])).explain()
    assert told == (
        "Every output attends equally to all 3 inputs (0.33 each, within 0.5 % of their mean)",
        "Outputs 1, 2, 3, 4, 5, 6 and 24 more have equal weights (within a billionth), "
        "so they show the same digits",
        "Every output effectively mixes 3.00 of 3 inputs (e^H)",
    )


def test_groups_of_equal_rows_and_their_threshold_are_reported() -> None:
    A = [[60, 40, 0], [60, 40, 0], [0, 50, 50], [0, 50, 50], [10, 10, 80]]
    (said,) = (each for each in Planted((A,)).solution.explain() if "equal weights" in each)
    assert said == (
        "Groups of outputs have equal weights (within a billionth), so they show the same digits: "
        "1 and 2; 3 and 4"
    )


@pytest.mark.slow
def test_a_small_threshold_is_shown_with_all_its_digits() -> None:
    m = 30000
    K = np.zeros((m, 1))
    K[0] = -20
    told = solve(Problem(Q=[[1]], K=K, V=np.ones((m, 1))), keep=("A", "O")).explain()
    assert "No output attends to input 1 (no weight reaches 0.000003)" in told


def test_three_sentences_lead_and_the_others_are_counted() -> None:
    from attncalc.writing.document import Patterns

    texts = tuple("abcd")
    assert Patterns(texts, full=True).shown(str) == list(texts)
    assert Patterns(texts[:3], full=False).shown(str) == list(texts[:3])
    said = "1 more sentence: attncalc explain --all shows them"
    assert Patterns(texts, full=False).shown(str) == [*texts[:3], said]


@pytest.mark.slow
def test_the_three_most_informative_patterns_are_shown(attncalc: Command) -> None:
    file = str(sample("decoder").path)
    (title, *shown) = attncalc("explain", file).out.split("\n\n")[1].splitlines()
    every = attncalc("explain", file, "--all").out.split("\n\n")[1].splitlines()[1:]
    found = json.loads(attncalc("explain", file, "--format", "json").out)["patterns"]
    rank = {each["text"]: CODES.index(each["code"]) for each in found}
    assert title == "What the weights show"
    assert sorted(rank[line] for line in every)[:3] == [rank[line] for line in shown[:3]]
    assert shown[3] == f"{len(every) - 3} more sentences: attncalc explain --all shows them"


# convolutions


@pytest.mark.parametrize(("name", "kernel"), [("running-linear", [1]), ("convolution", [1, 2, 1])])
def test_a_sample_is_the_stated_convolution(name: str, kernel: list[int]) -> None:
    """Where the kernel fits: outputs Σ_k kernel[k] x[i + k] W, by loops."""
    problem = read_problem(sample(name).path)
    X, W, O = problem.X.tolist(), problem.W_V.tolist(), solve(problem)["O"]  # noqa: E741
    half, total = len(kernel) // 2, sum(kernel)
    for i in range(half, len(X) - half):
        mixed = [
            sum(part * X[i + k - half][f] for k, part in enumerate(kernel)) / total
            for f in range(len(W))
        ]
        wanted = [sum(x * w[c] for x, w in zip(mixed, W, strict=True)) for c in range(len(W[0]))]
        assert O[i].tolist() == pytest.approx(wanted, abs=1e-7)


@pytest.mark.torch
@pytest.mark.parametrize(("name", "kernel"), [("running-linear", [1]), ("convolution", [1, 2, 1])])
def test_a_sample_is_what_pytorch_convolves(name: str, kernel: list[int]) -> None:
    torch = pytest.importorskip("torch")
    problem = read_problem(sample(name).path)
    features, out = problem.W_V.shape
    layer = torch.nn.Conv1d(features, out, len(kernel), bias=False, dtype=torch.float64)
    parts = torch.tensor(kernel, dtype=torch.float64) / sum(kernel)
    taps = torch.tensor(problem.W_V.T.copy())[:, :, None] * parts
    with torch.no_grad():
        layer.weight.copy_(taps)
        convolved = layer(torch.tensor(problem.X.T.copy())[None])[0].T.numpy()
    half = len(kernel) // 2
    inside = solve(problem)["O"][half : problem.n - half]
    np.testing.assert_allclose(inside, convolved, atol=1e-7)


@pytest.mark.slow
def test_the_kernel_of_a_convolution_is_that_of_its_heads() -> None:
    image = np.arange(12.0).reshape(3, 4) % 5
    offsets = tuple((i, j) for i in (-1, 0, 1) for j in (-1, 0, 1))
    solution = Grid(3, 4, offsets).solution
    (found,) = (each for each in solution.patterns if each.code == "convolution")
    assert found.plain["grid"] == [3, 4]
    assert found.plain["kernel"] == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    around = np.pad(image, 1)
    expected = sum(
        (3 * i + j + 1) * around[i : i + 3, j : j + 4] for i in range(3) for j in range(3)
    )
    np.testing.assert_allclose(np.array(solution["O"]).reshape(3, 4), expected)


@pytest.mark.parametrize(
    ("W", "channels"),
    [
        ([[1, 0], [0, 2]], "depthwise"),
        ([[1, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 1]], "2 groups"),
        ([[1, 1], [0, 1]], "all"),
    ],
)
def test_channels_of_a_convolution_are_told_apart(W: Any, channels: str) -> None:
    assert _channels(np.array([W, W])) == channels
