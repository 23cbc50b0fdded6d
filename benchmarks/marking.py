"""How well answers are marked: mistakes are planted in thousands of random scripts, and counted.

Scripts come from `tests/planting.py`, plain numpy without a line of attncalc. No wrong cause may be
named, and no correct script be marked down, however it rounds. What the rounding of the digits
before it accounts for is no mistake, and counted apart.

    python benchmarks/marking.py [problems] [seed]
"""

import json
import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import plans
import plans_layers
import planting

from attncalc import Problem
from attncalc.base.errors import AttncalcError
from attncalc.grading.key import Key
from attncalc.grading.marking import mark
from attncalc.grading.marks import Marking
from attncalc.grading.rules import Rules
from attncalc.grading.slack import ToTheDigit
from attncalc.reading.answers import read_answer_bytes

Script = dict[str, np.ndarray]
WAYS_EACH = 6
"""Ways to round on the way that are tried of each student."""
PLANS_EVERY = 5
"""Problems after which all plans are followed once more, in other matrices."""
SEEN = 3
"""Entries that a plan must change for its mistake to differ from slips."""
NEAR = 0.025
"""How far weights may be from the truth, of a script that is called right but for rounding."""


class Student(NamedTuple):
    """Who rounds in a way of their own, and shows some of the steps."""

    task: planting.Task
    key: Key
    style: tuple[str, str]
    shown: list[str]
    flawless: Script

    def writes(self, **mistakes: object) -> Script | None:
        """Return the script with these mistakes; None if it is impossible to write."""
        script = planting.written(self.task, self.style, self.shown, **mistakes)  # type: ignore[arg-type]
        if script is None or any(np.isnan(matrix).any() for matrix in script.values()):
            return None
        return script

    def can_explain(self, step: str, matrix: np.ndarray) -> bool:
        """Say whether rounding alone accounts for what is written in a step."""
        explains = planting.rounding_explains
        return explains(self.task, self.style, self.shown, step, matrix)


@dataclass
class Table:
    """What became of the scripts of each kind."""

    rng: random.Random
    counts: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, kind: str, outcome: str) -> None:
        """Count one script."""
        self.counts.setdefault(kind, Counter())[outcome] += 1

    def share(self, kind: str, *outcomes: str) -> float:
        """Return how many of a kind had one of these outcomes, from 0 to 1."""
        counts = self.counts[kind]
        return sum(counts[outcome] for outcome in outcomes) / counts.total()

    def fill(self, problems: int) -> "Table":
        """Mark the scripts of all kinds of students, for this many random problems."""
        for number in range(problems):
            if number % PLANS_EVERY == PLANS_EVERY - 1:
                self._follow_plans()
                self._follow_layers()
            task = planting.random_task(self.rng)
            try:
                key = Key(Problem(**task.fields), ToTheDigit(task.decimals))
                _ = key.shown
            except AttncalcError:  # no number of a row can be divided by their sum, 0
                continue
            for style in planting.STYLES:
                shown = self._some(task.steps)
                flawless = planting.written(task, style, shown)
                if flawless is not None:
                    self._mark_all(Student(task, key, style, shown, flawless))
        return self

    def _follow_plans(self) -> None:
        """Mark each plan in matrices of its own, and say whether its mistake is named there."""
        for plan in plans.plans(plans.random_given(self.rng)):
            try:
                key = Key(Problem(**plan.fields), ToTheDigit(2))
                right = key.shown[plan.step]
            except AttncalcError:
                continue
            wrong = planting.cut(plan.wrong, 2, "half-away")
            if right.shape == wrong.shape and (right != wrong).sum() < SEEN:
                self.add("plan", "changes too few digits")
                continue
            content = planting.as_answer({plan.step: wrong}, 2, self.rng)
            answer = read_answer_bytes(json.dumps(content).encode(), "answer.json")
            (marks,) = mark(key, answer, Rules(asked=(plan.step,))).steps
            codes = [cause.code for cause in marks.causes]
            self.add("plan: cause", named(codes, plan.code))
            if len(codes) == 1:
                self.add("causes named", "right" if codes == [plan.code] else "wrong")

    def _follow_layers(self) -> None:
        """Mark flawless layers, and each mistake in one, below the steps before it."""
        self._flawless_layers()
        for plan in plans_layers.layer_plans(self.rng):
            key = Key(Problem(**plan.fields), ToTheDigit(2))
            names = list(key.steps)
            before = names[: names.index(plan.step)]
            try:
                right = key.shown[plan.step]
            except AttncalcError:
                continue
            wrong = planting.cut(plan.wrong, 2, "half-away")
            if right.shape == wrong.shape and (right != wrong).sum() < min(SEEN, wrong.size):
                self.add("layers: mistake", "changes too few digits")
                continue
            shown = {name: key.shown[name] for name in before} | {plan.step: wrong}
            *_, marks = self._marked_layer(key, shown).steps
            codes = [cause.code for cause in marks.causes]
            self.add("layers: cause", named(codes, plan.code))
            if len(codes) == 1:
                self.add("layers: causes named", "right" if codes == [plan.code] else "wrong")

    def _flawless_layers(self) -> None:
        given = plans_layers.random_layer(self.rng)
        problem = Problem(**given, eps=plans_layers.EPS)
        key = Key(problem, ToTheDigit(2))
        for carried, rule in planting.STYLES:
            cut = partial(planting.cut, decimals=2, rule=rule)
            if carried == "each-step":
                script = plans_layers.layer(given, cut)
            else:
                script = {name: cut(each) for name, each in plans_layers.layer(given).items()}
            right = self._marked_layer(key, script).is_right
            self.add(f"layers, correct, {carried}, {rule}", "right" if right else "marked down")

    def _marked_layer(self, key: Key, script: Script) -> Marking:
        content = planting.as_answer(script, 2, self.rng)
        with key.names_at_hand():
            answer = read_answer_bytes(json.dumps(content).encode(), "answer.json")
        return mark(key, answer, Rules(asked=tuple(script)))

    def _some(self, steps: list[str]) -> list[str]:
        """Return all steps, or for three scripts in ten only some of them."""
        if self.rng.random() < 0.7:
            return steps
        some = self.rng.sample(steps, self.rng.randint(1, len(steps)))
        return sorted(some, key=steps.index)

    def _mark_all(self, student: Student) -> None:
        marking = self._marked(student, student.flawless)
        right = all(marks.is_right for marks in marking.steps)
        self.add(f"correct, {', '.join(student.style)}", "right" if right else "marked down")
        self._round_on_the_way(student)
        self._plant_recipe(student)
        self._plant_slip(student)

    def _round_on_the_way(self, student: Student) -> None:
        """Mark the scripts of students who round within a step, where their weights stay near."""
        ways = planting.ways_of(student.task)
        for kind in self.rng.sample(sorted(ways), WAYS_EACH):
            with np.errstate(all="ignore"):
                script = student.writes(**ways[kind])
                near = planting.written(student.task, student.style, ["A"], **ways[kind])
                right = planting.written(student.task, student.style, ["A"])
            if script is None or near is None or right is None:
                continue
            if not np.abs(near["A"] - right["A"]).max() <= NEAR:
                continue
            marking = self._marked(student, script)
            if marking.is_right:
                outcome = "right"
            elif marking.first_wrong is None:
                outcome = "not in full"
            else:
                outcome = "accused"
            self.add(f"rounded on the way: {kind}", outcome)
            self.add("rounded on the way, all", outcome)

    def _marked(self, student: Student, script: Script) -> Marking:
        content = planting.as_answer(script, student.task.decimals, self.rng)
        answer = read_answer_bytes(json.dumps(content).encode(), "answer.json")
        return mark(student.key, answer, Rules(asked=tuple(student.shown)))

    def _slip(self, student: Student, step: str) -> tuple[str, object]:
        kind = self.rng.choice(planting.SLIPS)
        return kind, planting.slipping(kind, step, student.task, student.style, self.rng)

    def _after(self, student: Student, step: str) -> str | None:
        """Return a later step in which a second mistake can be."""
        steps = student.task.steps
        later = [name for name in student.shown if steps.index(name) > steps.index(step)]
        return self.rng.choice(later) if later else None

    def _plant_recipe(self, student: Student) -> None:
        step, code, make = self.rng.choice(planting.recipes_of(student.task))
        script = student.writes(recipe=(step, make))
        if script is None or (planting.is_of_copying(code) and step not in student.shown):
            return
        first = first_difference(script, student.flawless)
        if planting.is_of_copying(code) and first and _few_differ(script, student.flawless, first):
            self.add("wrong recipe", "changes one entry alone")
            return
        self._judge("wrong recipe", student, script, code, first)
        later = self._after(student, step)
        if later is None or first in ("", later):
            return
        _, slip = self._slip(student, later)
        both = student.writes(recipe=(step, make), slips={later: slip})
        if both is not None:
            self._judge("wrong recipe, and a slip later", student, both, code, first)

    def _plant_slip(self, student: Student) -> None:
        step = self.rng.choice(student.shown)
        kind, slip = self._slip(student, step)
        script = student.writes(slips={step: slip})
        if script is None:
            return
        self._judge("slip", student, script, kind, step)
        later = self._after(student, step)
        if later is None:
            return
        _, second = self._slip(student, later)
        both = student.writes(slips={step: slip, later: second})
        if both is not None and first_difference(both, student.flawless) == step:
            self._judge("slip, and another later", student, both, kind, step)

    def _judge(
        self, kind: str, student: Student, script: Script, planted: str, seen_in: str
    ) -> None:
        """Compare the marking of an answer with the mistakes planted in it.

        `seen_in` is the first step in which the planted mistake changes a digit.
        """
        first = first_difference(script, student.flawless)
        if not first:
            self.add(kind, "changes no digit")
            return
        marking = self._marked(student, script)
        wrong = marking.first_wrong
        said = {marks.step.name: [cause.code for cause in marks.causes] for marks in marking.steps}
        found = wrong.marks.step.name if wrong else "none"
        listed = said.get(seen_in, [])
        if found != first and planted not in listed and student.can_explain(first, script[first]):
            self.add(kind, "rounding explains it")
            return
        self.add(f"{kind}: first wrong step", "right" if found == first else "another, or none")
        self.add(f"{kind}: cause", named(listed, planted))
        for codes in said.values():
            if len(codes) == 1:
                self.add("causes named", "right" if codes == [planted] else "wrong")


def _few_differ(script: Script, flawless: Script, step: str) -> bool:
    """Say whether one entry alone is another one: slips of many kinds can do that."""
    same_shape = script[step].shape == flawless[step].shape
    return same_shape and int((script[step] != flawless[step]).sum()) < 2


def named(codes: list[str], planted: str) -> str:
    """Say whether a cause is named, is one of several that are listed, or is missed."""
    return "named" if codes == [planted] else "listed" if planted in codes else "missed"


def first_difference(script: Script, flawless: Script) -> str:
    """Return the first step in which a digit differs."""
    for step, matrix in script.items():
        if matrix.shape != flawless[step].shape or not (matrix == flawless[step]).all():
            return step
    return ""


def speed() -> None:
    """Mark 1,000 and 2,000 answers to one problem, flawless ones and ones with a mistake."""
    table = Table(random.Random(7))
    task = planting.random_task(table.rng)
    key = Key(Problem(**task.fields), ToTheDigit(task.decimals))
    flawless = planting.written(task, planting.STYLES[0], task.steps)
    assert flawless is not None
    student = Student(task, key, planting.STYLES[0], task.steps, flawless)
    step, _, make = planting.recipes_of(task)[0]
    scripts = {"flawless": flawless, "with a mistake": student.writes(recipe=(step, make))}
    for kind, script in scripts.items():
        content = planting.as_answer(script or {}, task.decimals, table.rng)
        data = json.dumps(content).encode()
        for count in (1000, 2000):
            start = time.process_time()
            for _ in range(count):
                mark(key, read_answer_bytes(data, "answer.json"), Rules())
            print(f"{count} answers {kind}: {time.process_time() - start:.2f} s of one core")


def main() -> None:
    """Print the table, and what a thousand answers cost."""
    problems, seed = (int(text) for text in [*sys.argv[1:], "1000", "1"][:2])
    table = Table(random.Random(seed)).fill(problems)
    for kind, counts in sorted(table.counts.items()):
        shares = (
            f"{outcome} {count} ({100 * count / counts.total():.2f} %)"
            for outcome, count in counts.most_common()
        )
        print(f"{kind:50} {counts.total():6}: {', '.join(shares)}")
    speed()


if __name__ == "__main__":
    main()
