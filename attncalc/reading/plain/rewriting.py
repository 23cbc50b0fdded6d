"""What is rewritten in a text before it is split: the rules of rewriting.txt, in their order."""

import re

from attncalc.reading.words import sections_in

_RULES = [
    (
        title.partition(":")[0],
        re.compile("".join(rule["find"].splitlines()), re.MULTILINE),
        rule.get("put", "").strip('"'),
        re.compile(rule.get("where", "")),
    )
    for title, rule in sections_in(__package__, "rewriting.txt").items()
]
"""The stage of each rule, a pattern, what replaces it, and what texts with it contain."""


def rewritten(text: str, stage: str) -> str:
    """Return a text rewritten by the rules of a stage; lines stay lines.

    >>> rewritten("[10:02] ana: Q = [1 2]", "chats"), rewritten("Ana (10:02)", "chats")
    ('Q = [1 2]', '')
    >>> rewritten("In [3]: Q = mat(1, 2; 3, 4)", "programs")
    'Q = [1, 2; 3, 4]'
    """
    for own_stage, pattern, plain, where in _RULES:
        if own_stage == stage and where.search(text):
            text = pattern.sub(plain, text)
    return text
