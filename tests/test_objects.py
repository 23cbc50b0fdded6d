"""Problems from the objects of PyTorch and transformers, beside what these compute."""

import os
from typing import Any

import numpy as np
import pytest

from attncalc import InputError, from_module, open_model, solve

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
        (lambda: torch.nn.Linear(2, 2), "Linear is not one of the modules read"),
        (lambda: torch.nn.MultiheadAttention(8, 2, add_zero_attn=True), "add_zero_attn"),
        (lambda: torch.nn.TransformerDecoderLayer(8, 2), "also reads X2"),
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
