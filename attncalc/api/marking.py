"""The marking that people hold: it prints as tables, with its score and what a teacher says."""

from dataclasses import fields
from typing import TYPE_CHECKING

from attncalc.api.display import Displayed
from attncalc.grading import marks
from attncalc.grading.credit import Score, score
from attncalc.writing.reports.markdown import marking_in_markdown
from attncalc.writing.reports.tables import marking_in_tables
from attncalc.writing.verdict import verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.text import Text

    from attncalc.writing.frames import Screen


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
        return marking_in_markdown(self, full=full)

    def _in_tables(self, screen: "Screen") -> "Iterator[Text]":
        return marking_in_tables(self, screen)


def shown_by_itself(marked: marks.Marking) -> Marking:
    """Return a marking of the house as one that can show itself."""
    return Marking(**{each.name: getattr(marked, each.name) for each in fields(marked)})
