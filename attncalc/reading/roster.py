"""A class list: the students who get a problem. Names are data, and folder names are safe."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, count
from pathlib import Path
from typing import NamedTuple

from attncalc.base.errors import InputError
from attncalc.base.text import KEPT_FOR_DEVICES, as_key, harmless, of_each, without_quote
from attncalc.base.typed import quoted
from attncalc.reading.cells import Faults
from attncalc.reading.csv_text import Row, rows_of
from attncalc.reading.files import decode, read_bytes

HEADINGS: Mapping[str, str] = {
    "name": "name, student, student name, full name, vollständiger name, nom, nom complet, nombre, "
    "nombre completo, nome, nome completo, 氏名, 名前, フルネーム, 姓名, 全名, 学生",
    "first": "first name, given name, forename, vorname, prénom, nombre(s), nome próprio, 名, 名字",
    "last": "last name, surname, family name, nachname, familienname, nom de famille, apellido(s), "
    "sobrenome, apelido, 姓, 姓氏",
    "sis": "sis user id",
    "id": "id, student id, id number, sid, number, student number, matriculation, username, login, "
    "matriculation number, matrikelnummer, matrikel-nr, id-nummer, nummer, anmeldename, "
    "benutzername, numéro, numéro d'étudiant, numéro étudiant, numéro d'identification, "
    "nom d'utilisateur, número, número de id, número de identificación, nombre de usuario, "
    "matrícula, número de identificação, número de estudante, número de aluno, "
    "nome de usuário, nome de utilizador, 番号, "
    "id番号, idナンバー, 学籍番号, 学生番号, ユーザ名, ユーザー名, 学号, 编号, id号, id号码, "
    "用户名",
    "email": "email, mail, email address, e-mail-adresse, adresse de courriel, courriel, "
    "adresse e-mail, dirección de correo, dirección de email, correo electrónico, "
    "dirección de correo electrónico, endereço de email, endereço de correio eletrónico, "
    "correio eletrónico, メールアドレス, メール, 邮箱, 电子邮件, 电子邮件地址, email地址, 电子邮箱",
}
"""The content of columns, by their possible headings in several languages, as Moodle has them."""
_POINTS, _TEST_STUDENT = "Points Possible", "Student, Test"
"""Rows of exports of Canvas: the last one above its students, and one below them."""
_FAMILY_FIRST = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Scripts in which the family name is first."""
MOST_BYTES_OF_NAME = 80
"""The largest number of bytes of a folder name: systems allow 255, including endings."""
OF_THE_SET = ("keys", "manifest", "worksheets", "attncalc")
"""Names that a set uses for other content than the folder of a student."""
_KEPT = ("L", "M", "N")
"""Categories of characters in folder names: letters, marks on them, numbers."""


class Student(NamedTuple):
    """A student on the list.

    name: the name as written.
    id, email: distinguish students of the same name; "" if the list has none.
    folder: the name of their folder: letters and numbers, unique.
    first, last: their names as the list parts them; "" if it does not.
    """

    name: str
    id: str = ""
    email: str = ""
    folder: str = ""
    first: str = ""
    last: str = ""

    @property
    def called(self) -> str:
        """Their name, with their id."""
        return f"{self.name} ({self.id})" if self.id else self.name

    @property
    def parts(self) -> tuple[str, str]:
        """Their first and their last name; where the list does not part them, by common forms.

        >>> Student("Lovelace, Ada").parts, Student("Ana Silva Santos").parts
        (('Ada', 'Lovelace'), ('Ana Silva', 'Santos'))
        """
        if self.first or self.last:
            return self.first, self.last
        last, comma, first = self.name.partition(", ")
        if not comma and _FAMILY_FIRST.match(self.name):
            last, _, first = self.name.partition(" ")
        elif not comma:
            first, _, last = self.name.rpartition(" ")
        return first, last

    @property
    def names(self) -> list[str]:
        """What names them in a text, the longest first; not single Latin letters."""
        whole = (self.name, self.id, self.email, self.email.partition("@")[0], self.folder)
        found = {*whole, *self.name.replace("-", " ").split()}
        return sorted(
            (each for each in found if each[1:] or each > "\u2e7f"), key=len, reverse=True
        )

    def hidden(self, text: str) -> str:
        """Return a text with … in place of their names.

        >>> Student("Ada Lovelace", "1017").hidden("Lovelace, Ada (1017): 10172 adapters")
        '…, … (…): 10172 adapters'
        """
        for name in self.names:
            text = _without(text, name)
        return text

    @property
    def key(self) -> tuple[str, str]:
        """A key that identifies them, independent of their position on the list."""
        if self.id:
            return "id", self.id
        return ("email", self.email.lower()) if self.email else ("name", self.name)


class Roster(NamedTuple):
    """A class list, and remarks about it."""

    students: tuple[Student, ...]
    notes: tuple[str, ...] = ()


def _without(text: str, name: str) -> str:
    """Return a text with … for a name, in letters of any case, where it is a whole word."""
    small, wanted = (
        "".join(c.lower() if len(c.lower()) == 1 else c for c in each) for each in (text, name)
    )
    pieces, start, at = [], 0, small.find(wanted)
    while at >= 0:
        end = at + len(name)
        if not (text[max(0, at - 1) : at].isalnum() or text[end : end + 1].isalnum()):
            pieces += [text[start:at], "…"]
            start = end
        at = small.find(wanted, end)
    return "".join([*pieces, text[start:]])


def read_roster(source: str | Path) -> Roster:
    """Read a class list: CSV with a name in each row, or name, id and email under headings."""
    place, (rows, _) = str(source), rows_in_file(source)
    if not rows:
        raise InputError(f"{place}: this list is empty")
    columns = _columns(rows[0])
    below: Sequence[Row] = rows[1:] if columns else rows
    if not columns and any(len(row.filled) > 1 for row in rows):
        raise InputError(
            f"{place}: head its columns with what they hold, in a first row: name, id, email"
        )
    _refuse_more_cells(below, rows[0], place)
    below, notes = _students_in(below, place)
    columns = _with_names(_with_ids(columns, below), below) if columns else {"name": 0}
    students = [_student(row, columns, place) for row in below]
    if not students:
        raise InputError(f"{place}: this list is empty")
    _refuse_twins(below, students, place)
    passed = [
        harmless(cell) or f"column {number + 1}, without a heading"
        for number, cell in enumerate(rows[0].cells)
        if number not in columns.values() and any(_cell(row, number) for row in rows)
    ]
    notes += [f"{place}: not read: {of_each(passed)}"] if passed else []
    return Roster(_with_folders(_numbered(students)), tuple(notes))


def rows_in_file(source: str | Path, *, stripped: bool = True) -> tuple[list[Row], str]:
    """Return the rows of a CSV file, and what separates cells in its first line."""
    text = decode(read_bytes(Path(source)), str(source))
    delimiter = max("\t;,", key=text.partition("\n")[0].count)
    return list(rows_of(text, delimiter, Faults(str(source)), stripped=stripped)), delimiter


def _columns(row: Row) -> dict[str, int]:
    """Return the column of each content; {} if the first row is not a heading."""
    found: dict[str, int] = {}
    for place, cell in enumerate(row.cells):
        for what, headings in HEADINGS.items():
            if _letters(cell) in map(_letters, headings.split(",")):
                found.setdefault(what, place)
    return found if found.keys() & {"name", "first", "last"} else {}


def _letters(heading: str) -> str:
    """Return the letters and digits of a heading, without accents.

    >>> _letters("E-Mail address:"), _letters("Apellido(s)"), _letters("Prénom")
    ('emailaddress', 'apellidos', 'prenom')
    """
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKD", heading))).lower()


def _students_in(rows: Sequence[Row], place: str) -> tuple[Sequence[Row], list[str]]:
    """Return the rows of students, and a note on others, which exports of Canvas have."""
    start = next((n for n, row in enumerate(rows, 1) if _cell(row, 0) == _POINTS), 0)
    if not start:
        return rows, []
    found = [row for row in rows[start:] if _cell(row, 0) != _TEST_STUDENT]
    left = of_each([f"line {row.line}" for row in rows if row not in found])
    return found, [f"{place}: not read: {left}, which are no students in an export of Canvas"]


def _with_ids(columns: Mapping[str, int], rows: Sequence[Row]) -> dict[str, int]:
    """Return the columns with that of the ids: those of the institution, where Canvas has them."""
    found, of_institution = dict(columns), columns.get("sis")
    found.pop("sis", None)
    if any(_cell(row, of_institution) for row in rows):
        found["id"] = columns["sis"]
    return found


def _with_names(columns: Mapping[str, int], rows: Sequence[Row]) -> dict[str, int]:
    """Return the columns that are read: of the full name, or of both names.

    In many languages "name" is one of both names if the other has its own column (Nom, Prénom), and
    otherwise the full name. It is also the full name if it contains the other.
    """
    names, parts = columns.get("name"), columns.keys() & {"first", "last"}
    if names is None or not parts:
        return dict(columns)
    full, *others = (
        [set(_cell(row, columns[what]).split()) for row in rows] for what in ("name", *parts)
    )
    if len(parts) == 1 and not all(map(set.issubset, *others, full)):
        (other,) = {"first", "last"} - parts
        return {other if what == "name" else what: at for what, at in columns.items()}
    unread = parts if all(full) else set()
    return {what: at for what, at in columns.items() if what not in unread}


def _cell(row: Row, at: int | None) -> str:
    text = row.cells[at] if at is not None and at < len(row.cells) else ""
    return unicodedata.normalize("NFC", without_quote(text).strip())


def _student(row: Row, columns: Mapping[str, int], place: str) -> Student:
    name, first, last, code, email = (
        _cell(row, columns.get(what)) for what in ("name", "first", "last", "id", "email")
    )
    parts = (last, first) if _FAMILY_FIRST.match(last) else (first, last)
    name = name or " ".join(filter(None, parts))
    if not name:
        raise InputError(f"{place}: line {row.line}: it has no name")
    return Student(name, code, email, first=first, last=last)


def _refuse_more_cells(rows: Sequence[Row], first: Row, place: str) -> None:
    """Refuse a row with a cell outside the columns: a comma in a name would move the others."""
    for row in rows:
        if any(row.cells[len(first.cells) :]):
            raise InputError(
                f"{place}: line {row.line}: {len(row.cells)} cells, where the first row has "
                f"{len(first.cells)}: put a name with a comma between quotation marks, as in "
                '"Smith, John"'
            )


def _refuse_twins(rows: Sequence[Row], students: Sequence[Student], place: str) -> None:
    """Refuse two rows with one id or email: their answers could not be distinguished."""
    for what in ("id", "email"):
        seen: dict[str, int] = {}
        for row, student in zip(rows, students, strict=True):
            value = getattr(student, what).lower()
            if value and value in seen:
                shown = quoted(harmless(getattr(student, what)))
                raise InputError(
                    f"{place}: line {row.line}: the {what} {shown} is that of "
                    f"line {seen[value]} too: leave one of them out"
                )
            seen.setdefault(value, row.line)


def _numbered(students: Iterable[Student]) -> list[Student]:
    """Return the students, with numbers after names that are not unique."""
    taken: set[tuple[str, str]] = set()
    found = []
    for student in students:
        numbered = (student._replace(name=f"{student.name} ({again})") for again in count(2))
        one = next(each for each in chain([student], numbered) if each.key not in taken)
        taken.add(one.key)
        found.append(one)
    return found


def _with_folders(students: Sequence[Student]) -> tuple[Student, ...]:
    """Return the students with a folder each, unique in any case."""
    names = Counter(as_key(path_name(student.name)) for student in students)
    taken = {as_key(name) for name in OF_THE_SET}
    seen: Counter[str] = Counter()
    found: list[Student] = []
    for student in students:
        stem = path_name(student.name)
        seen[as_key(stem)] += 1
        more = path_name(student.id or student.email.partition("@")[0], "")
        if more and (names[as_key(stem)] > 1 or as_key(stem) in taken):
            stem = path_name(f"{stem[: MOST_BYTES_OF_NAME // 4]}-{more}")
        elif names[as_key(stem)] > 1:  # each has a number, since the name is not unique
            stem = f"{stem}-{seen[as_key(stem)]}"
        numbered = (stem if number == 1 else f"{stem}-{number}" for number in count(1))
        folder = next(each for each in numbered if as_key(each) not in taken)
        taken.add(as_key(folder))
        found.append(student._replace(folder=folder))
    return tuple(found)


def words_of(text: str) -> list[str]:
    """Return the words of a text: its letters and numbers.

    >>> words_of("Shaughnessy O'Neill_2 (1).md")
    ['Shaughnessy', 'ONeill', '2', '1', 'md']
    """
    plain = re.sub("['’ʼ`]", "", unicodedata.normalize("NFC", text))  # O'Neill is one word
    return "".join(c if unicodedata.category(c)[0] in _KEPT else " " for c in plain).split()


def path_name(text: str, otherwise: str = "student") -> str:
    """Return a folder name for any text that every system accepts.

    >>> path_name("Ada Lovelace"), path_name("../../etc/passwd"), path_name("CON")
    ('Ada-Lovelace', 'etc-passwd', 'CON-')
    """
    name = "-".join(words_of(text))
    while len(name.encode()) > MOST_BYTES_OF_NAME:
        name = name[:-1]
    name = name.strip("-") or otherwise
    return f"{name}-" if KEPT_FOR_DEVICES.fullmatch(name.lower()) else name
