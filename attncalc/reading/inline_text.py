"""A matrix in one line of text: `1 0; 0 1`, `1,0;0,1`, `[[1,0],[0,1]]`."""

import re

from attncalc.base.typed import quoted
from attncalc.base.types import Matrix
from attncalc.reading.cells import Faults, read_cells

_NESTED = re.compile(r"\[\s*+\[[^\[\]]*+\](?:\s*+(?:,\s*+)?\[[^\[\]]*+\])*+\s*+(?:,\s*+)?\]")
_FLAT = re.compile(r"\[([^\[\]]*)\]")
_BETWEEN_CELLS = re.compile(r"\s*,\s*|\s+")
INLINE_FORMS = '"1 0; 0 1" or "[[1, 0], [0, 1]]"'


def read_inline_cells(name: str, text: str, faults: Faults) -> Matrix | None:
    """Return the matrix in a text: rows separated by `;` or brackets, cells by blanks or `,`."""
    if is_written_out(text):
        from attncalc.reading.plain.grids import only_grid
        from attncalc.reading.plain_text import matrix_of_grid

        if grid := only_grid(text):
            return matrix_of_grid(name, grid, faults)
    rows = _rows(text.strip())
    if rows is None:
        faults.add(f"{name}: {quoted(text)} is not a matrix: write rows like {INLINE_FORMS}")
        return None
    return read_cells(name, [_BETWEEN_CELLS.split(row.strip()) for row in rows], faults)


def is_written_out(text: str) -> bool:
    r"""Return whether a matrix is LaTeX or code: `\begin{bmatrix} … `, `np.array([[…]])`."""
    return "\\" in text or "(" in text or "⎡" in text


def _rows(text: str) -> list[str] | None:
    if _NESTED.fullmatch(text):
        return _FLAT.findall(text)
    if flat := _FLAT.fullmatch(text):
        text = flat[1]
    if "[" in text or "]" in text:
        return None
    rows = re.split(r"[;\n]", text)
    return rows[:-1] if len(rows) > 1 and not rows[-1].strip() else rows
