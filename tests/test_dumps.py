"""Dumps of frameworks against a layer: what they keep is known again, and their bugs are named."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Command, mostly_slow
from implementations import BUGS, MOST_NEGATIVE, Layer, run
from tensor_files import save_tensors

from attncalc import read_problem
from attncalc.grading.framework import recognized
from attncalc.grading.key import Key, key_of
from attncalc.grading.marking import mark
from attncalc.grading.marks import Marking
from attncalc.grading.rules import Rules, Status
from attncalc.reading.answers import read_answer

RULES = Rules(atol=1e-6)
LAYERS: dict[str, tuple[Layer, tuple[str, ...]]] = {
    "GPT-2": (Layer(), ("split", "merge", "inverted", "columns", "unmasked", "unscaled")),
    "Llama": (
        Layer(groups=2, has_rope=True),
        ("pairing", "sign", "base", "split", "merge", "inverted", "columns", "unscaled", "tiled"),
    ),
    "Mistral": (
        Layer(groups=2, has_rope=True, window=3),
        ("pairing", "sign", "base", "split", "merge", "inverted", "columns", "unmasked"),
    ),
    "Qwen2": (
        Layer(groups=1, has_rope=True, base=1e6, seed=3),
        ("pairing", "sign", "base", "split", "merge", "inverted", "columns"),
    ),
    "BERT": (Layer(is_causal=False, heads=2, groups=2), ("split", "merge", "columns", "unscaled")),
}
KEPT = {
    # what of a run is dumped
    "whole": lambda run: run,
    "S alone": lambda run: {"S": run["S"]},
    "A alone": lambda run: {"A": run["A"]},
    "O alone": lambda run: {"O": run["O"]},
    "whole, (batch, tokens, heads, width)": lambda run: turned(run),
    "A averaged": lambda run: {"A": run["A"].mean(axis=0)},
}
SEEN_FROM = {"S alone": ("pairing", "sign", "base", "split", "inverted", "tiled")}
"""Of scores alone what comes behind them cannot be seen; of others each of these can."""


def turned(run: dict[str, Any]) -> dict[str, Any]:
    """Return a run with queries, keys and values as (batch, tokens, heads, width)."""
    return {k: v.swapaxes(0, 1)[None] if k in ("Q", "K", "V") else v for k, v in run.items()}


def keyed(name: str, folder: Path) -> tuple[Layer, Key]:
    layer, _ = LAYERS[name]
    save = {k: np.asarray(v) for k, v in layer.said().items()}
    np.savez(folder / "layer.npz", **layer.arrays(), **save)
    return layer, key_of(read_problem(folder / "layer.npz"), RULES)


def marked(key: Key, folder: Path, dump: dict[str, Any]) -> Marking:
    np.savez(folder / "dump.npz", **dump)
    return mark(key, read_answer(folder / "dump.npz", key.expected), RULES)


def wrong(marking: Marking) -> list[Any]:
    return [marks for marks in marking.steps if marks.count(Status.WRONG, Status.WRONG_SHAPE)]


@pytest.mark.campaign(5)
@pytest.mark.parametrize("fill", [-1e9, MOST_NEGATIVE, -np.inf])
@pytest.mark.parametrize("name", LAYERS)
def test_a_correct_dump_has_no_mistakes(name: str, fill: float, tmp_path: Path) -> None:
    layer, key = keyed(name, tmp_path)
    dump = run(layer, layer.arrays(), fill=fill)
    for kept in KEPT.values():
        marking = marked(key, tmp_path, kept(dump))
        assert not wrong(marking)
        assert marking.steps


def cases() -> list[Any]:
    return [
        (name, bug, kept)
        for name, (_, bugs) in LAYERS.items()
        for bug in bugs
        for kept in KEPT
        if bug in SEEN_FROM.get(kept, bugs) and (bug, kept) not in NOT_TOLD
        if kept != "A averaged" or bug != "merge"
        if kept != "A alone" or bug != "merge"
    ]


NOT_TOLD = (("tiled", "A averaged"),)
"""Two orders of heads that have one mean."""


@pytest.mark.campaign(5)
@pytest.mark.parametrize("case", mostly_slow(cases(), every=26, of_slow=2))
def test_a_bug_is_named_and_no_other_is(case: tuple[str, str, str], tmp_path: Path) -> None:
    """The first step that differs says what went wrong; what follows from it is not charged."""
    name, bug, kept = case
    layer, key = keyed(name, tmp_path)
    first = wrong(marked(key, tmp_path, KEPT[kept](run(layer, layer.arrays(), bug))))[0]
    codes = {code for cause in first.causes for code in cause.code.split("+")}
    assert codes, f"{first.step.name} is not explained"
    assert codes & {*BUGS[bug], *ALSO.get(bug, ())}
    assert codes <= {*BUGS[bug], *ALSO.get(bug, ())}


ALSO = {"unscaled": ("scale-none",)}


def test_the_form_of_a_dump_is_reported(attncalc: Command, tmp_path: Path) -> None:
    layer = LAYERS["Llama"][0]
    arrays = layer.arrays()
    said = {"num_heads": "4", "causal": "true", "positions": "rope"}
    save_tensors(tmp_path / "layer.safetensors", metadata=said, **arrays)
    np.savez(tmp_path / "dump.npz", **turned(run(layer, arrays)))
    done = attncalc("check", "layer.safetensors", "dump.npz", "--atol", "1e-6")
    assert done.code == 0
    for remark in (
        "Q is taken for Q_rot, rotated queries",
        "Q is read as (tokens, heads, width)",
        "K is repeated for each head that asks: 2 times, in turn",
        "V is repeated for each head that asks: 2 times, in turn",
        "S is taken for S_masked, masked scores",
    ):
        assert remark in " ".join(done.out.split())


def test_the_names_of_frameworks_are_known(attncalc: Command, tmp_path: Path) -> None:
    layer, _ = LAYERS["GPT-2"]
    arrays = layer.arrays()
    np.savez(tmp_path / "layer.npz", **arrays, **layer.said())
    dump = run(layer, arrays)
    names = {"query_states": "Q", "key_states": "K", "value_states": "V", "attn_weights": "A"}
    np.savez(tmp_path / "dump.npz", **{name: dump[step] for name, step in names.items()})
    done = attncalc("check", "layer.npz", "dump.npz", "--atol", "1e-6")
    assert done.code == 0


# -- two dumps ------------------------------------------------------------------------------------


def two(folder: Path, change: Any, bug: str = "") -> None:
    """Write a right run as a.npz, and another, changed, as b.npz."""
    layer = LAYERS["Llama"][0]
    arrays = layer.arrays()
    np.savez(folder / "a.npz", **run(layer, arrays))
    np.savez(folder / "b.npz", **change(run(layer, arrays, bug, fill=MOST_NEGATIVE)))


def as_torch(run: dict[str, Any]) -> dict[str, Any]:
    """Return a run as another framework keeps it: other names, axes and place-holders of −∞."""
    return {
        "query_states": run["Q"].swapaxes(0, 1)[None],
        "key_states": run["K"].swapaxes(1, 2),
        "S": run["S"][None],
        "attn_weights": run["A"].mean(axis=0),
        "O": run["O"],
    }


def test_two_dumps_that_agree_are_known_to(attncalc: Command, tmp_path: Path) -> None:
    two(tmp_path, as_torch)
    done = attncalc("check", "a.npz", "b.npz", "--atol", "1e-9")
    assert (done.code, done.err) == (0, "note: only in one file: V\n")
    assert "All 5 arrays in both files agree." in done.out
    for said in (
        "its first two axes are exchanged",
        "its last two axes are exchanged",
        "averaged over the first axis, of heads: means are compared",
    ):
        assert said in " ".join(done.out.split())


def test_of_two_dumps_the_first_differing_array_is_reported(
    attncalc: Command, tmp_path: Path
) -> None:
    two(tmp_path, as_torch, "unscaled")
    done = attncalc("check", "a.npz", "b.npz", "--atol", "1e-9", "--format", "json")
    assert done.code == 1
    found = {each["name"]: each for each in json.loads(done.out)["arrays"]}
    assert found["Q"]["differ"] == found["K"]["differ"] == 0
    assert found["S"]["says"] == ["every number is 2 times the first's"]
    done = attncalc("check", "a.npz", "b.npz", "--atol", "1e-9")
    assert (
        "S is the first that differs, in 84 of 144 entries: every number is 2 times the first's."
        in done.out
    )


@pytest.mark.parametrize(("heads", "is_said"), [([2], True), ([1, 2], False)])
def test_differences_of_one_head_are_reported_as_such(
    heads: list[int], is_said: bool, attncalc: Command, tmp_path: Path
) -> None:
    def changed(run: dict[str, Any]) -> dict[str, Any]:
        A = run["A"].copy()
        A[heads] = A[heads][..., ::-1]
        return run | {"A": A, "Q": run["Q"].swapaxes(0, 1)[None]}

    two(tmp_path, changed)
    done = attncalc("check", "a.npz", "b.npz", "--atol", "1e-9", "--format", "json")
    found = {each["name"]: each for each in json.loads(done.out)["arrays"]}
    assert found["A"]["differ"] > 1
    said = ["all in head 3 (heads are the first axis)"] if is_said else []
    assert (done.code, found["A"]["says"]) == (1, said)
    assert found["Q"]["says"] == ["its first two axes are exchanged"]


def test_flags_for_answers_are_refused_with_two_dumps(attncalc: Command, tmp_path: Path) -> None:
    two(tmp_path, lambda run: {"other": run["A"]})
    done = attncalc("check", "a.npz", "b.npz")
    assert (done.code, done.err) == (2, "error: a.npz and b.npz have no array of one name\n")
    done = attncalc("check", "a.npz", "b.npz", "--steps", "A")
    assert (done.code, done.err) == (
        2,
        "error: --steps is for answers to a problem, and these are two dumps\n",
    )
    done = attncalc("check", "a.npz", "b.npz", "--format", "latex")
    assert (done.code, done.err) == (
        2,
        "error: two dumps are compared as table, markdown, json, and not as latex\n",
    )


def test_float32_errors_are_not_mistakes_of_a_layer(tmp_path: Path) -> None:
    """A tolerance finer than float32: entries are off, and no convention is to blame for that."""
    random = np.random.default_rng(2)
    names = ("X", "W_Q", "W_K", "W_V", "W_1", "W_2")
    arrays = {name: (random.normal(size=(8, 8)) * 2).astype(np.float32) for name in names}
    np.savez(tmp_path / "layer.npz", **arrays)
    key = key_of(read_problem(tmp_path / "layer.npz"), RULES)
    Q, K = (arrays["X"] @ arrays[name] for name in ("W_Q", "W_K"))
    S = Q @ K.T
    dump = {"Q": Q, "K": K, "S": S, "S_scaled": S / np.sqrt(np.float32(8))}
    marking = marked(key, tmp_path, dump)
    first = wrong(marking)[0]
    assert first.step.name in ("Q", "K", "S")
    assert not first.causes


def test_an_array_of_a_dump_is_not_found_under_another_name(tmp_path: Path) -> None:
    layer, key = keyed("BERT", tmp_path)
    scaled = run(layer, layer.arrays())["S"]  # S is kept scaled, and so is S_scaled
    np.savez(tmp_path / "dump.npz", S=scaled, S_scaled=scaled)
    found = recognized(key, read_answer(tmp_path / "dump.npz", key.expected))
    assert (set(found.matrices), found.remarks) == ({"S", "S_scaled"}, ())
