r"""Names of gradients: dQ, ∂L/∂Q, dL/dQ, \frac{\partial L}{\partial Q}, grad_Q, Q.grad, ∇_Q L.

They are recognized only if gradients are requested.
"""

import re

from attncalc.problem.gradients.naming import gradient_from, gradient_name, part_name
from attncalc.reading.naming.symbols import indexed

Found = tuple[str, int, int, int]
LONGEST = 80
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
_PLAIN = re.compile(r"[d∂][ _]?(?P<of>\S{1,40})")
_VIA = re.compile(
    r"(?P<whole>.{1,60}?),? ?\(?(?:via|from|through|by way of|über|von|aus|par|por) "
    r"(?P<by>[A-Za-z_0-9.]{1,20})\)?(?:,.{0,60})?"
)
INDEXED = re.compile(r"([^\[\]]+?)(?:\[([\d, :]+)\])?")
"""A name, perhaps with an index behind it."""
_FORMS = (_RATIO, _JOINED, _BEHIND, _PLAIN, _WORD)


def gradient_named(text: str, known: frozenset[str]) -> Found | None:
    """Return the known gradient, or its entry, that a text names.

    >>> known = frozenset(["dQ", "dW_Q", "dX", "dX_Q"])
    >>> [gradient_named(text, known)[0] for text in ("∂L/∂Q", "dL_dW_Q", "W_Q.grad", "grad_Q")]
    ['dQ', 'dW_Q', 'dW_Q', 'dQ']
    >>> gradient_named("∂L/∂Q_{1,2}", known), gradient_named("∂L/∂X via Q", known)[0]
    (('dQ', 0, 1, 2), 'dX_Q')
    """
    if len(text) > LONGEST:
        return None
    clean = " ".join(text.split())
    name, _, said = clean.partition(":")
    if said and name.strip(" `*") in known:
        return name.strip(" `*"), 0, 0, 0
    if via := _VIA.fullmatch(clean):
        found = gradient_named(via["whole"], known)
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
    match = INDEXED.fullmatch(base)
    own = gradient_name(re.sub("[{}]", "", match[1])) if match else ""
    if match and own in known and (places := places_in(match[2] or "")):
        head, row, column = places
        return own, head, row, column
    named = indexed(base)
    if named is None or named[4] or named[5]:
        return None
    own = gradient_name(named[0])
    return (own, named[1], named[2], named[3]) if own in known else None


def places_in(index: str) -> tuple[int, ...]:
    """Return the head, row and column of an index; 0 for all, () for other indices.

    >>> places_in("1,2"), places_in("2,1,:"), places_in(""), places_in("3")
    ((0, 1, 2), (2, 1, 0), (0, 0, 0), ())
    """
    places = [0 if each.strip() == ":" else int(each) for each in index.split(",") if each.strip()]
    return (*[0, 0, 0][len(places) :], *places) if len(places) in (0, 2, 3) else ()
