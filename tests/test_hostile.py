"""Untrusted files: each gets its message, and an unexpected error one line and exit code 3."""

import json
import sys
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest
from conftest import GOOD, Command
from fuzz import asking, judging, pace, shrinking
from fuzz.calling import Case, Outcome

from attncalc import InputError, Problem, solve
from attncalc.cli import OWN_MISTAKE
from attncalc.cli.app import COMMANDS

HOSTILE = Path(__file__).parent / "hostile"
EXPECTED = json.loads((HOSTILE / "expected.json").read_text(encoding="utf-8"))
FILES = {path.name: path.read_bytes() for path in HOSTILE.iterdir() if path.suffix != ".md"}


@pytest.mark.campaign(10)
@pytest.mark.parametrize("case", EXPECTED, ids=lambda case: ascii(" ".join(case["arguments"])))
def test_a_hostile_file_gets_its_message(
    case: dict[str, Any], attncalc: Command, tmp_path: Path
) -> None:
    named = [name for name in FILES if name in case["arguments"]]
    for name in named:
        (tmp_path / name).write_bytes(FILES[name])
    run = attncalc(*case["arguments"])
    # what newer Typers spell out of an argument, we take out of the words of older ones
    said = {case["err"], case["err"].replace("(x\\x1b)", "(x)    ")}
    assert (run.code, run.err in said) == (case["code"], True), run.err
    assert (run.out == "") == (run.code == 2)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {
        name: FILES[name] for name in named
    }


def test_every_hostile_file_is_tried() -> None:
    tried = {word for case in EXPECTED for word in case["arguments"]}
    assert set(FILES) - {"expected.json"} <= tried


# -- the last net ---------------------------------------------------------------------------------


@pytest.mark.campaign(3)
@pytest.mark.parametrize("command", COMMANDS)
def test_unexpected_error_prints_one_line_in_every_command(
    command: str, attncalc: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The module that does the work does not load, as with a broken library."""
    (tmp_path / "a.txt").write_text("Q = [1]")
    exported = {"export": ["in.json", "--to", "moodle"]}
    studied = {"vary": ["scale=1"], "simulate": ["X ~ U(0, 1)"], "aim": ["v_1"], "open": ["a"],
               "why": ["in.json", "A"]}  # fmt: skip
    studied["generate"] = studied["count"] = ["a"]
    words = {"check": ["a.txt", "a.txt"], **studied, **exported}.get(command, [])
    module = f"attncalc.cli.commands.{COMMANDS[command].module}"
    monkeypatch.setitem(sys.modules, module, None)
    run = attncalc(command, *words)
    assert (run.code, run.out) == (OWN_MISTAKE, "")
    assert run.err.startswith("error: internal error: ModuleNotFoundError: ")
    assert f"(attncalc {' '.join([command, *words])})" in run.err
    assert "Traceback" not in run.err
    with pytest.raises(ModuleNotFoundError):
        attncalc(command, *words, ATTNCALC_TRACEBACK="1")


def test_a_missing_library_at_start_is_one_line(
    attncalc: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "attncalc.cli.app", None)
    run = attncalc("self")
    assert (run.code, run.out) == (OWN_MISTAKE, "")
    assert "internal error" in run.err


# -- angles ---------------------------------------------------------------------------------------


def pi() -> Decimal:
    """Return π by the means of Gauss and Legendre."""
    a, b, t, p = Decimal(1), 1 / Decimal(2).sqrt(), Decimal(1) / 4, Decimal(1)
    for _ in range(12):
        n = (a + b) / 2
        b, t, a, p = (a * b).sqrt(), t - p * (a - n) ** 2, n, p * 2
    return (a + b) ** 2 / (4 * t)


def sine_and_cosine(x: Decimal) -> tuple[Decimal, Decimal]:
    """Return both, by their series, in 700 digits."""
    x, sums, term = x % (2 * pi()), [Decimal(0), Decimal(0)], Decimal(1)
    for n in range(500):
        sums[n % 2] += term if n % 4 < 2 else -term
        term *= x / (n + 1)
    return sums[1], sums[0]


@pytest.mark.parametrize(
    ("offset", "base"),
    [("999999000", "10000"), ("123456789.123456789", "3/7"), ("5", "1e-7"), ("1/3", "1e300")],
)
def test_the_farthest_turns_are_right_to_the_digit(offset: str, base: str) -> None:
    X, eye = [[1, 2, 3, 4], [4, 3, 2, 1]], [[int(i == j) for j in range(4)] for i in range(4)]
    fields = {"X": X, "W_Q": eye, "W_K": eye, "W_V": eye, "positions": "rope", "decimals": 12}
    shown = solve(Problem(**fields, rope_offset=offset, rope_base=base)).shown("Q_rot")
    with localcontext() as context:
        context.prec = 700
        far, turn = (Decimal(f.numerator) / f.denominator for f in map(Fraction, (offset, base)))
        for t in range(2):
            for i in range(2):
                sine, cosine = sine_and_cosine((far + t) / turn ** (Decimal(i) / 2))
                x, y = X[t][i], X[t][i + 2]
                for j, value in ((i, x * cosine - y * sine), (i + 2, x * sine + y * cosine)):
                    rounded = value.quantize(Decimal("1e-12"), ROUND_HALF_UP)
                    assert Decimal(shown[t][j]) == rounded


@pytest.mark.parametrize("farther", [{"rope_offset": "1e300"}, {"rope_base": "1e-300"}])
def test_turns_of_which_no_digit_is_known_are_refused(farther: dict[str, str]) -> None:
    wide = GOOD | {"W_V": [[1, 1], [1, 1]]}
    with pytest.raises(InputError, match="rope turns by angles that are too large"):
        Problem(**wide, positions="rope", **farther)
    with pytest.raises(InputError, match="this attention does not use it"):
        Problem(**wide, **farther)


# -- the fuzzer -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_fuzzer_covers_every_command_and_is_reproducible() -> None:
    assert set(asking.commands()) == set(COMMANDS)
    first, again = ([asking.command_line(Random(f"7:{n}")) for n in range(40)] for _ in range(2))
    assert first == again
    assert {case.arguments[0] for case in first} & set(COMMANDS)


OUTCOME = Outcome(0, "", "", 0.1, 100, 0)


@pytest.mark.parametrize(
    ("kind", "seen"),
    {
        "exit": Outcome(3, "", "error: internal error: X", 0.1, 100, 0),
        "raised": Outcome(None, "", "", 0.1, 100, 0, raised="KeyError at a.py:1: 'x'"),
        "warning": Outcome(0, "", "RuntimeWarning: overflow", 0.1, 100, 0),
        "slow": Outcome(0, "", "", 2.1, 100, 0),
        "large": Outcome(0, "", "", 0.1, 301, 200),
        "overwritten": Outcome(0, "", "", 0.1, 100, 0, changed=("in.json",)),
        "left over": Outcome(0, "", "", 0.1, 100, 0, appeared=(".out.md.x1",)),
        "half done": Outcome(2, "", "", 0.1, 100, 0, appeared=("out.md",)),
        "raw on stderr": Outcome(2, "", "error: \x1b[31m", 0.1, 100, 0),
        "raw on stdout": Outcome(0, "\u202e", "", 0.1, 100, 0),
        "nan": Outcome(0, "│ nan │", "", 0.1, 100, 0),
        "minus zero": Outcome(0, "│ -0.00 │", "", 0.1, 100, 0),
    }.items(),
)
def test_the_fuzzer_sees_a_broken_promise(
    kind: str, seen: Outcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "slowness", lambda: 1.0)
    case = Case(("self", "in.json"), {"in.json": b"{}"})
    assert [fault.kind for fault in judging.faults_of(case, seen)] == [kind]
    assert not judging.faults_of(case, OUTCOME)
    assert not judging.faults_of(case, replace(OUTCOME, out="<script>/-0/, nan</script>"))


def test_a_machine_that_is_slower_is_allowed_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "slowness", lambda: 3.0)
    seen = {took: Outcome(0, "", "", took, 100, 0) for took in (5.9, 6.1)}
    kinds = {took: [fault.kind for fault in judging.faults_of(Case(()), each)]
             for took, each in seen.items()}  # fmt: skip
    assert kinds == {5.9: [], 6.1: ["slow"]}
    assert 1 <= pace.slowness() < 100


def test_the_fuzzer_makes_a_case_small() -> None:
    case = Case(("self", "in.txt", "-d", "3"), {"in.txt": b"a\nb\nxyz\nc\n", "other": b"z"})
    small = shrinking.shrunk(case, lambda each: b"y" in each.files.get("in.txt", b""))
    assert small == Case(("self",), {"in.txt": b"y"})
