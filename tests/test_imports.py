"""What a start costs: nothing is imported that a command does not need."""

import subprocess
import sys

import pytest
from conftest import mostly_slow

import attncalc
from attncalc import _HOMES

HEAVY = ("numpy", "matplotlib", "pydantic")


def imported_by(*arguments: str) -> set[str]:
    """Return which heavy libraries a run of the command has loaded by its end."""
    program = (
        "import atexit, sys\n"
        f"heavy = {HEAVY!r}\n"
        "atexit.register(lambda: print('\\0', *(h for h in heavy if h in sys.modules)))\n"
        f"sys.argv = ['attncalc', *{arguments!r}]\n"
        "from attncalc.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=300
    )
    return set(done.stdout.split("\0")[1].split())


NEEDED = [
    (["--help"], set()),
    (["self", "--help"], set()),
    (["plot", "--help"], set()),
    (["check", "--help"], set()),
    (["vary", "--help"], set()),
    (["simulate", "--help"], set()),
    (["aim", "--help"], set()),
    (["new", "--help"], set()),
    (["export", "--help"], set()),
    (["vary", "scale=1"], {"numpy"}),
    (["--version"], set()),
    (["samples"], set()),
    (["schema", "problem"], set()),
    (["doctor", "--help"], set()),
    (["doctor"], {"numpy"}),
    (["explain", "--help"], set()),
    (["explain"], {"numpy"}),
    (["self"], {"numpy"}),
    (["cross", "--format", "json"], {"numpy"}),
]


@pytest.mark.parametrize(
    ("arguments", "needed"), mostly_slow((pytest.param(*each) for each in NEEDED), 6)
)
def test_a_command_loads_only_what_it_needs(arguments: list[str], needed: set[str]) -> None:
    assert imported_by(*arguments) == needed


def test_importing_the_package_loads_nothing_heavy() -> None:
    program = (
        "import sys, attncalc; print([m for m in ('numpy', 'rich', 'typer') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=300
    )
    assert done.stdout == "[]\n"


def test_every_public_name_is_there_and_no_other() -> None:
    assert set(attncalc.__all__) == {*_HOMES, "__version__"}
    for name in attncalc.__all__:
        assert getattr(attncalc, name)
    with pytest.raises(AttributeError, match="module 'attncalc' has no attribute 'softmax'"):
        _ = attncalc.softmax
