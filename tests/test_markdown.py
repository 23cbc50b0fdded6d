"""Markdown pages: tables and mathematics as GitHub reads them, with labels that stay text."""

import re
from typing import Any

import pytest
from conftest import Command, mostly_slow
from markdown_it import MarkdownIt
from test_latex import HOSTILE, random_problem

from attncalc import Problem, read_problem, solve
from attncalc.problem.samples import SAMPLES
from attncalc.writing.markdown import write_markdown
from attncalc.writing.page import Contents, make_page

FORMULA = re.compile(r"^\$\$\n(.*?)\n\$\$$", re.DOTALL | re.MULTILINE)


def markdown(problem: Problem, **contents: Any) -> str:
    solution = solve(problem)
    page = make_page(solution, Contents(solution.steps, full=True, **contents))
    return write_markdown(page, picture="page-map.png")


def rendered(page: str) -> str:
    """Return the HTML of everything but the mathematics."""
    return MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(FORMULA.sub("", page))


def cells(page: str) -> list[list[str]]:
    """Return the texts of all rows of all tables."""
    found = []
    for row in re.findall(r"<tr>(.*?)</tr>", rendered(page), re.DOTALL):
        texts = re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)
        found.append([re.sub("<.*?>", "", text) for text in texts])
    return found


def test_the_homework_has_its_tables_and_its_work() -> None:
    page = markdown(read_problem(SAMPLES[0].path), work=True)
    assert ["3", "0.62", "0.38", "0.00†"] in cells(page)
    assert "| **3** | **0.62** | *0.38* | 0.00† |" in page
    assert (
        r"A_{3,1} &= \frac{e^{8.50}}{e^{8.50} + e^{8.00} + e^{-13.25}} = "
        r"\frac{4914.77}{7895.73} \approx 0.62"
    ) in page
    assert "![The map](<page-map.png>)" in page
    assert "- Output 3: most input 1 (0.62), second input 2 (0.38)" in page
    assert "with full precision" not in page, "advice is not handed in"


@pytest.mark.parametrize("name", mostly_slow([each.name for each in SAMPLES], 45))
def test_github_reads_its_markdown_before_its_mathematics(name: str) -> None:
    """So no backslash may precede punctuation, except at the end of a line, nor _ follow it."""
    problem = read_problem(next(each.path for each in SAMPLES if each.name == name))
    for fractions in (None, "plain"):
        for formula in FORMULA.findall(markdown(problem, work=True, fractions=fractions)):
            inner = formula.replace("\\\\\n", "\n")
            assert not re.search(r"\\[^A-Za-z]|[^A-Za-z0-9]_|[*<>|`$]", inner)
            for left, right in ("{}", "()"):
                assert formula.count(left) == formula.count(right)


@pytest.mark.slow
def test_labels_are_text_in_tables_and_sentences() -> None:
    labels = [*HOSTILE, "a|b", "*c*", "[d](http://e)", "<b>f</b>", ":smile:", "@g", "`h`", "&amp;"]
    labels += ["~~i~~", "~j~"]
    problem = random_problem(len(labels), 2, labels=labels, title="$x_1$ *y* <z>")
    page = markdown(problem)
    html = rendered(page)
    assert not re.search(
        r"<(?!/?(h[12]|ul|li|p|table|thead|tbody|tr|th|td|strong|em|code|img|span)\b)", html
    )
    assert "<a" not in html
    names = {row[0] for row in cells(page)}
    for label in ("a|b", "*c*", "[d](http://e)", ":smile:", "@g", "`h`", "~~i~~", "~j~"):
        assert label in names
    assert "&lt;b&gt;f&lt;/b&gt;" in names
    assert "&amp;amp;" in names
    assert "~" not in page, "GitHub strikes out what stands between single ones too"
    assert "$" not in FORMULA.sub("", page)
    widths = {len(row) for row in cells(page)}
    assert widths == {3, len(labels) + 1}, "a pipe in a label broke its row"


def test_a_worksheet_has_empty_tables_and_no_answer() -> None:
    page = markdown(read_problem(SAMPLES[0].path), blank=True)
    assert ["3", "-2", "2", "-1", "0"] in cells(page)
    assert page.count("&nbsp;" * 8) == 42
    assert not re.search(r"13\.25|0\.62|1\.17|†|most input|approx", page)
    assert "Two columns of dots to draw lines between" in page


def test_markdown_to_a_pipe_states_where_the_map_is(attncalc: Command) -> None:
    run = attncalc("self", "--format", "markdown")
    assert "![" not in run.out
    assert run.err.endswith("the map is left out: -o FILE writes it beside the page\n")
