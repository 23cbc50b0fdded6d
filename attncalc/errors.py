"""What can go wrong, each with one message for a person. Imports nothing: all may import it."""


class AttncalcError(Exception):
    """Anything attncalc refuses; its text says what is wrong, where, and what would mend it."""


class InputError(AttncalcError, ValueError):
    """A number, name, setting or file that cannot be read as part of a problem."""


class ShapeError(InputError):
    """Matrices that are readable, but whose shapes do not fit together."""


class OutputError(AttncalcError):
    """A place that cannot be written to."""
