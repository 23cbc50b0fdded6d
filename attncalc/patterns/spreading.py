"""How spread each row is, e^H of its inputs, and by how much the first beats the second."""

from collections.abc import Iterator

import numpy as np

from attncalc.patterns.pattern import MOST_ROWS, Pattern
from attncalc.patterns.view import View, counted


def spread(view: View) -> Iterator[Pattern]:
    """Yield between which values the spread of the rows lies, or where these are few, each's."""
    effective = view.rows.effective
    known = np.flatnonzero(np.isfinite(effective))
    if view.m == 1 or not len(known):
        return
    if view.n * view.attended.fields.n_heads <= MOST_ROWS:
        yield from (_of_output(view, int(output)) for output in known)
        return
    ends = (known[effective[known].argmin()], known[effective[known].argmax()])
    lowest, highest = (_end(view, int(output)) for output in ends)
    mean = view.attended.amount(effective[known].mean())
    each = [float(value) if np.isfinite(value) else None for value in effective]
    values = {"lowest": lowest, "highest": highest, "mean": mean, "of": view.m}
    yield view.pattern("spread", {**values, "effective": each})


def _end(view: View, output: int) -> dict[str, object]:
    return {
        "output": output + 1,
        "effective": view.attended.amount(view.rows.effective[output]),
    }


def _of_output(view: View, output: int) -> Pattern:
    digits = np.asarray(view.head.rounded[output])
    seen = np.flatnonzero(digits != 0)
    order = seen[np.argsort(-view.weights[output, seen], kind="stable")]
    values = {
        "output": output + 1,
        "inputs": counted(order),
        "weights": [view.weight(output, int(source)) for source in order],
        "entropy": view.attended.amount(view.rows.entropy[output]),
        "effective": view.attended.amount(view.rows.effective[output]),
        "of": view.m,
    }
    return view.pattern("spread", values, output)


def margin(view: View) -> Iterator[Pattern]:
    """Yield between which values the lead of the first input over the second lies."""
    known = np.flatnonzero(view.rows.total > 0)
    if view.m == 1 or not len(known):
        return
    margins = view.rows.top - view.rows.second
    ends = (known[margins[known].argmin()], known[margins[known].argmax()])
    lowest, highest = (_lead(view, int(output)) for output in ends)
    values = {"lowest": lowest, "highest": highest, "margins": margins.tolist()}
    yield view.pattern("margin", values)


def _lead(view: View, output: int) -> dict[str, object]:
    first, second = int(view.rows.lead[output]), int(view.rows.runner[output])
    return {
        "output": output + 1,
        "first": first + 1,
        "second": second + 1,
        "margin": view.difference(output, first, second),
    }
