"""attncalc's own pages as answers: the text around their matrices is not read.

Tokens may have any name: a number, the name of a matrix, a bar that separates cells. Short
replacements are inserted for names on these pages, and replaced by the names after reading.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from attncalc.base.latex_text import LETTER, in_latex
from attncalc.base.text import capital, on_a_line
from attncalc.languages.catalogue import DECIMAL_COMMA, ENGLISH, LANGUAGES
from attncalc.languages.english import ToEnglish
from attncalc.reading.answers.answer import WrittenConnection
from attncalc.reading.html_page import Page as Html
from attncalc.reading.html_page import unescaped

_SIGN = "halves away from zero"
_RULE = ("(rounding: display)", "(rounding: each-step)")
"""Text on all of attncalc's pages."""
MOST_BEFORE = 80
"""The largest number of lines before the conventions."""
LONGEST_LINE = 100_000
_TITLE = re.compile(
    r"(?:# |\\section\*\{)?(?:(?:Self-|Cross-)?[Aa]ttention|Encoder|Decoder|Vision Transformer)\b"
)
_SENTENCES = re.compile(
    r"(?:- |\\noindent )?(?:weights are rounded as shown|weights as given (?:need|may)|"
    r"in \d{1,6} more heads, too,|the weights of a (?:row|column) sum to|L rose by |"
    r"output .{1,9000}: no key is left to attend to|"
    r"too (?:large for exact decimals|near to a half)|every result is proven|"
    r"(?:with each step rounded|rounding each step|(?:with|carrying) full precision) \(|"
    r"(?:†|\\textdagger\{\}) not zero: |\(1\) .{1,9000}; \(2\) .{1,9000}\\par$)",
    re.IGNORECASE,
)
"""The start of attncalc's own sentences that are not an answer."""
_RULE_OF_TABLE = re.compile(r"\|\s?:?-+:?\s?(?:\|\s?:?-+:?\s?)++\|\s*")
_BAR_OF_FRAME = re.compile(r"[│|]")
_TOP, _BOTTOM = ("╭", "+"), ("╰", "+")
_SHAPE = re.compile(r" × (\d{1,7})\s*$")
_BEFORE_TITLE = "   "
"""The blanks between the equation of a step and its title."""
_CAPTION = re.compile(r"columns? (\d{1,7})(?: to (\d{1,7}))? of \d+")
_LEFT_OUT = "…"
_FENCE = "```"
LONGEST_RULES = 4000
_BETWEEN_RULES = re.compile(r" · |; |\n- |</?li>|\\noindent |\n")
_MARKS = re.compile(r"[●○†]")
_TEX_NAME = "\\text{"
_TEX_HEAD = "\\makebox[0pt]{"
_TEX_CAPTION = "\\parbox{330pt}{\\raggedright "
_TEX_NAMED = re.compile(
    r"(?:, )?(?:columns|rows|Spalten|colonnes|columnas|colunas|列) ?[:：] |\} \\\\\*?",
    re.IGNORECASE,
)
"""Where names of columns begin, in any language, or a caption ends."""
_SAYS_OUTPUT = "Output "
_OUTPUT = re.compile(r"(- |\\noindent )?Output ")
_LANGUAGE_OF = {
    "Ausgabe": "de",
    "Sortie": "fr",
    "Salida": "es",
    "Saída": "pt",
    "输出": "zh",
    "出力": "ja",
}
"""The first words of lines of the map, and their languages."""
_OUTPUT_OF = re.compile(rf"(?:- )?({'|'.join(_LANGUAGE_OF)}) ")
LONGEST_OF_MAP = 1000
_LISTED = re.compile(r"\b(?:inputs?|lines? to|solid|dashed) ")
_AFTER_LIST = re.compile(r"\s*(?:$|[.,;(]|and \d+ more|\\par)")
_OWN_NAME = re.compile(r"token (\d{1,7})(?: \([^()]*\))?")
_ROUNDING = re.compile(r"rounding: (?:display|each-step)")
"""Text of the conventions that is the same in all languages."""
_DECORATED = re.compile(
    r"(- |† |#+ |\*\*|\\noindent ?(?:\\textbf\{|\\textdagger\{\} )?|\\(?:sub)?section\*\{"
    r"|\\parbox\{\d{1,4}pt\}\{\\raggedright )?(.*?)(\*\*|\}?[.。]?\\par|[.。]?\} \\\\\*|\})?"
)
"""A line: marks before its sentences, these, and marks after them."""
_PARTINGS = (" · ", "; ", "**, ", ": ")
_IN_FORMULA = re.compile(r"\\text\{ ([^{}]{1,40}) \}")
"""Words of a formula."""
_COMMA = re.compile(r"[\[{][\d,; ]*[\]}]|(?<=\d),(?=\d)")
"""A decimal comma, or the place of an entry, as A[1,2]."""
_BLANKS = re.compile(r"\s+")


class MapLines:
    """attncalc's own sentences about the map, with any names of tokens.

    names: the names of the tokens; "token 1" replaces the first.
    plain: returns a sentence as displayed.
    shown: returns a name as displayed.
    """

    def __init__(
        self,
        names: Sequence[str],
        plain: Callable[[str], str] = str,
        shown: Callable[[str], str] = str,
    ) -> None:
        self.names = tuple(dict.fromkeys(names))
        self._plain = plain
        told = ((shown(on_a_line(name)), i) for i, name in enumerate(self.names, 1))
        # of two names with a common beginning, the longer one is meant
        self._shown = sorted(told, key=lambda pair: -len(pair[0]))

    def told(self, line: str) -> str:
        """Return a sentence with replaced names; unchanged if it names no output."""
        text = self._plain(line.removeprefix("- "))
        start = text.find(_SAYS_OUTPUT) + len(_SAYS_OUTPUT)
        for name, number in self._shown if _SAYS_OUTPUT in text else ():
            if text.startswith(f"{name}:", start):
                rest = self._with_lists(text[start + len(name) :])
                return f"{text[:start]}token {number}{rest}"
        return line

    def named(self, line: WrittenConnection) -> WrittenConnection:
        """Return a line of the map with the names of the tokens."""
        most, second = (tuple(map(self._name, names)) for names in (line.most, line.second))
        return line._replace(output=self._name(line.output), most=most, second=second)

    def _name(self, name: str) -> str:
        match = _OWN_NAME.fullmatch(name)
        number = int(match[1]) if match else 0
        return self.names[number - 1] if 0 < number <= len(self.names) else name

    def _with_lists(self, text: str) -> str:
        """Return the inputs after an output, with replaced names."""
        found, at = "", 0
        for match in _LISTED.finditer(text):
            if match.start() < at:
                continue
            end, numbers = self._listed(text, match.end())
            if end:
                named = " and ".join(f"token {number}" for number in numbers)
                found += text[at : match.end()] + named
                at = end
        return found + text[at:]

    def _listed(self, text: str, start: int) -> tuple[int, tuple[int, ...]]:
        """Return the end of a list of names, and their tokens; 0 if there is none."""
        begun: dict[int, tuple[int, ...]] = {start: ()}
        ended: dict[int, tuple[int, ...]] = {}
        while begun:
            at, before = begun.popitem()
            for name, number in self._shown:
                end = at + len(name)
                if end in ended or not text.startswith(name, at):
                    continue
                ended[end] = (*before, number)
                for parting in (", ", " and "):
                    if text.startswith(parting, end):
                        begun.setdefault(end + len(parting), ended[end])
        ends = [end for end in ended if _AFTER_LIST.match(text, end)]
        return (max(ends), ended[max(ends)]) if ends else (0, ())


class Handed(NamedTuple):
    """A page as read: its lines, and the names of its tokens.

    text: the page in English, with replaced names of tokens.
    lines: the reader of these names.
    """

    text: str
    lines: MapLines


def handed_back(text: str, names: Sequence[str], html: Html | None = None) -> Handed:
    """Return attncalc's own page with the names of tokens replaced; other texts are unchanged.

    text: the answer.
    names: the names of the tokens of the problem.
    html: the original HTML page; names are unescaped there.
    """
    language = html.language if html is not None and html.is_own else ""
    lines = lines_in_english(text.split("\n"), language)
    opening = next(_openings(lines[:MOST_BEFORE]), None) if html is None else None
    opening = -1 if html is not None and html.is_own else opening
    if opening is None:
        return Handed("\n".join(map(_map_in_english, text.split("\n"))), MapLines(()))
    page = _Page(lines, names, is_decoded=html is not None)
    page.clean(opening)
    return Handed("\n".join(page.lines), page.of_map)


def lines_in_english(lines: list[str], language: str = "") -> list[str]:
    """Return the lines of one of attncalc's own pages with its sentences in English.

    language: its language if known; otherwise the lines with its conventions tell it.
    """
    is_tex = _is_tex(lines)
    lines = [LETTER.sub(r"\1", line) for line in lines] if is_tex else lines
    first = lines[:MOST_BEFORE]
    if language == ENGLISH or any(_SIGN in line for line in first):
        return lines
    is_own = any(map(_ROUNDING.search, first))
    for each in [language] if language else LANGUAGES if is_own else ():
        translated = _Translated(each, is_tex=is_tex, is_html=bool(language))
        if language or any(_SIGN in translated.line(line) for line in first):
            return [*map(translated.line, lines)]
    return lines


def _map_in_english(line: str) -> str:
    """Return a line of the map that was copied from one of attncalc's own pages in English."""
    word = _OUTPUT_OF.match(line)
    if word is None or len(line) > LONGEST_OF_MAP:
        return line
    start = word.start(1)
    said = _to_english(_LANGUAGE_OF[word[1]], str)(line[start:].rstrip(" \r.。")) or ""
    return f"{line[:start]}{said}" if said.startswith(_SAYS_OUTPUT) else line


class _Translated:
    """Translates lines of a page in a language into English."""

    def __init__(self, language: str, *, is_tex: bool = False, is_html: bool = False) -> None:
        form = _in_plain_tex if is_tex else _with_blanks if is_html else str
        self._plain = _plain_tex if is_tex else str
        self._english = _to_english(language, form)
        self._number = _with_points if language in DECIMAL_COMMA else str

    def line(self, line: str) -> str:
        """Return a line with its sentences in English, and decimal points elsewhere."""
        line = _IN_FORMULA.sub(self._formula, line)
        if line.startswith(_TEX_CAPTION):
            line = f"{_without_names(line)} \\\\*"
        decorated = _DECORATED.fullmatch(line) if len(line) <= LONGEST_LINE else None
        if decorated is None or not decorated[2] or decorated[2][0] in "|│":
            return self._number(line)
        is_equation = " = " in decorated[2]
        parts = decorated[2].split(_BEFORE_TITLE) if is_equation else [decorated[2]]
        said = _BEFORE_TITLE.join(self._said(part, *_PARTINGS) for part in parts)
        return f"{decorated[1] or ''}{said}{decorated[3] or ''}"

    def _formula(self, words: re.Match[str]) -> str:
        return rf"\text{{ {self._sentence(self._plain(words[1])) or words[1]} }}"

    def _said(self, text: str, *partings: str) -> str:
        """Return a sentence in English, or several between these signs."""
        said = self._sentence(self._plain(text))
        if said is not None or not partings:
            return self._number(text) if said is None else said
        first, *others = partings
        return first.join(self._said(each, *others) for each in text.split(first))

    def _sentence(self, text: str) -> str | None:
        said = self._english(text)
        if said is None and text[:1].isupper():
            said = self._english(text[0].lower() + text[1:])
            return None if said is None else capital(said)
        return said


_to_english = cache(ToEnglish)


def _openings(lines: Sequence[str]) -> Iterator[int]:
    """Yield the lines where the conventions of attncalc's own pages end."""
    for number, line in enumerate(lines):
        near = [line, *lines[number + 1 : number + 2]]
        if _SIGN in line and any(rule in each for rule in _RULE for each in near):
            yield number if any(rule in line for rule in _RULE) else number + 1


def rules_in(text: str) -> list[str]:
    """Return the conventions that one of attncalc's own pages states above its matrices.

    >>> rules_in("Tokens are rows · shown to 2 decimals, halves away from zero · exact")
    ['Tokens are rows', 'shown to 2 decimals, halves away from zero']
    """
    before, sign, after = text.partition(_SIGN)
    said = _BETWEEN_RULES.split(before[-LONGEST_RULES:] + sign + after[:LONGEST_RULES])
    end = next((i for i, each in enumerate(said) if _SIGN in each), 0)
    starts = [i for i, each in enumerate(said[: end + 1]) if each.lower().startswith("tokens are ")]
    return [each.strip() for each in said[max(starts, default=end) : end + 1] if each.strip()]


def pages_in(lines: Sequence[str]) -> Iterator[range]:
    """Yield the lines of each page of attncalc in a document: to its fence, or to the next page."""
    openings = [*_openings(lines)]
    fences = [number for number, line in enumerate(lines) if line.lstrip().startswith(_FENCE)]
    starts = []
    for opening in openings:
        above = range(opening, max(opening - MOST_BEFORE, -1), -1)
        starts.append(next((i for i in above if _TITLE.match(lines[i])), opening))
    for start, after in pairwise([*starts, len(lines)]):
        is_inside = sum(fence < start for fence in fences) % 2 == 1
        ends = [fence for fence in fences if is_inside and start < fence < after]
        yield range(start, ends[0] if ends else after)


class _Page:
    """Goes through the lines of one of attncalc's own pages."""

    def __init__(self, lines: list[str], names: Sequence[str], *, is_decoded: bool) -> None:
        self.lines = lines
        self.is_tex = _is_tex(lines)
        if self.is_tex:
            self.of_map = MapLines(names, _plain_tex, lambda name: _plain_tex(in_latex(name)))
        elif is_decoded:
            self.of_map = MapLines(names, _on_one_line, _on_one_line)
        else:
            is_markdown = any(map(_RULE_OF_TABLE.fullmatch, lines))
            self.of_map = MapLines(names, _unescaped if is_markdown else str)
        self.width = 0

    def clean(self, opening: int) -> None:
        """Remove titles and conventions, and the names of tokens."""
        for number in self._first_lines(opening):
            self.lines[number] = ""
        i = opening + 1
        while i < len(self.lines):
            i += self._table(i) or self._line(i)

    def _first_lines(self, opening: int) -> Iterator[int]:
        """Yield the lines with the title and the conventions."""
        first = max(opening, 0)
        while first and self.lines[first].startswith("- ") and self.lines[first - 1].strip():
            first -= 1
        yield from range(first, opening + 1)
        yield from (i for i in range(first) if _TITLE.match(self.lines[i]))

    def _line(self, i: int) -> int:
        line = self.lines[i]
        if len(line) > LONGEST_LINE:
            return 1
        if _SENTENCES.match(line):
            self.lines[i] = ""
        elif _OUTPUT.match(line):
            self.lines[i] = self.of_map.told(line)
        elif self.is_tex:
            self.lines[i] = _without_names(line)
        elif shape := _SHAPE.search(line):
            self.width = int(shape[1])
            self.lines[i] = line.partition(" = ")[0]
        elif caption := _CAPTION.fullmatch(line.strip()):
            self.width = 1 + int(caption[2] or caption[1]) - int(caption[1])
        return 1

    # -- tables -----------------------------------------------------------------------------------

    def _table(self, i: int) -> int:
        """Remove the names from a table; return its number of lines, 0 if there is none."""
        line, below = self.lines[i], "".join(self.lines[i + 1 : i + 2])
        if line.startswith("|") and _RULE_OF_TABLE.fullmatch(below):
            return self._piped(i)
        return self._framed(i) if line.startswith(_TOP) and _is_frame(line) else 0

    def _piped(self, i: int) -> int:
        width = self.lines[i + 1].count("|") - 2
        self.lines[i] = f"|  | {' | '.join(map(str, range(1, width + 1)))} |"
        stop = i + 2
        while stop < len(self.lines) and self.lines[stop].startswith("|"):
            _, name, *cells = self.lines[stop].split("|")
            if name.strip(" *") != _LEFT_OUT:
                self.lines[stop] = "|".join(["", f" **{stop - i - 1}** ", *cells])
            stop += 1
        return stop - i

    def _framed(self, i: int) -> int:
        stop = i + 1
        while stop < len(self.lines) and not self.lines[stop].startswith(_BOTTOM):
            stop += 1
            if stop < len(self.lines) and _is_frame(self.lines[stop], "├+"):
                stop += 1
        rows = [j for j in range(i + 3, stop) if _BAR_OF_FRAME.match(self.lines[j])]
        cells = [self.lines[j].rstrip().rsplit(self.lines[j][0], 2) for j in rows]
        if any(len(each) < 3 for each in cells) or not rows:
            return 0
        bar = self.lines[rows[0]][0]
        width = self.width or len(_MARKS.sub(" ", cells[0][1]).split("  "))
        self.lines[i + 1] = f"{bar} {bar} {'  '.join(map(str, range(1, width + 1)))} {bar}"
        for number, (j, each) in enumerate(zip(rows, cells, strict=True), start=1):
            name = _LEFT_OUT if each[0].strip(f" {bar}") == _LEFT_OUT else str(number)
            self.lines[j] = f"{bar} {name} {bar}{each[1]}{bar}"
        self.width = 0
        return stop - i


def _without_names(line: str) -> str:
    """Return a line of LaTeX without the names of rows or columns."""
    if line.startswith(_TEX_NAME):
        return r"\text{t} \\"
    if line.startswith(_TEX_HEAD):
        return " & ".join([r"\makebox[0pt]{t}"] * line.count(_TEX_HEAD)) + r" \\[-1em]"
    if line.startswith(_TEX_CAPTION):
        return _TEX_CAPTION + _TEX_NAMED.split(line.removeprefix(_TEX_CAPTION))[0] + "}"
    return line


def _is_tex(lines: Sequence[str]) -> bool:
    return any(line.startswith("\\begingroup") for line in lines[:MOST_BEFORE])


def _is_frame(line: str, first: str = "╭+") -> bool:
    return line[:1] in first and not line.strip("╭─┬╮├┼┤+-━ \n\r")


def _unescaped(text: str) -> str:
    """Return a line of Markdown as displayed."""
    return unescaped(text.replace("<span>", "").replace("</span>", ""))


def _on_one_line(text: str) -> str:
    """Return a text as an HTML page displays it."""
    return " ".join(text.split()).replace(" :", ":").replace(" ,", ",")


def _plain_tex(text: str) -> str:
    """Return LaTeX without its optional line breaks."""
    return LETTER.sub(r"\1", text).replace(r"\allowbreak{}", "").replace("{}", "")


def _with_points(line: str) -> str:
    """Return a line with decimal points for commas."""
    return _COMMA.sub(lambda found: "." if found[0] == "," else found[0], line)


def _in_plain_tex(text: str) -> str:
    return _plain_tex(in_latex(text))


def _with_blanks(text: str) -> str:
    """Return a text with a common blank for each run of them."""
    return _BLANKS.sub(" ", text)
