"""An independent reader of written-out work: plain Python, nothing of attncalc.

    line   = entry { ("=" | "≈") form }
    form   = term { ("+" | "-") term }
    term   = factor { ("·" | "/") factor }
    factor = "-" factor | "√" power | power
    power  = atom [ "^" ( "-" atom | atom ) ]
    atom   = number | name "(" form ")" | entry | "e" | "π" | "∞" | "(" form ")"

A space parts the whole of a mixed number from its fraction.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction

DIGITS = 60
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899")
_TOKEN = re.compile(
    r"\s*(?:(?P<entry>[A-Za-z]\w*\[[\d,]+\])|(?P<number>\d+(?:\.\d+)?(?: \d+/\d+)?(?:×10\^-?\d+)?)"
    r"|(?P<name>sin|cos|tanh|ReLU|e|π)|(?P<sign>[-+·/()^√∞]))"
)
Value = Fraction | Decimal
"""A rational number as a Fraction; any other as a Decimal of many digits."""


@dataclass(frozen=True)
class ReadLine:
    """A line of work: its entry, the values of its forms, the signs before them, and the result."""

    entry: str
    forms: tuple[Value, ...]
    texts: tuple[str, ...]
    sign: str
    result: str
    remark: str
    is_marked: bool


def read_line(line: str, known: Mapping[str, Value] | None = None) -> ReadLine:
    """Read one line; `known` holds the values of entries that forms name."""
    body, _, remark = line.partition("   (")
    entry, *rest = re.split(r" ([=≈]) ", body)
    texts = rest[1::2]
    is_marked = texts[-1].endswith("†")
    with localcontext() as context:
        context.prec = DIGITS
        forms = tuple(_Parser(text, known or {}).value() for text in texts[:-1])
    result = texts[-1].removesuffix("†")
    return ReadLine(entry, forms, tuple(texts[:-1]), rest[-2], result, remark[:-1], is_marked)


class _Parser:
    def __init__(self, text: str, known: Mapping[str, Value]) -> None:
        self.tokens: list[tuple[str, str]] = []
        self.known = known
        position = 0
        while position < len(text):
            match = _TOKEN.match(text, position)
            assert match, f"cannot read {text[position:]!r}"
            assert match.lastgroup
            self.tokens.append((match.lastgroup, match[match.lastgroup]))
            position = match.end()
        self.tokens.append(("end", ""))

    def value(self) -> Value:
        """Return the value of the whole text."""
        found = self._form()
        assert self.tokens == [("end", "")], self.tokens
        return found

    def _take(self, *texts: str) -> str:
        if self.tokens[0][1] in texts and self.tokens[0][0] != "end":
            return self.tokens.pop(0)[1]
        return ""

    def _form(self) -> Value:
        total = self._term()
        while sign := self._take("+", "-"):
            term = self._term()
            total = _both(lambda a, b: a + b, total, term if sign == "+" else _minus(term))
        return total

    def _term(self) -> Value:
        product = self._factor()
        while sign := self._take("·", "/"):
            factor = self._factor()
            if sign == "·":
                product = _both(lambda a, b: a * b, product, factor)
            else:
                product = _both(lambda a, b: a / b, product, factor)
        return product

    def _factor(self) -> Value:
        if self._take("-"):
            return _minus(self._factor())
        return _root(self._power()) if self._take("√") else self._power()

    def _power(self) -> Value:
        is_e = self.tokens[0] == ("name", "e")
        base = self._atom()
        if not self._take("^"):
            return base
        minus = self._take("-")
        exponent = _minus(self._atom()) if minus else self._atom()
        if exponent == Decimal("-Infinity"):
            return Fraction(0)
        if exponent == 0:
            return Fraction(1)
        are_rational = isinstance(base, Fraction) and isinstance(exponent, Fraction)
        if are_rational and exponent == int(exponent):  # a square, of what may be below 0
            return Fraction(base ** int(exponent))
        if isinstance(base, Decimal) and not is_e and exponent == 2:  # of a tanh below 0
            return base * base
        decimal = _decimal(exponent)
        return decimal.exp() if is_e else (_decimal(base).ln() * decimal).exp()

    def _atom(self) -> Value:
        kind, text = self.tokens.pop(0)
        if kind == "number":
            return _number(text)
        if kind == "entry":
            return self.known[text]
        if text == "∞":
            return Decimal("Infinity")
        if text == "e":
            return Decimal(1).exp()
        if text == "π":
            return PI
        if kind == "name":
            return _function(text, self._in_brackets())
        assert text == "(", text
        self.tokens.insert(0, (kind, text))
        return self._in_brackets()

    def _in_brackets(self) -> Value:
        assert self._take("(")
        inner = self._form()
        assert self._take(")")
        return inner


def _number(text: str) -> Fraction:
    plain, _, power = text.partition("×10^")
    whole, _, part = plain.partition(" ")
    value = Fraction(whole) + (Fraction(part) if part else 0)
    return value * Fraction(10) ** int(power or 0)


def _decimal(value: Value) -> Decimal:
    if isinstance(value, Decimal):
        return value
    return Decimal(value.numerator) / Decimal(value.denominator)


def _minus(value: Value) -> Value:
    return value.copy_negate() if isinstance(value, Decimal) else -value


def _both(operation: object, left: Value, right: Value) -> Value:
    """Stay with Fractions while both are; 0 times anything is 0."""
    assert callable(operation)
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return Fraction(operation(left, right))
    return Decimal(operation(_decimal(left), _decimal(right)))


def _root(value: Value) -> Value:
    assert isinstance(value, Fraction)
    root = _decimal(value).sqrt()
    return Fraction(int(root)) if root == int(root) else root


def _function(name: str, x: Value) -> Value:
    """Sum the series of a sine or a cosine; tanh by powers of e."""
    if name == "ReLU":
        return x if x > 0 else Fraction(0)
    if x == 0:
        return Fraction(1 if name == "cos" else 0)
    decimal = _decimal(x)
    if name == "tanh":
        doubled = (2 * decimal).exp()
        return (doubled - 1) / (doubled + 1)
    term = Decimal(1) if name == "cos" else decimal
    total, n = Decimal(0), 0 if name == "cos" else 1
    with localcontext() as context:
        context.prec = DIGITS + 40 + int(abs(decimal))  # terms grow to e^x before they shrink
        while abs(term) > Decimal(10) ** -DIGITS:
            total += term
            term *= -decimal * decimal / ((n + 1) * (n + 2))
            n += 2
    return +total
