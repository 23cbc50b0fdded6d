"""All layers of a model in one run: steps, resuming, logit lens, rollout, ablation, patching."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attncalc import InputError, Problem, layers, open_model, solve
from attncalc.api.layers import read_patch
from attncalc.problem.replacing import replacing
from attncalc.problem.samples import sample

IDS = [2, 4, 7, 10, 2]
TYPED = " ".join(map(str, IDS))
NEAR = 1e-5


@pytest.fixture
def cats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(sample("model").path, tmp_path / "cats")
    return tmp_path / "cats"


def test_one_run_gives_the_steps_of_every_layer(cats: Path) -> None:
    for number, solution in enumerate(layers(cats, tokens=IDS)):
        alone = solve(open_model(cats, tokens=IDS, layer=number))
        for step in alone.plan:
            assert np.array_equal(solution[step.name], alone[step.name]), step.name


def test_each_form_has_every_layer(attncalc: Callable[..., Any], cats: Path) -> None:
    run = attncalc("open", "cats", "--tokens", TYPED, "--layer", "all", "--only", "A,Y")
    assert run.code == 0, run.err
    assert "Layer 1: A, head 2 of 2" in run.out
    run = attncalc("open", "cats", "--tokens", TYPED, "--layer", "all", "--only", "A", "--format",
                   "json")  # fmt: skip
    found = json.loads(run.out)
    weights = [solution["A"] for solution in layers(cats, tokens=IDS, only="A")]
    assert np.allclose([found["arrays"][f"{n}.A"] for n in (0, 1)], weights, atol=1e-12)
    assert found["ids"] == IDS
    run = attncalc("open", "cats", "--tokens", TYPED, "--layer", "all", "-o", "all.npz")
    assert run.code == 0, run.err
    with np.load("all.npz") as held:
        assert np.array_equal(held["1.A"], weights[1])
        assert "0.F_2" in held
    run = attncalc("open", "cats", "--tokens", TYPED, "--layer", "all", "--only", "A", "--format",
                   "csv")  # fmt: skip
    assert run.out.splitlines()[:2] == ["array,head,row,column,value", "0.A,1,1,1,1.0"]


@pytest.mark.slow
def test_a_run_resumes_from_stored_outputs(attncalc: Callable[..., Any], cats: Path) -> None:
    common = ("open", "cats", "--tokens", TYPED)
    attncalc(*common, "--layer", "all", "--only", "Y", "-o", "all.npz")
    attncalc(*common, "--layer", "0", "-o", "one.npz")
    direct = attncalc(*common, "--layer", "1", "--format", "json")
    for file in ("all.npz", "one.npz"):
        again = attncalc(*common, "--layer", "1", "--format", "json", "--from", file)
        assert again.out == direct.out, again.err
    with np.load("one.npz") as held:
        arrays = dict(held)
    arrays["Y"] = arrays["Y"] + 1  # what is stored is what is read
    np.savez("other.npz", **arrays)
    again = attncalc(*common, "--layer", "1", "--format", "json", "--from", "other.npz")
    assert again.out != direct.out
    with np.load("all.npz") as held:
        np.savez("old.npz", **{name: held[name] for name in held if name != "model"})
    (remark,) = layers(cats, tokens=IDS, after="old.npz").walk.remarks
    assert remark == "old.npz does not state its model: taken to be this one"
    config = json.loads((cats / "config.json").read_text()) | {"layer_norm_epsilon": 0.01}
    (cats / "config.json").write_text(json.dumps(config))
    again = attncalc(*common, "--layer", "1", "--from", "all.npz")
    assert "all.npz: it has the outputs of another model" in again.err


def run_of(attncalc: Callable[..., Any], file: str, *flags: str, tokens: str = TYPED) -> None:
    assert attncalc("open", "cats", "--tokens", tokens, *flags, "-o", file).code == 0


def test_values_of_a_patch_say_where_they_come_from(
    attncalc: Callable[..., Any], cats: Path
) -> None:
    """Those of another layer are refused; of other tokens, masks or models, the page says so."""
    every = ("--layer", "all", "--only", "H,Y")
    run_of(attncalc, "same.npz", *every)
    run_of(attncalc, "tokens.npz", *every, tokens="2 5 7 10 2")
    run_of(attncalc, "masked.npz", *every, "--ignore", "0 0 0 0 1")
    run_of(attncalc, "one.npz", "--layer", "0", "--only", "H")
    with np.load("same.npz") as held:
        np.savez("plain.npz", **{"1.H": held["1.H"]})
        changed = {**held, "model": held["model"] + 1}
        np.savez("model.npz", **changed)
    said = {
        "same": "H of layer 1 replaced",
        "tokens": "H of layer 1 replaced by that of other tokens (2, 5, 7, 10, 2)",
        "masked": "H of layer 1 replaced by that of another input (tokens of an encoder, masks, "
        "settings)",
        "model": "H of layer 1 replaced by that of another model",
        "plain": "H of layer 1 replaced by values of a file that does not state its model and its "
        "input",
    }
    model = layers(cats, tokens=IDS)
    for name, expected in said.items():
        assert model.comparison([read_patch(f"{name}.npz:1.H")]).said == (expected,)
    assert model.comparison([read_patch("one.npz:0.H")]).said == ("H of layer 0 replaced",)
    run = attncalc("open", "cats", "--tokens", TYPED, "--patch", "one.npz:1.H")
    assert "one.npz:1.H: the file has H of layer 0: write one.npz:0.H" in run.err
    run = attncalc("open", "cats", "--tokens", TYPED, "--ablate", "1.2", "--patch", "same.npz:1.H")
    assert "same.npz:1.H: another change sets entries of H, too" in run.err


def test_outputs_of_another_input_are_not_resumed(attncalc: Callable[..., Any], cats: Path) -> None:
    """Tokens of one layer's file are known by their names, masks by what tells inputs apart."""
    run_of(attncalc, "one.npz", "--layer", "0", tokens="2 5 7 10 2")
    run_of(attncalc, "masked.npz", "--layer", "all", "--only", "Y", "--ignore", "0 0 0 0 1")
    run_of(attncalc, "one_masked.npz", "--layer", "0", "--ignore", "0 0 0 0 1")
    for file, other in (("one", "other tokens"), ("masked", "another input"),
                        ("one_masked", "another input")):  # fmt: skip
        again = attncalc("open", "cats", "--tokens", TYPED, "--from", f"{file}.npz")
        assert f"{file}.npz: it has the outputs of {other}" in again.err
    masked = ("open", "cats", "--tokens", TYPED, "--ignore", "0 0 0 0 1")
    for file in ("masked", "one_masked"):
        assert attncalc(*masked, "--from", f"{file}.npz").out == attncalc(*masked).out


@pytest.mark.parametrize(
    ("flags", "problem"),
    [
        (("--layer", "two"), "give the number of a layer, from 0, or all"),
        (("--layer", "all", "--head", "1"), "--head is for one layer"),
        (("--lens", "--rollout"), "--lens and --rollout together"),
        (("--lens", "--layer", "1"), "--lens reads all layers"),
        (("--lens", "--only", "A"), "--only is for steps"),
        (("--layer", "all", "--only", "B"), 'no step "B": a layer has X_P, mu_1'),
        (("--ablate", "3"), "names no step of a layer"),
        (("--ablate", "7.1"), "there is no layer 7"),
        (("--ablate", "1.3"), "so there is no head 3: use 1 to 2"),
        (("--ablate", "1.B"), "1.B: layer 1:"),
        (("--patch", "one.npz:1.B"), "it has no 1.B and no B"),
        (("--patch", "one.npz:1.O"), "its values are 2 × 2, and O is 5 × 8"),
        (("--patch", "one.npz"), "names no step in a file"),
        (("--rollout", "--from", "y.npz"), "rollout is the product over all layers"),
        (("--layer", "all", "--from", "one.npz"), "has no outputs Y of a layer of this model"),
        (("--ablate", "1.1", "-o", "x.png"), "changes have no picture"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    flags: tuple[str, ...], problem: str, attncalc: Callable[..., Any], cats: Path
) -> None:
    np.savez("one.npz", O=np.zeros((2, 2)))
    np.savez("y.npz", **{"0.Y": np.zeros((5, 8), dtype=np.float32)})
    run = attncalc("open", "cats", "--tokens", TYPED, *flags)
    assert run.code == 2
    assert problem in run.err
    assert run.out == ""


@pytest.mark.slow
def test_ablation_and_patching_change_what_they_name(cats: Path) -> None:
    model = layers(cats, tokens=IDS)
    pairs = list(model.compare(["0.2", "1.F_2[5,:]"]).found.run())
    assert [each.number for each in pairs[:2]] == [0, 1]
    assert not pairs[0].changed["H"][1].any()
    assert np.array_equal(pairs[0].changed["H"][0], pairs[0].clean["H"][0])
    assert np.array_equal(pairs[0].changed["A"], pairs[0].clean["A"])
    assert not pairs[1].changed["F_2"][4].any()
    assert pairs[1].changed["F_2"][3].any()
    other = [each["H"] for each in layers(cats, tokens=[2, 5, 7, 10, 2])]
    ((pair), effect) = model.compare(patch={"1.H": other[1]}).found.run()
    assert np.allclose(pair.changed["H"], other[1])
    same = list(model.compare(patch={"0.H": next(iter(model))["H"]}).found.run())
    assert np.allclose(same[-1].clean[0], same[-1].changed[0], atol=1e-6)
    assert not np.allclose(effect.clean[0], effect.changed[0])


def test_the_comparison_marks_what_changed(attncalc: Callable[..., Any], cats: Path) -> None:
    run = attncalc("open", "cats", "--tokens", TYPED, "--ablate", "0.2", "--only", "H,A")
    assert run.code == 0, run.err
    assert "H[2,:,:] of layer 0 set to 0" in run.out
    assert "→ 0.00" in run.out
    assert "Logits after token 5" in run.out
    run = attncalc("open", "cats", "--tokens", TYPED, "--ablate", "0.2", "-o", "both.html")
    assert run.code == 0, run.err  # also with matrices wider than what is shown as text
    run = attncalc("open", "cats", "--tokens", TYPED, "--ablate", "0.2", "-o", "both.npz")
    with np.load("both.npz") as held:
        assert not held["changed.0.H"][1].any()
        assert held["clean.0.H"][1].any()
        assert held["changed.logits"].shape == held["clean.logits"].shape == (12,)
    run = attncalc("open", "cats", "--tokens", TYPED, "--patch", "both.npz:0.H")
    assert run.code == 2  # the names of a comparison say which of the two
    with np.load("both.npz") as held:
        np.savez("zeros.npz", **{"0.H": held["changed.0.H"]})
    a, b = (
        json.loads(attncalc("open", "cats", "--tokens", TYPED, *flags, "--format", "json").out)
        for flags in (("--ablate", "0.2"), ("--patch", "zeros.npz:0.H"))
    )
    assert a["arrays"]["changed.logits"] == b["arrays"]["changed.logits"]


@pytest.mark.slow
def test_long_inputs_are_changed_too() -> None:
    """Beyond the size of blocks, where equations replace the outputs of heads."""
    rng = np.random.default_rng(2)
    weights = {f"W_{name}": rng.normal(size=(8, 8)) for name in "QKVO"}
    problem = Problem(X=rng.normal(size=(600, 8)), **weights, heads=2, causal=True)
    clean = solve(problem, keep=("H", "O"))
    where = np.zeros((2, 600, 4), dtype=bool)
    where[1] = True
    changed = solve(replacing(problem, {"H": (where, np.zeros(where.shape))}), keep=("H", "O"))
    assert np.allclose(changed["H"][0], clean["H"][0], atol=1e-12)
    assert not changed["H"][1].any()
    gone = clean["H"][1] @ weights["W_O"][4:]
    assert np.allclose(clean["O"] - changed["O"], gone, atol=1e-10)


def test_a_page_has_all_heads_to_point_at_and_each_layer_to_open(cats: Path) -> None:
    pytest.importorskip("tokenizers")
    model = layers(cats, tokens=IDS, only="A")
    assert "2 layers" in str(model)
    page = model._repr_html_()
    for text in ("layer 0, head 2: sat to cat, 0.04", "&lt;summary&gt;layer 1&lt;/summary&gt;"):
        assert text in page
    assert "Layer 1: A, head 2 of 2" in page


def test_changes_that_are_no_text_are_refused(cats: Path) -> None:
    wrong: Any
    for wrong in (0.2, [0.2], layers(cats, tokens=IDS)):
        with pytest.raises(InputError, match="heads or steps as text"):
            layers(cats, tokens=IDS).compare(wrong)


def test_an_array_of_another_size_is_refused(cats: Path) -> None:
    with pytest.raises(InputError, match="its values are 2 × 2, and H is 2 × 5 × 4"):
        list(layers(cats, tokens=IDS).compare(patch={"0.H": np.zeros((2, 2))}).found.run())


@pytest.mark.campaign(3)
@pytest.mark.parametrize("flags", [("--layer", "all"), ("--lens",), ("--rollout",)])
def test_pictures_are_drawn(
    flags: tuple[str, ...], attncalc: Callable[..., Any], cats: Path
) -> None:
    run = attncalc("open", "cats", "--tokens", TYPED, *flags, "-o", "x.svg")
    assert run.code == 0, run.err
    assert Path("x.svg").stat().st_size > 1000


# -- beside transformers --------------------------------------------------------------------------


def tiny(kind: str, folder: Path) -> tuple[Any, Any]:
    """Return torch and a small model with redrawn parameters, saved to a folder."""
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    said: dict[str, Any] = {"vocab_size": 30, "n_embd": 12, "n_layer": 3, "n_head": 3}
    if kind == "Llama":
        said = {"vocab_size": 30, "hidden_size": 16, "num_hidden_layers": 3,
                "num_attention_heads": 4, "num_key_value_heads": 2,
                "intermediate_size": 24}  # fmt: skip
    config = getattr(transformers, f"{kind}Config")(**said, attn_implementation="eager")
    name = "GPT2LMHeadModel" if kind == "GPT2" else "LlamaForCausalLM"
    model = getattr(transformers, name)(config).double().eval()
    torch.manual_seed(3)
    with torch.no_grad():
        for each in model.parameters():
            each.copy_(torch.randn_like(each) * 0.3 + (each.ndim == 1))
    model.save_pretrained(folder)
    return torch, model


def inner(model: Any, kind: str) -> tuple[Any, Any]:
    """Return the layers, and the last normalization."""
    base = model.transformer if kind == "GPT2" else model.model
    return (base.h, base.ln_f) if kind == "GPT2" else (base.layers, base.norm)


TOKENS = [4, 8, 15, 8, 4, 29]


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize("kind", ["GPT2", "Llama"])
def test_lens_and_rollout_are_those_of_the_package(kind: str, tmp_path: Path) -> None:
    torch, model = tiny(kind, tmp_path)
    with torch.no_grad():
        out = model(torch.tensor([TOKENS]), output_hidden_states=True, output_attentions=True)
        norm = inner(model, kind)[1]
        states = [*out.hidden_states[1:-1]]  # the package normalizes the last one
        expected = [model.lm_head(norm(each))[0] for each in states] + [out.logits[0]]
    ours = layers(model, tokens=TOKENS)  # of the object, without a folder
    found = ours.lens(at=3).found
    assert np.array_equal(found.logits, layers(tmp_path, tokens=TOKENS).lens(at=3).found.logits)
    for layer, logits in enumerate(expected):
        assert np.allclose(found.logits[layer], logits[2], rtol=NEAR, atol=NEAR)
        best = torch.topk(torch.softmax(logits, dim=-1), 5)
        assert np.allclose(found.shares[layer], best.values, atol=NEAR)
        assert np.array_equal(found.best[layer], best.indices)
        order = torch.argsort(-logits[2]).tolist()
        assert found.ranks[layer] == 1 + order.index(int(out.logits[0, 2].argmax()))
    rolled = torch.eye(len(TOKENS), dtype=torch.float64)
    for number, weights in enumerate(out.attentions):
        assert np.allclose([*ours][number]["A"], weights[0], atol=NEAR)
        mixed = (weights[0].mean(dim=0) + torch.eye(len(TOKENS))) / 2
        rolled = mixed.double() @ rolled
        assert np.allclose(ours.rollout().found.matrices[number], rolled, atol=NEAR)


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize("kind", ["GPT2", "Llama"])
def test_changes_are_those_of_hooks(kind: str, tmp_path: Path) -> None:
    """Heads set to 0, and heads and a residual taken from another input, in the package itself."""
    torch, model = tiny(kind, tmp_path)
    blocks, _ = inner(model, kind)
    projections = [b.attn.c_proj if kind == "GPT2" else b.self_attn.o_proj for b in blocks]
    width = 4
    other_ids = [4, 9, 15, 8, 3, 29]
    seen: dict[str, Any] = {}

    def keeping(name: str) -> Any:
        return lambda m, read: seen.__setitem__(name, read[0].detach().clone())

    hook = projections[1].register_forward_pre_hook(keeping("H"))
    residual = blocks[0].register_forward_hook(
        lambda m, read, gave: seen.__setitem__("Y", gave[0] if isinstance(gave, tuple) else gave)
    )
    with torch.no_grad():
        clean_other = model(torch.tensor([other_ids])).logits
    hook.remove()
    residual.remove()
    assert clean_other.shape[1] == len(TOKENS)

    def changed(part: slice, values: Any) -> Any:
        def change(module: Any, read: Any) -> Any:
            made = read[0].clone()
            made[..., part] = values
            return (made, *read[1:])

        return change

    def logits(*hooks: Any) -> Any:
        with torch.no_grad():
            made = model(torch.tensor([TOKENS])).logits[0, -1]
        for each in hooks:
            each.remove()
        return made

    ours = layers(tmp_path, tokens=TOKENS)
    part = slice(width, 2 * width)
    expected = logits(
        projections[0].register_forward_pre_hook(changed(part, 0.0)),
        projections[2].register_forward_pre_hook(changed(slice(0, width), 0.0)),
    )
    *_, effect = ours.compare(["0.2", "2.1"]).found.run()
    assert np.allclose(effect.changed[0], expected, rtol=NEAR, atol=NEAR)
    assert np.allclose(effect.clean[0], logits(), rtol=NEAR, atol=NEAR)

    other = [*layers(tmp_path, tokens=other_ids)]
    expected = logits(projections[1].register_forward_pre_hook(changed(part, seen["H"][..., part])))
    *_, effect = ours.compare(patch={"1.H[2,:,:]": other[1]["H"]}).found.run()
    assert np.allclose(effect.changed[0], expected, rtol=NEAR, atol=NEAR)

    def at_third(module: Any, read: Any, gave: Any) -> Any:
        made = (gave[0] if isinstance(gave, tuple) else gave).clone()
        made[0, 2] = seen["Y"][0, 2]
        return (made, *gave[1:]) if isinstance(gave, tuple) else made

    expected = logits(blocks[0].register_forward_hook(at_third))
    *_, effect = ours.compare(patch={"0.Y[3,:]": other[0]["Y"]}).found.run()
    assert np.allclose(effect.changed[0], expected, rtol=NEAR, atol=NEAR)
