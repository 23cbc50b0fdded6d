"""A Vision Transformer by hand: an oracle of plain Python that shares no code with attncalc."""

from fractions import Fraction

from oracle import Rows, as_carried, rounded
from oracle_layers import DIGITS, Fields, added, layer_by_hand, power_of_e, product, shifted


def patches_by_hand(channels: list[Rows], p: int, q: int) -> Rows:
    """Cut an image into patches of p rows and q columns, each one row: loops, as one would count.

    Examples
    --------
    >>> patches_by_hand([[[1, 2, 3, 4], [5, 6, 7, 8]]], 2, 2)
    [[1, 2, 5, 6], [3, 4, 7, 8]]
    """
    found = []
    for top in range(0, len(channels[0]), p):
        for left in range(0, len(channels[0][0]), q):
            patch = []
            for channel in channels:
                for row in range(top, top + p):
                    for column in range(left, left + q):
                        patch.append(channel[row][column])
            found.append(patch)
    return found


def tokens_by_hand(
    fields: Fields, channels: list[Rows], sides: tuple[int, int], rounding: str, decimals: int
) -> dict[str, Rows]:
    """Return the steps that make tokens of an image, before they are rounded."""
    full = {"patches": patches_by_hand(channels, *sides)}

    def read(name: str) -> Rows:
        return as_carried({name: full[name]}, rounding, decimals)[name]

    full["X"] = shifted(product(read("patches"), fields["E"]), fields["b_E"][0])
    full["X_cls"] = [*fields["class_token"], *read("X")]
    full["X_P"] = added(read("X_cls"), fields["P"])
    return full


def head_by_hand(fields: Fields, Y: Rows, rounding: str, decimals: int) -> dict[str, Rows]:
    """Return the steps of a head that reads the first token, from Y as it is carried."""
    full = {"Y_first": Y[:1]}

    def read(name: str) -> Rows:
        return as_carried({name: full[name]}, rounding, decimals)[name]

    full["F_pre"] = shifted(product(read("Y_first"), fields["W_pre"]), fields["b_pre"][0])
    full["G_pre"] = [[tanh(x) for x in row] for row in read("F_pre")]
    full["logits"] = shifted(product(read("G_pre"), fields["W_out"]), fields["b_out"][0])
    powers = [power_of_e(x) for x in read("logits")[0]]
    full["prob"] = [[rounded(each / sum(powers), DIGITS) for each in powers]]
    return full


def vit_by_hand(
    fields: Fields, channels: list[Rows], sides: tuple[int, int], rounding: str, decimals: int
) -> dict[str, Rows]:
    """Return every step of a Vision Transformer of one layer and one head."""
    full = tokens_by_hand(fields, channels, sides, rounding, decimals)
    carried = as_carried(full, rounding, decimals)
    inside = layer_by_hand(fields | {"X": carried["X_P"]}, rounding, decimals)
    full |= inside
    Y = as_carried({"Y": full["Y"]}, rounding, decimals)["Y"]
    return full | head_by_hand(fields, Y, rounding, decimals)


def tanh(x: Fraction) -> Fraction:
    doubled = power_of_e(2 * x)
    return rounded((doubled - 1) / (doubled + 1), DIGITS)
