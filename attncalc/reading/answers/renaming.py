"""Names that people use for another step than we do: told by what the problem has, and by values."""

from attncalc.answer import matrix_of_entries
from attncalc.reading.answers.collecting import Collected
from attncalc.reading.answers.expected import Expected
from attncalc.reading.answers.parts import Part, entries_of

_OTHER_NAMES = {
    "S_scaled": ("S",),
    "S_masked": ("S_scaled", "S"),
    "S_capped": ("S_scaled", "S"),
    "O": ("H", "C"),
    "H": ("O", "C"),
    "C": ("O",),
    "Q_rot": ("Q",),
    "K_rot": ("K",),
}
"""Where a step is not in the plan: the steps that its name may be meant for."""
_ALSO = (("S", "S_scaled"), ("S", "S_masked"), ("S_scaled", "S_masked"), ("A", "S"), ("A", "S_scaled"),
         ("O", "H"), ("O", "C"), ("H", "C"), ("S", "A"), ("S_scaled", "S"), ("V", "O"))  # fmt: skip
"""Pairs of a name and the step that may be meant by it, where the numbers say so."""
SURE = 0.5


def with_better_names(found: Collected, expected: Expected) -> list[Part]:
    """Return the parts under the names of the plan's steps.

    A step that is there under its own name is never written over.
    """
    parts = found.parts
    if not expected.steps:
        return parts
    for name in dict.fromkeys(part.name for part in parts):
        there = {part.name for part in parts}
        if name not in expected.steps:
            options = [each for each in _OTHER_NAMES.get(name, ()) if each in expected.steps]
            meant = next((each for each in options if each not in there), None)
        else:
            meant = _by_values(name, parts, there, expected)
        if meant:
            line = next(part.line for part in parts if part.name == name)
            why = "its numbers are" if name in expected.steps else "the problem has no other"
            found.remarks.append(f"line {line}: {name} is taken as {meant}: {why}")
            parts = [p._replace(name=meant) if p.name == name else p for p in parts]
            found.taken[:] = [
                t._replace(what=t.what.replace(name, meant, 1), how=f"{t.how}; taken as {meant}")
                if t.what.split("[")[0].split(" ")[0] == name else t
                for t in found.taken
            ]  # fmt: skip
    return parts


def _by_values(name: str, parts: list[Part], there: set[str], expected: Expected) -> str | None:
    """Return the step that most numbers under a name are those of, where few are its own."""
    own = [part for part in parts if part.name == name and part.is_whole]
    if not own:
        return None
    values = matrix_of_entries([entries_of(own[-1].rows)], "").values
    if expected.agreement(name, values) >= SURE:
        return None
    options = [meant for each, meant in _ALSO if each == name and meant not in there]
    shares = {meant: expected.agreement(meant, values) for meant in options}
    best = max(shares, key=lambda each: shares[each], default=None)
    return best if best and shares[best] > max(SURE, expected.agreement(name, values)) else None
