"""Vectors of words in the text formats of word2vec (a first line "count width") and GloVe."""

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import BinaryIO

from attncalc.base.errors import InputError
from attncalc.base.text import of_each
from attncalc.base.typed import NotANumber, quoted, read_number
from attncalc.problem.serialising import ROW_NAMES
from attncalc.reading.files import opened

LONGEST_LINE = 2**20
"""Bytes of a line: vectors of more numbers are no text of word2vec or GloVe."""


def read_vectors(path: Path, text: str) -> tuple[dict[str, object], str]:
    """Return tokens X with the vectors of the words of a text, and a note or ""."""
    words = text.split()
    if not words:
        raise InputError("--text has no words")
    found: dict[bytes, tuple[int, bytes]] = {}
    again: dict[bytes, str] = {}
    wanted = {word: word.encode(errors="surrogateescape") for word in words}
    sought = set(wanted.values())
    with opened(path) as file:
        for number, word, numbers in _lines(file, path):
            if word in sought and word in found:
                lines = f"(lines {found[word][0]:,} and {number:,})"
                again.setdefault(word, f"{quoted(word.decode(errors='replace'))} {lines}")
            elif word in sought:
                found[word] = number, numbers
    if missing := [word for word, each in wanted.items() if each not in found]:
        raise InputError(f"{path}: {'; '.join(_missing(path, missing))}")
    rows = {word: _row(path, *found[each]) for word, each in wanted.items()}
    tokens: dict[str, object] = {"X": [rows[word] for word in words], ROW_NAMES: {"X": words}}
    said = f"more than one vector of {of_each([*again.values()])}" if again else ""
    return tokens, said and f"{path}: {said}: the first is used"


def _lines(file: BinaryIO, path: Path) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield the number of each line, its word, which may contain blanks, and its numbers."""
    width = number = 0
    while line := file.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE:
            raise InputError(f"{path}, line {number:,}: longer than {LONGEST_LINE:,} bytes")
        word, _, numbers = line.strip().replace(b"\t", b" ").partition(b" ")
        if number == 1 and word.isdigit() and numbers.isdigit():
            width = int(numbers[:9])
            continue
        count = numbers.count(b" ") + 1  # faster than to split all lines
        if count != width:
            count = len(numbers.split())
            width = width or count
        if count < max(width, 1):
            needed = f"needs {width} numbers behind a word" if width else "needs numbers"
            raise InputError(f"{path}, line {number:,}: {needed}, and has {count}")
        if count > width:
            head, *rest = line.split()
            word = b" ".join([head, *rest[: count - width]])
            numbers = b" ".join(rest[count - width :])
        yield number, word, numbers


def _row(path: Path, number: int, numbers: bytes) -> list[object]:
    try:
        return [read_number(each) for each in numbers.decode(errors="replace").split()]
    except NotANumber as reason:
        raise InputError(f"{path}, line {number:,}: {reason}") from None


def _missing(path: Path, words: Sequence[str]) -> Iterator[str]:
    """Yield each word that has no vector, with the words of the file that are most like it."""
    near: dict[str, dict[str, str]] = {word: {} for word in words}
    with opened(path) as file:  # once more, but no pipe
        for _, each, _ in _lines(file, path) if path.is_file() else ():
            known = each.decode(errors="replace")
            for word, others in near.items():
                few = len(set(word.lower()) ^ set(known.lower())) <= 2
                if few and abs(len(known) - len(word)) <= 2:
                    others.setdefault(known.lower(), known)
    for word, others in near.items():
        meant = [quoted(others[each]) for each in get_close_matches(word.lower(), others)]
        yield f"no vector of {quoted(word)}" + (f": try {of_each(meant)}" if meant else "")
