"""Problem: the given matrices and the conventions. Every rule of shape lives here."""

import numbers as abstract
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np

from attncalc.errors import InputError, ShapeError
from attncalc.labels import numbered, told_apart
from attncalc.numbers import NotANumber, exact, quoted, read_number
from attncalc.rounding import Matrix

SQRT_DK = "sqrt_dk"
NONE = "none"
DISPLAY = "display"
EACH_STEP = "each-step"
MOST_DECIMALS = 12

SELF_MATRICES = ("X", "W_Q", "W_K", "W_V")
CROSS_MATRICES = ("X1", "X2", "W_Q", "W_K", "W_V")
MATRICES = ("X", "X1", "X2", "W_Q", "W_K", "W_V")
SETTINGS = ("labels", "title", "scale", "rounding", "decimals")

Labels = Sequence[str] | Mapping[str, Sequence[str]] | None


@dataclass(frozen=True, eq=False)
class Problem:
    r"""The matrices a person gives, and the conventions they want.

    Self-attention has one matrix of tokens, `X`; cross-attention has two: `X1` asks (queries),
    `X2` answers (keys and values). Tokens are rows.

    Parameters
    ----------
    X
        Tokens of self-attention, (n, d).
    X1, X2
        Tokens of cross-attention, (n, d_1) and (m, d_2).
    W_Q, W_K, W_V
        Weights: (d, d_k), (d, d_k) and (d, d_v); in cross-attention W_Q has d_1 rows, W_K and
        W_V have d_2.
    labels
        Names of the tokens: a list, or with two matrices `{"X1": [...], "X2": [...]}`.
    title
        What the problem is called in headings and pictures.
    scale
        `"sqrt_dk"` (scores divided by √d_k), `"none"`, or a number that multiplies the scores.
    rounding
        `"display"`: only what is shown is rounded. `"each-step"`: each step's matrix is rounded,
        and the next step reads the rounded one.
    decimals
        Decimals shown, 0 to 12.

    Raises
    ------
    InputError
        When a matrix is missing or empty, holds something that is no finite number, or a
        convention has a value it cannot have.
    ShapeError
        When the shapes do not fit together.

    Notes
    -----
    Matrices become float64 arrays. Entries may also be `fractions.Fraction` or `decimal.Decimal`;
    `typed` then keeps them exactly where float64 cannot, so that shown digits are those of the
    numbers as typed. See Vaswani et al., *Attention Is All You Need* (2017), section 3.2.

    Examples
    --------
    >>> problem = Problem(X=[[1, 0], [0, 1]], W_Q=[[1], [0]], W_K=[[1], [1]], W_V=[[2], [4]])
    >>> problem.kind, problem.n, problem.d_k
    ('self', 2, 1)
    """

    X: Any = None
    X1: Any = None
    X2: Any = None
    W_Q: Any = None
    W_K: Any = None
    W_V: Any = None
    labels: Labels = None
    title: str = ""
    scale: str | float | Fraction | Decimal = SQRT_DK
    rounding: str = DISPLAY
    decimals: int = 2
    typed: Mapping[str, Matrix] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """Check everything, and hold the matrices as float64."""
        _check_presence(self)
        typed = {}
        for name in self.names:
            given = getattr(self, name)
            values = _floats(name, given)
            if (kept := _typed(given, values, self.typed.get(name))) is not None:
                typed[name] = kept
            object.__setattr__(self, name, values)
        object.__setattr__(self, "typed", typed)
        object.__setattr__(self, "scale", read_scale(self.scale))
        object.__setattr__(self, "rounding", read_rounding(self.rounding))
        object.__setattr__(self, "decimals", read_decimals(self.decimals))
        _check_shapes(self)
        _check_labels(self)

    @property
    def kind(self) -> Literal["self", "cross"]:
        """The kind of attention: one matrix of tokens, or two."""
        return "self" if self.X is not None else "cross"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the matrices this kind of attention takes."""
        return SELF_MATRICES if self.kind == "self" else CROSS_MATRICES

    @property
    def query_source(self) -> str:
        """The name of the matrix whose tokens ask."""
        return "X" if self.kind == "self" else "X1"

    @property
    def key_source(self) -> str:
        """The name of the matrix whose tokens are attended to."""
        return "X" if self.kind == "self" else "X2"

    @property
    def n(self) -> int:
        """The number of queries, hence of outputs."""
        return int(getattr(self, self.query_source).shape[0])

    @property
    def m(self) -> int:
        """The number of keys, hence of inputs that can be attended to."""
        return int(getattr(self, self.key_source).shape[0])

    @property
    def d_k(self) -> int:
        """The width of a query and of a key."""
        return int(self.W_Q.shape[1])

    @cached_property
    def queries(self) -> tuple[str, ...]:
        """The names of the outputs: of the tokens that ask."""
        return self._token_names(self.query_source, self.n)

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The names of the inputs: of the tokens attended to."""
        return self._token_names(self.key_source, self.m)

    def matrices(self) -> dict[str, Matrix]:
        """Return the given matrices by name, in float64."""
        return {name: getattr(self, name) for name in self.names}

    def as_typed(self, name: str) -> Matrix:
        """Return a given matrix as Decimals and Fractions, exactly as it was typed."""
        if name in self.typed:
            return self.typed[name]
        result: Matrix = np.frompyfunc(exact, 1, 1)(getattr(self, name).astype(object))
        return result

    def _token_names(self, source: str, size: int) -> tuple[str, ...]:
        given = self.labels.get(source) if isinstance(self.labels, Mapping) else self.labels
        if given is None:
            return numbered(size)
        return told_apart([str(label) or f"({i})" for i, label in enumerate(given, start=1)])


def read_scale(given: object) -> str | Fraction:
    """Return `"sqrt_dk"`, `"none"` or the factor as an exact fraction."""
    text = _word(given)
    if text in (SQRT_DK, NONE):
        return text
    try:
        return given if isinstance(given, Fraction) else Fraction(read_number(str(given)))
    except NotANumber as reason:
        raise InputError(
            f'scale takes "sqrt_dk", "none" or a number that multiplies the scores: {reason}'
        ) from None


def read_rounding(given: object) -> str:
    """Return `"display"` or `"each-step"`."""
    text = _word(given).replace("_", "-")
    if text not in (DISPLAY, EACH_STEP):
        raise InputError(f'rounding takes "display" or "each-step", not {quoted(str(given))}')
    return text


def read_decimals(given: object) -> int:
    """Return the number of decimals, 0 to 12."""
    try:
        number = None if isinstance(given, bool) else read_number(str(given))
    except NotANumber:
        number = None
    if number is None or number != int(number) or not 0 <= number <= MOST_DECIMALS:
        raise InputError(
            f"decimals takes a whole number from 0 to {MOST_DECIMALS}, not {quoted(str(given))}"
        )
    return int(number)


def size_of(matrix: Matrix) -> str:
    """Return a shape as people write it: "3 × 4"."""
    return " × ".join(str(length) for length in matrix.shape)


def _word(given: object) -> str:
    return str(given).strip().lower().replace(" ", "_") if isinstance(given, str) else str(given)


def _check_presence(problem: Problem) -> None:
    has = {name for name in MATRICES if getattr(problem, name) is not None}
    if "X" in has and has & {"X1", "X2"}:
        raise InputError(
            "X together with X1 or X2: self-attention takes X, cross-attention takes X1 and X2"
        )
    missing = [name for name in problem.names if name not in has]
    if not has & {"X", "X1", "X2"}:
        missing[:2] = ["X (self-attention) or X1 and X2 (cross-attention)"]
    if missing:
        raise InputError(f"missing matrices: {', '.join(missing)}")


def _floats(name: str, given: object) -> Matrix:
    try:
        raw = np.asarray(given)
        if raw.dtype.kind not in "iufO":
            raise TypeError
        values: Matrix = raw.astype(np.float64)
    except OverflowError:
        raise InputError(f"{name} holds a number too large for float64") from None
    except (TypeError, ValueError):
        raise InputError(
            f"{name} is not a matrix of real numbers: give rows of equal length"
        ) from None
    if values.ndim == 1 and values.size:
        values = values[np.newaxis, :]
    if values.size == 0:
        raise InputError(f"{name} is empty: it needs at least one row and one column")
    if values.ndim != 2:
        raise InputError(f"{name} has {values.ndim} dimensions: a matrix has rows and columns")
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0] + 1
        raise InputError(
            f"{name}, row {row}, column {column}: "
            f"{values[row - 1, column - 1]} is not a finite number"
        )
    values.flags.writeable = False
    return values


def _typed(given: object, values: Matrix, kept: Matrix | None) -> Matrix | None:
    """Return the numbers as typed where float64 loses something of them, and else nothing."""
    if kept is not None and np.array_equal(kept.astype(np.float64), values):
        return kept
    if isinstance(given, np.ndarray) and given.dtype != object:
        return None
    entries = np.array(given, dtype=object).reshape(values.shape)
    flat = zip(entries.flat, values.flat, strict=True)
    if all(_is_exact(entry, value) for entry, value in flat):
        return None
    typed: Matrix = np.frompyfunc(_as_number, 1, 1)(entries)
    typed.flags.writeable = False
    return typed


def _is_exact(entry: object, value: float) -> bool:
    return not isinstance(entry, Decimal | Fraction) or entry == exact(float(value))


def _as_number(entry: Any) -> Decimal | Fraction:
    if isinstance(entry, Decimal | Fraction):
        return entry
    return Decimal(int(entry)) if isinstance(entry, abstract.Integral) else exact(float(entry))


def _check_shapes(problem: Problem) -> None:
    faults = [
        fault
        for source, weights in _products(problem)
        for fault in _product_faults(problem, source, weights)
    ]
    W_Q, W_K = problem.W_Q, problem.W_K
    if not faults and W_Q.shape[1] != W_K.shape[1]:
        faults = [
            f"W_Q is {size_of(W_Q)} and W_K is {size_of(W_K)}: "
            "both need the same number of columns (d_k), for Q Kᵀ to exist"
        ]
    if faults:
        raise ShapeError("\n".join(faults))


def _products(problem: Problem) -> list[tuple[str, list[str]]]:
    """Return each matrix of tokens with the weights it is multiplied by."""
    if problem.kind == "self":
        return [("X", ["W_Q", "W_K", "W_V"])]
    return [("X1", ["W_Q"]), ("X2", ["W_K", "W_V"])]


def _product_faults(problem: Problem, source: str, weights: list[str]) -> list[str]:
    X = getattr(problem, source)
    rows = {name: getattr(problem, name).shape[0] for name in weights}
    wrong = [name for name in weights if rows[name] != X.shape[1]]
    if len(wrong) == len(weights) and set(rows.values()) == {X.shape[0]}:
        return [
            f"{source} is {size_of(X)}, and the weights it is multiplied by ({', '.join(weights)}) "
            f"have {X.shape[0]} rows: they need as many as {source} has columns ({X.shape[1]}). "
            f"{source} looks transposed: tokens are rows"
        ]
    faults = []
    for name in wrong:
        W = getattr(problem, name)
        fault = (
            f"{source} is {size_of(X)} and {name} is {size_of(W)}: for {source} {name}, "
            f"{name} needs as many rows as {source} has columns ({X.shape[1]})"
        )
        if W.shape[1] == X.shape[1]:
            fault += f". {name} looks transposed"
        faults.append(fault)
    return faults


def _check_labels(problem: Problem) -> None:
    sizes = {problem.query_source: problem.n, problem.key_source: problem.m}
    labels = problem.labels
    if labels is None:
        return
    if isinstance(labels, Mapping):
        unknown = [name for name in labels if name not in sizes]
        if unknown:
            raise InputError(f"labels names {', '.join(unknown)}: it takes {' and '.join(sizes)}")
        lists = dict(labels)
    elif problem.kind == "cross":
        raise InputError('labels of cross-attention take a list for each: {"X1": […], "X2": […]}')
    else:
        lists = {"X": labels}
    for name, names in lists.items():
        if isinstance(names, str) or not isinstance(names, Sequence):
            raise InputError(f"labels of {name} must be a list of texts")
        if len(names) != sizes[name]:
            raise InputError(
                f"labels of {name}: {len(names)} given, but {name} is "
                f"{size_of(getattr(problem, name))}: one is needed for each row"
            )
