"""The program: so many seconds or calls, a table at the end, and each mistake made small."""

import argparse
import faulthandler
import json
import os
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from . import asking, readers
from .calling import Case, Outcome, bound_this_process, call
from .judging import MOST_MEGABYTES, MOST_SECONDS, Fault, faults_of
from .shrinking import shrunk

LONGEST = 120
"""Seconds after which this program itself ends, and says where it was."""
MOST_SHOWN = 1500

Made = tuple[str, Case, Callable[[Case], Outcome]]
"""What is tried: its name in the table, the case, and what runs it."""


@dataclass
class Row:
    """The report on one command or reader."""

    calls: int = 0
    codes: Counter[int | None] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    known: Counter[Fault] = field(default_factory=Counter)
    slowest: float = 0.0
    largest: float = 0.0

    def add(self, seen: Outcome, found: list[Fault]) -> None:
        """Count an outcome."""
        self.calls += 1
        self.codes[seen.code] += 1
        self.faults.update(fault.kind for fault in found)
        self.slowest = max(self.slowest, seen.seconds)
        self.largest = max(self.largest, seen.megabytes)


def main() -> int:
    """Run a campaign, and return 1 where a promise was broken."""
    asked = _arguments()
    bound_this_process()
    os.environ |= {"_TYPER_FORCE_DISABLE_TERMINAL": "1", "COLUMNS": "80"}
    os.environ.pop("ATTNCALC_TRACEBACK", None)
    rows: dict[str, Row] = {}
    with tempfile.TemporaryDirectory(prefix="attncalc-fuzz-") as place:
        folder = Path(place)
        _warm_up(folder)
        end = time.monotonic() + asked.seconds
        number = asked.first
        while time.monotonic() < end and number < asked.first + asked.calls:
            with warnings.catch_warnings(action="ignore"):  # of numpy's, of what is made here
                name, case, run = _made(asked, number, folder)
            counted_row(rows, asked, number, name, case, run)
            number += 1
        faulthandler.cancel_dump_traceback_later()
    return end_of(rows, asked, number)


def counted_row(
    rows: dict[str, Row],
    asked: argparse.Namespace,
    number: int,
    name: str,
    case: Case,
    run: Callable[[Case], Outcome],
) -> None:
    """Try a case, count its outcome, and report a new one."""
    faulthandler.dump_traceback_later(LONGEST, exit=True)
    seen = run(case)
    faults = faults_of(case, seen)
    if any(fault.is_cost for fault in faults):
        faults = _still(faults, case, run)
    rows.setdefault(name, Row()).add(seen, faults)
    for fault in faults[:1]:
        known = Fault(fault.kind, "" if fault.is_cost else fault.what)
        told = sum(row.known[known] for row in rows.values())
        rows[name].known[known] += 1
        if told < (asked.most if fault.is_cost else 1):
            _report(asked, number, fault, name, case, run)


def end_of(rows: dict[str, Row], asked: argparse.Namespace, number: int) -> int:
    """Print the table; return 1 where a promise was broken."""
    counted = _sum(list(rows.values())).known
    _tell(rows, counted, asked, number)
    return 1 if counted else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--calls", type=int, default=10**9, help="at most so many")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="begin with the call of this number")
    parser.add_argument("--readers", action="store_true", help="call the readers directly")
    parser.add_argument("--atheris", action="store_true", help="the same, led by coverage")
    parser.add_argument("--cases", type=Path, default=Path("fuzz-cases"), help="where mistakes go")
    parser.add_argument("--most", type=int, default=20, help="slow and large cases written out")
    asked = parser.parse_args()
    if asked.atheris:
        from .led import run

        sys.exit(run(asked))
    return asked


def _made(asked: argparse.Namespace, number: int, folder: Path) -> Made:
    """Return what is tried under a number: the same for a seed, whatever went before."""
    some = Random(f"{asked.seed}:{number}")
    if asked.readers:
        reader, case = readers.reading(some)
        return reader, case, lambda case: readers.read(reader, case)
    case = asking.command_line(some)
    name = case.arguments[0] if case.arguments[0] in asking.commands() else "none"
    return name, case, lambda case: call(case, folder)


def _warm_up(folder: Path) -> None:
    """Load what is loaded once, which is not the time of any one call."""
    for line in (("self",), ("plot", "-o", "map.png"), ("plot", "-o", "map.pdf"), ("samples",)):
        call(Case(line), folder)
    call(Case(("check", "in.json", "mine.txt"), {"in.json": b"{}", "mine.txt": b"Q = [1]"}), folder)


def _still(faults: list[Fault], case: Case, run: Callable[[Case], Outcome]) -> list[Fault]:
    """Return the faults without those of cost that are not there a second time."""
    again = {fault.kind for fault in faults_of(case, run(case))}
    return [fault for fault in faults if not fault.is_cost or fault.kind in again]


def _report(
    asked: argparse.Namespace,
    number: int,
    fault: Fault,
    name: str,
    case: Case,
    run: Callable[[Case], Outcome],
) -> None:
    """Make a case small, print it and keep it."""

    def fails(smaller: Case) -> bool:
        return any(
            each.kind == fault.kind and (fault.is_cost or each.what == fault.what)
            for each in faults_of(smaller, run(smaller))
        )

    folder = asked.cases / f"{fault.kind.replace(' ', '-')}-{asked.seed}-{number}"
    _keep(case, fault, name, number, folder)  # as it is, in case it takes long to make it small
    faulthandler.dump_traceback_later(LONGEST, exit=True)
    small = shrunk(case, fails)
    _keep(small, fault, name, number, folder)
    print(f"\n{fault.kind}: {fault.what}\n  {name}, seed {asked.seed}, call {number}: {folder}")
    print(f"  arguments: {' '.join(map(ascii, small.arguments))}")
    for file, data in small.files.items():
        print(f"  {file!a} ({len(data)} bytes): {data[:MOST_SHOWN]!r}")
    if small.stdin:
        print(f"  standard input: {small.stdin[:MOST_SHOWN]!r}")
    sys.stdout.flush()


def _keep(case: Case, fault: Fault, name: str, number: int, folder: Path) -> None:
    """Write a case and its files into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for file, data in case.files.items():
        place = folder / file
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    said = {"fault": fault.kind, "what": fault.what, "tried": name, "arguments": case.arguments}
    said |= {"stdin": case.stdin.decode(errors="backslashreplace"), "number": number}
    (folder / "case.json").write_text(json.dumps(said, indent=2) + "\n")


def _tell(
    rows: dict[str, Row], counted: Counter[Fault], asked: argparse.Namespace, number: int
) -> None:
    """Print the table, and how often each promise was broken."""
    print(f"\nseed {asked.seed}, calls {asked.first} to {number - 1}\n")
    heads = ("", "calls", "exit 0", "1", "2", "3", "tracebacks", "> 2 s", "> 300 MB", "others")
    print("".join(f"{head:>11}" for head in heads), f"{'slowest':>9} {'largest':>9}")
    for name, row in sorted(rows.items()):
        print(_line(name, row))
    if len(rows) > 1:
        print(_line("all", _sum(list(rows.values()))))
    for fault, count in counted.most_common():
        print(f"{count:7}  {fault.kind}: {fault.what}")
    if not counted:
        print(f"no traceback, nothing over {MOST_SECONDS:g} s or {MOST_MEGABYTES:g} MB")


def _line(name: str, row: Row) -> str:
    broken = sum(row.faults[kind] for kind in ("raised", "exit", "traceback"))
    costs = row.faults["slow"], row.faults["large"]
    others = sum(row.faults.values()) - broken - sum(costs)
    cells = (name[:16], row.calls, *(row.codes[code] for code in range(4)), broken, *costs, others)
    told = "".join(f"{cell:>11}" for cell in cells)
    return f"{told} {row.slowest:7.2f} s {row.largest:6.0f} MB"


def _sum(rows: list[Row]) -> Row:
    total = Row()
    for row in rows:
        total.calls += row.calls
        total.codes += row.codes
        total.faults += row.faults
        total.known += row.known
        total.slowest = max(total.slowest, row.slowest)
        total.largest = max(total.largest, row.largest)
    return total


if __name__ == "__main__":
    sys.exit(main())
