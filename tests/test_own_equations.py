"""Equations that users write, against Python's own evaluation of the same text in fractions."""

import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import for_all, mostly_slow

from attncalc import Problem, check, read_problem, simulate, solve, vary
from attncalc.base.errors import InputError, ShapeError
from attncalc.equations.own import read_line
from attncalc.equations.tree import EquationError
from attncalc.grading.rules import Status
from attncalc.problem.samples import SAMPLES, sample
from attncalc.problem.serialising import in_json
from attncalc.problem.stated import conventions
from attncalc.problem.stating import lines_of
from attncalc.reading import read_stream

X = [[1, 0, 2], [0, 1, 1], ["1/2", -1, 0]]
W = {
    "W_Q": [[1, 0], [0, 1], [1, 1]],
    "W_K": [[0, 1], [1, 1], [1, 0]],
    "W_V": [[1, 2], [0, 1], [1, 0]],
}


class Size(int):
    """A size: a number, and what a loop runs over."""

    def __iter__(self) -> Iterator[int]:
        return iter(range(self))


class Table:
    """A matrix by its indices; a single row or column may be read with one index."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    def __getitem__(self, at: Any) -> Any:
        places = at if isinstance(at, tuple) else (at,)
        if len(places) == 1:
            return self.values.reshape(-1)[places[0]]
        return self.values[places]


class _Row(dict[int, float]):
    """The entries of a row of weights, by their places."""


def softmax(terms: Any) -> _Row:
    powers = [math.exp(float(term)) for term in terms]
    return _Row({place: power / sum(powers) for place, power in enumerate(powers)})


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "exp": lambda x: math.exp(x),
    "log": lambda x: math.log(x),
    "sqrt": lambda x: math.sqrt(x),
    "tanh": lambda x: math.tanh(x),
    "sin": lambda x: math.sin(x),
    "cos": lambda x: math.cos(x),
    "erf": lambda x: math.erf(x),
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "relu": lambda x: max(x, 0),
    "gelu": lambda x: float(x) * (1 + math.erf(float(x) / math.sqrt(2))) / 2,
    "softmax": softmax,
    "inf": math.inf,  # type: ignore[dict-item]
    "pi": math.pi,  # type: ignore[dict-item]
}


def by_python(text: str, known: dict[str, np.ndarray], sizes: dict[str, int], shape: Any) -> Any:
    """Return a matrix as Python evaluates its equation, entry after entry."""
    line = read_line(text)
    right = line.text.partition("=")[2]
    names = {name: Table(values) for name, values in known.items()}
    names |= {n: v.reshape(-1)[0] for n, v in known.items() if v.size == 1}  # type: ignore[misc]
    made = np.empty(shape, object)
    own = {**FUNCTIONS, **{n: Size(s) for n, s in sizes.items()}, **names, line.name: Table(made)}
    for place in product(*map(range, shape)):
        at = dict(zip(line.equation.at, place, strict=False))
        made[place] = eval(right, {**own, **at})
    return made.astype(float)


CASES = [
    # text, matrices beside the problem's, the shape of the result
    ("S[i,j] = sum(Q[i,c] * K[j,c] for c in d_k) / sqrt(d_k)", {}, (3, 3)),
    ("S[i,j] = -sum(abs(Q[i,c] - K[j,c]) for c in d_k)  # Manhattan", {}, (3, 3)),
    ("S[i,j] = sum(Q[i,c] * K[(j + 1) % m, c] for c in d_k)", {}, (3, 3)),
    ("S[i,j] = max(Q[i,0], K[j,1]) - min(Q[i,1], K[j,0])", {}, (3, 3)),
    ("S[i,j] = max(Q[i,c] - K[j,c] for c in d_k) + min(Q[i,c] for c in d_k)", {}, (3, 3)),
    ("S[i,j] = Q[i,0] * K[j,0] if j <= i else -inf", {}, (3, 3)),
    ("S[i,j] = tau * sum(Q[i,c] * K[j,c] for c in d_k)", {"tau": "1/3"}, (3, 3)),
    ("B[i,c] = sigmoid(sum(X[i,a] * U[a,c] for a in d)) * gelu(V[i,c])", {"U": W["W_K"]}, (3, 2)),
    ("B[i,c] = sum(X[a,c] for a in n if a <= i) / (i + 1)", {}, (3, 3)),
    ("B[i,j] = softmax(S[i,k] for k in m)[j] * cos(i - j) + sin(pi / 2)", {}, (3, 3)),
    ("B[t,a,b] = decay[t] * (B[t-1,a,b] if t > 0 else 0) + K[t,a] * V[t,b]", {"decay": [1, "1/2", 2]}, (3, 2, 2)),
    ("B[t,c] = tanh(X[t,c] + (B[t-1,c] if t > 0 else 0) / 2)", {}, (3, 3)),
    ("B[t,c] = V[t,c] + (B[t-1,c] if t > 0 else 0) + (B[t-2,c] if t > 1 else 1)", {}, (3, 2)),
    ("L = sum(sum(V[i,c] ** 2 for c in d_v) for i in n)", {}, (1, 1)),
    ("g[i] = exp(-sum(X[i,a] ** 2 for a in d)) if not (i == 1 and n > 2) else erf(1)", {}, (3, 1)),
]  # fmt: skip


@pytest.mark.campaign(2)
@pytest.mark.parametrize("rounding", ["display", "each-step"])
@pytest.mark.parametrize("case", CASES, ids=[case[0][:40] for case in CASES])
def test_values_are_those_of_the_same_text_in_python(case: Any, rounding: str) -> None:
    text, more, shape = case
    problem = Problem(X=X, **W, equations=[text], more=more, rounding=rounding, decimals=4)
    solution = solve(problem)
    line = read_line(text)
    known = {name: np.array(problem.as_typed(name).tolist(), object) for name in problem.names}
    known = {n: np.vectorize(Fraction, otypes=[object])(v) for n, v in known.items()}
    known |= {
        name: np.vectorize(Fraction, otypes=[object])(
            solution.carried[name].astype(float).round(12).astype(str)
        )
        for name in (step.name for step in solution.plan)
        if name != line.name and name in line.reads
    }
    sizes = {"n": 3, "m": 3, "d": 3, "d_k": 2, "d_v": 2}
    expected = by_python(text, known, sizes, shape)
    np.testing.assert_allclose(solution[line.name], expected, rtol=0, atol=6e-5)


SMOOTH = [case for case in CASES if "abs" not in case[0] and "max" not in case[0]]


@pytest.mark.campaign(3)
@pytest.mark.parametrize("case", SMOOTH, ids=[case[0][:40] for case in SMOOTH])
def test_gradients_are_those_of_finite_differences(case: Any) -> None:
    text, more, _ = case
    more = {name: np.array(value, object) for name, value in more.items()}
    matrices = {
        "X": np.array([[1, 0, 2], [0, 1, 1], [0.5, -1, 0]]),
        **{n: np.array(w, float) for n, w in W.items()},
    }
    given = {n: np.vectorize(lambda x: float(Fraction(x)))(v) for n, v in more.items()}

    def solved(values: dict[str, np.ndarray], **fields: Any) -> Any:
        own = {n: v for n, v in values.items() if n in given}
        rest = {n: v for n, v in values.items() if n not in given}
        return solve(Problem(**rest, equations=[text], more=own, **fields))

    everything = matrices | given
    found = solved(everything, backward=True)
    last = [step.name for step in solved(everything).plan][-1]
    rng = np.random.default_rng(0)
    for name, values in everything.items():
        if f"d{name}" not in [step.name for step in found.plan]:
            continue
        way = rng.normal(size=values.shape)  # a wrong entry changes the slope in any direction
        ends = (everything | {name: values + change * way} for change in (1e-5, -1e-5))
        after, before = (float(solved(end)[last].sum()) for end in ends)
        gradient = np.asarray(found[f"d{name}"], float).reshape(values.shape)
        assert (gradient * way).sum() == pytest.approx((after - before) / 2e-5, abs=2e-4)


REFUSED = [
    ("S[i,j] = Qx[i,j]", "Qx is not an index, size or matrix here: did you mean Q? give it in the problem (X, W_Q, W_K, W_V, Q, K, V)", 9),
    ("S[i,j] = sum(Q[i,c] * K[j,c] for c in foo)", "foo is not a size; sizes are n, m, d, d_k, d_v, d_ff, heads, whole numbers, rows(X), columns(X) and heads(X)", 38),
    ("S[i,j] = Q[i]", "Q is 3 × 2: it takes two indices, a row and a column", 9),
    ("S[i,j] = Q[0,i,j]", "Q has 2 indices, not 3", 9),
    ("S[i,j] = sum(X[i,c] * K[j,c] for c in d_k)", "X[i,c]: c runs to d_k = 2, but X has 3 columns", 13),
    ("S[i,j] = sum(Q[i,c] * K[j,c] for c in d)", "Q[i,c]: c runs to 3, but Q has 2 columns", 13),
    ("S[i,j] = K[j+1,0] * Q[i,0]", "K[j + 1,0]: row j + 1 is 3 somewhere, counted from 0, but K has 3 rows", 9),
    ("S[i,j] = S[i,j] + 1", "S reads itself: an equation may read its own earlier rows alone, as S[t-1] if t > 0 else 0", 9),
    ("B[t,c] = B[t+1,c] + X[t,c]", "B reads itself: an equation may read its own earlier rows alone, as B[t-1] if t > 0 else 0", 9),
    ("B[t,c] = X[t,c] + (B[t-0,c] if t > 0 else 0)", "B reads its own row t - 0: earlier rows alone are known", 19),
    ("Q[i,c] = A[i,c]", "these read one another in a circle: Q → A → S_scaled → S → Q", 9),
    ("S[i,j] = open(Q[i,j])", None, 9),
    ("S[i,j] = Q[i,j].real", "equations have no such expression", 9),
    ("S[i,j] = 1e2000 * Q[i,0]", "numbers go up to a power of ten of 1,000", 9),
    ("S[i,j] = 9 ** 9 ** 9", "an exponent is at most 1000", 14),
    ("S[i,j] = " + "-" * 200 + "1", "an equation is at most 80 levels deep", 0),
    ("S[i,j] = (1", "this is not an equation; an example is S[i,j] = sum(Q[i,c] * K[j,c] for c in d_k) / sqrt(d_k)", 9),
    ("S[i,j]", "write one equation a line, as S[i,j] = ...", 0),
    ("S[i,i] = 1", "the index i is used twice on the left", 4),
    ("S[a,b,c,e] = 1", "a matrix has at most three indices: heads or time, rows and columns", 0),
    ("B[i in 4000, j in 4001] = sum(X[0,0] for c in d)", "this takes", 0),
    ("d_k = 3", "d_k is a size or a function: choose another name", 0),
    ("B[i,c] = log(X[i,c])", "B[1, 2] is not a finite number: log(X[i,c]) is the logarithm of", 9),
    ("B[i,c] = 1 / X[i,c]", "B[1, 2] is not a finite number: 1 / X[i,c] divides by 0", 9),
]  # fmt: skip


@for_all(("text", "problem", "column"), REFUSED)
def test_an_error_has_a_caret_at_its_place(text: str, problem: str | None, column: int) -> None:
    with pytest.raises(EquationError) as refused:
        solve(Problem(X=X, **W, equations=[text]))
    said, line, caret = str(refused.value).split("\n")
    if problem is not None:
        assert said.startswith(problem)
    assert line == f"  {text}"
    assert caret == " " * (2 + column) + "^"


def test_a_name_stated_twice_is_refused() -> None:
    with pytest.raises(InputError, match="B is stated twice"):
        Problem(X=X, **W, equations=["B[i,c] = X[i,c]", "B[i,c] = 2 * X[i,c]"])


def test_a_matrix_that_no_equation_reads_is_refused() -> None:
    with pytest.raises(InputError, match="U is given, but this attention does not use it"):
        Problem(X=X, **W, equations=["B[i,c] = X[i,c]"], more={"U": [[1]]})


def test_keys_can_be_stated_in_place_of_their_weights() -> None:
    lines = [
        "C[j,r] = sum(X[j,a] * W_D[a,r] for a in d)",
        "K[j,c] = sum(C[j,r] * W_U[r,c] for r in columns(W_D))",
    ]
    more = {"W_D": [[1], [0], [1]], "W_U": [[1, 2]]}
    weights = {name: W[name] for name in ("W_Q", "W_V")}
    solution = solve(Problem(X=X, **weights, equations=lines, more=more))
    same = np.array(more["W_D"]) @ np.array(more["W_U"])
    expected = solve(Problem(X=X, **weights, W_K=same.tolist()))
    assert [step.name for step in solution.plan][:4] == ["Q", "V", "C", "K"]
    assert solution.shown("O") == expected.shown("O")


def test_equations_alone_make_a_problem() -> None:
    problem = Problem(X=X, equations=["B[i,c] = 2 * X[i,c]", "D[i] = sum(B[i,c] for c in d)"])
    assert solve(problem).shown("D") == [["6.00"], ["4.00"], ["-1.00"]]


def test_every_equation_that_is_built_in_is_listed(attncalc: Callable[..., Any]) -> None:
    from attncalc.equations.library import stated

    listed = attncalc("equations").out
    assert all(f"\n{name}: " in f"\n{listed}" for name in stated())
    assert attncalc("equations", "alibi").out.splitlines()[1:2] == [
        "    Press et al., Train Short, Test Long (2022)"
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", [each.name for each in SAMPLES])
def test_a_sample_is_the_same_by_its_own_equations(name: str) -> None:
    problem = read_problem(sample(name).path)
    steps = problem.calculation
    solution = solve(problem)
    again = solve(replace(problem, equations=list(lines_of(problem, steps))))
    # own equations name each part of a gradient
    assert {step.name for step in again.plan} >= {step.name for step in solution.plan}
    assert all(again.shown(step.name) == solution.shown(step.name) for step in solution.plan)


def test_a_problem_with_equations_is_read_back_from_its_output(tmp_path: Path) -> None:
    lines = [
        "G[i,c] = sigmoid(sum(X[i,a] * W_G[a,c] for a in d))",
        "O[i,c] = G[i,c] * V[i,c] * tau",
    ]
    given = {"X": X, **W, "equations": lines, "W_G": W["W_K"], "tau": 0.5}
    (tmp_path / "in.json").write_text(json.dumps(given))
    problem = read_problem(tmp_path / "in.json")
    assert json.loads(json.dumps(in_json(problem)))["W_G"] == W["W_K"]
    (tmp_path / "again.json").write_text(json.dumps(in_json(problem)))
    again = read_problem(tmp_path / "again.json")
    assert again.equations == problem.equations
    assert solve(again).shown("O") == solve(problem).shown("O")


def test_equations_of_flags_replace_those_of_the_file(
    attncalc: Callable[..., Any], tmp_path: Path
) -> None:
    given = {"X": X, **W, "equations": ["B = 2 * X[0,0]", "C = X[0,0]"]}
    (tmp_path / "in.json").write_text(json.dumps(given))
    run = attncalc(
        "self", str(tmp_path / "in.json"), "--equation", "B = 3 * X[0,0]", "--only", "B,C"
    )
    assert "3.00" in run.out
    assert "2.00" not in run.out


def test_a_mistake_in_a_row_of_a_recurrence_is_followed_in_later_rows() -> None:
    problem = Problem(
        X=[[1, 2], [3, 4], [5, 6], [1, 1]],
        equations=["B[t,c] = X[t,c] + (B[t-1,c] if t > 0 else 0) / 2"],
    )
    answer = {"B": [[1, 2], [3.5, 5.5], [6.75, 8.75], [4.38, 5.9]]}
    marking = check(problem, answer)
    (marks,) = marking.steps
    second = [marks.status((row, 1)) for row in range(4)]
    assert second == [Status.CORRECT, Status.WRONG, Status.FOLLOWS, Status.WRONG]
    assert all(marks.status((row, 0)) == Status.CORRECT for row in range(4))


@pytest.mark.slow
def test_a_wrong_matrix_is_explained_by_the_equation_that_it_fits() -> None:
    lines = [
        "S[i,j] = sum(Q[i,c] * K[j,c] for c in d_k) / sqrt(d_k) / tau",
        "B[i,j] = Q[i,0] - K[j,1] if j <= i else 0",
    ]
    problem = Problem(X=X, **W, scale="none", equations=lines, more={"tau": 0.5}, decimals=4)
    solution = solve(problem)
    Q, K = (np.array(solution[name]) for name in "QK")
    strict = np.where(np.tri(3, k=-1) > 0, Q[:, :1] - K[:, 1:].T, 0)
    for name, values, code, says in (
        ("S", Q @ K.T / 0.5, "no-division:sqrt(d_k)", "the division by sqrt(d_k) is left out"),
        ("S", Q @ K.T / np.sqrt(2), "no-division:tau", "the division by tau is left out"),
        ("S", K @ Q.T / np.sqrt(2) / 0.5, "exchanged:Q,K", "Q and K are exchanged"),
        ("B", strict, "off-by-one:j <= i", "j <= i is taken as j < i (off by one)"),
    ):
        marking = check(problem, {name: np.round(values, 4).tolist()})
        (marks,) = (each for each in marking.steps if each.step.name == name)
        assert (marks.causes[0].code, marks.causes[0].says) == (f"equation-{code}", says)


def test_scores_are_modified_as_by_flex_attention(attncalc: Callable[..., Any]) -> None:
    lines = ["score - abs(q_idx - kv_idx) / 2", "q_idx >= kv_idx"]
    solution = solve(Problem(X=X, **W, equations=lines))
    assert [step.name for step in solution.plan][3:] == [
        "S",
        "S_scaled",
        "S_mod",
        "S_mod_2",
        "A",
        "O",
    ]
    apart = np.abs(np.subtract.outer(range(3), range(3)))
    scores = np.array(solution["S_scaled"]) - apart / 2
    powers = np.exp(np.where(np.tri(3, dtype=bool), scores, -np.inf))
    np.testing.assert_allclose(solution["A"], powers / powers.sum(axis=1, keepdims=True))
    run = attncalc("self", "--equation", lines[0], "--equation", lines[1], "--only", "S_mod_2")
    assert "masked scores" in run.out
    refused = attncalc("encoder", "--X", "1 0; 0 1", "--equation", lines[0])
    assert "there are no scores here that it could change" in refused.err


def test_each_head_has_a_modification_of_scores() -> None:
    weights = {name: [[*row, *row] for row in W[name]] for name in W}
    more = {"slope": [0.5, 2]}
    solution = solve(
        Problem(X=X, **weights, heads=2, equations=["score - slope[h] * q_idx"], more=more)
    )
    for head, slope in enumerate(more["slope"]):
        expected = np.array(solution["S_scaled"])[head] - slope * np.arange(3)[:, None]
        np.testing.assert_allclose(np.array(solution["S_mod"])[head], expected)


def test_a_problem_is_solved_with_further_equations() -> None:
    problem = Problem(X=X, **W, equations=["B = 2 * X[0,0]"])
    solution = solve(problem, equations=["B = tau * X[0,0]"], more={"tau": 3})
    assert solution.shown("B") == [["3.00"]]


def test_the_work_of_a_largest_term_is_that_term() -> None:
    lines = ["B[i] = max(X[i,c] * 2 for c in d)", "D = min(X[i,0] for i in n)"]
    page = solve(Problem(X=X, equations=lines)).to_markdown(work=True)
    assert "B_{2,1} &= 1 \\cdot 2 = 2.00" in page


def test_steps_that_nothing_reads_any_more_are_left_out_with_their_conventions() -> None:
    problem = Problem(X=X, **W, equations=["O[i,c] = V[i,c] * sigmoid(Q[i,c])"])
    assert [step.name for step in solve(problem).plan] == ["Q", "V", "O"]
    assert not any("√d_k" in text for text in conventions(problem))
    assert problem.attentions == ()


def test_fewer_heads_of_keys_serve_several_heads_of_queries() -> None:
    some = np.random.default_rng(0)
    Q, K, V = (some.integers(-2, 3, (heads, 3, 2)).tolist() for heads in (4, 2, 2))
    given = {"Q": Q, "K": K, "V": V, "heads": 4, "backward": True}
    own = solve(Problem(**given, equations=["S[i,j] = sum(Q[i,c] * K[j,c] for c in d_k)"]))
    plain = solve(Problem(**given))
    for name in ("S", "A", "O", "dQ", "dK"):
        np.testing.assert_allclose(own[name], plain[name], atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gru", "linear"])
def test_problems_without_weights_are_varied_and_not_explained(
    attncalc: Callable[..., Any], name: str
) -> None:
    path = str(sample(name).path)
    assert attncalc("vary", path, "X[1,1]=0:2:3").code == 0
    for asked in (("explain", path), ("self", path, "--explain"), ("plot", path, "-o", "a.png")):
        run = attncalc(*asked)
        assert run.code == 2
        assert "no attention" in run.err


def test_answers_are_read_by_the_names_of_the_equations() -> None:
    problem = Problem(X=X, equations=["h[i,c] = X[i,c] * 2", "Y[i,c] = h[i,c] + 1"])
    marking = check(problem, {"h": solve(problem).shown("h"), "Y": solve(problem).shown("Y")})
    assert marking.is_right


H = "X[t,e] + (c[t-1,e] if t > 0 else 0)"


@pytest.mark.parametrize(
    ("h", "c", "problem"),
    [
        ("c[t,e] * 2", "h[t,e] + X[t,e]", "these read one another in a circle: h → c → h"),
        (H, "h[t,e] + h[t+1,e]", "c reads h in row t + 1: earlier rows alone are known"),
        (H, "h[max(t,1),e]", "c reads h in row max(t, 1): earlier rows alone are known"),
        (H, "h[t,e] + Z[t]", "Z is not an index, size or matrix here"),
        (H, "h[t]", "it takes two indices, a row and a column"),
    ],
)
def test_a_cycle_reads_only_earlier_rows(h: str, c: str, problem: str) -> None:
    with pytest.raises(EquationError, match=re.escape(problem)) as caught:
        solve(Problem(X=X, equations=[f"h[t,e] = {h}", f"c[t,e] = {c}"]))
    assert "^" in str(caught.value)


def test_rows_that_are_computed_together_are_as_many() -> None:
    lines = [
        "h[t in 2, e] = (c[t-1,e] if t > 0 else 0) + X[t,e]",
        "c[t in n, e] = (h[t-1,e] if t > 0 and t < 3 else 0) + X[t,e]",
    ]
    with pytest.raises(EquationError, match="c has 3 rows, and h, 2"):
        solve(Problem(X=X, equations=lines))


@pytest.mark.slow
def test_a_family_of_mutual_recurrences_is_each_of_them() -> None:
    problem = read_problem(sample("lstm").path)
    others: dict[str, Callable[[int], Any]] = {
        "X": lambda value: {"X": [[value, 0], [-1, 2], [0, 1]]},
        "U_f": lambda value: {"more": {**problem.more, "U_f": [[value, 1], [1, 0]]}},
    }
    for name, fields in others.items():
        found = vary(problem, f"{name}[1,1]=-1:2:4", watch=["h[3,1]"])
        for value, row in zip((-1, 0, 1, 2), json.loads(found.to_json())["rows"], strict=True):
            other = replace(problem, **fields(value))
            assert row["exact"] == pytest.approx([solve(other)["h"][2, 0]])


@pytest.mark.parametrize(
    ("name", "queries", "keys", "heads"),
    mostly_slow(
        pytest.param(*each)
        for each in (
            ("graph", 3, 3, 1),
            ("latent", 3, 3, 2),
            ("hopfield", 2, 3, 1),
            ("alignment", 2, 3, 1),
        )
    ),
)
def test_rows_of_a_softmax_that_weigh_a_matrix_are_the_weights(
    attncalc: Callable[..., Any], name: str, queries: int, keys: int, heads: int
) -> None:
    path = str(sample(name).path)
    problem = read_problem(path)
    (attention,) = problem.attentions
    assert (attention.n, attention.m, attention.n_heads) == (queries, keys, heads)
    found = [head.connections for head in solve(problem).heads]
    assert list(map(len, found)) == [queries] * heads
    assert "mixes inputs" in attncalc("explain", path, "--all").out
    with pytest.raises(InputError, match="causal"):
        read_problem(path, causal=True).calculation  # noqa: B018


def test_rows_of_a_kernel_are_not_weights_of_tokens() -> None:
    lines = [
        "w[i,k] = softmax(W[i,l] for l in columns(W))[k]",
        "Y[i,c] = sum(w[0,k] * X[i+k-1,c] for k in columns(w) if 0 <= i + k - 1 and i + k - 1 < n)",
    ]
    assert Problem(X=X, more={"W": [[1, 2, 0]]}, equations=lines).attentions == ()
    named = [lines[0], "Y[i,c] = sum(w[i,k] * X[k,c] for k in n)"]
    own = Problem(X=X, more={"W": [[1, 2, 0]]}, equations=named, labels={"X": ["a", "b", "c"]})
    assert [each.name for each in solve(own).all_weights] == ["w"]
    assert own.attentions[0].keys == ("a", "b", "c")


def test_a_gate_may_have_weights_that_are_called_as_those_of_the_attention() -> None:
    more = {"W_O": [[1, 0], [0, 1], [1, 1]]}
    gate = "G[i,c] = sigmoid(sum(X[i,a] * {}[a,c] for a in d))"
    with pytest.raises(ShapeError, match="W_O is a matrix of the attention: give what"):
        solve(Problem(X=X, **W, **more, equations=[gate.format("W_O")]))
    text = json.dumps({"X": X, **W, "W_o": more["W_O"], "equations": [gate.format("W_o")]})
    assert "W_o" in read_stream(text.encode(), "gate.json").more


STATED = "equations,Y[h,t] = sum(X[t,a] * M[h,a] * N[0,a,h] for a in d)\nX\n1,2\n3,4\nM\n1,0\n0,1\n"


def test_csv_contains_several_matrices_of_a_name_one_below_the_other(tmp_path: Path) -> None:
    file = tmp_path / "in.csv"
    file.write_text(f"{STATED}N[0]\n1,2\n3,4\nN[1]\n5,6\n7,8\n")
    assert read_problem(file).given["N"].tolist() == [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]


@pytest.mark.parametrize(
    ("blocks", "fault"),
    [
        ("N[1]\n1,2\n3,4\n", "N[1]: N[0] is missing before it"),
        ("N[0]\n1,2\n3,4\nN[2]\n1,2\n3,4\n", "N[2]: N[1] is missing before it"),
        ("N\n1,2\n3,4\nN[0]\n1,2\n3,4\n", "N[0]: N is given whole before it"),
        ("N[0]\n1,2\nN[0]\n1,2\n", "line 10: N[0] is given twice"),
    ],
)
def test_slices_of_a_matrix_in_csv_are_complete(tmp_path: Path, blocks: str, fault: str) -> None:
    file = tmp_path / "in.csv"
    file.write_text(STATED + blocks)
    with pytest.raises(InputError) as refused:
        read_problem(file)
    assert fault in str(refused.value)


@pytest.mark.parametrize("form", ["json", "csv", "npz"])
def test_a_matrix_is_read_by_the_exact_name_in_an_equation(
    tmp_path: Path, attncalc: Callable[..., Any], form: str
) -> None:
    given = {"X": [[1, 2], [3, 4]], "a": [2, 3], "wq": [[5]]}
    lines = ["Y[t,p] = a[t] * X[t,p] * wq[0,0]"]
    (tmp_path / "in.json").write_text(json.dumps(given | {"equations": lines}))
    assert attncalc("self", "in.json", "-o", f"out.{form}").code == 0
    assert solve(read_problem(tmp_path / f"out.{form}"))["Y"].tolist() == [[10, 20], [45, 60]]


@pytest.mark.slow
def test_a_gate_that_is_left_out_is_named() -> None:
    path = sample("lstm").path
    key = read_problem(path)
    cell = "c[t,a] = f[t,a] * (c[t-1,a] if t > 0 else 0) + i[t,a]"
    wrong = solve(read_problem(path, equations=[cell]))
    marking = check(key, {step.name: wrong.shown(step.name) for step in wrong.plan})
    causes = {each.step.name: each.cause.says for each in marking.steps if each.cause}
    assert causes == {"c": "the factor g[t,a] is left out"}


def test_the_gradient_of_an_own_equation_has_no_redundant_condition(
    tmp_path: Path, attncalc: Callable[..., Any]
) -> None:
    given = {"X": X, **W, "g": 3, "dO": [[1, 0], [0, 1], [1, 1]]}
    lines = [
        "K_n[j,c] = K[j,c] / sqrt(sum(K[j,e] ** 2 for e in d_k))",
        "S[i,j] = g * sum(Q[i,c] * K_n[j,c] for c in d_k)",
    ]
    (tmp_path / "in.json").write_text(json.dumps(given | {"equations": lines}))
    shown = attncalc("self", "in.json", "--backward", "--only", "dg,dK").out
    assert "dg = sum(dS ⊙ Q K_nᵀ)   gradient of g" in shown
    assert "where" not in shown


@for_all(
    ("place", "b", "fault"),
    [
        ("b[c]", [0, 0.5], "places are whole numbers, but b has other numbers"),
        ("b[c]", [0, 2], "column b[0,c] is 2 somewhere, counted from 0, but X has 2 columns"),
        ("b[c]", [-1, 0], "column b[0,c] is -1 somewhere, counted from 0, but X has 2 columns"),
        ("c / 2 * b[c]", [0, 1], "c / 2 * b[0,c] may be no whole number; a place is made of"),
        ("sqrt(b[c])", [0, 1], "sqrt(b[0,c]) may be no whole number; a place is made of"),
        ("b[c] // c", [0, 1], "b[0,c] // c divides by 0"),
        ("B[c]", [0, 0.25], "Y[1, 2] is not a finite number"),
        ("min(B[c], 1)", [0, 0.25], "Y[1, 2] is not a finite number"),
        ("B[c]", [0, 1], "Y[1, 2] is not a finite number"),
    ],
)
def test_invalid_places_are_refused(place: str, b: list[float], fault: str) -> None:
    lines = ["B[c in d] = 2 * b[c]"] if "B" in place else []
    lines.append(f"Y[i,c in d] = X[i, {place}] + 0 * b[c]")
    with pytest.raises(EquationError) as refused:
        solve(Problem(X=[[1, 2], [3, 4]], more={"b": b}, equations=lines))
    assert fault in str(refused.value)


@pytest.mark.parametrize("place", ["b[c]", "B[c]", "max(B[c], 0)", "(B[c] if c > 0 else 1)"])
def test_entries_are_looked_up_at_places_of_a_matrix(place: str) -> None:
    lines = ["B[c in d] = 1 - b[c]"] if "B" in place else []
    lines.append(f"Y[i,c in d] = X[i, {place}] + 0 * b[c]")
    found = solve(Problem(X=[[1, 2], [3, 4]], more={"b": [1, 0]}, equations=lines))
    expected = {"b[c]": [[2, 1], [4, 3]], "(B[c] if c > 0 else 1)": [[2, 2], [4, 4]]}
    assert found["Y"].tolist() == expected.get(place, [[1, 2], [3, 4]])


def test_typeset_signs_are_read_as_those_that_are_typed() -> None:
    typeset = "S[i,j] = ∑(Q[i,c]² · (K[j,c] − 1)^3 for c in d_k) ÷ √d_k if j ≤ i else −∞"
    typed = "S[i,j] = sum(Q[i,c]**2 * (K[j,c] - 1)**3 for c in d_k) / sqrt(d_k) if j <= i else -inf"
    assert read_line(typeset).text == typed


def test_weights_with_a_mask_in_their_softmax_are_weights() -> None:
    line = "A[i,j] = softmax(S[i,k] if k <= i else -inf for k in m)[j]"
    own = solve(Problem(X=X, **W, scale="none", equations=[line]))
    built_in = solve(Problem(X=X, **W, scale="none", causal=True))
    assert own.connections == built_in.connections
    assert np.array_equal(own.heads[0].rounded, built_in.heads[0].rounded)


def test_a_sum_of_two_outer_parts_is_larger_than_each() -> None:
    rows = np.random.default_rng(1).integers(-3, 4, (70, 64)).astype(float)
    line = "E[i,j] = max(2 * X[i,c] + 3 * X[j,c] for c in d)"
    found = solve(Problem(X=rows, equations=[line]))
    assert np.array_equal(found["E"], (2 * rows[:, None] + 3 * rows[None]).max(axis=-1))


DELTA = {
    "X": [[1, 0, 1], [0, 2, 1], [1, 1, 0]],
    "Q": [[1, 0], [0, 1], [1, 1]],
    "W_K": [[0, 1], [1, 0], [1, 1]],
    "V": [[1, 2], [0, 1], [1, 0]],
    "equations": ["M[t,a,b] = (M[t-1,a,b] if t > 0 else 0) + K[t,a] * V[t,b]"],
}


def test_a_recurrence_is_not_computed_from_too_few_rows() -> None:
    marking = check(Problem(**DELTA), {"K": [[0, 2], [3, 4]]})
    assert "K has the wrong shape" in " ".join(marking.verdict)


def test_rows_that_are_drawn_may_begin_after_the_first() -> None:
    lines = [
        "s[i,a in d] = (s[i-1,a] if i > 0 else 0) + (c[i-1,a] if i > 0 else 1)",
        "c[i,a in d] = s[i,a] + (X[i,a] if i > 0 else 0)",
    ]
    problem = Problem(X=[[1, 2], [3, 4]], equations=lines)
    found = simulate(problem, "X ~ U(0, 1)", count=5, watch="c[2,1], s[2,1]").to_json()
    own, other = json.loads(found)["watched"]
    assert own["std"] > 0
    assert other["std"] == 0


def test_a_division_by_0_under_the_other_rounding_is_not_an_error() -> None:
    lines = [
        "S[i,j] = exp(-10 * sum((Q[i,c] - K[j,c])**2 for c in d_k) - 9)",
        "A[i,j] = S[i,j] / sum(S[i,k] for k in m)",
    ]
    problem = Problem(X=X, **W, equations=lines)
    assert np.isfinite(solve(problem)["A"]).all()
    with pytest.raises(
        EquationError, match=r"A\[1, 1\] is not a finite number: S\[i,j\] .* divides by 0"
    ):
        solve(replace(problem, rounding="each-step"))["A"]


@pytest.mark.slow
def test_an_attention_whose_outputs_have_no_role_is_explained(
    attncalc: Callable[..., Any], tmp_path: Path
) -> None:
    lines = [
        "S[h,i,j] = sum(U[h,i,c] * U[h,j,c] for c in columns(U))",
        "A[h,i,j] = softmax(S[h,i,k] for k in columns(S))[j]",
        "Z[h,i,c] = sum(A[h,i,j] * U[h,j,c] for j in columns(S))",
    ]
    place = tmp_path / "in.json"
    place.write_text(json.dumps({"U": [[[1, 0], [1, 0]], [[0, 2], [1, 1]]], "equations": lines}))
    assert attncalc("explain", str(place)).code == 0
    place.write_text(json.dumps({"X": [[1, 0], [1, 2]], "equations": ["Y[i,c in d] = X[i,c] + 1"]}))
    assert attncalc("simulate", str(place), "X ~ U(0, 1)", "-o", str(tmp_path / "a.svg")).code == 0


UNDEFINED = [
    ("1/0", "1/0 divides by 0", 9),
    ("2 + 0**-1", "0**-1 divides by 0", 13),
    ("7 % 0", "7 % 0 divides by 0", 9),
    ("7 // 0", "7 // 0 divides by 0", 9),
    ("i // j", "i // j divides by 0", 9),
    ("log(0)", "log(0) is the logarithm of a number that is not positive", 9),
    ("log(-1)", "log(-1) is the logarithm of a number that is not positive", 9),
    ("1 + sqrt(-1)", "sqrt(-1) is the root of a negative number", 13),
    ("max(sqrt(-1), 0)", "sqrt(-1) is the root of a negative number", 13),
    ("(-8)**(1/3)", "(-8)**(1/3) raises a negative number to a fraction", 9),
    ("sum(1 for c in 0)", "c runs over nothing: its size is 0", 24),
    ("max(Q[i,c] for c in d_k - 2)", "c runs over nothing: its size is 0", 29),
    ("sum(1 for c in 5/2)", "c runs over 5/2: sizes are whole numbers", 0),
    ("sum(1 for c in 1/0)", "1 / 0 divides by 0", 0),
    ("sum(Q[i,c] for c in 1e9)", "c runs over 1,000,000,000: at most 16,000,000", 29),
    ("5 and 3", "5 and 3 is a condition, no number: write 1 if 5 and 3 else 0", 9),
    ("i == j", "i == j is a condition, no number: write 1 if i == j else 0", 9),
    ("1e400", "1e400 is larger than the largest float64", 9),
    ("exp(100000)", "exp(100000) is larger than the largest float64", 9),
    ("i/2 % 1", "i / 2 % 1: % takes indices, sizes and given whole numbers", 9),
    ("rows(S)", "rows(S) is the size of the equation itself", 9),
]  # fmt: skip


@pytest.mark.parametrize("rounding", ["display", "each-step"])
@pytest.mark.parametrize(("right", "why", "column"), UNDEFINED, ids=[x[0] for x in UNDEFINED])
def test_an_equation_without_a_value_names_the_reason_and_the_place(
    right: str, why: str, column: int, rounding: str
) -> None:
    line = f"S[i,j] = {right}"
    with pytest.raises(EquationError) as refused:
        solve(Problem(X=X, **W, equations=[line], rounding=rounding))
    said, text, caret = str(refused.value).split("\n")
    assert why in said
    assert text == f"  {line}"
    assert caret == " " * (2 + column) + "^"


@pytest.mark.parametrize(
    ("right", "shown"),
    [
        ("1/i if i > 0 else 0", "0.50"),
        ("(0*Q[i,0])**(i - i)", "1.00"),
        ("softmax(m for k in m)[j] + 2/3", "1.00"),
        ("share(i + 1 for k in m)[j]", "0.33"),
        ("exp(-7 * i) if i < 2 else -inf", "-inf"),
    ],
)
def test_what_a_condition_excludes_needs_no_value(right: str, shown: str) -> None:
    solution = solve(Problem(X=X, **W, equations=[f"S[i,j] = {right}"]))
    assert solution.shown("S")[2][2] == shown


def test_an_equation_mixes_the_tokens_of_a_layer_without_an_attention() -> None:
    """Between its normalization and its residual sum; the feed-forward part follows."""
    rng = np.random.default_rng(0)
    X, W_1, W_2 = (rng.normal(size=shape) for shape in ((5, 4), (4, 6), (6, 4)))
    taps = rng.normal(size=(4, 3))
    line = "O[i,c] = sum(taps[c,k] * N_1[i+k-2,c] for k in 3 if i + k >= 2)"
    given = {"X": X, "W_1": W_1, "W_2": W_2, "more": {"taps": taps}, "equations": [line]}
    solution = solve(Problem(**given, block="decoder", norm="pre"))
    N = np.vstack([np.zeros((2, 4)), solution["N_1"]])
    mixed = sum(taps[:, k] * N[k : k + 5] for k in range(3))
    assert np.abs(solution["R_1"] - X - mixed).max() < 1e-12
    assert solution.problem.attentions == ()
    assert solution.plan[-1].name == "Y"


def test_weights_of_a_layer_may_solve_a_recurrence_over_all_earlier_rows() -> None:
    """T is the inverse of a triangular matrix; A, which reads it, is the map, and has gradients."""
    lines = [
        "V[h in 2,j,c in 2] = X[j,2 * h + c]",
        "M[h in 2,i in n,j in n] = sum(V[h,i,c] * V[h,j,c] for c in 2) if j < i else 0",
        "T[h,i,j] = (1 if i == j else 0) - sum(M[h,i,i-l] * T[h,i-l,j] for l in n if 1 <= l <= i)",
        "A[h,i,j] = T[h,i,j] * 2",
        "H[h,i,c] = sum(A[h,i,j] * V[h,j,c] for j in n)",
        "O[i,c in 4] = H[c // 2,i,c % 2]",
    ]
    given = {"block": "encoder", "heads": 2, "equations": lines, "norm": "none"}
    X = np.random.default_rng(0).normal(size=(5, 4)) / 2
    solution = solve(Problem(X=X, **given, backward=True))
    V = X.reshape(5, 2, 2).swapaxes(0, 1)
    M = np.tril(V @ V.swapaxes(1, 2), -1)
    A = 2 * np.linalg.inv(np.eye(5) + M)
    assert np.abs(solution["A"] - A).max() < 1e-12
    (attention,) = solution.problem.attentions
    assert (attention.n_heads, attention.n, attention.m) == (2, 5, 5)

    def loss(X: Any) -> Any:
        return solve(Problem(X=X, **given))["Y"].sum()

    step = np.zeros((5, 4))
    step[1, 2] = 1e-6
    slope = (loss(X + step) - loss(X - step)) / 2e-6
    assert solution["dX"][1, 2] == pytest.approx(slope, rel=1e-6)
