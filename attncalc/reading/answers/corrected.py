"""Corrections in any words, which the numbers of the answer place.

"Oops: the first entry of the second output row should be -0.28" corrects the only entry that is
wrong and that -0.28 makes right. The forms that name an entry are read before, by `corrections`.
"""

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from attncalc.base.text import entry_name
from attncalc.base.types import Matrix, Place
from attncalc.reading.answers.answer import WrittenMatrix
from attncalc.reading.answers.cuts import Number, numbers_of
from attncalc.reading.answers.doubting import followed
from attncalc.reading.answers.expected import Expected, near
from attncalc.reading.answers.keeping import Collected
from attncalc.reading.answers.prose import PROSE
from attncalc.reading.plain.corrections import CORRECTS, ENDS, LONGEST, speaks_of_error
from attncalc.reading.plain.rows import SCANNED

_LETTER = re.compile(r"[^\W\d_]")
CORRECTED = "is corrected here"
_OF_SUMS = (0.0, 1.0, 100.0)
"""What rows sum to: a sentence with these numbers alone may be about sums."""
_BEHIND = re.compile(r"<[-=]+|←|⟵|--+>?|//|[#%](?= )|(?<=[\d)\]]) {1,9}\((?=[^\W\d_])")
"""What separates a remark from the numbers before it."""
_TIME, _FORWARDED = re.compile(r"\d{1,2}[:.h]\d\d"), re.compile(r"\s{0,8}-{3,20} ?[^\W\d_]")


def quoted_lines(text: str) -> set[int]:
    """Return the lines of an older mail that a mail quotes: what is above it replaces it."""
    lines, behind, first = text.split("\n"), "", 0
    for number, line in reversed([*enumerate(lines, start=1)]):
        is_head = line.rstrip().endswith(":") and _TIME.search(line) is not None
        is_quote = is_head and (line.lstrip().startswith(">") or behind.lstrip().startswith(">"))
        if is_quote or (_FORWARDED.match(line) and line.rstrip().endswith("---")):
            first = number
        behind = line if line.strip() else behind
    return {*range(first, len(lines) + 1)} if first else set()


def without_quoted(text: str) -> tuple[str, list[tuple[int, str]]]:
    """Return a mail without the lines of an older one that it quotes, and these lines."""
    quoted, lines = quoted_lines(text), [*enumerate(text.split("\n"), start=1)]
    older = [(n, each) for n, each in lines if n in quoted and each.lstrip().startswith(">")]
    numbers = {n for n, _ in older}
    return "\n".join("" if n in numbers else each for n, each in lines), older


def with_corrected(
    text: str, matrices: Mapping[str, WrittenMatrix], expected: Expected, found: Collected
) -> dict[str, WrittenMatrix]:
    """Return the matrices with each entry that a sentence corrects, with a remark.

    A sentence about an error whose number fits no wrong entry, or several, is listed as unread.
    One without a word for it must state the entire row.
    """
    made = dict(matrices)
    of_steps = [each for each in found.taken if each.what]
    listed = {each.line for each in found.unread if each.could_be_matrix}
    steps = {line for each in of_steps for line in each.lines} - listed
    prose = {each.line for each in found.taken if each.how == PROSE}.union(listed) - steps
    sentences = [*_sentences(text, steps, prose)]
    wrong_ones = [*_wrong(made, expected)] if sentences else []
    for line, sentence, is_said in sentences:
        above = {each.step for each in of_steps if each.line <= line}
        wrong = [each for each in wrong_ones if each[0] in above]
        numbers = [each for each in numbers_of(sentence) if each.is_last]
        said = [each for each in numbers if each.entry.decimals and is_said] or numbers
        fits = {(name, place): each for name, place, right in wrong for each in said
                if near(np.array(each.value), right).any()}  # fmt: skip
        ((name, place), number) = next(iter(fits.items()), (("", ()), None))
        old = made[name].values[place] if name else np.nan
        is_of_sums = all(each.value in _OF_SUMS for each in said)
        values = [each.value for each in said]
        is_whole = is_said and {*values} <= {old, number and number.value}
        if name and number:
            row = [*made[name].values[place[:-1]]]
            row[place[-1]] = number.value
            run = [each.value for each in numbers]
            starts = range(len(run) - len(row) + 1) if len(row) > 1 else ()
            is_whole |= any(run[start : start + len(row)] == row for start in starts)
        new = [(place, number)] if number and len(fits) == 1 and is_whole and not is_of_sums else []
        is_new = is_said and len(fits) > 1 and CORRECTS.search(sentence) is not None
        if is_new and len(rows := [*_rows_in(sentence, numbers, made, wrong)]) == 1:
            ((name, new),) = rows
        if new:
            for place, number in new:
                made[name] = _with_entry(made[name], place, number)
            is_row = len(new) > 1
            what = f"{name}, row {place[-2] + 1}" if is_row else entry_name(name, place)
            found.taken[:] = [each for each in found.taken if each.line != line]
            found.unread[:] = [each for each in found.unread if each.line != line]
            found.note(line, what, "a correction", sentence.strip())
            found.tell(line, f"{what}{',' * is_row} {CORRECTED}")
            wrong_ones = [*_wrong(made, expected)]
        elif is_said and wrong and (fits or not is_of_sums) and line not in listed:
            why = "it may correct an entry: name it, as in Q[2,1] = 3"
            found.leave(line, sentence.strip(), why)
    return made


def _rows_in(
    sentence: str,
    numbers: Sequence[Number],
    matrices: Mapping[str, WrittenMatrix],
    wrong: Sequence[tuple[str, Place, Matrix]],
) -> Iterator[tuple[str, list[tuple[Place, Number]]]]:
    """Yield rows with several wrong entries that a sentence states in full: their new entries.

    numbers: those of the sentence.
    """
    rights: dict[tuple[str, Place], dict[int, Matrix]] = {}
    for name, place, right in wrong:
        rights.setdefault((name, place[:-1]), {})[place[-1]] = right
    for (name, at), own in rights.items():
        row = matrices[name].values[at]
        for start in range(len(numbers) - len(row) + 1):
            run = numbers[start : start + len(row)]
            fits = (near(np.array(n.value), own.get(k, row[k])).any() for k, n in enumerate(run))
            is_row = not _LETTER.search(sentence, run[0].start, run[-1].end)
            if len(own) > 1 and is_row and all(fits):
                yield name, [((*at, k), number) for k, number in enumerate(run)]
                break


def _sentences(
    text: str, steps: Container[int], prose: Container[int]
) -> Iterator[tuple[int, str, bool]]:
    """Yield what may correct an entry: its line, its words, and whether they speak of an error.

    steps: the lines of steps, on which only the words after the numbers count.
    prose: the lines that may correct an entry in any words.
    """
    lines = text.split("\n")
    for line, (sentence, below) in enumerate(pairwise([*lines, ""]), start=1):
        if CORRECTS.search(sentence) and ENDS.search(sentence) and line + 1 not in steps:
            sentence = f"{sentence} {below}"
        own = "".join(_BEHIND.split(sentence, maxsplit=1)[1:]) if line in steps else sentence
        is_said = speaks_of_error(own)
        if len(own) <= LONGEST and (is_said or line in prose):
            yield line, own, is_said


def with_scanned(
    matrices: Mapping[str, WrittenMatrix], found: Collected
) -> dict[str, WrittenMatrix]:
    """Return the matrices, with digits for the letters in entries: O.05 is 0.05."""
    made = dict(matrices)
    for name, written in matrices.items():
        texts = written.texts
        for place in written.faults if texts is not None else ():
            text = "" if texts is None else str(texts[place])
            if SCANNED.fullmatch(text) and (numbers := numbers_of(text)):
                made[name] = _with_entry(made[name], place, numbers[0])
                said = f"letters are read as digits: {text} = {numbers[0].entry.text}"
                found.remarks.append(f"{entry_name(name, place)}: {said}")
    return made


def _wrong(
    matrices: Mapping[str, WrittenMatrix], expected: Expected
) -> Iterator[tuple[str, Place, Matrix]]:
    """Yield the entries that differ from the key and from what follows, with both right values."""
    differ = {}
    for name, written in () if expected.by_columns else matrices.items():
        values, key = written.values, expected.steps.get(name)
        if key is not None and key.shape == values.shape:
            differ[name] = ~near(values, key) & ~np.isnan(values)
    follows = followed(matrices, expected) if any(map(np.any, differ.values())) else {}
    for name, is_wrong in differ.items():  # nothing follows for a matrix with blanks
        key = expected.steps[name]
        own = follows.get(name, key)
        is_wrong &= ~near(matrices[name].values, own)
        for place in map(tuple, np.argwhere(is_wrong).tolist()):
            yield name, place, np.array([key[place], own[place]])


def _with_entry(written: WrittenMatrix, place: Place, number: Number) -> WrittenMatrix:
    """Return a matrix with another entry."""
    values, decimals = written.values.copy(), written.decimals.copy()
    values[place], decimals[place] = number.value, number.entry.decimals
    texts = None if written.texts is None else written.texts.copy()
    if texts is not None:
        texts[place] = number.entry.text
    faults = {at: fault for at, fault in written.faults.items() if at != place}
    return replace(written, values=values, decimals=decimals, texts=texts, faults=faults)
