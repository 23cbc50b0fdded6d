"""`attncalc new`: a new problem."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attncalc.api.making import made_anew
from attncalc.base.errors import InputError
from attncalc.cli.commands.problem import conventions_of, fields_set
from attncalc.cli.commands.refusals import as_flags
from attncalc.cli.flags.fields import OF_THE_ANSWER
from attncalc.cli.streams import note
from attncalc.cli.targets import STDOUT, check_targets, deliver, output, target_of
from attncalc.making.asking import READ
from attncalc.making.maker import fresh_seed
from attncalc.problem.fields import SETTINGS
from attncalc.writing.problem_file import FORMS, write_problem

_NAMES = {"again", *READ, *SETTINGS}
"""The prefix of errors in conditions; errors in a file start with its name."""


def new(flags: Mapping[str, Any]) -> None:
    """Make and write a problem, or a set for a class, and print how many candidates it took."""
    if flags["class_"] is not None or flags["problems"] is not None:
        from attncalc.cli.commands.new_class import new_class  # here, for few make a set

        new_class(flags)
        return
    if flags["jobs"] is not None:
        raise InputError("--jobs is for a set for a class: leave it out")
    target = target_of("--out", flags["out"])
    form = FORMS[0] if target == STDOUT else Path(str(target.place)).suffix.lower()
    if form not in FORMS:
        raise InputError(f"--out {flags['out']}: a new problem is written as .json or .csv")
    check_targets(target)
    seed = fresh_seed() if flags["seed"] is None else flags["seed"]
    wishes = {name: flags[name] for name in READ if flags.get(name) is not None}
    settings = conventions_of({**flags, "title": None}) | fields_set(flags)
    for name in settings:
        if name not in SETTINGS or name in OF_THE_ANSWER:
            raise InputError(f"--set {name}: only settings of new problems can be set")
    asked = wishes | settings
    with as_flags(_NAMES):
        made = made_anew(asked, seed, flags["again"], words=bool(flags["words"]))
    note(f"seed {seed}: {made.report}")
    deliver(output(target, "".join(write_problem(made.problem, form))))
