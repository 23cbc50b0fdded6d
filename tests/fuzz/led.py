"""The readers led by coverage, where `atheris` is installed: inputs that reach new lines are kept.

The first two bytes of an input say which reader reads the rest, and under which ending.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any


def run(asked: argparse.Namespace) -> int:
    """Fuzz for as long as is asked; libFuzzer ends the process."""
    try:
        import atheris
    except ImportError:
        print("atheris is not installed, or not for this Python: pip install atheris")
        return 2
    with atheris.instrument_imports(include=["attncalc"]):
        import attncalc.grading.key
        import attncalc.reading.answers.csv_text
        import attncalc.reading.answers.json_text
        import attncalc.reading.answers.npz_file
        import attncalc.reading.answers.text
        import attncalc.reading.csv_text
        import attncalc.reading.json_text
        import attncalc.reading.npz_file
        import attncalc.reading.plain_text  # noqa: F401 - loaded now, to be watched
    from attncalc.reading.answers import ENDINGS

    from . import making, readers
    from .__main__ import Row, counted_row, end_of
    from .calling import Case, bound_this_process

    bound_this_process()
    names, endings = list(readers.READERS), [*ENDINGS, ""]
    state: dict[str, Any] = {"end": time.monotonic() + asked.seconds, "number": 0}
    rows: dict[str, Row] = {}

    def one(data: bytes) -> None:
        if time.monotonic() > state["end"] or state["number"] >= asked.calls:
            shutil.rmtree(state["place"], ignore_errors=True)  # libFuzzer never returns
            os._exit(end_of(rows, asked, state["number"]))
        if len(data) < 2:
            return
        reader, ending = names[data[0] % len(names)], endings[data[1] % len(endings)]
        case = Case((f"in{ending}",), {f"in{ending}": data[2:]})
        counted_row(rows, asked, state["number"], reader, case, lambda c: readers.read(reader, c))
        state["number"] += 1

    with tempfile.TemporaryDirectory(prefix="attncalc-led-") as place:
        state["place"] = place
        for number, (name, data) in enumerate((*making.problems(), *making.corpus())):
            ending = Path(name).suffix if Path(name).suffix in endings else ""
            for reader in range(len(names)):
                start = bytes([reader, endings.index(ending)])
                (Path(place) / f"{number}-{reader}").write_bytes(start + data[:4000])
        options = [f"-seed={asked.seed}", "-max_len=4096", "-rss_limit_mb=4096", "-timeout=100"]
        atheris.Setup([sys.argv[0], *options, "-verbosity=0", place], one)
        atheris.Fuzz()
    return 0
