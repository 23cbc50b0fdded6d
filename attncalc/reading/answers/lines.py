"""Sentences about the lines of the map: `Output 1: most input 3, second input 2`."""

import re
from collections.abc import Iterator
from typing import Any

from attncalc.reading.answers.answer import WrittenConnection
from attncalc.reading.html_page import unescaped

LONGEST_LINE = 2000
_SENTENCE = re.compile(r"\bOutput\s+(\S.{0,199}?)\s*(?::|->|→|=>)(?=\s|$)\s*(.*)", re.IGNORECASE)
_KIND = re.compile(
    r"(?:(?<![\s,;.])[\s,;.]++)?\b(so no|no|and)?\s*+\b(most|solid|second|dashed)\b\s*"
    r"(?:lines?\s+to\b|lines?\b|inputs?\b)?\s*(?:inputs?\b)?\s*:?",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"\((?:the other|every) [^()]*\)")
_TALK = re.compile(r"\b(?:solid|dashed|most|second|inputs?|attend|no key)\b", re.IGNORECASE)
_WEIGHT = re.compile(
    r"(?<!\s)\s*+\((?:[^()]*\beach|-?[0-9]*\.[0-9]+†?|the other weights[^()]*|every[^()]*"
    r"|(?:a )?(?:tied?|equal)\b[^()]*)\)$"
)
_NOTHING = re.compile(r"(?:no (?:inputs?|line|key).*|none|nothing|-|–|—|_*|\?|)", re.IGNORECASE)
_TEX = re.compile(r"\\(?:noindent|par)\b|\\\\\s*$")


_LAYER = re.compile(
    r"\blayer\s{0,3}(\d{1,4})\b|(?<![\w.])(\d{1,4})\.(?=(?:self|cross|A)\b)", re.IGNORECASE
)
_SIDE = re.compile(r"\b(self|cross)\b", re.IGNORECASE)


def attention_in(text: str) -> str:
    """Return the attention of layers that a text mentions: its layer, its side; "" for none.

    >>> attention_in("Cross map:"), attention_in("attends to: 2.self.A"), attention_in("Layer 3")
    ('cross', '2.self', '3')
    """
    layer, side = _LAYER.search(text[:LONGEST_LINE]), _SIDE.search(text[:LONGEST_LINE])
    number = (layer[1] or layer[2]) if layer else ""
    return ".".join(part for part in (number, side[1].lower() if side else "") if part)


def connection_in(line: str, head: int = 0, of: str = "") -> WrittenConnection | None:
    """Return the connection that a sentence states, or None.

    line: the sentence; the words before "Output" may name the attention.
    head, of: the head and the attention mentioned before.

    >>> connection_in("Output 2: most input 3 (0.99), second inputs 1 and 2 (0.01 each)")[1:4]
    ('2', ('3',), ('1', '2'))
    >>> connection_in("Output 3: dashed 2, solid 1").second
    ('2',)
    """
    plain = _plain(line)
    match = _SENTENCE.search(plain)
    if match is None or _SENTENCE.search(match[2]):  # of several outputs
        return None
    parts = _parts(match[2])
    of = attention_in(plain[: match.start()]) or of
    if all(set(text.strip(" .")) <= {"_"} for text in parts.values()):
        return None  # a line to fill in
    return WrittenConnection(
        head, match[1], names_in(parts.get("most", "")), names_in(parts.get("second", "")), of
    )


def _parts(rest: str) -> dict[str, str]:
    """Return the text about the solid and the dashed line, in either order."""
    pieces = _KIND.split(_ASIDE.sub("", rest).replace("no other", "no second"))
    parts = {"most": pieces[0]} if pieces[0].strip() else {}
    for denied, kind, text in zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True):
        which = "most" if kind.lower() in ("most", "solid") else "second"
        is_denied = denied is not None and denied.lower() != "and"
        parts[which] = "none" if is_denied else text
    return parts


def is_about_lines(line: str) -> bool:
    """Return whether a line is about the map, even if it is not filled in."""
    match = _SENTENCE.search(_plain(line))
    return match is not None and _TALK.search(match[2]) is not None


def is_open(line: str) -> bool:
    """Return whether a line is about the map of one output, and not filled in.

    >>> is_open("Output 1: solid line to ____"), is_open("Output 1: solid line to 3")
    (True, False)
    """
    match = _SENTENCE.search(_plain(line))
    is_of_one = match is not None and not _SENTENCE.search(match[2])
    return is_of_one and is_about_lines(line) and connection_in(line) is None


def is_behind_numbers(line: str) -> bool:
    """Return whether a line contains an equation before a statement about the map.

    >>> is_behind_numbers("A = [1; 0] Output 1: most input 3")
    True
    """
    plain = _plain(line)
    match = _SENTENCE.search(plain)
    return match is not None and "=" in plain[: match.start()]


def _plain(line: str) -> str:
    """Return a line without Markdown and LaTeX commands."""
    return unescaped(_TEX.sub("", line[:LONGEST_LINE]).replace(r"\_", "_"))


def names_in(text: str) -> tuple[str, ...]:
    """Return the inputs that a text lists; an ambiguous text is one name.

    >>> names_in("1, 2 and 3 (0.20 each)"), names_in("none")
    (('1', '2', '3'), ())
    """
    clean = _WEIGHT.sub("", text.strip().removesuffix(".").strip(" ,;"))
    if _NOTHING.fullmatch(clean):
        return ()
    return tuple(part.strip() for part in re.split(r",|&|\band\b", clean) if part.strip())


def connections_in(value: Any, head: int = 0, of: str = "") -> Iterator[WrittenConnection]:
    """Yield the connections in JSON: a list of objects, or of lists for each head.

    For several attentions, such a list is under each name.
    """
    if _is_of_several(value):
        for name, each in value.items():
            yield from connections_in(each, head, attention_in(name))
        return
    if isinstance(value, dict):
        value = [{"output": key, **each} for key, each in value.items() if isinstance(each, dict)]
    if not isinstance(value, list):
        return
    if head == 0 and value and all(isinstance(each, list) for each in value):
        for number, each in enumerate(value, start=1):
            yield from connections_in(each, number, of)
        return
    yield from filter(None, (_stated(each, head, of) for each in value))


def _is_of_several(value: Any) -> bool:
    """Return whether lists are under the names of attentions; a token may also be named "self"."""
    if not isinstance(value, dict) or not value:
        return False
    return all(attention_in(name) and isinstance(each, list) for name, each in value.items())


def _stated(each: Any, head: int, of: str) -> WrittenConnection | None:
    """Return the connection that a sentence or an object states, or None."""
    if isinstance(each, str):
        return connection_in(each, head, of)
    if not isinstance(each, dict) or "output" not in each:
        return None
    most, second = each.get("most", each.get("solid")), each.get("second", each.get("dashed"))
    whose = attention_in(str(each.get("of", ""))) or of
    return WrittenConnection(head, str(each["output"]), _inputs(most), _inputs(second), whose)


def _inputs(value: Any) -> tuple[str, ...]:
    """Return the inputs that JSON lists: each text is one name."""
    if isinstance(value, str):
        return names_in(value)
    listed = value if isinstance(value, list) else [] if value is None else [value]
    names = [each.get("input") if isinstance(each, dict) else each for each in listed]
    return tuple(str(name) for name in names if name is not None)
