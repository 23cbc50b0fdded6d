"""Patterns: facts about what attends to what, computed from a solution; writing has sentences."""
