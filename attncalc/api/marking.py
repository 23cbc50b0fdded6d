"""The marking that people hold: it prints as tables, with its score and what a teacher says."""

from collections.abc import Mapping
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

from attncalc.api.display import Displayed
from attncalc.errors import InputError
from attncalc.grading import marks
from attncalc.grading.credit import Score, score
from attncalc.grading.key import Key
from attncalc.grading.rules import Rules
from attncalc.numbers.typed import NotANumber, read_number
from attncalc.problem.fields import LINES
from attncalc.reading.names import unknown
from attncalc.writing.document import Document
from attncalc.writing.latex import write_latex
from attncalc.writing.markdown import write_markdown
from attncalc.writing.reports.marking import marking_document
from attncalc.writing.verdict import verdict


class Marking(Displayed, marks.Marking):
    """An answer, marked: what a marking is, `attncalc.grading.marks` says; here it shows itself.

    Printed, or in a notebook, it is what `attncalc check` prints.
    """

    @property
    def score(self) -> Score:
        """What is earned, of what could be."""
        return score(self)

    @property
    def verdict(self) -> tuple[str, ...]:
        """What a good teacher would write under the answer."""
        return verdict(self)

    def to_markdown(self, *, full: bool = False) -> str:
        """Return the page that `attncalc check --format markdown` prints.

        Parameters
        ----------
        full
            Show large matrices whole.
        """
        return write_markdown(self._as_pages(full=full))

    def to_html(self, *, full: bool = False) -> str:
        """Return the page that `attncalc check --format html` prints.

        Parameters
        ----------
        full
            Show large matrices whole.
        """
        from attncalc.writing.live.marked import write_marking

        return write_marking(self, "full" if full else "elided")

    def to_latex(self, *, full: bool = False, standalone: bool = False) -> str:
        r"""Return the page that `attncalc check --format latex` prints.

        Parameters
        ----------
        full
            Show large matrices whole.
        standalone
            Return a document; else a body to `\input` into one with amsmath.
        """
        return write_latex(self._as_pages(full=full), standalone=standalone)

    def _as_pages(self, *, full: bool) -> Document:
        return marking_document(self, "full" if full else "elided")

    def _as_document(self) -> Document:
        return marking_document(self)


NAMES = ("steps", *(each.name for each in fields(Rules)))
"""What `check` takes; `steps` is `asked` under the name of its flag."""
PENALTIES = ("follow_penalty", "rounding_penalty", "precision_penalty")


def rules_from(given: Mapping[str, Any]) -> Rules:
    """Return the rules that arguments say; refuse what is none."""
    for name in given:
        if name not in NAMES:
            raise InputError(f"check: {unknown(name, NAMES)}")
    said = {name: value for name, value in given.items() if value is not None}
    if "steps" in said and "asked" in said:
        raise InputError("steps and asked are both given: they are the same here, give one")
    if "steps" in said:
        said["asked"] = said.pop("steps")
    return Rules(**{name: _read(name, value) for name, value in said.items()})


def with_known_steps(
    rules: Rules, *keys: Key, asked: str = "steps", weights: str = "weights"
) -> Rules:
    """Return the rules with the steps under their own names; refuse what is no step."""
    steps = {name: step for key in keys for name, step in key.steps.items()}
    known = {name.lower(): name for name in steps}
    known |= {step.title: name for name, step in steps.items()}

    def named(where: str, name: str) -> str:
        if name == LINES:
            return name
        if name.lower() not in known:
            raise InputError(f"{where}: {unknown(name, [*steps, LINES])}")
        return known[name.lower()]

    return replace(
        rules,
        asked=rules.asked and tuple(named(asked, name) for name in rules.asked),
        weights={named(weights, name): each for name, each in rules.weights.items()},
    )


def _read(name: str, value: Any) -> Any:
    if name == "asked":
        return _names(value)
    if name == "weights":
        return _weights(value)
    if name in PENALTIES:
        return number_of(name, value, most=1)
    return float(number_of(name, value)) if name in ("atol", "rtol") else value


def _names(value: Any) -> tuple[str, ...]:
    """Return names in a list or a text."""
    names = value.split(",") if isinstance(value, str) else value
    if not isinstance(names, list | tuple):
        raise InputError('steps takes names, as "Q,A"')
    return tuple(str(each).strip() for each in names)


def _weights(value: Any) -> dict[str, Fraction]:
    if not isinstance(value, Mapping):
        raise InputError('weights takes numbers by step, as {"A": 2}')
    return {str(name): number_of(f"weights of {name}", each) for name, each in value.items()}


def number_of(name: str, value: Any, most: int | None = None) -> Fraction:
    """Return the number that is given, from 0 on."""
    try:
        number = Fraction(read_number(str(value)))
    except NotANumber as reason:
        raise InputError(f"{name}: {reason}") from None
    if number < 0 or (most is not None and number > most):
        raise InputError(
            f"{name} takes a number from 0{f' to {most}' if most else ''}, not {value}"
        )
    return number
