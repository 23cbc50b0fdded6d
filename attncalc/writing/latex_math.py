r"""Expressions in TeX, both for LaTeX with amsmath and for GitHub's markdown.

GitHub processes markdown before mathematics, so punctuation never follows a backslash, or precedes
an underscore. Superscripts come last, as in S_{1,2}^{\mathrm{scaled}}.
"""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from attncalc.base.latex_text import in_latex
from attncalc.equations import expressions as node
from attncalc.problem.gradients.naming import Gradient, gradient_from
from attncalc.writing.mathematics import COMPOUND, OPEN, MathWriter, has_brackets

_NAME = re.compile(
    r"((?:\w+\.)*)([A-Za-z]+)([0-9]*)(?:_([A-Za-z][A-Za-z0-9_]*)|_([0-9][A-Za-z0-9_]*))?"
)
_GREEK = ("alpha", "beta", "gamma", "mu")
_OF_ONE = ("beta", "gamma", "mu", "var", "ms")
"""Matrices of a normalization, with its number as their index."""
_LETTERS = {"ε": r"\varepsilon", "π": r"\pi"}
"""Letters that denote a number."""
_SUBSCRIPTED = ("W", "b", "d", "v")
"""Letters whose index is a subscript: W_Q, b_Q, d_k; that of a later step is a superscript."""
_NEW = "_new"
"""The ending of the names of matrices that are computed again after a gradient step."""
_FUNCTIONS = {
    **{name: rf"\{name}" for name in ("tanh", "sin", "cos", "log")},
    **{"sin, cos": r"\sin, \cos", "Φ": r"\Phi", "φ": r"\varphi"},
    "rope^-1": r"\operatorname{rope}^{-1}",
    **{f"Σ_{what}": rf"\sum_{{\mathrm{{{what}}}}}" for what in ("heads", "keys", "queries")},
}


class Name(NamedTuple):
    """A name in parts: S_scaled, X1, W_1, gamma_2, or 1.Q of a first layer.

    part: its part, such as the 1 of 1.Q.
    number, word: its index.
    mark: a mark of the symbol: "new" for a matrix after a gradient step.
    """

    part: str
    letters: str
    number: str
    word: str
    mark: str = ""

    @classmethod
    def of(cls, name: str) -> "Name":
        r"""Return the parts of any name; one of another kind is a text.

        >>> Name.of("gamma_2")
        Name(part='', letters='\\gamma', number='2', word='', mark='')
        """
        if name.endswith(_NEW):
            return cls.of(name.removesuffix(_NEW))._replace(mark=_NEW[1:])
        match = _NAME.fullmatch(name)
        if match is None:
            return cls("", rf"\text{{{in_latex(name)}}}", "", "")
        part, letters, number, word, index = (
            (each or "").replace("_", ",") for each in match.groups()
        )
        if letters in _OF_ONE and len(word) == 1:  # mu_Q, as mu_1
            index, word = word, ""
        if letters in _GREEK:
            letters = rf"\{letters}"
        return cls(part, letters, number + index, word)

    def upright(self, tex: str) -> str:
        """Return the name in TeX with its letters upright, where it is a word.

        Its scripts are inside: GitHub misreads an underscore after a brace.
        """
        is_word = self.letters.isalpha() and len(self.letters) > 1
        return rf"\mathrm{{{tex}}}" if is_word else tex

    @property
    def scripts(self) -> tuple[str, str]:
        """What is below the letters, and the word above; of W_Q, b_Q and d_k the word is below."""
        is_below = self.letters in _SUBSCRIPTED
        return (self.word if is_below else "") or self.number, "" if is_below else self.word

    def above(self, *words: str, head: object = "", upright: Callable[[str], str] = str) -> str:
        """Return the superscript: its layer and side, words and its mark, its head."""
        parts = filter(None, self.part.split("."))
        places = [f"[{each}]" if each.isdigit() else upright(each) for each in parts]
        said = map(upright, filter(None, (*words, self.mark)))
        return " ".join([*places, *said, *([f"({head})"] if head else [])])

    def raised(self, word: str, head: object) -> str:
        """Return the superscript in TeX, of a word and its head; "" without any."""
        above = self.above(word, head=head, upright=r"\mathrm{{{}}}".format)
        return f"^{{{above}}}" if above else ""


_BETWEEN = {
    "·": r" \cdot ",
    "×": r" \times ",
    "⊙": r" \odot ",
    "": " ",
    ",": ", ",
    "mod": r" \bmod ",
}
"""The signs between factors."""


def _index(text: str) -> str:
    """Return an index, a size or a condition in TeX, without signs that GitHub misreads."""

    def written(found: re.Match[str]) -> str:
        word = found[0]
        return _SIGNS.get(word) or (name_in_tex(word) if "_" in word else word)

    return _WORDS.sub(written, text)


_WORDS = re.compile(r"[^\W\d]\w{0,99}|[%≤≥≠<>*]")
_SIGNS = {
    **{"%": r"\bmod ", "≤": r"\le ", "≥": r"\ge ", "≠": r"\ne "},
    **{"<": r"\lt ", ">": r"\gt ", "*": r"\cdot "},
    **{word: rf"\text{{ {word} }}" for word in ("and", "or", "not", "if", "else")},
}


class TexMath(MathWriter):
    r"""TeX: (1 \cdot 0) + (-1 \cdot 1), \frac{e^{8.50}}{e^{8.50} + e^{8.00}}, Q K^{\top}."""

    forms: Mapping[str, str] = {"quotient": r"\frac{{{}}}{{{}}}", "root": r"\sqrt{{{}}}"}

    def number(self, number: node.Number) -> str:
        r"""Return 1.50, or 1.76 \times 10^{-6}."""
        text = number.text.replace("∞", r"\infty").replace(",", "{,}")
        return rf"{text} \times 10^{{{number.tens}}}" if number.tens else text

    def ratio(self, ratio: node.Ratio) -> str:
        r"""Return \tfrac{5}{2}, or 2\tfrac{1}{2}."""
        sign, whole, top, bottom = ratio.parts
        return rf"{sign}{whole or ''}\tfrac{{{top}}}{{{bottom}}}"

    def symbol(self, symbol: node.Symbol) -> str:
        r"""Return W_Q, S^{\mathrm{scaled}} or X_1."""
        if symbol.name in _LETTERS:
            return _LETTERS[symbol.name]
        return name_in_tex(symbol.name)

    def indexed(self, entry: node.Indexed) -> str:
        r"""Return A_{3,1}, S_{3,1}^{\mathrm{scaled}}, or A_{3,1}^{(2)} for the second head."""
        if (gradient := gradient_from(entry.name)) is not None:
            of = self.indexed(entry._replace(name=gradient.of))
            # on a line, for fractions in many lines would be too close to one another
            return _gradient_in_tex(gradient, rf"\partial L / \partial {of}")
        name = Name.of(entry.name)
        places = [_index(str(each)) for each in entry.place]
        index = f"{name.number};" if name.number else ""
        above = name.raised(name.word, "".join(places[:-2]))
        return name.upright(f"{name.letters}_{{{index}{','.join(places[-2:])}}}{above}")

    def negative(self, negative: node.Negative) -> str:
        """Return -x."""
        written = self.write(negative.term)
        return f"-({written})" if written[0] == "-" else f"-{self._bracketed(negative.term)}"

    def product(self, product: node.Product) -> str:
        r"""Return 2 \cdot 3, S \times 1 or X W_Q."""
        first, *rest = (
            self._bracketed(factor) if isinstance(factor, OPEN) else self.write(factor)
            for factor in product.factors
        )
        sign = _BETWEEN[product.sign]
        if product.sign == "" and first.startswith(r"\mathrm"):
            sign = "~"  # otherwise a word runs into its factor
        return sign.join([first, *(f"{{{each}}}" if each[0] == "-" else each for each in rest)])

    def power(self, power: node.Power) -> str:
        """Return e^{8.50}."""
        match power.exponent:
            case node.Quotient(top, bottom):
                exponent = f"{self._bracketed(top)}/{self._bracketed(bottom)}"
            case node.Ratio(exact):  # a fraction on its own line would be too high
                exponent = str(exact)
            case other:
                exponent = self.write(other)
        base = self._bracketed(power.base)
        if base.startswith("-"):
            base = f"({base})"
        if isinstance(power.base, node.Quotient | node.Root):
            base = rf"\left({base}\right)"
        return f"{base}^{{{exponent}}}"

    def call(self, call: node.Call) -> str:
        r"""Return \tanh(x), or \lVert x \rVert."""
        if call.function == "norm":
            return rf"\lVert {self.write(call.argument)} \rVert"
        is_phrase = " " in call.function
        other = rf"\text{{{call.function}}}" if is_phrase else rf"\operatorname{{{call.function}}}"
        name = _FUNCTIONS.get(call.function, other)
        return rf"{name}\left({self.write(call.argument)}\right)"

    def transposed(self, transposed: node.Transposed) -> str:
        r"""Return K^{\top}."""
        inner = self.write(transposed.matrix)
        if inner.startswith(r"\frac"):
            inner = rf"\left({inner}\right)"
        return rf"{{{inner}}}^{{\top}}"

    def stacked(self, stacked: node.Stacked) -> str:
        r"""Return [past_K; K]."""
        return rf"\left[{'; '.join(map(self.write, stacked.matrices))}\right]"

    def over(self, over: node.Over) -> str:
        r"""Return \sum_{c \lt d_k} Q_{i,c} \cdot K_{j,c}."""
        size = name_in_tex(over.size) if over.size.isidentifier() else _index(over.size)
        under = rf"{over.letter} \lt {size}"
        if over.condition:
            under = rf"{under}, {_index(over.condition)}"
        body = self.write(over.body)
        if has_brackets(over):
            body = rf"\left({body}\right)"
        # what is below a word is inside its braces: GitHub takes an underscore behind one amiss
        if over.function == "Σ":
            return rf"\sum_{{{under}}} {body}"
        return rf"\mathrm{{{over.function}_{{{under}}}}}{body}"

    def entrywise(self, entries: node.Entrywise) -> str:
        r"""Return \left[ … \text{ for each } i,j\right]."""
        return rf"\left[{self.write(entries.body)}\text{{ for each }}{','.join(entries.at)}\right]"

    def where(self, where: node.Where) -> str:
        """Return x if causal, otherwise -∞."""
        is_formula = where.is_formula
        said = rf"}}{_index(where.condition)}\text{{" if is_formula else where.condition
        condition = rf"\text{{ {where.said.replace('…', said)} }}"
        return f"{self.write(where.value)}{condition}{self.write(where.otherwise)}"

    def pieces(self, expression: node.Expression) -> list[str]:
        """Return an expression in parts between which a line may be broken."""
        if isinstance(expression, node.Sum):
            return [self.term(term, first=not place) for place, term in enumerate(expression.terms)]
        if isinstance(expression, node.Quotient) and isinstance(expression.top, node.Sum):
            first, *rest = self.pieces(expression.top)
            rest[-1] += ")"
            return [f"({first}", *rest, *self._divided(expression.bottom)]
        if isinstance(expression, node.Quotient) and isinstance(expression.bottom, node.Sum):
            return [self._bracketed(expression.top), *self._divided(expression.bottom)]
        return [self.write(expression)]

    def _divided(self, bottom: node.Expression) -> list[str]:
        """Return what is behind the top of a quotient, in parts."""
        if not isinstance(bottom, node.Sum):
            return [f"/ {self._bracketed(bottom)}"]
        first, *rest = self.pieces(bottom)
        rest[-1] += ")"
        return [f"/ ({first}", *rest]

    def _bracketed(self, expression: node.Expression) -> str:
        written = self.write(expression)
        if not isinstance(expression, COMPOUND):
            return written
        is_tall = r"\frac" in written
        return rf"\left({written}\right)" if is_tall else f"({written})"


def name_in_tex(name: str, head: int = 0) -> str:
    r"""Return the name of a matrix, or of one head of it.

    >>> name_in_tex("W_Q"), name_in_tex("X1"), name_in_tex("S_scaled", head=2)
    ('W_Q', 'X_1', 'S^{\\mathrm{scaled} (2)}')
    """
    if (gradient := gradient_from(name)) is not None:
        of = name_in_tex(gradient.of, head)
        return _gradient_in_tex(gradient, rf"\frac{{\partial L}}{{\partial {of}}}")
    parts = Name.of(name)
    below, word = parts.scripts
    index = (f"_{below}" if len(below) < 2 else f"_{{{below}}}") * bool(below)
    return parts.upright(parts.letters + index + parts.raised(word, head or ""))


def _gradient_in_tex(gradient: Gradient, whole: str) -> str:
    """Return ∂L/∂Q; of a part of it with the step that it passes through."""
    return rf"{whole} \text{{ via }} {name_in_tex(gradient.by)}" if gradient.by else whole


def in_tex(expression: node.Expression) -> str:
    r"""Return an expression in TeX's mathematics.

    >>> in_tex(node.Quotient(node.Number("1.50"), node.Root(node.Number("2"))))
    '\\frac{1.50}{\\sqrt{2}}'
    """
    return TexMath().write(expression)
