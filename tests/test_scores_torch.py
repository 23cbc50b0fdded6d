"""Other scores and given scores against PyTorch in float64, from its own layers and functions."""

from typing import Any

import numpy as np
import pytest

from attncalc import Problem, solve

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch==2.13.0")

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("single_threaded")]

NEAR = {"rtol": 1e-10, "atol": 1e-10}


def attended(scores: Any, V: Any, mask: Any = None) -> Any:
    """Return what PyTorch makes of scores and values."""
    scores = scores if mask is None else scores.masked_fill(~mask, -torch.inf)
    return torch.softmax(scores, dim=-1) @ V


def solved(**fields: Any) -> Any:
    """Return the outputs and the scores of attncalc."""
    given = {
        name: each.detach().numpy() if torch.is_tensor(each) else each
        for name, each in fields.items()
    }
    solution = solve(Problem(**given))
    return solution["O"], solution["S"] if "S" not in given else None


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("heads", [1, 2])
def test_every_kind_equals_its_formula_in_pytorch(seed: int, heads: int) -> None:
    torch.manual_seed(seed)
    n, m, d_q, d_k, h = (int(each) for each in torch.randint(2, 7, (5,)))
    double: dict[str, Any] = {"dtype": torch.float64}
    Q, K = torch.randn(heads, n, d_q, **double), torch.randn(heads, m, d_k, **double)
    V, mask = torch.randn(heads, m, 3, **double), torch.rand(n, m) < 0.8
    mask[:, 0] = True
    own = {"Q": Q, "K": K, "V": V, "keep": mask, "combine": "mean"}
    bilinear = torch.nn.Bilinear(d_q, d_k, 1, bias=False, **double)
    pairs = [Q.unsqueeze(2).expand(-1, -1, m, -1), K.unsqueeze(1).expand(-1, n, -1, -1)]
    of_q, of_k = (torch.nn.Linear(width, h, bias=False, **double) for width in (d_q, d_k))
    joint, weigh = (
        torch.nn.Linear(d_q + d_k, h, **double),
        torch.nn.Linear(h, 1, bias=False, **double),
    )
    same = torch.randn(heads, m, d_q, **double)
    cases: list[tuple[dict[str, Any], Any]] = [
        (
            {"score": "general", "W_S": bilinear.weight[0]},
            bilinear(*(each.contiguous() for each in pairs)),
        ),
        (
            {"score": "additive", "W_Sq": of_q.weight, "W_Sk": of_k.weight, "v_S": weigh.weight},
            weigh(torch.tanh(of_q(pairs[0]) + of_k(pairs[1]))),
        ),
        (
            {"score": "concat", "W_S": joint.weight, "b_S": joint.bias, "v_S": weigh.weight},
            weigh(torch.tanh(joint(torch.cat(pairs, dim=-1)))),
        ),
        ({"score": "distance", "K": same}, (-(torch.cdist(Q, same) ** 2) / 2).unsqueeze(-1)),
    ]
    for fields, expected in cases:
        scores = expected.squeeze(-1).detach()
        found, S = solved(**(own | fields), weights_layout="torch")
        assert np.allclose(S, scores[0] if heads == 1 else scores, **NEAR), fields["score"]
        assert np.allclose(found, attended(scores, V, mask).mean(dim=0), **NEAR), fields["score"]
        given, _ = solved(S=scores, V=V, keep=mask, combine="mean")
        assert np.allclose(given, found, **NEAR)


def test_additive_scores_of_a_long_input_are_pytorchs() -> None:
    torch.manual_seed(1)
    double: dict[str, Any] = {"dtype": torch.float64}
    Q, K, V = (torch.randn(560, width, **double) for width in (4, 4, 3))
    v = torch.randn(1, 4, **double)
    found, _ = solved(Q=Q, K=K, V=V, score="additive", v_S=v, causal=True)
    scores = (torch.tanh(Q.unsqueeze(1) + K) @ v.T).squeeze(-1)
    causal = torch.ones(560, 560, dtype=torch.bool).tril()
    assert np.allclose(found, attended(scores, V, causal), **NEAR)
