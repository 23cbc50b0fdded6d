"""The page's script is put together from its modules: short, of what a page needs, and the same."""

import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from html_pages import read_page
from live_pages import in_node, needs_node

from attncalc import check
from attncalc.problem.samples import SAMPLES, sample
from attncalc.reading import read_problem
from attncalc.solving.plan import plan
from attncalc.solving.solution import solve
from attncalc.solving.work import Fractions
from attncalc.writing.html.style import squeezed
from attncalc.writing.live.joined import IMPORT, JOINED, join, part
from attncalc.writing.live.made import INSTEAD, write_page
from attncalc.writing.live.modules import _pruned, module, texts
from attncalc.writing.live.script import (
    ALL,
    GLOBALS,
    MODULES,
    OURS,
    PAGE,
    PRACTICE,
    PROPERTIES,
    script,
)
from attncalc.writing.live.tokens import tokens
from attncalc.writing.page import Contents, make_page

BUDGET = 60_500
"""Bytes of script and style in a page, its own numbers aside."""
DECLARES = {"const", "let", "function", "class", "(", ",", "{", "[", "...", ":", "=", "=>"}
"""What may stand before a name where it is made known."""


FEW = ("self", "cross", "encoder", "decoder", "rope", "gpt", "ids")
SOME = [
    *FEW,
    *(pytest.param(each.name, marks=pytest.mark.slow) for each in SAMPLES if each.name not in FEW),
]


@pytest.mark.campaign(7)
@pytest.mark.parametrize("practice", [False, True])
@pytest.mark.parametrize("fractions", [None, pytest.param("mixed", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", SOME)
def test_script_and_style_of_a_page_are_within_the_budget(
    name: str, fractions: Fractions | None, practice: bool
) -> None:
    problem = read_problem(sample(name).path)
    contents = Contents(plan(problem), blank=practice, fractions=fractions)
    page = make_page(solve(problem), contents)
    assert _weighs(write_page(page, practice=practice)) <= BUDGET


def test_a_marked_answer_is_within_the_budget_by_far() -> None:
    page = check(read_problem(sample("self").path), {"Q": [[1, 3], [-1, 1], [2.5, 2]]}).to_html()
    assert _weighs(page) <= BUDGET / 4


def _weighs(page: str) -> int:
    """Return the bytes of script and style in a page that has a script."""
    read = read_page(page)
    (runs,) = (each.text for each in read.all("script") if each.attributes.get("type") is None)
    return len((runs + read.one("style").text).encode())


def test_a_page_knows_no_operations_but_its_own() -> None:
    """What others need goes with them: the error function, and angles."""
    whole, alone = script(PAGE), script(PAGE, frozenset({"Project", "Softmax"}))
    for said in ("Rotate:", "FeatureVariance:", "gelu-tanh"):
        assert said in whole
        assert said not in alone
    assert "Softmax:" in alone


def test_only_tables_by_operation_go_without_entries() -> None:
    """A table by something else, a function's name say, would lose what it is read for."""
    gradients = ("gradients", "backs")
    names = (*MODULES, "others", *gradients, "marking", "attended", "practice", "rendering")
    shorter = {
        each.names[0]
        for each in itertools.chain.from_iterable(module(name).declarations for name in names)
        if each.names and _pruned(each, frozenset()) != each
    }
    assert shorter == {
        *("ACTIVATED", "ACTIVATIONS", "FUNCTIONS", "LOWEST", "SLOPE", "SLOPES", "SLOPE_BOUNDS"),
        *("TITLES", "EXPLAIN", "NOTES", "OPERATIONS", "PRECISE", "REACH"),
    }


def test_a_script_is_taken_apart_as_it_is_meant() -> None:
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


def test_what_is_called_as_a_word_of_the_language_is_no_such_word() -> None:
    found = tokens('const a = { class: "b", from }; const c = { from: 1, get };')
    assert [each.text for each in found if each.role == "property"] == ["class", "from"]
    assert [each.text for each in found if each.role == "both"] == ["from", "get"]


def test_what_is_no_script_of_ours_is_refused() -> None:
    with pytest.raises(ValueError, match="no token of a script"):
        tokens("a = 'single';")


def test_names_that_stay_are_those_of_browsers() -> None:
    """Every other name is made known somewhere in its module, and so can be another."""
    for name in (*MODULES, PAGE, PRACTICE):
        found = [each for piece in module(name).declarations for each in piece.tokens]
        known = {
            token.text for before, token in itertools.pairwise(found) if before.text in DECLARES
        }
        named = {token.text for token in found if token.role in ("variable", "both")}
        assert named <= known | GLOBALS | set(module(name).known), name


EVERY_MODULE = sorted(texts())


@pytest.mark.slow
def test_joined_for_a_wheel_modules_are_what_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Comments and spaces aside: what they take from one another, and each of their tokens."""
    joined = join(texts())
    parted = part(joined)
    assert list(parted) == list(texts())
    for name, text in texts().items():
        taken = [[" ".join(each[1].split()), each[2]] for each in IMPORT.finditer(text)]
        assert [[each[1].strip(), each[2]] for each in IMPORT.finditer(parted[name])] == taken
        assert tokens(IMPORT.sub("", parted[name])) == tokens(IMPORT.sub("", text))
    assert len(joined) < 0.9 * sum(map(len, texts().values()))
    (tmp_path / JOINED).write_text(joined, "utf-8")
    monkeypatch.setattr("attncalc.writing.live.modules.files", lambda _: tmp_path)
    before = dict(texts())
    texts.cache_clear()
    try:
        assert texts() == parted
    finally:
        monkeypatch.undo()
        texts.cache_clear()
    assert texts() == before


@pytest.mark.slow
def test_what_is_called_otherwise_in_a_page_is_named_by_no_string_and_no_data() -> None:
    """Else what is read by such a name would not be found by the other."""
    found = {
        token.text.strip('"')
        for name in EVERY_MODULE
        for piece in module(name).declarations
        for token in piece.tokens
        if token.kind == "string"
    }
    problem = read_problem(sample("ids").path)
    marked_page = check(problem, {"logits": [[1, 2], [3, 4]]}).to_html()
    pages = [
        *(write_page(make_page(solve(problem), Contents(plan(problem), blank=practice)),
                     practice=practice) for practice in (False, True)),
        marked_page,
    ]  # fmt: skip
    for page in pages:
        data = next(each.text for each in read_page(page).all("script"))
        found |= set(_keys(json.loads(data)))
    assert len(found) > 100
    assert not found & set(OURS)
    assert len(set(PROPERTIES.values())) == len(OURS)


def _keys(data: Any) -> Iterator[str]:
    """Yield all that is named in data, at any depth."""
    if isinstance(data, dict):
        yield from data
    for each in data.values() if isinstance(data, dict) else data if isinstance(data, list) else ():
        yield from _keys(each)


@pytest.mark.parametrize("instead", [each for each in INSTEAD.values() if each])
def test_what_stands_in_for_another_stands_in_for_one_alone(instead: tuple[str, ...]) -> None:
    """Of two modules that export the same name, both would be read from there."""
    exported = [
        each
        for name in EVERY_MODULE
        if name not in {*itertools.chain.from_iterable(INSTEAD.values())}
        for each in module(name).exported
    ]
    for name in instead:
        assert module(name).exported
        for each in module(name).exported:
            assert exported.count(each) == 1, each


@needs_node
def test_shortened_names_mean_what_they_meant() -> None:
    """Of two modules with a name in common, and of a property with the name of a variable."""
    program = """
      const given = $expressions.given($numbers.readNumber(line));
      return [given.is, $numbers.ratio(6n, 4n).d.toString(), $expressions.written(given)];
    """
    assert list(in_node(program, ["0.5"])) == [["number", "2", "0.5"]]


def test_a_style_loses_nothing_but_spaces_and_comments() -> None:
    said = "@media (min-width: 9rem) {\n  a > b, c :is(d, e) { margin: 0 -1px; color: red; }\n}\n"
    assert squeezed(f"/* why */ {said}") == (
        "@media (min-width:9rem){a>b,c :is(d,e){margin:0 -1px;color:red}}"
    )


def test_scripts_are_one_declaration_to_a_line_and_no_comment() -> None:
    for what in (PAGE, PRACTICE):
        lines = script(what, ALL).splitlines()
        assert lines[0] == '"use strict";'
        beginning = re.compile(r"(?:let |function[ *]|class |)[A-Za-z][A-Za-z0-9]{0,3}\b")
        assert all(beginning.match(line) for line in lines[1:-1])
        assert all(line[-1] in ";,}" for line in lines[:-1])
