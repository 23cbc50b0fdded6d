"""Elements of HTML, and the one place where text becomes part of them."""

import html
from collections.abc import Iterable
from typing import Any

from attncalc.base.text import harmless

_FENCE = "\u200e"
"""Keeps the numbers next to right-to-left words in order; it is not visible."""
_EMPTY = frozenset({"br", "link", "meta"})
"""Elements without an end."""


class Html(str):
    """Text that is HTML already. All other text is escaped: see `escaped`."""

    __slots__ = ()


LINE = Html("\n")


def escaped(content: object) -> Html:
    r"""Return content as HTML: HTML is unchanged, other text is escaped.

    >>> escaped("</script>\0"), escaped(Html("<b>1</b>"))
    ('&lt;/script&gt;', '<b>1</b>')
    """
    if isinstance(content, Html):
        return content
    seen = _FENCE.join(map(harmless, str(content).split(_FENCE)))
    return Html(html.escape(seen))


def joined(content: Iterable[object], between: str = "") -> Html:
    """Return contents one after another."""
    return Html(between.join(map(escaped, content)))


def element(tag: str, /, *content: object, **attributes: Any) -> Html:
    """Return an element; attributes of Python's own names end in an underscore.

    **attributes: by name, as `data_row` for data-row; None and False leave one out, True needs no
        value.

    >>> element("td", "a<b", class_="most", data_row=1, hidden=False)
    '<td class="most" data-row="1">a&lt;b</td>'
    """
    given = "".join(_attribute(*each) for each in attributes.items())
    end = "" if tag in _EMPTY else f"</{tag}>"
    return Html(f"<{tag}{given}>{''.join(map(escaped, content))}{end}")


def within_attribute(page: str) -> Html:
    """Return a page as the value of an attribute, with its line breaks.

    >>> within_attribute('<p class="a">1</p>')
    '&lt;p class=&quot;a&quot;&gt;1&lt;/p&gt;'
    """
    return Html(html.escape(page))


def _attribute(name: str, value: Any) -> str:
    if value is None or value is False:
        return ""
    name = name.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escaped(value)}"'


def id_of(prefix: str, name: str, *place: int, head: int = 0) -> str:
    """Return the id of an element of a matrix: S-1-2, or S-h1-1-2 for a head.

    >>> id_of("", "S_scaled", 1, 2), id_of("d2-", "A", 3, 1, head=2)
    ('S_scaled-1-2', 'd2-A-h2-3-1')
    """
    return prefix + "-".join([name, *([f"h{head}"] if head else []), *map(str, place)])
