"""Gradients against PyTorch's autograd in float64: every kind of attention, every part, mixed."""

from typing import Any

import numpy as np
import pytest
from conftest import some_of
from gradient_kinds import (
    FURTHER,
    Chance,
    Fields,
    kind_of_attention,
    kind_of_layers,
    posed,
)

from attncalc import Problem, Solution, solve
from attncalc import check as check_answer

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch==2.13.0")

from torch_forward import alone, layers  # noqa: E402 - it needs torch, which may be missing

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("single_threaded")]

NEAR = 1e-10


def in_torch(fields: Fields) -> tuple[Fields, dict[str, Any]]:
    """Return the fields as tensors, and those with requested gradients, by name."""
    leaves: dict[str, Any] = {}

    def turned(value: Any, name: str) -> Any:
        if isinstance(value, dict):
            behind = {key: "." if isinstance(each, dict) else "" for key, each in value.items()}
            return {key: turned(each, f"{name}{key}{behind[key]}") for key, each in value.items()}
        if isinstance(value, list):
            return [turned(each, f"{number}.") for number, each in enumerate(value, start=1)]
        if isinstance(value, np.ndarray):
            tensor = torch.from_numpy(value.copy())
            if tensor.dtype == torch.float64:
                leaves[name] = tensor.requires_grad_()
            return leaves.get(name, tensor)
        if name.rpartition(".")[2] in ("scale", "softcap"):
            return value if value in ("sqrt_dk", "none") else eval(value)
        return value

    return {key: turned(value, key if not isinstance(value, dict) else f"{key}.")
            for key, value in fields.items()}, leaves  # fmt: skip


def differentiated(fields: Fields, forward: Any) -> tuple[Fields, dict[str, Any]]:
    """Return what the gradients start with, as fields, and PyTorch's gradients by name."""
    tensors, leaves = in_torch(fields)
    output = forward(tensors)
    chance = Chance(fields["seed"] + 10**6)
    start: Fields = {"backward": True}
    if fields["start"] == "ones":
        loss = output.sum()
    elif fields["start"] == "dO":
        start["dO"] = chance.numbers(*output.shape)
        loss = (output * torch.from_numpy(start["dO"])).sum()
    elif fields["start"] == "target":
        start["target"] = chance.numbers(*output.shape)
        loss = ((output - torch.from_numpy(start["target"])) ** 2).sum() / 2
    else:
        ids = [chance.between(0, output.shape[1] - 1) for _ in range(len(output))]
        start["target_ids"] = ids
        loss = torch.nn.functional.cross_entropy(output, torch.tensor(ids), reduction="sum")
    loss.backward()
    found = {name: leaf.grad for name, leaf in leaves.items() if leaf.grad is not None}
    return start, {name: grad.numpy() for name, grad in found.items()}


def side_by_side(solution: Solution, name: str, shape: tuple[int, ...]) -> Any:
    """Return a gradient with its heads side by side, as the matrix was given."""
    found = solution.floats[name]
    if found.ndim == 3 and len(shape) == 2:
        found = np.concatenate(list(found), axis=-1)
    return found


def agree(fields: Fields, forward: Any) -> Solution:
    """Compare every gradient with autograd's."""
    start, expected = differentiated(fields, forward)
    solution = solve(posed(fields, **start))
    assert expected
    for name, gradient in expected.items():
        own = name.rpartition(".")[2]
        found = side_by_side(solution, f"{name.removesuffix(own)}d{own}", gradient.shape)
        gap = np.abs(found.reshape(gradient.shape) - gradient).max()
        assert gap <= NEAR * max(1.0, np.abs(gradient).max()), (name, found, gradient)
    return solution


@pytest.mark.campaign(2)
@pytest.mark.parametrize("seed", some_of(300))
def test_every_kind_of_attention_and_random_combinations(seed: int) -> None:
    agree(kind_of_attention(seed), alone)


@pytest.mark.parametrize("seed", some_of(24))
def test_scores_over_their_sum(seed: int) -> None:
    chance = Chance(seed)
    n, m, d = chance.between(1, 4), chance.between(2, 4), 3
    fields = {
        name: np.abs(chance.numbers(rows, d)) + 0.2 for name, rows in (("Q", n), ("K", m), ("V", m))
    }
    fields |= {"normalizer": "sum", "start": chance.one_of("ones", "dO", "target"), "seed": seed}
    if chance.some():
        fields["keep"] = chance.marks(n, m)
    agree(fields, alone)


def test_given_queries_keys_and_values_have_gradients() -> None:
    chance = Chance(5)
    fields = {
        "Q": chance.numbers(4, 3, 2),
        "K": chance.numbers(2, 5, 2),
        "V": chance.numbers(2, 5, 3),
    }
    agree(fields | {"kv_heads": 2, "start": "target", "seed": 5, "causal": True}, alone)


@pytest.mark.campaign(2)
@pytest.mark.parametrize("seed", some_of(200))
def test_every_part_of_layers_and_random_combinations(seed: int) -> None:
    agree(kind_of_layers(seed), layers)


def test_a_dump_of_autograd_is_marked_right_heads_and_layout_and_all() -> None:
    """As a program saves it: weights (out, in), heads side by side, under PyTorch's names."""
    torch.manual_seed(0)
    X = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    weights = {n: torch.randn(4, 4, dtype=torch.float64, requires_grad=True) for n in "QKV"}
    heads = (torch.stack((X @ W.T).chunk(2, dim=-1)) for W in weights.values())
    outputs = torch.nn.functional.scaled_dot_product_attention(*heads)
    torch.cat(list(outputs), dim=-1).sum().backward()
    given = {f"W_{name}": W.detach() for name, W in weights.items()} | {"X": X.detach()}
    solution = solve(Problem(**given, weights_layout="torch", heads=2, backward=True))
    dump = {f"W_{name}.grad": W.grad for name, W in weights.items()} | {"X.grad": X.grad}
    marking = check_answer(solution.problem, dump, atol=1e-10)
    assert {each.step.name for each in marking.steps} == {"dW_Q", "dW_K", "dW_V", "dX"}
    assert marking.is_right


def of_tokens(f: Fields) -> Any:
    """Return the outputs of an attention whose tokens are rows of a table."""
    return alone(f | {"X": f["W_E"][[each - f["first_id"] for each in f["ids"]]]})


def of_language(f: Fields) -> Any:
    """Return the logits of a decoder of one attention, its head tied to the table of its tokens."""
    X = f["W_E"][f["ids"]] + f["P"]
    Y = X + alone({n: f[n] for n in ("W_Q", "W_K", "W_V")} | {"X": normal(X), "causal": True})
    return Y @ f["W_E"].T + f["b_out"]


def normal(X: Any) -> Any:
    above = X - X.mean(dim=-1, keepdim=True)
    return above / ((above * above).mean(dim=-1, keepdim=True) + 1e-5).sqrt()


def of_types(f: Fields) -> Any:
    X = f["X"] + f["W_type"][f["type_ids"]]
    return normal(X + (X @ f["W_1"]).relu() @ f["W_2"])


def of_patches(f: Fields) -> Any:
    image = f["image"]
    patches = torch.stack([image[i : i + 2, j : j + 2].flatten() for i in (0, 2) for j in (0, 2)])
    X = torch.cat([f["class_token"].reshape(1, -1), patches @ f["E"]])
    return (X + alone(f | {"X": X}))[:1] @ f["W_out"]


def of_channels(f: Fields) -> Any:
    patches = torch.stack([f["image"][:, :, j : j + 2].flatten() for j in (0, 2)])
    X = patches @ f["E"]
    return X + (X @ f["W_1"]).relu() @ f["W_2"]


def of_a_head(f: Fields) -> Any:
    Y = normal(f["X"] + (f["X"] @ f["W_1"]).relu() @ f["W_2"])
    made = normal((Y @ f["W_pre"]).relu()) * f["gamma_pre"] + f["beta_pre"]
    return made @ f["W_out"]


OTHER_WAYS = {
    "ids": of_tokens,
    "a small model of language": of_language,
    "types": of_types,
    "patches": of_patches,
    "patches of channels": of_channels,
    "a head that is normalized": of_a_head,
}


@pytest.mark.campaign(4)
@pytest.mark.parametrize("start", ["ones", "dO", "target"])
@pytest.mark.parametrize("what", FURTHER)
def test_other_operations_can_be_differentiated(what: str, start: str) -> None:
    fields = FURTHER[what](Chance(len(what)))
    heads = fields.get("heads", 1)
    if heads > 1:
        fields["kv_heads"] = fields["W_K"].shape[1] * heads // fields["W_Q"].shape[1]
    bare = {"heads": 1} if not heads or heads == 1 else {}
    forward = OTHER_WAYS.get(what, with_bare_tokens)
    agree(fields | bare | {"start": start, "seed": len(what)}, forward)


def with_bare_tokens(f: Fields) -> Any:
    """Return the outputs of an attention whose tokens may be queries, keys and values."""
    if "W_Q" in f:
        return alone(f)
    own = {"Q": f["X1"][None], "K": f["X2"][None], "V": f["X2"][None]}
    return alone({n: each for n, each in f.items() if n not in ("X1", "X2")} | own)


def test_cross_entropy_of_a_tied_head() -> None:
    """As a small model of language is trained: both gradients of the table are added."""
    fields = FURTHER["a small model of language"](Chance(3)) | {"start": "ids", "seed": 3}
    agree(fields, of_language)
