"""A question for STACK in Moodle: matrices as inputs, marked from the student's own earlier ones.

Steps are in the language of Maxima. They call the functions of `templates/functions.mac`, which use
only what STACK allows: stack/cas/security-map.json of the address below.

The format is that of qtype_stack 4: `import_from_format` in questiontype.php of
https://github.com/maths/moodle-qtype_stack.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from decimal import Decimal
from functools import partial
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.text import on_a_line
from attncalc.equations import expressions as node
from attncalc.exporting import moodle, template
from attncalc.exporting.alone import accepted_alone, rooms_after
from attncalc.exporting.handed_in import DIGITS
from attncalc.exporting.lines import Line, options_of, right_options
from attncalc.exporting.rules import Course
from attncalc.exporting.worksheet import (
    inert,
    questions,
    refuse_what_gaps_cannot_hold,
    statement,
    title_of,
)
from attncalc.grading.key import Key
from attncalc.languages.catalogue import catalogue
from attncalc.problem.fields import LINES
from attncalc.problem.step import Step
from attncalc.solving.plan import formula
from attncalc.solving.solution import Solution
from attncalc.writing.document import Grid
from attncalc.writing.mathematics import MathWriter


class Place(NamedTuple):
    """A step, or one head of it: from 1, or 0 without heads."""

    name: str
    head: int

    @property
    def variable(self) -> str:
        """Its name in Maxima, and as an input."""
        plain = "".join(sign for sign in self.name if sign.isalnum())
        return f"ans{plain}h{self.head}" if self.head else f"ans{plain}"


class UnwrittenError(Exception):
    """No expression of Maxima is known for a step."""


def heads_of(solution: Solution, name: str) -> int:
    """Return the number of heads of a step, 0 for a single matrix."""
    shape = solution.shape_of(name)
    return shape[0] if len(shape) == 3 else 0


class _Maxima(MathWriter):
    """Writes a step, or one head, from the inputs that are asked for before it."""

    forms: Mapping[str, str] = {
        "negative": "(-1*{})",
        "quotient": "({}/{})",
        "root": "float(sqrt({}))",
        "transposed": "transpose({})",
    }

    def __init__(self, solution: Solution, step: Step, head: int, inputs: Iterable[Place]) -> None:
        self.solution, self.step, self.head = solution, step, head
        self.inputs = tuple(inputs)
        self.steps = {each.name: each for each in solution.plan}

    def own(self) -> str:
        """Return it. Raises UnwrittenError if one of its operations is not written here."""
        return self.write(formula(self.step, self.solution.problem))

    def symbol(self, symbol: node.Symbol) -> str:
        name, problem = symbol.name, self.solution.problem
        if name == "d_k":
            return str(problem.attention_of(self.step.name).d_k)
        if name in self.steps:
            count = heads_of(self.solution, name)
            if count and not self.head:
                raise UnwrittenError
            return self._in_head(name, self._head_in(count))
        if name not in problem.names:
            raise UnwrittenError
        given = np.asarray(problem.given[name], np.float64)
        count = len(given) if given.ndim == 3 else 0
        own = given[self._head_in(count) - 1] if count else given
        return matrix(own.T if problem.standing.is_turned(name) else own)

    def _head_in(self, count: int) -> int:
        """Return the head of a matrix that this head reads: several may share one."""
        heads = heads_of(self.solution, self.step.name)
        return (self.head - 1) * count // heads + 1 if count and self.head else 0

    def number(self, number: node.Number) -> str:
        if number.exact is None:
            raise UnwrittenError
        return f"({number.exact})"

    def ratio(self, ratio: node.Ratio) -> str:
        return f"({ratio.exact})"

    def sum(self, total: node.Sum) -> str:
        return f"({' + '.join(map(self._term, total.terms))})"

    def _term(self, term: node.Expression) -> str:
        """Write a term; a row that is added to each row is repeated."""
        given = self.solution.problem.given
        if isinstance(term, node.Symbol) and term.name in given:
            rows = self.solution.shape_of(self.step.name)[-2]
            if given[term.name].shape[-2] == 1 < rows:
                return f"attn_down({self.write(term)}, {rows})"
        return self.write(term)

    def product(self, product: node.Product) -> str:
        if product.sign == "⊙":
            return f"({'*'.join(map(self.write, product.factors))})"
        return f"({' . '.join(map(self.write, product.factors))})"

    def call(self, call: node.Call) -> str:
        if call.function == "softmax":
            return f"attn_softmax({self.write(call.argument)})"
        name = call.argument.name if isinstance(call.argument, node.Symbol) else ""
        count = heads_of(self.solution, name) if name in self.steps else 0
        if call.function not in ("concat", "mean") or not count:  # others are of rows
            raise UnwrittenError
        heads = [self._in_head(name, head) for head in range(1, count + 1)]
        if call.function == "mean":
            return f"(({' + '.join(heads)})/{count})"
        joined, *others = heads
        for other in others:
            joined = f"attn_beside({joined}, {other})"
        return joined

    def _in_head(self, name: str, head: int) -> str:
        """Return the input for a head of a step, or else the expression of that head."""
        if (place := Place(name, head)) in self.inputs:
            return place.variable
        return f"({_Maxima(self.solution, self.steps[name], head, self.inputs).own()})"

    def where(self, where: node.Where) -> str:
        digits = np.asarray(self.solution.shown(self.step.name), np.float64)
        allowed = np.isfinite(digits[self.head - 1] if self.head else digits).astype(np.float64)
        return f"attn_where({self.write(where.value)}, {matrix(allowed)})"

    def __getattr__(self, name: str) -> Any:
        """Refuse every kind of expression that has no method here."""
        if name.startswith("_"):
            raise AttributeError(name)
        raise UnwrittenError


def matrix(values: Any) -> str:
    """Return a matrix of numbers.

    >>> matrix([[Decimal("0.5"), Decimal(-1)]])
    'matrix([0.5,-1])'
    """
    return f"matrix({lists(values)[1:-1]})"


def lists(values: Any) -> str:
    """Return nested lists of numbers.

    >>> lists([[Decimal("0.5")], []])
    '[[0.5],[]]'
    """
    if not isinstance(values, Decimal | float):
        return f"[{','.join(map(lists, values))}]"
    exact = values if isinstance(values, Decimal) else Decimal(repr(float(values)))
    return f"{exact.normalize():f}"


NOTE = (
    "STACK marks each matrix from the student's own earlier ones where Maxima can compute it; a "
    "matrix counts once it and those before it are filled in"
)
LONGEST = 15
"""The longest name of an input that leaves room for `prt` in 18 letters, which STACK allows."""
_EARNED = "attn_earned: attn_share(attn_ok);"
_FEEDBACK = (
    "{@attn_total(flatten(attn_ok))@} of {@length(flatten(attn_ok))@} entries are right, given "
    "your earlier values."
)


exported = partial(moodle.exported, note=NOTE)


def version(key: Key, course: Course, student: str = "") -> str:
    """Return the XML of a question; its name, which teachers see, contains the student.

    Raises InputError if an asked entry is not a finite number, or there are too many for one
    question.
    """
    solution = key.solution
    refuse_what_gaps_cannot_hold(solution, course, "STACK")
    places = [
        Place(name, head)
        for name in course.steps
        for head in range(1, heads_of(solution, name) + 1) or (0,)
    ]
    # if the weights are asked for, lines are compared with those of the written weights, too
    rounds = all(each.name not in course.asked for each in solution.all_weights)
    lines = right_options(key, course, as_rounded=rounds)
    names = {place.variable for place in places}
    if len(names) < len(places) or max(map(len, names), default=0) > LONGEST:
        raise InputError("the names of these steps are too long for STACK, or alike: use Moodle")
    name = title_of(key.problem) + (f" ({student})" if student else "")
    words = catalogue(key.problem.language)
    fields = [("matrix", place.variable, _key(solution, place)) for place in places]
    fields += [("dropdown", _name(line), _options(key, right)) for line, right in lines.items()]
    trees = [_tree(key, course, place, places) for place in places]
    trees += [
        _tree_of_lines(key, course, line, lines, places) for line in lines if not line.is_dashed
    ]
    field = template("stack-input.xml")
    # STACK stores at most 255 letters of an answer: it is a variable, of any length
    variables = []  # the ranges of right entries, which only the server knows, and the key
    for place in places:
        rows = accepted_alone(key, place.name, place.head)
        said = lists([[each.ranges for each in row] for row in rows])
        variables.append(f"right{place.variable}: {said};")
    variables += [f"key{name}: {right};" for _, name, right in fields]
    filled = template("stack-question.xml").format(
        name=escape(on_a_line(name)),
        text=statement(solution) + questions(solution, course, _asks, _chooses),
        right=words.say("Right."),
        sign=words.number("1.0")[1],
        grade=_number(course.possible),
        variables=escape("\n".join([template("functions.mac"), *variables])),
        inputs="".join(field.format(kind=kind, name=name) for kind, name, _ in fields),
        trees="".join(trees),
    )
    return moodle.plain(filled)


def _asks(grid: Grid) -> str:
    name = Place(grid.name, grid.head).variable
    return f"<p>[[input:{name}]] [[validation:{name}]]</p>\n<p>[[feedback:prt{name}]]</p>"


def _key(solution: Solution, place: Place) -> str:
    digits = np.asarray(solution.shown(place.name), np.float64)
    return matrix(digits[place.head - 1] if place.head else digits)


def _name(line: Line) -> str:
    return f"map{line.head or ''}o{line.output + 1}{'s' if line.is_dashed else 'm'}"


def _tree_name(line: Line) -> str:
    return f"prt{_name(line)[:-1]}"


def _chooses(line: Line) -> str:
    field = f"[[input:{_name(line)}]] [[validation:{_name(line)}]]"
    return f"{field} [[feedback:{_tree_name(line)}]]" if line.is_dashed else field


def _options(key: Key, right: set[int]) -> str:
    """Return the options of a drop-down: numbers from 1, whether they are right, names as HTML."""
    listed = (
        f'[{number},{str(number - 1 in right).lower()},"{inert(name)}"]'
        for number, name in enumerate(options_of(key.solution), 1)
    )
    return f"[{','.join(listed)}]"


def _tree_of_lines(
    key: Key, course: Course, line: Line, right: dict[Line, set[int]], places: list[Place]
) -> str:
    """Return the tree of both lines of an output: by the key, or better by the own weights."""
    mate, options = line._replace(is_dashed=True), range(len(options_of(key.solution)))
    flags = [[int(n in right[each]) for n in options] for each in (line, mate)]
    chosen = f"{_name(line)}, {_name(mate)}"
    lines = [f"attn_ok: attn_drawn({chosen}, {flags});"]
    weights = Place(key.solution.all_weights[0].name, line.head)
    if weights in places:
        row = (
            f"{weights.variable}[{line.output + 1}]"
            if key.problem.layout == "rows"
            else f"transpose({weights.variable})[{line.output + 1}]"
        )
        own = f"attn_drawn({chosen}, attn_lines({row}))"
        lines.append(f"attn_ok: attn_better(attn_ok, {own});")
    value = course.most(LINES) * 2 / len(right)
    return _filled(key.solution, _tree_name(line), value, [*lines, _EARNED])


def _tree(key: Key, course: Course, place: Place, places: list[Place]) -> str:
    """Return the tree that marks a matrix: by the key, and from the matrices before it."""
    solution, name = key.solution, place.variable
    lines = [f"attn_key: attn_right({name}, right{name});", "attn_own: attn_key;"]
    if solution.problem.layout == "rows":
        before = [each for each in places if each.name != place.name]
        with suppress(UnwrittenError):
            own = _Maxima(solution, key.steps[place.name], place.head, before).own()
            rooms = rooms_after(key, [each.name for each in before], place.name)
            room = matrix(rooms[place.head - 1] if place.head else rooms)
            unit = f"1.0*10^-{solution.problem.decimals}"
            lines[1] = f"attn_own: attn_follows({name}, {own}, {room}, {unit});"
    value = course.most(place.name) / max(heads_of(solution, place.name), 1)
    lines += ["attn_ok: attn_all(attn_key, attn_own);", _EARNED]
    return _filled(solution, f"prt{name}", value, lines)


def _filled(solution: Solution, name: str, value: Any, lines: list[str]) -> str:
    """Return a tree whose variables say what is right, and the earned share."""
    feedback = catalogue(solution.problem.language).say(_FEEDBACK)
    return template("stack-tree.xml").format(
        name=name, value=_number(value), variables=escape("\n".join(lines)), feedback=feedback
    )


def _number(value: Any) -> str:
    return f"{float(value):.{DIGITS}f}"
