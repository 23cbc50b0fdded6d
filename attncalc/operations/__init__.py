"""What a step does to whole matrices, how its equation is written, and how each entry comes about.

Each operation is written once, in numpy, and so runs on floats and on arrays of Decimals alike, on
whole matrices and on blocks of their rows. Tokens are rows here, whatever the layout. Those of
attention are named here; those of other parts (`activations`, `normalisation`) are loaded where
there are such parts.
"""

from attncalc.equations.expressions import Operand
from attncalc.equations.operation import Operation
from attncalc.operations.normalizers import DivideBySum, HardMax, Softmax
from attncalc.operations.positions import Rotate, Sinusoids
from attncalc.operations.products import (
    AdditiveScores,
    ConcatScores,
    DistanceScores,
    Project,
    Scores,
    Scoring,
    Weigh,
)
from attncalc.operations.rows import Add, Concat, Given, Mean, Same, Stack
from attncalc.operations.scaling import DivideBySqrt, Mask, Multiply, MultiplyEach, SoftCap

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
    "Operand",
    "Operation",
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
