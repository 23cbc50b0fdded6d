"""Saying no to what cannot fit, before anything is allocated."""

from collections.abc import Mapping
from pathlib import Path

from attncalc.errors import InputError

WORTH_ASKING = 256 * 2**20
"""Bytes from which it is worth asking how much memory there is."""


def refuse_what_cannot_fit(
    sizes: Mapping[str, int], wanted: set[str], way_out: str | None = None
) -> None:
    """Refuse to allocate more than there is.

    Parameters
    ----------
    sizes
        Bytes by the name of what needs them.
    wanted
        The steps that were asked for.
    way_out
        What mends it; None for asking for fewer steps.

    Raises
    ------
    InputError
        With the sizes, what there is, and the way out.
    """
    needed = sum(sizes.values())
    # small enough for any machine: no need to ask
    if needed < WORTH_ASKING:
        return
    free = available()
    if free is not None and needed > free:
        parts = ", ".join(f"{name} {in_units(size)}" for name, size in sizes.items())
        least = "O" if "O" in wanted else min(wanted, default="O")
        fewer = (
            f"ask for fewer steps, as --only {least} --format npz or "
            f'solve(problem, keep=("{least}",))'
        )
        raise InputError(
            f"this needs {in_units(needed)} of memory ({parts}), and {in_units(free)} are free: "
            f"{way_out or fewer}"
        )


def available() -> int | None:
    """Return the bytes of memory that can be had, or None where the system does not say."""
    limits = [
        _number_after(Path("/proc/meminfo"), "MemAvailable:", 1024),
        _left_in_group(Path("/sys/fs/cgroup")),
    ]
    known = [limit for limit in limits if limit is not None]
    return min(known) if known else None


def in_units(size: int) -> str:
    """Return a number of bytes as people write it.

    Examples
    --------
    >>> in_units(7_200_000_000), in_units(64 * 2**20)
    ('6.7 GiB', '64 MiB')
    """
    if size >= 2**30:
        return f"{size / 2**30:.1f} GiB"
    return f"{-(-size // 2**20)} MiB"


def _number_after(path: Path, word: str, unit: int) -> int | None:
    try:
        words = path.read_text(encoding="ascii").split()
        return int(words[words.index(word) + 1]) * unit
    except (OSError, ValueError):
        return None


def _left_in_group(group: Path) -> int | None:
    """Return what a container may still take, where it has a limit."""
    try:
        most = int((group / "memory.max").read_text(encoding="ascii"))
        used = int((group / "memory.current").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
    return max(0, most - used)
