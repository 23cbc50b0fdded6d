"""How well answers are marked: mistakes are planted in thousands of random scripts, and counted.

Scripts come from `tests/planting.py`, plain numpy without a line of attncalc. Prints a table for
the note of a release: no wrong cause may be named, and no correct script marked down.

    python benchmarks/marking.py [problems] [seed]
"""

import json
import random
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import planting
from attncalc import Problem
from attncalc.errors import AttncalcError
from attncalc.grading.key import Key
from attncalc.grading.marking import Marking, mark
from attncalc.grading.rules import Rules, Status
from attncalc.grading.slack import ToTheDigit
from attncalc.reading.answers import read_answer_bytes

Script = dict[str, Any]


class Table:
    """What happened to the scripts of each kind."""

    def __init__(self) -> None:
        self.counts: dict[str, Counter[str]] = {}
        self.examples: dict[str, list[str]] = {}

    def add(self, kind: str, outcome: str, example: str = "") -> None:
        self.counts.setdefault(kind, Counter())[outcome] += 1
        kept = self.examples.setdefault(f"{kind}: {outcome}", [])
        if example and len(kept) < 3:
            kept.append(example)


def marked(key: Key, script: Script, task: planting.Task, rng: random.Random) -> Marking:
    answer = json.dumps(planting.as_answer(script, task.decimals, rng))
    return mark(key, read_answer_bytes(answer.encode(), "answer.json"), Rules())


def first_difference(script: Script, flawless: Script) -> str:
    """Return the first step in which a digit differs."""
    for step, matrix in script.items():
        if matrix.shape != flawless[step].shape or not (matrix == flawless[step]).all():
            return step
    return ""


def codes_of(marking: Marking, step: str) -> list[str]:
    for marks in marking.steps:
        if marks.step.name == step:
            return [cause.code for cause in marks.causes]
    return []


def describe(task: planting.Task, script: Script, planted: str, marking: Marking) -> str:
    said = {marks.step.name: [c.code for c in marks.causes] for marks in marking.steps}
    content = {name: matrix.tolist() for name, matrix in script.items()}
    return f"{planted} {json.dumps(task.fields)} {content} {said}"


def one_problem(rng: random.Random, table: Table) -> None:
    task = planting.random_task(rng)
    try:
        key = Key(Problem(**task.fields), ToTheDigit(task.decimals))
        _ = key.shown
    except AttncalcError:
        return
    for style in planting.STYLES:
        shown = (
            task.steps
            if rng.random() < 0.7
            else sorted(
                rng.sample(task.steps, rng.randint(1, len(task.steps))), key=task.steps.index
            )
        )
        flawless = planting.written(task, style, shown)
        assert flawless is not None
        marking = marked(key, flawless, task, rng)
        right = all(marks.is_right for marks in marking.steps)
        of_style = f"correct, {style[0]}, {style[1]}"
        table.add(
            of_style,
            "right" if right else "marked down",
            "" if right else describe(task, flawless, str(style), marking),
        )
        plant_recipe(rng, table, task, key, style, shown, flawless)
        plant_slip(rng, table, task, key, style, shown, flawless)


def plant_recipe(rng, table, task, key, style, shown, flawless) -> None:  # type: ignore[no-untyped-def]
    step, code, make = rng.choice(planting.recipes_of(task))
    script = planting.written(task, style, shown, recipe=(step, make))
    if script is None or any(not _finite(m, name) for name, m in script.items()):
        return
    judge(rng, table, task, key, script, flawless, "recipe", code)
    later = [name for name in shown if task.steps.index(name) > task.steps.index(step)]
    if later:
        name = rng.choice(later)
        slip = planting.slipping(rng.choice(planting.SLIPS), name, task, style, rng)
        both = planting.written(task, style, shown, recipe=(step, make), slips={name: slip})
        if both is not None:
            clean = first_difference(script, flawless)
            if clean and clean != name:
                judge(rng, table, task, key, both, flawless, "recipe and a later slip", code, clean)


def _finite(matrix: Any, name: str) -> bool:
    import numpy as np

    return bool(not np.isnan(matrix).any() and (name == "S_masked" or np.isfinite(matrix).all()))


def plant_slip(rng, table, task, key, style, shown, flawless) -> None:  # type: ignore[no-untyped-def]
    name, kind = rng.choice(shown), rng.choice(planting.SLIPS)
    slip = planting.slipping(kind, name, task, style, rng)
    script = planting.written(task, style, shown, slips={name: slip})
    if script is None:
        return
    judge(rng, table, task, key, script, flawless, "slip", kind)
    later = [each for each in shown if task.steps.index(each) > task.steps.index(name)]
    if later:
        other = rng.choice(later)
        again = planting.slipping(rng.choice(planting.SLIPS), other, task, style, rng)
        both = planting.written(task, style, shown, slips={name: slip, other: again})
        if both is not None and first_difference(both, flawless) == name:
            judge(rng, table, task, key, both, flawless, "slip and a later one", kind)


def judge(rng, table, task, key, script, flawless, kind, planted, seen="") -> None:  # type: ignore[no-untyped-def]
    """Compare what is said of a script with what was planted in it."""
    step = first_difference(script, flawless)
    if not step:
        table.add(kind, "changes no digit")
        return
    marking = marked(key, script, task, rng)
    wrong = marking.first_wrong
    example = describe(task, script, planted, marking)
    if wrong is None:
        table.add(f"{kind}, first step", "within rounding", example)
        table.add(f"{kind}, cause", "within rounding")
        return
    found = wrong.marks.step.name
    table.add(f"{kind}, first step", "right" if found == step else "another", example)
    for marks in marking.steps:
        if marks.cause and not (marks.cause.code == planted and kind != "slip"):
            if not _is_followed_by(marks.cause.code, planted):
                table.add(
                    "any", "wrong cause named", f"{marks.step.name} {marks.cause.code} {example}"
                )
    codes = codes_of(marking, seen or step)
    if planted in codes:
        table.add(f"{kind}, cause", "named" if len(codes) == 1 else "among those listed")
    else:
        table.add(f"{kind}, cause", "missed" if found == step else "within rounding", example)


def _is_followed_by(code: str, planted: str) -> bool:
    return code == planted


def speed() -> None:
    """Mark 1,000 and 2,000 answers to one problem."""
    rng = random.Random(7)
    task = planting.random_task(rng)
    script = planting.written(task, ("each-step", "half-away"), task.steps)
    data = json.dumps(planting.as_answer(script or {}, task.decimals, rng)).encode()
    problem = Problem(**task.fields)
    for count in (1000, 2000):
        start = time.process_time()
        key = Key(problem, ToTheDigit(task.decimals))
        for _ in range(count):
            mark(key, read_answer_bytes(data, "answer.json"), Rules())
        print(f"{count} answers: {time.process_time() - start:.2f} s of one core")


def main() -> None:
    problems = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    rng = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    table = Table()
    for _ in range(problems):
        one_problem(rng, table)
    for kind, counts in sorted(table.counts.items()):
        total = sum(counts.values())
        said = ", ".join(
            f"{name} {count} ({100 * count / total:.2f} %)" for name, count in counts.items()
        )
        print(f"{kind:45} {total:6}: {said}")
    if "-v" in sys.argv:
        for kind, examples in table.examples.items():
            if any(word in kind for word in ("down", "missed", "wrong cause", "another", "within")):
                print(kind, *examples, sep="\n   ")
    speed()
    _ = Status


if __name__ == "__main__":
    main()
