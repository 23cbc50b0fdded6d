"""Attention of other libraries, each asked what the table of conventions in docs says of it."""

import os
from collections.abc import Callable
from importlib.util import find_spec
from inspect import signature
from typing import Any, ClassVar

import numpy as np
import pytest

from attncalc import Problem, solve

Array = np.ndarray
Attend = Callable[..., Array]
"""Attention of queries (n, d), keys (m, d) and values (m, w), or of such heads: outputs (n, w)."""


# -- what an attention does, in the words of the table --------------------------------------------


def true_means(attend: Attend, mask: str = "mask") -> str:
    """Return the weight of a key whose place in a mask is true: its value is 1."""
    said = attend(np.ones((1, 2)), np.ones((2, 2)), [[1], [2]], **{mask: [[True, False]]})
    return {1.0: "attend", 2.0: "ignore"}[said.item()]


def default_scale(attend: Attend) -> str:
    """Say what the scores of a head of width 4 are multiplied by: weights are as e^(4 s) to 1."""
    weights = attend(np.ones((1, 4)), [[1, 1, 1, 1], [0, 0, 0, 0]], np.eye(2))
    factor = np.log(weights[0, 0] / weights[0, 1]) / 4
    return {0.5: "1/√d_k", 0.25: "1/d_k", 1.0: "none"}[round(float(factor), 3)]


def causal_alignment(attend: Attend, **causal: Any) -> str:
    """Say where the causal mask of 2 queries and 4 keys, all alike, starts."""
    seen = attend(np.zeros((2, 4)), np.zeros((4, 4)), np.eye(4), **causal) > 0
    corners = {"top-left": 0, "bottom-right": 2}
    (corner,) = (name for name, k in corners.items() if (seen == np.tri(2, 4, k, bool)).all())
    return corner


def empty_row(attend: Attend, **mask: Any) -> str:
    """Say what a query gets whose keys are all masked, of scores 1, 0 and 2."""
    given = [[1.0, 0.0]], [[1, 0], [0, 1], [2, 1]], [[1], [2], [6]]
    output = attend(*given, **mask).item()
    return "NaN" if np.isnan(output) else {0.0: "0", 3.0: "mean of V"}[round(output, 3)]


def served_by_a_key_head(attend: Attend) -> str:
    """Say which of 4 query heads are served by each of 2 heads of keys and values."""
    V = np.array([[[1]], [[2]]])
    outputs = attend(np.zeros((4, 1, 2)), np.zeros((2, 1, 2)), V).ravel().tolist()
    return {(1, 1, 2, 2): "consecutive", (1, 2, 1, 2): "interleaved"}[tuple(outputs)]


NONE_OF_THREE = [[False, False, False]]
FORBIDDEN = [[-np.inf, -np.inf, -np.inf]]


# -- libraries ------------------------------------------------------------------------------------


def imported(name: str) -> Any:
    """Return a library, or skip the test and say what is missing."""
    why = f"{name} is not installed: pip install 'attncalc[libraries]'"
    return pytest.importorskip(name, reason=why)


def head_settings(layer: type) -> list[str]:
    """Return the settings of the heads of a layer."""
    return [name for name in signature(layer).parameters if "heads" in name]


class Library:
    """A column of the table: each method returns what its row says of this library."""

    name: ClassVar[str]

    def true_in_a_mask(self) -> str:
        """Return what a true in a mask means."""
        return true_means(self.attend)

    def default_scale(self) -> str:
        """Return what scores are multiplied by."""
        return default_scale(self.attend)

    def causal_alignment(self) -> str:
        """Return where a causal mask starts."""
        return causal_alignment(self.attend, causal=True)

    def empty_row(self) -> str:
        """Return what a query with no key left gets, by a mask and by a bias of -inf alike."""
        by_mask = empty_row(self.attend, mask=NONE_OF_THREE)
        assert by_mask == empty_row(self.attend, bias=FORBIDDEN)
        return by_mask

    def fewer_key_heads(self) -> str:
        """Return which query heads a key head serves."""
        return served_by_a_key_head(self.attend)

    def attend(self, Q: Any, K: Any, V: Any, **conventions: Any) -> Array:
        """Return the outputs of the library's attention."""
        raise NotImplementedError


class Ours(Library):
    """attncalc itself."""

    name = "attncalc"

    def attend(self, Q: Any, K: Any, V: Any, **conventions: Any) -> Array:
        outputs = solve(Problem(Q=Q, K=K, V=V, **conventions))["O"]
        return np.asarray(outputs)

    def true_in_a_mask(self) -> str:
        meanings = (true_means(self.attend, name) for name in ("keep", "ignore"))
        return "keep: {}, ignore: {}".format(*meanings)

    def causal_alignment(self) -> str:
        found = (
            causal_alignment(self.attend, causal=True, **alignment)
            for alignment in ({}, {"causal_alignment": "bottom-right"})
        )
        return ", or ".join(found)

    def empty_row(self) -> str:
        (said,) = {
            empty_row(self.attend, **mask)
            for mask in ({"keep": [[0, 0, 0]]}, {"ignore": [[1, 1, 1]]}, {"bias": FORBIDDEN})
        }
        return said


class Sdpa(Library):
    """`torch.nn.functional.scaled_dot_product_attention`."""

    name = "PyTorch SDPA"

    def attend(self, Q: Any, K: Any, V: Any, **conventions: Any) -> Array:
        torch = imported("torch")
        mask = conventions.get("mask", conventions.get("bias"))
        given = (_in_four(np.asarray(x, np.float32)) for x in (Q, K, V))
        outputs = torch.nn.functional.scaled_dot_product_attention(
            *map(torch.from_numpy, given),
            attn_mask=None if mask is None else torch.tensor(mask),
            is_causal=conventions.get("causal", False),
            enable_gqa=conventions.get("enable_gqa", False),
        )
        return np.asarray(outputs[0, 0] if np.ndim(Q) == 2 else outputs[0])

    def fewer_key_heads(self) -> str:
        with pytest.raises(RuntimeError):
            served_by_a_key_head(self.attend)
        grouped = served_by_a_key_head(lambda *given: self.attend(*given, enable_gqa=True))
        return f"{grouped}, with enable_gqa=True"


class Multihead(Library):
    """`torch.nn.MultiheadAttention` whose projections change nothing."""

    name = "PyTorch MultiheadAttention"

    def attend(self, Q: Any, K: Any, V: Any, **conventions: Any) -> Array:
        torch = imported("torch")
        d, heads = np.shape(Q)[-1], conventions.pop("heads", 1)
        layer = torch.nn.MultiheadAttention(d, heads, batch_first=True)
        layer.train(conventions.pop("training", False))
        with torch.no_grad():
            layer.in_proj_weight.copy_(torch.eye(d).repeat(3, 1))
            layer.out_proj.weight.copy_(torch.eye(d))
            mask = conventions.pop("mask", conventions.pop("bias", None))
            if mask is not None:
                conventions["attn_mask"] = torch.tensor(mask)
            given = (torch.tensor(_padded(x, d))[None] for x in (Q, K, V))
            outputs, _ = layer(*given, **conventions)
        return np.asarray(outputs.numpy()[0][:, : np.shape(V)[-1]])

    def default_scale(self) -> str:
        """Two heads of width 4, the second of them all 0."""

        def attend(Q: Any, K: Any, V: Any) -> Array:
            return self.attend(*(_padded(x, 8) for x in (Q, K, V)), heads=2)

        return f"{default_scale(attend)} of a head"

    def causal_alignment(self) -> str:
        with pytest.raises(RuntimeError, match="Need attn_mask"):
            causal_alignment(self.attend, is_causal=True)
        return "(a mask is given)"

    def empty_row(self) -> str:
        said = {
            with_weights: {
                empty_row(self.attend, **mask, need_weights=with_weights, training=training)
                for mask in ({"mask": [[True] * 3]}, {"bias": FORBIDDEN})
                for training in (True, False)
            }
            for with_weights in (True, False)
        }
        assert empty_row(self.attend, mask=[[True] * 3]) in said[True]
        return f"{said[True].pop()} with need_weights=True (default), else {said[False].pop()}"

    def fewer_key_heads(self) -> str:
        assert head_settings(imported("torch").nn.MultiheadAttention) == ["num_heads"]
        return "–"


class Onnx(Library):
    """The operator Attention, by ONNX's own reference; opset 24 is the first with all inputs."""

    name = "ONNX Attention"
    inputs = ("Q", "K", "V", "attn_mask", "past_key", "past_value", "nonpad_kv_seqlen")

    def attend(self, Q: Any, K: Any, V: Any, **conventions: Any) -> Array:
        given = {
            name: _in_four(np.asarray(x, np.float32))
            for name, x in zip("QKV", (Q, K, V), strict=True)
        }
        if "mask" in conventions:
            given["attn_mask"] = np.array(conventions["mask"])
        if "bias" in conventions:
            given["attn_mask"] = np.array(conventions["bias"], np.float32)
        if past := conventions.get("past", 0):
            for name, cached in (("K", "past_key"), ("V", "past_value")):
                given[cached], given[name] = np.split(given[name], [past], axis=2)
        if conventions.get("counted"):
            given["nonpad_kv_seqlen"] = np.array([len(K)])
        causal = conventions.get("causal", False)
        outputs, same = (self._run(opset, given, causal=causal) for opset in (24, 25))
        assert np.array_equal(outputs, same)
        return np.asarray(outputs[0, 0] if np.ndim(Q) == 2 else outputs[0])

    def _run(self, opset: int, given: dict[str, Array], *, causal: bool) -> Array:
        onnx = imported("onnx")
        reference = imported("onnx.reference")
        helper = onnx.helper
        outputs = ["Y"] + ["present_key", "present_value"] * ("past_key" in given)
        names = [name if name in given else "" for name in self.inputs]
        node = helper.make_node("Attention", names, outputs, is_causal=int(causal))
        infos = [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
            for name, x in given.items()
        ]
        made = [helper.make_tensor_value_info(name, 1, None) for name in outputs]
        graph = helper.make_graph([node], "attention", infos, made)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
        return np.asarray(reference.ReferenceEvaluator(model).run(None, given)[0])

    def causal_alignment(self) -> str:
        plain = causal_alignment(self.attend, causal=True)
        caches: tuple[dict[str, Any], ...] = ({"past": 2}, {"counted": True})
        (cached,) = {causal_alignment(self.attend, causal=True, **cache) for cache in caches}
        return f"{plain}; {cached} with past_key or nonpad_kv_seqlen"


class Jax(Library):
    """`jax.nn.dot_product_attention`."""

    name = "JAX dot_product_attention"

    def attend(self, Q: Any, K: Any, V: Any, **conventions: Any) -> Array:
        jax = imported("jax")
        queries, keys, values = (_in_four(_padded(x, np.shape(Q)[-1])) for x in (Q, K, V))
        heads_last = (jax.numpy.asarray(x.swapaxes(1, 2)) for x in (queries, keys, values))
        masks = {
            name: jax.numpy.asarray(conventions[name])[None, None]
            for name in ("mask", "bias")
            if name in conventions
        }
        causal = conventions.get("causal", False)
        found = jax.nn.dot_product_attention(*heads_last, **masks, is_causal=causal)
        outputs = np.asarray(found).swapaxes(1, 2)[0][..., : np.shape(V)[-1]]
        return np.asarray(outputs[0] if np.ndim(Q) == 2 else outputs)

    def empty_row(self) -> str:
        by_mask = empty_row(self.attend, mask=NONE_OF_THREE)
        by_bias = empty_row(self.attend, bias=FORBIDDEN)
        return f"{by_mask} by a mask, {by_bias} by a bias of -inf"


class Keras(Library):
    """`keras.layers.Attention`, which takes a mask of keys."""

    name = "Keras Attention"

    def attend(self, Q: Any, K: Any, V: Any, **conventions: Any) -> Array:
        if "KERAS_BACKEND" not in os.environ:  # Keras imports TensorFlow by default
            os.environ["KERAS_BACKEND"] = "torch" if find_spec("torch") else "jax"
        keras = imported("keras")
        queries, keys, values = (np.asarray(x, np.float32)[None] for x in (Q, K, V))
        masks = [None, np.array(conventions["mask"])] if "mask" in conventions else None
        layer = keras.layers.Attention()
        causal = conventions.get("causal", False)
        outputs = layer([queries, values, keys], mask=masks, use_causal_mask=causal)
        return np.asarray(outputs[0])

    def empty_row(self) -> str:
        """1e9 is taken off each score: in float32 nothing is left of their differences."""
        return f"{empty_row(self.attend, mask=NONE_OF_THREE)}, in float32"

    def fewer_key_heads(self) -> str:
        assert head_settings(imported("keras").layers.Attention) == []
        return "–"


LIBRARIES: tuple[Library, ...] = (Ours(), Sdpa(), Multihead(), Onnx(), Jax(), Keras())


def _in_four(matrix: Array) -> Array:
    """Return (batch, heads, rows, columns)."""
    return matrix.reshape((1,) * (4 - matrix.ndim) + matrix.shape)


def _padded(matrix: Any, width: int) -> Array:
    """Return a matrix in float32, with columns of 0 up to a width."""
    given = np.asarray(matrix, np.float32)
    none = [(0, 0)] * (given.ndim - 1)
    return np.pad(given, [*none, (0, width - given.shape[-1])])
