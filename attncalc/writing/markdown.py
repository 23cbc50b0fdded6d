"""Documents as GitHub's markdown: pipe tables, and mathematics between double dollars."""

import re
from collections.abc import Iterable, Iterator, Sequence

from attncalc.base.text import capital, on_a_line, shown_names
from attncalc.writing import document as parts
from attncalc.writing.latex_layout import by_rows, in_rows
from attncalc.writing.latex_math import in_tex, name_in_tex
from attncalc.writing.mathematics import in_text
from attncalc.writing.prose import footnote
from attncalc.writing.translated import formulas_in_language, in_language

LINE = 650.0
"""Points that fit on a line of a page on GitHub."""
LONGEST_NAME = 40
RANKS = {"most": "**bold**:", "second": "*slanted*:"}
LOOKS = {"most": "**%s**", "second": "*%s*", "wrong": "**%s**"}
_OF_LINKS = r"@|#(?=\d)|(?<=GH)-(?=\d)|:(?=//)|(?<=www)\."
_LINKING = re.compile(_OF_LINKS, re.IGNORECASE)
"""Text that GitHub converts to links even if escaped: it searches in the displayed text."""
_SPECIAL = re.compile(rf"[\\`*_{{}}\[\]<>|~$&#!]|:(?=[\w+-]+:)|{_OF_LINKS}", re.IGNORECASE)
"""Characters with a special meaning; a colon only if it begins an emoji or an address."""


def write_markdown(document: parts.Document, *, picture: str | None = None) -> str:
    """Return a document as markdown, with the name of the file with the map, if any."""
    whole = "\n\n".join(_Markdown(picture).document(in_language(document))) + "\n"
    return formulas_in_language(whole, document.language)


def escaped(text: str) -> str:
    """Return text that markdown shows as it reads, in a table too.

    >>> escaped("a|b *c* $d$")
    'a&#124;b &#42;c&#42; &#36;d&#36;'
    """

    def shown(found: re.Match[str]) -> str:
        entity = f"&#{ord(found[0])};"
        # an entity that would become a link is in a separate element
        is_linking = _LINKING.match(found.string, found.start())
        return f"<span>{entity}</span>" if is_linking else entity

    return _SPECIAL.sub(shown, on_a_line(text))


class _Markdown(parts.DocumentWriter[str]):
    def __init__(self, picture: str | None) -> None:
        self.picture = picture

    def title(self, text: str) -> Iterator[str]:
        yield f"# {escaped(text)}"

    def heading(self, text: str) -> Iterator[str]:
        yield f"## {text}"

    def listed(self, texts: Iterable[str]) -> Iterator[str]:
        yield "\n".join(f"- {escaped(text)}" for text in texts)

    def field(self, field: parts.Field) -> Iterator[str]:
        line = "&nbsp; ______________________________"
        text = line if field.text is None else escaped(field.text)
        yield f"{capital(self.say(f'{field.label}:'))} {text}"

    def facts(self, facts: parts.Facts) -> Iterator[str]:
        yield from self.listed(facts.texts)

    def given(self, given: parts.Given) -> Iterator[str]:
        yield from self.heading(self.say("Given"))
        for grid in given.shown:
            yield f"**`{grid.name}`**" + (f", {grid.which}" if grid.head else "")
            yield _matrix(grid)

    def section(self, section: parts.Section) -> Iterator[str]:
        yield f"## `{section.step.name}`: {section.said}"
        if not section.is_marked:
            yield _displayed(f"{name_in_tex(section.step.name)} = {in_tex(section.formula)}")
        for grid in section.shown:
            if grid.head:
                yield self.say(f"Head {grid.head} of {grid.heads or section.grids[-1].head}")
            yield _matrix(grid)
        if section.legend:
            yield from self.legend(parts.Legend(section.legend))
        yield from footnote(section, self.say)
        yield from map(escaped, section.remarks)
        for lines in by_rows(section.lines):
            rows = " \\\\\n".join(in_rows(line, LINE) for line in lines)
            yield _displayed(r"\begin{aligned}", rows, r"\end{aligned}")
        if section.has_room:
            yield self.say("Work:")
            yield "<br>" * 6

    def legend(self, legend: parts.Legend) -> Iterator[str]:
        ranks = {rank: self.say(said) for rank, said in RANKS.items()}
        yield ", ".join(f"{ranks.get(key, key)} {means}" for key, means in legend.entries)

    def connections(self, connections: parts.Connections) -> Iterator[str]:
        yield from self.heading(self.say(connections.title))
        for _, head, sentences in connections.shown:
            if head:
                yield self.say(f"Head {head}")
            yield from self.listed(sentences)
        if self.picture:
            dots = self.say("Two columns of dots to draw lines between")
            yield f"![{dots if connections.is_blank else self.say('The map')}](<{self.picture}>)"

    def verdict(self, verdict: parts.Verdict) -> Iterator[str]:
        yield f"**{self.say(f'Score: {verdict.score} ({verdict.share})')}**"
        yield from self.listed(verdict.sentences)

    def table(self, table: parts.Table) -> Iterator[str]:
        yield f"{'##' if self.is_titled else '#'} {table.title}"
        rows = [[escaped(text) for text in row] for row in table.rows]
        yield _piped([table.headings, ["---"] * len(table.headings), *rows])

    def sheet(self, sheet: parts.Sheet) -> Iterator[str]:
        yield from self.heading(escaped(sheet.title))
        yield _matrix(sheet.grid)


def _displayed(*lines: str) -> str:
    return "\n".join(["$$", *lines, "$$"])


def _matrix(grid: parts.Grid) -> str:
    columns = shown_names(grid.columns, grid.column_places, LONGEST_NAME, escaped)
    names = shown_names(grid.rows, grid.row_places, LONGEST_NAME, escaped)
    named = zip(names, grid.cells(), strict=True)
    rows = [[f"**{name}**", *map(_cell, row)] for name, row in named]
    return _piped([["", *columns], ["---", *["---:"] * len(columns)], *rows])


def _piped(rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _cell(cell: parts.Cell | None) -> str:
    if cell is None:
        return parts.LEFT_OUT
    if cell.content is None:
        return "&nbsp;" * 8
    content = cell.content
    text = escaped(content) if isinstance(content, str) else in_text(content)
    look, sign = (cell.mark.look, cell.mark.sign) if cell.mark else (cell.rank, "")
    text += parts.DAGGER if cell.hidden else ""
    return f"{LOOKS.get(look, '%s') % text} {sign}".strip()
