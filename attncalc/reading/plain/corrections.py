"""Corrections within sentences, rewritten as equations.

"Sorry, Q[2,1] should be -1, I lost the sign" becomes "correction: Q[2,1] = -1".
"""

import re
from itertools import pairwise

from attncalc.reading.plain.marks import COMMA
from attncalc.reading.plain.rows import split_row

LONGEST = 300
_SORRY_WORDS = "sorry|oops|ups|pardon|entschuldigung|désolée?|perdón|scusi|scusa|desculpe|perdão"
_PLACE = r"(?:_ ?)?[\[({]? ?\d{1,2}(?: ?[,;] ?\d{1,2})?(?: ?[\])}])?"
_LETTER = r"(?:[A-Za-zα](?:[_^]\{?(?:scaled|masked)\}?)?|alpha|attn)"
"""In a correction only letters are names: "row 1 should be 1" is about its sum."""
_NAME = (
    rf"(?<![\w.])(?:(?:the )?(?:entry|element|value) )?(?-i:{_LETTER}) ?{_PLACE}"
    rf"|\b(?:row|zeile|ligne|fila) \d{{1,2}} (?:of|von|de) (?-i:{_LETTER})\b"
    r"|(?-i:\b[A-Z]),? (?:row \d{1,2}|(?:first|second|third|fourth|fifth) row)"
    rf"|\b(?:the )?(?:first|second|third|fourth) row of (?-i:{_LETTER})\b"
)
_NUMBER = rf"[-+−–]?(?:\d{{1,9}}(?:[.,{COMMA}]\d{{1,9}})?(?:/\d{{1,9}})?|[.]\d{{1,9}})"
_VALUE = (
    rf"{_NUMBER}(?![\w/]|[.,{COMMA}]\d)|[\[(] ?{_NUMBER}(?:(?:[,;] ?| ){_NUMBER}){{1,12}} ?[\])]"
)
_TOLD = re.compile(
    rf"[^\d=]*?(?P<name>{_NAME}|\brow \d{{1,2}}(?=[^\d=]{{1,40}}[\[(]))"
    rf"[^\d=]{{1,40}}?=? ?(?P<value>{_VALUE})[^\d=]*",
    re.IGNORECASE,
)
"""An entry or a row, and its value: Q[2,1] should be -1, I lost the sign."""
_INSTEAD = re.compile(
    r",? (?:and )?(?:not|instead of|rather than|nicht|statt|und nicht|au lieu de|et non|pas|non|não"
    rf"|niet|e non|en niet|invece di|em vez de|no|en lugar de|en vez de|!=) (?:{_VALUE})",
    re.IGNORECASE,
)
ENDS = re.compile(r"[^\W\d_][ :]{0,3}$")
_OF_ROW = rf"{_NUMBER}(?:(?:[,;] ?| {{1,4}}){_NUMBER}){{0,12}}(?: x){{0,12}}"
_WAIT = re.compile(
    rf"(?P<name>[^\n]{{0,100}}?[=≈:] ?[\[(]?)(?P<old>{_OF_ROW})[ ,;.(—\])-]{{0,4}}(?:->|→)? ?"
    rf"(?P<words>[^\d=≈\n-]{{2,60}})(?P<is>[=≈] ?[\[(]?)?(?P<new>{_OF_ROW})\W{{0,3}}"
)
"""A row that is corrected where it is written: k2 = [2, 2] -> no, = [2, 1]."""
_CLOSING = {"[": "]", "(": ")"}
_NO = (
    r"(?:\b(?:no|nope|nein|non|não|nee|nej|sorry|oops|ups|wait|actually|rather|i mean|correction"
    r"|wrong|falsch|faux|errad[oa]|sbagliat[oa]|incorrect[oa]?|fout|fel|yanlış|salah|źle|błąd|špatně"
    r"|chyba|неверно|ошибка)\b|错|間違)"
)
_CORRECTING = re.compile(rf"\W*{_NO}(?:\W+{_NO})*(?:[,.!] [^\d:]{{1,20}}:)?\W*", re.IGNORECASE)
"""Words between a row and its correction: -> no, wait. k2:"""
_ENTRY = re.compile(
    rf"(?<![\w.]){_NUMBER} (?=(?P<words>[^\d\s][^\d\n]{{0,20}} ){_NUMBER})(?P=words)"
)
"""An entry that is corrected within its row: 1 -1.723 NO -1.732 0."""
_ROW_IS = re.compile(
    rf"[^\d=:\n]{{0,80}}?(?P<name>\brow \d{{1,2}} (?:of|von|de) (?-i:{_LETTER})) "
    rf"(?:is|=|es|ist|est|è|é) (?P<value>{_NUMBER}(?:(?:, ?| {{1,4}}){_NUMBER}){{1,12}})"
    r"[^\d\n]{0,80}$",
    re.IGNORECASE,
)
"""A row in a sentence with nothing else: the third row of K is 1 -2, and not as above."""
_NAMED = re.compile(rf"{_NAME}|\brow of (?-i:{_LETTER})\b", re.IGNORECASE)
CORRECTS = re.compile(
    r"\b(?:should|ought to|must) (?:actually |really |rather )?(?:be|read|have been)\b"
    r"|\b(?:sollte|müsste|muss)\b.{0,60}\b(?:sein|heißen|lauten)\b"
    r"|\b(?:devrait|doit) être\b|\b(?:debería|debe|deve|deveria) ser\b|\b(?:deve|dovrebbe) essere\b"
    r"|\bmoet\b.{0,60}\bzijn\b|\b(?:ma|miało|powinno) być\b|\bsk(?:a vara|al være)\b"
    r"|\b(?:richtig|korrekt) (?:ist|sind|wäre)\b|\b(?:correct|right) (?:is|one is|row is)\b"
    r"|\b(?:lo )?correcto es\b|\b(?:il )?giusto è\b|\brätt är\b|\bjuist is\b|\bpoprawnie\b"
    r"|должн[оа] быть|\b(?:надо|нужно|правильно)\b|olmalı|이어야|应该?[是为]"
    r"|正しくは|正确(?:的)?是",
    re.IGNORECASE,
)
"""Words for a number that is wrong elsewhere."""


_SPEAKS_OF_ERROR = re.compile(
    rf"\b(?:{_SORRY_WORDS}|typo|errat(?:um|a)|my mistake|mis(?:typed|copied|read)|correct(?:ion|ed)"
    r"|verschrieben|korrektur|korrigiert|corrección|corregid[oa]"
    r"|correzione|correção|corrigid[oa]|correctie|foutje|rättelse"
    r"|rettelse|poprawka|oprava|düzeltme|javítás|исправ\w{0,8})\b|抱歉|订正|訂正|更正|修正",
    re.IGNORECASE,
)
_SORRY = re.compile(
    rf"\W{{0,8}}(?:{_SORRY_WORDS}|typo|errat(?:um|a)|edit|update|my mistake|抱歉"
    r"|(?:correction|korrektur|corrección|correzione|correção|correctie|rättelse|poprawka)(?=:)"
    r")\b.{0,80}\d",
    re.IGNORECASE,
)
"""The start of a correction, whatever its verb."""
_PAST = re.compile(r"\b(?:as|was|were|war|era|était|fue|foi|byl\w?|был\w?)\W*$", re.IGNORECASE)
"""Words before the old value of an entry."""


def speaks_of_error(text: str) -> bool:
    """Return whether a sentence with a number is about an error elsewhere, in any words.

    >>> speaks_of_error("oops: the first entry of row 2 should be -0.28")
    True
    """
    has_number = any(map(str.isdigit, text))
    return has_number and bool(_SPEAKS_OF_ERROR.search(text) or CORRECTS.search(text))


def is_correction(text: str) -> bool:
    """Return whether a sentence states the correct value of an entry or a row.

    >>> is_correction("so Q[1,2] should be 3"), is_correction("the sum of row 1 should be 1")
    (True, False)
    """
    is_said = CORRECTS.search(text) or _SORRY.match(text)
    return is_said is not None and _NAMED.search(text) is not None


def with_corrections(text: str) -> str:
    """Return a text with the corrections of its sentences as equations; lines stay lines.

    >>> with_corrections("oh no, Q[2,1] should be -1, not 1!")
    'correction: Q[2,1] = -1'
    >>> with_corrections("k2 = 2, 2 -> no, 2, 1")
    'k2 = 2, 1'
    """
    lines = text.split("\n")
    for i, (line, below) in enumerate(pairwise(lines)):
        if CORRECTS.search(line) and ENDS.search(line) and (row := split_row(below)):
            lines[i], lines[i + 1] = f"{line} [{' '.join(row)}]", ""
    widths = [_count(line) if len(line) <= LONGEST else 0 for line in lines]
    for i, line in enumerate(lines):
        there = {width for width in widths[max(0, i - 1) : i + 2] if width > 1}
        said = _ENTRY.search(line) if there and not widths[i] and len(line) <= LONGEST else None
        if said and _CORRECTING.fullmatch(said["words"]):
            corrected = line[: said.start()] + line[said.end() :]
            lines[i] = corrected if _count(corrected) in there else line
    return "\n".join(map(_line, lines))


def _count(row: str) -> int:
    return len(split_row(row) or ())


def _line(line: str) -> str:
    if len(line) > LONGEST or not any(map(str.isdigit, line)):
        return line
    said = _WAIT.fullmatch(line)
    told = _CORRECTING.match if said and said["is"] else _CORRECTING.fullmatch
    is_again = said and told(said["words"])
    if said and is_again and _count(said["old"]) == _count(said["new"]):
        return f"{said['name']}{said['new']}{_CLOSING.get(said['name'][-1:], '')}"
    if said := _ROW_IS.match(line):
        return f"{said['name']} = [{said['value']}]"
    is_said = CORRECTS.search(line) or _SORRY.match(line)
    found = _TOLD.fullmatch(_INSTEAD.sub("", line, count=1)) if is_said else None
    if found and not _PAST.search(found.string, found.end("name"), found.start("value")):
        return f"correction: {found['name']} = {found['value']}"
    return line
