"""`attncalc train`: forward, loss, backward and step, repeated."""

from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from attncalc.base.errors import InputError
from attncalc.base.typed import NotANumber, read_number
from attncalc.cli.commands.problem import problem_from
from attncalc.cli.commands.studies import Shown, show, wanted_from
from attncalc.cli.progress import reporting
from attncalc.cli.targets import check_targets, output, target_of
from attncalc.reading.studies.watched import read_watched
from attncalc.studies.train import Optimizer, Training, ready
from attncalc.studies.train import train as descend
from attncalc.writing.studies import training as written
from attncalc.writing.studies import variation

if TYPE_CHECKING:
    from attncalc.writing.plotting.look import Look
    from attncalc.writing.plotting.picture import Picture

FALLBACK = "train-copy"
NUMBERS = ("rate", "momentum", "weight_decay", "clip")


def train(flags: Mapping[str, Any]) -> None:
    """Train, and write each step to where it is asked for."""
    wanted, saved = wanted_from(flags), target_of("--save", flags["save"])
    if flags["save"] is not None:
        check_targets(wanted.target, saved)
    read = [
        problem_from({**flags, "file": file}, fallback=FALLBACK)
        for file in flags["things"] or [None]
    ]
    examples = [ready(problem) for problem in read]
    given = {name: _number(name, text) for name in NUMBERS if (text := flags[name]) is not None}
    if "momentum" in given and flags["optimizer"] != "momentum":
        raise InputError("--momentum is for --optimizer momentum")
    if read[0].step is not None:
        given.setdefault("rate", read[0].step)
    rule = Optimizer(flags["optimizer"], **given, warmup=flags["warmup"])
    # the default is the weights of few tokens, as in other studies
    watched = read_watched(flags["watch"] or (), examples[0])
    with reporting() as report:
        found = descend(
            examples, watched, rule, steps=flags["steps"], report=report, agreed=flags["yes"]
        )
    more = [] if flags["save"] is None else [output(saved, written.trained_as_json(found.trained))]
    apart = wanted.form not in ("table", "picture")
    page = {"full": flags["full"], "work": flags["work"], "apart": apart}
    show(_shown(found, page), wanted, flags, *more)


def _number(name: str, text: str) -> Fraction:
    try:
        return Fraction(read_number(text))
    except NotANumber as reason:
        raise InputError(f"--{name.replace('_', '-')} takes a number: {reason}") from None


def _shown(found: Training, page: Mapping[str, bool]) -> Shown:
    return Shown(
        partial(written.training_document, found, **page),
        partial(written.training_as_json, found),
        partial(variation.variation_as_csv, found.curve),
        partial(variation.write_variation_npz, found.curve),
        partial(_drawn, found),
    )


def _drawn(found: Training, form: str, look: "Look") -> "Picture":
    from attncalc.writing.plotting.curves import render_variation

    return render_variation(found.curve, form, look)
