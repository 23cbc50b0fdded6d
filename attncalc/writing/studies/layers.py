"""All layers of a model, as documents and data: each layer is written before the next is run."""

import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import IO, Any

import numpy as np

from attncalc.base.rounding import fixed, round_floats
from attncalc.base.text import on_a_line
from attncalc.base.types import Matrix
from attncalc.problem.serialising import in_texts
from attncalc.problem.step import Step
from attncalc.solving.solution import Solution
from attncalc.studies.layers import Comparison, Effect, Lens, Pair, Rollout, Walk, chosen
from attncalc.writing.document import MOST_HEADS, Document, Facts, Part, Sheet, kept
from attncalc.writing.page_data import numbers_of
from attncalc.writing.problem_file import json_pieces
from attncalc.writing.studies.common import in_rows, sheet

DECIMALS = 4
"""Decimals of probabilities and of logits."""
Named = tuple[Sequence[str], Sequence[str]]
Texts = Callable[[tuple[int, ...]], list[str]]
"""Returns the texts of the shown entries of a row, by its place."""


def layers_document(walk: Walk, *, full: bool = False) -> Document:
    """Return the tables of the shown steps of every layer."""
    parts: list[Part] = [_facts(walk)]
    for number, solution in walk.run():
        decimals = solution.problem.decimals
        for step in chosen(solution.problem, walk.only):
            matrix = solution[step.name]
            texts = partial(_texts_of, matrix, decimals)
            parts += _sheets(number, solution, step, matrix.shape, texts, full=full)
    return Document(walk.title, tuple(parts))


def _facts(walk: Walk, *more: str) -> Facts:
    return Facts((*more, "layers count from 0, heads from 1", *walk.remarks))


def _texts_of(matrix: Matrix, decimals: int, place: tuple[Any, ...]) -> list[str]:
    return [fixed(value, decimals) for value in round_floats(matrix[place], decimals)]


def _sheets(
    number: int, solution: Solution, step: Step, shape: tuple[int, ...], texts: Any, *, full: bool
) -> Iterator[Sheet]:
    """Yield the tables of a step, one for each head: the texts of shown entries are made now."""
    names = solution.row_labels(step), solution.column_labels(step)
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
        made = {i: dict(zip(columns, texts((*at, i, columns)), strict=True)) for i in rows}
        yield sheet(title, *_fitting(names, shape), _from(made), full=full)


def _from(made: Mapping[int, Mapping[int, str]]) -> Callable[[int, int], str]:
    return lambda i, j: made[i][j]


def _fitting(names: Named, shape: tuple[int, ...]) -> Named:
    """Return names of rows and columns, or numbers where there are none."""
    sides = zip(names, shape[-2:], strict=True)
    rows, columns = (n if len(n) == side else [*map(str, range(1, side + 1))] for n, side in sides)
    return rows, columns


def layers_as_json(walk: Walk) -> Iterator[str]:
    """Yield the steps of every layer as JSON, layer by layer."""

    def layer(number: int, solution: Solution) -> dict[str, Any]:
        steps = chosen(solution.problem, walk.only)
        return {"layer": number, "steps": {s.name: numbers_of(solution[s.name]) for s in steps}}

    yield from json_pieces(
        {**_opening(walk), "layers": (layer(*each) for each in walk.run())}, rows_in_a_line=True
    )
    yield "\n"


def _opening(walk: Walk) -> dict[str, Any]:
    return {"title": walk.title, "ids": list(walk.ids), "tokens": list(walk.words)}


def layers_as_csv(walk: Walk) -> Iterator[str]:
    """Yield a row for each entry of the steps of every layer."""
    yield "layer,step,head,row,column,value\n"
    for number, solution in walk.run():
        for step in chosen(solution.problem, walk.only):
            for place, value in np.ndenumerate(solution[step.name]):
                *head, row, column = (str(each + 1) for each in place)
                cells = str(number), step.name, "".join(head), row, column, repr(float(value))
                yield ",".join(cells) + "\n"


def write_layers_npz(walk: Walk, file: IO[bytes]) -> None:
    """Write the steps of every layer as arrays such as "3.A", and the token ids as "ids"."""
    arrays = (
        (f"{number}.{step.name}", solution[step.name])
        for number, solution in walk.run()
        for step in chosen(solution.problem, walk.only)
    )
    _write_arrays(walk, arrays, file)


def _write_arrays(walk: Walk, arrays: Iterator[tuple[str, Matrix]], file: IO[bytes]) -> None:
    with zipfile.ZipFile(file, "w") as archive:

        def write(name: str, array: Matrix) -> None:
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)

        write("title", np.array(walk.title))
        write("ids", np.array(walk.ids, dtype=np.int64))
        write("tokens", in_texts(walk.words))
        for name, array in arrays:
            write(name, array)


# -- the logit lens -------------------------------------------------------------------------------


def lens_document(found: Lens, *, full: bool = False) -> Document:
    """Return the prediction after each layer: at the chosen token, and at every token."""
    rows = [f"layer {each.layer}" for each in found.readings]
    final = _final(found)
    name = on_a_line(found.names[final])
    columns = ["most probable", "p", f"p of {name}", f"rank of {name}", f"logit of {name}"]
    cells = [
        [
            found.names[int(each.best[_row(found, each), 0])],
            _shown(each.shares[_row(found, each), 0]),
            _shown(each.share),
            str(each.rank),
            _shown(each.logits[final]),
        ]
        for each in found.readings
    ]
    parts: list[Part] = [
        _facts(found.walk, "the final normalization and the head, applied after each layer"),
        sheet(f"Prediction {_where(found.walk, found.at)}", rows, columns,
              lambda i, j: on_a_line(cells[i][j]), full=full),
    ]  # fmt: skip
    if len(found.readings[0].best) > 1:
        texts = [
            [f"{found.names[int(i)]} {_shown(p, 2)}" for i, p in zip(*each, strict=True)]
            for each in ((r.best[:, 0], r.shares[:, 0]) for r in found.readings)
        ]
        parts.append(sheet("Most probable after each token", rows, found.walk.words,
                           lambda i, j: on_a_line(texts[i][j]), full=full))  # fmt: skip
    return Document(f"Logit lens: {found.walk.title}", tuple(parts))


def _final(found: Lens) -> int:
    return int(found.readings[-1].logits.argmax())


def _row(found: Lens, reading: Any) -> int:
    return min(found.at, len(reading.best) - 1)


def _where(walk: Walk, at: int) -> str:
    words = walk.words
    return f"after token {at + 1}, {on_a_line(words[at])}" if at < len(words) else "of the input"


def _shown(value: Any, decimals: int = DECIMALS) -> str:
    return fixed(round_floats(np.array([float(value)]), decimals)[0], decimals)


def lens_as_json(found: Lens) -> Iterator[str]:
    """Yield the most probable tokens after each layer, at every token."""

    def best(ids: Matrix, shares: Matrix) -> list[dict[str, Any]]:
        pairs = zip(ids.tolist(), shares.tolist(), strict=True)
        return [{"id": i, "text": found.names[i], "probability": p} for i, p in pairs]

    rows = [
        {
            "layer": each.layer,
            "rank": each.rank,
            "probability": each.share,
            "tokens": [best(*pair) for pair in zip(each.best, each.shares, strict=True)],
        }
        for each in found.readings
    ]
    at = {"at": found.at + 1, "final": _final(found)}
    yield from json_pieces({**_opening(found.walk), **at, "layers": rows}, rows_in_a_line=True)
    yield "\n"


def lens_as_csv(found: Lens) -> str:
    """Return the most probable tokens at the chosen token, a row for each layer and token."""
    lines = [
        (str(each.layer), str(int(i)), found.names[int(i)], repr(float(p)))
        for each in found.readings
        for i, p in zip(each.best[_row(found, each)], each.shares[_row(found, each)], strict=True)
    ]
    return in_rows([("layer", "id", "text", "probability"), *lines])


def write_lens_npz(found: Lens, file: IO[bytes]) -> None:
    """Write "logits" at the chosen token, (layers, vocabulary), and "best" and "shares"."""
    arrays = {
        "layers": np.array([each.layer for each in found.readings]),
        "logits": np.stack([each.logits for each in found.readings]),
        "best": np.stack([each.best for each in found.readings]),
        "shares": np.stack([each.shares for each in found.readings]),
    }
    _write_arrays(found.walk, iter(arrays.items()), file)


# -- rollout --------------------------------------------------------------------------------------


def rollout_document(found: Rollout, *, full: bool = False) -> Document:
    """Return the rollout after the last layer."""
    number, matrix = [*found.matrices.items()][-1]
    said = "each layer: mean of the heads and the identity, half each; the product of all layers"
    names = _fitting((found.queries, found.queries), matrix.shape)
    title = f"How much each token after layer {number} comes from each input token"
    part = sheet(title, *names, lambda i, j: _shown(matrix[i, j]), full=full)
    return Document(f"Attention rollout: {found.walk.title}", (_facts(found.walk, said), part))


def rollout_as_json(found: Rollout) -> Iterator[str]:
    """Yield the rollout after each layer."""
    rows = ({"layer": n, "rollout": numbers_of(each)} for n, each in found.matrices.items())
    yield from json_pieces({**_opening(found.walk), "layers": rows}, rows_in_a_line=True)
    yield "\n"


def rollout_as_csv(found: Rollout) -> str:
    """Return the rollout after the last layer, a row for each token."""
    matrix = [*found.matrices.values()][-1]
    names = _fitting((found.queries, found.queries), matrix.shape)[0]
    rows = [(name, *map(repr, row)) for name, row in zip(names, matrix.tolist(), strict=True)]
    return in_rows([("", *names), *rows])


def write_rollout_npz(found: Rollout, file: IO[bytes]) -> None:
    """Write the rollout after each layer, such as "3.rollout"."""
    arrays = ((f"{number}.rollout", each) for number, each in found.matrices.items())
    _write_arrays(found.walk, arrays, file)


# -- ablation and patching ------------------------------------------------------------------------


def comparison_document(found: Comparison, *, full: bool = False) -> Document:
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
            rows.append((str(each.number), step.name, *_difference(pair, decimals)))
            texts = partial(_both, pair, decimals)
            tables += _sheets(each.number, each.clean, step, pair[0].shape, texts, full=full)
    columns = "entries that differ", "largest difference"
    said = *found.said, "before → after; entries without an arrow are the same"
    names = [f"layer {number}, {name}" for number, name, *_ in rows]
    summary = sheet("What changes", names, columns, lambda i, j: rows[i][2 + j], full=True)
    parts = (_facts(found.walk, *said), *effect, summary, *tables)
    return Document(f"Without and with changes: {found.walk.title}", parts)


def _difference(pair: tuple[Matrix, Matrix], decimals: int) -> tuple[str, str]:
    with np.errstate(invalid="ignore"):  # masked scores are -∞ in both
        far = np.nan_to_num(np.abs(pair[1].astype(float) - pair[0]), nan=0.0)
    differs = round_floats(pair[0], decimals) != round_floats(pair[1], decimals)
    return f"{int(differs.sum()):,} of {differs.size:,}", f"{far.max(initial=0.0):.3g}"


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
        rows.append([*map(_shown, (a, b, b - a, p, q))])
    names = [f"{i}: {effect.names[i]}" if effect.names[i] != str(i) else str(i) for i in ids]
    return sheet(f"Logits {where}", names, columns, lambda i, j: rows[i][j], full=True)


def comparison_as_json(found: Comparison) -> Iterator[str]:
    """Yield every step without and with the changes, and all logits."""
    effect: dict[str, Any] = {}

    def layers() -> Iterator[dict[str, Any]]:
        for each in found.run():
            if isinstance(each, Effect):
                pairs = ("clean", each.clean[0]), ("changed", each.changed[0])
                effect.update({name: numbers_of(logits) for name, logits in pairs})
            else:
                yield {"layer": each.number, "steps": _steps(found, each)}

    content = {"changes": list(found.said), "layers": layers(), "at": found.at + 1}
    yield from json_pieces(
        {**_opening(found.walk), **content, "logits": effect}, rows_in_a_line=True
    )
    yield "\n"


def _steps(found: Comparison, pair: Pair) -> dict[str, Any]:
    both = {"clean": pair.clean, "changed": pair.changed}
    return {
        step.name: {kind: numbers_of(each[step.name]) for kind, each in both.items()}
        for step in chosen(pair.clean.problem, found.walk.only)
    }


def comparison_as_csv(found: Comparison) -> Iterator[str]:
    """Yield a row for each entry, without and with the changes."""
    yield "layer,step,head,row,column,clean,changed\n"
    for each in found.run():
        if isinstance(each, Effect):
            continue
        for step in chosen(each.clean.problem, found.walk.only):
            changed = each.changed[step.name]
            for place, value in np.ndenumerate(each.clean[step.name]):
                *head, row, column = (str(index + 1) for index in place)
                values = repr(float(value)), repr(float(changed[place]))
                cells = str(each.number), step.name, "".join(head), row, column, *values
                yield ",".join(cells) + "\n"


def write_comparison_npz(found: Comparison, file: IO[bytes]) -> None:
    """Write arrays such as "clean.3.A" and "changed.3.A", "clean.logits" and "changed.logits"."""

    def arrays() -> Iterator[tuple[str, Matrix]]:
        for each in found.run():
            if isinstance(each, Effect):
                yield from (("clean.logits", each.clean[0]), ("changed.logits", each.changed[0]))
                continue
            for step in chosen(each.clean.problem, found.walk.only):
                yield f"clean.{each.number}.{step.name}", each.clean[step.name]
                yield f"changed.{each.number}.{step.name}", each.changed[step.name]

    _write_arrays(found.walk, arrays(), file)
