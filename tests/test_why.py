"""Why a number is what it is: parts that sum to it."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import BUNDLED, mostly_slow

from attncalc import Problem
from attncalc.base.errors import InputError
from attncalc.reading import read_problem
from attncalc.solving.solution import solve
from attncalc.solving.why import attributed, why

SAMPLES = sorted(
    each.relative_to(BUNDLED).with_suffix("").as_posix()
    for folder in (BUNDLED, BUNDLED / "equations")
    for each in folder.glob("*.json")
    if "train" not in each.stem
)


@pytest.mark.parametrize("name", mostly_slow(SAMPLES, 6))
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


def test_a_logit_is_the_sum_of_its_components() -> None:
    solution = solve(read_problem(BUNDLED / "gpt.json"))
    logits = np.asarray(solution.carried["logits"], dtype=float)
    weight = np.zeros(logits.shape)
    weight[0, 1], weight[0, 2] = 1, -1
    parts, tokens = attributed(solution, {"logits": weight})
    X = np.asarray(solution.problem.given["X"], dtype=float)
    whole = (tokens * X).sum() + sum(part.value for part in parts)
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


@pytest.mark.parametrize(
    ("entry", "flags", "problem"),
    [
        ("B[1,1]", (), "is not an entry"),
        ("logits[1,1] - logits[1,2]", (), "this problem has no logits"),
        ("O[1,1]", ("--tokens", "1"), "--tokens is for the folder of a model"),
        ("O[1,1]", ("--format", "csv"), "why is written as table, markdown, html or json"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    entry: str, flags: tuple[str, ...], problem: str, attncalc: Callable[..., Any]
) -> None:
    run = attncalc("why", str(BUNDLED / "self.json"), entry, *flags)
    assert run.code == 2
    assert problem in run.err


def test_an_unknown_part_is_refused() -> None:
    solution = solve(read_problem(BUNDLED / "self.json"))
    with pytest.raises(InputError):
        why(solve(Problem(Q=np.ones((2, 3000)), K=np.ones((2, 3000)), V=np.ones((2, 1)))),
            next(step for step in solution.plan if step.name == "S"), (0, 0))  # fmt: skip
