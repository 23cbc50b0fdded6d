"""Names of answers that a person understands: dates, names next to digits, codes, class lists."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from conftest import Command

from attncalc import Problem, check
from attncalc.base.errors import InputError
from attncalc.reading.roster import Student, read_roster
from attncalc.reading.sets import ClassSet, Handed, pairs
from attncalc.writing.reports.gradebook import (
    ClassRow,
    Outcome,
    Totals,
    Who,
    class_document,
    filled,
)


@pytest.mark.parametrize(
    ("name", "student"),
    [
        ("homework 1 2026-01-03.txt", None),
        ("李小龙 1 2026-01-03.m", 0),
        ("李小龙1.txt", 0),
        ("ada1.txt", 1),
        ("2026 1.txt", 2),
        ("problem2026.txt", None),
    ],
)
def test_a_date_is_no_id_and_digits_may_follow_a_name(
    name: str, student: int | None, tmp_path: Path
) -> None:
    students = (
        Student("李小龙", "2001", folder="李小龙"),
        Student("Ada", "2002", folder="Ada"),
        Student("Bo Li", "2026", folder="Bo-Li"),
    )
    handed = tuple((Handed("1", tmp_path / "a"), Handed("2", tmp_path / "b")) for _ in students)
    (tmp_path / "answers").mkdir()
    (tmp_path / "answers" / name).write_text("Q = [1]")
    paired, _ = pairs(ClassSet(tmp_path / "set", students, handed), [str(tmp_path / "answers")])
    assert [each.student for each in paired] == ([] if student is None else [student])


@pytest.mark.parametrize(
    ("name", "student"),
    [
        ("de Vries Jan_2_assignsubmission_file_.txt", 0),
        ("devriesjan_4_5_h.txt", 0),
        ("vries jan.txt", 1),
        ("Silva Santos Ana_78.txt", 3),
        ("silvasantosana_4_5_h.txt", 3),
        ("ana.txt", 2),  # the email
        ("Lukasz Zolc.txt", 4),
        ("joerg_muller.txt", 5),
        ("zolc.txt", "it could be that of Łukasz Żółć"),
        ("muller.txt", "it could be that of Jörg Müller"),
    ],
)
def test_names_of_several_words_and_with_letters_of_their_own_are_found(
    name: str, student: int | str, tmp_path: Path
) -> None:
    names = "Jan de Vries", "Jan Vries", "Ana Silva", "Ana Silva Santos", "Łukasz Żółć"
    emails = "", "", "ana@x.org", "", "", ""
    pairs_of = zip((*names, "Jörg Müller"), emails, strict=True)
    students = tuple(Student(each, "", email, each) for each, email in pairs_of)
    handed = tuple((Handed("1", tmp_path / "a"),) for _ in students)
    (tmp_path / "answers").mkdir()
    (tmp_path / "answers" / name).write_text("Q = [1]")
    paired, others = pairs(ClassSet(tmp_path / "s", students, handed), [str(tmp_path / "answers")])
    assert [each.student for each in paired] + [each.why for each in others] == [student]


def test_an_export_of_canvas_is_a_class_list(tmp_path: Path) -> None:
    place = tmp_path / "class.csv"
    place.write_text(
        "Student,ID,SIS User ID,SIS Login ID,Section\n,,,,Manual Posting\n"
        '    Points Possible,,,,\n"Lovelace, Ada",1017,u7,ada,A\n"Student, Test",9,,,A\n'
    )
    (student,), notes = read_roster(place)
    assert (student.name, student.id, student.parts) == ("Lovelace, Ada", "u7", ("Ada", "Lovelace"))
    assert notes[0].endswith(
        "line 2, line 3 and line 5, which are no students in an export of Canvas"
    )
    assert notes[1].endswith("not read: ID, SIS Login ID and Section")


def test_a_row_with_more_cells_than_the_first_is_refused(tmp_path: Path) -> None:
    (tmp_path / "class.csv").write_text("name,id,email\nAda,1,a@x\nSmith, John,5,j@x\n")
    with pytest.raises(InputError, match=r'line 3: 4 cells, where the first row has 3: .*"Smith, '):
        read_roster(tmp_path / "class.csv")


@pytest.mark.parametrize(
    "headings",
    [
        "First name,Last name,ID number,Email address",
        "Vorname,Nachname,ID-Nummer,E-Mail-Adresse",
        "Vorname,Name,Matrikelnummer,E-Mail",
        "Prénom,Nom de famille,Numéro d'identification,Adresse de courriel",
        "Prénom,Nom,Numéro d’étudiant,Courriel",
        "Nombre,Apellido(s),Número de ID,Dirección de correo",
        "Nome,Sobrenome,Número de identificação,Endereço de email",
        "名,姓,IDナンバー,メールアドレス",
        "名,姓氏,学号,电子邮件地址",
    ],
)
def test_class_lists_have_headings_in_any_language(headings: str, tmp_path: Path) -> None:
    """They are those of exports of Moodle, with the family name in either order."""
    place = tmp_path / "class.csv"
    for order in (slice(None), slice(None, None, -1)):
        rows = [headings.split(","), ["Ada", "Byron King", "7", "a@x"], ["健", "佐藤", "8", "k@x"]]
        place.write_text("\n".join(",".join(row[order]) for row in rows), encoding="utf-8")
        students, notes = read_roster(place)
        assert [each[:3] for each in students] == [
            ("Ada Byron King", "7", "a@x"), ("佐藤 健", "8", "k@x")
        ]  # fmt: skip
        assert not notes


def test_columns_of_a_class_list_that_are_not_read_are_listed(tmp_path: Path) -> None:
    place = tmp_path / "class.csv"
    place.write_text("Vorname,Name,,Groupe,Login,ID\nAda,Ada Byron,x,,al,7\nBo,Bo Li,,,bo,8\n")
    students, (note,) = read_roster(place)
    assert [each[:2] for each in students] == [("Ada Byron", "al"), ("Bo Li", "bo")]
    assert note.endswith("not read: Vorname, column 3, without a heading, Groupe and ID")
    place.write_text("Vorname,Nachname,Name\nAda,Byron,\nBo,Li,Bo Li\n")
    students, notes = read_roster(place)
    assert [each.name for each in students] == ["Ada Byron", "Bo Li"]
    assert not notes


def test_one_dashed_line_is_right_where_several_inputs_tie() -> None:
    problem = Problem(Q=[[1]], K=[[2], [1], [1]], V=[[1], [2], [3]])
    for second in (2, 3):
        answer = {
            "A": [["0.58", "0.21", "0.21"]],
            "connections": [{"output": 1, "solid": 1, "dashed": second}],
        }
        marking = check(problem, answer, asked=["connections"])
        assert marking.score == (1, 1), marking.verdict


def test_names_with_commas_are_told_apart_in_a_list() -> None:
    nothing = Outcome("", "", (), {}, None)
    names = "Ada", "Gómez, Ruiz"
    rows = [ClassRow(Who(name, "", "", name, "", name), "1", nothing) for name in names]
    document = class_document(rows, [], lambda points, least=0: str(points), several=False)
    assert "no answer: Ada; Gómez, Ruiz" in str(document)


def test_a_total_is_scaled_to_the_points_of_a_canvas_column() -> None:
    rows = [["Student", "ID", "set (1)"], ["    Points Possible", "", "10.00"], [" Ada", "1", ""]]
    total = Totals(
        Who("Ada", "1", "", "", "Ada", ""), ("1",), (Fraction(15),), (Fraction(30),), (True,), False
    )
    lines = list(filled(rows, [None, None, total], "set", lambda x, least=0: str(x)))
    assert [line.strip("\r\n") for line in lines[1:]] == ["    Points Possible,,10.00", " Ada,1,5"]
    lines = list(filled(rows, [None, None, total], "set", lambda x, least=0: str(x), ";"))
    assert lines[2] == " Ada;1;5\n"


def test_a_code_of_another_problem_and_a_damaged_file_are_said(
    attncalc: Command, tmp_path: Path
) -> None:
    given = {"Q": [[1]], "K": [[1], [2]], "V": [[1], [2]], "code": "BCDF-GHJK"}
    (tmp_path / "p.json").write_text(json.dumps(given))
    (tmp_path / "a.txt").write_text("code QRST-VWXZ\nS = [1 2]\n")
    assert "it has the code QRST-VWXZ, but BCDF-GHJK is" in attncalc("check", "p.json", "a.txt").out
    (tmp_path / "a.txt").write_text("code BCDF-GHJK\nS = [1 2]\n")
    assert "has the code" not in attncalc("check", "p.json", "a.txt").out
    for ending in ("pdf", "npz", "ipynb"):
        (tmp_path / f"a.{ending}").write_bytes(b"\xfa\xff\x00damaged")
        told = attncalc("check", "p.json", f"a.{ending}").err
        assert f"damaged: it does not contain what .{ending} files contain" in told
