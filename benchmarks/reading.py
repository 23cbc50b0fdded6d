"""How well answers are read: documents in any mixture of forms, names and languages, counted.

They come from `tests/answer_writing.py`, which knows what it wrote. No number may be lost without
a word: a matrix is read as it was written, or it is listed as not read.

    python benchmarks/reading.py [documents] [seed] [--show COUNT]
"""

import random
import sys
import time
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from answer_writing import Texts, Written, written

from attncalc import read_problem, solve
from attncalc.base.errors import AttncalcError
from attncalc.grading.key import Key
from attncalc.grading.slack import ToTheDigit
from attncalc.problem.samples import sample
from attncalc.reading.answers import read_answer_bytes
from attncalc.reading.answers.answer import Answer
from attncalc.reading.answers.expected import Expected

PROBLEMS = ("self", "cross", "sentence")


def outcome(document: Written, expected: Expected) -> tuple[str, str]:
    """Return what became of a document: "whole", "noted" or "silent", and of which step."""
    try:
        answer = read_answer_bytes(document.text.encode(), "answer.txt", expected)
    except AttncalcError as error:
        return "noted", str(error)
    result, which = "whole", ""
    for step, rows in document.truth.items():
        became = _of_step(answer, step, rows)
        if became != "whole" and result != "silent":
            result, which = became, step
    extra = [name for name in answer.matrices if name not in document.truth]
    if result == "whole" and extra:
        return "silent", f"{extra} were never written"
    if result == "whole" and answer.has_unread_matrix:
        return "noted", "something that was read is listed as not read"
    return result, which


def _of_step(answer: Answer, step: str, rows: Texts) -> str:
    matrix = answer.matrices.get(step)
    if matrix is not None and matrix.values.ndim == 3 and len(matrix.values) == 1:
        matrix = matrix.arranged(lambda each: each[0])
    truth = np.array([[float(Fraction(cell)) for cell in row] for row in rows])
    if matrix is not None and matrix.values.shape == truth.shape:
        if np.allclose(matrix.values, truth, rtol=0, atol=1e-9):
            return "whole"
        faulty = np.isnan(matrix.values)
        same = np.isclose(matrix.values, truth, rtol=0, atol=1e-9)
        if (same | faulty).all() and len(matrix.faults) == faulty.sum():
            return "noted"
    return "noted" if matrix is None and answer.has_unread_matrix else "silent"


def steps_of(name: str, rng: random.Random) -> tuple[dict[str, Texts], dict[str, Texts], Expected]:
    """Return the steps of a sample as texts, right or with a mistake, and what is expected."""
    problem = read_problem(sample(name).path)
    solution = solve(problem)
    key = Key(problem, ToTheDigit(problem.decimals))
    steps = {step.name: solution.shown(step.name) for step in solution.plan}
    some = [step for step in steps if rng.random() < 0.85] or list(steps)
    plain = rng.random() < 0.5
    chosen = {
        step: [[_plain(c) if plain else c for c in row] for row in steps[step]] for step in some
    }
    if rng.random() < 0.4:
        rows = chosen[rng.choice(some)]
        i, j = rng.randrange(len(rows)), rng.randrange(len(rows[0]))
        rows[i][j] = str(-Fraction(rows[i][j])) if Fraction(rows[i][j]).denominator == 1 else "7.25"
    given = {
        each: [[_plain(f"{v:g}") for v in row] for row in np.atleast_2d(getattr(problem, each))]
        for each in problem.names
    }
    return chosen, given, key.expected


def _plain(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def main() -> None:
    """Write and read the documents, and print the table."""
    numbers = [int(each) for each in sys.argv[1:] if each.isdigit()]
    documents, seed = (*numbers, *(5000, 1)[len(numbers) :])[:2]
    show = int(sys.argv[sys.argv.index("--show") + 1]) if "--show" in sys.argv else 0
    rng = random.Random(seed)
    table: dict[str, Counter[str]] = {}
    total: Counter[str] = Counter()
    spent = 0.0
    ready = {name: steps_of(name, random.Random(0))[2] for name in PROBLEMS}
    for _ in range(documents):
        name = rng.choice(PROBLEMS)
        steps, given, _unused = _steps(name, rng)
        document = written(steps, given, rng)
        start = time.process_time()
        became, which = outcome(document, ready[name])
        spent += time.process_time() - start
        total[became] += 1
        for form in set(document.forms):
            table.setdefault(form, Counter())[became] += 1
        if became != "whole" and show:
            show -= 1
            print(f"----- {became}: {which} {document.forms}\n{document.text}\n")
    print(f"{'form':<12} {'documents':>9} {'whole':>7} {'noted':>7} {'silent':>7}")
    for form, counts in [*sorted(table.items()), ("all", total)]:
        n = counts.total()
        shares = [f"{counts[each] / n:>7.2%}" for each in ("whole", "noted", "silent")]
        print(f"{form:<12} {n:>9} {' '.join(shares)}")
    print(f"{spent / documents * 1000:.1f} ms a document")


_CACHE: dict[str, tuple[dict[str, Texts], dict[str, Texts]]] = {}


def _steps(name: str, rng: random.Random) -> tuple[dict[str, Texts], dict[str, Texts], None]:
    """Return steps as `steps_of` does, with the problem solved once."""
    if name not in _CACHE:
        problem = read_problem(sample(name).path)
        solution = solve(problem)
        given = {
            each: [[_plain(f"{v:g}") for v in row] for row in np.atleast_2d(getattr(problem, each))]
            for each in problem.names
        }
        _CACHE[name] = {step.name: solution.shown(step.name) for step in solution.plan}, given
    steps, given = _CACHE[name]
    some = [step for step in steps if rng.random() < 0.85] or list(steps)
    plain = rng.random() < 0.5
    chosen = {
        step: [[_plain(c) if plain else c for c in row] for row in steps[step]] for step in some
    }
    if rng.random() < 0.4:
        rows = chosen[rng.choice(some)]
        i, j = rng.randrange(len(rows)), rng.randrange(len(rows[0]))
        rows[i][j] = "7.25"
    return chosen, given, None


if __name__ == "__main__":
    main()
