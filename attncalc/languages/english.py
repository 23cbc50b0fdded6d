"""Translated sentences as their English messages: for pages of attncalc that are read back."""

import re
from collections.abc import Callable, Iterator
from itertools import chain, count, zip_longest
from typing import NamedTuple

from attncalc.languages.catalogue import (
    AND,
    DECIMAL_COMMA,
    LANGUAGES,
    LISTS_BY_MARKS,
    MORE,
    ONE_NUMBER,
    PLACE,
    catalogue,
)

BLANK = re.compile(" ?_{3,} ?")
"""A blank to fill in, with the blanks around it."""
_REASON = re.compile(r" ?[(（][^()（）]*[)）]$")
_BLANK, NONE = "blank", "none"
Form = Callable[[str], str]
"""Returns text as a kind of file has it."""


class _Said(NamedTuple):
    """A message in a language: its texts, and the names of what varies between them."""

    texts: tuple[str, ...]
    names: tuple[str, ...]

    def values(self, sentence: str) -> Iterator[dict[str, str]]:
        """Yield what a sentence has for each name, split at the first and at the last place."""
        first, *between, last = self.texts
        end = len(sentence) - len(last)
        if not (sentence.startswith(first) and sentence.endswith(last)):
            return
        for find in (sentence.find, sentence.rfind):  # a name may have the text behind it, too
            values, at = [], len(first)
            for place, text in enumerate(between, start=1):
                found = (find if place == len(between) else sentence.find)(text, at + 1, end)
                if found < 0:
                    return
                values.append(sentence[at:found])
                at = found + len(text)
            values.append(sentence[at:end])
            named = dict(zip(self.names, values, strict=True))
            if all(value or name.startswith(_BLANK) for name, value in named.items()):
                yield named

    def filled(self, values: dict[str, str]) -> str:
        """Return the sentence with a value for each name."""
        given = (values[name] for name in self.names)
        return "".join(chain(*zip_longest(self.texts, given, fillvalue="")))


class ToEnglish:
    """Returns sentences of a language in English, with decimal points.

    form: how a kind of file has the words of a sentence.
    """

    def __init__(self, language: str, form: Form = str) -> None:
        messages = catalogue(language).messages if language in LANGUAGES else {AND: AND, NONE: NONE}
        self._has_comma = language in DECIMAL_COMMA
        self._by_marks = language in LISTS_BY_MARKS
        self._and, self._none = form(messages[AND]), form(messages[NONE])
        self._whole = {form(said): form(english) for english, said in messages.items()}
        self._varied: dict[str, list[tuple[_Said, _Said]]] = {}
        self._by_ends: dict[tuple[str, str], list[tuple[str, _Said, _Said]]] = {}
        for pair in chain(messages.items(), map(_without_reasons, messages.items())):
            english, said = (_with_places_for_blanks(each) for each in pair)
            if PLACE.search(said):
                each = _split(said, form)
                self._varied.setdefault(each.texts[0][:1], []).append((each, _split(english, form)))
        for many in self._varied.values():
            many.sort(key=lambda pair: -sum(map(len, pair[0].texts)))

    def __call__(self, sentence: str) -> str | None:
        """Return a sentence in English, or None if it is none of the language."""
        if sentence in self._whole:
            return self._whole[sentence]
        for longest, said, english in self._near(sentence[:1], sentence[-1:]):
            for values in said.values(sentence) if longest in sentence else ():
                if parts := self._parts(values):
                    return english.filled(parts)
        return None

    def _near(self, first: str, last: str) -> list[tuple[str, _Said, _Said]]:
        """Return the messages that may begin and end with these letters, and their longest text."""
        if (first, last) not in self._by_ends:
            begun = chain(*(self._varied.get(each, ()) for each in (first, "")))
            self._by_ends[first, last] = [
                (max(said.texts, key=len), said, english)
                for said, english in begun
                if said.texts[-1][-1:] in (last, "")
            ]
        return self._by_ends[first, last]

    def _parts(self, values: dict[str, str]) -> dict[str, str] | None:
        """Return the parts of a sentence in English, or None if one is of another sentence."""
        parts = {}
        for name, value in values.items():
            if (part := self._part(name, value)) is None:
                return None
            parts[name] = part
        return parts

    def _part(self, name: str, value: str) -> str | None:
        if name.startswith("t_"):
            return self(value)
        if re.fullmatch(r"n\d?", name):
            return self._with_point(value) if ONE_NUMBER.fullmatch(value) else None
        if name == "numbers":
            return self._listed(self._with_point(value).replace("; ", ", "))
        if name.startswith(_BLANK):
            own = value.strip()
            return f" {NONE if own == self._none else self._listed(own.replace(self._and, AND))}"
        return self._listed(value) if name == "list" else value

    def _with_point(self, number: str) -> str:
        return number.replace(",", ".") if self._has_comma else number

    def _listed(self, text: str) -> str:
        if MORE.search(said := self(text) or ""):
            return said
        names, joint, last = text.rpartition(self._and)
        listed = f"{names}{AND if joint else ''}{last}"
        return listed.replace("、", ", ") if self._by_marks else listed


def _without_reasons(pair: tuple[str, str]) -> tuple[str, str]:
    """Return a line of the map without the reason in brackets at its end, as people copy it."""
    english, said = pair
    if not (english.startswith("Output {q}: ") and english.endswith(")")):
        return pair
    return _REASON.sub("", english), _REASON.sub("", said)


def _with_places_for_blanks(message: str) -> str:
    """Return a line of a worksheet with a place for each of its blanks, which may be filled in."""
    number = count(1)
    return BLANK.sub(lambda _: f"{{{_BLANK}{next(number)}}}", message)


def _split(message: str, form: Form) -> _Said:
    return _Said(tuple(map(form, PLACE.split(message)[::2])), tuple(PLACE.findall(message)))
