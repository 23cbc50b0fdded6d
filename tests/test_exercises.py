"""Published exercises agree: every command of docs/exercises.md gives every published digit."""

import json
import re
import shlex
from decimal import Decimal

import pytest
from conftest import ROOT, Command

PAGE = (ROOT / "docs" / "exercises.md").read_text(encoding="utf-8")
SECTIONS = {
    title: (part, text)
    for part, inner in re.findall(r"^## (.+)\n((?:(?!## ).*\n)*)", PAGE, flags=re.MULTILINE)
    for title, text in re.findall(r"^### (.+)\n((?:(?!### ).*\n)*)", inner, flags=re.MULTILINE)
}
DIFFERING = "Exercises that differ"
FLOAT32 = Decimal("2e-7")
"""The error of programs that print float32, beside half of their last digit."""


def digits(text: str, said: str) -> list[tuple[str, int, list[list[str]]]]:
    """Return the steps that a line says: name, row (0 for all) and rows of numbers."""
    (line,) = re.findall(rf"^{said}: ((?:.+\n)+)", text, flags=re.MULTILINE)
    found = re.findall(r"`(\w+)(?:\[(\d),:\])? = ([^`]+)`", line)
    return [
        (name, int(row or 0), [each.split() for each in numbers.split(";")])
        for name, row, numbers in found
    ]


def agrees(printed: str, value: float) -> bool:
    """Return whether a printed number is a value, rounded to its last digit."""
    given = Decimal(printed)
    half = Decimal(5).scaleb(int(given.as_tuple().exponent) - 1) if "." in printed else FLOAT32
    return abs(given - Decimal(value)) <= half + FLOAT32


def computed(attncalc: Command, text: str) -> dict[str, list[list[float]]]:
    """Return the steps that the command of a section computes."""
    (block,) = re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL)
    named = dict(re.findall(r'^([A-Z])="(.*)"\n', block, flags=re.MULTILINE))
    (command,) = re.findall(r"^attncalc .*", block, flags=re.MULTILINE | re.DOTALL)
    for name, value in named.items():
        command = command.replace(f"${name}", value)
    run = attncalc(*shlex.split(command.replace("\\\n", " "))[1:], "--format", "json")
    assert run.code == 0, run.err
    return {step["name"]: step["values"] for step in json.loads(run.out)["steps"]}


def faults(steps: dict[str, list[list[float]]], text: str, said: str) -> list[str]:
    """Return the printed numbers that are not those computed."""
    return [
        f"{name}: {printed} is {value}"
        for name, row, rows in digits(text, said)
        for numbers, values in zip(
            rows, steps[name][row - 1 : row] if row else steps[name], strict=True
        )
        for printed, value in zip(numbers, values, strict=True)
        if not agrees(printed, value)
    ]


@pytest.mark.parametrize("title", SECTIONS)
def test_published_digits_are_those_computed_and_wrong_ones_are_named(
    attncalc: Command, title: str
) -> None:
    part, text = SECTIONS[title]
    steps = computed(attncalc, text)
    wrong = faults(steps, text, "Published")
    if part == DIFFERING:
        assert wrong
        assert not faults(steps, text, "Computed")
    else:
        assert not wrong


def test_the_page_counts_its_exercises() -> None:
    parts = [part for part, _ in SECTIONS.values()]
    assert parts.count(DIFFERING) == 3
    assert len(parts) == 22
    assert "Nineteen exercises agree. In three, the published digits are wrong." in PAGE
