"""The feed-forward part of a layer: its fields, and its steps."""
