"""`attncalc train`: forward, loss, backward and step, repeated."""

from collections.abc import Mapping
from typing import Any

from attncalc.base.errors import InputError
from attncalc.cli.commands.problem import problem_from
from attncalc.cli.commands.refusals import as_flags
from attncalc.cli.commands.studies import show, wanted_from
from attncalc.cli.progress import reporting
from attncalc.cli.targets import check_targets, output, target_of
from attncalc.reading.studies.watched import read_watched
from attncalc.studies.train import Optimizer, read_numbers, ready
from attncalc.studies.train import train as descend
from attncalc.writing.studies.forms import forms_of
from attncalc.writing.studies.training import trained_as_json

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
    with as_flags():
        given = read_numbers({name: flags[name] for name in NUMBERS})
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
    more = [] if flags["save"] is None else [output(saved, trained_as_json(found.trained))]
    how = {"full": flags["full"], "work": flags["work"]}
    apart = wanted.form not in ("table", "picture")
    show(forms_of(found, apart=apart, **how), wanted, flags, *more)
