r"""A page as LaTeX: a body to \input into a document with amsmath, or a document of its own.

No line is wider than the narrowest of LaTeX's own pages: wide matrices stand in blocks of columns,
long sums are broken. The widths are those of Computer Modern at 10 points, rounded up.
"""

from collections.abc import Iterator

from attncalc.writing.latex_lines import LINE, by_rows, in_rows
from attncalc.writing.latex_math import in_tex, name_in_tex
from attncalc.writing.latex_matrix import (
    fits_beside,
    matrix_blocks,
    names_in_latex,
    side_by_side,
)
from attncalc.writing.latex_text import LETTERS, in_latex
from attncalc.writing.page import MOST_NAMED, Page, Section, kept
from attncalc.writing.prose import left_out
from attncalc.writing.sentences import legend

MOST_SENTENCES = 100
LINES_TOGETHER = 9
"""Entries that are aligned with one another: TeX keeps such a block in its memory."""

_DOCUMENT = r"""\documentclass[10pt]{article}
\usepackage{amsmath}
\usepackage{graphicx}
\usepackage[a4paper,margin=2.5cm]{geometry}
\setlength{\parindent}{0pt}
\setlength{\parskip}{0.4em}
\begin{document}
"""


def write_latex(
    page: Page, *, full: bool = False, standalone: bool = False, picture: str | None = None
) -> str:
    """Return the page as LaTeX.

    Parameters
    ----------
    page
        What to write.
    full
        Show large matrices whole.
    standalone
        Whether it is a document, and not the body of one.
    picture
        For a document, the name of the file with the map.
    """
    body = "\n".join(_body(page, full=full, picture=picture)) + "\n"
    if standalone:
        return f"{_DOCUMENT}{body}\\end{{document}}\n"
    return f"% \\input this into a document with \\usepackage{{amsmath}}\n{body}"


def _body(page: Page, *, full: bool, picture: str | None) -> Iterator[str]:
    yield LETTERS
    # sloppy, for names and sentences of any length; the rest is measured
    yield "\\begingroup\\allowdisplaybreaks\\sloppy\\setcounter{MaxMatrixCols}{64}"
    yield rf"\section*{{{in_latex(page.heading)}}}"
    if page.is_blank:
        yield r"\noindent Name: \hrulefill\par"
    yield rf"\noindent {in_latex(_sentence('; '.join(page.conventions)))}\par"
    if page.given:
        yield r"\subsection*{Given}"
        blocks = [block for grid in page.given for block in matrix_blocks(grid, full=full)]
        yield from side_by_side(blocks)
    for section in page.sections:
        yield from _section(page, section, full=full)
    yield from _connections(page, full=full, picture=picture)
    yield from _notes(page, full=full)
    yield r"\endgroup"


def _section(page: Page, section: Section, *, full: bool) -> Iterator[str]:
    step = section.step
    title = f"{step.title}, {section.shape}"
    yield rf"\subsection*{{{in_latex(title[0].upper() + title[1:])}}}"
    equation = f"{name_in_tex(step.name)} = {in_tex(section.formula)}"
    blocks = [block for grid in section.grids for block in matrix_blocks(grid, full=full)]
    if len(blocks) == 1 and fits_beside(equation, blocks[0]):
        yield rf"\[{equation} = {blocks[0].matrix}\]"
    else:
        yield rf"\[{equation}\]"
        yield from side_by_side(blocks)
    if section.grids and step.name == "A" and not page.is_blank:
        words = legend(page.problem, "Bold:", "underlined:").replace("   ", "; ")
        yield rf"\noindent {in_latex(words)}.\par"
    yield from _footnote(page, section, full=full)
    for remark in section.remarks:
        yield rf"\noindent {in_latex(_sentence(remark))}\par"
    for lines in by_rows(section.lines, at_least=LINES_TOGETHER):
        yield r"\begin{align*}"
        yield " \\\\\n".join(in_rows(line, LINE) for line in lines)
        yield r"\end{align*}"
    if page.is_blank:
        yield r"\par\vspace{3cm}"


def _connections(page: Page, *, full: bool, picture: str | None) -> Iterator[str]:
    if page.has_map:
        yield r"\subsection*{What each output attends to}"
    for head, sentences in page.influences if not page.is_blank else ():  # paper is drawn on
        if head:
            yield rf"\noindent\textbf{{Head {head}}}\par"
        for index in kept(len(sentences), full=full, most=MOST_SENTENCES):
            text = r"\dots{}" if index is None else in_latex(_sentence(sentences[index]))
            yield rf"\noindent {text}\par"
    if page.is_blank and page.has_map:
        yield _empty_map(page)
    elif picture and page.has_map:
        size = r"width=0.8\linewidth,height=0.7\textheight,keepaspectratio"
        yield rf"\begin{{center}}\includegraphics[{size}]{{{picture}}}\end{{center}}"


def _empty_map(page: Page) -> str:
    """Return the two columns of dots to draw lines between, in LaTeX's own picture."""
    problem = page.problem
    sides = [(problem.keys, 90, -6, "r"), (problem.queries, 250, 6, "l")]
    longest = max(len(names) for names, *_ in sides)
    pitch = min(30.0, 450.0 / longest)
    height = pitch * longest
    lines = [r"\begin{center}\setlength{\unitlength}{1pt}"]
    lines.append(rf"\begin{{picture}}(340,{height + 30:.0f})")
    for title, x in (("Inputs", 90), ("Outputs", 250)):
        lines.append(rf"\put({x},{height + 15:.1f}){{\makebox(0,0){{\textbf{{{title}}}}}}}")
    for names, x, away, side in sides:
        top = (height + pitch * len(names)) / 2 - pitch / 2
        for i, name in enumerate(names_in_latex(names)):
            y = top - pitch * i
            lines.append(rf"\put({x},{y:.1f}){{\circle*{{4}}}}")
            lines.append(rf"\put({x + away},{y:.1f}){{\makebox(0,0)[{side}]{{{name}}}}}")
    return "\n".join([*lines, r"\end{picture}\end{center}"])


def _notes(page: Page, *, full: bool) -> Iterator[str]:
    notes = [*page.notes]
    if cut := left_out(page, full=full):
        notes.append(f"the middle of {cut} is left out")
    if notes:
        yield r"\subsection*{Notes}"
    for note in notes:
        yield rf"\noindent {in_latex(_sentence(note))}\par"


def _footnote(page: Page, section: Section, *, full: bool) -> Iterator[str]:
    if found := page.hidden_of(section, full=full):
        values = [rf"\({in_tex(entry)} = {in_tex(value)}\)" for entry, value in found[:MOST_NAMED]]
        more = [f"{len(found) - MOST_NAMED} more"] if len(found) > MOST_NAMED else []
        yield rf"\noindent \textdagger{{}} not zero: {'; '.join([*values, *more])}.\par"


def _sentence(text: str) -> str:
    """Return a text as a sentence, with a capital and a full stop."""
    return text[0].upper() + text[1:] + ("" if text.endswith(".") else ".")
