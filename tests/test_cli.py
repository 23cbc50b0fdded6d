"""The command as a person runs it: what it prints where, and how it ends."""

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from conftest import GOOD, Command, clean_environment

from attncalc import __version__
from attncalc.problem.samples import SAMPLES, Sample, sample

pytestmark = pytest.mark.campaign(4)

PNG = b"\x89PNG"


def test_without_a_file_the_bundled_homework_is_used_and_named(attncalc: Command) -> None:
    for command, title in (("self", "Three tokens"), ("cross", "Two tokens attend to four")):
        run = attncalc(command)
        assert run.code == 0
        assert title in run.out
        assert run.err.startswith(
            f'note: no file given: this is the bundled sample "{command}" '
            f"(attncalc samples {command})\n"
        )


@pytest.mark.slow
def test_the_command_never_waits_for_standard_input_unasked(tmp_path: Path) -> None:
    """Standard input is left open and silent: only `-` may wait for it."""
    done = subprocess.run(
        [sys.executable, "-m", "attncalc", "self"],
        stdin=os.pipe()[0],
        capture_output=True,
        cwd=tmp_path,
        check=True,
        timeout=300,
    )
    assert b"Three tokens" in done.stdout


def test_a_dash_reads_standard_input_json_or_csv(attncalc: Command) -> None:
    blocks = "X\n1,2\n3,4\nW_Q\n1,0\n0,1\nW_K\n0,1\n1,0\nW_V\n1\n1\n"
    as_json = attncalc("self", "-", stdin=json.dumps(GOOD))
    as_csv = attncalc("self", "-", stdin=blocks)
    assert as_json.code == as_csv.code == 0
    assert as_json.out == as_csv.out
    assert attncalc("self", "-", stdin="").err == "error: standard input: empty\n"


def test_flags_override_the_file_and_the_file_the_defaults(
    attncalc: Command, tmp_path: Path
) -> None:
    (tmp_path / "in.json").write_text(json.dumps(GOOD | {"decimals": 3, "scale": 2}))
    conventions = json.loads(attncalc("self", "in.json", "--format", "json").out)["conventions"]
    assert conventions == {"scale": 2.0, "rounding": "display", "decimals": 3}
    flags = ("-d", "4", "--no-scale", "--rounding", "each-step", "--title", "Mine")
    found = json.loads(attncalc("self", "in.json", *flags, "--format", "json").out)
    assert found["conventions"] == {"scale": 1.0, "rounding": "each-step", "decimals": 4}
    assert found["title"] == "Mine"
    third = attncalc("self", "in.json", "--scale", "1/3", "--X", "3 0", "--only", "S_scaled")
    assert "S_scaled = S × 1/3   scaled scores, 1 × 1" in third.out


def test_a_matrix_for_each_flag_from_files_and_text(attncalc: Command, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("the;1,5;0\ncat;0;1\n")
    run = attncalc(
        *("self", "--X", "x.csv", "--W_Q", "0 1; -1/2 0", "--W_K", "[[1,0],[0,1]]"),
        *("--W_V", "½; 1", "--format", "json"),
    )
    found = json.loads(run.out)
    assert found["steps"][0]["rows"] == ["the", "cat"]
    assert found["steps"][0]["values"] == [[0, 1.5], [-0.5, 0]]


def test_only_selects_steps_by_name_or_title(attncalc: Command) -> None:
    run = attncalc("self", "--only", "a, scores")
    assert "S = Q Kᵀ" in run.out
    assert "A = softmax(S)" in run.out
    assert "Q = X W_Q" not in run.out
    assert attncalc("self", "--only", "S_scaled").err.endswith(
        'error: --only: unknown name "S_scaled": did you mean S? (known: Q, K, V, S, A, O)\n'
    )


def test_advice_is_on_the_screen_and_not_in_a_file_of_tables(
    attncalc: Command, tmp_path: Path
) -> None:
    said = "with full precision (--rounding display), 3 of 42 entries differ"
    assert said in attncalc("self", "-o", "page.txt").err
    assert said not in (tmp_path / "page.txt").read_text(encoding="utf-8")  # advice to its author


def test_only_json_is_on_standard_output(attncalc: Command) -> None:
    run = attncalc("cross", "--format", "json")
    assert json.loads(run.out)["kind"] == "cross"


def test_out_writes_a_file_whose_ending_chooses_the_form(attncalc: Command, tmp_path: Path) -> None:
    for name, start in (("a.json", "{"), ("a.txt", "Self-attention")):
        run = attncalc("self", "-o", name)
        assert run.out == ""
        assert run.err.endswith(f"note: written to {name}\n") or "written to" in run.err
        assert (tmp_path / name).read_text(encoding="utf-8").startswith(start)


@pytest.mark.slow
def test_plot_draws_headless_and_prints_the_path(attncalc: Command, tmp_path: Path) -> None:
    run = attncalc("plot", DISPLAY="")
    assert (run.code, run.out) == (0, "attention-map.png\n")
    assert (tmp_path / "attention-map.png").read_bytes().startswith(PNG)
    attncalc("samples", "cross", "-o", "in.json")
    assert attncalc("plot", "in.json", "-o", "map.svg").out == "map.svg\n"
    assert attncalc("plot", "in.json", "--out", "map.pdf").out == "map.pdf\n"
    assert (tmp_path / "map.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.campaign(24)
@pytest.mark.parametrize("each", SAMPLES, ids=lambda each: each.name)
def test_a_written_sample_can_be_solved(attncalc: Command, each: Sample) -> None:
    place = Path(each.file).name
    run = attncalc("samples", each.name, "-o", place)
    assert (run.code, run.out) == (0, "")
    assert attncalc(each.kind, place).code == 0


def test_samples_are_listed_and_written(attncalc: Command, tmp_path: Path) -> None:
    listing = attncalc("samples").out
    assert all(each.name in listing for each in SAMPLES)
    attncalc("samples", "cross", "-o", "cross.json")
    text = attncalc("samples", "cross").out
    assert text == (tmp_path / "cross.json").read_text(encoding="utf-8")


def test_version_and_help(attncalc: Command) -> None:
    assert attncalc("--version").out == f"attncalc {__version__}\n"
    for command in ("self", "cross", "plot", "explain", "check", "samples"):
        run = attncalc(command, "--help")
        assert run.code == 0
        assert run.out.index("Examples") < run.out.index("Options")


@pytest.mark.slow
def test_a_shell_completes_commands_and_the_names_of_samples(attncalc: Command) -> None:
    def completions(words: str, position: int) -> list[str]:
        asked = {"COMP_WORDS": words, "COMP_CWORD": str(position)}
        return attncalc(_ATTNCALC_COMPLETE="complete_bash", **asked).out.split()

    assert completions("attncalc s", 1) == ["self", "simulate", "samples", "slides", "schema"]
    assert completions("attncalc samples cr", 2) == ["cross"]


BAD_CALLS = [
    (["self", "no.json"], "error: no.json: no such file\n"),
    (["self", ""], "error: the name of the file is empty\n"),
    (["self", "--X", ""], 'error: --X: "" is neither a file nor a matrix such as '),
    (["self", "--X", "1 0"], "error: flags: missing matrices: W_Q, W_K, W_V\n"),
    (
        ["self", "in.json", "--X", "x.csv"],
        'error: --X: "x.csv" is neither a file nor a matrix such as '
        '"1 0; 0 1" or "[[1, 0], [0, 1]]"\n',
    ),
    (
        ["self", "in.json", "--W_Q", "1 a; 1"],
        "error: --W_Q: 2 things are wrong\n  W_Q, row 2: 1 entry, where row 1 has 2\n"
        '  W_Q, row 1, column 2: "a" is not a number\n',
    ),
    (
        ["cross", "in.json"],
        "error: in.json: this is a self-attention problem (it has X): use attncalc self\n",
    ),
    (
        ["self", "cross.json"],
        "error: cross.json: this is a cross-attention problem (it has X1 and X2): "
        "use attncalc cross\n",
    ),
    (["self", "in.json", "-d", "13"], "error: --decimals takes a whole number from 0 to 12, "),
    (["self", "in.json", "--scale", "big"], 'error: --scale takes "sqrt_dk", "none" or a number '),
    (["self", "in.json", "--rounding", "up"], 'error: --rounding takes "display" or "each-step", '),
    (
        ["self", "in.json", "--scale", "2", "--no-scale"],
        "error: --scale and --no-scale together: give one of them\n",
    ),
    (["self", "in.json", "--only", " , "], "error: --only takes the names of steps, as Q,A\n"),
    (
        ["plot", "in.json", "-o", "no/map.png"],
        "error: cannot write no/map.png: the folder no does not exist\n",
    ),
    (["plot", "in.json", "-o", "."], "error: .: no ending: use .png, .svg or .pdf\n"),
    (
        ["plot", "in.json", "-o", "map.gif"],
        'error: map.gif: ".gif" is not a picture format: use .png, .svg or .pdf\n',
    ),
    (
        ["self", "in.json", "-o", "no/x.json"],
        "error: cannot write no/x.json: the folder no does not exist\n",
    ),
    (
        ["samples", "slef"],
        'error: no sample is called "slef": did you mean self? (attncalc samples lists all)\n',
    ),
    (
        ["samples", "7"],
        'error: no sample is called "7": self, cross, sentence, ',
    ),
    (
        ["samples", "folder"],
        "error: folder is a folder of files: choose a folder, as -o my-folder\n",
    ),
]


@pytest.mark.parametrize(("arguments", "expected"), BAD_CALLS)
def test_a_bad_call_ends_with_one_message_and_writes_nothing(
    attncalc: Command, tmp_path: Path, arguments: list[str], expected: str
) -> None:
    cross = {**GOOD, "X1": GOOD["X"], "X2": GOOD["X"]}
    del cross["X"]
    (tmp_path / "in.json").write_text(json.dumps(GOOD))
    (tmp_path / "cross.json").write_text(json.dumps(cross))
    run = attncalc(*arguments)
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith(expected)
    assert {path.name for path in tmp_path.iterdir()} == {"in.json", "cross.json"}


@pytest.mark.parametrize("arguments", [["self", "--nope"], ["nope"], ["self", "--format", "x"]])
def test_bad_usage_exits_2_without_a_traceback(attncalc: Command, arguments: list[str]) -> None:
    run = attncalc(*arguments)
    assert run.code == 2
    assert "Traceback" not in run.err
    assert "Error" in run.err


def test_a_closed_pipe_ends_quietly(tmp_path: Path) -> None:
    """`attncalc self | head -1` must not report a broken pipe."""
    done = subprocess.run(
        f"{sys.executable} -m attncalc self - --full | head -1; exit ${{PIPESTATUS[0]}}",
        shell=True,
        executable="/bin/bash",
        # 60 tokens: more than the 64 KiB that a pipe takes without a reader, and soon solved
        input=json.dumps({**GOOD, "X": [[1, 2]] * 60}).encode(),
        capture_output=True,
        cwd=tmp_path,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0
    assert done.stdout == b"Self-attention\n"
    assert b"Broken" not in done.stderr
    assert b"Traceback" not in done.stderr


def test_an_interrupt_exits_130_without_a_traceback(tmp_path: Path) -> None:
    """It is waiting for the rest of its input when it has taken more than a pipe holds."""
    # a shell's background jobs ignore interrupts, and so would all that this test starts
    program = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "import sys; sys.argv[0] = 'attncalc'\n"
        "from attncalc.__main__ import main; main()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, "self", "-"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
    ) as process:
        assert process.stdin is not None
        process.stdin.write(b" " * 2**20)
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=300)
    assert process.returncode == 130
    assert b"Traceback" not in err


def in_terminal(columns: int, *arguments: str, **environment: str) -> str:
    """Run the command in a terminal of that width and return what it shows."""
    pid, terminal = pty.fork()
    if pid == 0:  # pragma: no cover - the child becomes the command
        os.environ.clear()
        os.environ.update(clean_environment() | {"TERM": "xterm"} | environment)
        os.environ["COLUMNS"] = str(columns)
        os.execv(sys.executable, [sys.executable, "-m", "attncalc", *arguments])
    shown = b""
    while True:
        try:
            chunk = os.read(terminal, 65536)
        except OSError:  # the terminal's way to say that its program has ended
            break
        if not chunk:
            break
        shown += chunk
    os.waitpid(pid, 0)
    os.close(terminal)
    return shown.decode().replace("\r\n", "\n")


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_terminal_gets_marks_and_blocks_and_a_narrow_one_loses_no_digit() -> None:
    wide = in_terminal(100, "cross", "--only", "A,O")
    assert "\x1b[1;7m0.40 ●\x1b[0m" in wide
    assert "\x1b[4m0.24 ○\x1b[0m" in wide
    narrow = in_terminal(20, "cross", "--only", "O", NO_COLOR="1", TERM="dumb")
    assert "\x1b" not in narrow
    for figure in ("-0.55", "-0.60", "1.15", "1.10", "-1.13", "-0.36", "1.49", "2.26"):
        assert figure in narrow


STREAMS = (
    ("PROGRAM self > /dev/full", 2, "No space left on device"),
    ("PROGRAM samples cross > /dev/full", 2, "No space left on device"),
    ("PROGRAM self >&-", 0, "note: "),
    ("PROGRAM self - <&-", 2, "error: standard input: it is closed"),
    ("PROGRAM self no.json 2>&-", 2, ""),
    ("PROGRAM self no.json 2> /dev/full", 2, ""),
    ("PROGRAM self no.json > /dev/full 2> /dev/full", 2, ""),
    ("PROGRAM self --no-such-flag 2> /dev/full", 2, ""),
    ("PROGRAM self no.json 2>&1 | true; exit ${PIPESTATUS[0]}", 2, ""),
    ("set -o pipefail; PROGRAM samples --help > /dev/full", 2, "No space left"),
    ("set -o pipefail; PROGRAM self 2> /dev/full | grep -q 'Output 3'", 0, ""),
    ("PYTHONIOENCODING=ascii PROGRAM self --help", 0, ""),
    ("PYTHONIOENCODING=ascii PROGRAM self", 0, "note: "),
    ("PROGRAM --help | head -1; exit ${PIPESTATUS[0]}", 0, ""),
)
"""Commands of a shell, the exit code, and the text on standard error."""


@pytest.mark.campaign(5)
@pytest.mark.parametrize(("command", "code", "said"), STREAMS)
def test_standard_streams_may_be_full_closed_or_ascii(
    command: str, code: int, said: str, tmp_path: Path
) -> None:
    """Whatever a shell does to the streams, the end is a clear one and never a traceback."""
    done = subprocess.run(
        ["bash", "-c", command.replace("PROGRAM", f"{sys.executable} -m attncalc")],
        cwd=tmp_path,
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert said in done.stderr


def test_samples_are_written_byte_for_byte_in_any_encoding(attncalc: Command) -> None:
    run = attncalc("samples", "decimal-comma", PYTHONIOENCODING="ascii")
    assert run.out.startswith("title;Zwei Wörter fragen drei\n")


def test_the_problem_itself_is_never_overwritten(attncalc: Command, tmp_path: Path) -> None:
    (tmp_path / "in.json").write_text(json.dumps(GOOD))
    run = attncalc("self", "in.json", "-o", "in.json")
    assert (run.code, run.err) == (
        2,
        "error: cannot write in.json: it is in.json, which was read: use another path\n",
    )
    run = attncalc("self", "in.json", "-o", "steps.png")
    assert run.code == 2
    assert run.err == (
        'error: steps.png: ".png" is not an output format: '
        "end the name in .txt, .md, .tex, .html, .csv, .json, .npz or .pdf, or pass --format\n"
    )


def test_every_kind_of_attention_has_its_flags(attncalc: Command) -> None:
    attncalc("samples", "self", "-o", "in.json")
    run = attncalc(
        *(
            "self",
            "in.json",
            "--heads",
            "2",
            "--causal",
            "--softcap",
            "5",
            "--normalizer",
            "hardmax",
        ),
        *("--combine", "mean", "--b_V", "1 1", "--ignore", "0 0 0", "--format", "json"),
    )
    found = json.loads(run.out)
    assert [step["name"] for step in found["steps"]] == [
        *("Q", "K", "V", "S", "S_capped", "S_masked", "A", "H", "C", "O")
    ]
    assert found["conventions"] == {
        **{"scale": 1.0, "rounding": "each-step", "decimals": 2, "heads": 2, "kv_heads": 2},
        **{"combine": "mean", "causal": True, "softcap": 5.0, "normalizer": "hardmax"},
    }
    masked = found["steps"][5]
    assert masked["heads"] == 2
    assert masked["values"][0][0][1:] == ["-inf", "-inf"]
    assert masked["shown"][0][0][1:] == ["-inf", "-inf"]
    assert len(found["connections"]) == 2


def test_causal_in_a_file_can_be_overridden(attncalc: Command) -> None:
    attncalc("samples", "causal", "-o", "in.json")
    for flags, masked in (([], True), (["--no-causal"], False), (["--causal"], True)):
        run = attncalc("self", "in.json", *flags, "--format", "json")
        names = [step["name"] for step in json.loads(run.out)["steps"]]
        assert ("S_masked" in names) == masked


def test_arrays_are_read_and_written_as_npz(attncalc: Command, tmp_path: Path) -> None:
    import numpy as np

    np.savez(tmp_path / "in.npz", **{name: np.array(matrix) for name, matrix in GOOD.items()})
    assert attncalc("self", "in.npz", "-o", "out.npz", "--only", "A,O").code == 0
    with np.load(tmp_path / "out.npz") as arrays:
        assert list(arrays["steps"]) == ["A", "O"]
        assert arrays["A"].dtype == np.float64
        assert arrays["X"].tolist() == GOOD["X"]
    run = attncalc("self", "in.npz", "--format", "npz")
    assert run.err == "error: npz is binary: pass a file, as -o steps.npz\n"


@pytest.mark.slow
def test_one_head_or_all_or_their_mean_can_be_drawn(attncalc: Command, tmp_path: Path) -> None:
    for head in ("1", "2", "mean"):
        assert attncalc("plot", "--heads", "2", "--head", head, "-o", f"{head}.svg").code == 0
    assert len({path.read_bytes() for path in tmp_path.glob("*.svg")}) == 3
    run = attncalc("plot", "--heads", "2", "--head", "3")
    assert run.err.endswith('error: --head takes 1 to 2, or mean, not "3"\n')


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_samples_wrap_between_words_on_a_narrow_terminal_and_nowhere_else(
    attncalc: Command,
) -> None:
    narrow = in_terminal(50, "samples").split("\n")
    assert max(map(len, narrow)) <= 50
    piped = attncalc("samples", COLUMNS="50").out
    assert " ".join(" ".join(narrow).split()) == " ".join(piped.split())
    assert any(line.startswith(" " * 24) for line in narrow)
    assert "folder             self     a folder with a CSV file for each matrix\n" in piped


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        "self",
        "cross",
        "encoder",
        "decoder",
        "vit",
        "plot",
        "explain",
        "check",
        "vary",
        "simulate",
        "aim",
    ],
)
def test_every_field_has_a_flag_of_each_command_it_belongs_to(command: str) -> None:
    from attncalc.cli.app import app_for
    from attncalc.problem.fields import GIVEN, SETTINGS

    group = typer.main.get_command(app_for([]))
    flags = {
        flag
        for parameter in group.commands[command].params  # type: ignore[attr-defined]
        for flag in parameter.opts
    }
    kinds = {
        "self": ("", "self"),
        "cross": ("", "cross"),
        "encoder": ("", "self", "layers"),
        "decoder": ("", "self", "cross", "layers"),
        "vit": ("", "self", "layers", "image"),
        "aim": ("", "self", "cross"),
    }.get(command, ("", "self", "cross", "layers", "image"))
    for name, matrix in GIVEN.items():
        # where an image is cut, its patches are the tokens
        is_made = command == "vit" and name in ("X", "ids", "W_E", "type_ids", "W_type")
        assert (f"--{name}" in flags) == (matrix.kind in kinds and not is_made), name
    for name, setting in SETTINGS.items():
        wanted = setting.kind in kinds and name != "block"  # which the command itself says
        assert ((setting.flag or f"--{name.replace('_', '-')}") in flags) == wanted
    assert {"-d", "--no-scale", "--title"} <= flags


def test_unexpected_error_prints_one_line(
    attncalc: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("division by zero\nand more")

    monkeypatch.setattr("attncalc.cli.app.app_for", broken)
    run = attncalc("check", "p.json", "a.md")
    assert (run.code, run.out) == (3, "")
    assert run.err == (
        "error: internal error: ZeroDivisionError: division by zero\n"
        "  please report it with the command (attncalc check p.json a.md), the files it "
        "names and what attncalc doctor prints; ATTNCALC_TRACEBACK=1 shows where it happened\n"
    )
    monkeypatch.setenv("ATTNCALC_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        attncalc("check", "p.json", "a.md")


@pytest.mark.slow
def test_a_backend_of_a_notebook_that_is_not_there_stops_no_picture(
    attncalc: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MPLBACKEND", "module://nobody_has_this.backend_inline")
    assert attncalc("plot", "-o", "map.png").code == 0


def test_an_exponent_beyond_all_decimals_is_refused(attncalc: Command) -> None:
    run = attncalc("self", "--X", "1e1000000000000000000", "--W_Q", "1", "--W_K", "1", "--W_V", "1")
    assert run.code == 2
    assert 'row 1, column 1: "1e1000000000000000000" has an exponent' in run.err


def test_scores_that_are_multiplied_by_nothing_can_be_marked(attncalc: Command) -> None:
    problem, hand = (str(sample(name).path) for name in ("self", "hand"))
    run = attncalc("check", problem, hand, "--scale", "0", "--brief")
    assert run.code == 1
    assert "The first mistake is in A" in run.out


def test_a_changed_copy_of_a_sample_is_kept(
    tmp_path: Path, attncalc: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, copied in (("self", "in.json"), ("folder", "dir")):
        attncalc("samples", name, "-o", copied)
        attncalc("samples", name, "-o", copied)  # the same content
        path = next(Path(copied).iterdir()) if Path(copied).is_dir() else Path(copied)
        path.write_text("mine")
        refused = attncalc("samples", name, "-o", copied)
        assert refused.code == 2
        assert f"{path}: it already exists, with other content" in refused.err
        assert path.read_text() == "mine"


def test_the_command_to_try_names_the_written_file(
    tmp_path: Path, attncalc: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "try: attncalc aim av.json" in attncalc("samples", "average", "-o", "av.json").err
