"""Arithmetic written out in a text: `0·1 + 2·4 = 8`, `softmax(2, 1) = (0.73, 0.27)`.

A line is split at its signs of equality. Sides that are arithmetic are compared with their
neighbors, with the error that the rounding of their numbers allows. Sides with symbols are skipped.
"""

import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import compress, pairwise
from typing import Any, NamedTuple

import numpy as np

from attncalc.base.types import Matrix
from attncalc.equations import rows
from attncalc.equations.evaluate import evaluate
from attncalc.equations.tree import parse
from attncalc.reading.formulas import WORD, Names, Token, tokens_of
from attncalc.reading.plain.valuing import NoValue, Parser

LONGEST_LINE = 2000
MOST_LINES = 20
"""The largest number of lines of a matrix in LaTeX."""
MOST_BEFORE, LONGEST_LIST = 6, 300
"""The most lines, and characters, before a sum in which its terms are."""
NEAR_SUM = 0.1
"""The largest share by which a sum of listed numbers is wrong."""
MOST_TOKENS, MOST_STARTS = 200, 20
"""The largest number of tokens of one side, and of places where its arithmetic may begin."""
NOTHING = ("·", ".", "-")
"""Signs of a table for a number that is 0, or left out."""
FEWEST_EXACT, MOST_DOUBTFUL = 3, 4
"""The fewest right statements by exact numbers, and how many for each doubtful one, for numbers
with fewer decimals than results to be exact."""
TELLING = 3
"""The digits of a right entry that counts twice."""
DUST, DEGREES = 1e-9, 15
CARRIED, MOST_RIGHT = 10, 3
"""The least error of a result of a formula with names, in half units of its last place, and how
many entries it has for each wrong one."""
_THOUSANDS = re.compile(
    r"(?<![\w.,(\[{])[1-9]\d{0,2}(?:(?:,|\{,\}|\\,|[\u202f\u2009\u00a0'’])\d{3}"
    r"|(?:[. ]\d{3}(?=[. ]\d{3})|(?<=\d[. ]\d{3})[. ]\d{3}))+(?!,?\d|\.\d)"
)
_BROKEN = re.compile(
    r"\d\.\d(?!\d\d\b)|(?<!\w)e ?(?:\^|\*\*)|exp|,\d{1,2}(?!\d)|,\}?\d{4}|\{,\}\d{1,2}(?!\d)"
)
"""Thousands, which are separated in integers, and signs of other numbers on a line."""
_SIGN = re.compile(r"(?<![<>!:=≤≥])(=|≈|≃|≅|\\(?:approx|simeq|doteq)(?![A-Za-z]))(?![=>])&?")
_PARTIAL = r"\{ ?(?:\\partial|∂|d) ?((?:[^{}\\]|\{[^{}]{0,9}\}){1,20})\}"
_GREEK = "alpha|beta|gamma|delta|epsilon|eta|theta|lambda|mu|rho|sigma|tau|phi|omega|Delta"
_FUNCTIONS = "sqrt|exp|softmax|tanh|sin|cos|ln|log|max|min|mean|sum|sigmoid|relu"
_TEX = (
    (re.compile(r"(?<=[\w)\]])(?:[ \t]{3}|\t| (?= [A-Za-z(\[√]))(?!\s*[=≈])"), "; "),  # columns
    (re.compile(r"(?<![\\\d])(?<!\d )%.*|\\(?:label|tag|ref|eqref|cite)\{[^{}]{0,60}\}"), " "),
    (re.compile(r"\\begin\{(?:[bpvBV]?(?:small)?matrix|array)\}(?:\{[clr|]{0,20}\})?"), "[["),
    (re.compile(r"(?:\\\\)?\s{0,9}\\end\{(?:[bpvBV]?(?:small)?matrix|array)\}"), "]]"),
    (re.compile(r"\\(?:text|mathrm|operatorname\*?)\{ ?(softmax|exp) ?\}"), r" \1"),
    (re.compile(rf"\\[dtc]?frac{_PARTIAL}{_PARTIAL}"), r" ∂\1/∂\2 "),
    (re.compile(r"\\partial ?"), "∂"),
    (re.compile("\u0302"), "hat"),
    (re.compile(rf"\\(?:var)?({_GREEK})(?![A-Za-z])"), r" \1"),
    (re.compile(r"\b(?:np|torch|jnp|tf)\.(?:as)?(?:array|tensor)(?=\()|(?<=\d)_(?=\d{3})"), ""),
    (re.compile(r"(?<=[\w)\]])\.T\b"), "ᵀ"),
    (re.compile(r"\b(?:np|torch|jnp|tf|math|F)\.log(?=\()"), "ln"),
    (re.compile(rf"\b(?:np|torch|jnp|tf|math|F|nn)\.(?=(?:{_FUNCTIONS})\b)"
                r"|, ?(?:dim|axis|keepdims?) ?= ?[-\w]{1,9}"), ""),
    (re.compile(r"(?<!\\)\\(?:(?:text|mathrm|mathbf|boldsymbol|operatorname\*?|boxed|vec)(?=\{)"
                r"|left|right|[bB]ig+[lr]?|displaystyle|[,;!:> ()\[\]])|[`$]"), " "),
    (re.compile(r"\\(?:begin|end)\{[a-z*]{1,20}\}"), " "),
    (re.compile(r"\\odot(?![A-Za-z])|∘"), "⊙"),
    (re.compile(r"\\(?:cdot|times)(?![A-Za-z])|(?<=[\d)\]]) ?[x×∗⋅✕•] ?(?=[-\d(\[.])"), "·"),
    (re.compile(r"\\q?quad(?![A-Za-z])"), ";"),
    (re.compile(r"\\[dtc]?frac ?(\d) ?(\d)"), r" (\1/\2) "),
    (re.compile(r"\\[dtc]?frac(?![A-Za-z])"), " frac "),
    (re.compile(rf"\\(?=(?:{_FUNCTIONS})(?![A-Za-z]))"), ""),
    (re.compile(r"\^\s?\{?\s?(?:\\(?:top|intercal|mathsf\{T\}|dagger)|[T⊤])\s?\}?(?![A-Za-z])|⊤"),
     "ᵀ"),
    (re.compile(r"\{ ?([\d.]{1,60}) ?\} ?ᵀ|(\([-+\d., ]{3,200}\)) ?ᵀ"), r"\1\2"),  # a dagger
    (re.compile(r"(?<=[\w)\]}])\s?\*\*\s?(?=[-\d(])"), "^"),
    (re.compile(r"\*\*|__(?=[\d\s])"), ""),
    (re.compile(r"(?<![\w*)\]])(?<![\d)\]] )\*([^\W\d_][^*=\n]{0,40})\*(?=[\s:,.])"),
     r"\1"),  # emphasis, and no product
    (re.compile(r"\\l?dots(?![A-Za-z])"), "..."),
    (re.compile(r"\\infty(?![A-Za-z])"), "∞"),
    (re.compile(r"(?<=[\w)\]]) – (?=\S)"), " : "),
    (re.compile(r"[−–]"), "-"),
    (re.compile(r"²"), "^2"),
    (re.compile(r"(?<=\d)\{,\}(?=\d)"), "."),
)  # fmt: skip
UNIT = re.compile(
    r"(?<=[\d)\]]) ?(?:bytes?|bits?|octets?|params|par[aá]m[eè]t\w{1,6}|floats?|tokens?"
    r"|[KMGT]?i?B) ?$",
    re.IGNORECASE,
)
"""The unit of a left side."""
PREFIXES = (*(base**n for base in (1000, 1024) for n in (-3, -2, -1, 1, 2, 3)), 100)
"""By what a unit of one side, as MiB, may divide it."""
_LISTED = re.compile(r"^[\s>]{0,12}(?:(?:[-*•]|\(?\w{1,3}[.)])\s+){0,2}")
_IN_ROWS = re.compile(r"\[\[[^\[\]]{1,2000}\]\]")
_PIECE = re.compile(r"\\\\|[^()\[\]{};|\\]{1,2000}|.")
_NUMBERS = re.compile(r"\[([-+\d.,; ]{1,200})\]|\((-?\d[\d.]*(?: {1,3}-?\d[\d.]*)+)\)")
_SUM = r"(?:row |line )?(?:sums?|totals?|summen?|sommes?|sumas?|somas?|somm[ae]|som|Σ|∑|Z)"
_SUMMED = re.compile(
    r"[(\[]([-+\d.,; ]{3,200})[)\]][ ,;:$]{0,4}(?:(?:with|and|their|mit|et|con|com) )?"
    rf"{_SUM}\b(?: (?:is|are|to|of|ist|est|es|è|é))?[ $=:]{{1,4}}"
    r"(\d{1,9}(?:\.\d{1,9})?)(?!\.?\w)",
    re.IGNORECASE,
)
"""Numbers in brackets, and their sum: (0.70, 8.34, 4.11), sum 13.15."""
_SUM_SAID = re.compile(
    rf"(?:(?<![^\W\d_]){_SUM}\b|[总總]和|合计|之和)[^\d\n.;=+]{{0,15}}=?[ $]{{0,3}}"
    r"(-?\d{1,9}\.\d{1,9})(?!\.?\w)(?![ $]{0,3}[-+*/·=])",
    re.IGNORECASE,
)
"""A sum that words name: with sum 7.1058, The sum is 5.48."""
_LIST = re.compile(
    r"((?<![\w.^])\d[\d.]{0,18}"
    r"(?:[ $]{0,3}(?:[,、;]{1,2}|,? ?\b(?:and|und|et|y|e|と|和)\b)[ $]{0,3}\d[\d.]{0,18})+)"
    r"[^\d=]{0,40}$"
)
"""Numbers of a sentence, up to the name of their sum."""
_RESULTS = re.compile(r"= ?\$?(\d{1,9}(?:\.\d{1,9})?)(?!\.?\w)(?![ $]{0,3}[-+*/·=^])")
_OF_SUMS = re.compile(rf"[\W_]*{_SUM}(?: of (?:the )?rows?)?[\W_]*", re.IGNORECASE)
_BRACES = re.compile(r"(?<=\^)\{ ?(-?[\d.]+) ?\}")
_FRACTION = re.compile(r"frac \{([^{}]{1,200})\} ?\{([^{}]{1,200})\}")
_ANY = re.compile(r"[-+]?(?:\d{1,12}(?:\.\d{1,12})?|\.\d{1,12})(?!\.?\w)")
_DECIMAL = re.compile(r"[-+]?(?:\d{0,9}\.\d{1,15}|\d{4,15})")
_DIGITS = re.compile(r"[\d.]")
ZEROS = re.compile(r"^\D*[0.]*|\D")
"""What is no significant digit of a number."""
_PADDED = re.compile(r"\d{1,9}\.\d{0,9}0\b")
"""A rounded number that ends in 0."""


def _function(name: str) -> Callable[[Any], Any]:
    """Return a function of equations, of a number or of each entry."""
    equation = parse(f"y[i] = {name}(x[i])")

    def of_each(x: Any) -> Matrix:
        entries = {"x": np.ravel(np.asarray(x, dtype=np.float64))}
        return evaluate(equation, entries).reshape(np.shape(x))

    return of_each


_NAMED: dict[str, Callable[[Any], Any]] = {
    **{"exp": np.exp, "sqrt": np.sqrt, "√": np.sqrt, "tanh": np.tanh},
    **{"sin": lambda x: np.sin(_radians(x)), "cos": lambda x: np.cos(_radians(x))},
    **{"ln": np.log, "log": np.log, "max": np.max, "min": np.min},
    **{name: _function(name) for name in ("relu", "sigmoid")},
    **{"sum": lambda x: np.sum(_vector(x)), "mean": lambda x: np.mean(_vector(x))},
    "softmax": lambda scores: rows.softmax(np.asarray(scores, dtype=np.float64)),
}
_CALLED = "tan avg norm concat det rank"
_SPOKEN = "frac minus plus times over by half twice of mod"
_NO_WORDS = frozenset({*_CALLED.split(), *_SPOKEN.split(), *_NAMED})
"""Words that make what follows them a part of more arithmetic."""
_MEANT = frozenset({*_NAMED, "e", "frac"})
_OPERATES = _MEANT | {*"+-*·⊙/^@ᵀ"}
_OPERATORS = ("+", "*", "·", "⊙", "/", "^")
_LETTERS = "aàeéyoи"
"""Words of one letter."""
_CLOSING = {"(": ")", "[": "]", "{": "}"}


class _Arithmetic(Parser):
    """Arithmetic of numbers, vectors and matrices."""

    def product(self) -> Any:
        """Return a product; side by side, vectors and matrices are multiplied as matrices."""
        value = self.signed()
        while True:
            at = self.position
            if self.next in (*"·*⊙@", "/"):
                sign = self.take()
                other = self.signed()
                value = value / _scalar(other) if sign == "/" else _times(value, other, sign)
            elif self.next and (self.next in "([{√e" or self.next in (*_NAMED, "frac")):
                try:
                    value = _times(value, self.power(), "")
                except NoValue:  # words in parentheses
                    self.position = at
                    return value
            elif self.next == "%":
                self.take()
                value = value / 100
            else:
                return value

    def power(self) -> Any:
        """Return a power, or a transposed matrix."""
        value = self.atom()
        while self.next in ("^", "ᵀ"):
            if self.take() == "ᵀ":
                value = np.transpose(value) if np.ndim(value) > 1 else np.atleast_2d(value)
            else:
                raised = self._deeper(self.signed)
                is_e = np.ndim(value) == 0 and value == np.e  # of each entry
                value = _NAMED["exp"](raised) if is_e else _scalar(value) ** _scalar(raised)
        return value

    def atom(self) -> Any:
        """Return a number, what is in brackets, or the result of a function."""
        token = self.take()
        if token in _CLOSING:
            return self._inside(token)
        if token == "e" and self.next == "^":  # and no word
            return np.e
        if token == "frac":
            above = self._deeper(self.atom)
            return above / _scalar(self._deeper(self.atom))
        if token in _NAMED:
            return _NAMED[token](self._deeper(self.atom))
        if token == "∞":
            return np.inf
        if not any(map(str.isdigit, token)):
            raise NoValue
        return float(token.rstrip(".…"))

    def _inside(self, opening: str) -> Any:
        """Return the value in parentheses, or a vector of several; [5] is a vector too."""
        values = [self._deeper(self.sum)]
        while self.next == ",":
            self.take()
            values.append(self._deeper(self.sum))
        if self.take() != _CLOSING[opening]:
            raise NoValue
        return np.array(values) if len(values) > 1 or opening == "[" else values[0]


def _radians(value: Any) -> Any:
    if np.size(value) == 1 and abs(value) >= DEGREES and value % DEGREES == 0:
        raise NoValue  # they may be degrees
    return value


def _vector(value: Any) -> Any:
    if np.ndim(value) != 1:
        raise NoValue  # by row or by column
    return value


def _scalar(value: Any) -> Any:
    if np.ndim(value):
        raise NoValue
    return value


def _times(one: Any, other: Any, sign: str) -> Any:
    """Return the product of numbers, vectors (their dot product) or matrices."""
    if not np.ndim(one) or not np.ndim(other):
        return one * other
    one, other = (np.asarray(each, dtype=np.float64) for each in (one, other))
    if sign == "⊙" or (sign == "*" and one.ndim + other.ndim < 4):
        return one * other
    if sign == "*":  # by entry in some languages
        raise NoValue
    if one.ndim == 2 and one.shape[1] != len(other) and other.ndim == 1:
        other = other[np.newaxis]  # a column times a row
    elif one.ndim == 1 and other.ndim == 2 and len(other) == 1:
        one = one[:, np.newaxis]
    return one @ other


class Sum(NamedTuple):
    """A statement of arithmetic, or one wrong entry of it.

    line, last: its first and last line.
    text: its left side.
    value: the value of the left side, or of one of its entries.
    result: the right side, or one of its entries, as typed.
    is_right: whether rounded numbers can give the result.
    entry: the place of the result in a vector, or in a matrix by rows.
    of: the numbers of names in its left side.
    """

    line: int
    last: int
    text: str
    value: float
    result: str
    is_right: bool
    entry: int = 0
    of: frozenset[str] = frozenset()

    @property
    def manner(self) -> str:
        """The left side without the numbers of names: s h_ for s h_2."""
        return _DIGITS.sub("", self.text)

    @property
    def right(self) -> str:
        """The right result, with as many decimals as the one printed."""
        is_number = re.fullmatch(r"[-+]?[\d.]+", self.result)
        decimals = len(self.result.partition(".")[2])
        return f"{self.value:.{decimals}f}" if is_number else f"{self.value:.4g}"


class _Side(NamedTuple):
    """A part of a side that is arithmetic: its tokens, text and value.

    is_doubtful: whether it has names, or a logarithm of an unknown base.
    """

    tokens: tuple[Token, ...]
    text: str
    value: Matrix
    is_doubtful: bool = False

    @property
    def operates(self) -> bool:
        """Whether it is more than one number, or one vector."""
        found = [each.text for each in self.tokens]
        return not _OPERATES.isdisjoint(found[1:] if found[0] in "+-" else found) or bool(
            re.search(r"[)\]}]\s?[(\[{]", self.text)
        )

    @property
    def has_function(self) -> bool:
        """Whether it has exponents, roots, or other functions."""
        return not _MEANT.isdisjoint(each.text for each in self.tokens)

    @property
    def is_literal(self) -> bool:
        """Whether it is a number, vector or matrix as such."""
        before = ("(", *(each.text for each in self.tokens))
        signs = (text for text, each in zip(before, self.tokens, strict=False)
                 if each.text in "+-" and text not in "([{,")  # fmt: skip
        kinds = all(each.kind == "number" or each.text in "+-()[]{},%" for each in self.tokens)
        return kinds and not any(signs)

    @property
    def numbers(self) -> tuple[str, ...]:
        """Its numbers with their signs; their order is that of its entries."""
        texts = [each.text for each in self.tokens]
        return tuple(
            f"{'-' if i and texts[i - 1] == '-' else ''}{each.text}"
            for i, each in enumerate(self.tokens)
            if each.kind == "number"
        )


class _Stated(NamedTuple):
    """A statement: its lines, the readings of its left side, its sign, and its right side.

    usual: the left sides, without numbers, of right statements with names.
    """

    line: int
    last: int
    lefts: list[_Side]
    sign: str
    right: _Side
    usual: Container[str] = ()

    @property
    def is_doubtful(self) -> bool:
        """Whether its left side has names."""
        return bool(self.lefts) and self.lefts[0].is_doubtful


_Line = tuple[int, int, str]
"""A text with the numbers of its first and last line."""


def sums_in(lines: Sequence[str]) -> Iterator[Sum]:
    """Yield the statements of arithmetic in each line.

    >>> [(each.text, each.is_right) for each in sums_in(["q1·k1 = 1·0 + 2·4 = 9"])]
    [('1·0 + 2·4', False)]
    """
    stated = [*_statements(_whole_lines(lines)), *_statements(_summed(lines))]
    named = (_compared(each, (), strict=0) for each in stated if each.is_doubtful)
    usual = frozenset(one.manner for each in named for one in each if one.is_right)
    stated = [each._replace(usual=usual) for each in stated]
    padded = frozenset(each for line in lines for each in _PADDED.findall(line[:LONGEST_LINE]))
    ways = ([_compared(each, padded, strict=way) for each in stated] for way in range(3))
    loose, strict, strictest = ways
    functions = [bool(each.lefts and each.lefts[0].has_function) for each in stated]
    chosen = strict if _are_exact(loose, strict) else loose
    own = [[*compress(each, functions)] for each in (loose, strictest)]
    is_exact = _are_exact(*own)
    for made, other in zip(chosen, strictest, strict=True):
        right = not made or made[0].is_right
        is_wrong = is_exact and right and other and not other[0].is_right
        yield from other if is_wrong and is_sure(other, 1) else made


def _are_exact(loose: Sequence[list[Sum]], strict: Sequence[list[Sum]]) -> bool:
    """Return whether nearly all right statements are right by exact numbers."""
    pairs = [(a, b[0]) for a, b in zip(loose, strict, strict=True) if a and a[0].is_right and b]
    told = sum(_told(each) for _, each in pairs if each.is_right)
    return told >= max(FEWEST_EXACT, MOST_DOUBTFUL * sum(not each.is_right for _, each in pairs))


def _told(one: Sum) -> int:
    """Return how many decimals of a result tell that its numbers are exact; 1 for a vector."""
    numbers = [_decimals(each) for each in _ANY.findall(one.text)]
    return max(1, _decimals(one.result) - max(numbers, default=0))


def _summed(lines: Sequence[str]) -> Iterator[_Line]:
    """Yield numbers with the sum that a sentence states for them, as statements."""
    for number, line in enumerate(lines, start=1):
        if len(line) > LONGEST_LINE:
            continue
        bracketed = [*_SUMMED.finditer(plain(line))]
        for match in bracketed:
            numbers = _ANY.findall(match[1])
            yield number, number, f"{' + '.join(numbers)} = {match[2]}"
        if not bracketed:
            yield from _said(lines[max(0, number - MOST_BEFORE) : number], number)


def _said(lines: Sequence[str], number: int) -> Iterator[_Line]:
    """Yield the wrong sums that words name on the last line.

    Its terms are listed directly before it; or they are the results before it, and the sum is the
    right one with a misprint.
    """
    before = "\n".join(map(plain, lines[:-1]))
    text = f"{before}\n{plain(lines[-1])}"
    for match in _SUM_SAID.finditer(text, len(before)):
        said, listed = match[1], _LIST.search(text[: match.start()][-LONGEST_LIST:])
        results = _RESULTS.findall(text[: match.start()])
        ways = [_ANY.findall(listed[1])] if listed else []
        ways += [results[-count:] for count in range(2, len(results) + 1)]
        totals = [sum(map(float, way)) for way in ways]
        room = [(len(way) + 1) * half_unit(said) + DUST for way in ways]
        off = [abs(total - float(said)) for total in totals]
        if _decimals(said) < 2 or any(a <= b for a, b in zip(off, room, strict=True)):
            continue
        for place, (way, total) in enumerate(zip(ways, totals, strict=True)):
            is_listed = bool(listed) and not place and off[0] < NEAR_SUM * total
            is_swapped = any(abs(float(e) - total) <= room[place] for e in misprints(said))
            if is_listed or is_swapped or is_misprint(said, total):
                yield number, number, f"{' + '.join(way)} = {said}"
                break


def _statements(lines: Iterable[_Line]) -> Iterator[_Stated]:
    """Yield each right side with the readings of the side before it."""
    before: list[_Side] = []
    is_open = False  # the line before ends in an operator
    names, labels = Names(_NO_WORDS | _MEANT), list[str]()
    for number, last, line in lines:
        if len(line) > LONGEST_LINE or not ("=" in line or any(map(str.isdecimal, line))):
            before, is_open = [], False
            continue
        names.row(line)
        for part in _parts(plain(line)):
            first, *others = (UNIT.sub("", e) for e in _SIGN.split(_LISTED.sub("", part)))
            tokens, is_next = tokens_of(first), bool(others) and not first.strip()
            lefts = before if is_next else _readings(tokens, first, names)
            labels = labels if is_next else names.labels([], tokens)
            if is_open or first.lstrip()[:1] in _OPERATORS:
                lefts = []
            for sign, text in zip(others[::2], others[1::2], strict=True):
                tokens = tokens_of(text)
                if (right := _beginning(tokens, text)) is not None:
                    lefts = _named(right, lefts, labels, names) if right.is_literal else lefts
                    yield _Stated(number, last, lefts, sign, right)
                if right is None or not right.is_literal:
                    names.define(labels, tokens, text)
                labels = names.labels([] if right and right.is_literal else labels, tokens)
                lefts = _readings(tokens, text, names)
            before, is_open = lefts, part.rstrip()[-1:] in _OPERATORS


def _named(right: _Side, lefts: list[_Side], labels: Sequence[str], names: Names) -> list[_Side]:
    """Return the readings of the side before a number, after it is kept for its names.

    They are those of the formula of these names if the side is only a name. If they are not the
    number, they are kept, too: what follows from either is right.
    """
    if not any(each.operates for each in lefts):
        lefts = [*_by_formula(labels, names)]
    for left in lefts[:1]:
        names.keep(labels, tokens_of(_repaired(left, right)))
    names.keep(labels, right.tokens)
    return lefts


def _by_formula(labels: Sequence[str], names: Names) -> Iterator[_Side]:
    """Yield the readings of the formulas that the text states for names."""
    for tokens, text in (names.defined[each] for each in labels if each in names.defined):
        for one in _readings(tokens, text, names):
            if one.is_doubtful and one.tokens[0].start == tokens[0].start:
                yield one


def _readings(tokens: list[Token], text: str, names: Names) -> list[_Side]:
    """Return the readings of the end of a side; if it has names, with their latest numbers."""
    if plain := _ends(tokens, text):
        return plain
    return [
        one._replace(is_doubtful=True)
        for each in names.filled(tokens)
        for one in _ends(each, text)[:1]
        if names.begins_apart(each[: len(each) - len(one.tokens)])
    ]


def _repaired(left: _Side, right: _Side) -> str:
    """Return a result as printed, but with the right numbers where it is wrong."""
    a, b = np.squeeze(left.value), np.squeeze(right.value)
    if a.shape != b.shape:
        return right.text
    count = max(map(_decimals, right.numbers))
    is_wrong = np.abs(a - b) > 10.0**-count
    return str(np.where(is_wrong, np.round(a, count), b).tolist())


def _whole_lines(lines: Sequence[str]) -> Iterator[_Line]:
    """Yield lines with their first and last numbers; the lines of a matrix in LaTeX are one."""
    number = 0
    while number < len(lines):
        line, count = lines[number], 1
        while (
            line.count(r"\begin{") > line.count(r"\end{")
            and "matrix" in line
            and count < MOST_LINES
            and number + count < len(lines)
        ):
            line, count = f"{line} {lines[number + count]}", count + 1
        yield number + 1, number + count, line
        number += count


def plain(line: str) -> str:
    """Return a line without LaTeX, its matrices in brackets."""
    if not _BROKEN.search(line):
        line = _THOUSANDS.sub(lambda m: re.sub(r"\D", "", m[0]), line)
    for pattern, plain in _TEX:
        line = pattern.sub(plain, line)
    line = _IN_ROWS.sub(lambda m: m[0].replace("&", ",").replace("\\\\", "],["), line)
    return _NUMBERS.sub(_with_commas, line).replace("&", " ")


def _parts(line: str) -> Iterator[str]:
    """Yield the parts of a line: of a table, or separated by semicolons outside of brackets."""
    depth, part = 0, ""
    for piece in _PIECE.findall(line):
        depth = max(0, depth + (piece in "([{") - (piece in ")]}"))
        if piece in ("|", "\\\\") or (piece == ";" and not depth):
            yield from [part] if part.strip() else []
            part = ""
        else:
            part += "," if piece == ";" else piece
    yield from [part] if part.strip() else []


def _with_commas(numbers: re.Match[str]) -> str:
    """Return a vector, or rows, of numbers separated by spaces as one separated by commas."""
    rows_ = [row.replace(",", " ").split() for row in (numbers[1] or numbers[2]).split(";")]
    if any(not each[-1].isdigit() for row in rows_ for each in row):
        return numbers[0]
    inside = [", ".join(row) for row in rows_]
    return f"[{', '.join(f'[{row}]' for row in inside) if len(rows_) > 1 else inside[0]}]"


def _ends(tokens: list[Token], text: str) -> list[_Side]:
    """Return the readings of the end of a side, the longest first."""
    depth, starts = 0, []
    for i in range(len(tokens) - 1, max(-1, len(tokens) - 1 - MOST_TOKENS), -1):
        each = tokens[i]
        if each.kind == "other" or (each.kind == "name" and each.text not in _MEANT):
            break
        depth += (each.text in ")]}") - (each.text in "([{")
        if depth < 0:
            break
        if depth == 0 and _is_apart(tokens, i, text):
            starts.append(i)
    found = (_side(tokens[i:], text) for i in starts[: -MOST_STARTS - 1 : -1])
    return [each for each in found if each is not None]


def _is_apart(tokens: list[Token], i: int, text: str) -> bool:
    """Return whether arithmetic may begin at a token: no operator or symbol is before it."""
    first = tokens[i]
    if first.text in "+-" and text[first.end : first.end + 1] == " ":
        return False
    if first.text in ")]}*·⊙/^,@ᵀ%" or not i:
        return not i
    last = tokens[i - 1]
    is_spaced = text[last.end : last.end + 1] == " " or text[first.start - 1] == " "
    if last.kind == "name" and first.text in "([" and last.end == first.start:
        return False  # an index, scores[0][2], or the argument of a function
    if last.text in _LETTERS and i > 1 and is_spaced and WORD.fullmatch(tokens[i - 2].text):
        return first.kind == "number" or last.text in "àéи"  # a word of one letter
    if last.kind == "name":
        is_list = last.text in ("sum", "mean", "max", "min") and first.kind == "number"
        return bool(WORD.fullmatch(last.text)) and (is_list or last.text.lower() not in _NO_WORDS)
    if last.text == "-":
        before = [each.kind for each in tokens[max(0, i - 3) : i - 1]]
        is_term = before in (["number"], ["sign", "number"])
        return is_spaced and text[last.start - 1 : last.start] == " " and not is_term
    return is_spaced and last.text in ",:;.!?→⇒\"'"


def _beginning(tokens: list[Token], text: str) -> _Side | None:
    """Return the arithmetic at the beginning of a side; None if it continues in symbols."""
    if not tokens or len(tokens) > MOST_TOKENS:
        return None
    parser = _Arithmetic([each.text for each in tokens])
    try:
        parser.sum()
    except (NoValue, OverflowError, ZeroDivisionError, ValueError):
        return None
    count = parser.position
    if count < len(tokens):
        after = tokens[count]
        is_spaced = after.end == len(text) or text[after.end] in " )]}*_\"'"
        is_word = bool(WORD.fullmatch(after.text)) and after.text.lower() not in _NO_WORDS
        is_word |= after.text in _LETTERS and "number" in [e.kind for e in tokens[count + 1 :][:1]]
        is_end = after.text in ")]}#(" or (after.text in ",;.:!?" and is_spaced)
        if not (is_word or is_end or (after.text == "-" and text[after.end :][:1] == "-")):
            return None
    return _side(tokens[:count], text)


def _side(tokens: list[Token], text: str) -> _Side | None:
    """Return the value of all tokens; None if they are no arithmetic."""
    value = _value([each.text for each in tokens])
    if value is None:
        return None
    shown = _BRACES.sub(r"\1", text[tokens[0].start : tokens[-1].end].strip())
    for _ in range(2):
        shown = _FRACTION.sub(_over, shown)
    return _Side(tuple(tokens), shown, value, any(each.text == "log" for each in tokens))


def _over(fraction: re.Match[str]) -> str:
    parts = [
        f"({each})" if re.search(r"[-+]", each) else each.strip() for each in fraction.groups()
    ]
    return "/".join(parts)


def _value(texts: Sequence[str]) -> Matrix | None:
    try:
        with np.errstate(all="ignore"):
            value = np.asarray(_Arithmetic([*texts]).whole(), dtype=np.float64)
    except (NoValue, OverflowError, ZeroDivisionError, ValueError, TypeError):
        return None
    return value if value.size and np.isfinite(value).all() else None


def _compared(stated: _Stated, padded: Container[str], *, strict: int) -> list[Sum]:
    """Return that a statement is right, or its wrong entries; [] if it states nothing.

    It is wrong if no reading of the left side gives the right side.
    """
    made = [*filter(None, (_by_reading(stated, left, padded, strict) for left in stated.lefts))]
    wrong = next((each for each in made if each[0].is_right), made[0] if made else [])
    if not wrong or wrong[0].is_right or not stated.is_doubtful:
        return wrong
    always = set.intersection(*({one.entry for one in each} for each in made))
    best = min(made, key=len)
    off = {one.entry for one in best}
    right = [each for i, each in enumerate(stated.right.numbers) if i not in off]
    telling = sum(len(ZEROS.sub("", each)) >= TELLING for each in right)
    telling += MOST_RIGHT * (best[0].manner in stated.usual)
    sure = is_sure(best, stated.right.value.size + telling)
    return [one for one in best if one.entry in always] if sure else []


def _by_reading(stated: _Stated, left: _Side, padded: Container[str], strict: int) -> list[Sum]:
    right, is_equal = stated.right, stated.sign == "="
    a, b = np.squeeze(left.value), np.squeeze(right.value)
    if a.shape != b.shape or not (left.operates or (not is_equal and "." in left.text)):
        return []
    exact = _exact(left, right, strict)
    own_slack = _slack(left, exact, padded)
    stated_slack = _slack(right, exact, padded, whole=not (is_equal and right.operates))
    slack = own_slack + stated_slack
    off = np.abs(a - b) > slack + DUST * np.maximum(1.0, np.abs(a))
    own = stated.line, stated.last, left.text
    of = frozenset(left.numbers) if left.is_doubtful else frozenset[str]()
    if a.size == 1 and off.any() and _is_in_unit(a, b, own_slack, stated_slack):
        return []
    if not off.any():
        return [Sum(*own, float(a.flat[0]), right.text, is_right=True)]
    numbers = right.numbers
    if len(numbers) != a.size or not right.is_literal:
        numbers = (right.text,) * a.size
    return [
        Sum(*own, float(a.flat[i]), numbers[i].rstrip(".…"), is_right=False, entry=int(i), of=of)
        for i in np.flatnonzero(off)
    ]


def _is_in_unit(value: Matrix, stated: Matrix, slack: Matrix, stated_slack: Matrix) -> bool:
    """Return whether a stated number is a value in another unit, as MiB of bytes."""
    near = np.minimum(slack + abs(value) / 200, abs(value) / 50)
    is_number = bool(abs(stated) > CARRIED * stated_slack)
    return is_number and any(
        bool(abs(value / x - stated) <= stated_slack + near / x) for x in PREFIXES
    )


def is_sure(wrong: Sequence[Sum], count: int) -> bool:
    """Return whether wrong entries, of so many, are misprints, or most entries are right."""
    if not all(_ANY.fullmatch(each.result) for each in wrong):
        return False
    far = all(
        abs(e.value - float(e.result)) > CARRIED * half_unit(e.result)
        or abs(e.value + float(e.result)) < DUST  # the sign is another one
        for e in wrong
    )
    swapped = all(is_misprint(each.result, each.value) for each in wrong)
    return far and (swapped or MOST_RIGHT * len(wrong) <= count)


def _exact(left: _Side, right: _Side, strict: int) -> int:
    """Return the number of decimals below which numbers are exact: 2 for 0.21·1.2 = 0.25.

    The result and rounded numbers have the same decimals; given numbers have fewer. If a document
    is strict, no number with fewer decimals is rounded, but exponents and roots.
    """
    shown = {_decimals(each) for each in right.numbers}
    most = max({_decimals(each) for each in left.numbers}, default=0)
    is_given = strict > left.has_function
    return min(shown) if len(shown) == 1 and (is_given or shown == {most}) else 0


def _slack(side: _Side, exact: int, padded: Container[str], *, whole: bool = False) -> Matrix:
    """Return the largest errors of a side, from the rounding of its numbers.

    Numbers with fewer decimals than `exact` have none, unless they are `padded` with zeros
    elsewhere; nor have whole numbers unless `whole`. Equal texts are one number.
    """
    texts = [each.text for each in side.tokens]
    value = np.squeeze(side.value)
    slack: Matrix = np.zeros(value.shape)
    for each in {text.text for text in side.tokens if text.kind == "number"}:
        is_whole = "." not in each and "e" not in each.lower()
        longer = each + "0" * (0 if whole else exact - _decimals(each))
        if (is_whole and not whole) or (longer != each and longer not in padded):
            continue
        half, ends = half_unit(longer), [0 * value]
        for moved in (half, -half):
            number = repr(float(each.rstrip(".…")) + moved)
            end = _value([number if text == each else text for text in texts])
            ends += [] if end is None else [np.abs(np.squeeze(end) - value)]
        slack = slack + np.maximum.reduce(ends)
    return slack


def _decimals(number: str) -> int:
    return len(number.rstrip(".…").lower().partition("e")[0].partition(".")[2])


def half_unit(number: str) -> float:
    """Return half a unit of the last place of a number as typed; a whole one if it goes on."""
    plain = number.rstrip(".…")
    mantissa, _, power = plain.lower().partition("e")
    half = 0.5 * 10.0 ** (int(power or 0) - _decimals(mantissa))
    return half if plain == number else 2 * half


def is_misprint(found: str, value: float) -> bool:
    """Return whether a number has one other digit, or is a usual misprint: 0.214 for 0.241."""
    meant = f"{value:.{_decimals(found)}f}"
    is_digit = len(found) == len(meant) and sum(map(str.__ne__, found, meant)) == 1
    lost = {meant[:i] + meant[i + 1 :] for i in range(len(meant))} if len(found) > 2 else ()
    near = (abs(float(e) - value) <= half_unit(e) + DUST for e in misprints(found))
    return is_digit or found in lost or any(near)


def misprints(number: str) -> Iterator[str]:
    """Yield a decimal with another sign, with neighboring digits swapped, and with another zero.

    >>> [*misprints("0.12")]
    ['-0.12', '1.02', '0.21', '0.012']
    """
    if not _DECIMAL.fullmatch(number):
        return
    yield number.lstrip("+-") if number.startswith("-") else f"-{number.lstrip('+')}"
    for i, j in pairwise(i for i, digit in enumerate(number) if digit.isdecimal()):
        if number[i] != number[j]:
            yield "".join((number[:i], number[j], number[i + 1 : j], number[i], number[j + 1 :]))
    whole, _, rest = number.partition("0.")
    if rest and whole in ("", "-"):
        yield f"{whole}0.0{rest}"
        if rest[0] == "0" and rest.strip("0"):
            yield f"{whole}0.{rest[1:]}"


def names_sum(heading: str) -> bool:
    """Return whether a heading names a sum."""
    return _OF_SUMS.fullmatch(heading) is not None


@lru_cache(maxsize=4096)
def _read(text: str) -> _Side | None:
    return _side(tokens_of(text), text) if text else None


def bounds(text: str, *, whole: bool = False) -> tuple[float, float]:
    """Return the range of a number, or of arithmetic, whose numbers are rounded.

    It is endless for a vector, or a sign for nothing, and NaN for other text.

    whole: whether whole numbers are rounded, too.
    """
    side = _read(text)
    if side is None or side.value.size > 1:
        return (-np.inf, np.inf) if side or text in NOTHING else (np.nan, np.nan)
    slack = _slack(side, 0, (), whole=whole)
    return float(np.squeeze(side.value) - slack), float(np.squeeze(side.value) + slack)


def compared(line: int, left: str, right: str, strict: int = 0) -> list[Sum]:
    """Return what statement two plain texts make that are arithmetic; [] for others.

    right: a number, or a vector of numbers.
    strict: 2 if all numbers with fewer decimals are exact.
    """
    sides = [side for each in (left, right) if (side := _read(each))]
    if len(sides) < 2 or not sides[1].is_literal:
        return []
    return _compared(_Stated(line, line, sides[:1], "=", sides[1]), (), strict=strict)


def meant_instead(one: Sum) -> Iterator[tuple[str, str]]:
    """Yield the numbers of a wrong statement whose misprint it shows, and what they are meant as.

    >>> (one,) = sums_in(["0.21 + 0.57 = 0.69"])
    >>> [*meant_instead(one)]
    [('0.21', '0.12')]
    """
    for number in dict.fromkeys(_ANY.findall(one.text)):
        for text in misprints(number) if _decimals(number) >= _decimals(one.result) else ():
            made = compared(one.line, one.text.replace(number, text), one.result)
            if made and made[0].is_right:
                yield number, text
