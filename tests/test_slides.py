"""Slides: each number is one of the written-out work, in every form."""

import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from itertools import groupby, pairwise
from pathlib import Path

import pytest
from browser import Browser, needs_chromium
from conftest import BUNDLED, mostly_slow

from attncalc.base.errors import InputError
from attncalc.cli.commands.problem import read_problem
from attncalc.cli.commands.slides import slides
from attncalc.solving.solution import solve
from attncalc.solving.work import Work
from attncalc.writing.document import Section
from attncalc.writing.page import Contents, make_page
from attncalc.writing.prose import line_in_text
from attncalc.writing.slides import beamer, deck, files_of, lines_of, slides_of

NAMES = ("self", "cross", "heads", "columns", "causal", "gpt", "decoder", "equations/lstm")


def written(place: Path, name: str, **flags: object) -> Path:
    """Write slides with their command, and return the place."""
    slides({"file": str(BUNDLED / f"{name}.json"), "entry": [], "out": str(place), **flags})
    return place


def texts(svg: str) -> list[str]:
    """Return the texts of a picture."""
    return ["".join(each.itertext()) for each in ET.fromstring(svg).iter() if is_text(each)]


def is_text(each: ET.Element) -> bool:
    return each.tag.rpartition("}")[2] == "text"


@pytest.mark.parametrize("name", mostly_slow(NAMES, 3))
def test_slides_have_the_lines_and_the_matrices_of_the_work(name: str) -> None:
    solution = solve(read_problem(BUNDLED / f"{name}.json"))
    page = make_page(solution, Contents(solution.plan))
    found = list(slides_of(page, {}))
    work = Work(solution)
    for section in (part for part in page.parts if isinstance(part, Section)):
        step = section.step
        line = work.line(step.name, (0,) * len(solution.shape_of(step.name)))
        of_step = [each for each in found if each.entry and each.entry.name == step.name]
        assert " ".join(of_step[-1].lines).split() == line_in_text(line).split()
        for before, after in pairwise(of_step):
            assert after.lines[: len(before.lines)] == before.lines
        read = {entry.name for entry in of_step[-1].lit}
        assert read <= {*step.inputs, *step.rows_of}
        last = [each for each in found if each.grids and each.grids[-1].name == step.name][-1]
        assert last.is_filled
        assert last.entry is None


def test_a_folder_has_a_picture_of_each_idea(tmp_path: Path) -> None:
    place = written(tmp_path / "pictures", "self", entry=["A[3,2]"])
    files = sorted(place.iterdir())
    assert files[0].name == "slide-01.svg"
    solution = solve(read_problem(BUNDLED / "self.json"))
    every = [texts(each.read_text("utf-8")) for each in files]
    line = [*lines_of(Work(solution).line("A", (2, 1)))]
    assert any(set(line) <= set(each) for each in every)
    for step in solution.plan:
        digits = [text for row in solution.shown(step.name) for text in row]
        assert any(each[0].startswith(f"{step.name} = ") and has(each, digits) for each in every)


def has(all_of: list[str], digits: list[str]) -> bool:
    """Whether digits are among texts, as often as they occur."""
    plain = [each.rstrip("†") for each in all_of]
    return all(plain.count(text) >= len([*same]) for text, same in groupby(sorted(digits)))


@pytest.mark.slow
def test_slides_are_in_the_language_of_the_problem(tmp_path: Path) -> None:
    problem = read_problem(BUNDLED / "heads.json", language="de", causal=True)
    page = make_page(solution := solve(problem), Contents(solution.plan))
    shown = texts(next(files_of([slide for slide in slides_of(page, {}) if slide.shares])))
    assert "→ A, Kopf 1" in shown
    assert any(re.fullmatch(r"0,\d\d†?", each) for each in shown)
    assert not [each for each in shown if re.search(r"\d\.\d", each)]
    assert next(slide.shares[0][1] for slide in slides_of(page, {}) if slide.shares) > 0
    deck_of, latex = deck([*slides_of(page, {})], page), beamer(page, {})
    assert '<html lang="de">' in deck_of
    for text in (deck_of, latex):
        assert "Worauf jede Ausgabe achtet, Kopf 1" in text
        assert not re.search("Output|Inputs|, head |, else|most input|Given", text)


def test_an_animated_picture_shows_every_slide_once(tmp_path: Path) -> None:
    root = ET.fromstring(written(tmp_path / "talk.svg", "self").read_text("utf-8"))
    changes = [each for each in root.iter() if each.tag.endswith("animate")]
    times = [change.attrib["keyTimes"].split(";") for change in changes]
    assert len(times) > 20
    assert all(one[2] == other[1] for one, other in pairwise(times))


def test_names_of_tokens_are_data(tmp_path: Path) -> None:
    given = tmp_path / "in.json"
    hostile = "</svg><script>alert(1)</script>"
    given.write_text(
        '{"X": [[1, 2]], "W_Q": [[1], [1]], "W_K": [[1], [0]], "W_V": [[1], [2]], '
        f'"labels": ["{hostile}"]}}'
    )
    for name in ("talk.html", "talk.svg", "talk.tex"):
        slides({"file": str(given), "entry": [], "out": str(tmp_path / name)})
        text = (tmp_path / name).read_text("utf-8")
        assert "<script>alert" not in text
    ET.fromstring((tmp_path / "talk.svg").read_text("utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("flags", "problem"),
    [
        ({"out": "talk.pptx"}, "slides end in .html, .tex (beamer) or .svg (animated)"),
        ({"out": "talk.html", "entry": ["B[1,1]"]}, "is not an entry"),
        ({"out": "talk.html", "entry": ["A", "S", "O"], "file": "long"}, "are the most"),
    ],
)
def test_what_cannot_be_is_refused(flags: dict[str, object], problem: str, tmp_path: Path) -> None:
    given = BUNDLED / "self.json"
    if flags.pop("file", None):
        given = tmp_path / "long.json"
        row = "[1, 0]"
        matrix = f"[{', '.join([row] * 12)}]"
        given.write_text(f'{{"Q": {matrix}, "K": {matrix}, "V": {matrix}}}')
    with pytest.raises(InputError) as error:
        slides({"file": str(given), "entry": [], **flags, "out": str(tmp_path / str(flags["out"]))})
    assert problem in str(error.value)
    assert not list(tmp_path.glob("talk*"))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)  # long equations of users may be too wide
def test_latex_has_the_work_and_can_be_typeset(name: str, tmp_path: Path) -> None:
    place = written(tmp_path / "talk.tex", name)
    text = place.read_text("utf-8")
    solution = solve(read_problem(BUNDLED / f"{name}.json"))
    for step in solution.plan:
        for row in solution.shown(step.name) if len(solution.shape_of(step.name)) == 2 else ():
            assert all(digits in text or digits == "-inf" for digits in row)
    program = shutil.which("pdflatex")
    if program is None or subprocess.run(["kpsewhich", "beamer.cls"], check=False).returncode:
        pytest.skip("there is no LaTeX with beamer")
    done = subprocess.run(
        [program, "-interaction=nonstopmode", "-halt-on-error", place.name],
        cwd=tmp_path, capture_output=True, text=True, errors="replace", check=False,
    )  # fmt: skip
    assert not done.returncode, done.stdout[-2000:]
    assert name.startswith("eq") or not re.findall(r"Overfull \\hbox \((\d\d+)", done.stdout)


@pytest.mark.slow
@needs_chromium
def test_keys_go_from_slide_to_slide(tmp_path: Path) -> None:
    browser = Browser()
    try:
        browser.open(written(tmp_path / "talk.html", "self"))
        press = "document.dispatchEvent(new KeyboardEvent('keydown', {key: '%s'}))"
        shown = "[...document.querySelectorAll('section')].findIndex((x) => x.offsetHeight) + 1"
        count = browser.run("document.querySelectorAll('section').length")
        for key, where in (("ArrowRight", 2), ("PageDown", 3), ("ArrowLeft", 2), ("End", count)):
            browser.run(press % key)
            assert browser.run(shown) == where
        assert browser.run("location.hash") == f"#{count}"
        assert not browser.failed
        assert len(browser.asked) == 1
    finally:
        browser.close()
