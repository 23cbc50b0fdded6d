"""The most probable tokens or classes of a model, with probabilities or scores."""

from collections.abc import Sequence

from attncalc.base.text import on_a_line
from attncalc.writing.document import Document, Facts, Table
from attncalc.writing.studies.common import in_json, in_rows
from attncalc.writing.studies.common import shown as at_decimals

Row = tuple[int, str, float]
"""An id, its name, and its probability or score."""


def probable_document(
    rows: Sequence[Row],
    title: str,
    decimals: int,
    remarks: Sequence[str] = (),
    *,
    what: str = "Next tokens",
    measure: str = "probability",
) -> Document:
    """Return a table of tokens or classes, the most probable first."""
    of, what = what, "class" if what == "Classes" else "token"
    named = any(str(number) != word for number, word, _ in rows)
    headings = ("id", what, measure) if named else ("id", measure)
    shown = tuple(
        (str(number), *([on_a_line(word)] if named else []), at_decimals(share, decimals))
        for number, word, share in rows
    )
    told = tuple((f"{what} {number}", *rest) for number, *rest in shown)
    order = "the most probable first" if measure == "probability" else "the highest first"
    facts = Facts((f"shown to {decimals} decimals, halves away from zero", *remarks))
    return Document(title, (facts, Table(f"{of}, {order}", headings, shown, told)))


def probable_as_json(rows: Sequence[Row], measure: str = "probability") -> str:
    """Return the most probable tokens or classes as JSON."""
    listed = [{"id": i, "text": word, measure: share} for i, word, share in rows]
    return in_json({"next": listed})


def probable_as_csv(rows: Sequence[Row], measure: str = "probability") -> str:
    """Return the most probable tokens or classes as CSV."""
    lines = [(str(i), word, repr(share)) for i, word, share in rows]
    return in_rows([("id", "text", measure), *lines])
