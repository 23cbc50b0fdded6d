"""The calls: a problem is solved, or an answer to it marked."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attncalc.api.solution import Solution
from attncalc.operations.step import Report
from attncalc.problem.problem import Problem
from attncalc.solving.solution import solved

if TYPE_CHECKING:
    from attncalc.api.marking import Marking


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
        Weights, (d, d_k), (d, d_k) and (d, d_v); of several heads side by side in one matrix, or
        as a list of matrices. None for what is given itself as Q, K or V.
    **conventions
        Any of those below, by name.

    Other Parameters
    ----------------
    Q, K, V
        Queries (n, d_k), keys (n, d_k) and values (n, d_v) themselves, in place of tokens and
        weights; of several heads side by side, or as a list of matrices.
    W_O
        Output projection, (heads · d_v, d_out), or (d_v, d_out) where heads are averaged.
    b_Q, b_K, b_V, b_O
        Biases, (d_k,), (d_k,), (d_v,) and (d_out,): one number for each column of the weights,
        those of all heads.
    P
        Positions added to X, (n, d).
    keep, ignore
        Where a query may attend (1), and where it may not (1): (n, n), (1, n) or
        (heads, n, n).
    bias
        Numbers added to the scaled scores, (n, n), (1, n) or (heads, n, n); -inf forbids.
    labels
        Names of the n tokens.
    title
        What the problem is called in headings and pictures.
    scale
        `"sqrt_dk"` (default: scores divided by √d_k), `"none"`, or a number that multiplies.
    rounding
        `"display"` (default: only what is shown is rounded) or `"each-step"` (each step is rounded,
        and the next one reads the rounded numbers).
    decimals
        Decimals shown, 0 to 12; by default 2.
    asked
        The names of the steps that answers are asked for, for marking alone; by default all.
    heads
        How many heads stand side by side in W_Q, or in Q; by default 1. Keys and values may have
        fewer.
    combine
        `"concat"` (default) or `"mean"` of the heads.
    causal
        Whether a query attends only to keys up to its own place; by default not.
    causal_alignment
        From which corner that is counted: `"top-left"` (default) or `"bottom-right"`.
    softcap
        c, for scores of c · tanh(s / c); by default none.
    normalizer
        `"softmax"` (default), `"hardmax"` or `"sum"`.
    positions
        `"none"` (default), `"sinusoidal"` (added to the tokens) or `"rope"` (queries and keys
        rotated).
    rope_base, rope_offset, rope_query_offset
        Of rope: its base (10,000), the place of the first token (0), and of the first query where
        that is another.
    rope_pairing
        Which columns rope pairs: `"halves"` (default) or `"interleaved"`.
    layout
        `"rows"` (default), or `"columns"`: tokens are columns, and every shape here is the other
        way round.
    weights_layout
        `"in-out"` (default), or `"torch"`: weights stored (out, in).

    Returns
    -------
    Solution
        By name: Q and K (n, d_k), V (n, d_v), S, S_scaled and A (n, n), O (n, d_v); of several
        heads with an axis of heads first, and O (n, d_out).

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
        Weights, (d_1, d_k), (d_2, d_k) and (d_2, d_v); of several heads side by side in one
        matrix, or as a list of matrices. None for what is given itself as Q, K or V.
    **conventions
        Any of those below, by name.

    Other Parameters
    ----------------
    Q, K, V
        Queries (n, d_k), keys (m, d_k) and values (m, d_v) themselves, in place of tokens and
        weights; of several heads side by side, or as a list of matrices.
    W_O
        Output projection, (heads · d_v, d_out), or (d_v, d_out) where heads are averaged.
    b_Q, b_K, b_V, b_O
        Biases, (d_k,), (d_k,), (d_v,) and (d_out,): one number for each column of the weights,
        those of all heads.
    X3
        Tokens whose values are read, where not those of X2, (m, d_3).
    P1, P2, P3
        Positions added to X1, X2 and X3, (n, d_1), (m, d_2) and (m, d_3).
    keep, ignore
        Where a query may attend (1), and where it may not (1): (n, m), (1, m) or
        (heads, n, m).
    bias
        Numbers added to the scaled scores, (n, m), (1, m) or (heads, n, m); -inf forbids.
    labels
        Names of the tokens: `{"X1": [n names], "X2": [m names]}`, or those of one side.
    title
        What the problem is called in headings and pictures.
    scale
        `"sqrt_dk"` (default: scores divided by √d_k), `"none"`, or a number that multiplies.
    rounding
        `"display"` (default: only what is shown is rounded) or `"each-step"` (each step is rounded,
        and the next one reads the rounded numbers).
    decimals
        Decimals shown, 0 to 12; by default 2.
    asked
        The names of the steps that answers are asked for, for marking alone; by default all.
    heads
        How many heads stand side by side in W_Q, or in Q; by default 1. Keys and values may have
        fewer.
    combine
        `"concat"` (default) or `"mean"` of the heads.
    causal
        Whether a query attends only to keys up to its own place; by default not.
    causal_alignment
        From which corner that is counted: `"top-left"` (default) or `"bottom-right"`.
    softcap
        c, for scores of c · tanh(s / c); by default none.
    normalizer
        `"softmax"` (default), `"hardmax"` or `"sum"`.
    positions
        `"none"` (default), `"sinusoidal"` (added to the tokens) or `"rope"` (queries and keys
        rotated).
    rope_base, rope_offset, rope_query_offset
        Of rope: its base (10,000), the place of the first token (0), and of the first query where
        that is another.
    rope_pairing
        Which columns rope pairs: `"halves"` (default) or `"interleaved"`.
    layout
        `"rows"` (default), or `"columns"`: tokens are columns, and every shape here is the other
        way round.
    weights_layout
        `"in-out"` (default), or `"torch"`: weights stored (out, in).

    Returns
    -------
    Solution
        By name: Q (n, d_k), K (m, d_k), V (m, d_v), S, S_scaled and A (n, m), O (n, d_v); of
        several heads with an axis of heads first, and O (n, d_out).

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


def check(problem: Problem | str | Path, answer: Any, **rules: Any) -> "Marking":
    """Mark a worked answer, entry by entry.

    Parameters
    ----------
    problem
        The problem, or the file that holds it.
    answer
        The file or folder that holds the answer, or its matrices by name: lists, arrays, texts.
    **rules
        `asked` (what is counted; without it what the problem asks for), `weights`,
        `follow_penalty`, `rounding_penalty`, `precision_penalty`, `atol`, `rtol`: see
        `attncalc.grading.rules.Rules`.

    Returns
    -------
    Marking
        `marking.score` is what is earned, of what could be; `marking.verdict` says it in sentences;
        `marking.steps` holds the status of each entry, and `marking.is_provisional` says whether
        something that could be a matrix was not read.

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
    # here, for who solves marks nothing
    from attncalc.api.marking import Marking
    from attncalc.grading.key import key_of
    from attncalc.grading.marking import marked
    from attncalc.grading.rules import Rules
    from attncalc.reading import read_problem
    from attncalc.reading.answers import answer_of, read_answer

    given = problem if isinstance(problem, Problem) else read_problem(problem)
    marked_by = Rules(**rules)
    key = key_of(given, marked_by)
    is_matrices = isinstance(answer, Mapping)
    written = answer_of(answer) if is_matrices else read_answer(answer, key.expected)
    return marked(Marking, key, written, marked_by)
