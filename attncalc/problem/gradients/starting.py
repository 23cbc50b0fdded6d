"""The start of backpropagation: the loss L, and its gradient in the outputs."""

from collections.abc import Mapping
from typing import NamedTuple

from attncalc.base.errors import InputError, ShapeError
from attncalc.equations.operation import Operation, Shape, Stated, Statement
from attncalc.equations.operations.assembling import Same
from attncalc.equations.operations.losses import CrossEntropy, less_one_hot, ones, summed
from attncalc.problem.calculation import Calculation
from attncalc.problem.fields import ALONE
from attncalc.problem.gradients.naming import gradient_name
from attncalc.problem.scope import Scope
from attncalc.problem.step import Step

LOSS = "L"
LOSS_TITLE = "what is made small"


class Start(NamedTuple):
    """The loss, and the upstream gradient.

    of: the matrix whose gradient is known first.
    steps: the steps that make the gradient, and L where it is shown.
    says: the definition of L, as text.
    """

    of: str
    gradient: str
    loss: Step
    steps: tuple[Step, ...]
    says: tuple[str, ...]


def started(problem: Scope, calculation: Calculation, shapes: Mapping[str, Shape]) -> Start:
    """Return the loss, and the upstream gradient."""
    given = problem.those_given("dO", "dY", "dlogits", "target", "target_ids")
    if len(given) > 1:
        both = " and ".join(given)
        raise InputError(f"{both} are given: backpropagation starts from one of them")
    last = calculation.steps[-1]
    if problem.target_ids is not None:
        return _of_classes(problem, last, shapes)
    has_head = last.name == "prob"
    output = calculation.steps[-2] if has_head else last
    shape = shapes[output.name]
    if not given:
        made = (output.name,)
        return _made(problem, output, summed("Total", shape), made, ones(shape), made)
    (name,) = given
    wanted = "dO" if problem.block == ALONE else "dlogits" if has_head else "dY"
    if name in ("dY", "dlogits") and name != wanted:
        raise InputError(f"{name} is given: the gradient that arrives here is {wanted}")
    _check_shape(problem, name, output.name, shapes)
    pair = (output.name, name)
    if name == "target":
        less = Stated(Statement("Difference"))
        return _made(problem, output, summed("HalfSquares", shape, shape), pair, less, pair)
    loss = summed("TotalProduct", shape, shape)
    return _made(problem, output, loss, pair, Same(), (name,))


def _check_shape(problem: Scope, name: str, output: str, shapes: Mapping[str, Shape]) -> None:
    if shapes[name] != shapes[output]:
        pair = (shapes[name], shapes[output])
        turned = (problem.standing.pair(*each) if len(each) == 2 else each for each in pair)
        sizes = [" × ".join(map(str, each)) for each in turned]
        raise ShapeError(f"{name} is {sizes[0]} and {output} is {sizes[1]}: both need one shape")


def _of_classes(problem: Scope, last: Step, shapes: Mapping[str, Shape]) -> Start:
    ids = problem.target_ids
    if last.name != "prob":
        raise InputError(
            "target_ids requires a head with probabilities (W_out); for other outputs, give target"
        )
    rows, classes = shapes["prob"]
    if len(ids) != rows:
        has = "1 row" if rows == 1 else f"{rows} rows"
        raise ShapeError(f"target_ids has {len(ids)} and prob has {has}: one is needed for each")
    for number, each in enumerate(ids, start=1):
        if each >= classes:
            raise InputError(
                f"target_ids, number {number}: {each}, where there are {classes} classes, 0 to "
                f"{classes - 1}"
            )
    loss = _loss(CrossEntropy(ids), ("prob",))
    made = _gradient_step("logits", last, less_one_hot(ids), ("prob",))
    listed = ", ".join(map(str, ids))
    says = f"L = -Σ log prob of the targets {listed}, classes counted from 0 (target_ids)"
    return Start("logits", made.name, loss, (loss, made), (says,))


def _made(
    problem: Scope,
    output: Step,
    loss: Operation,
    of_loss: tuple[str, ...],
    gradient: Operation,
    of_gradient: tuple[str, ...],
) -> Start:
    name = gradient_name(output.name)
    made = _loss(loss, of_loss)
    shown = [made] if loss.name == "HalfSquares" or problem.step is not None else []
    if name != of_gradient[0]:  # otherwise it is given under the name it has
        shown.append(_gradient_step(output.name, output, gradient, of_gradient))
    says = _says(output.name, of_loss[-1], loss)
    return Start(output.name, name, made, tuple(shown), (says,))


def _says(output: str, given: str, loss: Operation) -> str:
    if loss.name == "Total":
        return f"gradients of L, the sum of {output}: each entry of the upstream gradient is 1"
    if loss.name == "HalfSquares":
        return f"gradients of L = 1/2 Σ ({output} - target)²"
    return f"gradients from {given}, the one that arrives at {output}"


def _loss(operation: Operation, inputs: tuple[str, ...]) -> Step:
    return Step(LOSS, LOSS_TITLE, operation, inputs, "values", "features")


def _gradient_step(of: str, like: Step, operation: Operation, inputs: tuple[str, ...]) -> Step:
    title = f"gradient of {of}, {like.title if of == like.name else of}"
    return Step(gradient_name(of), title, operation, inputs, like.rows, like.columns)
