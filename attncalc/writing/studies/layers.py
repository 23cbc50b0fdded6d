"""All layers of a model, as documents and data: each layer is written before the next is run.

Data are arrays by name, such as "3.A" (layer 3), "3.rollout", "clean.3.A" and "changed.logits".
"""

import zipfile
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import chain
from typing import IO, Any

import numpy as np

from attncalc.base.rounding import fixed, round_floats
from attncalc.base.text import in_json, on_a_line
from attncalc.base.types import Matrix
from attncalc.problem.step import Step
from attncalc.solving.solution import Solution
from attncalc.studies.layers import Comparison, Effect, Lens, Rollout, Walk, chosen
from attncalc.writing.document import MOST_HEADS, Document, Facts, Part, Sheet, kept
from attncalc.writing.html.elements import LINE, Html, element, joined
from attncalc.writing.html.page import MOST_WHOLE, body_of, whole_page, write_html
from attncalc.writing.html.style import needed, style
from attncalc.writing.page_data import fitting, numbers_of
from attncalc.writing.problem_file import json_pieces
from attncalc.writing.studies.common import filled, sheet, shown

DECIMALS = 4
"""Decimals of probabilities and of logits."""
Found = Walk | Lens | Rollout | Comparison


def as_json(found: Found) -> Iterator[str]:
    """Yield the arrays as JSON, after the title, the tokens, and what the arrays are about."""
    about: dict[str, Any] = {"title": found.walk.title, "ids": list(found.walk.ids)}
    about["tokens"] = list(found.walk.words)
    if isinstance(found, Lens | Comparison):
        about["at"] = found.at + 1
    if isinstance(found, Lens):
        about["names"] = {str(i): name for i, name in found.names.items()}
    before = "{\n  "
    for name, value in about.items():
        yield f"{before}{in_json(name)}: {in_json(value)}"
        before = ",\n  "
    yield f'{before}"arrays": {{'
    before = "\n    "
    for name, array in found.arrays():
        yield f"{before}{in_json(name)}: "
        yield from json_pieces(numbers_of(array), "\n    ", rows_in_a_line=True)
        before = ",\n    "
    yield "\n  }\n}\n"


def as_csv(found: Found) -> Iterator[str]:
    """Yield a row for each entry: its array, its place from 1, and its value."""
    yield "array,head,row,column,value\n"
    for name, array in found.arrays():
        for place, value in np.ndenumerate(array):
            at = ["", "", "", *(str(each + 1) for each in place)][-3:]
            yield ",".join((name, *at, repr(value.item()))) + "\n"


def write_npz(found: Found, file: IO[bytes]) -> None:
    """Write each array when it is made, with the token ids, and what tells model and input."""
    ids = np.array(found.walk.ids, dtype=np.int64)
    model, given = (np.frombuffer(each, np.uint8) for each in found.walk.model)
    named = {"title": np.array(found.walk.title), "ids": ids, "model": model, "input": given}
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in chain(named.items(), found.arrays()):
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)


def document(found: Found, *, full: bool = False) -> Document:
    """Return what was found as tables."""
    match found:
        case Walk():
            parts: list[Part] = [facts_of(found)]
            for number, solution in found.run():
                parts += sheets_of(number, solution, only=found.only, full=full)
            return Document(found.title, tuple(parts))
        case Lens():
            return _lens(found, full=full)
        case Rollout():
            return _rollout(found, full=full)
    return _comparison(found, full=full)


def page(found: Found, *, full: bool = False) -> str:
    """Return the page of what was found: of all layers, one with a picture of all heads."""
    if isinstance(found, Walk):
        return _page_of_layers(found, full=full)
    return write_html(document(found, full=full))


def sheets_of(
    number: int, solution: Solution, *, only: Sequence[str] | None, full: bool
) -> Iterator[Sheet]:
    """Yield the tables of the shown steps of a layer, whose texts are made now."""
    decimals = solution.problem.decimals
    for step in chosen(solution.problem, only):
        matrix = solution[step.name]
        texts = partial(_texts_of, matrix, decimals)
        yield from _sheets(number, solution, step, matrix.shape, texts, full=full)


def facts_of(walk: Walk, *more: str) -> Facts:
    """Return what holds for all layers."""
    return Facts((*more, "layers count from 0, heads from 1", *walk.remarks))


def _texts_of(matrix: Matrix, decimals: int, place: tuple[Any, ...]) -> list[str]:
    return [fixed(value, decimals) for value in round_floats(matrix[place], decimals)]


def _sheets(
    number: int, solution: Solution, step: Step, shape: tuple[int, ...], texts: Any, *, full: bool
) -> Iterator[Sheet]:
    """Yield the tables of a step, one for each head; of large ones, only shown texts are made."""
    names = solution.row_labels(step), solution.column_labels(step)
    down, across = map(fitting, names, shape[-2:])
    heads = kept(shape[0], full=full, most=MOST_HEADS) if len(shape) == 3 else [-1]
    for head in heads:
        if head is None:
            continue
        which = f", head {head + 1} of {shape[0]}" if head >= 0 else ""
        title = f"Layer {number}: {step.name}{which} ({step.title})"
        rows, columns = (
            [place for place in kept(side, full=full) if place is not None] for side in shape[-2:]
        )
        at = (head,) if head >= 0 else ()
        if shape[-2] * shape[-1] <= MOST_WHOLE:  # a page may show it completely
            of_row: Callable[[int], Any] = cache(lambda i, at=at: texts((*at, i)))
        else:
            made = {i: dict(zip(columns, texts((*at, i, columns)), strict=True)) for i in rows}
            of_row = made.__getitem__
        yield sheet(title, down, across, _from(of_row), full=full)


def _from(of_row: Callable[[int], Any]) -> Callable[[int, int], str]:
    return lambda i, j: of_row(i)[j]


def _lens(found: Lens, *, full: bool) -> Document:
    """Return the prediction after each layer: at the followed token, and at every token."""
    rows = [f"layer {number}" for number in found.numbers]
    name = on_a_line(found.names[found.final])
    columns = ["most probable", "p", f"p of {name}", f"rank of {name}", f"logit of {name}"]
    row = min(found.at, found.best.shape[1] - 1)
    best = [on_a_line(found.names[int(i)]) for i in found.best[:, row, 0]]
    numbers = found.shares[:, row, 0], found.prob[:, found.final], found.logits[:, found.final]
    p, of_final, logit = ([shown(each, DECIMALS) for each in column] for column in numbers)
    cells = [*zip(best, p, of_final, map(str, found.ranks), logit, strict=True)]
    title = f"Prediction {_where(found.walk, found.at)}"
    said = "the final normalization and the head, applied after each layer"
    parts: list[Part] = [facts_of(found.walk, said), filled(title, rows, columns, cells, full=full)]
    if found.best.shape[1] > 1:

        def likeliest(i: int, j: int) -> str:
            text = on_a_line(found.names[int(found.best[i, j, 0])])
            return f"{text} {shown(found.shares[i, j, 0], 2)}"

        words = found.walk.words
        parts.append(sheet("Most probable after each token", rows, words, likeliest, full=full))
    return Document(f"Logit lens: {found.walk.title}", tuple(parts))


def _where(walk: Walk, at: int) -> str:
    words = walk.words
    return f"after token {at + 1}, {on_a_line(words[at])}" if at < len(words) else "of the input"


def _rollout(found: Rollout, *, full: bool) -> Document:
    number, matrix = [*found.matrices.items()][-1]
    said = "each layer: mean of the heads and the identity, half each; the product of all layers"
    down, across = (fitting(found.queries, side) for side in matrix.shape)
    title = f"How much each token after layer {number} comes from each input token"
    part = sheet(title, down, across, lambda i, j: shown(matrix[i, j], DECIMALS), full=full)
    return Document(f"Attention rollout: {found.walk.title}", (facts_of(found.walk, said), part))


def _comparison(found: Comparison, *, full: bool) -> Document:
    """Return every step without and with the changes: entries that differ as "before → after"."""
    tables: list[Sheet] = []
    rows: list[tuple[str, ...]] = []
    effect: list[Part] = []
    for each in found.run():
        if isinstance(each, Effect):
            effect = [_effect(each, _where(found.walk, found.at))]
            continue
        decimals = each.clean.problem.decimals
        for step in chosen(each.clean.problem, found.walk.only):
            pair = each.clean[step.name], each.changed[step.name]
            before, after = pair
            with np.errstate(invalid="ignore"):  # masked scores are -∞ in both
                far = np.nan_to_num(np.abs(after.astype(float) - before), nan=0.0)
            differs = round_floats(before, decimals) != round_floats(after, decimals)
            count = f"{int(differs.sum()):,} of {differs.size:,}"
            rows.append((str(each.number), step.name, count, f"{far.max(initial=0.0):.3g}"))
            texts = partial(_both, pair, decimals)
            tables += _sheets(each.number, each.clean, step, pair[0].shape, texts, full=full)
    columns = "entries that differ", "largest difference"
    said = *found.said, "before → after; entries without an arrow are the same"
    names = [f"layer {number}, {name}" for number, name, *_ in rows]
    summary = filled("What changes", names, columns, [row[2:] for row in rows], full=True)
    parts = (facts_of(found.walk, *said), *effect, summary, *tables)
    return Document(f"Without and with changes: {found.walk.title}", parts)


def _both(pair: tuple[Matrix, Matrix], decimals: int, place: tuple[Any, ...]) -> list[str]:
    texts = (_texts_of(each, decimals, place) for each in pair)
    return [a if a == b else f"{a} → {b}" for a, b in zip(*texts, strict=True)]


def _effect(effect: Effect, where: str) -> Sheet:
    """Return the logits and probabilities of the likeliest tokens."""
    columns = "logit", "changed", "difference", "p", "changed p"
    ids = sorted(effect.names, key=lambda i: -effect.clean[1][i])
    rows = []
    for i in ids:
        (a, p), (b, q) = ((float(x[i]), float(y[i])) for x, y in (effect.clean, effect.changed))
        rows.append([shown(each, DECIMALS) for each in (a, b, b - a, p, q)])
    names = [f"{i}: {effect.names[i]}" if effect.names[i] != str(i) else str(i) for i in ids]
    return filled(f"Logits {where}", names, columns, rows, full=True)


SIDE, GAP, MARGIN = 72, 6, 44
"""The side of a head, the space between two, and the room for names."""
MOST_TOKENS, MOST_CELLS = 64, 40_000
"""Tokens, and cells with texts to point at: of more, the page has tables only."""
COLOUR = "#1f77b4"


def _page_of_layers(walk: Walk, *, full: bool) -> str:
    """Return the page; each layer is run once, and written before the next."""
    folded, cells, heads, number = [], list[Html](), 0, 0
    for row, (number, solution) in enumerate(walk.run()):
        sheets = sheets_of(number, solution, only=walk.only, full=full)
        body = body_of(Document("", tuple(sheets)))
        folded.append(element("details", element("summary", f"layer {number}"), body))
        if solution.weights is not None and solution.problem.n <= MOST_TOKENS:
            heads = max(heads, len(solution.heads))
            cells += _cells(row, number, solution)
    opening = body_of(Document(walk.title, (facts_of(walk),)))
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
