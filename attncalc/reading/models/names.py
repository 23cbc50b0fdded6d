"""The names of the tensors of a layer, and their fields of a problem.

A table: the end of a name, with any prefix, determines a field, or several stored in one array.
"""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from attncalc.base.text import harmless

OUT_IN, IN_OUT = "torch", "in-out"
"""Layouts of weights: as in `nn.Linear`, or as in the Conv1D of GPT-2."""


def fields_by_end(names: Mapping[str, str], kinds: Mapping[str, str]) -> dict[str, str]:
    """Return fields by the ends of names.

    names: the names of modules, by what follows the kind in a field.
    kinds: the kinds of fields, by the last parts of names.
    """
    return {
        f"{name}.{last}": f"{kind}_{field}"
        for field, listed in names.items()
        for name in listed.split()
        for last, kind in kinds.items()
    }


LINEAR = {"weight": "W", "bias": "b"}
OF_NORMS = {"weight": "gamma", "bias": "beta", "gamma": "gamma", "beta": "beta"}


@cache
def table(file: str, word: str = "") -> Mapping[str, str]:
    """Return the lines of a file beside this module, `word left: right`, without remarks (#).

    word: the first word of the lines that count, which is left out; "" for all lines.
    """
    lines = files(__package__).joinpath(file).read_text(encoding="utf-8").splitlines()
    start = f"{word} " if word else ""
    own = (line for line in lines if line.startswith(start) and not line.startswith("#"))
    parts = (line.removeprefix(start).partition(": ") for line in own)
    return {left: right for left, _, right in parts}


ENDS = {
    **fields_by_end(table("names.txt", "linear"), LINEAR),
    **fields_by_end(table("names.txt", "norm"), OF_NORMS),
    **{end: field for field, ends in table("names.txt", "own").items() for end in ends.split()},
}
"""The field for the end of a name; W_QKV are three in one array."""
_MOST_PARTS = max(end.count(".") for end in ENDS) + 1
STORED_IN_OUT = ("c_attn", "c_proj", "c_fc")
"""Weights that GPT-2 stores in a Conv1D, (in, out)."""
EXPERT, OF_EACH = (
    re.compile(r"(?:(?<=\.experts\.)|(?<=\.experts\.expert_)|(?<=norm\.norms\.))\d+(?=\.)"),
    "*",
)
"""The number of an expert, or of a head's normalization, in a name, and what replaces it."""
NUMBER = re.compile(r"(?<=\.)\d+(?=\.)|(?<=_)\d+(?=\.[^.]+\.)")
"""A number between the dots of a name, such as that of a layer, or after block_ and the like."""
_OF_LIST = re.compile(r"(?<=[._])\d+(?=\.[^.]+\.)")
"""The number of a module with others in it, unlike that of a projection, as in ffn.2.weight."""
BUFFERS = ("attn.bias", "attn.masked_bias", "inv_freq", "position_ids", "relative_position_index")
"""Other content of files: masks, frequencies, positions. They follow from the config."""
OTHER_ORDERS = ("query_key_value.weight", "query_key_value.bias")
"""Q, K and V in one array, side by side within each head: models differ in the order."""


class Meaning(NamedTuple):
    """The meaning of a name: a field, and the text before the end that determines it."""

    field: str
    prefix: str
    end: str

    @property
    def is_in_out(self) -> bool:
        """Whether it is stored in a Conv1D, unless its shape decides."""
        return any(part in STORED_IN_OUT for part in self.end.split("."))


def meaning_of(name: str) -> Meaning | None:
    """Return the meaning of the name of a tensor, by the longest known end.

    >>> meaning_of("model.layers.3.self_attn.q_proj.weight")
    Meaning(field='W_Q', prefix='model.layers.3.self_attn.', end='q_proj.weight')
    >>> meaning_of("h.0.attn.c_attn.bias").field, meaning_of("lm_head.weight")
    ('b_QKV', None)
    """
    parts = name.split(".")
    for start in range(max(0, len(parts) - _MOST_PARTS), len(parts)):
        end = ".".join(parts[start:])
        if end in ENDS:
            return Meaning(ENDS[end], ".".join([*parts[:start], ""]) if start else "", end)
    return None


def renamed(name: str, own: Mapping[str, str]) -> Meaning | None:
    """Return the meaning of a name, if some ends of names have a special meaning.

    In these ends, {} is any number.
    """
    dotted = f".{name}", f".{NUMBER.sub('{}', name)}"
    for end, field in own.items():
        if any(each.endswith(f".{end}") for each in dotted):
            return Meaning(field, name.removesuffix(end), end)
    return meaning_of(name)


def form_of(name: str) -> str:
    """Return a name with # for the numbers of layers, experts and the like.

    >>> form_of("h.11.ffn.2.weight"), form_of("heads.3.weight")
    ('h.#.ffn.2.weight', 'heads.#.weight')
    """
    form = _OF_LIST.sub("#", name)
    return form if "#" in form else NUMBER.sub("#", name, count=1)


def whole(name: str) -> str:
    """Return the name of a tensor as a message shows it: in quotes, harmless, and never cut."""
    return f'"{harmless(name)}"'


def is_buffer(name: str) -> bool:
    """Return whether a name is that of a buffer, which follows from the config."""
    return any(name == each or name.endswith(f".{each}") for each in BUFFERS)
