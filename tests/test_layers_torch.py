"""Layers against PyTorch in float64: encoder and decoder layers, normalizations, activations."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attncalc import InputError, Problem, read_problem, solve

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

NEAR = 1e-10
D, FF, HEADS, N, M = 8, 12, 2, 5, 4
NORMS = ("post", "pre")
TORCH = {
    "relu": torch.nn.functional.relu,
    "gelu": torch.nn.functional.gelu,
    "gelu-tanh": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
    "gelu-quick": lambda x: x * torch.sigmoid(1.702 * x),
    "silu": torch.nn.functional.silu,
}


def spread_out(module: Any, seed: int) -> Any:
    """Give every parameter of a module a value of its own: gains of 1 and biases of 0 hide much."""
    torch.manual_seed(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.7)
    return module.double().eval()


def tokens(count: int, seed: int) -> Any:
    return torch.randn(count, D, dtype=torch.float64, generator=torch.manual_seed(seed))


def attention_of(layer: Any) -> dict[str, Any]:
    """Return the fields of a MultiheadAttention."""
    weights, biases = layer.in_proj_weight.chunk(3), layer.in_proj_bias.chunk(3)
    return {
        **{f"W_{name}": W.T for name, W in zip("QKV", weights, strict=True)},
        **{f"b_{name}": b for name, b in zip("QKV", biases, strict=True)},
        "W_O": layer.out_proj.weight.T,
        "b_O": layer.out_proj.bias,
        "heads": HEADS,
    }


def rest_of(layer: Any, norms: int) -> dict[str, Any]:
    """Return the fields of the feed-forward part and of the normalizations of a layer."""
    named = [(number, getattr(layer, f"norm{number}")) for number in range(1, norms + 1)]
    return {
        "W_1": layer.linear1.weight.T,
        "b_1": layer.linear1.bias,
        "W_2": layer.linear2.weight.T,
        "b_2": layer.linear2.bias,
        **{f"gamma_{number}": norm.weight for number, norm in named},
        **{f"beta_{number}": norm.bias for number, norm in named},
    }


def encoder_layer(norm: str, activation: str = "relu", seed: int = 0) -> Any:
    layer = torch.nn.TransformerEncoderLayer(
        D, HEADS, FF, 0.0, TORCH[activation], norm_first=norm == "pre"
    )
    return spread_out(layer, seed)


def encoder_fields(layer: Any, norm: str, activation: str = "relu") -> dict[str, Any]:
    attention = attention_of(layer.self_attn)
    return attention | rest_of(layer, 2) | {"norm": norm, "activation": activation}


def assert_near(ours: np.ndarray, theirs: Any) -> None:
    np.testing.assert_allclose(ours, theirs.detach().numpy(), atol=NEAR, rtol=NEAR)


@pytest.mark.parametrize("activation", TORCH)
@pytest.mark.parametrize("norm", NORMS)
def test_an_encoder_layer_is_that_of_pytorch(norm: str, activation: str) -> None:
    layer, X = encoder_layer(norm, activation), tokens(N, 1)
    solution = solve(Problem(X=X, **encoder_fields(layer, norm, activation)))
    assert_near(solution["Y"], layer(X[:, None])[:, 0])


@pytest.mark.parametrize("norm", NORMS)
def test_an_encoder_of_layers_with_a_mask_is_that_of_pytorch(norm: str) -> None:
    layers = [encoder_layer(norm, seed=seed) for seed in range(3)]
    ignore = torch.rand(N, N, generator=torch.manual_seed(4)) > 0.7
    ignore.fill_diagonal_(False)
    X = tokens(N, 2)
    fields = [encoder_fields(each, norm) | {"ignore": ignore} for each in layers]
    end = spread_out(torch.nn.LayerNorm(D), 9)
    expected = X[:, None]
    for layer in layers:
        expected = layer(expected, src_mask=ignore)
    own = solve(
        Problem(X=X, block="encoder", layers=fields, gamma_out=end.weight, beta_out=end.bias)
    )
    assert_near(own["Y"], end(expected)[:, 0])


@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("norm", NORMS)
def test_a_decoder_layer_is_that_of_pytorch(norm: str, activation: str) -> None:
    made = torch.nn.TransformerDecoderLayer(
        D, HEADS, FF, 0.0, TORCH[activation], norm_first=norm == "pre"
    )
    layer = spread_out(made, 5)
    X1, X2 = tokens(N, 6), tokens(M, 7)
    problem = Problem(
        X1=X1,
        X2=X2,
        self=attention_of(layer.self_attn),
        cross=attention_of(layer.multihead_attn),
        norm=norm,
        activation=activation,
        **rest_of(layer, 3),
    )
    causal = torch.nn.Transformer.generate_square_subsequent_mask(N, dtype=torch.float64)
    expected = layer(X1[:, None], X2[:, None], tgt_mask=causal, tgt_is_causal=True)
    assert_near(solve(problem)["Y"], expected[:, 0])


@pytest.mark.parametrize("kind", ["layer", "rms"])
def test_a_single_normalisation_equals_pytorch(kind: str) -> None:
    module = torch.nn.LayerNorm(D) if kind == "layer" else torch.nn.RMSNorm(D, eps=1e-5)
    norm = spread_out(module, 8)
    fields: dict[str, Any] = {"gamma_1": norm.weight, "normalization": kind}
    if kind == "layer":
        fields["beta_1"] = norm.bias
    X = tokens(N, 9)
    assert_near(solve(Problem(X=X, **fields))["Y"], norm(X))


@pytest.mark.parametrize("activation", TORCH)
def test_a_gated_feed_forward_part_is_that_of_pytorch(activation: str) -> None:
    X, W_1, W_3 = tokens(N, 10), tokens(D, 11), tokens(D, 12)
    W_2 = tokens(D, 13)
    fields = {"W_1": W_1, "W_3": W_3, "W_2": W_2, "norm": "none", "residual": False}
    own = solve(Problem(X=X, activation=activation, **fields))
    assert_near(own["Y"], (TORCH[activation](X @ W_1) * (X @ W_3)) @ W_2)


@pytest.mark.parametrize("activation", TORCH)
def test_an_activation_is_that_of_pytorch_far_from_0_too(activation: str) -> None:
    X = torch.tensor([[-40.0, -8, -3, -1, -0.5, 0, 0.5, 1, 3, 8, 40]], dtype=torch.float64)
    one = torch.eye(X.shape[1], dtype=torch.float64)
    own = solve(Problem(X=X, W_1=one, W_2=one, norm="none", residual=False, activation=activation))
    assert_near(own["G"], TORCH[activation](X))


@pytest.mark.parametrize("count", [0, 2])
@pytest.mark.parametrize("kind", ["encoder", "decoder"])
def test_a_state_dict_beside_its_tokens_is_read_unchanged(
    kind: str, count: int, tmp_path: Path
) -> None:
    is_encoder = kind == "encoder"
    of_kind = torch.nn.TransformerEncoderLayer if is_encoder else torch.nn.TransformerDecoderLayer
    module = of_kind(D, HEADS, FF, 0.0, norm_first=True)
    if count:
        stack = torch.nn.TransformerEncoder if is_encoder else torch.nn.TransformerDecoder
        more = {"enable_nested_tensor": False} if is_encoder else {}
        module = stack(module, count, torch.nn.LayerNorm(D), **more)
    layer, X1, X2 = spread_out(module, 3), tokens(N, 4), tokens(M, 5)
    state = {name: each.detach().numpy() for name, each in layer.state_dict().items()}
    given = {"X": X1.numpy()} if is_encoder else {"X1": X1.numpy(), "X2": X2.numpy()}
    np.savez(tmp_path / "layer.npz", num_heads=HEADS, **given, **state)
    own = solve(read_problem(tmp_path / "layer.npz", norm="pre"))
    if is_encoder:
        expected = layer(X1[:, None])
    else:
        causal = torch.nn.Transformer.generate_square_subsequent_mask(N, dtype=torch.float64)
        expected = layer(X1[:, None], X2[:, None], tgt_mask=causal, tgt_is_causal=True)
    assert_near(own["Y"], expected[:, 0])


def test_a_state_dict_without_heads_is_refused(tmp_path: Path) -> None:
    state = {name: each.detach().numpy() for name, each in encoder_layer("post").named_parameters()}
    np.savez(tmp_path / "layer.npz", X=tokens(N, 4).numpy(), **state)
    with pytest.raises(InputError, match="unknown number of heads"):
        read_problem(tmp_path / "layer.npz")
