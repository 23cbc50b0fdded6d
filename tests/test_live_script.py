"""The page's script is put together from its modules: short, and the same."""

import itertools
import re
import subprocess
from pathlib import Path

import pytest
from html_pages import read_page
from live_pages import NODE, needs_node

from attncalc import check
from attncalc.problem.samples import sample
from attncalc.reading import read_problem
from attncalc.solving.plan import plan
from attncalc.solving.solution import solve
from attncalc.writing.html.style import squeezed
from attncalc.writing.live.made import write_page
from attncalc.writing.live.script import (
    CURVE,
    GLOBALS,
    MARKED,
    PAGE,
    PRACTICE,
    UNMARKED,
    _in_order,
    _read,
    imports,
    script,
    tokens,
)
from attncalc.writing.page import Contents, make_page

SCRIPTS = (PAGE, PRACTICE, UNMARKED, MARKED, CURVE)
BUDGET = 97_200
"""Bytes of script and style in a page, its own numbers aside."""
DECLARES = {"const", "let", "function", "class", "*", "(", ",", "{", "[", "...", ":", "=", "=>"}
"""What may precede a name in its declaration."""


@pytest.mark.slow
@pytest.mark.parametrize("practice", [False, True])
def test_script_and_style_of_a_page_are_within_the_budget(practice: bool) -> None:
    problem = read_problem(sample("self").path)
    page = make_page(solve(problem), Contents(plan(problem), blank=practice))
    assert _weighs(write_page(page, practice=practice)) <= BUDGET


def test_a_marked_answer_is_within_the_budget_by_far() -> None:
    page = check(read_problem(sample("self").path), {"Q": [[1, 3], [-1, 1], [2.5, 2]]}).to_html()
    assert _weighs(page) <= BUDGET / 5


def _weighs(page: str) -> int:
    """Return the bytes of script and style in a page that has a script."""
    read = read_page(page)
    (runs,) = (each.text for each in read.all("script") if each.attributes.get("type") is None)
    return len((runs + read.one("style").text).encode())


def test_a_script_is_parsed() -> None:
    said = (
        'const f = (a, { b, c: d = 1 }) => a / b / /[/"]/.test(`x${{ b }.b}/${`n${a}`}`) ? {} : d;'
    )
    found = tokens(said)
    assert "".join(each.text for each in found).replace(" ", "") == said.replace(" ", "")
    roles = [(each.text, each.role) for each in found if each.role]
    assert roles == [
        *[("f", "variable"), ("a", "variable"), ("b", "both"), ("c", "property")],
        *[("d", "variable"), ("a", "variable"), ("b", "variable"), ("test", "property")],
        *[("b", "both"), ("b", "property"), ("a", "variable"), ("d", "variable")],
    ]
    assert [each.text for each in found if each.kind == "regex"] == ['/[/"]/']


def test_names_equal_to_keywords_are_names() -> None:
    found = tokens('const a = { class: "b", from }; const c = { from: 1, get };')
    assert [each.text for each in found if each.role == "property"] == ["class", "from"]
    assert [each.text for each in found if each.role == "both"] == ["from", "get"]


def test_another_script_is_refused() -> None:
    with pytest.raises(ValueError, match="no token of a script"):
        tokens("a = 'single';")


@pytest.mark.slow
def test_names_that_stay_are_those_of_browsers() -> None:
    """Every other name is made known somewhere in its module, and so can be another."""
    for name in {each for what in SCRIPTS for each in _in_order(what)}:
        known, found = _read(name)
        own = {token.text for before, token in itertools.pairwise(found) if before.text in DECLARES}
        named = {token.text for token in found if token.role in ("variable", "both")}
        assert named <= own | GLOBALS | set(known), name
        assert set(imports(name)) <= named, name  # and none is imported in vain


@pytest.mark.slow
@needs_node
@pytest.mark.parametrize("what", SCRIPTS)
def test_a_script_with_short_names_is_one(what: str, tmp_path: Path) -> None:
    place = tmp_path / "script.js"
    place.write_text(script(what), "utf-8")
    assert NODE
    subprocess.run([NODE, "--check", place], check=True, timeout=60)


def test_a_style_loses_nothing_but_spaces_and_comments() -> None:
    said = "@media (min-width: 9rem) {\n  a > b, c :is(d, e) { margin: 0 -1px; color: red; }\n}\n"
    assert squeezed(f"/* why */ {said}") == (
        "@media (min-width:9rem){a>b,c :is(d,e){margin:0 -1px;color:red}}"
    )


@pytest.mark.parametrize("what", SCRIPTS)
def test_scripts_are_one_declaration_to_a_line_and_no_comment(what: str) -> None:
    lines = script(what).splitlines()
    assert lines[0] == '"use strict";'
    beginning = re.compile(r"(?:let |function\*? ?|class |)[A-Za-z_$][A-Za-z0-9]{0,3}(?![\w$])")
    assert not [line for line in lines[1:-1] if not beginning.match(line)]
    assert all(line[-1] in ";}" for line in lines[:-1])
