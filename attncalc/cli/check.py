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

    from attncalc.grading.key import Key
    from attncalc.grading.rules import Rules
    from attncalc.reading.answers.answer import Answer
    from attncalc.writing.document import Document
    from attncalc.writing.reports.many import Marked

HELP = """Mark a worked answer: which entry went wrong first, why, and what follows from it.

[bold]Examples[/bold]

    attncalc check problem.json answer.json
    attncalc check problem.json answer.md --format json
    attncalc check problem.json answers/ --csv marks.csv    a folder of answers
    attncalc check layer.npz dump.npz --atol 1e-6           a program's numbers

An answer holds any of the steps, as JSON, CSV, .npz, Markdown, LaTeX, a matrix of MATLAB or
Python, or the worksheet of --blank filled in. The exit code is 0 when everything is right.
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
    Literal["table", "json", "markdown", "latex", "csv"] | None,
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
ENDINGS = {".txt": "table", ".json": "json", ".md": "markdown", ".tex": "latex", ".csv": "csv"}


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
    full: options.Full = False,
    out: options.Out = None,
    **flags: Any,
) -> None:
    """Mark the answers, write what is asked for, and leave with 1 where anything is wrong."""
    from attncalc.cli.progress import reporting
    from attncalc.cli.targets import check_outputs, place_of
    from attncalc.grading.key import key_of
    from attncalc.writing.reports.many import as_csv, has_mistakes

    given = context.params
    page, table = place_of("--out", out), place_of("--csv", sheet)
    form = _form(format, page)
    if sheet is not None and page is table:
        raise InputError("--csv and the marks both go to standard output: give one of them a file")
    check_outputs(page, table)
    if file == "-" and "-" in answers:
        raise InputError("- stands for the problem and for an answer: one of them can be")
    problem = options.problem_from(given, fallback="self")
    rules = _rules(given)
    key = key_of(problem, rules)
    rules = _with_known_steps(rules, key)
    places = _places(answers)
    read = [(place, _read(place, alone=places is None)) for place in places or answers]
    check_outputs(page, table)  # once more, now that it is known what was read
    with reporting() as report:
        marked = _marked(key, read, rules, report, alone=places is None)
    text = _text(marked, key, form, full=full, alone=places is None, on_screen=page is None)
    rows = [] if sheet is None else [(table, as_csv(marked, list(key.steps)))]
    _deliver([(page, text), *rows])
    if all(each.marking is None for each in marked):
        raise typer.Exit(2)
    if has_mistakes(marked):
        raise typer.Exit(1)


def _form(form: str | None, out: Path | None) -> str:
    """Return the form of the output: as asked, or as the ending of the file has it."""
    if form is not None or out is None:
        return form or "table"
    ending = out.suffix.lower()
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

    from attncalc.numbers.typed import NotANumber, read_number

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
    key: "Key",
    read: "Sequence[tuple[str, Answer | str]]",
    rules: "Rules",
    report: Any,
    *,
    alone: bool,
) -> "list[Marked]":
    """Mark each answer; among many, one that cannot be read stops none of the others."""
    from dataclasses import replace

    from attncalc.grading.marking import mark
    from attncalc.grading.rules import LINES
    from attncalc.writing.reports.many import Marked

    if not alone and rules.asked is None:
        answers = [answer for _, answer in read if not isinstance(answer, str)]
        held = {name for answer in answers for name in answer.matrices}
        if any(answer.connections is not None for answer in answers):
            held.add(LINES)
        rules = replace(rules, asked=tuple(name for name in (*key.steps, LINES) if name in held))
    marked = []
    for done, (place, answer) in enumerate(read, start=1):
        if isinstance(answer, str):
            marked.append(Marked(place, None, answer))
        else:
            marked.append(Marked(place, mark(key, answer, rules)))
        if report is not None:
            report(done, len(read))
    return marked


def _read(place: str, *, alone: bool) -> "Answer | str":
    """Return an answer, or why it cannot be read."""
    from attncalc.cli.streams import receive
    from attncalc.reading.answers import read_answer, read_answer_bytes

    try:
        return (
            read_answer_bytes(receive(), "standard input") if place == "-" else read_answer(place)
        )
    except AttncalcError as error:
        if alone:
            raise
        return str(error)


def _text(
    marked: "Sequence[Marked]", key: "Key", form: str, *, full: bool, alone: bool, on_screen: bool
) -> str:
    """Return the markings in a form; of many answers, a row for each and a summary."""
    from attncalc.writing.reports import many

    if form == "csv":
        return many.as_csv(marked, list(key.steps))
    if form == "json":
        from attncalc.writing.reports.json_text import marking_as_json

        marking = marked[0].marking if alone else None
        return many.as_json(marked) if marking is None else marking_as_json(marking)
    document = _document(marked, full=full, alone=alone)
    if form == "markdown":
        from attncalc.writing.markdown import write_markdown

        return write_markdown(document)
    if form == "latex":
        from attncalc.writing.latex import write_latex

        return write_latex(document)
    return _tables(document, on_screen=on_screen)


def _document(marked: "Sequence[Marked]", *, full: bool, alone: bool) -> "Document":
    from attncalc.writing.reports.many import answers_document
    from attncalc.writing.reports.marking import marking_document

    marking = marked[0].marking
    if alone and marking is not None:
        return marking_document(marking, full=full)
    return answers_document(marked, full=full)


def _tables(document: "Document", *, on_screen: bool) -> str:
    import io

    from rich.console import Console

    from attncalc.writing.frames import Screen
    from attncalc.writing.frames import on_screen as as_shown
    from attncalc.writing.terminal import write_tables

    if on_screen:
        console = Console(file=sys.stdout)
        screen = Screen(console.width if console.is_terminal else None, console.encoding)
    else:
        console, screen = Console(file=io.StringIO(), color_system=None), Screen()
    return as_shown(console, write_tables(document, screen), screen)


def _deliver(pages: "Sequence[tuple[Path | None, str]]") -> None:
    """Write the files, all or none, then print what goes to standard output."""
    from attncalc.cli.streams import emit, note
    from attncalc.writing.files import write_files

    files = {place: text for place, text in pages if place is not None}
    write_files(files)
    for path in files:
        note(f"written to {path}")
    for place, text in pages:
        if place is None:
            emit(text)
