"""Training by hand: equal to PyTorch's optimizers, on the command line and in Python."""

import json
from pathlib import Path

import numpy as np
import pytest
from conftest import Command

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


def problems() -> list[Problem]:
    return [Problem(X=X, target=target, **WEIGHTS) for X, target in EXAMPLES]


@pytest.mark.torch
@pytest.mark.usefixtures("single_threaded")
@pytest.mark.parametrize("steps", [4, pytest.param(50, marks=pytest.mark.slow)])
@pytest.mark.parametrize("optimizer", RULES)
def test_training_equals_pytorch(optimizer: str, steps: int) -> None:
    torch = pytest.importorskip("torch")
    options = dict(RULES[optimizer])
    study = train(
        *problems(), steps=steps, rate=0.05, optimizer=optimizer, watch="O[1,1]", **options
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
        norm = torch.nn.utils.clip_grad_norm_(own.values(), clip if clip else float("inf"))
        wanted = [loss.item(), norm.item(), outputs[0][0, 0].item()]
        assert study.found.values[step] == pytest.approx(wanted, abs=1e-9)
        if step < steps:
            made.param_groups[0]["lr"] = 0.05 * min(1, (step + 1) / (warmup or 1))
            made.step()
    for name, W in own.items():
        assert study.found.trained.stored(name) == pytest.approx(W.detach().numpy(), abs=1e-9)


LANGUAGE = {"block": "decoder", "ids": [0, 2, 0], "tied": True, "target_ids": [2, 0, 1]}


def test_tied_matrices_learn_and_the_perplexity_is_shown() -> None:
    table = [[1, 0], [0, 1], [1, 1]]
    own = {name: [[1, 0], [0, 1]] for name in ("W_Q", "W_K", "W_V", "W_1", "W_2")}
    study = train(Problem(W_E=table, **own, **LANGUAGE), steps=3, rate=0.1)
    steps = json.loads(study.to_json())["steps"]
    assert "W_E" in study.found.learned
    assert steps[3]["loss"] < steps[0]["loss"]
    assert steps[0]["perplexity"] == pytest.approx(np.exp(steps[0]["loss"] / 3))


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
