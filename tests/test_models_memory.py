"""What a model takes in memory: two layers and the embeddings, however many layers it has."""

import gc
import json
import tracemalloc
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tensor_files import bfloat16, tensors

from attncalc import Problem, open_model, solve
from attncalc.reading.models.opening import Model

WIDTH, HIDDEN, LAYERS, WORDS = 256, 1024, 8, 2000
LAYER = (4 * WIDTH * WIDTH + 3 * WIDTH * HIDDEN) * 4
TABLE = WIDTH * WORDS * 4


@pytest.fixture
def uncollected() -> Iterator[None]:
    """Run without the collector of reference cycles."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def llama(tmp_path: Path) -> Path:
    """Return a Llama of eight layers in bfloat16."""
    random = np.random.default_rng(1)

    def weights(*shape: int) -> Any:
        return bfloat16(random.normal(size=shape) / 8)

    named = {
        "model.embed_tokens.weight": weights(WORDS, WIDTH),
        "model.norm.weight": weights(WIDTH),
    }
    for number in range(LAYERS):
        start = f"model.layers.{number}."
        named |= {f"{start}self_attn.{n}_proj.weight": weights(WIDTH, WIDTH) for n in "qkvo"}
        named |= {f"{start}mlp.{n}_proj.weight": weights(HIDDEN, WIDTH) for n in ("gate", "up")}
        named |= {
            f"{start}mlp.down_proj.weight": weights(WIDTH, HIDDEN),
            f"{start}input_layernorm.weight": weights(WIDTH),
            f"{start}post_attention_layernorm.weight": weights(WIDTH),
        }
    (tmp_path / "model.safetensors").write_bytes(tensors(**named))
    config = {
        "model_type": "llama",
        "hidden_size": WIDTH,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": 4,
        "rms_norm_eps": 1e-5,
        "hidden_act": "silu",
        "tie_word_embeddings": True,
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    return tmp_path


@pytest.mark.slow
@pytest.mark.campaign(2)
@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize("layer", [LAYERS - 1, None])
def test_a_model_uses_the_memory_of_two_layers_and_the_embeddings(
    layer: int | None, llama: Path
) -> None:
    solve(open_model(llama, tokens=[1, 2, 3], layer=0))  # modules and caches
    tracemalloc.start()
    try:
        solve(open_model(llama, tokens=[1, 2, 3], layer=layer), keep=("Y",))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    most = 2 * LAYER + (TABLE if layer is None else 0)
    assert peak < most + 500_000, f"{peak:,} bytes, where {most:,} are two layers"


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="maps are listed on Linux alone")
def test_no_page_of_a_file_stays_mapped(llama: Path) -> None:
    model = Model(llama)
    assert len(model.layer(0)["W_Q"].array) == WIDTH
    assert str(llama) not in Path("/proc/self/maps").read_text()


@pytest.mark.slow
@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize(
    "fields", [{}, {"block": "encoder", "gamma_1": [1] * 4}, {"dO": np.eye(4)}]
)
def test_a_problem_is_freed_with_its_last_reference(fields: dict[str, Any]) -> None:
    weights = dict.fromkeys(("X", "W_Q", "W_K", "W_V"), np.eye(4))
    problem = Problem(**weights, causal=True, heads=2, **fields)
    solution = solve(problem)
    assert solution.connections
    dead = weakref.ref(problem)
    del problem, solution
    assert dead() is None
