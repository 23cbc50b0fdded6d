"""Runs the conformance tests on libraries, and prints the table of docs/conform.md."""

import warnings
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

from attncalc.conforming.adapters import BACKENDS, adapter
from attncalc.conforming.case import suite
from attncalc.conforming.running import Inside
from attncalc.conforming.suite import DIFFERS, Report, conform

PACKAGES = {
    "torch_sdpa": "torch",
    "torch_flex": "torch",
    "torch_multihead": "torch",
    "jax_attention": "jax",
    "onnx_reference": "onnx",
    "onnxruntime": "onnxruntime",
}


def report_on(name: str) -> Report:
    """Return the report on an adapter, of the quick suite."""
    warnings.simplefilter("ignore")
    return conform(Inside(adapter(name), BACKENDS[name]), list(suite(quick=True)), name)


def row_of(name: str) -> str:
    """Return a row of the table: version, counts, and the cases that fail."""
    report = report_on(name)
    counts = (len(report.of(each)) for each in ("passed", "failed", "not tested"))
    cells = [f"`{name}`", f"{PACKAGES[name]} {version(PACKAGES[name])}", *map(str, counts)]
    return f"| {' | '.join([*cells, '; '.join(failures(report)) or 'none'])} |"


def failures(report: Report) -> Iterator[str]:
    """Yield each case that fails, with its cause."""
    for each in report.of("failed"):
        causes = each.failure.causes if each.failure else ()
        failure = each.failure.why if each.failure else ""
        why = causes[0].says if causes else "an error" if DIFFERS not in each.why else failure
        said = "no known cause" if why == DIFFERS else why
        yield f"{each.case.feature}, {each.case.name}: {said}"


if __name__ == "__main__":
    print("| adapter | version | passed | failed | not tested | failing cases |")
    print("|---|---|---|---|---|---|")
    for each in BACKENDS:
        try:
            print(row_of(each), flush=True)
        except (ImportError, PackageNotFoundError):
            print(f"{each}: not installed")
