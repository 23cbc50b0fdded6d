"""Numbered rows: row 2 of Q, Q (row 2), the second query, zweite Zeile von Q."""

import re
from typing import NamedTuple

_WORDS = {
    1: "first 1st erste ersten erster premier première premiere primer primera",
    2: "second 2nd zweite zweiten zweiter deuxième deuxieme seconde segundo segunda",
    3: "third 3rd dritte dritten dritter troisième troisieme tercer tercera",
    4: "fourth 4th vierte vierten vierter quatrième quatrieme cuarto cuarta",
    5: "fifth 5th fünfte fünften cinquième cinquieme quinto quinta",
    6: "sixth 6th sechste sechsten sixième sixieme sexto sexta",
}
_NUMBER = {word: number for number, words in _WORDS.items() for word in words.split()}
_ROW = r"(?:row|zeile|reihe|ligne|fila)"
_OF = r"(?: ?(?:of|von|der|de|del)\b)?(?: (?:the|la|el|den)\b)?"
_COUNTED = re.compile(rf"[(\[,]? ?\b{_ROW} ?(?:no\.?|nr\.?|#)? ?(\d{{1,3}})\b ?[)\]]?{_OF}", re.I)
_ORDINAL = re.compile(rf"\b({'|'.join(_NUMBER)})\b(?: {_ROW}\b{_OF})?", re.I)
_POSSESSIVE = re.compile(r"(?<=\w)'s(?= |$)")


class Counted(NamedTuple):
    """The number of a row, from 1, and the text without it."""

    row: int
    rest: str


def row_in(text: str) -> Counted | None:
    """Return the row that a text numbers, or None.

    Examples
    --------
    >>> row_in("row 2 of Q"), row_in("the first query"), row_in("Q")
    (Counted(row=2, rest='Q'), Counted(row=1, rest='the query'), None)
    """
    if len(text) > 80:
        return None
    match = _COUNTED.search(text)
    row = int(match[1]) if match else 0
    if match is None and (match := _ORDINAL.search(text)):
        row = _NUMBER[match[1].lower()]
    if match is None or not row:
        return None
    rest = f"{text[: match.start()]} {text[match.end() :]}"
    return Counted(row, " ".join(_POSSESSIVE.sub("", rest).split()))
