"""Windows, biases by distance, sinks, normalized queries, against PyTorch in float64."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from attncalc import Problem, solve

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

NEAR = {"rtol": 0, "atol": 1e-10}
sdpa = torch.nn.functional.scaled_dot_product_attention
N, M, D = 6, 9, 4


def drawn(*shape: int, seed: int = 0) -> Any:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.manual_seed(seed))


def heads_of(count: int) -> dict[str, Any]:
    """Return Q, K and V of several heads."""
    sizes = {"Q": N, "K": M, "V": M}
    return {name: drawn(count, size, D, seed=size + len(name)) for name, size in sizes.items()}


def outputs(given: dict[str, Any], **fields: Any) -> np.ndarray:
    fields = {name: v.numpy() if isinstance(v, torch.Tensor) else v for name, v in fields.items()}
    return solve(Problem(**{name: each.numpy() for name, each in given.items()}, **fields))["O"]


def side_by_side(heads: Any) -> np.ndarray:
    return np.concatenate(list(heads.numpy()), axis=-1)


def distances(place: int) -> Any:
    """Return how far before each query each key lies."""
    return torch.arange(N)[:, None] + place - torch.arange(M)


@pytest.mark.parametrize("window", [1, 3, 20])
@pytest.mark.parametrize("alignment", ["top-left", "bottom-right"])
def test_windows_are_masks_of_sdpa(alignment: str, window: int) -> None:
    given = heads_of(3)
    far = distances(M - N if alignment == "bottom-right" else 0)
    expected = sdpa(**in_torch(given), attn_mask=(far >= 0) & (far < window))
    found = outputs(given, window=window, causal_alignment=alignment, causal=window == 3)
    assert np.allclose(found, side_by_side(expected), **NEAR)


def in_torch(given: dict[str, Any]) -> dict[str, Any]:
    return {"query": given["Q"], "key": given["K"], "value": given["V"]}


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("kind", ["rms", "layer"])
def test_queries_and_keys_are_normalised_head_by_head(kind: str, *, shared: bool) -> None:
    given = heads_of(3)
    gains = {name: drawn(1 if shared else 3, 1, D, seed=8 + ord(name)) for name in "QK"}
    ready = dict(given)
    for name in "QK":
        if kind == "rms":
            made = torch.nn.functional.rms_norm(given[name], (D,), eps=1e-6)
        else:
            made = torch.nn.functional.layer_norm(given[name], (D,), eps=1e-6)
        ready[name] = made * gains[name]
    fields = {"qk_norm": kind, "qk_eps": 1e-6}
    fields |= {f"gamma_{name}": gains[name].reshape(-1) for name in "QK"}
    expected = sdpa(**in_torch(ready))
    assert np.allclose(outputs(given, **fields), side_by_side(expected), **NEAR)


@pytest.mark.parametrize("scaling", ["llama3", "linear"])
def test_scaled_frequencies_are_those_of_transformers(scaling: str) -> None:
    transformers = pytest.importorskip("transformers")
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    from attncalc.equations.operations.angles import slowness_of

    said = {"rope_type": scaling, "factor": 8.0, "rope_theta": 500_000.0}
    if scaling == "llama3":
        said |= {"low_freq_factor": 1.0, "high_freq_factor": 4.0}
        said |= {"original_max_position_embeddings": 8192}
    config = transformers.LlamaConfig(head_dim=128, rope_parameters=said)
    theirs, _ = ROPE_INIT_FUNCTIONS[scaling](config, "cpu")
    given = {name: value for name, value in said.items() if name != "rope_theta"}
    weights = {name: np.eye(2) for name in ("X", "W_Q", "W_K", "W_V")}
    problem = Problem(**weights, positions="rope", rope_scaling=given)
    ours = 1 / problem.rope_scaling.slowed(slowness_of(np.empty(0), 128, Fraction(500_000)))[0]
    assert np.allclose(ours, theirs.numpy(), rtol=2e-6, atol=0)  # theirs are float32


@pytest.mark.parametrize("dims", [2, 4])
def test_given_frequencies_and_columns_rotate_like_complex_numbers(dims: int) -> None:
    given = heads_of(2)
    own = drawn(dims // 2, seed=3)
    turned = dict(given)
    for name in "QK":
        first = given[name][..., :dims].unflatten(-1, (-1, 2))
        angles = torch.arange(first.shape[-3], dtype=torch.float64)[:, None] * own
        turns = torch.polar(torch.ones_like(angles), angles)
        made = torch.view_as_complex(first.contiguous()) * turns
        rest = given[name][..., dims:]
        turned[name] = torch.cat([torch.view_as_real(made).flatten(-2), rest], dim=-1)
    fields = {"positions": "rope", "rope_pairing": "interleaved", "rope_dims": dims}
    found = outputs(given, rope_frequencies=own, **fields)
    assert np.allclose(found, side_by_side(sdpa(**in_torch(turned))), **NEAR)


def test_sinks_are_one_more_column_of_scores_that_is_dropped() -> None:
    """As OpenAI's gpt-oss computes it: the softmax is taken over scores and sink together."""
    given, sinks = heads_of(3), drawn(3, seed=4)
    scores = given["Q"] @ given["K"].mT / D**0.5
    beside = torch.cat([scores, sinks[:, None, None].expand(3, N, 1)], dim=-1)
    expected = torch.softmax(beside, dim=-1)[..., :-1] @ given["V"]
    assert np.allclose(outputs(given, sinks=sinks), side_by_side(expected), **NEAR)


@pytest.mark.parametrize("alignment", ["top-left", "bottom-right"])
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("heads", [1, 2, 3, 8])
def test_alibi_is_a_bias_of_sdpa(heads: int, alignment: str, *, causal: bool) -> None:
    given = heads_of(heads)
    far = distances(M - N if alignment == "bottom-right" else 0)
    below = 2 ** int(np.log2(heads))
    powers = [2 ** (-8 * (h + 1) / below) for h in range(below)]
    powers += [2 ** (-4 * (2 * h + 1) / below) for h in range(heads - below)]
    bias = -torch.tensor(powers, dtype=torch.float64)[:, None, None] * far.abs()
    if causal:
        bias = bias.masked_fill(far < 0, -torch.inf)
    expected = sdpa(**in_torch(given), attn_mask=bias)
    found = outputs(given, alibi=True, causal=causal, causal_alignment=alignment)
    assert np.allclose(found, side_by_side(expected), **NEAR)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(("buckets", "longest"), [(32, 128), (8, 6), (10, 20)])
def test_relative_biases_are_those_of_t5(buckets: int, longest: int, *, causal: bool) -> None:
    pytest.importorskip("transformers")
    from transformers.models.t5.modeling_t5 import T5Attention

    given, table = heads_of(3), drawn(buckets, 3, seed=7)
    bucket = T5Attention._relative_position_bucket(
        -distances(0), bidirectional=not causal, num_buckets=buckets, max_distance=longest
    )
    bias = table[bucket].permute(2, 0, 1)
    if causal:
        bias = bias.masked_fill(distances(0) < 0, -torch.inf)
    expected = sdpa(**in_torch(given), attn_mask=bias, scale=1.0)
    fields = {"rel_bias": table, "rel_max_distance": longest, "scale": "none", "causal": causal}
    assert np.allclose(outputs(given, **fields), side_by_side(expected), **NEAR)


@pytest.mark.parametrize("both_ways", [True, False])
def test_buckets_are_those_of_t5_far_beyond_the_last_one(*, both_ways: bool) -> None:
    """Where a distance begins a bucket, theirs may round the logarithm to either side of it."""
    pytest.importorskip("transformers")
    from transformers.models.t5.modeling_t5 import T5Attention

    from attncalc.equations.operations.distances import RelativeBias

    before = torch.arange(-400, 401)
    theirs = T5Attention._relative_position_bucket(-before, bidirectional=both_ways).numpy()
    ours = RelativeBias(both_ways=both_ways).buckets_of(before.numpy())
    assert (ours == theirs).all(), before.numpy()[ours != theirs]
