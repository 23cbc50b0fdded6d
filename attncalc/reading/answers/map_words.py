"""The words of sentences about the map: verbs, inputs, and ranks, in nine languages."""

import re
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

from attncalc.reading.naming.vocabulary import concept_of, plain_word
from attncalc.reading.plain.marks import COMMA
from attncalc.reading.plain.other_words import ORDINALS

_SIDES = {"input": "in", "output": "out"}
_ROLES = {"O": "out", "Q": "out", "K": "in", "V": "in", "given": "in"}


def _entries(file: str) -> dict[str, str]:
    """Return the lines of a list of words, by the name before the colon; indented lines go on."""
    text = files(__package__).joinpath(file).read_text(encoding="utf-8").replace("\n  ", " ")
    return dict(line.split(": ", 1) for line in text.splitlines())


def phrases(name: str) -> str:
    """Return the pattern of phrases with a meaning, in many languages."""
    words, *others = PHRASES[name].split("; ")
    parted = rf"\b(?:{words.replace(', ', '|')})\b"
    return f"(?:{'|'.join([parted, *', '.join(others).split(', ')])})" if others else parted


PHRASES = _entries("map_phrases.txt")
_SPELLED = {
    word: kind.strip("-")
    for kind, words in reversed(_entries("map_words.txt").items())
    for word in words.split()
}
_KINDS = {plain_word(word): kind for word, kind in _SPELLED.items()}
_STEMS = [(word[:-1], kind) for word, kind in reversed(_KINDS.items()) if word.endswith("*")]
_NUMBERS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8}
_ORDINALS = {plain_word(word): n for word, n in ORDINALS.items()}
_UNPARTED = re.compile("|".join(
    [each.strip("*") for each in _SPELLED if ord(each[0]) > 0x2E80]
    + ["输出", "输入", "出力", "入力", "查询", "クエリ", "キー", "键"]))  # fmt: skip
"""Words of Chinese and Japanese, which have no blanks between them."""
_DRESS = re.compile(
    r"\b(?:[Hh]ead|[Kk]opf|[Tt]ête|cabeza|testa|cabeça|hoofd|[Ll]ayer)[ _]?\d{1,3}\b"
    r"|\b\d{1,4} ?[×x] ?\d{1,4}\b"
    r"|\\(?:begin|end)\{\w{1,20}\*?\}"
    r"|\\(?:item|noindent|par|text\w{0,6}|mathbf|quad)\b|\\[,;]|[$*`{}~]|\\\\"
)
EMPHASIZED = re.compile(r"(?<![\w*_`])([*_`]{1,2})([^\s*_`][^*_`\n]{0,40})\1(?![\w*_`])")
_TEX_ARROW = re.compile(r"\\(?:to|mapsto|(?:long)?(?:left)?rightarrow|Rightarrow|implies)\b")
_OF_SIDE = re.compile(r"\bX([12])(?:_|\[|\()(\d{1,3})\b[\])]?")
_LISTED = re.compile(r"[ \t>#•·-]{0,12}(?:\(?(?:\d{1,3}|[a-h])[.)] {1,4}(?=[^\W\d]|[\"“„«]))?")
_LEXEME = re.compile(
    rf"(?P<quoted>[\"“„«][^\"”“»\n]{{1,60}}[\"”“»]|(?<!\w)['‘][^'’\n]{{1,60}}['’](?!\w))"
    r"|(?P<arrow>-(?: -){1,4} ?>|[⇢⤏]|<?(?:-{1,3}|={1,3})>|[→⇒⟶⟹↦➔➜]|<-{1,3}|[←⇐])"
    rf"|(?P<value>[-+−–]?(?:\d{{1,9}}[.{COMMA}]\d{{1,9}}|\.\d{{1,9}}|0,\d{{1,9}}) ?%?"
    r"|\d{1,3} ?%|\d{1,4}/\d{1,4}|[+−-]\d{1,9})"
    r"|(?P<ordinal>\d{1,3}(?:(?:st|nd|rd|th)\b|\.?[ºª]|番目|번째|位))"
    r"|(?P<symbol>(?<![^\W_])[A-Za-z]_?\d{1,3}(?![\w]))"
    r"|(?P<number>\d{1,6})(?![\w])"
    r"|(?P<word>[^\W\d_]{1,40})"
    r"|(?P<sign>[^\s\w])"
)
_NOUNS = ("out", "in", "token")
_ALIAS = re.compile(r"number open (?:(?:out|in|token) )?number close")
_NAMES = ("number", "symbol")
SAID = {"attends", "takes", "feeds", "arrow", "most", "second", "then"}
"""The kinds of words that state what an output attends to, and how much."""
_OUTS, _INS, _EITHER = "oOyYzZqQ", "kKvV", "xXcC"


LONGEST_LABEL, LONGEST_NUMBER = 5, 6
"""The largest number of words in the name of a token, and of digits in its number."""
_AFTER = ".,;:!?)]}\"'”’»"


class Lexeme(NamedTuple):
    """A word of a sentence: its kind and its content."""

    kind: str
    said: str = ""
    """A token, a number; "out" or "in" for the side of a token."""


def labels_of(names: Collection[str]) -> Mapping[str, str]:
    """Return the names of tokens, by the spellings that sentences may use."""
    return {plain_word(name): name for name in names if name and not name.isdigit()}


def place_of(name: str, labels: Sequence[str]) -> int:
    """Return the place of a token by its name or number, from 0; -1 for another name.

    >>> place_of("sat", ["cat", "sat"]), place_of("2", ["cat", "sat"]), place_of("mat", [])
    (1, 1, -1)
    """
    if name in labels:
        return labels.index(name)
    return int(name) - 1 if name.isdigit() and len(name) <= LONGEST_NUMBER else -1


def lexemes_in(text: str, labels: Mapping[str, str]) -> list[Lexeme]:
    """Return the words of a sentence with their kinds.

    >>> [each.kind for each in lexemes_in("Output token 1 attends to input 3.", {})]
    ['out', 'token', 'number', 'attends', 'to', 'in', 'number', 'end']
    """
    return _lexemes(text, labels) if labels else [*_of_words(text)]


@lru_cache(maxsize=4096)
def rank_in(text: str) -> str:
    """Return the rank that words beside an input say: "second", "most", or "" for none.

    >>> rank_in("and the second most to input"), rank_in("mostly looks at"), rank_in("takes")
    ('second', 'most', '')
    """
    words = lexemes_in(f"1 {text}", {})
    if any(each.kind in ("second", "then") or each == ("ordinal", "2") for each in words):
        return "second"
    return "most" if any(each.kind == "most" or each == ("ordinal", "1") for each in words) else ""


@lru_cache(maxsize=4096)
def _of_words(text: str) -> tuple[Lexeme, ...]:
    """Return the words of a sentence without names of tokens; several readings ask for them."""
    return (*_lexemes(text, {}),)


def _lexemes(text: str, labels: Mapping[str, str]) -> list[Lexeme]:
    text = EMPHASIZED.sub(lambda own: _quoted(own, labels), text)
    plain = _OF_SIDE.sub(r"X\1 token \2", _DRESS.sub("", _TEX_ARROW.sub("→", text)))
    plain = _UNPARTED.sub(r" \g<0> ", plain)
    found = list(_found(plain[_LISTED.match(plain).end() :], labels))  # type: ignore[union-attr]
    for i in reversed(range(len(found))):
        if [each.kind for each in found[i : i + 3]] == ["all", "numeral", "token"]:
            del found[i + 1]  # all three words
        elif count := _alias(found[i : i + 5]):
            del found[i + 1 : i + count]
    return [_in_place(found, i) for i in range(len(found))]


def _alias(words: Sequence[Lexeme]) -> int:
    """Return how many words name a token twice, as in output 2 ("cat"); 0 for none."""
    match = _ALIAS.match(" ".join(each.kind for each in words))
    count = match[0].count(" ") + 1 if match else 0
    is_one = count > 0 and words[0].said.isdigit() != words[count - 2].said.isdigit()
    return count if is_one else 0


def _quoted(emphasized: "re.Match[str]", labels: Mapping[str, str]) -> str:
    """Return an emphasized name of a token in quotation marks; other text is unchanged."""
    inner = emphasized[2]
    return f'"{inner}"' if plain_word(inner.strip(" :")) in labels else emphasized[0]


def _found(text: str, known: Mapping[str, str]) -> Iterator[Lexeme]:
    end = 0
    begins = {label.split(" ")[0].rstrip(_AFTER) for label in known}
    for match in _LEXEME.finditer(text):
        if match.start() < end:
            continue
        said, kind = match[0], match.lastgroup or ""
        if kind in ("word", "symbol") and (label := _label_at(text, match.start(), begins, known)):
            end, name = match.start() + len(label), plain_word(label)
            yield Lexeme("doubtful" if name in _KINDS else "number", known[name])
        elif kind == "quoted":
            inner = said[1:-1].strip(" ,.:")
            label = known.get(plain_word(inner), inner if inner.isdigit() else "")
            yield Lexeme("number", label) if label else Lexeme("unknown", inner)
        else:
            yield _lexeme(kind, said)


def _label_at(text: str, start: int, begins: Container[str], known: Container[str]) -> str:
    """Return the longest name of a token at a place of a text; "" for none."""
    pieces = text[start : start + 80].split(" ", LONGEST_LABEL)[:LONGEST_LABEL]
    if plain_word(pieces[0].rstrip(_AFTER)) not in begins:
        return ""
    labels = (" ".join(pieces[:count]).rstrip(_AFTER) for count in range(len(pieces), 0, -1))
    return next((each for each in labels if plain_word(each) in known), "")


def _lexeme(kind: str, said: str) -> Lexeme:
    if kind == "word":
        return _word(plain_word(said))
    if kind == "symbol":
        letter, number = said[0], said[1:].strip("_")
        role = "out" if letter in _OUTS else "in" if letter in _INS else ""
        if not role and letter not in _EITHER:
            return Lexeme("unknown", said)
        return Lexeme("symbol", f"{role} {number} {said}")
    if kind == "ordinal":
        return Lexeme("ordinal", "".join(filter(str.isdecimal, said)))
    if kind == "sign":
        return Lexeme(_KINDS.get(said, "data"), said)
    return Lexeme(kind, said)


@lru_cache(maxsize=16_384)
def _word(word: str) -> Lexeme:
    if word in _ORDINALS:
        return Lexeme("ordinal", str(_ORDINALS[word]))
    if word in _NUMBERS:
        return Lexeme("numeral", str(_NUMBERS[word]))
    if word in _KINDS and _KINDS[word] not in _SIDES:
        return Lexeme(_KINDS[word], {"out": "row", "in": "column"}.get(_KINDS[word], word))
    if role := _ROLES.get(concept_of(word)):
        return Lexeme(role, word)
    for stem, kind in _STEMS:
        if word.startswith(stem) and len(word) <= len(stem) + 4:
            return Lexeme(_SIDES.get(kind, kind), word)
    return Lexeme("" if concept_of(word) else "unknown", word)


def _in_place(found: list[Lexeme], i: int) -> Lexeme:
    """Return a word with the meaning that its neighbors imply."""
    each = found[i]
    before = found[i - 1].kind if i else "end"
    after = found[i + 1].kind if i + 1 < len(found) else "end"
    if each.said in ("in", "out") and after == "number":
        return Lexeme(each.said, each.said)
    if each.kind == "colon" and before in _NAMES and after in _NAMES:
        is_row = after == "number" and found[i + 1].said.isdigit()
        return each if is_row else Lexeme("arrow", ":")  # o1: x3, mat: cat
    if each.kind in ("number", "numeral"):
        is_count = after in _NOUNS and before not in (*_NOUNS, "sep", "number")  # 4 columns
        is_name = not is_count and (each.kind == "number" or before in (*_NOUNS, "sep"))
        return Lexeme("number" if is_name else "unknown", each.said)
    if each.kind == "symbol":
        role, number, said = each.said.split(" ")
        if said in ("X1", "X2") and ("token" in (before, after) or after in ("number", "in")):
            return Lexeme("out" if number == "1" else "in", said)
        return Lexeme(f"symbol {role}".strip(), number)
    is_sign = each.kind == "arrow" or each.said == "="
    if is_sign and before in ("most", "second", "ordinal", "then"):
        return Lexeme("to", each.said)  # most -> cat, second = sat
    if each.kind == "doubtful":
        beside = "arrow" in (before, after) or before == "token" or (i == 0 and after == "colon")
        is_article = _KINDS[plain_word(each.said)] == ""  # no article ends a phrase
        beside = beside or (is_article and after in ("sep", "end", "open", "close", "attends"))
        return Lexeme("number", each.said) if beside else Lexeme(_KINDS[plain_word(each.said)])
    return each
