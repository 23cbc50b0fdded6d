r"""A document as LaTeX: a body to \input into a document with amsmath, or a complete document.

No line is wider than the narrowest of LaTeX's own pages: wide matrices are in blocks of columns,
long sums are broken. The widths are those of Computer Modern at 10 points, rounded up.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import accumulate, product
from math import ceil
from typing import NamedTuple

from attncalc.base.latex_text import FONTS, LETTERS, in_latex
from attncalc.base.text import capital
from attncalc.languages.catalogue import catalogue
from attncalc.writing import document as parts
from attncalc.writing import latex_layout as layout
from attncalc.writing.document import blocks_of
from attncalc.writing.html.qr import in_rules
from attncalc.writing.latex_math import in_tex, name_in_tex
from attncalc.writing.numbering import with_numbers
from attncalc.writing.prose import MOST_NAMED, more_than_named, sentence
from attncalc.writing.translated import formulas_in_language, in_language

LINES_TOGETHER = 40
"""Entries that are aligned with one another: TeX keeps such a block in its memory."""

_DOCUMENT = r"""\documentclass[10pt]{article}
\usepackage{amsmath}
\usepackage{graphicx}
\usepackage[a4paper,margin=2cm]{geometry}
\setlength{\parindent}{0pt}
\setlength{\parskip}{0.4em}
\makeatletter
\renewcommand{\subsection}%
  {\@startsection{subsection}{2}{0pt}{1.5ex plus 1ex}{.2ex}{\large\bfseries}}
\def\ps@attncalc{%
  \def\@oddhead{\smash{\parbox[b]{\textwidth}{\raggedleft\small\attncalcname}}}%
  \def\@oddfoot{\hfil\thepage\hfil}}
\makeatother
\pagestyle{attncalc}
"""
FIRST_FONT = {"ja": [r"\let\attncalcfirst\attncalcja"]}
"""Which font has most letters, where it is not the Chinese one."""
_SKIPS = r"\setlength{\abovedisplayskip}{-0.6\baselineskip}\setlength{\belowdisplayskip}{2pt}"
"""Each display begins a paragraph here, whose empty first line is room enough."""
_HEAD = (
    LETTERS,
    # sloppy, for names and sentences of any length; the rest is measured
    r"\begingroup\allowdisplaybreaks\sloppy\setcounter{MaxMatrixCols}{64}",
    r"\providecommand{\lt}{<}\providecommand{\gt}{>}",
    _SKIPS,
)
DOCUMENT_HEAD = "\n".join([r"\usepackage{amsmath}", r"\begin{document}", *_HEAD])
_WORK = rf"\small{_SKIPS}\setlength{{\jot}}{{1pt}}"
MOST_DOTS = 16
"""Rows of dots, and two for the space of each head, that fit on a page."""
MOST_BESIDE_A_MAP = 20
"""Sentences, about a line each, that fit on a page with the map."""
_BREAK = r"\addpenalty{-300}"
"""A page ends before a step, as before any heading."""
_STARTS = r"\subsection*", rf"\par{_BREAK}"
"""The starts of a step, and of several beside one another."""
SURELY_TWO = 1.15
"""From which share of a page its estimated height is surely more than one."""
SIZE_OF_TITLE = 1.4
"""How wide the bold letters of titles are, relative to others."""
MAP, MAPS_BESIDE = (90, 250, 340), ((65, 170, 225), (110, 225, 338))
"""The columns and the width of an empty map; and of those that may be beside others."""
ROOM_BESIDE = 150.0
"""The least width of the room for work beside a matrix, in points."""
SMALL = 0.9
"""How wide small letters are, relative to those of the page."""
RULE_OF_LINES = (
    "for each output, draw a solid line to the input of its largest weight, "
    "and a dashed line to that of its second"
)
PAGE = 702.0
"""Points of a page, less some for its end."""
_PICTURE = re.compile(r"\\begin\{picture\}\((\d+),(\d+)\)")
_ROW = r" \\"
_SPACE = re.compile(r"\\vspace\{(\d+)pt")
_FOREIGN = re.compile(r"[^\x00-\x7f]")
"""A letter in the words of an equation."""
KEYS = {"most": "Bold:", "second": "underlined:"}


def write_latex(
    document: parts.Document, *, standalone: bool = False, picture: str | None = None
) -> str:
    """Return a document as LaTeX: complete (`standalone`, with a picture of the map), or a body."""
    if standalone:
        return "".join(write_together([write_sheet(document, picture=picture)]))
    body = _body(document, picture, layout.LINE)
    return f"% \\input this into a document with \\usepackage{{amsmath}}\n{body}"


def write_sheet(document: parts.Document, *, picture: str | None = None) -> str:
    """Return one of the documents that `write_together` puts into one file."""
    return _body(document, picture, layout.LINE_OF_OWN)


def write_part(part: parts.Part, language: str) -> Iterator[str]:
    """Yield the lines of one part, its heading first, for documents with `DOCUMENT_HEAD`."""
    writer = _Latex(None, layout.LINE)
    writer.words = catalogue(language)
    return writer.write(part)


def write_together(sheets: Iterable[str]) -> Iterator[str]:
    """Yield a complete file with several documents, each on a new sheet, to print on both sides."""
    yield f"{_DOCUMENT}{FONTS}\n\\begin{{document}}\n"
    for place, sheet in enumerate(sheets):
        if place:
            yield f"{_NEW_SHEET}\\setcounter{{page}}{{1}}\n"
        yield sheet
    yield "\\end{document}\n"


class _Fit(NamedTuple):
    """A size of letters: its commands, and its height and width as shares of the usual ones.

    work: the room for work, as a share of the usual one.
    blank: which blanks are to be filled in.
    """

    commands: str = ""
    height: float = 1.0
    width: float = 1.0
    work: float = 1.0
    blank: int = 0


_NEW_SHEET = r"\clearpage\ifodd\value{page}\else\null\thispagestyle{empty}\clearpage\fi"
LEAST = 0.8
"""The smallest letters, as a share of the usual ones, of one page and of more than three."""
_SMALLER = r"\let\Large\large\let\large\normalsize\let\normalsize"
_FITS = (
    _Fit(),
    _Fit(work=0.5),
    _Fit(rf"{_SMALLER}\small\let\small\footnotesize\normalsize", 0.9, 0.93, 0.5, 1),
    _Fit(rf"{_SMALLER}\footnotesize\let\small\scriptsize\normalsize", 0.8, 0.86, 0.3, 1),
    _Fit(rf"{_SMALLER}\scriptsize\let\small\scriptsize\normalsize", 0.7, 0.8, 0.2, 1),
    _Fit(rf"{_SMALLER}\scriptsize\let\small\scriptsize\normalsize", 0.7, 0.8, 0.0, 2),
)


def _body(document: parts.Document, picture: str | None, room: float) -> str:
    shown = in_language(document)
    is_short = room == layout.LINE_OF_OWN and all(map(parts.is_tile, shown.sections))
    documents = [shown, *filter(None, [with_numbers(shown) if is_short else None])]

    @cache
    def made(place: int, fit: _Fit) -> list[str]:
        return list(_Latex(picture, room / fit.width, fit).document(documents[place]))

    def pages(way: tuple[int, _Fit]) -> int:
        return ceil(sum(_heights(made(*way), way[1])) / PAGE)

    way, is_blank = (0, _FITS[0]), any(map(parts.is_to_fill_in, shown.parts))
    if is_short:  # names are in the way before letters are tiny
        ways = sorted(product(range(len(documents)), _FITS), key=lambda way: way[1].height < LEAST)
        large = [way for way in ways if way[1].height >= LEAST and way[0] == 0]
        tried = ((1, [] if is_blank else large), (2, ways), (3, ways))
        few = (way for most, listed in tried for way in listed if pages(way) <= most)
        way = next(few, None) or min((way for way in ways if way[1].height >= LEAST), key=pages)
    written, fit = made(*way), way[1]
    if is_short and is_blank:
        written = _balanced(written, fit)
    smaller = rf"{fit.commands}\setlength{{\arraycolsep}}{{{5 * fit.width:.1f}pt}}{_SKIPS}"
    size = [smaller] if fit.commands else []
    first = FIRST_FONT.get(document.language, [])
    named = [_on_later_pages(shown)] if room == layout.LINE_OF_OWN else []
    whole = "\n".join([*named, *_HEAD, *first, *size, *written, r"\endgroup", ""])
    return formulas_in_language(whole, document.language, form=in_latex)


def _on_later_pages(document: parts.Document) -> str:
    """Return what puts the name on a document at the head of all its pages but the first."""
    names = (each.text for each in document.parts if isinstance(each, parts.Field) and each.text)
    return rf"\thispagestyle{{plain}}\gdef\attncalcname{{{in_latex(', '.join(names))}}}"


class _Latex(parts.DocumentWriter[str]):
    hint = ""

    def __init__(self, picture: str | None, room: float, fit: _Fit = _FITS[0]) -> None:
        self.picture = picture
        self.room, self.fit = room, fit

    def is_beside(self, part: parts.Part) -> bool:
        """Return whether a part may be beside others like it: with small letters, also of a key."""
        return parts.is_tile(part) if self.fit.commands else super().is_beside(part)

    def in_rows(self, sections: Sequence[parts.Section]) -> Iterator[str]:
        """Yield steps to fill in, narrow ones side by side above the room for their work."""
        tiles = [self._tile(section) for section in sections]
        for first, end in blocks_of([width for width, _ in tiles], self.room, layout.BETWEEN):
            if end - first == 1:
                yield from self.section(sections[first])
                continue
            boxes = f"\\hspace{{{layout.BETWEEN}pt}}%\n".join(tile for _, tile in tiles[first:end])
            yield rf"\par{_BREAK}\bigskip\noindent {boxes}\par"
            if sections[first].has_room:
                yield rf"\nopagebreak\noindent {self._work_label}\par{self._room(sections[first])}"

    @property
    def _work_label(self) -> str:
        return rf"{{\small {in_latex(self.say('Work:'))}}}"

    def _room(self, section: parts.Section) -> str:
        """Return the room for work: less beside many rows, and all that a page has."""
        rows = sum(len(grid.rows) for grid in section.shown)
        return rf"\vspace{{{max(4, self.fit.work * (60 - 9 * rows)):.0f}pt plus 1fill}}"

    def _tile(self, section: parts.Section) -> tuple[float, str]:
        """Return a step as a box, after its width; one that needs a line is as wide as it."""
        blocks = list(self._blocks(section.shown))
        title, (name, equation) = in_latex(capital(section.said)), _equation(section)
        wide = layout.set_width(f"{name} = {equation}")
        widths = [SIZE_OF_TITLE * layout.text_width(title), wide]
        between = (len(blocks) - 1) * layout.BETWEEN  # and as much again for signs of equality
        widths.append(sum(block.width for block in blocks) + 2 * between)
        columns = layout.columns_of(blocks)
        if section.remarks or section.legend or section.hidden or columns is None:
            return self.room, ""
        matrices = _beside(blocks)
        head = rf"{{\large\bfseries {title}}}\par{layout.paragraph(f'{name} = {equation}')}"
        head += _columns(columns)
        lines, width = rf"{head}\smallskip\({matrices}\)", max(widths)
        wide = width * self.fit.width
        return width, rf"\begin{{minipage}}[t]{{{wide:.0f}pt}}{lines}\end{{minipage}}"

    def title(self, text: str) -> Iterator[str]:
        yield rf"\section*{{{in_latex(text)}}}"

    def heading(self, text: str) -> Iterator[str]:
        yield rf"\subsection*{{{in_latex(text)}}}"

    def listed(self, texts: Iterable[str]) -> Iterator[str]:
        yield from map(_said, texts)

    def field(self, field: parts.Field) -> Iterator[str]:
        text = r"\hrulefill" if field.text is None else in_latex(field.text)
        label = in_latex(capital(self.say(f"{field.label}:")))
        yield rf"\noindent {label} {text}{in_rules(field.code)}"

    def facts(self, facts: parts.Facts) -> Iterator[str]:
        yield _said("; ".join(facts.texts))

    def given(self, given: parts.Given) -> Iterator[str]:
        yield from self.heading(self.say("Given"))
        yield from self._displayed(self._blocks(given.shown))

    def _blocks(self, grids: Iterable[parts.Grid]) -> Iterator[layout.MatrixBlock]:
        for grid in grids:
            yield from layout.matrix_blocks(
                grid, self.room, self.say, layout.BLANKS[self.fit.blank]
            )

    def _displayed(self, blocks: Iterable[layout.MatrixBlock], first: str = "") -> Iterator[str]:
        lines = list(layout.side_by_side(blocks, self.room))
        return layout.displayed(lines, self.room, first)

    def section(self, section: parts.Section) -> Iterator[str]:
        name, title = name_in_tex(section.step.name), in_latex(capital(section.said))
        which = rf"\({name}\): " if section.is_marked else ""
        yield rf"\subsection*{{{which}{title}}}"
        yield from self._result(section, " = ".join(_equation(section)))
        if section.legend:
            yield from self.legend(parts.Legend(section.legend))
        if found := section.hidden:
            both = ((in_tex(entry), in_tex(value)) for entry, value in found[:MOST_NAMED])
            values = [rf"\({entry} = {value}\)" for entry, value in both]
            said = "; ".join([*values, *map(self.say, more_than_named(found))])
            yield rf"\noindent \textdagger{{}} {in_latex(self.say('not zero'))}: {said}.\par"
        yield from map(_said, section.remarks)
        for lines in layout.by_rows(section.lines, at_least=LINES_TOGETHER):
            yield rf"{{{_WORK}\begin{{align*}}"  # small, as many entries side by side as fit
            yield " \\\\\n".join(layout.in_columns(lines, self.room / SMALL))
            yield r"\end{align*}\par}"

    def _result(self, section: parts.Section, equation: str) -> Iterator[str]:
        """Yield the equation and the matrix on one line, or the matrices below it.

        On a worksheet, a matrix that leaves enough of the line has the room for work beside it.
        """
        room, blocks = self.room, list(self._blocks(section.shown))
        if section.is_marked:
            yield from self._displayed(blocks)
        elif section.has_room:
            yield from self._with_room(section, equation, blocks)
        elif len(blocks) == 1 and layout.fits_beside(equation, blocks[0], room):
            yield from layout.displayed([f"{equation} = {blocks[0].matrix}"], room)
        else:
            lines = list(layout.side_by_side(blocks, room, first=equation))
            if len(lines) == 1:
                yield from layout.displayed(lines, room)
            else:  # only the equation, and the heads side by side
                yield from self._displayed(blocks, equation)

    def _with_room(
        self, section: parts.Section, equation: str, blocks: Sequence[layout.MatrixBlock]
    ) -> Iterator[str]:
        """Yield a matrix to fill in with the room for work: beside it, or below if it is wide."""
        label, room = self._work_label, self.room - ROOM_BESIDE
        width = sum(block.width + layout.BETWEEN for block in blocks) - layout.BETWEEN
        columns = layout.columns_of(blocks)
        if width > room or columns is None:
            yield from self._displayed(blocks, equation)
            yield rf"\noindent {label}\par{self._room(section)}"
            return
        matrices = _beside(blocks)
        if len(blocks) == 1 and layout.fits_beside(equation, blocks[0], room):
            matrices = f"{equation} = {blocks[0].matrix}"
        else:
            yield layout.paragraph(equation) + _columns(columns)
        rise = rf"\raisebox{{{0.75 * len(section.shown[0].rows):.1f}em}}{{{label}}}"
        matrix = rf"\(\displaystyle {matrices}\)"
        yield rf"\noindent {matrix}\hspace{{2em}}\smash{{{rise}}}\par{self._room(section)}"

    def legend(self, legend: parts.Legend) -> Iterator[str]:
        keys = (f"{self.say(KEYS.get(key, key))} {means}" for key, means in legend.entries)
        yield rf"\noindent {'; '.join(map(in_latex, keys))}.\par"

    def connections(self, connections: parts.Connections) -> Iterator[str]:
        lines = [rf"\subsection*{{{in_latex(self.say(connections.title))}}}"]
        if connections.is_blank:  # paper is drawn on
            titles = [f"Head {head}" if head else "" for head, _ in connections.heads]
            names = [*connections.inputs, *connections.outputs]
            longest = max(len(connections.inputs), len(connections.outputs))
            wide, beside = self._wide_map(names) if len(titles) > 1 else (MAP, 1)
            maps = [_empty_map(connections, each, self.say, wide) for each in titles]
            count = max(1, MOST_DOTS // (longest + 2)) * beside
            whole = [*lines, _said(self.say(RULE_OF_LINES)), self._centered(maps[:count], beside)]
            yield _on_one_page(whole)  # a page ends before the last steps, not between
            yield from (self._centered([each]) for each in maps[count:])
            return
        for _, head, sentences in connections.shown:
            if head:
                lines.append(rf"\noindent\textbf{{{in_latex(self.say(f'Head {head}'))}}}\par")
            lines += map(_said, sentences)
        if not self.picture:
            yield from lines
            return
        is_short = len(lines) <= MOST_BESIDE_A_MAP
        height = rf"height={self.fit.height * (0.5 if is_short else 0.7):.2g}\textheight"
        size = rf"width=0.8\linewidth,{height},keepaspectratio"
        picture = rf"\includegraphics[{size}]{{{self.picture}}}"
        lines.append(rf"\begin{{center}}{picture}\end{{center}}")
        yield from [_on_one_page(lines)] if is_short else lines

    def _wide_map(self, names: Sequence[str]) -> tuple[tuple[int, int, int], int]:
        """Return where the columns of empty maps are, and how many are side by side."""
        longest = self.fit.width * max(map(layout.text_width, names)) / self.fit.height
        for left, right, width in MAPS_BESIDE if self.room > layout.LINE else ():
            beside = _beside_maps(width, self.fit.height)
            if beside > 1 and longest <= min(left, width - right) - 10:
                return (left, right, width), beside
        return MAP, 1

    def _centered(self, pictures: Sequence[str], beside: int = 1) -> str:
        begin = rf"\begin{{center}}\setlength{{\unitlength}}{{{self.fit.height:g}pt}}"
        whole = ("\n" if beside > 1 else "\n\n").join(pictures)
        return f"{begin}\n{whole}\n\\end{{center}}"

    def verdict(self, verdict: parts.Verdict) -> Iterator[str]:
        score = in_latex(self.say(f"Score: {verdict.score} ({verdict.share})"))
        yield rf"\noindent\textbf{{{score}}}\par"
        yield from map(_said, verdict.sentences)

    def table(self, table: parts.Table) -> Iterator[str]:
        yield rf"\{'sub' if self.is_titled else ''}section*{{{in_latex(table.title)}}}"
        yield from (_said("; ".join(told)) for told in table.told)

    def sheet(self, sheet: parts.Sheet) -> Iterator[str]:
        yield from self.heading(capital(sheet.title))
        yield from layout.tabulars(sheet.grid, self.room)


def _balanced(written: Sequence[str], fit: _Fit) -> list[str]:
    """Return the lines of a worksheet of two pages with about as much on each of them.

    The room for work fills a page, which would be most of a page with a single step.
    """
    heights = _heights(written, fit)
    total, above = sum(heights), [*accumulate(heights, initial=0.0)]
    fuller = {  # the height of the fuller page, by the first step of the second one
        place: max(above[place], total - above[place])
        for place, line in enumerate(written)
        if line.startswith(_STARTS)
    }
    middle = min(fuller, key=lambda place: fuller[place], default=0)
    if total < SURELY_TWO * PAGE or fuller.get(middle, total) > PAGE:
        return [*written]
    return [*written[:middle], r"\pagebreak", *written[middle:]]


def _heights(written: Iterable[str], fit: _Fit) -> list[float]:
    """Return about how many points each part of a page takes."""
    return [fit.height * _height(each, fit) for each in written]


def _height(written: str, fit: _Fit) -> float:
    """Return about how many points a part of a page takes in the usual size."""
    strut = layout.EMPTY_STRUT.search(written)
    row = 10 * float(strut[1]) + 3.6 if strut else 12.3
    heads = 13.0 if r"\overset" in written else 4.0
    bare = _without(written, "matrix", lambda _: "")
    bare = _without(bare, "bmatrix", lambda matrix: f"\0{len(matrix.split(_ROW))}\0")
    rows = [max(map(int, line.split("\0")[1::2]), default=0) for line in bare.split(_ROW)]
    total = sum(n * row + heads if n else 14.0 for n in rows) + 4.0
    total += sum(map(float, _SPACE.findall(written))) / fit.height
    total += 24.0 * written.count(r"\raggedright")
    for wide, high in _PICTURE.findall(written):
        total += int(high) / _beside_maps(int(wide), fit.height)
    titles = {r"\subsection*": 24.0, r"\large\bfseries": 38.0, r"\section*": 20.0}
    titles |= {r"\includegraphics": 365.0, r"\begin{gather*}": 8.0, r"\raisebox{-\height}": 12.0}
    return total + sum(size for name, size in titles.items() if name in written)


def _beside_maps(width: int, scale: float) -> int:
    """Return how many empty maps of a width are on a line of a document of our own."""
    return 1 if width == MAP[2] else max(1, int(layout.LINE_OF_OWN // (width * scale)))


def _without(written: str, name: str, put: Callable[[str], str]) -> str:
    """Return a text with something else for each environment of a name."""
    first, *others = written.split(rf"\begin{{{name}}}")
    each = (other.partition(rf"\end{{{name}}}") for other in others)
    return first + "".join(put(inside) + behind for inside, _, behind in each)


def _equation(section: parts.Section) -> tuple[str, str]:
    """Return the name of a step, and its formula."""
    formula = _FOREIGN.sub(lambda found: in_latex(found[0]), in_tex(section.formula))
    return name_in_tex(section.step.name), formula


def _beside(blocks: Iterable[layout.MatrixBlock]) -> str:
    return r" \qquad ".join(f"{block.name} = {block.matrix}" for block in blocks)


def _columns(names: str) -> str:
    """Return the names of columns in lines above their matrices; "" without any."""
    return rf"{{\raggedright {capital(names)}.\par}}\nopagebreak" if names else ""


def _on_one_page(lines: Iterable[str]) -> str:
    whole = "\n".join(lines)
    return rf"\noindent\begin{{minipage}}{{\linewidth}}{whole}\end{{minipage}}\par"


def _empty_map(
    dots: parts.Connections, head: str, say: Callable[[str], str], wide: tuple[int, int, int]
) -> str:
    """Return the two columns of dots to draw lines between, in LaTeX's own picture.

    wide: where they are, and its width.
    """
    left, right, width = wide
    sides = [(dots.inputs, left, -6, "r"), (dots.outputs, right, 6, "l")]
    longest = max(len(names) for names, *_ in sides)
    pitch = min(26.0, 450.0 / longest)
    height = pitch * longest
    before = f"{say(head)}: " if head else ""
    lines = [rf"\begin{{picture}}({width},{height + 30:.0f})"]
    for words, x in ((f"{before}{say('Inputs')}", left), (say("Outputs"), right)):
        title = in_latex(words)
        lines.append(rf"\put({x},{height + 15:.1f}){{\makebox(0,0){{\textbf{{{title}}}}}}}")
    for names, x, away, side in sides:
        top = (height + pitch * len(names)) / 2 - pitch / 2
        for i, name in enumerate(layout.names_in_latex(names)):
            y = top - pitch * i
            lines.append(rf"\put({x},{y:.1f}){{\circle*{{4}}}}")
            lines.append(rf"\put({x + away},{y:.1f}){{\makebox(0,0)[{side}]{{{name}}}}}")
    return "\n".join([*lines, r"\end{picture}"])


def _said(text: str) -> str:
    return rf"\noindent {in_latex(sentence(text))}\par"
