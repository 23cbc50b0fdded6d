"""Private characters that mark what was recognized in a text."""

import re

CELL, ROW = "\ue002", "\ue003"
"""Between the cells, and between the rows, of an environment of LaTeX."""
COMMA = "\ue004"
"""A comma that is a decimal sign."""
BREAK = "\ue006"
"""The end of a line that is not one in the file: LaTeX's and HTML's."""
JOIN = "\ue009"
"""The end of a line of the file that is none of the text, as within a matrix."""
FIRST_GRID = 0xF0000
"""The first of the single characters that represent grids."""
MOST_GRIDS = 5000
"""The largest number of matrices in one text."""
GRID = re.compile(f"[{chr(FIRST_GRID)}-{chr(FIRST_GRID + MOST_GRIDS)}]")
PRIVATE = re.compile("[\ue000-\uf8ff\U000f0000-\U0010ffff]")
"""The private characters, which a text from outside may not contain."""
UNMARKED = re.compile("[\ue000-\ue003\ue005-\uf8ff\U000f0000-\U0010ffff]")
"""The same, except the decimal commas of a marked text."""

COLUMN = re.compile(
    r"\bcol(?:\b|[\d_]|umn|onn|una)|spalte|列|kolom|kolum|kolonn|столб|cbind|hcat", re.IGNORECASE
)
"""A word for a column, which may be written on one line."""
WIDE = {"。": ". ", "、": ", ", "，": ", ", "；": "; ", "：": ": "}
"""Separators of words and numbers in Chinese and Japanese; none of them is part of a number."""


def typed(text: str) -> str:
    """Return a text with its decimal commas as typed."""
    return text.replace(COMMA, ",").replace(CELL, " ").replace(ROW, "; ")


MASKED = (*("x", "X", "×", "*", "/", "-", "--", "---", "–", "—"), *("mask", "masked", "Mask"))
"""Signs and words that people write for masked entries."""
