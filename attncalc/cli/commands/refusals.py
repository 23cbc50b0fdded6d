"""What is refused of an option says what its flag is called."""

from collections.abc import Iterator
from contextlib import contextmanager

from attncalc.errors import InputError


@contextmanager
def as_flags() -> Iterator[None]:
    """Say of an option that is refused what its flag is called."""
    try:
        yield
    except InputError as error:  # its text starts with the name
        raise InputError(f"--{error}") from None
