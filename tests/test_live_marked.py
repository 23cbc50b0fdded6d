"""The interactive page of a marked answer: operands light up, and the work is beside an entry."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import Browser, needs_axe, needs_chromium
from html_pages import read_page

from attncalc import check
from attncalc.api.marking import Marking
from attncalc.problem.problem import Problem
from attncalc.problem.samples import sample
from attncalc.reading import read_problem
from attncalc.solving.solution import solve
from attncalc.writing.html.page import write_html
from attncalc.writing.reports.marking import marking_document

SIGN_LOST = {
    "Q": [[1, 3], [-1, 1], [2.5, 2]],
    "S": [["1.5", "-2.5", "8"], [-3.5, -3.5, 6], [6.5, 2, 0.75]],
}
"""Homework 1 with the sign of Q[3,2] lost, and S computed from it."""


def marked(answer: dict[str, Any], name: str = "self", **rules: Any) -> Marking:
    found = check(read_problem(sample(name).path), answer, **rules)
    assert isinstance(found, Marking)
    return found


def entries_of(marking: Marking) -> Any:
    return json.loads(read_page(marking.to_html()).one("script", id="problem").text)["entries"]


@pytest.mark.slow
def test_a_line_states_how_an_entry_follows_from_own_values_and_what_the_key_has() -> None:
    entries = entries_of(marked(SIGN_LOST))
    assert entries["S-3-1"]["said"] == [
        "S[3,1], written as 6.5: → follows from your own values",
        "From your own values: S[3,1] = (2.50·3.00) + (2.00·-0.50) = 6.50",
        "In the key: S[3,1] = (2.50·3.00) + (-2.00·-0.50) = 8.50",
    ]
    assert entries["Q-3-2"]["said"] == [
        "Q[3,2], written as 2: ✗ wrong; it should be -2.00",
        "In the key: Q[3,2] = (-2·1) + (2·0) + (-1·0) + (0·1) = -2.00",
    ]
    assert entries["S-1-1"]["said"][0] == "S[1,1], written as 1.5: correct"
    assert len(entries["S-1-1"]["said"]) == 2


@pytest.mark.slow
def test_every_line_from_own_values_is_arithmetic_of_what_is_written() -> None:
    """Each product's factors are looked up in what was handed in, and added up in fractions."""
    answer = {"Q": [["1", "2"], ["-1.25", "1"], ["2.5", "2"]], "K": [[3, -0.5], [2, 1.5], [0, 3.5]]}
    Q, K = ([[Fraction(str(each)) for each in row] for row in answer[name]] for name in "QK")
    S = [[sum(q * k for q, k in zip(row, other, strict=True)) for other in K] for row in Q]
    problem = read_problem(sample("self").path)
    marking = check(problem, answer | {"S": [[str(float(each)) for each in row] for row in S]})
    assert isinstance(marking, Marking)
    entries, found = entries_of(marking), 0
    for i, j in np.ndindex(3, 3):
        terms = " + ".join(
            f"({float(q):.2f}·{float(k):.2f})" for q, k in zip(Q[i], K[j], strict=True)
        )
        own = [line for line in entries[f"S-{i + 1}-{j + 1}"]["said"] if line.startswith("From")]
        for line in own:
            assert line.startswith(f"From your own values: S[{i + 1},{j + 1}] = {terms} ")
            found += 1
    assert found >= 6


def test_no_line_is_made_of_digits_that_it_would_have_to_cut() -> None:
    """2.5004 shows as 2.50 at two decimals: such a line would not be of what was written."""
    S = [[1.5, -2.5, 8], [-3.5, -3.5, 6], [6.5, 2, 0.75]]
    entries = entries_of(marked({"Q": [[1, 3], [-1, 1], ["2.5004", 2]], "S": S}))
    said = [text for each in entries.values() for text in each["said"]]
    assert not [text for text in said if text.startswith("From your own values: ")]
    assert [text for text in said if text.startswith("From your own values it is ")]


@pytest.mark.parametrize(
    "name",
    [
        *("self", "columns"),
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("cross", "heads", "masks", "decoder", "gradients", "vit", "ids")
        ),
    ],
)
def test_highlighted_entries_exist_and_are_inputs_of_the_step(name: str) -> None:
    problem = read_problem(sample(name).path)
    key = solve(problem)
    page = read_page(marked({step.name: key.shown(step.name) for step in key.plan
                             if step.name not in problem.names}, name).to_html())  # fmt: skip
    cells = {each.attributes["id"] for each in page.all("td") if "id" in each.attributes}
    entries = json.loads(page.one("script", id="problem").text)["entries"]
    inputs = {step.name: step.inputs for step in key.plan}
    for place, entry in entries.items():
        read = [each.split("-")[0] for each in entry["reads"]]
        assert set(entry["reads"]) <= cells
        assert set(read) <= set(inputs[place.split("-")[0]])
    assert entries
    assert any(entry["reads"] for entry in entries.values())


def test_an_entry_of_a_product_reads_a_row_and_a_column() -> None:
    entries = entries_of(marked(SIGN_LOST))
    reads = set(entries["S-3-1"]["reads"])
    assert reads >= {"Q-3-1", "Q-3-2"}
    assert "X-1-1" in reads  # K is not in the answer: what it was made of is


def test_a_page_states_why_it_is_not_interactive() -> None:
    page = read_page(marked(SIGN_LOST, atol=0.1).to_html())
    why = "compared within a tolerance"
    assert not list(page.all("script"))
    assert f"this page does not show how entries are calculated: its numbers are {why}" in page.text


@pytest.mark.slow
def test_a_page_with_much_work_is_static_with_a_note() -> None:
    X, one = [[number % 7, number % 5] for number in range(30)], [[1, 0], [0, 1]]
    problem = Problem(X=X, W_Q=one, W_K=one, W_V=one)
    page = read_page(check(problem, {"S": [[0] * 30] * 30}).to_html())
    assert not list(page.all("script"))
    assert "its work has more than 20,000 numbers" in page.text


@pytest.mark.slow
def test_a_marked_page_is_complete_without_a_script() -> None:
    marking = marked(SIGN_LOST)
    live = read_page(marking.to_html()).one("main")
    plain = read_page(write_html(marking_document(marking))).one("main")
    ids = {each.attributes.get("id"): each.text for each in live.all("td")}
    shown = [each for each in plain.all("td") if "id" in each.attributes]
    assert shown
    assert all(ids[each.attributes["id"]] == each.text for each in shown)
    for sentence in (*marking.verdict, "follows from your own values"):
        assert sentence in live.text
    assert ids["X-1-4"] == "2"  # given matrices are there, too


def test_text_of_an_answer_is_data_everywhere() -> None:
    hostile = "</script><script>window.hacked=1</script>"
    page = marked({"Q": [[hostile, 3], [-1, 1], [2.5, -2]]}).to_html()
    assert hostile not in page
    assert len(list(read_page(page).all("script"))) == 2


@pytest.fixture
def page(tmp_path: Path) -> Path:
    return marked_page(tmp_path / "marked.html")


def marked_page(place: Path) -> Path:
    """Write the page of a marked answer."""
    place.write_text(
        marked(SIGN_LOST | {"K": [[3, -0.5], [2, -1.5], [-2.5, 3.5]]}).to_html(), "utf-8"
    )
    return place


def opened(browser: Browser, page: Path) -> None:
    """Open a page on a screen where nothing has to scroll, and wait until it is drawn."""
    browser.open(page)
    browser.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


LIT = "[...document.querySelectorAll('td.lit')].map((e) => e.id).sort().join(' ')"
AT = "document.querySelector('td.at')?.id"
FOCUSED = "document.activeElement.id"


@needs_chromium
@pytest.mark.slow
def test_a_click_pins_an_entry_and_escape_lets_it_go(browser: Browser, page: Path) -> None:
    browser.screen(1400, 3000)
    opened(browser, page)
    browser.click("#S-3-1")
    browser.point("#Q-1-1")
    assert browser.run(AT) == "S-3-1"
    browser.press("Escape")
    browser.point("#Q-2-1")
    assert browser.run(AT) == "Q-2-1"


@needs_chromium
@pytest.mark.slow
def test_keys_move_to_inputs_and_back(browser: Browser, page: Path) -> None:
    browser.screen(1400, 3000)
    opened(browser, page)
    browser.run("document.querySelector('#S-1-1').focus()")
    browser.press("ArrowDown", "ArrowRight", "ArrowDown", "Home")
    assert browser.run(FOCUSED) == "S-3-1"
    browser.press("Enter")
    assert browser.run(FOCUSED) == "Q-3-1"
    browser.press("n")
    assert browser.run(FOCUSED) == "K-1-1"
    browser.press("Enter")
    assert browser.run(FOCUSED) == "X-1-1"
    browser.press("Backspace", "Backspace")
    assert browser.run(FOCUSED) == "S-3-1"


@needs_chromium
@pytest.mark.slow
def test_given_numbers_cannot_be_changed(browser: Browser, page: Path) -> None:
    browser.screen(1400, 3000)
    opened(browser, page)
    before = browser.run("document.querySelector('main').textContent")
    browser.click("#X-1-1")
    assert browser.text(".at-hand") == "X[1,1] is given, and cannot be changed here"
    browser.press("7", "Enter")
    assert browser.run("document.querySelector('main').textContent") == before
    assert browser.run("document.querySelectorAll('input').length") == 0
    assert not browser.failed


@needs_chromium
@pytest.mark.slow
def test_a_finger_pins_an_entry_on_a_phone(browser: Browser, page: Path) -> None:
    browser.screen(320, 3000, touch=True)
    opened(browser, page)
    browser.tap("#S-3-1")
    assert browser.run(AT) == "S-3-1"
    assert "In the key: " in browser.text(".at-hand")
    browser.screen(1400, 3000)


@needs_chromium
@needs_axe
@pytest.mark.slow
def test_a_marked_page_is_for_everybody_with_an_entry_at_hand(browser: Browser, page: Path) -> None:
    browser.screen(1400, 3000)
    opened(browser, page)
    browser.click("#S-3-1")
    assert not browser.violations()
    assert all(url.startswith("file:") for url in browser.asked)


@pytest.mark.slow
def test_a_page_of_few_steps_visits_each_step_that_was_left_out_once() -> None:
    """Through the layers between, the ways from the last entry to what is given are too many."""
    problem = read_problem(sample("decoder").path)
    solution = solve(problem)
    last = solution.plan[-1].name
    shown = {name: solution[name].tolist() for name in ("self.Q", last)}
    page = check(problem, shown).to_html()
    assert "From your own values" in page or "In the key" in page
