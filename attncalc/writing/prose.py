"""Sentences that plain text, markdown and notes share."""

from collections.abc import Callable, Iterator, Sequence

from attncalc.base.text import capital
from attncalc.equations.expressions import MINUS_INFINITY, Number
from attncalc.solving.work import Derivation
from attncalc.writing.document import DAGGER, LEFT_OUT, Cell, Grid, Section
from attncalc.writing.mathematics import PlainText, in_text

MOST_NAMED = 12
"""Number of values in a footnote; of more, only the count is shown."""


def line_in_text(line: Derivation) -> str:
    """Return the work of one entry: Q[1,1] = (1·0) + (-1·1) = -1.00.

    Where the result is not 0 and is shown as 0.00, a mark follows it.
    """
    remark = [f"  ({line.remark})"] if line.remark else []
    return " ".join([*forms_in_text(line), *remark])


def forms_in_text(line: Derivation) -> Iterator[str]:
    """Yield the entry, its forms and its result."""
    yield in_text(line.entry)
    yield from (f"= {in_text(form)}" for form in line.forms)
    yield f"{'=' if line.is_exact else '≈'} {in_text(line.result)}{DAGGER if line.hidden else ''}"


def footnote(section: Section, say: Callable[[str], str]) -> Iterator[str]:
    """Yield the values that are not 0 and are shown as 0.00."""
    if found := section.hidden:
        values = [f"{in_text(entry)} {in_text(value)}" for entry, value in found[:MOST_NAMED]]
        listed = " · ".join([*values, *map(say, more_than_named(found))])
        yield f"{DAGGER} {say('not zero')}: {listed}"


def more_than_named(found: Sequence[object]) -> list[str]:
    """Return how many there are in addition to those that are named, if any."""
    return [f"{len(found) - MOST_NAMED} more"] if len(found) > MOST_NAMED else []


class _ForPrograms(PlainText):
    def number(self, number: Number) -> str:
        """Return "-inf" for masked entries."""
        return "-inf" if number == MINUS_INFINITY else super().number(number)


def plain_entry(cell: Cell) -> str:
    """Return an entry for programs and spreadsheets; nothing on a worksheet."""
    if cell.content is None or isinstance(cell.content, str):
        return cell.content or ""
    return _ForPrograms().write(cell.content)


def texts_of_row(grid: Grid, row: int) -> list[str]:
    """Return the entries of a row for programs and spreadsheets."""
    if grid.texts is not None:
        return grid.texts(row)
    return [plain_entry(grid.cell(row, column)) for column in range(len(grid.columns))]


def sentence(text: str) -> str:
    """Return a text with a capital and the full stop of its writing.

    >>> sentence("keys"), sentence("键"), sentence("keys.")
    ('Keys.', '键。', 'Keys.')
    """
    stop = "。" if text[-1:] >= "\u2e80" else "."
    return capital(text) + ("" if text == LEFT_OUT or text.endswith((".", "。")) else stop)
