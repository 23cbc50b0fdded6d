"""Backpropagation: to the digit by hand, by central differences, line by line; refusals."""

import json
from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import BUNDLED, Command, many, mostly_slow
from gradient_kinds import (
    FURTHER,
    Chance,
    Fields,
    kind_of_attention,
    kind_of_layers,
    posed,
)
from hypothesis import given
from hypothesis import strategies as st
from oracle_kinds import Kind
from test_kinds import FORMS, Form, kinds
from test_pages import is_solvable
from test_work_reads_back import check
from work_reader import Value, read_line

from attncalc import InputError, Problem, ShapeError, Solution, read_problem, solve
from attncalc.equations.operation import Operation
from attncalc.problem.fields import role_of
from attncalc.problem.gradients.naming import gradient_from
from attncalc.problem.step import run
from attncalc.solving.solution import given_in_decimals
from attncalc.writing.mathematics import in_text
from attncalc.writing.page import Contents, make_page
from attncalc.writing.prose import line_in_text

pytestmark = pytest.mark.campaign(4)

Rows = list[list[Fraction]]
DIGITS = 80
SAMPLES = BUNDLED
STEP = Decimal("1e-25")
NEAR = Decimal("1e-20")


# -- by hand, in plain Python ---------------------------------------------------------------------


def product(left: Rows, right: Rows) -> Rows:
    return [
        [
            sum((a * b for a, b in zip(row, column, strict=True)), Fraction(0))
            for column in turned(right)
        ]
        for row in left
    ]


def turned(rows: Rows) -> Rows:
    return [list(column) for column in zip(*rows, strict=True)]


def rounded(value: Fraction, decimals: int) -> Fraction:
    whole = int(abs(value) * 10**decimals + Fraction(1, 2))
    return Fraction(whole, 10**decimals) * (-1 if value < 0 else 1)


def exp(x: Fraction) -> Fraction:
    with localcontext() as context:
        context.prec = DIGITS
        return Fraction((Decimal(x.numerator) / Decimal(x.denominator)).exp())


def by_hand(f: dict[str, Rows], carries: bool, decimals: int) -> dict[str, Rows]:
    """Return every step of unscaled attention with a target, and back, before it is rounded."""
    made: dict[str, Rows] = {}

    def take(name: str, rows: Rows) -> Rows:
        made[name] = rows
        return [[rounded(x, decimals) for x in row] for row in rows] if carries else rows

    Q = take("Q", product(f["X1"], f["W_Q"]))
    K = take("K", product(f["X2"], f["W_K"]))
    V = take("V", product(f["X2"], f["W_V"]))
    S = take("S", product(Q, turned(K)))
    powers = [[exp(s - max(row)) for s in row] for row in S]
    A = take("A", [[p / sum(row) for p in row] for row in powers])
    O = take("O", product(A, V))  # noqa: E741
    pairs = [list(zip(one, other, strict=True)) for one, other in zip(O, f["target"], strict=True)]
    take("L", [[sum(((o - t) ** 2 for row in pairs for o, t in row), Fraction(0)) / 2]])
    dO = take("dO", [[o - t for o, t in row] for row in pairs])
    dV = take("dV", product(turned(A), dO))
    dA = take("dA", product(dO, turned(V)))
    means = [sum(a * g for a, g in zip(*rows, strict=True)) for rows in zip(A, dA, strict=True)]
    dS = take(
        "dS",
        [
            [a * (g - mean) for a, g in zip(row, slopes, strict=True)]
            for row, slopes, mean in zip(A, dA, means, strict=True)
        ],
    )
    dQ, dK = take("dQ", product(dS, K)), take("dK", product(turned(dS), Q))
    take("dW_Q", product(turned(f["X1"]), dQ))
    take("dW_K", product(turned(f["X2"]), dK))
    take("dW_V", product(turned(f["X2"]), dV))
    take("dX1", product(dQ, turned(f["W_Q"])))
    by_k = take("dX2_K", product(dK, turned(f["W_K"])))
    by_v = take("dX2_V", product(dV, turned(f["W_V"])))
    take(
        "dX2",
        [[a + b for a, b in zip(*rows, strict=True)] for rows in zip(by_k, by_v, strict=True)],
    )
    return made


def shown(rows: Rows, decimals: int) -> list[list[str]]:
    def text(value: Fraction) -> str:
        whole = rounded(value, decimals) * 10**decimals
        digits = f"{abs(int(whole)):0{decimals + 1}d}"
        return ("-" if whole < 0 else "") + f"{digits[:-decimals]}.{digits[-decimals:]}"

    return [[text(x) for x in row] for row in rows]


def hand_size(seed: int) -> dict[str, Rows]:
    chance = Chance(seed)
    n, m, d, d_2, d_k, d_v = (chance.between(1, 3) for _ in range(6))

    def matrix(rows: int, columns: int) -> Rows:
        return [[Fraction(chance.between(-8, 8), 4) for _ in range(columns)] for _ in range(rows)]

    sizes = {"X1": (n, d), "X2": (m, d_2), "W_Q": (d, d_k), "W_K": (d_2, d_k), "W_V": (d_2, d_v)}
    return {name: matrix(*size) for name, size in (sizes | {"target": (n, d_v)}).items()}


@pytest.mark.parametrize("seed", mostly_slow(range(120), every=8))
@pytest.mark.parametrize("rounding", ["display", "each-step"])
def test_hand_size_problems_to_the_digit(seed: int, rounding: str) -> None:
    fields = hand_size(seed)
    expected = by_hand(fields, rounding == "each-step", 2)
    solution = solve(Problem(**fields, scale="none", rounding=rounding))
    assert [step.name for step in solution.plan] == list(expected)
    for name, rows in expected.items():
        assert solution.shown(name) == shown(rows, 2), name


def homework(name: str, carries: bool) -> tuple[Path, dict[str, Rows]]:
    """Return the file of a sample, and its matrices; dO = 1 is that of a target that is 1 less."""
    path = SAMPLES / f"{name}.json"
    given = json.loads(path.read_text())
    matrices = (pair for pair in given.items() if isinstance(pair[1], list))
    fields = {key: [[Fraction(str(x)) for x in row] for row in rows] for key, rows in matrices}
    if "X" in fields:
        fields |= {"X1": fields["X"], "X2": fields["X"], "target": fields["dO"]}
        outputs = by_hand(fields, carries, 2)["O"]
        carried = [[rounded(x, 2) if carries else x for x in row] for row in outputs]
        fields["target"] = [[x - 1 for x in row] for row in carried]
    return path, fields


@pytest.mark.parametrize("rounding", ["display", "each-step"])
@pytest.mark.parametrize("name", ["gradients", "gradients-target"])
def test_both_homeworks(name: str, rounding: str) -> None:
    path, fields = homework(name, rounding == "each-step")
    expected = by_hand(fields, rounding == "each-step", 2)
    solution = solve(read_problem(path, rounding=rounding))
    compared = [step.name for step in solution.plan if step.name in expected]
    assert {"dV", "dA", "dS", "dQ", "dK", "dW_Q", "dW_K", "dW_V"} <= set(compared)
    for each in compared:
        assert solution.shown(each) == shown(expected[each], 2), each


# -- by differences of the way there --------------------------------------------------------------


def loss(problem: Problem, given: dict[str, Any], dO: np.ndarray, output: str) -> Any:
    """Return Σ dO ⊙ O of the way there, in Decimals."""
    made = run(problem.calculation.steps, given)[output]
    return (made * dO).sum()


def is_differentiated(name: str) -> bool:
    return role_of(name) not in ("marks", "scores", "arriving", "ids")


def differences(fields: Fields, chance: Chance) -> Iterator[tuple[str, Any, Any]]:
    """Yield, of each given matrix, the slope along a direction, and what gradients say of it."""
    plain = {name: each for name, each in fields.items() if name != "target_ids"}
    there = posed(plain)
    steps = there.calculation.steps
    output = "logits" if steps[-1].name == "prob" else steps[-1].name
    size = solve(there).floats[output].shape
    dO = chance.numbers(*size)
    back = solve(posed(plain, dO=dO))
    in_decimals = np.array([[Decimal(repr(float(x))) for x in row] for row in dO], dtype=object)
    with localcontext() as context:
        context.prec = DIGITS
        given = given_in_decimals(there)
        for name in filter(is_differentiated, there.names):
            shape = given[name].shape
            is_turned = role_of(name) == "buckets"  # its gradient has its layout
            along = np.array([Decimal(chance.between(-3, 3)) for _ in range(given[name].size)])
            along = along.reshape(shape)
            up, down = (
                loss(there, given | {name: given[name] + sign * STEP * along}, in_decimals, output)
                for sign in (1, -1)
            )
            own = name.rpartition(".")[2]
            gradient = back.exact[f"{name.removesuffix(own)}d{own}"]
            stood = along.reshape(shape[0] if len(shape) > 2 else 1, -1).T if is_turned else along
            yield name, (up - down) / (2 * STEP), (_decimals(gradient) * stood).sum()


def _decimals(matrix: np.ndarray) -> np.ndarray:
    if matrix.dtype == object:
        return matrix
    return np.vectorize(lambda x: Decimal(repr(float(x))), otypes=[object])(matrix)


def in_short(fields: Fields) -> Fields:
    """Return a problem of numbers of two decimals, so that it is computed exactly."""
    short: Fields = {}
    for name, each in fields.items():
        if isinstance(each, np.ndarray) and each.dtype == np.float64:
            short[name] = np.round(each, 2)
        elif isinstance(each, dict):
            short[name] = in_short(each)
        elif name == "layers":
            short[name] = [in_short(one) for one in each[:1]]
        else:
            short[name] = each
    return short


@pytest.mark.parametrize("seed", mostly_slow(range(40), every=20))
def test_gradients_of_attention_equal_central_differences(seed: int) -> None:
    fields = in_short(kind_of_attention(seed))
    for name, slope, said in differences(fields, Chance(seed)):
        assert abs(slope - said) <= max(NEAR, abs(slope) * Decimal("1e-11")), name


@pytest.mark.parametrize("seed", mostly_slow(range(24), every=24))
def test_gradients_of_layers_equal_central_differences(seed: int) -> None:
    fields = in_short(kind_of_layers(seed))
    for name, slope, said in differences(fields, Chance(seed)):
        assert abs(slope - said) <= max(Decimal("1e-12"), abs(slope) * Decimal("1e-9")), name


@pytest.mark.parametrize("what", mostly_slow(list(FURTHER), every=8))
def test_gradients_of_other_operations_equal_central_differences(what: str) -> None:
    fields = in_short(FURTHER[what](Chance(len(what))))
    found = []
    for name, slope, said in differences(fields, Chance(1)):
        assert abs(slope - said) <= max(Decimal("1e-12"), abs(slope) * Decimal("1e-9")), name
        found.append(name)
    assert {name for name, each in fields.items() if isinstance(each, np.ndarray)} == set(found)


# -- line by line ---------------------------------------------------------------------------------


def lines_of(solution: Solution, **contents: Any) -> list[tuple[str, str]]:
    page = make_page(solution, Contents(solution.steps, work=True, full=True, **contents))
    return [(each.step.name, line_in_text(line)) for each in page.sections for line in each.lines]


@pytest.mark.parametrize("seed", mostly_slow(range(80), every=40))
def test_each_line_equals_its_result(seed: int) -> None:
    """Where each step is rounded, the numbers in a line are those really used."""
    fields = in_short(kind_of_attention(seed))
    solution = solve(posed(fields, rounding="each-step", decimals=4, backward=True))
    known: dict[str, Value] = {}
    names = set()
    for name, text in lines_of(solution):
        line = read_line(text, known)
        check(line, 4)
        names.add(name)
        if line.result != "-∞":
            known[line.entry] = Fraction(line.result)
    assert names == {step.name for step in solution.plan}


@pytest.mark.parametrize("what", mostly_slow(sorted(FURTHER), every=11))
def test_each_line_of_other_gradients(what: str) -> None:
    fields = in_short(FURTHER[what](Chance(len(what))))
    problem = Problem(**fields, rounding="each-step", decimals=4, backward=True)
    known: dict[str, Value] = {}
    for name in (
        "W_E",
        "W_type",
        "image",
        "class_token",
    ):  # whose entries are named, and not written out
        for place, value in np.ndenumerate(np.atleast_2d(fields.get(name, np.zeros((0, 0))))):
            known[f"{name}[{','.join(str(each + 1) for each in place)}]"] = Fraction(str(value))
    for name, text in lines_of(solve(problem)):
        line = read_line(text, known)
        if name.rpartition(".")[2].startswith("d"):
            check(line, 4)
        if line.result != "-∞":
            known[line.entry] = Fraction(line.result)
    back = [step.name for step in problem.calculation.steps if step.name[0] == "d"]
    assert {entry.partition("[")[0] for entry in known} >= set(back)


def has_way_back(kind: Kind) -> bool:
    """Return whether all that a kind of attention does can be gone back through."""
    return kind.normalizer != "hardmax"


@pytest.mark.slow
@many(40)
@given(kinds(rounding=("each-step",), decimals=4), st.sampled_from(FORMS))
def test_each_line_has_the_value_it_shows_in_every_layout(kind: Kind, form: Form) -> None:
    if not has_way_back(kind) or not is_solvable(form.problem(kind)):
        return
    try:
        problem = form.problem(kind, backward=True)
    except InputError as refused:
        assert "with tokens as rows" in str(refused)  # noqa: PT017 - solving is the other right end
        return
    known: dict[str, Value] = {}
    for _, text in lines_of(solve(problem)):
        line = read_line(text, known)
        check(line, kind.decimals)
        if line.result != "-∞":
            known[line.entry] = Fraction(line.result)


def test_scores_over_their_sum_stay_fractions_forward_and_backward() -> None:
    fields = {"Q": [[1, 2]], "K": [[1, 1], [2, 1]], "V": [[1, "1/2"], [2, 3]], "scale": "none"}
    fields = {name: [[Fraction(x) for x in row] for row in each] if isinstance(each, list) else each
              for name, each in fields.items()}  # fmt: skip
    solution = solve(Problem(**fields, normalizer="sum", target=[[1, 1]]))
    lines = lines_of(solution, fractions="plain")
    read = {read_line(text).entry: read_line(text) for _, text in lines if "= " in text and text}
    for name, text in lines:
        line = read_line(text, {})
        assert line.sign == "=", (name, text)
    # S = 3, 4; A = 3/7, 4/7; O = 11/7, 27/14; dO = 4/7, 13/14; dA = 29/28, 55/14
    assert read["dA[1,1]"].result == "29/28"
    assert read["dA[1,2]"].result == "55/14"
    # mean = 3/7·29/28 + 4/7·55/14 = 527/196; (29/28 - 527/196) / 7 = -81/343
    assert read["dS[1,1]"].result == "-81/343"
    assert read["dS[1,2]"].result == "243/1372"


# -- a step against the gradients -----------------------------------------------------------------


@pytest.mark.parametrize("layout", [{}, {"weights_layout": "torch"}, {"layout": "columns"}])
def test_the_step_gives_the_outputs_of_the_new_weights(layout: Fields) -> None:
    chance = Chance(1)
    matrices: Fields = {"X": chance.numbers(3, 4), "W_Q": chance.numbers(4, 4),
                        "W_K": chance.numbers(4, 2), "W_V": chance.numbers(4, 2),
                        "W_O": chance.numbers(4, 3)}  # fmt: skip
    stored = {name: each.T if layout.get("layout") or (layout and name != "X") else each
              for name, each in matrices.items()}  # fmt: skip
    fields = stored | layout | {"heads": 2, "b_Q": chance.numbers(1, 4)}
    solution = solve(Problem(**fields, step="1/1000"))
    again = {}
    for name in ("W_Q", "W_K", "W_V", "W_O", "b_Q"):
        changed = solution[f"{name}_new"]
        gradient = solution[f"d{name}"]
        axis = -2 if layout.get("layout") or (layout and name.startswith("W")) else -1
        joined, slopes = (
            np.concatenate(list(each), axis=axis) if each.ndim == 3 else each
            for each in (changed, gradient)
        )
        if name == "b_Q" and layout.get("layout"):
            joined, slopes = joined.reshape(1, -1), slopes.reshape(1, -1)
        again[name] = joined
        assert np.allclose(joined, fields[name] - slopes / 1000, atol=1e-14)
    assert np.allclose(solve(Problem(**fields | again))["O"], solution["O_new"], atol=1e-12)
    squares = sum((solution[f"d{name}"] ** 2).sum() for name in again)
    assert solution["L_fell"].item() == pytest.approx(squares / 1000, rel=0.05)


# -- what is asked, and refused -------------------------------------------------------------------

SMALL: Fields = {"X": [[1, 2], [0, 1]], "W_Q": [[1], [0]], "W_K": [[1], [1]], "W_V": [[2], [4]]}
HEAD: Fields = {
    "X": [[1.0, 2], [0, 1]],
    "W_1": [[1], [0]],
    "W_2": [[1, 1]],
    "W_out": [[1, 0], [0, 2]],
}


def plan_of(**fields: Any) -> list[str]:
    return [step.name for step in Problem(**fields).calculation.steps]


def test_gradients_are_in_the_order_of_backpropagation() -> None:
    there = ["Q", "K", "V", "S", "S_scaled", "A", "O"]
    back = ["dO", "dV", "dA", "dS_scaled", "dS", "dQ", "dK", "dW_Q", "dW_K", "dW_V"]
    assert plan_of(**SMALL, backward=True) == [*there, *back, "dX_Q", "dX_K", "dX_V", "dX"]
    given = plan_of(**SMALL, dO=[[1], [1]])
    assert given[len(there)] == "dV"  # dO is given


def test_in_a_stack_each_gradient_has_the_number_of_its_layer() -> None:
    layer = {name: SMALL[name] for name in ("W_Q", "W_K")} | {"W_V": [[1, 0], [0, 1]]}
    names = plan_of(X=SMALL["X"], layers=[layer, layer], backward=True)
    assert "dY" in names
    assert "2.dQ" in names
    assert "1.dW_Q" in names
    assert names[-1] == "dX"


@pytest.mark.slow
@pytest.mark.parametrize("kinds_of", ["layers", "further"])
def test_the_name_of_a_part_contains_its_matrix_and_its_path(kinds_of: str) -> None:
    """Names and places in a stack: what layer 2 reads is of layer 1, its last outputs are Y."""
    layers = (posed(kind_of_layers(seed), backward=True) for seed in range(40))
    further = (Problem(**FURTHER[what](Chance(1)), backward=True) for what in FURTHER)
    count = 0
    for problem in layers if kinds_of == "layers" else further:
        steps = problem.calculation.steps
        assert len({step.name for step in steps}) == len(steps)
        for step in steps:
            said, _, by = step.title.partition(", by way of ")
            if step.title.startswith("gradient of ") and by:
                found = gradient_from(step.name)
                assert found is not None
                assert found.of == said.removeprefix("gradient of ").partition(",")[0], step.name
                assert found.by == by or (by == "Y" and found.by.endswith(".Y")), step.name
                count += 1
    assert count > 50


REFUSED: dict[str, tuple[Fields, str]] = {
    "hardmax": (
        SMALL | {"normalizer": "hardmax", "backward": True},
        "backward, A (attention weights): hardmax jumps where two scores change places and is flat "
        "everywhere else, so it has no gradient to go back by (the normalizers softmax and sum "
        "have)",
    ),
    "both ways": (
        SMALL | {"dO": [[1], [1]], "backward": False},
        "dO is given, but backward is false: omit one of them",
    ),
    "two starts": (
        SMALL | {"dO": [[1], [1]], "target": [[1], [1]]},
        "dO and target are given: backpropagation starts from one of them",
    ),
    "another shape": (
        SMALL | {"dO": [[1, 1]]},
        "dO is 1 × 2 and O is 2 × 1: both need one shape",
    ),
    "ids without a head": (
        {"X": SMALL["X"], "W_1": [[1], [0]], "W_2": [[1, 1]], "target_ids": [0, 1]},
        "target_ids requires a head with probabilities (W_out); for other outputs, give target",
    ),
    "too few ids": (
        HEAD | {"target_ids": [0]},
        "target_ids has 1 and prob has 2 rows: one is needed for each",
    ),
    "an id too large": (
        HEAD | {"target_ids": "0, 2"},
        "target_ids, number 2: 2, where there are 2 classes, 0 to 1",
    ),
    "no id": (
        HEAD | {"target_ids": [-1, 0]},
        "target_ids takes whole numbers from 0, one per row of probabilities, e.g. 2, 0, 1, not "
        '"[-1, 0]"',
    ),
    "nothing to change": (
        {"Q": [[1]], "K": [[1]], "V": [[1]], "step": 0.1},
        "step is given, but there are no weights or biases to change",
    ),
    "the wrong one of layers": (
        HEAD | {"dY": [[1, 1], [1, 1]]},
        "dY is given: the gradient that arrives here is dlogits",
    ),
    "a part of it": (
        {"X": SMALL["X"], "layers": [{"W_1": [[1], [0]], "W_2": [[1, 1]], "dO": [[1]]}]},
        "1.dO: dO applies to the whole problem, not to one of its parts",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_an_operation_without_gradient_is_refused_in_one_message(case: str) -> None:
    fields, message = REFUSED[case]
    with pytest.raises(InputError) as caught:
        Problem(**fields)
    assert str(caught.value) == message
    assert isinstance(caught.value, ShapeError) == ("shape" in message or "rows:" in message)


def test_more_scores_than_fit_are_refused() -> None:
    n = 2001
    tokens = np.ones((n, 1))
    with pytest.raises(InputError) as caught:
        Problem(Q=tokens, K=tokens, V=tokens, backward=True)
    assert str(caught.value) == (
        "backward keeps every matrix of scores and supports up to 4,000,000 scores: this problem "
        "has 4,004,001 (give fewer tokens, or leave backward out)"
    )


def test_a_small_language_model_makes_a_training_step() -> None:
    """Of the table both parts are taken off: those of the tokens, and those of the head."""
    fields = FURTHER["a small model of language"](Chance(5)) | {"target_ids": [3, 0, 1]}
    solution = solve(Problem(**fields, step="1/1000"))
    assert {"dW_E_X", "dW_E_logits", "dW_E", "W_E_new"} <= {step.name for step in solution.plan}
    assert np.allclose(solution["dW_E_X"][[1, 2]], 0)  # ids that no token has
    assert np.allclose(solution["dW_E"], solution["dW_E_X"] + solution["dW_E_logits"], atol=1e-14)
    new = {n: solution[f"{n}_new"] for n in ("W_E", "W_Q", "W_K", "W_V", "b_out")}
    again = solve(Problem(**fields | new))
    assert again["L"].item() == pytest.approx(solution["L_new"].item(), abs=1e-12)
    assert solution["L_fell"].item() > 0


@pytest.mark.slow
@pytest.mark.parametrize("what", mostly_slow(sorted(FURTHER), every=30))
def test_other_gradients_are_read_and_marked(what: str) -> None:
    """Under the names that people give gradients, of the shape that each matrix is given in."""
    from attncalc import check as mark

    chance = Chance(len(what))
    fields = FURTHER[what](chance)
    steps = solve(Problem(**fields)).floats
    last = steps.get("logits", list(steps.values())[-1])
    problem = Problem(**fields, dO=chance.numbers(*last.shape))
    solution = solve(problem)
    for name, each in fields.items():
        if isinstance(each, np.ndarray):
            gradient = solution.floats[f"d{name}"]
            if gradient.ndim > each.ndim and name != "sinks":
                gradient = np.concatenate(list(gradient), axis=-1)
            for said in (f"{name}.grad", f"grad_{name}", f"dL/d{name}"):
                right = mark(problem, {said: gradient.reshape(each.shape)}, atol=1e-9)
                assert (right.score.earned, right.steps[0].step.name) == (1, f"d{name}")
            wrong = mark(problem, {f"d{name}": gradient.reshape(each.shape) * 2}, atol=1e-9)
            assert wrong.score.earned < 1


def test_an_operation_without_a_gradient_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from attncalc.equations.library import stated
    from attncalc.equations.operations.normalising import Softmax

    monkeypatch.setattr(Softmax, "way_back", Operation.way_back)
    monkeypatch.setitem(stated(), "Softmax", stated()["Softmax"]._replace(backs={}))
    with pytest.raises(InputError) as caught:
        Problem(**SMALL, backward=True)
    assert str(caught.value) == ("backward, A (attention weights): no gradient of Softmax is known")


def test_a_further_input_that_nothing_is_known_of_is_refused() -> None:
    """A mask of another kind has no gradient of 0 by silence."""
    from attncalc.equations.operations.entrywise import Mask

    assert Mask(("keep", "ignore")).way_back(1, [(2, 2)] * 3) is None
    with pytest.raises(InputError):
        Mask(("another",)).way_back(1, [(2, 2), (2, 2)])


@pytest.mark.slow
def test_the_upstream_gradient_is_stated(attncalc: Command) -> None:
    sample = SAMPLES / "self.json"
    page = attncalc("self", str(sample), "--backward").out
    assert "gradients of L, the sum of O: each entry of the upstream gradient is 1" in " ".join(
        page.split()
    )
    page = attncalc("self", str(sample), "--target", "1 0; 0 1; 1 1").out
    assert "gradients of L = 1/2 Σ (O - target)²" in " ".join(page.split())
    page = attncalc("self", str(sample), "--dO", "1 0; 0 1; 1 1", "--only", "dQ,dW_Q").out
    assert "gradients from dO, the one that arrives at O" in " ".join(page.split())
    assert "dW_Q = Xᵀ dQ" in page
    assert "dK" not in page


def test_cross_entropy_is_that_of_the_probabilities() -> None:
    solution = solve(Problem(**HEAD, target_ids=[1, 0]))
    prob = solution["prob"]
    onehot = np.array([[0, 1], [1, 0]])
    assert np.allclose(solution["dlogits"], prob - onehot)
    assert solution["L"].item() == pytest.approx(-np.log(prob[0, 1]) - np.log(prob[1, 0]))
    assert solution.is_exact
    assert solution.shown("L") == [[f"{solution['L'].item():.2f}"]]
    (line,) = [text for name, text in lines_of(solution) if name == "L"]
    assert line.startswith("L[1,1] = -log(0.")


def test_a_probability_that_is_carried_as_0_has_no_logarithm() -> None:
    far = HEAD | {"W_out": [[1000, 0], [0, 1]], "rounding": "each-step", "norm": "none"}
    with pytest.raises(InputError) as caught:
        solve(Problem(**far, target_ids=[1, 1]))
    assert str(caught.value).startswith("L: the probability of target 1 in row 1 is 0 (as it is ")


@pytest.mark.slow
@pytest.mark.parametrize("form", ["json", "npz", "csv"])
def test_output_is_read_back(form: str, tmp_path: Path, attncalc: Command) -> None:
    sample = SAMPLES / "gradients-target.json"
    out = tmp_path / f"out.{form}"
    assert attncalc("cross", str(sample), "-o", str(out)).code == 0
    first, second = read_problem(sample), read_problem(out)
    assert second.backward is True
    assert second.step == Fraction(1, 100)
    assert (second.target == first.target).all()


def test_ids_are_written_and_read_back(tmp_path: Path) -> None:
    from attncalc.problem.serialising import in_json

    problem = Problem(**HEAD, target_ids=[1, 0])
    file = tmp_path / "p.json"
    file.write_text(json.dumps(in_json(problem)))
    assert read_problem(file).target_ids == (1, 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind",
    [
        {"norm": "post", "b_1": 4, "gamma_1": 4, "beta_1": 4, "ddof": 1},
        {"norm": "pre", "normalization": "rms", "W_3": (4, 4), "gamma_2": 4, "beta_2": 4},
        {"norm": "post", "eps_place": "outside", "gamma_1": 4},
    ],
)
def test_each_line_of_layers_equals_its_result(kind: Fields) -> None:
    """Through normalizations, residual connections and ReLU, too."""
    chance = Chance(len(kind))
    sizes: Fields = {"X": (3, 4), "W_Q": (4, 2), "W_K": (4, 2), "W_V": (4, 2), "W_O": (2, 4)}
    sizes |= {"W_1": (4, 4), "W_2": (4, 4)}
    sizes |= {name: (1, each) for name, each in kind.items() if name[:2] in ("b_", "ga", "be")}
    sizes |= {name: each for name, each in kind.items() if name == "W_3"}
    matrices = {name: np.round(chance.numbers(*size), 2) for name, size in sizes.items()}
    problem = Problem(**kind | matrices, rounding="each-step", decimals=4, backward=True)
    known: dict[str, Value] = {}
    for name, text in lines_of(solve(problem)):
        if name.startswith("d"):
            line = read_line(text, known)
            check(line, 4)
            known[line.entry] = Fraction(line.result)
    assert len(known) > 100


LAYOUTS: dict[str, Fields] = {
    "torch": {"weights_layout": "torch"},
    "columns": {"layout": "columns"},
}


def is_turned(name: str, fields: Fields, way: str) -> bool:
    """Return whether a matrix is transposed in a layout."""
    is_general = name == "W_S" and fields.get("score") == "general"
    if name in ("rel_bias", "image") or is_general or role_of(name) in ("bias", "heads"):
        return False
    return way == "columns" or (way == "torch" and role_of(name) == "weights")


def in_layout(fields: Fields, way: str) -> Fields:
    """Return fields as they are given with tokens as columns, or with weights (out, in)."""
    return LAYOUTS[way] | {
        name: each.swapaxes(-1, -2)
        if isinstance(each, np.ndarray) and is_turned(name, fields, way)
        else each
        for name, each in fields.items()
    }


@pytest.mark.parametrize("way", LAYOUTS)
@pytest.mark.parametrize("what", mostly_slow(list(FURTHER), every=8))
def test_other_gradients_have_the_layout_of_their_matrices(what: str, way: str) -> None:
    fields = FURTHER[what](Chance(len(what)))
    further = {"backward": True} if what == "distance" else {"step": "0.1"}  # it has no weights
    plain = solve(Problem(**fields, **further))
    other = solve(Problem(**in_layout(fields, way), **further))
    for name, each in fields.items():
        if not isinstance(each, np.ndarray):
            continue
        for said in {f"d{name}", f"{name}_new"} & {step.name for step in plain.plan}:
            turns = is_turned(name, fields, way)
            expected = plain[said].swapaxes(-1, -2) if turns else plain[said]
            assert other[said].shape == in_layout(fields, way)[name].shape, said
            assert np.allclose(other[said], expected, atol=1e-12), said


@pytest.mark.parametrize("way", ["rows", *LAYOUTS])
@pytest.mark.parametrize("what", mostly_slow([each for each in FURTHER if each != "distance"], 8))
def test_steps_after_an_update_use_the_new_matrices(what: str, way: str) -> None:
    """They have the layout of their matrices: the page of one can be read as the next problem."""
    plain = FURTHER[what](Chance(len(what)))
    fields = plain if way == "rows" else in_layout(plain, way)
    solution = solve(Problem(**fields, step="0.1"))
    stepped = dict(fields)
    for name in {step.name.removesuffix("_new") for step in solution.plan} & {*fields}:
        new, axis = solution[f"{name}_new"], -2 if is_turned(name, fields, way) else -1
        side_by_side = np.concatenate(list(new), axis) if new.ndim > fields[name].ndim else new
        stepped[name] = new.reshape(-1) if fields[name].ndim == 1 else side_by_side
    again = solve(Problem(**stepped))
    last = again.plan[-1].name
    assert np.allclose(again[last], solution[f"{last}_new"], atol=1e-12)


STANDING = {
    "concat": "torch",
    "concat, weights of each head": "torch",
    "general": "columns",
    "a table of distances": "columns",
    "tables of distances": "columns",
    "patches": "columns",
    "patches of channels": "columns",
}
"""Problems whose gradients are transposed internally, with their layouts."""


@pytest.mark.campaign(2)
@pytest.mark.parametrize("what", mostly_slow(sorted(STANDING), every=4))
def test_each_line_of_a_gradient_in_the_layout_of_its_matrix(what: str) -> None:
    fields = in_layout(in_short(FURTHER[what](Chance(len(what)))), STANDING[what])
    solution = solve(Problem(**fields, rounding="each-step", decimals=4, step="0.1"))
    known: dict[str, Value] = {}
    for name, each in fields.items():
        if isinstance(each, np.ndarray):
            is_row = each.ndim == 1 and STANDING[what] == "torch"
            for place, value in np.ndenumerate(each if each.ndim > 1 or is_row else each[:, None]):
                known[f"{name}[{','.join(str(k + 1) for k in place)}]"] = Fraction(str(value))
    count = 0
    for name, text in lines_of(solution):
        line = read_line(text, known)
        if name[0] == "d" or name.endswith("_new"):
            check(line, 4)
            count += 1
        if line.result != "-∞":
            known[line.entry] = Fraction(line.result)
    assert count > 50


@pytest.mark.parametrize("layout", [{"weights_layout": "torch"}, {"layout": "columns"}])
def test_gradients_have_the_layout_of_their_matrices(layout: Fields) -> None:
    chance = Chance(2)
    tokens = {"X1": chance.numbers(3, 4), "X2": chance.numbers(2, 4)}
    weights = {"W_Q": (4, 2), "W_K": (4, 2), "W_V": (4, 3), "W_O": (3, 2)}
    given = tokens | {name: chance.numbers(*shape) for name, shape in weights.items()}
    by_columns = "layout" in layout
    stored = {
        name: each.T if by_columns or name in weights else each for name, each in given.items()
    }
    plain, other = (
        solve(Problem(**given, backward=True)),
        solve(Problem(**stored, **layout, backward=True)),
    )
    for name, each in stored.items():
        assert other.shape_of(f"d{name}") == each.shape
        is_turned = by_columns or name in weights
        expected = plain[f"d{name}"].T if is_turned else plain[f"d{name}"]
        assert np.allclose(other[f"d{name}"], expected, atol=1e-14)
    equation = "dW_Q = dQ X1ᵀ" if by_columns else "dW_Q = dQᵀ X1"
    page = make_page(other, Contents(other.steps))
    texts = {each.step.name: in_text(each.formula) for each in page.sections}
    assert f"dW_Q = {texts['dW_Q']}" == equation


def test_gradients_of_a_family_are_those_of_each_problem() -> None:
    """Studies solve many problems at once, with an axis before all others."""
    from attncalc.studies.family import ProblemFamily

    chance = Chance(4)
    fields = {"X": chance.numbers(3, 4), "W_Q": chance.numbers(4, 4), "W_K": chance.numbers(4, 2),
              "W_V": chance.numbers(4, 2), "W_O": chance.numbers(4, 2), "heads": 2}  # fmt: skip
    problem = Problem(**fields, backward=True)
    tokens = np.stack([fields["X"], fields["X"] * 2, -fields["X"]])
    family = ProblemFamily(problem).solve({"X": tokens})
    for number, X in enumerate(tokens):
        alone = solve(Problem(**fields | {"X": X}, backward=True))
        for step in problem.calculation.steps:
            found = family[step.name][number]
            own = alone.floats[step.name]
            assert np.allclose(found.reshape(own.shape), own, atol=1e-12), step.name


@pytest.mark.parametrize("what", mostly_slow(list(FURTHER), every=8))
def test_other_gradients_in_a_family(what: str) -> None:
    """Of one matrix that differs from problem to problem."""
    from attncalc.studies.family import ProblemFamily

    fields = FURTHER[what](Chance(len(what)))
    name = next(each for each in ("X", "X1", "W_E", "image") if each in fields)
    problem = Problem(**fields, backward=True)
    values = [fields[name], fields[name] * 2, -fields[name]]
    family = ProblemFamily(problem).solve({name: np.stack(values)})
    for number, value in enumerate(values):
        alone = solve(Problem(**fields | {name: value}, backward=True))
        for step in problem.calculation.steps:
            own = alone.floats[step.name]
            found = family[step.name]
            found = found[
                number if len(found) > 1 else 0
            ]  # what does not depend on it is there once
            assert np.allclose(found.reshape(own.shape), own, atol=1e-12), step.name


@pytest.mark.slow
def test_a_gradient_is_drawn_with_diverging_colours(attncalc: Command, tmp_path: Path) -> None:
    sample = str(SAMPLES / "heads.json")
    run = attncalc("plot", sample, "--kind", "heatmap", "--of", "ds", "-o", "ds.svg")
    assert (run.code, run.out) == (0, "ds.svg\n")
    picture = (tmp_path / "ds.svg").read_text(encoding="utf-8")
    assert picture.count('id="value') == 18
    solution = solve(read_problem(sample, backward=True))
    figure = solution.plot("heatmap", of="dS")
    low, high = figure.axes[0].collections[0].get_clim()
    assert low == -high == -np.abs(solution.precise("dS")).max()


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--kind", "map", "--of", "dS"),
         "--of draws a gradient as a heatmap: ask for the kind heatmap"),
        (("--kind", "heatmap", "--of", "dS", "--head", "1"),
         "--of and --head together: --of draws all of a gradient"),
        (("--kind", "heatmap", "--of", "Q"),
         '--of takes a gradient, not "Q": there are dO, dV, dA, dS, dQ, dK, dW_Q, dW_K, dW_V, '
         "dX_Q, dX_K, dX_V, dX"),
    ],
)  # fmt: skip
def test_an_impossible_picture_of_a_gradient_is_refused(
    attncalc: Command, flags: tuple[str, ...], message: str
) -> None:
    run = attncalc("plot", str(SAMPLES / "self.json"), *flags, "-o", "p.png")
    assert (run.code, run.err) == (2, f"error: {message}\n")


def test_a_step_that_is_too_long_is_reported() -> None:
    from attncalc.writing.sentences import notes

    solution = solve(read_problem(SAMPLES / "gradients-target.json", step=1))
    assert any(note.text.startswith("L rose by ") for note in notes(solution))
    solution = solve(read_problem(SAMPLES / "gradients-target.json"))
    assert not any(note.text.startswith("L rose by ") for note in notes(solution))
    assert solution.shown("L_fell") == [["0.10"]]


def test_a_step_that_changes_nothing_has_not_made_the_loss_larger() -> None:
    """All outputs are the target: floats are 5e-33 off, and reported that L rose by 0.00."""
    from attncalc.writing.sentences import notes

    eye, weights = [[1, 0], [0, 1]], [["0.1", "0.1"]] * 2
    tokens, target = [["0.7", "0.7"]] * 2, [["0.14", "0.14"]] * 2
    solution = solve(
        Problem(X=tokens, W_Q=eye, W_K=eye, W_V=weights, target=target, step=1, backward=True)
    )
    assert solution.floats["L_fell"].item() < 0
    assert not any(note.text.startswith("L rose by ") for note in notes(solution))


def test_the_cap_of_logits_has_its_slope_in_backpropagation() -> None:
    """The numbers are PyTorch's, in float64."""
    eye = [[1, 0], [0, 1]]
    fields = {"norm": "none", "residual": False, "W_1": eye, "W_2": eye, "target_ids": [0, 2]}
    problem = Problem(
        block="encoder", X=[[1, 2], [0, 1]], W_out=[[1, 0, 2], [0, 1, 1]], softcap_out=2, **fields
    )
    wanted = [[-0.6447, 0.1378, 0.0347], [0.1656, 0.3281, -0.4583]]
    assert np.allclose(solve(problem)["dlogits_uncapped"], wanted, atol=5e-5)


NORMED = {
    "X": [[1, 2, 0], [0, 1, 1]],
    "W_Q": [[1, 0, 2, 1], [0, 1, 1, 0], [1, 1, 0, 1]],
    "W_K": [[0, 1, 1, 1], [1, 0, 0, 2], [2, 1, 1, 0]],
    "W_V": [[1, 0, 1, 0], [0, 1, 0, 2], [1, 1, 2, 0]],
    "heads": 2,
    "qk_norm": "rms",
    "dO": [[1, 0, 2, 1], [0, 1, 0, 3]],
}


@pytest.mark.slow
def test_gains_of_each_head_have_their_work() -> None:
    problem = Problem(**NORMED, gamma_Q=[1, 2, 1, 2], gamma_K=[2, 1, 2, 1])
    assert np.allclose(solve(problem)["dgamma_Q"][2:], [-0.7332, 0.1258], atol=5e-5)  # PyTorch's
    page = make_page(solve(problem), Contents(solve(problem).plan, work=True, full=True))
    assert any(line.step == "dgamma_Q" for line in page.lines)


def test_the_work_of_weights_after_an_update_uses_the_new_sink() -> None:
    """It was in the sum of powers as e^0: 2.0281 / 4.0281 is not 0.4850."""
    tokens = {"Q": [[1, 0], [0.3, 1]], "K": [[1, 0.5], [0, 1]], "V": [[1], [2]], "sinks": [-0.5]}
    problem = Problem(**tokens, dO=[[3], [4]], step=Fraction(1, 2), backward=True, decimals=4)
    page = make_page(solve(problem), Contents(solve(problem).plan, work=True, full=True))
    (line,) = (each for each in page.lines if (each.step, each.place) == ("A_new", (0, 0)))
    assert line_in_text(line) == (
        "A_new[1,1] = e^0.7071 / (e^0.7071 + e^0.0000 + e^0.1427) = 2.0281 / 4.1815 ≈ 0.4850"
    )
