"""Functions that solve a problem, or mark an answer."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attncalc.api.solution import Solution
from attncalc.problem.fields import added_lines
from attncalc.problem.problem import Problem
from attncalc.problem.step import Report
from attncalc.solving.solution import solved

if TYPE_CHECKING:
    from attncalc.api.marking import Marking


def solve(
    problem: Problem,
    keep: Iterable[str] | None = None,
    report: Report | None = None,
    *,
    equations: Sequence[str] = (),
    more: Mapping[str, Any] | None = None,
) -> Solution:
    """Compute the steps of a problem.

    Parameters
    ----------
    problem
        The matrices and the conventions.
    keep
        The names of the steps to keep, or None for all. Other steps are not stored: with
        `("O",)`, memory grows with n, not with n².
    report
        Called on long inputs with the number of finished blocks, and of all.
    equations, more
        Additional equations, which replace those of the same name, and the matrices with other
        names that they read.

    Returns
    -------
    Solution
        `solution["A"]` is an array; `solution.shown("A")` its digits as shown.

    Raises
    ------
    InputError
        If a step is not part of the plan, numbers exceed float64, or the result does not fit into
        memory.

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
    if equations or more:
        lines = added_lines(problem.equations, equations)
        problem = replace(problem, equations=lines, more={**problem.more, **(more or {})})
    return solved(Solution, problem, keep, report)


def self_attention(X: Any, W_Q: Any, W_K: Any, W_V: Any, **conventions: Any) -> Solution:
    """Compute self-attention, step by step.

    Parameters
    ----------
    X
        Tokens as rows, (n, d).
    W_Q, W_K, W_V
        Weights, (d, d_k), (d, d_k) and (d, d_v); several heads side by side in one matrix, or as a
        list of matrices. None for matrices given as Q, K or V.
    **conventions
        Any argument listed below.

    Other Parameters
    ----------------
    Q, K, V
        Queries (n, d_k), keys (n, d_k) and values (n, d_v), instead of tokens and
        weights; several heads side by side, or as a list of matrices.
    ids, W_E
        Token ids (n,), instead of X, which is then None: rows of W_E (d_vocabulary, d).
    first_id
        The id of the first row of W_E: 0 (default) or 1.
    W_O
        Output projection, (heads · d_v, d_out), or (d_v, d_out) if heads are averaged.
    b_Q, b_K, b_V, b_O
        Biases, (d_k,), (d_k,), (d_v,) and (d_out,): one number for each column of the weights, for
        all heads.
    P
        Positions added to X, (n, d).
    W_S, W_Sq, W_Sk, v_S, b_S
        Matrices of other scores: W_S (d_q, d_k), or (d_q + d_k, h) for `"concat"`; W_Sq (d_q, h)
        and W_Sk (d_k, h); v_S and b_S have h numbers.
    S, A
        Scores or weights, (n, m), or (heads, n, m), instead of queries and keys.
    gamma_Q, beta_Q, gamma_K, beta_K
        Gains and biases of `qk_norm`: (d_k,), or (heads · d_k,) if each head has its own.
    rope_frequencies
        RoPE frequencies, (d_k / 2,): one for each pair of rotated columns.
    alibi_slopes, sinks
        Slopes of `alibi`, and attention sinks: exp(sink) is added to the denominator of the
        softmax, (heads,).
    rel_bias
        T5 relative position biases, (d_buckets, heads): a row for each bucket.
    keep, ignore
        Where a query may attend (1), and where it may not (1): (n, n), (1, n) or
        (heads, n, n).
    bias
        Numbers added to the scaled scores, (n, n), (1, n) or (heads, n, n); -inf masks.
    dO, target
        The upstream gradient of the outputs, and the target outputs, (n, d_out).
    labels, title, language, decimals, rounding, scale, asked, layout, weights_layout
        As in `Problem`, which lists the values of all of these, as docs/fields.md does.
    heads, combine, causal, causal_alignment, score, window, normalizer, softcap, qk_norm, qk_eps
        As in `Problem`.
    alibi, rel_max_distance, rel_bidirectional, positions, positions_base, rope_base, rope_offset
        As in `Problem`.
    rope_query_offset, rope_pairing, rope_dims, rope_scaling, rope_factor
        As in `Problem`.
    backward, step, equations, more
        As in `Problem`.

    Returns
    -------
    Solution
        By name: Q and K (n, d_k), V (n, d_v), S, S_scaled and A (n, n), O (n, d_v). Several heads
        add a first axis, and O is (n, d_out).

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
        Query tokens, as rows, (n, d_1).
    X2
        Tokens attended to, as rows, (m, d_2).
    W_Q, W_K, W_V
        Weights, (d_1, d_k), (d_2, d_k) and (d_2, d_v); several heads side by side in one matrix, or
        as a list of matrices. None for matrices given as Q, K or V.
    **conventions
        Any argument listed below.

    Other Parameters
    ----------------
    Q, K, V
        Queries (n, d_k), keys (m, d_k) and values (m, d_v), instead of tokens and
        weights; several heads side by side, or as a list of matrices.
    X3
        Tokens of the values, if they differ from X2, (m, d_3).
    P1, P2, P3
        Positions added to X1, X2 and X3, (n, d_1), (m, d_2) and (m, d_3).
    S, A
        Scores or weights, (n, m), or (heads, n, m), instead of queries and keys.
    keep, ignore
        Where a query may attend (1), and where it may not (1): (n, m), (1, m) or
        (heads, n, m).
    bias
        Numbers added to the scaled scores, (n, m), (1, m) or (heads, n, m); -inf masks.
    labels
        Names of the tokens: `{"X1": [n names], "X2": [m names]}`, or those of one side.
    W_O, b_Q, b_K, b_V, b_O
        As in `self_attention`: (heads · d_v, d_out), (d_k,), (d_k,), (d_v,) and (d_out,).
    W_S, W_Sq, W_Sk, v_S, b_S
        As in `self_attention`: (d_q, d_k) or (d_q + d_k, h), (d_q, h), (d_k, h), and h numbers.
    gamma_Q, beta_Q, gamma_K, beta_K
        As in `self_attention`: (d_k,) or (heads · d_k,).
    rope_frequencies, alibi_slopes, sinks, rel_bias
        As in `self_attention`: (d_k / 2,), (heads,), (heads,) and (d_buckets, heads).
    title, scale, rounding, decimals, language, asked, heads, combine, causal
        As in `Problem`.
    causal_alignment, score, window, alibi, rel_max_distance, rel_bidirectional, softcap
        As in `Problem`.
    qk_norm, qk_eps, normalizer, positions, positions_base, rope_base, rope_offset
        As in `Problem`.
    rope_query_offset, rope_pairing, rope_dims, rope_scaling, rope_factor, layout
        As in `Problem`.
    weights_layout, backward, step, equations, more
        As in `Problem`.
    dO, target
        As in `self_attention`: (n, d_out).

    Returns
    -------
    Solution
        By name: Q (n, d_k), K (m, d_k), V (m, d_v), S, S_scaled and A (n, m), O (n, d_v). Several
        heads add a first axis, and O is (n, d_out).

    Raises
    ------
    InputError, ShapeError
        As `Problem` and `solve` do.

    Notes
    -----
    Like `self_attention`, with Q = X1 W_Q, K = X2 W_K and V = X2 W_V: Vaswani et al. (2017),
    section 3.2.3.

    Examples
    --------
    >>> cross_attention([[1]], [[0], [0]], [[1]], [[1]], [[2]])["A"]
    array([[0.5, 0.5]])
    """
    return solve(Problem(X1=X1, X2=X2, W_Q=W_Q, W_K=W_K, W_V=W_V, **conventions))


def check(
    problem: Problem | Solution | str | Path, answer: Any, *, dump: bool = False, **rules: Any
) -> "Marking":
    """Mark a worked answer, entry by entry.

    Parameters
    ----------
    problem
        The problem, or its file; or its solution, for the tensors of a program.
    answer
        The file or folder of the answer, or its matrices by name: lists, arrays, texts.
    dump
        Whether the answer is the tensors of a program, by the names of hooks, such as
        `{"transformer.h.3.attn.c_attn": tensor}`; implied by a solution. Without `atol` and `rtol`,
        the tolerance is that of their type.
    **rules
        `steps` (the counted steps, as `"Q,A,connections"` or a list; by default those of the
        problem), `require` (steps that must be shown), `points` (the total), `weights` (such as
        `{"A": 2}`), `deductions` (by cause), `hint_costs`, `follow_penalty`, `rounding_penalty`,
        `precision_penalty`, `atol`, `rtol`: the flags of `attncalc check`;
        `attncalc.grading.rules.Rules` describes them, with `asked` for `steps`. `rubric` is a file
        with these rules.

    Returns
    -------
    Marking
        `marking.score` is the earned and the possible points; `marking.verdict` describes them in
        sentences; `marking.steps` has the status of each entry; `marking.is_provisional` is true
        if text that could be a matrix was not read.

    Raises
    ------
    InputError, ShapeError
        If the problem or the answer cannot be read, or there is no such rule.

    Examples
    --------
    >>> problem = Problem(X=[[1, 2]], W_Q=[[3], [4]], W_K=[[1], [1]], W_V=[[1], [1]])
    >>> marking = check(problem, {"Q": [[11]], "K": [["2.50"]], "S": [["27.5"]]})
    >>> marking.score.earned, marking.first_wrong.marks.step.name
    (Fraction(2, 1), 'K')
    """
    # here, since solving marks nothing
    from attncalc.api.marking import (
        Marking,
        keyed_dump,
        read_rubric,
        rules_from,
        tensors_of,
        with_known_steps,
    )
    from attncalc.grading.key import key_of
    from attncalc.grading.marking import marked
    from attncalc.reading import read_problem
    from attncalc.reading.answers import answer_of, read_answer

    dump = dump or isinstance(problem, Solution)
    problem = problem.problem if isinstance(problem, Solution) else problem
    given = problem if isinstance(problem, Problem) else read_problem(problem)
    rubric = rules.pop("rubric", None)
    said = rules_from(rules) if rubric is None else rules_from(rules, read_rubric(rubric))
    if dump:
        key, written, said = keyed_dump(given, *tensors_of(answer), said)
        return marked(Marking, key, written, with_known_steps(said, key))
    key = key_of(given, said)
    marked_by = with_known_steps(said, key)
    is_matrices = isinstance(answer, Mapping)
    with key.names_at_hand():
        # only the key has the names of steps that are equations
        known = key.expected if given.equations or not is_matrices else None
        written = answer_of(answer, known) if is_matrices else read_answer(answer, known)
    return marked(Marking, key, written, marked_by)
