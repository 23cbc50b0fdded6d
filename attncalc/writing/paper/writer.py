"""Documents as PDF pages: a visitor of the document model that needs no other program."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import NamedTuple

from attncalc.base.text import capital, of_each
from attncalc.languages.catalogue import ENGLISH
from attncalc.problem.step import Report
from attncalc.solving.work import Derivation
from attncalc.writing import document as parts
from attncalc.writing.document import blocks_of
from attncalc.writing.html.pictures import Panel, heatmap_of, map_of
from attncalc.writing.html.qr import qr_code
from attncalc.writing.latex import KEYS, RULE_OF_LINES
from attncalc.writing.latex_layout import by_rows
from attncalc.writing.numbering import with_numbers
from attncalc.writing.paper.formulas import BLANK, Block, Formulas, matrix_blocks
from attncalc.writing.paper.ink import (
    PLAIN,
    SIZE,
    Box,
    Ink,
    Look,
    beside,
    picture,
    placed,
    rule,
    scaled,
)
from attncalc.writing.paper.pages import (
    ROOM,
    SMALLEST_PICTURE,
    TALLEST,
    Line,
    Sheet,
    broken,
    make_pdf,
)
from attncalc.writing.prose import footnote, sentence
from attncalc.writing.translated import in_language

TITLE, HEADING, SMALL = Look(16.0, bold=True), Look(12.0, bold=True), Look(9.0, grey=0.25)
WORK = 9.0
"""The size of the written-out work."""
BETWEEN, INDENT, FIRST = 24.0, 14.0, 5.0
ROOM_BESIDE = 150.0
"""The least width of the room for work beside a matrix, or of sentences beside a picture."""
MOST_SHEETS = 2
"""Pages of a worksheet, if the spaces on it may become small enough."""
LEAST_OF_MANY = 0.8
"""The smallest scale of more pages."""
TALLEST_PICTURE, TALLEST_CODE = 560.0, 50.0
MOST_DRAWN = 2_000
TOO_MANY = "The map is left out: it has too many lines for a page."
"""Lines or cells of a picture."""


class Spaces(NamedTuple):
    """The room on a page: width and height for an answer, height for work, steps in rows."""

    answer: tuple[float, float]
    work: float
    in_rows: bool = False
    scale: float = 1.0


SPACES = (
    *(Spaces(BLANK, 90), Spaces((34, 20), 56)),
    *(Spaces((34, 18), 40, in_rows=True), Spaces((30, 16), 20, in_rows=True)),
    *(Spaces((28, 13), 8, in_rows=True), Spaces((17, 10), 4, in_rows=True)),
    *(Spaces((22, 13), 4, in_rows=True, scale=scale) for scale in (0.9, 0.8, 0.72)),
)
"""The spaces of worksheets, the widest first; keys have those with steps in rows, too."""


class Paper(NamedTuple):
    """A PDF, and the letters that no font here has."""

    content: bytes
    lacking: str = ""

    @property
    def notes(self) -> tuple[str, ...]:
        """The note on these letters, if there are any."""
        return on_lacking(self.lacking)


def on_lacking(letters: str) -> tuple[str, ...]:
    """Return the note on letters that PDF pages show as codes, if there are any."""
    if not letters:
        return ()
    return (
        f"no font here can draw {of_each(list(letters))}: the PDF shows codes such as "
        f"U+{ord(letters[0]):04X} instead: install a font with these letters, such as Noto Sans "
        "CJK",
    )


def lacking_in(documents: Iterable[parts.Document]) -> str:
    """Return the letters of documents that no font here has, without drawing them."""
    ink = Ink()
    for document in documents:
        _sheet(document, ink)
    return "".join(sorted(ink.lacking))


def write_paper(documents: Sequence[parts.Document], report: Report | None = None) -> Paper:
    """Return documents as one PDF, each on new pages."""
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it logs messages on fonts
    ink = Ink()
    sheets = [_sheet(document, ink) for document in documents]
    return Paper(make_pdf(sheets, ink, report), "".join(sorted(ink.lacking)))


def _sheet(document: parts.Document, ink: Ink) -> Sheet:
    shown = in_language(document)
    names = [each.text for each in shown.parts if isinstance(each, parts.Field) and each.text]
    kinds = (parts.is_to_fill_in, parts.is_tile)
    is_blank, has_tiles = (any(map(each, shown.parts)) for each in kinds)
    spaces = SPACES if is_blank else (SPACES[0], *SPACES[-4:]) if has_tiles else SPACES[:1]
    named = [shown, with_numbers(shown) if len(spaces) > 1 else None]
    sizes = (
        (space.scale, list(_Paper(ink, document.language, space).document(each)))
        for each, space in product(filter(None, named), spaces)
    )
    return Sheet(shown.title, ", ".join(names), _on_few_pages(sizes, is_blank=is_blank))


def _on_few_pages(sizes: Iterable[tuple[float, list[Line]]], *, is_blank: bool) -> list[Line]:
    """Return the first of several sizes that takes few pages, or else that with the fewest.

    Letters are very small only if this makes few pages of more. A page without blanks, whose steps
    need no room below them, is one of one page if steps beside one another make it one.
    """
    found: dict[int, list[Line]] = {}
    for scale, lines in sizes:
        scaled_lines = [line.scaled(scale) for line in lines]
        count = len(broken(scaled_lines))
        if scale >= LEAST_OF_MANY or count <= MOST_SHEETS:
            found.setdefault(count, scaled_lines)
        if count == 1 or (count <= MOST_SHEETS and (is_blank or scale < 1 or len(found) > 1)):
            break
    return found[min(found)]


class _Paper(parts.DocumentWriter[Line]):
    def __init__(self, ink: Ink, language: str = ENGLISH, spaces: Spaces = SPACES[0]) -> None:
        self.ink, self.spaces, self.room = ink, spaces, ROOM / spaces.scale
        self.formulas, self.small = (Formulas(ink, size, language) for size in (SIZE, WORK))

    def is_beside(self, part: parts.Part) -> bool:
        """Return whether a part may be beside others like it, if there is little room."""
        return self.spaces.in_rows and parts.is_tile(part)

    def in_rows(self, sections: Sequence[parts.Section]) -> Iterator[Line]:
        """Yield steps, narrow ones side by side, on worksheets above the room for their work."""
        tiles = [self._tile(section) for section in sections]
        for first, end in blocks_of([tile.width for tile in tiles], self.room, BETWEEN):
            if end - first == 1:
                yield from self.section(sections[first])
                continue
            has_room = sections[first].has_room
            yield Line(placed(_hung(tiles[first:end])), 14.0, stays=has_room)
            if has_room:
                yield from self._room_below()

    def _tile(self, section: parts.Section) -> Box:
        """Return a step as one box; one that needs a line is as wide as it."""
        blocks = list(self._blocks(section.shown))
        said = [*section.remarks, *section.legend, *footnote(section, self.say)]
        if said or any(block.caption for block in blocks):
            return Box(self.room)
        matrices = beside([block.box for block in blocks], BETWEEN)
        title, equation = self._titled(section, matrices.width)
        return _stacked([*title, *equation, Line(matrices, 8.0)])

    def _room_below(self) -> Iterator[Line]:
        yield Line(self.ink.text(self.say("Work:"), SMALL), 6.0, stays=True)
        yield Line(Box(0, self.spaces.work))

    def title(self, text: str) -> Iterator[Line]:
        yield from self._said(text, TITLE, stays=True, room=self.room - BETWEEN - TALLEST_CODE)

    def heading(self, text: str) -> Iterator[Line]:
        yield from self._said(text, HEADING, space=14.0, stays=True)

    def listed(self, texts: Iterable[str]) -> Iterator[Line]:
        return self._listed(texts, self.room)

    def _listed(self, texts: Iterable[str], room: float) -> Iterator[Line]:
        for text in texts:
            lines = list(self.ink.wrapped(sentence(text), room - INDENT))
            for place, line in enumerate(lines):
                lead = self.ink.text("•") if not place else Box(0)
                box = placed([(2.0, 0.0, lead), (INDENT, 0.0, line)])
                yield Line(box, 3.0, stays=place < len(lines) - 1)

    def field(self, field: parts.Field) -> Iterator[Line]:
        label = self.ink.text(words := f"{capital(self.say(field.label))}: ")
        if field.text is None:
            yield Line(beside([label, rule(self.room - label.width, -2.0)]), 10.0)
            return
        svg, text = qr_code(field.code), f"{words}{field.text}"
        if svg is None:
            yield from self._said(text, space=6.0)
            return
        code = picture(svg, self.ink, self.room, TALLEST_CODE)
        first, *others = self._said(text, space=6.0, room=self.room - BETWEEN - code.width)
        both = placed([(0.0, 0.0, first.box), (self.room - code.width, -first.box.down, code)])
        # the code is beside the title, and takes no height
        yield first._replace(box=first.box._replace(marks=both.marks))
        yield from others

    def facts(self, facts: parts.Facts) -> Iterator[Line]:
        text = sentence("; ".join(facts.texts)).replace("√d_k", "√dₖ")
        yield from self._said(text, SMALL, space=6.0)

    def given(self, given: parts.Given) -> Iterator[Line]:
        yield from self.heading(self.say("Given"))
        yield from self._side_by_side(self._blocks(given.shown))

    def _blocks(self, grids: Iterable[parts.Grid]) -> Iterator[Block]:
        for grid in grids:
            empty = self.spaces.answer
            yield from matrix_blocks(grid, self.formulas, self.room, self.say, empty=empty)

    def _titled(self, section: parts.Section, room: float) -> tuple[list[Line], list[Line]]:
        """Return the title and the equation; with little room on a page, both on one line."""
        name = self.formulas.name(section.step.name)
        words = list(self.ink.wrapped(f": {section.said}", self.room - name.width, HEADING))
        title = [Line(beside([name, words[0]]), 14.0, stays=True)]
        title += [Line(line, 2.0, stays=True) for line in words[1:]]
        pieces = list(self.formulas.pieces(section.formula, self.room - 80))
        equation = list(self._flowed([name, self.formulas.sign("=")], pieces))
        if self.spaces.in_rows and len(title) == len(equation) == 1:
            both = beside([title[0].box, equation[0].box], BETWEEN)
            if both.width <= room:
                return [title[0]._replace(box=both)], []
        return title, equation

    def section(self, section: parts.Section) -> Iterator[Line]:
        title, equation = self._titled(section, self.room)
        shown = [*title, *self._result(section, list(self._blocks(section.shown)), equation)]
        below = [*self.legend(parts.Legend(section.legend))] if section.legend else []
        for text in (*footnote(section, self.say), *section.remarks):
            below += self._said(sentence(text), SMALL)
        shown[-1] = shown[-1]._replace(stays=bool(below))
        yield from [*shown, *_stay(below), *self._work(section)]

    def _result(
        self, section: parts.Section, blocks: Sequence[Block], lines: list[Line]
    ) -> Iterator[Line]:
        """Yield the equation and the matrix, on one line if they fit; on worksheets room for work.

        A matrix that leaves enough of the line has the room beside it.
        """
        if section.is_marked:
            yield from self._side_by_side(blocks)
            return
        label = self.ink.text(self.say("Work:"), SMALL) if section.has_room else Box(0)
        if not any(block.caption for block in blocks):
            block = beside([each.box for each in blocks], BETWEEN)
            wanted = block.width + (ROOM_BESIDE if section.has_room else 0.0)
            if len(blocks) == len(lines) == 1 and lines[0].box.width + wanted <= self.room:
                equals = [lines.pop().box, self.formulas.sign("="), blocks[0].bare]
                block = beside(equals)
            if wanted <= self.room:
                room = (block.width + BETWEEN, block.up - label.up, label)
                high = max(block.down, self.spaces.work - block.up) if section.has_room else 0.0
                yield from _stay(lines, to_next=True)
                yield Line(placed([(0.0, 0.0, block), room, (0.0, 0.0, Box(0, 0, high))]), 8.0)
                return
        yield from _stay(lines, to_next=bool(blocks))
        *rows, last = self._side_by_side(blocks)
        yield from [*rows, last._replace(stays=section.has_room)]
        if section.has_room:
            yield from self._room_below()

    def _work(self, section: parts.Section) -> Iterator[Line]:
        """Yield the work, with as many entries side by side as fit and divide a row."""
        each = [list(self._derived(line)) for line in section.lines]
        widest = max((line.box.width for found in each for line in found), default=self.room)
        count = int((self.room + BETWEEN) // (widest + BETWEEN))
        if any(len(found) > 1 for found in each) or count < 2:
            for place, found in enumerate(each):
                yield from _stay([found[0]._replace(space=4.0 if place else FIRST), *found[1:]])
            return
        of_row = len(next(by_rows(section.lines)))
        count = next(n for n in range(count, 0, -1) if of_row % n == 0 or n % of_row == 0)
        for start in range(0, len(each), count):
            row = [found[0].box for found in each[start : start + count]]
            at = [(self.room + BETWEEN) / count * place for place in range(count)]
            box = placed((x, 0.0, box) for x, box in zip(at, row, strict=False))
            yield Line(box, 4.0 if start else FIRST)

    def _derived(self, line: Derivation) -> Iterator[Line]:
        """Yield the work of one entry, broken between its terms."""
        first = [self.small.whole(line.entry)]
        boxes: list[Box] = []
        for form in line.forms:
            one, *more = self.small.pieces(form, self.room - 100)
            boxes += [beside([self.small.sign("="), one]), *more]
        result = self.small.whole(line.result)
        hidden = [self.ink.text(parts.DAGGER, Look(WORK))] if line.hidden else []
        sign = self.small.sign("=" if line.is_exact else "≈")
        boxes.append(beside([sign, result, *hidden]))
        if line.remark:
            boxes += self.ink.wrapped(f"  ({line.remark})", self.room - 100, Look(WORK))
        yield from self._flowed(first, boxes)

    def _flowed(self, first: Sequence[Box], rest: Sequence[Box]) -> Iterator[Line]:
        """Yield boxes on as many lines as they need; all but the first are indented."""
        line = [beside(first)]
        used = line[0].width
        for box in rest:
            if len(line) > 1 and used + box.width > self.room:
                yield Line(beside(line), 4.0, stays=True)
                line, used = [Box(INDENT)], INDENT
            line.append(box)
            used += box.width
        yield Line(beside(line), 4.0)

    def _side_by_side(self, blocks: Iterable[Block]) -> Iterator[Line]:
        """Yield matrices, as many on a line as fit it; parts of one under their captions."""
        row: list[Box] = []
        for block in blocks:
            if row and (block.caption or beside([*row, block.box], BETWEEN).width > self.room):
                yield Line(beside(row, BETWEEN), 8.0)
                row = []
            if block.caption:
                yield Line(self.ink.text(sentence(self.say(block.caption)), SMALL), 8.0, stays=True)
                yield Line(block.box, 4.0)
                continue
            row.append(block.box)
        if row:
            yield Line(beside(row, BETWEEN), 8.0)

    def legend(self, legend: parts.Legend) -> Iterator[Line]:
        keys = [f"{self.say(KEYS.get(key, key))} {means}" for key, means in legend.entries]
        yield from self._said("; ".join(keys) + ".", SMALL)

    def connections(self, connections: parts.Connections) -> Iterator[Line]:
        yield from self.heading(self.say(connections.title))
        if connections.is_blank:
            yield from _stay(self._said(sentence(self.say(RULE_OF_LINES))), to_next=True)
        heads = [
            list(self._head(Panel(connections, place, number, "", tuple(told), self.say)))
            for place, number, told in connections.shown
        ]
        if not connections.is_blank:
            lines = [line for head in heads for line in _stay(head)]
            fits = _stacked(lines).down <= TALLEST / self.spaces.scale
            yield from _stay(lines) if fits else lines
            return
        maps = [_stacked(lines) for lines in heads]
        for first, end in blocks_of([each.width for each in maps], self.room, BETWEEN):
            yield Line(placed(_hung(maps[first:end])), 8.0, shrinks=True)

    def _head(self, panel: Panel) -> Iterator[Line]:
        """Yield the sentences and the pictures of a head."""
        if panel.number:
            yield from self._said(self.say(f"Head {panel.number}"), Look(bold=True))
        told = [] if panel.connections.is_blank else panel.told
        drawn = list(self._pictures(panel))
        room = self.room - BETWEEN - SMALLEST_PICTURE * drawn[0].box.width
        if self.spaces.in_rows and told and len(drawn) == 1 and room >= ROOM_BESIDE:
            row = (_stacked(list(self._listed(told, room))), drawn[0].scaled(SMALLEST_PICTURE).box)
            drawn, told = [Line(placed(_hung(row)), 8.0, shrinks=True)], []
        yield from [*self.listed(told), *drawn]
        if drawn[0].shrinks and not panel.connections.is_blank:
            said = "Solid: the largest weight of an output; dashed: the second."
            yield from self._said(self.say(said), SMALL)

    def _pictures(self, panel: Panel) -> Iterator[Line]:
        """Yield the map of a head, and its heatmap beside it or below."""
        connections = panel.connections
        size = len(connections.inputs) * len(connections.outputs)
        if size > MOST_DRAWN or not (connections.is_blank or connections.attended):
            yield from self._said(self.say(TOO_MANY), SMALL)
            return
        drawn = [map_of(panel)]
        drawn += [] if connections.is_blank else [heatmap_of(panel)]
        boxes = [picture(svg, self.ink, self.room, TALLEST_PICTURE) for svg in drawn]
        row = placed(_hung(boxes))
        share = min(1.0, self.room / row.width)
        whole = [scaled(row, share)] if share >= SMALLEST_PICTURE else boxes
        yield from (Line(box, 8.0, shrinks=True) for box in whole)

    def verdict(self, verdict: parts.Verdict) -> Iterator[Line]:
        score = self.say(f"Score: {verdict.score} ({verdict.share})")
        yield from self._said(score, Look(bold=True))
        yield from self.listed(verdict.sentences)

    def table(self, table: parts.Table) -> Iterator[Line]:
        look = HEADING if self.is_titled else TITLE
        yield from self._said(table.title, look, stays=True)
        for told in table.told:
            yield from self._said(sentence("; ".join(told)))

    def sheet(self, sheet: parts.Sheet) -> Iterator[Line]:
        yield from self.heading(sheet.title)
        grid = sheet.grid._replace(name="", head=0)
        yield from self._side_by_side(matrix_blocks(grid, self.formulas, self.room, equals=" "))

    def _said(
        self,
        text: str,
        look: Look = PLAIN,
        *,
        space: float = 4.0,
        stays: bool = False,
        room: float | None = None,
    ) -> Iterator[Line]:
        for place, line in enumerate(self.ink.wrapped(text, room or self.room, look)):
            yield Line(line, space if not place else 2.0, stays)


def _hung(boxes: Sequence[Box]) -> Iterator[tuple[float, float, Box]]:
    """Yield pictures side by side, their tops level."""
    x, top = 0.0, max(box.up for box in boxes)
    for box in boxes:
        yield x, top - box.up, box
        x += box.width + BETWEEN


def _stacked(lines: Sequence[Line]) -> Box:
    """Return lines as one box, its top on the baseline."""
    places, y = [], lines[0].space
    for line in lines:
        y -= line.space + line.box.up
        places.append((0.0, y, line.box))
        y -= line.box.down
    return placed(places)


def _stay(lines: Iterable[Line], *, to_next: bool = False) -> Iterator[Line]:
    """Yield lines that stay on one page, and with the line after them if asked."""
    found = list(lines)
    for place, line in enumerate(found):
        yield line._replace(stays=to_next or place < len(found) - 1)
