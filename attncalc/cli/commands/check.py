"""`attncalc check`: mark worked answers, and report where and why they went wrong."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from attncalc.api.marking import keyed_dump
from attncalc.base.errors import AttncalcError, InputError, OutputError
from attncalc.base.sources import remember
from attncalc.base.typed import quoted
from attncalc.base.workers import cores, mapped
from attncalc.cli.commands.beforehand import say_of_marking
from attncalc.cli.commands.marking import reason, rules_from, shown_from, with_known_steps
from attncalc.cli.commands.problem import problem_from
from attncalc.cli.commands.refusals import refuse
from attncalc.cli.commands.screens import tables_of, written
from attncalc.cli.streams import counted, note, receive
from attncalc.cli.targets import (
    STDOUT,
    Output,
    Target,
    check_targets,
    deliver,
    output,
    target_of,
    target_or_folder,
)
from attncalc.grading.dumps import compared
from attncalc.grading.key import Key, key_of
from attncalc.grading.marking import mark
from attncalc.grading.rules import Rules
from attncalc.problem.problem import Problem
from attncalc.reading import read_problem
from attncalc.reading.answers import answers_in, passed_over, read_answer_bytes
from attncalc.reading.answers.answer import Answer
from attncalc.reading.answers.expected import Expected
from attncalc.reading.dumps import beside, is_dump, read_dump
from attncalc.reading.files import is_folder, is_found, refuse_found
from attncalc.reading.hints import hints_in
from attncalc.reading.scans import Scanned, read_file
from attncalc.reading.sets import is_set, of_another_code
from attncalc.solving.plan import plan
from attncalc.writing.document import Document, Extent, Field, Scan, Verdict
from attncalc.writing.forms import FORMS
from attncalc.writing.reports import many
from attncalc.writing.reports.hints import hint
from attncalc.writing.reports.many import Marked, Shown
from attncalc.writing.reports.trace import dumps_as_json, dumps_document
from attncalc.writing.terminal import write_notes

OF_MARKS = ("table", "json", "markdown", "latex", "html", "csv")
"""The forms that marks can have."""
OF_DUMPS = ("table", "markdown", "json")
PDF = "pdf"
RIGHT, DIFFERENT, UNREAD = 0, 1, 2
"""How the command ends."""
Read = tuple[str, Answer | str | None]
"""An answer's place, and the answer, or why it cannot be read; None before it is read."""
Work = Callable[[Read], Marked]
MOST_NAMED = 10
"""The number of unmarked files of a folder that are named."""


def check(flags: Mapping[str, Any]) -> int:
    """Mark the answers, write the requested output, and return the exit code."""
    if flags["lesson"]:
        from attncalc.cli.commands.check_lesson import check_lessons

        return check_lessons(flags)
    if not flags["answers"]:
        raise InputError("Missing argument 'ANSWER...'.")
    if _are_dumps(flags):
        return _check_dumps(flags)
    if is_set(flags["file"]):
        from attncalc.cli.commands.check_class import check_class

        return check_class(flags)
    return _check_answers(flags)


def _are_dumps(flags: Mapping[str, Any]) -> bool:
    file, answers = flags["file"], flags["answers"]
    if flags["dump"] or file in (None, "-") or len(answers) != 1 or answers[0] == "-":
        return False
    return Path(answers[0]).is_file() and is_dump(Path(file))


def _check_dumps(flags: Mapping[str, Any]) -> int:
    """Compare two dumps, the first taken as the key, and return how the command ends."""
    why = "{} is for answers to a problem, and these are two dumps"
    refuse(flags, ("sheet", "steps", "weight", "reading"), why)
    target = target_of("--out", flags["out"])
    form = flags["format"] or target.form or "table"
    if form not in OF_DUMPS:
        raise InputError(f"two dumps are compared as {', '.join(OF_DUMPS)}, and not as {form}")
    places = flags["file"], flags["answers"][0]
    key, other, alone = beside(*(read_dump(Path(place)) for place in places))
    check_targets(target)
    if not key:
        raise InputError(f"{places[0]} and {places[1]} have no array of one name")
    atol, rtol = flags["atol"] or 0.0, flags["rtol"] or 0.0
    found = compared(key, other, atol, rtol)
    said = f"within {atol:g}" + (f" + {rtol:g} · |key|" if rtol else "")
    document = dumps_document(found, *places, said if atol or rtol else "to the last bit", alone)
    if form == "json":
        deliver(output(target, dumps_as_json(found, alone)))
    else:
        notes = document.notes if form == "table" else ()
        deliver(output(target, written(document, form, target), *notes))
    return DIFFERENT if any(each.differ for each in found) else RIGHT


def _check_answers(flags: Mapping[str, Any]) -> int:
    page, table = target_or_folder("--out", flags["out"]), target_of("--csv", flags["sheet"])
    form, answers = _form(flags["format"], page), flags["answers"]
    shown = shown_from(flags, form)
    wants_table = flags["sheet"] is not None
    if wants_table and page == table == STDOUT:
        raise InputError("--csv and the marks both go to standard output: give one of them a file")
    check_targets(page, table)
    if flags["file"] == "-" and "-" in answers:
        raise InputError("- is given for the problem and for an answer: use it for one of them")
    problem = problem_from(flags, fallback="self")
    say_of_marking(problem, plan(problem))
    key, read, rules, alone = _read_ahead(problem, flags)
    check_targets(page, table)  # again, since inputs are known now
    if flags["reading"]:
        deliver(_reading([each for _, each in read if each is not None], flags["format"], page))
        return RIGHT
    work = partial(_marked_one, key, rules, answers)
    jobs = flags["jobs"] or cores()
    key.prepare()  # for workers, too
    marked = [
        # a worker sends its own copy of the key: use the computed one
        each._replace(marking=each.marking and replace(each.marking, key=key))
        for each in counted(mapped(work, read, jobs), len(read))
    ]
    if flags["hint"] is not None:
        deliver(output(page, _hint(marked, flags["hint"], shown)))
        return DIFFERENT if many.has_mistakes(marked) else RIGHT
    if page.is_folder:
        printed = not alone and not (wants_table and table == STDOUT)
        outputs = _pages(marked, form, page, shown, with_table=printed)
    else:
        outputs = [_marks(marked, key, form, page, shown, alone=alone)]
    if wants_table:
        outputs.append(output(table, many.as_csv(marked, list(key.steps), shown=shown)))
    deliver(*outputs)
    if all(each.marking is None for each in marked):
        return UNREAD
    return DIFFERENT if many.has_mistakes(marked) else RIGHT


def _read_ahead(
    problem: Problem, flags: Mapping[str, Any]
) -> tuple[Key, Sequence[Read], Rules, bool]:
    """Return the key, what was read ahead, the rules, and whether it is one answer."""
    answers, rules = flags["answers"], rules_from(flags)
    if flags["dump"]:
        if len(answers) != 1 or answers[0] == "-":
            raise InputError("--dump takes one file of tensors, .npz or .safetensors")
        key, dump, rules = keyed_dump(problem, read_dump(Path(answers[0])), answers[0], rules)
        return key, [(answers[0], dump)], with_known_steps(rules, flags, key), True
    places = _places(answers)
    alone, key = places is None, key_of(problem, rules)
    with key.names_at_hand():
        read = [
            (each, _ahead(each, key.expected, answers, alone=alone, of_all=flags["reading"]))
            for each in places or answers
        ]
    return key, read, with_known_steps(rules, flags, key), alone


def _form(form: str | None, page: Target) -> str:
    """Return the form of the output: as asked, or as the ending of the file has it."""
    if page.is_folder:
        if form not in (None, "markdown", "html"):
            raise OutputError(f"{page.place} is a folder: it can contain pages in markdown or html")
        return form or "markdown"
    if form is not None or page.place is None:
        return form or "table"
    if page.place.suffix.lower() == f".{PDF}":
        return PDF
    if page.form not in OF_MARKS:
        endings = ", ".join([*(FORMS[each][0] for each in OF_MARKS), f".{PDF}"])
        raise OutputError(f"{page.place}: end the name in {endings}, or pass --format")
    return page.form


def _places(answers: Sequence[str]) -> list[str] | None:
    """Return the given answers, or None for a single one."""
    found: list[str] = []
    for answer in answers:
        try:
            if answer != "-" and is_found(answer, answers):
                refuse_found(Path(answer))
            inside = answers_in(Path(answer)) if answer != "-" and is_folder(Path(answer)) else None
        except AttncalcError:
            if len(answers) == 1:
                raise
            inside = None  # reading it again reports the error in its row
        found += [answer] if inside is None else map(str, inside)
        if inside is not None:
            _say_of_others(answer, inside)
        if inside is None and len(answers) == 1:
            return None
    return found


def _say_of_others(folder: str, answers: list[Path]) -> None:
    """List the files of a folder of answers that are not marked: one may be a submission."""
    others = passed_over(Path(folder), answers)
    if others:
        more = f" and {len(others) - MOST_NAMED:,} more" if len(others) > MOST_NAMED else ""
        names = ", ".join(map(quoted, others[:MOST_NAMED]))
        note(f"{folder}: not marked, because their names are not those of answers: {names}{more}")


def _reading(read: Sequence[Answer | str], form: str | None, page: Target) -> Output:
    from attncalc.cli.commands.reading import reading_as_json, reading_in_text

    as_json = form == "json" or (page.place is not None and page.place.suffix == ".json")
    if not as_json:
        texts = (each if isinstance(each, str) else reading_in_text(each) for each in read)
        return output(page, "\n".join(texts))
    if len(read) != 1 or isinstance(read[0], str):
        raise InputError("--reading as JSON takes one answer: give one file")
    return output(page, reading_as_json(read[0]))


def _ahead(
    place: str, expected: Expected, named: Sequence[str], *, alone: bool, of_all: bool
) -> Answer | str | None:
    """Return an answer that is read before any is marked; None where workers read many files."""
    if alone or of_all or place == "-" or is_folder(Path(place)):
        return _read(place, expected, named, alone=alone)
    remember(Path(place))
    return None


def _read(place: str, expected: Expected, named: Sequence[str], *, alone: bool) -> Answer | str:
    try:
        if place == "-":
            return read_answer_bytes(receive(), "standard input", expected)
        if is_found(place, named):
            refuse_found(Path(place))
        return read_file(place, expected)
    except Exception as error:
        if alone and isinstance(error, AttncalcError) and _is_problem(place):
            raise InputError(
                f"{place} is a problem, not an answer: the problem comes first, as in attncalc "
                "check problem.json answer.txt"
            ) from None
        if alone:
            raise
        return reason(place, error)


def _is_problem(place: str) -> bool:
    with suppress(AttncalcError):
        return Path(place).suffix == ".json" and bool(read_problem(place).given)
    return False


def _marked_one(key: Key, rules: Rules, named: Sequence[str], given: Read) -> Marked:
    place, answer = given
    alone = answer is not None and len(named) == 1
    if answer is None:
        with key.names_at_hand():
            answer = _read(place, key.expected, named, alone=False)
    if isinstance(answer, str):
        return Marked(place, None, answer)
    if said := of_another_code(place, key.problem.code):
        answer = replace(answer, remarks=(said, *answer.remarks))
    try:
        return Marked(place, mark(key, answer, replace(rules, hints=hints_in(place))))
    except Exception as error:
        if alone:
            raise
        return Marked(place, None, reason(place, error))


def _hint(marked: Sequence[Marked], level: int, shown: Shown) -> str:
    marking = marked[0].marking if len(marked) == 1 else None
    if marking is None:
        raise InputError("--hint takes one answer: give one file that can be read")
    return "\n".join(hint(marking, level, shown.in_words)) + "\n"


def _marks(
    marked: Sequence[Marked], key: Key, form: str, page: Target, shown: Shown, *, alone: bool
) -> Output:
    """Return the markings in a form; of many answers, a row for each and a summary."""
    if form == "csv":
        return output(page, many.as_csv(marked, list(key.steps), shown=shown))
    if form == "json":
        return _json(marked, page, shown.extent, alone=alone)
    one = marked[0] if alone and marked[0].marking is not None else None
    document = (
        many.answers_document(marked, shown, on_screen=form == "table")
        if one is None
        else many.page_of(one, shown)
    )
    if form == PDF:
        from attncalc.writing.paper.writer import write_paper

        paper = write_paper([document])
        return output(page, paper.content, *paper.notes)
    if form != "table":
        return output(page, _written(one, document, form, shown))
    return output(page, tables_of(document, page), *write_notes(document))


def _pages(
    marked: Sequence[Marked], form: str, page: Target, shown: Shown, *, with_table: bool
) -> list[Output]:
    """Return a page for each answer, and the table of all, which is printed."""
    assert page.place is not None
    pages, ending = many.pages(marked, shown).items(), FORMS[form][0]
    files = {
        page.place / f"{name}{ending}": _written(each, document, form, shown)
        for each, (name, document) in zip(marked, pages, strict=True)
    }
    outputs = [Output(page, files)]
    if with_table:
        document = many.answers_document(marked, shown, on_screen=True)
        outputs.append(output(STDOUT, tables_of(document, STDOUT)))
    return outputs


def _json(marked: Sequence[Marked], page: Target, extent: Extent, *, alone: bool) -> Output:
    from attncalc.writing.reports.marking import marking_as_json, not_listed

    markings = [each.marking for each in marked if each.marking is not None]
    names = filter(None, dict.fromkeys(not_listed(each, extent) for each in markings))
    notes = [f"the entries of {each} are counted, not listed: --full lists them" for each in names]
    one = marked[0].marking if alone else None
    text = many.as_json(marked, extent) if one is None else marking_as_json(one, extent)
    return output(page, text, *notes)


def _written(answer: Marked | None, document: Document, form: str, shown: Shown) -> str:
    """Return a document in a form; in HTML, the page of one marked answer is interactive."""
    marking = answer.marking if answer is not None and form == "html" else None
    if marking is not None and isinstance(marking.answer, Scanned):
        # scanned pages follow the verdict, before the steps
        scans = tuple(Scan(*page) for page in marking.answer.pages)
        opening = tuple(part for part in document.parts if isinstance(part, Field | Verdict))
        document = replace(document, parts=(*opening, *scans, *document.parts[len(opening) :]))
    elif marking is not None and document.language == "en":  # scripts are in English
        from attncalc.writing.live.marked import write_marking

        return write_marking(marking, shown.extent, shown.in_words)
    return written(document, form, STDOUT)
