"""The interpreter of equations in a page: digits and lines of work as attncalc has them."""

from decimal import Decimal
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest
from conftest import mostly_slow
from live_pages import drawn, drawn_with, in_node, needs_node, shown
from test_equations import CASES
from test_equations_gradients import EXTRA
from test_equations_ranges import GIVEN, no_looser, widened

from attncalc import check
from attncalc.base.rounding import fixed, half_away
from attncalc.base.typed import as_written
from attncalc.base.types import Range
from attncalc.equations import tree
from attncalc.equations.bound import reach
from attncalc.equations.derive import gradient, total
from attncalc.equations.library import equation, inputs_of
from attncalc.equations.tree import equation_source
from attncalc.grading.rules import Status
from attncalc.problem.samples import sample
from attncalc.reading import read_problem
from attncalc.solving.solution import Solution, solve
from attncalc.solving.work import Fractions, Work
from attncalc.writing.live.data import live_data
from attncalc.writing.prose import line_in_text

FOLDER = sample("self").path.parent
SAMPLES = sorted([*FOLDER.glob("*.json"), *FOLDER.glob("equations/*.json")])
OF_SCORES = ("AdditiveBackV", "ConcatBackW", "DistanceBackQ")
"""Gradients of scores other than dot products."""
ROUNDINGS = ("display", "each-step")

WORK = """
    const solution = $solve.solve(line), work = new $work.Work(solution, line.fractions);
    return Object.fromEntries(Object.entries(solution.steps).map(([name, { worked }]) =>
      [name, worked.digits.map((_, k) => {
        const { hidden } = work.line(name, k);
        const named = (each) => each.name + work.entry(each.name, each.k).place;
        const places = work.readFor(name, k).map(named);
        const footnote = hidden ? hidden.text + "e" + hidden.tens : "";
        return [work.text(name, k), footnote, places.sort().join(" ")];
      })]));
"""
BOUNDS = """
    const { steps } = $solve.solve(line), found = { entries: 0, open: 0, nearest: 0, broken: 0 };
    for (const { worked } of Object.values(steps)) {
      const { v, e } = worked.matrix.near;
      found.open += worked.open;
      for (let k = 0; k < v.length; k += 1) {
        const x = worked.exactAt(k);
        found.entries += 1;
        if (x === null || !Number.isFinite(e?.[k] ?? 0)) continue;
        // |x - v| in units of 2^-1400
        const scaled = (value) => { const { n, d } = value; return (n << 1400n) / d; };
        const off = scaled($exact.asRatio(x)) - scaled($double(v[k]));
        const bound = scaled($double(e?.[k] ?? 0));
        const size = off < 0n ? -off : off;
        if (size > bound + (1n << 1000n)) found.broken += 1;
        else if (bound)
          found.nearest = Math.max(found.nearest, Number((size * 1000n) / bound) / 1000);
      }
    }
    return found;
    function $double(x) {
      let k = 0, y = x;
      while (!Number.isInteger(y)) { y *= 2 ** 30; k += 30; }
      return { n: BigInt(y), d: 1n << BigInt(k) };
    }
"""
DERIVED = """
    const whole = (x) => JSON.stringify(x, (_, v) => (typeof v === "bigint" ? String(v) : v));
    const tree = ({ name, at, over, right }) => whole([name, at, over, right]);
    const own = $parse.parse(line.equation);
    const made = line.count ? $derive.total(own, line.count) : $derive.gradient(own, line.name);
    if (line.derived === null || made === null) return line.derived === made;
    return tree($parse.parse(line.derived)) === tree($parse.parse($source.written(made)));
"""
DIGITS = "return $solve.shown($solve.solve(line, null, { filter: line.filter }));"


PARTS = 15
PART = pytest.mark.parametrize("part", mostly_slow(range(PARTS), PARTS))
"""Tries a few samples, and all of them with the slow tests."""


def of_samples(part: int) -> list[Solution]:
    paths = SAMPLES[part::PARTS]
    return [solve(read_problem(path, rounding=each)) for path in paths for each in ROUNDINGS]


def digits_differing(
    solutions: list[Solution], *, is_filtered: bool = True
) -> tuple[int, list[str]]:
    """Return how many entries were compared, and the steps whose digits differ from Python's."""
    lines = [live_data(each.problem) | {"filter": is_filtered} for each in solutions]
    entries, differing = 0, list[str]()
    for number, (solution, made) in enumerate(zip(solutions, in_node(DIGITS, lines), strict=True)):
        wanted = shown(solution)
        entries += sum(map(len, wanted.values()))
        which = f"{number} {solution.problem.rounding}"
        if "error" in made:
            differing.append(f"{which}: {made['error']}")
        else:
            differing += [f"{which} {each}" for each in wanted if made.get(each) != wanted[each]]
    return entries, differing


def lines_differing(
    solutions: list[Solution], fractions: Fractions | None = None
) -> tuple[int, list[Any]]:
    """Return how many lines were compared, and the pairs that differ."""
    data = [live_data(each.problem, fractions) for each in solutions]
    count, differing = 0, list[Any]()
    for solution, found in zip(solutions, in_node(WORK, data), strict=True):
        if "error" in found:
            differing.append(("", found["error"]))
            continue
        work = Work(solution, fractions)
        for step in solution.plan:
            places = np.ndindex(solution.digits[step.name].shape)
            wanted = [_line(work, step.name, place) for place in places]
            count += len(wanted)
            pairs = zip(wanted, found[step.name], strict=True)
            differing += [pair for pair in pairs if pair[0] != pair[1]]
    return count, differing


def _line(work: Work, name: str, place: tuple[int, ...]) -> list[str]:
    """Return a line, what it hides, and the entries it reads, in any order."""
    line = work.line(name, place)
    hidden = f"{line.hidden.text}e{line.hidden.tens}" if line.hidden else ""
    reads = (work.entry(*each) for each in work.reads(name, place))
    places = sorted(each.name + ",".join(map(str, each.place)) for each in reads)
    return [line_in_text(line), hidden, " ".join(places)]


@pytest.mark.slow
@needs_node
@PART
def test_samples_have_the_lines_of_the_work(part: int) -> None:
    _, differing = lines_differing(of_samples(part))
    assert not differing


@pytest.mark.slow
@needs_node
@pytest.mark.parametrize("fractions", [None, "plain", "mixed"])
def test_random_problems_have_the_lines_of_their_equations(fractions: Fractions | None) -> None:
    count, differing = lines_differing(some(11, 5), fractions)
    assert count
    assert not differing


@needs_node
@pytest.mark.slow
def test_given_matrices_shown_as_steps_are_read_as_given() -> None:
    rng, found = Random(5), list[Solution]()
    while len(found) < 4:
        solution = drawn(rng)
        if any(s.name in s.inputs for s in solution.plan):
            found.append(solution)
    assert not digits_differing(found)[1]
    assert not lines_differing(found)[1]


@needs_node
@pytest.mark.slow
@pytest.mark.parametrize("fractions", [None, "plain", "mixed"])
def test_thousands_of_lines_are_those_of_their_equations(fractions: Fractions | None) -> None:
    _, differing = lines_differing(some(12, 150), fractions)
    assert not differing


@pytest.mark.slow
@needs_node
@PART
@pytest.mark.parametrize("is_filtered", [True, False], ids=["filtered", "exact"])
def test_samples_show_the_digits_of_the_solution(part: int, is_filtered: bool) -> None:
    assert not digits_differing(of_samples(part), is_filtered=is_filtered)[1]


def some(seed: int, count: int) -> list[Solution]:
    """Return random problems."""
    rng = Random(seed)
    return [drawn(rng) for _ in range(count)]


@pytest.mark.slow
@needs_node
def test_random_problems_show_the_digits_of_the_solution() -> None:
    assert not digits_differing(some(seed=1, count=12))[1]


@needs_node
@pytest.mark.slow
@pytest.mark.parametrize("name", OF_SCORES)
def test_gradients_of_scores_show_the_digits_of_the_solution(name: str) -> None:
    rng = Random(4)
    found = [drawn_with(rng, name) for _ in range(6)]
    assert not digits_differing(found)[1]


@needs_node
@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3])
def test_hundreds_of_problems_show_the_digits_of_the_solution(seed: int) -> None:
    assert not digits_differing(some(seed, count=200))[1]


@pytest.mark.slow
@needs_node
@PART
def test_bounds_of_doubles_hold(part: int) -> None:
    """The bound of each entry is compared with the exact number."""
    lines = [live_data(each.problem) for each in (*some(21 + part, count=5), *of_samples(part))]
    found = list(in_node(BOUNDS, lines))
    assert not [each for each in found if "error" in each or each["broken"]]
    assert max(each["nearest"] for each in found) > 0.05  # and is no idle one
    assert sum(each["open"] for each in found) < 0.1 * sum(each["entries"] for each in found)


REACH = """
    const read = (row) => Float64Array.from(row, (x) => Number(x.replace("inf", "Infinity")));
    const entries = Object.entries(line.ranges), held = {}, numbers = {}, settings = {};
    for (const [name, { shape, low, high, shares }] of entries)
      held[name] = { shape, low: read(low), high: read(high), shares };
    for (const [name, text] of Object.entries(line.settings)) {
      numbers[name] = $numbers.readNumber(text);
      settings[name] = Number(numbers[name].n) / Number(numbers[name].d);
    }
    const world = {
      shape: (name) => held[name].shape, setting: (name) => numbers[name], settings,
      integers: (name) => line.places.includes(name) ? held[name].low : null,
    };
    const { low, high } = $ranges.reach($parse.parse(line.equation), world, (name) => held[name]);
    return [low, high].map((end) => Array.from(end, String));
"""
TURNING = {"GELU", "GELUtanh", "GELUquick", "SiLU", "GatedGELU", "GatedGELUquick", "GatedSiLU"}
"""Functions that turn within a wide range: without slopes, their bounds there are not as tight."""
RANGES_OF = [case for case in CASES if case[0] not in {"Lookup", "GatherRows"}]


@pytest.mark.slow
@needs_node
@pytest.mark.parametrize("width", [0.005, 0.3, 3.0])
def test_ranges_are_those_of_python(width: float) -> None:
    lines, wanted = [], []
    for name, given, settings, _, shapes in RANGES_OF:
        flags = frozenset(given.split())
        names, shares = inputs_of(name, flags), ("A",) if name in {"SoftmaxBack", "Weigh"} else ()
        ranges = {
            each: widened(each, shape, seed, width)
            for seed, (each, shape) in enumerate(zip(names, shapes, strict=True))
        }
        for each in shares:  # rows that can sum to 1: what others reach is looser in a page
            middle = np.abs(ranges[each].middle)
            spread = ranges[each].high - ranges[each].middle
            ranges[each] = Range.around(middle / middle.sum(axis=-1, keepdims=True), spread)
        wanted.append(reach(equation(name, flags), ranges, settings, shares=shares))
        lines.append(
            {
                "equation": equation_source(equation(name, flags)),
                "settings": {key: as_written(Fraction(x)) for key, x in settings.items()},
                "places": sorted(GIVEN),
                "ranges": {
                    key: {
                        "shape": list(each.low.shape),
                        "low": list(map(str, each.low.ravel().tolist())),
                        "high": list(map(str, each.high.ravel().tolist())),
                        "shares": key in shares,
                    }
                    for key, each in ranges.items()
                },
            }
        )
    differing = []
    for case, made, (low, high) in zip(RANGES_OF, in_node(REACH, lines), wanted, strict=True):
        assert "error" not in made, (case[:3], made)
        ends = (np.array([float(x.replace("Infinity", "inf")) for x in end]) for end in made)
        own, python = Range(*(end.reshape(low.shape) for end in ends)), Range(low, high)
        is_tight = (width > 1 and case[0] in TURNING) or no_looser(own, python)
        # here a sum of weights times gradients is a mean, and there it is any sum
        holds = case[0] == "SoftmaxBack" or no_looser(python, own)
        if not (is_tight and holds):
            differing.append((case[:3], own, python))
    assert not differing


IS = {
    tree.Name: "name", tree.Entry: "entry", tree.Function: "call", tree.If: "if",
    tree.Marked: "mark", tree.Remark: "why", tree.Row: "row",
}  # fmt: skip


def as_data(x: Any) -> Any:
    """Return a tree as the page's parser has it."""
    if isinstance(x, tree.Number):
        value = x.value
        if isinstance(value, float):
            return {"is": "inf", "parts": []}
        return {"is": "num", "parts": [], "value": f"{value.numerator}/{value.denominator}"}
    if getattr(x, "sign", "") in ("and", "or") and len(x.arguments) > 2:
        *first, last = x.arguments
        x = tree.Operator(x.sign, (tree.Operator(x.sign, tuple(first)), last))
    named = {key: getattr(x, key) for key in ("name", "index") if hasattr(x, key)}
    made = {"is": IS.get(type(x)) or getattr(x, "sign", "") or x.kind, **named}
    parts = tree.parts(x)
    if isinstance(x, tree.Row):
        parts, made["name"] = (x.body, x.size, x.at, *x.beside), x.kind
    if isinstance(x, tree.Remark):
        parts = (x.body,) if x.where is None else (x.body, x.where)
        made["words"] = [word if isinstance(word, str) else as_data(word) for word in x.words]
    return made | {"parts": list(map(as_data, parts))}


PARSED = """
    const { name, at, over, right, taught } = $parse.parse(line);
    const plain = (key, each) => key === "value" ? `${each.n}/${each.d}` : each;
    return JSON.parse(JSON.stringify({ name, at, over, right, taught }, plain));
"""
LINES = [
    "h[i in n, c in d] = a ** -b ** 2 * -x[i] - (1 - 2 - 3) / 4 / 5 % 6 // 7",
    "h[i] = 1 if not a == b or c < d <= e and f != 2 else (3 if x[i,] > 1e-3 else -inf)",
    "h[i] = softmax((a[k] + 1) * 2 for k in n)[i] + softmax((a[k] for k in n), b, c[i])[i + 1]",
    "h[r] = sum(max(x[i,k], y) for i in n for k in m if k != i) - max(-x[i] for i in n)",
    'h[i] = why(+x[i], "row {i + 1} of {n // 2}, {k}", i > 0) == +(+x[i] + 0.50)',
]


@pytest.mark.slow
@needs_node
def test_lines_are_parsed_into_the_trees_of_python() -> None:
    equations = [equation(name, frozenset(given.split())) for name, given, *_ in CASES]
    texts = [*map(equation_source, equations), *LINES]
    for text, found in zip(texts, in_node(PARSED, texts), strict=True):
        wanted = tree.parse(text)
        assert found == {
            "name": wanted.name,
            "at": list(wanted.at),
            "over": [each and as_data(each) for each in wanted.over],
            "right": as_data(wanted.right),
            "taught": list(map(as_data, wanted.taught)),
        }, text


@needs_node
def test_an_invalid_equation_is_refused() -> None:
    texts = ["S[i] = x[i", "S[i] = x[i] $ 2", "S = 1", "S[i] = f(x for i)"]
    for text, found in zip(texts, in_node(PARSED, texts), strict=True):
        assert found["error"].startswith("SyntaxError: ")
        assert text in found["error"]


def plan_of(text: str, given: dict[str, Any], rounding: str = "display", **settings: str) -> Any:
    """Return a plan of one step."""
    names = [name for name in given if f"{name}[" in text.partition("=")[2]]
    step = {"name": text[: text.index("[")], "equation": text, "settings": settings, "tables": {}}
    return {
        "settings": {"decimals": 3, "rounding": rounding, "layout": "rows"},
        "digits": None,
        "given": {
            name: {
                "shape": [0, len(rows), len(rows[0])],
                "entries": [str(x) for r in rows for x in r],
            }
            for name, rows in given.items()
        },
        "steps": [step | {"inputs": {name: name for name in names}, "rational": True}],
    }


@pytest.mark.slow
@needs_node
def test_an_equation_may_read_its_own_earlier_rows() -> None:
    text = "h[t in n, c in d] = x[t,c] + decay * h[t - 1,c] if t > 0 else x[t,c]"
    x = [["1", "-0.5"], ["0.25", "3"], ["-2", "1/3"], ["0.1", "0"]]
    (found,) = in_node(DIGITS, [plan_of(text, {"x": x}, decay="0.9") | {"filter": True}])
    wanted, before = [], [Fraction(0)] * 2
    for row in x:
        before = [Fraction(a) + Fraction(9, 10) * b for a, b in zip(row, before, strict=True)]
        wanted += [fixed(half_away(Decimal(v.numerator) / v.denominator, 3), 3) for v in before]
    assert found == {"h": wanted}


@needs_node
@pytest.mark.slow
@pytest.mark.parametrize("rounding", ["display", "each-step"])
def test_rows_that_read_one_another_are_computed_and_marked_as_here(rounding: str) -> None:
    key = solve(read_problem(sample("lstm").path, rounding=rounding, backward=True))
    (found,) = in_node(DIGITS, [live_data(key.problem) | {"filter": True}])
    assert found == shown(key)
    key = solve(read_problem(sample("lstm").path, rounding=rounding))
    typed = {step.name: np.array(key.shown(step.name), float) for step in key.plan}
    typed["c"][1, 0] = 0.91
    for row, step in product(range(1, 3), key.plan):  # what follows from it
        operation = step.operation.of_known_rows([True] * len(step.rows_of))
        inputs = [key.problem.given[name] for name in step.inputs]
        made = operation.apply(*inputs, *(typed[name] for name in step.rows_of))
        mistaken = typed["c"][1, 0]
        typed[step.name][row] = np.round(made[row], 2)
        typed["c"][1, 0] = mistaken
    marking = check(key.problem, typed)
    said = {
        each.step.name: [list(Status)[code].value for code in each.statuses.flat]
        for each in marking.steps
    }
    assert [
        (name, k) for name, all_ in said.items() for k, each in enumerate(all_) if each == "wrong"
    ] == [("c", 2)]
    assert said["c"][4] == said["h"][2] == said["g"][4] == "follows"
    texts = {name: [f"{value:.2f}" for value in each.flat] for name, each in typed.items()}
    program = "return $marks.mark($solve.solve(line.data), line.typed);"
    assert list(in_node(program, [{"data": live_data(key.problem), "typed": texts}])) == [said]


UNSOLVABLE = {
    "1 / x[i,j]": "y[2,1] is not a finite number: 1 / x[i,j] divides by 0",
    "sqrt(x[i,j])": "y[1,2] is not a finite number: sqrt(x[i,j]) is the root of a negative number",
    "log(x[i,j])": (
        "y[1,2] is not a finite number: "
        "log(x[i,j]) is the logarithm of a number that is not positive"
    ),
    "x[i + 1,j]": "y[2,1]: x has no place 3: its places are 1 to 2",
    "share(x[i,k] for k in d)[j]": (
        "the scores of row 1 sum to 0: the normalizer sum cannot divide by that"
    ),
    "exp(1000 * x[i,j])": (
        "y[1,1] is not a finite number: "
        "exp(1000 * x[i,j]) is larger than the largest float64 (about 1.8e+308)"
    ),
}


@needs_node
def test_an_impossible_equation_is_refused_with_its_place() -> None:
    texts = [f"y[i in n, j in d] = {right}" for right in UNSOLVABLE]
    plans = [plan_of(text, {"x": [[1, -1], [0, 2]]}) | {"filter": True} for text in texts]
    assert list(in_node(DIGITS, plans)) == [{"error": each} for each in UNSOLVABLE.values()]


@pytest.mark.slow
@needs_node
def test_an_edit_changes_only_dependent_steps() -> None:
    program = """
        const first = $solve.solve(line), name = line.given.V ? "V" : "W_V", of = line.given[name];
        const entries = of.entries.map((each, k) => k ? each : "0.75");
        const next = { ...line, given: { ...line.given, [name]: { ...of, entries } } };
        const [kept, again] = [$solve.solve(next, first), $solve.solve(next)];
        const same = Object.keys(first.steps).filter((each) =>
          kept.steps[each].worked === first.steps[each].worked);
        return [JSON.stringify($solve.shown(kept)) === JSON.stringify($solve.shown(again)), same];
    """
    samples = [each for part in range(PARTS) for each in of_samples(part)]
    solutions = [each for each in samples if {"V", "W_V"} & {*each.problem.names}]
    edited = in_node(program, [live_data(each.problem) for each in solutions])
    for solution, (is_same, kept) in zip(solutions, edited, strict=True):
        assert is_same
        assert {"V", "O"}.isdisjoint(kept)
        assert kept or solution.problem.equations  # of which each may read the values


def derived_by_attncalc() -> list[dict[str, Any]]:
    """Return equations with the gradient of each input, and the total of each recurrence."""
    found: dict[str, dict[str, Any]] = {}
    library = (equation(name, frozenset(given.split())) for name, given, *_ in CASES)
    for own in (*library, *(tree.parse(text) for text, *_ in EXTRA.values())):
        if own.together or any(_is_hardmax(x) for x in own.nodes):
            continue
        line = {"equation": equation_source(own)}
        for name in set(own.reads) - {own.name}:
            made = gradient(own, name)
            text = made and equation_source(made)
            found[f"{line} {name}"] = {**line, "name": name, "derived": text}
        if own.recurs is not None:
            text = equation_source(total(own, (2,)))
            found[str(line)] = {**line, "name": own.name, "derived": text, "count": 2}
    return list(found.values())


def _is_hardmax(x: tree.Node) -> bool:
    return isinstance(x, tree.Row) and x.kind == "hardmax"


@pytest.mark.slow
@needs_node
def test_gradients_are_the_trees_that_attncalc_derives() -> None:
    lines = derived_by_attncalc()
    assert len(lines) > 100
    for line, is_same in zip(lines, in_node(DERIVED, lines), strict=True):
        assert is_same is True, line
