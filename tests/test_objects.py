"""Problems from the objects of PyTorch and transformers, beside what these compute."""

import os
from typing import Any

import numpy as np
import pytest

from attncalc import InputError, Problem, from_module, layers, open_model, solve

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]
NEAR = 1e-6


def spread_out(module: Any) -> Any:
    """Return a module in float64 with random parameters, in evaluation mode."""
    torch.manual_seed(5)
    with torch.no_grad():
        for each in module.parameters():
            each.copy_(torch.randn_like(each) * 0.5 + (each.ndim == 1))
    return module.double().eval()


def tokens(rows: int, seed: int) -> Any:
    return torch.randn(1, rows, 8, generator=torch.manual_seed(seed)).double()


@pytest.mark.parametrize("bias", [True, False])
def test_an_attention_of_torch_is_a_problem(bias: bool) -> None:
    layer = spread_out(torch.nn.MultiheadAttention(8, 2, bias=bias, batch_first=True))
    X, X2 = tokens(3, 1), tokens(5, 2)
    for other in (None, X2):
        read = X if other is None else other
        expected, weights = layer(X, read, read, average_attn_weights=False)
        problem = from_module(layer, X[0], None if other is None else other[0])
        solution = solve(problem)
        assert np.abs(solution["A"] - weights[0].detach().numpy()).max() < NEAR
        assert np.abs(solution["O"] - expected[0].detach().numpy()).max() < NEAR


@pytest.mark.parametrize("batch_first", [True, False])
def test_the_batch_is_the_axis_that_torch_reads(batch_first: bool) -> None:
    layer = spread_out(torch.nn.MultiheadAttention(8, 2, batch_first=batch_first))
    X = tokens(3, 1) if batch_first else tokens(3, 1).transpose(0, 1)
    expected = layer(X, X, X)[0].reshape(3, 8)
    assert np.abs(solve(from_module(layer, X))["O"] - expected.detach().numpy()).max() < NEAR
    with pytest.raises(InputError, match=rf"a batch of 3, .*batch_first={batch_first}"):
        from_module(layer, X.transpose(0, 1))


def test_a_key_of_zeros_is_a_sink() -> None:
    attention = torch.nn.MultiheadAttention(8, 2, add_zero_attn=True, batch_first=True)
    decoder = torch.nn.TransformerDecoderLayer(8, 2, 16, batch_first=True)
    decoder.self_attn = attention
    spread_out(decoder)
    X, X2 = tokens(4, 3), tokens(3, 4)
    expected, weights = attention(X, X, X, average_attn_weights=False)
    solution = solve(Problem.from_module(attention, X[0]))
    assert np.abs(solution["A"] - weights[0, :, :, :-1].detach().numpy()).max() < NEAR
    assert np.abs(solution["O"] - expected[0].detach().numpy()).max() < NEAR
    made = solve(Problem.from_module(decoder, X[0], X2[0]))["Y"]
    assert np.abs(made - decoder(X, X2)[0].detach().numpy()).max() < NEAR


def _layer_with_learned_key() -> Any:
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16)
    layer.self_attn = torch.nn.MultiheadAttention(8, 2, add_bias_kv=True)
    return layer


@pytest.mark.parametrize("has_bias", [True, False])
def test_a_learned_key_and_value_are_those_of_one_more_token(has_bias: bool) -> None:
    """Of self-attention, and of cross-attention with keys and values of other widths."""
    said = {"add_bias_kv": True, "batch_first": True, "bias": has_bias}
    attention = spread_out(torch.nn.MultiheadAttention(8, 2, **said))
    X, K, V = tokens(4, 3), tokens(3, 4)[..., :6], tokens(3, 5)
    expected, weights = attention(X, X, X, average_attn_weights=False)
    solution = solve(from_module(attention, X[0]))
    assert "the last token of X2 is the learned key" in " ".join(solution.problem.remarks)
    assert np.abs(solution["A"] - weights[0].detach().numpy()).max() < NEAR
    assert np.abs(solution["O"] - expected[0].detach().numpy()).max() < NEAR
    crossed = spread_out(torch.nn.MultiheadAttention(8, 2, kdim=6, vdim=8, **said))
    expected, _ = crossed(X, K, V)
    found = solve(from_module(crossed, X[0], K[0], V[0]))["O"]
    assert np.abs(found - expected[0].detach().numpy()).max() < NEAR


@pytest.mark.slow
def test_logits_under_a_cap_are_those_of_the_package() -> None:
    """`logits` are capped in solve, why and layers, as in transformers."""
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    hub = pytest.importorskip("transformers")
    config = hub.Gemma2Config(**SMALL, head_dim=6, final_logit_softcapping=2.0)
    model, ids = spread_out(hub.Gemma2ForCausalLM(config)), [3, 7, 1, 9]
    with torch.no_grad():
        expected = model(torch.tensor([ids])).logits[0].numpy()
    solution = solve(open_model(model, tokens=ids))
    assert np.abs(solution["logits"] - expected[-1]).max() < NEAR
    assert np.abs(2 * np.tanh(solution["logits_uncapped"] / 2) - expected[-1]).max() < NEAR
    walk = layers(model, tokens=ids)
    assert abs(walk.why("logits[3,8]").value - expected[2, 8]) < NEAR
    raw = walk.why("logits_uncapped[3,8]").value
    assert abs(2 * np.tanh(raw / 2) - expected[2, 8]) < NEAR


@pytest.mark.parametrize("norm_first", [True, False])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_layers_of_torch_are_problems(norm_first: bool, activation: str) -> None:
    said = {"batch_first": True, "norm_first": norm_first, "activation": activation}
    X, memory = tokens(4, 3), tokens(3, 4)
    encoder = spread_out(torch.nn.TransformerEncoderLayer(8, 2, 16, **said))
    found = solve(from_module(encoder, X[0]))["Y"]
    assert np.abs(found - encoder(X)[0].detach().numpy()).max() < NEAR
    decoder = spread_out(torch.nn.TransformerDecoderLayer(8, 2, 16, **said))
    found = solve(from_module(decoder, X[0], memory[0], causal=True))["Y"]
    mask = torch.nn.Transformer.generate_square_subsequent_mask(4).double()
    expected = decoder(X, memory, tgt_mask=mask)
    assert np.abs(found - expected[0].detach().numpy()).max() < NEAR


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: torch.nn.Linear(2, 2), "Linear is not one of the modules read.*pass config="),
        (lambda: _layer_with_learned_key(), "add_bias_kv is supported for a MultiheadAttention"),
        (lambda: torch.nn.TransformerDecoderLayer(8, 2), "also reads X2"),
        (
            lambda: torch.nn.MultiheadAttention(8, 2, kdim=6, vdim=4),
            r"keys have 6 features, and values 4 \(kdim, vdim\): pass X2, \(m, 6\)",
        ),
        (
            lambda: torch.nn.TransformerEncoderLayer(8, 2, activation=torch.tanh),
            "the activation tanh is not one of those read",
        ),
    ],
)
def test_other_modules_are_refused(make: Any, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        from_module(make(), np.eye(8))


@pytest.mark.slow
def test_models_and_state_dicts_are_opened_without_a_folder() -> None:
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    transformers = pytest.importorskip("transformers")
    said = {"vocab_size": 30, "n_embd": 12, "n_layer": 2, "n_head": 3, "n_positions": 16}
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config(**said))
    model = spread_out(model).float()
    ids = [4, 8, 15]
    with torch.no_grad():
        expected = model(torch.tensor([ids])).logits[0, -1].numpy()
    for given, more in ((model, {}), (model.state_dict(), {"config": model.config})):
        found = solve(open_model(given, tokens=ids, **more))["logits"].ravel()
        assert np.abs(found - expected).max() < 1e-4
    with pytest.raises(InputError, match="needs its config"):
        open_model(model.state_dict(), tokens=ids)
    with pytest.raises(InputError, match="is not a model"):
        open_model(7, tokens=ids)


SMALL = {
    "vocab_size": 30,
    "hidden_size": 16,
    "intermediate_size": 20,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
}
LAYERS: dict[str, tuple[str, dict[str, Any], str]] = {
    "Llama": ("Llama", {**SMALL, "num_key_value_heads": 2}, "layers.1"),
    "an attention of Llama": ("Llama", SMALL, "layers.1.self_attn"),
    "Gemma 2 with a window": ("Gemma2", {**SMALL, "head_dim": 6, "sliding_window": 2}, "layers.0"),
    "Gemma 2 without": ("Gemma2", {**SMALL, "head_dim": 6, "sliding_window": 2}, "layers.1"),
    "GPT-2": ("GPT2", {"vocab_size": 30, "n_embd": 12, "n_layer": 2, "n_head": 3}, "h.1"),
    "an attention of GPT-2": (
        "GPT2",
        {"vocab_size": 30, "n_embd": 12, "n_layer": 2, "n_head": 3},
        "h.1.attn",
    ),
    "BERT": ("Bert", SMALL, "encoder.layer.1"),
    "Bloom": ("Bloom", {"vocab_size": 30, "hidden_size": 24, "n_layer": 2, "n_head": 6}, "h.1"),
    "MPT": ("Mpt", {"vocab_size": 30, "d_model": 24, "n_layers": 2, "n_heads": 6}, "blocks.1"),
    "GPT-NeoX": ("GPTNeoX", {**SMALL, "num_attention_heads": 2}, "layers.1"),
    "T5": (
        "T5Encoder",
        {"vocab_size": 30, "d_model": 12, "d_kv": 4, "d_ff": 20, "num_layers": 1, "num_heads": 3},
        "encoder.block.0.layer.0.SelfAttention",
    ),
}


def part_of(name: str, said: dict[str, Any], path: str) -> tuple[Any, Any]:
    """Return a tiny model of transformers with random parameters, and a module in it."""
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    hub = pytest.importorskip("transformers")
    config = getattr(hub, f"{name.removesuffix('Encoder')}Config")(**said)
    config._attn_implementation = "eager"
    model = spread_out(getattr(hub, f"{name}Model")(config))
    return model, model.get_submodule(path)


@pytest.mark.slow
@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_of_transformers_has_all_settings_of_its_family(name: str) -> None:
    model, layer = part_of(*LAYERS[name])
    seen: list[Any] = []

    def keep(module: Any, args: Any, named: Any, made: Any) -> None:
        seen.extend((args[0] if args else named["hidden_states"], made))

    layer.register_forward_hook(keep, with_kwargs=True)
    with torch.no_grad():
        model(torch.tensor([[3, 7, 1, 9, 2]]))
    X, made = seen
    expected = (made[0] if isinstance(made, tuple) else made).reshape(X.shape)[0].numpy()
    has_none = name in ("Bloom", "MPT")  # their layers hold no config
    solution = solve(from_module(layer, X[0], **{"config": model.config} if has_none else {}))
    last = "Y" if "Y" in [step.name for step in solution.plan] else "O"
    assert np.abs(solution[last] - expected).max() < NEAR * np.abs(expected).max()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "said", "path"),
    [
        ("Bart", {"d_model": 16, "decoder_layers": 1, "encoder_layers": 1}, "decoder.layers.0"),
        (
            "Bart",
            {"d_model": 16, "decoder_layers": 1, "encoder_layers": 1},
            "decoder.layers.0.self_attn",
        ),
        ("Bert", SMALL, "encoder.layer.0.attention"),
        ("Olmo", {**SMALL, "clip_qkv": 0.1, "pad_token_id": 0}, "layers.0.self_attn"),
        ("ModernBert", {**SMALL, "pad_token_id": 0}, "layers.1"),
    ],
)
def test_parts_that_do_not_tell_all_are_refused(name: str, said: dict[str, Any], path: str) -> None:
    _, layer = part_of(name, said, path)
    with pytest.raises(InputError, match="does not tell all it computes"):
        from_module(layer, np.eye(16))


def test_an_attention_alone_has_the_names_of_gpt_2() -> None:
    """And those of nanoGPT, whose feed-forward part has a c_proj, too."""
    module = torch.nn.Module()
    module.c_attn, module.c_proj = torch.nn.Linear(8, 24), torch.nn.Linear(8, 8)
    problem = from_module(module, np.eye(8), heads=2, causal=True)
    assert np.array_equal(problem.W_O, module.c_proj.weight.detach().numpy())
    assert problem.b_K is not None


def test_fields_that_no_problem_has_and_stacks_are_refused() -> None:
    attention = torch.nn.MultiheadAttention(8, 2)
    with pytest.raises(InputError, match=r'unknown name "attn_mask": write keep \(1 may attend'):
        from_module(attention, np.eye(8), attn_mask=np.eye(8))
    stack = torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(8, 2, 8), 2)
    with pytest.raises(InputError, match="is a stack of layers: pass one of them"):
        from_module(stack, np.eye(8))


def test_what_is_no_module_and_no_tokens_is_said() -> None:
    for other in ("hello", torch.nn.MultiheadAttention):
        with pytest.raises(InputError, match="not a PyTorch module"):
            from_module(other, np.eye(8))
    with pytest.raises(InputError, match="X is None"):
        from_module(torch.nn.MultiheadAttention(8, 2), None)


class QuickGELU(torch.nn.Module):
    """The activation of CLIP, as its first code writes it."""

    def forward(self, x: Any) -> Any:  # noqa: D102 - as PyTorch names it
        return x * torch.sigmoid(1.702 * x)


class GELU(torch.nn.Module):
    """An activation that may be exact, or by tanh."""


class T5LayerNorm(torch.nn.Module):
    """A normalization by the root mean square, in spite of its name."""

    def __init__(self) -> None:
        super().__init__()
        self.weight, self.eps = torch.nn.Parameter(torch.rand(8)), 1e-6


def feed_forward(activation: Any, norm: Any) -> Any:
    block = torch.nn.Module()
    block.q_proj, block.k_proj, block.v_proj, block.o_proj = (
        torch.nn.Linear(8, 8) for _ in range(4)
    )
    block.ln1, block.ln2 = norm(), norm()
    block.fc1, block.act, block.fc2 = torch.nn.Linear(8, 12), activation, torch.nn.Linear(12, 8)
    return block


def test_activations_and_normalizations_are_told_by_more_than_a_part_of_their_names() -> None:
    plain = lambda: torch.nn.LayerNorm(8)  # noqa: E731
    said = {"heads": 2, "norm": "pre"}
    kinds = {QuickGELU(): "gelu-quick", torch.nn.GELU(): "gelu", torch.nn.GELU("tanh"): "gelu-tanh"}
    for activation, kind in kinds.items():
        found = from_module(feed_forward(activation, plain), np.eye(8), **said)
        assert (found.activation, found.normalization) == (kind, "layer")
    with pytest.raises(InputError, match="its activation is unknown"):
        from_module(feed_forward(GELU(), plain), np.eye(8), **said)
    found = from_module(feed_forward(torch.nn.ReLU(), T5LayerNorm), np.eye(8), **said)
    assert found.normalization == "rms"
