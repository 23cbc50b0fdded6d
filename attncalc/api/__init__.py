"""Attention for people with arrays in hand: one call, a Solution or a Marking back."""

from attncalc.api.functions import check, cross_attention, self_attention, solve
from attncalc.api.solution import Solution

__all__ = ["Solution", "check", "cross_attention", "self_attention", "solve"]
