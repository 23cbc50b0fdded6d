"""Values that follow from the fields of an attention: sources, sizes, upright matrices."""

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np

from attncalc.base.text import numbered
from attncalc.base.types import Matrix
from attncalc.problem.attention.declared import (
    CONCAT,
    DISTANCE,
    DOT,
    GENERAL,
    NONE,
    OF_SCORE,
    SQRT_DK,
    AttentionFields,
)
from attncalc.problem.fields import MASKS, MATRICES, TOKENS, role_of
from attncalc.problem.standing import Standing, split_heads

ASKING = ("W_Q", "b_Q", "Q")
ANSWERING = ("W_K", "b_K", "K", "W_V", "b_V", "V", "past_K", "past_V")
SAME_WIDTH = (DOT, DISTANCE)
"""Kinds of score that take queries and keys of one width."""
GAINS = ("gamma_Q", "beta_Q", "gamma_K", "beta_K")
"""Gains and biases of qk_norm for each head's queries and keys."""
LARGEST_KEPT = 4_000_000
"""Scores up to which their matrix is kept by default."""


def size_of(matrix: Matrix) -> str:
    """Return a shape as text: "3 × 4"."""
    return " × ".join(str(length) for length in matrix.shape)


class Attention(AttentionFields):
    """The fields of an attention, and the values that follow from them."""

    eps: Fraction
    """That of its layer, or the default."""
    n_experts = 0
    """The number of experts of its layer."""

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the given matrices."""
        return tuple(name for name in MATRICES if getattr(self, name) is not None)

    @cached_property
    def standing(self) -> Standing:
        """The layout of the matrices."""
        return Standing(self.layout == "columns", self.weights_layout == "torch", self.unturned)

    @property
    def unturned(self) -> tuple[str, ...]:
        """The names of weights that no layout transposes."""
        # qᵀ W_S k is unambiguous for q and k as rows or columns
        return ("W_S",) if self.score == GENERAL else ()

    @cached_property
    def start(self) -> str:
        """The given start instead of queries and keys: "S" scores, "A" weights, "" for neither."""
        return next(iter(self.those_given("S", "A")), "")

    @property
    def default_scale(self) -> str:
        """The default scale of scores: 1/√d_k for dot products, 1 for the other scores."""
        return SQRT_DK if self.score == DOT and not self.start else NONE

    def is_bare(self, name: str) -> bool:
        """Return whether tokens are used directly as the queries, keys or values, by Q, K or V."""
        return self.score != DOT and not self.start and not self.those_given(name, f"W_{name}")

    @property
    def has_values(self) -> bool:
        """Whether there are values to weigh: scores and weights may be given without."""
        return not self.start or bool(self.those_given("V", "W_V"))

    @property
    def of_score(self) -> tuple[str, ...]:
        """The names of the matrices that its kind of score can read."""
        return tuple(name for names in OF_SCORE[self.score] for name in names)

    @cached_property
    def kind(self) -> Literal["self", "cross"]:
        """The kind of attention: one matrix of tokens, or two."""
        return "self" if self.X is not None else "cross"

    @property
    def has_tokens(self) -> bool:
        """Whether any tokens are given, and not only queries, keys and values."""
        return any(name in self.names for name in TOKENS)

    @property
    def query_source(self) -> str:
        """The name of the query tokens, or "Q" if the queries themselves are given."""
        return "Q" if self.Q is not None or self.start else "X" if self.kind == "self" else "X1"

    @property
    def key_source(self) -> str:
        """The name of the tokens attended to, or "K" if the keys are given."""
        return "K" if self.K is not None or self.start else "X" if self.kind == "self" else "X2"

    @property
    def value_source(self) -> str:
        """The name of the tokens of the values, or "V" if these are given."""
        if self.V is not None or not self.has_values:
            return "V"
        return "X" if self.kind == "self" else "X3" if self.X3 is not None else "X2"

    @property
    def sources(self) -> dict[str, str]:
        """These three names, by Q, K and V."""
        return {"Q": self.query_source, "K": self.key_source, "V": self.value_source}

    @cached_property
    def n(self) -> int:
        """The number of queries, which is the number of outputs."""
        return self.tokens_of(self.start or self.query_source)

    @cached_property
    def m(self) -> int:
        """The number of keys, which is the number of inputs that can be attended to."""
        if self.start:
            return self.width_of(self.start)
        return self.n_past + self.tokens_of(self.key_source)

    @cached_property
    def queries(self) -> tuple[str, ...]:
        """The names of the outputs, which are those of the query tokens."""
        return numbered(self.n)

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The names of the inputs: of the tokens attended to."""
        return numbered(self.m)

    @property
    def scores(self) -> int:
        """The number of scores, of all heads together."""
        return self.n_heads * self.n * self.m

    @property
    def n_past(self) -> int:
        """The number of earlier keys, from a cache."""
        return self.tokens_of("past_K")

    @property
    def query_place(self) -> int:
        """The position of the first query, counted from the first key."""
        if self.past_K is not None:
            return self.n_past
        return self.m - self.n if self.causal_alignment == "bottom-right" else 0

    @property
    def is_decimal(self) -> bool:
        """Whether all that it reads are decimals as typed; unknown in layers."""
        return False

    @property
    def has_alibi(self) -> bool:
        """Whether a slope times the distance is subtracted from scores."""
        return self.alibi or self.alibi_slopes is not None

    @property
    def rel_both_ways(self) -> bool:
        """Whether keys after a query have separate buckets of `rel_bias`."""
        return not self.causal if self.rel_bidirectional is None else self.rel_bidirectional

    @property
    def farthest(self) -> int:
        """The largest distance between a query and a key that it may attend to."""
        first, last = self.query_place, self.query_place + self.n - 1
        behind = max(0, self.m - 1 - first)
        if self.window is not None:
            return min(max(last, 0), self.window - 1)
        return max(last, 0) if self.causal else max(last, behind)

    @property
    def norm_eps(self) -> Fraction:
        """The epsilon of the mean squares, or variances, of queries and keys."""
        # by default that of the layer: models have one number for both
        return self.eps if self.qk_eps is None else Fraction(self.qk_eps)

    @property
    def rope_places(self) -> tuple[Fraction, Fraction]:
        """The positions of the first query and of the first key, for rope."""
        first_key = Fraction(self.rope_offset)
        if self.rope_query_offset is None:
            return first_key + self.query_place, first_key
        return Fraction(self.rope_query_offset), first_key

    @cached_property
    def n_heads(self) -> int:
        """The number of query heads: the field `heads`, or the number of listed matrices."""
        listed = self.W_Q if self.Q is None else self.Q
        if self.start:
            listed = getattr(self, self.start)
        if listed is not None and listed.ndim == 3:
            return len(listed)
        return 1 if self.start else self.heads or 1

    @cached_property
    def n_kv_heads(self) -> int:
        """The number of heads of keys and values: as listed, or as fit side by side."""
        own = [] if self.start else self.those_given("K", "W_K")
        for name in (*own, *self.those_given("V", "W_V")):
            if self.stored(name).ndim == 3:
                return len(self.stored(name))
        # keys are shared among query heads, never the other way round
        if self.n_heads == 1 or not own:
            return self.n_heads
        return self.width_of(*own) // self.d_k

    @cached_property
    def d_q(self) -> int:
        """The width of a head's queries; for dot products also that of keys."""
        return 0 if self.start else self._width_of_head("Q")

    @cached_property
    def d_k(self) -> int:
        """The width of a head's keys; 0 if only scores or weights are given."""
        if self.start:
            return 0
        if self.score in SAME_WIDTH:
            return self.d_q
        if self.n_heads > 1:
            if self.score == GENERAL:
                return self._shape_of("W_S")[-1]
            if self.score == CONCAT:
                return max(1, self._shape_of("W_S")[-2] - self.d_q)
            if self.W_Sk is not None:
                return self._shape_of("W_Sk")[-2]
            return self.d_q if self.W_Sq is None else self._shape_of("W_Sq")[-1]
        # read before shapes are checked, so without splitting heads: there may be too many
        return self.width_of(*(self.those_given("K", "W_K") or [self.key_source]))

    @cached_property
    def d_hidden(self) -> int:
        """The width of the tanh of an additive or concat score."""
        if self.score == CONCAT:
            return self._shape_of("W_S")[-1]
        if self.W_Sq is not None:
            return self._shape_of("W_Sq")[-1]
        return self.d_q

    def _width_of_head(self, name: str) -> int:
        if self.is_bare(name):
            return self._shape_of(self.sources[name])[-1]
        return self._shape_of(f"W_{name}" if getattr(self, name) is None else name)[-1]

    @cached_property
    def d_v(self) -> int:
        """The width of a head's values; 0 if there are none."""
        return self._width_of_head("V") if self.has_values else 0

    @property
    def d_joined(self) -> int:
        """The width of all heads together."""
        return self.d_v * (self.n_heads if self.combine == "concat" else 1)

    @property
    def d_out(self) -> int:
        """The width of the outputs."""
        return self.d_joined if self.W_O is None else self.width_of("W_O")

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The type of the results: float32 if all that they are made of is, otherwise float64."""
        others = ("marks", "ids", "frequencies")  # angles are always computed in float64
        return np.result_type(
            *(self.stored(name) for name in self.names if role_of(name) not in others)
        )

    @property
    def is_masked(self) -> bool:
        """Whether anything may mask a key for a query, or add to its score."""
        return self.causal or self.window is not None or bool(self.those_given(*MASKS))

    @property
    def may_forbid(self) -> bool:
        """Whether scores may be -∞ before the softmax."""
        return self.is_masked or (self.S is not None and bool(np.isneginf(self.S).any()))

    @cached_property
    def given(self) -> Mapping[str, Matrix]:
        """The given matrices in floats, in the internal layout."""
        return {name: self.upright_matrix(name) for name in self.names}

    def turned(self, name: str, matrix: Matrix) -> Matrix:
        """Return a given matrix in the internal layout: upright, one matrix for each head."""
        upright = self.standing.upright(name, matrix)
        if name in ASKING:
            return split_heads(upright, self.n_heads)
        if name in ANSWERING:
            return split_heads(upright, self.n_kv_heads)
        if name in ("v_S", "b_S") and upright.shape[-1] == self.n_heads * self.d_hidden:
            return split_heads(upright, self.n_heads)
        if role_of(name) == "heads":
            return upright.reshape((-1, 1, 1) if self.n_heads > 1 else (1, -1))
        if role_of(name) == "buckets":
            table = upright.T if self.n_heads > 1 else upright.reshape(1, -1)
            return table[:, np.newaxis] if self.n_heads > 1 else table
        if name in ("b_1", "b_2", "b_3") and self.n_experts:
            return upright.reshape(self.n_experts, 1, -1)
        if name in GAINS and upright.size != (self.d_q if name.endswith("Q") else self.d_k):
            return split_heads(upright, self.heads_of(name))  # each head has its own
        # a mask for one head is a mask for all
        return upright[0] if upright.ndim == 3 and len(upright) == 1 else upright

    def heads_of(self, name: str) -> int:
        """Return the number of heads of queries, or of keys, for a matrix: W_K, gamma_Q."""
        return self.n_heads if name.endswith("Q") else self.n_kv_heads

    def stored(self, name: str) -> Matrix:
        """Return a given matrix in floats, in the orientation in which it was given."""
        matrix: Matrix = getattr(self, name)
        return matrix

    def size(self, name: str) -> str:
        """Return the shape of a given matrix as text: "3 × 4"."""
        return size_of(self.stored(name))

    def those_given(self, *names: str) -> list[str]:
        """Return the given ones of these matrices."""
        return [name for name in names if getattr(self, name) is not None]

    def width_of(self, name: str) -> int:
        """Return the columns of a given matrix in the internal layout, all heads together."""
        return int(self.standing.upright(name, getattr(self, name)).shape[-1])

    def tokens_of(self, name: str) -> int:
        """Return the number of tokens of a matrix; 0 if it is not given."""
        if not self.those_given(name):  # of equations without an attention
            return 0
        # read before shapes are checked, so only the rows: heads may not divide the columns
        return int(self.standing.upright(name, getattr(self, name)).shape[-2])

    def _shape_of(self, name: str) -> tuple[int, ...]:
        return self.upright_matrix(name).shape

    def upright_matrix(self, name: str) -> Matrix:
        """Return a given matrix in floats in the internal layout, transposed only once."""
        if name not in self._upright:
            self._upright[name] = self.turned(name, self.stored(name))
        return self._upright[name]

    @cached_property
    def _upright(self) -> dict[str, Matrix]:
        return {}
