"""Names of layers of the current problem: R_1, 1.Q, Q^{[1]}, R_{1;2,3}, S_{1,2}^{self scaled}.

They are recognized only while such a problem is marked; in a single attention, Y is O.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from attncalc.problem.gradients.naming import Gradient, gradient_from
from attncalc.reading.naming.gradients import INDEXED, gradient_named, places_in

_NAMES: ContextVar[frozenset[str]] = ContextVar("names at hand", default=frozenset())
_STEPS: ContextVar[frozenset[str]] = ContextVar("steps at hand", default=frozenset())
_VARIANCE = re.compile(r"σ(?:²|\^2)")
_GREEK = re.compile("[α-ω]")
_HEAD = re.compile(r"\bhead (\d{1,3})\)?$", re.IGNORECASE)
_TEX = re.compile(r"([^\W\d_]+?)(?:_(?:\{([^{}]*)\}|(\w+)))?(?:\^(?:\{(.*)\}|(\w)))?")
_OF_LOSS = re.compile(
    r"∂ ?L ?/ ?\(?∂ ?([^\s^()]{1,60}(?:\^\{[^{}]{1,60}\})?)\)?"
    r"(?: via (\S{1,20}(?: [\w.]{1,9}){0,3}\}?))?"
)
_OF_LAYER = re.compile(r"(?<![\w.^{])(\d{1,4})\.((?:self\.|cross\.)?[A-Za-z][A-Za-z0-9_]{0,60})")
_LEADING = re.compile(r"[\s*`#]{0,9}layer(\d{1,4}\.)([\w.]{1,60})[*`]{0,3}(?=\s{0,9}[:=(,])")
"""The name of a step of a layer, with or without its equation: layer1.Q = X layer1.W_Q."""
_IN_WORDS = re.compile(r"\blayer(?=\d{1,4}\.)")
_RAISED = re.compile(r"\^\{\[(\d{1,4})\]")
_ABOVE = re.compile(r"(?:layer|\[)(\d+)\]?|\((\d+)\)|(self|cross)|([A-Za-z][A-Za-z0-9]*)")

_LED = re.compile(
    r"(?:with|so|then|hence|and|thus|mit|also|avec|donc|con|così|com|dus)?,? ?(?:the|our|my)? ?"
    r"(?:loss|gradient|grad|error|cost|verlust|perte|pérdida|perdita)?",
    re.IGNORECASE,
)
"""Words that add nothing to the letter after them."""

Found = tuple[str, int, int, int]
"""A matrix, and its head, row and column; 0 for all."""


@contextmanager
def names_at_hand(names: Iterable[str], steps: Iterable[str] = ()) -> Iterator[None]:
    """Recognize these names, some of which are steps, within the context."""
    tokens = _NAMES.set(frozenset(names)), _STEPS.set(frozenset(steps))
    try:
        yield
    finally:
        _NAMES.reset(tokens[0])
        _STEPS.reset(tokens[1])


def is_step_at_hand(name: str) -> bool:
    """Return whether a matrix is a step of the current problem, such as X if ids define it."""
    return name in _STEPS.get()


def names_there() -> frozenset[str]:
    """Return the names of the current problem."""
    return _NAMES.get()


def name_at_hand(text: str) -> Found | None:
    """Return the matrix or entry that a text names.

    >>> with names_at_hand(["R_1", "1.Q", "2.self.S_scaled"]):
    ...     print(name_at_hand("R_1[2,3]"), name_at_hand("R_{1;2,3}"), name_at_hand("1.Q"))
    ...     print(name_at_hand("Q^{[1]}"), name_at_hand("S_{1,2}^{[2] self scaled (1)}"))
    ('R_1', 0, 2, 3) ('R_1', 0, 2, 3) ('1.Q', 0, 0, 0)
    ('1.Q', 0, 0, 0) ('2.self.S_scaled', 1, 1, 2)
    """
    known = _NAMES.get()
    if not known:
        return None
    if (lead := _LEADING.match(text)) and f"{lead[1]}{lead[2]}" in known:
        return f"{lead[1]}{lead[2]}", 0, 0, 0
    if len(text) > 80:
        return None
    clean = _IN_WORDS.sub("", text.strip(" \t*`#$:=.≈"))
    head = 0
    if match := _HEAD.search(clean):
        head, clean = int(match[1]) or -1, clean[: match.start()].strip(" ,(")
    clean = _alone(clean, known)
    found = _plain(clean, known) or _gradient(clean, known) or _tex(clean.replace("\\", ""), known)
    if found is None:
        return None
    return (found[0], head or found[1], *found[2:])


def _alone(clean: str, known: frozenset[str]) -> str:
    """Return a name without words after or before its comma: dS, softmax backward; loss L."""
    first = clean.partition(",")[0].strip()
    if first in known and (len(first) > 1 or gradient_from(first)):
        return first
    before, _, last = clean.rpartition(". ")[2].rpartition(" ")
    is_led = last in known and _LED.fullmatch(before) is not None
    return last if is_led and gradient_named(clean, known) is None else clean


def with_layers_in_words(text: str) -> str:
    """Return a text with a letter before the layers of names, which no number has.

    >>> with names_at_hand(["1.Q", "1.W_Q"]):
    ...     print(with_layers_in_words("1.Q = X 1.W_Q, 1.R, 1.5 and Q^{[1] (2)}"))
    layer1.Q = X layer1.W_Q, 1.R, 1.5 and Q^{layer1 (2)}
    """
    known = _NAMES.get()
    if not any(name[0].isdigit() for name in known):
        return text

    def in_words(found: re.Match[str]) -> str:
        return f"layer{found[0]}" if f"{found[1]}.{found[2]}" in known else found[0]

    return _RAISED.sub(r"^{layer\1", _OF_LAYER.sub(in_words, text))


def _gradient(clean: str, known: frozenset[str]) -> Found | None:
    """Return the gradient that a text names, if any are requested."""
    gradients = {name: of for name in known if (of := gradient_from(name)) is not None}
    return _as_we_write(clean, gradients) or gradient_named(clean, frozenset(gradients))


def _as_we_write(clean: str, gradients: Mapping[str, Gradient]) -> Found | None:
    """Return the gradient that a text names as attncalc's own pages do, with its layers.

    ∂ L / ∂ W_{1,2}^{Q}, ∂ L / ∂ X_{2;1,1} via K, ∂ L / ∂ Y_{1,1}^{[1]} via Q^{[2]}.
    """
    match = _OF_LOSS.fullmatch(" ".join(clean.split()))
    if match is None:
        return None
    steps = frozenset(of.by for of in gradients.values())
    by = match[2] and (_plain(match[2], steps) or _tex(match[2].replace("\\", ""), steps))
    if match[2] and not by:
        return None
    named = {of.of: name for name, of in gradients.items() if of.by == (by[0] if by else "")}
    entry = _tex(match[1].replace("\\", ""), frozenset(named))
    return entry and (named[entry[0]], *entry[1:])


def _plain(clean: str, known: frozenset[str]) -> Found | None:
    match = INDEXED.fullmatch(clean)
    name = match and next((each for each in (match[1], _latin(match[1])) if each in known), None)
    if not match or name is None or not (places := places_in(match[2] or "")):
        return None
    head, row, column = places
    return name, head, row, column


def _latin(letters: str) -> str:
    """Return a name with the English names of its Greek letters: γ_1 is gamma_1."""
    letters = _VARIANCE.sub("var", letters)
    return _GREEK.sub(lambda letter: unicodedata.name(letter[0]).split()[-1].lower(), letters)


def _tex(clean: str, known: frozenset[str]) -> Found | None:
    match = _TEX.fullmatch("".join(clean.split()) if "^" not in clean else clean.strip())
    if match is None:
        return None
    letters, below = _latin(match[1]), (match[2] or match[3] or "").replace(" ", "")
    place, side, words, head = "", "", [], 0
    for layer, of_head, beside, word in _ABOVE.findall(match[4] or match[5] or ""):
        place = f"{layer}." if layer else place
        head = int(of_head) if of_head else head
        side = f"{beside}." if beside else side
        words += [word] if word else []
    number, _, index = below.rpartition(";") if ";" in below else ("", "", below)
    row, _, column = index.partition(",")
    if not (row.isdigit() and column.isdigit()):
        number, row, column = index, "0", "0"
    ends = [each for each in (number, *words) if each]
    joined = "_".join([letters, *ends]), "".join([letters, *ends])
    for own in (*joined, "_".join([letters + number, *words])):  # the last is X1_P
        name = place + side + own
        if name in known:
            return name, head, int(row), int(column)
    return None
