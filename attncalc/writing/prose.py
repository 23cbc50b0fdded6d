"""Sentences of a page that plain text, markdown and notes share."""

from collections.abc import Iterator

from attncalc.solving.work import Line
from attncalc.writing.mathematics import in_text
from attncalc.writing.page import MARK, MOST_NAMED, Cell, Grid, Page, Section, is_cut


def line_in_text(line: Line) -> str:
    """Return the work of one entry: Q[1,1] = (1·0) + (-1·1) = -1.00.

    Where the result is not 0 and is shown as 0.00, a mark stands beside it.
    """
    parts = [in_text(line.entry), *(f"= {in_text(form)}" for form in line.forms)]
    parts.append(
        f"{'=' if line.is_exact else '≈'} {in_text(line.result)}{MARK if line.hidden else ''}"
    )
    return " ".join([*parts, f"  ({line.remark})"] if line.remark else parts)


def footnote(page: Page, section: Section, *, full: bool) -> Iterator[str]:
    """Yield what the values are that are not 0 and are shown as 0.00."""
    if found := page.hidden_of(section, full=full):
        values = [f"{in_text(entry)} {in_text(value)}" for entry, value in found[:MOST_NAMED]]
        more = [f"{len(found) - MOST_NAMED} more"] if len(found) > MOST_NAMED else []
        yield f"{MARK} not zero: {' · '.join([*values, *more])}"


def plain_entry(cell: Cell) -> str:
    """Return an entry for programs and spreadsheets: "-inf" for what a mask forbids.

    Nothing on a worksheet.
    """
    return "" if cell.content is None else in_text(cell.content).replace("∞", "inf")


def texts_of_row(grid: Grid, row: int) -> list[str]:
    """Return the entries of a row for programs and spreadsheets."""
    if grid.texts is not None:
        return grid.texts(row)
    return [plain_entry(grid.cell(row, column)) for column in range(len(grid.columns))]


def notes_on_the_middle(page: Page, *, full: bool) -> Iterator[str]:
    """Say of which matrices the middle is left out, if of any."""
    if cut := left_out(page, full=full):
        yield f"the middle of {cut} is left out: --full shows all of it"


def left_out(page: Page, *, full: bool) -> str:
    """Return the names of the matrices whose middle is left out."""
    grids = (*page.given, *(grid for section in page.sections for grid in section.grids))
    return ", ".join(dict.fromkeys(grid.name for grid in grids if is_cut(grid, full=full)))
