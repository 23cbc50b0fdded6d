"""Models in memory as folders in the format of model hubs; PyTorch is not imported."""

import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from attncalc.base.arrays import as_array
from attncalc.base.errors import InputError
from attncalc.base.typed import quoted

_TYPES = {"<f8": "F64", "<f4": "F32", "<f2": "F16", "<i8": "I64", "<i4": "I32", "|b1": "BOOL"}


@contextmanager
def saved(model: Any, config: Mapping[str, Any] | None) -> Iterator[Path]:
    """Write a model to a temporary folder, in the format of model hubs.

    Raises InputError if it is neither, or a state dict has no config.

    model: a model with `save_pretrained`, or a state dict.
    config: of a state dict: its config, a mapping, or an object with `to_dict`.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        kind = "state dict" if isinstance(model, Mapping) else type(model).__name__
        folder = Path(name) / kind  # the title of its problems names it
        folder.mkdir()
        if hasattr(model, "state_dict") or isinstance(model, Mapping):
            check_tensors(model if isinstance(model, Mapping) else model.state_dict())
        if hasattr(model, "save_pretrained"):
            with _without_bars():
                model.save_pretrained(folder)
        elif isinstance(model, Mapping):
            if config is None:
                raise InputError("a state dict needs its config: open_model(state_dict, config=…)")
            said = config.to_dict() if hasattr(config, "to_dict") else dict(config)
            (folder / "config.json").write_text(json.dumps(said, default=str), encoding="utf-8")
            _write_tensors(folder / "model.safetensors", model)
        else:
            raise InputError(
                f"{type(model).__name__} is not a model: pass a folder, a model with "
                "save_pretrained, or a state dict with its config"
            )
        try:
            yield folder
        except InputError as error:
            said = str(error).replace(f"{name}{os.sep}", "")
            said = said.replace(str(Path("state dict", "config.json")), "the config")
            raise type(error)(said) from None


@contextmanager
def _without_bars() -> Iterator[None]:
    """Turn off the progress bars of transformers, if it is imported."""
    bars = getattr(sys.modules.get("transformers"), "logging", None)
    if bars is None or not bars.is_progress_bar_enabled():
        yield
        return
    bars.disable_progress_bar()
    try:
        yield
    finally:
        bars.enable_progress_bar()


def check_tensors(state: Mapping[str, Any]) -> None:
    """Refuse a state dict whose tensors are not the weights of a model."""
    for name, tensor in state.items():
        if isinstance(tensor, Mapping):
            raise InputError(f"{quoted(name)} is a dict of tensors: pass it as the state dict")
        if "lora_" in name or ".base_layer." in name:
            raise InputError(
                f"{quoted(name)} is of an adapter that is not merged: pass model.merge_and_unload()"
            )
        if getattr(tensor, "is_meta", False):
            raise InputError(f"{quoted(name)} has no numbers (device meta): load the weights first")
        kind = str(getattr(tensor, "dtype", ""))
        is_whole = name.endswith("weight") and "int" in kind
        if not hasattr(tensor, "shape") or "qint" in kind or is_whole:
            raise InputError(f"{quoted(name)} is quantized: pass the model before quantizing it")


def _write_tensors(place: Path, tensors: Mapping[str, Any]) -> None:
    """Write arrays as safetensors: a header in JSON, and their bytes."""
    header: dict[str, Any] = {}
    pieces: list[bytes] = []
    end = 0
    for name, tensor in tensors.items():
        array = np.ascontiguousarray(as_array(tensor))
        if array.dtype.str not in _TYPES:
            array = array.astype("<f4")
        piece, start = array.tobytes(), end
        end += len(piece)
        kind, shape = _TYPES[array.dtype.str], list(array.shape)
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [start, end]}
        pieces.append(piece)
    text = json.dumps(header).encode()
    place.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(pieces))
