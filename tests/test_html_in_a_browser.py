"""Pages of HTML in headless Chromium: nothing is cut on a phone, nothing is loaded, axe-core.

Skipped where there is no Chromium; axe-core comes with `pip install axe-playwright-python`.
"""

import html
import importlib.util
import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from attncalc import Problem, check, read_problem, solve
from attncalc.api.studies import vary
from attncalc.problem.samples import sample
from attncalc.reading.answers import answers_in
from attncalc.writing.html.page import write_html
from attncalc.writing.reports.many import Marked, answers_document

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
AXE = importlib.util.find_spec("axe_playwright_python")
LIGHT, DARK = (f"--blink-settings=preferredColorScheme={number}" for number in (1, 0))
PHONE = 320
"""Pixels of a small phone, and of a usual screen at 400 %."""
LONG = ["a name that is longer than any phone is wide, and then some", "short", "x" * 70]
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
LOADED = '<script src="axe.js"></script>'
FOR_AXE = ("work", "worksheet", "heads", "long names", "marking", "study")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CHROMIUM, reason="Chromium is not installed"),
]


def pages() -> dict[str, str]:
    """Return pages of every kind."""
    name = str(sample("self").path)
    problem = read_problem(name)
    answer = {"Q": [[1, 3], [-1, 1], ["2.5", 2]], "S": [["x", 1, 2]] * 3}
    long = Problem(
        X=np.eye(3), W_Q=np.eye(3), W_K=np.eye(3), W_V=np.eye(3), labels=LONG, title=LONG[2]
    )
    marked = [
        Marked(str(path), check(name, path)) for path in answers_in(sample("answers").path) or ()
    ]
    return {
        "key": solve(problem).to_html(),
        "work": solve(problem).to_html(work=True),
        "sentence": solve(read_problem(sample("sentence").path)).to_html(work=True),
        "worksheet": solve(problem).to_html(blank=True),
        "encoder": solve(read_problem(sample("encoder").path)).to_html(work=True),
        "heads": solve(read_problem(sample("heads").path)).to_html(),
        "long names": solve(long).to_html(),
        "marking": check(name, answer).to_html(),
        "class": write_html(answers_document(marked)),
        "study": vary(problem, "scale=0.1:10:log").to_html(),
    }


def asked(
    folder: Path, script: str, pages: dict[str, str], width: int = PHONE, paper: str = LIGHT
) -> dict[str, object]:
    """Return what a script says of each page, shown in a frame of this width."""
    frames = ""
    for number, page in enumerate(pages.values()):
        # all of it, without the policy that keeps a style as it is
        seen = POLICY.sub(LOADED, page).replace("content-visibility: auto", "")
        (folder / f"{number}.html").write_text(seen, encoding="utf-8")
        frames += f'<iframe src="{number}.html" style="width:{width}px;height:900px;border:0">'
        frames += "</iframe>"
    around = f"""<!DOCTYPE html><body>{frames}<script>
      const ask = async frame => {{ {script} }};
      onload = async () => {{
        const found = [];
        for (const frame of document.querySelectorAll("iframe")) found.push(await ask(frame));
        const said = document.createElement("pre");
        said.id = "said"; said.textContent = JSON.stringify(found);
        document.body.replaceChildren(said);
      }};
    </script>"""
    (folder / "around.html").write_text(around, encoding="utf-8")
    budget, place = "--virtual-time-budget=60000", f"file://{folder}/around.html"
    dumped = chromium("--dump-dom", budget, paper, place)
    (said,) = re.findall(r'<pre id="said">(.*?)</pre>', dumped, re.DOTALL)
    return dict(zip(pages, json.loads(html.unescape(said)), strict=True))


def chromium(*arguments: str) -> str:
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files"]
    done = subprocess.run(
        [CHROMIUM, *flags, *arguments], capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout


def test_nothing_is_cut_on_a_phone(tmp_path: Path) -> None:
    """The page never scrolls sideways: what is wide has a room of its own that does."""
    script = """
      const page = frame.contentDocument, root = page.documentElement;
      const beyond = [...page.querySelectorAll("body *")].filter(each =>
        !each.closest(".wide, .unseen, math") &&
        each.getBoundingClientRect().right > root.clientWidth + 1);
      return [root.scrollWidth - root.clientWidth, beyond.map(each => each.outerHTML.slice(0, 80))];
    """
    assert asked(tmp_path, script, pages()) == {name: [0, []] for name in pages()}


def test_scrolling_parts_can_be_reached_by_keys(tmp_path: Path) -> None:
    script = """
      const page = frame.contentDocument;
      return [...page.querySelectorAll("body *")].filter(each =>
        each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 1 &&
        ["auto", "scroll"].includes(frame.contentWindow.getComputedStyle(each).overflowX) &&
        each.tabIndex < 0).map(each => each.outerHTML.slice(0, 80));
    """
    assert asked(tmp_path, script, pages()) == {name: [] for name in pages()}


def test_a_page_needs_no_network(tmp_path: Path) -> None:
    script = """
      const loaded = frame.contentWindow.performance.getEntriesByType("resource");
      return loaded.map(each => each.name).filter(name => !name.endsWith("axe.js"));
    """
    assert asked(tmp_path, script, pages()) == {name: [] for name in pages()}


@pytest.mark.skipif(AXE is None, reason="axe-playwright-python, which brings axe-core, is not here")
@pytest.mark.parametrize(("width", "paper"), [(PHONE, LIGHT), (1280, DARK)])
def test_axe_finds_no_violation(tmp_path: Path, width: int, paper: str) -> None:
    assert AXE is not None
    assert AXE.submodule_search_locations
    axe = (Path(AXE.submodule_search_locations[0]) / "axe.min.js").read_text(encoding="utf-8")
    (tmp_path / "axe.js").write_text(axe, encoding="utf-8")
    few = {name: page for name, page in pages().items() if name in FOR_AXE}
    script = """
      const found = await frame.contentWindow.axe.run(frame.contentDocument);
      return [found.passes.length > 5, found.violations.map(
        each => [each.id, each.nodes.length, each.nodes[0].html.slice(0, 200),
                 each.nodes[0].failureSummary])];
    """
    assert asked(tmp_path, script, few, width, paper) == {name: [True, []] for name in FOR_AXE}


@pytest.mark.parametrize("paper", ["A4", "letter"])
def test_a_key_prints_on_few_pages(tmp_path: Path, paper: str) -> None:
    for name, most in (("key", 3), ("worksheet", 4)):
        page = pages()[name].replace("@page { ", f"@page {{ size: {paper}; ")
        (tmp_path / "page.html").write_text(page, encoding="utf-8")
        where = f"--print-to-pdf={tmp_path}/page.pdf"
        chromium(where, "--no-pdf-header-footer", f"file://{tmp_path}/page.html")
        printed = (tmp_path / "page.pdf").read_bytes()
        assert 1 <= len(re.findall(rb"/Type\s*/Page\b(?!s)", printed)) <= most
