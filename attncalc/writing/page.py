"""A page: all that is handed in or handed out, in order, for any writer to write.

It holds the problem given, the conventions, each step with its matrix and its work, what the
weights connect, and the notes; as a worksheet, the same with every later matrix left empty.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

from attncalc.errors import InputError
from attncalc.numbers.types import Place
from attncalc.operations.expressions import Entry, Expression, Number, Ratio
from attncalc.operations.step import Step
from attncalc.problem.attention.fields import DISPLAY
from attncalc.problem.fields import BIASES, MASKS, WEIGHTS
from attncalc.problem.problem import Problem
from attncalc.problem.stated import conventions, heading
from attncalc.solving.plan import formula
from attncalc.solving.solution import Solution
from attncalc.solving.work import Fractions, Line, Work
from attncalc.text import numbered
from attncalc.writing.sentences import influence, influence_to_fill_in, notes, shape

MOST_WRITTEN_OUT = 2000
"""Entries that are written out without a second asking."""
MOST_SHOWN = 20
"""Rows and columns shown of a matrix before its middle is left out."""
MOST_NAMED = 12
"""Values in a footnote; of more it says how many there are."""
MARK = "†"
"""What stands beside a value that is not 0 and is shown as 0.00."""


class Cell(NamedTuple):
    """One entry as it is shown.

    Parameters
    ----------
    content
        The number; None on a worksheet.
    rank
        "most" for the largest weight of its row, "second" for the second, else "".
    hidden
        What it is, where it is not zero and is shown as 0.00.
    """

    content: Number | Ratio | None
    rank: str = ""
    hidden: Number | None = None


class Grid(NamedTuple):
    """A matrix, or one head of one, as it is shown.

    Parameters
    ----------
    name
        Its name.
    head
        Which head it is, from 1; 0 where there are none.
    rows, columns
        What its rows and columns stand for: tokens, by name, or numbers of features.
    tokens
        Whether rows, and whether columns, have names that are more than numbers.
    cell
        Returns the entry at a row and a column, from 0.
    texts
        Returns the digits of a row, from 0, all at once; None where they are no decimals.
    """

    name: str
    head: int
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    tokens: tuple[bool, bool]
    cell: Callable[[int, int], Cell]
    texts: Callable[[int], list[str]] | None = None


class Section(NamedTuple):
    """A step on the page: its equation, its matrix for each head, what is said of it, its work."""

    step: Step
    formula: Expression
    shape: str
    grids: tuple[Grid, ...] = ()
    remarks: tuple[str, ...] = ()
    lines: tuple[Line, ...] = ()


class Page(NamedTuple):
    """Everything a writer writes, in order.

    Parameters
    ----------
    solution
        What the page shows.
    given
        The matrices of the problem.
    sections
        The steps.
    influences
        What each output attends to, in sentences: for each head its number (0 where there is
        one), and a sentence for each output; on a worksheet, sentences to fill in.
    notes
        What should be said beside it.
    is_blank
        Whether it is a worksheet: its answers are left out.
    has_fractions
        Whether rational values are written as fractions.
    """

    solution: Solution
    given: tuple[Grid, ...]
    sections: tuple[Section, ...]
    influences: tuple[tuple[int, tuple[str, ...]], ...]
    notes: tuple[str, ...]
    is_blank: bool
    has_fractions: bool

    @property
    def problem(self) -> Problem:
        """The problem given."""
        return self.solution.problem

    @property
    def heading(self) -> str:
        """What the page is headed with."""
        return heading(self.problem)

    @property
    def conventions(self) -> tuple[str, ...]:
        """Every convention, each in a few words."""
        return conventions(self.problem)

    def hidden_of(self, section: Section, *, full: bool) -> list[tuple[Entry, Number]]:
        """Return what the values of a step are that are shown as 0.00 and are not 0."""
        if section.grids:
            return [
                (Entry(grid.name, (*([grid.head] if grid.head else []), i + 1, j + 1)), hidden)
                for grid in section.grids
                for i, j in shown_places(grid, full=full)
                if (hidden := grid.cell(i, j).hidden)
            ]
        return [(line.entry, line.hidden) for line in section.lines if line.hidden]

    @property
    def remarks(self) -> tuple[str, ...]:
        """What is said of single steps, of all of them."""
        return tuple(text for section in self.sections for text in section.remarks)

    @property
    def lines(self) -> tuple[Line, ...]:
        """The work of all steps."""
        return tuple(line for section in self.sections for line in section.lines)

    @property
    def has_map(self) -> bool:
        """Whether the page speaks of what the outputs attend to."""
        return bool(self.influences)


class Contents(NamedTuple):
    """What a page is to hold.

    Parameters
    ----------
    steps
        The steps that are wanted.
    given
        Whether the problem's own matrices stand before them.
    work
        Whether every entry of these steps is written out.
    entries
        The entries that alone are written out, by step, their places as they are shown; no
        matrix is shown then.
    fractions
        How rational values are written: as fractions, as mixed ones, or (None) in decimals.
    full
        Whether more than 2,000 entries may be written out.
    blank
        Whether answers are left out.
    """

    steps: tuple[Step, ...]
    given: bool = True
    work: bool = False
    entries: Mapping[str, Sequence[Place]] | None = None
    fractions: Fractions | None = None
    full: bool = False
    blank: bool = False


def kept(length: int, *, full: bool, most: int = MOST_SHOWN) -> list[int | None]:
    """Return the indices that are shown, with None where the middle is left out.

    Examples
    --------
    >>> kept(9, full=False, most=4)
    [0, 1, None, 7, 8]
    """
    if full or length <= most:
        return list(range(length))
    half = most // 2
    return [*range(half), None, *range(length - half, length)]


def is_cut(grid: Grid, *, full: bool) -> bool:
    """Say whether a matrix is too large to be shown whole."""
    return None in kept(max(len(grid.rows), len(grid.columns)), full=full)


def shown_places(grid: Grid, *, full: bool) -> Iterator[tuple[int, int]]:
    """Yield the places of a matrix that are shown, row by row."""
    for i in kept(len(grid.rows), full=full):
        for j in kept(len(grid.columns), full=full):
            if i is not None and j is not None:
                yield i, j


def make_page(solution: Solution, contents: Contents) -> Page:
    """Put together the page of a solution.

    Raises
    ------
    InputError
        When more than 2,000 entries are to be written out, and that is not asked for.
    """
    work = Work(solution, contents.fractions)
    _check_length(solution, contents)
    remarks = () if contents.blank else notes(solution)
    by_step: dict[str, list[str]] = {}
    for remark in remarks:
        by_step.setdefault(remark.step, []).append(remark.text)
    whole = contents.entries is None
    sections = tuple(
        _section(work, step, contents, by_step.get(step.name, []))
        for step in contents.steps
        if contents.entries is None or step.name in contents.entries
    )
    has_weights = whole and any(step.name == "A" for step in contents.steps)
    return Page(
        solution,
        tuple(_given(work)) if whole and contents.given else (),
        sections,
        tuple(_influences(solution, blank=contents.blank)) if has_weights else (),
        (*by_step.get("", ()), *_on_carrying(solution, sections)),
        contents.blank,
        contents.fractions is not None,
    )


def _check_length(solution: Solution, contents: Contents) -> None:
    if contents.full or not (contents.work or contents.entries):
        return
    if contents.entries is None:
        count = sum(solution[step.name].size for step in contents.steps)
    else:
        count = sum(len(places) for places in contents.entries.values())
    if count > MOST_WRITTEN_OUT:
        raise InputError(
            f"{count:,} entries are to be written out, more than {MOST_WRITTEN_OUT:,}: "
            "--full writes them all, --entry or --only some of them"
        )


def _section(work: Work, step: Step, contents: Contents, remarks: list[str]) -> Section:
    solution = work.solution
    lines: tuple[Line, ...] = ()
    if contents.entries is not None:
        places = contents.entries[step.name]
        lines = tuple(work.line(step.name, work.turned(place)) for place in places)
    elif contents.work:
        lines = tuple(work.lines(step))
    whole = contents.entries is None
    return Section(
        step,
        formula(step, solution.problem),
        shape(solution, step),
        tuple(_grids(work, step, blank=contents.blank)) if whole else (),
        tuple(remarks) if whole else (),
        lines,
    )


def _grids(work: Work, step: Step, *, blank: bool) -> Iterator[Grid]:
    """Yield the matrix of a step, or that of each head."""
    solution = work.solution
    shape = solution[step.name].shape
    rows, columns = solution.row_labels(step), solution.column_labels(step)
    tokens = rows != numbered(len(rows)), columns != numbered(len(columns))
    for number in range(shape[0] if len(shape) == 3 else 1):
        head = (number,) if len(shape) == 3 else ()
        ranks = _ranks(solution, number) if step.name == "A" and not blank else None

        def cell(i: int, j: int, head: tuple[int, ...] = head, ranks: Ranks | None = ranks) -> Cell:
            if blank:
                return Cell(None)
            place = work.turned((*head, i, j))
            shown, hidden = work.shown(step.name, place), work.hidden(step.name, place)
            return Cell(shown, ranks(place[-2]).get(place[-1], "") if ranks else "", hidden)

        in_decimals = not blank and work.fractions is None
        texts = partial(solution.shown_row, step.name, head) if in_decimals else None
        yield Grid(step.name, number + 1 if head else 0, rows, columns, tokens, cell, texts)


Ranks = Callable[[int], Mapping[int, str]]
"""Returns which weights of an output are the largest and the second."""


def _ranks(solution: Solution, head: int) -> Ranks:
    """Return which weights of a head are the largest and the second of each row, when asked."""

    @cache
    def of_output(output: int) -> Mapping[int, str]:
        connection = solution.heads[head].connections[output]
        most = dict.fromkeys(connection.most, "most")
        return most | dict.fromkeys(connection.second, "second")

    return of_output


def _given(work: Work) -> Iterator[Grid]:
    """Yield the problem's own matrices in the layout in which they are given."""
    problem = work.problem
    for name in problem.names:
        matrix = getattr(problem, name)
        rows, columns = (_axis(problem, name, axis, matrix) for axis in (-2, -1))
        for number in range(len(matrix) if matrix.ndim == 3 else 1):
            head = (number,) if matrix.ndim == 3 else ()

            def cell(i: int, j: int, name: str = name, head: tuple[int, ...] = head) -> Cell:
                return Cell(work.given(name, (*head, i, j)))

            yield Grid(
                name,
                number + 1 if head else 0,
                rows or numbered(matrix.shape[-2]),
                columns or numbered(matrix.shape[-1]),
                (bool(rows), bool(columns)),
                cell,
            )


def _axis(problem: Problem, name: str, axis: int, matrix: Any) -> tuple[str, ...]:
    """Return the tokens that an axis of a given matrix stands for, if it does."""
    size = matrix.shape[axis]
    if name in MASKS:  # a mask of one row is for all queries
        names = problem.standing.pair(problem.queries, problem.keys)[axis]
    elif name in (*WEIGHTS, *BIASES) or (axis == -2) != (problem.layout == "rows"):
        names = ()
    else:
        asks = name in (problem.query_source, problem.query_source.replace("X", "P"))
        names = problem.queries if asks else problem.keys
    return names if len(names) == size and names != numbered(size) else ()


def _influences(solution: Solution, *, blank: bool) -> Iterator[tuple[int, tuple[str, ...]]]:
    problem = solution.problem
    for head in solution.heads:
        if blank:
            sentences = tuple(influence_to_fill_in(problem, output) for output in range(problem.n))
        else:
            sentences = tuple(influence(problem, head, each) for each in head.connections)
        yield head.number, sentences


def _on_carrying(solution: Solution, sections: tuple[Section, ...]) -> Iterator[str]:
    """Warn that what is shown may not add up where more digits are carried."""
    decimals = solution.problem.decimals
    if solution.problem.rounding == DISPLAY and any(
        not line.is_exact for section in sections for line in section.lines
    ):
        yield (
            f"the work shows {decimals} decimals of numbers that are carried in full: added up "
            "from what is shown, a last digit may differ (--rounding each-step carries what it "
            "shows)"
        )
