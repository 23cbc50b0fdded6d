"""All fields that a problem can have, of all its parts, and what each setting takes."""

from typing import Any

from attncalc.errors import InputError
from attncalc.numbers.typed import NotANumber, quoted
from attncalc.problem.attention.fields import AttentionFields
from attncalc.problem.field import Given, Setting, declared

GIVEN: dict[str, Given] = declared(AttentionFields, Given)
"""Every matrix; a further part adds its own."""
SETTINGS: dict[str, Setting] = declared(AttentionFields, Setting)
"""Every convention but `labels` and `title`; a further part adds its own."""


def _of_role(*roles: str) -> tuple[str, ...]:
    return tuple(name for name, each in GIVEN.items() if each.role in roles)


MATRICES = tuple(GIVEN)
TOKENS, PROJECTED = _of_role("tokens"), _of_role("projected")
WEIGHTS, BIASES = _of_role("weights"), _of_role("bias")
POSITIONS = _of_role("positions")
MARKS, MASKS = _of_role("marks"), _of_role("marks", "scores")

LINES = "connections"
"""What the lines of the map are called among the steps."""

LABELLED = (*TOKENS, "Q", "K")
"""Matrices whose rows are tokens with names of their own."""

KNOWN = (*MATRICES, "labels", "title", *SETTINGS)
"""Every name a problem's file may use."""


def read_setting(name: str, given: Any) -> Any:
    """Return the value of a setting.

    Raises
    ------
    InputError
        When it cannot have that value: its text says what the setting takes.

    Examples
    --------
    >>> read_setting("rounding", "each step"), read_setting("scale", "1/3")
    ('each-step', Fraction(1, 3))
    """
    setting = SETTINGS[name]
    try:
        return setting.read(_alone(given))
    except InputError as error:  # its text starts where the name ends
        raise InputError(f"{name} {error}") from None
    except NotANumber as reason:
        raise InputError(f"{name} takes {setting.takes}: {reason}") from None
    except ValueError:
        raise InputError(f"{name} takes {setting.takes}, not {quoted(str(given))}") from None


def _alone(given: Any) -> Any:
    """Return the number of an array or a tensor of one."""
    if not hasattr(given, "__array__"):
        return given
    from attncalc.numbers.arrays import only_value  # here, for a command line needs no numpy

    return only_value(given)
