"""Time `solve` on long inputs beside plain numpy and, where it is installed, PyTorch.

    python benchmarks/long_inputs.py [--picture growth.png] [--most 32768] [--repeats 5]

d = 64, float64 or float32; one head, and then other shapes beside PyTorch's fused attention, with
heads side by side in memory, as a linear layer leaves them. Every ratio comes from one run in which
the peers take turns; medians, with the smallest and the largest ratio of a turn in brackets. Memory
is measured in a process of its own, as what it takes above its inputs.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from attncalc import Problem, solve

D = 64
REST = 0.3
"""Seconds between two peers: the threads of the one before go on spinning for a while."""
KEPT = ("S_scaled", "A", "O")

Work = Callable[[], object]


def inputs(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return Q, K and V of n tokens."""
    random = np.random.default_rng(n)
    Q, K, V = (random.normal(size=(n, D)) for _ in range(3))
    return Q, K, V


def plain_numpy(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Return what a person writes in a notebook."""
    S = Q @ K.T / np.sqrt(Q.shape[1])
    E = np.exp(S - S.max(axis=-1, keepdims=True))
    A = E / E.sum(axis=-1, keepdims=True)
    return A @ V


def peers(n: int) -> dict[str, Work]:
    """Return each way to compute the same thing."""
    Q, K, V = inputs(n)
    problem = Problem(Q=Q, K=K, V=V)
    ways: dict[str, Work] = {
        "all kept": lambda: solve(problem, keep=KEPT),
        "only O": lambda: solve(problem, keep=("O",)),
        "plain numpy": lambda: plain_numpy(Q, K, V),
    }
    try:
        import torch
    except ImportError:
        return ways
    q, k, v = (torch.from_numpy(each)[None, None] for each in (Q, K, V))
    ways["torch eager"] = lambda: torch.softmax(q @ k.transpose(-1, -2) / D**0.5, dim=-1) @ v
    ways["torch fused"] = lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v)
    return ways


def take_turns(ways: dict[str, Work], repeats: int) -> dict[str, list[float]]:
    """Run all in turn, several times, and return the seconds of each."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(repeats + 1):
        for name, work in ways.items():
            time.sleep(REST)
            start = time.perf_counter()
            work()
            if turn:  # the first turn warms caches and pools
                seconds[name].append(time.perf_counter() - start)
    return seconds


def ratio(seconds: dict[str, list[float]], ours: str, theirs: str) -> str:
    """Return the ratio of medians, and the spread of the ratios turn by turn."""
    if theirs not in seconds:
        return "-"
    turns = sorted(a / b for a, b in zip(seconds[ours], seconds[theirs], strict=True))
    middle = median(seconds[ours]) / median(seconds[theirs])
    return f"{middle:.2f} ({turns[0]:.2f}-{turns[-1]:.2f})"


def print_ratios(repeats: int) -> None:
    """Print the table of ratios."""
    print("time, as a ratio           all kept / eager      all kept / numpy      only O / fused")
    print("at most                    1.00                  0.55                  1.30")
    for n in (1024, 2048, 4096, 8192):
        seconds = take_turns(peers(n), repeats)
        row = [
            ratio(seconds, "all kept", "torch eager"),
            ratio(seconds, "all kept", "plain numpy"),
            ratio(seconds, "only O", "torch fused"),
        ]
        print(f"n = {n:<22} " + " ".join(f"{cell:21}" for cell in row))


class Shape(NamedTuple):
    """Heads of queries and of keys, queries, keys, and what else is asked for."""

    heads: int
    groups: int
    n: int
    m: int
    most: float
    fields: dict[str, Any] = {}
    window: int = 0
    dtype: str = "float64"


SHAPES = {
    "8 heads, 65,536 on 16": Shape(8, 8, 65_536, 16, 1.5),
    "8 heads, 16,384 on 128": Shape(8, 8, 16_384, 128, 1.5),
    "8 heads, 16 on 16,384": Shape(8, 8, 16, 16_384, 1.5),
    "8 heads, 1 on 65,536": Shape(8, 8, 1, 65_536, 1.5),
    "1 head, 1 on 65,536": Shape(1, 1, 1, 65_536, 1.5),
    "1 head, 1,024, float32": Shape(1, 1, 1024, 1024, 1.3, dtype="float32"),
    "1 head, 4,096, float32": Shape(1, 1, 4096, 4096, 1.3, dtype="float32"),
    "8 heads, 1,024, float32": Shape(8, 8, 1024, 1024, 1.3, dtype="float32"),
    "8 heads, 1,024": Shape(8, 8, 1024, 1024, 1.3),
    "32 heads on 8 (GQA), 1,024": Shape(32, 8, 1024, 1024, 1.3),
    "8 heads, 1,024, rope": Shape(8, 8, 1024, 1024, 1.3, {"positions": "rope"}),
    "8 heads, 1,024, causal": Shape(8, 8, 1024, 1024, 1.3, {"causal": True}),
    "1 head, 4,096, window of 256": Shape(1, 1, 4096, 4096, 1.3, window=256),
}


def of_shape(shape: Shape) -> dict[str, Work]:
    """Return how we and PyTorch take a shape, as `ours` and `theirs`."""
    random = np.random.default_rng(shape.n)
    sizes = {
        "Q": (shape.n, shape.heads),
        "K": (shape.m, shape.groups),
        "V": (shape.m, shape.groups),
    }
    given = {
        name: random.normal(size=(rows, h * D)).astype(shape.dtype)
        for name, (rows, h) in sizes.items()
    }
    fields: dict[str, Any] = dict(shape.fields)
    if shape.window:  # as a mask: each query sees this many keys before and after its own
        places = np.arange(shape.n)[:, np.newaxis] - np.arange(shape.m)
        fields["keep"] = np.abs(places) <= shape.window
    problem = Problem(**given, **fields, heads=shape.heads)
    ways: dict[str, Work] = {"ours": lambda: solve(problem, keep=("O",))}
    try:
        import torch
    except ImportError:
        return ways
    q, k, v = (
        torch.from_numpy(given[name]).view(1, rows, h, D).transpose(1, 2)
        for name, (rows, h) in sizes.items()
    )
    mask = torch.from_numpy(fields["keep"]) if shape.window else None

    def theirs() -> object:
        rotated = (turned(q), turned(k)) if "positions" in fields else (q, k)
        return torch.nn.functional.scaled_dot_product_attention(
            *rotated, v, mask, is_causal="causal" in fields, enable_gqa=shape.groups < shape.heads
        )

    return ways | {"theirs": theirs}


def turned(tokens: Any) -> Any:
    """Return queries or keys of PyTorch with rotary positions, columns paired by halves."""
    import torch

    rates = 10_000.0 ** (-torch.arange(0, D, 2, dtype=torch.float64) / D)
    angles = torch.arange(tokens.shape[-2])[:, None] * rates
    cosines, sines = angles.cos().repeat(1, 2), angles.sin().repeat(1, 2)
    first, second = tokens.chunk(2, dim=-1)
    return tokens * cosines + torch.cat((-second, first), dim=-1) * sines


def print_shapes(repeats: int) -> None:
    """Print the ratios of all other shapes, after a check that both results are equal."""
    print("\ntime of only O, as a ratio to torch fused   at most")
    for name, shape in SHAPES.items():
        ways = of_shape(shape)
        if "theirs" in ways:
            check_same(ways)
        print(f"{name:40} {shape.most:8.2f}   {ratio(take_turns(ways, repeats), 'ours', 'theirs')}")


def check_same(ways: dict[str, Work]) -> None:
    """Stop where the two differ: a fast wrong result is worth nothing."""
    ours: Any = ways["ours"]()
    theirs: Any = ways["theirs"]()
    joined = theirs[0].transpose(0, 1).reshape(ours["O"].shape).numpy()
    assert np.abs(joined - ours["O"]).max() < (1e-12 if joined.dtype == np.float64 else 1e-5)


def print_small(repeats: int) -> None:
    """Print what three tokens cost."""
    random = np.random.default_rng(3)
    X = random.normal(size=(3, 4))
    W_Q, W_K, W_V = (random.normal(size=(4, 2)) for _ in range(3))
    problem = Problem(X=X, W_Q=W_Q, W_K=W_K, W_V=W_V)
    ways: dict[str, Work] = {
        "solve": lambda: [solve(problem) for _ in range(500)],
        "plain": lambda: [plain_numpy(X @ W_Q, X @ W_K, X @ W_V) for _ in range(500)],
    }
    print(
        f"3 tokens: solve / plain numpy {ratio(take_turns(ways, repeats), 'solve', 'plain')}"
        " (at most 4)"
    )


def print_memory(n: int) -> None:
    """Print what is taken above the inputs, beside what may be."""
    for keep in (KEPT, ("O",)):
        arrays = sum(n * (D if name == "O" else n) * 8 for name in keep)
        taken = memory_of(n, keep)
        allowed = arrays + 64 * 2**20 if len(keep) > 1 else 64 * 2**20
        print(
            f"memory above the inputs, n = {n}, {'+'.join(keep):14} {taken / 2**20:7.0f} MiB "
            f"(at most {allowed / 2**20:.0f})"
        )


def memory_of(n: int, keep: tuple[str, ...]) -> int:
    """Return the bytes a solve takes above its inputs, from a process of its own."""
    call = [sys.executable, __file__, "--measure", str(n), ",".join(keep)]
    return int(subprocess.run(call, check=True, capture_output=True, text=True).stdout)


def measure(n: int, keep: tuple[str, ...]) -> None:
    """Print how far the peak of this process rises in a solve."""
    solve(Problem(*(None,) * 4, *inputs(600)), keep=("O",))  # so that libraries are loaded
    problem = Problem(*(None,) * 4, *inputs(n))
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forget the peak so far
    before = in_memory("VmRSS:")
    solve(problem, keep=keep)
    print(in_memory("VmHWM:") - before)


def in_memory(what: str) -> int:
    """Return the bytes this process has in memory now (VmRSS:) or has had at most (VmHWM:)."""
    status = Path("/proc/self/status").read_text(encoding="ascii").split()
    return int(status[status.index(what) + 1]) * 1024


def print_growth(most: int, picture: Path | None) -> None:
    """Print how time and memory grow with n, and draw it."""
    print("\n       n   only O: seconds, MiB      all kept: seconds, MiB")
    rows = []
    n = 1024
    while n <= most:
        problem = Problem(*(None,) * 4, *inputs(n))
        row = [n, *timed(problem, n, ("O",))]
        row += timed(problem, n, KEPT) if n <= 8192 else [float("nan")] * 2
        rows.append(row)
        print(f"{n:8} {row[1]:12.3f} {row[2]:9.1f} {row[3]:18.3f} {row[4]:9.1f}", flush=True)
        n *= 2
    if picture is not None:
        draw(np.array(rows), picture)


def timed(problem: Problem, n: int, keep: tuple[str, ...]) -> list[float]:
    """Return the seconds and the mebibytes of one solve."""
    start = time.perf_counter()
    solve(problem, keep=keep)
    seconds = time.perf_counter() - start
    return [seconds, memory_of(n, keep) / 2**20]


def draw(rows: np.ndarray, picture: Path) -> None:
    """Draw time and memory against n, both on logarithmic axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4), layout="constrained")
    for axes, column, title in zip(
        figure.subplots(1, 2), (1, 2), ("time (s)", "memory above the inputs (MiB)"), strict=True
    ):
        axes.loglog(rows[:, 0], rows[:, column], "o-", label="only O", base=2)
        axes.loglog(rows[:, 0], rows[:, column + 2], "s--", label="S_scaled, A and O", base=2)
        axes.set_xlabel("tokens")
        axes.set_title(title)
        axes.grid(alpha=0.3)
        axes.legend()
    figure.savefig(picture, dpi=120)


def main() -> None:
    """Take the options and run all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--picture", type=Path)
    parser.add_argument("--most", type=int, default=32768)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(int(options.measure[0]), tuple(options.measure[1].split(",")))
        return
    print_ratios(options.repeats)
    print_shapes(options.repeats)
    print_small(options.repeats)
    print_memory(8192)
    print_growth(options.most, options.picture)


if __name__ == "__main__":
    main()
