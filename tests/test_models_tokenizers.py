"""Untrusted tokenizers: one that crashes, never ends or needs all memory ends in one message."""

import importlib.util
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from conftest import Command

from attncalc import open_model
from attncalc.problem.samples import sample
from attncalc.reading.models import tokens

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("tokenizers") is None, reason="tokenizers is not installed"
)
DOUBLES = {"type": "Replace", "pattern": {"Regex": "."}, "content": "tt"}
PADDING = {
    "strategy": {"Fixed": 10**9},
    "direction": "Right",
    "pad_to_multiple_of": None,
    "pad_id": 0,
    "pad_type_id": 0,
    "pad_token": "x",
}
TRUNCATION = {"max_length": 1, "strategy": "LongestFirst", "stride": 0, "direction": "Right"}
STOPPED = "the tokenizer was stopped: it crashed, or takes more than 1 s or 600 MiB of memory"
UNREADABLE = "cannot be read as a tokenizer: "
HOSTILE: dict[str, tuple[dict[str, Any], str]] = {
    "a panic": (
        {"normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAA"}},
        UNREADABLE + 'Precompiled: Error("Cannot parse precompiled_charsmap", line: 0, column: 0)',
    ),
    "an abort": (
        {
            "model": {
                "type": "BPE",
                "vocab": {"t": 0, "\u00e9h": 1, "th": 2},
                "merges": ["t \u00e9h"],
                "continuing_subword_prefix": "a",
            }
        },
        STOPPED,
    ),
    "doubling": ({"normalizer": {"type": "Sequence", "normalizers": [DOUBLES] * 40}}, STOPPED),
    "memory": ({"normalizer": {"type": "Prepend", "prepend": "x" * 20_000_000}}, STOPPED),
    "no model": ({"model": 3}, UNREADABLE + "Cannot instantiate Tokenizer from buffer: "),
}


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the sample, whose tokenizer has less time and memory than others."""
    monkeypatch.setattr(tokens, "MOST_SECONDS", 1)
    monkeypatch.setattr(tokens, "MOST_MEMORY", 600 * 2**20)
    shutil.copytree(sample("model").path, tmp_path / "model")
    return tmp_path / "model"


def change(model: Path, changes: dict[str, Any]) -> None:
    path = model / "tokenizer.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


@pytest.mark.campaign(2)
@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_tokenizer_ends_in_one_message(what: str, attncalc: Command, model: Path) -> None:
    changes, message = HOSTILE[what]
    change(model, changes)
    run = attncalc("open", "model", "--text", "the cat", "--layer", "0")
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith(f"error: model/tokenizer.json: {message}")
    assert run.err.count("\n") == 1


def test_a_tokenizer_that_cannot_be_used_leaves_ids_for_names(model: Path) -> None:
    change(model, HOSTILE["no model"][0])
    problem = open_model(model, tokens=[2, 4], layer=0)
    assert problem.queries == ("2", "4")
    (said,) = problem.remarks
    assert said.startswith(f"tokens have their ids for names: {model / 'tokenizer.json'}: ")


def test_a_tokenizer_without_an_end_is_read_up_to_a_limit(attncalc: Command, model: Path) -> None:
    (model / "tokenizer.json").write_bytes(b" " * (tokens.MOST_BYTES + 1))
    run = attncalc("open", "model", "--text", "the cat", "--layer", "0")
    assert run.err == "error: model/tokenizer.json: 65 MiB, where a text may have 64 MiB\n"


@pytest.mark.parametrize("changes", [{"padding": PADDING}, {"truncation": TRUNCATION}])
def test_text_is_neither_padded_nor_cut_off(changes: dict[str, Any], model: Path) -> None:
    """As AutoTokenizer does by default."""
    change(model, changes)
    assert open_model(model, text="the cat sat", layer=0).queries == ("the", "cat", "sat")
