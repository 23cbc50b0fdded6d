"""Untrusted text as LaTeX that typesets its letters, and has no other effect.

pdfTeX supports the letters of western Europe. Other letters are unchanged for XeTeX and LuaTeX, and
a code such as U+732B for pdfTeX: see `LETTERS`.
"""

import re
import unicodedata

from attncalc.base.text import harmless

LETTERS = r"""\ifdefined\Umathchar
  \providecommand{\attncalcletter}[2]{#1}%
\else
  \providecommand{\attncalcletter}[2]{\texttt{U+#2}\allowbreak}%
\fi"""
r"""The definition of `\attncalcletter` for a document; arguments: a letter, its number."""

_ESCAPED = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"{\ttfamily\char34}",
    "'": r"{\ttfamily\char39}",
    "`": r"{\ttfamily\char96}",
}
LONGEST_UNBROKEN = 28
_PIECE = re.compile(r"√([0-9]+|[a-z]_[a-z])(?!\w)|[^\s√]+|√")
"""A root, or a word."""
_JOINING = re.compile(r"-{2,}|,{2,}")
"""Ligatures of fonts: two hyphens become a dash, two commas a quotation mark."""
_LETTERS = {
    "ß": r"\ss{}",
    "æ": r"\ae{}",
    "Æ": r"\AE{}",
    "œ": r"\oe{}",
    "Œ": r"\OE{}",
    "ø": r"\o{}",
    "Ø": r"\O{}",
    "ł": r"\l{}",
    "Ł": r"\L{}",
    "ı": r"\i{}",
    "§": r"\S{}",
    "…": r"\dots{}",
    "–": r"\textendash{}",
    "—": r"\textemdash{}",
    "‘": r"\textquoteleft{}",
    "’": r"\textquoteright{}",
    "“": r"\textquotedblleft{}",
    "”": r"\textquotedblright{}",
    "·": r"\textperiodcentered{}",
    "×": r"\(\times\)",
    "≈": r"\(\approx\)",
    "√": r"\(\surd\)",
    "∞": r"\(\infty\)",
    "−": r"\(-\)",
    "†": r"\textdagger{}",
    "→": r"\(\to\)",
    "ᵀ": r"\({}^{\top}\)",
    "²": r"\({}^{2}\)",
    "‖": r"\(\Vert\)",
    "✗": r"\(\times\)",
    "⏎": r"\(\hookleftarrow\)",
}
_ACCENTS = {
    "\u0300": r"\`",
    "\u0301": r"\'",
    "\u0302": r"\^",
    "\u0303": r"\~",
    "\u0304": r"\=",
    "\u0306": r"\u",
    "\u0307": r"\.",
    "\u0308": r"\"",
    "\u030a": r"\r",
    "\u030b": r"\H",
    "\u030c": r"\v",
    "\u0327": r"\c",
}
_GREEK = (
    " alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau "
    "upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega "
)
_DOTLESS = {"i": r"\i", "j": r"\j"}


def in_latex(text: str) -> str:
    r"""Return text that LaTeX sets as it reads.

    Examples
    --------
    >>> in_latex("50 % of $x_1$, né")
    "50 \\% of \\$x\\_1\\$, n\\'{e}"
    """
    plain = unicodedata.normalize("NFC", harmless(text))
    return _PIECE.sub(lambda found: _root(found) or _word(found[0]), plain)


def _root(found: re.Match[str]) -> str:
    """Return the root of a number or a symbol, as √2 or √d_k, as mathematics has it."""
    return rf"\(\sqrt{{{found[1]}}}\)" if found[1] else ""


def _word(word: str) -> str:
    """Return a word in LaTeX; one of many letters may be broken between any of them."""
    between = r"\allowbreak{}" if len(word) > LONGEST_UNBROKEN else ""
    letters = between.join(_letter(character) for character in word)
    return _JOINING.sub(lambda match: "{}".join(match[0]), letters)


def _letter(character: str) -> str:
    if character in _ESCAPED:
        return _ESCAPED[character]
    if character.isascii():
        return character
    if character in _LETTERS:
        return _LETTERS[character]
    if greek := _greek(character):
        return rf"\(\{greek}\)"
    decomposed = unicodedata.normalize("NFD", character)
    base, accent = decomposed[0], decomposed[1:]
    if accent in _ACCENTS and base.isascii() and base.isalpha():
        return f"{_ACCENTS[accent]}{{{_DOTLESS.get(base, base)}}}"
    return rf"\attncalcletter{{{character}}}{{{ord(character):04X}}}"


def _greek(character: str) -> str:
    """Return TeX's name of a Greek letter, or "" where it has none."""
    kind, _, name = unicodedata.name(character, "").partition(" LETTER ")
    name = name.replace("LAMDA", "LAMBDA").lower()
    name = name.capitalize() if kind == "GREEK CAPITAL" else name
    return name if kind.startswith("GREEK") and f" {name} " in _GREEK else ""
