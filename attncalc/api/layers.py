"""All layers of a model in one run, in Python: `layers(folder, tokens=[3, 7])`."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from attncalc.api.display import as_html
from attncalc.api.models import Fields, Given, Opened, arrays_in, placed
from attncalc.api.solution import Solution
from attncalc.api.studies import Study
from attncalc.base.arrays import as_array
from attncalc.base.errors import InputError
from attncalc.base.typed import quoted
from attncalc.base.types import Matrix
from attncalc.problem.fields import LAST, own_name
from attncalc.problem.layers import STEP_TITLES
from attncalc.problem.problem import Problem
from attncalc.problem.replacing import replacing
from attncalc.solving.choosing import by_name, chosen_entries
from attncalc.solving.plan import plan
from attncalc.solving.solution import solved
from attncalc.studies.layers import (
    MOST_PROBABLE,
    Comparison,
    Effect,
    Pair,
    Tail,
    Walk,
    chosen,
    named,
    unknown_step,
)
from attncalc.studies.layers import lens as logit_lens
from attncalc.studies.layers import rollout as attention_rollout
from attncalc.writing.studies.forms import figure_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from attncalc.api.why import Whys
    from attncalc.problem.step import Plan

Told = Callable[[int], None] | None
_CHANGE = re.compile(r"(\d{1,6})\.((?:self\.|cross\.)?)(?:(\d{1,6})|(\w+)(\[[^\]]*\])?)")
_PATCH = re.compile(r"(.+):(\d{1,6}\..+)", re.DOTALL)
_HEAD = re.compile(r"((?:self\.|cross\.)?)H\[(\d+),:,:\]")


def layers(
    folder: Any,
    *,
    only: str | Iterable[str] | None = None,
    after: Any = None,
    config: Any = None,
    **given: Any,
) -> "Layers":
    """Open a model with its input, for runs through all of its layers.

    Parameters
    ----------
    folder
        The folder of the model; or a model of `transformers`, or a state dict, as in `open_model`.
    only
        The steps that are kept of each layer, such as `"A,Y"`; None for all.
    after
        An `.npz` file with the outputs of a layer, or of all: the run continues after it.
    config
        The config of a state dict, as in `open_model`.
    **given
        The input and the conventions, as in `open_model`, without `layer`.

    Returns
    -------
    Layers
        Iterated, it yields the `Solution` of each layer; only one is in memory at a time.

    Raises
    ------
    InputError
        As in `open_model`; or if the file has no outputs of this model.

    Examples
    --------
    >>> from attncalc.problem.samples import sample
    >>> model = layers(sample("model").path, tokens=[2, 4, 7], only="A")
    >>> [solution["A"].shape for solution in model]
    [(2, 3, 3), (2, 3, 3)]
    """
    inputs = {name: given.pop(name, None) for name in Given._fields}
    with ExitStack() as stack:
        opened = Opened(stack.enter_context(placed(folder, config)), Given(**inputs))
        if after is not None:
            opened.resume(Path(after), None, given)
        opened.holds = stack.pop_all()
    return Layers(opened, only, given)


class Layers:
    """A model with its input: iterated, it yields the solution of each layer.

    Each iteration runs the model once. A notebook displays the tables of every layer.

    Parameters
    ----------
    opened
        The model with its input.
    only
        The steps that are kept of each layer; None for all.
    said
        Conventions, as in `open_model`.
    told
        Called with the number of each finished layer, from 1.
    """

    def __init__(
        self, opened: Opened, only: str | Iterable[str] | None, said: Fields, told: Told = None
    ) -> None:
        self._opened, self._said, self._told = opened, said, told
        names = only.split(",") if isinstance(only, str) else only
        self._only = None if names is None else [name.strip() for name in names if name.strip()]
        self._opened.take(said)

    def __len__(self) -> int:
        """Return the number of layers that are run."""
        return self._opened.model.count - self._opened.first

    def __iter__(self) -> Iterator[Solution]:
        """Yield the solution of each layer, with the kept steps."""
        return (solution for _, solution in self._with_chosen())

    @property
    def walk(self) -> Walk:
        """The model as studies read it."""
        opened = self._opened
        title = str(self._said.get("title") or f"{opened.model.family.title}, all layers")
        title = f"{title} ({opened.model.folder.name})"
        words = tuple(opened.named(opened.asks)) if opened.asks else ()
        ids, only = tuple(opened.asks), None if self._only is None else tuple(self._only)
        model = opened.fingerprint, opened.input
        return Walk(title, opened.remarks, ids, words, only, self._with_chosen, model)

    def lens(self, at: int | None = None) -> Study:
        """Return the logit lens: what the head predicts after each layer.

        Parameters
        ----------
        at
            The token, from 1, whose prediction is followed; None for the last.

        Raises
        ------
        InputError
            If the model has no head, or there is no such token.
        """
        model, tokens = self._opened.model, dict[str, Any]()

        def outputs() -> Iterator[tuple[int, Matrix]]:
            for number, solution in self._run(lambda _: [LAST]):
                tokens.update(self._opened.after(solution.floats[LAST]))
                yield number, solution.floats[LAST]

        names = model.classes if model.has_classes else self._opened.named
        tail = lambda: Tail(*self._opened.tail(tokens))  # noqa: E731 - called in the run
        return Study(logit_lens(self.walk, outputs(), tail, self._place(at), names))

    def rollout(self) -> Study:
        """Return attention rollout: how much each token comes from each input token.

        Raises
        ------
        InputError
            If a layer has no attention of its tokens to one another, or the first is not run.
        """
        if self._opened.first:
            raise InputError("rollout is the product over all layers: omit stored outputs (--from)")
        run = partial(self._run, _weights_of)
        return Study(attention_rollout(replace(self.walk, run=run)))

    def compare(
        self,
        ablate: str | Iterable[str] = (),
        patch: Mapping[str, Any] | None = None,
        at: int | None = None,
    ) -> Study:
        """Return the model without and with changes of its steps, side by side.

        Parameters
        ----------
        ablate
            What is set to 0: heads such as `"3.2"` (layer 3, from 0; head 2, from 1), or steps and
            entries such as `"3.F_2"` or `"3.H[2,4,:]"`.
        patch
            The new values of steps or entries: arrays by name, such as `{"4.H": H}`, each of the
            size of the step.
        at
            The token, from 1, whose logits are compared; None for the last.

        Raises
        ------
        InputError
            If there is no such layer, head or step, or an array has another size.
        """
        given: Any = ablate  # which may be a number, in Python
        is_list = isinstance(given, Iterable) and not isinstance(given, str)
        texts = list(given) if is_list else [given]
        if not all(isinstance(each, str) for each in texts):
            raise InputError('ablate names heads or steps as text, such as "3.2" or "3.F_2"')
        changes = [read_change(text) for text in texts]
        changes += [read_change(text)._replace(values=as_array(each))
                    for text, each in (patch or {}).items()]  # fmt: skip
        return Study(self.comparison(changes, at))

    def comparison(self, changes: "list[Change]", at: int | None = None) -> Comparison:
        """Return the comparison of these changes."""
        if not changes:
            raise InputError("nothing is changed: ablate a head, as 3.2, or patch a step")
        for each in changes:
            self._opened.model.check_number(each.layer)
            if each.layer < self._opened.first:
                raise InputError(f"{each.text}: layer {each.layer} is before the stored outputs")
        if self._opened.model.shares_keys:
            raise InputError("layers share keys and values: the effect of a change is not computed")
        said = tuple(each.said + self._source_of(each) for each in changes)
        place = self._place(at)
        return Comparison(self.walk, said, place, lambda: self._pairs(changes, place))

    def _source_of(self, change: "Change") -> str:
        """Return where the values of a change come from, if that is not this model and input.

        Raises InputError if they are those of another layer.
        """
        if change.file is None:
            return ""
        step = change.entry.partition("[")[0]
        number = self._opened.layer_of(change.file) if step in change.file else None
        if number not in (None, change.layer):
            raise InputError(
                f"{change.text}: the file has {step} of layer {number}: write "
                f"{change.text.rpartition(':')[0]}:{number}.{step}"
            )
        other, unstated = self._opened.unlike(change.file, number)
        if unstated:
            return f" by values of a file that does not state its {unstated}"
        return f" by that of {other}" * bool(other)

    def why(self, entry: str, of: str | None = None) -> "Whys":
        """Return the contributions to a logit, or to a difference of two.

        Parameters
        ----------
        entry
            Such as `"logits[3,40] - logits[3,'cat']"`: rows from 1, columns are tokens or ids.
        of
            A component, such as `"layer 0, O, head 2"`, whose parts are returned instead.

        Raises
        ------
        InputError
            If it is another entry, or no part of the model adds to the logits directly.
        """
        from attncalc.api.why import why_of_model

        return why_of_model(self._opened, self._said, entry, of)

    def _pairs(self, changes: "list[Change]", place: int) -> Iterator[Pair | Effect]:
        opened, first = self._opened, min(each.layer for each in changes)
        tokens = other = opened.start(self._said, self._told)
        for number in range(opened.first, opened.model.count):
            problem = opened.at(number, tokens)
            clean = self._solved(problem, None if number >= first else [LAST])
            if number >= first:
                same = tokens is other
                read = {name: getattr(each, "array", each) for name, each in other.items()}
                changed = problem if same else problem.with_fields(read)
                own = [each for each in changes if each.layer == number]
                changed = _changed(changed, clean, own)
                both = self._solved(changed, None)
                yield Pair(number, clean, both)
                other = opened.after(both.floats[LAST])
            tokens = opened.after(clean.floats[LAST])
            other = tokens if number < first else other
            if self._told is not None:
                self._told(number + 1)
        if opened.model.head is not None:
            yield self._effect(tokens, other, place)

    def _effect(self, clean: Fields, changed: Fields, place: int) -> Effect:
        tail = Tail(*self._opened.tail(clean))
        pairs = []
        for each in (clean, changed):
            tokens = each.get("X1", each.get("X"))
            assert tokens is not None
            logits, prob = tail.apply(tokens.array)
            row = min(place, len(logits) - 1)
            pairs.append((logits[row], prob[row]))
        best = {int(i) for _, prob in pairs for i in np.argsort(-prob)[:MOST_PROBABLE]}
        model = self._opened.model
        names = (model.classes if model.has_classes else self._opened.named)(sorted(best))
        return Effect(pairs[0], pairs[1], dict(zip(sorted(best), names, strict=True)))

    def _run(
        self, keep: Callable[[Problem], Iterable[str] | None]
    ) -> Iterator[tuple[int, Solution]]:
        """Yield the number and the solution of each layer, with the steps that `keep` names."""
        opened = self._opened
        tokens = opened.start(self._said, self._told)
        for number in range(opened.first, opened.model.count):
            problem = opened.at(number, tokens)
            names = keep(problem)
            solution = self._solved(problem, None if names is None else [*names, LAST])
            tokens = opened.after(solution.floats[LAST])
            if self._told is not None:
                self._told(number + 1)
            yield number, solution
            del problem, solution  # before the next layer is read

    @staticmethod
    def _solved(problem: Problem, keep: Iterable[str] | None) -> Solution:
        return solved(Solution, problem, keep, None, proves=False)

    def _with_chosen(self) -> Iterator[tuple[int, Solution]]:
        """Yield the number and the solution of each layer, with the chosen steps.

        Raises InputError if no layer has one of them: at the first layer, if none could have it.
        """
        unfound = {*(self._only or ())}
        steps: Plan = ()

        def keep(problem: Problem) -> list[str] | None:
            nonlocal unfound, steps
            steps = plan(problem)
            unfound = {each for each in unfound if named(steps, each) is None}
            others = {*STEP_TITLES, *STEP_TITLES.values(), *self._opened.model.stated}
            others = {each.lower() for each in others}
            if strange := [each for each in unfound if each.lower() not in others]:
                raise unknown_step(min(strange), steps)
            return None if self._only is None else [e.name for e in chosen(problem, self._only)]

        yield from self._run(keep)
        if unfound:
            raise unknown_step(min(unfound), steps, "the last layer")

    def _place(self, at: int | None) -> int:
        count = len(self._opened.asks)
        if at is None:
            return self._opened.last if count else 0
        if not 1 <= at <= max(count, 1):
            raise InputError(f"at {at}: there are {count} tokens, from 1 to {count}")
        return at - 1

    def __repr__(self) -> str:
        """Return what it is: the tables of a layer are those of its solution."""
        return f"{self.walk.title}: {len(self)} layers, each iteration yields their solutions"

    def _repr_html_(self) -> str:
        """Return an embedded page: all heads in a grid, and each layer to be opened."""
        from attncalc.writing.document import Document
        from attncalc.writing.studies.layers import page

        return as_html(Document(self.walk.title, ()), page(self.walk))

    def plot(self, *, dark: bool = False, size: Any = None) -> "Figure":
        """Draw the weights of all heads of all layers as a grid with one scale."""
        from attncalc.writing.plotting.look import Look, read_size

        return figure_of(self.walk, Look(dark=dark, size=read_size(size)))


class Change(NamedTuple):
    """A change of a step in a layer.

    entry: the step, or its entries, such as H[2,:,:].
    values: the new values of the whole step; None for 0.
    file: the arrays of the file that they are from; None for values in memory.
    """

    text: str
    layer: int
    entry: str
    values: Matrix | None = None
    file: Mapping[str, Matrix] | None = None

    @property
    def said(self) -> str:
        """The change, as text."""
        how = "set to 0" if self.values is None else "replaced"
        return f"{self.entry} of layer {self.layer} {how}"


def read_change(text: str) -> Change:
    """Return the change that a text such as 3.2, 3.F_2, 4.H[2,:,:] or 4.cross.2 names.

    Raises InputError if it names none.

    >>> read_change("3.2").entry, read_change("4.F_2").layer
    ('H[2,:,:]', 4)
    """
    match = _CHANGE.fullmatch(text.strip())
    if match is None:
        raise InputError(
            f"{quoted(text)} names no step of a layer: write 3.2 (layer 3, head 2), 3.F_2 or "
            "3.H[2,4,:], of a decoder with cross-attention 3.self.2 or 3.cross.2"
        )
    layer, side, head, step, index = match.groups()
    entry = f"H[{head},:,:]" if head else f"{step}{index or ''}"
    return Change(text.strip(), int(layer), f"{side}{entry}")


def read_patch(text: str) -> Change:
    """Return the change that a text such as other.npz:4.H names."""
    match = _PATCH.fullmatch(text.strip())
    if match is None:
        raise InputError(f"{quoted(text)} names no step in a file: write other.npz:4.H")
    change = read_change(match[2])
    arrays, step = arrays_in(Path(match[1])), change.entry.partition("[")[0]
    for name in (f"{change.layer}.{step}", step):
        if name in arrays:
            return change._replace(text=text.strip(), values=arrays[name], file=arrays)
    held = ", ".join(map(str, list(arrays)[:20]))
    raise InputError(f"{match[1]}: it has no {change.layer}.{step} and no {step}: it has {held}")


def _changed(problem: Problem, clean: Solution, changes: list[Change]) -> Problem:
    made: dict[str, tuple[Matrix, Matrix]] = {}
    known = by_name(clean.plan)
    for each in changes:
        entry = each.entry
        head = _HEAD.fullmatch(entry)
        if head and not head[1] and "H" not in clean.floats and "self.H" in clean.floats:
            raise InputError(
                f"{each.text}: layer {each.layer} has two attentions: write {each.layer}.self."
                f"{head[2]} or {each.layer}.cross.{head[2]}"
            )
        if head and head[2] == "1" and clean.floats.get(f"{head[1]}H", np.zeros(())).ndim == 2:
            entry = f"{head[1]}H"  # the only head has no axis of its own
        try:
            found = chosen_entries(clean, [entry], known)
        except InputError as error:
            raise InputError(f"{each.text}: layer {each.layer}: {error}") from None
        ((name, places),) = found.items()
        shape = clean.floats[name].shape
        where, values = made.setdefault(name, (np.zeros(shape, bool), np.zeros(shape)))
        if each.values is not None and each.values.shape != shape:
            sizes = [" × ".join(map(str, size)) for size in (each.values.shape, shape)]
            raise InputError(f"{each.text}: its values are {sizes[0]}, and {name} is {sizes[1]}")
        at = tuple(np.array(places).T)
        if where[at].any():
            raise InputError(f"{each.text}: another change sets entries of {name}, too: omit one")
        where[at] = True
        values[at] = 0 if each.values is None else each.values[at]
    return replacing(problem, made) if made else problem


def _weights_of(problem: Problem) -> list[str]:
    names = [step.name for step in plan(problem) if step.role == "weights"]
    return [name for name in names if own_name(name) == "A"][:1]
