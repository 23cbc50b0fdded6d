"""Names of a text with the numbers that it prints for them, in formulas: `p - y`, `2·n·d`."""

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

LATEST = 3
"""How many of the values of a name are tried."""
MOST_TOKENS = 400
"""The most tokens of a formula with its values."""
_TOKEN = re.compile(
    r"(?P<number>∞|(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d{1,3}(?![\w.]))?(?:…|\.{2,3})?)"
    r"|(?P<name>∂[\w{}]{1,20}/∂[\w{}]{1,20}|d[A-Z]/d\w{1,20}"
    r"|[^\W\d_ᵀ][^\W_ᵀ]{0,30}(?:_\{[^{}]{0,12}\}|_[^\Wᵀ]{1,20})?(?:['′]{1,2}(?![\w'′]))?)"
    r"|(?P<sign>[-+*·⊙/^()\[\]{},@√ᵀ%])|(?P<other>\S)"
)
WORD = re.compile(r"[^\W\d_]{2,}")
_ROW = re.compile(r"[\W_]*([^\W\d_]\w{0,30})[`*$]{0,3} ?[:|][`*$ ]{0,4}(\d+(?:\.\d+)?)[`*$ |,]*")
"""A name and its number: | d_model | 512 |, n_heads: 8."""


class Token(NamedTuple):
    """A piece of a side: its kind, its text, and its place in the side."""

    kind: str
    text: str
    start: int
    end: int


def tokens_of(text: str) -> list[Token]:
    """Return the numbers, names and signs of a text."""
    return [
        Token(str(m.lastgroup), m[m.lastgroup or 0], m.start(m.lastgroup or 0), m.end())
        for m in _TOKEN.finditer(text)
    ]


class Names:
    """The numbers of names, as tokens: the latest last.

    reserved: names that are functions, or words of arithmetic.
    """

    def __init__(self, reserved: frozenset[str]) -> None:
        self.reserved = reserved
        self.values: dict[str, list[tuple[Token, ...]]] = {}
        self.defined: dict[str, tuple[list[Token], str]] = {}

    def row(self, line: str) -> None:
        """Keep the number of a line that is only that of a name."""
        if found := _ROW.fullmatch(line):
            self.keep([found[1]], tokens_of(found[2]))

    def keep(self, names: Sequence[str], tokens: Sequence[Token]) -> None:
        """Keep the number, vector or matrix that is printed for names."""
        for name in names:
            known = self.values.setdefault(name, [])
            texts = [each.text for each in tokens]
            if not known or [each.text for each in known[-1]] != texts:
                known.append((*tokens,))

    def define(self, names: Sequence[str], tokens: Sequence[Token], text: str) -> None:
        """Keep the formula of names, for numbers that are printed later."""
        depths = accumulate((e.text in "([{") - (e.text in ")]}") for e in tokens)
        ends = (i for i, depth in enumerate(depths) if not depth and tokens[i].text in ".,:")
        if own := [*tokens[: next(ends, None)]]:
            self.defined.update(dict.fromkeys(names, (own, text)))

    def labels(self, before: Sequence[str], tokens: Sequence[Token]) -> list[str]:
        """Return the names that the next number is for: at the end of a side, and those before.

        before: the names of the sides before, which the side may go on with.
        """
        own = [each for each in tokens if each.text not in "{}"]
        count = 3 if [each.text for each in own[-2:]] == ["^", "2"] else 1
        named, others = own[-count:], own[:-count]
        if not named or named[0].kind != "name" or named[0].text in self.reserved:
            return [*before]
        label = _plain("".join(each.text for each in named))
        if not others:
            return [*before, label]
        depth = sum((each.text in "([") - (each.text in ")]") for each in others)
        is_listed = others[-1].text == "," and others[-2:][0].kind == "name"
        return [label] if self.begins_apart(others) and not (depth or is_listed) else [*before]

    def begins_apart(self, before: Sequence[Token]) -> bool:
        """Return whether a formula can begin after tokens: punctuation, another word, or none."""
        text, own = before[-1].text if before else ":", [each.text for each in before[-2:-1]]
        is_word = WORD.fullmatch(text) and text not in self.values and own != ["\\"]
        is_dot = text == "." and before[-2:-1] and before[-2].end < before[-1].start  # a product
        return bool(is_word) or (text in ",:.!?→⇒" and not is_dot)

    def filled(self, tokens: Sequence[Token]) -> Iterator[list[Token]]:
        """Yield a side with the latest numbers of its names, then with earlier ones."""
        before = [*tokens]
        for back in range(LATEST):
            made = [*self._filled(tokens, back)]
            if made == before or len(made) > MOST_TOKENS:
                return
            before = made
            yield made

    def _filled(self, tokens: Sequence[Token], back: int) -> Iterator[Token]:
        squared = False
        for at, each in enumerate(tokens):
            after, name = tokens[at + 1 : at + 3], _plain(each.text)
            is_call = bool(after) and after[0].text in "([" and after[0].start == each.end
            if squared and each.text in "^2":
                squared = each.text == "^"
                continue
            squared = [a.text for a in after] == ["^", "2"] and f"{name}^2" in self.values
            names = [f"{name}^2"] if squared else self._parts(name) if each.kind == "name" else []
            if is_call or not names:
                yield each
            for known in (self.values[one] for one in names if not is_call):
                own = known[-1 - min(back, len(known) - 1)]
                for kind, text in (("sign", "("), *((t.kind, t.text) for t in own), ("sign", ")")):
                    yield Token(kind, text, each.start, each.end)

    def _parts(self, name: str) -> list[str]:
        """Return the known names side by side in one, as X and W_Q in XW_Q; [] for another."""
        if name in self.values:
            return [name]
        known = name not in self.reserved and name[:1] in self.values
        rest = self._parts(name[1:]) if known and name[1:] else []
        return [name[:1], *rest] if rest else []


def _plain(name: str) -> str:
    return re.sub(r"[{}]", "", name).replace("′", "'")
