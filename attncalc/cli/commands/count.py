"""`attncalc count`: parameters, multiply-adds and bytes of a problem or a model."""

from collections.abc import Mapping
from functools import partial
from typing import IO, TYPE_CHECKING, Any, NoReturn

from attncalc.api.counting import counted
from attncalc.base.errors import InputError
from attncalc.cli.commands.studies import show, wanted_from
from attncalc.reading.studies.changes import read_values
from attncalc.studies.counting import Growth, Load
from attncalc.writing.studies import counting as written
from attncalc.writing.studies.forms import Forms

if TYPE_CHECKING:
    from attncalc.writing.plotting.look import Look
    from attncalc.writing.plotting.picture import Picture

MOST_VALUES = 1000


def count(flags: Mapping[str, Any]) -> None:
    """Count, and write the counts to where they are asked for."""
    wanted = wanted_from(flags)
    load = Load(flags["tokens"], flags["batch"], flags["dtype"])
    if wanted.form == "picture" and flags["vary"] is None:
        raise InputError("a picture shows growth: vary a size, as --vary tokens=8:1024:log")
    vary = None if flags["vary"] is None else _sizes(flags["vary"])
    found = counted(flags["source"], load, flags["compare"], vary, flags["family"])
    shown = Forms(
        partial(written.document, found, full=flags["full"]),
        partial(written.as_json, found),
        partial(written.as_csv, found),
        _no_arrays,
        partial(_drawn, found.growth),
    )
    show(shown, wanted, flags)


def _sizes(text: str) -> dict[str, list[int]]:
    name, equals, values = text.partition("=")
    found = read_values(values, "") if equals else ()
    if not 1 < len(found) <= MOST_VALUES or float(max(map(float, found))) == float("inf"):
        raise InputError(
            f"--vary {text}: a size and 2 to {MOST_VALUES:,} values, as tokens=8:1024:log"
        )
    return {name.strip(): sorted({round(float(value)) for value in found})}


def _no_arrays(file: IO[bytes]) -> NoReturn:
    raise InputError("counts are not written as npz")


def _drawn(found: Growth | None, form: str, look: "Look") -> "Picture":
    from attncalc.writing.plotting.curves import render_growth

    assert found is not None  # checked before anything is counted
    return render_growth(found, form, look)
