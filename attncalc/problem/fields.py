"""All fields that a problem can have, of all its parts, and what each setting takes."""

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from attncalc.base.errors import InputError
from attncalc.base.typed import NotANumber, quoted
from attncalc.problem.attention.declared import AttentionFields
from attncalc.problem.field import (
    EMBEDDING,
    FEED_FORWARD,
    GRADIENTS,
    HEAD,
    LAYERS,
    MORE,
    NORMALISATION,
    OF_LAYERS,
    PATCHES,
    MatrixField,
    Nested,
    Setting,
    Whole,
    choice,
    declared,
    matrix,
    nested,
    not_negative,
    positive,
    setting,
    sides,
    yes_or_no,
)

MOST_CHANNELS = 10_000


@dataclass(frozen=True, eq=False, repr=False, init=False)
class PatchFields:
    """An image, its patches, and their projection; see `Problem`."""

    image: Any = matrix("image", "Image, or a list of its channels.", PATCHES)
    E: Any = matrix("weights", "Patch projection.", PATCHES)
    b_E: Any = matrix("bias", "Bias of the patch projection.", PATCHES)
    patch: Any = setting(
        None,
        sides,
        "Patch size: one side, 16, or rows and columns, 2x3.",
        PATCHES,
        takes="one side, e.g. 2, or rows and columns, e.g. 2x3",
        is_list=True,
    )
    channels: int | None = setting(
        None, Whole(1, MOST_CHANNELS), "Number of channels, side by side in the image.", PATCHES
    )


@dataclass(frozen=True, eq=False, repr=False, init=False)
class EmbeddingFields:
    """Ids, tables and a class token; `Problem` describes them."""

    ids: Any = matrix("ids", "Token ids instead of X: rows of W_E.", kind="self")
    W_E: Any = matrix("table", "Embedding table, one row per id.", kind="self")
    first_id: int = setting(
        0,
        Whole(0, 1),
        "Id of the first row of W_E: 0 or 1.",
        MORE,
        kind="self",
        needs="ids and W_E",
    )
    class_token: Any = matrix("bias", "Class token, placed before the other tokens.", EMBEDDING)
    type_ids: Any = matrix("ids", "Token type ids: rows of W_type.", EMBEDDING)
    W_type: Any = matrix("table", "Token type embeddings, added to the tokens.", EMBEDDING)


ALONE, ENCODER, DECODER, VIT = "attention", "encoder", "decoder", "vit"
IN_WORDS = {ALONE: "attention", ENCODER: "encoder", DECODER: "decoder", VIT: "Vision Transformer"}
"""What each block is called in messages."""
LAST = "Y"
"""The name of the last outputs, and of those of each layer after its number."""


@dataclass(frozen=True, eq=False, repr=False, init=False)
class LayerFields:
    """The parts of layers; `Problem` describes them."""

    block: str = choice(" ".join(IN_WORDS), "attention, encoder, decoder or vit.", "", kind=LAYERS)
    norm: str = choice(
        "post pre around output pre-second none",
        "post, pre, around (both), output, pre-second (not in the first part) or none.",
        OF_LAYERS,
    )
    parallel: str = choice(
        "none shared own",
        "none, or shared or own: sublayers read the same tokens, one sum.",
        OF_LAYERS,
        needs="a layer with an attention and a feed-forward part",
    )
    layers: Any = nested("fields of each layer, in order", several=True)
    self: Any = nested("fields of a decoder's self-attention")
    cross: Any = nested("fields of a decoder's cross-attention")
    residual: bool = setting(
        True,
        yes_or_no,
        "Add the input of each sublayer to its output.",
        OF_LAYERS,
        needs="a layer with an attention or a feed-forward part",
    )
    residual_scale: Any = setting(
        Fraction(1),
        positive,
        "Factor of each output that is added to its input.",
        OF_LAYERS,
        needs="residual sums (residual true)",
    )


@dataclass(frozen=True, eq=False, repr=False, init=False)
class NormalisationFields:
    """Every matrix and every convention of a normalization; `Problem` describes them."""

    gamma_1: Any = matrix("bias", "Gain of the first normalization.", NORMALISATION)
    beta_1: Any = matrix("bias", "Bias of the first normalization.", NORMALISATION)
    gamma_2: Any = matrix("bias", "Gain of the second normalization.", NORMALISATION)
    beta_2: Any = matrix("bias", "Bias of the second normalization.", NORMALISATION)
    gamma_3: Any = matrix("bias", "Gain of the third normalization (decoder).", NORMALISATION)
    beta_3: Any = matrix("bias", "Bias of the third normalization (decoder).", NORMALISATION)
    gamma_4: Any = matrix("bias", "Gain of the fourth normalization (norm around).", NORMALISATION)
    beta_4: Any = matrix("bias", "Bias of the fourth normalization (norm around).", NORMALISATION)
    gamma_E: Any = matrix("bias", "Gain of the embedding normalization.", NORMALISATION)
    beta_E: Any = matrix("bias", "Bias of the embedding normalization.", NORMALISATION)
    gamma_out: Any = matrix(
        "bias", "Gain of the final normalization, after all layers.", NORMALISATION
    )
    beta_out: Any = matrix(
        "bias", "Bias of the final normalization, after all layers.", NORMALISATION
    )
    normalization: str = choice("layer rms", "layer (LayerNorm) or rms (RMSNorm).", NORMALISATION)
    eps: Any = setting(
        Fraction(1, 100_000), not_negative, "Epsilon added to the variance.", NORMALISATION
    )
    eps_place: str = choice("inside outside", "inside or outside the square root.", NORMALISATION)
    ddof: int = setting(
        0,
        Whole(0, 1),
        "Divide the variance by d (0) or by d - 1 (1).",
        NORMALISATION,
        needs="LayerNorm (normalization layer)",
    )


OF_EXPERTS: dict[str, Any] = {"panel": FEED_FORWARD, "needs": "experts (W_router)"}
"""Of each setting of experts."""


@dataclass(frozen=True, eq=False, repr=False, init=False)
class FeedForwardFields:
    """Every matrix and every convention of a feed-forward part; `Problem` describes them."""

    W_1: Any = matrix("weights", "Weights of the first feed-forward projection.", FEED_FORWARD)
    b_1: Any = matrix("bias", "Bias of the first feed-forward projection.", FEED_FORWARD)
    W_3: Any = matrix("weights", "Weights of the feed-forward gate, as in SwiGLU.", FEED_FORWARD)
    b_3: Any = matrix("bias", "Bias of the feed-forward gate.", FEED_FORWARD)
    W_2: Any = matrix("weights", "Weights of the second feed-forward projection.", FEED_FORWARD)
    b_2: Any = matrix("bias", "Bias of the second feed-forward projection.", FEED_FORWARD)
    W_router: Any = matrix("weights", "Router: logits of experts.", FEED_FORWARD)
    b_router: Any = matrix("bias", "Bias of the router.", FEED_FORWARD)
    b_choice: Any = matrix(
        "bias", "Added to the shares of experts when they are chosen.", FEED_FORWARD
    )
    W_s1: Any = matrix("weights", "First weights of the shared expert.", FEED_FORWARD)
    W_s3: Any = matrix("weights", "Weights of the shared expert's gate.", FEED_FORWARD)
    W_s2: Any = matrix("weights", "Second weights of the shared expert.", FEED_FORWARD)
    W_sgate: Any = matrix(
        "weights", "Share of the shared expert: one number per token.", FEED_FORWARD
    )
    top_k: int | None = setting(
        None, Whole(1, 10_000), "Number of chosen experts per token; by default all.", **OF_EXPERTS
    )
    router_groups: int = setting(1, Whole(1, 10_000), "Number of groups of experts.", **OF_EXPERTS)
    top_groups: int = setting(
        1,
        Whole(1, 10_000),
        "Number of groups with chosen experts, per token.",
        FEED_FORWARD,
        needs="router_groups above 1",
    )
    router: str = choice(
        "softmax sigmoid", "softmax or sigmoid: turns router logits into shares.", **OF_EXPERTS
    )
    router_scales: str = choice(
        "outputs inputs", "Shares multiply the outputs of experts, or their inputs.", **OF_EXPERTS
    )
    router_norm: bool = setting(
        True, yes_or_no, "Divide shares of chosen experts by their sum.", **OF_EXPERTS
    )
    router_scale: Any = setting(
        Fraction(1), positive, "Factor of the shares of chosen experts.", **OF_EXPERTS
    )
    activation: str = choice(
        "relu relu2 gelu gelu-tanh gelu-quick silu swish-clamped",
        "relu, relu2 (squared), gelu, gelu-tanh, gelu-quick, silu, swish-clamped.",
        FEED_FORWARD,
    )


@dataclass(frozen=True, eq=False, repr=False, init=False)
class LatentFields:
    """The matrices of a latent attention; `Problem` describes them."""

    W_DQ: Any = matrix("weights", "Weights of the latent vectors of queries.", kind=LAYERS)
    b_DQ: Any = matrix("bias", "Bias of the latent vectors of queries.", kind=LAYERS)
    gamma_DQ: Any = matrix("bias", "Gain of the latent vectors of queries.", kind=LAYERS)
    W_DKV: Any = matrix("weights", "Weights of the latent vectors of keys, values.", kind=LAYERS)
    b_DKV: Any = matrix("bias", "Bias of the latent vectors of keys and values.", kind=LAYERS)
    gamma_DKV: Any = matrix("bias", "Gain of the latent vectors of keys, values.", kind=LAYERS)
    W_KR: Any = matrix("weights", "Weights of the keys' columns for rope.", kind=LAYERS)
    b_KR: Any = matrix("bias", "Bias of the keys' columns for rope.", kind=LAYERS)


@dataclass(frozen=True, eq=False, repr=False, init=False)
class HeadFields:
    """Every matrix and every convention of a head; `Problem` describes them."""

    W_pre: Any = matrix("weights", "Weights of the head's hidden layer.", HEAD)
    b_pre: Any = matrix("bias", "Bias of the head's hidden layer.", HEAD)
    gamma_pre: Any = matrix("bias", "Gain of the normalization after the hidden layer.", HEAD)
    beta_pre: Any = matrix("bias", "Bias of the normalization after the hidden layer.", HEAD)
    W_out: Any = matrix("weights", "Weights of the output head (logits).", HEAD)
    b_out: Any = matrix("bias", "Bias of the output head.", HEAD)
    read: str = choice(
        "all first last mean",
        "all, first, last or mean: tokens that the head reads.",
        HEAD,
        in_vit="first",
    )
    activation_pre: str = choice(
        "tanh relu relu2 gelu gelu-tanh gelu-quick silu none",
        "tanh, relu, relu2, gelu, gelu-tanh, gelu-quick, silu or none, in the hidden layer.",
        HEAD,
        needs="a hidden layer of the head (W_pre)",
    )
    tied: bool = setting(False, yes_or_no, "Use W_E, transposed, as the head's weights.", HEAD)
    softcap_out: Any = setting(
        None,
        positive,
        "Cap each logit l at this value c: c tanh(l / c).",
        HEAD,
        needs="a head with logits (W_out, or tied)",
    )


_ID = re.compile(r"\d{1,7}(?:\.0{0,20})?")
"""A class, as a program may have it, too: 2.0."""


def read_ids(given: Any) -> tuple[int, ...]:
    """Read whole numbers from 0: a list, or a text with commas or spaces between them."""
    if isinstance(given, bool):
        raise ValueError
    if hasattr(given, "tolist"):
        given = given.tolist()
    if isinstance(given, str):
        given = given.replace(",", " ").replace(";", " ").split()
    listed = list(given) if isinstance(given, list | tuple) else [given]
    if len(listed) == 1 and isinstance(listed[0], list):  # an array of one row
        (listed,) = listed
    if not listed or any(isinstance(each, bool) for each in listed):
        raise ValueError
    texts = [str(each).strip() for each in listed]
    if not all(map(_ID.fullmatch, texts)):
        raise ValueError
    return tuple(int(text.partition(".")[0]) for text in texts)


@dataclass(frozen=True, eq=False, repr=False, init=False)
class GradientFields:
    """The upstream gradient and the targets; `Problem` describes them."""

    backward: Any = setting(
        False,
        yes_or_no,
        "Compute the gradients of all inputs and weights.",
        GRADIENTS,
        is_open=True,
    )
    dO: Any = matrix("arriving", "Upstream gradient of the outputs O.", GRADIENTS)
    dY: Any = matrix("arriving", "Upstream gradient of the layer outputs Y.", GRADIENTS, LAYERS)
    dlogits: Any = matrix("arriving", "Upstream gradient of the logits.", GRADIENTS, LAYERS)
    target: Any = matrix("arriving", "Target outputs T: L = 1/2 sum (O - T)^2.", GRADIENTS)
    target_ids: Any = setting(
        None,
        read_ids,
        "Target class of each row, from 0: L = -sum log prob.",
        GRADIENTS,
        takes="whole numbers from 0, one per row of probabilities, e.g. 2, 0, 1",
        kind=LAYERS,
        is_list=True,
    )
    step: Any = setting(
        None, positive, "Learning rate of one gradient step: W - rate dW.", GRADIENTS
    )


_PART = re.compile(r"(?:[1-9]\d{0,3}\.)?(?:(?:self|cross)\.)?")
"""The prefix of a matrix in a part: the layer, and the side of a decoder."""


class Names(tuple[str, ...]):
    """Names of matrices or settings: in whatever part, 1.W_Q is among them as W_Q is."""

    __slots__ = ()

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        start = _PART.match(name)
        return super().__contains__(name[start.end() :] if start else name)


MOST_LINES = 200


class Lines(tuple[str, ...]):
    """Equations, one text each."""

    __slots__ = ()


_STATED = re.compile(r"([\w.]{1,100}) *+(?:\[[^\]]{0,200}\] *+)?=(?!=)")
"""The start of an equation: the name of what it states."""


def read_lines(given: Any) -> Lines:
    r"""Read a list of equations, or a text with one on each line.

    >>> read_lines("a[i] = X[i,0]  # first\nb[i] = X[i,1]")
    ('a[i] = X[i,0]  # first', 'b[i] = X[i,1]')
    """
    # cells of CSV show ends of lines as ⏎
    listed = given.replace("⏎", "\n").splitlines() if isinstance(given, str) else given
    if not isinstance(listed, list | tuple) or not all(isinstance(each, str) for each in listed):
        raise ValueError
    found = Lines(each.strip() for each in listed if each.strip())
    if len(found) > MOST_LINES:
        raise ValueError
    return found


def added_lines(before: Any, further: Any) -> Lines:
    """Return equations and further ones, which replace those of the same name.

    >>> added_lines(["a[i] = X[i,0]", "b = 1"], ["b = 2"])
    ('a[i] = X[i,0]', 'b = 2')
    """
    lines = (*read_lines(before), *read_lines(further))
    # an expression of scores has no name, and replaces none
    named = ((_STATED.match(line), line) for line in lines)
    return Lines({found[1] if found else line: line for found, line in named}.values())


@dataclass(frozen=True, eq=False, repr=False, init=False)
class EquationFields:
    """The equations of a problem; `Problem` describes them."""

    equations: Any = setting(
        Lines(),
        read_lines,
        "Equation that replaces or adds a step; repeatable.",
        takes=f"a list of up to {MOST_LINES} equations, e.g. "
        "S[i,j] = sum(Q[i,c] * K[j,c] for c in d_k)",
        is_list=True,
        flag="--equation",
    )
    more: Any = None


OWNERS = (
    PatchFields, EmbeddingFields, AttentionFields, LayerFields, NormalisationFields,
    FeedForwardFields, LatentFields, HeadFields, GradientFields, EquationFields,
)  # fmt: skip
"""Who declares fields; a further part adds its own."""
GIVEN: dict[str, MatrixField] = {
    n: each for o in OWNERS for n, each in declared(o, MatrixField).items()
}
"""Every matrix."""
SETTINGS: dict[str, Setting] = {n: each for o in OWNERS for n, each in declared(o, Setting).items()}
"""Every convention but `labels` and the texts."""
TEXTS = ("title", "student", "code", "made_by")
"""Texts of a problem: its title, whose it is, its code in a set, and the command that made it."""
NESTED: dict[str, Nested] = declared(LayerFields, Nested)
"""What has fields of its own."""


def _of_role(*roles: str) -> tuple[str, ...]:
    return tuple(name for name, each in GIVEN.items() if each.role in roles)


MATRICES = Names(GIVEN)
TOKENS = _of_role("tokens")
WEIGHTS, BIASES = _of_role("weights"), _of_role("bias", "frequencies", "heads")
POSITIONS, OF_HEADS = _of_role("positions"), _of_role("heads")
MARKS, MASKS = _of_role("marks"), _of_role("marks", "scores")
FIXED = _of_role("marks", "ids")
"""Matrices whose numbers are marks or names: values between two of them have no meaning."""


WHOLE = (
    *TOKENS,
    *POSITIONS,
    *(name for o in (PatchFields, EmbeddingFields) for name in o.__dataclass_fields__),
    *declared(HeadFields, MatrixField),
    *("gamma_E", "beta_E", "gamma_out", "beta_out"),
    *("rounding", "decimals", "language", "asked", "layout", "weights_layout"),
    *("block", "read", "tied", "activation_pre", "labels", *TEXTS),
    *declared(GradientFields, MatrixField),
    *declared(GradientFields, Setting),
    "equations",
)
"""What belongs to the whole of a problem, and not to a layer in it."""


def own_name(name: str) -> str:
    """Return what a matrix is called in its part, without that part: 1.W_Q is W_Q there.

    >>> own_name("1.W_Q"), own_name("2.self.bias"), own_name("X")
    ('W_Q', 'bias', 'X')
    """
    return name.rpartition(".")[2]


def role_of(name: str) -> str:
    """Return the role of a matrix, of any part of the calculation; "" for other names.

    >>> role_of("W_Q"), role_of("1.self.keep"), role_of("O")
    ('weights', 'marks', '')
    """
    given = GIVEN.get(own_name(name))
    return "" if given is None else given.role


def one_of(name: str) -> str:
    """Return what each matrix of a list is: a head, an expert, or a channel of an image."""
    if own_name(name) in ("W_1", "W_2", "W_3"):
        return "expert"
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
    from attncalc.base.arrays import only_value  # here, for a command line needs no numpy

    return only_value(given)
