"""The output of `attncalc check --format json`: a marking, those of a class, a comparison."""

from attncalc.grading.rules import STATUSES
from attncalc.schemas.pieces import (
    CODE,
    COUNT,
    FLOAT,
    FRACTION,
    LIST_OF_TEXTS,
    PLACE,
    TEXT,
    YES_NO,
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
POINTS = {"earned": FRACTION, "possible": FRACTION}
HOW_FAR = either({"type": "number", "minimum": 0}, {"enum": ["inf"]})


def marking() -> Schema:
    """Return the schema of one marking."""
    return {**shared("marking"), "description": "A marked answer."}


def class_of() -> Schema:
    """Return the schema of many answers to one problem."""
    failed = thing("An answer that could not be read.", {"answer": TEXT, "error": TEXT})
    answers = listed(either(shared("marking"), failed))
    return thing("Answers, marked.", {"answers": answers, "summary": LIST_OF_TEXTS})


def dumps() -> Schema:
    """Return the schema of a comparison of two dumps."""
    array = thing(
        "An array in both dumps.",
        {
            "name": TEXT,
            "shape": listed(COUNT),
            "differ": COUNT,
            "entries": COUNT,
            "largest_error": or_none(FLOAT),
            "worst": or_none(listed(PLACE)),
            "says": LIST_OF_TEXTS,
        },
    )
    return thing("Two dumps.", {"arrays": listed(array), "alone": LIST_OF_TEXTS})


def lessons() -> Schema:
    """Return the schema of checked lessons."""
    finding = thing(
        "A finding about some lines of a lesson.",
        {
            "kind": {"enum": ["wrong", "right", "given", "unchecked", "other"]},
            "where": TEXT,
            "line": COUNT,
            "last": COUNT,
            "what": TEXT,
            "found": or_none(TEXT),
            "right": or_none(TEXT),
            "under": LIST_OF_TEXTS,
            "why": or_none(TEXT),
        },
    )
    lesson = thing(
        "A lesson, and what was found in it.",
        {"lesson": TEXT, "error": or_none(TEXT), "findings": listed(finding)},
    )
    return thing("Lessons, checked.", {"lessons": listed(lesson)})


def conformance() -> Schema:
    """Return the schema of the conformance of a kernel."""
    cause = thing("A cause.", {"code": TEXT, "says": TEXT})
    size = dict.fromkeys(("batch", "heads", "queries", "keys", "width"), COUNT)
    failure = thing(
        "A case that failed.",
        {
            **dict.fromkeys(("feature", "case", "dtype", "why"), TEXT),
            "smallest": thing("The smallest case that fails.", size),
            **{name: or_none(TEXT) for name in ("entry", "got", "right", "bound")},
            "causes": listed(cause),
        },
    )
    statuses = ("passed", "failed", "not_tested")
    counts = thing("The cases of a feature.", dict.fromkeys(statuses, COUNT))
    counted = thing("A cause of failures.", {"code": TEXT, "says": TEXT, "explains": COUNT})
    untested = thing("A case not tested.", {"feature": TEXT, "case": TEXT, "why": TEXT})
    return thing(
        "The conformance of an attention kernel.",
        {
            "kernel": TEXT,
            "suite": COUNT,
            **dict.fromkeys(statuses, COUNT),
            "causes": listed(counted),
            "features": {"type": "object", "additionalProperties": counts},
            "failures": listed(failure),
            "untested": listed(untested),
        },
    )


def why() -> Schema:
    """Return the schema of the parts of entries."""
    part = thing("A part.", {"part": TEXT, "value": TEXT, "asks": LIST_OF_TEXTS})
    texts = dict.fromkeys(("entry", "how", "value"), TEXT)
    entry = thing("An entry and its parts.", {**texts, "parts": listed(part)})
    return thing("The parts of entries.", {"entries": listed(entry)})


def reading() -> Schema:
    """Return the schema of an answer as read: the form of an answer in JSON."""
    line = thing(
        "A line of the map.",
        {"output": TEXT, "most": LIST_OF_TEXTS, "second": LIST_OF_TEXTS},
        {"of": TEXT},
    )
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
    unread = thing(
        "A part of the answer that could not be read.", {"line": COUNT, "text": TEXT, "why": TEXT}
    )
    return thing(
        "A marked answer.",
        {
            "answer": TEXT,
            "score": thing("The score.", POINTS),
            "provisional": YES_NO,
            "asked": LIST_OF_TEXTS,
            "not_found": LIST_OF_TEXTS,
            "not_shown": LIST_OF_TEXTS,
            "points": listed(thing("The points of a step.", {"step": TEXT, **POINTS})),
            "steps": listed(shared("markedStep")),
            "first_wrong": or_none(_first_wrong()),
            "rounding": or_none(TEXT),
            "connections": listed(shared("line")),
            "flags": listed(thing("A step to review.", {"step": TEXT, "code": CODE})),
            "not_asked": LIST_OF_TEXTS,
            "unread": listed(unread),
            "remarks": LIST_OF_TEXTS,
            "faults": LIST_OF_TEXTS,
            "verdict": TEXT,
        },
    )


def _step() -> Schema:
    deviation = thing(
        "Errors of a program's numbers.",
        {
            "differ": COUNT,
            "of": COUNT,
            "absolute": HOW_FAR,
            "relative": HOW_FAR,
            "worst": or_none(listed(PLACE)),
        },
    )
    counts = {"type": "object", "propertyNames": STATUS, "additionalProperties": PLACE}
    return thing(
        "A step of an answer; cause and way are codes of docs/check.md.",
        {
            "name": TEXT,
            "credit": FRACTION,
            "counts": counts,
            "entries": or_none(nested(STATUS)),
            "cause": listed(CODE),
            "deduction": FRACTION,
            "way": or_none(CODE),
            "follows": YES_NO,
        },
        {"repeated": YES_NO, "problem": TEXT, "deviation": deviation},
    )


def _first_wrong() -> Schema:
    place = or_none(PLACE)
    return thing(
        "The first mistake.",
        {"step": TEXT, "row": place, "column": place, "found": TEXT, "expected": or_none(TEXT)},
        {"head": PLACE},
    )


def _line() -> Schema:
    return thing(
        "A line of the map.",
        {"output": TEXT, "code": STATUS, "most": LIST_OF_TEXTS, "second": LIST_OF_TEXTS},
        {"weights": TEXT, "head": PLACE},
    )
