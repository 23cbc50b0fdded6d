"""Training by hand: equal to PyTorch's optimizers, on the command line and in Python."""

import json
from pathlib import Path

import numpy as np
import pytest
from browser import Browser, needs_axe, needs_chromium
from conftest import Command
from html_pages import read_page

from attncalc import InputError, Problem, solve, train

SIZE = 3
DRAWN = np.random.default_rng(3)
WEIGHTS = {name: DRAWN.normal(size=(SIZE, SIZE)) for name in ("W_Q", "W_K", "W_V")}
EXAMPLES = [(DRAWN.normal(size=(4, SIZE)), DRAWN.normal(size=(4, SIZE))) for _ in range(2)]
RULES = {
    "sgd": {"weight_decay": 0.01},
    "momentum": {"momentum": 0.8, "clip": 0.5},
    "adam": {"weight_decay": 0.02, "warmup": 3},
    "adamw": {"weight_decay": 0.05, "clip": 0.3, "warmup": 4},
}

WATCHED = ("O[1,1]", "dW_Q[1,2]", "W_V[2,1]")
OF_PYTORCH = {
    "sgd": [9.031817386368921, 3.8221365191843883],
    "momentum": [16.11758072050514, 13.425344564817806],
    "adam": [13.073607668755196, 9.740388664553976],
    "adamw": [13.700061565684448, 10.91245196128248],
}
"""Loss and gradient norm after 4 steps by torch.optim; the slow test computes them again."""


def problems() -> list[Problem]:
    return [Problem(X=X, target=target, **WEIGHTS) for X, target in EXAMPLES]


@pytest.mark.parametrize("optimizer", RULES)
def test_training_equals_what_pytorch_gave(optimizer: str) -> None:
    study = train(*problems(), steps=4, rate=0.05, optimizer=optimizer, **RULES[optimizer])
    assert study.found.values[4, :2] == pytest.approx(OF_PYTORCH[optimizer], abs=1e-9)


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.usefixtures("single_threaded")
@pytest.mark.parametrize("steps", [4, 50])
@pytest.mark.parametrize("optimizer", RULES)
def test_training_equals_pytorch(optimizer: str, steps: int) -> None:
    torch = pytest.importorskip("torch")
    options = dict(RULES[optimizer])
    study = train(
        *problems(), steps=steps, rate=0.05, optimizer=optimizer, watch=WATCHED, **options
    )
    own = {name: torch.tensor(W, requires_grad=True) for name, W in WEIGHTS.items()}
    kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}.get(optimizer, torch.optim.SGD)
    clip, warmup = options.pop("clip", None), int(options.pop("warmup", 0))
    made = kind(list(own.values()), lr=0.05, **options)
    for step in range(steps + 1):
        made.zero_grad()
        losses, outputs = [], []
        for X, target in ((torch.tensor(X), torch.tensor(T)) for X, T in EXAMPLES):
            Q, K, V = (X @ W for W in own.values())
            O = torch.softmax(Q @ K.T / SIZE**0.5, -1) @ V  # noqa: E741
            losses.append(((O - target) ** 2).sum() / 2)
            outputs.append(O)
        loss = sum(losses) / len(losses)
        loss.backward()
        watched = [outputs[0][0, 0], own["W_Q"].grad[0, 1].clone(), own["W_V"][1, 0]]
        norm = torch.nn.utils.clip_grad_norm_(own.values(), clip if clip else float("inf"))
        wanted = [each.item() for each in (loss, norm, *watched)]
        if step == 4:
            assert wanted[:2] == pytest.approx(OF_PYTORCH[optimizer], abs=1e-9)
        assert study.found.values[step] == pytest.approx(wanted, abs=1e-9)
        if step < steps:
            made.param_groups[0]["lr"] = 0.05 * min(1, (step + 1) / (warmup or 1))
            made.step()
    for name, W in own.items():
        assert study.found.trained.stored(name) == pytest.approx(W.detach().numpy(), abs=1e-9)


@pytest.mark.parametrize(
    "settings",
    [{}, {"weights_layout": "torch"}, {"layout": "columns"}, {"heads": 3}],
    ids=["rows", "torch", "columns", "heads"],
)
def test_entries_of_given_matrices_are_watched_where_they_were_given(
    settings: dict[str, object],
) -> None:
    given = {"X": EXAMPLES[0][0], "target": EXAMPLES[0][1], **WEIGHTS, "b_Q": [0.5, 0.25, 0.125]}
    if settings.get("layout") == "columns":
        given = {name: np.transpose(matrix) for name, matrix in given.items()}
    watch = ["W_Q[1,3]", "w_v[2,:]", "X[2,3]", "b_Q[2]", "norm(W_K)"]
    found = train(Problem(**given, **settings), steps=2, watch=watch).found
    for step, problem in ((0, found.examples[0]), (-1, found.trained)):
        W_Q, W_V, X = (problem.stored(name) for name in ("W_Q", "W_V", "X"))
        wanted = [W_Q[0, 2], *W_V[1], X[1, 2], problem.stored("b_Q").ravel()[1]]
        assert found.values[step, 2:8] == pytest.approx(wanted, abs=0)


@pytest.mark.slow
def test_means_of_a_batch_are_watched_and_written_out(attncalc: Command, tmp_path: Path) -> None:
    files = [str(tmp_path / f"{i}.json") for i in range(2)]
    for file, (X, target) in zip(files, EXAMPLES, strict=True):
        lists = {name: W.tolist() for name, W in WEIGHTS.items()}
        given = {**lists, "X": X.tolist(), "target": target.tolist(), "decimals": 4}
        Path(file).write_text(json.dumps(given), "utf-8")
    flags = ("--steps", "1", "--rate", "1", "--watch", "dW_Q[1,2]", "--watch", "L,O[1,1],W_Q[1,2]")
    run = attncalc("train", *files, *flags, "--format", "json")
    before, after = (each["watched"] for each in json.loads(run.out)["steps"])
    each_own = [solve(Problem(**vars_of, backward=True)) for vars_of in map(read_json, files)]
    of_each = [each["dW_Q"][0, 1] for each in each_own]
    assert before["dW_Q[1,2]"] == pytest.approx(np.mean(of_each))
    assert before["L[1,1]"] == pytest.approx(np.mean([each["L"] for each in each_own]))
    assert before["O[1,1]"] == pytest.approx(each_own[0]["O"][0, 0])
    assert after["W_Q[1,2]"] == pytest.approx(before["W_Q[1,2]"] - np.mean(of_each))
    work = attncalc("train", *files, *flags, "--work", "--full").out
    plus = f"{of_each[1]:.4f}" if of_each[1] >= 0 else f"({of_each[1]:.4f})"
    line = f"dW_Q[1,2] = ({of_each[0]:.4f} + {plus}) / 2 = {np.mean(of_each):.4f}"
    assert line in " ".join(work.split())


def read_json(file: str) -> dict[str, object]:
    read: dict[str, object] = json.loads(Path(file).read_text("utf-8"))
    return read


LANGUAGE = {"block": "decoder", "ids": [0, 2, 0], "tied": True, "target_ids": [2, 0, 1]}


def test_tied_matrices_learn_and_the_perplexity_is_shown() -> None:
    study = train(language(), steps=3, rate=0.1)
    steps = json.loads(study.to_json())["steps"]
    assert "W_E" in study.found.learned
    assert steps[3]["loss"] < steps[0]["loss"]
    assert steps[0]["perplexity"] == pytest.approx(np.exp(steps[0]["loss"] / 3))


def language(first: float = 1, **fields: object) -> Problem:
    own = {name: [[1, 0], [0, 1]] for name in ("W_Q", "W_K", "W_V", "W_1", "W_2")}
    return Problem(W_E=[[first, 0], [0, 1], [1, 1]], **own, **LANGUAGE, **fields)


def perplexities_of(problem: Problem) -> list[str]:
    """Return the expected notes on L and on L after a step, from probabilities of targets."""
    found = [
        (name, solve(problem)["prob" + name[1:]][[0, 1, 2], [2, 0, 1]]) for name in ("L", "L_new")
    ]
    means = [(name, np.exp(-np.log(each).mean())) for name, each in found]
    return [f"perplexity exp({name} / 3) is {mean:.{problem.decimals}f}" for name, mean in means]


@pytest.mark.slow
def test_the_perplexity_is_beside_each_cross_entropy() -> None:
    problem = language(step="0.1", decimals=6)
    page = solve(problem).to_markdown().replace("&#95;", "_")
    assert all(said in page for said in perplexities_of(problem))


@needs_chromium
@pytest.mark.slow
def test_the_perplexity_follows_edits(browser: Browser, tmp_path: Path) -> None:
    place = tmp_path / "page.html"
    place.write_text(solve(language(step="0.1", decimals=6)).to_html(), "utf-8")
    said = "[...document.querySelectorAll('.remark')].map((e) => e.textContent)"
    edited = perplexities_of(language(0.5, step="0.1", decimals=6))
    for address, wanted in (
        ("", perplexities_of(language(step="0.1", decimals=6))),
        ("#W_E[0]=1/2", edited),
    ):
        browser.open(place, address)
        browser.until(f"{json.dumps(wanted)}.every((each) => {said}.includes(each))")
    assert not browser.failed


@pytest.mark.parametrize("stored", ["in-out", "torch"])
def test_one_step_equals_the_step_of_the_problem(stored: str) -> None:
    given = {"X": EXAMPLES[0][0], "target": EXAMPLES[0][1][:, :2], **WEIGHTS}
    W_V = WEIGHTS["W_V"][:, :2]
    given["W_V"] = W_V if stored == "in-out" else W_V.T
    problem = Problem(**given, weights_layout=stored, step="0.1")
    wanted, found = solve(problem), train(problem, steps=1).found
    assert found.values[1, 0] == pytest.approx(wanted["L_new"][0, 0])
    for name in WEIGHTS:
        assert found.trained.stored(name) == pytest.approx(wanted[f"{name}_new"])


def test_values_are_rounded_at_each_step_by_the_rule_of_the_problem() -> None:
    problem = Problem(
        Q=[[1, 0]],
        X=[[1, 0], [0, 1]],
        W_K=[[1, 0], [0, 1]],
        W_V=[[0.5], [0.25]],
        target=[[1]],
        rounding="each-step",
        decimals=2,
    )
    trained = train(problem, steps=3).found.trained.stored("W_V")
    assert trained == pytest.approx(trained.round(2), abs=0)


def test_the_saved_problem_continues_where_training_stopped(
    attncalc: Command, tmp_path: Path
) -> None:
    file = str(tmp_path / "trained.json")
    whole = json.loads(attncalc("train", "--steps", "4", "--format", "json").out)["steps"]
    assert attncalc("train", "--steps", "2", "--save", file).code == 0
    rest = json.loads(attncalc("train", file, "--steps", "2", "--format", "json").out)["steps"]
    assert [each["loss"] for each in rest] == pytest.approx([each["loss"] for each in whole[2:]])


def test_the_first_two_steps_are_written_out(attncalc: Command) -> None:
    run = attncalc("train", "--steps", "3", "--optimizer", "adam", "--work")
    assert run.code == 0
    for said in ("Step 1: the update", "Step 2: the update", "W_Q_new[1,1] = ", "m_W_V[2,2] = "):
        assert said in run.out
    assert "Step 3" not in run.out


@pytest.fixture
def page(attncalc: Command, tmp_path: Path) -> Path:
    """Return the page of a training of the sample, in 20 steps."""
    place = tmp_path / "training.html"
    assert attncalc("train", "--watch", "W_Q[1,1],dW_V[2,:]", "-o", str(place)).code == 0
    return place


@pytest.mark.slow
def test_the_page_has_the_digits_of_the_table(attncalc: Command, page: Path) -> None:
    recorded = json.loads(read_page(page.read_text("utf-8")).one("script", id="problem").text)
    csv = attncalc("train", "--watch", "W_Q[1,1],dW_V[2,:]", "--format", "csv").out
    rows = [line.split(",") for line in csv.replace('"', "").splitlines()[1:]]
    assert recorded["digits"] == [row[1:] for row in rows]
    assert recorded["names"][:3] == ["loss", "gradient norm", "W_Q[1,1]"]


TOLD = "document.querySelector('.told').textContent"
SLIDER = "document.querySelector('input[type=range]')"
ROW = "[...document.querySelectorAll('.now > *')].map((e) => e.textContent)"


@needs_chromium
@pytest.mark.slow
def test_the_curve_plays_pauses_and_is_moved_by_keys(browser: Browser, page: Path) -> None:
    browser.open(page)
    titles = browser.run("[...document.querySelectorAll('thead th')].map((e) => e.textContent)")
    browser.run(f"{SLIDER}.focus()")
    browser.press("ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft")
    step, *digits = browser.run(ROW)
    said = ", ".join(f"{name} {text}" for name, text in zip(titles, digits, strict=True))
    assert browser.run(TOLD) == f"step {step} (3 of 21): {said}"
    assert step == "2"
    assert browser.run(f"{SLIDER}.getAttribute('aria-valuetext')") == f"step 2: loss {digits[0]}"
    points = "document.querySelector('.played').points.length"
    assert browser.run(points) == 3
    browser.press("End")
    assert browser.run(f"{SLIDER}.value") == "20"
    browser.run(
        "[...document.querySelectorAll('button')].find((e) => e.textContent === 'Play').focus()"
    )
    browser.press("Enter")  # from the first step again
    browser.until(f"{points} >= 3 && {points} < 20")
    browser.press("Enter")
    paused = browser.run(points)
    browser.run("new Promise((done) => setTimeout(done, 900))")
    assert browser.run(points) == paused
    browser.press("Enter")
    browser.until(f"{points} === 21 && document.activeElement.textContent === 'Play'")
    assert not browser.failed
    assert all(url.startswith("file:") for url in browser.asked)


@needs_chromium
@needs_axe
@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_for_everybody(browser: Browser, page: Path, scheme: str) -> None:
    browser.screen(390, 900)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.send("Emulation.setEmulatedMedia", features=features)
    browser.open(page)
    assert not browser.violations()
    assert browser.run("document.documentElement.scrollWidth <= innerWidth")
    browser.reset()


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--rate", "0"], "rate 0: it must be above 0"),
        (["--rate", "x"], "--rate takes a number"),
        (["--steps", "0"], "from 1 to 10,000"),
        (["--optimizer", "rms"], "use sgd, momentum, adam, adamw"),
        (["--momentum", "0.5"], "--momentum is for --optimizer momentum"),
        (["--clip", "-1"], "the largest norm must be above 0"),
        (["--rate", "1e100"], "training diverges at step"),
    ],
)
def test_what_cannot_be_trained_is_refused(attncalc: Command, flags: list[str], said: str) -> None:
    run = attncalc("train", *flags)
    assert (run.code, run.out) == (2, "")
    assert said in run.err


def test_training_needs_a_target() -> None:
    with pytest.raises(InputError, match="train needs a target"):
        train(Problem(Q=[[1]], K=[[1]], V=[[1]]))
