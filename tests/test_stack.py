"""Questions for STACK, whose variables plain Maxima evaluates, if it is there."""

import json
import re
import shutil
import subprocess
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from conftest import Command
from test_lines_in_systems import PROBLEMS, answers, expected, numbers

from attncalc import Problem, read_problem, solve
from attncalc.problem.samples import sample
from attncalc.problem.serialising import in_json

MAXIMA = shutil.which("maxima")
needs_maxima = pytest.mark.skipif(MAXIMA is None, reason="there is no maxima")


def stack_question(attncalc: Command, problem: str, *flags: str) -> ElementTree.Element:
    done = attncalc("export", problem, "--to", "stack", *flags)
    assert done.code == 0, done.err
    (question,) = ElementTree.fromstring(done.out).findall("question")
    assert question.get("type") == "stack"
    return question


def earned(question: ElementTree.Element, *answers: dict[str, Any]) -> list[dict[str, float]]:
    """Return the scores of each answer's trees, evaluated as STACK does.

    Each tree comes after the variables of the question and the inputs.
    """
    trees = {
        str(tree.findtext("name")): tree.findtext("feedbackvariables/text") or ""
        for tree in question.findall("prt")
    }
    lines = ["display2d: false;", "linel: 1000;"]
    lines.append(question.findtext("questionvariables/text") or "")
    for answer in answers:
        lines += [f"{name}: {_in_maxima(typed)};" for name, typed in answer.items()]
        for name, variables in trees.items():
            lines += [variables, f'print("{name}", float(attn_earned));']
    done = subprocess.run(
        [str(MAXIMA), "--very-quiet"],
        input="\n".join(lines),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    found = re.findall(r"^(prt\w+) ([\d.e-]+) *$", done.stdout, re.MULTILINE)
    assert [name for name, _ in found] == [*trees] * len(answers), done.stdout[-2000:]
    scores = [float(value) for _, value in found]
    return [
        dict(zip(trees, scores[start : start + len(trees)], strict=True))
        for start in range(0, len(scores), len(trees))
    ]


def _in_maxima(typed: Any) -> str:
    """Return a matrix of typed numbers, or the value of a drop-down."""
    if isinstance(typed, int):
        return str(typed)
    return f"matrix({','.join('[' + ','.join(row) + ']' for row in typed)})"


def inputs_of(question: ElementTree.Element) -> list[str]:
    return [str(each.findtext("name")) for each in question.findall("input")]


def keys_of(question: ElementTree.Element) -> dict[str, str]:
    """Return the answers of the teacher by the names of the inputs: variables of the question."""
    variables = question.findtext("questionvariables/text") or ""
    said = dict(re.findall(r"^(\w+): (.*);$", variables, re.MULTILINE))
    fields = question.findall("input")
    return {str(each.findtext("name")): said[str(each.findtext("tans"))] for each in fields}


def shown_in(question: ElementTree.Element, problem: Path) -> dict[str, Any]:
    """Return the right answer, by the names of the inputs."""
    solution = solve(read_problem(problem))
    found = {}
    for field in question.findall("input"):
        if field.findtext("type") == "dropdown":
            name = str(field.findtext("name"))
            options = re.findall(r"\[(\d+),(true|false),", keys_of(question)[name])
            found[name] = next(int(n) for n, x in options if x == "true")
    for step in solution.plan:
        plain = "ans" + "".join(sign for sign in step.name if sign.isalnum())
        shown = solution.shown(step.name)
        heads = {f"{plain}h{n}": own for n, own in enumerate(shown, 1)}
        found |= heads if isinstance(shown[0][0], list) else {plain: shown}
    return {name: found[name] for name in inputs_of(question)}


@needs_maxima
@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["self", "cross", "heads", "causal", "grouped", "columns", "encoder", "average"]
)
def test_the_right_answer_earns_all(name: str, attncalc: Command) -> None:
    question = stack_question(attncalc, str(sample(name).path))
    answer = shown_in(question, sample(name).path)
    (scores,) = earned(question, answer)
    assert set(scores.values()) == {1.0}


@needs_maxima
@pytest.mark.slow
def test_a_lost_sign_costs_only_its_entry(attncalc: Command, tmp_path: Path) -> None:
    """Later steps are computed from the answer's own Q by `solve`, not by Maxima."""
    given = json.loads(sample("self").path.read_text(encoding="utf-8"))
    question = stack_question(attncalc, str(sample("self").path))
    answer = shown_in(question, sample("self").path)
    Q = [*answer["ansQ"][:2], ["2.50", "2.00"]]
    own = {name: given[name] for name in ("decimals", "rounding", "scale") if name in given}
    changed = {"Q": Q, "K": answer["ansK"], "V": answer["ansV"], **own}
    (tmp_path / "own.json").write_text(json.dumps(changed))
    follows = solve(read_problem(tmp_path / "own.json"))
    carried = answer | {"ansQ": Q} | {f"ans{name}": follows.shown(name) for name in "SAO"}
    assert carried["ansS"] != answer["ansS"]
    scores, wrong = earned(question, carried, answer | {"ansO": [["9", "9"]] * 3})
    assert scores == {name: 1.0 if name != "prtansQ" else pytest.approx(5 / 6) for name in scores}
    assert wrong == {name: float(name != "prtansO") for name in wrong}


GIVEN: dict[str, Any] = {
    "Q": [["1.2", "-0.7"], ["0.4", "1.9"], ["-1.1", "0.3"]],
    "K": [["0.9", "1.6"], ["-1.3", "0.2"], ["0.5", "-0.8"]],
    "V": [["3.1", "-2.4", "0.6"], ["-1.7", "2.2", "4.9"], ["0.8", "-3.3", "1.5"]],
    "W_O": [["1.4", "-0.6"], ["0.7", "2.3"], ["-1.9", "0.2"]],
}


def digits_of(rows: list[list[str]], decimals: int, *, cut: bool = False) -> list[list[str]]:
    """Return numbers with so many decimals, rounded or cut."""
    unit = Decimal(1).scaleb(-decimals)
    way = ROUND_DOWN if cut else ROUND_HALF_UP
    return [[str(Decimal(each).quantize(unit, way)) for each in row] for row in rows]


@needs_maxima
@pytest.mark.slow
@pytest.mark.parametrize("rounding", ["display", "each-step"])
@pytest.mark.parametrize(
    ("decimals", "cut", "slips"),
    [(1, False, False), (1, False, True), (1, True, False), (2, True, False), (2, True, True)],
)
def test_full_precision_and_cut_digits_are_right_also_after_a_slip(
    rounding: str, decimals: int, cut: bool, slips: bool, attncalc: Command, tmp_path: Path
) -> None:
    """The numbers are computed with twelve decimals, from the slip, and then rounded or cut."""
    problem = {**GIVEN, "rounding": rounding, "decimals": decimals}
    (tmp_path / "in.json").write_text(json.dumps(problem))
    question = stack_question(attncalc, "in.json", "--steps", "S,A,H,O")
    true = solve(Problem(**GIVEN, decimals=12))
    S = [list(map(str, row)) for row in true.shown("S")]
    if slips:
        S[1][0] = S[1][0].removeprefix("-") if S[1][0].startswith("-") else f"-{S[1][0]}"
        true = solve(Problem(S=S, V=GIVEN["V"], W_O=GIVEN["W_O"], scale=2**-0.5, decimals=12))
    answer = {"ansS": S} | {f"ans{name}": true.shown(name) for name in "AHO"}
    typed = {name: digits_of(rows, decimals, cut=cut) for name, rows in answer.items()}
    (scores,) = earned(question, typed)
    assert scores.pop("prtansS") == pytest.approx(1 - slips / 9)
    assert set(scores.values()) == {1.0}
    for name in "AO":
        rows = [list(row) for row in typed[f"ans{name}"]]
        rows[0][0] = str(Decimal(rows[0][0]) + 1)
        (scores,) = earned(question, typed | {f"ans{name}": rows})
        assert scores[f"prtans{name}"] < 1


def test_a_question_has_an_input_and_a_tree_for_each_matrix(attncalc: Command) -> None:
    question = stack_question(attncalc, str(sample("heads").path), "--points", "12")
    text = question.findtext("questiontext/text") or ""
    for name in inputs_of(question):
        assert re.fullmatch(r"[a-zA-Z]+[0-9a-zA-Z]*", name)
        assert len(f"prt{name}") <= 18
        assert text.count(f"[[input:{name}]]") == text.count(f"[[validation:{name}]]") == 1
        tree = name if name.startswith("ans") else name[:-1]  # of both lines of an output
        assert text.count(f"[[feedback:prt{tree}]]") == 1
    values = [float(tree.findtext("value") or 0) for tree in question.findall("prt")]
    assert sum(values) == pytest.approx(12, abs=1e-4)
    assert float(question.findtext("defaultgrade") or 0) == 12
    variables = question.findtext("questionvariables/text") or ""
    assert not re.search(r"\bansQ\w*:", variables)  # only the student writes an input


@needs_maxima
@pytest.mark.slow
@pytest.mark.parametrize("name", ["drawn", "heads", "tied", "flat"])
def test_lines_of_the_map_earn_what_check_gives(
    name: str, attncalc: Command, tmp_path: Path
) -> None:
    """Right options are computed in plain Python: by the key, or better by the typed weights."""
    problem = PROBLEMS[name]
    (tmp_path / "in.json").write_text(json.dumps(in_json(problem)))
    question = stack_question(attncalc, "in.json", "--steps", "A,connections")
    _, shown = numbers(problem)
    for typed, chosen in answers(problem, 4):
        full = [  # STACK takes no blanks
            [[t or s for t, s in zip(*rows, strict=True)] for rows in zip(*heads, strict=True)]
            for heads in zip(typed, shown, strict=True)
        ]
        several, given = len(full) > 1, {}
        for h, head in enumerate(full, 1):
            given[f"ansAh{h}" if several else "ansA"] = head
            for i, pair in enumerate(chosen[h - 1], 1):
                for option, which in zip(pair, "ms", strict=True):
                    number = option + 1 if option >= 0 else len(head[0]) + 1
                    given[f"map{h if several else ''}o{i}{which}"] = number
        (scores,) = earned(question, given)
        lines = [value for tree, value in scores.items() if tree.startswith("prtmap")]
        expect = expected(problem, full, chosen)
        assert sum(lines) / len(lines) == pytest.approx(expect, abs=1e-6)


def test_the_map_is_a_pair_of_drop_downs_for_each_output(attncalc: Command) -> None:
    question = stack_question(attncalc, str(sample("sentence").path), "--steps", "O,connections")
    text, fields = question.findtext("questiontext/text") or "", question.findall("input")
    keys = keys_of(question)
    options = [
        keys[str(each.findtext("name"))] for each in fields if each.findtext("type") == "dropdown"
    ]
    assert options
    assert all("true" in each for each in options)
    for name in inputs_of(question):
        assert text.count(f"[[input:{name}]]") == text.count(f"[[validation:{name}]]") == 1
    for tree in question.findall("prt"):
        assert text.count(f"[[feedback:{tree.findtext('name')}]]") == 1


def test_no_value_is_longer_than_a_column_of_stack_stores(
    attncalc: Command, tmp_path: Path
) -> None:
    """255 letters, by db/install.xml of the plugin; texts and variables are of any length."""
    names = [f"word-{n}" for n in range(20)]
    rows = [[n / 8, -n / 4] for n in range(20)]
    problem = {"Q": rows, "K": rows, "V": rows, "labels": {"X1": names, "X2": names}}
    (tmp_path / "in.json").write_text(json.dumps(problem))
    question = stack_question(attncalc, "in.json", "--steps", "O,connections")
    assert max(map(len, keys_of(question).values())) > 255
    short = ("name", "tans", "sans", "testoptions", "truescore", "falsescore", "falseanswernote")
    values = [each.text or "" for tag in short for each in question.iter(tag)]
    assert len(values) > 100
    assert max(map(len, values)) <= 255


def test_the_mean_of_a_row_is_no_mean_of_heads(attncalc: Command) -> None:
    """A layer that begins with a norm is exported, with the mean marked by the key."""
    question = stack_question(attncalc, str(sample("gpt").path), "--steps", "mu_1,N_1,mu_2,Q")
    trees = {str(tree.findtext("name")): tree for tree in question.findall("prt")}
    variables = trees["prtansmu2"].findtext("feedbackvariables/text") or ""
    assert "attn_own: attn_key;" in variables


def test_after_a_mistake_an_exact_row_of_the_key_is_marked_like_the_others(
    attncalc: Command, tmp_path: Path
) -> None:
    """The first weights of the key are 1.00 and 0.00; with another K they are not exact."""
    given = {"Q": [[9, 0], [0, 1]], "K": [[9, 0], [0, 1]], "V": [[-2, 1], [3, 4]]}
    (tmp_path / "in.json").write_text(json.dumps(given))
    question = stack_question(attncalc, "in.json", "--steps", "S,A,O")
    tree = next(each for each in question.findall("prt") if each.findtext("name") == "prtansO")
    variables = tree.findtext("feedbackvariables/text") or ""
    rooms = re.findall(r"matrix\(\[([\d.]+),([\d.]+)\],\[([\d.]+),([\d.]+)\]\)", variables)[-1]
    assert len(set(rooms)) == 1
    assert float(rooms[0]) > 0.01
