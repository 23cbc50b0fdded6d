"""Causes: what else a kernel may have computed, as another problem than that of the case.

Each cause changes the fields of the problem: another convention, other matrices, or an equation in
place of a step. No result is computed twice: the changed problem is solved like any other.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from attncalc.base.errors import AttncalcError
from attncalc.base.types import Matrix
from attncalc.conforming.case import Case
from attncalc.conforming.reference import Expected, expected, outputs

Fields = dict[str, Any]
Change = Callable[[Fields], Fields | None]
"""Returns changed fields, or None where the change does not apply."""
BLOCKS = (2, 4, 8, 16, 32, 64, 128)


class Cause(NamedTuple):
    """A wrong way that gives what a kernel returned.

    Parameters
    ----------
    code, says
        Its name in JSON, and as a sentence.
    """

    code: str
    says: str


def causes_of(
    case: Case, got: Mapping[str, Matrix], right: Expected, most: int = 3
) -> tuple[Cause, ...]:
    """Return the causes that give every entry that a kernel returned; none where no cause does.

    Parameters
    ----------
    case, right
        The case that failed, and its right results.
    got
        What the kernel returned, by name, (batch, heads, tokens, width).
    most
        How many causes are returned, the nearest first.
    """
    if not np.isfinite(got["O"]).all():
        return tuple(_not_finite(case, got["O"], right))
    heads = (np.abs(got["O"] - right.values["O"]) > right.bounds["O"]).any(axis=(0, 2, 3))
    found: dict[str, tuple[float, Cause]] = {}
    for code, says, fields in _candidates(case):
        off = _explained(case, got, right, fields)
        if off is not None and (code not in found or off < found[code][0]):
            found[code] = off, Cause(code, _in_heads(says, heads))
    ranked = sorted(found.values(), key=lambda each: each[0])
    return tuple(cause for _, cause in ranked[:most])


def _explained(
    case: Case, got: Mapping[str, Matrix], right: Expected, fields: list[Fields]
) -> float | None:
    """Return the largest error beside other problems, in their bounds; None beyond them.

    Heads that are right may stay right.
    """
    try:
        rough = outputs(case, fields)
        if any(rough[name].shape != each.shape for name, each in got.items()):
            return None
        # nearer than the right results, or there is no need of bounds
        if all(_distance(x, rough[n]) >= _distance(x, right.values[n]) for n, x in got.items()):
            return None
        made = expected(case, fields)
    except (AttncalcError, ValueError):
        return None  # the change does not apply to these sizes
    largest, is_seen = 0.0, False
    for name, each in got.items():
        wrong = np.abs(each - right.values[name]) > right.bounds[name]
        heads = wrong.any(axis=(0, 2, 3))
        off = np.abs(each - made.values[name]) / np.maximum(made.bounds[name], 1e-300)
        off = np.where(each == made.values[name], 0.0, off)
        if not (off[:, heads] <= 1).all():
            return None
        largest = max(largest, float(off[:, heads].max(initial=0.0)))
        differs = np.abs(made.values[name] - right.values[name]) > right.bounds[name]
        is_seen = is_seen or bool((differs & wrong).any())
    return largest if is_seen else None


def _distance(one: Matrix, other: Matrix) -> float:
    return float(np.abs(one - other).sum())


def _in_heads(says: str, heads: Matrix) -> str:
    if heads.all() or not heads.any():
        return says
    wrong = [str(1 + head) for head in np.flatnonzero(heads)]
    return f"in head{'s' * (len(wrong) > 1)} {', '.join(wrong)} of {len(heads)} only: {says}"


def _not_finite(case: Case, got: Matrix, right: Expected) -> Iterator[Cause]:
    """Yield why results are nan or infinite."""
    bad = ~np.isfinite(got)
    if (bad.any(axis=-1) <= right.empty).all():
        yield Cause("empty-row", "a query without any key gives nan; 0 is expected")
        return
    groups = case.q.shape[1] // case.k.shape[1]
    scores = np.abs(case.q @ np.repeat(case.k, groups, axis=1).swapaxes(-1, -2))
    scale = case.call.get("scale")
    scaled = scores.max() * (case.q.shape[-1] ** -0.5 if scale is None else scale)
    largest = 65504.0 if case.dtype == "float16" else 3.4e38
    exponent = np.log(1.7e308 if case.dtype == "float64" else largest)
    if scores.max() > largest >= scaled:
        yield Cause("scores-overflow", f"the scores reach {scores.max():.3g} before they are "
                    f"scaled, and {case.dtype} ends at {largest:.5g}")  # fmt: skip
    elif scaled > exponent:
        yield Cause("exp-overflow", "exp overflows: the largest score of a row is not subtracted "
                    f"(scores reach {scaled:.3g})")  # fmt: skip


def within_lower_precision(case: Case, got: Mapping[str, Matrix]) -> str:
    """Return the type whose roundings explain results; "" for none."""
    finer = ("float64", "float32", "float16", "bfloat16")
    for dtype in finer[finer.index(case.dtype) + 1 :]:
        found = expected(replace(case, dtype=dtype))
        if all((np.abs(got[n] - x) <= found.bounds[n]).all() for n, x in found.values.items()):
            return dtype
    return ""


def _candidates(case: Case) -> Iterator[tuple[str, str, list[Fields]]]:
    """Yield each cause with the fields of its problems, one for each element of the batch."""
    own = [case.fields(batch) for batch in range(len(case.q))]
    for code, says, change in (*_of_masks(case), *_of_scores(case), *_of_heads(case), *MATRICES):
        changed = [change(dict(fields)) for fields in own]
        fields = [each for each in changed if each is not None]
        if len(fields) == len(own):
            yield code, says, fields
            if any(_empty_rows(each).any() for each in fields):
                also = f"{says}; {AVERAGED}"
                yield code, also, [_averaged_where_empty(each) for each in fields]
    if any(_empty_rows(each).any() for each in own):
        yield "empty-row", AVERAGED, [_averaged_where_empty(each) for each in own]
    yield from _of_batches(own)


AVERAGED = "a query without any key averages all values, because masked scores are finite"


def _empty_rows(fields: Fields) -> Matrix:
    """Return where no key is allowed by the mask: (heads, queries), or (queries,)."""
    keep = fields.get("keep")
    if keep is None or keep.shape[-2] != fields["Q"].shape[-2]:
        return np.zeros(1, bool)
    empty: Matrix = keep.sum(axis=-1) == 0
    return empty


def _averaged_where_empty(fields: Fields) -> Fields:
    """Give every key the same score where none is allowed."""
    empty = _empty_rows(fields)[..., None]
    keep = np.where(empty, 1.0, fields.get("keep", 1.0))
    return fields | {"keep": keep, "Q": np.where(empty, 0.0, fields["Q"])}


Named = tuple[str, str, Change]


# -- changes --------------------------------------------------------------------------------------


def _without(fields: Fields, *names: str) -> Fields | None:
    """Drop the first of these fields that is given; and what depends on it."""
    found = [name for name in names if name in fields]
    if not found:
        return None
    with_it = {"causal": "causal_alignment", "alibi": "alibi_slopes"}
    dropped = {*found, *(with_it[name] for name in found if name in with_it)}
    return {name: value for name, value in fields.items() if name not in dropped}


def _with(fields: Fields, **changed: Any) -> Fields:
    return fields | changed


def _keeping(fields: Fields, allowed: Matrix) -> Fields:
    """Allow keys by a mask in place of the causal one, beside the mask that is given."""
    plain = _without(fields, "causal") or fields
    return plain | {"keep": plain.get("keep", 1.0) * allowed}


def _of_masks(case: Case) -> Iterator[Named]:
    yield "mask-forgotten", "attn_mask is not applied", partial(_mask_forgotten, case)
    causal = "is_causal is not applied"
    if case.call.get("is_causal"):
        rows, keys = case.q.shape[2], case.k.shape[2]
        offset = case.call.get("query_offset")
        right = offset if offset is not None else keys - rows if "b" == case.alignment[0] else 0
        yield "causal-forgotten", causal, partial(_causal_forgotten, case)
        named = {0: "the mask is aligned top-left (query i sees keys up to i)",
                 keys - rows: "the mask is aligned bottom-right (the last query sees all keys)"}
        for other, says in named.items():
            if other != right:
                yield "causal-alignment", says, partial(_causal_at, case, other)
        if right:
            for other in (right + 1, right - 1):
                yield "offset-off-by-one", (
                    f"the queries are placed one {'later' if other > right else 'earlier'}: "
                    f"query_offset {other} in place of {right}"
                ), partial(_causal_at, case, other)
        yield "mask-strict", "a query does not see the key at its own position", partial(
            _causal_at, case, right - 1
        )
        yield "mask-loose", "a query sees one key after its own position", partial(
            _causal_at, case, right + 1
        )
        yield "mask-reversed", "keys before the query are masked, not those after it", partial(
            _causal_reversed, case, right
        )
        added = np.where(case.allowed(right) > 0, 0.0, 1.0)
        yield "mask-added", "the causal mask is added to the scores as 1 and 0", lambda f: (
            (_without(f, "causal", "keep") or f) | {"bias": 1.0 - added}
        )
        yield "mask-finite", "masked scores become 0, not -inf, before the softmax", partial(
            _masked_by_zero, case.allowed(right)
        )
    else:
        yield "causal-not-asked", "a causal mask is applied that is not asked for", lambda f: (
            _with(f, causal=True)
        )
        yield "causal-not-asked", (
            "a causal mask, aligned bottom-right, is applied that is not asked for"
        ), lambda f: _with(f, causal=True, causal_alignment="bottom-right")
    if case.call.get("attn_mask") is not None:
        yield from _of_given_masks(case)
    if (window := case.call.get("window")) is not None:
        yield "window-forgotten", "the window is not applied", lambda f: _without(f, "window")
        for other in (window - 1, window + 1):
            if other >= 1:
                yield "window-size", f"the window holds {other} keys, not {window}", partial(
                    _with, window=other
                )


def _mask_forgotten(case: Case, fields: Fields) -> Fields | None:
    if case.call.get("attn_mask") is None:
        return None
    plain = _without(fields, "keep", "bias")
    if plain is not None and case.call.get("query_offset") is not None:
        plain["keep"] = case.allowed(int(case.call["query_offset"]))
    return plain


def _causal_forgotten(case: Case, fields: Fields) -> Fields | None:
    if "causal" in fields:
        return _without(fields, "causal")
    plain = _without(fields, "keep")
    return plain if case.call.get("attn_mask") is None else None


def _causal_at(case: Case, offset: int, fields: Fields) -> Fields | None:
    if case.call.get("query_offset") is not None:
        fields = _without(fields, "keep") or fields
    return _keeping(fields, case.allowed(offset))


def _causal_reversed(case: Case, offset: int, fields: Fields) -> Fields:
    return _keeping(_without(fields, "keep") or fields, 1.0 - case.allowed(offset - 1))


def _masked_by_zero(allowed: Matrix, fields: Fields) -> Fields | None:
    plain = _without(fields, "causal", "keep") or fields
    return _by_equation(plain, "S_scaled", "{last} * allowed[i,j]", allowed=allowed)


def _of_given_masks(case: Case) -> Iterator[Named]:
    def changed(change: Callable[[Matrix], Matrix]) -> Change:
        def made(fields: Fields) -> Fields | None:
            name = "keep" if "keep" in fields else "bias"
            new = change(fields[name])
            return None if new.shape != fields[name].shape else fields | {name: new}

        return made

    is_boolean = np.asarray(case.call["attn_mask"]).dtype == bool
    if is_boolean:
        yield "mask-inverted", "keys are masked where attn_mask is true", changed(lambda k: 1 - k)
        yield "mask-added", "attn_mask is added to the scores as 1 and 0", lambda f: (
            (_without(f, "keep") or f) | {"bias": f["keep"]}
        )
        yield "mask-multiplied", "the scores are multiplied by attn_mask", lambda f: (
            _by_equation(_without(f, "keep") or f, "S_scaled", "{last} * allowed[h,i,j]",
                         allowed=f["keep"])
        )  # fmt: skip
    else:
        yield "mask-sign", "attn_mask is subtracted", changed(lambda b: np.where(
            np.isneginf(b), b, -b))  # fmt: skip
        yield "mask-before-scale", "attn_mask is added before the scores are scaled", partial(
            _scaled_bias, case
        )
        yield "mask-as-boolean", "attn_mask is read as true and false", lambda f: (
            (_without(f, "bias") or f) | {"keep": (f["bias"] != 0).astype(float)}
        )
    yield "mask-side", "the mask is on the other side of the keys", changed(lambda k: k[..., ::-1])
    yield "mask-transposed", "queries and keys of the mask are exchanged", changed(
        lambda k: k.swapaxes(-1, -2)
    )
    yield "mask-of-head", "every head has the mask of the first", changed(
        lambda k: np.broadcast_to(k[:1], k.shape)
    )


def _scaled_bias(case: Case, fields: Fields) -> Fields:
    scale = case.call.get("scale")
    return fields | {"bias": fields["bias"] * (case.q.shape[-1] ** -0.5 if scale is None else scale)}


def _by_equation(fields: Fields, step: str, right: str, **matrices: Any) -> Fields:
    """Replace a step by an equation; {last} is the step that it reads."""
    reads = {"S_scaled": "S[h,i,j] / sqrt(d_k)", "S_capped": "S_scaled[h,i,j]"}
    if step == "S_scaled" and "scale" in fields:
        reads["S_scaled"] = f"S[h,i,j] * {float(fields['scale'])!r}"
    line = f"{step}[h,i,j] = {right.format(last='(' + reads[step] + ')')}"
    return fields | {"equations": [_for_heads(fields, line)], "more": matrices}


def _for_heads(fields: Fields, line: str) -> str:
    """Return an equation without its index of heads where there is a single one."""
    return line if len(fields["Q"]) > 1 else line.replace("h,", "")


def _of_scores(case: Case) -> Iterator[Named]:
    width, heads = case.q.shape[3], case.q.shape[1]
    given = case.call.get("scale")
    right = width**-0.5 if given is None else given
    others = (
        (1.0, "scale-none", "the scores are not scaled"),
        (1.0 / width, "scale-dk", f"the scores are divided by d_k = {width}, not by its root"),
        (right * right, "scale-twice", "the scores are scaled twice"),
        (width**0.5, "scale-times", "the scores are multiplied by the root of d_k"),
        ((width * heads) ** -0.5, "scale-model",
         "the scores are divided by the root of the width of all heads"),
        (width**-0.5, "scale-ignored",
         "scale is not read: the scores are divided by the root of d_k"),
        (case.k.shape[2] ** -0.5, "scale-keys",
         "the scores are divided by the root of the number of keys"),
    )  # fmt: skip
    for scale, code, says in others:
        if abs(scale - right) > 1e-12:
            yield code, says, partial(_with, scale=scale)
    cap = case.call.get("softcap")
    if cap is not None:
        yield "cap-forgotten", "softcap is not applied", lambda f: _without(f, "softcap")
        yield "cap-undivided", "the scores are not divided by softcap before tanh", lambda f: (
            _by_equation(f, "S_capped", f"{cap!r} * tanh({{last}})")
        )
        yield "cap-unmultiplied", "tanh is not multiplied by softcap", lambda f: (
            _by_equation(f, "S_capped", f"tanh({{last}} / {cap!r})")
        )
        yield "cap-product", "each score is multiplied by its tanh", lambda f: (
            _by_equation(f, "S_capped", "{last} * tanh({last})")
        )
        yield "cap-clipped", "the scores are clipped, not capped by tanh", lambda f: (
            _by_equation(f, "S_capped", f"max(min({{last}}, {cap!r}), -{cap!r})")
        )
        yield "cap-before-scale", "softcap is applied before the scale", lambda f: (
            _by_equation(f, "S_capped", f"{cap!r} * tanh(S[h,i,j] / {cap!r}) * {right!r}")
        )
        if case.call.get("is_causal"):
            yield "cap-after-mask", "softcap is applied after the mask: masked scores become "\
                "-softcap", partial(_cap_after_mask, case, float(cap))  # fmt: skip
    if case.call.get("sinks") is not None:
        yield "sinks-forgotten", "sinks are not applied", lambda f: _without(f, "sinks")
        yield "sinks-of-head", "sinks are applied to the heads in reverse order", lambda f: (
            f | {"sinks": f["sinks"][::-1]}
        )
    if case.call.get("alibi_slopes") is not None:
        yield "alibi-forgotten", "alibi_slopes are not applied", lambda f: _without(f, "alibi")
        for code, says, times in (("alibi-sign", "distances are added, not subtracted", -1.0),
                                  ("alibi-scaled", "ALiBi is scaled with the scores", right)):  # fmt: skip
            yield code, says, partial(_slopes_times, times)
        yield "alibi-of-head", "slopes are applied to the heads in reverse order", lambda f: (
            f | {"alibi_slopes": f["alibi_slopes"][::-1]}
        )
    yield "softmax-columns", "each column of the weights sums to 1, not each row", lambda f: (
        _weights(f, "softmax({last}[h,k,j] for k in n)[i]")
    )
    yield "softmax-heads", "the weights sum to 1 over the heads, not over the keys", lambda f: (
        _weights(f, "softmax({last}[k,i,j] for k in heads)[h]")
    )
    yield "softmax-missing", "no softmax: the scores are the weights", lambda f: (
        _weights(f, "{last}[h,i,j]")
    )
    yield "softmax-sum", "exp is not divided by its sum", lambda f: (
        _weights(f, "exp({last}[h,i,j])")
    )
    yield "softmax-plus-one", "the sum of the softmax has one more", lambda f: (
        _weights(f, "exp({last}[h,i,j]) / (1 + sum(exp({last}[h,i,k]) for k in m))")
    )
    yield "softmax-base", "the base of the softmax is 2, not e", lambda f: (
        _weights(f, "2 ** {last}[h,i,j] / sum(2 ** {last}[h,i,k] for k in m)")
    )


def _slopes_times(times: float, fields: Fields) -> Fields:
    return fields | {"alibi_slopes": [times * each for each in fields["alibi_slopes"]]}


def _cap_after_mask(case: Case, cap: float, fields: Fields) -> Fields:
    own = _without(_without(fields, "softcap") or fields, "causal") or fields
    offset = case.k.shape[2] - case.q.shape[2] if case.alignment[0] == "b" else 0
    right = f"{cap!r} * tanh({{last}} / {cap!r}) if allowed[i,j] == 1 else -{cap!r}"
    return _by_equation(own, "S_scaled", right, allowed=case.allowed(offset))


def _weights(fields: Fields, right: str) -> Fields | None:
    """Replace the softmax; {last} is the last step of the scores."""
    steps = {"S_masked": {"causal", "keep", "bias", "window"}, "S_alibi": {"alibi"}}
    steps |= {"S_capped": {"softcap"}, "S_scaled": fields.keys()}
    last = next(step for step, made_by in steps.items() if made_by & fields.keys())
    if "sinks" in fields:
        return None
    return fields | {"equations": [_for_heads(fields, f"A[h,i,j] = {right.format(last=last)}")]}


def _of_heads(case: Case) -> Iterator[Named]:
    heads, of_keys = case.q.shape[1], case.k.shape[1]
    if heads > of_keys:
        tiled = np.arange(heads) % of_keys
        yield "heads-tiled", "key heads are repeated as a whole (1 2 1 2), not each in turn "\
            "(1 1 2 2)", partial(_key_heads, tiled)  # fmt: skip
        yield "heads-first", "every query head reads the first key head", partial(
            _key_heads, np.zeros(heads, int)
        )
    elif heads > 1:
        yield "heads-reversed", "query heads read the key heads in reverse order", partial(
            _key_heads, np.arange(heads)[::-1]
        )
        yield "heads-first", "every query head reads the first key head", partial(
            _key_heads, np.zeros(heads, int)
        )
        yield "heads-shifted", "each query head reads the key head of the one before", partial(
            _key_heads, (np.arange(heads) - 1) % heads
        )
    keys = case.k.shape[2]
    for block in BLOCKS:
        if block < keys and keys % block:
            yield "block-rest", f"keys after the last full block of {block} are left out", partial(
                _first_keys, keys // block * block
            )
            break
    for block in BLOCKS:
        if block < keys:
            yield "block-first", f"only the first {block} keys are read", partial(
                _first_keys, block
            )
            yield "block-last", "a block of keys replaces the blocks before it: only keys from "\
                f"{(keys - 1) // block * block + 1} on are read", partial(
                _last_keys, (keys - 1) // block * block
            )  # fmt: skip
    if keys > 1:
        yield "key-left-out", "the last key is left out", partial(_first_keys, keys - 1)
        yield "key-left-out", "the first key is left out", partial(_last_keys, 1)


def _key_heads(order: Matrix, fields: Fields) -> Fields:
    return fields | {"K": fields["K"][order], "V": fields["V"][order]}


def _first_keys(count: int, fields: Fields) -> Fields:
    allowed = np.arange(fields["K"].shape[1]) < count
    return fields | {"keep": fields.get("keep", 1.0) * np.broadcast_to(
        allowed.astype(float), (fields["Q"].shape[1], len(allowed)))}  # fmt: skip


def _last_keys(first: int, fields: Fields) -> Fields:
    allowed = np.arange(fields["K"].shape[1]) >= first
    return fields | {"keep": fields.get("keep", 1.0) * np.broadcast_to(
        allowed.astype(float), (fields["Q"].shape[1], len(allowed)))}  # fmt: skip


def _moved(name: str, by: int) -> Change:
    def change(fields: Fields) -> Fields:
        return fields | {each: np.roll(fields[each], by, axis=1) for each in name.split()}

    return change


def _exchanged(fields: Fields) -> Fields | None:
    return fields | {"Q": fields["K"], "K": fields["Q"]}


MATRICES: tuple[Named, ...] = (
    ("q-k-swapped", "queries and keys are exchanged", _exchanged),
    ("k-for-v", "keys are used as values", lambda f: f | {"V": f["K"]}),
    ("v-for-k", "values are used as keys", lambda f: f | {"K": f["V"]}),
    ("v-shifted", "the values are one token late", _moved("V", 1)),
    ("v-shifted", "the values are one token early", _moved("V", -1)),
    ("keys-shifted", "keys and values are one token late", _moved("K V", 1)),
    ("k-shifted", "the keys are one token late", _moved("K", 1)),
    ("k-shifted", "the keys are one token early", _moved("K", -1)),
    ("q-shifted", "the queries are one token late", _moved("Q", 1)),
    ("q-shifted", "the queries are one token early", _moved("Q", -1)),
    ("q-reversed", "the queries are in reverse order", lambda f: f | {"Q": f["Q"][:, ::-1]}),
    ("v-reversed", "the values are in reverse order", lambda f: f | {"V": f["V"][:, ::-1]}),
    ("head-width", "the columns of a head are in reverse order in the queries",
     lambda f: f | {"Q": f["Q"][..., ::-1]}),
)  # fmt: skip


def _of_batches(own: list[Fields]) -> Iterator[tuple[str, str, list[Fields]]]:
    """Yield mistakes in what belongs to which element of the batch."""
    if len(own) < 2:
        return
    for code, says, other in (
        ("batch-first", "every element of the batch is computed as the first", own[0]),
        ("batch-last", "every element of the batch is computed as the last", own[-1]),
    ):
        yield code, says, [other] * len(own)
    masks = ("keep", "bias")
    if any(name in own[0] for name in masks):
        first = {name: own[0][name] for name in masks if name in own[0]}
        says = "every element of the batch has the mask of the first"
        yield "mask-of-batch", says, [fields | first for fields in own]
