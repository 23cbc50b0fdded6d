"""The parts that a calculation is a list of. A new part goes in here, and nowhere else.

A part owns, in a folder of its own, its fields, its rules of shape and its steps. Its fields stand
beside those of the others in `attncalc.problem.fields`.
"""

from attncalc.problem.attention.part import ATTENTION
from attncalc.problem.embedding.part import CLASS_TOKEN, EMBEDDING, TYPES
from attncalc.problem.feed_forward.part import FEED_FORWARD
from attncalc.problem.head.part import HEAD
from attncalc.problem.normalisation.part import NORMALISATION
from attncalc.problem.patches.part import PATCHES
from attncalc.problem.positions.part import POSITIONS
from attncalc.problem.residual.part import RESIDUAL

OPENING = (PATCHES, EMBEDDING, CLASS_TOKEN, POSITIONS, TYPES)
"""What tokens are made of, before all layers."""
PARTS = (*OPENING, ATTENTION, RESIDUAL, NORMALISATION, FEED_FORWARD, HEAD)
STEP_TITLES = {name: title for part in PARTS for name, title in part.titles.items()} | {
    "Y": "outputs of the last layer"
}
"""Every step that a plan can have, and what it is in words."""
