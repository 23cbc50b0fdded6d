"""Names of layers of the current problem: R_1, 1.Q, Q^{[1]}, R_{1;2,3}, S_{1,2}^{self scaled}.

They are recognized only while such a problem is marked; in a single attention, Y is O. So are
gradients, if they are requested: dQ, ∂L/∂Q, dL/dQ, grad_Q, Q.grad, ∇_Q L.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from attncalc.problem.gradients.naming import Gradient, gradient_from, gradient_name, part_name
from attncalc.reading.naming.symbols import indexed

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
_LOSS = r"(?:\\?mathcal)?[{(]{0,2}(?:L|ℒ|l|J|E|C|[Ll]oss|Loss)[})]{0,2}"
_D = r"(?:∂|d|δ|\\partial)"
_RATIO = re.compile(rf"\(?{_D} ?{_LOSS}\)? ?(?:/|by) ?[({{]?{_D} ?(?P<of>[^()/]{{1,40}})[)}}]?")
_JOINED = re.compile(rf"{_D}{_LOSS}_?{_D}_?(?P<of>\S{{1,40}})")
_WORD = re.compile(
    r"(?:grad(?:ient)?s?|∇|nabla|delta|δ|Δ|[Gg]rad(?:ient)?)[ _]?(?:L|loss)?[ _]?"
    r"(?:(?:of|in|for|wrt|w\.r\.t\.|with respect to|von|nach|für|de|du|del|respecto a|"
    r"par rapport à) )?[({]?(?P<of>[^() ][^()]{0,39}?)[)}]?(?: ?(?:L|loss))?",
)
_BEHIND = re.compile(r"(?P<of>[^()\s]{1,40}?)(?:\.|_| )grad(?:ient)?(?P<index>\[[\d, :]{1,20}\])?")
_LETTER_D = re.compile(r"[d∂][ _]?(?P<of>\S{1,40})")
_VIA = re.compile(
    r"(?P<whole>.{1,60}?),? ?\(?(?:via|from|through|by way of|über|von|aus|par|por) "
    r"(?P<by>[A-Za-z_0-9.]{1,20})\)?(?:,.{0,60})?"
)
_INDEXED = re.compile(r"([^\[\]]+?)(?:\[([\d, :]+)\])?")
"""A name, perhaps with an index behind it."""
_FORMS = (_RATIO, _JOINED, _BEHIND, _LETTER_D, _WORD)


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
    return last if is_led and _gradient_named(clean, known) is None else clean


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
    return _as_we_write(clean, gradients) or _gradient_named(clean, frozenset(gradients))


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
    match = _INDEXED.fullmatch(clean)
    name = match and next((each for each in (match[1], _latin(match[1])) if each in known), None)
    if not match or name is None or not (places := _places_in(match[2] or "")):
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


def _gradient_named(text: str, known: frozenset[str]) -> Found | None:
    """Return the known gradient, or its entry, that a text names.

    >>> known = frozenset(["dQ", "dW_Q", "dX", "dX_Q"])
    >>> [_gradient_named(text, known)[0] for text in ("∂L/∂Q", "dL_dW_Q", "W_Q.grad", "grad_Q")]
    ['dQ', 'dW_Q', 'dW_Q', 'dQ']
    >>> _gradient_named("∂L/∂Q_{1,2}", known), _gradient_named("∂L/∂X via Q", known)[0]
    (('dQ', 0, 1, 2), 'dX_Q')
    """
    clean = " ".join(text.split())
    name, _, said = clean.partition(":")
    if said and name.strip(" `*") in known:
        return name.strip(" `*"), 0, 0, 0
    if via := _VIA.fullmatch(clean):
        found = _gradient_named(via["whole"], known)
        gradient = gradient_from(found[0]) if found else None
        part = part_name(gradient.of, via["by"]) if gradient else ""
        if found and part in known:
            return (part, *found[1:])
    title = clean.partition(", ")[0]
    for form in _FORMS:
        if (match := form.fullmatch(clean) or form.fullmatch(title)) is None:
            continue
        index = match.groupdict().get("index") or ""
        if found := _of(match["of"].strip() + index, known):
            return found
    return None


def _of(base: str, known: frozenset[str]) -> Found | None:
    """Return the gradient of what a text names."""
    match = _INDEXED.fullmatch(base)
    own = gradient_name(re.sub("[{}]", "", match[1])) if match else ""
    if match and own in known and (places := _places_in(match[2] or "")):
        head, row, column = places
        return own, head, row, column
    named = indexed(base)
    if named is None or named[4] or named[5]:
        return None
    own = gradient_name(named[0])
    return (own, named[1], named[2], named[3]) if own in known else None


def _places_in(index: str) -> tuple[int, ...]:
    """Return the head, row and column of an index; 0 for all, () for other indices.

    >>> _places_in("1,2"), _places_in("2,1,:"), _places_in(""), _places_in("3")
    ((0, 1, 2), (2, 1, 0), (0, 0, 0), ())
    """
    places = [0 if each.strip() == ":" else int(each) for each in index.split(",") if each.strip()]
    return (*[0, 0, 0][len(places) :], *places) if len(places) in (0, 2, 3) else ()
