"""What a text names: a matrix, a row or an entry of one, by its symbol, expression or words."""

from attncalc.reading.naming.name import Name, name_in
from attncalc.reading.naming.symbols import matrix_of_symbol

__all__ = ["Name", "matrix_of_symbol", "name_in"]
