"""Translates words that count rows, tokens and heads to English, and numbers in letters to digits.

"Rij 2", "2行目" and "第二行" become "row 2", so that readers of rows need one word.
"""

import re

from attncalc.reading.plain.marks import WIDE
from attncalc.reading.words import meanings, words_by_meaning

_NUMERALS = {sign: str(place) for place, sign in enumerate("一二三四五六七八九", 1)}
_PLACES = {word: int(place) for word, place in meanings("ordinals").items()}
ORDINALS = {word: int(place) for word, place in meanings("english ordinals").items()} | _PLACES
"""Ordinals in nine languages, and their numbers."""
_KINDS = meanings("counted")
_ROWS = "|".join(words_by_meaning("counted")["row"])
_NEW = re.compile(
    r"\b(?P<word>rij|riga|linha|línea|renglón|parola|palavra|woord|testa|cabeça|hoofd)"
    r"(?: n[r°º.]{1,2})? ?(?P<number>\d{1,3})\b",
    re.IGNORECASE,
)
_GLUED = re.compile(r"\b(row|head)(\d{1,2})\b", re.IGNORECASE)
_COUNTED = re.compile(
    rf"\b(?P<place>{'|'.join(_PLACES)}) (?P<word>{'|'.join(_KINDS)})\b", re.IGNORECASE
)
_ORDINAL = re.compile(
    rf"\b(\d{{1,2}})(?:\.|st|nd|rd|th|[eè]re?|[eè]me|ª|\.ª) ?(?:row|{_ROWS})\b", re.IGNORECASE
)
"""An ordinal before the word for a row: 2. Zeile, 1ère ligne, 3rd row."""
_SIGNS = re.compile(
    r"(?:第 ?|(?=\d|.つ目| ?.行目|.个头))(?P<place>\d{1,3}|[一二三四五六七八九])"
    r" ?(?:个|個|つの|つ目の)? ?"
    r"(?P<word>行目?|词元|单词|单?词|詞|単語|标记|トークン|注意力头|个头|头|頭|ヘッド)(?:目)?"
    r"|(?P<before>词元|标记|トークン|注意力头|头|頭|ヘッド|行) ?(?P<number>\d{1,3})(?!\d)"
)
_PLAIN = str.maketrans(WIDE)
_HAS_SIGNS = re.compile(r"[行词詞単单标ト头頭ヘ]")
_VALUES = meanings("spoken")
_WHOLE = {word: value for word, value in _VALUES.items() if word != "oh"}
_DIGITS = [word for word, value in _WHOLE.items() if len(value) == 1]
_DECIMALS = rf" point(?: (?:{'|'.join(_DIGITS)}|oh)\b)++"
_NUMBER = rf"\b(?:(?:minus|negative) )?(?:{'|'.join(_WHOLE)})\b(?:{_DECIMALS})?"
_NUMBERS = re.compile(rf"{_NUMBER}(?:(?:,| comma)?(?: and)? {_NUMBER})*+", re.IGNORECASE)
_POINT = re.compile(rf"\b(?:{'|'.join(_DIGITS)}) point (?:{'|'.join(_DIGITS)}|oh)\b", re.IGNORECASE)
_ONE = re.compile(_NUMBER, re.IGNORECASE)
_COUNT_BEHIND = re.compile(
    rf"(?:(?<=\brow )|(?<=\bquery )|(?<=\bkey )|(?<=\bvalue )|(?<=\btoken )|(?<=put ))"
    rf"(?:{'|'.join(_DIGITS)})\b(?! point\b)",
    re.IGNORECASE,
)
"""The count behind a noun: query one, output two."""
_SPOKEN = re.compile(r",|\b(?:minus|negative|point|comma|and)\b", re.IGNORECASE)


_NUMBER_OF = meanings("numbers")
_OF_TOKEN = re.compile(
    r"\b((?:(?:in|out)put|token|word|wort|mot|palabra|parola|palavra|row|column|key|position)s?"
    rf"|quer(?:y|ies)|\d,? (?:and|or)|\d,) ({'|'.join(_NUMBER_OF)})\b",
    re.IGNORECASE,
)
"""The number of a token behind its noun, or behind another number of a list."""


def in_english(text: str) -> str:
    """Return a text with rows, tokens and heads counted in English; lines stay lines.

    >>> in_english("Rij 2: 1, 3"), in_english("la clé du deuxième mot"), in_english("第二行：1")
    ('row 2: 1, 3', 'la clé du token 2', 'row 2: 1')
    """
    text = _ORDINAL.sub(r"row \1", _GLUED.sub(r"\1 \2", text))
    text = _NEW.sub(lambda m: f"{_KINDS[m['word'].lower()]} {m['number']}", text)
    text = _COUNTED.sub(
        lambda m: f"{_KINDS[m['word'].lower()]} {_PLACES[m['place'].lower()]}", text
    )
    if not _HAS_SIGNS.search(text):
        return text
    return _SIGNS.sub(_counted, text.translate(_PLAIN))


def _counted(match: "re.Match[str]") -> str:
    word = match["word"] or match["before"]
    place = _NUMERALS.get(match["place"] or "", match["place"] or match["number"])
    kind = "row" if "行" in word else "head" if word[-1] in "头頭ド" else "token"
    return f"{kind} {place}"


def with_counts(text: str) -> str:
    """Return a text with the numbers of tokens in digits.

    >>> with_counts("output one attends to input two")
    'output 1 attends to input 2'
    """
    before = ""
    while before != text:  # tokens one, two and three
        before = text
        text = _OF_TOKEN.sub(lambda own: f"{own[1]} {_NUMBER_OF[own[2].lower()]}", text)
    return text


def with_digits(text: str) -> str:
    """Return a text with the decimals, negative numbers and lists among its words in digits.

    >>> with_digits("query one is zero point five, two comma and minus two")
    'query 1 is 0.5, 2, -2'
    """
    is_spoken = " comma " in text or _POINT.search(text)
    if not is_spoken:
        return text
    return _NUMBERS.sub(_in_digits, _COUNT_BEHIND.sub(lambda m: _WHOLE[m[0].lower()], text))


def _in_digits(match: "re.Match[str]") -> str:
    numbers = [_value(number[0].lower().split()) for number in _ONE.finditer(match[0])]
    return ", ".join(numbers) if _SPOKEN.search(match[0]) else match[0]


def _value(words: list[str]) -> str:
    whole, *decimals = [_VALUES[word] for word in words if word in _VALUES]
    sign = "" if words[0] in _WHOLE else "-"
    return f"{sign}{whole}{'.' * bool(decimals)}{''.join(decimals)}"
