"""JSON and CSV piece by piece, and a problem as a file to read and change in either form."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from attncalc.base.text import in_json
from attncalc.problem.problem import Problem
from attncalc.problem.serialising import Row, in_csv
from attncalc.problem.serialising import in_json as as_values

FORMS = (".json", ".csv")
_INDENT = "  "


def write_problem(problem: Problem, form: str = ".json") -> Iterator[str]:
    """Yield a problem as a file in one of `FORMS`; `attncalc.read_problem` reads it back.

    Raises InputError for CSV of a problem with masks for each head.
    """
    if form == ".csv":
        yield from as_lines(in_csv(problem))
        return
    yield from json_pieces(as_values(problem), rows_in_a_line=True)
    yield "\n"


def json_pieces(value: Any, margin: str = "\n", *, rows_in_a_line: bool = False) -> Iterator[str]:
    r"""Yield what `json.dumps(value, indent=2)` returns; an iterator is written as a list.

    value: mappings, lists, iterators, texts, numbers, true, false and None.
    margin: a line break and the blanks before the line that the value begins in.
    rows_in_a_line: whether a list of numbers is one line, as in rows of matrices.

    >>> "".join(json_pieces({"row": iter([1, 2])}))
    '{\n  "row": [\n    1,\n    2\n  ]\n}'
    """
    inner, brackets = margin + _INDENT, "[]"
    if isinstance(value, Mapping):
        items = ((f"{in_json(str(name))}: ", each) for name, each in value.items())
        brackets = "{}"
    elif isinstance(value, list | tuple) and not any(map(_holds_more, value)):
        # json itself writes a list of numbers and texts at once, and much faster
        if rows_in_a_line or not value:
            yield in_json(value)
        else:
            yield f"[{inner}{in_json(value, separators=(f',{inner}', ': '))[1:-1]}{margin}]"
        return
    elif _holds_more(value):
        items = (("", each) for each in value)
    else:
        yield in_json(value)
        return
    before = brackets[0]
    for name, each in items:
        yield f"{before}{inner}{name}"
        yield from json_pieces(each, inner, rows_in_a_line=rows_in_a_line)
        before = ","
    yield brackets if before != "," else margin + brackets[1]


def _holds_more(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str)


def as_lines(rows: Iterable[Row], delimiter: str = ",") -> Iterator[str]:
    """Yield the lines of a CSV file."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter, lineterminator="\n")
    for row in rows:
        writer.writerow(row)
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()
