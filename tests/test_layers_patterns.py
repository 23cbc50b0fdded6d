"""What the weights of layers show: of each attention what it shows alone, and by which name."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from conftest import Command

from attncalc import Problem, read_problem, solve
from attncalc.base.errors import InputError
from attncalc.problem import problem as problems
from attncalc.problem.samples import sample
from attncalc.solving import long_inputs as blocks
from attncalc.solving import solution as solutions
from attncalc.solving.solution import Solution

SETTINGS = ("scale", "heads", "combine", "causal", "rounding", "decimals")
PARTS = ("W_Q", "W_K", "W_V", "W_O", "b_Q", "b_K", "b_V", "b_O", "keep", "ignore", "bias")


def alone(solution: Solution, prefix: str, *tokens: str) -> Problem:
    """Return an attention of layers as a problem of its own, of the tokens that it reads."""
    fields = solution.problem.inner.get(prefix, solution.problem)
    names = ["X"] if len(tokens) == 1 else ["X1", "X2"]
    own: dict[str, Any] = {name: getattr(fields, name) for name in SETTINGS}
    own |= {name: getattr(fields, name) for name in PARTS if getattr(fields, name) is not None}
    steps = {step.name for step in solution.plan}
    for name, read in zip(names, tokens, strict=True):
        own[name] = solution.carried[read] if read in steps else solution.problem.stored(read)
    attention = solution.problem.attention_of(f"{prefix}A")
    labels = [list(attention.queries), list(attention.keys)]
    own["labels"] = labels[0] if len(tokens) == 1 else dict(zip(names, labels, strict=True))
    return Problem(**own)


def told(patterns: Any, prefix: str = "") -> list[tuple[str, Any]]:
    """Return the patterns without their attentions."""
    return [(each.code, _bare(each.plain, prefix)) for each in patterns]


def _bare(values: dict[str, Any], prefix: str) -> dict[str, Any]:
    bare = {name: value for name, value in values.items() if name != "of" or value != f"{prefix}O"}
    if "step" in bare:
        bare["step"] = bare["step"].removeprefix(prefix)
    return json.loads(json.dumps(bare), parse_float=lambda text: round(float(text), 9))


ATTENTIONS = [
    ("encoder", "", ("X",)),
    ("gpt", "", ("N_1",)),
    ("decoder", "self.", ("X1",)),
    ("decoder", "cross.", ("N_1", "X2")),
]


@pytest.mark.campaign(5)
@pytest.mark.parametrize("is_long", [False, True], ids=["short", "long"])
@pytest.mark.parametrize(("name", "prefix", "tokens"), ATTENTIONS)
def test_an_attention_in_layers_shows_the_patterns_of_a_single_one(
    name: str,
    prefix: str,
    tokens: tuple[str, ...],
    is_long: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    solution = solve(read_problem(sample(name).path))
    expected = solve(alone(solution, prefix, *tokens)).patterns
    if is_long:
        monkeypatch.setattr(problems, "LARGEST_KEPT", 0)
        monkeypatch.setattr(solutions, "LONG", 0)
        monkeypatch.setattr(blocks, "ROWS", 2)
    found = [each for each in solution.patterns if each.weights == f"{prefix}A"]
    assert of_weights(told(found, prefix)) == of_weights(told(expected))
    assert {"scaling", "spread", "margin"} <= {each.code for each in found}


def of_weights(found: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Return patterns without what a whole problem does to the order of its tokens."""
    return [each for each in found if each[0] not in ("equivariant", "order-matters")]


def test_hidden_weights_are_reported_for_their_outputs() -> None:
    fields = {"X": [[9, 0], [0, 9]], "W_Q": [[1, 0], [0, 1]], "W_K": [[1, 0], [0, 1]]}
    problem = Problem(**fields, W_V=[[1, 0], [0, 1]], norm="post", scale=Decimal("0.1"))
    (pattern,) = (each for each in solve(problem).patterns if each.code == "rounded-away")
    # e^-8.1 of the weight, times what V has: 9 in the other input's place, and 9 in its own
    assert pattern.plain["change"] == pytest.approx(9 * 2.718281828459045**-8.1, rel=1e-3)
    assert pattern.plain["of"] == "O"
    said = solve(problem).explain()
    assert any("changes no entry of O by more than 0.0028" in each for each in said)


def stack() -> dict[str, Any]:
    """Return two layers: the first attends to its own token, the second to the one before."""
    eye = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    turned = [[0, 0, 1], [1, 0, 0], [0, 1, 0]]
    layer: dict[str, Any] = {"W_K": eye, "W_V": eye, "norm": "none", "residual": False}
    first, second = layer | {"W_Q": eye}, layer | {"W_Q": turned}
    return {"X": eye, "layers": [first, second], "scale": 50}


def test_each_layer_is_named_by_its_number() -> None:
    solution = solve(Problem(**stack()))
    codes = {(each.code, each.where, each.about) for each in solution.patterns}
    assert ("identity", "layer 1", "1.A") in codes
    assert ("permutation", "layer 2", "2.A") in codes
    assert not {("permutation", "layer 1", "1.A"), ("identity", "layer 2", "2.A")} & codes
    assert solution.explain()[0].startswith(
        "Layer 1: each output attends almost only to its own input"
    )


def test_one_attention_can_be_described(attncalc: Command, tmp_path: Path) -> None:
    file = tmp_path / "stack.json"
    file.write_text(json.dumps(stack()), encoding="utf-8")
    run = attncalc("explain", str(file), "--head", "2.a", "--format", "json")
    patterns = json.loads(run.out)["patterns"]
    assert {each["about"].partition(",")[0] for each in patterns} == {"2.A", "layer 2"}
    refused = attncalc("explain", str(file), "--head", "3.A")
    assert refused.err == ('error: --head takes 1 to 1 (behind 1.A or 2.A, as 2.A,1), not "3.A"\n')


@pytest.mark.slow
@pytest.mark.parametrize("form", ["table", "markdown", "latex", "csv"])
def test_every_form_contains_patterns_of_layers(form: str, attncalc: Command) -> None:
    file = str(sample("decoder").path)
    for called in (
        ("explain", file, "--all"),
        ("decoder", file, "--explain", "--full", "--only", "Y"),
    ):
        run = attncalc(*called, "--format", form)
        assert run.code == 0
        assert "Self: output le attends almost only to input le" in run.out.replace("\n", " ")
        assert "Cross: output chat mixes inputs" in run.out.replace("\n", " ")


def test_a_picture_of_layers_is_explained(attncalc: Command, tmp_path: Path) -> None:
    file, out = str(sample("decoder").path), str(tmp_path / "map.svg")
    run = attncalc("plot", file, "--explain", "-o", out)
    assert run.code == 0
    assert "Self: output le attends" in run.out
    assert "more sentences: attncalc explain --all shows them" in run.out


def test_without_an_attention_there_is_nothing_to_explain(
    attncalc: Command, tmp_path: Path
) -> None:
    file = tmp_path / "norm.json"
    file.write_text('{"X": [[1, 2]], "norm": "post"}', encoding="utf-8")
    said = "error: this problem has no attention, so there are no weights to explain\n"
    assert attncalc("explain", str(file)).err == said
    assert attncalc("encoder", str(file), "--explain").err == said
    with pytest.raises(InputError, match="no attention"):
        _ = solve(read_problem(file)).patterns


def test_a_mask_without_effect_is_not_mentioned() -> None:
    problem = Problem(Q=[[1, 0]], K=[[1, 0]], V=[[1, 0]], causal=True)
    assert "masked" not in {each.code for each in solve(problem).patterns}
