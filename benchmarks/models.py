"""One layer of a large model, opened with 64 tokens: beside plain numpy, and how much is read.

    python benchmarks/models.py

Files of the size of GPT-2 (124 M parameters, float32) and of a Llama of a billion (bfloat16) are
made up in a temporary folder; of layers that are not asked for they hold nothing but their size.
"""

import json
import resource
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from attncalc import Problem, solve
from attncalc.reading.models.opening import Model

TOKENS, RUNS = 64, 3
Shapes = dict[str, tuple[int, ...]]


def gpt2() -> tuple[dict[str, Any], Shapes]:
    """Return the config and the shapes of GPT-2."""
    d, said = 768, {"model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_layer": 12}
    said |= {"layer_norm_epsilon": 1e-5, "activation_function": "gelu_new"}
    shapes: Shapes = {"wte.weight": (50257, d), "wpe.weight": (1024, d)}
    for i in range(12):
        h = f"h.{i}."
        shapes |= {h + "attn.c_attn.weight": (d, 3 * d), h + "attn.c_attn.bias": (3 * d,)}
        shapes |= {h + "attn.c_proj.weight": (d, d), h + "attn.c_proj.bias": (d,)}
        shapes |= {h + "mlp.c_fc.weight": (d, 4 * d), h + "mlp.c_fc.bias": (4 * d,)}
        shapes |= {h + "mlp.c_proj.weight": (4 * d, d), h + "mlp.c_proj.bias": (d,)}
        shapes |= {h + f"ln_{n}.{kind}": (d,) for n in (1, 2) for kind in ("weight", "bias")}
    return said, shapes | {"ln_f.weight": (d,), "ln_f.bias": (d,)}


def llama() -> tuple[dict[str, Any], Shapes]:
    """Return the config and the shapes of a Llama of a billion parameters."""
    d, ff, said = 2048, 8192, {"model_type": "llama", "num_hidden_layers": 16}
    said |= {"num_attention_heads": 32, "rms_norm_eps": 1e-5, "hidden_act": "silu"}
    said |= {"num_key_value_heads": 8, "rope_theta": 500000.0}
    shapes: Shapes = {"model.embed_tokens.weight": (128256, d), "model.norm.weight": (d,)}
    for i in range(16):
        h = f"model.layers.{i}."
        rows = {"q": d, "k": 512, "v": 512, "o": d}
        shapes |= {f"{h}self_attn.{each}_proj.weight": (count, d) for each, count in rows.items()}
        shapes |= {f"{h}mlp.{each}_proj.weight": (ff, d) for each in ("gate", "up")}
        shapes[f"{h}mlp.down_proj.weight"] = (d, ff)
        shapes |= {f"{h}{n}_layernorm.weight": (d,) for n in ("input", "post_attention")}
    return said, shapes


def written(folder: Path, said: dict[str, Any], shapes: Shapes, dtype: str) -> int:
    """Write a model whose first layer alone holds numbers; return its size."""
    (folder / "config.json").write_text(json.dumps(said))
    width, header, at = {"F32": 4, "BF16": 2}[dtype], {}, 0
    for name, shape in shapes.items():
        size = int(np.prod(shape)) * width
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    random = np.random.default_rng(0)
    with (folder / "model.safetensors").open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        start = file.tell()
        file.truncate(start + at)
        for name in (name for name in shapes if ".0." in name or name.startswith("wpe")):
            values = (random.normal(size=shapes[name]) * 0.02).astype("<f4")
            file.seek(start + header[name]["data_offsets"][0])
            bits = values.tobytes() if dtype == "F32" else _bfloat16(values)
            file.write(bits)
    return start + at


def _bfloat16(values: Any) -> bytes:
    return bytes((values.view("<u4") >> 16).astype("<u2").tobytes())


def plain_gpt2(X: Any, w: dict[str, Any]) -> Any:
    """Return a layer of GPT-2 in plain numpy."""

    def norm(x: Any, n: int) -> Any:
        x = x - x.mean(axis=1, keepdims=True)
        x = x / np.sqrt((x**2).mean(axis=1, keepdims=True) + np.float32(1e-5))
        return x * w[f"ln_{n}.weight"] + w[f"ln_{n}.bias"]

    qkv = norm(X, 1) @ w["attn.c_attn.weight"] + w["attn.c_attn.bias"]
    Q, K, V = (each.reshape(len(X), 12, 64).swapaxes(0, 1) for each in np.split(qkv, 3, axis=1))
    R = X + _attended(Q, K, V) @ w["attn.c_proj.weight"] + w["attn.c_proj.bias"]
    f = norm(R, 2) @ w["mlp.c_fc.weight"] + w["mlp.c_fc.bias"]
    root = np.float32(np.sqrt(2 / np.pi))
    g = np.float32(0.5) * f * (1 + np.tanh(root * (f + np.float32(0.044715) * f**3)))
    return R + g @ w["mlp.c_proj.weight"] + w["mlp.c_proj.bias"]


def plain_llama(X: Any, w: dict[str, Any]) -> Any:
    """Return a layer of Llama in plain numpy."""
    n = len(X)

    def norm(x: Any, name: str) -> Any:
        mean = (x**2).mean(axis=1, keepdims=True)
        return x / np.sqrt(mean + np.float32(1e-5)) * w[f"{name}_layernorm.weight"]

    def turned(x: Any) -> Any:
        angles = np.arange(n)[:, None] / 500000.0 ** (np.arange(0, 64, 2) / 64)
        cos, sin = (f(angles).astype(np.float32) for f in (np.cos, np.sin))
        a, b = x[..., :32], x[..., 32:]
        return np.concatenate([a * cos - b * sin, a * sin + b * cos], axis=-1)

    N = norm(X, "input")
    Q, K, V = (
        (N @ w[f"self_attn.{each}_proj.weight"].T).reshape(n, -1, 64).swapaxes(0, 1)
        for each in "qkv"
    )
    K, V = (np.repeat(each, 4, axis=0) for each in (turned(K), V))
    R = X + _attended(turned(Q), K, V) @ w["self_attn.o_proj.weight"].T
    N = norm(R, "post_attention")
    gate = N @ w["mlp.gate_proj.weight"].T
    up = N @ w["mlp.up_proj.weight"].T
    return R + (gate / (1 + np.exp(-gate)) * up) @ w["mlp.down_proj.weight"].T


def _attended(Q: Any, K: Any, V: Any) -> Any:
    S = Q @ K.swapaxes(1, 2) / np.float32(8)
    S = np.where(np.tri(len(S[0]), dtype=bool), S, np.float32(-np.inf))
    A = np.exp(S - S.max(axis=2, keepdims=True))
    A /= A.sum(axis=2, keepdims=True)
    return (A @ V).swapaxes(0, 1).reshape(len(S[0]), -1)


def opened(folder: Path) -> Any:
    """Return what attncalc makes of the first layer."""
    model = Model(folder)
    problem = Problem(**(model.layer(0) | model.begin(range(TOKENS), "ids")))
    return solve(problem)["Y"]


def read(folder: Path) -> dict[str, Any]:
    """Return the first layer's weights, read into memory as float32 and nothing else done."""
    weights = Model(folder).weights
    names = [name for name in weights if ".0." in name]
    return {name.partition(".0.")[2]: np.array(weights[name]) for name in names}


def best(call: Callable[[], Any]) -> float:
    """Return the least time of some calls."""
    return min(_times(call))


def _times(call: Callable[[], Any]) -> Iterator[float]:
    for _ in range(RUNS):
        start = time.perf_counter()
        call()
        yield time.perf_counter() - start


def main() -> None:
    """Print a row for each model."""
    print("model    file       read     numpy   attncalc   (read + 1.2 × numpy)   peak memory")
    for name, made, dtype, plain in (
        ("GPT-2", gpt2, "F32", plain_gpt2),
        ("Llama", llama, "BF16", plain_llama),
    ):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            size = written(folder, *made(), dtype)
            ours = best(lambda folder=folder: opened(folder))  # type: ignore[misc]
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
            reading = best(lambda folder=folder: read(folder))  # type: ignore[misc]
            weights = read(folder)
            begun = Model(folder).begin(range(TOKENS), "ids")
            X = np.asarray(begun["X"] + (begun["P"].array if "P" in begun else 0))
            numpy = best(lambda X=X, w=weights, plain=plain: plain(X, w))  # type: ignore[misc]
            assert np.allclose(opened(folder), plain(X, weights), atol=1e-3)
        allowed = reading + 1.2 * numpy
        row = [f"{1e3 * each:6.0f} ms" for each in (reading, numpy, ours)]
        ends = f"{1e3 * allowed:14.0f} ms {peak:16.0f} MiB"
        print(f"{name:6} {size / 2**20:6.0f} MiB {' '.join(row)} {ends}")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
