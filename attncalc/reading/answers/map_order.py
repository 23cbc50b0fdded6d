"""Maps in any words: output 1 and its inputs, then output 2 and its inputs.

Sentences in any language name the tokens of a map in one of a few orders. This module finds them
without knowing the words between the names: either all outputs name as many inputs, or the weights
rank the inputs of each first. The weights arbitrate between readings.
"""

import re
import unicodedata
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import chain, pairwise, product, takewhile
from typing import NamedTuple

import numpy as np

from attncalc.base.types import Matrix
from attncalc.reading.answers.answer import WrittenConnection
from attncalc.reading.answers.cuts import numbers_of
from attncalc.reading.answers.map_words import (
    EMPHASIZED,
    PHRASES,
    Lexeme,
    labels_of,
    lexemes_in,
    phrases,
    place_of,
)
from attncalc.reading.naming.name import Tokens, heads_in
from attncalc.reading.naming.vocabulary import concept_of, plain_word
from attncalc.reading.plain.marks import COMMA
from attncalc.reading.plain.other_words import ORDINALS, in_english
from attncalc.reading.plain.spoken import with_counts
from attncalc.reading.plain.tex import ACCENTS

LONGEST, MOST_LINES, MOST_MENTIONS, MOST_LISTED = 600, 400, 2000, 8
MOST_BETWEEN = 6
"""The most other lines before another part of a map."""
MOST_OF_HEADING = 3
"""The most words of a heading that names an output."""
LONGEST_END = 80
"""The most letters of the end of a sentence that are read."""
FARTHEST = 3
"""The largest distance of lines between two names of a map."""
TIE = 0.0005
"""The largest difference of weights that are equal when they are rounded."""
ENOUGH, FEWEST = 0.6, 3
"""The share of outputs that make a map, if they fit the weights in equal words; the fewest that do
so in any words.
"""
_COUNTED = re.compile(r"\[\d{1,3}\](?=\s)|^\W*(?:In|Out)\[\d{1,4}\]:?=?")
"""R's count before a vector, or a count of a session."""
_PROMPT = re.compile(
    r"\s*(?:>>>?|\w{3,9}(?::\d{1,4})?>|In ?\[\d{1,4}\]:|> ?[\w.]{1,30}(?: ?<-|\()) ?[^\s#%(]"
)
"""The prompt of a program, before its code."""
_STOP = re.compile(r"[,.;!?。；！？\n)]")
SENTENCE = re.compile(
    r"(?<!\d)\.(?=\s|$)|(?<=\d)\.(?=\s+[^\W\d_a-zà-ÿ])|[!?;](?=\s|$|[\u2e80-\uffff])|[。！？；]"
)
"""A period behind a number ends a sentence only before a capital: "1. output" is an ordinal."""
_BARS = re.compile(r"[|│\t]")
_FORMULA = re.compile(r"\d(?!(?:st|nd|rd|th)\b)|=(?=\s*[^\s>=])|[\[\]*·×^]")
"""A sign of numbers or work between two names, which are then no map."""
_WEIGHT = re.compile(
    rf"[≈~]? ?[-+]?(?<!\d)(?:\d{{0,9}}[.{COMMA}]|0,)\d{{1,20}} ?%?|[≈~] ?\d{{1,9}}"
    r"|(?<!\d)\d{1,9} ?%"
)
_ASIDE = re.compile(r"\([^()\d\x00]{0,80}\)")
_COUNT = re.compile(r"^\n\W*\d{0,2}\W*")
"""The beginning of a line, with a count of the line or of its head."""
VALUE = " \x00 "
"""A weight between names, which may rank them against their order."""
_SCRIPTS = re.compile(
    r"(?<=[^\W\d_\u2e80-\uffff])(?=[\u2e80-\uffff])|(?<=[\u2e80-\uffff])(?=[^\W\d_\u2e80-\uffff])"
)
_NAME = re.compile(r"\w+")
_OF_OUTPUT = re.compile(r"\b[oqyz]_?(?=\d{1,3}\b)", re.IGNORECASE)
"""The letter of an output before its number: q1."""
_LETTERS = re.compile(r"[^\W\d_]+")
_WORD = re.compile(r"[^\W\d_]{3,}|[\u3040-\u9fff]{2,}")
_OF_TOKENS = {"out", "in", "token", "symbol", "ordinal"}
_NAMED = ("number", "doubtful", "symbol", "symbol in", "symbol out")
SAID = {"attends", "takes", "feeds", "arrow", "most", "second", "then"}
_SIGNS, _TO = " ,;.", ("om", "mo", "os", "so")
"""Signs that only separate names, and the roles of names with the same words between them."""
_SAYS = re.compile(r"[^\W\d_]|[→⇒⟶➔➜↦>|│:]")
_WORK = re.compile(r"\x00[^\x00]*\x00|\d ?[,;|] ?-?\d|= ?[-(\[\d]")
"""A sign of several numbers on a line."""
VECTOR = re.compile(r"[(\[] ?-?\d[\d.]{0,9}[,;] ?-?\d")
"""The start of a vector between names, which are then no map."""
_AND = re.compile(r"[\s,]{0,3}(?:[^\W\d_]{1,4}|&)\s?")
_DIGIT, _SIGNS_OF_DATA = re.compile(r"\d"), re.compile(r"[\[\]{}_]")
_SUM = re.compile(r"\b(?:sum|add|som[am]|сум|topla|zusammen)|合計|合计|之和|합", re.IGNORECASE)
_WORDS_OF_MAP = {"peta", "harita", "diagram", "drawing", "schema", "arrows"}
"""Words for a map that name no step."""
_NUMBERED = re.compile(r"^[\s>*#•·-]*(?:(?:[^\W\d_]{1,12} )?\(?\d{1,2}[.)]\s+(?=[^\W\d]))?")
_TAG = re.compile(
    r"</?[A-Za-z][^<>]{0,200}>|\\item(?:<[^<>\n]{0,20}>)?|\\(?:emph|text\w{1,6})\b|\$X_\{?\d\}?\$"
    r"|(?<![A-Za-z\d])X[12](?![A-Za-z\d]| ?[_(\[])"
)
_ROW_OF = re.compile(r"\brows? of (?:the )?\$?X_?\{?([12])\}?\$?(?!\w)", re.IGNORECASE)
"""A token by its matrix: the first row of X2."""
NUMBERED = r"(?:token )?(\d{1,7})(?: \(.{1,80}\))?"
"""A token by its number, perhaps with its name: token 2, 2 (cat)."""
_BESIDE = re.compile(NUMBERED)
_ACCENT = re.compile(r"\\(['`^\"~])\{?([A-Za-z])\}?")
"""A letter with an accent in LaTeX, which unicodedata composes."""
_NTH = re.compile(r"(\d)\.?[ºª]")
_QUOTES = str.maketrans(dict.fromkeys('"“”„«»「」『』', " "))
_TWICE = re.compile(r"(?<!\w)\d{1,3} ?\(([^\W\d_]{1,40})\)")
"""A token by its number and its name: 4 (fast)."""
_NTH_RANK = re.compile(
    r"(?<![\w.])\d{1,2}(?:-?(?:st|nd|rd|th|[eè](?:me)?|[eè]re?|er|ro|do|[йяое]|ей)\b|\.?[ºª°]"
    r"| ?(?:番目|位|번째|순위)|(?<=\d)等)"
)
"""A rank in digits: 2nd, 2º, 2番目."""
_LIKENED = re.compile(
    rf"{phrases('like')} (?:\w{{1,12}} )?(\w{{1,20}})"
    r"|(\w{1,20}?) ?(?:와|과|랑)? ?(?:마찬가지로|처럼|と同じく|と同じように)",
    re.IGNORECASE,
)
"""An output that another one is like: like io, io와 마찬가지로."""
STRUCK = re.compile(r"~~[^~\n]{1,80}~~")
_ITSELF = phrases("itself")
_ONESELF = re.compile(_ITSELF, re.IGNORECASE)
_AGAIN = re.compile(rf"({_ITSELF}) ?\((?:[^\W\d_]{{1,12}} )?(\w{{1,30}})\)", re.IGNORECASE)
"""A token that is named again in brackets: itself (input 3)."""
_TOKEN = re.compile(
    r"\x01(?P<head>-?\d{1,3})\x01"
    rf"|(?P<itself>{_ITSELF})|(?P<other>{phrases('other')})"
    rf"|(?P<number>(?<![\d.{COMMA}/-])(?<!\d:)\d{{1,3}}(?![\d%/]|[.{COMMA}:]\d|(?<=[a-z]\d)[a-z]{{2}}))"
    r"|(?P<word>[^\W\d_\u3040-\uffff]{1,40}|[\u3040-\u309f]"
    rf"|(?:(?!{_ITSELF})[\u30a0-\uffff]){{1,40}})",
    re.IGNORECASE,
)
_STEMS = [PHRASES[str(place)].replace(", ", "|") for place in range(1, 6)]
_PLACE = re.compile(
    rf"(?:(?<!\b[aei]n )(?<!comes )(?<!ranks )\b(?:{'|'.join(ORDINALS)})\b"
    rf"|(?<![^\W\d_])و?(?:{'|'.join(f'({each})' for each in _STEMS)})\w{{0,8}}\b)"
    rf"(?! {phrases('rank')})(?! {phrases('article')})",
    re.IGNORECASE,
)
"""Ordinals, in further languages by their stems; one before an article is an adverb."""
_HEAD_OF_PLACE = re.compile(rf"{_PLACE.pattern}\s+{phrases('head')}", re.IGNORECASE)
"""A head by its ordinal: the first head."""
_IN_TEXT = re.compile(r"\x01-?\d{1,3}\x01")
"""A head, as it is marked in a text."""
_OF_ALL = re.compile(phrases("all"), re.IGNORECASE)
_COUNT_OF_ALL = re.compile(rf"{phrases('the')} ([2-9])(?![\w.)])", re.IGNORECASE)
"""All outputs by their number: les 3."""


LAYOUTS = (
    "oms",
    "omOs",
    "mosO",
    "om+Os",
    "mo+sO",
    "o+M+Os",
    "o+M+sO",
    "m+o+s",
    "m+s",
    "ms",
    "o+MS",
    "MS+o",
    "MS",
    "om",
)
"""The orders of names in a map: outputs, the inputs that they attend to most, and second ones.

Each part of an order comes back for each output, but capital M and S are for all; a capital O is an
output that is named again.
"""
OF_ALL = ("M", "MS")


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


class Said(NamedTuple):
    """The inputs of each output, the most attended first, from one run of names.

    `fit` is how many outputs the weights confirm.
    """

    lines: tuple[int, ...]
    inputs: tuple[tuple[int, ...], ...]
    fit: int
    is_sure: bool = True
    stop: int = 0
    """How many names are before its end."""
    is_of_all: bool = False
    """Whether it begins with a word for all."""


Order = list[tuple[str, tuple[int, ...]]]
"""What each name of a run is, and of which outputs: "o" is an output, "m" the input that it attends
to most, "s" the next one.
"""


def maps_in_order(
    lines: Sequence[tuple[int, str]], heads: Matrix, labels: Tokens
) -> list[WrittenConnection]:
    """Return the map that names state by their order; [] if they state none.

    lines: the lines that belong to no step, with their numbers.
    heads: the weights of each head, of shape (heads, outputs, inputs).
    labels: the names of the tokens.

    >>> text = "Peta: je paling melihat am, lalu je. am paling melihat je, lalu am."
    >>> names = Tokens(("je", "am"), ("je", "am"))
    >>> weights = np.array([[[0.4, 0.6], [0.7, 0.3]]])
    >>> [each.says for each in maps_in_order([(1, text)], weights, names)]
    ['output je → input am, second je', 'output am → input je, second am']
    """
    found: list[dict[int, Said]] = []
    for mentions, are_names in streams(lines, labels, len(heads[0])):
        by_head = _by_head(mentions[-MOST_MENTIONS:], heads)
        if by_head and (are_names or all(each.is_sure for each in by_head.values())):
            found.append(by_head)
    best = max(found, key=_worth_of, default={})
    longer = [each for each in found if _extends(each, best)]
    best = max(longer, key=_worth_of, default=best)
    return [
        each
        for head, said in best.items()
        for each in written(said, heads[head - 1], head if len(heads) > 1 else 0, labels)
    ]


def streams(
    lines: Sequence[tuple[int, str]],
    labels: Tokens,
    count: int,
    *,
    by_section: bool = True,
    from_zero: bool = False,
) -> Iterator[tuple[Sequence[Mention], bool]]:
    """Yield the tokens that lines name, in one reading after another, and whether by their names.

    Words in brackets are dropped, or not; ordinals are numbers, or not; a number before a line
    counts it, or is a name; "token 2 itself" is one token, or two.

    by_section: whether the name of an output may head the lines about it.
    from_zero: whether numbers may also count tokens from 0.
    """
    is_asked = {"lines": True, "sections": by_section, "zero": from_zero}
    for mentions, are_names, of in _readings((*lines[-MOST_LINES:],), labels, count):
        if is_asked[of]:
            yield mentions, are_names


@lru_cache(maxsize=4)
def _readings(
    lines: tuple[tuple[int, str], ...], labels: Tokens, count: int
) -> list[tuple[list[Mention], bool, str]]:
    """Return all readings of the tokens that lines name; several searches ask for them.

    Each is of lines, of sections, or of lines in which numbers count tokens from zero.
    """
    sides = [[*map(_spelled, side)] for side in (labels.queries, labels.keys)]
    known = {*chain(*sides)}
    counted = [
        (line, _WEIGHT.sub(VALUE, _with_heads(_SCRIPTS.sub(" ", _TAG.sub(" ", plain(text))))))
        for line, text in lines
        if len(text) <= LONGEST and not _PROMPT.match(text)
    ]
    counted = [(line, with_counts(text)) for line, text in counted]
    names_first = partial(_TWICE.sub, lambda own: own[1] if _spelled(own[1]) in known else own[0])
    without_again = partial(_AGAIN.sub, partial(_once, known=known))
    counted = [(line, without_again(names_first(text))) for line, text in counted]
    listed = [(line, _NUMBERED.sub("", text)) for line, text in counted]
    without = [(line, _ASIDE.sub(" ", text)) for line, text in listed]
    all_of = partial(_COUNT_OF_ALL.sub, lambda own: " all " if int(own[1]) == count else own[0])
    ranked = [(line, all_of(_LIKENED.sub(" ", _NTH_RANK.sub(" ", text)))) for line, text in without]
    placed, all_placed, ranked_placed = (
        [(line, _PLACE.sub(_as_number, in_english(text))) for line, text in texts]
        for texts in (without, listed, ranked)
    )
    by_number = (without, placed, all_placed, counted, ranked, ranked_placed)
    ways = [(True, texts, FARTHEST, "lines") for texts in (without, listed, ranked)]
    ways += [(False, texts, FARTHEST, "lines") for texts in by_number]
    ways += [(False, counted, FARTHEST, "zero")]
    for pieces in (without, sentences_in(without)):
        found = [*_in_sections(pieces, sides, count)]
        ways += [(named, own, MOST_LINES, "sections") for own in found for named in (True, False)]
    readings: list[tuple[list[Mention], bool, str]] = []
    for (are_names, texts, farthest, of), is_all in product(ways, (False, True)):
        if any(sides[0]) < are_names or (is_all and texts is not without):
            continue
        base = 0 if of == "zero" else 1
        named = [*_mentions(texts, sides, farthest, are_names=are_names, is_all=is_all, base=base)]
        if all(named != mentions for mentions, _, _ in readings):
            readings.append((named, are_names, of))
    return readings


def _in_sections(
    lines: Sequence[tuple[int, str]], sides: list[list[str]], count: int
) -> Iterator[list[tuple[int, str]]]:
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


def is_prose(line: str) -> bool:
    """Return whether a line has several sentences, so that one may be about the map."""
    sentences = filter(_WORD.search, SENTENCE.split(line.strip(" .\t")))
    return not _BARS.search(line) and len([*sentences]) > 1


def sentences_in(lines: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return the sentences of lines, with the numbers of these."""
    return [(line, each) for line, text in lines for each in SENTENCE.split(text[:LONGEST])]


def words_beside(line: str, rows: Collection[tuple[float, ...]]) -> str:
    """Return the words before and behind the rows of matrices on a line; "" if none is behind."""
    numbers, before, stop, place = numbers_of(line), "", 0, 0
    values = [each.value for each in numbers]
    widths = sorted({*map(len, rows)}, reverse=True)
    while place < len(numbers):
        found = (w for w in widths if (*values[place : place + w],) in rows)
        width = next((w for w in found if place + w <= len(numbers)), 0)
        if width:
            if _WORD.search(line, numbers[place].end, numbers[place + width - 1].start):
                return ""  # the inputs of all weights are named
            before = before or line[: numbers[place].start]
            stop = numbers[place + width - 1].end
        place += max(1, width)
    return f"{before} | {line[stop:]}" if stop and _NAME.search(line, stop) else ""


def lines_that_may_state(
    lines: Sequence[tuple[int, str]], labels: Tokens, *, is_begun: bool
) -> Iterator[int]:
    """Yield the lines that seem to state what outputs attend to: names, and such words.

    is_begun: whether a part of a map is read, which ranks may continue.
    """
    known = labels_of((*labels.keys, *labels.queries))
    for line, text in lines[-MOST_LINES:]:
        words = lexemes_in(text[:LONGEST], known)
        kinds = {each.kind.partition(" ")[0] for each in words}
        named = [each.said for each in words if each.kind in (*_NAMED, "ordinal")]
        count = len(labels.queries) or MOST_MENTIONS
        named = [each for each in named if place_of(each, labels.keys) < count]
        is_list = named in ([*labels.keys], [*labels.queries])
        are_numbers = all(map(str.isdigit, named)) and not kinds & _OF_TOKENS
        counted = sum(each.kind in _NAMED for each in words)
        may_go_on = counted > 1 and (("ordinal", "2") in words or kinds >= {"out", "in"})
        is_said = bool(kinds & {"attends", "feeds", "most", "arrow"}) or (is_begun and may_go_on)
        is_asked = "data" in kinds or "…" in text or text.rstrip().endswith("?")
        is_named = len(named) > 1 or (named and "out" in kinds and kinds & {"attends", "feeds"})
        if is_said and is_named and not (is_list or are_numbers or is_asked):
            yield line


def may_go_on(lines: Sequence[tuple[int, str]], last: int, labels: Tokens) -> bool:
    """Return whether a line behind a map without second inputs may name them.

    It names a second input, or it is soon after the last line and names as many inputs as it has.
    """
    known = labels_of(labels.keys)
    for number, text in (each for each in lines if last <= each[0] <= last + MOST_LINES):
        count = sum(word in labels.keys for word in _LETTERS.findall(text))
        if last < number <= last + MOST_BETWEEN and count >= len(labels.queries):
            return True
        words = lexemes_in(text[:LONGEST], known)
        behind = words if number > last else lexemes_in(_behind(text), known)
        ranks = {each.kind for each in words}
        ranks |= {each.said for each in behind if each.kind == "ordinal"}
        if ranks & {"second", "2"} and any(each.kind in _NAMED for each in words):
            return True
    return False


def lines_in_brackets(
    read: Sequence[WrittenConnection], texts: Mapping[int, str], labels: Tokens
) -> Iterator[int]:
    """Yield the lines of a map without a second input, which words in brackets may name."""
    for each in (e for e in read if e.is_told and not e.second):
        own = {name for e in read if e.line == each.line for name in (e.output, *e.most, *e.second)}
        words = {*_LETTERS.findall(" ".join(_ASIDE.findall(texts[each.line])))}
        if not (words - own).isdisjoint(labels.keys):
            yield each.line


def _behind(text: str) -> str:
    """Return the sentences of a line behind its first one."""
    return " ".join(SENTENCE.split(text[:LONGEST])[1:])


def plain(text: str) -> str:
    """Return a text without quotation marks, emphasis, struck words and a program's counts.

    Tabs become bars.
    """
    text = _ROW_OF.sub(lambda own: "output" if own[1] == "1" else "input", text)
    text = _ACCENT.sub(lambda own: own[2] + ACCENTS[own[1]], text)
    clean = unicodedata.normalize("NFKC", _NTH.sub(r"\1th", text)).translate(_QUOTES)
    clean = EMPHASIZED.sub(r"\2", STRUCK.sub(" ", _COUNTED.sub(" ", clean)))
    return clean.replace("\t", " | ")


def _spelled(word: str) -> str:
    """Return a word in lower case, unless it is one letter: I is no i."""
    return word.lower() if len(word) > 1 else word


def _once(match: "re.Match[str]", known: Container[str]) -> str:
    """Return "itself" without a name in brackets that is the first token of its sentence."""
    words = map(_spelled, _NAME.findall(SENTENCE.split(match.string[: match.start()])[-1]))
    first = next((word for word in words if word.isdigit() or word in known), "")
    return match[1] if _spelled(match[2]) == first else match[0]


def _with_heads(text: str) -> str:
    """Return a text in which each head that it mentions is marked."""
    text = _HEAD_OF_PLACE.sub(lambda own: f"head {_as_number(own)}", text)
    for start, end, head in reversed([*heads_in(text)]):
        text = f"{text[:start]}\x01{head}\x01{text[end:]}"
    return text


def _as_number(match: "re.Match[str]") -> str:
    return f"{ORDINALS.get(match[0].lower().split()[0], match.lastindex)} "


@lru_cache(maxsize=1024)
def _tokens_in(text: str) -> "list[re.Match[str]]":
    """Return what may name tokens on a line, which is the same in most readings."""
    return [*_TOKEN.finditer(text)]


def _mentions(
    lines: Sequence[tuple[int, str]],
    sides: list[list[str]],
    farthest: int,
    *,
    are_names: bool,
    is_all: bool,
    base: int = 1,
) -> Iterator[Mention]:
    """Yield the tokens that lines name, at most so many lines from one another.

    base: the number of the first token.
    is_all: whether "itself" is one of them directly behind the name of another.
    """
    known, last, head, tail = {*sides[0], *sides[1]}, -MOST_LINES, 0, ""
    between: list[str] = []
    for line, text in lines:
        end = 0
        for match in _tokens_in(text):
            word, before = _spelled(match[0]), _IN_TEXT.sub(" ", text[end : match.start()])
            if match["head"]:
                head = int(match["head"])
                continue
            if match["itself"] and (before.strip() or not end or is_all):
                places = -1, -1
            elif match["other"] and len(sides[1]) == 2 and end:
                places = -2, -2
            elif match["number"] and int(word) >= base and not (are_names and any(sides[1])):
                places = len(sides[0]) if are_names else int(word) - base, int(word) - base
            elif are_names and word in known:
                there = [side.index(word) if word in side else len(side) for side in sides]
                places = there[0], there[1]
            else:
                continue
            before = before if end else "\n" + " ".join([*between, before])
            is_near = line - last <= farthest and not _FORMULA.search(_COUNT.sub("", before))
            is_next = is_near and (line - last <= 1 + len(between) or farthest > FARTHEST)
            is_cut = SENTENCE.search(text, end, match.start()) or (
                not end and SENTENCE.search(" ".join([tail, *between]))
            )
            goes_on = is_next and not is_cut
            tail = text[match.end() : match.end() + LONGEST_END]
            behind = SENTENCE.split(tail)[0]
            yield Mention(line, *places, before, head, is_near, goes_on, behind)
            end, last, between = match.end(), line, []
        is_between = bool(text.strip()) and line == last + len(between) + 1
        between = [*between, text] if is_between else []


def _by_head(mentions: Sequence[Mention], heads: Matrix) -> dict[int, Said]:
    """Return what names state about each head, from 1; {} if a head is missing.

    If no text names the heads, their maps follow one another.
    """
    for are_named in (True, False) if len(heads) > 1 else (False,):
        found, after = dict[int, Said](), 0
        for k, weights in enumerate(heads, start=1):
            own = [m for m in mentions if m.head == k] if are_named else mentions[after:]
            stated = [*_stated(own if len(heads) > 1 else mentions, weights)]
            first = stated[0] if stated else None
            is_first = len(heads) > 1 and not are_named
            if best := first if is_first else max(stated, key=_worth, default=None):
                found[k], after = best, after + best.stop
        if len(found) == len(heads):
            return found
    for said in _stated(mentions, heads[0]):  # in both heads, ...
        if said.is_of_all and all(all(map(is_ranked, said.inputs, each)) for each in heads):
            return dict.fromkeys(range(1, len(heads) + 1), said)
    return {}


def _worth_of(by_head: Mapping[int, Said]) -> list[tuple[bool, int, int]]:
    return [*map(_worth, by_head.values())]


def _extends(longer: Mapping[int, Said], best: Mapping[int, Said]) -> bool:
    """Return whether a reading names the same inputs as another, and second ones behind them."""
    pairs = [
        (own, other)
        for k, said in best.items()
        for own, other in zip(longer[k].inputs, said.inputs, strict=True)
    ]
    return all(own[: len(other)] == other for own, other in pairs) and any(
        len(own) > len(other) for own, other in pairs
    )


def _worth(said: Said) -> tuple[bool, int, int]:
    return said.fit == len(said.inputs), sum(map(len, said.inputs)), said.fit


def _stated(mentions: Sequence[Mention], weights: Matrix) -> Iterator[Said]:
    """Yield what runs of names state about the outputs."""
    for order, start in chain(_in_orders(mentions, weights), Fitting(mentions, weights).runs()):
        run = mentions[start : start + len(order)]
        said = _read(run, order, weights)
        if said and _is_map(said, run, order, weights):
            is_of_all = _OF_ALL.search(run[0].before) is not None
            yield said._replace(stop=start + len(order), is_of_all=is_of_all)


def _is_end(mentions: Sequence[Mention], stop: int) -> bool:
    """Return whether a run ends before this name, which is not the next of a list."""
    behind = [each.before for each in mentions[stop : stop + 1]]
    return all(_STOP.search(before) and before.strip() != "," for before in behind)


def _in_orders(mentions: Sequence[Mention], weights: Matrix) -> Iterator[tuple[Order, int]]:
    """Yield the runs of names in an order in which outputs have the same number of inputs."""
    orders, every = [*_orders(weights)], (*range(len(weights)),)
    ends = [_is_end(mentions, stop) for stop in range(len(mentions) + 1)]
    far = [k for k, each in enumerate(mentions) if not each.is_near]
    for start in range(len(mentions)):
        reach = next((k for k in far if k > start), len(mentions))
        words, begin = _last_words(mentions[start]), max((k for k in far if k <= start), default=0)
        is_again = bool(words) and words in map(_last_words, mentions[begin:start])
        for order in orders:
            stop = start + len(order)
            if stop > reach or not ends[stop]:
                continue
            outputs = _outputs(mentions[start:stop], order)
            # without outputs, nothing else is near that may name one
            if outputs or (outputs is not None and stop == reach and not is_again):
                places = [(role, (outputs.get(k, k),) if k >= 0 else every) for role, k in order]
                yield places, start


def _last_words(mention: Mention) -> list[str]:
    """Return the last words before a name: "attends to" input 3."""
    return _LETTERS.findall(mention.before)[-2:]


def _outputs(run: Sequence[Mention], order: Sequence[tuple[str, int]]) -> dict[int, int] | None:
    """Return the outputs that names in an order are about; None if they do not have that order."""
    found: dict[int, int] = {}
    for mention, (role, k) in zip(run, order, strict=True):
        if role == "o" and found.setdefault(k, mention.output) != mention.output:
            return None
    return found if sorted(found.values()) == sorted(found) else None


def _orders(weights: Matrix) -> Iterator[list[tuple[str, int]]]:
    """Yield the orders of names in which a map is stated: the role and output of each name.

    An output with only one weight, as the first below a causal mask, may have no second input; it
    is named alone, or not again.
    """
    single = np.flatnonzero(np.count_nonzero(weights > TIE, axis=1) < 2)
    for left, layout in product(("", "s", "sO") if single.size else ("",), LAYOUTS):
        yield [
            (role.lower(), k)
            for block in layout.split("+")
            for k in ((-1,) if block in OF_ALL else range(len(weights)))
            for role in block
            if not (role in left and k in single)
        ]


class Fitting:
    """Statements that follow one another, whose inputs the weights rank in this order.

    rank: how many inputs of each output are named before these.
    """

    def __init__(self, mentions: Sequence[Mention], weights: Matrix, rank: int = 0) -> None:
        self.mentions, self.weights, self.rank = mentions, weights, rank
        self.ranked = np.sort(weights)[:, ::-1]

    def runs(self) -> Iterator[tuple[Order, int]]:
        """Yield the longest run from each name on, if it is about enough outputs.

        The second inputs may follow those that all outputs attend to most.
        """
        count, orders = len(self.weights), chain(*map(enumerate, self._best()))
        enough = min(count, max(FEWEST, ENOUGH * count))
        found = [(order, at) for at, order in orders if _size(order)[0] >= enough]
        yield from found
        firsts = [each for each in found if not _has(each[0], "s")]
        seconds, _ = Fitting(self.mentions, self.weights, rank=1)._best() if firsts else ([], [])
        for order, at in firsts:
            behind = seconds[at + len(order) :][:1]
            yield from (([*order, *each], at) for each in behind if each)

    def _best(self) -> tuple[list[Order], list[Order]]:
        """Return the longest runs from each name on, of outputs in their order and in any."""
        in_order: list[Order] = [[] for _ in self.mentions]
        in_any: list[Order] = [[] for _ in self.mentions]
        for at in reversed(range(len(self.mentions))):
            for own in self.statements(at):
                stop = at + len(own)
                may_end = _is_end(self.mentions, stop) and not self._goes_on(stop)
                is_near = any(each.is_near for each in self.mentions[stop : stop + 1])
                for best in (in_order, in_any):
                    rest = best[stop] if is_near else []
                    if rest and _is_next(own, rest, in_order=best is in_order):
                        best[at] = max(best[at], [*own, *rest], key=_size)
                    elif may_end:
                        best[at] = max(best[at], own, key=_size)
        return in_order, in_any

    def _goes_on(self, stop: int) -> bool:
        """Return whether a name is in the sentence and on the line of the one before it."""
        pairs = pairwise(self.mentions[stop - 1 : stop + 1])
        return any(b.goes_on and a.line == b.line for a, b in pairs)

    def statements(self, at: int) -> Iterator[Order]:
        """Yield the orders of one statement: of one output, several, all, or all others."""
        count, outputs, gaps = len(self.weights), list[int](), set[str]()
        if _OF_ALL.search(_STOP.split(self.mentions[at].before)[-1]):
            named = {each.output for each in self._before(at)}
            others = (*(k for k in range(count) if k not in named),)
            for own in dict.fromkeys(((*range(count),), others)):
                yield from self._inputs(at, own) if own else ()
        for k, (each, behind) in enumerate(pairwise(self.mentions[at : at + MOST_LISTED]), at):
            is_listed = k == at or self._is_listed(k)
            if not (is_listed and max(outputs, default=-1) < each.output < count):
                return
            gaps |= {each.before} if outputs else set()
            outputs.append(each.output)
            is_said = behind.goes_on and behind.before not in gaps and _SAYS.search(behind.before)
            for inputs in self._inputs(at + len(outputs), (*outputs,)) if is_said else ():
                yield [*(("o", (k,)) for k in outputs), *inputs]

    def _is_listed(self, k: int) -> bool:
        """Return whether a name is on the line of the last, or behind "and" at its end."""
        last, each = self.mentions[k - 1 : k + 1]
        is_and = _AND.fullmatch(last.behind) is not None
        return each.goes_on and (each.line == last.line or is_and)

    def _before(self, at: int) -> Iterator[Mention]:
        """Yield the names before one in its sentence, the last first."""
        for k in range(at, 0, -1):
            if not self.mentions[k].goes_on:
                return
            yield self.mentions[k - 1]

    def _inputs(self, start: int, outputs: tuple[int, ...]) -> Iterator[Order]:
        """Yield the orders of the inputs from a name on, as long as the weights rank them so."""
        rows, named, width = np.array(outputs), list[Matrix](), self.weights.shape[1]
        are_equal = self.ranked[rows, 0] - self.ranked[rows, -1] <= TIE
        listed = 0 if are_equal.any() else min(width - self.rank, 1 if self.rank else MOST_LISTED)
        for place, each in enumerate(self.mentions[start : start + listed]):
            own = np.array([input_of(each, k) for k in outputs])
            if own.max() >= width or (named and not each.goes_on) or _is_output(each):
                return
            least = np.maximum(self.ranked[rows, self.rank + place] - TIE, TIE if place else -1)
            if (
                any((own == other).any() for other in named)
                or (self.weights[rows, own] < least).any()
            ):
                return
            named.append(own)
            yield [("s" if self.rank + k else "m", outputs) for k in range(len(named))]


def _outputs_of(order: Order) -> set[int]:
    return {k for _, outputs in order for k in outputs}


def _is_next(own: Order, rest: Order, *, in_order: bool) -> bool:
    """Return whether a run is about other outputs than a statement before it, or later ones."""
    there, others = _outputs_of(own), _outputs_of(rest)
    return max(there) < min(others) if in_order else there.isdisjoint(others)


def _size(order: Order) -> tuple[int, int]:
    return len(_outputs_of(order)), len(order)


def is_ranked(inputs: Sequence[int], row: Matrix) -> bool:
    """Return whether inputs have the largest weights of a row, the larger first."""
    is_there = 0 < len({*inputs}) == len(inputs) and max(inputs) < len(row)
    own, largest = row[[*inputs]] if is_there else row[:0], np.sort(row)[::-1][: len(inputs)]
    return is_there and bool((own >= largest - TIE).all() and (own[1:] > TIE).all())


def _read(run: Sequence[Mention], order: Order, weights: Matrix) -> Said | None:
    """Return what names in an order state; None if their inputs cannot be those of a map."""
    inputs: list[list[int]] = [[] for _ in weights]
    lines = [0] * len(weights)
    for mention, (role, outputs) in zip(run, order, strict=True):
        for k in outputs:
            lines[k] = lines[k] or mention.line
            inputs[k] += [] if role == "o" else [input_of(mention, k)]
    if any(len({*own}) < len(own) or max(own, default=0) >= weights.shape[1] for own in inputs):
        return None
    fit = sum(map(is_ranked, inputs, weights))
    if fit < len(weights) and any(VALUE in each.before for each in run[1:]):
        return None
    if not can_be_said(run, order):
        return None
    is_alike = len({*_between(run, order).get("om", ())}) == 1 and fit >= ENOUGH * len(weights)
    return Said(
        (*lines,), (*map(tuple, inputs),), fit, fit == len(weights) or (is_alike and fit > 1)
    )


def can_be_said(run: Sequence[Mention], order: Order) -> bool:
    """Return whether no rows of numbers are between names, and a list of outputs is in a sentence.

    The outputs of a list are in their order, no statement is between them, and no input is called
    an output.
    """
    if any(role != "o" and _is_output(m) for m, (role, _) in zip(run, order, strict=False)):
        return False
    gaps = _between(run, order)
    if any(gap.count("\0") > (role == "om") for role in ("oo", "om") for gap in gaps.get(role, ())):
        return False
    roles = [role for role, _ in order]
    if any(
        a == b == "o" and not (m.goes_on and before.output < m.output)
        for (before, m), (a, b) in zip(pairwise(run), pairwise(roles), strict=False)
    ):
        return False
    return all(e.kind not in SAID for gap in gaps.get("oo", ()) for e in lexemes_in(gap, {}))


def _is_output(mention: Mention) -> bool:
    """Return whether the word or letter before a name is one for an output: like output 2, q2."""
    *_, word, name = [Lexeme(""), *lexemes_in(f"{mention.before[-LONGEST_END:]}1", {})]
    return name.kind == "symbol out" or (word.kind == "out" and word.said != "row")


def _has(order: Order, role: str) -> bool:
    return any(own == role for own, _ in order)


def _is_strict(said: Said, weights: Matrix) -> bool:
    """Return whether some output attends to its inputs more than to any other."""
    rest = (np.delete(row, own) for own, row in zip(said.inputs, weights, strict=True))
    least = (row[[*own]].min() for own, row in zip(said.inputs, weights, strict=True))
    return any(low > max(other, default=0) + TIE for low, other in zip(least, rest, strict=True))


def _is_map(said: Said, run: Sequence[Mention], order: Order, weights: Matrix) -> bool:
    """Return whether names in an order are a map, by the words between them and the weights."""
    if not _has(order, "o") and (run[0].goes_on or not _is_strict(said, weights)):
        return False
    if said.fit == len(said.inputs):
        words = " ".join(each.before for each in run[1:])[:LONGEST]
        is_ranked_so = ("ordinal", "2") in lexemes_in(words, {})  # 1st: cat, 2nd: sat
        return is_ranked_so or _is_of_map(run, order) or _is_no_chance(said, run, order)
    if not _is_said_alike(said, run, order, weights):
        return False
    outputs = [own[0] for role, own in order if role == "o"]
    is_in_order = order[0][0] == "o" and [*dict.fromkeys(outputs)] == sorted({*outputs})
    is_alike = said.is_sure and len(_between(run, order)["om"]) > 1
    is_enough = is_in_order and (said.is_sure or all(said.inputs))
    return is_enough and (is_alike or _is_of_map(run, order))


def _is_said_alike(said: Said, run: Sequence[Mention], order: Order, weights: Matrix) -> bool:
    """Return whether a word before inputs that fit is also before each input that does not."""
    gaps: dict[bool, list[set[str]]] = {True: [], False: []}
    for each, (a, _), (b, outputs) in zip(run[1:], order, order[1:], strict=False):
        if a + b == "om":
            fits = all(is_ranked(said.inputs[k], weights[k]) for k in outputs)
            gaps[fits].append({*each.before.replace("|", " ").split()})
    words = set[str]().union(*gaps[True])
    return not gaps[True] or all(words & own for own in gaps[False])


def _between(run: Sequence[Mention], order: Order) -> dict[str, list[str]]:
    """Return the texts between names, by the roles of these."""
    signs = _SIGNS + "|" * (order[1:] != [] and order[1][0] == "o")  # in the heading of a table
    between: dict[str, list[str]] = {}
    for each, (a, _), (b, _) in zip(run[1:], order, order[1:], strict=False):
        between.setdefault(a + b, []).append(" ".join(each.before.split()).strip(signs))
    return between


def _is_of_map(run: Sequence[Mention], order: Order) -> bool:
    """Return whether the words between names are those of a map, or are the same each time."""
    words = " ".join([run[0].before[-80:], *(each.before for each in run[1:]), run[-1].behind])
    kinds = {each.kind for each in lexemes_in(words[:LONGEST], {})}
    said = {plain_word(word) for word in _LETTERS.findall(words)}
    is_named = bool(said & _WORDS_OF_MAP) or any(concept_of(word) == "map" for word in said)
    if len(run) > 1 and not _has(order, "o"):
        about = words if all(each.goes_on for each in run[1:]) else run[0].before
        is_of_all = _OF_ALL.search(about) is not None
        return is_named or is_of_all or bool(kinds & {"attends", "most"})
    is_sum = len(run) == 1 and _SUM.search(words)  # every row sums to 1
    is_of_all = bool(_OF_ALL.search(words)) and (order[0][0] == "o" or len(run) == 1)
    if kinds & SAID or is_named or (is_of_all and not is_sum):
        return True
    between = _between(run, order).items()
    return any(len({*own}) == 1 < len(own) and own[0] for of, own in between if of in _TO)


def _is_no_chance(said: Said, run: Sequence[Mention], order: Order) -> bool:
    """Return whether common words are between all outputs and inputs, or many outputs fit."""
    gaps = _between(run, order).get("om", [])
    if len(gaps) < 2 or not all(map(_SAYS.search, gaps)):
        return False
    if set[str].intersection(*({*_WORD.findall(gap)} for gap in gaps)):
        return True
    is_of_others = any(own != (k,) for k, own in enumerate(said.inputs))
    count = len(said.inputs)
    return count >= FEWEST and is_of_others and max(said.lines) - min(said.lines) < count


def places_of(names: Sequence[str], labels: Sequence[str]) -> list[int]:
    """Return the places of tokens by their names or numbers, as `place_of` does."""
    plain = (each if each in labels else _BESIDE.sub(r"\1", each) for each in names)
    return [place_of(each, labels) for each in plain]


def _are_largest(inputs: Sequence[int], row: Matrix) -> bool:
    """Return whether all inputs exist, and have the largest weight."""
    return all(0 <= k < len(row) and row[k] >= row.max() - TIE for k in inputs)


def count_exact(lines: Sequence[WrittenConnection], heads: Matrix, labels: Tokens) -> int:
    """Return how many lines name the inputs with the two largest weights."""
    count = 0
    for each in lines:
        weights = heads[max(0, each.head - 1) % len(heads)]
        (row,) = places_of([each.output], labels.queries)
        own = places_of([*each.most, *each.second], labels.keys)
        if 0 <= row < len(weights) and min(own) >= 0:
            is_full = len(own) == min(2, np.count_nonzero(weights[row] > TIE))
            is_tied = len(each.most) > 1 and _are_largest(own, weights[row])
            count += is_tied or (is_full and is_ranked(own, weights[row]))
    return count


def written(said: Said, weights: Matrix, head: int, labels: Tokens) -> list[WrittenConnection]:
    """Return the lines of the map with the names of the tokens.

    Inputs share a place if outputs have other numbers of inputs and their weights are equal.
    """

    def named(places: Sequence[int], names: Sequence[str]) -> tuple[str, ...]:
        return tuple(names[k] if any(names) else str(k + 1) for k in places)

    are_single = len({*map(len, said.inputs)}) == 1 and len(said.inputs[0]) <= 2
    found = []
    for output, (own, row) in enumerate(zip(said.inputs, weights, strict=True)):
        ties = sorted(takewhile((row >= row.max() - TIE).__getitem__, own))
        ties = [] if are_single and len(ties) < len(own) else ties
        most, rest = ties or own[:1], own[max(1, len(ties)) :]
        second = [k for k in rest if are_single or abs(row[k] - row[rest[0]]) <= TIE]
        (name,) = named([output], labels.queries)
        line = WrittenConnection(head, name, named(most, labels.keys), named(second, labels.keys))
        found += [line._replace(line=said.lines[output], is_told=True)] if own else []
    return found


def of_heads(found: Sequence[Said], heads: Matrix, labels: Tokens) -> list[WrittenConnection]:
    """Return the lines of the map of each head."""
    numbers = range(1, len(heads) + 1) if len(heads) > 1 else [0]
    own = zip(found, heads, numbers, strict=True)
    return [each for said, weights, k in own for each in written(said, weights, k, labels)]
