"""`attncalc open`: a model's layer, its map, what comes next; and folders that are none."""

import importlib.util
import json
import math
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Command
from tensor_files import packed, save_tensors

from attncalc import InputError, Problem, open_model, read_problem, solve
from attncalc.problem.field import Setting, declared
from attncalc.problem.fields import HeadFields
from attncalc.problem.samples import sample
from attncalc.reading.models.families import FAMILIES
from attncalc.reading.models.folder import Config
from attncalc.reading.models.frames import convolved
from attncalc.reading.models.opening import Model
from attncalc.reading.models.rope import a_scaling
from attncalc.reading.models.tokens import masked_of
from attncalc.reading.tensors import Tensors, open_tensors
from attncalc.solving.stack import through

pytestmark = pytest.mark.campaign(4)

HERE = sample("model").path
IDS = "2 4 7 10 2"  # the cat sat on the
Y0 = [-2.43500660991247, 3.12183619399059, 0.84263421315715, -2.34536699580827, -0.77455365749004,
      -0.08395439664387, 2.29585706750272, -0.94047321655065]  # fmt: skip
LOGITS = [-2.616208813419, -0.08720705921452, 1.8765786747327, 0.71788006190331, -1.74628571530637,
          -3.79917736957208, 10.27741574061039, 2.47088020611434, 0.10820856235188,
          -3.18534625381132, 2.97577091757523, -3.02170967359001]  # fmt: skip
"""The last token's outputs of layer 0, and its logits: GPT2LMHeadModel of transformers 5.23, with
the weights of the sample in float64."""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Return a copy of the sample, to be changed."""
    shutil.copytree(HERE, tmp_path / "model")
    return tmp_path / "model"


def arrays_of(folder: Path) -> dict[str, Any]:
    tensors = open_tensors(folder / "model.safetensors")
    return {name: np.array(tensors[name]) for name in tensors}


def test_the_sample_agrees_with_its_package(model: Path) -> None:
    wide = {name: array.astype(float) for name, array in arrays_of(model).items()}
    save_tensors(model / "model.safetensors", **wide)
    opened = Model(model)
    tokens = through(opened.begin([2, 4, 7, 10, 2], "--tokens"), [opened.layer(0)])
    assert np.allclose(tokens["X"].array[-1], Y0, rtol=0, atol=1e-12)
    last = opened.layer(1)
    problem = Problem(**(last | tokens | opened.end(last["weights_layout"])))
    assert np.allclose(solve(problem)["logits"], [LOGITS], rtol=0, atol=1e-11)


def test_the_most_probable_tokens_are_shown(attncalc: Command, model: Path) -> None:
    """The probabilities follow from the logits above: the mat, by far."""
    run = attncalc("open", "model", "--tokens", IDS, "--format", "json")
    assert (run.code, run.err) == (0, "")
    found = json.loads(run.out)["next"]
    shares = np.exp(LOGITS) / np.exp(LOGITS).sum()
    assert [each["id"] for each in found] == np.argsort(-shares)[:5].tolist() == [6, 10, 7, 2, 3]
    assert np.allclose([each["probability"] for each in found], np.sort(shares)[:-6:-1], atol=1e-6)
    run = attncalc("open", "model", "--tokens", IDS, "-d", "2")
    assert "0.9985" not in run.out
    assert "1.00" in run.out


@pytest.mark.slow
def test_a_layer_is_shown_with_its_tokens_as_labels(attncalc: Command, model: Path) -> None:
    (model / "tokenizer.json").unlink()  # where it can be read, tokens have their own names
    run = attncalc(
        "open", "model", "--tokens", "2, 4, 7", "--layer", "1", "--only", "A", "--head", "2"
    )
    assert run.code == 0
    assert "head 2 of 2" in run.out
    assert "head 1 of 2" not in run.out
    assert "Decoder: GPT-2, layer 1 (model)" in run.out
    assert "Output 7: most input" in run.out


@pytest.mark.slow
def test_the_first_layer_shows_the_tokens_and_their_places(attncalc: Command, model: Path) -> None:
    run = attncalc("open", "model", "--tokens", IDS, "--layer", "0", "--format", "json")
    content = json.loads(run.out)
    arrays = arrays_of(model)
    ids = [2, 4, 7, 10, 2]
    X_P = next(each for each in content["steps"] if each["name"] == "X_P")["values"]
    wanted = arrays["transformer.wte.weight"][ids] + arrays["transformer.wpe.weight"][:5]
    assert np.allclose(X_P, wanted, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["json", "npz"])
def test_a_layer_becomes_a_problem_to_change_and_to_hand_out(
    form: str, attncalc: Command, model: Path, tmp_path: Path
) -> None:
    (model / "tokenizer.json").unlink()
    run = attncalc("open", "model", "--tokens", IDS, "--layer", "1", "-o", f"layer.{form}")
    assert run.code == 0
    problem = read_problem(tmp_path / f"layer.{form}")
    opened = Model(model)
    tokens = through(opened.begin([2, 4, 7, 10, 2], "--tokens"), [opened.layer(0)])
    expected = solve(Problem(**(opened.layer(1) | tokens)))["Y"]
    assert np.allclose(solve(problem)["Y"], expected, atol=1e-5)
    assert problem.queries == ("2 (1)", "4", "7", "10", "2 (5)")
    sheet = attncalc("decoder", f"layer.{form}", "--heads", "4", "--only", "A,O", "--blank")
    assert sheet.code == 0
    assert "_____" in sheet.out


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["svg", "png"])
def test_the_map_of_a_layer_is_drawn(
    ending: str, attncalc: Command, model: Path, tmp_path: Path
) -> None:
    out = f"map.{ending}"
    run = attncalc("open", "model", "--tokens", "2 4", "--layer", "0", "--head", "1", "-o", out)
    assert (run.code, run.err) == (0, f"note: written to {out}\n")
    assert (tmp_path / out).stat().st_size > 1000


@pytest.mark.skipif(
    importlib.util.find_spec("tokenizers") is None, reason="tokenizers is not installed"
)
def test_a_text_is_made_tokens_of_and_names_them(attncalc: Command, model: Path) -> None:
    run = attncalc("open", "model", "--text", "the cat sat on the")
    assert run.code == 0
    assert "mat" in run.out
    run = attncalc("open", "model", "--text", "the cat", "--layer", "0", "--only", "A")
    assert "Output cat: most input" in run.out


@pytest.mark.skipif(
    importlib.util.find_spec("tokenizers") is not None, reason="tokenizers is installed"
)
def test_a_text_without_the_package_is_refused_with_advice(attncalc: Command, model: Path) -> None:
    run = attncalc("open", "model", "--text", "the cat")
    assert (run.code, run.out) == (2, "")
    assert run.err == (
        "error: --text needs the package tokenizers: pip install 'attncalc[models]' installs it "
        "(or give --tokens)\n"
    )


# -- other names for the same ---------------------------------------------------------------------


@pytest.mark.slow
def test_old_files_have_no_prefix_and_keep_masks(attncalc: Command, model: Path) -> None:
    """GPT-2 as the hub hands it out: h.0… at the top, and the causal mask beside the weights."""
    before = attncalc("open", "model", "--tokens", IDS, "--layer", "1", "--only", "Y").out
    bare = {name.removeprefix("transformer."): each for name, each in arrays_of(model).items()}
    bare |= {f"h.{n}.attn.bias": np.ones((1, 1, 8, 8), bool) for n in range(2)}
    save_tensors(model / "model.safetensors", **bare)
    assert attncalc("open", "model", "--tokens", IDS, "--layer", "1", "--only", "Y").out == before


def in_shards(model: Path) -> dict[str, str]:
    """Part the sample into two shards with an index; return the file of each tensor."""
    arrays = arrays_of(model)
    files = {name: f"model-{1 + ('.h.1.' in name)}-of-2.safetensors" for name in arrays}
    for file in set(files.values()):
        held = {name: each for name, each in arrays.items() if files[name] == file}
        save_tensors(model / file, **held)
    (model / "model.safetensors").unlink()
    (model / "model.safetensors.index.json").write_text(json.dumps({"weight_map": files}))
    return files


def test_only_the_shards_that_are_asked_for_are_read(attncalc: Command, model: Path) -> None:
    in_shards(model)
    (model / "model-2-of-2.safetensors").unlink()
    asked = ("open", "model", "--tokens", IDS, "--only", "Y", "--layer")
    assert attncalc(*asked, "0").code == 0
    run = attncalc(*asked, "1")
    assert (run.code, run.out) == (2, "")
    assert run.err == (
        "error: model/model-2-of-2.safetensors: this shard is missing, and "
        "model.safetensors.index.json names it\n"
    )


def test_nothing_is_read_but_the_layer_that_is_asked_for(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the table the rows of the tokens alone, and of no other layer anything."""
    read: list[int] = []
    memmap, take = np.memmap, Tensors.rows
    monkeypatch.setattr(np, "memmap", lambda *given: (read.append(given[4]), memmap(*given))[1])
    monkeypatch.setattr(
        Tensors, "rows", lambda self, *given: (read.append(-1), take(self, *given))[1]
    )
    opened = Model(model)
    opened.begin([2, 4], "--tokens")
    assert read == [-1, 96, 64]  # rows of wte (12 × 8), and wpe (8 × 8)
    read.clear()
    opened.layer(1)
    assert sum(read) == 24 * 8 + 24 + 64 + 8 + 2 * 8 * 16 + 16 + 8 + 4 * 8


# -- what is none, or cannot be -------------------------------------------------------------------

Breaks = Callable[[Path], object]


def config(**changes: Any) -> Breaks:
    """Return what changes the config; None takes a key out."""

    def breaks(folder: Path) -> None:
        said = json.loads((folder / "config.json").read_text()) | changes
        left = {key: value for key, value in said.items() if value is not None}
        (folder / "config.json").write_text(json.dumps(left))

    return breaks


def tensors(change: Callable[[dict[str, Any]], Any]) -> Breaks:
    """Return what changes the tensors."""

    def breaks(folder: Path) -> None:
        arrays = arrays_of(folder)
        change(arrays)
        save_tensors(folder / "model.safetensors", **arrays)

    return breaks


def pickled(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def outside(folder: Path) -> None:
    files = in_shards(folder)
    files = dict.fromkeys(files, "../secret.safetensors")
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": files}))


def lies(folder: Path) -> None:
    files = in_shards(folder)
    entry = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}
    (folder / "model-1-of-2.safetensors").write_bytes(packed({"other": entry}, bytes(4)))
    assert files


BROKEN: dict[str, tuple[Breaks, str]] = {
    "no config": (
        lambda folder: (folder / "config.json").unlink(),
        "model: it has no config.json, which describes the model",
    ),
    "no weights": (
        lambda folder: (folder / "model.safetensors").unlink(),
        "model: it has no model.safetensors",
    ),
    "a config that is not JSON": (
        lambda folder: (folder / "config.json").write_text("{"),
        "model/config.json: it is not JSON",
    ),
    "a config that is a list": (
        lambda folder: (folder / "config.json").write_text("[1]"),
        "model/config.json: it is not a JSON object",
    ),
    "a config without its type": (
        config(model_type=None),
        'model/config.json: it has no "model_type", which its model needs',
    ),
    "a config without heads": (
        config(n_head=None),
        'model/config.json: it has no "n_head", which its model needs',
    ),
    "heads that are a text": (
        config(n_head="2"),
        'model/config.json: "n_head" is "2", where a number is needed',
    ),
    "heads that do not part the queries": (
        config(n_head=3),
        "model/config.json: 3 heads, and queries of width 8: 8 is not divisible by 3",
    ),
    "a function that is not known": (
        config(activation_function="mish"),
        'model/config.json: "activation_function" is "mish", where one of gelu, gelu_new, '
        "gelu_pytorch_tanh, gelu_fast, quick_gelu, relu, relu2, silu, swish is needed",
    ),
    "what is not built here": (
        config(add_cross_attention=True),
        'model/config.json: "add_cross_attention" is "True": of GPT-2 "False" is read',
    ),
    "quantised": (
        config(quantization_config={"bits": 4}),
        "model/config.json: its weights are quantized: of these, 8 bits of bitsandbytes and "
        "GGUF files are read",
    ),
    "weights of whole numbers": (
        tensors(
            lambda held: held.update({"transformer.h.0.attn.c_attn.weight": np.ones((8, 24), "i1")})
        ),
        'model: "transformer.h.0.attn.c_attn.weight" is of int8: quantized weights are not read',
    ),
    "two models in one": (
        tensors(lambda held: held.update({"other.h.0.ln_1.weight": np.ones(8)})),
        'model: layer 0 fits 2 places, "transformer.h.0." and "other.h.0.": keep one model in the '
        "folder",
    ),
    "a tensor that nothing reads": (
        tensors(lambda held: held.update({"transformer.h.0.attn.router.weight": np.ones(8)})),
        'model: "transformer.h.0.attn.router.weight" is in this layer, and nothing here reads it',
    ),
    "a field that fits two tensors": (
        tensors(lambda held: held.update({"transformer.h.0.mlp.fc1.weight": np.ones((16, 8))})),
        'model: W_1 fits two of its names, "transformer.h.0.mlp.c_fc.weight" and '
        '"transformer.h.0.mlp.fc1.weight": keep one layer (of a whole model, attncalc open reads '
        "one)",
    ),
    "no embeddings": (
        tensors(lambda held: held.pop("transformer.wte.weight")),
        'model: there is no "transformer.wte.weight" in it',
    ),
    "another family's names": (
        config(model_type="llama"),
        'model/config.json: it has no "rms_norm_eps", which its model needs',
    ),
    "a shard outside": (
        outside,
        'model/model.safetensors.index.json: "transformer.h.0.attn.c_attn.bias" should be in '
        '"../secret.safetensors", which is not a name of a file that ends in .safetensors, beside '
        "the index",
    ),
    "an index that lies": (
        lies,
        'model/model-1-of-2.safetensors: it has no "transformer.wte.weight", which '
        "model.safetensors.index.json says it has",
    ),
    "an index of nothing": (
        lambda folder: (
            (folder / "model.safetensors")
            .rename(folder / "model.safetensors.index.json")
            .write_text("{}")
        ),
        "model/model.safetensors.index.json: it has no weight_map, which lists the tensors of "
        "each shard",
    ),
    "a pickle": (
        pickled,
        "model/pytorch_model.bin: a pickle: it could run any program, and is not read. This "
        "converts a state dict to a model.safetensors, which is read:\n"
        '  python -c "import sys, torch; from safetensors.torch import save_file; _, *given, '
        "made = sys.argv; save_file({name: each.clone() for one in given for name, each in "
        "torch.load(one, 'cpu', "
        'weights_only=True).items()}, made)" model/pytorch_model.bin model/model.safetensors',
    ),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_folder_that_is_broken_gets_its_message(
    what: str, attncalc: Command, model: Path
) -> None:
    breaks, why = BROKEN[what]
    breaks(model)
    before = {path.name: path.read_bytes() for path in model.iterdir()}
    run = attncalc("open", "model", "--tokens", IDS, "--layer", "0", "-o", "page.md")
    assert (run.code, run.out, run.err) == (2, "", f"error: {why}\n")
    assert {path.name: path.read_bytes() for path in model.iterdir()} == before
    assert [path.name for path in model.parent.iterdir()] == ["model"]


ASKED = {
    "a token beyond the table": (
        ("--tokens", "3, 12"),
        "--tokens: there is no token 12: the table of this model has 12, from 0 to 11",
    ),
    "a token below 0": (
        ("--tokens", "-1"),
        '--tokens: "-1" is not a token id: give integers, as 3, 7',
    ),
    "a word": (("--tokens", "cat"), '--tokens: "cat" is not a token id: give integers, as 3, 7'),
    "no token": (("--tokens", " , "), "--tokens names no token: give ids, as 3, 7"),
    "too many tokens": (
        ("--tokens", "1 " * 9),
        "--tokens: 9 tokens, where this model has 8 places",
    ),
    "nothing": ((), 'model: GPT-2 needs an input: --tokens "3, 7", or --text'),
    "an image": (
        ("--image", "x.npy"),
        'model: GPT-2 takes another input: --tokens "3, 7", or --text',
    ),
    "two of them": (
        ("--tokens", "1", "--text", "a"),
        "--tokens and --text together: give one of them",
    ),
    "a layer beyond": (
        ("--tokens", "1", "--layer", "2"),
        "there is no layer 2: this model has 2, from 0 to 1",
    ),
    "a layer below 0": (
        ("--tokens", "1", "--layer", "-1"),
        "there is no layer -1: this model has 2, from 0 to 1",
    ),
    "a head beyond": (
        ("--tokens", "1", "--layer", "0", "--head", "3"),
        "--head 3: this layer has 2, from 1 to 2",
    ),
    "a head of no layer": (
        ("--tokens", "1", "--head", "1"),
        "--head requires a layer: choose it, as --layer 0",
    ),
    "a head in data": (
        ("--tokens", "1", "--layer", "0", "--head", "1", "--format", "json"),
        "json contains all heads: --head is for table, markdown, latex, html, pdf and pictures of "
        "the map",
    ),
    "a picture of no layer": (
        ("--tokens", "1", "-o", "map.png"),
        "picture requires a layer: choose it, as --layer 0",
    ),
}


@pytest.mark.parametrize("what", ASKED)
def test_an_impossible_request_is_reported(what: str, attncalc: Command, model: Path) -> None:
    arguments, why = ASKED[what]
    run = attncalc("open", "model", *arguments)
    assert (run.code, run.out, run.err) == (2, "", f"error: {why}\n")


def test_an_architecture_is_the_name_of_a_class(attncalc: Command, model: Path) -> None:
    config(architectures=["x\nerror: y"])(model)
    assert attncalc("open", "model", "--tokens", IDS).err == (
        'error: model/config.json: "architectures" is "["x\\nerror: y"]", where a list of names '
        "of classes is needed\n"
    )
    config(architectures=["GPT2Model"])(model)
    assert attncalc("open", "model", "--tokens", IDS).err == (
        "error: model: GPT2Model has no known head: choose a layer, as --layer 0 (of 2)\n"
    )


@pytest.mark.skipif(os.name != "posix", reason="the command is for a POSIX shell")
@pytest.mark.parametrize(
    "name",
    ["a`touch poison`b", "$(touch poison)", "'; touch poison; '", '"; touch poison; "', "-c"],
)
@pytest.mark.parametrize("command", ["open", "self"])
def test_the_command_that_converts_a_pickle_runs_nothing_of_its_name(
    command: str, name: str, attncalc: Command, tmp_path: Path
) -> None:
    folder = tmp_path / name
    folder.mkdir()
    (folder / "config.json").write_text('{"model_type": "gpt2"}')
    torch_file = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
    file = folder / "pytorch_model.bin"
    file.write_bytes(torch_file)
    given = ["open", str(folder), "--layer", "0"] if command == "open" else ["self", str(file)]
    run = attncalc(*given)
    assert run.code == 2
    _, _, shown = run.err.partition("which is read:\n  ")
    printing = "printf '%s\\n'" + shown.removeprefix("python -c")
    words = subprocess.run(
        ["sh", "-c", printing], capture_output=True, text=True, check=True, cwd=tmp_path
    ).stdout.splitlines()
    assert words[0].startswith("import sys")
    made = folder / "model.safetensors" if command == "open" else file.with_suffix(".npz")
    assert words[1:] == [str(file), str(made)]
    shards = [folder / f"pytorch_model-0000{number}-of-00002.bin" for number in (1, 2)]
    file.rename(shards[0])
    shards[1].write_bytes(torch_file)
    run = attncalc("open", str(folder), "--layer", "0")
    assert str(made).endswith("npz") or all(shlex.quote(str(each)) in run.err for each in shards)
    assert not (tmp_path / "poison").exists()


def test_an_unknown_family_has_its_missing_fields_named(attncalc: Command, model: Path) -> None:
    config(model_type="of-nobody")(model)
    run = attncalc("open", "model", "--tokens", "1")
    assert run.code == 2
    kinds = {kind for each in FAMILIES for kind in each.types}
    listed = (Path(__file__).parent.parent / "docs" / "models.md").read_text(encoding="utf-8")
    assert {kind for kind in kinds if f"`{kind}`" not in listed} == set()
    assert run.err.startswith(
        f'error: model/config.json: model_type "of-nobody" is none of the {len(kinds)} types '
        "opened here (docs/models.md lists them). Its tensors are below, each with the field of a "
        "problem that it seems to be (? if unknown): fill these fields, as JSON or .npz, with X, "
        "heads and the other settings. Or describe its family in a file without Python: attncalc "
        "open model --draft -o family.json writes a draft, and --family family.json reads it.\n"
        "Outside the layers:\n"
    )
    assert '  "transformer.h.0.attn.c_attn.weight", 8 × 24: W_Q, W_K, W_V (2 such' in run.err
    assert '  "transformer.h.0.ln_1.weight", 8: gamma_1 (2 such tensors)\n' in run.err
    assert '"transformer.h.…", 2 layers:\n' in run.err
    assert "fit:\n  GPT-2, GPT-BigCode, GPT-Neo: all are read; whether the numbers" in run.err


@pytest.mark.parametrize("name", ["model.pt", "none"])
def test_a_path_that_is_not_a_folder_is_reported(
    name: str, attncalc: Command, tmp_path: Path
) -> None:
    if name == "model.pt":
        (tmp_path / name).write_bytes(b"\x80\x02")
    run = attncalc("open", name, "--tokens", "1")
    assert (run.code, run.out) == (2, "")
    expected = {
        "none": "error: none: no such folder: it needs config.json and model.safetensors in it\n",
        "model.pt": "error: model.pt: a pickle: it could run any program, and is not read. This",
    }
    assert run.err.startswith(expected[name])


# -- configs of other years -----------------------------------------------------------------------

OLD: dict[str, tuple[str, dict[str, Any], int, dict[str, Any]]] = {
    # (the family, what its config says, which layer, what is read of it)
    "Gemma 2 without kinds of layers": ("gemma2", {"sliding_window": 8}, 0, {"window": 8}),
    "every second layer of it": ("gemma2", {"sliding_window": 8}, 1, {"window": None}),
    "Mistral without a window": ("mistral", {"sliding_window": None}, 0, {"window": None}),
    "Qwen2 that does not use its window": (
        "qwen2",
        {"sliding_window": 8, "use_sliding_window": False},
        5,
        {"window": None},
    ),
    "Qwen2 below its first layer with one": (
        "qwen2",
        {"sliding_window": 8, "use_sliding_window": True, "max_window_layers": 3},
        2,
        {"window": None},
    ),
    "and from it": (
        "qwen2",
        {"sliding_window": 8, "use_sliding_window": True, "max_window_layers": 3},
        3,
        {"window": 8},
    ),
    "rope as it stood before": (
        "llama",
        {"rope_theta": 5e5, "rope_scaling": {"type": "linear", "factor": 2}},
        0,
        {"rope_base": 500_000, "rope_scaling": ("linear", 2)},
    ),
    "rope of images, whose axes are the same for text": (
        "qwen2_5_vl",
        {"rope_theta": 5e5, "rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]}},
        0,
        {"rope_base": 500_000, "rope_scaling": None},
    ),
    "rope of the first Llama": ("llama", {}, 0, {"rope_base": 10_000, "rope_scaling": None}),
}


@pytest.mark.parametrize("what", OLD)
def test_configs_of_other_years_are_read(what: str) -> None:
    """As the classes of transformers read them."""
    kind, values, layer, expected = OLD[what]
    family = next(each for each in FAMILIES if kind in each.types)
    config = family.own_config(Config("config.json", values))
    found = {name: family.setting(name, config, layer) for name in expected}
    if isinstance(expected.get("rope_scaling"), tuple):
        found["rope_scaling"] = tuple(found["rope_scaling"])[:2]
    assert found == expected


def test_rope_that_is_not_built_here_is_refused() -> None:
    said = {"rope_parameters": {"rope_type": "spiral", "factor": 4.0, "rope_theta": 1e4}}
    with pytest.raises(InputError) as error:
        a_scaling(Config("config.json", said), 0)
    assert str(error.value) == (
        'config.json: "rope_parameters.rope_type" is "spiral", where one of default, linear, '
        "llama3, yarn, longrope, dynamic, proportional is needed"
    )


# -- what a config may say ------------------------------------------------------------------------

LLAMA: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 4,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "num_hidden_layers": 1,
    "rms_norm_eps": 1e-6,
    "hidden_act": "silu",
    "tie_word_embeddings": True,
}


def saved(folder: Path, config: dict[str, Any], shapes: dict[str, tuple[int, ...]]) -> None:
    """Save a model of whole numbers from 0 to 4, tenths, in these shapes."""
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config))
    arrays = {
        name: (np.arange(np.prod(shape)).reshape(shape) * 7 % 5 / 10).astype(np.float32)
        for name, shape in shapes.items()
    }
    save_tensors(folder / "model.safetensors", **arrays)


def llama(folder: Path, **changes: Any) -> None:
    start = "model.layers.0."
    saved(
        folder,
        LLAMA | changes,
        {
            "model.embed_tokens.weight": (6, 4),
            "model.norm.weight": (4,),
            f"{start}self_attn.q_proj.weight": (4, 4),
            f"{start}self_attn.k_proj.weight": (2, 4),
            f"{start}self_attn.v_proj.weight": (2, 4),
            f"{start}self_attn.o_proj.weight": (4, 4),
            f"{start}mlp.gate_proj.weight": (6, 4),
            f"{start}mlp.up_proj.weight": (6, 4),
            f"{start}mlp.down_proj.weight": (4, 6),
            f"{start}input_layernorm.weight": (4,),
            f"{start}post_attention_layernorm.weight": (4,),
        },
    )


SAID: dict[str, tuple[dict[str, Any], str]] = {
    # settings that a config of Llama, or of a given family, may not have
    "no eps": ({"rms_norm_eps": None}, '"rms_norm_eps" is null, where a number is'),
    "an eps that is a text": ({"rms_norm_eps": "1e-6"}, '"rms_norm_eps" is "1e-6", where a number'),
    "an eps below 0": ({"rms_norm_eps": -1}, '"rms_norm_eps" is -1, where a number from 0 is'),
    "an eps that is none": (
        {"rms_norm_eps": float("nan")},
        '"rms_norm_eps" is NaN, where a number',
    ),
    "no heads": ({"num_attention_heads": None}, '"num_attention_heads" is null, where a number is'),
    "half a head": (
        {"num_attention_heads": 2.5},
        '"num_attention_heads" is 2.5, where a whole number from 1 is',
    ),
    "heads of keys as a text": (
        {"num_key_value_heads": "1"},
        '"num_key_value_heads" is "1", where a number is needed',
    ),
    "a base of rope that is null": ({"rope_theta": None}, '"rope_theta" is null, where a number'),
    "a base that cannot stretch": (
        {"rope_scaling": {"rope_type": "dynamic", "factor": 2.0}, "max_position_embeddings": 8},
        "a base of rope stretches with 4 columns or more",
    ),
    "a base of rope of 0": ({"rope_theta": 0}, '"rope_theta" is 0, where a number above 0 is'),
    "a base of rope beyond numbers": ({"rope_theta": 10**400}, '"rope_theta" is 1000000'),
    "an activation that is null": (
        {"hidden_act": None},
        '"hidden_act" is null, where one of gelu, gelu_new, ',
    ),
    "an activation that is a list": ({"hidden_act": ["silu"]}, '"hidden_act" is "[\\"silu\\"]"'),
    "a switch that is null": (
        {"tie_word_embeddings": None},
        '"tie_word_embeddings" is null, where true or false is',
    ),
    "a width of heads that is another": (
        {"head_dim": 3},
        '2 heads, "head_dim" is 3, and the queries are 4 wide: that is not 2 × 3',
    ),
    "kinds of layers that are a text": (
        {"model_type": "ministral", "layer_types": "full_attention"},
        '"layer_types" is "full_attention", where one for each layer is',
    ),
    "a window that is a text": (
        {"model_type": "mistral", "sliding_window": "4"},
        '"sliding_window" is "4", where a number is needed',
    ),
    "a first window that is null": (
        {"model_type": "qwen2", "sliding_window": 4, "max_window_layers": None},
        '"max_window_layers" is null, where a number is needed',
    ),
    "a cap of 0": (
        {
            "model_type": "gemma2",
            "attn_logit_softcapping": 0,
            "final_logit_softcapping": None,
            "query_pre_attn_scalar": 4,
            "sliding_window": 4,
        },
        '"attn_logit_softcapping" is 0, where a number above 0, or null for none, is',
    ),
    "a scale below 0": (
        {
            "model_type": "gemma2",
            "attn_logit_softcapping": None,
            "final_logit_softcapping": None,
            "query_pre_attn_scalar": -4,
            "sliding_window": 4,
        },
        '"query_pre_attn_scalar" is -4, where a number above 0 is',
    ),
}


@pytest.mark.parametrize("what", SAID)
def test_a_config_is_followed_or_refused(what: str, tmp_path: Path) -> None:
    """Of null no default is made, and of a text no number."""
    changes, why = SAID[what]
    llama(tmp_path / "m", **changes)
    with pytest.raises(InputError) as error:
        solve(open_model(tmp_path / "m", tokens=[1, 2]))
    assert str(error.value).startswith(f"{tmp_path}/m/config.json: {why}".replace('\\"', '"'))


def test_a_complete_config_is_opened(tmp_path: Path) -> None:
    llama(tmp_path / "m", rope_scaling=None, head_dim=None, sliding_window=None)
    assert solve(open_model(tmp_path / "m", tokens=[1, 2]))["prob"].shape == (1, 6)


def test_a_layer_without_the_weights_of_its_queries_is_refused(tmp_path: Path) -> None:
    llama(tmp_path / "m")
    arrays = arrays_of(tmp_path / "m")
    del arrays["model.layers.0.self_attn.q_proj.weight"]
    save_tensors(tmp_path / "m" / "model.safetensors", **arrays)
    with pytest.raises(InputError) as error:
        open_model(tmp_path / "m", tokens=[1, 2], layer=0)
    assert str(error.value) == (
        f"{tmp_path}/m: layer 0 has no W_Q, and Llama with this config has: a file or a line of "
        "its index is missing"
    )


# -- BERT, and what has an encoder and a decoder --------------------------------------------------


def bert(folder: Path, gain: str, bias: str) -> None:
    """Save a BERT of masked words, its gains and biases under these names."""
    start = "bert.encoder.layer.0."
    norms = ("bert.embeddings", f"{start}attention.output", f"{start}output")
    norms = (*norms, "cls.predictions.transform")
    square = [f"{start}attention.self.{each}" for each in ("query", "key", "value")]
    square += [f"{start}attention.output.dense", "cls.predictions.transform.dense"]
    saved(
        folder,
        {
            "model_type": "bert",
            "num_attention_heads": 2,
            "num_hidden_layers": 1,
            "hidden_act": "gelu",
            "layer_norm_eps": 1e-12,
        },
        {f"{name}.LayerNorm.{each}": (4,) for name in norms for each in (gain, bias)}
        | {f"{name}.weight": (4, 4) for name in square}
        | {f"{name}.bias": (4,) for name in square}
        | {
            "bert.embeddings.word_embeddings.weight": (6, 4),
            "bert.embeddings.position_embeddings.weight": (8, 4),
            "bert.embeddings.token_type_embeddings.weight": (2, 4),
            f"{start}intermediate.dense.weight": (5, 4),
            f"{start}intermediate.dense.bias": (5,),
            f"{start}output.dense.weight": (4, 5),
            f"{start}output.dense.bias": (4,),
            "cls.predictions.bias": (6,),
        },
    )


def test_gains_and_biases_have_the_names_of_older_files_too(tmp_path: Path) -> None:
    """Files of TensorFlow's time call them gamma and beta: bert-base-uncased does."""
    bert(tmp_path / "new", "weight", "bias")
    bert(tmp_path / "old", "gamma", "beta")
    new, old = (solve(open_model(tmp_path / each, tokens=[1, 5, 3])) for each in ("new", "old"))
    assert np.array_equal(new["prob"], old["prob"])
    assert new["prob"].shape == (3, 6)


def test_the_masked_token_is_predicted_at_its_position(attncalc: Command, tmp_path: Path) -> None:
    bert(tmp_path / "bert", "weight", "bias")
    asked = ("open", "bert", "--tokens", "1 5 3", "--format", "json")
    run = attncalc(*asked)
    assert (run.code, run.out) == (2, "")
    assert run.err == (
        "error: bert: this BERT predicts masked tokens, and the masked token is unknown: "
        "give its position, as --at 2 (from 1 to 3)\n"
    )
    shares = solve(open_model(tmp_path / "bert", tokens=[1, 5, 3]))["prob"]
    for place in (1, 2, 3):
        found = json.loads(attncalc(*asked, "--at", str(place)).out)["next"]
        wanted = np.sort(shares[place - 1])[:-6:-1]
        assert np.allclose([each["probability"] for each in found], wanted, atol=1e-6)
    added = {"added_tokens": [{"id": 4, "content": "[CLS]"}, {"id": 5, "content": "[MASK]"}]}
    (tmp_path / "bert" / "tokenizer.json").write_text(json.dumps(added))
    assert masked_of(tmp_path / "bert") == 5
    assert attncalc(*asked, "--at", "4").err == "error: --at 4: there are 3 tokens, from 1 to 3\n"


def t5(folder: Path) -> None:
    weights: dict[str, tuple[int, ...]] = {"shared.weight": (6, 4)}
    for side, last in (("encoder", 1), ("decoder", 2)):
        start = f"{side}.block.0.layer."
        weights[f"{side}.final_layer_norm.weight"] = (4,)
        for each in range(last + 1):
            weights[f"{start}{each}.layer_norm.weight"] = (4,)
        kinds = ("SelfAttention", "EncDecAttention")[:last]
        for place, kind in enumerate(kinds):
            weights |= {f"{start}{place}.{kind}.{each}.weight": (6, 4) for each in "qkv"}
            weights[f"{start}{place}.{kind}.o.weight"] = (4, 6)
        weights[f"{start}0.SelfAttention.relative_attention_bias.weight"] = (8, 2)
        weights[f"{start}{last}.DenseReluDense.wi.weight"] = (5, 4)
        weights[f"{start}{last}.DenseReluDense.wo.weight"] = (4, 5)
    config = {"model_type": "t5", "num_heads": 2, "d_kv": 3, "d_model": 4, "num_layers": 1}
    saved(folder, config | {"layer_norm_epsilon": 1e-6}, weights)


def test_a_decoder_reads_the_outputs_of_its_encoder(attncalc: Command, tmp_path: Path) -> None:
    t5(tmp_path / "t5")
    asked = ("open", "t5", "--tokens", "1 5 3")
    run = attncalc(*asked, "--decoder-tokens", "0 2", "--layer", "0", "-o", "layer.json")
    assert run.code == 0
    layer = read_problem(tmp_path / "layer.json")
    memory = solve(open_model(tmp_path / "t5", tokens=[1, 5, 3]))["Y"]
    assert np.allclose(layer.X2, memory, atol=1e-6)
    assert layer.scale == "none"
    assert layer.inner["cross."].rel_bias is None
    assert layer.inner["self."].rel_bias is not None
    assert solve(layer)["cross.A"].shape == (2, 2, 3)
    run = attncalc(*asked, "--decoder-tokens", "0 2")
    assert run.code == 0
    assert "W_out is what the model keeps, times 0.5" in run.out.replace("\n", " ")
    run = attncalc(*asked)
    assert (run.code, run.err) == (
        2,
        "error: t5: the encoder of this T5 has no head: give --decoder-tokens, or "
        "choose a layer, as --layer 0 (of 1)\n",
    )


def test_a_spectrogram_goes_through_convolutions(tmp_path: Path) -> None:
    """Beside plain loops: gelu, by the error function, of a kernel over three frames."""
    rng = np.random.default_rng(3)
    rows, weights = rng.normal(size=(6, 2)), rng.normal(size=(3, 2, 3))
    bias = rng.normal(size=3)
    padded = [[0.0, 0.0], *rows.tolist(), [0.0, 0.0]]
    expected = []
    for start in (0, 2, 4):
        sums = [
            bias[k] + sum(padded[start + t][c] * weights[k, c, t] for t in range(3) for c in (0, 1))
            for k in range(3)
        ]
        expected.append([x * (1 + math.erf(x / math.sqrt(2))) / 2 for x in sums])
    assert np.allclose(convolved(rows, weights, bias, 2), expected, atol=1e-13)


def whisper(folder: Path) -> None:
    weights: dict[str, tuple[int, ...]] = {
        "model.encoder.conv1.weight": (4, 2, 3),
        "model.encoder.conv1.bias": (4,),
        "model.encoder.conv2.weight": (4, 4, 3),
        "model.encoder.conv2.bias": (4,),
        "model.encoder.embed_positions.weight": (3, 4),
        "model.decoder.embed_positions.weight": (5, 4),
        "model.decoder.embed_tokens.weight": (6, 4),
    }
    for side, attentions in (("encoder", ("self",)), ("decoder", ("self", "encoder"))):
        start = f"model.{side}.layers.0."
        for each in attentions:
            names = ("q_proj", "k_proj", "v_proj", "out_proj")
            weights |= {f"{start}{each}_attn.{name}.weight": (4, 4) for name in names}
            biased = ("q_proj", "v_proj", "out_proj")
            weights |= {f"{start}{each}_attn.{name}.bias": (4,) for name in biased}
        norms = [f"{start}{each}_attn_layer_norm" for each in attentions]
        norms += [f"{start}final_layer_norm", f"model.{side}.layer_norm"]
        weights |= {f"{norm}.{each}": (4,) for norm in norms for each in ("weight", "bias")}
        weights |= {f"{start}fc1.weight": (5, 4), f"{start}fc2.weight": (4, 5)}
        weights |= {f"{start}fc1.bias": (5,), f"{start}fc2.bias": (4,)}
    sides = {f"{side}_{what}": 1 for side in ("encoder", "decoder") for what in ("layers",)}
    heads = {f"{side}_attention_heads": 2 for side in ("encoder", "decoder")}
    config = {"model_type": "whisper", "num_mel_bins": 2, "activation_function": "gelu"}
    saved(folder, config | sides | heads, weights)


SPECTROGRAMS = {
    "no spectrogram": (
        ("--tokens", "1"),
        "w: Whisper takes another input: --spectrogram x.npy",
    ),
    "a spectrogram of another size": (
        ("--spectrogram", "short.npy"),
        "short.npy is 2 × 5: this model reads 2 × 6: bands and frames",
    ),
    "no file": (("--spectrogram", "none.npy"), "none.npy: no such file"),
    "more tokens than places": (
        ("--spectrogram", "x.npy", "--decoder-tokens", "1 1 1 1 1 1"),
        "--decoder-tokens: 6 tokens, where this model has 5 places",
    ),
    "a token beyond the table": (
        ("--spectrogram", "x.npy", "--decoder-tokens", "6"),
        "--decoder-tokens: there is no token 6: the table of this model has 6, from 0 to 5",
    ),
    "a token that is none": (
        ("--spectrogram", "x.npy", "--decoder-tokens", "x"),
        '--decoder-tokens: "x" is not a token id: give integers, as 3, 7',
    ),
    "what it reads": (
        ("--spectrogram", "x.npy", "-o", "x.npy"),
        None,
    ),
}


@pytest.mark.parametrize("what", SPECTROGRAMS)
def test_an_invalid_spectrogram_is_reported(what: str, attncalc: Command, tmp_path: Path) -> None:
    whisper(tmp_path / "w")
    np.save(tmp_path / "x.npy", np.ones((2, 6)))
    np.save(tmp_path / "short.npy", np.ones((2, 5)))
    before = (tmp_path / "x.npy").read_bytes()
    arguments, why = SPECTROGRAMS[what]
    run = attncalc("open", "w", *arguments, "--layer", "0")
    assert (run.code, run.out) == (2, "")
    assert why is None or run.err == f"error: {why}\n"
    assert (tmp_path / "x.npy").read_bytes() == before


@pytest.mark.slow
def test_both_sides_of_whisper_are_shown(attncalc: Command, tmp_path: Path) -> None:
    whisper(tmp_path / "w")
    np.save(tmp_path / "x.npy", np.arange(12).reshape(1, 2, 6) / 10)
    asked = ("open", "w", "--spectrogram", "x.npy", "--layer", "0")
    assert "A = softmax" in attncalc(*asked, "--only", "A").out
    page = attncalc(*asked, "--decoder-tokens", "1 2", "--only", "cross.A").out
    assert "cross.A = softmax(cross.S_scaled)   attention weights, 2 heads of 2 × 3" in page


# -- in Python ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_python_equals_the_command(attncalc: Command, model: Path) -> None:
    problem = open_model(model, tokens=[2, 4, 7], layer=1, decimals=3)
    run = attncalc("open", "model", "--tokens", "2 4 7", "--layer", "1", "--format", "json")
    steps = {each["name"]: each["values"] for each in json.loads(run.out)["steps"]}
    assert np.allclose(solve(problem)["Y"], steps["Y"], atol=1e-6)
    assert (problem.decimals, problem.title) == (3, "GPT-2, layer 1 (model)")
    whole = solve(open_model(model, tokens=[2, 4, 7]))
    last = attncalc("open", "model", "--tokens", "2 4 7", "--format", "json")
    best = json.loads(last.out)["next"][0]
    assert int(np.argmax(whole["prob"])) == best["id"]


@pytest.mark.parametrize("tokens", [[[2, 4, 7]], np.array([[2, 4, 7]]), np.array([2, 4, 7])])
def test_tokens_may_be_a_batch_of_one(tokens: Any, model: Path) -> None:
    found, expected = (solve(open_model(model, tokens=x, layer=1)) for x in (tokens, [2, 4, 7]))
    assert np.array_equal(found["Y"], expected["Y"])


IN_PYTHON = {
    "nothing": ({}, "m: GPT-2 needs an input: tokens or text"),
    "two": ({"tokens": [1], "text": "a"}, "tokens and text together: pass only one"),
    "a text": ({"tokens": ["a"]}, "tokens takes a list of token ids: whole numbers, as [3, 7]"),
    "none": ({"tokens": []}, "tokens takes a list of token ids: whole numbers, as [3, 7]"),
    "a number": ({"tokens": 3}, "tokens takes a list of token ids: whole numbers, as [3, 7]"),
    "uneven": (
        {"tokens": [[3], [4, 7]]},
        "tokens takes a list of token ids: whole numbers, as [3, 7]",
    ),
    "a batch": (
        {"tokens": np.array([[2, 4], [7, 2]])},
        "tokens is a batch of 2: pass one sequence of it, as [3, 7]",
    ),
    "beyond": (
        {"tokens": [12]},
        "tokens: there is no token 12: the table of this model has 12, from 0 to 11",
    ),
    "an image": ({"image": np.zeros((3, 8, 8))}, "m: GPT-2 takes another input: tokens or text"),
    "a decoder's": (
        {"tokens": [1], "decoder_tokens": [1]},
        "m: GPT-2 has no decoder besides an encoder: omit decoder_tokens",
    ),
    "a setting": (
        {"tokens": [1], "layer": 0, "decimals": 99},
        'decimals takes a whole number from 0 to 12, not "99"',
    ),
}


@pytest.mark.parametrize("what", IN_PYTHON)
def test_errors_in_python_state_what_is_wrong(what: str, model: Path) -> None:
    given, why = IN_PYTHON[what]
    with pytest.raises(InputError) as error:
        open_model(model, **given)
    assert str(error.value).replace(str(model), "m") == why


def test_a_setting_of_a_layer_is_read_by_the_layer() -> None:
    """Else a layer before the last, which has no head, would be refused."""
    of_head = declared(HeadFields, Setting).keys()
    for family in FAMILIES:
        assert not of_head & {*family.settings}, family.title


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"layer": "1"}, "layer is '1', where a whole number from 0 is needed"),
        ({"layer": 1.5}, "layer is 1.5, where a whole number from 0 is needed"),
        ({"layre": 1}, 'unknown name "layre": did you mean layer?'),
    ],
)
def test_a_mistyped_argument_is_one_message(said: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        open_model(HERE, tokens=[2, 4, 7], **said)
