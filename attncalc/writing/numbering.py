"""Numbers in place of the names of tokens, which are listed once: names take up most of a page."""

from dataclasses import replace

from attncalc.writing.document import Connections, Document, Facts, Given, Grid, Part, Section


def with_numbers(document: Document) -> Document | None:
    """Return a document whose tokens have numbers, after a list of their names; None without names.

    All tokens are counted together: a key token is not called like a query token. Numbers of
    several kinds of tokens are in brackets: those that only count rows are not shown.
    """
    grids = (g for part in document.parts if isinstance(part, Given | Section) for g in part.grids)
    of_tokens = {grid.rows for grid in grids if grid.tokens[0]}
    numbers: dict[str, str] = {}

    def put(names: tuple[str, ...]) -> tuple[str, ...]:
        if names not in of_tokens:
            return names
        for name in names:
            numbers.setdefault(name, f"({len(numbers) + 1})")
        return tuple(numbers[n] if len(of_tokens) > 1 else numbers[n].strip("()") for n in names)

    def in_numbers(grid: Grid) -> Grid:
        return grid._replace(rows=put(grid.rows), columns=put(grid.columns))

    made: list[Part] = []
    for part in document.parts:
        if isinstance(part, Given | Section):
            made.append(part._replace(grids=tuple(map(in_numbers, part.grids))))
        elif isinstance(part, Connections):
            made.append(part._replace(inputs=put(part.inputs), outputs=put(part.outputs)))
        else:
            made.append(part)
    place = next((at for at, part in enumerate(made) if isinstance(part, Facts)), -1) + 1
    listed = Facts(tuple(f"{number} {name}" for name, number in numbers.items()))
    return replace(document, parts=(*made[:place], listed, *made[place:])) if numbers else None
