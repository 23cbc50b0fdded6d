"""A problem as what its file would say, for outputs that can be read back."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from attncalc.numbers.typed import as_written, exact
from attncalc.problem.fields import SETTINGS
from attncalc.problem.problem import Problem

ROW_NAMES, COLUMN_NAMES = "row names", "column names"
"""Under what a sheet's own names are kept, until the layout says which of them are tokens."""
RESULTS = "results"
"""Heads what follows the problem in a CSV file of our own: it is not read back."""
TOKEN = "token"
"""Heads the names of tokens in CSV, so that none of them is taken for a number."""
OWN_PROBLEM = "problem.csv"
"""The problem in a folder that attncalc wrote, beside a file for each step."""
ALWAYS_SAID = ("scale", "rounding", "decimals")


def settings(problem: Problem) -> dict[str, Any]:
    """Return the title, and every convention that is no default, as a file states them."""
    said: dict[str, Any] = {"title": problem.title} if problem.title else {}
    for name, setting in SETTINGS.items():
        value = getattr(problem, name)
        if name in ALWAYS_SAID or value != setting.default:
            said[name] = as_written(value) if isinstance(value, Fraction) else value
    return said


def as_typed(value: Any) -> str:
    """Return an entry of a given matrix as a person would type it.

    Examples
    --------
    >>> as_typed(np.float64(0.5)), as_typed(Fraction(1, 3)), as_typed(np.bool_(True))
    ('0.5', '1/3', '1')
    """
    if isinstance(value, np.bool_):
        return str(int(value))
    if not np.isfinite(float(value)):
        return "-inf"
    return as_written(value if isinstance(value, Decimal | Fraction) else exact(value))
