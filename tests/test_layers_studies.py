"""Studies of layers: any matrix or setting of any part changes, any step is watched."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Command, mostly_slow

from attncalc import InputError, Problem, ShapeError, read_problem, simulate, solve, vary
from attncalc.problem.samples import sample
from attncalc.reading.studies.changes import read_change
from attncalc.studies.family import families, is_batched, numbers_of

SAMPLES = ("encoder", "decoder", "gpt", "cache")
EYE = [[1, 0], [0, 1]]


def two_layers(**first: Any) -> dict[str, Any]:
    """Return a layer that gives its tokens as they are, and one whose scores are W_Q's rows."""
    own = {"W_Q": EYE, "W_K": EYE, "W_V": EYE, "normalizer": "hardmax", **first}
    second = {"W_Q": [[0, 0.25], [0, 1]], "W_K": EYE, "W_V": [[1, 2], [3, 5]]}
    whole = {"norm": "none", "residual": False, "scale": "none"}
    return {"X": EYE, "layers": [own, second], **whole}


def content(name: str) -> dict[str, Any]:
    if name == "stack":
        return two_layers()
    return dict(json.loads(sample(name).path.read_text(encoding="utf-8")))


def edited(fields: dict[str, Any], name: str, value: Any) -> Problem:
    """Return the problem with a field that was changed in its file, by its name there."""
    *parts, own = name.split(".")
    copy = json.loads(json.dumps(fields))
    place = copy
    for part in parts:
        place = place["layers"][int(part) - 1] if part.isdigit() else place[part]
    place[own] = value
    return Problem(**copy)


def changed_names() -> list[tuple[str, str]]:
    found = []
    for name in (*SAMPLES, "stack"):
        problem = Problem(**content(name))
        found += [(name, each) for each in problem.names]
        parts = [part for part in problem.calculation.parts if part.attention is not None]
        found += [(name, f"{part.prefix}scale") for part in parts]
    return found


@pytest.mark.campaign(8)
@pytest.mark.parametrize(("name", "changes"), changed_names())
def test_a_family_of_layers_is_each_of_its_problems(name: str, changes: str) -> None:
    """The plan with a leading axis against each problem read, and solved, by itself."""
    problem = Problem(**content(name), rounding="display") if name == "stack" else read_problem(
        sample(name).path, rounding="display"
    )  # fmt: skip
    is_scale = changes.endswith("scale")
    text = f"{changes} = 0.5,2" if is_scale else f"{changes} *= 0.5,2"
    change = read_change(text, problem)
    assert is_batched(change)
    points = [(value,) for value in change.values]
    ((family, count),) = families(problem, (change,), points)
    fields = content(name) | {"rounding": "display"}
    for place, factor in enumerate((0.5, 2)):
        value = factor if is_scale else (factor * problem.stored(changes)).tolist()
        alone = solve(edited(fields, changes, value))
        for step in alone.plan:
            made = np.broadcast_to(family[step.name], (count, *family[step.name].shape[1:]))
            np.testing.assert_allclose(
                made[place].reshape(alone[step.name].shape), alone[step.name], rtol=1e-9, atol=1e-9
            )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "text", "values"),
    [
        ("encoder", "eps", ["0.1", "2"]),
        ("decoder", "self.causal", ["true", "false"]),
        ("gpt", "normalization", ["layer", "rms"]),
        ("stack", "2.scale", ["0.5", "3"]),
    ],
)
def test_any_setting_of_any_part_changes(name: str, text: str, values: list[str]) -> None:
    fields = content(name)
    found = vary(Problem(**fields), f"{text}={','.join(values)}", watch=["Y[1,:]"]).found
    expected = [edited(fields, text, value) for value in values]
    assert found.digits == tuple(tuple(solve(each).shown("Y")[0]) for each in expected)
    assert len({*found.digits}) == len(values)  # else nothing would be shown


@pytest.mark.slow
def test_changes_of_an_entry_of_a_layer_are_exact() -> None:
    fields = content("encoder")
    found = vary(Problem(**fields), "W_2[1,2] = 1/3,2", watch=["F_2", "Y"]).found
    for digits, value in zip(found.digits, (Fraction(1, 3), 2), strict=True):
        fields["W_2"][0][1] = value
        alone = solve(Problem(**fields))
        rows = (*alone.shown("F_2"), *alone.shown("Y"))
        assert digits == tuple(entry for row in rows for entry in row)


@pytest.mark.slow
def test_the_largest_weight_moves_in_the_named_attention() -> None:
    """Row 1 of the second layer's scores is (a, 1/4): its inputs change places at a = 1/4."""
    found = vary(Problem(**two_layers()), "2.W_Q[1,1] = -1:1").found
    (change,) = found.changeovers
    assert change.at == pytest.approx(0.25, abs=1e-9)
    assert (change.weights, change.output, change.before, change.after) == ("2.A", 0, (1,), (0,))
    (listed,) = json.loads(vary(Problem(**two_layers()), "2.W_Q[1,1] = -1:1").to_json())[
        "changeovers"
    ]
    assert listed["weights"] == "2.A"
    said = vary(Problem(**two_layers()), "2.W_Q[1,1] = -1:1").to_latex()
    assert "Layer 2, output 1: most input 2 up to 2.W\\_Q[1,1] 0.25, most input 1 beyond" in said


def test_a_scale_of_one_attention_has_a_limit_and_that_of_several_has_none() -> None:
    problem = Problem(**two_layers())
    found = vary(problem, "2.scale=1,inf", watch="2.A").found
    assert found.digits[1] == ("0.00", "1.00", "0.00", "1.00")
    with pytest.raises(InputError, match=r"several attentions have this scale.*as 1\.scale"):
        vary(problem, "scale=1,inf")


@pytest.mark.slow
def test_draws_of_a_layer_are_those_of_the_generator() -> None:
    problem = read_problem(sample("decoder").path, rounding="display")
    found = simulate(problem, "cross.W_V ~ N(mu, 0.04 I)", count=20, seed=3, watch="Y[2,:]").found
    (simulation,) = found
    given = problem.stored("cross.W_V")
    drawn = given + 0.2 * np.random.default_rng(3).standard_normal((20, *given.shape))
    fields = content("decoder") | {"rounding": "display"}
    expected = [solve(edited(fields, "cross.W_V", each.tolist()))["Y"][1] for each in drawn]
    np.testing.assert_allclose(simulation.values, expected, rtol=1e-9, atol=1e-12)
    assert {each.weights for each in simulation.first} == {"self.A", "cross.A"}
    np.testing.assert_allclose(simulation.outputs[:, 1], expected, rtol=1e-9, atol=1e-12)


def test_weights_and_outputs_of_layers_are_watched_by_default() -> None:
    watched = vary(Problem(**content("decoder")), "eps=1").found.watched
    steps = dict.fromkeys(each.step for each in watched)
    assert list(steps) == ["self.A", "cross.A", "Y"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("3.W_1 = 0:1", "this problem has no 3.W_1, and only what is given can change: there are"),
        ("3.scale = 0:1", "this problem has no part 3: there are self, cross"),
        ("W_Q = 0:1", "this problem has no W_Q, and only what is given can change"),
        ("self.decimals=1,2", "decimals applies to the whole problem, not to a part"),
        ("self.A = 0:1", "self.A is computed here, and only what is given can change"),
        ("block=encoder", "block is not a setting that changes the calculation"),
        ("self.W_Q[9] *= 2", "self.W_Q is 3 × 2, so there is no row 9: give 1 to 3"),
        ("self.wrong=1", 'unknown name "self.wrong": did you mean'),
    ],
)
def test_impossible_changes_in_layers_are_reported(change: str, said: str) -> None:
    with pytest.raises((InputError, ShapeError)) as refused:
        vary(Problem(**content("decoder")), change)
    assert said in str(refused.value)


def test_a_setting_of_layers_does_not_change_a_single_attention(attncalc: Command) -> None:
    run = attncalc("vary", str(sample("self").path), "eps=0.1,1")
    assert run.err == (
        'error: "eps=0.1,1": eps is of an encoder or a decoder, and this is an attention alone\n'
    )


def test_an_overflow_is_not_hidden_by_a_relu() -> None:
    fields = {"X": [[1, 2]], "W_1": [[-1], [-1]], "W_2": [[1, 1]], "norm": "none"}
    with pytest.raises(InputError, match="F_1 exceeds the largest float64"):
        simulate(Problem(**fields), "W_1 ~ U(-1.7e308, -1.6e308)", count=10)


@pytest.mark.campaign(2)
@pytest.mark.parametrize("form", mostly_slow(["latex", "table", "markdown", "json", "csv"], 2))
@pytest.mark.parametrize(
    "study", [("vary", "cross.scale=0:2"), ("simulate", "cross.W_K ~ N(mu, 0.1 I)")]
)
def test_every_form_has_studies_of_layers(
    form: str, study: tuple[str, str], attncalc: Command
) -> None:
    command, text = study
    run = attncalc(command, str(sample("decoder").path), text, "--format", form)
    assert run.code == 0
    assert "cross.A[1,1]" in run.out.replace("\\", "").replace("&#91;", "[").replace("&#93;", "]")


@pytest.mark.slow
@pytest.mark.campaign(2)
@pytest.mark.parametrize(
    "study", [("vary", "2.W_Q[1,1]=-1:1"), ("simulate", "2.W_V ~ N(mu, 0.1 I)")]
)
def test_studies_of_layers_are_drawn(
    study: tuple[str, str], attncalc: Command, tmp_path: Path
) -> None:
    (tmp_path / "in.json").write_text(json.dumps(two_layers()), encoding="utf-8")
    command, text = study
    out = tmp_path / "study.svg"
    run = attncalc(command, str(tmp_path / "in.json"), text, "-o", str(out))
    assert run.code == 0, run.err
    assert text in out.read_text(encoding="utf-8")


def test_a_single_normalisation_has_studies_without_weights(
    attncalc: Command, tmp_path: Path
) -> None:
    (tmp_path / "in.json").write_text('{"X": [[1, 2, 6]], "norm": "post"}', encoding="utf-8")
    for called in (("vary", "eps=0.1,1"), ("simulate", "X ~ U(0, 1)")):
        run = attncalc(called[0], str(tmp_path / "in.json"), called[1])
        assert run.code == 0, run.err
        assert "Y[1,1]" in run.out
        assert "changes hands" not in run.out


def test_so_many_layers_are_solved_at_once_as_memory_has_room_for() -> None:
    wide = Problem(X=np.ones((8, 16)), W_1=np.ones((16, 64)), W_2=np.ones((64, 16)), norm="none")
    assert numbers_of(wide) >= 8 * (16 + 64 + 16) + 2 * 16 * 64


def test_another_attention_keeps_the_number_that_its_scores_are_multiplied_by() -> None:
    fields = two_layers(normalizer="softmax", scale=3)
    problem = Problem(**fields)
    change = read_change("2.scale = 0.5,2", problem)
    ((family, _),) = families(problem, (change,), [(value,) for value in change.values])
    np.testing.assert_allclose(family["1.A"][0, 0], solve(problem)["1.A"], rtol=1e-12)
