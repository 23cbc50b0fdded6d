"""Random draws of problems: the distribution of watched quantities, side by side."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import IO, Any

import numpy as np

from attncalc.base.text import on_a_line
from attncalc.problem.stated import heading
from attncalc.studies.draws import GENERATOR
from attncalc.studies.simulate import QUANTILES, Simulation, variance_ratios
from attncalc.writing.document import Bullets, Document, Facts, Part, Sheet
from attncalc.writing.studies.common import filled, in_json, in_rows, lasting, sheet, shown

MORE = 2
"""Decimals that statistics have beyond those of the problem: a standard error is small."""
HEADINGS = ("mean", "std", "standard error", *(f"{share} %" for share in QUANTILES))


def document(simulations: Sequence[Simulation], *, full: bool = False) -> Document:
    """Return the document of one problem, or of several with the ratios of their variances."""
    parts: list[Part] = [Facts(said_of(simulations))]
    for place, simulation in enumerate(simulations, start=1):
        parts += _of_problem(simulation, place if len(simulations) > 1 else 0, full=full)
    if len(simulations) > 1:
        ratios = variance_ratios(simulations)
        columns = [f"1 over {number}" for number in range(2, len(simulations) + 1)]
        rows = [["-" if x is None else significant(x, 4) for x in row] for row in ratios.values()]
        parts.append(filled("Ratios of the variances", ratios, columns, rows, full=full))
    title = " beside ".join(dict.fromkeys(heading(each.problem) for each in simulations))
    language = simulations[0].problem.language
    return Document(title, tuple(parts), tuple(_notes(simulations)), language=language)


def said_of(simulations: Sequence[Simulation]) -> tuple[str, ...]:
    """Return the draws, their number, the generator, and the conventions."""
    first = simulations[0]
    counts = sorted({f"{each.everything.count:,}" for each in simulations}, key=len)
    kept = (f"{each.count:,} kept, {_thrown(each):,} thrown away" for each in simulations)
    texts = " and ".join(on_a_line(each.text) for each in first.given)
    return (
        *(on_a_line(draw.text) for draw in first.draws),
        f"{' and '.join(counts)} draws",
        *([f"given {texts}: {' and '.join(dict.fromkeys(kept))}"] if texts else ()),
        f"{GENERATOR}({first.seed})",
        f"statistics to {first.problem.decimals + MORE} decimals",
        *lasting(first.problem, [each.problem for each in simulations]),
    )


def _thrown(simulation: Simulation) -> int:
    """Return how many draws do not meet the conditions."""
    return simulation.everything.count - simulation.count


def _of_problem(simulation: Simulation, number: int, *, full: bool) -> Iterator[Part]:
    name = f"{number}: {heading(simulation.problem)}" if number else "Watched quantities"
    for which, draws in simulation.parts.items():
        yield _statistics(draws, f"{name}, {which} draws" if which else name, full=full)
    for name in dict.fromkeys(each.weights for each in simulation.first):
        yield _first(simulation, name, full=full)
    if directions := tuple(_directions(simulation)):
        yield Bullets(directions)


def _statistics(simulation: Simulation, title: str, *, full: bool) -> Sheet:
    at = partial(shown, decimals=simulation.problem.decimals + MORE)
    rows = [
        [at(each.mean), at(each.std), significant(each.standard_error), *map(at, each.quantiles)]
        for each in simulation.statistics
    ]
    names = [each.name for each in simulation.statistics]
    return filled(title, names, HEADINGS, rows, full=full)


def _first(simulation: Simulation, weights: str, *, full: bool) -> Sheet:
    """Return the shares of first places in one attention."""
    problem, attention = simulation.problem, simulation.problem.attention_of(weights)
    several = attention.n_heads > 1
    first = [each for each in simulation.first if each.weights == weights]
    rows = [
        (f"head {each.head + 1}, " if several else "") + f"output {attention.queries[each.output]}"
        for each in first
    ]
    columns = [f"input {name}" for name in attention.keys]
    decimals = problem.decimals + MORE
    where = f" of {weights}" if problem.where(weights) else ""
    kept = "kept " if simulation.given else ""
    title = f"Share of the {kept}draws in which each input{where} has the largest weight"
    return sheet(title, rows, columns, lambda i, j: shown(first[i].shares[j], decimals), full=full)


def _directions(simulation: Simulation) -> Iterator[str]:
    """Yield the direction in which each output spreads most; one number has no direction."""
    problem = simulation.problem
    decimals = problem.decimals + MORE
    for each in simulation.directions:
        output = on_a_line(problem.queries[each.output])
        if not each.share:
            yield f"Output {output} does not vary."
        elif len(each.along) > 1:
            along = ", ".join(shown(number, problem.decimals) for number in each.along)
            yield (
                f"Output {output} spreads most along ({along}): std {shown(each.std, decimals)}, "
                f"{shown(100 * each.share, 1)} % of its variance"
            )


def significant(value: float, digits: int = 2) -> str:
    """Return a number at so many digits, however small it is.

    >>> significant(0.00149195), significant(3.6999, 4)
    ('0.0015', '3.7')
    """
    return f"{value:.{digits}g}"


def _notes(simulations: Sequence[Simulation]) -> Iterator[str]:
    yield (
        "statistics are computed in float64; in about 95 of 100 such simulations the means are "
        "within two standard errors of the true means"
    )
    for simulation in simulations:
        if simulation.until is not None:
            yield f"stopped when every standard error was {simulation.until:g} or less"
            return


def as_json(simulations: Sequence[Simulation]) -> str:
    """Return one simulation as JSON, or several under "problems" with their ratios."""
    contents = [_content(each) for each in simulations]
    if len(contents) == 1:
        return in_json(contents[0])
    problems = [
        {"problem": heading(each.problem), **content}
        for each, content in zip(simulations, contents, strict=True)
    ]
    found = variance_ratios(simulations).items()
    ratios = [{"name": name, "ratios": list(of_one)} for name, of_one in found]
    return in_json({"problems": problems, "variance_ratios": ratios})


def _content(simulation: Simulation) -> dict[str, Any]:
    problem = simulation.problem
    names = {each.weights for each in simulation.first}
    several = {name: problem.attention_of(name).n_heads > 1 for name in names}
    of_all, given = simulation.of_all, [each.text for each in simulation.given]
    counts = {"given": given, "kept": simulation.count, "thrown_away": _thrown(simulation)}
    shares = [*map(str, QUANTILES)]
    return {
        "draws": simulation.everything.count,
        "seed": simulation.seed,
        **({**counts, "watched_in_all": _content(of_all)["watched"]} if of_all else {}),
        "watched": [
            each._asdict() | {"quantiles": dict(zip(shares, each.quantiles, strict=True))}
            for each in simulation.statistics
        ],
        "first": [
            {
                **({"weights": each.weights} if problem.where(each.weights) else {}),
                **({"head": each.head + 1} if several[each.weights] else {}),
                "output": each.output + 1,
                "shares": {str(place): share for place, share in enumerate(each.shares, start=1)},
            }
            for each in simulation.first
        ],
    }


def as_csv(simulations: Sequence[Simulation]) -> str:
    """Return a row for each that is watched, in each problem; with conditions, of all draws too."""
    rows = [
        [str(place), *filter(None, [which]), each.name]
        + [repr(value) for value in (each.mean, each.std, each.standard_error, *each.quantiles)]
        for place, simulation in enumerate(simulations, start=1)
        for which, draws in simulation.parts.items()
        for each in draws.statistics
    ]
    draws = ["draws"] if simulations[0].given else []
    return in_rows([["problem", *draws, "watched", *HEADINGS], *rows])


def write_npz(simulations: Sequence[Simulation], file: IO[bytes]) -> None:
    """Write the watched values of every draw, an array for each problem, with their names."""
    arrays: dict[str, Any] = {"seed": np.array(simulations[0].seed)}
    for place, simulation in enumerate(simulations, start=1):
        end = f"_{place}" if len(simulations) > 1 else ""
        arrays[f"values{end}"] = simulation.values
        if simulation.of_all:
            arrays[f"all{end}"] = simulation.of_all.values
        arrays[f"watched{end}"] = np.array([each.name for each in simulation.watched])
    np.savez(file, **arrays)
