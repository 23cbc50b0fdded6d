"""Problem: the given matrices and the conventions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import cache, cached_property
from typing import Any, Literal

import numpy as np

from attncalc.base.arrays import only_value
from attncalc.base.errors import InputError
from attncalc.base.text import distinct_names, harmless, numbered, shortened
from attncalc.base.typed import exact, quoted
from attncalc.base.types import Matrix
from attncalc.problem.arrangement import arranged
from attncalc.problem.attention.attention import LARGEST_KEPT, Attention, size_of
from attncalc.problem.calculation import Calculation
from attncalc.problem.field import IMAGE, LAYERS
from attncalc.problem.fields import (
    ALONE,
    DECODER,
    ENCODER,
    GIVEN,
    LINES,
    MATRICES,
    NESTED,
    SETTINGS,
    TEXTS,
    VIT,
    WHOLE,
    GradientFields,
    own_name,
    read_setting,
)
from attncalc.problem.image import cut_of
from attncalc.problem.matrices import read_matrix
from attncalc.problem.scope import Inner, Outer, Scope
from attncalc.problem.standing import split_heads

Labels = Sequence[str] | Mapping[str, Sequence[str]] | None
LONGEST_NAME = 500
"""Characters of a label in results, where each label appears once for every pair of tokens."""

MOST_SHOWN = 12
"""Entries of a matrix that the representation of a problem shows."""


@dataclass(frozen=True, eq=False)
class Problem(Outer):
    r"""Given matrices and the conventions of a calculation.

    Self-attention has one matrix of tokens, `X`; cross-attention has two: `X1` (query tokens)
    and `X2` (key and value tokens). Or `Q`, `K` and `V` are given directly. Shapes below are those
    of the default layout, where tokens are rows and weights are (in, out).

    Parameters
    ----------
    X
        Tokens of self-attention, (n, d).
    X1, X2, X3
        Tokens of cross-attention, (n, d_1) and (m, d_2); X3, (m, d_3), if the values are computed
        from other tokens than the keys.
    Q, K, V
        Queries (n, d_k), keys (m, d_k) and values (m, d_v), for any that are not projected; with
        several heads side by side, or as a list of matrices.
    W_Q, W_K, W_V
        Weights, (d, d_k), (d, d_k) and (d, d_v); with several heads side by side in one matrix
        (with their number in `heads`), or as a list of matrices.
    W_O
        Output projection, (heads · d_v, d_out), or (d_v, d_out) when heads are averaged.
    b_Q, b_K, b_V, b_O
        Biases, one number for each column of the weights.
    gamma_Q, beta_Q, gamma_K, beta_K
        Gain and bias of queries and keys normalized by `qk_norm`: d_k numbers for all heads, or
        d_k for each head.
    P, P1, P2, P3
        Positions that are added to X, X1, X2 or X3, of the same shape.
    W_S, W_Sq, W_Sk, v_S, b_S
        Matrices of other scores: W_S (d_q, d_k), or (d_q + d_k, h) for `"concat"`; W_Sq (d_q, h)
        and W_Sk (d_k, h); v_S and b_S have h numbers. With several heads one for all, or a list;
        v_S and b_S side by side.
    S, A
        Scores or weights, (n, m), or (heads, n, m), instead of queries and keys; -inf in S masks an
        entry.
    keep, ignore
        Where a query may attend (1) or may not (1): (n, m), (1, m) or (heads, n, m).
    bias
        Numbers added to the scaled scores, of the same shapes; -inf masks.
    alibi_slopes
        Custom slopes for `alibi`, (heads,).
    rel_bias
        T5 relative position biases, a row for each bucket of distances, (buckets, heads); added to
        the scaled and capped scores.
    sinks
        An attention sink for each head, (heads,): exp(sink) is added to the denominator of each
        softmax of the head, and goes to no key.
    labels
        Names of the tokens: a list, or with two matrices `{"X1": [...], "X2": [...]}`.
    title
        The title in headings and pictures.
    student, code
        The student in a class that the problem is for, and its code, which identifies answers.
    made_by
        The command that made it, as written by `attncalc new`; "" for any other problem.
    scale
        `"sqrt_dk"` (scores divided by √d_k of the head), `"none"`, or a factor; by default only dot
        products are divided.
    rounding
        `"display"`: only shown values are rounded. `"each-step"`: each step is rounded, and the
        next step reads the rounded numbers.
    decimals
        Decimals shown, 0 to 12.
    language
        The language of pages, worksheets and markings: "en", "de", "fr", "es", "pt", "zh" or "ja".
    asked
        The names of the steps that answers must contain, and `"connections"` for the map; None for
        all steps. Only marking reads it.
    heads
        The number of heads, side by side in Q or W_Q. Keys and values may have fewer: each of
        their heads then serves consecutive query heads.
    combine
        `"concat"` or `"mean"` of the heads.
    causal, causal_alignment
        Whether a query may attend only to keys up to its own position, aligned at the `"top-left"`
        corner or at the `"bottom-right"` (a decoder with earlier keys): then the first query is m −
        n positions after the first key, also for `positions`.
    score
        `"dot"`, `"general"` (qᵀ W_S k), `"additive"` (v_Sᵀ tanh(q W_Sq + k W_Sk + b_S)), `"concat"`
        (v_Sᵀ tanh([q; k] W_S + b_S)) or `"distance"` (−‖q − k‖² / 2). For all but `"dot"`, tokens
        without weights are the queries, keys or values.
    window
        The number of keys that a query attends to: the last ones up to and including its own
        position, aligned by `causal_alignment`, and none after it, even without `causal`.
    alibi
        Whether a slope of each head times the distance of query and key is subtracted from the
        scaled and capped scores; slopes are those of Press et al. (2022).
    rel_max_distance, rel_bidirectional
        For `rel_bias`: the distance from which there is one bucket; and whether keys after a query
        have separate buckets, the second half (None: unless causal).
    softcap
        c, for scores of c · tanh(s / c).
    qk_norm, qk_eps
        The normalization of each row of each head's queries and keys, before RoPE: `"rms"`,
        `"layer"`, `"none"`, or `"rms-all"` (over all heads); and its epsilon, None for `eps`.
    normalizer
        `"softmax"`, `"hardmax"` (all weight to the largest score, ties share) or `"sum"` (each
        score divided by the sum of its row).
    positions
        `"sinusoidal"` (added to the tokens), `"rope"` (queries and keys rotated) or `"none"`.
    positions_base
        The base of sinusoids.
    rope_base, rope_offset, rope_query_offset, rope_pairing
        For RoPE: the base, the position of the first key, that of the first query (None: that of
        the first key, or m − n later if aligned `"bottom-right"`), and whether a column is paired
        with the one half the width away (`"halves"`) or with the next one (`"interleaved"`).
    rope_dims
        The number of leading columns of each head that RoPE rotates; None for all.
    rope_factor
        Factor of the rotated columns of queries and keys, as the attention factor of yarn.
    rope_scaling
        The scaling of RoPE frequencies, as in configurations of models, in a mapping or a text:
        `"linear factor=4"`, or `"llama3"` with `factor`, `low_freq_factor`,
        `high_freq_factor` and `original_max_position_embeddings`; None for no scaling.
    rope_frequencies
        RoPE frequencies, one for each pair of columns, instead of a base.
    layout
        `"rows"`, or `"columns"`: tokens are columns, Q = W_Q X, S = Kᵀ Q.
    weights_layout
        `"in-out"`, or `"torch"`: weights stored (out, in), as in `torch.nn.Linear`.
        With tokens as columns, weights are (out, in) in either case.
    block
        `"attention"` alone, or an `"encoder"`, a `"decoder"` or a `"vit"` (a Vision Transformer):
        by default, determined by the fields.
    norm
        `"post"` (each residual sum is normalized), `"pre"` (the input of each part), `"around"`
        (the input of each part, and its output before the sum), `"output"` (its output before the
        sum), `"pre-second"` (the input of each part but the first) or `"none"`.
    parallel
        `"none"`, or `"shared"` or `"own"`: the attention and the feed-forward part read the same
        tokens, with one normalization for both or one for each, and one sum adds their outputs.
    residual, residual_scale
        Whether the input of a part is added to its output, and the factor of that output.
    gamma_1, beta_1, gamma_2, beta_2, gamma_3, beta_3, gamma_4, beta_4, gamma_out, beta_out
        Gain and bias of each normalization, (d,), and of one more after all layers.
    normalization, eps, eps_place, ddof
        `"layer"` or `"rms"`; the epsilon added to the variance, `"inside"` or `"outside"` the root;
        and whether variances are divided by d (0) or d − 1 (1).
    W_1, b_1, W_2, b_2, W_3, b_3, activation
        Feed-forward, act(N W_1 + b_1) W_2 + b_2, with W_3 a gate: act(N W_1 + b_1) ⊙
        (N W_3 + b_3); its function, `"relu"`, `"relu2"`, `"gelu"`, `"gelu-tanh"`, `"gelu-quick"`,
        `"silu"` or, with a gate, `"swish-clamped"`.
    W_router, b_router, top_k, router, router_norm, router_scale, router_scales, b_choice
        Experts: `W_1`, `W_2` and `W_3` are one matrix for each, the router is (d, experts). Each
        token has the `top_k` experts with the largest shares, by a `"softmax"` or `"sigmoid"` of
        the logits, plus `b_choice`. Their shares are divided by their sum, unless `router_norm`
        is false, and multiplied by `router_scale`; they multiply the outputs of experts, or by
        `router_scales` `"inputs"` what these read.
    W_s1, W_s3, W_s2, W_sgate
        An expert that all tokens share; with `W_sgate`, (d, 1), times a share for each token.
    router_groups, top_groups
        The number of groups of experts, and of those from which a token's experts are chosen: by
        the largest share in a group, or with `b_choice` the sum of its two largest.
    W_DQ, b_DQ, gamma_DQ, W_DKV, b_DKV, gamma_DKV, W_KR, b_KR
        Latent attention, in layers: queries are N_C_Q W_Q, values N_C_KV W_V, and keys
        [K_R, N_C_KV] W_K, where N_C_Q and N_C_KV are X W_DQ and X W_DKV, normalized by the root
        mean square (`qk_eps`), and K_R = X W_KR. Without `W_DQ`, queries are X W_Q.
    W_out, b_out, read
        The head, (d, classes), and its input: `"all"`, the `"first"`, `"last"` or `"mean"` of the
        tokens.
    softcap_out
        c, for logits of c · tanh(logits_uncapped / c): as in `transformers`, logits are capped.
    W_pre, b_pre, activation_pre, tied
        A hidden layer before W_out, (d, d_h), and its function, `"tanh"`, `"none"` or one of
        `activation`; and whether the head's weights are those of W_E, transposed.
    gamma_pre, beta_pre
        Gain and bias, (d_h,), of a normalization after that layer, which exists if one is given.
    backward
        Whether the gradients of all given matrices follow the last step; implied by the next ones.
    dO, dY, dlogits
        The upstream gradient of the outputs, of the outputs of layers, and of a head's logits, in
        their shape. By default, without a target, it is 1 everywhere: L is the sum.
    target, target_ids
        The target outputs, L = ½ Σ (O − T)²; the target class of each row of a head's
        probabilities, from 0, L = −Σ log prob.
    step
        The learning rate η of a gradient step W − η dW; the outputs are then computed again.
    past_K, past_V
        Cached keys and values of earlier tokens, (t, d_k) and (t, d_v), before the new ones.
    ids, W_E, first_id
        Token ids, (n,), instead of X (of X1 in a decoder with X2): rows of W_E, (vocabulary, d);
        and the id of its first row, 0 or 1.
    type_ids, W_type, gamma_E, beta_E
        The type of each token, (n,), whose row of W_type, (types, d), is added to it; gain and bias
        of a normalization of the embeddings, (d,).
    class_token
        A token, (d,), placed before the others.
    image, patch, channels
        An image, (H, W) or a list of channels, instead of X; its patch size, p or (p, q) rows and
        columns; and the number of channels, side by side in a matrix.
    E, b_E
        The projection of flattened patches, (channels · p · q, d), and its bias.
    layers
        A list of mappings with the fields of each layer.
    self, cross
        The fields of a decoder's attentions, as mappings.
    equations
        A list of equations in index notation, such as `"S[i,j] = sum(Q[i,c] * K[j,c] for c in
        d_k)"`, each of which replaces the step with its name or adds one; `#` starts a title. See
        docs/equations.md.
    more
        The matrices that only the equations read, by name: lists, arrays, or single numbers.
    remarks
        Changes to the content of a file when it was read; pages list them with the conventions.

    Raises
    ------
    InputError
        If a matrix is missing, empty or given twice, contains an entry that is not a finite number,
        or a convention has an invalid value.
    ShapeError
        If the shapes do not match.

    Notes
    -----
    Matrices are lists, arrays, tensors of any library (on any device, also with gradients), or
    lists of these. They become float64 arrays; float32 arrays stay so. Entries may also be
    `fractions.Fraction`, `decimal.Decimal` or whole numbers of any length; `typed` then stores them
    exactly if floats cannot, so that shown digits are those of the numbers as typed. Settings may
    be numpy numbers, or arrays and tensors of one. See Vaswani et al., *Attention Is All You Need*
    (2017), section 3.2.

    Examples
    --------
    >>> problem = Problem(X=[[1, 0], [0, 1]], W_Q=[[1], [0]], W_K=[[1], [1]], W_V=[[2], [4]])
    >>> problem.kind, problem.n, problem.d_k
    ('self', 2, 1)
    """

    labels: Labels = None
    title: str = ""
    student: str = ""
    code: str = ""
    made_by: str = ""
    remarks: Sequence[str] = field(default=(), repr=False)
    typed: Mapping[str, Matrix] = field(default_factory=dict, repr=False)
    listed: frozenset[str] = field(default=frozenset(), repr=False)
    inner: dict[str, Inner] = field(default_factory=dict, repr=False, init=False)
    says_scale: bool = field(default=False, repr=False, init=False)

    def __post_init__(self) -> None:
        """Check everything, and store the matrices as floats."""
        # frozen for other code: the attributes are the values as read, of one type each
        object.__setattr__(self, "block", _block(self))
        _settle_backward(self)
        says_scale = self.scale is not None
        for name, setting in SETTINGS.items():
            value = getattr(self, name)
            is_unsaid = value is None or value is setting.default_in(self.block)
            read = _default(name, self.block) if is_unsaid else read_setting(name, value)
            object.__setattr__(self, name, read)
        object.__setattr__(self, "says_scale", says_scale)
        if not says_scale:
            object.__setattr__(self, "scale", self.default_scale)
        typed: dict[str, Matrix] = {}
        for name in self.those_given(*MATRICES):
            object.__setattr__(self, name, self._read(name, getattr(self, name), typed))
        more = {name: self._read(name, given, typed) for name, given in _more_of(self).items()}
        object.__setattr__(self, "more", more)
        for prefix, given, above in nested_fields(self):
            self.inner[prefix] = _inner_of(self, prefix, given, above, typed)
        object.__setattr__(self, "typed", typed)
        _ = self.calculation  # missing or wrong matrices are refused here
        object.__setattr__(self, "asked", _asked(self))
        for name in TEXTS:
            object.__setattr__(self, name, _text(name, getattr(self, name)))
        _check_labels(self)

    def __repr__(self) -> str:
        """Return the given fields, large matrices by their sizes."""
        said = {"title": repr(self.title)} if self.title else {}
        said |= {name: _shown(self.stored(name)) for name in self.names}
        for name in SETTINGS:
            value = getattr(self, name)
            is_usual = value == _default(name, self.block) or (
                name == "scale" and not self.says_scale
            )
            said |= {} if is_usual else {name: repr(value)}
        return f"Problem({', '.join(f'{name}={text}' for name, text in said.items())})"

    def _read(self, name: str, given: Any, typed: dict[str, Matrix]) -> Matrix:
        """Return a matrix in floats; its typed numbers are stored if floats lose digits."""
        is_turned, kept = self.layout == "columns", self.typed.get(name)
        read = read_matrix(name, given, as_column=is_turned, kept=kept)
        if read.typed is not None:
            typed[name] = read.typed
        # a matrix stored from a list is read again as its one row or column
        if not read.is_list and not (name in self.listed and 1 in read.values.shape):
            object.__setattr__(self, "listed", self.listed - {name})
        elif name not in self.listed:
            object.__setattr__(self, "listed", self.listed | {name})
        return read.values

    @classmethod
    def from_module(cls, module: Any, X: Any, *more: Any, **conventions: Any) -> "Problem":
        """Return the problem that a module of PyTorch computes: `attncalc.from_module`."""
        from attncalc import from_module  # which knows the modules of packages

        return from_module(module, X, *more, **conventions)

    @property
    def whose(self) -> str:
        """The student and the code, as on the line for a name; "" outside of a class."""
        code = f"code {self.code}" if self.code else ""
        return " · ".join(filter(None, (self.student, code)))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the given matrices, with the number of their layer."""
        inner = (prefix + name for prefix, own in self.inner.items() for name in own.names)
        return (*self.those_given(*MATRICES), *self.more, *inner)

    @cached_property
    def given(self) -> Mapping[str, Matrix]:
        """The given matrices in floats, in the internal layout."""
        return {name: self._fields_of(name).upright_matrix(own_name(name)) for name in self.names}

    def turned(self, name: str, matrix: Matrix) -> Matrix:
        """Return a given matrix in the internal layout: upright, one matrix for each head."""
        if name == "image":
            return split_heads(matrix, len(matrix) if matrix.ndim == 3 else self.channels or 1)
        fields = self._fields_of(name)
        if fields is self:
            return super().turned(name, matrix)
        return fields.turned(own_name(name), matrix)

    def _fields_of(self, name: str) -> Scope:
        """Return the fields that a matrix belongs to: those of a layer, or the problem's own."""
        prefix = name.removesuffix(own_name(name))
        return self.inner[prefix] if prefix else self

    @cached_property
    def kind(self) -> Literal["self", "cross"]:
        """The kind of attention: one matrix of tokens, or two."""
        return "self" if self.X is not None or self.made_tokens == "X" else "cross"

    @property
    def has_tokens(self) -> bool:
        """Whether any tokens are given or computed, and not only queries, keys and values."""
        return bool(self.made_tokens) or super().has_tokens

    def tokens_of(self, source: str) -> int:
        """Return the number of tokens of a source; with a class token one more."""
        if source == "X2" and self.X2 is None:  # a decoder without an encoder attends to its own
            source = "X1"
        behind = int(self.class_token is not None and source in ("X", "X1"))
        if source != self.made_tokens:
            return behind + super().tokens_of(source)
        return behind + (cut_of(self).patches if self.ids is None else int(self.ids.size))

    def named(self, names: Sequence[str], size: int) -> tuple[str, ...]:
        """Return the names of so many tokens: of all, or of those after the class token."""
        if self.class_token is not None and len(names) == size + 1:
            names = names[1:]
        return tuple(names) if len(names) == size else numbered(size)

    @property
    def what(self) -> str:
        """Its kind: self- or cross-attention, an encoder, a decoder or a Vision Transformer."""
        return self.kind if self.block == ALONE else self.block

    @property
    def is_decimal(self) -> bool:
        """Whether it is a single attention with decimals as typed, and without thirds."""
        typed = (number for matrix in self.typed.values() for number in matrix.flat)
        return self.is_alone and not any(isinstance(number, Fraction) for number in typed)

    @property
    def is_alone(self) -> bool:
        """Whether it is a single attention, and not an encoder or decoder."""
        return self.block == ALONE

    @cached_property
    def unturned(self) -> tuple[str, ...]:
        """The names of weights that no layout transposes."""
        inner = (prefix + name for prefix, own in self.inner.items() for name in own.unturned)
        return (*super().unturned, *self.more, *inner)

    @cached_property
    def calculation(self) -> Calculation:
        """Its parts in their places, and their steps."""
        return arranged(self)

    @property
    def attentions(self) -> tuple[Attention, ...]:
        """Its attentions, each with the tokens that it reads."""
        return self.calculation.attentions

    @cached_property
    def most_scores(self) -> int:
        """The number of scores, of all heads together, in the largest attention."""
        return max((each.scores for each in self.attentions), default=0)

    @property
    def is_long(self) -> bool:
        """Whether a matrix of all scores is too large to keep by default."""
        return self.most_scores > LARGEST_KEPT

    def attention_of(self, step: str) -> Attention:
        """Return the attention of a step; the problem itself for any other step."""
        return self.calculation.part_of(step).attention or self

    def where(self, step: str) -> str:
        """Return the place of a step's attention among several; "" for the only one.

        It is "cross", "1.self" or "layer 2", for example.
        """
        if len(self.attentions) < 2:
            return ""
        place = self.calculation.part_of(step).prefix.rstrip(".")
        return f"layer {place}" if place.isdigit() else place

    def with_field(self, name: str, value: Any) -> "Problem":
        """Return the problem with another matrix or setting, such as 1.W_1 or self.scale."""
        return self.with_fields({name: value})

    def with_fields(self, values: Mapping[str, Any]) -> "Problem":
        """Return the problem with other matrices and settings, by their names, all at once.

        Raises InputError if there is no such layer or attention, or one cannot have that value.
        """
        changed: dict[str, Any] = {}
        for name, value in values.items():
            if name in self.more:
                changed["more"] = {**changed.get("more", self.more), name: value}
                continue
            self.check_part(name)
            own, at = own_name(name), changed
            place = name.removesuffix(own).split(".")[:-1]
            if place and place[0].isdigit():
                layers = changed.setdefault("layers", [dict(each) for each in self.layers])
                at = layers[int(place.pop(0)) - 1]
            for side in place:
                at[side] = at = dict(at[side] if side in at else getattr(self, side))
            at[own] = value
        return replace(self, **changed)

    def check_part(self, name: str) -> None:
        """Refuse a name in a layer, or in an attention, that the problem does not have."""
        prefix = name.removesuffix(own_name(name))
        if prefix and prefix not in self.inner:
            there = ", ".join(each.rstrip(".") for each in self.inner)
            known = f"there are {there}" if there else "it has none by name"
            raise InputError(f"this problem has no part {prefix.rstrip('.')}: {known}")

    @cached_property
    def queries(self) -> tuple[str, ...]:
        """The names of the outputs, which are those of the query tokens."""
        if self.block != ALONE:  # given queries may be different ones in a layer
            tokens = "X" if self.kind == "self" else "X1"
            return self._token_names((tokens,), self.tokens_of(tokens))
        return self._token_names(("X",) if self.kind == "self" else ("X1", "Q"), self.n)

    @property
    def has_cut_names(self) -> bool:
        """Whether a name of a token is too long for results."""
        given = self.labels or ()
        lists = given.values() if isinstance(given, Mapping) else (given,)
        return any(len(str(label)) > LONGEST_NAME for names in lists for label in names)

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The names of the inputs: of the tokens attended to."""
        if self.block != ALONE and self.X2 is None:
            return self.queries
        return self._token_names(("X",) if self.kind == "self" else ("X2", "K"), self.m)

    def stored(self, name: str) -> Matrix:
        """Return a given matrix in floats, in the orientation in which it was given."""
        if name in self.more:
            return np.asarray(self.more[name])
        return np.asarray(getattr(self._fields_of(name), own_name(name)))

    def in_given_layout(self, name: str, matrix: Matrix) -> Matrix:
        """Return a matrix in the internal layout of a given one, in the shape that was given.

        Separate heads are side by side again if they were given so, weights are (out, in) if the
        given ones are, and a list is a list.
        """
        found = np.empty(matrix.size, matrix.dtype)
        found[self.places_of(name).ravel()] = matrix.ravel()
        return self.as_listed(name, found.reshape(self.stored(name).shape))

    def places_of(self, name: str) -> Matrix:
        """Return, for each number of a given matrix in the internal layout, its place as given."""
        shape = self.stored(name).shape
        # the numbers 0, 1, 2, … show where each number goes: `turned` is the only place that knows
        return self.turned(name, np.arange(int(np.prod(shape))).reshape(shape))

    def as_listed(self, name: str, matrix: Matrix) -> Matrix:
        """Return a matrix as stored, or as a list of numbers if it was given as one."""
        return matrix.reshape(-1) if name in self.listed else matrix

    def as_given(self, name: str) -> Matrix:
        """Return a given matrix as typed where floats lose something of it, and else in floats."""
        return self.typed[name] if name in self.typed else self.stored(name)

    def as_typed(self, name: str) -> Matrix:
        """Return a given matrix as Decimals and Fractions, exactly as it was typed."""
        if name in self.typed:
            return self.typed[name]
        if name not in self._exact:
            values = self.stored(name)
            shortest = values.astype(str) if values.dtype == np.float32 else values
            made = np.frompyfunc(exact, 1, 1)(shortest.astype(object))
            self._exact[name] = np.asarray(made, dtype=object)
        return self._exact[name]

    @cached_property
    def given_as_typed(self) -> Mapping[str, Matrix]:
        """The given matrices as `given` has them, their numbers as `as_given` does."""
        return {
            name: self.turned(name, self.typed[name]) if name in self.typed else matrix
            for name, matrix in self.given.items()
        }

    @cached_property
    def _exact(self) -> dict[str, Matrix]:
        return {}

    def _token_names(self, sources: tuple[str, ...], size: int) -> tuple[str, ...]:
        given: Any = self.labels
        if isinstance(given, Mapping):
            given = next((given[name] for name in sources if name in given), None)
        first = () if self.class_token is None or "X2" in sources else ("class",)
        if given is not None and len(given) == size - len(first):
            given = [*first, *given]
        if given is None or len(given) != size:  # with Q given, X may name only the keys
            places = cut_of(self).labels if self.image is not None else ()
            return (*first, *(places or numbered(size - len(first))))
        texts = enumerate(map(str, given), start=1)
        names = [text if harmless(text).strip() else f"({place})" for place, text in texts]
        return shortened(distinct_names(names), LONGEST_NAME)


def _block(problem: Problem) -> str:
    """Return the block of a problem: the given one, or else the one its fields belong to."""
    if problem.block is not None:
        return str(read_setting("block", problem.block))
    if problem.those_given("self", "cross", "past_K", "past_V"):
        return DECODER
    kinds = {name: each.kind for name, each in (*GIVEN.items(), *SETTINGS.items())}
    if problem.those_given(*(name for name, kind in kinds.items() if kind == IMAGE)):
        return VIT
    started = GradientFields.__dataclass_fields__
    of_layers = [name for name, kind in kinds.items() if kind == LAYERS and name not in started]
    return ENCODER if problem.those_given(*of_layers, *NESTED) else ALONE


def _more_of(problem: Problem) -> Mapping[str, Any]:
    """Return the matrices that equations alone read, by name; refuse other names."""
    given = problem.more or {}
    if not isinstance(given, Mapping):
        raise InputError("more takes an object: the matrices that equations read, by name")
    for name in given:
        if not (isinstance(name, str) and name.isidentifier()) or name in (*GIVEN, *SETTINGS):
            raise InputError(f"more: {quoted(str(name))} is not a name that an equation can use")
    return {name: _as_rows(value) for name, value in given.items()}


def _as_rows(value: Any) -> Any:
    """Return a single number as a matrix of one entry."""
    array = getattr(value, "ndim", None)
    is_number = array == 0 or isinstance(value, int | float | str | Decimal | Fraction)
    return [[value.item() if array == 0 else value]] if is_number else value


def _settle_backward(problem: Problem) -> None:
    """Determine whether gradients are requested, and the matrix of the upstream gradient."""
    said = problem.backward
    given = problem.those_given("dO", "dY", "dlogits", "target", "target_ids", "step")
    wanted = bool(given) if said is None else read_setting("backward", said)
    if given and not wanted:
        raise InputError(f"{given[0]} is given, but backward is false: omit one of them")
    object.__setattr__(problem, "backward", wanted)
    if problem.block != ALONE and problem.dO is not None:
        is_tied = problem.tied is not None and read_setting("tied", problem.tied)
        of = "dlogits" if problem.those_given("W_out") or is_tied else "dY"
        if problem.those_given(of):
            raise InputError(f"dO and {of} are the same here: pass only one")
        object.__setattr__(problem, of, problem.dO)
        object.__setattr__(problem, "dO", None)


Nesting = tuple[str, Mapping[str, Any], str]
"""The prefix of the names in a part, its fields, and the prefix of the enclosing part."""


def _shown(matrix: Matrix) -> str:
    """Return a matrix as a list, or the sizes of a large one."""
    if matrix.size <= MOST_SHOWN:
        return repr(matrix.tolist())
    return f"<{' × '.join(map(str, matrix.shape))}>"


@cache
def _default(name: str, block: str) -> Any:
    """Return the default of a setting, read once for all problems."""
    return read_setting(name, SETTINGS[name].default_in(block))


def nested_fields(problem: Problem) -> Iterator[Nesting]:
    """Yield the fields of each layer, and of each attention in one, as they are given."""
    layers = problem.layers
    if not isinstance(layers, Sequence | None) or isinstance(layers, str):
        raise InputError("layers takes a list of layers, each with fields of its own")
    if layers is not None and not layers:
        raise InputError("layers is empty: it takes a list of layers")
    for number, layer in enumerate(layers or (), start=1):
        _check_nested(f"layer {number}", layer)
        yield f"{number}.", layer, ""
        for side in ("self", "cross"):
            if layer.get(side) is not None:
                yield f"{number}.{side}.", layer[side], f"{number}."
    for side in problem.those_given("self", "cross"):
        yield f"{side}.", getattr(problem, side), ""


def _inner_of(
    problem: Problem, prefix: str, given: Mapping[str, Any], above: str, typed: dict[str, Matrix]
) -> Inner:
    """Return the fields of a layer, or of an attention; a setting holds for all that is in it."""
    _check_nested(prefix.rstrip("."), given)
    parent = problem.inner[above] if above else problem
    side = own_name(prefix.rstrip("."))
    fields = {name: getattr(parent, name) for name in SETTINGS}
    if side == "cross":
        fields |= {"causal": False, "window": None, "alibi": False, "positions": "none"}
    for name, value in given.items():
        fields |= {name: _inner_field(problem, prefix, name, value, typed)}
    # the default scale is that of the score here, not that of an enclosing part
    fields["says_scale"] = parent.says_scale or given.get("scale") is not None
    fields["said"] = tuple(n for n, value in given.items() if n in SETTINGS and value is not None)
    made = Inner(fields)
    return made if fields["says_scale"] else Inner(fields | {"scale": made.default_scale})


def _inner_field(
    problem: Problem, prefix: str, name: str, value: Any, typed: dict[str, Matrix]
) -> Any:
    flat, is_side = prefix + name, own_name(prefix.rstrip(".")) in NESTED
    if name not in (*GIVEN, *SETTINGS, *NESTED) or (is_side and name in NESTED):
        raise InputError(f"unknown name {quoted(flat)}")
    if name in WHOLE or name == "layers":
        raise InputError(f"{flat}: {name} applies to the whole problem, not to one of its parts")
    if is_side and name not in Attention.__dataclass_fields__:
        raise InputError(f"{flat}: {name} is not a field of an attention")
    if name in NESTED or value is None:
        return value
    return read_setting(flat, value) if name in SETTINGS else problem._read(flat, value, typed)


def _check_nested(where: str, given: object) -> None:
    if not isinstance(given, Mapping):
        raise InputError(f"{where} takes an object with fields of its own, as W_Q and heads")


def _asked(problem: Problem) -> tuple[str, ...] | None:
    """Return the steps that are asked for, as the plan names them; refuse other names."""
    if problem.asked is None:
        return None
    steps = [step.name for step in problem.calculation.steps]
    lines = (LINES,) if problem.attentions else ()
    known = {name.lower(): name for name in (*steps, *lines)}
    for name in problem.asked:
        if name.lower() not in known:
            raise InputError(
                f"asked names {quoted(name)}, which is not a step of this problem "
                f"(known: {', '.join(known.values())})"
            )
    return tuple(known[name.lower()] for name in problem.asked)


def _text(name: str, given: object) -> str:
    """Return a text of a problem, which may be in an array with one entry."""
    text = only_value(given[0] if isinstance(given, list) and len(given) == 1 else given)
    if not isinstance(text, str | None):
        raise InputError(f"{name} takes a text, not {quoted(str(given))}")
    return str(text or "")


def _check_labels(problem: Problem) -> None:
    labels = problem.labels
    if labels is None:
        return
    if isinstance(labels, Mapping):
        lists = dict(labels)
    elif problem.kind == "cross":
        raise InputError('labels of cross-attention take a list for each: {"X1": […], "X2": […]}')
    else:
        lists = {"X": labels}
    takes = ("X",) if problem.kind == "self" else ("X1", "X2", "Q", "K")
    for name, names in lists.items():
        if name not in takes:
            raise InputError(f"labels names {name}: it takes {' and '.join(takes[:2])}")
        _check_names(problem, name, names)


def _check_names(problem: Problem, name: str, names: Sequence[str]) -> None:
    is_list = isinstance(names, Sequence) and not isinstance(names, str)
    if not is_list or any(isinstance(each, list | tuple | dict) for each in names):
        raise InputError(f"labels of {name} must be a list of texts")
    asking = name in (problem.query_source, "X1", "Q")
    if problem.made_tokens == name or (name == "X" and problem.class_token is not None):
        behind, count = int(problem.class_token is not None), problem.tokens_of(name)
        if len(names) not in (count, count - behind):
            more = f", or {count} with the class token" if behind else ""
            raise InputError(
                f"labels of {name}: {len(names)} given, but there are {count - behind} tokens{more}"
            )
        return
    if len(names) != (problem.n if asking else problem.m):
        line = "row" if problem.layout == "rows" else "column"
        matrix = getattr(problem, name)
        if problem.start:
            name, matrix = problem.start, getattr(problem, problem.start)
        which = f"there is no {name}" if matrix is None else f"{name} is {size_of(matrix)}"
        raise InputError(
            f"labels of {name}: {len(names)} given, but {which}: one is needed for each {line}"
        )
