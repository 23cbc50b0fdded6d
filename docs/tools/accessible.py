"""Mends what the theme leaves out for those who read by keyboard or by ear."""

import re
from pathlib import Path

from sphinx.application import Sphinx

MENDED = {
    # what scrolls can be reached by keys
    r"<pre>": '<pre tabindex="0">',
    r'<div class="table-wrapper([^"]*)">': r'<div class="table-wrapper\1" tabindex="0">',
    # headings have a level, and landmarks a name
    r'(<p class="caption" role="heading")>': r'\1 aria-level="2">',
    r'<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="Site">',
    r'(<aside class="toc-drawer[^"]*")>': r'\1 aria-label="On this page">',
    # dashes of Sphinx's own, where those of commands stay as they are
    r"(</strong>(?:</a>)?) -- ": r"\1 – ",
    # a corner of a table is no heading
    r'<th class="head"><p></p></th>': '<td class="head"></td>',
    r'<div id="search-results"></div>': '<h1>Search</h1>\n<div id="search-results"></div>',
}


def setup(app: Sphinx) -> None:
    """Mend each page once all are written."""
    app.connect("build-finished", mend)


def mend(app: Sphinx, failed: Exception | None) -> None:
    """Mend the pages of the theme; those of the gallery are attncalc's own."""
    if failed or app.builder.format != "html":
        return
    folder = Path(app.outdir)
    for page in folder.rglob("*.html"):
        if "pages" not in page.relative_to(folder).parts and "_static" not in page.parts:
            text = page.read_text(encoding="utf-8")
            for given, better in MENDED.items():
                text = re.sub(given, better, text)
            page.write_text(text, encoding="utf-8")
