"""Patches, embeddings and a whole Vision Transformer against PyTorch in float64."""

from typing import Any

import numpy as np
import pytest

from attncalc import Problem, solve

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

NEAR = 1e-10


def drawn(*shape: int, seed: int = 0) -> Any:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.manual_seed(seed))


def assert_near(ours: np.ndarray, theirs: Any) -> None:
    np.testing.assert_allclose(ours, theirs.detach().numpy(), atol=NEAR, rtol=NEAR)


@pytest.mark.parametrize(("channels", "p", "q"), [(1, 2, 2), (3, 4, 4), (2, 2, 3)])
def test_projected_patches_are_a_convolution_with_their_stride(
    channels: int, p: int, q: int
) -> None:
    image, d = drawn(channels, 3 * p, 4 * q, seed=p), 5
    convolution = torch.nn.Conv2d(channels, d, (p, q), stride=(p, q)).double()
    expected = convolution(image[None])[0].flatten(1).T
    E = convolution.weight.reshape(d, -1).T
    own = solve(Problem(image=image, patch=(p, q), E=E, b_E=convolution.bias))
    assert_near(own["X"], expected)
    assert_near(own["patches"], torch.nn.functional.unfold(image[None], (p, q), stride=(p, q))[0].T)
    stored = Problem(
        image=image,
        patch=(p, q),
        E=convolution.weight.reshape(d, -1),
        b_E=convolution.bias,
        weights_layout="torch",
    )
    assert_near(solve(stored)["X"], expected)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_vision_transformer_is_that_of_pytorch(norm: str) -> None:
    d, heads, p, classes = 8, 2, 4, 3
    torch.manual_seed(1)
    layers = [
        torch.nn.TransformerEncoderLayer(
            d, heads, 12, 0.0, torch.nn.functional.gelu, norm_first=norm == "pre"
        )
        .double()
        .eval()
        for _ in range(2)
    ]
    image, token, places = drawn(3, 8, 12, seed=2), drawn(1, d, seed=3), drawn(7, d, seed=4)
    convolution = torch.nn.Conv2d(3, d, p, stride=p).double()
    end = torch.nn.LayerNorm(d).double()
    hidden, head = torch.nn.Linear(d, 6).double(), torch.nn.Linear(6, classes).double()
    x = torch.cat([token, convolution(image[None])[0].flatten(1).T]) + places
    for layer in layers:
        x = layer(x[:, None])[:, 0]
    logits = head(torch.tanh(hidden(end(x)[0])))
    problem = Problem(
        image=image,
        patch=p,
        E=convolution.weight.reshape(d, -1),
        b_E=convolution.bias,
        class_token=token,
        P=places,
        layers=[fields_of(layer, heads) for layer in layers],
        norm=norm,
        activation="gelu",
        gamma_out=end.weight,
        beta_out=end.bias,
        W_pre=hidden.weight,
        b_pre=hidden.bias,
        W_out=head.weight,
        b_out=head.bias,
        weights_layout="torch",
    )
    own = solve(problem)
    assert_near(own["logits"][0], logits)
    assert_near(own["prob"][0], torch.softmax(logits, 0))


def fields_of(layer: Any, heads: int) -> dict[str, Any]:
    """Return the fields of an encoder layer, weights (out, in) as they are."""
    attention = layer.self_attn
    weights, biases = attention.in_proj_weight.chunk(3), attention.in_proj_bias.chunk(3)
    return {
        **{f"W_{name}": W for name, W in zip("QKV", weights, strict=True)},
        **{f"b_{name}": b for name, b in zip("QKV", biases, strict=True)},
        "W_O": attention.out_proj.weight,
        "b_O": attention.out_proj.bias,
        "heads": heads,
        **{f"W_{n}": getattr(layer, f"linear{n}").weight for n in (1, 2)},
        **{f"b_{n}": getattr(layer, f"linear{n}").bias for n in (1, 2)},
        **{f"gamma_{n}": getattr(layer, f"norm{n}").weight for n in (1, 2)},
        **{f"beta_{n}": getattr(layer, f"norm{n}").bias for n in (1, 2)},
    }


def test_embeddings_are_those_of_bert() -> None:
    """Rows of three tables are added, and normalized, as Devlin et al. (2019) have it."""
    tables = [torch.nn.Embedding(count, 6).double() for count in (11, 5, 2)]
    norm = torch.nn.LayerNorm(6, eps=1e-12).double()
    ids, types = torch.tensor([7, 0, 10, 7, 3]), torch.tensor([0, 0, 0, 1, 1])
    expected = norm(tables[0](ids) + tables[1](torch.arange(5)) + tables[2](types))
    own = solve(
        Problem(
            ids=ids,
            W_E=tables[0].weight,
            P=tables[1].weight,
            type_ids=types,
            W_type=tables[2].weight,
            gamma_E=norm.weight,
            beta_E=norm.bias,
            eps=1e-12,
        )
    )
    assert_near(own["N_E"], expected)


def test_a_tied_head_is_a_linear_layer_of_the_table() -> None:
    table, ids = torch.nn.Embedding(9, 4).double(), torch.tensor([8, 2, 2])
    own = solve(Problem(ids=ids, W_E=table.weight, tied=True, weights_layout="torch"))
    assert_near(own["logits"], torch.nn.functional.linear(table(ids), table.weight))
