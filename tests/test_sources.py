"""What is read is never written: every command, every output, every way to write a path."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import (
    GOOD,
    SLOW,
    Run,
    clean_environment,
    mostly_slow,
    outputs_of_the_command,
)

from attncalc.base.sources import refuse_to_write, remember, remembering
from attncalc.cli import run
from attncalc.cli.app import COMMANDS
from attncalc.problem.samples import KERNELS, sample

pytestmark = pytest.mark.campaign(4)

ANSWER = '{"Q": [[1, 2], [3, 4]], "S": [[1, 2], [3, 4]]}'
CROSS = {"X1": GOOD["X"], "X2": GOOD["X"]} | {
    name: matrix for name, matrix in GOOD.items() if name != "X"
}

KEYS = {"K": [[1, 0], [0, 1]], "V": [[1, 2], [3, 4]], "Q": [[1, 1]]}
Here = Callable[..., Run]


@pytest.fixture
def here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Here:
    """Run the command in this process, in a folder with problems, matrices and answers."""
    monkeypatch.chdir(tmp_path)
    fill(tmp_path)

    def called(*arguments: str) -> Run:
        capfd.readouterr()
        monkeypatch.setattr(sys, "argv", ["attncalc", *arguments])
        code = run()
        return Run(code, *capfd.readouterr())

    return called


def fill(folder: Path) -> None:
    """Write what the commands below read."""
    (folder / "self.json").write_text(json.dumps(GOOD))
    (folder / "vit.json").write_text(sample("vit").path.read_text())
    (folder / "cross.json").write_text(json.dumps(CROSS))
    for name, matrix in (CROSS | GOOD | {"keep": [[1, 1], [0, 1]]}).items():
        (folder / f"{name}.csv").write_text("\n".join(",".join(map(str, row)) for row in matrix))
    (folder / "self.png").write_text(json.dumps(GOOD))  # what is read, its content says
    (folder / "keep.svg").write_bytes((folder / "keep.csv").read_bytes())
    (folder / "keys.json").write_text(json.dumps(KEYS))
    for place in ("mine.json", "answers/ada.json", "answers/bob.json", "answers/ada.md"):
        (folder / place).parent.mkdir(exist_ok=True)
        (folder / place).write_text(ANSWER)
    shutil.copytree(sample("model").path, folder / "model")
    shutil.copy(KERNELS[0].path / "right.py", folder / "kernel.py")
    shutil.copy(sample("gradients-target").path, folder / "target.json")
    (folder / "answers" / "broken.txt").write_bytes(b"\xff\xfe\xff")
    (folder / "roster.csv").write_text("name\nada\n")
    (folder / "spec.json").write_text(json.dumps({"problems": [{}], "seed": 1}))
    (folder / "set" / "ada").mkdir(parents=True, exist_ok=True)
    (folder / "set" / "ada" / "problem.json").write_text(json.dumps(GOOD))
    handed = {"problem": "1", "file": "ada/problem.json"}
    listed = {"students": [{"name": "ada", "folder": "ada", "problems": [handed]}]}
    (folder / "set" / "manifest.json").write_text(json.dumps(listed))
    for name in ("X", "W_Q", "W_K", "W_V"):
        (folder / "animals").mkdir(exist_ok=True)
        (folder / "animals" / f"{name}.csv").write_bytes((folder / f"{name}.csv").read_bytes())


def everything(folder: Path) -> dict[str, bytes]:
    """Return all files by name, with what they hold."""
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


ASIDE = ("--W_Q", "W_Q.csv", "--W_K", "W_K.csv", "--W_V", "W_V.csv")
FLAGS = ("--X", "X.csv", *ASIDE, "--keep", "keep.csv")

# (what is called, the flag of its output, what it reads)
READ_AND_WRITTEN = [
    (("self", "self.json", "--format", "json"), "-o", "self.json"),
    (("self", *FLAGS, "--format", "markdown"), "-o", "X.csv"),
    (("self", *FLAGS), "-o", "W_V.csv"),
    (("self", *FLAGS, "--format", "html"), "-o", "W_K.csv"),
    (("self", *FLAGS, "--practice", "--format", "html"), "-o", "X.csv"),
    (("self", *FLAGS, "--format", "npz"), "-o", "keep.csv"),
    (("self", "animals", "--format", "latex"), "-o", "animals/X.csv"),
    (("self", "self.json", "--backward", "--format", "json"), "-o", "self.json"),
    (("cross", "cross.json", "--format", "table"), "-o", "cross.json"),
    (("cross", "--X1", "X1.csv", "--X2", "X2.csv", *ASIDE), "-o", "X2.csv"),
    (("encoder", "self.json", "--no-residual", "--format", "json"), "-o", "self.json"),
    (("decoder", "self.json", "--no-residual", "--keep", "keep.csv"), "-o", "keep.csv"),
    (("vit", "vit.json", "--format", "json"), "-o", "vit.json"),
    (("plot", "self.png"), "-o", "self.png"),
    (("plot", "cross.json", "--keep", "keep.svg"), "-o", "keep.svg"),
    (("plot", "self.png", "--kind", "heatmap", "--of", "dS"), "-o", "self.png"),
    (("explain", "self.json", "--format", "json"), "-o", "self.json"),
    (("vary", "self.json", "scale=0.1,1", "--format", "json"), "-o", "self.json"),
    (
        ("simulate", "self.json", "X ~ U(0, 1)", "--draws", "3", "--format", "json"),
        "-o",
        "self.json",
    ),
    (("aim", "keys.json", "v_1", "--format", "json"), "-o", "keys.json"),
    (("aim", "keys.json", "v_1"), "--save", "keys.json"),
    (("export", "self.json", "--to", "moodle"), "-o", "self.json"),
    (("check", "self.json", "mine.json"), "-o", "mine.json"),
    (("check", "self.json", "mine.json"), "-o", "self.json"),
    (("check", "self.json", "mine.json", "--format", "html"), "-o", "mine.json"),
    (("check", "self.json", "mine.json"), "--csv", "mine.json"),
    (("check", "self.json", "mine.json"), "--csv", "self.json"),
    (("check", "self.json", "mine.json", "--keep", "keep.csv"), "--csv", "keep.csv"),
    (("check", "self.json", "answers"), "-o", "answers/bob.json"),
    (("check", "self.json", "answers"), "--csv", "answers/ada.json"),
    (("check", "self.json", "answers", "--format", "json"), "-o", "answers/broken.txt"),
    (("open", "model", "--tokens", "2 4", "--layer", "0"), "-o", "model/config.json"),
    (("open", "model", "--tokens", "2 4", "--format", "json"), "-o", "model/model.safetensors"),
    (("new", "--again", "self.json", "--seed", "1"), "-o", "self.json"),
    (("new", "--class", "roster.csv", "--problems", "spec.json"), "-o", "roster.csv"),
    (("new", "--class", "roster.csv", "--problems", "spec.json"), "-o", "spec.json"),
    (("check", "set", "answers"), "--csv", "set/ada/problem.json"),
    (("check", "set", "answers"), "--csv", "answers/ada.json"),
    (("check", "set", "answers"), "--overview", "answers/ada.md"),
    (("samples", "self"), "-o", str(sample("self").path)),
    (("samples", "folder"), "-o", str(sample("folder").path)),
    (("doctor", "self.json"), "-o", "self.json"),
    (("generate", "model", "--tokens", "2 4"), "-o", "model/config.json"),
    (("train", "target.json", "--steps", "1"), "-o", "target.json"),
    (("train", "target.json", "--steps", "1"), "--save", "target.json"),
    (("count", "self.json"), "-o", "self.json"),
    (("playground", "self.json"), "-o", "self.json"),
    (("slides", "self.json"), "-o", "self.json"),
    (("why", "self.json", "O[1,1]"), "-o", "self.json"),
    (("conform", "kernel.py", "--quick", "--only", "scale"), "-o", "kernel.py"),
    (("conform", "kernel.py", "--quick", "--only", "scale"), "--badge", "kernel.py"),
]


@pytest.mark.slow
def test_no_command_and_no_output_is_left_out() -> None:
    """An option that takes an output FILE or PLACE is in the list above."""
    tried = {(called[0], flag) for called, flag, _ in READ_AND_WRITTEN}
    assert outputs_of_the_command() == tried | {
        ("schema", "-o"),
        ("equations", "-o"),
    }  # which reads nothing
    assert set(COMMANDS) == {called[0] for called, _, _ in READ_AND_WRITTEN} | {
        "schema",
        "equations",
        "help",
    }


@pytest.mark.campaign(48)
@pytest.mark.parametrize("way", ["itself", "round about", "symbolic link", "hard link"])
@pytest.mark.parametrize(("called", "flag", "read"), READ_AND_WRITTEN)
def test_inputs_are_never_overwritten(
    here: Here, tmp_path: Path, called: tuple[str, ...], flag: str, read: str, way: str
) -> None:
    place = led_to(read, way)
    before = everything(tmp_path)
    done = here(*called, flag, place)
    assert (done.code, done.out) == (2, "")
    assert done.err.endswith(
        f"error: cannot write {place}: it is {read}, which was read: use another path\n"
    )
    assert everything(tmp_path) == before


def led_to(read: str, way: str) -> str:
    """Return another path to what is read; to folders and other disks there are no hard links."""
    home, name = Path(read).resolve().parent, Path(read).name
    if way == "round about":
        return f"{home}/../{home.name}/{name}"
    link = Path("link").with_suffix(Path(read).suffix)
    if way == "symbolic link" or (way == "hard link" and Path(read).is_absolute()):
        link.symlink_to(read)
    elif way == "hard link":
        link.hardlink_to(read)
    return read if way == "itself" else str(link)


@pytest.mark.parametrize(
    ("called", "relation"),
    [
        (("self", "animals", "-o", "animals/"), "animals: it is animals"),
        (("self", "animals", "-o", "./animals"), "animals: it is animals"),
        (("self", "animals", "-o", "away"), "away: it is animals"),
        (("self", *FLAGS, "-o", "./"), ".: it has X.csv"),
        (("self", "animals", "-o", "animals/out.csv"), "animals/out.csv: it would be part of"),
        (
            ("check", "self.json", "answers", "--csv", "answers/m.csv"),
            "it would be part of answers",
        ),
        (("check", "set", "answers", "-o", "answers/pages"), "answers/pages: it is in answers"),
        (("check", "set", "answers", "-o", "set"), "set: it is set"),
        (("check", "self.json", "answers", "-o", "away/m.md"), "away/m.md: it would be part of"),
    ],
)
def test_a_folder_that_is_read_is_never_filled(
    here: Here, tmp_path: Path, called: tuple[str, ...], relation: str
) -> None:
    """What is put into it would be read the next time, as one of the matrices or answers."""
    Path("away").symlink_to("animals" if called[0] == "self" else "answers")
    before = everything(tmp_path)
    done = here(*called)
    assert (done.code, done.out) == (2, "")
    assert relation in done.err
    assert everything(tmp_path) == before


@pytest.mark.campaign(3)
@pytest.mark.parametrize(
    ("called", "place", "folder"),
    [
        (("check", "set", "answers", "--csv"), "set/worksheets.tex", "set"),
        (("check", "set", "answers", "--csv"), "set/keys/ada/key.md", "set"),
        (("check", "set", "answers", "--csv"), "set/ada/worksheet.md", "set"),
        (("check", "self.json", "answers", "-o"), "answers/scans/ada.md", "answers"),
        (("self", "animals", "-o"), "animals/page.md", "animals"),
        (("export", "set", "--to", "moodle", "-o"), "set/quiz.xml", "set"),
        (("open", "model", "--tokens", "1 2", "-o"), "model/vocab.json", "model"),
        (("open", "model", "--tokens", "1 2", "-o"), "model/README.md", "model"),
        (("self", "question", "-o"), "question/page.md", "question"),
    ],
)
def test_files_of_an_input_folder_are_not_overwritten(
    here: Here, tmp_path: Path, called: tuple[str, ...], place: str, folder: str
) -> None:
    """Whether or not this run opens it: it is an input, or what an earlier command wrote there."""
    Path("question").mkdir()
    assert here("self", "self.json", "--format", "csv", "-o", "question/").code == 0
    Path(place).parent.mkdir(parents=True, exist_ok=True)
    Path(place).write_text("of before")
    before = everything(tmp_path)
    done = here(*called, place)
    assert (done.code, done.out) == (2, "")
    assert done.err.endswith(
        f"error: cannot write {place}: it is already in {folder}, which was read: "
        "use another path\n"
    )
    assert everything(tmp_path) == before


@pytest.mark.slow
def test_a_folder_may_contain_other_files(here: Here) -> None:
    assert here("self", "animals", "-o", "animals/key.md").code == 0
    assert here("self", "animals", "-o", "animals/key.json").code == 0
    assert here("self", "animals", "-o", "key/").code == 0
    assert here("check", "self.json", "key", "-o", "key/marks.md").code == 0


@pytest.mark.slow
@pytest.mark.parametrize("page", ["key.md", "key.tex"])
def test_the_picture_beside_a_page_is_an_output_too(here: Here, tmp_path: Path, page: str) -> None:
    picture = "key-map.png" if page == "key.md" else "key-map.pdf"
    Path("self.json").rename(picture)
    before = everything(tmp_path)
    done = here("self", picture, "-o", page, *(["--standalone"] if page == "key.tex" else []))
    assert (done.code, done.err) == (
        2,
        f"error: cannot write {picture}: it is {picture}, which was read: use another path\n",
    )
    assert everything(tmp_path) == before


@pytest.mark.parametrize("way", ["itself", "round about", "symbolic link", "hard link"])
def test_two_outputs_are_two_files(here: Here, tmp_path: Path, way: str) -> None:
    """Of one file, the second would replace the first without a word."""
    Path("out.csv").write_text("mine")
    other = led_to("out.csv", way)
    before = everything(tmp_path)
    done = here("check", "self.json", "mine.json", "-o", "out.csv", "--csv", other)
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        f"error: cannot write both out.csv and {other}: they are the same file; use two names\n"
    )
    assert everything(tmp_path) == before


@pytest.mark.slow
def test_two_outputs_are_two_files_before_there_is_any(here: Here, tmp_path: Path) -> None:
    before = everything(tmp_path)
    Path("later.csv").symlink_to("new.csv")
    for other in ("new.csv", "./new.csv", f"{tmp_path}/new.csv", "later.csv"):
        done = here("check", "self.json", "mine.json", "-o", "new.csv", "--csv", other)
        assert done.code == 2
        assert "they are the same file" in done.err
    assert everything(tmp_path) == before


@pytest.mark.slow
def test_a_page_and_its_picture_are_two_files_through_links_too(here: Here) -> None:
    Path("key.md").symlink_to("key-map.png")
    done = here("self", "self.json", "-o", "key.md")
    assert done.code == 2
    assert "cannot write both key.md and key-map.png: they are the same file" in done.err
    assert not Path("key-map.png").exists()


@pytest.mark.campaign(10)
@pytest.mark.parametrize(
    ("called", "flag"), sorted({(called, flag) for called, flag, _ in READ_AND_WRITTEN})
)
@pytest.mark.parametrize("name", ["", " "])
def test_an_empty_name_is_not_a_path(
    here: Here, tmp_path: Path, called: tuple[str, ...], flag: str, name: str
) -> None:
    """To a path it would be the current folder, which `self` then fills with nine files."""
    before = everything(tmp_path)
    done = here(*called, flag, name)
    long = "--out" if flag == "-o" else flag
    assert (done.code, done.out) == (2, "")
    assert done.err == f"error: {long} names no file: its value is empty\n"
    assert everything(tmp_path) == before


@pytest.mark.campaign(2)
@pytest.mark.parametrize(
    "called",
    mostly_slow(
        [
            ("self", "self.json"),
            ("cross", "cross.json"),
            ("plot", "self.json"),
            ("check", "self.json", "mine.json"),
            ("check", "self.json", "mine.json", "--csv", "-", "-o", "marks.md"),
        ]
    ),
)
def test_nothing_is_printed_into_inputs(tmp_path: Path, called: tuple[str, ...]) -> None:
    """The shell opens `>> mine.json` by itself; the file is known by what it is."""
    fill(tmp_path)
    name = next(name for name in reversed(called) if name.endswith(".json"))
    before = everything(tmp_path)
    with (tmp_path / name).open("ab") as out:
        done = subprocess.run(
            [sys.executable, "-m", "attncalc", *called],
            stdout=out,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
            env=clean_environment(),
            check=False,
            timeout=300,
        )
    assert done.returncode == 2
    assert done.stderr.decode() == (
        f"error: cannot write standard output: it is {name}, which was read: use another path\n"
    )
    assert everything(tmp_path) == before


@pytest.mark.slow
def test_a_file_on_standard_input_is_not_overwritten(tmp_path: Path) -> None:
    fill(tmp_path)
    before = everything(tmp_path)
    with (tmp_path / "self.json").open("rb") as given:
        done = subprocess.run(
            [sys.executable, "-m", "attncalc", "self", "-", "-o", "self.json"],
            stdin=given,
            capture_output=True,
            cwd=tmp_path,
            env=clean_environment(),
            check=False,
            timeout=300,
        )
    assert done.stderr.decode() == (
        "error: cannot write self.json: it is standard input, which was read: use another path\n"
    )
    assert everything(tmp_path) == before


@pytest.mark.slow
def test_both_outputs_do_not_go_to_standard_output(here: Here) -> None:
    done = here("check", "self.json", "mine.json", "--csv", "-")
    assert (done.code, done.out) == (2, "")
    assert "--csv and the marks both go to standard output" in done.err
    done = here("check", "self.json", "mine.json", "--csv", "-", "-o", "marks.md")
    assert done.out.startswith("answer,")
    assert Path("marks.md").exists()


@pytest.mark.slow
def test_devices_are_read_and_written_alike(here: Here) -> None:
    """Nothing is lost on /dev/null, nor through a pipe."""
    done = here("check", "self.json", "mine.json", "--csv", os.devnull, "-o", os.devnull)
    assert "cannot write" not in done.err
    null = os.devnull
    done = here("check", "self.json", "mine.json", null, "--format", "json", "-o", null)
    assert done.err == f"note: written to {null}\n"
    reader, writer = os.pipe()
    done = here("self", "self.json", "--format", "json", "-o", f"/dev/fd/{writer}")
    os.close(writer)
    with os.fdopen(reader) as pipe:
        assert (done.code, json.load(pipe)["title"]) == (0, "")


@pytest.mark.campaign(2)
@pytest.mark.parametrize(
    ("called", "starts"),
    mostly_slow(
        pytest.param(*each)
        for each in [
            (("self", "self.json", "--format", "markdown", "-o"), "# "),
            (("self", "self.json", "--format", "npz", "-o"), "PK"),
            (("cross", "cross.json", "--format", "json", "-o"), "{"),
            (("plot", "self.json", "-o"), "\x89PNG"),
            (("check", "self.json", "mine.json", "-o", "marks.md", "--csv"), "answer,"),
            (("check", "self.json", "mine.json", "--format", "latex", "-o"), "%"),
            (("samples", "self", "-o"), "{"),
        ]
    ),
)
@pytest.mark.parametrize(
    "line",
    [
        pytest.param("{} - | cat", marks=SLOW),
        pytest.param("{} /dev/stdout | cat", marks=SLOW),
        pytest.param("{} >(cat) > told | cat", marks=SLOW),
        "echo before > log; {} /dev/fd/3 3>> log > told; "
        "test $(head -1 log) = before && tail -n +2 log",
    ],
)
def test_every_output_goes_to_pipes_and_open_files(
    tmp_path: Path, called: tuple[str, ...], starts: str, line: str
) -> None:
    """As `-o >(cat)` and `-o -`; a file that is open already keeps what it held."""
    fill(tmp_path)
    done = subprocess.run(
        ["bash", "-c", line.format(" ".join((sys.executable, "-m", "attncalc", *called)))],
        cwd=tmp_path,
        env=clean_environment(),
        capture_output=True,
        check=False,
        timeout=300,
    )
    assert done.stdout.startswith(starts.encode("latin-1")), done


def test_a_program_may_write_what_it_read(tmp_path: Path) -> None:
    """Only runs of the command remember: a library that did would refuse more and more."""
    (tmp_path / "in.json").write_text("{}")
    with remembering():
        remember(tmp_path / "in.json")
    remember(tmp_path / "in.json")
    refuse_to_write(tmp_path / "in.json")
