"""Time each kind of picture beside what bare matplotlib takes to draw the same lines and cells.

    python benchmarks/pictures.py [--forms png,svg,pdf] [--repeats 3]

The peer draws one `LineCollection` of as many lines, or one `imshow`, on a page of the same size:
no names, no titles, no digits. All take turns in one run; medians. Solving is not counted.
"""

import argparse
import io
import time
from collections.abc import Callable
from statistics import median

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from attncalc import Problem, Solution, solve
from attncalc.writing.plotting.drawing import draw, render
from attncalc.writing.plotting.figure import DOTS_PER_INCH
from attncalc.writing.plotting.look import Look

LOOKS = {
    "map": Look(),
    "map --all": Look(every_line=True),
    "heatmap": Look("heatmap"),
    "both": Look("both"),
    "both --all": Look("both", every_line=True),
}
TOKENS = (3, 40, 200, 2000)
TIED = 100
DECIMALS = 5
"""Enough for most of 2,000 weights to show, so that --all has many to choose from."""


def problem(tokens: int) -> Problem:
    """Return self-attention of random tokens, each with a name."""
    random = np.random.default_rng(tokens)
    W_Q, W_K, W_V = (random.normal(size=(4, 3)) for _ in range(3))
    labels = [f"token {place}" for place in range(tokens)]
    X = random.normal(size=(tokens, 4))
    return Problem(X=X, W_Q=W_Q, W_K=W_K, W_V=W_V, labels=labels, decimals=DECIMALS)


def tied(tokens: int) -> Problem:
    """Return equal tokens, so that each line of the map is drawn."""
    return Problem(X=[[1]] * tokens, W_Q=[[1]], W_K=[[1]], W_V=[[1]], decimals=DECIMALS)


def peer(solution: Solution, look: Look, form: str) -> Callable[[], object]:
    """Return a function that draws as many lines and cells, and nothing else, on such a page."""
    whole = draw(solution.problem, solution.heads, look)
    width, height = whole.get_size_inches()
    every = (each for axes in whole.axes for each in axes.collections)
    lines = [each for each in every if isinstance(each, LineCollection)]
    segments = [segment for each in lines for segment in each.get_segments()]
    widths = [points for each in lines for points in each.get_linewidths()]

    def bare() -> None:
        figure = Figure(figsize=(width, height))
        parts = figure.subplots(1, look.has_map + look.has_heatmap, squeeze=False)[0]
        if look.has_map:
            parts[0].add_collection(LineCollection(segments, linewidths=widths))
            parts[0].autoscale_view()
        if look.has_heatmap:
            parts[-1].imshow(solution["A"])
        figure.savefig(io.BytesIO(), format=form, dpi=DOTS_PER_INCH)

    return bare


def seconds(work: Callable[[], object]) -> float:
    """Return how long one run takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def print_row(name: str, solution: Solution, look: Look, forms: list[str], repeats: int) -> None:
    """Print the seconds of a picture in each form, and the ratio to its peer."""
    cells = []
    for form in forms:
        bare = peer(solution, look, form)
        turns = [
            (seconds(lambda form=form: render(solution, form, look=look)), seconds(bare))
            for _ in range(repeats + 1)
        ][1:]  # the first turn warms caches
        ours, theirs = (median(times) for times in zip(*turns, strict=True))
        cells.append(f"{ours:6.2f} s {ours / theirs:5.1f} x")
    print(f"{name:26} " + "   ".join(f"{cell:18}" for cell in cells), flush=True)


def main() -> None:
    """Take the options and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--forms", default="png,svg,pdf")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    forms = options.forms.split(",")
    print(f"{'':26} " + "   ".join(f"{form + ', and beside peer':18}" for form in forms))
    for tokens in TOKENS:
        solution = solve(problem(tokens))
        for kind, look in LOOKS.items():
            print_row(f"{tokens:5} tokens, {kind}", solution, look, forms, options.repeats)
    for tokens in (TIED, TOKENS[-1]):
        solution = solve(tied(tokens))
        print_row(f"{tokens:5} tied, map", solution, Look(), forms, options.repeats)


if __name__ == "__main__":
    main()
