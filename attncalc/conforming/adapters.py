"""Attention of libraries as kernels of the suite: `attncalc conform torch_sdpa`.

Each function has the signature of a kernel, and offers what its library offers. The library is
imported when it is called.
"""

import importlib
from collections.abc import Callable, Mapping
from typing import Any

BACKENDS: Mapping[str, str] = {
    "torch_sdpa": "torch",
    "torch_flex": "torch",
    "torch_multihead": "torch",
    "jax_attention": "jax",
    "onnx_reference": "numpy",
    "onnxruntime": "numpy",
}
"""The adapters, and the kind of their arrays."""


def adapter(name: str) -> Callable[..., Any]:
    """Return the adapter with a name of `BACKENDS`."""
    found: Callable[..., Any] = globals()[name]
    return found


def torch_sdpa(query: Any, key: Any, value: Any, **named: Any) -> Any:
    """Call `torch.nn.functional.scaled_dot_product_attention`."""
    torch = importlib.import_module("torch")
    return torch.nn.functional.scaled_dot_product_attention(query, key, value, **named)


def torch_flex(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    is_causal: bool = False,
    softcap: float | None = None,
    window: int | None = None,
    alibi_slopes: Any = None,
    query_offset: int | None = None,
    **named: Any,
) -> Any:
    """Call FlexAttention, with one score modification for all arguments."""
    torch = importlib.import_module("torch")
    flex = importlib.import_module("torch.nn.attention.flex_attention").flex_attention
    mask = None if attn_mask is None else _as_numbers(torch, attn_mask, query, key)

    def modified(score: Any, b: Any, h: Any, i: Any, j: Any) -> Any:
        at = i if query_offset is None else i + query_offset
        if softcap is not None:
            score = softcap * torch.tanh(score / softcap)
        if alibi_slopes is not None:
            score = score - alibi_slopes[h] * torch.abs(at - j)
        if mask is not None:
            score = score + mask[b, h, i, j]
        if is_causal:
            score = torch.where(j <= at, score, -float("inf"))
        if window is not None:
            score = torch.where(at - j < window, score, -float("inf"))
        return score

    return flex(query, key, value, score_mod=modified, **named)


def _as_numbers(torch: Any, mask: Any, query: Any, key: Any) -> Any:
    """Return a mask as numbers to add, in full."""
    if mask.dtype == torch.bool:
        mask = torch.zeros_like(mask, dtype=query.dtype).masked_fill(~mask, -float("inf"))
    return mask.expand(*query.shape[:3], key.shape[2])


def torch_multihead(
    query: Any, key: Any, value: Any, attn_mask: Any = None, is_causal: bool = False
) -> Any:
    """Call `torch.nn.MultiheadAttention` with projections that change nothing."""
    torch = importlib.import_module("torch")
    (batch, heads, n, width), m = query.shape, key.shape[2]
    if value.shape[-1] != width:
        raise NotImplementedError("MultiheadAttention has one width of heads")
    layer = torch.nn.MultiheadAttention(
        heads * width, heads, bias=False, batch_first=True, device=query.device, dtype=query.dtype
    )
    same = torch.eye(heads * width, device=query.device, dtype=query.dtype)
    with torch.no_grad():
        layer.in_proj_weight.copy_(torch.cat([same] * 3))
        layer.out_proj.weight.copy_(same)
    hidden = None  # true where a query may not attend
    if attn_mask is not None:
        hidden = ~attn_mask if attn_mask.dtype == torch.bool else attn_mask
        hidden = hidden.expand(batch, heads, n, m).reshape(batch * heads, n, m)
    if is_causal:
        if hidden is not None:
            raise NotImplementedError("MultiheadAttention has one mask")
        hidden = ~torch.ones(n, m, dtype=torch.bool, device=query.device).tril()
    joined = (each.swapaxes(1, 2).flatten(2) for each in (query, key, value))
    output, _ = layer(*joined, attn_mask=hidden, need_weights=False)
    return output.unflatten(2, (heads, width)).swapaxes(1, 2)


def jax_attention(
    query: Any, key: Any, value: Any, attn_mask: Any = None, enable_gqa: bool = False, **named: Any
) -> Any:
    """Call `jax.nn.dot_product_attention`, whose arrays are (batch, tokens, heads, width)."""
    jax = importlib.import_module("jax")
    if value.shape[-1] != key.shape[-1]:
        raise NotImplementedError("dot_product_attention has one width of heads")
    if attn_mask is not None:
        full = jax.numpy.broadcast_to(attn_mask, (*query.shape[:3], key.shape[2]))
        named["mask" if attn_mask.dtype == bool else "bias"] = full
    arrays = (each.swapaxes(1, 2) for each in (query, key, value))
    return jax.nn.dot_product_attention(*arrays, **named).swapaxes(1, 2)


def onnx_reference(query: Any, key: Any, value: Any, softcap: Any = None, **named: Any) -> Any:
    """Compute the operator Attention of ONNX by its reference."""
    model, given = _onnx_model(query, key, value, softcap=softcap, **named)
    reference = importlib.import_module("onnx.reference")
    return reference.ReferenceEvaluator(model).run(None, given)[0]


def onnxruntime(query: Any, key: Any, value: Any, softcap: Any = None, **named: Any) -> Any:
    """Compute the operator Attention of ONNX by ONNX Runtime on the CPU."""
    model, given = _onnx_model(query, key, value, softcap=softcap, **named)
    runtime = importlib.import_module("onnxruntime")
    providers = ["CPUExecutionProvider"]
    session = runtime.InferenceSession(model.SerializeToString(), providers=providers)
    return session.run(None, given)[0]


def _onnx_model(
    query: Any, key: Any, value: Any, attn_mask: Any = None, enable_gqa: bool = False, **named: Any
) -> tuple[Any, dict[str, Any]]:
    """Return a model of one operator, and its inputs."""
    helper = importlib.import_module("onnx.helper")
    given = {"Q": query, "K": key, "V": value} | ({} if attn_mask is None else {"mask": attn_mask})
    attributes = {name: each for name, each in named.items() if each is not None}
    attributes["is_causal"] = int(named.get("is_causal", False))
    node = helper.make_node("Attention", list(given), ["Y"], **attributes)
    types = {name: helper.np_dtype_to_tensor_dtype(each.dtype) for name, each in given.items()}
    inputs = [
        helper.make_tensor_value_info(name, types[name], each.shape) for name, each in given.items()
    ]
    shape = (*query.shape[:3], value.shape[3])
    outputs = [helper.make_tensor_value_info("Y", types["Q"], shape)]
    graph = helper.make_graph([node], "attention", inputs, outputs)
    opset = [helper.make_opsetid("", 23)]
    return helper.make_model(graph, opset_imports=opset, ir_version=11), given
