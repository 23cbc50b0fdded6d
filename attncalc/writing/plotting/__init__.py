"""Plotting: pictures of a Solution. Headless, and the same bytes for the same input."""
