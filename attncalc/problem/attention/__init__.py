"""Attention, the first part a calculation can have: its fields, its rules of shape, its steps."""
