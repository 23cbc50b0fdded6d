"""Numbers with a proven bound of their error: arrays that answer numpy's functions as arrays do.

`Near` holds values in float64, or in Decimals of the current context, and for each a bound of its
absolute error, carried along by running error analysis (Higham, Accuracy and Stability of Numerical
Algorithms, 2nd ed., sections 3.1 to 3.3). While values are whole multiples of one unit, below
2**53 of them, they are held as such, and sums and products of them have no error at all.
"""

from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, Inexact, getcontext
from fractions import Fraction
from functools import partial
from math import gcd
from typing import Any, Self

import numpy as np

from attncalc.numbers.decimals import to_decimal
from attncalc.numbers.types import Matrix

SLACK = 1 + 2.0**-20
"""More than the roundings of the bounds themselves add up to."""
U = 2.0**-53 * SLACK
"""Relative error of one rounding of float64: of +, -, *, / and sqrt, in any IEEE 754 arithmetic."""
LEAST = 1e-300
"""More than underflow loses."""
OF_FUNCTIONS = 16 * U
"""Relative error of exp, log, tanh, erf, sin, cos and powers in float64: 8 units in the last place.

Intel's SVML, which NumPy uses where there is AVX-512, is within 4 units at its medium accuracy, and
the GNU C library within 3 ("Known Maximum Errors in Math Functions" of its manual). Neither proves
its bound: this is twice the larger one, and the tests measure these functions against Decimals.
"""
LARGEST_WHOLE = 2.0**53
SMALLEST_UNIT = Fraction(1, 10**250)
MOST_TERMS = 1 << 28
"""Terms of a sum up to which its error is as good as linear in their number."""


SAME = 1e-30
"""How far apart scores are, relative to the largest, that tie: as in `rows.winners`."""


class UndecidedError(ArithmeticError):
    """A choice that the bounds leave open, such as the place of an entry."""


class Near(np.lib.mixins.NDArrayOperatorsMixin):
    """An array of values and one of bounds, or of whole multiples of a unit.

    Parameters
    ----------
    values, errors
        The values, and how far each may be from the true one; for a condition, whether it holds,
        and where that is open.
    whole, unit, most
        Instead: whole numbers in float64, what they are multiples of, and a bound of their size.
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
        self._values: Any = None if values is None else np.asarray(values)
        self._errors: Any = None
        if values is not None:
            shape: tuple[int, ...] = np.shape(np.asarray(values))
            wide = np.asarray(errors)
            self._errors = wide if wide.shape == shape else np.broadcast_to(wide, shape)

    @property
    def values(self) -> Any:
        """The values: of whole multiples the nearest floats."""
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
        """How far each value may be from the true one."""
        if self._errors is None:
            values = self.values
            if self._is_rounded_once and not self.unit.denominator & (self.unit.denominator - 1):
                self._errors = np.broadcast_to(0.0, values.shape)
            else:
                self._errors = np.abs(values) * self.relative
                if not np.isfinite(self._errors).all():
                    self._errors = np.where(np.isinf(values), 0.0, self._errors)
        return self._errors

    @property
    def _is_rounded_once(self) -> bool:
        is_small = self.most * self.unit.numerator < LARGEST_WHOLE
        return is_small and self.unit.denominator < LARGEST_WHOLE

    @property
    def relative(self) -> float:
        """The largest relative error of the values of whole multiples."""
        return U if self._is_rounded_once else 2 * U

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        return np.shape(self.whole if self._values is None else self._values)

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return len(self.shape)

    def each(self, function: Callable[[Matrix], Matrix]) -> "Near":
        """Return another arrangement of the same entries."""
        if self.whole is not None:
            return _whole(function(self.whole), self.unit, self.most)
        return Near(function(self.values), function(self.errors))

    def tight(self) -> float:
        """Return the size of the largest whole number, infinity aside."""
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
        """Return transposes, copies and other shapes, as arrays have them."""
        if name not in ("transpose", "reshape", "copy"):
            raise AttributeError(name)
        return lambda *args, **named: self.each(lambda part: getattr(part, name)(*args, **named))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Matrix:
        if np.any(self.errors):
            raise UndecidedError("places and conditions need numbers that are known exactly")
        return np.asarray(self.values, dtype)

    def __bool__(self) -> bool:
        return bool(np.asarray(self))

    def sum(self, axis: int, keepdims: bool = False) -> "Near":
        """Return sums, in whatever order they are added up."""
        count = self.shape[axis]
        if self.whole is not None and _fits(lambda most: count * most, self):
            return _whole(
                self.whole.sum(axis=axis, keepdims=keepdims), self.unit, count * self.most
            )
        total = partial(np.sum, axis=axis, keepdims=keepdims)
        made, unit = _rounded(total, self.values)
        errors = total(self.errors)
        return Near(made, errors + (_gamma(count, unit) * total(size(self.values)) if unit else 0))

    def max(self, axis: int, keepdims: bool = False) -> "Near":
        """Return maxima."""
        if self.whole is not None:
            return _whole(self.whole.max(axis=axis, keepdims=keepdims), self.unit, self.most)
        ends = (each.max(axis=axis, keepdims=keepdims) for each in (self.values, self.errors))
        return Near(*ends)

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
        """Return a matrix of numbers as typed: Decimals and Fractions, or floats.

        Floats stand for the shortest decimals that are stored as these floats.
        """
        if matrix.dtype != object:
            return cls._of_floats(np.asarray(matrix, np.float64))
        flat = [Fraction(x) if isinstance(x, Fraction) or x.is_finite() else x for x in matrix.flat]
        values = np.array([float(x) for x in flat]).reshape(matrix.shape)
        common = 1
        for x in flat:
            if isinstance(x, Fraction) and common % x.denominator:
                common = common // gcd(common, x.denominator) * x.denominator
                if common > LARGEST_WHOLE:
                    break
        most = max((abs(x) * common for x in flat if isinstance(x, Fraction)), default=0)
        if common > LARGEST_WHOLE or most > LARGEST_WHOLE:
            return cls(values, np.where(np.isinf(values), 0.0, np.abs(values) * U + LEAST))
        whole = [int(x * common) if isinstance(x, Fraction) else float(x) for x in flat]
        shaped = np.array(whole, float).reshape(matrix.shape)
        return cls(whole=shaped, unit=Fraction(1, common), most=float(most))

    @classmethod
    def _of_floats(cls, values: Matrix) -> Self:
        finite = values if np.isfinite(values).all() else np.where(np.isinf(values), 0.0, values)
        for places in range(16):
            whole = np.rint(finite * 10.0**places)
            most = float(np.abs(whole).max(initial=0.0))
            if most >= 10.0**15:  # a float holds any 15 digits
                break
            if (whole / 10.0**places == finite).all():
                shown = np.where(np.isinf(values), values, whole)
                return cls(whole=shown, unit=Fraction(1, 10**places), most=most)
        return cls(values, np.where(np.isinf(values), 0.0, np.abs(values) * U + LEAST))


def _whole(whole: Matrix, unit: Fraction, most: float) -> Near:
    return Near(whole=whole, unit=unit, most=most)


def near(x: Any) -> Near:
    """Return what is known exactly, as conditions and whole numbers are, as such a number."""
    if isinstance(x, Near):
        return x
    array = np.asarray(x)
    if array.dtype.kind in "iu":
        return Near(whole=array.astype(float), most=float(np.abs(array).max(initial=0)))
    return Near(array)


def number(value: Fraction | float | Decimal, like: Matrix) -> Near:
    """Return a number: exactly where it is rational."""
    if isinstance(value, float) and not np.isfinite(value):
        return Near(Decimal(value)) if like.dtype == object else Near(whole=value, most=0.0)
    if isinstance(value, Decimal):  # of a constant that is not rational, to more digits than these
        made = +value if like.dtype == object else float(value)
        return Near(made, abs(float(value)) * unit_of(like))
    value = Fraction(value)
    if like.dtype == object:
        made, unit = _rounded(to_decimal, value)
        return Near(made, abs(float(made)) * unit)
    if value and not _is_plain(abs(value)):
        return Near(float(value), abs(float(value)) * U + LEAST)
    return Near(whole=float((value > 0) - (value < 0)), unit=abs(value) or Fraction(1), most=1.0)


def unit_of(like: Matrix) -> float:
    """Return the relative error of one rounding."""
    return 10.0 ** (1 - getcontext().prec) if like.dtype == object else U


def size(values: Any) -> Any:
    """Return absolute values, in floats."""
    return np.abs(np.asarray(values, float))


def _gap(x: Any, y: Any) -> float:
    """Return how far two numbers are apart, of which one may be a float and one a Decimal."""
    return 0.0 if x == y else float(abs(Decimal(x) - Decimal(y)))


def _apart(a: Matrix, b: Matrix) -> Matrix:
    """Return how far values are apart, in floats; equal infinities are not."""
    if a.dtype == object or b.dtype == object:
        return np.asarray(np.frompyfunc(_gap, 2, 1)(a, b), float)
    with np.errstate(invalid="ignore"):
        return np.where(a == b, 0.0, np.abs(a - b))


def _rounded(function: Callable[..., Any], *values: Any) -> tuple[Any, float]:
    """Return values and the relative error of one rounding: 0 where Decimals needed none."""
    if all(np.asarray(each).dtype != object for each in values):
        return function(*values), U
    context = getcontext()
    context.clear_flags()
    made = function(*values)
    return made, 10.0 ** (1 - context.prec) if context.flags[Inexact] else 0.0


def _gamma(count: int, unit: float) -> float:
    """Return the relative error of a sum of products in any order, fused or not."""
    return (count + 2) * unit * SLACK if count < MOST_TERMS else np.inf


def _fits(bound: Callable[..., float], *numbers: Near) -> bool:
    """Whether results stay below 2**53, judged by bounds of sizes, and else by the sizes."""
    if any(each.whole is None for each in numbers):
        return False
    if bound(*(each.most for each in numbers)) < LARGEST_WHOLE:
        return True
    return bound(*(each.tight() for each in numbers)) < LARGEST_WHOLE


def _common(a: Near, b: Near) -> tuple[Fraction, float, float]:
    """Return the largest unit of both, and how many of it theirs are."""
    if a.whole is None or b.whole is None or a.unit == b.unit:
        return a.unit, 1.0, 1.0
    (p, q), (r, s) = a.unit.as_integer_ratio(), b.unit.as_integer_ratio()
    unit = Fraction(gcd(p * s, r * q), q * s)
    if not _is_plain(unit):
        return unit, np.inf, np.inf
    first, second = (x / unit for x in (a.unit, b.unit))
    if max(first, second) >= LARGEST_WHOLE:
        return unit, np.inf, np.inf
    return unit, float(first), float(second)


def _is_plain(unit: Fraction) -> bool:
    """Whether whole multiples of a unit neither overflow nor underflow in floats."""
    return SMALLEST_UNIT < unit < 1 / SMALLEST_UNIT


def _sum(ufunc: Any, a: Near, b: Near) -> Near:
    common, p, q = _common(a, b)
    if max(p, q) < LARGEST_WHOLE and _fits(lambda x, y: x * p + y * q, a, b):
        ends = (each.whole if k == 1 else each.whole * k for each, k in ((a, p), (b, q)))
        return _whole(ufunc(*ends), common, a.most * p + b.most * q)
    made, unit = _rounded(ufunc, a.values, b.values)
    errors = a.errors + b.errors + (size(made) * unit if unit else 0.0)
    return Near(made, np.where(np.isinf(size(made)), a.errors + b.errors, errors))


def _product(a: Near, b: Near) -> Near:
    if _fits(lambda x, y: x * y, a, b) and _is_plain(a.unit * b.unit):
        for one, other in ((a, b), (b, a)):
            if other.ndim == 0 and other.whole == 1:
                return _whole(one.whole, a.unit * b.unit, one.most)
        return _whole(a.whole * b.whole, a.unit * b.unit, a.most * b.most)
    made, unit = _rounded(np.multiply, a.values, b.values)
    errors = size(a.values) * b.errors + a.errors * (size(b.values) + b.errors)
    return Near(made, errors + (size(made) * unit + LEAST if unit else 0.0))


def _quotient(a: Near, b: Near) -> Near:
    is_by_number = b.whole is not None and b.ndim == 0 and b.whole and np.isfinite(b.whole)
    if a.whole is not None and is_by_number:
        unit = a.unit / (b.unit * abs(int(b.whole)))
        if _is_plain(unit):
            return _whole(a.whole if b.whole > 0 else -a.whole, unit, a.most)
    least = size(b.values) - b.errors
    divisor = np.where(least > 0, b.values, 1) if b.values.dtype == object else b.values
    made, rounding = _rounded(np.true_divide, a.values, divisor)
    errors = (a.errors + size(made) * b.errors) / least
    errors = errors + (size(made) * rounding + LEAST if rounding else 0.0)
    return Near(made, np.where(least > 0, errors, np.inf))


def _power(a: Near, b: Near) -> Near:
    base = size(a.values)
    made, unit = _rounded(np.power, a.values, b.values)
    share = a.errors / base  # (x (1 + s))**y is x**y exp(y log(1 + s))
    wide = (size(b.values) + b.errors) * -np.log1p(-np.minimum(share, 1.0))
    wide = wide + b.errors * np.abs(np.log(base))
    return Near(made, size(made) * (grown(wide) + 16 * unit) + (LEAST if unit else 0.0))


def grown(x: Matrix) -> Matrix:
    """Return a bound of exp(x) - 1 for x >= 0."""
    return np.where(x <= 1, x * (1 + x), np.inf)


def _product_of_matrices(a: Near, b: Near) -> Near:
    count = a.shape[-1]
    if _fits(lambda x, y: count * x * y, a, b) and _is_plain(a.unit * b.unit):
        return _whole(np.matmul(a.whole, b.whole), a.unit * b.unit, count * a.most * b.most)
    made, unit = _rounded(np.matmul, a.values, b.values)
    gamma, left, right = _gamma(count, unit), size(a.values), size(b.values)
    if b.whole is not None:  # all of one relative error
        errors = np.matmul(SLACK * a.errors + (gamma + 2 * b.relative) * left, right)
    elif a.whole is not None:
        errors = np.matmul(left, SLACK * b.errors + (gamma + 2 * a.relative) * right)
    else:
        errors = np.matmul(a.errors + gamma * left, right + b.errors)
        if np.any(b.errors):
            errors += np.matmul(left, b.errors)
    return Near(made, errors * SLACK + (count * LEAST if unit else 0.0))


def _choice(larger: bool, a: Near, b: Near) -> Near:
    return _where(_compared(np.greater_equal if larger else np.less_equal, a, b), a, b)


def _compared(ufunc: Any, a: Near, b: Near) -> Any:
    """Return where a comparison holds; undecided where the bounds overlap."""
    _, p, q = _common(a, b)
    if max(p, q) < LARGEST_WHOLE and _fits(lambda x, y: max(x * p, y * q), a, b):
        return ufunc(a.whole * p, b.whole * q)
    holds = ufunc(a.values, b.values).astype(bool)
    wide = a.errors + b.errors
    if not np.any(wide):
        return holds
    is_open = (wide > 0) & ~(_apart(a.values, b.values) / SLACK > wide)
    return Near(holds, is_open) if is_open.any() else holds


def _logical(ufunc: Any, a: Near, *others: Near) -> Near:
    is_open = a.errors.astype(bool)
    for other in others:
        is_open = is_open | other.errors.astype(bool)
    return Near(ufunc(*(each.values.astype(bool) for each in (a, *others))), is_open)


def _where(test: Any, a: Any, b: Any) -> Near:
    a, b = near(a), near(b)
    if not isinstance(test, Near):
        unit, p, q = _common(a, b)
        if max(p, q) < LARGEST_WHOLE and _fits(lambda x, y: max(x * p, y * q), a, b):
            ends = (each.whole if k == 1 else each.whole * k for each, k in ((a, p), (b, q)))
            return _whole(np.where(test, *ends), unit, max(a.most * p, b.most * q))
        made = np.where(test, a.values, b.values)
        return Near(made, np.where(test, a.errors, b.errors))
    made = _where(test.values.astype(bool), a, b)
    if not np.any(test.errors):
        return made
    apart = _apart(a.values, b.values) * SLACK
    errors = np.where(test.errors, apart + a.errors + b.errors, made.errors)
    return Near(made.values, errors)


_UFUNCS: dict[Any, Callable[..., Any]] = {
    np.add: partial(_sum, np.add),
    np.subtract: partial(_sum, np.subtract),
    np.multiply: _product,
    np.true_divide: _quotient,
    np.power: _power,
    np.matmul: _product_of_matrices,
    np.maximum: partial(_choice, True),
    np.minimum: partial(_choice, False),
    **{
        ufunc: partial(_compared, ufunc)
        for ufunc in (
            np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal
        )
    },
    **{ufunc: partial(_logical, ufunc)
       for ufunc in (np.logical_and, np.logical_or, np.logical_not)},
}  # fmt: skip


def function(name: str, x: Near, of: Callable[[Matrix], Matrix]) -> Near:
    """Return a function of each entry, as `of` computes it."""
    values, errors = x.values, x.errors
    if name == "abs":
        if x.whole is not None:
            return _whole(np.abs(x.whole), x.unit, x.most)
        return Near(of(values), errors)
    if values.dtype == object and name in ("sqrt", "log"):
        least = size(values) if name == "sqrt" else size(values) - errors
        values = np.where(least > 0, np.abs(values), 1 if name == "log" else 0)
    if name == "exp" and values.dtype == object:
        return _powers_in_decimals(values, errors)
    made, unit = _rounded(of, values)
    sizes = size(made)
    if name == "sqrt":  # |sqrt(x) - sqrt(y)| <= |x - y| / sqrt(x)
        wide = np.where(errors > 0, errors / sizes, 0.0) + sizes * unit
        return Near(made, np.where((size(values) > 0) | (errors == 0), wide, np.inf))
    rounding = 16 * unit
    if name == "exp":
        wide = np.where(np.isinf(made), np.inf, sizes * (grown(errors) + rounding) + LEAST)
        return Near(made, np.where(errors <= 1, wide, np.inf))
    if name == "log":
        least = size(values) - errors
        wide = errors / least + (sizes + (unit > U)) * rounding + LEAST
        return Near(made, np.where((least > 0) & (x.values > 0), wide, np.inf))
    # none is steeper than 2 / sqrt(pi), and in sines and cosines the argument may lose all digits
    steepest = 1.1284 if name == "erf" else 1.0
    top = 1.0 if name in ("sin", "cos") or values.dtype == object else sizes
    return Near(made, np.minimum(errors * steepest, 2.0) + top * rounding + LEAST)


def _powers_in_decimals(x: Matrix, errors: Matrix) -> Near:
    """Return powers of e: those far below 1 to fewer digits, as beside 1 no more of them counts."""
    floats, digits = np.asarray(x, float), getcontext().prec
    far = floats < -2.4 * digits
    own = np.where(far, 0, np.clip(digits + floats / 2.3, 9, digits)).astype(int)
    own = np.where(floats > 0, digits, own)
    kinds = (max(1, int(k)) for k in np.unique(own))
    contexts = {k: Context(prec=k, Emin=MIN_EMIN, Emax=MAX_EMAX) for k in kinds}
    one = np.frompyfunc(lambda value, k: contexts[k].exp(value) if k else Decimal(0), 2, 1)
    made = np.asarray(one(x, own), object)
    wide = size(made) * (grown(errors) + 10.0 ** (2 - own)) + LEAST
    wide = np.where((x == 0) & (errors == 0), 0.0, np.where(errors <= 1, wide, np.inf))
    with np.errstate(all="ignore"):
        bound = np.where(np.isinf(floats), 0.0, np.exp(floats + errors) * 1.01 + LEAST)
    return Near(made, np.where(far, bound, wide))


def weigh(kind: str, scores: Near, beside: list[Near]) -> Any:
    """Return rows of weights: softmax, hardmax, and each score over the sum of its row."""
    in_decimals = scores.values.dtype == object
    zero, one = (np.asarray(Decimal(k) if in_decimals else float(k)) for k in (0, 1))
    masked = np.isinf(size(scores.values)) & (scores.values < 0)
    if kind == "share":
        counted = _where(masked, Near(zero), scores) if masked.any() else scores
        return counted / counted.sum(axis=-1, keepdims=True)
    if kind == "hardmax":
        best = scores.max(axis=-1, keepdims=True)
        won = near(_compared(np.greater_equal, scores, best))
        if in_decimals and (scores.errors <= SAME / 1e5 * size(best.values)).all():
            apart = _apart(np.where(masked, best.values, scores.values), best.values)
            won = Near(apart <= SAME * size(best.values))
        first = won.values.astype(bool) & ~masked
        weights = Near(np.where(first, one, zero))
        made = weights / np.maximum(weights.sum(axis=-1, keepdims=True), Near(one))
        tied = (won.errors.astype(bool) & ~masked).sum(axis=-1, keepdims=True) > 1
        return Near(made.values, np.where(tied & ~masked, 1.0, made.errors))
    if beside or scores.whole is None:
        shift = scores.values.max(axis=-1, keepdims=True)
        for each in beside:
            shift = np.maximum(shift, each.values)
        # the same number is taken off all: it may be any, and has no error
        shift = Near(np.where(np.isinf(size(shift)), 0, shift))
    else:
        shift = scores.max(axis=-1, keepdims=True)
        shift = _whole(np.where(np.isinf(shift.whole), 0.0, shift.whole), shift.unit, shift.most)
    powers = partial(function, "exp", of=np.exp) if in_decimals else _powers
    made = powers(scores - shift)
    total = made.sum(axis=-1, keepdims=True)
    for each in beside:
        total = total + powers(each - shift)
    if np.any(empty := total.values == 0):
        total = Near(np.where(empty, 1, total.values), total.errors)
    return made / total if in_decimals else _shares(made, total)


def _powers(x: Near) -> Near:
    """Return powers of e in floats, with few passes over the arrays."""
    values = x.values
    if x.whole is not None and (x.relative * x.most * x.unit <= 1):
        relative = np.abs(values)
        relative *= x.relative * (1 + x.relative * float(x.most * x.unit)) * SLACK
    else:
        relative = grown(x.errors)
    relative += OF_FUNCTIONS
    made = np.exp(values)
    if np.isfinite(relative.max(initial=0.0)):
        relative *= made
    else:
        relative = np.where(np.isinf(values), 0.0, relative * np.maximum(made, LEAST))
    relative += LEAST
    return Near(made, relative)


def _shares(x: Near, total: Near) -> Near:
    """Return a quotient by the sum of each row: by a product with its inverse."""
    least = total.values - total.errors
    least = np.where(least > 0, least, np.nan)
    made = x.values * (1 / total.values)
    errors = x.errors * (SLACK / least)
    errors += made * (total.errors / least + 3 * U)
    return Near(made, errors)


def rounded_whole(x: Near, decimals: int) -> Any:
    """Return whole multiples of a unit as those of 10**-decimals, half away from zero.

    None where the whole numbers on the way there would not stay below 2**53.
    """
    top, bottom = (x.unit * 10**decimals).as_integer_ratio()
    if max(top, bottom) >= LARGEST_WHOLE or 2 * x.tight() * top + bottom >= LARGEST_WHOLE:
        return None
    if bottom == 1:
        return x.whole * float(top) + 0.0
    made = np.abs(x.whole)
    made *= 2.0 * top
    made += bottom
    # both are below 2**53, so that no quotient is rounded up to the next whole number
    made /= 2.0 * bottom
    np.floor(made, out=made)
    np.copysign(made, x.whole, out=made)
    made += 0.0  # never -0
    return made


AT_ONCE = 1 << 15
"""Entries that are rounded at once, so that they stay in the cache."""


def nearest_digits(values: Matrix, errors: Matrix, decimals: int) -> tuple[Matrix, Matrix]:
    """Return values as whole numbers of 10**-decimals, and the flat places of those left open."""
    digits = np.empty(values.shape)
    found = [np.empty(0, int)]
    parts = (each.reshape(-1) for each in (values, np.ascontiguousarray(errors), digits))
    flat, wide, made = parts
    for start in range(0, flat.size, AT_ONCE):
        part = slice(start, start + AT_ONCE)
        is_open = _open(flat[part], wide[part], decimals, made[part])
        found.append(start + np.flatnonzero(is_open))
    return digits, np.concatenate(found)


def open_entries(values: Matrix, errors: Matrix, decimals: int) -> Matrix:
    """Return which entries' digits, rounded half away from zero, their bounds leave open."""
    return _open(values, errors, decimals, np.empty(values.shape))


def _open(values: Matrix, errors: Matrix, decimals: int, digits: Matrix) -> Matrix:
    """Return what is open, and write the nearest whole numbers into `digits`."""
    scale = 10.0**decimals
    with np.errstate(all="ignore"):
        apart = values * scale
        np.rint(apart, out=digits)
        apart -= digits
        np.abs(apart, out=apart)
        apart += errors * (scale * SLACK)
        # the product with the scale is rounded, and so is a scale beyond 10**22
        most = max(digits.max(initial=0.0), -digits.min(initial=0.0)) + 1
        apart += 4 * U * (most if most < 1e6 else np.abs(digits) + 1)
        is_open: Matrix = ~(apart < 0.5)
        if is_open.any():
            is_open &= ~(np.isinf(values) & (errors == 0))
        digits += 0.0  # never -0
    return is_open
