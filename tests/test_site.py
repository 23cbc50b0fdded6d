"""The documentation site is up to date: outputs, pictures, tables and notebooks.

The site needs `pip install '.[docs]'`, and interaction needs Chromium; tests are skipped without
them. With `SITE_PAGES=all`, axe-core checks every page at three widths.
"""

import difflib
import html
import importlib.util
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from browser import Browser, needs_chromium
from conftest import ROOT
from PIL import Image

sys.path.insert(0, str(ROOT / "docs"))

import make
import make_pictures
from tools.fields import with_tables
from tools.notebooks import as_kept, executed
from tools.pages import renewed
from tools.pictures import drawn_by, same, small
from tools.running import door

from attncalc.cli.commands.playground import playground

AXE = importlib.util.find_spec("axe_playwright_python")
WIDTHS = (320, 768, 1400)
FOR_AXE = ("index.html", "student.html", "fields.html", "notebooks/student.html", "search.html")
FIRST_FOUND = {
    "backprop": "gradients.html", "grade": "check.html", "marking%20scheme": "check.html",
    "rubric": "check.html",
}  # fmt: skip
"""Words that people search, and the first page that should appear."""
needs_sphinx = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("sphinx", "furo", "myst_parser")),
    reason="Sphinx is not installed: pip install 'attncalc[docs]'",
)
ALL_PAGES = [path for kind in ("*.md", "examples/*.md", "notebooks/*.ipynb")
             for path in make.HERE.glob(kind)]  # fmt: skip
PAGES = [path.relative_to(make.HERE).as_posix() for path in make.WITH_OUTPUTS]


@pytest.mark.parametrize("place", make.FIELDS, ids=lambda place: place.name)
def test_the_pages_of_fields_are_made_from_the_declarations(place: Path) -> None:
    page = place.read_text(encoding="utf-8")
    assert with_tables(page) == page, "python docs/make.py updates it"


def test_a_new_field_gets_a_row_and_other_rows_are_kept() -> None:
    table = (
        "<!-- settings: PatchFields -->\n\n| a |\n|---|\n| `patch` | x | x | kept |\n| `gone` | |\n"
    )
    rows = with_tables(table).splitlines()[4:]
    assert [row.split("|")[1].strip() for row in rows] == ["`patch`", "`channels`"]
    assert [row.split("|")[-2].strip() for row in rows] == ["kept", ""]


def test_the_page_of_exit_codes_has_those_that_are_promised() -> None:
    listed, promised = (
        (make.HERE / name).read_text(encoding="utf-8") for name in ("exit-codes.md", "promises.md")
    )
    (row,) = re.findall(r"^\| exit codes \|(.*)$", promised, re.MULTILINE)
    assert set(re.findall(r"^\| (\d+) \|", listed, re.MULTILINE)) == set(
        re.findall(r"`(\d+)`", row)
    )


@pytest.mark.slow
@needs_sphinx
def test_the_index_reads_well_where_no_site_is_made_of_it() -> None:
    from tools import site as building

    index = (make.HERE / "index.md").read_text(encoding="utf-8")
    linked = set(re.findall(r"\]\(([^)]+\.(?:md|ipynb))\)", index))
    pages = {path.relative_to(make.HERE).as_posix() for path in ALL_PAGES}
    assert linked == pages - {"index.md"}
    assert "```" not in index
    assert "```{toctree}" in building.LISTED.sub(building.as_toctree, index)


def test_the_output_after_a_command_is_current(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```sh\necho new\n```\n\n```text\nold\n```\n\n```text\nleft\n```\n")
    assert renewed(page).text == page.read_text().replace("old", "new")


def test_a_wrong_exit_code_of_a_command_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- ends with 1 -->\n```sh\nfalse\n```\n")
    renewed(page)
    page.write_text("```sh\nfalse\n```\n")
    with pytest.raises(RuntimeError, match="ended with 1, not 0"):
        renewed(page)


def test_a_picture_with_one_more_digit_is_another(tmp_path: Path) -> None:
    places = [tmp_path / f"{number}.png" for number in range(3)]
    for place, ink in zip(places, ((), (), (10, 10, 18, 22)), strict=True):
        picture = Image.new("RGB", (200, 150), "white")
        picture.paste("black", ink) if ink else None
        picture.save(place)
    assert same(places[0], small(places[1]))
    assert not same(places[0], small(places[2]))


def test_a_notebook_is_the_same_wherever_its_prints_were_cut() -> None:
    def kept(*pieces: list[str]) -> str:
        outputs = [{"output_type": "stream", "name": "stdout", "text": piece} for piece in pieces]
        said = {"output_type": "stream", "name": "stderr", "text": ["building the font cache\n"]}
        cell = {"cell_type": "code", "outputs": [outputs[0], said, *outputs[1:]]}
        return as_kept({"cells": [cell]})

    assert kept(["one\n", "tw"], ["o\n"], ["three"]) == kept(["one\n", "two\n", "three"])


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_a_page_shows_current_outputs_and_pictures(name: str) -> None:
    page = make.HERE / name
    made = renewed(page)
    assert page.read_text(encoding="utf-8") == made.text, f"python docs/make.py {page.name}"
    for place, picture in made.pictures.items():
        assert place.stat().st_size < 100_000
        if drawn_by(place) == drawn_by(picture):  # another matplotlib draws other points
            assert same(place, picture), place.name


@pytest.mark.slow
@pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("nbclient", "ipykernel")),
    reason="nbclient is not installed: pip install 'attncalc[docs]'",
)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("notebook", make.NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_shows_current_outputs(notebook: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    kept, fresh = notebook.read_text(encoding="utf-8"), executed(notebook)
    old, new = (without_pictures(each).splitlines() for each in (kept, fresh))
    differences = list(difflib.unified_diff(old, new, "kept", "fresh", n=0, lineterm=""))
    assert not differences, f"python docs/make.py {notebook.name}"
    assert '"execution_count": 1' not in kept
    assert "/tmp" not in kept


def without_pictures(notebook: str) -> str:
    return re.sub(r'"image/png": ".*?"', '"image/png": ""', notebook)


@pytest.mark.slow
def test_the_playground_is_current(tmp_path: Path) -> None:
    playground({"file": None, "out": str(tmp_path / "page.html")})
    made, shipped = tmp_path / "page.html", ROOT / "docs" / "playground.html"
    assert made.read_bytes() == shipped.read_bytes(), "run docs/make_pictures.py"


@pytest.mark.slow
def test_the_pictures_of_the_readme_are_current(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setattr(make_pictures, "HERE", tmp_path)
    monkeypatch.setattr(make_pictures, "COMMAND", door(tmp_path) / "attncalc")
    make_pictures.draw_terminal(["cross", "--only", "S,A,O"], tmp_path / "cross.svg")
    subprocess.run([make_pictures.COMMAND, "plot", "-o", tmp_path / "self-map.png"], check=True)
    make_pictures.draw_patches()
    make_pictures.draw_studies()
    drawn = (tmp_path / "cross.svg").read_text(encoding="utf-8")
    assert words_in(drawn) == words_in((make.HERE / "cross.svg").read_text(encoding="utf-8"))
    for name in ("self-map.png", "vit.png", "long-key.png", "two-queries.png"):
        if drawn_by(tmp_path / name) == drawn_by(make.HERE / name):
            assert same(tmp_path / name, make.HERE / name), f"python docs/make_pictures.py: {name}"


def words_in(svg: str) -> str:
    return "\n".join(re.findall(r"<text[^>]*>(.*?)</text>", svg))


# -- the site ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the site, built once for all workers."""
    shared = tmp_path_factory.getbasetemp()
    shared = shared.parent if "PYTEST_XDIST_WORKER" in os.environ else shared
    folder, ready = shared / "site", shared / "site-is-built"
    try:
        folder.mkdir()
    except FileExistsError:
        until = time.monotonic() + 240
        while not ready.exists() and time.monotonic() < until:
            time.sleep(0.2)
    else:
        run_make("site", str(folder))
        ready.touch()
    assert ready.exists(), "the site was not built"
    return folder


def run_make(*arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, str(make.HERE / "make.py"), *arguments],
        capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def pages_of(site: Path) -> list[Path]:
    """Return the pages of the theme, without those of the gallery."""
    return [
        path
        for path in sorted(site.rglob("*.html"))
        if not {"_static", "pages"} & set(path.relative_to(site).parts)
    ]


def places(page: Path) -> Iterator[str]:
    """Yield the targets of a page's links, pictures, styles and scripts."""
    text = page.read_text(encoding="utf-8")
    text = re.sub(r'srcdoc="[^"]*"', "", text)
    yield from map(html.unescape, re.findall(r'\s(?:href|src)="([^"]*)"', text))


@pytest.mark.slow
@needs_sphinx
def test_the_site_is_built_strictly_and_every_link_in_it_leads_somewhere(site: Path) -> None:
    assert len(pages_of(site)) > 30
    for page in pages_of(site):
        for place in places(page):
            if re.match(r"(https?|data|mailto):", place):
                continue
            path, _, name = place.partition("#")
            target = (page.parent / unquote(path.partition("?")[0])).resolve() if path else page
            assert target.exists(), (page.name, place)
            if name and target.suffix == ".html":
                text = target.read_text(encoding="utf-8")
                assert f'id="{unquote(name)}"' in text, (page.name, place)


@pytest.mark.slow
@needs_sphinx
def test_the_reference_has_every_flag_and_every_name(site: Path) -> None:
    import attncalc
    from attncalc.cli.flags.table import COMMANDS, flags_of

    def page(*names: str) -> str:
        paths = chain(*((site / "reference").glob(f"{name}.html") for name in names))
        return html.unescape("".join(path.read_text(encoding="utf-8") for path in paths))

    commands, api = page("commands/*", "flags"), page("api/*", "classes/*")
    for command in COMMANDS.values():
        for each in flags_of(command):
            for flag in "/".join(each.names).split("/"):
                assert not flag or f">{flag}<" in commands, flag
    for name in set(attncalc.__all__) - {"__version__"}:
        assert f'id="attncalc.{name}"' in api, name


@pytest.mark.slow
@needs_sphinx
@needs_chromium
def test_the_site_is_read_and_searched_without_a_network(site: Path) -> None:
    browser = Browser()
    try:
        for name in ("index.html", "fields.html", "gallery.html", "notebooks/student.html"):
            browser.open(site / name)
            assert not browser.failed, (name, browser.failed)
            assert not [url for url in browser.asked if not url.startswith(("file:", "data:"))]
            for width in WIDTHS:
                wide(browser, width)
                over = browser.run("document.documentElement.scrollWidth - innerWidth")
                assert over <= 0, (name, width)
        browser.open(site / "index.html")
        wide(browser, 1400)
        browser.press("/")  # leads to the field of search
        assert browser.run("document.activeElement.name") == "q"
        browser.open(site / "search.html", "?q=softcap")
        links = "[...document.querySelectorAll('#search-results li a')]"
        browser.until(f"{links}.length > 2")
        browser.until(f"{links}.some((a) => a.href.includes('fields.html'))")  # one after another
        assert browser.run("location.protocol") == "file:"
        for query, page in FIRST_FOUND.items():
            browser.open(site / "search.html", f"?q={query}")
            browser.until(f"{links}.length > 3")
            assert page in browser.run(f"{links}[0].href"), query
    finally:
        browser.close()


def wide(browser: Browser, width: int) -> None:
    browser.send(
        "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1,
        mobile=False,
    )  # fmt: skip


@pytest.mark.slow
@needs_sphinx
@needs_chromium
@pytest.mark.skipif(AXE is None, reason="axe-playwright-python, which brings axe-core, is not here")
def test_axe_finds_no_violation_in_the_site(site: Path) -> None:
    assert AXE is not None
    assert AXE.submodule_search_locations
    axe = (Path(AXE.submodule_search_locations[0]) / "axe.min.js").read_text(encoding="utf-8")
    thorough = os.environ.get("SITE_PAGES") == "all"
    pages = pages_of(site) if thorough else [site / name for name in FOR_AXE]
    browser, found = Browser(), {}
    try:
        for number, page in enumerate(pages):
            browser.open(page)
            browser.run(f"{axe};0")
            for width in WIDTHS if thorough else [WIDTHS[number % 3]]:
                wide(browser, width)
                said = json.loads(browser.run(VIOLATIONS))
                found |= {(page.name, width): said} if said else {}
    finally:
        browser.close()
    assert not found


VIOLATIONS = """axe.run(document, {resultTypes: ["violations"], preload: false}).then(found =>
  JSON.stringify(found.violations.map(each =>
    [each.id, each.nodes.length, each.nodes[0].html.slice(0, 200)])))"""
