"""Arrays of numbers by name, as a program wrote them."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.types import Matrix
from attncalc.problem.fields import MATRICES
from attncalc.reading.answers.npz_file import STATES
from attncalc.reading.cells import Faults
from attncalc.reading.files import holds_arrays, read_bytes
from attncalc.reading.models.names import meaning_of
from attncalc.reading.naming.keys import name_of_key
from attncalc.reading.npz_file import OWN, load_arrays

ENDINGS = (".npz", ".safetensors")
FINE, OF_SINGLE, OF_HALF, OF_BFLOAT = 1e-10, 2e-5, 5e-3, 4e-2
"""The accepted errors of float64, float32, float16 and bfloat16, after the steps of a layer."""
FEWEST, LARGEST = 12, 6e4
"""The numbers that are not whole from which a type is recognized, and the largest one."""


def read_dump(path: Path) -> dict[str, Matrix]:
    """Return the arrays of numbers in a file."""
    data = read_bytes(path)
    arrays = load_arrays(data, Faults(str(path))) if holds_arrays(data) else {}
    if not isinstance(arrays, Mapping):
        raise InputError(f"{path}: one array without a name: give an .npz file, as Q=…, A=…")
    kept = {name: arrays[name] for name in arrays}
    found = {name: each for name, each in kept.items() if each.dtype.kind in "biuf" and each.size}
    if not found:
        raise InputError(f"{path}: it has no arrays of numbers")
    return found


def precision_of(arrays: Iterable[Matrix]) -> float:
    """Return the share of the largest number of a step by which right programs may differ.

    It is that of the coarsest type in which an array fits: bfloat16 is also recognized in float32.
    """
    found = [FINE]
    for array in arrays:
        numbers = np.asarray(array, np.float64)
        numbers = numbers[np.isfinite(numbers) & (np.abs(numbers) < LARGEST)]
        if np.count_nonzero(numbers % 1) < FEWEST:
            continue
        single = numbers.astype(np.float32)
        if (single != numbers).any():
            continue
        is_half = (numbers.astype(np.float16) == numbers).all()
        is_short = not (single.view(np.uint32) & 0xFFFF).any()
        found.append(OF_BFLOAT if is_short else OF_HALF if is_half else OF_SINGLE)
    return max(found)


def is_dump(path: Path) -> bool:
    """Return whether a file contains the steps of a program, and no problem.

    It contains a step that is never given, such as A, and neither tokens nor weights.
    """
    if path.suffix.lower() not in ENDINGS or not path.is_file():
        return False
    arrays = read_dump(path)
    names = {name: name_of_key(STATES.get(name, name)) for name in arrays}
    steps = [found.matrix for found in names.values() if found is not None]
    of_problem = any(
        name == OWN or name.startswith(("X", "W_")) or meaning_of(name) is not None
        for name in arrays
    )
    return not of_problem and any(step not in MATRICES for step in steps)


def beside(
    first: Mapping[str, Matrix], second: Mapping[str, Matrix]
) -> tuple[dict[str, Matrix], dict[str, Matrix], list[str]]:
    """Return two dumps under their common names, and the names that only one has.

    Names are common if they are equal, or name the same step.
    """
    by_step = {_step(name): name for name in second}
    pairs = {name: name if name in second else by_step.get(_step(name)) for name in first}
    both = {name: other for name, other in pairs.items() if other is not None}
    alone = [name for name in first if name not in both]
    alone += [name for name in second if name not in both.values()]
    key = {name: first[name] for name in both}
    return key, {name: np.asarray(second[other]) for name, other in both.items()}, alone


def _step(name: str) -> str:
    found = name_of_key(STATES.get(name, name))
    return name if found is None else found.matrix
