"""What the pictures within a page share: the head that is drawn, its names, its frame."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from attncalc.text import shortened
from attncalc.writing.document import Attended, Connections
from attncalc.writing.html.elements import Html, element, id_of

LONGEST_NAME = 16
"""Letters of a name beside a dot, and at a cell."""
LETTER, WIDE_LETTER = 7.4, 14.0
"""How wide letters of names are at most; those of the East are wider."""
BESIDE = 30.0
"""Room that a name takes beside its letters."""


class Panel(NamedTuple):
    """One head of an attention, as it is drawn.

    Parameters
    ----------
    connections
        The attention.
    place, number
        Which of its heads: its place, from 0, and its number, 0 where there is one.
    prefix
        What names in this document begin with.
    told
        What it attends to, in sentences.
    """

    connections: Connections
    place: int
    number: int
    prefix: str
    told: tuple[str, ...]

    def rows(self) -> Iterator[Attended]:
        """Yield what each output attends to; nothing on a worksheet."""
        if self.connections.attended is not None:
            for output in range(len(self.connections.outputs)):
                yield self.connections.attended(self.place, output)


def framed(
    panel: Panel, kind: str, told: Sequence[str], size: tuple[float, float], content: Html
) -> Html:
    """Return a picture with its title, and a description for who does not see it.

    Parameters
    ----------
    panel
        What is drawn.
    kind
        "map" or "heatmap".
    told
        The description, in sentences.
    size
        How wide and how high it is.
    content
        What is drawn of it.
    """
    weights, head = panel.connections.weights, panel.number
    title, description = (
        id_of(f"{panel.prefix}{kind}-{part}-", weights, head=head) for part in ("title", "desc")
    )
    of = f"{weights}, head {head}" if head else weights
    width, height = map(at, size)
    return element(
        "svg",
        element("title", f"{kind.capitalize()} of {of}", id=title),
        element("desc", " ".join(f"{each}." for each in told), id=description),
        content,
        class_=kind,
        role="img",
        aria_labelledby=title,
        aria_describedby=description,
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        data_weights=weights,
        data_head=head or None,
    )


def short(names: Sequence[str]) -> tuple[str, ...]:
    """Return names cut where they are long, and still told apart."""
    return shortened(names, LONGEST_NAME)


def room_of(names: Sequence[str]) -> float:
    """Return how wide a column of names is at most."""
    return BESIDE + max(map(_width, short(names)), default=0.0)


def _width(name: str) -> float:
    return sum(LETTER if letter < "\u1100" else WIDE_LETTER for letter in name)


def at(number: float) -> str:
    """Return a length in as few digits as make no difference.

    Examples
    --------
    >>> at(12.0), at(3.14159)
    ('12', '3.1')
    """
    return f"{number:.1f}".removesuffix(".0")
