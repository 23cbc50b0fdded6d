"""The playground computes every problem as attncalc does, and newcomers find their way."""

import json
import re
import subprocess
import time
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from random import Random
from typing import Any

import pytest
from browser import Browser, needs_axe, needs_chromium
from live_kinds import scored
from live_pages import NODE, folder, needs_node, shown

from attncalc.base.errors import AttncalcError
from attncalc.cli.commands.playground import KINDS, playground
from attncalc.reading import read_stream
from attncalc.solving.solution import solve
from attncalc.writing.live.made import Template, write_playground

STUB = """
const element = () => ({ append() {}, setAttribute() {}, addEventListener() {} });
globalThis.document = {
  querySelector: element, createElement: element,
  getElementById: () => ({ textContent: process.env.PLAYGROUND }),
};
"""
LARGEST_PAGE = 600_000


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the page with its command."""
    place = tmp_path_factory.mktemp("playground") / "index.html"
    playground({"out": str(place), "file": None})
    return place


@pytest.fixture(scope="module")
def data(page: Path) -> str:
    """Return the data of the page."""
    return data_in(page.read_text("utf-8"))


def data_in(page: str) -> str:
    found = re.search(r'id="problem">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return found[1]


def computed(program: str, lines: list[Any], data: str) -> list[Any]:
    """Return what a program of (line, S, pasted) yields for each line, in node without a page."""
    place = folder()
    text = f"""
    {STUB}
    const {{ readFileSync }} = await import("node:fs");
    process.env.PLAYGROUND = readFileSync({json.dumps(data)}, "utf-8");
    const S = await import("{place}/playground/state.js");
    const pasted = await import("{place}/playground/pasted.js");
    const {{ shown }} = await import("{place}/equations/solve.js");
    const act = (line) => {{ {program} }};
    for (const line of readFileSync(0, "utf-8").split("\\n")) {{
      let made;
      try {{ made = act(JSON.parse(line)); }} catch (error) {{ made = {{ error: error.message }}; }}
      console.log(JSON.stringify(made));
    }}"""
    assert NODE is not None
    done = subprocess.run(
        [NODE, "--preserve-symlinks", "--input-type=module", "-e", text],
        input="\n".join(map(json.dumps, lines)), capture_output=True, text=True, check=True,
        timeout=300,
    )  # fmt: skip
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def data_file(data: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Write the data to a file."""
    place = tmp_path_factory.mktemp("data") / "problem.json"
    place.write_text(data, "utf-8")
    return str(place)


@pytest.fixture(scope="module")
def one_problem(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Write the data of a page of one problem; a whole page takes seconds."""
    title, fields = KINDS["self"]
    problem = read_stream(json.dumps(fields).encode(), "self")
    page = write_playground([Template("self", "Attention", title, problem, others=True)], "self")
    place = tmp_path_factory.mktemp("one") / "problem.json"
    place.write_text(data_in(page), "utf-8")
    return str(place)


SOLVED = """
  S.become(S.stateOf(line.key));
  for (const [name, typed] of Object.entries(line.edits ?? {})) S.edit(name, typed);
  if (line.resize !== undefined) {
    const sizes = S.sizesNow();
    const { axis, size } = sizes[line.resize % sizes.length] ?? {};
    if (axis) S.resize(axis, size + 1);
  }
  if (line.settings) S.choose(line.settings);
  if (line.equations !== undefined) S.become({ ...S.state, equations: line.equations });
  if (line.gradients) S.toggleGradients();
  if (line.arriving) S.edit("dO", line.arriving);
  const address = S.addressNow(), before = shown(S.solution);
  S.become(S.stateOfAddress(address).it);
  const isSame = JSON.stringify(shown(S.solution)) === JSON.stringify(before);
  if (!isSame) throw new Error("the address loses something");
  return { file: S.fileNow(), shown: before };
"""


def agrees(made: dict[str, Any], line: Any) -> None:
    """Assert that attncalc shows the digits of a page for the file that the page exports."""
    assert "error" not in made, (line, made)
    problem = read_stream(json.dumps(made["file"]).encode(), "problem.json")
    expected = shown(solve(problem))
    same = {name: digits for name, digits in made["shown"].items() if name in expected}
    assert same == expected, line


def edits_of(template: dict[str, Any], rng: Random) -> dict[str, dict[str, str]]:
    """Return random numbers for some entries of matrices of numbers."""
    found: dict[str, dict[str, str]] = {}
    for name, given in template["given"].items():
        if given["role"] not in ("marks", "ids", "start", "") and rng.random() < 0.6:
            place = rng.randrange(len(given["entries"]))
            found[name] = {str(place): rng.choice(["-1", "2", "0.5", "1/3", "-2.25", "3"])}
    return found


@pytest.mark.slow
@needs_node
def test_every_template_has_the_digits_of_attncalc(data: str, data_file: str) -> None:
    keys = list(json.loads(data)["templates"])
    assert len(keys) > 60
    lines: list[Any] = [{"key": key} for key in keys[::4]]
    for line, made in zip(lines, computed(SOLVED, lines, data_file), strict=True):
        agrees(made, line)


@pytest.mark.slow
@needs_node
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_edits_sizes_and_conventions_have_the_digits_of_attncalc(
    seed: int, data: str, data_file: str
) -> None:
    rng, lines = Random(seed), list[Any]()
    for key, template in json.loads(data)["templates"].items():
        own = {"decimals": rng.choice([1, 2, 3]), "rounding": rng.choice(["display", "each-step"])}
        lines.append({"key": key, "edits": edits_of(template, rng), "settings": own})
        if len(template["plans"]) > 1:
            own = own | {"scale": rng.choice(["none", "0.5", "sqrt_dk"])}
            lines.append({"key": key, "settings": own, "resize": rng.randrange(9)})
            lines.append({"key": key, "resize": 0})
    refused = 0
    for line, made in zip(lines, computed(SOLVED, lines, data_file), strict=True):
        if "error" in made and ("no such convention" in made["error"] or "floats" in made["error"]):
            refused += 1
            continue
        agrees(made, line)
    assert refused < len(lines) / 5


def fields_with_offsets(rng: Random) -> dict[str, Any]:
    """Return a problem that reads matrices at sums of indices and sizes."""
    if rng.random() < 0.6:
        return scored(rng, lambda: rng.choice([-2, -1, 0, "1/2", 1, 3]))
    n, d = rng.randint(1, 3), rng.randint(1, 3)
    return {
        "equations": [
            "Y[i in rows(X), c in columns(W)] = sum(X[i,a] * W[a + columns(X),c] - W[a,c]"
            " for a in columns(X))",
            "Z[i in rows(X), b in 1] = Y[i,0] + R[i,b + columns(Y)]",
        ],
        "X": [[rng.randint(-2, 3) for _ in range(d)] for _ in range(n)],
        "W": [[rng.randint(-2, 3) for _ in range(2)] for _ in range(2 * d)],
        "R": [[rng.randint(-2, 3) for _ in range(3)] for _ in range(n)],
    }


@needs_node
@pytest.mark.parametrize("count", [4, pytest.param(24, marks=pytest.mark.slow)])
def test_matrices_are_read_at_sums_of_indices_and_sizes(count: int, tmp_path: Path) -> None:
    """Compare the digits with those of attncalc, also after edits and in other sizes."""
    rng, templates = Random(count), list[Template]()
    for number in range(count):
        fields = json.dumps(fields_with_offsets(rng) | {"decimals": rng.randint(0, 5)}).encode()
        templates.append(Template(f"p{number}", "", "", read_stream(fields, "problem.json")))
    data = data_in(write_playground(templates, "p0"))
    (place := tmp_path / "problem.json").write_text(data, "utf-8")
    lines = list[Any]()
    for key, template in json.loads(data)["templates"].items():
        lines += [{"key": key}, {"key": key, "edits": edits_of(template, rng)}]
        lines += [{"key": key, "resize": rng.randrange(5)}]
    for line, made in zip(lines, computed(SOLVED, lines, str(place)), strict=True):
        agrees(made, line)


EQUATIONS = (
    "S[i,j] = sum(Q[i,c] * K[j,c] for c in d_k) - abs(i - j)  # with a distance",
    "A[i,j] = softmax(S[i,k] for k in m)[j] * 0.5",
    "Q[i,c] = sum(X[i,a] * W_Q[a,c] for a in d) + 1\nT[i] = sum(O[i,c] for c in d_v)  # row sums",
    "S[i,j] = Q[i,0] · K[j,1] − 1/2",
    "mean[c] = sum(V[j,c] for j in m) / m\nO[i,c] = sum(A[i,j] * V[j,c] for j in m) - mean[c]",
    "h[t,c] = 0.5 * (h[t-1,c] if t > 0 else 0) + V[t,c]\nO[i,c] = h[i,c]",
    "A[i,j] = exp(S_scaled[i,j]) / sum(exp(S_scaled[i,k]) for k in m if k <= i) if j <= i else 0",
    "O[i,c] = max(A[i,j] * V[j,c] for j in m)",
)


@pytest.mark.slow
@needs_node
def test_equations_of_users_have_the_digits_of_attncalc(data_file: str) -> None:
    lines: list[Any] = [{"key": "self", "equations": each} for each in EQUATIONS]
    for line, made in zip(lines, computed(SOLVED, lines, data_file), strict=True):
        agrees(made, line)


@pytest.mark.slow
@needs_node
def test_gradients_of_every_template_have_the_digits_of_attncalc(data: str, data_file: str) -> None:
    lines: list[Any] = [{"key": key, "gradients": True} for key in json.loads(data)["templates"]]
    refused = 0
    for line, made in zip(lines, computed(SOLVED, lines, data_file), strict=True):
        refused += "error" in made
        if "error" in made:
            assert re.search("orientation|together|already|target_ids", made["error"]), (line, made)
        else:
            agrees(made, line)
            assert any(name.startswith("dX") for name in made["shown"]) or "X" not in made["file"]
    assert refused < 20


@pytest.mark.slow
@needs_node
def test_gradients_of_equations_of_users_have_the_digits_of_attncalc(data_file: str) -> None:
    edited = {"0": "-2", "2": "1/3"}
    lines: list[Any] = [
        {"key": key, "equations": each, "gradients": key == "self", "arriving": edited}
        for key in ("self", "gradients")
        for each in EQUATIONS
    ]
    for line, made in zip(lines, computed(SOLVED, lines, data_file), strict=True):
        agrees(made, line)
        assert {"dX", "dW_V"} <= set(made["shown"])


WRONG = {
    "S[i,j] = sum(P[i,c] for c in d_k)": "P is not an index, size or matrix here",
    "S[i,j] = (Q[i,0]": 'expected ")"',
    "d = 3": "d is a size or a constant",
    "S[i,j] = A[i,j] + O[i,j]": "in a circle: S → ",
    "tau = 2": "an equation reads a matrix, or runs over the side of one",
    "S[i,j] = K[j]": "K is 3 × 2: it takes two indices",
}


@needs_node
def test_wrong_equations_are_refused(one_problem: str) -> None:
    lines = [{"key": "self", "equations": text} for text in WRONG]
    found = computed(SOLVED, lines, one_problem)
    for (text, problem), made in zip(WRONG.items(), found, strict=True):
        assert problem in made["error"], text


WITHOUT_A_VALUE = {
    "1/0": "1 / 0 divides by 0",
    "0**-1": "0 ** -1 divides by 0",
    "7 % 0": "7 % 0 divides by 0",
    "7 // 0": "7 // 0 divides by 0",
    "Q[i,7 % j]": "7 % j divides by 0",
    "2 - Q[i,0] / (i - 1)": "Q[i,0] / (i - 1) divides by 0",
    "sum(1/(c-1) for c in d_k)": "1 / (c - 1) divides by 0",
    "softmax(1/k for k in m)[j]": " divides by 0",
    "log(0)": "log(0) is the logarithm of a number that is not positive",
    "1 + sqrt(-1)": "sqrt(-1) is the root of a negative number",
    "(-8)**(1/3)": "(-8) ** (1 / 3) raises a negative number to a fraction",
    "exp(100000)": "exp(100000) is larger than the largest float64 (about 1.8e+308)",
    "10**400": "10 ** 400 is larger than the largest float64 (about 1.8e+308)",
    "max(Q[i,c] for c in d_k if c > 5)": "max(Q[i,c] for c in d_k if c > 5) has no value",
    "sum(1 for c in 0)": "c runs over nothing: its size is 0",
    "max(Q[i,c] for c in 0)": "c runs over nothing: its size is 0",
    "sum(1 for c in 1e9)": "c runs over 1",
    "5 and 3": "5 and 3 is a condition, no number: write 1 if 5 and 3 else 0",
    "Q[i,0] % 2": "Q[i,0] % 2: % takes indices, sizes and given whole numbers",
    "2**100000": "an exponent is at most 1000",
    "inf": "",
}


@needs_node
def test_an_equation_without_a_value_is_refused_as_attncalc_refuses_it(one_problem: str) -> None:
    problem = json.loads(Path(one_problem).read_text("utf-8"))["templates"]["self"]["problem"]
    lines = [{"key": "self", "equations": f"S[i,j] = {each}"} for each in WITHOUT_A_VALUE]
    found = computed(SOLVED, lines, one_problem)
    for (text, why), made in zip(WITHOUT_A_VALUE.items(), found, strict=True):
        file = problem | {"equations": [f"S[i,j] = {text}"]}
        with pytest.raises(AttncalcError) as refused:
            solve(read_stream(json.dumps(file).encode(), "problem.json"))
        assert why.replace(" ", "") in str(refused.value).replace(" ", "")
        assert "error" in made, (text, made)
        assert made["error"].startswith("S"), text
        assert why in made["error"], text
        assert not re.search("NaN|Infinity|undefined", made["error"])


PASTED = {
    "1\t2\n3\t4": [["1", "2"], ["3", "4"]],
    "1,5\t-2\n3\t4,25": [["1.5", "-2"], ["3", "4.25"]],
    "[[1, 2], [3.5, 4]]": [["1", "2"], ["3.5", "4"]],
    "array([[1., 2.],\n       [3., 4.]])": [["1", "2"], ["3", "4"]],
    "[[1. 2.]\n [3. 4.]]": [["1", "2"], ["3", "4"]],
    "[1 2; 3 4]": [["1", "2"], ["3", "4"]],
    r"\begin{pmatrix} 1 & \frac{1}{2} \\ -3 & 4 \end{pmatrix}": [["1", "1/2"], ["-3", "4"]],
    "| | a | b |\n|---|---|---|\n| x | 1 | 2 |": None,
    "| 1 | 2 |\n|---|---|\n| 3 | 4 |": [["1", "2"], ["3", "4"]],
    "1;2\n3;4": None,
    "1, 2\n3, 4": [["1", "2"], ["3", "4"]],
}


@needs_node
def test_pasted_matrices_are_read(one_problem: str) -> None:
    program = 'return pasted.readPasted(line).matrices[""];'
    found = computed(program, list(PASTED), one_problem)
    for (text, expected), made in zip(PASTED.items(), found, strict=True):
        if expected is not None:
            said = [[each.removesuffix(".") for each in row] for row in made]
            assert said == expected, text


@pytest.mark.slow
@needs_node
def test_named_matrices_and_problems_are_pasted(data_file: str) -> None:
    named = "X = np.array([[1, 2], [3, 4]])\nW_Q = [[1], [0]]\n"
    (made,) = computed("return pasted.readPasted(line).matrices;", [named], data_file)
    assert made == {"X": [["1", "2"], ["3", "4"]], "W_Q": [["1"], ["0"]]}
    file = {"X": [[1, 2], [0, "1/2"]], "W_Q": [[1], [0]], "W_K": [[1], [1]], "W_V": [[1], [2]],
            "causal": True, "labels": ["a", "b"]}  # fmt: skip
    program = """S.become(pasted.readPasted(line).file());
      return { file: S.fileNow(), shown: shown(S.solution) };"""
    (opened,) = computed(program, [json.dumps(file)], data_file)
    agrees(opened, file)
    assert opened["file"]["labels"] == {"X": ["a", "b"]}
    (refused,) = computed(program, [json.dumps(file | {"window": 1})], data_file)
    assert "make one with attncalc playground" in refused["error"]


@pytest.mark.slow
def test_the_page_is_small_and_loads_nothing(page: Path) -> None:
    text = page.read_text("utf-8")
    assert len(text.encode()) <= LARGEST_PAGE
    assert "default-src 'none'; style-src 'sha256-" in unescape(text)
    assert not re.search(r'(?:src|href)="', text)


# ---------------------------------------------------------------- in a browser


def press(browser: Browser, text: str) -> None:
    """Press a button."""
    browser.run(
        "[...document.querySelectorAll('button, summary')]"
        f".find((each) => each.textContent === {json.dumps(text)}).click()"
    )


def value(browser: Browser, name: str, k: int) -> str:
    """Return what a cell shows."""
    return browser.text(f'td[data-name="{name}"][data-k="{k}"]')


def opened(browser: Browser, page: Path, address: str = "") -> Browser:
    browser.screen(1280, 800)
    browser.open(page, address)
    browser.until("document.querySelector('.dock h2')")
    return browser


@pytest.mark.slow
@needs_chromium
def test_a_newcomer_finds_the_way(browser: Browser, page: Path, tmp_path: Path) -> None:
    opened(browser, page)
    assert value(browser, "O", 0) == "1.97"
    browser.click('td[data-name="X"][data-k="0"]')  # edit in the cell
    browser.press("5", "Enter")
    browser.until("document.querySelector('td[data-name=X][data-k=\"0\"]').textContent === '5'")
    browser.point('td[data-name="O"][data-k="1"]')
    assert browser.text(".dock h2").startswith("O[1,2]")
    lit = (
        "[...document.querySelectorAll('td.lit')].map((each) => each.dataset.name + each.dataset.k)"
    )
    assert sorted(browser.run(lit)) == ["A0", "A1", "A2", "V1", "V3", "V5"]
    assert browser.run("window.scrollY + document.querySelector('.flow').scrollTop") == 0
    browser.run("document.querySelector('[aria-label=\"Add one of tokens\"]').click()")
    assert browser.run("document.querySelectorAll('#m-A td[data-k]').length") == 16
    time.sleep(0.2)
    address = str(browser.run("location.hash"))
    before = value(browser, "O", 2)
    opened(browser, page, address)  # the link is the problem
    assert value(browser, "X", 0) == "5"
    assert value(browser, "O", 2) == before
    press(browser, "Problem (JSON)")
    place = browser.downloads / "problem.json"
    for _ in range(50):
        if place.exists() and place.stat().st_size:
            break
        time.sleep(0.1)
    solution = solve(read_stream(place.read_bytes(), "problem.json"))
    assert shown(solution)["O"][2] == before.replace("−", "-")
    assert not browser.failed
    assert all(not each.startswith("http") for each in browser.asked)


def states() -> Iterator[tuple[str, str, int, bool]]:
    """Yield addresses, buttons, widths and themes."""
    for width in (1280, 390):
        yield "", "", width, False
        yield "#problem=heads", "", width, True
    yield "", "Learn", 1280, False
    yield "", "Practice", 1280, True
    yield "#problem=encoder", "Conventions", 390, True


@pytest.mark.slow
@needs_chromium
@needs_axe
@pytest.mark.parametrize(("address", "button", "width", "dark"), list(states()))
def test_axe_finds_nothing(
    browser: Browser, page: Path, tmp_path: Path, address: str, button: str, width: int, dark: bool
) -> None:
    opened(browser, page, address)
    browser.look(tmp_path / "page.png", width, dark=dark, height=800)
    if button:
        press(browser, button)
    time.sleep(0.3)
    assert browser.violations() == []
    browser.reset()


@pytest.mark.slow
@needs_chromium
def test_six_tokens_fit_on_one_screen(browser: Browser, page: Path) -> None:
    rows = ";".join(f"{k},{-k},1" for k in range(6))
    opened(browser, page, f"#problem=self&X={rows}")
    flow = "document.querySelector('.flow')"
    assert browser.run("document.documentElement.scrollHeight") <= 800
    assert browser.run(f"{flow}.scrollHeight <= {flow}.clientHeight")
    assert browser.run(f"{flow}.scrollWidth <= {flow}.clientWidth")


@pytest.mark.slow
@needs_chromium
def test_the_player_hides_later_results(browser: Browser, page: Path) -> None:
    opened(browser, page)
    press(browser, "Play")
    assert value(browser, "Q", 0) == ""
    assert value(browser, "O", 0) == ""
    browser.press("ArrowRight")
    browser.run("document.activeElement.blur()")
    browser.press("End")
    assert value(browser, "Q", 0) == "2.00"
    assert value(browser, "O", 5) != ""
    browser.press("Escape")
    assert browser.run("document.querySelector('.player').hidden")
    assert not browser.failed


@pytest.mark.slow
@needs_chromium
def test_practice_marks_with_hints(browser: Browser, page: Path) -> None:
    opened(browser, page)
    press(browser, "Practice")
    press(browser, "Use my own numbers")
    browser.run("""(() => { for (const cell of document.querySelectorAll('td[data-k]')) {
      const input = cell.querySelector('input'); if (!input) continue;
      input.value = '9'; input.dispatchEvent(new Event('input')); } })()""")
    press(browser, "Check")
    assert "wrong" in browser.text(".verdict")
    press(browser, "Hint 2")
    assert "Look at Q[1,1]" in browser.text(".hint")
    press(browser, "Close")
    assert not browser.failed
