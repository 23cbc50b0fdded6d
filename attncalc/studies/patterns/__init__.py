"""Patterns: facts about attention weights, computed from a solution."""
