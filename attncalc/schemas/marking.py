"""The output of `attncalc check --format json`: a marking, those of a class, a comparison."""

from attncalc.grading.rules import STATUSES
from attncalc.schemas.pieces import (
    FRACTION,
    LIST_OF_TEXTS,
    PLACE,
    TEXT,
    Schema,
    either,
    listed,
    named,
    nested,
    or_none,
    shared,
    thing,
)

STATUS: Schema = {"enum": [each.value for each in STATUSES]}
POINTS = "earned:fraction possible:fraction"
HOW_FAR = either({"type": "number", "minimum": 0}, {"enum": ["inf"]})


def marking() -> Schema:
    """Return the schema of one marking."""
    return {**shared("marking"), "description": "A marked answer."}


def class_of() -> Schema:
    """Return the schema of many answers to one problem."""
    failed = thing("An answer that could not be read.", "answer:text error:text")
    answers = listed(either(shared("marking"), failed))
    return thing("Answers, marked.", "answers summary:text*", answers=answers)


def dumps() -> Schema:
    """Return the schema of a comparison of two dumps."""
    words = "name:text shape:count* differ:count entries:count largest_error:float? worst:place*? "
    array = thing("An array in both dumps.", f"{words}says:text*")
    return thing("Two dumps.", "arrays alone:text*", arrays=listed(array))


def lessons() -> Schema:
    """Return the schema of checked lessons."""
    finding = thing(
        "A finding about some lines of a lesson.",
        "kind where:text line:count last:count what:text found:text? right:text? under:text* "
        "why:text?",
        kind={"enum": ["wrong", "right", "given", "unchecked", "other"]},
    )
    words = "lesson:text error:text? findings"
    lesson = thing("A lesson, and what was found in it.", words, findings=listed(finding))
    return thing("Lessons, checked.", "lessons", lessons=listed(lesson))


def conformance() -> Schema:
    """Return the schema of the conformance of a kernel."""
    cause = thing("A cause.", "code:text says:text")
    size = "batch:count heads:count queries:count keys:count width:count"
    failure = thing(
        "A case that failed.",
        "feature:text case:text dtype:text why:text smallest entry:text? got:text? right:text? "
        "bound:text? causes",
        smallest=thing("The smallest case that fails.", size),
        causes=listed(cause),
    )
    statuses = "passed:count failed:count not_tested:count"
    counted = thing("A cause of failures.", "code:text says:text explains:count")
    return thing(
        "The conformance of an attention kernel.",
        f"kernel:text suite:count {statuses} causes features failures untested",
        causes=listed(counted),
        features=named(thing("The cases of a feature.", statuses)),
        failures=listed(failure),
        untested=listed(thing("A case not tested.", "feature:text case:text why:text")),
    )


def why() -> Schema:
    """Return the schema of the parts of entries."""
    parts = listed(thing("A part.", "part:text value:text asks:text*"))
    words = "entry:text how:text value:text parts"
    entry = thing("An entry and its parts.", words, parts=parts)
    return thing("The parts of entries.", "entries", entries=listed(entry))


def reading() -> Schema:
    """Return the schema of an answer as read: the form of an answer in JSON."""
    line = thing("A line of the map.", "output:text most:text* second:text*", "of:text")
    return {
        "description": "An answer: a matrix for each step, its numbers as texts.",
        "type": "object",
        "properties": {
            "connections": either(listed(line), listed(listed(line))),
            "notes": LIST_OF_TEXTS,
        },
        "additionalProperties": nested(or_none(TEXT)),
    }


def rubric() -> Schema:
    """Return the schema of a rubric: the arguments of `check`."""
    number = either({"type": "number", "minimum": 0}, shared("unsignedText"))
    share = either({"type": "number", "minimum": 0, "maximum": 1}, FRACTION)
    names = either(TEXT, LIST_OF_TEXTS)
    said = {
        "$schema": TEXT,
        "points": number,
        "weights": named(number),
        "asked": names,
        "steps": names,
        "require": names,
        "deductions": named(share),
        "hint_costs": named(share),
        **dict.fromkeys(("follow_penalty", "rounding_penalty", "precision_penalty"), share),
        **dict.fromkeys(("atol", "rtol"), number),
    }
    return thing("A rubric.", {}, said)


def defined() -> dict[str, Schema]:
    """Return the definitions that the schemas of markings share."""
    return {"marking": _marking(), "markedStep": _step(), "line": _line()}


def _marking() -> Schema:
    unread = thing("A part of the answer that could not be read.", "line:count text:text why:text")
    return thing(
        "A marked answer.",
        "answer:text score provisional:yes asked:text* not_found:text* not_shown:text* points "
        "steps first_wrong rounding:text? connections flags not_asked:text* unread remarks:text* "
        "faults:text* verdict:text",
        score=thing("The score.", POINTS),
        points=listed(thing("The points of a step.", f"step:text {POINTS}")),
        steps=listed(shared("markedStep")),
        first_wrong=or_none(_first_wrong()),
        connections=listed(shared("line")),
        flags=listed(thing("A step to review.", "step:text code:code")),
        unread=listed(unread),
    )


def _step() -> Schema:
    deviation = thing(
        "Errors of a program's numbers.",
        "differ:count of:count absolute relative worst:place*?",
        **dict.fromkeys(("absolute", "relative"), HOW_FAR),
    )
    counts = {"type": "object", "propertyNames": STATUS, "additionalProperties": PLACE}
    return thing(
        "A step of an answer; cause and way are codes of docs/check.md.",
        "name:text credit:fraction counts entries cause:code* deduction:fraction way:code? "
        "follows:yes",
        "repeated:yes problem:text deviation",
        counts=counts,
        entries=or_none(nested(STATUS)),
        deviation=deviation,
    )


def _first_wrong() -> Schema:
    words = "step:text row:place? column:place? found:text expected:text?"
    return thing("The first mistake.", words, "head:place")


def _line() -> Schema:
    words = "output:text code most:text* second:text*"
    return thing("A line of the map.", words, "weights:text head:place", code=STATUS)
