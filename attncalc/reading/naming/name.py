"""The matrix that a text names: by symbol first, then by expression, then by words."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import NamedTuple

from attncalc.problem.fields import MATRICES
from attncalc.reading.naming.at_hand import name_at_hand, names_there
from attncalc.reading.naming.expressions import is_product, step_of_expression
from attncalc.reading.naming.layer_words import step_of_layer
from attncalc.reading.naming.symbols import STEPS, compact, indexed
from attncalc.reading.naming.vocabulary import HEADS, concepts_in, plain_word, step_of_words
from attncalc.reading.plain.marks import COLUMN
from attncalc.reading.plain.other_words import ORDINALS

LONGEST = 300
_LIST_NUMBER = re.compile(
    r"^[\s#>*·]*(?:(?:step|schritt|etape|étape|paso|task|part|exercise|aufgabe|teil|question)\s*"
    r"\d{1,3}[a-z]?\s*[:.)–-]*|\(?(?:\d{1,3}[.)]\s?|(?:[a-z]|[ivx]{1,4})[.)]\s)(?!\d)|-\s)\s*",
    re.IGNORECASE,
)  # fmt: skip
_CALL = re.compile(
    r"(?:(?:np|torch|jnp|sp|sympy|pd)\.)?"
    r"(?:print|pprint|round|around|disp|display|as_tibble|as\.data\.frame|DataFrame|head|println)"
    r"\(([^\n]{1,80}?)(?:, ?(?:\d{1,2}|\w{1,20} ?= ?\w{1,20})){0,3}\)"
    r"|\(?([\w.][\w. @*']{0,59}?)\)?\."
    r"(?:(?:round|evalf)\(\d{0,2}\)|numpy\(\)|tolist\(\)|detach\(\)|cpu\(\)|head\(\))"
)
_OF_FRAME = re.compile(r"^(?:df|mat|arr)_(?=\w)")
_AGAIN = re.compile(
    r"^\W*(?:correction|corrected|korrektur|korrigiert|berichtigung|berichtigt|corrige|corrigé|"
    r"correccion|corrección|fixed|revised|new|neu|actually|(?:oh )?(?:no,? )?wait|oops|ups)\b"
    r"\s*(?:[:!.,-]\s*|$|(?=\w))",
    re.IGNORECASE,
)
_HEAD = re.compile(
    rf"\b(?:{HEADS}|cab\.|baş(?:lık)?)s?[\s_]*(?:n[r°o]?\.?\s*)?#?(\d{{1,3}}|(?-i:[AB]))\b"
    r"(?:\s+of\s+\d{1,4})?"
    r"|(?:头|頭|ヘッド|헤드|머리)\s?(\d{1,3}|[一二三四])|第?([一二三四])(?:个?头|頭)"
    rf"|\b(\d{{1,2}})[.ºª] (?:{HEADS}|baş)\w{{0,4}}\b(?! ?\d)"
    r"|\btoken (\d{1,3}) of \d{1,4}\b",
    re.I,
)
_IN_BRACKETS = re.compile(r"(?<![^\W\d_])[(\[]([^()\[\]]{1,60})[)\]]")
_ASIDE = re.compile(r"\([^()]{0,60}\)")
_ROW_OF = re.compile(
    r"(?:for|of|fur|für|de|du|del|row|zeile|fila|ligne|token|query|vector|vektor|vecteur|nr|no)?"
    r"\.?(?:(?<!\s)\s++)?#?(\d{1,3})\s*+$",
    re.IGNORECASE,
)
_TOKEN_OF = re.compile(
    r"([^\s_]|[^\s_][^_]{0,30}?[^\s_]) (?:[^\W\d_]{2,4} )?['\"“]?([^\s{}'\"“”]+)['\"”]?"
)
"""The row of a token: k for cat."""
_INDEXED = re.compile(
    r"(?<![^\W\d_])([A-Za-zα]{1,12})_\{?(?:\\?(?:text|mathrm)\{)?"
    r"([^\W\d_]{1,30})(?:, ?([^\W\d_]{1,30}))?\}{0,2}"
)
"""A row or an entry with the names of tokens as indices: q_cat, s_{cat,sat}."""
_ENTRY_OF = re.compile(
    r"(?<![^\W\d_])([A-Za-zα]{1,12})(?:\(|_\{?)([^\W\d_]{1,30})[)}]?(?:_|(?=\[))[\[({]?(\d{1,2})[\])}]?$"
)
"""An entry of the row of a token: q(cat)_1, q_cat[1]."""
_OF_EXPRESSION = re.compile(r"[√/^_+*·(.]\s*$|\bsqrt$|\be\^")
"""The text before a number that does not number a row: √2, S/2, e^2."""
_LEAD = re.compile(
    r"(?:(?:and|then|so|now|finally|next|also|thus|hence|therefore|und|dann|also|schließlich|nun"
    r"|enfin|puis|donc|ensuite|luego|entonces|finalmente|por fin),? ){1,3}",
    re.IGNORECASE,
)
"""Words before the name in a line: and then softmax(S) V."""
_SAME = re.compile(
    r"\b(?:the same as|same as|equal to|identical to|zelfde als|gelijk aan|gleich wie"
    r"|dieselben wie|pareil que|igual(?:es)? (?:que|a)|los mismos que|uguali? a|iguais a)\b"
    r"[^=:;.()]{1,60}",
    re.IGNORECASE,
)
"""A comparison with another matrix, which is not the name."""
_ON_THE_WAY = re.compile(
    r"(?:np\.|torch\.|jnp\.)?(?:exp|log|ln|sqrt|max|sum)\(.*\)|e\^\{?[A-Za-z]\}?"
    r"|map\w{0,10}[\[(]\{?exp\b.{0,60}"
    r"|(?:the )?(?:row )?(?:exponen[tcz]|esponen[tz])\w{0,12}\b(?: .{0,60})?",
    re.I,
)
_TRANSPOSED = re.compile(
    r"\b(?:transpos|transpon|traspost|trasposta|transpuest|getransponeerd)|转置|転置"
    r"|(?<![QXAS*·@×])(?<![QXAS*·@×] )\b(?-i:[QKVO])(?:\^\{?T\b|ᵀ)|^(?-i:S)(?:\^\{?T\}?|ᵀ)/",
    re.IGNORECASE,
)
_QUOTIENT = re.compile(r"^\(([^()]{1,20})\) ?/ ?\(?([^()]{1,12})\)?$")
_NUMBERED = re.compile(r"(?<=[QKSAVHO])(?:_?[{(]?(\d)[)}]?|\^[{(]{1,2}(\d)[)}]{1,2})")
_SOFTMAX_OF = re.compile(r"(?i:softmax)\(?(?:[sS]|row|zeile|fila|ligne)?_?\{?(\d{1,3})\}?\)?")
_DIMENSIONS = re.compile(
    r"[(\[]?\b\d{1,4}\s{0,3}(?:×|x|by)\s{0,3}\d{1,4}(?:\s?(?:×|x|by)\s{0,3}\d{1,4})?\b[)\]]?"
)
_CAPITAL = re.compile(
    r"(?<![\w^_/.'-])([QKVSOZ]|A(?=-|\s*(?:[:=.)]|$|matrix|Matrix)))(?=-[^\W\d]|[^\w^_/'.-]|$)"
)
_BY_W_O = re.compile(r"W[_^]?\{?O\}?(?!\w)")
_TIMES = re.compile(r"\b(?:times|mal|fois|multipl[a-z]{1,12})\b", re.I)
_PLAIN_WORD = re.compile(r"[^\W\d_]{2,}")
_ROW = r"(?:row|zeile|reihe|ligne|fila)"
_OF = r"(?: ?(?:of|von|der|de|del)\b)?(?: (?:the|la|el|den)\b)?"
_ROW_NUMBER = re.compile(
    rf"[(\[,]? ?\b{_ROW} ?(?:no\.?|nr\.?|#)? ?(\d{{1,3}})\b ?[)\]]?{_OF}", re.I
)
_PLACES = {each: n for word, n in ORDINALS.items() for each in (word, plain_word(word))}
_ORDINAL = re.compile(rf"\b({'|'.join(_PLACES)})\b(?: {_ROW}\b{_OF})?", re.I)
LONGEST_COUNTED, MOST_BEFORE = 80, 6


@dataclass(frozen=True)
class Tokens:
    """The names of the tokens, as queries and as keys; "" for no name."""

    queries: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()

    def __contains__(self, label: object) -> bool:
        return bool(label) and (label in self.queries or label in self.keys)

    def row(self, matrix: str, label: str) -> int:
        """Return the row of a token in a matrix, from 1: a key for K, V and X2."""
        sides = (self.queries, self.keys)
        own, other = sides[::-1] if matrix[:1] in ("K", "V") or matrix == "X2" else sides
        return 1 + (own if label in own else other).index(label)


NO_TOKENS = Tokens()


class Name(NamedTuple):
    """The matrix, row or entry that a text names.

    matrix: a step of a plan, or a given matrix.
    head, row, column: its head, row and column, counted from 1; 0 for all.
    number: a number after a capital letter: a head, or a row.
    turned: whether it is transposed.
    how: how it was recognized: "symbol", "expression" or "words".
    weak: whether a better name replaces it.
    """

    matrix: str
    head: int = 0
    row: int = 0
    column: int = 0
    number: int = 0
    turned: bool = False
    how: str = "symbol"
    weak: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether it is an entire matrix."""
        return not any((self.head, self.row, self.column, self.number, self.turned, self.weak))

    @property
    def is_vector(self) -> bool:
        """Whether it is one row, or one column."""
        return (self.row != 0) != (self.column != 0)


_OUTPUT = re.compile(r"\\?(?:text|mathrm)?\{?head\}?_\{?(\d{1,2})\}?")
"""The outputs of a head, as in Concat(head_1, head_2); "Head 1" is a heading."""


def name_in(text: str, labels: Tokens = NO_TOKENS) -> Name | None:
    """Return the matrix, row or entry that a text names; None if it names none.

    >>> name_in("**Step 2:** Keys").matrix, name_in("Q_{1,2}")[:4], name_in("we get")
    ('K', ('Q', 0, 1, 2), None)
    """
    if at_hand := name_at_hand(text):
        matrix, head, row, column = at_hand
        return Name(matrix, head, row, column)
    name = _name_in(text, labels)
    known = names_there()
    if not known or not (name is None or name.how == "words" or " " in text.strip()):
        return name
    if (found := step_of_layer(text, known)) is None:
        return name
    step, how = found
    return Name(step, how=how) if step else None


@lru_cache(maxsize=8192)
def _name_in(text: str, labels: Tokens) -> Name | None:
    """Return what a text names, for any problem."""
    clean = without_list_number(without_again(text[:LONGEST].lstrip(' \t#>*·"')))
    clean = _SAME.sub(" ", clean)
    clean = _LEAD.sub("", clean.strip(' \t:=.,;#∴→"'), count=1)
    clean = _without_calls(clean)
    clean = _ENTRY_OF.sub(partial(_counted, labels), clean)
    letters = [index[1] for index in _INDEXED.finditer(clean)]
    if len({*letters}) == len(letters):  # q_cat q_sat are headings of columns
        clean = _INDEXED.sub(partial(_counted, labels), clean)
    clean = _IN_BRACKETS.sub(lambda own: " " if own[1] in labels else own[0], clean)
    if _ON_THE_WAY.fullmatch(clean):
        return None
    if own := _OUTPUT.fullmatch(clean):
        return Name("H", head=int(own[1]))
    clean = _QUOTIENT.sub(r"\1/\2", clean)
    head = head_in(clean)
    if head:
        clean = _HEAD.sub(" ", clean).strip(" ,:()-")
    name = (
        _symbol(clean)
        or _at_the_end(clean)
        or _of_counted_row(clean)
        or _of_row(clean, labels)
        or _expression(clean)
        or (None if is_product(clean) else _given_or_said(clean))
    )
    if name and name.matrix in ("Q", "K", "V", "O", "S_scaled") and name.how != "expression":
        name = name._replace(turned=name.turned or _is_turned(name, clean))
    if name and head and not name.head:
        return name._replace(head=head, row=name.row)
    return name


def _is_turned(name: Name, text: str) -> bool:
    """Return whether a text says that a matrix is transposed, and not K as its factor."""
    said = _TRANSPOSED.search(text)
    return said is not None and (name.matrix == "K" or not text[: said.start()].endswith("K "))


def _counted(labels: Tokens, index: "re.Match[str]") -> str:
    """Return a symbol with the numbers of tokens for their names."""
    letter, first, second = index.groups()
    is_counted = bool(second) and second.isdigit()
    are_tokens = first in labels and (is_counted or (second or first) in labels)
    if not are_tokens or _symbol(letter) is None:
        return index[0]
    row = labels.row(letter.upper(), first)
    column = second if is_counted else labels.row("K", second) if second else ":"
    return f"{letter}_{{{row},{column}}}" if second or letter[0].isupper() else f"{letter}_{row}"


def is_on_the_way(text: str) -> bool:
    """Return whether a text is an intermediate calculation of a step: exp(S), sum(E, 2)."""
    return len(text) < LONGEST and _ON_THE_WAY.fullmatch(text.strip()) is not None


def _without_calls(text: str) -> str:
    """Return what a line of a program prints: print(round(A, 2)), display(df_A.round(2))."""
    for _ in range(3):
        if (call := _CALL.fullmatch(text)) is None:
            break
        text = call[1] or call[2]
        text = _OF_FRAME.sub("", text) if text else ""
    return text


def without_list_number(text: str) -> str:
    """Return a text without the number of a list item or a step before it."""
    return _LIST_NUMBER.sub("", text, count=1)


def without_again(text: str) -> str:
    """Return a text without the word that marks a correction."""
    return _AGAIN.sub("", text, count=1)


def says_again(text: str) -> bool:
    """Return whether a text is marked as a correction of an earlier one."""
    return _AGAIN.match(text) is not None


def head_in(text: str) -> int:
    """Return the only head that a text mentions, or 0; -1 for head 0 of a count from 0.

    >>> head_in("Head 2:"), head_in("head 1 of 2"), head_in("heads"), head_in("Head 0:")
    (2, 1, 0, -1)
    """
    found = {number for _, _, number in heads_in(text[:LONGEST])}
    return found.pop() if len(found) == 1 else 0


def heads_in(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield where heads are mentioned, and their numbers; -1 is head 0 of a count from 0."""
    for match in _HEAD.finditer(text):
        number = next(filter(None, match.groups()))
        counts = next((own for own in ("AB", "一二三四") if number in own), "")
        yield *match.span(), counts.index(number) + 1 if counts else int(number) or -1


def _symbol(text: str) -> Name | None:
    if (of := _SOFTMAX_OF.fullmatch(compact(text))) and len(text) < 30:
        is_head = "S" in compact(text)[1:]
        return Name("A", number=int(of[1])) if is_head else Name("A", row=int(of[1]))
    found = indexed(text)
    if found is None:
        return None
    matrix, head, row, column, number, turned = found
    return Name(matrix, head, row, column, number, turned)


def _at_the_end(text: str) -> Name | None:
    """Return the row or entry after words: Scores. We have S_11; all rows: columns are q_1, q_2."""
    before, _, last = text.rpartition(" ")
    name = _symbol(last) if before and _PLAIN_WORD.search(before) else None
    if name is not None and name.matrix == "H" and name.number:
        return name  # output H_1
    if name is None or not name.row or last.isdigit():
        return None
    other = _symbol(before.rpartition(" ")[2].strip(",;")) if name.is_vector else None
    if other and other.matrix == name.matrix and other.row + 1 == name.row > 1:
        return name._replace(row=0, turned=COLUMN.search(before) is not None)
    return None if before.count("(") > before.count(")") else name  # K^T (columns k1 to k4)


def _of_counted_row(text: str) -> Name | None:
    """Return the row that a text numbers: row 2 of Q, the second query."""
    counted = row_in(text)
    outside = _ASIDE.sub(" ", text)
    said = None if outside == text or row_in(outside) else _words(outside)
    base = counted and (said or _symbol(counted[1]) or _words(counted[1]))
    if not counted or not base or base.row or base.weak or base.matrix.startswith(("W_", "b_")):
        return None
    return base._replace(row=counted[0])


def row_in(text: str) -> tuple[int, str] | None:
    """Return the row that a text numbers, from 1, and the text without it: row 2 of Q."""
    if len(text) > LONGEST_COUNTED:
        return None
    if match := _ROW_NUMBER.search(text):
        row = int(match[1])
    elif match := _ORDINAL.search(text):
        row = _PLACES[match[1].lower()]
    if match is None or not row:
        return None
    rest = f"{text[: match.start()]} {text[match.end() :]}"
    return row, " ".join(rest.split())


def _of_row(text: str, labels: Tokens) -> Name | None:
    """Return the row that words and a number name: query vector 2, output for token 1, q_cat."""
    if own := _TOKEN_OF.fullmatch(text[:LONGEST_COUNTED]):
        base = (_symbol(own[1]) or _words(own[1])) if own[2] in labels else None
        if base and not base.row and not base.weak:
            return base._replace(row=labels.row(base.matrix, own[2]))
    first, _, rest = text.partition(" ")
    if first.strip(":") in labels and (base := _symbol(rest.strip())):
        return base._replace(row=labels.row(base.matrix, first.strip(":")))
    match, is_list = _ROW_OF.search(text), first.endswith(",") and first[-2:-1].isdigit()
    if match is None or is_list or not _PLAIN_WORD.search(text[: match.start()]):
        return None  # Q1, K1 and V1
    if len(text) > 60 or _DIMENSIONS.search(text) or _OF_EXPRESSION.search(text[: match.start()]):
        return None
    words = text[: match.start()].strip(" ,:#")
    base = _symbol(words) or _words(words)
    if base is None or base.row or base.weak or base.matrix.startswith(("W_", "b_")):
        return None
    is_scaled = base.how == "words" and {*concepts_in(words)[0]} <= {"scaled", "root"}
    is_divisor = is_scaled or words.endswith("=")  # divided by √4 = 2
    return base._replace(row=0 if is_divisor else int(match[1]), how="words")


def _expression(text: str) -> Name | None:
    step = step_of_expression(text)
    if step is None and len(text) < LONGEST:
        numbers = {a or b for a, b in _NUMBERED.findall(text)}
        if len(numbers) == 1 and (step := step_of_expression(_NUMBERED.sub("", text))):
            return Name(step, number=int(numbers.pop()), how="expression")
    return Name(step, how="expression") if step else None


def _given_or_said(text: str) -> Name | None:
    """Return the given matrix after words, or what the words name: we use three tokens with X."""
    said = _words(text)
    before, _, last = text.rpartition(" ")
    name = _symbol(last.lstrip("$\\("))
    is_given = name is not None and name.matrix in MATRICES and name.matrix not in STEPS
    if not is_given or last.islower() or _TIMES.search(before) or not _PLAIN_WORD.search(before):
        return said
    is_made_of_it = said is not None and last.endswith(said.matrix)  # the queries with W_Q
    others = (word for word in before.split() if not word[1:].isalpha() or word.isupper())
    return said if is_made_of_it or any(map(_symbol, others)) else name


def _with_letter(letter: str, said: tuple[str, bool] | None, text: str) -> Name:
    """Return the name of words with one capital letter: Values V, scaled S."""
    if said is None or said[1] or (said[0] == letter and len(text.split()) == 2):
        return Name(letter)
    return Name(said[0], how="words")


def _product_at_the_end(text: str) -> Name | None:
    """Return the step that a product after words computes: result A V."""
    words = text.split()
    tails = (" ".join(words[k:]) for k in range(1, min(len(words), MOST_BEFORE)))
    return next((found for each in tails if (found := _expression(each))), None)


def _words(text: str) -> Name | None:
    clean = _DIMENSIONS.sub(" ", text)
    for inner in _IN_BRACKETS.findall(clean)[:4]:
        found = _symbol(inner) or _expression(inner)
        if found and not (found.how == "symbol" and len(compact(inner)) == 1 and inner.islower()):
            return found
    if _TIMES.search(clean) and (_BY_W_O.search(clean) or _CAPITAL.findall(clean) == ["V"]):
        return Name("O", how="words")
    capitals, outside = set(_CAPITAL.findall(clean)), _IN_BRACKETS.sub(" ", clean)
    if (symbol := _symbol(outside.strip())) and symbol.matrix in ("Q", "K", "V", "A"):
        return symbol  # A2 (same mask), Q^T (3 columns)
    said = step_of_words(outside) or step_of_words(clean)
    if (said is None or said[1]) and (product := _product_at_the_end(clean)):
        return product
    if len(capitals) == 1 and len(clean.split()) <= 8:
        return _with_letter("O" if "Z" in capitals else next(iter(capitals)), said, clean)
    if said is None:
        first = re.split(r" {2,}|, | - ", text.strip(), maxsplit=1)[0]
        return _symbol(first) or _expression(first) if first != text.strip() else None
    return Name(said[0], how="words", weak=said[1])
