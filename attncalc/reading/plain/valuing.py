"""Values of arithmetic expressions: `1/√2`, `e^{1.5}/(e^{1.5} + e^2)`, `1·0 + 2·1`.

Python evaluates nothing: a parser of two dozen tokens does, with limits.
"""

import math
import re
from decimal import Decimal
from fractions import Fraction

from attncalc.base.typed import root_of

LONGEST = 400
DEEPEST = 20
_SIGNS = r"|\.\d+)|(sqrt|exp|√|[eE](?![a-z]))|([-+*·×/^(){}]))"
_TOKEN = re.compile(rf"\s*(?:(\d+(?:\.\d*)?(?:[eE][+-]?\d{{1,3}}(?!\d))?{_SIGNS}")
_BESIDE_E = re.compile(rf"\s*(?:(\d+(?:\.\d*)?{_SIGNS}")
_E = re.compile(r"(?<![\d.])[eE](?![a-zA-Z\d])|[eE]\^")
"""The base of powers: in (2e+5)/(1+e), 2e+5 is no power of 10."""
_CLOSING = {"(": ")", "{": "}"}
Value = Fraction | float


class NoValue(ValueError):  # noqa: N818 - it is what happened
    """A text that is not an arithmetic expression."""


def value_of(text: str) -> Fraction | Decimal | None:
    """Return the value of an expression: a Fraction if it is rational; None if it has none.

    >>> value_of("1·0 + 3·1/2"), value_of("1/√4"), value_of("1 x")
    (Fraction(3, 2), Fraction(1, 2), None)
    """
    if len(text) > LONGEST or _BESIDE.search(text):
        return None
    try:
        value = Parser(_tokens(text)).whole()
        if isinstance(value, Fraction):
            return value
        return Decimal(repr(value)) if math.isfinite(value) else None
    except (NoValue, OverflowError, ZeroDivisionError, ValueError):
        return None


def _tokens(text: str) -> list[str]:
    found, position = [], 0
    text = text.rstrip()
    token = _BESIDE_E if _E.search(text) else _TOKEN
    while position < len(text):
        match = token.match(text, position)
        if match is None:
            raise NoValue
        found.append(match[0].strip())
        position = match.end()
    return found


_BESIDE = re.compile(r"\d\s+\(")
"""A number with a remark in brackets, and no product: 1.5 (1*1 + 0.5)."""


class Parser:
    """Evaluates sums of products of powers; adjacent factors are multiplied."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self.position = 0
        self.depth = 0

    @property
    def next(self) -> str:
        """The next token; "" at the end."""
        return self.tokens[self.position] if self.position < len(self.tokens) else ""

    def take(self) -> str:
        """Return the next token, and go on."""
        token = self.next
        self.position += 1
        return token

    def whole(self) -> Value:
        """Return the value of all tokens."""
        value = self.sum()
        if self.next:
            raise NoValue
        return value

    def sum(self) -> Value:
        """Return a sum."""
        value = self.product()
        while self.next in ("+", "-"):
            sign = self.take()
            other = self.product()
            value = value + other if sign == "+" else value - other
        return value

    def product(self) -> Value:
        """Return a product."""
        value = self.signed()
        while True:
            if self.next in ("*", "·", "×"):
                self.take()
                value = value * self.signed()
            elif self.next == "/":
                self.take()
                value = value / self.signed()
            elif self.next in ("(", "√", "sqrt", "exp", "e", "E"):
                value = value * self.power()
            else:
                return value

    def signed(self) -> Value:
        """Return a power with its signs."""
        if self.next in ("+", "-"):
            sign = self.take()
            value = self._deeper(self.signed)
            return -value if sign == "-" else value
        return self.power()

    def power(self) -> Value:
        """Return a power."""
        base = self.atom()
        if self.next != "^":
            return base
        self.take()
        exponent = self._deeper(self.signed)
        small = isinstance(exponent, Fraction) and exponent.denominator == 1 and abs(exponent) <= 30
        if small and isinstance(base, Fraction) and _is_moderate(base):
            return Fraction(base ** int(exponent))
        power: float = float(base) ** float(exponent)
        return power

    def atom(self) -> Value:
        """Return a number, or the value in parentheses."""
        token = self.take()
        if token in _CLOSING:
            value = self._deeper(self.sum)
            if self.take() != _CLOSING[token]:
                raise NoValue
            return value
        if token in ("e", "E"):
            return math.e
        if token in ("√", "sqrt"):
            return _root(self._deeper(self.atom))
        if token == "exp":
            return math.exp(self._deeper(self.atom))
        if not token[:1].isdigit() and token[:1] != ".":
            raise NoValue
        return Fraction(token)

    def _deeper(self, read: "object") -> Value:
        self.depth += 1
        if self.depth > DEEPEST:
            raise NoValue
        value: Value = read()  # type: ignore[operator]
        self.depth -= 1
        return value


def _is_moderate(value: Fraction) -> bool:
    """Return whether the powers of a number stay short."""
    return max(abs(value.numerator), value.denominator) < 10**6


def _root(value: Value) -> Value:
    root = root_of(value) if isinstance(value, Fraction) else None
    return math.sqrt(value) if root is None else root
