"""Normalisation of each token over its features: its fields, and its steps."""
