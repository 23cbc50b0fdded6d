"""Models whose layers are not all attention, against the transformers package, in float64."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tensor_files import save_tensors
from test_models_transformers import GROUPED, IDS, SMALL, in_float64, spread_out, torch

from attncalc import InputError, Problem, count, generate, layers, open_model, solve
from attncalc.api.models import _ended
from attncalc.reading.models.folder import find_weights
from attncalc.reading.models.opening import Model

transformers = pytest.importorskip("transformers")
pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]
__all__ = ["in_float64"]  # of each test here

NEAR = 1e-10
FOUR = ["linear_attention", "full_attention", "linear_attention", "linear_attention"]
THREE = {"num_hidden_layers": 3, "layer_types": FOUR[:3], "pad_token_id": 0}
DELTA = GROUPED | {
    "head_dim": 8,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "linear_key_head_dim": 6,
    "linear_value_head_dim": 5,
    "linear_conv_kernel_dim": 4,
    "num_hidden_layers": 4,
    "layer_types": FOUR,
    "pad_token_id": 0,
    "eos_token_id": 1,
}
ROUTED = {
    "num_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 7,
}
SHARED = ROUTED | {"shared_expert_intermediate_size": 9}
CONVOLVED = GROUPED | {
    "layer_types": ["conv", "full_attention", "conv"],
    "block_multiple_of": 4,
    "pad_token_id": 0,
}
SPACE = GROUPED | {
    "mamba_n_heads": 4,
    "mamba_d_state": 6,
    "mamba_n_groups": 2,
    "mamba_d_conv": 4,
    "mamba_chunk_size": 4,
    "pad_token_id": 0,
}
BAMBA = SPACE | {"attn_layer_indices": [1]}
GRANITE = (
    SPACE
    | THREE
    | {
        "num_local_experts": 4,
        "num_experts_per_tok": 2,
        "shared_intermediate_size": 9,
        "embedding_multiplier": 3.0,
        "attention_multiplier": 0.2,
        "logits_scaling": 4.0,
        "residual_multiplier": 0.22,
    }
)
NEMOTRON = {name: each for name, each in GROUPED.items() if name != "num_hidden_layers"} | {
    "head_dim": 4,
    "layers_block_type": [*FOUR[:2], "mlp", "moe", *FOUR[2:]],
    "mamba_num_heads": 4,
    "mamba_head_dim": 6,
    "ssm_state_size": 5,
    "n_groups": 2,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 7,
    "moe_shared_expert_intermediate_size": 9,
    "n_group": 2,
    "topk_group": 1,
    "routed_scaling_factor": 1.5,
}
FALCON = SPACE | {
    "mamba_d_ssm": 24,
    "mlp_multipliers": [0.7, 1.3],
    "ssm_multipliers": [0.5, 1.2, 0.8, 0.9, 1.1],
    "ssm_in_multiplier": 1.25,
    "ssm_out_multiplier": 0.6,
    "attention_in_multiplier": 0.9,
    "attention_out_multiplier": 1.1,
    "key_multiplier": 0.7,
    "embedding_multiplier": 3.0,
    "lm_head_multiplier": 0.3,
}
JAMBA = GROUPED | {
    "mamba_d_state": 5,
    "mamba_d_conv": 4,
    "mamba_expand": 2,
    "mamba_dt_rank": 3,
    "num_experts": 4,
    "num_experts_per_tok": 2,
    "expert_layer_period": 2,
    "attn_layer_period": 3,
    "attn_layer_offset": 1,
    "num_hidden_layers": 4,
}
MAMBA = {
    "vocab_size": 50,
    "hidden_size": 16,
    "num_hidden_layers": 3,
    "state_size": 5,
    "expand": 2,
    "conv_kernel": 4,
}
MAMBA_2 = MAMBA | {"num_heads": 4, "head_dim": 8, "n_groups": 2}
KIMI = SMALL | {
    "kv_lora_rank": 8,
    "q_lora_rank": None,
    "qk_rope_head_dim": 4,
    "qk_nope_head_dim": 6,
    "v_head_dim": 3,
    "moe_intermediate_size": 7,
    "num_experts": 8,
    "num_experts_per_tok": 3,
    "num_key_value_heads": 4,
    "n_group": 4,
    "topk_group": 2,
    "linear_head_dim": 5,
    "linear_num_heads": 3,
    "num_hidden_layers": 4,
    "layer_types": FOUR,
    "mlp_layer_types": ["dense", "sparse", "sparse", "dense"],
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
BIASES = ("attention_bias", "mlp_bias", "use_bias", "mamba_proj_bias")
"""Keys of biases, each of which some classes ignore."""
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    # (the start of the names of its classes, what its config says)
    "Qwen3-Next": ("Qwen3Next", DELTA | SHARED | {"mlp_only_layers": [2]}),
    "Qwen3-Next, biased": (
        "Qwen3Next",
        DELTA | SHARED | {"attention_bias": True, "norm_topk_prob": False, "hidden_size": 20},
    ),
    "Qwen3.5": ("Qwen3_5", DELTA),
    "Qwen3.5 MoE": ("Qwen3_5Moe", DELTA | SHARED),
    "LFM2": ("Lfm2", CONVOLVED),
    "LFM2, biased": ("Lfm2", CONVOLVED | {"conv_bias": True, "conv_L_cache": 4}),
    "LFM3": (
        "Lfm3",
        CONVOLVED
        | {"head_dim": 8, "num_hidden_layers": 4, "sliding_window": 3, "eos_token_id": 1}
        | {"layer_types": ["conv", "sliding_attention", "full_attention", "conv"]},
    ),
    "LFM3 without gates": (
        "Lfm3",
        CONVOLVED
        | {"use_sandwich_norm": False, "use_attention_gate": False, "attention_bias": True}
        | {"head_dim": 4, "eos_token_id": 1, "bos_token_id": 2},
    ),
    "LFM2-MoE": (
        "Lfm2Moe",
        CONVOLVED | ROUTED | {"num_dense_layers": 1, "routed_scaling_factor": 1.3},
    ),
    "LFM2-MoE without a bias": (
        "Lfm2Moe",
        CONVOLVED
        | ROUTED
        | {"num_dense_layers": 0, "use_expert_bias": False, "norm_topk_prob": False},
    ),
    "Bamba, with keys that it ignores": (
        "Bamba",
        BAMBA | {"use_bias": True, "use_conv_bias": False},
    ),
    "Bamba": ("Bamba", BAMBA),
    "Bamba, biased and limited": (
        "Bamba",
        BAMBA
        | {"mamba_proj_bias": True, "mamba_conv_bias": False, "mamba_n_groups": 1}
        | {"attention_bias": True, "mlp_bias": True, "time_step_limit": [0.2, 0.9]},
    ),
    "Granite hybrid": ("GraniteMoeHybrid", GRANITE),
    "Granite hybrid without experts": (
        "GraniteMoeHybrid",
        GRANITE
        | {"num_local_experts": 0, "position_embedding_type": "rope"}
        | {"mamba_proj_bias": True, "use_bias": False, "mlp_bias": True},
    ),
    "Nemotron-H": ("NemotronH", NEMOTRON),
    "Nemotron-H, biased": (
        "NemotronH",
        NEMOTRON
        | {"layers_block_type": [*FOUR[:2], "mlp"], "use_bias": True, "use_conv_bias": False}
        | {"mlp_bias": True, "time_step_min": 0.4},
    ),
    "Falcon-H1": ("FalconH1", FALCON),
    "Falcon-H1, normalized, biased": (
        "FalconH1",
        FALCON
        | {"mamba_rms_norm": True, "mamba_norm_before_gate": False, "mamba_proj_bias": True}
        | {"attention_bias": True, "mlp_bias": True, "use_bias": False},
    ),
    "Falcon-H1, normalized before gates": (
        "FalconH1",
        FALCON
        | {"mamba_rms_norm": True, "projectors_bias": True, "mamba_n_groups": 1}
        | {"mamba_conv_bias": False, "mamba_d_ssm": None},
    ),
    "OLMo hybrid": ("OlmoHybrid", DELTA),
    "OLMo hybrid without positions": (
        "OlmoHybrid",
        DELTA
        | {"linear_allow_neg_eigval": False}
        | {"rope_parameters": {"rope_type": "default", "rope_theta": None}},
    ),
    "Kimi Linear": ("KimiLinear", KIMI),
    "Kimi Linear, biased": (
        "KimiLinear",
        KIMI | {"q_lora_rank": 6, "norm_topk_prob": False, "attention_bias": True},
    ),
    "MiniMax": (
        "MiniMax",
        GROUPED
        | THREE
        | {"num_local_experts": 4, "head_dim": 8, "block_size": 3, "full_attn_alpha_factor": 1.5}
        | {"linear_attn_alpha_factor": 2.5, "linear_attn_beta_factor": 0.5}
        | {"mlp_alpha_factor": 0.7, "mlp_beta_factor": 1.3},
    ),
    "Jamba": ("Jamba", JAMBA | {"use_bias": True, "mlp_bias": True}),
    "Jamba without experts": (
        "Jamba",
        JAMBA
        | {"num_experts": 1, "mamba_dt_rank": "auto"}
        | {"mamba_proj_bias": True, "mamba_conv_bias": False},
    ),
    "Mamba": ("Mamba", MAMBA | {"mamba_proj_bias": True, "mamba_conv_bias": False}),
    "Mamba, biased": ("Mamba", MAMBA | {"use_bias": True, "use_conv_bias": False}),
    "Falcon Mamba": ("FalconMamba", MAMBA),
    "Mamba-2": ("Mamba2", MAMBA_2),
    "Mamba-2, biased and limited": (
        "Mamba2",
        MAMBA_2 | {"use_bias": True, "n_groups": 1, "time_step_limit": [0.3, 0.8]},
    ),
}
CONFIGS = {"Qwen3_5": "Qwen3_5TextConfig", "Qwen3_5Moe": "Qwen3_5MoeTextConfig"}


def made(name: str, folder: Path) -> Any:
    """Return a model with parameters spread out, saved in a folder as hubs hand it out."""
    kind, said = MODELS[name]
    config = getattr(transformers, CONFIGS.get(kind, f"{kind}Config"))(**said)
    config._attn_implementation = config._experts_implementation = "eager"
    model = spread_out(getattr(transformers, f"{kind}ForCausalLM")(config))
    model.save_pretrained(folder)
    return model


def run(model: Any) -> tuple[Any, dict[int, Any]]:
    """Return what a model gives, and the output of each of its layers."""
    seen: dict[int, Any] = {}

    def note(number: int) -> Any:
        return lambda module, read, gave: seen.__setitem__(
            number, (gave[0] if isinstance(gave, tuple) else gave)[0].numpy()
        )

    inner = getattr(model, "model", None) or model.backbone
    for number, layer in enumerate(inner.layers):
        layer.register_forward_hook(note(number))
    with torch.no_grad():
        out = model(torch.tensor([IDS]), output_attentions=True, use_cache=False)
    return out, seen


@pytest.mark.campaign(4)
@pytest.mark.parametrize("name", MODELS)
def test_every_layer_and_the_logits_are_those_of_the_package(name: str, tmp_path: Path) -> None:
    """Also the weights of layers with an attention, for the package has no others."""
    out, seen = run(made(name, tmp_path))
    opened = Model(tmp_path)
    tokens = opened.begin(IDS, "--tokens")
    given = [each for each in getattr(out, "attentions", None) or () if each is not None]
    # MiniMax also gives the states of its other layers
    weights = [each for each in given if np.allclose(each.sum(-1), 1)]
    for number in range(opened.count):
        fields = opened.layer(number)
        if number == opened.count - 1:
            fields = _ended(fields, opened.end(fields["weights_layout"]))
        solution = solve(Problem(**(fields | tokens)))
        names = [step.name for step in solution.plan]
        last = max({"R_1", "R_2"} & {*names}) if number == opened.count - 1 else "Y"
        assert np.abs(solution[last] - seen[number]).max() < NEAR * np.abs(seen[number]).max()
        if opened.family.of("attends", opened.config, number):
            assert np.abs(solution["A"] - weights.pop(0)[0].numpy()).max() < NEAR
        tokens = {"X": solution["Y"]}
    assert weights == []
    logits = out.logits[0, -1].numpy()
    assert np.abs(solution["logits"].ravel() - logits).max() < NEAR * np.abs(logits).max()


@pytest.mark.parametrize("more", [{}, dict.fromkeys(BIASES, True)])
@pytest.mark.parametrize("name", MODELS)
def test_parameters_equal_numel(name: str, more: dict[str, Any], tmp_path: Path) -> None:
    """From the config alone; of a recurrence, the cache does not grow with the tokens."""
    kind, said = MODELS[name]
    config = getattr(transformers, CONFIGS.get(kind, f"{kind}Config"))(**said | more)
    config.architectures = [f"{kind}ForCausalLM"]
    with torch.device("meta"):
        model = getattr(transformers, f"{kind}ForCausalLM")(config)
    model.tie_weights()
    model.config.save_pretrained(tmp_path)
    found, longer = (count(tmp_path, tokens=tokens) for tokens in (7, 8))
    assert found["parameters"]["total"] == sum(each.numel() for each in model.parameters())
    has_attention = "Mamba" not in name
    assert (longer["kv_cache"]["bytes"] > found["kv_cache"]["bytes"]) == has_attention


def saved(name: str, folder: Path) -> Path:
    made(name, folder)
    return folder


def test_a_layer_without_an_attention_has_a_map_parts_and_gradients(tmp_path: Path) -> None:
    """Weights of the gated delta rule: the outputs of heads are linear in the values by them."""
    problem = open_model(saved("Qwen3-Next", tmp_path), tokens=IDS, layer=0, backward=True)
    (attention,) = problem.attentions
    assert (attention.n_heads, attention.n, attention.m) == (4, 8, 8)
    solution = solve(problem)
    heads = np.einsum("hij,hjc->hic", solution["A"], solution["V"])
    assert np.abs(solution["H"] - heads).max() < NEAR
    assert np.abs(np.triu(solution["A"], 1)).max() == 0
    found = layers(tmp_path, tokens=IDS).why("logits[3,7]")
    texts = [part.text for part in found.parts]
    assert {"layer 0, O, head 1", "layer 1, O, head 1", "layer 2, O, head 4"} <= {*texts}
    step = np.zeros_like(problem.stored("X"))
    step[1, 2] = 1e-6

    def loss(X: Any) -> float:
        return float(solve(problem.with_fields({"X": X, "backward": False}))["Y"].sum())

    X = problem.stored("X")
    slope = (loss(X + step) - loss(X - step)) / 2e-6
    assert solution["dX"][1, 2] == pytest.approx(slope, rel=1e-5)


def test_steps_that_some_layers_lack_are_those_of_the_others(tmp_path: Path) -> None:
    saved("LFM2", tmp_path)
    arrays = dict(layers(tmp_path, tokens=IDS, only="A,U_conv").walk.arrays())
    assert [*arrays] == ["0.U_conv", "1.A", "2.U_conv"]
    with pytest.raises(InputError, match='no step "B_conv": a layer has ms_1, N_1, U, BU'):
        dict(layers(tmp_path, tokens=IDS, only="B_conv").walk.arrays())
    with pytest.raises(InputError, match='no step "E_prob": the last layer has ms_1'):
        dict(layers(tmp_path, tokens=IDS, only="E_prob").walk.arrays())
    with pytest.raises(InputError, match="from 0: layer 0 has none"):
        layers(tmp_path, tokens=IDS).rollout().found.arrays()
    problem = open_model(tmp_path, tokens=IDS, layer=0)
    assert problem.attentions == ()
    padded = open_model(tmp_path, tokens=IDS, ignore=[0] * 7 + [1], layer=0)
    assert np.array_equal(solve(padded)["U_conv"], solve(problem)["U_conv"])  # padding is last


def test_weights_below_0_are_no_rollout(tmp_path: Path) -> None:
    saved("Bamba", tmp_path)
    with pytest.raises(InputError, match="from 0: layer 0 has some below 0"):
        layers(tmp_path, tokens=IDS).rollout()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Qwen3-Next", "LFM2", "Falcon-H1"])
def test_padding_ends_tokens_of_hybrids(name: str, tmp_path: Path) -> None:
    """Padding before tokens is refused: the package sets it to 0 where tokens are mixed."""
    model, ignore = made(name, tmp_path), [0] * 6 + [1] * 2
    with torch.no_grad():
        mask = torch.tensor([[1 - each for each in ignore]])
        out = model(torch.tensor([IDS]), attention_mask=mask).logits[0, :6].numpy()
    found = solve(open_model(tmp_path, tokens=IDS, ignore=ignore))["logits"]
    assert np.abs(found[:6] - out).max() < NEAR
    with pytest.raises(InputError, match="states of mixed tokens begin after padding"):
        open_model(tmp_path, tokens=IDS, ignore=ignore[::-1], layer=0)


@pytest.mark.parametrize("name", ["Qwen3-Next", "LFM2", "Granite hybrid", "Kimi Linear"])
def test_hybrids_generate(name: str, tmp_path: Path) -> None:
    model, ids = made(name, tmp_path), IDS
    with torch.no_grad():
        for _ in range(3):
            logits = model(torch.tensor([ids]), use_cache=False).logits
            ids = [*ids, int(logits[0, -1].argmax())]
    assert list(generate(tmp_path, 3, tokens=IDS, eos=()).found.tokens) == ids[len(IDS) :]


def test_old_configs_have_other_keys(tmp_path: Path) -> None:
    """As on hubs before version 5 of the package."""
    changes: dict[str, dict[str, Any]] = {
        "Qwen3-Next": {"layer_types": None, "full_attention_interval": 2},
        "LFM2": {"layer_types": None, "full_attn_idxs": [1]},
        "Nemotron-H": {"layers_block_type": None, "hybrid_override_pattern": "M*-EMM"},
        "Granite hybrid": {"layer_types": ["mamba", "attention", "mamba"]},
        "Kimi Linear": {
            "layer_types": None,
            **dict.fromkeys(("linear_head_dim", "linear_num_heads", "linear_conv_kernel_dim")),
            "linear_attn_config": {
                "full_attn_layers": [2],
                "head_dim": 5,
                "num_heads": 3,
                "short_conv_kernel_size": 4,
            },
        },
    }
    for name, change in changes.items():
        folder = tmp_path / name.replace(" ", "")
        if name == "Qwen3-Next":
            made_of = MODELS[name][1] | {"layer_types": FOUR[:2] * 2}
            config = transformers.Qwen3NextConfig(**made_of)
            spread_out(transformers.Qwen3NextForCausalLM(config)).save_pretrained(folder)
        else:
            made(name, folder)
        expected = solve(open_model(folder, tokens=IDS))["logits"]
        config = json.loads((folder / "config.json").read_text())
        config = {k: each for k, each in (config | change).items() if each is not None}
        (folder / "config.json").write_text(json.dumps(config))
        assert np.array_equal(solve(open_model(folder, tokens=IDS))["logits"], expected), name


def test_layers_for_later_tokens_are_not_read(tmp_path: Path) -> None:
    saved("Qwen3.5", tmp_path)
    arrays = {name: np.array(each) for name, each in find_weights(tmp_path).items()}
    expected = solve(open_model(tmp_path, tokens=IDS))["logits"]
    more = {
        f"mtp.{name.removeprefix('model.')}": each
        for name, each in arrays.items()
        if "layers.0." in name
    }
    save_tensors(tmp_path / "model.safetensors", **arrays | more)
    problem = open_model(tmp_path, tokens=IDS)
    assert np.abs(solve(problem)["logits"] - expected).max() < 1e-5
    assert any(each.startswith("mtp.… is not read") for each in problem.remarks)


def test_wrong_configs_and_tensors_are_refused(tmp_path: Path) -> None:
    wrong: dict[str, tuple[tuple[dict[str, Any], str], ...]] = {
        "Qwen3-Next": (
            ({"linear_num_key_heads": 3}, "tensors of layer 0 do not fit its config"),
            ({"layer_types": ["linear_attention", "sparse"]}, "a list with one of full_attention"),
            ({"layer_types": ["linear_attention"]}, "with 2 or more words"),
            ({"hidden_act": "gelu"}, 'hidden_act" is "gelu": of Qwen3-Next "silu" is read'),
        ),
        "Bamba": (
            ({"attn_layer_indices": 1}, "a list of layers"),
            ({"time_step_limit": [1]}, "a list of two numbers"),
            ({"mamba_n_groups": None}, "mamba_n_groups"),
        ),
        "Falcon-H1": (({"ssm_multipliers": [1, 2]}, "a list of 5 numbers"),),
        "Mamba": (({"use_bias": 1}, "true or false"),),
    }
    for name, cases in wrong.items():
        made(name, tmp_path)
        right = (tmp_path / "config.json").read_text()
        for change, said in cases:
            (tmp_path / "config.json").write_text(json.dumps(json.loads(right) | change))
            with pytest.raises(InputError, match=said):
                open_model(tmp_path, tokens=IDS)
