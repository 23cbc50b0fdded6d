"""The same 200 answers, marked by `check` and by every course system: the marks agree.

The answers are made in plain numpy: both rounding rules, 2, 3 and 4 decimals carried and shown, and
planted mistakes. Each system's marks come from what it is given: the gaps of Moodle by its rule of
tolerances, the script of Numbas' question in Node, the submission folder of Gradescope, the typed
fields of PrairieLearn, and the trees of STACK in Maxima.
"""

import json
import random
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import planting
import pytest
from test_export import accepts, flat, gaps_of
from test_numbas import NODE, NUMBAS, by_part
from test_stack import MAXIMA
from test_stack import earned as by_tree

from attncalc import Problem
from attncalc.exporting import handed_in, moodle, numbas, stack, typed_in
from attncalc.exporting.rules import Versions, course_of, write_course
from attncalc.exporting.typed_in import entries_of
from attncalc.grading.key import Key, key_of
from attncalc.grading.marking import mark
from attncalc.grading.rules import Rules, Status
from attncalc.reading.answers import answer_of
from attncalc.writing.problem_file import write_problem

TASKS, EACH = 10, 20
ALONE = (Status.CORRECT, Status.ROUNDING, Status.MATCHES_KEY)
"""What a system must accept without an answer's own values."""
COPYING = ("miscopied", "row", "column", "entries")
RULES = Rules(deductions={})
"""Entry by entry: which cause explains a step is for `check` alone to find."""


class Written(NamedTuple):
    """An answer, and how it was made."""

    how: str
    shown: dict[str, list[Any]]


def texts(script: dict[str, Any], decimals: int) -> dict[str, list[Any]]:
    def one(value: Any) -> Any:
        return [one(each) for each in value] if isinstance(value, list) else f"{value:.{decimals}f}"

    return {name: one(matrix.tolist()) for name, matrix in script.items()}


def answers_to(task: planting.Task, asked: list[str], rng: random.Random) -> Iterator[Written]:
    """Yield 8 right answers and 12 with a planted mistake."""
    most = task.decimals
    for rounding in ("display", "each-step"):
        for carried in (most, most + 1, most + 2):
            script = planting.written(
                replace(task, decimals=carried), (rounding, "half-away"), task.steps
            )
            assert script is not None
            own = {name: script[name] for name in asked}
            yield Written(f"{rounding}, {carried} carried", texts(own, carried))
            if rounding == "each-step" and carried > most:
                cut = {
                    name: planting.cut(_made(task, script, name), most, "half-away") for name in own
                }
                yield Written(f"{rounding}, {carried} carried, {most} shown", texts(cut, most))
    recipes = planting.recipes_of(task)
    while recipes:
        style = (rng.choice(["display", "each-step"]), "half-away")
        step, code, make = rng.choice(recipes)
        script = planting.written(task, style, task.steps, recipe=(step, make))
        if script is not None and step in asked:
            yield Written(f"{code} in {step}", texts({n: script[n] for n in asked}, most))
        step = rng.choice(asked)

        def slipped(digits: Any, env: Any) -> Any:
            made, place = digits.copy(), rng.randrange(digits.size)
            change = rng.choice([lambda x: -x if x else 1.0, lambda x: x + 1, lambda x: x / 10])
            made.flat[place] = round(change(float(made.flat[place])), most)
            return made

        script = planting.written(task, style, task.steps, slips={step: slipped})
        if script is not None:
            yield Written(f"a slip in {step}", texts({n: script[n] for n in asked}, most))


def _made(task: planting.Task, script: dict[str, Any], name: str) -> Any:
    """Return what a step gives from the numbers that are carried, before it is rounded."""
    return planting.right(name, {**task.given, **script}, task)


def task_of(seed: int, decimals: int = 2) -> planting.Task:
    """Return a random task of so many decimals without a mask that differs between heads."""
    rng = random.Random(seed)
    while True:
        task = planting.random_task(rng)
        if task.decimals == decimals and planting.written(task, planting.STYLES[0], task.steps):
            return task


def in_numbas(exam: str, answers: list[dict[str, Any]], runtime: str = NUMBAS) -> Any:
    """Return the marks by the question's script; by Numbas' runtime, if this is its folder."""
    program = Path(__file__).with_name("numbas.mjs" if runtime else "numbas_plain.mjs")
    done = subprocess.run(
        [str(NODE), str(program)],
        input=json.dumps({"text": exam, "answers": [by_part(each) for each in answers]}),
        cwd=runtime or None,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    return json.loads(done.stdout)


def in_gradescope(home: Path, shown: dict[str, Any]) -> float:
    (home / "submission" / "mine.json").write_text(json.dumps(shown))
    return float(json.loads(handed_in.results(home / "source", home / "submission"))["score"])


def in_prairielearn(folder: Path, key: Key, course: Any, shown: dict[str, Any]) -> float:
    typed = {}
    for each in entries_of(key, course):
        rows = shown[each.step][each.head - 1] if each.head else shown[each.step]
        typed[each.name] = rows[each.row][each.column]
    return float(typed_in.marked(str(folder), typed)["score"]) * float(course.possible)


def in_stack(xml: str, answers: list[dict[str, Any]]) -> list[float]:
    """Return the points of each answer by the trees of the question."""
    (question,) = ElementTree.fromstring(xml).findall("question")
    values = {
        str(tree.findtext("name")): float(tree.findtext("value") or 0)
        for tree in question.findall("prt")
    }
    typed = [by_input(each) for each in answers]
    return [
        sum(values[name] * share for name, share in scores.items())
        for scores in by_tree(question, *typed)
    ]


def by_input(shown: dict[str, Any]) -> dict[str, Any]:
    """Return matrices by the names of the inputs: each head of a step is one."""
    found = {}
    for name, matrix in shown.items():
        heads = enumerate(matrix, 1) if isinstance(matrix[0][0], list) else [(0, matrix)]
        found |= {stack.Place(name, head).variable: own for head, own in heads}
    return found


@pytest.mark.skipif(NODE is None, reason="there is no node")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "decimals"), [*((seed, 2) for seed in range(TASKS)), *((seed, 3) for seed in range(3))]
)
def test_all_systems_mark_alike(seed: int, decimals: int, tmp_path: Path) -> None:
    """List each difference from `check`: in points, and in Moodle the gaps."""
    task = task_of(seed, decimals)
    problem = Problem(**{n: v for n, v in task.fields.items() if v is not None})
    asked = [name for name in task.steps if name != "S_masked"]
    rules = replace(RULES, asked=tuple(asked))
    key = key_of(problem, rules)
    course = course_of(key, rules)
    made = answers_to(task, asked, random.Random(seed))
    answers = [each for each, _ in zip(made, range(EACH), strict=False)]
    assert len(answers) == EACH
    xml = str(moodle.exported([Versions([moodle.version(key, course)])])[0][""])
    exam = str(numbas.exported([Versions([(key, course)])])[0][""])
    source = tmp_path / "source"
    for folder in (source, tmp_path / "submission"):
        folder.mkdir()
    files = {handed_in.PROBLEM: "".join(write_problem(problem))}
    for name, text in {**files, handed_in.COURSE: write_course(course)}.items():
        (source / name).write_text(text)
    differences, nearly = [], []
    marked = in_numbas(exam, [each.shown for each in answers])
    of_numbas = [sum(scores.values()) for scores in marked["scores"]]
    questions = str(stack.exported([Versions([stack.version(key, course)])])[0][""])
    shown = [each.shown for each in answers]
    of_stack = in_stack(questions, shown) if MAXIMA else [None] * EACH
    one_entry = 1e-4 + 1 / min(prod(key.solution.shape_of(name)) for name in asked)
    for answer, points, by_trees in zip(answers, of_numbas, of_stack, strict=True):
        marking = mark(key, answer_of(answer.shown), course.rules)
        right = float(marking.score.earned)
        found = {
            "Numbas": points,
            "Gradescope": in_gradescope(tmp_path, answer.shown),
            "PrairieLearn": in_prairielearn(source, key, course, answer.shown),
        }
        if by_trees is not None and 1e-4 < by_trees - right < one_entry:
            # all entries of a step have the room of the one that may be off the most
            nearly.append(f"{answer.how}: STACK {by_trees:.3f}, check {right:.3f}")
        elif by_trees is not None:
            found["STACK"] = by_trees
        differences += [
            f"{answer.how}: {system} {value:.3f}, check {right:.3f}"
            for system, value in found.items()
            if abs(value - right) > 1e-4
        ]
        statuses = [
            marks.status(key.work.turned(place))
            for marks in marking.steps
            for place in _places(answer.shown[marks.step.name])
        ]
        typed = [text for marks in marking.steps for text in flat(answer.shown[marks.step.name])]
        for text, gap, status in zip(typed, gaps_of(xml), statuses, strict=True):
            # that follows from an earlier mistake: only a system with own values can see that
            earns = status in ALONE or (status is Status.FOLLOWS and accepts(gap, float(text)))
            # a mistake no larger than what check allows for rounding: Moodle's gaps are narrower
            is_small = status is Status.ROUNDING and " in " in answer.how
            if accepts(gap, float(text)) != earns and not is_small:
                differences.append(f"{answer.how}: {text}, {gap} in Moodle, check {status.value}")
    assert not differences, "\n".join(differences)
    assert len(nearly) <= 1, nearly


@pytest.mark.skipif(NODE is None, reason="there is no node")
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(TASKS))
def test_numbas_names_the_causes_that_check_names(seed: int) -> None:
    """Each conceptual mistake in one step: the sentence of `check`, or none, never another.

    Copying mistakes are not precomputed: there are too many.
    """
    task = task_of(seed)
    problem = Problem(**{n: v for n, v in task.fields.items() if v is not None})
    asked = [name for name in task.steps if name != "S_masked"]
    rules = replace(RULES, asked=tuple(asked))
    key = key_of(problem, rules)
    made = []
    for step, code, make in planting.recipes_of(task):
        script = planting.written(
            task, (problem.rounding, "half-away"), task.steps, recipe=(step, make)
        )
        if script is not None and step in asked and not code.startswith(COPYING):
            made.append(Written(f"{code} in {step}", texts({n: script[n] for n in asked}, 2)))
    exam = str(numbas.exported([Versions([(key, course_of(key, rules))])])[0][""])
    told = in_numbas(exam, [each.shown for each in made], runtime="")["said"]
    found, named, wrong = [], 0, []
    for answer, said in zip(made, told, strict=True):
        marking = mark(key, answer_of(answer.shown), rules)
        first = marking.first_wrong
        if first is None or first.place is None or first.marks.count(Status.WRONG) < 2:
            continue
        name = first.marks.step.name
        causes = [each for each in first.marks.causes if not each.code.startswith(COPYING)]
        says = [c.says if c.step == name else f"{c.says} (in {c.step})" for c in causes]
        each = f"{len(says)} mistakes explain all of {name} equally well: "
        opening = each if len(says) > 1 else f"Every entry of {name} matches this mistake: "
        why = opening + ", or ".join(filter(None, ["; ".join(says[:-1]), *says[-1:]]))
        ours = " ".join(text for part, text in said.items() if part.split(",")[0] == name)
        found.append(answer)
        named += bool(says) and why in ours
        if any(each in ours for each in ("matches this", "equally well")) and why not in ours:
            wrong.append(f"{answer.how}: {ours} | check: {why}")
    assert not wrong, "\n".join(wrong)
    assert named >= 0.9 * len(found), (named, len(found))


def _places(shown: list[Any], *before: int) -> Iterator[tuple[int, ...]]:
    for k, each in enumerate(shown):
        if isinstance(each, list):
            yield from _places(each, *before, k)
        else:
            yield (*before, k)
