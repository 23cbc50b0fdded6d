"""What a reader does with a live page, by mouse, keys and fingers, on screens of every width."""

import json
import time
from pathlib import Path
from random import Random

import pytest
from browser import Browser, needs_axe, needs_chromium
from test_live_page import HOSTILE, page_of, practice_of, press_button, quiet

from attncalc import check
from attncalc.problem.problem import Problem
from attncalc.problem.samples import sample
from attncalc.reading import read_problem
from attncalc.solving.plan import plan
from attncalc.solving.solution import solve
from attncalc.solving.work import Work
from attncalc.writing.live.made import write_page
from attncalc.writing.page import Contents, make_page
from attncalc.writing.prose import line_in_text

pytestmark = [needs_chromium, pytest.mark.slow]

PHONE, TABLET, DESK = 320, 768, 1400


@pytest.fixture
def key(tmp_path: Path) -> Path:
    return page_of(read_problem(sample("self").path), tmp_path / "page.html")


def of_many(tokens: int, place: Path) -> Path:
    """Write the page of many tokens, each with a name."""
    rng = Random(5)
    X = [[rng.randint(-9, 9) for _ in range(2)] for _ in range(tokens)]
    weights = [[1, 0], [0, 1]]
    labels = [f"token {number}" for number in range(tokens)]
    problem = Problem(
        X=X,
        W_Q=weights,
        W_K=weights,
        W_V=weights,
        labels=labels,
        scale="none",
        normalizer="hardmax",
    )
    page = make_page(solve(problem), Contents(plan(problem), full=True))
    place.write_text(write_page(page), "utf-8")
    return place


def place_of(browser: Browser, selector: str) -> dict[str, float]:
    """Return where an element is on the screen."""
    found = browser.run(
        f"document.querySelector({json.dumps(selector)}).getBoundingClientRect().toJSON()"
    )
    return {side: float(number) for side, number in found.items()}


def test_the_work_is_beside_its_entry_if_there_is_room(browser: Browser, key: Path) -> None:
    """Nothing of the page moves for it: not the entry, nor what is below."""
    browser.screen(DESK)
    browser.open(key)
    browser.middle("#A-2-1")
    before = [place_of(browser, each) for each in ("#A-2-1", "#step-O", "main")]
    browser.point("#A-2-1")
    assert [place_of(browser, each) for each in ("#A-2-1", "#step-O", "main")] == before
    work, page = place_of(browser, ".at-hand"), place_of(browser, "main")
    assert work["left"] >= page["right"]
    assert work["right"] <= DESK
    assert work["top"] <= before[0]["bottom"]
    assert work["bottom"] >= before[0]["top"]


@pytest.mark.parametrize("width", [PHONE, TABLET])
def test_the_work_is_below_its_entry_otherwise(browser: Browser, key: Path, width: int) -> None:
    browser.screen(width)
    browser.open(key)
    browser.point("#A-2-1")
    work = place_of(browser, ".at-hand")
    assert (work["left"], round(work["bottom"])) == (0, 900)
    entry = place_of(browser, "#A-2-1")
    assert entry["bottom"] <= work["top"]
    browser.run("document.querySelector('#O-3-2').focus()")
    browser.run("document.querySelector('#O-3-1').scrollIntoView({block: 'end'})")
    assert place_of(browser, "#O-3-1")["bottom"] <= place_of(browser, ".at-hand")["top"]


def test_the_line_of_a_worksheet_is_in_sight_on_every_screen(
    browser: Browser, tmp_path: Path
) -> None:
    browser.screen(DESK)
    browser.open(practice_of(read_problem(sample("self").path), tmp_path / "practice.html"))
    browser.run("document.querySelector('#O-2-1 input').focus()")
    press_button(browser, "Hint 3")
    line, box = place_of(browser, ".at-hand"), place_of(browser, "#O-2-1 input")
    assert 0 <= line["top"] < line["bottom"] <= 900
    assert box["bottom"] <= line["top"]


def test_a_printed_page_has_no_controls_and_all_of_its_matrices(
    browser: Browser, tmp_path: Path
) -> None:
    browser.open(of_many(48, tmp_path / "page.html"))
    browser.point("#X-1-1")
    browser.send("Emulation.setEmulatedMedia", media="print")
    seen = "[...document.querySelectorAll('.live, .at-hand')].filter((e) => e.offsetParent).length"
    assert browser.run(seen) == 0
    window = "document.querySelector('.windowed:has(#X-1-1)')"
    assert browser.run(f"{window}.scrollHeight <= {window}.clientHeight + 1")
    assert browser.run("getComputedStyle(document.body).paddingRight") == "0px"
    browser.send("Emulation.setEmulatedMedia", media="")


def test_a_click_pins_the_work_until_it_is_released(browser: Browser, key: Path) -> None:
    browser.screen(DESK)
    browser.open(key)
    line = ".at-hand .line"
    browser.click("#S-1-1")
    told = browser.text(line)
    assert told.startswith("S[1,1] = ")
    browser.point("#S-2-2")
    assert browser.text(line) == told
    browser.press("Escape")
    browser.point("#S-2-3")
    assert browser.text(line).startswith("S[2,3] = ")
    browser.click("#S-2-2")
    browser.click("#S-2-2")  # once more lets it go
    browser.point("#S-3-3")
    assert browser.text(line).startswith("S[3,3] = ")
    browser.click(".heatmap g[data-row='2'][data-column='3'] rect")
    assert browser.run("document.querySelector('.pinned').id") == "A-2-3"


def test_the_problem_is_copied_as_it_now_is(browser: Browser, key: Path) -> None:
    """To the clipboard; without one, the text is shown to be copied."""
    browser.open(key, "#X[0]=1/3")
    browser.run(
        "Object.defineProperty(navigator, 'clipboard', { configurable: true, value: { writeText: "
        "(text) => { window.copied = text; return Promise.resolve(); } } })"
    )
    press_button(browser, "Copy as JSON")
    browser.until("document.querySelector('.status').textContent === 'Copied.'")
    copied = browser.run("window.copied")
    assert json.loads(copied)["X"][0][0] == "1/3"
    browser.run("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    press_button(browser, "Copy as JSON")
    assert browser.run("document.querySelector('.live textarea').value") == copied
    assert browser.text(".status") == "Copy the problem from below."


def test_light_and_dark_are_those_of_the_reader(browser: Browser, key: Path) -> None:
    colours = "['color', 'backgroundColor'].map((name) => getComputedStyle(document.body)[name])"
    browser.open(key)
    found = {}
    for look in ("light", "dark"):
        wanted = {"name": "prefers-color-scheme", "value": look}
        browser.send("Emulation.setEmulatedMedia", features=[wanted])
        found[look] = browser.run(colours)
    browser.send("Emulation.setEmulatedMedia", features=[])
    assert found == {
        "light": ["rgb(26, 26, 26)", "rgb(255, 255, 255)"],
        "dark": ["rgb(230, 230, 230)", "rgb(20, 24, 29)"],
    }


def test_a_tap_edits_a_number(browser: Browser, key: Path) -> None:
    """A given number that is tapped is typed over; of any other, its work is shown, and stays."""
    browser.screen(PHONE, 640, touch=True)
    browser.open(key)
    browser.tap("#X-1-4")
    assert browser.run("document.activeElement === document.querySelector('.at-hand input')")
    browser.type("1/2")
    browser.press("Enter")
    assert browser.text("#X-1-4") == "0.5"
    browser.tap("#S-1-1")
    solved = solve(read_problem(sample("self").path))
    told = browser.text(".at-hand .line")
    assert told.startswith("S[1,1] = ")
    assert told != line_in_text(Work(solved).line("S", (0, 0)))  # of the edited numbers
    assert browser.run("document.activeElement.id") == "S-1-1"
    browser.tap("#X-1-1")
    assert browser.run("document.querySelector('.at-hand input').value") == "1"
    assert quiet(browser)
    browser.screen(DESK)


SMALL = """[...document.querySelectorAll(
  "button, input, select, summary, td[data-row], .at-hand input, .at-hand button")]
  .filter((each) => each.offsetParent && each.checkVisibility()).map((each) => {
    const { width, height } = each.getBoundingClientRect();
    return [each.id || each.outerHTML.slice(0, 60), width, height];
  }).filter(([, width, height]) => width < 24 || height < 24)"""


@pytest.mark.parametrize("is_practice", [False, True])
def test_touch_targets_are_large_enough(
    browser: Browser, tmp_path: Path, is_practice: bool
) -> None:
    write, one = practice_of if is_practice else page_of, [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    problem = Problem(X=one, W_Q=one, W_K=one, W_V=one, decimals=0)  # one digit is not wide
    place = write(problem, tmp_path / "page.html")
    browser.screen(PHONE, 640, touch=True)
    browser.open(place)
    browser.run("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    if not is_practice:
        browser.tap("#X-1-1")
    assert browser.run(SMALL) == []
    assert browser.run("document.documentElement.scrollWidth") <= PHONE
    browser.screen(DESK)


def test_a_large_matrix_has_a_window_whose_names_stay_in_sight(
    browser: Browser, tmp_path: Path
) -> None:
    browser.screen(DESK)
    browser.open(of_many(48, tmp_path / "page.html"))
    assert (
        browser.run("document.querySelectorAll('.windowed').length") == 7
    )  # all but the weights of tokens
    inner = "document.querySelector('.windowed:has(#A-1-1)')"
    assert browser.run(f"{inner}.clientHeight < 700 && {inner}.tabIndex === 0")
    browser.run(f"{inner}.scrollIntoView(); {inner}.focus(); {inner}.scrollTop = 400")
    browser.run(f"{inner}.scrollLeft = 300")
    window = place_of(browser, ".windowed:has(#A-1-1)")
    column = place_of(browser, ".windowed:has(#A-1-1) th[scope=col]:nth-child(20)")
    row = place_of(browser, ".windowed:has(#A-1-1) tr:nth-child(20) th[scope=row]")
    assert abs(column["top"] - window["top"]) < 4
    assert abs(row["left"] - window["left"]) < 4
    # the position is visible when moving: no name covers the entry
    browser.run("document.querySelector('#A-1-1').focus()")
    browser.press("End", *["ArrowDown"] * 30)
    assert browser.run("document.activeElement.id") == "A-31-48"
    browser.press(*["ArrowUp"] * 20, "Home")
    entry, heading = (
        place_of(browser, "#A-11-1"),
        place_of(browser, ".windowed:has(#A-1-1) thead td"),
    )
    assert entry["top"] >= heading["bottom"] - 1
    assert entry["left"] >= heading["right"] - 1


def test_matrices_of_forty_tokens_are_complete(browser: Browser, tmp_path: Path) -> None:
    browser.open(of_many(40, tmp_path / "page.html"))
    assert browser.run("document.querySelectorAll('.windowed').length") == 0


def test_hostile_names_are_found_and_do_nothing(browser: Browser, tmp_path: Path) -> None:
    labels = [f"{name}{turn}" for turn in (1, 2) for name in HOSTILE]
    one = [[1, 0], [0, 1]]
    tokens = [[number % 3, 1] for number in range(len(labels))]
    problem = Problem(X=tokens, W_Q=one, W_K=one, W_V=one, labels=labels)
    browser.open(page_of(problem, tmp_path / "page.html"))
    for name in (*labels, "<img src=x onerror=window.hurt=1>?"):
        browser.run(f"document.querySelector('.find input').value = {json.dumps(name)}")
        press_button(browser, "Find")
        browser.run("new Promise(requestAnimationFrame)")
        assert browser.run("window.hurt === undefined")
        assert browser.run("document.querySelectorAll('img').length") == 0
    assert browser.text(".status").startswith("No row and no column is called")
    assert quiet(browser), (browser.failed, browser.asked)


def test_without_a_script_large_matrices_are_as_they_were(browser: Browser, tmp_path: Path) -> None:
    place = of_many(48, tmp_path / "page.html")
    browser.send("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.send("Page.navigate", url=place.as_uri())
        while browser.run("document.readyState") != "complete":
            time.sleep(0.05)  # nothing of the page can wait here
        assert browser.run("document.querySelectorAll('.windowed, .live, .at-hand').length") == 0
        assert browser.text("#A-48-48")
    finally:
        browser.send("Emulation.setScriptExecutionDisabled", value=False)


def test_an_equation_shows_the_chosen_number_and_the_given_one_after_a_reset(
    browser: Browser, key: Path
) -> None:
    equation = "#step-S_scaled .equation"
    browser.open(key, "#scale=1/3&X[0]=2")
    assert browser.text(equation) == "S_scaled = S × 1/3 ="
    browser.run("location.hash = '#scale=1/4&X[0]=2'")
    browser.until(f"document.querySelector('{equation}').textContent === 'S_scaled = S × 0.25 ='")
    capped = page_of(read_problem(sample("rope").path), key.parent / "capped.html")
    browser.open(capped)
    written = browser.text("#step-S_capped .equation")
    browser.open(capped, "#softcap=3&X[0]=5")
    assert browser.text("#step-S_capped .equation") != written
    browser.run("location.hash = '#X[0]=5'")
    browser.until("document.querySelector('.status').textContent === 'Recalculated.'")
    browser.until(
        f"document.querySelector('#step-S_capped .equation').textContent === {json.dumps(written)}"
    )


@needs_axe
@pytest.mark.parametrize(("width", "dark"), [(PHONE, False), (DESK, True)])
def test_axe_finds_no_violation_on_pages_that_are_used(
    browser: Browser, tmp_path: Path, width: int, dark: bool
) -> None:
    browser.screen(width)
    look = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.send("Emulation.setEmulatedMedia", features=[look])
    problem = read_problem(sample("self").path)
    found = {}
    for name in ("self", "encoder"):
        browser.open(page_of(read_problem(sample(name).path), tmp_path / "page.html"))
        browser.click("#X-1-1")
        browser.press("7", "Enter")
        browser.click("#A-1-2")
        found[f"{name}, edited"] = browser.violations()
    weights, keys = [[1, 0], [0, 1]], [[number % 3, 1] for number in range(41)]
    many = Problem(X1=[[1, 2]], X2=keys, W_Q=weights, W_K=weights, W_V=weights)
    browser.open(page_of(many, tmp_path / "many.html"), "#X1[0]=abc")
    browser.run("document.querySelector('.find input').focus()")
    browser.type("9")
    browser.press("Enter")
    found["many keys"] = browser.violations()
    browser.open(practice_of(problem, tmp_path / "practice.html"))
    browser.run("document.querySelector('#Q-1-1 input').focus()")
    browser.type("1")
    press_button(browser, "Check")
    press_button(browser, "Hint 3")
    found["practice, checked"] = browser.violations()
    answer = {"Q": [[1, 3], [-1, 1], ["2.5", 2]], "S": [["x", 1, 2]] * 3}
    pages = {
        "worksheet": write_page(make_page(solve(problem), Contents(plan(problem), blank=True))),
        "marked": check(str(sample("self").path), answer).to_html(),
    }
    for name, page in pages.items():
        (tmp_path / f"{name}.html").write_text(page, "utf-8")
        browser.open(tmp_path / f"{name}.html")
        found[name] = browser.violations()
    browser.send("Emulation.setEmulatedMedia", features=[])
    assert {name: said for name, said in found.items() if said} == {}
