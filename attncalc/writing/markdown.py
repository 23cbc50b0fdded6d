"""A page as GitHub's markdown: pipe tables, and mathematics between double dollars."""

import re
from collections.abc import Iterator

from attncalc.text import on_a_line, shown_names
from attncalc.writing.latex_lines import by_rows, in_rows
from attncalc.writing.latex_math import in_tex, name_in_tex
from attncalc.writing.mathematics import in_text
from attncalc.writing.page import MARK, Cell, Grid, Page, Section, kept
from attncalc.writing.prose import footnote, notes_on_the_middle
from attncalc.writing.sentences import legend

LINE = 650.0
"""Points that fit on a line of a page on GitHub."""
LONGEST_NAME = 40
MOST_SENTENCES = 100
_SPECIAL = re.compile(r"[\\`*_{}\[\]<>|~$&#@!]|:(?=[\w+-]+:|//)|(?<=www)\.", re.IGNORECASE)
"""What would be more than a letter; a colon only where it starts an emoji or an address."""


def write_markdown(page: Page, *, full: bool = False, picture: str | None = None) -> str:
    """Return the page as markdown.

    Parameters
    ----------
    page
        What to write.
    full
        Show large matrices whole.
    picture
        The name of the file with the map, if there is one.
    """
    return "\n\n".join(_parts(page, full=full, picture=picture)) + "\n"


def escaped(text: str) -> str:
    """Return text that markdown shows as it reads, in a table too.

    Examples
    --------
    >>> escaped("a|b *c* $d$")
    'a&#124;b &#42;c&#42; &#36;d&#36;'
    """
    return _SPECIAL.sub(lambda match: f"&#{ord(match[0])};", on_a_line(text))


def _parts(page: Page, *, full: bool, picture: str | None) -> Iterator[str]:
    """Yield the paragraphs, headings and tables."""
    yield f"# {escaped(page.heading)}"
    if page.is_blank:
        yield "Name: &nbsp; ______________________________"
    yield "\n".join(f"- {escaped(convention)}" for convention in page.conventions)
    if page.given:
        yield "## Given"
    for grid in page.given:
        head = f", head {grid.head}" if grid.head else ""
        yield f"**`{grid.name}`**{head}"
        yield _table(grid, full=full)
    for section in page.sections:
        yield from _section(page, section, full=full)
    yield from _connections(page, full=full, picture=picture)
    notes = [*page.notes, *notes_on_the_middle(page, full=full)]
    if notes:
        yield "## Notes"
        yield "\n".join(f"- {escaped(note)}" for note in notes)


def _section(page: Page, section: Section, *, full: bool) -> Iterator[str]:
    step = section.step
    yield f"## `{step.name}`: {step.title}, {section.shape}"
    yield _displayed([f"{name_in_tex(step.name)} = {in_tex(section.formula)}"])
    for grid in section.grids:
        if grid.head:
            yield f"Head {grid.head} of {len(section.grids)}"
        yield _table(grid, full=full)
    if section.grids and step.name == "A" and not page.is_blank:
        yield legend(page.problem, "**bold**:", "*slanted*:").replace("   ", ", ")
    yield from footnote(page, section, full=full)
    yield from (escaped(remark) for remark in section.remarks)
    for lines in by_rows(section.lines):
        rows = " \\\\\n".join(in_rows(line, LINE) for line in lines)
        yield _displayed([r"\begin{aligned}", rows, r"\end{aligned}"])
    if page.is_blank:
        yield "Work:"
        yield "<br>" * 6


def _displayed(lines: list[str]) -> str:
    return "\n".join(["$$", *lines, "$$"])


def _table(grid: Grid, *, full: bool) -> str:
    """Return a matrix as a table, its rows and columns named."""
    rows, columns = (kept(len(names), full=full) for names in (grid.rows, grid.columns))
    lines = [
        ["", *shown_names(grid.columns, columns, LONGEST_NAME, escaped)],
        ["---", *("---:" for _ in columns)],
    ]
    for name, i in zip(shown_names(grid.rows, rows, LONGEST_NAME, escaped), rows, strict=True):
        cells = ("…" if i is None or j is None else _cell(grid.cell(i, j)) for j in columns)
        lines.append([f"**{name}**", *cells])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(cell: Cell) -> str:
    if cell.content is None:
        return "&nbsp;" * 8
    text = in_text(cell.content) + (MARK if cell.hidden else "")
    return {"most": f"**{text}**", "second": f"*{text}*", "": text}[cell.rank]


def _connections(page: Page, *, full: bool, picture: str | None) -> Iterator[str]:
    if page.has_map:
        yield "## What each output attends to"
    for head, sentences in page.influences:
        if head:
            yield f"Head {head}"
        shown = kept(len(sentences), full=full, most=MOST_SENTENCES)
        yield "\n".join(f"- {'…' if i is None else escaped(sentences[i])}" for i in shown)
    if picture and page.has_map:
        what = "Two columns of dots to draw lines between" if page.is_blank else "The map"
        yield f"![{what}](<{picture}>)"
