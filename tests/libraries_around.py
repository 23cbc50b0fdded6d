"""The parts around attention in other libraries, compared with the table in the docs."""

import os
from collections.abc import Callable
from importlib.util import find_spec
from math import erf, pi, sqrt, tanh
from typing import Any, ClassVar

import numpy as np
import pytest
from libraries import imported

from attncalc import Problem, solve

Array = np.ndarray
HALVES = [0.5, 1.5, 2.5, -2.5]
ROW = [1.0, 2.0, 4.0, 9.0]
"""Mean 4, and 38 for the sum of the squares around it."""
SMALL = [0.001, -0.001]
"""Of such a row ε outweighs the variance."""
NONE = "–"


class Around:
    """A column of the table: what a library makes of numbers, or None where it has none such."""

    name: ClassVar[str]

    def rounded(self, given: list[float]) -> Array:
        """Return numbers rounded to whole ones."""
        raise NotImplementedError

    def gelu(self, x: float) -> float:
        """Return gelu(x), with no further word."""
        raise NotImplementedError

    def normalised(self, row: list[float]) -> Array | None:
        """Return a row after a layer norm, with no further word."""
        raise NotImplementedError

    def projected(self, row: list[float], weights: Array) -> Array | None:
        """Return what a projection that stores these weights makes of a row."""
        raise NotImplementedError

    def softmax(self, matrix: Array) -> Array | None:
        """Return the softmax of a matrix, with no further word; None where that is refused."""
        raise NotImplementedError


def halves(library: Around) -> str:
    ways = {(1, 2, 3, -3): "away from zero", (0, 2, 2, -2): "to even"}
    return ways[tuple(np.asarray(library.rounded(HALVES)).tolist())]


def gelu(library: Around) -> str:
    x = 1.5
    by_erf = x * (1 + erf(x / sqrt(2))) / 2
    by_tanh = x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3))) / 2
    found = library.gelu(x)
    (name,) = (
        name for name, value in (("erf", by_erf), ("tanh", by_tanh)) if abs(found - value) < 1e-5
    )
    return f"by {name}"


def epsilon(library: Around) -> str:
    """Of a row ±δ the result is ±δ / √(δ² + ε), or ±δ / (δ + ε): its size determines ε."""
    found = library.normalised(SMALL)
    if found is None:
        return NONE
    (said,) = (
        name
        for name in ("1e-3", "1e-5", "1e-6")
        if any(abs(found[0] - value) < 1e-4 for value in _small_over(float(name)).values())
    )
    return said


def place_of_epsilon(library: Around) -> str:
    found, said = library.normalised(SMALL), epsilon(library)
    if found is None:
        return NONE
    values = _small_over(float(said))
    return min(values, key=lambda place: abs(values[place] - found[0]))


def _small_over(eps: float) -> dict[str, float]:
    delta = SMALL[0]
    return {
        "inside the root": delta / sqrt(delta**2 + eps),
        "outside the root": delta / (delta + eps),
    }


def divisor(library: Around) -> str:
    found = library.normalised(ROW)
    if found is None:
        return NONE
    deviation = (ROW[-1] - 4) / found[-1]
    return {4: "d", 3: "d − 1"}[round(38 / deviation**2)]


def stored(library: Around) -> str:
    """Two weights in a row take one number to two, or two numbers to one."""
    weights = np.array([[1.0, 2.0]])
    try:
        found = library.projected([1.0, 1.0], weights)
    except Exception:
        found = library.projected([1.0], weights)
        assert found is not None
        assert np.asarray(found).ravel().tolist() == [1, 2]
        return "(in, out)"
    if found is None:
        return NONE
    assert np.asarray(found).ravel().tolist() == [3]
    return "(out, in)"


def axis(library: Around) -> str:
    found = library.softmax(np.array([[0.0, 0.0], [0.0, 5.0]]))
    if found is None:
        return "required argument"
    assert np.allclose(np.asarray(found).sum(-1), 1)
    return "the last axis"


ROWS_AROUND: dict[str, Callable[[Around], str]] = {
    "halves are rounded": halves,
    "gelu alone means": gelu,
    "ε of a layer norm": epsilon,
    "ε is added": place_of_epsilon,
    "its variance is divided by": divisor,
    "weights of a projection": stored,
    "softmax runs over": axis,
}
"""What each row of the table is about, and what runs it."""


class Ours(Around):
    """attncalc itself."""

    name = "attncalc"

    def rounded(self, given: list[float]) -> Array:
        solution = solve(Problem(Q=[[1]], K=[[1]], V=[given], decimals=0))
        return np.array([[float(x) for x in row] for row in solution.shown("O")])[0]

    def gelu(self, x: float) -> float:
        layer = Problem(
            X=[[x]], W_1=[[1]], W_2=[[1]], block="encoder", norm="none", residual=False,
            activation="gelu",
        )  # fmt: skip
        return float(solve(layer)["G"][0, 0])

    def normalised(self, row: list[float]) -> Array:
        return np.asarray(solve(Problem(X=[row], block="encoder", residual=False))["Y"][0])

    def projected(self, row: list[float], weights: Array) -> Array:
        eye = np.eye(len(row))
        return np.asarray(solve(Problem(X=[row], W_Q=eye, W_K=eye, W_V=weights))["O"])

    def softmax(self, matrix: Array) -> Array:
        return np.asarray(solve(Problem(S=matrix))["A"])


class Torch(Around):
    """PyTorch."""

    name = "PyTorch"

    def rounded(self, given: list[float]) -> Array:
        torch = imported("torch")
        return np.asarray(torch.round(torch.tensor(given)))

    def gelu(self, x: float) -> float:
        torch = imported("torch")
        return float(torch.nn.functional.gelu(torch.tensor(x)))

    def normalised(self, row: list[float]) -> Array:
        torch = imported("torch")
        return np.asarray(torch.nn.LayerNorm(len(row))(torch.tensor(row)).detach())

    def projected(self, row: list[float], weights: Array) -> Array:
        torch = imported("torch")
        layer = torch.nn.Linear(*weights.shape[::-1], bias=False)
        layer.load_state_dict({"weight": torch.tensor(weights)})
        return np.asarray(layer(torch.tensor([row])).detach())

    def softmax(self, matrix: Array) -> None:
        torch = imported("torch")
        with pytest.raises(TypeError):
            torch.softmax(torch.tensor(matrix))


class Onnx(Around):
    """The operators of ONNX, by its own reference."""

    name = "ONNX"

    def _run(self, operator: str, *given: Any) -> Array:
        onnx, reference = imported("onnx"), imported("onnx.reference")
        helper = onnx.helper
        arrays = {f"x{k}": np.asarray(each, np.float32) for k, each in enumerate(given)}
        node = helper.make_node(operator, list(arrays), ["y"])
        infos = [helper.make_tensor_value_info(name, 1, x.shape) for name, x in arrays.items()]
        made = [helper.make_tensor_value_info("y", 1, None)]
        graph = helper.make_graph([node], "one", infos, made)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)])
        return np.asarray(reference.ReferenceEvaluator(model).run(None, arrays)[0])

    def rounded(self, given: list[float]) -> Array:
        return self._run("Round", given)

    def gelu(self, x: float) -> float:
        return float(self._run("Gelu", [x])[0])

    def normalised(self, row: list[float]) -> Array:
        return self._run("LayerNormalization", [row], np.ones(len(row)))[0]

    def projected(self, row: list[float], weights: Array) -> Array:
        return self._run("Gemm", [row], weights)

    def softmax(self, matrix: Array) -> Array:
        return self._run("Softmax", matrix)


class Jax(Around):
    """JAX, which has no layers."""

    name = "JAX"

    def rounded(self, given: list[float]) -> Array:
        return np.asarray(imported("jax").numpy.round(np.array(given)))

    def gelu(self, x: float) -> float:
        return float(imported("jax").nn.gelu(x))

    def normalised(self, row: list[float]) -> None:
        assert not hasattr(imported("jax").nn, "layer_norm")

    def projected(self, row: list[float], weights: Array) -> None:
        assert not hasattr(imported("jax").nn, "dense")

    def softmax(self, matrix: Array) -> Array:
        return np.asarray(imported("jax").nn.softmax(matrix))


class Keras(Around):
    """Keras."""

    name = "Keras"

    def _keras(self) -> Any:
        if "KERAS_BACKEND" not in os.environ:  # Keras imports TensorFlow by default
            os.environ["KERAS_BACKEND"] = "torch" if find_spec("torch") else "jax"
        return imported("keras")

    def rounded(self, given: list[float]) -> Array:
        return np.asarray(self._keras().ops.round(np.array(given)))

    def gelu(self, x: float) -> float:
        return float(self._keras().activations.gelu(np.array(x, np.float32)))

    def normalised(self, row: list[float]) -> Array:
        layer = self._keras().layers.LayerNormalization()
        return self._array(layer(np.array([row], np.float32)))[0]

    def projected(self, row: list[float], weights: Array) -> Array:
        layer = self._keras().layers.Dense(weights.shape[1], use_bias=False)
        given = np.array([row], np.float32)
        layer.build(given.shape)
        layer.set_weights([weights])
        return self._array(layer(given))

    def softmax(self, matrix: Array) -> Array:
        return self._array(self._keras().activations.softmax(np.asarray(matrix, np.float32)))

    @staticmethod
    def _array(given: Any) -> Array:
        return np.asarray(given.detach() if hasattr(given, "detach") else given)


AROUND: tuple[Around, ...] = (Ours(), Torch(), Onnx(), Jax(), Keras())
