"""The page's script in a browser, in short: what each run of the tests tries of it.

The other tests in Chromium are slow: `test_live_page.py`, `test_live_reader.py`,
`test_live_marked.py`, `test_html_in_a_browser.py`.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import Browser, needs_chromium
from test_live_marked import LIT, marked_page, opened
from test_live_page import SHOWN, downloaded, fill, page_of, practice_of, press_button, quiet
from test_live_reader import DESK, of_many, place_of

import attncalc
from attncalc import check, vary
from attncalc.base.typed import as_written
from attncalc.grading.rules import Status
from attncalc.problem.problem import Problem
from attncalc.problem.samples import sample
from attncalc.reading import read_problem
from attncalc.solving.solution import solve
from attncalc.solving.work import Work
from attncalc.writing.live.made import write_page
from attncalc.writing.page import Contents, make_page
from attncalc.writing.prose import line_in_text

pytestmark = needs_chromium


@pytest.mark.slow
def test_the_focus_stays_when_numbers_change(browser: Browser, tmp_path: Path) -> None:
    browser.open(page_of(read_problem(sample("self").path), tmp_path / "page.html"))
    at = "document.activeElement.id"
    undo = "[...document.querySelectorAll('button')].find((e) => e.textContent === 'Undo')"
    browser.click("#X-2-3")
    browser.press("7", "Enter")
    assert browser.run(at) == "X-2-3"
    browser.press("z", modifiers=2)
    assert browser.run(at) == "X-2-3"
    browser.press("Enter", "Enter")  # what it is already
    assert browser.run(f"{undo}.ariaDisabled") == "true"
    browser.press("Enter")
    browser.type("1e200")
    browser.press("Enter")
    assert browser.text(".at-hand .wrong") == (
        "X[2,3]: S[2,2] is not a finite number: sum(Q[i,c] * K[j,c] for c in d) "
        "is larger than the largest float64 (about 1.8e+308)"
    )
    browser.run("document.activeElement.select()")
    browser.type("1e308")
    browser.press("Enter")
    assert browser.text(".at-hand .wrong") == (
        "X[2,3]: with so many digits attncalc works in floats, which could show others"
    )
    assert browser.run("document.activeElement.localName") == "input"
    browser.press("Escape")
    browser.run("document.querySelector('[data-setting=causal]').click()")
    browser.run("document.querySelector('#S_masked-1-1').focus()")
    browser.press("z", modifiers=2)  # the step goes, and what had the focus with it
    assert browser.run(at) == "X-1-1"
    browser.run("document.querySelector('[data-setting=causal]').click()")
    browser.run(f"{undo}.focus()")
    browser.press("Enter")
    browser.run("new Promise(requestAnimationFrame)")
    assert browser.run("document.activeElement.textContent") == "Undo"
    assert quiet(browser)


@pytest.mark.slow
def test_the_work_of_an_entry_is_beside_it_and_its_operands_light_up(
    browser: Browser, tmp_path: Path
) -> None:
    problem = read_problem(sample("self").path)
    browser.open(page_of(problem, tmp_path / "page.html"))
    work = Work(solve(problem))
    for step, place in (("S", (0, 1)), ("A", (2, 1)), ("O", (1, 0)), ("Q", (1, 1))):
        browser.point(f"#{step}-{place[0] + 1}-{place[1] + 1}")
        assert browser.text(".at-hand .line") == line_in_text(work.line(step, place))
    lit = "[...document.querySelectorAll('td.lit')].map((e) => e.id)"
    assert browser.run(lit) == [
        *(f"X-2-{k}" for k in (1, 2, 3, 4)),
        *(f"W_Q-{k}-2" for k in (1, 2, 3, 4)),
    ]
    browser.point("#A-3-1")
    assert browser.run("document.querySelectorAll('.map line.lit').length") == 1
    browser.point(".heatmap g[data-row='2'][data-column='3'] rect")
    assert browser.text(".at-hand .line") == line_in_text(work.line("A", (1, 2)))
    assert quiet(browser)


@pytest.mark.slow
def test_keys_move_in_a_matrix_and_to_operands_and_back(browser: Browser, tmp_path: Path) -> None:
    browser.open(page_of(read_problem(sample("self").path), tmp_path / "page.html"))
    at = "document.activeElement.id"
    browser.run("document.querySelector('#S-1-1').focus()")
    browser.press("ArrowRight", "ArrowDown", "ArrowDown")
    assert browser.run(at) == "S-3-2"
    browser.press("ArrowDown")
    assert browser.run(at) == "S-3-2"
    browser.press("Enter")
    assert browser.run(at) == "Q-3-1"
    browser.press("n")
    assert browser.run(at) == "K-2-1"
    browser.press("p", "Enter", "Enter")
    assert browser.run("document.activeElement.localName") == "input"  # X[3,1] is given
    browser.press("Escape", "Backspace", "Backspace")
    assert browser.run(at) == "S-3-2"


@pytest.mark.slow
def test_a_number_is_edited_undone_and_reset_by_hand(browser: Browser, tmp_path: Path) -> None:
    problem = read_problem(sample("self").path)
    browser.open(page_of(problem, tmp_path / "page.html"))
    before = browser.run(SHOWN)
    browser.click("#X-1-4")
    browser.press("Enter")
    browser.type("1/2")
    browser.press("Enter")
    assert browser.text("#X-1-4") == "0.5"
    assert browser.run("document.querySelector('#X-1-4').title") == "was 2"
    browser.until("location.hash === '#X[3]=0.5'")
    after = browser.run(SHOWN)
    assert after["cells"]["Q-1-1"] == ["-0.50", "", ""]
    assert browser.run("document.activeElement.id") == "X-1-4"
    browser.press("Enter")
    browser.type("half")
    browser.press("Enter")
    assert browser.text(".at-hand .wrong") == 'X[1,4]: "half" is not a number'
    assert browser.run(SHOWN) == after
    browser.click("#X-1-1")
    browser.press("7", "Enter")
    assert browser.text("#X-1-1") == "7"
    browser.press("z", modifiers=2)
    assert browser.run(SHOWN) == after
    browser.press("z", modifiers=2)
    assert browser.run(SHOWN) == before
    browser.until("location.hash === ''")
    assert quiet(browser)


@pytest.mark.slow
def test_work_that_is_opened_after_edits_is_that_of_the_edited_file(
    browser: Browser, tmp_path: Path
) -> None:
    browser.open(page_of(read_problem(sample("self").path), tmp_path / "page.html"))
    for address in ("#X[0]=3", "#X[0]=3&W_V[0]=5", "#X[0]=3&W_V[0]=5&causal=true"):
        browser.run(f"location.hash = {json.dumps(address)}")
        browser.until(f"location.hash === {json.dumps(address)}")
        browser.run("new Promise(requestAnimationFrame)")
    browser.run("document.querySelectorAll('details.work').forEach((e) => { e.open = true; })")
    browser.run("new Promise((done) => setTimeout(done, 100))")
    found = browser.run(
        "[...document.querySelectorAll('p[data-of]')].filter((e) => !e.closest('.not-taken'))"
        ".map((e) => e.textContent)"
    )
    work = Work(solve(downloaded(browser)))
    wanted = [
        line_in_text(line)
        for step in work.solution.plan
        if step.name != "S_masked"  # absent at first, and shown under the pointer
        for line in work.lines(step)
    ]
    assert found == wanted
    browser.point("#S_masked-1-2")
    assert browser.text(".at-hand .line") == line_in_text(work.line("S_masked", (0, 1)))
    assert quiet(browser)


@pytest.mark.slow
def test_the_slider_goes_from_equal_weights_to_the_largest_score(
    browser: Browser, tmp_path: Path
) -> None:
    browser.open(page_of(read_problem(sample("self").path), tmp_path / "page.html"))
    slide = "(value) => { const it = document.querySelector('[type=range]'); it.value = value; " \
            "it.dispatchEvent(new Event('input')); }"  # fmt: skip
    row = "[1, 2, 3].map((k) => document.querySelector(`#A-1-${k}`).textContent)"
    browser.run(f"({slide})(0)")
    assert browser.run(row) == ["0.33", "0.33", "0.33"]
    browser.run(f"({slide})(40)")
    assert browser.run(row) == ["0.00", "0.00", "1.00"]
    assert "∞: hardmax" in browser.text("output")
    other = downloaded(browser)
    assert (other.normalizer, other.scale) == ("hardmax", "none")
    browser.run(f"({slide})(5)")
    assert downloaded(browser).scale == 0.5
    assert quiet(browser)


@pytest.mark.slow
def test_steps_are_shown_one_at_a_time(browser: Browser, tmp_path: Path) -> None:
    browser.open(page_of(read_problem(sample("self").path), tmp_path / "page.html"))
    seen = "[...document.querySelectorAll('section.step')].filter((e) => e.offsetParent)" \
           ".map((e) => e.id)"  # fmt: skip
    named = "(name) => [...document.querySelectorAll('button')].find(" \
            "(e) => e.textContent.startsWith(name)).click()"  # fmt: skip
    browser.run(f"({named})('Step by step')")
    assert browser.run(seen) == ["step-Q"]
    browser.run(f"({named})('Step forward')")
    browser.run(f"({named})('Step forward')")
    browser.run(f"({named})('Step back')")
    assert browser.run(seen) == ["step-K"]
    browser.run(f"({named})('All steps')")
    browser.run(f"({named})('Step by step')")
    browser.send("Emulation.setEmulatedMedia", media="print")
    on_paper = browser.run(seen)
    browser.send("Emulation.setEmulatedMedia", media="")
    browser.run(f"({named})('All steps')")
    assert len(browser.run(seen)) == len(on_paper) == 6


def downloaded_answers(browser: Browser, button: str = "Download my answers") -> Path:
    """Return the file that a worksheet hands out."""
    for old in browser.downloads.iterdir():
        old.unlink()
    press_button(browser, button)
    answers = browser.downloads / "answers.json"
    for _ in range(200):
        if answers.exists() and answers.read_text("utf-8").endswith("}\n"):
            break
        browser.run("new Promise((done) => setTimeout(done, 20))")
    return answers


@pytest.mark.slow
@pytest.mark.parametrize("name", ["self", "heads", "columns"])
def test_a_worksheet_without_marking_is_kept_and_read_by_check(
    browser: Browser, tmp_path: Path, name: str
) -> None:
    """Every number of the key is typed, with a comma."""
    square = [[1, 2, 0], [0, 1, 1], [3, 0, 1]]
    problem = Problem(X=square, W_Q=square, W_K=square, W_V=square, layout="columns")
    if name != "columns":
        problem = read_problem(sample(name).path)
    problem = replace(problem, language="de")
    solution, place = solve(problem), tmp_path / "page.html"
    page = make_page(solution, Contents(solution.plan, blank=True))
    place.write_text(write_page(page, practice=True, marks=False), "utf-8")
    browser.open(place)
    shown = [np.array(solution.shown(step.name)).ravel() for step in solution.plan]
    key = [text.replace(".", ",") for rows in shown for text in rows]
    assert browser.run("document.querySelectorAll('td input').length") == len(key)
    browser.run(
        f"document.querySelectorAll('td input').forEach((e, k) => {{ e.value = {key}[k]; "
        "e.dispatchEvent(new Event('input')); })"
    )
    browser.open(place)
    assert browser.run("document.querySelector('td input').value") == key[0]
    assert browser.text(".status") == ""
    marking = check(problem, downloaded_answers(browser, "Meine Antworten herunterladen"))
    assert sum(marks.count(Status.CORRECT) for marks in marking.steps) == len(key)
    assert quiet(browser), (browser.failed, browser.asked)


@pytest.mark.slow
@pytest.mark.parametrize("marks", [True, False])
def test_the_lines_of_the_map_are_typed_and_read_by_check(
    browser: Browser, tmp_path: Path, marks: bool
) -> None:
    """Tied inputs are separated by commas, and a line that there is not is left out."""
    ties = {"X": [[2, 0], [2, 0], [0, 1]], "W_Q": [[1, 1], [0, 1]], "W_K": [[1, 1], [0, 1]]}
    problem = Problem(**ties, W_V=[[1, 1], [0, 1]], heads=2, labels=["a", "b", "c"])
    solution, place = solve(problem), tmp_path / "page.html"
    page = make_page(solution, Contents(solution.plan, blank=True))
    place.write_text(write_page(page, practice=True, marks=marks), "utf-8")
    browser.open(place)
    typed = [
        ", ".join("abc"[k] for k in each)
        for head in solution.heads
        for line in head.connections
        for each in (line.most, line.second)
    ]
    assert "a, b" in typed
    assert "" in typed
    browser.run(
        f"document.querySelectorAll('li input').forEach((e, k) => {{ e.value = {typed}[k]; "
        "e.dispatchEvent(new Event('input')); })"
    )
    browser.open(place)
    marking = check(problem, downloaded_answers(browser), asked=("connections",))
    assert [line.status for line in marking.lines] == [Status.CORRECT] * 6
    press_button(browser, "Clear")
    assert "connections" not in json.loads(downloaded_answers(browser).read_text("utf-8"))
    assert quiet(browser), (browser.failed, browser.asked)


@pytest.mark.slow
def test_a_worksheet_is_filled_in_checked_kept_and_read_by_check(
    browser: Browser, tmp_path: Path
) -> None:
    problem = read_problem(sample("self").path)
    place = practice_of(problem, tmp_path / "practice.html")
    browser.open(place)
    # Q[1,2] is wrong, S[1,1] is what that leads to: 1·3 + 4·(-0.5)
    for name, text in {"Q-1-1": "1", "Q-1-2": "4", "S-1-1": "1.00", "A-3-1": "0.6"}.items():
        fill(browser, f"#{name}", text)
    press_button(browser, "Check")
    signs = "Object.fromEntries([...document.querySelectorAll('td[data-status]')].map(" \
            "(e) => [e.id, e.dataset.status]))"  # fmt: skip
    assert browser.run(signs) == {
        "Q-1-1": "correct", "Q-1-2": "wrong", "S-1-1": "follows", "A-3-1": "precision",
    }  # fmt: skip
    assert browser.text(".status").startswith(
        "1 ✓ right; 1 → correct given your earlier values; 1 … right"
    )
    press_button(browser, "Hint 1")
    assert browser.text(".at-hand .line") == "Look at Q, row 1, column 2."
    browser.run("document.querySelector('#Q-2-1 input').focus()")
    press_button(browser, "Hint 2")
    assert browser.text(".at-hand .line") == "Q = X W_Q"
    press_button(browser, "Hint 3")
    hint = browser.text(".at-hand .line")
    assert hint == "Q[2,1] = (0·0) + (-1·1) + (2·-0.5) + (1·1) = ?"
    press_button(browser, "Show")
    assert browser.run("document.querySelector('#Q-2-1 input').value") == "-1.00"
    browser.run("document.querySelector('#K-1-2 input').focus()")
    browser.press("Enter", modifiers=8)  # there is no way to a button that leaves no entry behind
    assert browser.text(".at-hand .line").startswith("K[1,2] = ")
    assert browser.text(".at-hand .line").endswith(" = ?")
    browser.press("Enter", modifiers=2)
    assert browser.run("document.querySelector('#K-1-2 input').value") == "-0.50"
    browser.open(place)
    assert browser.run("document.querySelector('#Q-1-2 input').value") == "4"
    answers = downloaded_answers(browser)
    assert json.loads(answers.read_text("utf-8"))["problem"]["hints"] == {"Q": 3, "K": 3}
    found = {marks.step.name: marks for marks in check(problem, answers, asked=("Q", "S")).steps}
    assert [each.value for each in (found["Q"].status((0, 1)), found["S"].status((0, 0)))] == [
        "wrong", "follows",
    ]  # fmt: skip
    press_button(browser, "Clear")
    browser.open(place)
    assert browser.run("document.querySelector('#Q-1-2 input').value") == ""
    assert quiet(browser), (browser.failed, browser.asked)


@pytest.mark.slow
def test_a_token_is_found_by_its_name_from_matrix_to_matrix(
    browser: Browser, tmp_path: Path
) -> None:
    browser.screen(DESK)
    browser.open(of_many(48, tmp_path / "page.html"))
    at, said = "document.activeElement.id", ".status"
    browser.run("document.querySelector('.find input').focus()")
    browser.type("Token 45")
    browser.press("Enter")
    assert browser.run(at) == "X-46-1"
    assert browser.text(said) == ("row token 45 of X: 1 of 9 places; search again for the next.")
    shown = place_of(browser, "#X-46-1")
    assert 0 <= shown["top"] <= shown["bottom"] <= 900
    found = []
    for _ in range(8):
        press_button(browser, "Find")
        found.append(browser.run(at))
    assert found == [
        "Q-46-1", "K-46-1", "V-46-1", "S-1-46", "S-46-1", "A-1-46", "A-46-1", "O-46-1",
    ]  # fmt: skip
    browser.run("document.querySelector('.find input').select()")
    browser.type("nobody")
    browser.press("Enter")
    assert browser.text(said) == 'No row and no column is called "nobody".'
    names = browser.run("document.querySelectorAll('#names option').length")
    assert names == 48 + 2  # of tokens, and of features
    assert quiet(browser)


@pytest.mark.slow
def test_pointing_at_an_entry_highlights_its_inputs_and_shows_its_work(
    browser: Browser, tmp_path: Path
) -> None:
    browser.screen(1400, 3000)
    opened(browser, marked_page(tmp_path / "marked.html"))
    browser.point("#S-3-1")
    assert browser.run(LIT) == "K-1-1 K-1-2 Q-3-1 Q-3-2"
    assert "From your own values: S[3,1] = (2.50·3.00) + (2.00·-0.50) = 6.50" in browser.text(
        ".at-hand"
    )
    browser.point("#Q-3-2")
    row, column = "X-3-1 X-3-2 X-3-3 X-3-4", "W_Q-1-2 W_Q-2-2 W_Q-3-2 W_Q-4-2"
    assert set(browser.run(LIT).split()) == {*row.split(), *column.split()}
    assert "✗ wrong; it should be -2.00" in browser.text(".at-hand")
    assert not browser.failed


@pytest.mark.slow
@pytest.mark.parametrize("way", [{}, {"layout": "columns"}, {"heads": 2}], ids=str)
def test_find_goes_to_each_row_and_column_of_the_name(
    browser: Browser, way: dict[str, Any], tmp_path: Path
) -> None:
    """The page's own headings say which cells these are: the first of each row and column."""
    tokens = [[number % 3, 1] for number in range(14)]
    one = [[1, 0], [0, 1]]
    X = [list(column) for column in zip(*tokens, strict=True)] if "layout" in way else tokens
    labels = [f"Token {number}" for number in (*range(1, 14), 20)]
    problem = Problem(X=X, W_Q=one, W_K=one, W_V=one, labels=labels, **way)
    browser.open(page_of(problem, tmp_path / "page.html"))
    wanted = "TOKEN 2"  # this is also how another begins
    places = browser.run(FIRST_CELLS.replace("WANTED", wanted.lower()))
    assert {said.split()[0] for _, said in places} == {"row", "column"}
    browser.run(f"document.querySelector('.find input').value = {json.dumps(wanted)}")
    found = browser.run(
        f"""Array.from({{length: {len(places)}}}, () => {{
          document.querySelector('.find').requestSubmit();
          return [document.activeElement.id, document.querySelector('.status').textContent];
        }})"""
    )
    assert [cell for cell, _ in found] == [cell for cell, _ in places]
    for number, ((_, status), (_, said)) in enumerate(zip(found, places, strict=True), start=1):
        assert status.startswith(f"{said}: {number} of {len(places)} places")
    assert quiet(browser)


FIRST_CELLS = """[...document.querySelectorAll('th[scope]')].flatMap((heading) => {
  const table = heading.closest('table'), named = table.parentElement.ariaLabel;
  const name = heading.textContent.trim(), isRow = heading.scope === 'row';
  if (name.toLowerCase() !== 'WANTED' || !heading.checkVisibility()) return [];
  const row = isRow ? heading.parentElement : table.tBodies[0].rows[0];
  const right = heading.getBoundingClientRect();
  const cell = [...row.querySelectorAll('td[id]')].find((each) =>
    isRow || Math.abs(each.getBoundingClientRect().right - right.right) < 1);
  return cell ? [[cell.id, `${isRow ? 'row' : 'column'} ${name} of ${named}`]] : [];
})"""
"""Each heading of a name on the page, as the cell beside it, or below it on the screen."""


@pytest.mark.slow
def test_a_study_has_a_slider_over_its_values(browser: Browser, tmp_path: Path) -> None:
    problem = read_problem(sample("self").path)
    study = vary(problem, "scale=0.1:2:20", watch=["A[1,3]"])
    page = tmp_path / "page.html"
    page.write_text(study.to_html(), "utf-8")
    browser.open(page)
    told = "document.querySelector('.told').textContent"
    slide = "(value) => { const it = document.querySelector('[type=range]'); it.value = value; " \
            "it.dispatchEvent(new Event('input')); }"  # fmt: skip
    for place in (0, 7, 19):
        browser.run(f"({slide})({place})")
        (at,), (digits,) = study.found.points[place], study.found.digits[place]
        assert browser.run(told) == f"scale {as_written(at)} ({place + 1} of 20): A[1,3] {digits}"
        assert browser.run("document.querySelector('tr.now td').textContent") == digits
    assert quiet(browser)


@pytest.mark.slow
def test_pages_in_a_notebook_run_without_reaching_it(browser: Browser, tmp_path: Path) -> None:
    problem = read_problem(sample("self").path)
    shown = [attncalc.solve(problem)._repr_html_(), vary(problem, "scale=0.1:2:20")._repr_html_()]
    assert all(each.count('sandbox="allow-scripts"') == 1 for each in shown)
    page = tmp_path / "notebook.html"
    page.write_text(f"<!DOCTYPE html><title>notebook</title>{''.join(shown)}", "utf-8")
    browser.open(page)
    inner = "[...document.querySelectorAll('iframe')].map((e) => e.contentDocument)"
    assert browser.run(inner) == [None, None]
    assert quiet(browser)
    wide = make_wide()
    assert " sandbox " in wide._repr_html_()  # a long one is static


def make_wide() -> Any:
    """Return the solution of a problem whose work is too long for a page."""
    row = [1, 0, 2, 1]
    return attncalc.solve(Problem(Q=[row] * 40, K=[row] * 40, V=[row] * 40))
