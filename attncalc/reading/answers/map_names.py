"""The tokens that a text names, in their order, with the words between them.

Every reader of a map in any words starts from this sequence. A text has several: words in brackets
and ranks are dropped, or not; tokens are named by their names, their numbers or their ordinals.
"""

import re
import unicodedata
from collections.abc import Container, Iterator, Sequence
from functools import lru_cache, partial
from itertools import product
from typing import NamedTuple

from attncalc.reading.answers.map_words import (
    EMPHASIZED,
    PHRASES,
    SAID,
    lexemes_in,
    phrases,
    place_of,
)
from attncalc.reading.naming.name import Tokens, heads_in
from attncalc.reading.naming.vocabulary import HEADS
from attncalc.reading.plain.marks import COMMA
from attncalc.reading.plain.other_words import ORDINALS, in_english, with_counts
from attncalc.reading.plain.tex import ACCENTS

LONGEST, MOST_LINES, MOST_MENTIONS = 600, 400, 2000
MOST_OF_HEADING = 3
"""The most words of a heading that names an output."""
LONGEST_END = 80
"""The most letters of the end of a sentence that are read."""
FARTHEST = 3
"""The largest distance of lines between two names of a map."""
WORD = re.compile(r"[^\W\d_]{3,}|[\u3040-\u9fff]{2,}")
"""A word that is not only a letter or two."""
SENTENCE = re.compile(
    r"(?<!\d)\.(?=\s|$)|(?<=\d)\.(?=\s+[^\W\d_a-zà-ÿ])|[!?;](?=\s|$|[\u2e80-\uffff])|[。！？；]"
)
"""A period behind a number ends a sentence only before a capital: "1. output" is an ordinal."""
STRUCK = re.compile(r"~~[^~\n]{1,80}~~")
ASIDE = re.compile(r"\([^()\d\x00]{0,80}\)")
VALUE = " \x00 "
"""A weight between names, which may rank them against their order."""
VECTOR = re.compile(r"[(\[⟨] ?-?\d[\d.]{0,9}[,;] ?-?\d")
"""The start of a vector between names, which are then no map."""
FORMULA = re.compile(r"\d(?!(?:st|nd|rd|th)\b)|=(?=\s*[^\s>=])|[\[\]*·×^]")
"""A sign of numbers or work between two names, which are then no map."""
_WORK = re.compile(r"\x00[^\x00]*\x00|\d ?[,;|] ?-?\d|= ?[-(\[\d]")
"""A sign of several numbers on a line."""
_PROMPT = re.compile(
    r"\s*(?:>>>?|\w{3,9}(?::\d{1,4})?>|In ?\[\d{1,4}\]:|> ?[\w.]{1,30}(?: ?<-|\()) ?[^\s#%(]"
)
"""The prompt of a program, before its code."""
_NUMBERED = re.compile(r"^[\s>*#•·-]*(?:(?:[^\W\d_]{1,12} )?\(?\d{1,2}[.)]\s+(?=[^\W\d]))?")
_NAME, _DIGIT, _SIGNS_OF_DATA = re.compile(r"\w+"), re.compile(r"\d"), re.compile(r"[\[\]{}_]")
_OF_OUTPUT = re.compile(r"\b[oqyz]_?(?=\d{1,3}\b)", re.IGNORECASE)
"""The letter of an output before its number: q1."""
_NTH_RANK = re.compile(
    r"(?<![\w.])\d{1,2}(?:-?(?:st|nd|rd|th|[eè](?:me)?|[eè]re?|er|ro|do|[йяое]|ей)\b|\.?[ºª°]"
    r"| ?(?:番目|位|번째|순위|위(?!치))|(?<=\d)等)"
)
"""A rank in digits: 2nd, 2º, 2番目."""
_LIKENED = re.compile(
    rf"{phrases('like')} (?:\w{{1,12}} )?(\w{{1,20}})"
    r"|(\w{1,20}?) ?(?:와|과|랑)? ?(?:마찬가지로|처럼|と同じく|と同じように)",
    re.IGNORECASE,
)
"""An output that another one is like: like io, io와 마찬가지로."""
_ITSELF = phrases("itself")
_ONESELF = re.compile(_ITSELF, re.IGNORECASE)
_TOKEN = re.compile(
    r"\x01(?P<head>-?\d{1,3})\x01"
    rf"|(?P<itself>{_ITSELF})|(?P<other>{phrases('other')})"
    rf"|(?P<number>(?<!\b[asp])(?<!\b[asp]_)(?<![\d.{COMMA}/-])(?<!\d\d:)\d{{1,3}}(?![\d%/]|[.{COMMA}]\d|:\d\d|(?<=[a-z]\d)[a-z]{{2}}))"
    r"|(?P<word>[^\W\d_\u3040-\uffff]{1,40}|[\u3040-\u309f]"
    rf"|(?:(?!{_ITSELF})[\u30a0-\uffff]){{1,40}})",
    re.IGNORECASE,
)
_STEMS = [PHRASES[str(place)].replace(", ", "|") for place in range(1, 6)]
_PLACE = re.compile(
    rf"(?:(?<!\b[aei]n )(?<!comes )(?<!ranks )(?<!\bis )\b(?:{'|'.join(ORDINALS)})\b"
    rf"|(?<![^\W\d_])و?(?:{'|'.join(f'({each})' for each in _STEMS)})\w{{0,8}}\b)"
    rf"(?! {phrases('rank')})(?! {phrases('article')})(?! {phrases('is')} [^\W\d_]{{0,12}} ?\d)"
    rf"(?! {phrases('noun')}\W?\d)",
    re.IGNORECASE,
)
"""Ordinals, in further languages by their stems; one before an article is an adverb.

A rank is none: second is input 1.
"""
_OF_RANK = re.compile(
    rf"(?<!\bto)(?<!\bat)(?<!\bon) {phrases('article')} (?={phrases('rank')})", re.IGNORECASE
)
"""An article that names no token: looks at cat the most."""
_HEAD_OF_PLACE = re.compile(rf"{_PLACE.pattern}\s+(?:{HEADS})(?![a-z])", re.IGNORECASE)
"""A head by its ordinal: the first head."""
_HEAD = re.compile(r"\x01-?\d{1,3}\x01")
"""A head, as it is marked in a text."""
_COUNTS = {word: int(n) for n in "234" for word in PHRASES[f"count {n}"].split(", ")}
_COUNT_OF_ALL = re.compile(
    rf"{phrases('the')} ({'|'.join(_COUNTS)})(?![\w.)])|{phrases('the')} ([2-9]) (?=\w{{3}})",
    re.IGNORECASE,
)
"""All tokens by their number: all four, les 3 sorties."""
_ACCENT = re.compile(r"\\(['`^\"~])\{?([A-Za-z])\}?")
"""A letter with an accent in LaTeX, which unicodedata composes."""
_CHINESE = "一二三四五六七八九"
_CHINESE_NTH = re.compile(rf"第([{_CHINESE}])[个個]")
"""An ordinal of Chinese before a noun."""
_NTH = re.compile(r"(\d)\.?[ºª]")
_QUOTED = re.compile(
    r"(\"[^\"\n]{1,40}\"|[“„«「『][^”“»」』\n]{1,40}[”“»」』]|(?<!\w)['‘][^'’\n]{1,40}['’](?!\w)"
    r"|(?<![\w*_`])[*_`]{1,2}[^\s*_`][^*_`\n]{0,40}[*_`]{1,2}(?![\w*_`]))"
)
"""A text in quotation marks, or emphasized."""
_PAIR = re.compile(r"(?<=(?<![\w.-])\d) ?[-–—] ?(?=\d(?![\w.-]\d))|(?<=[oy]\d) ?= ?(?=x_?\d\b)")
"""The sign between an output and an input in a list of lines: 1-2, 2-3; y1 = x2, y2 = x3."""
_DRESS = re.compile(
    r"[\"“”„«»「」『』]|</?[A-Za-z][^<>]{0,200}>|\\item(?:<[^<>\n]{0,20}>)?"
    r"|\\(?:emph|text\w{1,6})\b|\$X_\{?\d\}?\$|(?<![A-Za-z\d])X[12](?![A-Za-z\d]| ?[_(\[])"
    rf"|{STRUCK.pattern}"
)
"""Quotation marks, tags, the matrix of a token, and struck words."""
_WEIGHT = re.compile(
    rf"[≈~]? ?[-+]?(?<!\d)(?:\d{{0,9}}[.{COMMA}]|0,)\d{{1,20}} ?%?|[≈~] ?\d{{1,9}}"
    r"|(?<!\d)\d{1,9} ?%"
)

Lines = Sequence[tuple[int, str]]
"""Texts with the numbers of their lines."""


class Mention(NamedTuple):
    """A token that is named: its places as output and as input, from 0.

    -1 is "itself", -2 the other one of two.
    """

    line: int
    output: int
    input: int
    before: str
    head: int
    """The head mentioned last, from 1; 0 for none."""
    is_near: bool
    """Whether only words are between the name before it and this one."""
    goes_on: bool
    """Whether they also are in one sentence."""
    behind: str = ""
    """The rest of its sentence on its line."""


def input_of(mention: Mention, output: int) -> int:
    """Return the place of an input that an output attends to: itself, the other of two, or one."""
    return {-1: output, -2: 1 - output}.get(mention.input, mention.input)


class Reading(NamedTuple):
    """The tokens that a text names in one way, and whether by their names."""

    mentions: Sequence[Mention]
    are_names: bool
    is_of_sections: bool = False
    """Whether the name of an output may head the lines about it."""
    is_from_zero: bool = False
    """Whether numbers count tokens from 0."""


@lru_cache(maxsize=4)
def readings(lines: tuple[tuple[int, str], ...], labels: Tokens, count: int) -> list[Reading]:
    """Return all readings of the tokens that lines name; several searches ask for them.

    count: the number of outputs.
    """
    sides = [[*map(_spelled, side)] for side in (labels.queries, labels.keys)]
    counted = [
        (line, cleaned(text))
        for line, text in lines[-MOST_LINES:]
        if len(text) <= LONGEST and not _PROMPT.match(text)
    ]
    counts = {count, len(labels.keys)}
    all_of = partial(
        _COUNT_OF_ALL.sub, lambda own: " all " if _count_of(own[1] or own[2]) in counts else own[0]
    )
    counted = [(line, all_of(text)) for line, text in counted]
    listed = [(line, _NUMBERED.sub("", text)) for line, text in counted]
    known = {*sides[0], *sides[1]} - {""}
    quoted = [(line, _NUMBERED.sub("", cleaned(_only_quoted(text, known))))
              for line, text in lines[-MOST_LINES:] if known and len(text) <= LONGEST]  # fmt: skip
    without = [(line, ASIDE.sub(" ", text)) for line, text in listed]
    ranked = [(line, _LIKENED.sub(" ", _NTH_RANK.sub(" ", text))) for line, text in without]
    texts = (without, listed, ranked)
    placed = [
        [(line, _PLACE.sub(_as_number, in_english(text))) for line, text in own] for own in texts
    ]
    ways: list[tuple[Lines, int, Reading]]
    ways = [(own, FARTHEST, Reading((), are_names=True)) for own in texts]
    ways.append((quoted, FARTHEST, Reading((), are_names=True)))
    ways += [
        (own, FARTHEST, Reading((), are_names=False))
        for own in (without, placed[0], placed[1], counted, ranked, placed[2])
    ]
    ways.append((counted, FARTHEST, Reading((), are_names=False, is_from_zero=True)))
    for pieces in (without, sentences_in(without)):
        for own in _in_sections(pieces, sides, count):
            ways += [
                (own, MOST_LINES, Reading((), named, is_of_sections=True))
                for named in (True, False)
            ]
    found: list[Reading] = []
    for (own, farthest, way), is_all in product(ways, (False, True)):
        if any(sides[0]) >= way.are_names and (own is without or not is_all):
            mentions = [*_mentions(own, sides, farthest, way, is_all=is_all)]
            if all(mentions != each.mentions for each in found):
                found.append(way._replace(mentions=mentions))
    return found


def sentences_in(lines: Lines) -> list[tuple[int, str]]:
    """Return the sentences of lines, with the numbers of these."""
    return [(line, each) for line, text in lines for each in SENTENCE.split(text[:LONGEST])]


def cleaned(text: str) -> str:
    """Return a text without emphasis and tags, in which heads and weights are marked."""
    text = _CHINESE_NTH.sub(lambda own: f"{_CHINESE.index(own[1]) + 1} ", text.replace("：", ": "))
    text = _NTH.sub(r"\1th", _ACCENT.sub(lambda own: own[2] + ACCENTS[own[1]], text))
    text = _OF_RANK.sub(" ", unicodedata.normalize("NFKC", text))
    text = EMPHASIZED.sub(r"\2", text).replace("\t", " | ")
    text = _HEAD_OF_PLACE.sub(lambda own: f"head {_as_number(own)}", _DRESS.sub(" ", text))
    for start, end, head in reversed([*heads_in(text)]):
        text = f"{text[:start]}\x01{head}\x01{text[end:]}"
    text = _WEIGHT.sub(VALUE, text)
    is_drawn = len(_PAIR.findall(text)) > 1
    return with_counts(_PAIR.sub(" → ", text) if is_drawn else text)


def _count_of(word: str) -> int:
    """Return the number that digits or a word say."""
    return int(word) if word.isdigit() else _COUNTS[word.lower()]


def head_of(text: str) -> int:
    """Return the first head that a text mentions; 0 for none."""
    match = _HEAD.search(cleaned(text))
    return int(match[0].strip("\x01")) if match else 0


def _only_quoted(text: str, known: Container[str]) -> str:
    """Return a text in which words outside quotation marks and emphasis name no token."""
    pieces = _QUOTED.split(text)
    pieces[::2] = [
        _NAME.sub(lambda own: "_" if _spelled(own[0]) in known else own[0], each)
        for each in pieces[::2]
    ]
    return "".join(pieces)


def _spelled(word: str) -> str:
    """Return a word in lower case, unless it is one letter: I is no i."""
    return word.lower() if len(word) > 1 else word


def _as_number(match: "re.Match[str]") -> str:
    return f"{ORDINALS.get(match[0].lower().split()[0], match.lastindex)} "


def _in_sections(lines: Lines, sides: list[list[str]], count: int) -> Iterator[Lines]:
    """Yield the lines that name tokens, without work, behind the output that heads their section.

    Every output heads one section, or one for each head, in their order and with the same other
    words.
    """
    forms, known = dict[str, dict[int, str]](), {*sides[0], *sides[1]}
    texts = [
        (line, [*map(_spelled, _NAME.findall(_OF_OUTPUT.sub("", text)))], text)
        for line, text in lines
    ]
    for k, (_, words, _) in enumerate(texts):
        names = [word for word in words if place_of(word, sides[0]) >= 0]
        if len({*names}) == 1 and len(words) <= MOST_OF_HEADING:
            others = " ".join(word for word in words if word != names[0])
            forms.setdefault(others, {})[k] = names[0]
    for heads in forms.values():
        places, found, name = [place_of(each, sides[0]) for each in heads.values()], [], ""
        if places != [*range(count)] * max(1, len(places) // count):
            continue
        for k, (line, words, text) in enumerate(texts):
            is_of_token = known & {*words} or _ONESELF.search(text) or _DIGIT.search(text)
            if k in heads:
                name = heads[k]
            elif name and is_of_token and not _WORK.search(text):
                own = [word for word in words if word in known]
                is_named = len(own) > 1 and own[0] == name
                found.append(
                    (line, _SIGNS_OF_DATA.sub(" ", text if is_named else f"{name} | {text}"))
                )
        yield found
        yield [each for each in found if any(w.kind in SAID for w in lexemes_in(each[1], {}))]


@lru_cache(maxsize=1024)
def _tokens_in(text: str) -> "list[re.Match[str]]":
    """Return what may name tokens on a line, which is the same in most readings."""
    return [*_TOKEN.finditer(text)]


def _mentions(
    lines: Lines, sides: list[list[str]], farthest: int, way: Reading, *, is_all: bool
) -> Iterator[Mention]:
    """Yield the tokens that lines name, at most so many lines from one another.

    is_all: whether "itself" is one of them directly behind the name of another.
    """
    last, head, tail = -MOST_LINES, 0, ""
    between: list[str] = []
    for line, text in lines:
        end = 0
        for match in _tokens_in(text):
            before = _HEAD.sub(" ", text[end : match.start()])
            if match["head"]:
                head = int(match["head"])
                continue
            is_behind = end > 0 and not (is_all or before.strip())
            places = _places(match, sides, way, is_first=not end, is_behind=is_behind)
            if places is None:
                continue
            before = before if end else "\n" + " ".join([*between, before])
            is_near = line - last <= farthest and not FORMULA.search(before)
            is_next = is_near and (line - last <= 1 + len(between) or farthest > FARTHEST)
            is_cut = SENTENCE.search(text, end, match.start()) or (
                not end and SENTENCE.search(" ".join([tail, *between]))
            )
            goes_on = is_next and not is_cut
            tail = text[match.end() : match.end() + LONGEST_END]
            stop = SENTENCE.search(text, match.end())  # which a number may precede
            behind = tail[: stop.start() - match.end()] if stop else tail
            yield Mention(line, *places, before, head, is_near, goes_on, behind)
            end, last, between = match.end(), line, []
        is_between = bool(text.strip()) and line == last + len(between) + 1
        between = [*between, text] if is_between else []


def _is_of_output(match: "re.Match[str]") -> bool:
    """Return whether a number has the word or the letter of an output before it: output 1, o1."""
    if match.string[match.end() :].lstrip()[:1] in ("(", ":", "|"):
        return False  # with its name behind it
    words = lexemes_in(match.string[: match.end()][-LONGEST_END:], {})
    kinds = [each.kind for each in words if each.said != "row"]
    return kinds[-1:] == ["symbol out"] or kinds[-2:] == ["out", "number"]


def _places(
    match: "re.Match[str]", sides: list[list[str]], way: Reading, *, is_first: bool, is_behind: bool
) -> tuple[int, int] | None:
    """Return the places of a token as output and input; None of another word.

    is_first: whether it is the first token on its line.
    is_behind: whether it is directly behind another.
    """
    word, first = _spelled(match[0]), 0 if way.is_from_zero else 1
    if match["itself"] and not is_behind:
        return -1, -1
    if match["other"] and len(sides[1]) == 2 and not is_first:
        return -2, -2
    if match["number"] and int(word) >= first:
        place, is_output = int(word) - first, way.are_names and _is_of_output(match)
        if is_output or not (way.are_names and any(sides[1])):
            return (len(sides[0]) if way.are_names and not is_output else place), place
    if way.are_names and any(word in side for side in sides):
        output, own = (side.index(word) if word in side else len(side) for side in sides)
        return output, own
    return None
