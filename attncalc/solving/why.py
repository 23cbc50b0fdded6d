"""Why a number is what it is: parts of an entry that sum to it.

The parts follow from the equation of the step: the terms of its sums, and of products and
quotients that have a sum among them. The logarithm of a softmax weight is its score less the
logarithm of the sum. `attributed` carries an entry back through a network to the outputs of its
attentions and feed-forward parts; the scale of each normalization is fixed (Elhage et al.,
*A Mathematical Framework for Transformer Circuits*, 2021).
"""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from attncalc.base.decimals import decimals_of
from attncalc.base.errors import InputError
from attncalc.base.types import Matrix, Place
from attncalc.equations.algebra import negative, over, plain, times
from attncalc.equations.evaluate import evaluate
from attncalc.equations.extents import Setting, extents
from attncalc.equations.library import equation, inputs_of
from attncalc.equations.operations.distances import Alibi
from attncalc.equations.tree import (
    ONE,
    Aggregate,
    Entry,
    Equation,
    Function,
    If,
    Name,
    Node,
    Number,
    Operator,
    Remark,
    Row,
    names_in,
    rebuilt,
    replaced,
    source,
    walk,
)
from attncalc.problem.attention.declared import EACH_STEP
from attncalc.problem.fields import own_name, role_of
from attncalc.problem.step import Step
from attncalc.solving.solution import Solution
from attncalc.solving.work import Work

MOST_PARTS = 2_000
MOST_FEATURES = 20
"""The largest number of features of a row of outputs, each with its own parts."""
STOPS = ("O", "F_2")
"""Outputs of attentions and of feed-forward parts, whose contributions are parts."""
TOKENS = ("X", "X1")
"""Where a calculation begins, also if these are embedded tokens or patches."""
FIXED = ("var", "ms")
"""Steps that are the scale of a normalization."""


_BIASES = ("b_", "bias_", "beta_")
"""The start of the names of biases, also of those that equations of a family alone read."""


class Part(NamedTuple):
    """A part of a number: its text, its value, and entries whose own parts can be asked for."""

    text: str
    value: Any
    asks: tuple[str, ...] = ()


class Why(NamedTuple):
    """The parts of a number.

    entry: the entry, or the logarithm of it.
    how: how the parts make the number, in a sentence.
    value: the number: the sum of the parts.
    """

    entry: str
    how: str
    value: Any
    parts: tuple[Part, ...]


NEAR = {np.dtype(np.float32): 1e-4}
"""How far a sum may be from its number, relative to the sizes of its parts: 1e-9 for others."""


def checked(entry: str, how: str, value: Any, parts: tuple[Part, ...], dtype: Any) -> Why:
    """Return the parts of a number, after a check of their sum."""
    whole = sum(each.value for each in parts)
    number, total = float(value), float(whole)
    size = sum(abs(float(each.value)) for each in parts)
    near = NEAR.get(dtype, 1e-9) * max(size, abs(number))
    if np.isfinite([number, total]).all() and abs(total - number) > near:
        raise InputError(f"the parts of {entry} sum to {total:g}, and it is {number:g}")
    return Why(entry, how, whole, parts)


def why(solution: Solution, step: Step, shown: Place) -> Why:
    """Return the parts of an entry.

    step, shown: the step, and the place of the entry as shown, from 0.
    """
    work = Work(solution)
    with solution.arithmetic():
        own = OneEntry(solution, step, work.turned(shown), work)
        entry = own.text(Entry(own.equation.name, ()))
        tree = own.at_place
        if isinstance(tree, Row) and tree.kind == "softmax":
            return own.of_softmax(tree, entry)
        parts = tuple(own.part(term) for term in own.terms(tree))
        if len(parts) > MOST_PARTS:
            raise InputError(f"{entry} has {len(parts):,} parts, and {MOST_PARTS:,} are the most")
        how = f"{entry} is the sum of these parts" if len(parts) > 1 else f"{entry} has one part"
        return checked(entry, how, own.number, parts, solution.problem.dtype)


class OneEntry:
    """The equation of a step at one entry, its place from 0, and its written-out work."""

    def __init__(self, solution: Solution, step: Step, place: Place, work: Work) -> None:
        self.solution, self.step, self.place, self.work = solution, step, place, work
        given = work.given_matrices
        held = [given[n] if n in given else solution.carried[n] for n in step.inputs]
        stated = step.operation.statement(*(each.shape for each in held))
        self.equation = equation(stated.name, stated.given)
        names = inputs_of(stated.name, stated.given)
        self.titles = dict(zip(names, step.inputs, strict=False))
        self.head = place[: len(place) - len(self.equation.at)]
        tables = dict(stated.tables)
        if isinstance(step.operation, Alibi):  # 2^-1/2, for example, in the digits of the scores
            tables = {n: step.operation.slopes(held[0]) for n in tables}
        elif solution.is_exact:
            tables = {n: decimals_of(t) for n, t in tables.items()}
        self.full = dict(zip(names, held, strict=False)) | tables
        self.matrices = {name: self._of_head(each) for name, each in self.full.items()}
        for own, title in zip(self.equation.recurring, step.rows_of or (step.name,), strict=False):
            self.titles[own], self.full[own] = title, solution.carried[title]
            self.matrices[own] = self._of_head(self.full[own])
        self.settings = dict(stated.settings)
        names = self.equation.recurring
        shapes = {n: each.shape for n, each in self.matrices.items() if n not in names[:1]}
        runs = extents(self.equation, shapes, self.settings)
        self.sizes = {n: size for n, size in runs.items() if n in self.equation.sizes}
        self.settings |= {n: each for n, each in runs.items() if n not in self.equation.indices}

    def _of_head(self, matrix: Matrix) -> Matrix:
        """Return the head of a matrix that the entry reads, unless the equation names heads."""
        if not self.head or matrix.ndim < 3:
            return matrix
        return np.asarray(matrix[0 if len(matrix) == 1 else self.head[0]])

    @cached_property
    def at_place(self) -> Node:
        """The right-hand side at the entry, without marks."""
        return self._here(plain(self.equation.right))

    def _here(self, x: Node) -> Node:
        """Return an expression with the indices of the entry."""
        inner = self.place[len(self.head) :]
        by: dict[str, Node] = {
            index: Number(_fraction(at)) for index, at in zip(self.equation.at, inner, strict=True)
        }
        return replaced(x, by)

    @property
    def remark(self) -> str:
        """Why a mask forbids the entry; "" if none does."""
        x = self._here(self.equation.right)
        while isinstance(x, If):
            x = x.then if self.holds(plain(x.test)) else x.otherwise
        is_forbidden = isinstance(x, Remark) and float(self.number) == float("-inf")
        return str(x.words[0]) if isinstance(x, Remark) and is_forbidden else ""

    @property
    def number(self) -> Any:
        """The entry, as computed from what the step reads."""
        return np.asarray(self.solution.exact[self.step.name])[self.place]

    def terms(self, x: Node) -> Iterator[Node]:
        """Yield the terms of an expression."""
        match x:
            case Operator("+" | "-" as sign, (a, b)):
                yield from self.terms(a)
                yield from self.terms(b) if sign == "+" else map(negative, self.terms(b))
            case Operator("neg", (a,)):
                yield from map(negative, self.terms(a))
            case Operator("*" | "/" as sign, (a, b)) if _is_sum(a):
                yield from ((times if sign == "*" else over)(each, b) for each in self.terms(a))
            case Operator("*", (a, b)) if _is_sum(b):
                yield from (times(a, each) for each in self.terms(b))
            case Aggregate("sum"):
                for each in self.summands(x):
                    yield from self.terms(each)
            case If(test, then, otherwise):
                yield from self.terms(then if self.holds(test) else otherwise)
            case _:
                yield x

    def summands(self, x: Aggregate) -> Iterator[Node]:
        """Yield the body of a sum for each index at which its condition holds."""
        for k in range(self.sizes[x.index]):
            by: dict[str, Node] = {x.index: Number(_fraction(k))}
            if x.where is None or self.holds(replaced(x.where, by)):
                yield replaced(x.body, by)

    def value(self, x: Node) -> Any:
        """Return the value of an expression without indices of the entry."""
        part = Equation("part", (), (), x)
        try:
            made = evaluate(part, self.matrices, self.settings)
        except InvalidOperation:  # of -∞ among Decimals
            floats = {name: each.astype(float) for name, each in self.matrices.items()}
            return Decimal(repr(float(evaluate(part, floats, self.settings).ravel()[0])))
        return np.asarray(made).ravel()[0]

    def holds(self, test: Node) -> bool:
        """Return whether a condition holds."""
        return bool(self.value(If(test, ONE, Number(_fraction(0)))))

    def part(self, x: Node) -> Part:
        """Return a term as a part."""
        entries = (y for y in walk(x) if isinstance(y, Entry) and self.is_made(y))
        texts = dict.fromkeys(map(self.text, entries))  # of those in a sum, some places are open
        asks = (each for each in texts if not any(map(str.isalpha, each.rpartition("[")[2])))
        return Part(self.text(x), self.value(x), tuple(asks))

    def is_made(self, entry: Entry) -> bool:
        """Whether an entry is one of a step."""
        title = self.titles.get(entry.name, "")
        return title in self.solution.carried and title not in self.solution.problem.given

    def of_softmax(self, row: Row, entry: str) -> Why:
        """Return the logarithm of a weight as its score, less the logarithm of the sum."""
        score = replaced(row.body, {row.index: row.at})
        largest: Node = Aggregate("max", row.body, row.index, row.size)
        for each in row.beside:
            largest = Function("max", (largest, each))
        if float(self.value(largest)) == float("-inf"):
            return Why(entry, f"{entry} is 0, because no key is allowed", 0, ())
        less = Function("exp", (Operator("-", (row.body, largest)),))
        whole: Node = Aggregate("sum", less, row.index, row.size)
        for each in row.beside:
            whole = Operator("+", (whole, Function("exp", (Operator("-", (each, largest)),))))
        log_sum = Operator("+", (largest, Function("log", (whole,))))
        said = " + ".join(f"exp({self.text(each)})" for each in (row.body, *row.beside))
        said = f"-log (Σ {said})" if row.beside else f"-log Σ {said}"
        parts = [self.part(score), Part(said, self.value(negative(log_sum)))]
        how = f"the logarithm of {entry} is the sum of these parts"
        share = float(self.number)
        number = np.log(share) if share > 0 else -np.inf  # too small for a float
        dtype = self.solution.problem.dtype
        return checked(f"log {entry}", how, number, tuple(parts), dtype)

    def text(self, x: Node) -> str:
        """Return an expression as text, with places as shown."""

        def put(y: Node) -> Node:
            match y:
                case Entry():
                    return self._entry(y)
                case Name(name) if name in self.settings:
                    return Number(_fraction(self.settings[name]))
                case Function("abs", (a,)) if self._is_place(a):  # a distance
                    return Number(_fraction(int(self.value(y))))
            return rebuilt(y, put)

        return source(put(x)).replace(" * ", "·").replace("--", "")

    def _entry(self, x: Entry) -> Node:
        """Return an entry with its place as shown; of a table that is not shown, its number."""
        name, at = x.name, x.at
        if name == self.equation.name:
            return Name(self.work.called(self.step.name, self.place))
        is_place = all(map(self._is_place, at))
        if name not in self.titles:
            short: Any = Decimal(f"{float(self.value(x)):g}") if is_place else None
            return Number(short) if is_place else x
        full = self.full[name]
        head = self.head[:1] if full.ndim > len(at) else ()
        if is_place:
            place = (*(min(h, len(full) - 1) for h in head), *(int(self.value(e)) for e in at))
            return Name(self.work.called(self.titles[name], place))
        shown = (Number(e.value + 1) if isinstance(e, Number) else e for e in at)
        return Entry(self.titles[name], (*(Number(Fraction(h + 1)) for h in head), *shown))

    def _is_place(self, x: Node) -> bool:
        """Return whether an expression is a number: it has no index but those of its own sums."""
        known = {*self.settings, *self.full}
        known |= {y.index for y in walk(x) if isinstance(y, Aggregate)}
        return names_in(x) <= known


def _fraction(value: Setting) -> Fraction:
    return Fraction(repr(value)) if isinstance(value, float) else Fraction(value)


def _is_sum(x: Node) -> bool:
    match x:
        case Operator("+" | "-", _) | Aggregate("sum") | If():
            return True
        case Operator("neg", (a,)) | Operator("/", (a, _)):
            return _is_sum(a)
        case Operator("*", (a, b)):
            return _is_sum(a) or _is_sum(b)
    return False


# -- attribution ----------------------------------------------------------------------------------


class Attributed(NamedTuple):
    """The contributions to a number, and the gradients of the matrices that were read.

    parts: the contributions of attentions (for each head), feed-forward parts and biases.
    ends: the gradient of each matrix that begins the calculation, such as X and P, scales fixed.
    fixed: the steps that are not linear, whose factors are fixed: an entry is its input times a
        factor.
    """

    parts: tuple[Part, ...]
    ends: Mapping[str, Matrix]
    fixed: tuple[str, ...]


def attributed(solution: Solution, start: Mapping[str, Matrix], where: str = "") -> Attributed:
    """Return what each component of a layer contributes to a number, scales fixed."""
    groups: list[list[Part]] = []  # from the last step to the first
    way = _Backward(solution)
    for reached, slope in way.reached(start):
        if isinstance(reached, str):
            of_head = bool(where) and reached.endswith(("_pre", "_out"))
            text = f"{'head, ' if of_head else where}{reached}"
            groups.append([Part(text, float((slope * way.held[reached]).sum()))])
        else:
            groups.append([*way.component(reached, slope, where)])
    parts = tuple(part for group in reversed(groups) for part in group)
    if way.rounding:
        parts = (*parts, Part(f"{where}rounding", way.rounding))
    return Attributed(parts, way.ends, tuple(way.fixed))


def ends_of(solution: Solution, ends: Mapping[str, Matrix], names: Mapping[str, str]) -> list[Part]:
    """Return the contributions of the matrices that begin a calculation, with these names."""
    held = _held(solution)
    pairs = (
        (names.get(name, name), ends[name] * held[name])
        for name in sorted(ends, key=lambda n: n not in TOKENS)
    )
    return [Part(n, float(x.sum()), (n,) if x.size > x.shape[-1] else ()) for n, x in pairs]


def rows_of(
    solution: Solution, ends: Mapping[str, Matrix], names: Mapping[str, str], of: str
) -> tuple[float, tuple[Part, ...]]:
    """Return the contribution of one of these matrices, and of each row; () if it is none."""
    name = next((n for n in ends if of in (n, names.get(n))), "")
    if not name:
        return 0.0, ()
    sums = (ends[name] * _held(solution)[name]).sum(axis=-1).ravel()
    tokens = () if role_of(name) == "weights" else solution.problem.queries
    labels = [f"token {each}" for each in tokens]
    if len(labels) != len(sums):
        labels = [f"row {k}" for k in range(1, len(sums) + 1)]
    parts = tuple(Part(*pair) for pair in zip(labels, map(float, sums), strict=True))
    return float(sums.sum()), parts


def inside(
    solution: Solution, start: Mapping[str, Matrix], of: str, where: str = ""
) -> tuple[float, tuple[Part, ...]]:
    """Return the value and the parts of a component.

    The parts of a head are tokens, those of a feed-forward part features, or experts.

    of: the text of the component's part; without parts if it is not one of this layer.
    """
    way = _Backward(solution)
    for step, slope in way.reached(start):
        if isinstance(step, str):
            continue
        asked = [each for each in way.component(step, slope, where) if each.asks]
        head = next((k for k, each in enumerate(asked) if each.text == of), None)
        if head is None:
            continue
        is_attention = own_name(step.name) == "O"
        made = way.of_head(step, slope, head) if is_attention else way.of_forward(step, slope)
        return asked[head].value, tuple(made)
    return 0.0, ()


def over_tokens(solution: Solution, step: Step, shown: Sequence[Place]) -> Iterator[Why]:
    """Yield what each token adds to outputs of an attention, by all its heads, and what biases add.

    Of features of heads, the length of the row is the first; of many features, it is alone.

    shown: the places of the outputs, as shown.
    """
    way, work, made = _Backward(solution), Work(solution), np.asarray(solution.exact[step.name])
    weights = f"{step.name.removesuffix('O')}A"
    is_weighed = step.inputs[0] == weights  # then its equation is a sum over tokens
    rows: dict[int, list[Place]] = {}
    for place in map(work.turned, shown):
        rows.setdefault(place[0], []).append(place)
    for i, places in rows.items():
        slopes = np.eye(made.shape[1])
        if len(places) > (MOST_FEATURES if is_weighed else 1):
            row = made[i].astype(float)
            length = np.linalg.norm(row)
            at = ",".join(map(str, solution.problem.standing.pair(i + 1, ":")))
            name = f"|{step.name}[{at}]|"
            how = f"the length {name} is the sum of these parts, along the row"
            if len(places) > MOST_FEATURES:
                how, places = f"{how}; for one feature, ask {work.called(step.name, (i, 0))}", []
            parts = way.of_tokens(step, i, row / (length or 1.0), weights)
            if parts:
                yield checked(name, how, length, parts, solution.problem.dtype)
        for place in places:
            name = work.called(step.name, place)
            slope, how = slopes[place[1]], f"{name} is the sum of these parts"
            own = () if is_weighed else way.of_tokens(step, i, slope, weights)
            if own:
                found = checked(name, how, made[place], own, solution.problem.dtype)
                yield found._replace(value=made[place])
            else:
                yield why(solution, step, work.turned(place))


class _Floats(dict[str, Matrix]):
    """Matrices in float64, each converted when it is read: most weights of a model are not."""

    def __init__(self, given: Mapping[str, Matrix]) -> None:
        super().__init__()
        self._given = given

    def __missing__(self, name: str) -> Matrix:
        return self.setdefault(name, np.asarray(self._given[name], dtype=float))


def _held(solution: Solution) -> _Floats:
    return _Floats({**solution.problem.given, **solution.carried})


class _Backward:
    """The backward pass from a number through the steps of a layer, scales fixed."""

    def __init__(self, solution: Solution) -> None:
        self.solution, self.held = solution, _held(solution)
        is_rounded = solution.problem.rounding == EACH_STEP
        self.made = _Floats(solution.exact) if is_rounded else self.held
        self.rounding = 0.0
        self.steps = {step.name: step for step in solution.plan}
        self.near = NEAR.get(solution.problem.dtype, 1e-9)
        self.fixed: dict[str, None] = {}
        self.ends: dict[str, Matrix] = {}

    def reached(self, start: Mapping[str, Matrix]) -> Iterator[tuple[Step | str, Matrix]]:
        """Yield each component and bias, from the last, with the weight of its entries."""
        slopes = {name: np.asarray(each, dtype=float) for name, each in start.items()}
        for step in reversed(self.solution.plan):
            slope = slopes.pop(step.name, None)
            if slope is None:
                continue
            rest = slope * (self.held[step.name] - self.made[step.name])
            self.rounding += float(rest[np.isfinite(rest)].sum())
            if own_name(step.name) in STOPS:
                yield step, slope
                continue
            pairs = [] if step.name in TOKENS else self.backward(step, slope)
            if not pairs:
                self.ends[step.name] = slope
            for name, back in pairs:
                if role_of(name) == "bias":
                    yield name, back
                else:
                    slopes[name] = slopes.get(name, 0.0) + back
        self.ends |= slopes

    def backward(self, step: Step, slope: Matrix) -> list[tuple[str, Matrix]]:
        """Return the gradient of each input that the result is linear in, other factors fixed."""
        pairs = [*_backward(step, self.held, slope)]
        terms = [back * self.held[name] for name, back in pairs]
        made = slope * self.made[step.name]
        size = max(np.abs(made).sum(), *(np.abs(each).sum() for each in terms), 0.0)
        whole = made.sum()
        if not pairs or abs(sum(each.sum() for each in terms) - whole) <= self.near * size:
            return pairs
        # of a product with weights of an equation's own, the other factor alone
        more = self.solution.problem.more
        rest = [each for each in pairs if each[0] not in more or each[0].startswith(_BIASES)]
        if 0 < len(rest) < len(pairs):
            sums = (float((back * self.held[name]).sum()) for name, back in rest)
            if abs(sum(sums) - whole) <= self.near * size:
                return rest
        self.fixed[step.name] = None
        for pair, each in zip(pairs, terms, strict=True):
            if abs(each.sum() - whole) <= self.near * size:  # linear in this input alone
                return [pair]
        (name, back), *others = pairs
        if others or back.shape != slope.shape:
            return pairs  # the sum of all parts will be refused
        read = self.held[name]
        factor = np.divide(self.made[step.name], read, out=np.zeros_like(read), where=read != 0)
        return [(name, slope * factor)]

    def component(self, step: Step, slope: Matrix, where: str) -> Iterator[Part]:
        """Yield the contributions of an attention's heads and bias, or of a feed-forward part."""
        name = f"{where}{step.name}"
        whole = float((slope * self.made[step.name]).sum())
        is_projected = step.inputs[0] != f"{step.name[:-1]}A"
        if own_name(step.name) != "O" or not is_projected:
            yield Part(name, whole, (name,))
            return
        concat = step.inputs[0]
        heads = self.solution.carried.get(f"{step.name.removesuffix('O')}H")
        count = 1 if heads is None or heads.ndim < 3 else len(heads)
        found = dict(_backward(step, self.held, slope))
        sums = [float((back * self.held[each]).sum()) for each, back in found.items()]
        if concat not in found or abs(sum(sums) - whole) > self.near * sum(map(abs, sums)):
            yield Part(name, whole)  # an equation that is not linear in its inputs
            return
        joined, of_heads = self.steps.get(concat), f"{step.name.removesuffix('O')}H"
        is_plain = concat == of_heads or (joined is not None and joined.inputs == (of_heads,))
        if is_plain:
            terms = self.of_heads(step, slope) * self.held[of_heads]
            values = terms.reshape(count, -1).sum(axis=1)
        else:
            terms = found[concat] * self.held[concat]
            values = terms.sum(axis=0).reshape(count, -1).sum(axis=1)
        for head, value in enumerate(values, start=1):
            text = f"{name}, head {head}" if count > 1 else name
            yield Part(text, float(value), (text,) if is_plain else ())
        for bias, each in found.items():
            if bias != concat:
                yield Part(f"{where}{bias}", float((each * self.held[bias]).sum()))

    def of_heads(self, step: Step, slope: Matrix) -> Matrix:
        """Return the gradient of the outputs of all heads, from that of an attention."""
        of_heads = f"{step.name.removesuffix('O')}H"
        while step.name != of_heads:
            back = dict(_backward(step, self.held, slope))[step.inputs[0]]
            slope = np.broadcast_to(back, self.held[step.inputs[0]].shape)
            step = self.steps[step.inputs[0]]
        return slope

    def of_head(self, step: Step, slope: Matrix, head: int) -> Iterator[Part]:
        """Yield the contributions of the tokens that a head attends to."""
        prefix = step.name.removesuffix("O")
        weights = self.steps[f"{prefix}A"]
        weighed = next(s for s in self.solution.plan if s.name in (f"{prefix}H", f"{prefix}O"))
        A, V = (self.held[each] for each in weighed.inputs[:2])
        back = slope if weighed is step else self.of_heads(step, slope)
        back = back[head] if back.ndim > 2 else back
        own = A[head] if A.ndim == 3 else A
        values = V[head * len(V) // len(A)] if V.ndim == 3 else V
        sums = np.einsum("ij,jc,ic->j", own, values, back)
        keys = self.solution.column_labels(weights)
        yield from (Part(f"token {key}", float(v)) for key, v in zip(keys, sums, strict=True))

    def of_tokens(self, step: Step, row: int, slope: Matrix, weights: str) -> tuple[Part, ...]:
        """Return what each token adds to a row of an attention, by all heads, and what biases add.

        There are none if the equations of the attention are not linear in its values.

        slope: the weight of each output of the row.
        """
        whole = np.zeros(self.held[step.name].shape)
        whole[row] = slope
        made = [*self.component(step, whole, "")]
        heads = [k for k, _ in enumerate(each for each in made if each.asks)]
        work = Work(self.solution)
        places: list[Place] = [(k, row) for k in heads] if self.held[weights].ndim > 2 else [(row,)]
        tokens = zip(*(self.of_head(step, whole, k) for k in heads), strict=True)
        parts = [
            Part(of[0].text, sum(each.value for each in of),
                 tuple(work.called(weights, (*place, j)) for place in places))
            for j, of in enumerate(tokens)
        ]  # fmt: skip
        if not parts:
            return ()
        parts += [each for each in made if not each.asks]
        rest = float((whole * self.made[step.name]).sum()) - sum(each.value for each in parts)
        is_rounded = self.solution.problem.rounding == EACH_STEP
        return (*parts, Part("rounding of earlier steps", rest)) if is_rounded else (*parts,)

    def of_forward(self, step: Step, slope: Matrix) -> Iterator[Part]:
        """Yield the contributions of the hidden features of a feed-forward part, or of experts."""
        pairs = self.backward(step, slope)
        is_sum = sum(role_of(name) != "bias" for name, _ in pairs) > 1
        for name, back in pairs:
            terms = back * self.held[name]
            if own_name(name) == "F_mix":
                yield from self.of_forward(self.steps[name], back)
            elif is_sum or role_of(name) == "bias":
                yield Part(name, float(terms.sum()))
            else:
                is_of_experts = own_name(name).startswith("E_") or terms.ndim == 3
                text = "expert {}" if is_of_experts else f"{name}[:,{{}}]"
                sums = enumerate(terms.sum(axis=(1, 2) if terms.ndim == 3 else 0), start=1)
                yield from (Part(text.format(k), float(each)) for k, each in sums)


def _backward(
    step: Step, held: Mapping[str, Matrix], slope: Matrix
) -> Iterator[tuple[str, Matrix]]:
    """Yield the gradient of each input that the result is linear in, scales fixed."""
    shapes = [held[name].shape for name in step.inputs]
    for number, name in enumerate(step.inputs):
        own = own_name(name).partition("_")[0]
        if own in {*FIXED, "gamma", "W"} or role_of(name) == "weights":  # W_E: a tied table
            continue
        way = step.operation.way_back(number, shapes)
        if way is None:
            continue
        reads = [*(held[each] for each in step.inputs), held[step.name], slope]
        # the gradient is the last, and the result before it: GRADIENT and RESULT are -1 and -2
        read = [reads[place] for place in way.reads]
        yield name, np.asarray(way.operation.apply(*read), dtype=float)
