"""Common modules: errors, escaped texts, numbers, sources that were read."""

__version__ = "0.1.0"
