"""What follows from the fields of an attention: its sources, its sizes, its matrices upright."""

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np

from attncalc.numbers.types import Matrix
from attncalc.problem.attention.fields import AttentionFields
from attncalc.problem.fields import MARKS, MATRICES, TOKENS
from attncalc.problem.standing import Standing, split_heads

ASKING = ("W_Q", "b_Q", "Q")
ANSWERING = ("W_K", "b_K", "K", "W_V", "b_V", "V")
LARGEST_KEPT = 4_000_000
"""Scores up to which a matrix of all of them is kept without being asked for."""


class Attention(AttentionFields):
    """The fields of an attention, and what follows from them alone."""

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the matrices that are given."""
        return tuple(name for name in MATRICES if getattr(self, name) is not None)

    @cached_property
    def standing(self) -> Standing:
        """How the matrices stand."""
        return Standing(self.layout == "columns", self.weights_layout == "torch")

    @cached_property
    def kind(self) -> Literal["self", "cross"]:
        """The kind of attention: one matrix of tokens, or two."""
        return "self" if self.X is not None else "cross"

    @property
    def has_tokens(self) -> bool:
        """Whether any tokens are given, and not queries, keys and values alone."""
        return any(name in self.names for name in TOKENS)

    @property
    def query_source(self) -> str:
        """The name of the tokens that ask, or "Q" where the queries themselves are given."""
        return "Q" if self.Q is not None else "X" if self.kind == "self" else "X1"

    @property
    def key_source(self) -> str:
        """The name of the tokens attended to, or "K" where the keys themselves are given."""
        return "K" if self.K is not None else "X" if self.kind == "self" else "X2"

    @property
    def value_source(self) -> str:
        """The name of the tokens whose values are read, or "V" where those are given."""
        if self.V is not None:
            return "V"
        return "X" if self.kind == "self" else "X3" if self.X3 is not None else "X2"

    @cached_property
    def n(self) -> int:
        """The number of queries, hence of outputs."""
        return self._shape_of(self.query_source)[-2]

    @cached_property
    def m(self) -> int:
        """The number of keys, hence of inputs that can be attended to."""
        return self._shape_of(self.key_source)[-2]

    @property
    def query_place(self) -> int:
        """How many places after the first key the first query stands."""
        return self.m - self.n if self.causal_alignment == "bottom-right" else 0

    @property
    def rope_places(self) -> tuple[Fraction, Fraction]:
        """The places of the first query and of the first key, for rope."""
        first_key = Fraction(self.rope_offset)
        if self.rope_query_offset is None:
            return first_key + self.query_place, first_key
        return Fraction(self.rope_query_offset), first_key

    @cached_property
    def n_heads(self) -> int:
        """The number of heads that ask: as `heads` says, or as many matrices as are listed."""
        listed = self.W_Q if self.Q is None else self.Q
        if listed is not None and listed.ndim == 3:
            return int(listed.shape[0])
        return self.heads or 1

    @cached_property
    def n_kv_heads(self) -> int:
        """The number of heads of keys and values: as are listed, or as fit side by side."""
        for name in self.those_given("K", "W_K", "V", "W_V"):
            if getattr(self, name).ndim == 3:
                return int(getattr(self, name).shape[0])
        # keys are shared among query heads, never the other way round
        if self.n_heads == 1:
            return 1
        return self.width_of(*self.those_given("K", "W_K")) // self.d_k

    @cached_property
    def d_k(self) -> int:
        """The width of a head's queries and keys."""
        return self._shape_of("W_Q" if self.Q is None else "Q")[-1]

    @cached_property
    def d_v(self) -> int:
        """The width of a head's values."""
        return self._shape_of("W_V" if self.V is None else "V")[-1]

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The type of the results: float32 where all that is given is, else float64."""
        return np.result_type(*(getattr(self, name) for name in self.names if name not in MARKS))

    @property
    def is_long(self) -> bool:
        """Whether a matrix of all scores is too large to be kept without being asked for."""
        return self.n_heads * self.n * self.m > LARGEST_KEPT

    @property
    def is_masked(self) -> bool:
        """Whether anything may forbid a query to attend to a key, or adds to its score."""
        return self.causal or any(mask is not None for mask in (self.keep, self.ignore, self.bias))

    @cached_property
    def given(self) -> Mapping[str, Matrix]:
        """The given matrices in floats, as the house knows them."""
        return {name: self._stood_up(name) for name in self.names}

    def turned(self, name: str, matrix: Matrix) -> Matrix:
        """Return a given matrix as the house knows it: upright, one matrix for each head."""
        upright = self.standing.upright(name, matrix)
        if name in ASKING:
            return split_heads(upright, self.n_heads)
        if name in ANSWERING:
            return split_heads(upright, self.n_kv_heads)
        # a mask for one head is a mask for all
        return upright[0] if upright.ndim == 3 and len(upright) == 1 else upright

    def those_given(self, *names: str) -> list[str]:
        """Return which of these matrices are given."""
        return [name for name in names if getattr(self, name) is not None]

    def width_of(self, name: str) -> int:
        """Return the columns of a given matrix that stands upright, all of its heads together."""
        return int(self.standing.upright(name, getattr(self, name)).shape[-1])

    def _shape_of(self, name: str) -> tuple[int, ...]:
        return self._stood_up(name).shape

    def _stood_up(self, name: str) -> Matrix:
        """Return a given matrix in floats as the house knows it, turned once."""
        if name not in self._upright:
            self._upright[name] = self.turned(name, getattr(self, name))
        return self._upright[name]

    @cached_property
    def _upright(self) -> dict[str, Matrix]:
        return {}
