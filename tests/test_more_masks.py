"""Windows, biases by distance, sinks, normalized queries: what is equal to what, and is refused."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from conftest import Command

from attncalc import InputError, Problem, ShapeError, solve
from attncalc.problem.stated import conventions
from attncalc.solving import solution as solutions
from attncalc.writing.page import Contents, make_page

pytestmark = pytest.mark.campaign(4)

CHANCE = np.random.default_rng(15)


def tokens(n: int = 6, heads: int = 1, **more: Any) -> dict[str, Any]:
    """Return self-attention on random tokens, with weights of these heads."""
    weights = {f"W_{name}": CHANCE.normal(size=(4, 4 * heads)).round(2) for name in "QKV"}
    return {"X": CHANCE.normal(size=(n, 4)).round(2), **weights, "heads": heads, **more}


def said(**fields: Any) -> str:
    return " · ".join(conventions(Problem(**fields)))


def peak(*, n: int, keep: tuple[str, ...] = ("O",), d: int = 8, **fields: Any) -> int:
    """Return the bytes that a solve has at most at once, its outputs and inputs aside."""
    import tracemalloc

    given = {name: CHANCE.normal(size=(n, d)) for name in "QKV"}
    problem = Problem(**given, **fields)
    tracemalloc.start()
    solve(problem, keep=keep)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


# -- windows -------------------------------------------------------------------------------------


@pytest.mark.parametrize("window", [6, 7, 10**9])
def test_a_window_of_all_tokens_equals_a_causal_mask(window: int) -> None:
    fields = tokens(6)
    causal = solve(Problem(**fields, causal=True)).floats
    for said_too in (True, False):
        found = solve(Problem(**fields, causal=said_too, window=window)).floats
        assert {name: m.tolist() for name, m in found.items()} == {
            name: m.tolist() for name, m in causal.items()
        }


def test_a_window_of_one_gives_each_token_its_own_value() -> None:
    solution = solve(Problem(**tokens(5), window=1))
    assert solution["A"].tolist() == np.eye(5).tolist()
    assert solution["O"].tolist() == solution["V"].tolist()


def test_a_window_after_a_cache_is_that_of_the_whole_sequence() -> None:
    fields = tokens(6, causal=True, window=3, positions="rope", block="decoder", norm="none")
    fields |= {"residual": False}
    whole = solve(Problem(**fields))
    step = fields | {"X": fields["X"][4:], "past_K": whole["K"][:4], "past_V": whole["V"][:4]}
    assert np.allclose(solve(Problem(**step))["Y"], whole["Y"][4:], rtol=0, atol=1e-14)


def test_each_layer_has_its_window_and_cross_attention_has_none() -> None:
    W = {name: np.eye(4) for name in ("W_Q", "W_K", "W_V")}
    fields = {"X": CHANCE.normal(size=(5, 4)), "window": 2, "norm": "none"}
    stack = solve(Problem(**fields, layers=[W, W | {"window": None}, W | {"window": 4}]))
    seen = {layer: (stack[f"{layer}.A"] > 0).sum(axis=1).tolist() for layer in (1, 2, 3)}
    assert seen == {1: [1, 2, 2, 2, 2], 2: [5] * 5, 3: [1, 2, 3, 4, 4]}
    memory = {"X1": fields["X"], "X2": CHANCE.normal(size=(3, 4)), "self": W, "cross": W}
    decoder = solve(Problem(**memory, window=2))
    assert (decoder["self.A"] > 0).sum(axis=1).tolist() == [1, 2, 2, 2, 2]
    assert (decoder["cross.A"] > 0).all()


def test_the_heading_describes_the_window() -> None:
    fields = tokens(4)
    one = "window 3: a query sees the last 3 keys, its own place included"
    assert f"{one} and none after it · " in said(**fields, window=3)
    assert f"{one} · " in said(**fields, window=3, causal=True)
    assert "window 1: a query sees one key, that at its own place · " in said(
        **fields, window=1, causal=True
    )
    shifted = said(**fields, window=3, causal_alignment="bottom-right")
    assert f"{one} and none after it; the last query is at the last key" in shifted


@pytest.mark.parametrize("window", [0, -1, 2.5, True])
def test_a_window_of_no_keys_is_refused(window: Any) -> None:
    with pytest.raises(InputError) as refused:
        Problem(**tokens(4), window=window)
    assert str(refused.value) == f'window takes a whole number from 1, not "{window}"'


@pytest.mark.slow
def test_work_shows_keys_outside_the_window(attncalc: Command) -> None:
    given = ("self", "--X", "1; 2; 3", "--W_Q", "1", "--W_K", "1", "--W_V", "1", "--window", "2")
    assert "S_masked[3,1] = -∞   (forbidden by window)" in attncalc(*given, "--work").out
    assert "S_masked = S where in window, else -∞" in attncalc(*given, "--no-scale").out
    causal = attncalc(*given, "--causal", "--no-scale", "--work").out
    assert "S_masked = S where causal and in window, else -∞" in causal
    assert "S_masked[1,2] = -∞   (forbidden by causal)" in causal


@pytest.mark.parametrize("scale", ["none", "40"])
def test_a_window_on_a_long_input_uses_the_memory_of_blocks(scale: str) -> None:
    n = 6000
    assert n * n > solutions.LONG
    assert peak(n=n, window=64, scale=scale) < 40e6  # a mask of n × m alone has 36 MB of bytes


# -- normalized queries and keys ------------------------------------------------------------------


def test_normalised_keys_of_a_cache_are_those_of_the_whole_sequence() -> None:
    fields = tokens(6, heads=2, causal=True, qk_norm="rms", positions="rope", block="decoder")
    fields |= {"residual": False, "norm": "none", "gamma_K": [1, 2, 3, 4]}
    whole = solve(Problem(**fields))
    past = {f"past_{name}": whole[name][:, :4] for name in "KV"}
    step = solve(Problem(**fields | past | {"X": fields["X"][4:]}))
    assert np.allclose(step["Y"], whole["Y"][4:], rtol=0, atol=1e-14)


def test_the_epsilon_of_queries_defaults_to_that_of_their_layer() -> None:
    fields = tokens(3, qk_norm="rms", block="encoder", eps="1/2")
    of_layer, own = solve(Problem(**fields)), solve(Problem(**fields, qk_eps=2))
    for solution, eps in ((of_layer, 0.5), (own, 2)):
        below = np.sqrt((solution["Q"] ** 2).mean(axis=1, keepdims=True) + eps)
        assert np.allclose(solution["Q_norm"], solution["Q"] / below, rtol=0, atol=1e-15)
    assert "(qk_norm: rms), ε = 2 inside the root" in said(**fields, qk_eps=2)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"gamma_Q": [1] * 4}, "gamma_Q is given, and qk_norm is none: set rms or layer"),
        (
            {"gamma_K": [1, 2, 3], "qk_norm": "rms"},
            "gamma_K has 3 numbers: it needs 4, one for each column of a head's keys, or 8, as "
            "many for each of 2 heads",
        ),
        ({"qk_norm": "group"}, 'qk_norm takes "none", "rms", "layer" or "rms-all", not "group"'),
        ({"qk_eps": -1}, 'qk_eps takes a number from 0, not "-1"'),
    ],
)
def test_norms_that_do_not_fit_are_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises((InputError, ShapeError)) as refused:
        Problem(**tokens(3, heads=2), **fields)
    assert str(refused.value) == message


def test_a_query_of_zeros_is_refused_where_nothing_is_added() -> None:
    fields = tokens(3, qk_norm="rms", qk_eps=0)
    fields["X"][1] = 0
    with pytest.raises(InputError) as refused:
        solve(Problem(**fields))
    assert str(refused.value) == (
        "all features of query 2 are 0: there is nothing to divide by (give a qk_eps above 0)"
    )


# -- rope's frequencies ---------------------------------------------------------------------------

LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8,
    "low_freq_factor": 1,
    "high_freq_factor": 4,
    "original_max_position_embeddings": 8192,
}
IN_TEXT = (
    "llama3 factor=8 low_freq_factor=1 high_freq_factor=4 original_max_position_embeddings=8192"
)


def test_the_frequencies_of_llama_3_1() -> None:
    """With a base of 500,000 and heads of 128, as of its configuration: 64 pairs of columns.

    A pair turns 8192 / (2π · 500000^(i/64)) times within 8192 tokens: the 29 that do so more than 4
    times stay, the 28 below 1 have an eighth of their frequency.
    """
    from attncalc.equations.operations.angles import slowness_of

    problem = Problem(**tokens(3), positions="rope", rope_scaling=LLAMA3)
    own = slowness_of(np.empty(0), 128, problem.rope_base * 50)[0]
    ratio = problem.rope_scaling.slowed(own) / own
    turns = 8192 / (2 * np.pi * 500_000 ** (np.arange(64) / 64))
    assert (ratio[turns > 4] == 1).all()
    assert (ratio[turns < 1] == 8).all()
    assert [(turns > 4).sum(), (turns < 1).sum()] == [29, 29]
    assert (np.diff(ratio) >= 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("form", ["csv", "json", "npz"])
def test_a_scaling_is_read_back_as_it_was_given(
    form: str, attncalc: Command, tmp_path: Any
) -> None:
    import json

    from attncalc import read_problem

    fields = {name: value.tolist() for name, value in tokens(2).items() if name != "heads"}
    fields |= {"positions": "rope", "rope_scaling": LLAMA3, "rope_dims": 2}
    (tmp_path / "given.json").write_text(json.dumps(fields))
    attncalc("self", "given.json", "-o", f"out.{form}")
    assert attncalc("self", f"out.{form}", "--only", "O").code == 0
    again = read_problem(tmp_path / f"out.{form}")
    expected = Problem(**fields)
    assert (
        again.rope_scaling
        == expected.rope_scaling
        == Problem(**fields | {"rope_scaling": IN_TEXT}).rope_scaling
    )
    assert again.rope_dims == 2


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"rope_scaling": {"rope_type": "yarn", "factor": 4}},
            'rope_scaling takes the types linear and llama3, and not "yarn"',
        ),
        ({"rope_scaling": {"factor": 4}}, 'rope_scaling has no "rope_type": linear or llama3'),
        ({"rope_scaling": "linear"}, "rope_scaling of linear has no factor"),
        (
            {"rope_scaling": "llama3 factor=8"},
            "rope_scaling of llama3 has no low_freq_factor, high_freq_factor, "
            "original_max_position_embeddings",
        ),
        (
            {"rope_scaling": "linear factor=4 beta_fast=32"},
            'rope_scaling of linear takes factor, and no "beta_fast"',
        ),
        (
            {"rope_scaling": "linear factor=-4"},
            'rope_scaling of linear takes a factor above 0, not "-4"',
        ),
        (
            {"rope_scaling": LLAMA3 | {"high_freq_factor": 1}},
            "rope_scaling of llama3 needs a high_freq_factor above its low_freq_factor",
        ),
        (
            {"rope_scaling": 4},
            "rope_scaling takes an object with rope_type linear or llama3 and its parameters, or "
            'text: linear factor=4, not "4"',
        ),
        ({"rope_dims": 3}, 'rope_dims takes an even whole number from 2, not "3"'),
        ({"rope_dims": 6}, "rope_dims is 6, and a head's queries have 4 columns to turn"),
        (
            {"rope_frequencies": [1, 2, 3]},
            "rope_frequencies has 3 numbers: it needs 2, one for each pair of the 4 columns that "
            "are turned",
        ),
        (
            {"rope_frequencies": [1], "rope_dims": 2, "positions": "none"},
            "rope_frequencies are given, and positions are none: set rope",
        ),
        (
            {"rope_frequencies": [1, 2], "rope_scaling": "linear factor=4"},
            "rope_frequencies and rope_scaling are both given: pass only one",
        ),
        (
            {"rope_frequencies": [1e9, 1]},
            "rope turns by angles that are too large for their sines to be right (above "
            "1,000,000,000): give a smaller rope_offset or rope_query_offset, or a rope_base from "
            "1",
        ),
    ],
)
def test_frequencies_that_do_not_fit_are_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises((InputError, ShapeError)) as refused:
        Problem(**{"positions": "rope", **tokens(3), **fields})
    assert str(refused.value) == message


def test_headings_state_how_rope_turns() -> None:
    fields = tokens(3, positions="rope")
    assert (
        "rotated by RoPE in their first 2 columns: base 10000, frequencies divided by 4 "
        "(rope_scaling: linear), the first token at place 0"
    ) in said(**fields, rope_dims=2, rope_scaling="linear factor=4")
    assert (
        "base 10000, frequencies that turn fewer than 1 times in 8192 tokens divided by 8, those "
        "of more than 4 turns kept, and between in part (rope_scaling: llama3)"
    ) in said(**fields, rope_scaling=LLAMA3)
    assert "by RoPE: frequencies as given, the first" in said(**fields, rope_frequencies=[1, 2])


# -- sinks ----------------------------------------------------------------------------------------


def test_work_shows_the_sink_in_the_sum_and_a_note_states_where_weights_go(
    attncalc: Command,
) -> None:
    given = ("self", "--X", "1; 2", "--W_Q", "1", "--W_K", "1", "--W_V", "1", "--sinks", "3/2")
    run = attncalc(*given, "--no-scale", "--work")
    assert "A = exp(S) / (sum(exp(S)) + exp(sinks))" in run.out
    assert "A[1,2] = e^2.00 / (e^1.00 + e^2.00 + e^1.5) = 7.39 / 14.59 ≈ 0.51" in run.out
    assert "the weights of a row sum to less than 1: the rest goes to the sink" in run.out
    assert "each head's sink is added to the softmax of its rows" in run.out


def test_a_sink_far_above_the_scores_is_subtracted_first(attncalc: Command) -> None:
    given = ("self", "--X", "1; 2", "--W_Q", "1", "--W_K", "1", "--W_V", "1", "--sinks", "800")
    run = attncalc(*given, "--no-scale", "--entry", "A[2,1]")
    assert "(the sink, larger than each score, is taken off first)" in run.out


def test_a_query_without_keys_gives_all_to_the_sink() -> None:
    solution = solve(Problem(**tokens(3, ignore=[[1, 1, 1]], sinks=[-2000])))
    assert not solution["A"].any()
    assert not solution["O"].any()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"sinks": [1, 2, 3]}, "sinks has 3 numbers: it needs 2, one for each of 2 heads"),
        (
            {"sinks": [1, 2], "normalizer": "sum"},
            "sinks are given, and the normalizer is sum: they join the sum of a softmax",
        ),
    ],
)
def test_sinks_that_do_not_fit_are_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises((InputError, ShapeError)) as refused:
        Problem(**tokens(3, heads=2), **fields)
    assert str(refused.value) == message


# -- biases by distance ---------------------------------------------------------------------------


def test_the_slopes_of_eight_heads_are_those_that_the_paper_lists() -> None:
    """Press et al. (2022), section 3: 1/2, 1/4, … 1/256; and of 12 heads, as their code has it."""
    solution = solve(Problem(**tokens(2, heads=8, alibi=True)))
    taken = solution["S_scaled"] - solution["S_alibi"]
    assert np.allclose(taken[:, 1, 0], [0.5**n for n in range(1, 9)], rtol=0, atol=1e-15)
    solution = solve(Problem(**tokens(2, heads=12, alibi=True)))
    taken = solution["S_scaled"] - solution["S_alibi"]
    more = [2**-0.5, 2**-1.5, 2**-2.5, 2**-3.5]
    assert np.allclose(taken[:, 1, 0], [0.5**n for n in range(1, 9)] + more, rtol=0, atol=1e-14)


@pytest.mark.slow
def test_a_slope_is_written_as_a_fraction_or_as_a_power(attncalc: Command) -> None:
    given = ("self", "--X", "1; 2", "--W_Q", "1 1 1", "--W_K", "1 1 1", "--W_V", "1 1 1")
    run = attncalc(*given, "--heads", "3", "--alibi", "--no-scale", "--only", "S_alibi", "--work")
    assert "S_alibi[1,2,1] = 2.00 - (1/16·1) = 1.94" in run.out.replace("≈", "=")
    assert "slopes of Press et al. (2022), 2^-x for x = 4, 8, 2" in run.out
    run = attncalc("self", "--X", "1 1 1 1 1 1 1 1 1 1 1 1; 1 2 1 1 1 1 1 1 1 1 1 1", "--W_Q",
                   *(["; ".join(["1 " * 12] * 12)] * 1), "--W_K", "; ".join(["1 " * 12] * 12),
                   "--W_V", "; ".join(["1 " * 12] * 12), "--heads", "12", "--alibi", "--no-scale",
                   "--entry", "S_alibi[9,2,1]")  # fmt: skip
    assert "(2^-0.5·1)" in run.out


def test_biases_after_a_cache_are_those_of_the_whole_sequence() -> None:
    fields = tokens(6, heads=2, causal=True, alibi=True, block="decoder", norm="none")
    fields |= {"rel_bias": CHANCE.normal(size=(4, 2)), "rel_max_distance": 4, "residual": False}
    fields |= {"sinks": [1, -1]}
    whole = solve(Problem(**fields))
    past = {f"past_{name}": whole[name][:, :4] for name in "KV"}
    step = solve(Problem(**fields | past | {"X": fields["X"][4:]}))
    assert np.allclose(step["Y"], whole["Y"][4:], rtol=0, atol=1e-14)


def test_cross_attention_of_a_decoder_has_no_alibi_by_default() -> None:
    W = {name: np.eye(4) for name in ("W_Q", "W_K", "W_V")}
    given = {"X1": np.eye(4), "X2": np.eye(4), "alibi": True}
    steps = [step.name for step in Problem(**given, self=W, cross=W).calculation.steps]
    assert "self.S_alibi" in steps
    assert "cross.S_alibi" not in steps
    said_so = Problem(**given, self=W, cross=W | {"alibi": True})
    assert "cross.S_alibi" in [step.name for step in said_so.calculation.steps]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"alibi_slopes": [1]},
            "alibi_slopes has 1 numbers: it needs 2, one for each of 2 heads",
        ),
        (
            {"alibi": "0.5"},
            'alibi takes true or false (for custom slopes use alibi_slopes), not "0.5"',
        ),
        (
            {"rel_bias": np.ones((2, 32))},
            "rel_bias is 2 × 32: it needs a row for each bucket, and 2 columns, one for each head. "
            "rel_bias looks transposed",
        ),
        (
            {"rel_bias": np.ones((5, 2))},
            "rel_bias has 5 buckets: it needs an even number of buckets from 4, half of them for "
            "keys behind a query",
        ),
        (
            {"rel_bias": np.ones((1, 2)), "causal": True},
            "rel_bias has 1 buckets: it needs 2 or more",
        ),
        (
            {"rel_bias": np.ones((32, 2)), "rel_max_distance": 8},
            "rel_max_distance is 8: with 32 buckets it must be above 8, the distances that have a "
            "bucket each",
        ),
        ({"rel_max_distance": 1}, 'rel_max_distance takes a whole number from 2, not "1"'),
        ({"rel_bidirectional": "x"}, 'rel_bidirectional takes true or false, not "x"'),
    ],
)
def test_biases_that_do_not_fit_are_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises((InputError, ShapeError)) as refused:
        Problem(**tokens(3, heads=2), **fields)
    assert str(refused.value) == message


def test_a_table_of_one_head_is_one_list() -> None:
    with pytest.raises(ShapeError) as refused:
        Problem(**tokens(3), rel_bias=np.ones((4, 2)))
    assert str(refused.value) == (
        "rel_bias is 4 × 2: of one head it needs one number for each bucket"
    )
    in_a_row, in_a_column = (
        solve(Problem(**FIXED, rel_bias=table)) for table in ([1, 2, 3, 4], [[1], [2], [3], [4]])
    )
    assert in_a_row["S_rel"].tolist() == in_a_column["S_rel"].tolist()


FIXED = tokens(3)


@pytest.mark.campaign(3)
@pytest.mark.parametrize(
    "fields",
    [
        {"alibi": True, "causal": True},
        {"alibi_slopes": [2], "scale": "40"},
        {"rel_bias": np.arange(32) / 8},
        {"sinks": [3], "causal": True},
    ],
)
def test_biases_of_a_long_input_use_the_memory_of_blocks(fields: dict[str, Any]) -> None:
    n = 3000
    assert n * n > solutions.LONG
    assert peak(n=n, **fields) < 45e6  # one matrix of n × m alone has 72 MB


@pytest.mark.slow
def test_files_of_every_form_contain_them(attncalc: Command, tmp_path: Any) -> None:
    """What is written is read back as the same problem: lists, tables, and settings."""
    import json

    from attncalc import read_problem

    fields = {name: np.asarray(each).tolist() for name, each in tokens(3, heads=2).items()}
    fields |= {"window": 2, "qk_norm": "rms", "gamma_K": [1, 2, 3, "1/3"], "alibi_slopes": [1, 2]}
    fields |= {"rel_bias": [[1, 2], [3, 4], [5, "1/7"], [7, 8]], "rel_bidirectional": True}
    fields |= {"sinks": ["1/3", 2], "positions": "rope", "rope_frequencies": ["1/3", 0.25]}
    (tmp_path / "given.json").write_text(json.dumps(fields))
    first = attncalc("self", "given.json").out
    for form in ("csv", "json", "npz"):
        attncalc("self", "given.json", "-o", f"out.{form}")
        again = read_problem(tmp_path / f"out.{form}")
        for name in ("gamma_K", "alibi_slopes", "rel_bias", "sinks", "rope_frequencies"):
            typed = read_problem(tmp_path / "given.json").as_typed(name)
            assert again.as_typed(name).tolist() == typed.tolist(), (form, name)
        assert attncalc("self", f"out.{form}").out == first


def test_custom_frequencies_are_computed_exactly() -> None:
    """An exact float is beside the exact decimals of the queries."""
    third = [[Fraction(1, 3), 0], [0, 1]]
    weights = {f"W_{name}": third for name in "QKV"}
    problem = Problem(X=third, **weights, positions="rope", rope_frequencies=[0.5])
    solution = solve(problem)
    page = make_page(solution, Contents(solution.plan, work=True, full=True))
    assert any(line.step == "Q_rot" for line in page.lines)
