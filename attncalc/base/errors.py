"""Exceptions, each with one message for users. All packages may import this module."""

from collections.abc import Iterator
from contextlib import contextmanager


class AttncalcError(Exception):
    """An error that attncalc reports; its text states what is wrong, where, and how to fix it."""


class InputError(AttncalcError, ValueError):
    """A number, name, setting or file that cannot be read as part of a problem."""


class ShapeError(InputError):
    """Matrices that are readable, but whose shapes do not match."""


class OutputError(AttncalcError):
    """A place that cannot be written to."""


@contextmanager
def about(place: str) -> Iterator[None]:
    """Add the name of a source to errors that do not contain it.

    >>> with about("in.json"):
    ...     raise InputError("no row")
    Traceback (most recent call last):
    ...
    attncalc.base.errors.InputError: in.json: no row
    """
    try:
        yield
    except InputError as error:
        said = str(error)
        raise InputError(said if not place or place in said else f"{place}: {said}") from None
