"""The marking in Python: it prints as tables, with its score and a verdict."""

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from difflib import get_close_matches
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any

from attncalc.api.display import Displayed, as_text
from attncalc.base.arrays import as_array
from attncalc.base.errors import InputError
from attncalc.base.typed import fraction_of
from attncalc.base.types import Matrix
from attncalc.grading import marks
from attncalc.grading.key import Key, key_of
from attncalc.grading.recipes.mistakes import codes
from attncalc.grading.rules import CONCEPTUAL, COPYING, Rules
from attncalc.grading.tensors import answer_of_tensors
from attncalc.problem.fields import LINES
from attncalc.problem.problem import Problem
from attncalc.reading.answers.answer import Answer
from attncalc.reading.dumps import precision_of, read_dump
from attncalc.reading.json_values import Typed, read_json_object
from attncalc.reading.names import unknown
from attncalc.writing.document import Document
from attncalc.writing.latex import write_latex
from attncalc.writing.markdown import write_markdown
from attncalc.writing.reports.marking import marking_document
from attncalc.writing.verdict import verdict


class Marking(Displayed, marks.Marking):
    """A marked answer: `attncalc.grading.marks` defines a marking, and this class displays it.

    It prints like `attncalc check`; a notebook displays its page.
    """

    @property
    def verdict(self) -> tuple[str, ...]:
        """The result in sentences."""
        return verdict(self)

    def to_markdown(self, *, full: bool = False) -> str:
        """Return the page that `attncalc check --format markdown` prints; `full` elides nothing."""
        return write_markdown(self._as_pages(full=full))

    def to_html(self, *, full: bool = False) -> str:
        """Return the page that `attncalc check --format html` prints; `full` elides nothing."""
        from attncalc.writing.live.marked import write_marking

        return write_marking(self, "full" if full else "elided")

    def to_latex(self, *, full: bool = False, standalone: bool = False) -> str:
        """Return the page that `attncalc check --format latex` prints.

        full: show large matrices in full; standalone: return a complete document.
        """
        return write_latex(self._as_pages(full=full), standalone=standalone)

    def __str__(self) -> str:
        return as_text(marking_document(self, "brief"))

    def _as_pages(self, *, full: bool) -> Document:
        return marking_document(self, "full" if full else "elided")

    def _as_document(self) -> Document:
        return marking_document(self)


OF_AN_ANSWER = ("hints",)
"""Rules that no rubric states."""
NAMES = ("steps", *(each.name for each in fields(Rules) if each.name not in OF_AN_ANSWER))
"""The arguments of `check` and keys of a rubric; `steps` is the flag for `asked`."""
DEFAULT = Rules()
KINDS = (CONCEPTUAL, COPYING)
OF_OTHERS = (
    *("activation", "arriving", "axes", "bias", "equation", "factor", "gradient", "head", "heads"),
    *("ids", "mask", "norm", "part", "patches", "positions", "residual", "rope", "step", "window"),
    *("wrong", "weights", "scale", "scores", "negated", "transposed"),
)
"""The first words of codes of other problems, which are not in `mistakes.eq`."""
SHARES = ("follow_penalty", "rounding_penalty", "precision_penalty")


def rules_from(
    given: Mapping[str, Any], base: Rules = DEFAULT, spelled: Callable[[str], str] = str
) -> Rules:
    """Return the rules given as arguments, or else the base ones; refuse unknown rules.

    Raises InputError if there is no such rule, or its value is invalid.

    base: the rules that apply by default. Weights and deductions are added to them.
    spelled: how messages name a rule.
    """
    for name in given:
        if name not in NAMES:
            raise InputError(f"check: {unknown(name, NAMES)}")
    said = {name: value for name, value in given.items() if value is not None}
    if "steps" in said and "asked" in said:
        raise InputError("steps and asked are the same here: pass only one")
    read = {name: _read(name, value, spelled(name)) for name, value in said.items()}
    if "steps" in read:
        read["asked"] = read.pop("steps")
    for name in ("weights", "deductions", "hint_costs"):
        read[name] = {**getattr(base, name), **read.get(name, {})}
    return replace(base, **read)


def read_rubric(place: str | Path) -> Rules:
    """Return the rules in a JSON file, by the names of `check`'s arguments."""
    said = read_json_object(Path(place), "a rubric")
    said.pop("$schema", None)  # a file may name its schema
    try:
        return rules_from(said)
    except InputError as error:
        raise InputError(f"{place}: {str(error).removeprefix('check: ')}") from None


def tensors_of(given: Any) -> tuple[dict[str, Matrix], str]:
    """Return the tensors of a program by name, and their source: of a file, or of objects.

    Of several in a list, such as one for each layer, each has its number behind the name.
    """
    if isinstance(given, str | Path):
        return read_dump(Path(given)), str(given)
    if not isinstance(given, Mapping):
        raise InputError("a dump is a file, or tensors by name, as {'h.0.attn': tensor}")
    found: dict[str, Matrix] = {}
    for name, each in given.items():
        is_listed = isinstance(each, list | tuple) and all(hasattr(one, "shape") for one in each)
        listed = {f"{name}[{n}]": one for n, one in enumerate(each)} if is_listed else {name: each}
        found |= {str(named): as_array(one) for named, one in listed.items() if one is not None}
    numbers = {name: array for name, array in found.items() if array.dtype.kind in "biuf"}
    if not numbers:
        raise InputError("a dump contains tensors of numbers by name, and there are none")
    return numbers, "the tensors"


def keyed_dump(
    problem: Problem,
    tensors: Mapping[str, Matrix],
    place: str,
    rules: Rules,
    names: Mapping[str, str] = MappingProxyType({}),
    share: float | None = None,
    known: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Key, Answer, Rules]:
    """Return the key for the tensors of a program, the steps that they are, and the rules.

    tensors, place: as in `answer_of_tensors`.
    rules: the rules; without a tolerance, `share` of the largest number of each step applies.
    names, known: fields by ends of names with a special meaning, and as in `answer_of_tensors`.
    share: the share; by default that of the tensors' type.
    """
    if rules.in_tolerance:
        share = 0.0
    elif share is None:
        share = precision_of(tensors.values())
    rules = rules if rules.in_tolerance else replace(rules, atol=0.0)
    key = key_of(problem, rules, share)
    return key, answer_of_tensors(key, tensors, place, names, known), rules


def with_known_steps(rules: Rules, *keys: Key, spelled: Callable[[str], str] = str) -> Rules:
    """Return the rules with the steps under their own names; refuse unknown steps and causes."""
    steps = {name: step for key in keys for name, step in key.steps.items()}
    known = {name.lower(): name for name in steps}
    known |= {step.title: name for name, step in steps.items()}

    def named(where: str, name: str) -> str:
        if name == LINES:
            return name
        if name.lower() not in known:
            raise InputError(f"{where}: {unknown(name, [*steps, LINES])}")
        return known[name.lower()]

    recipes = [each for key in keys for of_step in key.recipes.values() for each in of_step]
    causes = {*KINDS, *(each.code.split(":")[0] for each in recipes)}
    for code in rules.deductions:
        is_near = get_close_matches(code, causes, 1, 0.9)
        if code.split(":")[0] not in causes and (is_near or not _is_of_another_problem(code)):
            kind = code.split("-")[0]  # those of its kind are named first
            listed = sorted(causes, key=lambda each: (each.split("-")[0] != kind, each))
            raise InputError(f"{spelled('deductions')}: {unknown(code, listed, len(listed))}")
    return replace(
        rules,
        asked=rules.asked and tuple(named(spelled("steps"), name) for name in rules.asked),
        require=tuple(named(spelled("require"), name) for name in rules.require),
        weights={named(spelled("weights"), name): each for name, each in rules.weights.items()},
    )


def _is_of_another_problem(code: str) -> bool:
    """Return whether a code is that of a known mistake, or like those of other problems."""
    name = code.split(":")[0]
    return name.split("-")[0] in OF_OTHERS or name in {each.split(":")[0] for each in codes()}


def _read(name: str, value: Any, spelled: str) -> Any:
    if name in ("steps", "asked", "require"):
        names = value.split(",") if isinstance(value, str) else value
        is_listed = isinstance(names, list | tuple)
        if not is_listed or any(not isinstance(x, str) or isinstance(x, Typed) for x in names):
            raise InputError(f'{spelled} takes names, as "Q,A"')
        return tuple(each.strip() for each in names)
    if name in ("weights", "deductions", "hint_costs"):
        found = _numbers(value, spelled, most=None if name == "weights" else 1)
        if name == "hint_costs" and not found.keys() <= DEFAULT.hint_costs.keys():
            raise InputError(f'{spelled} takes the levels 1 to 3, as {{"2": "1/4"}}')
        return found
    number = number_of(spelled, value, most=1 if name in SHARES else None)
    if name == "points" and not number:
        raise InputError(f"{spelled} takes a number above 0, not {value}")
    return float(number) if name in ("atol", "rtol") else number


def _numbers(value: Any, spelled: str, most: int | None) -> dict[str, Fraction]:
    if not isinstance(value, Mapping):
        raise InputError(f'{spelled} takes numbers by name, as {{"A": 2}}')
    return {
        str(name): number_of(f"{spelled} of {name}", each, most) for name, each in value.items()
    }


def number_of(name: str, value: Any, most: int | None = None) -> Fraction:
    """Return a number from 0 to `most`."""
    number = fraction_of(value, name)
    if number < 0 or (most is not None and number > most):
        raise InputError(
            f"{name} takes a number from 0{f' to {most}' if most else ''}, not {value}"
        )
    return number
