r"""Names in symbols: `Q`, `S_{scaled}`, `q_1`, `Q[1,2]`, `\alpha_{13}`, `q_1·k_2`, `A^{(2)}`."""

import re

from attncalc.problem.attention.steps import TITLES
from attncalc.problem.field import LAYERS
from attncalc.problem.fields import GIVEN, MATRICES, Names
from attncalc.problem.layers import STEP_TITLES
from attncalc.reading.names import canonical
from attncalc.reading.words import meanings

STEPS = Names(STEP_TITLES)
"""Every name that a step of a plan can have."""
_OF_ATTENTION = tuple(TITLES)
"""The names of a single attention, recognized in any spelling."""
LONGEST = 80
_BLANKS = re.compile(r"\s+")
_TURNED = re.compile(r"\^\{?\(?(?:T|t|⊤|transpose)\)?\}?|\.T\b|\.t\(\)|\.transpose\(\)")
_HEAD = re.compile(
    r"(?:\^[{(]*\(?(\d{1,2})\)?[)}]*"
    r"|(?:(?<![_ ^({\[])[_ ^({\[]++)?(?:head|kopf|tete|cabeza|hd|h)[_ ]?\(?(\d{1,2})\)?[)}\]]*)"
    r"(?![\d.])",
    re.IGNORECASE,
)
_INDEX = re.compile(
    r"_?[\[({]*(?:"
    r"(?P<h>\d{1,3}),(?P<hi>\d{1,4}),(?P<hj>\d{1,4})"
    r"|(?P<i>\d{1,4}|:),(?P<j>\d{1,4}|:)"
    r"|(?P<row>\d{1,3}),?[j*·•]"
    r"|(?P<two>\d\d)"
    r"|\[?(?P<one>\d{1,3})(?:,?:)?"
    r")[\])}]*"
)
_DOT = re.compile(
    r"[⟨<({]*q(?:uery)?_?[{(\[]?(?P<i>\d{1,2})[})\]]?(?:\^\{?T\}?)?[·.*×@,|∘]?"
    r"k(?:ey)?_?[{(\[]?(?P<j>\d{1,2})[})\]]?(?:\^\{?T\}?)?[⟩>)}]*(?P<scale>/.{1,20})?",
    re.IGNORECASE,
)
_RAISED = re.compile(
    r"^([A-Za-z])(_\{?[\d,:]{1,9}\}?)\^\{?([A-Za-z]{1,10})(\(\d{1,2}\))?\}?(?=$|\^)"
)
_LONG = re.compile(
    r"X\d?[_^]\{?P\}?|P\d|[QK][_^]\{?(?:rot|norm|S)\}?|[KV][_^]\{?all\}?|S[_^]\{?(?:alibi|rel)\}?"
)
_SCALED = re.compile(r"/[({]*(?:√|sqrt|d_?k|d\b|\d)")
_LETTERS = re.compile(r"[A-Za-zα]+")

_SPELLED = {step.replace("_", "").lower(): step for step in _OF_ATTENTION if len(step) > 2}
_SYMBOLS = meanings("symbols") | {step: step for step in _OF_ATTENTION}
"""Letters, and words used as letters; upper and lower case may differ."""
_SUFFIXES = meanings("suffixes")
_SUFFIX = re.compile(
    r"[_^]?[{(]*(scaled|scale|sc|skaliert|capped|masked|mask|maskiert|norm|s|m|')[)}]*"
)


def compact(text: str) -> str:
    """Return a name without blanks and typesetting commands."""
    return _BLANKS.sub("", text.replace("ᵀ", "^T")).strip("$\\*#:.,;→∴-").replace("\\", "")


def matrix_of_symbol(text: str) -> str | None:
    """Return the matrix that a bare symbol names: a step or a given matrix.

    >>> matrix_of_symbol("S_{scaled}"), matrix_of_symbol("wq"), matrix_of_symbol("B")
    ('S_scaled', 'W_Q', None)
    """
    clean = compact(text)
    bare = re.sub(r"[{}()^]", "", clean.replace("^", "_")) if "^T" not in clean else clean
    if bare in _SYMBOLS:
        return _SYMBOLS[bare]
    if step := _SPELLED.get(bare.replace("_", "").lower()):
        return step
    given = canonical(bare)
    is_of_layers = given is not None and given in GIVEN and GIVEN[given].kind == LAYERS
    if given in MATRICES and not is_of_layers and (len(bare) > 1 or bare in ("X", "P")):
        return given
    if clean[:1] == "S" and (suffix := _SUFFIX.fullmatch(clean[1:])):
        return _SUFFIXES[suffix[1]]
    return None


Parts = tuple[str, int, int, int, int, bool]


def indexed(text: str) -> Parts | None:
    """Return what a symbol names: matrix, head, row, column, bare number, and whether transposed.

    >>> indexed("Q[1,2]"), indexed("k_3")
    (('Q', 0, 1, 2, 0, False), ('K', 0, 3, 0, 0, False))
    >>> indexed("Q_2"), indexed("K^T")
    (('Q', 0, 0, 0, 2, False), ('K', 0, 0, 0, 0, True))
    """
    clean = _RAISED.sub(_lowered, compact(text))
    if not clean or len(clean) > LONGEST:
        return None
    if dot := _DOT.fullmatch(clean):
        scaled = dot["scale"] is not None and _SCALED.match(dot["scale"]) is not None
        if dot["scale"] and not scaled:
            return None
        return ("S_scaled" if scaled else "S", 0, int(dot["i"]), int(dot["j"]), 0, False)
    is_turned = False
    if "T" in clean or "t" in clean:
        without = _TURNED.sub("", clean, count=1)
        is_turned, clean = without != clean, without
    if clean[:1] in "KQV" and clean[1:] in ("'", "T", "t"):
        is_turned, clean = True, clean[:1]
    if matrix := matrix_of_symbol(clean):
        if matrix != "K" and is_turned and matrix in STEPS and not clean.isalpha():
            return None
        return (matrix, 0, 0, 0, 0, is_turned)
    return _with_index(clean, is_turned)


def _lowered(match: "re.Match[str]") -> str:
    """Return S_{1,2}^{scaled (1)} with its superscript before its index."""
    letter, index, suffix, head = match.groups()
    return f"{letter}^{{{suffix}}}{index}" + (f"^{head}" if head else "")


def _with_index(clean: str, is_turned: bool) -> Parts | None:
    clean, head = _without_head(clean)
    if head and (matrix := matrix_of_symbol(clean)):
        return (matrix, head, 0, 0, 0, is_turned)
    parted = _parted(clean)
    if parted is None:
        return None
    matrix, index = parted
    if index["hi"]:
        return (matrix, int(index["h"]), _place(index["hi"]), _place(index["hj"]), 0, is_turned)
    if both := index["two"] or (index["i"] and (index["i"], index["j"])):
        return (matrix, head, _place(both[0]), _place(both[1]), 0, is_turned)
    if index["row"]:
        return (matrix, head, _place(index["row"]), 0, 0, is_turned)
    number = _place(index["one"])
    if "^" in clean and "(" in clean:
        return (matrix, number, 0, 0, 0, is_turned)
    is_row = clean[:1].islower() or set(clean) & set("[:α") or head
    return (matrix, head, number if is_row else 0, 0, 0 if is_row else number, is_turned)


def _without_head(clean: str) -> tuple[str, int]:
    """Separate the head from a name that contains one: A^{(2)}, Q head 1."""
    match = _HEAD.search(clean)
    if match is None or match.start() == 0:
        return clean, 0
    rest = clean[: match.start()] + clean[match.end() :]
    is_sure = "(" in match[0] or match[2] is not None or clean[:1].isupper()
    if is_sure and (matrix_of_symbol(rest) or _parted(rest)):
        return rest, int(match[1] or match[2]) or -1
    return clean, 0


def _place(index: str) -> int:
    """Return a place counted from 1: 0 means all, and -1 the place 0 of a program."""
    return 0 if index == ":" else int(index) or -1


def _parted(clean: str) -> "tuple[str, re.Match[str]] | None":
    """Split a name into its matrix and its index."""
    letters = _LETTERS.match(clean)
    if letters is None:
        return None
    starts = [letters.end()]
    if long := _LONG.match(clean):
        starts.append(long.end())
    if suffix := _SUFFIX.match(clean, letters.end()):
        starts.append(suffix.end())
    for start in starts:
        matrix = matrix_of_symbol(clean[:start])
        index = _INDEX.fullmatch(clean, start)
        if matrix and index:
            return matrix, index
    return None
