"""An opened model: the fields of problems for its embedding, its layers, and its head."""

import math
from collections.abc import Iterable, Sequence
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from attncalc.base.arrays import Owned
from attncalc.base.errors import InputError
from attncalc.base.text import harmless
from attncalc.base.typed import quoted
from attncalc.base.types import Matrix
from attncalc.problem.fields import GIVEN
from attncalc.reading.cells import in_place
from attncalc.reading.models.families import FAMILIES, family_of
from attncalc.reading.models.family import CLASSES, Family, Head, check_config
from attncalc.reading.models.folder import (
    Config,
    Weights,
    find_weights,
    read_config,
    read_generation_config,
)
from attncalc.reading.models.frames import convolved
from attncalc.reading.models.layer import Heads, layer_fields, named
from attncalc.reading.models.names import IN_OUT, OUT_IN, is_buffer, meaning_of, renamed

Fields = dict[str, Any]
MOST_NEAR = 3
MOST_NAMED = 40
SINGLE_LABEL = "single_label_classification"
OLD_GAINS = ((".weight", ".gamma"), (".bias", ".beta"))
"""The names of gain and bias of a normalisation in old files from TensorFlow."""
_HALVES = {"F16": "float16", "BF16": "bfloat16"}


class Model:
    """The folder of a model, read according to its family; a tensor is read when it is used.

    Parameters
    ----------
    folder
        Its path.

    Raises
    ------
    InputError
        If it is not such a folder, or its family is unknown.
    """

    def __init__(self, folder: Path) -> None:
        config, weights = read_config(folder), find_weights(folder)
        family = _known(config, weights)
        if config.get("quantization_config", None) is not None:
            raise InputError(f"{config.place}: its weights are quantised, and are not read")
        self._open(folder, config, weights, family)

    def _open(self, folder: Path, config: Config, weights: Weights, family: Family) -> None:
        check_config(config, family.asks, family.title)
        self.folder, self.config, self.weights, self.family = folder, config, weights, family
        self._notes = list(family.remarks(config))
        self.root, self._pattern = _where(family, weights, folder)

    @property
    def decoder(self) -> "Model | None":
        """The decoder that reads its outputs; None if the folder contains none."""
        family = self.family.decoder
        if family is None or not any(family.layers[0].format(0) in name for name in self.weights):
            return None
        decoder = object.__new__(Model)
        decoder._open(self.folder, self.config, self.weights, family)
        return decoder

    @property
    def count(self) -> int:
        """The number of its layers."""
        return int(self.family.count(self.config, 0))

    @property
    def takes(self) -> str:
        """Its input: tokens, an image, or a spectrogram."""
        return self.family.takes

    def begin(self, ids: Sequence[int], place: str, types: Sequence[int] | None = None) -> Fields:
        """Return the tokens of these ids, with everything added to them before the first layer.

        Parameters
        ----------
        ids
            The rows of the table.
        place
            The source of the ids, for messages.
        types
            The type of each token, for a model with types; None for 0.

        Raises
        ------
        InputError
            If the table has no such row, or there are more tokens than positions.
        """
        pad = self.config.get(self.family.pads, None) if self.family.pads else None
        if pad in ids:
            raise InputError(
                f"{place}: token {pad} is padding ({self.family.pads}), which has no position of "
                "its own in this model: leave it out"
            )
        X = self._embedded(ids, place)
        if self.family.factor is not None:
            X = X * self.family.factor(self.config, 0)
        begun = {"X": X, **self._beginnings(len(ids), place)}
        if "W_type" in begun:
            begun["type_ids"] = [types or [0] * len(ids)]
        return begun

    def _embedded(self, ids: Sequence[int], place: str) -> Matrix:
        """Return the rows of the table for ids."""
        name = self.root + self.family.tokens
        if name not in self.weights:
            raise self._is_not_there(name)
        size, *_ = self.weights.shape(name) or (0,)
        for each in ids:
            if not 0 <= each < size:
                raise InputError(
                    f"{place}: there is no token {each}: the table of this model has "
                    f"{size:,}, from 0 to {size - 1:,}"
                )
        return self._checked(name, self.weights.rows(name, ids))

    def begin_image(self, image: Matrix, place: str) -> Fields:
        """Return an image, its patch size, and the weights of its patches.

        Raises
        ------
        InputError
            If it has not the input size of the model.
        """
        while image.ndim > 3 and len(image) == 1:
            image = image[0]
        size, patch = (self._sides(key) for key in ("image_size", "patch_size"))
        wanted = (self.config.count("num_channels"), *size)
        if image.shape != wanted:
            found, needed = (" × ".join(map(str, shape)) for shape in (image.shape, wanted))
            raise InputError(
                f"{place} is {found}: this model reads {needed}: channels, rows and columns"
            )
        begun = self._beginnings(0, place)
        E = begun["E"].array
        begun["E"] = Owned(E.reshape(len(E), -1))
        begun |= {name: Owned(_flat(begun[name].array)) for name in ("class_token", "P")}
        cut = {"block": "vit", "image": image, "channels": wanted[0], "patch": list(patch)}
        return {**cut, "weights_layout": OUT_IN, **begun}

    def begin_spectrogram(self, frames: Matrix, place: str) -> Fields:
        """Return the convolved spectrogram before the first layer, and its positions.

        Parameters
        ----------
        frames
            Of shape (bands, frames), as the feature extractor returns it.
        place
            Its source, for messages.

        Raises
        ------
        InputError
            If it has not the input size of the model.
        """
        while frames.ndim > 2 and len(frames) == 1:
            frames = frames[0]
        begun = self._beginnings(0, place)
        slower = math.prod(step for _, step in self.family.convolutions)
        wanted = (self.config.count("num_mel_bins"), slower * len(begun["P"].array))
        if frames.shape != wanted:
            found, needed = (" × ".join(map(str, shape)) for shape in (frames.shape, wanted))
            raise InputError(f"{place} is {found}: this model reads {needed}: bands and frames")
        rows: Matrix = frames.T
        for name, step in self.family.convolutions:
            weights, bias = (self._tensor(f"{self.root}{name}.{w}") for w in ("weight", "bias"))
            rows = convolved(rows, weights, bias, step)
        return {"X": Owned(rows), **begun}

    def _sides(self, key: str) -> tuple[int, int]:
        """Return the height and width in a config, given as one number or as two."""
        said = self.config.get(key)
        sides = said if isinstance(said, list) else [said, said]
        if len(sides) != 2 or not all(type(each) is int and each > 0 for each in sides):
            raise self.config.wrong(key, said, "a whole number from 1, or two of them,")
        return sides[0], sides[1]

    def layer(self, number: int) -> Fields:
        """Return the matrices and the settings of a layer, from 0.

        Raises
        ------
        InputError
            If there is no such layer, or it has unknown tensors.
        """
        self.check_number(number)
        start = self.root + self._pattern.format(number)
        names = [name for name in self.weights if name.startswith(start)]
        faults: list[str] = []
        for name in names:
            if renamed(name, self.family.own) is None and not is_buffer(name):
                faults.append(f"{quoted(name)} is in this layer, and nothing here reads it")
        settings = self.family.settings(self.config, number)
        sides = {side: [n for n in names if own in n] for side, own in self.family.sides.items()}
        in_sides = {name for side in sides.values() for name in side}
        fields = self._read([n for n in names if n not in in_sides], settings, faults)
        if not names:
            faults.append(f"layer {number} has no tensors: {start}… is not there")
        parts = {side: self._read(each, settings, faults) for side, each in sides.items()}
        if faults:
            raise InputError(in_place(str(self.folder), faults))
        for name in self.family.shared:
            side, _, own = name.rpartition(".")
            (parts[side] if side else fields)[own] = self._shared(name)
        for each in parts.values():
            each.pop("weights_layout")  # the same for the entire layer
        self._check_places(parts.get("self", fields), settings)
        owned = {name: _owned(self._gained(name, each)) for name, each in fields.items()}
        inner = {side: {n: _owned(e) for n, e in each.items()} for side, each in parts.items()}
        return {**settings, "weights_layout": OUT_IN, **owned, **inner}

    def check_number(self, number: int) -> None:
        """Refuse the number of a layer that does not exist."""
        if not 0 <= number < self.count:
            raise InputError(
                f"there is no layer {number}: this model has {self.count}, from 0 to "
                f"{self.count - 1}"
            )

    def _read(self, names: list[str], settings: Fields, faults: list[str]) -> Fields:
        """Return the matrices of a layer, or of one of its attentions, by attncalc's names."""
        heads = Heads(settings["heads"], self.family.key_heads(self.config, 0))
        found = named(names, faults.append, self.family.own)
        if self.family.is_out_in:
            found = {field: (name, each._replace(end="")) for field, (name, each) in found.items()}
        return layer_fields(_Read(self), found, heads, faults.append)

    def _shared(self, name: str) -> Matrix:
        """Return a tensor that is in the first layer, and applies to all."""
        return self._tensor(self.root + self._pattern.format(0) + self.family.shared[name])

    def normalised(self) -> Fields:
        """Return the normalisation after the last layer; {} if there is none."""
        return {
            name: _owned(self._gained(name, self._tensor(self.root + own)))
            for name, own in self.family.ends.items()
            if self._stored(self.root + own)
        }

    def end(self, layout: str) -> Fields:
        """Return the parts after the last layer: a normalisation, and a head if there is one.

        Parameters
        ----------
        layout
            The layout of the weights of the last layer, which the head will have too.
        """
        head = {} if self.head is None else self._head(self.head, layout)
        return {**self.normalised(), **head}

    @property
    def architecture(self) -> str:
        """The name of its architecture, such as GPT2LMHeadModel; "" if its config has none."""
        named = self.config.get("architectures", None) or [""]
        first = named[0] if isinstance(named, list) else None
        if not isinstance(first, str) or not (first.isidentifier() or not first):
            raise self.config.wrong("architectures", named, "a list of names of classes")
        return first

    @cached_property
    def head(self) -> Head | None:
        """Its head: that of its architecture, or the one whose tensors exist; None for none."""
        heads = self.family.heads
        if name := self.architecture:
            return next((head for end, head in heads.items() if name.endswith(end)), None)
        table = self.root + self.family.tokens
        found = [(self._places(head), head) for head in heads.values()]
        held = [(len({*places.values()} - {table}), head) for places, head in found if places]
        return max(held, key=itemgetter(0))[1] if held else None

    def _places(self, head: Head) -> dict[str, str]:
        """Return the names of a head's tensors, by field; {} if its weights are missing."""
        named = {
            field: next(filter(None, (self._stored(n.replace("{}", self.root)) for n in names)), "")
            for field, names in head.tensors.items()
        }
        if not named["W_out"] and head.is_tied and self.is_tied:
            named["W_out"] = self.root + self.family.tokens
        if not all(name for field, name in named.items() if field.startswith("W_")):
            return {}
        return {field: name for field, name in named.items() if name}

    def _head(self, head: Head, layout: str) -> Fields:
        """Return the fields of the head.

        Raises
        ------
        InputError
            If the folder does not contain its weights.
        """
        check_config(self.config, head.asks, self.architecture or self.family.title)
        places = self._places(head)
        if not places:
            raise InputError(
                f"{self.folder}: its architecture is {self.architecture}, and it holds no "
                f"{quoted(head.tensors['W_out'][0])}"
            )
        arrays = {name: self._tensor(place) for name, place in places.items()}
        if head.behind:
            W, b = map(self._tensor, head.behind)
            bias = arrays["W_out"] @ b + arrays.get("b_out", 0)
            arrays |= {"W_out": arrays["W_out"] @ W, "b_out": bias}
            self._notes.append(
                f"W_out is the product of the model's {head.tensors['W_out'][0]} and "
                f"{head.behind[0]}"
            )
        if head.shrinks is not None and (factor := head.shrinks(self.config, 0)) != 1:
            arrays["W_out"] = arrays["W_out"] * factor
            self._notes.append(
                f"W_out is what the model keeps, times {factor:.6g}: by that it multiplies the "
                "outputs before its head"
            )
        fields = {name: Owned(self._turned(name, each, layout)) for name, each in arrays.items()}
        said = {name: says(self.config, 0) for name, says in head.says.items()}
        return {**fields, **said, "read": head.reads}

    @staticmethod
    def _turned(name: str, array: Matrix, layout: str) -> Matrix:
        return array.T if name.startswith("W_") and layout == IN_OUT else array

    @property
    def has_classes(self) -> bool:
        """Whether its head returns classes instead of tokens."""
        return self.head is not None and self.head.gives == CLASSES

    def has_shares(self, classes: int) -> bool:
        """Return whether scores of so many classes are logits of one label, for a softmax."""
        kind = self.config.get("problem_type", None) if self.has_classes else None
        return classes > 1 if kind is None else kind == SINGLE_LABEL

    def classes(self, ids: Sequence[int]) -> list[str]:
        """Return the names of these classes."""
        names = self.config.get("id2label", {})
        if not isinstance(names, dict):
            raise self.config.wrong("id2label", names, "an object, a name for each class,")
        return [str(names.get(str(each), each)) for each in ids]

    def said_of_tokens(self, key: str) -> tuple[int, ...]:
        """Return the token or tokens that generation_config.json or config.json names."""
        for config in (read_generation_config(self.folder), self.config):
            found = config.get(key, None)
            if found is not None:
                ids = found if isinstance(found, list) else [found]
                if not all(type(each) is int for each in ids):
                    raise config.wrong(key, found, "a token id, or a list of them,")
                return tuple(ids)
        return ()

    def is_padding(self, token: int) -> bool:
        """Return whether a classification head skips a token at the end as padding."""
        return self.has_classes and token == self.config.get("pad_token_id", None)

    @property
    def places(self) -> int | None:
        """The largest number of tokens for which it has positions; None for any number."""
        name = self.root + self.family.begins.get(self.family.positions, "")
        if not self.family.positions or name not in self.weights:
            return None
        return int(self.weights.shape(name)[0]) - self.family.offset

    @property
    def is_tied(self) -> bool:
        """Whether its head may use the table of its tokens as weights."""
        return bool(self.family.tokens) and self.config.is_so("tie_word_embeddings", True)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Remarks about what was read."""
        kinds = dict.fromkeys(_HALVES[k] for k in self.weights.read.values() if k in _HALVES)
        wide = [f"weights are given in {' and '.join(kinds)}, computed in float32"]
        return (*(wide if kinds else ()), *dict.fromkeys(self._notes))

    def _beginnings(self, tokens: int, place: str) -> Fields:
        """Return the parts before the layers, with positions for each token."""
        made: Fields = {}
        for name, own in self.family.begins.items():
            array = self._tensor(self.root + own)
            if name == self.family.positions:
                array = array[self.family.offset :]
                if tokens > len(array):
                    raise InputError(
                        f"{place}: {tokens:,} tokens, where this model has {len(array):,} places"
                    )
                array = array[:tokens]
            made[name] = _owned(array)
        return made

    def _gained(self, name: str, array: Any) -> Any:
        """Return a gain as used: some families store its difference from 1."""
        if self.family.gain_above and name.startswith("gamma"):
            return array + array.dtype.type(self.family.gain_above)
        return array

    def _tensor(self, name: str) -> Matrix:
        stored = self._stored(name)
        if not stored:
            raise self._is_not_there(name)
        return self._checked(stored, self.weights[stored])

    def _stored(self, name: str) -> str:
        """Return the name of a tensor in the files, which may be old; or ""."""
        for new, old in (("", ""), *OLD_GAINS):
            if name.endswith(new) and (stored := name.removesuffix(new) + old) in self.weights:
                return stored
        return ""

    def _is_not_there(self, name: str) -> InputError:
        return InputError(f"{self.folder}: there is no {quoted(name)} in it")

    def _checked(self, name: str, array: Matrix) -> Matrix:
        if array.dtype.kind != "f":
            raise InputError(
                f"{self.folder}: {quoted(name)} is of {array.dtype}: quantised weights are not read"
            )
        return array

    def _check_places(self, fields: Fields, settings: Fields) -> None:
        """Refuse weights that do not match the number of heads of the config."""
        heads = settings["heads"]
        for name in ("W_Q", "W_K", "W_V"):
            if name not in fields or fields[name].ndim != 2:
                raise InputError(f"{self.folder}: there is no matrix in it that is {name}")
        width = fields["W_Q"].shape[0 if fields.get("weights_layout", OUT_IN) == OUT_IN else 1]
        for key in ("head_dim", "d_kv"):
            own = self.config.count_or_none(key)
            if own is not None and own * heads != width:
                raise InputError(
                    f"{self.config.place}: {heads} heads, {quoted(key)} is {own}, and the queries "
                    f"are {width} wide: that is not {heads} × {own}"
                )
        if width % heads:
            raise InputError(
                f"{self.config.place}: {heads} heads, and the queries are {width} wide: that is no "
                "whole number for each"
            )


class _Read(dict[str, Matrix]):
    """The tensors of a model, each checked as it is read."""

    def __init__(self, model: Model) -> None:
        super().__init__()
        self._model = model

    def __getitem__(self, name: str) -> Matrix:
        return self._model._tensor(name)


def _owned(value: Any) -> Any:
    return Owned(value) if isinstance(value, np.ndarray) else value


def _flat(array: Matrix) -> Matrix:
    return array.reshape(-1, array.shape[-1])


def _where(family: Family, weights: Weights, folder: Path) -> tuple[str, str]:
    """Return the prefix of all names of a model, and the path of its layers."""
    for pattern in family.layers:
        first = pattern.format(0)
        roots = dict.fromkeys(
            name[:at] for name in weights for at in _places_of(first, name) if at >= 0
        )
        if len(roots) > 1:
            said = " and ".join(quoted(root + first) for root in roots)
            raise InputError(
                f"{folder}: layer 0 fits {len(roots)} places, {said}: keep one model in the folder"
            )
        if roots:
            return next(iter(roots)), pattern
    wanted = " or ".join(pattern.format(0) + "…" for pattern in family.layers)
    raise InputError(
        f"{folder}: its config is that of {family.title}, and no tensor is called {wanted}"
    )


def _places_of(first: str, name: str) -> Iterable[int]:
    """Return the positions of the start of a layer's names in a name, at its beginning or a dot."""
    if name.startswith(first):
        return (0,)
    at = name.find(f".{first}")
    return (at + 1,) if at >= 0 else ()


def _known(config: Config, weights: Weights) -> Family:
    """Return the family of a model; an unknown one raises an error with its tensors and fields."""
    family = family_of(config)
    if family is not None:
        return family
    kinds = [kind for each in FAMILIES for kind in each.types]
    lines = [
        f"{config.place}: model_type {quoted(str(config.get('model_type')))} is none of those "
        f"opened here: {', '.join(kinds)}. These tensors of it are of one layer; the fields beside "
        "them are what to fill of a problem, as JSON or .npz, with X, heads and the other settings:"
    ]
    lines += [f"  {line}" for line in _of_one_layer(weights)]
    near = sorted(FAMILIES, key=lambda each: len(_unread(each, weights)))[:MOST_NEAR]
    lines.append("Families whose names fit most of its tensors, and the tensors that each lacks:")
    for each in near:
        unread = [f'"{harmless(name)}"' for name in _unread(each, weights)]
        more = [f"{len(unread) - MOST_NAMED} more"] if len(unread) > MOST_NAMED else []
        lines.append(f"  {each.title}: {', '.join([*unread[:MOST_NAMED], *more]) or 'none'}")
    raise InputError("\n".join(lines))


def _unread(family: Family, weights: Weights) -> list[str]:
    """Return the tensors before, in and after the first layer that a family does not read."""
    inner = [pattern.format(0) for pattern in family.layers]
    heads = (
        name for head in family.heads.values() for all_ in head.tensors.values() for name in all_
    )
    outer = (family.tokens, *family.begins.values(), *family.ends.values(), *heads)
    ends = tuple(name.replace("{}", "") for name in outer if name)
    found = []
    for name in weights:
        numbers = [part for part in name.split(".") if part.isdigit()]
        if (numbers and numbers[0] != "0") or is_buffer(name):
            continue
        starts = any(_places_of(each, name) for each in inner)
        is_read = renamed(name, family.own) is not None if starts else name.endswith(ends)
        if not is_read:
            found.append(name)
    return found


def _of_one_layer(weights: Weights) -> list[str]:
    """Return the tensors of the first layer, each with its possible field."""
    names = list(weights)
    first = [name for name in names if "0" in name.split(".")] or names
    lines = []
    for name in first[:MOST_NAMED]:
        meaning = meaning_of(name)
        field = meaning.field if meaning and meaning.field.rstrip("QKV") != "W_" else ""
        if meaning is not None and not field:
            field = ", ".join(f"W_{each}" for each in meaning.field.removeprefix("W_"))
        size = " × ".join(map(str, weights.shape(name)))
        known = field if field in GIVEN or "," in field else field or "?"
        lines.append(f'"{harmless(name)}", {size or "one number"}: {known}')
    if len(first) > MOST_NAMED:
        lines.append(f"… and {len(first) - MOST_NAMED} more")
    return lines
