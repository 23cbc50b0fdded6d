"""The Python interface: functions that return a Solution, a Marking or a Study."""

from attncalc.api.functions import check, cross_attention, self_attention, solve
from attncalc.api.solution import Solution

__all__ = ["Solution", "check", "cross_attention", "self_attention", "solve"]
