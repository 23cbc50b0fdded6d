"""All fields that a problem can have, of all its parts, and what each setting takes."""

import re
from typing import Any

from attncalc.errors import InputError
from attncalc.numbers.typed import NotANumber, quoted
from attncalc.problem.attention.fields import AttentionFields
from attncalc.problem.embedding.fields import EmbeddingFields
from attncalc.problem.equation_fields import EquationFields
from attncalc.problem.feed_forward.fields import FeedForwardFields
from attncalc.problem.field import Given, Nested, Setting, declared
from attncalc.problem.gradients.fields import GradientFields
from attncalc.problem.head.fields import HeadFields
from attncalc.problem.layers.fields import LayerFields
from attncalc.problem.normalisation.fields import NormalisationFields
from attncalc.problem.patches.fields import PatchFields
from attncalc.problem.residual.fields import ResidualFields

_PART = re.compile(r"(?:[1-9]\d{0,3}\.)?(?:(?:self|cross)\.)?")
"""What stands before the name of a matrix in a part: the layer, and the side of a decoder."""


class Names(tuple[str, ...]):
    """Names of matrices or settings: in whatever part, 1.W_Q is among them as W_Q is."""

    __slots__ = ()

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        start = _PART.match(name)
        return super().__contains__(name[start.end() :] if start else name)


OWNERS = (
    PatchFields,
    EmbeddingFields,
    AttentionFields,
    LayerFields,
    ResidualFields,
    NormalisationFields,
    FeedForwardFields,
    HeadFields,
    GradientFields,
    EquationFields,
)
"""Who declares fields; a further part adds its own."""
GIVEN: dict[str, Given] = {n: each for o in OWNERS for n, each in declared(o, Given).items()}
"""Every matrix."""
SETTINGS: dict[str, Setting] = {n: each for o in OWNERS for n, each in declared(o, Setting).items()}
"""Every convention but `labels` and the texts."""
TEXTS = ("title", "made_by")
"""What is said of a problem: its heading, and the command that made it."""
NESTED: dict[str, Nested] = declared(LayerFields, Nested)
"""What has fields of its own."""


def _of_role(*roles: str) -> tuple[str, ...]:
    return tuple(name for name, each in GIVEN.items() if each.role in roles)


MATRICES = Names(GIVEN)
TOKENS, PROJECTED = _of_role("tokens"), _of_role("projected")
WEIGHTS, BIASES = _of_role("weights"), _of_role("bias", "frequencies", "heads")
POSITIONS, OF_HEADS = _of_role("positions"), _of_role("heads")
MARKS, MASKS = _of_role("marks"), _of_role("marks", "scores")
FIXED = _of_role("marks", "ids")
"""Matrices whose numbers mark or name something: nothing lies between two of them."""


WHOLE = (
    *TOKENS,
    *POSITIONS,
    *(name for o in (PatchFields, EmbeddingFields) for name in o.__dataclass_fields__),
    *declared(HeadFields, Given),
    *("gamma_E", "beta_E", "gamma_out", "beta_out"),
    *("rounding", "decimals", "asked", "layout", "weights_layout"),
    *("block", "read", "tied", "activation_pre", "labels", *TEXTS),
    *declared(GradientFields, Given),
    *declared(GradientFields, Setting),
    "equations",
)
"""What belongs to the whole of a problem, and not to a layer in it."""


def own_name(name: str) -> str:
    """Return what a matrix is called in its part, without that part: 1.W_Q is W_Q there.

    Examples
    --------
    >>> own_name("1.W_Q"), own_name("2.self.bias"), own_name("X")
    ('W_Q', 'bias', 'X')
    """
    return name.rpartition(".")[2]


def role_of(name: str) -> str:
    """Return the role of a matrix, of whatever part of the calculation; "" for what is none.

    Examples
    --------
    >>> role_of("W_Q"), role_of("1.self.keep"), role_of("O")
    ('weights', 'marks', '')
    """
    given = GIVEN.get(own_name(name))
    return "" if given is None else given.role


def one_of(name: str) -> str:
    """Return what each matrix of a list under a name is: a head, or a channel of an image."""
    return "channel" if role_of(name) == "image" else "head"


LINES = "connections"
"""What the lines of the map are called among the steps."""

LABELLED = (*TOKENS, "Q", "K", "S", "A")
"""Matrices whose rows are tokens with names of their own; of scores and weights columns too."""

KNOWN = Names((*MATRICES, "labels", *TEXTS, *SETTINGS))
"""Every name a problem's file may use."""

ALIASES = {
    "input tokens": "X",
    "input tokens 1": "X1",
    "input tokens 2": "X2",
    "query weights": "W_Q",
    "key weights": "W_K",
    "value weights": "W_V",
    "dL/dO": "dO",
    "∂L/∂O": "dO",
    "grad_O": "dO",
    "targets": "target",
}
"""Other names for fields, beside those that case, spaces and underscores make."""


def read_setting(name: str, given: Any) -> Any:
    """Return the value of a setting.

    Raises
    ------
    InputError
        When it cannot have that value: its text says what the setting takes.

    Examples
    --------
    >>> read_setting("rounding", "each step"), read_setting("scale", "1/3")
    ('each-step', Fraction(1, 3))
    """
    setting = SETTINGS[own_name(name)]
    try:
        return setting.read(given if setting.is_list else _alone(given))
    except InputError as error:  # its text starts where the name ends
        raise InputError(f"{name} {error}") from None
    except NotANumber as reason:
        raise InputError(f"{name} takes {setting.takes}: {reason}") from None
    except ValueError:
        raise InputError(f"{name} takes {setting.takes}, not {quoted(str(given))}") from None


def _alone(given: Any) -> Any:
    """Return the number of an array or a tensor of one."""
    if not hasattr(given, "__array__"):
        return given
    from attncalc.numbers.arrays import only_value  # here, for a command line needs no numpy

    return only_value(given)
