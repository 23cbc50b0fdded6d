"""Slides for lectures: each idea of a calculation as a picture, in the digits of its work.

A step takes several slides: its equation, the work of one of its entries line by line, and the
whole matrix. The connections of each attention come last.
"""

import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from attncalc.base.latex_text import FONTS, in_latex
from attncalc.base.types import Place
from attncalc.equations.expressions import Indexed, Symbol
from attncalc.languages.catalogue import catalogue
from attncalc.solving.work import Derivation, Work
from attncalc.writing.document import DAGGER, Cell, Connections, Given, Grid, Part, Section
from attncalc.writing.html.elements import Html, element, joined
from attncalc.writing.html.page import whole_page
from attncalc.writing.html.pictures import Panel, at, map_of
from attncalc.writing.html.style import style
from attncalc.writing.latex import DOCUMENT_HEAD, FIRST_FONT, write_part
from attncalc.writing.live.script import SLIDES, script
from attncalc.writing.mathematics import in_text
from attncalc.writing.page import Page, given_grids
from attncalc.writing.prose import forms_in_text, plain_entry
from attncalc.writing.translated import part_in_language

WIDTH, HEIGHT = 960.0, 540.0
SIDE, TOP, MIDDLE = 40.0, 84.0, 330.0
"""The margin, where matrices begin, and where the lines of work begin."""
ROW, LETTER, PADDING, GAP = 28.0, 9.4, 18.0, 44.0
"""The height of a row, the width of a letter, and the room within cells and between matrices."""
LINE, LONGEST_LINE, MOST_LINES = 26.0, 92, 7
SECONDS = 2.0
"""How long an animated picture shows each slide."""
BAR = 320.0
LARGEST = 1.5
"""How much small matrices and maps are enlarged."""


class Slide(NamedTuple):
    """One idea.

    grids: the matrices that are read, and the result last.
    lit: the entries that the shown entry is calculated from.
    entry: the entry that is shown; None for the whole matrix.
    is_filled: whether the result is shown: the entry, or all of them.
    lines: the work of the entry, as far as it is shown.
    shares: names, sizes and digits of the weights of a row, drawn as bars.
    drawn: a map, in place of matrices.
    """

    title: str
    grids: tuple[Grid, ...] = ()
    lit: frozenset[Indexed] = frozenset()
    entry: Indexed | None = None
    is_filled: bool = False
    lines: tuple[str, ...] = ()
    shares: tuple[tuple[str, float, str], ...] = ()
    drawn: Html | None = None


def slides_of(page: Page, entries: Mapping[str, Sequence[Place]]) -> Iterator[Slide]:
    """Yield the slides of a page.

    entries: the entries whose work is shown, by step, with places as shown, from 0; by default the
        first one.
    """
    work, say = Work(page.solution, page.fractions), catalogue(page.language).say
    known: dict[str, tuple[Grid, ...]] = {}  # the matrices that are known so far
    given = part_in_language(Given(tuple(given_grids(work, full=True))), page.language)
    for grid in given.grids:
        known[grid.name] = (*known.get(grid.name, ()), grid)
    for part in _parts_of(page, entries):
        if isinstance(part, Section):
            known[part.step.name] = part.grids
            places = _places(page, part, entries)
            for place, line in zip(places, part.lines, strict=True):
                yield from _of_entry(work, part, place, line, known)
        elif isinstance(part, Connections):
            for number, sentences in part.heads:
                panel = Panel(part, max(0, number - 1), number, "", tuple(sentences), say)
                title = _title_of(part, number, say)
                yield Slide(title, lines=tuple(sentences), drawn=map_of(panel))


def _parts_of(page: Page, entries: Mapping[str, Sequence[Place]]) -> Iterator[Part]:
    """Yield the parts of a page in its language, each step with the work of its entries."""
    work = Work(page.solution, page.fractions)
    for part in page.parts:
        made: Part = part
        if isinstance(part, Section):
            name, places = part.step.name, _places(page, part, entries)
            made = part._replace(lines=tuple(work.line(name, work.turned(one)) for one in places))
        yield part_in_language(made, page.language)


def _places(
    page: Page, section: Section, entries: Mapping[str, Sequence[Place]]
) -> Sequence[Place]:
    """Return the entries of a step whose work is shown: by default the first one."""
    name = section.step.name
    return entries.get(name, [(0,) * len(page.solution.shape_of(name))])


def _title_of(part: Connections, head: int, say: Callable[[str], str]) -> str:
    return say(part.title) + (f", {say(f'head {head}')}" if head else "")


def _of_entry(
    work: Work, section: Section, place: Place, line: Derivation,
    known: Mapping[str, Sequence[Grid]],
) -> Iterator[Slide]:  # fmt: skip
    """Yield the equation of a step, the work of an entry line by line, and the whole matrix."""
    name, inner = section.step.name, work.turned(place)
    title = f"{in_text(Symbol(name))} = {in_text(section.formula)}"
    head = place[0] + 1 if len(place) > 2 else 0
    read = [_of_head(known[each], head) for each in section.step.inputs if each in known]
    result = _of_head(section.grids, head)
    grids = (*(each for each in read if each is not None), *([result] if result else []))
    lit = frozenset(work.entry(*each)._replace(exact=None) for each in work.reads(name, inner))
    entry = line.entry._replace(exact=None)
    yield Slide(title, grids)
    lines = lines_of(line)
    for count in range(2, len(lines)):
        yield Slide(title, grids, lit, entry, lines=tuple(lines[:count]))
    yield Slide(title, grids, lit, entry, True, tuple(lines))
    shares: list[tuple[str, float, str]] = []
    if result and section.step.role == "weights":
        texts = [_text(result.cell(place[-2], column)) for column in range(len(result.columns))]
        shares = [(x, _size(text), text) for x, text in zip(result.columns, texts, strict=True)]
    yield Slide(title, grids, is_filled=True, shares=tuple(shares))


def lines_of(line: Derivation) -> list[str]:
    """Return the lines of the work of an entry: itself, its forms, and its result."""
    *lines, result = forms_in_text(line)
    return [*lines, f"{result} ({line.remark})" if line.remark else result]


def _of_head(grids: Sequence[Grid], head: int) -> Grid | None:
    """Return the grid of a head, or of the group of heads that it belongs to."""
    return next((each for each in grids if each.head == head), grids[0] if grids else None)


def _size(text: str) -> float:
    plain = text.rstrip(DAGGER).replace("∞", "").replace(",", ".")
    above, _, below = plain.partition("/")
    try:
        return min(1.0, abs(float(above) / float(below or 1)))
    except (ValueError, ZeroDivisionError):
        return 0.0


def _text(cell: Cell) -> str:
    return plain_entry(cell) + (DAGGER if cell.hidden else "")


# ------------------------------------------------------------------ pictures


def _content(slide: Slide, number: int, of: int) -> Html:
    inner = [element("text", slide.title, x=at(SIDE), y=46, class_="heading")]
    inner.append(element("text", f"{number} / {of}", x=at(WIDTH - SIDE), y=46, class_="count"))
    if slide.drawn is not None:
        own = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', slide.drawn)
        assert own is not None
        scale = min(LARGEST, WIDTH / 2 / float(own[1]), (HEIGHT - TOP - 20) / float(own[2]))
        moved = f"translate({at(SIDE)} {at(TOP)}) scale({scale:.3f})"
        inner.append(element("g", slide.drawn, transform=moved))
        inner += _written(slide.lines, WIDTH / 2 + SIDE, TOP + 40, LONGEST_LINE // 2)
    else:
        inner += [_matrices(slide), *_written(slide.lines, SIDE, MIDDLE, LONGEST_LINE)]
        inner += _bars(slide.shares)
    return joined(inner)


def _written(lines: Sequence[str], x: float, y: float, longest: int) -> Iterator[Html]:
    """Yield lines, broken where they are too long."""
    wrapped = (textwrap.wrap(line, longest, subsequent_indent="   ") or [""] for line in lines)
    broken = [part for parts in wrapped for part in parts]
    if len(broken) > MOST_LINES:
        broken = [*broken[: MOST_LINES - 2], "…", broken[-1]]
    for place, line in enumerate(broken):
        last = " result" if place == len(broken) - 1 and line.startswith(("=", "≈")) else ""
        yield element("text", line, x=at(x), y=at(y + LINE * place), class_=f"work{last}")


def _matrices(slide: Slide) -> Html:
    """Return the matrices side by side, made smaller where they are too large."""
    drawn = [_matrix(slide, grid, grid is slide.grids[-1]) for grid in slide.grids]
    lefts = [0.0, *accumulate(width + GAP for _, width, _ in drawn)]
    height = max((high for _, _, high in drawn), default=1.0)
    room = (WIDTH - 2 * SIDE) / max(1.0, lefts[-1] - GAP), (MIDDLE - TOP - 40) / height
    scale = min(LARGEST, *room)
    inner = [
        element("g", each, transform=f"translate({at(left)} 0)")
        for (each, _, _), left in zip(drawn, lefts, strict=False)
    ]
    moved = f"translate({at(SIDE)} {at(TOP)}) scale({scale:.3f})"
    return element("g", joined(inner), transform=moved)


def _matrix(slide: Slide, grid: Grid, is_result: bool) -> tuple[Html, float, float]:
    columns, rows = grid.column_places, grid.row_places
    cells = grid.cells()
    texts = [["…" if cell is None else _text(cell) for cell in row] for row in cells]
    beside = ["" if i is None else grid.rows[i] for i in rows]
    above = ["" if j is None else grid.columns[j] for j in columns]
    left = LETTER * max(map(len, beside)) + PADDING / 2
    by_column = zip(above, *texts, strict=True)
    widths = [LETTER * max(map(len, column)) + PADDING for column in by_column]
    starts = [left, *accumulate(widths, initial=left)][1:]
    found = [element("text", ("→ " if is_result else "") + grid.called, x=0, y=14, class_="name")]
    for title, x, width in zip(above, starts, widths, strict=False):
        found.append(element("text", title, x=at(x + width / 2), y=38, class_="label middle"))
    for down, i in enumerate(rows):
        y = 46 + ROW * down
        name = element("text", beside[down], x=at(left - 6), y=at(y + 19), class_="label end")
        found.append(name)
        for k, j in enumerate(columns):
            here = None if i is None or j is None else grid.entry(i, j)
            is_own, is_lit = is_result and here == slide.entry, here in slide.lit
            kind = "cell own" if is_own and here else "cell lit" if is_lit and here else "cell"
            box = {"x": at(starts[k]), "y": at(y), "width": at(widths[k]), "height": at(ROW)}
            found.append(element("rect", **box, class_=kind))
            is_shown = not is_result or (slide.is_filled and (slide.entry is None or is_own))
            cell = cells[down][k]
            rank = f" {cell.rank}" if cell and cell.rank and slide.entry is None else ""
            if is_shown:
                right = at(starts[k] + widths[k] - 8)
                text = texts[down][k]
                found.append(element("text", text, x=right, y=at(y + 19), class_=f"end{rank}"))
    return element("g", joined(found)), starts[len(columns)], 50 + ROW * len(rows)


def _bars(shares: Sequence[tuple[str, float, str]]) -> Iterator[Html]:
    pitch = min(LINE, (HEIGHT - MIDDLE - 10) / max(1, len(shares)))
    for place, (name, size, text) in enumerate(shares):
        y = MIDDLE - 10 + pitch * place
        yield element("text", name, x=at(SIDE + 110), y=at(y + pitch * 0.6), class_="label end")
        box = {"x": at(SIDE + 120), "y": at(y), "height": at(pitch * 0.7)}
        yield element("rect", **box, width=at(BAR), class_="track")
        yield element("rect", **box, width=at(BAR * size), class_="bar")
        yield element("text", text, x=at(SIDE + 130 + BAR), y=at(y + pitch * 0.6))


def _look() -> str:
    return style("attncalc.writing.html", "slides.css")


def files_of(slides: Sequence[Slide]) -> Iterator[str]:
    """Yield each slide as the text of an SVG file."""
    for number, slide in enumerate(slides, start=1):
        drawn = element("style", Html(_look())), _content(slide, number, len(slides))
        yield f"{_svg(joined(drawn), width=at(WIDTH), height=at(HEIGHT))}\n"


def _svg(inner: Html, **attributes: str) -> Html:
    size = {"class_": "slide", "viewBox": f"0 0 {at(WIDTH)} {at(HEIGHT)}"}
    return element("svg", inner, xmlns="http://www.w3.org/2000/svg", **size, **attributes)


def animated(slides: Sequence[Slide]) -> str:
    """Return one SVG file that shows each slide for two seconds, again and again."""
    count = len(slides)
    found = [element("style", Html(_look()))]
    for place, slide in enumerate(slides):
        times = [0.0, place / count, (place + 1) / count]
        shown = ["hidden", "visible", "hidden"] if place else ["visible", "visible", "hidden"]
        change = element(
            "animate", attributeName="visibility", values=";".join(shown), calcMode="discrete",
            keyTimes=";".join(f"{time:.5f}" for time in times), dur=f"{SECONDS * count:g}s",
            repeatCount="indefinite",
        )  # fmt: skip
        inner = _content(slide, place + 1, count)
        found.append(element("g", change, inner, visibility="hidden" if place else "visible"))
    return f"{_svg(joined(found), width=at(WIDTH), height=at(HEIGHT))}\n"


def deck(slides: Sequence[Slide], page: Page) -> str:
    """Return a page of HTML that shows one slide at a time, for keys and presenters."""
    pictures = [
        _svg(_content(slide, number, len(slides)), role="img",
             aria_label=" ".join([slide.title, *slide.lines]))
        for number, slide in enumerate(slides, start=1)
    ]  # fmt: skip
    body = element("main", joined(element("section", each) for each in pictures), id="slides")
    title = catalogue(page.language).say(page.title or "attncalc")
    scripts = [script(SLIDES)]
    return whole_page(title, body, _look(), scripts, class_="deck", language=page.language)


# ------------------------------------------------------------------ LaTeX

_BEAMER = r"""\documentclass[10pt,aspectratio=169]{beamer}
\usefonttheme{serif}
\setbeamertemplate{navigation symbols}{}
\setbeamertemplate{frametitle continuation}{}
\setbeamertemplate{footline}[frame number]
\usepackage{tikz}
"""


def beamer(page: Page, entries: Mapping[str, Sequence[Place]]) -> str:
    """Return slides for LaTeX's beamer: for each step its matrix, and the work of an entry."""
    say, found = catalogue(page.language).say, [_BEAMER, FONTS, DOCUMENT_HEAD]
    found += FIRST_FONT.get(page.language, [])
    if page.title:
        title = in_latex(say(page.title))
        found.append(rf"\begin{{frame}}\centering\Large {title}\end{{frame}}")
    for part in _parts_of(page, entries):
        found += _frame(part, page.language)
        if isinstance(part, Connections):
            found += _maps(part, say)
    return "\n".join([*found, r"\end{document}", ""])


def _frame(part: Part, language: str) -> Iterator[str]:
    heading, *lines = write_part(part, language)
    title = heading.partition("*")[2] if heading.startswith(r"\subsection*") else "{}"
    if title == "{}":
        lines = [heading, *lines]
    yield rf"\begin{{frame}}[allowframebreaks]{{{title[1:-1]}}}"
    for line in lines:
        yield rf"\medskip{line}" if line.startswith("{") else line
    yield r"\end{frame}"


def _maps(part: Connections, say: Callable[[str], str]) -> Iterator[str]:
    """Yield a map of each head, drawn with TikZ."""
    if part.attended is None:
        return
    for number, _ in part.heads:
        title = _title_of(part, number, say)
        rows = max(len(part.inputs), len(part.outputs))
        pitch = min(0.9, 6.0 / rows)
        yield rf"\begin{{frame}}{{{in_latex(title)}}}\centering\begin{{tikzpicture}}"
        for names, x, side in ((part.inputs, 0, "left"), (part.outputs, 5, "right")):
            for place, name in enumerate(names):
                where = f"({x},{-pitch * place:.2f})"
                yield rf"\fill {where} circle (2pt) node[{side}=3pt] {{{in_latex(name)}}};"
        for output in range(len(part.outputs)):
            row = part.attended(max(0, number - 1), output)
            for look, places in (("thick", row.most), ("dashed", row.second)):
                for each in places:
                    to = f"(0,{-pitch * each:.2f}) -- (5,{-pitch * output:.2f})"
                    text = row.texts[each].replace(",", "{,}")
                    digits = rf"node[pos=.8,fill=white,inner sep=1pt] {{\tiny ${text}$}}"
                    yield rf"\draw[{look}] {to} {digits};"
        yield r"\end{tikzpicture}\end{frame}"
