"""The table of conventions is true: each of its cells is what the library does when run."""

import re
import tomllib

import pytest
from conftest import ROOT
from libraries import LIBRARIES, Library
from libraries_around import AROUND, ROWS_AROUND, Around

pytestmark = pytest.mark.libraries

PAGE = (ROOT / "docs" / "conventions.md").read_text(encoding="utf-8")
ROWS = {
    "a true in a mask means": Library.true_in_a_mask,
    "default scale": Library.default_scale,
    "causal alignment": Library.causal_alignment,
    "row with no key left": Library.empty_row,
    "fewer key heads serve": Library.fewer_key_heads,
}
"""What each row of the table is about, and the method that runs it."""


def table() -> list[list[str]]:
    """Return the cells of the table, without what sets them in bold or as code."""
    return cells_behind("Conventions differ between libraries.")


def cells_behind(words: str) -> list[list[str]]:
    """Return the cells of the table that follows some words."""
    _, text = PAGE.split(words)
    (lines, *_) = (
        re.findall(r"^\|(.*)\|$", part, flags=re.MULTILINE)
        for part in text.split("\n\n")
        if part.startswith("|")
    )
    cells = [[cell.strip() for cell in re.sub(r"[*`]", "", line).split("|")] for line in lines]
    return [cells[0], *cells[2:]]


def test_the_table_has_a_test_for_every_row_and_every_column() -> None:
    heads, *rows = table()
    assert heads == ["", *(library.name for library in LIBRARIES)]
    assert [row[0] for row in rows] == list(ROWS)


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.name)
@pytest.mark.parametrize("row", ROWS)
def test_a_cell_of_the_table_equals_the_library(row: str, library: Library) -> None:
    heads, *rows = table()
    (said,) = (cells[heads.index(library.name)] for cells in rows if cells[0] == row)
    assert getattr(library, ROWS[row].__name__)() == said


def around() -> list[list[str]]:
    return cells_behind("Conventions of other operations:")


def test_the_table_around_attention_has_a_test_for_every_row_and_every_column() -> None:
    heads, *rows = around()
    assert heads == ["", *(library.name for library in AROUND)]
    assert [row[0] for row in rows] == list(ROWS_AROUND)


@pytest.mark.parametrize("library", AROUND, ids=lambda library: library.name)
@pytest.mark.parametrize("row", ROWS_AROUND)
def test_a_cell_around_attention_equals_the_library(row: str, library: Around) -> None:
    heads, *rows = around()
    (said,) = (cells[heads.index(library.name)] for cells in rows if cells[0] == row)
    assert ROWS_AROUND[row](library) == said


def test_the_table_names_the_versions_that_are_asked_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extra = project["optional-dependencies"]["libraries"]
    asked = [each for each in extra if "transformers" not in each]  # which opens models alone
    (named,) = re.findall(r"of PyTorch (\S+), ONNX (\S+),\sJAX (\S+) and Keras (\d[\d.]*\d)", PAGE)
    names = ("torch", "onnx", "jax", "keras")
    assert asked == [f"{name}>={number}" for name, number in zip(names, named, strict=True)]
