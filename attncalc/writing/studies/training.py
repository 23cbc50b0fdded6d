"""Training, as a document and data: a row for each step, and the first two steps in full."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from attncalc.base.text import entry_name
from attncalc.equations.expressions import Expression, Indexed, Number, Operand, given, significant
from attncalc.problem.attention.declared import EACH_STEP
from attncalc.problem.problem import Problem
from attncalc.problem.stated import heading
from attncalc.studies.train import Training, Update
from attncalc.writing.document import Appendix, Bullets, Document, Facts, Part
from attncalc.writing.mathematics import in_text
from attncalc.writing.page import Contents, make_page
from attncalc.writing.page_data import write_json
from attncalc.writing.studies.common import in_json, shown
from attncalc.writing.studies.variation import curve_page, said_of
from attncalc.writing.studies.variation import document as curve_document

MOST_UPDATED = 200
"""Entries of an update, and of means, that are written out unasked."""
RULES = {
    "sgd": "W_new = W - rate g",
    "momentum": "v = β v + g, W_new = W - rate v",
    "adam": "m = β₁ m + (1 - β₁) g, v = β₂ v + (1 - β₂) g², "
    "W_new = W - rate (m / (1 - β₁^t)) / (√(v / (1 - β₂^t)) + ε)",
}


def document(
    training: Training, *, full: bool = False, work: bool = False, apart: bool = False
) -> Document:
    """Return the document: conventions, a table of all steps, and the work of the first two.

    The work of each step is a document `apart` if a form needs separate names for each.
    """
    table = curve_document(training.curve, full=full).parts[1:]
    facts = Facts((*_rule(training), *said_of(training.curve)))
    worked = tuple(_worked(training, full=full)) if work else ()
    flat = (part for each in worked for part in (Bullets((each.title,)), *each.parts))
    parts: tuple[Part, ...] = (facts, *table, *([Appendix(worked)] if apart and worked else flat))
    problem, notes = training.examples[0], tuple(_notes(training))
    return Document(heading(problem), parts, notes, language=problem.language)


def _rule(training: Training) -> Iterator[str]:
    rule = training.rule
    yield RULES["adam" if rule.name == "adamw" else rule.name]
    if rule.name == "momentum":
        yield f"β = {float(rule.momentum):g}, v = 0 at the start"
    if rule.name in ("adam", "adamw"):
        yield "β₁ = 0.9, β₂ = 0.999, ε = 1e-8, m = v = 0 at the start"
    if rule.weight_decay:
        by = "W is multiplied by 1 - rate λ" if rule.name == "adamw" else "λ W is added to g"
        yield f"weight decay λ = {float(rule.weight_decay):g}: {by}"
    if rule.clip is not None:
        limit = f"{float(rule.clip):g}"
        yield f"clipping: g is multiplied by {limit} / (norm + 1e-6) if norm + 1e-6 > {limit}"
    if rule.warmup:
        yield f"warm-up: rate t / {rule.warmup} in the first {rule.warmup} steps"
    if len(training.examples) > 1:
        yield f"L is the mean over {len(training.examples)} examples"
    yield f"trained: {', '.join(training.learned)}"


def _notes(training: Training) -> Iterator[str]:
    if training.examples[0].rounding == EACH_STEP:
        yield "each result is rounded before it is used, new matrices too (rounding each-step)"
    else:
        yield "all values are carried in float64 and rounded only where they are shown"
    yield "step 0 is before training; the norm is that of all gradients together, before clipping"
    if training.values[-1, 0] > training.values[0, 0]:
        yield "the loss is larger at the end than at the start: use a smaller rate"
    if training.targets:
        yield "perplexity is e to the mean cross-entropy of a target"
    if len(training.examples) > 1 and training.watched:
        yield (
            "L and the gradients of trained matrices are means over the batch; all else that is "
            "watched is of the first example"
        )


def _worked(training: Training, *, full: bool) -> Iterator[Document]:
    for number, solution in enumerate(training.solutions):
        example = " of the first example" if len(training.examples) > 1 else ""
        title = f"Step {number + 1}: forward, loss and backward{example}"
        contents = Contents(solution.plan, given=False, work=True, full=full)
        sections = make_page(solution, contents).sections
        norm, places = training.values[number, 1], training.decimals
        norm_of = f"norm of all gradients = √(sum of their squares) = {shown(norm, places)}"
        lines = _lines(norm_of, training.updates[number], places, full=full)
        if means := training.means[number]:
            said = "the mean over the examples, in their order"
            lines = [*_lines(said, means, places, full=full), *lines]
        yield Document(title, (*sections, Bullets((f"Step {number + 1}: the update", *lines))))


def _lines(said: str, updates: Sequence[Update], decimals: int, *, full: bool) -> list[str]:
    lines = [said, *(line for each in updates for line in _lines_of(each, decimals))]
    if not full and len(lines) > MOST_UPDATED:
        lines[MOST_UPDATED:] = [f"… {len(lines) - MOST_UPDATED} more (--full shows all)"]
    return lines


def _lines_of(update: Update, decimals: int) -> Iterator[str]:
    def write(value: Any, _: Fraction | None = None) -> Expression:
        if 0 < abs(value) < 10.0 ** (2 - decimals):  # by its first digits, for it is not 0
            return significant(Decimal(float(value)), decimals - 1)
        return Number(shown(float(value), decimals))

    def operand(name: str, matrix: Any) -> Operand:
        def entry(place: tuple[int, ...]) -> Indexed:
            return Indexed(name, tuple(index + 1 for index in place))

        return Operand(name, matrix, lambda place: write(matrix[place]), entry, write, given)

    operands = [operand(*each) for each in zip(update.inputs, update.matrices, strict=True)]
    for place in np.ndindex(update.value.shape):
        forms = update.operation.explain(place, *operands).forms
        texts = dict.fromkeys(map(in_text, (*forms, write(update.value[place]))))
        yield f"{entry_name(update.name, place)} = {' = '.join(texts)}"


def as_json(training: Training) -> str:
    """Return the training as JSON."""
    names = [each.name for each in training.watched]
    perplexities = training.perplexities
    steps = [
        {
            "step": step,
            "loss": float(loss),
            **({} if perplexities is None else {"perplexity": float(perplexities[step])}),
            "gradient_norm": float(norm),
            # a masked score is -∞, which JSON does not have
            "watched": {
                name: float(value) if np.isfinite(value) else None
                for name, value in zip(names, values, strict=True)
            },
        }
        for step, (loss, norm, *values) in enumerate(training.values)
    ]
    about = {"optimizer": training.rule.name, "rate": float(training.rule.rate)}
    of_what = {"examples": len(training.examples), "trained": list(training.learned)}
    return in_json({**about, **of_what, "steps": steps})


def page(training: Training, *, full: bool = False, work: bool = False) -> str:
    """Return the page of a training as HTML: its curve is played step by step."""
    shown = document(training, full=full, work=work, apart=True)
    return curve_page(training.curve, shown)


def trained_as_json(problem: Problem) -> str:
    """Return the problem with its new matrices, to be read back."""
    from attncalc.solving.solution import solve

    solution = solve(problem)
    return "".join(write_json(make_page(solution, Contents(solution.plan))))
