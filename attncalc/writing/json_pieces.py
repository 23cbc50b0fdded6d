"""JSON text piece by piece: of a long list no more is in memory than the row that is written."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from attncalc.text import in_json

_INDENT = "  "


def json_pieces(value: Any, margin: str = "\n") -> Iterator[str]:
    r"""Yield what `json.dumps(value, indent=2)` returns; an iterator is written as a list.

    Parameters
    ----------
    value
        Mappings, lists, iterators, texts, numbers, true, false and None.
    margin
        A line break and the blanks before the line that the value begins in.

    Raises
    ------
    ValueError
        For numbers that JSON does not have, as infinity.

    Examples
    --------
    >>> "".join(json_pieces({"row": iter([1, 2])}))
    '{\n  "row": [\n    1,\n    2\n  ]\n}'
    """
    if isinstance(value, Mapping):
        items = ((f"{in_json(str(name))}: ", each) for name, each in value.items())
        yield from _listed("{}", items, margin)
    elif isinstance(value, list | tuple) and not any(_holds_more(each) for each in value):
        yield _line_by_line(value, margin)
    elif _holds_more(value):
        yield from _listed("[]", (("", each) for each in value), margin)
    else:
        yield in_json(value)


def _holds_more(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str)


def _listed(brackets: str, items: Iterable[tuple[str, Any]], margin: str) -> Iterator[str]:
    before = brackets[0]
    for name, each in items:
        yield f"{before}{margin}{_INDENT}{name}"
        yield from json_pieces(each, margin + _INDENT)
        before = ","
    yield brackets if before != "," else margin + brackets[1]


def _line_by_line(row: list[Any] | tuple[Any, ...], margin: str) -> str:
    """Return a list of numbers and texts, which json itself writes at once and much faster."""
    inner = margin + _INDENT
    text = in_json(row, separators=(f",{inner}", ": "))
    return f"[{inner}{text[1:-1]}{margin}]" if row else text
