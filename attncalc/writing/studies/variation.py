"""A problem at many values: a row for each, and where the largest weight moves."""

import json
from collections.abc import Iterator
from typing import IO, Any

import numpy as np

from attncalc.base.text import capital, of_each, on_a_line
from attncalc.languages.catalogue import catalogue
from attncalc.problem.problem import Problem
from attncalc.problem.stated import heading
from attncalc.studies.changes import (
    Change,
    Infinity,
    Moved,
    Value,
    value_text,
    what_depends_on_order,
)
from attncalc.studies.family import at_point
from attncalc.studies.vary import MOST_SCORES, Changeover, Variation
from attncalc.writing.document import Bullets, Document, Facts, Part, Sheet, kept
from attncalc.writing.html.page import Live, write_html
from attncalc.writing.html.style import style
from attncalc.writing.live.data import language_data
from attncalc.writing.live.script import CURVE, PAGE, script
from attncalc.writing.sentences import IN_FLOATS
from attncalc.writing.studies.common import OF_MEASURES, filled, in_json, in_rows, lasting, shown

MOST_LISTED = 20
"""Changeovers that are listed unasked."""


def document(variation: Variation, *, full: bool = False) -> Document:
    """Return the document: a table for one change, a grid for each that is watched for two."""
    facts = Facts(said_of(variation))
    found = (*_changeover_bullets(variation, full=full), *_moved_bullets(variation))
    parts: tuple[Part, ...] = (facts, *_sheets(variation, full=full), *found)
    problem, notes = variation.problem, tuple(_notes(variation))
    return Document(heading(problem), parts, notes, language=problem.language)


def curve_page(variation: Variation, shown: Document) -> str:
    """Return the page of a document as HTML: its curves are played over the values of a change."""
    (change,) = variation.changes
    words, runs = catalogue(variation.problem.language), script(CURVE)
    said = language_data(variation.problem, runs) | {
        "along": words.say(on_a_line(change.about)),
        "points": [words.each(shown_value(value)) for (value,) in variation.points],
        "names": [each.name for each in variation.watched],
        "digits": [[*map(words.each, row)] for row in variation.digits],
        # a masked score is -∞, which JSON does not have
        "values": [
            [x if np.isfinite(x) else None for x in row] for row in variation.values.tolist()
        ],
    }
    looks = (style("attncalc.writing.live", f"{name}.css") for name in (PAGE, CURVE))
    live = Live(json.dumps(said, separators=(",", ":")), runs, "".join(looks))
    return write_html(shown, live=live)


def page(variation: Variation, *, full: bool = False) -> str:
    """Return the page of a study as HTML: with a slider if one field varies."""
    shown = document(variation, full=full)
    if len(variation.changes) == 1 and len(variation.points) > 1:
        return curve_page(variation, shown)
    return write_html(shown)


def said_of(variation: Variation) -> tuple[str, ...]:
    """Return the changes, and the conventions that apply to all values."""
    counts = [(each.text, len(each.values)) for each in variation.changes]
    said = (f"{on_a_line(text)} ({count} value{'s' * (count > 1)})" for text, count in counts)
    points = variation.points
    few = points[0], points[len(points) // 2], points[-1]  # one in the middle: ends may be alike
    others = [at_point(variation.problem, variation.changes, point) for point in few]
    return (*said, *lasting(variation.problem, others))


def shown_value(value: Value) -> str:
    """Return a value as tables show it."""
    return "∞" if isinstance(value, Infinity) else on_a_line(value_text(value))


def _sheets(variation: Variation, *, full: bool) -> Iterator[Sheet]:
    digits = variation.digits
    names = [each.name for each in variation.watched]
    if len(variation.changes) == 1:
        (change,) = variation.changes
        rows = [shown_value(value) for (value,) in variation.points]
        title = f"At each value of {on_a_line(change.about)}"
        yield filled(title, rows, names, digits, full=full)
        return
    down, across = variation.changes
    rows, columns = ([shown_value(each) for each in change.values] for change in (down, across))
    for place, name in enumerate(names):
        title = f"{on_a_line(name)}: {on_a_line(down.about)} down, {on_a_line(across.about)} across"
        of_one = [row[place] for row in digits]
        cells = [of_one[i : i + len(columns)] for i in range(0, len(of_one), len(columns))]
        yield filled(title, rows, columns, cells, full=full)


def _changeover_bullets(variation: Variation, *, full: bool) -> Iterator[Bullets]:
    if not variation.is_sought:
        return
    problem, change = variation.problem, variation.changes[0]
    texts = [changeover_text(problem, change, each) for each in variation.changeovers]
    places = kept(len(texts), full=full, most=MOST_LISTED)
    listed = [f"… {len(texts) - MOST_LISTED} more" if i is None else texts[i] for i in places]
    yield Bullets(tuple(listed) or ("No output changes which input it attends to most.",))


def _moved_bullets(variation: Variation) -> Iterator[Bullets]:
    """Yield how the outputs change in each order of the tokens but the given one."""
    texts = [
        f"{value}: {moved_text(variation.problem, found)}"
        for (value,), found in zip(variation.points[1:], variation.moved[1:], strict=False)
    ]
    if texts:
        yield Bullets(tuple(texts))


def moved_text(problem: Problem, found: Moved) -> str:
    """Return how the outputs change when tokens are permuted, as a clause."""
    if found.how != "otherwise":
        change = "are permuted alike" if found.how == "alike" else "do not change"
        return f"the outputs {found.step} {change}"
    depends = what_depends_on_order(problem)
    why = f", because of {of_each(depends)}" if depends else ""
    rows = f"row{'s' * (len(found.outputs) > 1)} {of_each([str(i + 1) for i in found.outputs])}"
    return f"the outputs {found.step} change otherwise, in {rows}{why}"


def changeover_text(problem: Problem, change: Change, found: Changeover) -> str:
    """Return where the largest weight of an output moves, and between which inputs."""
    at = shown(found.at, problem.decimals)
    attention, place = problem.attention_of(found.weights), problem.where(found.weights)
    head = f", head {found.head + 1}" if attention.n_heads > 1 else ""
    output = on_a_line(attention.queries[found.output])
    before, after = (
        f"input{'s' * (len(each) > 1)} {of_each([on_a_line(attention.keys[i]) for i in each])}"
        for each in (found.before, found.after)
    )
    where = f"{on_a_line(change.about)} {at}"
    which = f"{capital(place)}, output" if place else "Output"
    return f"{which} {output}{head}: most {before} up to {where}, most {after} beyond"


def _notes(variation: Variation) -> Iterator[str]:
    is_one = len(variation.changes) == 1 and variation.changes[0].is_smooth
    if is_one and not variation.is_sought and variation.problem.attentions:
        yield f"changes of the largest weight are only searched for up to {MOST_SCORES:,} scores"
    if not variation.is_exact:
        yield IN_FLOATS.replace("too large for", "too many values, or too large, for")
    elif any(not each.step for each in variation.watched):
        yield OF_MEASURES


def as_json(variation: Variation) -> str:
    """Return a study as JSON: its values as texts, and as the nearest floats."""
    columns = variation.points, variation.digits, variation.values
    rows = [
        {"at": [*map(value_text, point)], "values": list(texts), "exact": [*map(float, numbers)]}
        for point, texts, numbers in zip(*columns, strict=True)
    ]
    about = {
        "changes": [change.about for change in variation.changes],
        "watched": [each.name for each in variation.watched],
    }
    found = [_changeover(variation.problem, each) for each in variation.changeovers]
    effects = [
        {"step": each.step, "how": each.how, "outputs": [place + 1 for place in each.outputs]}
        for each in variation.moved
    ]
    moved = {"moved": effects} if effects else {}
    return in_json({**about, "rows": rows, "changeovers": found, **moved})


def _changeover(problem: Problem, found: Changeover) -> dict[str, Any]:
    def inputs(places: tuple[int, ...]) -> int | list[int]:
        return places[0] + 1 if len(places) == 1 else [place + 1 for place in places]

    return {
        "at": found.at,
        **({"weights": found.weights} if len(problem.attentions) > 1 else {}),
        **({"head": found.head + 1} if problem.attention_of(found.weights).n_heads > 1 else {}),
        "output": found.output + 1,
        "from": inputs(found.before),
        "to": inputs(found.after),
    }


def as_csv(variation: Variation) -> str:
    """Return a study as rows: the values of the changes, then the watched values."""
    headings = [each.about for each in variation.changes] + [
        each.name for each in variation.watched
    ]
    both = zip(variation.points, variation.digits, strict=True)
    rows = ([*map(value_text, point), *texts] for point, texts in both)
    return in_rows([headings, *rows])


def write_npz(variation: Variation, file: IO[bytes]) -> None:
    """Write a study as arrays: "at" and "values", one row each, and their names."""
    at = [[value_text(value) for value in point] for point in variation.points]
    arrays: dict[str, Any] = {
        "changes": np.array([change.about for change in variation.changes]),
        "watched": np.array([each.name for each in variation.watched]),
        "at": np.array(at),
        "values": variation.values,
        "changeovers": np.array([each.at for each in variation.changeovers]),
    }
    np.savez(file, **arrays)
