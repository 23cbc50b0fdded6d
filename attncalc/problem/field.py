"""What a field of a problem is: declared once, with all that files, flags and pages ask of it.

A part of a network declares its fields as those of a dataclass: `X: Any = matrix(...)`,
`scale: Any = setting(...)`. What is declared here is what `declared` finds.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import Any, NamedTuple, TypeVar

from attncalc.base.typed import read_number

FIRST = "Matrices (a file, or text such as '1 0; 0 1')"
CONVENTIONS = "Conventions"
KINDS = "Attention"
MORE = "More matrices"
GRADIENTS = "Gradients"
PANELS = (FIRST, CONVENTIONS, KINDS, MORE, GRADIENTS)
"""Headings of flags, in this order; those of layers follow."""
LAYERS = "layers"
"""The kind of what an encoder or a decoder alone can have."""
IMAGE = "image"
"""The kind of what a Vision Transformer alone can have."""
LAYER_PANELS = PATCHES, OF_LAYERS, EMBEDDING, NORMALISATION, FEED_FORWARD, HEAD = (
    "Image patches",
    "Layers",
    "Layers: embedding",
    "Layers: normalization",
    "Layers: feed-forward",
    "Layers: head",
)
"""Headings of flags of layers, after the others."""
KIND_OF = {**dict.fromkeys(LAYER_PANELS, LAYERS), PATCHES: IMAGE}
"""The kind of what is declared below a heading, unless it has one of its own."""
NEEDED = {
    **dict.fromkeys((CONVENTIONS, KINDS), "an attention (W_Q, W_K and W_V)"),
    PATCHES: "an image",
    OF_LAYERS: "a layer of an encoder or a decoder",
    NORMALISATION: "a normalization",
    FEED_FORWARD: "a feed-forward part (W_1 and W_2)",
    HEAD: "a head (W_out)",
}
"""What a setting below a heading needs, unless it states something else."""
OF_BLOCK = {
    "attention": ("", "self", "cross"),
    "encoder": ("", "self", LAYERS),
    "decoder": ("", "self", "cross", LAYERS),
    "vit": ("", "self", LAYERS, IMAGE),
}
"""The kinds of fields that each block of layers can have."""
MOST_SIDE = 100_000
"""Rows or columns of a patch."""


@dataclass(frozen=True)
class OneOf:
    """What reads one of these values, however it is spelled."""

    values: tuple[str, ...]

    @property
    def takes(self) -> str:
        """Its accepted values, as text."""
        *others, last = (f'"{value}"' for value in self.values)
        return f"{', '.join(others)} or {last}"

    def __call__(self, given: Any) -> str:
        """Return the value that is meant."""
        said = plain(given)
        for value in self.values:
            if said == plain(value):
                return value
        raise ValueError


@dataclass(frozen=True)
class AtLeast:
    """What reads a number from a lowest one, or above it."""

    low: int
    is_above: bool = False

    @property
    def takes(self) -> str:
        """Its accepted values, as text."""
        return f"a number {'above' if self.is_above else 'from'} {self.low}"

    def __call__(self, given: Any) -> Fraction:
        """Return the number, exactly."""
        value = number(given)
        if value < self.low or (self.is_above and value == self.low):
            raise ValueError
        return value


positive, not_negative, from_one = AtLeast(0, is_above=True), AtLeast(0), AtLeast(1)


@dataclass(frozen=True)
class Whole:
    """What reads a whole number between two."""

    low: int
    high: int

    @property
    def takes(self) -> str:
        """Its accepted values, as text."""
        if self.high == self.low + 1:
            return f"{self.low} or {self.high}"
        return f"a whole number from {self.low}" + (f" to {self.high}" if self.high < 100 else "")

    def __call__(self, given: Any) -> int:
        """Return the number."""
        value = number(given)
        if value != int(value) or not self.low <= value <= self.high:
            raise ValueError
        return int(value)


@dataclass(frozen=True)
class OrNone:
    """What reads a value that may be left out."""

    read: Callable[[Any], Any]

    def __call__(self, given: Any) -> Any:
        """Return the value; None for none."""
        return None if given is None else self.read(given)


class Setting(NamedTuple):
    """A convention.

    read: returns the value, or raises `NotANumber` or `ValueError` where it cannot be one.
    takes: its accepted values, as text.
    says: its meaning, as in the help of its flag.
    panel: the heading of the flag, one of `PANELS`.
    short: a second, short flag, as "-d".
    off: the value of a switch `--no-…`, if there is one.
    kind: as of a matrix that can be given.
    in_decoder, in_vit: the default in a decoder, or for an image, if it differs.
    is_list: whether it takes several values.
    needs: what is to be given for it to count.
    flag: the flag that adds one of its values, where it may be repeated.
    """

    default: Any
    read: Callable[[Any], Any]
    takes: str
    says: str
    panel: str
    short: str = ""
    off: str = ""
    kind: str = ""
    in_decoder: Any = None
    in_vit: Any = None
    is_list: bool = False
    needs: str = ""
    flag: str = ""

    def default_in(self, block: str) -> Any:
        """Return the default in a block."""
        other = {"decoder": self.in_decoder, "vit": self.in_vit}.get(block)
        return self.default if other is None else other

    @property
    def is_switch(self) -> bool:
        """Whether it is on or off, and its flag takes no value."""
        return isinstance(self.default, bool)


class MatrixField(NamedTuple):
    """A matrix that can be given.

    role: what it is: "tokens", "projected", "weights", "bias", "positions", "marks", "scores" that
        are added, or the "start" of a calculation: scores or weights themselves; "ids", "table"
        (what ids are rows of) or "image"; "buckets" are biases by distance; "frequencies" and
        "heads" are lists of numbers, as a bias is.
    says, panel: as of a `Setting`.
    kind: the kind of problem that alone can have it: "self" or "cross" attention, "layers",
        "image"; "" for all.
    """

    role: str
    says: str
    panel: str
    kind: str = ""


class Nested(NamedTuple):
    """A part, or a list of layers (`several`), with fields of its own."""

    says: str
    several: bool


F = TypeVar("F", Setting, MatrixField, Nested)


def declared(owner: type, kind: type[F]) -> dict[str, F]:
    """Return the fields of one kind that a dataclass declares, by name, in order."""
    found = ((each.name, each.metadata.get("field")) for each in fields(owner))
    return {name: each for name, each in found if isinstance(each, kind)}


def setting(
    default: Any,
    read: Callable[[Any], Any],
    says: str,
    panel: str = KINDS,
    *,
    takes: str = "",
    is_open: bool = False,
    **more: Any,
) -> Any:
    """Declare a convention; the default of an open one depends on the problem."""
    takes = takes or (read.takes if isinstance(read, OneOf | AtLeast | Whole) else TAKES[read])
    read = OrNone(read) if default is None else read
    kind = more.pop("kind", KIND_OF.get(panel, ""))
    needs = more.pop("needs", NEEDED.get(panel, ""))
    made = Setting(default, read, takes, says, panel, kind=kind, needs=needs, **more)
    is_open = is_open or made.in_decoder is not None or made.kind in (LAYERS, IMAGE)
    return field(default=None if is_open else default, metadata={"field": made})


def choice(words: str, says: str, panel: str = KINDS, **more: Any) -> Any:
    """Declare a convention that has one of these words as its value, by default the first."""
    values = tuple(words.split())
    return setting(values[0], OneOf(values), says, panel, **more)


def nested(says: str, *, several: bool = False) -> Any:
    """Declare a part, or a list of layers, with fields of its own."""
    return field(default=None, metadata={"field": Nested(says, several)})


def matrix(role: str, says: str, panel: str = MORE, kind: str = "") -> Any:
    """Declare a matrix."""
    made = MatrixField(role, says, panel, kind or KIND_OF.get(panel, ""))
    return field(default=None, metadata={"field": made})


def number(given: Any) -> Fraction:
    """Read a number of any kind, exactly."""
    if isinstance(given, bool):
        raise ValueError
    return given if isinstance(given, Fraction) else Fraction(read_number(str(given)))


def sides(given: Any) -> int | tuple[int, int]:
    """Read the sides of a patch: one for both, or its rows and its columns.

    >>> sides("2"), sides("2x3"), sides([2, 2])
    (2, (2, 3), 2)
    """
    listed = re.split(r"[x×,;\s]+", given.strip()) if isinstance(given, str) else given
    listed = listed if isinstance(listed, list | tuple) else [listed]
    read = Whole(1, MOST_SIDE)
    if not 1 <= len(listed) <= 2:
        raise ValueError
    first, last = read(listed[0]), read(listed[-1])
    return first if first == last else (first, last)


def names(given: Any) -> tuple[str, ...]:
    """Read a list of names, or a text with commas or spaces between them.

    >>> names("Q, S_scaled A")
    ('Q', 'S_scaled', 'A')
    """
    if not isinstance(given, str | list | tuple):
        raise ValueError
    listed = re.split(r"[,;\s]+", given.strip(" ,;")) if isinstance(given, str) else given
    if not listed or not all(isinstance(name, str) and name.strip() for name in listed):
        raise ValueError
    return tuple(dict.fromkeys(name.strip() for name in listed))


def yes_or_no(given: Any) -> bool:
    """Read true or false."""
    said = plain(given)
    if said not in ("true", "false", "1", "0"):
        raise ValueError
    return said in ("true", "1")


TAKES: dict[Callable[[Any], Any], str] = {number: "a number", yes_or_no: "true or false"}
"""The accepted values of settings as text, by the function that reads them."""


def plain(given: Any) -> str:
    """Return a word as it is compared: each-step, Each Step and each_step are one."""
    return str(given).strip().lower().replace("_", "-").replace(" ", "-")
