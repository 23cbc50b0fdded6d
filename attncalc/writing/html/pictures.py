"""Common parts of the pictures within a page: the drawn head, its names, its frame."""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import product
from typing import NamedTuple, TypeVar

from attncalc.base.text import distinct_names, shortened
from attncalc.writing.document import Attended, Connections
from attncalc.writing.html.elements import LINE, Html, element, id_of, joined

LONGEST_NAME = 16
"""Letters of a name next to a dot, and at a cell."""
LETTER, WIDE_LETTER = 7.4, 14.0
"""How wide letters of names are at most; those of the East are wider."""
BESIDE = 30.0
"""The space of a name in addition to its letters."""
ACROSS = 220.0
"""Between the two columns."""
TOP = 44.0
"""Above the first dots."""
PITCH, LEAST_PITCH, USUAL_HEIGHT = 44.0, 15.0, 480.0
"""Between two dots of a column: less where there are many."""
MOST_WRITTEN, MOST_TIED = 40, 3
"""The largest numbers of rows, and of tied lines of one output, with weights on lines."""
THINNEST, THICKEST = 1.2, 4.2
NEAR, BETWEEN = 0.17, 0.18
"""Where on a line its weight is written, as a share of it from the output on."""
T = TypeVar("T")
SIDE, SMALL_SIDE, MOST_WITH_TEXT = 46.0, 15.0, 16
"""Of the cells: with numbers in them up to so many columns, and without."""
ABOVE = 26.0
"""Room for upright names above their columns."""
FULL_FROM = 0.5
"""A largest weight from which the shades reach to 1; a smaller one ends the scale itself."""
DEEP, MIDDLE = 0.69, 0.49
"""Shades on which numbers have another color, on light paper and on dark."""
MOST_TOLD = 100
"""Number of weights that a description lists; more are too many to listen to."""


class Panel(NamedTuple):
    """One head of an attention, as drawn.

    place, number: its head: the index, from 0, and the number, 0 for the only one.
    """

    connections: Connections
    place: int
    number: int
    prefix: str
    told: tuple[str, ...]
    say: Callable[[str], str] = str

    @property
    def called(self) -> str:
        """The name of the weights, and the head."""
        name = self.connections.weights
        return f"{name}, {self.say(f'head {self.number}')}" if self.number else name

    def rows(self) -> Iterator[Attended]:
        """Yield the connections of each output; nothing on a worksheet."""
        if self.connections.attended is not None:
            for output in range(len(self.connections.outputs)):
                yield self.connections.attended(self.place, output)


def framed(
    panel: Panel, kind: str, told: Sequence[str], size: tuple[float, float], content: Html
) -> Html:
    """Return a picture with its title, and a description for screen readers."""
    weights, head = panel.connections.weights, panel.number
    title, description = (
        id_of(f"{panel.prefix}{kind}-{part}-", weights, head=head) for part in ("title", "desc")
    )
    width, height = map(at, size)
    inner = (
        element("title", panel.say(f"{kind.capitalize()} of {panel.called}"), id=title),
        element("desc", " ".join(f"{each}." for each in told), id=description),
        content,
    )
    look = {"class_": kind, "role": "img", "aria_labelledby": title}
    room = {"viewBox": f"0 0 {width} {height}", "width": width, "height": height}
    of = {"data_weights": weights, "data_head": head or None}
    return element("svg", *inner, **look, aria_describedby=description, **room, **of)


def short(names: Sequence[str]) -> tuple[str, ...]:
    """Return names, long ones cut, and still distinct."""
    return shortened(names, LONGEST_NAME)


def room_of(names: Sequence[str]) -> float:
    """Return how wide a column of names is at most."""
    widths = [
        sum(LETTER if letter < "\u1100" else WIDE_LETTER for letter in name)
        for name in short(names)
    ]
    return BESIDE + max(widths, default=0.0)


def at(number: float) -> str:
    """Return a length in as few digits as make no difference.

    >>> at(12.0), at(3.14159)
    ('12', '3.1')
    """
    return f"{number:.1f}".removesuffix(".0")


class Side(NamedTuple):
    """A column of dots: their names, its position, and on which side their names are."""

    names: tuple[str, ...]
    x: float
    pitch: float
    rows: int
    is_left: bool

    def y(self, place: int) -> float:
        """Return the height of a dot: the shorter column is centered on the longer."""
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
    say = panel.say
    inputs, outputs = map(distinct_names, (panel.connections.inputs, panel.connections.outputs))
    rows = max(len(inputs), len(outputs))
    pitch = min(PITCH, max(LEAST_PITCH, USUAL_HEIGHT / rows))
    rooms = room_of(inputs), room_of(outputs)
    left = Side(inputs, rooms[0], pitch, rows, is_left=True)
    right = Side(outputs, rooms[0] + ACROSS, pitch, rows, is_left=False)
    lines = [
        line for place, row in enumerate(panel.rows()) for line in _lines(left, right, place, row)
    ]
    layers = [
        element("g", *left.drawn(say("Inputs")), *right.drawn(say("Outputs")), class_="dots"),
        element("g", *(line for line, _ in lines), class_="lines"),
        element("g", *(text for _, text in lines if text), class_="weights"),
    ]
    is_blank = panel.connections.is_blank
    told = [say("Two columns of dots to draw lines between")] if is_blank else panel.told
    return framed(panel, "map", told, (sum(rooms) + ACROSS, right.bottom), joined(layers, LINE))


def _lines(
    inputs: Side, outputs: Side, output: int, row: Attended
) -> Iterator[tuple[Html, Html | None]]:
    """Yield the lines of an output, as thick as their weight, each with its text."""
    for rank, places in (("most", row.most), ("second", row.second)):
        for turn, place in enumerate(places):
            of = {"class_": rank, "data_output": output + 1, "data_input": place + 1}
            start, end = (inputs.x, inputs.y(place)), (outputs.x, outputs.y(output))
            size = min(1.0, abs(row.weights[place]))
            ends = dict(zip(("x1", "y1", "x2", "y2"), map(at, (*start, *end)), strict=True))
            width = at(THINNEST + (THICKEST - THINNEST) * size)
            line = element("line", **ends, stroke_width=width, **of)
            is_written = inputs.rows <= MOST_WRITTEN and len(places) <= MOST_TIED
            share = NEAR + BETWEEN * (turn + (rank == "second"))
            x, y = (b + (a - b) * share for a, b in zip(start, end, strict=True))
            text = element("text", row.texts[place], x=at(x), y=at(y + 4), **of)
            yield line, text if is_written else None


def heatmap_of(panel: Panel) -> Html:
    """Return the heatmap of a head."""
    heat = Heat(panel)
    (down, across), (left, top), side = heat.names, heat.corner, heat.side
    size = left + side * len(across) + 6, top + side * len(down) + 4
    cells = (heat.cell(*place) for place in product(range(len(down)), range(len(across))))
    labels = element("g", *heat.labels(), class_="dots")
    said = panel.say("hatched: masked")
    note = element("text", said, x=at(left), y=at(size[1] + 12), class_="note")
    hatch = id_of(f"{panel.prefix}hatch-", panel.connections.weights, head=panel.number)
    stripes = element("path", d="M0 6L6 0", stroke="currentColor")
    pattern = element(
        "pattern", stripes, id=hatch, width=6, height=6, patternUnits="userSpaceOnUse"
    )
    # masked cells have this fill; style sheets set those of all others
    drawn = element("g", pattern, joined([*cells], LINE), fill=f"url(#{hatch})")
    content = joined([labels, note, drawn], LINE)
    return framed(panel, "heatmap", heat.told, (size[0], size[1] + 18), content)


class Heat:
    """The weights of a head as shown: rows and columns, shades and numbers."""

    def __init__(self, panel: Panel) -> None:
        self.panel, self.rows = panel, list(panel.rows())
        sides = panel.connections.outputs, panel.connections.inputs
        self.names = self._turned((distinct_names(sides[0]), distinct_names(sides[1])))

    def _turned(self, pair: tuple[T, T]) -> tuple[T, T]:
        return pair[::-1] if self.panel.connections.are_columns else pair

    @property
    def told(self) -> tuple[str, ...]:
        """Its content in sentences: its numbers, or for many the connections of each output."""
        if sum(len(row.texts) for row in self.rows) > MOST_TOLD:
            return self.panel.told
        outputs = distinct_names(self.panel.connections.outputs)
        return tuple(
            self.panel.say(f"Weights of output {name}: {', '.join(row.texts)}")
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
        """Whether the names above the columns fit next to one another."""
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
