"""Problems from objects of PyTorch, which is not imported: modules, models, state dicts."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from attncalc.api.plain import activation_of, plain_problem
from attncalc.api.saving import check_tensors
from attncalc.base.arrays import as_array
from attncalc.base.errors import InputError
from attncalc.problem.problem import Problem
from attncalc.reading import read_problem
from attncalc.reading.names import unknown

_LEARNED = "the last token of X2 is the learned key and value (add_bias_kv)"
MODULES = ("MultiheadAttention", "TransformerEncoderLayer", "TransformerDecoderLayer")


def from_module(module: Any, X: Any, X2: Any = None, X3: Any = None, **conventions: Any) -> Problem:
    """Return the problem that a module of PyTorch computes.

    Parameters
    ----------
    module
        A `torch.nn.MultiheadAttention`, `TransformerEncoderLayer` or `TransformerDecoderLayer`; a
        layer of `transformers`, or an attention in it; or a module of your own, as in `trace`.
        Dropout is not applied.
    X
        Its tokens, (n, d): one element of a batch.
    X2
        The keys and values of cross-attention, or the memory of a decoder, (m, d).
    X3
        The tokens of the values, if they are others than those of the keys, (m, d).
    **conventions
        Fields of `Problem`, such as `causal=True` for the mask of a decoder; and `config`, that of
        the model, for a layer of `transformers` which holds none, such as Bloom's.

    Returns
    -------
    Problem
        The problem, with the module's weights.

    Raises
    ------
    InputError
        If it is another module, or one with settings that are not supported.

    Examples
    --------
    >>> import torch  # doctest: +SKIP
    >>> layer = torch.nn.MultiheadAttention(4, 2)  # doctest: +SKIP
    >>> from_module(layer, torch.eye(4)).n_heads  # doctest: +SKIP
    2
    """
    module = unwrapped(module)
    if isinstance(module, type) or not hasattr(module, "named_parameters"):
        raise InputError(f"{str(module)[:60]} is not a PyTorch module: pass one, with its weights")
    check_tensors(module.state_dict())
    kind = type(module).__name__
    _check_names(conventions)
    if kind not in MODULES:
        return plain_problem(module, _tokens(X, X2, X3), conventions)
    attention = module if kind == MODULES[0] else module.self_attn
    said: dict[str, Any] = {"heads": int(attention.num_heads)}
    if kind != MODULES[0]:
        said |= _settings(module, is_decoder=kind == MODULES[2])
    arrays = {name: as_array(each) for name, each in module.state_dict().items()}
    if kind == MODULES[2] and X2 is None:
        raise InputError("a decoder layer also reads X2, the outputs of its encoder")
    _check_widths(attention, X2, X3)
    arrays |= _tokens(X, X2, X3, batch_first=attention.batch_first)
    if attention.add_zero_attn:  # a key and a value of zeros: only e⁰ in each sum
        arrays[f"{'self.' if kind == MODULES[2] else ''}sinks"] = np.zeros(attention.num_heads)
    if "bias_k" in arrays:
        arrays, said["remarks"] = _with_learned_key(arrays), (_LEARNED,)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        place = Path(folder) / "module.npz"
        np.savez(place, allow_pickle=False, **arrays)
        try:
            return read_problem(place, **{**said, **conventions})
        except InputError as error:
            raise type(error)(str(error).replace(f"{place}: ", f"{kind}: ")) from None


def _check_names(conventions: dict[str, Any]) -> None:
    for name in conventions:
        if name not in (*Problem.__dataclass_fields__, "config"):
            raise InputError(unknown(name, Problem.__dataclass_fields__))


def _check_widths(attention: Any, X2: Any, X3: Any) -> None:
    """Refuse keys or values that other tokens would have (kdim, vdim)."""
    keys, values = attention.kdim, attention.vdim
    for name, given, width, usual in (("X2", X2, keys, attention.embed_dim),
                                      ("X3", X3, values, keys)):  # fmt: skip
        if given is None and width != usual:
            raise InputError(
                f"keys have {keys} features, and values {values} (kdim, vdim): pass {name}, "
                f"(m, {width})"
            )


def _with_learned_key(arrays: dict[str, Any]) -> dict[str, Any]:
    """Return an attention whose learned key and value (add_bias_kv) are those of one more token.

    That token has a 1 in a feature of its own, and the weights of this feature are what the biases
    of keys and of values lack of the learned ones.
    """
    found = {name: each for name, each in arrays.items() if name not in ("bias_k", "bias_v", "X")}
    found["X1"] = arrays.get("X", arrays.get("X1"))
    biases = np.split(arrays.get("in_proj_bias", np.zeros(3 * len(arrays["bias_k"][0, 0]))), 3)
    if "in_proj_weight" in found:
        parts = np.split(found.pop("in_proj_weight"), 3)
        found |= {f"{n}_proj_weight": each for n, each in zip("qkv", parts, strict=True)}
    for name, bias in zip("kv", biases[1:], strict=True):
        own = (arrays[f"bias_{name}"].reshape(-1) - bias)[:, None]
        found[f"{name}_proj_weight"] = np.hstack([found[f"{name}_proj_weight"], own])
    tokens = [name for name in ("X2", "X3") if name in arrays]
    for name in tokens or ["X2"]:
        found[name] = np.pad(arrays[name] if tokens else found["X1"], (0, 1))
        found[name][-1, -1] = 1
    return found


def _tokens(X: Any, X2: Any, X3: Any, *, batch_first: bool | None = None) -> dict[str, Any]:
    """Return the fields of the tokens of a module; in PyTorch's own, the batch is an axis."""
    if X is None:
        raise InputError("X is None: pass the tokens of the module, (n, d)")
    given = {"X": X} if X2 is None else {"X1": X, "X2": X2}
    given |= {} if X3 is None else {"X3": X3}
    arrays = {name: np.asarray(as_array(each)) for name, each in given.items()}
    for name, each in arrays.items():
        if each.ndim != 3 or batch_first is None:
            continue
        batch = each if batch_first else each.swapaxes(0, 1)
        if len(batch) != 1:
            read = " x ".join(map(str, each.shape))
            raise InputError(
                f"{name} is {read}, a batch of {len(batch)}, since the module has "
                f"batch_first={batch_first}: pass one element of it, (n, d)"
            )
        arrays[name] = batch[0]
    return arrays


def unwrapped(model: Any) -> Any:
    """Return the model within the wrappers of torch.compile and of parallel training."""
    while True:
        inner = getattr(model, "_orig_mod", None)
        if inner is None and type(model).__name__.endswith(("DataParallel",)):
            inner = model.module
        if inner is None:
            return model
        model = inner


def _settings(module: Any, *, is_decoder: bool) -> dict[str, Any]:
    if module.self_attn.bias_k is not None:
        raise InputError("add_bias_kv is supported for a MultiheadAttention alone, not in a layer")
    if not (activation := activation_of(module.activation)):
        name = getattr(module.activation, "__name__", type(module.activation).__name__)
        raise InputError(f"the activation {name} is not one of those read: relu, gelu, silu")
    return {
        "block": "decoder" if is_decoder else "encoder",
        "norm": "pre" if module.norm_first else "post",
        "activation": activation,
        "eps": str(module.norm1.eps),
        "causal": False,
    }
