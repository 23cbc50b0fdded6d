"""Layers in which one mistake was made, in plain numpy, without a line of attncalc."""

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import numpy as np
from plans import Plan
from planting import softmax

Env = dict[str, np.ndarray]
Cut = Callable[[np.ndarray], np.ndarray]
EPS = 0.5
"""Large enough for its place to show in two decimals."""
ALONE = ("X", "W_out", "b_out", "read")
"""What a layer in a stack does not have of its own."""


def layer_plans(rng: Random) -> list[Plan]:
    """Return a plan of each mistake, in matrices of their own, alone and in a second layer."""
    post = [*_of_post(random_layer(rng))]
    return [*post, *_second(post), *_of_pre(random_layer(rng)), *_of_gate(random_layer(rng)),
            *_of_head(random_layer(rng)), *_of_cache(random_layer(rng)),
            *_of_patches(rng), *_of_class_token(rng), *_of_ids(rng)]  # fmt: skip


def random_layer(rng: Random) -> Env:
    """Return tokens, weights, gains and biases, 3 × 3 and 1 × 3, with halves as in homework."""
    halves = [number / 2 for number in range(-4, 5)]

    def drawn(rows: int) -> np.ndarray:
        return np.array([[rng.choice(halves) for _ in range(3)] for _ in range(rows)])

    weights = ("X", "W_Q", "W_K", "W_V", "W_1", "W_2")
    rows = ("b_1", "b_2", "gamma_1", "beta_1")
    return {name: drawn(3) for name in weights} | {name: drawn(1) for name in rows}


def normal(tokens: np.ndarray, given: Env, **how: Any) -> np.ndarray:
    """Return tokens with mean 0 and variance 1, times the gain, plus the bias."""
    centred = tokens - tokens.mean(axis=1, keepdims=True)
    spread = how.get("spread", (centred**2).mean(axis=1, keepdims=True))
    below = how.get("below", np.sqrt(spread + how.get("eps", EPS)))
    made = centred / below * how.get("gain", given.get("gamma_1", 1))
    return np.asarray(made + how.get("bias", given.get("beta_1", 0)))


def _attended(tokens: np.ndarray, given: Env) -> np.ndarray:
    queries, keys, values = (tokens @ given[f"W_{name}"] for name in "QKV")
    return np.asarray(softmax(queries @ keys.T / 3**0.5) @ values)


def layer(given: Env, cut: Cut = lambda matrix: matrix) -> Env:
    """Return the steps of a layer that normalizes behind each part.

    Parameters
    ----------
    given
        Tokens, weights, gain and bias.
    cut
        How each step is rounded before the next reads it.
    """
    made: Env = {}
    for name, make in _STEPS.items():
        made[name] = cut(make(given | made))
    return made


def _normalised(e: Env, number: str) -> np.ndarray:
    tokens = e[f"R_{number}"]
    below = np.sqrt(e[f"var_{number}"] + EPS)
    made = (tokens - e[f"mu_{number}"]) / below * e.get(f"gamma_{number}", 1)
    return np.asarray(made + e.get(f"beta_{number}", 0))


def _variance(tokens: np.ndarray, mean: np.ndarray) -> np.ndarray:
    return np.asarray(((tokens - mean) ** 2).mean(axis=1, keepdims=True))


_STEPS: dict[str, Callable[[Env], np.ndarray]] = {
    "Q": lambda e: e["X"] @ e["W_Q"],
    "K": lambda e: e["X"] @ e["W_K"],
    "V": lambda e: e["X"] @ e["W_V"],
    "S": lambda e: e["Q"] @ e["K"].T,
    "S_scaled": lambda e: e["S"] / 3**0.5,
    "A": lambda e: softmax(e["S_scaled"]),
    "O": lambda e: e["A"] @ e["V"],
    "R_1": lambda e: e["X"] + e["O"],
    "mu_1": lambda e: e["R_1"].mean(axis=1, keepdims=True),
    "var_1": lambda e: _variance(e["R_1"], e["mu_1"]),
    "N_1": lambda e: _normalised(e, "1"),
    "F_1": lambda e: e["N_1"] @ e["W_1"] + e["b_1"],
    "G": lambda e: np.maximum(e["F_1"], 0),
    "F_2": lambda e: e["G"] @ e["W_2"] + e["b_2"],
    "R_2": lambda e: e["N_1"] + e["F_2"],
    "mu_2": lambda e: e["R_2"].mean(axis=1, keepdims=True),
    "var_2": lambda e: _variance(e["R_2"], e["mu_2"]),
    "Y": lambda e: _normalised(e, "2"),
}


def _of_post(given: Env) -> Iterator[Plan]:
    s, X = layer(given), given["X"]
    fields: dict[str, Any] = {**given, "eps": EPS}
    R, spread = s["R_1"], s["var_1"]
    over = R.T
    count = R.shape[1]
    mistakes = [
        ("residual-forgotten", "R_1", s["O"]),
        ("part-forgotten", "R_1", X),
        ("residual-subtracted", "R_1", X - s["O"]),
        ("residual-forgotten", "R_2", s["F_2"]),
        ("sum-for-mean", "mu_1", R.sum(axis=1, keepdims=True)),
        ("mean-over-tokens", "mu_1", over.mean(axis=1, keepdims=True)),
        ("variance-other-count", "var_1", spread * count / (count - 1)),
        ("deviation-for-variance", "var_1", spread**0.5),
        ("variance-not-divided", "var_1", spread * count),
        ("mean-not-subtracted", "var_1", (R**2).mean(axis=1, keepdims=True)),
        ("mean-over-tokens", "var_1", over.var(axis=1, keepdims=True)),
        ("eps-outside", "N_1", normal(R, given, below=spread**0.5 + EPS)),
        ("eps-forgotten", "N_1", normal(R, given, eps=0)),
        ("variance-for-deviation", "N_1", normal(R, given, spread=spread**2)),
        ("variance-other-count", "N_1", normal(R, given, spread=spread * count / (count - 1))),
        ("norm-of-other:X", "N_1", normal(X, given)),
        ("norm-of-other:O", "N_1", normal(s["O"], given)),
        ("norm-forgotten", "N_1", R),
        ("gain-forgotten", "N_1", normal(R, given, gain=1)),
        ("bias-forgotten", "N_1", normal(R, given, bias=0)),
        ("mean-over-tokens", "N_1", normal(R.T, {}).T * given["gamma_1"] + given["beta_1"]),
        ("activation-forgotten", "G", s["F_1"]),
        ("activation-other:silu", "G", s["F_1"] / (1 + np.exp(-s["F_1"]))),
        ("bias-forgotten", "F_1", s["N_1"] @ given["W_1"]),
        ("weights-transposed", "F_1", s["N_1"] @ given["W_1"].T + given["b_1"]),
        ("step-skipped", "F_1", R @ given["W_1"] + given["b_1"]),
        ("step-skipped", "F_2", s["F_1"] @ given["W_2"] + given["b_2"]),
        ("bias-forgotten", "F_2", s["G"] @ given["W_2"]),
    ]
    yield from (Plan(code, fields, step, wrong) for code, step, wrong in mistakes)


def _second(post: list[Plan]) -> Iterator[Plan]:
    """Put each in a second layer, behind one that gives its tokens as they are."""
    same = {"norm": "none", "residual": False, "W_1": np.eye(3), "W_2": np.eye(3)}
    for code, fields, step, wrong in post:
        shift = fields["X"].min()  # a ReLU leaves what is above 0 as it is
        if shift < 0 or ":" in code or step == "R_1":
            first = same | {"b_1": [[-shift] * 3], "b_2": [[shift] * 3]}
            own = {name: value for name, value in fields.items() if name not in ALONE}
            code = code.replace(":X", ":1.Y").replace(":O", ":2.O")
            whole = {"X": fields["X"], "layers": [first, own], "block": "encoder"}
            yield Plan(code, whole, f"2.{step}", wrong)


def _of_pre(given: Env) -> Iterator[Plan]:
    """Before each part: the result without normalization, or of the wrong sum."""
    fields: dict[str, Any] = {**given, "eps": EPS, "norm": "pre"}
    X = given["X"]
    tokens = normal(X, given)
    yield Plan("step-skipped", fields, "Q", X @ given["W_Q"])
    yield Plan("step-skipped", fields, "V", X @ given["W_V"])
    out = _attended(tokens, given)
    first = X + out
    yield Plan("residual-of-normalised", fields, "R_1", tokens + out)
    second = normal(first, {})
    forward = np.maximum(second @ given["W_1"] + given["b_1"], 0) @ given["W_2"] + given["b_2"]
    yield Plan("residual-of-normalised", fields, "Y", second + forward)
    yield Plan("residual-forgotten", fields, "Y", forward)


def _of_gate(given: Env) -> Iterator[Plan]:
    """Yield what goes wrong of a gate, behind a normalization by the mean square."""
    X, gate = given["X"], given["W_Q"]
    own = {name: given[name] for name in ("X", "W_1", "W_2")}
    fields = {**own, "W_3": gate, "activation": "silu", "normalization": "rms", "norm": "pre"}
    squares = (X**2).mean(axis=1, keepdims=True)
    yield Plan("mean-subtracted", fields, "ms_1", X.var(axis=1, keepdims=True))
    tokens = X / np.sqrt(squares + 1e-5)
    first, other = tokens @ given["W_1"], tokens @ gate
    yield Plan("gate-forgotten", fields, "G", first / (1 + np.exp(-first)))
    yield Plan("gate-swapped", fields, "G", other / (1 + np.exp(-other)) * first)
    yield Plan("activation-forgotten", fields, "G", first * other)


def _of_head(given: Env) -> Iterator[Plan]:
    """Which token is read, and what is made of it."""
    fields = {"X": given["X"], "W_out": given["W_1"], "b_out": given["b_1"], "eps": EPS}
    fields |= {"norm": "post", "read": "first"}
    last = normal(given["X"], {})
    yield Plan("read-other:last", fields, "Y_first", last[-1:])
    yield Plan("read-other:mean", fields, "Y_first", last.mean(axis=0, keepdims=True))
    logits = last[:1] @ given["W_1"] + given["b_1"]
    yield Plan("not-normalised", fields, "prob", np.exp(logits))
    yield Plan("bias-forgotten", fields, "logits", last[:1] @ given["W_1"])


def _of_cache(given: Env) -> Iterator[Plan]:
    """Keys of earlier tokens, and new ones."""
    own = {name: given[name] for name in ("W_Q", "W_K", "W_V")}
    past = {"past_K": given["W_1"], "past_V": given["W_2"]}
    fields = {**own, **past, "X": given["X"][:2], "norm": "none", "block": "decoder"}
    new = given["X"][:2] @ given["W_K"]
    yield Plan("cache-order", fields, "K_all", np.concatenate([new, given["W_1"]]))
    yield Plan("cache-forgotten", fields, "K_all", new)


def _of_patches(rng: Random) -> Iterator[Plan]:
    """Cut two channels of 4 × 6 into patches of 2 × 3: six pixels of each channel are a token."""
    image = np.array([[[rng.randint(-9, 9) for _ in range(6)] for _ in range(4)] for _ in range(2)])
    fields = {"image": image, "patch": [2, 3]}

    def cut(order: Callable[[np.ndarray], np.ndarray], places: list[tuple[int, int]]) -> np.ndarray:
        return np.array([order(image[:, i : i + 2, j : j + 3]).ravel() for i, j in places])

    across = [(i, j) for i in (0, 2) for j in (0, 3)]
    down = [(i, j) for j in (0, 3) for i in (0, 2)]
    made = {
        "patches-column-first": cut(lambda patch: patch.transpose(0, 2, 1), across),
        "patches-channels-last": cut(lambda patch: patch.transpose(1, 2, 0), across),
        "patches-down-first": cut(lambda patch: patch, down),
        "patches-reshaped": image.reshape(4, 12),
    }
    yield from (Plan(code, fields, "patches", wrong) for code, wrong in made.items())


def _of_class_token(rng: Random) -> Iterator[Plan]:
    """Plant in a class token before three patches of 1 × 4, and in positions for all four."""

    def drawn(rows: int) -> np.ndarray:
        return np.array([[rng.randint(1, 9) / 2 for _ in range(4)] for _ in range(rows)])

    image, token, P = drawn(3), drawn(1), drawn(4)
    fields = {"image": image, "patch": [1, 4], "class_token": token, "P": P}
    yield Plan("class-token-behind", fields, "X_cls", np.concatenate([image, token]))
    early = np.concatenate([token, image + P[:3]])
    yield Plan("positions-before-class", fields, "X_P", early)
    yield Plan("positions-not-on-class", fields, "X_P", np.concatenate([token, image + P[1:]]))


def _of_ids(rng: Random) -> Iterator[Plan]:
    """Rows of a table of five, counted from the other end of its first row."""
    table = np.array([[rng.randint(-9, 9) / 2 for _ in range(3)] for _ in range(5)])
    ids = [rng.randint(1, 4) for _ in range(3)]
    fields = {"ids": [ids], "W_E": table, "W_1": np.eye(3), "W_2": np.eye(3)}
    yield Plan("ids-off-by-one", fields, "X", table[[each - 1 for each in ids]])
