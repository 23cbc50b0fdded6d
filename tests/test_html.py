"""Pages of HTML: whole without JavaScript, strictly HTML, with the numbers of every other form."""

import base64
import hashlib
import html
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import PACKAGE, ROOT, SLOW, Command, clean_environment
from html_pages import Element, matrix_of, number_of, read_page

from attncalc import Problem, check, read_problem, self_attention, solve
from attncalc.api.studies import simulate, vary
from attncalc.equations.expressions import EXPRESSIONS
from attncalc.problem.samples import SAMPLES, sample
from attncalc.reading import read_stream
from attncalc.writing.html.elements import element, escaped
from attncalc.writing.html.mathml import MathMl, name_in_mathml
from attncalc.writing.html.page import Live, write_html
from attncalc.writing.html.pictures import DEEP, MIDDLE
from attncalc.writing.live.script import script
from attncalc.writing.page import Contents, make_page
from attncalc.writing.verdict import points_text

pytestmark = pytest.mark.campaign(4)

PROBLEM = str(sample("self").path)
FEW = ("self", "columns", "heads", "encoder", "masks")
SOME = [*FEW, *(pytest.param(each.name, marks=SLOW) for each in SAMPLES if each.name not in FEW)]
FLAGS = ((), ("--fractions",))
WORKED = [
    *((name, flags) for name in FEW for flags in FLAGS),
    *(
        pytest.param(each.name, FLAGS[place % 2], marks=SLOW)
        for place, each in enumerate(SAMPLES)
        if each.name not in FEW
    ),
]
"""Samples with what their work is asked for with."""
LARGEST = 150_000
"""Bytes of a page of the homework."""


def problem_of(name: str) -> Problem:
    return read_problem(sample(name).path)


def page_of(name: str, **contents: Any) -> Element:
    return read_page(solve(problem_of(name)).to_html(full=True, **contents))


def tables_of(page: Element, kind: str) -> dict[str, list[list[list[str]]]]:
    """Return the numbers of each matrix by its name, head after head."""
    found: dict[str, list[list[list[str]]]] = {}
    for table in page.all("table"):
        if kind in table.attributes:
            heads = found.setdefault(table.get(kind), [])
            heads.append(matrix_of(table))
            number = table.attributes.get("data-head")
            assert number in (None, str(len(heads)))
            first = next(table.one("tbody").all("td")).get("id")
            name = table.get(kind)
            assert first == (f"{name}-h{number}-1-1" if number else f"{name}-1-1")
    return found


# -- what it holds --------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", SOME)
def test_the_numbers_of_a_page_are_those_of_its_json(name: str, attncalc: Command) -> None:
    kind = {each.name: each.kind for each in SAMPLES}[name]
    asked = (kind, str(sample(name).path), "--full")
    content = json.loads(attncalc(*asked, "--format", "json").out)
    run = attncalc(*asked, "--format", "html")
    assert run.code == 0
    page = read_page(run.out)
    shown = {step["name"]: step["shown"] for step in content["steps"]}
    several = {step["name"] for step in content["steps"] if "heads" in step}
    tables = tables_of(page, "data-step")
    assert tables.keys() == shown.keys()
    for step, heads in tables.items():
        assert heads == (shown[step] if step in several else [shown[step]])
    told = [each.text for each in page.one("ul", id="conventions").all("li")]
    assert told
    for note in content["notes"]:
        assert note in page.text or "--rounding" in note
    for told_of in (step["rows"] for step in content["steps"]):
        assert all(str(name) in page.text for name in told_of)


@pytest.mark.slow
@pytest.mark.parametrize("name", SOME)
def test_given_numbers_are_shown_as_typed(name: str) -> None:
    problem = problem_of(name)
    tables = tables_of(page_of(name), "data-given")
    assert tables.keys() == set(problem.names)
    for given, heads in tables.items():
        written = [[[value(each) for each in row] for row in head] for head in heads]
        stored = np.asarray(problem.stored(given), dtype=np.float64)
        assert np.allclose(np.reshape(written, stored.shape), stored, atol=1e-12)


def value(text: str) -> float:
    if "inf" in text:
        return -np.inf
    top, _, bottom = text.partition("/")
    return float(top) / float(bottom or 1)


ENTRY = re.compile(r"[\w.]+\[[\d,]+\]")
NUMBERS = re.compile(r"\d+(?:\.\d+)?|∞")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "flags"), WORKED)
def test_the_work_of_a_page_is_that_of_its_json(
    name: str, flags: tuple[str, ...], attncalc: Command
) -> None:
    """Number for number and sign for sign: no term is lost on the way into MathML."""
    kind = {each.name: each.kind for each in SAMPLES}[name]
    asked = (kind, str(sample(name).path), "--full", "--work", *flags)
    work = json.loads(attncalc(*asked, "--format", "json").out)["work"]
    page = read_page(attncalc(*asked, "--format", "html").out)
    lines = list(page.all("p"))
    lines = [line for line in lines if "data-of" in line.attributes]
    assert len(lines) == len(work)
    for line, told in zip(lines, work, strict=True):
        entry, _, rest = told["work"].partition(" ")
        assert line.get("data-of") == entry
        in_order = ENTRY.sub(lambda found: place_of(found[0]), told["work"])
        assert NUMBERS.findall(line.words) == NUMBERS.findall(in_order)
        for sign in "√≈†=":
            found = line.text.count(sign)
            found += len(list(line.all("msqrt"))) if sign == "√" else 0
            assert found == told["work"].count(sign), told
        minus = len(re.findall(r"(?<![A-Za-z\d])-|(?<=\s)-(?=\s)", rest.replace("10^-", "10^ -")))
        assert line.text.count("−") == minus, told["work"]


def place_of(entry: str) -> str:
    """Return the numbers of an entry's name in the order of its mathematics: heads come last."""
    name, _, place = entry.rstrip("]").partition("[")
    *head, row, column = place.split(",")
    through = re.search(r"(?<=\w)_(?:var|mu|F|N|R)_\d+$", name)  # ∂L/∂R_2 via var_2
    via = through[0] if through and name.startswith("d") else ""
    first = NUMBERS.findall(name.removesuffix(via))
    return " ".join([*first, row, column, *head, *NUMBERS.findall(via)])


@pytest.mark.slow
def test_mixed_numbers_are_shown_beside_their_fractions() -> None:
    page = page_of("self", work=True, fractions="mixed")
    line = next(each for each in page.all("p") if each.attributes.get("data-of") == "V[1,1]")
    assert line.words.split()[-4:] == ["=", "2", "1", "2"]
    assert list(line.all("mfrac"))[-1].words.split() == ["1", "2"]
    assert page.one("td", id="V-1-1").text == "2 1/2"


@pytest.mark.slow
def test_work_is_folded_by_default_and_open_if_requested() -> None:
    solution = solve(problem_of("self"))
    folded, asked = (read_page(solution.to_html(work=work)) for work in (False, True))
    for page, is_open in ((folded, False), (asked, True)):
        works = list(page.all("details"))
        assert len(works) == 6
        assert all(("open" in each.attributes) == is_open for each in works)
    many = np.ones((20, 8)).tolist()
    eye = np.eye(8).tolist()
    assert not list(read_page(self_attention(many, eye, eye, eye).to_html()).all("details"))


@pytest.mark.slow
def test_masked_cells_of_a_heatmap_are_hatched_with_a_note() -> None:
    solution = solve(problem_of("causal"))
    drawn = read_page(solution.to_html(full=True)).one("svg", class_="heatmap")
    cells = [each for each in drawn.all("g") if "data-row" in each.attributes]
    masked = {
        (int(each.get("data-row")) - 1, int(each.get("data-column")) - 1)
        for each in cells
        if "masked" in each.attributes.get("class", "").split()
    }
    assert masked == {(i, j) for i in range(4) for j in range(4) if j > i}
    pattern = drawn.one("pattern").get("id")
    assert [each.get("fill") for each in drawn.all("g") if "fill" in each.attributes] == [
        f"url(#{pattern})"
    ]
    assert drawn.one("text", class_="note").text == "hatched: masked"


@pytest.mark.slow
@pytest.mark.parametrize("name", SOME)
def test_the_map_and_the_heatmap_agree_with_the_weights(name: str) -> None:
    solution = solve(problem_of(name))
    page = read_page(solution.to_html(full=True))
    by_columns = solution.problem.layout == "columns"
    for step in solution.all_weights:
        shown: Any = solution.shown(step.name)
        for head in solution.heads_of(step):
            of = {"data_weights": step.name}
            of |= {"data_head": str(head.number)} if head.number else {}
            drawn = page.one("svg", class_="map", **of)
            for rank in ("most", "second"):
                found = {
                    (int(line.get("data-output")), int(line.get("data-input")))
                    for line in drawn.all("line", class_=rank)
                }
                assert found == {
                    (each.output + 1, place + 1)
                    for each in head.connections
                    for place in getattr(each, rank)
                }
            cells = page.one("svg", class_="heatmap", **of)
            rows = shown[head.number - 1] if head.number else shown
            texts = {
                (int(cell.get("data-row")), int(cell.get("data-column"))): cell.text
                for cell in cells.all("g")
                if "data-row" in cell.attributes
            }
            assert texts == {
                (i, j): text
                for i, row in enumerate(rows, start=1)
                for j, text in enumerate(row, start=1)
            }
            sentences = [each.text for each in page.one("ul", **of).all("li")]
            assert drawn.one("desc").text == " ".join(f"{each}." for each in sentences)
            assert len(sentences) == len(rows[0] if by_columns else rows)


@pytest.mark.slow
def test_ranks_are_seen_without_colour_and_heard() -> None:
    page = page_of("self")
    (table,) = page.all("table", data_step="A")
    first, second = table.one("td", id="A-3-1"), table.one("td", id="A-3-2")
    assert (first.get("class"), first.one("strong").text) == ("most", "0.62")
    assert (second.get("class"), second.one("em").text) == ("second", "0.38")
    assert "bold largest of its row, slanted second" in page.text


def test_a_worksheet_has_empty_boxes_and_no_answer() -> None:
    page = page_of("self", blank=True)
    cells = [cell for table in page.all("table") if "data-step" in table.attributes
             for cell in table.one("tbody").all("td")]  # fmt: skip
    assert len(cells) == 6 * 4 + 9 * 2
    assert all((cell.text, cell.get("class")) == ("", "empty") for cell in cells)
    assert not list(page.all("details"))
    assert not [each for each in page.all() if "data-output" in each.attributes]
    assert len(list(page.one("svg").all("circle"))) == 6


def test_a_marking_explains_the_sign_of_each_entry() -> None:
    marking = check(PROBLEM, {"Q": [[1, 3], [-1, 1], ["2.5", 2]], "A": [[1]]})
    page = read_page(marking.to_html())
    wrong = page.one("td", id="Q-3-2")
    assert (wrong.text, wrong.get("class")) == ("2 ✗ wrong", "wrong")
    assert wrong.one("span", class_="sign").get("aria-hidden") == "true"
    assert f"Score: {points_text(marking.score.earned)} of {marking.score.possible}" in page.text
    for sentence in marking.verdict:
        assert sentence in page.text


@pytest.mark.slow
def test_a_class_has_one_page_with_names(attncalc: Command, tmp_path: Path) -> None:
    answers = str(sample("answers").path)
    page = read_page(attncalc("check", PROBLEM, answers, "--format", "html").out)
    assert len(list(page.all("article"))) == 8
    assert [each.text for each in page.all("h1")] == ["Answers"]
    rows = list(page.one("table", class_="texts").one("tbody").all("tr"))
    assert len(rows) == 8
    run = attncalc("check", PROBLEM, answers, "-o", "marked/", "--format", "html")
    assert run.code == 1
    pages = sorted(path.name for path in (tmp_path / "marked").iterdir())
    assert len(pages) == 8
    assert {Path(name).suffix for name in pages} == {".html"}
    one = attncalc("check", PROBLEM, f"{answers}/hand.json", "--format", "html").out
    assert (tmp_path / "marked" / "hand.html").read_text(encoding="utf-8") == one


def test_studies_are_tables_with_headings() -> None:
    problem = problem_of("self")
    studied = vary(problem, "scale=0.1,1,inf")
    page = read_page(studied.to_html())
    (table,) = page.all("table", class_="numbers")
    rows = [[cell.text for cell in row.all("td")] for row in table.one("tbody").all("tr")]
    assert rows == [list(row) for row in studied.found.digits]
    assert [each.text for each in table.one("tbody").all("th")] == ["0.1", "1", "∞"]
    read_page(simulate(problem, "X ~ U(0, 1)", count=3).to_html())


@pytest.mark.slow
@pytest.mark.parametrize("command", ["aim", "explain", "simulate", "vary"])
def test_every_command_that_writes_pages_writes_this_one(
    command: str, attncalc: Command, tmp_path: Path
) -> None:
    words = {"aim": ["v_1"], "simulate": ["X ~ U(0, 1)", "--draws", "3"], "vary": ["scale=1,2"]}
    run = attncalc(command, *words.get(command, []), "-o", "page.HTML")
    assert run.code == 0, run.err
    assert len(read_page((tmp_path / "page.HTML").read_text(encoding="utf-8")).text) > 300


@pytest.mark.slow
def test_large_parts_are_omitted_and_reported() -> None:
    numbers = np.random.default_rng(1).normal(size=(3, 600, 2)).round(2)
    solution = solve(Problem(Q=numbers[0], K=numbers[1], V=numbers[2]))
    text = solution.to_html()
    page = read_page(text)
    notes = [each.text for each in page.one("ul", id="notes").all("li")]
    assert "the middle of Q, K, V, S, S_scaled, A, O is left out: --full shows all of it" in notes
    assert notes[-1] == (
        "the heatmap of A is left out, because the page is full: attncalc plot draws it"
    )
    (drawn,) = page.all("svg")
    assert drawn.get("class") == "map"
    last = page.one("td", id="A-600-600")
    assert number_of(last) == solution.shown("A")[599][599]
    assert len(text) < 500_000


@pytest.mark.slow
def test_wide_tables_shrink_on_paper_and_report_omissions() -> None:
    looks = {}
    for columns in (4, 10, 18, 60):
        numbers = np.full((2, columns), 1.25).tolist()
        page = read_page(solve(Problem(Q=numbers, K=numbers, V=numbers)).to_html())
        table = page.one("table", data_step="O")
        cut = [each for each in page.all("p") if "Wider than paper" in each.text]
        looks[columns] = (table.get("class"), bool(cut))
    assert looks == {
        4: ("matrix", False),
        10: ("matrix", False),
        18: ("matrix fit-70", False),
        60: ("matrix fit-40 cut", True),
    }


@pytest.mark.slow
def test_where_all_inputs_tie_no_map_is_drawn() -> None:
    """It would have a line for every weight."""
    zeros = np.zeros((60, 2)).tolist()
    page = read_page(solve(Problem(Q=zeros, K=zeros, V=zeros)).to_html())
    assert [each.get("class") for each in page.all("svg")] == ["heatmap"]
    assert "the map of A is left out, because the page is full" in page.text


@pytest.mark.slow
def test_forty_tokens_are_all_there() -> None:
    numbers = np.random.default_rng(1).normal(size=(3, 40, 3)).round(2)
    solution = solve(Problem(Q=numbers[0], K=numbers[1], V=numbers[2]))
    page = read_page(solution.to_html())
    assert tables_of(page, "data-step")["A"] == [solution.shown("A")]
    assert len(list(page.one("svg", class_="heatmap").all("rect"))) == 1600


# -- what it is made of ---------------------------------------------------------------------------


def test_every_expression_has_its_mathml() -> None:
    for kind in EXPRESSIONS:
        assert callable(getattr(MathMl, kind.__name__.lower()))


def test_a_page_needs_no_network_and_allows_only_its_own_style() -> None:
    page = page_of("self", blank=True)
    style = page.one("style").text
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = page.one("meta", **{"http-equiv": "Content-Security-Policy"}).get("content")
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    assert not re.search(r"url\(|@import|https?:|//", style)


def test_only_the_script_of_an_interactive_page_is_allowed() -> None:
    page = make_page(solve(problem_of("self")), Contents(()))
    live = Live('{"a": "</script><b>&"}', "document.title", "td { }")
    read = read_page(write_html(page, live=live), is_live=True)
    data, script = read.all("script")
    assert (data.get("id"), data.get("type")) == ("problem", "application/json")
    assert json.loads(data.text) == {"a": "</script><b>&"}
    assert "<" not in data.text
    digest = base64.b64encode(hashlib.sha256(script.text.encode()).digest()).decode()
    policy = read.one("meta", **{"http-equiv": "Content-Security-Policy"}).get("content")
    assert f"; script-src 'sha256-{digest}';" in policy
    assert read.one("style").text.endswith("td { }")


def luminance(colour: list[float]) -> float:
    """Return how light a color is, as WCAG 2.1 defines it."""
    linear = [each / 12.92 if each <= 0.03928 else ((each + 0.055) / 1.055) ** 2.4
              for each in colour]  # fmt: skip
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


@pytest.mark.parametrize("paper", ["light", "dark", "print"])
@pytest.mark.parametrize("shade", ["heat", "below"])
def test_numbers_of_a_heatmap_can_be_read_on_every_shade(paper: str, shade: str) -> None:
    """Axe-core looks at no picture: 4.5 to 1 is asked for by WCAG 2.1, criterion 1.4.3."""
    style = (PACKAGE / "writing" / "html" / "page.css").read_text(encoding="utf-8")
    blocks = re.findall(r":root \{(.*?)\}", style, re.DOTALL)
    place = ["light", "dark", "print"].index(paper)
    found = [dict(re.findall(r"--([\w-]+): (#\w+)", block)) for block in (blocks[0], blocks[place])]
    given = found[0] | found[1]  # what a block does not set is that of light paper
    colours = {
        name: [int(text[1:][i * size : (i + 1) * size] * (3 - size), 16) / 255 for i in range(3)]
        for name, text in given.items()
        for size in [len(text) // 3]
    }
    for share in np.linspace(0, 1, 201):
        ground = np.add(
            np.multiply(colours["paper"], 1 - share), np.multiply(colours[shade], share)
        )
        ink = "on-deep" if share >= DEEP else "on-middle" if share >= MIDDLE else "strong"
        dark, light = sorted((luminance(list(ground)), luminance(colours[ink])))
        assert (light + 0.05) / (dark + 0.05) >= 4.5, share


HOSTILE = [
    "</script><script>alert(1)</script>",
    "</style><b>",
    "</td></table><img src=x onerror=alert(1)>",
    'javascript:alert("1")',
    "\"' onmouseover='alert(1)",
    "\u202eright\u2066to\u2028left",
    "NUL\0\x1b[31m",
    "<!-- comment",
    "&lt;b&gt; &amp;",
    "]]> <?x <![CDATA[",
    "שלום",
    "half\ud800",
]


@pytest.mark.slow
@pytest.mark.parametrize("blank", [False, True])
def test_hostile_labels_and_titles_do_nothing(blank: bool) -> None:
    count = len(HOSTILE)
    eye = [[1]] * count
    problem = Problem(
        X=eye, W_Q=[[1]], W_K=[[1]], W_V=[[2]], labels=HOSTILE, title=" ".join(HOSTILE)
    )
    solution = solve(problem)
    text = solution.to_html(blank=blank, work=not blank)
    page = read_page(text)  # of the elements that it may have
    for harmful in "\0\x1b\u202e\u2066\u2028\ufffd":
        assert harmful not in text
    assert text.encode("utf-8")
    heads = [each.text for each in page.one("table", data_given="X").one("tbody").all("th")]
    for typed, shown in zip(HOSTILE, heads, strict=True):
        seen = "".join(c for c in typed if c.isprintable() and c not in "\u202e\u2066\u2028\ud800")
        assert shown.rstrip("…") == seen[: len(shown.rstrip("…"))]
    assert ">&lt;/script&gt;&lt;script&gt;alert(1)" in text
    inner = read_page(srcdoc_of(solution._repr_html_()))
    assert inner.one("h1").text.startswith("Self-attention: \u200e</script>")


def test_only_one_place_makes_html_of_text() -> None:
    """No other module has markup: elements are made by a function that escapes."""
    for path in (PACKAGE / "writing" / "html").glob("*.py"):
        source = re.sub(r'r?""".*?"""', "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        made = re.findall(r"\bHtml\(", source)
        limit = {"elements.py": 6, "page.py": 2}.get(path.name, 0)
        assert len(made) <= limit, path.name
        if path.name not in ("elements.py", "page.py"):
            assert not re.search(r"[\"'<]</?[a-z]+[ >]", source), path.name


def test_other_pages_than_html_are_text() -> None:
    assert element("p", "<\"&'", title='"><b>') == (
        '<p title="&quot;&gt;&lt;b&gt;">&lt;&quot;&amp;&#x27;</p>'
    )
    assert escaped(element("b", 1)) == "<b>1</b>"


# -- sizes, and where it is shown -----------------------------------------------------------------


@pytest.mark.campaign(3)
@pytest.mark.parametrize("name", ["self", "cross", "sentence", "encoder", "heads"])
def test_the_page_of_a_homework_is_small(name: str) -> None:
    solution = solve(problem_of(name))
    is_homework = name in ("self", "cross")  # of the others, beside what makes them live
    room = LARGEST if is_homework else LARGEST + len(script().encode())
    assert len(solution.to_html(work=True).encode()) < room
    assert len(solution.to_html(blank=True).encode()) < LARGEST / 2


@pytest.mark.slow
def test_a_page_loads_no_modules_that_draw_or_print_tables() -> None:
    """Neither matplotlib nor rich: a page is text."""
    program = (
        "import sys; sys.argv = ['attncalc', 'self', '--format', 'html']\n"
        "from attncalc.cli import run\n"
        "code = run()\n"
        "loaded = {'matplotlib', 'jinja2', 'markupsafe'} & set(sys.modules)\n"
        "sys.exit(f'{code} {loaded}' if code or loaded else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env=clean_environment(),
        cwd=ROOT,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("<!DOCTYPE html>")


def srcdoc_of(shown: str) -> str:
    """Return the page within a page, and check that it can do nothing to the one around it."""
    found = re.fullmatch(
        r'<iframe srcdoc="([^"<>]*)" sandbox(?:="allow-scripts")? title="[^"<>]*" '
        r'style="width:100%;height:\d+em;border:0;[a-z:;]*"></iframe>',
        shown,
    )
    assert found, shown[:200]
    return html.unescape(found[1])


@pytest.mark.slow
def test_a_notebook_shows_a_compact_page_of_each() -> None:
    problem = problem_of("self")
    solution = solve(problem)
    page = read_page(srcdoc_of(solution._repr_html_()))
    assert page.one("body").get("class") == "compact"
    assert tables_of(page, "data-step") == {
        step.name: [solution.shown(step.name)] for step in solution.steps
    }
    marking = check(PROBLEM, {"Q": [[1, 3], [-1, 1], ["2.5", 2]]})
    assert "✗" in read_page(srcdoc_of(marking._repr_html_())).one("td", id="Q-3-2").text
    study = vary(problem, "scale=0.1,1")
    assert "At each value of scale" in read_page(srcdoc_of(study._repr_html_())).text


def test_a_page_of_html_always_is_a_document(attncalc: Command) -> None:
    run = attncalc("self", "--standalone", "-o", "page.html")
    assert run.err == (
        'note: no file given: this is the bundled sample "self" (attncalc samples self)\n'
        "error: html is always a complete document: --standalone is for latex\n"
    )
    run = attncalc("self", "-o", "pages/", "--format", "html")
    assert run.err.endswith("is a folder: csv is written to one, html to a file\n")


def test_words_above_a_name_do_not_overlap() -> None:
    assert name_in_mathml("S_scaled_new", 2) == (
        "<msup><mi>S</mi><mtext>scaled new (2)</mtext></msup>"
    )


@pytest.mark.slow
def test_channels_of_an_image_are_called_so() -> None:
    said = json.loads(sample("vit").path.read_text("utf-8"))
    side = len(said["image"])
    said["image"] = [said["image"], [[0] * side] * side]
    weights = said["E"]
    said["E"] = weights + weights
    problem = read_stream(json.dumps(said).encode(), "problem.json")
    page = read_page(solve(problem).to_html())
    captions = [each.text for each in page.all("caption")]
    assert captions[:2] == ["image, channel 1", "image, channel 2"]
