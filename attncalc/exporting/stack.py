"""A question for STACK in Moodle: matrices as inputs, marked from the student's own earlier ones.

The format is that of qtype_stack 4: `import_from_format` in questiontype.php of
https://github.com/maths/moodle-qtype_stack.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from xml.sax.saxutils import escape

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.text import on_a_line
from attncalc.exporting import template
from attncalc.exporting.alone import accepted_alone, rooms_after
from attncalc.exporting.handed_in import DIGITS
from attncalc.exporting.lines import Line, options_of, right_options
from attncalc.exporting.maxima import Place, UnwrittenError, heads_of, in_maxima, lists, matrix
from attncalc.exporting.moodle import plain, refuse_what_gaps_cannot_hold
from attncalc.exporting.rules import Course
from attncalc.exporting.worksheet import inert, title_of, worksheet
from attncalc.grading.key import Key
from attncalc.languages.catalogue import catalogue
from attncalc.problem.fields import LINES
from attncalc.solving.solution import Solution
from attncalc.writing.document import Grid

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


def question(key: Key, course: Course, of_whom: str = "") -> str:
    """Return the XML of a question; its name, which teachers see, contains the student.

    Raises InputError if an asked entry is not a finite number, or there are too many for one
    question.
    """
    solution = key.solution
    refuse_what_gaps_cannot_hold(solution, course, "STACK")
    places, lines = list(_places(solution, course)), _lines(key, course)
    names = {place.variable for place in places}
    if len(names) < len(places) or max(map(len, names), default=0) > LONGEST:
        raise InputError("the names of these steps are too long for STACK, or alike: use Moodle")
    name = title_of(key.problem) + (f" ({of_whom})" if of_whom else "")
    words = catalogue(key.problem.language)
    fields = [("matrix", place.variable, _key(solution, place)) for place in places]
    fields += [("dropdown", _name(line), _options(key, right)) for line, right in lines.items()]
    trees = [_tree(key, course, place, places) for place in places]
    trees += [
        _tree_of_lines(key, course, line, lines, places) for line in lines if not line.is_dashed
    ]
    field = template("stack-input.xml")
    # STACK stores at most 255 letters of an answer: it is a variable, of any length
    variables = [*_ranges(key, places), *(f"key{name}: {right};" for _, name, right in fields)]
    filled = template("stack-question.xml").format(
        name=escape(on_a_line(name)),
        text=worksheet(solution, course, _asks, _chooses if lines else None),
        right=words.say("Right."),
        sign=words.number("1.0")[1],
        grade=_number(course.possible),
        variables=escape("\n".join([template("functions.mac"), *variables])),
        inputs="".join(field.format(kind=kind, name=name) for kind, name, _ in fields),
        trees="".join(trees),
    )
    return plain(filled)


def _places(solution: Solution, course: Course) -> Iterator[Place]:
    for step in solution.plan:
        if step.name in course.asked:
            count = heads_of(solution, step.name)
            yield from (Place(step.name, head) for head in (range(1, count + 1) if count else (0,)))


def _asks(grid: Grid) -> str:
    name = Place(grid.name, grid.head).variable
    return f"<p>[[input:{name}]] [[validation:{name}]]</p>\n<p>[[feedback:prt{name}]]</p>"


def _key(solution: Solution, place: Place) -> str:
    digits = np.asarray(solution.shown(place.name), np.float64)
    return matrix(digits[place.head - 1] if place.head else digits)


def _ranges(key: Key, places: list[Place]) -> Iterator[str]:
    """Yield the ranges of right entries, as variables, which only the server knows."""
    for place in places:
        heads: Any = accepted_alone(key, place.name)
        rows = heads[place.head - 1] if place.head else heads
        yield f"right{place.variable}: {lists([[each.ranges for each in row] for row in rows])};"


def _lines(key: Key, course: Course) -> dict[Line, set[int]]:
    """Return the lines of the map that are asked for, and their right options."""
    if LINES not in course.asked:
        return {}
    (weights,) = key.solution.all_weights  # if they are asked for, the own ones are compared
    return right_options(key, as_rounded=weights.name not in course.asked)


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
            own = in_maxima(solution, place, before)
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
