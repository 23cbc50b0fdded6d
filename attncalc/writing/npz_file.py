"""A page as NumPy's `.npz`: the problem and each step, one array each, in the type of the results.

Texts are arrays of texts: titles, labels, conventions, work, notes. There are no pickles.
"""

from collections.abc import Iterator, Mapping
from typing import IO, Any

import numpy as np

from attncalc import __version__
from attncalc.problem.problem import Problem
from attncalc.problem.serialising import as_typed, settings
from attncalc.writing.page import Page
from attncalc.writing.prose import line_in_text

Array = tuple[str, Any]


def write_npz(page: Page, file: IO[bytes]) -> None:
    """Write the problem, so that it can be read back, and the steps that are wanted."""
    arrays: Any = dict(_problem(page.problem)) | dict(_results(page))
    np.savez(file, **arrays)


def _problem(problem: Problem) -> Iterator[Array]:
    yield "attncalc", np.array(__version__)
    for name, value in settings(problem).items():
        yield name, np.array(value)
    for name in problem.names:
        yield name, getattr(problem, name)
        if name in problem.typed:  # where a float is not quite what was typed
            yield f"{name} typed", np.vectorize(as_typed, otypes=[str])(problem.typed[name])
    if isinstance(problem.labels, Mapping):
        for name, labels in problem.labels.items():
            yield f"labels {name}", np.array([str(label) for label in labels])
    elif problem.labels is not None:
        yield "labels", np.array([str(label) for label in problem.labels])


def _results(page: Page) -> Iterator[Array]:
    sections = page.sections
    names = [section.step.name for section in sections if section.grids]
    yield "steps", np.array(names, dtype=str)
    yield from ((name, page.solution[name]) for name in names)
    if page.lines:
        yield "work", np.array([line_in_text(line) for line in page.lines])
    sentences = [text for _, sentences in page.influences for text in sentences]
    for name, texts in (
        ("conventions", page.conventions),
        ("connections", sentences),
        ("notes", [*page.remarks, *page.notes]),
    ):
        yield name, np.array(texts, dtype=str)
