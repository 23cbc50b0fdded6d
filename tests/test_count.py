"""`attncalc count`: published sizes, formulas, and products counted one by one."""

import json
from collections import Counter
from decimal import Decimal

import numpy as np
import pytest

from attncalc import InputError, Problem, check, count, new, open_model, read_problem, solve
from attncalc.problem.samples import sample

GPT2 = {
    "model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "vocab_size": 50257,
    "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024,
}  # fmt: skip
VIT = {
    "model_type": "vit", "architectures": ["ViTForImageClassification"], "hidden_size": 768,
    "image_size": 224, "patch_size": 16, "num_hidden_layers": 12, "num_attention_heads": 12,
    "intermediate_size": 3072, "num_labels": 1000,
}  # fmt: skip
DISTILBERT = {
    "model_type": "distilbert", "architectures": ["DistilBertForMaskedLM"], "vocab_size": 30522,
    "dim": 768, "hidden_dim": 3072, "n_layers": 6, "n_heads": 12, "max_position_embeddings": 512,
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


@pytest.mark.parametrize(
    ("values", "total"),
    [(GPT2, 124_439_808), (VIT, 86_567_656), (DISTILBERT, 66_985_530)],
)
def test_published_parameters(values, total, tmp_path):
    found = count(config(tmp_path, values))["parameters"]
    assert found["total"] == total == sum(found["by_matrix"].values())
    assert found["total"] == sum(found["by_part"].values())
    assert found["formula"].endswith(f" = {total:,}")


class OfTransformers:
    """What a config of transformers has, and a model: its class says its head."""

    def __init__(self, values):
        self.to_dict = lambda: values


def test_configs_and_models_in_memory_are_counted(tmp_path):
    path, config_only = config(tmp_path, GPT2), OfTransformers(GPT2)
    assert count(config_only) == count(path)
    model = type("GPT2Model", (), {"config": config_only})()
    assert count(model) == count(config(tmp_path, GPT2 | {"architectures": ["GPT2Model"]}))
    grown = count(config_only, vary={"n_layer": [12, 24]})
    assert grown["growth"] == count(config(tmp_path, GPT2), vary={"n_layer": [12, 24]})["growth"]
    with pytest.raises(InputError, match="dict cannot be counted: pass a problem, a path, or a"):
        count(GPT2)


def test_a_model_of_text_and_images_names_its_model_of_text(tmp_path):
    values = {"model_type": "gemma3", "text_config": {"model_type": "gemma3_text"}}
    with pytest.raises(InputError, match="of one of its towers, such as gemma3_text, is needed"):
        count(config(tmp_path, values))


def test_a_shared_expert_of_width_0_is_none(tmp_path):
    shared = {"shared_intermediate_size": 0, "num_local_experts": 4, "num_experts_per_tok": 2}
    llama = LLAMA | {"architectures": ["GraniteMoeForCausalLM"]}
    with_none = config(tmp_path, llama | shared | {"model_type": "granitemoeshared"})
    total = count(with_none)["parameters"]["total"]
    without = {key: each for key, each in shared.items() if key != "shared_intermediate_size"}
    plain = config(tmp_path, llama | without | {"model_type": "granitemoe"})
    assert total == count(plain)["parameters"]["total"]


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


MADE: Counter[str] = Counter()


class Counted(Decimal):
    """A number that counts the products and sums it takes part in."""

    def __mul__(self, other):
        MADE["products"] += 1
        return Counted(Decimal.__mul__(self, other))

    def __add__(self, other):
        MADE["sums"] += 1
        return Counted(Decimal.__add__(self, other))

    __rmul__, __radd__ = __mul__, __add__


def counting(matrix):
    return np.frompyfunc(Counted, 1, 1)(matrix) if matrix.dtype.kind in "fO" else matrix


W = [[1, 0], [0, 1], [1, 1]]
X = [[1, 0, 2], [0, 1, -1], [2, 1, 0], [-1, 2, 1]]
HEADS = [[[1, 0], [0, 1], [1, 1]], [[1, 2], [0, 1], [1, 0]]]
PROBLEMS = [
    {"X": X, "W_Q": W, "W_K": W, "W_V": W},
    {"X": X, "W_Q": W, "W_K": W, "W_V": W, "causal": True, "window": 2, "b_Q": [1, 2]},
    {"X1": X[:2], "X2": X, "W_Q": W, "W_K": W, "W_V": W},
    {"X": X, "W_Q": HEADS, "W_K": HEADS[:1], "W_V": HEADS[:1], "W_O": [[1, 2]] * 4},
    {
        "block": "encoder", "X": X, "W_Q": W, "W_K": W, "W_V": W, "W_O": [[1, 0, 1], [2, 1, 0]],
        "W_1": [[1, 2, 0, 1]] * 3, "b_1": [1, 0, 0, 1], "W_2": [[1, 0, 2]] * 4,
    },
]  # fmt: skip


@pytest.mark.parametrize("fields", PROBLEMS)
def test_multiply_adds_are_those_made_while_a_plan_is_evaluated(fields):
    problem = Problem(**fields)
    values = {name: counting(matrix) for name, matrix in problem.given.items()}
    found, compared = count(problem)["multiply_adds"]["by_step"], []
    for step in problem.calculation.steps:
        MADE.clear()
        result = step.operation.apply(*(values[name] for name in step.inputs))
        if step.name in ("Q", "K", "V", "S", "H", "O", "F_1", "F_2"):
            has_bias = len(step.inputs) == 3
            # a sum of d products has d - 1 additions; d with a bias
            assert MADE["sums"] == MADE["products"] - (0 if has_bias else result.size)
            assert found[step.name] == MADE["products"] + (result.size if has_bias else 0)
            compared.append(step.name)
        values[step.name] = counting(result)
    assert compared[:4] == ["Q", "K", "V", "S"]


@pytest.mark.parametrize("fields", PROBLEMS[:3])
def test_masked_entries_are_those_without_weight(fields):
    problem = Problem(**fields)
    weights = solve(problem)["A"]
    hidden = int((weights == 0).sum())
    found = count(problem)
    assert found["attention_matrix"]["masked"] == hidden
    assert found["multiply_adds"]["masked"] == hidden * (2 + 2)
    assert found["attention_matrix"]["entries"] == weights.size


@pytest.mark.parametrize("name", ["masks", "gpt", "causal", "decoder"])
def test_masked_entries_of_samples(name):
    solution = solve(read_problem(sample(name).path))
    masked = [step.name for step in solution.problem.calculation.steps if step.role == "masked"]
    hidden = sum(int(np.isneginf(solution[name].astype(float)).sum()) for name in masked)
    assert count(solution.problem)["attention_matrix"]["masked"] == hidden > 0


def test_a_model_is_counted_as_its_opened_layer():
    folder = sample("model").path
    layer = count(open_model(folder, tokens=[2, 4, 7], layer=0))
    model, layers = count(folder, tokens=3), 2
    for name in ("kv_cache", "attention_matrix"):
        assert model[name]["bytes"] == layers * layer[name]["bytes"]
    assert model["attention_matrix"]["masked"] == layers * layer["attention_matrix"]["masked"]
    assert model["multiply_adds"]["masked"] == layers * layer["multiply_adds"]["masked"]
    steps = model["multiply_adds"]["by_step"]
    for name in ("Q", "K", "V", "S", "H", "O", "F_1", "F_2"):
        biases = 3 * layer["parameters"]["by_matrix"].get(f"b_{name[-1]}", 0)
        assert steps[name] == layers * (layer["multiply_adds"]["by_step"][name] - biases)
    for name, size in model["parameters"]["by_matrix"].items():
        if name not in ("W_E", "P", "gamma_out", "beta_out"):
            assert size == layers * layer["parameters"]["by_matrix"][name]


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
    routed = {"num_hidden_layers": 2, "num_attention_heads": 2, "vocab_size": 9, "hidden_size": 8}
    pairs = {"mlp_layer_types": "mellum", "moe_layers": "llama4_text", "mlp_only_layers": "flint"}
    for key, kind in pairs.items():
        with pytest.raises(InputError, match=f'"{key}" is 3, where a list is needed'):
            count(config(tmp_path, routed | {"model_type": kind, key: 3}))


MISTRAL = {**LLAMA, "model_type": "mistral", "intermediate_size": 14336, "sliding_window": 4096}
DEEPSEEK = {
    "model_type": "deepseek_v3", "architectures": ["DeepseekV3ForCausalLM"], "vocab_size": 129280,
    "hidden_size": 7168, "intermediate_size": 18432, "moe_intermediate_size": 2048,
    "num_hidden_layers": 61, "num_attention_heads": 128, "num_key_value_heads": 128,
    "n_shared_experts": 1, "n_routed_experts": 256, "kv_lora_rank": 512, "q_lora_rank": 1536,
    "qk_rope_head_dim": 64, "v_head_dim": 128, "qk_nope_head_dim": 128, "num_experts_per_tok": 8,
    "first_k_dense_replace": 3,
}  # fmt: skip
DEEPSEEK_LITE = {
    **DEEPSEEK, "model_type": "deepseek_v2", "vocab_size": 102400, "hidden_size": 2048,
    "intermediate_size": 10944, "moe_intermediate_size": 1408, "num_hidden_layers": 27,
    "num_attention_heads": 16, "n_shared_experts": 2, "n_routed_experts": 64, "q_lora_rank": None,
    "num_experts_per_tok": 6, "first_k_dense_replace": 1,
}  # fmt: skip
QWEN_72B = {
    **LLAMA, "hidden_size": 8192, "num_hidden_layers": 80, "num_attention_heads": 64,
    "intermediate_size": 29568, "vocab_size": 152064, "model_type": "qwen2",
}  # fmt: skip
LLAMA_405B = {
    **LLAMA, "hidden_size": 16384, "num_hidden_layers": 126, "num_attention_heads": 128,
    "intermediate_size": 53248, "vocab_size": 128256,
}  # fmt: skip


@pytest.mark.parametrize(
    ("values", "kilobytes"), [(DEEPSEEK, 70.272), (QWEN_72B, 327.680), (LLAMA_405B, 516.096)]
)
def test_published_caches_of_a_token(values, kilobytes, tmp_path):
    # DeepSeek-AI, Insights into DeepSeek-V3 (2025), table 1
    found = count(config(tmp_path, values), tokens=1, dtype="bf16")
    assert found["kv_cache"]["bytes"] == kilobytes * 1000


@pytest.mark.parametrize(
    ("values", "billions"),
    [(DEEPSEEK, 671), (DEEPSEEK_LITE, 15.7), (QWEN_72B, 72.7), (LLAMA_405B, 406)],
)
def test_published_parameters_of_large_models(values, billions, tmp_path):
    found = count(config(tmp_path, values))["parameters"]["total"]
    assert round(found / 1e9, 1 if billions % 1 else 0) == billions


def test_a_window_bounds_the_cache(tmp_path):
    # Jiang et al., Mistral 7B (2023), section 2: a window of 4096 saves 8 times at 32k tokens
    load = {"tokens": 32_768, "dtype": "bf16"}
    windowed, full = (
        count(config(tmp_path, MISTRAL), **load),
        count(config(tmp_path, {**MISTRAL, "sliding_window": None}), **load),
    )
    assert full["kv_cache"]["bytes"] == 8 * windowed["kv_cache"]["bytes"]
    assert full["attention_matrix"]["bytes"] == windowed["attention_matrix"]["bytes"]
    assert full["multiply_adds"]["masked"] < windowed["multiply_adds"]["masked"]


@pytest.mark.parametrize("window", [1, 3, 7, 12, 40])
@pytest.mark.parametrize("first", [-3, 1, 6])
def test_visible_pairs_are_those_of_the_mask(window, first):
    from attncalc.equations.operations.entrywise import Mask
    from attncalc.studies.counting import visible

    for each in (None, window):
        forbidden = Mask(causal_from=first, window=each).forbidden((9, 12), {}).values()
        hidden = sum((np.logical_or.reduce([*forbidden]),)).sum() if forbidden else 0
        assert visible(9, 12, each, first) == 9 * 12 - hidden


def test_layers_of_different_windows_are_separate(tmp_path):
    values = {
        **LLAMA, "model_type": "gemma2", "num_hidden_layers": 5, "head_dim": 128,
        "sliding_window": 16,
    }  # fmt: skip
    found = count(config(tmp_path, values), tokens=100, dtype="int8")
    assert {*found["parameters"]["by_layer"]} == {"layers, window 16", "layers"}
    assert found["kv_cache"]["bytes"] == 2 * 8 * 128 * (3 * 16 + 2 * 100)


def test_more_tokens_of_a_problem():
    for fields in PROBLEMS:
        problem, tokens = Problem(**fields), 7
        rows = {name: [X[i % 4] for i in range(tokens)] for name in ("X", "X1", "X2")}
        longer = Problem(**{name: rows.get(name, each) for name, each in fields.items()})
        if "X1" in fields:
            longer = Problem(**{**fields, "X1": (X[:2] * 4)[:tokens], "X2": rows["X2"]})
        assert count(problem, tokens=tokens) == count(longer)


def test_more_tokens_than_a_mask_allows_are_refused():
    problem = Problem(**PROBLEMS[0], ignore=[[0, 0, 0, 1]])
    with pytest.raises(InputError, match="this problem is for 4 tokens"):
        count(problem, tokens=5)


def test_comparison(tmp_path):
    every = config(tmp_path, {**LLAMA, "num_key_value_heads": 32})
    one, other = count(every), tmp_path / "grouped"
    other.mkdir()
    two = count(config(other, LLAMA))
    found = count(every, compare=other)["compared"]
    assert found["totals"]["KV cache bytes"] == {
        "count": one["kv_cache"]["bytes"], "other": two["kv_cache"]["bytes"],
        "difference": two["kv_cache"]["bytes"] - one["kv_cache"]["bytes"], "ratio": 0.25,
    }  # fmt: skip
    assert found["by_matrix"]["W_K"]["ratio"] == found["by_step"]["V"]["ratio"] == 0.25


def test_growth(tmp_path):
    folder = config(tmp_path, GPT2)
    found = count(folder, vary={"tokens": [128, 256, 512]})["growth"]
    assert {name for name, power in found["powers"].items() if power == 2} == {"S", "H"}
    totals = [count(folder, tokens=n)["multiply_adds"]["total"] for n in (128, 256, 512)]
    curves = found["curves"]
    assert curves["multiply-adds"] == totals
    assert [
        a + b for a, b in zip(curves["as tokens^2"], curves["as tokens^1"], strict=True)
    ] == totals
    of_width = count(folder, vary={"n_embd": [96, 192]})["growth"]["powers"]
    assert (of_width["Q"], of_width["S"]) == (2, 1)


@pytest.mark.parametrize("sizes", [{}, {"tokens": [4]}, {"tokens": [4, 2]}, {"other": [1, 2]}])
def test_wrong_sizes_are_refused(sizes, tmp_path):
    with pytest.raises(InputError):
        count(config(tmp_path, GPT2), vary=sizes)


def test_kinds_of_layers_are_those_of_the_paper(tmp_path):
    n, d, k, r = 2048, 768, 3, 3
    rows = {
        each["layer"]: each for each in count(config(tmp_path, GPT2), tokens=n)["kinds_of_layers"]
    }
    found = [(each["multiply_adds"], each["sequential"], each["path"]) for each in rows.values()]
    assert found == [
        (n * n * d, 1, 1), (n * d * d, n, n), (k * n * d * d, 1, 7), (r * n * d, 1, 683)
    ]  # fmt: skip
    assert k**6 < n <= k**7
    assert r * 682 < n <= r * 683


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "html", "csv", "json"])
def test_forms(form, attncalc, tmp_path):
    run = attncalc("count", str(config(tmp_path, GPT2)), "--format", form)
    assert run.code == 0, run.err
    assert "124439808" in run.out.replace(",", "").replace("{}", "")


@pytest.mark.parametrize("form", ["table", "json", "csv"])
def test_growth_and_comparison_on_the_command_line(form, attncalc, tmp_path):
    folder = str(config(tmp_path, GPT2))
    more = "--vary", "tokens=8:64:log", "--compare", folder
    run = attncalc("count", folder, "--format", form, *more)
    assert run.code == 0, run.err
    assert "as tokens^2" in run.out


def test_problems_without_parameters_are_compared(attncalc):
    place = str(sample("softmax").path)
    run = attncalc("count", place, "--compare", place)
    assert run.code == 0, run.err
    assert "Parameters compared" not in run.out


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("-o", "growth.png"), "a picture shows growth"),
        (("--vary", "tokens"), "a size and 2 to 1,000 values"),
        (("--vary", "tokens=1:inf"), "a size and 2 to 1,000 values"),
        (("--vary", "tokens=a,b"), "not a number"),
        (("--vary", "other=1,2"), 'it has no "other"'),
        (("--compare", "missing.json"), "missing.json: no such file"),
        (("--format", "npz", "-o", "counts.npz"), "not written as npz"),
    ],
)
def test_wrong_flags_are_refused(more, said, attncalc, tmp_path):
    run = attncalc("count", str(config(tmp_path, GPT2)), *more)
    assert run.code == 2
    assert said in run.err
    assert not run.out


@pytest.mark.slow
def test_growth_beyond_the_integers_of_numpy_is_drawn(attncalc, tmp_path):
    more = "--vary", "tokens=8:1000000000000:log", "-o", str(tmp_path / "growth.png")
    folder = tmp_path / "model"
    folder.mkdir()
    assert attncalc("count", str(config(folder, GPT2)), *more).code == 0


@pytest.mark.slow
@pytest.mark.parametrize("form", ["png", "svg", "pdf"])
def test_growth_is_drawn(form, attncalc, tmp_path):
    place = tmp_path / f"growth.{form}"
    more = "--vary", "tokens=8:64:log", "-o", str(place)
    run = attncalc("count", str(config(tmp_path, GPT2)), *more)
    assert run.code == 0, run.err
    assert "At each value of tokens" in run.out
    assert place.stat().st_size > 5000
    if form == "svg":
        assert "multiply-adds: 989,435,904 to 7,981,547,520" in place.read_text("utf-8")


def test_the_sample_asks_for_its_counts():
    problem = read_problem(sample("counts").path)
    found, solution = count(problem), solve(problem)
    assert solution["N_params"].item() == found["parameters"]["total"]
    assert solution["N_scores"].item() == found["multiply_adds"]["by_step"]["S"]
    assert solution["N_cache"].item() == found["kv_cache"]["bytes"] / 4
    key = {name: solution[name].tolist() for name in problem.asked}
    assert check(problem, key).score == (3, 3)
    another = new(again=problem, seed=1)
    assert count(another)["parameters"] == found["parameters"]


def test_too_many_tokens_are_refused():
    for name, most in (("causal", 1_000_000), ("forgetting", 200)):
        with pytest.raises(InputError, match=f"at most {most:,} for a problem"):
            count(read_problem(sample(name).path), tokens=most + 1)


@pytest.mark.parametrize(
    ("kind", "keys"),
    [
        ("gpt2", "n_embd n_layer n_head n_positions"),
        ("falcon", "hidden_size num_hidden_layers num_attention_heads"),
        ("bloom", "hidden_size n_layer n_head"),
        ("t5", "d_model num_layers num_heads"),
        ("xglm", "d_model num_layers attention_heads"),
        ("distilbert", "dim n_layers n_heads max_position_embeddings"),
        ("whisper", "d_model max_source_positions max_target_positions"),
    ],
)
def test_a_missing_size_is_named_by_the_key_of_its_type(kind, keys, tmp_path):
    sides = {
        f"{side}_{key}": 2
        for side in ("encoder", "decoder")
        for key in ("layers", "attention_heads", "ffn_dim")
    }
    said = {"model_type": kind, "vocab_size": 8, "num_mel_bins": 3, **sides}
    said |= dict.fromkeys(keys.split(), 8)
    for key in keys.split():
        left = {name: each for name, each in said.items() if name != key}
        (tmp_path / "config.json").write_text(json.dumps(left))
        with pytest.raises(InputError, match=f'it has no "{key}", which its model needs'):
            count(tmp_path)
