"""The folder of a model: config.json, and tensors in one file or in shards."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.sources import remember
from attncalc.base.typed import quoted
from attncalc.base.types import Matrix
from attncalc.reading.files import decode, is_folder, list_folder, read_bytes, refuse_found
from attncalc.reading.pickles import conversion
from attncalc.reading.tensors import Tensors, open_tensors

CONFIG, ONE, INDEX = "config.json", "model.safetensors", "model.safetensors.index.json"
TENSORS = ".safetensors"
ADAPTER = "adapter_config.json"
"""The file of a LoRA adapter: changes of a model's weights, which are beside it or elsewhere."""
_PICKLES = (".bin", ".pt", ".pth", ".ckpt")
MISSING: Any = object()
_NOTHING: Any = object()
_ROWS = 1_000
"""The rows of large tensors that are compared at a time."""
LARGEST = 1e100
"""The upper limit of numbers in a config."""


def said(found: Any) -> str:
    """Return a value of a config as written: null, true, a number, a text in quotes.

    >>> said(None), said(True), said("4"), said(4.0)
    ('null', 'true', '"4"', '4.0')
    """
    if found is None or isinstance(found, bool | int | float):
        return json.dumps(found)
    return quoted(found if isinstance(found, str) else json.dumps(found))


class Config:
    """The content of a config.json, by keys; a nested key contains a dot.

    place: the name of the file, for messages.
    """

    def __init__(self, place: str, values: Mapping[str, Any]) -> None:
        self.place = place
        self.values = values

    def get(self, key: str, default: Any = MISSING) -> Any:
        """Return the value of a key, which may be null.

        Raises InputError if it is missing, and there is no default.
        """
        found: Any = self.values
        for part in key.split("."):
            found = found.get(part, MISSING) if isinstance(found, Mapping) else MISSING
        if found is MISSING:
            if default is MISSING:
                raise InputError(f"{self.place}: it has no {quoted(key)}, which its model needs")
            return default
        return found

    def says(self, key: str) -> bool:
        """Return whether there is such a key, with any value."""
        return self.get(key, _NOTHING) is not _NOTHING

    def number(self, key: str, default: Any = MISSING) -> Any:
        """Return the number of a key.

        Raises InputError if it is missing without a default, or is not a number, such as null.
        """
        found = self.get(key, default)
        if found is default:
            return found
        is_number = isinstance(found, int | float) and not isinstance(found, bool)
        if not is_number or not abs(found) < LARGEST:  # a nan is not
            raise self.wrong(key, found, "a number")
        return found

    def numbers(self, key: str, count: int) -> list[float]:
        """Return the list of so many numbers of a key; ones if it is missing or null."""
        found = self.get(key, None)
        found = [1.0] * count if found is None else found
        if not isinstance(found, list) or len(found) != count:
            raise self.wrong(key, found, f"a list of {count} numbers")
        return [float(Config(self.place, {key: each}).number(key)) for each in found]

    def count(self, key: str, default: Any = MISSING) -> Any:
        """Return the whole number from 1 of a key."""
        return self.whole(key, default, least=1)

    def whole(self, key: str, default: Any = MISSING, *, least: int = 0) -> Any:
        """Return the whole number of a key, from a least one."""
        found = self.number(key, default)
        if found is default:
            return found
        if int(found) != found or found < least:
            raise self.wrong(key, found, f"a whole number from {least}")
        return int(found)

    def count_or_none(self, key: str) -> int | None:
        """Return a whole number from 1; None if the key is missing or null."""
        found: int | None = None if self.get(key, None) is None else self.count(key)
        return found

    def is_so(self, key: str, default: bool) -> bool:
        """Return whether a key is true, or the default if it is missing."""
        found = self.get(key, default)
        if not isinstance(found, bool):
            raise self.wrong(key, found, "true or false")
        return found

    def one_of(self, key: str, values: Iterable[str], default: Any = MISSING) -> str:
        """Return the value of a key that must be one of some texts."""
        found = self.get(key, default)
        if not isinstance(found, str) or found not in values:
            raise self.wrong(key, found, f"one of {', '.join(values)}")
        return found

    def of_layer(self, key: str, layer: int, values: Sequence[Any] = ()) -> Any:
        """Return the value of a layer, from 0, in a list: one of some values, if they are given."""
        found = self.get(key)
        if not isinstance(found, list) or layer >= len(found):
            raise self.wrong(key, found, "one for each layer")
        if values and found[layer] not in values:
            raise self.wrong(key, found[layer], " or ".join(map(str, values)))
        return found[layer]

    def count_of_layer(self, key: str, layer: int) -> int:
        """Return the whole number from 1 of a layer, from 0, in a list."""
        return int(Config(self.place, {"it": self.of_layer(key, layer)}).count("it"))

    def sides(self, key: str) -> tuple[int, int]:
        """Return a height and a width, given as one number or as two."""
        found = self.get(key)
        sides = found if isinstance(found, list) else [found, found]
        if len(sides) != 2 or not all(type(each) is int and each > 0 for each in sides):
            raise self.wrong(key, found, "a whole number from 1, or two of them,")
        return sides[0], sides[1]

    def wrong(self, key: str, found: Any, needed: str) -> InputError:
        """Return the error for an impossible value."""
        return InputError(f"{self.place}: {quoted(key)} is {said(found)}, where {needed} is needed")


class Weights(Mapping[str, Matrix]):
    """The tensors of a folder by name; a shard is opened when one of its tensors is used.

    files: the file of each tensor.
    """

    def __init__(self, folder: Path, files: Mapping[str, str]) -> None:
        self.folder = folder
        self._files = files
        self._open: dict[str, Tensors] = {}
        self.read: dict[str, str] = {}

    def __getitem__(self, name: str) -> Matrix:
        """Return a tensor."""
        return self._holding(name)[name]

    def rows(self, name: str, places: Sequence[int]) -> Matrix:
        """Return some rows of a tensor, without reading others."""
        return self._holding(name).rows(name, places)

    def _holding(self, name: str) -> Tensors:
        """Return the shard with a tensor, and note that it is read."""
        shard = self._shard(self._files[name])
        if name not in shard:
            raise InputError(f"{shard.place}: it has no {quoted(name)}, which {INDEX} says it has")
        self.read[name] = shard.entries[name].dtype
        return shard

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of a tensor, without reading it."""
        return self._holding(name).entries[name].shape

    def are_equal(self, name: str, other: str) -> bool:
        """Return whether two tensors have the same numbers, with some rows in memory at a time."""
        shape = self.shape(name)
        ends = (*range(0, shape[0] if shape else 0, _ROWS), *shape[:1])
        return shape == self.shape(other) and all(
            np.array_equal(self.rows(name, range(*each)), self.rows(other, range(*each)))
            for each in pairwise(ends)
        )

    def __iter__(self) -> Iterator[str]:
        """Yield the names."""
        return iter(self._files)

    def __contains__(self, name: object) -> bool:
        """Return whether there is a tensor of this name, without reading it."""
        return name in self._files

    def __len__(self) -> int:
        """Return the number of tensors."""
        return len(self._files)

    def _shard(self, file: str) -> Tensors:
        if file not in self._open:
            path = self.folder / file
            if not path.exists():
                raise InputError(f"{path}: this shard is missing, and {INDEX} names it")
            shard = open_tensors(path)
            if other := next((n for n in shard if self._files.get(n, file) != file), ""):
                raise InputError(
                    f"{path}: it has {quoted(other)}, which is in {self._files[other]} by {INDEX}: "
                    "keep one, as transformers reads the last"
                )
            self._open[file] = shard
        return self._open[file]


class Shapes(Weights):
    """Tensors by name of which only the shapes are read: each is zeros without memory."""

    def __init__(self, weights: Weights) -> None:
        super().__init__(weights.folder, weights._files)

    def __getitem__(self, name: str) -> Matrix:
        """Return zeros of the shape of a tensor."""
        return np.broadcast_to(np.float32(0), self.shape(name))


def open_folder(folder: Path) -> tuple[Config, Weights]:
    """Return the config and the tensors of a folder."""
    return read_config(folder), find_weights(folder)


def read_config(folder: Path) -> Config:
    """Return the config.json of a folder.

    Raises InputError if there is no such folder or file, or it is not a JSON object.
    """
    if not is_folder(folder):
        _refuse_pickle(folder, folder.parent)
        what = "no such folder" if not folder.exists() else "a file, where a model's folder is"
        raise InputError(f"{folder}: {what}: it needs {CONFIG} and {ONE} in it")
    remember(folder)
    path = folder / CONFIG
    if not path.exists() and (folder / ADAPTER).exists():
        raise _is_adapter(folder)
    if not path.exists():
        raise InputError(f"{folder}: it has no {CONFIG}, which describes the model")
    return Config(str(path), parsed(path))


def read_generation_config(folder: Path) -> Config:
    """Return the generation_config.json of a folder; empty if there is none."""
    path = folder / "generation_config.json"
    return Config(str(path), parsed(path) if path.exists() else {})


def find_weights(folder: Path) -> Weights:
    """Return the tensors of a folder, without reading them.

    Raises InputError if it contains none, or pickles, which are not read; the message says how to
    convert them.
    """
    if (folder / INDEX).exists() and not (folder / ONE).exists():  # transformers reads the latter
        return Weights(folder, _files_of(folder / INDEX))
    files = [path.name for path in list_folder(folder) if path.suffix.lower() == TENSORS]
    one = ONE if ONE in files else files[0] if len(files) == 1 else ""
    if not one:
        for path in list_folder(folder):
            _refuse_pickle(path, folder)
        found = f": it has {', '.join(files[:3])}, and no {INDEX}" if files else ""
        raise InputError(f"{folder}: it has no {ONE}{found}")
    names = open_tensors(folder / one)
    if (folder / ADAPTER).exists() and all(".lora_" in name for name in names):
        raise _is_adapter(folder)
    return Weights(folder, dict.fromkeys(names, one))


def _is_adapter(folder: Path) -> InputError:
    return InputError(
        f"{folder}: it has an adapter alone ({ADAPTER}): merge it into its model, as by "
        "merge_and_unload() of peft, and save that"
    )


def _files_of(path: Path) -> dict[str, str]:
    """Return the file of each tensor, according to an index."""
    files = parsed(path).get("weight_map")
    if not isinstance(files, dict) or not files:
        raise InputError(f"{path}: it has no weight_map, which lists the tensors of each shard")
    for name, file in files.items():
        is_name = isinstance(file, str) and Path(file).name == file and file.endswith(TENSORS)
        if not is_name:
            raise InputError(
                f"{path}: {quoted(name)} should be in {quoted(str(file))}, which is not a name of "
                f"a file that ends in {TENSORS}, beside the index"
            )
    return files


def parsed(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file."""
    refuse_found(path, may_link=True)
    try:
        content = json.loads(decode(read_bytes(path), str(path)))
    except (ValueError, RecursionError):
        raise InputError(f"{path}: it is not JSON") from None
    if not isinstance(content, dict):
        raise InputError(f"{path}: it is not a JSON object")
    return content


def _refuse_pickle(path: Path, folder: Path) -> None:
    if path.suffix.lower() in _PICKLES and path.is_file():
        code = (
            "import sys, torch; from safetensors.torch import save_file; "
            "_, *given, made = sys.argv; save_file({name: each.clone() for one in given "
            "for name, each in torch.load(one, 'cpu', weights_only=True).items()}, made)"
        )
        start, is_shard, _ = path.name.rpartition("-of-")
        shards = sorted(folder.glob(f"{start[:-5]}*{path.suffix}")) if is_shard else [path]
        command = conversion(code, *map(str, shards), str(folder / ONE))
        raise InputError(
            f"{path}: a pickle: it could run any program, and is not read. This converts a state "
            f"dict to a {ONE}, which is read:\n  {command}"
        )
