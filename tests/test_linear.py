"""Every regular expression takes time in proportion to its text, whatever the text."""

import random
import re

import pytest
from conftest import IN_FULL, SLOW
from patterns import Text, hard_texts, is_slow, uses

PARTS = 48
MOST_TEXTS = 600
"""Of all that is hard for a pattern of many parts, what is tried but in campaigns."""


@SLOW
def test_patterns_are_found() -> None:
    """In all packages: patterns held by names, in tuples, and within calls."""
    places = " ".join(use.place for use in uses())
    assert len(uses()) > 150
    for known in ("base.typed._DECIMAL", "naming.expressions._PATTERNS", "cli.commands.pages:"):
        assert known in places


@SLOW
@pytest.mark.parametrize("part", range(PARTS))
def test_every_pattern_is_linear(part: int) -> None:
    for use in uses()[part::PARTS]:
        texts = hard_texts(use.pattern)
        if len(texts) > MOST_TEXTS and not IN_FULL:
            texts = random.Random(use.place).sample(texts, MOST_TEXTS)
        for text in texts:
            for method in use.methods:
                why = is_slow(use.pattern, method, text)
                assert not why, f"{use.place}.{method}: {text}: {why}"


@SLOW
@pytest.mark.parametrize("part", range(PARTS))
def test_every_pattern_is_linear_on_pieces_together(part: int) -> None:
    for use in uses()[part::PARTS]:
        rng = random.Random(13)
        texts = hard_texts(use.pattern)
        befores, pieces = ([*{getattr(t, f) for t in texts}] for f in ("before", "piece"))
        befores.sort()
        pieces.sort()
        for _ in range(400 if IN_FULL else 100):
            piece = "".join(rng.choices(pieces, k=rng.randint(2, 3)))
            before = rng.choice(befores) + rng.choice([*pieces, ""])
            text = Text(before, piece, rng.choice(["", "\x01", *pieces]))
            for method in use.methods:
                why = is_slow(use.pattern, method, text)
                assert not why, f"{use.place}.{method}: {text}: {why}"


@SLOW
@pytest.mark.parametrize(
    ("slow", "method"),
    [
        (r"(a+)+$", "match"),
        (r"\s+$", "search"),
        (r"[0-9]+\.?[0-9]*", "fullmatch"),
        (r"\[(?:\s*,?\s*\[[^\[\]]*\])*\s*,?\s*\]", "fullmatch"),
        (r"<svg ([^>]*)>", "sub"),
    ],
)
def test_slow_patterns_are_found(slow: str, method: str) -> None:
    """The measure itself: patterns that are known to be slow are found out."""
    pattern = re.compile(slow)
    texts = hard_texts(pattern) * 12  # again where the machine was busy just then
    assert any(is_slow(pattern, method, text) for text in texts)
