"""Words for the steps in several languages, and what several of them mean together."""

import re
import unicodedata
from functools import lru_cache

from attncalc.reading.words import meanings

MOST_WORDS = 40
MOST_BESIDE = 5
"""The largest number of words with which "output weights" can be a given matrix."""
_DIVIDED = re.compile(r"[/÷] ?(?:√|sqrt)|^[/÷:] ?(?:√ ?)?\d[\d.,]*$")
_BY_ROOT = re.compile(r"^√ ?\d[^=]*$|^(?:[^√]*[,;] )?+[^=√]*+(?<= )√ ?\(?\d+\)?(?: \([^()\d]*\))?$")
"""A root before or behind words of any language."""


@lru_cache(maxsize=4096)
def plain_word(text: str) -> str:
    """Return a text in lower case, without accents."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in plain if not unicodedata.combining(c))


_CONCEPT = {plain_word(word): concept for word, concept in meanings("steps").items()}
_SIGNS = [*_CONCEPT, *map(plain_word, meanings("other"))]
_UNPARTED = sorted((each for each in _SIGNS if ord(each[0]) > 0x2E80), key=len, reverse=True)
"""Words of Chinese and Japanese, which no blanks part: the longest count."""
_GREEK = r"[\u0370-\u03ff]"
_ALPHA = rf"(?<!{_GREEK})α(?!{_GREEK})"
_OTHERS = r"[^\W\d_\u0370-\u03ff\u2e80-\U0003ffff]+"
_WORD = re.compile("|".join([*_UNPARTED, "√", r"[\u0900-\u097f]+", _ALPHA, f"{_GREEK}+", _OTHERS]))
_BEGINNINGS = {plain_word(stem): concept for stem, concept in meanings("beginnings").items()}
_STEMS_OF_HEADS = [word for word, of in meanings("beginnings").items() if of == "heads"]
HEADS = "|".join(
    [word for word, of in meanings("steps").items() if of == "heads"]
    + [rf"{stem}\w{{0,4}}" for stem in _STEMS_OF_HEADS]
)
"""The pattern of the words for heads."""
_BY_LENGTH = sorted(_BEGINNINGS.items(), key=lambda each: -len(each[0]))


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case, without accents.

    >>> words_of("Schlüssel-Matrix: clés")
    ['schlussel', 'matrix', 'cles']
    """
    return _WORD.findall(plain_word(text[:600]))


def concepts_in(text: str) -> tuple[list[str], int]:
    """Return the meanings of the words of a text, in order, and the number of words."""
    words = words_of(text)
    return [concept for word in words[:MOST_WORDS] if (concept := concept_of(word))], len(words)


_BESIDE = {"matrix", "matrices", "vector", "vectors", "the", "of", "each", "s", "all", "for", "and",
           "final", "my"}  # fmt: skip
"""Words beside the name of a step that do not change its meaning."""


def says_only_a_step(text: str) -> bool:
    """Return whether every word of a text belongs to the name of a step.

    >>> says_only_a_step("each head's outputs"), says_only_a_step("scores of Anna")
    (True, False)
    """
    return all(concept_of(word) or word in _BESIDE for word in words_of(text))


@lru_cache(maxsize=16_384)
def concept_of(word: str) -> str:
    """Return the meaning of a word in lower case without accents; "" if it is unknown."""
    if word in _CONCEPT:
        return _CONCEPT[word]
    return next((concept for stem, concept in _BY_LENGTH if word.startswith(stem)), "")


def step_of_words(text: str) -> tuple[str, bool] | None:
    """Return the matrix that words name, and whether the name is weak.

    >>> step_of_words("Skalierte Scores"), step_of_words("attention weights"), step_of_words("hi")
    (('S_scaled', False), ('A', False), None)
    """
    concepts, count = concepts_in(text)
    if not set(concepts) - {"root"}:
        is_by_root = 1 < count <= MOST_BESIDE and _BY_ROOT.search(text) is not None
        is_divided = _DIVIDED.search(text) is not None
        return ("S_scaled", not is_divided) if is_divided or is_by_root else None
    step = _step(concepts, count)
    if step is None:
        return ("O", True) if "result" in concepts else None
    return step, count > 12


def _step(concepts: list[str], count: int) -> str | None:
    """Return the step that several words name together, by the most specific rule."""
    said = set(_without_what_comes_after(concepts))
    sides = [side for side in ("Q", "K", "V") if side in said]
    side = sides[0] if len(sides) == 1 else ""
    is_weighed = bool(said & {"softmax", "weights", "attention"})
    rules: tuple[tuple[object, str], ...] = (
        (said in ({"O", "weights"}, {"O", "projection"}) and count <= MOST_BESIDE, "W_O"),
        ("weights" in said and side and not said & {"attention", "softmax", "O"}, f"W_{side}"),
        ("concat" in said or (said >= {"heads", "side"} and not sides), "C"),
        ("rotated" in said and side in ("Q", "K") and side, f"{side}_rot"),
        ("capped" in said, "S_capped"),
        ("O" in said and "heads" in said and "result" not in said, "H"),
        ("O" in said or ("V" in said and is_weighed), "O"),
        ("softmax" in said or said >= {"sum", "scaled"}, "A"),
        (said >= {"attention", "weights"} and not said & {"S", "before"}, "A"),
        ("masked" in said and "unscaled" not in said, "S_masked"),
        ("scaled" in said or said >= {"S", "root"}, "S_scaled"),
        ("S" in said or sides == ["Q", "K"], "S"),
        (said & {"attention", "weights"}, "A"),
        (side, side),
        ("given" in said and not sides, "X"),
    )
    return next((step for holds, step in rules if holds), None)


def _without_what_comes_after(concepts: list[str]) -> list[str]:
    """Remove the concepts that a text announces for later: scores before softmax."""
    if "before" in concepts:
        place = concepts.index("before")
        return concepts[:place] + concepts[place + 2 :]
    return concepts
