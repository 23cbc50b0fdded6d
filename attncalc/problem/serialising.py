"""A problem in the form of its file, as JSON, CSV and arrays: each can be read back."""

import json
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from attncalc.base import __version__
from attncalc.base.errors import InputError
from attncalc.base.text import harmless_cell
from attncalc.base.typed import as_written, exact
from attncalc.base.types import Matrix
from attncalc.equations.operations.angles import RopeScaling
from attncalc.problem.attention.placed import is_there as attends
from attncalc.problem.attention.rope_scaling import scaling_as_typed
from attncalc.problem.fields import GIVEN, LABELLED, NESTED, SETTINGS, TEXTS, Lines, role_of
from attncalc.problem.problem import Problem, nested_fields
from attncalc.problem.stating import read_by

ROW_NAMES, COLUMN_NAMES = "row names", "column names"
"""The keys of the names in a sheet, until the layout determines which of them are tokens."""
RESULTS = "results"
"""The heading after the problem in attncalc's CSV: the rest is not read back."""
TOKEN = "token"
"""The heading of the names of tokens in CSV, so that none of them is read as a number."""
OWN_PROBLEM = "problem.csv"
"""The problem in a folder that attncalc wrote, next to a file for each step."""
ROOM_FOR_TEXTS = 1_000_000
"""The number of letters that an array of texts may always have."""
ALWAYS_SAID = ("scale", "rounding", "decimals")

Row = Sequence[str]


def settings(problem: Problem) -> dict[str, Any]:
    """Return the texts and every convention with another value than its default."""
    said: dict[str, Any] = {name: text for name in TEXTS if (text := getattr(problem, name))}
    for name, setting in SETTINGS.items():
        value = getattr(problem, name)
        if name in ALWAYS_SAID or value != setting.default_in(problem.block):
            said[name] = _setting_as_typed(value)
    return said


def settings_of_parts(problem: Problem) -> dict[str, Any]:
    """Return the given settings of each layer and attention, by their full names."""
    said: dict[str, Any] = {}
    for prefix, given, _ in nested_fields(problem):
        own = [name for name in given if name in SETTINGS]
        if prefix[:-1].isdigit():  # so that a layer without settings is kept
            own = list(dict.fromkeys([*own, "norm"]))
        fields = problem.inner[prefix]
        said |= {prefix + name: _setting_as_typed(getattr(fields, name)) for name in own}
    return said


def _setting_as_typed(value: Any) -> Any:
    """Return a setting as in a file: a fraction and a list of names as texts."""
    if isinstance(value, RopeScaling):
        return scaling_as_typed(value)
    if isinstance(value, Lines):
        return list(value)
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return as_written(value) if isinstance(value, Fraction) else value


def as_typed(value: Any) -> str:
    """Return an entry of a given matrix in its usual notation.

    >>> as_typed(np.float64(0.5)), as_typed(Fraction(1, 3)), as_typed(np.bool_(True))
    ('0.5', '1/3', '1')
    """
    if isinstance(value, np.bool_):
        return str(int(value))
    if not np.isfinite(float(value)):
        return "-inf"
    return as_written(value if isinstance(value, Decimal | Fraction) else exact(value))


def labels(problem: Problem) -> list[str] | dict[str, list[str]] | None:
    """Return the names of the tokens as given, for each matrix with its own names."""
    if isinstance(problem.labels, Mapping):
        return {name: [str(each) for each in names] for name, names in problem.labels.items()}
    return None if problem.labels is None else [str(each) for each in problem.labels]


def in_json(problem: Problem) -> dict[str, Any]:
    """Return the problem as in a JSON file."""
    names = labels(problem)
    matrices = {name: _stated(problem, name) for name in problem.names if "." not in name}
    said = settings(problem) | ({} if names is None else {"labels": names}) | matrices
    return said | {name: _in_part(problem, name) for name in NESTED if getattr(problem, name)}


def _in_part(problem: Problem, name: str) -> Any:
    given = getattr(problem, name)
    if not NESTED[name].several:
        return _of_part(problem, f"{name}.", given)
    return [_of_part(problem, f"{n}.", each) for n, each in enumerate(given, start=1)]


def _of_part(problem: Problem, prefix: str, given: Mapping[str, Any]) -> dict[str, Any]:
    said: dict[str, Any] = {}
    for name, value in given.items():
        if name in GIVEN:
            said[name] = None if value is None else _stated(problem, prefix + name)
        elif name in NESTED:
            said[name] = None if value is None else _of_part(problem, f"{prefix}{name}.", value)
        else:
            said[name] = _setting_as_typed(getattr(problem.inner[prefix], name))
    return {name: value for name, value in said.items() if value is not None}


def in_texts(texts: Any) -> Matrix:
    """Return texts as an array; as one JSON text if a few are long.

    An array stores each text with the size of the longest one, four bytes per letter: one label
    of 300,000 among 600 would take 700 MB.

    >>> in_texts(["a", "bc"]).shape, in_texts([*"abcdefg", "b" * 1_000_000]).shape
    ((2,), ())
    """
    array = np.array(texts, dtype=object)
    lengths = [len(text) for text in array.flat]
    room = max(lengths, default=0) * len(lengths)
    if room < ROOM_FOR_TEXTS or room < 4 * sum(lengths):
        return array.astype(str)
    return np.array(json.dumps(array.tolist(), ensure_ascii=False))


def from_texts(array: Matrix) -> Any:
    """Return the texts of such an array, in lists, or its single text."""
    text = array.tolist()
    return json.loads(text) if isinstance(text, str) and text.startswith("[") else text


def in_arrays(problem: Problem) -> dict[str, Any]:
    """Return the problem as arrays by name; as texts if floats are not exact."""
    arrays: dict[str, Any] = {"attncalc": np.array(__version__)}  # identifies attncalc's own files
    said = settings(problem) | settings_of_parts(problem)
    arrays |= {name: np.array(value) for name, value in said.items()}
    for name in problem.names:
        arrays[name] = problem.as_listed(name, problem.stored(name))
        if name in problem.typed:
            texts = np.frompyfunc(as_typed, 1, 1)(problem.as_listed(name, problem.typed[name]))
            arrays[f"{name} typed"] = in_texts(texts)
    names = labels(problem)
    if isinstance(names, dict):
        return arrays | {f"labels {name}": in_texts(each) for name, each in names.items()}
    return arrays if names is None else arrays | {"labels": in_texts(names)}


def in_csv(problem: Problem) -> Iterator[Row]:
    """Yield the rows of a file of blocks."""
    joined = {
        heading: matrix for name in problem.names for heading, matrix in _in_blocks(problem, name)
    }
    said = settings(problem) | settings_of_parts(problem)
    if problem.n_heads > 1:
        said["heads"] = problem.n_heads
    for prefix, fields in problem.inner.items():
        if fields.n_heads > 1 and attends(fields):
            said[f"{prefix}heads"] = fields.n_heads
    if problem.image is not None and problem.image.ndim == 3:
        said["channels"] = len(problem.image)
    if (line := _line_of_labels(problem)) is not None:
        yield line
    for name, value in said.items():
        text = "\n".join(value) if isinstance(value, list) else str(value)
        yield [name, harmless_cell(text.lower() if isinstance(value, bool) else text)]
    for name, matrix in joined.items():
        yield []
        yield [name]
        yield from _block(problem, name, matrix)


def _stated(problem: Problem, name: str) -> Any:
    """Return a given matrix as in a file: rows of numbers, or a list."""
    return _typed(problem.as_listed(name, problem.as_given(name)))


def _typed(matrix: Matrix) -> Any:
    """Return nested lists of numbers; a number that is not a float, such as 1/3, as a text."""
    if matrix.ndim > 1:
        return [_typed(row) for row in matrix]
    return [_typed_number(value) for value in matrix]


def _typed_number(value: Any) -> Any:
    text = as_typed(value)
    if "/" in text or text == "-inf" or exact(float(text)) != Decimal(text):
        return text
    return int(text) if text.lstrip("-").isdigit() and len(text) < 16 else float(text)


def _in_blocks(problem: Problem, name: str) -> Iterator[tuple[str, Matrix]]:
    """Yield the headings and blocks of a matrix: W[0], W[1], … if only equations read it."""
    matrix = problem.as_given(name)
    is_of_equations = bool(problem.equations) and name in read_by(problem.equations)
    if matrix.ndim == 3 and is_of_equations:
        yield from ((f"{name}[{place}]", each) for place, each in enumerate(matrix))
    else:
        yield name, _joined(problem, name, matrix)


def _joined(problem: Problem, name: str, matrix: Matrix) -> Matrix:
    """Return a given matrix in two dimensions, its heads side by side."""
    if matrix.ndim == 2 or len(matrix) == 1:
        return matrix if matrix.ndim == 2 else matrix[0]
    if role_of(name) in ("marks", "scores", "start"):
        what = "matrix" if role_of(name) == "start" else "mask"
        raise InputError(
            f"csv cannot contain {name}, a {what} for each head: json and npz can (--format json)"
        )
    heads = problem.turned(name, matrix)
    upright = heads if heads.ndim == 2 else np.concatenate(list(heads), axis=-1)
    return upright.T if problem.standing.is_turned(name) else upright


def _block(problem: Problem, name: str, matrix: Matrix) -> Iterator[Row]:
    """Yield the rows of a given matrix, with the names of its tokens if it has any."""
    texts = [[as_typed(value) for value in row] for row in matrix]
    names = _names_of_sides(problem, name, matrix)
    if names is None:
        yield from texts
        return
    yield [TOKEN, *map(harmless_cell, names[1])]
    for label, row in zip(names[0], texts, strict=True):
        yield [harmless_cell(label), *row]


def _names_of_sides(problem: Problem, name: str, matrix: Matrix) -> Sequence[Row] | None:
    """Return the names of rows and columns of a matrix, if its tokens have any."""
    found, standing = labels(problem), problem.standing
    if name not in LABELLED or found is None:
        return None
    if name in ("S", "A"):
        return standing.pair(problem.queries, problem.keys)
    names = found.get(name) if isinstance(found, dict) else found if name == "X" else None
    count = standing.pair(*matrix.shape)[1]
    features = [f"feature {number}" for number in range(1, count + 1)]
    return None if names is None else standing.pair(names, features)


def _line_of_labels(problem: Problem) -> Row | None:
    """Return the names of computed tokens, which have no block."""
    found, tokens = labels(problem), problem.made_tokens
    names = found.get(tokens) if isinstance(found, dict) else found
    if not (tokens and names):
        return None
    shown = (name or f"({place})" for place, name in enumerate(names, start=1))
    return [f"labels {tokens}", *map(harmless_cell, shown)]
