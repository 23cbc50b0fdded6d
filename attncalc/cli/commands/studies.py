"""Common functions of the commands of studies: target and form."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from attncalc.base.errors import InputError, OutputError
from attncalc.base.typed import quoted
from attncalc.cli.commands.refusals import as_flags
from attncalc.cli.commands.screens import tables_of
from attncalc.cli.targets import STDOUT, Output, Target, check_targets, deliver, output, target_of
from attncalc.writing.forms import FORMS, form_of
from attncalc.writing.studies.forms import Forms

if TYPE_CHECKING:  # some load matplotlib
    from attncalc.writing.files import Content

Flags = Mapping[str, Any]
PICTURES = (".png", ".svg", ".pdf")


class Wanted(NamedTuple):
    """The requested form, or "picture", and its target."""

    form: str
    target: Target


def wanted_from(flags: Flags) -> Wanted:
    """Return the form that the flags ask for."""
    target = target_of("--out", flags["out"])
    ending = "" if target.place is None else target.place.suffix.lower()
    if ending in PICTURES:
        form = "picture"
        if flags["format"]:
            raise InputError(f"--format {flags['format']} and {ending} together: give one of them")
    else:
        form = flags["format"] or _implied(target.place, ending)
        given = [f"--{name}" for name in ("dark", "size") if flags.get(name)]
        if given:
            raise InputError(
                f"{' and '.join(given)} and no picture: name one, as -o study.png, or leave it out"
            )
    if form == "npz" and target.place is None:
        raise InputError("npz is binary: pass a file, as -o study.npz")
    check_targets(target)
    return Wanted(form, target)


def _implied(place: Path | None, ending: str) -> str:
    if not ending:
        return "table"
    form = form_of(ending)
    if form is None:
        endings = [*PICTURES, *(endings[0] for endings in FORMS.values())]
        raise OutputError(
            f"{place}: {quoted(ending)} is not an output format: end the name in "
            f"{', '.join(endings[:-1])} or {endings[-1]}, or pass --format"
        )
    return form


def show(shown: Forms, wanted: Wanted, flags: Flags, *more: Output) -> None:
    """Write a study in the requested form, with other output; beside a picture, print the table."""
    # again, since inputs are known now
    check_targets(wanted.target, *(each.target for each in more))
    if wanted.form == "picture":
        deliver(picture_of_study(shown, wanted.target, flags), *more, _table(shown, STDOUT))
    else:
        deliver(_WRITERS[wanted.form](shown, wanted.target), *more)


def picture_of_study(shown: Forms, target: Target, flags: Flags) -> Output:
    """Return the picture of a study."""
    from attncalc.writing.plotting.look import Look, read_size

    assert target.place is not None
    with as_flags():
        look = Look(dark=flags["dark"], size=read_size(flags["size"]))
        drawn = shown.picture(target.place.suffix.lower()[1:], look)
    return output(target, drawn.content, *drawn.notes)


def _table(shown: Forms, target: Target) -> Output:
    from attncalc.writing.terminal import write_notes

    document = shown.document()
    text, notes = tables_of(document, target), tuple(write_notes(document))
    if target.place is not None:
        text = "\n".join([text, *(f"note: {note}\n" for note in notes)])
    return output(target, text, *notes)


def _markdown(shown: Forms, target: Target) -> Output:
    from attncalc.writing.markdown import write_markdown

    return output(target, write_markdown(shown.document()))


def _html(shown: Forms, target: Target) -> Output:
    from attncalc.writing.html.page import write_html

    return output(target, shown.page() if shown.page else write_html(shown.document()))


def _latex(shown: Forms, target: Target) -> Output:
    from attncalc.writing.latex import write_latex

    return output(target, write_latex(shown.document()))


def _data(name: str, shown: Forms, target: Target) -> Output:
    content: Content = shown.npz if name == "npz" else getattr(shown, name)()
    return output(target, content)


_WRITERS: dict[str, Callable[[Forms, Target], Output]] = {
    "table": _table,
    "markdown": _markdown,
    "latex": _latex,
    "html": _html,
    "json": partial(_data, "json"),
    "csv": partial(_data, "csv"),
    "npz": partial(_data, "npz"),
}
