"""`conform`: the conformance tests of attention kernels."""

from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING, Any

from attncalc.api.display import Displayed
from attncalc.conforming import suite as suite_of_cases
from attncalc.conforming.case import suite
from attncalc.conforming.running import Inside, Kernel
from attncalc.conforming.suite import conform as run
from attncalc.writing.reports.conform import conform_document

if TYPE_CHECKING:
    from attncalc.writing.document import Document


class Report(Displayed, suite_of_cases.Report):
    """The outcome of all cases; printed, it is the report of `attncalc conform`."""

    def _as_document(self) -> "Document":
        return conform_document(self)


def conform(
    kernel: str | Callable[..., Any],
    *,
    backend: str = "numpy",
    dtype: str = "float32",
    causal_alignment: str = "top-left",
    seed: int = 0,
    quick: bool = False,
    timeout: float = 60.0,
) -> Report:
    """Test an attention kernel.

    Parameters
    ----------
    kernel
        A function `attention(query, key, value, ...)` on arrays (batch, heads, tokens, width),
        called in this process; or its path, such as "kernel.py:function", called in a separate
        process with a time limit.
    backend
        The type of arrays: "numpy", "torch" or "jax".
    dtype
        The type of numbers, except in cases that test a type.
    causal_alignment
        The convention of `is_causal` for different numbers of queries and keys: "top-left" or
        "bottom-right".
    seed, quick, timeout
        The seed of all numbers; whether large shapes are omitted; the time limit of a call in
        seconds.

    Returns
    -------
    Report
        Printed, it is the report. `report.of("failed")` are the failed cases, each with its
        failure: the smallest failing case, the first wrong entry and its causes;
        `report.causes` counts the causes.

    Raises
    ------
    InputError
        If the kernel cannot be loaded.

    Examples
    --------
    >>> import numpy as np
    >>> def attention(query, key, value, enable_gqa=False):
    ...     if enable_gqa:  # np.tile repeats the heads as a whole, and np.repeat each in turn
    ...         times = query.shape[1] // key.shape[1]
    ...         key, value = (np.tile(x, (1, times, 1, 1)) for x in (key, value))
    ...     scores = query @ key.swapaxes(-1, -2) * query.shape[-1] ** -0.5
    ...     weights = np.exp(scores - scores.max(-1, keepdims=True))
    ...     return weights / weights.sum(-1, keepdims=True) @ value
    >>> report = conform(attention, quick=True)
    >>> report.causes[0][0].code
    'heads-tiled'
    """
    cases = list(suite(seed, alignment=causal_alignment, dtype=dtype, quick=quick))
    name = getattr(kernel, "__name__", "kernel") if callable(kernel) else kernel
    found = (
        Inside(kernel, backend) if callable(kernel) else Kernel(kernel, backend, seconds=timeout)
    )
    with closing(found):
        return Report(*run(found, cases, name))
