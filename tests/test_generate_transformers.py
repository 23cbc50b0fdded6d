"""Generated tokens against `generate` of the transformers package, in float64."""

from pathlib import Path
from typing import Any

import pytest
from test_models_heads import made
from test_models_transformers import IDS, MODELS, PAIRS, in_float64, torch

from attncalc import generate

pytestmark = [pytest.mark.slow, pytest.mark.torch, pytest.mark.filterwarnings("ignore")]
__all__ = ["in_float64"]

NAMES = ["GPT-2", "Llama 3", "Mistral", "Qwen3", "Gemma 2", "BART", "mBART", "Whisper", "T5"]
BEAMS = [(2, 1.0), (3, 0.0), (4, 2.0), (3, -1.0)]


def both(name: str, folder: Path, end: Any, **how: Any) -> tuple[Any, Any]:
    """Return what the package generates, and what attncalc does."""
    model = made(folder, *(MODELS | PAIRS)[name])
    model.generation_config.forced_eos_token_id = None
    model.generation_config.decoder_start_token_id = 3
    read: Any = torch.tensor([IDS])
    given: dict[str, Any] = {"tokens": IDS}
    own: dict[str, Any] = {}
    if name == "Whisper":
        read = torch.randn(1, 6, 20, generator=torch.manual_seed(2))
        given = {"spectrogram": read.numpy()}
    if name in PAIRS:
        own = given["decoder_tokens"] = [3, 9]
        own = {"decoder_input_ids": torch.tensor([own])}
    package = super(type(model), model).generate if name == "Whisper" else model.generate
    with torch.no_grad():
        out = package(
            read,
            **own,
            max_new_tokens=6,
            do_sample=False,
            eos_token_id=end,
            pad_token_id=0,
            return_dict_in_generate=True,
            output_scores=True,
            num_beams=how.get("beams", 1),
            length_penalty=how.get("length_penalty", 1.0),
        )
    return out, generate(folder, 6, **given, **how, eos=end if end is not None else ()).found


def new_tokens(out: Any, name: str) -> list[int]:
    start = 2 if name in PAIRS else len(IDS)
    return [int(each) for each in out.sequences[0][start:]]


@pytest.mark.campaign(2)
@pytest.mark.parametrize("name", NAMES)
def test_greedy_tokens_are_those_of_the_package(name: str, tmp_path: Path) -> None:
    out, found = both(name, tmp_path, None)
    assert list(found.tokens) == new_tokens(out, name)
    for step, scores in zip(found.steps, out.scores, strict=True):
        for each in step.candidates:
            assert abs(each.logit - float(scores[0][each.token])) < 1e-9
    end = found.tokens[2]
    out, found = both(name, tmp_path, end)
    assert list(found.tokens) == new_tokens(out, name)
    assert found.tokens[-1] == end


@pytest.mark.campaign(3)
@pytest.mark.parametrize(("beams", "penalty"), BEAMS)
@pytest.mark.parametrize("name", NAMES)
def test_beams_are_those_of_the_package(
    name: str, beams: int, penalty: float, tmp_path: Path
) -> None:
    how = {"beams": beams, "length_penalty": penalty}
    out, found = both(name, tmp_path, None, **how)
    ends = [None, [found.tokens[1], found.steps[2].candidates[1].token]]
    ends += [[each.tokens[-1]] for each in found.beams[:2]]
    for end in ends:
        out, found = both(name, tmp_path, end, **how)
        tokens = new_tokens(out, name)
        assert tokens[: len(found.tokens)] == list(found.tokens)
        assert not any(tokens[len(found.tokens) :])  # padding
        assert abs(found.beams[0].score - float(out.sequences_scores[0])) < 1e-9
