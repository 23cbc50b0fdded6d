r"""Expressions in TeX's mathematics, for LaTeX with amsmath and for GitHub's markdown alike.

GitHub reads markdown before mathematics: so no backslash stands before punctuation here, and no
underscore after it. Superscripts come last, as in S_{1,2}^{\mathrm{scaled}}.
"""

import re

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
from attncalc.writing.mathematics import MathWriter

_NAME = re.compile(r"([A-Za-z]+)([0-9]*)(?:_([A-Za-z]+))?")
_SUBSCRIPTED = ("W", "b", "d")
"""Letters whose index is a subscript: W_Q, b_Q, d_k; that of a later step is a superscript."""
_FUNCTIONS = {
    "tanh": r"\tanh",
    "sin": r"\sin",
    "cos": r"\cos",
    "sin, cos": r"\sin, \cos",
}


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
        match = _NAME.fullmatch(entry.name)
        assert match, entry.name
        letters, digits, suffix = match.groups()
        *head, row, column = entry.place
        above = [rf"\mathrm{{{suffix}}}"] if suffix else []
        above += [f"({head[0]})"] if head else []
        index = f"{digits};" if digits else ""
        raised = f"^{{{' '.join(above)}}}" if above else ""
        return f"{letters}_{{{index}{row},{column}}}{raised}"

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
    if not (match := _NAME.fullmatch(name)):
        return name
    letters, digits, suffix = match.groups()
    written = letters if len(letters) == 1 else rf"\mathrm{{{letters}}}"
    below = suffix if suffix and letters in _SUBSCRIPTED else digits
    above = [rf"\mathrm{{{suffix}}}"] if suffix and letters not in _SUBSCRIPTED else []
    above += [f"({head})"] if head else []
    return written + (f"_{below}" if below else "") + (f"^{{{' '.join(above)}}}" if above else "")


def in_tex(expression: Expression) -> str:
    r"""Return an expression in TeX's mathematics.

    Examples
    --------
    >>> in_tex(Quotient(Number("1.50"), Root(Number("2"))))
    '\\frac{1.50}{\\sqrt{2}}'
    """
    return TexMath().write(expression)
