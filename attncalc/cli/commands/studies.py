"""Common functions of the commands of studies: target and form."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from attncalc.base.errors import InputError
from attncalc.cli.commands.refusals import as_flags
from attncalc.cli.commands.screens import form_by_ending, table_of, written
from attncalc.cli.targets import STDOUT, Output, Target, check_targets, deliver, output, target_of
from attncalc.writing.forms import FORMS
from attncalc.writing.studies.forms import Forms

Flags = Mapping[str, Any]
PICTURES = (".png", ".svg", ".pdf")
ENDINGS = (*PICTURES, *(each[0] for each in FORMS.values()))


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
        form = flags["format"] or form_by_ending(target.place, ending, ENDINGS)
        given = [f"--{name}" for name in ("dark", "size") if flags.get(name)]
        if given:
            raise InputError(
                f"{' and '.join(given)} and no picture: name one, as -o study.png, or leave it out"
            )
    if form == "npz" and target.place is None:
        raise InputError("npz is binary: pass a file, as -o study.npz")
    check_targets(target)
    return Wanted(form, target)


def show(
    shown: Forms, wanted: Wanted, flags: Flags, *more: Output, with_table: bool = True
) -> None:
    """Write a study in the requested form, with other output; beside a picture, print the table."""
    # again, since inputs are known now
    check_targets(wanted.target, *(each.target for each in more))
    if wanted.form == "picture":
        table = [table_of(shown.document(), STDOUT)] if with_table else []
        deliver(_picture(shown, wanted.target, flags), *more, *table)
    else:
        deliver(_written(shown, wanted.form, wanted.target), *more)


def _picture(shown: Forms, target: Target, flags: Flags) -> Output:
    from attncalc.writing.plotting.look import Look, read_size

    assert target.place is not None
    with as_flags():
        look = Look(dark=flags["dark"], size=read_size(flags["size"]))
        drawn = shown.picture(target.place.suffix.lower()[1:], look)
    return output(target, drawn.content, *drawn.notes)


def _written(shown: Forms, form: str, target: Target) -> Output:
    if form == "npz":
        return output(target, shown.npz)
    if form in ("json", "csv"):
        return output(target, getattr(shown, form)())
    if form == "html" and shown.page:
        return output(target, shown.page())
    document = shown.document()
    if form == "table":
        return table_of(document, target)
    return output(target, written(document, form, target))
