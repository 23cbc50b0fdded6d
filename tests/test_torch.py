"""PyTorch's own attention, in float64: the same numbers, to 1e-12."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attncalc import InputError, Problem, Solution, read_problem, solve
from attncalc import check as check_answer

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch==2.13.0")

pytestmark = [
    pytest.mark.campaign(2),
    pytest.mark.torch,
    pytest.mark.usefixtures("single_threaded"),
]

NEAR = {"rtol": 1e-12, "atol": 1e-12}
SEEDS = range(3)
sdpa = torch.nn.functional.scaled_dot_product_attention


class Given:
    """Random queries, keys and values of several heads, as PyTorch takes them."""

    def __init__(self, seed: int, heads: int = 1, kv_heads: int | None = None) -> None:
        self.chance = np.random.default_rng(seed)
        self.heads = heads
        self.n, self.m, self.d_k, self.d_v = (int(x) for x in self.chance.integers(1, 7, size=4))
        kv_heads = kv_heads or heads
        self.Q = self.numbers(heads, self.n, self.d_k)
        self.K = self.numbers(kv_heads, self.m, self.d_k)
        self.V = self.numbers(kv_heads, self.m, self.d_v)

    def numbers(self, *shape: int) -> Any:
        """Return random numbers of about 1."""
        return torch.from_numpy(self.chance.normal(size=shape))

    def marks(self, *shape: int) -> Any:
        """Return true in about two places of three, and somewhere in each row."""
        marked = self.chance.random(shape) < 2 / 3
        marked[..., 0] |= ~marked.any(axis=-1)
        return torch.from_numpy(marked)

    def solved(self, **conventions: Any) -> Solution:
        """Return attncalc's solution."""
        matrices = {"Q": self.Q[0] if self.heads == 1 else self.Q, "K": self.K, "V": self.V}
        return solve(Problem(**in_numpy(matrices | conventions)))


def in_numpy(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a problem with arrays for tensors."""
    return {k: v.numpy() if isinstance(v, torch.Tensor) else v for k, v in fields.items()}


def check(solution: Solution, expected: Any) -> None:
    """Compare with PyTorch's outputs of each head, side by side, with or without a batch of 1."""
    heads = expected.reshape(expected.shape[-3:]) if expected.ndim > 3 else expected
    found = solution["O"]
    together = np.concatenate(list(heads.detach().numpy()), axis=-1)
    assert found.dtype == np.float64
    assert np.allclose(found, together, **NEAR)


# -- scaled_dot_product_attention ----------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("heads", [1, 2, 5])
@pytest.mark.parametrize("batch", [(), (1,)])
def test_outputs_are_those_of_sdpa(batch: tuple[int, ...], heads: int, seed: int) -> None:
    g = Given(seed, heads)
    batched = (tensor.reshape(*batch, *tensor.shape) for tensor in (g.Q, g.K, g.V))
    check(g.solved(), sdpa(*batched))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("heads", [1, 3])
@pytest.mark.parametrize("shape", ["n m", "1 m", "heads n m"])
def test_sdpa_keeps_where_a_boolean_mask_is_true(shape: str, heads: int, seed: int) -> None:
    g = Given(seed, heads)
    keep = g.marks(*sizes(g, shape))
    check(g.solved(keep=keep), sdpa(g.Q, g.K, g.V, attn_mask=keep))
    check(g.solved(ignore=~keep), sdpa(g.Q, g.K, g.V, attn_mask=keep))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("heads", [1, 3])
@pytest.mark.parametrize("shape", ["n m", "1 m", "heads n m"])
def test_sdpa_adds_a_mask_of_numbers_to_the_scaled_scores(
    shape: str, heads: int, seed: int
) -> None:
    g = Given(seed, heads)
    bias = g.numbers(*sizes(g, shape))
    bias[~g.marks(*bias.shape)] = -torch.inf
    check(g.solved(bias=bias), sdpa(g.Q, g.K, g.V, attn_mask=bias))


def sizes(g: Given, shape: str) -> list[int]:
    """Return the shape that is named, in numbers."""
    return [1 if name == "1" else getattr(g, name) for name in shape.split()]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("heads", [1, 3])
def test_causal_sdpa_meets_at_the_top_left(heads: int, seed: int) -> None:
    g = Given(seed, heads)
    check(g.solved(causal=True), sdpa(g.Q, g.K, g.V, is_causal=True))


@pytest.mark.parametrize("seed", SEEDS)
def test_causal_from_the_bottom_right_is_pytorch_s_lower_right_bias(seed: int) -> None:
    g = Given(seed, 2)
    visible = torch.ones(g.n, g.m, dtype=torch.bool).tril(diagonal=g.m - g.n)
    solution = g.solved(causal=True, causal_alignment="bottom-right")
    check(solution, sdpa(g.Q, g.K, g.V, attn_mask=visible))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("heads", "kv_heads"), [(4, 2), (6, 2), (6, 3), (4, 1), (3, 3)])
def test_grouped_heads_serve_consecutive_heads_as_in_sdpa(
    heads: int, kv_heads: int, seed: int
) -> None:
    g = Given(seed, heads, kv_heads)
    check(g.solved(), sdpa(g.Q, g.K, g.V, enable_gqa=True))
    check(g.solved(causal=True), sdpa(g.Q, g.K, g.V, enable_gqa=True, is_causal=True))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("scale", [1.0, 0.125, 2.5])
def test_a_scale_is_a_factor_as_in_sdpa(scale: float, seed: int) -> None:
    g = Given(seed, 2)
    check(g.solved(scale=scale), sdpa(g.Q, g.K, g.V, scale=scale))


def test_a_fully_masked_row_is_0_as_in_sdpa() -> None:
    g = Given(0, 2)
    keep = g.marks(g.n, g.m)
    keep[-1] = False
    expected = sdpa(g.Q, g.K, g.V, attn_mask=keep)
    assert (expected[:, -1] == 0).all()
    check(g.solved(keep=keep), expected)


# -- MultiheadAttention --------------------------------------------------------------------------


class Layer:
    """A random layer of PyTorch, its tokens, and the same as a problem."""

    def __init__(self, seed: int, heads: int, *, bias: bool = True, **sizes: int) -> None:
        self.chance = np.random.default_rng(seed)
        torch.manual_seed(seed)
        self.heads = heads
        self.d = heads * int(self.chance.integers(1, 4))
        self.module = torch.nn.MultiheadAttention(
            self.d, heads, bias=bias, batch_first=True, dtype=torch.float64, **sizes
        )
        with torch.no_grad():
            for parameter in self.module.parameters():  # biases start at 0, and would go unseen
                parameter.copy_(self.numbers(*parameter.shape))
        self.n, self.m = (int(x) for x in self.chance.integers(2, 6, size=2))
        self.query = self.numbers(self.n, self.d)
        self.key = self.numbers(self.m, self.module.kdim)
        self.value = self.numbers(self.m, self.module.vdim)

    def numbers(self, *shape: int) -> Any:
        """Return random numbers of about 1/2."""
        return torch.from_numpy(self.chance.normal(size=shape) / 2)

    def attend_to_itself(self) -> "Layer":
        """Make it self-attention."""
        self.key = self.value = self.query
        self.m = self.n
        return self

    def marks(self, *shape: int) -> Any:
        """Return true (ignored) in about one place of three, and nowhere in the first column."""
        marked = self.chance.random(shape) < 1 / 3
        marked[..., 0] = False
        return torch.from_numpy(marked)

    def fields(self) -> dict[str, Any]:
        """Return the fields of the problem, from the layer's state dict."""
        state = self.module.state_dict()
        if "in_proj_weight" in state:
            W_Q, W_K, W_V = state["in_proj_weight"].chunk(3)
        else:
            W_Q, W_K, W_V = (state[f"{name}_proj_weight"] for name in "qkv")
        found = {"W_Q": W_Q, "W_K": W_K, "W_V": W_V, "W_O": state["out_proj.weight"]}
        if "in_proj_bias" in state:
            biases = (*state["in_proj_bias"].chunk(3), state["out_proj.bias"])
            found |= zip(("b_Q", "b_K", "b_V", "b_O"), biases, strict=True)
        if self.query is self.key:
            found["X"] = self.query
        else:
            found |= {"X1": self.query, "X2": self.key, "X3": self.value}
        return {**found, "heads": self.heads, "weights_layout": "torch"}

    def solved(self, **masks: Any) -> Solution:
        """Return attncalc's solution."""
        return solve(Problem(**in_numpy(self.fields() | masks)))

    def called(self, *, batched: bool = False, **masks: Any) -> tuple[Any, Any]:
        """Return the layer's outputs and each head's weights, without a batch dimension."""
        tokens = self.query, self.key, self.value
        if batched:
            tokens = tuple(x.unsqueeze(0) for x in tokens)
        with torch.no_grad():
            found = self.module(*tokens, need_weights=True, average_attn_weights=False, **masks)
        return tuple(x.squeeze(0) if batched else x for x in found)

    def check(self, solution: Solution, expected: tuple[Any, Any]) -> None:
        """Compare with the layer's outputs and each head's weights."""
        outputs, weights = (x.numpy() for x in expected)
        assert np.allclose(solution["O"], outputs, **NEAR)
        assert np.allclose(solution["A"].reshape(weights.shape), weights, **NEAR)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("heads", [1, 2, 4])
def test_self_attention_is_that_of_multihead_attention(heads: int, bias: bool, seed: int) -> None:
    layer = Layer(seed, heads, bias=bias).attend_to_itself()
    solution = layer.solved()
    layer.check(solution, layer.called())
    layer.check(solution, layer.called(batched=True))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("sizes", [{}, {"kdim": 3}, {"vdim": 5}, {"kdim": 2, "vdim": 3}])
@pytest.mark.parametrize("heads", [1, 3])
def test_cross_attention_is_that_of_multihead_attention(
    heads: int, sizes: dict[str, int], bias: bool, seed: int
) -> None:
    layer = Layer(seed, heads, bias=bias, **sizes)
    layer.check(layer.solved(), layer.called())


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("per_head", [False, True])
def test_multihead_attention_ignores_where_its_mask_is_true(per_head: bool, seed: int) -> None:
    layer = Layer(seed, 3)
    ignore = layer.marks(*([3] if per_head else []), layer.n, layer.m)
    solution = layer.solved(ignore=ignore)
    layer.check(solution, layer.called(attn_mask=ignore))


@pytest.mark.parametrize("seed", SEEDS)
def test_multihead_attention_adds_a_mask_of_numbers(seed: int) -> None:
    layer = Layer(seed, 2)
    bias = layer.numbers(layer.n, layer.m)
    bias[layer.marks(layer.n, layer.m)] = -torch.inf
    solution = layer.solved(bias=bias)
    layer.check(solution, layer.called(attn_mask=bias))


@pytest.mark.parametrize("seed", SEEDS)
def test_padding_of_keys_is_one_row_of_ignore(seed: int) -> None:
    layer = Layer(seed, 2)
    padding = layer.marks(layer.m)
    solution = layer.solved(ignore=padding)
    layer.check(solution, layer.called(key_padding_mask=padding))


@pytest.mark.parametrize("seed", SEEDS)
def test_key_padding_combines_with_a_causal_mask(seed: int) -> None:
    layer = Layer(seed, 2).attend_to_itself()
    padding = layer.marks(layer.m)
    later = torch.ones(layer.n, layer.n, dtype=torch.bool).triu(diagonal=1)
    solution = layer.solved(ignore=padding, causal=True)
    layer.check(solution, layer.called(key_padding_mask=padding, attn_mask=later))


# -- tensors -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("rounding", ["display", "each-step"])
def test_tensors_may_be_given_as_they_are(rounding: str, dtype: Any) -> None:
    g = Given(3, 2)
    tensors = {"Q": g.Q.to(dtype), "K": g.K.to(dtype), "V": g.V.to(dtype)}
    keep = g.marks(g.n, g.m)
    found = solve(Problem(**tensors, keep=keep, rounding=rounding))
    expected = solve(Problem(**in_numpy(tensors), keep=keep.numpy(), rounding=rounding))
    assert found["O"].dtype == expected["O"].dtype
    assert found["O"].tolist() == expected["O"].tolist()
    assert found.shown("O") == expected.shown("O")


def test_weights_that_need_gradients_are_accepted() -> None:
    linear = torch.nn.Linear(3, 2)
    W = linear.weight
    X = [[torch.tensor(1.0), W[0, 0], W[0, 1]]]
    problem = Problem(X=X, W_Q=W, W_K=list(W), W_V=[W], b_Q=linear.bias, weights_layout="torch")
    assert problem.X.tolist() == [[1.0, W[0, 0].item(), W[0, 1].item()]]
    assert problem.W_Q.tolist() == problem.W_V[0].tolist() == W.detach().tolist()
    assert problem.dtype == np.float32
    assert W.requires_grad
    with torch.no_grad():
        W[0, 0] += 1
    assert problem.W_Q[0, 0] != W[0, 0].item()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float8_e4m3fn", "int32", "uint8"])
def test_tensors_of_every_type_of_real_numbers_are_read_exactly(dtype: str) -> None:
    X = torch.tensor([[0.1, 2.0], [3.0, 4.5]]).to(getattr(torch, dtype))
    problem = Problem(X=X, W_Q=torch.eye(2), W_K=torch.eye(2), W_V=[torch.eye(2)])
    assert problem.X.dtype == np.float64
    assert problem.X.tolist() == X.double().tolist()


@pytest.mark.parametrize(
    "X",
    [
        torch.eye(2).to_sparse(),
        torch.empty(2, 2, device="meta"),
        torch.eye(2, dtype=torch.complex64),
        torch.eye(2, dtype=torch.bool),
    ],
)
def test_tensors_without_real_numbers_are_refused_for_a_person(X: Any) -> None:
    with pytest.raises(InputError, match=r"^X (cannot be read as an array|is not a matrix)"):
        Problem(X=X, W_Q=torch.eye(2), W_K=torch.eye(2), W_V=torch.eye(2))


def test_settings_may_be_tensors_of_one_number() -> None:
    weights = {"W_Q": torch.eye(2), "W_K": torch.eye(2), "W_V": torch.eye(2)}
    problem = Problem(
        X=torch.eye(2),
        **weights,
        heads=torch.tensor([2]),
        decimals=torch.tensor(3),
        scale=torch.tensor(0.1, requires_grad=True),
        causal=torch.tensor(True),
    )
    assert (problem.heads, problem.decimals, problem.causal) == (2, 3, True)
    assert problem.scale == Fraction(1, 10)


def test_an_answer_may_be_tensors_that_need_gradients() -> None:
    weights = {"W_Q": torch.eye(2), "W_K": torch.eye(2), "W_V": torch.eye(2)}
    problem = Problem(X=torch.eye(2), **weights)
    Q = torch.eye(2, requires_grad=True)
    assert check_answer(problem, {"Q": Q, "K": [Q[0], Q[1]]}).score.earned == 2


# -- a layer saved as .npz -----------------------------------------------------------------------


def saved(layer: Layer, path: Path, **tokens: Any) -> Path:
    """Save the layer's state dict beside its tokens."""
    state = {name: tensor.detach().numpy() for name, tensor in layer.module.state_dict().items()}
    tokens = tokens or {"query": layer.query, "key": layer.key, "value": layer.value}
    arrays = {name: np.asarray(tensor) for name, tensor in tokens.items()}
    np.savez(path, **arrays, num_heads=layer.heads, **state)
    return path


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("sizes", [{}, {"kdim": 3}, {"kdim": 2, "vdim": 3}])
@pytest.mark.parametrize("heads", [1, 2, 3])
def test_a_saved_layer_is_read_unchanged(
    tmp_path: Path, heads: int, sizes: dict[str, int], bias: bool
) -> None:
    layer = Layer(7, heads, bias=bias, **sizes)
    solution = solve(read_problem(saved(layer, tmp_path / "layer.npz")))
    layer.check(solution, layer.called())


@pytest.mark.parametrize("names", ["query", "X", "query key value", "query key"])
def test_a_saved_layer_may_attend_to_its_own_tokens(tmp_path: Path, names: str) -> None:
    layer = Layer(8, 2).attend_to_itself()
    tokens = dict.fromkeys(names.split(), layer.query)
    problem = read_problem(saved(layer, tmp_path / "layer.npz", **tokens))
    assert problem.kind == "self"
    layer.check(solve(problem), layer.called())


@pytest.mark.parametrize("names", ["query key", "query key value", "X1 X2"])
def test_a_saved_layer_may_read_keys_and_values_from_the_same_tokens(
    tmp_path: Path, names: str
) -> None:
    layer = Layer(9, 2)
    layer.value = layer.key
    tokens = dict(zip(names.split(), (layer.query, layer.key, layer.value), strict=False))
    problem = read_problem(saved(layer, tmp_path / "layer.npz", **tokens))
    assert problem.kind == "cross"
    layer.check(solve(problem), layer.called())


def test_a_saved_layer_of_float32_stays_float32(tmp_path: Path) -> None:
    layer = Layer(10, 2)
    expected = layer.called()
    layer.module.float()
    layer.query, layer.key, layer.value = (x.float() for x in (layer.query, layer.key, layer.value))
    solution = solve(read_problem(saved(layer, tmp_path / "layer.npz")))
    assert solution["O"].dtype == np.float32
    assert np.allclose(solution["O"], expected[0], rtol=1e-5, atol=1e-5)
