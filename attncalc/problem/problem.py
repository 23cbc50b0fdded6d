"""Problem: the given matrices and the conventions."""

import numbers as abstract
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from attncalc.errors import InputError
from attncalc.numbers.arrays import as_array, only_value
from attncalc.numbers.typed import Number, exact, quoted
from attncalc.numbers.types import Matrix
from attncalc.problem.attention.attention import Attention
from attncalc.problem.attention.shapes import size_of
from attncalc.problem.fields import LINES, MARKS, SETTINGS, read_setting
from attncalc.problem.parts import PARTS
from attncalc.text import harmless, numbered, told_apart

_EXACT = (Decimal, Fraction)
MOST_WHOLE = 2**53
"""Up to this number, float64 holds every whole one."""
Labels = Sequence[str] | Mapping[str, Sequence[str]] | None


@dataclass(frozen=True, eq=False)
class Problem(Attention):
    r"""The matrices a person gives, and the conventions they want.

    Self-attention has one matrix of tokens, `X`; cross-attention has two: `X1` asks (queries),
    `X2` answers (keys and values). Or `Q`, `K` and `V` are given themselves. Shapes below are those
    of the default layout, where tokens are rows and weights are (in, out).

    Parameters
    ----------
    X
        Tokens of self-attention, (n, d).
    X1, X2, X3
        Tokens of cross-attention, (n, d_1) and (m, d_2); X3, (m, d_3), where the values are read
        from other tokens than the keys.
    Q, K, V
        Queries (n, d_k), keys (m, d_k) and values (m, d_v), for any that are not projected; with
        several heads side by side, or as a list of matrices.
    W_Q, W_K, W_V
        Weights, (d, d_k), (d, d_k) and (d, d_v); with several heads side by side in one matrix
        (and `heads` says how many), or as a list of matrices.
    W_O
        Output projection, (heads · d_v, d_out), or (d_v, d_out) when heads are averaged.
    b_Q, b_K, b_V, b_O
        Biases, one number for each column of the weights.
    P, P1, P2, P3
        Positions that are added to X, X1, X2 or X3, of the same shape.
    keep, ignore
        Where a query may attend (1) or may not (1): (n, m), (1, m) or (heads, n, m).
    bias
        Numbers added to the scaled scores, of the same shapes; -inf forbids.
    labels
        Names of the tokens: a list, or with two matrices `{"X1": [...], "X2": [...]}`.
    title
        What the problem is called in headings and pictures.
    scale
        `"sqrt_dk"` (scores divided by √d_k of the head), `"none"`, or a number that multiplies.
    rounding
        `"display"`: only what is shown is rounded. `"each-step"`: each step's matrix is rounded,
        and the next step reads the rounded one.
    decimals
        Decimals shown, 0 to 12.
    asked
        The names of the steps that answers are asked for, and `"connections"` for the map; None for
        all that its plan has. Marking asks for it, and nothing else does.
    heads
        How many heads stand side by side in Q or W_Q. Keys and values may have fewer: each of
        their heads then serves consecutive query heads.
    combine
        `"concat"` or `"mean"` of the heads.
    causal, causal_alignment
        Whether a query may attend only to keys up to its own place, counted from the
        `"top-left"` corner, or from the `"bottom-right"` (a decoder with earlier keys): then the
        first query stands m − n places after the first key, for `positions` too.
    softcap
        c, for scores of c · tanh(s / c).
    normalizer
        `"softmax"`, `"hardmax"` (all weight to the largest score, ties share) or `"sum"` (each
        score divided by the sum of its row).
    positions
        `"sinusoidal"` (added to the tokens), `"rope"` (queries and keys rotated) or `"none"`.
    rope_base, rope_offset, rope_query_offset, rope_pairing
        For rope: its base, the place of the first key, that of the first query (None: the first
        key's, or m − n after it when aligned `"bottom-right"`), and whether a column is paired
        with the one half the width away (`"halves"`) or beside it (`"interleaved"`).
    layout
        `"rows"`, or `"columns"`: tokens are columns, Q = W_Q X, S = Kᵀ Q.
    weights_layout
        `"in-out"`, or `"torch"`: weights stored (out, in), as `torch.nn.Linear` keeps them.
        With tokens as columns, weights are (out, in) in either case.

    Raises
    ------
    InputError
        When a matrix is missing, empty or given twice over, holds something that is no finite
        number, or a convention has a value it cannot have.
    ShapeError
        When the shapes do not fit together.

    Notes
    -----
    Matrices are lists, arrays, tensors of any library (whatever their device, also those that need
    gradients), or lists of these. They become float64 arrays; float32 arrays stay so. Entries may
    also be `fractions.Fraction`, `decimal.Decimal` or whole numbers of any length; `typed` then
    keeps them exactly where floats cannot, so that shown digits are those of the numbers as typed.
    Settings may be numbers of numpy, or arrays and tensors of one. See Vaswani et al.,
    *Attention Is All You Need* (2017), section 3.2.

    Examples
    --------
    >>> problem = Problem(X=[[1, 0], [0, 1]], W_Q=[[1], [0]], W_K=[[1], [1]], W_V=[[2], [4]])
    >>> problem.kind, problem.n, problem.d_k
    ('self', 2, 1)
    """

    labels: Labels = None
    title: str = ""
    typed: Mapping[str, Matrix] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """Check everything, and hold the matrices as floats."""
        # frozen to everybody else: what is kept is what was read, of one type whatever was given
        for name in SETTINGS:
            object.__setattr__(self, name, read_setting(name, getattr(self, name)))
        typed = {}
        for name in self.names:
            given = getattr(self, name)
            raw = _raw(name, given)
            is_own = isinstance(given, list | tuple)  # joined here: nobody else has this array
            values = _values(name, raw, is_own=is_own, as_column=self.layout == "columns")
            if (kept := _typed(raw, values, self.typed.get(name))) is not None:
                typed[name] = kept
            object.__setattr__(self, name, values)
        object.__setattr__(self, "typed", typed)
        for part in PARTS:
            part.check(self)
        object.__setattr__(self, "asked", _asked(self))
        object.__setattr__(self, "title", _title(self.title))
        _check_labels(self)

    @cached_property
    def queries(self) -> tuple[str, ...]:
        """The names of the outputs: of the tokens that ask."""
        return self._token_names(("X",) if self.kind == "self" else ("X1", "Q"), self.n)

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The names of the inputs: of the tokens attended to."""
        return self._token_names(("X",) if self.kind == "self" else ("X2", "K"), self.m)

    def as_given(self, name: str) -> Matrix:
        """Return a given matrix as typed where floats lose something of it, and else in floats."""
        given: Matrix = self.typed.get(name, getattr(self, name))
        return given

    def as_typed(self, name: str) -> Matrix:
        """Return a given matrix as Decimals and Fractions, exactly as it was typed."""
        if name in self.typed:
            return self.typed[name]
        if name not in self._exact:
            self._exact[name] = self._from_floats(name)
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

    def _from_floats(self, name: str) -> Matrix:
        """Return the numbers of which floats have lost nothing, made once out of these."""
        values = getattr(self, name)
        shortest = values.astype(str) if values.dtype == np.float32 else values
        return np.asarray(np.frompyfunc(exact, 1, 1)(shortest.astype(object)), dtype=object)

    def _token_names(self, sources: tuple[str, ...], size: int) -> tuple[str, ...]:
        given: Sequence[str] | None
        if isinstance(self.labels, Mapping):
            given = next((self.labels[name] for name in sources if name in self.labels), None)
        else:
            given = self.labels
        if given is None or len(given) != size:  # with Q given, X may name only the keys
            return numbered(size)
        return told_apart(
            [
                str(label) if harmless(str(label)).strip() else f"({place})"
                for place, label in enumerate(given, start=1)
            ]
        )


def _raw(name: str, given: object) -> Matrix:
    """Return what is given as one array, its numbers as they are."""
    try:
        raw = as_array(given)
    except InputError as error:  # its text starts where the name ends
        raise InputError(f"{name} {error}") from None
    except (TypeError, ValueError, RecursionError):
        raise _no_matrix(name) from None
    if raw.dtype.kind not in ("biufO" if name in MARKS else "iufO"):
        raise _no_matrix(name)
    return raw


def _no_matrix(name: str) -> InputError:
    return InputError(f"{name} is not a matrix of real numbers: give rows of equal length")


def _values(name: str, raw: Matrix, *, is_own: bool, as_column: bool) -> Matrix:
    """Return an array of floats, or for marks of booleans, that nothing can change."""
    try:
        numbers = raw.astype(np.float64) if raw.dtype == object else raw
        values: Matrix = numbers.astype(_dtype(name, numbers), copy=not is_own)
    except OverflowError:
        raise InputError(f"{name} holds a number too large for float64") from None
    except (TypeError, ValueError):
        raise _no_matrix(name) from None
    if values.ndim == 1 and values.size:
        values = values[:, np.newaxis] if as_column else values[np.newaxis, :]
    if values.size == 0:
        raise InputError(f"{name} is empty: it needs at least one row and one column")
    if values.ndim not in (2, 3):
        raise InputError(f"{name} has {values.ndim} dimensions: a matrix has rows and columns")
    _check_entries(name, numbers.reshape(values.shape), values)
    values.flags.writeable = False
    return values


def _dtype(name: str, numbers: Matrix) -> type[Any]:
    if name in MARKS:
        return np.bool_
    return np.float32 if numbers.dtype == np.float32 else np.float64


def _check_entries(name: str, numbers: Matrix, values: Matrix) -> None:
    """Refuse numbers that cannot be entries; `values` is what they have become."""
    if name in MARKS:
        if numbers.dtype == np.bool_:  # large masks are: no array is made to look at them
            return
        right, why = values == numbers, "1 or 0 (true or false) is needed"
    elif name == "bias":
        right, why = values < np.inf, "a number or -inf is needed"  # no number is less: nan is not
    else:
        right, why = np.isfinite(values), "a finite number is needed"
    if not right.all():
        place = tuple(np.argwhere(~right)[0])
        head = f"head {place[0] + 1}, " if values.ndim == 3 else ""
        raise InputError(
            f"{name}, {head}row {place[-2] + 1}, column {place[-1] + 1}: "
            f"{numbers[place]:g}, where {why}"
        )


def _typed(raw: Matrix, values: Matrix, kept: Matrix | None) -> Matrix | None:
    """Return the numbers as typed where floats lose something of them, and else nothing."""
    if kept is not None and np.array_equal(kept.astype(values.dtype), values):
        return kept
    if raw.dtype != object and not _holds_long_whole_numbers(raw):
        return None
    entries = raw.astype(object).reshape(values.shape)
    if all(map(_is_exact, entries.flat, values.flat)):
        return None
    typed: Matrix = np.frompyfunc(_as_number, 1, 1)(entries)
    typed.flags.writeable = False
    return typed


def _holds_long_whole_numbers(raw: Matrix) -> bool:
    """Say whether whole numbers are beyond those that float64 has all of."""
    whole = raw.dtype.kind in "iu" and raw.dtype.itemsize == 8
    return whole and bool(raw.max() > MOST_WHOLE or raw.min() < -MOST_WHOLE)


def _is_exact(entry: object, value: float) -> bool:
    return not isinstance(entry, (*_EXACT, int)) or entry == exact(float(value))


def _as_number(entry: Any) -> Number:
    if isinstance(entry, _EXACT):
        return entry
    return Decimal(int(entry)) if isinstance(entry, abstract.Integral) else exact(float(entry))


def _asked(problem: Problem) -> tuple[str, ...] | None:
    """Return the steps that are asked for, as the plan names them; refuse what is none of it."""
    if problem.asked is None:
        return None
    steps = [step.name for part in PARTS for step in part.steps(problem)]
    known = {name.lower(): name for name in (*steps, LINES)}
    for name in problem.asked:
        if name.lower() not in known:
            raise InputError(
                f"asked names {quoted(name)}, which is no step of this problem "
                f"(known: {', '.join(known.values())})"
            )
    return tuple(known[name.lower()] for name in problem.asked)


def _title(given: object) -> str:
    """Return the title, which an array of one may hold."""
    title = only_value(given[0] if isinstance(given, list) and len(given) == 1 else given)
    if not isinstance(title, str | None):
        raise InputError(f"title takes a text, not {quoted(str(given))}")
    return str(title or "")


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
    if len(names) != (problem.n if asking else problem.m):
        line = "row" if problem.layout == "rows" else "column"
        matrix = getattr(problem, name)
        which = f"there is no {name}" if matrix is None else f"{name} is {size_of(matrix)}"
        raise InputError(
            f"labels of {name}: {len(names)} given, but {which}: one is needed for each {line}"
        )
