"""Reads the set of a class, and matches answers with students by their names."""

import hmac
import os
import re
import secrets
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from attncalc.base.errors import AttncalcError, InputError
from attncalc.base.sources import remember
from attncalc.base.text import as_key, has_run, of_each
from attncalc.reading.answers import ENDINGS, SHEETS
from attncalc.reading.answers.answer import Answer
from attncalc.reading.attempts import newest, without_number
from attncalc.reading.files import (
    is_folder,
    is_found,
    list_folder,
    read_bytes,
    refuse_found,
    why_not_read,
)
from attncalc.reading.json_values import read_json_object
from attncalc.reading.naming.keys import name_of_key
from attncalc.reading.naming.vocabulary import plain_word
from attncalc.reading.roster import Student, path_name, words_of
from attncalc.reading.scans import codes_in, first_page, is_installed

MANIFEST = "manifest.json"
PICTURES = (".png", ".jpg", ".jpeg", ".pdf")
"""File endings of scanned pages, whose QR codes and first lines are read."""
MOST_HEADER = 8
"""Lines of a scanned page that may name its student."""
SHORTEST = 3
"""The shortest name that is searched among other words: shorter ones occur anywhere."""
DEEPEST = 8
"""The deepest nesting of folders that is searched for answers."""
_CODE = re.compile(r"(?<![A-Z])(?=([B-Z]{4})[- ]?([B-Z]{4})(?![A-Z]))")
"""What may be a code of a problem; only those of the set are codes."""
_WRITTEN_CODE = re.compile(r"(?<![\w-])[B-Z]{4}-[B-Z]{4}(?![\w-])")
"""A code as worksheets and downloads write it."""
_IDS = re.compile(r"^[^_]+(?:_LATE)?_\d+_\d+_")
"""The student and two ids before the file's name, in downloads of Canvas."""
_LETTERS = str.maketrans(
    {"ł": "l", "đ": "d", "ð": "d", "ø": "o", "ı": "i", "þ": "th", "æ": "ae", "œ": "oe"}
)
"""Letters that are no others with an accent, and what people type for them."""
_SECOND_VOWEL = re.compile("(?<=[aou])e|(?<=a)a")
"""The second letter that people type for an umlaut, or å."""
MOST_OF_NAME = 12
"""The most words of a name that may begin it."""
_PIECE = re.compile(r"\d+|[^\W\d_]+")
"""The letters, or the digits, of a word such as problem1."""
UNSAID = -1
"""In place of a problem that a name does not say; the evidence is then what it lacks."""
LEFT_BEHIND = (".aux", ".log", ".out", ".toc", ".fls", ".fdb_latexmk", ".synctex.gz", ".pyc")
"""File endings of programs' auxiliary files."""


class Handed(NamedTuple):
    """A student's version of a problem in the set: its name, its place, and its code."""

    problem: str
    file: Path
    code: str = ""


class ClassSet(NamedTuple):
    """A set: the students of a class, and their problems.

    handed: the problems of each student, in order.
    secret: the secret of the set, in hexadecimal digits; "" if its list has none.
    """

    place: Path
    students: tuple[Student, ...]
    handed: tuple[tuple[Handed, ...], ...]
    secret: str = ""

    @property
    def problems(self) -> tuple[str, ...]:
        """The names of the problems."""
        return tuple(each.problem for each in self.handed[0])


class Paired(NamedTuple):
    """An answer with its student and problem, by their indices in the set, and the evidence.

    unclear: why it is not marked: it is one of several answers of which none is the newest, or
        name and code do not say which problem it answers.
    """

    student: int
    problem: int
    place: Path
    how: str
    unclear: str = ""


class Unpaired(NamedTuple):
    """A file that is not marked, the reason, and what it is in one or two words."""

    place: Path
    why: str
    what: str = "unmatched"


_Found = tuple[Path, tuple[str, ...], str]
"""A file among answers, the names on its path, and why it is not read."""


def is_set(place: str) -> bool:
    """Return whether a folder is a set for a class."""
    return bool(place) and os.path.isfile(os.path.join(place, MANIFEST))  # noqa: PTH113, PTH118


def read_set(place: Path) -> ClassSet:
    """Read the list of a set for a class."""
    source = place / MANIFEST
    refuse_found(source)
    content = read_json_object(source, "the list of a set")
    remember(place, (".json",))
    listed = content.get("students")
    if not isinstance(listed, list) or not listed:
        raise _strange(source)
    students = tuple(_student(each, source) for each in listed)
    handed = tuple(_handed(each, place, source) for each in listed)
    if len({tuple(each.problem for each in row) for row in handed}) != 1 or not handed[0]:
        raise _strange(source)
    folders = [as_key(student.folder) for student in students]
    if len(set(folders)) != len(folders):
        raise _strange(source)
    for each in chain(*handed):
        remember(each.file)
    secret = content.get("secret")
    return ClassSet(place, students, handed, secret if isinstance(secret, str) else "")


def anonymous(given: ClassSet) -> ClassSet:
    """Return a set with a code in place of each name, in the order of the codes' students.

    The code of a student is always the same, and does not follow from their name.
    """
    key = given.secret.encode() or secrets.token_bytes(SHORTEST)
    taken: set[str] = set()
    coded = []
    for student in given.students:
        digits = hmac.digest(key, repr(student.key).encode(), "sha256").hex()
        code = next(
            code for at in range(60) if (code := f"student-{digits[at : at + 4]}") not in taken
        )
        taken.add(code)
        coded.append(Student(code, folder=code))
    return given._replace(students=tuple(coded))


def unnamed(answer: Answer, student: Student, *, hides: bool) -> Answer:
    """Return an answer of which no line with only the student's name or id counts as unread.

    hides: whether its texts show … in place of what names the student.
    """
    said: Callable[[str], str] = student.hidden if hides else str
    return replace(
        answer,
        unread=tuple(
            each._replace(text=said(each.text), why=said(each.why))
            for each in answer.unread
            if each.could_be_matrix or each.text.strip() not in student.names
        ),
        faults=tuple(map(said, answer.faults)),
        remarks=tuple(map(said, answer.remarks)),
    )


def _strange(source: Path) -> InputError:
    return InputError(f"{source}: not the list that attncalc new --class writes with a set")


def _student(given: Any, source: Path) -> Student:
    if not isinstance(given, dict):
        raise _strange(source)
    texts = [given.get(name, "") for name in Student._fields]
    if not all(isinstance(text, str) for text in texts) or texts[3] != path_name(texts[3]):
        raise _strange(source)  # a folder in the list is a name, and cannot leave the set
    return Student(*texts)


def _handed(given: Any, place: Path, source: Path) -> tuple[Handed, ...]:
    listed = given.get("problems")
    if not isinstance(listed, list):
        raise _strange(source)
    found = []
    for each in listed:
        of_it = each if isinstance(each, dict) else {}
        name, file = of_it.get("problem"), of_it.get("file")
        if not isinstance(name, str) or not isinstance(file, str):
            raise _strange(source)
        parts = file.split("/")
        if parts[0] != given["folder"] or not all(
            part in ("problem.json", path_name(part, "")) for part in parts
        ):
            raise _strange(source)
        code = of_it.get("code", "")
        found.append(Handed(name, place.joinpath(*parts), code if isinstance(code, str) else ""))
        refuse_found(found[-1].file)
    return tuple(found)


def pairs(given: ClassSet, answers: Sequence[str]) -> tuple[list[Paired], list[Unpaired]]:
    """Return the students of answers, by the names of files and folders; and unmatched files.

    answers: folders of answers, or single ones.
    """
    names = _Names(given)
    found: dict[tuple[int, int], list[Paired]] = defaultdict(list)
    unpaired: list[Unpaired] = []
    unsaid: list[Paired] = []
    for place, steps, why in _answers(given, answers):
        remember(place)
        whose = why or _whose(given, names, place, steps)
        if isinstance(whose, str):
            unpaired.append(Unpaired(place, whose))
        elif whose.unclear:
            unsaid.append(whose)
        else:
            found[whose.student, whose.problem].append(whose)
    paired: list[Paired] = []
    for each in found.values():
        changed = [one for one in each if not _is_as_handed_out(given, one)]
        read = [one for one in changed if _is_read(one.place)] or changed
        only = (0, "") if read else None
        if latest := newest([one.place for one in read]) if len(read) > 1 else only:
            last, evidence = read[latest[0]], latest[1]
            paired.append(last)
            why = f"replaced by {last.place}, which is newer by {evidence}"
            unpaired += [Unpaired(one.place, why, "replaced") for one in read if one is not last]
            why = f"{last.place} is the answer that is marked"
            unpaired += [Unpaired(one.place, why, "not read") for one in changed if one not in read]
        else:
            why = "as it was handed out: nothing is filled in"
            untouched = [Unpaired(one.place, why, "unchanged") for one in each]
            unclear = [*_of_several(changed)]
            paired += unclear[:1]
            unpaired += [Unpaired(one.place, one.unclear) for one in unclear[1:]] or untouched
    for whose in unsaid:  # it may be the answer to any problem that has none
        might = range(len(given.problems)) if whose.problem == UNSAID else (whose.problem,)
        there = {each[:2] for each in paired}
        lacking = [n for n in might if (whose.student, n) not in there]
        paired += [whose._replace(problem=n) for n in lacking]
        unpaired += [] if lacking else [Unpaired(whose.place, whose.unclear)]
    if not paired and not unpaired:
        holds = "this folder has" if len(answers) == 1 else "these folders have"
        raise InputError(
            f"{of_each(list(answers))}: {holds} no answers, so nothing is marked: "
            f"their names end in {', '.join(ENDINGS)}, and say whose they are"
        )
    return sorted(paired), unpaired


def _by_code(
    codes: Mapping[str, tuple[int, int]], place: Path, text: str | None = None
) -> Paired | None:
    """Return the student and problem of the only code that a file, or its text, contains."""
    is_picture = place.suffix.lower() in PICTURES and is_installed()
    if not codes or is_folder(place) or not (is_picture or _is_read(place)):
        return None
    try:
        if text is None:
            text = codes_in(place) if is_picture else read_bytes(place).decode("utf-8", "ignore")
    except AttncalcError:  # marking it reports the error
        return None
    codes_found = ("-".join(pair) for pair in _CODE.findall(text.upper()))
    found = {code for code in codes_found if code in codes}
    return Paired(*codes[found.pop()], place, "code in the file") if len(found) == 1 else None


def of_another_code(place: str, code: str) -> str:
    """Say that the only code in a file is not that of the problem; "" otherwise."""
    if not code or not os.path.isfile(place) or not _is_read(Path(place)):  # noqa: PTH113
        return ""
    found = set(_WRITTEN_CODE.findall(read_bytes(Path(place)).decode("utf-8", "ignore")))
    if len(found) != 1 or code in found:
        return ""
    return f"it has the code {found.pop()}, but {code} is that of this problem"


def _whose(given: ClassSet, names: "_Names", place: Path, steps: tuple[str, ...]) -> Paired | str:
    """Return whose an answer is: by its name and code, and on a scan also by its first lines."""
    named = names.paired(place, steps)
    whose = _agreed(named, coded := _by_code(names.codes, place), given)
    is_said = not isinstance(named, str) and named.problem != UNSAID
    if coded or is_said or place.suffix.lower() not in PICTURES:
        return whose
    if not is_installed():
        return _but(named, "; pip install 'attncalc[ocr]' adds the recognition of typeset pages")
    try:
        lines = first_page(place)
    except AttncalcError as error:
        return _but(named, f"; {str(error).removeprefix(f'{place}: ')}")
    found = _by_code(names.codes, place, "\n".join(lines)) or names.in_header(
        place, lines[:MOST_HEADER]
    )
    return _agreed(named, found, given) if found else _but(named, ", and none on its first page")


def _but(named: Paired | str, more: str) -> Paired | str:
    """Return what a name says, with more on why it is unclear."""
    if isinstance(named, str):
        return named + more
    return named._replace(unclear=named.unclear + more)


def _agreed(named: Paired | str, coded: Paired | None, given: ClassSet) -> Paired | str:
    """Return what name and code say; the code decides, unless the name is another student's."""
    if isinstance(named, str):
        return coded or named
    if coded is None:
        return named
    if named.student == coded.student:
        return named if named.problem == coded.problem else coded
    name, code = given.students[named.student].name, given.handed[coded.student][coded.problem].code
    why = f"its name is that of {name}, but {code} in it is the code of another student"
    return named._replace(unclear=why)  # its page names no other student


def _is_read(place: Path) -> bool:
    """Return whether the name of a path is that of a readable answer."""
    return is_folder(place) or not place.suffix or place.suffix.lower() in ENDINGS


def _is_as_handed_out(given: ClassSet, one: Paired) -> bool:
    """Return whether a file is unchanged from the set, under any name of the same ending."""
    folder, ending = given.handed[one.student][one.problem].file.parent, one.place.suffix
    try:
        if not one.place.is_file():  # a pipe may block forever
            return False
        content, handed = one.place.read_bytes(), folder.iterdir()
        return any(each.suffix == ending and each.read_bytes() == content for each in handed)
    except OSError:  # reading it reports the error
        return False


def _of_several(each: Sequence[Paired]) -> Iterator[Paired]:
    """Yield answers of which only one could be marked, if the names do not decide."""
    for one in each:
        others = of_each([str(other.place) for other in each if other is not one])
        yield one._replace(unclear=f"one of {len(each)} answers, none of them newer: also {others}")


def _answers(given: ClassSet, answers: Sequence[str]) -> Iterator[_Found]:
    """Yield each answer, and the names that lead to it, from the named folder."""
    for answer in answers:
        path = Path(answer)
        if not path.exists():
            raise InputError(f"{answer}: no such file or folder")
        if is_found(answer, answers) and (why := why_not_read(path)):
            yield path, (path.name,), why
            continue
        if not is_folder(path):
            yield path, (path.name,), ""
            continue
        remember(path, ENDINGS)
        if path.resolve() == given.place.resolve():
            raise InputError(f"{answer}: this is the set itself: name the folder of the answers")
        yield from _within(path, ())


def _within(folder: Path, steps: tuple[str, ...]) -> Iterator[_Found]:
    """Yield every item of a folder, including those that are not answers."""
    for path in list_folder(folder):
        if path.name.startswith(".") or (steps and path.name.lower().endswith(LEFT_BEHIND)):
            continue
        here = (*steps, path.name)
        if why := why_not_read(path):
            yield path, here, why
        elif is_folder(path):
            yield from _of_folder(path, here)
        else:
            yield path, here, ""


def _of_folder(path: Path, here: tuple[str, ...]) -> Iterator[_Found]:
    """Yield a folder that is an answer, with a file for each step, or else its content."""
    try:
        inside = list_folder(path)
    except InputError as error:  # its row reports this, and the others are marked
        yield path, here, str(error)
        return
    if any(each.suffix.lower() in SHEETS and name_of_key(each.stem) for each in inside):
        yield path, here, ""
    elif len(here) < DEEPEST:
        remember(path, ENDINGS)
        yield from _within(path, here)
    elif inside:
        yield path, here, f"not looked into: {DEEPEST} folders deep"


class _Names:
    """The students that a name matches, ignoring case and punctuation."""

    def __init__(self, given: ClassSet) -> None:
        self.given = given
        self.codes = {
            handed.code: (student, problem)
            for student, row in enumerate(given.handed)
            for problem, handed in enumerate(row)
            if handed.code
        }
        self.of_whom: dict[str, set[int]] = defaultdict(set)
        self.called: dict[str, str] = {}
        self.with_word: dict[str, set[int]] = defaultdict(set)
        for place, student in enumerate(given.students):
            for word in _key(student.name).split("-"):
                self.with_word[_plain(word)].add(place)
            self._add(student.folder, place, "folder")
            for what in ("email", "id"):
                self._add(getattr(student, what), place, what)
            for turned in _turned(student.name):
                self._add(" ".join(turned), place, "name")
        named = set(self.of_whom)
        for place, student in enumerate(given.students):  # if no student has this name
            joints = [j.join(turned) for turned in _turned(student.name) for j in ("", " ")]
            joined = [way(name) for name in joints for way in (str, _plain)]
            start = student.email.partition("@")[0]
            for name, what in ((start, "email"), *((each, "name") for each in joined)):
                if _key(name) not in named:
                    self._add(name, place, what)
        self.longest = max(len(name.split("-")) for name in self.of_whom)
        problems = (_key(path_name(name, "problem")) for name in given.problems)
        self.of_problems = {word for name in problems for word in name.split("-")}
        called = (*given.problems, *(student.name for student in given.students))
        self.is_numbered = any(without_number(name) != name for name in called)

    def _add(self, name: str, place: int, what: str) -> None:
        if key := _key(name):
            self.of_whom[key].add(place)
            self.called.setdefault(key, what)

    def paired(self, place: Path, steps: tuple[str, ...]) -> Paired | str:
        """Return the student and problem of an answer; or why it matches none."""
        perhaps: set[int] = set()
        for number, step in enumerate(steps):
            is_last = number == len(steps) - 1
            own_words = self._words(step, is_file=is_last)
            spelled = own_words, tuple(map(_plain, own_words))
            words = max(spelled, key=self._longest_name)
            if not (named := self._named(words)):  # 李小龙1
                words = own_words = tuple(_PIECE.findall("-".join(own_words)))
                named = [each for each in self._named(words) if not words[each[1]].isdigit()]
            whom = {student for student, *_ in named}
            if len(whom) != 1:
                perhaps |= whom or self._perhaps(words)
                continue
            (student,) = whom
            used = {at for _, start, stop in named for at in range(start, stop)}
            rest = tuple(word for at, word in enumerate(own_words) if at not in used)
            _, start, stop = named[0]
            what = self.called["-".join(words[start:stop])]
            how = self._how(place, what, is_last=is_last, whole=not rest)
            own = self._words(_IDS.sub("", step), is_file=is_last) if _IDS.match(step) else ()
            return self._to_problem(place, student, (own, rest), steps[number + 1 :], how)
        if perhaps:
            names = of_each(sorted(self.given.students[each].called for each in perhaps))
            return f"it could be that of {names}"
        return "no name of the class is in its name"

    def in_header(self, place: Path, lines: Sequence[str]) -> Paired | None:
        """Return the student that a first line of a page names; its title names the problem."""
        listed = (self.paired(place, (line, lines[0])) for line in lines)
        found = {each for each in listed if isinstance(each, Paired) and each.problem != UNSAID}
        return found.pop()._replace(how="name on the page") if len(found) == 1 else None

    def _named(self, words: Sequence[str]) -> list[tuple[int, int, int]]:
        """Return the students in a name, each with its position: the longest names."""
        found: list[tuple[int, int, int]] = []
        for start, stop in self._stretches(words):
            if any(start < last and first < stop for _, first, last in found):
                continue
            whom = self.of_whom.get("-".join(words[start:stop]), set())
            if len(whom) == 1:
                (student,) = whom
                found.append((student, start, stop))
        return found

    def _longest_name(self, words: Sequence[str]) -> int:
        """Return how many words the longest name of a student has in a name."""
        return max((stop - start for _, start, stop in self._named(words)), default=0)

    def _perhaps(self, words: Sequence[str]) -> set[int]:
        """Return the students whose names contain a name, or share a word with it."""
        parts = ("-".join(words[start:stop]) for start, stop in self._stretches(words))
        for part in (*parts, *(word for word in words if word.isalpha())):
            if part in self.of_whom:
                return self.of_whom[part]
        long = {word for word in words if word.isalpha() and len(word) >= SHORTEST}
        return set().union(*(self.with_word[_plain(word)] for word in long - self.of_problems))

    def _words(self, step: str, *, is_file: bool) -> tuple[str, ...]:
        stem, ending = os.path.splitext(step)  # noqa: PTH122
        is_ending = is_file and ending.lower() in ENDINGS
        name = stem if is_ending else step
        name = name if self.is_numbered else without_number(name)
        return tuple(map(as_key, words_of(name)))

    def _stretches(self, words: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Yield parts of a name, longest first, then from left to right."""
        for length in range(min(len(words), self.longest), 0, -1):
            for start in range(len(words) - length + 1):
                part = "-".join(words[start : start + length])
                others = {*words[:start], *words[start + length :]}
                if len(part) >= SHORTEST or self._stands_alone(part, others):
                    yield start, start + length

    def _stands_alone(self, part: str, others: set[str]) -> bool:
        """Return whether a short word is the entire name, except for the name of a problem.

        Next to an id, only a word such as problem2 names a problem.
        """
        if part.isdigit():
            others = {"".join(_PIECE.findall(word)[1:]) for word in others}
        return others <= self.of_problems

    def _how(self, place: Path, what: str, *, is_last: bool, whole: bool) -> str:
        where = "file" if is_last and not is_folder(place) else "folder"
        return f"{where} name" if whole and what == "folder" else f"{what} in the {where} name"

    def _to_problem(
        self,
        place: Path,
        student: int,
        words: tuple[tuple[str, ...], tuple[str, ...]],
        below: Sequence[str],
        how: str,
    ) -> Paired:
        """Return the problem that the own words of a file name, or else its other words."""
        problems = self.given.problems
        if len(problems) == 1:
            return Paired(student, 0, place, how)
        own, rest = words
        said = [rest, *(self._words(step, is_file=step == below[-1]) for step in below)]
        apart = [tuple(_PIECE.findall("-".join(words))) for words in said]  # "problem1"
        named = self._problems_in([own]) or self._problems_in(said) or self._problems_in(apart)
        if len(named) > 1 and "".join(own[-1:]).isdigit():  # 1-2: Canvas numbers files of one name
            named = self._problems_in([own[:-1]]) or named
        if len(named) != 1:
            who = self.given.students[student].name
            why = f"that of {who}, but its name does not say to which of {of_each(problems)}"
            return Paired(student, UNSAID, place, how, why)
        return Paired(student, named.pop(), place, how)

    def _problems_in(self, said: Sequence[Sequence[str]]) -> set[int]:
        """Return the problems that any of these words name."""
        return {
            number
            for number, name in enumerate(self.given.problems)
            for words in said
            if has_run(words, tuple(_key(path_name(name, "problem")).split("-")))
        }


def _turned(name: str) -> list[list[str]]:
    """Return the words of a name from each of them on: any of them may begin the last name."""
    words = words_of(name)
    return [[*words[at:], *words[:at]] for at in range(max(1, min(len(words), MOST_OF_NAME)))]


def _plain(name: str) -> str:
    """Return a name as people type it without its own letters: mueller and muller are one.

    >>> _plain("Jörg Müller") == _plain("joerg muller"), _plain("Żółć"), _plain("Ørsted")
    (True, 'zolc', 'orsted')
    """
    return _SECOND_VOWEL.sub("", plain_word(name).translate(_LETTERS))


def _key(name: str) -> str:
    """Return the form of a name that is compared: its words, in one case."""
    return "-".join(map(as_key, words_of(name)))
