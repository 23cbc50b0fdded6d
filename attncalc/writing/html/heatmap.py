"""The heatmap within a page: a cell for each weight, as its matrix is shown; darker for more."""

from collections.abc import Iterator
from functools import cached_property
from itertools import product
from typing import TypeVar

from attncalc.text import told_apart
from attncalc.writing.html.elements import LINE, Html, element, id_of, joined
from attncalc.writing.html.picture import LETTER, Panel, at, framed, room_of, short

T = TypeVar("T")

SIDE, SMALL_SIDE, MOST_WITH_TEXT = 46.0, 15.0, 16
"""Of the cells: with numbers in them up to so many columns, and without."""
ABOVE = 26.0
"""Room for names that stand upright above their columns."""
FULL_FROM = 0.5
"""A largest weight from which the shades reach to 1; a smaller one ends the scale itself."""
DEEP, MIDDLE = 0.69, 0.49
"""Shades on which numbers stand in another colour, on light paper and on dark."""
MOST_TOLD = 100
"""Weights that a description tells one by one; nobody listens to more."""


def heatmap_of(panel: Panel) -> Html:
    """Return the heatmap of a head."""
    heat = Heat(panel)
    (down, across), (left, top), side = heat.names, heat.corner, heat.side
    size = left + side * len(across) + 6, top + side * len(down) + 4
    cells = (heat.cell(*place) for place in product(range(len(down)), range(len(across))))
    labels = element("g", *heat.labels(), class_="dots")
    note = element("text", "hatched: masked", x=at(left), y=at(size[1] + 12), class_="note")
    hatch = id_of(f"{panel.prefix}hatch-", panel.connections.weights, head=panel.number)
    stripes = element("path", d="M0 6L6 0", stroke="currentColor")
    pattern = element(
        "pattern", stripes, id=hatch, width=6, height=6, patternUnits="userSpaceOnUse"
    )
    # the cells that are masked take this fill; style sheets give all others theirs
    drawn = element("g", pattern, joined([*cells], LINE), fill=f"url(#{hatch})")
    content = joined([labels, note, drawn], LINE)
    return framed(panel, "heatmap", heat.told, (size[0], size[1] + 18), content)


class Heat:
    """The weights of a head as they are shown: rows and columns, shades and numbers."""

    def __init__(self, panel: Panel) -> None:
        self.panel, self.rows = panel, list(panel.rows())
        sides = panel.connections.outputs, panel.connections.inputs
        self.names = self._turned((told_apart(sides[0]), told_apart(sides[1])))

    def _turned(self, pair: tuple[T, T]) -> tuple[T, T]:
        return pair[::-1] if self.panel.connections.are_columns else pair

    @property
    def told(self) -> tuple[str, ...]:
        """What it shows, in sentences: its numbers, or of many what each output attends to."""
        if sum(len(row.texts) for row in self.rows) > MOST_TOLD:
            return self.panel.told
        outputs = told_apart(self.panel.connections.outputs)
        return tuple(
            f"Weights of output {name}: {', '.join(row.texts)}"
            for name, row in zip(outputs, self.rows, strict=True)
        )

    @property
    def has_texts(self) -> bool:
        """Whether there is room for numbers."""
        return len(self.names[1]) <= MOST_WITH_TEXT

    @cached_property
    def side(self) -> float:
        """How wide and high a cell is."""
        longest = max((len(text) for row in self.rows for text in row.texts), default=0)
        return max(SIDE, LETTER * longest + 8) if self.has_texts else SMALL_SIDE

    @cached_property
    def is_upright(self) -> bool:
        """Whether the names above the columns fit beside one another."""
        return all(room_of((name,)) <= self.side + 22 for name in self.names[1])

    @cached_property
    def corner(self) -> tuple[float, float]:
        """Where the first cell begins."""
        return room_of(self.names[0]) - 10, ABOVE if self.is_upright else room_of(self.names[1])

    @cached_property
    def most(self) -> float:
        """The weight that is darkest."""
        found = max((abs(each) for row in self.rows for each in row.weights), default=0.0)
        return found if 0 < found < FULL_FROM or found > 1 else 1.0

    def labels(self) -> Iterator[Html]:
        """Yield the names of rows and columns, those that are wide turned."""
        (left, top), (down, across) = self.corner, self.names
        for place, name in enumerate(short(down)):
            y = top + self.side * (place + 0.5) + 4
            yield element("text", name, x=at(left - 6), y=at(y), text_anchor="end")
        for place, name in enumerate(short(across)):
            x = left + self.side * (place + 0.5)
            if self.is_upright:
                yield element("text", name, x=at(x), y=at(top - 7), text_anchor="middle")
            else:
                turn = f"translate({at(x + 4)} {at(top - 6)}) rotate(-90)"
                yield element("text", name, transform=turn)

    def cell(self, i: int, j: int) -> Html:
        """Return a cell and, where there is room, its number."""
        output, place = self._turned((i, j))
        row = self.rows[output]
        weight, text = row.weights[place], row.texts[place]
        masked = "masked" if row.masked and row.masked[place] else ""
        share, side = min(1.0, abs(weight) / self.most), self.side
        x, y = self.corner[0] + side * j, self.corner[1] + side * i
        size = {"width": at(side - 1), "height": at(side - 1)}
        parts = [element("rect", x=at(x), y=at(y), **size, fill_opacity=f"{share:.2f}")]
        if self.has_texts:
            where = {"x": at(x + side / 2), "y": at(y + side / 2 + 4), "text_anchor": "middle"}
            parts.append(element("text", text, **where))
        depth = "deep" if share >= DEEP else "middle" if share >= MIDDLE else ""
        look = " ".join(filter(None, (masked, depth, "negative" if weight < 0 else "")))
        return element("g", *parts, class_=look or None, data_row=i + 1, data_column=j + 1)
