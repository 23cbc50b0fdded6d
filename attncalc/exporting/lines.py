"""The lines of the map as drop-downs: for each output, the input of its solid and dashed line."""

from collections.abc import Iterator
from typing import NamedTuple

from attncalc.base.text import distinct_names, on_a_line
from attncalc.exporting.rules import Course
from attncalc.grading.key import Key
from attncalc.grading.marks import Marking
from attncalc.languages.catalogue import catalogue
from attncalc.problem.fields import LINES
from attncalc.reading.answers.answer import WrittenConnection
from attncalc.solving.connections import connections
from attncalc.solving.solution import Solution


class Line(NamedTuple):
    """A line to choose: of a head (0 for the only one) and an output from 0; solid or dashed."""

    head: int
    output: int
    is_dashed: bool

    @property
    def name(self) -> str:
        """The name of its field.

        >>> Line(2, 0, True).name
        'map_h2_1_second'
        """
        of_head = f"_h{self.head}" if self.head else ""
        return f"map{of_head}_{self.output + 1}_{'second' if self.is_dashed else 'most'}"


def lines_of(solution: Solution) -> Iterator[Line]:
    """Yield the lines of the one map of a problem."""
    (weights,) = solution.all_weights
    for head in solution.heads_of(weights):
        for output in range(len(solution.problem.attention_of(weights.name).queries)):
            yield from (Line(head.number, output, is_dashed) for is_dashed in (False, True))


def options_of(solution: Solution) -> tuple[str, ...]:
    """Return the names of the inputs, and "none", which is the last."""
    (weights,) = solution.all_weights
    keys = solution.problem.attention_of(weights.name).keys
    names = list(map(on_a_line, distinct_names(keys)))
    none = catalogue(solution.problem.language).say("none")
    return (*names, f"({none})" if none in names else none)


def right_options(key: Key, course: Course, *, as_rounded: bool = True) -> dict[Line, set[int]]:
    """Return the options that are right for each line that is asked for.

    They are tied inputs, also in usual roundings.
    """
    if LINES not in course.asked:
        return {}
    (weights,) = key.solution.all_weights
    none = len(options_of(key.solution)) - 1
    found: dict[Line, set[int]] = {line: set() for line in lines_of(key.solution)}
    for place, head in enumerate(key.solution.heads_of(weights)):
        ways = [head.connections]
        for script in key.scripts.values() if as_rounded else ():
            shown = script[weights.name]
            rows = shown if shown.ndim == 2 else shown[place]
            ways.append(connections(rows, rows != 0))
        for each in (each for way in ways for each in way):
            for is_dashed, inputs in ((False, each.most), (True, each.second)):
                found[Line(head.number, each.output, is_dashed)] |= set(inputs) or {none}
    return found


def as_written(solution: Solution, chosen: dict[Line, int]) -> tuple[WrittenConnection, ...]:
    """Return chosen options as an answer has them; outputs without any are left out."""
    none = len(options_of(solution)) - 1

    def inputs(line: Line) -> tuple[str, ...]:
        option = chosen.get(line, -1)  # a line without a choice leads to no input that there is
        return () if option == none else (str(option + 1),)

    return tuple(
        WrittenConnection(line.head, str(line.output + 1), inputs(line), inputs(mate), is_one=True)
        for line in lines_of(solution)
        if not line.is_dashed
        if chosen.keys() & {line, mate := line._replace(is_dashed=True)}
    )


def shares_of(marking: Marking) -> Iterator[tuple[Line, float]]:
    """Yield what each line earns, so that both lines of an output earn what `check` gives it."""
    for each in marking.lines:
        rights = each.are_right(marking.key)
        for is_dashed, is_right in zip((False, True), rights, strict=True):
            share = float(2 * each.share / sum(rights)) if is_right else 0.0
            yield Line(each.head, each.right.output, is_dashed), share
