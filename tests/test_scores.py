"""Kinds of score, and scores or weights that are given: by hand, in every form, and refused."""

import json
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from conftest import mostly_slow

from attncalc import InputError, Problem, Solution, read_problem, solve
from attncalc.base.latex_text import in_latex
from attncalc.problem.samples import sample
from attncalc.problem.stated import conventions
from attncalc.solving.plan import formula, plan
from attncalc.solving.work import Work
from attncalc.writing.mathematics import in_text
from attncalc.writing.sentences import notes

pytestmark = pytest.mark.campaign(4)

Rows = list[list[Decimal]]
KINDS = ("general", "additive", "concat", "distance")
PRECISION = 60

# -- by hand: plain Python, in Decimals of sixty digits -------------------------------------------


def decimals_of(rows: Any) -> Rows:
    return [[Decimal(str(value)) for value in row] for row in rows]


def times(left: Rows, right: Rows) -> Rows:
    columns = list(zip(*right, strict=True))
    return [[sum(a * b for a, b in zip(row, c, strict=True)) for c in columns] for row in left]


def turned(rows: Rows) -> Rows:
    return [list(column) for column in zip(*rows, strict=True)]


def tanh(x: Decimal) -> Decimal:
    return (x.exp() - (-x).exp()) / (x.exp() + (-x).exp())


def rounded(rows: Rows, places: int) -> Rows:
    unit = Decimal(1).scaleb(-places)
    return [[value.quantize(unit, ROUND_HALF_UP) + 0 for value in row] for row in rows]


def by_hand(fields: dict[str, Any], places: int, rounding: str) -> dict[str, Rows]:
    """Return every step of a problem of Q, K, V and a kind of score, as it is shown."""
    carried: dict[str, Rows] = {}
    shown: dict[str, Rows] = {}

    def keep(name: str, rows: Rows) -> Rows:
        shown[name] = rounded(rows, places)
        carried[name] = shown[name] if rounding == "each-step" else rows
        return carried[name]

    given = {name: decimals_of(value) for name, value in fields.items() if isinstance(value, list)}
    with localcontext(prec=PRECISION):
        queries, keys = given["Q"], given["K"]
        b = given.get("b_S", [[Decimal(0)] * len(given.get("v_S", [[]])[0])])[0]
        kind = fields["score"]
        if kind == "general":
            queries = keep("Q_S", times(queries, given["W_S"]))
            scores = times(queries, turned(keys))
        elif kind == "distance":
            scores = [
                [-sum((a - c) ** 2 for a, c in zip(q, k, strict=True)) / 2 for k in keys]
                for q in queries
            ]
        else:
            if kind == "additive":
                queries = keep("Q_S", times(queries, given["W_Sq"]))
                keys = keep("K_S", times(keys, given["W_Sk"]))
                hidden = [
                    [[a + c for a, c in zip(q, k, strict=True)] for k in keys] for q in queries
                ]
            else:
                hidden = [[times([[*q, *k]], given["W_S"])[0] for k in keys] for q in queries]
            scores = [
                [
                    sum(
                        v * tanh(x + shift)
                        for v, x, shift in zip(given["v_S"][0], one, b, strict=True)
                    )
                    for one in row
                ]
                for row in hidden
            ]
        scores = keep("S", scores)
        powers = [[value.exp() for value in row] for row in scores]
        weights = keep("A", [[value / sum(row) for value in row] for row in powers])
        keep("O", times(weights, given["V"]))
    return shown


def random_fields(kind: str, seed: int) -> dict[str, Any]:
    """Return a problem of homework's size, of halves and fifths."""
    rng = Random(seed)
    n, m, d_q, d_k, h = (rng.randint(1, 3) for _ in range(5))
    h += 1
    d_k = d_q if kind == "distance" else d_k

    def rows(count: int, width: int) -> list[list[float]]:
        return [
            [rng.choice([-2, -1.5, -0.4, 0, 0.2, 1, 1.5]) for _ in range(width)]
            for _ in range(count)
        ]

    fields: dict[str, Any] = {"Q": rows(n, d_q), "K": rows(m, d_k), "V": rows(m, 2), "score": kind}
    if kind == "general":
        fields["W_S"] = rows(d_q, d_k)
    elif kind == "additive":
        fields |= {"W_Sq": rows(d_q, h), "W_Sk": rows(d_k, h), "v_S": rows(1, h)}
    elif kind == "concat":
        fields |= {"W_S": rows(d_q + d_k, h), "v_S": rows(1, h)}
    if "v_S" in fields and seed % 2:
        fields["b_S"] = rows(1, h)
    return fields


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_right_to_the_digit_under_both_roundings(kind: str, seed: int) -> None:
    fields, places = random_fields(kind, seed), 2 + seed % 3
    for rounding in ("display", "each-step"):
        solution = solve(Problem(**fields, decimals=places, rounding=rounding))
        expected = by_hand(fields, places, rounding)
        assert [step.name for step in solution.steps] == list(expected)
        for name, rows in expected.items():
            assert solution.shown(name) == [[f"{value:f}" for value in row] for row in rows], name


def in_floats(fields: dict[str, Any]) -> np.ndarray:
    """Return the scores of any kind in plain numpy, of one head."""
    given = {name: np.asarray(value, float) for name, value in fields.items() if name != "score"}
    q, k = given["Q"][:, np.newaxis], given["K"][np.newaxis]
    b, kind = given.get("b_S", 0.0), fields["score"]
    if kind == "general":
        return given["Q"] @ given["W_S"] @ given["K"].T
    if kind == "distance":
        return -((q - k) ** 2).sum(axis=-1) / 2
    if kind == "additive":
        hidden = q @ given["W_Sq"] + k @ given["W_Sk"]
    else:
        width = q.shape[-1]
        hidden = q @ given["W_S"][:width] + k @ given["W_S"][width:]
    return np.tanh(hidden + b) @ given["v_S"].reshape(-1)


# -- what must hold whatever the numbers ----------------------------------------------------------


def test_general_scores_with_the_identity_are_dot_products() -> None:
    fields = {"Q": [[1, 2], [0.5, -1]], "K": [[2, 1], [1, 0], [0, 3]], "V": [[1], [2], [3]]}
    general = solve(Problem(**fields, score="general", W_S=np.eye(2)))
    dot = solve(Problem(**fields, scale="none"))
    for name in ("S", "A", "O"):
        assert general.shown(name) == dot.shown(name)


def test_distances_do_not_change_when_queries_and_keys_move_together() -> None:
    Q, K, V = np.array([[0.5, 1], [2, 0]]), np.array([[1.0, 1], [0, 2], [3, 0.5]]), np.eye(3)
    here = solve(Problem(Q=Q, K=K, V=V, score="distance"))
    there = solve(Problem(Q=Q + 1e6, K=K + 1e6, V=V, score="distance"))
    assert np.array_equal(here["S"], there["S"])  # q·k - q²/2 - k²/2 would lose it all
    assert here.shown("O") == there.shown("O")


def test_given_scores_have_the_weights_of_computed_ones() -> None:
    Q, K, V = [[1, 2], [0.5, -1]], [[2, 1], [1, 0], [0, 3]], [[1], [2], [3]]
    worked = solve(Problem(Q=Q, K=K, V=V, scale="1/2", causal=True, softcap=3))
    S = (np.array(Q) @ np.array(K).T).tolist()
    taken = solve(Problem(S=S, V=V, scale="1/2", causal=True, softcap=3))
    assert [step.name for step in taken.steps] == ["S_scaled", "S_capped", "S_masked", "A", "O"]
    for step in taken.steps:
        assert taken.shown(step.name) == worked.shown(step.name)


@pytest.mark.parametrize("kind", KINDS)
def test_each_head_equals_a_single_head(kind: str) -> None:
    """Two heads of their own, their matrices listed, side by side, or shared by both."""
    one, other = random_fields(kind, 3), random_fields(kind, 3)
    rng = Random(7)
    other |= {
        name: [[value + rng.choice([0, 0.5]) for value in row] for row in value]
        for name, value in other.items()
        if isinstance(value, list)
    }
    lists = {name: [one[name], other[name]] for name in one if name != "score"}
    lists |= {name: np.hstack([one[name], other[name]]) for name in ("v_S", "b_S") if name in one}
    both = solve(Problem(**lists, score=kind))
    for head, fields in enumerate((one, other)):
        assert np.allclose(both["S"][head], in_floats(fields), atol=1e-12)
    shared = {name: one[name] for name in one if name[0] in "WbV" and name != "W_S"}
    shared |= {"v_S": one["v_S"]} if "v_S" in one else {}
    shared |= {"W_S": one["W_S"]} if "W_S" in one else {}
    mixed = solve(Problem(**(lists | shared | {"V": lists["V"]}), score=kind))
    assert np.allclose(mixed["S"][1], in_floats(other | shared), atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_tokens_as_columns_and_weights_as_pytorch_stores_them_change_nothing(kind: str) -> None:
    fields = random_fields(kind, 5)
    usual = solve(Problem(**fields))
    flipped = {
        name: np.array(value).T.tolist() if name not in ("v_S", "b_S") else value
        for name, value in fields.items()
        if name != "score" and not (kind == "general" and name == "W_S")
    }
    columns = solve(Problem(**(fields | flipped), layout="columns"))
    outs = {name: each for name, each in flipped.items() if name[0] == "W"}
    torch = solve(Problem(**(fields | outs), weights_layout="torch"))
    for step in usual.steps:
        assert np.array_equal(columns[step.name], usual[step.name].T)
        assert np.array_equal(torch[step.name], usual[step.name])


def test_a_general_matrix_is_written_as_the_layout_reads_it() -> None:
    """With q and k as columns of Q and K, qᵀ W_S k is an entry of Kᵀ W_Sᵀ Q."""
    fields = {"score": "general", "W_S": [[1, 2]], "V": [[1]]}
    problem = Problem(Q=[[3]], K=[[1], [5]], layout="columns", **fields)
    page = solve(problem)
    assert page.shown("S") == [["33.00"]]  # 3 · (1·1 + 2·5)
    assert in_text(formula(page.plan[0], problem)) == "W_Sᵀ Q"
    assert work_of(page, "Q_S", (0, 1)) == "Q_S[2,1] = 2·3 = 6.00"


def work_of(solution: Solution, step: str, place: tuple[int, ...]) -> str:
    """Return one line of the work, as text; of forms, all but what repeats."""
    line = Work(solution).line(step, place)
    return " = ".join(map(in_text, (line.entry, *line.forms, line.result)))


def test_the_work_of_each_kind_is_written_out() -> None:
    given = {"Q": [[1, 2]], "K": [[0, 1]], "V": [[1]]}
    assert work_of(solve(Problem(**given, score="distance")), "S", (0, 0)) == (
        "S[1,1] = -((1 - 0)^2 + (2 - 1)^2) / 2 = -2.00 / 2 = -1.00"
    )
    additive = solve(Problem(**given, score="additive", v_S=[1, -1], b_S=[0, 1]))
    assert work_of(additive, "S", (0, 0)) == (
        "S[1,1] = (1·tanh(1 + 0 + 0)) + (-1·tanh(2 + 1 + 1)) = (1·0.76) + (-1·1.00) = -0.24"
    )
    W_S = [[1, 0], [0, 1], [1, 0], [0, 1]]
    concat = solve(Problem(**given, score="concat", W_S=W_S, v_S=[1, -1]))
    assert work_of(concat, "S", (0, 0)) == (
        "S[1,1] = (1·tanh((1·1) + (2·0) + (0·1) + (1·0)))"
        " + (-1·tanh((1·0) + (2·1) + (0·0) + (1·1)))"
        " = (1·tanh(1.00)) + (-1·tanh(3.00)) = (1·0.76) + (-1·1.00) = -0.23"
    )
    thirds = Problem(Q=[[Fraction(1, 3)]], K=[[0]], V=[[1]], score="distance")
    line = Work(solve(thirds), "plain").line("S", (0, 0))
    assert in_text(line.result) == "-1/18"


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_stated_in_letters_that_every_tex_has(kind: str) -> None:
    for text in conventions(Problem(**random_fields(kind, 1))):
        assert "attncalcletter" not in in_latex(text)


@pytest.mark.campaign(2)
@pytest.mark.parametrize("rounding", ["display", "each-step"])
@pytest.mark.parametrize("kind", KINDS)
def test_long_inputs_in_blocks_equal_plain_numpy(kind: str, rounding: str) -> None:
    chance = np.random.default_rng(3)
    n, m, d, h = 260, 1100, 3, 2  # keys in more than one tile
    fields: dict[str, Any] = {
        "Q": chance.normal(size=(n, d)),
        "K": chance.normal(size=(m, d)),
        "V": chance.normal(size=(m, 2)),
        "score": kind,
    }
    if kind == "general":
        fields["W_S"] = chance.normal(size=(d, d))
    elif kind != "distance":
        shapes = {"W_Sq": (d, h), "W_Sk": (d, h)} if kind == "additive" else {"W_S": (2 * d, h)}
        fields |= {name: chance.normal(size=shape) for name, shape in shapes.items()}
        fields |= {"v_S": chance.normal(size=(1, h)), "b_S": chance.normal(size=(1, h))}
    powers = np.exp(in_floats(fields))
    expected = powers @ fields["V"] / powers.sum(axis=1, keepdims=True)
    found = solve(Problem(**fields, rounding=rounding, decimals=12), keep=("O",))["O"]
    assert np.allclose(found, expected, rtol=1e-10, atol=1e-10)


def test_long_inputs_far_from_all_keys_still_share_their_weights() -> None:
    """Every exp of -‖q - k‖² / 2 would be 0 without its row's largest score taken off."""
    Q, K = np.full((300, 1), 100.0), np.linspace(0, 1, 1000)[:, np.newaxis]
    found = solve(Problem(Q=Q, K=K, V=K, score="distance"), keep=("O",))["O"]
    powers = np.exp(100 * K - K**2 / 2 - 100)
    assert np.allclose(found, (powers * K).sum() / powers.sum())


# -- scores and weights that are given ------------------------------------------------------------


def test_given_scores_end_at_the_weights() -> None:
    solution = solve(Problem(S=[[0, np.log(3)], [1, 1]]))
    assert [step.name for step in solution.plan] == ["A"]
    assert solution.shown("A") == [["0.25", "0.75"], ["0.50", "0.50"]]
    assert [each.most for each in solution.connections] == [(1,), (0, 1)]


def test_scores_are_not_scaled_by_default_with_a_heading() -> None:
    said = conventions(Problem(S=[[1, 2]], V=[[1, 2], [3, 4]]))
    assert said[1:3] == (
        "scores S are given",
        "scores not scaled: S is taken as it is (scale takes a number to multiply by)",
    )
    scaled = Problem(S=[[1, 2]], scale="1/2")
    assert [step.name for step in plan(scaled)] == ["S_scaled", "A"]


def test_the_default_scale_depends_on_the_score_and_a_given_scale_overrides_it() -> None:
    given = {"Q": [[1, 2]], "K": [[0, 1]], "V": [[1]]}
    assert Problem(**given).scale == "sqrt_dk"
    for kind, own in (("distance", {}), ("additive", {"v_S": [1, 1]})):
        assert Problem(**given, score=kind, **own).scale == "none"
        asked = Problem(**given, score=kind, **own, scale="sqrt_dk")
        assert [step.name for step in plan(asked)] == ["S", "S_scaled", "A", "O"]
    said = conventions(Problem(**given, score="additive", v_S=[1, 1], b_S=[0, 1]))
    assert "additive scores, v_Sᵀ tanh(q + k + b_S) of each query q and key k" in said
    assert "scores not scaled" in said


def test_a_decoder_has_the_scale_of_each_of_its_scores() -> None:
    X, W = [[1, 0], [0, 1]], [[1, 0], [0, 1]]
    side = {"W_Q": W, "W_K": W, "W_V": W}
    fields = {"X1": X, "X2": X, "self": side, "cross": side | {"score": "distance"}}
    names = [step.name for step in plan(Problem(**fields))]
    assert "self.S_scaled" in names
    assert "cross.S_scaled" not in names
    names = [step.name for step in plan(Problem(**fields, scale="1/2"))]
    assert {"self.S_scaled", "cross.S_scaled"} <= set(names)


def test_an_encoder_accepts_every_kind_of_score() -> None:
    X, W = [[1, 0], [0, 1]], [[1, 0.5], [0, 1]]
    side = {"W_Q": W, "W_K": W, "W_V": W}
    alone = solve(Problem(X=X, **side, score="general", W_S=W))
    layer = solve(Problem(X=X, **side, score="general", W_S=W, block="encoder", norm="none"))
    assert layer.shown("O") == alone.shown("O")
    assert [step.name for step in layer.plan][:4] == ["Q", "K", "V", "Q_S"]


def test_masked_scores_have_no_weight_and_an_empty_row_is_reported() -> None:
    solution = solve(Problem(S=[[1, -np.inf], [-np.inf, -np.inf]], V=[[1], [2]]))
    assert solution.shown("A") == [["1.00", "0.00"], ["0.00", "0.00"]]
    assert "output 2: no key is left to attend to, all weights are 0" in [
        note.text for note in notes(solution)
    ]


def test_weights_that_are_given_are_used_as_they_are_and_rows_that_miss_1_are_named() -> None:
    A = [[Fraction(1, 3), Fraction(1, 3)], [0.125, 0.875], [-0.5, 1.5]]
    for rounding in ("display", "each-step"):
        solution = solve(Problem(A=A, V=[[3, 30], [6, 60]], rounding=rounding))
        assert solution.shown("A") == [["0.33", "0.33"], ["0.13", "0.88"], ["-0.50", "1.50"]]
        assert solution.shown("O") == [["3.00", "30.00"], ["5.63", "56.25"], ["7.50", "75.00"]]
        assert [note.text for note in notes(solution) if note.step == "A"] == [
            "weights as given need not sum to 1: row 1 sums to 2/3",
            "weights as given may be below 0, as in row 3",
        ]


def test_heads_of_scores_and_of_weights_weigh_heads_of_values() -> None:
    S = [[[0, 0], [np.log(3), 0]], [[0, np.log(3)], [0, 0]]]
    V = [[1, 10], [3, 30]]  # a column for each head
    solution = solve(Problem(S=S, V=V))
    assert solution.shown("O") == [["2.00", "25.00"], ["1.50", "20.00"]]
    given = solve(Problem(A=solution["A"].tolist(), V=V))
    assert given.shown("O") == solution.shown("O")


def test_values_may_be_projected_beside_scores() -> None:
    solution = solve(Problem(S=[[0, 0]], X2=[[1], [3]], W_V=[[2]], b_V=[1]))
    assert [step.name for step in solution.plan] == ["V", "A", "O"]
    assert solution.shown("O") == [["5.00"]]


@pytest.mark.parametrize("name", ["additive", "softmax", "heads"])
@pytest.mark.parametrize("form", ["json", "csv", "npz"])
def test_output_is_read_back(name: str, form: str, attncalc: Any, tmp_path: Path) -> None:
    heads = {"S": [[[1, 2], ["-inf", 1]], [["1/3", 1], [0, 1]]]}
    source = tmp_path / "in.json"
    source.write_text(
        json.dumps(heads) if name == "heads" else sample(name).path.read_text("utf-8"), "utf-8"
    )
    out = tmp_path / f"out.{form}"
    run = attncalc("cross", str(source), "--format", form, "-o", str(out))
    if (name, form) == ("heads", "csv"):
        assert run.code == 2
        assert "csv cannot contain S, a matrix for each head: json and npz can" in run.err
        return
    first, again = read_problem(source), read_problem(out)
    assert again.names == first.names
    assert again.labels == first.labels
    assert solve(again).shown("A") == solve(first).shown("A")


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("s.csv", "S\n,x,y\na,0,1\nb,2,-inf\n"),
        ("s.txt", "The scores are\n\nS = [0 1; 2 -inf]\n"),
        ("s.json", '{"S": [[0, 1], [2, "-inf"]]}'),
        ("s.json", '{"S": "0 1; 2 -inf"}'),
    ],
)
def test_scores_are_read_from_any_form(file: str, text: str, tmp_path: Path) -> None:
    place = tmp_path / file
    place.write_text(text, "utf-8")
    problem = read_problem(place)
    assert solve(problem).shown("A") == [["0.27", "0.73"], ["1.00", "0.00"]]
    if file == "s.csv":
        assert (problem.queries, problem.keys) == (("a", "b"), ("x", "y"))


def test_scores_beside_their_queries_and_keys_are_results(tmp_path: Path) -> None:
    place = tmp_path / "mail.txt"
    place.write_text("Q = [1]\nK = [1; 2]\nV = [1; 2]\nS = [7 7]\nA = [1/2 1/2]\n", "utf-8")
    assert read_problem(place).names == ("Q", "K", "V")


# -- what is refused ------------------------------------------------------------------------------

REFUSED: list[tuple[dict[str, Any], str]] = [
    (
        {"S": [[1]], "Q": [[1]]},
        "S and Q both given: scores that are given are not computed from queries and keys",
    ),
    (
        {"A": [[1]], "W_K": [[1]], "V": [[1]]},
        "A and W_K both given: weights that are given are not computed from queries and keys",
    ),
    ({"S": [[1]], "A": [[1]]}, "S and A both given: given weights are not computed from scores"),
    (
        {"S": [[1]], "scale": "sqrt_dk"},
        "scale is sqrt_dk, and S is given: without queries and keys there is no d_k; use a number "
        "such as 1/2, or none",
    ),
    (
        {"S": [["-inf", 1]], "softcap": 2},
        "S has -inf, of which softcap makes another number: give the scores before the mask, and "
        "the mask as keep, ignore or bias",
    ),
    (
        {"A": [[1]], "V": [[1]], "causal": True},
        "causal is given, and so are the weights A: given weights are not scaled, masked or "
        "normalized again",
    ),
    (
        {"S": [[1, 2]], "V": [[1]]},
        "S is 1 × 2, with 2 keys, and V has 1 tokens: each key needs its value",
    ),
    (
        {"S": [[1]], "heads": 2},
        "heads is 2, and S is 1 × 1: scores are a list of matrices, one for each head",
    ),
    ({"S": [[1]], "W_O": [[1]]}, "W_O is given, and no V: there is nothing to project"),
    (
        {"S": [[1]], "score": "distance"},
        "S is given, and score is distance: scores that are given are not computed from queries "
        "and keys",
    ),
    ({"A": [[float("nan")]]}, "A, row 1, column 1: nan, where a finite number is needed"),
    ({"S": [[float("inf")]]}, "S, row 1, column 1: inf, where a number or -inf is needed"),
    (
        {"S": [[1]], "labels": {"Q": ["a", "b"]}},
        "labels of S: 2 given, but S is 1 × 1: one is needed for each row",
    ),
    (
        {"S": [[1]], "block": "encoder", "X": [[1]]},
        "attention: S is given, but a layer computes it from its tokens: only attention takes it",
    ),
]
GIVEN: dict[str, Any] = {"Q": [[1, 2]], "K": [[1, 0], [0, 1]], "V": [[1], [2]]}
REFUSED_SCORES: list[tuple[dict[str, Any], str]] = [
    (
        {"score": "cosine"},
        'score takes "dot", "general", "additive", "concat" or "distance", not "cosine"',
    ),
    ({"score": "general"}, "missing matrices: W_S, of general scores"),
    ({"score": "concat"}, "missing matrices: W_S, v_S, of concat scores"),
    (
        {"W_S": [[1]]},
        "W_S is given, which dot scores do not take: general and concat scores do (score)",
    ),
    (
        {"score": "general", "W_S": [[1, 2, 3], [4, 5, 6]]},
        "W_S is 2 × 3: it needs to be 2 × 2, for the 2 numbers of queries and 2 for those of keys",
    ),
    (
        {"score": "additive", "v_S": [1, 2, 3]},
        "v_S has 3 numbers: it needs 2, one for each number that tanh is taken of",
    ),
    (
        {"score": "additive", "W_Sq": [[1, 0, 0], [0, 1, 0]], "v_S": [1, 2, 3]},
        "additive scores add queries of 3 numbers to keys of 2: W_Sq and W_Sk make them equally "
        "wide",
    ),
    (
        {"score": "additive", "W_Q": [[1], [1]], "v_S": [1]},
        "Q and W_Q both given: Q is then not projected; additive scores multiply it by W_Sq",
    ),
    (
        {"score": "concat", "W_S": [[1], [1]], "v_S": [1]},
        "W_S is 2 × 1: it needs to be 4 × 1, for the 4 numbers of queries and keys side by side",
    ),
    (
        {"score": "general", "W_S": [[[1, 2], [4, 5]], [[1, 0], [0, 1]]]},
        "W_S is 2 × 2 × 2: it needs to be one matrix for the one head of queries",
    ),
    (
        {"score": "distance", "K": [[1], [2]]},
        "Q is 1 × 2 and K is 2 × 1: distance scores take keys of 2 columns",
    ),
]


@pytest.mark.parametrize(("fields", "message"), REFUSED, ids=lambda each: str(each)[:40])
def test_matrices_that_scores_or_weights_exclude_are_named(
    fields: dict[str, Any], message: str
) -> None:
    fields = fields | {
        name: [[float(value) for value in row] for row in fields[name]]
        for name in ("S",)
        if name in fields
    }
    with pytest.raises(InputError) as refusal:
        Problem(**fields)
    assert str(refusal.value) == message


@pytest.mark.parametrize(("fields", "message"), REFUSED_SCORES, ids=lambda each: str(each)[:40])
def test_unsupported_fields_of_a_score_are_named(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as refusal:
        Problem(**(GIVEN | fields))
    assert str(refusal.value) == message


def test_weights_of_keys_are_listed_for_heads_of_keys_and_not_for_those_that_share_them() -> None:
    """A list for the query heads ended in numpy's own error."""
    shared = GIVEN | {"heads": 2, "Q": [[1, 2]], "K": [[1], [2]], "V": [[1], [2]]}
    fields = shared | {"score": "additive", "v_S": [1], "W_Sq": [[2]], "W_Sk": [[[1]], [[3]]]}
    with pytest.raises(InputError) as refusal:
        solve(Problem(**fields))
    assert str(refusal.value) == (
        "W_Sk is 2 × 1 × 1: it needs to be one matrix for the one head of keys"
    )
    found = solve(Problem(**(fields | {"W_Sk": [[3]]})))["S"]
    expected = [[[np.tanh(2 * q + 3 * k) for k in (1, 2)]] for q in (1, 2)]
    assert np.allclose(found, expected, atol=1e-12)


def test_heads_of_tokens_that_are_queries_themselves_are_refused() -> None:
    with pytest.raises(InputError) as refusal:
        Problem(X=[[1, 2]], score="distance", heads=2)
    assert str(refusal.value) == (
        "heads is 2, and X are the queries themselves (no W_Q), which have one head: give W_Q, or "
        "leave out heads"
    )


# -- the whole of the program ---------------------------------------------------------------------

COMMANDS: list[Callable[[str], list[str]]] = [
    lambda file: ["cross", file, "--work", "--fractions"],
    lambda file: ["cross", file, "--blank"],
    lambda file: ["explain", file],
    lambda file: ["cross", file, "--format", "latex"],
    lambda file: ["plot", file, "--kind", "heatmap"],
    lambda file: ["plot", file],
]


@pytest.mark.parametrize("name", mostly_slow(["alone", "additive", "weights", "softmax"]))
def test_every_command_accepts_them(name: str, attncalc: Any, tmp_path: Path) -> None:
    own = {"weights": {"A": [[0.3, 0.3], [1, 0]], "V": [[1], [2]]}, "alone": {"S": [[1, 9]]}}
    file = str(sample(name).path) if name not in own else str(tmp_path / "own.json")
    if name in own:
        Path(file).write_text(json.dumps(own[name]), "utf-8")
    for number, command in enumerate(COMMANDS):
        picture = ["-o", str(tmp_path / f"{number}.svg")] if command(file)[0] == "plot" else []
        run = attncalc(*command(file), *picture)
        assert run.code == 0, run.err
    answer = str(tmp_path / "answer.md")
    attncalc("cross", file, "-o", answer)
    run = attncalc("check", file, answer, "--brief")
    assert run.code == 0, run.out + run.err
    assert "(100 %)" in run.out


@pytest.mark.campaign(2)
@pytest.mark.parametrize("kind", mostly_slow(["concat", "general", "additive", "distance"]))
@pytest.mark.parametrize("form", ["tex", "md"])
def test_the_work_of_a_page_is_read_back_completely(
    kind: str, form: str, attncalc: Any, tmp_path: Path
) -> None:
    problem, answer = str(tmp_path / "in.json"), str(tmp_path / f"answer.{form}")
    Path(problem).write_text(json.dumps(random_fields(kind, 1) | {"decimals": 3}), "utf-8")
    assert attncalc("cross", problem, "--work", "-o", answer).code == 0
    run = attncalc("check", problem, answer, "--brief")
    assert (run.code, "Not read" in run.out) == (0, False), run.out


@pytest.mark.slow
def test_studies_change_and_draw_given_matrices(attncalc: Any) -> None:
    file = str(sample("softmax").path)
    run = attncalc("vary", file, "S[I,je] = 0:2")
    assert run.code == 0, run.err
    assert "0.21" in run.out  # e⁰ / (e⁰ + e¹ + e⁰)
    run = attncalc("simulate", file, "S[2,2] ~ N(3, 1)", "--draws", "20", "--seed", "1")
    assert run.code == 0, run.err
    run = attncalc("simulate", "--S", "0 9; 1 1", "S[2,2] ~ N(3, 1)", "--draws", "20")
    assert (run.code, run.out) == (2, "")
    assert "S is given without values, so there are no outputs; add V" in run.err
    run = attncalc("aim", file, "v_1")
    assert "a query is designed for keys and values: leave out S" in run.err
    run = attncalc("vary", str(sample("additive").path), "v_S *= 0:2")
    assert run.code == 0, run.err
    assert "0.33" in run.out  # of scores that are all 0


@pytest.mark.parametrize("kind", KINDS)
def test_fewer_heads_of_keys_serve_consecutive_heads_of_queries(kind: str) -> None:
    chance = np.random.default_rng(5)
    d_q, d_k = 3, 3 if kind == "distance" else 2
    h = 2
    own: dict[str, Any] = {
        "general": {"W_S": (d_q, d_k)},
        "additive": {"W_Sq": (d_q, h), "W_Sk": (d_k, h), "v_S": (1, h)},
        "concat": {"W_S": (d_q + d_k, h), "v_S": (1, h)},
        "distance": {},
    }[kind]
    own = {name: chance.integers(-2, 3, shape) / 2 for name, shape in own.items()}
    Q, K = chance.integers(-2, 3, (2, 4 * d_q)) / 2, chance.integers(-2, 3, (3, 2 * d_k)) / 2
    V = chance.integers(-2, 3, (3, 4)) / 2
    solution = solve(Problem(Q=Q, K=K, V=V, heads=4, score=kind, **own))
    for head in range(4):
        shared = head // 2
        alone = {"Q": Q[:, head * d_q :][:, :d_q], "K": K[:, shared * d_k :][:, :d_k]}
        assert np.allclose(solution["S"][head], in_floats(alone | own | {"score": kind}))
        line = Work(solution).line("S", (head, 1, 2))
        assert abs(float(line.result.text) - solution["S"][head, 1, 2]) <= 0.00501


@pytest.mark.parametrize(
    "fields",
    [
        # 2 · 1 - 1 · 2 = 0, of which roots leave a last digit
        {"Q": [[1, 2]], "K": [[2, -1], [4, -2]], "V": [[1], [2]], "qk_norm": "rms"},
        # a third of 2 less two thirds of 1
        {"Q": [[Fraction(1, 3), Fraction(2, 3)]], "K": [[2, -1], [4, -2]], "V": [[1], [2]]},
    ],
)  # fmt: skip
@pytest.mark.parametrize("is_exact", [True, False], ids=["decimals", "floats"])
def test_scores_that_cancel_are_not_divided_by_their_rounding_error(
    fields: dict[str, Any], is_exact: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_exact:
        monkeypatch.setattr("attncalc.solving.exactness.LARGEST_COST", 0)
    with pytest.raises(InputError, match=r"^the scores of row 1 sum to 0"):
        solve(Problem(**fields, normalizer="sum"))


def test_scores_that_nearly_cancel_are_divided_by_their_sum() -> None:
    third = Fraction(1, 3)
    problem = Problem(Q=[[third, third]], K=[[1, -1], [2, -1]], V=[[1], [2]], normalizer="sum")
    assert solve(problem).shown("A") == [["0.00", "1.00"]]
