"""Pages of long problems, of many heads and of whole matrices: bounded, and the same digits."""

import re
import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from conftest import BUNDLED, mostly_slow

from attncalc.base.errors import InputError
from attncalc.cli.commands import beforehand
from attncalc.problem.problem import Problem
from attncalc.reading import read_problem
from attncalc.solving import exactness, long_inputs, remade, solution
from attncalc.solving import limits as memory
from attncalc.solving.plan import plan
from attncalc.solving.solution import Solution, solve
from attncalc.solving.work import Work
from attncalc.writing.document import MOST_HEADS
from attncalc.writing.frames import Screen
from attncalc.writing.latex import write_latex
from attncalc.writing.markdown import write_markdown
from attncalc.writing.page import Contents, Page, make_page
from attncalc.writing.page_data import write_csv, write_json
from attncalc.writing.terminal import write_notes, write_tables

SAMPLES = BUNDLED
_RNG = np.random.default_rng(5)
_X = _RNG.normal(size=(23, 4)).round(1)
_W = [_RNG.normal(size=(4, 4)).round(1) for _ in range(3)]
GIVEN: dict[str, Any] = dict(zip(("X", "W_Q", "W_K", "W_V"), (_X, *_W), strict=True))
KINDS: dict[str, dict[str, Any]] = {
    "one head": GIVEN,
    "masked": GIVEN | {"causal": True, "ignore": np.arange(23 * 23).reshape(23, 23) % 5 == 0},
    "two heads": GIVEN | {"heads": 2},
    "rounded": GIVEN | {"heads": 2, "rounding": "each-step"},
    "in float32": {name: each.astype(np.float32) for name, each in GIVEN.items()},
    "in columns": {name: each.T for name, each in GIVEN.items()} | {"layout": "columns"},
}


@pytest.fixture
def everything_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small problems in floats, in blocks, in a few rows at a time."""
    monkeypatch.setattr(solution, "LONG", 1)
    monkeypatch.setattr(exactness, "LARGEST_COST", 0)
    monkeypatch.setattr(remade, "ENTRIES", 23 * 4)


def _page(found: Solution, **contents: Any) -> Page:
    return make_page(found, Contents(found.plan, **contents))


def _forms(page: Page) -> Iterator[str]:
    yield "\n".join(text.plain for text in write_tables(page, Screen()))
    yield "\n".join(write_notes(page))
    yield write_markdown(page)
    yield write_latex(page)
    yield "".join(write_csv(page))
    yield "".join(write_json(page))


@pytest.mark.slow
@pytest.mark.usefixtures("everything_is_long")
@pytest.mark.parametrize("kind", mostly_slow(KINDS, 6))
def test_pages_are_the_same_whether_scores_are_kept_or_made_again(kind: str) -> None:
    problem = Problem(**KINDS[kind])
    kept, made = (solve(problem, remakes=each, proves=False) for each in (False, True))
    assert isinstance(made.floats["A"], remade.Remade)
    for full in (False, True):
        if problem.layout == "columns":  # there data is of arrays that are kept
            pages = [list(_forms(_page(each, full=full)))[:4] for each in (kept, made)]
        else:
            pages = [list(_forms(_page(each, full=full))) for each in (kept, made)]
        assert pages[0] == pages[1]
    assert kept.count_differing() == made.count_differing()


@pytest.mark.usefixtures("everything_is_long")
def test_recomputed_weights_equal_softmax_in_numpy() -> None:
    made: Any = solve(Problem(**GIVEN), remakes=True).floats["A"]
    scores = (_X @ _W[0]) @ (_X @ _W[1]).T / 2
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    expected = powers / powers.sum(axis=1, keepdims=True)
    places: tuple[Any, ...] = (
        3, (22, 1), slice(2, 9), (slice(4, 7), slice(1, 3)), (..., 5), (-1, -1), slice(0, 0), ...,
        (..., slice(3, 4), slice(None)),
    )  # fmt: skip
    for place in places:
        np.testing.assert_allclose(made[place], expected[place], rtol=1e-12)
    np.testing.assert_allclose(list(made), expected, rtol=1e-12)
    assert (made.shape, made.ndim, made.size, len(made)) == ((23, 23), 2, 529, 23)


@pytest.mark.slow
def test_the_page_of_a_long_problem_uses_the_memory_of_a_block(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Three matrices of 600 × 600 are 9 MB; of ten times as many tokens, 900 MB."""
    monkeypatch.setattr(remade, "ENTRIES", 2**14)
    monkeypatch.setattr(long_inputs, "AREA", 2**14)
    monkeypatch.setattr(long_inputs, "ROWS", 16)
    x = np.linspace(0, 1, 600)[:, np.newaxis].round(2)
    problem = Problem(X=x, W_Q=[[1]], W_K=[[1]], W_V=[[1]])
    peaks = []
    for remakes in (True, False):
        tracemalloc.start()
        page = _page(solve(problem, remakes=remakes))
        assert len(write_markdown(page)) < 100_000
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert page.has_map != remakes
    assert peaks[0] < 6_000_000
    assert peaks[1] > 9_000_000


def test_of_many_heads_the_first_and_last_are_shown_and_all_on_asking() -> None:
    problem = Problem(Q=[[[i % 7]] for i in range(60)], K=[[[1]]] * 60, V=[[[2]]] * 60)
    found = solve(problem)
    text = write_markdown(_page(found))
    shown = [int(number) for number in re.findall(r"Head (\d+) of 60", text)]
    assert sorted(set(shown)) == [*range(1, 11), *range(51, 61)]
    assert len(set(re.findall(r"^Head (\d+)$", text, re.M))) == MOST_HEADS
    assert "heads 11 to 50 of Q, K, V, S, S&#95;scaled, A, H are left out" in text
    whole = write_markdown(_page(found, full=True))
    assert set(map(int, re.findall(r"Head (\d+) of 60", whole))) == set(range(1, 61))
    assert "left out: --full" not in whole.replace("the middle of C", "")
    assert "".join(write_csv(_page(found))).count("A head ") == 60


@pytest.mark.slow
def test_of_many_heads_few_have_a_note_each() -> None:
    Q = [[[0, 0, 0]] * 3] * 50
    found = solve(Problem(Q=Q, K=Q, V=Q))
    notes = [note for note in _page(found).remarks if "sums to" in note]
    assert len(notes) == MOST_HEADS
    assert "in 30 more heads, too, weights as shown sum to other than 1.00" in _page(found).remarks


@pytest.mark.parametrize("sample", ["self.json", "heads.json", "columns.json", "causal.json"])
@pytest.mark.parametrize("rounding", ["display", "each-step"])
@pytest.mark.parametrize("fractions", [None, "plain"])
def test_a_row_equals_its_entries(sample: str, rounding: str, fractions: Any) -> None:
    problem = read_problem(SAMPLES / sample)
    found = solve(Problem(**{**_fields(problem), "rounding": rounding}))
    work = Work(found, fractions)
    for step in found.plan:
        *heads, rows, columns = found.shape_of(step.name)
        for head in np.ndindex(*heads):
            for row in range(rows):
                places = [work.turned((*head, row, column)) for column in range(columns)]
                asked = [(work.shown(step.name, p), work.hidden(step.name, p)) for p in places]
                assert work.row(step.name, head, row) == asked


def _fields(problem: Problem) -> dict[str, Any]:
    names = (*problem.names, "heads", "layout", "causal", "scale", "decimals")
    return {name: getattr(problem, name) for name in names}


def test_long_computations_are_announced(capsys: pytest.CaptureFixture[str]) -> None:
    problem = Problem(X=[[1]] * 100, W_Q=[[1]], W_K=[[1]], W_V=[[1]])
    how: Any = {"full": True, "remakes": False}
    beforehand.say_of_page(problem, 20_400, "table", work=False, **how)
    assert capsys.readouterr().err == ""
    beforehand.say_of_page(problem, 20_400, "table", work=True, **how)
    assert capsys.readouterr().err == (
        "note: 20,400 entries are written out: this takes about 25 s\n"
    )
    long = Problem(X=[[1]] * 20_000, W_Q=[[1]], W_K=[[1]], W_V=[[1]])
    entries = sum(beforehand.sizes_of(long, plan(long)).values())
    assert entries == 3 * 20_000**2 + 4 * 20_000
    beforehand.say_of_page(long, entries, "table", full=False, work=False, remakes=True)
    assert "this takes about 80 s and 150 MiB of memory" in capsys.readouterr().err


def test_a_key_and_a_picture_that_cannot_fit_are_refused_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from attncalc.writing.plotting.look import Look

    monkeypatch.setattr(memory, "available", lambda: 2**30)
    long = Problem(X=[[1]] * 5000, W_Q=[[1]], W_K=[[1]], W_V=[[1]])
    with pytest.raises(InputError, match=r"7.0 GiB of memory .*1.0 GiB are free: mark answers to"):
        beforehand.say_of_marking(long, plan(long))
    with pytest.raises(InputError, match=r"2.3 GiB of memory .*attncalc self --only A shows"):
        beforehand.say_of_picture(long, Look(), 1)
