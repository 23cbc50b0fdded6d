"""Histograms of watched quantities and clouds of outputs; several problems on one scale."""

from collections.abc import Iterator, Sequence
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from attncalc.base.text import harmless
from attncalc.base.types import Matrix
from attncalc.problem.stated import heading
from attncalc.solving.plan import outputs_of
from attncalc.solving.solution import solve
from attncalc.studies.family import of_solution
from attncalc.studies.simulate import MOST_KEPT, Simulation, variance_ratios
from attncalc.writing.plotting import figure
from attncalc.writing.plotting.drawing import HEAD_GAP
from attncalc.writing.plotting.look import Look, check_drawn
from attncalc.writing.plotting.placing import drawn_names, wrapped
from attncalc.writing.plotting.style import NAME_SIZE, TEXT_SIZE, Palette, palette_of
from attncalc.writing.studies.simulation import said_of, significant

WIDTH, HISTOGRAM, CLOUD, LEAST = 4.4, 2.6, 3.8, 1.5
"""Inches of a panel, of its height, and its least side."""
BINS = 40
SMALLEST_CLOUD = 1e-3
"""A spread, relative to the largest, below which a cloud is a point."""
MOST_CLOUDS = 4
"""Outputs that have a cloud."""
TICKS: Any = {"nbins": 5, "steps": [1, 2, 2.5, 5, 10]}
CLOUDS_LEFT_OUT = f"{{}} outputs have no cloud in the picture: it shows the first {MOST_CLOUDS}"
MOST_NAMED = 12
"""Values that are all named; of more, only those are that the segment joins."""
NAMES_LEFT_OUT = "in the picture {} values have no name: it names those that a segment joins"

Plane = tuple[tuple[float, float], tuple[float, float]]
"""How far it reaches across, and up."""
Room = figure.Room


class _Shared(NamedTuple):
    """Common values of all problems of a picture: the counted quantity, and its range."""

    name: str
    edges: Matrix
    tallest: float
    cloud: Plane | None


def draw(simulations: Sequence[Simulation], look: Look) -> figure.HouseFigure:
    """Draw a histogram for each problem and below it, where outputs are in a plane, their cloud."""
    palette = palette_of(look)
    shared = _shared(simulations)
    several = len(simulations) > 1
    columns = [_column(*each, shared, palette, several) for each in enumerate(simulations)]
    said, ratios = said_of(simulations), list(_ratios(simulations))
    means = (
        f"{which and f'{which} draws: '}{each.name}: mean {significant(each.mean, 4)}, "
        f"std {significant(each.std, 4)}"
        for simulation in simulations
        for which, draws in simulation.parts.items()
        for each in draws.statistics[:1]
    )
    footnote, told = figure.BETWEEN.join((*said, *ratios)), (*said, *means, *ratios)
    problems = [each.problem for each in simulations]
    names = (name for each in problems for name in (heading(each), *each.keys, *each.queries))
    language = problems[0].language
    draws = "; ".join(draw.text for draw in simulations[0].draws)  # of several own titles
    title = draws if several else heading(problems[0])
    caption = figure.caption_of(title, footnote, names, told, language)
    return figure.figure_of(reduce(figure.beside, columns), caption, palette, look.size)


def _ratios(simulations: Sequence[Simulation]) -> Iterator[str]:
    """Return the ratios of the first problem's variance to those of the others."""
    if len(simulations) < 2:
        return
    name = _counted(simulations)
    for number, ratio in enumerate(variance_ratios(simulations).get(name, ()), start=2):
        if ratio is not None:
            yield f"variance of {name}: that of 1 is {significant(ratio, 3)} times that of {number}"


def _counted(simulations: Sequence[Simulation]) -> str:
    """Return the quantity of the histogram: the weight that varies most, or the first one."""
    first = simulations[0]
    names = {each.name for each in first.watched}
    for other in simulations[1:]:
        names &= {each.name for each in other.watched}
    known = [each for each in first.watched if each.name in names] or list(first.watched)
    stds = {each.name: each.std for each in first.statistics}
    weights = [each.name for each in known if each.is_weight]
    # of two that vary equally, such as two weights that sum to 1, the first
    return max(weights, key=lambda name: round(stds[name], 6)) if weights else known[0].name


def _values(simulation: Simulation, name: str) -> Matrix:
    names = [each.name for each in simulation.watched]
    column: Matrix = simulation.values[:, names.index(name) if name in names else 0]
    return column


def _shared(simulations: Sequence[Simulation]) -> _Shared:
    name = _counted(simulations)
    columns = [_values(each.everything, name) for each in simulations]
    check_drawn(max(float(np.abs(each).max()) for each in columns))
    low, high = min(map(np.min, columns)), max(map(np.max, columns))
    is_weight = any(each.name == name and each.is_weight for each in simulations[0].watched)
    if is_weight and low >= 0 and high <= 1:
        low, high = 0.0, 1.0
    if high - low < 1e-12 * max(1.0, abs(high)):
        low, high = low - 0.5, high + 0.5
    edges = np.linspace(low, high, BINS + 1)
    tallest = max(float(np.histogram(each, edges)[0].max()) / len(each) for each in columns)
    if any(each.outputs.shape[-1] != 2 for each in simulations):  # they are in no plane
        return _Shared(name, edges, tallest, None)
    points = [each.everything.outputs.reshape(-1, 2) for each in simulations]
    points += [value for each in simulations if (value := values_of(each)) is not None]
    return _Shared(name, edges, tallest, _around(points))


def _around(points: Sequence[Matrix]) -> Plane:
    all_points = np.concatenate(points)
    check_drawn(float(np.abs(all_points).max()))
    low, high = all_points.min(axis=0), all_points.max(axis=0)
    around = 0.12 * float((high - low).max() or 1.0)
    (left, bottom), (right, top) = low - around, high + around
    return (float(left), float(right)), (float(bottom), float(top))


def values_of(simulation: Simulation) -> Matrix | None:
    """Return the given values of the problem, (m, 2); None if heads have their own, or for none."""
    if not simulation.problem.is_alone:  # the outputs of layers are not mixtures of values
        return None
    solution = solve(simulation.problem)
    weights = [step.name for step in solution.plan if step.role == "weights"][:1]
    # the weighed matrix contains the values
    weighed = [step.inputs[1] for step in solution.plan if [*step.inputs[:1]] == weights]
    if not weights or not weighed:
        return None
    values = of_solution(solution, exactly=False)[weighed[0]]
    if values.shape[1] > 1 or values.shape[-1] != simulation.outputs.shape[-1]:
        return None
    return np.asarray(values[0, 0])


def _column(
    place: int, simulation: Simulation, shared: _Shared, palette: Palette, is_one_of_many: bool
) -> figure.Mosaic:
    title = f"{place + 1}: {harmless(heading(simulation.problem))}" if is_one_of_many else ""
    width = figure.Track(WIDTH, LEAST)
    draw = partial(_histogram, simulation, shared, title, palette)
    mosaic = figure.panel_of(f"histogram {place}", width, figure.Track(HISTOGRAM, LEAST), draw)
    joined = figure.below if is_one_of_many else figure.beside
    clouds: list[Any] = []
    if shared.cloud is not None:
        moving = _moving(simulation)[:MOST_CLOUDS]
        clouds += [partial(_cloud, simulation, each, shared.cloud, palette) for each in moving]
    rows = _rows_in_a_plane(simulation).items()
    clouds += [partial(_row_cloud, simulation, *row, palette) for row in rows][:MOST_CLOUDS]
    for number, cloud in enumerate(clouds):
        part = figure.panel_of(f"cloud {place} {number}", width, figure.Track(CLOUD, LEAST), cloud)
        mosaic = joined(mosaic, part)
    return mosaic


def _moving(simulation: Simulation) -> list[int]:
    """Return the outputs whose cloud is more than a point relative to the others."""
    largest = max(each.std for each in simulation.directions)
    found = [each.output for each in simulation.directions if each.std > SMALLEST_CLOUD * largest]
    return found or [0]


def _histogram(
    simulation: Simulation, shared: _Shared, title: str, palette: Palette, axes: Axes, room: Room
) -> None:
    """Draw the share of the draws between each two ends, and the mean."""
    values = _values(simulation, shared.name)
    solid, dashed, others = palette.ranks
    weights = np.full(len(values), 1 / simulation.everything.count)
    axes.hist(
        values, shared.edges.tolist(), weights=weights, color=solid.color, edgecolor=palette.paper
    )
    axes.axvline(float(values.mean()), color=dashed.color, linestyle=dashed.linestyle)
    axes.set_xlim(shared.edges[0], shared.edges[-1])
    axes.set_ylim(0, 1.08 * shared.tallest)
    if title:
        wide = wrapped(title, TEXT_SIZE, room[0], most_lines=2)
        axes.set_title(wide, size=TEXT_SIZE, color=palette.strong, pad=HEAD_GAP, parse_math=False)
    told = f"{shared.name}: {_moments(values, ' (dashed)')}"
    if simulation.of_all:
        every = _values(simulation.of_all, shared.name)
        weights = np.full(len(every), 1 / len(every))
        look: Any = {"color": others.color, "linestyle": ":", "linewidth": 1.4}
        axes.hist(every, shared.edges.tolist(), weights=weights, histtype="step", **look)
        told += f"\nall draws (dotted outline): {_moments(every)}"
    _label(axes, told, "share of draws", palette)


def _moments(values: Matrix, looks: str = "") -> str:
    mean, std = (significant(float(each), 3) for each in (values.mean(), values.std(ddof=1)))
    return f"mean {mean}{looks}, std {std}"


def _rows_in_a_plane(simulation: Simulation) -> dict[str, list[int]]:
    """Return rows of two numbers of given matrices that are watched, and where they are watched."""
    given, found = simulation.problem.given, dict[str, list[int]]()
    for place, each in enumerate(simulation.watched):
        if each.step in given and given[each.step].shape[-1] == 2:
            row = ",".join(str(index + 1) for index in each.place[:-1])
            found.setdefault(f"{each.step}[{row},:]", []).append(place)
    return {name: places for name, places in found.items() if len(places) == 2}


def _row_cloud(
    simulation: Simulation, name: str, places: list[int], palette: Palette, axes: Axes, room: Room
) -> None:
    """Draw a given row in all draws, and its given value as a line from the origin."""
    given = of_solution(solve(simulation.problem), exactly=False)
    end = np.array([simulation.watched[place].measure(given)[0] for place in places])
    points = [each.values[:MOST_KEPT, places] for each in simulation.parts.values()]
    _scatter(axes, points, _around([*points, np.stack([0 * end, end])]), palette)
    look: Any = {"color": palette.ranks[1].color, "zorder": 3}
    axes.plot([0, end[0]], [0, end[1]], linestyle=palette.ranks[1].linestyle, **look)
    axes.scatter(end[0], end[1], s=34, **look)
    _label(axes, f"{name}, first number (as given: the dot)", "second number", palette)


def _scatter(axes: Axes, points: list[Matrix], limits: Plane, palette: Palette) -> None:
    """Draw the points of draws as dots; those of all draws, below, as rings."""
    solid, _, others = palette.ranks
    axes.set_aspect("equal", adjustable="datalim")
    rings: Any = {"facecolors": "none", "edgecolors": others.color, "linewidths": 0.5}
    dots: Any = {"color": solid.color, "alpha": 0.35, "linewidths": 0}
    for each, look in zip(points, [rings, dots][-len(points) :], strict=True):
        axes.scatter(each[:, 0], each[:, 1], s=9, zorder=2, rasterized=len(each) > 500, **look)
    axes.set(xlim=limits[0], ylim=limits[1])


def _cloud(
    simulation: Simulation, output: int, limits: Plane, palette: Palette, axes: Axes, room: Room
) -> figure.LeftOut | None:
    """Draw an output in all draws, the values as named points, and a segment between two."""
    dashed, values = palette.ranks[1], values_of(simulation)
    points = [each.outputs[:, output] for each in simulation.parts.values()]
    _scatter(axes, points, limits, palette)
    nameless = 0
    if values is not None:
        # between the two inputs that the output attends to most in the draws
        shares = sum(np.array(each.shares) for each in simulation.first if each.output == output)
        order = np.argsort(-np.asarray(shares), kind="stable").tolist()
        one, other = order[0], order[min(1, len(order) - 1)]
        ends = values[[one, other]]
        line: Any = {"color": dashed.color, "linestyle": dashed.linestyle, "zorder": 1}
        axes.plot(ends[:, 0], ends[:, 1], linewidth=1.2, **line)
        axes.scatter(values[:, 0], values[:, 1], s=34, color=dashed.color, zorder=3)
        names = drawn_names(simulation.problem.keys)
        text: Any = {"size": NAME_SIZE, "color": palette.strong, "parse_math": False, "zorder": 4}
        named = range(len(values)) if len(values) <= MOST_NAMED else sorted({one, other})
        nameless = len(values) - len(named)
        for key in named:
            name, (x, y) = names[key], values[key]
            axes.annotate(f"v_{name}", (x, y), xytext=(6, 5), textcoords="offset points", **text)
    name = f"{outputs_of(simulation.problem)}[{output + 1},:]"
    _label(axes, f"{name}, first number", "second number", palette)
    if output != _moving(simulation)[0]:
        return None
    unseen = len(_moving(simulation)) - MOST_CLOUDS
    return figure.LeftOut({CLOUDS_LEFT_OUT: max(0, unseen), NAMES_LEFT_OUT: nameless})


def _label(axes: Axes, across: str, up: str, palette: Palette) -> None:
    figure.furnish(axes, palette, across, up, size=NAME_SIZE)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(**TICKS))
