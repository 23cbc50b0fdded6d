"""Vectors within sentences, rewritten as matrices of the steps that the words before them name.

"The first row of K is (1, 2), the second (3, 4)" becomes "K = [1 2; 3 4]".
"""

import itertools
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from attncalc.reading.plain.marks import COMMA
from attncalc.reading.plain.other_words import ENGLISH

Named = Callable[[str], tuple[str, tuple[int, ...]]]
"""Returns the step that words name, and its shape; "" if they name none."""
LONGEST, MOST, MOST_ENDS = 300, 2000, 2
"""The largest number of characters between two vectors, and of vectors."""
_NUMBER = rf"[-+−–]?(?:\d{{1,30}}(?:[.{COMMA}]\d{{1,30}})?|\.\d{{1,30}})(?:/\d{{1,9}})?%?"
_AND = r"(?:and|und|et|y|e|ed|en|i|och|og|ja|ve|и)"
_BETWEEN = re.compile(rf"[,;]? {_AND} |[,;] ?| ")
_LIST = re.compile(
    rf"(?<![\w.,^{COMMA}])[(\[]?({_NUMBER}(?:(?:{_BETWEEN.pattern}){_NUMBER}){{1,50}})[)\]]?"
    rf"(?![\w%]|[.,{COMMA}]\d)"
)
_PLACES = (
    rf"\b(?:(?P<word>{'|'.join(ENGLISH)})\b(?: (?:row|one|line|token|word|query)\b)?"
    r"|(?:x_?|(?:token|jeton|word|ord|row|line|query|requête|consulta|anfrage|zapytanie|fråga|output|sortie"
    r"|salida|uscita|saída|ausgabe|uitvoer|wyjście|utdata|токен\w{0,2}|слово)\w{0,2}[ _])"
    r"(?P<number>\d{1,3})\b)"
)
_PLACE = re.compile(_PLACES, re.IGNORECASE)
_COUNTED = re.compile(
    r"\b(?:tokens?|inputs?|keys?|quer(?:y|ies)|words?|positions?|rows?|heads?|jetons?|mots?"
    r"|entrées?|clés?|wörter|eingaben?|entradas?|claves?|palabras?|ingressi|chiavi|chaves?)\s*$",
    re.IGNORECASE,
)
"""What the numbers behind it count: inputs 1 and 3."""
_DECIMAL = re.compile(r"(?<=\d),(?=\d)")
_LEADS = " \t\n\r,;:≈"
_ROOT = re.compile(r"(?:√ ?|sqrt ?)\(?\d{1,4}\)?")
_END = re.compile(r"[.!?:](?=\s)|\n[^\S\n]*(?=\n|[-*#>|])")
_OTHER = "?"
"""The words before numbers that are no vector of a sentence."""
_FIRST_AND = re.compile(rf"\A{_AND}(?: |\Z)", re.IGNORECASE)
_NO_WORDS = re.compile(r"[→\d=+·*×/^\[\]|{}&\\<>_#(]")
_TAIL = re.compile(
    rf"[^\S\n]*+(?:for|für|pour|para|per|voor) (?:[^\W\d_]{{2,5}} )?{_PLACES}", re.IGNORECASE
)
"""The row of a vector behind it: for the first token."""


class _Group(NamedTuple):
    """Consecutive vectors under one name: the rows of a step, and the row mentioned with each."""

    start: int
    name: str
    shape: tuple[int, ...]
    rows: list[list[str]]
    places: list[int]

    @property
    def is_whole(self) -> bool:
        """Whether they are all the rows of the step, mentioned in order."""
        are_rows = len(self.rows) > 1 and (len(self.rows), *{*map(len, self.rows)}) == self.shape
        return are_rows and all(place in (0, k) for k, place in enumerate(self.places, start=1))


def with_told(text: str, named: Named) -> str:
    r"""Return a text with the vectors of its sentences as matrices; lines stay lines.

    >>> named = {"The keys\nare": ("K", (2, 2))}
    >>> with_told("The keys\nare (1, 2) for x1, (3, 4) for x2.", lambda x: named.get(x, ("", ())))
    'K = [1 2; 3 4] \n.'
    """
    pieces, position = [], 0
    for group, stop in _groups(text, named):
        if group.is_whole:
            rows = "; ".join(map(" ".join, group.rows))
            lines = "\n" * text.count("\n", group.start, stop)
            pieces += [text[position : group.start], f"{group.name} = [{rows}] {lines}"]
            position = stop
    return "".join([*pieces, text[position:]])


def _groups(text: str, named: Named) -> Iterator[tuple[_Group, int]]:
    """Yield each group of vectors in sentences, and its end."""
    group, stop = _Group(0, "", (), [], []), 0
    # a comma may be a decimal one also before another: 0,5, 0,2
    plain = _DECIMAL.sub(COMMA, text) if COMMA in text else text
    for match in itertools.islice(_LIST.finditer(plain), MOST):
        gap = plain[max(stop, match.start() - LONGEST) : match.start()]
        ends = [0, *(end.end() for end in _END.finditer(gap.rstrip(_LEADS)))]
        said, place = _without_places(gap[ends[-1] :])
        found = named(said) if gap.strip() and not _is_count(match[0], said) else ("", ())
        if not found[0] and place == 1 and len(ends) > 1:  # the scores. For the first query
            ends.pop()
            found = named(_without_places(gap[ends[-1] :])[0])
        is_next = place == len(group.rows) + 1 > 1 and found[0] in ("", group.name)
        is_next = is_next and len(ends) <= MOST_ENDS
        is_beside = gap.strip() and said != _OTHER and not found[0] and len(ends) == 1
        if not is_next and not is_beside:
            yield group, stop
            start = match.start() - len(gap[ends[-1] :].lstrip())
            group = _Group(start, *found, [], [])
        group.rows.append(_BETWEEN.split(match[1]))
        group.places.append(place)
        tail = _TAIL.match(plain, match.end())
        stop = tail.end() if tail else match.end()
    yield group, stop


def _without_places(words: str) -> tuple[str, int]:
    """Return words without roots and the row that they mention, and this row; 0 for none."""
    words = _ROOT.sub("√", words.rstrip(_LEADS))
    places = [each["number"] or ENGLISH[each["word"].lower()] for each in _PLACE.finditer(words)]
    words = _FIRST_AND.sub("", _PLACE.sub(" ", words).strip())
    is_clear = len(places) < 2 and not _NO_WORDS.search(words)
    return (words, int(*places)) if is_clear else (_OTHER, 0)


def _is_count(numbers: str, words: str) -> bool:
    """Return whether numbers without brackets count what the word before them says."""
    return numbers[0] not in "([" and _COUNTED.search(words) is not None
