"""Names of gradients: dQ, 1.dW_Q, and dX_Q for the part of dX that comes through Q."""

import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from attncalc.problem.fields import MATRICES, TOKENS, own_name, role_of
from attncalc.problem.step import Step

OUTSIDE = (
    *("patches", "X_cls", "T", "X_type", "X_P", "X1_P", "X2_P", "X3_P", "mu_E", "var_E", "ms_E"),
    *("N_E", "mu_out", "var_out", "ms_out", "N_out", "Y_first", "Y_last", "Y_mean", "F_pre"),
    *("G_pre", "mu_pre", "var_pre", "ms_pre", "N_pre", "logits_uncapped", "logits", "prob"),
)
"""Steps before and after all layers: their names have no number of a layer."""
_OF_A_LAYER = re.compile(r"(?:R|N|F|mu|var|ms)_\d|G")
"""Steps of a layer outside its attentions."""


def gradient_name(name: str) -> str:
    """Return the name of the gradient of a matrix.

    >>> gradient_name("W_Q"), gradient_name("1.self.Q")
    ('dW_Q', '1.self.dQ')
    """
    own = own_name(name)
    return f"{name.removesuffix(own)}d{own}"


def part_name(name: str, by: str) -> str:
    """Return the name of the part of a gradient that comes through one step.

    >>> part_name("X", "Q"), part_name("X2", "1.cross.K"), part_name("2.R_1", "Y")
    ('dX_Q', '1.cross.dX2_K', '2.dR_1_Y')
    """
    own, of = own_name(by), own_name(name)
    return f"{by.removesuffix(own) or name.removesuffix(of)}d{of}_{own}"


def title_of(name: str, made: Mapping[str, Step], by: str = "") -> str:
    """Return the title of a gradient.

    >>> title_of("W_Q", {}), title_of("X", {}, "Q")
    ('gradient of W_Q', 'gradient of X, by way of Q')
    """
    what = f"{name}, {made[name].title}" if name in made else name
    return f"gradient of {what}" + (f", by way of {by}" if by else "")


class Gradient(NamedTuple):
    """The matrix that a gradient belongs to, and the step it comes through; "" for all of it."""

    of: str
    by: str = ""


@cache
def gradient_from(name: str) -> Gradient | None:
    """Return the gradient that this name denotes; None for other names.

    The last outputs, Y, belong to their layer: a part that passes through them is one by 2.Y.

    >>> gradient_from("2.dY_Q"), gradient_from("1.cross.dN_1_Q").of, gradient_from("2.dR_1_Y").of
    (Gradient(of='1.Y', by='2.Q'), '1.N_1', '2.R_1')
    >>> gradient_from("1.dW_Q"), gradient_from("dX_Q"), gradient_from("dX_P").of
    (Gradient(of='1.W_Q', by=''), Gradient(of='X', by='Q'), 'X_P')
    >>> gradient_from("d_k"), gradient_from("Q")
    (None, None)
    """
    own = own_name(name)
    if not own.startswith("d"):
        return None
    prefix, rest = name.removesuffix(own), own[1:]
    if _is_known(rest):
        return Gradient(prefix + rest)
    places = [place for place, letter in enumerate(rest) if letter == "_"]
    for place in reversed(places):
        of, by = rest[:place], rest[place + 1 :]
        if _is_known(of) and (_is_step(by) or by in TOKENS):
            reader = by if by in OUTSIDE or of == by == "Y" else prefix + by
            return Gradient(_read(of, by, prefix), reader)
    return None


def _read(of: str, by: str, prefix: str) -> str:
    """Return the matrix in all that a step reads: it may be of a layer before, or of none."""
    if of in TOKENS or of in OUTSIDE:
        return of
    layer, _, _ = prefix.partition(".")
    if of == "Y" and by != "Y" and by not in OUTSIDE and layer.isdigit() and layer != "1":
        return f"{int(layer) - 1}.Y"
    if _OF_A_LAYER.fullmatch(of):  # and not of an attention in it
        prefix = prefix.removesuffix("self.").removesuffix("cross.")
    return prefix + of


def given_matrix_of(name: str) -> str:
    """Return which matrix a step is a gradient of, or the new value of; "" for any other step.

    >>> given_matrix_of("1.dW_Q"), given_matrix_of("W_Q_new"), given_matrix_of("Q")
    ('1.W_Q', 'W_Q', '')
    """
    if name.endswith("_new"):
        return name.removesuffix("_new")
    found = gradient_from(name)
    return found.of if found else ""


def is_of_the_way_back(name: str) -> bool:
    """Return whether a step is a gradient, the loss, or follows a step of gradient descent.

    >>> is_of_the_way_back("dQ"), is_of_the_way_back("Q_new"), is_of_the_way_back("Q")
    (True, True, False)
    """
    return name in ("L", "L_fell") or name.endswith("_new") or gradient_from(name) is not None


def _is_known(name: str) -> bool:
    """Return whether a gradient can be of a matrix of this name."""
    return _is_step(name) or (name in MATRICES and role_of(name) not in ("marks", "arriving"))


def _is_step(name: str) -> bool:
    from attncalc.problem.layers import STEP_TITLES  # here, for parts know how gradients are named

    return name in STEP_TITLES
