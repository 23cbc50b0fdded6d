"""Counts as a document, as JSON and as CSV."""

from typing import Any

from attncalc.studies.counting import FLOPS, Count
from attncalc.writing.document import Bullets, Document, Facts
from attncalc.writing.studies.common import in_json, in_rows, sheet

_TABLES = (
    ("parameters", "by_matrix", "Parameters by matrix"),
    ("parameters", "by_part", "Parameters by part"),
    ("multiply_adds", "by_step", "Multiply-adds by step"),
)


def counting_document(count: Count, *, full: bool = False) -> Document:
    """Return the document of counts."""
    found = count.as_json()
    sizes = f"tokens: {found['tokens']}", f"batch: {found['batch']}", f"dtype: {found['dtype']}"
    said = (
        f"Parameters: {found['parameters']['formula']}.",
        f"Multiply-adds: {found['multiply_adds']['formula']}.",
        f"FLOPs: {FLOPS} for each multiply-add, {found['multiply_adds']['flops']:,}.",
        f"Bytes of the KV cache: {found['kv_cache']['formula']}.",
        f"Bytes of the attention weights: {found['attention_matrix']['formula']}.",
        f"Bytes of activations (results of all steps): {found['activations']['formula']}.",
    )
    tables = [
        _table(title, found[what][by], full=full) for what, by, title in _TABLES if found[what][by]
    ]
    notes = ("functions such as exp are not counted",)
    return Document("Counts", (Facts(sizes), Bullets(said), *tables), notes)


def _table(title: str, counts: dict[str, int], *, full: bool) -> Any:
    names, values = [name or "all" for name in counts], list(counts.values())
    return sheet(title, names, ("count",), lambda i, j: f"{values[i]:,}", full=full)


def counting_as_json(count: Count) -> str:
    """Return counts as JSON."""
    return in_json(count.as_json())


def counting_as_csv(count: Count) -> str:
    """Return counts as CSV: a row for each."""
    rows = [["quantity", "name", "count"]]
    for what, content in count.as_json().items():
        if isinstance(content, dict):
            for key, value in content.items():
                each = value if isinstance(value, dict) else {key: value}
                rows += [[what, name, str(number)] for name, number in each.items()]
    return in_rows(rows)
