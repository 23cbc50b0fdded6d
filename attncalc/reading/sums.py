"""Arithmetic written out in a text: `0·1 + 2·4 = 8`, and its largest rounding error."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from attncalc.reading.plain.valuing import value_of

LONGEST_LINE = 2000
_SIGN = re.compile(r"(?<![<>!:=≤≥])(?:=|≈|≃|\\approx|\\simeq)(?![=>])")
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.]*\d)")
_TEX = (
    (re.compile(r"\\(?:cdot|times)(?![A-Za-z])|(?<=[\d)]) ?[x×∗⋅] ?(?=[-\d(.])"), "·"),
    (re.compile(r"\\[dt]?frac\{([^{}]{1,60})\}\{([^{}]{1,60})\}"), r"((\1)/(\2))"),
    (re.compile(r"\\sqrt\{([^{}]{1,60})\}"), r"sqrt(\1)"),
    (re.compile(r"\{([\d.]{1,60})\}\^\{\\dagger\}"), r"\1"),
    (re.compile(r"\\(?:left|right|quad|qquad|[,;!])|[$&`*_]{0,3}\$|&|\\\\"), " "),
    (re.compile(r"\*\*"), "^"),
    (re.compile(r"−|–"), "-"),
)  # fmt: skip
_NO_PART = re.compile(r"[^-+*·×/^(){}.\d\s√a-z]")
_BEGINS = re.compile(r"[-+]?[\d.(√]")
_RESULT = re.compile(r"\s*([-+]?\d+(?:\.\d+)?)(?=\s*(?:$|[,;|)\]}]|\.(?:\s|$)|\(|and\b|#|--))")
_OPERATES = re.compile(r"[-+*·/^]|sqrt|√|exp")
DUST = 1e-9


class Sum(NamedTuple):
    """A line of arithmetic: its expression and value, the result as typed, and the slack."""

    line: int
    text: str
    value: float
    result: str
    slack: float

    @property
    def is_right(self) -> bool:
        """Whether rounded numbers can give the result."""
        return abs(self.value - float(self.result)) <= self.slack


def sums_in(lines: list[str]) -> Iterator[Sum]:
    """Yield the arithmetic of each line, with its result.

    >>> [(each.text, each.is_right) for each in sums_in(["q1·k1 = 1·0 + 2·4 = 9"])]
    [('1·0 + 2·4', False)]
    """
    for number, line in enumerate(lines, start=1):
        if len(line) > LONGEST_LINE or not _SIGN.search(line):
            continue
        for pattern, plain in _TEX:
            line = pattern.sub(plain, line)
        left, *others = _SIGN.split(line)
        for right in others:
            result = _RESULT.match(right)
            written = _NO_PART.split(left)[-1]
            found = _BEGINS.search(written)
            left = right
            if result is None or found is None:
                continue
            text = written[found.start() :].strip()
            before = (line[: line.find(text)].rstrip() or " ")[-1]
            slack = _slack(text, result[1])
            is_apart = not (before.isalnum() or before in ")]}.,+-·/^") and "," not in text
            if slack is not None and is_apart:
                value = value_of(text)
                yield Sum(number, text, float(value or 0), result[1], slack)


def _slack(text: str, result: str) -> float | None:
    """Return the largest error of a result, from its digits and those of its decimals."""
    value = value_of(text)
    if value is None or not _OPERATES.search(text.lstrip("+-")):
        return None
    slack = _half(result) + DUST * max(1.0, abs(float(value)))
    for found in _NUMBER.finditer(text):
        if "." not in found[0]:
            continue
        ends = []
        for sign in "+-":
            moved = f"({found[0]}{sign}{_half(found[0]):.12f})"
            ends.append(value_of(text[: found.start()] + moved + text[found.end() :]))
        if None in ends:
            return None
        slack += max(abs(float(each or 0) - float(value)) for each in ends)
    return slack


def _half(number: str) -> float:
    """Return half a unit of the last place of a number as typed."""
    return float(0.5 * 10.0 ** -len(number.partition(".")[2]))
