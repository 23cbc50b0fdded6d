"""Which pages are interactive, and the notes of those that are not."""

import json
import re
from pathlib import Path

import pytest
from conftest import ROOT, Command
from html_pages import read_page

from attncalc.base.errors import InputError
from attncalc.equations.operation import UnstatedError
from attncalc.problem.problem import Problem
from attncalc.reading import read_problem, read_stream
from attncalc.solving.plan import plan
from attncalc.solving.solution import solve
from attncalc.solving.work import Fractions
from attncalc.writing.live import made
from attncalc.writing.live.made import write_page
from attncalc.writing.live.script import PAGE, PRACTICE, UNMARKED, _in_order, script, text_of
from attncalc.writing.page import Contents, make_page

SMALL = {"X": [[1, 2], [3, 4]], "W_Q": [[1], [0]], "W_K": [[1], [1]], "W_V": [[2], ["1/3"]]}
PROBLEM = read_stream(json.dumps(SMALL).encode(), "problem.json")


def page_for(problem: Problem = PROBLEM, *, practice: bool = False, **contents: object) -> str:
    """Return the page of a problem."""
    wanted = Contents(plan(problem), **contents)  # type: ignore[arg-type]
    return write_page(make_page(solve(problem), wanted), practice=practice)


def scripts(page: str) -> list[str]:
    """Return the content of the scripts of a page."""
    return [each.text for each in read_page(page).all("script")]


@pytest.mark.slow
def test_a_page_contains_the_numbers_as_they_were_typed_and_no_result() -> None:
    data, runs = scripts(page_for())
    said = json.loads(data)
    assert said["given"]["W_V"]["entries"] == ["2", "1/3"]
    assert runs == script(PAGE)
    assert said["problem"]["W_V"] == [[2], ["1/3"]]


def test_a_worksheet_has_no_script_and_no_word_of_one() -> None:
    page = page_for(blank=True)
    assert scripts(page) == []
    assert "practice" not in page


@pytest.mark.slow
def test_a_worksheet_for_practice_contains_no_key() -> None:
    page = page_for(practice=True, blank=True)
    data, runs = scripts(page)
    assert runs.startswith('"use strict";')
    assert set(json.loads(data)) == {
        *("settings", "digits", "given", "steps", "problem", "fractions", "file"),
        *("words", "comma"),
    }
    solution = solve(PROBLEM)
    for step in solution.plan:  # none of the digits, which are those of no given number
        for row in solution.shown(step.name):
            assert not any(text in page.replace(runs, "") for text in row if "." in text)


@pytest.mark.slow
def test_a_worksheet_without_marking_contains_nothing_that_computes(
    attncalc: Command, tmp_path: Path
) -> None:
    assert attncalc("new", "--seed", "7", "-o", "problem.json").code == 0
    for flags in ((), ("--no-marking",)):
        assert attncalc("self", "problem.json", "--practice", *flags, "-o", "p.html").code == 0
        page = (tmp_path / "p.html").read_text("utf-8")
        assert "seed" not in page
        assert "made_by" not in page
    data, runs = scripts(page)
    assert json.loads(data) == {"problem": {}, "file": "answers.json", "words": {}, "comma": False}
    assert runs == script(UNMARKED)
    modules = ["elements", "decimals", "storing", "said", "boxes", "unmarked"]
    assert _in_order(UNMARKED) == modules
    solution = solve(read_problem(tmp_path / "problem.json"))
    for step in solution.plan:
        for row in solution.shown(step.name):
            assert not any(text in page for text in row if "." in text)


@pytest.mark.slow
def test_a_class_gets_pages_to_fill_in(attncalc: Command, tmp_path: Path) -> None:
    (tmp_path / "roster.csv").write_text("name\nAda\nBlaise\n")
    spec = {"problems": [{"name": "1"}], "formats": ["practice", "fill-in"], "seed": 7}
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    run = attncalc("new", "--class", "roster.csv", "--problems", "spec.json", "-o", "set")
    assert run.code == 0, run.err
    code = json.loads((tmp_path / "set/Ada/problem.json").read_text())["code"]
    for name, what in (("practice", PRACTICE), ("fill-in", UNMARKED)):
        page = (tmp_path / f"set/Ada/{name}.html").read_text("utf-8")
        data, runs = scripts(page)
        assert runs == script(what)
        assert json.loads(data)["problem"]["code"] == code
        assert not re.search("Blaise|seed|secret|made_by", page)
    assert (tmp_path / "set/keys/Ada/key.md").is_file()
    (tmp_path / "answers" / "Ada").mkdir(parents=True)
    (tmp_path / "answers" / "Ada" / "fill-in.html").write_text(page, "utf-8")
    run = attncalc("check", "set", "answers")
    assert "as it was handed out: nothing is filled in" in run.out + run.err


def test_marking_is_only_left_out_of_practice(attncalc: Command) -> None:
    run = attncalc("self", "--no-marking", "--format", "html")
    assert run.code == 2
    assert "--no-marking is for a practice worksheet: add --practice" in run.err


def test_a_worksheet_without_marking_may_be_larger(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attncalc.solving.exactness.LARGEST_COST", 1)
    page = make_page(solve(PROBLEM), Contents(plan(PROBLEM), blank=True))
    assert len(scripts(write_page(page, practice=True, marks=False))) == 2


@pytest.mark.slow
@pytest.mark.parametrize("fractions", ["plain", "mixed", None])
def test_a_page_states_how_fractions_are_written_and_which_steps_keep_them(
    fractions: Fractions | None,
) -> None:
    said = json.loads(scripts(page_for(fractions=fractions))[0])
    assert said["fractions"] == fractions
    keeps = {each["name"] for each in said["steps"] if each.get("rational")}
    assert {"Q", "K", "V", "S", "O"} <= keeps
    for each in said["steps"]:
        assert "softmax" not in each["equation"] or "rational" not in each


def test_an_operation_without_an_equation_makes_a_static_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unstated(*_: object) -> None:
        raise UnstatedError("A")

    monkeypatch.setattr(made, "page_data", unstated)
    page = page_for()
    assert scripts(page) == []
    assert "no equation states how A is computed" in page


@pytest.mark.parametrize(
    ("limit", "why"),
    [
        ("LARGEST_SIDE", "a matrix has more than 1 rows or columns"),
        ("MOST_ENTRIES", "it has more than 1 numbers"),
    ],
)
def test_a_large_page_is_static_with_a_note(
    limit: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(made, limit, 1)
    page = page_for()
    assert scripts(page) == []
    assert why in page


@pytest.mark.slow
def test_an_interactive_page_shows_every_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """A static page omits the middle of large matrices."""
    monkeypatch.setattr("attncalc.writing.html.page.MOST_WHOLE", 1)
    tokens = [[place % 7, place % 3] for place in range(25)]
    page = page_for(Problem(**{**SMALL, "X": tokens, "W_V": [[2], [1]], "normalizer": "hardmax"}))
    assert len(scripts(page)) == 2
    assert len(list(read_page(page).all("td"))) >= 25 * 25


def test_a_page_of_floats_is_static_with_a_note(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However many numbers it holds: fewer of them would be as much work."""
    monkeypatch.setattr("attncalc.solving.exactness.LARGEST_COST", 1)
    monkeypatch.setattr("attncalc.solving.solution.MOST_PROVEN", 1)
    monkeypatch.setattr(made, "MOST_ENTRIES", 1)
    page = page_for()
    assert scripts(page) == []
    assert "its digits come from floats, and the page could show other digits" in page


@pytest.mark.slow
def test_a_page_of_proven_digits_is_interactive_but_no_practice_worksheet(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("attncalc.solving.exactness.LARGEST_COST", 1)
    assert scripts(page_for())
    with pytest.raises(InputError, match="too large for exact decimals, which marking needs"):
        page_for(practice=True)


def test_the_script_needs_nothing_from_outside() -> None:
    text = script(PAGE)
    assert "</" not in text
    assert not re.search(r"fetch\(|XMLHttpRequest|import\(|innerHTML|insertAdjacent|eval\(", text)


def test_the_script_makes_no_digit_of_a_float() -> None:
    used = {each: re.findall(r"toFixed|toPrecision|parseFloat", text_of(each))
            for each in _in_order(PAGE)}  # fmt: skip
    # where a line is drawn, and how dark a cell is
    assert {name: found for name, found in used.items() if found} == {"pictures": ["toFixed"]}


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (
            (),
            "error: --practice is for a page of HTML: end the name in .html, or pass "
            "--format html\n",
        ),
        (
            ("--format", "html", "--work"),
            "error: --practice and --work together: a worksheet has no work\n",
        ),
        (
            ("--format", "html", "--explain"),
            "error: --practice and --explain together: a worksheet has no answers\n",
        ),
    ],
)
def test_what_cannot_be_practised_is_reported(
    attncalc: Command, flags: tuple[str, ...], message: str
) -> None:
    run = attncalc("self", "--practice", *flags)
    assert (run.code, run.out) == (2, "")
    assert run.err.endswith(message)


@pytest.mark.slow
def test_practice_is_written_to_a_file(attncalc: Command, tmp_path: Path) -> None:
    assert attncalc("self", "--practice", "-o", "sheet.html").code == 0
    data, runs = scripts((tmp_path / "sheet.html").read_text("utf-8"))
    assert set(json.loads(data)) >= {"given", "steps"}
    assert runs.startswith('"use strict";')


@pytest.mark.slow
def test_the_page_linked_in_the_readme_is_current(attncalc: Command, tmp_path: Path) -> None:
    """Its script may be older: what it shows is not."""
    assert attncalc("self", "-o", "self.html").code == 0
    made_now, kept = (
        re.search("<main>.*</main>", (folder / "self.html").read_text("utf-8"), re.DOTALL)
        for folder in (tmp_path, ROOT / "docs")
    )
    assert made_now
    assert kept
    assert made_now[0] == kept[0]
    assert (ROOT / "docs" / "live.gif").stat().st_size < 400_000
    assert (ROOT / "docs" / "self.html").stat().st_size < 150_000
