"""The written-out work: how each entry of each step is calculated, in the digits shown."""

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from decimal import Decimal, DivisionByZero
from fractions import Fraction
from functools import cache, cached_property, lru_cache, partial, reduce
from typing import Any, Literal, NamedTuple

import numpy as np

from attncalc.base.rounding import fixed, half_away
from attncalc.base.typed import exact
from attncalc.base.types import Matrix, Place
from attncalc.equations.expressions import (
    DUST_OF_SUMS,
    MINUS_INFINITY,
    Explanation,
    Expression,
    Indexed,
    Negative,
    Number,
    Operand,
    Product,
    Quotient,
    Ratio,
    Root,
    Sum,
    fraction,
    given,
    significant,
    whole,
)
from attncalc.equations.operations.normalising import Softmax
from attncalc.problem.attention.declared import EACH_STEP
from attncalc.problem.fields import role_of
from attncalc.problem.step import Step
from attncalc.solving.solution import Solution, given_in_decimals

Fractions = Literal["plain", "mixed"]
FOOTNOTE_DIGITS = 2
MOST_HELD = 300_000
"""Entries that are cached as shown: a larger matrix is read again for its hidden values."""
MOST_MORE_DIGITS = 12
"""The most additional digits for a quotient to agree with its result."""
LARGEST_WRITTEN = 10**7
"""Intermediate numbers from here on are written with a power of ten."""
DUST_OF_DIGITS = Decimal("1e-20")
DUST_OF_DECIMALS, DUST_OF_FLOATS = DUST_OF_SUMS, Decimal("1e-12")
"""The residue of thirds, or of rounding, where the true sum is 0."""


class Derivation(NamedTuple):
    """One entry written out: its name, its forms, and the result as shown.

    place: its position in the plan's matrix, from 0.
    entry: its name, with its place as shown, from 1.
    is_exact: whether the result is exact, and the written numbers give it.
    remark: a short explanation if the arithmetic is not enough.
    hidden: its value, if it is not zero but shown as 0.00.
    """

    step: str
    place: Place
    entry: Indexed
    forms: tuple[Expression, ...]
    result: Expression
    is_exact: bool
    remark: str
    hidden: Number | None


def _operands(step: Step) -> tuple[str, ...]:
    """Return the inputs of a step, and for a recurrence the steps whose earlier rows it reads."""
    return step.inputs + step.rows_of


class Work:
    """The written-out work of a solution.

    solution: the steps, with all of their inputs.
    fractions: the notation of rational values: fractions, mixed numbers, or (None) decimals.
    comes_out: whether entries are written with the digits from which the result follows as shown.

    >>> from attncalc import self_attention
    >>> solution = self_attention([[1, 2]], [[3], [4]], [[1], [1]], [[1], [1]])
    >>> line = Work(solution).line("Q", (0, 0))
    >>> line.result.text, line.is_exact
    ('11.00', True)
    """

    def __init__(
        self, solution: Solution, fractions: Fractions | None = None, *, comes_out: bool = False
    ) -> None:
        self.solution, self.comes_out = solution, comes_out
        self.problem = solution.problem
        self.fractions = fractions
        self._steps = {step.name: step for step in solution.plan}
        # each entry is read by many others
        self._explanation = cache(self._explain)
        # an entry of a given matrix as typed, by its place in the input, or in the plan's layout
        typed, problem = self._as_typed, self.problem
        self.given = cache(lambda name, place: typed(problem.as_given(name)[place]))
        self._given_entry = cache(lambda name, place: typed(problem.given_as_typed[name][place]))
        self._step_entry = cache(self._read_step)
        self._operand = cache(self._make_operand)
        self._is_rational = cache(self._read_rationality)
        self._exact_row = cache(solution.exact_row)
        self.row = lru_cache(maxsize=max(1, MOST_HELD // (self.problem.m or 1)))(self._row)

    def lines(self, step: Step) -> Iterator[Derivation]:
        """Yield the work of every entry of a step, row by row as shown."""
        for shown in np.ndindex(self.solution.shape_of(step.name)):
            yield self.line(step.name, self.turned(shown))

    def turned(self, place: Place) -> Place:
        """Return a plan's place in the shown layout, or the reverse."""
        return self.problem.standing.place(place)

    def line(self, name: str, place: Place) -> Derivation:
        """Return the work of one entry."""
        forms, remark, true = self._explanation(name, place)
        result = self.shown(name, place)
        is_exact = result == MINUS_INFINITY or (true is not None and _value(result) == true)
        if self.fractions and true is not None and not is_exact and self._is_rational(name):
            forms = (*forms, self._fraction(true))
        if _is_said_by(result, forms[-1], is_exact=is_exact):  # as an unmasked score
            forms = forms[:-1]
        is_exact = is_exact and (not forms or self._gives(forms[-1], result))
        hidden = self.hidden(name, place)
        return Derivation(
            name, place, self.entry(name, place), forms, result, is_exact, remark, hidden
        )

    def reads(self, name: str, place: Place) -> tuple[tuple[str, Place], ...]:
        """Return the places that an entry is calculated from, in the layout of the plan."""
        found: dict[tuple[str, Place], None] = {}
        step = self._steps[name]
        with self.solution.arithmetic():
            noting = (_noting(self._operand(each, 0), found) for each in _operands(step))
            step.operation.explain(place, *noting)
        return tuple(found)

    def shown(self, name: str, place: Place) -> Number | Ratio:
        """Return an entry of a step as shown: its decimals, or its fraction."""
        text = fixed(self.solution.digits[name][place], self.problem.decimals)
        if text == "-inf":
            return MINUS_INFINITY
        if self.fractions and self._is_rational(name):
            true = self._explanation(name, place).exact
            if true is not None and (self.problem.rounding != EACH_STEP or true == Fraction(text)):
                return self._fraction(true)
        return Number(text)

    def _row(
        self, name: str, head: tuple[int, ...], row: int
    ) -> list[tuple[Number | Ratio, Number | None]]:
        """Return the entries of a row as shown, with hidden values of those shown as zero."""
        if self.fractions:
            columns = range(self.solution.shape_of(name)[-1])
            places = [self.turned((*head, row, column)) for column in columns]
            return [(self.shown(name, place), self.hidden(name, place)) for place in places]
        zero, texts = fixed(0.0, self.problem.decimals), self.solution.shown_row(name, head, row)
        return [
            (
                MINUS_INFINITY if text == "-inf" else Number(text),
                self._beneath(name, self.turned((*head, row, place))) if text == zero else None,
            )
            for place, text in enumerate(texts)
        ]

    def hidden(self, name: str, place: Place) -> Number | None:
        """Return the value of an entry that is shown as 0.00 and is not 0; otherwise None."""
        if self.solution.digits[name][place] != 0:
            return None
        shown = self.shown(name, place)
        is_fraction = isinstance(shown, Ratio) or shown.exact is not None
        return None if is_fraction else self._beneath(name, place)

    def _beneath(self, name: str, place: Place) -> Number | None:
        """Return the nonzero value of an entry that is shown as 0.00."""
        true = _decimal(self._unrounded(name, place))
        dust = DUST_OF_DECIMALS if self.solution.is_exact else DUST_OF_FLOATS
        if isinstance(self._steps[name].operation, Softmax):  # nothing cancels in a power of e
            dust = Decimal(0)
        with self.solution.arithmetic():
            return significant(true, FOOTNOTE_DIGITS) if abs(true) > dust else None

    def _unrounded(self, name: str, place: Place) -> Any:
        """Return an entry before rounding; of a large matrix, only this entry is computed."""
        *head, row, column = place
        is_large = self.problem.is_long or self.solution.remakes
        if is_large and self.problem.rounding == EACH_STEP:
            return self._exact_row(name, row)[(*head, column)]
        return self.solution.exact[name][place]

    def _explain(self, name: str, place: Place) -> Explanation:
        # the result of rounded numbers may differ from the result shown: then with more digits
        written = (self._explain_in(name, place, more) for more in range(MOST_MORE_DIGITS))
        first = next(written)
        made = first
        while not self._comes_out(made.forms[-1], name, place):
            made = next(written, first)
            if made is first:  # its inputs were rounded, too
                break
        return made._replace(forms=tuple(map(self.problem.standing.expression, made.forms)))

    def _explain_in(self, name: str, place: Place, more: int) -> Explanation:
        """Explain an entry with so many more digits of intermediate results."""
        step = self._steps[name]
        with self.solution.arithmetic():
            return step.operation.explain(
                place, *(self._operand(each, more) for each in _operands(step))
            )

    def _comes_out(self, form: Expression, name: str, place: Place) -> bool:
        """Return whether the written numbers of a line give the result as shown.

        If each step is rounded, only intermediate results of the line can prevent it.
        """
        is_exact = self.comes_out or self.problem.rounding == EACH_STEP
        if not (is_exact or _has_quotient(form)):
            return True
        decimals = self.problem.decimals
        try:
            with self.solution.arithmetic():
                if (value := _value_of_digits(form)) is None:
                    return True
                quotient = fixed(half_away(value, decimals), decimals)
        except DivisionByZero:  # a root shown as 0.00
            return False
        except ArithmeticError:  # far too small or too large for more digits to help
            return True
        return quotient == fixed(self.solution.digits[name][place], decimals)

    def _gives(self, form: Expression, result: Number | Ratio) -> bool:
        """Return whether written numbers give an exact result: 5 · 0.46 is not 2.31."""
        with self.solution.arithmetic(), suppress(ArithmeticError):
            value = None if result == MINUS_INFINITY else _value_of_digits(form)
            if value is not None:
                exactly = _value_of_digits(result)
                return exactly is None or abs(value - exactly) <= DUST_OF_DIGITS * abs(exactly)
        return True

    def _make_operand(self, name: str, more: int = 0) -> Operand:
        is_step = self._is_made(name)
        quote = partial(self._step_in, more=more) if is_step else self._given_entry
        return Operand(
            name,
            self.solution.carried[name] if is_step else self.given_matrices[name],
            quote=partial(quote, name),
            entry=partial(self.entry, name),
            write=partial(self._written, more=more),
            own=self._own,
        )

    @cached_property
    def given_matrices(self) -> Mapping[str, Matrix]:
        """The given matrices as steps read them: 1/3 in decimals, not as a float."""
        exactly = self.solution.is_exact
        return given_in_decimals(self.problem) if exactly else self.problem.given

    def _is_made(self, name: str) -> bool:
        """Return whether a matrix is that of a step, and not a given one, such as weights."""
        return name in self._steps and name not in self.problem.names

    def entry(self, name: str, place: Place) -> Indexed:
        """Return the name of an entry, with its place as shown, from 1."""
        shown = place if role_of(name) == "image" else self.turned(place)
        return Indexed(name, tuple(index + 1 for index in shown))

    def called(self, name: str, place: Place) -> str:
        """Return the name of an entry as text, such as A[2,1]."""
        return f"{name}[{','.join(map(str, self.entry(name, place).place))}]"

    def _as_typed(self, value: Any) -> Number | Ratio:
        if not np.isfinite(float(value)):
            return MINUS_INFINITY
        if isinstance(value, np.bool_):
            return whole(int(value))
        return self._own(Fraction(value if isinstance(value, Decimal | Fraction) else exact(value)))

    def _own(self, number: Fraction) -> Number | Ratio:
        return self._fraction(number) if self.fractions else given(number)

    def _read_step(self, name: str, place: Place) -> Expression:
        """Return an entry of a step as the next one reads it."""
        shown = self.shown(name, place)
        if not isinstance(shown, Number) or shown == MINUS_INFINITY:
            return shown
        # the next step reads the shown digits: they are its true value
        if self.problem.rounding == EACH_STEP:
            return shown._replace(exact=_value(shown))
        true = self._explanation(name, place).exact if self.solution.is_exact else None
        return shown._replace(exact=true)

    def _step_in(self, name: str, place: Place, more: int) -> Expression:
        """Return an entry of a step as the next one reads it, or with more digits."""
        shown = self._step_entry(name, place)
        if not (more and self.comes_out and isinstance(shown, Number)) or shown == MINUS_INFINITY:
            return shown
        with self.solution.arithmetic():
            true = _decimal(self._unrounded(name, place))
            is_rounded = self.problem.rounding != EACH_STEP and true != Decimal(shown.text)
            return self._written(true, shown.exact, more) if is_rounded else shown

    def _read_rationality(self, name: str) -> bool:
        """Return whether a matrix contains fractions: no root, exponential or rounding precedes."""
        if not self._is_made(name):
            return True
        step = self._steps[name]
        return step.operation.is_rational and all(
            self._is_rational(each) and self._is_unrounded(each) for each in step.inputs
        )

    def _is_unrounded(self, name: str) -> bool:
        if not self._is_made(name) or self.problem.rounding != EACH_STEP:
            return True
        step = self._steps[name]
        return all(line.is_exact for line in self.lines(step))

    def _written(self, value: Any, rational: Fraction | None, more: int = 0) -> Number | Ratio:
        """Return an intermediate result at the shown decimals, or with more."""
        if self.fractions and rational is not None:
            return self._fraction(rational)
        true, decimals = _decimal(value), self.problem.decimals + more
        if abs(true) >= LARGEST_WRITTEN or 0 < abs(true) < Decimal("0.5").scaleb(-decimals):
            return significant(true, max(decimals + 1, 3))
        # a tie that thirds leave a last place below itself is a tie
        return Number(fixed(half_away(self.solution.cleared(true), decimals), decimals))

    def _fraction(self, number: Fraction) -> Number | Ratio:
        return fraction(number, mixed=self.fractions == "mixed")


def _noting(operand: Operand, found: dict[tuple[str, Place], None]) -> Operand:
    """Return an operand that records which of its entries are written."""

    def quote(place: Place) -> Expression:
        found[operand.name, place] = None
        return operand.quote(place)

    def entry(place: Place) -> Indexed:
        found[operand.name, place] = None
        return operand.entry(place)

    return operand._replace(quote=quote, entry=entry)


def _decimal(value: Any) -> Decimal:
    return value if isinstance(value, Decimal) else exact(float(value))


def _is_said_by(result: Number | Ratio, form: Expression, *, is_exact: bool) -> bool:
    """Return whether a form repeats the result: the same digits, or 0 for 0.00."""
    if not isinstance(form, Number | Ratio):
        return False
    return form[:1] == result[:1] or (is_exact and form.exact == _value(result))


def _has_quotient(form: Expression) -> bool:
    """Return whether a form is a quotient, possibly with gain and bias, or a product."""
    if isinstance(form, Sum):
        return _has_quotient(form.terms[0])
    if isinstance(form, Product):
        last = form.factors[-1]
        return _has_quotient(last) or _is_difference(last)
    return isinstance(form, Quotient)


def _is_difference(form: Expression) -> bool:
    if not isinstance(form, Sum) or len(form.terms) != 2:
        return False
    first, second = form.terms
    is_less = isinstance(second, Negative) and isinstance(second.term, Number)
    return isinstance(first, Number) and is_less


_WORK: dict[type, Callable[..., Decimal]] = {
    Negative: operator.neg,
    Root: Decimal.sqrt,
    Quotient: operator.truediv,
    Product: lambda *factors: reduce(operator.mul, factors),
    Sum: lambda *terms: reduce(operator.add, terms),
}


def _value_of_digits(form: Expression) -> Decimal | None:
    """Return the value of an expression of numbers as written; None if it has other parts."""
    if isinstance(form, Number):
        is_number = form.text.strip("-").replace(".", "").isdigit()
        return Decimal(form.text).scaleb(form.tens) if is_number else None
    if isinstance(form, Ratio):
        return Decimal(form.exact.numerator) / form.exact.denominator
    if type(form) not in _WORK:
        return None
    parts: Iterable[Any] = form[0] if isinstance(form, Product | Sum) else form
    values = [_value_of_digits(part) for part in parts]
    return None if None in values else _WORK[type(form)](*values)


def _value(shown: Number | Ratio) -> Fraction:
    """Return the number that the digits represent."""
    return shown.exact if shown.exact is not None else Fraction(shown.text)
