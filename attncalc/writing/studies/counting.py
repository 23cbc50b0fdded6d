"""Counts as a document, as JSON and as CSV."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attncalc.studies.counting import FLOPS, Counted
from attncalc.writing.document import Bullets, Document, Facts, Part
from attncalc.writing.studies.common import filled, in_json, in_rows

_TABLES = (
    ("parameters", "by_matrix", "Parameters by matrix"),
    ("parameters", "by_part", "Parameters by part"),
    ("multiply_adds", "by_step", "Multiply-adds by step"),
)
_COMPARED = {
    "totals": "Compared",
    "by_matrix": "Parameters compared",
    "by_step": "Multiply-adds compared",
}
_LAYERS = "Kinds of layers of this size: Attention Is All You Need, table 1"
_OF_LAYERS = "multiply-adds", "number", "sequential", "path"
_NOTES = (
    "functions such as exp are not counted",
    "masked entries are counted, as matrix products compute them",
)
Table = tuple[str, Sequence[str], Mapping[Any, Sequence[Any]]]


def document(counted: Counted, *, full: bool = False) -> Document:
    """Return the document of counts."""
    found = counted.as_json()
    sizes = f"tokens: {found['tokens']}", f"batch: {found['batch']}", f"dtype: {found['dtype']}"
    work = found["multiply_adds"]
    said = (
        f"Parameters: {found['parameters']['formula']}.",
        f"Multiply-adds: {work['formula']}.",
        f"Multiply-adds of masked entries: {work['masked_formula']}." if work["masked"] else "",
        f"FLOPs: {FLOPS} for each multiply-add, {work['flops']:,}.",
        f"Bytes of the KV cache: {found['kv_cache']['formula']}.",
        f"Bytes of the attention weights: {found['attention_matrix']['formula']}.",
        f"Bytes of activations (results of all steps): {found['activations']['formula']}.",
    )

    parts: list[Part] = [Facts(sizes), Bullets(tuple(filter(None, said)))]
    for title, columns, rows in _tables(found):
        names = [str(name) or "all" for name in rows]
        cells = [[*map(_text, row)] for row in rows.values()]
        parts.append(filled(title, names, columns, cells, full=full))
    return Document("Counts", tuple(parts), _NOTES[: 1 + bool(work["masked"])])


def _tables(found: Mapping[str, Any]) -> Iterator[Table]:
    """Yield tables, the most special first: their titles, columns and rows."""
    if growth := found.get("growth"):
        size, curves = growth["size"], growth["curves"]
        rows = zip(growth["values"], zip(*curves.values(), strict=True), strict=True)
        yield f"At each value of {size}", [*curves], dict(rows)
        yield f"Powers of {size}", ["power"], {n: [p] for n, p in growth["powers"].items()}
    for kind, title in _COMPARED.items() if "compared" in found else ():
        rows_of = {name: [*each.values()] for name, each in found["compared"][kind].items()}
        if rows_of:
            yield title, ("count", "other", "difference", "ratio"), rows_of
    for what, by, title in _TABLES:
        if found[what][by]:
            yield title, ["count"], {name: [n] for name, n in found[what][by].items()}
    if found["kinds_of_layers"]:
        named = ([*each.values()] for each in found["kinds_of_layers"])
        yield _LAYERS, _OF_LAYERS, {name: others for name, *others in named}


def _text(value: float | str | None) -> str:
    """Return a count with commas, and a ratio with three decimals."""
    if value is None or isinstance(value, str):
        return value or "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.3f}"


def as_json(counted: Counted) -> str:
    """Return counts as JSON."""
    return in_json(counted.as_json())


def as_csv(counted: Counted) -> str:
    """Return counts as CSV, a row for each; of a study, its first table."""
    found = counted.as_json()
    if counted.other is not None or counted.growth is not None:
        _, columns, content = next(_tables(found))
        first = "quantity" if counted.growth is None else counted.growth.size
        rows = [[name, *values] for name, values in content.items()]
        texts = [["" if each is None else str(each) for each in row] for row in rows]
        return in_rows([[first, *columns], *texts])
    rows = [["quantity", "name", "count"]]
    for what, content in found.items():
        if isinstance(content, dict):
            for key, value in content.items():
                each = value if isinstance(value, dict) else {key: value}
                rows += [[what, name, str(number)] for name, number in each.items()]
    return in_rows(rows)
