"""The tensors of a program beside the steps of a layer, or two dumps of them: as documents."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from attncalc.base.text import entry_name, on_a_line
from attncalc.grading.compare import deviation
from attncalc.grading.dumps import Compared
from attncalc.grading.marks import Marking, StepMarks
from attncalc.grading.rules import Status
from attncalc.problem.stated import conventions, heading
from attncalc.writing.document import Bullets, Document, Facts, Table
from attncalc.writing.studies.common import in_json
from attncalc.writing.verdict import done, first_mistake, unread_in_words

EQUAL, DIFFERS, FOLLOWS, UNSEEN = "equal", "differs", "follows", "not seen"


class Traced(NamedTuple):
    """A step of a layer, and the tensor that is set beside it.

    tensor: the name of the tensor; "" for none.
    status: "equal"; "differs"; "follows", if it is right for the program's own earlier numbers;
        "not seen", if no tensor is this step.
    differ, entries: the number of entries with an error above the tolerance, and of all.
    causes: the mistakes that explain all of its numbers, as clauses.
    """

    step: str
    tensor: str
    status: str
    differ: int = 0
    entries: int = 0
    largest_error: float = 0.0
    causes: tuple[str, ...] = ()


def steps_of(marking: Marking) -> tuple[Traced, ...]:
    """Return every step of the layer, in the order of the plan."""
    marks = {each.step.name: each for each in marking.steps}
    return tuple(
        _traced(marking, marks[name]) if name in marks else Traced(name, "", UNSEEN)
        for name in marking.key.steps
    )


def _traced(marking: Marking, marks: StepMarks) -> Traced:
    off = deviation(marking, marks)
    wrong = marks.count(Status.WRONG, Status.WRONG_SHAPE)
    status = DIFFERS if wrong else FOLLOWS if marks.count(Status.FOLLOWS) else EQUAL
    says = tuple(done(cause, marks.step.name) for cause in marks.causes)
    tensor = "" if marks.written is None else marks.written.place
    return Traced(marks.step.name, tensor, status, off.differ, off.entries, off.absolute, says)


def trace_document(marking: Marking) -> Document:
    """Return the document: the first step that differs and why, and a table of all steps."""
    problem, steps = marking.key.problem, steps_of(marking)
    rows = tuple(_row(each) for each in steps)
    headings = ("step", "tensor", "", "differ", "largest error")
    table = Table("Steps, in the order of the layer", headings, rows, rows)
    parts = (Facts(conventions(problem)), Bullets(tuple(_verdict(marking, steps))), table)
    return Document(f"{heading(problem)}, traced", parts, tuple(problem.remarks))


def _verdict(marking: Marking, steps: tuple[Traced, ...]) -> Iterator[str]:
    seen = [each for each in steps if each.status != UNSEEN]
    if not seen:
        yield "No tensor is a step of this layer."
    elif marking.first_wrong is None:
        yield f"All {len(seen)} steps that are seen agree with the model."
    else:
        said = list(first_mistake(marking))
        yield " ".join(said).replace("The first mistake is in", "The first difference is in")
    for each in unread_in_words(marking):
        yield f"Not matched: {each}"
    for each in marking.answer.remarks:
        yield on_a_line(each)


def _row(each: Traced) -> tuple[str, ...]:
    if each.status == UNSEEN:
        return (each.step, "", UNSEEN, "", "")
    tensor = on_a_line(each.tensor.removesuffix("()"))
    differ = f"{each.differ:,} of {each.entries:,}"
    return (each.step, tensor, each.status, differ, f"{each.largest_error:.3g}")


def dumps_document(
    found: Sequence[Compared], key: str, other: str, tolerance: str, alone: Sequence[str]
) -> Document:
    """Return a table of all arrays that both have, and the first that differs."""
    rows = tuple(
        (
            on_a_line(each.name),
            " × ".join(map(str, each.shape)) or "1",
            f"{each.differ:,} of {each.entries:,}",
            f"{each.absolute:.3g}",
            "" if each.worst is None else entry_name("", each.worst),
            "; ".join(each.says),
        )
        for each in found
    )
    headings = ("array", "shape", "differ", "largest error", "at", "how")
    facts = Facts((f"{on_a_line(key)} is the key", tolerance))
    table = Table("Arrays in both files, in the order of the first", headings, rows, rows)
    notes = (f"only in one file: {', '.join(map(on_a_line, alone))}",) if alone else ()
    return Document(
        f"{other} beside {key}", (facts, Bullets((_verdict_on_dumps(found),)), table), notes
    )


def _verdict_on_dumps(found: Sequence[Compared]) -> str:
    wrong = [each for each in found if each.differ]
    if not wrong:
        count = "The array" if len(found) == 1 else f"All {len(found)} arrays"
        return f"{count} in both files agree."
    first = wrong[0]
    said = f": {'; '.join(first.says)}" if first.says else ""
    return (
        f"{on_a_line(first.name)} is the first that differs, in {first.differ:,} of "
        f"{first.entries:,} entries{said}."
    )


def dumps_as_json(found: Sequence[Compared], alone: Sequence[str]) -> str:
    """Return the same as JSON; an error that is not a number is null."""

    def values(each: Compared) -> dict[str, Any]:
        largest = each.absolute if each.absolute < float("inf") else None
        worst = None if each.worst is None else [i + 1 for i in each.worst]
        said = {"name": each.name, "shape": list(each.shape), "differ": each.differ}
        said |= {"entries": each.entries, "largest_error": largest, "worst": worst}
        return said | {"says": list(each.says)}

    return in_json({"arrays": [*map(values, found)], "alone": list(alone)})
