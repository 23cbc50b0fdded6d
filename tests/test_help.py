"""Help: short, complete, and with examples that run; `--set` does what flags and JSON do."""

import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import IN_FULL, Command, for_all, mostly_slow
from hypothesis import given, settings
from hypothesis import strategies as st
from test_cli import in_terminal
from test_unread import BASES, OTHER

from attncalc.base.errors import AttncalcError
from attncalc.cli.commands.problem import problem_from
from attncalc.cli.flags.fields import ALL_FIELDS, completed, flag_of
from attncalc.cli.flags.table import COMMANDS, flags_of, topics
from attncalc.problem.fields import GIVEN, NESTED, SETTINGS
from attncalc.problem.samples import KERNELS, sample
from attncalc.problem.serialising import in_json

pytestmark = pytest.mark.campaign(4)

TOPICS = topics()


# -- what help shows


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_a_screen(attncalc: Command, command: str) -> None:
    lines = attncalc(command, "--help").out.splitlines()
    assert len(lines) <= 45
    assert max(map(len, lines)) <= 80
    assert lines.index("Examples:") < lines.index("Options:")
    examples = [line for line in COMMANDS[command].text.splitlines() if line.startswith("    ")]
    assert len(examples) == 3
    assert all(line.removeprefix("  ") in lines for line in examples)
    assert attncalc("help", command).out.splitlines() == lines or command == "equations"


@pytest.mark.parametrize("command", COMMANDS)
def test_help_all_shows_every_flag(attncalc: Command, command: str) -> None:
    text = attncalc(command, "--help-all").out
    for each in flags_of(COMMANDS[command]):
        assert all(name in text for name in (*each.names, each.metavar)), each.typed


def test_help_fields_shows_every_field(attncalc: Command) -> None:
    lines = attncalc("help", "fields").out.splitlines()
    shown = {line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "}
    assert shown == {*GIVEN, *SETTINGS, *NESTED, "labels", "title", "student", "code", "made_by"}


@pytest.mark.parametrize("topic", ["", *TOPICS])
def test_a_topic_fits_two_screens(attncalc: Command, topic: str) -> None:
    lines = attncalc("help", *([topic] if topic else [])).out.splitlines()
    assert topic == "fields" or len(lines) <= 50
    assert max(map(len, lines)) <= 80


def test_help_suggests_similar_topics(attncalc: Command) -> None:
    for asked, meant in (("mask", "masks"), ("chek", "check")):
        run = attncalc("help", asked)
        assert (run.code, run.out) == (2, "")
        assert run.err == (
            f'error: no help on "{asked}": did you mean {meant}? attncalc help lists all topics\n'
        )
    assert attncalc("help", "softcap").out.startswith("  softcap  Cap each score")


@pytest.mark.parametrize("command", ["", "self", "check", "help"])
def test_help_on_a_narrow_screen_is_narrow(attncalc: Command, command: str) -> None:
    """Only commands, which cannot be broken, may be longer."""
    called = [command, "--help"] if command else ["--help"]
    lines = attncalc(*called, COLUMNS="40").out.splitlines()
    assert all(len(line) <= 40 or "attncalc " in line for line in lines)
    assert "\x1b" not in "".join(lines)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_headings_are_bold_on_a_terminal_with_colours() -> None:
    assert "\x1b[1mTopics:\x1b[0m\n" in in_terminal(80, "help")
    assert "\nOptions:\n" in in_terminal(40, "self", "--help", NO_COLOR="1")


# -- examples


@pytest.fixture
def files(tmp_path: Path, attncalc: Command) -> Path:
    """Return a folder with what the examples of commands name."""
    shutil.copy(sample("grouped").path, tmp_path / "other.json")
    kernel = (KERNELS[0].path / "right.py").read_text(encoding="utf-8")
    (tmp_path / "kernel.py").write_text(f"{kernel}\n\nfused = attention\n", encoding="utf-8")
    shutil.copy(sample("self").path, tmp_path / "in.json")
    shutil.copy(sample("self").path, tmp_path / "problem.json")
    shutil.copy(sample("full-precision").path, tmp_path / "answer.md")
    lesson = Path(__file__).parent / "lessons" / "a01.md"
    shutil.copy(lesson, tmp_path / "lesson.md")
    (tmp_path / "answers").mkdir()
    shutil.copy(sample("hand").path, tmp_path / "answers" / "ada.json")
    shutil.copytree(sample("model").path, tmp_path / "gpt2")
    (tmp_path / "roster.csv").write_text("name\nAda\n")
    (tmp_path / "spec.json").write_text('{"problems": [{"name": "1", "tokens": 2, "d": 2}]}')
    return tmp_path


def example(line: str) -> str:
    """Return the command of a line, without what it is for."""
    return re.split(r" {3,}", line.strip())[0]


def run(attncalc: Command, line: str, folder: Path) -> None:
    """Run a line of a shell, that of attncalc in this process."""
    if not line.startswith("attncalc"):
        subprocess.run(["sh", "-c", line], check=True, cwd=folder)
        return
    command, _, place = line.partition(" > ")
    done = attncalc(*shlex.split(command)[1:])
    assert done.code == 0, (line, done.err)
    if place:
        (folder / place).write_text(done.out, encoding="utf-8")


@pytest.mark.parametrize("command", mostly_slow(COMMANDS, 20))
def test_the_examples_of_a_command_run(attncalc: Command, command: str, files: Path) -> None:
    for written in re.findall(r"[Ss]ample: (.*)", COMMANDS[command].text):
        run(attncalc, written, files)
    if command in ("check", "export"):
        run(attncalc, "attncalc new --class roster.csv --problems spec.json -o set/", files)
    for line in COMMANDS[command].text.splitlines():
        if line.startswith("    ") and not (is_of_tokenizers(line) or "check set/" in line):
            run(attncalc, example(line), files)


def is_of_tokenizers(line: str) -> bool:
    """Return whether an example needs what is not installed."""
    from importlib.util import find_spec

    if "--backend torch" in line:
        return True
    return "--text" in line and find_spec("tokenizers") is None


@pytest.mark.parametrize("topic", mostly_slow(dict.fromkeys(TOPICS.values()), 9))
def test_the_examples_of_a_topic_run(attncalc: Command, topic: str, tmp_path: Path) -> None:
    lines = [line[4:] for line in topic.splitlines() if line.startswith("    ")]
    commands = [example(line) for line in lines if re.match("attncalc|printf|echo", line)]
    assert commands or "All fields" in topic
    for line in commands:
        run(attncalc, line, tmp_path)


# -- --set

FIELDS = dict[str, Any]
Reading = Callable[[Path, FIELDS], Any]
VALUES = {
    **{name: value for name, value in OTHER.items() if name not in ("causal", "alibi")},
    **{"causal": True, "alibi": True, "backward": True, "residual": False, "tied": True},
    **{
        "rounding": "each-step",
        "decimals": 3,
        "asked": "Q,A",
        "layout": "columns",
        "language": "de",
    },
    **{"weights_layout": "torch", "block": "encoder", "target_ids": "0, 1", "step": "1/2"},
    "equations": "S[i,j] = sum(Q[i,c] * K[j,c] for c in d_k) / 2",
}
TEXTS = ["", "x", "none", "1", "0", "-1", "1/3", "2.5", "true", "false", "Q,A", "pre post"]
MATRICES = [[[1, 0], [0, 1]], [["1/2", 0], [3, -4]], [[1, 1]], [[1], [2]], [[2]], [[0, 1]]]


def outcome(folder: Path, base: FIELDS, more: FIELDS, flags: FIELDS) -> Any:
    """Return the problem that is read, or None where it is refused."""
    (folder / "in.json").write_text(json.dumps(base | more), encoding="utf-8")
    try:
        problem = problem_from({"file": str(folder / "in.json"), **flags}, fallback="self")
    except AttncalcError:
        return None
    return in_json(problem)


def in_text(matrix: list[list[Any]]) -> str:
    """Return a matrix as a flag takes it."""
    return "; ".join(" ".join(map(str, row)) for row in matrix)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("set")


@pytest.mark.slow
@given(st.sampled_from(list(BASES.values())), st.sampled_from(list(GIVEN)), st.data())
@settings(max_examples=1500 if IN_FULL else 30, deadline=None)
def test_set_reads_a_matrix_as_its_flag_and_as_json(
    folder: Path, base: FIELDS, name: str, data: st.DataObject
) -> None:
    matrix = data.draw(st.sampled_from([base.get(name, MATRICES[0]), *MATRICES]))
    matrix = matrix if isinstance(matrix[0], list) else [matrix]
    wanted = outcome(folder, base, {name: matrix}, {})
    text = in_text(matrix)
    assert outcome(folder, base, {}, {name: text}) == wanted
    for value in (text, json.dumps(matrix)):
        assert outcome(folder, base, {}, {"set": [f"{name}={value}"]}) == wanted


def agree(folder: Path, base: FIELDS, name: str, value: Any) -> bool:
    """Check that a setting is read in one way by all, and return whether it is taken."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    wanted = outcome(folder, base, {name: value}, {})
    flag = value if isinstance(value, bool) else [text] if name == "equations" else text
    if not SETTINGS[name].is_switch or isinstance(value, bool):
        assert outcome(folder, base, {}, {name: flag}) == wanted
    for each in dict.fromkeys((text, json.dumps(value))):
        assert outcome(folder, base, {}, {"set": [f"{name}={each}"]}) == wanted, each
    return wanted is not None


@pytest.mark.slow
@given(st.sampled_from(list(BASES.values())), st.sampled_from(list(SETTINGS)), st.data())
@settings(max_examples=1500 if IN_FULL else 30, deadline=None)
def test_set_reads_a_setting_as_its_flag_and_as_json(
    folder: Path, base: FIELDS, name: str, data: st.DataObject
) -> None:
    agree(folder, base, name, data.draw(st.sampled_from([VALUES[name], *TEXTS])))


@pytest.mark.parametrize("name", mostly_slow(SETTINGS, 12))
def test_set_sets_every_setting(folder: Path, name: str) -> None:
    """There is a problem that takes it; null is the default, whatever a file says."""
    patched = {"image": [[1, 0], [0, 1]], "patch": 2, "E": [[1], [0], [2], [1]]}
    channels = {"image": [[1, 0]], "patch": 1, "channels": 2, "E": [[1], [2]]}
    placed = BASES["alone"] | {"positions": "sinusoidal"}
    four = {"W_1": [[[1], [1]]] * 4, "W_2": [[[1, 1]]] * 4, "router_groups": 4}
    experts = BASES["experts"] | four | {"W_router": [[1, 0, 1, 0], [0, 1, 0, 1]]}
    bases = [*BASES.values(), patched, channels, placed, experts]
    taken = [base for base in bases if agree(folder, base, name, VALUES[name])]
    assert taken
    for base in taken[:1]:
        plain = {key: value for key, value in base.items() if key != name}
        said = outcome(folder, plain, {name: VALUES[name]}, {"set": [f"{name}=null"]})
        assert said == outcome(folder, plain, {}, {})


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("title", "A = [b]", "A = [b]"),
        ("made_by", "attncalc new --seed 1", "attncalc new --seed 1"),
        ("labels", ["a", "b c"], "a, b c"),
        ("labels", {"X": ["a", "b"]}, '{"X": ["a", "b"]}'),
    ],
)
def test_set_reads_texts_as_json_does(folder: Path, name: str, value: Any, text: str) -> None:
    base = BASES["alone"]
    wanted = outcome(folder, base, {name: value}, {})
    assert wanted
    for each in (text, json.dumps(value)):
        assert outcome(folder, base, {}, {"set": [f"{name}={each}"]}) == wanted


def test_set_accepts_fields_without_flags(attncalc: Command) -> None:
    attncalc("samples", "encoder", "-o", "in.json")
    labelled = attncalc("encoder", "in.json", "--set", "labels=one,two,three", "--only", "A").out
    assert "one" in labelled
    named = attncalc("self", "--set", 'labels=["x", "y", "z"]', "--set", "title=null").out
    assert "Output x: " in named
    assert "Three tokens" not in named
    run = attncalc("encoder", "--set", 'layers=[{"W_1": [[1]], "W_2": [[1]]}]', "--X", "1; 2")
    assert (run.code, run.err) == (0, "")


def test_set_reaches_into_layers(folder: Path) -> None:
    base = BASES["a stack"]
    layers = [base["layers"][0] | {"heads": 2}, base["layers"][1]]
    wanted = outcome(folder, base, {"layers": layers}, {})
    assert outcome(folder, base, {}, {"set": ["1.heads=2"]}) == wanted
    decoder = BASES["a decoder"]
    wanted = outcome(folder, decoder, {"cross": decoder["cross"] | {"scale": "none"}}, {})
    assert outcome(folder, decoder, {}, {"set": ["cross.scale=none"]}) == wanted


CALLS = {
    **{name: [name, f"{name}.json"] for name in ("cross", "encoder", "decoder", "vit")},
    "check": ["check", "problem.json", "answer.md"],
    "export": ["export", "problem.json", "--to", "moodle"],
    "vary": ["vary", "in.json", "scale=1,2"],
    "why": ["why", "in.json", "O[1,1]"],
    "simulate": ["simulate", "in.json", "K[a] ~ N(mu, I)", "--draws", "3"],
    "aim": ["aim", "in.json", "v_b"],
    "new": ["new", "--seed", "1"],
}
"""What is typed before `--set`, where it is no file alone."""


@pytest.mark.parametrize(
    "command", mostly_slow((name for name, each in COMMANDS.items() if each.fields is not None), 7)
)
def test_set_works_in_every_command_that_accepts_a_problem(
    attncalc: Command, files: Path, command: str
) -> None:
    run = attncalc(*CALLS.get(command, [command, "in.json"]), "--set", "decimals=x")
    assert (run.code, run.out) == (2, "")
    said = 'error: --set decimals takes a whole number from 0 to 12: "x" is not a number\n'
    assert run.err == said


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("softcp=3", '--set: unknown name "softcp": did you mean softcap?'),
        ("softcap", '--set takes FIELD=VALUE, e.g. --set window=3, not "softcap"'),
        ("score=dott", "--set score takes "),
        ("layers=x", "--set layers: not JSON at line 1, column 1: "),
        ("W_Q=wq.csv", '--W_Q: "wq.csv" is neither a file nor a matrix such as '),
        ("window=2", "--window and --set window together: give one of them"),
        ("window=null", "--window and --set window together: give one of them"),
    ],
)
def test_an_invalid_setting_is_one_line(attncalc: Command, value: str, said: str) -> None:
    run = attncalc("self", "--set", value, "--window", "3")
    assert (run.code, run.out) == (2, "")
    (line,) = [each for each in run.err.splitlines() if not each.startswith("note: ")]
    assert line.startswith(f"error: {said}")


@pytest.mark.slow
def test_a_set_for_a_class_accepts_no_field(attncalc: Command, files: Path) -> None:
    attncalc("new", "--class", "roster.csv", "--problems", "spec.json", "-o", "set")
    run = attncalc("check", "set", "answers", "--set", "window=2")
    assert run.code == 2
    assert run.err.startswith("error: --set window: ")


# -- what a shell completes


@pytest.mark.slow
def test_a_shell_completes_fields_and_values(attncalc: Command) -> None:
    def completions(*words: str) -> list[str]:
        asked = {"COMP_WORDS": shlex.join(words), "COMP_CWORD": str(len(words) - 1)}
        return attncalc(_ATTNCALC_COMPLETE="complete_bash", **asked).out.split()

    start = "attncalc", "self", "--set"
    assert completions(*start, "") == [f"{name}=" for name in ALL_FIELDS]
    assert completions(*start, "combi") == ["combine=concat", "combine=mean"]
    assert completions(*start, "X") == ["X=", "X1=", "X2=", "X3="]
    assert completions(*start, "wind") == ["window=", "window=null"]
    # bash takes = for a word, and what follows it for another
    assert completions(*start, "combine", "=") == ["concat", "mean"]
    assert completions(*start, "combine", "=", "m") == ["mean"]
    assert completions("attncalc", "self", "--combine", "") == ["concat", "mean"]
    assert completions("attncalc", "help", "mask") == ["masks"]


@pytest.mark.slow
def test_other_shells_complete_words(attncalc: Command) -> None:
    asked = {"_TYPER_COMPLETE_ARGS": "attncalc self --set combine=m"}
    assert "combine=mean" in attncalc(_ATTNCALC_COMPLETE="complete_zsh", **asked).out


@for_all("name", SETTINGS)
def test_a_completed_value_is_valid(name: str) -> None:
    for each in completed(f"{name}="):
        SETTINGS[name].read(each.partition("=")[2])
    assert flag_of(name).startswith("--")
