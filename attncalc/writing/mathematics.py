"""How expressions are written: one method for each kind of expression, one class for each form."""

from collections.abc import Mapping
from typing import Any

from attncalc.equations import expressions as node

OPEN = node.Sum | node.Negative | node.Over | node.Where
"""Expressions in brackets within a product."""
COMPOUND = OPEN | node.Product
"""Expressions in brackets within a power, a root and a quotient on a line."""


class MathWriter:
    """Writes an expression by the form, or else the method, that is named like its class."""

    forms: Mapping[str, str] = {}
    """Kinds of expressions that are their parts between texts."""

    def write(self, expression: node.Expression) -> str:
        """Return the expression in this form."""
        kind = type(expression).__name__.lower()
        if kind in self.forms:
            parts: Any = expression
            return self.forms[kind].format(
                *(self.write(each) for each in parts if each is not None)
            )
        return str(getattr(self, kind)(expression))

    def sum(self, total: node.Sum) -> str:
        """Return the terms with their signs; products and negative terms are in brackets."""
        return " ".join(self.term(term, first=not place) for place, term in enumerate(total.terms))

    def term(self, term: node.Expression, *, first: bool) -> str:
        """Return a term of a sum with its sign."""
        sign = "" if first else "+ "
        if isinstance(term, node.Negative):
            sign, term = ("-" if first else "- "), term.term
        written = self.write(term)
        is_product = isinstance(term, node.Product) and term.sign == "·"
        if is_product or isinstance(term, node.Where) or (sign and written[0] == "-"):
            written = f"({written})"
        return sign + written


_BETWEEN = {"·": "·", "×": " × ", "⊙": " ⊙ ", "": " ", ",": ", ", "mod": " mod "}
"""The signs between factors."""


class PlainText(MathWriter):
    """Plain text: (1·0) + (-1·1), e^8.50 / (e^8.50 + e^8.00), Q Kᵀ."""

    forms: Mapping[str, str] = {"transposed": "{}ᵀ"}

    def number(self, number: node.Number) -> str:
        """Return 1.50, or 1.76×10^-6."""
        return f"{number.text}×10^{number.tens}" if number.tens else number.text

    def ratio(self, ratio: node.Ratio) -> str:
        """Return 5/2, or 2 1/2."""
        sign, whole, top, bottom = ratio.parts
        return f"{sign}{whole} {top}/{bottom}" if whole else f"{sign}{top}/{bottom}"

    def symbol(self, symbol: node.Symbol) -> str:
        """Return W_Q."""
        return symbol.name

    def indexed(self, entry: node.Indexed) -> str:
        """Return A[3,1], or A[2,3,1] for the second head."""
        return f"{entry.name}[{','.join(str(index) for index in entry.place)}]"

    def negative(self, negative: node.Negative) -> str:
        """Return -x, or -x / 2."""
        written = self.write(negative.term)
        if written[0] == "-":
            return f"-({written})"
        if isinstance(negative.term, node.Quotient):
            return f"-{written}"
        return f"-{self._bracketed(negative.term)}"

    def product(self, product: node.Product) -> str:
        """Return 2·3, S × 1/3 or X W_Q."""
        factors = (self._enclosed(each, OPEN | node.Quotient) for each in product.factors)
        return _BETWEEN[product.sign].join(factors)

    def quotient(self, quotient: node.Quotient) -> str:
        """Return x / y."""
        top = quotient.top
        above = self.write(top) if isinstance(top, node.Number) else self._bracketed(top)
        return f"{above} / {self._bracketed(quotient.bottom)}"

    def power(self, power: node.Power) -> str:
        """Return e^8.50, or e^(3/2)."""
        if isinstance(power.exponent, node.Quotient):
            parts = (self._bracketed(part) for part in power.exponent)
            return f"{self.write(power.base)}^({'/'.join(parts)})"
        base = self._bracketed(power.base)
        if base.startswith("-"):
            base = f"({base})"
        return f"{base}^{self._bracketed(power.exponent)}"

    def root(self, root: node.Root) -> str:
        """Return √2."""
        return f"√{self._bracketed(root.radicand)}"

    def call(self, call: node.Call) -> str:
        """Return tanh(x), or ‖x‖."""
        if call.function == "norm":
            return f"‖{self.write(call.argument)}‖"
        return f"{call.function}({self.write(call.argument)})"

    def stacked(self, stacked: node.Stacked) -> str:
        """Return [past_K; K]."""
        return f"[{'; '.join(map(self.write, stacked.matrices))}]"

    def over(self, over: node.Over) -> str:
        """Return Σ_{c<d_k} Q[i,c]·K[j,c]."""
        body = self.write(over.body)
        body = f"({body})" if has_brackets(over) else body
        return f"{over.function}_{{{over.under}}}{' ' * (over.function == 'Σ')}{body}"

    def entrywise(self, entries: node.Entrywise) -> str:
        """Return [Σ_{c<d_k} Q[i,c]·K[j,c]]_ij."""
        return f"[{self.write(entries.body)}]_{','.join(entries.at)}"

    def where(self, where: node.Where) -> str:
        """Return x if causal, otherwise -∞."""
        said = where.said.replace("…", where.condition)
        return f"{self.write(where.value)} {said} {self.write(where.otherwise)}"

    def _bracketed(self, expression: node.Expression) -> str:
        is_power = isinstance(expression, node.Number) and expression.tens
        compound = COMPOUND | node.Quotient | node.Ratio
        return self._enclosed(expression, node.Number if is_power else compound)

    def _enclosed(self, expression: node.Expression, kinds: Any) -> str:
        written = self.write(expression)
        return f"({written})" if isinstance(expression, kinds) else written


def has_brackets(over: node.Over) -> bool:
    """Return whether the body of a sum over an index, or of a function of it, is in brackets."""
    return over.function != "Σ" or isinstance(over.body, node.Sum | node.Negative | node.Where)


def in_text(expression: node.Expression) -> str:
    """Return an expression as a line of plain text.

    >>> in_text(node.Quotient(node.Number("1.50"), node.Root(node.Number("2"))))
    '1.50 / √2'
    """
    return PlainText().write(expression)
