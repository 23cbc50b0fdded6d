"""Causes: other computations of a kernel, as problems other than that of the case.

Each cause changes the fields of the problem: another convention, other matrices, or an equation in
place of a step. No result is computed twice: the changed problem is solved like any other.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from attncalc.base.errors import AttncalcError
from attncalc.base.types import Matrix
from attncalc.conforming.case import ALIGNMENTS, QK_EPS, Case
from attncalc.conforming.reference import Expected, expected, outputs
from attncalc.problem.problem import Problem
from attncalc.problem.step import run
from attncalc.solving.plan import plan

Fields = dict[str, Any]
Change = Callable[[Fields], Fields | None]
"""Returns changed fields, or None where the change does not apply."""
BLOCKS = (2, 4, 8, 16, 32, 64, 128)
MOST = 3
"""The largest number of causes of a failure, the nearest ones."""


class Cause(NamedTuple):
    """A wrong computation with the results of a kernel; its code in JSON, and its sentence."""

    code: str
    says: str


def causes_of(case: Case, got: Mapping[str, Matrix], right: Expected) -> tuple[Cause, ...]:
    """Return the causes that give every entry that a kernel returned; () if there is none.

    case, right: the case that failed, and its right results.
    got: the results of the kernel, by name, (batch, heads, tokens, width).
    """
    if not np.isfinite(got["O"]).all():
        if causes := tuple(_not_finite(case, got["O"], right)):
            return causes
        without_keys = np.isnan(got["O"]).all(axis=-1, keepdims=True)
        plain = {"O": np.where(without_keys, 0.0, got["O"])}  # a cause may leave a query no key
        return causes_of(case, plain, right) if np.isfinite(plain["O"]).all() else ()
    heads: Matrix = np.asarray(_wrong(got["O"], right, "O").any(axis=(0, 2, 3)))
    found: dict[str, tuple[float, Cause]] = {}
    for code, says, fields in _candidates(case):
        off = _explained(case, got, right, fields)
        if off is not None and (code not in found or off < found[code][0]):
            found[code] = off, Cause(code, _in_heads(says, heads))
    ranked = sorted(found.values(), key=lambda each: each[0])
    return tuple(cause for _, cause in ranked[:MOST])


def _explained(
    case: Case, got: Mapping[str, Matrix], right: Expected, fields: list[Fields]
) -> float | None:
    """Return the largest error compared with other problems, in their bounds; None beyond them."""
    heads = {name: _wrong(each, right, name).any(axis=(0, 2, 3)) for name, each in got.items()}
    try:
        rough = outputs(case, fields)
        if any(rough[name].shape != each.shape for name, each in got.items()):
            return None
        # a cause is nearer than the right results; bounds take longer
        if not any(
            np.abs(x - rough[n])[:, heads[n]].sum() < np.abs(x - right.values[n])[:, heads[n]].sum()
            for n, x in got.items()
        ):
            return None
        made = expected(case, fields)
    except (AttncalcError, ValueError):
        return None  # the change does not apply to these sizes
    largest, is_seen = 0.0, False
    for name, each in got.items():
        off = np.abs(each - made.values[name]) / np.maximum(made.bounds[name], 1e-300)
        off = np.where(each == made.values[name], 0.0, off)[:, heads[name]]
        if not (off <= 1).all():
            return None
        largest = max(largest, float(off.max(initial=0.0)))
        differs = np.abs(made.values[name] - right.values[name]) > right.bounds[name]
        is_seen = is_seen or bool((differs & _wrong(each, right, name)).any())
    return largest if is_seen else None


def _wrong(got: Matrix, right: Expected, name: str) -> Matrix:
    return np.asarray(np.abs(got - right.values[name]) > right.bounds[name])


def _in_heads(says: str, heads: Matrix) -> str:
    if heads.all() or not heads.any():
        return says
    wrong = [str(1 + head) for head in np.flatnonzero(heads)]
    return f"in head{'s' * (len(wrong) > 1)} {', '.join(wrong)} of {len(heads)} only: {says}"


def _not_finite(case: Case, got: Matrix, right: Expected) -> Iterator[Cause]:
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
    for code, says, change in chain.from_iterable(of(case) for of in TABLES):
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
    return np.asarray(keep.sum(axis=-1) == 0)


def _averaged_where_empty(fields: Fields) -> Fields:
    """Give every key the same score if none is allowed."""
    empty = _empty_rows(fields)[..., None]
    keep = np.where(empty, 1.0, fields.get("keep", 1.0))
    return fields | {"keep": keep, "Q": np.where(empty, 0.0, fields["Q"])}


Named = tuple[str, str, Change]


# -- changes --------------------------------------------------------------------------------------


def _dropped(*names: str) -> Change:
    """Remove the given fields with these names, and those that depend on them."""
    depends = {"causal": "causal_alignment", "alibi": "alibi_slopes"}

    def change(fields: Fields) -> Fields | None:
        found = {each for name in names if name in fields for each in (name, depends.get(name))}
        return {n: value for n, value in fields.items() if n not in found} if found else None

    return change


def _set(**changed: Any) -> Change:
    return lambda fields: fields | changed


def _changed(change: Callable[[Any], Any], *names: str) -> Change:
    """Change fields, where they are given and keep their shapes."""

    def made(fields: Fields) -> Fields | None:
        if not fields.keys() >= {*names}:
            return None
        new = {name: change(fields[name]) for name in names}
        are_alike = all(np.shape(each) == np.shape(fields[name]) for name, each in new.items())
        return fields | new if are_alike else None

    return made


def _causal(case: Case, allowed: Matrix) -> Change:
    """Replace the causal mask, in addition to attn_mask."""

    def change(fields: Fields) -> Fields:
        plain = dict(fields)
        if case.call.get("query_offset") is not None:  # it is part of the mask, too
            plain["keep"] = np.ones(allowed.shape)
        for name in ("causal", "causal_alignment"):
            plain.pop(name, None)
        return plain | {"keep": plain.get("keep", 1.0) * allowed}

    return change


def _by(step: str, right: str, **matrices: Any) -> Change:
    """Replace a step by an equation; {last} is the step that it reads."""

    def change(fields: Fields) -> Fields:
        scale = fields.get("scale")
        scaled = "S[h,i,j] / sqrt(d_k)" if scale is None else f"S[h,i,j] * {float(scale)!r}"
        last = f"({scaled})" if step == "S_scaled" else "S_scaled[h,i,j]"
        line = f"{step}[h,i,j] = {right.format(last=last)}"
        return fields | {"equations": [_for_heads(fields, line)], "more": matrices}

    return change


def _weights(right: str, *, with_sinks: bool = False) -> Change:
    """Replace the softmax, with or without sinks; {last} is the last step of the scores."""

    def change(fields: Fields) -> Fields | None:
        steps = {"S_masked": {"causal", "keep", "bias", "window"}, "S_alibi": {"alibi"}}
        steps |= {"S_capped": {"softcap"}, "S_scaled": {*fields}}
        last = next(step for step, made_by in steps.items() if made_by & fields.keys())
        line = f"A[h,i,j] = {right.format(last=last)}"
        is_meant = ("sinks" in fields) == with_sinks
        return fields | {"equations": [_for_heads(fields, line)]} if is_meant else None

    return change


def _for_heads(fields: Fields, line: str) -> str:
    """Return an equation without its index of heads where there is a single one."""
    return line if len(fields["Q"]) > 1 else line.replace("h,", "")


def _both(first: Change, second: Change) -> Change:
    def change(fields: Fields) -> Fields | None:
        made = first(fields)
        return None if made is None else second(made)

    return change


def _keys(allowed: Matrix) -> Change:
    def change(fields: Fields) -> Fields:
        mask = np.broadcast_to(allowed.astype(float), (fields["Q"].shape[1], len(allowed)))
        return fields | {"keep": fields.get("keep", 1.0) * mask}

    return change


def _unmasked(fields: Fields) -> Fields:
    return fields | {"keep": np.ones_like(fields["keep"])}


def _times_mask(fields: Fields) -> Fields | None:
    times = _by("S_scaled", "{last} * allowed[h,i,j]", allowed=fields["keep"])
    return times(_unmasked(fields))


def _as_boolean(fields: Fields) -> Fields:
    bias = fields["bias"]
    return fields | {"keep": (bias != 0).astype(float), "bias": np.zeros_like(bias)}


def _key_heads(order: Matrix) -> Change:
    return lambda fields: fields | {"K": fields["K"][order], "V": fields["V"][order]}


# -- tables ---------------------------------------------------------------------------------------


def _of_causal(case: Case) -> Iterator[Named]:
    if not case.call.get("is_causal"):
        says = "a causal mask is applied that is not asked for"
        yield "causal-not-asked", says, _set(causal=True)
        says = "a causal mask, aligned bottom-right, is applied that is not asked for"
        yield "causal-not-asked", says, _set(causal=True, causal_alignment=ALIGNMENTS[1])
        return
    rows, keys = case.q.shape[2], case.k.shape[2]
    offset = case.call.get("query_offset")
    is_last = case.alignment == ALIGNMENTS[1]
    right = int(offset) if offset is not None else (keys - rows) * is_last
    none, allowed = np.ones((rows, keys)), case.allowed(right)
    others = (
        ("causal-forgotten", "is_causal is not applied", none),
        ("causal-alignment", "the mask is aligned top-left: query i sees keys up to i",
         case.allowed(0)),
        ("causal-alignment", "the mask is aligned bottom-right: the last query sees all keys",
         case.allowed(keys - rows)),
        ("mask-strict", "a query does not see the key at its own position",
         case.allowed(right - 1)),
        ("mask-loose", "a query sees one key after its own position", case.allowed(right + 1)),
        ("mask-reversed", "keys before the query are masked, not those after it",
         1 - case.allowed(right - 1)),
    )  # fmt: skip
    for code, says, mask in others:
        if not np.array_equal(mask, allowed):
            yield code, says, _causal(case, mask)
    for other, where in ((right + 1, "later"), (right - 1, "earlier")) if right else ():
        says = f"the queries are one place {where}: query_offset {other}, not {right}"
        yield "offset-off-by-one", says, _causal(case, case.allowed(other))
    without = _causal(case, none)
    says = "the causal mask is added to the scores as 1 and 0"
    yield "mask-added", says, _both(without, _set(bias=allowed))
    says = "masked scores become 0, not -inf, before the softmax"
    by_zero = _by("S_scaled", "{last} * allowed[i,j]", allowed=allowed)
    yield "mask-finite", says, _both(without, by_zero)
    if (cap := case.call.get("softcap")) is not None:
        says = "softcap is applied after the mask: masked scores become -softcap"
        capped = f"{cap!r} * tanh({{last}} / {cap!r}) if allowed[i,j] == 1 else -{cap!r}"
        by_cap = _both(_dropped("softcap"), _by("S_scaled", capped, allowed=allowed))
        yield "cap-after-mask", says, _both(without, by_cap)


def _of_masks(case: Case) -> Iterator[Named]:
    if (window := case.call.get("window")) is not None:
        yield "window-forgotten", "the window is not applied", _dropped("window")
        for other in (window - 1, window + 1):
            if other:
                says = f"the window has {other} keys, not {window}"
                yield "window-size", says, _set(window=other)
    if (mask := case.call.get("attn_mask")) is None:
        return
    scale = case.call.get("scale")
    factor = case.q.shape[3] ** -0.5 if scale is None else scale
    yield "mask-forgotten", "attn_mask is not applied", _dropped("keep", "bias")
    if np.asarray(mask).dtype == bool:
        name = "keep"
        says = "keys are masked where attn_mask is true"
        yield "mask-inverted", says, _changed(lambda keep: 1 - keep, "keep")
        says = "attn_mask is added to the scores as 1 and 0"
        yield "mask-added", says, lambda f: _unmasked(f) | {"bias": f["keep"]}
        yield "mask-multiplied", "the scores are multiplied by attn_mask", _times_mask
    else:
        name = "bias"
        sign = _changed(lambda bias: np.where(np.isneginf(bias), bias, -bias), "bias")
        yield "mask-sign", "attn_mask is subtracted", sign
        says = "attn_mask is added before the scores are scaled"
        yield "mask-before-scale", says, _changed(lambda bias: bias * factor, "bias")
        yield "mask-as-boolean", "attn_mask is read as true and false", _as_boolean
    says = "the mask is on the other side of the keys"
    yield "mask-side", says, _changed(lambda own: own[..., ::-1], name)
    says = "queries and keys of the mask are exchanged"
    yield "mask-transposed", says, _changed(lambda own: own.swapaxes(-1, -2), name)
    says = "every head has the mask of the first"
    yield "mask-of-head", says, _changed(lambda own: np.broadcast_to(own[:1], own.shape), name)


def _of_scales(case: Case) -> Iterator[Named]:
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
            yield code, says, _set(scale=scale)
    cap = case.call.get("softcap")
    if cap is None:
        return
    yield "cap-forgotten", "softcap is not applied", _dropped("softcap")
    formulas = (
        ("cap-undivided", "the scores are not divided by softcap before tanh", "{c} * tanh({s})"),
        ("cap-unmultiplied", "tanh is not multiplied by softcap", "tanh({s} / {c})"),
        ("cap-product", "each score is multiplied by its tanh", "{s} * tanh({s})"),
        ("cap-clipped", "the scores are clipped, not capped by tanh", "max(min({s}, {c}), -{c})"),
        ("cap-before-scale", "softcap is applied before the scale",
         "{c} * tanh(S[h,i,j] / {c}) * {scale}"),
    )  # fmt: skip
    for code, says, formula in formulas:
        text = formula.format(c=repr(cap), s="{last}", scale=repr(right))
        yield code, says, _by("S_capped", text)


def _of_sinks(case: Case) -> Iterator[Named]:
    if case.call.get("sinks") is None:
        return
    yield "sinks-forgotten", "sinks are not applied", _dropped("sinks")
    says = "sinks are applied to the heads in reverse order"
    yield "sinks-of-head", says, _changed(lambda sinks: sinks[::-1], "sinks")
    factor = case.q.shape[3] ** -0.5
    scaled = _changed(lambda sinks: [factor * each for each in sinks], "sinks")
    yield "sinks-scaled", "sinks are scaled like scores", scaled
    largest = "max({last}[h,i,k] for k in m)"
    for says, less, sink in (
        ("sinks are added to the sum, not their exponentials", "", "{sink}"),
        ("sinks are added to the sum, not their exponentials, after the largest score is "
         "subtracted", f" - {largest}", "{sink}"),
        ("the largest score is subtracted from the scores, not from the sinks", f" - {largest}",
         "exp({sink})"),
    ):  # fmt: skip
        code = "sinks-unshifted" if "exp" in sink else "sinks-raw"
        total = f"{sink} + sum(exp({{last}}[h,i,l]{less}) for l in m)"
        right = f"exp({{last}}[h,i,j]{less}) / ({total.replace('{sink}', 'sinks[h,0,0]')})"
        yield code, says, _weights(right, with_sinks=True)


def _of_alibi(case: Case) -> Iterator[Named]:
    slopes, cap = case.call.get("alibi_slopes"), case.call.get("softcap")
    if slopes is None:
        return
    yield "alibi-forgotten", "alibi_slopes are not applied", _dropped("alibi")
    says = "distances are added, not subtracted"
    negative = _changed(lambda slopes: [-each for each in slopes], "alibi_slopes")
    yield "alibi-sign", says, negative
    says = "slopes are applied to the heads in reverse order"
    yield "alibi-of-head", says, _changed(lambda slopes: slopes[::-1], "alibi_slopes")
    ahead = np.arange(case.q.shape[2])[:, None] - np.arange(case.k.shape[2])
    for says, distances in (
        ("the distance to keys after the query is 0", np.maximum(ahead, 0)),
        ("the distance to keys after the query is negative", ahead),
    ):
        biased = _set(bias=-slopes[:, None, None] * distances)
        yield "alibi-one-sided", says, _both(_dropped("alibi"), biased)
    if cap is not None:
        capped = f"{cap!r} * tanh(({{last}} - far[h,i,j]) / {cap!r})"
        after = _by("S_capped", capped, far=slopes[:, None, None] * np.abs(ahead))
        yield "cap-after-alibi", "softcap is applied after ALiBi", _both(_dropped("alibi"), after)


def _of_weights(case: Case) -> Iterator[Named]:
    others = (
        ("softmax-columns", "each column of the weights sums to 1, not each row",
         "softmax({last}[h,k,j] for k in n)[i]"),
        ("softmax-heads", "the weights sum to 1 over the heads, not over the keys",
         "softmax({last}[k,i,j] for k in heads)[h]"),
        ("softmax-missing", "no softmax: the scores are the weights", "{last}[h,i,j]"),
        ("softmax-sum", "exp is not divided by its sum", "exp({last}[h,i,j])"),
        ("softmax-plus-one", "the sum of the softmax has one more",
         "exp({last}[h,i,j]) / (1 + sum(exp({last}[h,i,k]) for k in m))"),
        ("softmax-base", "the base of the softmax is 2, not e",
         "2 ** {last}[h,i,j] / sum(2 ** {last}[h,i,k] for k in m)"),
    )  # fmt: skip
    for code, says, right in others:
        yield code, says, _weights(right)


def _of_heads(case: Case) -> Iterator[Named]:
    heads, of_keys = case.q.shape[1], case.k.shape[1]
    places = np.arange(heads)
    orders = [("heads-first", "every query head reads the first key head", 0 * places)]
    if heads > of_keys:
        says = "key heads are repeated as a whole (1 2 1 2), not each in turn (1 1 2 2)"
        orders.append(("heads-tiled", says, places % of_keys))
    else:
        says = "query heads read the key heads in reverse order"
        orders.append(("heads-reversed", says, places[::-1]))
        says = "each query head reads the key head of the one before"
        orders.append(("heads-shifted", says, (places - 1) % heads))
    for code, says, order in orders:
        if heads > 1:
            yield code, says, _key_heads(order)
    yield from _of_blocks(np.arange(case.k.shape[2]))


def _of_blocks(keys: Matrix) -> Iterator[Named]:
    """Yield keys that a loop leaves out."""
    count = len(keys)
    if count > 1:
        yield "key-left-out", "the last key is left out", _keys(keys < count - 1)
        yield "key-left-out", "the first key is left out", _keys(keys > 0)
    for block in BLOCKS:
        if block >= count:
            return
        if count % block:
            says = f"keys after the last full block of {block} are left out"
            yield "block-rest", says, _keys(keys < count // block * block)
        yield "block-first", f"only the first {block} keys are read", _keys(keys < block)
        first = (count - 1) // block * block
        says = f"only the last block is read: keys from {first + 1} on"
        yield "block-last", says, _keys(keys >= first)


def _of_matrices(case: Case) -> Iterator[Named]:
    says = "queries and keys are exchanged"
    yield "q-k-swapped", says, lambda f: f | {"Q": f["K"], "K": f["Q"]}
    yield "k-for-v", "keys are used as values", lambda f: f | {"V": f["K"]}
    yield "v-for-k", "values are used as keys", lambda f: f | {"K": f["V"]}
    words = {"V": "the values are", "K": "the keys are", "Q": "the queries are"}
    for names, says in ({"KV": "keys and values are"} | words).items():
        code = {"KV": "keys"}.get(names, names.lower())
        for by, when in ((1, "late"), (-1, "early")):
            rolled = _changed(partial(np.roll, shift=by, axis=1), *names)
            yield f"{code}-shifted", f"{says} one token {when}", rolled
    for name, says in words.items():
        backwards = _changed(lambda each: each[:, ::-1], name)
        yield f"{name.lower()}-reversed", f"{says} in reverse order", backwards


def _read_from(step: str, *without: str) -> Callable[[Fields], Matrix]:
    """Return a step of a problem without some of its fields."""

    def made(fields: Fields) -> Matrix:
        problem = Problem(**{n: value for n, value in fields.items() if n not in without})
        found = run(plan(problem), {n: np.asarray(each) for n, each in problem.given.items()})
        return found[step]

    return made


def _given_as(then: Change, **reads: Callable[[Fields], Matrix]) -> Change:
    """Replace matrices by steps of other problems, and change the fields then."""

    def change(fields: Fields) -> Fields | None:
        found = {name: read(fields) for name, read in reads.items()}
        made = then(fields)
        return None if made is None else made | found

    return change


_NO_ROPE = ("positions", "rope_base", "rope_pairing", "rope_dims", "rope_query_offset")
_NO_NORM = ("qk_norm", "qk_eps", "gamma_Q", "gamma_K")


def _of_rope(case: Case) -> Iterator[Named]:
    base = case.call.get("rope_base")
    if base is None:
        return
    normed = {"Q": _read_from("Q_rot"), "K": _read_from("K_rot")}
    none = _dropped(*_NO_ROPE, *_NO_NORM)
    yield "rope-forgotten", "queries and keys are not rotated", _dropped(*_NO_ROPE)
    plain = {"Q": _plain_norm("Q"), "K": _plain_norm("K")}
    for name, left, says in (("Q", "K", "queries"), ("K", "Q", "keys")):
        reads = {name: normed[name], left: plain[left]}
        yield "rope-one-side", f"only {says} are rotated", _given_as(none, **reads)
    yield "rope-values", "values are rotated, too", _given_as(none, **normed, V=_rotated_values)
    pairing = "interleaved" if case.call.get("rope_pairing") == "halves" else "halves"
    says = f"columns are paired as {pairing}, not {case.call.get('rope_pairing')}"
    yield "rope-pairing", says, _set(rope_pairing=pairing)
    yield from _of_frequencies(case, base)
    offset = case.call.get("query_offset", 0)
    for other in dict.fromkeys((0, offset - 1, offset + 1)):
        if other != offset and other >= 0:
            says = f"queries are rotated from position {other}, not {offset}"
            yield "rope-position", says, _set(rope_query_offset=other)


def _of_frequencies(case: Case, base: float) -> Iterator[Named]:
    width = case.q.shape[3]
    dims = case.call.get("rope_dims")
    if dims is not None:
        yield "rope-partial", f"all {width} columns are rotated, not {dims}", _dropped("rope_dims")
    own = width if dims is None else dims
    pairs = np.arange(own // 2)
    exponents = (
        ("the exponent of the frequencies is i / d, not 2i / d", pairs / own),
        ("the exponent of the frequencies is 4i / d, not 2i / d", 4 * pairs / own),
        (f"the exponent is divided by the width {width}, not by the {own} rotated columns",
         2 * pairs / width),
        ("the exponent of the frequencies starts at 2, not at 0", (2 * pairs + 2) / own),
    )  # fmt: skip
    for says, exponent in exponents:
        if not np.array_equal(exponent, 2 * pairs / own):
            with_own = _set(rope_frequencies=(base**-exponent)[None])
            yield "rope-exponent", says, _both(_dropped("rope_base"), with_own)
    reverse = _set(rope_frequencies=-(base ** (-2 * pairs / own))[None])
    yield "rope-direction", "rotated in the other direction", _both(_dropped("rope_base"), reverse)
    if base != 10000:
        yield "rope-base", "rope_base is not read: the base is 10000", _set(rope_base=10000.0)


def _plain_norm(name: str) -> Callable[[Fields], Matrix]:
    """Return the queries or the keys, normalized where they are to be."""

    def made(fields: Fields) -> Matrix:
        if "qk_norm" not in fields:
            return np.asarray(fields[name])
        return _read_from(f"{name}_norm")(fields)

    return made


def _rotated_values(fields: Fields) -> Matrix:
    values, rope = fields["V"], {name: fields[name] for name in _NO_ROPE if name in fields}
    own = {"Q": values, "K": values, "V": values, **rope, "rope_query_offset": 0}
    return _read_from("K_rot")(own)


def _of_norms(case: Case) -> Iterator[Named]:
    if case.call.get("qk_norm") is None:
        return
    yield "norm-forgotten", "queries and keys are not normalized", _dropped(*_NO_NORM)
    yield "norm-mean", "the mean is subtracted: LayerNorm, not RMSNorm", _set(qk_norm="layer")
    for eps in (0.0, 1e-12, 1e-8, 1e-5, 1e-3, *(2.0**-bits for bits in (52, 23, 10, 7))):
        says = f"the epsilon is {eps:.3g}, not {QK_EPS:g}"
        yield "norm-eps", says, _set(qk_eps=eps)
    for name, says in (("Q", "queries"), ("K", "keys")):
        change = _given_as(_dropped(*_NO_NORM), **{name: _plain_norm(name)})
        yield "norm-one-side", f"only {says} are normalized", change
    over_heads = "sum({n}[g,i,a] ** 2 for g in heads for a in d_k) / (heads * d_k)"
    if case.q.shape[1] > 1:
        says = "queries and keys are normalized over all heads, not each head"
        yield "norm-heads", says, _squares(over_heads)
    outside = f"(sqrt(sum({{n}}[h,i,a] ** 2 for a in d_k) / d_k) + {QK_EPS}) ** 2 - {QK_EPS}"
    yield "norm-eps", "the epsilon is added to the root, not inside it", _squares(outside)
    if case.call.get("q_gain") is None:
        return
    yield "norm-gain", "the gains are not applied", _dropped("gamma_Q", "gamma_K")
    plus = _changed(lambda gains: [each + 1 for each in gains], "gamma_Q", "gamma_K")
    yield "norm-one-plus", "the gains are 1 + w, not w", plus
    says = "the gains of queries and keys are exchanged"
    yield "norm-swapped", says, lambda f: {**f, "gamma_Q": f["gamma_K"], "gamma_K": f["gamma_Q"]}
    if case.call.get("rope_base") is not None:
        bare = {name: _read_from(f"{name}_rot", *_NO_NORM) for name in "QK"}
        after = _given_as(_dropped(*_NO_ROPE), **bare)
        yield "norm-after-rope", "queries and keys are normalized after the rotation", after


def _squares(right: str) -> Change:
    """Replace the mean of squares of queries and keys, {n}, of several heads."""
    return _set(equations=[f"ms_{n}[h in heads,i,c in 1] = {right.format(n=n)}" for n in "QK"])


TABLES = (
    *(_of_causal, _of_masks, _of_scales, _of_sinks, _of_alibi, _of_weights, _of_heads),
    *(_of_matrices, _of_rope, _of_norms),
)


def _of_batches(own: list[Fields]) -> Iterator[tuple[str, str, list[Fields]]]:
    """Yield mistakes in the assignment of inputs to elements of the batch."""
    if len(own) < 2:
        return
    for code, says, other in (
        ("batch-first", "every element of the batch is computed as the first", own[0]),
        ("batch-last", "every element of the batch is computed as the last", own[-1]),
    ):
        yield code, says, [other] * len(own)
        matrices = {name: other[name] for name in ("Q", "K", "V")}
        yield code, says, [fields | matrices for fields in own]
    first = {name: own[0][name] for name in ("keep", "bias") if name in own[0]}
    if first:
        says = "every element of the batch has the mask of the first"
        yield "mask-of-batch", says, [fields | first for fields in own]
