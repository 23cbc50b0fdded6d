"""A page as NumPy's `.npz`: the problem and each step, one array each, in the type of the results.

Texts are arrays of texts: titles, labels, conventions, work, notes. There are no pickles.
"""

from collections.abc import Iterator
from typing import IO, Any

import numpy as np

from attncalc.problem.serialising import in_arrays, in_texts
from attncalc.writing.page import Page
from attncalc.writing.prose import line_in_text

Array = tuple[str, Any]


def write_npz(page: Page, file: IO[bytes]) -> None:
    """Write the problem, so that it can be read back, and the steps that are wanted."""
    arrays: Any = in_arrays(page.problem) | dict(_results(page))
    np.savez(file, **arrays)


def _results(page: Page) -> Iterator[Array]:
    sections = page.sections
    given = page.problem.names  # weights that are given stand there already, exactly
    names = [each.step.name for each in sections if each.grids and each.step.name not in given]
    yield "steps", np.array(names, dtype=str)
    yield from ((name, page.solution[name]) for name in names)
    if page.lines:
        yield "work", in_texts([line_in_text(line) for line in page.lines])
    sentences = [text for _, sentences in page.influences for text in sentences]
    if page.patterns is not None:
        yield "patterns", np.array(page.shown_patterns, dtype=str)
    for name, texts in (
        ("conventions", page.conventions),
        ("connections", sentences),
        ("notes", [*page.remarks, *page.notes]),
    ):
        yield name, in_texts(texts)
