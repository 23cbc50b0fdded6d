"""A comparison of two dumps, as a document and as JSON."""

import json
from collections.abc import Sequence

from attncalc.base.text import entry_name, on_a_line
from attncalc.grading.dumps import Compared
from attncalc.writing.document import Bullets, Document, Facts, Table


def dumps_document(
    found: Sequence[Compared], key: str, other: str, tolerance: str, alone: Sequence[str]
) -> Document:
    """Return a table of all arrays that both have, and the first that differs."""
    rows = tuple(_row(each) for each in found)
    texts = tuple((each.name, *row[1:]) for each, row in zip(found, rows, strict=True))
    headings = ("array", "shape", "differ", "largest error", "at", "how")
    facts = Facts((f"{on_a_line(key)} is the key", tolerance))
    table = Table("Arrays in both files, in the order of the first", headings, rows, texts)
    notes = (f"only in one file: {', '.join(map(on_a_line, alone))}",) if alone else ()
    return Document(f"{other} beside {key}", (facts, Bullets((_verdict(found),)), table), notes)


def _verdict(found: Sequence[Compared]) -> str:
    wrong = [each for each in found if each.differ]
    if not wrong:
        count = "The array" if len(found) == 1 else f"All {len(found)} arrays"
        return f"{count} in both files agree."
    first = wrong[0]
    said = f": {'; '.join(first.says)}" if first.says else ""
    return (
        f"{on_a_line(first.name)} is the first that differs, in {first.differ:,} of "
        f"{first.entries:,} entries{said}."
    )


def _row(each: Compared) -> tuple[str, ...]:
    return (
        on_a_line(each.name),
        " × ".join(map(str, each.shape)) or "1",
        f"{each.differ:,} of {each.entries:,}",
        f"{each.absolute:.3g}",
        "" if each.worst is None else entry_name("", each.worst),
        "; ".join(each.says),
    )


def dumps_as_json(found: Sequence[Compared], alone: Sequence[str]) -> str:
    """Return the same as JSON; an error that is not a number is null."""
    arrays = [
        {
            "name": each.name,
            "shape": list(each.shape),
            "differ": each.differ,
            "entries": each.entries,
            "largest_error": each.absolute if each.absolute < float("inf") else None,
            "worst": None if each.worst is None else [i + 1 for i in each.worst],
            "says": list(each.says),
        }
        for each in found
    ]
    lines = ",\n".join(f"    {json.dumps(each, ensure_ascii=False)}" for each in arrays)
    rest = json.dumps(list(alone), ensure_ascii=False)
    return f'{{\n  "arrays": [\n{lines}\n  ],\n  "alone": {rest}\n}}\n'
