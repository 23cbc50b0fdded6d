r"""LaTeX as plain text: `\frac{1}{2}` is 1/2, a matrix a grid of cells, `\\` the end of a line.

Macros are expanded first: `\newcommand{\q}{\mathbf{Q}}` replaces each `\q`. Then one pass from
left to right; groups are followed to a limited depth.
"""

import itertools
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from attncalc.reading.plain.marks import BREAK, CELL, JOIN, ROW
from attncalc.reading.words import meanings

DEEPEST = 30
OPEN, CLOSE = "\ue000", "\ue001"
"""Marks around a LaTeX environment that is a matrix; a third mark means that it has no brackets."""
BARE = "\ue005"

_SPECIAL = re.compile(r"[\\{}&%~$]|\n")
_PLAIN_GROUP, _OPTIONS = re.compile(r" *\{([^}]{0,4000})\}"), re.compile(r"\[[^\]\n]{0,80}\]")
_COMMAND = re.compile(r"\\(?:([A-Za-z]+)\*?|(.))", re.DOTALL)
_MATRIX = re.compile(r"(?:[pbBvV]?(?:small)?matrix\*?|array|tabular\*?|tabularx|longtable)$")
_FACTOR = re.compile(
    r"[ \t&]*\\(?:begin|underbrace|overbrace|left|cdot|times|[bB]ig\w?)(?![a-z])"
    r"(?!\{(?:al|ga|sp|eq))"
)
"""The continuation of a product on the next line."""
_DIFFERENTIAL = re.compile(r"\s*+[∂d]\s*+[A-Za-zℒ][\w.,;:^{}()\[\]]{0,30}\s*+")
_DISPLAY = re.compile(
    r"(?:align|alignat|aligned|gather|gathered|equation|split|multline|eqnarray)\*?$"
)
_SIGNS = __package__, "signs.txt"
_WORDS = meanings("commands", _SIGNS) | {
    "quad": "   ", "qquad": "   ", "par": BREAK, "newline": BREAK, "item": BREAK + "- ",
    "in": " ∈ ", "hrulefill": "_____", "dotfill": "_____", "cr": ROW, "textbackslash": "\\",
    "tab": "\t", "colon": ":", "hline": " ", "ifdefined": " ", "else": " ", "fi": " ",
    "begingroup": " ", "endgroup": " ", "sloppy": " ",
}  # fmt: skip
_PASSED_OVER = {command: int(count) for command, count in meanings("groups", _SIGNS).items()}
"""The number of groups behind a command that are not text, such as widths; others may follow."""
_PLAIN_MATRICES = ("matrix", "pmatrix", "bordermatrix")
"""The matrices of plain TeX, in braces and with \\cr between rows."""
_HEADINGS = ("section", "subsection", "subsubsection", "paragraph", "subparagraph", "chapter",
             "title", "intertext", "shortintertext", "caption")  # fmt: skip
ACCENTS = dict(zip("\"'`^~c", "\u0308\u0301\u0300\u0302\u0303\u0327", strict=True))
_SIMPLE = re.compile(r"[\d.\s]*|[A-Z]{1,3}(?:_\w)?(?:\^T)?|√\d+")
"""A number, a matrix or a product of matrices, or a root: it needs no brackets in a fraction."""


_ENUMERATED = re.compile(r"\\item[ \t]{0,3}\[\(?\w{1,4}[.)]\)?\]")
"""An item with its number: \\item[(a)]."""
MOST_MACROS, LONGEST_MACRO, MOST_ARGUMENTS = 100, 60, 4
"""The largest number of macros, of characters of one, and of its arguments."""
MOST_NESTED, MOST_USES = 5, 500
"""How often macros are expanded within others, and how many with arguments are expanded."""
_DEFINED = re.compile(
    r"\\(?:(?:re)?newcommand\*?|providecommand\*?|DeclareMathOperator\*?) ?\{?\\([A-Za-z]{1,30})\}?"
    r" ?(?:\[(\d)\] ?)?\{((?:[^{}]|\{[^{}]{0,60}\}){1,120})\}"
    r"|\\def ?\\([A-Za-z]{1,30}) ?\{((?:[^{}]|\{[^{}]{0,60}\}){1,120})\}"
)
_USED = re.compile(r"\\([A-Za-z]{1,30})")
_PARAMETER = re.compile(r"#(\d)")
_DEEP = r"(?:[^{}]|\{[^{}]{0,400}+\}){0,400}+"
_GROUP = rf"[ \n]{{0,9}}+\{{((?:[^{{}}]|\{{{_DEEP}\}}){{0,4000}}+)\}}"
"""A group in braces, perhaps with others inside."""
_GROUPS = [re.compile(_GROUP * count) for count in range(MOST_ARGUMENTS + 1)]


class Converted(NamedTuple):
    """A text without LaTeX; each line end of the file is a line end, or JOIN, in it."""

    text: str
    faults: list[tuple[int, str]]


def without_tex(text: str) -> Converted:
    r"""Return a text with its LaTeX converted to plain text; other texts are unchanged.

    Examples
    --------
    >>> without_tex(r"S = \frac{QK^\top}{\sqrt{d_k}}").text
    'S = QK^T/(√(d_k))'
    """
    converter = _Converter(_ENUMERATED.sub(r"\\item ", text))
    converter.run()
    return Converted("".join(converter.lines), converter.faults)


class _Converter:
    """Converts a text in one pass; output goes to the innermost group being collected."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.is_tex = "\\" in text
        self.position = 0
        self.line, self.lines_to = 1, 0
        self.out: list[str] = []
        self.lines: list[str] = []
        self.written = 1
        self.faults: list[tuple[int, str]] = []
        self.asides: list[str] = []
        self.depth = self.collecting = 0
        self.missing: set[str] = set()
        self.in_matrix = self.in_display = 0

    def run(self) -> None:
        if not self.is_tex and "$" not in self.text and "%" not in self.text:
            self.lines = [self.text]
            return
        while self.position < len(self.text):
            self._plain()
            self._special()
        self._end_line()

    def _count_lines(self) -> int:
        """Return the line of the file at the position."""
        self.line += self.text.count("\n", self.lines_to, self.position)
        self.lines_to = max(self.lines_to, self.position)
        return self.line

    def _emit(self, text: str) -> None:
        """Write a text, with each line end that was passed over before it as JOIN."""
        self.out.append(text)
        if self.collecting:
            return
        self.written += text.count("\n") + text.count(JOIN)
        if (lost := self._count_lines() - self.written) > 0:
            self.written += lost
            self.out.append(JOIN * lost)
        if text.endswith(("\n", BREAK)):
            self._end_line()

    def _end_line(self) -> None:
        self.lines += [*self.asides, *self.out]
        self.asides, self.out = [], []

    def _plain(self) -> None:
        """Copy the text before the next special character."""
        match = _SPECIAL.search(self.text, self.position)
        stop = match.start() if match else len(self.text)
        if stop > self.position:
            self._emit(self.text[self.position : stop])
        self.position = stop

    def _special(self) -> None:
        """Convert one special character, and the text that belongs to it."""
        character = self.text[self.position : self.position + 1]
        if character == "\\" and self.is_tex:
            self._command()
            return
        self.position += 1
        if character == "\n":
            self._newline()
        elif character == "%":
            self._percent()
        elif character == "{" and self.is_tex:
            self._group()
        else:
            self._emit(self._sign_of(character))

    def _sign_of(self, character: str) -> str:
        """Return the plain text of `&`, `$`, `~`, `{` or `}`."""
        if character == "$":
            return " "
        if character == "&" and self.in_matrix:
            return CELL
        if not self.is_tex:
            return character
        return " " if character in "&~" else ""

    def _newline(self) -> None:
        if self.text.startswith("\n", self.position):
            self.in_display = 0  # an equation does not continue in another paragraph
        goes_on = self.in_display > 0 and _FACTOR.match(self.text, self.position)
        self._emit(JOIN if self.in_matrix or goes_on else "\n")

    def _percent(self) -> None:
        """Copy a percentage; a comment becomes a separate line, or is not read."""
        before = self.text[max(0, self.position - 400) : self.position - 1].rsplit("\n", 1)[-1]
        if before.rstrip()[-1:].isdigit() or not before.strip():
            if before.strip():
                self._emit("%")
            return
        stop = self.text.find("\n", self.position)
        self.position = len(self.text) if stop < 0 else stop

    def _group(self) -> None:
        """Remove the braces of a group; those of an index or of a power stay."""
        before = (self.out[-1] if self.out else "").rstrip()[-1:]
        if before and before in "^_":
            inner = self._argument_after_brace()
            self._emit(inner if inner in ("T", "") else "{" + inner + "}")
        elif 0 < self.depth < DEEPEST:
            self.depth += 1
            self._until_brace()
            self.depth -= 1

    def _command(self) -> None:
        match = _COMMAND.match(self.text, self.position)
        if match is None:
            self.position += 1
            return
        start = self.position
        self.position = match.end()
        name, sign = match.groups()
        if sign is not None:
            self._sign(sign)
        elif name in ("begin", "end"):
            self._environment(name, start)
        elif name in ("frac", "dfrac", "tfrac", "cfrac", "nicefrac", "sfrac"):
            above, below = self._argument(), self._argument()
            mixed = " " if self.out and self.out[-1].rstrip()[-1:].isdigit() else ""
            self._emit(f"{mixed}{_operand(above)}/{_operand(below)}")
        elif name == "sqrt":
            inner = self._argument()
            self._emit(f"√{inner}" if re.fullmatch(r"\d+|\w", inner) else f"√({inner})")
        elif name in _HEADINGS:
            self._emit(f"{BREAK}# {self._argument()}{BREAK}")
        else:
            self._other(name)

    def _other(self, name: str) -> None:
        if name in _PASSED_OVER:
            self._pass_over(_PASSED_OVER[name], takes_command=name.endswith("command"))
        elif name in _PLAIN_MATRICES and self._at("{") and self.depth < DEEPEST:
            self.position += 1
            inner = self._collected(self._until_brace, in_matrix=True)
            self._emit(f"{OPEN}{BARE if name == 'bordermatrix' else ''}{inner}{CLOSE}")
        elif name == "underline" and self._at("{"):
            inner = self._argument()
            self._emit(inner if inner.strip() else "_____")
        elif name in ("underbrace", "overbrace"):
            self._brace()
        elif name in ("left", "right") and self._at("."):
            self.position += 1
        elif name in _WORDS:
            self._emit(_WORDS[name])
            is_letters = _WORDS[name].isalpha() and _WORDS[name].isascii()
            self.position += is_letters and self.text.startswith(" ", self.position)

    def _brace(self) -> None:
        """Convert the content of a brace; a matrix with a name below it is also a line before."""
        inner = self._argument()
        self._emit(inner)
        if self._at("_") or self._at("^"):
            self.position += 1
            name = self._argument().strip(" =")
            if OPEN in inner and any(map(str.isalpha, name)):
                self.asides.append(f"{name} = {inner.replace(JOIN, ' ')}{BREAK}")

    def _pass_over(self, groups: int, *, takes_command: bool) -> None:
        """Skip options, and the given number of groups."""
        for _ in range(2):  # \makebox[width][place]
            self._optional()
        for _ in range(groups):
            self._optional()
            if self._at("{") or (takes_command and self._at("\\")):
                self._argument()

    def _sign(self, sign: str) -> None:
        if sign == "\\":
            self.position += self.text.startswith("*", self.position)
            self._optional()
            self._emit(ROW if self.in_matrix else BREAK)
        elif sign in "()[]":
            self.in_display += {"[": 1, "]": -1}.get(sign, 0)
            self._emit(" " if sign in "()" else BREAK)
        elif sign in ACCENTS and not (sign == "'" and not self._at("{") and self.in_matrix):
            import unicodedata

            letter = self._argument()
            self._emit(unicodedata.normalize("NFC", letter[:1] + ACCENTS[sign]) + letter[1:])
        elif sign in ",;:! ":
            self._emit(" " if sign in ";: " else "")
        elif sign == "\n":
            self._newline()
        else:
            self._emit(sign)

    def _environment(self, which: str, start: int) -> None:
        kind = self._raw_argument()
        if which == "begin" and kind in ("picture", "tikzpicture", "comment"):
            stop = self.text.find(f"\\end{{{kind}}}", self.position)
            self.position = max(self.position, stop)
        if not _MATRIX.match(kind):
            if _DISPLAY.match(kind):
                self.in_display += 1 if which == "begin" else -1
            self._emit(BREAK)
            return
        if which == "end":
            return
        closing = f"\\end{{{kind}}}"
        stop = -1 if closing in self.missing else self.text.find(closing, self.position)
        if stop < 0 or self.depth >= DEEPEST:
            self.missing.add(closing)
            self.faults.append((self._count_lines(), f"\\begin{{{kind}}} is never closed"))
            return
        while self._raw_argument():
            pass
        self._optional()
        inner = self._collected(lambda: self._until(stop), in_matrix=True)
        self.position = max(self.position, stop + len(closing))
        bare = BARE if kind.startswith(("matrix", "array", "tabular", "smallmatrix")) else ""
        self._emit(f"{OPEN}{bare}{inner}{CLOSE}")

    def _until(self, stop: int) -> None:
        while self.position < min(stop, len(self.text)):
            self._plain()
            if self.position < stop:
                self._special()

    def _collected(self, read: Callable[[], None], *, in_matrix: bool = False) -> str:
        """Return what a function writes, without adding it to the text."""
        outer, inside = self.out, self.in_matrix
        self.out, self.in_matrix = [], self.in_matrix + in_matrix
        self.depth += 1
        self.collecting += 1
        read()
        self.depth -= 1
        self.collecting -= 1
        inner = "".join(self.out)
        self.out, self.in_matrix = outer, inside
        return inner

    def _at(self, character: str) -> bool:
        self._skip_blanks()
        return self.text.startswith(character, self.position)

    def _skip_blanks(self) -> None:
        while self.text[self.position : self.position + 1] == " ":
            self.position += 1

    def _raw_argument(self) -> str:
        """Return a group without others, such as the name of an environment; "" for none."""
        match = _PLAIN_GROUP.match(self.text, self.position)
        self.position = match.end() if match else self.position
        return match[1] if match else ""

    def _optional(self) -> None:
        """Skip [options]."""
        if match := _OPTIONS.match(self.text, self.position):
            self.position = match.end()

    def _argument(self) -> str:
        """Return the argument of a command: a group, or a single character."""
        self._skip_blanks()
        if self._at("{"):
            self.position += 1
            return self._argument_after_brace()
        if self._at("\\") and self.depth < DEEPEST:
            return self._collected(self._command)
        character = self.text[self.position : self.position + 1]
        if character == "\n":
            return ""
        self.position += 1
        return character

    def _argument_after_brace(self) -> str:
        if self.depth >= DEEPEST:
            return ""
        return self._collected(self._until_brace).strip()

    def _until_brace(self) -> None:
        while self.position < len(self.text):
            self._plain()
            if self.text.startswith("}", self.position):
                self.position += 1
                return
            if self.text.startswith("\n\n", self.position):
                return  # a group does not continue in another paragraph
            self._special()


def _operand(text: str) -> str:
    """Return the numerator or denominator of a fraction, in brackets unless it is simple."""
    if _DIFFERENTIAL.fullmatch(text):  # ∂L/∂Q is a name, not a quotient
        return "".join(text.split())
    return text.strip() if _SIMPLE.fullmatch(text) and text.strip() else f"({text.strip()})"


def without_macros(text: str) -> str:
    r"""Return a text with the macros that it declares expanded; one may contain another.

    Macros of more than 60 characters, and those with unusual arguments, stay unchanged.

    Examples
    --------
    >>> without_macros(r"\newcommand{\q}{Q}" + "\n" + r"\q = 1")
    '\nQ = 1'
    >>> without_macros(r"\newcommand{\m}[1]{\begin{pmatrix}#1\end{pmatrix}}\m{1&\num{2}}")
    '\\begin{pmatrix}1&\\num{2}\\end{pmatrix}'
    """
    if "\\newcommand" not in text and "\\def" not in text and "\\Declare" not in text:
        return text
    meant: dict[str, tuple[int, str]] = {}
    for match in itertools.islice(_DEFINED.finditer(text), MOST_MACROS):
        name, body = match[1] or match[4], match[3] or match[5]
        count = int(match[2] or 0)
        is_plain = sorted(_PARAMETER.findall(body)) == [str(k + 1) for k in range(count)]
        if len(body) <= LONGEST_MACRO and is_plain and count <= MOST_ARGUMENTS:
            meant[name] = count, body
    text = _DEFINED.sub(lambda match: "\n" * match[0].count("\n"), text)
    bare = {name: body for name, (count, body) in meant.items() if not count}
    text = _USED.sub(lambda match: bare.get(match[1], match[0]), text)
    for _ in range(MOST_NESTED if len(bare) < len(meant) else 0):  # one may contain another
        text = _with_arguments(text, meant)
    return text


def _with_arguments(text: str, meant: Mapping[str, tuple[int, str]]) -> str:
    """Return a text with the macros that take arguments expanded; lines stay lines.

    Each argument is inserted once: a text does not grow beyond its macros.
    """
    pieces, position = list[str](), 0
    for used in _USED.finditer(text):
        count, body = meant.get(used[1], (0, ""))
        given = _GROUPS[count].match(text, used.end()) if count else None
        if given is None or used.start() < position or len(pieces) > 2 * MOST_USES:
            continue
        written = _filled(body, given)
        lines = text.count("\n", used.start(), given.end()) - written.count("\n")
        pieces += [text[position : used.start()], written + "\n" * lines]
        position = given.end()
    return "".join([*pieces, text[position:]])


def _filled(body: str, given: "re.Match[str]") -> str:
    return _PARAMETER.sub(lambda each: given[int(each[1])], body)
