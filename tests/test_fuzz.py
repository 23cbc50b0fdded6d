"""The fuzzer: most of what it asks for is done, so that what lies behind readers is tried."""

from pathlib import Path
from random import Random

import pytest
from conftest import SLOW
from fuzz import answering, asking
from fuzz.calling import Case, call
from fuzz.judging import faults_of

from attncalc.reading.answers import read_answer_bytes


@pytest.mark.slow
def test_answers_of_other_sizes_get_past_the_reader() -> None:
    read, count = 0, 200
    for seed in range(count):
        some = Random(f"past the reader {seed}")
        name, data = answering.answer_to(some, some.choice(answering.keyed()))
        try:
            read_answer_bytes(data, name)
        except ValueError:
            continue
        read += 1
    assert read > 0.85 * count


@SLOW
def test_most_command_lines_are_not_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_TYPER_FORCE_DISABLE_TERMINAL", "1")
    monkeypatch.delenv("ATTNCALC_TRACEBACK", raising=False)
    codes = []
    for seed in range(150):
        case: Case = asking.command_line(Random(f"most are taken {seed}"))
        seen = call(case, tmp_path)
        codes.append(seen.code)
        assert not [fault for fault in faults_of(case, seen) if not fault.is_cost], case.arguments
    assert codes.count(2) < len(codes) / 2
