"""Models in one GGUF file, the format of llama.cpp: its header, read strictly, and its tensors.

The package `gguf` converts quantized blocks to floats. Its reader is not used: it trusts lengths in
a file.
"""

import re
import struct
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.typed import quoted
from attncalc.base.types import Matrix
from attncalc.reading.models.folder import Config, Weights
from attncalc.reading.models.names import table
from attncalc.reading.tensors import Content, mapped

ENDING, FREQUENCIES = ".gguf", "rope_freqs.weight"
MOST_ITEMS = 4_000_000
"""The largest number of texts and values in a header; large vocabularies have a tenth."""
MOST_AXES = 4
_PLAIN = {0: ("F32", "<f4"), 1: ("F16", "<f2"), 28: ("F64", "<f8"), 30: ("BF16", "<u2")}
"""Types of tensors that are no blocks, by their number in a file."""
_NUMBERS = ("B", "b", "H", "h", "I", "i", "f", "?", "", "", "Q", "q", "d")
"""Formats of values, by their number in a file."""
_TEXT, _LIST = 8, 9
_KEYS, _OF_LAYER, _OTHERS = (table("gguf.txt", word) for word in ("key", "layer", "other"))
"""Keys of a config, names of modules of a layer, and other names, by those of a file."""
_OF_WIDTH = "embedding_length", "attention.head_count"
_NEUTRAL: dict[str, tuple[Any, ...]] = {
    "rope.scaling.type": ("none", "linear"),
    "attention.causal": (True,),
    **dict.fromkeys(("logit_scale", "embedding_scale", "residual_scale"), (1,)),
    **dict.fromkeys(("rope.scale_linear", "rope.scaling.attn_factor"), (1,)),
    **dict.fromkeys(("expert_count", "attention.scale", "attention.clamp_kqv"), (0,)),
    **dict.fromkeys(("attn_logit_softcapping", "final_logit_softcapping"), (0,)),
}
"""Keys that change numbers, with the values that change none."""
_TYPES = {"llama": "Llama", "qwen2": "Qwen2", "qwen3": "Qwen3"}
"""The start of the class of each architecture."""
_TABLE = "model.embed_tokens.weight"
_LAYER = re.compile(r"blk\.(\d{1,6})\.(\w+)\.(weight|bias)")


class Entry(NamedTuple):
    """A tensor of a file: its type by number and name, its shape, the place of its bytes."""

    kind: int
    dtype: str
    shape: tuple[int, ...]
    start: int
    size: int


class _Header:
    """Reads a header piece by piece, never beyond its end."""

    def __init__(self, place: str, content: Content) -> None:
        self.place, self.content, self.at, self._items = place, content, 0, 0

    def wrong(self, why: str) -> InputError:
        return InputError(f"{self.place}: cannot be read as GGUF: {why}")

    def take(self, count: int) -> bytes:
        self._items += 1
        if count > len(self.content) - self.at or self._items > MOST_ITEMS:
            raise self.wrong("its header is damaged, cut off or too large")
        self.at += count
        return self.content[self.at - count : self.at]

    def number(self, form: str) -> Any:
        return struct.unpack(f"<{form}", self.take(struct.calcsize(f"<{form}")))[0]

    def text(self) -> str:
        try:
            return self.take(self.number("Q")).decode("utf-8")
        except UnicodeDecodeError:
            raise self.wrong("a text in its header is not UTF-8") from None

    def value(self, kind: int) -> Any:
        """Return a value; of a list, only that it is one."""
        if kind == _TEXT:
            return self.text()
        if kind == _LIST:
            kind, count = self.number("I"), self.number("Q")
            if kind == _TEXT:
                for _ in range(count):
                    self.text()
            else:
                self.take(count * struct.calcsize(f"<{self.form(kind)}"))
            return []
        return self.number(self.form(kind))

    def form(self, kind: int) -> str:
        found = _NUMBERS[kind] if kind < len(_NUMBERS) else ""
        if not found:
            raise self.wrong(f"a value in its header is of the unknown type {kind}")
        return found


class GgufWeights(Weights):
    """The tensors of a GGUF file by their names in model folders, each read when it is used."""

    def __init__(self, path: Path) -> None:
        self._content = mapped(path)
        header = _Header(str(path), self._content)
        if header.take(4) != b"GGUF" or header.number("I") not in (2, 3):
            raise header.wrong("it does not start with GGUF and version 2 or 3")
        tensors, values = header.number("Q"), header.number("Q")
        self.said: dict[str, Any] = {}
        for _ in range(values):
            key = header.text()
            if key in self.said:
                raise header.wrong(f"its header has {quoted(key)} twice")
            self.said[key] = header.value(header.number("I"))
        self._entries = self._found(header, tensors)
        self.is_permuted = self.said.get("general.architecture") == "llama"
        super().__init__(path, dict.fromkeys(self._entries, path.name))

    def _found(self, header: _Header, count: int) -> dict[str, Entry]:
        """Return the entries of all tensors, after a check that each has bytes of its own."""
        listed: list[tuple[str, int, tuple[int, ...], int]] = []
        for _ in range(count):
            name, axes = header.text(), header.number("I")
            if axes > MOST_AXES:
                raise header.wrong(
                    f"{quoted(name)} has {axes} dimensions, where {MOST_AXES} are read"
                )
            shape = tuple(header.number("Q") for _ in range(axes))[::-1]
            listed.append((name, header.number("I"), shape, header.number("Q")))
        step = self.said.get("general.alignment", 32)
        if type(step) is not int or not 0 < step <= 2**20:
            raise header.wrong(f"its alignment is {quoted(str(step))}")
        start = -(-header.at // step) * step
        found: dict[str, Entry] = {}
        for name, kind, shape, offset in listed:
            own = _renamed(name)
            dtype, in_block, width = _block(header, name, kind)
            size = prod(shape) // in_block * width
            if (
                shape[-1:] < (1,)
                or shape[-1] % in_block
                or start + offset + size > len(self._content)
            ):
                raise header.wrong(
                    f"{quoted(name)} does not fit in the file: it is damaged or cut off"
                )
            if own in found:
                raise header.wrong(f"its header names {quoted(name)} twice")
            found[own] = Entry(kind, dtype, shape, start + offset, size)
        _check_places(header, found)
        return found

    def __getitem__(self, name: str) -> Matrix:
        """Return a tensor as floats, with the rows of queries and keys as in model folders."""
        entry = self._noted(name)
        found = self._floats(entry, slice(None))
        heads = {"q_proj": "head_count", "k_proj": "head_count_kv"}
        part = next((key for key in heads if f".{key}." in name), "")
        if not self.is_permuted or not part:
            return found
        usual = self.said.get("llama.attention.head_count")
        count = self.said.get(f"llama.attention.{heads[part]}", usual)
        if type(count) is not int or count < 1 or len(found) % (2 * count):
            raise InputError(f"{self.folder}: {quoted(name)} does not fit {count} heads")
        # llama.cpp keeps the two columns that rope turns together side by side
        apart = found.reshape(count, -1, 2, *found.shape[1:])
        return apart.swapaxes(1, 2).reshape(found.shape)

    def rows(self, name: str, places: Sequence[int]) -> Matrix:
        """Return some rows of a tensor, without converting others."""
        return self._floats(self._noted(name), np.array(places))

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of a tensor, without reading it."""
        return self._entries[name].shape

    def _noted(self, name: str) -> Entry:
        self.read[name] = self._entries[name].dtype
        return self._entries[name]

    def _floats(self, entry: Entry, rows: Any) -> Matrix:
        """Return some rows of a tensor as floats."""
        if entry.kind in _PLAIN:
            kept = np.frombuffer(
                self._content, _PLAIN[entry.kind][1], prod(entry.shape), entry.start
            )
            chosen = kept.reshape(entry.shape)[rows]
            if entry.dtype == "BF16":  # the upper half of a float32
                chosen = np.left_shift(chosen, 16, dtype="<u4").view("<f4")
            return np.asarray(chosen, "<f4" if entry.dtype == "F16" else None)
        from gguf import GGMLQuantizationType, dequantize

        blocks = np.frombuffer(self._content, np.uint8, entry.size, entry.start)
        lines = blocks.reshape(*entry.shape[:-1], -1)[rows]
        try:
            found: Matrix = dequantize(lines, GGMLQuantizationType(entry.kind))
        except NotImplementedError:
            raise InputError(
                f"{self.folder}: weights of {entry.dtype}, which the package gguf does not convert"
            ) from None
        return found


def _check_places(header: _Header, found: Mapping[str, Entry]) -> None:
    """Refuse tensors that share bytes."""
    placed = sorted((each.start, each.start + each.size, name) for name, each in found.items())
    for (_, end, name), (begins, _, other) in pairwise(placed):
        if begins < end:
            raise header.wrong(f"{quoted(name)} and {quoted(other)} overlap in the file")


def _block(header: _Header, name: str, kind: int) -> tuple[str, int, int]:
    """Return the name of a type, and of a block of it the count of numbers and of bytes."""
    if kind in _PLAIN:
        dtype, form = _PLAIN[kind]
        return dtype, 1, np.dtype(form).itemsize
    if find_spec("gguf") is None:
        raise InputError(
            f"{header.place}: {quoted(name)} is quantized, and the package gguf converts it: "
            "pip install 'attncalc[gguf]' installs it"
        )
    from gguf import GGML_QUANT_SIZES

    known = {each.value: each for each in GGML_QUANT_SIZES}
    if kind not in known:
        raise header.wrong(f"{quoted(name)} is of the unknown type {kind}")
    return known[kind].name, *GGML_QUANT_SIZES[known[kind]]


def _renamed(name: str) -> str:
    """Return the name of a tensor in a model folder, or the name itself if it is unknown."""
    if (found := _LAYER.fullmatch(name)) and found[2] in _OF_LAYER:
        return f"model.layers.{int(found[1])}.{_OF_LAYER[found[2]]}.{found[3]}"
    return _OTHERS.get(name, name)


def open_gguf(path: Path) -> tuple[Config, GgufWeights]:
    """Return the config and the tensors of a GGUF file.

    Raises InputError if it is no such file, or of an architecture that is not read.
    """
    weights = GgufWeights(path)
    said, kind = weights.said, weights.said.get("general.architecture")
    if kind not in _TYPES:
        known = ", ".join(_TYPES)
        raise InputError(
            f"{path}: its architecture is {quoted(str(kind))}: of GGUF files {known} are read"
        )
    for name in weights:
        if not name.startswith("model.layers.") and name not in (*_OTHERS.values(), FREQUENCIES):
            raise InputError(f"{path}: {quoted(name)} is in it, and nothing here reads it")
    values = {key: said[f"{kind}.{own}"] for own, key in _KEYS.items() if f"{kind}.{own}" in said}
    wide, heads = (said.get(f"{kind}.{each}", 1) for each in _OF_WIDTH)
    width = said.get(f"{kind}.attention.key_length", wide // heads if heads else 0)
    neutral = {**_NEUTRAL, "rope.dimension_count": (width,), "attention.value_length": (width,)}
    window = values.get("sliding_window", 0) if kind == "llama" else 0  # as Mistral has it
    neutral["attention.sliding_window"] = (window,)
    for key, usual in neutral.items():
        if said.get(f"{kind}.{key}", usual[0]) not in usual:
            raise InputError(
                f"{path}: {kind}.{key} is {quoted(str(said[f'{kind}.{key}']))}: not read"
            )
    if said.get(f"{kind}.rope.scaling.type") == "linear":
        factor = said.get(f"{kind}.rope.scaling.factor", 1.0)
        values["rope_scaling"] = {"rope_type": "linear", "factor": factor}
    values |= {"model_type": "mistral" if window else kind, "hidden_act": "silu"}
    values["use_sliding_window"] = bool(window)
    values["vocab_size"], *_ = weights.shape(_TABLE) if _TABLE in weights else (0,)
    values["architectures"] = [f"{_TYPES[kind]}ForCausalLM"]
    values["tie_word_embeddings"] = "lm_head.weight" not in weights
    eps = values.get("rms_norm_eps")
    if isinstance(eps, float):  # kept in 32 bits, and stated in decimals
        values["rms_norm_eps"] = float(str(np.float32(eps)))
    biases = [name for name in weights if name.endswith("q_proj.bias")]
    values["attention_bias"] = bool(biases)
    return Config(str(path), values), weights
