"""A calculation: a list of parts, each put in its place, and the flat list of steps they make."""

from collections.abc import Iterable, Mapping
from functools import cached_property

from attncalc.operations.step import Plan
from attncalc.problem.attention.attention import Attention
from attncalc.problem.part import Built, Placed, Stream


class Calculation:
    """The parts of a calculation, put in their places one after another.

    Parameters
    ----------
    parts
        The parts, each after those whose tokens it reads.
    given
        The tokens that are given.

    Raises
    ------
    InputError, ShapeError
        When the matrices of a part are missing, or do not fit what it reads.
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
        self._told_with: dict[str, str] = {}

    def followed_by(self, part: Built, of: Mapping[str, str]) -> "Calculation":
        """Return the calculation with one more part at its end.

        Parameters
        ----------
        part
            The part.
        of
            For each of its steps, the step of an earlier part that it is told of together with:
            what its rows stand for is called as there.
        """
        longer = Calculation(())
        longer.parts = (*self.parts, part)
        longer.steps = (*self.steps, *part.plan)
        longer._told_with = {**self._told_with, **of}
        return longer

    def restated(self, part: Built, steps: Plan) -> "Calculation":
        """Return the calculation with one more part, and all steps in another order.

        Parameters
        ----------
        part
            The part; of those before, steps may have another operation.
        steps
            The steps of all parts, each after those it reads.
        """
        last = next((each.steps[-1].name for each in self.parts if each.attention), None)
        longer = self.followed_by(part, {} if last is None else dict.fromkeys(part.names, last))
        longer.steps = steps
        return longer

    @cached_property
    def attentions(self) -> tuple[Attention, ...]:
        """The attentions in it, as each sees its fields; none whose weights nothing needs."""
        made = {step.name for step in self.steps if step.role == "weights"}
        return tuple(
            part.attention
            for part in self.parts
            if part.attention is not None
            and any(part.name(step.name) in made for step in part.steps if step.role == "weights")
        )

    def part_of(self, step: str) -> Built:
        """Return the part that a step belongs to, or is told of together with, by its name."""
        return self._parts[self._told_with.get(step, step)]

    @cached_property
    def _parts(self) -> dict[str, Built]:
        return {part.name(step.name): part for part in self.parts for step in part.steps}
