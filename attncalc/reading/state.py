"""Arrays by name as the fields of a problem: attncalc's names, and those of a state dict."""

import re
from collections import ChainMap
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from attncalc.base.typed import quoted
from attncalc.base.types import Matrix
from attncalc.problem.fields import KNOWN, MATRICES, SETTINGS, role_of
from attncalc.reading.cells import Faults
from attncalc.reading.models.layer import Heads, layer_fields, named
from attncalc.reading.models.masks import MASK_NAMES, mask_fields
from attncalc.reading.models.names import OTHER_ORDERS, is_buffer, meaning_of
from attncalc.reading.names import canonical, tell_unknown
from attncalc.reading.tensors import Tensors

Fields = dict[str, Any]

_TORCH_TOKENS = ("query", "key", "value")
_TORCH_WEIGHTS = {
    "q_proj_weight": "W_Q",
    "k_proj_weight": "W_K",
    "v_proj_weight": "W_V",
    "out_proj.weight": "W_O",
    "out_proj.bias": "b_O",
}
_TORCH_STATE = (*_TORCH_WEIGHTS, "in_proj_weight", "in_proj_bias")
_TORCH_HEADS = "num_heads"
_ASKING = (_TORCH_HEADS, "num_attention_heads", "n_head", "n_heads")
_ANSWERING = ("num_key_value_heads", "num_kv_heads", "n_kv_heads")
_ADDED = ("bias_k", "bias_v")
_LAYER = re.compile(
    r"(?:layers\.(\d{1,3})\.)?(?:(self_attn|multihead_attn)\."
    r"(in_proj_(?:weight|bias)|[qkv]_proj_weight|out_proj\.(?:weight|bias))"
    r"|((?:linear[12]|norm[123]?)\.(?:weight|bias)))"
)
"""The state dict of one or several layers of PyTorch's TransformerEncoder or TransformerDecoder."""
_TORCH = (*_TORCH_TOKENS, *_TORCH_STATE, *_ADDED, *_ASKING, *_ANSWERING)
_HOW_TO_GIVE_HEADS = (
    "a PyTorch layer of an unknown number of heads (no state dict contains it): add the array "
    f"{_TORCH_HEADS} to the file, or give --heads (in Python: read_problem(…, heads=…))"
)


def read_state(arrays: Mapping[str, Matrix], faults: Faults, changes: Fields) -> Fields:
    """Return the fields of the problem in named arrays.

    arrays: names are those of a problem, or those of a state dict beside its tokens: of PyTorch's
        layers, or of a layer of a model, with any prefix.
    changes: fields given beside the file. A state dict does not contain the number of heads:
        without `num_heads` in the file, or `heads` among the changes, it is refused.
    """
    arrays, halves = _widened(arrays)
    layers = {key: arrays[key] for key in arrays if _LAYER.fullmatch(key)}
    of_torch = {*_TORCH, *layers}
    others = [key for key in arrays if key not in of_torch and canonical(key) is None]
    found = named((key for key in others if meaning_of(key)), faults.add)
    faults.raise_if_any()  # of several layers, nothing else is wrong
    remarks: list[str] = []
    fields = _torch_fields(_of_torch(arrays, remarks), faults)
    fields |= _layer_fields(layers, arrays, faults)
    _merge(fields, layer_fields(arrays, found, _heads(arrays, changes), faults.add), faults)
    _add_own(fields, arrays, of_torch, faults, remarks)
    _become_projected(fields, changes, arrays)
    fields |= mask_fields(arrays, fields, _polarity(arrays, layers, fields), faults.add, remarks)
    said = {name for name, value in (fields | changes).items() if value is not None}
    if _attends(arrays, layers, found) and "heads" not in said:
        faults.add(_HOW_TO_GIVE_HEADS)
    _check_said(found, said, faults)
    faults.raise_if_any()
    return fields | _remarks(halves, remarks)


def _add_own(
    fields: Fields,
    arrays: Mapping[str, Matrix],
    of_torch: set[str],
    faults: Faults,
    remarks: list[str],
) -> None:
    """Add the arrays with attncalc's names, and report the unknown ones."""
    strange: list[str] = []
    for key in arrays:
        name = canonical(key)
        if key in of_torch or key in MASK_NAMES or (name is None and meaning_of(key)):
            continue
        if is_buffer(key):
            remarks.append(f"{quoted(key)} is passed over: it follows from what a model is")
        elif key.endswith(OTHER_ORDERS):
            faults.add(
                f"{quoted(key)} has Q, K and V side by side within each head, in an order that "
                "models do not share: save them apart, as q_proj.weight, k_proj.weight and "
                "v_proj.weight"
            )
        elif name is None:
            strange.append(key)
        elif name in fields:
            faults.add(f"{name} is given twice")
        else:
            array = _of_one_batch(key, name, arrays[key], remarks)
            fields[name] = array if name in (*MATRICES, *SETTINGS) else setting_of(array)
    tell_unknown(strange, faults.add, (*KNOWN, *_TORCH))


def _attends(
    arrays: Mapping[str, Matrix], layers: Mapping[str, Matrix], found: Mapping[str, Any]
) -> bool:
    """Return whether weights of an attention have other names than attncalc's."""
    by_torch = any(key in _TORCH_STATE or (key in layers and "attn." in key) for key in arrays)
    return by_torch or any(field.startswith(("W_Q", "W_K", "W_V", "W_O")) for field in found)


def setting_of(array: Matrix) -> Any:
    """Return the value of a setting in an array; a number may be in an array of one."""
    is_one = array.size == 1 and array.dtype.kind in "biuf"
    return array.item() if is_one or not array.ndim else array.tolist()


def _merge(fields: Fields, more: Fields, faults: Faults) -> None:
    for name, value in more.items():
        if name in fields and name != "weights_layout":
            faults.add(f"{name} is given twice")
        elif name == "weights_layout" and fields.get(name, value) != value:
            faults.add("some weights are kept (out, in) and some (in, out), as by Conv1D")
        fields[name] = value


def _heads(arrays: Mapping[str, Matrix], changes: Fields) -> Heads:
    """Return the numbers of heads, as far as the file or a change states them."""
    asking = next((arrays[name] for name in (*_ASKING, "heads") if name in arrays), None)
    answering = next((arrays[name] for name in _ANSWERING if name in arrays), None)
    beside = changes.get("heads")
    return Heads(_count(asking if beside is None else np.asarray(beside)), _count(answering))


def _count(given: Matrix | None) -> int | None:
    """Return a whole number; others are refused when settings are read."""
    try:
        return None if given is None else int(given.item())
    except (TypeError, ValueError):
        return None


def _of_torch(arrays: Mapping[str, Matrix], remarks: list[str]) -> dict[str, Matrix]:
    """Return the arrays of a PyTorch layer, its tokens without a batch of one."""
    kept = {key: arrays[key] for key in arrays if key in _TORCH}
    is_middle = any(key in _TORCH_STATE for key in kept)
    for key in _TORCH_TOKENS:
        if key in kept:
            kept[key] = _of_one_batch(key, "X", kept[key], remarks, is_middle=is_middle)
    return kept


def _of_one_batch(
    key: str, name: str, array: Matrix, remarks: list[str], *, is_middle: bool = False
) -> Matrix:
    """Return tokens, queries, keys or values without the axis of a batch of one."""
    axes = {"projected": 4, "past": 4, "tokens": 3}.get(role_of(name))
    if array.ndim != axes:
        return array
    if len(array) == 1:
        remarks.append(f"{key}: a batch of one is taken off")
        return array.squeeze(axis=0)
    if axes == 3 and is_middle and array.shape[1] == 1:
        remarks.append(f"{key}: a batch of one is taken off, behind the tokens")
        return array.squeeze(axis=1)
    return array


def _become_projected(fields: Fields, changes: Fields, arrays: Mapping[str, Matrix]) -> None:
    """Use query, key and value as Q, K and V if there are no weights."""
    has_weights = any(name.startswith("W_") for name in (*fields, *changes))
    if has_weights or not all(name in arrays for name in _TORCH_TOKENS):
        return
    for name in ("X", "X1", "X2", "X3"):
        fields.pop(name, None)
    for name, theirs in zip("QKV", _TORCH_TOKENS, strict=True):
        array = arrays[theirs]
        fields[name] = array.squeeze(axis=0) if array.ndim == 4 and len(array) == 1 else array


def _polarity(
    arrays: Mapping[str, Matrix], layers: Mapping[str, Matrix], fields: Fields
) -> str | None:
    """Return the meaning of a true entry of attn_mask, which depends on the origin of the file."""
    if layers or any(key in _TORCH_STATE or "in_proj" in key for key in arrays):
        return "ignore"
    return "keep" if "Q" in fields else None


def _check_said(found: Mapping[str, Any], said: set[str], faults: Faults) -> None:
    """Refuse a layer without the settings of its parts: names of weights do not imply them."""
    needed = []
    if any(field.startswith(("W_1", "W_2", "W_3")) for field in found):
        needed.append("activation")
    if any(field.startswith("gamma_") for field in found):
        needed += ["norm", "normalization"]
    missing = [name for name in needed if name not in said]
    if missing:
        flags = " and ".join(f"--{name}" for name in missing)
        faults.add(
            f"a layer of a model without its {' and its '.join(missing)}: add arrays of "
            f"these names to the file, or give {flags} to attncalc encoder or decoder (of a "
            "folder with a config.json, attncalc open knows them)"
        )


def _remarks(halves: Sequence[str], remarks: list[str]) -> Fields:
    if halves:
        said = f"given in {' and '.join(halves)}, read as float32"
        remarks = [*remarks, f"{said}, and computed in it where nothing else is wider"]
    return {"remarks": tuple(remarks)} if remarks else {}


def _widened(arrays: Mapping[str, Matrix]) -> tuple[Mapping[str, Matrix], tuple[str, ...]]:
    """Return arrays, with 16-bit floats as float32, and the names of these types."""
    if isinstance(arrays, Tensors):
        return ChainMap(_said_beside(arrays), cast("Any", arrays)), arrays.halves(tuple(arrays))
    halves = {key for key, array in arrays.items() if array.dtype == np.float16}
    wider = {key: arrays[key].astype(np.float32) for key in halves}
    return {**arrays, **wider}, ("float16",) if halves else ()


def _said_beside(tensors: Tensors) -> dict[str, Matrix]:
    """Return the settings in the metadata of a safetensors file, as texts."""
    known = (*SETTINGS, "title", *_ASKING, *_ANSWERING)
    return {
        key: np.array(int(text) if text.isdecimal() else text)
        for key, text in tensors.metadata.items()
        if key not in tensors and (key in known or canonical(key) in known)
    }


def _torch_fields(arrays: Mapping[str, Matrix], faults: Faults) -> Fields:
    """Translate the state dict of a PyTorch layer, which stores weights (out, in)."""
    for name in _ADDED:
        if name in arrays:
            faults.add(f"{name}: keys and values added by a layer (add_bias_kv) are not known here")
    fields: Fields = {
        ours: arrays[theirs] for theirs, ours in _TORCH_WEIGHTS.items() if theirs in arrays
    }
    heads = next((name for name in _ASKING if name in arrays), None)
    if heads is not None:
        fields["heads"] = setting_of(arrays[heads])
    for name, part in (("in_proj_weight", "W"), ("in_proj_bias", "b")):
        if name in arrays:
            thirds = _thirds(name, arrays[name], faults)
            fields |= {f"{part}_{ours}": third for ours, third in zip("QKV", thirds, strict=False)}
    if any(name.startswith("W_") for name in fields):
        fields["weights_layout"] = "torch"
    return fields | _torch_tokens(arrays)


def _layer_fields(
    layers: dict[str, Matrix], arrays: Mapping[str, Matrix], faults: Faults
) -> Fields:
    """Translate the state dict of one or several layers, to names such as 1.W_1 and 2.self.W_Q."""
    fields: Fields = {"weights_layout": "torch"} if layers else {}
    has_memory = any("multihead_attn." in key for key in layers)
    if layers:
        fields["block"] = "decoder" if has_memory else "encoder"
    if layers and _TORCH_HEADS in arrays:
        fields["heads"] = setting_of(arrays[_TORCH_HEADS])
    attentions: dict[str, dict[str, Matrix]] = {}
    for key, array in layers.items():
        number, side, own = _parts_of(key)
        if side:
            where = {"self_attn": "self." if has_memory else "", "multihead_attn": "cross."}[side]
            attentions.setdefault(number + where, {})[own] = array
        else:
            fields[number + _of_layer(own)] = array
    for prefix, state in attentions.items():
        found = _torch_fields(state, faults)
        fields |= {prefix + name: each for name, each in found.items() if name in MATRICES}
    return fields


def _parts_of(key: str) -> tuple[str, str, str]:
    """Return the layer, as "1.", the attention in it, and the rest of the name."""
    match = _LAYER.fullmatch(key)
    assert match is not None
    number = "" if match[1] is None else f"{int(match[1]) + 1}."
    return number, match[2] or "", match[3] or match[4]


def _of_layer(own: str) -> str:
    """Return attncalc's name of a matrix of a layer: W_1 for linear1.weight."""
    part, kind = own.split(".")
    if part.startswith("linear"):
        return f"{'W' if kind == 'weight' else 'b'}_{part[-1]}"
    return f"{'gamma' if kind == 'weight' else 'beta'}_{part.removeprefix('norm') or 'out'}"


def _thirds(name: str, stacked: Matrix, faults: Faults) -> list[Matrix]:
    """Return the parts for Q, K and V that PyTorch stores in one array, or add an error."""
    if not stacked.ndim:
        faults.add(f"{name} is one number, where rows for Q, K and V are needed")
        return []
    if len(stacked) % 3:
        faults.add(f"{name}: its {len(stacked)} rows are not parts for Q, K and V")
        return []
    return list(np.split(stacked, 3))


def _torch_tokens(arrays: Mapping[str, Matrix]) -> Fields:
    given = {name: arrays[name] for name in _TORCH_TOKENS if name in arrays}
    query, key, value = (given.get(name) for name in _TORCH_TOKENS)
    same_value = value is None or _same(key, value)
    if query is not None and (key is None or _same(query, key)) and (value is None or same_value):
        return {"X": query}
    found = {"X1": query, "X2": key, "X3": None if same_value else value}
    return {name: array for name, array in found.items() if array is not None}


def _same(left: Matrix | None, right: Matrix | None) -> bool:
    return left is not None and right is not None and np.array_equal(left, right)
