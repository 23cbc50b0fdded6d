"""Expressions in MathML Core, which browsers read aloud and set without any script."""

from typing import cast

from attncalc.equations import expressions as node
from attncalc.problem.gradients.naming import Gradient, gradient_from
from attncalc.writing.html.elements import Html, element
from attncalc.writing.latex_math import Name
from attncalc.writing.mathematics import COMPOUND, OPEN, MathWriter, has_brackets, in_text

_GREEK = {"alpha": "α", "beta": "β", "gamma": "γ", "mu": "μ"}
_CALLED = {
    "rope^-1": ("msup", "rope", "−1"),
    **{f"Σ_{what}": ("msub", "Σ", what) for what in ("heads", "keys", "queries")},
}
"""Functions whose names have something above or below."""
_THIN = element("mspace", width="0.18em")
"""The sign between matrices that are multiplied."""
WIDEST_IN_FRACTION = 36
"""Letters above or below a fraction's line; longer sums are broken, with a slash."""


class MathMl(MathWriter):
    """MathML: numbers, names with subscripts and superscripts, fractions with a line."""

    def write(self, expression: node.Expression) -> Html:
        """Return the expression as one element."""
        return cast("Html", getattr(self, type(expression).__name__.lower())(expression))

    def number(self, number: node.Number) -> Html:
        """Return 1.50, or 1.76 times a power of ten."""
        text = _number(number.text)
        if not number.tens:
            return text
        power = element("msup", _number("10"), _number(str(number.tens)))
        return _row(text, _sign("×"), power)

    def ratio(self, ratio: node.Ratio) -> Html:
        """Return a fraction with its line, or a mixed number."""
        sign, whole, top, bottom = ratio.parts
        fraction = element("mfrac", _number(str(top)), _number(str(bottom)))
        parts = [_number(str(whole))] if whole else []
        return _row(*([_sign("−")] if sign else []), *parts, fraction)

    def symbol(self, symbol: node.Symbol) -> Html:
        """Return a name: a letter, with its index below and its words above."""
        return name_in_mathml(symbol.name)

    def indexed(self, entry: node.Indexed) -> Html:
        """Return an entry, its place below; the head, and words of its name, above."""
        if (gradient := gradient_from(entry.name)) is not None:
            of = self.indexed(entry._replace(name=gradient.of))
            # on a line, for fractions in many lines would be too close to one another
            return _gradient(gradient, _row(_slope_of(_word("L")), _sign("/"), _slope_of(of)))
        name = Name.of(entry.name)
        places = [str(each) for each in entry.place]
        number = f"{name.number};" if name.number else ""
        below = _text(f"{number}{','.join(places[-2:])}")
        above = name.above(name.word, head="".join(places[:-2]))
        return _scripted(_letters(name, entry.name), below, above)

    def sum(self, total: node.Sum) -> Html:
        """Return the terms with their signs; a product of numbers is in brackets."""
        terms = enumerate(total.terms)
        return _row(*(part for place, term in terms for part in self._term(term, place)))

    def negative(self, negative: node.Negative) -> Html:
        """Return −x."""
        term = negative.term
        if _is_negative(term):
            return _row(_sign("−"), _in_brackets(self.write(term)))
        return _row(_sign("−"), self._bracketed(term))

    def product(self, product: node.Product) -> Html:
        """Return 2 · 3, S × 1 or X W_Q."""
        parts: list[Html] = []
        for place, factor in enumerate(product.factors):
            parts += [_sign(product.sign) if product.sign else _THIN] if place else []
            written = self._bracketed if isinstance(factor, OPEN) else self.write
            parts.append(written(factor))
        return _row(*parts)

    def quotient(self, quotient: node.Quotient) -> Html:
        """Return one over the other, with a line."""
        return element("mfrac", self.write(quotient.top), self.write(quotient.bottom))

    def power(self, power: node.Power) -> Html:
        """Return e and above it 8.50."""
        base = self.write(power.base)
        if not isinstance(power.base, node.Symbol | node.Number) or _is_negative(power.base):
            base = _in_brackets(base)
        return element("msup", base, self._exponent(power.exponent))

    def root(self, root: node.Root) -> Html:
        """Return a square root."""
        return element("msqrt", self.write(root.radicand))

    def call(self, call: node.Call) -> Html:
        """Return tanh(x), or ‖x‖."""
        if call.function == "norm":
            return _row(_sign("‖"), self.write(call.argument), _sign("‖"))
        name = _word(call.function)
        if call.function in _CALLED:
            kind, base, script = _CALLED[call.function]
            name = element(kind, _word(base), _word(script))
        return _row(name, _in_brackets(self.write(call.argument)))

    def transposed(self, transposed: node.Transposed) -> Html:
        """Return K with a T above."""
        matrix = self.write(transposed.matrix)
        symbol = transposed.matrix
        is_name = isinstance(symbol, node.Symbol) and gradient_from(symbol.name) is None
        return element("msup", matrix if is_name else _in_brackets(matrix), _sign("⊤"))

    def stacked(self, stacked: node.Stacked) -> Html:
        """Return [past_K; K]."""
        parts: list[Html] = []
        for place, matrix in enumerate(stacked.matrices):
            parts += [*([_sign(";")] if place else []), self.write(matrix)]
        return _row(_sign("["), *parts, _sign("]"))

    def over(self, over: node.Over) -> Html:
        """Return Σ with its index below, followed by the body."""
        sign = _sign("∑") if over.function == "Σ" else _word(over.function)
        body = self.write(over.body)
        if has_brackets(over):
            body = _in_brackets(body)
        return _row(element("munder", sign, _text(over.under)), body)

    def entrywise(self, entries: node.Entrywise) -> Html:
        """Return the entry in square brackets, its indices below."""
        inner = _row(_sign("["), self.write(entries.body), _sign("]"))
        return element("msub", inner, _text(",".join(entries.at)))

    def where(self, where: node.Where) -> Html:
        """Return x if causal, otherwise −∞."""
        condition = _text(f"\u00a0{where.said.replace('…', where.condition)}\u00a0")
        return _row(self.write(where.value), condition, self.write(where.otherwise))

    def pieces(self, expression: node.Expression) -> list[Html]:
        """Return an expression in parts between which a line may be broken."""
        if isinstance(expression, node.Sum):
            terms = enumerate(expression.terms)
            return [_row(*self._term(term, place, form="infix")) for place, term in terms]
        if isinstance(expression, node.Quotient) and _is_long(expression.top):
            first, *rest = self.pieces(expression.top)
            last = _row(rest[-1], _sign(")"), _sign("/"), self._bracketed(expression.bottom))
            return [_row(_sign("("), first), *rest[:-1], last]
        if isinstance(expression, node.Quotient) and _is_long(expression.bottom):
            first, *rest = self.pieces(expression.bottom)
            top = _row(self._bracketed(expression.top), _sign("/"))
            return [top, _row(_sign("("), first), *rest[:-1], _row(rest[-1], _sign(")"))]
        return [self.write(expression)]

    def _term(self, term: node.Expression, place: int, form: str | None = None) -> list[Html]:
        """Return a term of a sum with its sign, spaced only after other terms.

        A sign that begins a line needs its form.
        """
        form = form if place else None
        sign = [element("mo", "+", form=form)] if place else []
        if isinstance(term, node.Negative):
            sign, term = [element("mo", "−", form=form)], term.term
        written = self.write(term)
        is_product = isinstance(term, node.Product) and term.sign == "·"
        if is_product or isinstance(term, node.Where) or (sign and _is_negative(term)):
            written = _in_brackets(written)
        return [*sign, written]

    def _exponent(self, exponent: node.Expression) -> Html:
        """Return an exponent: a fraction with a slash, for its line would be high."""
        if isinstance(exponent, node.Quotient):
            return _row(self._bracketed(exponent.top), _sign("/"), self._bracketed(exponent.bottom))
        if isinstance(exponent, node.Ratio):
            sign = [_sign("−")] if exponent.exact < 0 else []
            top, bottom = abs(exponent.exact.numerator), exponent.exact.denominator
            return _row(*sign, _number(str(top)), _sign("/"), _number(str(bottom)))
        return self.write(exponent)

    def _bracketed(self, expression: node.Expression) -> Html:
        written = self.write(expression)
        return _in_brackets(written) if isinstance(expression, COMPOUND) else written


def name_in_mathml(name: str, head: int = 0) -> Html:
    """Return the name of a matrix, or of one head of it.

    >>> name_in_mathml("W_Q")
    '<msub><mi>W</mi><mi>Q</mi></msub>'
    >>> name_in_mathml("dQ")
    '<mfrac><mrow><mo>∂</mo><mi>L</mi></mrow><mrow><mo>∂</mo><mi>Q</mi></mrow></mfrac>'
    >>> name_in_mathml("W_Q_new")
    '<msubsup><mi>W</mi><mi>Q</mi><mtext>new</mtext></msubsup>'
    >>> name_in_mathml("1.S_scaled")
    '<msup><mi>S</mi><mtext>[1] scaled</mtext></msup>'
    """
    if (gradient := gradient_from(name)) is not None:
        of = name_in_mathml(gradient.of, head)
        return _gradient(gradient, element("mfrac", _slope_of(_word("L")), _slope_of(of)))
    parts = Name.of(name)
    below, word = parts.scripts
    index = _number(below) if below.isdigit() else _word(below) if below else None
    return _scripted(_letters(parts, name), index, parts.above(word, head=head or ""))


def in_mathml(*pieces: Html) -> Html:
    """Return elements of MathML as one formula within a line."""
    return element("math", *pieces)


def _is_long(expression: node.Expression) -> bool:
    return isinstance(expression, node.Sum) and len(in_text(expression)) > WIDEST_IN_FRACTION


def _is_negative(expression: node.Expression) -> bool:
    """Return whether the text begins with a minus."""
    if isinstance(expression, node.Number):
        return expression.text.startswith("-")
    if isinstance(expression, node.Ratio):
        return expression.exact < 0
    if isinstance(expression, node.Product):
        return _is_negative(expression.factors[0])
    return isinstance(expression, node.Negative)


def _slope_of(of: Html) -> Html:
    return _row(_sign("∂"), of)


def _gradient(gradient: Gradient, whole: Html) -> Html:
    """Return ∂L/∂Q; of a part of it with the step that it passes through."""
    if not gradient.by:
        return whole
    return _row(whole, _text("\u00a0via\u00a0"), name_in_mathml(gradient.by))


def _letters(parts: Name, whole: str) -> Html:
    """Return the letters of a name; all of one that has no parts."""
    letters = parts.letters.removeprefix("\\")
    return _word(whole if letters.startswith("text{") else _GREEK.get(letters, letters))


def _scripted(base: Html, below: Html | None, above: str) -> Html:
    scripts = [*([below] if below else []), *([_text(above)] if above else [])]
    kind = f"m{'sub' * bool(below)}{'sup' * bool(above)}"
    return element(kind, base, *scripts) if scripts else base


def _row(*parts: Html) -> Html:
    return parts[0] if len(parts) == 1 else element("mrow", *parts)


def _in_brackets(inner: Html) -> Html:
    return _row(_sign("("), inner, _sign(")"))


def _number(text: str) -> Html:
    """Return a number; in MathML, a minus is a separate sign."""
    size = text.removeprefix("-")
    number = element("mi" if size == "∞" else "mn", size)
    return element("mrow", _sign("−"), number) if size != text else number


def _sign(text: str) -> Html:
    return element("mo", text)


def _word(text: str) -> Html:
    return element("mi", text)


def _text(text: str) -> Html:
    return element("mtext", text)
