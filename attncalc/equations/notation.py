"""Matrix notation of an equation: sum(Q[i,c] * K[j,c] for c in d) is Q Kᵀ.

It is derived from the tree, or, if matrices have a special notation (rope(Q), [K; V]), stated after
`~` in the library, as a Python expression of matrices: `@` is a product of matrices, `*` is ⊙, `//`
writes factors side by side, `%` writes · between them, `[a, b]` stacks, `"words"(X)` is a function
of any name, `x if "words" else y` applies if each of the words does.
"""

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from attncalc.equations import expressions as document
from attncalc.equations.algebra import factors, joined
from attncalc.equations.expressions import (
    COLUMN_SUM,
    ENTRYWISE,
    ROW_SUM,
    Expression,
    Symbol,
    given,
    whole,
)
from attncalc.equations.extents import Setting
from attncalc.equations.extents import whole as whole_of
from attncalc.equations.tree import (
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
    names_in,
    read,
    replaced,
    source,
    walk,
)
from attncalc.equations.writing import TITLES

SYMBOLS = {"eps": "ε", "pi": "π", "d": "d", "d_k": "d_k"}
"""Numbers written by name."""
OVER_HEADS = "Σ_heads"


class NotMatricesError(EquationError):
    """An equation without a matrix notation."""


def formula(
    equation: Equation,
    operands: Mapping[str, Expression],
    settings: Mapping[str, Setting] | None = None,
    notation: str = "",
    *,
    is_turned: bool = False,
) -> Expression:
    """Return the right-hand side of an equation in matrix notation, or by its entry without one.

    operands: the notation of its inputs.
    notation: its notation in the library, or "".
    is_turned: whether a stated product of matrices is reversed, with both transposed.
    """
    if notation:
        tree = ast.parse(notation.strip(), mode="eval").body
        made = _Stated(operands, settings or {}).form(tree)
        if is_turned and isinstance(made, document.Product) and made.is_ordered:
            left, right = map(_transposed, made.factors)
            made = document.Product((right, left), made.sign, is_ordered=True)
        return made
    row, column = (None, None, *equation.at)[-2:]
    try:
        return _Derived(operands, settings or {}).form(equation.right, row, column)
    except NotMatricesError:
        return by_entry(equation, operands)


def by_entry(equation: Equation, operands: Mapping[str, Expression]) -> Expression:
    """Return the right-hand side of an equation as stated, entry by entry."""
    at = tuple(index for index in equation.at if not index.startswith("_"))
    written = _ByEntry(operands, {}).form(equation.right, None, None)
    return document.Entrywise(written, at) if at else written


@dataclass(frozen=True)
class _Notation:
    operands: Mapping[str, Expression]
    settings: Mapping[str, Setting]

    def number(self, name: str) -> Expression:
        """Return a size or a setting as written."""
        if name in SYMBOLS or name not in self.settings:
            return Symbol(SYMBOLS.get(name, name))
        return given(Fraction(self.settings[name]))


class _Derived(_Notation):
    """Derives the notation from a tree: the matrices whose entries at (row, column) it contains."""

    def form(self, x: Node, row: str | None, column: str | None) -> Expression:
        def form(y: Node) -> Expression:
            return self.form(y, row, column)

        match x:
            case Marked(body) | Remark(body):
                return form(body)
            case Number(Fraction() as value):
                return given(value)
            case Name(name):
                return self.number(name)
            case Entry():
                return self._matrix(x, row, column)
            case Operator("/", (Aggregate("sum", body, index, size, None), under)) if under == size:
                return document.Call("mean", self.form(body, *_axes(body, index, row, column)))
            case Operator("/", (a, b)):
                return document.Quotient(form(a), form(b))
            case Operator("**", (a, b)):
                return document.Power(form(a), form(b))
            case Operator("neg", (a,)):
                return document.Negative(form(a))
            case Operator("+" | "-" as sign, (a, b)):
                last = document.Negative(form(b)) if sign == "-" else form(b)
                is_sum = isinstance(a, Operator) and a.sign in ("+", "-")
                first = form(a)
                terms = first.terms if is_sum and isinstance(first, document.Sum) else (first,)
                return document.Sum((*terms, last))
            case Operator("*", _):
                return self._entrywise(factors(x), form)
            case Function("sqrt", (a,)):
                return document.Root(form(a))
            case Function(name, (a,)):
                return document.Call(TITLES.get(name, name), form(a))
            case Aggregate("sum"):
                return self._sum(x, row, column)
            case Row(kind, body, index, _, (), Name(at)) if at == column:
                return document.Call(kind, self.form(body, row, index))
        raise NotMatricesError(source(x), 0, "this has no matrix notation")

    def _matrix(self, x: Entry, row: str | None, column: str | None) -> Expression:
        """Return the matrix of an entry, transposed if its places are."""
        own = self.operands.get(x.name, Symbol(x.name))
        ends = tuple(each.name if isinstance(each, Name) else each for each in x.at[-2:])
        if len(ends) == 2 and ends[0] in (row, ZERO) and ends[1] in (column, ZERO):
            return own
        if len(ends) == 2 and ends[0] in (column, ZERO) and ends[1] in (row, ZERO):
            return _transposed(own)
        raise NotMatricesError(source(x), 0, "this is not an entry of a whole matrix")

    def _entrywise(self, factors: list[Node], form: Callable[[Node], Expression]) -> Expression:
        """Return an entrywise product: 2 X side by side, X × 2, and ⊙ between matrices."""
        made: list[Expression] = []
        before: list[Expression] = []
        for each in factors:
            if not any(isinstance(y, Entry) for y in walk(each)):
                before.append(form(each))
            else:
                beside = (*before, form(each))
                made.append(document.Product(beside, "") if before else beside[0])
                before = []
        product = made[0] if len(made) == 1 else document.Product(tuple(made), ENTRYWISE)
        return document.Product((product, *before), "×") if before else product

    def _sum(self, x: Aggregate, row: str | None, column: str | None) -> Expression:
        """Return a product of matrices, or the sum of rows, of columns, of heads, or of all."""
        match x.body:
            case Operator("*", _) as product:
                *before, last = factors(product)
                left = joined("*", before)
                for one, other in ((left, last), (last, left)):
                    if _goes_over(one, row, x.index, column) and _goes_over(
                        other, x.index, column, row
                    ):
                        pair = self.form(one, row, x.index), self.form(other, x.index, column)
                        return document.Product(pair, "", is_ordered=True)
            case Aggregate("sum") as inner if not {row, column} & _free(inner):
                while isinstance(inner.body, Aggregate):
                    x, inner = inner, inner.body
                return document.Call("sum", self.form(inner.body, x.index, inner.index))
        places = _places(x.body, x.index)
        name = {-1: ROW_SUM, -2: COLUMN_SUM}.get(max(places, default=-3), OVER_HEADS)
        return document.Call(name, self.form(x.body, *_axes(x.body, x.index, row, column)))


class _ByEntry(_Derived):
    """Writes a tree unchanged, with its indices."""

    def form(self, x: Node, row: str | None, column: str | None) -> Expression:
        def form(y: Node) -> Expression:
            return self.form(y, row, column)

        match x:
            case Number(value) if not isinstance(value, Fraction):
                return Symbol("∞")
            case Operator("neg", (Number(value),)) if not isinstance(value, Fraction):
                return document.MINUS_INFINITY
            case Operator("neg", (Aggregate("max", Operator("neg", (body,))) as least,)):
                return self._over("min", replace(least, body=body))
            case Name(name):
                return Symbol(SYMBOLS.get(name, name))
            case Operator("*", _):
                return document.Product(tuple(map(form, factors(x))), "·")
            case Operator("%", (a, b)):
                return document.Product((form(a), form(b)), "mod")
            case Operator("//", (a, b)):
                return document.Call("floor", document.Quotient(form(a), form(b)))
            case Operator("/", (a, b)):
                return document.Quotient(form(a), form(b))
            case Function(side, (Name(name),)) if side in SIDES:
                return document.Call(side, self.operands.get(name, Symbol(name)))
            case Function(name, (a, b)):
                return document.Call(name, document.Product((form(a), form(b)), ","))
            case Aggregate(kind):
                return self._over({"sum": "Σ"}.get(kind, kind), x)
            case Row(kind, body, index, size, beside, at):
                own = replaced(body, {index: at}) if isinstance(at, Name) else body
                under = at.name if isinstance(at, Name) else index
                parts = (form(own), *map(form, beside))
                inner = document.Product(parts, ",") if beside else parts[0]
                return document.Over(kind, under, source(size), inner)
            case If(test, then, otherwise):
                return document.Where(form(then), _in_words(test), form(otherwise))
            case Operator(sign, _) if sign not in ("+", "-", "**", "neg"):
                return Symbol(_in_words(x))
        return super().form(x, row, column)

    def _over(self, function: str, x: Aggregate) -> Expression:
        condition = "" if x.where is None else _in_words(x.where)
        body = self.form(x.body, None, None)
        return document.Over(function, x.index, source(x.size), body, condition)

    def _matrix(self, x: Entry, row: str | None, column: str | None) -> Expression:
        own = self.operands.get(x.name, Symbol(x.name))
        places = tuple(map(source, x.at))
        while isinstance(own, document.Transposed):
            own, places = own.matrix, (*places[:-2], *places[:-3:-1])
        name = own.name if isinstance(own, Symbol) else x.name
        return document.Indexed(name, places) if places else Symbol(name)


_SIGNS = {"<=": "≤", ">=": "≥", "!=": "≠", "==": "="}


def _in_words(x: Node) -> str:
    text = source(x)
    for sign, said in _SIGNS.items():
        text = text.replace(sign, said)
    return text


def _places(x: Node, index: str) -> set[int]:
    """Return the places of entries with an index, from the end: -1 is the column."""
    return {
        place - len(y.at)
        for y in walk(x)
        if isinstance(y, Entry)
        for place, each in enumerate(y.at)
        if index in names_in(each)
    }


def _axes(
    x: Node, index: str, row: str | None, column: str | None
) -> tuple[str | None, str | None]:
    """Return the indices for the rows and columns of a summed matrix."""
    place = max(_places(x, index), default=-3)
    return (row, index) if place == -1 else (index, column) if place == -2 else (row, column)


def _free(x: Node) -> set[str]:
    return {name for y in walk(x) if isinstance(y, Entry) for name in names_in(*y.at)}


def _goes_over(x: Node, one: str | None, other: str | None, missing: str | None) -> bool:
    free = _free(x)
    return one in free and other in free and missing not in free


def _transposed(matrix: Expression) -> Expression:
    return matrix.matrix if isinstance(matrix, document.Transposed) else document.Transposed(matrix)


class _Stated(_Notation):
    """Reads the notation in the library."""

    def form(self, x: ast.AST) -> Expression:
        match x:
            case ast.Name("inf"):
                return document.Symbol("∞")
            case ast.Name(name):
                return self.operands[name] if name in self.operands else self.number(name)
            case ast.Constant(int() as value):
                return whole(value)
            case ast.Constant(value):
                return Symbol(str(value))
            case ast.Attribute(matrix, "T"):
                return _transposed(self.form(matrix))
            case ast.Attribute(matrix, "stored"):
                stored = self.form(matrix)
                return stored.matrix if isinstance(stored, document.Transposed) else stored
            case ast.List(matrices):
                return document.Stacked(tuple(map(self.form, matrices)))
            case ast.Call(ast.Name("sqrt"), [a]):
                return document.Root(self.form(a))
            case ast.Call(ast.Name(name) | ast.Constant(name), [a]):
                return document.Call(self._numbered(str(name)), self.form(a))
            case ast.IfExp(ast.Constant(words), a, b):
                held = [each.strip() for each in str(words).split(",") if each.strip()]
                then, otherwise = self.form(a), self.form(b)
                return document.Where(then, " and ".join(held), otherwise) if held else then
            case ast.UnaryOp(ast.USub(), ast.Name("inf")):
                return document.MINUS_INFINITY
            case ast.UnaryOp(ast.USub(), a):
                return document.Negative(self.form(a))
            case ast.UnaryOp(ast.UAdd(), a):
                return self.form(a)
            case ast.BinOp(ast.BinOp(_, before) as a, op, b) if type(op) is type(before) in _LONG:
                match self.form(a):
                    case document.Sum(terms):
                        return document.Sum((*terms, self.form(b)))
                    case document.Product(factors, sign):
                        return document.Product((*factors, self.form(b)), sign)
            case ast.BinOp(a, op, b):
                return _BINARY[type(op)](self.form(a), self.form(b))
        raise TypeError(ast.dump(x))

    def _numbered(self, words: str) -> str:
        """Return words with the numbers in braces computed."""
        known = self.settings
        return re.sub(r"\{([^{}]*)\}", lambda part: str(whole_of(read(part[1]), known)), words)


_LONG = {ast.Mult, ast.Mod, ast.Add}
"""Signs between more than two; `+(a * b) * c` keeps two of them together."""
_BINARY: dict[type, Callable[[Expression, Expression], Expression]] = {
    ast.MatMult: lambda a, b: document.Product((a, b), "", is_ordered=True),
    ast.Mult: lambda a, b: document.Product((a, b), ENTRYWISE),
    ast.FloorDiv: lambda a, b: document.Product((a, b), ""),
    ast.Mod: lambda a, b: document.Product((a, b)),
    ast.Div: lambda a, b: document.Quotient(a, b),
    ast.Pow: lambda a, b: document.Power(a, b),
    ast.Add: lambda a, b: document.Sum((a, b)),
    ast.Sub: lambda a, b: document.Sum((a, document.Negative(b))),
}
