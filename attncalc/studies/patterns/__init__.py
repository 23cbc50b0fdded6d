"""Patterns: facts about what attends to what, worked out of a solution; sentences are writing's."""
