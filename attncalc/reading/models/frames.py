"""Convolutions over frames before the layers of Whisper, and as positions of wav2vec 2.0.

Baevski et al., *wav2vec 2.0* (2020), section 2; Radford et al.,
*Robust Speech Recognition via Large-Scale Weak Supervision* (2022), section 2.2.
"""

import numpy as np

from attncalc.base.types import Matrix
from attncalc.equations.operations.entrywise import Activate
from attncalc.equations.operations.products import Project


def convolved(rows: Matrix, weights: Matrix, bias: Matrix, step: int) -> Matrix:
    """Return gelu of a convolution over frames, with zeros beside the first and the last.

    rows: a frame in each row, (frames, features).
    weights: as `nn.Conv1d` stores them, (out, features of a group, width).
    bias: a number for each output.
    step: the stride: the number of frames from one result to the next.
    """
    width = weights.shape[2]
    padded = np.pad(rows, ((width // 2, width // 2), (0, 0)))
    beside = np.lib.stride_tricks.sliding_window_view(padded, width, axis=0)[::step]
    groups = rows.shape[1] // weights.shape[1]
    parts = (np.split(each, groups, axis) for each, axis in ((beside, 1), (weights, 0), (bias, 0)))
    made = [
        Project().apply(
            read.reshape(len(read), -1), own.reshape(len(own), -1).T, plus.reshape(1, -1)
        )
        for read, own, plus in zip(*parts, strict=True)
    ]
    return Activate("gelu").apply(np.hstack(made))


def weighted(lengths: Matrix, directions: Matrix) -> Matrix:
    """Return the weights of a convolution with weight norm: a length at each place of its width.

    Salimans and Kingma, *Weight Normalization* (2016).
    """
    found: Matrix = lengths * directions / np.sqrt((directions**2).sum(axis=(0, 1), keepdims=True))
    return found
