"""A live page in a browser: what it shows after edits is what attncalc makes of the edited file."""

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from browser import Browser, needs_chromium
from fuzz.pace import slowness

from attncalc.problem.problem import Problem
from attncalc.problem.samples import sample
from attncalc.reading import read_problem, read_stream
from attncalc.solving.plan import plan
from attncalc.solving.solution import solve
from attncalc.solving.work import Fractions, Work
from attncalc.writing.html.page import write_html
from attncalc.writing.live.made import live_for, write_page
from attncalc.writing.page import Contents, make_page
from attncalc.writing.prose import line_in_text
from attncalc.writing.sentences import notes

pytestmark = [needs_chromium, pytest.mark.slow]

SHOWN = """(() => {
  const taken = (e) => !e.closest('.not-taken');
  const all = (selector) => [...document.querySelectorAll('main ' + selector)].filter(taken);
  const attributes = (e) => [...e.attributes].map((a) => a.name + '=' + a.value).sort().join(' ');
  const look = (e) => ['most', 'second'].find((name) => e.classList.contains(name)) ?? '';
  const inner = (e) => e.firstElementChild?.localName ?? '';
  return {
    cells: Object.fromEntries(all('[data-step] td[id]').map(
      (e) => [e.id, [e.textContent, look(e), inner(e)]])),
    given: all('[data-given] td[id]').map((e) => e.textContent),
    told: all('ul[data-weights] li').map((e) => e.textContent),
    lines: all('.map .lines line, .map .weights text').map((e) => attributes(e) + e.textContent),
    heat: all('.heatmap g[data-row]').map((e) => attributes(e) + ' '
      + e.querySelector('rect').getAttribute('fill-opacity') + ' ' + e.textContent),
    described: all('svg desc').map((e) => e.textContent),
    conventions: all('#conventions li').map((e) => e.textContent),
    footnotes: all('.remark').map((e) => e.textContent),
  };
})()"""


def page_of(
    problem: Problem, place: Path, *, live: bool = True, fractions: Fractions | None = None
) -> Path:
    """Write the page of a problem, as the command line does."""
    solution = solve(problem)
    contents = Contents(plan(problem), work=True, full=True, fractions=fractions)
    page = make_page(solution, contents)
    made = live_for(page)
    place.write_text(write_html(page, live=made if live else None), "utf-8")
    return place


def shown_for(
    browser: Browser, problem: Problem, folder: Path, fractions: Fractions | None = None
) -> Any:
    """Return what the page of a problem shows that no script has touched."""
    browser.open(page_of(problem, folder / "other.html", live=False, fractions=fractions))
    return browser.run(SHOWN)


def downloaded(browser: Browser) -> Problem:
    """Return the problem that the page hands out."""
    for old in browser.downloads.iterdir():
        old.unlink()
    browser.run("[...document.querySelectorAll('button')].find("
                "(e) => e.textContent === 'Download problem').click()")  # fmt: skip
    browser.until("true")
    place = browser.downloads / "problem.json"
    for _ in range(200):
        if place.exists() and place.read_text("utf-8").endswith("}\n"):
            break
        browser.run("new Promise((done) => setTimeout(done, 20))")
    return read_problem(place)


def quiet(browser: Browser) -> bool:
    """Return whether the page asked for nothing but itself, and nothing failed."""
    return not browser.failed and all(url.startswith(("file:", "blob:")) for url in browser.asked)


ADDRESSES = {
    "self": [
        "#X[0]=1/2",
        "#X[0]=1/2&causal=true",
        "#W_Q[1]=-3.25&W_V[2]=1/3",
        "#rounding=display&decimals=4",
        "#scale=sqrt_dk",
        "#scale=1/3&causal=true&softcap=2.5",
        "#normalizer=hardmax&scale=none",
        "#scale=1",
        "#scale=0&X[5]=7",
        "#X[3]=100&X[1]=-100&decimals=0",
    ],
    "cross": ["#X1[0]=2.5&decimals=3", "#scale=2&causal=true", "#softcap=1/2", "#softcap=1/1000"],
    "heads": ["#X[1]=3", "#scale=none&decimals=5&rounding=each-step", "#causal=true"],
    "masks": ["#X1[0]=9", "#bias[1]=-inf", "#ignore[0]=1", "#decimals=1"],
    "columns": [
        "#X[1]=1/7",
        "#causal=true&rounding=each-step",
        "#decimals=6&scale=2",
        "#decimals=0&scale=0",  # many footnotes, in the order of the page
    ],
    "torch": ["#X[0]=5", "#W_Q[1]=2", "#W_K[3]=-1.25"],
    "rope": ["#X[0]=3", "#decimals=7"],
    "positions": ["#X[0]=3"],
    "grouped": ["#X[2]=1/9&scale=0.5"],
    "cache": ["#past_K[0]=4"],
    "encoder": ["#X[0]=2", "#W_1[0]=1/3&decimals=4", "#rounding=display", "#causal=true&scale=2"],
    "decoder": ["#X1[0]=2&decimals=3", "#self.W_Q[1]=3", "#scale=1/2&causal=false", "#softcap=1/3"],
    "gpt": ["#X[0]=2", "#gamma_1[0]=1/2"],
    "additive": ["#v_S[0]=2", "#scale=1/2", "#softcap=2&rounding=each-step"],
    "softmax": ["#S[0]=5&V[1]=1/3", "#causal=true&decimals=4"],
    "ids": ["#ids[1]=3", "#W_E[0]=2&decimals=3"],
    "vit": ["#image[0]=3", "#E[1]=1/3"],
    "gradients": ["#X[0]=1/2&decimals=3", "#scale=2&rounding=display", "#dO[0]=1/3"],
    "lstm": ["#X[2]=1/2&decimals=3", "#U_f[0]=2&rounding=each-step"],
    "latent": ["#H[0]=1/2&decimals=3"],
    "alignment": ["#H[0]=2", "#W_a[0]=1/3&rounding=each-step"],
}


IN_FRACTIONS = {
    "self": [
        "#X[0]=1/3",  # what was rounded is no fraction, nor what is made of it
        "#rounding=display&W_V[2]=1/3",
        "#normalizer=hardmax&scale=1/7",
        "#rounding=display&scale=-2.5&decimals=0",
        "#X[3]=0.5&W_V[0]=1/128",
        "#X[3]=0.5&W_V[0]=1/1024&rounding=display",
    ],
    "columns": ["#X[1]=1/7", "#causal=true", "#scale=2/3"],
    "encoder": ["#W_1[0]=1/3", "#rounding=display&gamma_1[0]=5/2"],
    "running-linear": ["#X[0]=7/3"],
    "gradients": ["#dO[0]=1/3", "#rounding=display"],
}
EDITED = [
    *((name, None, addresses) for name, addresses in ADDRESSES.items()),
    *((name, "mixed" if name == "columns" else "plain", addresses)
      for name, addresses in IN_FRACTIONS.items()),
]  # fmt: skip


@pytest.mark.parametrize(("name", "fractions", "addresses"), EDITED)
def test_an_edited_page_equals_the_page_of_the_edited_file(
    browser: Browser,
    name: str,
    fractions: Fractions | None,
    addresses: Sequence[str],
    tmp_path: Path,
) -> None:
    problem = read_problem(sample(name).path)
    place = page_of(problem, tmp_path / "page.html", fractions=fractions)
    shown = {}
    for address in addresses:
        browser.open(place, address)
        assert browser.text(".status") == "Recalculated.", address
        found, other = browser.run(SHOWN), downloaded(browser)
        assert quiet(browser), (browser.failed, browser.asked)
        wanted = shown_for(browser, other, tmp_path, fractions)
        for part in wanted:
            assert found[part] == wanted[part], (address, part)
        shown[address] = found
    browser.open(place)
    untouched = browser.run(SHOWN)
    for address in (*reversed(shown), *shown):  # one after the other on one page
        browser.run(f"location.hash = {json.dumps(address)}")
        browser.until("document.querySelector('.status').textContent === 'Recalculated.'")
        browser.run("new Promise((done) => setTimeout(done, 30))")
        assert browser.run(SHOWN) == shown[address], address
    browser.run("[...document.querySelectorAll('button')].find("
                "(e) => e.textContent === 'Reset').click()")  # fmt: skip
    assert browser.run(SHOWN) == untouched


@pytest.mark.parametrize(
    ("fields", "address"),
    [
        ({"A": [["1/2", "1/4"], ["1/5", "-1/5"]], "V": [[1, 2], [3, 4]]}, "#A[1]=1/2"),
        ({"Q": [[1, 2], [0, 1]], "K": [[1, 0], [1, 1]], "V": [[1], [2]], "sinks": [1]}, "#Q[0]=3"),
    ],
    ids=["weights that are given", "sinks"],
)
def test_notes_of_weights_are_those_of_the_edited_file(
    browser: Browser, fields: dict[str, Any], address: str, tmp_path: Path
) -> None:
    problem = read_stream(json.dumps(fields).encode(), "problem.json")
    browser.open(page_of(problem, tmp_path / "page.html"), address)
    found, other = browser.run(SHOWN), downloaded(browser)
    assert found["footnotes"]
    assert found["footnotes"] == shown_for(browser, other, tmp_path)["footnotes"]


@pytest.mark.parametrize("step", ["0.01", "2"])
def test_a_step_that_was_too_long_is_reported_after_an_edit(
    browser: Browser, step: str, tmp_path: Path
) -> None:
    """And where it was not, it is not; in either rounding."""
    problem = read_problem(sample("gradients-target").path, step=step)
    page = page_of(problem, tmp_path / "page.html")
    for address in ("#X[0]=1/2", "#X[1]=5&decimals=4", "#W_V[0]=3&rounding=display"):
        browser.open(page, address)
        found, other = browser.run(SHOWN)["footnotes"], downloaded(browser)
        rose = [each for each in found if each.startswith("L rose by ")]
        assert rose == [
            note.text for note in notes(solve(other)) if note.text.startswith("L rose by ")
        ]
        assert bool(rose) == (step == "2")


def test_work_of_tanh_of_0_is_exact_on_a_page(browser: Browser, tmp_path: Path) -> None:
    """A page goes without what other pages need, and keeps what this work does."""
    fields = {"S": [[0, 1]], "V": [[1], [2]], "softcap": 2}
    problem = read_stream(json.dumps(fields).encode(), "problem.json")
    browser.open(page_of(problem, tmp_path / "page.html"), "#S[1]=3")
    browser.point("#S_capped-1-1")
    line = line_in_text(Work(solve(downloaded(browser))).line("S_capped", (0, 0)))
    browser.point("#S_capped-1-1")
    assert browser.text(".at-hand .line") == line
    assert line.endswith("= 0.00")


HOSTILE = (
    "</script><script>window.hurt=1</script>",
    "<img src=x onerror=window.hurt=1>",
    "a\u202eb",
    "javascript:window.hurt=1",
    "\"'`${window.hurt=1}",
    "nul\0",
    "__proto__",
)


def test_hostile_labels_and_addresses_do_nothing(browser: Browser, tmp_path: Path) -> None:
    count = len(HOSTILE)
    rng = Random(1)
    tokens = [[rng.randint(-3, 3) for _ in range(2)] for _ in range(count)]
    weights = [[1, 0], [0, 1]]
    problem = Problem(
        X=tokens, W_Q=weights, W_K=weights, W_V=weights, labels=HOSTILE, title=HOSTILE[0]
    )
    place = page_of(problem, tmp_path / "page.html")
    addresses = ["", "#X[0]=<img src=x onerror=window.hurt=1>", "#__proto__[0]=1", "#X[99999]=1",
                 "#constructor=1", "#scale=window.hurt=1", "#%E0%A4%A&&=&X[0]", "#X[0]=5",
                 "#toString[1]=2&decimals=1e9&X[1]=1e999999"]  # fmt: skip
    for address in addresses:
        browser.open(place, address)
        browser.run("document.querySelector('#A-1-1').click()")
        assert browser.run("window.hurt === undefined && ({}).polluted === undefined")
        assert quiet(browser), (address, browser.failed, browser.asked)
    browser.open(place, "#X[0]=abc&X[1]=2")
    assert browser.text(".status").startswith("1 of the changes in the address cannot be read")
    assert browser.text("#X-1-2") == "2"
    browser.open(place, "#X[0]=5")
    told = browser.run(SHOWN)["told"]
    assert told == shown_for(browser, downloaded_from(problem, 0, 5), tmp_path)["told"]


def downloaded_from(problem: Problem, flat: int, number: int) -> Problem:
    """Return the problem with one entry of X changed."""
    from attncalc.problem.serialising import in_json

    said = in_json(problem)
    said["X"][flat // 2][flat % 2] = number
    return read_stream(json.dumps(said).encode(), "problem.json")


def test_an_edit_of_forty_tokens_is_fluid(browser: Browser, tmp_path: Path) -> None:
    rng = Random(2)
    drawn = [[rng.randint(-99, 99) / 100 for _ in range(16)] for _ in range(40)]
    weights = [[rng.randint(-99, 99) / 100 for _ in range(8)] for _ in range(16)]
    problem = Problem(X=drawn, W_Q=weights, W_K=weights, W_V=weights)
    page = make_page(solve(problem), Contents(plan(problem), full=True))
    made = live_for(page)
    place = tmp_path / "page.html"
    place.write_text(write_html(page, live=made), "utf-8")
    browser.open(place)
    took = browser.run("""(async () => {
      const took = [];
      for (let k = 0; k < 7; k += 1) {
        const start = performance.now();
        history.replaceState(null, '', `#X[${k}]=0.${k + 1}`);
        window.dispatchEvent(new Event('hashchange'));
        document.body.getBoundingClientRect();
        took.push(performance.now() - start);
        await new Promise(requestAnimationFrame);
      }
      return took.sort((a, b) => a - b);
    })()""")
    assert browser.text(".status") == "Recalculated."
    assert took[3] < 150 * slowness()  # on a shared machine; 50 on an ordinary one


def practice_of(problem: Problem, place: Path, fractions: Fractions | None = None) -> Path:
    """Write the worksheet of a problem, as --practice does."""
    contents = Contents(plan(problem), blank=True, fractions=fractions)
    page = make_page(solve(problem), contents)
    place.write_text(write_page(page, practice=True), "utf-8")
    return place


def fill(browser: Browser, box: str, text: str) -> None:
    """Type into a box."""
    browser.run(f"document.querySelector('{box} input').select()")
    browser.type(text)


def press_button(browser: Browser, name: str) -> None:
    """Press the button of this name."""
    browser.run(
        f"[...document.querySelectorAll('button')].find((e) => e.textContent === '{name}').click()"
    )


@pytest.mark.parametrize(("fractions", "line"), [("plain", "5/2"), ("mixed", "2 1/2")])
def test_a_worksheet_in_fractions_shows_and_accepts_them(
    browser: Browser, fractions: Fractions, line: str, tmp_path: Path
) -> None:
    """A mixed number is written in the line, and in the box as check reads it."""
    problem = read_problem(sample("self").path, rounding="display")
    browser.open(practice_of(problem, tmp_path / "practice.html", fractions))
    for cell in ("V-1-1", "A-3-1"):
        browser.run(f"document.querySelector('#{cell} input').focus()")
        press_button(browser, "Show")
    shown = "[...document.querySelectorAll('#V-1-1 input, #A-3-1 input')].map((e) => e.value)"
    assert browser.run(shown) == ["5/2", "0.62"]
    browser.run("document.querySelector('#V-1-1 input').focus()")
    press_button(browser, "Hint 3")
    assert browser.text(".at-hand .line").endswith(" = ?")
    press_button(browser, "Show")
    assert browser.text(".at-hand .line").endswith(f" = {line}")
    press_button(browser, "Check")
    assert browser.text(".status").startswith("2 ✓ right")
    assert quiet(browser), (browser.failed, browser.asked)


def test_data_stored_by_another_page_is_ignored(browser: Browser, tmp_path: Path) -> None:
    browser.open(practice_of(read_problem(sample("self").path), tmp_path / "practice.html"))
    fill(browser, "#Q-1-1", "1")
    key = browser.run("Object.keys(localStorage).find((k) => k.startsWith('attncalc practice'))")
    for kept in ("null", "[]", '{"Q": 5}', '{"Q": ["<img src=x onerror=window.hurt=1>"]}', "{"):
        browser.run(f"localStorage.setItem({json.dumps(key)}, {json.dumps(kept)})")
        browser.open(tmp_path / "practice.html")
        press_button(browser, "Check")
        assert browser.run("window.hurt === undefined")
        assert quiet(browser), (kept, browser.failed)
    browser.run("localStorage.clear()")
