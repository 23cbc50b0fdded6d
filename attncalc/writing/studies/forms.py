"""What a study found, in each form: for the command line and for Python."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from attncalc.studies.aim import Aim
from attncalc.studies.generate import Generation
from attncalc.studies.layers import Comparison, Lens, Rollout, Walk
from attncalc.studies.train import Training
from attncalc.studies.vary import Variation
from attncalc.writing.document import Document

if TYPE_CHECKING:  # some load matplotlib
    from attncalc.writing.plotting.look import Look
    from attncalc.writing.plotting.picture import Picture


class Forms(NamedTuple):
    """A study in each possible form; only the requested one is made.

    document: returns it for tables, markdown, LaTeX and HTML.
    json, csv: return its text, at once or in pieces.
    npz: writes it to an open file.
    picture: draws it, as "png", "svg" or "pdf".
    page: returns its interactive page; without it, the page is that of the document.
    """

    document: Callable[[], Document]
    json: Callable[[], str | Iterator[str]]
    csv: Callable[[], str | Iterator[str]]
    npz: Callable[[IO[bytes]], None]
    picture: Callable[[str, "Look"], "Picture"]
    page: Callable[[], str] | None = None


def forms_of(found: Any, *, cache: bool = False, apart: bool = False, **how: bool) -> Forms:
    """Return the forms of what a study found.

    found: a Variation, a Training, an Aim, a Generation, a Walk through the layers of a model, a
        Lens, a Rollout, a Comparison, or a sequence of Simulations.
    cache: whether the cache of generated tokens is shown.
    apart: whether the work of each step of a training is a document of its own.
    **how: whether documents are shown in `full`, and a training with its `work`.
    """
    if isinstance(found, Generation):
        from attncalc.writing.studies import generation

        return Forms(
            partial(generation.generation_document, found, cache=cache, **how),
            partial(generation.generation_as_json, found, cache=cache),
            partial(generation.generation_as_csv, found),
            partial(generation.write_generation_npz, found),
            partial(_tree, found),
        )
    if isinstance(found, Walk | Lens | Rollout | Comparison):
        from attncalc.writing.studies import layers

        return Forms(
            partial(layers.document_of, found, **how),
            partial(layers.as_json, found),
            partial(layers.as_csv, found),
            partial(layers.write_npz, found),
            partial(_of_layers, found),
            partial(_page_of_layers, found, **how) if isinstance(found, Walk) else None,
        )
    from attncalc.writing.studies import variation

    if isinstance(found, Variation):
        return Forms(
            partial(variation.variation_document, found, **how),
            partial(variation.variation_as_json, found),
            partial(variation.variation_as_csv, found),
            partial(variation.write_variation_npz, found),
            partial(_curves, found),
            partial(variation.variation_page, found, **how),
        )
    if isinstance(found, Training):
        from attncalc.writing.studies import training

        return forms_of(found.curve)._replace(
            document=partial(training.training_document, found, apart=apart, **how),
            json=partial(training.training_as_json, found),
            page=partial(training.training_page, found, **how),
        )
    if isinstance(found, Aim):
        from attncalc.writing.studies import aim

        return Forms(
            partial(aim.aim_document, found, **how),
            partial(aim.aim_as_json, found),
            partial(aim.aim_as_csv, found),
            partial(aim.write_aim_npz, found),
            partial(_curves, found),
        )
    from attncalc.writing.studies import simulation

    return Forms(
        partial(simulation.simulation_document, found, **how),
        partial(simulation.simulation_as_json, found),
        partial(simulation.simulation_as_csv, found),
        partial(simulation.write_simulation_npz, found),
        partial(_spreads, found),
    )


def _curves(found: Variation | Aim, form: str, look: "Look") -> "Picture":
    from attncalc.writing.plotting.curves import render_variation

    return render_variation(found.curve if isinstance(found, Aim) else found, form, look)


def _spreads(found: Any, form: str, look: "Look") -> "Picture":
    from attncalc.writing.plotting.spreads import render_simulation

    return render_simulation(found, form, look)


def _page_of_layers(found: Walk, *, full: bool = False) -> str:
    from attncalc.writing.html.layers import layers_page

    return layers_page(found, full=full)


def _of_layers(found: Any, form: str, look: "Look") -> "Picture":
    from attncalc.writing.plotting.head_grid import render_layers

    return render_layers(found, form, look)


def _tree(found: Generation, form: str, look: "Look") -> "Picture":
    from attncalc.writing.plotting.tree import render_generation

    return render_generation(found, form, look)
