"""Positions, added to the tokens that a network reads."""
