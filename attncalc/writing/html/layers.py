"""The layers of a model as one page: all heads in a grid, and each layer to be opened."""

from collections.abc import Callable, Iterator

import numpy as np

from attncalc.solving.solution import Solution
from attncalc.studies.layers import Walk
from attncalc.writing.document import Document, Facts, Sheet
from attncalc.writing.html.elements import LINE, Html, element, joined
from attncalc.writing.html.page import body_of, whole_page
from attncalc.writing.html.style import needed, style

SIDE, GAP, MARGIN = 72, 6, 44
"""The side of a head, the space between two, and the room for names."""
MOST_TOKENS, MOST_CELLS = 64, 40_000
"""Tokens, and cells with texts to point at: of more, the page has tables only."""
COLOUR = "#1f77b4"


def layers_page(
    walk: Walk, facts: Facts, sheets_of: Callable[[int, Solution], Iterator[Sheet]]
) -> str:
    """Return the page; each layer is run once, and written before the next.

    facts: what holds for all layers.
    sheets_of: returns the tables of a layer, by its number.
    """
    folded, cells, heads, number = [], list[Html](), 0, 0
    for row, (number, solution) in enumerate(walk.run()):
        body = body_of(Document("", tuple(sheets_of(number, solution))))
        folded.append(element("details", element("summary", f"layer {number}"), body))
        if solution.weights is not None and solution.problem.n <= MOST_TOKENS:
            heads = max(heads, len(solution.heads))
            cells += _cells(row, number, solution)
    opening = body_of(Document(walk.title, (facts,)))
    grid = _grid(cells, number + 1 - len(folded), len(folded), heads)
    main = element("main", LINE, opening, grid, *folded, LINE)
    look = needed(style("attncalc.writing.html", "page.css"), f"{main} compact")
    return whole_page(walk.title, main, look, (), class_="compact")


def _cells(row: int, number: int, solution: Solution) -> Iterator[Html]:
    """Yield a square for each weight of a layer that is not 0, with a text to point at."""
    for column, head in enumerate(solution.heads):
        queries, keys = (getattr(head.attention, name) for name in ("queries", "keys"))
        side = SIDE / max(head.weights.shape)
        for (i, j), weight in np.ndenumerate(head.weights):
            if weight >= 0.005:
                x, y = (MARGIN + k * (SIDE + GAP) + at * side
                        for k, at in ((column, j), (row, i)))  # fmt: skip
                text = f"layer {number}, head {column + 1}: {queries[i]} to {keys[j]}, {weight:.2f}"
                yield element("rect", element("title", text), x=f"{x:.1f}", y=f"{y:.1f}",
                              width=f"{side:.1f}", height=f"{side:.1f}", fill=COLOUR,
                              fill_opacity=f"{weight:.2f}")  # fmt: skip


def _grid(cells: list[Html], first: int, rows: int, heads: int) -> Html:
    """Return the picture of all heads; nothing if there are none, or too many weights."""
    if not cells or len(cells) > MOST_CELLS:
        return joined(())
    step = SIDE + GAP
    frames = [
        element("rect", x=MARGIN + j * step, y=MARGIN + i * step, width=SIDE, height=SIDE,
                fill="none", stroke="currentColor", stroke_opacity="0.3")
        for i in range(rows) for j in range(heads)
    ]  # fmt: skip
    look = {"fill": "currentColor", "font_size": "12"}
    names = [
        *(element("text", f"head {j + 1}", x=MARGIN + j * step, y=MARGIN - 8, **look)
          for j in range(heads)),
        *(element("text", str(first + i), x=MARGIN - 26, y=MARGIN + i * step + SIDE / 2, **look)
          for i in range(rows)),
        element("text", "layer", x=2, y=MARGIN - 8, **look),
    ]  # fmt: skip
    width, height = MARGIN + heads * step, MARGIN + rows * step
    label = "The weights of all heads: darker is larger, on one scale"
    title = element("title", label)
    box = f"0 0 {width} {height}"
    return element("svg", title, *frames, *cells, *names, role="img", viewBox=box, width=width,
                   height=height)  # fmt: skip
