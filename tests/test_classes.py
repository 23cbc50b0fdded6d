"""A class: each student their own problem, answers paired by names, marks as they were planted."""

import csv
import hashlib
import hmac
import io
import json
import os
import random
import signal
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import planting
import pytest
from conftest import SLOW, Command, clean_environment
from oracle import solve_by_hand

from attncalc import InputError, OutputError, new, read_problem, solve
from attncalc.base.text import as_key
from attncalc.base.workers import mapped
from attncalc.reading import scans
from attncalc.reading.roster import path_name, read_roster
from attncalc.writing.files import write_files

pytestmark = pytest.mark.campaign(4)

NAMES = ("Ada Lovelace", "Blaise Pascal", "Carl Gauß", "李 善蘭", "Emmy Noether", "Ada Byron")
ROSTER = "name,id,email\n" + "".join(f"{n},{70 + i},s{i}@x.org\n" for i, n in enumerate(NAMES))
SECRET = "00112233445566778899aabbccddeeff"
SPEC = {
    "problems": [{"name": "1", "tokens": 3}],
    "formats": ["markdown"],
    "seed": 7,
    "secret": SECRET,
}
MADE: dict[tuple[str, ...], dict[str, bytes]] = {}
"""Sets that tests made: what was made once need not be drawn again."""
STEPS = ("Q", "K", "V", "S", "S_scaled", "A", "O")
UNSAID = "that of Bob, but its name does not say to which of 1 and 2 b"


def made(
    attncalc: Command,
    folder: Path,
    roster: str = ROSTER,
    spec: dict[str, Any] = SPEC,
    *flags: str,
    out: str = "set",
) -> list[dict[str, Any]]:
    """Make a set, and return its students as its list has them."""
    (folder / "roster.csv").write_text(roster, encoding="utf-8")
    (folder / "spec.json").write_text(json.dumps(spec), encoding="utf-8")
    known = (roster, json.dumps(spec), *flags)
    if known in MADE and "--jobs" not in flags:
        for name, content in MADE[known].items():
            (folder / out / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / out / name).write_bytes(content)
    else:
        called = ("new", "--class", "roster.csv", "--problems", "spec.json", "-o", out, *flags)
        run = attncalc(*called)
        assert run.code == 0, run.err
        files = [path for path in (folder / out).rglob("*") if path.is_file()]
        MADE[known] = {str(path.relative_to(folder / out)): path.read_bytes() for path in files}
    students: list[dict[str, Any]] = json.loads((folder / out / "manifest.json").read_bytes())[
        "students"
    ]
    return students


def right_answer(problem: dict[str, Any]) -> dict[str, Any]:
    """Return what the oracle, which shares no code with us, writes under a problem."""
    X, *weights = (
        [[Fraction(str(v)) for v in row] for row in problem[name]]
        for name in ("X", "W_Q", "W_K", "W_V")
    )
    solved = solve_by_hand(X, X, *weights, problem.get("scale", "sqrt_dk"), "display", 2)
    steps = {name: solved[name] for name in STEPS if name in solved}
    return {**steps, "connections": drawn([[float(each) for each in row] for row in solved["A"]])}


def drawn(weights: list[list[float]]) -> list[dict[str, Any]]:
    """Return the lines of the map, which a worksheet asks for."""
    found = []
    for output, row in enumerate(weights, 1):
        most, *less = sorted({each for each in row if each}, reverse=True)
        named = {"solid": most, **({"dashed": less[0]} if less else {})}
        lines = {n: [j for j, each in enumerate(row, 1) if each == v] for n, v in named.items()}
        found.append({"output": output, **lines})
    return found


def hand_in(folder: Path, student: dict[str, Any], name: str = "", **changed: Any) -> None:
    """Write the right answer of a student, but for what is changed."""
    problem = json.loads((folder / "set" / student["problems"][0]["file"]).read_bytes())
    answer = {n: m for n, m in (right_answer(problem) | changed).items() if m is not None}
    place = folder / "answers" / (name or f"{student['folder']}.json")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps(answer))


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def marks(attncalc: Command, folder: Path, *flags: str) -> list[dict[str, str]]:
    run = attncalc("check", "set", "answers", "--csv", "marks.csv", *flags)
    assert run.code in (0, 1), run.err
    return table((folder / "marks.csv").read_text(encoding="utf-8"))


@pytest.mark.slow
def test_each_student_has_a_problem_a_worksheet_and_a_separate_key(
    attncalc: Command, tmp_path: Path
) -> None:
    students = made(attncalc, tmp_path, spec=SPEC | {"formats": ["markdown", "latex"]})
    place = tmp_path / "set"
    assert [each["name"] for each in students] == list(NAMES)
    assert [each["folder"] for each in students][2:4] == ["Carl-Gauß", "李-善蘭"]
    problems = set()
    for student in students:
        (listed,) = student["problems"]
        file = place / listed["file"]
        again = new(int(listed["seed"]), tokens=3, title="Problem 1", same_digits=True)
        assert read_problem(file).as_typed("X").tolist() == again.as_typed("X").tolist()
        problems.add(str(read_problem(file).as_typed("X").tolist()))
        inside = {path.name for path in (place / student["folder"]).iterdir()}
        assert inside == {"problem.json", "worksheet.md", "worksheet.tex"}
        worksheet = (place / student["folder"] / "worksheet.md").read_text(encoding="utf-8")
        assert f"Name: {student['name']}" in worksheet
        key = (place / "keys" / student["folder"] / "key.md").read_text(encoding="utf-8")
        shown = right_answer(json.loads(file.read_bytes()))["O"][0]
        assert all(f" {value} " in key for value in shown)
        assert not any(f" {value} " in worksheet.partition("## `Q`")[2] for value in shown)
    assert len(problems) == len(NAMES)
    together = (place / "worksheets.tex").read_text(encoding="utf-8")
    assert together.count(r"\clearpage\ifodd\value{page}") == len(NAMES) - 1
    assert together.count(r"\begin{document}") == together.count(r"\end{document}") == 1
    assert all(f"Name: {name}" in together for name in ("Ada Lovelace", "Emmy Noether"))


@pytest.mark.slow
def test_letters_that_no_font_draws_in_a_pdf_are_named_once(
    attncalc: Command, tmp_path: Path
) -> None:
    (tmp_path / "roster.csv").write_text("name\nA 𒀀\nB 𒀀\n", encoding="utf-8")
    (tmp_path / "spec.json").write_text(json.dumps(SPEC | {"formats": ["pdf"]}))
    run = attncalc("new", "--class", "roster.csv", "--problems", "spec.json", "-o", "set")
    assert run.code == 0, run.err
    assert run.err.count("no font here can draw 𒀀: the PDF shows codes such as U+12000") == 1
    assert run.err.count("pdfLaTeX cannot set 𒀀: it shows codes such as U+12000;") == 1


@pytest.mark.slow
def test_the_title_of_a_problem_without_one_is_in_its_language(
    attncalc: Command, tmp_path: Path
) -> None:
    problems = [{"tokens": 2, "language": name} for name in ("de", "ja")]
    made(attncalc, tmp_path, "name\nAda\n", SPEC | {"problems": problems})
    for number, title in (("1", "Aufgabe 1"), ("2", "問題 2")):
        assert read_problem(tmp_path / "set" / "Ada" / number / "problem.json").title == title
    worksheet = (tmp_path / "set/Ada/1/worksheet.md").read_text("utf-8")
    assert worksheet.startswith("# Self-Attention: Aufgabe 1\n")


@pytest.mark.slow
def test_versions_show_the_same_digits_under_both_roundings_or_a_note_says_so(
    attncalc: Command, tmp_path: Path
) -> None:
    for student in made(attncalc, tmp_path):
        problem = read_problem(tmp_path / "set" / student["problems"][0]["file"])
        assert not solve(problem).count_differing()
    impossible = [{"name": "1", "tokens": 4, "entries": "-1:1:0.01", "decimals": 1}]
    (tmp_path / "spec.json").write_text(json.dumps({"problems": impossible, "seed": 1}))
    (tmp_path / "one.csv").write_text("name\nAda\n")
    called = ("new", "--class", "one.csv", "--problems", "spec.json", "-o", "other")
    run = attncalc(*called)
    assert run.code == 0, run.err
    assert "problem 1: 1 of 1 versions may show other digits" in run.err


@pytest.mark.slow
def test_a_version_does_not_depend_on_the_order_of_the_list(
    attncalc: Command, tmp_path: Path
) -> None:
    first = made(attncalc, tmp_path)
    lines = ROSTER.splitlines()
    other = "\n".join([lines[0], "Zoe New,99,z@x.org", *reversed(lines[1:])])
    second = made(attncalc, tmp_path, other, out="other")
    by_name = {each["name"]: each for each in second}
    for student in first:
        assert by_name[student["name"]] == student
        place = student["problems"][0]["file"]
        assert (tmp_path / "set" / place).read_bytes() == (tmp_path / "other" / place).read_bytes()


def texts_of_students(folder: Path) -> list[str]:
    """Return all that students get of a set."""
    apart = ("manifest.json", "keys")
    files = (path for path in folder.rglob("*") if path.is_file())
    return [
        path.read_text(encoding="utf-8")
        for path in files
        if path.relative_to(folder).parts[0] not in apart
    ]


@pytest.mark.slow
def test_students_get_no_seed_and_nothing_it_follows_from(
    attncalc: Command, tmp_path: Path
) -> None:
    spec = SPEC | {"formats": ["markdown", "latex", "html"]}
    students = made(attncalc, tmp_path, spec=spec)
    seeds = [student["problems"][0]["seed"] for student in students]
    assert len(set(seeds)) == len(NAMES)
    assert all(int(seed).bit_length() > 100 for seed in seeds)
    texts = texts_of_students(tmp_path / "set")
    assert len(texts) == 4 * len(NAMES) + 1
    for text in texts:
        assert not any(hidden in text for hidden in (*seeds, SECRET, "--seed"))
        assert not any(f"{int(seed):x}" in text.lower() for seed in seeds)
    problem = read_problem(tmp_path / "set" / students[0]["problems"][0]["file"])
    assert problem.made_by.endswith(": attncalc new --tokens 3 --title 'Problem 1' --same-digits")
    assert new(1, again=problem).n == 3  # a similar one can be made anyway


@pytest.mark.parametrize("form", ["json", "csv"])
def test_a_worksheet_as_data_has_no_seed(attncalc: Command, form: str) -> None:
    attncalc("new", "--seed", "987654", "-o", "p.json")
    assert "--seed 987654" in attncalc("self", "p.json", "--format", form).out
    sheet = attncalc("self", "p.json", "--blank", "--format", form).out
    assert "attncalc new" in sheet
    assert "987654" not in sheet


@pytest.mark.slow
def test_a_version_cannot_be_computed_without_the_secret(attncalc: Command, tmp_path: Path) -> None:
    """Same list, same specification, same seed: only the secret differs, and is drawn again."""
    spec = {name: value for name, value in SPEC.items() if name != "secret"}
    secrets, problems = set(), set()
    for out in ("one", "two"):
        students = made(attncalc, tmp_path, spec=spec, out=out)
        listed = json.loads((tmp_path / out / "manifest.json").read_bytes())
        secrets.add(listed["secret"])
        problems |= {(tmp_path / out / s["problems"][0]["file"]).read_text() for s in students}
        MADE.clear()
    assert len(secrets) == 2
    assert all(len(secret) == 32 for secret in secrets)
    assert len(problems) == 2 * len(NAMES)


@pytest.mark.slow
def test_a_version_follows_from_the_secret_as_an_hmac(attncalc: Command, tmp_path: Path) -> None:
    """Beside Python's own `hmac`: 128 bits of HMAC-SHA256 of seed, student and problem."""
    for seed in (7, None):
        spec = SPEC if seed else {name: value for name, value in SPEC.items() if name != "seed"}
        (student, *_) = made(attncalc, tmp_path, spec=spec, out=f"of {seed}")
        told = json.dumps([seed, ["id", student["id"]], "1"]).encode()
        digest = hmac.new(bytes.fromhex(SECRET), told, hashlib.sha256).digest()
        assert student["problems"][0]["seed"] == str(int.from_bytes(digest[:16], "big"))


@pytest.mark.slow
def test_the_list_of_a_set_makes_it_again(attncalc: Command, tmp_path: Path) -> None:
    spec = {
        "problems": [
            {"name": "1", "tokens": 2, "asked": ["Q", "A"], "words": True, "causal": True},
            {"name": "2", "entries": "-2:2:1/2", "also": ["W_O"], "title": "Two"},
        ],
        "formats": ["markdown"],
    }
    made(attncalc, tmp_path, spec=spec)
    listed = tmp_path / "set" / "manifest.json"
    called = ("new", "--class", "roster.csv", "--problems", str(listed), "-o", "again")
    run = attncalc(*called)
    assert run.code == 0
    inside = [path for path in (tmp_path / "set").rglob("*") if path.is_file()]
    for path in inside:
        other = tmp_path / "again" / path.relative_to(tmp_path / "set")
        assert path.read_bytes() == other.read_bytes(), path
    assert run.err.endswith(
        f"note: 2 problems for {len(NAMES)} students written to again; again/manifest.json makes "
        "the same set again: keep it to yourself\n"
    )


@pytest.mark.slow
def test_cores_change_nothing(attncalc: Command, tmp_path: Path) -> None:
    made(attncalc, tmp_path, ROSTER, SPEC, "--jobs", "1")
    made(attncalc, tmp_path, ROSTER, SPEC, "--jobs", "2", out="other")
    inside = [path for path in (tmp_path / "set").rglob("*") if path.is_file()]
    assert len(inside) == 3 * len(NAMES) + 2
    for path in inside:
        other = tmp_path / "other" / path.relative_to(tmp_path / "set")
        assert path.read_bytes() == other.read_bytes()


HOSTILE = [
    *("../../etc/passwd", "/etc/shadow", "..", ".", "con", "NUL", "com1", "keys", "manifest"),
    *("=HYPERLINK(1)", "a\\b", "A\tB", "ada", "ADA", "\u202eevil", "🙂", "x" * 500),
    *("名" * 200, r"\input{x}", "<b>$a$</b>", "e\u0301", "é", "-rf", "trailing. ", "%s|`id`"),
]


@pytest.mark.slow
def test_names_are_data(attncalc: Command, tmp_path: Path) -> None:
    """Whatever a name holds, its folder is within the set, and unlike any other on any system."""
    buffer = io.StringIO()
    csv.writer(buffer).writerows([["name", "id"], *([n, str(i)] for i, n in enumerate(HOSTILE))])
    (tmp_path / "names.csv").write_text(buffer.getvalue(), encoding="utf-8")
    students = read_roster(tmp_path / "names.csv").students
    folders = [student.folder for student in students]
    assert len({as_key(folder) for folder in folders}) == len(HOSTILE)
    for folder in folders:
        assert all(c.isalnum() or c == "-" or not c.isascii() for c in folder)
        assert 0 < len(folder.encode()) <= 100
        assert folder.lower() not in ("con", "nul", "com1", "keys", "manifest", "worksheets")
        assert folder == path_name(folder)
    (tmp_path / "names.csv").write_text("name\nada\nADA\nAda\nada\nada (2)\n")
    alone = read_roster(tmp_path / "names.csv").students
    assert [each.folder for each in alone] == ["ada-1", "ADA-2", "Ada-3", "ada-2-2", "ada-2-2-2"]
    assert len({each.key for each in alone}) == 5
    few = "name\n../../up\n=1+1\n\\input{x}\n"
    before = {path.name for path in tmp_path.iterdir()}
    made(attncalc, tmp_path, few, SPEC | {"formats": ["latex"]})
    assert {path.name for path in tmp_path.iterdir()} - before == {"set", "roster.csv", "spec.json"}
    sheet = (tmp_path / "set" / "worksheets.tex").read_text(encoding="utf-8")
    assert r"\input{x}" not in sheet
    (tmp_path / "answers").mkdir()
    (tmp_path / "answers" / "of-nobody.txt").write_text("Q = 1")
    run = attncalc("check", "set", "answers", "--format", "csv")
    assert "\n'=1+1," in run.out


@pytest.mark.slow
def test_an_impossible_condition_is_reported_once(attncalc: Command, tmp_path: Path) -> None:
    spec = {"problems": [{"tokens": 2}, {"tokens": 1}], "formats": ["markdown"], "seed": 3}
    (tmp_path / "roster.csv").write_text("name\nAda Byron\nBob\n")
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    run = attncalc("new", "--class", "roster.csv", "--problems", "spec.json", "-o", "set")
    said = [line for line in run.err.splitlines() if "distinguishes" in line]
    assert len(said) == 1
    assert said[0].startswith(
        "note: problem 2: no problem of these sizes and conventions distinguishes: "
    )


@pytest.mark.slow
def test_several_problems_have_a_folder_each(attncalc: Command, tmp_path: Path) -> None:
    spec = {
        "problems": [{"name": "1"}, {"name": "2 b", "kind": "cross", "keys": 2, "decimals": 3}],
        "formats": ["markdown"],
        "seed": 3,
    }
    students = made(attncalc, tmp_path, "name\nAda Byron\nBob\n", spec)
    files = [each["file"] for each in students[0]["problems"]]
    assert files == ["Ada-Byron/1/problem.json", "Ada-Byron/2-b/problem.json"]
    assert read_problem(tmp_path / "set" / files[1]).decimals == 3
    hand_in(tmp_path, students[0], "Ada Byron/problem 1.json")
    hand_in(tmp_path, students[1], "bob.json")
    hand_in(tmp_path, students[1], "bob/2 b/mine.json")
    rows = marks(attncalc, tmp_path, "-o", "marked")
    assert [(row["student"], row["problem"], row["note"]) for row in rows[:3]] == [
        ("Ada Byron", "1", ""),
        ("Ada Byron", "2 b", "no answer"),
        ("Bob", "1", f"answers/bob.json: {UNSAID}"),
    ]
    assert rows[0]["earned"] == rows[0]["possible"] == "8"
    assert len(rows) == 4
    page = (tmp_path / "marked" / "Ada-Byron.md").read_text(encoding="utf-8")
    assert "Score: 8.0 of 8" in page
    assert "# Problem 2 b: not marked" in page


PLANTED = ("scores-transposed", "softmax-columns", "scale-none", "weights-swapped:W_K", "")
"""Wrong recipes that every problem tells apart; and none."""


def planted(
    problem: dict[str, Any], code: str
) -> tuple[dict[str, Any], str, tuple[Fraction, Fraction]]:
    """Return a script with a mistake carried on, its step, and the least and most it earns.

    A step that a cause explains earns nothing; where another mistake gives the same, its entries
    count.
    """
    given = {name: np.array(problem[name], float) for name in ("X", "W_Q", "W_K", "W_V")}
    n, root = len(given["X"]), given["W_Q"].shape[1] ** -0.5
    task = planting.Task({}, given, list(STEPS), 2, 2, 1, 2, root, None, False)
    style = ("display", "half-away")
    recipe = next(((s, r) for s, c, r in planting.recipes_of(task) if c == code), None)
    script = planting.written(task, style, list(STEPS), recipe)
    flawless = planting.written(task, style, list(STEPS))
    assert script is not None
    assert flawless is not None
    assert n == 3
    step = recipe[0] if recipe else ""
    moved = np.abs(script[step] - flawless[step]) if step else np.zeros((1, 1))
    most = len(STEPS) - Fraction(int((moved > 0.011).sum()), moved.size)
    least = Fraction(len(STEPS) - bool(step))
    shown = {name: [[f"{v:.2f}" for v in row] for row in m] for name, m in script.items()}
    return shown, step, (least, most)


@pytest.mark.slow
@pytest.mark.parametrize("size", [5, pytest.param(30, marks=SLOW)])
def test_marks_equal_the_planted_mistakes(size: int, attncalc: Command, tmp_path: Path) -> None:
    students = made(attncalc, tmp_path, "name\n" + "".join(f"Student {i}\n" for i in range(size)))
    expected = []
    rng = random.Random(5)
    for number, student in enumerate(students):
        place = tmp_path / "set" / student["problems"][0]["file"]
        code = PLANTED[number % len(PLANTED)]
        script, step, earned = planted(json.loads(place.read_bytes()), code)
        ending = rng.choice([".json", ".txt"])
        text = json.dumps(script) if ending == ".json" else as_text(script)
        (tmp_path / "answers").mkdir(exist_ok=True)
        (tmp_path / "answers" / f"{student['folder']}{ending}").write_text(text)
        expected.append((earned, step, code))
    rows = marks(attncalc, tmp_path, "-o", "marked", "--fractions")
    found = [(row["earned"], row["first wrong"].partition("[")[0], row["causes"]) for row in rows]
    for (earned, step, causes), wanted in zip(found, expected, strict=True):
        least, most = wanted[0]
        assert least <= Fraction(earned) <= most
        assert step == wanted[1]
        assert causes == (f"{step}: {wanted[2]}" if step else "") or wanted[2] in causes
    named = [found for found, wanted in zip(found, expected, strict=True) if wanted[1]]
    assert sum(Fraction(earned) == 6 for earned, *_ in named) > 0.7 * len(named)
    assert {row["possible"] for row in rows} == {"8"}
    assert len(list((tmp_path / "marked").glob("*.md"))) == size


def as_text(script: dict[str, Any]) -> str:
    rows = ("; ".join(" ".join(row) for row in m) for m in script.values())
    return "\n".join(f"{name} = [{row}]" for name, row in zip(script, rows, strict=True))


@pytest.mark.slow
def test_answers_are_paired_by_name_as_reported(attncalc: Command, tmp_path: Path) -> None:
    students = made(attncalc, tmp_path)
    hand_in(tmp_path, students[0], "ada_lovelace.json")
    hand_in(tmp_path, students[1], "Pascal, Blaise_9933_assignsubmission_file/homework.json")
    hand_in(tmp_path, students[2], "homework 3 (72).json")  # an id of two letters is none
    hand_in(tmp_path, students[2], "CARL GAUSS.json")
    hand_in(tmp_path, students[3], "李善蘭.json")  # in one word, as systems write names
    hand_in(tmp_path, students[4], "s4@x.org/mine.json")
    hand_in(tmp_path, students[5], "ada-byron.json")
    hand_in(tmp_path, students[5], "Ada Byron/again.json")
    hand_in(tmp_path, students[0], "ada-byron-with-emmy-noether.json")
    rows = marks(attncalc, tmp_path, "-o", "marked")
    said = {row["student"]: (row["paired by"], row["note"]) for row in rows if row["student"]}
    assert said == {
        "Ada Lovelace": ("file name", ""),
        "Blaise Pascal": ("name in the folder name", ""),
        "Carl Gauß": ("file name", ""),
        "李 善蘭": ("name in the file name", ""),
        "Emmy Noether": ("email in the folder name", ""),
        "Ada Byron": (
            "folder name",
            "answers/Ada Byron/again.json: one of 2 answers, none of them newer: also "
            "answers/ada-byron.json",
        ),
    }
    strays = {row["answer"]: row["note"] for row in rows if not row["student"]}
    assert strays == {
        "answers/homework 3 (72).json": "no name of the class is in its name",
        "answers/ada-byron.json": "one of 2 answers, none of them newer: also "
        "answers/Ada Byron/again.json",
        "answers/ada-byron-with-emmy-noether.json": "it could be that of Ada Byron (75) "
        "and Emmy Noether (74)",
    }
    run = attncalc("check", "set", "answers")
    assert run.code == 1
    assert "Ada Byron   not marked" in run.out
    assert "unmatched: answers/ada-byron.json: one of 2 answers" in run.out
    run = attncalc("check", "set", "answers", "--gradebook", "moodle")
    assert "no total, because an answer was not marked: Ada Byron" in run.err
    assert "Ada Byron,75,s5@x.org,\n" in run.out


def test_the_longest_names_leave_room_for_that_of_the_problem(
    attncalc: Command, tmp_path: Path
) -> None:
    name = "María del Carmen Fernández-Villaverde y Rodríguez de la Concepción, Marquesa de Casa"
    spec = {**SPEC, "problems": [{"name": name} for name in ("1", "con")]}
    (student,) = made(attncalc, tmp_path, f'name\n"{name}"\n', spec)
    hand_in(tmp_path, student, f"{name} 1.json")
    (tmp_path / "answers" / f"{student['folder']} con.json").write_text("{}")
    rows = marks(attncalc, tmp_path)
    assert [(row["problem"], row["answer"], row["earned"] != "") for row in rows] == [
        ("1", f"answers/{name} 1.json", True),
        ("con", f"answers/{student['folder']} con.json", False),
    ]


def test_nothing_that_was_handed_in_is_passed_over(attncalc: Command, tmp_path: Path) -> None:
    """A scan, a picture, what lies deep: each is marked or listed, and none hides another."""
    students = made(attncalc, tmp_path)
    hand_in(tmp_path, students[0], "group b/Ada Lovelace_17_file/my work/final/mine.json")
    (tmp_path / "answers/Blaise Pascal").mkdir()
    (tmp_path / "answers/Blaise Pascal/scan.pdf").write_bytes(b"%PDF-1.4")
    hand_in(tmp_path, students[2], "72-carl-gauß/homework.json")
    for name in ("homework.pdf", "homework.aux", "homework.synctex.gz"):
        (tmp_path / "answers/72-carl-gauß" / name).write_bytes(b"%PDF-1.4")
    hand_in(tmp_path, students[4], "a/b/c/d/e/f/g/h/emmy noether.json")
    rows = marks(attncalc, tmp_path)
    assert [(row["answer"], row["earned"]) for row in rows if row["answer"]][:3] == [
        ("answers/group b/Ada Lovelace_17_file/my work/final/mine.json", "8"),
        ("answers/Blaise Pascal/scan.pdf", ""),
        ("answers/72-carl-gauß/homework.json", "8"),
    ]
    why = "it is broken" if scans.is_installed() else "a PDF cannot be read"
    assert why in rows[1]["note"]
    assert [(row["answer"], row["note"]) for row in rows if not row["student"]] == [
        (
            "answers/a/b/c/d/e/f/g/h",
            "not looked into: 8 folders deep",
        ),
        (
            "answers/72-carl-gauß/homework.pdf",
            "answers/72-carl-gauß/homework.json is the answer that is marked",
        ),
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
def test_a_link_that_leads_back_makes_no_second_answer(attncalc: Command, tmp_path: Path) -> None:
    students = made(attncalc, tmp_path)
    hand_in(tmp_path, students[0], "Ada Lovelace/mine.json")
    (tmp_path / "answers" / "Ada Lovelace" / "all").symlink_to(tmp_path / "answers")
    rows = marks(attncalc, tmp_path)
    assert rows[0]["earned"] == "8"
    assert [(row["answer"], row["note"]) for row in rows if not row["student"]] == [
        ("answers/Ada Lovelace/all", "a link, which is not followed: put the file itself there")
    ]


def test_a_folder_of_nothing_leaves_the_marks_that_were_there(
    attncalc: Command, tmp_path: Path
) -> None:
    made(attncalc, tmp_path)
    (tmp_path / "answers" / "Ada Lovelace").mkdir(parents=True)
    (tmp_path / "marks.csv").write_text("of before")
    run = attncalc("check", "set", "answers", "-o", "marked", "--csv", "marks.csv")
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith(
        "error: answers: this folder has no answers, so nothing is marked: their names end in "
    )
    assert (tmp_path / "marks.csv").read_text() == "of before"
    assert not (tmp_path / "marked").exists()


def test_a_returned_folder_contains_one_answer(attncalc: Command, tmp_path: Path) -> None:
    """The problem in it, and worksheets of which another was filled in, are no answers."""
    students = made(attncalc, tmp_path)
    for student in students[:2]:
        (tmp_path / "answers" / student["folder"]).mkdir(parents=True)
        for file in (tmp_path / "set" / student["folder"]).iterdir():
            copy = tmp_path / "answers" / student["folder"] / file.name
            copy.write_bytes(file.read_bytes())
    sheet = tmp_path / "answers" / "Ada-Lovelace" / "worksheet.md"
    key = tmp_path / "set" / "keys" / "Ada-Lovelace" / "key.md"
    sheet.write_bytes(key.read_bytes())
    rows = marks(attncalc, tmp_path)
    assert (rows[0]["answer"], rows[0]["earned"]) == ("answers/Ada-Lovelace/worksheet.md", "8")
    why = "as it was handed out: nothing is filled in"
    others = [row for row in rows if not row["student"]]
    assert [(row["answer"], row["paired by"], row["note"]) for row in others] == [
        (f"answers/Blaise-Pascal/{name}", "unchanged", why)
        for name in ("problem.json", "worksheet.md")
    ]


@pytest.mark.slow
def test_a_name_of_two_is_nobodys(attncalc: Command, tmp_path: Path) -> None:
    """Unless a number, which their folders have, says whose: a start of an address says less."""
    roster = "name,email\nAda,\nADA,\nBob,x@x.org\nBob Lee,bob@x.org\nCarl,dan@x.org\n"
    students = made(attncalc, tmp_path, roster)
    for name in ("ada.json", "ada-2.json", "bob.json", "dan/mine.json"):
        hand_in(tmp_path, students[0], name)
    rows = marks(attncalc, tmp_path)
    paired = {row["student"]: row["answer"] for row in rows if row["student"]}
    assert paired == {
        "Ada": "",
        "ADA": "answers/ada-2.json",
        "Bob": "answers/bob.json",
        "Bob Lee": "",
        "Carl": "answers/dan/mine.json",
    }
    assert "it could be that of ADA and Ada" in [row["note"] for row in rows]


def test_names_without_accents_are_paired_and_a_last_name_alone_is_a_guess(
    attncalc: Command, tmp_path: Path
) -> None:
    roster = "name,id\nJosé Ñandú,71\nJörg Müller,72\nAnn Smith,73\nAnn Smith,74\n"
    students = made(attncalc, tmp_path, roster)
    names = {"nandu jose.json": 0, "Jorg-Muller.json": 1, "ann smith.json": 2, "müller.json": 1}
    for name, place in names.items():
        hand_in(tmp_path, students[place], name)
    rows = marks(attncalc, tmp_path)
    assert [row["answer"] for row in rows if row["student"]] == [
        "answers/nandu jose.json",
        "answers/Jorg-Muller.json",
        "",
        "",
    ]
    assert {row["answer"]: row["note"] for row in rows if not row["student"]} == {
        "answers/ann smith.json": "it could be that of Ann Smith (73) and Ann Smith (74)",
        "answers/müller.json": "it could be that of Jörg Müller (72)",
    }
    run = attncalc("check", "set", "answers")
    assert "no answer: Ann Smith (73), Ann Smith (74)" in run.out
    questions = attncalc("export", "set", "--to", "moodle", "--steps", "A").out
    assert all(f" ({name})<" in questions for name in ("Ann Smith (73)", "José Ñandú"))


TWO_PROBLEMS = {"problems": [{"name": "1", "tokens": 2}, {"name": "2", "tokens": 2}], "seed": 7}


@pytest.mark.slow
def test_short_and_reserved_names_are_paired_where_nothing_else_is_meant(
    attncalc: Command, tmp_path: Path
) -> None:
    roster = "name,id\nAl,71\nAux,72\nMy,8\nGrace Hopper,74\nLi,75\nLI,76\n"
    students = made(attncalc, tmp_path, roster, TWO_PROBLEMS)
    assert students[1]["folder"] == "Aux-"
    names = {
        "Al 2.json": "Al 2",
        "1-al.json": "Al 1",
        "aux_2.json": "Aux 2",
        "Aux-/1/mine.json": "Aux 1",
        "my homework 2.json": "it could be that of My (8)",
        "HopperGrace_1.json": "Grace Hopper 1",
        "gracehopper 2.json": "Grace Hopper 2",
        "li 2.json": "it could be that of LI (76) and Li (75)",
        "problem 8.json": "no name of the class is in its name",
        "8 2.json": "no name of the class is in its name",  # problem 8, part 2, perhaps
        "al.json": "that of Al, but its name does not say to which of 1 and 2",
    }
    for name in names:
        hand_in(tmp_path, students[0], name)
    found = {
        row["answer"].removeprefix("answers/"): f"{row['student']} {row['problem']}"
        if row["student"]
        else row["note"]
        for row in marks(attncalc, tmp_path)
        if row["answer"] and row["paired by"] != "to review"  # all hand in the same
    }
    assert found == names


@pytest.mark.slow
def test_possible_is_the_same_for_all(attncalc: Command, tmp_path: Path) -> None:
    """Answers without S_scaled, with a map, half finished, or unreadable."""
    students = made(attncalc, tmp_path)
    hand_in(tmp_path, students[0], S_scaled=None)
    hand_in(tmp_path, students[1], connections=[["a"]])
    hand_in(tmp_path, students[2], A=None, O=None)
    hand_in(tmp_path, students[3], "李-善蘭.json", S_scaled=None, A=[["7.77"] * 3] * 3)
    (tmp_path / "answers" / "Emmy Noether.pdf").write_bytes(b"%PDF-1.4")
    rows = marks(attncalc, tmp_path)
    assert [row["possible"] for row in rows] == ["8"] * len(NAMES)
    assert [row["earned"] for row in rows[:4]] == ["8", "7", "6", "6"]
    assert rows[4]["earned"] == ""
    assert rows[4]["note"].startswith("answers/Emmy Noether.pdf: ")
    assert [row["earned"] for row in marks(attncalc, tmp_path, "--steps", "A,O")][:3] == [
        *("2", "2", "0"),
    ]


@pytest.mark.slow
def test_marks_have_the_decimals_that_are_asked_for(attncalc: Command, tmp_path: Path) -> None:
    students = made(attncalc, tmp_path)
    problem = json.loads((tmp_path / "set" / students[0]["problems"][0]["file"]).read_bytes())
    Q = right_answer(problem)["Q"]
    hand_in(tmp_path, students[0], Q=[["99.00", *Q[0][1:]], *Q[1:]])  # 1 of 6 entries
    for flags, earned in (
        ((), "7.8333"),
        (("--marks-decimals", "1"), "7.8"),
        (("--marks-decimals", "0"), "8"),
        (("--fractions",), "47/6"),
    ):
        assert marks(attncalc, tmp_path, *flags)[0]["earned"] == earned
    run = attncalc("check", "set", "answers", "--fractions", "--marks-decimals", "1")
    assert run.err == "error: --fractions and --marks-decimals together: give one of them\n"


def test_a_page_without_an_answer_any_more_is_named(attncalc: Command, tmp_path: Path) -> None:
    students = made(attncalc, tmp_path)
    for student in students[:2]:
        hand_in(tmp_path, student)
    first = marks(attncalc, tmp_path, "-o", "marked")
    assert marks(attncalc, tmp_path, "-o", "marked") == first
    assert len([*(tmp_path / "marked").iterdir()]) == 2  # and nothing about others beside them
    (tmp_path / "answers" / f"{students[1]['folder']}.json").unlink()
    run = attncalc("check", "set", "answers", "-o", "marked")
    assert f"{students[1]['folder']}.md: from an earlier run: this answer no longer" in run.err
    assert "1 page written to marked" in run.err


def test_pages_are_written_in_the_form_that_is_asked_for(attncalc: Command, tmp_path: Path) -> None:
    students = made(attncalc, tmp_path)
    hand_in(tmp_path, students[0])
    marks(attncalc, tmp_path, "-o", "marked", "--format", "latex")
    page = (tmp_path / "marked" / "Ada-Lovelace.tex").read_text(encoding="utf-8")
    assert page.startswith(r"\documentclass")
    assert "Student: Ada Lovelace" in page


@pytest.mark.parametrize(
    ("roster", "spec", "message"),
    [
        ("", "{}", "roster.csv: empty"),
        ("name,id\n", "{}", "roster.csv: this list is empty"),
        ("Ada,1\nBob,2\n", "{}", "roster.csv: head its columns with what they hold, in a first "
         "row: name, id, email"),
        ("name,id\nAda,1\n,2\n", "{}", "roster.csv: line 3: it has no name"),
        ("name,id\nAda,1\nBob,1\n", "{}", 'roster.csv: line 3: the id "1" is that of line 2 too: '
         "leave one of them out"),
        ("name\nAda\n", "[]", "spec.json: the specification is one JSON object, between { and }"),
        ("name\nAda\n", "{", "spec.json: not JSON at line 1, column 2: Expecting property name "
         "enclosed in double quotes"),
        ("name\nAda\n", "{}", 'spec.json: problems is a list of them, as [{"name": "1", '
         '"tokens": 3}]'),
        ("name\nAda\n", '{"problems": [{"tokens": 0}]}', 'spec.json: problem "1": tokens takes '
         "1 to 64, not 0"),
        ("name\nAda\n", '{"problems": [{"token": 3}], "seed": 1}', 'spec.json: problem "1": '
         '"token" is not an option of a new problem: '),
        ("name\nAda\n", '{"problems": [{}], "sed": 1}', 'spec.json: problem "1": "sed" is not '
         "an option of a new problem: "),
        *(
            ("name\nAda\n", f'{{"problems": [{{}}], "secret": {secret}}}', "spec.json: secret "
             "takes 32 hexadecimal digits or more, as manifest.json of a set has them: omit it "
             "for a new one")
            for secret in ("7", '"7"', '"' + "g" * 32 + '"', '"' + "a" * 33 + '"')
        ),
        ("name\nAda\n", '{"problems": [{}], "seed": "x"}', "spec.json: seed takes a whole number "
         'from 0, not "x"'),
        ("name\nAda\n", '{"problems": [{}], "formats": ["docx"]}', "spec.json: formats are some "
         "of "),
        ("name\nAda\n", '{"problems": [{"name": "a b"}, {"name": "A-B"}]}', "spec.json: two "
         'problems are named "a-b": use different names'),
        ("name\nAda\n", '{"problems": [{}], "problems": []}', 'spec.json: "problems" is given '
         "twice"),
        ("name\nAda\n", '{"problems": [{"asked": ["Z"]}]}', "problem 1, for Ada: asked names "),
        ("name\nAda\n", '{"problems": [{"entries": "0"}], "seed": 1}', "problem 1, for "
         "Ada: entries: of 0 every 3 × 4 matrix drawn had a row"),
    ],
)  # fmt: skip
def test_a_set_that_cannot_be_made_is_refused(
    roster: str, spec: str, message: str, attncalc: Command, tmp_path: Path
) -> None:
    (tmp_path / "roster.csv").write_text(roster)
    (tmp_path / "spec.json").write_text(spec)
    run = attncalc("new", "--class", "roster.csv", "--problems", "spec.json", "-o", "set")
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith(f"error: {message}")
    assert run.err.count("\n") == 1
    assert not (tmp_path / "set").exists()


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--class", "roster.csv"), "a set for a class takes --class and --problems: --problems "
         "is missing"),
        (("--problems", "spec.json"), "a set for a class takes --class and --problems: --class "
         "is missing"),
        (("--class", "roster.csv", "--problems", "spec.json"), "a set for a class is a folder: "
         "choose one, as -o set/"),
        (("--class", "roster.csv", "--problems", "spec.json", "-o", "there"), "there: it already "
         "exists: make the set in a new folder"),
        (("--class", "roster.csv", "--problems", "spec.json", "-o", "set", "--causal"),
         "--causal: the file of --problems defines the problems of a class: write it there"),
        (("--class", "roster.csv", "--problems", "spec.json", "-o", "set", "--no-tell-apart"),
         "--no-tell-apart: the file of --problems defines the problems of a class: write it there"),
        (("--class", "roster.csv", "--problems", "spec.json", "-o", "set", "--no-scale"),
         "--no-scale: the file of --problems defines the problems of a class: write it there"),
    ],
)  # fmt: skip
def test_flags_that_make_no_set_are_refused(
    flags: tuple[str, ...], message: str, attncalc: Command, tmp_path: Path
) -> None:
    (tmp_path / "roster.csv").write_text("name\nAda\n")
    (tmp_path / "spec.json").write_text(json.dumps(SPEC))
    (tmp_path / "there").mkdir()
    run = attncalc("new", *flags)
    assert (run.code, run.err) == (2, f"error: {message}\n")


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("answers", "--reading"), "--reading requires one problem: give it instead of the set"),
        (("answers", "--causal"), "--causal: each problem of a set defines it: omit the flag"),
        (("answers", "--no-scale"), "--no-scale: each problem of a set defines it"),
        (("answers", "--no-causal"), "--no-causal: each problem of a set defines it"),
        (("answers", "--title", "x"), "--title: each problem of a set defines it"),
        (("answers", "--W_Q", "1"), "--W_Q: each problem of a set defines it"),
        (("nowhere",), "nowhere: no such file or folder"),
        (("set",), "set: this is the set itself: name the folder of the answers"),
        (("answers", "--format", "json"), "json: choose a folder for the pages of a class,"),
        (("answers", "-o", "answers/marked"), "cannot write answers/marked: it is in answers, "
         "which was read: choose another place"),
        (("answers", "-o", "set"), "cannot write set: it is set, which was read: use another path"),
        (("answers", "--steps", "Z"), "--steps: "),
    ],
)  # fmt: skip
def test_a_set_that_cannot_be_marked_is_refused(
    flags: tuple[str, ...], message: str, attncalc: Command, tmp_path: Path
) -> None:
    (student,) = made(attncalc, tmp_path, "name\nAda\n")
    hand_in(tmp_path, student)
    run = attncalc("check", "set", *flags)
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith(f"error: {message}")


def test_a_new_problem_is_not_shared_among_cores(attncalc: Command) -> None:
    run = attncalc("new", "--jobs", "2")
    assert (run.code, run.out) == (2, "")
    assert run.err == "error: --jobs is for a set for a class: leave it out\n"


@pytest.mark.slow
def test_a_folder_of_answers_is_marked_alike_on_any_number_of_cores(
    attncalc: Command, tmp_path: Path
) -> None:
    assert attncalc("samples", "heads", "-o", "in.json").code == 0
    assert attncalc("self", "in.json", "-o", "right.json").code == 0
    right = (tmp_path / "right.json").read_text()
    (tmp_path / "answers").mkdir()
    for number in range(7):
        text = right if number % 3 else right.replace("0.5", "0.6")
        (tmp_path / "answers" / f"{number}.json").write_text(text)
    (tmp_path / "answers" / "8.json").write_text("{")
    called = ("check", "in.json", "answers", "--csv", "marks.csv", "-o", "pages/")
    runs = []
    for jobs in ("1", "2"):
        run = attncalc(*called, "--jobs", jobs)
        pages = {each.name: each.read_text() for each in (tmp_path / "pages").iterdir()}
        runs.append((run.code, run.out, (tmp_path / "marks.csv").read_text(), pages))
    assert runs[0] == runs[1]
    assert runs[0][0] == 1
    assert len(runs[0][3]) == 8


@pytest.mark.parametrize(
    "changed",
    [
        '{"students": []}',
        '{"students": [{"name": "Ada", "folder": "../..", "problems": []}]}',
        '{"students": [{"name": "Ada", "folder": "Ada", "problems": [{"problem": "1", '
        '"file": "Ada/../../in.json"}]}]}',
        '{"students": [{"name": 3, "folder": "Ada", "problems": []}]}',
        '{"students": 3}',
    ],
)
def test_a_list_of_a_set_that_is_none_is_refused(
    changed: str, attncalc: Command, tmp_path: Path
) -> None:
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "manifest.json").write_text(changed)
    run = attncalc("check", "set", "set")
    assert (run.code, run.out) == (2, "")
    assert run.err == (
        "error: set/manifest.json: not the list that attncalc new --class writes with a set\n"
    )


def test_the_python_call_equals_the_command(attncalc: Command) -> None:
    shown = json.loads(attncalc("new", "--tokens", "2", "--seed", "4").out)
    problem = new(4, tokens=2)
    assert problem.as_typed("X").astype(int).tolist() == shown["X"]
    assert problem.made_by == shown["made_by"]
    sibling = new(5, again=problem)
    assert sibling.as_typed("X").shape == problem.as_typed("X").shape
    with pytest.raises(InputError, match='"token" is not an option of a new problem'):
        new(1, token=3)
    with pytest.raises(InputError, match="seed takes a whole number from 0, not -1"):
        new(-1)


def test_a_new_folder_is_filled_with_folders_or_not_at_all(tmp_path: Path) -> None:
    def text() -> Any:
        yield "a"
        raise OSError(28, "No space left on device")

    place = tmp_path / "new"
    files = {place / "a" / "b" / "c.txt": "c", place / "d.txt": text()}
    with pytest.raises(OutputError, match="No space left"):
        write_files(files, folder=place)
    assert list(tmp_path.iterdir()) == []
    write_files({**files, place / "d.txt": "d"}, folder=place)
    assert (place / "a" / "b" / "c.txt").read_text() == "c"
    assert [path.name for path in tmp_path.iterdir()] == ["new"]


def doubled(number: int) -> int:
    if number == 99:
        raise InputError("99")
    return 2 * number


@pytest.mark.slow
def test_shared_work_is_returned_in_order_with_errors() -> None:
    assert list(mapped(doubled, range(20), 3)) == [2 * n for n in range(20)]
    with pytest.raises(InputError, match="99"):
        list(mapped(doubled, range(90, 110), 2))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGKILL"])
@pytest.mark.parametrize("after", [0.7, 1.5])
def test_an_interrupted_set_leaves_no_files_and_no_processes(
    name: str, after: float, tmp_path: Path
) -> None:
    """Neither files, nor workers that go on without the run that shares out their work."""
    (tmp_path / "roster.csv").write_text("name\n" + "".join(f"S {i}\n" for i in range(200)))
    (tmp_path / "spec.json").write_text(json.dumps(SPEC))
    called = ("new", "--class", "roster.csv", "--problems", "spec.json", "-o", "set", "--jobs", "2")
    run = subprocess.Popen(
        [sys.executable, "-m", "attncalc", *called],
        cwd=tmp_path,
        env=clean_environment() | {"PYTHONPATH": os.environ.get("PYTHONPATH", "")},
        stderr=subprocess.PIPE,
        start_new_session=True,
        # a shell starts what it runs in the background with SIGINT ignored
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    time.sleep(after)
    os.kill(run.pid, getattr(signal, name))
    run.communicate(timeout=60)  # which waits for all who hold standard error open
    assert run.returncode != 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["roster.csv", "spec.json"]


@pytest.mark.parametrize(
    "heading", ["Número", "número de aluno", "Numéro", "Nummer", "番号", "id number"]
)
def test_a_column_of_numbers_is_that_of_ids(heading: str, tmp_path: Path) -> None:
    text = f"name;{heading};email\nAna Sousa;2001;ana@x.org\n"
    (tmp_path / "class.csv").write_text(text, encoding="utf-8")
    found = read_roster(tmp_path / "class.csv")
    assert (found.students[0].id, found.notes) == ("2001", ())


def test_what_stands_beside_the_problems_applies_to_each(
    attncalc: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("roster.csv").write_text("name\nAda\n")
    problems = [{"name": "1"}, {"name": "2", "tokens": 2}]
    spec = {"problems": problems, "tokens": 3, "language": "de", "formats": ["markdown"]}
    Path("spec.json").write_text(json.dumps(spec))
    new = ("new", "--class", "roster.csv", "--problems")
    assert attncalc(*new, "spec.json", "-o", "set").code == 0
    made = [json.loads(Path(f"set/Ada/{name}/problem.json").read_text()) for name in "12"]
    assert [each["language"] for each in made] == ["de", "de"]
    assert [len(each["X"]) for each in made] == [3, 2]
    assert attncalc(*new, "set/manifest.json", "-o", "again").code == 0
    assert Path("again/manifest.json").read_text() == Path("set/manifest.json").read_text()
