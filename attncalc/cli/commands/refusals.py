"""What is refused of an option says what its flag is called."""

import re
from collections.abc import Container, Iterator
from contextlib import contextmanager

from attncalc.errors import InputError

_NAME = re.compile(r"\w+")


@contextmanager
def as_flags(names: Container[str] | None = None) -> Iterator[None]:
    """Say of an option that is refused what its flag is called.

    Parameters
    ----------
    names
        What options are called, where something else may be refused too: a file, or a matrix.
    """
    try:
        yield
    except InputError as error:  # its text starts with the name
        found = _NAME.match(str(error))
        if found is None or (names is not None and found[0] not in names):
            raise
        flag = found[0].replace("_", "-")
        raise InputError(f"--{flag}{str(error)[found.end() :]}") from None
