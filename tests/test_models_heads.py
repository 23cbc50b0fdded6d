"""Padding, token types and heads of models, against the transformers package in float64."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Command
from test_models_transformers import (
    BART,
    GPT2,
    GROUPED,
    IDS,
    LLAMA4,
    MODERN,
    NEAR,
    OF_IMAGES,
    PROTEINS,
    SMALL,
    T5,
    WHISPER,
    XLM,
    XLNET,
    in_float64,
    spread_out,
    torch,
    transformers,
)

from attncalc import InputError, count, layers, open_model, read_problem, solve
from attncalc.reading.models.opening import Model

pytestmark = [pytest.mark.campaign(4), pytest.mark.torch, pytest.mark.filterwarnings("ignore")]
__all__ = ["in_float64"]

RIGHT, LEFT = [0] * 6 + [1] * 2, [1] * 3 + [0] * 5
HOLES = [0, 1, 0, 0, 1, 0, 0, 1]
TYPES = [0, 0, 0, 1, 1, 1, 1, 0]
PADDED: dict[str, tuple[str, str, dict[str, Any]]] = {
    "BERT": ("BertConfig", "BertForMaskedLM", SMALL),
    "GPT-2": ("GPT2Config", "GPT2LMHeadModel", GPT2),
    "Llama": ("LlamaConfig", "LlamaForCausalLM", GROUPED),
    "Qwen3": ("Qwen3Config", "Qwen3ForCausalLM", GROUPED | {"head_dim": 8}),
    "Mistral": ("MistralConfig", "MistralForCausalLM", GROUPED | {"sliding_window": 3}),
    "Gemma 2": (
        "Gemma2Config",
        "Gemma2ForCausalLM",
        GROUPED | {"head_dim": 8, "sliding_window": 4, "query_pre_attn_scalar": 6},
    ),
    "OPT": (
        "OPTConfig",
        "OPTForCausalLM",
        SMALL | {"ffn_dim": 24, "word_embed_proj_dim": 16},
    ),
    "ESM": (
        "EsmConfig",
        "EsmForMaskedLM",
        PROTEINS | {"mask_token_id": 8, "pad_token_id": 1},
    ),
    "ModernBERT": ("ModernBertConfig", "ModernBertForMaskedLM", MODERN),
}
MASKED = ("BERT", "ESM", "ModernBERT")
PAIRS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "BART": ("BartConfig", "BartForConditionalGeneration", BART),
    "T5": ("T5Config", "T5ForConditionalGeneration", T5),
}


def made(folder: Path, config: str, kind: str, said: dict[str, Any]) -> Any:
    settings = getattr(transformers, config)(**said)
    settings._attn_implementation = "eager"
    model = spread_out(getattr(transformers, kind)(settings))
    model.save_pretrained(folder)
    return model


def ran(model: Any, ids: Any, **more: Any) -> Any:
    with torch.no_grad():
        return model(
            torch.tensor([ids]) if isinstance(ids, list) else ids,
            output_hidden_states=True,
            output_attentions=True,
            **{name: torch.tensor([each]) for name, each in more.items()},
        )


def near(found: Any, expected: Any, rows: Any = slice(None)) -> None:
    expected = expected[0].numpy()
    assert found.shape == expected.shape
    assert np.abs(found - expected)[..., rows, :].max() < NEAR


@pytest.mark.campaign(3)
@pytest.mark.parametrize("padding", ["right", "left", "holes"])
@pytest.mark.parametrize("name", PADDED)
def test_padding_goes_through_all_layers(name: str, padding: str, tmp_path: Path) -> None:
    """Rows of padded queries are free: where no key is left, the package makes them uniform."""
    ignore = {"right": RIGHT, "left": LEFT, "holes": HOLES}[padding]
    model = made(tmp_path, *PADDED[name])
    types = {"token_type_ids": TYPES} if name == "BERT" else {}
    out = ran(model, IDS, attention_mask=[1 - each for each in ignore], **types)
    rows = np.flatnonzero(np.array(ignore) == 0)
    given: dict[str, Any] = {"tokens": IDS, "ignore": ignore}
    if types:
        given["type_ids"] = TYPES
    count = len(out.attentions)
    for layer in range(count):
        solution = solve(open_model(tmp_path, **given, layer=layer))
        near(solution["A"], out.attentions[layer], rows)
        if layer < count - 1:
            near(solution["Y"], out.hidden_states[layer + 1], rows)
    head = solve(open_model(tmp_path, **given))
    logits = head["logits"]
    if len(logits) == 1:  # of the last token alone
        assert not ignore[-1]
        near(logits, out.logits[:, -1:])
    else:
        near(logits, out.logits, rows)
        said = f"token {rows[-1] + 1} is the last that is not padding"
        assert name in MASKED or any(each.startswith(said) for each in head.problem.remarks)


@pytest.mark.parametrize("form", ["keep", "bias"])
def test_masks_of_each_form_go_through_all_layers(form: str, tmp_path: Path) -> None:
    model = made(tmp_path, *PADDED["BERT"])
    kept = [1 - each for each in HOLES]
    out = ran(model, IDS, attention_mask=kept)
    mask: Any = kept if form == "keep" else np.where(np.array([kept]) == 1, 0.0, -np.inf)
    near(solve(open_model(tmp_path, tokens=IDS, layer=2, **{form: mask}))["A"], out.attentions[2])


@pytest.mark.parametrize("name", PAIRS)
def test_padding_of_encoders_reaches_decoders(name: str, tmp_path: Path) -> None:
    model = made(tmp_path, *PAIRS[name])
    asked, own = [3, 9, 1, 30, 30], [0, 0, 1, 0, 0]
    out = ran(
        model,
        IDS,
        attention_mask=[1 - each for each in RIGHT],
        decoder_input_ids=asked,
        decoder_attention_mask=[1 - each for each in own],
    )
    given: dict[str, Any] = {"tokens": IDS, "ignore": RIGHT}
    near(solve(open_model(tmp_path, **given, layer=1))["A"], out.encoder_attentions[1])
    given |= {"decoder_tokens": asked, "decoder_ignore": own}
    for layer in range(len(out.decoder_attentions)):
        solution = solve(open_model(tmp_path, **given, layer=layer))
        near(solution["self.A"], out.decoder_attentions[layer])
        near(solution["cross.A"], out.cross_attentions[layer])
    near(solve(open_model(tmp_path, **given))["logits"], out.logits[:, -1:])


def test_a_setting_applies_to_all_layers(tmp_path: Path) -> None:
    """A model without its window is one that was made without it."""
    config, kind, said = PADDED["Mistral"]
    model = made(tmp_path, config, kind, said)
    model.config.sliding_window = None
    model.save_pretrained(tmp_path / "wide")
    wide = solve(open_model(tmp_path / "wide", tokens=IDS, layer=2))["A"]
    assert np.array_equal(solve(open_model(tmp_path, tokens=IDS, layer=2, window=100))["A"], wide)


CLASSES = {"num_labels": 3}
PADS = CLASSES | {"pad_token_id": 2}
HEADS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "GPT-2": ("GPT2Config", "GPT2ForSequenceClassification", GPT2 | PADS),
    "GPT-2 of tokens": ("GPT2Config", "GPT2ForTokenClassification", GPT2 | CLASSES),
    "Llama": ("LlamaConfig", "LlamaForSequenceClassification", GROUPED | PADS),
    "Llama, tied": (
        "LlamaConfig",
        "LlamaForSequenceClassification",
        GROUPED | CLASSES | {"tie_word_embeddings": True},
    ),
    "Llama of tokens": ("LlamaConfig", "LlamaForTokenClassification", GROUPED | CLASSES),
    "Qwen2": ("Qwen2Config", "Qwen2ForSequenceClassification", GROUPED | PADS),
    "Gemma 2": (
        "Gemma2Config",
        "Gemma2ForSequenceClassification",
        PADDED["Gemma 2"][2] | PADS,
    ),
    "BERT": ("BertConfig", "BertForSequenceClassification", SMALL | CLASSES),
    "BERT of tokens": ("BertConfig", "BertForTokenClassification", SMALL | CLASSES),
    "OPT, of another width": (
        "OPTConfig",
        "OPTForSequenceClassification",
        SMALL | PADS | {"ffn_dim": 24, "word_embed_proj_dim": 10},
    ),
    "BERT of pairs": ("BertConfig", "BertForNextSentencePrediction", SMALL),
    "ViT": (
        "ViTConfig",
        "ViTForImageClassification",
        OF_IMAGES | CLASSES | {"image_size": 8, "patch_size": 4},
    ),
    "BERT of choices": ("BertConfig", "BertForMultipleChoice", SMALL),
    "RoBERTa of choices": ("RobertaConfig", "RobertaForMultipleChoice", SMALL),
    "DistilBERT of choices": (
        "DistilBertConfig",
        "DistilBertForMultipleChoice",
        {"vocab_size": 50, "dim": 16, "hidden_dim": 24, "n_layers": 3, "n_heads": 4},
    ),
    "ELECTRA of choices": (
        "ElectraConfig",
        "ElectraForMultipleChoice",
        SMALL | {"embedding_size": 8, "summary_use_proj": True},
    ),
    "ELECTRA's discriminator": ("ElectraConfig", "ElectraForPreTraining", SMALL),
    "ALBERT": ("AlbertConfig", "AlbertForSequenceClassification", SMALL | CLASSES),
    "ALBERT of choices": ("AlbertConfig", "AlbertForMultipleChoice", SMALL),
    "MPNet": ("MPNetConfig", "MPNetForSequenceClassification", SMALL | CLASSES),
    "DeBERTa-v2 of choices": ("DebertaV2Config", "DebertaV2ForMultipleChoice", SMALL),
    "XLM of choices": ("XLMConfig", "XLMForMultipleChoice", XLM),
    "XLNet of choices": ("XLNetConfig", "XLNetForMultipleChoice", XLNET),
    "MPNet of choices": ("MPNetConfig", "MPNetForMultipleChoice", SMALL),
    "GPT-Neo of tokens": (
        "GPTNeoConfig",
        "GPTNeoForTokenClassification",
        CLASSES
        | {"vocab_size": 50, "hidden_size": 16, "num_layers": 2, "num_heads": 4}
        | {"attention_types": [[["global", "local"], 1]], "max_position_embeddings": 32},
    ),
    "GPT-BigCode of tokens": (
        "GPTBigCodeConfig",
        "GPTBigCodeForTokenClassification",
        GPT2 | CLASSES,
    ),
    "Whisper": ("WhisperConfig", "WhisperForAudioClassification", WHISPER | CLASSES),
    "T5 of tokens": ("T5Config", "T5ForTokenClassification", T5 | CLASSES),
}


def given_to(name: str, ids: list[int]) -> tuple[Any, dict[str, Any]]:
    """Return what a model reads, as the package takes it and as it is opened with."""
    shapes = {"ViT": (1, 3, 8, 8), "Whisper": (1, 6, 20)}
    if name not in shapes:
        return ids, {"tokens": ids}
    read = torch.randn(*shapes[name], generator=torch.manual_seed(2))
    return read, {"image" if name == "ViT" else "spectrogram": read.numpy()}


@pytest.mark.campaign(3)
@pytest.mark.parametrize(
    ("ids", "has_architectures"),
    [(IDS, True), ([*IDS[:5], 2, 2], True), (IDS, False)],
    ids=["whole", "padded", "without architectures"],
)
@pytest.mark.parametrize("name", HEADS)
def test_scores_of_classes_are_those_of_the_package(
    name: str, ids: list[int], has_architectures: bool, tmp_path: Path
) -> None:
    model = made(tmp_path, *HEADS[name])
    read, given = given_to(name, ids)
    is_choice = "choices" in name
    logits = ran(model, [read] if is_choice else read).logits
    width = 1 if is_choice or "discriminator" in name else model.config.num_labels
    expected = logits.reshape(-1, width).numpy()
    if not has_architectures:
        path = tmp_path / "config.json"
        path.write_text(path.read_text().replace('"architectures"', '"earlier"'))
    problem = open_model(tmp_path, **given)
    assert len(Model(tmp_path).classes(range(width))) == width
    found = solve(problem)["logits"]
    if len(found) > len(expected):  # padded: the named row counts
        (said,) = (each for each in problem.remarks if "that is not padding" in each)
        found = found[int(said.split()[1]) - 1][np.newaxis]
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() < NEAR


@pytest.mark.parametrize(
    ("config", "kind", "said"),
    [
        ("BartConfig", "BartForSequenceClassification", BART | CLASSES),
        ("T5Config", "T5ForSequenceClassification", T5 | CLASSES | {"decoder_start_token_id": 0}),
    ],
)
def test_decoders_give_classes(
    config: str, kind: str, said: dict[str, Any], tmp_path: Path
) -> None:
    eos = 2 if kind.startswith("Bart") else 1
    start, model = eos if eos == 2 else 0, made(tmp_path, config, kind, said)
    for place in (5, 3):
        ids = [*IDS[:2], 9, 40, 9]
        ids[place - 1] = eos
        expected = ran(model, ids).logits[0].numpy()
        shifted = [start, *ids[:-1]]
        problem = open_model(tmp_path, tokens=ids, decoder_tokens=shifted)
        found = solve(problem)["logits"]
        assert np.abs(found[place - 1 if len(found) > 1 else 0] - expected).max() < NEAR
        assert f"token {place} ends the text" in " ".join(problem.remarks) or place == 5
        assert "is not computed" not in " ".join(problem.remarks)
    with pytest.raises(InputError, match="decoder_tokens: 4 for 5 of the encoder"):
        open_model(tmp_path, tokens=ids, decoder_tokens=shifted[:4])
    with pytest.raises(InputError, match=f"no end of text \\({eos}\\)"):
        open_model(tmp_path, tokens=[9] * 5, decoder_tokens=shifted)


@pytest.mark.parametrize(
    ("config", "kind", "said"),
    [
        ("GPT2Config", "GPT2Model", GPT2),
        ("LlamaConfig", "LlamaModel", GROUPED | {"tie_word_embeddings": True}),
        ("T5Config", "T5EncoderModel", T5),
        ("WhisperConfig", "WhisperModel", WHISPER),
    ],
)
def test_a_model_without_a_head_gets_none(
    config: str, kind: str, said: dict[str, Any], tmp_path: Path
) -> None:
    model = made(tmp_path, config, kind, said)
    read, given = given_to("Whisper" if kind.startswith("Whisper") else kind, IDS)
    problem = open_model(tmp_path, **given)
    assert problem.W_out is None
    if kind != "WhisperModel":
        out = ran(model, read)
        first = out.attentions if hasattr(out, "attentions") else out.encoder_attentions
        near(solve(open_model(tmp_path, **given, layer=0))["A"], first[0])


@pytest.mark.parametrize("place", ["rope_parameters", "config"])
@pytest.mark.parametrize("family", ["Llama", "Mistral", "Qwen2", "Qwen3", "Gemma2"])
def test_rope_rotates_all_columns_for_any_config(family: str, place: str, tmp_path: Path) -> None:
    share = {"partial_rotary_factor": 0.5}
    more: dict[str, Any] = share
    if place == "rope_parameters":
        more = {"rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, **share}}
    model = made(
        tmp_path, f"{family}Config", f"{family}ForCausalLM", GROUPED | {"head_dim": 8} | more
    )
    problem = open_model(tmp_path, tokens=IDS, layer=1)
    near(solve(problem)["A"], ran(model, IDS).attentions[1])
    assert any("partial_rotary_factor is ignored" in each for each in problem.remarks)


def test_stored_angles_of_rope_are_those_of_its_base(tmp_path: Path) -> None:
    model = made(tmp_path, "RoFormerConfig", "RoFormerForMaskedLM", SMALL)
    assert open_model(tmp_path, tokens=IDS, layer=0).positions == "rope"
    with torch.no_grad():
        model.roformer.encoder.embed_positions.weight[1, 1] += 0.1
    model.save_pretrained(tmp_path)
    with pytest.raises(InputError, match=r"embed_positions\.weight.* does not contain the sines"):
        open_model(tmp_path, tokens=IDS, layer=0)


def test_scaled_rope_of_a_share_is_refused(tmp_path: Path) -> None:
    """The package fails on it, too."""
    rope = {
        "rope_type": "linear",
        "factor": 4.0,
        "rope_theta": 10000.0,
        "partial_rotary_factor": 0.5,
    }
    made(tmp_path, "LlamaConfig", "LlamaForCausalLM", GROUPED | {"rope_parameters": rope})
    with pytest.raises(InputError, match=r"partial_rotary_factor.* is 0.5, where 1"):
        open_model(tmp_path, tokens=IDS, layer=0)


def test_the_architecture_determines_the_output(attncalc: Command, tmp_path: Path) -> None:
    labels = {"id2label": {0: "sad", 1: "even", 2: "happy"}}
    model = made(tmp_path / "m", "LlamaConfig", "LlamaForSequenceClassification", GROUPED | labels)
    ids = ("open", "m", "--tokens", " ".join(map(str, IDS)))
    run = attncalc(*ids, "--format", "json")
    assert (run.code, run.err) == (0, "")
    shares = ran(model, IDS).logits[0].softmax(-1).numpy()
    found = {each["text"]: each["probability"] for each in json.loads(run.out)["next"]}
    assert found == pytest.approx(dict(zip(("sad", "even", "happy"), shares, strict=True)))
    assert f"class 2   happy   {shares[2]:.4f}" in attncalc(*ids).out
    assert attncalc(*ids, "--at", "2").err == (
        "error: --at is for probabilities at each token: this head is for the whole input\n"
    )
    model.config.problem_type = "multi_label_classification"
    model.save_pretrained(tmp_path / "m")
    run = attncalc(*ids, "--format", "csv")
    scores = np.sort(ran(model, IDS).logits[0].numpy())[::-1]
    rows = [line.split(",") for line in run.out.splitlines()]
    assert rows[0] == ["id", "text", "score"]
    assert [float(row[2]) for row in rows[1:]] == pytest.approx(scores)
    made(tmp_path / "m", "LlamaConfig", "LlamaModel", GROUPED | {"tie_word_embeddings": True})
    run = attncalc(*ids)
    assert (run.code, run.out, run.err) == (
        2,
        "",
        "error: m: LlamaModel has no known head: choose a layer, as --layer 0 (of 3)\n",
    )


def test_the_command_accepts_padding_and_types(attncalc: Command, tmp_path: Path) -> None:
    made(tmp_path / "m", *PADDED["BERT"])
    ids, ignore, types = (" ".join(map(str, each)) for each in (IDS, RIGHT, TYPES))
    asked = ("open", "m", "--tokens", ids, "--ignore", ignore, "--type-ids", types)
    run = attncalc(*asked, "--layer", "2", "-o", "layer.json")
    assert run.code == 0
    expected = open_model(tmp_path / "m", tokens=IDS, ignore=RIGHT, type_ids=TYPES, layer=2)
    found = read_problem(tmp_path / "layer.json")
    assert np.allclose(solve(found)["A"], solve(expected)["A"], atol=1e-12)
    run = attncalc("open", "m", "--tokens", "3 7", "--type-ids", "0", "--layer", "0")
    assert run.err == "error: --type-ids: 1 for 2 tokens: pass one for each token\n"


def test_the_next_token_follows_the_last_that_is_not_padding(
    attncalc: Command, tmp_path: Path
) -> None:
    made(tmp_path / "m", *PADDED["Llama"])
    asked = ("open", "m", "--format", "json", "--tokens")
    padded = attncalc(*asked, "3 7 1 40 0 0", "--ignore", "0 0 0 0 1 1")
    assert (padded.code, padded.err) == (0, "")
    found, alone = (json.loads(run.out)["next"] for run in (padded, attncalc(*asked, "3 7 1 40")))
    assert [each["id"] for each in found] == [each["id"] for each in alone]
    run = attncalc("open", "m", "--tokens", "3 7", "--type-ids", "0 1", "--layer", "0")
    assert run.err == "error: --type-ids: Llama has no token types: omit it\n"
    run = attncalc("open", "m", "--tokens", "3 7", "--decoder-ignore", "0 1", "--layer", "0")
    assert run.err == "error: --decoder-ignore is about --decoder-tokens, which is missing\n"


def test_padding_on_the_left_keeps_its_positions_with_a_note(tmp_path: Path) -> None:
    said = "positions count all tokens, including padding"
    kinds = {"GPT-2": True, "OPT": False, "Llama": False, "BART": True, "T5": False}
    for name, is_said in kinds.items():
        made(tmp_path / name, *(PADDED | PAIRS)[name])
        asked = {"decoder_tokens": [3, 9]} if name in PAIRS else {}
        for ignore in (LEFT, RIGHT):
            problem = open_model(tmp_path / name, tokens=IDS, ignore=ignore, layer=0, **asked)
            assert (said in problem.remarks) == (is_said and ignore == LEFT), name
    made(tmp_path / "m", "Llama4TextConfig", "Llama4ForCausalLM", LLAMA4)
    with pytest.raises(InputError, match="of Llama 4, chunks begin after padding"):
        open_model(tmp_path / "m", tokens=IDS, ignore=LEFT, layer=0)


def test_an_encoder_is_opened_without_its_decoder(attncalc: Command, tmp_path: Path) -> None:
    out = ran(made(tmp_path / "m", "T5Config", "T5EncoderModel", T5), IDS)
    for layer, weights in enumerate(out.attentions):
        solution = solve(open_model(tmp_path / "m", tokens=IDS, layer=layer))
        near(solution["A"], weights)
    near(solve(open_model(tmp_path / "m", tokens=IDS))["Y"], out.last_hidden_state)
    asked = ("open", "m", "--tokens", "3 7 1")
    assert attncalc(*asked, "--layer", "0", "--only", "A").code == 0
    assert attncalc(*asked).err == (
        "error: m: T5EncoderModel has no known head: choose a layer, as --layer 0 (of 3)\n"
    )
    assert attncalc(*asked, "--decoder-tokens", "1", "--layer", "0").err == (
        "error: m: T5 has no decoder besides an encoder: omit --decoder-tokens\n"
    )


def test_masks_of_several_rows_belong_to_one_part(tmp_path: Path) -> None:
    made(tmp_path, *PAIRS["BART"])
    given: dict[str, Any] = {"tokens": [3, 7], "keep": np.eye(2), "layer": 0}
    assert np.array_equal(solve(open_model(tmp_path, **given))["A"], np.tile(np.eye(2), (4, 1, 1)))
    with pytest.raises(InputError) as error:
        open_model(tmp_path, **given, decoder_tokens=[1])
    assert str(error.value) == (
        "keep is 2 × 2: with decoder_tokens a mask is one row, a number for each token of the "
        "encoder"
    )


ANSWERS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "Llama": ("LlamaConfig", "LlamaForQuestionAnswering", GROUPED | {"tie_word_embeddings": True}),
    "GPT-2": ("GPT2Config", "GPT2ForQuestionAnswering", GPT2),
    "BERT": ("BertConfig", "BertForQuestionAnswering", SMALL),
    "RoBERTa": ("RobertaConfig", "RobertaForQuestionAnswering", SMALL),
    "ALBERT": ("AlbertConfig", "AlbertForQuestionAnswering", SMALL),
    "ModernBERT": (
        "ModernBertConfig",
        "ModernBertForQuestionAnswering",
        SMALL | dict.fromkeys(("pad_token_id", "bos_token_id", "eos_token_id"), 0),
    ),
}


@pytest.mark.campaign(2)
@pytest.mark.parametrize("name", ANSWERS)
def test_starts_and_ends_of_answers_are_those_of_the_package(name: str, tmp_path: Path) -> None:
    model = made(tmp_path, *ANSWERS[name])
    out = ran(model, IDS)
    found = solve(open_model(tmp_path, tokens=IDS))["logits"]
    both = torch.stack([out.start_logits[0], out.end_logits[0]], 1).numpy()
    assert np.abs(found - both).max() < NEAR


def test_the_probable_starts_and_ends_are_shown(attncalc: Command, tmp_path: Path) -> None:
    model = made(tmp_path / "m", *ANSWERS["BERT"])
    out = ran(model, IDS)
    ids = ("open", "m", "--tokens", " ".join(map(str, IDS)), "--format")
    run = attncalc(*ids, "json")
    assert (run.code, run.err) == (0, "")
    rows = json.loads(run.out)["next"]
    for side, logits in (("start", out.start_logits[0]), ("end", out.end_logits[0])):
        shares = logits.softmax(-1).numpy()
        found = {r["id"]: r["probability"] for r in rows if r["text"].startswith(f"{side}: ")}
        best = np.argsort(-shares)[:5]
        assert [*found] == [int(each) + 1 for each in best]
        assert [*found.values()] == pytest.approx([float(shares[each]) for each in best])
    assert "ids are positions of tokens, from 1" in attncalc(*ids, "table").out
    at = attncalc(*ids, "csv", "--at", "2").out.splitlines()
    scores = {line.split(",")[1]: float(line.split(",")[2]) for line in at[1:]}
    assert scores == pytest.approx(
        {"start": float(out.start_logits[0, 1]), "end": float(out.end_logits[0, 1])}
    )


def test_a_choice_and_a_pair_have_named_scores(attncalc: Command, tmp_path: Path) -> None:
    for name, word in (("BERT of choices", "this choice"), ("BERT of pairs", "is not next")):
        made(tmp_path / "m", *HEADS[name])
        assert word in attncalc("open", "m", "--tokens", "3 7 2").out


ALONE = ("Bart", "MBart", "Pegasus", "Marian", "Blenderbot", "BlenderbotSmall", "Mvp", "PLBart")
OF_PICTURES = {"layernorm_embedding": False, "cross_attention_hidden_size": 10}


@pytest.mark.parametrize(
    ("name", "more"),
    [
        *((name, {}) for name in ALONE),
        ("Marian", {"decoder_vocab_size": 45}),
        ("Whisper", {"max_target_positions": 9, "bos_token_id": 1, "eos_token_id": 2}),
        ("TrOCR", {}),
        ("TrOCR", {**OF_PICTURES, "scale_embedding": True, "tie_word_embeddings": False}),
    ],
)
def test_a_decoder_without_its_encoder(name: str, more: dict[str, Any], tmp_path: Path) -> None:
    """Its layers have the weights of a cross-attention, and leave it out."""
    kind = "TrOCRConfig" if name == "TrOCR" else f"{name}Config"
    model = made(tmp_path, kind, f"{name}ForCausalLM", {**BART, "pad_token_id": 1, **more})
    with torch.no_grad():  # the package cannot return hidden states here
        out = model(torch.tensor([IDS[:5]]), use_cache=False)
    problem = open_model(tmp_path, tokens=IDS[:5])
    near(solve(problem)["logits"], out.logits[:, -1:])
    assert "it has no encoder: its cross-attention is not computed" in problem.remarks
    total = sum(each.numel() for each in model.parameters())
    assert count(tmp_path)["parameters"]["total"] == total


@pytest.mark.parametrize("name", ["Splinter", "BigBird"])
def test_heads_with_layers_of_their_own_are_refused(name: str, tmp_path: Path) -> None:
    more = {"attention_type": "original_full"} if name == "BigBird" else {}
    made(tmp_path, f"{name}Config", f"{name}ForQuestionAnswering", SMALL | more)
    problem = open_model(tmp_path, tokens=IDS[:4])
    assert problem.calculation.steps[-1].name == "Y"
    assert any("no part of what is shown" in each for each in problem.remarks)
    with pytest.raises(InputError, match="this model has no known head"):
        layers(tmp_path, tokens=IDS[:4]).lens()


def test_an_encoder_alone_that_is_said_to_be_a_decoder_is_refused(tmp_path: Path) -> None:
    made(tmp_path, "T5Config", "T5EncoderModel", {**T5, "is_decoder": True, "use_cache": False})
    with pytest.raises(InputError, match='"is_decoder" is "True": of T5, an encoder alone,'):
        open_model(tmp_path, tokens=IDS[:4])
