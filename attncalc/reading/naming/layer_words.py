"""Words and expressions for the steps of a layer: residual, LayerNorm 2, ReLU(N_1 W_1), X + O.

They are recognized only while a problem with one such layer is marked.
"""

import re
from collections.abc import Container

from attncalc.reading.naming.vocabulary import plain_word, words_of
from attncalc.reading.words import meanings

LONGEST = 120
ALONE = 2
"""The most words with which a mean or a variance requires no number."""
_LAST = ({"final"}, {"final", "output"}, {"final", "result"}, {"final", "y"})
_CONCEPT = {plain_word(word): concept for word, concept in meanings("layers").items()}
_KINDS = ("var", "mu", "norm", "R")
_ORDINAL = {"second": 2, "third": 3, "before": 1}
_NUMBER = re.compile(r"(?<![\d.√/])#?([1-4])\b(?!\s?[./×x]?\s?\d)")
_APART = re.compile(
    r"\b(?:feed|layer) ?- ?(?=forward|norm)|\b(?:feed|layer) (?=forward|norm)", re.I
)
_LIST_NUMBER = re.compile(r"^[\s#>*·-]*(?:(?:step|schritt|etape|étape|paso) ?)?\(?\d{1,2}[.):]\s")
_SQUARED = re.compile(r"(?<=[σs])(?:²| ?\^ ?\{?2\}?)")
"""The square of a standard deviation, which is not a number of a layer."""
_IN_BRACKETS = re.compile(r"(?<!\w)\(([^()]{3,60})\)")
_BLANKS = re.compile(r"[\s$\\{}]+")
_ACTIVE = r"(?:max\(0[,;]|(?:ReLU|relu|RELU|GELU|gelu|SiLU|silu|tanh)\()"
_PATTERNS = (
    (re.compile(rf"{_ACTIVE}.{{1,60}}\)[·*@]?W_?2.*"), "F_2"),
    (re.compile(rf"{_ACTIVE}.{{1,60}}\)"), "G"),
    (re.compile(r"G[·*@]?W_?2(?:\+b_?2)?"), "F_2"),
    (re.compile(r"[A-Z]_?\d?[·*@]?W_?1(?:\+b_?1)?"), "F_1"),
    (re.compile(r"(?:LayerNorm|layernorm|LN|RMSNorm|Norm)\((?:X\+.{1,40}|R_?1)\)"), "norm 1"),
    (re.compile(r"(?:LayerNorm|layernorm|LN|RMSNorm|Norm)\((?:N_?1\+.{1,40}|R_?2)\)"), "norm 2"),
    (re.compile(r"X\+(?:O|MHA|Attn|Attention|attn|attention|Z)(?:\(.{0,30}\))?"), "R 1"),
    (re.compile(r"(?:N|R|X)_?1\+(?:F_?2|FFN|FF|MLP)(?:\(.{0,30}\))?"), "R 2"),
)


def step_of_layer(text: str, known: Container[str]) -> tuple[str, str] | None:
    """Return the step of a layer that a text names ("" for one of several), and by what.

    >>> known = {"R_1", "mu_1", "N_1", "F_1", "G", "F_2", "R_2", "mu_2", "Y"}
    >>> step_of_layer("LayerNorm 2", known), step_of_layer("max(0, N_1 W_1)", known)
    (('Y', 'words'), ('G', 'expression'))
    >>> step_of_layer("LayerNorm output", known), step_of_layer("attention weights", known)
    (('', 'words'), None)
    """
    if len(text) > LONGEST:
        return None
    sides = [text, *_IN_BRACKETS.findall(text)]
    bare = [_BLANKS.sub("", side).strip(":=.,;") for side in sides]
    for pattern, step in _PATTERNS:
        if any(map(pattern.fullmatch, bare)) and (found := _numbered(step, known)) is not None:
            return found, "expression"
    said = _said(text)
    if said == "":
        return "", "words"
    step_said = None if said is None else _numbered(said, known)
    return None if step_said is None else (step_said, "words")


def kind_of(text: str) -> str:
    """Return mu or var if a text names only this kind of matrix."""
    said = _said(text) if len(text) <= LONGEST else None
    word = (said or "").partition(" ")[0]
    return word if word in ("mu", "var") else ""


def _said(text: str) -> str | None:
    """Return the step that words and a number name; "" if they can mean several."""
    clean = _SQUARED.sub(" ", _LIST_NUMBER.sub("", text, count=1))
    concepts = [
        concept
        for word in words_of(_APART.sub(lambda m: m[0].strip(" -"), clean))
        if (concept := _CONCEPT.get(word))
    ]
    said = set(concepts)
    number = next((n for word, n in _ORDINAL.items() if word in said), 0)
    if found := _NUMBER.search(clean):
        number = int(found[1])
    word = next((each for each in _KINDS if each in said), "")
    is_alone = len(words_of(clean)) <= ALONE
    if said >= {"norm", "sum"}:  # Add & norm: the sum is first
        return ""
    if word and (word not in ("mu", "var") or number or "norm" in said or is_alone):
        return f"{word} {number}"
    if number in (1, 2) and said >= {"mlp", "layer"}:
        return f"F_{number}"
    if said & {"active", "mlp"}:
        return "F_1" if "before" in said else "G" if "active" in said else "F_2"
    is_last = {*words_of(clean)} in _LAST
    return "Y" if is_last or said >= {"layer", "output"} else None


def _numbered(said: str, known: Container[str]) -> str | None:
    """Return the step with a number; "" if the number is missing, None if there is no such step."""
    word, _, number = said.partition(" ")
    if word not in _KINDS:
        return said if said in known else None
    there = _of_kind(word, known)
    if not there:
        return None
    place = int(number or 0) or (1 if len(there) == 1 else 0)
    return there[place - 1] if 0 < place <= len(there) else ""


def _of_kind(kind: str, known: Container[str]) -> list[str]:
    """Return the steps of a kind in order; the last may be the outputs of the layer."""
    norms = [i for i in range(1, 5) if f"mu_{i}" in known or f"ms_{i}" in known]
    named = [f"N_{i}" for i in norms if f"N_{i}" in known]
    ends_in_norm = len(named) < len(norms)
    if kind == "norm":
        return [*named, "Y"] if ends_in_norm else named
    found = [f"{kind}_{i}" for i in range(1, 5) if f"{kind}_{i}" in known]
    return [*found, "Y"] if kind == "R" and found and not ends_in_norm else found
