"""What is rewritten in a text before it is split: the rules of rewriting.txt, in their order."""

import re
from pathlib import Path
from typing import NamedTuple

from attncalc.reading.words import sections_in


class _Rule(NamedTuple):
    """A pattern, what replaces it, and what texts with it contain."""

    find: re.Pattern[str]
    put: str
    where: re.Pattern[str]


def _rules() -> dict[str, list[_Rule]]:
    rules: dict[str, list[_Rule]] = {}
    for title, said in sections_in(Path(__file__).with_name("rewriting.txt")).items():
        find = re.compile("".join(said["find"].splitlines()), re.MULTILINE)
        own = _Rule(find, said.get("put", "").strip('"'), re.compile(said.get("where", "")))
        rules.setdefault(title.partition(":")[0], []).append(own)
    return rules


_RULES = _rules()


def rewritten(text: str, stage: str) -> str:
    """Return a text rewritten by the rules of a stage; lines stay lines.

    >>> rewritten("[10:02] ana: Q = [1 2]", "chats"), rewritten("Ana (10:02)", "chats")
    ('Q = [1 2]', '')
    >>> rewritten("In [3]: Q = mat(1, 2; 3, 4)", "programs")
    'Q = [1, 2; 3, 4]'
    """
    for rule in _RULES[stage]:
        if rule.where.search(text):
            text = rule.find.sub(rule.put, text)
    return text
