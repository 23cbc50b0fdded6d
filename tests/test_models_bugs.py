"""Six bugs of implementations in a layer of each family of models: `check` names each of them.

Models are made at random by the transformers package. The result of a bug is computed from the
layer's plan with one step changed, or with another setting.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from test_models_transformers import IDS, in_float64, made

from attncalc import Problem, open_model
from attncalc.grading.key import Key, key_of
from attncalc.grading.marking import mark
from attncalc.grading.rules import Rules, Status
from attncalc.problem.step import Step
from attncalc.reading.answers import read_answer

pytestmark = [pytest.mark.torch, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
__all__ = ["in_float64"]

Dump = dict[str, Any]
Bug = Callable[[Problem], Dump]
Instead = Callable[[Step, list[Any]], Any]
RULES = Rules(atol=1e-9)


def ran(problem: Problem, instead: Mapping[str, Instead] | None = None) -> Dump:
    """Return all steps, some of them done otherwise."""
    known = dict(problem.given)
    for step in problem.calculation.steps:
        read = [known[name] for name in step.inputs]
        other = (instead or {}).get(step.name)
        known[step.name] = other(step, read) if other else step.operation.apply(*read)
    return {step.name: known[step.name] for step in problem.calculation.steps}


def said(**settings: Any) -> Bug:
    """Return the results of a layer with other settings; a _ of a part means its dot."""

    def run(problem: Problem) -> Dump:
        for name, value in settings.items():
            problem = problem.with_field(name.replace("__", "."), value)
        return ran(problem)

    return run


def viewed(step: Step, read: list[Any]) -> Any:
    """Merge heads without exchanging rows and heads."""
    return read[0].reshape(read[0].shape[1], -1)


def by_columns(step: Step, read: list[Any]) -> Any:
    """Normalize scores over the queries."""
    powers = np.exp(read[0])
    return powers / powers.sum(axis=-2, keepdims=True)


def of_gate(step: Step, read: list[Any]) -> Any:
    return step.operation.apply(*read[::-1])


def tiled(step: Step, read: list[Any]) -> Any:
    asking, shared = read
    return step.operation.apply(asking, np.tile(shared, (len(asking) // len(shared), 1, 1)))


def without_residual(step: Step, read: list[Any]) -> Any:
    return read[1]


def split(prefix: str = "") -> Bug:
    def viewed_apart(step: Step, read: list[Any]) -> Any:
        made = step.operation.apply(*read)
        return np.concatenate(list(made), axis=-1).reshape(made.shape)

    return lambda problem: ran(problem, {f"{prefix}{name}": viewed_apart for name in "QKV"})


def at(name: str, instead: Instead) -> Bug:
    return lambda problem: ran(problem, {name: instead})


def of_own_tokens(problem: Problem) -> Dump:
    """Attend to the decoder's own tokens, and not to what was encoded."""
    known = dict(problem.given)
    steps = {step.name: step for step in problem.calculation.steps}
    own = steps["cross.Q"].inputs[0]
    for step in problem.calculation.steps:
        is_answering = step.name in ("cross.K", "cross.V")
        names = [own if is_answering and name == "X2" else name for name in step.inputs]
        known[step.name] = step.operation.apply(*(known[name] for name in names))
    return {name: known[name] for name in steps}


def less_one(problem: Problem) -> Dump:
    gains = [name for name in problem.names if name.startswith("gamma_")]
    return ran(replace(problem, **{name: problem.stored(name) - 1 for name in gains}))


MERGED = (at("C", viewed), {"heads-viewed"})
UNSCALED = (said(scale="none"), {"scale-none", "scale-forgotten"})
PAIRED = (said(rope_pairing="interleaved"), {"rope-pairing"})
GATE = (at("G", of_gate), {"gate-swapped"})
EXACT, TANH = (
    (said(activation=kind), {f"activation-other:{kind}"}) for kind in ("gelu", "gelu-tanh")
)
UNBIASED = (said(b_Q=None), {"bias-forgotten"})
RMS = (said(normalization="rms"), {"norm-other:rms"})
CENTRED = (said(normalization="layer"), {"norm-other:layer"})
POST, PRE = ((said(norm=norm), {f"norm-place:{norm}"}) for norm in ("post", "pre"))
ALONE = (at("R_1", without_residual), {"residual-forgotten"})
COLUMNS = (at("A", by_columns), {"softmax-columns"})
TILED = (lambda problem: ran(problem, {"S": tiled, "H": tiled}), {"heads-tiled"})
UNMASKED = (said(causal=False), {"mask-forgotten"})
MEMORY = (of_own_tokens, {"wrong-source:X1"})
SCALED = (said(scale="sqrt_dk"), {"scale-not-asked"})
OF_DECODERS = {
    "own tokens": MEMORY,
    "merged": (at("self.C", viewed), {"heads-viewed"}),
    "split": (split("cross."), {"heads-viewed"}),
    "unmasked": (said(self__causal=False), {"mask-forgotten"}),
    "alone": (at("R_2", without_residual), {"residual-forgotten"}),
}
FAMILIES: dict[str, dict[str, tuple[Bug, set[str]]]] = {
    "GPT-2": {"1": MERGED, "2": UNSCALED, "3": UNMASKED, "4": EXACT, "5": POST, "6": UNBIASED},
    "Llama": {"1": MERGED, "2": PAIRED, "3": TILED, "4": GATE, "5": CENTRED, "6": UNMASKED},
    "Mistral": {
        "1": PAIRED,
        "2": (said(window=None), {"window-forgotten"}),
        "3": (said(window=4), {"window-off"}),
        "4": GATE,
        "5": POST,
        "6": (said(rope_base=500_000), {"rope-base"}),
    },
    "Qwen2": {"1": UNBIASED, "2": PAIRED, "3": TILED, "4": GATE, "5": ALONE, "6": UNSCALED},
    "Qwen3": {
        "1": (
            lambda problem: ran(replace(problem, gamma_Q=None, gamma_K=None, qk_norm="none")),
            {"qk-norm-forgotten", "norm-forgotten"},
        ),
        "2": (said(gamma_Q=None), {"gain-forgotten"}),
        "3": PAIRED,
        "4": TILED,
        "5": GATE,
        "6": CENTRED,
    },
    "Gemma 2": {
        "1": (less_one, {"gains-less-one"}),
        "2": (said(softcap=None), {"cap-forgotten"}),
        "3": (said(scale="sqrt_dk"), {"scale-sqrt-dk"}),
        "4": PAIRED,
        "5": GATE,
        "6": (said(activation="silu"), {"activation-other:silu"}),
    },
    "BERT": {"1": MERGED, "2": PRE, "3": RMS, "4": TANH, "5": UNBIASED, "6": COLUMNS},
    "ViT": {
        "1": MERGED,
        "2": POST,
        "3": (said(causal=True), {"mask-not-asked"}),
        "4": TANH,
        "5": ALONE,
        "6": (said(ddof=1), {"variance-other-count"}),
    },
    "BART": {"1": MERGED, "2": PRE, "3": RMS, "4": TANH, "5": UNBIASED, "6": COLUMNS},
    "BART decoder": OF_DECODERS | {"6": (said(cross__b_Q=None), {"bias-forgotten"})},
    "Whisper": {"1": MERGED, "2": POST, "3": RMS, "4": TANH, "5": UNSCALED, "6": COLUMNS},
    "Whisper decoder": OF_DECODERS | {"6": TANH},
    "T5": {
        "1": SCALED,
        "2": (said(rel_bias=None), {"rel-bias-forgotten"}),
        "3": CENTRED,
        "4": (said(activation="gelu"), {"activation-other:gelu"}),
        "5": MERGED,
        "6": COLUMNS,
    },
    "T5 decoder": OF_DECODERS
    | {
        "unmasked": (
            said(self__rel_bidirectional=False, self__causal=False),
            {"mask-forgotten"},
        ),
        "6": (said(self__rel_bias=None), {"rel-bias-forgotten"}),
    },
}
ALSO = {
    # what says the same of a step that is dumped: from it alone no more is seen
    *("norm-forgotten", "step-skipped", "norm-place:around", "norm-place:none", "axes-swapped"),
    *("norm-of-other:O", "norm-of-other:F_2", "norm-of-other:cross.O"),
}


def opened(name: str, folder: Path) -> Problem:
    """Return a layer of a family, behind another one."""
    family = name.removesuffix(" decoder")
    made(family, folder)
    random = np.random.default_rng(1)
    given: dict[str, Any] = {"tokens": IDS[:6]}
    if family == "ViT":
        given = {"image": random.normal(size=(3, 8, 8))}
    if family == "Whisper":
        given = {"spectrogram": random.normal(size=(6, 20))}
    if family != name:
        given["decoder_tokens"] = IDS[:4]
    return open_model(folder, **given, layer=1)


@pytest.mark.parametrize("kept", ["whole", "Y alone"])
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.usefixtures("in_float64")
def test_six_bugs_of_each_family_are_named(family: str, kept: str, tmp_path: Path) -> None:
    problem = opened(family, tmp_path)
    key = key_of(problem, RULES)
    assert not found(key, kept, ran(problem), tmp_path)
    assert len(FAMILIES[family]) == 6
    for bug, (run, codes) in FAMILIES[family].items():
        causes = found(key, kept, run(problem), tmp_path)
        assert causes & codes, (bug, causes)
        assert causes <= codes | ALSO, (bug, causes)


def found(key: Key, kept: str, dump: Dump, folder: Path) -> set[str]:
    """Return the report of the first wrong step, or nothing."""
    kept_steps = {"Y": dump["Y"]} if kept == "Y alone" else dump
    np.savez(folder / "dump.npz", **kept_steps)
    with key.names_at_hand():
        answer = read_answer(folder / "dump.npz", key.expected)
    wrong = (marks for marks in mark(key, answer, RULES).steps
             if marks.count(Status.WRONG, Status.WRONG_SHAPE))  # fmt: skip
    first = next(wrong, None)
    return set() if first is None else {cause.code for cause in first.causes} or {"not named"}
