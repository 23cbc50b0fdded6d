"""Solution: what each step of a problem comes to, and how it is shown."""

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from decimal import MAX_EMAX, MIN_EMIN, Context, localcontext
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from attncalc.arithmetic import Digits, decimals_of, digits_for
from attncalc.connections import Connection, connections
from attncalc.errors import InputError
from attncalc.fields import DISPLAY, EACH_STEP, MARKS
from attncalc.labels import numbered
from attncalc.layout import back_to_layout, in_plan_form
from attncalc.overflow import refuse_overflow
from attncalc.plan import Axis, Plan, Report, Step, plan, run
from attncalc.problem import Problem
from attncalc.rounding import Matrix, fixed, round_decimals, round_floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LONG = 512 * 512
"""Scores from which blocks and threads gain more than they cost."""


@dataclass(frozen=True, eq=False, repr=False)
class Head:
    """The weights of one head, as a plan has them: a row for each query.

    Parameters
    ----------
    number
        Which head, from 1; 0 for the only one.
    weights, rounded
        Its weights, (n, m), and those weights at the shown decimals.
    """

    number: int
    weights: Matrix
    rounded: Matrix

    @cached_property
    def connections(self) -> tuple[Connection, ...]:
        """Which inputs influence each output most, and second."""
        return connections(self.weights, self.rounded != 0)


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """The matrices of all steps, by name: `solution["A"]` is an array.

    Parameters
    ----------
    problem
        What was asked.
    plan
        The steps that were taken.
    keep
        Those whose matrices are kept, or None for all of them.
    report
        What is told, on long inputs, how many blocks of how many are done.
    """

    problem: Problem
    plan: Plan
    keep: tuple[str, ...] | None = None
    report: Report | None = None

    def __getitem__(self, name: str) -> Matrix:
        """Return the matrix of one step in floats, with an axis of heads first where it has any."""
        self._check_name(name)
        return back_to_layout(self.problem, self.values[name])

    @property
    def steps(self) -> Plan:
        """The steps whose matrices are kept."""
        return tuple(step for step in self.plan if self.keep is None or step.name in self.keep)

    def rounded(self, name: str) -> Matrix:
        """Return the matrix of one step at the shown decimals: Decimals, or floats when large."""
        self._check_name(name)
        return back_to_layout(self.problem, self._rounded[name])

    def shown(self, name: str) -> list[Any]:
        """Return the matrix of one step as it is shown, half away from zero.

        Examples
        --------
        >>> problem = Problem(X=[[1, 0]], W_Q=[[1], [0]], W_K=[[1], [1]], W_V=[[2.675], [4]])
        >>> solve(problem).shown("O")
        [['2.68']]
        """
        decimals = self.problem.decimals

        def texts(matrix: Matrix) -> list[Any]:
            if matrix.ndim > 1:
                return [texts(part) for part in matrix]
            return [fixed(value, decimals) for value in matrix]

        return texts(self.rounded(name))

    def row_labels(self, step: Step) -> tuple[str, ...]:
        """Return what the rows of a step stand for: tokens, by name, or numbers of features."""
        axis = step.columns if self.problem.layout == "columns" else step.rows
        return self._labels(axis, self[step.name].shape[-2])

    def column_labels(self, step: Step) -> tuple[str, ...]:
        """Return what the columns of a step stand for: tokens, by name, or numbers of features."""
        axis = step.rows if self.problem.layout == "columns" else step.columns
        return self._labels(axis, self[step.name].shape[-1])

    @cached_property
    def values(self) -> Mapping[str, Matrix]:
        """Each kept step's matrix as the plan has it: tokens as rows, in floats.

        With `each-step` rounding, these are the rounded ones.
        """
        if self._needs_exact and self.is_exact:
            dtype = self.problem.dtype
            floats = {name: matrix.astype(dtype) for name, matrix in self._exact.items()}
            refuse_overflow(floats)
            return self._kept(floats)
        decimals = self.problem.decimals if self.problem.rounding == EACH_STEP else None
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return self._run_short(decimals) if self._is_short else self._run_long(decimals)

    @property
    def _is_short(self) -> bool:
        return self.problem.n_heads * self.problem.n * self.problem.m < LONG

    def _run_short(self, decimals: int | None) -> Mapping[str, Matrix]:
        rounding = [] if decimals is None else [partial(round_floats, decimals=decimals)]
        floats = run(self.plan, self.problem.matrices(), *rounding)
        refuse_overflow(floats)
        return self._kept(floats)

    def _run_long(self, decimals: int | None) -> Mapping[str, Matrix]:
        from attncalc.blocks import run_in_blocks  # here, for most problems are short

        names = {step.name for step in self.steps}
        given = self.problem.matrices()
        return run_in_blocks(self.plan, given, names, decimals, self.report)

    @cached_property
    def heads(self) -> tuple[Head, ...]:
        """The weights of each head, with what they connect."""
        weights, rounded = self._precise("A"), self._rounded["A"]
        if weights.ndim == 2:
            return (Head(0, weights, rounded),)
        pairs = zip(weights, rounded, strict=True)
        return tuple(Head(i, one, other) for i, (one, other) in enumerate(pairs, start=1))

    @cached_property
    def connections(self) -> tuple[Any, ...]:
        """Which inputs influence each output most, and second; of several heads, for each."""
        found = tuple(head.connections for head in self.heads)
        return found[0] if len(found) == 1 else found

    @cached_property
    def mean_head(self) -> Head:
        """The mean of all heads' weights."""
        mean = np.mean([head.weights for head in self.heads], axis=0)
        return Head(0, mean, round_floats(mean, self.problem.decimals))

    @cached_property
    def other_rounding(self) -> "Solution":
        """The same problem under the other rounding rule."""
        other = DISPLAY if self.problem.rounding == EACH_STEP else EACH_STEP
        return solve(replace(self.problem, rounding=other), keep=self.keep)

    def precise(self, name: str) -> Matrix:
        """Return the matrix of one step in floats, each the nearest to the exact value.

        `solution[name]` is computed in float arithmetic, and can be off where large terms cancel;
        for problems too large for exact decimals, this is the same.
        """
        self._check_name(name)
        return back_to_layout(self.problem, self._precise(name))

    def _precise(self, name: str) -> Matrix:
        if not self.is_exact:
            return self.values[name]
        return self._exact[name].astype(self.problem.dtype)

    def before_rounding(self, name: str) -> Matrix:
        """Return the matrix of one step as it comes out of its operation, in the plan's form.

        In Decimals where the solution is exact. It differs from what the next step reads where
        each step is rounded.
        """
        self._check_name(name)
        known = self._exact if self.is_exact else self.values
        step = next(step for step in self.plan if step.name == name)
        if self.problem.rounding != EACH_STEP or not all(
            each in known or each in self.problem.names for each in step.inputs
        ):
            return known[name]
        with self.arithmetic():
            given = self._given_exactly if self.is_exact else self.problem.matrices()
            return step.operation.apply(*(({**given, **known})[each] for each in step.inputs))

    def in_plan_form(self, name: str) -> Matrix:
        """Return what the next steps read, as they read it: in Decimals, or in floats."""
        return (self._exact if self.is_exact else self.values)[name]

    def rounded_in_plan_form(self, name: str) -> Matrix:
        """Return the matrix of one step at the shown decimals, as the plan has it."""
        self._check_name(name)
        return self._rounded[name]

    def arithmetic(self) -> AbstractContextManager[object]:
        """Return the context in which Decimals of this solution are to be computed with."""
        if self._digits is None:
            return nullcontext()
        # e to the power of minus a million is not 0 either
        return localcontext(Context(prec=self._digits.precision, Emin=MIN_EMIN, Emax=MAX_EMAX))

    @property
    def is_exact(self) -> bool:
        """Whether the shown digits come from exact decimals, and not from floats."""
        return self._digits is not None

    @property
    def _needs_exact(self) -> bool:
        """Whether the last bit of a float could decide: where steps are rounded, or scores tie."""
        return self.problem.rounding == EACH_STEP or self.problem.normalizer != "softmax"

    @cached_property
    def _digits(self) -> Digits | None:
        return digits_for(self.problem)

    @cached_property
    def _rounded(self) -> Mapping[str, Matrix]:
        digits, each_step = self._digits, self.problem.rounding == EACH_STEP
        if digits is None:
            decimals = self.problem.decimals
            return (
                self.values
                if each_step
                else {name: round_floats(matrix, decimals) for name, matrix in self.values.items()}
            )
        exact = self._kept(self._exact)
        if each_step:
            return exact
        with self.arithmetic():
            return {name: self._round_off(matrix) for name, matrix in exact.items()}

    @cached_property
    def _given_exactly(self) -> dict[str, Matrix]:
        """The given matrices as the plan reads them, in Decimals."""
        with self.arithmetic():
            return _as_decimals(self.problem)

    @cached_property
    def _exact(self) -> dict[str, Matrix]:
        """Each step's matrix in Decimals, before it is rounded for the eye."""
        with self.arithmetic():
            given = self._given_exactly
            each_step = self.problem.rounding == EACH_STEP
            return run(self.plan, given, *([self._round_off] if each_step else []))

    def _round_off(self, matrix: Matrix) -> Matrix:
        assert self._digits is not None
        return round_decimals(matrix, self.problem.decimals, self._digits.guard)

    def _kept(self, matrices: dict[str, Matrix]) -> dict[str, Matrix]:
        if self.keep is None:
            return matrices
        return {name: matrix for name, matrix in matrices.items() if name in self.keep}

    def _check_name(self, name: str) -> None:
        if name not in self.values:
            raise KeyError(f"no step {name}: there are {', '.join(self.values)}")

    def _labels(self, axis: Axis, size: int) -> tuple[str, ...]:
        tokens = {"queries": self.problem.queries, "keys": self.problem.keys}
        names = tokens.get(axis, ())
        return names if len(names) == size else numbered(size)  # with Q given, X1 may differ

    @overload
    def plot(
        self,
        kind: str = ...,
        *,
        all: bool = ...,
        values: bool = ...,
        head: int | str | None = ...,
        dark: bool = ...,
        size: Any = ...,
        ax: None = ...,
    ) -> "Figure": ...

    @overload
    def plot(
        self,
        kind: str = ...,
        *,
        all: bool = ...,
        values: bool = ...,
        head: int | str | None = ...,
        dark: bool = ...,
        size: None = ...,
        ax: "Axes",
    ) -> "Axes": ...

    def plot(
        self,
        kind: str = "map",
        *,
        all: bool = False,  # noqa: A002 - it is what the flag is called, too
        values: bool = True,
        head: int | str | None = None,
        dark: bool = False,
        size: Any = None,
        ax: Any = None,
    ) -> "Figure | Axes":
        """Draw the solution; a notebook shows the figure, `figure.savefig("map.pdf")` writes it.

        Parameters
        ----------
        kind
            `"map"` of which input each output attends to, `"heatmap"` of the weights, or `"both"`.
        all
            Draw a line of the map for every weight that does not show as zero, and not only to the
            largest and the second.
        values
            Write the weights in the picture.
        head
            The head that is drawn, from 1, or `"mean"`; None for all of them, beside one another.
        dark
            Draw on a dark background.
        size
            Width and height in inches, as `(12, 8)` or `"12x8"`, or a width alone; None for what
            the picture needs.
        ax
            The axes of a figure of your own that the map, or the heatmap, of one head is drawn on,
            without title and conventions; `fig.colorbar(ax.collections[0])` adds a heatmap's bar
            (`ax.images[0]` above 2,500 weights).

        Returns
        -------
        matplotlib.figure.Figure
            It needs no pyplot, and looks the same whatever matplotlib's settings are when it is
            saved. `figure.notes` says what was left out. With `ax`, that axes is returned, and
            what was left out is warned of.

        Raises
        ------
        InputError
            When an argument is none of these, the size is too small for what is drawn, the
            weights `A` were not kept, or one axes cannot hold what is asked for.

        Examples
        --------
        >>> problem = Problem(X=[[0, 0], [0, 0]], W_Q=[[1], [0]], W_K=[[1], [1]], W_V=[[2], [4]])
        >>> figure = solve(problem).plot("heatmap", size=(6, 4))
        >>> figure.get_size_inches().tolist()
        [6.0, 4.0]
        """
        # here, for matplotlib takes as long to load as everything else together
        from attncalc.plotting.look import Look, read_size
        from attncalc.plotting.picture import figure_for, plot_on

        look = Look(kind, every_line=all, values=values, dark=dark, size=read_size(size))
        return figure_for(self, head, look) if ax is None else plot_on(ax, self, head, look)


def solve(
    problem: Problem, keep: Iterable[str] | None = None, report: Report | None = None
) -> Solution:
    """Work out the steps of a problem.

    Parameters
    ----------
    problem
        The matrices and the conventions.
    keep
        The names of the steps that are wanted, or None for all. What is not wanted is not stored:
        with `("O",)` alone, memory grows with n, not with n².
    report
        Called on long inputs with the number of blocks done, and of all.

    Returns
    -------
    Solution
        `solution["A"]` is an array; `solution.shown("A")` its digits as they are handed in.

    Raises
    ------
    InputError
        When a step is not part of the plan, numbers grow beyond float64 on the way, or what is
        asked for cannot fit into memory.

    Notes
    -----
    Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V: Vaswani et al., *Attention Is All You Need*
    (2017), equation 1.

    Examples
    --------
    >>> problem = Problem(X=[[0, 0], [0, 0]], W_Q=[[1], [0]], W_K=[[1], [1]], W_V=[[2], [4]])
    >>> solve(problem)["A"]
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    steps = plan(problem)
    wanted = None if keep is None else tuple(keep)
    names = [step.name for step in steps]
    for name in wanted or ():
        if name not in names:
            raise InputError(f"no step {name}: this problem has {', '.join(names)}")
    solution = Solution(problem, steps, wanted, report)
    _ = solution.values  # worked out now, so that what cannot be solved is refused here
    return solution


def _as_decimals(problem: Problem) -> dict[str, Matrix]:
    """Return the given matrices as a plan reads them, in Decimals; marks stay true and false."""
    return {
        name: problem.in_plan_form(name)
        if name in MARKS
        else in_plan_form(problem, name, decimals_of(problem.as_typed(name)))
        for name in problem.names
    }
