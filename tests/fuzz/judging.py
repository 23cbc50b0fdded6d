"""What attncalc promises of every call, and what of it an outcome breaks."""

import re
import unicodedata
from typing import NamedTuple

from .calling import Case, Outcome
from .pace import slowness

MOST_SECONDS = 2.0
MOST_MEGABYTES = 300.0
LEAST_GROWTH = 50.0
"""Megabytes that a call takes of its own before the size of the process is held against it."""
CODES = (0, 1, 2)
_OWN_MARKS = "\u200e"
"""What the program itself puts around words that are written from right to left."""
_WARNING = re.compile(r"\b\w*Warning: ")
_NOT_A_NUMBER = re.compile(r"(?<![\w.])nan(?![\w.])", re.IGNORECASE)
_SCRIPT = re.compile(r"<script(?:(?!</script>).)*+</script>", re.DOTALL)
"""What a page does, which no reader sees."""
_MINUS_ZERO = re.compile(r"(?<![\w.])-0(?:\.0+)?(?![\w.,])")


class Fault(NamedTuple):
    """A broken promise: which, and what of it is always the same for one mistake of ours."""

    kind: str
    what: str

    @property
    def is_cost(self) -> bool:
        """Whether it is about time or memory, which no two runs take the same of."""
        return self.kind in ("slow", "large")


def faults_of(case: Case, seen: Outcome) -> list[Fault]:
    """Return the promises that are broken, the worst first."""
    found = [*_ending(seen), *_costs(seen), *_files(case, seen), *_texts(case, seen)]
    return [Fault(kind, what) for kind, what in found]


def _ending(seen: Outcome):
    if seen.raised and not seen.raised.startswith("TooSlow"):
        yield "raised", seen.raised
    elif seen.code not in CODES and not seen.raised:
        said = re.search(r"internal error: (.*)", seen.err)
        yield "exit", f"{seen.code}: {said[1] if said else seen.err[-200:]}"
    if "Traceback (most recent call last)" in seen.err:
        yield "traceback", seen.err.strip().splitlines()[-1]
    if found := _WARNING.search(seen.err):
        yield "warning", seen.err[found.start() : found.start() + 80].partition("\n")[0]


def _costs(seen: Outcome):
    if seen.seconds > MOST_SECONDS and seen.seconds > MOST_SECONDS * slowness():
        yield "slow", f"{seen.seconds:.1f} s of CPU"
    if seen.megabytes > MOST_MEGABYTES and seen.growth > LEAST_GROWTH:
        yield "large", f"{seen.megabytes:.0f} MB"


def _files(case: Case, seen: Outcome):
    if seen.changed:
        yield "overwritten", "an input was changed"
    if any(part.startswith(".") for name in seen.appeared for part in name.split("/")):
        yield "left over", "a temporary file was left behind"
    if seen.code == 2 and seen.appeared and case.arguments[:1] != ("check",):
        yield "half done", "files were written by a call that failed"


def _texts(case: Case, seen: Outcome):
    is_picture = case.arguments[:1] == ("plot",) and "-" in case.arguments
    printed = () if is_picture else (("stdout", seen.out),)
    for name, text in (("stderr", seen.err), *printed):
        if character := next(filter(is_raw, text), ""):
            yield f"raw on {name}", f"U+{ord(character):04X}"
    given = b"\n".join([*case.files.values(), case.stdin]).decode(errors="replace")
    given = given.replace("\0", "")  # of UTF-16
    given = f"{given}\n{' '.join(case.arguments)}".lower()
    if case.arguments[:1] == ("schema",):
        return  # which has "nan" among the values of steps
    if any(data.startswith(b"PK") for data in case.files.values()):
        return  # its content is not visible here
    out = _SCRIPT.sub("", seen.out)
    if "nan" not in given and _NOT_A_NUMBER.search(out):
        yield "nan", _around(_NOT_A_NUMBER, out)
    if "-0" not in given and "−0" not in given and _MINUS_ZERO.search(out):
        yield "minus zero", _around(_MINUS_ZERO, out)


def is_raw(character: str) -> bool:
    """Return whether a character does something to a terminal or to the order of what is read."""
    if character in f"\n\t{_OWN_MARKS}":
        return False
    return unicodedata.category(character) in ("Cc", "Zl", "Zp", "Cs") or (
        unicodedata.bidirectional(character) in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI")
        or character in "\u2068\u2069\u061c\u200f"
    )


def _around(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    assert found
    return text[max(0, found.start() - 30) : found.end() + 10].replace("\n", "⏎")
