"""Floats with a proven bound of their error: arrays that implement numpy's functions.

`Near` contains float64 values with a bound of each absolute error, from running error analysis
(Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., sections 3.1 to 3.3). While values
are whole multiples of one unit, below 2**53 of them, they are stored as such, and their sums and
products have no error.
"""

from collections.abc import Callable
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cached_property, partial
from math import gcd, lcm
from typing import Any, Self

import numpy as np

from attncalc.base.types import Matrix
from attncalc.equations.evaluate import FUNCTIONS, Frame, Value, constant
from attncalc.equations.tree import Node

SLACK = 1 + 2.0**-20
"""More than the total rounding of the bounds themselves."""
U = 2.0**-53 * SLACK
"""Relative error of one rounding of float64: of +, -, *, / and sqrt, in any IEEE 754 arithmetic."""
LEAST = 1e-300
"""More than the error of underflow."""
OF_FUNCTIONS = 16 * U
"""Relative error of exp, log, tanh, erf, sin, cos and powers in float64: 8 units in the last place.

Intel's SVML, which NumPy uses where there is AVX-512, is within 4 units at its medium accuracy, and
the GNU C library within 3 ("Known Maximum Errors in Math Functions" of its manual). Neither proves
its bound: this is twice the larger one, and the tests measure these functions against Decimals.
"""
LARGEST_WHOLE = 2.0**53
LARGEST_SHOWN = 10.0**15
"""The number of digits of a float: it stores any 15."""
SMALLEST_UNIT = Fraction(1, 10**250)
OF_CONSTANTS = Context(prec=60)
"""The context for irrational constants."""


class Near(np.lib.mixins.NDArrayOperatorsMixin):
    """An array of values with one of bounds, or of whole multiples of a unit.

    values, errors: the values, and their largest errors; for a condition, whether it is true, and
        where it is undecided.
    whole, unit, most: alternatively: whole numbers in float64, their unit, and a bound of their
        size.
    """

    dtype = np.dtype(object)  # so that the evaluator does not write over it

    def __init__(
        self,
        values: Any = None,
        errors: Any = 0.0,
        *,
        whole: Any = None,
        unit: Fraction = Fraction(1),
        most: float = np.inf,
    ) -> None:
        self.whole: Any = None if whole is None else np.asarray(whole)
        self.unit, self.most = unit, most
        self._values = self._errors = None
        if whole is None:
            self._values, wide = np.asarray(values), np.asarray(errors)
            shape = self._values.shape
            self._errors = wide if wide.shape == shape else np.broadcast_to(wide, shape)

    @property
    def values(self) -> Any:
        """The values: for whole multiples the nearest floats."""
        if self._values is None:
            top, bottom = self.unit.numerator, self.unit.denominator
            if self._is_rounded_once:
                made = self.whole * float(top) if top != 1 else self.whole
                self._values = made / float(bottom) if bottom != 1 else made
            else:
                self._values = self.whole * float(self.unit)
        return self._values

    @property
    def errors(self) -> Any:
        """The largest error of each value."""
        if self._errors is None:
            self._errors = np.abs(_finite(self.values)) * self.relative
        return self._errors

    @cached_property
    def _is_rounded_once(self) -> bool:
        is_small = self.most * self.unit.numerator < LARGEST_WHOLE
        return is_small and self.unit.denominator < LARGEST_WHOLE

    @property
    def relative(self) -> float:
        """The largest relative error of the values of whole multiples."""
        if not self._is_rounded_once:
            return 2 * U
        return U if self.unit.denominator & (self.unit.denominator - 1) else 0.0

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        return np.shape(self.whole if self._values is None else self._values)

    @property
    def ndim(self) -> int:
        """The number of its axes."""
        return len(self.shape)

    def each(self, function: Callable[[Matrix], Matrix]) -> "Near":
        """Return another arrangement of the same entries."""
        if self.whole is not None:
            return _whole(function(self.whole), self.unit, self.most)
        return Near(function(self.values), function(self.errors))

    def tight(self) -> float:
        """Return the size of the largest whole number, ignoring infinity."""
        sizes = np.abs(self.whole)
        self.most = float(sizes.max(initial=0.0))
        if self.most == np.inf:
            self.most = float(sizes.max(initial=0.0, where=np.isfinite(sizes)))
        return self.most

    def __getitem__(self, at: Any) -> "Near":
        return self.each(lambda part: part[at])

    def __setitem__(self, at: Any, value: Any) -> None:
        value = near(value)
        self.values[at], self.errors[at] = value.values, value.errors

    def __getattr__(self, name: str) -> Any:
        """Return maxima, transposes, copies and other shapes, like an array."""
        if name not in ("max", "transpose", "reshape", "copy"):
            raise AttributeError(name)
        return lambda *args, **named: self.each(lambda part: getattr(part, name)(*args, **named))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Matrix:
        if np.any(self.errors):
            raise ArithmeticError("places and conditions need numbers that are known exactly")
        return np.asarray(self.values, dtype)

    def __bool__(self) -> bool:
        return bool(np.asarray(self))

    def sum(self, axis: int, keepdims: bool = False) -> "Near":
        """Return sums, valid for any order of addition."""
        count, total = self.shape[axis], partial(np.sum, axis=axis, keepdims=keepdims)
        if _fits(lambda most: count * most, self):
            return _whole(total(self.whole), self.unit, count * self.most)
        errors = total(self.errors) + _gamma(count) * total(np.abs(self.values))
        return Near(total(self.values), errors)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Any:
        return _UFUNCS[ufunc](*map(near, inputs))

    def __array_function__(self, function: Any, types: Any, args: Any, named: Any) -> Any:
        if function is np.where:
            return _where(*args)
        if function in (np.ndim, np.size, np.shape):
            return function(np.broadcast_to(0, self.shape))
        return args[0].each(lambda part: function(part, *args[1:], **named))

    @classmethod
    def typed(cls, matrix: Matrix) -> Self:
        """Return a matrix of typed numbers: Decimals and Fractions, or floats."""
        # a float means its shortest decimal, which is its text
        values = (matrix.astype(str) if matrix.dtype == np.float32 else matrix).astype(float)
        is_finite = np.isfinite(values)
        if matrix.dtype == object:
            exact = [Fraction(x) for x in matrix[is_finite].tolist()]
            common = lcm(*{x.denominator for x in exact})
            most = float(max(map(abs, exact), default=0) * common)
            if max(common, most) < LARGEST_WHOLE:
                whole = values.copy()
                whole[is_finite] = [int(x * common) for x in exact]
                return cls(whole=whole, unit=Fraction(1, common), most=most)
        else:
            finite = _finite(values)
            for scale in 10.0 ** np.arange(16):
                whole = np.rint(finite * scale)
                most = float(np.abs(whole).max(initial=0.0))
                if most < LARGEST_SHOWN and (whole / scale == finite).all():
                    whole = np.where(is_finite, whole, values)
                    return cls(whole=whole, unit=Fraction(1, int(scale)), most=most)
        return cls(values, np.where(is_finite, np.abs(values) * U + LEAST, 0.0))


def _whole(whole: Matrix, unit: Fraction, most: float) -> Near:
    return Near(whole=whole, unit=unit, most=most)


def near(x: Any) -> Near:
    """Return exact values, such as conditions and whole numbers, with bounds."""
    if isinstance(x, Near):
        return x
    array = np.asarray(x)
    if array.dtype.kind in "iu":
        return Near(whole=array.astype(float), most=float(np.abs(array).max(initial=0)))
    return Near(array)


def _gamma(count: int) -> float:
    """Return the relative error of a sum of products, below 2**28, in any order, fused or not."""
    return (count + 2) * U * SLACK


def _fits(bound: Callable[..., float], *numbers: Near) -> bool:
    """Whether results stay below 2**53, by bounds of sizes or by the sizes."""
    if any(each.whole is None for each in numbers):
        return False
    if bound(*(each.most for each in numbers)) < LARGEST_WHOLE:
        return True
    return bound(*(each.tight() for each in numbers)) < LARGEST_WHOLE


def _alike(bound: Callable[[float, float], float], a: Near, b: Near) -> tuple[Near, Near] | None:
    """Return both as multiples of one unit, if that and a bound of the result allow it."""
    if a.whole is None or b.whole is None:
        return None
    p, q = a.unit, b.unit
    if p != q:
        denominator = p.denominator * q.denominator
        p = Fraction(gcd(int(p * denominator), int(q * denominator)), denominator)
    first, second = float(a.unit / p), float(b.unit / p)
    fits = _is_plain(p) and max(first, second) < LARGEST_WHOLE
    if not fits or not _fits(lambda x, y: bound(x * first, y * second), a, b):
        return None
    return tuple(  # type: ignore[return-value]
        x if k == 1 else _whole(x.whole * k, p, x.most * k) for x, k in ((a, first), (b, second))
    )


def _is_plain(unit: Fraction) -> bool:
    """Whether whole multiples of a unit neither overflow nor underflow in floats."""
    return SMALLEST_UNIT < unit < 1 / SMALLEST_UNIT


def _sum(ufunc: Any, a: Near, b: Near) -> Near:
    if alike := _alike(lambda x, y: x + y, a, b):
        one, other = alike
        return _whole(ufunc(one.whole, other.whole), one.unit, one.most + other.most)
    made = ufunc(a.values, b.values)
    is_endless = np.isinf(a.values) | np.isinf(b.values)
    return Near(made, a.errors + b.errors + np.where(is_endless, 0.0, np.abs(made) * U))


def _product(a: Near, b: Near) -> Near:
    unit = a.unit * b.unit
    if _fits(lambda x, y: x * y, a, b) and _is_plain(unit):
        for one, other in ((a, b), (b, a)):
            if other.ndim == 0 and other.whole == 1:
                return _whole(one.whole, unit, one.most)
        return _whole(a.whole * b.whole, unit, a.most * b.most)
    made, right = a.values * b.values, np.abs(b.values)
    errors = np.abs(a.values) * b.errors + a.errors * (right + b.errors)
    return Near(made, errors + np.abs(made) * U + LEAST)


def _quotient(a: Near, b: Near) -> Near:
    is_by_number = b.whole is not None and b.ndim == 0 and b.whole and np.isfinite(b.whole)
    if a.whole is not None and is_by_number:
        unit = a.unit / (b.unit * abs(int(b.whole)))
        if _is_plain(unit):
            return _whole(a.whole if b.whole > 0 else -a.whole, unit, a.most)
    least = np.abs(b.values) - b.errors
    made = a.values / b.values
    errors = (a.errors + np.abs(made) * b.errors) / least + np.abs(made) * U + LEAST
    return Near(made, np.where(least > 0, errors, np.inf))


def _power(a: Near, b: Near) -> Near:
    base = np.abs(a.values)
    made = a.values**b.values
    share = a.errors / base  # (x (1 + s))**y is x**y exp(y log(1 + s))
    wide = (np.abs(b.values) + b.errors) * -np.log1p(-np.minimum(share, 1.0))
    wide = wide + b.errors * np.abs(np.log(base))
    return Near(made, np.abs(made) * (_grown(wide) + OF_FUNCTIONS) + LEAST)


def _grown(x: Matrix) -> Matrix:
    """Return a bound of exp(x) - 1 for x >= 0."""
    return np.where(x <= 1, x * (1 + x), np.inf)


def _product_of_matrices(a: Near, b: Near) -> Near:
    count, unit = a.shape[-1], a.unit * b.unit
    if _fits(lambda x, y: count * x * y, a, b) and _is_plain(unit):
        return _whole(np.matmul(a.whole, b.whole), unit, count * a.most * b.most)
    gamma, left, right = _gamma(count), np.abs(a.values), np.abs(b.values)
    if b.whole is not None:  # all of one relative error
        errors = np.matmul(SLACK * a.errors + (gamma + 2 * b.relative) * left, right)
    elif a.whole is not None:
        errors = np.matmul(left, SLACK * b.errors + (gamma + 2 * a.relative) * right)
    else:
        errors = np.matmul(a.errors + gamma * left, right + b.errors)
        errors += np.matmul(left, b.errors)
    return Near(np.matmul(a.values, b.values), errors * SLACK + count * LEAST)


def _compared(ufunc: Any, a: Near, b: Near) -> Any:
    """Return where a comparison is true; undecided if the bounds overlap."""
    if alike := _alike(max, a, b):
        return ufunc(alike[0].whole, alike[1].whole)
    wide = a.errors + b.errors
    is_open = (wide > 0) & ~(np.abs(a.values - b.values) / SLACK > wide)
    holds = ufunc(a.values, b.values)
    return Near(holds, is_open) if is_open.any() else holds


def _where(test: Any, a: Any, b: Any) -> Near:
    a, b = near(a), near(b)
    if isinstance(test, Near):
        made = _where(test.values, a, b)
        apart = np.where(a.values == b.values, 0.0, np.abs(a.values - b.values)) * SLACK
        return Near(made.values, np.where(test.errors, apart + a.errors + b.errors, made.errors))
    if alike := _alike(max, a, b):
        one, other = alike
        return _whole(np.where(test, one.whole, other.whole), one.unit, max(one.most, other.most))
    return Near(np.where(test, a.values, b.values), np.where(test, a.errors, b.errors))


_COMPARISONS = np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal
_LOGICAL = np.logical_and, np.logical_or, np.logical_not
_UFUNCS: dict[Any, Callable[..., Any]] = {
    np.add: partial(_sum, np.add),
    np.subtract: partial(_sum, np.subtract),
    np.multiply: _product,
    np.true_divide: _quotient,
    np.power: _power,
    np.matmul: _product_of_matrices,
    np.maximum: lambda a, b: _where(a >= b, a, b),
    np.minimum: lambda a, b: _where(a <= b, a, b),
    **{ufunc: partial(_compared, ufunc) for ufunc in _COMPARISONS},
    **{ufunc: lambda *tests, of=ufunc: of(*map(np.asarray, tests)) for ufunc in _LOGICAL},
}


def _finite(x: Matrix) -> Matrix:
    return np.where(np.isinf(x), 0.0, x)


def _powers(x: Near) -> Near:
    """Return powers of e, with few passes over the arrays."""
    values = x.values
    if x.whole is not None and (x.relative * x.most * x.unit <= 1):
        relative = np.abs(values)
        relative *= x.relative * (1 + x.relative * float(x.most * x.unit)) * SLACK
    else:
        relative = _grown(x.errors)
    relative += OF_FUNCTIONS
    made = np.exp(values)
    if np.isfinite(relative.max(initial=0.0)):
        relative *= made
    else:
        relative = np.where(np.isinf(values), 0.0, relative * np.maximum(made, LEAST))
    relative += LEAST
    return Near(made, relative)


def _softmax(scores: Near, beside: list[Near]) -> Near:
    """Return each power of e divided by the sum of its row: by a product with its inverse."""
    if beside or scores.whole is None:
        shift = scores.values.max(axis=-1, keepdims=True)
        for each in beside:
            shift = np.maximum(shift, each.values)
        # the same number is subtracted from all: it may be any, and has no error
        shift = Near(_finite(shift))
    else:
        shift = scores.each(lambda each: _finite(each.max(axis=-1, keepdims=True)))
    x = _powers(scores - shift)
    total = sum((_powers(each - shift) for each in beside), x.sum(axis=-1, keepdims=True))
    least = total.values - total.errors
    is_empty = total.values == 0  # no key is left
    least = np.where(is_empty, 1.0, np.where(least > 0, least, np.nan))
    made = x.values * (1 / np.where(is_empty, 1.0, total.values))
    return Near(made, x.errors * (SLACK / least) + made * (total.errors / least + 3 * U))


class NearFrame(Frame):
    """The inputs of an equation: numbers with bounds."""

    __slots__ = ()

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.like = np.empty(0)

    def number(self, value: Any) -> Any:
        """Return a number: exact if it is rational."""
        if isinstance(value, float) and not np.isfinite(value):
            return Near(whole=value, most=0.0)
        if isinstance(value, Decimal) or (value and not _is_plain(abs(Fraction(value)))):
            return Near(float(value), abs(float(value)) * U + LEAST)
        value = Fraction(value)
        return _whole(np.sign(float(value)), abs(value) or Fraction(1), 1.0)

    def constant(self, x: Node) -> Any:
        """Return the number of a node that depends on no entry and no index."""
        with localcontext(OF_CONSTANTS):
            return self.number(constant(x, Frame({"x": np.empty(0, object)}, self.numbers)))

    def array(self, value: Value) -> Any:
        """Return a value with bounds."""
        return near(value)

    of_whole = array

    def zeros(self, shape: tuple[int, ...]) -> Any:
        """Return writable zeros."""
        return Near(np.zeros(shape), np.zeros(shape))

    def function(self, name: str, argument: Any) -> Any:
        """Return a function of each entry."""
        values, errors = argument.values, argument.errors
        if name == "exp":
            return _powers(argument)
        if name == "abs":
            whole = argument.whole is not None
            return argument.each(np.abs) if whole else Near(np.abs(values), errors)
        made = FUNCTIONS[name](values)
        sizes = np.abs(made)
        if name == "sqrt":  # |sqrt(x) - sqrt(y)| <= |x - y| / sqrt(x)
            wide = np.where(errors > 0, errors / sizes, 0.0) + sizes * U
            return Near(made, np.where((values > 0) | (errors == 0), wide, np.inf))
        if name == "log":
            wide = errors / (values - errors) + sizes * OF_FUNCTIONS + LEAST
            return Near(made, np.where(values > errors, wide, np.inf))
        # none is steeper than 2 / sqrt(pi), and angles may lose all digits
        steepest = 1.1284 if name == "erf" else 1.0
        top = 1.0 if name in ("sin", "cos") else sizes
        return Near(made, np.minimum(errors * steepest, 2.0) + top * OF_FUNCTIONS + LEAST)

    def weigh(self, kind: str, scores: Any, beside: list[Any]) -> Any:
        """Return rows of weights: softmax, hardmax, and each score over the sum of its row."""
        if kind == "softmax":
            return _softmax(scores, beside)
        if kind == "hardmax":
            masked = np.isneginf(scores.values)
            won = near(scores >= scores.max(axis=-1, keepdims=True))
            first = won.values.astype(bool) & ~masked
            weights = first / np.maximum(first.sum(axis=-1, keepdims=True), 1)
            tied = won.errors.astype(bool) & ~masked
            is_open = tied & (tied.sum(axis=-1, keepdims=True) > 1)
            return Near(weights, np.where(is_open, 1.0, weights * U))
        counted = _where(np.isneginf(scores.values), self.number(0), scores)
        return counted / counted.sum(axis=-1, keepdims=True)


AT_ONCE = 1 << 15
"""Entries that are rounded at once, so that they stay in the cache."""


def nearest_digits(x: Near, decimals: int) -> tuple[Matrix, Matrix]:
    """Return values as whole numbers of 10**-decimals, and the flat places of undecided ones."""
    if (known := _rounded_whole(x, decimals)) is not None:
        return known, np.empty(0, int)
    digits = np.empty(x.shape)
    found = [np.empty(0, int)]
    flat, wide, made = (each.reshape(-1) for each in (x.values, x.errors, digits))
    scale = 10.0**decimals
    for start in range(0, flat.size, AT_ONCE):
        part = slice(start, start + AT_ONCE)
        with np.errstate(all="ignore"):
            scaled = flat[part] * scale
            np.rint(scaled, out=made[part])
            # the product with the scale is rounded, and so is a scale beyond 10**22
            rounding = 4 * U * (np.abs(made[part]) + 1)
            apart = np.abs(scaled - made[part]) + wide[part] * (scale * SLACK) + rounding
            is_open = ~((apart < 0.5) & (np.abs(scaled) < LARGEST_SHOWN - 1))
        is_open &= ~(np.isinf(flat[part]) & (wide[part] == 0))
        made[part] += 0.0  # never -0
        found.append(start + np.flatnonzero(is_open))
    return digits, np.concatenate(found)


def _rounded_whole(x: Near, decimals: int) -> Any:
    """Return the digits of whole multiples, half away from zero; None if they may be many."""
    top, bottom = (x.unit * 10**decimals).as_integer_ratio()
    if x.whole is None or max(top, bottom) >= LARGEST_WHOLE:
        return None
    if 2 * x.tight() * top + bottom >= min(LARGEST_WHOLE, 2 * bottom * LARGEST_SHOWN):
        return None
    made = np.abs(x.whole)
    made *= 2.0 * top
    made += bottom
    # both are below 2**53, so that no quotient is rounded up to the next whole number
    made /= 2.0 * bottom
    np.floor(made, out=made)
    np.copysign(made, x.whole, out=made)
    made += 0.0  # never -0
    return made
