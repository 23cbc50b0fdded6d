"""Which keys a query may attend to: what masks forbid, whatever is done with what they leave."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from attncalc.equations.operation import Operation, Setting, Statement
from attncalc.numbers.decimals import infinity_of
from attncalc.numbers.types import Matrix


@dataclass(frozen=True, eq=False, repr=False)
class Masking(Operation):
    """What goes by masks.

    Parameters
    ----------
    masks
        Which masks follow the scores among the inputs: "keep", "ignore", "bias".
    causal_from
        With a causal mask or a window, up to how many keys the first query may attend to: 1, or
        m - n + 1 where the corners meet at the bottom right. None without one.
    window
        How many of these it may attend to, the last ones; None for all of them. Beltagy et al.,
        *Longformer* (2020), section 3.1, looking back alone; Jiang et al., *Mistral 7B* (2023).
    is_causal
        Whether it is a causal mask that forbids what is behind, and not the window itself.
    """

    masks: tuple[str, ...] = ()
    causal_from: int | None = None
    window: int | None = None
    is_causal: bool = True

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

    def stated(self, name: str) -> Statement:
        """Return the equation of a name, with these masks."""
        settings: dict[str, Setting] = {}
        if self.causal_from is not None:
            settings["first"] = self.causal_from
            if self.window is not None:
                settings["window"] = self.window
        has_window = "window" in settings
        return Statement(name, frozenset(self.masks), settings).with_flags(
            causal="first" in settings and self.is_causal,
            window=has_window and self.is_causal,
            ahead=has_window and not self.is_causal,
        )

    def at(self, rows: slice, keys: slice = slice(None)) -> Self:
        """Return the mask of these rows and keys: the causal edge moves with them."""
        if self.causal_from is None:
            return self
        edge = self.causal_from + (rows.start or 0) - (keys.start or 0)
        return replace(self, causal_from=edge)

    def in_sight(self, rows: slice, keys: int) -> slice:
        """Return which of so many keys the causal edge, and the window, leave to any of the rows.

        Examples
        --------
        >>> Masking(causal_from=1, window=3).in_sight(slice(4, 6), keys=10)
        slice(2, 6, None)
        """
        if self.causal_from is None:
            return slice(0, keys)
        stop = min(max(self.causal_from + rows.stop - 1, 0), keys)
        first = 0 if self.window is None else self.causal_from + rows.start - self.window
        return slice(min(max(first, 0), stop), stop)

    def _out_of_band(self, n: int, m: int, first: int) -> dict[str, Matrix]:
        """Return where keys lie behind the edge, which starts so far along, or too far before."""
        out: dict[str, Matrix] = {}
        name = "causal" if self.is_causal else "window"
        if first < m:  # else all keys are in sight
            out[name] = ~np.tri(n, m, first - 1, dtype=bool)
        if self.window is not None and first + n - 1 > self.window:
            before = np.tri(n, m, first - 1 - self.window, dtype=bool)
            out["window"] = out["window"] | before if "window" in out else before
        return out
