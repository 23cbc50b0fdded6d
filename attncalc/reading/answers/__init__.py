"""Readers of worked answers: JSON, CSV, NumPy files, folders, and text of every kind."""

import json
import re
from collections.abc import Container, Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from attncalc.base.arrays import as_array
from attncalc.base.errors import InputError
from attncalc.base.sources import remember
from attncalc.base.typed import quoted
from attncalc.reading.answers.answer import Answer, WrittenConnection, WrittenMatrix
from attncalc.reading.answers.expected import Expected
from attncalc.reading.files import (
    NUMPY_STARTS,
    decode,
    decode_numbers,
    files_of,
    holds_arrays,
    is_folder,
    list_folder,
    read_bytes,
)
from attncalc.reading.mails import is_encoded, text_of_mail
from attncalc.reading.naming.keys import name_of_key
from attncalc.reading.naming.name import Name
from attncalc.reading.notebooks import text_of_notebook

SHEETS = (".csv", ".tsv")
ENDINGS = (
    *(".json", *SHEETS, ".npz", ".safetensors", ".yaml", ".yml"),
    *(".txt", ".text", ".md", ".markdown", ".tex", ".rst", ".org", ".html", ".htm", ".eml"),
    *(".py", ".ipynb", ".sage", ".m", ".jl", ".r", ".rmd", ".qmd", ".wl", ".nb"),
    *(".js", ".c", ".cpp", ".java", ".rs", ".hs", ".typ", ".adoc", ".toml"),
)
"""File endings of answers in a folder."""

_FLOAT = re.compile(r"-?[0-9]++(?:\.[0-9]*+)?+(?:e[-+]?[0-9]++)?+")
_PRINTED = re.compile(r"\s*+\{\s*+'")
"""A dictionary as Python prints it, which is not JSON."""
CAN_BE_READ = (
    "type the matrices into a text, as Q = [1 3; -1 1], in Markdown or LaTeX, "
    "or fill in the worksheet of --blank"
)
"""Advice for an answer that is a picture."""
_PICTURES = {
    b"%PDF": "a PDF",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"GIF8": "a picture",
    b"II*\0": "a picture",
    b"MM\0*": "a picture",
}

# each form's reader is imported where it is needed: a run reads few forms


def read_answer(source: str | Path, expected: Expected | None = None) -> Answer:
    """Read a worked answer from a file, or from a folder with a file for each step.

    Raises InputError if there is no such file, or it contains no step.

    expected: the steps of the problem, which help to identify unnamed parts.

    >>> from attncalc.problem.samples import sample
    >>> sorted(read_answer(sample("hand").path).matrices)
    ['A', 'K', 'O', 'Q', 'S', 'V']
    """
    path = Path(source)
    if is_folder(path):
        return _checked(_read_folder(path, expected))
    return read_answer_bytes(read_bytes(path), str(path), expected)


def read_answer_bytes(data: bytes, place: str, expected: Expected | None = None) -> Answer:
    """Read a worked answer from bytes; `place` names them in messages."""
    if kind := _picture(data, place):
        raise InputError(f"{place}: {kind} cannot be read: {CAN_BE_READ}")
    if holds_arrays(data):
        from attncalc.reading.answers.npz_file import read_npz_answer

        return _checked(read_npz_answer(data, place))
    if is_encoded(data):
        text, attached = text_of_mail(data, place)
        said = tuple(f"the attachment {quoted(name)} is not read" for name in attached)
    else:
        text, said = decode_numbers(data, place)
    answer = _checked(_read_text(text, place, expected))
    return replace(answer, remarks=(*answer.remarks, *said))


def _read_text(text: str, place: str, expected: Expected | None) -> Answer:
    """Read an answer from the text of a file, by its form."""
    suffix = Path(place).suffix.lower()
    if suffix in (".json", ".ipynb", "", ".txt") and (cells := text_of_notebook(text)):
        from attncalc.reading.answers.text import read_text_answer

        return read_text_answer(cells, place, expected)
    is_object = suffix in ("", ".txt") and text.lstrip()[:1] == "{"
    if suffix == ".json" or (is_object and not _PRINTED.match(text)):
        from attncalc.reading.answers.json_text import read_json_answer

        return read_json_answer(text, place, expected)
    if suffix in SHEETS:
        from attncalc.reading.answers.csv_text import read_sheet

        return read_sheet(text, place, expected)
    from attncalc.reading.answers.text import read_text_answer

    answer = read_text_answer(text, place, expected)
    if "\t" in text and expected is not None:
        from attncalc.reading.answers.csv_text import or_side_by_side

        answer = or_side_by_side(answer, text, place, expected)
    if suffix == ".toml" and expected is not None and not answer.connections:
        answer = replace(answer, connections=_map_of_records(text, answer, expected))
    return answer


def _map_of_records(
    text: str, answer: Answer, expected: Expected
) -> tuple[WrittenConnection, ...] | None:
    """Return the map in the tables of TOML; None if there is none."""
    import tomllib

    from attncalc.reading.answers.json_text import map_told

    try:
        return map_told(tomllib.loads(text), answer.place, expected, answer.matrices)
    except (ValueError, RecursionError):
        return None


def _picture(data: bytes, place: str) -> str:
    """Return the kind of an answer that is a picture, a PDF or a document; "" for any other."""
    ending = Path(place).suffix.lower()
    of_files = data.startswith(NUMPY_STARTS[0]) and b".npy" not in data
    if of_files and ending in (".docx", ".odt", ".xlsx", ".ods", ".pptx", ".zip"):
        return f"a document ({ending})"
    if data[4:12] in (b"ftypheic", b"ftypmif1") or data[8:12] == b"WEBP":
        return "a picture"
    return next((kind for start, kind in _PICTURES.items() if data.startswith(start)), "")


def answer_of(matrices: Mapping[str, Any], expected: Expected | None = None) -> Answer:
    """Return the answer that named matrices form: lists, arrays, tensors or texts."""
    text = json.dumps(dict(matrices), default=_plain)
    typed = '"'.join(re.findall('"([^"]*)"', text))
    answer = read_answer_bytes(text.encode(), "answer.json", expected)
    return replace(
        answer,
        matrices={name: _shortened(each, typed) for name, each in answer.matrices.items()},
    )


def _shortened(written: WrittenMatrix, typed: str) -> WrittenMatrix:
    """Return a matrix whose floats are shown as those of an array; typed texts are unchanged."""
    if written.texts is None:
        return written
    values = written.values.astype(object)
    texts = [
        f"{value:.10g}" if _FLOAT.fullmatch(text) and text not in typed else text
        for text, value in zip(written.texts.flat, values.flat, strict=True)
    ]
    return replace(written, texts=np.array(texts, dtype=object).reshape(written.shape))


def _plain(given: Any) -> Any:
    """Return a value that JSON cannot contain as lists and numbers, or as texts of numbers."""
    if isinstance(given, Fraction | Decimal):
        return str(given)
    if hasattr(given, "__array__"):
        try:
            return as_array(given).tolist()
        except InputError as error:
            raise InputError(f"a matrix of the answer {error}") from None
    raise InputError(
        f"an answer contains matrices: lists, arrays or texts, not {type(given).__name__}"
    )


def answers_in(folder: Path) -> list[Path] | None:
    """Return the answers in a folder, or None if the folder is one answer.

    It is one answer if its files are named like steps: Q.csv, S_scaled.csv, or only like their
    heads: A1.csv, A2.csv. Beside other answers, S1.csv is that of a student, as s1.csv always is.
    """
    inside = [path for path in list_folder(folder) if not path.name.startswith(".")]
    steps = {path: name for path in inside if (name := _step_of(path))}
    is_whole = any(not name.number for name in steps.values())
    if is_whole or (steps and all(p in steps for p in inside if p.suffix.lower() in ENDINGS)):
        return None
    remember(folder, ENDINGS)
    files = [path for path in inside if path.suffix.lower() in ENDINGS or _holds_steps(path)]
    if not files:
        raise InputError(
            f"{folder}: this folder has no answers: their names end in {', '.join(ENDINGS)}"
        )
    return files


def passed_over(folder: Path, taken: Container[Path]) -> list[str]:
    """Return the names in a folder of answers that are not read as answers: scans, folders."""
    return [
        f"{path.name}/" if is_folder(path) else path.name
        for path in list_folder(folder)
        if path not in taken and not path.name.startswith(".")
    ]


def _holds_steps(folder: Path) -> bool:
    """Return whether a path is a folder with a file for each step: one of many answers.

    An unreadable folder may be one as well: its row reports this.
    """
    if not is_folder(folder):
        return False
    try:
        inside = list_folder(folder)
    except InputError:
        return True
    return any(map(_step_of, inside))


def _step_of(path: Path) -> Name | None:
    """Return the step that a spreadsheet is named like; None for other files."""
    name = name_of_key(path.stem) if path.suffix.lower() in SHEETS else None
    return None if name is None or name.is_vector else name


def _read_folder(folder: Path, expected: Expected | None) -> Answer:
    from attncalc.reading.answers.csv_text import read_csv_folder

    sheets = files_of(folder, SHEETS)
    if not sheets:
        raise InputError(f"{folder}: this folder has no step, as Q.csv or A.csv")
    return read_csv_folder(
        {path.stem: decode(read_bytes(path), str(path)) for path in sheets}, str(folder), expected
    )


def _checked(answer: Answer) -> Answer:
    """Return an answer with something to mark, or raise an error."""
    if not answer.matrices and answer.connections is None:
        lines = [f"line {each.line}: {each.why}" if each.line else each.why
                 for each in answer.unread]  # fmt: skip
        why = next((f": {each}" for each in (*answer.faults, *lines)), "")
        raise InputError(
            f"{answer.place}: no step is found in it{why} (name each matrix, as in Q = [1 3; -1 1])"
        )
    return answer
