"""`attncalc doctor`: data for a bug report."""

import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from attncalc.base.text import amount, in_json, on_a_line
from attncalc.cli.diagnosis import Facts, facts, of_labels
from attncalc.cli.targets import STDOUT, Target, check_targets, deliver, output, target_of

INDENT = 14
"""The column where the facts begin."""
NARROWEST = INDENT + 20


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
    yield "threads", f"{amount(system['cores'], 'core')}; {_blas(found['threads'])}"
    yield "output", f"{_stream(terminal['output'])}, {terminal['width']} columns"
    yield "errors", _stream(terminal["errors"])
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


def _blas(found: Any) -> str:
    if isinstance(found, str):
        return found
    each = (f"{one['library']} {one['version'] or ''} on {one['threads']}" for one in found)
    return ", ".join(each) or "no matrix library found"


def _stream(stream: Mapping[str, Any]) -> str:
    return f"{'a terminal' if stream['terminal'] else 'no terminal'}, {stream['encoding']}"
