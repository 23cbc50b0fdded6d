"""Selects parts of a solution: attentions and heads ("2", "mean", "cross.A,2"), and entries.

Names of entries are A[3,1], O[3,:], S or A["cats","like"]; with heads, A[2,3,1].
"""

import re
from collections.abc import Mapping, Sequence
from itertools import product
from typing import NamedTuple

from attncalc.base.errors import InputError
from attncalc.base.text import of_each, on_a_line
from attncalc.base.typed import quoted
from attncalc.base.types import Place
from attncalc.problem.step import Step
from attncalc.solving.influence import shape
from attncalc.solving.solution import Solution


def attention_and_head(
    solution: Solution, wanted: str | int | None, *, mean: bool = True
) -> tuple[Step, str]:
    """Return the requested weights, and the number of their head, "mean", or "" for all.

    solution: the solution; the weights of at least one attention are kept.
    wanted: the request. Without a name it refers to the first attention.
    """
    step, asked = _named("" if wanted is None else str(wanted).strip(), solution)
    count = max(1, len(solution.heads_of(step)))
    if asked == "" or (mean and asked.lower() == "mean"):
        return step, asked.lower()
    if asked not in [str(number) for number in range(1, count + 1)]:
        several = [each.name for each in solution.all_weights]
        named = f" (behind {' or '.join(several)}, as {several[-1]},1)" if several[1:] else ""
        or_mean = ", or mean" if mean else ""
        raise InputError(f"head takes 1 to {count}{or_mean}{named}, not {quoted(str(wanted))}")
    return step, asked


def _named(wanted: str, solution: Solution) -> tuple[Step, str]:
    """Return the named weights, and the text after their name."""
    name, _, rest = wanted.partition(",")
    steps = {each.name.lower(): each for each in solution.all_weights}
    if name.strip().lower() in steps:
        return steps[name.strip().lower()], rest.strip()
    return next(iter(steps.values())), wanted


def by_name(steps: Sequence[Step]) -> dict[str, Step]:
    """Return steps by title, by name in lower case, and as course notes name them: c, alpha."""
    names = {step.title: step for step in steps} | {step.name.lower(): step for step in steps}
    notes = {"alpha": "a", "α": "a", "c": "o"}
    return {note: names[name] for note, name in notes.items() if name in names} | names


HOW = "A[3,1], a row A[3,:], or all of it, A"
_REFERENCE = re.compile(r"([^\[\]]++)(?:\[(.*)\]\s*+)?", re.DOTALL)
_INDEX = re.compile(r"""\s*+(?:"((?:[^"\\]|\\.)*+)"|'((?:[^'\\]|\\.)*+)'|([^,"']++))\s*+,""")
_ESCAPED = re.compile(r"\\(.)")


def chosen_entries(
    solution: Solution, references: Sequence[str], steps: Mapping[str, Step]
) -> dict[str, tuple[Place, ...]]:
    """Return the requested places by step, each once, in the order of the request.

    references: the requests, such as A[3,1], with places as shown.
    steps: its steps, by each of their names, in lower case.
    """
    found: dict[str, dict[Place, None]] = {}
    for reference in references:
        step, axes = _parsed(solution, reference, steps)
        found.setdefault(step.name, {}).update(dict.fromkeys(product(*axes)))
    return {name: tuple(places) for name, places in found.items()}


def _parsed(
    solution: Solution, reference: str, steps: Mapping[str, Step]
) -> tuple[Step, list[list[int]]]:
    """Return the requested step, and the indices along each axis, from 0."""
    match = _REFERENCE.fullmatch(reference)
    step = steps.get(match[1].strip().lower()) if match else None
    if match is None or step is None or "[" in (match[2] or ""):  # one entry at a time
        known = ", ".join(step.name for step in solution.plan)
        raise InputError(f"{quoted(reference)} is not an entry: write {HOW} (steps: {known})")
    sizes = solution.shape_of(step.name)
    if match[2] is None:
        return step, [list(range(size)) for size in sizes]
    what = f"{quoted(reference)}: {step.name} is {shape(solution, step)}"
    indices = _indices(match[2])
    if indices is None or len(indices) != len(sizes):
        form = f"{step.name}[{f'{step.slices},' if len(sizes) == 3 else ''}row,column]"
        raise InputError(f"{what}: write {form}, with : for all")
    axes = (
        _Axis(step.slices, sizes[0], ()),
        _Axis("row", sizes[-2], solution.row_labels(step)),
        _Axis("column", sizes[-1], solution.column_labels(step)),
    )
    pairs = zip(indices, axes[-len(sizes) :], strict=True)
    return step, [axis.meant_by(*index, what) for index, axis in pairs]


def _indices(text: str) -> list[tuple[str, bool]] | None:
    """Return the texts between commas, and whether each is quoted; None if unreadable."""
    found: list[tuple[str, bool]] = []
    text, position = f"{text},", 0
    while position < len(text):
        match = _INDEX.match(text, position)
        if match is None:
            return None
        double, single, bare = match.groups()
        label = double if single is None else single
        is_bare = bare is not None
        found.append((bare.strip(), False) if is_bare else (_ESCAPED.sub(r"\1", label), True))
        position = match.end()
    return found


class _Axis(NamedTuple):
    """One axis of a matrix: its kind, its size, and its labels."""

    kind: str
    size: int
    labels: Sequence[str]

    def meant_by(self, index: str, is_label: bool, what: str) -> list[int]:
        """Return the places that an index refers to, from 0; `what` starts a message."""
        if index == ":" and not is_label:
            return list(range(self.size))
        if re.fullmatch(r"[+-]?[0-9]{1,12}", index) and not is_label:
            if not 1 <= int(index) <= self.size:
                raise InputError(
                    f"{what}, so there is no {self.kind} {int(index)}: use 1 to {self.size}"
                )
            return [int(index) - 1]
        if index not in self.labels:
            names = of_each([on_a_line(name) for name in self.labels])
            known = f"there are {names}" if self.labels else f"give 1 to {self.size}"
            raise InputError(f"{what}, and there is no {self.kind} named {quoted(index)}: {known}")
        return [self.labels.index(index)]
