"""What a study found, in each form: for the command line and for Python."""

from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from attncalc.studies.aim import Aim
from attncalc.studies.generate import Generation
from attncalc.studies.layers import Comparison, Lens, Rollout, Walk
from attncalc.studies.train import Training
from attncalc.studies.vary import Variation
from attncalc.writing.document import Document

if TYPE_CHECKING:  # some load matplotlib
    from attncalc.writing.plotting.drawing import Picture
    from attncalc.writing.plotting.figure import HouseFigure
    from attncalc.writing.plotting.look import Look

_STUDIES = (
    (Generation, "generation", "tree"),
    (Walk | Lens | Rollout | Comparison, "layers", "head_grid"),
    (Variation | Training, "variation", "curves"),
    (Aim, "aim", "curves"),
    (object, "simulation", "spreads"),
)
"""Results of studies; the module here with their `document`, `as_json`, `as_csv`, `write_npz` and,
if it is interactive, `page`; and the module of `plotting` with their `draw`."""


def _refused(*_: Any) -> Any:
    raise AssertionError("refused before")


class Forms(NamedTuple):
    """A study in each possible form; only the requested one is made.

    document: returns it for tables, markdown, LaTeX and HTML.
    picture: draws it, as "png", "svg" or "pdf".
    page: returns its interactive page; without it, the page is that of the document.
    """

    document: Callable[[], Document]
    json: Callable[[], str | Iterator[str]]
    csv: Callable[[], str | Iterator[str]] = _refused
    npz: Callable[[IO[bytes]], None] = _refused
    picture: Callable[[str, "Look"], "Picture"] = _refused
    page: Callable[[], str] | None = None


def forms_of(found: Any, *, cache: bool = False, apart: bool = False, **how: bool) -> Forms:
    """Return the forms of what a study found.

    found: a Variation, a Training, an Aim, a Generation, a Walk through the layers of a model, a
        Lens, a Rollout, a Comparison, or a sequence of Simulations.
    apart: whether the work of each step of a training is a document of its own.
    """
    if isinstance(found, Training):
        from attncalc.writing.studies import training

        return forms_of(found.curve)._replace(
            document=partial(training.document, found, apart=apart, **how),
            json=partial(training.as_json, found),
            page=partial(training.page, found, **how),
        )
    module = _module_of(found, "studies")
    kept = {"cache": cache} if isinstance(found, Generation) else {}
    return Forms(
        partial(module.document, found, **kept, **how),
        partial(module.as_json, found, **kept),
        partial(module.as_csv, found),
        partial(module.write_npz, found),
        partial(_drawn, found),
        partial(module.page, found, **how) if hasattr(module, "page") else None,
    )


def figure_of(found: Any, look: "Look") -> "HouseFigure":
    """Draw what a study found; of what has a curve, the curve."""
    figure: HouseFigure = _module_of(found, "plotting").draw(getattr(found, "curve", found), look)
    return figure


def _drawn(found: Any, form: str, look: "Look") -> "Picture":
    from attncalc.writing.plotting.drawing import picture_of

    return picture_of(figure_of(found, look), form)


def _module_of(found: Any, package: str) -> Any:
    """Return the module of a study in `studies` or in `plotting`."""
    written, drawn = next(names for kind, *names in _STUDIES if isinstance(found, kind))
    return import_module(f"attncalc.writing.{package}.{written if package == 'studies' else drawn}")
