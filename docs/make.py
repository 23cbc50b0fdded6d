"""Update the outputs in the documentation: `python docs/make.py`, for all or some pages.

It updates outputs and pictures of pages, tables of fields, and outputs of notebooks.
`python docs/make.py site FOLDER` builds the site, and fails on any warning.
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent))

from tools.fields import with_tables  # noqa: E402 - the path comes first
from tools.notebooks import executed  # noqa: E402
from tools.pages import renewed  # noqa: E402
from tools.pictures import drawn_by, same  # noqa: E402

WITH_OUTPUTS = sorted(
    path
    for path in (*HERE.glob("*.md"), *(HERE / "examples").glob("*.md"))
    if "\n```text\n" in path.read_text(encoding="utf-8") and path.name != "key.md"
)
"""Pages with outputs of commands."""
FIELDS = (HERE / "fields.md", HERE / "layers.md")
NOTEBOOKS = sorted((HERE / "notebooks").glob("*.ipynb"))


def main() -> None:
    """Update the pages named on the command line, or build the site."""
    if sys.argv[1:2] == ["site"]:
        build(Path(sys.argv[2]))
        return
    for page in FIELDS:
        page.write_text(with_tables(page.read_text(encoding="utf-8")), encoding="utf-8")
    named = sys.argv[1:]
    for page in WITH_OUTPUTS:
        if not named or page.name in named:
            print(page.name)
            renew(page)
    for notebook in NOTEBOOKS:
        if not named or notebook.name in named:
            print(notebook.name)
            notebook.write_text(executed(notebook), encoding="utf-8")


def renew(page: Path) -> None:
    """Update a page and its pictures; equivalent pictures are not rewritten."""
    made = renewed(page)
    page.write_text(made.text, encoding="utf-8")
    for place, picture in made.pictures.items():
        place.parent.mkdir(exist_ok=True)
        if not (place.exists() and same(place, picture)) or drawn_by(place) != drawn_by(picture):
            place.write_bytes(picture)


def build(folder: Path) -> None:
    """Build the site, and fail on any warning of Sphinx."""
    from sphinx.cmd.build import build_main

    code = build_main(["-W", "--keep-going", "-q", "-b", "html", str(HERE), str(folder)])
    if code:
        raise SystemExit(code)


if __name__ == "__main__":
    main()
