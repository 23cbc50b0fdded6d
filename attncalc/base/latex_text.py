"""Untrusted text as LaTeX that typesets its letters, and has no other effect.

pdfTeX supports the letters of western Europe. Other letters are unchanged for XeTeX and LuaTeX, if
a font has them, and otherwise a code such as U+732B: see `LETTERS`.
"""

import re
import unicodedata

from attncalc.base.text import harmless, of_each

FONTS = r"\ifdefined\Umathchar\usepackage{fontspec}\fi"
r"""What a complete document loads, so that `\attncalcletter` finds other fonts."""
LETTERS = r"""\ifdefined\attncalcletter\else
  \newcommand{\attncalcfirst}{\attncalczh}%
  \newcommand{\attncalccode}[1]{\texttt{U+#1}\allowbreak}%
  \newcommand{\attncalcfont}[3]{\let#1\relax\ifdefined\newfontfamily
    \IfFontExistsTF{#2}{\newfontfamily#1{#2}}{\IfFontExistsTF{#3}{\newfontfamily#1{#3}}{}}\fi}%
  \ifdefined\Umathchar
    \attncalcfont\attncalczh{FandolSong-Regular.otf}{Noto Serif CJK SC}%
    \attncalcfont\attncalcja{HaranoAjiMincho-Regular.otf}{Noto Serif CJK JP}%
    \newcommand{\attncalctry}[4]{{#3\iffontchar\font"#2 #1\else#4\fi}}%
    \newcommand{\attncalcletter}[2]{\ifnum"#2>"3040 \hskip 0pt plus .1em\relax\fi
      \attncalctry{#1}{#2}{}{\attncalctry{#1}{#2}{\attncalcfirst}{%
        \attncalctry{#1}{#2}{\attncalczh}{\attncalctry{#1}{#2}{\attncalcja}{\attncalccode{#2}}}}}}%
  \else
    \newcommand{\attncalcletter}[2]{\attncalccode{#2}}%
  \fi
\fi"""
r"""The definition of `\attncalcletter` for a document; arguments: a letter, its number.

XeTeX and LuaTeX look for it in the font of the text, in that of most letters of the document, and
in fonts of TeX Live or of the system with Chinese and Japanese letters.
"""

LETTER = re.compile(r"\\attncalcletter\{(.)\}\{[0-9A-F]{4,6}\}")
"""A letter that fonts of pdfTeX do not contain."""


CJK = re.compile("[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")
"""A letter of Chinese or Japanese."""


def on_foreign(latex: str) -> tuple[str, ...]:
    """Return the note on letters of a document that pdfLaTeX cannot set, if there are any."""
    letters = sorted(set(LETTER.findall(latex)))
    if not letters:
        return ()
    has_font = FONTS in latex and all(map(CJK.match, letters))
    font = "which loads a font" if has_font else "with a main font that has these letters"
    return (
        f"pdfLaTeX cannot set {of_each(letters)}: it shows codes such as U+{ord(letters[0]):04X}; "
        f"use XeLaTeX or LuaLaTeX, {font}",
    )


def _listed(pairs: str) -> dict[str, str]:
    """Return a mapping from its text: letters, each with its command behind it."""
    words = pairs.split()
    return dict(zip(words[::2], words[1::2], strict=True))


_ESCAPED = _listed(r"""
    \ \textbackslash{}  { \{  } \}  $ \$  & \&  # \#  % \%  _ \_  ^ \textasciicircum{}
    ~ \textasciitilde{}  < \textless{}  > \textgreater{}  | \textbar{}
    " {\ttfamily\char34}  ' {\ttfamily\char39}  ` {\ttfamily\char96}
""")
LONGEST_UNBROKEN = 28
_PIECE = re.compile(r"√([0-9]+|[a-z]_[a-z])(?!\w)|[^\s√]+|√")
"""A root, or a word."""
_APOSTROPHE = re.compile(r"(?<=[^\W\d_])'(?=[^\W\d_])")
"""An apostrophe within a word: l'échelle. Others are quotation marks, which stay straight."""
_JOINING = re.compile(r"-{2,}|,{2,}")
"""Ligatures of fonts: two hyphens become a dash, two commas a quotation mark."""
_LETTERS = _listed(r"""
    ß \ss{}  æ \ae{}  Æ \AE{}  œ \oe{}  Œ \OE{}  ø \o{}  Ø \O{}  ł \l{}  Ł \L{}  ı \i{}  § \S{}
    … \dots{}  – \textendash{}  — \textemdash{}  ‘ \textquoteleft{}  ’ \textquoteright{}
    “ \textquotedblleft{}  ” \textquotedblright{}  · \textperiodcentered{}  † \textdagger{}
    × \(\times\)  ✗ \(\times\)  ≈ \(\approx\)  √ \(\surd\)  ∞ \(\infty\)  − \(-\)  → \(\to\)
    ⏎ \(\hookleftarrow\)  ᵀ \({}^{\top}\)  ² \({}^{2}\)  ‖ \(\Vert\)
""")
_ACCENTS = dict(
    zip(
        "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0327",
        [r"\`", r"\'", r"\^", r"\~", r"\=", r"\u", r"\.", r"\"", r"\r", r"\H", r"\v", r"\c"],
        strict=True,
    )
)
_GREEK = (
    " alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau "
    "upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega "
)
_DOTLESS = {"i": r"\i", "j": r"\j"}


def in_latex(text: str) -> str:
    r"""Return text that LaTeX sets as it reads.

    >>> in_latex("50 % of $x_1$, né")
    "50 \\% of \\$x\\_1\\$, n\\'{e}"
    """
    plain = unicodedata.normalize("NFC", harmless(text))
    return _PIECE.sub(lambda of: rf"\(\sqrt{{{of[1]}}}\)" if of[1] else _word(of[0]), plain)


def _word(word: str) -> str:
    """Return a word in LaTeX; one of many letters may be broken between any of them."""
    between = r"\allowbreak{}" if len(word) > LONGEST_UNBROKEN else ""
    pieces = _APOSTROPHE.split(word)
    letters = "'".join(between.join(map(_letter, piece)) for piece in pieces)
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
