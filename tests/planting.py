"""Scripts with a mistake planted in them, made in plain numpy, without a line of attncalc.

A student is simulated: they take each step as a textbook has it, round in their own way, and may go
wrong once, by a wrong recipe or by a slip of one entry.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from typing import Any

import numpy as np

Env = dict[str, np.ndarray]
Recipe = Callable[[Env, "Task"], np.ndarray]

ROUNDINGS = {"half-away": ROUND_HALF_UP, "half-even": ROUND_HALF_EVEN, "truncate": ROUND_DOWN}
LARGEST = 1e12
"""A number that answers do not write out, as exp of a score."""
STYLES = [(carried, rule) for carried in ("each-step", "display") for rule in ROUNDINGS]


@dataclass
class Task:
    """A random problem, and the steps it takes."""

    fields: dict[str, Any]
    given: Env
    steps: list[str]
    d_k: int
    d_v: int
    heads: int
    decimals: int
    factor: float | None
    allowed: np.ndarray | None
    cross: bool


@dataclass
class Script:
    """What a student writes, and what was planted in it."""

    shown: dict[str, list[Any]]
    planted: str = ""
    step: str = ""
    changed: list[str] = field(default_factory=list)


def softmax(scores: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        largest = scores.max(axis=-1, keepdims=True)
        powers = np.exp(scores - np.where(np.isfinite(largest), largest, 0.0))
        total = powers.sum(axis=-1, keepdims=True)
    return powers / np.where(total == 0, 1, total)


def parted(matrix: np.ndarray, heads: int) -> np.ndarray:
    if heads == 1:
        return matrix
    return np.stack(np.split(matrix, heads, axis=1))


def turned(matrix: np.ndarray) -> np.ndarray:
    return matrix.swapaxes(-1, -2)


def right(step: str, env: Env, task: Task) -> np.ndarray:
    """Take one step as a textbook has it."""
    if step in ("Q", "K", "V"):
        source = "X" if not task.cross else "X1" if step == "Q" else "X2"
        made = env[source] @ env[f"W_{step}"]
        return parted(made + env.get(f"b_{step}", 0.0), task.heads)
    if step == "S":
        return env["Q"] @ turned(env["K"])
    if step == "S_scaled":
        return env["S"] * task.factor
    if step == "S_masked":
        return np.where(task.allowed, env[before_mask(task)], -np.inf)
    if step == "A":
        return softmax(env[last_scores(task)])
    if step == "H":
        return env["A"] @ env["V"]
    if step == "C":
        return np.concatenate(list(env["H"]), axis=1)
    if "W_O" in env:
        return env["C" if task.heads > 1 else "H"] @ env["W_O"]
    if task.heads > 1:
        return env["C"]
    return env["A"] @ env["V"]


def before_mask(task: Task) -> str:
    return "S" if task.factor is None else "S_scaled"


def last_scores(task: Task) -> str:
    return before_mask(task) if task.allowed is None else "S_masked"


def cut(matrix: np.ndarray, decimals: int, rule: str) -> np.ndarray:
    """Round what a pocket calculator shows, ten places: halves are halves again."""
    unit = Decimal(1).scaleb(-decimals)

    def one(value: float) -> float:
        if not np.isfinite(value) or abs(value) > LARGEST:
            return value
        exact = Decimal(repr(round(value, 10)))
        return float(exact.quantize(unit, rounding=ROUNDINGS[rule])) + 0.0

    return np.vectorize(one, otypes=[float])(matrix)


def random_task(rng: random.Random) -> Task:
    cross = rng.random() < 0.35
    n, m = rng.randint(2, 4), rng.randint(2, 5)
    m = m if cross else n
    heads = 2 if rng.random() < 0.2 else 1
    d, d_k, d_v = rng.randint(2, 4), rng.randint(1, 4), rng.randint(1, 4)
    if rng.random() < 0.3:
        d_k = d_v = d
    entries = rng.choice([[-2, -1, 0, 1, 2], [-2, -1.5, -0.5, 0, 0.5, 1, 2], None])

    def matrix(rows: int, columns: int) -> np.ndarray:
        def one() -> float:
            return rng.choice(entries) if entries else round(rng.uniform(-2, 2), 1)

        return np.array([[float(one()) for _ in range(columns)] for _ in range(rows)])

    given: Env = {"X1": matrix(n, d), "X2": matrix(m, d)} if cross else {"X": matrix(n, d)}
    given |= {"W_Q": matrix(d, d_k * heads), "W_K": matrix(d, d_k * heads)}
    given["W_V"] = matrix(d, d_v * heads)
    if rng.random() < 0.15:
        given |= {"b_Q": matrix(1, d_k * heads), "b_K": matrix(1, d_k * heads)}
    if rng.random() < 0.15:
        given["W_O"] = matrix(d_v * heads, rng.randint(2, 4))
    scale = rng.choice(["sqrt_dk", "sqrt_dk", "none", "1/4"])
    factor = {"sqrt_dk": d_k**-0.5, "none": None, "1/4": 0.25}[scale]
    allowed = None
    fields: dict[str, Any] = {name: each.tolist() for name, each in given.items()}
    if rng.random() < 0.3:
        allowed = np.tril(np.ones((n, m), dtype=bool))
        if rng.random() < 0.5:
            allowed = np.array([[rng.random() < 0.7 for _ in range(m)] for _ in range(n)])
            allowed[:, 0] = True
            fields["keep"] = allowed.astype(int).tolist()
        else:
            fields["causal"] = True
    decimals = rng.choice([2, 2, 2, 3])
    fields |= {"scale": scale, "decimals": decimals, "heads": heads if heads > 1 else None}
    fields |= {"rounding": rng.choice(["display", "each-step"])}
    steps = ["Q", "K", "V", "S"]
    steps += ["S_scaled"] if factor is not None else []
    steps += ["S_masked"] if allowed is not None else []
    steps += ["A"] + (["H"] if heads > 1 or "W_O" in given else [])
    steps += (["C"] if heads > 1 else []) + ["O"]
    return Task(fields, given, steps, d_k, d_v, heads, decimals, factor, allowed, cross)


def written(
    task: Task,
    style: tuple[str, str],
    shown: list[str],
    recipe: tuple[str, Recipe] | None = None,
    slips: dict[str, Callable[[np.ndarray, Env], np.ndarray | None]] | None = None,
) -> dict[str, np.ndarray] | None:
    """Return what a student writes: the shown steps as they are cut; None where that cannot be."""
    carried, rule = style
    env: Env = dict(task.given)
    script: dict[str, np.ndarray] = {}
    for step in task.steps:
        with np.errstate(all="ignore"):
            if recipe is not None and recipe[0] == step:
                made = recipe[1](env, task)
            else:
                made = right(step, env, task)
        if np.abs(made[np.isfinite(made)]).max(initial=0.0) > LARGEST:
            return None
        digits = cut(made, task.decimals, rule)
        if slips and step in slips:
            slipped = slips[step](digits, env)
            if slipped is None:
                return None
            is_kept = slips[step] is adjusted  # its digits are what the student goes on with
            made = slipped if is_kept else np.where(slipped != digits, slipped, made)
            digits = slipped
        env[step] = digits if carried == "each-step" else made
        if step in shown:
            script[step] = digits
    return script


def powers_over_sum(
    scores: np.ndarray, base: float, shifted: bool, cutting: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Take powers, write each down to a few digits, and divide by what these sum to."""
    with np.errstate(all="ignore"):
        largest = scores.max(axis=-1, keepdims=True)
        largest = np.where(np.isfinite(largest), largest, 0.0)
        powers = base ** (scores - largest) if shifted else base**scores
        powers = cutting(np.where(np.isneginf(scores), 0.0, powers))
        return powers / powers.sum(axis=-1, keepdims=True)


def significant(matrix: np.ndarray, digits: int) -> np.ndarray:
    def one(value: float) -> float:
        return float(f"{value:.{digits}g}") if np.isfinite(value) else float(value)

    return np.vectorize(one, otypes=[float])(matrix)


def in_digits(task: Task, digits: int, *, carried: bool) -> dict[str, np.ndarray] | None:
    """Return what a student writes who keeps so many significant digits; None as of `written`."""
    env: Env = dict(task.given)
    script: dict[str, np.ndarray] = {}
    for step in task.steps:
        with np.errstate(all="ignore"):
            made = right(step, env, task)
        if np.abs(made[np.isfinite(made)]).max(initial=0.0) > LARGEST:
            return None
        script[step] = significant(made, digits)
        env[step] = script[step] if carried else made
    return script


def adjusted(digits: np.ndarray, env: Env) -> np.ndarray:
    """Add what is missing to 1 to the largest weight of each row."""
    made = digits.copy()
    for row in made.reshape(-1, made.shape[-1]):
        if row.sum() > 0:
            row[row.argmax()] += 1 - row.sum()
    return np.round(made, 9)


def _in_four_digits(scores: np.ndarray) -> np.ndarray:
    """Take powers as on a calculator of four digits: scores, powers and their sum have no more."""
    powers = significant(np.exp(significant(scores, 4)), 4)
    return powers / significant(powers.sum(axis=-1, keepdims=True), 4)


KIND_OF_WAY = {
    "powers rounded": "exp-rounded",
    "powers rounded, largest off": "exp-rounded",
    "powers to 3 decimals": "exp-rounded",
    "powers to 4 decimals": "exp-rounded",
    "powers to 4 decimals, largest off": "exp-rounded",
    "powers cut": "exp-cut",
    "powers to 4 digits": "exp-digits",
    "four digits carried": "four-digits",
    "e as 2.72": "e-rounded",
    "e as 2.718": "e-rounded",
    "e as 2.72, powers rounded": "e-rounded",
    "e as 2.718, powers rounded": "e-rounded",
    "weights adjusted": "weights-adjusted",
    "factor to 2 decimals": "factor-rounded",
    "factor to 3 decimals": "factor-rounded",
    "root to 2 decimals": "root-rounded",
    "root to 3 decimals": "root-rounded",
}
"""Which accepted way of rounding each of these is, as its code begins."""


def ways_of(task: Task) -> dict[str, dict[str, Any]]:
    """Return the roundings that teachers accept, as arguments of `written`."""
    last, plain, d = last_scores(task), (lambda powers: powers), task.decimals

    def powers(base: float, shifted: bool, cutting: Any) -> dict[str, Any]:
        make = lambda e, t: powers_over_sum(e[last], base, shifted, cutting)  # noqa: E731
        return {"recipe": ("A", make)}

    def to(places: int, rule: str = "half-away") -> Any:
        return lambda matrix: cut(matrix, places, rule)

    ways: dict[str, dict[str, Any]] = {
        "powers rounded": powers(np.e, False, to(d)),
        "powers rounded, largest off": powers(np.e, True, to(d)),
        "powers cut": powers(np.e, False, to(d, "truncate")),
        "powers to 3 decimals": powers(np.e, False, to(3)),
        "powers to 4 decimals": powers(np.e, False, to(4)),
        "powers to 4 decimals, largest off": powers(np.e, True, to(4)),
        "powers to 4 digits": powers(np.e, False, lambda matrix: significant(matrix, 4)),
        "four digits carried": {"recipe": ("A", lambda e, t: _in_four_digits(e[last]))},
        "e as 2.72": powers(2.72, False, plain),
        "e as 2.718": powers(2.718, False, plain),
        "e as 2.72, powers rounded": powers(2.72, False, to(d)),
        "e as 2.718, powers rounded": powers(2.718, False, to(d)),
        "weights adjusted": {"slips": {"A": adjusted}},
    }
    if task.factor is not None:
        for places in (2, 3):
            factor = float(cut(np.array([task.factor]), places, "half-away")[0])
            if factor != task.factor:
                make = lambda e, t, f=factor: e["S"] * f  # noqa: E731
                ways[f"factor to {places} decimals"] = {"recipe": ("S_scaled", make)}
            root = float(cut(np.array([1 / task.factor]), places, "half-away")[0])
            if abs(root - 1 / task.factor) > 1e-9:
                make = lambda e, t, f=root: e["S"] / f  # noqa: E731
                ways[f"root to {places} decimals"] = {"recipe": ("S_scaled", make)}
    return ways


def rounding_explains(
    task: Task, style: tuple[str, str], shown: list[str], step: str, written_: np.ndarray
) -> bool:
    """Return whether digits that were rounded before can account for what is written in a step.

    The shown digits that the step reads are moved to the ends of their ranges, in
    random directions: what is reached so is a part of what rounding can do, and never more.
    """
    carried, rule = style
    env: Env = dict(task.given)
    for name in task.steps[: task.steps.index(step)]:
        with np.errstate(all="ignore"):
            made = right(name, env, task)
        env[name] = cut(made, task.decimals, rule) if carried == "each-step" else made
    unit = 10.0**-task.decimals
    rng = np.random.default_rng(0)
    low = high = right(step, env, task)
    for _ in range(2000):
        moved = dict(env)
        for name in shown:
            if name in env and name not in task.given:
                digits = cut(env[name], task.decimals, rule)
                inexact = cut(env[name], 9, rule) != digits
                ends = rng.choice([-0.5, 0.5], size=digits.shape) * unit * inexact
                moved[name] = digits + ends
        with np.errstate(all="ignore"):
            made = right(step, moved, task)
        low, high = np.fmin(low, made), np.fmax(high, made)
    inside = (written_ >= low - unit) & (written_ <= high + unit)
    return bool(inside.all())


def recipes_of(task: Task) -> list[tuple[str, str, Recipe]]:
    """Return each wrong recipe that this problem leaves room for: its step, code and arithmetic."""
    found: list[tuple[str, str, Recipe]] = []

    def add(step: str, code: str, make: Recipe) -> None:
        found.append((step, code, make))

    for side in "QKV":
        source = "X" if not task.cross else "X1" if side == "Q" else "X2"
        for other in "QKV":
            if other != side and task.given[f"W_{other}"].shape == task.given[f"W_{side}"].shape:
                add(side, f"weights-swapped:W_{other}", _projecting(side, source, f"W_{other}"))
        W = task.given[f"W_{side}"]
        if W.shape[0] == W.shape[1]:
            add(side, "weights-transposed", _projecting(side, source, f"W_{side}", turn=True))
            add(side, "unprojected", lambda env, t, s=source: parted(env[s], t.heads))
        if (W < 0).any():
            add(side, "weights-signless", _with_given(side, f"W_{side}", np.abs(W)))
        if f"b_{side}" in task.given:
            add(side, "bias-forgotten", _projecting(side, source, f"W_{side}", bias=False))
            b = task.given[f"b_{side}"]
            add(side, "bias-subtracted", _with_given(side, f"b_{side}", -b))
            make = _projecting(side, source, f"W_{side}", bias=False)
            add(side, "bias-multiplied", lambda e, t, m=make, b=b: m(e, t) * parted(b, t.heads))
        if task.heads > 1:
            add(side, "heads-viewed", lambda e, t, s=side: _viewed(s, e, t))
            add(side, "heads-interleaved", lambda e, t, s=side: _taking_turns(s, e, t))
        if task.cross:
            other = "X2" if side == "Q" else "X1"
            if task.given[other].shape == task.given[source].shape:
                add(side, f"wrong-source:{other}", _projecting(side, other, f"W_{side}"))
    n, m = (len(task.given[x]) for x in (("X1", "X2") if task.cross else ("X", "X")))
    if m == task.d_k:
        add("S", "k-not-transposed", lambda env, t: env["Q"] @ env["K"])
    if n == m:
        add("S", "scores-transposed", lambda env, t: env["K"] @ turned(env["Q"]))
        add("S", "q-q", lambda env, t: env["Q"] @ turned(env["Q"]))
        add("S", "k-k", lambda env, t: env["K"] @ turned(env["K"]))
        add(
            _weighing(task),
            "weights-turned",
            lambda env, t: turned(env["A"]) @ env["V"],
        )
        if m == task.d_k:
            add("S", "entrywise", lambda env, t: env["Q"] * env["K"])
    if task.d_k == task.d_v:
        add("S", "q-v", lambda env, t: env["Q"] @ turned(env["V"]))
        add(_weighing(task), "a-k", lambda env, t: env["A"] @ env["K"])
        if n == m:
            add(_weighing(task), "a-q", lambda env, t: env["A"] @ env["Q"])
    found += _of_copying(task)
    tokens = "X2" if task.cross else "X"
    if task.given[tokens].shape[1] == task.d_v and task.heads == 1:
        add(_weighing(task), "a-x", lambda env, t: env["A"] @ env[tokens])
    add(
        _weighing(task),
        f"scores-for-weights:{before_mask(task)}",
        lambda env, t: env[before_mask(t)] @ env["V"],
    )
    found += _of_scores(task, n, m)
    return found


def _with_given(step: str, name: str, other: np.ndarray) -> Recipe:
    """Take a step right, but for one given matrix that is another."""
    return lambda env, task: right(step, {**env, name: other}, task)


def _beside(step: str, env: Env, task: Task) -> np.ndarray:
    return np.concatenate(list(right(step, env, task)), axis=1)


def _viewed(step: str, env: Env, task: Task) -> np.ndarray:
    beside = _beside(step, env, task)
    return beside.reshape(task.heads, len(beside), -1)


def _taking_turns(step: str, env: Env, task: Task) -> np.ndarray:
    beside = _beside(step, env, task)
    return np.stack([beside[:, head :: task.heads] for head in range(task.heads)])


def is_of_copying(code: str) -> bool:
    """Return whether a mistake affects single entries or lines, and is reported only there."""
    return code.startswith(("miscopied", "rows-", "columns-", "row-", "column-", "entries-"))


COPIED = {"X": 1.0, "W": -2.0}
"""By how much an entry of a given matrix is read wrongly."""


def _of_copying(task: Task) -> list[tuple[str, str, Recipe]]:
    """Return mistakes of copying: an entry of X or W, rows, columns, and two neighbors."""
    found: list[tuple[str, str, Recipe]] = []
    for side in "QKV":
        source = "X" if not task.cross else "X1" if side == "Q" else "X2"
        for name in (source, f"W_{side}"):
            other = task.given[name].copy()
            other[0, -1] = round(other[0, -1] + COPIED[name[0]], 9)
            place = f"{name}[1,{other.shape[1]}]"
            code = f"miscopied-{place}:{other[0, -1]:g}"
            if "W" in name and task.heads > 1:
                continue  # its place in the head's own matrix is another one
            if "X" in name and task.given[f"W_{side}"].shape[1] == 1:
                continue  # one entry alone is changed: a slip of any kind can do that
            found.append((side, code, _with_given(side, name, other)))
    for step in ("Q", "S", "O"):
        found.append((step, "rows-swapped:1,2", _with_lines(step, (1, 0), -2)))
    for step in ("K", "A"):
        found.append((step, "columns-swapped:1,2", _with_lines(step, (1, 0), -1)))
    found.append(("V", "row-repeated:2", _with_lines("V", (0, 0), -2)))
    found.append(("S", "column-repeated:2", _with_lines("S", (0, 0), -1)))
    for step in ("Q", "S"):
        head = "1," if task.heads > 1 else ""
        found.append((step, f"entries-swapped-{step}[{head}1,1]", _with_neighbours(step)))
    return found


def _with_lines(step: str, order: tuple[int, int], axis: int) -> Recipe:
    """Take a step right, with its first two rows or columns in another order."""

    def make(env: Env, task: Task) -> np.ndarray:
        made = right(step, env, task)
        if made.shape[axis] < 2:
            return made
        return np.take(made, [*order, *range(2, made.shape[axis])], axis)

    return make


def _with_neighbours(step: str) -> Recipe:
    """Take a step right, with its first two entries exchanged."""

    def make(env: Env, task: Task) -> np.ndarray:
        made = right(step, env, task).copy()
        flat = made.reshape(-1, made.shape[-1])
        flat[0, :2] = flat[0, :2][::-1].copy()
        return made

    return make


def _negated(scores: np.ndarray) -> np.ndarray:
    return np.where(np.isneginf(scores), -np.inf, -scores)


def _weighing(task: Task) -> str:
    return "H" if "H" in task.steps else "O"


def _projecting(
    side: str, source: str, weights: str, *, turn: bool = False, bias: bool = True
) -> Recipe:
    def make(env: Env, task: Task) -> np.ndarray:
        W = env[weights].T if turn else env[weights]
        made = env[source] @ W
        if bias:
            made = made + env.get(f"b_{side}", 0.0)
        return parted(made, task.heads)

    return make


def _of_scores(task: Task, n: int, m: int) -> list[tuple[str, str, Recipe]]:
    found: list[tuple[str, str, Recipe]] = []
    root = task.d_k**0.5
    if task.factor is None:
        if task.d_k > 1:
            found.append(("S", "scale-not-asked", lambda e, t: right("S", e, t) / root))
    else:
        d_model = task.given["X1" if task.cross else "X"].shape[1]
        factors = {
            "scale-none": 1.0,
            "scale-sqrt-dk": 1 / root,
            "scale-dk": 1 / task.d_k,
            "scale-multiplied": root,
            "scale-sqrt-d-model": d_model**-0.5,
            "scale-sqrt-n": n**-0.5,
        }
        taken = [task.factor]
        for code, factor in factors.items():  # √4 of d_k is √4 of n: the first name counts
            if all(abs(factor - other) > 1e-9 for other in taken):
                taken.append(factor)
                found.append(("S_scaled", code, lambda e, t, f=factor: e["S"] * f))
    if task.allowed is not None:
        scores = before_mask(task)

        def masked(allowed: np.ndarray) -> Recipe:
            return lambda e, t: np.where(allowed, e[scores], -np.inf)

        found.append(("S_masked", "mask-forgotten", masked(np.ones_like(task.allowed))))
        found.append(("S_masked", "mask-inverted", masked(~task.allowed)))
        if "causal" in task.fields:
            for by in (1, -1):
                found.append(
                    ("S_masked", "mask-shifted", masked(np.tril(np.ones((n, m), dtype=bool), by)))
                )
        found.append(
            ("A", "mask-after-softmax", lambda e, t: np.where(t.allowed, softmax(e[scores]), 0.0))
        )
    last = last_scores(task)
    found += [
        ("A", "softmax-columns", lambda e, t: turned(softmax(turned(e[last])))),
        (
            "A",
            "softmax-whole",
            lambda e, t: softmax(e[last].reshape(*e[last].shape[:-2], 1, -1)).reshape(
                e[last].shape
            ),
        ),
        ("A", "not-normalised", lambda e, t: np.exp(e[last])),
        ("A", "base-2", lambda e, t: softmax(e[last] * np.log(2))),
        ("A", "base-10", lambda e, t: softmax(e[last] * np.log(10))),
        ("A", "exp-negative", lambda e, t: softmax(_negated(e[last]))),
    ]
    if task.allowed is None:
        found.append(("A", "no-exp", lambda e, t: e[last] / e[last].sum(axis=-1, keepdims=True)))
    if task.factor is not None and task.allowed is None:
        found.append(("A", "scale-none", lambda e, t: softmax(e["S"])))
    found.append(("A", "weights-scaled", lambda e, t: softmax(e[last]) / root))
    if task.heads == 2:
        found.append(("C", "heads-viewed", lambda e, t: e["H"].reshape(e["H"].shape[1], -1)))
        found.append(("C", "heads-order:2,1", lambda e, t: np.concatenate(list(e["H"])[::-1], 1)))
        found.append(("A", "heads-order:2,1", lambda e, t: softmax(e[last])[::-1]))
    return found


SLIPS = ("sign-lost", "digits-swapped", "factor-ten", "neighbour", "term-dropped")


def slipping(
    kind: str, step: str, task: Task, style: tuple[str, str], rng: random.Random
) -> Callable[[np.ndarray, Env], np.ndarray | None]:
    """Return a slip of one entry of a step; it returns None where there is nothing to slip on."""

    def slip(digits: np.ndarray, env: Env) -> np.ndarray | None:
        places = [place for place in np.ndindex(digits.shape) if np.isfinite(digits[place])]
        rng.shuffle(places)
        for place in places:
            value = _slipped(kind, step, digits, place, env, task, rng)
            if value is None or not np.isfinite(value):
                continue
            made = digits.copy()
            made[place] = cut(np.array([value]), task.decimals, style[1])[0]
            if made[place] != digits[place]:
                return made
        return None

    return slip


def _slipped(
    kind: str,
    step: str,
    digits: np.ndarray,
    place: tuple[int, ...],
    env: Env,
    task: Task,
    rng: random.Random,
) -> float | None:
    value = float(digits[place])
    if kind == "sign-lost":
        return -value
    if kind == "factor-ten":
        return value * rng.choice([10, 0.1])
    if kind == "digits-swapped":
        text = f"{abs(value):.{task.decimals}f}"
        spots = [i for i, c in enumerate(text) if c != "."]
        pairs = [(i, j) for i in spots for j in spots if i < j and text[i] != text[j]]
        if not pairs:
            return None
        i, j = rng.choice(pairs)
        letters = list(text)
        letters[i], letters[j] = letters[j], letters[i]
        return float("".join(letters)) * (-1 if value < 0 else 1)
    if kind == "neighbour":
        i, j = place[-2:]
        near = [(i, j + 1), (i, j - 1), (i + 1, j), (i - 1, j)]
        rows, columns = digits.shape[-2:]
        near = [(a, b) for a, b in near if 0 <= a < rows and 0 <= b < columns]
        return float(digits[(*place[:-2], *rng.choice(near))]) if near else None
    return _without_a_term(step, place, env, task, rng)


def _without_a_term(
    step: str, place: tuple[int, ...], env: Env, task: Task, rng: random.Random
) -> float | None:
    *head, i, j = place
    if step == "S":
        left, right_ = env["Q"][tuple(head)], turned(env["K"])[tuple(head)]
    elif step == _weighing(task):
        left, right_ = env["A"][tuple(head)], env["V"][tuple(head)]
    else:
        return None
    terms = [left[i, k] * right_[k, j] for k in range(left.shape[1])]
    if len(terms) < 2:
        return None
    return float(sum(terms) - rng.choice(terms))


def as_answer(script: dict[str, np.ndarray], decimals: int, rng: random.Random) -> dict[str, Any]:
    """Return a script as JSON holds it: texts with all decimals, or with trailing zeros dropped."""
    plain = rng.random() < 0.2

    def text(value: float) -> str:
        if not np.isfinite(value):
            return "-inf"
        digits = f"{value:.{decimals}f}"
        return digits.rstrip("0").rstrip(".") if plain else digits

    def texts(matrix: np.ndarray) -> list[Any]:
        return [texts(row) if isinstance(row, np.ndarray) else text(row) for row in matrix]

    return {name: texts(matrix) for name, matrix in script.items()}
