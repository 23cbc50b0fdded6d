"""Tensors of PyTorch beside ours: planted mistakes are named, right code is not accused."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Command, mostly_slow

from attncalc import InputError, check, from_module, open_model, solve, trace
from attncalc.problem.samples import sample

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]

from traced import (  # noqa: E402 - it needs torch
    OF_GPT2,
    OF_LLAMA,
    RIGHT_GPT2,
    RIGHT_LLAMA,
    Gpt2,
    Llama,
    redrawn,
)

BLOCKS = {"GPT-2": (Gpt2, OF_GPT2, 12), "Llama": (Llama, OF_LLAMA, 16)}
IDS = sample("model").path


def traced(name: str, kind: str, **said: Any) -> Any:
    block, _, width = BLOCKS[name]
    X = torch.randn(1, 6, width, generator=torch.manual_seed(1)) * 0.7
    return trace(redrawn(block(kind)), X, **{**block.SAID, **said})


def as_dump(found: Any, layer: str = "model.layers.3") -> dict[str, Any]:
    """Return what hooks on the modules of a block give."""
    return {
        layer if name in ("Gpt2", "Llama") else f"{layer}.{name}": torch.tensor(array)
        for name, array in found.tensors.items()
        if "()" not in name and not name.endswith(".input")
    }


RIGHT = [("GPT-2", kind) for kind in RIGHT_GPT2] + [("Llama", kind) for kind in RIGHT_LLAMA]
WRONG = [(name, kind) for name, (_, bugs, _) in BLOCKS.items() for kind in bugs]


@pytest.mark.parametrize("case", mostly_slow(RIGHT, every=4))
def test_right_code_is_not_accused(case: tuple[str, str]) -> None:
    name, kind = case
    found = traced(name, kind)
    assert (found.agrees, found.first, found.unmatched) == (True, None, ())
    assert len([each for each in found.steps if each.status == "equal"]) > 12
    assert check(solve(found.problem), as_dump(found)).is_done


@pytest.mark.parametrize("case", mostly_slow(WRONG, every=9))
def test_the_first_wrong_step_of_a_trace_is_named(case: tuple[str, str]) -> None:
    name, kind = case
    steps, codes = BLOCKS[name][1][kind]
    found = traced(name, kind)
    assert found.first is not None
    assert found.first.step in steps.split()
    marks = found.marking.first_wrong.marks
    given = [cause.code for cause in marks.causes]
    assert bool(given) == bool(codes)
    assert not codes or any(code.startswith(codes) for code in given)


NOT_SEEN_BY_HOOKS = ("heads viewed", "one head", "rope of V")
"""Mistakes between modules that no recipe explains from their outputs."""


@pytest.mark.parametrize("case", mostly_slow(WRONG, every=9))
def test_the_outputs_of_modules_are_enough(case: tuple[str, str]) -> None:
    name, kind = case
    if kind in NOT_SEEN_BY_HOOKS:
        pytest.skip("it takes long, and gives no cause")
    found = traced(name, kind)
    marking = check(solve(found.problem), as_dump(found))
    first = marking.first_wrong
    assert first is not None
    plan = list(marking.key.steps)
    earliest = min(plan.index(step) for step in BLOCKS[name][1][kind][0].split())
    assert plan.index(first.marks.step.name) >= earliest
    assert first.marks.causes


def test_a_trace_prints_and_displays() -> None:
    found = traced("GPT-2", "unscaled")
    text = str(found)
    assert "The first difference is in S_masked" in text
    assert "the scores are not scaled" in text
    assert "attn.c_attn[Q]" in text
    assert "<iframe" in found._repr_html_()
    assert found.first.causes == ("the scores are not scaled (in S_scaled)",)
    assert {each.status for each in found.steps} == {"equal", "differs", "follows", "not seen"}


def test_differences_of_one_head_are_said() -> None:
    found = traced("GPT-2", "one head")
    assert "All differences are in head 2." in str(found)


def test_a_trace_does_not_change_the_model() -> None:
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, dropout=0.5).train()
    before = {name: each.clone() for name, each in layer.state_dict().items()}
    is_fast = torch.backends.mha.get_fastpath_enabled()
    assert trace(layer, torch.randn(2, 5, 8)).agrees
    assert layer.training
    assert layer.self_attn.training
    assert not layer._forward_hooks
    assert torch.backends.mha.get_fastpath_enabled() == is_fast
    assert all((each == before[name]).all() for name, each in layer.state_dict().items())


X = np.random.default_rng(2).normal(size=(2, 5, 8)).astype(np.float32)
CAUSAL = torch.nn.Transformer.generate_square_subsequent_mask(5)


def modules() -> dict[str, tuple[Any, Any]]:
    nn, tokens = torch.nn, torch.tensor(X)
    short = tokens[:, :3]
    padded = torch.tensor([[False] * 4 + [True]] * 2)
    first = {"batch_first": True}
    return {
        "attention": (nn.MultiheadAttention(8, 2), tokens[0]),
        "a batch": (nn.MultiheadAttention(8, 2, **first), X),
        "cross": (nn.MultiheadAttention(8, 2, bias=False, **first), (tokens, short, short)),
        "other widths": (
            nn.MultiheadAttention(8, 2, kdim=6, vdim=4, **first),
            (tokens, short[..., :6], short[..., :4]),
        ),
        "encoder, tokens first": (nn.TransformerEncoderLayer(8, 2, 16), tokens.transpose(0, 1)),
        "encoder before": (
            nn.TransformerEncoderLayer(8, 2, 16, norm_first=True, activation="gelu", **first),
            tokens,
        ),
        "no biases": (nn.TransformerEncoderLayer(8, 2, 16, bias=False, **first), tokens),
        "causal": (
            nn.TransformerEncoderLayer(8, 2, 16, **first),
            {"src": tokens, "src_mask": CAUSAL, "is_causal": True},
        ),
        "padding": (
            nn.TransformerEncoderLayer(8, 2, 16, **first),
            {"src": tokens, "src_key_padding_mask": padded},
        ),
        "half": (
            nn.TransformerEncoderLayer(8, 2, 16, **first).bfloat16(),
            tokens.bfloat16(),
        ),
        "decoder": (
            nn.TransformerDecoderLayer(8, 2, 16, **first),
            {"tgt": tokens, "memory": short, "tgt_mask": CAUSAL},
        ),
    }


@pytest.mark.parametrize("name", modules())
def test_layers_of_torch_agree(name: str) -> None:
    module, inputs = modules()[name]
    found = trace(redrawn(module), inputs)
    assert found.agrees, found
    assert sum(each.status == "equal" for each in found.steps) > 4


def test_a_trace_of_a_batch_says_that_it_is_of_the_first_sequence() -> None:
    module, said = redrawn(modules()["a batch"][0]), "of 2 sequences in the batch, the first alone"
    both, one = trace(module, X), trace(module, X[:1])
    assert said in str(both)
    assert said not in str(one)
    assert np.array_equal(both.problem.X, one.problem.X)


def test_keys_of_earlier_calls_are_refused() -> None:
    given = {"input_ids": torch.tensor([[1]]), "past_key_values": object()}
    with pytest.raises(InputError, match="past_key_values: each layer then also reads keys"):
        trace(modules()["a batch"][0], given)


def test_a_layer_within_a_model_is_traced_by_its_path() -> None:
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 2)
    assert trace(redrawn(model), X, layer="layers.1").agrees
    with pytest.raises(InputError, match="inputs is text: pass its token ids"):
        trace(model, "a cat")
    with pytest.raises(InputError, match="layer is a Tensor, where a number or the path"):
        trace(model, torch.tensor([[1, 2]]), torch.ones(2))  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"has no module layers\.7: it has layers\.0, layers\.1"):
        trace(model, X, layer="layers.7")


@pytest.mark.parametrize(
    ("model", "inputs", "said", "problem"),
    [
        (lambda: 7, X, {}, "int is not a PyTorch model"),
        (lambda: torch.nn.Transformer(8, 2, 1, 1), (X, X), {}, "layer='encoder.layers.0'"),
        (lambda: torch.nn.Linear(8, 2), X, {}, "Linear is not one of the modules read"),
        (lambda: Gpt2(), X[..., :7], {}, "Gpt2 cannot be run on these inputs: RuntimeError"),
        (lambda: Llama(width=8), X, {}, "normalization is unknown: pass norm='pre'"),
        (lambda: Llama(width=8), X, {"norm": "pre"}, "its activation is unknown: pass activation="),
    ],
)
def test_what_cannot_be_traced_is_refused(
    model: Any, inputs: Any, said: dict[str, Any], problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        trace(model(), inputs, **said)


def test_a_module_of_a_users_own_is_a_problem() -> None:
    block = redrawn(Gpt2(width=12))
    tokens = torch.randn(1, 4, 12, generator=torch.manual_seed(2))
    with torch.no_grad():
        expected = block(tokens)[0].numpy()
    found = solve(from_module(block, tokens[0], **Gpt2.SAID))["Y"]
    assert np.abs(found - expected).max() < 1e-5


def test_the_names_of_transformer_lens_are_known() -> None:
    problem = open_model(IDS, tokens=[2, 4, 7], layer=1)
    solution = solve(problem)
    hooks = {
        "ln1.hook_normalized": solution["N_1"],
        **{f"attn.hook_{n}": solution[n.upper()].swapaxes(0, 1)[None] for n in "qkv"},
        "attn.hook_attn_scores": solution["S_masked"][None],
        "attn.hook_pattern": solution["A"][None],
        "attn.hook_z": solution["H"].swapaxes(0, 1)[None],
        "hook_attn_out": solution["O"][None],
        "hook_resid_pre": problem.X[None],
        "hook_resid_mid": solution["R_1"][None],
        "mlp.hook_pre": solution["F_1"][None],
        "mlp.hook_post": solution["G"][None],
        "hook_mlp_out": solution["F_2"][None],
        "hook_resid_post": solution["Y"][None],
    }
    marking = check(solution, {f"blocks.1.{name}": each for name, each in hooks.items()})
    assert marking.is_done
    assert len(marking.steps) == len(hooks) - 1
    hooks["attn.hook_pattern"] = hooks["attn.hook_pattern"][..., ::-1]
    assert check(solution, hooks).first_wrong.marks.step.name == "A"


def test_variables_nnsight_and_unknown_names_are_found_by_their_numbers() -> None:
    solution = solve(open_model(IDS, tokens=[2, 4, 7], layer=0))
    Q, K, V = (solution[name].swapaxes(0, 1).reshape(3, -1) for name in "QKV")
    given = {
        "transformer.h[0].attn.c_attn.output": np.concatenate([Q, K, V], -1)[None],
        "attn_weights": np.stack([solution["A"][:, ::-1], solution["A"]]),  # two sequences
        "attn_output": solution["C"],
        "mlp_output": solution["F_2"],
        "hidden_states": solution["Y"][None],
        "mystery": solution["R_1"],
        "other": np.ones((3, 7)),
    }
    marking = check(solution, given)
    assert marking.is_done
    assert {each.step.name for each in marking.steps} == {*"QKVAC", "F_2", "R_1", "Y"}
    said = " ".join(marking.answer.remarks)
    for remark in ("mystery is taken for R_1", "element 2 of the batch", "the numbers of other"):
        assert remark in said


def test_a_wrong_tensor_is_not_matched_by_force() -> None:
    solution = solve(open_model(IDS, tokens=[2, 4, 7], layer=0))
    noise = np.random.default_rng(1).normal(size=solution["Y"].shape)
    marking = check(solution, {"A": solution["A"], "hidden_states": noise, "what": noise})
    assert [each.step.name for each in marking.steps] == ["A"]
    assert [each.text.split(":")[0] for each in marking.answer.unread] == ["hidden_states"]
    untitled = solve(replace(solution.problem, title=""))
    with pytest.raises(InputError, match="layers 0, 1 are in it, and the numbers of none"):
        check(untitled, {"h.0": noise, "h.1": noise})
    titled = solve(replace(solution.problem, title="Llama, layer 1 (m)"))
    marking = check(titled, {"h.0": noise, "h.1": 1.1 * solution["Y"]})
    assert [each.step.name for each in marking.steps] == ["Y"]
    assert "layer 1 is compared, since the title" in " ".join(marking.answer.remarks)


def test_rows_of_nan_whose_queries_have_no_keys_are_named() -> None:
    """A softmax of -inf alone is NaN in PyTorch; any other NaN is a difference."""
    layer = torch.nn.MultiheadAttention(8, 2, batch_first=True).double()
    X = torch.randn(1, 4, 8, generator=torch.manual_seed(1)).double()
    ignore = torch.tensor([[False] * 4, [True] * 4, [False, True] * 2, [False] * 4])
    output, weights = layer(X, X, X, attn_mask=ignore, average_attn_weights=False)
    assert weights[0, :, 1].isnan().all()
    solution = solve(from_module(layer, X[0], ignore=ignore))
    found = check(solution, {"attn_weights": weights, "attn_output": output})
    assert (found.is_done, [each.step.name for each in found.steps]) == (True, ["A", "O"])
    assert "rows of queries without allowed keys are not compared" in str(found)
    weights = weights.clone()
    weights[0, 1, 2, 0] = torch.nan
    wrong = check(solution, {"attn_weights": weights})
    assert wrong.first_wrong.marks.step.name == "A"


def test_the_command_reads_a_dump(attncalc: Command, tmp_path: Path) -> None:
    attncalc("open", str(IDS), "--tokens", "2 4 7", "--layer", "1", "-o", "layer.npz")
    solution = solve(open_model(IDS, tokens=[2, 4, 7], layer=1))
    A = solution["A"].copy()
    A[1] = A[1][:, ::-1]
    np.savez(tmp_path / "dump.npz", **{"h.1.ln_1": solution["N_1"], "h.1.attn.softmax": A[None]})
    done = attncalc("check", "layer.npz", "dump.npz", "--dump")
    assert done.code == 1
    assert "All differences are in head 2." in " ".join(done.out.split())
    done = attncalc("check", "layer.npz", "dump.npz", "--dump", "--format", "json")
    assert [each["name"] for each in json.loads(done.out)["steps"]] == ["N_1", "A"]
    done = attncalc("check", "layer.npz", "dump.npz", "dump.npz", "--dump")
    assert (done.code, done.err) == (
        2,
        "error: --dump takes one file of tensors, .npz or .safetensors\n",
    )


def test_torch_is_not_imported_without_a_model() -> None:
    program = "import sys, attncalc; attncalc.trace; print('torch' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"


DEBERTAS = ("Deberta", "DebertaV2", "DebertaV3")


@pytest.mark.slow
@pytest.mark.parametrize("attention", ["eager", "sdpa"])
@pytest.mark.parametrize(
    "name",
    [*("GPT2", "Llama", "Llama4Text", "Qwen3", "Bert", "OPT", "Bart", "ViT"), *DEBERTAS],
)
def test_models_of_transformers_agree(name: str, attention: str) -> None:
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    hub = pytest.importorskip("transformers")
    said: dict[str, Any] = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2}
    said |= {"num_attention_heads": 4, "vocab_size": 30, "max_position_embeddings": 32}
    far = {"relative_attention": True, "pos_att_type": ["c2p", "p2c"]}
    own = {
        "GPT2": ("LMHeadModel", {"vocab_size": 30, "n_embd": 12, "n_layer": 2, "n_head": 3}),
        "Llama": ("ForCausalLM", said | {"num_key_value_heads": 2}),
        "Qwen3": ("ForCausalLM", said | {"num_key_value_heads": 2, "head_dim": 4}),
        "Bert": ("ForMaskedLM", said),
        "OPT": ("ForCausalLM", said | {"ffn_dim": 24, "word_embed_proj_dim": 16}),
        "Bart": (
            "ForConditionalGeneration",
            {"vocab_size": 30, "d_model": 16, "encoder_layers": 2, "decoder_layers": 2}
            | {f"{side}_attention_heads": 4 for side in ("encoder", "decoder")}
            | {f"{side}_ffn_dim": 24 for side in ("encoder", "decoder")},
        ),
        "ViT": ("ForImageClassification", said | {"image_size": 8, "patch_size": 4}),
        **{f"Deberta{each}": ("Model", said | far) for each in ("", "V2")},
        # modules that run twice, and a router with two outputs
        "DebertaV3": ("Model", said | far | {"share_att_key": True, "norm_rel_ebd": "layer_norm"}),
        "Llama4Text": (
            "ForCausalLM",
            said
            | {"num_key_value_heads": 2, "head_dim": 4, "num_local_experts": 4, "moe_layers": [1]}
            | {"intermediate_size_mlp": 40, "attention_chunk_size": 4, "no_rope_layers": [1, 0]}
            | {"layer_types": ["chunked_attention", "full_attention"]},
        ),
    }
    if name.startswith("Deberta") and attention != "eager":
        pytest.skip("it has no other attention")
    kind, fields = own[name]
    name = name.replace("V3", "V2")
    config = getattr(hub, f"{name}Config")(**fields, attn_implementation=attention)
    model = redrawn(getattr(hub, f"{name.removesuffix('Text')}{kind}")(config))
    inputs: Any = [4, 8, 15, 16, 3]
    if name == "Bart":
        inputs = {"input_ids": [[4, 8, 15]], "decoder_input_ids": [[2, 9, 4, 1]]}
    if name == "ViT":
        inputs = torch.randn(1, 3, 8, 8)
    found = trace(model, inputs, layer=1)
    assert found.agrees, found
    assert not found.unmatched
    paths = [n for n, _ in model.named_modules()]  # tensors have the names of the model's modules
    assert {each.tensor.split("[")[0] for each in found.steps} & {*paths} - {""}
    assert sum(each.status == "equal" for each in found.steps) > 12


@pytest.mark.slow
def test_a_bias_that_a_model_adds_after_its_module_is_part_of_the_step() -> None:
    hub = pytest.importorskip("transformers")
    said = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 1, "vocab_size": 30}
    said |= {"num_attention_heads": 4, "max_position_embeddings": 16, "relative_attention": True}
    model = redrawn(hub.DebertaModel(hub.DebertaConfig(**said, pos_att_type=["c2p", "p2c"])))
    found = trace(model, [4, 8, 15, 3])
    said_of = {each.step: each for each in found.steps}
    assert said_of["Q"].status == "equal"
    assert "layer.0.attention.self.pos_proj is rows 13 to 20 of K_rel" in str(found)
    attention = model.encoder.layer[0].attention.self
    attention.pos_proj.register_forward_hook(lambda module, given, made: made * 2)
    wrong = trace(model, [4, 8, 15, 3])
    assert {each.step for each in wrong.steps if each.status == "differs"} == {"S_scaled"}
    assert any("pos_proj" in each for each in wrong.unmatched)


SMALL: dict[str, Any] = {
    "vocab_size": 40,
    "hidden_size": 16,
    "intermediate_size": 20,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
}
LATENT = {
    "num_key_value_heads": 4,
    "q_lora_rank": 5,
    "kv_lora_rank": 6,
    "qk_rope_head_dim": 2,
    "qk_nope_head_dim": 3,
    "v_head_dim": 3,
    "moe_intermediate_size": 7,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "n_group": 1,
    "topk_group": 1,
    "first_k_dense_replace": 0,
}
OTHERS: dict[str, tuple[str, dict[str, Any]]] = {
    "Granite": ("ForCausalLM", {"residual_multiplier": 0.3}),  # its outputs are scaled later
    "DeepseekV3": ("ForCausalLM", LATENT),  # its columns have another order
    "Falcon": ("ForCausalLM", {"new_decoder_architecture": True, "num_kv_heads": 2}),
    "Bloom": ("ForCausalLM", {"n_layer": 2, "n_head": 4}),  # its mlp adds its input
    "Albert": ("Model", {"embedding_size": 16}),  # ffn is a projection
    "Qwen3Moe": (
        "ForCausalLM",
        {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 7},
    ),
    "Llama": (
        "ForCausalLM",
        {
            "max_position_embeddings": 4,  # fewer than the tokens
            "rope_parameters": {"rope_type": "dynamic", "factor": 3.0, "rope_theta": 50.0},
        },
    ),
    "FalconH1": (  # its weights contain multipliers, and spaces add to its outputs
        "ForCausalLM",
        {"key_multiplier": 2.5, "attention_in_multiplier": 0.5, "mamba_n_heads": 4}
        | {"num_key_value_heads": 2, "head_dim": 4}
        | {"mamba_d_ssm": 16, "mamba_d_state": 6, "mamba_n_groups": 2, "mamba_d_head": 4},
    ),
    "OlmoHybrid": (  # saved under other names than those of its modules
        "ForCausalLM",
        {"layer_types": ["full_attention", "linear_attention"], "pad_token_id": 0},
    ),
    "Doge": ("ForCausalLM", {}),  # its residuals are scaled, its scores biased
    "DeepseekV32": ("ForCausalLM", LATENT | {"index_n_heads": 2, "index_head_dim": 4}),
    "GPTNeoXJapanese": ("ForCausalLM", {"intermediate_multiple_size": 2}),
    "T5": ("Model", {"d_model": 12, "d_kv": 4, "d_ff": 20, "num_layers": 2, "num_heads": 3}),
}


def tiny(name: str) -> Any:
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    hub = pytest.importorskip("transformers")
    kind, said = OTHERS[name]
    config = getattr(hub, f"{name}Config")(**({} if name == "T5" else SMALL), **said)
    config._attn_implementation = config._experts_implementation = "eager"
    return redrawn(getattr(hub, f"{name}{kind}")(config))


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_models_with_conventions_of_their_own_are_not_accused(name: str) -> None:
    ids = torch.tensor([[3, 7, 1, 9, 2, 2, 30]])
    inputs = ids if name != "T5" else {"input_ids": ids, "decoder_input_ids": ids[:, :3]}
    found = trace(tiny(name), inputs, layer=0)
    assert (found.agrees, found.first, found.unmatched) == (True, None, ())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Falcon", "GPTNeoXJapanese"])
def test_angles_of_single_precision_are_no_mistake(name: str) -> None:
    """Nor are scores that are scaled in place, or by the operation that multiplies."""
    assert trace(tiny(name).double(), [3, 7, 1, 9, 2], layer=0).agrees


@pytest.mark.slow
def test_queries_clipped_after_their_module_are_no_mistake() -> None:
    hub = pytest.importorskip("transformers")
    config = hub.OlmoConfig(**SMALL, clip_qkv=0.5, attn_implementation="eager", pad_token_id=0)
    found = trace(redrawn(hub.OlmoForCausalLM(config)), [3, 7, 1, 9], layer=0)
    assert (found.agrees, found.first, found.unmatched) == (True, None, ())
    assert next(each for each in found.steps if each.step == "A").status == "equal"


@pytest.mark.slow
def test_a_layer_scale_after_a_module_is_no_mistake() -> None:
    hub = pytest.importorskip("transformers")
    said = {name: each for name, each in SMALL.items() if name != "vocab_size"}
    config = hub.Dinov2Config(**said, image_size=8, patch_size=4, attn_implementation="eager")
    model = redrawn(hub.Dinov2Model(config))
    found = trace(model, {"pixel_values": torch.randn(1, 3, 8, 8)}, layer=0)
    assert (found.agrees, found.first, found.unmatched) == (True, None, ())


def hooked(model: Any, ids: list[int]) -> tuple[dict[str, Any], Any]:
    """Return what every module of a model gives, as a user's own hooks keep it."""
    seen: dict[str, Any] = {}

    def keep(name: str) -> Any:
        def hook(module: Any, given: Any, made: Any) -> None:
            for number, each in enumerate(made if isinstance(made, tuple) else (made,)):
                if torch.is_tensor(each):
                    seen[f"{name}.{number}" if number else name] = each

        return hook

    hooks = [each.register_forward_hook(keep(n)) for n, each in model.named_modules() if n]
    with torch.no_grad():
        out = model(torch.tensor([ids]), output_attentions=True)
    for each in hooks:
        each.remove()
    return seen, out


@pytest.mark.slow
@pytest.mark.parametrize("name", ["GPTNeoX", "Llama", "Bert"])
def test_a_dump_of_all_modules_of_a_model_is_compared(name: str) -> None:
    hub = pytest.importorskip("transformers")
    config = getattr(hub, f"{name}Config")(**SMALL | {"num_attention_heads": 2})
    config._attn_implementation = "eager"
    kind = "ForMaskedLM" if name == "Bert" else "ForCausalLM"
    model = redrawn(getattr(hub, f"{name}{kind}")(config))
    model.eval()
    ids = [3, 7, 1, 9, 2]
    solution = solve(open_model(model, tokens=ids, layer=1))
    seen, out = hooked(model, ids)
    right = check(solution, seen)
    assert (right.is_done, right.answer.unread) == (True, ())
    assert len(right.steps) > 9
    weights = out.attentions[1].clone()
    weights[0, 1] = weights[0, 1].flip(-1)
    wrong = check(solution, {"attn_weights": weights})  # a batch of one, not one of heads
    assert "All differences are in head 2." in str(wrong)
    parts = {"GPTNeoX": "attention.dense", "Llama": "self_attn.o_proj"}
    end = f"1.{parts.get(name, 'attention.output.dense')}"
    (module,) = [each for n, each in model.named_modules() if n.endswith(end)]
    module.register_forward_hook(lambda module, given, made: made + 0.1)
    wrong = check(solution, {n: each for n, each in hooked(model, ids)[0].items() if ".1." in n})
    assert wrong.first_wrong.marks.step.name == "O"
    # the output of the activation, before a gate, is no wrong G
    assert [each.step.name for each in wrong.steps if each.causes and each.step.name == "G"] == []


@pytest.mark.slow
def test_a_mistake_after_a_projection_is_one_of_its_step() -> None:
    hub = pytest.importorskip("transformers")
    model = redrawn(hub.GPTNeoXForCausalLM(hub.GPTNeoXConfig(**SMALL | {"num_attention_heads": 2})))
    dense = model.gpt_neox.layers[0].attention.dense
    dense.register_forward_hook(lambda module, given, made: made * 1.5)
    found = trace(model, [3, 7, 1, 9], layer=0)
    assert (found.first.step, found.unmatched) == ("O", ())
    assert found.first.causes == ("every number is 1.5 times what it should be",)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["eager", "sdpa"])
def test_padding_on_the_left_is_no_mistake_and_hides_none(kind: str) -> None:
    """Queries of padding have no keys: transformers weighs all keys alike, attncalc with 0."""
    hub = pytest.importorskip("transformers")
    config = hub.LlamaConfig(**SMALL | {"num_attention_heads": 2}, attn_implementation=kind)
    model = redrawn(hub.LlamaForCausalLM(config))
    alone = {"input_ids": [3, 3, 7, 1, 9], "attention_mask": [0, 0, 1, 1, 1]}
    inputs = {name: [each] for name, each in alone.items()}
    assert trace(model, alone, layer=1).agrees
    found = trace(model, inputs, layer=1)
    assert (found.agrees, found.first, found.unmatched) == (True, None, ())
    assert "rows of queries without allowed keys are not compared" in str(found)
    model.model.layers[1].self_attn.o_proj.register_forward_hook(lambda m, given, made: made * 1.5)
    found = trace(model, inputs, layer=1)
    assert (found.first.step, found.first.differ) == ("O", 3 * 16)
    assert found.first.causes == ("every number is 1.5 times what it should be",)


MASKS_OF_A_TRACE = {
    "no score is masked": lambda causal, padded: causal & False,
    "keep is left out": lambda causal, padded: causal,
    "the causal mask is left out": lambda causal, padded: padded,
    "keep is inverted": lambda causal, padded: causal | ~padded,
}


@pytest.mark.parametrize("kind", ["eager", "sdpa"])
@pytest.mark.parametrize("cause", mostly_slow(list(MASKS_OF_A_TRACE), every=4))
def test_a_missing_mask_of_two_is_named(kind: str, cause: str) -> None:
    """Also where queries without keys are not compared."""
    hub = pytest.importorskip("transformers")
    config = hub.LlamaConfig(**SMALL | {"num_attention_heads": 2}, attn_implementation=kind)
    model = redrawn(hub.LlamaForCausalLM(config))
    keep = [0, 0, 1, 1, 0, 1]
    later, padded = torch.ones(6, 6).triu(1) > 0, (torch.tensor(keep) == 0).expand(6, 6)
    forbidden = MASKS_OF_A_TRACE[cause](later, padded)
    mask = torch.zeros(1, 1, 6, 6).masked_fill(forbidden, float("-inf"))

    def other(module: Any, args: Any, said: dict[str, Any]) -> Any:
        return args, said | {"attention_mask": mask}

    model.model.layers[1].self_attn.register_forward_pre_hook(other, with_kwargs=True)
    inputs = {"input_ids": [[3, 3, 7, 1, 9, 4]], "attention_mask": [keep]}
    assert cause in " ".join(trace(model, inputs, layer=1).first.causes)


@pytest.mark.slow
def test_masks_and_positions_of_other_forms_are_refused() -> None:
    hub = pytest.importorskip("transformers")
    model = redrawn(hub.LlamaForCausalLM(hub.LlamaConfig(**SMALL)))
    ids = {"input_ids": [[3, 7, 1, 9]]}
    later = torch.full((4, 4), float("-inf")).triu(1)[None, None]
    with pytest.raises(InputError, match="attention_mask has 4 axes"):
        trace(model, {**ids, "attention_mask": later})
    assert trace(model, {**ids, "position_ids": [[2, 3, 4, 5]]}).agrees
    with pytest.raises(InputError, match="one token after another"):
        trace(model, {**ids, "position_ids": [[0, 0, 1, 2]]})


@pytest.mark.slow
def test_padding_of_a_decoder_is_read() -> None:
    hub = pytest.importorskip("transformers")
    sizes = {"d_model": 8, "vocab_size": 20, "max_position_embeddings": 16}
    sides = {
        f"{side}_{what}": 2
        for side in ("encoder", "decoder")
        for what in ("layers", "attention_heads")
    }
    model = redrawn(hub.BartForConditionalGeneration(hub.BartConfig(**sizes, **sides)))
    inputs = {"input_ids": [[3, 4, 5]], "decoder_input_ids": [[2, 8, 9, 4]]}
    of_decoder = {"decoder_attention_mask": [[0, 1, 1, 0]]}
    for masks in (of_decoder, {**of_decoder, "attention_mask": [[1, 1, 0]]}):
        found = trace(model, {**inputs, **masks})
        assert (found.agrees, found.unmatched) == (True, ())


@pytest.mark.slow
def test_embedded_tokens_are_an_input() -> None:
    hub = pytest.importorskip("transformers")
    model = redrawn(hub.LlamaForCausalLM(hub.LlamaConfig(**SMALL)))
    embedded = torch.randn(2, 5, 16, generator=torch.manual_seed(3))
    found = trace(model, {"inputs_embeds": embedded}, layer=0)
    assert found.agrees
    assert np.array_equal(found.problem.X, embedded[0].numpy())


@pytest.mark.slow
@pytest.mark.parametrize("form", [torch.tensor, lambda lists: lists])
def test_a_padded_batch_of_any_form_says_which_row_is_traced(form: Any) -> None:
    hub = pytest.importorskip("transformers")
    model = redrawn(hub.LlamaForCausalLM(hub.LlamaConfig(**SMALL)))
    ids, mask = form([[3, 7, 5, 0], [4, 5, 6, 7]]), form([[1, 1, 1, 0], [1, 1, 1, 1]])
    inputs = [{"input_ids": ids, "attention_mask": mask}, ids, (ids,)]
    for given in (*inputs, {"input_ids": ids, "attention_mask": None}):
        found = trace(model, given)
        assert found.agrees
        assert "of 2 sequences in the batch, the first alone" in found.problem.remarks
        assert len(found.problem.X) == 4
    assert trace(model, inputs[0]).problem.keep.tolist() == [[1, 1, 1, 0]]
    with pytest.raises(InputError, match="the sequences of a batch differ in length: pad them"):
        trace(model, [[3, 7], [5]])
