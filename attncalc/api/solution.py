"""The solution in Python: prints as tables, converts to a page, a data frame or a picture."""

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, overload

from attncalc.api.display import Displayed, as_text
from attncalc.base.errors import InputError
from attncalc.base.text import numbered
from attncalc.problem.step import Axis, Step
from attncalc.solving import solution as solving

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame, Index

    from attncalc.api.why import Whys
    from attncalc.studies.patterns.pattern import Pattern
    from attncalc.writing.document import Document
    from attncalc.writing.page import Page

# modules that write or draw are imported when called: most solutions are read as arrays


class Solution(Displayed, solving.Solution):
    """The matrices of all steps, by name: `solution["A"]` is an array.

    `attncalc.solving.solution` defines a solution; this class displays it. Printed, or in a
    notebook, it shows the tables of its steps, without the middle of large ones.
    """

    def table(self, name: str, *, full: bool = False) -> str:
        """Return one step as a table of text, under its equation.

        Parameters
        ----------
        name
            The step.
        full
            Show a large matrix in full; otherwise its middle is omitted.

        Raises
        ------
        KeyError
            If there is no such step, or it was not kept.

        Examples
        --------
        >>> from attncalc import self_attention
        >>> solution = self_attention([[1, 0], [0, 1]], [[1], [0]], [[1], [1]], [[2], [4]])
        >>> print(solution.table("Q"))
        Q = X W_Q   queries, 2 × 1
        ╭───┬──────╮
        │   │    1 │
        ├───┼──────┤
        │ 1 │ 1.00 │
        │ 2 │ 0.00 │
        ╰───┴──────╯
        """
        from attncalc.api.glance import step_at_a_glance
        from attncalc.writing.document import Document

        section = step_at_a_glance(self, self._step(name), full=full)
        return as_text(Document("", (section,))).strip("\n")

    def to_markdown(
        self,
        only: Iterable[str] | None = None,
        *,
        work: bool = False,
        fractions: bool | Literal["mixed"] = False,
        blank: bool = False,
        full: bool = False,
    ) -> str:
        """Return the page that `attncalc self --format markdown` prints, for GitHub.

        Parameters
        ----------
        only
            The names of the steps that the page shows; None for all of them, and the problem.
        work
            Write out every entry.
        fractions
            Write exact values as fractions, or as `"mixed"` ones: 2 1/2.
        blank
            Omit every answer: a worksheet.
        full
            Show large matrices in full, and write out more than 2,000 entries.

        Raises
        ------
        InputError
            If there is no such step, it was not kept, or the page would be too long.

        Examples
        --------
        >>> from attncalc import self_attention
        >>> solution = self_attention([[1, 0], [0, 1]], [[1], [0]], [[1], [1]], [[2], [4]])
        >>> solution.to_markdown(["O"]).splitlines()[-2:]
        ['| **1** | 3.00 |', '| **2** | 3.00 |']
        """
        from attncalc.writing.markdown import write_markdown

        page = self._page(only, work=work, fractions=fractions, blank=blank, full=full)
        return write_markdown(page)

    def to_html(
        self,
        only: Iterable[str] | None = None,
        *,
        work: bool = False,
        fractions: bool | Literal["mixed"] = False,
        blank: bool = False,
        full: bool = False,
    ) -> str:
        """Return the page that `attncalc self --format html` prints, as one file.

        Parameters
        ----------
        only, fractions, blank, full
            As in `to_markdown`.
        work
            Write out every entry, and show it; if there are few entries, they are written out and
            folded by default.

        Examples
        --------
        >>> from attncalc import self_attention
        >>> solution = self_attention([[1, 0], [0, 1]], [[1], [0]], [[1], [1]], [[2], [4]])
        >>> '<td id="O-2-1" data-row="2" data-column="1">3.00</td>' in solution.to_html(["O"])
        True
        """
        from attncalc.writing.live.made import write_page
        from attncalc.writing.page import folds_work

        folded = not blank and folds_work(self, self._chosen(only))
        page = self._page(only, work=work or folded, fractions=fractions, blank=blank, full=full)
        return write_page(page, unfolded=work)

    def to_latex(
        self,
        only: Iterable[str] | None = None,
        *,
        work: bool = False,
        fractions: bool | Literal["mixed"] = False,
        blank: bool = False,
        full: bool = False,
        standalone: bool = False,
    ) -> str:
        r"""Return the page that `attncalc self --format latex` prints.

        Parameters
        ----------
        only, work, fractions, blank, full
            As in `to_markdown`.
        standalone
            Return a complete document instead of a body to `\input` into one with amsmath.
        """
        from attncalc.writing.latex import write_latex

        page = self._page(only, work=work, fractions=fractions, blank=blank, full=full)
        return write_latex(page, standalone=standalone)

    @cached_property
    def patterns(self) -> "tuple[Pattern, ...]":
        """The patterns of the weights, the most informative first: facts with their numbers.

        Raises
        ------
        InputError
            If the weights, or the values that they weigh, were not kept.

        Examples
        --------
        >>> from attncalc import self_attention
        >>> solution = self_attention([[0], [0]], [[1]], [[1]], [[1]])
        >>> [pattern.code for pattern in solution.patterns][:3]
        ['uniform', 'equal-rows', 'ties']
        """
        from attncalc.studies.patterns.finding import patterns_of

        return patterns_of(self)

    def explain(self) -> tuple[str, ...]:
        """Return the patterns of the weights as sentences, as `attncalc explain --all` prints them.

        Examples
        --------
        >>> from attncalc import self_attention
        >>> self_attention([[0], [1]], [[4]], [[4]], [[1]]).explain()[0]
        'Output 1 attends equally to all 2 inputs (0.50 each, within 0.5 % of their mean)'
        """
        from attncalc.studies.patterns.finding import worth_telling
        from attncalc.writing.patterns import sentence

        return tuple(sentence(self.problem, each) for each in worth_telling(self.patterns))

    def to_frame(self, name: str) -> "DataFrame":
        """Return one step as a pandas data frame, in floats.

        Parameters
        ----------
        name
            The step.

        Returns
        -------
        pandas.DataFrame
            Rows and columns have the names of the tables: labels of tokens, or numbers from 1.
            Several heads are stacked vertically: rows then have a `MultiIndex` of the head, from 1,
            and the row. It contains a copy of the numbers.

        Raises
        ------
        InputError
            If pandas is not installed; attncalc does not require it otherwise.
        KeyError
            If there is no such step, or it was not kept.
        """
        step, matrix = self._step(name), self.as_tabled(name)
        try:
            import pandas
        except ImportError as error:
            raise InputError(
                f"to_frame needs pandas, which cannot be loaded here ({error}): "
                "install it with python -m pip install pandas"
            ) from None
        of_rows, of_columns = self.problem.standing.pair(step.rows, step.columns)
        rows = _index(pandas, self.row_labels(step), of_rows)
        columns = _index(pandas, self.column_labels(step), of_columns)
        if matrix.ndim == 3:
            heads = range(1, len(matrix) + 1)
            rows = pandas.MultiIndex.from_product([heads, rows], names=["head", of_rows])
            matrix = matrix.reshape(-1, matrix.shape[-1])
        frame: DataFrame = pandas.DataFrame(matrix, rows, columns, copy=True)
        return frame

    @overload
    def plot(
        self,
        kind: str = ...,
        *,
        all: bool = ...,
        values: bool = ...,
        head: int | str | None = ...,
        dark: bool = ...,
        size: Any = ...,
        of: str | None = ...,
        ax: None = ...,
    ) -> "Figure": ...

    @overload
    def plot(
        self,
        kind: str = ...,
        *,
        all: bool = ...,
        values: bool = ...,
        head: int | str | None = ...,
        dark: bool = ...,
        size: None = ...,
        ax: "Axes",
    ) -> "Axes": ...

    def plot(
        self,
        kind: str = "map",
        *,
        all: bool = False,  # noqa: A002 - it is what the flag is called, too
        values: bool = True,
        head: int | str | None = None,
        dark: bool = False,
        size: Any = None,
        of: str | None = None,
        ax: Any = None,
    ) -> "Figure | Axes":
        """Draw the solution; a notebook shows the figure, `figure.savefig("map.pdf")` writes it.

        Parameters
        ----------
        kind
            `"map"` (which input each output attends to), `"heatmap"` (the weights), or `"both"`.
        all
            Draw a line of the map for every weight that does not round to zero, instead of only the
            largest and the second.
        values
            Write the weights in the picture.
        head
            The head to draw, from 1, or `"mean"`; None for all of them side by side.
        dark
            Draw on a dark background.
        size
            Width and height in inches, as `(12, 8)` or `"12x8"`, or only a width; None for an
            automatic size.
        of
            A gradient, such as `"dS"`, to draw as a heatmap instead of the weights.
        ax
            Existing axes on which to draw the map or heatmap of one head, without title and
            conventions; `fig.colorbar(ax.collections[0])` adds a heatmap's bar (`ax.images[0]`
            above 2,500 weights).

        Returns
        -------
        matplotlib.figure.Figure
            It requires no pyplot, and does not depend on matplotlib's settings. `figure.notes`
            lists omitted parts. With `ax`, the axes are returned, and a warning lists omitted
            parts.

        Raises
        ------
        InputError
            If an argument is invalid, the size is too small, the weights `A` were not kept, or the
            picture does not fit on one axes.

        Examples
        --------
        >>> from attncalc import self_attention
        >>> solution = self_attention([[0, 0], [0, 0]], [[1], [0]], [[1], [1]], [[2], [4]])
        >>> figure = solution.plot("heatmap", size=(6, 4))
        >>> figure.get_size_inches().tolist()
        [6.0, 4.0]
        """
        from attncalc.writing.plotting import drawing
        from attncalc.writing.plotting.look import Look, read_size

        look = Look(kind, every_line=all, values=values, dark=dark, size=read_size(size))
        if of is not None:
            if head is not None or ax is not None:
                raise InputError("of draws a whole gradient on its own figure")
            return drawing.draw_gradient(self, drawing.gradient_step(self, of, look), look)
        if ax is not None:
            return drawing.plot_on(ax, self, head, look)
        return drawing.draw(self.problem, drawing.chosen_heads(self, head), look)

    def why(self, entry: str, of: str | None = None) -> "Whys":
        """Return the parts that sum to an entry, or to each entry of a row.

        Parameters
        ----------
        entry
            The entry, such as "O[2,1]" or "O[2,:]", with places as shown; or a difference of
            logits.
        of
            A component of a logit, such as "O, head 2", whose parts are returned instead.

        Returns
        -------
        attncalc.api.why.Whys
            Its `parts`, each with a text and a value, and their sum, `value`. A softmax weight is
            split as its logarithm. It prints as the command does, also in a notebook.

        Raises
        ------
        InputError
            If there is no such entry.

        Examples
        --------
        >>> from attncalc import self_attention
        >>> solution = self_attention([[1, 0], [0, 1]], [[1], [0]], [[1], [1]], [[2], [4]])
        >>> [(part.text, float(part.value)) for part in solution.why("O[2,1]").parts]
        [('A[2,1]·V[1,1]', 1.0), ('A[2,2]·V[2,1]', 2.0)]
        """
        from attncalc.api.why import why_of_problem

        return why_of_problem(self, entry, of)

    def _as_document(self) -> "Document":
        from attncalc.api.glance import glance

        return glance(self)

    def _as_page(self) -> str | None:
        """Return the interactive page of a short problem; None for others, which are static."""
        from attncalc.writing.live.made import is_live, write_page
        from attncalc.writing.page import folds_work

        if self.keep is not None or not folds_work(self, self.plan):
            return None
        page = self._page(None, work=True, fractions=False, blank=False, full=False)
        return write_page(page, compact=True) if is_live(page) else None

    def _page(
        self,
        only: Iterable[str] | None,
        *,
        work: bool,
        fractions: bool | Literal["mixed"],
        blank: bool,
        full: bool,
    ) -> "Page":
        from attncalc.writing.page import Contents, make_page

        if (work or fractions) and self.keep is not None:
            kept = ", ".join(step.name for step in self.steps)
            raise InputError(
                f"work and fractions need every step, but only {kept} is kept: call "
                "solve(problem) without keep"
            )
        contents = Contents(
            self._chosen(only),
            given=only is None,
            work=work,
            fractions="mixed" if fractions == "mixed" else "plain" if fractions else None,
            full=full,
            blank=blank,
        )
        return make_page(self, contents)

    def _chosen(self, only: Iterable[str] | None) -> tuple[Step, ...]:
        if only is None:
            return self.steps
        wanted = [only] if isinstance(only, str) else list(only)
        names = [step.name for step in self.steps]
        for name in wanted:
            if name not in names:
                raise InputError(f"no step {name}: there are {', '.join(names)}")
        return tuple(step for step in self.steps if step.name in wanted)

    def _step(self, name: str) -> Step:
        self._check_name(name)
        return next(step for step in self.steps if step.name == name)


def _index(pandas: Any, labels: tuple[str, ...], axis: Axis) -> "Index[Any]":
    """Return the labels of an axis; numbers if it has no names."""
    names = range(1, len(labels) + 1) if labels == numbered(len(labels)) else labels
    index: Index[Any] = pandas.Index(names, name=axis)
    return index
