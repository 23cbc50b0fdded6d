"""Each kind of attention as an ordered list of named steps.

Q = X W_Q, K = X W_K, V = X W_V, S = Q Kᵀ, S_scaled = S / √d_k, A = softmax(S_scaled), O = A V.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from attncalc.expressions import Expression, Symbol, Transposed
from attncalc.fields import MASKS, SQRT_DK, WEIGHTS
from attncalc.operations import (
    Add,
    Concat,
    DivideBySqrt,
    DivideBySum,
    HardMax,
    Mask,
    Mean,
    Multiply,
    Operation,
    Project,
    Rotate,
    Same,
    Scores,
    Sinusoids,
    SoftCap,
    Softmax,
    Weigh,
)
from attncalc.problem import Problem
from attncalc.rounding import Matrix

Axis = Literal["queries", "keys", "values", "features"]
Plan = tuple["Step", ...]
Report = Callable[[int, int], None]
"""What is told, on long inputs, how many blocks of how many are done."""


@dataclass(frozen=True)
class Step:
    """One named matrix: the operation that makes it, and what its rows and columns stand for."""

    name: str
    title: str
    operation: Operation
    inputs: tuple[str, ...]
    rows: Axis
    columns: Axis


def plan(problem: Problem) -> Plan:
    """Return the steps of `problem`, each after those it reads.

    Examples
    --------
    >>> problem = Problem(X=[[1, 0]], W_Q=[[1], [0]], W_K=[[1], [1]], W_V=[[2], [4]], causal=True)
    >>> [step.name for step in plan(problem)]
    ['Q', 'K', 'V', 'S', 'S_scaled', 'S_masked', 'A', 'O']
    """
    return (
        *_positioned(problem),
        *_projected(problem),
        *_rotated(problem),
        *_scored(problem),
        *_combined(problem),
    )


def formula(step: Step, problem: Problem) -> Expression:
    """Return the right-hand side of a step's equation in the problem's layout, as in X W_Q."""
    columns = problem.layout == "columns"
    turned = problem.weights_layout == "torch" and not columns
    operands: list[Expression] = [
        Transposed(Symbol(name)) if turned and name in WEIGHTS else Symbol(name)
        for name in step.inputs
    ]
    return step.operation.formula(*operands, columns=columns)


def run(
    steps: Plan,
    given: Mapping[str, Matrix],
    after: Callable[[Matrix], Matrix] = lambda matrix: matrix,
) -> dict[str, Matrix]:
    """Take the steps in turn and return each one's matrix by name.

    Parameters
    ----------
    steps
        The plan.
    given
        The matrices the plan starts from, in any one number system.
    after
        What happens to a step's matrix before the next step reads it: rounding, say.
    """
    known = dict(given)
    for step in steps:
        known[step.name] = after(step.operation.apply(*(known[name] for name in step.inputs)))
    return {step.name: known[step.name] for step in steps}


def _positioned(problem: Problem) -> Iterator[Step]:
    """Add positions to each matrix of tokens."""
    axes: dict[str, Axis] = {"X": "queries", "X1": "queries", "X2": "keys", "X3": "values"}
    for X in problem.names:
        if X not in axes:
            continue
        P = X.replace("X", "P")
        if problem.positions == "sinusoidal":
            place = sinusoidal_place(problem, X)
            yield Step(P, "positions", Sinusoids(place), (X,), axes[X], "features")
        elif getattr(problem, P) is None:
            continue
        yield Step(f"{X}_P", "tokens at their places", Add(), (X, P), axes[X], "features")


def sinusoidal_place(problem: Problem, tokens: str) -> int:
    """Return the place of the first of these tokens; those that ask may be the last of all."""
    return problem.query_place if tokens == problem.query_source else 0


def _projected(problem: Problem) -> Iterator[Step]:
    sides: tuple[tuple[str, str, str, Axis], ...] = (
        ("Q", "queries", problem.query_source, "queries"),
        ("K", "keys", problem.key_source, "keys"),
        ("V", "values", problem.value_source, "keys"),
    )
    for name, title, source, axis in sides:
        if source == name:
            continue
        positioned = (
            problem.positions == "sinusoidal"
            or getattr(problem, source.replace("X", "P")) is not None
        )
        tokens = f"{source}_P" if positioned else source
        yield Step(name, title, Project(), _with_bias(problem, tokens, name), axis, "features")


def _with_bias(problem: Problem, tokens: str, name: str) -> tuple[str, ...]:
    """Return what a projection reads: tokens, weights, and a bias when there is one."""
    bias = () if getattr(problem, f"b_{name}") is None else (f"b_{name}",)
    return (tokens, f"W_{name}", *bias)


def _rotated(problem: Problem) -> Iterator[Step]:
    if problem.positions != "rope":
        return
    base, pairing = Fraction(problem.rope_base), problem.rope_pairing
    of_queries, of_keys = (Rotate(base, place, pairing) for place in problem.rope_places)
    yield Step("Q_rot", "rotated queries", of_queries, ("Q",), "queries", "features")
    yield Step("K_rot", "rotated keys", of_keys, ("K",), "keys", "features")


def _scored(problem: Problem) -> Iterator[Step]:
    """Go from queries and keys to weights: scores, scaled, capped, masked, normalised."""
    rotated = "_rot" if problem.positions == "rope" else ""
    yield Step("S", "scores", Scores(), (f"Q{rotated}", f"K{rotated}"), "queries", "keys")
    last = "S"
    for name, title, operation, masks in _refinements(problem):
        yield Step(name, title, operation, (last, *masks), "queries", "keys")
        last = name
    normalizers: dict[str, type[Softmax | HardMax | DivideBySum]] = {
        "softmax": Softmax,
        "hardmax": HardMax,
        "sum": DivideBySum,
    }
    weights = normalizers[problem.normalizer](masked=problem.is_masked)
    yield Step("A", "attention weights", weights, (last,), "queries", "keys")


def _refinements(problem: Problem) -> Iterator[tuple[str, str, Operation, tuple[str, ...]]]:
    if problem.scale == SQRT_DK:
        yield "S_scaled", "scaled scores", DivideBySqrt(problem.d_k), ()
    elif isinstance(problem.scale, Fraction) and problem.scale != 1:
        yield "S_scaled", "scaled scores", Multiply(problem.scale), ()
    if problem.softcap is not None:
        yield "S_capped", "capped scores", SoftCap(Fraction(problem.softcap)), ()
    if problem.is_masked:
        masks = tuple(name for name in MASKS if getattr(problem, name) is not None)
        yield "S_masked", "masked scores", Mask(masks, _causal_from(problem)), masks


def _causal_from(problem: Problem) -> int | None:
    if not problem.causal:
        return None
    return 1 + problem.query_place


def _combined(problem: Problem) -> Iterator[Step]:
    """Go from weights and values to outputs: each head's, the heads together, their projection."""
    projected = problem.W_O is not None or problem.b_O is not None
    weigh = Weigh(of_shares=problem.normalizer != "sum")
    if problem.n_heads == 1 and not projected:
        yield Step("O", "outputs", weigh, ("A", "V"), "queries", "features")
        return
    yield Step("H", "each head's outputs", weigh, ("A", "V"), "queries", "features")
    joined = "H"
    if problem.n_heads > 1:
        joined = "C"
        concat = problem.combine == "concat"
        title = "heads side by side" if concat else "mean of the heads"
        yield Step("C", title, Concat() if concat else Mean(), ("H",), "queries", "features")
    if problem.W_O is not None:
        inputs = _with_bias(problem, joined, "O")
        yield Step("O", "outputs", Project(), inputs, "queries", "features")
    elif problem.b_O is not None:
        yield Step("O", "outputs", Add(), (joined, "b_O"), "queries", "features")
    else:
        yield Step("O", "outputs", Same(), (joined,), "queries", "features")
