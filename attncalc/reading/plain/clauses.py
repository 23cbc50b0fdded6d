"""Splits a line at its equals signs: names, work, and results."""

import re
from dataclasses import dataclass, field
from typing import Literal

from attncalc.reading.plain.marks import GRID
from attncalc.reading.plain.numerals import is_number_cell, is_work
from attncalc.reading.plain.rows import split_row
from attncalc.reading.plain.valuing import value_of

Kind = Literal["grid", "row", "work", "factors", "name", "nothing"]

LONGEST = 4000
_RELATION = re.compile(
    r":=|=>|->|<-|(?<![<>!])=|[≈→←]|:(?![\d/])|(?<!\d):(?=\d)|(?<=\d):(?!0\d)(?=\d+\D+\d)"
)
_ASIDE = re.compile(
    r"\([^()\d]{0,60}\)(?! ?/)|\(\d{1,4} ?[×x] ?\d{1,4}\)|"
    r"\((?:rounded|gerundet|arrondi)[^()]{0,40}\)"
)
_SEPARATOR = re.compile(r"^[\s,;.|]*(?:\b(?:and|und|et|y|e|ed|en|also|sowie)\b)?[\s,;]*")
_LETTER = re.compile(r"[^\W\d_]|[√⟨∑∂‖]")
_NEXT = re.compile(r"(?<!\s)(?:\s*+[,;|&]\s*+|\s++)(?:(?:and|und|et|y|e|en) )?(?=[^\W\d_])")
_VERB = re.compile(
    r"\b(?:is|are|ist|sind|est|sont|es|son|becomes|gives|get|lautet|equals|ergibt|erhalte|donne|da|è|sono|é|são|zijn|dà|dá)"
    rf"(?=\s*+(?::\s*+)?{GRID.pattern})",
    re.IGNORECASE,
)
_LIST_NUMBER = re.compile(
    r"^\s*(?:\(\d{1,3}\)|\d{1,3}[.)]|\(?[a-h]\))\s+(?=['“„«\"]?(?:[^\W\d]|[\\α√]))"
)
_BEFORE = re.compile(
    r"([^\W\d][\w' ^{}/()√@·-]{0,80}(?:\.(?:grad|T))?"
    r"(?<!softmax)(?<!exp)(?<!mask)(?<!norm)(?<!sqrt))"
    rf"\s({GRID.pattern})(?:[\s.;]*|,(?=\s)[^,=≈{GRID.pattern[1:-1]}]{{0,80}}(?:,[^,=≈{GRID.pattern[1:-1]}]{{0,80}})?)",
    re.IGNORECASE,
)
"""A name and the matrix after it, without a sign between them."""
_FUNCTION = re.compile(r"[a-zA-Z]{2,12}\((?!\d{1,3}[,)])")
_ASIDE_EQUATION = re.compile(
    r"\([=≈] ?[-.,\d]{1,12}\)|"
    r"\((?=[^()=≈:]{0,40}(?:√|sqrt|d_?\{?[kvm]|\b(?:axis|dim|keepdims|dtype|n|m|h|k|byrow|nrow|ncol)\b)"
    r"[^()=≈:]{0,20}[=≈:])[^()]{0,80}\)|"
    r"(?:\bd_?\{?k\}?|√ ?\d{1,4}) ?[=≈] ?\d{1,4}(?:[.,]\d{1,6})?\b(?=[^=≈:\d]{0,80}:\s*$)|"
    r"\b(?:where|if)\b[^=≈:\n]{1,80}=[^=≈:\n]{1,80}?\b(?:else|otherwise)\b"
)
"""A constant beside a name, or a condition: (by √2 ≈ 1.41), with d_k = 2:, if N = 1 else."""
_HIDDEN = "\ue008"
_TERM = r"\d[\d./,]{0,12} ?[·*×]? ?[^\W\d_]_?\{?[\d]{0,3}\}?"
_COMBINATION = re.compile(rf"\s*+(?:[-+]\s*+)?{_TERM}(?:\s*+[-+]\s*+(?:{_TERM}|…|\.\.\.))++\s*+")
"""A sum of vectors, each multiplied by a number: 0.62 v1 + 0.38 v2."""
_SUM = re.compile(r"[∑Σ‖]|(?:sum|tr|mean)\b ?[_({\[]|\|\|")
"""An expression that a preceding number multiplies."""
_COUNT = re.compile(r"\s*\d{1,3} [^\W\d_]{4,}(?=[\s,.;]|$)")
"""A number of things at the start of a sentence: 3 tokens."""
_EDGES = " \t.,;$|"


@dataclass
class Clause:
    """The content of one equation: names, work, factors, and the result."""

    names: list[str] = field(default_factory=list)
    work: list[str] = field(default_factory=list)
    factors: list[str] = field(default_factory=list)
    kind: Kind = "nothing"
    value: str = ""
    continues: bool = False
    closes: bool = False


def clauses_of(text: str) -> list[Clause]:
    """Return the equations of a line.

    >>> [(c.names, c.value) for c in clauses_of("Q11 = 1·0 + 2·1 = 2, Q12 = 3")]
    [(['Q11'], '2'), (['Q12'], '3')]
    """
    text = _LIST_NUMBER.sub("", text, count=1)
    begin = text.lstrip(" \t∴")
    is_quotient = begin.startswith(":") and ("=" in begin or "√" in begin)  # of all above: ": √3"
    found = [Clause(continues=not is_quotient and _RELATION.match(begin) is not None)]
    segments = _segments(text)
    if is_count := not found[0].continues and _COUNT.match(segments[0]) is not None:
        found[0].names.append(segments[0].strip())
    for segment in segments[is_count:]:
        _take(segment, found)
    last = found[-1]
    if len(found) > 1 and last.kind == "nothing" and last.closes and segments[-1].strip():
        found[-2].names += last.names  # the matrix first, then its meaning
        found.pop()
    return found


def _segments(text: str) -> list[str]:
    if len(text) > LONGEST:
        return [text]
    text = _VERB.sub("=", _ASIDE_EQUATION.sub(_hidden, text))
    if not _RELATION.search(text) and (match := _BEFORE.fullmatch(text.strip())):
        return [match[1], match[2]]
    return [segment.replace(_HIDDEN, "=") for segment in _RELATION.split(text)]


def _hidden(match: "re.Match[str]") -> str:
    """Return the text in brackets beside a name, with equals signs hidden."""
    return re.sub("[=≈:]", _HIDDEN, match[0])


def _take(segment: str, found: list[Clause]) -> None:
    """Add a segment between two equals signs to the last clause, or begin a new one."""
    kind, value, rest = _kind(segment)
    last = found[-1]
    if kind == "name" and last.kind != "nothing":
        found.append(Clause([value], closes=True))
    elif kind == "name":
        last.names.append(value)
    elif kind == "work":
        last.work.append(value)
    elif kind == "factors":
        last.factors += GRID.findall(value)
        if _LETTER.search(GRID.sub("", value).replace("T", "")):
            last.names.append(value)
    elif kind != "nothing":
        _result(last, kind, value)
    if rest:
        found.append(Clause([rest]))


def _result(clause: Clause, kind: Kind, value: str) -> None:
    """Set the result of a clause; it replaces an earlier result of the same equation."""
    if clause.kind == "grid":
        clause.factors.append(clause.value)
    elif clause.kind == "row":
        clause.work.append(clause.value)
    clause.kind, clause.value = kind, GRID.findall(value)[0] if kind == "grid" else value


def _kind(segment: str) -> tuple[Kind, str, str]:
    """Return the kind of a segment, its text, and the name of the next equation after it."""
    text = _ASIDE.sub(" ", segment).rstrip(_EDGES).lstrip(" \t,;$|")
    named = segment.strip(_EDGES)
    if not text:
        return ("name", segment.strip(), "") if named else ("nothing", "", "")
    if grids := GRID.findall(text):
        return _of_grids(text, grids)
    if cells := split_row(text):
        return "work" if len(cells) == 1 and is_work(cells[0]) else "row", text, ""
    letter = _LETTER.search(text)
    if letter is None or _is_arithmetic(text):
        return "work" if any(c.isdigit() for c in text) else "name", text, ""
    head = _NEXT.split(text, maxsplit=1)[0]
    if letter.start() < len(head) < len(text) and all(map(is_number_cell, split_row(head) or [""])):
        return "row", head, _SEPARATOR.sub("", text[len(head) :]).strip()  # √2, and the next name
    if _FUNCTION.match(text, letter.start()):
        return "name", named, ""
    return _of_value_and_name(text, letter.start()) or ("name", named, "")


def _of_value_and_name(text: str, start: int) -> tuple[Kind, str, str] | None:
    """Return a result, and the name of the next equation after it."""
    before = text[:start].rstrip("( [{")
    value = before.rstrip(" ,;|").removesuffix(".").strip()
    if _COMBINATION.fullmatch(text):
        return "work", text, ""
    if _SUM.match(text, start):  # 1/2 ∑ (O - T)^2: a factor, not a result
        return None
    rest = _SEPARATOR.sub("", text[len(before) :]).strip()
    if value and all(map(is_number_cell, split_row(value) or [""])):
        return "row", value, rest
    if value and start > 1 and _is_arithmetic(value):
        return "work", value, rest
    return None


def _of_grids(text: str, grids: list[str]) -> tuple[Kind, str, str]:
    first = text.index(grids[0])
    before, after = text[:first].strip(), text[first + 1 :]
    rest = _SEPARATOR.sub("", after.strip(_EDGES)).strip(" ?!")
    if not before and not rest:
        return "grid", text, ""
    starts = _LETTER.match(rest)
    if not before and after.startswith("W"):
        return "factors", text, ""  # (C)W_O = …
    is_parted = after.lstrip()[:1] in (",", ";")
    is_next = starts or (is_parted and _LETTER.match(rest, 1))  # (S)/√2 = …
    if not before and len(grids) == 1 and is_next:
        return "grid", text, rest
    if not before and len(grids) == 1 and rest.startswith("#"):
        return "grid", text, ""
    return "factors", text, ""


def _is_arithmetic(text: str) -> bool:
    """Return whether a text is a calculation, with or without …."""
    clean = text.replace("…", "0").replace("...", "0").replace("−", "-")
    return value_of(clean) is not None
