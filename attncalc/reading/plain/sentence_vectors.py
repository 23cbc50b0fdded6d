"""Vectors within sentences, rewritten as matrices.

"The keys are (1, 2) and (3, 4)" becomes "The keys = [1 2; 3 4]", over wrapped lines too.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from attncalc.reading.plain.marks import COMMA
from attncalc.reading.plain.other_words import ENGLISH

Size = Callable[[str], tuple[int, ...]]
"""Returns the rows and columns of the step that a text names entirely; () if it names none."""
LONGEST = 3000
"""The largest length of a paragraph that is read."""
_SIGN = r"[-+−–]?"
_POINT = rf"{_SIGN}(?:\d{{1,12}}(?:[.{COMMA}]\d{{1,12}})?|\.\d{{1,12}})%?"
_COMMA = rf"{_SIGN}\d{{1,12}}(?:[,{COMMA}]\d{{1,12}})?%?"
_POINTS = re.compile(rf"{_POINT}(?:(?:, ?| ){_POINT}){{0,30}}(?![\w%]|[.,{COMMA}]\d)")
_COMMAS = re.compile(rf"{_COMMA}(?: ?; ?{_COMMA}){{0,30}}(?![\w%]|[.,{COMMA}]\d)")
_USES_COMMAS = re.compile(rf"\d ; ?[-−–]?\d|\([-−–\d.,{COMMA}]{{1,12}}; ?[-−–]?\d[^()\n]{{0,80}}\)")
_LITERAL = re.compile(r"= \[[^\[\]]{0,900}\]")
"""A matrix as programs write it: its semicolons separate rows."""
_CELL = re.compile(r"[^\s;]+")
_AND = r"(?:and|then|und|sowie|et|puis|y|e|ed|en)"
_NEXT = re.compile(rf"[\s,;]*+(?:{_AND}\s)?\s*+", re.IGNORECASE)
_TAIL = re.compile(r"[^\S\n]*(?:for|für|pour|para|per|voor|of|from) "
                   r"(?P<of>[^.,;:=\n]{1,40}?)(?=[.,;:]|\s"
                   rf"{_AND}\s|\s*$)", re.IGNORECASE)  # fmt: skip
_OF_TOKEN = re.compile(r"\b(?:x_?|token |word |row |query |key )(\d{1,2})\b", re.IGNORECASE)
_CUT = re.compile(r"[.;:,!?](?=\s|$)|\](?= ?\n)")
_END = re.compile(r"[.;!?](?=\s|$)")
_STOPS = re.compile(r"\A[.,;][ \t]?")
_ROOT = re.compile(
    r"(?:√ ?|sqrt ?|root of |racine de |raíz de |Wurzel (?:aus )?)\d{1,4}", re.IGNORECASE
)
_NO_WORDS = re.compile(r"[\d=+·×*/√^\[\]|{}&\\<>_#]")
_NEW_LINE = re.compile(r"[^\S\n]*+(?:[,;][^\S\n]*+)?\n")
_OF_ROOT = re.compile(r"(?:√|sqrt|root of|racine de|raíz de|Wurzel(?: aus)?) ?$", re.IGNORECASE)
_OF_COUNT = re.compile(r"\b(?:token|word|row|query|key|head) $", re.IGNORECASE)
"""The word before a number that counts: for token 1."""
_LEADS = " \t\n\r,;:=≈"
_VERB = re.compile(r"\s(?:is|are|was|were|ist|sind|lauten|est|sont|es|son|è|sono|é|são|zijn)$")
_PARAGRAPH = re.compile(r"\n[^\S\n]*\n|\n(?=[^\S\n]*(?:[-*#>|]|\d{1,2}[.)]\s))")


class _Vector(NamedTuple):
    """Numbers in a row, with or without brackets, and their position."""

    start: int
    stop: int
    cells: list[str]
    place: int = 0


class _Group(NamedTuple):
    """Consecutive vectors under one name, and the token mentioned before them."""

    start: int
    name: str
    place: int
    vectors: list[_Vector]


def with_vectors(text: str, size: Size) -> str:
    r"""Return a text in which vectors in sentences are a matrix; lines stay lines.

    Parameters
    ----------
    text
        The text.
    size
        Returns the size of the step that a text names: other numbers of a sentence are not vectors.

    Examples
    --------
    >>> with_vectors("The keys\nare (1, 2) for x1 and (3, 4) for x2.", lambda name: (2, 2))
    'The keys = [1 2; 3 4] \n.'
    """
    pieces, position = [], 0
    for match in _PARAGRAPH.finditer(text):
        pieces += [_paragraph(text[position : match.start()], size), match[0]]
        position = match.end()
    return "".join([*pieces, _paragraph(text[position:], size)])


def _paragraph(text: str, size: Size) -> str:
    if len(text) > LONGEST or not any(map(str.isdigit, text)):
        return text
    pieces, position = [], 0
    for group in _groups(text):
        made = _made(group, size)
        stop = group.vectors[-1].stop
        if made and group.start >= position:
            between = text[position : group.start]
            pieces += [
                _STOPS.sub(" ", between, count=1),
                made,
                "\n" * text.count("\n", group.start, stop),
            ]
            position = _after_tail(text, stop, group.vectors[-1].place)
    return "".join([*pieces, text[position:]])


def _made(group: _Group, size: Size) -> str:
    """Return a group as a matrix, or as the row of one; "" if it is ambiguous."""
    is_said = group.name and not _NO_WORDS.search(_ROOT.sub("root", group.name))
    shape = size(_ROOT.sub("√d_k", group.name)) if is_said else ()
    if len(shape) != 2:
        return ""
    widths = {len(vector.cells) for vector in group.vectors}
    if widths != {shape[1]} or shape[1] < 2:
        return ""
    group = group._replace(name=_ROOT.sub("√d_k", group.name))
    rows = "; ".join(" ".join(vector.cells) for vector in group.vectors)
    if len(group.vectors) == shape[0] and shape[0] > 1 and not group.place:
        return f"{group.name} = [{rows}] "
    if len(group.vectors) == 1 and 0 < group.place <= shape[0]:
        return f"row {group.place} of {group.name} = [{rows}] "
    return ""


def _groups(text: str) -> Iterator[_Group]:
    """Yield each group of consecutive vectors with the words before it."""
    group: _Group | None = None
    stop, place = 0, 0
    for vector in _vectors(text):
        gap = text[stop : vector.start]
        tail = _TAIL.match(gap) if group else None
        rest = gap[tail.end() :] if tail else gap
        told = _place(tail["of"]) if tail else 0
        if group and _NEXT.fullmatch(rest) and gap.strip():
            is_in_order = told in (0, len(group.vectors)) and group.place == 0
            group.vectors[-1] = group.vectors[-1]._replace(place=told)
            if is_in_order:
                group.vectors.append(vector)
                stop = vector.stop
                continue
            group = group._replace(name="")  # more vectors than its words count
        if group:
            yield group
        start, name = _name(rest)
        is_on = group and not _END.search(rest) and not _NEW_LINE.match(rest)
        place = place if is_on else 0
        place = _place(_END.split(rest[:start])[-1]) or place
        group = _Group(stop + len(gap) - len(rest) + start, name, place, [vector])
        stop = vector.stop
    if group:
        yield group


def _name(gap: str) -> tuple[int, str]:
    """Return the start of the words that name the next vectors, and these words."""
    bare = gap.rstrip(_LEADS)
    cuts = [match.end() for match in _CUT.finditer(bare)]
    start = cuts[-1] if cuts else 0
    start += len(bare[start:]) - len(bare[start:].lstrip())
    return start, _VERB.sub("", " ".join(bare[start:].split()))


def _place(words: str) -> int:
    """Return the token that words mention: x2, the second; 0 for none, or several."""
    found = {int(each) for each in _OF_TOKEN.findall(words)}
    found |= {
        place for word in words.lower().split() if (place := ENGLISH.get(word.strip(",.;:!?()")))
    }
    return found.pop() if len(found) == 1 else 0


def _vectors(text: str) -> Iterator[_Vector]:
    pattern = _COMMAS if _USES_COMMAS.search(_LITERAL.sub("", text)) else _POINTS
    inside = [literal.span() for literal in _LITERAL.finditer(text)]
    stop = 0
    for match in pattern.finditer(text):
        if any(a < match.start() < b for a, b in inside):
            continue
        before = text[match.start() - 1 : match.start()] if match.start() else ""
        if match.start() < stop or before.isalnum() or before in ("_", ".", ",", "^", COMMA):
            continue
        if _OF_ROOT.search(text[max(0, match.start() - 14) : match.start()]):
            continue
        if _OF_COUNT.search(text[max(0, match.start() - 8) : match.start()]):
            continue
        is_open, is_closed = before in ("(", "["), text[match.end() : match.end() + 1] in (")", "]")
        if is_open != is_closed:
            continue
        start = match.start() - is_open
        stop = match.end() + is_closed
        sign = ";" if pattern is _COMMAS else ","
        yield _Vector(start, stop, _CELL.findall(match[0].replace(sign, " ")))


def _after_tail(text: str, stop: int, place: int) -> int:
    """Return the end of the words that assign a token to the last vector."""
    tail = _TAIL.match(text, stop)
    return tail.end() if tail and (place or _place(tail["of"])) else stop
