r"""Expressions in TeX's mathematics, for LaTeX with amsmath and for GitHub's markdown alike.

GitHub reads markdown before mathematics: so no backslash stands before punctuation here, and no
underscore after it. Superscripts come last, as in S_{1,2}^{\mathrm{scaled}}.
"""

import re
from typing import NamedTuple

from attncalc.operations.expressions import (
    Call,
    Expression,
    Indexed,
    Negative,
    Number,
    Power,
    Product,
    Quotient,
    Ratio,
    Root,
    Sum,
    Symbol,
    Transposed,
    Where,
)
from attncalc.writing.latex_text import in_latex
from attncalc.writing.mathematics import MathWriter

_NAME = re.compile(r"(?:(\w+)\.)?([A-Za-z]+)([0-9]*)(?:_([A-Za-z]+)|_([0-9]+))?")
_GREEK = ("alpha", "beta", "gamma", "mu")
_SUBSCRIPTED = ("W", "b", "d")
"""Letters whose index is a subscript: W_Q, b_Q, d_k; that of a later step is a superscript."""
_FUNCTIONS = {
    "tanh": r"\tanh",
    "sin": r"\sin",
    "cos": r"\cos",
    "sin, cos": r"\sin, \cos",
}


class _Name(NamedTuple):
    """A name in parts: S_scaled, X1, W_1, gamma_2, or 1.Q of a first layer.

    Parameters
    ----------
    part
        What it is a part of, as the 1 of 1.Q.
    letters
        Its letters, in TeX.
    number, word
        Its index.
    """

    part: str
    letters: str
    number: str
    word: str

    @classmethod
    def of(cls, name: str) -> "_Name":
        """Return the parts of any name; one of another kind is a text."""
        match = _NAME.fullmatch(name)
        if match is None:
            return cls("", rf"\text{{{in_latex(name)}}}", "", "")
        part, letters, number, word, index = (each or "" for each in match.groups())
        if letters in _GREEK:
            letters = rf"\{letters}"
        elif len(letters) > 1:
            letters = rf"\mathrm{{{letters}}}"
        return cls(part, letters, number + index, word)

    def raised(self, word: str, *others: str) -> str:
        """Return what stands above: a word, what it is a part of, which head it is."""
        words = (rf"\mathrm{{{each}}}" for each in (self.part, word) if each)
        above = [*words, *filter(None, others)]
        return f"^{{{' '.join(above)}}}" if above else ""


class TexMath(MathWriter):
    r"""TeX: (1 \cdot 0) + (-1 \cdot 1), \frac{e^{8.50}}{e^{8.50} + e^{8.00}}, Q K^{\top}."""

    def number(self, number: Number) -> str:
        r"""Return 1.50, or 1.76 \times 10^{-6}."""
        text = number.text.replace("∞", r"\infty")
        return rf"{text} \times 10^{{{number.tens}}}" if number.tens else text

    def ratio(self, ratio: Ratio) -> str:
        r"""Return \tfrac{5}{2}, or 2\tfrac{1}{2}."""
        sign, whole, top, bottom = ratio.parts
        return rf"{sign}{whole or ''}\tfrac{{{top}}}{{{bottom}}}"

    def symbol(self, symbol: Symbol) -> str:
        r"""Return W_Q, S^{\mathrm{scaled}} or X_1."""
        return name_in_tex(symbol.name)

    def indexed(self, entry: Indexed) -> str:
        r"""Return A_{3,1}, S_{3,1}^{\mathrm{scaled}}, or A_{3,1}^{(2)} for the second head."""
        name = _Name.of(entry.name)
        *head, row, column = entry.place
        index = f"{name.number};" if name.number else ""
        above = name.raised(name.word, *(f"({each})" for each in head))
        return f"{name.letters}_{{{index}{row},{column}}}{above}"

    def sum(self, total: Sum) -> str:
        """Return the terms with their signs; a product of numbers stands in brackets."""
        return " ".join(self.pieces(total))

    def negative(self, negative: Negative) -> str:
        """Return -x."""
        return f"-{self._bracketed(negative.term)}"

    def product(self, product: Product) -> str:
        r"""Return 2 \cdot 3, S \times 1 or X W_Q."""
        first, *rest = (
            self._bracketed(factor) if isinstance(factor, Negative) else self._factor(factor)
            for factor in product.factors
        )
        sign = {"·": r" \cdot ", "×": r" \times ", "": " "}[product.sign]
        return sign.join([first, *(f"{{{each}}}" if each[0] == "-" else each for each in rest)])

    def quotient(self, quotient: Quotient) -> str:
        r"""Return \frac{x}{y}."""
        return rf"\frac{{{self.write(quotient.top)}}}{{{self.write(quotient.bottom)}}}"

    def power(self, power: Power) -> str:
        """Return e^{8.50}."""
        match power.exponent:
            case Quotient(top, bottom):
                exponent = f"{self.write(top)}/{self.write(bottom)}"
            case Ratio(exact):  # a fraction with a line of its own would stand too high
                exponent = str(exact)
            case other:
                exponent = self.write(other)
        return f"{self.write(power.base)}^{{{exponent}}}"

    def root(self, root: Root) -> str:
        r"""Return \sqrt{2}."""
        return rf"\sqrt{{{self.write(root.radicand)}}}"

    def call(self, call: Call) -> str:
        r"""Return \tanh(x)."""
        name = _FUNCTIONS.get(call.function, rf"\operatorname{{{call.function}}}")
        return rf"{name}\left({self.write(call.argument)}\right)"

    def transposed(self, transposed: Transposed) -> str:
        r"""Return K^{\top}."""
        return rf"{{{self.write(transposed.matrix)}}}^{{\top}}"

    def where(self, where: Where) -> str:
        """Return x where causal, else -∞."""
        condition = rf"\text{{ where {where.condition}, else }}"
        return f"{self.write(where.value)}{condition}{self.write(where.otherwise)}"

    def pieces(self, expression: Expression) -> list[str]:
        """Return an expression in parts between which a line may be broken."""
        if isinstance(expression, Sum):
            return [
                self._term(term, first=place == 0) for place, term in enumerate(expression.terms)
            ]
        if isinstance(expression, Quotient) and isinstance(expression.bottom, Sum):
            first, *rest = self.pieces(expression.bottom)
            rest[-1] += ")"
            return [self._bracketed(expression.top), f"/ ({first}", *rest]
        return [self.write(expression)]

    def _term(self, term: Expression, *, first: bool) -> str:
        sign = "" if first else "+ "
        if isinstance(term, Negative):
            sign, term = ("-" if first else "- "), term.term
        written = self.write(term)
        if (isinstance(term, Product) and term.sign == "·") or (not first and written[0] == "-"):
            written = f"({written})"
        return sign + written

    def _factor(self, factor: Expression) -> str:
        return self._bracketed(factor) if isinstance(factor, Sum) else self.write(factor)

    def _bracketed(self, expression: Expression) -> str:
        compound = isinstance(expression, Sum | Negative | Product)
        return f"({self.write(expression)})" if compound else self.write(expression)


def name_in_tex(name: str, head: int = 0) -> str:
    r"""Return the name of a matrix, or of one head of it.

    Examples
    --------
    >>> name_in_tex("W_Q"), name_in_tex("X1"), name_in_tex("S_scaled", head=2)
    ('W_Q', 'X_1', 'S^{\\mathrm{scaled} (2)}')
    """
    parts = _Name.of(name)
    is_below = parts.letters in _SUBSCRIPTED
    below = (parts.word if is_below else "") or parts.number
    raised = parts.raised("" if is_below else parts.word, f"({head})" if head else "")
    return (
        parts.letters + (f"_{below}" if len(below) < 2 else f"_{{{below}}}") * bool(below) + raised
    )


def in_tex(expression: Expression) -> str:
    r"""Return an expression in TeX's mathematics.

    Examples
    --------
    >>> in_tex(Quotient(Number("1.50"), Root(Number("2"))))
    '\\frac{1.50}{\\sqrt{2}}'
    """
    return TexMath().write(expression)
