"""Generate tokens from a problem with token ids, or from the folder of a model."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from attncalc.api.models import Given, Opened, placed
from attncalc.api.studies import Study
from attncalc.base.arrays import Owned
from attncalc.base.errors import InputError
from attncalc.base.types import Matrix
from attncalc.languages.catalogue import ENGLISH
from attncalc.problem.fields import LAST
from attncalc.problem.problem import Problem
from attncalc.reading.models.gguf import ENDING as GGUF
from attncalc.reading.models.opening import Model
from attncalc.solving.limits import refuse_what_cannot_fit
from attncalc.solving.plan import plan
from attncalc.solving.solution import solve
from attncalc.studies import generate as generating
from attncalc.studies.generate import (
    NO_CACHE,
    USUAL,
    Cache,
    Ids,
    OfProblem,
    Settings,
    Source,
    as_past,
    grown,
    room,
)

BYTES = 4
"""Bytes of a weight: narrower types are converted."""


def generate(
    source: Any,
    count: int | None = None,
    *,
    tokens: Sequence[int] | None = None,
    text: str | None = None,
    decoder_tokens: Sequence[int] | None = None,
    spectrogram: Any = None,
    temperature: float | None = None,
    top_k: int | None = None,
    top_p: float | None = None,
    seed: int | None = None,
    beams: int = 1,
    length_penalty: float = 1.0,
    eos: int | Sequence[int] | None = None,
    family: Any = None,
) -> Study:
    """Generate tokens: greedily, at random, or by a beam search.

    Parameters
    ----------
    source
        A problem with `ids`, `W_E` and a head, or its file; or a model's folder, or a model of
        `transformers`.
    count
        The largest number of tokens; None for 20, or fewer if there are fewer positions.
    tokens, text, decoder_tokens, spectrogram
        The input of a model, as in `open_model`; for a problem, `tokens` replaces `ids`.
    temperature, top_k, top_p, seed
        With any of these, tokens are drawn: from the softmax of the logits divided by the
        temperature, restricted to the k most probable, and to the fewest of these whose
        probabilities sum to p. The seed is that of numpy's `default_rng`.
    beams, length_penalty
        The number of sequences of a beam search. The score of a finished one is the sum of its ln p
        divided by its number of new tokens to the power of the penalty.
    eos
        The token or tokens that end a sequence; None for those of the model, () for none.
    family
        As in `open_model`.

    Returns
    -------
    Study
        `study.found.tokens` are the new tokens, `study.found.steps` the candidates of each step.

    Raises
    ------
    InputError
        If there is no head for the next token, or a setting is impossible.

    Examples
    --------
    >>> from attncalc.problem.samples import sample
    >>> generate(sample("model").path, 2, tokens=[2, 4, 7]).found.tokens
    (10, 2)
    """
    given = Given(tokens, text, None, spectrogram, decoder_tokens, family=family)
    is_problem = isinstance(source, Problem)
    with nullcontext(source) if is_problem else placed(source, None) as place:
        made, end = source_of(place, given)
        if eos is not None:
            end = (eos,) if isinstance(eos, int) else tuple(eos)
        count = min(USUAL, max(room(made), 1)) if count is None else count
        chosen = Settings(count, temperature, top_k, top_p, seed, beams, length_penalty, end)
        return Study(generating.generate(made, chosen))


def is_model(source: str | Path) -> bool:
    """Return whether a source is the folder of a model, or its GGUF file, and not a problem."""
    return (Path(source) / "config.json").exists() or Path(source).suffix.lower() == GGUF


def source_of(
    source: Problem | str | Path, given: Given, *named: Mapping[str, str]
) -> tuple[Source, Ids]:
    """Return the generator for a problem or a model, and the tokens that end its sequences.

    Raises InputError when it does not give probabilities of a next token, or does not read that.

    source, given: the problem or the model's folder, and what it reads.
    *named: what is `said` and `needed` of what a model reads, as `Opened` takes them.
    """
    from attncalc.reading import read_problem

    if not isinstance(source, Problem) and is_model(source):
        opened = Opened(Path(source), _with_start(Path(source), given), *named)
        return _OfModel(opened), opened.model.said_of_tokens("eos_token_id")
    for name, value in given._asdict().items():
        if name != "tokens" and value is not None:
            raise InputError(f"{name} is for models: a problem takes tokens")
    problem = source if isinstance(source, Problem) else read_problem(source)
    return OfProblem(problem, given.tokens), ()


def _with_start(folder: Path, given: Given) -> Given:
    """Return the input with the start token of the decoder, for a model with an encoder."""
    model = Model(folder, family=given.family)
    if given.decoder_tokens is not None or model.decoder is None:
        return given
    start = model.said_of_tokens("decoder_start_token_id") or model.said_of_tokens("bos_token_id")
    if not start:
        raise InputError(f"{folder}: its config has no decoder_start_token_id: give decoder tokens")
    return given._replace(decoder_tokens=start[:1])


class _OfModel:
    """The logits of a model as a Source: layers are read once, keys and values are cached."""

    decimals = 4
    language = ENGLISH

    def __init__(self, opened: Opened) -> None:
        self._opened, model = opened, opened.model
        if model.head is None or model.has_classes or opened.is_masked:
            what = "no head that is known" if model.head is None else "a head of classes"
            what = "a head for masked tokens" if opened.is_masked else what
            raise InputError(
                f"{model.folder}: {model.family.title} has {what}: generating needs a head that "
                "gives probabilities of the next token"
            )
        if model.is_of_whole_sequence:
            raise InputError(
                f"{model.folder}: its layers read token ids, or keys of earlier layers: generating "
                "from such a model is not computed"
            )
        shapes = (model.weights.shape(name) for name in model.weights)
        sizes = {"the weights": BYTES * sum(map(prod, shapes))}
        refuse_what_cannot_fit(sizes, set(), "all layers are kept: open a smaller model")
        opened.take({})
        begun, _ = opened.begun(None)
        self._memory = {"X2": begun["X2"]} if "X2" in begun else {}
        self._layers = [opened.layer(model, each) for each in range(model.count)]
        end = model.end(self._layers[-1]["weights_layout"])
        self._layers[-1] = {**self._layers[-1], **end, "read": "last"}
        self.prompt: Ids = tuple(opened.asks)
        self.places = model.places
        self.title = f"{model.family.title} ({model.folder.name})"
        self._is_cached = not any("equations" in each for each in self._layers)
        self.remarks: tuple[str, ...] = (*opened.remarks, *(() if self._is_cached else (NO_CACHE,)))

    def logits(self, ids: Ids, cache: Cache) -> tuple[Matrix, Cache]:
        past = next(iter(cache.values())).shape[1] if cache else 0
        tokens = self._opened.begin(ids)
        for name in {"X", "X1", "P", "P1"} & {*tokens}:
            each = tokens[name]
            tokens[name] = Owned((each.array if isinstance(each, Owned) else each)[past:])
        side, kept = "self." if self._memory else "", dict[str, Matrix]()
        for number, layer in enumerate(self._layers, start=1):
            start = f"{number}."
            own = {name: each for name, each in cache.items() if name.startswith(start)}
            past = {n.rpartition(".")[2]: np.asarray(each) for n, each in as_past(own).items()}
            with_past = {**layer.get("self", layer), **past}
            given = {**layer, "self": with_past} if "self" in layer else with_past
            problem = Problem(**given, **tokens, **self._memory)
            last = LAST if number < len(self._layers) else plan(problem)[-2].name
            names = [f"{side}K", f"{side}V"] if self._is_cached else []
            solution = solve(problem, keep=(last, *names), proves=False)
            kept |= grown(own, solution.floats, names, start)
            tokens = {"X1" if self._memory else "X": Owned(solution[last])}
        return solution[last].reshape(-1).astype(float), kept

    def names(self, ids: Sequence[int]) -> list[str]:
        return self._opened.named(ids)

    def text(self, ids: Sequence[int]) -> str:
        return self._opened.text(ids)
