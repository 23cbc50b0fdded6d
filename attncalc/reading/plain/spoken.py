"""Numbers in letters: from speech, "minus zero point seven one", and of tokens, "input two"."""

import re

from attncalc.reading.words import meanings

_VALUES = meanings("spoken")
_WHOLE = {word: value for word, value in _VALUES.items() if word != "oh"}
_DIGITS = [word for word, value in _WHOLE.items() if len(value) == 1]
_DECIMALS = rf" point(?: (?:{'|'.join(_DIGITS)}|oh)\b)++"
_NUMBER = rf"\b(?:(?:minus|negative) )?(?:{'|'.join(_WHOLE)})\b(?:{_DECIMALS})?"
_NUMBERS = re.compile(rf"{_NUMBER}(?:(?:,| comma)?(?: and)? {_NUMBER})*+", re.IGNORECASE)
_POINT = re.compile(rf"\b(?:{'|'.join(_DIGITS)}) point (?:{'|'.join(_DIGITS)}|oh)\b", re.IGNORECASE)
_ONE = re.compile(_NUMBER, re.IGNORECASE)
_COUNTED = re.compile(
    rf"(?:(?<=\brow )|(?<=\bquery )|(?<=\bkey )|(?<=\bvalue )|(?<=\btoken )|(?<=put ))"
    rf"(?:{'|'.join(_DIGITS)})\b(?! point\b)",
    re.IGNORECASE,
)
"""The count behind a noun: query one, output two."""
_SPOKEN = re.compile(r",|\b(?:minus|negative|point|comma|and)\b", re.IGNORECASE)


_NUMBER_OF = meanings("numbers")
_OF_TOKEN = re.compile(
    r"\b((?:in|out)put|token|word|wort|mot|palabra|parola|palavra|row|column|key|query|position) "
    rf"({'|'.join(_NUMBER_OF)})\b",
    re.IGNORECASE,
)


def with_counts(text: str) -> str:
    """Return a text with the numbers of tokens in digits.

    >>> with_counts("output one attends to input two")
    'output 1 attends to input 2'
    """
    return _OF_TOKEN.sub(lambda own: f"{own[1]} {_NUMBER_OF[own[2].lower()]}", text)


def with_digits(text: str) -> str:
    """Return a text with the decimals, negative numbers and lists among its words in digits.

    >>> with_digits("query one is zero point five, two comma and minus two")
    'query 1 is 0.5, 2, -2'
    """
    is_spoken = " comma " in text or _POINT.search(text)
    if not is_spoken:
        return text
    return _NUMBERS.sub(_in_digits, _COUNTED.sub(lambda m: _WHOLE[m[0].lower()], text))


def _in_digits(match: "re.Match[str]") -> str:
    numbers = [_value(number[0].lower().split()) for number in _ONE.finditer(match[0])]
    return ", ".join(numbers) if _SPOKEN.search(match[0]) else match[0]


def _value(words: list[str]) -> str:
    whole, *decimals = [_VALUES[word] for word in words if word in _VALUES]
    sign = "" if words[0] in _WHOLE else "-"
    return f"{sign}{whole}{'.' * bool(decimals)}{''.join(decimals)}"
