"""The convolutions over the frames of a spectrogram before the layers of Whisper.

Radford et al., *Robust Speech Recognition via Large-Scale Weak Supervision* (2022), section 2.2.
"""

import numpy as np

from attncalc.base.types import Matrix
from attncalc.equations.operations import Project
from attncalc.equations.operations.entrywise import Activate


def convolved(rows: Matrix, weights: Matrix, bias: Matrix, step: int) -> Matrix:
    """Return gelu of a convolution over frames, with zeros beside the first and the last.

    Parameters
    ----------
    rows
        A frame in each row, (frames, features).
    weights
        As `nn.Conv1d` stores them, (out, features, width).
    bias
        A number for each output.
    step
        The stride: the number of frames from one result to the next.
    """
    width = weights.shape[2]
    padded = np.pad(rows, ((width // 2, width // 2), (0, 0)))
    beside = np.lib.stride_tricks.sliding_window_view(padded, width, axis=0)[::step]
    columns = weights.reshape(len(weights), -1).T
    return Activate("gelu").apply(
        Project().apply(beside.reshape(len(beside), -1), columns, bias.reshape(1, -1))
    )
