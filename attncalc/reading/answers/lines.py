"""What a person says of the lines they drew: `Output 1: most input 3, second input 2`."""

import html
import re
from collections.abc import Iterator
from typing import Any

from attncalc.answer import WrittenConnection

_SENTENCE = re.compile(
    r"Output\s+(?P<output>.{1,200}?)\s*:\s*(?:most|solid)?\s*(?:inputs?|lines? to)?\s*(?P<rest>.*)",
    re.IGNORECASE,
)
_SECOND = re.compile(
    r",?\s*(?:and\s+)?(?:second|dashed)\s*(?:inputs?|lines? to)?\s*:?\s*", re.IGNORECASE
)
_NO_SECOND = re.compile(r",? *(?:and )?(?:no (?:second|other|dashed)|so no)", re.IGNORECASE)
_TALK = re.compile(r"solid|dashed|most|second|input", re.IGNORECASE)
_TEX = re.compile(r"\\(?:noindent|par)\b")
_WEIGHT = re.compile(r"\s*\([^()]*\)\s*$")
_NOTHING = re.compile(r"^(?:no\b.*|none|-|–|—|so no second|_*|\?|)$", re.IGNORECASE)


def connection_in(line: str, head: int = 0) -> WrittenConnection | None:
    """Return the connection that a sentence states, if it does.

    Examples
    --------
    >>> connection_in("Output 2: most input 3 (0.99), second inputs 1 and 2 (0.01 each)")
    WrittenConnection(head=0, output='2', most=('3',), second=('1', '2'))
    """
    match = _SENTENCE.search(_plain(line[:2000]))
    if match is None:
        return None
    rest, *without = _NO_SECOND.split(match["rest"], maxsplit=1)
    most, *second = [rest] if without else _SECOND.split(rest, maxsplit=1)
    if all(set(part.strip(" .")) <= {"_"} for part in (most, *second)):
        return None  # a line to write on
    return WrittenConnection(
        head, match["output"], names_in(most), names_in(second[0]) if second else ()
    )


def is_about_lines(line: str) -> bool:
    """Say whether a line speaks of the map, even if it is still to be filled in."""
    match = _SENTENCE.search(_plain(line[:2000]))
    return match is not None and _TALK.search(line) is not None


def _plain(line: str) -> str:
    """Return a line without what Markdown and LaTeX put around its words."""
    return html.unescape(_TEX.sub("", line).replace(r"\_", "_"))


def names_in(text: str) -> tuple[str, ...]:
    """Return the inputs that a text lists: `1 and 2 (0.40 each)`; nothing for `none` or `-`."""
    clean = _WEIGHT.sub("", text.strip().rstrip(".").strip())
    if _NOTHING.match(clean):
        return ()
    return tuple(part.strip() for part in re.split(r"\s*(?:,|&|\band\b)\s*", clean) if part.strip())


def connections_in(value: Any, head: int = 0) -> Iterator[WrittenConnection]:
    """Yield the connections that JSON states: a list of objects, or of lists for each head."""
    if isinstance(value, dict):
        value = [{"output": key, **each} for key, each in value.items() if isinstance(each, dict)]
    if not isinstance(value, list):
        return
    if value and all(isinstance(each, list) for each in value):
        for number, each in enumerate(value, start=1):
            yield from connections_in(each, number)
        return
    for each in value:
        if isinstance(each, str) and (found := connection_in(each, head)):
            yield found
        elif isinstance(each, dict) and "output" in each:
            most = each.get("most", each.get("solid"))
            second = each.get("second", each.get("dashed"))
            yield WrittenConnection(head, str(each["output"]), _inputs(most), _inputs(second))


def _inputs(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, list):
        return tuple(name for each in value for name in _inputs(each))
    if isinstance(value, dict):
        return _inputs(value.get("input"))
    return names_in(str(value))
