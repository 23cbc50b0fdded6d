"""A gradient has the shape in which its matrix was given: in Python, in JSON and in npz."""

import io
import json
from typing import Any

import numpy as np
import pytest
from conftest import Command, mostly_slow, some_of
from gradient_kinds import FURTHER, Chance, Fields, kind_of_attention, kind_of_layers, posed

from attncalc import Problem, read_problem
from attncalc.problem.samples import sample
from attncalc.solving.solution import Solution, solve
from attncalc.writing.page import Contents, Page, make_page
from attncalc.writing.page_data import write_json, write_npz

RATE = 0.125


def nested_of(fields: Any, before: str = "") -> dict[str, Any]:
    """Return every array that was given, by its name in all: 1.W_1, 2.cross.W_Q."""
    found: dict[str, Any] = {}
    for name, value in fields.items():
        if isinstance(value, np.ndarray):
            found[before + name] = value
        elif isinstance(value, dict):
            found |= nested_of(value, f"{before}{name}.")
        elif name == "layers":
            for number, layer in enumerate(value, start=1):
                found |= nested_of(layer, f"{before}{number}.")
    return found


def page_of(solution: Solution) -> Page:
    return make_page(solution, Contents(solution.plan))


def check_shapes(problem: Problem, given: dict[str, Any]) -> int:
    """Step against every gradient as a reader would, and count those that there are."""
    solution = solve(problem)
    page, file = page_of(solution), io.BytesIO()
    steps = {each["name"]: each for each in json.loads("".join(write_json(page)))["steps"]}
    write_npz(page, file)
    file.seek(0)
    arrays, count = np.load(file), 0
    for name, matrix in given.items():
        prefix, _, own = name.rpartition(".")
        gradient = f"{prefix}.d{own}" if prefix else f"d{own}"
        if gradient not in steps:
            continue
        count += 1
        shape = np.shape(matrix)
        assert solution[gradient].shape == arrays[gradient].shape == shape, gradient
        assert solution.precise(gradient).shape == shape
        for form in ("values", "shown"):
            assert np.shape(steps[gradient][form]) == shape, (gradient, form)
        assert (np.array(matrix) - RATE * solution[gradient]).shape == shape
        if f"{name}_new" in steps:
            expected = matrix - RATE * solution[gradient]
            for new in (solution[f"{name}_new"], arrays[f"{name}_new"]):
                assert new == pytest.approx(expected, abs=1e-12), name
            assert np.array(steps[f"{name}_new"]["values"]) == pytest.approx(expected, abs=1e-12)
    return count


@pytest.mark.slow
@pytest.mark.parametrize("made_by", [kind_of_attention, kind_of_layers])
@pytest.mark.parametrize("seed", some_of(60))
def test_w_less_a_step_of_its_gradient_is_w_after_the_step(made_by: Any, seed: int) -> None:
    fields = made_by(seed)
    assert check_shapes(posed(fields, step=str(RATE)), nested_of(fields))


@pytest.mark.campaign(3)
@pytest.mark.parametrize("what", mostly_slow([each for each in FURTHER if each != "distance"], 4))
def test_a_step_changes_all_matrices_with_gradients(what: str) -> None:
    fields = FURTHER[what](Chance(len(what)))
    assert check_shapes(Problem(**fields, step=str(RATE)), nested_of(fields))


def two_heads(form: str) -> Fields:
    """Return a problem of two heads whose matrices are given side by side, or one for each."""
    numbers = Chance(2).numbers
    fields: Fields = {"X": numbers(3, 4), "heads": 2}
    for name in "QKV":
        fields |= {f"W_{name}": numbers(4, 6), f"b_{name}": numbers(6)}
    if form == "apart":
        apart = {
            name: np.stack(np.split(matrix, 2, axis=-1))
            for name, matrix in fields.items()
            if name.startswith("W_")
        }
        return fields | apart
    if form in ("out_in", "columns"):
        turned = {
            name: matrix.T
            for name, matrix in fields.items()
            if name.startswith("W_") or (name == "X" and form == "columns")
        }
        how = {"weights_layout": "torch"} if form == "out_in" else {"layout": "columns"}
        return fields | turned | how
    if form == "rows":
        return fields | {f"b_{name}": fields[f"b_{name}"][np.newaxis] for name in "QKV"}
    return fields


@pytest.mark.slow
@pytest.mark.parametrize("form", ["side by side", "apart", "out_in", "columns", "rows"])
def test_gradients_have_the_layout_of_the_given_heads_and_biases(form: str) -> None:
    fields = two_heads(form)
    assert check_shapes(Problem(**fields, step=str(RATE)), nested_of(fields)) == 7


def test_gradients_of_heads_side_by_side_are_those_of_autograd() -> None:
    torch = pytest.importorskip("torch")
    fields = two_heads("side by side")
    leaves = {
        name: torch.tensor(matrix, requires_grad=True)
        for name, matrix in fields.items()
        if name != "heads"
    }
    Q, K, V = (
        (leaves["X"] @ leaves[f"W_{name}"] + leaves[f"b_{name}"]).reshape(3, 2, 3).swapaxes(0, 1)
        for name in "QKV"
    )
    torch.nn.functional.scaled_dot_product_attention(Q, K, V).sum().backward()
    solution = solve(Problem(**fields, backward=True))
    for name, leaf in leaves.items():
        assert solution[f"d{name}"].shape == tuple(leaf.grad.shape)
        assert solution[f"d{name}"] == pytest.approx(leaf.grad.numpy(), abs=1e-12)


@pytest.mark.slow
def test_a_list_in_a_file_is_a_list_in_the_output(attncalc: Command, tmp_path: Any) -> None:
    """Also where it is read back: the page of one step is the problem of the next."""
    given = json.loads(sample("heads").path.read_text())
    (tmp_path / "in.json").write_text(json.dumps(given))
    for ending in ("json", "npz"):
        assert attncalc("self", "in.json", "--step", "0.1", "-o", f"out.{ending}").code == 0
        read = read_problem(tmp_path / f"out.{ending}")
        assert read.listed == {name for name, each in given.items() if name in ("b_V", "b_O")}
        solution = solve(read)
        for name in ("W_Q", "b_V", "b_O"):
            assert solution[f"d{name}"].shape == np.shape(given[name])
    written = json.loads((tmp_path / "out.json").read_text())
    assert written["problem"]["b_V"] == given["b_V"]
    steps = {each["name"]: each for each in written["steps"]}
    assert "heads" not in steps["dW_Q"]
    assert len(steps["dW_Q"]["columns"]) == len(given["W_Q"][0])
    assert attncalc("check", "in.json", "out.json", "--step", "0.1").code == 0
    assert attncalc("check", "in.json", "out.npz", "--step", "0.1", "--atol", "1e-9").code == 0


@pytest.mark.slow
def test_a_worksheet_and_fractions_have_the_same_shape(attncalc: Command) -> None:
    fields = ("--heads", "2", "--W_Q", "1 0; 0 1", "--W_K", "1 1; 0 1", "--W_V", "1 0; 2 1")
    asked = ("--X", "1 2; 3 4", *fields, "--normalizer", "sum", "--backward", "--only", "dW_Q")
    for more in ((), ("--blank",), ("--fractions",)):
        run = attncalc("self", *asked, *more, "--format", "json")
        (step,) = json.loads(run.out)["steps"]
        assert np.shape(step["shown"]) == (2, 2), run.err
