"""A problem in text: Markdown, LaTeX, MATLAB, numpy, or rows below names. Nothing is guessed."""

import re
from typing import Any

import numpy as np

from attncalc.base.typed import quoted
from attncalc.base.types import Matrix
from attncalc.problem.fields import LABELLED, MATRICES, SETTINGS, TEXTS
from attncalc.reading.answers.lines import is_about_lines
from attncalc.reading.answers.prose import role_of_words
from attncalc.reading.cells import Faults, read_cells
from attncalc.reading.names import canonical, unknown
from attncalc.reading.naming.name import name_in
from attncalc.reading.naming.symbols import STEPS
from attncalc.reading.plain.blocks import Block, blocks_of
from attncalc.reading.plain.grids import Grid
from attncalc.reading.plain.marks import COMMA, PRIVATE
from attncalc.reading.plain.numerals import read_entry

Fields = dict[str, Any]

_SETTING = re.compile(
    r"\s*+(?:[-#%*]++\s*+)?([A-Za-z][A-Za-z _-]{2,30}?)(?:\s*+[,:=;]|[^\S\t]*+\t)"
    r"([^=:;\n]{1,100}?)[\s;.]*+"
)
_MARKUP = re.compile(r"[=\[\]\\|{}$:]|^[^\S\n]*+#", re.MULTILINE)
_SHEET_ROW = re.compile(r"\s*[-+]?[\d.][^\s]*\s*[,;\t]|.*\d,\d.*|.*[;\t]")
HOW = "write X = above its rows, or X = [1 0; 0 1]"


def looks_like_sheet(text: str) -> bool:
    """Return whether a text is CSV: only rows separated by commas, semicolons or tabs."""
    if _MARKUP.search(text):
        return False
    lines = [line for line in text.splitlines() if any(c.isdigit() for c in line)]
    return not lines or any(_SHEET_ROW.match(line) for line in lines)


def read_text_problem(text: str, faults: Faults) -> Fields:
    """Return the fields of the problem in a text; refuse numbers that belong to nothing."""
    fields: Fields = {}
    lines: dict[str, int] = {}
    settings, rest = _settings(text, faults)
    blocks, document = blocks_of(
        PRIVATE.sub("", rest), lambda label: False, lambda lines, i: is_about_lines(lines[i].text)
    )
    for line, fault in document.faults:
        faults.add(f"line {line}: {fault}")
    name: str | None = None
    for block in blocks:
        own = _named(block.names)
        if block.grid is None:
            name = own or (None if block.is_heading else name)
            if not role_of_words(block.text):
                faults.add(
                    f"line {block.line}: {quoted(block.text)} is not part of a matrix: {HOW}"
                )
        elif own or name:
            _keep(own or name or "", block, block.grid, fields, lines, faults)
            name = None
        else:
            _refuse(block, faults)
    if document.cut_at:
        faults.add(f"line {document.cut_at}: there is too much before it")
    _drop_results(fields)
    if not fields:
        faults.add(f"no matrix is named: {HOW}")
    return settings | fields


def _drop_results(fields: Fields) -> None:
    """Remove scores and weights that follow from other fields: they are computed again."""
    sources = [name for name in ("Q", "W_Q", "K", "W_K") if name in fields]
    for name, others in (("A", [*sources, "S"]), ("S", sources)):
        if any(other in fields for other in others):
            fields.pop(name, None)


def _settings(text: str, faults: Faults) -> tuple[Fields, str]:
    """Return the conventions on separate lines, and the text without those lines."""
    fields: Fields = {}
    rest = []
    for number, line in enumerate(text.splitlines(), start=1):
        match = _SETTING.fullmatch(line) if len(line) < 120 else None
        name = canonical(match[1]) if match else None
        if match is None or name not in (*SETTINGS, *TEXTS) or "[" in match[2]:
            rest.append(line)
            continue
        if name in fields:
            faults.add(f"line {number}: {name} is given twice")
        fields[name] = match[2].strip().strip("\"'")
        rest.append("")
    return fields, "\n".join(rest)


def _named(names: list[str]) -> str | None:
    """Return the given matrix that a text names, nearest to its numbers."""
    for text in reversed(names):
        clean = text.strip().strip("#*`$ ").rstrip(":=")
        given = canonical(clean)
        if given in MATRICES:
            return given
        found = name_in(clean)
        if found and not (found.row or found.column or found.turned):
            is_numbered = found.number and found.matrix == "X"
            given = f"X{found.number}" if is_numbered else found.matrix
            if given in MATRICES:
                return given
    return None


def _refuse(block: Block, faults: Faults) -> None:
    said = block.names[0].strip() if block.names else ""
    found = name_in(said) if said else None
    if found and found.matrix in STEPS:
        return  # a result, which is computed again
    if block.is_single and said:
        return  # d_k = 2
    where = f"line {block.line}: "
    if said and len(said) < 30 and not faults.enough:
        faults.add(where + unknown(said, MATRICES))
    else:
        faults.add(f"{where}{quoted(block.text)} is not part of a matrix: {HOW}")


def _keep(
    name: str, block: Block, grid: Grid, fields: Fields, lines: dict[str, int], faults: Faults
) -> None:
    if name in fields:
        faults.add(f"line {block.line}: {name} is given twice (line {lines[name]} too)")
        return
    lines[name] = block.line
    fields[name] = matrix_of_grid(name, grid, faults, f" (line {block.line})")
    labels = [label for label in block.row_names if not label.isdigit()]
    if len(labels) == len(grid.rows) and name in LABELLED:
        from attncalc.problem.serialising import ROW_NAMES

        fields.setdefault(ROW_NAMES, {})[name] = labels


def matrix_of_grid(name: str, grid: Grid, faults: Faults, where: str = "") -> Matrix | None:
    """Return the matrix with the entries of a grid, exactly as typed."""
    heads = [
        read_cells(name, [[_typed(cell) for cell in row] for row in rows], faults,
                   line=lambda i: where)
        for rows in grid.heads
    ]  # fmt: skip
    if any(head is None for head in heads):
        return None
    if len(heads) == 1:
        return heads[0]
    if len({head.shape for head in heads if head is not None}) > 1:
        faults.add(f"{name}{where}: its heads differ in shape")
        return None
    return np.array(heads, dtype=object)


def _typed(cell: str) -> str:
    """Return a cell in the format of a problem: 2 1/2 as 5/2, 62% as 0.62."""
    entry = read_entry(cell)
    if entry.value is None or entry.value != entry.value:
        return cell.replace(COMMA, ".")
    plain = cell.strip().replace(COMMA, ".")
    is_plain = re.fullmatch(r"[-+]?[\d.]+(?:e[-+]?\d+)?|[-+]?\d+/\d+", plain, re.IGNORECASE)
    return plain if is_plain else str(entry.value)
