"""A page as data: CSV (one file of blocks, or a file for each step), JSON, and NumPy's `.npz`.

Each of them contains the problem and can be read back. In CSV the problem comes first; the part
after the line "results" is for readers and spreadsheets, and is computed again when read back.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import IO, Any

import numpy as np

from attncalc.base import __version__
from attncalc.base.rounding import fixed
from attncalc.base.text import harmless_cell, numbered
from attncalc.base.types import Matrix
from attncalc.equations.operations.angles import RopeScaling
from attncalc.problem import serialising
from attncalc.problem.attention.attention import Attention
from attncalc.problem.attention.declared import SQRT_DK
from attncalc.problem.attention.rope_scaling import scaling_as_object
from attncalc.problem.fields import SETTINGS
from attncalc.problem.gradients.naming import given_matrix_of
from attncalc.problem.problem import Problem
from attncalc.problem.step import Step
from attncalc.solving.connections import Connection
from attncalc.solving.solution import Head
from attncalc.solving.work import Derivation
from attncalc.writing.document import Connections, Grid, Section
from attncalc.writing.mathematics import in_text
from attncalc.writing.page import Page
from attncalc.writing.problem_file import as_lines, json_pieces
from attncalc.writing.prose import line_in_text, texts_of_row


def write_csv(page: Page) -> Iterator[str]:
    """Yield the page as one file of blocks, line by line."""
    return as_lines(_blocks(page))


def _blocks(page: Page) -> Iterator[serialising.Row]:
    yield from serialising.in_csv(page.problem)
    yield from ([], [serialising.RESULTS])
    for section in page.sections:
        for grid in section.grids:
            yield from ([], [_name(grid)])
            yield from _labelled(grid)
    for name, block in _words(page):
        yield from ([], [name], *block)


def write_csv_files(page: Page) -> dict[str, Iterator[str]]:
    """Return the page as files by name: the problem, one for each step, and the notes."""
    files = {serialising.OWN_PROBLEM: as_lines(serialising.in_csv(page.problem))}
    for section in page.sections:
        files[f"{section.step.name}.csv"] = as_lines(_rows_of(section))
    for name, block in _words(page):
        files[f"{name}.csv"] = as_lines(block)
    return files


def _name(grid: Grid) -> str:
    return f"{grid.name} head {grid.head}" if grid.head else grid.name


def _rows_of(section: Section) -> Iterator[serialising.Row]:
    """Yield the rows of a step, one at a time: a list would need memory for all of them."""
    for place, grid in enumerate(section.grids):
        if grid.head:
            yield from [[], [_name(grid)]] if place else [[_name(grid)]]
        yield from _labelled(grid)


def _labelled(grid: Grid) -> Iterator[serialising.Row]:
    """Yield the rows of a matrix as shown, with the names of its rows and columns."""
    yield ["", *(harmless_cell(name) for name in grid.columns)]
    for i, name in enumerate(grid.rows):
        yield [harmless_cell(name), *texts_of_row(grid, i)]


def _words(page: Page) -> Iterator[tuple[str, Sequence[serialising.Row]]]:
    """Yield the blocks of the work, the connections, the patterns and the notes."""
    if page.lines:
        yield "work", [[line_in_text(line)] for line in page.lines]
    connections = [
        [", ".join(filter(None, (part.of, f"head {head}" if head else ""))), harmless_cell(text)]
        for part in page.parts
        if isinstance(part, Connections)
        for head, sentences in part.heads
        for text in sentences
    ]
    if connections:
        yield "connections", connections
    if page.shown_patterns:
        yield "patterns", [[harmless_cell(text)] for text in page.shown_patterns]
    # hidden values are listed only for entries that a page shows
    elided = [
        section._replace(grids=tuple(grid._replace(full=False) for grid in section.grids))
        for section in page.sections
    ]
    pairs = (pair for section in elided for pair in section.hidden)
    hidden = [[f"not zero: {in_text(entry)}", in_text(value)] for entry, value in pairs]
    said = (*page.conventions, *page.remarks, *page.notes)
    notes = [["note", harmless_cell(text)] for text in said]
    yield "notes", [*hidden, *notes]


def write_json(page: Page) -> Iterator[str]:
    """Yield the JSON text: the problem as it can be read back, values in full, and as shown."""
    problem = page.problem
    content: dict[str, Any] = {
        "attncalc": __version__,
        "kind": problem.what,
        "title": problem.title,
        "problem": serialising.in_json(problem),
        "conventions": _conventions(problem),
        "steps": (_step(page, section) for section in page.sections if section.grids),
    }
    if page.lines:
        content["work"] = [_line(line) for line in page.lines]
    if not page.is_blank:
        content["connections"] = _all_connections(page)
    if page.patterns is not None:
        from attncalc.writing.patterns import sentence

        content["patterns"] = [
            {"code": each.code, "about": each.about, "text": sentence(problem, each),
             "values": each.plain}
            for each in page.patterns
        ]  # fmt: skip
    content["notes"] = [*page.remarks, *page.notes]
    yield from json_pieces(content)
    yield "\n"


def _line(line: Derivation) -> dict[str, Any]:
    *head, row, column = line.entry.place
    of = {"step": line.step, **({"head": head[0]} if head else {}), "row": row, "column": column}
    work, shown = line_in_text(line), in_text(line.result)
    return {**of, "work": work, "shown": shown, "exact": line.is_exact}


def _conventions(problem: Problem) -> dict[str, Any]:
    """Return all values other than defaults, and derived numbers: the scale, the queries' place."""
    alone = problem.attentions[0] if len(problem.attentions) == 1 else None
    stated: dict[str, Any] = {}
    if alone:
        factor = 1.0 if isinstance(alone.scale, str) else float(alone.scale)
        stated["scale"] = float(alone.d_k**-0.5) if alone.scale == SQRT_DK else factor
    stated |= {"rounding": problem.rounding, "decimals": problem.decimals}
    for name, setting in SETTINGS.items():
        value = getattr(problem, name)
        if name not in stated and value != setting.default_in(problem.block):
            if isinstance(value, RopeScaling):
                value = scaling_as_object(value)
            stated[name] = float(value) if isinstance(value, Fraction) else value
    if alone and alone.positions == "rope" and len(set(alone.rope_places)) > 1:
        stated["rope_query_offset"] = float(alone.rope_places[0])
    if alone and alone.n_heads > 1:
        stated |= {"heads": alone.n_heads, "kv_heads": alone.n_kv_heads}
    return stated


def _step(page: Page, section: Section) -> dict[str, Any]:
    solution, step = page.solution, section.step
    matrix = solution.precise(step.name)
    rows, columns = np.atleast_2d(matrix).shape[-2:]
    described = {
        "name": step.name,
        "formula": in_text(section.formula),
        **({"heads": len(matrix)} if matrix.ndim == 3 else {}),
        "rows": fitting(solution.row_labels(step), rows),
        "columns": fitting(solution.column_labels(step), columns),
    }
    if page.is_blank:
        return {**described, "shown": np.full(matrix.shape, "").tolist()}
    return {**described, "values": numbers_of(matrix), "shown": _shown(page, section)}


def fitting(labels: Sequence[str], size: int) -> Sequence[str]:
    """Return labels if they fit, otherwise numbers: heads side by side have none."""
    return labels if len(labels) == size else numbered(size)


def _shown(page: Page, section: Section) -> Any:
    """Return the digits, in the shape that the values have."""
    solution, name = page.solution, section.step.name
    if not page.fractions and given_matrix_of(name) not in page.problem.names:
        return solution.shown_rows(name)  # row by row: it may be long
    shown: Any = solution.shown(name)
    if page.fractions:
        shown = [[texts_of_row(each, i) for i in range(len(each.rows))] for each in section.grids]
        if solution.digits[name].ndim == 2:
            (shown,) = shown
    return solution.as_given(name, np.array(shown, dtype=object)).tolist()


def numbers_of(matrix: Matrix) -> Any:
    """Return rows of numbers; masked entries are "-inf", since JSON has no infinity."""
    if matrix.ndim > 1:
        return map(numbers_of, matrix)
    matrix = matrix + 0.0  # -0.0 is 0.0
    if np.isfinite(matrix).all():
        return matrix.tolist()
    return [float(value) if np.isfinite(value) else fixed(value, 0) for value in matrix]


def _all_connections(page: Page) -> Any:
    """Return the inputs that each output attends to; with several heads, a list for each."""
    if page.solution.weights is None or not any(each.grids for each in page.sections):
        return []
    weights = page.solution.all_weights
    if len(page.problem.attentions) > 1:
        return {step.name: _connections_of(page, step) for step in weights}
    return _connections_of(page, weights[0])


def _connections_of(page: Page, step: Step) -> Any:
    attention = page.problem.attention_of(step.name)

    def of(head: Head) -> Iterator[dict[str, Any]]:
        each = map(head.connection, range(len(attention.queries)))
        return (_connection(attention, head, connection) for connection in each)

    heads = page.solution.heads_of(step)
    return of(heads[0]) if len(heads) == 1 else map(of, heads)


def _connection(attention: Attention, head: Head, connection: Connection) -> dict[str, Any]:
    def inputs(indices: tuple[int, ...]) -> list[dict[str, Any]]:
        weights = head.weights[connection.output]
        return [{"input": attention.keys[i], "weight": float(weights[i])} for i in indices]

    most, second = inputs(connection.most), inputs(connection.second)
    return {"output": attention.queries[connection.output], "most": most, "second": second}


def write_npz(page: Page, file: IO[bytes]) -> None:
    """Write the problem, each step and the texts as one array each, without pickles."""
    arrays: Any = serialising.in_arrays(page.problem) | dict(_results(page))
    np.savez(file, **arrays)


def _results(page: Page) -> Iterator[tuple[str, Any]]:
    sections = page.sections
    given = page.problem.names  # given weights are there already, exactly
    names = [each.step.name for each in sections if each.grids and each.step.name not in given]
    yield "steps", np.array(names, dtype=str)
    yield from ((name, page.solution[name]) for name in names)
    if page.lines:
        yield "work", serialising.in_texts([line_in_text(line) for line in page.lines])
    sentences = [text for _, sentences in page.influences for text in sentences]
    if page.patterns is not None:
        yield "patterns", np.array(page.shown_patterns, dtype=str)
    yield "conventions", serialising.in_texts(page.conventions)
    yield "connections", serialising.in_texts(sentences)
    yield "notes", serialising.in_texts([*page.remarks, *page.notes])
