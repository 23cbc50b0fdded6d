"""Studies in Python: functions that return a Study, which displays and draws itself."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attncalc.api.display import Displayed
from attncalc.base.errors import InputError
from attncalc.problem.problem import Problem
from attncalc.studies import aim as aiming
from attncalc.studies import simulate as simulating
from attncalc.studies import train as training
from attncalc.studies import vary as varying
from attncalc.writing.studies.forms import figure_of, forms_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from attncalc.writing.document import Document

Source = Problem | str | Path


@dataclass(frozen=True, eq=False, repr=False)
class Study(Displayed):
    """The result of many values, of many draws, of training, or of a designed query.

    It prints like the command, also in a notebook.

    Parameters
    ----------
    found
        The result: an `attncalc.studies.vary.Variation`, a tuple of
        `attncalc.studies.simulate.Simulation`, an `attncalc.studies.aim.Aim`, an
        `attncalc.studies.generate.Generation`, an `attncalc.studies.train.Training`, or a `Lens`, a
        `Rollout` or a `Comparison` of `attncalc.studies.layers`.
    """

    found: Any

    def to_markdown(self, *, full: bool = False) -> str:
        """Return the page that `--format markdown` prints; `full` shows every row."""
        from attncalc.writing.markdown import write_markdown

        return write_markdown(forms_of(self.found, full=full).document())

    def to_html(self, *, full: bool = False) -> str:
        """Return the page that `--format html` prints; `full` shows every row."""
        from attncalc.writing.html.page import write_html

        forms = forms_of(self.found, full=full)
        return forms.page() if forms.page else write_html(forms.document())

    def _as_page(self) -> str | None:
        forms = forms_of(self.found)
        return forms.page() if forms.page else None

    def to_latex(self, *, full: bool = False, standalone: bool = False) -> str:
        """Return the page that `--format latex` prints; `standalone`: a complete document."""
        from attncalc.writing.latex import write_latex

        return write_latex(forms_of(self.found, full=full).document(), standalone=standalone)

    def to_json(self) -> str:
        """Return the JSON that `--format json` prints."""
        return "".join(forms_of(self.found).json())

    def plot(self, *, dark: bool = False, size: Any = None) -> "Figure":
        """Draw the study; a notebook shows the figure, `figure.savefig("curve.pdf")` writes it.

        dark: on a dark background; size: width and height in inches, or only a width.
        """
        from attncalc.writing.plotting.look import Look, read_size

        return figure_of(self.found, Look(dark=dark, size=read_size(size)))

    def _as_document(self) -> "Document":
        return forms_of(self.found, full=False).document()


def vary(
    problem: Source, *changes: str, watch: str | Iterable[str] = (), agreed: bool = False
) -> Study:
    """Solve a problem for many values of a field, and record watched quantities.

    Parameters
    ----------
    problem
        The problem, or its file.
    *changes
        The changes, such as `"scale=0.1:10:log"` or `"K[a] *= 0:3"`; two make a grid.
    watch
        The watched quantities, such as `"A[1,:]"` or `["entropy(A)", "norm(O)"]`; by default the
        weights.
    agreed
        Whether to run even if it takes very long.

    Returns
    -------
    Study
        `study.found.values` is an array with a row for each value.

    Raises
    ------
    InputError
        If a text cannot be read, or the study would take very long.

    Examples
    --------
    >>> problem = Problem(Q=[[1, 1]], K=[[2, 0], [0, 1]], V=[[1], [3]], scale="none")
    >>> vary(problem, "scale=0,1,inf").found.digits
    (('0.50', '0.50'), ('0.73', '0.27'), ('1.00', '0.00'))
    """
    from attncalc.reading.studies.changes import HOW_TO_CHANGE, read_change
    from attncalc.reading.studies.watched import read_watched

    given = _problem(problem)
    if not 1 <= len(changes) <= varying.MOST_CHANGES:
        raise InputError(f"{len(changes)} changes: {HOW_TO_CHANGE}; two make a grid")
    read = [read_change(text, given) for text in changes]
    watched = read_watched(_texts(watch), given)
    return Study(varying.vary(given, read, watched, agreed=agreed))


def simulate(
    problem: Source | Sequence[Source],
    *draws: str,
    watch: str | Iterable[str] = (),
    count: int = simulating.USUAL_DRAWS,
    seed: int = 0,
    until: float | None = None,
    given: str | Iterable[str] = (),
    agreed: bool = False,
) -> Study:
    """Solve a problem, or several side by side, for many random draws.

    Parameters
    ----------
    problem
        The problem or its file, or a list of these.
    *draws
        The draws, such as `"K[a] ~ N(mu, 0.01 I)"` or `"X[2,1] ~ U(0, 1)"`.
    watch
        The watched quantities; by default the outputs, and for one problem the weights.
    count, seed
        The number of draws, and the seed of numpy's `default_rng`.
    until
        Draw until every standard error is below this.
    given
        Conditions on a draw, such as `"q·k_a > 0"`: others are discarded and counted.
    agreed
        Whether to run even if it takes very long.

    Returns
    -------
    Study
        `study.found[0].statistics` contains the statistics of the first problem.

    Raises
    ------
    InputError
        If a text cannot be read, or the study would take very long.

    Examples
    --------
    >>> problem = Problem(Q=[[1, 1]], K=[[2, 0], [0, 1]], V=[[1], [3]], scale="none")
    >>> study = simulate(problem, "K[1] ~ N(mu, 0.1 I)", count=100, seed=1)
    >>> study.found[0].values.shape
    (100, 3)
    """
    from attncalc.reading.studies.draws import HOW_TO_DRAW

    simulating.check_draws(count, until)
    if not draws:
        raise InputError(f"no matrix is random: {HOW_TO_DRAW}")
    sources = [problem] if isinstance(problem, Problem | str | Path) else list(problem)
    problems = [_problem(source) for source in sources]
    how = {"count": count, "seed": seed, "until": until, "agreed": agreed}
    return Study(simulations(problems, draws, _texts(watch), _texts(given), **how))


def simulations(
    problems: Sequence[Problem],
    draws: Sequence[str],
    watch: Sequence[str],
    given: Sequence[str],
    **how: Any,
) -> tuple[simulating.Simulation, ...]:
    """Return the draws of problems side by side; the texts and `how` are as in `simulate`."""
    from attncalc.reading.studies.draws import read_draw
    from attncalc.reading.studies.watched import read_conditions, read_outputs, read_watched

    alone = len(problems) == 1  # outputs are comparable for any heads of their problems
    return tuple(
        simulating.simulate(
            each,
            [read_draw(text, each) for text in draws],
            read_watched(watch, each) if watch else read_outputs(each, weights_too=alone),
            given=read_conditions(given, each),
            **how,
        )
        for each in problems
    )


def aim(
    problem: Source,
    target: str,
    *,
    beta: object = aiming.USUAL_BETA,
    heads: int = 1,
    within: float | None = None,
) -> Study:
    """Design the query that copies a value, or averages several.

    Parameters
    ----------
    problem
        The keys and values: a problem, whose queries are ignored, or a file, which needs no
        queries.
    target
        The target, such as `"1/2 v_a + 1/2 v_b"`.
    beta
        The difference between the scaled scores of the target inputs and of the others.
    heads
        With several heads, each has a query for one value, and their outputs are averaged.
    within
        An error for which the smallest β is computed.

    Returns
    -------
    Study
        `study.found.queries` are the queries, `study.found.error` is the error of the output.

    Raises
    ------
    InputError
        If the target cannot be read, or no query can be designed for such a problem.

    Examples
    --------
    >>> problem = Problem(Q=[[0, 0]], K=[[1, 0], [0, 1]], V=[[1], [3]], scale="none")
    >>> aim(problem, "v_2").found.queries.tolist()
    [[0.0, 10.0]]
    """
    from attncalc.reading import read_problem
    from attncalc.reading.queryless import ANY_QUERY
    from attncalc.reading.studies.targets import read_target

    given = problem if isinstance(problem, Problem) else read_problem(problem, Q=ANY_QUERY)
    length = aiming.read_beta(beta)
    read = read_target(target, given)
    return Study(aiming.aim(given, read, beta=length, heads=heads, within=within))


def train(
    *problems: Source,
    steps: int = 20,
    rate: float | str | Fraction = "0.1",
    optimizer: str = "sgd",
    momentum: float | str | Fraction = "0.9",
    weight_decay: float | str | Fraction = 0,
    clip: float | str | Fraction | None = None,
    warmup: int = 0,
    watch: str | Iterable[str] = (),
    agreed: bool = False,
) -> Study:
    """Train the weights of a problem: repeat forward, loss, backward and step.

    Parameters
    ----------
    *problems
        The examples of the batch, or their files; L is the mean of their losses. The
        weights of the first are trained.
    steps
        The number of steps.
    rate
        The learning rate.
    optimizer
        `"sgd"`, `"momentum"`, `"adam"` or `"adamw"`.
    momentum
        β of momentum.
    weight_decay
        λ: λ W is added to the gradient; AdamW multiplies W by 1 - rate λ instead.
    clip
        The largest norm of the gradient.
    warmup
        Steps over which the rate grows linearly.
    watch
        The quantities recorded at each step, such as `"A[1,:]"`; by default the weights.
    agreed
        Whether to run even if it takes very long.

    Returns
    -------
    Study
        `study.found.values` contains the loss, the norm of the gradient and the watched quantities
        of each step; `study.found.trained` is the problem with its new matrices.

    Raises
    ------
    InputError
        If there is no target or nothing to train, or the loss diverges.

    Examples
    --------
    >>> given = {name: [[1, 0], [0, 1]] for name in ("X", "W_Q", "W_K", "W_V")}
    >>> study = train(Problem(**given, target=[[1, 0], [0, 1]]), steps=2)
    >>> study.found.values[:, 0].round(3).tolist()
    [0.218, 0.205, 0.191]
    """
    from attncalc.reading.studies.watched import read_watched

    if not problems:
        raise InputError("nothing to train: give a problem with a target")
    examples = [training.ready(_problem(each)) for each in problems]
    typed = {"rate": rate, "momentum": momentum, "weight_decay": weight_decay, "clip": clip}
    rule = training.Optimizer(optimizer, **training.read_numbers(typed), warmup=warmup)
    watched = read_watched(_texts(watch), examples[0])
    return Study(training.train(examples, watched, rule, steps=steps, agreed=agreed))


def _problem(source: Source) -> Problem:
    from attncalc.reading import read_problem

    return source if isinstance(source, Problem) else read_problem(source)


def _texts(given: str | Iterable[str]) -> list[str]:
    return [given] if isinstance(given, str) else list(given)
