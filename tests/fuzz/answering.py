"""Answers to a problem: its own digits, in another shape, under another name or of another type.

Most of each answer is right, so that it passes the reader and reaches marking.
"""

import csv
import io
import json
from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any, NamedTuple

import numpy as np

from attncalc.grading.key import key_of
from attncalc.grading.rules import Rules
from attncalc.problem.samples import SAMPLES
from attncalc.reading import read_problem

Document = tuple[str, bytes]
Steps = dict[str, np.ndarray]
"""The digits of each step by its name, as texts: (rows, columns), or (heads, rows, columns)."""
FORMS = (".txt", ".txt", ".md", ".tex", ".json", ".json", ".csv", ".npz", ".html")
MIXED: list[Any] = [
    True,
    False,
    None,
    "",
    "x",
    "1/0",
    {},
    [],
    [[]],
    [[[]]],
    1e400,
    10**400,
    {"a": 1},
]
"""JSON values in place of a number, a row or a head."""
MOST_STEPS = 4


class Sample(NamedTuple):
    """A problem in its file, and the digits of its steps."""

    name: str
    data: bytes
    steps: Steps


@cache
def keyed() -> tuple[Sample, ...]:
    """Return the bundled problems with their keys."""
    found = []
    for sample in SAMPLES:
        if sample.path.is_file():
            problem = read_problem(sample.path)
            shown = key_of(problem, Rules()).expected.steps
            typed = np.vectorize(f"{{:.{problem.decimals}f}}".format, otypes=[object])
            texts = {name: typed(matrix) for name, matrix in shown.items()}
            found.append(Sample(sample.path.name, sample.path.read_bytes(), texts))
    return tuple(found)


def answer_to(some: Random, sample: Sample, stem: str = "mine") -> Document:
    """Return an answer to a problem: some of its steps, mostly with other sizes than the key's."""
    names = list(sample.steps)
    chosen = some.sample(names, min(len(names), some.randint(1, MOST_STEPS)))
    steps = {name: _reshaped(some, sample.steps[name]) for name in sorted(chosen, key=names.index)}
    if some.random() < 0.3:
        steps = {_renamed(some, name, names): matrix for name, matrix in steps.items()}
    ending = some.choice(FORMS)
    write = _WRITERS.get(ending, _as_text)
    return stem + ending, write(some, steps)


def _reshaped(some: Random, matrix: np.ndarray) -> np.ndarray:
    """Return a matrix with more or fewer heads, rows or columns, or as it is."""
    if some.random() < 0.2:
        matrix = matrix[np.newaxis] if matrix.ndim == 2 else matrix[some.randrange(len(matrix))]
    for axis, size in enumerate(matrix.shape):
        if some.random() < 0.35:
            count = some.choice([size + 1, size + 1, size + 2, max(1, size - 1), 2 * size, 1])
            matrix = matrix.take(range(count), axis=axis, mode="wrap")
    if some.random() < 0.2:
        matrix = np.swapaxes(matrix, -1, -2)
    if some.random() < 0.5 and matrix.size:
        matrix = matrix.copy()
        matrix.flat[some.randrange(matrix.size)] = some.choice(
            ["7.00", "", "-", "?", "1/3", "-inf"]
        )
    return matrix


def _renamed(some: Random, name: str, names: list[str]) -> str:
    """Return another step's name, or that of a head, a layer or an attention that is not there."""
    count = some.choice([0, 1, 2, 3, 9, 1001, 10**6])
    bare = name.rpartition(".")[2]
    return some.choice(
        [
            *(some.choice(names), f"{name} head {count}", f"{name}_{count}", f"{count}.{name}"),
            *(f"cross.{bare}", f"self.{bare}", f"{name} row {count}", f"{bare}^({count})"),
            *(f"d{name}", f"{name}^T", f"layer {count} {bare}", bare.lower()),
        ]
    )


def _as_text(some: Random, steps: Steps) -> bytes:
    """Return matrices as texts have them: whole, by heads, rows, columns or entries."""
    lines = []
    ways: list[Callable[[Random, str, np.ndarray], list[str]]] = [_whole, _whole, _rows, _entries]
    for name, matrix in steps.items():
        way = some.choice(ways)
        heads = [matrix] if matrix.ndim == 2 else list(matrix)
        first = some.choice([1, 1, 1, 0, 2])
        label = some.choice(["{} head {}", "{}_{}", "Head {1}\n{0}", "{}^({})", "{}"])
        for number, head in enumerate(heads, start=first):
            own = label.format(name, number) if len(heads) > 1 or some.random() < 0.2 else name
            lines += way(some, own, head)
    if some.random() < 0.2:
        outputs = [
            f"Output {some.randint(0, 5)}: most input {some.randint(0, 5)}" for _ in range(2)
        ]
        lines += ["connections", *outputs]
    return "\n".join(lines).encode()


def _whole(some: Random, name: str, matrix: np.ndarray) -> list[str]:
    opens, between, apart, closes = some.choice(
        [
            (" = [", " ", "; ", "]"),
            (" = [[", ", ", "], [", "]]"),
            (":\n", " ", "\n", "\n"),
            (":\n\n| ", " | ", " |\n| ", " |\n"),
            (" = \\begin{bmatrix}", " & ", " \\\\ ", "\\end{bmatrix}"),
        ]
    )
    return [f"{name}{opens}{apart.join(between.join(row) for row in matrix)}{closes}"]


def _rows(some: Random, name: str, matrix: np.ndarray) -> list[str]:
    first = some.choice([0, 1, 1, 2])
    label = some.choice(["{}[{},:] =", "{} row {}:", "{}_{} ="])
    return [
        f"{label.format(name, number)} ({', '.join(row)})"
        for number, row in enumerate(matrix, start=first)
    ]


def _entries(some: Random, name: str, matrix: np.ndarray) -> list[str]:
    first = some.choice([0, 1, 1, 1, 2])
    label = some.choice(["{}[{},{}] = {}", "{}_{{{}{}}} = {}", "{}_{{{},{}}} = {}"])
    return [
        label.format(name, i, j, entry)
        for i, row in enumerate(matrix, start=first)
        for j, entry in enumerate(row, start=first)
    ]


def _as_json(some: Random, steps: Steps) -> bytes:
    """Return an object of steps, in which something mostly is of another type."""
    made: dict[str, Any] = {}
    for name, matrix in steps.items():
        value = matrix.tolist()
        if some.random() < 0.5:
            value = _mixed(some, value)
        if matrix.ndim == 3 and some.random() < 0.3 and isinstance(value, list):
            value = {f"head {number}": each for number, each in enumerate(value, start=1)}
        if some.random() < 0.2:
            value = {some.choice(["shown", "values", "matrix", "name"]): value}
        made[name] = value
    if some.random() < 0.15:
        made["connections"] = some.choice([*MIXED, [{"output": 1, "most": [9], "second": True}]])
    whole: Any = made
    if some.random() < 0.2:
        listed = [{"name": name, "shown": value} for name, value in made.items()]
        whole = {some.choice(["steps", "heads", "layers", "answer"]): some.choice([made, listed])}
    return json.dumps(whole).encode()


def _mixed(some: Random, value: Any) -> Any:
    """Return nested lists with one of their parts, at any depth, of another type."""
    if not isinstance(value, list) or not value or some.random() < 0.25:
        return some.choice(MIXED)
    place = some.randrange(len(value))
    return [*value[:place], _mixed(some, value[place]), *value[place + 1 :]]


def _as_csv(some: Random, steps: Steps) -> bytes:
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=some.choice(",;\t"))
    for name, matrix in steps.items():
        heads = [(name, matrix)] if matrix.ndim == 2 else []
        heads += [(f"{name} head {n}", m) for n, m in enumerate(matrix, 1) if matrix.ndim == 3]
        for own, head in heads:
            writer.writerows([[own], *head.tolist(), []])
    return buffer.getvalue().encode()


def _as_npz(some: Random, steps: Steps) -> bytes:
    buffer = io.BytesIO()
    arrays = {}
    for name, matrix in steps.items():
        numbers = np.array([_number(each) for each in matrix.flat]).reshape(matrix.shape)
        for _ in range(some.choice([0, 0, 0, 1, 2])):
            numbers = numbers[np.newaxis]
        arrays[name.replace("/", "_")] = numbers
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


def _as_html(some: Random, steps: Steps) -> bytes:
    text = _as_text(some, steps).decode()
    digits = some.choice("0123456789") * some.choice([1, 9, 4400])
    reference = some.choice(["", "&nbsp;", "&minus;", f"&#{digits};", f"&#x{digits};"])
    return f"<p>{text.replace(' ', reference or ' ', 1)}</p>".encode()


_WRITERS: dict[str, Callable[[Random, Steps], bytes]] = {
    ".json": _as_json,
    ".csv": _as_csv,
    ".npz": _as_npz,
    ".html": _as_html,
}
