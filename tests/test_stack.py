"""Questions for STACK, whose variables plain Maxima evaluates, if it is there."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from conftest import Command

from attncalc import read_problem, solve
from attncalc.problem.samples import sample

MAXIMA = shutil.which("maxima")
needs_maxima = pytest.mark.skipif(MAXIMA is None, reason="there is no maxima")


def stack_question(attncalc: Command, problem: str, *flags: str) -> ElementTree.Element:
    done = attncalc("export", problem, "--to", "stack", *flags)
    assert done.code == 0, done.err
    (question,) = ElementTree.fromstring(done.out).findall("question")
    assert question.get("type") == "stack"
    return question


def earned(question: ElementTree.Element, answers: dict[str, Any]) -> dict[str, float]:
    """Return the score of each tree, evaluated as STACK does: after the question's variables."""
    lines = [question.findtext("questionvariables/text") or ""]
    for name, rows in answers.items():
        lines.append(f"{name}: matrix({','.join('[' + ','.join(row) + ']' for row in rows)});")
    names = []
    for tree in question.findall("prt"):
        names.append(str(tree.findtext("name")))
        lines += [tree.findtext("feedbackvariables/text") or "", "attn_earned;"]
        lines.append(f'print("{names[-1]}", float(attn_earned));')
    text = "display2d: false; linel: 1000;\n" + "\n".join(lines)
    done = subprocess.run(
        [str(MAXIMA), "--very-quiet"],
        input=text,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    found = dict(re.findall(r"(prt\w+) ([\d.]+)", done.stdout))
    assert list(found) == names, done.stdout[-2000:]
    return {name: float(value) for name, value in found.items()}


def inputs_of(question: ElementTree.Element) -> list[str]:
    return [str(each.findtext("name")) for each in question.findall("input")]


def shown_in(question: ElementTree.Element, problem: Path) -> dict[str, Any]:
    """Return the right answer, by the names of the inputs."""
    solution = solve(read_problem(problem))
    found = {}
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
    assert set(earned(question, answer).values()) == {1.0}


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
    scores = earned(question, carried)
    assert scores == {name: 1.0 if name != "prtansQ" else pytest.approx(5 / 6) for name in scores}
    wrong = earned(question, answer | {"ansO": [["9", "9"]] * 3})
    assert wrong == {name: float(name != "prtansO") for name in wrong}


def test_a_question_has_an_input_and_a_tree_for_each_matrix(attncalc: Command) -> None:
    question = stack_question(attncalc, str(sample("heads").path), "--points", "12")
    text = question.findtext("questiontext/text") or ""
    for name in inputs_of(question):
        assert re.fullmatch(r"[a-zA-Z]+[0-9a-zA-Z]*", name)
        assert len(f"prt{name}") <= 18
        assert text.count(f"[[input:{name}]]") == text.count(f"[[validation:{name}]]") == 1
        assert text.count(f"[[feedback:prt{name}]]") == 1
    values = [float(tree.findtext("value") or 0) for tree in question.findall("prt")]
    assert sum(values) == pytest.approx(12, abs=1e-4)
    assert float(question.findtext("defaultgrade") or 0) == 12
    variables = question.findtext("questionvariables/text") or ""
    assert not re.search(r"\bansQ\w*:", variables)  # only the student writes an input
