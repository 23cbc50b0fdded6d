"""A Solution as NumPy's `.npz`: one array for each step, in the type it was computed in."""

from typing import IO, Any

import numpy as np

from attncalc.plan import Step
from attncalc.solution import Solution


def write_npz(solution: Solution, steps: tuple[Step, ...], file: IO[bytes]) -> None:
    """Write the matrices of the steps that are wanted."""
    arrays: Any = {step.name: solution[step.name] for step in steps}
    np.savez(file, **arrays)
