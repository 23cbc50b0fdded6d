"""`attncalc check`: mark worked answers, and say where and why they went wrong."""

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from attncalc.cli.commands.beforehand import say_of_marking
from attncalc.cli.commands.problem import problem_from
from attncalc.cli.commands.screens import tables_of
from attncalc.cli.progress import reporting
from attncalc.cli.streams import receive
from attncalc.cli.targets import STDOUT, Output, Target, check_targets, deliver, output, target_of
from attncalc.errors import AttncalcError, InputError, OutputError
from attncalc.grading.key import Key, key_of
from attncalc.grading.marking import mark
from attncalc.grading.rules import Rules
from attncalc.numbers.typed import NotANumber, read_number
from attncalc.operations.step import Report
from attncalc.problem.fields import LINES
from attncalc.reading.answers import answers_in, read_answer, read_answer_bytes
from attncalc.reading.answers.answer import Answer
from attncalc.reading.answers.expected import Expected
from attncalc.reading.files import is_folder, refuse_pipe
from attncalc.reading.names import unknown
from attncalc.solving.plan import plan
from attncalc.writing.document import Document, Extent
from attncalc.writing.forms import FORMS, form_of
from attncalc.writing.reports import many
from attncalc.writing.reports.many import Marked
from attncalc.writing.reports.marking import marking_document

OF_MARKS = ("table", "json", "markdown", "latex", "csv")
"""The forms that marks can have."""
RIGHT, DIFFERENT, UNREAD = 0, 1, 2
"""How the command ends."""


def check(flags: Mapping[str, Any]) -> int:
    """Mark the answers, write what is asked for, and return how the command ends."""
    page, table = _page(flags["out"]), target_of("--csv", flags["sheet"])
    form, extent, answers = _form(flags["format"], page), _extent(flags), flags["answers"]
    fractions = flags["fractions"]
    wants_table = flags["sheet"] is not None
    if wants_table and page == table == STDOUT:
        raise InputError("--csv and the marks both go to standard output: give one of them a file")
    check_targets(page, table)
    if flags["file"] == "-" and "-" in answers:
        raise InputError("- stands for the problem and for an answer: one of them can be")
    problem = problem_from(flags, fallback="self")
    rules = _rules(flags)
    say_of_marking(problem, plan(problem))
    key = key_of(problem, rules)
    rules = _with_known_steps(rules, key)
    places = _places(answers)
    alone = places is None
    read = [(each, _read(each, key.expected, answers, alone=alone)) for each in places or answers]
    check_targets(page, table)  # once more, now that it is known what was read
    if flags["reading"]:
        deliver(_reading([answer for _, answer in read], flags["format"], page))
        return RIGHT
    with reporting() as report:
        marked = _marked(key, read, rules, report)
    if page.is_folder:
        printed = not alone and not (wants_table and table == STDOUT)
        outputs = _pages(marked, page, extent, fractions=fractions, with_table=printed)
    else:
        outputs = [_marks(marked, key, form, page, extent, fractions=fractions, alone=alone)]
    if wants_table:
        outputs.append(output(table, many.as_csv(marked, list(key.steps), fractions=fractions)))
    deliver(*outputs)
    if all(each.marking is None for each in marked):
        return UNREAD
    return DIFFERENT if many.has_mistakes(marked) else RIGHT


def _page(out: str | None) -> Target:
    """Return where marks go: to standard output, to a file, or a page for each to a folder."""
    page = target_of("--out", out)
    if page.place is not None and (str(out).endswith(("/", os.sep)) or is_folder(page.place)):
        return Target(page.place, is_folder=True)
    return page


def _form(form: str | None, page: Target) -> str:
    """Return the form of the output: as asked, or as the ending of the file has it."""
    if page.is_folder:
        if form not in (None, "markdown"):
            raise OutputError(f"{page.place} is a folder: pages in markdown are written to one")
        return "markdown"
    if form is not None or page.place is None:
        return form or "table"
    implied = form_of(page.place.suffix)
    if implied not in OF_MARKS:
        endings = ", ".join(FORMS[each][0] for each in OF_MARKS)
        raise OutputError(f"{page.place}: end the name in {endings}, or say --format")
    return implied


def _rules(flags: Mapping[str, Any]) -> Rules:
    for name in ("atol", "rtol"):
        if flags[name] is not None and not math.isfinite(flags[name]):
            raise InputError(f"--{name} takes a number from 0, not {flags[name]}")
    steps = flags["steps"]
    follow, rounding, precision = (
        _number(f"--{name}-penalty", flags[f"{name}_penalty"], most=1)
        for name in ("follow", "rounding", "precision")
    )
    return Rules(
        follow,
        rounding,
        precision,
        weights=dict(_weight(text) for text in flags["weight"] or ()),
        asked=None if steps is None else tuple(name.strip() for name in steps.split(",")),
        atol=flags["atol"],
        rtol=flags["rtol"],
    )


def _weight(text: str) -> tuple[str, Fraction]:
    name, sign, number = text.partition("=")
    if not sign:
        raise InputError(f"--weight takes a step and a number, as A=2, not {text}")
    return name.strip(), _number("--weight", number, most=None)


def _number(flag: str, text: str, most: int | None) -> Fraction:
    try:
        number = Fraction(read_number(text))
    except NotANumber as reason:
        raise InputError(f"{flag}: {reason}") from None
    if number < 0 or (most is not None and number > most):
        raise InputError(f"{flag} takes a number from 0{f' to {most}' if most else ''}, not {text}")
    return number


def _with_known_steps(rules: Rules, key: Key) -> Rules:
    """Return the rules with the steps under their own names; refuse what is no step."""
    known = {name.lower(): name for name in key.steps}
    known |= {step.title: name for name, step in key.steps.items()}

    def named(flag: str, name: str) -> str:
        if name == LINES:
            return name
        if name.lower() not in known:
            raise InputError(f"{flag}: {unknown(name, [*key.steps, LINES])}")
        return known[name.lower()]

    asked = rules.asked and tuple(named("--steps", name) for name in rules.asked)
    weights = {named("--weight", name): each for name, each in rules.weights.items()}
    return replace(rules, asked=asked, weights=weights)


def _places(answers: Sequence[str]) -> list[str] | None:
    """Return the answers that are meant, or None where it is one alone."""
    found: list[str] = []
    for answer in answers:
        try:
            inside = answers_in(Path(answer)) if answer != "-" and is_folder(Path(answer)) else None
        except AttncalcError:
            if len(answers) == 1:
                raise
            inside = None  # reading it says once more what is wrong, in its row
        found += [answer] if inside is None else map(str, inside)
        if inside is None and len(answers) == 1:
            return None
    return found


def _reading(read: Sequence[Answer | str], form: str | None, page: Target) -> Output:
    """Return what was read of each answer, for a person, or as an answer to be corrected."""
    from attncalc.cli.commands.reading import reading_as_json, reading_in_text

    as_json = form == "json" or (page.place is not None and page.place.suffix == ".json")
    if not as_json:
        return output(page, "\n".join(_told(each, reading_in_text) for each in read))
    if len(read) != 1 or isinstance(read[0], str):
        raise InputError("--reading as JSON takes one answer: give one file")
    return output(page, reading_as_json(read[0]))


def _told(answer: Answer | str, tell: Callable[[Answer], str]) -> str:
    return answer if isinstance(answer, str) else tell(answer)


def _read(place: str, expected: Expected, named: Sequence[str], *, alone: bool) -> Answer | str:
    """Return an answer, or why it cannot be read."""
    try:
        if place == "-":
            return read_answer_bytes(receive(), "standard input", expected)
        if place not in named:  # found in a folder
            refuse_pipe(Path(place))
        return read_answer(place, expected)
    except AttncalcError as error:
        if alone:
            raise
        return str(error)
    except Exception as error:
        if alone:
            raise
        return _unforeseen(place, error)


def _marked(
    key: Key,
    read: Sequence[tuple[str, Answer | str]],
    rules: Rules,
    report: Report | None,
) -> list[Marked]:
    """Mark each answer; among many, one that cannot be read stops none of the others."""
    marked = []
    for done, (place, answer) in enumerate(read, start=1):
        if isinstance(answer, str):
            marked.append(Marked(place, None, answer))
        else:
            marked.append(_marked_one(key, place, answer, rules, alone=len(read) == 1))
        if report is not None:
            report(done, len(read))
    return marked


def _marked_one(key: Key, place: str, answer: Answer, rules: Rules, *, alone: bool) -> Marked:
    try:
        return Marked(place, mark(key, answer, rules))
    except Exception as error:
        if alone:
            raise
        return Marked(place, None, _unforeseen(place, error))


def _unforeseen(place: str, error: Exception) -> str:
    """Return what stands in the row of an answer in which a mistake of our own came to light."""
    what = f"{type(error).__name__}: {error}".partition("\n")[0]
    return f"{place}: not marked for a mistake of attncalc's own, please report it: {what}"


def _extent(flags: Mapping[str, Any]) -> Extent:
    if flags["brief"] and flags["full"]:
        raise InputError("--brief and --full together: one leaves out what the other shows")
    return "brief" if flags["brief"] else "full" if flags["full"] else "elided"


def _marks(
    marked: Sequence[Marked],
    key: Key,
    form: str,
    page: Target,
    extent: Extent,
    *,
    fractions: bool,
    alone: bool,
) -> Output:
    """Return the markings in a form; of many answers, a row for each and a summary."""
    if form == "csv":
        return output(page, many.as_csv(marked, list(key.steps), fractions=fractions))
    if form == "json":
        return _json(marked, page, extent, alone=alone)
    document = _document(marked, extent, fractions=fractions, alone=alone)
    if form == "markdown":
        from attncalc.writing.markdown import write_markdown

        return output(page, write_markdown(document))
    if form == "latex":
        from attncalc.writing.latex import write_latex

        return output(page, write_latex(document))
    from attncalc.writing.terminal import write_notes

    return output(page, tables_of(document, page), *write_notes(document))


def _pages(
    marked: Sequence[Marked],
    page: Target,
    extent: Extent,
    *,
    fractions: bool,
    with_table: bool,
) -> list[Output]:
    """Return a page for each answer, and the table of all, which is printed."""
    from attncalc.writing.markdown import write_markdown

    assert page.place is not None
    pages = many.pages(marked, extent).items()
    files = {page.place / f"{name}.md": write_markdown(document) for name, document in pages}
    outputs = [Output(page, files)]
    if with_table:
        document = _document(marked, extent, fractions=fractions, alone=False)
        outputs.append(output(STDOUT, tables_of(document, STDOUT)))
    return outputs


def _json(marked: Sequence[Marked], page: Target, extent: Extent, *, alone: bool) -> Output:
    from attncalc.writing.reports.json_text import marking_as_json, not_listed

    markings = [each.marking for each in marked if each.marking is not None]
    counted = dict.fromkeys(not_listed(each, extent) for each in markings)
    notes = [
        f"the entries of {names} are counted, not listed: --full lists them"
        for names in counted
        if names
    ]
    marking = marked[0].marking if alone else None
    if marking is None:
        return output(page, many.as_json(marked, extent), *notes)
    return output(page, marking_as_json(marking, extent), *notes)


def _document(
    marked: Sequence[Marked], extent: Extent, *, fractions: bool, alone: bool
) -> Document:
    marking = marked[0].marking
    if alone and marking is not None:
        return marking_document(marking, extent)
    return many.answers_document(marked, extent, fractions=fractions)
