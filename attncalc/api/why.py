"""The parts of numbers in Python, and the parts of logits of a problem or a model."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from attncalc.api.display import Displayed
from attncalc.api.models import Fields, Opened
from attncalc.base.errors import InputError
from attncalc.base.typed import quoted
from attncalc.base.types import Matrix
from attncalc.problem.fields import LAST
from attncalc.reading.models.tokens import ids_of
from attncalc.solving.choosing import by_name, chosen_entries
from attncalc.solving.solution import Solution, solve
from attncalc.solving.why import Part, Why, attributed, checked, inside
from attncalc.solving.why import why as parts_of_entry

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from attncalc.writing.document import Document

_LOGIT = re.compile(r"""\s*+logits\[\s*+(\d++)\s*+,\s*+(\d++|'[^']*+'|"[^"]*+")\s*+\]\s*+""")
HOW = "contributions of the embedding, heads and feed-forward parts; normalization scales fixed"
DECIMALS = 4
"""Decimals of the parts of a model's logits."""
Logits = list[tuple[int, int, int]]
"""Rows and columns of logits as written, each with its sign."""


@dataclass(frozen=True, repr=False)
class Whys(Displayed):
    """The parts of numbers: printed, or in a notebook, tables with bars.

    Parameters
    ----------
    found
        The parts of each number.
    title, decimals
        The title, and the decimals of the problem.
    """

    found: tuple[Why, ...]
    title: str
    decimals: int

    @property
    def entry(self) -> str:
        """The first number: an entry, or the logarithm of it."""
        return self.found[0].entry

    @property
    def how(self) -> str:
        """How the parts make the first number, in a sentence."""
        return self.found[0].how

    @property
    def value(self) -> Any:
        """The first number: the sum of its parts."""
        return self.found[0].value

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts of the first number, each with a text, a value, and what to ask next."""
        return self.found[0].parts

    def plot(self, *, dark: bool = False, size: Any = None) -> "Figure":
        """Draw the parts as bars, a panel for each number.

        Raises
        ------
        InputError
            If the size is too small.
        """
        from attncalc.writing.plotting.bars import draw_whys
        from attncalc.writing.plotting.look import Look, read_size

        look = Look(dark=dark, size=read_size(size))
        return draw_whys(self.found, self.title, self.decimals, look)

    def _as_document(self) -> "Document":
        from attncalc.writing.reports.why import why_document

        return why_document(self.found, self.title, self.decimals, full=False)


def why_of_problem(solution: Solution, entry: str, of: str | None = None) -> Whys:
    """Return the parts of each entry that is named, or of a logit by components.

    Parameters
    ----------
    solution
        The solution, with all steps.
    entry
        The entry or row, or a difference of logits.
    of
        The component of a logit whose parts are returned instead.

    Raises
    ------
    InputError
        If there is no such entry or component.
    """
    title, decimals = solution.problem.title or "Why", solution.problem.decimals
    logits = read_logits(entry)
    if logits and any(step.name == "logits" for step in solution.plan):
        start, value = _weighed(solution, logits, 1)
        if of is not None:
            found = _inside(entry, of, inside(solution, start, of))
            return Whys((found,), title, decimals)
        parts, tokens = attributed(solution, start)
        X = np.asarray(solution.problem.given["X"], dtype=float)
        parts = (Part("X", float((tokens * X).sum())), *parts)
        dtype = solution.problem.dtype
        return Whys((checked(entry, HOW, value, parts, dtype),), title, decimals)
    if len(logits) > 1:
        raise InputError(f"{quoted(entry)}: this problem has no logits")
    if of is not None:
        raise InputError("the parts of a component are those of a logit: name one, as logits[1,2]")
    known = {step.name: step for step in solution.plan}
    entries = chosen_entries(solution, [entry], by_name(solution.plan))
    pairs = [(name, place) for name, places in entries.items() for place in places]
    return Whys(tuple(parts_of_entry(solution, known[n], at) for n, at in pairs), title, decimals)


def why_of_model(opened: Opened, said: Fields, entry: str, of: str | None = None) -> Whys:
    """Return the contributions to a logit of a model, of all its layers, one in memory at a time.

    Parameters
    ----------
    opened
        The model with its tokens.
    said
        Fields that replace the model's.
    entry
        A logit, or a difference of two.
    of
        The component whose parts are returned instead.

    Raises
    ------
    InputError
        If it is another entry, or no part of the model adds to the logits directly.
    """
    model, folder = opened.model, opened.model.folder
    logits = read_logits(entry, lambda text: ids_of(folder, text))
    if not logits:
        raise InputError(
            f"{quoted(entry)}: of a model, ask for a logit: logits[2,40], or a difference: "
            "logits[2,40] - logits[2,'cat'] (rows from 1; columns are tokens or their ids)"
        )
    _check_adds(opened)
    parts: list[Part] = []
    start: dict[str, Matrix] = {}
    value = 0.0
    for number, solution in _backwards(opened, said):
        if not start:
            start, value = _weighed(solution, logits, 0)
        where = f"layer {number}, "
        if of is not None and of.startswith(where):
            found = _inside(entry, of, inside(solution, start, of, where))
            return Whys((found,), model.family.title, DECIMALS)
        made, tokens = attributed(solution, start, where)
        parts[:0] = made
        start = {LAST: tokens}
    if of is not None:
        names = [name for each in parts for name in each.asks]
        raise InputError(f"{quoted(of)} is no component: there are {', '.join(names)}")
    parts[:0] = _embedded(solution, tokens, opened.first)
    found = checked(entry.strip(), HOW, value, tuple(parts), solution.problem.dtype)
    return Whys((found,), model.family.title, DECIMALS)


def _check_adds(opened: Opened) -> None:
    """Refuse a model whose parts do not add to logits of tokens."""
    model = opened.model
    if model.takes != "tokens" or model.family.decoder is not None or opened.ids == []:
        raise InputError("why reads models of one stack of layers over tokens, such as GPT-2")
    if model.layer(0).get("norm") not in ("pre", "around", "output"):
        raise InputError(
            f"{model.family.title} normalizes after each part, so no part adds to the logits "
            "directly: open a layer with attncalc open, and ask why of it"
        )
    if model.head is None or model.has_classes:
        raise InputError("this model has no logits of tokens: its folder holds no such head")


def _backwards(opened: Opened, said: Fields) -> Iterator[tuple[int, Solution]]:
    """Run all layers, and yield the solution of each, the last first: one is in memory at a time.

    The last has the head, at every token.
    """
    last = opened.model.count - 1
    read = [opened.start(said)]
    for number in range(opened.first, last):
        made = solve(opened.at(number, read[-1]), keep=(LAST,), proves=False)
        read.append(opened.after(made.floats[LAST]))
    for number in range(last, opened.first - 1, -1):
        problem = opened.at(number, read.pop(), ends=number == last)
        if number == last and problem.read != "all":
            problem = problem.with_field("read", "all")
        yield number, solve(problem, proves=False)


def _embedded(solution: Solution, tokens: Matrix, first: int) -> list[Part]:
    """Return the contributions of what the first layer reads."""
    given = solution.problem.given
    X = np.asarray(given["X"], dtype=float)
    name = f"input of layer {first}" if first else "embedding"
    made = [Part(name, float((tokens * X).sum()))]
    if "P" in given:
        added = np.asarray(given["P"], dtype=float)[: len(X)]
        made.append(Part("positions", float((tokens * added).sum())))
    return made


def _inside(entry: str, of: str, parts: tuple[Part, ...]) -> Why:
    if not parts:
        raise InputError(f"{quoted(of)} is no component with parts: ask why without it to see all")
    what = "tokens" if parts[0].text.startswith("token ") else "features"
    whole = sum(each.value for each in parts)
    return Why(f"{of} in {entry.strip()}", f"the sum over {what}", whole, parts)


def read_logits(entry: str, ids: Callable[[str], list[int]] | None = None) -> Logits:
    """Return the places of logits in a difference, each with its sign; [] for other entries.

    Parameters
    ----------
    entry
        The text.
    ids
        Returns the ids of a text; without it, columns are numbers.

    Raises
    ------
    InputError
        If a text is not one token.
    """
    one, _, other = entry.partition(" - ") if " - " in entry else entry.partition("-")
    found: Logits = []
    for text, sign in ((one, 1), (other, -1)):
        match = _LOGIT.fullmatch(text)
        if match:
            found.append((int(match[1]), _column(match[2], ids), sign))
        elif text.strip() or sign == 1:
            return []
    return found


def _column(text: str, ids: Callable[[str], list[int]] | None) -> int:
    if text.isdecimal():
        return int(text)
    if ids is None:
        raise InputError(f"{text}: name the column by its number, as logits[1,2]")
    found = ids(text[1:-1])
    if len(found) != 1:
        raise InputError(f"{text} is {len(found)} tokens: a logit is of one: ids {found}")
    return found[0]


def _weighed(solution: Solution, logits: Logits, first: int) -> tuple[dict[str, Matrix], float]:
    """Return the weight of each logit in the number, and the number."""
    made = np.asarray(solution.carried["logits"], dtype=float)
    weight = np.zeros(made.shape)
    rows, columns = map(int, solution.shape_of("logits"))
    for row, column, sign in logits:
        if not (1 <= row <= rows and first <= column < columns + first):
            raise InputError(
                f"logits[{row},{column}]: the logits have rows 1 to {rows}, and columns {first} to "
                f"{columns + first - 1}"
            )
        weight[row - 1, column - first] += sign
    return {"logits": weight}, float((weight * made).sum())
