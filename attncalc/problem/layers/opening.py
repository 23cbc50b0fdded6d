"""What stands before all layers: what tokens are made of, their positions, their normalisation."""

from collections.abc import Iterator

from attncalc.problem.embedding.part import CLASS_TOKEN, EMBEDDING, TYPES
from attncalc.problem.normalisation.part import NORMALISATION
from attncalc.problem.part import Part, Placed
from attncalc.problem.patches.part import PATCHES
from attncalc.problem.positions.part import POSITIONS
from attncalc.problem.positions.part import is_there as has_positions
from attncalc.problem.scope import Scope


def opening(fields: Scope, tokens: str, earlier: int = 0) -> list[Placed]:
    """Return the parts before all layers, each reading what the one before it gives.

    Parameters
    ----------
    fields
        The fields of the whole.
    tokens
        What the tokens are called that are given, or that the first part makes.
    earlier
        How many tokens a cache holds, behind which these stand.
    """
    parts: list[Placed] = []
    reads = () if has_made_tokens(fields) else (tokens,)
    for part, gives in _parts(fields, tokens):
        number = "E" if part is NORMALISATION else str(earlier) if part is POSITIONS else ""
        parts.append(Placed(part, fields, "", number, reads, gives))
        reads = (gives,)
    return parts


def has_made_tokens(fields: Scope) -> bool:
    """Say whether tokens are made of an image, or of ids, and not given."""
    return bool(fields.those_given("image", "patch", "ids"))


def _parts(fields: Scope, tokens: str) -> Iterator[tuple[Part, str]]:
    """Yield each part that is there, and what it gives."""
    last = tokens
    if fields.those_given("image", "patch"):
        last = tokens if fields.those_given("E", "b_E") else "patches"
        yield PATCHES, last
    elif fields.ids is not None:
        yield EMBEDDING, last
    if fields.class_token is not None:
        last = f"{tokens}_cls"
        yield CLASS_TOKEN, last
    if has_positions(fields, last):
        yield POSITIONS, f"{tokens}_P"
    if fields.those_given("type_ids", "W_type"):
        yield TYPES, f"{tokens}_type"
    if fields.those_given("gamma_E", "beta_E"):
        yield NORMALISATION, "N_E"
