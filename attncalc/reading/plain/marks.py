"""Characters of our own, which stand in a text for what has been recognised in it."""

import re

CELL, ROW = "\ue002", "\ue003"
"""Between the cells, and between the rows, of an environment of LaTeX."""
COMMA = "\ue004"
"""A comma that is a decimal sign."""
BREAK = "\ue006"
"""The end of a line that is none in the file: LaTeX's and HTML's."""
FIRST_GRID = 0xF0000
"""Grids that were found stand as single characters, counted from here."""
MOST_GRIDS = 5000
"""Matrices that one text may hold; a text of more is no answer."""
GRID = re.compile(f"[{chr(FIRST_GRID)}-{chr(FIRST_GRID + MOST_GRIDS)}]")
PRIVATE = re.compile("[\ue000-\uf8ff\U000f0000-\U0010ffff]")
"""Characters that no text from outside may hold, for they are ours."""
UNMARKED = re.compile("[\ue000-\ue003\ue005-\uf8ff\U000f0000-\U0010ffff]")
"""The same, but for the decimal commas of a text that is marked already."""

WIDE = {"。": ". ", "、": ", ", "，": ", ", "；": "; ", "：": ": "}
"""What parts words and numbers in Chinese and Japanese: no such comma stands within a number."""


def typed(text: str) -> str:
    """Return a text with its decimal commas as they were typed."""
    return text.replace(COMMA, ",").replace(CELL, " ").replace(ROW, "; ")
