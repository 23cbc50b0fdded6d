"""What a spectrogram goes through before the layers of Whisper: convolutions over its frames.

Radford et al., *Robust Speech Recognition via Large-Scale Weak Supervision* (2022), section 2.2.
"""

import numpy as np

from attncalc.equations.operations import Project
from attncalc.equations.operations.entrywise import Activate
from attncalc.numbers.types import Matrix


def convolved(rows: Matrix, weights: Matrix, bias: Matrix, step: int) -> Matrix:
    """Return gelu of a convolution over frames, with zeros beside the first and the last.

    Parameters
    ----------
    rows
        A frame in each row, (frames, features).
    weights
        As `nn.Conv1d` keeps them, (out, features, width).
    bias
        A number for each output.
    step
        How many frames lie between one result and the next.
    """
    width = weights.shape[2]
    padded = np.pad(rows, ((width // 2, width // 2), (0, 0)))
    beside = np.lib.stride_tricks.sliding_window_view(padded, width, axis=0)[::step]
    columns = weights.reshape(len(weights), -1).T
    return Activate("gelu").apply(
        Project().apply(beside.reshape(len(beside), -1), columns, bias.reshape(1, -1))
    )
