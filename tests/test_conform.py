"""`attncalc conform`: kernels that are right pass, planted bugs are found and named."""

import json
import subprocess
import sys
import warnings
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from conftest import mostly_slow

from attncalc import InputError, conform
from attncalc.conforming.adapters import BACKENDS, adapter
from attncalc.conforming.case import Case, as_of, suite
from attncalc.conforming.reference import expected
from attncalc.conforming.running import PLAIN, Inside, Kernel
from attncalc.conforming.suite import Report
from attncalc.conforming.suite import conform as run
from attncalc.problem.samples import KERNELS
from tests.conform_kernels import RIGHT_WAYS, attention_with, blocked, in_torch, right_way

RIGHT, WRONG = (str(KERNELS[0].path / f"{name}.py") for name in ("right", "wrong"))
BUGS = {
    "heads tiled": ("grouped heads", "heads-tiled"),
    "first head": ("causal", "heads-first"),
    "swapped": ("scale", "q-k-swapped"),
    "v shifted": ("sinks", "v-shifted"),
    "q shifted": ("window", "q-shifted"),
    "k for v": ("causal", "k-for-v"),
    "batch first": ("scale", "batch-first"),
    "scale ignored": ("scale", "scale-ignored"),
    "1/d": ("grouped heads", "scale-dk"),
    "no scale": ("causal", "scale-none"),
    "twice": ("causal", "scale-twice"),
    "cap before scale": ("softcap", "cap-before-scale"),
    "mask before scale": ("additive mask", "mask-before-scale"),
    "one head": ("boolean mask", "scale-none"),
    "offset": ("query offset", "offset-off-by-one"),
    "bottom-right": ("causal, rectangular", "causal-alignment"),
    "no cap": ("softcap", "cap-forgotten"),
    "cap undivided": ("softcap", "cap-undivided"),
    "cap product": ("softcap", "cap-product"),
    "cap clipped": ("softcap", "cap-clipped"),
    "cap after mask": ("softcap", "cap-after-mask"),
    "no alibi": ("ALiBi", "alibi-forgotten"),
    "alibi sign": ("ALiBi", "alibi-sign"),
    "one mask": ("mask and causal", "mask-forgotten"),
    "mask side": ("boolean mask", "mask-side"),
    "mask of batch": ("boolean mask", "mask-of-batch"),
    "mask of head": ("boolean mask", "mask-of-head"),
    "mask inverted": ("boolean mask", "mask-inverted"),
    "no mask": ("additive mask", "mask-forgotten"),
    "mask added": ("boolean mask", "mask-added"),
    "strict": ("causal", "mask-strict"),
    "strict -1e9": ("causal", "mask-strict"),
    "-1e9": ("boolean mask", "empty-row"),
    "loose": ("causal", "mask-loose"),
    "no causal": ("causal", "causal-forgotten"),
    "always causal": ("shapes", "causal-not-asked"),
    "causal added": ("causal", "mask-added"),
    "no window": ("window", "window-forgotten"),
    "window": ("window", "window-size"),
    "last key": ("causal", "key-left-out"),
    "block": ("window", "block-rest"),
    "columns": ("causal", "softmax-columns"),
    "softmax heads": ("causal", "softmax-heads"),
    "no maximum": ("extreme values", "exp-overflow"),
    "base 2": ("causal", "softmax-base"),
    "alibi one side": ("ALiBi", "alibi-one-sided"),
    "alibi signed": ("ALiBi", "alibi-one-sided"),
    "cap after alibi": ("ALiBi", "cap-after-alibi"),
    "sinks raw": ("sinks", "sinks-raw"),
    "sinks unshifted": ("sinks", "sinks-unshifted"),
    "sinks scaled": ("sinks", "sinks-scaled"),
    "no sinks": ("sinks", "sinks-forgotten"),
    "plus one": ("causal", "softmax-plus-one"),
    "no rope": ("rope", "rope-forgotten"),
    "rope queries only": ("rope", "rope-one-side"),
    "rope values": ("rope", "rope-values"),
    "rope pairing": ("rope", "rope-pairing"),
    "rope partial": ("rope", "rope-partial"),
    "rope width": ("rope", "rope-exponent"),
    "rope exponent": ("rope", "rope-exponent"),
    "rope direction": ("rope", "rope-direction"),
    "rope base": ("rope", "rope-base"),
    "rope position": ("rope", "rope-position"),
    "no norm": ("QK-norm", "norm-forgotten"),
    "norm keys only": ("QK-norm", "norm-one-side"),
    "norm heads": ("QK-norm", "norm-heads"),
    "norm layer": ("QK-norm", "norm-mean"),
    "norm gain": ("QK-norm", "norm-gain"),
    "norm one plus": ("QK-norm", "norm-one-plus"),
    "norm swapped": ("QK-norm", "norm-swapped"),
    "norm after rope": ("QK-norm", "norm-after-rope"),
    "norm eps": ("QK-norm", "norm-eps"),
    "norm eps 0": ("QK-norm", "norm-eps"),
    "norm eps outside": ("QK-norm", "norm-eps"),
}


@cache
def quick(dtype: str = "float32") -> list[Case]:
    return list(suite(dtype=dtype, quick=True))


known = cache(expected)


@pytest.fixture(autouse=True)
def _the_right_results_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compute the right results of a case for all kernels; it takes longer than they do."""
    monkeypatch.setattr("attncalc.conforming.suite.expected", known)


def of_feature(feature: str) -> list[Case]:
    return [each for each in quick() if each.feature == feature]


@pytest.mark.parametrize("bug", mostly_slow([*BUGS][::-1], 65))
def test_a_planted_bug_is_found_and_named(bug: str) -> None:
    feature, code = BUGS[bug]
    report = run(Inside(attention_with(bug)), of_feature(feature))
    most = report.causes[0][1]
    assert code in [cause.code for cause, count in report.causes if count == most]


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_in_torch_is_found_and_named(bug: str) -> None:
    pytest.importorskip("torch")
    feature, code = BUGS[bug]
    report = run(Inside(in_torch(bug), "torch", frozenset(PLAIN)), of_feature(feature))
    failures = [each.failure for each in report.of("failed") if each.failure]
    assert code in {cause.code for each in failures for cause in each.causes}


IN_TYPES = [
    pytest.param(way, dtype) for way in RIGHT_WAYS for dtype in ("float32", "float16", "float64")
]


@pytest.mark.parametrize(("way", "dtype"), mostly_slow(IN_TYPES[19:] + IN_TYPES[:19], 99))
def test_kernels_that_are_written_differently_pass(way: str, dtype: str) -> None:
    report = run(Inside(right_way(way)), quick(dtype))
    assert not report.of("failed"), next((r.case, r.why) for r in report.of("failed"))
    assert len(report.of("passed")) > 35


@pytest.mark.parametrize("bug", mostly_slow(["noise", "typo", "float16 inside"], 3))
def test_errors_without_a_cause_get_no_name(bug: str) -> None:
    report = run(Inside(attention_with(bug)), of_feature("causal"))
    assert report.of("failed")
    assert not report.causes


@pytest.mark.campaign(2)
@pytest.mark.parametrize("kernel", [attention_with(""), blocked], ids=["plain", "blocked"])
@pytest.mark.parametrize("seed", mostly_slow(range(5), 5))
def test_right_kernels_pass(kernel: Callable[..., Any], seed: int) -> None:
    report = run(Inside(kernel), list(suite(seed)))
    assert report.of("passed")
    assert not report.of("failed")


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_attention_of_torch_passes(dtype: str) -> None:
    torch = pytest.importorskip("torch")

    def attention(query, key, value, attn_mask=None, is_causal=False, scale=None, enable_gqa=False):  # type: ignore[no-untyped-def]
        return torch.nn.functional.scaled_dot_product_attention(
            query, key, value, attn_mask=attn_mask, is_causal=is_causal, scale=scale,
            enable_gqa=enable_gqa,
        )  # fmt: skip

    report = run(Inside(attention, "torch"), list(suite(dtype=dtype)))
    assert {each.case.feature for each in report.of("passed")} >= {"gradients", "dtypes", "shapes"}
    assert not report.of("failed"), [(each.case.name, each.why) for each in report.of("failed")]


KNOWN = {
    "jax_attention": {"boolean mask", "dtypes"},
    "onnx_reference": {"mask and causal"},
    "onnxruntime": {"boolean mask", "additive mask", "scale"},
}
"""Features that libraries fail, in some versions: see docs/conform.md."""


@pytest.mark.slow
@pytest.mark.parametrize("name", BACKENDS)
def test_libraries_fail_nothing_that_is_not_known(name: str) -> None:
    package = {"onnx_reference": "onnx", "jax_attention": "jax", "onnxruntime": "onnxruntime"}
    pytest.importorskip(package.get(name, "torch"))
    features = ("grouped heads", "causal", "boolean mask", "additive mask", "scale", "gradients")
    cases = [each for each in suite(quick=True) if each.feature in features]
    with warnings.catch_warnings(action="ignore"):
        report = run(Inside(adapter(name), BACKENDS[name]), cases)
    assert {each.case.feature for each in report.of("failed")} <= KNOWN.get(name, set())
    assert len(report.of("passed")) > 12


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2"])
def test_small_floats_round_as_in_torch(dtype: str) -> None:
    torch = pytest.importorskip("torch")
    values = np.random.default_rng(3).normal(size=500) * np.logspace(-4, 2, 500)
    expected_ = torch.tensor(values).to(torch.float32).to(getattr(torch, dtype)).double().numpy()
    assert np.array_equal(as_of(dtype, np.float32(values).astype(float)), expected_)


@pytest.mark.parametrize(("times", "status"), [(0.99, "passed"), (1.5, "failed")])
def test_the_bound_separates_passing_from_failing(times: float, status: str) -> None:
    (case,) = [each for each in of_feature("dtypes") if each.name == "float64"]
    right = expected(case)
    off = right.values["O"] + times * right.bounds["O"]
    (result,) = run(Inside(lambda query, key, value: off), [case]).results
    assert result.status == status
    assert result.units == pytest.approx(times, rel=0.1)


def test_a_bound_applies_to_arithmetic_in_its_type() -> None:
    case = next(each for each in suite(3) if each.name.startswith("batch 2, heads 3"))
    right = expected(case)
    q, k, v = (each[0, 0].astype(np.float32) for each in (case.q, case.k, case.v))
    scores = [
        [sum((a * b for a, b in zip(x, y, strict=True)), np.float32(0)) for y in k] for x in q
    ]
    weights = np.exp(np.array(scores) * np.float32(5**-0.5))
    outputs = weights / weights.sum(axis=1, keepdims=True) @ v
    assert (np.abs(outputs - right.values["O"][0, 0]) <= right.bounds["O"][0, 0]).all()


@pytest.mark.parametrize(("value", "rounded"), [(1 + 2**-8, 1.0), (1 + 3 * 2**-8, 1 + 2**-6)])
def test_bfloat16_rounds_to_nearest_even(value: float, rounded: float) -> None:
    assert as_of("bfloat16", np.array([value, -value])).tolist() == [rounded, -rounded]
    assert Fraction(rounded).denominator <= 128


def kernel_file(folder: Path, body: str) -> str:
    place = folder / "kernel.py"
    place.write_text(f"import os, time\ndef attention(query, key, value):\n    {body}\n")
    return str(place)


@pytest.mark.campaign(6)
@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("os.abort()", "the process ended with signal 6"),
        ("time.sleep(60)", "no result after 1 s"),
        ("raise ValueError('no')", "ValueError: no"),
        ("query *= 0; return query", "the kernel writes to its inputs"),
        ("return query[:, 0]", "O has the shape (1, 1, 1), not (1, 1, 1, 1)"),
        ("print(1); return query.tolist()", "differs"),
    ],
)
def test_a_bug_of_a_kernel_fails_only_its_case(tmp_path: Path, body: str, why: str) -> None:
    kernel = Kernel(kernel_file(tmp_path, body), seconds=1)
    try:
        report = run(kernel, of_feature("shapes")[:1])
    finally:
        kernel.close()
    (result,) = report.results
    assert (result.status, result.why) == ("failed", why)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("x = 1", "it has no function attention"),
        ("import nothing_of_this_name", "ModuleNotFoundError"),
        ("def attention(:", "SyntaxError"),
    ],
)
def test_files_without_a_kernel_are_refused(
    tmp_path: Path, attncalc: Callable[..., Any], text: str, fault: str
) -> None:
    place = tmp_path / "kernel.py"
    place.write_text(text)
    refused = attncalc("conform", str(place))
    assert refused.code == 2
    assert fault in refused.err


@pytest.mark.slow
def test_a_report_is_written_in_each_form(tmp_path: Path, attncalc: Callable[..., Any]) -> None:
    names = ["report.json", "report.xml", "report.md", "report.html", "badge.svg"]
    for name in names[:4]:
        badge = ("--badge", str(tmp_path / names[4])) if name == names[0] else ()
        done = attncalc("conform", WRONG, "--quick", "-o", str(tmp_path / name), *badge)
        assert done.code == 1, done.err
    found = json.loads((tmp_path / "report.json").read_text())
    assert found["failed"] == len(found["failures"]) == 3
    assert found["passed"] == 41
    assert found["failures"][0]["feature"] == "additive mask"
    assert found["causes"] == [{
        "code": "mask-before-scale",
        "says": "attn_mask is added before the scores are scaled",
        "explains": 3,
    }]  # fmt: skip
    suite_ = ElementTree.parse(tmp_path / "report.xml").getroot()
    assert suite_.get("failures") == "3"
    assert len(suite_.findall("testcase/failure")) == 3
    assert ">3 failed<" in (tmp_path / "badge.svg").read_text()
    assert attncalc("conform", RIGHT, "--quick").code == 0


@pytest.mark.slow
def test_a_program_is_tested_by_its_files(tmp_path: Path, attncalc: Callable[..., Any]) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import sys, numpy as np\n"
        "x = np.load(sys.argv[1])\n"
        "s = x['query'] @ x['key'].swapaxes(-1, -2) * x['query'].shape[-1] ** -0.5\n"
        "e = np.exp(s - s.max(-1, keepdims=True))\n"
        "np.savez(sys.argv[2], output=e / e.sum(-1, keepdims=True) @ x['value'])\n"
    )
    said = ("--command", f"{sys.executable} {program}", "--only", "memory layout")
    done = attncalc("conform", *said)
    assert done.code == 0, done.out + done.err
    refused = attncalc("conform", *said, "--offers", "causal")
    assert "--offers: unknown causal: there are attn_mask, is_causal" in refused.err


@pytest.mark.slow
def test_cases_are_written_with_results_and_bounds(
    tmp_path: Path, attncalc: Callable[..., Any]
) -> None:
    done = attncalc("conform", "--quick", "--only", "gradients", "--write", str(tmp_path / "cases"))
    assert done.code == 0, done.err
    index = json.loads((tmp_path / "cases" / "cases.json").read_text())
    case = next(each for each in suite(quick=True) if each.feature == "gradients")
    with np.load(tmp_path / "cases" / index["cases"][0]["file"]) as found:
        assert np.array_equal(found["query"], case.q)
        assert np.array_equal(found["dK"], expected(case).values["dK"])
        assert (found["O_bound"] > 0).all()


def test_features_that_do_not_exist_are_refused(attncalc: Callable[..., Any]) -> None:
    refused = attncalc("conform", RIGHT, "--only", "masks")
    assert 'there is no feature "masks": there are shapes; grouped heads; causal' in refused.err
    assert "no such file" in attncalc("conform", "nothing.py").err
    assert "name the kernel" in attncalc("conform").err


@pytest.mark.slow
def test_a_function_is_tested_from_python() -> None:
    def attention(query: Any, key: Any, value: Any) -> Any:
        scores = query @ key.swapaxes(-1, -2)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        return weights / weights.sum(-1, keepdims=True) @ value

    report = conform(attention, quick=True)
    assert isinstance(report, Report)
    assert report.causes[0][0].code == "scale-none"
    with pytest.raises(InputError, match="FileNotFoundError"):
        conform("nothing.py")


@pytest.mark.slow
def test_the_plugin_of_pytest_runs_each_case(tmp_path: Path) -> None:
    asked = ("-m", "pytest", "-rA", "-p", "no:cacheprovider", "--attncalc", WRONG)
    done = subprocess.run(
        [sys.executable, *asked], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "3 failed, 45 passed, 36 skipped" in done.stdout
    assert "attn_mask is added before the scores are scaled" in done.stdout
    assert done.returncode == 1


@pytest.mark.slow
def test_a_printed_report_names_the_cause_also_where_it_leaves_no_key() -> None:
    def kernel(query: Any, key: Any, value: Any, is_causal: bool = False) -> Any:
        scores = query @ key.swapaxes(-1, -2) * query.shape[-1] ** -0.5
        if is_causal:
            scores = np.where(np.tri(*scores.shape[-2:], k=-1), scores, -np.inf)
        with np.errstate(all="ignore"):
            weights = np.exp(scores - scores.max(-1, keepdims=True))
        return weights / weights.sum(-1, keepdims=True) @ value

    report = conform(kernel, quick=True)
    assert [cause.code for cause, _ in report.causes] == ["mask-strict"]
    says = "a query does not see the key at its own position (explains 8 of 8 failures)"
    assert says in str(report)


def test_a_wrapper_takes_the_keyword_arguments_of_pytorch() -> None:
    def wrapper(query: Any, key: Any, value: Any, **named: Any) -> Any:
        return attention_with("")(query, key, value, **named)

    report = conform(wrapper, quick=True)
    kinds = {each.case.feature: each.status for each in report.results}
    taken = ("causal", "scale", "boolean mask", "grouped heads")
    assert {kinds[each] for each in taken} == {"passed"}
    assert {kinds[each] for each in ("window", "softcap")} == {"not tested"}
