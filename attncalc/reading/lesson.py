"""A lesson: a document of examples, each with its given matrices and worked results."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.sources import remember
from attncalc.problem.attention.declared import IN_ORDER
from attncalc.problem.fields import MASKS
from attncalc.reading.answers.answer import (
    Answer,
    Unread,
    WrittenMatrix,
    matrix_of_entries,
    renumbered,
)
from attncalc.reading.answers.expected import Expected
from attncalc.reading.answers.own_page import pages_in, rules_in
from attncalc.reading.answers.text import read_text_answer
from attncalc.reading.files import decode, is_folder, list_folder
from attncalc.reading.html_page import is_html, text_of_html
from attncalc.reading.naming.at_hand import names_at_hand
from attncalc.reading.notebooks import Place, lines_of_notebook
from attncalc.reading.plain.marks import COMMA, PRIVATE
from attncalc.reading.plain.numerals import read_entry
from attncalc.reading.plain.tidy import with_decimal_commas

ENDINGS = (".md", ".markdown", ".ipynb", ".tex", ".html", ".htm", ".rst", ".org", ".qmd", ".rmd")
"""File endings of lessons in a folder."""
GIVEN_NAMES = (
    *("X", "X1", "X2", "P", "W_Q", "W_K", "W_V", "W_O", "b_Q", "b_K", "b_V", "b_O"),
    *("Q", "K", "V", *MASKS),
)
"""The matrices that an example of attention may start with."""
OF_ALL_HEADS = ("X", "X1", "X2", "P", "W_O", "b_O")
"""The matrices that heads share."""
_INPUTS = ("X", "X1", "X2")
_RESULTS = IN_ORDER[IN_ORDER.index("S") :]
MOST_EXAMPLES = 200
MOST_LINES = 400
"""The largest number of lines of one matrix."""
_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d{1,3})?(?!\w)")
_SIGNS = re.compile(r"[=≈<>·×*/^()\[\];]|\\(?:cdot|times|frac|approx)\b")
_NAMES = (
    (re.compile(r"\bW[_^]?\{?([QKV])\}?(?:\}?[_^]\{?\(?|,? ?(?=\d\}?))(\d)\)?\}?(?![\w^])"
                r"|\bW[_^]\{?\(?(\d)\)?\}?[_^]\{?([QKV])\}?(?![\w^])"),
     lambda each: f"W_{each[1] or each[4]}^{{({each[2] or each[3]})}}"),
    (re.compile(r"(?:(?:\bw|Ω|\\Omega)_?\{?(?:\\(?:text|mathrm)\{)?|\bweights?_)(?:(q)|(k)|(v))"
                r"(?:(?:uery|ey|alue)s?)?\b\}{0,2}", re.IGNORECASE),
     lambda each: f"W_{each[0 + each.lastindex].upper()}"),
    (re.compile(r"\b(?:query|key|value)s?(?: weights?| projection)? matri(?:x|ces),? "
                r"(?=\W{0,3}W[_^]?\{?[QKV]\b)", re.IGNORECASE), ""),
    (re.compile(r"(?<![\w\\])(?:\\(?:mathbf|vec|boldsymbol)\{x\}|x)_?\{?(\d{1,3})\}?(?=\s?=)"),
     r"X[\1,:]"),
    (re.compile(r"\\(?:wide)?(hat|tilde|bar|dot)(?:\{ ?| )\\?([a-zA-Z]+)(?: ?\})?"), r"\2\1"),
    (re.compile(r"(?<=[a-z:] )(\d{1,3}),(\d{3})(?= [a-z])"), r"\1\2"),
    (re.compile(r"(?<=[ {&]|-|\})(\d{1,3}),(\d{1,6})(?=\s{0,2}(?:&|\\\\|\\end))"), r"\1{,}\2"),
    (re.compile(r"^[^\n=\d|]{0,60}?(?<![\w\\])\$?(W_\{?[QKVO]\}?|X_?[12]?)\$? (?:is|are|be|ist|est"
                r"|es|è|é)(?: given by)?[ :]{0,3}$", re.MULTILINE), r"\1:"),
)  # fmt: skip
"""Names of given matrices that readers of answers do not need, and thousands in a sentence, and
decimal commas in matrices of LaTeX."""
_PROJECTION = re.compile(r"\b(W?)[_^]?\{?([QKV])\b", re.IGNORECASE)
_EQUAL = re.compile(r"\bW?[_^]?\{?[QKV]\}?(?:[\s$*`&]{0,6}=[\s$*`&]{0,6}W?[_^]?\{?[QKV]\}?){1,2}"
                    r"(?=[\s$*`&]{0,6}=)", re.IGNORECASE)  # fmt: skip
"""Projections, or their weights, that equal each other."""
_CHECKED = re.compile(
    r"tokens are (?:rows|columns)$|scores (?:not scaled|divided by|S are given)|mask |causal, top|"
    r"normalizer |sinusoidal |\d{1,4} heads, their outputs side|shown to |full |each step ",
    re.IGNORECASE,
)
"""Conventions that results can be checked by."""
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")
FEWEST_COMMAS = 5
"""The fewest decimal commas of a document in which each comma between digits is one."""
_RAISED = re.compile(r"(?<=[\w)])<sup>(-?[\w./+ -]{1,20})</sup>", re.IGNORECASE)
"""An exponent in HTML."""
_PRINTED = re.compile(r"print\((?:[^(),]{0,60},\s?)?([A-Za-z_]\w{0,40})\)")
_ARRAY = re.compile(r"(?:tensor\(|array\()?\[")
MOST_ALIKE = 0.6
"""The share of entries of a product that its printed result must have for a factor to be read."""
FEWEST_NUMBERS, MOST_NUMBERS = 3, 400
"""The size of a matrix that is searched in the text of another."""
_RESULT = re.compile(r"= ?(-?[\d.]+)(?! ?[-+*·×^(\d.]| ?/ ?\d)")
_STEP = re.compile(r"[\w.]+")
_IN_ROWS = re.compile(r"[;|\n]| / ")
"""What separates the rows of a matrix in a read text."""


class Example(NamedTuple):
    """One example of a lesson.

    first, last: its lines.
    matrices: its matrices by name, including those of earlier examples.
    own: the names of those that it contains itself.
    """

    first: int
    last: int
    matrices: Mapping[str, WrittenMatrix]
    own: frozenset[str]


@dataclass(frozen=True)
class Lesson:
    """A document as lines of text.

    place: the file or source.
    text: its text, with the lines of the file.
    places: the place of each line in a notebook, or in an HTML page (cell 0); empty if it is the
        line number.
    is_page: whether it is a page of attncalc: one example.
    rules: the conventions of such a page by which results are not checked here.
    """

    place: str
    text: str
    places: tuple[Place, ...] = ()
    is_page: bool = False
    rules: tuple[str, ...] = ()

    @cached_property
    def lines(self) -> list[str]:
        """Its lines, with the canonical names of given matrices."""
        text = PRIVATE.sub("", self.text)
        for pattern, name in _NAMES:
            text = pattern.sub(name, text)
        return _with_prints(text.split("\n"))

    def parts(self) -> Iterator["Lesson"]:
        """Yield the text of the document, and each page of attncalc in it, which is complete.

        Other lines are blank.
        """
        lines = self.text.split("\n")
        pages = [*pages_in(lines)]
        own = {number for page in pages for number in page}
        for kept in ({*range(len(lines))} - own, *map(set, pages)):
            text = "\n".join(line if i in kept else "" for i, line in enumerate(lines))
            if any(map(str.isdecimal, text)):
                if self.is_page or not kept <= own:
                    yield replace(self, text=text)
                else:
                    yield replace(self, text=text, is_page=True, rules=_rules(text))

    @cached_property
    def with_points(self) -> list[str]:
        """Its lines, with a mark for each decimal comma."""
        return with_decimal_commas("\n".join(self.lines)).split("\n")

    @cached_property
    def _read(self) -> dict[tuple[int, int], Answer]:
        """What is read in lines without a key."""
        return {}

    @property
    def arithmetic(self) -> list[str]:
        """Its lines with decimal points, also within brackets if it has decimal commas."""
        text = "\n".join(self.with_points)
        if text.count(COMMA) >= FEWEST_COMMAS:
            text = _DECIMAL_COMMA.sub(".", text)
        return text.replace(COMMA, ".").split("\n")

    def where(self, first: int, last: int = 0) -> str:
        """Return the place of lines, such as "lines 3 to 5" or "cell 2, line 1"."""
        cell, end = "", ""
        if 0 < first <= len(self.places):
            number, start, is_output = self.places[first - 1]
            others = self.places[first:last]
            last = max((line for at, line, kind in others if (at, kind) == (number, is_output)),
                       default=start)  # fmt: skip
            first, cell = start, f"cell {number}, " if number else ""
            end = " of its output" if is_output else ""
        return f"{cell}{f'lines {first} to {last}' if last > first else f'line {first}'}{end}"

    def line(self, number: int) -> int:
        """Return the number of a line in its file or cell."""
        return self.places[number - 1][1] if 0 < number <= len(self.places) else number

    def read(self, example: Example, expected: Expected | None = None) -> Answer:
        """Return the content of an example; without a key, including given matrices."""
        if expected is None and example[:2] in self._read:
            return self._read[example[:2]]
        own = "\n".join(self.lines[example.first - 1 : example.last])
        if expected is not None:
            found = read_text_answer(own, self.place, replace(expected, has_map=False))
        else:
            with names_at_hand(GIVEN_NAMES, GIVEN_NAMES):
                found = read_text_answer(own, self.place, Expected(has_map=False))
        count = example.last - example.first + 1
        kept = {
            name: each
            for name, each in found.matrices.items()
            if expected is None or not _is_input(name, each, expected)
        }
        found = replace(found, matrices=kept)
        made = renumbered(found, range(example.first, example.first + count))
        if expected is None:
            self._read[example[:2]] = made
        return made

    def examples(self) -> Iterator[Example]:
        """Yield the examples: one begins if a matrix is repeated with other numbers."""
        written = [number for number, line in enumerate(self.lines, start=1) if line.strip()]
        whole = Example(min(written), max(written), {}, frozenset())
        answer = self.read(whole)
        later = () if self.is_page else _starts(answer)
        starts = [whole.first, *(line for line in later if line > whole.first)]
        known: dict[str, WrittenMatrix] = {}
        ends = [*starts[1:], whole.last + 1]
        for first, after in islice(zip(starts, ends, strict=True), MOST_EXAMPLES):
            part = whole._replace(first=first, last=after - 1)
            answer = answer if len(starts) == 1 else self.read(part)
            text = "\n".join(self.lines[part.first - 1 : part.last])
            found = _with_inputs(_with_equal(answer.matrices, text), answer.unread)
            own = {n: _whole(n, each) for n, each in found.items() if not _is_one_score(n, each)}
            begins = min((_begins(name) for name in own), default=len(IN_ORDER))
            known = {name: each for name, each in known.items() if name not in IN_ORDER[begins:]}
            known |= own
            yield part._replace(matrices=dict(known), own=frozenset(own))


def _with_prints(lines: list[str]) -> list[str]:
    """Return lines in which several printed arrays follow their names.

    >>> _with_prints(["print(Q)", "print(K)", "[[1 0]", " [0 1]]", "[[2 2]]"])
    ['print(Q)', 'print(K)', 'Q = [[1 0]', ' [0 1]]', 'K = [[2 2]]']
    """
    names: list[str] = []
    starts: list[int] = []
    for i, line in enumerate([*lines, "end"]):
        printed = _PRINTED.fullmatch(line)
        if starts and (printed or (line[:1].isalpha() and not _ARRAY.match(line))):
            if len(names) == len(starts) > 1:
                for name, at in zip(names, starts, strict=True):
                    lines[at] = f"{name} = {lines[at]}"
            names, starts = [], []
        if printed:
            names.append(printed[1])
        elif names and _ARRAY.match(line):
            starts.append(i)
    return lines


def lessons_in(place: str) -> list[str]:
    """Return the lessons in a folder, or the one file that is named."""
    if not is_folder(Path(place)):
        return [place]
    remember(Path(place), ENDINGS)
    inside = [each for each in list_folder(Path(place)) if each.suffix.lower() in ENDINGS]
    if not inside:
        raise InputError(f"{place}: no lesson in it: their names end in {', '.join(ENDINGS)}")
    return [*map(str, inside)]


def read_lesson(place: str, data: bytes) -> Lesson:
    """Return the lesson in a document: Markdown, LaTeX, HTML, a notebook, or any text."""
    text = decode(data, place)
    if cells := lines_of_notebook(text):
        return Lesson(place, "\n".join(line for _, line in cells), tuple(at for at, _ in cells))
    if place.lower().endswith(".ipynb"):
        raise InputError(f"{place}: no notebook of Jupyter")
    if is_html(text):
        page = text_of_html(_RAISED.sub(r"^{\1}", text))
        lines = tuple((0, line, False) for line in page.places)
        return Lesson(place, page.text, lines, page.is_own, _rules(text) if page.is_own else ())
    return Lesson(place, text.replace("\r\n", "\n"))


def _with_equal(matrices: Mapping[str, WrittenMatrix], text: str) -> dict[str, WrittenMatrix]:
    """Return matrices, and those that equal them in a text: W_Q = W_K = [1 0; 0 1]."""
    found = dict(matrices)
    for said in _EQUAL.findall(text):
        names = [f"{'W_' * bool(w)}{name.upper()}" for w, name in _PROJECTION.findall(said)]
        for known in [each for each in names if each in matrices][:1]:
            found |= {each: matrices[known] for each in names if each not in matrices}
    return found


def _with_inputs(
    matrices: Mapping[str, WrittenMatrix], unread: Sequence[Unread]
) -> dict[str, WrittenMatrix]:
    """Return matrices, with X, or X1 and X2, where another matrix has the numbers of one.

    Its product with W_Q is Q, that with W_K is K, or that with W_V is V, in most entries.
    """
    found: dict[str, WrittenMatrix] = dict(matrices)
    others = [" ".join(map(str, each.texts.flat)) for name, each in matrices.items()
              if name in ("X", *_RESULTS) and each.texts is not None]  # fmt: skip
    others += [each.text for each in unread]
    inputs: dict[str, str] = {}
    for name in ("Q", "K", "V"):
        made, weights = matrices.get(name), matrices.get(f"W_{name}")
        if made is not None and weights is not None:
            factors = (each for text in others for each in _factors(text, weights, made))
            inputs[name] = max(factors, key=itemgetter(0), default=(0, ""))[1]
    is_one = len({*filter(None, inputs.values())}) == 1
    for name, text in inputs.items():
        entries = [[read_entry(each) for each in row.split()] for row in text.split(";")]
        if text:
            source = "X" if is_one else "X1" if name == "Q" else "X2"
            found.setdefault(source, matrix_of_entries([entries], ""))
    if {"X1", "X2"} <= found.keys():
        found.pop("X", None)
    own = [found[name].values for name in _INPUTS if name in found]
    return {
        name: each
        for name, each in found.items()
        if name not in _RESULTS or not any(np.array_equal(each.values, x) for x in own)
    }


def _factors(text: str, weights: WrittenMatrix, made: WrittenMatrix) -> Iterator[tuple[float, str]]:
    """Yield the matrices in a text whose product with weights is known, after its right share."""
    said = [number for _, number in texts_of_numbers(text)]
    shape = made.shape[-2], weights.shape[-2]
    is_of_shape = made.values.ndim == weights.values.ndim == 2 and made.shape[1] == weights.shape[1]
    if not is_of_shape or len(said) > MOST_NUMBERS:
        return
    for start in range(len(said) - shape[0] * shape[1] + 1):
        own = np.array(said[start : start + shape[0] * shape[1]]).reshape(shape)
        product = own.astype(float) @ weights.values
        near = np.abs(product - made.values) <= 0.51 * 10.0 ** -np.minimum(made.decimals, 9)
        if near.mean() >= MOST_ALIKE:
            yield float(near.mean()), ";".join(map(" ".join, own))


def _is_input(name: str, written: WrittenMatrix, expected: Expected) -> bool:
    """Return whether a matrix read as a result is an input of the example, and not that result."""
    inputs = [matrix for given, matrix in expected.given.items() if given in _INPUTS]
    is_one = any(np.array_equal(written.values, each) for each in inputs)
    return is_one and expected.agreement(name, written.values) < 1


def _is_one_score(name: str, written: WrittenMatrix) -> bool:
    """Return whether scores or weights are one number: "Score: 7.0 of 8" begins no example."""
    return written.values.size == 1 and name.startswith(("S", "A"))


def _whole(name: str, written: WrittenMatrix) -> WrittenMatrix:
    """Return a matrix without heads if heads share it: W_O below a heading "Head 2"."""
    if name not in OF_ALL_HEADS or written.values.ndim != 3:
        return written
    heads = np.flatnonzero(~np.isnan(written.values).all(axis=(1, 2)))
    return written.arranged(lambda each: each[heads[0]]) if len(heads) == 1 else written


def _rules(text: str) -> tuple[str, ...]:
    """Return the conventions of a page of attncalc by which results are not checked here."""
    return tuple(each for each in rules_in(text) if not _CHECKED.match(each))


def _begins(name: str) -> int:
    """Return the first position in the plan whose result a matrix may change."""
    if name in IN_ORDER:  # queries, keys and values are side by side
        return max(IN_ORDER.index(name), IN_ORDER.index("S"))
    return IN_ORDER.index("S_masked") if name in MASKS else 0


def _starts(answer: Answer) -> list[int]:
    """Return the lines where matrices are repeated with other numbers."""
    seen: dict[str, str] = {}
    found, before, begins = [], 0, 0
    place, turn = 0, 0  # in the plan, and the line where it last goes back
    for each in answer.taken:
        if not each.what or each.what == "map":
            begins = begins or each.line  # words between two matrices belong to the second
            continue
        earlier = seen.get(each.what)
        is_row = not _IN_ROWS.search(each.text)
        if each.what in ("Q", "K", "V") and is_row and _IN_ROWS.search(seen.get("X", "")):
            continue  # the vector of one token
        if each.what in _RESULTS:
            back = place > (place := _RESULTS.index(each.what))
            turn = each.line if back and before < each.line else turn
        if earlier is not None and not _are_alike(earlier, each.text) and before < each.line:
            is_later = each.what in _RESULTS and 0 < turn < each.line
            found.append(turn if is_later else begins if before < begins else each.line)
            turn = 0
            seen.clear()
        seen[each.what] = each.text
        before, begins = max(before, each.last), 0
    return found


def _are_alike(one: str, other: str) -> bool:
    """Return whether both texts have the same numbers, rounded or transposed.

    Of written-out arithmetic, only the results count.
    """
    if sorted(numbers_of(one)) == sorted(numbers_of(other)):
        return True
    return any(
        _contains(a, b)
        for a in (numbers_of(one), _results(one))
        for b in (numbers_of(other), _results(other))
    )


def _results(text: str) -> list[float]:
    """Return the numbers behind signs of equality, without those that are calculated with."""
    return [number for each in _RESULT.findall(text) for number in numbers_of(each)]


def _contains(one: Sequence[float], other: Sequence[float]) -> bool:
    """Return whether one ends in the numbers of the other, or has several of them side by side."""
    short, long = sorted((one, other), key=len)
    end = len(long) - len(short)
    starts = range(end + 1) if FEWEST_NUMBERS <= len(short) <= MOST_NUMBERS else (end,)
    return bool(short) and any(all(map(_are_near, short, islice(long, i, None))) for i in starts)


def _are_near(one: float, other: float) -> bool:
    return abs(one - other) <= 0.0051 * max(1, abs(one))


def numbers_of(text: str) -> list[float]:
    """Return the numbers of a text, in order."""
    return [float(number) for _, number in texts_of_numbers(text)]


def texts_of_numbers(text: str) -> list[tuple[str, str]]:
    """Return the numbers of a text as typed, with decimal points, each after the signs before it.

    >>> texts_of_numbers("(2·3) + (0·-1) = 6,5 and 1")
    [('(', '2'), ('·', '3'), (')(', '0'), ('·', '-1'), (')=', '6'), ('', '5'), ('', '1')]
    """
    plain, end = text.replace("−", "-").replace(COMMA, "."), 0
    found = []
    for match in _NUMBER.finditer(plain):
        found.append(("".join(_SIGNS.findall(plain[end : match.start()])), match[0]))
        end = match.end()
    return found


def lines_of(
    lesson: Lesson, answer: Answer, name: str, texts: Sequence[Sequence[str]]
) -> list[int]:
    """Return the line of each entry of a matrix, row by row; none if it is not found.

    Rows are searched in order, each as numbers side by side.
    """
    taken = [each for each in answer.taken if each.what]
    ends = [each.line for each in taken[1:]] + [len(lesson.lines) + 1]
    spans = [
        range(each.line, max(each.last, min(end - 1, each.line + MOST_LINES)) + 1)
        for each, end in zip(taken, ends, strict=True)
        if (_STEP.match(each.what) or [""])[0] == name
    ]
    if not spans:
        return []
    lines = sorted({line for span in spans for line in span if line <= len(lesson.lines)})
    tokens = [(value, line) for line in lines for value in numbers_of(lesson.with_points[line - 1])]
    values, start = [value for value, _ in tokens], 0
    found: list[int] = []
    for row in texts:
        wanted = [numbers_of(text.replace(",", COMMA)) for text in row]
        at = place_of_run(values, [each for entry in wanted for each in entry], start)
        for entry in wanted:
            place = at if entry and at is not None else place_of_run(values, entry, start)
            if place is not None:
                start = place + len(entry)
                at = start if at is not None else None
            line = tokens[place][1] if place is not None else found[-1] if found else spans[0][0]
            found.append(line)
    return found


def place_of_run(values: Sequence[float], wanted: Sequence[float], start: int) -> int | None:
    """Return where the numbers occur side by side."""
    for i in range(start, len(values) - len(wanted) + 1):
        if values[i : i + len(wanted)] == list(wanted):
            return i if wanted else None
    return None
