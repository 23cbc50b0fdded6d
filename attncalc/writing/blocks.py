"""Wide matrices in blocks of columns that fit a line."""

from collections.abc import Callable, Iterator, Sequence

from attncalc.writing.document import Grid


def blocks_of(
    widths: Sequence[float], room: float | None, between: float
) -> Iterator[tuple[int, int]]:
    """Yield the columns of each block, from start to before stop; at least one column each.

    room: that of a line, or None where it may be as long as it must be.
    between: the gap between two columns.

    >>> list(blocks_of([4, 4, 4], room=10, between=2))
    [(0, 2), (2, 3)]
    """
    start, used = 0, 0.0
    for place, width in enumerate(widths):
        if room is not None and place > start and used + width > room:
            yield start, place
            start, used = place, 0.0
        used += width + between
    yield start, len(widths)


def parts_of(
    grid: Grid, widths: Sequence[float], room: float, between: float, most: int,
    say: Callable[[str], str],
) -> Iterator[tuple[slice, slice, list[str]]]:  # fmt: skip
    """Yield the rows and columns of each part of a matrix, and which they are if not all.

    widths, room, between: as in `blocks_of`.
    most: the number of rows of a part.
    say: returns a text in the language of the document.
    """
    rows, columns = grid.row_places, grid.column_places
    across = list(blocks_of(widths, room, between))
    down = list(blocks_of([1] * len(rows), most, 0))
    for top, bottom in down:
        for left, right in across:
            said = [caption("row", rows[top:bottom], len(grid.rows))] if len(down) > 1 else []
            if len(across) > 1:
                said.append(caption("column", columns[left:right], len(grid.columns)))
            yield slice(top, bottom), slice(left, right), [*map(say, said)]


def caption(kind: str, places: Sequence[int | None], of: int) -> str:
    """Return which rows or columns a block contains, and of how many.

    >>> caption("column", [0, 1, None, 7], 40)
    'columns 1 to 8 of 40'
    """
    shown = [place + 1 for place in places if place is not None]
    if len(shown) < 2:
        return f"{kind} {shown[0]} of {of}" if shown else ""
    return f"{kind}s {shown[0]} to {shown[-1]} of {of}"
