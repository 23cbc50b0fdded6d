"""Catalogs of sentences: a file .po for each language, in the format of gettext.

A message is the English sentence as a page has it, with a name in braces where it varies. The first
letters of the name say what is there:

- `{n}`, `{n2}`: a number, with the decimal sign of the language;
- `{t_cause}`: a text that is a message itself;
- `{t_each}`, `{t_parts}`: such texts in a row (a, b and c), and between semicolons;
- `{t_reasons}`: texts with a reason in brackets behind them, between semicolons;
- `{list}`, `{numbers}`: names or numbers in a row: a, b and c;
- `{line}`, `{points}`, `{rest}`: text with numbers; any other: text that stays as it is.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from attncalc.base.text import LEFT_TO_RIGHT_MARK, capital

DECIMAL_COMMA = ("de", "fr", "es", "pt")
LISTS_BY_MARKS = ("zh", "ja")
LANGUAGES = (*DECIMAL_COMMA, *LISTS_BY_MARKS)
"""Languages with a catalog."""
ENGLISH = "en"
_OR, _EITHER = ", or ", "{t_a}, or {t_b}"
_IN_POINTS = ("for its cause", "for a hint")
PLACE = re.compile(r"\{(\w+)\}")
_NUMBER = r"[-−]?\d(?:[\d.,]*\d)?\.?(?:[×^/\d-]*)|[-−]?(?:∞|inf)"
ONE_NUMBER = re.compile(r"(?:[-−]?\d(?:[.,]*+\d)*+\.?[×^/\d-]*+|[-−]?(?:∞|inf)) ?%?")
"""A number alone; `_NUMBER` gives back what the words behind it need."""
_ROWS = {
    "t_each": re.compile(r"(, | and )"),
    "t_parts": re.compile("(; )"),
    "t_reasons": re.compile(r"(?<=\))(; )"),
}
"""Where texts in a row are split."""
_POINT = re.compile(r"(?<=\d)\.(?=\d)")
_REMARK = "   ("
"""What precedes a remark, behind the work of an entry."""
_COUNT = re.compile(r"\d{1,3}(?:,\d{3})+")
"""A count with its thousands apart, as 1,000."""
AND, MORE = " and ", re.compile(r" and [\d,]+ more$")
_MESSAGE = re.compile(r'^msgid ((?:".*"\n)+)msgstr ((?:".*"\n?)+)', re.MULTILINE)


class _Message(NamedTuple):
    """A message with names in it, as it is found, and its translation."""

    found: re.Pattern[str]
    said: str
    has_words: bool


SHORT = 4
"""The most letters between names that may be within a name, too."""
JOINTS = 6
"""The most letters of a message that only joins others, as `{t_a} and {t_b}`."""
LONGEST = 2000
"""Of a sentence with parts that vary: a longer one stays in English."""
MOST_KNOWN = 4096
"""The most sentences whose translations a catalog keeps."""


class Catalogue:
    """The sentences of a language: its code, and the translations by English message."""

    def __init__(self, language: str, messages: dict[str, str]) -> None:
        self.language, self.messages = language, messages
        varied = sorted(filter(PLACE.search, messages), key=_literal, reverse=True)
        self._varied = [
            _Message(re.compile(_found(each)), messages[each], _literal(each) > JOINTS)
            for each in varied
        ]
        # a part is tried in many messages
        self._translated = lru_cache(maxsize=MOST_KNOWN)(self._translation)

    def say(self, text: str) -> str:
        """Return a sentence in this language; one without a translation stays as it is."""
        return self.said(text) or text

    def each(self, text: str) -> str:
        """Return sentences and numbers, between semicolons, in this language."""
        return self.said(text, strict=True) or "; ".join(
            self.number(one) if ONE_NUMBER.fullmatch(one) else self.say(one)
            for one in text.split("; ")
        )

    def said(self, text: str, *, strict: bool = False) -> str | None:
        """Return a sentence in this language, or None if it has no translation.

        If `strict`, the messages within it need one, too; otherwise they may stay in English if no
        message fits better.
        """
        if self.language == ENGLISH or not text:
            return text
        if text[0] == text[-1] == LEFT_TO_RIGHT_MARK:
            inner = self.said(text.strip(LEFT_TO_RIGHT_MARK), strict=strict)
            return inner and f"{LEFT_TO_RIGHT_MARK}{inner}{LEFT_TO_RIGHT_MARK}"
        return self.messages[text] if text in self.messages else self._translated(text, strict)

    def _translation(self, text: str, strict: bool) -> str | None:
        """Return a sentence in this language by the messages with names that it may be, or None."""
        messages = self._varied if len(text) <= LONGEST else ()
        matches = [(each, match) for each in messages if (match := each.found.fullmatch(text))]
        for is_whole in (True,) if strict else (True, False):
            for message, match in matches:
                found = match.groupdict().items()
                parts = {name: self._part(name, part, strict=is_whole) for name, part in found}
                if None not in parts.values() and (is_whole or message.has_words):
                    return message.said.format(**parts)
        return None

    @property
    def has_comma(self) -> bool:
        """Whether its decimal sign is a comma."""
        return self.language in DECIMAL_COMMA

    def number(self, text: str) -> str:
        """Return a number with the decimal sign of the language."""
        if not self.has_comma:
            return text
        return text.replace(",", ".") if _COUNT.fullmatch(text) else _POINT.sub(",", text)

    def within(self, source: str) -> dict[str, str]:
        """Return the messages whose words a script contains, the longest first."""
        kept = {
            m: s for m, s in self.messages.items() if all(p in source for p in PLACE.split(m)[::2])
        }
        return dict(sorted(kept.items(), key=lambda each: -_literal(each[0])))

    def _part(self, name: str, text: str, *, strict: bool) -> str | None:
        if name in _ROWS:
            items = "".join(map(self._item, _ROWS[name].split(text)))
            return self._listed(items) if name == "t_each" else items
        if name.startswith("t_"):
            # behind a colon, a sentence begins small in English
            return self._text(capital(text) if name == "t_said" else text, strict=strict)
        if name == "numbers" and self.has_comma:
            name, text = "list", self.number(text).replace(", ", "; ")
        if name in ("list", "numbers"):
            return self.say(text) if MORE.search(text) else self._listed(text)
        if name in ("points", "rest"):
            for words in _IN_POINTS:
                text = text.replace(words, self.messages.get(words, words))
            return self.number(text.replace(" of ", "/"))
        if name == "line":
            work, mark, remark = text.removesuffix(")").partition(_REMARK)
            return f"{self.number(work)}{mark}{self.say(remark)})" if mark else self.number(text)
        return self.number(text) if re.fullmatch(r"n\d?", name) else text

    def _text(self, text: str, *, strict: bool) -> str | None:
        """Return a text within a sentence, or several with "or", in this language."""
        one, _, other = text.rpartition(_OR)
        said = [self.said(each, strict=True) for each in (*one.split("; "), other) if one]
        firsts = [each for each in said[:-1] if each]
        if firsts and len(firsts) + 1 == len(said) and said[-1]:
            return self.messages[_EITHER].format(t_a="; ".join(firsts), t_b=said[-1])
        if ONE_NUMBER.fullmatch(text):
            return self.number(text)
        return self.said(text, strict=strict) or (None if strict else text)

    def _item(self, text: str) -> str:
        """Return one of several texts in this language; of names in a row, their separators."""
        if said := self.said(capital(text), strict=True):
            return said if text == capital(text) else said[:1].lower() + said[1:]
        return self.said(text, strict=True) or self._listed(text)

    def _listed(self, text: str) -> str:
        """Return names in a row with the separators of the language."""
        text = text.replace(", ", "、") if self.language in LISTS_BY_MARKS else text
        names, joint, last = text.rpartition(AND)
        return f"{names}{self.messages.get(joint, joint)}{last}"


@cache
def catalogue(language: str) -> Catalogue:
    """Return the catalog of a language."""
    if language == ENGLISH:
        return Catalogue(language, {})
    from importlib.resources import files  # English needs none

    text = files(__package__).joinpath(f"{language}.po").read_text(encoding="utf-8")
    return Catalogue(language, {msgid: msgstr for msgid, msgstr in messages(text) if msgid})


def messages(text: str) -> Iterator[tuple[str, str]]:
    """Yield the messages of a file .po and their translations."""
    for match in _MESSAGE.finditer(text):
        msgid, msgstr = (
            "".join(ast.literal_eval(line) for line in part.strip().split("\n"))
            for part in match.groups()
        )
        yield msgid, msgstr


def _literal(message: str) -> int:
    """Return how many letters of a message never vary: more of them are tried first."""
    return len(PLACE.sub("", message))


def _found(message: str) -> str:
    """Return a message as a pattern."""
    parts = PLACE.split(message)
    return "".join(
        f"(?P<{part}>{_kind(part, parts[place + 1])})" if place % 2 else re.escape(part)
        for place, part in enumerate(parts)
    )


def _kind(name: str, words: str) -> str:
    """Return the pattern of what has a name, with these words behind it."""
    if re.fullmatch(r"n\d?", name):
        return _NUMBER
    if name == "numbers":
        return r"[^()]+?"
    if name == "list" and words == AND:  # as in `{list} and {n} more`, which ends sentences, too
        return r"(?:(?! \(in |: ).)+?"
    if name in ("step", "entry", "part", "m"):
        return r"\S+?"
    # the step of a mistake follows its whole sentence
    if name in ("a", "b"):  # formulas
        return r"(?:(?! \(in )[^:])+?"
    if name == "t_why" and words[:1] == ")":  # behind a text that may have brackets, too
        return r"(?:[^()]|\([^()]*\))+"
    if name.startswith("t_"):
        return ".+?"
    ends = f"|{re.escape(words)}" if name == "x" and len(words) > SHORT else ""
    return rf"(?![Ll]ine \d+: )(?:(?! \(in {ends}).)+?"
