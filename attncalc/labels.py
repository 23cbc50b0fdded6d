"""Names of tokens: numbers where none are given, and repeated tokens told apart."""

from collections import Counter
from collections.abc import Sequence


def told_apart(labels: Sequence[str]) -> tuple[str, ...]:
    """Return the labels with each repeated one followed by its position, counted from 1.

    Examples
    --------
    >>> told_apart(["the", "cat", "the"])
    ('the (1)', 'cat', 'the (3)')
    """
    count = Counter(labels)
    names = tuple(
        label if count[label] == 1 else f"{label} ({position})"
        for position, label in enumerate(labels, start=1)
    )
    if len(set(names)) == len(names):
        return names
    return tuple(f"{label} ({position})" for position, label in enumerate(labels, start=1))


def numbered(size: int) -> tuple[str, ...]:
    """Return the names "1" … "size".

    Examples
    --------
    >>> numbered(3)
    ('1', '2', '3')
    """
    return tuple(str(position) for position in range(1, size + 1))


def shortened(labels: Sequence[str], longest: int, ellipsis: str = "…") -> tuple[str, ...]:
    """Return the labels cut to `longest` characters, and still told apart.

    Examples
    --------
    >>> shortened(["encyclopaedia", "encyclopaedic", "end"], 6)
    ('encyc… (1)', 'encyc… (2)', 'end')
    """
    if all(len(label) <= longest for label in labels):
        return tuple(labels)
    return told_apart(
        [
            label if len(label) <= longest else label[: longest - len(ellipsis)] + ellipsis
            for label in labels
        ]
    )
