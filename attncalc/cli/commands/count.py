"""`attncalc count`: parameters, multiply-adds and bytes of a problem or a model."""

from collections.abc import Mapping
from functools import partial
from typing import IO, TYPE_CHECKING, Any, NoReturn

from attncalc.api.counting import counted
from attncalc.base.errors import InputError
from attncalc.cli.commands.studies import show, wanted_from
from attncalc.studies.counting import Load
from attncalc.writing.studies import counting as written
from attncalc.writing.studies.forms import Forms

if TYPE_CHECKING:
    from attncalc.writing.plotting.look import Look


def count(flags: Mapping[str, Any]) -> None:
    """Count, and write the counts to where they are asked for."""
    wanted = wanted_from({**flags, "dark": False, "size": None})
    if wanted.form in ("npz", "picture"):
        raise InputError("counts are text: choose table, markdown, latex, html, csv or json")
    found = counted(flags["source"], Load(flags["tokens"], flags["batch"], flags["dtype"]))
    shown = Forms(
        partial(written.counting_document, found, full=flags["full"]),
        partial(written.counting_as_json, found),
        partial(written.counting_as_csv, found),
        _no_arrays,
        _no_picture,
    )
    show(shown, wanted, flags)


def _no_arrays(file: IO[bytes]) -> NoReturn:
    raise InputError("counts are not written as npz")


def _no_picture(form: str, look: "Look") -> NoReturn:
    raise InputError("counts have no picture")
