"""`attncalc samples` and `attncalc schema`: list the bundled files, or write one out."""

import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from shlex import quote
from typing import Any

from attncalc.base.errors import InputError, OutputError
from attncalc.base.sources import remember
from attncalc.base.text import in_json
from attncalc.cli.targets import STDOUT, Output, Target, check_targets, deliver, output, target_of
from attncalc.problem.samples import ALL, ANSWERS, COMMANDS, GROUPS, KERNELS, MODELS, Sample, sample
from attncalc.schemas import NAMES, OF
from attncalc.schemas import schema as schema_of
from attncalc.writing.files import descriptor_of

NARROWEST = 20
"""Letters of a description next to a name on the narrowest screen."""


def samples(flags: Mapping[str, Any]) -> None:
    """List the samples, or write one out."""
    name, out = flags["name"], flags["out"]
    if name is None:
        if out is not None:
            raise InputError(
                f"-o {out} writes one sample: name it, as attncalc samples self -o {out}"
            )
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        deliver(output(STDOUT, listing(width)))
        return
    chosen, target = sample(name), target_of("--out", out)
    if not chosen.path.is_dir():
        said = f"written to {out}" if out else None
        content = _content(chosen.path)
        if target.place is not None:
            _keep_others({target.place: content})
        deliver(output(target, content, *_to_try(chosen, target), said=said))
        return
    if target.place is None:
        raise InputError(f"{name} is a folder of files: choose a folder, as -o my-{name}")
    remember(chosen.path)
    files = sorted(path for path in chosen.path.iterdir() if path.is_file())
    copies = {target.place / file.name: _content(file) for file in files}
    _keep_others(copies)
    deliver(Output(Target(target.place, is_folder=True), copies, said=f"written to {out}"))


def _keep_others(copies: Mapping[Path, bytes]) -> None:
    """Refuse to write over files with other content: a copy of a sample is there to be changed."""
    for path, content in copies.items():
        is_open = descriptor_of(path) is not None  # what is written is added to it
        if not is_open and path.is_file() and path.read_bytes() != content:
            raise OutputError(
                f"{path}: it already exists, with other content: choose another name, or delete it"
            )


def _to_try(chosen: Sample, target: Target) -> Iterator[str]:
    """Yield the command to run on a written sample, if it shows more than a page."""
    if target.place is not None and chosen.name in COMMANDS:
        yield f"try: {COMMANDS[chosen.name].replace(chosen.file, quote(str(target.place)), 1)}"


def listing(width: int | None) -> str:
    """Return a line for each sample, broken between words where a screen is narrower."""
    each_name = max(map(len, ALL))
    lines: list[str] = []
    others = {"Answers to mark": ANSWERS, "Models to open": MODELS, "Kernels to test": KERNELS}
    for title, group in {**GROUPS, **others}.items():
        lines += [*([""] if lines else []), f"{title}:"]
        for each in group:
            start = f"{each.name:{each_name}}  {each.kind:7}  "
            lines += _wrapped(start, each.shows, width)
    return "\n".join([*lines, "", "Write one out:  attncalc samples NAME > my-problem", ""])


def _wrapped(start: str, text: str, width: int | None) -> list[str]:
    if width is None:
        return [start + text]
    room = max(width, len(start) + NARROWEST)
    indent = " " * len(start)
    return textwrap.wrap(text, room, initial_indent=start, subsequent_indent=indent)


def _content(file: Path) -> bytes:
    remember(file)
    return file.read_bytes()


def schema(flags: Mapping[str, Any]) -> None:
    """List the JSON Schemas, or write one out."""
    name, target = flags["name"], target_of("--out", flags["out"])
    check_targets(target)
    if name is not None:
        deliver(output(target, in_json(schema_of(name), indent=2) + "\n"))
        return
    widest = max(map(len, NAMES))
    lines = [f"{each:{widest}}  {OF[each]}" for each in NAMES]
    end = "Write one out:  attncalc schema NAME -o NAME.schema.json"
    deliver(output(target, "\n".join([*lines, "", end, ""])))
