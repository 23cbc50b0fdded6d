"""All layers of a model beside transformers: CPU time and peak memory, each in its own process.

    python benchmarks/all_layers.py [gpt2 | llama]

A GPT-2 of 124 million parameters in float32 with 128 tokens, and a Llama of 1.2 billion in bfloat16
with 32, both with random weights in a temporary folder (which needs 0.5 or 2.5 GB). Rows are
ratios: of attncalc's time, and of its peak memory, to those of transformers.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from models import Shapes, gpt2, llama, written

TOKENS = {"gpt2": 128, "llama": 32}
TASKS = ("all layers", "all A", "next token")


def filled(folder: Path, said: dict[str, Any], shapes: Shapes, dtype: str) -> None:
    """Write a model with random weights, tensor by tensor."""
    written(folder, said, shapes, dtype)
    path = folder / "model.safetensors"
    with path.open("r+b") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
        block = np.random.default_rng(0).standard_normal(1 << 22, dtype=np.float32)
        for number, (name, each) in enumerate(header.items()):
            drawn = np.roll(block, 4099 * number) * np.float32(0.02)
            if "norm" in name or "ln_" in name:
                drawn += np.float32(name.endswith("weight"))
            halves = (drawn.view("<u4") >> 16).astype("<u2")
            file.seek(8 + size + each["data_offsets"][0])
            left = int(np.prod(each["shape"]))
            while left > 0:
                file.write((drawn if dtype == "F32" else halves)[:left].tobytes())
                left -= len(block)


def ours(folder: Path, ids: list[int], task: str) -> None:
    """Run a task with attncalc."""
    from attncalc import layers, open_model, solve

    if task == "next token":
        _ = solve(open_model(folder, tokens=ids), keep=("prob",))["prob"]
        return
    for solution in layers(folder, tokens=ids, only="A" if task == "all A" else None):
        _ = solution["A"].sum()


def theirs(folder: Path, ids: list[int], task: str) -> None:
    """Run a task with transformers."""
    import torch
    import transformers

    torch.set_num_threads(os.cpu_count() or 1)
    model = transformers.AutoModelForCausalLM.from_pretrained(
        folder, attn_implementation="eager", dtype="auto"
    )
    with torch.no_grad():
        out = model(
            torch.tensor([ids]),
            output_attentions=task == "all A",
            output_hidden_states=task == "all layers",
        )
    _ = out.logits[0, -1].softmax(dim=-1)


def measured(folder: Path, name: str, task: str, side: str) -> tuple[float, float]:
    """Return the CPU seconds of a task after imports, and the peak memory in MiB."""
    run = [sys.executable, __file__, "run", str(folder), name, task, side]
    made = subprocess.run(run, check=True, capture_output=True, text=True)
    seconds, peak = made.stdout.split()[-2:]
    return float(seconds), float(peak)


def run(folder: Path, name: str, task: str, side: str) -> None:
    """Run a task in this process and print its seconds and peak memory."""
    if side == "ours":
        import attncalc
        import attncalc.api.layers  # noqa: F401 - imports are not timed
    else:
        import torch  # noqa: F401
        import transformers

        _ = transformers.AutoModelForCausalLM  # it is imported when it is named
    ids = [int(i) for i in np.random.default_rng(1).integers(0, 50_000, TOKENS[name])]
    start = time.process_time()
    (ours if side == "ours" else theirs)(folder, ids, task)
    seconds = time.process_time() - start  # on all cores: others may use the machine, too
    print(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10)


def main() -> None:
    """Print a row for each task of each model."""
    print("model  task         attncalc          transformers      time   memory")
    for name in sys.argv[1:] or ("gpt2", "llama"):
        said, shapes = {"gpt2": gpt2, "llama": llama}[name]()
        if name == "gpt2":
            said |= {"vocab_size": 50257, "n_positions": 1024, "tie_word_embeddings": True}
            said["architectures"] = ["GPT2LMHeadModel"]
        else:
            said |= {"vocab_size": 128256, "hidden_size": 2048, "intermediate_size": 8192}
            said |= {"tie_word_embeddings": True, "dtype": "bfloat16"}
            said["architectures"] = ["LlamaForCausalLM"]
        with tempfile.TemporaryDirectory() as place:
            filled(Path(place), said, shapes, "F32" if name == "gpt2" else "BF16")
            for task in TASKS if name == "gpt2" else TASKS[2:]:
                a, b = (measured(Path(place), name, task, side) for side in ("ours", "theirs"))
                each = [f"{t:6.2f} s {m:6.0f} MiB" for t, m in (a, b)]
                ratios = f"{a[0] / b[0]:5.2f} {a[1] / b[1]:8.2f}"
                print(f"{name:6} {task:12} {each[0]}  {each[1]}  {ratios}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["run"]:
        run(Path(sys.argv[2]), *sys.argv[3:])
    else:
        main()
