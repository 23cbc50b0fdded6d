"""A designed query: in terms of the keys, its weights and output, and how β changes them."""

from collections.abc import Iterator
from typing import IO, Any

import numpy as np

from attncalc.base.text import numbered, on_a_line
from attncalc.base.types import Matrix
from attncalc.problem.stated import conventions, heading
from attncalc.studies.aim import Aim, Obstacle, step_of
from attncalc.studies.changes import value_text
from attncalc.writing.document import Bullets, Document, Facts, Part, Sheet
from attncalc.writing.studies.common import OF_MEASURES, filled, in_json, in_rows, sheet, shown
from attncalc.writing.studies.variation import shown_value

SHOWN = 6
"""Significant digits of a key's share, and of the β that reaches an error."""
LEAST = 1e-13
"""An error below this is rounding of float64."""


def document(aim: Aim, *, full: bool = False) -> Document:
    """Return the document of a designed query."""
    aimed_for = f"aimed for: {on_a_line(aim.target.text)}", f"β = {value_text(aim.beta)}"
    facts, bullets = Facts((*aimed_for, *conventions(aim.problem))), Bullets(tuple(_said(aim)))
    parts: tuple[Part, ...] = (facts, bullets, *_sheets(aim, full=full))
    left_out = f"c is the value before {' and '.join(aim.left_out)}, which aim leaves out"
    notes = (*([left_out] if aim.left_out else []), OF_MEASURES)
    return Document(heading(aim.problem), parts, notes, language=aim.problem.language)


def _said(aim: Aim) -> Iterator[str]:
    for name, shares in zip(query_names(aim), aim.in_keys, strict=True):
        yield f"{name} = {in_keys_text(aim, shares)}"
    if aim.obstacle:
        yield obstacle_text(aim, aim.obstacle)
    yield f"The error ‖c - target‖ is {_error(aim.error)}."
    if aim.within:
        least, beta = aim.within
        if beta is None:
            yield f"No β brings the error to {_short(least)}."
        else:
            yield f"From β = {_short(beta)} on the error is {_short(least)} or less."


def query_names(aim: Aim) -> tuple[str, ...]:
    """Return the names of the designed queries: q, or q_1, q_2, … for heads."""
    count = len(aim.queries)
    return ("q",) if count == 1 else tuple(f"q_{head}" for head in range(1, count + 1))


def in_keys_text(aim: Aim, shares: Matrix) -> str:
    """Return a query as a sum of keys: "10 k_a + 10 k_b"."""
    names = [on_a_line(name) for name in aim.problem.keys]
    terms = [
        f"{'-' if share < 0 else '+'} {_times(abs(float(share)), name)}"
        for share, name in zip(shares, names, strict=True)
        if share
    ]
    text = " ".join(terms).removeprefix("+ ")
    return f"-{text.removeprefix('- ')}" if text.startswith("- ") else text or "0"


def _times(share: float, name: str) -> str:
    times = {1.0: "", -1.0: "-"}.get(share, f"{_short(share)} ")
    return f"{times}k_{name}"


def obstacle_text(aim: Aim, obstacle: Obstacle) -> str:
    """Return why no query reaches the target, and what is shown instead."""
    names = [on_a_line(name) for name in aim.problem.keys]
    shares = [_times(share, names[other]) for other, share in obstacle.others]
    made = " + ".join(shares).replace("+ -", "- ") or "0"
    key = names[obstacle.key]
    if obstacle.is_passed:
        return (
            f"No query has only the scores {_short(float(aim.beta))} and 0, because "
            f"k_{key} = {made}. This query puts the target at least that far above the rest."
        )
    makes, wanted = (_short(float(aim.beta) * each) for each in (obstacle.makes, obstacle.wanted))
    return (
        f"Impossible: k_{key} = {made}, so for every query the score of {key} depends on "
        f"the others: it is {makes}, and the target is {wanted}. This query has the closest "
        "scores."
    )


def _sheets(aim: Aim, *, full: bool) -> Iterator[Sheet]:
    names, keys = query_names(aim), [f"input {name}" for name in aim.problem.keys]
    title, columns = f"The {'query' if len(names) == 1 else 'queries'}", aim.queries.shape[1]
    queries = [[f"{each:.12g}" for each in row] for row in aim.queries]
    yield filled(title, names, numbered(columns), queries, full=full)
    weights, outputs = (step_of(aim.problem, role) for role in ("weights", "outputs"))
    found = aim.solution.shown(weights)
    rows = [row[0] for row in found] if aim.solution.digits[weights].ndim == 3 else [found[0]]
    yield filled("Weights", names, keys, rows, full=full)
    target = [shown(float(number), aim.problem.decimals) for number in aim.aimed_at]
    both = aim.solution.shown(outputs)[0], target
    yield filled("Output", ("c", "target"), numbered(aim.problem.d_v), both, full=full)
    yield _over_beta(aim, full=full)


def _over_beta(aim: Aim, *, full: bool) -> Sheet:
    study = aim.over_beta
    names = [each.name for each in study.watched]

    def text(i: int, j: int) -> str:
        # with two decimals, errors of several β would all be 0.00
        return _error(study.values[i, j], 3) if names[j] == "error" else study.digits[i][j]

    betas = [shown_value(value) for (value,) in study.points]
    return sheet("How β changes it", betas, names, text, full=full)


def _short(value: float) -> str:
    return f"{value:.{SHOWN}g}"


def _error(value: float, digits: int = SHOWN) -> str:
    """Return an error, or that it is smaller than float64 resolves."""
    return f"{value:.{digits}g}" if value >= LEAST else f"below {LEAST:g}"


def as_json(aim: Aim) -> str:
    """Return a designed query as JSON; with several heads, lists of one for each."""
    queries, weights = (
        [[*map(_number, row)] for row in each] for each in (aim.queries, aim.weights)
    )
    in_keys = [
        {name: _number(share) for name, share in zip(aim.problem.keys, row, strict=True) if share}
        for row in aim.in_keys
    ]
    heads: list[Any] = [queries, in_keys, weights]
    q, in_key, weight = (each[0] for each in heads) if len(queries) == 1 else heads
    content = {"q": q, "in_keys": in_key, "beta": _number(float(aim.beta)), "weights": weight}
    content |= {"c": [*map(_number, aim.c)], "target": [*map(_number, aim.aimed_at)]}
    content["error"] = aim.error
    if aim.obstacle and not aim.obstacle.is_passed:
        content["impossible"] = obstacle_text(aim, aim.obstacle)
    if aim.within:
        content["within"] = {"error": aim.within[0], "beta": aim.within[1]}
    return in_json(content)


def _number(value: float) -> float | int:
    """Return a float, as a whole number if it is one: 10, as typed."""
    return int(value) if float(value).is_integer() and abs(value) < 2**53 else float(value)


def as_csv(aim: Aim) -> str:
    """Return the values for several β as CSV: a row for each."""
    study = aim.over_beta
    rows = [
        [value_text(value), *(repr(float(number)) for number in numbers)]
        for (value,), numbers in zip(study.points, study.values, strict=True)
    ]
    return in_rows([["beta", *(each.name for each in study.watched)], *rows])


def write_npz(aim: Aim, file: IO[bytes]) -> None:
    """Write the queries, their weights and their output as arrays."""
    found: dict[str, Any] = {"q": aim.queries, "in_keys": aim.in_keys}
    found |= {"beta": np.array(float(aim.beta)), "weights": aim.weights, "c": aim.c}
    np.savez(file, **found, target=aim.aimed_at, error=np.array(aim.error))
