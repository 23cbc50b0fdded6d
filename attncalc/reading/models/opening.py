"""An opened model: the fields of problems for its embedding, its layers, and its head."""

import hashlib
import math
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from attncalc.base.arrays import Owned
from attncalc.base.errors import InputError
from attncalc.base.typed import quoted
from attncalc.base.types import Matrix
from attncalc.equations.operations.angles import Sinusoids
from attncalc.equations.operations.products import Project
from attncalc.problem.fields import KNOWN
from attncalc.problem.image import PatchGrid
from attncalc.problem.problem import Problem
from attncalc.problem.stating import read_by
from attncalc.reading.cells import in_place
from attncalc.reading.models.described import FILE as DESCRIBED
from attncalc.reading.models.described import check_read, check_stated, read_family
from attncalc.reading.models.families import families_of
from attncalc.reading.models.family import (
    CLASSES,
    FAIRSEQ,
    POOLED,
    SPAN,
    Family,
    Head,
    a_count,
    check_config,
    value_of,
)
from attncalc.reading.models.folder import (
    ADAPTER,
    Config,
    Weights,
    open_folder,
    read_generation_config,
)
from attncalc.reading.models.frames import convolved, weighted
from attncalc.reading.models.gguf import ENDING as GGUF
from attncalc.reading.models.gguf import FREQUENCIES, open_gguf
from attncalc.reading.models.layer import Heads, latent_fields, layer_fields, named
from attncalc.reading.models.names import EXPERT, IN_OUT, OF_EACH, OUT_IN, is_buffer, renamed, whole
from attncalc.reading.models.rope import frequencies, longest
from attncalc.reading.models.unknown import BESIDE_TEXT, left_out, unknown
from attncalc.solving.solution import solve

Fields = dict[str, Any]
SINGLE_LABEL = "single_label_classification"
MOST_SINUSOIDS = 10**8
"""The largest number of sines and cosines of all positions."""
_OF_ROUTERS = "top_k router router_scales router_norm router_scale router_groups top_groups"
LATER = "mtp."
"""The start of names of layers for tokens after the next one, beside the model."""
OLD_GAINS = ((".weight", ".gamma"), (".bias", ".beta"))
"""The names of gain and bias of a normalization in old files from TensorFlow."""
_WHOLE = ("F32", "F64", "U8", "I64")
_HALVES = {"F16": "float16", "BF16": "bfloat16", "I8": "int8"}


class Model:
    """The folder of a model, read according to its family; a tensor is read when it is used.

    Raises InputError if it is not such a folder, or its family is unknown.

    takes: the input, which determines the tower of a model with several.
    family: a file that describes its family, or its content; None for the family.json of the
        folder, or one of the known families.
    """

    tokens = 0
    """The number of tokens, which some scalings of rope depend on."""
    _ids: Sequence[int] = ()
    _embedded_tokens: Matrix | None = None
    _altered: Collection[str] = ()
    is_in_8_bits = False
    """Whether some weights are whole numbers, with a scale for each row (bitsandbytes)."""

    def __init__(self, folder: Path, takes: str = "", family: Any = None) -> None:
        is_one_file = folder.suffix.lower() == GGUF
        config, weights = open_gguf(folder) if is_one_file else open_folder(folder)
        if family is None and (folder / DESCRIBED).is_file():
            family = folder / DESCRIBED
        self.towers = [read_family(family)] if family is not None else _known(config, weights)
        row = next((each for each in self.towers if each.takes == takes), self.towers[0])
        said = config.get("quantization_config", None)
        self.is_in_8_bits = isinstance(said, Mapping) and said.get("load_in_8bit") is True
        if said is not None and not self.is_in_8_bits:
            raise InputError(
                f"{config.place}: its weights are quantized: of these, 8 bits of bitsandbytes and "
                "GGUF files are read"
            )
        self._open(folder, config, weights, row)
        if row.source:
            check_read(row, weights)
            self._notes.append(f"the family is that of {row.source}")
        if (folder / ADAPTER).is_file():
            self._notes.append(f"{ADAPTER}: an adapter in the folder, which is not applied")
        if (self.decoder or self).head is None and "For" in self.architecture:
            self._notes.append(f"the head of {self.architecture} is not computed")
        if others := left_out(self.towers, weights):
            self._notes.append(f"not read, and no part of what is shown: {', '.join(others)}")

    def _open(self, folder: Path, config: Config, weights: Weights, family: Family) -> None:
        config = family.own_config(config)
        check_config(config, family.asks, family.title)
        self.folder, self.config, self.weights, self.family = folder, config, weights, family
        self._notes = list(family.of("remarks", config))
        self._compared: dict[tuple[str, str], bool] = {}
        self.root, self._starts = _where(family, weights, folder)
        if family.decoder and self.decoder is None:
            check_config(config, {"is_decoder": (False,)}, f"{family.title}, an encoder alone,")
        if any(name.startswith(LATER) for name in weights):
            self._notes.append(f"{LATER}… is not read: it predicts the tokens after the next one")
        if family.source:
            check_stated(family, weights, self.root, self._stacks, self.architecture)

    @property
    def decoder(self) -> "Model | None":
        """The decoder that reads its outputs; None if the folder contains none."""
        family = self.family.decoder
        if family is None or not any(
            family.layers[0].format(0, 0) in name for name in self.weights
        ):
            return None
        decoder = object.__new__(Model)
        decoder._open(self.folder, self.config, self.weights, family)
        return decoder

    @property
    def count(self) -> int:
        """The number of its layers."""
        found = self.family.of("count", self.config)
        if found is None:
            raise InputError(f"{self.family.source}: count: there is no number of layers")
        return int(found)

    @property
    def of_layers(self) -> Collection[str]:
        """The names of what equations of its layers alone read."""
        family = self.family
        return {"X_begin", *family.own.values(), *family.of_layers, *family.shared}

    @property
    def is_of_whole_sequence(self) -> bool:
        """Whether layers read token ids, or keys of earlier layers."""
        of_layers = self.family.of_layers.values()
        return self.shares_keys or any(self._stored(self.root + each) for each in of_layers)

    @property
    def begins_after_padding(self) -> str:
        """What takes padding before the tokens as no part of the sequence; "" for nothing."""
        if self.config.says("attention_chunk_size"):
            return "chunks"
        mixings = (self.family.of("mixing", self.config, each) for each in range(self.count))
        return "states of mixed tokens" if any(map(bool, mixings)) else ""

    @property
    def shares_keys(self) -> bool:
        """Whether some layers use the keys and values of earlier ones."""
        return self.family.of("sharing", self.config, self.count - 1) is not None

    @property
    def stated(self) -> set[str]:
        """The names of the steps that equations of any layer state."""
        return {line.partition("[")[0] for line in self._equations}

    @property
    def _equations(self) -> list[str]:
        """The equations of all layers, each once."""
        of_layers = (self.family.of_layer(self.config, each) for each in range(self.count))
        return [*dict.fromkeys(line for each in of_layers for line in each.get("equations", ()))]

    def begin(
        self,
        ids: Sequence[int],
        place: str,
        types: Sequence[int] | None = None,
        padded: Sequence[bool] = (),
    ) -> Fields:
        """Return the tokens of these ids, with everything added to them before the first layer.

        Raises InputError if the table has no such row, or there are more tokens than positions.

        ids: the rows of the table.
        types: the type of each token, for a model with types; None for 0.
        padded: whether each token is padding; () for none.
        """
        is_placed = self.family.pads and self.family.places
        pad = self.config.get(self.family.pads, None) if is_placed else None
        if pad in ids:
            raise InputError(
                f"{place}: token {pad} is padding ({self.family.pads}), which has no position of "
                "its own in this model: leave it out"
            )
        self.tokens = len(ids)
        if (most := self.family.of("longest", self.config)) is not None:
            self._check_tokens(len(ids), most, place)
        X = self._embedded(ids, place)
        if (factor := self.family.of("factor", self.config)) is not None:
            read = factor(ids, len(ids) - sum(padded)) if callable(factor) else factor
            X = X * np.array(read, X.dtype)
        self._ids, self._embedded_tokens = ids, X
        begun = {"X": X, **self._beginnings(len(ids), place, padded)}
        for name in [name for name in begun if name.startswith(("once_", "twice_"))]:
            begun["X"] = begun["X"] + begun.pop(name).array[0] * (1 + name.startswith("twice_"))
        if self.family.sinusoids:
            begun["P"] = Owned(begun["P"].array.astype(X.dtype))
        if "W_type" in begun:
            begun["type_ids"] = [types or [0] * len(ids)]
        projection = self.root + self.family.widens
        is_wider = self.family.widens and f"{projection}.weight" in self.weights
        is_read = self.family.source and len(begun) > 1 and "X" in read_by(self._equations)
        return (
            self._widened(begun, projection if is_wider else "") if is_wider or is_read else begun
        )

    def _widened(self, begun: Fields, name: str, what: str = "embedding of the tokens") -> Fields:
        """Return embedded tokens, with everything added, times a projection to a larger width.

        name: the projection; "" for none.
        """
        table = begun.pop("X")
        W = self._tensor(f"{name}.weight") if name else np.eye(table.shape[1], dtype=table.dtype)
        P = {
            n: begun.pop(n) for n in ("P",) if n in begun and begun[n].array.shape[1] != W.shape[1]
        }
        norm: Fields = {str(n): begun.pop(n) for n in ("gamma_E", "beta_E") if n in begun}
        is_normed = bool(norm) and len(norm["gamma_E"].array) == W.shape[1]
        own: Fields = {"W_pre": Owned(W)}
        if name and self._stored(f"{name}.bias"):
            own["b_pre"] = Owned(self._tensor(f"{name}.bias"))
        if is_normed:
            own |= {**norm, "eps": self.family.setting("eps", self.config)}
        own |= {"ids": list(range(len(table))), "W_E": Owned(table), "weights_layout": OUT_IN}
        own |= {"block": "encoder", "read": "all", "activation_pre": "none"}
        made = solve(Problem(**begun, **own), keep=("F_pre",))["F_pre"]
        after = "its normalization and " if is_normed else ""
        then = f", after {after}{whole(name)}" if name else " with all that precedes the layers"
        self._notes.append(f"X is the {what}{then}")
        return {"X": Owned(made), **P} | ({} if is_normed else norm)

    def _embedded(self, ids: Sequence[int], place: str) -> Matrix:
        """Return the rows of the table for ids."""
        if not (name := self._one_of(self._tables)):
            raise self._is_not_there(self._tables[-1])
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

        Raises InputError if it has not the input size of the model.
        """
        image = _alone(image, 3)
        size, patch = (self.config.sides(key) for key in ("image_size", "patch_size"))
        wanted = (self.config.count("num_channels"), *size)
        _check_shape(image, wanted, place, "channels, rows and columns")
        return self._begin_patches(image, patch, patch)

    def _begin_patches(
        self, image: Matrix, patch: tuple[int, int], steps: tuple[int, int]
    ) -> Fields:
        """Return an image to cut into patches with these steps between them, and their weights."""
        begun = self._beginnings(0, self.config.place)
        E = begun["E"].array
        begun["E"] = Owned(E.reshape(len(E), -1))
        flat = {"class_token", "P", "more_tokens"} & {*begun}
        begun |= {name: Owned(_flat(begun[name].array)) for name in flat}
        if "more_tokens" in begun:
            return self._with_more_tokens(image, patch, steps, begun)
        cut = {"block": "vit", "image": image, "channels": len(image), "patch": list(patch)}
        return {**cut, "weights_layout": OUT_IN, **begun}

    def _with_more_tokens(
        self, image: Matrix, patch: tuple[int, int], steps: tuple[int, int], begun: Fields
    ) -> Fields:
        """Return the projected patches, after the class token and further learned tokens.

        Positions are for all of them (DeiT), or not for the further ones (registers).
        """
        E, b, first, more = (
            begun.pop(name).array for name in ("E", "b_E", "class_token", "more_tokens")
        )
        views = np.lib.stride_tricks.sliding_window_view(image, patch, axis=(1, 2))
        views = views[:, :: steps[0], :: steps[1]]
        _, down, across, *_ = views.shape
        rows = views.transpose(1, 2, 0, 3, 4).reshape(down * across, -1)
        X = np.concatenate([first, more, Project().apply(rows, E.T, b.reshape(1, -1))])
        if "P" in begun and len(begun["P"].array) == len(X) - len(more):
            begun["P"] = Owned(np.insert(begun["P"].array, [1] * len(more), 0, axis=0))
        self._notes.append(
            f"X is the class token, {len(more)} more learned and the projected patches of the image"
        )
        cut = PatchGrid(len(image), down, across)
        others = [f"extra {number}" for number in range(1, len(more) + 1)]
        return {"X": Owned(X), "labels": ["class", *others, *cut.labels], **begun}

    def begin_spectrogram(self, frames: Matrix, place: str, padded: Sequence[bool] = ()) -> Fields:
        """Return the convolved spectrogram before the first layer, and its positions.

        Raises InputError if it has not the input size of the model.

        frames: of shape (bands, frames), as the feature extractor returns it.
        padded: whether each frame is padding, for a model with a convolution as positions.
        """
        frames = _alone(frames, 2)
        if self.family.widens:
            return self._begin_features(frames, place, padded)
        if "E" in self.family.begins:
            wanted = self.config.count("num_mel_bins"), self.config.count("max_length")
            _check_shape(frames, wanted, place, "bands and frames")
            keys = "frequency_stride", "time_stride"
            steps = self.config.count(keys[0]), self.config.count(keys[1])
            return self._begin_patches(frames[None], self.config.sides("patch_size"), steps)
        begun = self._beginnings(0, place)
        slower = math.prod(step for _, step in self.family.convolutions)
        wanted = (self.config.count("num_mel_bins"), slower * len(begun["P"].array))
        _check_shape(frames, wanted, place, "bands and frames")
        rows: Matrix = frames.T
        for name, step in self.family.convolutions:
            weights, bias = (self._tensor(f"{self.root}{name}.{w}") for w in ("weight", "bias"))
            rows = convolved(rows, weights, bias, step)
        return {"X": Owned(rows), **begun}

    def _begin_features(self, frames: Matrix, place: str, padded: Sequence[bool]) -> Fields:
        """Return the projected features of audio, and their convolution, which is added to them."""
        norm, own = (f"{self.root}{self.family.widens}{n}" for n in ("layer_norm", "projection"))
        gain, bias = (self._tensor(f"{norm}.{each}") for each in ("weight", "bias"))
        if frames.ndim != 2 or len(frames) != len(gain):
            found = " × ".join(map(str, frames.shape))
            raise InputError(
                f"{place} is {found}: this model reads {len(gain)} × any number: the features that "
                "its feature_extractor computes from audio, and frames"
            )
        embedded = {"X": frames.T, "gamma_E": Owned(gain), "beta_E": Owned(bias)}
        X = self._widened(embedded, own, "output of feature_extractor")["X"]
        if any(padded):
            X = Owned(np.where(np.array(padded)[:, None], 0, X.array).astype(X.array.dtype))
            self._notes.append("padded frames of X are 0 before its convolution")
        ((name, step),) = self.family.convolutions
        start = f"{self.root}{name}."
        parts = (("parametrizations.weight.original0", "weight_g"),
                 ("parametrizations.weight.original1", "weight_v"))  # fmt: skip
        weights = weighted(
            *(self._tensor(self._one_of([start + new]) or start + old) for new, old in parts)
        )
        P = convolved(X.array, weights, self._tensor(f"{start}bias"), step)[: len(X.array)]
        self._notes.append(f"P is a convolution of X over {weights.shape[2]} frames, then GELU")
        return {"X": X, "P": Owned(P), **self._beginnings(0, place)}

    def places_of(self, number: int) -> tuple[str, ...]:
        """Return the starts of the names of a layer's tensors: one, unless its parts are apart."""
        stored = self.family.of("stored", self.config, number)
        return tuple(self.root + each.format(*stored) for each in self._starts)

    @property
    def _stacks(self) -> tuple[str, ...]:
        """The starts of the names of the tensors of all layers."""
        return tuple(self.root + each.partition("{}")[0] for each in self._starts)

    def layer(self, number: int, *, is_whole: bool = True) -> Fields:
        """Return the matrices and the settings of a layer, from 0; of one in part, what is there.

        Raises InputError if there is no such layer, or it has unknown tensors, or lacks some.
        """
        self.check_number(number)
        names = self._names(number)
        faults = [
            f"{whole(name)} is in this layer, and nothing here reads it"
            for name in names
            if not self._is_read(name)
        ]
        settings = self._settings(number)
        own = self.family.sides
        sides = {"": [name for name in names if not any(each in name for each in own.values())]}
        sides |= {side: [name for name in names if each in name] for side, each in own.items()}
        parts = {side: self._read(each, settings, faults, number) for side, each in sides.items()}
        if not names:
            first = self.places_of(number)[0]
            faults.append(f"layer {number} has no tensors: {first}… is not there")
        if faults:
            raise InputError(in_place(str(self.folder), faults))
        for each in parts.values():
            self._check_biases(each, number)
        kept = dict(parts[""])
        parts[""] = fields = self._rearranged(number, parts[""])
        for name in self.family.shared:
            side, _, field = name.rpartition(".")
            if (tensor := self._shared(name)) is not None:
                parts[side][field] = tensor
        self._check_complete(parts if is_whole else {}, number)
        self._scale(parts.pop(""))
        self._altered = {n for n in kept.keys() & fields.keys() if fields[n] is not kept[n]}
        for each in parts.values():
            each.pop("weights_layout")  # the same for the entire layer
        if "W_UKV" in fields:
            turned = settings.get("rope_dims") or self.config.count("qk_rope_head_dim")
            fields = latent_fields(fields, int(settings["heads"]), int(turned))
            self._notes.append("the first columns of W_K are those of rope: they take K_R as it is")
        fields |= self._of_layer(number)
        settings = self._settled(number, {**fields, **parts.get("self", {})}, settings)
        owned = {name: _owned(self._gained(name, each)) for name, each in fields.items()}
        inner = {side: {n: _owned(e) for n, e in each.items()} for side, each in parts.items()}
        return {**_with_more({**settings, "weights_layout": OUT_IN, **owned}), **inner}

    @property
    def meanings(self) -> Mapping[str, str]:
        """Return fields by ends of names with a special meaning, of the layer read last.

        It is "" for names that are not read, and for fields that are not read as they are stored.
        """
        return {**self.family.own} | dict.fromkeys((*self._altered, *self.family.ignored), "")

    def _names(self, number: int) -> list[str]:
        """Return the names of the tensors of a layer, with keys of another if it shares them.

        Those of experts are one.
        """
        starts, shared = self.places_of(number), self.family.of("sharing", self.config, number)
        names = [name for name in self.weights if name.startswith(starts)]
        names = list(dict.fromkeys(EXPERT.sub(OF_EACH, name) for name in names))
        names = [name for name in names if not name.endswith(self.family.ignored)]
        if shared is not None:
            names = [name for name in names if not self._is_of_keys(name)]
            names += filter(self._is_of_keys, self._names(shared))
        return names

    def _is_of_keys(self, name: str) -> bool:
        """Return whether a tensor makes keys or values."""
        meaning = renamed(name, self.family.own)
        return meaning is not None and meaning.field.partition("_")[2] in ("K", "V")

    def _of_layer(self, number: int) -> Fields:
        """Return what a layer reads of other places: its parts of some tensors, and shared keys."""
        parts: Fields = {}
        if (shared := self.family.of("sharing", self.config, number)) is not None:
            (start,) = self.places_of(shared)
            parts |= {"shares": shared, "gain_kv": self._tensor(f"{start}input_layernorm.weight")}
        places = {n: self._stored(self.root + own) for n, own in self.family.of_layers.items()}
        if not any(places.values()):
            return parts
        if not self._ids:
            raise InputError(f"{self.folder}: its layers read token ids, and here are none")
        parts["X_begin"] = self._embedded_tokens
        for name, place in places.items():
            is_table = name.startswith("E")
            whole = self.weights.rows(place, self._ids).T if is_table else self._tensor(place)
            part = whole if whole.ndim == 1 else np.split(whole, self.count)[number]
            parts[name] = part.T if is_table else part
        return parts

    def _rearranged(self, number: int, fields: Fields) -> Fields:
        """Return the fields of a layer, from those that its tensors are named for."""
        try:
            return self.family.rearranged(self.config, number, fields)
        except (KeyError, ValueError) as error:
            what = f"has no {error}" if isinstance(error, KeyError) else str(error)
            raise InputError(
                f"{self.folder}: the tensors of layer {number} do not fit its config: {what}"
            ) from None

    def _settled(self, number: int, fields: Fields, settings: Fields) -> Fields:
        """Return those settings that a layer with these matrices reads, and frequencies of rope."""
        dropped = [] if "W_router" in fields else _OF_ROUTERS.split()
        dropped += [] if "W_1" in fields else ["activation"]
        if self.family.of("attends", self.config, number):
            width = self._check_places(fields, settings)
            settings |= self._turned_by(number, settings, width)
        elif "equations" not in settings:
            dropped.append("heads")
        return {name: each for name, each in settings.items() if name not in dropped}

    def _check_biases(self, fields: Fields, number: int) -> None:
        """Refuse biases of a shared expert, and those that a layer of this config does not have.

        transformers ignores the latter.
        """
        if shared := sorted(n for n in fields if n.startswith("b_s")):
            raise InputError(
                f"{self.config.place}: the shared expert of layer {number} has biases, "
                f"{', '.join(shared)}, which are not supported"
            )
        said = self.family.of("biases", self.config, number)
        own = [
            n for n in "QKVO123" if f"b_{n}" in fields and np.ndim(fields.get(f"W_{n}", ())) == 2
        ]
        if denied := [f"b_{n}" for n in own if n not in said]:
            raise InputError(
                f"{self.config.place}: by it, the projections of layer {number} have no "
                f"{', '.join(denied)}, and the files have: correct the config, or leave these out"
            )

    def _check_complete(self, parts: Mapping[str, Fields], number: int) -> None:
        """Refuse a layer without what its config says it has: transformers would draw it."""
        family, missing = self.family, list[str]()
        biases, attends = (family.of(n, self.config, number) for n in ("biases", "attends"))
        for side, fields in ({} if family.source else parts).items():
            needed, biased = set() if side else self._needed(fields, number), biases
            if side or (attends and len(parts) == 1):
                needed |= {f"W_{n}" for n in ("QO" if "W_UKV" in fields else "QKVO")}
                needed |= {*family.gains_of_heads(self.config, number)}
            else:
                biased = {*biases} & {*"123"}
            needed |= {f"b_{n}" for n in biased if np.ndim(fields.get(f"W_{n}", ())) == 2}
            missing += [f"{side}{'.' * bool(side)}{name}" for name in sorted(needed - {*fields})]
        if missing:
            raise InputError(
                f"{self.folder}: layer {number} has no {', '.join(missing)}, and {family.title} "
                "with this config has: a file or a line of its index is missing"
            )

    def _needed(self, fields: Fields, number: int) -> set[str]:
        """Return the fields that a layer needs beside those of its attention."""
        family, own = self.family, {*self.family.own.values(), *self.family.shared}
        read = read_by(tuple(family.setting("equations", self.config, number) or ()))
        weights = [f"W_{n}" for n in ("123" if family.of("is_gated", self.config) else "12")]
        shared = [f"W_s{name[2]}" for name in weights]
        has_experts = np.ndim(fields.get("W_1", ())) == 3
        is_chosen = family.setting("router", self.config, number) == "sigmoid"
        rules: list[tuple[Any, Collection[str]]] = [
            (True, (*family.gains(self.config, number), *(read & (own | {"W_O"})))),
            (family.of("sinks", self.config, number), {"sinks"} & own),
            (self.config.get("layer_scale_init_value", 1), {"lambda_1", "lambda_2"} & own),
            (family.of("feeds", self.config, number), weights),
            (fields.keys() & {*shared}, {*shared, *({"W_sgate"} & own)}),
            (has_experts, {"W_router", *({"b_router", "b_2"} & own)}),
            (has_experts and "b_2" in own, ("b_1", "b_3")),
            (has_experts and is_chosen and "router_groups" in family.settings, ("b_choice",)),
            ("W_DQ" in fields, ("gamma_DQ",)),
            (fields.keys() & {"W_DKV", "W_DKV_KR"}, ("gamma_DKV",)),
        ]
        return {name for holds, names in rules if holds for name in names}

    def check_number(self, number: int) -> None:
        """Refuse the number of a layer that does not exist."""
        if not 0 <= number < self.count:
            raise InputError(
                f"there is no layer {number}: this model has {self.count}, from 0 to "
                f"{self.count - 1}"
            )

    def _turned_by(self, number: int, settings: Fields, width: int) -> Fields:
        """Return the frequencies of rope, where its scaling has its own; {} for others."""
        if settings.get("positions") != "rope":
            return {}
        self._check_turned(width)
        dims = settings.get("rope_dims") or width
        found = frequencies(self.config, number, dims, self.tokens)
        if "rope_factor" in found:
            found["rope_factor"] = Fraction(str(found["rope_factor"]))
        if found:
            settings.pop("rope_base", None)
        return found

    def _check_turned(self, width: int) -> None:
        """Refuse stored sines and cosines of rope that are not those of its base."""
        name = self._stored(self.root + self.family.turns)
        if not (self.family.turns and name):
            return
        kept = self._tensor(name)
        if kept.shape[1] != width or not np.allclose(kept, _sines(*kept.shape), atol=0.01):
            raise InputError(
                f"{self.folder}: {whole(name)} does not contain the sines and cosines of rope with "
                "base 10000: other ones are not read"
            )

    def _read(self, names: list[str], settings: Fields, faults: list[str], number: int) -> Fields:
        """Return the matrices of a layer, or of one of its attentions, by attncalc's names."""
        key_heads, fused = (
            self.family.of(name, self.config, number) for name in ("key_heads", "fused")
        )
        heads = Heads(settings["heads"], key_heads, *fused)
        found = named(names, faults.append, self.family.own)
        layout = self.family.weights_layout
        fields = layer_fields(_Read(self), found, heads, faults.append, layout)
        if "W_V" not in fields and self.config.is_so("attention_k_eq_v", False):
            fields |= {f"{kind}_V": fields[f"{kind}_K"] for kind in "Wb" if f"{kind}_K" in fields}
            self._notes.append("W_V is W_K in layers without windows")
        return fields

    def _is_read(self, name: str) -> bool:
        """Return whether a tensor of a layer has a meaning here, or needs none."""
        is_scale = self.is_in_8_bits and name.endswith((".SCB", ".weight_format"))
        return is_scale or is_buffer(name) or renamed(name, self.family.own) is not None

    def _settings(self, number: int) -> Fields:
        """Return the settings of a layer, with rope's factors that a GGUF file contains."""
        settings = self.family.of_layer(self.config, number)
        if "heads" not in settings:
            raise InputError(f"{self.family.source}: settings: there is no heads in layer {number}")
        if FREQUENCIES in self.weights:
            factors = self.weights[FREQUENCIES].astype(float)
            plain = float(settings.pop("rope_base")) ** -(np.arange(len(factors)) / len(factors))
            settings["rope_frequencies"] = Owned(plain / factors)
        return settings

    def _scale(self, fields: Fields) -> None:
        """Multiply the outputs of each part by its layer scale, in the weights that make them."""
        for name, own in (("lambda_1", "O"), ("lambda_2", "2")):
            if (scale := fields.pop(name, None)) is not None:
                is_out_in = fields["weights_layout"] == OUT_IN
                fields[f"W_{own}"] = fields[f"W_{own}"] * (scale[:, None] if is_out_in else scale)
                if f"b_{own}" in fields:
                    fields[f"b_{own}"] = fields[f"b_{own}"] * scale
                self._notes.append(f"W_{own} and b_{own} contain the layer scale ({name})")

    def _shared(self, name: str) -> Matrix | None:
        """Return a tensor that is in the first layer, or before all, and applies to all.

        One that equations alone read may be missing: then they do not read it.
        """
        own = self.family.shared[name]
        starts = (self.root + self._starts[0].format(0, 0), self.root)
        stored = next((each + own for each in starts if self._stored(each + own)), "")
        is_needed = name.rpartition(".")[2] in KNOWN
        return self._tensor(stored or self.root + own) if stored or is_needed else None

    def normalised(self) -> Fields:
        """Return the normalization after the last layer; {} if there is none."""
        return {
            name: _owned(self._gained(name, self._beside(own)))
            for name, own in self.family.present(self.config, self.family.ends).items()
        }

    def _outside(self, names: str) -> list[str]:
        """Return the possible names of a tensor of the head: it may be within any of the root."""
        *parts, _ = self.root.split(".")
        starts = [".".join((*parts[:count], "")) for count in range(len(parts) + 1)]
        return [start + each for start in starts for each in names.replace("{}", self.root).split()]

    def _beside(self, name: str) -> Matrix:
        """Return a tensor before or after the layers; ones for the gain without a name."""
        if name:
            names = [self.root + each for each in name.split()]
            return self._tensor(self._one_of(names) or names[0])
        return np.ones(self.weights.shape(self._one_of(self._tables))[-1], np.float32)

    def end(self, layout: str) -> Fields:
        """Return the parts after the last layer: a normalization, and a head if there is one.

        layout: the layout of the weights of the last layer, which the head will have too.
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
        heads = self.family.all_heads
        if name := self.architecture:
            head = next((head for end, head in heads.items() if name.endswith(end)), None)
            if head is None or not head.is_read:
                return None
            return head if head.gives != POOLED or self._places(head) else None
        tables = {*self._tables}
        held = [each for each in heads.values() if each.is_read and self._places(each)]
        return max(held, key=lambda e: len({*self._places(e).values()} - tables), default=None)

    def _places(self, head: Head) -> dict[str, str]:
        """Return the names of a head's tensors, by field; {} if its weights are missing."""
        tied = {"W_out": self._tables[::-1]} if head.is_tied and self.is_tied else {}
        named = {
            field: self._one_of([*self._outside(names), *tied.get(field, ())])
            for field, names in head.tensors.items()
            if self.config.get(head.optional.get(field, ""), True)
        }
        if not all(name for field, name in named.items() if field.startswith("W_")):
            return {}
        return {field: name for field, name in named.items() if name}

    def _head(self, head: Head, layout: str) -> Fields:
        """Return the fields of the head.

        Raises InputError if the folder does not contain its weights.
        """
        check_config(self.config, head.asks, self.architecture or self.family.title)
        places = self._places(head)
        if not places:
            first = next(iter(head.tensors.values())).split()[0].replace("{}", self.root)
            raise InputError(
                f"{self.folder}: its architecture is {self.architecture}, and it has no "
                f"{whole(first)}"
            )
        arrays = {name: self._tensor(place) for name, place in places.items()}
        for name, stored in head.tensors.items():
            is_there = name in places or "." not in stored  # a buffer of zeros
            if not is_there and self.config.get(head.optional.get(name, ""), True):
                self._notes.append(f"{name} of the head is not in the files: taken for none")
        behind = [self._one_of(self._outside(each)) for each in head.behind]
        if any(behind):
            W, *biases = map(self._tensor, behind)
            for b in biases:
                arrays["b_out"] = arrays["W_out"] @ b + arrays.get("b_out", 0)
            arrays["W_out"] = arrays["W_out"] @ W
            own = head.tensors["W_out"].split()[0]
            self._notes.append(f"W_out is the product of the model's {own} and {behind[0]}")
        if (factor := value_of(head.shrinks, self.config)) not in (None, 1):
            arrays["W_out"] = arrays["W_out"] * factor
            self._notes.append(
                f"W_out is what the model keeps, times {factor:.6g}: by that it multiplies the "
                "outputs before its head"
            )
        fields = {name: Owned(self._turned(name, each, layout)) for name, each in arrays.items()}
        said = {name: value_of(each, self.config) for name, each in head.settings.items()}
        return _with_more({"read": head.reads, **fields, **said})

    @staticmethod
    def _turned(name: str, array: Matrix, layout: str) -> Matrix:
        return array.T if name.startswith("W_") and layout == IN_OUT else array

    @property
    def has_classes(self) -> bool:
        """Whether its head returns classes instead of tokens."""
        return self.head is not None and self.head.gives == CLASSES

    def has_shares(self, classes: int) -> bool:
        """Return whether scores of so many classes are logits of one label, for a softmax."""
        if self.is_of_spans:
            return False
        kind = self.config.get("problem_type", None) if self.has_classes else None
        return classes > 1 if kind is None else kind == SINGLE_LABEL

    def classes(self, ids: Sequence[int]) -> list[str]:
        """Return the names of these classes."""
        if self.head is not None and self.head.labels:
            return [self.head.labels[each] for each in ids]
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

    def stop_of(self, ids: Sequence[int]) -> int | None:
        """Return the position of the token that its head reads, from 0; None if not by the ids."""
        stops = None if self.head is None else self.head.stops
        return None if stops is None else stops(self.config, ids)

    @property
    def is_of_spans(self) -> bool:
        """Whether its head returns the scores of a start and an end for each token."""
        return self.head is not None and self.head.labels == SPAN

    @property
    def is_pooled(self) -> bool:
        """Whether its head returns a vector."""
        return self.head is not None and self.head.gives == POOLED

    def is_padding(self, token: int) -> bool:
        """Return whether a classification head skips a token at the end as padding."""
        return self.has_classes and token == self.config.get("pad_token_id", None)

    @property
    def places(self) -> int | None:
        """The largest number of tokens for which it has positions; None for any number."""
        name = self.root + self.family.begins.get(self.family.places, "")
        if not self.family.places or name not in self.weights:
            if self.family.sinusoids:
                return int(a_count("max_position_embeddings", "n_positions")(self.config, 0))
            if (own := self.family.of("longest", self.config)) is not None:
                return int(own)
            most = longest(self.config)
            return None if most is None or self.tokens > most else most
        return int(self.weights.shape(name)[0]) - self._offset

    @property
    def _offset(self) -> int:
        """The number of rows of positions before that of the first token."""
        own = self.family.offset
        return int(self.config.whole(self.family.pads, 1)) + 1 if own is None else own

    @cached_property
    def fingerprint(self) -> bytes:
        """What tells it from other models, in any folder: settings, and numbers of all layers."""
        found = hashlib.sha256(repr(self.family.of_layer(self.config, 0)).encode())
        stacks = self._stacks
        for name in sorted(name for name in self.weights if name.startswith(stacks)):
            shape = self.weights.shape(name)
            rows = range(min(shape[0], 64) if len(shape) == 1 else 1) if shape and shape[0] else ()
            found.update(f"{name.removeprefix(self.root)} {shape}".encode())
            found.update(self.weights.rows(name, rows).tobytes() if rows else b"")
        return found.digest()

    @property
    def is_tied(self) -> bool:
        """Whether its head may use the table of its tokens as weights."""
        return bool(self.family.tokens) and self.config.is_so("tie_word_embeddings", True)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Remarks about what was read."""
        read = self.weights.read.values()
        kinds = dict.fromkeys(_HALVES.get(kind, kind) for kind in read if kind not in _WHOLE)
        wide = [f"weights are given in {' and '.join(kinds)}, computed in float32"]
        return (*(wide if kinds else ()), *dict.fromkeys(self._notes))

    def _beginnings(self, tokens: int, place: str, padded: Sequence[bool] = ()) -> Fields:
        """Return the parts before the layers, with positions for each token."""
        made: Fields = {}
        rows = np.arange(tokens)
        if self.family.skips and any(padded):  # padding itself has the row before the first
            rows = np.where(padded, -1, np.cumsum(np.logical_not(padded)) - 1)
        for name, own in self.family.present(self.config, self.family.begins).items():
            is_stored = name != "P" or not self.family.sinusoids or self._stored(self.root + own)
            array = self._beside(own) if is_stored else self._sinusoids()
            if name == self.family.places:
                self._check_tokens(tokens, len(array) - self._offset, place)
                array = array[self._offset + rows]
            made[name] = _owned(array)
        return made

    @staticmethod
    def _check_tokens(tokens: int, most: int, place: str) -> None:
        if tokens > most:
            raise InputError(f"{place}: {tokens:,} tokens, where this model has {most:,} places")

    def _sinusoids(self) -> Matrix:
        """Return sinusoids for all positions: in each row the sines, and then the cosines."""
        count, width = self.places or 0, a_count("d_model", "n_embd")(self.config, 0)
        count += self._offset
        if count * width > MOST_SINUSOIDS:
            raise self.config.wrong("max_position_embeddings", count, "a smaller number")
        if self.family.sinusoids == FAIRSEQ:
            slower = np.arange(width // 2) / (width // 2 - 1)
            angles = np.outer(np.arange(count), 10_000.0**-slower)
            return np.hstack([np.sin(angles), np.cos(angles)])
        return _sines(count, width)

    def _gained(self, name: str, array: Any) -> Any:
        """Return a gain as used: some families store its difference from 1, or heads in rows."""
        if name.startswith(("gamma", "b_choice")) or getattr(array, "ndim", 1) == 0:
            array = array.reshape(-1)
        if self.family.gain_above and name.startswith("gamma"):
            return array + array.dtype.type(self.family.gain_above)
        return array

    def _tensor(self, name: str) -> Matrix:
        stored = self._stored(name)
        if not stored:
            raise self._is_not_there(name)
        array = self.weights[stored]
        scale = f"{stored.removesuffix('weight')}SCB"
        if self.is_in_8_bits and array.dtype == np.int8 and scale in self.weights:
            rows: Matrix = self.weights[scale].astype(np.float32)[:, None] / np.float32(127)
            return array * rows
        return self._checked(stored, array)

    def _stored(self, name: str) -> str:
        """Return the name of a tensor in the files, which may be old; or ""."""
        for new, old in (("", ""), *OLD_GAINS):
            if name.endswith(new) and (stored := name.removesuffix(new) + old) in self.weights:
                return stored
        return ""

    @property
    def _tables(self) -> list[str]:
        """The possible names of its table of tokens, the most specific first."""
        return [self.root + each for each in self.family.tokens.split()]

    def _one_of(self, names: Sequence[str]) -> str:
        """Return the first of these tensors that exists, or ""; note those with other numbers."""
        there = list(dict.fromkeys(filter(None, map(self._stored, names))))
        for other in there[1:]:
            pair = there[0], other
            if pair not in self._compared:
                self._compared[pair] = self.weights.are_equal(*pair)
            if not self._compared[pair]:
                self._notes.append(f"{whole(pair[0])} is read: {whole(other)} has other numbers")
        return there[0] if there else ""

    def _is_not_there(self, name: str) -> InputError:
        return InputError(f"{self.folder}: there is no {whole(name)} in it")

    def _checked(self, name: str, array: Matrix) -> Matrix:
        if array.dtype.kind != "f":
            raise InputError(
                f"{self.folder}: {whole(name)} is of {array.dtype}: quantized weights are not read"
            )
        return array

    def _check_places(self, fields: Fields, settings: Fields) -> int:
        """Return the width of a head; refuse weights that do not match the config's heads."""
        heads = settings["heads"]
        for name in ("W_Q", "W_K", "W_V"):
            if name not in fields or fields[name].ndim != 2:
                raise InputError(f"{self.folder}: there is no matrix in it that is {name}")
        width = fields["W_Q"].shape[0 if fields.get("weights_layout", OUT_IN) == OUT_IN else 1]
        for key in ("head_dim", "d_kv"):
            own = self.config.count_or_none(key)
            if any(map(self.config.says, ("per_layer_config", "global_head_dim"))):
                break  # layers differ in it
            if own is not None and own * heads != width and "W_DKV" not in fields:
                raise InputError(
                    f"{self.config.place}: {heads} heads, {quoted(key)} is {own}, and the queries "
                    f"are {width} wide: that is not {heads} × {own}"
                )
        if width % heads:
            raise InputError(
                f"{self.config.place}: {heads} heads, and queries of width {width}: {width} is not "
                f"divisible by {heads}"
            )
        return int(width // heads)


def _sines(count: int, width: int) -> Matrix:
    """Return sinusoids of so many positions: in each row the sines, and then the cosines."""
    found = Sinusoids().apply(np.zeros((count, width)))
    return np.hstack([found[:, ::2], found[:, 1::2]]).astype(np.float32)  # as it is kept


class _Read(dict[str, Matrix]):
    """The tensors of a model, each checked as it is read."""

    def __init__(self, model: Model) -> None:
        super().__init__()
        self._model = model

    def __getitem__(self, name: str) -> Matrix:
        if OF_EACH not in name:
            return self._model._tensor(name)
        start, _, _ = name.partition(OF_EACH)
        there = (each for each in self._model.weights if each.startswith(start))
        own = [each for each in there if EXPERT.sub(OF_EACH, each) == name]
        in_order = sorted(own, key=lambda each: int(EXPERT.findall(each)[0]))
        return np.stack([self._model._tensor(each) for each in in_order])


def _with_more(fields: Fields) -> Fields:
    """Return fields, with those that equations alone read under `more`."""
    found = dict(fields)
    if more := {n: found.pop(n) for n in fields if n not in KNOWN and n not in ("reach", "shares")}:
        found["more"] = more
    return found


def _owned(value: Any) -> Any:
    return Owned(value) if isinstance(value, np.ndarray) else value


def _alone(array: Matrix, axes: int) -> Matrix:
    """Return the only element of a batch."""
    return _alone(array[0], axes) if array.ndim > axes and len(array) == 1 else array


def _check_shape(array: Matrix, wanted: tuple[int, ...], place: str, axes: str) -> None:
    if array.shape != wanted:
        found, needed = (" × ".join(map(str, shape)) for shape in (array.shape, wanted))
        raise InputError(f"{place} is {found}: this model reads {needed}: {axes}")


def _flat(array: Matrix) -> Matrix:
    return array.reshape(-1, array.shape[-1])


def _where(family: Family, weights: Weights, folder: Path) -> tuple[str, list[str]]:
    """Return the prefix of all names of a model, and the prefixes of a layer after it."""
    for starts in (each.split(" ") for each in family.layers):
        first = starts[0].format(0, 0)
        places = ((name, f".{name}".find(f".{first}")) for name in weights)
        roots = [*dict.fromkeys(name[:at] for name, at in places if at >= 0)]
        if len(roots) > 1:
            own = [root for root in roots if family.tower and family.tower in root]
            tables = family.tokens.split()
            with_table = [r for r in roots if any(r + each in weights for each in tables)]
            others = (root for root in roots if root not in with_table)
            is_text = bool(family.tower) or all(map(BESIDE_TEXT.search, others))
            roots = own or (with_table if is_text else []) or roots
        roots = [root for root in roots if not root.endswith(LATER)] or roots
        if len(roots) > 1:
            said = " and ".join(whole(root + first) for root in roots)
            raise InputError(
                f"{folder}: layer 0 fits {len(roots)} places, {said}: keep one model in the folder"
            )
        if roots:
            return roots[0], starts
    wanted = " or ".join(each.split(" ")[0].format(0, 0) + "…" for each in family.layers)
    raise InputError(
        f"{folder}: its config is that of {family.title}, and no tensor is called {wanted}"
    )


def _known(config: Config, weights: Weights) -> list[Family]:
    """Return the rows of a model, one for each tower; an unknown one raises an error."""
    if not (families := families_of(config)):
        raise unknown(config, weights)
    all_names = "\n".join(weights)
    return [e for e in families if not config.says(e.inside) or e.tower in all_names] or families
