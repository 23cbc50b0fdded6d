"""What tests share: the command as a person runs it, problems to break, and how much is tried."""

import compileall
import gc
import importlib
import inspect
import io
import os
import random
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial, wraps
from pathlib import Path
from typing import Any

import pytest
from browser import Browser
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from attncalc.problem import samples

ROOT = Path(__file__).parent.parent
PACKAGE = Path(samples.__file__).parent.parent
BUNDLED = samples.sample("self").path.parent
"""The samples: in the package where it is installed, and else in the clone."""

SHARE, SLOW_SHARE = 20, 3
"""Of the random problems of a property, plain `pytest` tries one in so many, and `-m slow`."""


@dataclass(frozen=True)
class Run:
    """What one run of the command printed, and how it ended."""

    code: int
    out: str
    err: str


Command = Callable[..., Run]

SLOW = pytest.mark.slow
"""Tries more of the same: see `many` and `some_of`."""

collect_ignore = ["answers", "torch_forward.py", "traced.py"]
"""Answers as people write them: some end in .py, and none is a test; and what needs PyTorch."""


IN_FULL = "ATTNCALC_NEW_EXAMPLES" in os.environ
"""Whether new examples are asked for, and all of them."""


def mostly_slow(values: Iterable[Any], every: int = 4, of_slow: int = 1) -> list[Any]:
    """Return parameters of which one in so many is for each run, and the others are slow.

    Several parameters of one test are in a `pytest.param`. Of the slow ones, one in `of_slow` is
    tried, and all where new examples are asked for.
    """
    listed = list(values)
    slow = [value for place, value in enumerate(listed) if place % every]
    return [
        *listed[::every],
        *(
            pytest.param(*(value.values if hasattr(value, "marks") else (value,)), marks=SLOW)
            for value in slow[:: 1 if IN_FULL else of_slow]
        ),
    ]


os.environ["_TYPER_FORCE_DISABLE_TERMINAL"] = "1"  # Typer reads it when it is imported

_THOROUGH = False
_WITHOUT_SLOW = False
"""Whether slow tests are left out, as they are by default."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that choose a random sample of the slow tests."""
    parser.addoption(
        "--sample", type=float, default=1.0, help="the share of the slow tests to run, at random"
    )
    parser.addoption("--sample-seed", type=int, help="the seed of the sample (default: a new one)")


def pytest_configure(config: pytest.Config) -> None:
    """Note how much to try, before any test module is imported; draw a seed.

    Collection creates many objects and hardly any garbage: without gc it takes half the time.
    """
    global _THOROUGH, _WITHOUT_SLOW
    gc.disable()
    _WITHOUT_SLOW = config.option.markexpr == "not slow"
    _THOROUGH = bool(re.search(r"(?<!not )\bslow\b", str(config.option.markexpr)))
    if _WITHOUT_SLOW:
        _draw_no_constants_of_sources()
    config.pluginmanager.register(_OnlyExamples())
    if config.option.sample_seed is None:  # the processes of xdist take the same one
        drawn = os.environ.setdefault("ATTNCALC_SAMPLE_SEED", str(random.randrange(10**6)))
        config.option.sample_seed = int(drawn)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Print the sample, for it to be run again; a header is not printed with -q."""
    option = session.config.option
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if option.sample < 1 and reporter:
        reporter.write_line(
            f"a sample of the slow tests: --sample {option.sample:g} "
            f"--sample-seed {option.sample_seed}"
        )


def _draw_no_constants_of_sources() -> None:
    """Let Hypothesis not parse all modules for constants: it takes seconds in each process.

    Its examples then change with the tests alone, and not with any constant of the package.
    """
    from hypothesis.internal.conjecture import providers

    if hasattr(providers, "is_local_module_file"):
        providers.is_local_module_file = lambda path: False


def pytest_collection(session: pytest.Session) -> None:
    """Compile the share of this process of a fresh clone; else each compiles all of it."""
    config = session.config
    worker = getattr(config, "workerinput", None)
    if worker is None or sys.dont_write_bytecode or "tests" not in config.args:
        return
    share = slice(int(worker["workerid"][2:]), None, worker["workercount"])
    for path in sorted(PACKAGE.rglob("*.py"))[share]:
        compileall.compile_file(path, quiet=2)
    for path in sorted((ROOT / "tests").glob("test_*.py"))[share]:
        with suppress(Exception, pytest.skip.Exception):  # reported when it is collected
            importlib.import_module(path.stem)


class _OnlyExamples:
    """Look for examples only in files with any, also outside the folder of the tests."""

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(self, file_path: Path) -> Iterator[None]:
        """Keep the collector of tests, and that of examples if there are any."""
        found = yield
        if file_path.suffix != ".py" or b">>>" in file_path.read_bytes():
            return found
        return [each for each in found if type(each) is pytest.Module]


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector: pytest.Collector, obj: Any) -> list[pytest.Item] | None:
    """Make no items of slow functions if they are left out."""
    if not (_WITHOUT_SLOW and inspect.isfunction(obj)):
        return None
    marks = getattr(obj, "pytestmark", ())
    slow = any(mark.name == "slow" for mark in marks) or collector.get_closest_marker("slow")
    return [] if slow else None


@pytest.hookimpl(wrapper=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> Iterator[None]:
    """Mark most cases of campaigns as slow, and make no items of slow cases that are left out.

    Of a campaign's cases, one in each so many stays, not always at the same place: of tests with
    several parameters each brings in all its values.
    """
    yield
    cases = metafunc._calls
    quick = [case for case in cases if all(mark.name != "slow" for mark in case.marks)]
    campaign = metafunc.definition.get_closest_marker("campaign")
    if campaign and not metafunc.definition.get_closest_marker("slow"):
        (every,) = campaign.args
        for number, case in enumerate(quick):
            if sum(divmod(number, every)) % every:
                case.marks.append(SLOW.mark)
        quick = [case for case in quick if SLOW.mark not in case.marks]
    if _WITHOUT_SLOW and quick:
        cases[:] = quick


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the slow tests of no sample."""
    share, seed = config.option.sample, config.option.sample_seed
    if share < 1:
        items[:] = [
            item
            for item in items
            if not item.get_closest_marker("slow")
            or random.Random(f"{seed} {item.nodeid}").random() < share
        ]


def pytest_collection_finish() -> None:
    """Turn garbage collection on, except for the objects of the collection."""
    gc.freeze()
    gc.enable()


def some_of(count: int) -> list[Any]:
    """Return seeds from 0: a share of them for plain `pytest`, and the others for `-m slow`."""
    few = -(-count // SHARE)
    return [*range(few), *(pytest.param(seed, marks=SLOW) for seed in range(few, count))]


def pairs(first: Sequence[Any], second: Sequence[Any]) -> list[Any]:
    """Return all pairs: plain `pytest` takes as many as bring in each value of either."""
    fewer = min(len(first), len(second))
    return [
        pytest.param(one, other, marks=SLOW if (i - j) % fewer else ())
        for i, one in enumerate(first)
        for j, other in enumerate(second)
    ]


def for_all(names: str | Sequence[str], cases: Iterable[Any]) -> Callable[..., Any]:
    """Return what makes a test of short cases one item, in place of `parametrize`.

    An item takes longer than most of these cases. A failure has a note that names its case.
    """
    listed = list(cases)

    def decorate(test: Callable[..., None]) -> Callable[[], None]:
        @wraps(test)
        def in_turn() -> None:
            for case in listed:
                given = (case,) if isinstance(names, str) else case
                try:
                    test(*given)
                except BaseException as error:
                    error.add_note(f"in the case {case!r}")
                    raise

        in_turn.__signature__ = inspect.Signature()  # type: ignore[attr-defined]
        return in_turn

    return decorate


def many(examples: int, **changes: Any) -> Callable[..., Any]:
    """Return what makes a test a property of random problems, however slow the machine.

    Where the variable ATTNCALC_NEW_EXAMPLES is set, `pytest -m slow` tries so many examples of it,
    and new ones each time. Else it tries a share of them, and plain `pytest` a smaller one, the
    same every time, so that they fail on a change alone.
    """
    share = SHARE if not _THOROUGH else 1 if IN_FULL else SLOW_SHARE
    checks = settings(
        max_examples=-(-examples // share),
        derandomize=not IN_FULL,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        **changes,
    )
    return lambda test: SLOW(checks(test)) if _THOROUGH else checks(test)


def any_text(max_size: int) -> "st.SearchStrategy[str]":
    """Return texts of any characters; plain `pytest` does not list them all."""
    some = "".join(map(chr, (*range(0x3100), 0xFFFD, 0x1D7D8, 0x1F600, 0x10FFFF)))
    return st.text(max_size=max_size) if _THOROUGH else st.text(some, max_size=max_size)


@cache
def _application(app_for: Callable[..., Any], arguments: tuple[str, ...]) -> Any:
    """Return the command for the first argument; building it takes longer than most commands."""
    from typer.main import get_command

    return get_command(app_for(arguments))


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Start Chromium once."""
    found = Browser()
    yield found
    found.close()


@pytest.fixture
def browser(chromium: Browser) -> Iterator[Browser]:
    """Return Chromium with the screen and the media it started with."""
    yield chromium
    chromium.reset()


@pytest.fixture
def single_threaded() -> Iterator[None]:
    """Run PyTorch on one core: the other tests need theirs."""
    torch = pytest.importorskip("torch")

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def attncalc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Return a function that runs `attncalc` in this process, inside the test's own folder.

    What depends on a process (signals, pipes, a terminal, what is imported) starts one itself.
    """

    def run(*arguments: str, stdin: str | bytes = b"", **environment: str) -> Run:
        from attncalc.cli import app, run

        encoding = environment.pop("PYTHONIOENCODING", "utf-8")
        given = io.BytesIO(stdin.encode() if isinstance(stdin, str) else stdin)
        out, err = io.BytesIO(), io.BytesIO()
        with monkeypatch.context() as patch:
            patch.chdir(tmp_path)
            patch.setattr(sys, "argv", ["attncalc", *arguments])
            if "_ATTNCALC_COMPLETE" not in environment:
                built = partial(_application, app.app_for)
                patch.setattr(app, "app_for", lambda given: built(tuple(given[:1])))
            for name in set(os.environ) - set(clean_environment()):
                patch.delenv(name)
            # 80: rich would else measure the terminal in which the tests run
            for name, value in ({"COLUMNS": "80"} | environment).items():
                patch.setenv(name, value)
            for name, stream in (("stdin", given), ("stdout", out), ("stderr", err)):
                patch.setattr(sys, name, io.TextIOWrapper(stream, encoding, write_through=True))
            code = run()
            return Run(code, *(_text(each.getvalue(), encoding) for each in (out, err)))

    return run


def _text(printed: bytes, encoding: str) -> str:
    """Return what was printed: in UTF-8, as files are, or in the console's."""
    try:
        return printed.decode()
    except UnicodeDecodeError:
        return printed.decode(encoding)


def clean_environment() -> dict[str, str]:
    """Return the environment without what would color or widen the output."""
    unwanted = {"FORCE_COLOR", "NO_COLOR", "COLUMNS", "TERM", "CLICOLOR_FORCE", "GITHUB_ACTIONS"}
    kept = {name: value for name, value in os.environ.items() if name not in unwanted}
    return kept | {"_TYPER_FORCE_DISABLE_TERMINAL": "1", "PYTHONIOENCODING": "utf-8"}


GOOD = {
    "X": [[1, 2], [3, 4]],
    "W_Q": [[1, 0], [0, 1]],
    "W_K": [[0, 1], [1, 0]],
    "W_V": [[1], [1]],
}
"""A small problem without a fault, for tests to break."""


def outputs_of_the_command() -> set[tuple[str, str]]:
    """Return each command and each of its options that name a FILE or PLACE to write to."""
    import typer

    from attncalc.cli.app import app_for

    group = typer.main.get_command(app_for([]))
    return {
        (name, parameter.opts[-1])
        for name, command in group.commands.items()  # type: ignore[attr-defined]
        for parameter in command.params
        if parameter.param_type_name == "option"
        and (parameter.metavar in ("FILE", "PLACE") or _writes(parameter.help or ""))
    }


def _writes(text: str) -> bool:
    """Return whether a help describes an output file, whatever its placeholder is called."""
    return bool(re.search(r"(?i)\b(write|save)\b.*\b(file|folder|place)\b", text))
