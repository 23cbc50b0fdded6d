"""What Sphinx does for this site alone: pages made from declarations, notebooks, MathML."""

import re
import shutil
from pathlib import Path

from sphinx.application import Sphinx

from tools import accessible, api, flags, gallery, json_keys, mathml
from tools.notebook_pages import NotebookParser

DOCS = Path(__file__).parent.parent
CHANGES = DOCS.parent / "CHANGELOG.md"
REFERENCE, GALLERY = DOCS / "reference", DOCS / "gallery"
"""Made whenever the site is built, and kept nowhere."""
OUTSIDE = r"\[([^]]+)\]\({}[A-Z]+\.md[^)]*\)"
"""A link to a page of the repository that is none of the site."""

LISTED = re.compile(r"^<!-- pages(?: (?P<caption>[^\n]+))?\n(?P<names>.*?)^-->$", re.M | re.S)
"""What stands beside each page. A comment: where there is no Sphinx, a block would show as code."""


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx."""
    app.add_source_suffix(".ipynb", "ipynb")
    app.add_source_parser(NotebookParser)
    mathml.setup(app)
    accessible.setup(app)
    app.connect("builder-inited", make)
    app.connect("source-read", show)
    app.connect("build-finished", copy)
    return {"parallel_read_safe": True}


def make(_: Sphinx) -> None:
    """Make the pages that come from declarations."""
    shutil.rmtree(REFERENCE, ignore_errors=True)
    REFERENCE.mkdir()
    pages = {
        "commands.md": flags.page,
        "api.md": api.page,
        "json.md": json_keys.page,
        "changelog.md": changes,
    }
    for name, text in pages.items():
        (REFERENCE / name).write_text(text(), encoding="utf-8")


def copy(app: Sphinx, failed: Exception | None) -> None:
    """Copy the pages that the gallery leads to, as they are."""
    if not failed and (GALLERY / "pages").exists():
        shutil.copytree(GALLERY / "pages", app.outdir / gallery.PAGES, dirs_exist_ok=True)


def changes() -> str:
    """Return the changelog, whose links lead to pages of the site, and nowhere else."""
    text = CHANGES.read_text(encoding="utf-8").replace("](docs/", "](../")
    return re.sub(OUTSIDE.format(""), r"\1", text)


def show(_: Sphinx, name: str, source: list[str]) -> None:
    """Put what its commands make into the gallery, and no page out of reach."""
    text = source[0].replace("](../CHANGELOG.md", "](reference/changelog.md")
    source[0] = re.sub(OUTSIDE.format(r"\.\./"), r"\1", text)
    if name == "gallery":
        shutil.rmtree(GALLERY, ignore_errors=True)
        source[0] = gallery.with_results(source[0], GALLERY)
    elif name == "index":
        source[0] = LISTED.sub(as_toctree, with_all_pages(source[0]))


def as_toctree(found: re.Match[str]) -> str:
    """Return a list of pages as Sphinx takes it."""
    caption = f":caption: {found['caption']}\n" if found["caption"] else ""
    return f"```{{toctree}}\n:hidden:\n{caption}\n{found['names']}```"


def with_all_pages(index: str) -> str:
    """Return the index with each page that it does not list, behind the others of the reference."""
    listed = re.findall(r"^(?:.*<)?([\w/-]+)>?$", index, flags=re.MULTILINE)
    others = [page.stem for page in sorted(DOCS.glob("*.md"))]
    further = "".join(f"{name}\n" for name in others if name not in [*listed, "index"])
    return index.replace("exit-codes\n", f"exit-codes\n{further}")
