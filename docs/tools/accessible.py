"""Adds the keyboard and screen-reader support that the theme lacks."""

import re
from pathlib import Path

from sphinx.application import Sphinx

REPLACED = {
    # scrolling areas can be focused by keyboard
    r"<pre>": '<pre tabindex="0">',
    r'<div class="table-wrapper([^"]*)">': r'<div class="table-wrapper\1" tabindex="0">',
    # headings have a level, and landmarks a label
    r'(<p class="caption" role="heading")>': r'\1 aria-level="2">',
    r'<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="Site">',
    r'(<aside class="toc-drawer[^"]*")>': r'\1 aria-label="On this page">',
    # Sphinx's own dashes; those of commands are unchanged
    r"(</strong>(?:</a>)?) -- ": r"\1 – ",
    # the corner of a table is not a heading
    r'<th class="head"><p></p></th>': '<td class="head"></td>',
    r'<div id="search-results"></div>': '<h1>Search</h1>\n<div id="search-results"></div>',
}


def setup(app: Sphinx) -> None:
    """Register `fix`."""
    app.connect("build-finished", fix)


def fix(app: Sphinx, failed: Exception | None) -> None:
    """Fix the pages of the theme, but not those that attncalc made for the gallery."""
    if failed or app.builder.format != "html":
        return
    folder = Path(app.outdir)
    for page in folder.rglob("*.html"):
        if "pages" not in page.relative_to(folder).parts and "_static" not in page.parts:
            text = page.read_text(encoding="utf-8")
            for given, better in REPLACED.items():
                text = re.sub(given, better, text)
            page.write_text(text, encoding="utf-8")
