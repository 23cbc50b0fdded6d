"""Refuses what does not fit: into memory, before it is allocated, or into floats."""

import math
from collections.abc import Mapping
from itertools import dropwhile
from pathlib import Path

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.types import Matrix
from attncalc.problem.step import Plan

WORTH_ASKING = 256 * 2**20
"""Bytes from which available memory is checked."""


def refuse_what_cannot_fit(
    sizes: Mapping[str, int], wanted: set[str], way_out: str | None = None
) -> None:
    """Refuse to allocate more than the available memory.

    sizes: bytes by purpose.
    way_out: advice; None for "select fewer steps".
    """
    needed = sum(sizes.values())
    # small enough for any machine: no check
    if needed < WORTH_ASKING:
        return
    free = available()
    if free is not None and needed > free:
        parts = ", ".join(f"{name} {in_units(size)}" for name, size in sizes.items())
        least = "O" if "O" in wanted else min(wanted, default="O")
        fewer = (
            f"request fewer steps with --only {least} --format npz or "
            f'solve(problem, keep=("{least}",))'
        )
        raise InputError(
            f"this needs {in_units(needed)} of memory ({parts}), and {in_units(free)} are free: "
            f"{way_out or fewer}"
        )


def available() -> int | None:
    """Return the bytes of available memory, or None if the system does not report it."""
    limits = [_free(), _left_in_group(Path("/sys/fs/cgroup"))]
    known = [limit for limit in limits if limit is not None]
    return min(known) if known else None


def in_units(size: int) -> str:
    """Return a number of bytes as text with a unit.

    >>> in_units(7_200_000_000), in_units(64 * 2**20)
    ('6.7 GiB', '64 MiB')
    """
    if size >= 2**30:
        return f"{size / 2**30:.1f} GiB"
    return f"{-(-size // 2**20)} MiB"


def _free() -> int | None:
    try:
        words = Path("/proc/meminfo").read_text(encoding="ascii").split()
        return int(words[words.index("MemAvailable:") + 1]) * 1024
    except (OSError, ValueError):
        return None


def _left_in_group(group: Path) -> int | None:
    """Return the remaining memory of a container, if it has a limit."""
    try:
        most = int((group / "memory.max").read_text(encoding="ascii"))
        used = int((group / "memory.current").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
    return max(0, most - used)


def refuse_overflow(matrices: Mapping[str, Matrix], plan: Plan) -> None:
    """Refuse infinite and undefined numbers, except masked ones, which never matter."""
    for name, matrix in matrices.items():
        # a finite sum of squares contains no nan or ∞, and is faster than a test of each entry
        if math.isfinite(np.vdot(matrix, matrix)) or np.isfinite(matrix).all():
            continue
        wrong = ~np.isfinite(matrix)
        # a masked score that overflows never reaches an output
        # the first masked scores from it on: equations may mask before scores are scaled
        masked = [step.name for step in plan if step.role == "masked" and step.name in matrices]
        behind = [*dropwhile(name.__ne__, (step.name for step in plan))]
        found = [each for each in masked if each in behind][:1] or masked[-1:]
        for forbidden in [matrices[each] for each in found]:
            if matrix.shape == forbidden.shape:
                wrong &= ~np.isneginf(forbidden)
        if wrong.any():
            *head, row, column = (int(index) + 1 for index in np.argwhere(wrong)[0])
            place = f"head {head[0]}, " if head else ""
            raise InputError(
                f"{name}, {place}row {row}, column {column} exceeds the largest "
                f"{matrix.dtype} (about {np.finfo(matrix.dtype).max:.1e}): give smaller numbers"
            )


def refuse_overflow_of(outputs: Matrix, first_row: int) -> None:
    """Refuse outputs of a block of rows: every overflow reaches them."""
    # one sum instead of n × d_v tests: nan and ∞ survive it
    if np.isfinite(outputs.sum()):
        return
    finite = np.isfinite(outputs).all(axis=-1)
    if not finite.all():
        raise InputError(
            f"output {first_row + int(finite.argmin()) + 1} exceeds the largest "
            f"{outputs.dtype} (about {np.finfo(outputs.dtype).max:.1e}): give smaller numbers"
        )
