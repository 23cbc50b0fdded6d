"""`attncalc doctor`: facts about this machine for a bug report, without names of people."""

import os
import platform
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from attncalc.base import __version__
from attncalc.base.text import amount, in_json, on_a_line
from attncalc.base.workers import cores
from attncalc.cli.targets import STDOUT, Target, check_targets, deliver, output, target_of

if TYPE_CHECKING:  # numpy may be what does not load
    from attncalc.writing.document import Document

INDENT = 14
"""The column where the facts begin."""
NARROWEST = INDENT + 20
LIBRARIES = ("typer", "numpy", "rich", "matplotlib", "threadpoolctl")
"""The required libraries of attncalc."""
REPORTED = (
    *("NO_COLOR", "FORCE_COLOR", "COLUMNS", "TERM", "LANG", "LC_ALL", "PYTHONUTF8"),
    *("PYTHONIOENCODING", "OMP_NUM_THREADS", "MKL_NUM_THREADS"),
)
"""Environment variables that change the output, or its speed."""
LONGEST = 60
"""Letters of such a variable that are reported."""
_OF_EXTRA = re.compile(r"([A-Za-z0-9._-]++)[^;\n]*+; extra == ['\"]([\w-]+)['\"]")

Facts = dict[str, Any]


def doctor(flags: Mapping[str, Any]) -> None:
    """Gather the facts, and write them."""
    file, form, target = flags["file"], flags["format"], target_of("--out", flags["out"])
    check_targets(target)
    found = facts() | ({} if file is None else {"labels": _labels(file)})
    ending = target.place.suffix.lower() if target.place else ""
    if form == "json" or (form is None and ending == ".json"):
        deliver(output(target, in_json(found, indent=2) + "\n"))
        return
    deliver(output(target, "\n".join(_lines(found, _width(target))) + "\n"))


def _labels(file: str) -> Facts:
    """Return the letters of a problem's names and pages that cannot be shown."""
    from attncalc.cli.commands.problem import problem_from
    from attncalc.writing.classes import pages_of

    problem = problem_from({"file": file}, fallback="self")
    names = [name for each in problem.attentions for name in (*each.queries, *each.keys)]
    texts = [on_a_line(text) for text in (problem.title, *names) if text]
    pages = () if problem.is_long else pages_of(problem)
    return of_labels(dict.fromkeys(texts), pages, sys.stdout.encoding or "utf-8")


def _width(target: Target) -> int | None:
    if target != STDOUT or not sys.stdout.isatty():
        return None
    return max(NARROWEST, shutil.get_terminal_size().columns)


def _lines(found: Facts, width: int | None) -> Iterator[str]:
    for name, text in _told(found):
        line = f"{name:{INDENT}}{on_a_line(text)}"
        indent = " " * INDENT
        yield from [line] if width is None else textwrap.wrap(line, width, subsequent_indent=indent)


def _told(found: Facts) -> Iterator[tuple[str, str]]:
    python, system, terminal = (found[name] for name in ("python", "system", "terminal"))
    yield "attncalc", f"{found['attncalc']}, {found['installed']}"
    within = ", in a virtual environment" if python["virtual"] else ""
    kind = f"{python['implementation']}, {python['bits']} bit"
    yield "Python", f"{python['version']} ({kind}){within}"
    yield "system", f"{system['name']} {system['release']}, {system['machine']}"
    yield "libraries", _versions(found["libraries"])
    for name, needs in found["extras"].items():
        yield f"[{name}]", _versions(needs)
    yield "threads", f"{amount(system['cores'], 'core')}; {_threads(found['threads'])}"
    yield "output", f"{_described(terminal['output'])}, {terminal['width']} columns"
    yield "errors", _described(terminal["errors"])
    yield "color", terminal["color"]
    yield "file names", terminal["files"]
    set_to = [f"{name}={value}" for name, value in found["environment"].items()]
    yield "environment", ", ".join(set_to) or "nothing that changes what is printed"
    yield "LaTeX", ", ".join(found["latex"]) or "not found: attncalc lays out PDF pages itself"
    if labels := found.get("labels"):
        yield "labels", f"{labels['count']} names and titles"
        undrawn, unheld = (", ".join(labels[name]) for name in ("no_font", "no_encoding"))
        drawn = f"no font here can draw {undrawn}" if undrawn else "draw all letters of its pages"
        yield "fonts", drawn
        yield "encoding", f"has no {unheld}" if unheld else "has all of their letters"


def _versions(versions: Mapping[str, str | None]) -> str:
    return ", ".join(f"{name} {number or 'missing'}" for name, number in versions.items())


def _threads(found: Any) -> str:
    if isinstance(found, str):
        return found
    each = (f"{one['library']} {one['version'] or ''} on {one['threads']}" for one in found)
    return ", ".join(each) or "no matrix library found"


def _described(stream: Mapping[str, Any]) -> str:
    return f"{'a terminal' if stream['terminal'] else 'no terminal'}, {stream['encoding']}"


def facts() -> Facts:
    """Return the facts that need no file, as texts, numbers and lists of them."""
    from attncalc.writing.pdf import TYPESETTERS

    return {
        "attncalc": __version__,
        "installed": _installed(),
        "python": {
            "version": platform.python_version(),
            "implementation": platform.python_implementation(),
            "bits": 64 if sys.maxsize > 2**32 else 32,
            "virtual": sys.prefix != sys.base_prefix,
        },
        "system": {
            "name": platform.system(),
            "release": platform.release(),
            "machine": platform.machine(),
            "cores": cores(),
        },
        "libraries": {name: version(name) for name in LIBRARIES},
        "extras": extras(),
        "threads": _blas(),
        "terminal": _terminal(),
        "environment": {name: _short(os.environ[name]) for name in REPORTED if name in os.environ},
        "latex": [name for name in TYPESETTERS if shutil.which(name)],
    }


def of_labels(names: Iterable[str], pages: "Iterable[Document]", encoding: str) -> Facts:
    """Return which letters of names and pages the fonts lack, and which of names the terminal."""
    from attncalc.writing.paper.writer import lacking_in  # here, for matplotlib is slow to load
    from attncalc.writing.plotting.style import undrawable

    known = list(names)
    letters = sorted({c for name in known for c in name})
    return {
        "count": len(known),
        "no_font": _spelled(sorted({*undrawable(known), *lacking_in(pages)})),
        "no_encoding": _spelled(c for c in letters if not _holds(encoding, c)),
    }


def version(name: str) -> str | None:
    """Return the version of a library that is installed; None where it is not."""
    with suppress(metadata.PackageNotFoundError):
        return metadata.version(name)
    return None


def extras() -> dict[str, dict[str, str | None]]:
    """Return the packages of each extra of attncalc, with the installed versions."""
    found: dict[str, dict[str, str | None]] = {}
    for line in _requirements():
        if (match := _OF_EXTRA.match(line)) and match[1] != "attncalc":
            found.setdefault(match[2], {})[match[1]] = version(match[1])
    return found


def _requirements() -> list[str]:
    with suppress(metadata.PackageNotFoundError):
        return metadata.requires("attncalc") or []
    return []


def _installed() -> str:
    if (Path(__file__).parents[2] / "samples").is_dir():
        return "from a wheel"
    return "from a clone" if _requirements() else "not installed: run from a clone"


def _blas() -> list[Facts] | str:
    """Return the libraries of numpy's matrix products, and their numbers of threads."""
    try:
        import numpy  # noqa: F401 - its libraries are loaded with it
        from threadpoolctl import threadpool_info
    except Exception as error:  # any error of numpy is part of the report
        return f"numpy does not load: {type(error).__name__}: {error}".partition("\n")[0]
    return [
        {
            "library": each.get("internal_api"),
            "version": each.get("version"),
            "threads": each.get("num_threads"),
        }
        for each in threadpool_info()
    ]


def _terminal() -> Facts:
    from rich.console import Console

    console = Console(file=sys.stdout)
    return {
        "width": shutil.get_terminal_size().columns,
        "output": _stream(sys.stdout),
        "errors": _stream(sys.stderr),
        "files": sys.getfilesystemencoding(),
        "color": console.color_system or "none",
    }


def _stream(stream: TextIO | None) -> Facts:
    if stream is None:
        return {"terminal": False, "encoding": "closed"}
    return {"terminal": stream.isatty(), "encoding": stream.encoding or "unknown"}


def _short(text: str) -> str:
    """Return a value with the home folder, which may be a person's name, as ~."""
    with suppress(RuntimeError):
        text = text.replace(str(Path.home()), "~")
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _holds(encoding: str, character: str) -> bool:
    try:
        character.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _spelled(characters: Iterable[str]) -> list[str]:
    return [f"{c} (U+{ord(c):04X})" for c in characters]
