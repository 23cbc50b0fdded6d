"""The tensors of one layer, with any names, as the fields of a problem."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from attncalc.base.types import Matrix
from attncalc.reading.models.names import IN_OUT, OUT_IN, Meaning, renamed, whole

Fields = dict[str, Any]
Tell = Callable[[str], None]
FUSED = {
    "W_QKV": ("W_Q", "W_K", "W_V"),
    "b_QKV": ("b_Q", "b_K", "b_V"),
    "W_13": ("W_1", "W_3"),
    "b_13": ("b_1", "b_3"),
    "W_31": ("W_3", "W_1"),
    "W_s13": ("W_s1", "W_s3"),
}
OF_EXPERTS: dict[str, tuple[tuple[str, ...], Callable[[Matrix], Sequence[Matrix]]]] = {
    "W_13_in_out": (("W_1", "W_3"), lambda array: (array[..., ::2], array[..., 1::2])),
    "b_13_in_out": (("b_1", "b_3"), lambda array: (array[..., ::2], array[..., 1::2])),
    "W_2_in_out": (("W_2",), lambda array: (array,)),
}
"""Weights of experts, (experts, in, out), and biases: their fields, and how outputs are split."""


class Heads(NamedTuple):
    """The heads of an attention, and how one array holds its queries, keys and values.

    asking, answering: the numbers of query heads and of key heads: None if they are unknown.
    blocks, order: of one array of all three: the number of equal blocks, and the order in each of
        them.
    """

    asking: int | None = None
    answering: int | None = None
    blocks: int = 1
    order: str = "QKV"


def named(
    names: Iterable[str], tell: Tell, own: Mapping[str, str] = MappingProxyType({})
) -> dict[str, tuple[str, Meaning]]:
    """Return the tensor of each field, by the ends of names; report fields that have two.

    own: fields by ends of names with a special meaning here.
    """
    found: dict[str, tuple[str, Meaning]] = {}
    again: dict[str, str] = {}
    for name in names:
        meaning = renamed(name, own)
        if meaning is None:
            continue
        if meaning.field in found:
            again.setdefault(meaning.field, name)
        else:
            found[meaning.field] = name, meaning
    if again:
        (field, name), *others = again.items()
        more = f", and {len(others)} more of its fields fit two" if others else ""
        tell(
            f"{field} fits two of its names, {whole(found[field][0])} and {whole(name)}{more}: "
            "keep one layer (of a whole model, attncalc open reads one)"
        )
    for kind in "Wb":  # an "up" projection without a gate is the first
        if f"{kind}_3" in found and f"{kind}_1" not in found:
            found[f"{kind}_1"] = found.pop(f"{kind}_3")
    return found


def layer_fields(
    arrays: Mapping[str, Matrix],
    found: Mapping[str, tuple[str, Meaning]],
    heads: Heads,
    tell: Tell,
    layout: str = "",
) -> Fields:
    """Return the matrices of a layer by attncalc's names, and the layout of its weights.

    arrays: the tensors, each read when it is used.
    found: as `named` returns it.
    heads: required if Q, K and V are stored in one array and differ in width.
    layout: the layout of all weights; "" if names and shapes decide.
    """
    taken = {field: arrays[name] for field, (name, _) in found.items()}
    experts = len(taken.get("W_router", ()))
    taken = {field: _in_shape(field, each, experts) for field, each in taken.items()}
    if _are_in_out(taken):
        taken |= {field: taken[field].swapaxes(1, 2) for field in ("W_13", "W_2")}
    turned = _kept_in_out(found, taken, layout)
    fields: Fields = {}
    for field, stored in taken.items():
        array = stored.T if field in turned and stored.ndim == 2 else stored
        if field in FUSED:
            # the parts are below one another in (out, in), and in a bias
            parts = (
                _parts(found[field][0], array, heads, tell)
                if len(FUSED[field]) == 3
                else np.split(array, 2, axis=-1 if field[0] == "b" else array.ndim - 2)
            )
            fields |= dict(zip(FUSED[field], parts, strict=False))
        elif field in OF_EXPERTS:
            names, split = OF_EXPERTS[field]
            for name, part in zip(names, split(array), strict=True):
                fields[name] = part.swapaxes(-1, -2) if name.startswith("W_") else part
        else:
            fields[field] = array
    weights = [field for field in fields if field.startswith("W_")]
    if turned:
        fields |= {field: fields[field].T for field in weights if fields[field].ndim == 2}
    if weights:
        fields["weights_layout"] = IN_OUT if turned else OUT_IN
    _check_groups(fields, heads, axis=1 if turned else 0, tell=tell)
    return fields


def _in_shape(field: str, array: Matrix, experts: int) -> Matrix:
    """Return weights with the usual axes.

    In XLNet, projections of heads are (features of tokens, heads, width). In DBRX, experts are
    below one another, and the second weights of each are (in, out).
    """
    if field in ("W_Q", "W_K", "W_V", "W_O") and array.ndim == 3:
        flat = array.reshape(len(array), -1)
        return flat if field == "W_O" else flat.T
    if experts and field in ("W_1", "W_2", "W_3") and array.ndim == 2:
        of_each = array.reshape(experts, -1, array.shape[1])
        return of_each.swapaxes(1, 2) if field == "W_2" else of_each
    return array


def _are_in_out(taken: Mapping[str, Matrix]) -> bool:
    """Return whether experts are stored (experts, in, out): of inputs W_2 has half of W_13's outs.

    Llama 4 does so, and Qwen3-VL-MoE in the files of hubs, but not in those of transformers 5.
    """
    first, last = (taken.get(field, np.zeros(0)).shape for field in ("W_13", "W_2"))
    return len(first) == len(last) == 3 and first[2] == 2 * last[1]


def _check_groups(fields: Fields, heads: Heads, *, axis: int, tell: Tell) -> None:
    """Report weights whose number of heads differs from the stated one."""
    if not (heads.asking and heads.answering and "W_Q" in fields and "W_K" in fields):
        return
    outs = [fields[name].shape[axis] for name in ("W_Q", "W_K") if fields[name].ndim == 2]
    if len(outs) == 2 and outs[0] * heads.answering != outs[1] * heads.asking:
        tell(
            f"the keys' weights have {outs[1]} outputs and the queries' {outs[0]}: with "
            f"{heads.asking} query heads these are not {heads.answering} heads of one width"
        )


def _kept_in_out(
    found: Mapping[str, tuple[str, Meaning]], taken: Mapping[str, Matrix], layout: str
) -> set[str]:
    """Return the weights stored (in, out): those of a Conv1D, recognized by one that is not square.

    nanoGPT has the names of GPT-2, and stores its weights (out, in).
    """
    if layout:
        return {field for field in found if field.startswith("W_") and layout == IN_OUT}
    named_so = {
        field
        for field, (_, meaning) in found.items()
        if field.startswith("W_") and meaning.is_in_out
    }
    for field, factor in (("W_QKV", 3), ("W_1", 4)):
        shape = taken[field].shape if field in named_so else ()
        if len(shape) == 2 and shape[0] > shape[1] and shape[0] >= factor * shape[1]:
            return set()
    return named_so


def _parts(name: str, stacked: Matrix, heads: Heads, tell: Tell) -> list[Matrix]:
    """Return the rows for Q, for K and for V of one array, or report why they are unknown."""
    rows = len(stacked) if stacked.ndim else 0
    asking, answering = heads.asking, heads.answering or heads.asking
    if asking and answering and (answering != asking or heads.blocks > 1):
        count = asking + 2 * answering
        if rows % count or asking % heads.blocks or answering % heads.blocks:
            of_blocks = f", in {heads.blocks} equal blocks" if heads.blocks > 1 else ""
            tell(
                f"{name}: its {rows} rows are not those of {asking} query heads and {answering} "
                f"heads each of keys and values{of_blocks}"
            )
            return []
        return _from_blocks(stacked, rows // count, heads)
    if not rows or rows % 3:
        more = ": where keys have fewer heads, num_key_value_heads says how many" if rows else ""
        tell(f"{name}: its {rows} rows are not parts for Q, K and V{more}")
        return []
    return list(np.split(stacked, 3))


def _from_blocks(stacked: Matrix, width: int, heads: Heads) -> list[Matrix]:
    """Return Q, K and V of heads of a width, each from all blocks."""
    asking, answering = heads.asking or 1, heads.answering or heads.asking or 1
    rows = {"Q": asking, "K": answering, "V": answering}
    ends = np.cumsum([rows[each] * width // heads.blocks for each in heads.order])
    blocks = stacked.reshape(heads.blocks, -1, *stacked.shape[1:])
    parts = dict(zip(heads.order, np.split(blocks, ends[:2], axis=1), strict=True))
    return [parts[each].reshape(-1, *stacked.shape[1:]) for each in "QKV"]


def latent_fields(fields: Fields, heads: int, turned: int) -> Fields:
    """Return the fields of a latent attention, of which rope turns the first columns of a head.

    W_K maps K_R to the first columns of every head as it is, and latent vectors to the others.

    fields: those of a layer: W_DKV and W_KR in one array, and W_UK and W_V in W_UKV, all (out, in).
    heads, turned: the number of heads, and of the columns of each that rope turns, the last ones in
        W_Q.
    """
    made = dict(fields)
    for kind in "Wb":
        if f"{kind}_DKV_KR" in made:
            both = made.pop(f"{kind}_DKV_KR")
            made[f"{kind}_DKV"], made[f"{kind}_KR"] = both[:-turned], both[-turned:]
    W_Q, W_UKV = made["W_Q"], made.pop("W_UKV")
    of_query = W_Q.reshape(heads, -1, W_Q.shape[1])
    made["W_Q"] = np.roll(of_query, turned, axis=1).reshape(W_Q.shape)
    plain, rank = of_query.shape[1] - turned, W_UKV.shape[1]
    of_both = W_UKV.reshape(heads, -1, rank)
    W_K = np.zeros((heads, turned + plain, turned + rank), W_UKV.dtype)
    W_K[:, :turned, :turned] = np.eye(turned)
    W_K[:, turned:, turned:] = of_both[:, :plain]
    made["W_K"] = W_K.reshape(-1, turned + rank)
    made["W_V"] = of_both[:, plain:].reshape(-1, rank)
    return made


def split_of_groups(array: Matrix, groups: int, *widths: int) -> list[Matrix]:
    """Return the parts of an array that holds them one after another, in each of its groups."""
    parts = np.split(array.reshape(groups, -1, *array.shape[1:]), np.cumsum(widths)[:-1], axis=1)
    return [each.reshape(-1, *array.shape[1:]) for each in parts]
