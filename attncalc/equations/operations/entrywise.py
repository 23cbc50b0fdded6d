"""What is done to each entry: activations between projections, and scores scaled, capped, masked.

Hendrycks and Gimpel, *Gaussian Error Linear Units* (2016); Elfwing et al. (2018).
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple, Self

import numpy as np

from attncalc.base.decimals import in_system_of, infinity_of
from attncalc.base.types import Matrix, Place
from attncalc.equations.expressions import Explanation, Operand
from attncalc.equations.operation import Operation, Setting, Shape, Statement

NUMBERS = {
    "half": Fraction(1, 2),
    "cube": Fraction(44715, 1_000_000),
    "slope": Fraction(1702, 1000),
    "alpha": Fraction(1702, 1000),
    "limit": Fraction(7),
}
"""The numbers of the approximations of GELU, by tanh and by the logistic function, and of the
clamped Swish of gpt-oss."""


class _Kind(NamedTuple):
    """An activation: what it is called, and the equation that states it."""

    title: str
    equation: str
    by: str = ""
    """The function that approximates it, after a title."""


KINDS = {
    "relu": _Kind("ReLU", "ReLU"),
    "relu2": _Kind("ReLU²", "ReLU2"),
    "gelu": _Kind("GELU", "GELU"),
    "gelu-tanh": _Kind("GELU", "GELUtanh", " by tanh"),
    "silu": _Kind("SiLU", "SiLU"),
    "tanh": _Kind("tanh", "Tanh"),
    "gelu-quick": _Kind("GELU", "GELUquick", " by the logistic function"),
    "swish-clamped": _Kind("clamped Swish", "ClampedSwish"),
}
GATED = ("swish-clamped",)
"""The activations that need a gate."""


@dataclass(frozen=True, eq=False, repr=False)
class Activate(Operation):
    """A function of each entry: one of `KINDS`."""

    kind: str

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        return Statement(KINDS[self.kind].equation, settings=NUMBERS)


@dataclass(frozen=True, eq=False, repr=False)
class Gate(Operation):
    """A function of each entry of one matrix, times the entry of another: act(F_1) ⊙ F_3.

    Shazeer, *GLU Variants Improve Transformer* (2020).
    """

    kind: str

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        return Statement(f"Gated{KINDS[self.kind].equation}", settings=NUMBERS)


@dataclass(frozen=True, eq=False, repr=False)
class DivideBySqrt(Operation):
    """Division by √d_k (Vaswani et al., 2017, equation 1)."""

    d_k: int

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Divide each score."""
        (scores,) = matrices
        root = np.sqrt(in_system_of(scores, Fraction(self.d_k)))
        return np.asarray(np.multiply(scores, 1 / root, out=out))  # fewer divisions


@dataclass(frozen=True, eq=False, repr=False)
class Multiply(Operation):
    """Multiplication by a given number, kept exactly: 1/3 stays a third."""

    factor: Fraction

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Multiply each score."""
        (scores,) = matrices
        return np.asarray(np.multiply(scores, in_system_of(scores, self.factor), out=out))


@dataclass(frozen=True, eq=False, repr=False)
class MultiplyEach(Operation):
    """The scores of each problem of a family times a factor of its own, (problems, 1, 1, 1)."""

    each: Matrix

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        return Statement("MultiplyEach", tables={"each": self.each})


@dataclass(frozen=True, eq=False, repr=False)
class SoftCap(Operation):
    """c · tanh(s / c), which is never beyond c (Gemma Team, *Gemma 2*, 2024, section 2)."""

    cap: Fraction

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Write out the function, and its tanh in decimals, also where it is 0."""
        (scores,) = operands
        in_decimals = scores._replace(write=lambda value, _: scores.write(value, None))
        return super().explain(place, in_decimals)


@dataclass(frozen=True, eq=False, repr=False)
class Mask(Operation):
    """Scores plus their bias where a query may attend, and -∞ where it may not.

    masks: which masks follow the scores among the inputs: "keep", "ignore", "bias".
    causal_from: with a causal mask or a window, up to how many keys the first query may attend to:
        1, or m - n + 1 where the corners meet at the bottom right. None without one.
    window: how many of these it may attend to, the last ones; None for all of them. Beltagy et al.,
        *Longformer* (2020), section 3.1, looking back alone; Jiang et al., *Mistral 7B* (2023).
    is_causal: whether a causal mask, and not the window, masks the later keys.
    """

    masks: tuple[str, ...] = ()
    causal_from: int | None = None
    window: int | None = None
    is_causal: bool = True

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Add, then forbid; what is forbidden never matters, whatever it was."""
        scores, *given = matrices
        masks = dict(zip(self.masks, given, strict=True))
        # a bias of -∞ beside a score of +∞ would be nan: forbidding comes last and overwrites it
        if "bias" in masks:
            masked: Matrix = np.add(scores, masks["bias"], out=out)
        else:
            # a mask of each head repeats scores without heads
            shape = np.broadcast_shapes(scores.shape, *(each.shape for each in given))
            masked = np.empty(shape, scores.dtype) if out is None else out
            if masked is not scores:
                np.copyto(masked, scores)
        for forbidden in self.forbidden(masked.shape, masks).values():
            np.copyto(masked, -infinity_of(masked), where=forbidden)
        return masked

    def bound(self, largest: float, *matrices: Matrix) -> float:
        """Return the bound plus the largest finite bias."""
        masks = dict(zip(self.masks, matrices, strict=True))
        if "bias" not in masks:
            return largest
        finite = masks["bias"][np.isfinite(masks["bias"])]
        return largest + float(np.abs(finite).max(initial=0.0))

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation, with these masks."""
        settings: dict[str, Setting] = {}
        if self.causal_from is not None:
            settings["first"] = self.causal_from
            if self.window is not None:
                settings["window"] = self.window
        has_window = "window" in settings
        return Statement("Mask", frozenset(self.masks), settings).with_flags(
            causal="first" in settings and self.is_causal,
            window=has_window and self.is_causal,
            ahead=has_window and not self.is_causal,
        )

    def forbidden(self, shape: tuple[int, ...], masks: dict[str, Matrix]) -> dict[str, Matrix]:
        """Return where each of the masks forbids, by its name."""
        n, m = shape[-2:]
        forbidden: dict[str, Matrix] = {}
        if self.causal_from is not None:
            forbidden |= self._out_of_band(n, m, self.causal_from)
        if "keep" in masks:
            forbidden["keep"] = ~masks["keep"]
        if "ignore" in masks:
            forbidden["ignore"] = masks["ignore"]
        if "bias" in masks:
            forbidden["bias"] = masks["bias"] == -infinity_of(masks["bias"])
        return forbidden

    def at(self, rows: slice, keys: slice = slice(None)) -> Self:
        """Return the mask of these rows and keys: the causal edge moves with them."""
        if self.causal_from is None:
            return self
        edge = self.causal_from + (rows.start or 0) - (keys.start or 0)
        return replace(self, causal_from=edge)

    def in_sight(self, rows: slice, keys: int) -> slice:
        """Return which of so many keys the causal edge, and the window, leave to any of the rows.

        >>> Mask(causal_from=1, window=3).in_sight(slice(4, 6), keys=10)
        slice(2, 6, None)
        """
        if self.causal_from is None:
            return slice(0, keys)
        stop = min(max(self.causal_from + rows.stop - 1, 0), keys)
        first = 0 if self.window is None else self.causal_from + rows.start - self.window
        return slice(min(max(first, 0), stop), stop)

    def _out_of_band(self, n: int, m: int, first: int) -> dict[str, Matrix]:
        """Return which keys are after the edge, which starts at this offset, or too far before."""
        out: dict[str, Matrix] = {}
        name = "causal" if self.is_causal else "window"
        if first < m:  # else all keys are in sight
            out[name] = ~np.tri(n, m, first - 1, dtype=bool)
        if self.window is not None and first + n - 1 > self.window:
            before = np.tri(n, m, first - 1 - self.window, dtype=bool)
            out["window"] = out["window"] | before if "window" in out else before
        return out
