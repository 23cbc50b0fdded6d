"""The marking that people hold: it prints as tables, with its score and what a teacher says."""

from attncalc.api.display import Displayed
from attncalc.grading import marks
from attncalc.grading.credit import Score, score
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
