"""Time an encoder layer of a real model's size beside the same in plain numpy.

    python benchmarks/layers.py [pairs]

768 features, 12 heads, 64 tokens, GELU, in float64 and in float32. Each pair solves both once, in
turn, on one thread; what counts is the median of the ratios (at most 1.20).
"""

import os
import sys
import time
from collections.abc import Callable
from functools import partial
from math import sqrt
from statistics import median

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # threads that wait for one another count as busy

import numpy as np

from attncalc import Problem, solve

D, HEADS, TOKENS, INNER = 768, 12, 64, 3072
Given = dict[str, np.ndarray]


def given(dtype: type) -> Given:
    """Return tokens and weights of the usual sizes."""
    chance = np.random.default_rng(1)

    def drawn(rows: int, columns: int) -> np.ndarray:
        return (chance.standard_normal((rows, columns)) / sqrt(rows)).astype(dtype)

    square = {name: drawn(D, D) for name in ("W_Q", "W_K", "W_V", "W_O")}
    biases = {name: drawn(1, D) for name in ("b_Q", "b_K", "b_V", "b_O", "b_2", "beta_1", "beta_2")}
    gains = {name: 1 + drawn(1, D) for name in ("gamma_1", "gamma_2")}
    inner = {"W_1": drawn(D, INNER), "b_1": drawn(1, INNER), "W_2": drawn(INNER, D)}
    return {"X": drawn(TOKENS, D), **square, **biases, **gains, **inner}


def in_numpy(g: Given) -> np.ndarray:
    """Return the layer's outputs as a short script has them; GELU by tanh."""

    def heads(name: str) -> np.ndarray:
        made = g["X"] @ g[f"W_{name}"] + g[f"b_{name}"]
        return made.reshape(TOKENS, HEADS, D // HEADS).swapaxes(0, 1)

    def normalised(rows: np.ndarray, number: int) -> np.ndarray:
        centred = rows - rows.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + g["X"].dtype.type(1e-5))
        return centred / spread * g[f"gamma_{number}"] + g[f"beta_{number}"]

    scores = heads("Q") @ heads("K").swapaxes(-1, -2) / g["X"].dtype.type(sqrt(D // HEADS))
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    joined = (weights @ heads("V")).swapaxes(0, 1).reshape(TOKENS, D)
    first = normalised(g["X"] + joined @ g["W_O"] + g["b_O"], 1)
    inner = first @ g["W_1"] + g["b_1"]
    bent = 0.5 * inner * (1 + np.tanh(sqrt(2 / np.pi) * (inner + 0.044715 * inner * inner * inner)))
    out: np.ndarray = normalised(first + bent.astype(inner.dtype) @ g["W_2"] + g["b_2"], 2)
    return out


def seconds(work: Callable[[], object]) -> float:
    """Return how long it keeps the processor busy once."""
    start = time.process_time()
    work()
    return time.process_time() - start


def main(pairs: int) -> None:
    """Print both medians, and the median of the ratios."""
    for dtype in (np.float64, np.float32):
        matrices = given(dtype)
        problem = Problem(**matrices, heads=HEADS, activation="gelu-tanh")
        outputs = solve(problem, keep=("Y",))["Y"]
        np.testing.assert_allclose(outputs, in_numpy(matrices), rtol=1e-2, atol=1e-4)
        in_turn = [
            (seconds(partial(solve, problem)), seconds(partial(in_numpy, matrices)))
            for _ in range(pairs + 1)
        ][1:]  # the first warms the caches
        ours, theirs = (1000 * median(each) for each in zip(*in_turn, strict=True))
        ratio = median(one / other for one, other in in_turn)
        name = dtype.__name__
        print(f"{name}: attncalc {ours:.1f} ms, numpy {theirs:.1f} ms, ratio {ratio:.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
