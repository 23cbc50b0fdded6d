"""The readers called directly: they return a value, or refuse the bytes with a message."""

import warnings
from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

from attncalc.base.errors import AttncalcError

from . import answering, making
from .calling import Case, Outcome, measured

SEEN_AS_CALL = {True: 2, False: 0}


def _problem(data: bytes, name: str) -> None:
    from attncalc.reading import read_stream

    read_stream(data, name)


def _answer(data: bytes, name: str) -> None:
    from attncalc.reading.answers import read_answer_bytes

    read_answer_bytes(data, name)


def _answer_expected(data: bytes, name: str) -> None:
    """Read an answer as marking does: with what the problem asks for."""
    from attncalc.reading.answers import read_answer_bytes

    read_answer_bytes(data, name, _expected())


@cache
def _expected() -> Any:
    from attncalc.grading.key import key_of
    from attncalc.grading.rules import Rules
    from attncalc.problem.samples import sample
    from attncalc.reading import read_problem

    return key_of(read_problem(sample("self").path), Rules()).expected


def _matrix(data: bytes, name: str) -> None:
    from attncalc.reading import read_matrix

    read_matrix("X", data.decode(errors="replace")[:2000])


READERS: dict[str, Callable[[bytes, str], None]] = {
    "problem": _problem,
    "answer": _answer,
    "answer, expected": _answer_expected,
    "matrix": _matrix,
}


def reading(some: Random) -> tuple[str, Case]:
    """Return which reader is tried, and what it reads."""
    reader = some.choice([*READERS, "answer, expected", "problem"])
    name, data = making.problem(some) if reader == "problem" else making.answer(some)
    if reader != "problem" and some.random() < 0.5:
        name, data = answering.answer_to(some, some.choice(answering.keyed()))
    if reader == "matrix":
        rows = making.rows(some, some.randint(1, 3), some.randint(1, 3))
        text = (
            some.choice(["; ", "\n", "];[", "]  [", "], ["])
            .join(" ".join(row) for row in rows)
            .encode()
        )
        data = b"[" + text + b"]" if some.random() < 0.3 else text
        data = making.spoilt(some, data) if some.random() < 0.5 else data
        if some.random() < 0.1:
            data = b"[[" + text + b"]" + some.choice([b"]", b"", b"x"])
    return reader, Case((name,), {name: data})


def read(reader: str, case: Case) -> Outcome:
    """Let a reader read."""
    name, data = next(iter(case.files.items()), ("", b""))
    refused = []

    def run() -> None:
        try:
            READERS[reader](data, case.arguments[0] if case.arguments else name)
        except AttncalcError as error:
            refused.append(str(error))

    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        made = measured(run)
    said = "".join(f"{each.category.__name__}: {each.message}\n" for each in warned)
    return Outcome(
        SEEN_AS_CALL[bool(refused)], "", said, made.seconds, made.megabytes, made.growth,
        raised=made.raised,
    )  # fmt: skip
