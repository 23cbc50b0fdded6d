"""Attention for people with arrays in hand: one call, a Solution or a Marking back."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attncalc.grading import marks as grading
from attncalc.operations.step import Report
from attncalc.problem.problem import Problem
from attncalc.solving import solution as solving
from attncalc.solving.solution import solved

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from attncalc.grading.credit import Score


class Solution(solving.Solution):
    """The matrices of all steps, by name: `solution["A"]` is an array.

    What a solution is, `attncalc.solving.solution` says; here it can show itself.
    """

    def plot(
        self,
        kind: str = "map",
        *,
        all: bool = False,  # noqa: A002 - it is what the flag is called, too
        values: bool = True,
        head: int | str | None = None,
        dark: bool = False,
        size: Any = None,
    ) -> "Figure":
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

        Returns
        -------
        matplotlib.figure.Figure
            It needs no pyplot, and looks the same whatever matplotlib's settings are when it is
            saved. `figure.notes` says what was left out.

        Raises
        ------
        InputError
            When an argument is none of these, the size is too small for what is drawn, or the
            weights `A` were not kept.

        Examples
        --------
        >>> problem = Problem(X=[[0, 0], [0, 0]], W_Q=[[1], [0]], W_K=[[1], [1]], W_V=[[2], [4]])
        >>> figure = solve(problem).plot("heatmap", size=(6, 4))
        >>> figure.get_size_inches().tolist()
        [6.0, 4.0]
        """
        # here, for matplotlib takes as long to load as everything else together
        from attncalc.plotting.look import Look, read_size
        from attncalc.plotting.picture import figure_of

        look = Look(kind, every_line=all, values=values, dark=dark, size=read_size(size))
        return figure_of(self, head, look)


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
    return solved(Solution, problem, keep, report)


def self_attention(X: Any, W_Q: Any, W_K: Any, W_V: Any, **conventions: Any) -> Solution:
    """Compute self-attention, step by step.

    Parameters
    ----------
    X
        Tokens as rows, (n, d).
    W_Q, W_K, W_V
        Weights, (d, d_k), (d, d_k) and (d, d_v).
    **conventions
        `labels`, `title`, `scale`, `rounding`, `decimals`: see `Problem`.

    Returns
    -------
    Solution
        By name: Q (n, d_k), K (n, d_k), V (n, d_v), S, S_scaled and A (n, n), O (n, d_v).

    Raises
    ------
    InputError, ShapeError
        As `Problem` and `solve` do.

    Notes
    -----
    softmax(Q Kᵀ / √d_k) V: Vaswani et al., *Attention Is All You Need* (2017), equation 1.

    Examples
    --------
    >>> solution = self_attention([[1, 0], [0, 1]], [[1], [0]], [[1], [1]], [[2], [4]])
    >>> solution.shown("A"), solution["O"].shape
    ([['0.50', '0.50'], ['0.50', '0.50']], (2, 1))
    """
    return solve(Problem(X=X, W_Q=W_Q, W_K=W_K, W_V=W_V, **conventions))


def cross_attention(X1: Any, X2: Any, W_Q: Any, W_K: Any, W_V: Any, **conventions: Any) -> Solution:
    """Compute cross-attention, step by step: the tokens of X1 attend to those of X2.

    Parameters
    ----------
    X1
        Tokens that ask, as rows, (n, d_1).
    X2
        Tokens attended to, as rows, (m, d_2).
    W_Q, W_K, W_V
        Weights, (d_1, d_k), (d_2, d_k) and (d_2, d_v).
    **conventions
        `labels`, `title`, `scale`, `rounding`, `decimals`: see `Problem`.

    Returns
    -------
    Solution
        By name: Q (n, d_k), K (m, d_k), V (m, d_v), S, S_scaled and A (n, m), O (n, d_v).

    Raises
    ------
    InputError, ShapeError
        As `Problem` and `solve` do.

    Notes
    -----
    As `self_attention`, with Q = X1 W_Q, K = X2 W_K and V = X2 W_V: Vaswani et al. (2017),
    section 3.2.3.

    Examples
    --------
    >>> cross_attention([[1]], [[0], [0]], [[1]], [[1]], [[2]])["A"]
    array([[0.5, 0.5]])
    """
    return solve(Problem(X1=X1, X2=X2, W_Q=W_Q, W_K=W_K, W_V=W_V, **conventions))


class Marking(grading.Marking):
    """An answer, marked: what is said of each entry, is in its `steps`.

    What a marking is, `attncalc.grading.marks` says; here it can sum itself up.
    """

    @property
    def score(self) -> "Score":
        """What is earned, of what could be."""
        from attncalc.grading.credit import score

        return score(self)

    @property
    def verdict(self) -> tuple[str, ...]:
        """What a good teacher would write under the answer."""
        from attncalc.writing.verdict import verdict

        return verdict(self)


def check(problem: Problem | str | Path, answer: Any, **rules: Any) -> Marking:
    """Mark a worked answer, entry by entry.

    Parameters
    ----------
    problem
        The problem, or the file that holds it.
    answer
        The file or folder that holds the answer, or its matrices by name: lists, arrays, texts.
    **rules
        `asked`, `weights`, `follow_penalty`, `rounding_penalty`, `precision_penalty`, `atol`,
        `rtol`: see `attncalc.grading.rules.Rules`.

    Returns
    -------
    Marking
        `marking.score` is what is earned, of what could be; `marking.verdict` says it in sentences;
        `marking.steps` holds the status of each entry.

    Raises
    ------
    InputError, ShapeError
        When the problem or the answer cannot be read.

    Examples
    --------
    >>> problem = Problem(X=[[1, 2]], W_Q=[[3], [4]], W_K=[[1], [1]], W_V=[[1], [1]])
    >>> marking = check(problem, {"Q": [[11]], "K": [["2.50"]], "S": [["27.5"]]})
    >>> marking.score.earned, marking.first_wrong.marks.step.name
    (Fraction(2, 1), 'K')
    """
    from attncalc.grading.key import key_of
    from attncalc.grading.marking import marked
    from attncalc.grading.rules import Rules
    from attncalc.reading import read_problem
    from attncalc.reading.answers import answer_of, read_answer

    given = problem if isinstance(problem, Problem) else read_problem(problem)
    written = answer_of(answer) if isinstance(answer, Mapping) else read_answer(answer)
    marked_by = Rules(**rules)
    return marked(Marking, key_of(given, marked_by), written, marked_by)
