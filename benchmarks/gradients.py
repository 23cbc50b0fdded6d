"""Time `solve` with gradients, all steps kept, beside PyTorch's eager forward and autograd.

    python benchmarks/gradients.py [--n 1024] [--repeats 9]

Self-attention of one head, d = 64, float64; PyTorch keeps the gradient of every step, too. The
peers take turns; medians, with the smallest and the largest ratio of a turn in brackets.
"""

import argparse
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

from attncalc import Problem, solve

D = 64
REST = 0.3
"""Seconds between two peers: the threads of the one before go on spinning for a while."""

Work = Callable[[], object]


def matrices(n: int) -> dict[str, np.ndarray]:
    """Return tokens, weights and the gradient that arrives."""
    random = np.random.default_rng(n)
    sizes = {"X": (n, D), "W_Q": (D, D), "W_K": (D, D), "W_V": (D, D), "dO": (n, D)}
    return {name: random.normal(size=size) / 8 for name, size in sizes.items()}


def ours(given: dict[str, np.ndarray]) -> object:
    """Return the solution with all of its steps."""
    return solve(Problem(**given))


def theirs(given: dict[str, np.ndarray]) -> object:
    """Return PyTorch's tensors, each with its gradient."""
    import torch

    X, W_Q, W_K, W_V = (
        torch.from_numpy(given[name]).requires_grad_() for name in ("X", "W_Q", "W_K", "W_V")
    )
    Q, K, V = X @ W_Q, X @ W_K, X @ W_V
    S = Q @ K.T
    scaled = S / D**0.5
    A = torch.softmax(scaled, dim=-1)
    outputs = A @ V
    kept: list[Any] = [Q, K, V, S, scaled, A, outputs]
    for each in kept:
        each.retain_grad()
    outputs.backward(torch.from_numpy(given["dO"]))
    for leaf in (X, W_Q, W_K, W_V):
        kept += [leaf.grad]
        leaf.grad = None
    return kept


def timed(work: Work) -> float:
    """Return the seconds that it takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    """Print the medians and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=1024)
    parser.add_argument("--repeats", type=int, default=9)
    asked = parser.parse_args()
    given = matrices(asked.n)
    times: dict[str, list[float]] = {"attncalc": [], "PyTorch": []}
    peers: dict[str, Work] = {"attncalc": lambda: ours(given), "PyTorch": lambda: theirs(given)}
    for work in peers.values():
        work()
    for _ in range(asked.repeats):
        for name, work in peers.items():
            time.sleep(REST)
            times[name].append(timed(work))
    for name, seconds in times.items():
        print(f"{name:10} {median(seconds) * 1000:7.1f} ms")
    ratios = [one / other for one, other in zip(*times.values(), strict=True)]
    print(f"ratio      {median(ratios):7.2f} ({min(ratios):.2f} to {max(ratios):.2f})")


if __name__ == "__main__":
    main()
