"""Readers of problems: JSON, CSV, NumPy files, folders and inline text."""

import re
from pathlib import Path
from typing import Any

from attncalc.base.errors import AttncalcError, InputError
from attncalc.base.sources import remember
from attncalc.base.typed import is_number, quoted
from attncalc.problem.fields import LABELLED, MATRICES, added_lines
from attncalc.problem.problem import Problem
from attncalc.problem.serialising import COLUMN_NAMES, OWN_PROBLEM, ROW_NAMES
from attncalc.reading.cells import Faults, in_place
from attncalc.reading.files import (
    decode,
    exists,
    files_of,
    holds_arrays,
    is_folder,
    read_bytes,
    refuse_found,
)
from attncalc.reading.inline_text import INLINE_FORMS, is_written_out, read_inline_cells
from attncalc.reading.names import canonical, unknown
from attncalc.reading.queryless import ANY_QUERY, with_any_query

Fields = dict[str, Any]

_SHEETS = (".csv", ".tsv")
_ARRAYS = (".npy",)
TENSORS = ".safetensors"
"""The ending of files that are mapped into memory, so that only used parts are read."""

# each form's reader is imported where it is needed: a run reads one form


def read_problem(source: str | Path, **changes: Any) -> Problem:
    """Read a problem from a file or a folder.

    Parameters
    ----------
    source
        A JSON file, a CSV file of blocks, an `.npz` or `.safetensors` file, or a folder with
        `X.csv`, `W_Q.csv` …;
        attncalc's own output in these forms is read as its problem.
    **changes
        Fields of `Problem` that override those of the file.

    Raises
    ------
    InputError
        If there is no such file, or its content is not a problem.
    ShapeError
        If the shapes of its matrices do not match.

    Examples
    --------
    >>> from attncalc.problem.samples import sample
    >>> read_problem(sample("self").path, decimals=3).decimals
    3
    """
    if not str(source):
        raise InputError("the name of the file is empty")
    path = Path(source)
    if is_folder(path) and exists(str(path / OWN_PROBLEM)):
        remember(path)
        path /= OWN_PROBLEM
        refuse_found(path)
    return build(str(path), _read_path(path, changes), changes)


def read_stream(data: bytes, place: str, **changes: Any) -> Problem:
    """Read a problem from a stream's bytes, JSON, CSV or `.npz`; `place` names it in messages."""
    return build(place, _read_content(data, Path(place), changes), changes)


def read_matrix(name: str, text: str) -> Fields:
    """Read a matrix given as a file or as inline text.

    Returns the matrix under its name, and the names of rows and columns if the file has any.

    >>> read_matrix("W_Q", "1 0; -1/2 1")["W_Q"].tolist()
    [[Decimal('1'), Decimal('0')], [Fraction(-1, 2), Decimal('1')]]
    """
    fields: Fields = {}
    faults = Faults(text if exists(text) else f"--{name}")
    if exists(text):
        _read_matrix_file(name, Path(text), fields, faults)
    elif is_written_out(text) or any(map(is_number, re.split(r"[\s,;\[\]]+", text))):
        fields[name] = read_inline_cells(name, text, faults)
    else:
        faults.add(f"{quoted(text)} is neither a file nor a matrix such as {INLINE_FORMS}")
    faults.raise_if_any()
    return fields


def build(place: str, fields: Fields, changes: Fields) -> Problem:
    """Return the problem of these fields with the changes; errors name `place`."""
    try:
        if changes.get("Q") is ANY_QUERY:
            others = {name: value for name, value in changes.items() if name != "Q"}
            return Problem(**with_any_query(in_parts(merged(fields, others))))
        return Problem(**in_parts(merged(fields, changes)))
    except AttncalcError as error:
        raise type(error)(in_place(place, re.split(r"\n(?! )", str(error)))) from None


def in_parts(fields: Fields) -> Fields:
    """Return fields with those of a layer, or of an attention in one, nested in it.

    >>> in_parts({"self.W_Q": 2, "layers": [{"W_1": 3}], "1.norm": "pre"})
    {'layers': [{'W_1': 3, 'norm': 'pre'}], 'self': {'W_Q': 2}}
    """
    found = {name: value for name, value in fields.items() if "." not in name}
    given = enumerate(found.get("layers") or (), start=1)
    layers: dict[int, Fields] = {n: dict(each) for n, each in given}
    for name in fields.keys() - found.keys():
        *parts, own = name.split(".")
        part = found
        if parts[0].isdigit():
            part = layers.setdefault(int(parts.pop(0)), {})
        for side in parts:
            part = part.setdefault(side, {})
        part[own] = fields[name]
    missing = next((n for n in range(1, len(layers) + 1) if n not in layers), None)
    if missing:
        raise InputError(f"layer {max(layers)} is named, and nothing is given of layer {missing}")
    if layers:
        found["layers"] = [layers[n] for n in sorted(layers)]
    return found


def merged(fields: Fields, changes: Fields) -> Fields:
    """Return the fields with the changes; new tokens do not keep the old labels.

    Sheets name their rows and columns; the layout decides which of them are tokens.
    """
    everything = fields | changes
    if fields.get("equations") and changes.get("equations"):
        everything["equations"] = added_lines(fields["equations"], changes["equations"])
    by_columns = str(everything.get("layout")).strip().lower() == "columns"
    tokens, features = (COLUMN_NAMES, ROW_NAMES) if by_columns else (ROW_NAMES, COLUMN_NAMES)
    for each in (fields, changes):
        _name_sides(each, tokens, features)
    everything.pop(features, None)
    everything.pop(tokens, None)
    labels = _labels(fields, tokens, [name for name in LABELLED if name in changes])
    new = _labels(changes, tokens, [])
    if isinstance(new, dict) and isinstance(labels, dict):
        new = labels | new
    return everything | {"labels": labels if new is None else new}


def _name_sides(fields: Fields, queries: str, keys: str) -> None:
    """Use the names of rows and columns of scores or weights for queries and keys."""
    for name in ("S", "A"):
        for axis, side in ((queries, "Q"), (keys, "K")):
            if (names := fields.get(axis, {}).pop(name, None)) is not None:
                fields.setdefault(queries, {})[side] = names
    if fields.get(queries) == {}:
        del fields[queries]


def _labels(fields: Fields, sheets: str, changed: list[str]) -> Any:
    """Return the labels given in fields or sheets, except those of changed tokens."""
    labels = fields.get("labels", fields.get(sheets))
    if isinstance(labels, dict):
        return {name: names for name, names in labels.items() if name not in changed}
    return None if changed else labels


def _read_path(path: Path, changes: Fields) -> Fields:
    if is_folder(path):
        return _read_folder(path)
    if path.suffix.lower() == TENSORS:
        from attncalc.reading.state import read_state
        from attncalc.reading.tensors import open_tensors

        return read_state(open_tensors(path), Faults(str(path)), changes)
    return _read_content(read_bytes(path), path, changes)


def _read_content(data: bytes, path: Path, changes: Fields) -> Fields:
    faults = Faults(str(path))
    if holds_arrays(data):
        from attncalc.reading.npz_file import read_npz_problem

        return read_npz_problem(data, faults, changes)
    text = decode(data, str(path))
    suffix = path.suffix.lower()
    as_json = suffix == ".json" or (suffix not in _SHEETS and text.lstrip()[:1] in ("{", "["))
    if as_json:
        from attncalc.reading.json_text import read_json_problem

        return read_json_problem(text, faults, changes.get("equations") or ())
    from attncalc.reading.plain_text import looks_like_sheet, read_text_problem

    if suffix not in _SHEETS and not looks_like_sheet(text):
        fields = read_text_problem(text, faults)
        faults.raise_if_any()
        return fields
    from attncalc.reading.csv_text import read_csv_problem

    return read_csv_problem(text, faults)


def _read_folder(folder: Path) -> Fields:
    faults = Faults(str(folder))
    fields: Fields = {}
    for path in files_of(folder, (*_SHEETS, *_ARRAYS)):
        if path.name.startswith("."):
            continue
        name = canonical(path.stem)
        if name is None or name not in MATRICES:
            faults.add(f"{path.name}: {unknown(path.stem, MATRICES)}")
        elif name in fields:
            faults.add(f"{path.name}: {name} is given twice")
        else:
            own = Faults(str(path))
            _read_matrix_file(name, path, fields, own)
            faults.found += [f"{path.name}: {fault}" for fault in own.found]
    faults.raise_if_any()
    if not fields:
        raise InputError(f"{folder}: this folder has no X.csv, W_Q.csv, …")
    return fields


def _read_matrix_file(name: str, path: Path, fields: Fields, faults: Faults) -> None:
    data = read_bytes(path)
    if holds_arrays(data):
        from attncalc.reading.npz_file import read_npy_matrix

        fields[name] = read_npy_matrix(name, data, faults)
        return
    text = decode(data, str(path))
    if path.suffix.lower() not in _SHEETS and text.lstrip().startswith("["):
        from attncalc.reading.json_text import read_json_matrix

        fields[name] = read_json_matrix(name, text, faults)
    else:
        from attncalc.reading.csv_text import read_csv_matrix

        read_csv_matrix(name, text, fields, faults)
