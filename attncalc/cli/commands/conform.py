"""`attncalc conform`: the conformance tests of attention kernels."""

import io
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.sources import remember
from attncalc.base.text import in_json
from attncalc.cli.commands.screens import written
from attncalc.cli.streams import reporting
from attncalc.cli.targets import Output, Target, check_targets, deliver, output, target_of
from attncalc.conforming.adapters import BACKENDS as ADAPTERS
from attncalc.conforming.case import VERSION, Case, suite
from attncalc.conforming.reference import expected
from attncalc.conforming.running import PLAIN, Inside, Kernel, command
from attncalc.conforming.suite import Report
from attncalc.conforming.suite import conform as run
from attncalc.writing.reports import conform as reports

FORMS = ("table", "markdown", "latex", "html", "json", "junit")


def conform(flags: Mapping[str, Any]) -> int:
    """Run the suite on a kernel, write the report, and return 1 where a case fails."""
    own = {name: flags[name] for name in ("alignment", "dtype", "quick")}
    cases = list(suite(flags["seed"], **own))
    if flags["only"]:
        features = dict.fromkeys(each.feature for each in cases)
        wanted = [each.strip() for each in flags["only"].split(",")]
        for each in wanted:
            if each not in features:
                known = "; ".join(features)
                raise InputError(f'--only: there is no feature "{each}": there are {known}')
        cases = [each for each in cases if each.feature in wanted]
    if flags["list"]:
        text = "".join(f"{each.feature}: {each.name}\n" for each in cases)
        deliver(output(target_of("--out", flags["out"]), text))
        return 0
    if flags["write"] is not None:
        _write(flags, cases)
        return 0
    target = target_of("--out", flags["out"])
    badge = None if flags["badge"] is None else target_of("--badge", flags["badge"])
    is_xml = target.place is not None and target.place.suffix == ".xml"
    form = flags["format"] or ("junit" if is_xml else target.form or "table")
    kernel, name = _kernel(flags)
    check_targets(target, *([badge] if badge else []))
    try:
        with reporting() as report:
            watch = report or (lambda done, count: None)
            found = run(kernel, cases, name, watch)
    finally:
        kernel.close()
    if not any(each.status != "not tested" for each in found.results):
        raise InputError(f"{name}: no case could be tested: {found.results[0].why}")
    outputs = [output(target, _written(found, form, target, full=flags["full"]))]
    if badge:
        outputs.append(output(badge, reports.conform_badge(found)))
    deliver(*outputs)
    return 1 if found.of("failed") else 0


def _kernel(flags: Mapping[str, Any]) -> tuple[Kernel | Inside, str]:
    if flags["program"]:
        arguments = shlex.split(flags["program"])
        takes = [each.strip() for each in (flags["offers"] or "").split(",") if each.strip()]
        for each in takes:
            if each not in PLAIN:
                raise InputError(f"--offers: unknown {each}: there are {', '.join(PLAIN)}")
        kernel = Inside(command(arguments, flags["timeout"]), takes=frozenset(takes))
        return kernel, flags["program"]
    if not flags["file"]:
        raise InputError("name the kernel: kernel.py, kernel.py:function, or --command")
    place = flags["file"]
    if place in ADAPTERS:
        return Kernel(place, ADAPTERS[place], flags["device"], flags["timeout"]), place
    path = Path(place if place.endswith(".py") else place.rpartition(":")[0] or place)
    if not path.is_file():
        raise InputError(f"{path}: no such file; libraries are {', '.join(ADAPTERS)}")
    remember(path)
    return Kernel(place, flags["backend"], flags["device"], flags["timeout"]), place


def _written(report: Report, form: str, target: Target, *, full: bool) -> str:
    if form == "json":
        return reports.conform_as_json(report)
    if form == "junit":
        return reports.conform_as_junit(report)
    return written(reports.conform_document(report, full=full), form, target)


def _write(flags: Mapping[str, Any], cases: Sequence[Case]) -> None:
    folder = Path(flags["write"])
    files: dict[Path, bytes | str] = {}
    index = []
    for number, case in enumerate(cases):
        name = f"case-{number:03d}.npz"
        held = io.BytesIO()
        np.savez(held, **dict(_arrays(case)))
        files[folder / name] = held.getvalue()
        named = {n: "array" if isinstance(v, np.ndarray) else v for n, v in case.call.items()}
        index.append({"file": name, "feature": case.feature, "case": case.name,
                      "dtype": case.dtype, "arguments": named})  # fmt: skip
    held_index = {"suite": VERSION, "causal_alignment": flags["alignment"], "cases": index}
    files[folder / "cases.json"] = in_json(held_index, indent=2) + "\n"
    target = Target(folder, is_folder=True)
    check_targets(target)
    deliver(Output(target, files))


def _arrays(case: Case) -> Iterator[tuple[str, Any]]:
    """Yield the arrays of a case by name, in float64: each is a number of its type."""
    yield from (("query", case.q), ("key", case.k), ("value", case.v))
    for name, value in case.call.items():
        if isinstance(value, np.ndarray):
            yield name, value
    if case.upstream is not None:
        yield "upstream", case.upstream
    right = expected(case)
    for name, matrix in right.values.items():
        yield name, matrix
        yield f"{name}_bound", right.bounds[name]
