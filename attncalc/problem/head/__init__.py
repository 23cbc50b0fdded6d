"""The head of a network, from tokens to probabilities: its fields, and its steps."""
