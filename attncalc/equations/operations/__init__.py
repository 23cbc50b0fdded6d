"""The operations: what a step computes, and how its equation and each entry are written.

Each is written once, in numpy, and runs on floats and on arrays of Decimals, on whole matrices and
on blocks of rows. Tokens are rows here, whatever the layout. This package names the operations of
attention; those of other parts are imported from their modules.
"""

from attncalc.equations.operations.angles import Rotate, Sinusoids
from attncalc.equations.operations.assembling import Add, Concat, Given, Mean, Same, Stack
from attncalc.equations.operations.entrywise import (
    DivideBySqrt,
    Mask,
    Multiply,
    MultiplyEach,
    SoftCap,
)
from attncalc.equations.operations.normalising import DivideBySum, HardMax, Softmax
from attncalc.equations.operations.products import (
    AdditiveScores,
    ConcatScores,
    DistanceScores,
    Project,
    Scores,
    Scoring,
    Weigh,
)

__all__ = [
    "Add",
    "AdditiveScores",
    "Concat",
    "ConcatScores",
    "DistanceScores",
    "DivideBySqrt",
    "DivideBySum",
    "Given",
    "HardMax",
    "Mask",
    "Mean",
    "Multiply",
    "MultiplyEach",
    "Project",
    "Rotate",
    "Same",
    "Scores",
    "Scoring",
    "Sinusoids",
    "SoftCap",
    "Softmax",
    "Stack",
    "Weigh",
]
