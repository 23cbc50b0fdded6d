"""What a step does to whole matrices, how its equation is written, and how each entry comes about.

Each operation is written once, in numpy, and so runs on floats and on arrays of Decimals alike, on
whole matrices and on blocks of their rows. Tokens are rows here, whatever the layout.
"""

from attncalc.operations.base import Operand, Operation
from attncalc.operations.joins import Add, Concat, Mean, Same
from attncalc.operations.normalizers import DivideBySum, HardMax, Softmax, exponentials
from attncalc.operations.positions import Rotate, Sinusoids
from attncalc.operations.products import Project, Scores, Weigh
from attncalc.operations.scaling import DivideBySqrt, Mask, Multiply, MultiplyEach, SoftCap

__all__ = [
    "Add",
    "Concat",
    "DivideBySqrt",
    "DivideBySum",
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
    "Sinusoids",
    "SoftCap",
    "Softmax",
    "Weigh",
    "exponentials",
]
