"""`attncalc check`: mark worked answers, and say where and why they went wrong."""

import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from attncalc.cli import options
from attncalc.errors import AttncalcError, InputError, OutputError

if TYPE_CHECKING:
    from fractions import Fraction

    from attncalc.answer import Answer
    from attncalc.grading.key import Key
    from attncalc.grading.reports.many import Marked
    from attncalc.grading.rules import Rules
    from attncalc.reading.answers.expected import Expected

HELP = """Mark a worked answer: which entry went wrong first, why, and what follows from it.

[bold]Examples[/bold]

    attncalc check problem.json answer.json
    attncalc check problem.json answer.md --format json
    attncalc check problem.json mail.txt --reading          what was read, as what
    attncalc check problem.json answers/ --csv marks.csv    a folder of answers
    attncalc check layer.npz dump.npz --atol 1e-6           a program's numbers

An answer holds any of the steps, as JSON, CSV, .npz, or text: Markdown, LaTeX, matrices of MATLAB
or Python, a mail, or the worksheet of --blank filled in. The exit code is 0 when all is right.
"""
"""What `attncalc check --help` says."""

_MARKING = "Marking"
_TOLERANCE = "Numbers of a program"
_OUTPUT = "Output"

File = Annotated[
    str,
    typer.Argument(metavar="PROBLEM", help="The problem: a file or a folder."),
]
Answers = Annotated[
    list[str],
    typer.Argument(metavar="ANSWER...", help="Answers: files, folders, or - for standard input."),
]
Steps = Annotated[
    str | None,
    typer.Option(
        "--steps",
        metavar="STEPS",
        help="What is asked for, as Q,S,A,O,connections.",
        show_default="those that the answer holds, or any of the answers",
        rich_help_panel=_MARKING,
    ),
]
Weight = Annotated[
    list[str] | None,
    typer.Option(
        "--weight",
        metavar="STEP=NUMBER",
        help="What a step counts, as A=2, or connections=1/2; may be repeated.",
        show_default="1 each",
        rich_help_panel=_MARKING,
    ),
]


def _penalty(name: str, meaning: str, default: str) -> Any:
    return typer.Option(
        f"--{name}-penalty",
        metavar="SHARE",
        help=f"What an entry loses that {meaning}, from 0 to 1.",
        show_default=default,
        rich_help_panel=_MARKING,
    )


FollowPenalty = Annotated[str, _penalty("follow", "follows from an earlier mistake", "0")]
RoundingPenalty = Annotated[str, _penalty("rounding", "differs from the key by rounding", "0")]
PrecisionPenalty = Annotated[str, _penalty("precision", "has too few decimals", "1/2")]
Atol = Annotated[
    float | None,
    typer.Option(
        "--atol", help="Compare within this absolute error.", rich_help_panel=_TOLERANCE, min=0
    ),
]
Rtol = Annotated[
    float | None,
    typer.Option(
        "--rtol", help="Compare within this relative error.", rich_help_panel=_TOLERANCE, min=0
    ),
]
Format = Annotated[
    Literal["table", "json", "markdown", "csv"] | None,
    typer.Option(
        "--format",
        help="The form of the output.",
        show_default="table, or what the ending of --out says",
        rich_help_panel=_OUTPUT,
    ),
]
Sheet = Annotated[
    str | None,
    typer.Option(
        "--csv",
        metavar="FILE",
        help="Write a row for each answer to this file, too.",
        rich_help_panel=_OUTPUT,
    ),
]
Reading = Annotated[
    bool,
    typer.Option(
        "--reading",
        help="Do not mark: show what was read, as what, from which lines. With -o FILE.json the "
        "answer as it was read, to be corrected and marked.",
        rich_help_panel=_OUTPUT,
    ),
]
ENDINGS = {".txt": "table", ".json": "json", ".md": "markdown", ".csv": "csv"}


@options.for_problems(None)
def check(
    context: typer.Context,
    file: File,
    answers: Answers,
    steps: Steps = None,
    weight: Weight = None,
    follow_penalty: FollowPenalty = "0",
    rounding_penalty: RoundingPenalty = "0",
    precision_penalty: PrecisionPenalty = "1/2",
    atol: Atol = None,
    rtol: Rtol = None,
    format: Format = None,  # noqa: A002 - the flag is --format
    sheet: Sheet = None,
    reading: Reading = False,
    full: options.Full = False,
    out: options.Out = None,
    **flags: Any,
) -> None:
    """Mark the answers, write what is asked for, and leave with 1 where anything is wrong."""
    from attncalc.cli.progress import reporting
    from attncalc.grading.key import key_of
    from attncalc.grading.reports.many import as_csv, has_mistakes
    from attncalc.writing.files import write_file

    given = context.params
    form = _form(format, out)
    _check_places(file, answers, out, sheet)
    problem = options.problem_from(given, fallback="self")
    rules = _rules(given)
    key = key_of(problem, rules)
    rules = _with_known_steps(rules, key)
    places = _places(answers)
    if reading:
        _show_reading(key, places or answers, out, format)
        return
    with reporting() as report:
        marked = _marked(key, places or answers, rules, report, alone=places is None)
    if sheet is not None:
        write_file(Path(sheet), as_csv(marked, list(key.steps)))
    text = _text(marked, key, form, full=full, alone=places is None, on_screen=out is None)
    _deliver(text, out, sheet)
    if all(each.marking is None for each in marked):
        raise typer.Exit(2)
    if has_mistakes(marked):
        raise typer.Exit(1)


def _check_places(file: str, answers: Sequence[str], out: str | None, sheet: str | None) -> None:
    """Refuse places that cannot be written, and those that are asked for twice."""
    from attncalc.writing.files import check_place

    if out is not None and out == sheet:
        raise InputError(f"--out and --csv both name {out}: give each a file of its own")
    for place in (out, sheet):
        if place is not None:
            check_place(Path(place))
    if file == "-" and "-" in answers:
        raise InputError("- stands for the problem and for an answer: one of them can be")


def _form(form: str | None, out: str | None) -> str:
    """Return the form of the output: as asked, or as the ending of the file has it."""
    if form is not None or out is None:
        return form or "table"
    ending = Path(out).suffix.lower()
    if ending not in ENDINGS:
        raise OutputError(f"{out}: end the name in {', '.join(ENDINGS)}, or say --format")
    return ENDINGS[ending]


def _rules(given: dict[str, Any]) -> "Rules":
    from attncalc.grading.rules import Rules

    for name in ("atol", "rtol"):
        if given[name] is not None and not math.isfinite(given[name]):
            raise InputError(f"--{name} takes a number from 0, not {given[name]}")
    steps = given["steps"]
    follow, rounding, precision = (
        _number(f"--{name}-penalty", given[f"{name}_penalty"], most=1)
        for name in ("follow", "rounding", "precision")
    )
    return Rules(
        follow,
        rounding,
        precision,
        weights=dict(_weight(text) for text in given["weight"] or ()),
        asked=None if steps is None else tuple(name.strip() for name in steps.split(",")),
        atol=given["atol"],
        rtol=given["rtol"],
    )


def _weight(text: str) -> "tuple[str, Fraction]":
    name, sign, number = text.partition("=")
    if not sign:
        raise InputError(f"--weight takes a step and a number, as A=2, not {text}")
    return name.strip(), _number("--weight", number, most=None)


def _number(flag: str, text: str, most: int | None) -> "Fraction":
    from fractions import Fraction

    from attncalc.numbers import NotANumber, read_number

    try:
        number = Fraction(read_number(text))
    except NotANumber as reason:
        raise InputError(f"{flag}: {reason}") from None
    if number < 0 or (most is not None and number > most):
        raise InputError(f"{flag} takes a number from 0{f' to {most}' if most else ''}, not {text}")
    return number


def _with_known_steps(rules: "Rules", key: "Key") -> "Rules":
    """Return the rules with the steps under their own names; refuse what is no step."""
    from dataclasses import replace

    from attncalc.grading.rules import LINES
    from attncalc.reading.names import unknown

    known = {name.lower(): name for name in key.steps}
    known |= {step.title: name for name, step in key.steps.items()}

    def named(flag: str, name: str, *others: str) -> str:
        if name in others:
            return name
        if name.lower() not in known:
            raise InputError(f"{flag}: {unknown(name, [*key.steps, *others])}")
        return known[name.lower()]

    asked = rules.asked and tuple(named("--steps", name, LINES) for name in rules.asked)
    weights = {named("--weight", name, LINES): each for name, each in rules.weights.items()}
    return replace(rules, asked=asked, weights=weights)


def _places(answers: Sequence[str]) -> list[str] | None:
    """Return the answers that are meant, or None where it is one alone."""
    from attncalc.reading.answers import answers_in
    from attncalc.reading.files import is_folder

    found: list[str] = []
    for answer in answers:
        inside = answers_in(Path(answer)) if answer != "-" and is_folder(Path(answer)) else None
        found += [answer] if inside is None else map(str, inside)
        if inside is None and len(answers) == 1:
            return None
    return found


def _marked(
    key: "Key", places: Sequence[str], rules: "Rules", report: Any, *, alone: bool
) -> "list[Marked]":
    """Mark each answer; among many, one that cannot be read stops none of the others."""
    from dataclasses import replace

    from attncalc.grading.marking import mark
    from attncalc.grading.reports.many import Marked
    from attncalc.grading.rules import LINES

    expected = expected_of(key)
    read = [_read(place, expected, alone=alone) for place in places]
    if not alone and rules.asked is None:
        held = {name for each in read if not isinstance(each, str) for name in each.matrices}
        if any(not isinstance(each, str) and each.connections is not None for each in read):
            held.add(LINES)
        rules = replace(rules, asked=tuple(name for name in (*key.steps, LINES) if name in held))
    marked = []
    for done, (place, answer) in enumerate(zip(places, read, strict=True), start=1):
        if isinstance(answer, str):
            marked.append(Marked(place, None, answer))
        else:
            marked.append(Marked(place, mark(key, answer, rules)))
        if report is not None:
            report(done, len(places))
    return marked


def expected_of(key: "Key") -> "Expected":
    """Return what an answer may hold, as plain values."""
    import numpy as np

    from attncalc.reading.answers.expected import Expected

    solution, problem = key.solution, key.problem
    shown = solution.rounded if not key.in_tolerance else solution.__getitem__
    names = dict.fromkeys((*problem.queries, *problem.keys))
    return Expected(
        {name: np.asarray(shown(name)).astype(np.float64) for name in key.steps},
        {name: np.asarray(getattr(problem, name), np.float64) for name in problem.names},
        tuple(name for name in names if not name.isdigit()),
        problem.layout == "columns",
    )


def _show_reading(key: "Key", places: Sequence[str], out: str | None, form: str | None) -> None:
    """Write what was read of each answer, for a person, or as an answer to be corrected."""
    from attncalc.writing.reading import reading_as_json, reading_in_text

    expected = expected_of(key)
    read = [_read(place, expected, alone=len(places) == 1) for place in places]
    answers = [each for each in read if not isinstance(each, str)]
    failed = [each for each in read if isinstance(each, str)]
    as_json = form == "json" or (out is not None and out.endswith(".json"))
    if as_json and len(answers) != 1:
        raise InputError("--reading as JSON takes one answer: give one file")
    if as_json:
        text = reading_as_json(answers[0])
    else:
        text = "\n".join([*map(reading_in_text, answers), *failed])
    _deliver(text, out, None)


def _read(place: str, expected: "Expected", *, alone: bool) -> "Answer | str":
    """Return an answer, or why it cannot be read."""
    from attncalc.cli.streams import receive
    from attncalc.reading.answers import read_answer, read_answer_bytes

    try:
        return (
            read_answer_bytes(receive(), "standard input", expected)
            if place == "-"
            else read_answer(place, expected)
        )
    except AttncalcError as error:
        if alone:
            raise
        return str(error)


def _text(
    marked: "Sequence[Marked]", key: "Key", form: str, *, full: bool, alone: bool, on_screen: bool
) -> str:
    """Return the markings in a form; of many answers, a row for each and a summary."""
    from attncalc.grading.reports import many

    markings = [each.marking for each in marked if each.marking is not None]
    if form == "csv":
        return many.as_csv(marked, list(key.steps))
    if form == "json":
        from attncalc.grading.reports.json_text import marking_as_json

        return marking_as_json(markings[0]) if alone else many.as_json(marked)
    if form == "markdown":
        from attncalc.grading.reports.markdown import marking_in_markdown, summary_in_markdown

        pages = [marking_in_markdown(each, full=full) for each in markings]
        return pages[0] if alone else "\n".join([summary_in_markdown(marked), *pages])
    return _tables(marked, full=full, alone=alone, on_screen=on_screen)


def _tables(marked: "Sequence[Marked]", *, full: bool, alone: bool, on_screen: bool) -> str:
    import io

    from rich.console import Console

    from attncalc.grading.reports.tables import many_in_tables, marking_in_tables
    from attncalc.writing.frames import Screen
    from attncalc.writing.frames import on_screen as as_shown

    if on_screen:
        console = Console(file=sys.stdout)
        width = console.width if console.is_terminal else None
        screen = Screen(width, full, console.encoding)
    else:
        console, screen = Console(file=io.StringIO(), color_system=None), Screen(full=full)
    marking = marked[0].marking
    if alone and marking is not None:
        return as_shown(console, marking_in_tables(marking, screen), screen)
    return as_shown(console, many_in_tables(marked, screen), screen)


def _deliver(text: str, out: str | None, sheet: str | None) -> None:
    from attncalc.cli.streams import emit, note
    from attncalc.writing.files import write_file

    if sheet is not None:
        note(f"written to {sheet}")
    if out is None or out == "-":
        emit(text)
        return
    write_file(Path(out), text)
    note(f"written to {out}")
