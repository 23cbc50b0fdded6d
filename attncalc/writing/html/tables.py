"""Matrices as tables with headings of rows and columns, and tables of texts."""

from collections.abc import Callable, Iterator, Sequence

from attncalc.base.text import shown_names
from attncalc.writing.document import DAGGER, LEFT_OUT, Cell, Grid
from attncalc.writing.html.elements import LINE, Html, element, id_of, joined
from attncalc.writing.mathematics import in_text

LONGEST_NAME = 40
"""Letters of a name before it is cut."""
PAPER = 48.0
"""How wide paper is, in em of its letters, on A4 and on letter alike."""
DIGIT, AROUND, WIDEST_NAME = 0.62, 1.1, 14
"""How wide a letter is, and the room around an entry, in em; the letters of a name in a line."""
FITS = (85, 70, 60, 50, 40)
"""The sizes to which wide tables shrink on paper, in percent; smaller ones are illegible."""
TOO_WIDE = f"fit-{FITS[-1]} cut"
EMPTY = " " * 6
"""How wide the room is for an answer."""
CUT = (
    "Wider than paper: columns at the right may be cut. --format latex, or -o FILE.pdf, sets such "
    "matrices in blocks."
)
LOOKS = {"most": "strong", "second": "em", "wrong": "strong"}
"""How an entry looks that differs from others, without any color."""


def matrix_table(
    grid: Grid,
    caption: object,
    prefix: str = "",
    *,
    given: bool = False,
    is_step: bool = True,
    say: Callable[[str], str] = str,
) -> Html:
    """Return a matrix, or one head of one, as a scrollable table.

    prefix: the prefix of ids in this document.
    given: whether it is a given matrix, and not a step.
    is_step: whether it is a matrix, and not numbers of a study.
    say: returns a text in the language of the document.
    """
    columns = shown_names(grid.columns, grid.column_places, LONGEST_NAME, _name)
    names = shown_names(grid.rows, grid.row_places, LONGEST_NAME, _name)
    entries = grid.cells()
    heading = element("tr", element("td"), *(element("th", name, scope="col") for name in columns))
    rows = [
        element("tr", element("th", name, scope="row"), *_cells(grid, i, row, prefix, is_step))
        for name, i, row in zip(names, grid.row_places, entries, strict=True)
    ]
    fit = _fit(grid, entries)
    name = {"data_given" if given else "data_step": grid.name} if is_step else {}
    table = element(
        "table",
        element("caption", caption, class_=None if grid.head or given else "unseen"),
        element("thead", heading),
        element("tbody", joined(rows, LINE)),
        class_=" ".join(filter(None, ("matrix" if is_step else "numbers", fit))),
        **name,
        data_head=grid.head or None,
    )
    cut = [element("p", say(CUT), class_="on-paper")] if fit == TOO_WIDE else []
    return _scrolling(joined([table, *cut]), grid.called)


def _fit(grid: Grid, entries: Sequence[Sequence[Cell | None]]) -> str | None:
    """Return how far a table shrinks on paper, where it is wider."""
    columns = zip(*([_text(cell) for cell in row] for row in entries), strict=True)
    widths = [max(map(len, texts), default=0) for texts in columns]
    names = [min(len(name), WIDEST_NAME) for name in grid.columns]
    places = [0 if place is None else names[place] for place in grid.column_places]
    first = min(max(map(len, grid.rows), default=0), WIDEST_NAME)
    letters = [first, *map(max, widths, places)]
    room = 100 * PAPER / sum(DIGIT * each + AROUND for each in letters)
    fitting = (f"fit-{fit}" for fit in FITS if fit <= room)
    return None if room >= 100 else next(fitting, TOO_WIDE)


def text_table(headings: Sequence[str], rows: Sequence[Sequence[str]], title: str) -> Html:
    """Return rows of texts under their headings, the first of each row its name."""
    head = element("tr", *(element("th", text, scope="col") for text in headings))
    body = [
        element("tr", element("th", name, scope="row"), *(element("td", text) for text in texts))
        for name, *texts in rows
    ]
    sides = element("thead", head), element("tbody", joined(body, LINE))
    return _scrolling(element("table", *sides, class_="texts", aria_label=title), title)


def _scrolling(table: Html, name: str) -> Html:
    """Return a table in its own container, which arrow keys scroll if it is too wide."""
    return element("div", table, class_="wide", role="group", tabindex=0, aria_label=name)


def _name(name: str) -> Html:
    """Return a name that keeps its direction to itself."""
    return element("bdi", name) if not name.isascii() else element("span", name)


def _cells(
    grid: Grid, row: int | None, cells: Sequence[Cell | None], prefix: str, is_step: bool
) -> Iterator[Html]:
    for column, cell in zip(grid.column_places, cells, strict=True):
        if row is None or column is None or cell is None:
            yield element("td", LEFT_OUT, class_="left-out")
        elif not is_step:
            yield element("td", *_content(cell))
        else:
            look = cell.mark.look if cell.mark else cell.rank
            class_ = "empty" if cell.content is None else look or None
            name = id_of(prefix, grid.name, row + 1, column + 1, head=grid.head)
            place = {"data_row": row + 1, "data_column": column + 1}
            yield element("td", *_content(cell), id=name, class_=class_, **place)


def _text(cell: Cell | None) -> str:
    if cell is None:
        return LEFT_OUT
    if cell.content is None:
        return EMPTY
    text = cell.content if isinstance(cell.content, str) else in_text(cell.content)
    return text + (DAGGER if cell.hidden else "")


def _content(cell: Cell) -> Iterator[object]:
    """Yield a number, and its sign with the meaning for screen readers."""
    if cell.content is None:
        return
    text = _text(cell)
    look = LOOKS.get(cell.mark.look if cell.mark else cell.rank)
    yield element(look, text) if look else text
    if cell.mark and cell.mark.sign:
        yield " "
        yield element("span", cell.mark.sign, class_="sign", aria_hidden="true")
        yield element("span", f" {cell.mark.means}", class_="unseen")
