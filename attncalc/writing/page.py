"""A page: the content of a solution or a worksheet, in order, for any writer.

It contains the problem, the conventions, each step with its matrix and its work, the connections,
and the notes; a worksheet has the same parts with empty matrices.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.rounding import fixed
from attncalc.base.text import numbered, on_a_line
from attncalc.base.types import Matrix, Place
from attncalc.equations.own import Own
from attncalc.problem.attention.declared import DISPLAY
from attncalc.problem.attention.steps import hidden_of
from attncalc.problem.fields import LINES, role_of
from attncalc.problem.problem import Problem
from attncalc.problem.stated import conventions, heading
from attncalc.problem.step import Step
from attncalc.solving.influence import influence, shape
from attncalc.solving.plan import formula
from attncalc.solving.solution import Head, Solution
from attncalc.solving.work import Derivation, Fractions, Work
from attncalc.writing import document as parts
from attncalc.writing.sentences import BLANK, IN_WORK, legend, notes

if TYPE_CHECKING:  # few pages are asked for them
    from attncalc.studies.patterns.pattern import Pattern

MOST_WRITTEN_OUT = 2000
"""Entries that are written out without a second asking."""
MOST_FOLDED = 3000
"""Numbers of work up to which a page that can fold it contains it by default."""
_SEED = re.compile(r" --seed \d+$")


@dataclass(frozen=True)
class Page(parts.Document):
    """The document of a calculation, with its solution, for forms with data.

    is_blank: whether it is a worksheet, without answers.
    fractions: the notation of rational values: fractions, mixed numbers, or (None) decimals.
    patterns: the patterns of the weights; None if not requested.
    """

    solution: Solution = field(kw_only=True)
    is_blank: bool = False
    fractions: Fractions | None = None
    patterns: "tuple[Pattern, ...] | None" = None

    @cached_property
    def problem(self) -> Problem:
        """The problem given; a worksheet has it without the seed that makes it again."""
        given = self.solution.problem
        return replace(given, made_by=_SEED.sub("", given.made_by)) if self.is_blank else given

    @property
    def conventions(self) -> tuple[str, ...]:
        """Every convention, each in a few words."""
        return conventions(self.problem)

    @property
    def influences(self) -> tuple[tuple[int, Sequence[str]], ...]:
        """The inputs that each output attends to: for each head its number, and sentences."""
        found = (part for part in self.parts if isinstance(part, parts.Connections))
        return tuple(head for part in found for head in part.heads)

    @property
    def shown_patterns(self) -> tuple[str, ...]:
        """The patterns of the weights, in sentences."""
        return next((part.texts for part in self.parts if isinstance(part, parts.Patterns)), ())

    @property
    def remarks(self) -> tuple[str, ...]:
        """The remarks on single steps, of all of them."""
        return tuple(text for section in self.sections for text in section.remarks)

    @property
    def lines(self) -> tuple[Derivation, ...]:
        """The work of all steps."""
        return tuple(line for section in self.sections for line in section.lines)

    @property
    def has_map(self) -> bool:
        """Whether the page has a map; not for very many outputs."""
        return bool(self.influences) and not self.lacks_map

    @property
    def lacks_map(self) -> bool:
        """Whether a map would contain too many lines, and all weights at once."""
        return bool(self.influences) and self.solution.remakes


class Contents(NamedTuple):
    """The requested content of a page.

    given: whether the problem's own matrices come first.
    work: whether every entry of these steps is written out.
    entries: the only entries to write out, by step, with places as shown; no matrix is shown then.
    fractions: the notation of rational values: fractions, mixed numbers, or (None) decimals.
    full: whether large matrices are complete, and more than 2,000 entries are written out.
    patterns: whether it describes the patterns of the weights.
    head: the described attention or head; None for all.
    only_head: the only shown head, from 1, of matrices with several; None for all.
    """

    steps: tuple[Step, ...]
    given: bool = True
    work: bool = False
    entries: Mapping[str, Sequence[Place]] | None = None
    fractions: Fractions | None = None
    full: bool = False
    blank: bool = False
    patterns: bool = False
    head: str | None = None
    only_head: int | None = None

    @property
    def shows_all(self) -> bool:
        """Whether large matrices are shown completely, as always on a worksheet."""
        return self.full or self.blank


def make_page(solution: Solution, contents: Contents) -> Page:
    """Put together the page of a solution."""
    work = Work(solution, contents.fractions)
    _check_length(solution, contents)
    remarks = () if contents.blank else notes(solution)
    sections = tuple(
        _section(work, step, contents, [each.text for each in remarks if each.step == step.name])
        for step in contents.steps
        if contents.entries is None or step.name in contents.entries
        if not (contents.blank and step.name in step.inputs)  # it is shown as given
        if not (contents.blank and _is_not_asked(solution.problem, step.name))
    )
    found = _found(solution, contents.head) if contents.patterns else None
    of_all = (remark.text for remark in remarks if not remark.step)
    opening: list[parts.Part] = []
    if contents.blank or work.problem.whose:
        opening.append(parts.Field("Name", work.problem.whose or None, work.problem.code))
    facts, asked = list(conventions(work.problem)), work.problem.asked
    if contents.blank and contents.steps and asked:  # not all of its steps count
        names = ", ".join(name for name in asked if name != LINES)
        of_map = ", and the lines of the map" if LINES in asked else ""
        facts.append(f"only these are marked: {names}{of_map}")
    opening.append(parts.Facts(tuple(facts)))
    if contents.given and contents.entries is None:
        opening.append(parts.Given(tuple(given_grids(work, full=contents.shows_all))))
    content = (*opening, *sections, *_connections(solution, contents))
    return Page(
        heading(solution.problem),
        (*content, *_patterns(solution, found, contents)),
        (*of_all, *_on_carrying(solution, sections)),
        tuple(remark.text for remark in remarks if remark.is_advice),
        language=solution.problem.language,
        solution=solution,
        is_blank=contents.blank,
        fractions=contents.fractions,
        patterns=found,
    )


def folds_work(solution: Solution, steps: Sequence[Step]) -> bool:
    """Return whether the work of these steps is short enough to be folded into every page."""
    if solution.keep is not None or solution.problem.is_long:
        return False
    entries = sum(prod(solution.shape_of(step.name)) for step in steps)
    longest: int = max(max(matrix.shape) for matrix in solution.problem.given.values())
    return entries * longest <= MOST_FOLDED


def _is_not_asked(problem: Problem, name: str) -> bool:
    return bool(problem.asked) and name not in problem.asked


def _connections(solution: Solution, contents: Contents) -> Iterator[parts.Part]:
    if contents.entries is not None or (contents.blank and _is_not_asked(solution.problem, LINES)):
        return
    several = len(solution.problem.attentions) > 1
    for step in contents.steps:
        if step.role == "weights":
            every, only = _influences(solution, step, blank=contents.blank), contents.only_head
            heads = tuple(each for each in every if only in (None, each[0]) or not each[0])
            attention = solution.problem.attention_of(step.name)
            of = step.name if several else ""
            is_drawn = not contents.blank and not solution.remakes
            hidden_in = cache(partial(_hidden_in, solution, step))
            yield parts.Connections(
                heads, attention.keys, attention.queries, contents.blank, contents.shows_all, of,
                step.name, solution.problem.standing.by_columns,
                partial(_attended, solution, step, hidden_in) if is_drawn else None,
            )  # fmt: skip


def _hidden_in(solution: Solution, step: Step, head: int) -> Matrix | None:
    """Return where a head, from 1, may not attend: by a mask, or by -∞ of an equation."""
    hidden = hidden_of(solution.problem.attention_of(step.name), head)
    before = next((each for each in solution.plan if each.name in step.inputs), None)
    if hidden is not None or before is None or before.role != "masked":
        return hidden
    if not isinstance(before.operation, Own) or not solution.keeps(before.name):
        return None
    scores = solution.floats[before.name]
    return np.isneginf(scores if scores.ndim == 2 else scores[max(head, 1) - 1])


def _attended(
    solution: Solution, step: Step, masks: Callable[[int], Matrix | None], head: int, output: int
) -> parts.Attended:
    """Return the inputs that an output of a head attends to, both from 0."""
    found, decimals = solution.heads_of(step)[head], solution.problem.decimals
    connection = found.connection(output)
    texts = [fixed(weight, decimals) for weight in found.rounded[output]]
    hidden = masks(found.number)
    masked = () if hidden is None else hidden[output].tolist()
    weights = found.weights[output].tolist()
    return parts.Attended(connection.most, connection.second, weights, texts, masked)


def _found(solution: Solution, head: str | None) -> "tuple[Pattern, ...]":
    from attncalc.studies.patterns.finding import of_head, patterns_of

    found = patterns_of(solution)
    return found if head is None else of_head(solution, found, head)


def _patterns(
    solution: Solution, found: "tuple[Pattern, ...] | None", contents: Contents
) -> Iterator[parts.Part]:
    if found:
        from attncalc.studies.patterns.finding import leading, worth_telling
        from attncalc.writing.patterns import sentence

        problem = solution.problem
        worth = worth_telling(found)
        if not contents.full:
            worth = leading(worth, parts.LEADING)
        sentences = tuple(sentence(problem, pattern) for pattern in worth)
        yield parts.Patterns(sentences, contents.full)


def _check_length(solution: Solution, contents: Contents) -> None:
    if contents.full or not (contents.work or contents.entries):
        return
    if contents.entries is None:
        count = sum(prod(solution.shape_of(step.name)) for step in contents.steps)
    else:
        count = sum(len(places) for places in contents.entries.values())
    if count > MOST_WRITTEN_OUT:
        raise InputError(
            f"{count:,} entries would be written out, more than {MOST_WRITTEN_OUT:,}: "
            "--full writes them all, --entry or --only some of them"
        )


def _section(work: Work, step: Step, contents: Contents, remarks: list[str]) -> parts.Section:
    said = f"{step.title}, {shape(work.solution, step)}"
    equation = formula(step, work.problem)
    if contents.entries is not None:
        places = contents.entries[step.name]
        lines = tuple(work.line(step.name, work.turned(place)) for place in places)
        return parts.Section(step, equation, said, lines=lines)
    ranked = step.role == "weights" and not contents.blank
    grids, keys = tuple(_grids(work, step, contents)), legend(work.problem) if ranked else ()
    lines = tuple(work.lines(step)) if contents.work else ()
    found = parts.Section(step, equation, said, grids, tuple(remarks), lines, keys)
    return found._replace(has_room=contents.blank)


def _grids(work: Work, step: Step, contents: Contents) -> Iterator[parts.Grid]:
    solution, blank = work.solution, contents.blank
    shape = solution.shape_of(step.name)
    rows, columns = solution.row_labels(step), solution.column_labels(step)
    is_whole = contents.shows_all or len(columns) <= parts.MOST_SHOWN
    for number in _heads(solution, step, contents):
        head = (number,) if len(shape) == 3 else ()
        ranks = ranks_of(solution, step, number) if step.role == "weights" and not blank else None

        def cell(
            i: int, j: int, head: tuple[int, ...] = head, ranks: Ranks | None = ranks
        ) -> parts.Cell:
            if blank:
                return parts.Cell(None)
            place = work.turned((*head, i, j))
            if is_whole:
                shown, hidden = work.row(step.name, head, i)[j]
            else:
                shown, hidden = work.shown(step.name, place), work.hidden(step.name, place)
            return parts.Cell(shown, ranks(place[-2]).get(place[-1], "") if ranks else "", hidden)

        head_number = number + 1 if head else 0
        in_decimals = not blank and work.fractions is None
        texts = partial(solution.shown_row, step.name, head) if in_decimals else None
        of = shape[0] if head else 0
        full, one = contents.shows_all, step.slices
        yield parts.Grid(step.name, head_number, rows, columns, cell, full, texts, of, one)


def _heads(solution: Solution, step: Step, contents: Contents) -> Sequence[int]:
    """Return which heads of a step are shown, from 0: of keys that are shared, the one shared."""
    shape = solution.shape_of(step.name)
    if len(shape) != 3:
        return range(1)
    if contents.only_head is None:
        return range(shape[0])
    asking = solution.problem.attention_of(step.name).n_heads
    return ((contents.only_head - 1) * shape[0] // asking,)


Ranks = Callable[[int], Mapping[int, str]]
"""Returns which weights of an output are the largest and the second."""


def ranks_of(solution: Solution, step: Step, head: int) -> Ranks:
    """Return which weights of a head are the largest and the second of each row, when asked."""

    @cache
    def of_output(output: int) -> Mapping[int, str]:
        connection = solution.heads_of(step)[head].connection(output)
        most = dict.fromkeys(connection.most, "most")
        return most | dict.fromkeys(connection.second, "second")

    return of_output


def given_grids(work: Work, *, full: bool) -> Iterator[parts.Grid]:
    """Yield the problem's own matrices in the layout in which they are given."""
    problem = work.problem
    for name in problem.names:
        matrix = problem.stored(name)
        rows, columns = (_axis(problem, name, axis, matrix) for axis in (-2, -1))
        for head in np.ndindex(matrix.shape[:-2]):

            def cell(i: int, j: int, name: str = name, head: tuple[int, ...] = head) -> parts.Cell:
                return parts.Cell(work.given(name, (*head, i, j)))

            yield parts.Grid(name, head[0] + 1 if head else 0, rows, columns, cell, full)


def _axis(problem: Problem, name: str, axis: int, matrix: Any) -> tuple[str, ...]:
    """Return the tokens along an axis of a given matrix, or numbers."""
    size, role = matrix.shape[axis], role_of(name)
    if role in ("image", "table", "ids"):
        names = problem.queries if role == "ids" and axis == -1 else ()
    elif role in ("marks", "scores", "start"):  # a mask of one row is for all queries
        names = problem.standing.pair(problem.queries, problem.keys)[axis]
    elif role in ("weights", "bias") or (axis == -2) != (problem.layout == "rows"):
        names = ()
    else:
        source = problem.query_source
        asks = role == "arriving" or name in (source, source.replace("X", "P"))
        names = problem.queries if asks else problem.keys
    return problem.named(names, size) if names else numbered(size)


def _influences(
    solution: Solution, step: Step, *, blank: bool
) -> Iterator[tuple[int, Sequence[str]]]:
    problem, queries = solution.problem, solution.problem.attention_of(step.name).queries

    def told(head: Head, output: int) -> str:
        return influence(problem, head, head.connection(output))

    def asked(output: int) -> str:
        name = on_a_line(queries[output])
        return f"Output {name}: solid line to {BLANK}, dashed line to {BLANK}"

    for head in solution.heads_of(step):
        tell = asked if blank else partial(told, head)
        yield head.number, parts.LazySentences(len(queries), tell)


def _on_carrying(solution: Solution, sections: tuple[parts.Section, ...]) -> Iterator[str]:
    """Warn that shown values may not add up if more digits are used."""
    decimals = solution.problem.decimals
    if solution.is_proven and not solution.is_exact and any(each.lines for each in sections):
        yield IN_WORK.replace("float64", solution.problem.dtype.name)
    if solution.problem.rounding == DISPLAY and any(
        not line.is_exact for section in sections for line in section.lines
    ):
        yield (
            f"the work shows {decimals} decimals of numbers carried in full precision: "
            "computed from them, a last digit may differ (--rounding each-step carries the "
            "numbers as shown)"
        )
