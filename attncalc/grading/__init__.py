"""Grading: a worked answer beside the solution, entry by entry."""
