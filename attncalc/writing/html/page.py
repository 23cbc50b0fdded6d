"""Documents as HTML pages that are complete without JavaScript, and the data of interactive pages.

A page loads nothing: it contains its style, and its policy allows only what it contains.

The structure that interactive pages rely on:

- A matrix is a `<table data-step="S">`, a given one `<table data-given="X">`; where there are
  several heads it has `data-head="1"`. A study's numbers have neither.
- An entry is a `<td id="S-1-2" data-row="1" data-column="2">`, from 1, as it is shown; of a head
  `id="S-h1-1-2"`; where a step is itself given, what is given has `id="given-S-1-2"`. Its class is
  `most` or `second`, with `<strong>` or `<em>` around its number; `empty` on a worksheet. `†`
  follows a number that is not 0 and shows as 0.
- The work of a step is a `<details class="work">` with a `<p data-of="S[1,2]">` for each entry;
  of a head it is `S[1,1,2]`.
- A step is a `<section class="step" id="step-S">` with its equation in `<div class="equation">`.
- Of the map, `<svg class="map" data-weights="A">`, each `<line data-output="3" data-input="1">`
  has its `<text>` with the same; of the heatmap, `<svg class="heatmap" data-weights="A">`, each
  cell is a `<g data-row="3" data-column="1">`. Of a head, either has `data-head="1"`.
- The sentences of what each output attends to are `<ul data-weights="A">`, with `data-head`, a
  `<li>` for each output; notes are `<ul id="notes">`, conventions `<ul id="conventions">`.
- Among several documents of one page, all names but the first's begin with `d2-`, `d3-` and so on.
"""

import base64
import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import count, product
from typing import NamedTuple

from attncalc.base.text import capital, shown_names
from attncalc.languages.catalogue import ENGLISH, catalogue
from attncalc.solving.work import Derivation
from attncalc.writing import document as parts
from attncalc.writing.document import DAGGER, LEFT_OUT, Cell, Grid
from attncalc.writing.html.elements import LINE, Html, element, id_of, joined
from attncalc.writing.html.mathml import MathMl, in_mathml, name_in_mathml
from attncalc.writing.html.pictures import Panel, heatmap_of, map_of
from attncalc.writing.html.qr import qr_code
from attncalc.writing.html.style import needed, style
from attncalc.writing.mathematics import in_text
from attncalc.writing.prose import footnote
from attncalc.writing.translated import formulas_in_language, in_language

MOST_WHOLE = 50_000
"""Entries of a static page above which the middle of large matrices is omitted."""
RANKS = {"most": ("strong", "bold"), "second": ("em", "slanted")}
TO_DRAW = (
    "For each output, draw a solid line to the input of its largest weight, and a dashed line to "
    "that of its second."
)
MOST_DRAWN = {"map": 2_000, "heatmap": 10_000}
"""Lines, and cells, of all pictures of a page."""
NOT_DRAWN = "the {} of {} is left out, because the page is full: attncalc plot draws it"


class Live(NamedTuple):
    """The data and the script of an interactive page."""

    problem: str
    script: str
    style: str = ""


def write_html(
    document: parts.Document,
    *,
    live: Live | None = None,
    unfolded: bool = False,
    compact: bool = False,
) -> str:
    """Return a document as a page of HTML."""
    title = document.title or next(
        (part.title for part in document.parts if isinstance(part, parts.Table)), "attncalc"
    )
    is_live = live is not None and bool(document.sections)
    whole = _as_whole_as_fits(in_language(document), is_sure=is_live)
    body = body_of(whole, unfolded=unfolded)
    look = style("attncalc.writing.html", "page.css") + (live.style if live else "")
    look = needed(look, f"{body} compact {live.script if live else ''}")
    scripts = [data_script(live.problem, "problem"), live.script] if live else []
    main = element("main", LINE, body, LINE)
    class_ = "compact" if compact else None
    allows = "img-src data:" if any(isinstance(p, parts.Scan) for p in whole.parts) else ""
    language, title = document.language, catalogue(document.language).say(title)
    return whole_page(title, main, look, scripts, class_=class_, allows=allows, language=language)


def body_of(document: parts.Document, *, unfolded: bool = False) -> Html:
    """Return the elements of a document, without a page around them."""
    return joined(_HtmlForm(unfolded=unfolded).document(document), LINE)


def data_script(json: str, name: str) -> Html:
    """Return JSON as an element that is not run; it contains no end of an element."""
    safe = json.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")
    return element("script", Html(safe), type="application/json", id=name)


def whole_page(
    title: str,
    body: Html,
    look: str,
    scripts: Sequence[Html | str],
    *,
    class_: str | None = None,
    allows: str = "",
    language: str = ENGLISH,
) -> str:
    """Return a page that loads and sends nothing: only content of the page is run.

    scripts: elements with data, and the texts of scripts.
    allows: what its policy allows besides, such as "img-src data:".
    """
    made = [each if isinstance(each, Html) else element("script", _own(each)) for each in scripts]
    runs = [_fingerprint(each) for each in scripts if not isinstance(each, Html)]
    policy = (
        "default-src 'none'",
        f"style-src {_fingerprint(look)}",
        *(f"script-src {each}" for each in runs),
        *filter(None, [allows]),
        "base-uri 'none'",
        "form-action 'none'",
    )
    head = (
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content="; ".join(policy)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="generator", content="attncalc"),
        element("title", title),
        element("style", _own(look)),
    )
    top = element("head", LINE, joined(head, LINE), LINE)
    rest = element("body", LINE, body, LINE, *made, class_=class_)
    page = element("html", LINE, top, LINE, rest, LINE, lang=language)
    return formulas_in_language(f"<!DOCTYPE html>\n{page}\n", language)


def _fingerprint(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _own(text: str) -> Html:
    """Return a style or a script of the package unchanged: nothing in it may end it."""
    assert "</" not in text
    return Html(text)


def _as_whole_as_fits(document: parts.Document, *, is_sure: bool = False) -> parts.Document:
    """Return a document with complete matrices, if no page becomes too large.

    An interactive page of a solution always fits: larger ones are static.
    """
    with_grids = (part for part in document.parts if isinstance(part, parts.WITH_GRIDS))
    grids = [grid for part in with_grids for grid in part.grids]
    if not is_sure and sum(len(grid.rows) * len(grid.columns) for grid in grids) > MOST_WHOLE:
        return document
    return replace(document, parts=tuple(map(_in_full, document.parts)))


def _in_full(part: parts.Part) -> parts.Part:
    if isinstance(part, parts.Given | parts.Section):
        return part._replace(grids=tuple(grid._replace(full=True) for grid in part.grids))
    if isinstance(part, parts.Sheet):
        return part._replace(grid=part.grid._replace(full=True))
    return part


class _HtmlForm(parts.DocumentWriter[Html]):
    def __init__(self, *, unfolded: bool) -> None:
        self.unfolded = unfolded
        self.level = 1
        self.prefix = ""
        self._numbers = count(2)
        self._counted = dict.fromkeys(MOST_DRAWN, 0.0)
        self._not_drawn: list[str] = []
        self._steps: set[str] = set()

    def document(self, document: parts.Document) -> Iterator[Html]:
        self._not_drawn, self._steps = [], {each.step.name for each in document.sections}
        yield from super().document(document)

    def title(self, text: str) -> Iterator[Html]:
        yield self._heading(0, text)

    def notes(self, document: parts.Document) -> Iterator[str]:
        yield from super().notes(document)
        yield from self._not_drawn

    def told(self, heading: str, texts: Iterable[str]) -> Iterator[Html]:
        listed = _bullets(texts, id=f"{self.prefix}notes")
        yield self._section(self.say(heading), listed, class_="notes")

    def field(self, field: parts.Field) -> Iterator[Html]:
        label = element("span", capital(self.say(f"{field.label}:")), class_="label")
        text = element("span", class_="line") if field.text is None else field.text
        yield element("p", qr_code(field.code) or "", label, " ", text, class_="field")

    def facts(self, facts: parts.Facts) -> Iterator[Html]:
        yield _bullets(facts.texts, id=f"{self.prefix}conventions", class_="facts")

    def listed(self, texts: Iterable[str]) -> Iterator[Html]:
        yield _bullets(texts)

    def given(self, given: parts.Given) -> Iterator[Html]:
        tables = []
        for grid in given.shown:  # a step may have the name of a given matrix, too
            prefix = f"{self.prefix}given-" if grid.name in self._steps else self.prefix
            tables.append(matrix_table(grid, self._caption(grid), prefix, given=True, say=self.say))
        yield self._section(self.say("Given"), _beside(tables), class_="given")

    def section(self, section: parts.Section) -> Iterator[Html]:
        name = section.step.name
        yield self._section(
            joined([in_mathml(name_in_mathml(name)), f": {section.said}"]),
            *self._of_section(section),
            class_="step roomy" if section.has_room else "step",
            id=f"{self.prefix}step-{name}",
        )

    def _of_section(self, section: parts.Section) -> Iterator[Html]:
        equation = [] if section.is_marked else [_equation(section, self.say)]
        captioned = ((grid, self._caption(grid)) for grid in section.shown)
        tables = (matrix_table(*each, self.prefix, say=self.say) for each in captioned)
        yield _beside([*equation, *tables])
        if section.legend:
            yield from self.legend(parts.Legend(section.legend))
        for text in (*footnote(section, self.say), *section.remarks):
            yield element("p", text, class_="remark")
        if section.lines:
            lines = joined(map(_line, section.lines), LINE)
            what = self.say(f"How {section.step.name} is calculated")
            summary, room = element("summary", what), {"role": "group", "tabindex": 0}
            shown = element("div", LINE, lines, LINE, class_="lines wide", aria_label=what, **room)
            yield element("details", summary, shown, class_="work", open=self.unfolded)
        if section.has_room:
            yield element("div", element("p", self.say("Work:")), class_="room")

    def legend(self, legend: parts.Legend) -> Iterator[Html]:
        ranks = {rank: element(name, self.say(look)) for rank, (name, look) in RANKS.items()}
        said = [joined([ranks.get(key, key), f" {means}"]) for key, means in legend.entries]
        yield element("p", joined(said, ", "), class_="legend")

    def connections(self, connections: parts.Connections) -> Iterator[Html]:
        kinds, heads = self._drawn(connections), list[Html]()
        for place, number, told in connections.shown:
            panel = Panel(connections, place, number, self.prefix, tuple(told), self.say)
            name = {"data_weights": connections.weights, "data_head": number or None}
            title = [self._heading(2, self.say(f"Head {number}"))] if number else []
            drawn = _beside(_figure(panel, kind) for kind in kinds)
            heads.append(element("div", *title, _bullets(told, **name), drawn, class_="head"))
        title_of_all = self.say(connections.title)
        yield self._section(title_of_all, _beside(heads, "heads"), class_="connections")

    def _drawn(self, connections: parts.Connections) -> list[str]:
        """Return which pictures of these weights the page has room for, and note which not."""
        if connections.is_blank:
            return ["map"]
        kinds = [kind for kind, most in MOST_DRAWN.items()
                 if self._count(connections, kind) <= most]  # fmt: skip
        self._not_drawn += [NOT_DRAWN.format(kind, connections.weights)
                            for kind in MOST_DRAWN if kind not in kinds]  # fmt: skip
        return kinds

    def _count(self, connections: parts.Connections, kind: str) -> float:
        """Return how many lines or cells the pictures of the page have, with these."""
        heads, outputs = len(connections.heads), len(connections.outputs)
        attended = connections.attended
        count: float = heads * outputs * len(connections.inputs)
        if attended is None:
            return math.inf
        if kind == "map" and heads * outputs <= MOST_DRAWN["map"]:
            rows = (attended(*place) for place in product(range(heads), range(outputs)))
            count = sum(len(row.most) + len(row.second) for row in rows)
        self._counted[kind] += count
        return self._counted[kind]

    def patterns(self, patterns: parts.Patterns) -> Iterator[Html]:
        yield self._section(
            self.say(parts.TITLE_OF_PATTERNS), _bullets(patterns.shown(self.say)), class_="patterns"
        )

    def verdict(self, verdict: parts.Verdict) -> Iterator[Html]:
        words = self.say(f"Score: {verdict.score} ({verdict.share})")
        score, _, share = words.partition(" (")
        yield element("p", element("strong", score), f" ({share}", class_="score")
        yield _bullets(verdict.sentences, class_="verdict")

    def table(self, table: parts.Table) -> Iterator[Html]:
        yield self._heading(int(self.is_titled), table.title)
        yield text_table(table.headings, table.rows, table.title)

    def sheet(self, sheet: parts.Sheet) -> Iterator[Html]:
        table = matrix_table(sheet.grid, sheet.title, self.prefix, is_step=False)
        yield self._section(sheet.title, table, class_="sheet")

    def scan(self, scan: parts.Scan) -> Iterator[Html]:
        source = f"data:image/png;base64,{base64.b64encode(scan.picture).decode()}"
        image = element("img", src=source, alt=self.say("Page of the answer"))
        read = element("pre", joined(scan.text.split("\n"), LINE))
        yield self._section(self.say("As read"), image, read, class_="scan")

    def appendix(self, appendix: parts.Appendix) -> Iterator[Html]:
        outer = self.level, self.prefix, self._not_drawn
        for document in appendix.documents:
            self.level, self.prefix = outer[0] + 1, f"d{next(self._numbers)}-"
            content = joined(self.document(_as_whole_as_fits(document)), LINE)
            yield element("article", content)
        self.level, self.prefix, self._not_drawn = outer

    def _caption(self, grid: parts.Grid) -> Html:
        name = in_mathml(name_in_mathml(grid.name))
        return joined([name, f", {grid.which}"]) if grid.head else name

    def _heading(self, below: int, text: object) -> Html:
        return element(f"h{self.level + below}", text)

    def _section(self, title: object, *content: Html, **attributes: str) -> Html:
        heading = self._heading(1, title)
        return element("section", LINE, joined([heading, *content], LINE), LINE, **attributes)


def _equation(section: parts.Section, say: Callable[[str], str]) -> Html:
    is_open = len(section.shown) == 1  # its matrix is next to it
    equals, name = element("mo", "="), name_in_mathml(section.step.name)
    end = [equals] if is_open else []
    equation = in_mathml(name, equals, MathMl().write(section.formula), *end)
    label = say(f"Equation of {section.step.name}")
    room = {"role": "group", "tabindex": 0, "aria_label": label}
    look = "equation wide" if is_open else "equation wide alone"
    return element("div", equation, class_=look, **room)


def _figure(panel: Panel, kind: str) -> Html:
    """Return the map of a head, or its heatmap, with a legend."""
    picture = map_of(panel) if kind == "map" else heatmap_of(panel)
    sides = ("Inputs", "outputs") if panel.connections.are_columns else ("Outputs", "inputs")
    said = f"{sides[0]} down, {sides[1]} across: darker cells have larger weights."
    if kind == "map":
        said = "Solid: the largest weight of an output; dashed: the second."
        said = TO_DRAW if panel.connections.is_blank else said
    room = {"role": "group", "tabindex": 0, "aria_label": panel.say("Picture")}
    shown = element("div", picture, class_="wide", **room)
    return element("figure", shown, element("figcaption", panel.say(said)))


def _bullets(texts: Iterable[str], **attributes: object) -> Html:
    return element("ul", *(element("li", text) for text in texts), **attributes)


def _beside(tables: Iterable[Html], name: str = "beside") -> Html:
    return element("div", LINE, joined(tables, LINE), LINE, class_=name)


def _line(line: Derivation) -> Html:
    writer = MathMl()
    equals, nearly = (in_mathml(element("mo", sign)) for sign in "=≈")
    pieces: list[object] = [in_mathml(writer.write(line.entry))]
    for form in line.forms:
        pieces += [equals, *map(in_mathml, writer.pieces(form))]
    result = in_mathml(writer.write(line.result))
    pieces += [equals if line.is_exact else nearly, result]
    shown = joined(pieces, " ")
    hidden = parts.DAGGER if line.hidden else ""
    remark = f" ({line.remark})" if line.remark else ""
    return element("p", shown, hidden, remark, data_of=in_text(line.entry))


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

    is_step: whether it is a matrix, and not numbers of a study.
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
    return _scrolling(joined([table, *cut]), grid.called if is_step else str(caption))


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
