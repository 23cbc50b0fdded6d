"""Small arithmetic expressions: operations return them, and writers format them.

An expression does not depend on a format. It only contains whether its value is rational, and the
value. (Named tuples, since a dozen dataclasses would slow down every start.)
"""

from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from functools import cache
from math import prod
from typing import Any, NamedTuple, get_args

from attncalc.base.typed import as_written, root_of
from attncalc.base.types import Matrix, Place


class Number(NamedTuple):
    """A written number: a text of digits, and a power of ten if there is one.

    `exact` is its true value, which the text may have rounded, if it is rational and known.
    """

    text: str
    exact: Fraction | None = None
    tens: int = 0


class Ratio(NamedTuple):
    """A fraction of whole numbers, written as 5/2, or mixed, as 2 1/2."""

    exact: Fraction
    mixed: bool = False

    @property
    def parts(self) -> tuple[str, int, int, int]:
        """Return its sign, its whole part (0 if it is not mixed), numerator and denominator."""
        sign = "-" if self.exact < 0 else ""
        size = abs(self.exact)
        whole = size.numerator // size.denominator if self.mixed else 0
        return sign, whole, size.numerator - whole * size.denominator, size.denominator


class Symbol(NamedTuple):
    """The name of a matrix, or of a number: W_Q, d_k, e."""

    name: str
    exact: Fraction | None = None


class Indexed(NamedTuple):
    """An entry of a matrix by its place, counted from 1: (row, column), or with a head first.

    In a formula, places are indices.
    """

    name: str
    place: tuple[int | str, ...]
    exact: Fraction | None = None


class Sum(NamedTuple):
    """Terms that are added."""

    terms: "tuple[Expression, ...]"

    @property
    def exact(self) -> Fraction | None:
        """The sum, if every term is rational."""
        values = [term.exact for term in self.terms]
        return None if None in values else sum(filter(None, values), start=Fraction(0))


class Negative(NamedTuple):
    """A negated term; in a sum, it is subtracted."""

    term: "Expression"

    @property
    def exact(self) -> Fraction | None:
        """The negated value."""
        value = self.term.exact
        return None if value is None else -value


class Product(NamedTuple):
    """Factors that are multiplied; `sign` is written between them, "·", "×", "⊙" or nothing.

    Also, with "," and "mod", the arguments of a function and of a remainder. Factors of an ordered
    product are matrices, or their entries: tokens as columns reverse them.
    """

    factors: "tuple[Expression, ...]"
    sign: str = "·"
    is_ordered: bool = False

    @property
    def exact(self) -> Fraction | None:
        """The product, if every factor is rational or one of them is 0."""
        values = [factor.exact for factor in self.factors]
        if 0 in values:
            return Fraction(0)
        return None if None in values else prod(filter(None, values), start=Fraction(1))


class Quotient(NamedTuple):
    """A quotient of two expressions."""

    top: "Expression"
    bottom: "Expression"

    @property
    def exact(self) -> Fraction | None:
        """The quotient, if both are rational or the numerator is 0."""
        top, bottom = self.top.exact, self.bottom.exact
        if top == 0:
            return Fraction(0)
        return top / bottom if top is not None and bottom else None


class Power(NamedTuple):
    """A base and its exponent."""

    base: "Expression"
    exponent: "Expression"

    @property
    def exact(self) -> Fraction | None:
        """1 if the exponent is 0, or a whole power of a rational number."""
        base, exponent = self.base.exact, self.exponent.exact
        if exponent == 0:
            return Fraction(1)
        if base is None or exponent is None or exponent.denominator != 1 or exponent < 0:
            return None
        return Fraction(base**exponent.numerator)


class Root(NamedTuple):
    """A square root."""

    radicand: "Expression"

    @property
    def exact(self) -> Fraction | None:
        """The root of a square number."""
        value = self.radicand.exact
        return None if value is None or value.denominator != 1 else root_of(value)


class Call(NamedTuple):
    """A function of an expression: tanh, sin and cos of numbers, softmax and others of matrices."""

    function: str
    argument: "Expression"

    @property
    def exact(self) -> Fraction | None:
        """The value at 0, the only rational point."""
        at_zero = {"sin": Fraction(0), "tanh": Fraction(0), "cos": Fraction(1)}
        return at_zero.get(self.function) if self.argument.exact == 0 else None


class Transposed(NamedTuple):
    """A transposed matrix."""

    matrix: "Expression"
    exact: Fraction | None = None


class Stacked(NamedTuple):
    """Matrices, each below the one before."""

    matrices: "tuple[Expression, ...]"
    exact: Fraction | None = None


class Over(NamedTuple):
    """A sum, or another function, of a body over an index: "Σ", "max", "softmax"."""

    function: str
    letter: str
    size: str
    body: "Expression"
    condition: str = ""
    exact: Fraction | None = None

    @property
    def under(self) -> str:
        """The text below the sign: c<d_k."""
        return f"{self.letter}<{self.size}" + (f", {self.condition}" if self.condition else "")


class Entrywise(NamedTuple):
    """A matrix given by its entry at these indices."""

    body: "Expression"
    at: tuple[str, ...]
    exact: Fraction | None = None


class Where(NamedTuple):
    """A value under a condition, and another one otherwise.

    said: the words around the condition, which is the ellipsis.
    """

    value: "Expression"
    condition: str
    otherwise: "Expression"
    exact: Fraction | None = None
    said: str = "where …, else"

    @property
    def is_formula(self) -> bool:
        """Whether the condition is a formula, and not a word."""
        return any(sign in self.condition for sign in "<>≤≥≠=[")


_OfNumbers = Number | Ratio | Symbol | Indexed | Sum | Negative | Product | Quotient | Power | Root
_OfMatrices = Call | Transposed | Stacked | Over | Entrywise | Where
Expression = _OfNumbers | _OfMatrices
EXPRESSIONS = get_args(Expression)
E = Symbol("e")
PI = Symbol("π")
ZERO = Number("0", Fraction(0))
ENTRYWISE = "⊙"
"""The sign of an entrywise product."""
ROW_SUM, COLUMN_SUM = "rowsum", "colsum"
"""The functions that add each row, and each column."""
MINUS_INFINITY = Number("-∞")
SMALLEST_PLAIN, LARGEST_PLAIN = -5, 14
"""Powers of ten between which a number is written without one."""
DUSTLESS = 30
"""Digits after the last written one that must be 0 for an exact value."""


class Explanation(NamedTuple):
    """How one entry is calculated.

    forms: the right-hand sides: that of the equation first, then simpler ones up to the result.
    remark: a short explanation if the arithmetic is not enough.
    exact: its true value, if it is rational and known.
    """

    forms: tuple[Expression, ...]
    remark: str = ""
    exact: Fraction | None = None


def added(*terms: Expression) -> Expression:
    """Return the sum of the terms, or the only term."""
    return terms[0] if len(terms) == 1 else Sum(terms)


_TURNED = {ROW_SUM: COLUMN_SUM, COLUMN_SUM: ROW_SUM}


def turned_round(expression: Expression) -> Expression:
    """Return an expression for tokens as columns: X W_Q becomes W_Q X.

    >>> turned_round(Product((Symbol("X"), Symbol("W_Q")), "", is_ordered=True)).factors
    (Symbol(name='W_Q', exact=None), Symbol(name='X', exact=None))
    """
    parts = {
        name: _each_turned(part) for name, part in zip(expression._fields, expression, strict=True)
    }
    if isinstance(expression, Product) and expression.is_ordered:
        parts["factors"] = parts["factors"][::-1]
    if isinstance(expression, Call):
        parts["function"] = _TURNED.get(expression.function, expression.function)
    return expression._replace(**parts)


def _each_turned(part: Any) -> Any:
    if type(part) is tuple:  # terms, factors; the numbers of a place are unchanged
        return tuple(_each_turned(each) for each in part)
    return turned_round(part) if isinstance(part, EXPRESSIONS) else part


def whole(number: int) -> Number:
    """Return a whole number."""
    return Number(str(number), Fraction(number))


def given(number: Fraction) -> "Number | Ratio":
    """Return a given number in its usual notation: 0.5, 1/3, 2.5×10^-30.

    >>> given(Fraction(1, 2)).text
    '0.5'
    >>> given(Fraction("-2.5e-30"))
    Number(text='-2.5', exact=Fraction(-1, 400000000000000000000000000000), tens=-30)
    """
    text = as_written(number)
    if "/" in text:
        return Ratio(number)
    digits = text.lstrip("-").replace(".", "").strip("0")
    # the power of ten of the first digit
    place = (Decimal(number.numerator) / Decimal(number.denominator)).adjusted() if number else 0
    if SMALLEST_PLAIN <= place <= LARGEST_PLAIN:
        return Number(text, number)
    sign = "-" if number < 0 else ""
    return Number(sign + digits[0] + ("." + digits[1:] if digits[1:] else ""), number, place)


def fraction(number: Fraction, *, mixed: bool = False) -> "Number | Ratio":
    """Return a fraction as written by hand: 3, 5/2, or mixed, 2 1/2."""
    return whole(number.numerator) if number.denominator == 1 else Ratio(number, mixed)


def significant(value: Decimal, digits: int) -> Number:
    """Return a number to so many significant digits, halves away from zero.

    >>> significant(Decimal("0.0014962"), 2)
    Number(text='0.0015', exact=None, tens=0)
    >>> significant(Decimal("1.7571e-6"), 3)
    Number(text='1.76', exact=None, tens=-6)
    """
    rounded = _carrying(digits).plus(value)
    place = rounded.adjusted()
    if SMALLEST_PLAIN <= place < digits:
        # an exact result needs no more zeros, for any precision of its computation
        is_all = _carrying(digits + DUSTLESS).plus(value) == rounded
        return Number(f"{rounded.normalize() if is_all else rounded:f}")
    return Number(f"{rounded.scaleb(-place):.{digits - 1}f}", None, place)


@cache
def _carrying(digits: int) -> Context:
    """Return the context that rounds to so many digits; creating one takes longer than its use."""
    return Context(prec=digits, rounding=ROUND_HALF_UP, Emin=MIN_EMIN, Emax=MAX_EMAX)


DUST_OF_SUMS = Decimal("1e-60")
"""The residue of thirds in a sum of Decimals that should be 0."""


class Operand(NamedTuple):
    """A matrix whose entries can appear in an expression.

    matrix: its values in the layout of the plan.
    quote: returns the entry at a place as written.
    entry: returns the name of the entry at a place.
    write: returns an intermediate value as written, with its true value if that is known to be
        rational.
    own: returns a given number, such as a factor, as written.
    """

    name: str
    matrix: Matrix
    quote: Callable[[Place], Expression]
    entry: Callable[[Place], Indexed]
    write: Callable[[Any, Fraction | None], Expression]
    own: Callable[[Fraction], Expression]

    def at(self, *place: int) -> Expression:
        """Return an entry; a matrix without heads, or of a single row, applies to all alike."""
        return self.quote(self.place(*place))

    def write_sum(self, value: Any, rational: Fraction | None) -> Expression:
        """Write a sum: a residue of decimals after cancellation is 0."""
        is_dust = isinstance(value, Decimal) and abs(value) < DUST_OF_SUMS
        return self.write(Decimal(0) if is_dust else value, rational)

    def place(self, *place: int) -> Place:
        """Return its own entry for this place of a larger matrix."""
        shape = self.matrix.shape
        # aligned on the right, as numpy broadcasts
        own = place[len(place) - len(shape) :]
        return tuple(0 if size == 1 else i for i, size in zip(own, shape, strict=True))
