"""A problem as a file to be read and changed: JSON with a line for each row, or CSV."""

from collections.abc import Iterator, Mapping
from typing import Any

from attncalc.problem.problem import Problem
from attncalc.problem.serialising import in_csv, in_json
from attncalc.text import in_json as quoted
from attncalc.writing.csv_text import as_lines

FORMS = (".json", ".csv")


def write_problem(problem: Problem, form: str = ".json") -> Iterator[str]:
    """Yield a problem as a file states it, piece by piece.

    Parameters
    ----------
    problem
        What is written; `attncalc.read_problem` reads it back.
    form
        One of `FORMS`.

    Raises
    ------
    InputError
        When it has masks for each head, which CSV cannot hold.
    """
    if form == ".csv":
        yield from as_lines(in_csv(problem))
        return
    yield from _pieces(in_json(problem), "\n")
    yield "\n"


def _pieces(value: Any, margin: str) -> Iterator[str]:
    """Yield JSON in which a row of numbers stands in one line, as people write matrices."""
    if isinstance(value, Mapping):
        items = [(f"{quoted(name)}: ", each) for name, each in value.items()]
        yield from _listed("{}", items, margin)
    elif isinstance(value, list) and any(isinstance(each, list | Mapping) for each in value):
        yield from _listed("[]", [("", each) for each in value], margin)
    else:
        yield quoted(value)


def _listed(brackets: str, items: list[tuple[str, Any]], margin: str) -> Iterator[str]:
    inner = margin + "  "
    for place, (name, each) in enumerate(items):
        yield f"{',' if place else brackets[0]}{inner}{name}"
        yield from _pieces(each, inner)
    yield f"{margin}{brackets[1]}" if items else brackets
