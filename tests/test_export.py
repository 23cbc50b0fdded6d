"""Problems for the systems of courses: what they are given is read as these systems read it."""

import io
import json
import os
import re
import subprocess
import sys
import zipfile
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from conftest import GOOD, Command

from attncalc import Problem, check, read_problem, solve
from attncalc.exporting import gradescope, handed_in, typed_in
from attncalc.exporting.alone import accepted_alone
from attncalc.exporting.rules import Course, course_of
from attncalc.exporting.wheels import wheel_of_attncalc, wheel_of_numpy
from attncalc.grading.key import key_of
from attncalc.grading.rules import Rules
from attncalc.languages.catalogue import LANGUAGES, catalogue
from attncalc.problem.samples import sample

HOSTILE = {
    "title": "{1:NUMERICAL:=5} {#1} {{feedback}} $x$ \\(y\\) <script>a()</script> ]]> &amp; 'q' \" "
    "\x00\x1b\ud800\ufffe\uffff",
    "labels": ["</td><b>", "{1:SA:=x}", "~%100%#}"],
}
"""Texts that mean something to one of the systems."""

# -- Gradescope -----------------------------------------------------------------------------------

PATH = os.environ["PATH"]
Done = subprocess.CompletedProcess[str]
SYSTEM_PYTHON = Path("/usr/bin/python3.11")


@pytest.fixture
def autograder(attncalc: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a made-up /autograder with the zip in it, set up with the Python of the tests."""
    monkeypatch.setattr(gradescope, "wheel_of_numpy", lambda: None)  # slow, and numpy is here
    assert attncalc(
        "export", str(sample("self").path), "--to", "gradescope", "--points", "12", "-o", "a.zip"
    ).code in (0,)
    return unpacked(tmp_path / "a.zip", tmp_path / "autograder")


def unpacked(archive: Path, root: Path) -> Path:
    """Lay a zip out as Gradescope does."""
    for name in ("source", "submission", "results"):
        (root / name).mkdir(parents=True)
    with zipfile.ZipFile(archive) as inside:
        inside.extractall(root / "source")
        rights = {each.filename: each.external_attr >> 16 for each in inside.infolist()}
    assert rights["setup.sh"] == rights["run_autograder"] == 0o755
    (root / "run_autograder").write_bytes((root / "source" / "run_autograder").read_bytes())
    return root


def run(root: Path, script: str, path: str = PATH) -> Done:
    """Run one of the two scripts, with nothing of this environment but where programs are."""
    return subprocess.run(
        ["bash", str(root / script)],
        env={"PATH": path, "AUTOGRADER_ROOT": str(root)},
        cwd=root,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def graded(root: Path) -> dict[str, Any]:
    """Run the autograder as for a submission, and return results.json."""
    done = run(root, "run_autograder")
    assert done.returncode == 0
    return dict(json.loads((root / "results" / "results.json").read_text(encoding="utf-8")))


@pytest.mark.slow
def test_an_autograder_marks_each_step_as_check_does(autograder: Path) -> None:
    """One sign is lost in Q: its entry alone costs, and each step is worth 2 of 12."""
    (autograder / "source" / "python").write_text(sys.executable)
    lib = autograder / "source" / "lib"
    with zipfile.ZipFile(next((autograder / "source" / "wheels").glob("*.whl"))) as wheel:
        wheel.extractall(lib)
    (autograder / "submission" / "mine.tex").write_bytes(sample("lost-sign").path.read_bytes())
    told = graded(autograder)
    scores = {test["name"]: (test["score"], test["max_score"]) for test in told["tests"]}
    assert scores == {
        "Q: queries": (pytest.approx(2 * 5 / 6, abs=1e-6), 2),
        "K: keys": (2, 2),
        "V: values": (2, 2),
        "S: scores": (2, 2),
        "A: attention weights": (2, 2),
        "O: outputs": (2, 2),
    }
    assert told["score"] == pytest.approx(12 - 2 / 6, abs=1e-6)
    first = told["tests"][0]
    assert first["status"] == "failed"
    assert first["output"].startswith(
        "The first mistake in it is in Q, row 3, column 2: Q[3,2] is -2.00, not 2."
    )
    assert first["output"].endswith("Possible cause: its sign is lost.")
    assert told["tests"][3]["output"] == "3 of 9 are correct given your earlier values."
    assert told["output"].startswith("Read from mine.tex.\nThe first mistake is in Q")

    (autograder / "source" / "rules.json").write_text("{")  # not a mistake of a student
    told = graded(autograder)
    assert (told["score"], told["tests"]) == (0, [])
    assert told["output"].startswith("This could not be marked. It is not your fault")

    (autograder / "source" / "grade.py").write_text("import os; os.abort()\n")
    told = graded(autograder)
    assert told["score"] == 0
    assert "the autograder was ended before it was done" in told["output"]


@pytest.mark.slow
@pytest.mark.skipif(
    not SYSTEM_PYTHON.exists() or sys.version_info[:2] != (3, 11),
    reason="there is no second Python of this version here",
)
def test_an_autograder_needs_nothing_that_is_not_in_it(attncalc: Command, tmp_path: Path) -> None:
    """The system's Python has no numpy, and the PATH nothing that could fetch one."""
    if wheel_of_numpy() is None:
        pytest.skip("numpy is for no machine of a course here")
    attncalc("export", str(sample("self").path), "--to", "gradescope", "-o", "a.zip")
    root = unpacked(tmp_path / "a.zip", tmp_path / "autograder")
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("bash", "cat", "mkdir", "rm"):
        (programs / name).symlink_to(f"/bin/{name}")
    (programs / "python3.11").symlink_to(SYSTEM_PYTHON)
    done = run(root, "source/setup.sh", str(programs))
    assert (done.returncode, done.stdout) == (0, "attncalc is set up.\n")
    (root / "submission" / "hand.json").write_bytes(sample("hand").path.read_bytes())
    assert graded(root)["score"] == 6


def rows(step: str) -> bytes:
    """Return the right rows of a step of homework 1 as text."""
    shown = solve(read_problem(sample("self").path)).shown(step)
    return f"[{'; '.join(map(' '.join, shown))}]".encode()


def told_of(tmp_path: Path, files: dict[str, bytes], **rules: Any) -> dict[str, Any]:
    """Return the results for files that are handed in for homework 1."""
    source, submission = tmp_path / "source", tmp_path / "submission"
    source.mkdir(exist_ok=True)
    problem = read_problem(sample("self").path)
    course = course_of(key_of(problem, Rules(**rules)), Rules(**rules), Fraction(12))
    (source / "problem.json").write_bytes(sample("self").path.read_bytes())
    (source / "rules.json").write_text(handed_in_course(course))
    for name, content in files.items():
        place = submission / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    submission.mkdir(exist_ok=True)
    return dict(json.loads(handed_in.results(source, submission)))


def handed_in_course(course: Course) -> str:
    from attncalc.exporting.rules import write_course

    return write_course(course)


HAND = sample("hand").path.read_bytes()
REFUSED = [
    ({}, handed_in.NOTHING),
    ({".git/config": b"x", "__MACOSX/a.json": HAND}, handed_in.NOTHING),
    ({"a.md": b""}, "a.md: empty"),
    ({"a.md": b"hello"}, "a.md: no step is found in it"),
    ({"a.pdf": b"%PDF-1.4"}, "a.pdf: a PDF cannot be read: type the matrices into a text, as "),
    ({"a.txt": b"\xff\x00\x81"}, "a.txt: not text in UTF-8 (line 1): save it as UTF-8, "),
    ({"deep/a.json": b"[" * 5000}, "deep/a.json: "),
    (
        {"a.json": HAND, "b.json": HAND},
        "2 files contain an answer (a.json and b.json): submit only one",
    ),
]


@pytest.mark.parametrize(("files", "why"), REFUSED, ids=lambda each: str(each)[:30])
def test_an_unmarkable_submission_earns_0_with_an_explanation(
    tmp_path: Path, files: dict[str, bytes], why: str
) -> None:
    told = told_of(tmp_path, files)
    assert told["output"].startswith(why)
    assert told["score"] == 0
    assert [(test["score"], test["max_score"]) for test in told["tests"]] == [(0, 2)] * 6
    for words in map(catalogue, LANGUAGES if "deep" not in why else ()):
        assert words.said(told["output"], strict=True), words.language


def test_a_step_may_be_left_out_as_in_check_unless_it_is_asked_for_by_name(tmp_path: Path) -> None:
    text = b"S = " + rows("S") + b"\nO = " + rows("O")
    told = told_of(tmp_path, {"a.txt": text})
    assert told["score"] == 12
    assert told["tests"][4]["output"] == "A is not shown; O is right."
    marked = check(sample("self").path, tmp_path / "submission" / "a.txt")
    assert marked.score.earned == marked.score.possible
    assert told_of(tmp_path, {"a.txt": text}, asked=("S", "A", "O"))["score"] == 8


def test_an_answer_is_found_in_any_folder(tmp_path: Path) -> None:
    files = {"hw/1/mine.json": HAND, "hw/notes.pdf": b"%PDF", ".DS_Store": b"x"}
    assert told_of(tmp_path, files)["score"] == 12


def test_a_link_leads_a_student_nowhere(tmp_path: Path) -> None:
    told_of(tmp_path, {})
    (tmp_path / "away.json").write_bytes(HAND)
    (tmp_path / "submission" / "mine.json").symlink_to(tmp_path / "away.json")
    told = told_of(tmp_path, {})
    assert (told["score"], told["output"]) == (
        0,
        "mine.json: a link, which is not followed: put the file itself there",
    )


def test_possible_points_do_not_depend_on_an_answer(tmp_path: Path) -> None:
    """The weights are asked for, and those of a step count as the rules say."""
    rules = {"asked": ("Q", "A"), "weights": {"A": Fraction(3)}}
    told = told_of(tmp_path, {"a.json": b'{"Q": [[1, 3], [-1, 1], [2.5, -2]]}'}, **rules)
    earned = [(test["name"], test["score"], test["max_score"]) for test in told["tests"]]
    assert earned == [("Q: queries", 3, 3), ("A: attention weights", 0, 9)]
    assert (told["score"], told["tests"][1]["output"]) == (3, "Not found.")


def test_the_lines_of_the_map_are_a_separate_test(tmp_path: Path) -> None:
    """Output 1 goes to input 3, as the largest weight of its row does; the others are not drawn."""
    drawn = {"connections": [{"output": "1", "most": ["3"]}]}
    files = {"a.json": json.dumps(json.loads(HAND) | drawn).encode()}
    told = told_of(tmp_path, files, asked=("A", "connections"))
    names = [test["name"] for test in told["tests"]]
    assert names == ["A: attention weights", "connections: the map"]
    assert [test["max_score"] for test in told["tests"]] == [6, 6]
    assert 0 < told["tests"][1]["score"] < 6
    assert "On the map, the lines of output 2 are missing" in told["tests"][1]["output"]


@pytest.mark.slow
def test_the_wheel_is_one_that_a_program_can_import(tmp_path: Path) -> None:
    """Each file is listed in its RECORD, which pip checks."""
    wheel = wheel_of_attncalc()
    assert wheel == wheel_of_attncalc()
    archive = zipfile.ZipFile(io.BytesIO(wheel.content))
    record = next(name for name in archive.namelist() if name.endswith("/RECORD"))
    listed = [line.split(",")[0] for line in archive.read(record).decode().splitlines()]
    assert sorted(listed) == sorted(archive.namelist())
    assert {"attncalc/__init__.py", "attncalc/samples/self.json"} <= set(listed)
    assert not [name for name in listed if "__pycache__" in name]


# -- Moodle ---------------------------------------------------------------------------------------

NUMBER = r"-?(?:[0-9]+[.,]?[0-9]*|[.,][0-9]+)(?:[eE][-+]?[0-9]+)?"
GAP = re.compile(
    r"\{([0-9]*):(?:(NUMERICAL|NM)|(?:MULTICHOICE|MC)\w*|(?:SHORTANSWER|SA|MW)\w*):"
    r"(=?)([^~#}]+)((?:~=[^~#}]+)*)\}"
)
"""A gap, as `qtype_multianswer_extract_question` looks for it."""
CHOICE = re.compile(r"\{1:MULTICHOICE:(?:[^}\\]|\\.)*\}")
"""A drop-down for a line of the map."""


def gaps_of(xml: str) -> list[list[tuple[float, float]]]:
    """Return the answers of each gap with their tolerances, as Moodle reads them."""
    quiz = ElementTree.fromstring(xml)
    (question,) = quiz.findall("question")
    assert question.get("type") == "cloze"
    return gaps_in(question)


def gaps_in(question: ElementTree.Element) -> list[list[tuple[float, float]]]:
    text = CHOICE.sub("", question.findtext("questiontext/text") or "")
    found = []
    for norm, kind, sign, answer, others in GAP.findall(text):
        assert (norm, kind, sign) == ("1", "NUMERICAL", "=")
        numbers = [
            re.fullmatch(f"({NUMBER}):({NUMBER})", each) for each in (answer + others).split("~=")
        ]
        found.append([(float(each[1]), float(each[2])) for each in numbers if each])
        assert len(found[-1]) == len(numbers)
    rest = GAP.sub("", text)
    assert not re.search(r"[{}$\\]|\]\]>|@@|<script", rest)
    ElementTree.fromstring(f"<div>{rest}</div>")  # each element is closed
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", ["self", "cross", "heads", "columns", "sentence", "encoder"])
def test_a_question_of_moodles_has_a_gap_for_each_entry(attncalc: Command, name: str) -> None:
    done = attncalc("export", str(sample(name).path), "--to", "moodle")
    assert done.code == 0
    assert "Moodle marks each gap separately: a mistake costs points" in done.err
    problem = read_problem(sample(name).path)
    solution = solve(problem)
    asked = problem.asked or [step.name for step in solution.plan if not step.is_between]
    other = "display" if problem.rounding == "each-step" else "each-step"
    rules = solution, solve(replace(problem, rounding=other))
    one, two = ([float(x) for s in asked for x in flat(each.shown(s))] for each in rules)
    gaps = gaps_of(done.out)
    assert [gap[0][0] for gap in gaps] == one
    for gap, *values in zip(gaps, one, two, strict=True):
        assert all(accepts(gap, value) for value in values)
    if problem.rounding == "each-step" and problem.block == "attention":
        exact = sum(len(flat(solution.shown(name))) for name in "QKV")
        assert all(
            sum(room for _, room in gap) == pytest.approx(0.5 * 10.0**-problem.decimals)
            for gap, value in zip(gaps[:exact], one, strict=False)
            if len(gap) == 1
        )


def accepts(gap: list[tuple[float, float]], value: float) -> bool:
    """Whether Moodle gives marks: qtype_numerical_answer::within_tolerance, nominal."""
    return any(abs(value - right) <= room + 1e-14 * max(1, abs(right)) for right, room in gap)


def flat(nested: Any) -> list[str]:
    return [nested] if isinstance(nested, str) else [text for each in nested for text in flat(each)]


@pytest.mark.slow
@pytest.mark.parametrize("to", ["moodle", "prairielearn"])
def test_texts_of_a_problem_stay_texts(attncalc: Command, tmp_path: Path, to: str) -> None:
    """They become neither a gap, nor a template, nor mathematics, nor an element."""
    (tmp_path / "in.json").write_text(json.dumps(GOOD | HOSTILE))
    plain = attncalc("export", str(sample("self").path), "--to", to, "-o", "plain")
    assert plain.code == 0
    labelled = json.loads((tmp_path / "in.json").read_text())
    tokens = len(labelled["X"])
    labelled["labels"] = HOSTILE["labels"][:tokens]
    (tmp_path / "in.json").write_text(json.dumps(labelled))
    done = attncalc("export", "in.json", "--to", to, "-o", "out")
    assert done.code == 0, done.err
    if to == "moodle":
        gaps = gaps_of((tmp_path / "out").read_text(encoding="utf-8"))
        solution = solve(Problem(**GOOD))
        steps = [step.name for step in solution.plan if not step.is_between]
        wanted = [text for step in steps for text in flat(solution.shown(step))]
        assert len(gaps) == len(wanted)
    else:
        page = (tmp_path / "out" / "question.html").read_text(encoding="utf-8")
        ours = "{{#feedback.verdict}}<p>{{.}}</p>\n{{/feedback.verdict}}"
        assert ours in page
        assert not re.search(r"[{}$\\]|<script|<b>", page.replace(ours, ""))


def test_entries_that_no_gap_accepts_are_refused(attncalc: Command, tmp_path: Path) -> None:
    causal = str(sample("causal").path)
    steps = [step.name for step in solve(read_problem(causal)).plan]
    infinite = next(name for name in steps if "mask" in name)
    done = attncalc("export", causal, "--to", "moodle", "--steps", f"Q,{infinite}")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        f"error: {infinite} has -inf, which a Moodle gap cannot contain: use --steps Q\n"
    )
    many = [[1] * 31 for _ in range(31)]
    (tmp_path / "many.json").write_text(json.dumps({"Q": many, "K": many, "V": many}))
    for to, system in (("moodle", "Moodle"), ("prairielearn", "PrairieLearn")):
        done = attncalc("export", "many.json", "--to", to, "--steps", "A", "-o", "out")
        assert (done.code, done.out) == (2, "")
        assert done.err == (
            f"error: 961 entries are required, but a question in {system} takes at most "
            "900: reduce the steps with --steps\n"
        )


SAID = [
    ("moodle --weight Q=2", "--weight: Moodle marks each entry alone, and counts it as 1"),
    (
        "moodle --follow-penalty 1/2",
        "--follow-penalty: Moodle marks each entry alone, and counts it as 1",
    ),
    ("moodle --points 2", "--points: in Moodle they are set where the question is used"),
    ("moodle --steps Q,Z", None),
    ("gradescope", "a problem for Gradescope is a zip: name its file with --out"),
    ("prairielearn", "a problem for PrairieLearn is a folder: name it with --out"),
    ("moodle -o quiz.zip", 'quiz.zip: a file for Moodle ends in .xml, not in ".zip"'),
    ("numbas -o a.json", 'a.json: a file for Numbas ends in .exam, not in ".json"'),
    ("gradescope -o a.tar.gz", 'a.tar.gz: a file for Gradescope ends in .zip, not in ".gz"'),
    ("gradescope -o a.zip --points x", '--points: "x" is not a number'),
    ("gradescope -o a.zip --points 0", "--points takes a number above 0"),
    (
        "gradescope -o a.zip --steps Q --weight Q=0",
        "no required step counts: give a step a --weight above 0",
    ),
]


@pytest.mark.parametrize(("words", "said"), SAID)
def test_unsupported_features_of_a_system_are_reported(
    attncalc: Command, tmp_path: Path, words: str, said: str | None
) -> None:
    done = attncalc("export", str(sample("self").path), "--to", *words.split())
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: ")
    assert said is None or done.err == f"error: {said}\n"
    assert not list(tmp_path.iterdir())


def class_set(attncalc: Command, tmp_path: Path, **spec: Any) -> Path:
    (tmp_path / "roster.csv").write_text('name\nAda Byron\n"]]>{1:SA:=x}"\nBob\n')
    (tmp_path / "spec.json").write_text(
        json.dumps({"problems": [{"name": "1"}, {"name": "a/b", "asked": ["Q", "O"]}], **spec})
    )
    made = ("new", "--class", "roster.csv", "--problems", "spec.json", "--seed", "5")
    assert attncalc(*made, "-o", "set").code == 0
    return tmp_path / "set"


@pytest.mark.slow
def test_a_class_set_is_one_quiz_of_a_category_for_each_problem(
    attncalc: Command, tmp_path: Path
) -> None:
    place = class_set(attncalc, tmp_path)
    run = attncalc("export", "set", "--to", "moodle", "-o", "quiz.xml")
    assert run.code == 0, run.err
    assert "2 problems in 3 versions: a category for each problem" in run.err
    found = ElementTree.parse(tmp_path / "quiz.xml").getroot().findall("question")
    kinds = [each.get("type") for each in found]
    assert kinds == ["category", *["cloze"] * 3] * 2
    names = [found[at].findtext("category/text") for at in (0, 4)]
    assert names == ["$course$/top/attncalc, problem 1", "$course$/top/attncalc, problem a//b"]
    students = json.loads((place / "manifest.json").read_text())["students"]
    for number, steps in enumerate((("Q", "K", "V", "S", "A", "O"), ("Q", "O"))):
        for student, question in zip(students, found[4 * number + 1 :], strict=False):
            assert (question.findtext("name/text") or "").endswith(f" ({student['name']})")
            solution = solve(read_problem(place / student["problems"][number]["file"]))
            right = [v for step in steps for row in solution.shown(step) for v in row]
            assert [gap[0][0] for gap in gaps_in(question)] == [float(value) for value in right]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ("gradescope -o a.zip", "a.zip: an assignment in Gradescope has one problem, and the set "
         "has 2: name a folder for their zips, as -o autograders/"),
        ("moodle --causal", "--causal: each problem of a set defines it: omit the flag"),
        ("numbas", "\"a{b}\": Numbas takes { } $ \\ for parts of a formula: give the title or the "
         "token another name"),
    ],
)  # fmt: skip
def test_class_sets_that_a_system_cannot_hold_are_refused(
    flags: str, said: str, attncalc: Command, tmp_path: Path
) -> None:
    class_set(attncalc, tmp_path, problems=[{"title": "a{b}"}, {"name": "2"}])
    run = attncalc("export", "set", "--to", *flags.split())
    assert (run.code, run.out, run.err) == (2, "", f"error: {said}\n")


ROSTER = "name,id,email\nAda,1017,ada@x.org\nBlaise,1018,b@x.org\n"


def numbered_set(attncalc: Command, tmp_path: Path, problems: int = 1, **asked: Any) -> list[Path]:
    """Make a set, and return the problem of each of two students, or those of the first."""
    (tmp_path / "roster.csv").write_text(ROSTER)
    spec = {"problems": [asked] * problems, "formats": [], "secret": "07" * 16, "seed": 12}
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    made = ("new", "--class", "roster.csv", "--problems", "spec.json", "-o", "set")
    run = attncalc(*made)
    assert run.code == 0, run.err
    students = json.loads((tmp_path / "set" / "manifest.json").read_text())["students"]
    return [tmp_path / "set" / each["file"] for who in students for each in who["problems"]]


def right_of(file: Path) -> dict[str, Any]:
    solution = solve(read_problem(file))
    return {step.name: solution.shown(step.name) for step in solution.plan}


@pytest.mark.slow
def test_an_autograder_of_a_class_marks_each_student_by_their_own_problem(
    attncalc: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gradescope, "wheel_of_numpy", lambda: None)
    ada, blaise = numbered_set(attncalc, tmp_path)
    steps = ("--steps", "Q,K,V,S,A,O", "--points", "6")
    run = attncalc("export", "set", "--to", "gradescope", *steps, "-o", "a.zip")
    assert run.code == 0, run.err
    assert "each student is marked by their own, found by id, e-mail address or name" in run.err
    root = unpacked(tmp_path / "a.zip", tmp_path / "autograder")

    def marked(file: Path, *users: dict[str, Any]) -> dict[str, Any]:
        (root / "submission_metadata.json").write_text(json.dumps({"users": users}))
        (root / "submission" / "mine.json").write_text(json.dumps(right_of(file)))
        return dict(json.loads(handed_in.results(root / "source", root / "submission")))

    for user in (
        {"sid": "1017", "email": "b@x.org"},
        {"sid": None, "email": "ADA@x.org"},
        {"email": "ada@other.org", "name": "Ada"},
    ):
        assert marked(ada, user)["score"] == 6
        assert marked(blaise, user)["score"] < 6
    code = json.loads(blaise.read_text())["code"]
    (root / "submission" / "mine.json").unlink()
    (root / "submission" / "a.md").write_text(f"Code {code}\nQ = [1 2; 3 4; 5 6]\n")
    told = json.loads(handed_in.results(root / "source", root / "submission"))
    own = json.loads(ada.read_text())["code"]
    assert told["output"] == f"a.md: it has the code {code}, but {own} is that of this problem"
    (root / "submission" / "a.md").unlink()
    stranger = {"name": "Zoe", "email": "z@x.org"}
    for users in ((stranger,), (), ({"name": "Ada"}, {"name": "Blaise"})):
        told = marked(ada, *users)
        assert told["score"] == 0
        assert told["output"].startswith("The class list has no problem, or several, for ")
        assert "1017" not in told["output"]


@pytest.mark.slow
def test_several_problems_of_a_class_are_several_autograders(
    attncalc: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gradescope, "wheel_of_numpy", lambda: None)
    numbered_set(attncalc, tmp_path, 2)
    run = attncalc("export", "set", "--to", "gradescope", "-o", "zips")
    assert run.code == 0, run.err
    assert sorted(each.name for each in (tmp_path / "zips").iterdir()) == ["1.zip", "2.zip"]


@pytest.mark.slow
def test_a_prairielearn_question_of_a_class_selects_a_version_by_the_seed(
    attncalc: Command, tmp_path: Path
) -> None:
    files = numbered_set(attncalc, tmp_path)
    run = attncalc("export", "set", "--to", "prairielearn", "--steps", "Q,K,V,S,A,O", "-o", "q")
    assert run.code == 0, run.err
    home, seen = str(tmp_path / "q"), set()
    for seed in range(4):
        version = typed_in.version_of(home, seed)
        file = files[int(version) - 1]
        right = typed_in.correct_answers(home, version)
        assert typed_in.marked(home, right, version)["score"] == 1
        assert [float(x) for x in right.values()] == [
            float(x) for name in "QKVSAO" for x in flat(right_of(file)[name])
        ]
        statement = typed_in.statement_of(home, version)
        given = [f">{x:g}<" for x in map(float, read_problem(file).as_typed("X").flat)]
        assert all(each in statement for each in given)
        seen.add(version)
    assert seen == {"1", "2"}
    page = (tmp_path / "q" / "question.html").read_text()
    assert page.startswith("{{{params.statement}}}")


def test_students_of_a_prairielearn_question_have_words_of_their_own(
    attncalc: Command, tmp_path: Path
) -> None:
    asked = ["A", "connections"]
    files = numbered_set(attncalc, tmp_path, words=True, asked=asked)
    run = attncalc("export", "set", "--to", "prairielearn", "-o", "q")
    assert run.code == 0, run.err
    words = [read_problem(file).labels for file in files]
    assert words[0] != words[1]
    for number, names in enumerate(words, 1):
        page = typed_in.statement_of(str(tmp_path / "q"), str(number))
        options = re.findall(r"<pl-answer[^>]*>(.*?)</pl-answer>", page)
        assert options == [*names, "none"] * 6


@pytest.mark.slow
def test_what_students_get_holds_no_key_and_no_other_student(
    attncalc: Command, tmp_path: Path
) -> None:
    """Search each file for rows of the key, and for names, ids, addresses, seeds and the secret."""
    (tmp_path / "roster.csv").write_text("name,id,email\nAda,1017,a@x.org\nBlaise,1018,b@x.org\n")
    spec = {"problems": [{"d_k": 2}], "formats": ["markdown", "latex", "html"]}
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    made = ("new", "--class", "roster.csv", "--problems", "spec.json", "-o", "set")
    assert attncalc(*made).code == 0
    listed = json.loads((tmp_path / "set" / "manifest.json").read_text())
    students, seeds = listed["students"], [listed["secret"]]
    for student in students:
        seeds += [each["seed"] for each in student["problems"]]
    rows: list[str] = []
    for own, other in (students, students[::-1]):
        folder = tmp_path / "set" / own["folder"]
        problem = str(folder / "problem.json")
        practice = ("self", problem, "--practice", "-o", str(folder / "practice.html"))
        assert attncalc(*practice).code == 0
        solution = solve(read_problem(problem))
        shown = [row for name in ("A", "O") for row in solution.shown(name)]
        rows += [r"[^0-9.]+".join(map(re.escape, row)) for row in shown]
        for file in folder.iterdir():
            text = file.read_text(encoding="utf-8")
            assert not any(other[each] in text for each in ("name", "id", "email")), file
            assert not any(re.search(row, text) for row in rows), file
            assert not any(each in text for each in seeds), file
    assert attncalc("export", "set", "--to", "numbas", "-o", "class.exam").code == 0
    assert attncalc("export", "set", "--to", "prairielearn", "-o", "q").code == 0
    of_browsers = [tmp_path / "class.exam", tmp_path / "q" / "question.html"]
    for file in (*of_browsers, *(tmp_path / "q" / "versions").iterdir()):
        text = file.read_text(encoding="utf-8")
        told = [each[name] for each in students for name in ("name", "email")]
        assert not any(each in text for each in (*told, *seeds)), file
        assert not any(re.search(row, text) for row in rows), file


# -- PrairieLearn ---------------------------------------------------------------------------------

INFO = {
    "uuid": r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    "type": "v3",
    "gradingMethod": "Internal|External|Manual",
}
"""What the schema of PrairieLearn asks of these properties of info.json; it needs four of them."""
PROPERTIES = {
    "uuid": str,
    "type": str,
    "title": str,
    "topic": str,
    "tags": list,
    "gradingMethod": str,
    "singleVariant": bool,
    "partialCredit": bool,
}


@pytest.fixture(params=["self", pytest.param("heads", marks=pytest.mark.slow)])
def question(request: pytest.FixtureRequest, attncalc: Command, tmp_path: Path) -> Path:
    """Return a question of PrairieLearn's, and for which problem it is."""
    given = sample(request.param).path
    steps = ",".join(step.name for step in solve(read_problem(given)).plan if not step.is_between)
    to = ("--to", "prairielearn", "--steps", steps, "-o", "question/")
    assert attncalc("export", str(given), *to).code == 0
    return tmp_path / "question"


@pytest.mark.slow
def test_info_is_valid_by_its_schema(question: Path, attncalc: Command) -> None:
    info = json.loads((question / "info.json").read_text(encoding="utf-8"))
    assert {name: type(value) for name, value in info.items()} == PROPERTIES
    assert all(re.fullmatch(pattern, info[name]) for name, pattern in INFO.items())


IN_PRAIRIELEARN = """
import json, sys
folder, typed = sys.argv[1:]
server = {}
exec(compile(open(folder + "/server.py").read(), "server.py", "exec"), server)
data = {"options": {"question_path": folder}, "correct_answers": {}, "feedback": {}}
data |= {"params": {}, "variant_seed": 12345}
server["generate"](data)
right = dict(data["correct_answers"])
told = []
for each in json.loads(typed):
    data["submitted_answers"] = right | each if each is not None else {}
    server["grade"](data)
    told.append([data["score"], data["feedback"]["verdict"], data["partial_scores"]])
import attncalc
print(json.dumps([right, told, attncalc.__file__]))
"""


def test_a_question_marks_from_the_students_own_values(question: Path) -> None:
    """Run as PrairieLearn does, from the wheel in the folder and from nowhere else."""
    problem = read_problem(question / "problem.json")
    has_heads = solve(problem)["Q"].ndim == 3
    name = "Q_h1_1_1" if has_heads else "Q_1_1"
    steps = [step.name for step in solve(problem).plan if not step.is_between]
    typed = [{}, {name: "1000"}, {name: ""}, {name: "{{x}} <b>"}, None]
    done = subprocess.run(
        [sys.executable, "-c", IN_PRAIRIELEARN, str(question), json.dumps(typed)],
        cwd=question,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    right, told, home = json.loads(done.stdout)
    assert home.startswith(str(question / "attncalc.whl"))
    page = (question / "question.html").read_text(encoding="utf-8")
    assert re.findall(r'answers-name="(\w+)"', page) == list(right)
    assert [float(text) for text in right.values()] == [
        float(text) for step in steps for text in flat(solve(problem).shown(step))
    ]
    (all_right, wrong, blank, hostile, none) = told
    assert all_right[0] == 1
    assert wrong[2][name]["score"] == blank[2][name]["score"] == hostile[2][name]["score"] == 0
    shares = [each["score"] for field, each in blank[2].items() if field != name]
    assert shares == [1] * len(shares)
    entries = len([field for field in right if field.startswith("Q_")])
    assert blank[0] == pytest.approx(1 - 1 / entries / len(steps))
    answer = {step: solve(problem).shown(step) for step in steps}
    first = answer["Q"][0] if has_heads else answer["Q"]
    first[0][0] = "1000"
    marking = check(problem, answer, asked=tuple(steps))
    assert wrong[:2] == [
        pytest.approx(float(marking.score.earned / marking.score.possible)),
        list(marking.verdict),
    ]
    assert none == [0, ["No answer was entered."], {}]


@pytest.mark.slow
def test_the_same_problem_is_the_same_question(attncalc: Command, tmp_path: Path) -> None:
    """PrairieLearn knows a question by its uuid, whatever its folder is called."""

    def uuid_of(name: str, out: str) -> str:
        attncalc("export", str(sample(name).path), "--to", "prairielearn", "-o", out)
        return str(json.loads((tmp_path / out / "info.json").read_text())["uuid"])

    assert uuid_of("self", "a") == uuid_of("self", "b") != uuid_of("cross", "c")


@pytest.mark.slow
def test_prairielearn_accepts_minus_infinity_as_it_is_typed(
    attncalc: Command, tmp_path: Path
) -> None:
    """Its fields are texts, and attncalc marks them: masked scores can be asked for."""
    causal = str(sample("causal").path)
    run = attncalc("export", causal, "--to", "prairielearn", "--steps", "S_masked,A", "-o", "q")
    assert run.code == 0, run.err
    right = typed_in.correct_answers(tmp_path / "q")
    assert right["S_masked_1_2"] == "-inf"
    for word, score in (("-inf", 1), ("-∞", 1), ("−1000000000", 1), ("0", 0.5)):
        typed = {name: word if text == "-inf" else text for name, text in right.items()}
        assert typed_in.marked(tmp_path / "q", typed)["score"] == pytest.approx(score)


@pytest.mark.parametrize("system", ["moodle", "numbas", "stack"])
def test_a_folder_is_refused_where_an_export_is_one_file(attncalc: Command, system: str) -> None:
    run = attncalc("export", "in.json", "--to", system, "-o", "ex/")
    assert run.code == 2
    assert "is one file, as -o ex." in run.err


TWO = {
    "X1": [[-1, -1, 0], [1, 1, -2]],
    "X2": [[2, -1, 2], [2, 0, 1], [1, 2, 0]],
    "W_Q": [[0, -2], [2, 2], [0, 2]],
    "W_K": [[-1, 0], [2, -1], [1, -2]],
    "W_V": [[2, 2], [2, 1], [2, 0]],
}
"""Carrying 3 decimals gives O[2,1] = 5.994; each step rounded to 2 decimals gives 6."""


@pytest.mark.parametrize("rounding", ["display", "each-step"])
def test_an_entry_alone_has_the_range_of_roundings_and_no_more(rounding: str) -> None:
    given = {name: np.array(rows, float) for name, rows in TWO.items()}
    made = []
    for decimals in (2, 3, 4, 5, 15):
        scores = (given["X1"] @ given["W_Q"]) @ (given["X2"] @ given["W_K"]).T
        powers = np.exp(scores).round(15)
        weights = (powers / powers.sum(axis=1, keepdims=True)).round(decimals)
        made.append(weights @ (given["X2"] @ given["W_V"]))
    key = key_of(Problem(scale="none", rounding=rounding, **TWO), Rules())
    low, high = (extreme(made, axis=0) for extreme in (np.min, np.max))
    for i, row in enumerate(accepted_alone(key, "O")):
        for j, each in enumerate(row):
            assert float(each.low) == pytest.approx(low[i, j] - 0.005, abs=1e-7)
            assert float(each.high) == pytest.approx(high[i, j] + 0.005, abs=1e-7)
    assert low[1, 0] < 5.995 < high[1, 0]


def test_a_question_defines_every_matrix_of_its_equations(attncalc: Command) -> None:
    text = attncalc("export", str(sample("encoder").path), "--to", "moodle", "--steps", "A,Y").out
    assert "<p><math><msub><mi>W</mi><mi>Q</mi></msub></math></p>" in text
    equations = re.findall('<p><math displaystyle="true">(.*?)<mo>&#61;</mo>', text)
    steps = [step.name for step in solve(read_problem(sample("encoder").path)).plan]
    assert [re.sub("<.*?>", "", name) for name in equations] == [
        name.replace("mu", "μ").replace("_", "") for name in steps
    ]
    assert text.index("<mi>var</mi><mn>1</mn>") > text.index("<h4><math><mi>Y</mi></math>&#58; ")


@pytest.mark.parametrize("system", ["moodle", "stack", "numbas", "prairielearn"])
def test_names_and_equations_are_the_same_mathml_in_every_system(
    attncalc: Command, tmp_path: Path, system: str
) -> None:
    out = {"prairielearn": "out", "numbas": "out.exam"}.get(system, "out.xml")
    attncalc("export", str(sample("cross").path), "--to", system, "-o", out)
    made = tmp_path / out
    text = (made / "question.html" if made.is_dir() else made).read_text("utf-8")
    text = text.replace('\\\\\\"', '"').replace('\\"', '"')  # in the JSON of Numbas
    assert "<p><math><msub><mi>X</mi><mn>1</mn></msub></math></p>" in text
    pair = "<msub><mi>X</mi><mn>2</mn></msub>{}<msub><mi>W</mi><mi>K</mi></msub>"
    product = pair.format('<mspace width="0.18em"></mspace>')
    assert f"<mi>K</mi><mo>&#61;</mo><mrow>{product}</mrow></math>" in text
    assert "<sub>" not in text


def test_a_formula_in_a_question_has_no_sign_that_a_system_reads(attncalc: Command) -> None:
    equation = "S[i,j] = sum(Q[i,c] * K[j,c] for c in d_k) if i >= j else -9"
    text = attncalc("export", str(sample("self").path), "--equation", equation, "--to", "moodle")
    found = re.findall("<math.*?</math>", text.out)
    assert any("≥" in each or "&#62;" in each for each in found)
    assert not re.search(r"[{}\[\]$@\\]", "".join(found))
