"""A problem, or one matrix, as JSON; every number kept as it was typed."""

import json
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from attncalc.errors import InputError
from attncalc.numbers.types import Matrix
from attncalc.problem.fields import MATRICES, SETTINGS
from attncalc.reading.cells import Faults, in_words, read_cells
from attncalc.reading.inline_text import read_inline_cells
from attncalc.reading.names import canonical, tell_unknown

Fields = dict[str, Any]

_BARE_FRACTION = re.compile(r"(?<![\d\"/.])-?\d+ ?/ ?\d+(?![\d\"])")


class _Number(str):
    """A number as it was typed."""

    __slots__ = ()


class _Object(list[tuple[str, Any]]):
    """A JSON object as its pairs, so that a key given twice can be seen."""


def read_json_problem(text: str, faults: Faults) -> Fields:
    """Return the fields of a problem: matrices as typed numbers, labels and settings as texts."""
    content = parse(text, faults)
    if not isinstance(content, _Object):
        raise InputError(
            f"{faults.place}: a problem is one JSON object, "
            f'like {{"X": [[1, 0]], "W_Q": …}}; this is {_kind(content)}'
        )
    fields: Fields = {}
    written: dict[str, str] = {}
    strange: list[str] = []
    for key, value in _problem_in(content):
        name = canonical(key)
        if name == "positions" and isinstance(value, list):
            name = "P"  # the positions themselves, to be added
        if name is None:
            strange.append(key)
        elif value is None and (name in SETTINGS or name in ("title", "labels")):
            continue  # null is the default
        elif name in written:
            both = f'"{written[name]}"' + ("" if written[name] == key else f' and "{key}"')
            faults.add(f"{name} is given twice ({both})")
        else:
            written[name] = key
            fields[name] = _field(name, value, faults)
    tell_unknown(strange, faults.add)
    faults.raise_if_any()
    return fields


def _problem_in(content: _Object) -> _Object:
    """Return the problem that attncalc's own output holds, or the object itself."""
    parts = dict(content)
    problem = parts.get("problem")
    return problem if "attncalc" in parts and isinstance(problem, _Object) else content


def read_json_matrix(name: str, text: str, faults: Faults) -> Matrix | None:
    """Return the one matrix a JSON file holds as a list of rows."""
    return _matrix(name, parse(text, faults), faults)


def parse(text: str, faults: Faults) -> Any:
    """Return what JSON holds: numbers as they were typed, objects as their pairs."""
    try:
        return json.loads(
            text,
            parse_int=_Number,
            parse_float=_Number,
            parse_constant=_Number,
            object_pairs_hook=_Object,
        )
    except json.JSONDecodeError as error:
        place = f"not JSON at line {error.lineno}, column {error.colno}"
        raise InputError(f"{faults.place}: {place}: {_what_mends(text, error)}") from None
    except RecursionError:
        raise InputError(
            f"{faults.place}: not a problem: its lists are nested too deeply"
        ) from None


def _what_mends(text: str, error: json.JSONDecodeError) -> str:
    """Return what is wrong where JSON cannot be read, and what mends it if that is known."""
    start = text.rfind("\n", 0, error.pos) + 1
    around = text[max(start, error.pos - 40) : error.pos + 40]
    behind = text[error.pos : error.pos + 1]
    before = text[max(0, error.pos - 200) : error.pos].rstrip()
    if behind in ("]", "}") and before.endswith(","):
        return f"a comma before {behind}: take it out"
    if "trailing comma" in error.msg:
        return "a comma before a closing bracket: take it out"
    if _BARE_FRACTION.search(around):
        found = _BARE_FRACTION.search(around)
        return f'a fraction is written in quotes: "{found[0]}"' if found else error.msg
    if behind == "'":
        return "texts and names are written in double quotes"
    return error.msg


def plain(value: Any) -> Any:
    """Return what `parse` gave with its objects as dictionaries; of a key given twice, the last."""
    if isinstance(value, _Object):
        return {key: plain(each) for key, each in value}
    return [plain(each) for each in value] if isinstance(value, list) else value


def _field(name: str, value: Any, faults: Faults) -> Any:
    if name in MATRICES:
        return _matrix(name, value, faults)
    if name == "labels":
        return _labels(value, faults)
    if isinstance(value, str | bool) or (name == "asked" and isinstance(value, list)):
        return value
    faults.add(f"{name}: {_kind(value)} cannot be read here")
    return None


def _matrix(name: str, value: Any, faults: Faults) -> Matrix | None:
    """Read a list of rows, a single row, or rows written as text."""
    if isinstance(value, str) and not isinstance(value, _Number):
        return read_inline_cells(name, value, faults)
    if not isinstance(value, list) or isinstance(value, _Object):
        faults.add(f"{name}: {_kind(value)}, where a list of rows is needed")
        return None
    if value and not any(isinstance(row, list) for row in value):
        value = [value]
    if value and isinstance(value[0], list) and value[0] and isinstance(value[0][0], list):
        return _heads(name, value, faults)
    return _rows(name, value, faults)


def _heads(name: str, value: list[Any], faults: Faults) -> Matrix | None:
    """Read a list of matrices, one for each head."""
    parts = []
    for i, part in enumerate(value, start=1):
        if not isinstance(part, list) or isinstance(part, _Object):
            faults.add(f"{name}, head {i}: {_kind(part)}, where a list of rows is needed")
            return None
        parts.append(_rows(f"{name}, head {i}", part, faults, field=name))
    if any(part is None for part in parts):
        return None
    shapes = {part.shape for part in parts if part is not None}
    if len(shapes) > 1:
        faults.add(f"{name}: its heads differ in shape")
        return None
    return np.array(parts, dtype=object)


def _rows(name: str, value: list[Any], faults: Faults, field: str = "") -> Matrix | None:
    for i, row in enumerate(value, start=1):
        if not isinstance(row, list) or isinstance(row, _Object):
            faults.add(f"{name}, row {i}: {_kind(row)}, where a list of numbers is needed")
            return None
    return read_cells(name, value, faults, field=field)


def _labels(value: Any, faults: Faults) -> Any:
    if not isinstance(value, _Object):
        return _names("labels", value, faults)
    labels: dict[str, Sequence[str]] = {}
    for key, names in value:
        name = canonical(key) or key
        if name in labels:
            faults.add(f"labels of {name} are given twice")
        labels[name] = _names(f"labels of {name}", names, faults)
    return labels


def _names(place: str, value: Any, faults: Faults) -> Sequence[str]:
    if not isinstance(value, list) or isinstance(value, _Object):
        faults.add(f"{place}: {_kind(value)}, where a list of texts is needed")
        return []
    for i, name in enumerate(value, start=1):
        if not isinstance(name, str):
            faults.add(f"{place}, entry {i}: {_kind(name)}, where a text is needed")
    return value


def _kind(value: Any) -> str:
    if isinstance(value, _Object):
        return "an object"
    return "a number" if isinstance(value, _Number) else in_words(value)
