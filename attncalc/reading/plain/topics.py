"""Sentences about one token after another: "Token 1 has query (1, 2) and key (0, 1)"."""

import re

from attncalc.reading.plain.marks import COMMA
from attncalc.reading.plain.sentence_rows import Named

LONGEST = 2000
"""The largest length of a line that is read."""
_TOPIC = re.compile(
    r"\b(?:token|jeton|word|wort|mot|palabra|parola|palavra|woord|ord|row|query|requête|consulta|"
    r"anfrage|zapytanie|fråga|output|sortie|salida|uscita|saída|ausgabe|uitvoer|wyjście|utdata|токен\w{0,2}|слово)"
    r"\w{0,2}[ _](\d{1,3})\b",
    re.IGNORECASE,
)
_NUMBER = rf"[-+−–]?(?:\d{{1,30}}(?:[.{COMMA}]\d{{1,30}})?|\.\d{{1,30}})(?:/\d{{1,9}})?%?"
_PARTED = re.compile(r",? (?:and|und|et|y|e|ed|en|i|och|og|ja|ve|и) |[,;] ?")
_LIST = re.compile(rf"[(\[]?({_NUMBER}(?:(?:{_PARTED.pattern}){_NUMBER}){{1,50}})[)\]]?(?!\w)")
_TOKENS = re.compile(
    r"\b(?:tokens?|inputs?|keys?|quer(?:y|ies)|outputs?|words?|positions?|rows?|heads?|jetons?|mots?|"
    r"entrées?|clés?|wörter|eingaben?|entradas?|claves?|palabras?|ingressi|chiavi|chaves?)\s*$",
    re.IGNORECASE,
)
"""What is counted by the numbers behind it: inputs 1 and 3."""
_ROOT = re.compile(r"(?:1 ?/ ?)?(?:√ ?|sqrt ?|\b(?:root|racine|raíz) (?:of|de) )\(?\d{1,4}\)?")
_DECIMAL = re.compile(r"(?<=\d),(?=\d)")
_SENTENCE = re.compile(r"[.!?:] ")


def with_topics(text: str, named: Named) -> str:
    """Return a text in which sentences about tokens are rows of steps; lines stay lines.

    A line changes only where every number of it belongs to a row of a known step.

    >>> with_topics("Token 2 has q (1, 2).", lambda words: ("Q", (3, 2)))
    'Q[2,:] = [1 2]'
    """
    topic, lines = 0, []
    has_commas = COMMA in text
    for line in text.split("\n"):
        if not line.strip():
            topic = 0
        # a comma may be a decimal one also before another: 0,5, 0,2
        plain = _DECIMAL.sub(COMMA, line) if has_commas else line
        made, topic = _line(plain, topic, named) if len(line) < LONGEST else (line, 0)
        made = line if made == plain else made
        lines.append(made)
    return "\n".join(lines)


def _line(line: str, topic: int, named: Named) -> tuple[str, int]:
    """Return a line, in rows where it is about tokens, and the token that it ends with."""
    topics = [(match.start(1), int(match[1])) for match in _TOPIC.finditer(line)]
    if "=" in line or "|" in line or not (topics or topic):
        return line, topics[-1][1] if topics else topic
    plain = _ROOT.sub(lambda root: "√".ljust(len(root[0])), line)
    for start, number in topics:
        width = len(str(number))
        plain = f"{plain[:start]}{' ' * width}{plain[start + width :]}"
    rows: dict[str, str] = {}
    end = 0
    for match in _LIST.finditer(plain):
        if topics and topics[0][0] > match.start():  # 0.9, 0.7 and 0.8 for token 1
            return line, topics[-1][1]
        topic = next((n for start, n in reversed(topics) if start < match.start()), topic)
        words = _SENTENCE.split(plain[end : match.start()])[-1]
        name, shape = named(words)
        cells = _PARTED.split(match[1])
        row = f"{name}[{topic},:]"
        is_of_tokens = match[0][0] not in "([" and _TOKENS.search(words) is not None
        is_a_row = shape[1:] == (len(cells),) and 1 <= topic <= shape[0] and row not in rows
        if is_of_tokens or not is_a_row:
            return line, topic
        rows[row] = " ".join(cells)
        end = match.end()
    if not rows or any(map(str.isdigit, _LIST.sub("", plain))):
        return line, topics[-1][1] if topics else topic
    return "; ".join(f"{row} = [{cells}]" for row, cells in rows.items()), topic
