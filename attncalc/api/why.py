"""The parts of numbers in Python, and the parts of logits of a problem or a model."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from attncalc.api.display import Displayed
from attncalc.api.models import Fields, Opened
from attncalc.base.errors import InputError
from attncalc.base.typed import quoted
from attncalc.base.types import Matrix
from attncalc.problem.fields import LAST, own_name
from attncalc.reading.models.tokens import ids_of
from attncalc.solving.choosing import by_name, chosen_entries
from attncalc.solving.solution import Solution, solve
from attncalc.solving.why import (
    TOKENS,
    Part,
    Why,
    attributed,
    checked,
    ends_of,
    inside,
    over_tokens,
    rows_of,
)
from attncalc.solving.why import why as parts_of_entry
from attncalc.solving.why_score import why_score

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from attncalc.writing.document import Document

_OUTPUT = re.compile(
    r"""\s*+(logits(?:_uncapped)?|[FG]_pre|Y)\[\s*+(\d++)\s*+,\s*+(\d++|'[^']*+'|"[^"]*+")\s*+\]\s*+"""
)
_OF_LAYER = re.compile(r"\s*+(\d{1,6})\.(\w.*+)", re.DOTALL)
HOW = "contributions of the embedding, heads and feed-forward parts; normalization scales fixed"
DECIMALS = 4
"""Decimals of the parts of a model's logits."""
NAMES = {"X": "embedding", "P": "positions", "W_type": "token types", "class_token": "class token"}
"""What the first layer of a model reads."""
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

    Raises InputError if there is no such entry or component.

    entry: the entry or row, or a difference of logits.
    of: the component of a logit whose parts are returned instead.
    """
    title, decimals = solution.problem.title or "Why", solution.problem.decimals
    name, logits = read_logits(entry)
    if name.startswith("logits") and any(step.name == name for step in solution.plan):
        start, value = _weighed(solution, name, logits, 1)
        made = attributed(solution, start)
        if of is not None:
            rows = rows_of(solution, made.ends, {}, of)
            pair = rows if rows[1] else inside(solution, start, of)
            return Whys((_inside(solution, pair, entry, of),), title, decimals)
        parts = (*ends_of(solution, made.ends, {}), *made.parts)
        dtype = solution.problem.dtype
        return Whys((checked(entry, _how(made.fixed), value, parts, dtype),), title, decimals)
    if len(logits) > 1:
        raise InputError(f"{quoted(entry)}: this problem has no {name}")
    if of is not None:
        raise InputError("the parts of a component are those of a logit: name one, as logits[1,2]")
    known = {step.name: step for step in solution.plan}
    entries = chosen_entries(solution, [entry], by_name(solution.plan))
    found: list[Why] = []
    for name, places in entries.items():
        if own_name(name) == "O":
            found += over_tokens(solution, known[name], places)
            continue
        found += (
            why_score(solution, known[name], at) or parts_of_entry(solution, known[name], at)
            for at in places
        )
    return Whys(tuple(found), title, decimals)


def why_of_model(opened: Opened, said: Fields, entry: str, of: str | None = None) -> Whys:
    """Return the contributions to a logit of a model, of all its layers, one in memory at a time.

    Raises InputError if it is another entry, or no part of the model adds to the logits directly.

    said: fields that replace the model's.
    of: the component whose parts are returned instead.
    """
    if match := _OF_LAYER.fullmatch(entry):
        return _of_layer(opened, said, int(match[1]), match[2], of)
    title, decimals = opened.model.family.title, said.get("decimals", DECIMALS)
    name, logits = read_logits(entry, partial(_ids, opened))
    if not logits:
        raise InputError(
            f"{quoted(entry)}: of a model, ask for a logit, logits[2,40], a difference, "
            "logits[2,40] - logits[2,'cat'] (rows from 1; columns are tokens or their ids), an "
            "entry of the last outputs, Y[2,1], or one of a layer, 3.S[1,2,3]"
        )
    if name != LAST:
        _check_head(opened)
    parts: list[Part] = []
    start: dict[str, Matrix] = {}
    fixed: list[str] = []
    for number, solution in _backwards(opened, said, {row for row, *_ in logits}):
        if not start:
            start, value = _weighed(solution, name, logits, 0 if name.startswith("logits") else 1)
        where = f"layer {number}, "
        if of is not None and of.startswith(where):
            pair = inside(solution, start, of, where)
            return Whys((_inside(solution, pair, entry, of),), title, decimals)
        made = attributed(solution, start, where)
        others = _of_equations(opened, solution, made.ends, where) if number > opened.first else ()
        parts[:0] = (*made.parts, *others)
        fixed[:0] = made.fixed
        start = {LAST: next((made.ends[n] for n in TOKENS if n in made.ends), np.zeros(0))}
    first = f"input of layer {opened.first}" if opened.first else NAMES["X"]
    called = NAMES | {f"{name}1": each for name, each in NAMES.items()} | {"X": first, "X1": first}
    parts[:0] = ends_of(solution, made.ends, called)
    if of is not None:
        names = [name for each in parts for name in each.asks]
        pair = rows_of(solution, made.ends, called, of)
        return Whys((_inside(solution, pair, entry, of, names),), title, decimals)
    how = _how(tuple(fixed))
    found = checked(entry.strip(), how, value, tuple(parts), solution.problem.dtype)
    return Whys((found,), title, decimals)


def _of_equations(
    opened: Opened, solution: Solution, ends: Mapping[str, Matrix], where: str
) -> Iterator[Part]:
    """Yield the contributions of what equations of a later layer, or of the head, alone read."""
    own = {n: each for n, each in ends.items() if n not in TOKENS}
    named = {n: f"{where if n in opened.model.of_layers else 'head, '}{n}" for n in own}
    yield from (each._replace(asks=()) for each in ends_of(solution, own, named))


def _of_layer(opened: Opened, said: Fields, number: int, entry: str, of: str | None) -> Whys:
    """Return the parts of an entry of a layer; what can be asked next is of the same layer."""
    solution = solve(opened.problem(number, said), proves=False)
    found = why_of_problem(solution, entry, of).found
    start = f"{number}."
    found = tuple(
        each._replace(
            parts=tuple(p._replace(asks=tuple(f"{start}{a}" for a in p.asks)) for p in each.parts)
        )
        for each in found
    )
    title = f"{opened.model.family.title}, layer {number}"
    return Whys(found, title, said.get("decimals", DECIMALS))


def _how(fixed: tuple[str, ...]) -> str:
    """Return the sentence about contributions, with the steps whose factors are fixed."""
    more = f"; factors of {', '.join(dict.fromkeys(fixed))} fixed" if fixed else ""
    return f"{HOW}{more}"


def _ids(opened: Opened, text: str) -> list[int]:
    """Return the ids of a text: tokens, or the class of this name."""
    model = opened.model
    if not model.has_classes:
        return ids_of(model.folder, text)
    names = model.config.get("id2label", {})
    names = names if isinstance(names, dict) else {}
    return [int(key) for key, name in names.items() if name == text and str(key).isdecimal()]


def _check_head(opened: Opened) -> None:
    """Refuse a model without logits, or the encoder before a decoder."""
    model = opened.model
    if model.head is None:
        has_more = model.decoder is not None
        more = "give --decoder-tokens for those of its decoder, or " if has_more else ""
        raise InputError(
            f"this model has no logits of tokens: its folder has no such head: {more}ask for an "
            "entry of a layer, as 0.S[1,2,3], or of the last outputs, as Y[1,1]"
        )


def _backwards(opened: Opened, said: Fields, rows: set[int]) -> Iterator[tuple[int, Solution]]:
    """Run all layers, and yield the solution of each, the last first: one is in memory at a time.

    The last has the head, of words at every token if other rows than the last are asked for.
    """
    last = opened.model.count - 1
    read = [opened.start(said)]
    for number in range(opened.first, last):
        made = solve(opened.at(number, read[-1]), keep=(LAST,), proves=False)
        read.append(opened.after(made.floats[LAST]))
    for number in range(last, opened.first - 1, -1):
        problem = opened.at(number, read.pop(), ends=number == last)
        is_of_words = problem.read == "last" and not opened.model.has_classes
        if number == last and is_of_words and rows != {len(opened.asks)}:
            problem = problem.with_field("read", "all")
        yield number, solve(problem, proves=False)


def _inside(
    solution: Solution,
    pair: tuple[float, tuple[Part, ...]],
    entry: str,
    of: str,
    there: Sequence[str] = (),
) -> Why:
    """Return the parts of a component, or the rows of a matrix, which have this sum."""
    value, parts = pair
    if not parts and there:
        raise InputError(f"{quoted(of)} is not a component: there are {', '.join(there)}")
    if not parts:
        raise InputError(f"{quoted(of)} has no parts: call why without it to see all components")
    what = {"t": "tokens", "e": "experts", "r": "rows"}.get(parts[0].text[0], "features")
    name, dtype = f"{of} in {entry.strip()}", solution.problem.dtype
    return checked(name, f"the sum over {what}", value, parts, dtype)


def read_logits(entry: str, ids: Callable[[str], list[int]] | None = None) -> tuple[str, Logits]:
    """Return the places of outputs in a difference, each with its sign, and the name of their step.

    Of other entries, there are none. Raises InputError if a text is not one token.

    ids: returns the ids of a text; without it, columns are numbers.
    """
    one, _, other = entry.partition(" - ") if " - " in entry else entry.partition("-")
    matches = [_OUTPUT.fullmatch(text) for text in (one, other) if text.strip()]
    names = {match and match[1] for match in matches}
    if None in names or len(names) != 1:
        return "", []
    signed = zip(filter(None, matches), (1, -1), strict=False)
    found = [(int(match[2]), _column(match[3], ids), sign) for match, sign in signed]
    return str(names.pop()), found


def _column(text: str, ids: Callable[[str], list[int]] | None) -> int:
    if text.isdecimal():
        return int(text)
    if ids is None:
        raise InputError(f"{text}: name the column by its number, as logits[1,2]")
    found = ids(text[1:-1])
    if len(found) != 1:
        raise InputError(f"{text} is {len(found)} tokens: a logit is of one: ids {found}")
    return found[0]


def _weighed(
    solution: Solution, name: str, logits: Logits, first: int
) -> tuple[dict[str, Matrix], float]:
    """Return the weight of each logit in the number, and the number."""
    steps = {step.name for step in solution.plan}
    if name not in steps:
        there = [each for each in ("logits", "F_pre", "G_pre") if each in steps]
        has = " and ".join(there) or "no logits"
        raise InputError(f"{name}: this model has {has}")
    made = np.asarray(solution.carried[name], dtype=float)
    weight = np.zeros(made.shape)
    rows, columns = map(int, solution.shape_of(name))
    count = len(solution.problem.queries)
    for asked, column, sign in logits:
        row = 1 if rows == 1 and asked == count else asked  # the only one that the head reads
        if not (1 <= row <= rows and first <= column < columns + first):
            of_rows = f"row {count}" if rows == 1 else f"rows 1 to {rows}"
            raise InputError(
                f"{name}[{asked},{column}]: it has {of_rows}, and columns {first} to "
                f"{columns + first - 1}"
            )
        weight[row - 1, column - first] += sign
    return {name: weight}, float((weight * made).sum())
