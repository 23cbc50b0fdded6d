"""The tree of an equation: ten kinds of node, parsed from a line of text by `ast`; nothing is run.

    S[i in n, j in m] = sum(Q[i,c] * K[j,c] for c in d)
    A[i in n, j in m] = softmax(S[i,k] for k in m)[j]
    K_all[i in p + n, c in d] = past[i,c] if i < p else K[i - p,c]

`i in n` defines the range of an index. Two marks concern the written-out work alone and change no
value: `+x` is shown as a number in the second form, `why(x, "row {i + 1}")` adds a remark.
"""

import ast
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from attncalc.base.errors import InputError


class EquationError(InputError):
    """An equation that cannot be read or computed; the message shows the place with a caret."""

    def __init__(self, text: str, column: int | None = None, problem: str = "") -> None:
        # the message is reported again with the place in a file before it
        super().__init__(text if column is None else f"{problem}\n  {text}\n  {' ' * column}^")


@dataclass(frozen=True)
class Number:
    """A rational number, or infinity (a float)."""

    value: Fraction | float


@dataclass(frozen=True)
class Name:
    """An index, a size or a setting."""

    name: str


@dataclass(frozen=True)
class Entry:
    """An entry of a matrix: `K[h // g, j, c]`."""

    name: str
    at: "tuple[Node, ...]"


@dataclass(frozen=True)
class Operator:
    """`+ - * / ** // %`, `neg`, the comparisons, `and`, `or` and `not`."""

    sign: str
    arguments: "tuple[Node, ...]"


@dataclass(frozen=True)
class Function:
    """A function of numbers: exp, sqrt, tanh, max, ..."""

    name: str
    arguments: "tuple[Node, ...]"


@dataclass(frozen=True)
class Aggregate:
    """The sum or the maximum of a body over an index, where a condition holds."""

    kind: str
    body: "Node"
    index: str
    size: "Node"
    where: "Node | None" = None


@dataclass(frozen=True)
class Row:
    """One entry of a row computed from another row: `softmax(S[i,k] for k in m)[j]`.

    `beside` are numbers that join the row but have no place in the result, as attention sinks do.
    """

    kind: str
    body: "Node"
    index: str
    size: "Node"
    beside: "tuple[Node, ...]"
    at: "Node"


@dataclass(frozen=True)
class If:
    """One value where a condition holds, another elsewhere."""

    test: "Node"
    then: "Node"
    otherwise: "Node"


@dataclass(frozen=True)
class Marked:
    """A value that the second form of the work shows as a number: `+x`."""

    body: "Node"


@dataclass(frozen=True)
class Remark:
    """A value with a remark of text and computed numbers: `why(x, "row {i + 1}")`.

    `why(x, "...", i > 0)` adds it where a condition holds.
    """

    body: "Node"
    words: "tuple[str | Node, ...]"
    where: "Node | None" = None


Node = (
    Number | Name | Entry | Operator | Function | Aggregate | Row | If | Marked | Remark
)  # each interpretation has one case for each


@dataclass(frozen=True, eq=False)  # compared and hashed by identity: what is derived is kept by it
class Equation:
    """A named matrix, the indices of its entries, and the expression of one entry.

    name: the matrix on the left-hand side.
    at, over: its indices, and what each runs over (None: found from the matrices that it indexes).
    taught: forms of the same value that the written-out work shows before `right`.
    together: of a mutual recurrence, the other equations: row by row, all are computed together.
    """

    name: str
    at: tuple[str, ...]
    over: "tuple[Node | None, ...]"
    right: Node
    taught: tuple[Node, ...] = ()
    together: "tuple[Equation, ...]" = ()

    @property
    def group(self) -> "tuple[Equation, ...]":
        """The equation, and those that are computed together with it."""
        return self, *self.together

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes of the right-hand side, each before its parts."""
        return tuple(walk(self.right))

    @cached_property
    def reads(self) -> tuple[str, ...]:
        """The matrices that it reads, or whose sides it asks for, in the order of the text."""
        found = [x.name for x in self.nodes if isinstance(x, Entry)]
        sides = (y for size in (*self.over, self.right) if size is not None for y in walk(size))
        found += [x.arguments[0].name for x in sides if is_side(x)]  # type: ignore[union-attr]
        found += [name for each in self.together for name in each.reads]
        return tuple(dict.fromkeys(found))

    @cached_property
    def sizes(self) -> "dict[str, Node | None]":
        """What each index runs over, those of sums included."""
        shown = (x for form in self.taught for x in walk(form))
        bound = {x.index: x.size for x in (*shown, *self.nodes) if isinstance(x, Aggregate | Row)}
        return bound | dict(zip(self.at, self.over, strict=True))

    @cached_property
    def indices(self) -> frozenset[str]:
        """All indices: those of the result and those that sums and rows bind."""
        return frozenset(self.sizes).union(*(each.indices for each in self.together))

    @cached_property
    def recurs(self) -> "Recurrence | None":
        """How it reads earlier rows of its own, or of those computed together with it."""
        return recurrence_of(self.group)

    @property
    def recurring(self) -> tuple[str, ...]:
        """The names of the equations that are computed row by row, its own first."""
        return tuple(each.name for each in self.group) if self.recurs is not None else ()


class Recurrence(NamedTuple):
    """Equations that read earlier rows of one another.

    axes: by the name of each, the axis of its rows.
    is_backward: whether the rows are computed from the last one back.
    order: the equations in the order in which they are computed within a row; those that read the
        same row of one another in a circle are left out.
    """

    axes: "dict[str, int]"
    is_backward: bool
    order: tuple[Equation, ...]

    def is_of_same_row(self, equation: Equation, entry: "Entry") -> bool:
        """Return whether an equation reads an entry of the row that is being computed."""
        index = equation.at[self.axes[equation.name]]
        return entry.at[self.axes[entry.name]] == Name(index)


def recurrence_of(group: Sequence[Equation]) -> Recurrence | None:
    """Return how equations read earlier rows of one another; None where none does."""
    names = {each.name for each in group}
    reads = [
        (each, x) for each in group for x in each.nodes if isinstance(x, Entry) and x.name in names
    ]
    axes: dict[str, int] = {}
    for each, x in reads:
        for axis, place in enumerate(x.at):
            match place:
                case Operator("+" | "-", (Name(index), _)) if not axes and index in each.at:
                    own = each.at.index(index)
                    if x.name != each.name or own == axis:
                        axes = {each.name: own, x.name: axis}
    if not axes:
        return None
    for _ in group:  # the same index, read elsewhere, is that of the rows there
        for each, x in reads:
            if each.name in axes:
                index = each.at[axes[each.name]]
                for axis, place in enumerate(x.at):
                    if index in names_in(place):
                        axes.setdefault(x.name, axis)
            elif x.name in axes:
                for axis, index in enumerate(each.at):
                    if index in names_in(x.at[axes[x.name]]):
                        axes.setdefault(each.name, axis)
    places = [x.at[axes[x.name]] for _, x in reads if x.name in axes]
    is_backward = not any(isinstance(x, Operator) and x.sign == "-" for x in places)
    made = Recurrence(axes, is_backward, ())
    before = {
        each.name: {x.name for by, x in reads if by is each and made.is_of_same_row(each, x)}
        for each in group
        if len(axes) == len(group)
    }
    order: list[Equation] = []
    for _ in group:
        done = {each.name for each in order}
        order += [each for each in group if each.name not in done and before[each.name] <= done][:1]
    return made._replace(order=tuple(order))


ZERO, ONE, TWO = (Number(Fraction(value)) for value in range(3))
INFINITY = Number(float("inf"))

_SIGNS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**", ast.FloorDiv: "//",
    ast.Mod: "%", ast.Lt: "<", ast.LtE: "<=", ast.Eq: "==", ast.NotEq: "!=", ast.Gt: ">",
    ast.GtE: ">=", ast.UAdd: "mark", ast.USub: "neg", ast.Not: "not", ast.And: "and", ast.Or: "or",
}  # fmt: skip
COMPARISONS = {"<", "<=", "==", "!=", ">", ">="}
_LAYER = re.compile(r"^L(\d+)(?=\.|$)")
ROWS = {"softmax", "hardmax", "share"}
AGGREGATES = {"sum", "max"}
FUNCTIONS = {
    "exp": 1, "log": 1, "sqrt": 1, "abs": 1, "tanh": 1, "sin": 1, "cos": 1, "erf": 1, "max": 2,
    "min": 2, "sigmoid": 1, "relu": 1, "gelu": 1, "silu": 1, "Phi": 1, "phi": 1, "dgelu": 1,
    "rows": 1, "columns": 1, "heads": 1,
}  # fmt: skip
"""The functions, and how many arguments each has."""
SIDES = {"rows": -2, "columns": -1, "heads": -3}
"""The functions that are sizes of a matrix, named without places: rows(X)."""
SIDE_OF_AXIS = {axis: side for side, axis in SIDES.items()}
_PRECEDENCE = {"+": 1, "-": 1, "neg": 1, "*": 2, "/": 2, "//": 2, "%": 2, "**": 4}


BESIDE = "\n"
"""What separates equations that are computed together."""
EXAMPLE = "S[i,j] = sum(Q[i,c] * K[j,c] for c in d_k) / sqrt(d_k)"
NO_EQUATION = f"this is not an equation; an example is {EXAMPLE}"
MOST_DEPTH = 80
"""How deep the expressions of a line may be within one another."""
LARGEST_EXPONENT = 1_000
"""The largest power of ten of a number."""


def parse(text: str, given: Iterable[str] | None = ()) -> Equation:
    """Return the equation of a line of text.

    Raises EquationError if it is no equation, or uses something that equations do not have.

    text: `O[i in n, c in w] = sum(A[i,j] * V[j,c] for j in m)`. Parts in braces depend on what is
        given: `{b| + b[0,c]}` is kept where `b` is, `{!b|...}` where it is not.
    given: the names that these parts ask for; None for a line without such parts.
    """
    own, *others = text.split(BESIDE) if given is None else [text]
    if others:
        return replace(parse(own, None), together=tuple(parse(each, None) for each in others))
    line = " ".join((text if given is None else chosen(text, frozenset(given))).split())
    try:
        module = ast.parse(line)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        column = (getattr(error, "offset", None) or 1) - 1
        raise EquationError(line, min(column, len(line)), NO_EQUATION) from None
    level: list[ast.AST] = [module]
    for _ in range(MOST_DEPTH):
        level = [each for node in level for each in ast.iter_child_nodes(node)]
    if level:
        raise EquationError(line, 0, f"an equation is at most {MOST_DEPTH} levels deep")
    return _Parser(line).equation(module.body)


def read(text: str) -> Node:
    """Return the tree of an expression, as those in the words of a remark are."""
    return _Parser(text).tree(ast.parse(text, mode="eval").body)


def chosen(text: str, given: frozenset[str]) -> str:
    """Return a text with its parts in braces kept or dropped, innermost first."""
    before = ""
    while before != text:
        before = text
        text = re.sub(
            r"\{(!?)(\w+)\|((?:[^{}]|\{[^{}|]*\})*)\}",  # numbers of a remark are in braces, too
            lambda found: found[3] if (found[2] in given) != bool(found[1]) else "",
            text,
        )
    return text


class _Parser:
    """Builds the tree of one line, and refuses with the place where it cannot."""

    def __init__(self, line: str) -> None:
        self.line = line
        self.at: list[str] = []

    def refused(self, node: ast.AST, problem: str) -> EquationError:
        return EquationError(self.line, column_of(self.line, node), problem)

    def equation(self, body: list[ast.stmt]) -> Equation:
        match body:
            case [
                ast.Assign(
                    targets=[ast.Subscript(value=ast.Name() | ast.Attribute() as matrix) as left],
                    value=right,
                )
            ]:
                name, indices = dotted(matrix), _listed(left.slice)
            case [ast.Assign(targets=[ast.Name() | ast.Attribute() as matrix], value=right)]:
                name, indices = dotted(matrix), []
            case [first, *_]:
                raise self.refused(first, "write one equation a line, as S[i,j] = ...")
            case _:
                raise EquationError(self.line, 0, "write one equation a line, as S[i,j] = ...")
        at, over = self.at, list[Node | None]()
        for index in indices:
            match index:
                case ast.Name(id=each):
                    over.append(None)
                case ast.Compare(left=ast.Name(id=each), ops=[ast.In()], comparators=[size]):
                    over.append(self.tree(size))
                case _:
                    raise self.refused(index, "an index on the left is a name, as i, or i in n")
            if each in at:
                raise self.refused(index, f"the index {each} is used twice on the left")
            at.append(each)
        forms = [right]  # of `first == second`, the last is computed, and those before are shown
        if isinstance(right, ast.Compare) and all(isinstance(op, ast.Eq) for op in right.ops):
            forms = [right.left, *right.comparators]
        seen = dict(zip(at, over, strict=True))
        *taught, computed = (unique(self.tree(form), dict(seen)) for form in forms)
        return Equation(name, tuple(at), tuple(over), computed, tuple(taught))

    def tree(self, node: ast.AST) -> Node:
        match node:
            case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
                return self._number(node, value)
            case ast.Name(id="inf"):
                return INFINITY
            case ast.Name() | ast.Attribute() if name := dotted(node):
                return Name(name)
            case ast.UnaryOp(op=op, operand=operand) if type(op) in _SIGNS:
                inner, sign = self.tree(operand), _SIGNS[type(op)]
                return Marked(inner) if sign == "mark" else Operator(sign, (inner,))
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _SIGNS:
                return Operator(_SIGNS[type(op)], (self.tree(left), self.tree(right)))
            case ast.BoolOp(op=op, values=values):
                return Operator(_SIGNS[type(op)], tuple(map(self.tree, values)))
            case ast.Compare(left=left, ops=ops, comparators=others):
                return self._comparison(node, [left, *others], ops)
            case ast.IfExp(test=test, body=then, orelse=otherwise):
                return If(self.tree(test), self.tree(then), self.tree(otherwise))
            case ast.Subscript(value=ast.Name() | ast.Attribute() as matrix, slice=places) if (
                name := dotted(matrix)
            ):
                return Entry(name, tuple(map(self.tree, _listed(places))))
            case ast.Subscript(value=ast.Call(func=ast.Name(id=kind)) as call, slice=place):
                return self._row(kind, call, place)
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
                return self._call(node, name, arguments)
            case ast.BinOp(op=ast.MatMult()) | ast.Attribute(attr="T"):
                raise self.refused(node, f"a product of matrices is a sum of entries: {EXAMPLE}")
        raise self.refused(node, "equations have no such expression")

    def _number(self, node: ast.Constant, value: float) -> Number:
        # one line, in bytes: ast.get_source_segment splits the line again for each number
        text = self.line.encode()[node.col_offset : node.end_col_offset].decode()
        power = re.search(r"[eE]([+-]?[0-9_]+)$", text)
        if power and abs(int(power[1])) > LARGEST_EXPONENT:
            raise self.refused(node, f"numbers go up to a power of ten of {LARGEST_EXPONENT:,}")
        return Number(Fraction(int(text, 0)) if isinstance(value, int) else Fraction(text))

    def _comparison(self, node: ast.AST, ends: list[ast.expr], ops: list[ast.cmpop]) -> Node:
        if not all(type(op) in _SIGNS for op in ops):
            raise self.refused(node, "conditions compare with <, <=, ==, !=, > and >=")
        sides = list(map(self.tree, ends))
        pairs = zip(ops, itertools.pairwise(sides), strict=True)
        tests = tuple(Operator(_SIGNS[type(op)], pair) for op, pair in pairs)
        return tests[0] if len(tests) == 1 else Operator("and", tests)

    def _row(self, kind: str, call: ast.Call, place: ast.expr) -> Node:
        match call.args:
            case [ast.GeneratorExp(generators=[_]) as row, *beside] if kind in ROWS:
                made = self._aggregate(kind, row)
                if made.where is None:
                    others = tuple(map(self.tree, beside))
                    return Row(kind, made.body, made.index, made.size, others, self.tree(place))
        raise self.refused(
            call, f"a row is written as softmax(S[i,k] for k in m)[j], not {kind}(...)[...]"
        )

    def _call(self, node: ast.AST, name: str, arguments: list[ast.expr]) -> Node:
        match name, arguments:
            case _, [ast.GeneratorExp() as row] if name in AGGREGATES:
                return self._aggregate(name, row)
            case "min", [ast.GeneratorExp() as row]:
                largest = self._aggregate("max", row)
                body = Operator("neg", (largest.body,))
                return Operator("neg", (replace(largest, body=body),))
            case _, [ast.GeneratorExp() as row, *_] if name in ROWS:
                index = row.generators[0].target
                if isinstance(index, ast.Name) and index.id in self.at:
                    assert isinstance(node, ast.Call)
                    return self._row(name, node, index)
                raise self.refused(node, f"choose an entry of the row: {name}(... for k in m)[j]")
            case "why", [value, ast.Constant(value=str() as words), *where] if len(where) < 2:
                parts = re.split(r"\{([^{}]*)\}", words)
                return Remark(
                    self.tree(value),
                    tuple(
                        read(part) if odd % 2 else part for odd, part in enumerate(parts) if part
                    ),
                    self.tree(where[0]) if where else None,
                )
        if name not in FUNCTIONS:
            known = ", ".join(sorted({*FUNCTIONS, *AGGREGATES, *ROWS}))
            raise self.refused(node, f"{name} is not a function of equations; these are: {known}")
        if len(arguments) != FUNCTIONS[name]:
            count = FUNCTIONS[name]
            raise self.refused(node, f"{name} takes {count} argument{'s' * (count > 1)}")
        return Function(name, tuple(map(self.tree, arguments)))

    def _aggregate(self, kind: str, row: ast.GeneratorExp) -> Aggregate:
        """Return the sum of a generator; `for i in n for j in m` is a sum of sums."""
        made = self.tree(row.elt)
        for loop in reversed(row.generators):
            match loop:
                case ast.comprehension(target=ast.Name(id=index), iter=size, ifs=ifs) if (
                    len(ifs) < 2
                ):
                    where = self.tree(ifs[0]) if ifs else None
                    made = Aggregate(kind, made, index, self.tree(size), where)
                case _:
                    raise self.refused(loop.target, "write a sum as sum(... for j in m)")
        assert isinstance(made, Aggregate)
        return made


def column_of(line: str, node: ast.AST) -> int:
    """Return the column of a node in characters: `ast` counts bytes."""
    return len(line.encode()[: getattr(node, "col_offset", 0)].decode(errors="ignore"))


def dotted(node: ast.AST) -> str:
    """Return the name of a matrix of a part, as self.Q or L1.W_Q for 1.W_Q; "" for other names.

    >>> dotted(ast.parse("L1.self.Q", mode="eval").body)
    '1.self.Q'
    """
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id=part) | ast.Attribute(value=ast.Name(id=part))):
            if part == "self" or part == "cross" or _LAYER.fullmatch(part):
                return _LAYER.sub(r"\1", ast.unparse(node), count=1)
    return ""


def spoken(name: str) -> str:
    """Return a name as an equation writes it: L1.W_Q for 1.W_Q."""
    return f"L{name}" if name[:1].isdigit() else name


def _listed(node: ast.expr) -> list[ast.expr]:
    return list(node.elts) if isinstance(node, ast.Tuple) else [node]


def is_side(x: Node) -> bool:
    """Return whether a node is a side of a matrix: rows(X), columns(X) or heads(X)."""
    return isinstance(x, Function) and x.name in SIDES and isinstance(x.arguments[0], Name)


def parts(x: Node) -> tuple[Node, ...]:
    """Return the nodes directly below a node."""
    match x:
        case Entry(_, inner) | Operator(_, inner) | Function(_, inner):
            return inner
        case Aggregate(_, body, _, size, where):
            return (body, size) if where is None else (body, size, where)
        case Row(_, body, _, size, beside, at):
            return (body, size, *beside, at)
        case If(test, then, otherwise):
            return (test, then, otherwise)
        case Marked(body) | Remark(body, _):
            return (body,)
    return ()


def walk(x: Node) -> Iterator[Node]:
    """Yield a node and all below it."""
    yield x
    for part in parts(x):
        yield from walk(part)


def names_in(*trees: Node | None) -> set[str]:
    """Return the indices, sizes and settings that trees mention."""
    return {y.name for x in trees if x is not None for y in walk(x) if isinstance(y, Name)}


def rebuilt(x: Node, change: Callable[[Node], Node]) -> Node:
    """Return a node with each node directly below it changed."""
    match x:
        case Entry(name, inner) | Operator(name, inner) | Function(name, inner):
            return type(x)(name, tuple(map(change, inner)))
        case If(test, then, otherwise):
            return If(change(test), change(then), change(otherwise))
        case Marked(body):
            return Marked(change(body))
        case Remark(body, words, where):
            changed = tuple(w if isinstance(w, str) else change(w) for w in words)
            return Remark(change(body), changed, None if where is None else change(where))
        case Aggregate(kind, body, index, size, where):
            held = None if where is None else change(where)
            return Aggregate(kind, change(body), index, change(size), held)
        case Row(kind, body, index, size, beside, at):
            others = tuple(map(change, beside))
            return Row(kind, change(body), index, change(size), others, change(at))
    return x


def replaced(x: Node, by: Mapping[str, Node]) -> Node:
    """Return a tree with names replaced by trees; what a sum binds keeps its meaning."""
    if not by:
        return x
    if isinstance(x, Name):
        return by.get(x.name, x)
    if isinstance(x, Aggregate | Row):
        index = x.index
        used = names_in(*(tree for name, tree in by.items() if name != index))
        while index in used:
            index += "_"
        x = renamed(x, index)
        inner = {name: tree for name, tree in by.items() if name != x.index}
        outside = (x.size, *x.beside, x.at) if isinstance(x, Row) else (x.size,)
        return rebuilt(x, lambda y: replaced(y, by if any(y is z for z in outside) else inner))
    return rebuilt(x, lambda y: replaced(y, by))


def renamed(x: Aggregate | Row, index: str) -> Aggregate | Row:
    """Return a sum or a row with another name for its index."""
    if index == x.index:
        return x
    to = {x.index: Name(index)}
    if isinstance(x, Row):
        return replace(x, body=replaced(x.body, to), index=index)
    held = None if x.where is None else replaced(x.where, to)
    return replace(x, body=replaced(x.body, to), index=index, where=held)


def unique(x: Node, seen: "dict[str, Node | None]") -> Node:
    """Return a tree in which one index name runs over one size alone.

    x: the tree; of `sum(... for a in p) + sum(... for a in q)` the second `a` is renamed.
    seen: the indices met so far, and what each runs over; grows.
    """
    if isinstance(x, Aggregate | Row):
        index = x.index
        while index in seen and seen[index] != x.size:
            index += "1"
        seen[index] = x.size
        x = renamed(x, index)
    return rebuilt(x, lambda y: unique(y, seen))


def source(x: Node, level: int = 0) -> str:
    """Return the text that a tree can be parsed from."""

    def put(text: str, own: int) -> str:
        return f"({text})" if level > own else text

    match x:
        case Number(value) if value == float("inf"):
            return "inf"
        case Number(value):
            text = str(value)
            return put(text, 2) if "/" in text else text
        case Name(name):
            return spoken(name)
        case Entry(name, at):
            return f"{spoken(name)}[{','.join(map(source, at))}]"
        case Operator("neg", (a,)):
            return put(f"-{source(a, 3)}", 1)
        case Operator("not", (a,)):
            return put(f"not {source(a, 1)}", 0)
        case Operator("and" | "or" as sign, arguments):
            return put(f" {sign} ".join(source(a, 1) for a in arguments), 0)
        case Operator("**", (a, b)):
            return put(f"{source(a, 5)} ** {source(b, 4)}", 4)
        case Operator(sign, (a, b)):
            own = _PRECEDENCE.get(sign, 0)
            return put(f"{source(a, own or 1)} {sign} {source(b, own + 1)}", own)
        case Function(name, arguments):
            return f"{name}({', '.join(map(source, arguments))})"
        case Aggregate(kind, body, index, size, where):
            condition = "" if where is None else f" if {source(where)}"
            return f"{kind}({source(body)} for {index} in {source(size, 1)}{condition})"
        case Row(kind, body, index, size, beside, at):
            row = f"{source(body)} for {index} in {source(size, 1)}"
            others = "".join(f", {source(y)}" for y in beside)
            return f"{kind}({f'({row})' if beside else row}{others})[{source(at)}]"
        case If(test, then, otherwise):
            holds = source(test, int(isinstance(test, If)))
            text = f"{source(then, 1)} if {holds} else {source(otherwise)}"
            return f"({text})" if level else text
        case Marked(body):
            return put(f"+{source(body, 3)}", 3)
        case Remark(body, words, where):
            text = "".join(w if isinstance(w, str) else "{" + source(w) + "}" for w in words)
            holds = "" if where is None else f", {source(where)}"
            return f'why({source(body)}, "{text}"{holds})'
    raise TypeError(x)


def equation_source(equation: Equation) -> str:
    """Return the line that an equation can be parsed from."""
    places = (
        index if size is None else f"{index} in {source(size)}"
        for index, size in zip(equation.at, equation.over, strict=True)
    )
    forms = " == ".join(source(form, 1) for form in (*equation.taught, equation.right))
    right = forms if equation.taught else source(equation.right)
    line = f"{spoken(equation.name)}[{', '.join(places)}] = {right}"
    return BESIDE.join([line, *map(equation_source, equation.together)])
