"""`attncalc why`: the parts of an entry, or of a logit."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from attncalc.base.arrays import Owned
from attncalc.base.errors import InputError
from attncalc.base.typed import quoted
from attncalc.cli.commands.problem import problem_from
from attncalc.cli.commands.screens import tables_of
from attncalc.cli.commands.studies import wanted_from
from attncalc.cli.progress import reporting
from attncalc.cli.targets import check_targets, deliver, output
from attncalc.problem.problem import Problem
from attncalc.reading.files import is_folder
from attncalc.reading.models.opening import Model
from attncalc.reading.models.tokens import read_ids
from attncalc.solving.choosing import by_name, chosen_entries
from attncalc.solving.solution import Solution, solve
from attncalc.solving.why import Part, Why, attributed
from attncalc.solving.why import why as parts_of_entry
from attncalc.writing.reports.why import why_as_json, why_document

FORMS = ("table", "markdown", "html", "json")
_LOGIT = re.compile(r"\s*+logits\[\s*+(\d++)\s*+,\s*+(\d++)\s*+\]\s*+")
HOW = "contributions of the embedding, heads and feed-forward parts; normalization scales fixed"


def why(flags: Mapping[str, Any]) -> None:
    """Write the parts of an entry to where they are asked for."""
    wanted = wanted_from({**flags, "dark": False, "size": None})
    if wanted.form not in FORMS:
        raise InputError(f"why is written as {', '.join(FORMS[:-1])} or {FORMS[-1]}")
    if is_folder(Path(flags["file"])) and (Path(flags["file"]) / "config.json").is_file():
        whys, title, decimals = _of_model(flags)
    else:
        if flags["tokens"] is not None:
            raise InputError("--tokens is for the folder of a model, with a config.json")
        problem = problem_from(flags, fallback="self")
        if problem.is_long:
            raise InputError(f"why is for short problems, not for {problem.most_scores:,} scores")
        with reporting() as report:
            solution = solve(problem, report=report)
        whys, title, decimals = (
            _of_problem(solution, flags["entry"]),
            problem.title,
            problem.decimals,
        )
    check_targets(wanted.target)  # again, since inputs are known now
    title = title or "Why"
    if wanted.form == "json":
        text = why_as_json(whys, decimals)
    else:
        document = why_document(whys, title, decimals, full=flags["full"])
        text = _written(document, wanted)
    deliver(output(wanted.target, text))


def _written(document: Any, wanted: Any) -> str:
    if wanted.form == "markdown":
        from attncalc.writing.markdown import write_markdown

        return write_markdown(document)
    if wanted.form == "html":
        from attncalc.writing.html.page import write_html

        return write_html(document)
    return tables_of(document, wanted.target)


def _of_problem(solution: Solution, entry: str) -> list[Why]:
    """Return the parts of each entry that is asked for, or of a logit by components."""
    if logits := _logits(entry):
        if any(step.name == "logits" for step in solution.plan):
            weight = np.zeros(solution.carried["logits"].shape)
            _put(weight, logits, 1, "the logits have")
            parts, tokens = attributed(solution, {"logits": weight})
            X = np.asarray(solution.problem.given["X"], dtype=float)
            parts = (Part("X", float((tokens * X).sum())), *parts)
            return [Why(entry, HOW, sum(each.value for each in parts), parts)]
        if len(logits) > 1:
            raise InputError(f"{quoted(entry)}: this problem has no logits")
    steps = by_name(solution.plan)
    found = chosen_entries(solution, [entry], steps)
    known = {step.name: step for step in solution.plan}
    return [
        parts_of_entry(solution, known[name], place)
        for name, places in found.items()
        for place in places
    ]


def _logits(entry: str) -> list[tuple[int, int, int]]:
    """Return the places of logits in a difference, each with its sign; [] for other entries."""
    one, _, other = entry.partition("-")
    found = []
    for text, sign in ((one, 1), (other, -1)):
        match = _LOGIT.fullmatch(text)
        if match:
            found.append((int(match[1]), int(match[2]), sign))
        elif text.strip() or sign == 1:
            return []
    return found


def _put(weight: Any, logits: list[tuple[int, int, int]], first: int, has: str) -> None:
    rows, columns = weight.shape
    for row, column, sign in logits:
        if not (1 <= row <= rows and first <= column < columns + first):
            raise InputError(
                f"logits[{row},{column}]: {has} rows 1 to {rows}, and columns {first} to "
                f"{columns + first - 1}"
            )
        weight[row - 1, column - first] += sign


def _of_model(flags: Mapping[str, Any]) -> tuple[list[Why], str, int]:
    """Return the contributions to a logit of a model, of all its layers."""
    if flags["tokens"] is None:
        raise InputError('a model needs its tokens: --tokens "3, 7"')
    logits = _logits(flags["entry"])
    if not logits:
        raise InputError(
            f"{quoted(flags['entry'])}: of a model, ask for a logit: logits[2,40], or a "
            "difference: logits[2,40] - logits[2,7] (rows from 1; columns are ids of tokens)"
        )
    model = Model(Path(flags["file"]))
    if model.takes != "tokens" or model.decoder is not None:
        raise InputError("why reads models of one stack of layers over tokens, such as GPT-2")
    if model.layer(0).get("norm") not in ("pre", "around", "output"):
        raise InputError(
            f"{model.family.title} normalizes after each part, so no part adds to the logits "
            "directly: open a layer with attncalc open, and ask why of it"
        )
    solutions = list(_layers(model, read_ids(flags["tokens"], "--tokens")))
    last = solutions[-1]
    if all(step.name != "logits" for step in last.plan):
        raise InputError("this model has no logits: its folder holds no head")
    weight = np.zeros(last.carried["logits"].shape)
    _put(weight, logits, 0, "with these tokens the logits have")
    parts: list[Part] = []
    start = {"logits": weight}
    for number in range(len(solutions) - 1, -1, -1):
        found, tokens = attributed(solutions[number], start, f"layer {number}, ")
        parts[:0] = found
        start = {solutions[number - 1].plan[-1].name if number else "": tokens}
    X = np.asarray(solutions[0].problem.given["X"], dtype=float)
    positions = solutions[0].problem.given.get("P")
    parts.insert(0, Part("embedding", float((start[""] * X).sum())))
    if positions is not None:
        added = np.asarray(positions, dtype=float)[: len(X)]
        parts.insert(1, Part("positions", float((start[""] * added).sum())))
    whole = sum(each.value for each in parts)
    return [Why(flags["entry"].strip(), HOW, whole, tuple(parts))], model.family.title, 4


def _layers(model: Model, ids: list[int]) -> Iterator[Solution]:
    """Yield the solution of each layer, the last with the head at every token."""
    tokens = model.begin(ids, "--tokens")
    for number in range(model.count):
        fields = model.layer(number)
        if number == model.count - 1:
            fields |= {**model.end(fields["weights_layout"]), "read": "all"}
        solution = solve(Problem(**(fields | tokens)))
        yield solution
        tokens = {"X": Owned(np.asarray(solution["Y"]))}
