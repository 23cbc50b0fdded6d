"""Problems made of equations of papers, against PyTorch implementations written from the papers.

Each implementation names its steps as the sample does, and passes each through `r`, which rounds
it or does not. The gradients are those of autograd.
"""

import json
import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from attncalc import check, solve
from attncalc.grading.rules import Status
from attncalc.problem.samples import GROUPS, Sample
from attncalc.reading import read_problem

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch==2.13.0")
F = torch.nn.functional

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("single_threaded")]

SAMPLES = {each.name: each for each in GROUPS["Equations of papers"]}
Rounding = Callable[[Any], Any]
Steps = dict[str, Any]
REFERENCES: dict[str, Callable[[Any, Rounding], Steps]] = {}


def reference(name: str) -> Callable[[Any], Any]:
    """Return a decorator that keeps a function as the implementation of a sample."""

    def kept(function: Any) -> Any:
        REFERENCES[name] = function
        return function

    return kept


def of_tokens(g: Any, r: Rounding) -> tuple[Any, Any, Any]:
    return r(g.X @ g.W_Q), r(g.X @ g.W_K), r(g.X @ g.W_V)


def scaled(Q: Any, K: Any, r: Rounding) -> Any:
    return r(r(Q @ K.mT) / math.sqrt(Q.shape[-1]))


def causal(n: int) -> Any:
    return torch.ones(n, n, dtype=torch.bool).tril()


@reference("cosine")
def _(g: Any, r: Rounding) -> Steps:
    Q, K, V = of_tokens(g, r)
    S = r(F.cosine_similarity(Q[:, None], K[None], dim=-1) / g.tau)
    A = r(S.softmax(-1))
    return {"S": S, "A": A, "O": r(A @ V)}


def elu_features(g: Any, r: Rounding) -> tuple[Any, Any, Any]:
    Q, K, V = of_tokens(g, r)
    return r(F.elu(Q) + 1), r(F.elu(K) + 1), V


@reference("linear")
def _(g: Any, r: Rounding) -> Steps:
    phi_Q, phi_K, V = elu_features(g, r)
    memory = r(torch.einsum("ja,jc->ac", phi_K, V))
    return {"KV": memory, "O": r((phi_Q @ memory) / (phi_Q @ phi_K.sum(0))[:, None])}


@reference("linear-causal")
def _(g: Any, r: Rounding) -> Steps:
    phi_Q, phi_K, V = elu_features(g, r)
    S = r((phi_Q @ phi_K.mT).tril())
    A = r(S / S.sum(-1, keepdim=True))
    return {"A": A, "O": r(A @ V)}


@reference("linear-rnn")
def _(g: Any, r: Rounding) -> Steps:
    phi_Q, phi_K, V = elu_features(g, r)
    memory, norm, outputs = torch.zeros(2, 2), torch.zeros(2), []
    for q, k, v in zip(phi_Q, phi_K, V, strict=True):
        memory, norm = r(memory + torch.outer(k, v)), r(norm + k)
        outputs.append(r(q @ memory / (q @ norm)))
    return {"O": torch.stack(outputs)}


@reference("sigmoid")
def _(g: Any, r: Rounding) -> Steps:
    Q, K, V = of_tokens(g, r)
    A = r(torch.sigmoid(scaled(Q, K, r) - math.log(len(Q))))
    return {"A": A, "O": r(A @ V)}


@reference("differential")
def _(g: Any, r: Rounding) -> Steps:
    Q, K, V = of_tokens(g, r)
    Q_2, K_2 = r(g.X @ g.W_Q2), r(g.X @ g.W_K2)
    first, second = (r((q @ k.mT / math.sqrt(2)).softmax(-1)) for q, k in ((Q, K), (Q_2, K_2)))
    lam = r(torch.exp(g.l_q1 @ g.l_k1) - torch.exp(g.l_q2 @ g.l_k2) + g.l_init)
    A = r(first - lam * second)
    return {"lam": lam, "A_1": first, "A_2": second, "A": A, "O": r(A @ V)}


@reference("latent")
def _(g: Any, r: Rounding) -> Steps:
    def rotated(x: Any) -> Any:
        """Turn each pair of features as a complex number, by the place times its frequency."""
        pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2).contiguous())
        angles = torch.arange(x.shape[-2])[:, None] * g.theta
        turned = pairs * torch.polar(torch.ones_like(angles), angles)
        return torch.view_as_real(turned).reshape(x.shape)

    c_Q, c_KV = r(g.H @ g.W_CQ), r(g.H @ g.W_CKV)
    heads = len(g.W_UQ)
    q_C, k_C, v_C = ([r(c @ w[h]) for h in range(heads)] for c, w in
                     ((c_Q, g.W_UQ), (c_KV, g.W_UK), (c_KV, g.W_UV)))  # fmt: skip
    k_R = r(rotated(r(g.H @ g.W_RK)))
    outputs = []
    for h in range(heads):
        q = torch.cat([q_C[h], r(rotated(r(c_Q @ g.W_RQ[h])))], -1)
        k = torch.cat([k_C[h], k_R], -1)
        S = r((q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~causal(len(q)), -math.inf))
        outputs.append(r(r(S.softmax(-1)) @ v_C[h]))
    return {"O": torch.stack(outputs), "U": r(torch.cat(outputs, -1) @ g.W_O.flatten(0, 1))}


@reference("talking-heads")
def _(g: Any, r: Rounding) -> Steps:
    def of_heads(weights: Any) -> Any:
        return r(g.X @ weights).unflatten(-1, (2, -1)).transpose(0, 1)

    Q, K, V = of_heads(g.W_Q), of_heads(g.W_K), of_heads(g.W_V)
    logits = r(torch.einsum("gij,gh->hij", scaled(Q, K, r), g.P_L))
    A = r(torch.einsum("gij,gh->hij", r(logits.softmax(-1)), g.P_W))
    return {"A": A, "O": r(A @ V).transpose(0, 1).flatten(1)}


@reference("gaussian")
def _(g: Any, r: Rounding) -> Steps:
    Q, K, V = of_tokens(g, r)
    S = r(torch.exp(-(torch.cdist(Q, K) ** 2) / (2 * g.sigma**2)))
    A = r(S / S.sum(-1, keepdim=True))
    return {"S": S, "A": A, "O": r(A @ V)}


@reference("off-by-one")
def _(g: Any, r: Rounding) -> Steps:
    Q, K, V = of_tokens(g, r)
    with_zero = F.pad(scaled(Q, K, r), (0, 1))  # a key more, of score 0 and value 0
    A = r(with_zero.softmax(-1)[:, :-1])
    return {"A": A, "O": r(A @ V)}


@reference("top-k")
def _(g: Any, r: Rounding) -> Steps:
    Q, K, V = of_tokens(g, r)
    S = scaled(Q, K, r)
    kept = S.topk(int(g.top), -1).values[:, -1:] <= S  # ties for the last place are kept
    A = r(S.masked_fill(~kept, -math.inf).softmax(-1))
    return {"A": A, "O": r(A @ V)}


@reference("lightconv")
def _(g: Any, r: Rounding) -> Steps:
    kernel = r(g.W.softmax(-1))
    each = kernel.repeat_interleave(g.X.shape[1] // len(g.W), 0)[:, None]
    return {"O": r(F.conv1d(g.X.T[None], each, padding=1, groups=len(each))[0].T)}


@reference("gated-output")
def _(g: Any, r: Rounding) -> Steps:
    Q, K, V = of_tokens(g, r)
    outputs = r(r(scaled(Q, K, r).softmax(-1)) @ V)
    return {"O": outputs, "Y": r(outputs * r(torch.sigmoid(g.X @ g.W_G)))}


@reference("gated-delta")
def _(g: Any, r: Rounding) -> Steps:
    state, outputs = torch.zeros(2, 2), []  # values by keys, as the paper has it
    for q, k, v, alpha, beta in zip(g.Q, g.K, g.V, g.alpha, g.beta, strict=True):
        state = alpha * state @ (torch.eye(2) - beta * torch.outer(k, k)) + beta * torch.outer(v, k)
        state = r(state)
        outputs.append(r(state @ q))
    return {"O": torch.stack(outputs)}


@reference("gated-linear")
def _(g: Any, r: Rounding) -> Steps:
    Q, K, V = of_tokens(g, r)
    gates = r(torch.sigmoid(g.X @ g.W_G).sqrt())
    state, outputs = torch.zeros(2, 2), []
    for q, k, v, gate in zip(Q, K, V, gates, strict=True):
        state = r(torch.diag(gate) @ state + torch.outer(k, v))
        outputs.append(r(q @ state))
    return {"G": gates, "O": torch.stack(outputs)}


@reference("retention")
def _(g: Any, r: Rounding) -> Steps:
    Q, K, V = of_tokens(g, r)
    place = torch.arange(len(Q))
    distance = (place[:, None] - place).clamp(min=0)
    A = r((Q @ K.mT) * (g.gamma**distance).tril())
    return {"A": A, "O": r(A @ V)}


@reference("retention-rnn")
def _(g: Any, r: Rounding) -> Steps:
    Q, K, V = of_tokens(g, r)
    state, outputs = torch.zeros(2, 2), []
    for q, k, v in zip(Q, K, V, strict=True):
        state = r(g.gamma * state + torch.outer(k, v))
        outputs.append(r(q @ state))
    return {"O": torch.stack(outputs)}


@reference("mamba")
def _(g: Any, r: Rounding) -> Steps:
    delta = r(F.softplus(g.X @ g.W_delta + g.b_delta))
    B, C = r(g.X @ g.W_B), r(g.X @ g.W_C)
    A = -torch.exp(g.A_log)
    state, outputs = torch.zeros_like(A), []
    for x, step, b, c in zip(g.X, delta, B, C, strict=True):
        state = r(torch.exp(step[:, None] * A) * state + step[:, None] * b * x[:, None])
        outputs.append(r(state @ c + g.D * x))
    return {"Y": torch.stack(outputs)}


def gates(x: Any, h: Any, W: Any, U: Any, g: Any, names: str) -> list[Any]:
    """Return x W + h U + b for each gate; a bias that is not given is left out."""
    of = vars(g)
    return [
        x @ of[f"{W}_{n}"] + h @ of[f"{U}_{n}"] + of.get(f"b_{n}", torch.zeros(1, 2))[0]
        for n in names
    ]


def stacked(rows: list[tuple[Any, ...]], names: str) -> Steps:
    return {n: torch.stack(each) for n, each in zip(names, zip(*rows, strict=True), strict=True)}


@reference("lstm")
def _(g: Any, r: Rounding) -> Steps:
    h, c, rows = torch.zeros(2), torch.zeros(2), []
    for x in g.X:
        *sigmoids, last = gates(x, h, "W", "U", g, "fiog")
        f, i, o = (r(torch.sigmoid(each)) for each in sigmoids)
        candidate = r(torch.tanh(last))
        c = r(f * c + i * candidate)
        h = r(o * torch.tanh(c))
        rows.append((f, i, o, candidate, c, h))
    return stacked(rows, "fiogch")


@reference("gru")
def _(g: Any, r: Rounding) -> Steps:
    h, rows = torch.zeros(2), []
    for x in g.X:
        z, reset = (r(torch.sigmoid(each)) for each in gates(x, h, "W", "U", g, "zr"))
        candidate = r(torch.tanh(x @ g.W + (reset * h) @ g.U))
        h = r(z * h + (1 - z) * candidate)
        rows.append((z, reset, candidate, h))
    return stacked(rows, "zrgh")


@reference("slstm")
def _(g: Any, r: Rounding) -> Steps:
    h, c, w, rows = torch.zeros(2), torch.zeros(2), torch.zeros(2), []
    for x in g.X:
        z, i, f, o = gates(x, h, "W", "R", g, "zifo")
        z, i, f, o = r(z.tanh()), r(i.exp()), r(f.sigmoid()), r(o.sigmoid())
        c, w = r(f * c + i * z), r(f * w + i)
        h = r(o * c / w)
        rows.append((z, i, f, o, c, w, h))
    return stacked(rows, "zifocwh")


@reference("alignment")
def _(g: Any, r: Rounding) -> Steps:
    s, rows = torch.zeros(2), []
    for x in g.X:
        scores = r(torch.tanh(s @ g.W_a + g.H @ g.U_a) @ g.v_a[:, 0])
        A = r(scores.softmax(-1))
        c = r(A @ g.H)
        s = r(torch.tanh(x @ g.W + s @ g.U + c @ g.C))
        rows.append((scores, A, c, s))
    return stacked(rows, "SAcs")


@reference("min-gru")
def _(g: Any, r: Rounding) -> Steps:
    gates, candidates = r(torch.sigmoid(g.X @ g.W_z)), r(g.X @ g.W_h)
    state, outputs = torch.zeros(2), []
    for z, candidate in zip(gates, candidates, strict=True):
        state = r(torch.lerp(state, candidate, z))
        outputs.append(state)
    return {"h": torch.stack(outputs)}


@reference("mlstm")
def _(g: Any, r: Rounding) -> Steps:
    Q, K, V = of_tokens(g, r)
    enter, forget = r(torch.exp(g.X @ g.w_i + g.b_i)), r(torch.sigmoid(g.X @ g.w_f + g.b_f))
    leave = r(torch.sigmoid(g.X @ g.W_G + g.b_G))
    cell, norm, outputs = torch.zeros(2, 2), torch.zeros(2), []
    for q, k, v, i, f, o in zip(Q, K / math.sqrt(2), V, enter, forget, leave, strict=True):
        cell, norm = r(f * cell + i * torch.outer(v, k)), r(f * norm + i * k)
        outputs.append(r(o * (cell @ q) / (norm @ q).abs().clamp(min=1)))
    return {"O": torch.stack(outputs)}


@reference("aft-simple")
def _(g: Any, r: Rounding) -> Steps:
    return {"O": r(torch.sigmoid(g.Q) * (g.K.softmax(0) * g.V).sum(0))}


@reference("aft")
def _(g: Any, r: Rounding) -> Steps:
    weights = (g.K[None] + g.w[:, :, None]).softmax(1)
    return {"O": r(torch.sigmoid(g.Q) * (weights * g.V).sum(1))}


@reference("rwkv")
def _(g: Any, r: Rounding) -> Steps:
    above, below, means = torch.zeros(2), torch.zeros(2), []
    for k, v in zip(g.K, g.V, strict=True):
        bonus = torch.exp(g.u + k)
        means.append(r((above + bonus * v) / (below + bonus)))
        decay = torch.exp(-g.w)
        above, below = decay * above + torch.exp(k) * v, decay * below + torch.exp(k)
    return {"wkv": torch.stack(means), "Y": r(torch.sigmoid(g.R) * torch.stack(means))}


@reference("relative")
def _(g: Any, r: Rounding) -> Steps:
    Q, K, V = of_tokens(g, r)
    place = torch.arange(len(Q))
    clipped = (place - place[:, None]).clamp(-1, 1) + 1
    S = r(torch.einsum("ic,ijc->ij", Q, K + g.a_K[clipped]))
    A = r(r(S / math.sqrt(2)).softmax(-1))
    return {"S": S, "A": A, "O": r(torch.einsum("ij,ijc->ic", A, V + g.a_V[clipped]))}


@reference("forgetting")
def _(g: Any, r: Rounding) -> Steps:
    Q, K, V = of_tokens(g, r)
    gates = r(torch.sigmoid(g.X @ g.w_f + g.b_f))
    total = gates.log().cumsum(0)
    decay = r((total[:, None] - total).tril())
    scores = r(r(Q @ K.mT) / math.sqrt(2) + decay).masked_fill(~causal(len(Q)), -math.inf)
    A = r(scores.softmax(-1))
    return {"D": decay, "A": A, "O": r(A @ V)}


@reference("stick-breaking")
def _(g: Any, r: Rounding) -> Steps:
    Q, K, V = of_tokens(g, r)
    beta = r(torch.sigmoid(scaled(Q, K, r)))
    rows = []
    for i in range(len(Q)):
        left, row = torch.ones(()), [torch.zeros(())] * len(K)
        for j in reversed(range(i)):  # from the nearest key on
            row[j], left = beta[i, j] * left, left * (1 - beta[i, j])
        rows.append(torch.stack(row))
    A = r(torch.stack(rows))
    return {"A": A, "O": r(A @ V)}


@reference("hopfield")
def _(g: Any, r: Rounding) -> Steps:
    A = r((g.beta * g.R @ g.Y.T).softmax(-1))
    largest = r(g.Y.norm(dim=-1).max())
    energy = -torch.logsumexp(g.beta * g.R @ g.Y.T, -1) / g.beta + (g.R**2).sum(-1) / 2
    energy = r(energy + math.log(len(g.Y)) / g.beta + largest**2 / 2)
    return {"A": A, "E": energy, "Z": r(A @ g.Y)}


@reference("graph")
def _(g: Any, r: Rounding) -> Steps:
    H = r(g.X @ g.W)
    raw = r(torch.cat([H[:, None].expand(3, 3, 2), H[None].expand(3, 3, 2)], -1)
            @ torch.cat([g.a_1, g.a_2]))  # fmt: skip
    scores = r(F.leaky_relu(raw, 0.2)).masked_fill(g.N == 0, -math.inf)
    A = r(scores.softmax(-1))
    return {"A": A, "O": r(A @ H)}


@reference("linformer")
def _(g: Any, r: Rounding) -> Steps:
    Q, K, V = of_tokens(g, r)
    keys, values = r(g.E_K @ K), r(g.E_V @ V)
    P = r((Q @ keys.T / math.sqrt(2)).softmax(-1))
    return {"P": P, "O": r(P @ values)}


@reference("performer")
def _(g: Any, r: Rounding) -> Steps:
    def features(x: Any) -> Any:
        x = x / 2**0.25
        return r(torch.exp(x @ g.omega.T - (x**2).sum(-1, keepdim=True) / 2) / math.sqrt(3))

    Q, K, V = of_tokens(g, r)
    S = r(features(Q) @ features(K).T)
    A = r(S / S.sum(-1, keepdim=True))
    return {"S": S, "A": A, "O": r(A @ V)}


@reference("fnet")
def _(g: Any, r: Rounding) -> Steps:
    return {"Y": r(torch.fft.fft2(g.X).real)}


# -- what is asked of each ------------------------------------------------------------------------


def numbers_of(each: Sample) -> SimpleNamespace:
    """Return the numbers of a sample as tensors, as its file has them."""
    fields = json.loads(each.path.read_text(encoding="utf-8"))
    given = {n: v for n, v in fields.items() if isinstance(v, list | int | float) and n != "heads"}
    del given["equations"]
    tensors = {n: torch.tensor(v, dtype=torch.float64) for n, v in given.items()}
    return SimpleNamespace(**{n: t.requires_grad_() for n, t in tensors.items()})


def half_away(decimals: int) -> Rounding:
    power = 10**decimals
    return lambda x: x.sign() * ((x.abs() * power + 0.5 + 1e-9).floor() / power)


@pytest.fixture(autouse=True)
def _in_doubles() -> Any:
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


def test_every_sample_has_its_implementation() -> None:
    assert REFERENCES.keys() == SAMPLES.keys()
    assert len(SAMPLES) >= 20


@pytest.mark.campaign(2)
@pytest.mark.parametrize("rounding", ["display", "each-step"])
@pytest.mark.parametrize("name", REFERENCES)
def test_every_step_is_that_of_the_paper(name: str, rounding: str) -> None:
    solution = solve(read_problem(SAMPLES[name].path, rounding=rounding, decimals=3))
    r = half_away(3) if rounding == "each-step" else lambda x: x
    for step, expected in REFERENCES[name](numbers_of(SAMPLES[name]), r).items():
        found = torch.as_tensor(np.asarray(solution.carried[step], float))
        if step == "O" and found.ndim > expected.ndim:  # heads side by side
            found = found.transpose(0, 1).flatten(1)
        torch.testing.assert_close(found.reshape(expected.shape), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.campaign(4)
@pytest.mark.parametrize("name", REFERENCES)
def test_gradients_are_those_of_autograd(name: str) -> None:
    path = SAMPLES[name].path
    last = solve(read_problem(path)).plan[-1].name
    found = solve(read_problem(path, backward=True))
    names = {step.name for step in found.plan}
    given = numbers_of(SAMPLES[name])
    steps = REFERENCES[name](given, lambda x: x)
    steps[last].sum().backward()
    compared = 0
    for each, tensor in vars(given).items():
        if f"d{each}" in names:
            gradient = torch.zeros_like(tensor) if tensor.grad is None else tensor.grad
            made = torch.as_tensor(np.asarray(found[f"d{each}"], float)).reshape(tensor.shape)
            torch.testing.assert_close(made, gradient, rtol=1e-8, atol=1e-8)
            compared += 1
    assert compared


SLIPS = {
    "cosine": ("S", "/ tau", "* tau"),
    "linear": ("KV", "G[j,a] *", "2 * G[j,a] *"),
    "linear-causal": ("S", "j <= i", "j < i + 2"),
    "linear-rnn": ("M", "t > 0", "t > 1"),
    "sigmoid": ("A", "- log(n)", "+ log(n)"),
    "differential": ("A", "- lam", "+ lam"),
    "latent": ("K_R", "-sin", "sin"),
    "talking-heads": ("L", "P_L[g,h]", "P_L[h,g]"),
    "gaussian": ("S", "2 * sigma", "sigma"),
    "off-by-one": ("A", "1 + sum", "sum"),
    "top-k": ("S_top", "< top", "<= top"),
    "lightconv": ("O", "w[c * rows(W) // d, k]", "w[c * rows(W) // d, 2 - k]"),
    "gated-output": ("Y", "O[i,c] * G[i,c]", "O[i,c] + G[i,c]"),
    "gated-delta": ("M", "- beta[t]", "+ beta[t]"),
    "gated-linear": ("G", "** (1/2)", "** 2"),
    "retention": ("A", "i - j)", "i - j + 1)"),
    "retention-rnn": ("M", "gamma * ", "gamma ** 2 * "),
    "mamba": ("H", "exp(-delta", "exp(delta"),
    "lstm": ("c", "i[t,a] *", "f[t,a] *"),
    "gru": ("h", "(1 - ", "(2 - "),
    "slstm": ("w", "+ i[t,a]", "- i[t,a]"),
    "alignment": ("A", "softmax(S[i,k]", "softmax(2 * S[i,k]"),
    "min-gru": ("h", "(1 - z[t,c])", "z[t,c]"),
    "mlstm": ("O", "o[t,b] *", "2 * o[t,b] *"),
    "aft-simple": ("O", "sigmoid(Q[i,c])", "tanh(Q[i,c])"),
    "aft": ("O", "w[i,j]", "w[j,i]"),
    "rwkv": ("wkv", "t - 1 - i", "t - i"),
    "relative": ("S", "j - i", "i - j"),
    "forgetting": ("D", "l > j", "l >= j"),
    "stick-breaking": ("A", "k > j and", "k >= j and"),
    "hopfield": ("A", "beta * ", ""),
    "graph": ("S", "0.2", "0.5"),
    "linformer": ("P", "/ sqrt(d_k)", ""),
    "performer": ("G", "- sum", "+ sum"),
    "fnet": ("Y", "cos", "sin"),
}
"""For each sample the step of a planted mistake, and what is written there in its place."""


@pytest.mark.campaign(4)
@pytest.mark.parametrize("name", REFERENCES)
def test_a_planted_mistake_is_found_where_it_was_made(name: str) -> None:
    step, right, wrong = SLIPS[name]
    problem = read_problem(SAMPLES[name].path)
    (line,) = (each for each in problem.equations if each.startswith((f"{step}[", f"{step} ")))
    assert right in line
    # "cos" of "cosine" in a title is no mistake
    body, _, title = line.partition("#")
    slipped = solve(
        read_problem(SAMPLES[name].path, equations=[f"{body.replace(right, wrong)}#{title}"])
    )
    answer = {each.name: slipped.shown(each.name) for each in slipped.plan}
    marking = check(problem, answer)
    assert marking.first_wrong is not None
    assert marking.first_wrong.marks.step.name == step
    for marks in marking.steps:
        right_or_own = {"correct", "follows", "matches-key", "rounding"}
        found = {list(Status)[code].value for code in np.unique(marks.statuses)}
        assert marks.step.name == step or found <= right_or_own, (marks.step.name, found)
    assert check(problem, {n: solve(problem).shown(n) for n in answer}).is_right
