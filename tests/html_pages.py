"""Pages of HTML read strictly: every element is ended, every name is its own, nothing is loaded."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import pairwise

VOID = {"meta", "br"}
ELEMENTS = {
    *("html", "head", "meta", "title", "style", "body", "main", "article", "section", "div"),
    *("h1", "h2", "h3", "h4", "p", "ul", "li", "span", "bdi", "strong", "em", "figure"),
    *("figcaption", "details", "summary", "table", "caption", "thead", "tbody", "tr", "th", "td"),
    *("svg", "desc", "g", "line", "circle", "rect", "text", "pattern", "path"),
    *("math", "mi", "mn", "mo", "mtext", "mspace", "mrow", "mfrac", "msqrt"),
    *("msub", "msup", "msubsup", "munder"),
}
"""All elements of a static page."""
ATTRIBUTES = {
    *("lang", "charset", "name", "content", "http-equiv", "id", "class", "role", "tabindex"),
    *("scope", "open", "aria-label", "aria-labelledby", "aria-describedby", "aria-hidden"),
    *("width", "height", "viewbox", "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r"),
    *("text-anchor", "stroke-width", "fill-opacity", "transform", "d", "fill", "stroke"),
    *("patternunits", "form"),
    *("data-step", "data-given", "data-head", "data-row", "data-column", "data-of"),
    *("data-weights", "data-output", "data-input"),
}


@dataclass
class Element:
    """An element: what it is called, its attributes, and its content in order."""

    tag: str
    attributes: dict[str, str | None]
    inside: list["Element | str"] = field(default_factory=list)

    def all(self, tag: str = "", **wanted: str) -> Iterator["Element"]:
        """Yield the elements of a kind within, with the given attributes."""
        for each in self.inside:
            if isinstance(each, Element):
                named = {
                    name.rstrip("_").replace("_", "-"): value for name, value in wanted.items()
                }
                if tag in ("", each.tag) and named.items() <= each.attributes.items():
                    yield each
                yield from each.all(tag, **wanted)

    def one(self, tag: str = "", **wanted: str) -> "Element":
        (only,) = self.all(tag, **wanted)
        return only

    @property
    def text(self) -> str:
        return "".join(each if isinstance(each, str) else each.text for each in self.inside)

    @property
    def words(self) -> str:
        """Its text, with blanks between child elements."""
        return " ".join(each if isinstance(each, str) else each.words for each in self.inside)

    def get(self, name: str) -> str:
        return self.attributes[name] or ""


class Strict(HTMLParser):
    """Reads a page, and refuses what a browser would have to repair."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(set(names)) == len(names), f"<{tag}> has an attribute twice: {names}"
        made = Element(tag, dict(attrs))
        self.open[-1].inside.append(made)
        if tag not in VOID:
            self.open.append(made)

    def handle_endtag(self, tag: str) -> None:
        assert tag not in VOID
        assert self.open[-1].tag == tag, f"</{tag}> ends <{self.open[-1].tag}>"
        self.open.pop()

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        raise AssertionError(f"<{tag}/> is XML")

    def handle_data(self, data: str) -> None:
        self.open[-1].inside.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def handle_decl(self, decl: str) -> None:
        assert decl == "DOCTYPE html"

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(f"a declaration: {data}")

    handle_pi = unknown_decl


def read_page(page: str, *, is_live: bool = False) -> Element:
    """Return a page as its element <html>, and check what holds of every page."""
    assert page.startswith("<!DOCTYPE html>\n")
    assert page.endswith("</html>\n")
    reader = Strict()
    reader.feed(page)
    reader.close()
    assert reader.open == [reader.root]
    html = reader.root.one("html")
    every = [html, *html.all()]
    is_live = is_live or any(each.get("id") == "problem" for each in html.all("script"))
    assert {each.tag for each in every} <= ELEMENTS | ({"script"} if is_live else set())
    found = {name for each in every for name in each.attributes}
    assert found <= ATTRIBUTES | ({"type"} if is_live else set())
    names = [each.get("id") for each in every if "id" in each.attributes]
    assert len(set(names)) == len(names), "a name stands twice"
    assert all(name and not re.search(r"\s", name) for name in names)
    for each in every:
        for said in ("aria-labelledby", "aria-describedby"):
            assert said not in each.attributes or each.get(said) in names
    levels = [int(each.tag[1]) for each in every if re.fullmatch("h[1-6]", each.tag)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert len(list(html.all("main"))) == 1
    return html


def number_of(cell: Element) -> str:
    """Return what a cell shows as JSON has it, without the sign of what it hides."""
    return cell.text.removesuffix("†").replace("-∞", "-inf")


def matrix_of(table: Element) -> list[list[str]]:
    """Return the numbers of a table, row by row, and check that each has its place."""
    rows = []
    body = table.one("tbody")
    for i, row in enumerate(body.all("tr"), start=1):
        cells = list(row.all("td"))
        for j, cell in enumerate(cells, start=1):
            assert (cell.get("data-row"), cell.get("data-column")) == (str(i), str(j))
            assert cell.get("id").endswith(f"-{i}-{j}")
        rows.append([number_of(cell) for cell in cells])
        assert row.one("th").get("scope") == "row"
    heads = [each.get("scope") for each in table.one("thead").all("th")]
    assert heads == ["col"] * len(rows[0])
    return rows
