"""`attncalc vary`, `simulate`, `aim`, `train` and `count`, and what all studies share."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from attncalc.api.counting import counted
from attncalc.api.studies import simulations
from attncalc.base.errors import InputError
from attncalc.cli.commands.problem import problem_from
from attncalc.cli.commands.refusals import as_flags
from attncalc.cli.commands.screens import form_by_ending, table_of, written
from attncalc.cli.streams import reporting
from attncalc.cli.targets import STDOUT, Output, Target, check_targets, deliver, output, target_of
from attncalc.problem.fields import read_setting
from attncalc.reading.files import exists
from attncalc.reading.studies.changes import HOW_TO_CHANGE, read_change, read_values
from attncalc.reading.studies.draws import HOW_TO_DRAW
from attncalc.reading.studies.targets import HOW_TO_AIM, read_target
from attncalc.reading.studies.watched import read_watched
from attncalc.studies.aim import aim as design
from attncalc.studies.aim import read_beta
from attncalc.studies.counting import Growth, Load
from attncalc.studies.simulate import check_draws
from attncalc.studies.train import Optimizer, read_numbers, ready
from attncalc.studies.train import train as descend
from attncalc.studies.vary import MOST_CHANGES
from attncalc.studies.vary import vary as solve_at_each
from attncalc.writing.forms import FORMS
from attncalc.writing.studies import counting
from attncalc.writing.studies.forms import Forms, forms_of
from attncalc.writing.studies.training import trained_as_json

if TYPE_CHECKING:
    from attncalc.writing.plotting.drawing import Picture
    from attncalc.writing.plotting.look import Look

Flags = Mapping[str, Any]
PICTURES = (".png", ".svg", ".pdf")
ENDINGS = (*PICTURES, *(each[0] for each in FORMS.values()))
NUMBERS = ("rate", "momentum", "weight_decay", "clip")
"""The numbers of an optimizer."""
MOST_VALUES = 1000


def vary(flags: Flags) -> None:
    """Solve at each value, and write the watched quantities."""
    wanted = wanted_from(flags)
    file, *texts = flags["things"]
    if "=" in file and not exists(file):
        file, texts = None, flags["things"]
    if not texts:
        raise InputError(f"nothing changes: {HOW_TO_CHANGE}")
    if len(texts) > MOST_CHANGES:
        raise InputError(f"{len(texts)} changes: one makes a curve, two make a grid")
    problem = problem_from({**flags, "file": file}, fallback="self")
    changes = [read_change(text, problem) for text in texts]
    watched = read_watched(flags["watch"] or (), problem)
    with reporting() as report:
        found = solve_at_each(problem, changes, watched, report, agreed=flags["yes"])
    show(forms_of(found, full=flags["full"]), wanted, flags)


def simulate(flags: Flags) -> None:
    """Draw and solve, and write the distribution of the watched quantities."""
    wanted = wanted_from(flags)
    with as_flags():
        check_draws(flags["draws"], flags["until"])
    texts = [thing for thing in flags["things"] if "~" in thing]
    if not texts:
        raise InputError(f"nothing is drawn: {HOW_TO_DRAW}")
    files = [thing for thing in flags["things"] if thing not in texts] or [None]
    problems = [problem_from({**flags, "file": file}, fallback="self") for file in files]
    asked = {name: flags[name] for name in ("seed", "until")}
    with reporting() as report:
        how = {**asked, "count": flags["draws"], "report": report, "agreed": flags["yes"]}
        found = simulations(problems, texts, flags["watch"] or (), flags["given"] or (), **how)
    show(forms_of(found, full=flags["full"]), wanted, flags)


def aim(flags: Flags) -> None:
    """Design a query, and write it with its result."""
    wanted, saved = _wanted_and_saved(flags)
    with as_flags(("beta",)):
        beta = read_beta(flags["beta"])
    things = flags["things"]
    if len(things) > 2:
        raise InputError(f"one file and one target: {HOW_TO_AIM}")
    file = things[0] if len(things) == 2 else None
    heads = 1 if flags["heads"] is None else read_setting("heads", flags["heads"])
    own = {**flags, "file": file, "heads": None}
    problem = problem_from(own, fallback="average", needs_query=False)
    if flags["within"] is not None and not flags["within"] > 0:
        raise InputError(f"--within {flags['within']:g}: an error must be above 0, as 0.001")
    target = read_target(things[-1], problem)
    found = design(problem, target, beta=beta, heads=heads, within=flags["within"])
    more = []
    if saved is not None:
        from attncalc.writing.page import Contents, make_page
        from attncalc.writing.page_data import write_json

        page = make_page(found.solution, Contents(found.solution.plan))
        more = [output(saved, "".join(write_json(page)))]
    show(forms_of(found, full=flags["full"]), wanted, flags, *more)


def train(flags: Flags) -> None:
    """Train, and write each step to where it is asked for."""
    wanted, saved = _wanted_and_saved(flags)
    files = flags["things"] or [None]
    read = [problem_from({**flags, "file": file}, fallback="train-copy") for file in files]
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
    more = [] if saved is None else [output(saved, trained_as_json(found.trained))]
    how = {"full": flags["full"], "work": flags["work"]}
    apart = wanted.form not in ("table", "picture")
    show(forms_of(found, apart=apart, **how), wanted, flags, *more)


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


def _wanted_and_saved(flags: Flags) -> tuple[Wanted, Target | None]:
    """Return the form of a study, and where its problem is saved; None if it is not."""
    wanted, saved = wanted_from(flags), target_of("--save", flags["save"])
    if flags["save"] is None:
        return wanted, None
    check_targets(wanted.target, saved)
    return wanted, saved


def show(
    shown: Forms, wanted: Wanted, flags: Flags, *more: Output, with_table: bool = True
) -> None:
    """Write a study in the requested form, with other output; beside a picture, print the table."""
    # again, since inputs are known now
    check_targets(wanted.target, *(each.target for each in more))
    if wanted.form == "picture":
        from attncalc.writing.plotting.look import Look, read_size

        table = [table_of(shown.document(), STDOUT)] if with_table else []
        assert wanted.target.place is not None
        with as_flags():
            look = Look(dark=flags["dark"], size=read_size(flags["size"]))
            drawn = shown.picture(wanted.target.place.suffix.lower()[1:], look)
        deliver(output(wanted.target, drawn.content, *drawn.notes), *more, *table)
    else:
        deliver(_written(shown, wanted.form, wanted.target), *more)


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


def count(flags: Flags) -> None:
    """Count, and write the counts to where they are asked for."""
    wanted = wanted_from(flags)
    load = Load(flags["tokens"], flags["batch"], flags["dtype"])
    if wanted.form == "picture" and flags["vary"] is None:
        raise InputError("a picture shows growth: vary a size, as --vary tokens=8:1024:log")
    if wanted.form == "npz":
        raise InputError("counts are not written as npz")
    vary = None if flags["vary"] is None else _sizes(flags["vary"])
    found = counted(flags["source"], load, flags["compare"], vary, flags["family"])
    shown = Forms(
        partial(counting.document, found, full=flags["full"]),
        partial(counting.as_json, found),
        partial(counting.as_csv, found),
        picture=partial(_drawn, found.growth),
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


def _drawn(found: Growth | None, form: str, look: "Look") -> "Picture":
    from attncalc.writing.plotting.curves import render_growth

    assert found is not None  # checked before anything is counted
    return render_growth(found, form, look)
