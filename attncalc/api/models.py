"""The function that opens a model: it runs tokens through its layers, up to a given layer."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from attncalc.base.arrays import Owned, as_array
from attncalc.base.errors import InputError
from attncalc.base.types import Matrix
from attncalc.problem.arrangement import OF_ALL
from attncalc.problem.attention.attention import size_of
from attncalc.problem.attention.declared import AttentionFields
from attncalc.problem.field import Setting, declared
from attncalc.problem.fields import (
    LAST,
    FeedForwardFields,
    LayerFields,
    NormalisationFields,
)
from attncalc.problem.problem import Problem
from attncalc.problem.step import Plan, Report
from attncalc.reading.cells import Faults
from attncalc.reading.files import read_bytes
from attncalc.reading.models.family import MASKED
from attncalc.reading.models.opening import Model
from attncalc.reading.models.tokens import ids_of, masked_of, text_of, words_of
from attncalc.reading.names import unknown
from attncalc.reading.npz_file import load_arrays, read_npy_matrix
from attncalc.solving.plan import plan
from attncalc.solving.stack import read_after, through

Fields = dict[str, Any]
MASKS = ("keep", "ignore", "bias")
_OF_FILES = ("block", "layout", "weights_layout")
_PARTS = (AttentionFields, FeedForwardFields, LayerFields, NormalisationFields)
_OF_LAYERS = {name for owner in _PARTS for name in declared(owner, Setting)} - {*OF_ALL}
"""The settings that apply to every layer."""
NEEDED = {"tokens": "tokens or text", "image": "image", "spectrogram": "spectrogram"}
"""The required input, by the kind of model."""


def open_model(
    folder: Any,
    *,
    tokens: Sequence[int] | None = None,
    text: str | None = None,
    image: Any = None,
    spectrogram: Any = None,
    decoder_tokens: Sequence[int] | None = None,
    type_ids: Sequence[int] | None = None,
    decoder_ignore: Any = None,
    layer: int | None = None,
    report: Report | None = None,
    config: Any = None,
    family: Any = None,
    **conventions: Any,
) -> Problem:
    """Open the folder of a model, run its layers on an input, and return one as a problem.

    Parameters
    ----------
    folder
        The folder with config.json, and model.safetensors or shards with their index. Its code is
        never executed, and only the tensors of the layers up to this one are read. Or a model of
        `transformers`, or a state dict with its `config`: these are written to a temporary folder.
    tokens
        Token ids, (n,), or of a batch of one, (1, n), counted from 0.
    text
        A text instead of tokens, for the folder's tokenizer.json (`pip install
        'attncalc[models]'`).
    image
        The input of a ViT, (channels, rows, columns), scaled as by its processor; or an `.npy`
        file.
    spectrogram
        Of Whisper, (bands, frames) from its feature extractor; of wav2vec 2.0, (features, frames),
        the output of its module `feature_extractor`: a column for each frame. Or an `.npy` file.
    decoder_tokens
        Token ids, (n,), of the decoder in a model with an encoder: then a layer of the decoder is
        returned, otherwise one of the encoder.
    type_ids
        The type of each token, (n,), counted from 0, for a model with types such as BERT; by
        default 0.
    decoder_ignore
        The padding mask of `decoder_tokens`, (n,): 1 where a token is padding.
    layer
        The layer, counted from 0 as in the files; None for the last one, with the final
        normalization and the head, if there is one.
    report
        Called with the number of finished layers, and of all.
    config
        The config of a state dict: a mapping, or an object with `to_dict`.
    family
        A JSON file that describes the family of the model, or its content as a mapping
        (docs/models.md); None for the family.json of the folder, or for a known family.
    **conventions
        Fields of `Problem` in place of the model's. The masks `ignore`, `keep` and `bias`, and
        settings of a layer, such as `softcap`, apply to all layers up to the returned one; with
        `decoder_tokens`, a mask is one row, for the tokens of the encoder. Other fields, such as
        `decimals`, `title` and `labels`, apply only to the returned problem.

    Returns
    -------
    Problem
        The layer with its input. A head that predicts the next token reads the last one; if that
        is padding, it reads all, and a remark names the row of `logits` that counts.

    Raises
    ------
    InputError
        If it is not the folder of a supported model; if a tensor or a value of its config is
        missing or invalid; or if the input does not fit the model.

    Notes
    -----
    Families and their sources are listed in docs/models.md.

    Examples
    --------
    >>> from attncalc import solve
    >>> from attncalc.problem.samples import sample
    >>> solve(open_model(sample("model").path, tokens=[2, 4, 7], layer=0))["A"].shape
    (2, 3, 3)
    """
    given = Given(
        tokens, text, image, spectrogram, decoder_tokens, type_ids, decoder_ignore, family
    )
    if not isinstance(layer, int | np.integer | None):
        raise InputError(f"layer is {layer!r:.40}, where a whole number from 0 is needed, or None")
    with placed(folder, config) as place:
        opened = Opened(place, given)
        return opened.problem(layer, conventions, opened.telling(report, layer))


def placed(model: Any, config: Any) -> AbstractContextManager[Path]:
    """Return the folder of a model: its own, or a temporary one for a model in memory.

    model, config: as in `open_model`.
    """
    if not isinstance(model, str | Path):
        from attncalc.api.objects import unwrapped
        from attncalc.api.saving import saved

        return saved(unwrapped(model), config)
    if config is not None:
        raise InputError("config is for a state dict: a folder has its own")
    return nullcontext(Path(model))


class Given(NamedTuple):
    """The input of a model: one of the first four, additional arrays, and its family.

    tokens, text, image, spectrogram, decoder_tokens, type_ids, decoder_ignore, family: as in
        `open_model`.
    """

    tokens: Sequence[int] | None = None
    text: str | None = None
    image: Any = None
    spectrogram: Any = None
    decoder_tokens: Sequence[int] | None = None
    type_ids: Sequence[int] | None = None
    decoder_ignore: Any = None
    family: Any = None

    @property
    def what(self) -> str:
        """The name of the given one of the first four; "" for none."""
        names = [name for name in self._fields[:4] if getattr(self, name) is not None]
        if len(names) > 1:
            raise InputError(f"{names[0]} and {names[1]} together: pass only one")
        return names[0] if names else ""


class Opened:
    """A model with its input.

    Raises InputError if the model is not supported, or does not read the input.

    said: the names of the fields of `Given` for the user, for messages.
    needed: the required input, by the kind of model.
    """

    def __init__(
        self,
        folder: Path,
        given: Given,
        said: Mapping[str, str] = MappingProxyType({}),
        needed: Mapping[str, str] = MappingProxyType(NEEDED),
    ) -> None:
        self._given, self._what, self._needed = given, given.what, needed
        self._said = {name: said.get(name, name) for name in Given._fields}
        takes = "tokens" if self._what == "text" else self._what
        self._first = Model(folder, takes, given.family)
        decoder = None if given.decoder_tokens is None else self._first.decoder
        if given.decoder_tokens is not None and decoder is None:
            raise InputError(
                f"{folder}: {self._first.family.title} has no decoder besides an encoder: omit "
                f"{self._said['decoder_tokens']}"
            )
        if given.decoder_ignore is not None and decoder is None:
            name, other = self._said["decoder_ignore"], self._said["decoder_tokens"]
            raise InputError(f"{name} is about {other}, which is missing")
        self._check_reads(folder)
        self.model: Model = decoder or self._first
        """The shown part: the decoder, if it has tokens."""
        self.holds: Any = None
        """What exists as long as this does, such as a temporary folder."""
        self._told: list[str] = []
        self._remarks: list[str] = []
        self._begun: Fields = {}
        self._inputs: dict[int, Any] = {}
        self._labels: Any = None
        self._stored: Matrix | None = None
        self.first = self._frames = 0
        self.ids: list[int] = self._ids()
        self.words: list[str] = self.named(self.ids) if self.ids else []
        self._first.tokens, self.model.tokens = len(self.ids), len(self.asks)

    def named(self, ids: Sequence[int]) -> list[str]:
        """Return the names of tokens."""
        return words_of(self._first.folder, ids, self._told.append)

    def text(self, ids: Sequence[int]) -> str:
        """Return the text of tokens; their ids if no tokenizer can be used."""
        return text_of(self._first.folder, ids)

    def _check_reads(self, folder: Path) -> None:
        takes = self._first.family.takes
        needs_one = " or ".join(self._needed[each.takes] for each in self._first.towers)
        if (self._what if self._what != "text" else "tokens") == takes:
            return
        needs = "takes another input" if self._what else "needs an input"
        title = self._first.family.title
        raise InputError(f"{folder}: {title} {needs}: {needs_one}")

    def _ids(self) -> list[int]:
        """Return the tokens of the first part; [] for an image or a spectrogram."""
        if self._what == "tokens":
            return _whole_numbers(self._said["tokens"], self._given.tokens)
        if self._what == "text":
            return ids_of(self._first.folder, str(self._given.text))
        return []

    @property
    def asks(self) -> list[int]:
        """The tokens for which the next or the masked token is predicted: in a decoder its own."""
        if self._given.decoder_tokens is None:
            return self.ids
        return _whole_numbers(self._said["decoder_tokens"], self._given.decoder_tokens)

    def telling(self, report: Report | None, layer: int | None) -> Callable[[int], None] | None:
        """Return what is called with the number of each finished layer, up to this one."""
        own = self.model.count if layer is None else layer + 1
        count = own + (self._first.count if self.model is not self._first else 0)
        return None if report is None else lambda done: report(done, count)

    def problem(
        self, layer: int | None, said: Fields, told: Callable[[int], None] | None = None
    ) -> Problem:
        """Return the problem of a layer; the default is the last one, with the head.

        said: fields that replace the model's, as in `open_model`.
        told: called with the number of each finished layer, from 1.
        """
        number = self.model.count - 1 if layer is None else layer
        self.model.check_number(number)
        done = 0 if self.model is self._first else self._first.count
        later = None if told is None else lambda each: told(done + each)
        tokens = self.start(said, told)
        tokens = self._through(self.model, tokens, (self.first, number), later)
        return self.at(number, tokens, ends=layer is None)

    def start(self, said: Fields, told: Callable[[int], None] | None = None) -> Fields:
        """Return what the first layer reads, or the one after stored outputs: `first`.

        said, told: as in `problem`.
        """
        self.take(said)
        self._inputs.clear()
        self._begun, labels = self.begun(told)
        labels = self._begun.pop("labels", labels)
        if "image" in self._begun:  # with a first part, the class token has a unique name
            labels = [*Problem(**(self.model.layer(0) | self._begun)).queries]
        self._labels = labels
        return self._begun if self._stored is None else self.after(self._stored)

    def after(self, made: Matrix) -> Fields:
        """Return what a layer reads after the outputs of another."""
        return read_after(self._begun, made)

    def at(self, number: int, tokens: Fields, *, ends: bool = False) -> Problem:
        """Return the problem of a layer that reads these tokens; the last may have the head."""
        own = self.layer(self.model, number, self._with_input(self.model, number, tokens))
        end = self.model.end(own["weights_layout"]) if ends else {}
        self._remark_on_padding(end)
        title = self.model.family.title
        if self._first.family.decoder is not None:
            title = f"{title}, {'encoder' if self.model is self._first else 'decoder'}"
        what = f"layer {number}"
        if ends and self.model.head is not None:
            what = "classes" if self.model.has_classes else "what comes next"
            what = "pooled output" if self.model.is_pooled else what
        labels = None if "image" in tokens else self._labels
        own |= {"title": f"{title}, {what} ({self.model.folder.name})", "labels": labels}
        return Problem(**(_ended(own | tokens, end) | {"remarks": self.remarks} | self._alone))

    def tail(self, tokens: Fields) -> tuple[Plan, dict[str, Matrix], str]:
        """Return the steps after the last layer, the matrices they read, and the layer's output.

        Raises InputError if the model has no head.

        tokens: what any layer reads, for the sizes.
        """
        if self.model.head is None:
            raise InputError(f"{self.model.folder}: this model has no known head, so no logits")
        last = self.model.count - 1
        own = self.layer(self.model, last, dict.fromkeys(range(last), tokens.get("X")))
        end = self.model.end(own["weights_layout"])
        if not self.model.has_classes:
            end["read"] = "all"
        inside = len(plan(Problem(**(own | tokens))))
        ended = Problem(**_ended(own | tokens, end))
        steps = plan(ended)[inside:]
        read = {name for step in steps for name in step.inputs}
        held = {name: each for name, each in ended.given.items() if name in read}
        return steps, held, plan(ended)[inside - 1].name

    def resume(self, place: Path, layer: int | None, said: Fields) -> None:
        """Continue after the outputs of a layer in a file: of all layers, or of one.

        Raises InputError if the file has no such outputs, or those of another model or input.

        place: the `.npz` file.
        layer: the layer to compute; None for the last. Of all layers, the last before it is used.
        said: as in `problem`.
        """
        self.take(said)
        arrays = arrays_in(place)
        wanted = self.model.count - 1 if layer is None else layer
        pairs = (name.partition(f".{LAST}") for name in arrays)
        numbers = [int(n) for n, own, end in pairs if own and not end and n.isdecimal()]
        number = max((n for n in numbers if n < wanted), default=None)
        if LAST in arrays:
            number = self.layer_of(arrays)
        if number is None or number >= wanted:
            raise InputError(
                f"{place}: it has no outputs {LAST} of a layer of this model before layer "
                f"{wanted}: --layer all --only {LAST} -o writes those of all layers"
            )
        other, unstated = self.unlike(arrays, None if LAST not in arrays else number)
        rows = arrays[LAST if LAST in arrays else f"{number}.{LAST}"]
        if rows.ndim != 2 or (self.asks and len(rows) != len(self.asks)):
            other = other or "other tokens"
        if other:
            raise InputError(f"{place}: it has the outputs of {other}")
        if unstated:
            self._told.append(f"{place.name} does not state its {unstated}: taken to be this one")
        self._stored, self.first = rows, number + 1

    def unlike(self, arrays: Mapping[str, Matrix], layer: int | None) -> tuple[str, str]:
        """Return how the model or the input of a file differs from this, and what it does not say.

        arrays: those of the file.
        layer: the layer whose weights are in it; None for none.
        """
        has_weights = any(name.startswith("W_") for name in arrays)
        if (layer is None and has_weights) or self._differs(arrays, "model", self.fingerprint):
            return "another model", ""
        words = arrays.get("labels")
        others = words is not None and self.words and [*map(str, words)] != self.words
        ids = arrays.get("ids")
        if others or (ids is not None and self.asks and ids.ravel().tolist() != self.asks):
            said = "" if ids is None else f" ({', '.join(map(str, ids.ravel().tolist()))})"
            return f"other tokens{said}", ""
        is_masked = layer is not None and ("ignore" in arrays) != ("ignore" in self._masks)
        if is_masked or self._differs(arrays, "input", self.input):
            return "another input (tokens of an encoder, masks, settings)", ""
        unstated = [] if has_weights or "model" in arrays else ["model"]
        unstated += [] if {"input", "ids", "labels"} & {*arrays} else ["input"]
        return "", " and its ".join(unstated)

    @staticmethod
    def _differs(arrays: Mapping[str, Matrix], name: str, own: bytes) -> bool:
        return name in arrays and arrays[name].tobytes() != own

    @property
    def fingerprint(self) -> bytes:
        """What tells the model from others; with a decoder, both parts."""
        return b"".join(each.fingerprint for each in dict.fromkeys((self._first, self.model)))

    @property
    def input(self) -> bytes:
        """What tells its input from others, with masks and settings of all layers."""
        given = self._given
        arrays = {"image": given.image, "spectrogram": given.spectrogram, **self._masks}
        arrays = {name: each for name, each in arrays.items() if each is not None}
        numbers = self.ids, self.asks, self._types() or [0] * len(self.ids), self._settings
        found = hashlib.sha256(repr((numbers, [*map(bool, self._is_padding)])).encode())
        for name, each in sorted(arrays.items()):
            found.update(name.encode() + np.asarray(_array(name, each), float).tobytes())
        return found.digest()

    def layer_of(self, arrays: Mapping[str, Matrix]) -> int | None:
        """Return the number of the layer that has the weights in a file; None if none has."""
        for number in range(self.model.count):
            own = {n: m.array if isinstance(m, Owned) else m
                   for n, m in self.model.layer(number).items()}  # fmt: skip
            shared = [n for n, each in own.items() if isinstance(each, np.ndarray) and n in arrays]
            if shared and all(np.array_equal(own[n].ravel(), arrays[n].ravel()) for n in shared):
                return number
        return None

    def take(self, said: Fields) -> None:
        """Separate the fields that apply to every layer from those of the returned problem."""
        self._remarks.clear()
        for name in said:
            if name in _OF_FILES:
                raise InputError(f"{name} comes from the model's files: omit it")
            if name not in Problem.__dataclass_fields__:
                known = (*Given._fields, "layer", *Problem.__dataclass_fields__)
                raise InputError(unknown(name, known))
        self._masks = {name: as_array(said[name]) for name in MASKS if said.get(name) is not None}
        self._settings = {name: each for name, each in said.items() if name in _OF_LAYERS}
        everywhere = {*self._masks, *self._settings}
        self._alone = {name: each for name, each in said.items() if name not in everywhere}
        self._check_padding()
        for name, mask in self._masks.items():
            if self.model is not self._first and _row_of(mask) is None:
                raise InputError(
                    f"{name} is {size_of(mask)}: with {self._said['decoder_tokens']} a mask is one "
                    "row, a number for each token of the encoder"
                )

    def layer(
        self, model: Model, number: int, inputs: Mapping[int, Any] = MappingProxyType({})
    ) -> Fields:
        """Return the fields of a layer, with the masks and settings that apply to all layers.

        In a decoder, masks are for the tokens of the encoder.

        inputs: those of the earlier layers, which it may read, too.

        Raises InputError if it reads the input of an earlier layer that was not run.
        """
        layer = model.layer(number)
        if (shared := layer.pop("shares", None)) is not None:
            if shared not in inputs:
                raise InputError(
                    f"{model.folder}: layer {number} has the keys and values of layer {shared}, "
                    "whose input is unknown here: run all layers from the first"
                )
            layer["more"] = {**layer["more"], "X_kv": inputs[shared]}
        if model is self._first:
            near = self._near(layer.pop("reach", None))
            return layer | self._settings | self._masks_of(number) | near
        own = self._given.decoder_ignore
        of_own = {} if own is None else {"ignore": own}
        sides = {"self": layer["self"] | of_own, "cross": layer["cross"] | self._masks}
        return layer | self._settings | sides

    def _masks_of(self, number: int) -> Fields:
        """Return the masks of a layer: one that mixes tokens in order needs none for the last."""
        family, config = self._first.family, self._first.config
        mixes = family.of("mixing", config, number) and not family.of("attends", config, number)
        masks = self._masks.items()
        return {n: m for n, m in masks if not mixes or n == "bias" or _row_of(m) is None}

    def _check_padding(self) -> None:
        """Refuse padding before tokens for a model that begins more than attention after it."""
        padded, begins = self._is_padding_of_first, self._first.begins_after_padding
        if begins and padded != sorted(padded):
            raise InputError(
                f"{self._first.folder}: of {self._first.family.title}, {begins} begin after "
                "padding, which is not computed: leave padding before tokens out"
            )

    def _with_input(self, model: Model, number: int, tokens: Fields) -> Mapping[int, Any]:
        """Return the inputs of layers, with this one, if later layers read their keys."""
        if model.shares_keys:
            self._inputs[number] = tokens["X"]
        return self._inputs

    def _near(self, reach: int | None) -> Fields:
        """Return the mask of a layer whose queries attend to keys this far before and after."""
        if reach is None:
            return {}
        places = np.arange(len(self.ids))
        keep = np.abs(places[:, None] - places) <= reach
        self._remarks.append(f"in local layers, keep allows keys at most {reach} positions away")
        if (given := self._masks.get("keep")) is not None:
            keep = keep & (given != 0)
        return {"keep": keep & (self._masks.get("ignore", 0) == np.array(0))}

    @property
    def _is_padding(self) -> list[bool]:
        """Whether each token of the shown part is padding."""
        own = self._given.decoder_ignore
        if self.model is self._first:
            return self._is_padding_of_first
        return _padding(self.asks, {} if own is None else {"ignore": as_array(own)})

    @property
    def _is_padding_of_first(self) -> list[bool]:
        return _padding(self.ids or range(self._frames), self._masks)

    @property
    def last(self) -> int:
        """The position of the last token that is not padding, from 0."""
        if (stop := self._stop) is not None:
            return stop
        pairs = zip(self.asks, self._is_padding, strict=True)
        read = [not (padded or self.model.is_padding(each)) for each, padded in pairs]
        return len(read) - 1 - read[::-1].index(True) if any(read) else len(read) - 1

    @property
    def _stop(self) -> int | None:
        """The position of the token at the end of the text, if the head reads it, from 0."""
        stop = self.model.stop_of(self.ids)
        if stop is not None and len(self.asks) != len(self.ids):
            raise InputError(
                f"{self._said['decoder_tokens']}: {len(self.asks)} for {len(self.ids)} of the "
                "encoder: the head reads the token where the text of the encoder ends: pass as many"
            )
        return stop

    def _remark_on_padding(self, end: Fields) -> None:
        """Add remarks on padding: the token that the head reads, and the positions of tokens."""
        if end.get("read") == "mean" and any(self._is_padding):
            raise InputError(
                f"{self.model.folder}: its head averages all tokens that are not padding, which no "
                "field states: leave padding out, or show a layer"
            )
        reads_last = end.get("read") == "last" and "read" not in self._alone
        if reads_last and self.last < len(self.asks) - 1:
            end["read"] = "all"
            which = "ends the text" if self._stop is not None else "is the last that is not padding"
            self._remarks.append(
                f"token {self.last + 1} {which}: the model uses only its row of the head's outputs"
            )
        read = [(self._is_padding_of_first, self._first), (self._is_padding, self.model)]
        counted = [padded for padded, of in read if of.family.places and not of.family.skips]
        if any(padded != sorted(padded) for padded in counted):
            self._remarks.append("positions count all tokens, including padding")

    @property
    def remarks(self) -> tuple[str, ...]:
        """Remarks on the files that were read."""
        both = (*self._first.remarks, *self.model.remarks, *self._remarks, *self._told)
        return tuple(dict.fromkeys(both))

    def place_of_mask(self) -> int | None:
        """Return the position of the masked token, from 0; None if it is unknown."""
        mask = masked_of(self.model.folder)
        places = [place for place, each in enumerate(self.asks) if each == mask]
        return places[0] if len(places) == 1 else None

    @property
    def is_masked(self) -> bool:
        """Whether its head predicts a masked token, and not the next one."""
        return self.model.head is not None and self.model.head.gives == MASKED

    def begun(self, told: Callable[[int], None] | None) -> tuple[Fields, Any]:
        """Return the input of the first shown layer, and the names of its tokens."""
        begun, labels = self._read(), list(self.words) or None
        if self.model is self._first:
            return begun, labels
        memory = self._through(self._first, begun, (0, self._first.count), told)["X"]
        names: dict[str, Any] = {"X1": self.named(self.asks)}
        return {**self.begin(self.asks), "X2": memory}, names | ({"X2": labels} if labels else {})

    def begin(self, ids: Sequence[int]) -> Fields:
        """Return the fields before the first shown layer, for these tokens."""
        if self.model is self._first:
            return self.model.begin(ids, self._said[self._what], None, self._is_padding_of_first)
        own = self.model.begin(ids, self._said["decoder_tokens"])
        return {{"X": "X1", "P": "P1"}.get(name, name): each for name, each in own.items()}

    def _read(self) -> Fields:
        name = self._said[self._what]
        if self._what == "image":
            return self._first.begin_image(_array("image", self._given.image), name)
        if self._what == "spectrogram":
            frames = _array("spectrogram", self._given.spectrogram)
            self._frames = frames.shape[-1] if frames.ndim else 0
            return self._first.begin_spectrogram(frames, name, self._is_padding_of_first)
        return self._first.begin(self.ids, name, self._types(), self._is_padding_of_first)

    def _types(self) -> list[int] | None:
        if self._given.type_ids is None:
            return None
        name = self._said["type_ids"]
        types = _whole_numbers(name, self._given.type_ids)
        family = self._first.family
        if "W_type" not in family.present(self._first.config, family.begins):
            title = family.title
            raise InputError(f"{name}: {title} has no token types: omit it")
        if len(types) != len(self.ids):
            raise InputError(
                f"{name}: {len(types)} for {len(self.ids)} tokens: pass one for each token"
            )
        return types

    def _through(
        self,
        model: Model,
        begun: Fields,
        numbers: tuple[int, int],
        told: Callable[[int], None] | None,
    ) -> Fields:
        """Return the output of some layers: from the first number up to the second."""
        return through(begun, (partial(self._whole, model, n) for n in range(*numbers)), told)

    def _whole(self, model: Model, number: int, tokens: Fields) -> Fields:
        """Return a layer; the last one of an encoder with the normalization after it."""
        is_last = model.family.decoder is not None and number == model.count - 1
        own = self.layer(model, number, self._with_input(model, number, tokens))
        return own | (model.normalised() if is_last else {})


def _ended(layer: Fields, end: Fields) -> Fields:
    """Return the fields of a layer with those of a head; equations of both are kept.

    The outputs of the layer are R_2, or R_3 of three parts, if they are normalized after it.
    """
    own = layer.get("equations") or ()
    if "gamma_out" in end:
        last = "R_3" if "cross" in layer else "R_2"
        own = [f"{last}{each[1:]}" if each.startswith("Y[") else each for each in own]
    equations = [*own, *(end.get("equations") or ())]
    more = {**(layer.get("more") or {}), **(end.get("more") or {})}
    both = {name: each for name, each in (("equations", equations), ("more", more)) if each}
    return layer | end | both


def arrays_in(place: Path) -> Mapping[str, Matrix]:
    """Return the arrays of an `.npz` file by name."""
    arrays = load_arrays(read_bytes(place), Faults(str(place)))
    if isinstance(arrays, np.ndarray):
        raise InputError(f"{place}: one array, where arrays with names are needed: an .npz file")
    return arrays


def _padding(ids: Sequence[int], masks: Mapping[str, Matrix]) -> list[bool]:
    """Return whether each token is padding, by masks of one row."""
    padded = np.zeros(len(ids), bool)
    for name, mask in masks.items():
        row = None if name == "bias" else _row_of(mask)
        if row is not None and row.shape == padded.shape:
            padded |= (row != 0) == (name == "ignore")
    return [bool(each) for each in padded]


def _row_of(mask: Matrix) -> Matrix | None:
    """Return a mask of keys as one row; None if it has a row for each query."""
    if mask.ndim == 1:
        return mask
    return mask[0] if mask.ndim == 2 and len(mask) == 1 else None


def _array(name: str, given: Any) -> Matrix:
    if isinstance(given, str | Path):
        return read_npy_matrix(name, read_bytes(Path(given)), Faults(str(given)))
    return as_array(given)


def _whole_numbers(name: str, given: Any) -> list[int]:
    """Return token ids, also of a batch of one sequence.

    Raises InputError if it is not a list of whole numbers, or an empty one.
    """
    try:
        array = as_array(given if hasattr(given, "__array__") else list(given))
    except (TypeError, ValueError):  # a number, or lists that differ in length
        array = np.empty(0)
    if array.ndim == 2 and len(array) > 1:
        raise InputError(f"{name} is a batch of {len(array)}: pass one sequence of it, as [3, 7]")
    ids = array[0] if array.ndim == 2 and array.size else array
    if ids.ndim != 1 or not ids.size or ids.dtype.kind not in "iu":
        raise InputError(f"{name} takes a list of token ids: whole numbers, as [3, 7]")
    return [int(each) for each in ids]
