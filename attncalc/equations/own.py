"""Equations that users write, checked and made as explicit as those of the library.

    S[i,j] = sum(Q[i,c] * K[j,c] for c in d_k)    # a title
    decay = exp(-1/2)

A matrix has two indices (rows, columns), or three (heads or time first). A matrix that is a single
row or column may be read with one index, a single number with none, and a matrix of heads without
its head: the equation then holds for each head.
"""

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, reduce
from math import prod
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from attncalc.base.decimals import untrapped
from attncalc.base.errors import ShapeError
from attncalc.base.types import Matrix
from attncalc.equations import measure
from attncalc.equations.evaluate import Compiler, Frame, is_of_products
from attncalc.equations.expressions import Expression
from attncalc.equations.extents import Setting, Shape, extents
from attncalc.equations.library import inputs_of
from attncalc.equations.notation import by_entry
from attncalc.equations.operation import PLAIN, Stated
from attncalc.equations.tree import (
    AGGREGATES,
    FUNCTIONS,
    INFINITY,
    ONE,
    ROWS,
    SIDE_OF_AXIS,
    SIDES,
    ZERO,
    Aggregate,
    Entry,
    Equation,
    EquationError,
    Function,
    If,
    Marked,
    Name,
    Node,
    Number,
    Operator,
    Remark,
    Row,
    column_of,
    dotted,
    equation_source,
    is_side,
    names_in,
    parse,
    parts,
    read,
    rebuilt,
    recurrence_of,
    source,
    spoken,
    walk,
)

SIZES = ("n", "m", "d", "d_k", "d_v", "d_ff", "heads")
"""Sizes that an equation may name: queries, keys, features, widths of keys, values and layers."""
NUMBERS = ("inf", "pi")
MOST_CHARACTERS = 4_000
MOST_OPERATIONS = 5_000_000_000
"""Multiply-and-adds that one equation may take."""
MOST_OF_PRODUCTS = 200_000_000_000
"""The same where all its sums are products of matrices, which numpy computes much faster."""
MOST_ENTRIES = 16_000_000
"""Entries of a result."""
LARGEST_POWER = 1_000
"""The largest exponent of a number, and the most digits of one."""
HEAD = "h"
USUAL = {"i": "n", "t": "n", "j": "m", HEAD: "heads"}
"""What indices run over by convention, where nothing says it."""


class Line(NamedTuple):
    """An equation of a user.

    text: the line without its title.
    title: the text after `#`.
    """

    text: str
    title: str
    equation: Equation

    @property
    def name(self) -> str:
        """The matrix that it states."""
        return self.equation.name

    @property
    def reads(self) -> tuple[str, ...]:
        """The names on the right that are no index, size or function, in the order of the text."""
        return tuple(dict.fromkeys(name for name, _ in self.uses() if name != self.name))

    def uses(self) -> Iterator[tuple[str, ast.expr]]:
        """Yield each use of a matrix on the right-hand side: its name and its position."""
        bound = self.equation.at or (self.name,)
        yield from _uses(_sides(self.text)[1], {*SIZES, *NUMBERS, *bound})

    def size_of(self, index: str) -> ast.expr | None:
        """Return where it says how far an index runs."""
        left, right = _sides(self.text)
        for node in (*ast.walk(left), *ast.walk(right)):
            match node:
                case ast.Compare(left=ast.Name(id=name), comparators=[size]) if name == index:
                    return size
                case ast.comprehension(target=ast.Name(id=name), iter=size) if name == index:
                    return size
        return None

    def first(self, text: str) -> ast.expr | None:
        """Return the first expression on the right with this source, or None."""
        for node in ast.walk(_sides(self.text)[1]):
            if isinstance(node, ast.BinOp | ast.Call | ast.Constant | ast.UnaryOp):
                with suppress(EquationError):
                    if source(read(self.typed(node))).replace(" ", "") == text.replace(" ", ""):
                        return node
        return None

    def typed(self, at: ast.expr) -> str:
        """Return the text of an expression."""
        return ast.get_source_segment(self.text, at) or ""

    def fault(self, problem: str, at: ast.AST | None = None) -> EquationError:
        """Return what is wrong with it, with a caret below the place; by default its start."""
        return EquationError(self.text, 0 if at is None else column_of(self.text, at), problem)

    def misuse(self, name: str, problem: str) -> EquationError:
        """Return what is wrong with its use of a matrix, with a caret below the first."""
        return self.fault(problem, next((at for each, at in self.uses() if each == name), None))


_SIGNS = "·⋅× *;÷ /;− -;^ **;² **2;³ **3;≤ <=;≥ >=;≠ !=;∞ inf;π pi;√ sqrt;Σ∑ sum"


def _in_ascii(text: str) -> str:
    """Return an equation with typeset signs as they are typed: √d_k as sqrt(d_k), x² as x**2."""
    text = re.sub(r"√\s*([\w.]+)", r"√(\1)", text)
    for signs, typed in map(str.split, _SIGNS.split(";")):
        text = text.translate(dict.fromkeys(map(ord, signs), typed))
    return text


def read_line(text: str) -> Line:
    """Return the equation of a line."""
    found = re.match(r'((?:[^"#]|"[^"]*")*)(?:#(.*))?', text, re.DOTALL)
    assert found is not None
    line, title = " ".join(_in_ascii(found[1]).split()), " ".join((found[2] or "").split())
    if len(line) > MOST_CHARACTERS:
        raise EquationError(
            line[:60] + " …", 0, f"an equation has at most {MOST_CHARACTERS:,} characters"
        )
    made = parse(line, None)
    own = Line(line, title, made)
    left, right = _sides(line)
    _refuse_large(own, right)
    _refuse_conditions(own, right)
    if len(made.at) > 3:
        raise own.fault("a matrix has at most three indices: heads or time, rows and columns", left)
    if made.name in (*SIZES, *NUMBERS, *FUNCTIONS, *AGGREGATES, *ROWS):
        raise own.fault(f"{made.name} is a size or a function: choose another name", left)
    for node in ast.walk(right):
        if isinstance(node, ast.comprehension) and isinstance(node.target, ast.Name):
            index = node.target.id
            if index in (*SIZES, *NUMBERS):
                raise own.fault(f"{index} is a size, and no index: choose another", node.target)
            for size in ast.walk(node.iter):
                if isinstance(size, ast.Name) and not _is_size(size, node.iter):
                    known = ", ".join(SIZES)
                    raise own.fault(
                        f"{size.id} is not a size; sizes are {known}, whole numbers, rows(X), "
                        "columns(X) and heads(X)",
                        size,
                    )
    return own


@cache
def parsed(texts: Sequence[str]) -> tuple[Line, ...]:
    """Return the parsed equations."""
    found: dict[str, Line] = {}
    for text in texts:
        if is_of_scores(text):
            continue  # its effect is known when the steps are
        line = read_line(text)
        if line.name in found:
            raise line.fault(f"{line.name} is stated twice")
        found[line.name] = line
    return tuple(found.values())


def _refuse_conditions(own: Line, right: ast.expr) -> None:
    """Refuse a condition where a number belongs."""
    fine: set[int] = set()
    for node in ast.walk(right):
        match node:
            case ast.IfExp(test=test) | ast.UnaryOp(op=ast.Not(), operand=test):
                fine.add(id(test))
            case ast.BoolOp(values=tests) | ast.comprehension(ifs=tests):
                fine |= set(map(id, tests))
            case ast.Call(func=ast.Name(id="why"), args=[_, _, test]):
                fine.add(id(test))
        if _is_condition(node) and id(node) not in fine:
            said = ast.unparse(node)
            raise own.fault(f"{said} is a condition, no number: write 1 if {said} else 0", node)


def _is_condition(node: ast.AST) -> bool:
    is_not = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    return is_not or isinstance(node, ast.Compare | ast.BoolOp)


def _is_size(name: ast.Name, within: ast.expr) -> bool:
    calls = [n for n in ast.walk(within) if isinstance(n, ast.Call)]
    named = {id(each) for call in calls for each in ast.walk(call)}
    return name.id in SIZES or id(name) in named


MODIFIED = "S_mod"
"""What scores are called that a `score_mod` or a `mask_mod` changed."""
_OF_SCORES = {"score", "b", "h", "q_idx", "kv_idx"}
"""What FlexAttention hands to such a function."""


def is_of_scores(text: str) -> bool:
    """Return whether a text is an expression of `score`, or a condition of `q_idx` and `kv_idx`.

    >>> is_of_scores("score - abs(q_idx - kv_idx)"), is_of_scores("S[i,j] = score[i,j]")
    (True, False)
    """
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return bool(_OF_SCORES & {x.id for x in ast.walk(tree) if isinstance(x, ast.Name)})


def line_of_scores(text: str, scores: str, name: str, heads: int) -> Line:
    """Return the equation of a `score_mod` or `mask_mod` of FlexAttention.

    text: an expression of `score`, `b`, `h`, `q_idx` and `kv_idx`; a condition says where a query
        may attend.
    scores, name: the step that it changes, and what the changed one is called.
    heads: how many heads the scores have; 0 where they have no axis of heads.
    """
    places = "h, i, j" if heads else "i, j"
    meant = {"score": f"{spoken(scores)}[{places}]", "q_idx": "i", "kv_idx": "j", "b": "0"}
    meant |= {} if heads else {"h": "0"}

    class Written(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.AST:
            return ast.parse(meant.get(node.id, node.id), mode="eval").body

    expression = ast.parse(text.strip(), mode="eval").body
    is_condition = _is_condition(expression)
    right = ast.unparse(Written().visit(expression))
    if is_condition:
        right = f"{meant['score']} if {right} else -inf"
    title = "masked scores" if is_condition else "modified scores"
    sizes = "h in heads, i in n, j in m" if heads else "i in n, j in m"
    return read_line(f"{name}[{sizes}] = {right}  # {title}")


def _sides(line: str) -> tuple[ast.expr, ast.expr]:
    (statement,) = ast.parse(line).body
    assert isinstance(statement, ast.Assign)
    return statement.targets[0], statement.value


def _uses(node: ast.AST, bound: set[str]) -> Iterator[tuple[str, ast.expr]]:
    """Yield the matrices that are read below a node, where these names are bound."""
    match node:
        case ast.Subscript(value=ast.Name() | ast.Attribute() as matrix, slice=places):
            yield dotted(matrix), node
            yield from _uses(places, bound)
        case ast.Call(
            func=ast.Name(id="rows" | "columns" | "heads"),
            args=[ast.Name() | ast.Attribute() as matrix],
        ):
            yield dotted(matrix), matrix
        case ast.Call(args=arguments):
            for each in arguments:
                yield from _uses(each, bound)
        case ast.GeneratorExp(elt=body, generators=loops):
            inner = set(bound)
            for loop in loops:
                yield from _uses(loop.iter, inner)
                if isinstance(loop.target, ast.Name):
                    inner.add(loop.target.id)
                for test in loop.ifs:
                    yield from _uses(test, inner)
            yield from _uses(body, inner)
        case ast.Name(id=name):
            if name not in bound:
                yield name, node
        case _:
            for part in ast.iter_child_nodes(node):
                yield from _uses(part, bound)


def _refuse_large(own: Line, right: ast.expr) -> None:
    """Refuse powers of numbers that would take long to compute."""
    for node in ast.walk(right):
        match node:
            case ast.BinOp(op=ast.Pow(), right=exponent):
                for each in ast.walk(exponent):
                    is_large = isinstance(each, ast.Constant) and (
                        not isinstance(each.value, int | float) or abs(each.value) > LARGEST_POWER
                    )
                    if is_large or (isinstance(each, ast.BinOp) and isinstance(each.op, ast.Pow)):
                        raise own.fault(f"an exponent is at most {LARGEST_POWER}", each)


@dataclass(frozen=True, eq=False, repr=False)
class Own(Stated):
    """An equation of the user's own.

    inputs: the names of what it reads, in the order of the operands.
    shapes: the shapes of these: its indices run over their sides.
    """

    line: Line
    inputs: tuple[str, ...]
    shapes: tuple[Shape, ...]

    @property
    def gives_shares(self) -> bool:
        """Whether it is a row of weights, which sum to 1."""
        return isinstance(self.line.equation.right, Row)

    def formula(self, *operands: Expression) -> Expression:
        """Return the right-hand side as it was typed."""
        return by_entry(self.line.equation, dict(zip(self.inputs, operands, strict=False)))

    def _applied(
        self, matrices: Sequence[Matrix], after: Callable[[Matrix], Matrix] | None = None
    ) -> Matrix:
        try:
            made = super()._applied(matrices, after)
        except ArithmeticError:  # of Decimals; floats find whether a condition excludes the place
            self._check(super()._applied(_floats(matrices)), matrices)
            with untrapped():
                made = super()._applied(matrices, after)
        self._check(made, matrices)
        return made

    def _check(self, made: Matrix, matrices: Sequence[Matrix]) -> None:
        """Refuse entries that are no finite number; -inf is one where the equation reads it."""
        is_masked = INFINITY in self.line.equation.nodes or any(
            np.isneginf(each).any() for each in _floats(matrices) if each.dtype.kind == "f"
        )
        (values,) = _floats([made])
        fine = values < np.inf if is_masked else np.isfinite(values)
        if not fine.all():
            at = ", ".join(str(int(each) + 1) for each in np.argwhere(~fine)[0])
            said = f"{self.line.name}[{at}] is not a finite number"
            found = None if self.recurs else self._culprit(_floats(matrices), is_masked)
            if found is None:
                raise self.line.fault(said)
            text, why = source(found[0]), found[1]
            node = self.line.first(text)
            raise self.line.fault(f"{said}: {self.line.typed(node) if node else text} {why}", node)

    def _culprit(self, matrices: Sequence[Matrix], is_masked: bool) -> tuple[Node, str] | None:
        """Return the innermost expression without a finite value, and why it has none."""
        known = self._on(*(each.shape for each in matrices))
        named = self._by_name(known, matrices)
        frame = Frame(named, known.program.know(named, known.settings)[0])
        compiler = Compiler(known.equation.indices)

        def at(x: Node, axes: tuple[str, ...]) -> Matrix:
            with np.errstate(all="ignore"):
                return np.asarray(compiler.value(x, axes)(frame), float)

        def find(x: Node, axes: tuple[str, ...]) -> tuple[Node, str] | None:
            found = at(x, axes)
            if x == INFINITY or (found < np.inf if is_masked else np.isfinite(found)).all():
                return None
            inner = (*axes, x.index) if isinstance(x, Aggregate | Row) else axes
            made = next(filter(None, (find(each, inner) for each in _summands(x))), None)
            return made or (x, _why(x, [at(each, inner) for each in _summands(x)], found))

        return find(known.equation.right, known.equation.at)

    def _on(self, *shapes: Shape) -> Any:
        for name, own, given in zip(inputs_of(self.name), self.shapes, shapes, strict=True):
            if given[-len(own) :] != own and given != PLAIN:
                sizes = (" × ".join(map(str, each)) for each in (given, own))
                raise ShapeError(
                    f"{name} is {next(sizes)}, and {self.line.name} reads {next(sizes)}"
                )
        return super()._on(*shapes)


def _floats(matrices: Sequence[Matrix]) -> list[Matrix]:
    return [x.astype(float) if x.dtype == object else x for x in matrices]


def _summands(x: Node) -> tuple[Node, ...]:
    """Return the nodes below one whose values are numbers: no places, sizes or conditions."""
    match x:
        case Aggregate(_, body) | Remark(body):
            return (body,)
        case Row(_, body, _, _, beside):
            return (body, *beside)
        case If(_, then, otherwise):
            return (then, otherwise)
        case Entry():
            return ()
        case Function() if x.name in SIDES:
            return ()
    return parts(x)


def _why(x: Node, values: Sequence[Matrix], found: Matrix) -> str:
    """Return why an expression of these values has no finite one."""
    match x:
        case Operator("/" | "//" | "%") if (values[1] == 0).any():
            return "divides by 0"
        case Operator("**") if (values[0] == 0).any():
            return "divides by 0"
        case Operator("**") if (values[0] < 0).any() and np.isnan(found).any():
            return "raises a negative number to a fraction"
        case Function("sqrt"):
            return "is the root of a negative number"
        case Entry(name):
            return f"reads a place that {name} does not have"
        case Function("log"):
            return "is the logarithm of a number that is not positive"
    if not (found == np.inf).any():
        return "has no value"
    return f"is larger than the largest float64 (about {np.finfo(float).max:.2g})"


class Known(NamedTuple):
    """What equations may read.

    shapes: the shape of each matrix: (rows, columns), or (heads, rows, columns).
    given: the matrices whose values are known: places of entries that are read from them are
        checked.
    """

    shapes: Mapping[str, Shape]
    sizes: Mapping[str, int]
    given: Mapping[str, Matrix] = MappingProxyType({})


def resolved(
    lines: Sequence[Line], known: Known, shape: Shape | None = None
) -> list[tuple[Equation, dict[str, Setting]]]:
    """Return equations with every index written out, and the sizes that they read.

    Raises EquationError if one reads what there is not, with a wrong number of indices, or where
    there is nothing; when sizes do not agree, or it takes too long.

    lines: an equation, or all those that read earlier rows of one another.
    shape: the shape of the step that one replaces: what an index of the result runs over where
        nothing else says it.
    """
    for line in lines:
        for name, at in line.uses():
            if name not in known.shapes and name not in {each.name for each in lines}:
                raise line.fault(_unknown(name, known), at)
        for x in (y for each in _all(line.equation) for y in walk(each)):
            if is_side(x) and x.arguments[0] == Name(line.name):  # type: ignore[union-attr]
                said = f"{source(x)} is the size of the equation itself, which it cannot read"
                raise line.fault(said, line.first(source(x)))
    if len(lines) > 1:
        equations, known = _together(lines, known)
    else:
        own = _named(_sized(_explicit(lines[0], known), known, shape), known)
        equations = [_reading(lines[0], own, known)]
    found = []
    for place, (line, own) in enumerate(zip(lines, equations, strict=True)):
        own = replace(own, together=(*equations[:place], *equations[place + 1 :]))
        checked = _Checked(line, own, known)
        checked.refuse_cost()
        checked.refuse_divisors()
        checked.refuse_places()
        found.append((own, checked.settings))
    return found


def _together(lines: Sequence[Line], known: Known) -> tuple[list[Equation], Known]:
    """Return equations that read one another with all sizes, and their shapes beside the others."""
    shapes = {**known.shapes}
    shapes |= {each.name: _stand_in(each.equation) for each in lines}
    for _ in lines:  # heads go from one to the next
        explicit = [_explicit(each, known._replace(shapes=shapes)) for each in lines]
        shapes |= {each.name: _stand_in(each) for each in explicit}
    found: dict[str, Equation] = {}
    known = known._replace(shapes={**known.shapes})
    while len(found) < len(lines):
        faults: list[EquationError] = []
        before = len(found)
        for line, own in zip(lines, explicit, strict=True):
            if own.name in found:
                continue
            own = _named(_sized(own, known, None), known)
            try:
                runs = extents(own, known.shapes, known.sizes)
            except ShapeError as error:
                faults.append(_size_fault(line, own, error))
                continue
            sizes = (Number(Fraction(runs[index])) for index in own.at)
            over = tuple(x or size for x, size in zip(own.over, sizes, strict=True))
            found[own.name] = replace(own, over=over)
            known = known._replace(
                shapes={**known.shapes, own.name: tuple(runs[i] for i in own.at)}
            )
        if len(found) == before:
            raise faults[0]
    equations = [found[each.name] for each in lines]
    recurs = recurrence_of(equations)
    assert recurs is not None  # places here are in the order of the lines
    for line in lines[1:]:
        rows, others = (known.shapes[x.name][recurs.axes[x.name]] for x in (line, lines[0]))
        if rows != others:
            raise line.fault(f"{line.name} has {rows} rows, and {lines[0].name}, {others}")
    return equations, known


def _stand_in(own: Equation) -> Shape:
    """Return a shape with as many axes as a matrix has, before its sizes are known."""
    known = (int(x.value) if isinstance(x, Number) else 2 for x in own.over)
    return (*known, 1, 1)[: max(2, len(own.at))]


def _size_fault(line: Line, own: Equation, error: ShapeError) -> EquationError:
    return line.fault(str(error).removeprefix(f"{own.name}: "))


def _sized(own: Equation, known: Known, shape: Shape | None) -> Equation:
    """Return the equation with the sides of a shape where nothing says how far an index runs."""
    named = {
        place.name
        for x in own.nodes
        if isinstance(x, Entry) and x.name in known.shapes and x.name != own.name
        for place in x.at
        if isinstance(place, Name)
    }
    of_rows = {
        x.at.name: x.size for x in own.nodes if isinstance(x, Row) and isinstance(x.at, Name)
    }
    sides = dict(zip(own.at[::-1], (shape or ())[::-1], strict=False))
    over = tuple(
        size
        if size is not None or index in named
        else of_rows.get(index)
        or (Number(Fraction(sides[index])) if index in sides else None)
        or (Name(USUAL[index]) if USUAL.get(index) in known.sizes else None)
        for index, size in zip(own.at, own.over, strict=True)
    )
    return replace(own, over=over)


def _named(own: Equation, known: Known) -> Equation:
    """Return the equation with a name for each size of the result that has one."""
    try:
        runs = extents(own, known.shapes, known.sizes)
    except ShapeError:  # reported when sizes are checked
        return own

    def name_of(index: str) -> Name | None:
        names = (USUAL.get(index, ""), "d_k", "d_v", "d", "n", "m")
        return next((Name(n) for n in names if known.sizes.get(n) == runs[index]), None)

    pairs = zip(own.at, own.over, strict=True)
    return replace(own, over=tuple(size or name_of(index) for index, size in pairs))


def _all(own: Equation) -> list[Node]:
    return [own.right, *(each for each in own.over if each is not None)]


def _unknown(name: str, known: Known) -> str:
    from difflib import get_close_matches

    if name in SIZES:
        return f"the size {name} is unknown here"
    near = get_close_matches(name, known.shapes, n=1, cutoff=0.5)
    meant = f"did you mean {near[0]}? " if near else ""
    there = ", ".join(known.shapes)
    return f"{name} is not an index, size or matrix here: {meant}give it in the problem ({there})"


def _explicit(line: Line, known: Known) -> Equation:
    """Return the equation with two or three indices for each matrix, and with heads by name."""
    own = line.equation
    with_heads = [
        name
        for name in own.reads
        if len(known.shapes.get(name, ())) == 3
        and name != own.name
        and any(len(x.at) < 3 for x in own.nodes if isinstance(x, Entry) and x.name == name)
    ]
    head = HEAD
    while head in own.indices:
        head += "_"
    heads = max((known.shapes[name][0] for name in with_heads), default=0)
    if with_heads and len(own.at) > 2:
        raise line.misuse(
            with_heads[0], f"{with_heads[0]} has heads: write its three indices (head, row, column)"
        )
    added = ("_0", "_1")[: max(0, 2 - len(own.at))]
    at, over = (*own.at, *added), (*own.over, *[ONE] * len(added))
    shapes = {**known.shapes, own.name: (*[2] * len(own.at), 1, 1)[: len(at)]}
    if with_heads:
        at, over = (head, *at), (Number(Fraction(heads)), *over)
        shapes[own.name] = (heads, *shapes[own.name])

    def put(x: Node) -> Node:
        match x:
            case Function(side, (Name(name),)) if side in SIDES:
                return ONE if side == "heads" and len(known.shapes[name]) < 3 else x
        x = rebuilt(x, put)
        match x:
            case Name(name) if name in shapes and name not in own.indices and name not in SIZES:
                return put(Entry(name, ()))
            case Entry(name, places):
                return Entry(name, _places(line, name, places, shapes[name], head, heads))
        return x

    right = put(own.right)
    return Equation(own.name, at, tuple(None if o is None else put(o) for o in over), right)


def _reading(line: Line, own: Equation, known: Known) -> Equation:
    """Return an equation that reads nothing with a side of some matrix for one of its sizes."""
    if {*own.reads} - {own.name}:
        return own
    try:
        runs = extents(own, {}, known.sizes)
    except ShapeError as error:
        raise _size_fault(line, own, error) from None
    for number, index in enumerate(own.at):
        for name, shape in known.shapes.items():
            for side, axis in SIDES.items():
                if len(shape) >= -axis and shape[axis] == runs[index]:
                    over = list(own.over)
                    over[number] = Function(side, (Name(name),))
                    return replace(own, over=tuple(over))
    raise line.fault("an equation reads a matrix, or runs over the side of one")


def _places(
    line: Line, name: str, places: tuple[Node, ...], shape: Shape, head: str, heads: int
) -> tuple[Node, ...]:
    """Return all places of an entry of a matrix of this shape."""
    *lead, rows, columns = shape
    inner = places
    if lead and len(places) == 3:
        return places
    if len(places) < 2:
        free = (rows > 1) + (columns > 1)
        if len(places) < free or (len(places) == 1 and free == 0 and not lead and rows != 1):
            raise line.misuse(
                name, f"{name} is {rows} × {columns}: it takes two indices, a row and a column"
            )
        if len(places) == 1:
            inner = (places[0], ZERO) if columns == 1 else (ZERO, places[0])
        else:
            inner = (ZERO, ZERO)
    if len(inner) != 2:
        raise line.misuse(name, f"{name} has {2 + len(lead)} indices, not {len(places)}")
    if not lead:
        return inner
    own: Node = Name(head)
    if lead[0] == 1:
        own = ZERO
    elif lead[0] != heads:  # fewer heads, each for several
        own = Operator("//", (own, Number(Fraction(heads // lead[0]))))
    return (own, *inner)


class _Checked:
    """An equation that is checked, with the sizes that it reads, and what its indices run over.

    line, own, known: the line, its explicit equation, and what it may read.
    """

    def __init__(self, line: Line, own: Equation, known: Known) -> None:
        self.line, self.own, self.known = line, own, known
        read = {name for each in own.group for name in names_in(*_all(each))}
        if missing := read & set(SIZES) - set(known.sizes):
            raise line.fault(f"the size {min(missing)} is unknown here")
        self.settings: dict[str, Setting] = {
            name: Fraction(size) for name, size in known.sizes.items() if name in read
        }
        self.runs = self._runs()
        self.numbers = self.settings | self.runs
        self.nodes = list(_nodes(own.right, ()))

    def _runs(self) -> dict[str, int]:
        """Return what each index runs over; refuse one that runs over nothing, or over too much."""
        line, own = self.line, self.own
        shapes = {name: shape for name, shape in self.known.shapes.items() if name != own.name}
        try:
            runs = extents(own, shapes, self.settings)
        except ShapeError as error:
            raise _size_fault(line, own, error) from None
        for index in own.indices & {*runs}:
            if runs[index] == 0:
                raise line.fault(f"{index} runs over nothing: its size is 0", line.size_of(index))
            if runs[index] > MOST_ENTRIES:
                most = f"at most {MOST_ENTRIES:,} are computed"
                raise line.fault(f"{index} runs over {runs[index]:,}: {most}", line.size_of(index))
        return runs

    def refuse_cost(self) -> None:
        """Refuse an equation that takes too long."""
        entries = prod(measure.shape(self.own, self.known.shapes, self.settings))
        operations = sum(measure.cost(self.own, self.known.shapes, self.settings))
        most = MOST_OF_PRODUCTS if is_of_products(self.own) else MOST_OPERATIONS
        if operations > most or entries > MOST_ENTRIES:
            raise self.line.fault(
                f"this takes {operations:,} operations for {entries:,} entries; at most "
                f"{most:,} and {MOST_ENTRIES:,} are computed"
            )

    def refuse_divisors(self) -> None:
        """Refuse // and % of other than whole numbers, and by 0."""
        entries = (x for x, _ in self.nodes if isinstance(x, Entry))
        of_places = {y for x in entries for each in x.at for y in walk(each)}
        for x, tests in self.nodes:
            if not (isinstance(x, Operator) and x.sign in ("//", "%")):
                continue
            looked_up = self._looked_up(x)
            if looked_up is None and x in of_places:
                continue  # checked when it is computed
            if looked_up is None or not self._is_whole(x):
                said = f"{source(x)}: {x.sign} takes indices, sizes and given whole numbers"
                raise self.line.fault(said, self.line.first(source(x)))
            if (self._reached(x.arguments[1], tests, looked_up) == 0).any():
                said = f"{source(x)} divides by 0"
                raise self.line.fault(said, self.line.first(source(x)))

    def refuse_places(self) -> None:
        """Refuse an index that runs over sides of different lengths, or beyond a matrix."""
        own = self.own
        shapes = {**self.known.shapes, own.name: tuple(self.runs[index] for index in own.at)}
        for entry, tests in self.nodes:
            if isinstance(entry, Entry):
                for axis, place in enumerate(entry.at):
                    if entry.name in {each.name for each in own.group}:
                        self._refuse_later(entry, axis, tests)
                    if fault := self._fault(place, shapes[entry.name][axis], axis, entry, tests):
                        raise self.line.misuse(entry.name, f"{source(entry)}: {fault}")

    def _fault(
        self, place: Node, side: int, axis: int, entry: Entry, tests: tuple[Node, ...]
    ) -> str:
        """Return why the place of an entry, at an axis with this side, is none; "" if it is one."""
        if not self._is_whole(place):
            return (
                f"{source(place)} may be no whole number; a place is made of "
                "indices, whole numbers and sizes with + - * // % abs min max"
            )
        looked_up = self._looked_up(place)
        if looked_up is None:
            return ""  # checked when it is computed
        sides = SIDE_OF_AXIS[axis - len(entry.at)]
        has = f"but {entry.name} has {side} {sides}"
        reached = self._reached(place, tests, looked_up)
        low, high = (int(reached.min()), int(reached.max())) if reached.size else (0, 0)
        size = self.own.sizes.get(place.name) if isinstance(place, Name) else None
        if isinstance(size, Name) and high + 1 < side and not tests:
            return f"{source(place)} runs to {size.name} = {high + 1}, {has}"
        if low >= 0 and high < side:
            return ""
        if isinstance(place, Name):
            return f"{source(place)} runs to {high + 1}, {has}"
        at = f"{sides.removesuffix('s')} {source(place)} is {low if low < 0 else high}"
        return f"{at} somewhere, counted from 0, {has}"

    def _refuse_later(self, entry: Entry, axis: int, tests: tuple[Node, ...]) -> None:
        """Refuse to read a row that is not computed yet; earlier rows it may read."""
        own, recurs, place = self.own, self.own.recurs, entry.at[axis]
        if recurs is None or recurs.is_backward:
            raise self.line.misuse(
                own.name,
                f"{own.name} reads itself: an equation may read its own earlier rows alone, as "
                f"{own.name}[t-1] if t > 0 else 0",
            )
        is_of_rows = axis == recurs.axes[entry.name]
        if is_of_rows and (entry.name == own.name or not recurs.is_of_same_row(own, entry)):
            ahead = Operator("-", (place, Name(own.at[recurs.axes[own.name]])))
            if (self._reached(ahead, tests, {}) >= 0).any():
                of = "its own row" if entry.name == own.name else f"{entry.name} in row"
                said = f"{own.name} reads {of} {source(place)}: earlier rows alone are known"
                raise self.line.misuse(entry.name, said)

    def _is_whole(self, place: Node) -> bool:
        """Return whether a place is a whole number for all whole numbers that it reads."""
        match place:
            case Number(value):
                return value % 1 == 0 and value <= MOST_ENTRIES
            case Name(name):
                return name in self.numbers and float(self.numbers[name]) % 1 == 0
            case Entry() | Function("rows" | "columns" | "heads"):
                return True
            case Function("abs" | "min" | "max", parts) | Operator(
                "neg" | "+" | "-" | "*" | "//" | "%", parts
            ):
                return all(map(self._is_whole, parts))
            case If(_, yes, no):
                return self._is_whole(yes) and self._is_whole(no)
        return False

    def _looked_up(self, place: Node) -> dict[str, Matrix] | None:
        """Return the given matrices that a place is read from, or None where one is computed."""
        names, given = {x.name for x in walk(place) if isinstance(x, Entry)}, self.known.given
        found = {name: np.asarray(given[name], dtype=float) for name in names & {*given}}
        for name, matrix in found.items():
            if (matrix % 1).any():
                said = f"{source(place)}: places are whole numbers, but {name} has other numbers"
                raise self.line.misuse(name, said)
        return found if len(found) == len(names) else None

    def _reached(self, place: Node, tests: Iterable[Node], given: Mapping[str, Matrix]) -> Matrix:
        """Return the values of a place where its conditions hold, or read a matrix."""
        indices = self.own.indices
        kept = [each for each in tests if not any(isinstance(y, Entry) for y in walk(each))]
        axes = tuple(sorted(indices & names_in(place, *kept)))
        frame, compiler = Frame(given, self.numbers), Compiler(indices)
        holds = [compiler.test(each, axes)(frame) for each in kept]
        values, where = np.broadcast_arrays(
            compiler.whole(place, axes)(frame), reduce(np.logical_and, holds, True)
        )
        return np.asarray(values[where])


def _nodes(x: Node, tests: tuple[Node, ...]) -> Iterator[tuple[Node, tuple[Node, ...]]]:
    """Yield each node, with the conditions under which it is read."""
    yield x, tests
    if isinstance(x, If):
        yield from _nodes(x.test, tests)
        yield from _nodes(x.then, (*tests, x.test))
        yield from _nodes(x.otherwise, (*tests, Operator("not", (x.test,))))
        return
    inside = (*tests, x.where) if isinstance(x, Aggregate) and x.where is not None else tests
    for part in parts(x):
        yield from _nodes(part, inside)


def local(own: Equation) -> Equation:
    """Return an equation with plain names for the matrices of parts, as self_Q for self.Q."""

    def plain(name: str) -> str:
        return spoken(name).replace(".", "_")

    def put(x: Node) -> Node:
        match x:
            case Entry(name, at):
                return Entry(plain(name), tuple(map(put, at)))
            case Function(side, (Name(name),)) if side in SIDES:
                return Function(side, (Name(plain(name)),))
        return rebuilt(x, put)

    over = tuple(None if size is None else put(size) for size in own.over)
    together = tuple(map(local, own.together))
    return replace(own, name=plain(own.name), over=over, right=put(own.right), together=together)


def as_line(
    equation: Equation,
    name: str,
    names: Mapping[str, str],
    shapes: Mapping[str, Shape],
    settings: Mapping[str, Setting],
) -> str:
    """Return an equation of the library as a user could write it.

    names: what the matrices that it reads are called, by their names in the equation.
    shapes: the shape of each matrix, by those names.
    settings: the numbers that it reads by name: they are written out.
    """
    own = {each: shapes[called] for each, called in names.items()}
    runs = extents(equation, own, settings)
    sides = _sides_of_indices(equation, own, names, runs)
    of_sizes = {
        size.name: index for index, size in equation.sizes.items() if isinstance(size, Name)
    }

    def sized(index: str) -> Node:
        return sides.get(index) or Number(Fraction(runs[index]))

    def put(x: Node) -> Node:
        match x:
            case Marked(body) | Remark(body):
                return put(body)
            case Operator("-", (a, Name(each))) if settings.get(each) == 0:
                return put(a)
            case Name(each) if each in settings:
                return Name(each) if each in SIZES else Number(Fraction(settings[each]))
            case Name(each) if each in of_sizes:
                return sized(of_sizes[each])
            case If(test, then, otherwise):
                made = put(then), put(otherwise)
                return made[1] if made[0] == made[1] else If(put(test), *made)
            case Function(side, (Name(matrix),)) if side in SIDES:
                return Function(side, (Name(names.get(matrix, matrix)),))
            case Entry(matrix, _):
                return Entry(names.get(matrix, matrix), tuple(map(put, _served(x, own, runs))))
            case Aggregate() | Row():
                inner = rebuilt(x, put)
                assert isinstance(inner, Aggregate | Row)
                return replace(inner, size=sized(x.index))
        return rebuilt(x, put)

    over = tuple(sized(index) for index in equation.at)
    made = replace(equation, name=name, over=over, right=put(equation.right), taught=())
    return equation_source(made)


def _sides_of_indices(
    equation: Equation,
    shapes: Mapping[str, Shape],
    names: Mapping[str, str],
    runs: Mapping[str, int],
) -> dict[str, Node]:
    """Return for each index a side of a matrix that it runs over, by the matrix's own name."""
    sides: dict[str, Node] = {}
    for x in equation.nodes:
        if not isinstance(x, Entry) or x.name not in shapes:
            continue
        for axis, place in enumerate(x.at, start=-len(x.at)):
            shape = shapes[x.name]
            if isinstance(place, Name) and len(shape) >= -axis and shape[axis] == runs[place.name]:
                sides.setdefault(place.name, Function(SIDE_OF_AXIS[axis], (Name(names[x.name]),)))
    rows = [x for x in equation.nodes if isinstance(x, Row) and isinstance(x.at, Name)]
    return {x.at.name: sides[x.index] for x in rows if x.index in sides} | sides  # type: ignore


def _served(x: Entry, shapes: Mapping[str, Shape], runs: Mapping[str, int]) -> tuple[Node, ...]:
    """Return the places of an entry; of a side of 1 that serves all places, its only one."""
    shape = shapes.get(x.name, ())
    return tuple(
        ZERO
        if isinstance(place, Name)
        and len(shape) >= -axis
        and shape[axis] == 1 != runs.get(place.name, 1)
        else place
        for axis, place in enumerate(x.at, start=-len(x.at))
    )
