"""Layers: their digits by an oracle, their names, what is equal to what, and what is refused."""

import json
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import planting
import pytest
from conftest import Command
from fuzz.pace import takes_longer
from oracle import Rows, as_shown
from oracle_layers import ACTIVATIONS, layer_by_hand
from plans_layers import EPS as EPS_OF_PLANS
from plans_layers import layer as layer_in_numpy
from plans_layers import layer_plans, random_layer

from attncalc import InputError, Problem, ShapeError, check, read_problem, solve
from attncalc.grading.key import key_of
from attncalc.grading.known import Known
from attncalc.grading.marking import mark
from attncalc.grading.rules import Rules
from attncalc.problem.samples import sample
from attncalc.reading.answers import read_answer_bytes
from attncalc.solving import exactness
from attncalc.solving import long_inputs as blocks
from attncalc.solving import solution as solutions
from attncalc.solving.remade import Remade
from attncalc.solving.solution import solve as solve_to_show
from attncalc.writing.verdict import verdict

pytestmark = pytest.mark.campaign(4)

D, FF, N = 3, 4, 3
ROUNDINGS = ("display", "each-step")


def numbers(rows: int, columns: int, seed: int) -> Rows:
    """Return short decimals of about 1, as a homework has."""
    chance = np.random.default_rng(seed)
    drawn = chance.integers(-20, 21, size=(rows, columns))
    return [[Fraction(int(each), 10) for each in row] for row in drawn]


def layer(seed: int, **more: Any) -> dict[str, Any]:
    return {
        "X": numbers(N, D, seed),
        "W_Q": numbers(D, 2, seed + 1),
        "W_K": numbers(D, 2, seed + 2),
        "W_V": numbers(D, 2, seed + 3),
        "W_O": numbers(2, D, seed + 4),
        "W_1": numbers(D, FF, seed + 5),
        "b_1": numbers(1, FF, seed + 6),
        "W_2": numbers(FF, D, seed + 7),
        "gamma_1": numbers(1, D, seed + 8),
        "beta_1": numbers(1, D, seed + 9),
        "activation": "relu",
        **more,
    }


KINDS: list[dict[str, Any]] = [
    *({"activation": each} for each in ACTIVATIONS),
    {"norm": "pre"},
    {"norm": "none"},
    {"normalization": "rms"},
    {"ddof": 1, "eps_place": "outside", "eps": Fraction(1, 10)},
    {"norm": "pre", "normalization": "rms", "eps": Fraction(1, 2), "activation": "silu"},
    {"parallel": "shared", "norm": "pre"},
    {"parallel": "own", "norm": "pre"},
    {"parallel": "shared"},
    {"parallel": "shared", "norm": "none"},
]


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: ", ".join(map(str, kind.values())))
def test_a_layer_shows_the_digits_of_the_oracle(kind: dict[str, Any], rounding: str) -> None:
    given = layer(10 * KINDS.index(kind), **kind)
    if kind.get("normalization") == "rms" or kind.get("norm") == "none":
        del given["beta_1"]
    if kind.get("norm") == "none":
        del given["gamma_1"]
    problem = Problem(**given, block="encoder", scale="none", rounding=rounding, decimals=3)
    solution = solve(problem)
    expected = as_shown(layer_by_hand(given, rounding, 3), 3)
    assert solution.is_exact
    assert [step.name for step in solution.plan] == list(expected)
    for name, rows in expected.items():
        assert solution.shown(name) == rows, name


def test_half_of_a_normalised_entry_is_rounded_up_where_the_root_is_rational() -> None:
    """The root of 4 is 2 and not 1.999…: 1/8 of 1 is a tie, and goes away from zero."""
    problem = Problem(
        X=[[3, -1], [-3, 1]], gamma_1=[[Fraction(1, 8), -Fraction(1, 8)]], eps=0, decimals=2
    )
    assert solve(problem).shown("Y") == [["0.13", "0.13"], ["-0.13", "-0.13"]]


@pytest.mark.parametrize(
    ("more", "names"),
    [
        ({}, "Q K V S A H O R_1 mu_1 var_1 N_1 F_1 G F_2 R_2 mu_2 var_2 Y"),
        ({"norm": "pre"}, "mu_1 var_1 N_1 Q K V S A H O R_1 mu_2 var_2 N_2 F_1 G F_2 Y"),
        ({"norm": "none", "gamma_1": None, "beta_1": None}, "Q K V S A H O R_1 F_1 G F_2 Y"),
        (
            {"residual": False, "W_O": None, "W_V": numbers(D, D, 1)},
            "Q K V S A O mu_1 var_1 N_1 F_1 G F_2 mu_2 var_2 Y",
        ),
        ({"W_1": None, "b_1": None, "W_2": None}, "Q K V S A H O R_1 mu_1 var_1 Y"),
        (
            {"norm": "pre", "gamma_out": [1, 1, 1], "W_out": numbers(D, 2, 3), "read": "last"},
            "mu_1 var_1 N_1 Q K V S A H O R_1 mu_2 var_2 N_2 F_1 G F_2 R_2 mu_out var_out Y "
            "Y_last logits prob",
        ),
        (
            {"W_3": numbers(D, FF, 2), "normalization": "rms", "beta_1": None},
            "Q K V S A H O R_1 ms_1 N_1 F_1 F_3 G F_2 R_2 ms_2 Y",
        ),
        ({"positions": "sinusoidal"}, "P X_P Q K V S A H O R_1 mu_1 var_1 N_1 F_1 G F_2 R_2 "
         "mu_2 var_2 Y"),
    ],
)  # fmt: skip
def test_a_layer_has_the_steps_of_its_fields(more: dict[str, Any], names: str) -> None:
    problem = Problem(**(layer(3) | {"scale": "none", "block": "encoder"} | more))
    assert [step.name for step in solve(problem).plan] == names.split()


def test_a_single_normalisation_or_feed_forward_part_is_a_problem() -> None:
    alone = Problem(X=[[1, 2, 6]], block="encoder", eps=0)
    by_hand = [distance / (14 / 3) ** 0.5 for distance in (-2, -1, 3)]
    assert solve(alone)["Y"].tolist() == [pytest.approx(by_hand)]
    parts = {"W_1": [[1, -1]], "W_2": [[1], [10]], "norm": "none", "residual": False}
    assert solve(Problem(X=[[2], [-3]], **parts))["Y"].tolist() == [[2], [30]]


def without_tokens(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name != "X"}


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_a_stack_of_one_equals_the_layer(rounding: str) -> None:
    given = layer(5)
    alone = solve(Problem(**given, rounding=rounding))
    stack = solve(Problem(X=given["X"], layers=[without_tokens(given)], rounding=rounding))
    for step in alone.plan:
        name = "Y" if step.name == "Y" else f"1.{step.name}"
        assert stack.shown(name) == alone.shown(step.name)


def test_a_stack_is_each_layer_on_the_outputs_of_the_one_before() -> None:
    given = [layer(seed, rounding="each-step", decimals=4) for seed in (1, 2, 3)]
    X: Any = given[0]["X"]
    for each in given:
        X = solve(Problem(**(each | {"X": X}))).rounded("Y")
    layers = [
        {name: each[name] for name in without_tokens(each) if name not in ("rounding", "decimals")}
        for each in given
    ]
    stack = solve(Problem(X=given[0]["X"], layers=layers, rounding="each-step", decimals=4))
    assert stack.rounded("Y").tolist() == X.tolist()
    assert {"1.Q", "2.R_1", "2.Y", "3.mu_2", "Y"} <= {step.name for step in stack.plan}


@pytest.mark.parametrize("positions", ["none", "sinusoidal", "rope"])
@pytest.mark.parametrize("past", [1, 3])
def test_one_more_token_after_a_cache_equals_the_last_of_the_sequence(
    past: int, positions: str
) -> None:
    given = layer(6, block="decoder", positions=positions, X=numbers(past + 1, D, 8))
    whole = solve(Problem(**given))
    cache = {f"past_{name}": whole.precise(name)[:past].tolist() for name in "KV"}
    last = solve(Problem(**(given | {"X": given["X"][past:]} | cache)))
    np.testing.assert_allclose(last["Y"], whole["Y"][past:], rtol=1e-12, atol=1e-12)
    assert last.shown("Y") == whole.shown("Y")[past:]


def test_a_decoder_is_causal_by_default() -> None:
    given = layer(7, block="decoder")
    assert "S_masked" in [step.name for step in solve(Problem(**given)).plan]
    assert "S_masked" not in [s.name for s in solve(Problem(**given, causal=False)).plan]
    pair = {name: given[name] for name in ("W_Q", "W_K", "W_V", "W_O")}
    both = Problem(X1=given["X"], X2=given["X"], self=pair, cross=pair)
    masked = [step.name for step in solve(both).plan if step.role == "masked"]
    assert masked == ["self.S_masked"]


def test_given_queries_have_names_and_outputs() -> None:
    """Without residual sums, a layer has as many outputs as it has queries."""
    fields = layer(7, residual=False, labels=["a", "b", "c"]) | {"W_Q": None, "Q": numbers(2, 2, 1)}
    solution = solve(Problem(**fields))
    A = next(step for step in solution.plan if step.name == "A")
    assert (solution.row_labels(A), solution.column_labels(A)) == (("1", "2"), ("a", "b", "c"))
    assert solution["Y"].shape == (2, 3)


def test_a_setting_that_is_the_default_elsewhere_is_read_back(tmp_path: Path) -> None:
    """Not causal is the default of an encoder, and must be set for a decoder."""
    path = tmp_path / "again.json"
    problem = Problem(**layer(7, block="decoder", causal=False))
    from attncalc.problem.serialising import in_json

    path.write_text(json.dumps(in_json(problem)), encoding="utf-8")
    assert read_problem(path).causal is False


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (
            {"W_O": numbers(2, 4, 1)},
            'residual 1: X is 3 × 3 and O is 3 × 4: matrices that are added need the same shape '
            '(or set '
            '"residual": false)',
        ),
        (
            {"W_Q": None, "Q": numbers(2, 2, 1)},
            'residual 1: X is 3 × 3 and O is 2 × 3: matrices that are added need the same shape '
            '(or set '
            '"residual": false)',
        ),
        (
            {"W_1": numbers(4, 2, 1)},
            "feed-forward: N_1 is 3 × 3 and W_1 is 4 × 2: for their product, W_1 needs 3 rows",
        ),
        (
            {"W_2": numbers(3, 3, 1)},
            "feed-forward: G is 3 × 4 and W_2 is 3 × 3: for their product, W_2 needs 4 rows",
        ),
        ({"W_2": None}, "feed-forward: W_1 is given, and no W_2"),
        (
            {"b_1": numbers(1, 3, 1)},
            "feed-forward: b_1 has 3 numbers and W_1 is 3 × 4: it needs 4, one for each of its "
            "columns",
        ),
        (
            {"W_3": numbers(3, 3, 1)},
            "feed-forward: W_1 is 3 × 4 and W_3 is 3 × 3: what is multiplied entry by entry must "
            "have one shape",
        ),
        (
            {"gamma_1": [1, 1]},
            "normalization 1: gamma_1 has 2 numbers and R_1 is 3 × 3: it needs 3, one for each "
            "feature",
        ),
        ({"gamma_3": [1, 1, 1]}, "gamma_3 is given, but this encoder does not use it"),
        (
            {"W_out": numbers(2, 2, 1)},
            "head: Y is 3 × 3 and W_out is 2 × 2: for their product, W_out needs 3 rows",
        ),
        (
            {"W_K": numbers(4, 2, 1)},
            "attention: X is 3 × 3 and W_K is 4 × 2: for X W_K, W_K needs as many rows as X has "
            "columns (3)",
        ),
        (
            {"activation": "tanh"},
            'activation takes "relu", "relu2", "gelu", "gelu-tanh", "gelu-quick", "silu" or '
            '"swish-clamped", not "tanh"',
        ),
        ({"X": None}, "missing matrices: X, the tokens of this encoder"),
        ({"P": numbers(2, 3, 1)}, "positions: P is 2 × 3 and X is 3 × 3: positions need the shape "
         "of their tokens"),
        ({"layers": {}}, "layers takes a list of layers, each with fields of its own"),
        ({"layers": [3]}, "layer 1 takes an object with fields of its own, as W_Q and heads"),
        ({"block": "attention"}, "gamma_1 is given, but attention does not use it: it belongs to "
         "an encoder or a decoder (block)"),
        ({"past_K": numbers(2, 2, 1)}, "attention: past_K is given, and no past_V: each earlier "
         "key needs its value"),
        (
            {"Q": numbers(3, 3, 1), "heads": 2, "W_Q": None, "W_K": None, "W_V": None},
            "attention: missing matrices: W_K, W_V",
        ),
        (
            {"Q": numbers(3, 1, 1), "heads": 3, "W_Q": None},
            "attention: Q is 3 × 1: its 1 columns cannot be divided into 3 heads",
        ),
        (
            {"past_K": numbers(2, 3, 1), "past_V": numbers(2, 2, 1)},
            "attention: past_K is 2 × 3: it needs 2 columns, as the new K has",
        ),
    ],
)  # fmt: skip
def test_a_wrong_shape_is_reported_with_its_part(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as refused:
        Problem(**(layer(3) | {"block": "encoder"} | fields))
    assert str(refused.value) == said


@pytest.mark.parametrize(
    ("second", "said"),
    [
        (
            {"W_1": numbers(4, 4, 1)},
            "layer 2, feed-forward: 2.N_1 is 3 × 3 and 2.W_1 is 4 × 4: for their product, 2.W_1 "
            "needs 3 rows",
        ),
        ({"rounding": "display"}, "2.rounding: rounding applies to the whole problem, not to one "
         "of its parts"),
        ({"W_8": [[1]]}, 'unknown name "2.W_8"'),
        ({"activation": "sin"}, '2.activation takes "relu", "relu2", "gelu", "gelu-tanh", '
         '"gelu-quick", "silu" or "swish-clamped", not "sin"'),
        ({"W_Q": numbers(4, 2, 1)}, "layer 2, attention: X is 3 × 3 and W_Q is 4 × 2: for X W_Q, "
         "W_Q needs as many rows as X has columns (3)"),
    ],
)  # fmt: skip
def test_a_wrong_shape_is_reported_with_its_layer(second: dict[str, Any], said: str) -> None:
    given = without_tokens(layer(3))
    with pytest.raises(InputError) as refused:
        Problem(X=numbers(N, D, 3), layers=[given, given | second])
    assert str(refused.value) == said


def test_layers_of_other_widths_are_refused_with_both_shapes() -> None:
    wide = {"W_1": numbers(D, 2, 1), "W_2": numbers(2, 5, 1), "norm": "none", "residual": False}
    narrow = {"W_1": numbers(D, 2, 1), "W_2": numbers(2, D, 1), "norm": "none", "residual": False}
    with pytest.raises(ShapeError) as refused:
        Problem(X=numbers(N, D, 3), layers=[wide, narrow])
    assert str(refused.value) == (
        "layer 2, feed-forward: 1.Y is 3 × 5 and 2.W_1 is 3 × 2: for their product, 2.W_1 needs 5 "
        "rows"
    )


def test_a_token_of_equal_features_is_refused_where_nothing_is_added() -> None:
    with pytest.raises(InputError, match=r"all features of token 2 are alike.*eps above 0"):
        solve(Problem(X=[[1, 2], [3, 3]], block="encoder", eps=0))


def test_a_command_names_the_right_command_for_a_problem(attncalc: Command) -> None:
    run = attncalc("self", str(sample("encoder").path))
    assert run.code == 1 or run.code == 2
    assert "this problem is an encoder: use attncalc encoder" in run.err


@pytest.mark.campaign(4)
@pytest.mark.parametrize("name", ["encoder", "decoder", "gpt", "cache"])
def test_the_weights_of_a_layer_are_drawn(name: str, attncalc: Command, tmp_path: Path) -> None:
    run = attncalc("plot", str(sample(name).path), "-o", str(tmp_path / "map.svg"))
    assert run.code == 0
    assert (tmp_path / "map.svg").stat().st_size > 1000


@pytest.mark.parametrize("name", ["encoder", "decoder", "gpt", "cache", "ids"])
def test_the_right_answer_to_a_layer_is_right(name: str) -> None:
    problem = read_problem(sample(name).path)
    solution = solve(problem)
    answer = {step.name: solution.shown(step.name) for step in solution.plan}
    marking = check(problem, answer)
    assert marking.is_right


# common mistakes, computed here with numpy, and their reports


def shown_as(values: Any) -> list[list[str]]:
    return [[f"{value:.6f}" for value in row] for row in np.atleast_2d(values)]


def of(solution: Any, name: str) -> np.ndarray:
    return np.asarray(solution.rounded(name), float)


def normal(tokens: np.ndarray, below: np.ndarray) -> np.ndarray:
    return (tokens - tokens.mean(axis=1, keepdims=True)) / below


def spread(tokens: np.ndarray, ddof: int = 0) -> np.ndarray:
    return np.asarray(tokens.var(axis=1, ddof=ddof, keepdims=True))


EPS = 0.1
WRONG: list[tuple[str, str, str, Any]] = [
    ("residual-forgotten", "R_1", "is not added", lambda s: of(s, "O")),
    ("mean-over-tokens", "mu_1", "mean", lambda s: of(s, "R_1").mean(axis=0)[:, np.newaxis]),
    ("variance-other-count", "var_1", "d - 1", lambda s: spread(of(s, "R_1"), 1)),
    ("deviation-for-variance", "var_1", "standard", lambda s: spread(of(s, "R_1")) ** 0.5),
    (
        "eps-outside",
        "N_1",
        "outside the root",
        lambda s: normal(of(s, "R_1"), spread(of(s, "R_1")) ** 0.5 + EPS),
    ),
    (
        "norm-of-other:X",
        "N_1",
        "X is normalized, and not R_1",
        lambda s: normal(of_given(s), (spread(of_given(s)) + EPS) ** 0.5),
    ),
    ("activation-forgotten", "G", "ReLU is left out", lambda s: of(s, "F_1")),
    ("read-other:first", "Y_last", "the first token is read", lambda s: of(s, "Y")[:1]),
]


def of_given(solution: Any) -> np.ndarray:
    return np.asarray(solution.problem.X, float)


@pytest.mark.campaign(4)
@pytest.mark.parametrize("place", ["", "2."])
@pytest.mark.parametrize(("code", "step", "says", "wrong"), WRONG, ids=[w[0] for w in WRONG])
def test_a_mistake_is_recognised(code: str, step: str, says: str, wrong: Any, place: str) -> None:
    given = layer(11, eps=EPS, rounding="each-step", decimals=6) | {"gamma_1": None, "beta_1": None}
    head = {"W_out": numbers(D, 2, 3), "read": "last"}
    if place and (step == "Y_last" or ":" in code):
        pytest.skip("a head is behind all layers; X stands before the first")
    if place:
        whole = ("rounding", "decimals", "X")
        inner = {name: value for name, value in given.items() if name not in whole}
        fields = {name: given[name] for name in whole}
        problem = Problem(**fields, layers=[inner, inner], **head)
    else:
        problem = Problem(**given, **head)
    solution = solve(problem)

    class InPlace:
        problem = solution.problem

        @staticmethod
        def rounded(name: str) -> Any:
            return solution.rounded("Y" if name == "Y" else place + name)

    names = [each.name for each in solution.plan]
    before = names[: names.index(place + step)]
    answer = {name: solution.shown(name) for name in before}
    answer[place + step] = shown_as(wrong(InPlace))
    marking = check(problem, answer)
    assert marking.first_wrong is not None
    cause = marking.first_wrong.marks.cause
    assert cause is not None
    assert cause.code == code
    assert says in cause.says


def test_lines_of_an_unknown_attention_are_reported_as_not_marked() -> None:
    problem = read_problem(sample("decoder").path)
    solution = solve(problem)
    steps = {step.name: solution.shown(step.name) for step in solution.plan}
    lines = [{"output": "le", "most": ["the"], "second": []}]
    text = json.dumps(steps | {"connections": lines})
    with key_of(problem, Rules()).names_at_hand():
        written = read_answer_bytes(text.encode(), "a.json")
    said = verdict(mark(key_of(problem, Rules()), written, Rules()))
    assert (
        "What each output attends to is not marked: the problem has several "
        "attentions. "
        'Write the name above it, for example "cross.A:" (names: self.A and cross.A).'
    ) in said


@pytest.mark.slow
@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("name", ["encoder", "decoder", "gpt", "cache", "ids", "vit"])
def test_long_inputs_are_equal_in_blocks(
    name: str, rounding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = read_problem(sample(name).path, rounding=rounding)
    monkeypatch.setattr(exactness, "LARGEST_COST", 0)  # in floats
    short = solve(problem)
    monkeypatch.setattr(solutions, "LONG", 0)
    monkeypatch.setattr(blocks, "ROWS", 2)
    reports: list[bool] = []
    long = solve(problem, report=lambda done, of_all: reports.append(done == of_all))
    assert sum(reports) == len(problem.attentions)
    kept = solve(problem, keep=["Y"])
    for step in short.plan:
        np.testing.assert_allclose(long[step.name], short[step.name], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(kept["Y"], short["Y"], rtol=1e-12, atol=1e-12)
    assert long.count_differing() == short.count_differing()
    remade = solve_to_show(problem, remakes=True)
    for step in short.plan:
        np.testing.assert_allclose(remade[step.name], short[step.name], rtol=1e-12, atol=1e-12)
        is_remade = isinstance(remade.floats[step.name], Remade)
        assert is_remade == (step.columns == "keys" or step.role == "weights")


@pytest.mark.parametrize("name", ["encoder", "decoder", "gpt", "vit"])
def test_a_query_is_designed_for_a_single_attention(name: str, attncalc: Command) -> None:
    run = attncalc("aim", str(sample(name).path), "v_1")
    assert (run.code, run.out) == (2, "")
    assert "a query is designed for an attention alone" in run.err


@pytest.mark.slow
def test_a_query_is_designed_for_a_problem_with_block_attention(
    attncalc: Command, tmp_path: Path
) -> None:
    keys = {"block": "attention", "K": [[1, 0], [0, 1]], "V": [[1, 0], [0, 1]]}
    (tmp_path / "keys.json").write_text(json.dumps(keys), encoding="utf-8")
    assert attncalc("aim", str(tmp_path / "keys.json"), "v_1").code == 0


PRE_NORM: list[tuple[str, str, str, Any]] = [
    ("step-skipped", "K", "K is computed from X, and not from N_1", ("X", "W_K", None)),
    ("residual-of-normalised", "R_1", "N_1 is added, and not X", ("N_1", None, "O")),
    ("residual-of-normalised", "Y", "N_2 is added, and not R_1", ("N_2", None, "F_2")),
]


@pytest.mark.parametrize(("code", "step", "says", "of_what"), PRE_NORM, ids=lambda each: str(each))
def test_mistakes_with_pre_norm_are_recognised(
    code: str, step: str, says: str, of_what: tuple[str, str | None, str | None]
) -> None:
    problem = Problem(**layer(21, norm="pre", decimals=6, rounding="each-step"))
    solution = solve(problem)
    known = {name: np.asarray(matrix) for name, matrix in problem.given.items()}
    known |= {name.name: of(solution, name.name) for name in solution.plan}
    first, weights, added = of_what
    wrong = known[first] if weights is None else known[first] @ known[weights]
    wrong = wrong if added is None else wrong + known[added]
    names = [each.name for each in solution.plan]
    answer = {name: solution.shown(name) for name in names[: names.index(step)]}
    marking = check(problem, answer | {step: shown_as(wrong)})
    assert marking.first_wrong is not None
    cause = marking.first_wrong.marks.cause
    assert cause is not None
    assert (cause.code, says in cause.says) == (code, True)


@pytest.mark.slow
def test_mistakes_in_random_layers_are_named_and_no_other_is() -> None:
    """As `benchmarks/marking.py` counts them, for a few layers."""
    for plan in layer_plans(Random(5)):
        key = key_of(Problem(**plan.fields), Rules())
        names = list(key.steps)
        before = names[: names.index(plan.step)]
        wrong = planting.cut(plan.wrong, 2, "half-away")
        right = key.shown[plan.step]
        if right.shape == wrong.shape and (right != wrong).sum() < min(3, wrong.size):
            continue
        shown = {name: key.shown[name] for name in before} | {plan.step: wrong}
        content = json.dumps(planting.as_answer(shown, 2, Random(1)))
        with key.names_at_hand():
            answer = read_answer_bytes(content.encode(), "answer.json")
        *_, marks = mark(key, answer, Rules(asked=tuple(shown))).steps
        codes = [cause.code for cause in marks.causes]
        assert plan.code in codes, (plan.code, plan.step, codes)


@pytest.mark.parametrize(("carried", "rule"), planting.STYLES)
def test_a_flawless_layer_is_right_however_it_rounds(carried: str, rule: str) -> None:
    given = random_layer(Random(2))
    key = key_of(Problem(**given, eps=EPS_OF_PLANS), Rules())
    cut = partial(planting.cut, decimals=2, rule=rule)
    script = {name: cut(matrix) for name, matrix in layer_in_numpy(given).items()}
    if carried == "each-step":
        script = layer_in_numpy(given, cut)
    content = json.dumps(planting.as_answer(script, 2, Random(1)))
    with key.names_at_hand():
        answer = read_answer_bytes(content.encode(), "answer.json")
    assert mark(key, answer, Rules(asked=tuple(script))).is_right


def test_a_cache_in_the_wrong_order_is_recognised() -> None:
    problem = read_problem(sample("cache").path)
    solution = solve(problem)
    answer = {name: solution.shown(name) for name in "QKV"}
    answer["K_all"] = shown_as(np.concatenate([of(solution, "K"), problem.past_K]))
    cause = check(problem, answer).first_wrong.marks.cause  # type: ignore[union-attr]
    assert cause is not None
    assert cause.code == "cache-order"


def test_a_missing_layer_is_reported(tmp_path: Path) -> None:
    (tmp_path / "gap.csv").write_text("X\n1,2\n\n3.gamma_1\n1,1\n", encoding="utf-8")
    with pytest.raises(InputError, match="layer 3 is named, and nothing is given of layer 1"):
        read_problem(tmp_path / "gap.csv")


@pytest.mark.slow
def test_a_problem_without_attention_has_no_picture(attncalc: Command, tmp_path: Path) -> None:
    run = attncalc("plot", str(sample("encoder").path), "-o", "map.png")
    assert run.code == 0
    alone = attncalc("encoder", "--X", "1 2", "--format", "json").out
    (tmp_path / "alone.json").write_text(alone, encoding="utf-8")
    assert attncalc("plot", "alone.json").err == (
        "error: a picture shows attention weights, and this problem has no attention\n"
    )


@pytest.mark.slow
@pytest.mark.parametrize(("head", "shown"), [("cross.A", "cross.A"), ("SELF.A,mean", "self.A")])
def test_an_attention_of_several_is_drawn_by_its_name(
    head: str, shown: str, attncalc: Command, tmp_path: Path
) -> None:
    run = attncalc("plot", str(sample("decoder").path), "--head", head, "-o", "map.svg")
    assert f"the picture shows {shown}: " in run.err
    picture = (tmp_path / "map.svg").read_text(encoding="utf-8")
    assert ("Output le: most input sat (0.80)" in picture) == (shown == "cross.A")
    refused = attncalc("plot", str(sample("decoder").path), "--head", "cross.A,2")
    assert "(behind self.A or cross.A, as cross.A,1)" in refused.err


@pytest.mark.slow
@pytest.mark.campaign(2)
@pytest.mark.parametrize(
    ("flags", "changes"),
    [
        (("--norm", "pre", "--gamma_1", "1 2 3"), {"norm": "pre", "gamma_1": [1, 2, 3]}),
        (("--activation", "gelu", "--no-residual"), {"activation": "gelu", "residual": False}),
    ],
)
def test_flags_of_layers_apply_to_check_and_plot(
    flags: tuple[str, ...], changes: dict[str, Any], attncalc: Command, tmp_path: Path
) -> None:
    file = sample("encoder").path
    fields = json.loads(file.read_text(encoding="utf-8")) | changes
    changed = solve(Problem(**fields))
    answer = {step.name: changed.shown(step.name) for step in changed.plan}
    (tmp_path / "answer.json").write_text(json.dumps(answer), encoding="utf-8")
    called = ("check", str(file), str(tmp_path / "answer.json"))
    assert attncalc(*called, *flags).code == 0
    assert attncalc(*called).code == 1
    (tmp_path / "changed.json").write_text(json.dumps(fields), encoding="utf-8")
    pictures = []
    for source, more in ((str(file), flags), (str(tmp_path / "changed.json"), ())):
        out = tmp_path / f"{len(pictures)}.svg"
        assert attncalc("plot", source, *more, "-o", str(out)).code == 0
        pictures.append(out.read_bytes())
    assert pictures[0] == pictures[1]


@pytest.mark.slow
@pytest.mark.parametrize("rules", [{}, {"atol": 1e-3}])
def test_only_the_last_outputs_of_many_layers_are_marked_quickly(rules: dict[str, Any]) -> None:
    """Each step is computed once for a mistake, however many later ones read it."""
    given = {name: numbers(3, 3, 40 + place) for place, name in enumerate("XQKV")}
    own = {"W_Q": given["Q"], "W_K": given["K"], "W_V": given["V"]}
    problem = Problem(X=given["X"], layers=[own] * 12, eps=EPS)
    answer = solve(problem).shown("Y")
    key = key_of(problem, Rules(**rules))
    known = Known(key, key.slack)
    missing = [step.name for step in known.missing(key.steps["Y"])]
    assert sorted(missing) == sorted(name for name in key.steps if name != "Y")
    answer[1][1] = "9.99"
    markings: list[Any] = []
    assert not takes_longer(lambda: markings.append(check(problem, {"Y": answer}, **rules)), 10)
    assert not markings[-1].is_right


def test_a_decoder_without_attention_needs_no_encoder(attncalc: Command, tmp_path: Path) -> None:
    file = tmp_path / "in.json"
    file.write_text('{"X1": [[1, 3], [3, 4]], "W_1": [[1, 0], [0, 1]], "W_2": [[1, 0], [0, 1]]}')
    run = attncalc("decoder", str(file), "--work", "--format", "json")
    assert run.code == 0
    values = json.loads(run.out)["steps"][-1]["values"]
    assert np.allclose(values, [[-1, 1], [-1, 1]], atol=1e-4)


def test_a_slip_in_the_keys_after_earlier_ones_is_marked() -> None:
    """K_all has more rows than past_K, of which no term can be left out."""
    problem = Problem(
        block="decoder",
        X=[[1, 2]],
        past_K=[[1, 0]],
        past_V=[[0, 1]],
        **{f"W_{name}": [[1, 0], [0, 1]] for name in "QKV"},
        norm="none",
    )
    answer = {step.name: solve(problem).shown(step.name) for step in solve(problem).plan}
    answer["K_all"][1][0] = "9.00"
    marking = check(problem, answer)
    assert marking.first_wrong is not None
    assert marking.first_wrong.marks.step.name == "K_all"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"parallel": "own"}, "parallel is own, and norm is post: with it, parallel is shared or"),
        ({"parallel": "own", "norm": "none"}, "with it, parallel is shared or none"),
        ({"parallel": "shared", "norm": "around"}, "norm is around: with it, parallel is none"),
        ({"parallel": "shared", "W_1": None, "b_1": None, "W_2": None}, "a feed-forward part"),
        ({"parallel": "shared", "norm": "pre", "gamma_2": [1, 1, 1]}, "gamma_2 is given"),
    ],
)
def test_parallel_parts_that_cannot_be_are_refused(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        solve(Problem(block="encoder", **(layer(3, gamma_1=None, beta_1=None) | changed)))


def test_parallel_parts_have_gradients_of_both_through_one_normalisation() -> None:
    """Against differences of the loss."""
    fields = layer(5, parallel="shared", norm="pre", activation="gelu", block="encoder")
    fields = {n: np.array(v, float) if isinstance(v, list) else v for n, v in fields.items()}
    dY = np.random.default_rng(3).normal(size=(N, D))
    found = solve(Problem(**fields, dY=dY))["dX"]

    def loss(X: Any) -> float:
        return float((solve(Problem(**(fields | {"X": X})))["Y"] * dY).sum())

    for place in np.ndindex(N, D):
        step = np.zeros((N, D))
        step[place] = 1e-6
        slope = (loss(fields["X"] + step) - loss(fields["X"] - step)) / 2e-6
        assert abs(slope - found[place]) < 1e-6 * max(1, abs(slope))


EXPERTS = 4


def experts(seed: int, **more: Any) -> dict[str, Any]:
    """Return a layer of experts with a shared one, in floats."""
    rng = np.random.default_rng(seed)

    def drawn(*shape: int) -> Any:
        return rng.normal(size=shape).round(2)

    return {
        "block": "encoder",
        "norm": "none",
        "X": drawn(N, D),
        "W_router": drawn(D, EXPERTS),
        "b_router": drawn(EXPERTS),
        "W_1": drawn(EXPERTS, D, FF),
        "b_1": drawn(EXPERTS, FF),
        "W_3": drawn(EXPERTS, D, FF),
        "W_2": drawn(EXPERTS, FF, D),
        "b_2": drawn(EXPERTS, D),
        "W_s1": drawn(D, 2),
        "W_s3": drawn(D, 2),
        "W_s2": drawn(2, D),
        "W_sgate": drawn(D, 1),
        "top_k": 2,
        "activation": "silu",
        **more,
    }


def of_experts(f: dict[str, Any]) -> Any:
    """Return the outputs of experts, token by token, in plain numpy."""

    def sigmoid(x: Any) -> Any:
        return 1 / (1 + np.exp(-x))

    def act(x: Any, gate: Any) -> Any:
        if f["activation"] == "silu":
            return x * sigmoid(x) * gate
        return np.minimum(x, 7) * sigmoid(1.702 * np.minimum(x, 7)) * (np.clip(gate, -7, 7) + 1)

    made = []
    for x in f["X"]:
        logits = x @ f["W_router"] + f["b_router"]
        shares = sigmoid(logits) if f.get("router") == "sigmoid" else np.exp(logits)
        shares = shares / (1 if f.get("router") == "sigmoid" else shares.sum())
        chosen = np.argsort(-(shares + f.get("b_choice", 0)), kind="stable")[: f["top_k"]]
        whole = shares[chosen].sum() if f.get("router_norm", True) else 1
        total = x.copy()
        for e in chosen:
            share = shares[e] / whole * f.get("router_scale", 1)
            if f.get("router_scales") == "inputs":
                total += act(share * x @ f["W_1"][e], share * x @ f["W_3"][e]) @ f["W_2"][e]
                continue
            inner = act(x @ f["W_1"][e] + f["b_1"][e], x @ f["W_3"][e])
            total += share * (inner @ f["W_2"][e] + f["b_2"][e])
        own = act(x @ f["W_s1"], x @ f["W_s3"]) @ f["W_s2"]
        made.append(total + sigmoid(x @ f["W_sgate"]) * own)
    return np.array(made)


OF_EXPERTS: list[dict[str, Any]] = [
    {},
    {"router": "sigmoid", "router_norm": False},
    {
        "router_scales": "inputs",
        "router": "sigmoid",
        "router_norm": False,
        "b_1": None,
        "b_2": None,
    },
    {"router": "sigmoid", "b_choice": np.array([0.5, -0.5, 0.1, 0.2]), "router_scale": 2.5},
    {"top_k": 4, "activation": "swish-clamped"},
    {"top_k": 1, "router_norm": False},
]


@pytest.mark.parametrize("kind", OF_EXPERTS, ids=lambda kind: ", ".join(kind) or "plain")
def test_experts_give_what_they_give_one_by_one(kind: dict[str, Any]) -> None:
    fields = experts(4, **kind)
    found = solve(Problem(**fields))
    assert np.abs(found["Y"] - of_experts(fields)).max() < 1e-12
    turned = {n: v.swapaxes(-1, -2) if n[:2] == "W_" else v for n, v in fields.items()}
    assert np.abs(solve(Problem(**turned, weights_layout="torch"))["Y"] - found["Y"]).max() < 1e-12


def assert_slope(
    of: Callable[..., Any], fields: dict[str, Any], name: str, found: Any, dY: np.ndarray
) -> None:
    """Compare in a random direction, in which any wrong entry changes the slope."""
    way = np.random.default_rng(4).normal(size=fields[name].shape)
    ends = (of(fields | {name: fields[name] + s * way}) for s in (1e-6, -1e-6))
    after, before = ((end * dY).sum() for end in ends)
    gradient = found[f"d{name}"].reshape(way.shape)
    assert abs((gradient * way).sum() - (after - before) / 2e-6) < 1e-5, name


@pytest.mark.parametrize("kind", OF_EXPERTS[:4], ids=lambda kind: ", ".join(kind) or "plain")
def test_experts_have_the_gradients_of_differences(kind: dict[str, Any]) -> None:
    fields = experts(6, **kind)
    dY = np.random.default_rng(3).normal(size=(N, D))
    found = solve(Problem(**fields, dY=dY))
    names = ("X", "W_router", "W_1", "W_2", "b_2", "W_s2", "W_sgate")
    for name in (each for each in names if fields[each] is not None):
        assert_slope(of_experts, fields, name, found, dY)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"top_k": 5}, "4 experts, and top_k 5"),
        ({"W_router": None, "b_router": None}, "W_s1 is given, and no W_router"),
        ({"W_2": np.ones((FF, D))}, "W_2 is 4 × 3: 4 experts each need 4 × 3"),
        ({"b_1": np.ones(3)}, "b_1 needs 4 for each expert"),
        ({"W_s2": None}, "a shared expert is given, and no W_s2"),
        ({"router_scales": "inputs"}, "b_1 is given: with router_scales inputs, experts that are"),
        ({"activation": "swish-clamped", "W_3": None}, "needs a gate, W_3"),
    ],
)
def test_experts_that_do_not_fit_are_refused(changed: dict[str, Any], said: str) -> None:
    with pytest.raises((InputError, ShapeError), match=said):
        solve(Problem(**(experts(4) | changed)))


def test_experts_are_chosen_in_the_best_groups() -> None:
    """Of four experts in two groups, those of the group with the largest share."""
    fields = experts(4, router_groups=2, top_groups=1, top_k=1)
    solution = solve(Problem(**fields))
    shares = solution["E_prob"]
    groups = shares.reshape(N, 2, 2).max(axis=2)
    assert np.array_equal(solution["E_groups"], groups)
    found = zip(shares, groups.argmax(axis=1), solution["E_limited"], strict=True)
    for row, best, limited in found:
        assert np.array_equal(limited[2 * best : 2 * best + 2], row[2 * best : 2 * best + 2])
        assert (np.delete(limited, [2 * best, 2 * best + 1]) < row.min()).all()


def latent(seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    sizes = {"W_DQ": (4, 3), "W_DKV": (4, 2), "W_KR": (4, 2), "b_KR": (2,), "gamma_DKV": (2,)}
    sizes |= {"W_Q": (3, 8), "W_K": (4, 8), "W_V": (2, 6), "W_O": (6, 4), "X": (3, 4)}
    drawn = {name: rng.normal(size=size).round(2) for name, size in sizes.items()}
    rope = {"positions": "rope", "rope_dims": 2, "heads": 2, "qk_eps": 0.1}
    return {"block": "decoder", "norm": "none", **drawn, **rope}


def of_latent(f: dict[str, Any]) -> Any:
    """Return the outputs of a latent attention, in plain numpy."""

    def rms(x: Any) -> Any:
        return x / np.sqrt((x**2).mean(axis=1, keepdims=True) + 0.1)

    queries, values = rms(f["X"] @ f["W_DQ"]), rms(f["X"] @ f["W_DKV"]) * f["gamma_DKV"]
    keys = np.hstack([f["X"] @ f["W_KR"] + f["b_KR"], values])
    heads = []
    for h in range(2):
        Q, K = queries @ f["W_Q"][:, 4 * h : 4 * h + 4], keys @ f["W_K"][:, 4 * h : 4 * h + 4]
        for M in (Q, K):
            for t in range(3):
                a, b = M[t, :2].copy()
                M[t, :2] = a * np.cos(t) - b * np.sin(t), a * np.sin(t) + b * np.cos(t)
        S = np.where(np.tri(3) > 0, Q @ K.T / 2, -np.inf)
        A = np.exp(S - S.max(axis=1, keepdims=True))
        heads.append(A / A.sum(axis=1, keepdims=True) @ values @ f["W_V"][:, 3 * h : 3 * h + 3])
    return f["X"] + np.hstack(heads) @ f["W_O"]


def test_latent_attention_has_the_outputs_and_gradients_of_numpy() -> None:
    fields = latent(3)
    dY = np.random.default_rng(3).normal(size=(3, 4))
    found = solve(Problem(**fields, dY=dY))
    assert np.abs(found["Y"] - of_latent(fields)).max() < 1e-12
    for name in ("X", "W_DQ", "W_DKV", "W_KR", "b_KR", "gamma_DKV", "W_K"):
        assert_slope(of_latent, fields, name, found, dY)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"W_KR": None, "b_KR": None}, "no W_KR"),
        ({"W_DKV": np.ones((5, 2))}, "X is 3 × 4 and W_DKV is 5 × 2"),
        ({"W_DKV": None, "gamma_DKV": None}, "no W_DKV"),
    ],
)
def test_latent_attention_that_does_not_fit_is_refused(changed: dict[str, Any], said: str) -> None:
    with pytest.raises((InputError, ShapeError), match=said):
        solve(Problem(**(latent(3) | changed)))
