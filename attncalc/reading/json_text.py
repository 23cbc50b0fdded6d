"""A problem, or one matrix, as JSON; every number is kept as typed."""

import json
import re
from collections.abc import Container, Sequence
from typing import Any

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.types import Matrix
from attncalc.problem.fields import MATRICES, NESTED, SETTINGS, TEXTS, one_of, own_name, role_of
from attncalc.problem.standing import LISTS
from attncalc.reading.cells import Faults, in_words, read_cells
from attncalc.reading.inline_text import read_inline_cells
from attncalc.reading.json_values import Pairs, Typed, is_deep, parsed
from attncalc.reading.names import canonical, field_called, read_by_equations, tell_unknown

Fields = dict[str, Any]

DEEPEST = 100
"""The deepest nesting of lists, objects and their pairs; problems have less than a tenth of it."""
OF_EDITORS = "$schema"
"""The schema of a file, which only editors read."""
_BARE_FRACTION = re.compile(r"(?<![\d\"/.])-?\d+ ?/ ?\d+(?![\d\"])")


def read_json_problem(text: str, faults: Faults, equations: Sequence[str] = ()) -> Fields:
    """Return the fields of a problem: matrices as typed numbers, labels and settings as texts.

    Matrices with other names are read if an equation of the file or of `equations` reads them.
    """
    content = parse(text, faults)
    if not isinstance(content, Pairs):
        raise InputError(
            f"{faults.place}: a problem is one JSON object, "
            f'like {{"X": [[1, 0]], "W_Q": …}}; this is {_kind(content)}'
        )
    strange: list[str] = []
    problem = _problem_in(content)
    lines = next((each for key, each in problem if canonical(key) == "equations"), None)
    read = read_by_equations(lines, equations)
    fields = _fields_of(problem, faults, strange, "", read)
    own = [name for name in dict.fromkeys(strange) if name in read]
    if own:
        given = dict(problem)
        fields["more"] = {name: _matrix(name, _as_rows(given[name]), faults) for name in own}
    tell_unknown([name for name in strange if name not in own], faults.add)
    faults.raise_if_any()
    return fields


def read_json_field(name: str, text: str, faults: Faults) -> Fields:
    """Return the field of a problem with this JSON value; a setting that is null is None."""
    fields = _fields_of(Pairs([(name, parse(text, faults))]), faults, [], "")
    faults.raise_if_any()
    return fields or {name: None}


def _fields_of(
    content: Pairs,
    faults: Faults,
    strange: list[str],
    before: str,
    of_equations: Container[str] = (),
) -> Fields:
    """Return the fields of an object, of a problem or of a part in it, with the prefix `before`."""
    fields: Fields = {}
    written: dict[str, str] = {}
    for key, value in content:
        if key == OF_EDITORS and not before:
            continue
        name = key if key in NESTED else field_called(key, of_equations)
        if name == "positions" and isinstance(value, list | Pairs):
            name = "P"  # the positions themselves, to be added
        if name is None:
            strange.append(before + key)
        elif value is None and (name in (*SETTINGS, *TEXTS, "labels")):
            continue  # null is the default
        elif name in written:
            both = f'"{written[name]}"' + ("" if written[name] == key else f' and "{key}"')
            faults.add(f"{before}{name} is given twice ({both})")
        else:
            written[name] = key
            if name in NESTED:
                fields[name] = _nested(name, value, faults, strange, before)
            else:
                fields[name] = _field(before + name, value, faults)
    return fields


def _nested(name: str, value: Any, faults: Faults, strange: list[str], before: str) -> Any:
    """Return the fields of a part of a problem, or of each of its layers."""
    if value is None:
        return None
    if not NESTED[name].several:
        return _part(f"{before}{name}.", value, faults, strange)
    if not isinstance(value, list):
        faults.add(f"{name}: {_kind(value)}, where a list of objects is needed")
        return None
    return [_part(f"{n}.", each, faults, strange) for n, each in enumerate(value, start=1)]


def _part(before: str, value: Any, faults: Faults, strange: list[str]) -> Fields | None:
    if not isinstance(value, Pairs):
        where = before.rstrip(".")
        what = f"layer {where}" if where.isdigit() else where
        faults.add(f"{what}: {_kind(value)}, where an object with its fields is needed")
        return None
    return _fields_of(value, faults, strange, before)


def _problem_in(content: Pairs) -> Pairs:
    """Return the problem in attncalc's own output, or the object itself."""
    parts = dict(content)
    problem = parts.get("problem")
    return problem if "attncalc" in parts and isinstance(problem, Pairs) else content


def read_json_matrix(name: str, text: str, faults: Faults) -> Matrix | None:
    """Return the matrix of a JSON file, a list of rows."""
    return _matrix(name, parse(text, faults), faults)


def parse(text: str, faults: Faults) -> Any:
    """Return the content of JSON: numbers as typed, objects as their pairs."""
    try:
        content = parsed(text)
        if isinstance(content, list | tuple) and is_deep(content, DEEPEST):
            raise RecursionError
    except json.JSONDecodeError as error:
        opened, closed = (sum(text.count(c, 0, error.pos) for c in cs) for cs in ("[{", "]}"))
        if opened - closed <= DEEPEST:
            place = f"not JSON at line {error.lineno}, column {error.colno}"
            raise InputError(f"{faults.place}: {place}: {_what_mends(text, error)}") from None
    except RecursionError:
        pass
    else:
        return content
    raise InputError(f"{faults.place}: not a problem: its lists are nested too deeply")


def _what_mends(text: str, error: json.JSONDecodeError) -> str:
    """Return the error of unreadable JSON, with a fix if one is known."""
    start = text.rfind("\n", 0, error.pos) + 1
    around = text[max(start, error.pos - 40) : error.pos + 40]
    behind = text[error.pos : error.pos + 1]
    before = text[max(0, error.pos - 200) : error.pos].rstrip()
    if behind in ("]", "}") and before.endswith(","):
        return f"a comma before {behind}: take it out"
    if "trailing comma" in error.msg:
        return "a comma before a closing bracket: take it out"
    if found := _BARE_FRACTION.search(around):
        return f'a fraction is written in quotes: "{found[0]}"'
    if behind == "'":
        return "texts and names are written in double quotes"
    return error.msg


def plain(value: Any) -> Any:
    """Return the result of `parse` with objects as dictionaries; the last of a repeated key."""
    if isinstance(value, Pairs):
        return {key: plain(each) for key, each in value}
    return [plain(each) for each in value] if isinstance(value, list) else value


def _as_rows(value: Any) -> Any:
    """Return a single number as a list of rows."""
    is_number = isinstance(value, str) and not re.search(r"[\s,;\[]", value.strip())
    return [[value]] if is_number else value


def _field(name: str, value: Any, faults: Faults) -> Any:
    if own_name(name) in MATRICES:
        return _matrix(name, value, faults)
    if name == "labels":
        return _labels(value, faults)
    takes_list = name == "asked" or (name in SETTINGS and SETTINGS[name].is_list)
    if isinstance(value, str | bool) or (takes_list and isinstance(value, list)):
        return value
    if own_name(name) == "rope_scaling" and isinstance(value, Pairs):
        return plain(value)
    faults.add(f"{name}: {_kind(value)} cannot be read here")
    return None


def _matrix(name: str, value: Any, faults: Faults) -> Matrix | None:
    """Read a list of rows, a single row, or rows written as text."""
    if isinstance(value, str) and not isinstance(value, Typed):
        return read_inline_cells(name, value, faults)
    if not isinstance(value, list):
        faults.add(f"{name}: {_kind(value)}, where a list of rows is needed")
        return None
    if value and not any(isinstance(row, list | Pairs) for row in value):
        row = _rows(name, [value], faults)
        return row if row is None or role_of(name) not in LISTS else row[0]
    if value and isinstance(value[0], list) and value[0] and isinstance(value[0][0], list | Pairs):
        return _heads(name, value, faults)
    return _rows(name, value, faults)


def _heads(name: str, value: list[Any], faults: Faults) -> Matrix | None:
    """Read a list of matrices, one for each head, or for each channel of an image."""
    parts, one = [], one_of(name)
    for i, part in enumerate(value, start=1):
        if not isinstance(part, list):
            faults.add(f"{name}, {one} {i}: {_kind(part)}, where a list of rows is needed")
            return None
        parts.append(_rows(f"{name}, {one} {i}", part, faults, field=name))
    if any(part is None for part in parts):
        return None
    shapes = {part.shape for part in parts if part is not None}
    if len(shapes) > 1:
        faults.add(f"{name}: its {one}s differ in shape")
        return None
    return np.array(parts, dtype=object)


def _rows(name: str, value: list[Any], faults: Faults, field: str = "") -> Matrix | None:
    for i, row in enumerate(value, start=1):
        if not isinstance(row, list):
            faults.add(f"{name}, row {i}: {_kind(row)}, where a list of numbers is needed")
            return None
    return read_cells(name, value, faults, field=field)


def _labels(value: Any, faults: Faults) -> Any:
    if not isinstance(value, Pairs):
        return _names("labels", value, faults)
    labels: dict[str, Sequence[str]] = {}
    for key, names in value:
        name = canonical(key) or key
        if name in labels:
            faults.add(f"labels of {name} are given twice")
        labels[name] = _names(f"labels of {name}", names, faults)
    return labels


def _names(place: str, value: Any, faults: Faults) -> Sequence[str]:
    if not isinstance(value, list):
        faults.add(f"{place}: {_kind(value)}, where a list of texts is needed")
        return []
    for i, name in enumerate(value, start=1):
        if not isinstance(name, str):
            faults.add(f"{place}, entry {i}: {_kind(name)}, where a text is needed")
    return value


def _kind(value: Any) -> str:
    if isinstance(value, Pairs):
        return "an object"
    return "a number" if isinstance(value, Typed) else in_words(value)
