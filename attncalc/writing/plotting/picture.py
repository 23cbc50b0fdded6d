"""Pictures of a Solution: its maps, its heatmaps or both, as a Figure or as a file."""

import logging
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from matplotlib.axes import Axes

from attncalc.base.errors import InputError, OutputError
from attncalc.base.rounding import fixed
from attncalc.base.text import harmless, of_each, on_a_line
from attncalc.base.typed import quoted
from attncalc.languages.catalogue import catalogue
from attncalc.problem.gradients.naming import gradient_from
from attncalc.problem.problem import Problem
from attncalc.problem.stated import conventions
from attncalc.problem.step import Plan, Step
from attncalc.solving.choosing import attention_and_head
from attncalc.solving.influence import influence
from attncalc.solving.solution import Head, Solution
from attncalc.writing.plotting.drawing import MOST_HEADS, draw, draw_blank, draw_gradient, draw_on
from attncalc.writing.plotting.figure import FORMS, HouseFigure
from attncalc.writing.plotting.look import Look
from attncalc.writing.plotting.patches import has_class_map
from attncalc.writing.plotting.style import undrawable

MOST_SPOKEN = 100
"""Number of outputs, and of weights, that a description lists."""

_KINDS = {
    "map": "Connection map",
    "heatmap": "Heatmap of the attention weights",
    "both": "Connection map, and heatmap of the attention weights",
}
_GRADIENT = "Heatmap of a gradient"
_OF_CLASS = "The image in its patches, and on each how much the class token attends to it"
_BLANK = "Connection map without its lines, to be drawn by hand"


@dataclass(frozen=True)
class Picture:
    """The bytes of a picture, and notes about it."""

    content: bytes
    notes: tuple[str, ...] = ()


NO_ATTENTION = "a picture shows attention weights, and this problem has no attention"


def check_ending(path: Path) -> str:
    """Return the form a file's ending asks for: "png", "svg" or "pdf"."""
    form = path.suffix.lower().removeprefix(".")
    if form not in FORMS:
        found = f"{quoted(path.suffix)} is not a picture format" if path.suffix else "no ending"
        raise OutputError(f"{path}: {found}: use .png, .svg or .pdf")
    return form


def needed_for_pictures(problem: Problem, plan: Plan) -> tuple[str, ...] | None:
    """Return which steps of a long problem pictures and their notes need; None is all of them."""
    if not problem.is_long:
        return None
    return tuple(step.name for step in plan if step.role in ("masked", "weights"))


def chosen_heads(solution: Solution, wanted: str | int | None) -> tuple[Head, ...]:
    """Return the requested heads: by number, the "mean" of all, or all of them.

    With several attentions, they are those of the first, or of the named one: "cross.A", or
    "cross.A,2" for its second head. Raises InputError if there is no such head, or its weights were
    not kept.
    """
    if not solution.problem.attentions:
        raise InputError(NO_ATTENTION)
    if solution.weights is None:
        names = ", ".join(f'"{step.name}"' for step in solution.plan if step.role == "weights")
        raise InputError(
            f"a picture needs the weights: solve(problem, keep=({names}, …)) keeps them"
        )
    step, asked = attention_and_head(solution, wanted)
    heads = solution.heads_of(step)
    if not asked:
        return heads
    return (solution.mean_head_of(step),) if asked == "mean" else (heads[int(asked) - 1],)


def _of_several(solution: Solution, heads: Sequence[Head]) -> tuple[str, ...]:
    """Return the note on a picture that shows one attention of several."""
    names, of = [each.name for each in solution.all_weights], solution.problem.attention_of
    if len(names) < 2:
        return ()
    own = next(name for name in names if of(name) is heads[0].attention)
    other = [name for name in names if of(name) is not heads[0].attention][-1]
    return (f"the picture shows {own}: attncalc plot --head {other} draws another attention",)


def render(
    solution: Solution, form: str, heads: Sequence[Head] | None = None, look: Look | None = None
) -> Picture:
    """Draw a solution as a file of the given form; the same input gives the same bytes.

    Raises InputError if there are no weights to show, or the requested size is too small.

    form: "png", "svg" or "pdf".
    heads: the heads that are shown, or None for all.
    look: the appearance of the picture, or None for the map that homework requires.
    """
    problem, look = solution.problem, look or Look()
    heads = heads or chosen_heads(solution, None)
    figure = draw(problem, heads, look)
    told = _told(problem, heads[:MOST_HEADS], look)
    figure.notes = (*_of_several(solution, heads), *figure.notes)
    kind = _KINDS[look.kind]
    if has_class_map(problem) and look.has_map and not look.every_line:
        kind = kind.replace("Connection map", _OF_CLASS)
    return _picture(problem, figure, form, kind, told)


def gradient_step(solution: Solution, name: str, look: Look) -> Step:
    """Return the step of a gradient that is to be drawn."""
    if look.kind != "heatmap":
        raise InputError("of draws a gradient as a heatmap: ask for the kind heatmap")
    steps = {step.name.lower(): step for step in solution.plan if gradient_from(step.name)}
    step = steps.get(name.strip().lower())
    if step is None:
        known = ", ".join(each.name for each in steps.values()) or "none without backward"
        raise InputError(f"of takes a gradient, not {quoted(name)}: there are {known}")
    return step


def render_gradient(solution: Solution, name: str, form: str, look: Look) -> Picture:
    """Draw a gradient as a file of the given form, with white at 0."""
    step = gradient_step(solution, name, look)
    figure = draw_gradient(solution, step, look)
    return _picture(solution.problem, figure, form, _GRADIENT, [f"{step.name}, {step.title}"])


def render_blank(problem: Problem, form: str) -> Picture:
    """Draw the two columns of a problem without any line: a worksheet to draw the map on.

    Nothing in the file shows the answers; the problem need not be solved.

    problem: the tokens are in the columns; several heads have a panel each.
    form: "png", "svg" or "pdf".
    """
    attention = problem.attentions[0]
    sides = (of_each([*map(on_a_line, each)]) for each in (attention.keys, attention.queries))
    names = map("{}: {}".format, ("Inputs", "Outputs"), sides)
    return _picture(problem, draw_blank(problem, Look()), form, _BLANK, names)


def figure_for(solution: Solution, head: str | int | None, look: Look) -> HouseFigure:
    """Draw a solution as a Figure, which can be shown, changed or saved."""
    return draw(solution.problem, chosen_heads(solution, head), look)


def figure_of_gradient(solution: Solution, name: str, look: Look) -> HouseFigure:
    """Draw a gradient as a Figure."""
    return draw_gradient(solution, gradient_step(solution, name, look), look)


def plot_on(axes: Axes, solution: Solution, head: str | int | None, look: Look) -> Axes:
    """Draw a solution on the axes of another figure; a warning lists omitted parts."""
    if getattr(axes, "name", None) != "rectilinear":
        raise InputError(f"ax takes a matplotlib Axes, not {quoted(str(axes))}")
    if look.kind == "both":
        raise InputError("ax takes one picture: ask for the kind map or heatmap, not both")
    if look.size is not None:
        raise InputError("size sets the size of a whole figure: omit it with ax")
    heads = chosen_heads(solution, head)
    if len(heads) > 1:
        raise InputError(f"ax takes one head: ask for head 1 to {len(heads)}, or mean")
    for note in draw_on(axes, solution.problem, heads[0], look):
        warnings.warn(note, stacklevel=3)
    return axes


def _picture(
    problem: Problem, figure: HouseFigure, form: str, kind: str, told: Iterable[str]
) -> Picture:
    say = catalogue(problem.language).say
    return picture_of(figure, form, tuple(map(say, (kind, *conventions(problem), *told))))


def picture_of(figure: HouseFigure, form: str, told: Sequence[str] = ()) -> Picture:
    """Return the bytes of any figure, and its notes.

    form: "png", "svg" or "pdf".
    told: the sentences that describe it for screen readers; by default those of its caption.
    """
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it logs messages on font caches
    content = figure.content(form)
    if form == "svg":
        said = told or figure.caption.told
        content = _described(content.decode(), figure.caption.title, said)
    missing = undrawable(figure.caption.letters)
    boxes = [f"no font here can draw {missing}: the picture shows boxes instead"]
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
    """Yield sentences about a picture: the inputs each output attends to, a heatmap's digits."""
    number = catalogue(problem.language).number
    few = look.has_heatmap and sum(head.weights.size for head in heads) <= MOST_SPOKEN
    for head in heads:
        queries = (head.attention or problem).queries
        if head.number:
            yield f"Head {head.number}"
        for connection in head.connections[:MOST_SPOKEN]:
            yield influence(problem, head, connection)
        if len(queries) > MOST_SPOKEN:
            yield f"{len(queries) - MOST_SPOKEN} more outputs"
        for output, row in enumerate(head.rounded if few else ()):
            digits = ", ".join(number(fixed(weight, problem.decimals)) for weight in row)
            yield f"Weights of output {on_a_line(queries[output])}: {digits}"
