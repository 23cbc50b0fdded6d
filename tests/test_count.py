"""`attncalc count`: published sizes, formulas, and products counted one by one."""

import json
import subprocess
import sys

import pytest

from attncalc import InputError, Problem, count, solve

GPT2 = {
    "model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "vocab_size": 50257,
    "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024,
}  # fmt: skip
VIT = {
    "model_type": "vit", "architectures": ["ViTForImageClassification"], "hidden_size": 768,
    "image_size": 224, "patch_size": 16, "num_hidden_layers": 12, "num_attention_heads": 12,
    "intermediate_size": 3072, "num_labels": 1000,
}  # fmt: skip
LLAMA = {
    "model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": 100,
    "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32,
    "num_attention_heads": 32, "num_key_value_heads": 8,
}  # fmt: skip


def config(folder, values):
    """Return a folder with a config alone."""
    (folder / "config.json").write_text(json.dumps(values))
    return folder


@pytest.mark.parametrize(("values", "total"), [(GPT2, 124_439_808), (VIT, 86_567_656)])
def test_published_parameters(values, total, tmp_path):
    found = count(config(tmp_path, values))["parameters"]
    assert found["total"] == total == sum(found["by_matrix"].values())
    assert found["total"] == sum(found["by_part"].values())
    assert found["formula"].endswith(f" = {total:,}")


def test_a_layer_of_gpt2(tmp_path):
    assert count(config(tmp_path, GPT2))["parameters"]["by_layer"] == {"layers": 7_087_872}


def test_cache_of_grouped_heads_is_smaller(tmp_path):
    # as https://github.com/rasbt/LLMs-from-scratch/tree/main/ch04/04_gqa: 17.18 and 4.29 GB
    # 2 (K and V) · 32 layers · 8 heads · 32,768 tokens · 128 features · 2 bytes
    load = {"tokens": 32_768, "dtype": "bf16"}
    grouped = count(config(tmp_path, LLAMA), **load)["kv_cache"]["bytes"]
    every = count(config(tmp_path, {**LLAMA, "num_key_value_heads": 32}), **load)["kv_cache"]
    assert (grouped, every["bytes"]) == (4_294_967_296, 17_179_869_184)


def test_long_contexts_are_fast(tmp_path):
    found = count(config(tmp_path, LLAMA), tokens=131_072, batch=8)
    assert found["multiply_adds"]["by_step"]["S"] == 8 * 32 * 32 * 131_072**2 * 128


def test_products_counted_one_by_one():
    X, W = [[1, 2], [3, 4], [5, 6]], [[1, 0, 2], [0, 1, 1]]
    problem = Problem(X=X, W_Q=W, W_K=W, W_V=W)
    solution, made = solve(problem), {}

    def product(name, a, b):
        made[name] = sum(1 for _ in a for _ in b[0] for _ in b)

    for name in "QKV":
        product(name, X, W)
    product("S", solution["Q"], solution["K"].T)
    product("O", solution["A"], solution["V"])
    found = count(problem)["multiply_adds"]["by_step"]
    assert {name: found[name] for name in made} == made


def test_memory_that_grows_with_the_square_of_the_tokens(tmp_path):
    one, two = (count(config(tmp_path, GPT2), tokens=n)["multiply_adds"] for n in (100, 200))
    ratios = {name: value / one["by_step"][name] for name, value in two["by_step"].items()}
    assert {name for name, ratio in ratios.items() if ratio == 4} == {"S", "H"}
    assert all(ratio == 2 for name, ratio in ratios.items() if name not in ("S", "H"))


@pytest.mark.parametrize("name", ["GPT2DoubleHeadsModel", "GPT2ForOther"])
def test_an_unknown_head_is_refused(name, tmp_path):
    with pytest.raises(InputError, match="architectures"):
        count(config(tmp_path, {**GPT2, "architectures": [name]}))


def test_wrong_input_is_refused(tmp_path):
    folder = config(tmp_path, GPT2)
    for wrong in ({"tokens": 0}, {"batch": 0}, {"dtype": "fp7"}):
        with pytest.raises(InputError):
            count(folder, **wrong)
    with pytest.raises(InputError, match="model_type"):
        count(config(tmp_path, {"model_type": "other"}))
    with pytest.raises(InputError, match="n_embd"):
        count(config(tmp_path, {"model_type": "gpt2"}))


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "html", "csv", "json"])
def test_forms(form, tmp_path):
    folder = config(tmp_path, GPT2)
    run = subprocess.run(
        [sys.executable, "-m", "attncalc", "count", str(folder), "--format", form],
        capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert "124439808" in run.stdout.replace(",", "").replace("{}", "")
