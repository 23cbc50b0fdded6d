"""The order of the parts in an encoder and a decoder, and what each of them reads.

Vaswani et al., *Attention Is All You Need* (2017), with tokens normalized after each residual
connection; Xiong et al., *On Layer Normalization in the Transformer Architecture* (2020), before.
"""

from collections.abc import Iterator, Mapping, Sequence

from attncalc.base.errors import InputError
from attncalc.problem.attention.placed import ATTENTION
from attncalc.problem.attention.placed import is_there as attends
from attncalc.problem.calculation import Part, Placed
from attncalc.problem.embedding import CLASS_TOKEN, EMBEDDING, POSITIONS, TYPES, has_positions
from attncalc.problem.feed_forward import FEED_FORWARD
from attncalc.problem.feed_forward import GIVEN as OF_FORWARD
from attncalc.problem.fields import ALONE, LAST
from attncalc.problem.head import HEAD
from attncalc.problem.head import is_there as has_head
from attncalc.problem.image import PATCHES
from attncalc.problem.latent import JOINED, LATENT, latent
from attncalc.problem.mixing import MIXING
from attncalc.problem.mixing import is_there as mixes
from attncalc.problem.normalisation import NORMALISATION, RESIDUAL
from attncalc.problem.scope import Scope

OPENING = (PATCHES, EMBEDDING, CLASS_TOKEN, POSITIONS, TYPES)
"""The parts that make tokens, before all layers."""
PARTS = (*OPENING, LATENT, JOINED, ATTENTION, RESIDUAL, NORMALISATION, FEED_FORWARD, HEAD)
STEP_TITLES = {name: title for part in PARTS for name, title in part.titles.items()} | {
    "Y": "outputs of the last layer"
}
"""The title of every step that a plan can have."""


def opening(fields: Scope, tokens: str, earlier: int = 0) -> list[Placed]:
    """Return the parts before all layers, each reading what the one before it gives.

    fields: the fields of the whole.
    tokens: the name of the tokens that are given, or that the first part makes.
    earlier: the number of tokens in the cache, which precede these.
    """
    parts: list[Placed] = []
    reads = () if has_made_tokens(fields) else (tokens,)
    for part, gives in _parts(fields, tokens):
        number = "E" if part is NORMALISATION else str(earlier) if part is POSITIONS else ""
        parts.append(Placed(part, fields, "", number, reads, gives))
        reads = (gives,)
    return parts


def has_made_tokens(fields: Scope) -> bool:
    """Return whether tokens come from an image or from ids, and are not given."""
    return bool(fields.those_given("image", "patch", "ids"))


def _parts(fields: Scope, tokens: str) -> Iterator[tuple[Part, str]]:
    last = tokens
    if fields.those_given("image", "patch"):
        last = tokens if fields.those_given("E", "b_E") else "patches"
        yield PATCHES, last
    elif fields.ids is not None:
        yield EMBEDDING, last
    if fields.class_token is not None:
        last = f"{tokens}_cls"
        yield CLASS_TOKEN, last
    if has_positions(fields, last):
        yield POSITIONS, f"{tokens}_P"
    if fields.those_given("type_ids", "W_type"):
        yield TYPES, f"{tokens}_type"
    if fields.those_given("gamma_E", "beta_E"):
        yield NORMALISATION, "N_E"


MEMORY = "X2"
"""What a decoder's cross-attention reads: the outputs of an encoder."""
MOST_AROUND = 2
"""Parts that a layer may have with two normalizations for each."""


def parts_of_layers(fields: Scope, inner: Mapping[str, Scope], tokens: str) -> list[Placed]:
    """Return the parts of layers, each after those whose tokens it reads.

    Of one attention whose tokens come from ids: the parts that make its tokens, and the attention.

    fields: the fields of the whole, and of its layer where there is but one.
    inner: those of each layer, and of each attention in one, by the prefix of their names.
    tokens: what the first layer reads.
    """
    parts = opening(fields, tokens, max(each.n_past for each in (fields, *inner.values())))
    if parts:
        tokens = parts[-1].gives
    if fields.block == ALONE:
        return [*parts, Placed(ATTENTION, fields, reads=(tokens,))]
    has_end = bool(fields.those_given("gamma_out", "beta_out"))
    for number in _numbers(fields, inner):
        prefix = f"{number}." if number else ""
        layer = _Layer(prefix, inner, inner.get(prefix, fields), tokens)
        is_last = number == len(fields.layers or ()) and not has_end
        tokens = LAST if is_last else prefix + LAST if prefix else layer.parts[-1].gives
        parts += [*layer.parts[:-1], layer.parts[-1]._replace(gives=tokens)]
    if has_end:
        parts.append(Placed(NORMALISATION, fields, "", "out", (tokens,), LAST))
        tokens = LAST
    if has_head(fields):
        parts.append(Placed(HEAD, fields, reads=(tokens,)))
    return parts


def _numbers(fields: Scope, inner: Mapping[str, Scope]) -> Sequence[int]:
    """Return the numbers of the layers: 0 is the only one; none where tokens are made alone."""
    if fields.layers:
        return range(1, len(fields.layers) + 1)
    of_a_layer = (*OF_FORWARD, "gamma_1", "beta_1")
    is_there = inner or attends(fields) or fields.those_given(*of_a_layer)
    return [0] if is_there or not has_made_tokens(fields) else []


class _Layer:
    """A layer: attention and feed-forward, each with its normalizations and its residual sum."""

    def __init__(self, prefix: str, inner: Mapping[str, Scope], fields: Scope, tokens: str) -> None:
        self.prefix = prefix
        self.fields = fields
        self.tokens = tokens
        self.parts: list[Placed] = []
        insides = list(self._insides(inner))
        if len(insides) > MOST_AROUND and fields.norm == "around":
            raise InputError(
                "norm around is for layers of an attention and a feed-forward part: this one has "
                f"{len(insides)} parts"
            )
        if fields.parallel == "none":
            for number, (part, side, own) in enumerate(insides, start=1):
                self._join(number, part, side, own)
        else:
            self._join_together(insides)
        if not insides and fields.norm != "none":
            self._add(NORMALISATION, "N_1", "1")
        if not self.parts:
            where = f"layer {prefix.rstrip('.')}: " if prefix else ""
            raise InputError(
                f"{where}nothing to compute: pass W_Q, W_K and W_V, or W_1 and W_2, or a norm"
            )

    def _insides(self, inner: Mapping[str, Scope]) -> Iterator[tuple[Part, str, Scope]]:
        """Yield what mixes tokens and the feed-forward part, where they are, and their fields."""
        if (own := inner.get(f"{self.prefix}self.")) is not None:
            yield ATTENTION, "self.", own
        if attends(self.fields):
            yield ATTENTION, "", self.fields
        elif mixes(self.fields, self.prefix):
            yield MIXING, "", self.fields
        if (own := inner.get(f"{self.prefix}cross.")) is not None:
            yield ATTENTION, "cross.", own
        if self.fields.those_given(*OF_FORWARD):
            yield FEED_FORWARD, "", self.fields

    def _join(self, number: int, part: Part, side: str, own: Scope) -> None:
        """Add a part between its normalizations and its residual connection."""
        before, norm = self.tokens, self.fields.norm
        count = 2 * number - 1 if norm == "around" else number
        if norm in ("pre", "around") or (norm == "pre-second" and number > 1):
            self._add(NORMALISATION, f"N_{count}", str(count))
        self._keep_inside(part, side, own)
        if norm in ("around", "output"):
            after = str(count + (norm == "around"))
            self._add(NORMALISATION, f"N_{after}", after)
        if self.fields.residual:
            pair = (before, self.tokens)
            self._keep(Placed(RESIDUAL, self.fields, self.prefix, str(number), pair), f"R_{number}")
        if norm == "post":
            self._add(NORMALISATION, f"N_{number}", str(number))

    def _join_together(self, insides: Sequence[tuple[Part, str, Scope]]) -> None:
        """Add parts that read the same tokens, and one sum (GPT-J-6B, 2021; GPT-NeoX-20B, 2022)."""
        before, fields = self.tokens, self.fields
        self._check_parallel(insides)
        read, made = before, []
        for number, inside in enumerate(insides, start=1):
            self.tokens = read
            if fields.norm == "pre" and (number == 1 or fields.parallel == "own"):
                self.tokens = before
                self._add(NORMALISATION, f"N_{number}", str(number))
                read = self.tokens
            self._keep_inside(*inside)
            made.append(self.tokens)
        summed = (before, *made) if fields.residual else tuple(made)
        self._keep(Placed(RESIDUAL, fields, self.prefix, "1", summed), "R_1")
        if fields.norm == "post":
            self._add(NORMALISATION, "N_1", "1")

    def _check_parallel(self, insides: Sequence[object]) -> None:
        """Refuse parallel parts that a layer does not have, or cannot normalize so."""
        where = f"layer {self.prefix.rstrip('.')}: " if self.prefix else ""
        parallel, norm = self.fields.parallel, self.fields.norm
        if len(insides) <= 1:
            raise InputError(
                f"{where}parallel is {parallel}: it needs an attention and a feed-forward part"
            )
        if norm in ("around", "output") or (parallel == "own" and norm != "pre"):
            may = "none" if norm in ("around", "output") else "shared or none"
            raise InputError(
                f"{where}parallel is {parallel}, and norm is {norm}: with it, parallel is {may}"
            )

    def _keep_inside(self, part: Part, side: str, own: Scope) -> None:
        """Add an attention or a feed-forward part that reads the current tokens."""
        gives = "F_2" if part is FEED_FORWARD else f"{side}O"
        memory = (MEMORY,) if side == "cross." else ()
        placed = Placed(part, own, self.prefix + side, "", (self.tokens, *memory))
        *before, last = latent(placed, own, self.tokens) if part is ATTENTION else [placed]
        self.parts += before
        self._keep(last, gives)

    def _add(self, part: Part, gives: str, number: str) -> None:
        self._keep(Placed(part, self.fields, self.prefix, number, (self.tokens,)), gives)

    def _keep(self, placed: Placed, gives: str) -> None:
        self.tokens = self.prefix + gives
        self.parts.append(placed._replace(gives=self.tokens))
