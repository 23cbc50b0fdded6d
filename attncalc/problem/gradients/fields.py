"""The fields of the way back: whether it is gone, what it starts with, and a step to take."""

import re
from dataclasses import dataclass
from typing import Any

from attncalc.problem.field import GRADIENTS, LAYERS, matrix, optional, positive, setting, yes_or_no

_ID = re.compile(r"\d{1,7}(?:\.0{0,20})?")
"""A class, as a program may have it, too: 2.0."""


def read_ids(given: Any) -> tuple[int, ...]:
    """Read whole numbers from 0: a list, or a text with commas or spaces between them."""
    if isinstance(given, bool):
        raise ValueError
    if hasattr(given, "tolist"):
        given = given.tolist()
    if isinstance(given, str):
        given = given.replace(",", " ").replace(";", " ").split()
    listed = list(given) if isinstance(given, list | tuple) else [given]
    if len(listed) == 1 and isinstance(listed[0], list):  # an array of one row
        (listed,) = listed
    if not listed or any(isinstance(each, bool) for each in listed):
        raise ValueError
    texts = [str(each).strip() for each in listed]
    if not all(map(_ID.fullmatch, texts)):
        raise ValueError
    return tuple(int(text.partition(".")[0]) for text in texts)


@dataclass(frozen=True, eq=False, repr=False, init=False)
class GradientFields:
    """What the way back starts with; `Problem` says what it means."""

    backward: Any = setting(
        False,
        yes_or_no,
        "true or false",
        "Add the gradients of all that is given.",
        GRADIENTS,
        is_open=True,
    )
    dO: Any = matrix("arriving", "The gradient that arrives at the outputs.", GRADIENTS)
    dY: Any = matrix("arriving", "The same, of layers.", GRADIENTS, LAYERS)
    dlogits: Any = matrix("arriving", "The same, of a head's logits.", GRADIENTS, LAYERS)
    target: Any = matrix(
        "arriving", "What the outputs should be: L = 1/2 sum (O - T)^2.", GRADIENTS
    )
    target_ids: Any = setting(
        None,
        optional(read_ids),
        "whole numbers from 0, one for each row of probabilities, as 2, 0, 1",
        "The class of each row, from 0: L = -sum log prob.",
        GRADIENTS,
        kind=LAYERS,
        is_list=True,
    )
    step: Any = setting(
        None,
        optional(positive),
        "a number above 0",
        "A step against the gradients, W - 0.1 dW, and what comes of it.",
        GRADIENTS,
    )
