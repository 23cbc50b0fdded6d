"""The call that opens a model's folder: its tokens run through its layers, up to one of them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from attncalc.errors import InputError
from attncalc.numbers.arrays import as_array
from attncalc.numbers.types import Matrix
from attncalc.operations.step import Report
from attncalc.problem.problem import Problem
from attncalc.reading.cells import Faults
from attncalc.reading.files import read_bytes
from attncalc.reading.models.opening import MASKED, Model
from attncalc.reading.models.tokens import ids_of, masked_of, words_of
from attncalc.reading.npz_file import read_npy_matrix
from attncalc.solving.stack import through

Fields = dict[str, Any]
NEEDED = {"tokens": "tokens or text", "image": "image", "spectrogram": "spectrogram"}
"""What is to be given, by what a model reads."""


def open_model(
    folder: str | Path,
    *,
    tokens: Sequence[int] | None = None,
    text: str | None = None,
    image: Any = None,
    spectrogram: Any = None,
    decoder_tokens: Sequence[int] | None = None,
    layer: int | None = None,
    report: Report | None = None,
    **conventions: Any,
) -> Problem:
    """Open a model's folder, run what is given through its layers, and return one as a problem.

    Parameters
    ----------
    folder
        What holds config.json, and model.safetensors or shards with their index. Nothing of it is
        run, and of its tensors those are read that the layers up to this one need.
    tokens
        Token ids, (n,), counted from 0.
    text
        A text in their place, by the folder's tokenizer.json (`pip install 'attncalc[models]'`).
    image
        What a ViT reads, (channels, rows, columns), scaled as its processor scales it; or the name
        of an `.npy` file that holds it.
    spectrogram
        What Whisper reads, (bands, frames), as its feature extractor gives it; or such a file.
    decoder_tokens
        Token ids, (n,), that the decoder of a model with an encoder reads: then a layer of the
        decoder is returned. Without them, one of the encoder.
    layer
        Which layer, from 0, as files count; None for the last one, with what stands behind it and
        the head, where there is one.
    report
        Called with the number of layers that are done, and of all.
    **conventions
        Settings of `Problem` in place of the model's, `title` and `labels` among them.

    Returns
    -------
    Problem
        The layer, with the tokens that reach it, to be solved, changed, drawn or handed out.

    Raises
    ------
    InputError
        When it is no such folder, or of no family that is known; when a tensor, or a value of its
        config, is missing or not what it should be; when it does not read what is given.

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
    given = Given(tokens, text, image, spectrogram, decoder_tokens)
    opened = Opened(Path(folder), given)
    told = None if report is None else _of(opened.runs_to(layer), report)
    return opened.problem(layer, conventions, told)


class Given(NamedTuple):
    """What a model is given to read: one of the first four, and what its decoder reads.

    Parameters
    ----------
    tokens, text, image, spectrogram, decoder_tokens
        As `open_model` takes them.
    """

    tokens: Sequence[int] | None = None
    text: str | None = None
    image: Any = None
    spectrogram: Any = None
    decoder_tokens: Sequence[int] | None = None

    @property
    def what(self) -> str:
        """Which of the first four it is; "" for none.

        Raises
        ------
        InputError
            When it is more than one.
        """
        names = [name for name in self._fields[:4] if getattr(self, name) is not None]
        if len(names) > 1:
            raise InputError(f"{names[0]} and {names[1]} together: give one of them")
        return names[0] if names else ""


class Opened:
    """A model with what it is given to read.

    Parameters
    ----------
    folder
        Where it is.
    given
        What it reads.
    said
        What the names of `Given` are called where they were given, for messages.
    needed
        What is to be given, by what a model reads.

    Raises
    ------
    InputError
        When it is no model that is known, or does not read that.
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
        self._first = Model(folder)
        decoder = self._first.decoder
        if given.decoder_tokens is not None and decoder is None:
            raise InputError(
                f"{folder}: {self._first.family.title} has no decoder beside an encoder: leave "
                f"{self._said['decoder_tokens']} out"
            )
        self._check_reads(folder)
        is_decoding = given.decoder_tokens is not None and decoder is not None
        self.model: Model = decoder if is_decoding and decoder else self._first
        """The part of it that is shown: the decoder where it is given tokens."""
        self.ids: list[int] = self._ids()
        self.words: list[str] = words_of(folder, self.ids) if self.ids else []

    def _check_reads(self, folder: Path) -> None:
        """Refuse what this model does not read."""
        takes = self._first.takes
        if (self._what if self._what != "text" else "tokens") == takes:
            return
        needs = "reads something else" if self._what else "needs something to read"
        title = self._first.family.title
        raise InputError(f"{folder}: {title} {needs}: {self._needed[takes]}")

    def _ids(self) -> list[int]:
        """Return the tokens that are read first: none of an image or a spectrogram."""
        if self._what == "tokens":
            return _whole_numbers(self._said["tokens"], self._given.tokens)
        if self._what == "text":
            return ids_of(self._first.folder, str(self._given.text))
        return []

    @property
    def asks(self) -> list[int]:
        """The tokens of which the next is asked, or that are masked: of a decoder its own."""
        if self._given.decoder_tokens is None:
            return self.ids
        return _whole_numbers(self._said["decoder_tokens"], self._given.decoder_tokens)

    def runs_to(self, layer: int | None) -> int:
        """Return how many layers are run."""
        own = self.model.count if layer is None else layer + 1
        return own + (self._first.count if self.model is not self._first else 0)

    def problem(
        self, layer: int | None, said: Fields, told: Callable[[int], None] | None = None
    ) -> Problem:
        """Return the problem of a layer; of the last one with the head, where none is named.

        Parameters
        ----------
        layer
            Which, from 0.
        said
            Fields that are said, in place of the model's.
        told
            Called with the number of each layer that is done, from 1.
        """
        number = self.model.count - 1 if layer is None else layer
        begun, labels = self._begun(told)
        done = 0 if self.model is self._first else self._first.count
        later = None if told is None else lambda each: told(done + each)
        own = self.model.layer(number)
        tokens = self._through(self.model, begun, number, later)
        end = self.model.end(own["weights_layout"]) if layer is None else {}
        if "image" in begun:  # beside its first part a class token has a name that no other has
            labels = [*Problem(**(self.model.layer(0) | begun)).queries] if number else None
        title = self.model.family.title
        if self._first.family.decoder is not None:
            title = f"{title}, {'encoder' if self.model is self._first else 'decoder'}"
        what = "what comes next" if layer is None else f"layer {number}"
        own |= {"title": f"{title}, {what} ({self.model.folder.name})", "labels": labels}
        return Problem(**(own | tokens | end | {"remarks": self.remarks} | said))

    @property
    def remarks(self) -> tuple[str, ...]:
        """What is to be said of what was read."""
        both = (*self._first.remarks, *self.model.remarks)
        return tuple(dict.fromkeys(both))

    def place_of_mask(self) -> int | None:
        """Return where the token stands that is masked, from 0; None where nothing tells it."""
        mask = masked_of(self.model.folder)
        places = [place for place, each in enumerate(self.asks) if each == mask]
        return places[0] if len(places) == 1 else None

    @property
    def is_masked(self) -> bool:
        """Whether its head tells what is masked, and not what comes next."""
        return self.model.family.reads == MASKED

    def _begun(self, told: Callable[[int], None] | None) -> tuple[Fields, Any]:
        """Return what the first layer that is shown reads, and what its tokens are called."""
        begun, labels = self._read(), list(self.words) or None
        if self.model is self._first:
            return begun, labels
        memory = self._through(self._first, begun, self._first.count, told)["X"]
        asked = self.asks
        own = self.model.begin(asked, self._said["decoder_tokens"])
        own = {{"X": "X1", "P": "P1"}.get(name, name): each for name, each in own.items()}
        names: dict[str, Any] = {"X1": words_of(self.model.folder, asked)}
        return {**own, "X2": memory}, names | ({"X2": labels} if labels else {})

    def _read(self) -> Fields:
        """Return what the first layer of all reads."""
        name = self._said[self._what]
        if self._what == "image":
            return self._first.begin_image(_array("image", self._given.image), name)
        if self._what == "spectrogram":
            frames = _array("spectrogram", self._given.spectrogram)
            return self._first.begin_spectrogram(frames, name)
        return self._first.begin(self.ids, name)

    def _through(
        self, model: Model, begun: Fields, count: int, told: Callable[[int], None] | None
    ) -> Fields:
        """Return what so many layers make of what was begun, and of what is read beside it."""
        return through(begun, (_whole(model, each) for each in range(count)), told)


def _whole(model: Model, number: int) -> Fields:
    """Return a layer of an encoder, its last one with what stands behind it."""
    layer = model.layer(number)
    is_last = model.family.decoder is not None and number == model.count - 1
    return layer | (model.end(layer["weights_layout"]) if is_last else {})


def _array(name: str, given: Any) -> Matrix:
    """Return an array that is given, or that is in a file."""
    if isinstance(given, str | Path):
        return read_npy_matrix(name, read_bytes(Path(given)), Faults(str(given)))
    return as_array(given)


def _whole_numbers(name: str, given: Iterable[Any] | None) -> list[int]:
    """Return token ids.

    Raises
    ------
    InputError
        When it is no list of whole numbers, or an empty one.
    """
    array = as_array(list(given or ()))
    if array.ndim != 1 or not array.size or array.dtype.kind not in "iu":
        raise InputError(f"{name} takes a list of token ids: whole numbers, as [3, 7]")
    return [int(each) for each in array]


def _of(count: int, report: Report) -> Callable[[int], None]:
    """Return what tells how many of so many layers are done."""
    return lambda done: report(done, count)
