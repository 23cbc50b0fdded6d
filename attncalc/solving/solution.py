"""Solution: the matrix of each step in floats (speed), exact decimals and shown digits."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np

from attncalc.base.decimals import Digits, decimals_of
from attncalc.base.errors import InputError
from attncalc.base.rounding import Rounded, fixed, round_decimals, round_floats, rounded_as_read
from attncalc.base.types import Matrix, Place
from attncalc.equations.operations.products import Scoring, Weigh
from attncalc.problem.attention.attention import Attention
from attncalc.problem.attention.declared import DISPLAY, EACH_STEP
from attncalc.problem.fields import role_of
from attncalc.problem.gradients.naming import given_matrix_of
from attncalc.problem.problem import Problem
from attncalc.problem.step import Axis, Plan, Report, Seen, Step, run
from attncalc.solving.connections import Connection, connections, count_first_places
from attncalc.solving.exactness import digits_for
from attncalc.solving.limits import WORTH_ASKING, refuse_overflow, refuse_what_cannot_fit
from attncalc.solving.plan import plan

if TYPE_CHECKING:
    from attncalc.solving.proving import Proof

LONG = 512 * 512
"""Scores from which blocks and threads gain more than they cost."""
MOST_PROVEN = 1024 * 1024
"""Scores up to which digits are proven: beyond, bounds and digits would require much memory."""
BYTES_OF_PLACE = 8
"""The bytes of one input in a connection."""

Matrices = Mapping[str, Matrix]


class Run(NamedTuple):
    """A plan that was run: the result of each operation, and the value that the next step read."""

    made: Matrices
    carried: Matrices


@dataclass(frozen=True, eq=False, repr=False)
class Head:
    """The weights of one head: a row for each query.

    number: the head, from 1; 0 for the only one.
    weights, rounded: its weights, (n, m), and those weights at the shown decimals, row by row.
    attention: the attention of the head, which has the names of its queries and keys.
    """

    number: int
    weights: Matrix
    rounded: Matrix | Rounded
    attention: Attention | None = None

    @cached_property
    def connections(self) -> tuple[Connection, ...]:
        """The inputs that influence each output most, and second."""
        if self.weights.nbytes > WORTH_ASKING:  # if all tie, each output has as many as inputs
            size = count_first_places(self.weights) * BYTES_OF_PLACE
            refuse_what_cannot_fit({"connections": size}, {"O"})
        return connections(self.weights, (row != 0 for row in self.rounded))

    def connection(self, output: int) -> Connection:
        """Return the inputs that influence one output, from 0, most, and second."""
        visible = [np.asarray(self.rounded[output]) != 0]
        (found,) = connections(self.weights[output][np.newaxis], visible)
        return replace(found, output=output)


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """The matrices of all steps, by name: `solution["A"]` is an array.

    Its methods return matrices in the problem's layout; `floats`, `exact`, `digits` and
    `carried` contain them in the internal layout, with tokens as rows.

    Parameters
    ----------
    problem
        The problem.
    plan
        The steps.
    keep
        The steps whose matrices are kept, or None for all.
    report
        Called, on long inputs, with the number of finished blocks, and of all.
    remakes
        Whether, on long inputs, matrices with a row for each query and a column for each key are
        not kept, but recomputed when read: a page shows little of them.
    proves
        Whether digits are proven if exact decimals would take too long; unnecessary if none are
        shown.
    """

    problem: Problem
    plan: Plan
    keep: tuple[str, ...] | None = None
    report: Report | None = None
    remakes: bool = False
    proves: bool = True
    _heads: dict[str, tuple[Head, ...]] = field(default_factory=dict, init=False)

    def __getitem__(self, name: str) -> Matrix:
        """Return the matrix of one step in floats, with an axis of heads first if it has any.

        A gradient has the shape of its given matrix.
        """
        return self.as_given(name, self.as_tabled(name))

    def __contains__(self, name: object) -> bool:
        return any(step.name == name for step in self.plan)

    def __iter__(self) -> Iterator[str]:
        return (step.name for step in self.plan)

    def precise(self, name: str) -> Matrix:
        """Return the matrix of one step in floats, each the nearest to the exact value.

        `solution[name]` is computed in float arithmetic, and can be off if large terms cancel. For
        problems too large for exact decimals, both are equal, except if each step is rounded.
        """
        return self.as_given(name, self.precisely_tabled(name))

    def as_tabled(self, name: str) -> Matrix:
        """Return the matrix of one step in floats, as tables show it: with separate heads."""
        return self._as_shown(self.floats, name)

    def precisely_tabled(self, name: str) -> Matrix:
        """Return the result of `precise` as tables show it: with separate heads."""
        return self._as_shown(self.carried, name).astype(self.problem.dtype, copy=False)

    def as_given(self, name: str, matrix: Matrix) -> Matrix:
        """Return a step as shown by tables in the shape of its given matrix.

        This applies to a gradient, a part of one, and a matrix after gradient descent; other steps
        are unchanged.
        """
        problem, of = self.problem, given_matrix_of(name)
        if of not in problem.names or matrix.size != problem.stored(of).size:
            return matrix
        if role_of(of) == "buckets":  # a table is stepped as it is given
            return problem.as_listed(of, matrix)
        upright = problem.standing.shown(matrix)
        if problem.standing.is_shown_transposed(of):
            upright = upright.swapaxes(-1, -2)
        return problem.in_given_layout(of, upright)

    def shape_of(self, name: str) -> tuple[int, ...]:
        """Return the shape of the matrix of one step as shown."""
        self._check_name(name)
        *heads, rows, columns = self.floats[name].shape
        return (*heads, *self.problem.standing.pair(rows, columns))

    def rounded(self, name: str) -> Matrix:
        """Return the matrix of one step at the shown decimals: Decimals, or floats when large."""
        self._check_name(name)
        return self.problem.standing.shown(np.asarray(self.digits[name]))

    def shown(self, name: str) -> list[Any]:
        """Return the matrix of one step as shown, halves rounded away from zero.

        Examples
        --------
        >>> problem = Problem(X=[[1, 0]], W_Q=[[1], [0]], W_K=[[1], [1]], W_V=[[2.675], [4]])
        >>> solve(problem).shown("O")
        [['2.68']]
        """
        rows = self.shown_rows(name)
        return list(rows) if self.digits[name].ndim == 2 else list(map(list, rows))

    def shown_rows(self, name: str) -> Iterator[Any]:
        """Yield the rows of `shown` one by one, or for each head an iterator over its rows."""
        self._check_name(name)
        matrix = self.digits[name]
        count, _ = self.problem.standing.pair(*matrix.shape[-2:])
        if matrix.ndim == 2:
            return (self.shown_row(name, (), row) for row in range(count))
        heads = range(len(matrix))
        return ((self.shown_row(name, (head,), row) for row in range(count)) for head in heads)

    def shown_row(self, name: str, head: tuple[int, ...], row: int) -> list[str]:
        """Return one row of `shown`: of a head, from 0, if there are heads."""
        values = self.digits[name][(*head, *self.problem.standing.row(row))]
        return [fixed(value, self.problem.decimals) for value in values]

    @property
    def steps(self) -> Plan:
        """The steps whose matrices are kept."""
        return tuple(step for step in self.plan if self.keeps(step.name))

    def keeps(self, name: str) -> bool:
        """Return whether the matrix of a step is kept."""
        return self.keep is None or name in self.keep

    @cached_property
    def weights(self) -> Step | None:
        """The step whose weights connect outputs with inputs, if it is kept."""
        return next(iter(self.all_weights), None)

    @cached_property
    def all_weights(self) -> Plan:
        """The steps whose weights connect outputs with inputs: one for each attention, if kept."""
        return tuple(step for step in self.steps if step.role == "weights")

    def row_labels(self, step: Step) -> tuple[str, ...]:
        """Return the labels of a step's rows: names of tokens, or numbers of features."""
        return self._labels(step, 0)

    def column_labels(self, step: Step) -> tuple[str, ...]:
        """Return the labels of a step's columns: names of tokens, or numbers of features."""
        return self._labels(step, 1)

    @cached_property
    def floats(self) -> Matrices:
        """Each kept step in floats; if each step is rounded, the rounded ones."""
        # floats may be on the wrong side of a tie that rounding or hardmax then makes visible
        is_near = any(each.normalizer != "softmax" for each in self.problem.attentions)
        is_near = is_near or self.problem.rounding == EACH_STEP
        if not (is_near and self.is_exact):
            return self._in_floats.carried
        dtype = self.problem.dtype
        floats = {name: matrix.astype(dtype) for name, matrix in self._in_decimals.carried.items()}
        refuse_overflow(floats, self.plan)
        return self._kept(floats)

    @cached_property
    def exact(self) -> Matrices:
        """Each step before rounding: in Decimals, or floats when large."""
        if self.is_exact:
            return self._in_decimals.made
        if self._proven is not None and self._rounds_between:
            return self._proven.made
        if self._is_short or self.problem.rounding != EACH_STEP:
            return self._in_floats.made
        return {step.name: self._made_again(step) for step in self.steps}

    def exact_row(self, name: str, row: int) -> Matrix:
        """Return one row, from 0, of `exact`, or that of each head, without the others."""
        step = next(step for step in self.plan if step.name == name)
        if step.columns != "keys" or not self._knows_inputs_of(step):
            return self._made_narrow.get(name, self.floats[name])[..., row, :]
        rows = slice(row, row + 1)
        first, *others = (self._known[each] for each in step.inputs)
        if not isinstance(step.operation, Scoring):  # masks have a row for each query, or one
            others = [mask[..., rows, :] if mask.shape[-2] > 1 else mask for mask in others]
        block: Matrix = step.operation.at(rows).apply(first[..., rows, :], *others)
        return block[..., 0, :]

    @cached_property
    def _made_narrow(self) -> Matrices:
        narrow = (step for step in self.steps if step.columns != "keys")
        return {step.name: self._made_again(step) for step in narrow}

    def _made_again(self, step: Step) -> Matrix:
        """Return a step before rounding that blocks do not keep."""
        if not self._knows_inputs_of(step):
            return self.floats[step.name]
        return step.operation.apply(*(self._known[name] for name in step.inputs))

    def _knows_inputs_of(self, step: Step) -> bool:
        return all(name in self._known for name in step.inputs)

    @cached_property
    def given(self) -> Matrices:
        """The matrices that the plan starts with."""
        return self.problem.given

    @cached_property
    def _known(self) -> Matrices:
        return {**self.given, **self.floats}

    @cached_property
    def digits(self) -> Mapping[str, Matrix | Rounded]:
        """Each kept step at the shown decimals: in Decimals, or in floats when large."""
        if self._proven is not None:
            return self._proven.digits
        if self._rounds_between:
            return self._kept(self._in_decimals.carried) if self.is_exact else self.floats
        if not self.is_exact:
            decimals = self.problem.decimals
            return {name: rounded_as_read(each, decimals) for name, each in self.floats.items()}
        with self.arithmetic():
            return {name: self._round_off(each) for name, each in self._kept(self.exact).items()}

    @property
    def carried(self) -> Matrices:
        """Each step as the next one reads it: in Decimals, or in floats when large."""
        if self._proven is not None and self._rounds_between:
            return self._proven.digits
        return self._in_decimals.carried if self.is_exact else self.floats

    @property
    def heads(self) -> tuple[Head, ...]:
        """The weights of each head, with their connections; the first attention of several."""
        if self.weights is None:
            raise KeyError("the weights were not kept")
        return self.heads_of(self.weights)

    def heads_of(self, step: Step) -> tuple[Head, ...]:
        """Return the weights of each head of an attention, with their connections."""
        if step.name not in self._heads:
            weights, rounded = self._weights(step)
            attention, is_one = self.problem.attention_of(step.name), weights.ndim == 2
            pairs = [(weights, rounded)] if is_one else zip(weights, rounded, strict=True)
            numbered = enumerate(pairs, start=int(not is_one))
            made = tuple(Head(number, *pair, attention) for number, pair in numbered)
            self._heads[step.name] = made
        return self._heads[step.name]

    @cached_property
    def connections(self) -> tuple[Any, ...]:
        """The inputs that influence each output most, and second; for each of several heads."""
        found = tuple(head.connections for head in self.heads)
        return found[0] if len(found) == 1 else found

    def mean_head_of(self, step: Step) -> Head:
        """Return the mean of the weights of all heads of an attention."""
        weights, _ = self._weights(step)
        mean = weights if weights.ndim == 2 else weights.mean(axis=0)
        rounded = rounded_as_read(mean, self.problem.decimals)
        return Head(0, mean, rounded, self.problem.attention_of(step.name))

    @cached_property
    def other_rounding(self) -> "Solution":
        """The same problem under the other rounding rule."""
        other = DISPLAY if self.problem.rounding == EACH_STEP else EACH_STEP
        problem = replace(self.problem, rounding=other)
        return solve(problem, self.keep, remakes=self.remakes, proves=self.proves)

    def count_differing(self) -> int:
        """Count the entries that show other digits with the other rounding rule.

        Long inputs are compared block by block. Raises InputError if numbers exceed floats under
        the other rule.
        """
        if not self._is_short and self._proven is None:
            return self._count_differing_in_blocks()
        pairs = ((self.digits[s.name], self.other_rounding.digits[s.name]) for s in self.steps)
        return sum(int((np.asarray(one) != np.asarray(other)).sum()) for one, other in pairs)

    def _count_differing_in_blocks(self) -> int:
        decimals = self.problem.decimals
        carries = self.problem.rounding == EACH_STEP  # the other one uses full precision
        counts: list[int] = []

        def compare(name: str, place: tuple[int | slice, ...], others: Matrix) -> None:
            own = self.floats[name][place]
            rounded = round_floats(others if carries else own, decimals)
            counts.append(int((rounded != (own if carries else others)).sum()))

        narrow = self._run_long(None if carries else decimals, seen=compare)
        for name, matrix in narrow.items():
            compare(name, (), matrix)
        return sum(counts)

    def arithmetic(self) -> AbstractContextManager[object]:
        """Return the context for computing with Decimals of this solution."""
        if self._digits is None:
            return nullcontext()
        return localcontext(self._digits.context)

    def in_digits(self, value: Any) -> str:
        """Return a number that follows from the steps, a Decimal or a float, as shown."""
        decimals = self.problem.decimals
        if isinstance(value, Decimal):
            with self.arithmetic():
                return fixed(self._round_off(np.array([value], dtype=object))[0], decimals)
        return fixed(round_floats(np.array([value], dtype=np.float64), decimals)[0], decimals)

    def cleared(self, value: Decimal) -> Decimal:
        """Return a number without its untrusted digits."""
        if self._digits is None:
            return value
        return value.quantize(Decimal(1).scaleb(-self._digits.guard), rounding=ROUND_HALF_EVEN)

    @property
    def rounding_between(self) -> Callable[[Matrix], Matrix] | None:
        """The rounding of each step before the next reads it; None for full precision."""
        if self.problem.rounding != EACH_STEP:
            return None
        in_floats = partial(round_floats, decimals=self.problem.decimals)
        return self._round_off if self.is_exact else in_floats

    @property
    def is_exact(self) -> bool:
        """Whether the shown digits come from exact decimals, and not from floats."""
        return self._digits is not None

    @property
    def is_proven(self) -> bool:
        """Whether the shown digits are proven, by exact decimals or by bounds of the error."""
        return self.is_exact or self._proven is not None

    @property
    def undecided(self) -> Mapping[str, tuple[Place, ...]]:
        """The places of each step whose value is indistinguishable from a tie."""
        return {} if self._proven is None else self._proven.ties

    @cached_property
    def _proven(self) -> "Proof | None":
        is_long = self.remakes or self.problem.most_scores > MOST_PROVEN
        if self.is_exact or is_long or not self.proves:
            return None
        from attncalc.solving.proving import proven  # here, since most problems are small

        names = [step.name for step in self.steps]
        return proven(self.problem, self.plan, names, each_step=self._rounds_between)

    @property
    def _rounds_between(self) -> bool:
        """Whether each step is rounded before the next one reads it."""
        return self.problem.rounding == EACH_STEP and self.problem.A is None

    @cached_property
    def _digits(self) -> Digits | None:
        return digits_for(self.problem, self.plan)

    @property
    def _is_short(self) -> bool:
        # backpropagation reads whole matrices, and so do equations in place of scores or outputs
        if self.problem.backward or not self._has_blocks:
            return True
        # given scores exist already, all of them: blocks save no memory
        return self.problem.most_scores < LONG or bool(self.problem.start)

    @cached_property
    def _has_blocks(self) -> bool:
        """Whether each attention has the scores and the outputs that blocks begin and end with."""
        for kind in (Scoring, Weigh):
            found = sum(isinstance(step.operation, kind) for step in self.plan)
            if found < len(self.problem.attentions):
                return False
        return True

    @cached_property
    def _in_floats(self) -> Run:
        # overflows are found afterwards and reported with their place, which numpy's warning lacks
        decimals = self.problem.decimals if self.problem.rounding == EACH_STEP else None
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            if self._is_short:
                return self._run_short(decimals)
            floats = self._run_long(decimals)
        return Run(floats, floats)

    def _run_short(self, decimals: int | None) -> Run:
        if self.problem.start or not self._has_blocks:
            size = self.problem.most_scores * self.problem.dtype.itemsize
            wide = [step.name for step in self.plan if step.columns == "keys"]
            refuse_what_cannot_fit(dict.fromkeys(wide, size), set(), "pass fewer of them at once")
        after = None if decimals is None else partial(round_floats, decimals=decimals)
        made: dict[str, Matrix] = {}
        carried = run(self.plan, self.given, after, made)
        refuse_overflow(carried, self.plan)
        return Run(self._kept(made), self._kept(carried))

    def _run_long(self, decimals: int | None, seen: Seen | None = None) -> Matrices:
        # here, since most inputs are short
        from attncalc.solving.long_inputs import run_in_blocks, run_remaking

        names = {step.name for step in self.steps}
        if self.remakes and seen is None:
            remade: Any = run_remaking(self.plan, self.given, names, decimals, self.report)
            return cast("Matrices", remade)  # everything read from them also exists for arrays
        return run_in_blocks(self.plan, self.given, names, decimals, self.report, seen)

    @cached_property
    def _in_decimals(self) -> Run:
        made: dict[str, Matrix] = {}
        with self.arithmetic():
            after = self._round_off if self.problem.rounding == EACH_STEP else None
            carried = run(self.plan, given_in_decimals(self.problem), after, made)
        return Run(made, carried)

    def _round_off(self, matrix: Matrix) -> Matrix:
        assert self._digits is not None
        return round_decimals(matrix, self.problem.decimals, self._digits.guard)

    def _weights(self, step: Step) -> tuple[Matrix, Matrix | Rounded]:
        """Return the weights as exactly as floats allow, and at the shown decimals."""
        weights = self.carried[step.name].astype(self.problem.dtype, copy=False)
        return weights, self.digits[step.name]

    def _kept(self, matrices: Matrices) -> Matrices:
        if self.keep is None:
            return matrices
        return {name: matrix for name, matrix in matrices.items() if name in self.keep}

    def _as_shown(self, matrices: Matrices, name: str) -> Matrix:
        self._check_name(name)
        return self.problem.standing.shown(matrices[name])

    def _check_name(self, name: str) -> None:
        names = [step.name for step in self.steps]
        if name not in names:
            raise KeyError(f"no step {name}: there are {', '.join(names)}")

    def _labels(self, step: Step, side: int) -> tuple[str, ...]:
        attention = self.problem.attention_of(step.name)
        tokens: dict[Axis, tuple[str, ...]]
        tokens = {"queries": attention.queries, "keys": attention.keys}
        names = tokens.get(self.problem.standing.pair(step.rows, step.columns)[side], ())
        size = self.shape_of(step.name)[side - 2]
        return self.problem.named(names, size)  # with Q given, X1 may differ


S = TypeVar("S", bound=Solution)


def solve(
    problem: Problem,
    keep: Iterable[str] | None = None,
    report: Report | None = None,
    *,
    remakes: bool = False,
    proves: bool = True,
) -> Solution:
    """Compute the steps of a problem, those to keep or all, as `attncalc.solve` does."""
    return solved(Solution, problem, keep, report, remakes=remakes, proves=proves)


def solved(
    kind: type[S],
    problem: Problem,
    keep: Iterable[str] | None,
    report: Report | None,
    *,
    remakes: bool = False,
    proves: bool = True,
) -> S:
    """Return a solution of this class, such as one with displays."""
    steps = plan(problem)
    wanted = None if keep is None else tuple(keep)
    names = [step.name for step in steps]
    for name in wanted or ():
        if name not in names:
            raise InputError(f"no step {name}: this problem has {', '.join(names)}")
    solution = kind(problem, steps, wanted, report, remakes, proves)
    _ = solution.floats  # solved now, so that errors are raised here
    return solution


def given_in_decimals(problem: Problem) -> dict[str, Matrix]:
    """Return the given matrices for a plan, in Decimals; marks stay true and false."""
    return {
        name: problem.given[name]
        if role_of(name) == "marks"
        else problem.turned(name, decimals_of(problem.as_typed(name)))
        for name in problem.names
    }
