"""Pictures of a Solution: its maps, its heatmaps or both, as a Figure or as a file."""

import logging
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from matplotlib.axes import Axes

from attncalc.errors import InputError, OutputError
from attncalc.numbers.rounding import fixed
from attncalc.numbers.typed import quoted
from attncalc.operations.step import Plan
from attncalc.plotting.drawing import MOST_HEADS, draw, draw_blank, draw_on, texts_of
from attncalc.plotting.figure import FORMS, HouseFigure
from attncalc.plotting.look import Look, read_size
from attncalc.plotting.style import undrawable
from attncalc.problem.problem import Problem
from attncalc.problem.stated import conventions, heading
from attncalc.solving.solution import Head, Solution
from attncalc.solving.stated import influence
from attncalc.text import harmless, of_each, on_a_line

MOST_SPOKEN = 100
"""Outputs whose connections, and weights, a description tells; nobody listens to more."""

_KINDS = {
    "map": "Connection map",
    "heatmap": "Heatmap of the attention weights",
    "both": "Connection map, and heatmap of the attention weights",
}
_BLANK = "Connection map without its lines, to be drawn by hand"


@dataclass(frozen=True)
class Picture:
    """The bytes of a picture, and what should be said about it."""

    content: bytes
    notes: tuple[str, ...] = ()


def check_ending(path: Path) -> str:
    """Return the form a file's ending asks for: "png", "svg" or "pdf".

    Raises
    ------
    OutputError
        For any other ending.
    """
    form = path.suffix.lower().removeprefix(".")
    if form not in FORMS:
        found = f"{quoted(path.suffix)} is no kind of picture" if path.suffix else "no ending"
        raise OutputError(f"{path}: {found}: end the name in .png, .svg or .pdf")
    return form


def needed_for_pictures(problem: Problem, plan: Plan) -> tuple[str, ...] | None:
    """Return which steps of a long problem pictures and their notes need; None is all of them."""
    if not problem.is_long:
        return None
    return tuple(step.name for step in plan if step.role in ("masked", "weights"))


def chosen_heads(solution: Solution, wanted: str | int | None) -> tuple[Head, ...]:
    """Return the heads that are asked for: by number, the "mean" of all, or all of them.

    Raises
    ------
    InputError
        When there is no such head, or its weights were not kept.
    """
    if solution.weights is None:
        names = ", ".join(f'"{step.name}"' for step in solution.plan if step.role == "weights")
        raise InputError(
            f"a picture needs the weights: solve(problem, keep=({names}, …)) keeps them"
        )
    heads = solution.heads
    if wanted is None:
        return heads
    asked = str(wanted).strip()
    if asked.lower() == "mean":
        return (solution.mean_head,)
    numbers = [str(number) for number in range(1, len(heads) + 1)]
    if asked not in numbers:
        raise InputError(f"head takes 1 to {numbers[-1]}, or mean, not {quoted(str(wanted))}")
    return (heads[int(asked) - 1],)


def render(
    solution: Solution,
    form: str,
    heads: Sequence[Head] | None = None,
    look: Look | None = None,
) -> Picture:
    """Draw a solution as a file of the given form; the same input gives the same bytes.

    Parameters
    ----------
    solution
        What is drawn.
    form
        "png", "svg" or "pdf".
    heads
        The heads that are shown, or None for all.
    look
        How the picture is wanted, or None for the map that homework asks for.

    Raises
    ------
    InputError
        When the size that is asked for is too small.
    """
    problem, heads, look = solution.problem, heads or solution.heads, look or Look()
    figure = draw(problem, heads, look)
    told = _told(problem, heads[:MOST_HEADS], look)
    return _picture(problem, figure, form, _KINDS[look.kind], told)


def render_blank(
    problem: Problem, form: str, *, dark: bool = False, size: object = None
) -> Picture:
    """Draw the two columns of a problem without any line: a worksheet to draw the map on.

    Nothing in the file tells the answers; the problem need not be solved.

    Parameters
    ----------
    problem
        Whose tokens stand in the columns; several heads have a panel each.
    form
        "png", "svg" or "pdf".
    dark
        Whether the paper is dark.
    size
        In inches: "12x8", (12, 8), or a width alone; None for what the picture needs.

    Raises
    ------
    InputError
        For a size that is none, or too small.
    """
    look = Look(dark=dark, size=read_size(size))
    names = f"Inputs: {_named(problem.keys)}. Outputs: {_named(problem.queries)}"
    return _picture(problem, draw_blank(problem, look), form, _BLANK, [names])


def figure_for(solution: Solution, head: str | int | None, look: Look) -> HouseFigure:
    """Draw a solution as a Figure, for a person to show, change or save.

    Raises
    ------
    InputError
        When there is no such head, or the size that is asked for is too small.
    """
    return draw(solution.problem, chosen_heads(solution, head), look)


def plot_on(axes: Axes, solution: Solution, head: str | int | None, look: Look) -> Axes:
    """Draw a solution on an axes of somebody else's figure; what is left out is warned of.

    Raises
    ------
    InputError
        When one axes cannot hold what is asked for.
    """
    if getattr(axes, "name", None) != "rectilinear":
        raise InputError(f"ax takes a plain axes of matplotlib, not {quoted(str(axes))}")
    if look.kind == "both":
        raise InputError("ax takes one picture: ask for the kind map or heatmap, not both")
    if look.size is not None:
        raise InputError("size is that of a whole figure: with ax, leave it out")
    heads = chosen_heads(solution, head)
    if len(heads) > 1:
        raise InputError(f"ax takes one head: ask for head 1 to {len(heads)}, or mean")
    for note in draw_on(axes, solution.problem, heads[0], look):
        warnings.warn(note, stacklevel=3)
    return axes


def _picture(
    problem: Problem, figure: HouseFigure, form: str, kind: str, told: Iterable[str]
) -> Picture:
    """Return a figure's bytes, and its notes."""
    sentences = (kind, *conventions(problem), *told)
    return picture_of(figure, form, heading(problem), sentences, texts_of(problem))


def picture_of(
    figure: HouseFigure, form: str, title: str, told: Sequence[str], texts: Sequence[str]
) -> Picture:
    """Return the bytes of any figure, and its notes.

    Parameters
    ----------
    figure
        What is drawn.
    form
        "png", "svg" or "pdf".
    title, told
        What it is, and the sentences that describe it to who cannot see it.
    texts
        All texts from outside that stand in it.
    """
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # its words on font caches help nobody
    content = figure.content(form)
    if form == "svg":
        content = _described(content.decode(), title, told)
    missing = undrawable(texts)
    boxes = [f"no font here can draw {missing}: boxes stand for them in the picture"]
    return Picture(content, (*(boxes if missing else ()), *figure.notes))


def _described(svg: str, heading: str, sentences: Sequence[str]) -> bytes:
    """Give the SVG a title and a description that screen readers speak."""
    title = escape(harmless(heading))
    description = escape(harmless(". ".join(sentences) + "."))
    before, _, rest = svg.partition("<svg ")
    tag, _, inside = rest.partition(">")
    return (
        f'{before}<svg role="img" aria-labelledby="map-title map-description" {tag}>\n'
        f' <title id="map-title">{title}</title>\n'
        f' <desc id="map-description">{description}</desc>{inside}'
    ).encode()


def _told(problem: Problem, heads: Sequence[Head], look: Look) -> Iterator[str]:
    """Yield what a picture shows, in sentences: who attends to whom, and a heatmap's digits."""
    few = look.has_heatmap and problem.n * problem.m * len(heads) <= MOST_SPOKEN
    for head in heads:
        if head.number:
            yield f"Head {head.number}"
        for connection in head.connections[:MOST_SPOKEN]:
            yield influence(problem, head, connection)
        if problem.n > MOST_SPOKEN:
            yield f"{problem.n - MOST_SPOKEN} more outputs"
        for output, row in enumerate(head.rounded if few else ()):
            digits = ", ".join(fixed(weight, problem.decimals) for weight in row)
            yield f"Weights of output {on_a_line(problem.queries[output])}: {digits}"


def _named(names: Sequence[str]) -> str:
    return of_each([on_a_line(name) for name in names])
