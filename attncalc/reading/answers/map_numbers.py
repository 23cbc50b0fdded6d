"""Maps in any wording: tokens that are named in order, where the weights fit them.

Sentences are read first by their words (`map_sentences`). Where these leave outputs open, this
module looks for parts of a text that name output 1 and its inputs, then output 2, and so on. The
weights decide whether several inputs tie, and whether this is a map at all.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, product, zip_longest
from typing import NamedTuple

import numpy as np

from attncalc.base.types import Matrix
from attncalc.reading.answers.answer import WrittenConnection
from attncalc.reading.answers.map_words import EMPHASIZED, lexemes_in
from attncalc.reading.naming.name import Tokens
from attncalc.reading.plain.marks import COMMA
from attncalc.reading.plain.other_words import ORDINALS

LONGEST, MOST_LINES = 400, 400
"""The longest line, and the largest number of lines, in which a map is looked for."""
ENOUGH = 0.6
"""The share of outputs whose first input has the largest weight, for parts in the same words to be
a map. In other words, all must have it.
"""
FEWEST, MOST_BETWEEN = 3, 6
"""The fewest outputs that state a map if all fit, whatever the words; the most other lines before
places that a program prints.
"""
TIE = 0.006
"""The largest difference of weights that are equal when they are rounded."""
VALUES = re.compile(
    r"[≈~]? ?[-+]?(?<!\d)\d{0,9}[.,]\d{1,20} ?%?|[≈~] ?\d{1,9}|(?<!\d)\d{1,9} ?%|\([^()\d]{0,80}\)"
    r"|(?<=[\s、,])[12]番は"
)
NUMBERED = re.compile(r"^[\s>*#•·-]*(?:(?:[^\W\d_]{1,12} )?\(?\d{1,2}[.)]\s+(?=[^\W\d]))?")
TOKEN = re.compile(
    r"(?P<itself>\b(?:itself|themselves|s[ií] mism[ao]s?|sich selbst|(?:lui|elle|eux)-mêmes?"
    r"|s[eé] stess[aoie]|si mesm[ao]s?|zichzelf|själv|seg selv|sig selv|siebie|sobie|sebe|sebou"
    r"|себя|себе|собой|собі|itseensä|itseään|itsensä|kendisine|kendisini|kendine|önmagára)\b"
    r"|자기 자신|자기자신|스스로|نفسها?|εαυτό|自身|自己|自分)"
    r"|(?P<number>(?<![\d.,/:-])\d{1,3}(?![\d%/]|[.,:]\d|(?<=[a-z]\d)[a-z]{2}))|(?P<word>[^\W\d_]{1,40})",
    re.IGNORECASE,
)
_STOPS = r"(?<!\d)\.(?=\s|$)|(?<=\d)\.(?=\s*$|\s+[^\W\d_a-zà-ÿ])|[!?](?=\s|$)|[。！？]"
_CLAUSES = rf"{_STOPS}|;(?=\s|$)|；"
_SENTENCES, _PARTS = re.compile(_CLAUSES), re.compile(rf"{_CLAUSES}|[、，,]|\s{{3,}}")
_WITH_SEMICOLONS = re.compile(_STOPS)
"""A period behind a number ends a sentence only before a capital: "1. output" is an ordinal."""
_WORD = re.compile(r"[^\W\d_]{3,}|[\u3040-\u9fff]{2,}")
_ORDINAL = re.compile(rf"\b(?:{'|'.join(ORDINALS)})\b", re.IGNORECASE)
_STEMS = {
    1: "перв|перш|pierwsz|prvn|prv[iao]|πρώτ|ensimmäi|birinci|első|첫 ?번째|الأول",
    2: "втор|друг|drug[iaą]|druh|δεύτερ|toinen|toise|toista|ikinci|második|두 ?번째|الثاني",
    3: "трет|trzeci|třet|treć|τρίτ|kolma|üçüncü|harmadik|세 ?번째|الثالث",
    4: "четв|czwart|čtvrt|četvrt|τέταρτ|neljä|dördüncü|negyedik|네 ?번째|الرابع",
    5: "пят|п.ят|piąt|pát|pet[iao]|πέμπτ|viide|beşinci|ötödik|다섯 ?번째|الخامس",
}
_STEM = re.compile(
    rf"(?<![^\W\d_])و?(?:(?P<one>{_STEMS[1]})|(?P<two>{_STEMS[2]})|(?P<three>{_STEMS[3]})"
    rf"|(?P<four>{_STEMS[4]})|(?P<five>{_STEMS[5]}))\w{{0,8}}",
    re.IGNORECASE,
)
"""Ordinals in further languages, by their stems."""
OF_ALL = re.compile(
    r"\b(?:все|всі|oba|obie|obydwa|wszystkie|všechny|sva|kaikki|molemmat|tüm|bütün|hepsi|minden"
    r"|όλ[αεο]\w?|alle|tous|toutes|todas?|todos|tutti|tutte|all|both)\b|모두|모든|كل|すべて|全て|都",
    re.IGNORECASE,
)
_ITSELF = re.compile("自分自身|自身|自己|自分")
_QUOTES = str.maketrans(dict.fromkeys('"“”„«»「」『』', " "))
_STRUCK = re.compile(r"~~[^~\n]{1,80}~~")
_LARGEST = re.compile(
    r"\b(?:arg_?max|which\.max|idxmax|max\.col|arg_?sort|sortperm|sort|topk|order)\b", re.IGNORECASE
)
_WHOLE, _COUNTED = re.compile(r"(?<![\w.,])\d{1,3}(?![\w.,]*\d)"), re.compile(r"\[\d{1,3}\](?=\s)")
"""Places that a program prints, and R's count before a vector."""
_BARS = re.compile(r"[|│\t]")
_EQUALS, _VECTOR = re.compile(r"=(?!>)"), re.compile(r"[(\[⟨<] ?[-+−]?\d+ ?[,;、 ]")
_SAYS = re.compile(r"[^\W\d_]|[→⇒⟶➔➜↦>|│]")
_OF_TOKEN = re.compile(
    r"^(\W{0,12}(?:token|output|word|[A-Za-z]) ?\d{1,3}) ?=(?=[^=\d]{0,4}[^\W\d])"
)
"""The output of a line of a file: token1 = "token2, then token3"."""
TAG = re.compile(r"</?[A-Za-z][^<>]{0,200}>|\\item(?:<[^<>\n]{0,20}>)?|\\(?:emph|text\w{1,6})\b")


class _Part(NamedTuple):
    """A part of a text that names tokens: as outputs and as inputs, from 0; -1 is "itself".

    `gaps` holds the words between each token and the next.
    """

    line: int
    text: str
    outputs: list[int]
    inputs: list[int]
    gaps: list[str]


class _Stated(NamedTuple):
    """An output and its inputs, in the order of the text, from 0, and the words between them."""

    line: int
    output: int
    inputs: list[int]
    words: str


def map_by_weights(
    lines: Sequence[tuple[int, str]], weights: Matrix, labels: Tokens
) -> list[WrittenConnection]:
    """Return the map that lines state in any words; [] if they name no input for some output.

    lines: lines with their numbers: those that belong to no step.
    weights: the weights, of shape (outputs, inputs).
    labels: the names of the tokens.

    >>> text = "Ausgang 1 nimmt 2, Ausgang 2 nimmt 1"
    >>> [each.says for each in map_by_weights([(1, text)], np.eye(2)[::-1], Tokens())]
    ['output 1 → input 2', 'output 2 → input 1']
    """
    reader = _Reader(weights, labels)
    texts = (
        (line, _ITSELF.sub(r" \g<0> ", plain(text)))
        for line, text in ((n, TAG.sub(" ", own)) for n, own in lines[-MOST_LINES:])
    )
    short = [each for each in texts if len(each[1]) < LONGEST]
    if not reader.could_be_map(text for _, text in short):
        return []
    listed = [(line, NUMBERED.sub("", text)) for line, text in short]  # "1. output" or a list
    best = list[_Stated]()
    for stated in reader.readings(short, listed):
        best = max(best, stated, key=reader.worth)
        if reader.worth(best) == (len(weights), len(weights)):
            break
    return [reader.written(each) for each in best]


def plain(text: str) -> str:
    """Return a text without quotation marks, emphasis and struck words, in one form of its letters.

    Tabs become bars.
    """
    clean = unicodedata.normalize("NFKC", text.replace(COMMA, ",")).translate(_QUOTES)
    clean = EMPHASIZED.sub(r"\2", _STRUCK.sub(" ", clean))
    return clean.replace("\t", " | ")


def _as_number(match: "re.Match[str]") -> str:
    return f"{ORDINALS.get(match[0].lower(), match[0][:-2])} "


def _as_place(match: "re.Match[str]") -> str:
    return f"{1 + ('one', 'two', 'three', 'four', 'five').index(str(match.lastgroup))} "


def _repeated(part: _Part) -> Iterator[_Part]:
    """Yield the statements of a part, each with the same words: a looks at b and c looks at d."""
    starts = [k for k, gap in enumerate(part.gaps) if gap == part.gaps[0]]
    for start, stop in pairwise([*starts, len(part.outputs)]):
        own = slice(start, stop)
        yield _Part(part.line, part.text, part.outputs[own], part.inputs[own],
                    part.gaps[start : stop - 1])  # fmt: skip


def with_seconds(
    lines: Sequence[WrittenConnection],
    others: Sequence[WrittenConnection],
    weights: Matrix,
    labels: Tokens,
) -> list[WrittenConnection]:
    """Return lines without a second input with those of other readings that the weights confirm."""
    reader, found = _Reader(weights, labels), {each.output: each for each in others}
    return [
        other if not each.second and other and reader.is_exact(other) else each
        for each, other in ((each, found.get(each.output)) for each in lines)
    ]


def fits(line: WrittenConnection, weights: Matrix, labels: Tokens) -> bool:
    """Return whether a line of a map names only inputs with the largest weight of its output."""
    return _Reader(weights, labels).is_right(line)


def is_prose(line: str) -> bool:
    """Return whether a line has several sentences, so that one may be about the map."""
    return not _BARS.search(line) and len(_SENTENCES.split(line.strip(" .\t"))) > 1


def _counts(line: str) -> bool:
    """Return whether a line is the heading of a table: | 0 | 1 | 2 |."""
    numbers = [*map(int, _WHOLE.findall(line))]
    is_heading = len(numbers) > 1 and bool(_BARS.search(line))
    return is_heading and numbers == [*range(numbers[0], numbers[0] + len(numbers))]


def _paragraphs(lines: Sequence[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield lines with those that continue them."""
    text, start = "", 0
    for number, (line, own) in enumerate(lines):
        goes_on = text and own.strip() and line == lines[number - 1][0] + 1
        if text and not goes_on:
            yield start, text
        text, start = (f"{text} {own}", start) if goes_on else (own, line)
    yield start, text


def _is_of_attention(said: _Stated) -> bool:
    """Return whether the words between an output and its inputs are about a map."""
    return bool(
        {"attends", "takes", "most", "arrow"} & {e.kind for e in lexemes_in(said.words, {})}
    )


class _Reader:
    """Reads parts of lines as statements about outputs, one after another."""

    def __init__(self, weights: Matrix, labels: Tokens) -> None:
        self.weights, self.labels = weights, labels
        self.sides = [[each.lower() for each in side] for side in (labels.queries, labels.keys)]
        self.names = {*self.sides[0], *self.sides[1]}

    def parts(self, line: int, text: str, ends: "re.Pattern[str]") -> Iterator[_Part]:
        """Yield the parts of a text that name tokens, with words or signs between these."""
        stops = _WITH_SEMICOLONS if ends is _WITH_SEMICOLONS else _SENTENCES
        sentences = stops.split(VALUES.sub(" ", text))
        sentences = [each for each in sentences if not _VECTOR.search(each)]
        for part in (part for each in sentences for part in ends.split(each)):
            piece = _EQUALS.split(_OF_TOKEN.sub(r"\1 →", part, count=1))[-1]
            found = [*filter(self._is_token, TOKEN.finditer(piece))]
            if found:
                outputs, inputs = ([self._place(each, side) for each in found] for side in (0, 1))
                gaps = [piece[a.end() : b.start()].split() for a, b in pairwise(found)]
                yield _Part(line, piece, outputs, inputs, [*map(" ".join, gaps)])

    def _is_token(self, match: "re.Match[str]") -> bool:
        return match["word"] is None or match["word"].lower() in self.names

    def _place(self, match: "re.Match[str]", side: int) -> int:
        """Return the place of a token among outputs (side 0) or inputs; -1 for "itself"."""
        if match["itself"]:
            return -1
        return self._named(match[0], side)

    def _named(self, name: str, side: int) -> int:
        names = self.sides[side]
        if name.lower() in names:
            return names.index(name.lower())
        number = name.removeprefix("token ")  # as on attncalc's own pages
        return int(number) - 1 if number.isdigit() else len(names)

    def could_be_map(self, texts: Iterable[str]) -> bool:
        """Return whether texts name as many tokens as there are outputs, or all of them."""
        left = len(self.weights)
        for text in texts:
            left -= sum(map(self._is_token, TOKEN.finditer(text)))
            left -= sum(1 for sign in (_ORDINAL, _STEM) for _ in sign.finditer(text))
            if left <= 0 or _LARGEST.search(text) or OF_ALL.search(text):
                return True
        return False

    def readings(
        self, short: Sequence[tuple[int, str]], listed: Sequence[tuple[int, str]]
    ) -> Iterator[list[_Stated]]:
        """Yield what lines state, cut in one way after another; `listed` has no list numbers."""
        ways = (
            *((listed, ends) for ends in (_WITH_SEMICOLONS, _SENTENCES, _PARTS)),
            (short, _SENTENCES),
            ([*_paragraphs(listed)], _SENTENCES),
            *((texts, _SENTENCES) for texts in self.under_headings(listed)),
            (self.listed(listed), _SENTENCES),
            *(
                ([(line, sign.sub(named, text)) for line, text in short], ends)
                for sign, named in ((_ORDINAL, _as_number), (_STEM, _as_place))
                for ends in (_SENTENCES, _PARTS)
            ),
        )
        parts = []
        for texts, ends in ways:
            parts.append([part for each in texts for part in self.parts(*each, ends)])
            yield self.read(parts[-1])
        for own in parts:
            yield self.read([part for each in own for part in _repeated(each)])
        yield self.printed(short)

    def listed(self, lines: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
        """Return the last lines that name tokens, one for each output, with their outputs."""
        named = [
            each
            for each in lines
            if {*self._outputs(VALUES.sub(" ", each[1]))} and not _counts(each[1])
        ]
        return [
            (line, f"{k}: {text.strip(' -*')}")
            for k, (line, text) in enumerate(named[-len(self.weights) :], start=1)
        ]

    def under_headings(self, lines: Sequence[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
        """Yield lines below headings of outputs, each after the output of its heading.

        Headings have one form, and name the outputs in order: "- id: 1", "- id: 2". First all
        lines below them are taken, then those of each form.
        """
        texts = [VALUES.sub(" ", text) for _, text in lines]
        outputs = [{*self._outputs(text)} for text in texts]
        forms = [" ".join(TOKEN.sub(self._without_token, text).split()) for text in texts]
        count, named = len(self.weights), [p for p, own in enumerate(outputs) if own]
        for form in dict.fromkeys(forms[p] for p in named):
            starts = [p for p in named if forms[p] == form and len(outputs[p]) == 1][-count:]
            if [outputs[p] for p in starts] == [{k} for k in range(count)]:
                sections = [
                    [p for p in named if start < p < stop]
                    for start, stop in pairwise([*starts, len(lines)])
                ]
                yield from self._sections(lines, sections, forms)
                return

    def _sections(
        self, lines: Sequence[tuple[int, str]], sections: list[list[int]], forms: list[str]
    ) -> Iterator[list[tuple[int, str]]]:
        for form in ("", *dict.fromkeys(forms[p] for p in sections[0])):
            own = [[p for p in each if forms[p] == form or not form] for each in sections]
            if all(own):
                yield [
                    (lines[each[0]][0], " ".join([name, *(lines[p][1] for p in each)]))
                    for name, each in zip(map(str, range(1, len(own) + 1)), own, strict=True)
                ]

    def _outputs(self, text: str) -> Iterator[int]:
        tokens = filter(self._is_token, TOKEN.finditer(text))
        return (self._place(each, 0) for each in tokens)

    def _without_token(self, match: "re.Match[str]") -> str:
        return "" if self._is_token(match) else match[0].lower()

    def printed(self, lines: Sequence[tuple[int, str]]) -> list[_Stated]:
        """Return the map that a program prints as places of the largest weights, from 0 or 1."""
        for place, (line, text) in enumerate(lines):
            if called := _LARGEST.search(text):
                stop = line + len(self.weights) + MOST_BETWEEN
                below = [each for each in lines[place + 1 :] if each[0] <= stop]
                for made in self._printed([(line, text[called.end() :]), *below]):
                    is_right = self._is_ranked if len(made[0].inputs) > 1 else self._fits
                    if all(map(self._is_possible, made)) and all(map(is_right, made)):
                        return made
        return []

    def _printed(self, lines: Sequence[tuple[int, str]]) -> Iterator[list[_Stated]]:
        """Yield maps of the last numbers of a line or of all: pairs, two rows, or one row."""
        count = len(self.weights)
        results = [
            each for each in lines if not _LARGEST.search(each[1]) and _WHOLE.search(each[1])
        ]
        whole = [(results[-1][0], "\n".join(text for _, text in results))] if results else []
        arranged = ((2, False), (2, True), (1, False))
        for (width, are_rows), (last, own), first in product(arranged, [*lines, *whole], (0, 1)):
            said = [int(n) - first for n in _WHOLE.findall(_COUNTED.sub("", own))][-count * width :]
            if len(said) == count * width:
                pairs = [said[k::count] if are_rows else said[k * width :][:width]
                         for k in range(count)]  # fmt: skip
                places = [*[lines[0][0]] * (count - 1), last]
                yield [
                    _Stated(at, k, own, "")
                    for k, (at, own) in enumerate(zip(places, pairs, strict=True))
                ]

    def read(self, parts: Sequence[_Part]) -> list[_Stated]:
        """Return the last run of parts that states an input for each output."""
        found, best = list[_Stated](), list[_Stated]()
        for part in parts:
            own = self._stated(part)
            again = {each.output for each in own}
            start = max((k for k, each in enumerate(found, 1) if each.output in again), default=0)
            found = [*found[start:], *own]
            if len(found) >= max(1, len(best)) and self._is_map(found):
                best = found
        return best or self._of_all(parts)

    def _stated(self, part: _Part) -> list[_Stated]:
        """Return what a part states: about its first token, or about several with these inputs."""
        ways = [
            [
                _Stated(
                    part.line,
                    output,
                    [*dict.fromkeys(output if k < 0 else k for k in part.inputs[several:])],
                    part.gaps[several - 1],
                )
                for output in part.outputs[:several]
            ]
            for several in range(1, len(part.inputs))
            if len({*part.outputs[:several]}) == several
            if _SAYS.search(part.gaps[several - 1])
            and part.gaps[several - 1] not in part.gaps[: several - 1]
        ]
        if len(part.inputs) == 1 and OF_ALL.search(part.text):  # all inputs equally
            ways = [[_Stated(part.line, part.outputs[0], [*range(self.weights.shape[1])], "")]]
        ways = [own for own in ways if all(map(self._is_possible, own))]
        right = [own for own in ways if all(map(self._fits, own))]
        return next(iter([*right, *ways]), [])

    def _is_possible(self, said: _Stated) -> bool:
        """Return whether the tokens exist."""
        height, width = self.weights.shape
        return 0 <= said.output < height and {*said.inputs} <= {*range(width)}

    def _fits(self, said: _Stated) -> bool:
        """Return whether the first input of an output has its largest weight."""
        return said.inputs[0] in self._largest(said.output)

    def is_right(self, line: WrittenConnection) -> bool:
        """Return whether a line names only inputs with the largest weight of its output."""
        output, most = self._named(line.output, 0), [self._named(each, 1) for each in line.most]
        is_there = bool(most) and 0 <= output < len(self.weights)
        return is_there and {*most} <= {*self._largest(output)}

    def is_exact(self, line: WrittenConnection) -> bool:
        """Return whether a line names just the inputs with the two largest weights."""
        inputs = [self._named(each, 1) for each in (*line.most, *line.second)]
        return self._is_ranked(_Stated(line.line, self._named(line.output, 0), inputs, ""))

    def _largest(self, output: int) -> list[int]:
        row = self.weights[output]
        return np.flatnonzero(row >= row.max() - TIE).tolist()

    def _is_map(self, said: Sequence[_Stated]) -> bool:
        """Return whether all outputs are there and fit, or most of them in the same words."""
        count, right = len(self.weights), sum(map(self._fits, said))
        is_most = right >= max(2, ENOUGH * count)
        if not (is_most or right == len(said) == count):
            return False
        share = sum(map(_is_of_attention, said)) / len(said)
        common = set[str].intersection(*({*_WORD.findall(each.words)} for each in said))
        if len(said) == right == count and (common or share >= ENOUGH):
            return True
        in_order = sorted(each.output for each in said) == [each.output for each in said]
        is_of_others = any(each.inputs != [each.output] for each in said)
        is_alike = in_order and is_of_others and len({each.words for each in said}) == 1
        if right == len(said) == count >= FEWEST and in_order and is_of_others:
            return len({each.line for each in said}) in (1, count)  # by chance, few would fit
        return is_alike and is_most and (right == len(said) or len(said) == count)

    def _of_all(self, parts: Sequence[_Part]) -> list[_Stated]:
        """Return the map of a part that states the same inputs for all outputs.

        The part behind it is read with it where the second inputs are there.
        """
        for part, behind in reversed([*zip_longest(parts, parts[1:])]):
            kinds = {each.kind for each in lexemes_in(part.text, {})}
            is_said = {"attends", "takes"} & kinds and {"all", "equal"} & kinds
            if not is_said and (len(part.inputs) > 1 or not OF_ALL.search(part.text)):
                continue
            inputs = [*dict.fromkeys(part.inputs)]
            both = [*dict.fromkeys([*inputs, *(behind.inputs if behind else ())])]
            alone, made = (self._of_each(part.line, each) for each in (inputs, both))
            if best := max(alone, made, key=self.worth):
                return best if all(map(self._fits, best)) else []
        return []

    def _of_each(self, line: int, inputs: list[int]) -> list[_Stated]:
        """Return the same statement about every output; none if a token does not exist."""
        made = [_Stated(line, output, inputs, "") for output in range(len(self.weights))]
        return made if len(made) > 1 and all(map(self._is_possible, made)) else []

    def worth(self, stated: Sequence[_Stated]) -> tuple[int, int]:
        """Return how many outputs a reading has, and how many with the right inputs."""
        return len(stated), sum(map(self._is_ranked, stated))

    def _is_ranked(self, said: _Stated) -> bool:
        """Return whether the inputs are those with the largest and second largest weights."""
        ties, row = self._largest(said.output), self.weights[said.output]
        rest = np.delete(row, ties)
        if not rest.any():
            return {*ties} <= {*said.inputs}
        return {*said.inputs} == {*np.flatnonzero(row >= rest.max() - TIE)}

    def written(self, said: _Stated) -> WrittenConnection:
        """Return a statement with the names of its tokens: the inputs that tie, then the others."""
        ties = self._largest(said.output) if self._fits(said) else said.inputs[:1]
        most = [self._name(k, self.labels.keys) for k in said.inputs if k in ties]
        rest = [k for k in said.inputs if k not in ties]
        row = self.weights[said.output]
        near = [k for k in rest if abs(row[k] - row[rest[0]]) <= TIE]  # not all that are listed
        others = [self._name(k, self.labels.keys) for k in near]
        output = self._name(said.output, self.labels.queries)
        return WrittenConnection(0, output, (*most,), (*others,), "", said.line, is_told=True)

    @staticmethod
    def _name(place: int, names: Sequence[str]) -> str:
        return names[place] if place < len(names) and names[place] else str(place + 1)
