"""Grading: compares a worked answer with the solution, entry by entry."""
