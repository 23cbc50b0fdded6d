"""Names as people write them: `W_Q`, `w q`, `query weights`; and the nearest one for a typo."""

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from attncalc.base.typed import quoted
from attncalc.problem.fields import ALIASES, KNOWN, added_lines

MOST_LISTED = 12
"""The largest number of names that a message lists; otherwise it names only the nearest."""

MOST_TOLD = 10
"""The largest number of unknown names of a file that are reported; the others are counted."""

_OF_MASK = (
    "write keep (1 may attend) or ignore (1 may not), bias (added to the scores), or causal (true)"
)
_OTHER_WORDS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "mask": (("keep", "ignore"), _OF_MASK),
    **dict.fromkeys(("attentionmask", "attnmask"), (("keep", "ignore"), _OF_MASK)),
    "tokens": (("labels",), "write their vectors in X, and their names in labels"),
    "context": (("X2",), "write the tokens of the queries in X1, and the context in X2"),
    "at": (("tokens",), "omit it: the results have a row for each position"),
    "dropout": ((), "no dropout is applied: leave it out"),
    "dk": (("scale",), 'd_k is the width of Q; "scale" takes another number'),
    **{
        word: ((word[0].upper(),), f"write {word[0].upper()}")
        for word in ("query", "queries", "key", "keys", "value", "values")
    },
    "scaled": (("scale",), 'write "scale": "sqrt_dk", "none" or a number'),
    "scaling": (("scale",), 'write "scale": "sqrt_dk", "none" or a number'),
    "softmax": (("normalizer",), 'write "normalizer": "softmax", "hardmax" or "sum"'),
    "activation": (("normalizer",), 'write "normalizer": "softmax", "hardmax" or "sum"'),
}
"""Other names of fields, and what to write instead: guessing between them would be wrong."""


_IN_PART = re.compile(r"((?:[1-9]\d{0,3}\.)?(?:(?:self|cross)\.)?)(?<=\.)(\S+)", re.IGNORECASE)
"""A name in a layer, or in an attention of a decoder: 1.W_Q, self.W_Q, 2.cross.W_Q."""


def _plain(name: str) -> str:
    return "".join(name.split()).replace("_", "").replace("-", "").lower()


_BY_PLAIN = {_plain(name): name for name in KNOWN} | {
    _plain(alias): name for alias, name in ALIASES.items()
}


def canonical(name: str) -> str | None:
    """Return the field with a name, ignoring case, spaces and underscores.

    >>> canonical("Query weights"), canonical("wq"), canonical("W_X"), canonical("2.self.wq")
    ('W_Q', 'W_Q', None, '2.self.W_Q')
    """
    found = _BY_PLAIN.get(_plain(name))
    if found is None and (match := _IN_PART.fullmatch(name)):
        own = _BY_PLAIN.get(_plain(match[2]))
        return own and match[1].lower() + own
    return found


def tell_unknown(
    names: Sequence[str], tell: Callable[[str], None], known: Iterable[str] = KNOWN
) -> None:
    """Report the unknown names of a file: the first of them with suggestions.

    >>> tell_unknown(["W_QQ", *"abcdefghijkl"], print, ["X", "W_Q"])  # doctest: +ELLIPSIS
    unknown name "W_QQ": did you mean W_Q? (known: X, W_Q)
    ...
    3 more names are not known
    """
    for name in names[:MOST_TOLD]:
        tell(unknown(name, known))
    more = len(names) - MOST_TOLD
    if more > 0:
        tell(f"{more:,} more {'name is' if more == 1 else 'names are'} not known")


def read_by_equations(of_file: Any, beside: Sequence[str] = ()) -> set[str]:
    """Return the names that equations of a file, and given beside it, read and do not define."""
    try:
        texts = added_lines(of_file or (), beside)
    except ValueError:  # refused when the field is read
        return set()
    from attncalc.problem.stating import read_by  # here, since few problems have any

    return read_by(texts) if texts else set()


def field_called(name: str, of_equations: Container[str]) -> str | None:
    """Return the field with a name; None for a matrix that an equation reads by this name.

    >>> field_called("a", ()), field_called("a", {"a"}), field_called("A", {"a", "A"})
    ('A', None, 'A')
    """
    return None if name in of_equations and name not in KNOWN else canonical(name)


def unknown(name: str, known: Iterable[str] = KNOWN, most: int = MOST_LISTED) -> str:
    """Return the message for an unknown name: the nearest one, and all of them, or the first.

    >>> unknown("W_QQ", ["X", "W_Q"])
    'unknown name "W_QQ": did you mean W_Q? (known: X, W_Q)'
    """
    known = tuple(known)
    plain = _plain(name[:80])
    if (meant := _OTHER_WORDS.get(plain)) and set(meant[0]) <= set(known):
        return f"unknown name {quoted(name)}: {meant[1]}"
    by_plain = {_plain(each): each for each in known} | {
        plain: each for plain, each in _BY_PLAIN.items() if each in known
    }
    near = get_close_matches(plain, by_plain, n=1, cutoff=0.5)
    near = near or [_plain(each) for each in known if name.startswith(f"{each}_")]
    nearest = f": did you mean {by_plain[near[0]]}?" if near else ""
    listed = [*known[:most], "…"] if len(known) > most else known
    if near and len(known) > MOST_LISTED:
        return f"unknown name {quoted(name)}{nearest}"
    return f"unknown name {quoted(name)}{nearest} (known: {', '.join(listed)})"
