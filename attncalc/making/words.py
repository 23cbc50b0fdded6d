"""Words for the tokens of problems that have names: short ones, that no one need look up."""

WORDS = (
    "the", "cat", "sat", "on", "a", "mat", "dogs", "run", "far", "she", "saw", "red", "birds",
    "fly", "home", "we", "like", "warm", "tea", "they", "sing", "old", "songs", "he", "reads",
    "long", "books", "rain", "falls", "all", "day", "you", "ask", "me", "why", "fish", "swim",
    "deep", "sun", "sets", "late",
)  # fmt: skip
"""More than a problem by hand has tokens; further ones have numbers behind them."""


def words(count: int, start: int) -> tuple[str, ...]:
    """Return so many words, beginning at one of them.

    Examples
    --------
    >>> words(3, 0)
    ('the', 'cat', 'sat')
    """
    around = [WORDS[(start + place) % len(WORDS)] for place in range(min(count, len(WORDS)))]
    again = [
        f"{around[place % len(WORDS)]} {place // len(WORDS) + 1}"
        for place in range(len(WORDS), count)
    ]
    return tuple(around + again)
