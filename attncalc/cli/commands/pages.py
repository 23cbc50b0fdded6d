"""The requested form of a page, and the page in this form."""

import re
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from attncalc.base.errors import InputError, OutputError
from attncalc.base.latex_text import LETTER, on_foreign
from attncalc.cli.commands.screens import form_by_ending, table_of
from attncalc.cli.streams import reporting
from attncalc.cli.targets import Output, Target, check_targets, output, target_or_folder
from attncalc.writing.files import Content, is_straight
from attncalc.writing.forms import FORMS
from attncalc.writing.page import Page

if TYPE_CHECKING:  # it loads matplotlib
    from attncalc.writing.plotting.drawing import Picture

PDF = ".pdf"
MAP = "map.pdf"
"""The picture of a page, for as long as that is typeset."""


class Form(NamedTuple):
    """The requested form of a page.

    name: one of `FORMS`, or "pdf".
    standalone: whether LaTeX is a complete document.
    practice: whether an HTML worksheet is filled in within the browser.
    """

    name: str
    target: Target
    standalone: bool = False
    unfolded: bool = False
    practice: bool = False
    marks: bool = True

    @property
    def picture(self) -> str | None:
        """The name of the picture with the page, if there is a place for one."""
        place = self.target.place
        if place is None or is_straight(place):
            return None
        stem = place.stem if re.fullmatch(r"[\w-]+", place.stem, re.ASCII) else "page"
        if self.name == "markdown":
            return f"{stem}-map.png"
        return f"{stem}-map.pdf" if self.standalone else None


def form_from(flags: Mapping[str, Any]) -> Form:
    """Return the form that the flags request; refuse impossible and harmful ones."""
    target = target_or_folder("--out", flags["out"])
    name = flags["format"] or _implied_form(target, flags)
    unfolded, practice = flags.get("work") or flags.get("entry"), flags.get("practice")
    marks = not flags.get("no_marking")
    form = Form(name, target, flags["standalone"], bool(unfolded), bool(practice), marks)
    _check_form(form, flags)
    check_targets(target)
    return form


def _implied_form(target: Target, flags: Mapping[str, Any]) -> str:
    """Return the form that the ending of the file asks for, or --standalone does."""
    place = target.place
    if target.is_folder:
        return "csv"
    if place is None or not place.suffix:
        return "latex" if flags["standalone"] else "table"
    if place.suffix.lower() == PDF:
        return "pdf"
    return form_by_ending(place, place.suffix, [*(each[0] for each in FORMS.values()), PDF])


def _check_form(form: Form, flags: Mapping[str, Any]) -> None:
    """Refuse a part that a form cannot contain, with the forms that can."""
    name, target = form.name, form.target
    if name == "npz" and target.place is None and (flags["out"] is None or sys.stdout.isatty()):
        raise InputError("npz is binary: pass a file, as -o steps.npz")
    if form.standalone and name == "html":
        raise InputError("html is always a complete document: --standalone is for latex")
    if not (form.practice or form.marks):
        raise InputError("--no-marking is for a practice worksheet: add --practice")
    if form.practice and name != "html":
        raise InputError(
            "--practice is for a page of HTML: end the name in .html, or pass --format html"
        )
    if form.standalone and name not in ("latex", "pdf"):
        raise InputError(f"{name} has no complete documents: --standalone is for --format latex")
    if name == "npz" and (flags["blank"] or flags["fractions"] or flags["mixed"]):
        what = "a worksheet" if flags["blank"] else "fractions"
        raise InputError(
            f"npz cannot contain {what}: table, markdown, latex, html, csv and json can (--format)"
        )
    if target.is_folder and name != "csv":
        raise OutputError(f"{target.place} is a folder: csv is written to one, {name} to a file")


def output_of(page: Page, form: Form) -> Output:
    """Return a page in a form: its text or its files, and notes."""
    return _WRITERS[form.name](page, form)


def _markdown(page: Page, form: Form) -> Output:
    from attncalc.writing.markdown import write_markdown

    picture = form.picture if page.has_map else None
    return _with_picture(page, form.target, write_markdown(page, picture=picture), picture)


def _html(page: Page, form: Form) -> Output:
    from attncalc.writing.live.made import write_page

    text = write_page(page, unfolded=form.unfolded, practice=form.practice, marks=form.marks)
    return output(form.target, text, *page.advice)


def _latex(page: Page, form: Form) -> Output:
    from attncalc.writing.latex import write_latex

    picture = None if page.is_blank or not page.has_map else form.picture  # it draws its own dots
    text = write_latex(page, standalone=form.standalone, picture=picture)
    made = output(form.target, text, *page.advice)
    if form.standalone:
        made = _with_picture(page, form.target, text, picture)
    return made._replace(notes=(*made.notes, *on_foreign(text)))


def _pdf(page: Page, form: Form) -> Output:
    """Typeset the page with LaTeX, its map in it; lay it out here if there is none, or it fails."""
    from attncalc.writing.pdf import typesetter

    assert form.target.place is not None  # without a name there is no ending
    name, failed = typesetter(), tuple[str, ...]()
    if name is not None:
        try:
            return _typeset(page, form.target, form.target.place, name)
        except OutputError as error:
            failed = (str(error),)
    from attncalc.writing.paper.writer import write_paper

    with reporting() as report:
        paper = write_paper([page], report)
    notes = (*failed, *page.advice, *_on_map(page), *paper.notes)
    why = "whose error is above" if failed else "which is not installed"
    said = f"written to {form.target.place}, without LaTeX, {why}"
    return output(form.target, paper.content, *notes, said=said)


def _typeset(page: Page, target: Target, place: Path, name: str) -> Output:
    from attncalc.writing.latex import write_latex
    from attncalc.writing.pdf import write_pdf

    drawn = None if page.is_blank or not page.has_map else _map(page, "pdf")
    text = write_latex(page, standalone=True, picture=MAP if drawn else None)
    if foreign := LETTER.search(text):
        raise OutputError(f"{name}: its fonts do not contain {foreign[1]} and similar letters")
    made = write_pdf(text, {MAP: drawn.content} if drawn else {}, name)
    notes = drawn.notes if drawn else ()
    said = f"written to {place}, typeset by {name}"
    return output(target, made, *page.advice, *_on_map(page), *notes, said=said)


def _data(page: Page, form: Form) -> Output:
    from attncalc.writing import page_data

    folder = form.target.place
    if folder is not None and form.target.is_folder:
        texts = page_data.write_csv_files(page)
        return Output(form.target, {folder / name: text for name, text in texts.items()})
    if form.name == "npz":
        return output(form.target, partial(page_data.write_npz, page))
    return output(form.target, getattr(page_data, f"write_{form.name}")(page))


def _on_map(page: Page) -> tuple[str, ...]:
    if not page.lacks_map:
        return ()
    return ("the map is left out, with more weights than a page shows: attncalc plot draws it",)


def _with_picture(page: Page, target: Target, text: Content, name: str | None) -> Output:
    """Return a page with its picture, if there is a place for one."""
    has_place = target.place is not None and not is_straight(target.place)
    if page.has_map and not has_place:
        left_out = "the map is left out: -o FILE writes it beside the page"
        return output(target, text, *page.advice, left_out)
    if target.place is None or name is None:
        return output(target, text, *page.advice, *_on_map(page))
    drawn = _map(page, Path(name).suffix[1:])
    files = {target.place: text, target.place.with_name(name): drawn.content}
    return Output(target, files, (*page.advice, *drawn.notes))


def _map(page: Page, form: str) -> "Picture":
    from attncalc.writing.plotting.drawing import render, render_blank

    return render_blank(page.problem, form) if page.is_blank else render(page.solution, form)


_WRITERS: dict[str, Callable[[Page, Form], Output]] = {
    "table": lambda page, form: table_of(page, form.target),
    "markdown": _markdown,
    "latex": _latex,
    "html": _html,
    "pdf": _pdf,
    **dict.fromkeys(("csv", "json", "npz"), _data),
}
