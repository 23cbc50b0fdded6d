"""A calculation: a list of placed parts, and the flat list of their steps."""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from attncalc.base.errors import AttncalcError, InputError, ShapeError
from attncalc.problem.attention.attention import Attention, size_of
from attncalc.problem.step import Plan, Step


class Stream(NamedTuple):
    """Tokens between parts: the name of their matrix, their number and their features."""

    name: str
    tokens: int
    width: int
    labels: tuple[str, ...] = ()


class Placed(NamedTuple):
    """A part in its place.

    fields: the fields with its matrices and settings: those of the problem, or of a layer.
    prefix: the prefix of the names of its matrices and steps: "1." in a first layer.
    number: its number among several of its kind, such as the 2 of gamma_2; "" for the only one.
    reads: the names of the matrices of tokens that it reads.
    gives: the name of its last step, or of its weights if it has no outputs; "" for its own name.
    """

    part: "Part"
    fields: Any
    prefix: str = ""
    number: str = ""
    reads: tuple[str, ...] = ()
    gives: str = ""

    @property
    def where(self) -> str:
        """The start of a message about it: its layer and its name."""
        *layer, side = ["", *self.prefix.rstrip(".").split(".")][-2:]
        if side.isdigit():
            layer, side = [side], ""
        layers = [f"layer {number}, " for number in layer if number]
        numbered = f" {self.number}" if self.number.isdigit() and self.number != "0" else ""
        what = f"{side}-{self.part.name}" if side else self.part.name
        return "".join([*layers, what, numbered])

    def named(self, own: str) -> str:
        """Return the name of one of its matrices in the calculation."""
        return self.prefix + own

    def fault(self, kind: type[AttncalcError], said: str) -> AttncalcError:
        """Return an error with the place in every line."""
        return kind("\n".join(f"{self.where}: {line}" for line in said.split("\n")))

    @property
    def by_columns(self) -> bool:
        """Whether tokens are columns."""
        return bool(self.fields.standing.by_columns)

    def size(self, shape: tuple[int, ...]) -> str:
        """Return the shape of tokens as text, in the layout of the problem."""
        return " × ".join(map(str, shape[::-1] if self.by_columns else shape))

    def check_given(self, name: str, given: str) -> None:
        """Refuse a field that is missing, and without which another has no meaning."""
        if getattr(self.fields, name) is None:
            raise self.fault(InputError, f"{given} is given, and no {name}")

    def check_projection(self, tokens: Stream, weights: str, bias: str, of: str = "") -> None:
        """Refuse weights that tokens cannot be multiplied by, and a bias that does not fit them."""
        self.check_product(tokens, weights, of)
        if getattr(self.fields, bias) is not None:
            self.check_bias(bias, weights)

    def check_product(self, tokens: Stream, weights: str, of: str = "") -> None:
        """Refuse weights that tokens cannot be multiplied by; `of` ends the message."""
        given, standing = getattr(self.fields, weights), self.fields.standing
        if given.ndim != 2 or standing.upright(weights, given).shape[-2] != tokens.width:
            name, size = self.named(weights), self.size((tokens.tokens, tokens.width))
            raise self.fault(
                ShapeError,
                f"{tokens.name} is {size} and {name} is {size_of(given)}: for their product, "
                f"{name} needs {tokens.width} {standing.ins}{of}",
            )

    def check_bias(self, bias: str, weights: str) -> None:
        """Refuse a bias that does not have one number for each output of its weights."""
        count, width = getattr(self.fields, bias).size, self.fields.width_of(weights)
        if count != width:
            raise self.fault(
                ShapeError,
                f"{self.named(bias)} has {count} numbers and {self.named(weights)} is "
                f"{size_of(getattr(self.fields, weights))}: it needs {width}, one for each of its "
                f"{self.fields.standing.outs}",
            )

    def check_features(self, name: str, tokens: Stream) -> None:
        """Refuse a list that does not have one number for each feature of the tokens."""
        count = getattr(self.fields, name).size
        if count != tokens.width:
            size = self.size((tokens.tokens, tokens.width))
            raise self.fault(
                ShapeError,
                f"{self.named(name)} has {count} numbers and {tokens.name} is {size}: it needs "
                f"{tokens.width}, one for each feature",
            )


class Built(NamedTuple):
    """A placed part with its steps.

    steps: its steps, with the part's own names.
    names: the names of its matrices in the calculation that are not prefix and own name.
    gives: the resulting tokens, if other parts can read them.
    attention: for an attention, its fields with the tokens that it reads. A reference to the
        problem, in which the calculation is cached, would be a cycle that keeps matrices alive.
    says: its conventions, as short texts.
    """

    steps: Plan
    gives: Stream | None = None
    names: Mapping[str, str] = {}
    prefix: str = ""
    attention: Attention | None = None
    says: tuple[str, ...] = ()

    def name(self, own: str) -> str:
        """Return the name of a matrix in the calculation, from its name in the part."""
        return self.names.get(own, self.prefix + own)

    @property
    def plan(self) -> Plan:
        """The steps with their names in the calculation."""
        return tuple(map(self._in_place, self.steps))

    def with_steps(self, made: Mapping[str, Step]) -> "Built":
        """Return the part with those of these steps that belong to it, by their full names."""
        own = {self.name(name): name for step in self.steps for name in (step.name, *step.inputs)}
        steps = tuple(
            made[self.name(step.name)]._replace(
                name=step.name,
                inputs=tuple(own.get(name, name) for name in made[self.name(step.name)].inputs),
            )
            for step in self.steps
            if self.name(step.name) in made
        )
        others = {name: name for step in steps for name in step.inputs if name not in own.values()}
        return self._replace(steps=steps, names={**self.names, **others})

    def _in_place(self, step: Step) -> Step:
        inputs = tuple(map(self.name, step.inputs))
        return step._replace(name=self.name(step.name), inputs=inputs)


Streams = Mapping[str, Stream]


class Part(NamedTuple):
    """A part of a network: its checks of shapes, its steps, its conventions.

    name: its name in messages.
    build: returns its steps in a place; raises an `InputError` or a `ShapeError` if its matrices
        are missing or do not fit the tokens that it reads.
    titles: every step that it can have, in order, with its title.
    says: returns its conventions as short texts, from its fields.
    settings: returns the names of the settings that it reads, for the values of its other fields.
    """

    name: str
    build: Callable[[Placed, Streams], Built]
    titles: Mapping[str, str]
    says: Callable[[Any], Iterable[str]] = lambda fields: ()
    settings: Callable[[Placed], Iterable[str]] = lambda placed: ()


class Calculation:
    """The parts of a calculation, put in their places one after another.

    Raises InputError, ShapeError if the matrices of a part are missing, or do not fit its input.

    parts: the parts, each after those whose tokens it reads.
    """

    def __init__(self, parts: Iterable[Placed], given: Iterable[Stream] = ()) -> None:
        streams = {stream.name: stream for stream in given}
        built = []
        for placed in parts:
            made = placed.part.build(placed, streams)
            if made.gives is not None:
                streams[made.gives.name] = made.gives
            built.append(made._replace(says=tuple(placed.part.says(placed.fields))))
        self.parts: tuple[Built, ...] = tuple(built)
        self.steps: Plan = tuple(step for part in self.parts for step in part.plan)
        self._named_with: dict[str, str] = {}

    def followed_by(self, part: Built, of: Mapping[str, str]) -> "Calculation":
        """Return the calculation with a last part; `of`: earlier steps that name its rows."""
        longer = Calculation(())
        longer.parts = (*self.parts, part)
        longer.steps = (*self.steps, *part.plan)
        longer._named_with = {**self._named_with, **of}
        return longer

    def restated(self, part: Built, steps: Plan) -> "Calculation":
        """Return the calculation with another part, and the steps of all parts in another order."""
        made = {step.name: step for step in steps}
        parts = [each.with_steps(made) for each in self.parts]
        last = next((each.steps[-1].name for each in parts if each.attention and each.steps), None)
        longer = self.followed_by(part, {} if last is None else dict.fromkeys(part.names, last))
        longer.parts = (*parts, part)
        longer.steps = steps
        return longer

    @cached_property
    def attentions(self) -> tuple[Attention, ...]:
        """The attentions in it, with their fields; without those whose weights nothing reads."""
        return tuple(
            part.attention
            for part in self.parts
            if part.attention is not None and any(step.role == "weights" for step in part.steps)
        )

    def part_of(self, step: str) -> Built:
        """Return the part of a step, or the part whose tokens its rows are, by its name."""
        return self._parts[self._named_with.get(step, step)]

    @cached_property
    def _parts(self) -> dict[str, Built]:
        return {part.name(step.name): part for part in self.parts for step in part.steps}
