"""`attncalc new --class`: a set of problems for a class, each student their own."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from attncalc.base import __version__
from attncalc.base.errors import AttncalcError, InputError, OutputError
from attncalc.base.latex_text import FONTS, on_foreign
from attncalc.base.text import amount, of_each
from attncalc.base.text import in_json as in_text
from attncalc.base.workers import cores, mapped
from attncalc.cli.commands.refusals import typed
from attncalc.cli.streams import counted, note, reporting
from attncalc.cli.targets import Output, Target, check_targets, deliver, target_of
from attncalc.languages.catalogue import catalogue
from attncalc.making.asking import READ
from attncalc.making.maker import untold_as
from attncalc.making.sets import Spec, Wanted, as_given, code_of, seed_of, spec_of, version
from attncalc.problem.fields import SETTINGS, TEXTS
from attncalc.problem.problem import Problem
from attncalc.problem.serialising import in_json
from attncalc.reading.json_values import read_json_object
from attncalc.reading.roster import Roster, Student, read_roster
from attncalc.writing import classes
from attncalc.writing.files import Content
from attncalc.writing.latex import write_together


class _Share(NamedTuple):
    handed: classes.Handout
    problem: Problem
    record: Mapping[str, Any]
    matrices: str
    waived: tuple[str, ...]
    may_differ: bool


def new_class(flags: Mapping[str, Any]) -> None:
    """Make the set, write it completely or not at all, and print its content."""
    _check_flags(flags)
    roster = read_roster(flags["class_"])
    given = read_json_object(Path(flags["problems"]), "the specification")
    forms = (*classes.HANDED_OUT, *classes.PRACTICE)
    spec = spec_of(
        given, flags["problems"], forms, lambda name, code: catalogue(code).say(f"Problem {name}")
    )
    if flags["seed"] is not None:
        spec = spec._replace(seed=flags["seed"])
    target = Target(target_of("--out", flags["out"]).place, is_folder=True)
    assert target.place is not None
    check_targets(target)
    if target.place.exists():
        raise OutputError(f"{target.place}: it already exists: make the set in a new folder")
    for text in roster.notes:
        note(text)
    pairs = [(student, wanted) for student in roster.students for wanted in spec.problems]
    made = mapped(partial(_share, spec), pairs, flags["jobs"] or cores())
    shares = list(counted(made, len(pairs)))
    _say_of_twins(shares, roster, spec)
    for wanted, share in zip(spec.problems, shares, strict=False):  # those of the first student
        if share.waived:
            note(f"problem {wanted.name}: {untold_as(share.waived)}")
    _say_of_differing(shares, spec)
    files = {target.place / name: text for name, text in _files(spec, roster, shares).items()}
    deliver(Output(target, files, _on_letters(shares), _told(spec, roster, target.place)))


def _check_flags(flags: Mapping[str, Any]) -> None:
    """Refuse flags that a set does not use: its specification contains the conditions."""
    for name in ("class_", "problems"):
        if flags[name] is None:
            shown = "--class" if name == "class_" else "--problems"
            raise InputError(f"a set for a class takes --class and --problems: {shown} is missing")
    if flags["out"] is None or target_of("--out", flags["out"]).place is None:
        raise InputError("a set for a class is a folder: choose one, as -o set/")
    for flag in typed(flags, (*READ, *SETTINGS, "again", "words")):
        why = "the file of --problems defines the problems of a class: write it there"
        raise InputError(f"{flag}: {why}")


def _share(spec: Spec, pair: tuple[Student, Wanted]) -> _Share:
    student, wanted = pair
    several = len(spec.problems) > 1
    folder = f"{student.folder}/{wanted.folder}" if several else student.folder
    seed = seed_of(spec, student.key, wanted.name)
    try:
        made = version(wanted, seed)
    except AttncalcError as error:
        raise InputError(f"problem {wanted.name}, for {student.name}: {error}") from None
    code = code_of(spec, student.key, wanted.name)
    problem = replace(made.problem, student=student.called, code=code)
    record = {
        "problem": wanted.name,
        "code": code,
        "file": f"{folder}/{classes.PROBLEM}",
        "seed": str(seed),  # of 128 bits: many readers of JSON would round a number
        "tried": made.tried,
    }
    stated = {k: v for k, v in in_json(made.problem).items() if k not in (*TEXTS, "labels")}
    handed = classes.handout(problem, folder, spec.formats)
    return _Share(handed, problem, record, in_text(stated), made.waived, made.may_differ)


def _say_of_twins(shares: Sequence[_Share], roster: Roster, spec: Spec) -> None:
    """Print which students have the same problem, because there are too few numbers."""
    alike: dict[tuple[int, str], list[str]] = defaultdict(list)
    for place, share in enumerate(shares):
        student, problem = divmod(place, len(spec.problems))
        alike[problem, share.matrices].append(roster.students[student].name)
    for (problem, _), names in alike.items():
        if len(names) > 1:
            name = spec.problems[problem].name
            note(f"problem {name} is the same for {of_each(names)}: give it more entries")


def _say_of_differing(shares: Sequence[_Share], spec: Spec) -> None:
    """Print how many versions may show other digits under the other rounding rule."""
    each = len(spec.problems)
    for number, wanted in enumerate(spec.problems):
        own = shares[number::each]
        if wanted.too_many:
            note(
                f"problem {wanted.name}: it has too many {wanted.too_many} to look for versions "
                "that show the same digits under both rounding rules (course systems accept both)"
            )
        if count := sum(share.may_differ for share in own):
            note(
                f"problem {wanted.name}: {count} of {len(own)} versions may show other digits "
                "under the other rounding rule: no candidate shows the same digits under both"
            )


def _files(spec: Spec, roster: Roster, shares: Sequence[_Share]) -> dict[str, Content]:
    files: dict[str, Content] = {}
    for share in shares:
        files |= share.handed.files
    each = len(spec.problems)
    students = [
        {
            **{what: said for what, said in student._asdict().items() if said},
            "problems": [dict(s.record) for s in shares[place * each : (place + 1) * each]],
        }
        for place, student in enumerate(roster.students)
    ]
    content = {"attncalc": __version__, **as_given(spec), "students": students}
    files[classes.MANIFEST] = in_text(content, indent=1) + "\n"
    files[f"{classes.TOGETHER}.tex"] = write_together(share.handed.sheet for share in shares)
    if classes.PAPER in spec.formats:
        with reporting() as report:
            pages = [classes.worksheet_of(share.problem) for share in shares]
            files[f"{classes.TOGETHER}.pdf"] = classes.paper(pages, report).content
    return files


def _on_letters(shares: Sequence[_Share]) -> tuple[str, ...]:
    """Return the notes on letters that pages of the set cannot show."""
    lacking = "".join(sorted(set().union(*(share.handed.lacking for share in shares))))
    notes = on_foreign(FONTS + "".join(share.handed.sheet for share in shares))
    if not lacking:
        return notes
    from attncalc.writing.paper.writer import on_lacking  # it loads matplotlib

    return (*notes, *on_lacking(lacking))


def _told(spec: Spec, roster: Roster, place: Path) -> str:
    who, what = amount(len(roster.students), "student"), amount(len(spec.problems), "problem")
    return (
        f"{what} for {who} written to {place}; {place / classes.MANIFEST} makes the same set "
        "again: keep it to yourself"
    )
