"""Derived gradients, beside exact differences, PyTorch and SymPy."""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from test_equations import CASES, CUBE, EPS, SLOPE

from attncalc import InputError
from attncalc.base.decimals import decimals_of
from attncalc.equations.derive import gradient, gradient_name, total, total_name
from attncalc.equations.evaluate import evaluate
from attncalc.equations.extents import extents
from attncalc.equations.library import equation, inputs_of, stated
from attncalc.equations.operation import Operation
from attncalc.equations.operations.normalising import HardMax
from attncalc.equations.tree import equation_source, parse

STEP = Decimal("1e-25")
HARD = ("HardMax",)


def odd_eighths(shape, seed, within=12):
    """Return odd numbers of eighths: not 0, where some functions turn."""
    rng = np.random.default_rng(seed)
    whole = 2 * rng.integers(-within, within, shape) + 1
    return decimals_of(np.asarray([Fraction(int(v), 8) for v in whole.flat], object).reshape(shape))


def normals(shape, seed):
    return np.random.default_rng(seed).normal(size=shape)


def weighed(made, seed=9):
    """Return a gradient of a result: random, and known from its shape."""
    return odd_eighths(made.shape, seed) if made.dtype == object else normals(made.shape, seed)


def gradient_value(equation, name, matrices, settings=None):
    """Return dL/d(input), in the input's shape, from `gradient_name` among the matrices."""
    derived = gradient(equation, name)
    if derived is None:
        return None
    known = dict(settings or {})
    inputs = {each: matrix for each, matrix in matrices.items() if each in equation.reads}
    runs = extents(equation, {each: matrix.shape for each, matrix in inputs.items()}, known)
    known |= {each: size for each, size in runs.items() if each not in equation.indices}
    held = dict(matrices)
    if equation.name not in held:
        held[equation.name] = evaluate(equation, inputs, settings)
    held[name] = _spread(held[name], derived, runs)
    if equation.recurs is not None:
        held[total_name(equation)] = evaluate(total(equation), held, known)
    return _fitted(evaluate(derived, held, known), matrices[name].shape)


def _spread(matrix, derived, runs):
    """Return a matrix with its broadcast sides repeated for their indices."""
    lead = matrix.ndim - len(derived.at)
    sides = [
        runs.get(index, 1) if side == 1 else side
        for index, side in zip(derived.at, matrix.shape[lead:], strict=True)
    ]
    return np.broadcast_to(matrix, (*matrix.shape[:lead], *sides))


def _fitted(made, shape):
    """Return a gradient in the shape of its input: summed over broadcast entries."""
    while made.ndim > len(shape):
        made = made.sum(axis=0)
    for axis, side in enumerate(shape):
        if side == 1 != made.shape[axis]:
            made = made.sum(axis=axis, keepdims=True)
        elif made.shape[axis] > side:  # beyond it, a condition excludes all reads
            made = np.take(made, range(side), axis=axis)
        elif made.shape[axis] < side:  # the rest is not read
            rest = list(made.shape)
            rest[axis] = side - made.shape[axis]
            made = np.concatenate([made, np.zeros(rest, int).astype(made.dtype)], axis=axis)
    return made


def slope(stated_, matrices, settings, name, arriving, way):
    """Return the slope of L = sum(arriving * result) in a direction, by central differences."""
    ends = []
    for step in (STEP, -STEP):
        made = evaluate(stated_, matrices | {name: matrices[name] + step * way}, settings)
        ends.append((arriving * made)[made != Decimal("-Infinity")].sum())
    return (ends[0] - ends[1]) / (2 * STEP)


def check_by_differences(stated_, matrices, settings=None):
    with localcontext() as context:
        context.prec = 70
        made = evaluate(stated_, matrices, settings)
        arriving = weighed(made)
        held = {**matrices, gradient_name(stated_): arriving}
        for name, matrix in matrices.items():
            got = gradient_value(stated_, name, held, settings)
            way = odd_eighths(matrix.shape, len(name))  # a wrong entry changes the slope in any
            expected = slope(stated_, matrices, settings, name, arriving, way)
            if got is None:
                assert not expected, name
                continue
            assert got.shape == matrix.shape
            gap = abs((got * way).sum() - expected)
            assert gap <= Decimal("1e-40"), (name, gap, equation_source(gradient(stated_, name)))


@pytest.mark.campaign(3)
@pytest.mark.parametrize(
    "case",
    [c for c in CASES if c[0] not in HARD],
    ids=lambda case: f"{case[0]}-{case[1]}-{case[4]}",
)
def test_a_derived_gradient_is_that_of_exact_differences(case):
    name, given, settings, _, shapes = case
    flags = frozenset(given.split())
    with localcontext() as context:
        context.prec = 70
        matrices = [odd_eighths(shape, seed) for seed, shape in enumerate(shapes)]
    named = dict(zip(inputs_of(name, flags), matrices, strict=True))
    check_by_differences(equation(name, flags), named, settings)


EXTRA = {
    "self similarity": ("S[i,j] = sum(X[i,c] * X[j,c] for c in d)", {"X": (3, 2)}, {}),
    "diagonal": ("t[i] = X[i,i] ** 3 + sum(X[i,j] for j in n)", {"X": (3, 3)}, {}),
    "shift": ("Y[i in n] = X[i] + (X[i - 1] if i > 0 else 0)", {"X": (4,)}, {}),
    "shift by a setting": (
        "Y[i in n] = X[i - s] if i - s >= 0 and i - s < n else 0", {"X": (4,)}, {"s": -1, "n": 4}
    ),
    "reversed": ("Y[i in n, c in d] = X[n - 1 - i,c] * W[c]", {"X": (4, 2), "W": (2,)}, {"n": 4}),
    "strided": (
        "Y[i in 3, c in d] = sum(X[i * 2 + r,c] * w[r] for r in k)",
        {"X": (7, 2), "w": (2,)},
        {"k": 2},
    ),
    "every second": ("Y[i in 3] = X[2 * i + 1] * X[2 * i]", {"X": (7,)}, {}),
    "convolution": (
        "Y[i in n, c in d] = sum(X[i - s,c] * w[s,c] if i - s >= 0 else 0 for s in k)",
        {"X": (5, 2), "w": (3, 2)},
        {},
    ),
    "window mean": (
        "Y[i in n] = sum(X[j] for j in n if j <= i and j > i - 2) / 2",
        {"X": (4,)},
        {"n": 4},
    ),
    "grouped, uneven": (
        "S[h in H, i in n] = sum(Q[h,i,c] * K[h // 2,i,c] for c in d)",
        {"Q": (3, 2, 2), "K": (2, 2, 2)},
        {},
    ),
    "patches": (
        "P[t in T, x in p * q] = image[t // across * p + x // q, t % across * q + x % q]",
        {"image": (4, 6)},
        {"T": 4, "p": 2, "q": 3, "across": 2},
    ),
    "patches of channels": (
        "P[t in T, x in C * p * q] = image[x // (p * q), t // across * p + x % (p * q) // q,"
        " t % across * q + x % q]",
        {"image": (2, 4, 4)},
        {"T": 4, "C": 2, "p": 2, "q": 2, "across": 2},
    ),
    "cosine": (
        "S[i in n, j in m] = sum(Q[i,c] * K[j,c] for c in d)"
        " / (sqrt(sum(Q[i,c] ** 2 for c in d)) * sqrt(sum(K[j,c] ** 2 for c in d)))",
        {"Q": (2, 3), "K": (3, 3)},
        {},
    ),
    "rotary": (
        "Y[i in n, j in d] = X[i,j] * cos(i / base ** (j % half)) - X[i,j + half]"
        " * sin(i / base ** (j % half)) if j < half else X[i,j] * cos(i / base ** (j % half))"
        " + X[i,j - half] * sin(i / base ** (j % half))",
        {"X": (3, 4)},
        {"base": 10, "half": 2},
    ),
    "part of a matrix": ("Y[i in n, a in 2] = X[i,a] * W[a]", {"X": (3, 4), "W": (4,)}, {}),
    "one attention": (
        "O[i in n, c in w] = sum(softmax(sum(Q[i,e] * K[k,e] for e in d) if k <= i else -inf"
        " for k in m)[j] * V[j,c] for j in m)",
        {"Q": (3, 2), "K": (3, 2), "V": (3, 2)},
        {},
    ),
    "softmax at one place": (
        "p[i in n] = log(softmax(X[i,k] for k in m)[m - 1])", {"X": (2, 3)}, {},
    ),
    "softmax of columns": ("A[i in n, j in m] = softmax(X[k,j] for k in n)[i]", {"X": (3, 2)}, {}),
    "two sinks": (
        "A[i in n, j in m] = softmax((X[i,k] for k in m), a[0], b[0])[j]",
        {"X": (2, 3), "a": (1,), "b": (1,)},
        {},
    ),
    "shares of powers": (
        "A[i in n, j in m] = share(exp(X[i,k]) if k <= i else -inf for k in m)[j]",
        {"X": (3, 3)},
        {},
    ),
    "share inside": (
        "O[i in n] = sum(share(X[i,k] ** 2 for k in m)[j] * V[j] for j in m)",
        {"X": (2, 3), "V": (3,)},
        {},
    ),
    "maximum": ("y[i in n] = max(X[i,j] for j in m) * max(X[i,0], X[i,1])", {"X": (3, 4)}, {}),
    "powers": ("y[i in n] = exp(X[i]) ** Z[i] + X[i] ** -1", {"X": (3,), "Z": (3,)}, {}),
    "functions": (
        "y[i in n] = abs(X[i]) + sin(X[i]) * cos(X[i]) + log(exp(X[i]) + 1) + sigmoid(X[i])"
        " + silu(X[i]) + gelu(X[i]) + relu(X[i]) + Phi(X[i]) * phi(X[i]) + min(X[i], 1 / 3)"
        " + erf(X[i]) - tanh(X[i])",
        {"X": (6,)},
        {},
    ),
    "linear attention": (
        "Z[i in n, b in w] = sum(sum(Q[i,a] * K[j,a] for a in d) * V[j,b] for j in n if j <= i)",
        {"Q": (3, 2), "K": (3, 2), "V": (3, 2)},
        {},
    ),
    "running sum": (
        "M[t in n, a in d] = exp(-g[t]) * (M[t - 1,a] if t > 0 else 0) + X[t,a] ** 2",
        {"g": (4,), "X": (4, 2)},
        {},
    ),
    "from the last": (
        "M[t in n] = X[t] * (M[t + 1] if t + 1 < n else 1) + X[t]",
        {"X": (4,)},
        {},
    ),
    "delta rule": (
        "M[t in n, a in d, b in w] = decay[t] * (M[t - 1,a,b] if t > 0 else 0) + beta[t]"
        " * Key[t,a] * (Val[t,b] - decay[t] * sum(Key[t,x] * (M[t - 1,x,b] if t > 0 else 0)"
        " for x in d))",
        {"decay": (3,), "beta": (3,), "Key": (3, 2), "Val": (3, 2)},
        {},
    ),
    "a row for all": ("Y[i in n, j in m] = X[i,j] * g[i,j] + b[i,j]",
                      {"X": (2, 3, 4), "g": (1, 4), "b": (3, 1)}, {}),
}  # fmt: skip


@pytest.mark.campaign(3)
@pytest.mark.parametrize("what", EXTRA)
def test_the_gradient_of_an_own_equation_is_that_of_exact_differences(what):
    text, shapes, settings = EXTRA[what]
    with localcontext() as context:
        context.prec = 70
        matrices = {
            name: odd_eighths(shape, seed, within=8)
            for seed, (name, shape) in enumerate(shapes.items())
        }
    check_by_differences(parse(text), matrices, settings)


# PyTorch

FLAT = {
    "d_k": 3,
    "factor": 0.25,
    "cap": 5,
    "eps": EPS,
    "ddof": 0,
    "half": 0.5,
    "cube": CUBE,
    "slope": SLOPE,
}
WINDOW = {"first": 1, "window": 2, "place": 1, "rate": 0.1}


def heads_of(Q, K):
    return K.repeat_interleave(Q.shape[0] // K.shape[0], 0)


def of_torch():
    """Return what each equation of the library is in PyTorch: what is given, shapes, function."""
    import torch
    from torch.nn import functional as F  # noqa: N812

    def tanh_scores(Q, K, v, b):
        return (v[0] * torch.tanh(Q[:, None] + K[None] + b[0])).sum(-1)

    def concat_scores(Q, K, W, v, b):
        both = torch.cat(
            [Q[:, None].expand(-1, len(K), -1), K[None].expand(len(Q), -1, -1)], dim=-1
        )
        return (v[0] * torch.tanh(both @ W + b[0])).sum(-1)

    def masked(S, bias):
        i, j = torch.arange(S.shape[0])[:, None], torch.arange(S.shape[1])
        return (S + bias).masked_fill((j > i) | (j < i - 1), -torch.inf)

    def with_sink(S, sink):
        S = torch.cat([S, sink.expand(*S.shape[:-1], 1)], -1)
        return torch.softmax(S, -1)[..., :-1]

    def normalised(X, mean, var, gain, bias):
        return gain * ((X - mean) / torch.sqrt(var + float(EPS))) + bias

    def beside_root(X, var):
        return X / (torch.sqrt(var) + float(EPS))

    def distances(S, slope):
        i, j = torch.arange(S.shape[0])[:, None], torch.arange(S.shape[1])
        return S - slope * (i + 1 - j).abs()

    one, two = [(3, 4)], [(3, 4), (3, 4)]
    return {
        "Project": ("b", [(3, 4), (4, 2), (1, 2)], lambda X, W, b: X @ W + b),
        "Project of heads": ("b", [(3, 4), (2, 4, 2), (2, 1, 2)], lambda X, W, b: X @ W + b),
        "ProjectTurned": ("b", [(3, 4), (2, 4), (1, 2)], lambda X, W, b: F.linear(X, W, b[0])),
        "Scores": ("", [(2, 3, 4), (2, 5, 4)], lambda Q, K: Q @ K.mT),
        "Scores of a key head": ("", [(2, 3, 4), (5, 4)], lambda Q, K: Q @ K.mT),
        "GroupedScores": ("", [(4, 3, 2), (2, 5, 2)], lambda Q, K: Q @ heads_of(Q, K).mT),
        "Weigh": ("", [(3, 5), (5, 2)], lambda A, V: A @ V),
        "GroupedWeigh": ("", [(4, 3, 5), (2, 5, 2)], lambda A, V: A @ heads_of(A, V)),
        "AdditiveScores": ("b", [(3, 2), (4, 2), (1, 2), (1, 2)], tanh_scores),
        "ConcatScores": ("b", [(3, 2), (4, 5), (7, 3), (1, 3), (1, 3)], concat_scores),
        "DistanceScores": ("", [(3, 2), (4, 2)], lambda Q, K: -((Q[:, None] - K) ** 2).sum(-1) / 2),
        "DivideBySqrt": ("", one, lambda X: X / 3**0.5),
        "Multiply": ("", one, lambda X: X * 0.25),
        "SoftCap": ("", one, lambda X: 5 * torch.tanh(X / 5)),
        "Mask": ("causal window bias", [(3, 4), (3, 4)], masked),
        "Alibi": ("", [(3, 4), (1, 1)], distances),
        "Softmax": ("", [(2, 3, 4)], lambda S: torch.softmax(S, -1)),
        "Softmax with sinks": ("sink", [(2, 3, 4), (2, 1, 1)], with_sink),
        "DivideBySum": ("", one, lambda S: S / S.sum(-1, keepdim=True)),
        "FeatureMean": ("", one, lambda X: X.mean(-1, keepdim=True)),
        "FeatureVariance": (
            "",
            [(3, 4), (3, 1)],
            lambda X, mu: ((X - mu) ** 2).mean(-1, keepdim=True),
        ),
        "FeatureSquares": ("", one, lambda X: (X**2).mean(-1, keepdim=True)),
        "Normalise": (
            "mean eps inside gain bias",
            [(3, 4), (3, 1), (3, 1), (1, 4), (1, 4)],
            normalised,
        ),
        "Normalise beside the root": ("eps", [(3, 4), (3, 1)], beside_root),
        "ReLU": ("", one, torch.relu),
        "GELU": ("", one, F.gelu),
        "GELUtanh": ("", one, lambda X: F.gelu(X, approximate="tanh")),
        "GELUquick": ("", one, lambda X: X * torch.sigmoid(1.702 * X)),
        "SiLU": ("", one, F.silu),
        "Tanh": ("", one, torch.tanh),
        "GatedReLU": ("", two, lambda X, G: torch.relu(X) * G),
        "GatedGELU": ("", two, lambda X, G: F.gelu(X) * G),
        "GatedSiLU": ("", two, lambda X, G: F.silu(X) * G),
        "Add": ("more1", [(3, 4), (1, 4), (3, 4)], lambda a, b, c: a + b + c),
        "Concat": ("", [(2, 3, 4)], lambda X: X.transpose(0, 1).reshape(3, 8)),
        "Mean": ("", [(2, 3, 4)], lambda X: X.mean(0)),
        "Stack": ("", [(2, 4), (3, 4)], lambda a, b: torch.cat([a, b])),
        "Same": ("", one, lambda X: X * 1),
        "TakeFirst": ("", one, lambda X: X[:1]),
        "TakeLast": ("", one, lambda X: X[-1:]),
        "TokenMean": ("", one, lambda X: X.mean(0, keepdim=True)),
        "HalfSquares": ("", two, lambda a, b: (((a - b) ** 2).sum() / 2)[None, None]),
        "Total": ("", one, lambda a: a.sum()[None, None]),
        "TotalProduct": ("", two, lambda a, G: (a * G).sum()[None, None]),
        "Difference": ("", two, lambda a, b: a - b),
        "Descend": ("", two, lambda W, G: W - 0.1 * G),
        "TransposedTimes": ("", [(3, 4), (3, 2)], lambda X, G: X.mT @ G),
        "TimesTransposed": ("", [(3, 4), (2, 4)], lambda G, W: G @ W.mT),
        "SoftmaxBack": ("", two, lambda A, dA: A * (dA - (A * dA).sum(-1, keepdim=True))),
    }


def check_by_torch(stated_, matrices, settings, function, whole=()):
    torch = pytest.importorskip("torch")
    leaves = {
        name: torch.tensor(matrix, requires_grad=name not in whole)
        for name, matrix in matrices.items()
    }
    made = function(*leaves.values())
    arriving = normals(tuple(made.shape), 9)
    is_finite = torch.isfinite(made)
    (made[is_finite] * torch.tensor(arriving)[is_finite]).sum().backward()
    assert np.allclose(evaluate(stated_, matrices, settings), made.detach().numpy(), atol=1e-12)
    held = {**matrices, gradient_name(stated_): arriving}
    for name, leaf in leaves.items():
        if name in whole:
            assert gradient_value(stated_, name, held, settings) is None
            continue
        got = gradient_value(stated_, name, held, settings)
        assert got.shape == matrices[name].shape
        assert np.abs(got - leaf.grad.numpy()).max() < 2e-13 * (1 + np.abs(got).max()), name


def test_every_gradient_of_the_library_is_that_of_pytorch():
    pytest.importorskip("torch")
    for what, (given, shapes, function) in of_torch().items():
        name, flags = what.split()[0], frozenset(given.split())
        inputs = inputs_of(name, flags)
        matrices = {
            each: normals(shape, seed)
            for seed, (each, shape) in enumerate(zip(inputs, shapes, strict=True))
        }
        if "var" in matrices:
            matrices["var"] = np.abs(matrices["var"])
        check_by_torch(equation(name, flags), matrices, FLAT | WINDOW, function)


def test_a_table_gets_the_gradients_of_the_tokens_that_look_it_up():
    matrices = {"ids": np.array([[3, 1, 3, 5]]), "table": normals((6, 3), 1)}
    check_by_torch(
        equation("Lookup"), matrices, {"first": 1}, lambda ids, table: table[ids[0] - 1],
        whole=("ids",),
    )  # fmt: skip


def test_the_gradients_of_long_attention_are_those_of_pytorch():
    torch = pytest.importorskip("torch")
    text = EXTRA["one attention"][0]
    shapes = {"Q": (40, 8), "K": (40, 8), "V": (40, 6)}
    matrices = {name: normals(each, seed) / 2 for seed, (name, each) in enumerate(shapes.items())}

    def attention(Q, K, V):
        mask = torch.ones(40, 40).triu(1).bool()
        return torch.softmax((Q @ K.mT).masked_fill(mask, -torch.inf), -1) @ V

    check_by_torch(parse(text), matrices, {}, attention)


def test_the_gradients_of_a_gated_delta_rule_are_those_of_pytorch():
    torch = pytest.importorskip("torch")
    shapes = {"decay": (6,), "beta": (6,), "Key": (6, 3), "Val": (6, 2)}
    matrices = {name: normals(each, seed) / 2 for seed, (name, each) in enumerate(shapes.items())}

    def delta(decay, beta, Key, Val):
        state, rows = torch.zeros(3, 2, dtype=torch.float64), []
        for t in range(6):
            state = decay[t] * state
            state = state + torch.outer(beta[t] * Key[t], Val[t] - Key[t] @ state)
            rows.append(state)
        return torch.stack(rows)

    check_by_torch(parse(EXTRA["delta rule"][0]), matrices, {}, delta)


def test_a_gradient_of_huge_scores_does_not_overflow():
    X = np.array([[-800.0, 800.0, -1e4, 0.5]])
    held = {"X": X, "dY": np.ones_like(X)}
    for name in ("SiLU", "GELU", "Tanh", "ReLU"):
        got = gradient_value(equation(name), "X", held)
        assert np.isfinite(got).all()
        assert got[0, :3] == pytest.approx([0, 1, 0] if name != "Tanh" else [0, 0, 0])


# the forms that are taught, and what has no gradient


def test_the_taught_gradient_of_a_softmax_is_the_derived_one():
    derived = gradient(equation("Softmax"), "S")
    taught = equation("SoftmaxBack")
    assert equation_source(derived) == (
        "dS[i in n, j in m] = A[i,j] * (dA[i,j] - sum(A[i,t] * dA[i,t] for t in m))"
    )
    matrices = {"A": normals((3, 4), 1), "dA": normals((3, 4), 2), "S": normals((3, 4), 3)}
    assert np.allclose(evaluate(taught, matrices), evaluate(derived, matrices), atol=1e-15)


@pytest.mark.parametrize(
    ("name", "given", "to", "text"),
    [
        ("Scores", "", "Q", "dQ[i in n, c in d] = sum(dS[i,j] * K[j,c] for j in m)"),
        ("Scores", "", "K", "dK[j in m, c in d] = sum(dS[i,j] * Q[i,c] for i in n)"),
        ("Project", "", "X", "dX[i in n, a in d] = sum(dY[i,o] * W[a,o] for o in w)"),
        ("Project", "", "W", "dW[a in d, o in w] = sum(X[i,a] * dY[i,o] for i in n)"),
        ("Weigh", "", "A", "dA[i in n, j in m] = sum(dO[i,c] * V[j,c] for c in w)"),
        ("FeatureMean", "", "X", "dX[i in n, c in d] = dmu[i,0] / d"),
        ("HalfSquares", "", "a", "da[i in n, j in m] = dL[0,0] * (a[i,j] - b[i,j])"),
        ("Stack", "", "b", "db[t in rows(b), c in d] = dY[t + rows(a),c]"),
        (
            "Lookup",
            "",
            "table",
            "dtable[t in rows(table), c in d] = sum(dY[i,c] for i in n if ids[0,i] - first == t)",
        ),
        (
            "Concat",
            "",
            "X",
            "dX[t in heads(X), i in n, u in columns(X)] = dY[i,t * columns(X) + u]",
        ),
    ],
)
def test_a_derived_gradient_has_the_usual_form(name, given, to, text):
    made = gradient(equation(name, frozenset(given.split())), to)
    assert equation_source(made) == text


def test_a_derived_equation_can_be_parsed_again():
    for name, given, *_ in CASES:
        own = equation(name, frozenset(given.split()))
        for each in () if name in HARD else own.reads:
            if (made := gradient(own, each)) is not None:
                again = parse(equation_source(made))
                assert equation_source(again) == equation_source(made)


def test_matrices_read_only_by_places_and_conditions_have_no_gradient():
    assert gradient(equation("Lookup"), "ids") is None
    assert gradient(equation("Mask", frozenset({"keep"})), "keep") is None
    assert gradient(parse("y[i in n] = X[i] // 2"), "X") is None


def test_hardmax_has_no_gradient():
    with pytest.raises(InputError) as derived:
        gradient(equation("HardMax"), "S")
    with pytest.raises(InputError) as today:
        HardMax().way_back(0, [(2, 3)])
    assert str(derived.value) == str(today.value)


SYMBOLIC = {
    "exp": "exp(x)",
    "log": "log(x)",
    "sqrt": "sqrt(x)",
    "tanh": "tanh(x)",
    "sin": "sin(x)",
    "cos": "cos(x)",
    "erf": "erf(x)",
    "sigmoid": "1 / (1 + exp(-x))",
    "silu": "x / (1 + exp(-x))",
    "Phi": "(1 + erf(x / sqrt(2))) / 2",
    "phi": "exp(-x**2 / 2) / sqrt(2 * pi)",
    "gelu": "x * (1 + erf(x / sqrt(2))) / 2",
}


@pytest.mark.campaign(3)
@pytest.mark.parametrize("name", SYMBOLIC)
def test_the_slope_of_a_function_is_that_of_sympy(name):
    sympy = pytest.importorskip("sympy")
    x = sympy.Symbol("x")
    slope = sympy.diff(sympy.sympify(SYMBOLIC[name], locals={"x": x}), x)
    points = ["0.3", "1.7", "2.125"] + (["-0.4", "-3"] if name not in ("log", "sqrt") else [])
    with localcontext() as context:
        context.prec = 60
        X = np.array([Decimal(each) for each in points], object)
        held = {"X": X, "dy": np.array([Decimal(1)] * len(points), object)}
        made = gradient_value(parse(f"y[i in n] = {name}(X[i])"), "X", held)
        for point, got in zip(points, made, strict=True):
            expected = Decimal(str(sympy.N(slope.subs(x, sympy.Rational(point)), 40)))
            assert abs(got - expected) < Decimal("1e-36")


BACKS = {name: each.backs for name, each in stated().items()}
WAYS = [case for case in CASES if case[0] not in HARD]


@pytest.mark.campaign(3)
@pytest.mark.parametrize("case", WAYS, ids=lambda case: f"{case[0]}-{case[1]}-{case[4]}")
def test_the_stated_gradient_is_the_derived_one(case):
    name, given, _, operation, shapes = case
    matrices = [normals(shape, seed) for seed, shape in enumerate(shapes)]
    if "var" in (inputs := inputs_of(name, frozenset(given.split()))):
        matrices[inputs.index("var")] **= 2
    made = operation.apply(*matrices)
    arriving = weighed(np.where(np.isfinite(made), made, 0))
    found = operation.statement(*shapes)
    own = equation(found.name, found.given)
    held = {**dict(zip(inputs, matrices, strict=True)), gradient_name(own): arriving}
    for place, each in enumerate(inputs):
        way = Operation.way_back(operation, place, shapes) if each in BACKS[name] else None
        expected = gradient_value(own, each, held | dict(found.tables), found.settings)
        if way is None:
            continue
        got = way.operation.apply(*((*matrices, made, arriving)[i] for i in way.reads))
        assert got.shape == matrices[place].shape
        assert np.allclose(got, expected, atol=1e-12)
