"""Why a number is what it is: parts that sum to it."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal, localcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import BUNDLED, mostly_slow

from attncalc import Problem
from attncalc.api.why import why_of_problem
from attncalc.base.errors import InputError
from attncalc.problem.replacing import replacing
from attncalc.problem.samples import sample
from attncalc.reading import read_problem
from attncalc.solving.solution import solve
from attncalc.solving.why import Part, attributed, checked, ends_of, why
from attncalc.solving.why_score import why_score

SAMPLES = sorted(
    each.relative_to(BUNDLED).with_suffix("").as_posix()
    for folder in (BUNDLED, BUNDLED / "equations")
    for each in folder.glob("*.json")
    if "train" not in each.stem
)


@pytest.mark.parametrize("name", mostly_slow(SAMPLES, 24))
def test_the_parts_of_an_entry_sum_to_it(name: str) -> None:
    solution = solve(read_problem(BUNDLED / f"{name}.json"))
    near = 0.6 * 10**-solution.problem.decimals
    for step in solution.plan:
        shape = solution.shape_of(step.name)
        for place in {(0,) * len(shape), tuple(side - 1 for side in shape)}:
            found = why(solution, step, place)
            shown: Any = solution.shown(step.name)
            for index in place:
                shown = shown[index]
            value = float(found.value)
            value = float(np.exp(value)) if found.entry.startswith("log ") else value
            assert shown == "-inf" or abs(value - float(shown)) < near, (step.name, place)
            with solution.arithmetic():
                assert str(found.value) == str(sum(part.value for part in found.parts))


def test_scores_are_split_over_features_and_outputs_over_tokens() -> None:
    rng = np.random.default_rng(1)
    q, k, v = (rng.integers(-9, 9, size=(3, 4)) / 4 for _ in range(3))
    solution = solve(Problem(Q=q, K=k, V=v, scale="none", decimals=6))
    steps = {step.name: step for step in solution.plan}
    parts = why(solution, steps["S"], (1, 2)).parts
    assert [float(part.value) for part in parts] == list(q[1] * k[2])
    assert parts[0].text == "Q[2,1]·K[3,1]"
    weights = np.exp(q[1] @ k.T) / np.exp(q[1] @ k.T).sum()
    parts = why(solution, steps["O"], (1, 0)).parts
    assert np.allclose([float(part.value) for part in parts], weights * v[:, 0], atol=1e-12)
    assert parts[0].asks == ("A[2,1]",)
    found = why(solution, steps["A"], (1, 2))
    assert float(found.value) == pytest.approx(np.log(weights[2]), abs=1e-12)


@pytest.mark.parametrize("joined", ["W_O", "concat", "mean", "one head", "rounded"])
def test_an_output_of_heads_is_split_over_tokens(joined: str) -> None:
    """Against plain numpy: what each token adds by all heads, to an entry and along a row."""
    rng = np.random.default_rng(4)
    r = lambda *shape: np.round(rng.normal(size=shape), 2)  # noqa: E731 - short matrices
    given = {"X": r(3, 4), "W_Q": r(4, 4), "W_K": r(4, 4), "W_V": r(4, 4)}
    more = {"heads": 1 if joined == "one head" else 2, "labels": ["a", "b", "a"], "decimals": 3}
    more |= {"combine": "mean"} if joined == "mean" else {}
    more |= {"rounding": "each step"} if joined == "rounded" else {}
    if joined not in ("concat", "mean"):
        more |= {"W_O": r(4, 4), "b_O": r(1, 4)}
    solution = solve(Problem(**given, **more))
    A, V = (np.atleast_3d(solution.carried[n].astype(float).T).T for n in "AV")
    each = [a[1][:, None] * v for a, v in zip(A, V, strict=True)]  # of tokens, by head
    added = np.mean(each, axis=0) if joined == "mean" else np.hstack(each)
    added = added @ more["W_O"] if "W_O" in more else added
    row = solution.exact["O"][1].astype(float)
    found = why_of_problem(solution, "O[2,:]").found
    along = {part.text: float(part.value) for part in found[0].parts}
    names = ["token a (1)", "token b", "token a (3)"]
    assert found[0].entry == "|O[2,:]|"
    assert found[0].value == pytest.approx(np.linalg.norm(row))
    assert [along[n] for n in names] == pytest.approx(added @ row / np.linalg.norm(row))
    for c, one in enumerate(found[1:]):
        assert float(one.value) == row[c]
        assert [float(part.value) for part in one.parts[:3]] == pytest.approx(added[:, c])
    assert found[1].parts[0].asks == (("A[1,2,1]", "A[2,2,1]") if len(A) > 1 else ("A[2,1]",))
    assert [part.text for part in found[1].parts[3:]] == (
        (["b_O"] if "W_O" in more else []) + (["rounding of earlier steps"] * ("rounding" in more))
    )


def test_a_row_of_many_features_is_its_length_alone() -> None:
    given = {n: np.eye(32) for n in ("W_Q", "W_K", "W_V", "W_O")}
    problem = Problem(X=np.random.default_rng(1).normal(size=(2, 32)), heads=4, **given)
    (found,) = why_of_problem(solve(problem), "O[2,:]").found
    assert "for one feature, ask O[2,1]" in found.how


def test_a_score_is_one_table_of_features_biases_positions_and_mask() -> None:
    """Against plain numpy: biases, rope, ALiBi, a mask with values, and two heads."""
    rng = np.random.default_rng(3)
    r = lambda *shape: np.round(rng.normal(size=shape), 2)  # noqa: E731 - short matrices
    X, W_Q, W_K, W_V, b_Q, b_K, M = r(3, 4), r(4, 4), r(4, 4), r(4, 4), r(1, 4), r(1, 4), r(3, 3)
    for rows in (3, 60):  # exact decimals, and floats
        own = np.resize(X, (rows, 4))
        bias = np.resize(M, (rows, rows))
        problem = Problem(X=own, W_Q=W_Q, W_K=W_K, W_V=W_V, b_Q=b_Q, b_K=b_K, heads=2, bias=bias,
                          positions="rope", rope_pairing="halves", decimals=6)  # fmt: skip
        solution = solve(problem)
        found = why_of_problem(solution, "S_masked[2,3,1]").found[0]
        parts = {part.text: float(part.value) for part in found.parts}
        head, (i, j), root = slice(2, 4), (2, 0), np.sqrt(2)
        q, k = own[i] @ W_Q[:, head], own[j] @ W_K[:, head]
        full = q + b_Q[0, head], k + b_K[0, head]
        turns = [np.array([[np.cos(p), -np.sin(p)], [np.sin(p), np.cos(p)]]) for p in (i, j)]
        expected = {f"feature {c + 1}": q[c] * k[c] / root for c in range(2)}
        expected |= {"bias of Q": b_Q[0, head] @ full[1] / root,
                     "bias of K": q @ b_K[0, head] / root,
                     "rotation by positions": (turns[0] @ full[0]) @ (turns[1] @ full[1]) / root
                     - full[0] @ full[1] / root, "mask: bias[3,1]": bias[i, j]}  # fmt: skip
        assert parts == pytest.approx(expected, abs=1e-12)
        assert sum(parts.values()) == pytest.approx(solution.floats["S_masked"][1, i, j], abs=1e-12)
        assert "features are those of (Q - b_Q)·(K - b_K); products times 0.707107" in found.how


def test_a_slope_of_alibi_is_that_of_its_head_in_all_digits() -> None:
    given = {"X": np.eye(3, 16, dtype=int), "W_V": np.eye(16, dtype=int)}
    given |= {name: np.ones((16, 16), int) for name in ("W_Q", "W_K")}
    solution = solve(Problem(**given, heads=16, alibi=True, causal=True))
    found = why_of_problem(solution, "S_masked[1,3,1]").found[0]
    assert found.parts[-1].text == "distance: -(0.707107·2)"
    with localcontext(prec=50):
        assert abs(found.parts[-1].value + Decimal(2).sqrt()) < Decimal("1e-40")
    found = why_of_problem(solution, "S_masked[2,3,1]").found[0]
    assert found.parts[-1].text == "distance: -(0.5·2)"


def test_a_sink_is_in_the_text_of_the_sum_that_includes_it() -> None:
    given = {"Q": [[1, 2]], "K": [[1, 0]], "V": [[1]], "sinks": [[1]]}
    parts = why_of_problem(solve(Problem(**given)), "A[1,1]").parts
    assert parts[-1].text == "-log (Σ exp(S_scaled[1,k]) + exp(sinks[1,1]))"


def test_a_forbidden_score_says_which_mask_forbids_it() -> None:
    solution = solve(Problem(Q=[[1, 2], [3, 4]], K=[[1, 0], [0, 1]], V=[[1], [2]], causal=True))
    parts = why_of_problem(solution, "S_masked[1,2]").parts
    assert [part.text for part in parts] == ["Q[1,1]·K[2,1]", "Q[1,2]·K[2,2]",
                                             "forbidden by causal"]  # fmt: skip
    assert float(parts[-1].value) == -np.inf


@pytest.mark.parametrize("name", mostly_slow(SAMPLES, 6))
def test_every_score_is_the_sum_of_its_table(name: str) -> None:
    solution = solve(read_problem(BUNDLED / f"{name}.json"))
    for step in solution.plan:
        shape = solution.shape_of(step.name)
        for place in {(0,) * len(shape), tuple(side - 1 for side in shape)}:
            if (found := why_score(solution, step, place)) is not None:
                shown: Any = solution.shown(step.name)
                for index in place:
                    shown = shown[index]
                near = 0.6 * 10**-solution.problem.decimals
                assert shown == "-inf" or abs(float(found.value) - float(shown)) < near, step.name


@pytest.mark.parametrize("sample", ["gpt", "ids", "vit"])
def test_a_logit_of_rounded_steps_has_a_part_for_their_rounding(sample: str) -> None:
    problem = read_problem(BUNDLED / f"{sample}.json")
    solution = solve(replace(problem, rounding="each-step"))
    logits = np.asarray(solution.carried["logits"], dtype=float)
    weight = np.zeros(logits.shape)
    weight[0, 0] = 1
    parts, ends, _ = attributed(solution, {"logits": weight})
    whole = sum(part.value for part in (*parts, *ends_of(solution, ends, {})))
    assert whole == pytest.approx(logits[0, 0], abs=1e-12)
    rounding = parts[-1]
    assert rounding.text == "rounding"
    assert 0 < abs(rounding.value) < 10 * 10.0**-problem.decimals


def test_a_tied_table_is_fixed_as_weights_are() -> None:
    solution = solve(read_problem(BUNDLED / "ids.json"))
    assert attributed(solution, {"logits": np.eye(1, solution["logits"].shape[1])}).fixed == ()


def test_a_logit_is_the_sum_of_its_components() -> None:
    solution = solve(read_problem(BUNDLED / "gpt.json"))
    logits = np.asarray(solution.carried["logits"], dtype=float)
    weight = np.zeros(logits.shape)
    weight[0, 1], weight[0, 2] = 1, -1
    parts, ends, _ = attributed(solution, {"logits": weight})
    whole = sum(part.value for part in (*parts, *ends_of(solution, ends, {})))
    assert whole == pytest.approx(logits[0, 1] - logits[0, 2], abs=1e-12)
    names = [part.text for part in parts]
    assert names == ["O, head 1", "O, head 2", "F_2", "beta_out", "b_out"]


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize("kind", ["GPT2", "Llama"])
def test_contributions_are_those_of_the_package(
    kind: str, attncalc: Callable[..., Any], tmp_path: Path
) -> None:
    """Those of each head, with the scale of the last normalization fixed, and their sum."""
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    said: dict[str, Any] = {"vocab_size": 30, "n_embd": 12, "n_layer": 2, "n_head": 3}
    if kind == "Llama":
        said = {"vocab_size": 30, "hidden_size": 12, "num_hidden_layers": 2,
                "num_attention_heads": 3, "intermediate_size": 16}  # fmt: skip
    config = getattr(transformers, f"{kind}Config")(**said)
    name = "GPT2LMHeadModel" if kind == "GPT2" else "LlamaForCausalLM"
    model = getattr(transformers, name)(config).double().eval()
    torch.manual_seed(3)
    with torch.no_grad():
        for each in model.parameters():
            each.copy_(torch.randn_like(each) * 0.3)
    model.save_pretrained(tmp_path / "model")
    run = attncalc("why", str(tmp_path / "model"), "logits[3,5] - logits[3,9]", "--tokens",
                   "4 8 15", "--format", "json")  # fmt: skip
    assert run.code == 0, run.err
    (found,) = json.loads(run.out)["entries"]
    parts = {part["part"]: float(part["value"]) for part in found["parts"]}
    with torch.no_grad():
        out = model(torch.tensor([[4, 8, 15]]))
    expected = float(out.logits[0, 2, 5] - out.logits[0, 2, 9])
    assert sum(parts.values()) == pytest.approx(expected, abs=1e-4)
    if kind == "GPT2":
        assert parts == pytest.approx(heads_of(model, parts, torch) | parts, abs=2e-6)


def heads_of(model: Any, parts: dict[str, float], torch: Any) -> dict[str, float]:
    """Return the contribution of each head of GPT-2 to the difference of two logits."""
    seen: dict[int, Any] = {}
    hooks = [
        block.attn.c_proj.register_forward_hook(
            lambda module, read, gave, n=n: seen.__setitem__(n, read[0][0, 2])
        )
        for n, block in enumerate(model.transformer.h)
    ]
    final: list[Any] = []
    last_norm = model.transformer.ln_f
    hooks.append(last_norm.register_forward_hook(lambda m, read, g: final.append(read[0])))
    with torch.no_grad():
        model(torch.tensor([[4, 8, 15]]))
    for hook in hooks:
        hook.remove()
    last = final[0][0, 2]
    scale = (last.var(correction=0) + model.transformer.ln_f.eps).sqrt()
    towards = (model.lm_head.weight[5] - model.lm_head.weight[9]) * model.transformer.ln_f.weight
    towards = (towards - towards.mean()) / scale
    found = {}
    for n, read in seen.items():
        weights = model.transformer.h[n].attn.c_proj.weight
        for head in range(3):
            part = slice(4 * head, 4 * head + 4)
            value = read[part] @ weights[part] @ towards
            found[f"layer {n}, O, head {head + 1}"] = float(value.detach())
    assert set(found) <= set(parts)
    return found


@pytest.mark.slow
def test_zero_for_a_part_changes_the_number_by_exactly_that_part() -> None:
    """Every part of a sum of products, by replacing one of its factors by 0."""
    problem = read_problem(BUNDLED / "self.json")
    solution = solve(problem)
    steps = {step.name: step for step in solution.plan}
    for name, factor in (("S", "Q"), ("O", "A")):
        for row, column in ((1, 1), (2, 0)):
            parts = why(solution, steps[name], (row, column)).parts
            clean = solution.floats[name][row, column]
            for k, part in enumerate(parts):
                where = np.zeros(solution.floats[factor].shape, dtype=bool)
                where[row, k] = True
                changed = solve(replacing(problem, {factor: (where, np.zeros(where.shape))}))
                gone = clean - changed.floats[name][row, column]
                assert gone == pytest.approx(float(part.value), abs=1e-12), part.text


def test_zero_for_a_head_changes_the_logits_by_its_part_if_scales_are_fixed() -> None:
    """A gpt without its last normalization: heads of its layer add to the logits directly."""
    rng = np.random.default_rng(4)
    r = lambda *shape: rng.normal(size=shape)  # noqa: E731 - short matrices
    problem = Problem(X=r(3, 6), W_Q=r(6, 6), W_K=r(6, 6), W_V=r(6, 6), W_O=r(6, 6), heads=3,
                      gamma_1=r(1, 6), norm="pre", block="decoder", W_out=r(6, 5))  # fmt: skip
    solution = solve(problem)
    found = why_of_problem(solution, "logits[2,3] - logits[2,5]")
    heads = {part.text: float(part.value) for part in found.parts}
    for head in range(3):
        where = np.zeros((3, 3, 2), dtype=bool)
        where[head] = True
        changed = solve(replacing(problem, {"H": (where, np.zeros(where.shape))}))
        both = [each.floats["logits"][1] for each in (solution, changed)]
        gone = (both[0][2] - both[0][4]) - (both[1][2] - both[1][4])
        assert heads[f"O, head {head + 1}"] == pytest.approx(gone, abs=1e-12)
        inner = why_of_problem(solution, "logits[2,3] - logits[2,5]", f"O, head {head + 1}").parts
        assert [part.text for part in inner] == ["token 1", "token 2", "token 3"]
        assert sum(float(part.value) for part in inner) == pytest.approx(gone, abs=1e-12)


@pytest.mark.slow
def test_a_component_is_split_further(attncalc: Callable[..., Any], tmp_path: Path) -> None:
    """A head over tokens and a feed-forward part over features: sums are those of the table."""
    folder = str(sample("model").path)
    common = ("why", folder, "logits[3,6] - logits[3,2]", "--tokens", "2 4 7", "--format", "json")
    (whole,) = json.loads(attncalc(*common).out)["entries"]
    asked = [name for part in whole["parts"] for name in part["asks"]]
    assert {"layer 0, O, head 2", "embedding", "positions"} <= {*asked}
    for name in asked:
        run = attncalc(*common, "--of", name)
        assert run.code == 0, run.err
        (inner,) = json.loads(run.out)["entries"]
        value = next(part["value"] for part in whole["parts"] if part["part"] == name)
        assert float(inner["value"]) == pytest.approx(float(value), abs=1e-5)
        total = sum(float(part["value"]) for part in inner["parts"])
        assert total == pytest.approx(float(value), abs=1e-4)
    run = attncalc(*common, "--of", "layer 9, O, head 1")
    assert run.code == 2
    assert "is not a component: there are embedding, positions, layer 0, O, head 1" in run.err


def test_parts_that_do_not_sum_to_the_number_are_refused() -> None:
    with pytest.raises(InputError, match=r"the parts of O sum to 1, and it is 1\.1"):
        checked("O", "", 1.1, (Part("a", 1.0),), np.dtype(float))


@pytest.mark.slow
def test_parts_are_drawn_and_displayed(attncalc: Callable[..., Any], tmp_path: Path) -> None:
    for form in ("svg", "png"):
        run = attncalc(
            "why", str(BUNDLED / "self.json"), "O[2,:]", "-o", str(tmp_path / f"x.{form}")
        )
        assert run.code == 0, run.err
    assert "A[2,1]" in (tmp_path / "x.svg").read_text()
    found = why_of_problem(solve(read_problem(BUNDLED / "self.json")), "O[2,:]")
    assert "O[2,1] =" in str(found)
    assert "O[2,1]" in found._repr_html_()
    assert len(found.found) == 2


@pytest.mark.parametrize(
    ("entry", "flags", "problem"),
    [
        ("logits['cat',1]", (), "is not an entry"),
        ("B[1,1]", (), "is not an entry"),
        ("logits[1,1] - logits[1,2]", (), "this problem has no logits"),
        ("O[1,1]", ("--tokens", "1"), "--tokens is for the folder of a model"),
        (
            "O[1,1]",
            ("--format", "csv"),
            "why is written as table, markdown, html, json, or a picture",
        ),
    ],
)
def test_what_cannot_be_asked_is_refused(
    entry: str, flags: tuple[str, ...], problem: str, attncalc: Callable[..., Any]
) -> None:
    run = attncalc("why", str(BUNDLED / "self.json"), entry, *flags)
    assert run.code == 2
    assert problem in run.err


def test_exchanged_arguments_are_named(
    attncalc: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.json").write_text((BUNDLED / "self.json").read_text())
    run = attncalc("why", "A[2,3]", "in.json")
    assert run.code == 2
    assert 'the problem comes first: attncalc why in.json "A[2,3]"' in run.err


@pytest.mark.slow
def test_an_unknown_part_is_refused() -> None:
    solution = solve(read_problem(BUNDLED / "self.json"))
    with pytest.raises(InputError):
        why(solve(Problem(Q=np.ones((2, 3000)), K=np.ones((2, 3000)), V=np.ones((2, 1)))),
            next(step for step in solution.plan if step.name == "S"), (0, 0))  # fmt: skip
