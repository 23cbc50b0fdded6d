"""GGUF files, written by the package of llama.cpp, against that package and transformers."""

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Command

from attncalc import InputError, open_model, solve
from attncalc.reading.models.gguf import GgufWeights, open_gguf

gguf = pytest.importorskip("gguf")
IDS = [3, 7, 5, 40, 8]
WIDTH, WIDE, HEADS, KEYS, COUNT, WORDS = 256, 512, 4, 2, 2, 50
"""Blocks of Q4_K have 256 numbers."""


def drawn(seed: int, *shape: int) -> Any:
    return np.random.default_rng(seed).normal(0, 0.1, shape).astype(np.float32)


def arrays() -> dict[str, Any]:
    """Return the tensors of a small Llama, by the names of llama.cpp."""
    d, kv = WIDTH, WIDTH // HEADS * KEYS
    found = {"token_embd.weight": drawn(1, WORDS, d), "output.weight": drawn(2, WORDS, d)}
    found["output_norm.weight"] = 1 + drawn(3, d)
    shapes = {
        "attn_q": (d, d),
        "attn_k": (kv, d),
        "attn_v": (kv, d),
        "attn_output": (d, d),
        "ffn_gate": (WIDE, d),
        "ffn_up": (WIDE, d),
        "ffn_down": (d, WIDE),
    }
    for layer in range(COUNT):
        for number, (name, shape) in enumerate(shapes.items()):
            found[f"blk.{layer}.{name}.weight"] = drawn(10 * layer + number + 5, *shape)
        for name in ("attn_norm", "ffn_norm"):
            found[f"blk.{layer}.{name}.weight"] = 1 + drawn(99 + layer, d)
    return found


def written(
    path: Path, kind: str = "F32", kinds: str = "llama", said: Any = None, **more: Any
) -> dict[str, Any]:
    """Write a Llama whose matrices are of a type; return its tensors as the package reads them."""
    of = gguf.GGMLQuantizationType[kind]
    writer = gguf.GGUFWriter(path, kinds)
    writer.add_block_count(COUNT)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(WIDE)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KEYS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_context_length(64)
    writer.add_rope_freq_base(10000.0)
    writer.add_token_list(["a"] * WORDS)
    for key, value in (said or {}).items():
        add = {bool: writer.add_bool, int: writer.add_uint32, float: writer.add_float32}
        add[type(value)](f"{kinds}.{key}", value)
    held = {}
    for name, array in (arrays() | more).items():
        if array.ndim == 1 or kind == "F32":
            writer.add_tensor(name, array)
            held[name] = array
            continue
        data = blocks_of_q4_k(array) if kind == "Q4_K" else gguf.quantize(array, of)
        writer.add_tensor(name, data, raw_dtype=of)
        held[name] = gguf.dequantize(data, of)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return held


def blocks_of_q4_k(array: Any) -> Any:
    """Return random blocks of Q4_K with small scales: the package only reads this type."""
    rows = array.shape[0], array.shape[1] // 256
    blocks = np.random.default_rng(array.size).integers(0, 256, (*rows, 144)).astype(np.uint8)
    blocks[..., :4] = np.array([2e-4, 1e-4], np.float16).view(np.uint8)
    return blocks.reshape(rows[0], -1)


@pytest.mark.parametrize("kind", ["F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_K"])
def test_tensors_are_those_that_the_package_converts(kind: str, tmp_path: Path) -> None:
    held = written(tmp_path / "m.gguf", kind)
    _, weights = open_gguf(tmp_path / "m.gguf")
    for own, name in (
        ("model.layers.1.mlp.down_proj.weight", "blk.1.ffn_down.weight"),
        ("model.layers.0.input_layernorm.weight", "blk.0.attn_norm.weight"),
        ("lm_head.weight", "output.weight"),
    ):
        assert weights.shape(own) == held[name].shape
        assert np.array_equal(weights[own], held[name])
    rows = weights.rows("model.embed_tokens.weight", [40, 3])
    assert np.array_equal(rows, held["token_embd.weight"][[40, 3]])


def in_order(name: str, array: Any) -> Any:
    """Return a tensor with the rows that `permute` of llama.cpp's converter has moved."""
    heads = {"attn_q": HEADS, "attn_k": KEYS}.get(name.split(".")[-2])
    if heads is None:
        return array
    rows = np.arange(len(array)).reshape(heads, 2, -1).swapaxes(1, 2).ravel()
    found = np.empty_like(array)
    found[rows] = array
    return found


@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["F32", "Q8_0", "Q4_K"])
def test_a_llama_is_that_of_transformers(kind: str, tmp_path: Path) -> None:
    """The rows of queries and keys, which llama.cpp orders otherwise, are put back."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    held = written(tmp_path / "m.gguf", kind)
    config = transformers.LlamaConfig(
        vocab_size=WORDS,
        hidden_size=WIDTH,
        intermediate_size=WIDE,
        num_hidden_layers=COUNT,
        num_attention_heads=HEADS,
        num_key_value_heads=KEYS,
        rms_norm_eps=1e-5,
    )
    config._attn_implementation = "eager"
    model = transformers.LlamaForCausalLM(config).eval()
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, COUNT)  # the package's own
    state = {}
    for name in model.state_dict():
        own = names.get_name(name, try_suffixes=(".weight",))
        state[name] = torch.tensor(in_order(own, held[own]))
    model.load_state_dict(state)
    with torch.no_grad():
        out = model(torch.tensor([IDS]), output_attentions=True, output_hidden_states=True)
    for layer in range(COUNT):
        found = solve(open_model(tmp_path / "m.gguf", tokens=IDS, layer=layer))
        assert np.abs(found["A"] - out.attentions[layer][0].numpy()).max() < 1e-5
    found = solve(open_model(tmp_path / "m.gguf", tokens=IDS))["logits"]
    expected = out.logits[0, -1].numpy()
    assert np.abs(found - expected).max() < 1e-5 * np.abs(expected).max()


def test_factors_of_rope_divide_its_frequencies(tmp_path: Path) -> None:
    """They are how llama.cpp keeps the scaling of Llama 3."""
    factors = np.linspace(1, 8, WIDTH // HEADS // 2).astype(np.float32)
    written(tmp_path / "m.gguf", **{"rope_freqs.weight": factors})
    found = open_model(tmp_path / "m.gguf", tokens=IDS, layer=0)
    plain = 10000.0 ** -(np.arange(len(factors)) / len(factors))
    assert np.allclose(found.rope_frequencies, plain / factors, rtol=1e-12)


def test_other_commands_read_a_file(attncalc: Command, tmp_path: Path) -> None:
    written(tmp_path / "m.gguf")
    asked = "m.gguf", "--tokens", "3 7 5"
    for run in (
        attncalc("why", *asked, "logits[3,2]"),
        attncalc("generate", *asked, "--count", "2"),
        attncalc("open", *asked, "--generate", "2"),
    ):
        assert (run.code, run.err) == (0, "")
    run = attncalc("count", "m.gguf", "--format", "json")
    held = sum(int(np.prod(each.shape)) for each in arrays().values())
    assert json.loads(run.out)["parameters"]["total"] == held
    run = attncalc("why", "none", "--tokens", "3 7", "logits[1,1]")
    assert run.err == "error: none: no such file\n"


def test_a_window_is_that_of_mistral(tmp_path: Path) -> None:
    """Files of Mistral have the architecture of Llama; of others, no window is read."""
    path, said = tmp_path / "m.gguf", {"attention.sliding_window": 3}
    written(path, said=said)
    assert open_model(path, tokens=IDS, layer=0).window == 3
    written(path, kinds="qwen2", said=said)
    assert refused(path) == 'qwen2.attention.sliding_window is "3": not read'


def test_the_command_opens_a_file(attncalc: Command, tmp_path: Path) -> None:
    written(tmp_path / "m.gguf", "Q8_0")
    run = attncalc("open", "m.gguf", "--tokens", "3 7 5", "--format", "json")
    assert (run.code, run.err) == (0, "")
    assert len(json.loads(run.out)["next"]) == 5
    run = attncalc("open", "m.gguf", "--tokens", "3 7 5")
    assert "weights are given in Q8_0, computed in float32" in run.out
    run = attncalc("open", "m.gguf", "--text", "a b")
    assert run.err.startswith("error: m.gguf: it has no tokenizer.json, which --text needs")


def refused(path: Path) -> str:
    with pytest.raises(InputError) as error:
        open_model(path, tokens=IDS, layer=0)
    return str(error.value).replace(f"{path}: ", "")


def test_other_architectures_and_unknown_tensors_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    written(path, kinds="falcon")
    assert refused(path) == (
        'its architecture is "falcon": of GGUF files llama, qwen2, qwen3 are read'
    )
    written(path, **{"blk.0.ffn_gate_inp.weight": drawn(1, 4, WIDTH)})
    assert refused(path) == '"blk.0.ffn_gate_inp.weight" is in it, and nothing here reads it'


HEAD = b"GGUF" + struct.pack("<I", 3)


def text(said: bytes) -> bytes:
    return struct.pack("<Q", len(said)) + said


def tensor(name: bytes, shape: tuple[int, ...], kind: int, offset: int) -> bytes:
    axes = struct.pack(f"<I{len(shape)}Q", len(shape), *shape)
    return text(name) + axes + struct.pack("<IQ", kind, offset)


def pair(key: bytes, kind: int, value: bytes) -> bytes:
    return text(key) + struct.pack("<I", kind) + value


CUT = "its header is damaged, cut off or too large"
HOSTILE = {
    "empty": (b"", CUT),
    "another": (b"PK\x03\x04" + bytes(60), "it does not start with GGUF and version 2 or 3"),
    "cut": (HEAD + struct.pack("<QQ", 1, 0), CUT),
    "a text of 2^60 bytes": (HEAD + struct.pack("<QQQ", 0, 1, 2**60), CUT),
    "a list of 2^62 numbers": (
        HEAD + struct.pack("<QQ", 0, 1) + pair(b"a", 9, struct.pack("<IQ", 4, 2**62)),
        CUT,
    ),
    "a list of 2^62 texts": (
        HEAD + struct.pack("<QQ", 0, 1) + pair(b"a", 9, struct.pack("<IQ", 8, 2**62)),
        CUT,
    ),
    "lists of lists": (
        HEAD + struct.pack("<QQ", 0, 1) + pair(b"a", 9, struct.pack("<IQ", 9, 2)),
        "a value in its header is of the unknown type 9",
    ),
    "a type of 99": (
        HEAD + struct.pack("<QQ", 0, 1) + pair(b"a", 99, b""),
        "a value in its header is of the unknown type 99",
    ),
    "a key twice": (
        HEAD + struct.pack("<QQ", 0, 2) + pair(b"a", 7, b"\1") + pair(b"a", 7, b"\1"),
        'its header has "a" twice',
    ),
    "a name that is not a text": (
        HEAD + struct.pack("<QQ", 1, 0) + tensor(b"\xff", (1,), 0, 0) + bytes(64),
        "a text in its header is not UTF-8",
    ),
    "many axes": (
        HEAD + struct.pack("<QQ", 1, 0) + tensor(b"a", (1,) * 5, 0, 0) + bytes(64),
        '"a" has 5 dimensions, where 4 are read',
    ),
    "beyond the end": (
        HEAD + struct.pack("<QQ", 1, 0) + tensor(b"a", (8,), 0, 64) + bytes(64),
        '"a" does not fit in the file: it is damaged or cut off',
    ),
    "a shape of 2^126 numbers": (
        HEAD + struct.pack("<QQ", 1, 0) + tensor(b"a", (2**63, 2**63), 0, 0) + bytes(64),
        '"a" does not fit in the file: it is damaged or cut off',
    ),
    "rows of no whole block": (
        HEAD + struct.pack("<QQ", 1, 0) + tensor(b"a", (33,), 8, 0) + bytes(128),
        '"a" does not fit in the file: it is damaged or cut off',
    ),
    "an unknown type": (
        HEAD + struct.pack("<QQ", 1, 0) + tensor(b"a", (1,), 999, 0) + bytes(64),
        '"a" is of the unknown type 999',
    ),
    "two at one place": (
        HEAD
        + struct.pack("<QQ", 2, 0)
        + tensor(b"a", (4,), 0, 0)
        + tensor(b"b", (4,), 0, 0)
        + bytes(96),
        '"a" and "b" overlap in the file',
    ),
    "a name twice": (
        HEAD
        + struct.pack("<QQ", 2, 0)
        + tensor(b"a", (4,), 0, 0)
        + tensor(b"a", (4,), 0, 32)
        + bytes(96),
        'its header names "a" twice',
    ),
    "an alignment of 0": (
        HEAD + struct.pack("<QQ", 0, 1) + pair(b"general.alignment", 4, bytes(4)),
        'its alignment is "0"',
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_gets_its_message(name: str, tmp_path: Path) -> None:
    content, said = HOSTILE[name]
    path = tmp_path / "m.gguf"
    path.write_bytes(content)
    assert refused(path) == f"cannot be read as GGUF: {said}"


def test_every_cut_of_a_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    written(path, "Q8_0")
    whole = path.read_bytes()
    rng = np.random.default_rng(1)
    for _ in range(40):
        path.write_bytes(whole[: rng.integers(0, len(whole))])
        with pytest.raises(InputError):
            GgufWeights(path)
    for _ in range(60):
        changed = bytearray(whole)
        for place in rng.integers(0, 2000, 3):
            changed[place] = rng.integers(0, 256)
        path.write_bytes(changed)
        try:
            open_model(path, tokens=[3, 7], layer=0)
        except InputError:
            continue


@pytest.mark.parametrize(
    ("key", "value"),
    [("rope.dimension_count", 4), ("attention.value_length", 4), ("attention.causal", False),
     ("logit_scale", 0.5), ("attention.scale", 0.5), ("final_logit_softcapping", 30.0)],
)  # fmt: skip
def test_keys_that_change_numbers_are_refused(key: str, value: Any, tmp_path: Path) -> None:
    usual = {"rope.dimension_count": WIDTH // HEADS, "attention.causal": True, "logit_scale": 1.0}
    written(tmp_path / "usual.gguf", said=usual)
    open_gguf(tmp_path / "usual.gguf")
    written(tmp_path / "m.gguf", said={key: value})
    with pytest.raises(InputError, match=rf'llama\.{key} is "{value}": not read'):
        open_gguf(tmp_path / "m.gguf")
