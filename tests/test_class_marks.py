"""Marks of a class as teachers keep them: newest and late answers, gradebooks, an overview."""

import csv
import json
import os
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from conftest import Command
from test_classes import NAMES, ROSTER, SPEC, hand_in, made, marks, right_answer, table

from attncalc import Problem, check
from attncalc.languages.catalogue import LANGUAGES, catalogue
from attncalc.reading.attempts import newest
from attncalc.reading.gradebook import read_gradebook
from attncalc.reading.roster import Student, read_roster
from attncalc.writing.reports.gradebook import Totals, Who, column_of, filled, gradebook
from attncalc.writing.reports.many import fact

HOUR = 3600


def wrong_scale(folder: Path, student: dict[str, object]) -> dict[str, object]:
    """Return the steps of an answer without the division by √d_k."""
    file = student["problems"][0]["file"]  # type: ignore[index]
    problem = json.loads((folder / "set" / file).read_bytes())
    solved = right_answer(problem | {"scale": "none"})
    return {"S_scaled": None, "A": solved["A"], "O": solved["O"]}


def aged(place: Path, hours: float) -> Path:
    when = place.stat().st_mtime - hours * HOUR
    os.utime(place, (when, when))
    return place


@pytest.mark.slow
@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Ada Lovelace 2026-01-02.json", "Ada Lovelace 2026-01-10.json"),
        ("Ada Lovelace.json", "Ada Lovelace v2.json"),
        ("Ada Lovelace attempt 9.json", "Ada Lovelace attempt 10.json"),
        ("Ada Lovelace.json", "Ada Lovelace (1).json"),
        ("lovelaceada_70_4711_answer.json", "lovelaceada_70_4711_answer-1.json"),
        ("submission_41/ada-lovelace.json", "submission_102/ada-lovelace.json"),
        ("Ada Lovelace_1_2026-01-10_09-30.json", "Ada Lovelace_1_2026-01-10_11-00.json"),
    ],
)
def test_the_newest_by_its_name_counts_and_the_others_are_listed(
    older: str, newer: str, attncalc: Command, tmp_path: Path
) -> None:
    (student, *_) = made(attncalc, tmp_path)
    hand_in(tmp_path, student, newer)
    hand_in(tmp_path, student, older, Q=None)
    aged(tmp_path / "answers" / newer, 5)  # a name counts more than the time of a file
    rows = marks(attncalc, tmp_path)
    assert rows[0]["answer"] == f"answers/{newer}"
    (other,) = [row for row in rows if not row["student"]]
    assert other["answer"] == f"answers/{older}"
    assert other["paired by"] == "replaced"
    assert other["note"].startswith(f"replaced by answers/{newer}, which is newer by ")


@pytest.mark.slow
def test_numbers_that_canvas_adds_to_files_are_not_those_of_problems(
    attncalc: Command, tmp_path: Path
) -> None:
    """1-2.json is a later file of 1.json, and not problems 1 and 2."""
    spec = {"problems": [{"name": "1"}, {"name": "2"}], "seed": 7}
    ada, *_ = made(attncalc, tmp_path, "name,id\nAda Lovelace,70\n", spec)
    for number, name in enumerate(("1", "2", "1-2")):
        hand_in(tmp_path, ada, f"lovelaceada_70_471{number}_{name}.json")
    rows = marks(attncalc, tmp_path)
    assert [(row["problem"], row["answer"]) for row in rows if row["student"]] == [
        ("1", "answers/lovelaceada_70_4712_1-2.json"),
        ("2", "answers/lovelaceada_70_4711_2.json"),
    ]


def test_file_times_decide_if_names_do_not(tmp_path: Path) -> None:
    places = [tmp_path / name for name in ("a.json", "b.json", "c.json")]
    for place in places:
        place.write_text("{}")
    assert newest(places) is None  # of one copy
    aged(places[0], 2)
    assert newest(places) is None  # two are as new
    aged(places[2], 1)
    assert newest(places) == (1, "its file time")


@pytest.mark.slow
def test_an_answer_to_the_problem_of_another_is_to_review(
    attncalc: Command, tmp_path: Path
) -> None:
    students = made(attncalc, tmp_path)
    hand_in(tmp_path, students[0])
    own = tmp_path / "answers" / "blaise-pascal.json"
    own.write_text(next((tmp_path / "answers").iterdir()).read_text())
    run = attncalc("check", "set", "answers")
    said = "to review: answers/blaise-pascal.json: its numbers are those of the problem of Ada"
    assert run.out.count("to review") == 1
    assert said in run.out


def test_late_answers_are_listed(attncalc: Command, tmp_path: Path) -> None:
    students = made(attncalc, tmp_path)
    hand_in(tmp_path, students[0], "lovelaceada_LATE_70_4711_answer.json")
    hand_in(tmp_path, students[1], "Blaise Pascal 2026-01-09.json")
    hand_in(tmp_path, students[2], "carl gauss 2026-01-10 17-00.json")
    hand_in(tmp_path, students[4])
    os.utime(tmp_path / "answers" / "Emmy-Noether.json", (0, 0))  # of 1970
    late = ["late", "", "late", "", "", ""]
    assert [row["late"] for row in marks(attncalc, tmp_path, "--due", "2026-01-10T16:30")] == late
    assert [row["late"] for row in marks(attncalc, tmp_path)] == ["late", *[""] * 5]
    run = attncalc("check", "set", "answers", "--due", "tomorrow")
    assert run.code == 2
    assert "--due takes a date" in run.err


@pytest.mark.slow
def test_gradebooks_have_the_columns_of_their_system(attncalc: Command, tmp_path: Path) -> None:
    students = made(attncalc, tmp_path)
    hand_in(tmp_path, students[0])
    hand_in(tmp_path, students[1], **wrong_scale(tmp_path, students[1]))
    (tmp_path / "answers" / "carl gauss.pdf").write_bytes(b"%PDF-1.4 scan")
    rows = marks(attncalc, tmp_path, "--points", "10", "--require", "S_scaled")
    earned = [row["earned"] for row in rows]
    heads = {
        "moodle": ["Full name", "ID number", "Email address", "set (Real)"],
        "canvas": ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "set"],
        "gradescope": ["First Name", "Last Name", "SID", "Email", "Sections", "Total Score"],
    }
    flags = ("--points", "10", "--require", "S_scaled")
    for system, head in heads.items():
        run = attncalc("check", "set", "answers", "--gradebook", system, *flags)
        assert "no total, because an answer was not marked: Carl Gauß" in run.err
        found = table(run.out)
        assert list(found[0])[: len(head)] == head
        if system == "canvas":
            points = found.pop(0)
            assert points["Student"].strip() == "Points Possible"
            assert points["set"] == "10"
        total = head[-1]
        assert [row[total] for row in found] == earned == ["10", found[1][total], *[""] * 4]
        ids = [
            row[next(n for n in ("ID number", "SIS User ID", "SID") if n in row)] for row in found
        ]
        assert ids == [str(70 + n) for n in range(len(NAMES))]


@pytest.mark.slow
def test_an_exported_gradebook_is_filled_and_otherwise_unchanged(
    attncalc: Command, tmp_path: Path
) -> None:
    students = made(attncalc, tmp_path)
    hand_in(tmp_path, students[0])
    hand_in(tmp_path, students[4])
    exports = {  # as the systems write them: by id, by login, by name alone
        "canvas.csv": "Student,ID,SIS User ID,SIS Login ID,Section,set (99)\n"
        '    Points Possible,,,,,\n"Lovelace, Ada",5,70,x,A,\n"Noether, Emmy",6,,s4@x.org,A,\n',
        "moodle.csv": "Identifier,Full name,Email address,Grade,Maximum Grade\n"
        "Participant 9,Emmy Noether,other@x.org,,10\nParticipant 3,Someone Else,e@x.org,2,10\n",
    }
    for name, text in exports.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    flags = ("--points", "10", "--gradebook")
    run = attncalc("check", "set", "answers", *flags, "canvas.csv")
    assert run.out == (
        "Student,ID,SIS User ID,SIS Login ID,Section,set (99)\n"
        '    Points Possible,,,,,10\n"Lovelace, Ada",5,70,x,A,10\n'
        '"Noether, Emmy",6,,s4@x.org,A,10\n'
    )
    assert "not in the gradebook: Blaise Pascal" in run.err
    run = attncalc("check", "set", "answers", *flags, "moodle.csv")
    assert run.out.splitlines()[1:] == [
        "Participant 9,Emmy Noether,other@x.org,10,10",
        "Participant 3,Someone Else,e@x.org,2,10",
    ]
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    run = attncalc("check", "set", "answers", *flags, "other.csv")
    assert run.code == 2
    assert "no column has the ids, emails or names of this class" in run.err


CLASS = [
    Student("Ada Lovelace", "7", "ada@x.org"),
    Student("李 善蘭", "8", "li@x.org"),
    Student("Emmy Noether", "10", "emmy@x.org"),
]


@pytest.mark.parametrize(
    "headings",
    [
        "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed",
        "ID,Vollständiger Name,E-Mail-Adresse,Status,Bewertung,Bestwertung,änderbar",
        "Identifiant,Nom complet,Adresse de courriel,Statut,Note,Note maximale,modifiable",
        "識別子,フルネーム,メールアドレス,ステータス,評点,最大評点,変更可能",
        "?,?,?,?,?,?,?",
    ],
)
def test_a_grading_worksheet_is_filled_in_any_language(headings: str, tmp_path: Path) -> None:
    """Its columns are found by their cells; a grade that looks like an id is none."""
    rows = [
        "1,Noether Emmy,emmy@x.org,x,,X,no",
        "2,善蘭 李,li@x.org,x,{0},X,no",
        '3,"Lovelace, Ada",ada@x.org,x,{0},X,no',
        "4,Someone Else,e@x.org,x,-,X,no",
    ]
    for most, sign in (("100.00", "."), ('"100,00"', ",")):
        text = "\n".join([headings, *rows]).replace("X", most).format("7")
        (tmp_path / "export.csv").write_text(text, encoding="utf-8")
        book = read_gradebook(str(tmp_path / "export.csv"), CLASS)
        assert book.students == (None, 2, 1, 0, None)
        whose = [None if n is None else _total(Fraction(n, 8)) for n in book.students]
        lines = list(filled(book.rows, whose, "set", lambda x, least=0: str(float(x))))
        shown = [row[4] for row in csv.reader(lines)]
        grades = [each.replace(".", sign) for each in ("0.5", "0.25", "0.0")]
        assert shown == [headings.split(",")[4], *grades, "-"]


def test_first_and_last_names_identify_and_contradicting_rows_are_not_filled(
    tmp_path: Path,
) -> None:
    text = "Nachname,Vorname,Matrikel,E-Mail\nNoether,Emmy,10,\nLovelace,Ada,8,ada@x.org\n"
    (tmp_path / "export.csv").write_text(text, encoding="utf-8")
    book = read_gradebook(str(tmp_path / "export.csv"), CLASS)
    assert book.students == (None, 2, None)
    assert book.notes[0].endswith('found by "Matrikel", "E-Mail" and "Vorname Nachname"')
    assert book.notes[1].endswith("row 3 is not filled: its cells are those of different students")


def test_a_total_is_in_a_new_column_if_its_own_is_unsure(tmp_path: Path) -> None:
    rows = [("Nom", "Note", "Max", "Note", "Max"), ("Ada", "", "9.00", "", "5.00")]
    assert column_of(rows, "set") == 5
    assert column_of([row[:3] for row in rows], "set") == 1
    assert column_of([("Nom", "Note", "Max"), ("Ada", "12", "9.00")], "set") == 3
    assert column_of([("Nom", "Note", "Max"), ("Ada", "x", "9.00")], "set") == 3


def _total(earned: Fraction) -> Totals:
    return Totals(("", "", "", ""), ("1",), (earned,), (Fraction(50),), (True,), False)


@pytest.mark.slow
def test_the_table_is_printed_also_if_files_are_written(attncalc: Command, tmp_path: Path) -> None:
    hand_in(tmp_path, made(attncalc, tmp_path)[0])
    table_ = attncalc("check", "set", "answers").out
    assert "Ada Lovelace" in table_
    assert attncalc("check", "set", "answers", "--csv", "m.csv").out == table_
    assert attncalc("check", "set", "answers", "--csv", "g.csv", "--gradebook", "moodle").out == (
        table_
    )
    rows = attncalc("check", "set", "answers", "--csv", "-").out
    assert rows == (tmp_path / "m.csv").read_text("utf-8")


@pytest.mark.slow
def test_the_overview_counts_what_the_table_lists(attncalc: Command, tmp_path: Path) -> None:
    students = made(attncalc, tmp_path)
    hand_in(tmp_path, students[0])
    for student in students[1:4]:
        hand_in(tmp_path, student, **wrong_scale(tmp_path, student))
    rows = marks(attncalc, tmp_path, "--overview", "class.md")
    text = (tmp_path / "class.md").read_text(encoding="utf-8")
    lost = sum(float(row["A"]) < 1 for row in rows if row["A"])
    assert f"| A | {lost} | 4 | {lost} |" in text
    assert lost == 3
    assert re.search(r"\| 3 \| A \| the scores are not scaled \| A.* = .*, not .* \| Blaise", text)
    assert "- Not handed in: 2 of 6." in text
    assert (
        sum(int(n) for n in re.findall(r"^\| (?:\d+–\d+ %|no total) \| (\d+) \|", text, re.M)) == 6
    )
    run = attncalc("check", "set", "answers", "--overview", "class.txt")
    assert run.code == 2
    assert "end the name in .html or .md" in run.err


@pytest.mark.slow
def test_anonymous_results_name_no_student(attncalc: Command, tmp_path: Path) -> None:
    students = made(attncalc, tmp_path, ROSTER)
    hand_in(tmp_path, students[0])
    hand_in(tmp_path, students[1], **wrong_scale(tmp_path, students[1]))
    (tmp_path / "answers" / "carl gauss.pdf").write_bytes(b"%PDF-1.4 scan")
    who = students[3]
    handed = tmp_path / "answers" / f"{who['id']}.txt"
    handed.write_text(f"{who['id']}\n\nQ = [1 2; 3 4; 5 6]\n\nby {who['name']} 3 4 5 6\n")
    (tmp_path / "answers" / "ada byron and emmy noether.json").write_text("{}")
    flags = ("--anonymous", "-o", "marked/", "--overview", "class.html")
    run = attncalc("check", "set", "answers", "--csv", "marks.csv", *flags)
    texts = [run.out, run.err, (tmp_path / "marks.csv").read_text(encoding="utf-8")]
    files = [place for place in (tmp_path / "marked").rglob("*") if place.is_file()]
    texts += [place.read_text(encoding="utf-8") for place in (*files, tmp_path / "class.html")]
    texts += [place.name for place in files]
    words = {word.lower() for name in NAMES for word in name.split()}
    found = {word for text in texts for word in words if re.search(rf"\b{word}\b", text.lower())}
    assert not found
    assert "x.org" not in "".join(texts)
    assert "by … 3 4 5 6" in texts[2]
    assert f"line 1: {who['id']}" not in "".join(texts)
    handed.write_text(f"{who['id']}\n\nQ = [1 2; 3 4; 5 6]\n")
    assert not any(row["not read"] for row in marks(attncalc, tmp_path) if row["id"] == who["id"])
    codes = [row["student"] for row in table(texts[2]) if row["student"]]
    assert codes == sorted(codes)
    assert len(set(codes)) == len(NAMES)
    again = marks(attncalc, tmp_path, "--anonymous")
    assert [row["student"] for row in again if row["student"]] == codes
    run = attncalc("check", "set", "answers", "--anonymous", "--gradebook", "moodle")
    assert run.code == 2
    assert "names the students" in run.err


@pytest.mark.slow
def test_worksheets_keys_and_problems_say_whose_they_are(attncalc: Command, tmp_path: Path) -> None:
    spec = SPEC | {"formats": ["markdown", "latex", "html"]}
    students = made(attncalc, tmp_path, ROSTER, spec)
    codes = [student["problems"][0]["code"] for student in students]
    assert len(set(codes)) == len(codes)
    for student, code in zip(students, codes, strict=True):
        assert re.fullmatch("[B-Z]{4}-[B-Z]{4}", code)
        line = f"{student['name']} ({student['id']}) · code {code}"
        folder = student["folder"]
        for name in ("worksheet.md", "worksheet.html"):
            assert line in (tmp_path / "set" / folder / name).read_text("utf-8")
        assert code in (tmp_path / "set" / folder / "worksheet.tex").read_text("utf-8")
        key = (tmp_path / "set" / "keys" / folder / "key.md").read_text("utf-8")
        assert f"Key for: {line}" in key
        own = (tmp_path / "set" / folder).iterdir()
        texts = "".join(each.read_text("utf-8") for each in own)
        assert not [other for other in codes if other != code and other in texts]


@pytest.mark.slow
@pytest.mark.parametrize("written", ["{}", "code {}", "Code: {}!"])
def test_an_answer_is_paired_by_the_code_in_it(
    written: str, attncalc: Command, tmp_path: Path
) -> None:
    spec = SPEC | {"problems": [{"name": "1", "tokens": 2}, {"name": "2", "tokens": 2}]}
    students = made(attncalc, tmp_path, ROSTER, spec)
    code = students[1]["problems"][1]["code"]
    key = tmp_path / "set" / "keys" / students[1]["folder"] / "2" / "key.md"
    text = key.read_text("utf-8").replace(f"code {code}", "")
    (tmp_path / "answers").mkdir()
    typed = written.format(code.lower().replace("-", " "))  # as people copy it
    (tmp_path / "answers" / "homework.md").write_text(f"{typed}\n\n{text}", "utf-8")
    (tmp_path / "answers" / "ada byron.md").write_text(f"{code}\n\n{text}", "utf-8")
    rows = marks(attncalc, tmp_path)
    (row,) = [row for row in rows if row["answer"] == "answers/homework.md"]
    assert (row["student"], row["problem"], row["percent"]) == (NAMES[1], "2", "100 %")
    assert row["paired by"] == "code in the file"
    of_ada = [row for row in rows if row["answer"] == "answers/ada byron.md"]
    why = f"answers/ada byron.md: its name is that of Ada Byron, but {code} in it is the code of"
    assert [row["problem"] for row in of_ada] == ["1", "2"]  # it may be for either
    assert {row["note"] for row in of_ada} == {f"{why} another student"}


def test_a_student_with_an_answer_to_no_clear_problem_has_no_total(
    attncalc: Command, tmp_path: Path
) -> None:
    spec = SPEC | {"problems": [{"name": "1", "tokens": 2}, {"name": "2", "tokens": 2}]}
    (ada,) = [x for x in made(attncalc, tmp_path, ROSTER, spec) if x["name"] == "Ada Byron"]
    (tmp_path / "answers").mkdir()
    for each, to in zip(ada["problems"], ("ada-byron-1.md", "ada-byron-homework.md"), strict=True):
        key = tmp_path / "set" / "keys" / ada["folder"] / each["problem"] / "key.md"
        text = key.read_text("utf-8").replace(each["code"], "")
        (tmp_path / "answers" / to).write_text(text, "utf-8")
    (tmp_path / "answers" / "stranger.md").write_text("Q = [1]")
    run = attncalc("check", "set", "answers", "--gradebook", "moodle", "-o", "marked")
    assert "unmatched: answers/stranger.md: no name of the class is in its name" in run.err
    (row,) = [line for line in run.out.splitlines() if line.startswith("Ada Byron")]
    assert row.endswith(",8,,")  # and not 8 of 16 without a word
    assert "no total, because an answer was not marked: Ada Byron" in run.err
    page = (tmp_path / "marked" / f"{ada['folder']}.md").read_text("utf-8")
    assert "its name does not say to which of 1 and 2" in page


def test_each_problem_of_a_page_is_in_its_language(attncalc: Command, tmp_path: Path) -> None:
    problems = [{"name": "1", "tokens": 2}, {"name": "2", "tokens": 2, "language": "de"}]
    students = made(attncalc, tmp_path, ROSTER, SPEC | {"problems": problems})
    folder = students[0]["folder"]
    (tmp_path / "answers").mkdir()
    for name in "12":
        key = (tmp_path / "set" / "keys" / folder / name / "key.md").read_text("utf-8")
        (tmp_path / "answers" / f"{folder}-{name}.md").write_text(key, "utf-8")
    attncalc("check", "set", "answers", "-o", "marked")
    page = (tmp_path / "marked" / f"{folder}.md").read_text("utf-8")
    first, second = page.split("# Self-Attention")
    assert "On the map, every line is right." in first
    assert "Auf der Karte sind alle Linien richtig." in second


@pytest.mark.slow
def test_a_practice_page_names_its_download_after_the_student(
    attncalc: Command, tmp_path: Path
) -> None:
    (student, *_) = made(attncalc, tmp_path)
    file = f"set/{student['problems'][0]['file']}"
    assert attncalc("self", file, "--practice", "-o", "practice.html").code == 0
    page = (tmp_path / "practice.html").read_text("utf-8")
    assert '"file":"ada-lovelace-problem-1.json"' in page
    answer = {"problem": {"code": student["problems"][0]["code"]}}
    answer |= right_answer(json.loads((tmp_path / file).read_bytes()))
    (tmp_path / "answers").mkdir()
    (tmp_path / "answers" / "download (3).json").write_text(json.dumps(answer))
    (row, *_) = marks(attncalc, tmp_path)
    assert (row["answer"], row["percent"]) == ("answers/download (3).json", "100 %")


@pytest.mark.parametrize(
    ("row", "first", "last"),
    [("Ada Lovelace,,", "Ada", "Lovelace"), ('"Lovelace, Ada",,', "Ada", "Lovelace"),
     ('"O\'Brien, Séan",,', "Séan", "O'Brien"), ("Plato,,", "", "Plato"),
     (",Jan,de Vries", "Jan", "de Vries"), (',Bob,"Smith, Jr."', "Bob", "Smith, Jr."),
     (",明,李", "明", "李"), ("李 明,,", "明", "李")],
)  # fmt: skip
def test_gradescope_has_first_and_last_names(
    row: str, first: str, last: str, tmp_path: Path
) -> None:
    (tmp_path / "class.csv").write_text(f"name,first name,last name\n{row}\n", encoding="utf-8")
    (student,) = read_roster(tmp_path / "class.csv").students
    one = Totals(
        Who(*student[:4], *student.parts), ("1",), (Fraction(5),), (Fraction(7),), (True,), False
    )
    (found,) = table("\n".join(gradebook("gradescope", [one], "set", lambda each, **_: str(each))))
    assert (found["First Name"], found["Last Name"]) == (first, last)


TWO = SPEC | {"problems": [{"name": "1", "tokens": 3}, {"name": "2", "tokens": 3}]}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["70_problem2.json", "Ada Lovelace hw2.json", "70/2/mine.json"])
def test_the_number_of_a_problem_may_be_part_of_a_word(
    name: str, attncalc: Command, tmp_path: Path
) -> None:
    (student, *_) = made(attncalc, tmp_path, spec=TWO)
    hand_in(tmp_path, {**student, "problems": student["problems"][1:]}, name)
    rows = marks(attncalc, tmp_path)
    assert [row["answer"] for row in rows[:2]] == ["", f"answers/{name}"]


@pytest.mark.slow
def test_who_handed_in_nothing_is_listed_once(attncalc: Command, tmp_path: Path) -> None:
    students = made(attncalc, tmp_path, spec=TWO)
    for student in students[:2]:
        hand_in(tmp_path, student, f"{student['folder']} 1.json")
    printed = attncalc("check", "set", "answers").out
    assert "no answer (problem 1): Carl Gauß, 李 善蘭, Emmy Noether, Ada Byron" in printed
    assert printed.count("Emmy Noether") == 2  # of each problem, once


@pytest.mark.slow
def test_the_table_and_the_overview_of_a_class_in_german(attncalc: Command, tmp_path: Path) -> None:
    from test_languages import english

    problems = [each | {"language": "de"} for each in TWO["problems"]]
    students = made(attncalc, tmp_path, spec=TWO | {"problems": problems})
    for number, student in enumerate(students[:4]):
        wrong = wrong_scale(tmp_path, student) if number else {"Q": [[9, 9], [9, 9], [9, 9]]}
        hand_in(tmp_path, student, f"{student['folder']}_LATE_1_2_{1} .json", **wrong)
    printed = attncalc("check", "set", "answers", "--overview", "o.md", "-o", "marked").out
    shown = (tmp_path / "o.md").read_text("utf-8")
    assert "die Scores sind nicht skaliert" in shown
    codes = re.compile(r"scale-none|connections|set|[A-Z]: [a-z-]+|`.*?`")
    assert not english(codes.sub("", printed + shown))
    page = next((tmp_path / "marked").glob("Carl*")).read_text("utf-8")
    assert "Aufgabe 2: nicht bewertet" in page
    assert "keine Antwort" in page


@pytest.mark.slow
def test_why_an_answer_is_not_marked_is_said_in_german(attncalc: Command, tmp_path: Path) -> None:
    from test_languages import english

    german = SPEC | {"problems": [SPEC["problems"][0] | {"language": "de"}]}
    students = made(attncalc, tmp_path, spec=german)
    for name in (
        "Emmy Noether.json",
        "Emmy Noether v2.json",
        "x.json",
        "Ada Lovelace Ada Byron.json",
    ):
        hand_in(tmp_path, students[4], name)
    printed = attncalc("check", "set", "answers").out
    newer = "answers/Emmy Noether v2.json"
    assert f"ersetzt: answers/Emmy Noether.json: ersetzt durch {newer}, neuer nach" in printed
    assert "x.json: der Name enthält keinen Namen der Klasse" in printed
    assert "Byron.json: sie könnte von Ada Byron (75) und Ada Lovelace (70) sein" in printed
    hidden = attncalc("check", "set", "answers", "--anonymous").out
    assert "nicht zugeordnet: (verborgen): der Name könnte" in hidden
    assert not english(printed + hidden)


@pytest.mark.slow
def test_a_set_as_pdf_needs_no_latex(attncalc: Command, tmp_path: Path) -> None:
    two = "\n".join(ROSTER.splitlines()[:3])
    made(attncalc, tmp_path, two, SPEC | {"formats": ["pdf"]})
    for name in ("Ada-Lovelace/worksheet.pdf", "keys/Ada-Lovelace/key.pdf", "worksheets.pdf"):
        assert (tmp_path / "set" / name).read_bytes().startswith(b"%PDF-")


@pytest.mark.slow
def test_a_note_says_that_a_large_problem_may_show_other_digits(
    attncalc: Command, tmp_path: Path
) -> None:
    (tmp_path / "roster.csv").write_text("name\nAda\n")
    spec: dict[str, Any] = {"problems": [{"name": "1", "tokens": 5}]}
    spec["problems"].append({"name": "2", "tokens": 2, "kind": "encoder"})
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    run = attncalc("new", "--class", "roster.csv", "--problems", "spec.json", "-o", "set")
    assert "problem 1: it has too many scores to look for versions that show the same" in run.err
    assert "problem 2: it has too many steps to look for versions that show the same" in run.err
    spec["problems"][0]["formats"] = "pdf"
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    run = attncalc("new", "--class", "roster.csv", "--problems", "spec.json", "-o", "set2")
    assert 'problem "1": formats is for the whole set: {"problems": [...], "formats"' in run.err


def test_mistakes_that_explain_a_step_equally_well_are_all_counted() -> None:
    """With two tokens, a mask that is forgotten and one that is shifted give the same."""
    one = {name: [[1], [0]] if name == "X" else [[1]] for name in ("X", "W_Q", "W_K", "W_V")}
    answer = {"S": [[1, 0], [0, 0]], "A": [["0.73", "0.27"], ["0.50", "0.50"]]}
    marking = check(Problem(**one, causal=True), answer)
    ((step, says, sample),) = fact(marking).mistakes
    assert (step, sample) == ("A", "A[1,1] = 0.73, not 1.00")
    assert re.fullmatch(
        "no score is masked.*; the mask is shifted by one.*, or the weights.*", says
    )
    for language in LANGUAGES:
        assert catalogue(language).said(f"1 answer, A: {says}.", strict=True)
        assert ", or " not in catalogue(language).each(says)
