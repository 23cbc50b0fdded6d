"""The conformance of a kernel, as a document, JSON, JUnit XML and a badge."""

from collections.abc import Iterator
from xml.etree import ElementTree

from attncalc.base.text import in_json, on_a_line
from attncalc.conforming.suite import Failure, Report, Result
from attncalc.writing.document import Bullets, Document, Facts, Part, Table

FEATURES = ("feature", "passed", "failed", "not tested", "error")
FAILURES = ("feature", "case", "entry", "got", "right", "error", "cause")
UNNAMED = "no known cause"
MOST_SHOWN = 20
"""Failures that the table shows; JSON and JUnit have all."""
STATUSES = ("passed", "failed", "not tested")
KEYS = [status.replace(" ", "_") for status in STATUSES]


def conform_document(report: Report, *, full: bool = False) -> Document:
    """Return the report as a document: causes, failures, then the features."""
    return Document("Conformance of an attention kernel", tuple(_parts(report, full=full)))


def summary_of(report: Report) -> str:
    """Return the counts of a report, as in "62 passed, 1 failed, 8 not tested"."""
    return ", ".join(f"{len(report.of(each)):,} {each}" for each in STATUSES)


def _parts(report: Report, *, full: bool) -> Iterator[Part]:
    yield Facts((on_a_line(report.kernel), summary_of(report), f"suite {report.version}"))
    failed = report.of("failed")
    if report.causes:
        lines = (f"{on_a_line(c.says)} (explains {n} of {len(failed)} failures)"
                 for c, n in report.causes[:3])  # fmt: skip
        yield Bullets(tuple(lines))
    if failed:
        shown = failed if full else failed[:MOST_SHOWN]
        rows = tuple(_failure_row(each) for each in shown)
        words = tuple((e.case.feature, on_a_line(e.case.name), failure_text(e)) for e in shown)
        yield Table("Failures", FAILURES, rows, words)
        if len(shown) < len(failed):
            yield Bullets((f"{len(failed) - len(shown)} more failures: --full lists them",))
    features: list[tuple[tuple[str, ...], tuple[str, ...]]] = []
    for feature, results in report.by_feature.items():
        tested = [each.units for each in results if each.status != "not tested"]
        counts, error = _counts(results), f"{max(tested):.3g}" if tested else ""
        said = ", ".join(f"{n} {status}" for n, status in zip(counts, STATUSES, strict=True) if n)
        told = (feature, said, *([f"error {error}"] if error else []))
        features.append(((feature, *map(str, counts), error), told))
    cells, words = zip(*features, strict=True)
    yield Table("Features", FEATURES, cells, words)
    yield Bullets(tuple(_notes(report)))


def _notes(report: Report) -> Iterator[str]:
    yield "error: the largest error of a feature, in units of the bound of its entry"
    reasons: dict[str, list[str]] = {}
    for each in report.of("not tested"):
        reasons.setdefault(each.why, []).append(each.case.feature)
    for why, features in reasons.items():
        yield f"not tested: {', '.join(dict.fromkeys(features))}: {on_a_line(why)}"


def _counts(results: tuple[Result, ...]) -> list[int]:
    return [sum(each.status == status for each in results) for status in STATUSES]


def _failure_row(result: Result) -> tuple[str, ...]:
    failure = result.failure
    assert failure is not None
    causes = "; ".join(cause.says for cause in failure.causes) or (UNNAMED if failure.entry else "")
    why = f"{failure.why}: {causes}" if not failure.causes and failure.why != "differs" else causes
    numbers = (f"{failure.got:.6g}", f"{failure.right:.6g}") if failure.entry else ("", "")
    units = f"{result.units:.3g}" if failure.entry else ""
    texts = (result.case.feature, result.case.name, failure.entry, *numbers, units, why.strip(": "))
    return tuple(map(on_a_line, texts))


def failure_text(result: Result) -> str:
    """Return a failure in a line."""
    _, _, entry, got, right, units, why = _failure_row(result)
    where = f"{entry} is {got}, not {right} ({units} × its bound): " if entry else ""
    return f"{where}{why}"


def conform_as_json(report: Report) -> str:
    """Return the report as JSON."""
    values = {
        "kernel": report.kernel,
        "suite": report.version,
        **dict(zip(KEYS, _counts(report.results), strict=True)),
        "causes": [{"code": c.code, "says": c.says, "explains": n} for c, n in report.causes],
        "features": {
            name: dict(zip(KEYS, _counts(results), strict=True))
            for name, results in report.by_feature.items()
        },
        "failures": [_failure_values(e, e.failure) for e in report.of("failed") if e.failure],
        "untested": [
            {"feature": each.case.feature, "case": each.case.name, "why": each.why}
            for each in report.of("not tested")
        ],
    }
    return in_json(values, indent=2) + "\n"


def _failure_values(result: Result, failure: Failure) -> dict[str, object]:
    case, sides = result.case, ("batch", "heads", "queries", "keys", "width")
    values = {"feature": case.feature, "case": case.name, "dtype": case.dtype, "why": failure.why}
    return {
        **values,
        "smallest": dict(zip(sides, failure.smallest.size, strict=True)),
        "entry": failure.entry or None,
        **{
            name: str(getattr(failure, name)) if failure.entry else None
            for name in ("got", "right", "bound")
        },
        "causes": [{"code": each.code, "says": each.says} for each in failure.causes],
    }


def conform_as_junit(report: Report) -> str:
    """Return the report as JUnit XML, for CI systems."""
    suite = ElementTree.Element(
        "testsuite",
        name="attncalc conform",
        tests=str(len(report.results)),
        failures=str(len(report.of("failed"))),
        skipped=str(len(report.of("not tested"))),
    )
    for each in report.results:
        case = ElementTree.SubElement(
            suite, "testcase", classname=each.case.feature, name=each.case.name
        )
        if each.failure:
            message = failure_text(each)
            ElementTree.SubElement(case, "failure", message=message)
        elif each.status == "not tested":
            ElementTree.SubElement(case, "skipped", message=on_a_line(each.why))
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def conform_badge(report: Report) -> str:
    """Return a badge for a README: a small SVG picture."""
    failed, passed = len(report.of("failed")), len(report.of("passed"))
    text = f"{failed} failed" if failed else f"{passed} passed"
    color = "#b3261e" if failed else "#1a7f37"
    left, right = 66, 12 + 7 * len(text)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" '
        f'aria-label="attncalc: {text}"><rect width="{left}" height="20" fill="#444"/>'
        f'<rect x="{left}" width="{right}" height="20" fill="{color}"/>'
        '<g fill="#fff" font-family="Verdana,sans-serif" font-size="11" text-anchor="middle">'
        f'<text x="{left / 2}" y="14">attncalc</text>'
        f'<text x="{left + right / 2}" y="14">{text}</text></g></svg>\n'
    )
