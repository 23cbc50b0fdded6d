"""Cases: inputs of an attention kernel, and the problem with the right result.

A kernel is called like PyTorch's `scaled_dot_product_attention`: `kernel(query, key, value, ...)`
on arrays (batch, heads, tokens, width). Keyword arguments contain the other inputs of a case.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.types import Matrix

VERSION = 3
"""Of the suite: grows whenever the cases change."""
ALIGNMENTS = ("top-left", "bottom-right")
ROUNDING = {
    "float64": (2.0**-53, 2.0**-53),
    "float32": (2.0**-24, 2.0**-24),
    "float16": (2.0**-11, 2.0**-24),
    "bfloat16": (2.0**-8, 2.0**-24),
    "float8_e4m3fn": (2.0**-4, 2.0**-24),
    "float8_e5m2": (2.0**-3, 2.0**-24),
}
"""Relative error of one rounding when a result is stored, and when a sum is accumulated."""
USUAL_TYPES = ("float64", "float32", "float16", "bfloat16")
"""The types that every run of the suite tests."""
_BITS = {
    "bfloat16": (8, -126, 2.0**128 - 2.0**120),
    "float8_e4m3fn": (4, -6, 448.0),
    "float8_e5m2": (3, -14, 57344.0),
}
"""Significant bits, the exponent of the smallest normal number, and the largest number."""
EXTRA = (
    *("softcap", "window", "sinks", "alibi_slopes", "query_offset"),
    *("rope_base", "rope_pairing", "rope_dims", "qk_norm", "q_gain", "k_gain"),
)
"""Keyword arguments beyond those of PyTorch; a kernel supports those that it takes."""
QK_EPS = 1e-6
"""The epsilon of `qk_norm`."""
NAN = "nan in padding"
"""The feature of which most kernels return nan: a weight of 0 times nan."""


def _listed(values: Matrix) -> list[float]:
    return [float(each) for each in values]


_FIELDS: Mapping[str, Callable[[Any], Any]] = {
    "scale": Fraction,
    **dict.fromkeys(("sinks", "alibi_slopes"), _listed),
}
"""Keyword arguments that are other types of numbers as fields of a problem."""
_AS_THEY_ARE = ("softcap", "window", "rope_base", "rope_pairing", "rope_dims", "qk_norm")
"""Keyword arguments that are fields of a problem."""
_GAINS = {"q_gain": "gamma_Q", "k_gain": "gamma_K"}


@dataclass(frozen=True, eq=False)
class Case:
    """A call of a kernel.

    feature, name: the tested feature, and the case within it.
    q, k, v: queries, keys and values in float64, (batch, heads, tokens, width); each is a number of
        `dtype`.
    dtype: the type of the kernel's arrays.
    call: the keyword arguments.
    alignment: the convention of `is_causal` for fewer queries than keys.
    upstream: the upstream gradient, if gradients are tested.
    layout: "" for arrays in C order, "strided" for views of larger ones.
    """

    feature: str
    name: str
    q: Matrix
    k: Matrix
    v: Matrix
    dtype: str = "float32"
    call: Mapping[str, Any] = field(default_factory=dict)
    alignment: str = ALIGNMENTS[0]
    upstream: Matrix | None = None
    layout: str = ""

    @property
    def size(self) -> tuple[int, int, int, int, int]:
        """Batch, heads, queries, keys and width."""
        return (*self.q.shape[:3], self.k.shape[2], self.q.shape[3])

    def mask(self, batch: int) -> Matrix | None:
        """Return the mask of one element of the batch, (heads, queries, keys)."""
        given = self.call.get("attn_mask")
        if given is None:
            return None
        return np.asarray(np.broadcast_to(given, (*self.q.shape[:3], self.k.shape[2]))[batch])

    def fields(self, batch: int) -> dict[str, Any]:
        """Return the fields of the problem that one element of the batch is."""
        call = {name: value for name, value in self.call.items() if value is not None}
        # a masked nan counts for nothing
        given = {"Q": self.q[batch], "K": self.k[batch], "V": self.v[batch]}
        found: dict[str, Any] = {name: np.nan_to_num(each) for name, each in given.items()}
        mask = self.mask(batch)
        if mask is not None:
            found["keep" if mask.dtype == bool else "bias"] = np.asarray(mask, dtype=float)
        if call.get("is_causal") and "query_offset" in call:
            found["keep"] = found.get("keep", 1.0) * self.allowed(call["query_offset"])
        elif call.get("is_causal"):
            found |= {"causal": True, "causal_alignment": self.alignment}
        found |= {name: make(call[name]) for name, make in _FIELDS.items() if name in call}
        found |= {name: call[name] for name in _AS_THEY_ARE if name in call}
        if "alibi_slopes" in call:
            found["alibi"] = True
        if "rope_base" in call:
            found |= {"positions": "rope", "rope_query_offset": call.get("query_offset", 0)}
        if "qk_norm" in call:
            found["qk_eps"] = QK_EPS
        found |= {name: _listed(call[of]) for of, name in _GAINS.items() if of in call}
        if self.upstream is not None:
            found |= {"backward": True, "dO": beside(self.upstream[batch])}
        return found

    def allowed(self, offset: int) -> Matrix:
        """Return 1 where a causal mask allows a key, for queries from a position on."""
        rows, keys = self.q.shape[2], self.k.shape[2]
        last = np.arange(rows)[:, None] + offset
        return (np.arange(keys) <= last).astype(float)

    def cut(self, batch: int, heads: int, queries: int, keys: int, width: int) -> "Case":
        """Return the case with only the first elements of each axis."""
        groups = self.q.shape[1] // self.k.shape[1]
        if heads % groups:
            raise InputError("heads are cut in whole groups")
        call = dict(self.call)
        if (mask := call.get("attn_mask")) is not None:
            sizes = (batch, heads, queries, keys)[4 - np.ndim(mask) :]
            call["attn_mask"] = mask[
                tuple(slice(None if n == 1 else s) for n, s in zip(mask.shape, sizes, strict=True))
            ]
        for name in ("sinks", "alibi_slopes"):
            if call.get(name) is not None:
                call[name] = call[name][:heads]
        for name in _GAINS:
            if call.get(name) is not None:
                call[name] = call[name][:width]
        of_keys = (slice(batch), slice(heads // groups), slice(keys))
        up = self.upstream
        return replace(
            self,
            q=self.q[:batch, :heads, :queries, :width],
            k=self.k[*of_keys, :width],
            v=self.v[of_keys],
            call=call,
            upstream=None if up is None else up[:batch, :heads, :queries],
        )


def beside(heads: Matrix) -> Matrix:
    """Return the heads (heads, tokens, width) side by side, as problems have them."""
    return np.asarray(heads.swapaxes(0, 1).reshape(heads.shape[1], -1))


def as_of(dtype: str, values: Matrix) -> Matrix:
    """Return float64 values rounded to a type."""
    if dtype in _BITS:
        bits, smallest, largest = _BITS[dtype]
        last = np.maximum(np.frexp(values)[1] - 1, smallest) - bits + 1
        rounded: Matrix = np.ldexp(np.rint(np.ldexp(values, -last)), last)
        return np.clip(rounded, -largest, largest)
    with np.errstate(over="ignore"):
        return values.astype(dtype).astype(float)


# -- the suite ------------------------------------------------------------------------------------

SHAPES = (
    (1, 1, 1, 1, 1),
    (1, 1, 1, 5, 2),
    (1, 1, 5, 1, 2),
    (2, 1, 3, 3, 4),
    (1, 2, 4, 7, 3),
    (1, 2, 7, 4, 8),
    (2, 3, 13, 17, 5),
    (1, 1, 64, 64, 16),
    (1, 2, 65, 129, 32),
    (1, 1, 3, 257, 64),
)
"""Batch, heads, queries, keys and width."""
USUAL = (2, 2, 5, 5, 4)
UNEVEN = (1, 2, 3, 7, 4)


Make = Callable[..., Case]


def _draw(seed: int, *words: str) -> np.random.Generator:
    """Return numbers that depend only on the seed and these words."""
    return np.random.default_rng([seed, *"/".join(words).encode()])


def _made(
    seed: int,
    alignment: str,
    feature: str,
    name: str,
    size: Sequence[int] = USUAL,
    *,
    dtype: str,
    groups: int = 1,
    times: float = 1.0,
    v_width: int = 0,
    backward: bool = False,
    layout: str = "",
    **call: Any,
) -> Case:
    batch, heads, queries, keys, width = size
    rng = _draw(seed, feature, name)
    q = rng.normal(size=(batch, heads, queries, width)) * times
    k = rng.normal(size=(batch, heads // groups, keys, width))
    v = rng.normal(size=(batch, heads // groups, keys, v_width or width))
    of_outputs = batch, heads, queries, v_width or width
    up = as_of(dtype, rng.normal(size=of_outputs)) if backward else None
    q, k, v = (as_of(dtype, each) for each in (q, k, v))
    return Case(feature, name, q, k, v, dtype, call, alignment, up, layout)


def suite(
    seed: int = 0, *, alignment: str = ALIGNMENTS[0], dtype: str = "float32", quick: bool = False
) -> Iterator[Case]:
    """Yield the cases of the suite.

    seed: the numbers of all cases depend on it.
    alignment: the convention of `is_causal` for fewer queries than keys: top-left or bottom-right.
    dtype: the type of all cases, but of those that test a type.
    quick: leave out the large shapes.
    """
    for case in _cases(partial(_made, seed, alignment, dtype=dtype), _draw(seed, "masks")):
        if not quick or max(case.size) <= 32:
            yield case


def _cases(case: Make, rng: np.random.Generator) -> Iterator[Case]:
    yield from _shapes(case)
    yield from _causal(case)
    yield from _masks(case, rng)
    yield from _scores(case)
    yield from _numbers(case)
    yield case("memory layout", "views of larger arrays", layout="strided")
    yield case("memory layout", "tokens before heads", layout="tokens first")
    yield from _of_tokens(case)
    for each in USUAL_TYPES:
        yield case("dtypes", each, (2, 2, 9, 12, 16), dtype=each)
        size = (1, 2, 12, 12, 16)
        yield case("dtypes", f"{each}, causal", size, dtype=each, is_causal=True)
    gradient = partial(case, "gradients", backward=True)
    yield gradient("plain")
    yield gradient("uneven", UNEVEN)
    yield gradient("causal", is_causal=True)
    yield gradient("grouped heads", (1, 4, 3, 5, 4), groups=2, enable_gqa=True)
    yield gradient("scale", scale=0.25)
    yield gradient("softcap", softcap=2.0)


def _shapes(case: Make) -> Iterator[Case]:
    for size in SHAPES:
        batch, heads, queries, keys, width = size
        name = f"batch {batch}, heads {heads}, {queries} queries, {keys} keys, width {width}"
        yield case("shapes", name, size)
    yield case("shapes", "values wider than keys", UNEVEN, v_width=6)
    for heads, groups in ((4, 2), (6, 3), (8, 8)):
        size = (2, heads, 4, 6, 4)
        name = f"{heads} query heads, {heads // groups} key heads"
        yield case("grouped heads", name, size, groups=groups, enable_gqa=True)


def _causal(case: Make) -> Iterator[Case]:
    for size in (USUAL, (1, 1, 1, 1, 2), (1, 2, 33, 33, 8)):
        yield case("causal", f"{size[2]} tokens", size, is_causal=True)
    for size in (UNEVEN, (1, 2, 7, 3, 4), (2, 2, 1, 6, 4)):
        name = f"{size[2]} queries, {size[3]} keys"
        yield case("causal, rectangular", name, size, is_causal=True)
    for size, offset in ((UNEVEN, 4), (UNEVEN, 2), ((2, 2, 1, 6, 4), 5)):
        name = f"{size[2]} queries from position {offset}, {size[3]} keys"
        yield case("query offset", name, size, is_causal=True, query_offset=offset)
    for window in (1, 2, 4, 9):
        name, size = f"{window} keys, 7 tokens", (1, 2, 7, 7, 4)
        yield case("window", name, size, window=window, is_causal=True)


def _scores(case: Make) -> Iterator[Case]:
    for scale in (1.0, 0.25, 2.0**-0.5, 0.0):
        yield case("scale", f"{scale:.3g}", scale=scale)
    for softcap in (0.5, 5.0):
        yield case("softcap", f"{softcap:g}", times=3.0, softcap=softcap)
    yield case("softcap", "with a causal mask", times=3.0, softcap=2.0, is_causal=True)
    yield case("sinks", "2 heads", sinks=np.array([0.5, -1.0]))
    yield case("sinks", "with a causal mask", sinks=np.array([2.0, 0.0]), is_causal=True)
    slopes = np.array([0.5, 0.25])
    yield case("ALiBi", "2 heads", alibi_slopes=slopes, is_causal=True)
    yield case("ALiBi", "without a mask", alibi_slopes=slopes)
    yield case("ALiBi", "with softcap", times=3.0, alibi_slopes=slopes, softcap=2.0)


def _of_tokens(case: Make) -> Iterator[Case]:
    size = (1, 2, 5, 5, 8)
    for name, call in (
        ("halves", {"rope_pairing": "halves"}),
        ("interleaved", {"rope_pairing": "interleaved"}),
        ("4 of 8 columns", {"rope_pairing": "halves", "rope_dims": 4}),
        ("4 of 8 columns, interleaved", {"rope_pairing": "interleaved", "rope_dims": 4}),
    ):
        yield case("rope", name, size, rope_base=50.0, **call)
    later = {"rope_base": 500000.0, "rope_pairing": "halves", "query_offset": 4}
    yield case("rope", "3 queries from position 4", (1, 2, 3, 7, 8), is_causal=True, **later)
    rng = np.random.default_rng(7)
    gains = {name: np.round(rng.uniform(0.5, 2, 8) * 8) / 8 for name in _GAINS}
    yield case("QK-norm", "without gains", size, times=3.0, qk_norm="rms")
    yield case("QK-norm", "queries as small as epsilon", size, times=2.0**-9, qk_norm="rms")
    yield case("QK-norm", "with gains", size, times=3.0, qk_norm="rms", **gains)
    both = {"rope_base": 50.0, "rope_pairing": "halves", "qk_norm": "rms", **gains}
    yield case("QK-norm", "before rope", size, times=3.0, **both)


def _masks(case: Make, rng: np.random.Generator) -> Iterator[Case]:
    """Yield cases of masks: boolean ones, and numbers added to the scaled scores."""
    batch, heads, queries, keys, _ = size = (2, 2, 4, 6, 4)
    allowed = rng.random((batch, heads, queries, keys)) < 0.6
    allowed[..., 0] = True
    padding = np.arange(keys) < np.array([6, 3])[:, None]
    none = allowed.copy()
    none[0, 1, 2] = False
    added = np.round(rng.normal(size=allowed.shape), 2)
    boolean = {
        "per head": allowed,
        "one for all heads": allowed[:, :1],
        "one for the batch": allowed[0, 0],
        "padding at the end": padding[:, None, None],
        "padding at the start": padding[:, None, None, ::-1],
        "a row without a key": none,
    }
    for name, mask in boolean.items():
        yield case("boolean mask", name, size, attn_mask=mask)
    additive = {
        "per head": added,
        "one for the batch": added[0, 0],
        "with -inf": np.where(allowed, added, -np.inf),
        "with -10000": np.where(allowed, 0.0, -1e4),
        "padding at the end": np.where(padding[:, None, None], 0.0, -np.inf),
    }
    for name, mask in additive.items():
        yield case("additive mask", name, size, attn_mask=mask)
    for name in ("k", "v"):
        plain = case(NAN, f"in masked {'keys' if name == 'k' else 'values'}", size,
                     attn_mask=np.broadcast_to(padding[:, None, None], allowed.shape))  # fmt: skip
        nan = np.where(padding[:, None, :, None], getattr(plain, name), np.nan)
        yield replace(plain, k=nan) if name == "k" else replace(plain, v=nan)
    square = np.where(padding[:, None, None, :5], True, False)
    yield case("mask and causal", "padding", USUAL, attn_mask=square, is_causal=True)


def _numbers(case: Make) -> Iterator[Case]:
    """Yield cases of values that overflow or cancel in careless code."""
    yield case("extreme values", "scores of several hundred", times=200.0)
    plain = case("extreme values", "all scores below -100")
    yield replace(plain, q=np.abs(plain.q) * 100, k=-np.abs(plain.k) - 1)
    plain = case("extreme values", "equal scores")
    yield replace(plain, q=np.zeros_like(plain.q))
    plain = case("extreme values", "one huge value")
    huge = plain.v.copy()
    huge[..., 1, :] = 2.0**12
    yield replace(plain, v=huge)
    plain = case("extreme values", "tiny values")
    yield replace(plain, v=plain.v * 2.0**-100 if plain.dtype != "float16" else plain.v * 2.0**-6)
    plain = case("extreme values", "scores that overflow float16 before they are scaled",
                 (1, 2, 4, 4, 16), dtype="float16")  # fmt: skip
    yield replace(plain, q=as_of("float16", plain.q * 64), k=as_of("float16", plain.k * 64))
