"""The meaning of numbers in a line of words: a dimension, work, prose, or unknown."""

import re
from functools import lru_cache

from attncalc.reading.plain.blocks import PREAMBLE
from attncalc.reading.plain.corrections import is_correction

PROSE = "prose with its numbers"
NO_NAME = "these numbers have no name"
IN_COMMENT = "these numbers are in a comment"
IN_SENTENCE = "these numbers are in a sentence"
_DIMENSIONS = re.compile(
    r"\b\d{1,4}\s{0,3}(?:×|x|by|mal|par|por)\s{0,3}\d{1,4}(?:\s?(?:×|x)\s?\d{1,4})?\b"
)
_COUNTED = re.compile(
    r"\b(?:step|head|heads|token|tokens|row|rows|column|columns|col|line|lines|page|problem|part|"
    r"exercise|question|task|sheet|assignment|homework|week|section|version|pagina|página|pag|blz|sida|strona|strana|sayfa|input|output|query|key|"
    r"value|vector|decimals?|places|schritt|kopf|zeile|spalte|aufgabe|blatt|seite|teil|tête|tete|"
    r"ausgabe|eingabe|anfrage|sortie|entrée|entree|salida|entrada|jeton|wort|mot|palabra|"
    r"etape|étape|ligne|colonne|fila|columna|paso|ejercicio|exercice|of|to|von|de|nr|no|pts?|"
    r"points?|punkte|group|gruppe|gruppo|grupo|groupe|groep|grupp|grupa|группа|index|indices|matrikelnummer|id|student|"
    r"exercício|exercicio|lista|tarefa|tarea|esercizio|compito|opgave|opdracht|uppgift|oppgave|"
    r"zadanie|задача|задание|вариант|ödev|soru|blatt|serie|série|hoja|folha|foglio|devoir)\.?\s*+(?:[#:]\s*+)?\d[\d.,]*",
    re.IGNORECASE,
)  # fmt: skip
_COUNTS = re.compile(
    r"\b\d{1,4}(?:st|nd|rd|th)?\.?\s*(?:decimals?|places|decimal|digits?|tokens?|heads?|rows?|columns?|"
    r"keys?|queries|values|dimensions?|nachkommastellen|stellen|decimales|décimales|decimal|"
    r"points?|punkte|steps?|matrices|pages?)\b",
    re.IGNORECASE,
)
_INDEXED = re.compile(
    r"\b(?:at|bei|en) ?[(\[]\d{1,3}[,; ] ?\d{1,3}[)\]]"
    r"|[A-Za-zα-ωΑ-Ω][^\W\d]{0,12}+(?:[_^]?[\[({]?[\d,:]{1,9}[\])}]?)++"
)
_IDENTITY = re.compile(r"(?<![\w.,-])\d{6,12}(?![\w.]|,\d)")
"""The number of a student, or a telephone number."""
_ROOT = re.compile(r"√\(?\d+\)?|sqrt\(?\d+\)?|\be\^?[({]?-?\d[\d.]*[)}]?|\b(?:19|20)\d\d\b")
_TELEPHONE = re.compile(
    r"(?:tel|phone|mobile|mobil|tél|fax|cell|handy|whatsapp|office)[\w.]{0,8} ?[:.]? ?"
    r"\+? ?\(?\d{1,5}\)?(?:[ ./-]{1,3}\(?\d{1,12}\)?){1,6}"
    r"|(?:\+ ?\d{1,3}|\(?0\d{1,5}\)?)(?:[ ./-]{1,3}\(?\d{2,12}\)?){1,6}",
    re.IGNORECASE,
)
"""A telephone number, after its name or with + and a country, or with 0."""
_PAGE = re.compile(r"\s*[-–—]+ \d{1,3} [-–—]+\s*")
_DATE = re.compile(
    r"\bv\d+(?:\.\d+)+\b|\b\d{1,4}[-./]\d{1,2}[-./]\d{1,4}(?=T?\b|T\d)"
    r"|(?:\bT?|(?<=\d)T)\d{1,2}:\d\d(?::\d\d)?\b"
)
_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+(?:[.,]\d+)?|\.\d+)(?:/\d+)?%?(?![\w])")
_WORD = re.compile(r"[^\W\d_]{2,}")
_OPERATOR = re.compile(r"\d\s*[+*·×/]\s*[-(\d]|[=≈]|e\^|\^|√|∑|\d\s-\s\d")
_CODE = re.compile(r"@|\.\w{2,20}\(|\b(?:np|torch|import|print|range|Rational)\b|%\*%|<- ")
_LIST_NUMBER = re.compile(r"^[\s>#*-]*\(?\d{1,3}[.)]\s")
_WORKED = re.compile(
    r"\bexp\b|e\^|\b(?:exponen|esponen)[ctz]|指数|machten|potenz|potên|potenc|puissances|\bwork(?:ing)?\b|rechnung|\bcalcul|cálculo|\bchecks?\b|\bprobe\b|vérif|comprob|\bsums?\b|∑|summe|somm[ae]|suma|soma\b|\bsom\b|和\b|之和|合[计計]|nenner|denomina|dénomina|noemer|分母|\bmax\b|\bnorm|total|\bexp\(|√"
    r"|tanh ?\(\s?[-(\d]",
    re.I,
)
_SUMS = re.compile(
    r"(?:(?:row|line|zeilen?|de las filas|des lignes) ?)?(?:sums?|totals?|summen?|sommes?|sumas?)"
    r"(?: (?:of|der|des|de las|de los) (?:the )?(?:rows?|zeilen|lignes|filas))?|check",
    re.I,
)
_REMARK = re.compile(
    r"\W*+(?:not zero|nicht null|0 ではない値|note|remark|hinweis|nota|remarque|opmerking"
    r"|osservazione|注意?|備考)\b",
    re.I,
)
_CONSTANT = re.compile(
    r"(?:√|sqrt) ?[({]?(?:\d+|d_?\{?[kv]?\}?)[)}]?\s*$|(?:e\^|exp) ?[({]?[-\d.,/]+[)}]?\s*$"
    r"|\b[dnm](?:_?\{?(?:k|v|model)\}?)?\)?\s*$|\b(?:shapes?|size|dim\w*)\b"
)
_ASKED = re.compile(
    r"(?:[\w.]{1,30}, ?)?(?:[\w.]{1,30}\.)?"
    r"(?:sum|shape|sqrt|exp|max|size|rowSums|dim)\b[\w(),.=\[\] -]{0,60}"
    r"|(?:print ?\(|disp\(|show\()?[\w .@()*%'-]{1,60}\.(?:shape|size(?:\(\))?|dtype|ndim)\)?"
)
_TWO_INDICES = re.compile(r"\d\D{1,4}\d")


def numbers_in(text: str) -> list[str]:
    """Return the numbers of a line, without indices, dimensions and list numbers.

    >>> numbers_in("3) Head 2: Q is 3 × 2, with d_k = 2 and 0.38 in row 1")
    ['2', '0.38']
    """
    text = _IDENTITY.sub(" ", _LIST_NUMBER.sub(" ", text[:4000]))
    for pattern in (_DATE, _DIMENSIONS, _COUNTED, _COUNTS, _INDEXED, _ROOT):
        text = pattern.sub(" ", text)
    return _NUMBER.findall(text)


@lru_cache(maxsize=2048)
def role_of_words(text: str) -> str:
    """Return the meaning of the numbers in a line of words; "" if it is unknown."""
    numbers = numbers_in(text)
    if not numbers:
        return "words"
    if _REMARK.match(text):
        return "a remark"
    if is_telephone(text):
        return "the number of a telephone"
    if PREAMBLE.match(text):
        return "the head of a mail, or of a session"
    if _CODE.search(text):
        return "a line of a program"
    return "" if is_correction(text) else _role(text, numbers)


def _role(text: str, numbers: list[str]) -> str:
    words = len(_WORD.findall(text))
    if len(numbers) <= 2 and _OPERATOR.search(text):
        return "a line of work"
    if words >= 2 and len(numbers) <= max(1, words // 2):
        return PROSE
    if _OPERATOR.search(text) and _is_calculation(text):
        return "a line of work"
    return "" if len(numbers) > 1 or words < 1 else PROSE


def _is_calculation(text: str) -> bool:
    """Return whether a line is arithmetic: about as many signs as numbers."""
    signs = len(re.findall(r"[+*·×/=≈^√]|\s-\s", text))
    return signs + 1 >= len(numbers_in(text))


def is_telephone(text: str) -> bool:
    """Return whether a line is a telephone number, as below a mail.

    >>> is_telephone("06 12 34 56 78"), is_telephone("Tel. +385 1 4606 111")
    (True, True)
    >>> is_telephone("0 12 34"), is_telephone("10 12")
    (False, False)
    """
    return len(text) < 60 and _TELEPHONE.fullmatch(text.strip(" .")) is not None


def is_page(text: str) -> bool:
    """Return whether a line is the number of a page between dashes."""
    return _PAGE.fullmatch(text) is not None


def is_worked(names: list[str]) -> bool:
    """Return whether a name is of intermediate work: exp(s_1), the sum."""
    return any(_WORKED.search(name) for name in names)


def is_of_sums(name: str) -> bool:
    """Return whether a key names sums of rows: row_sums, Zeilensummen."""
    return _SUMS.fullmatch(" ".join(name.replace("_", " ").split())) is not None


def is_constant(names: list[str]) -> bool:
    """Return whether a number follows a name that is not an entry: √2, e^1.5, d_k.

    >>> is_constant(["Scores divided by 1/√2"]), is_constant(["Scores of row 2"])
    (True, False)
    """
    return bool(names) and _CONSTANT.search(names[-1]) is not None and "/(" not in names[-1]


def is_size(rows: list[list[str]]) -> bool:
    """Return whether brackets may contain a size: (2, 3, 2)."""
    return len(rows) == 1 and all(cell.isdigit() for cell in rows[0]) and len(rows[0]) <= 4


def asks_for_work(text: str) -> bool:
    """Return whether a line of a program prints intermediate work: A.sum(axis=1)."""
    return _ASKED.fullmatch(text.strip()) is not None


def could_be_entry(names: list[str]) -> bool:
    """Return whether the name of a number has two indices, like an entry."""
    return any(_TWO_INDICES.search(name) for name in names if len(name) < 40)
