"""The matrix, row or entry that a text names, by its symbol, expression or words."""

from attncalc.reading.naming.name import Name, name_in
from attncalc.reading.naming.symbols import matrix_of_symbol

__all__ = ["Name", "matrix_of_symbol", "name_in"]
