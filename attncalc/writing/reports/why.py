"""The parts of a number, as a document and as JSON."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from attncalc.base.rounding import fixed, half_away
from attncalc.base.text import on_a_line
from attncalc.solving.why import Part as Summand
from attncalc.solving.why import Why
from attncalc.writing.document import MOST_SHOWN, Bullets, Document, Part
from attncalc.writing.studies.common import filled, in_json, shown

WIDEST = 20
"""Blocks of the longest bar."""
MORE = 2
"""Decimals of parts in addition to those of the problem."""


def why_document(whys: Sequence[Why], title: str, decimals: int, *, full: bool) -> Document:
    """Return the document: a table of parts with bars for each number."""
    parts: list[Part] = []
    for each in whys:
        listed = largest(each.parts, full=full)
        texts = [digits(part.value, decimals + MORE) for part in listed]
        sizes = [abs(float(part.value)) for part in listed]
        sizes = [size if size < float("inf") else 0.0 for size in sizes]
        longest = max(sizes, default=0.0) or 1.0
        cells = []
        for size, text in zip(sizes, texts, strict=True):
            bar = "█" * round(WIDEST * size / longest)
            cells.append((text, f"-{bar}" if text.startswith("-") else bar or "·"))
        cells.append((digits(each.value, decimals + MORE), "·"))
        said = f"{each.entry} = {digits(each.value, decimals)}: {each.how}"
        rows = [*(on_a_line(part.text) for part in listed), "sum"]
        parts.append(filled(said, rows, ("value", "size"), cells, full=True))
        asks = dict.fromkeys(name for part in listed for name in part.asks)
        if asks:
            names = [f'"{name}"' if " " in name else name for name in map(on_a_line, asks)]
            is_of_entries = any(name.endswith("]") for name in asks)  # else components of logits
            how = "ask next" if is_of_entries else "--of splits these further"
            more = f", … {len(names) - 12} more" if len(names) > 12 else ""
            parts.append(Bullets((f"{how}: {', '.join(names[:12])}{more}",)))
    return Document(title, tuple(parts))


def largest(parts: Sequence[Summand], *, full: bool) -> list[Summand]:
    """Return the largest parts in their order, and the sum of the others as one."""
    if full or len(parts) <= MOST_SHOWN:
        return list(parts)
    order = sorted(range(len(parts)), key=lambda i: -abs(float(parts[i].value)))
    kept = sorted(order[: MOST_SHOWN - 1])
    others = sum(parts[i].value for i in order[MOST_SHOWN - 1 :])
    text = f"{len(parts) - len(kept):,} smaller ones"
    return [*(parts[i] for i in kept), Summand(text, others)]


def digits(value: object, decimals: int) -> str:
    """Return a value at so many decimals."""
    number = float(value)  # type: ignore[arg-type]
    if number in (float("inf"), float("-inf")):
        return "∞" if number > 0 else "-∞"
    if isinstance(value, Decimal):
        return fixed(half_away(value, decimals), decimals)
    return shown(number, decimals)


def why_as_json(whys: Sequence[Why], decimals: int) -> str:
    """Return the parts as JSON, with values as texts."""

    def values(part: Summand) -> dict[str, Any]:
        value = digits(part.value, decimals + MORE)
        return {"part": part.text, "value": value, "asks": list(part.asks)}

    found: list[dict[str, Any]] = []
    for each in whys:
        value, parts = digits(each.value, decimals + MORE), [*map(values, each.parts)]
        found.append({"entry": each.entry, "how": each.how, "value": value, "parts": parts})
    return in_json({"entries": found})
