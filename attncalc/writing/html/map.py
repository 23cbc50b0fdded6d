"""The map within a page: inputs left, outputs right, a line to what each output attends to."""

from collections.abc import Iterator
from typing import NamedTuple

from attncalc.text import told_apart
from attncalc.writing.document import Attended
from attncalc.writing.html.elements import LINE, Html, element, joined
from attncalc.writing.html.picture import Panel, at, framed, room_of, short

ACROSS = 220.0
"""Between the two columns."""
TOP = 44.0
"""Above the first dots."""
PITCH, LEAST_PITCH, USUAL_HEIGHT = 44.0, 15.0, 480.0
"""Between two dots of a column: less where there are many."""
MOST_WRITTEN, MOST_TIED = 40, 3
"""Rows whose lines carry their weights, and lines of one output that share a place and do."""
THINNEST, THICKEST = 1.2, 4.2
NEAR, BETWEEN = 0.17, 0.18
"""Where on a line its weight is written, as a share of it from the output on."""


class Side(NamedTuple):
    """A column of dots: their names, where it stands, and on which side their names are."""

    names: tuple[str, ...]
    x: float
    pitch: float
    rows: int
    is_left: bool

    def y(self, place: int) -> float:
        """Return the height of a dot: the shorter column is centred beside the longer."""
        return TOP + self.pitch * (place + 0.5 + (self.rows - len(self.names)) / 2)

    @property
    def bottom(self) -> float:
        """Where the picture ends."""
        return TOP + self.pitch * self.rows

    def drawn(self, heading: str) -> Iterator[Html]:
        """Yield the heading, the rule, the dots and their names."""
        end, anchor = (-9, "end") if self.is_left else (9, "start")
        yield element("text", heading, x=at(self.x), y=18, text_anchor="middle", class_="head")
        yield element("line", x1=at(self.x), x2=at(self.x), y1=30, y2=at(self.bottom))
        for place, (whole, name) in enumerate(zip(self.names, short(self.names), strict=True)):
            y = self.y(place)
            yield element("circle", cx=at(self.x), cy=at(y), r=3.5)
            title = element("title", whole) if whole != name else ""
            where = {"x": at(self.x + end), "y": at(y + 4.5), "text_anchor": anchor}
            yield element("text", name, title, **where)


def map_of(panel: Panel) -> Html:
    """Return the map of a head; on a worksheet its dots, to draw lines between."""
    inputs, outputs = told_apart(panel.connections.inputs), told_apart(panel.connections.outputs)
    rows = max(len(inputs), len(outputs))
    pitch = min(PITCH, max(LEAST_PITCH, USUAL_HEIGHT / rows))
    rooms = room_of(inputs), room_of(outputs)
    left = Side(inputs, rooms[0], pitch, rows, is_left=True)
    right = Side(outputs, rooms[0] + ACROSS, pitch, rows, is_left=False)
    lines = [
        line for place, row in enumerate(panel.rows()) for line in _lines(left, right, place, row)
    ]
    layers = [
        element("g", *left.drawn("Inputs"), *right.drawn("Outputs"), class_="dots"),
        element("g", *(line for line, _ in lines), class_="lines"),
        element("g", *(text for _, text in lines if text), class_="weights"),
    ]
    told = (
        ["Two columns of dots to draw lines between"] if panel.connections.is_blank else panel.told
    )
    return framed(panel, "map", told, (sum(rooms) + ACROSS, right.bottom), joined(layers, LINE))


def _lines(
    inputs: Side, outputs: Side, output: int, row: Attended
) -> Iterator[tuple[Html, Html | None]]:
    """Yield the lines of an output, thick as they weigh, each with what is written on it."""
    for rank, places in (("most", row.most), ("second", row.second)):
        for turn, place in enumerate(places):
            of = {"class_": rank, "data_output": output + 1, "data_input": place + 1}
            start, end = (inputs.x, inputs.y(place)), (outputs.x, outputs.y(output))
            size = min(1.0, abs(row.weights[place]))
            line = element(
                "line",
                **dict(zip(("x1", "y1", "x2", "y2"), map(at, (*start, *end)), strict=True)),
                stroke_width=at(THINNEST + (THICKEST - THINNEST) * size),
                **of,
            )
            is_written = inputs.rows <= MOST_WRITTEN and len(places) <= MOST_TIED
            share = NEAR + BETWEEN * (turn + (rank == "second"))
            x, y = (b + (a - b) * share for a, b in zip(start, end, strict=True))
            text = element("text", row.texts[place], x=at(x), y=at(y + 4), **of)
            yield line, text if is_written else None
