"""Rows given by the words of tokens: "why -> why 80%, fish 20%"."""

import re
from collections.abc import Sequence
from itertools import groupby

from attncalc.reading.answers.map_words import lexemes_in, phrases
from attncalc.reading.naming.name import Tokens, name_in
from attncalc.reading.plain.marks import COMMA
from attncalc.reading.plain.rows import split_row

LONGEST = 1000
_GIVEN = re.compile(
    r"\s*(?P<row>[^\W\d][^\s\d:]{0,30}(?: [^\W\d][^\s\d:]{0,30}){0,5})\s*"
    r"(?P<sign>->|→|=>|:|(?<=\s)(?=\d))\s*(?P<rest>.{3,600})"
)
_ROW = re.compile(
    r"\s*(?:\d{1,2}[.)]\s+)?(?P<row>[^\s:=|(](?:[^:=|(]{0,38}[^\s:=|(])?)"
    r"\s*(?:[:=|]|(?=\([-\d]))\s*(?P<rest>\S.{0,600})"
)
_COLUMN = re.compile(
    r"\s*(?P<row>[^\s\d:=|(]{1,30}(?: \d{1,2})?)"
    rf"(?: {{2,}}(?=-?\d)|\s+(?={phrases('same')}))(?P<rest>.{{1,200}})",
    re.IGNORECASE,
)
"""A row below others, whose name is a column."""
_STRUCK = re.compile(r"~~[^~]{1,200}~~|\*?\([^()]{0,80}\)\*?")
"""What is crossed out of a row, and words beside it."""
_WORD_AND = r"(?:and|und|et|y|e|en|i|och|og|ja|ve|и|і) "
_SHARES = re.compile(rf" ?[,;|] ?(?:{_WORD_AND})?| {_WORD_AND}")
_SHARE_OF = rf"(?P<share>\d{{0,6}}(?:[.{COMMA}]\d{{1,6}})? ?%?)"
_WORD_FIRST = re.compile(rf"(?P<word>[^\s:=]{{1,40}}) ?[:=]? ?{_SHARE_OF}")
_WORD_LAST = re.compile(
    rf"{_SHARE_OF} ?\(?(?:[^\W\d]{{1,12}} ){{0,2}}(?P<word>[^\s:=()]{{1,40}})\)?"
)
_AND = re.compile(rf"[\s,&/+]+(?:{_WORD_AND})?")
_NAME = re.compile(r"[^\W_\u2e80-\uffff]+|[\u2e80-\uffff]+")
_SAME = re.compile(phrases("same"), re.IGNORECASE)
_VECTOR = re.compile(
    r"(?<![^\W_])(?P<name>[A-Za-z](?:_?\d{1,2})?)(?: ?= ?(?:"
    r"(?P<value>\([-\d][^()\n]{0,200}\)|\[[-\d][^\[\]\n]{0,200}\])"
    r"|(?P<other>[A-Za-z]_?\d{1,2})(?= ?[,;]))"
    rf"| (?:is |wie |the )?(?:{_SAME.pattern}|wie)(?: as| wie| que| di| bei| van)?"
    r" (?P<same>[A-Za-z]_?\d{1,2}\b|[^\W\d_]{1,12} \d{1,2}\b))",
    re.IGNORECASE,
)
"""A vector and its numbers, or another vector that it equals: z2 = z1, v4 same as v2."""
_OF_ROW = re.compile(r"\W{0,4}[^\W\d_]{1,12} (\d{1,2})\b")
"""The number of a token at the start of a line with its vectors."""
_NUMBERED = re.compile(r"^[^\W\d_]{1,12}\.? (?=\d{1,2}$)")
"""The word before the number of a row: token 2."""
_NUMBERS = re.compile(r"\(([^()\d]{0,20}\d[^()]{0,200})\)")
MOST_BELOW = 60
"""How many lines below a row may move."""


def with_rows_of_tokens(text: str, labels: Tokens) -> str:
    """Return a text in which rows given by words are rows of numbers.

    A line that leaves out a token is unchanged: the missing number is unknown.
    """
    lines = _with_equal(_with_equal_vectors(text).split("\n"), labels)
    if not labels.keys:
        return "\n".join(lines)
    lines = _of_each([_shares(line, labels) or line for line in lines], labels)
    return "\n".join(_with_masked(lines, labels.queries))


def _with_equal_vectors(text: str) -> str:
    """Return a text in which a vector that equals one before it, as in z2 = z1, has its numbers."""
    known: dict[str, str] = {}
    lines = text.split("\n")
    for k, line in enumerate(lines):
        row = match[1] if (match := _OF_ROW.match(line)) else ""

        def read(match: "re.Match[str]", row: str = row) -> str:
            name, other = match["name"], match["other"] or match["same"]
            key = name if name[-1].isdigit() else name + row
            if match["value"]:
                known[key] = match["value"]
                return match[0]
            word, _, number = (other or "").rpartition(" ")
            value = known.get(f"{name}{number}" if word else other, "")
            return f"{name} = {value or other}" if value or match["other"] else match[0]

        lines[k] = _VECTOR.sub(read, line) if len(line) < LONGEST else line
    return "\n".join(lines)


def _with_equal(lines: list[str], labels: Tokens) -> list[str]:
    """Return lines in which words that name another row are that row: can: the same as cat.

    "The same" alone is the row before it. The lines are one below the other; tokens with names have
    one each.
    """
    made = list(lines)
    named = [
        _ROW.fullmatch(line) or _COLUMN.fullmatch(line) if len(line) < LONGEST else None
        for line in lines
    ]
    names = [_tokens_of(match, labels) for match in named]
    for is_run, group in groupby(range(len(lines)), key=lambda i: bool(names[i])):
        own = [(i, match) for i in group if (match := named[i])]
        rows = {
            each: match["rest"] for i, match in own if _named_row(match)[1] for each in names[i]
        }
        count = sorted(each for i, _ in own for each in names[i])
        is_whole = not any(labels.queries) or count == sorted(labels.queries)
        is_sure = len(rows) > 1 or len(count) == len(labels.queries) > 1
        last = ""
        for i, match in own if is_run and is_whole and is_sure else ():
            rest, token = match["rest"], names[i][0]
            words = _NAME.findall(_NUMBERS.sub("", rest))
            said = [each for each in words if each in rows]
            are_words = "".join(each for each in words if each not in rows).isalpha()
            if token not in rows and are_words and len(said) == 1:
                inner = _NUMBERS.search(rest)
                rows[token] = inner[1] if inner else rows[said[0]]
                made[i] = f"{_begin(match)}{rows[token]}"
            elif token not in rows and last and _is_same(rest):
                rows[token] = last
                made[i] = f"{_begin(match)}{last}"
            last = rows.get(token, "")
    return made


def _is_same(words: str) -> bool:
    """Return whether words state that a row is the one before it, and nothing else."""
    others = [each for each in lexemes_in(_SAME.sub(" ", words), {}) if each.kind != "end"]
    are_few = len(others) <= 1 and not any(map(str.isdigit, words))
    is_clear = not {"no", "ordinal", "numeral", "bad", "all"} & {each.kind for each in others}
    return _SAME.search(words) is not None and are_few and is_clear


def _begin(row: "re.Match[str]") -> str:
    """Return what is before the numbers of a row."""
    return f"{row['row']}: " if row.re is _ROW else f"{row['row']}  "


def _tokens_of(match: "re.Match[str] | None", labels: Tokens) -> list[str]:
    """Return the tokens whose row a line states, or its name if no token has one; or []."""
    if match is None or not any(labels.queries):
        row = _NUMBERED.sub("", match["row"]) if match else ""
        return [row] if row and " " not in row else []
    tokens = [each for each in _AND.split(match["row"]) if each]
    return tokens if all(map(labels.__contains__, tokens)) else []


def _of_each(lines: list[str], labels: Tokens) -> list[str]:
    """Return lines in which a row of several tokens is a row of each: cat and mat: 1, 2.

    The lines below it move down, and as many blank lines are left out.
    """
    made = list(lines)
    for i in reversed(range(len(made))):
        match = _ROW.fullmatch(made[i]) if len(made[i]) < LONGEST else None
        tokens = _tokens_of(match, labels)
        if match is None or len(tokens) < 2:
            continue
        below = range(i + 1, min(i + MOST_BELOW, len(made)))
        blanks = [k for k in below if not made[k].strip()][: len(tokens) - 1]
        if len(blanks) == len(tokens) - 1 and _named_row(match)[1]:
            for k in reversed(blanks):
                del made[k]
            made[i : i + 1] = [f"{token}: {match['rest']}" for token in tokens]
    return made


def _with_masked(lines: list[str], queries: Sequence[str]) -> list[str]:
    """Return lines with crosses for the masked entries that rows of tokens leave out.

    Line k of a run begins with the name of token k or with its number, and has k numbers. Blank
    lines may be between.
    """
    count, made = len(queries), list(lines)
    found = {
        i: _ROW.fullmatch(line) if len(line) < LONGEST else None
        for i, line in enumerate(lines)
        if line.strip()
    }
    rows = [(i, *_named_row(match)) for i, match in found.items()]
    for start in range(len(rows) - count + 1 if count > 2 else 0):
        run = rows[start : start + count]
        if all(_is_part(k, query, *run[k - 1][1:]) for k, query in enumerate(queries, start=1)):
            crosses = ["x"] * count
            own = [f"{label} | {' | '.join([*row, *crosses][:count])} |" for _, label, row in run]
            first, last = run[0][0], run[-1][0]
            made[first : last + 1] = own + [""] * (last + 1 - first - count)
    return made


def _named_row(match: re.Match[str] | None) -> tuple[str, list[str]]:
    """Return the name of a row and its numbers."""
    rest = match["rest"].strip() if match else ""
    rest = _STRUCK.sub(" ", rest).strip() or rest.strip("()")
    cells = split_row(rest.replace(" / ", "  ")) if rest else None
    return match["row"] if match else "", cells or []


def _is_part(number: int, query: str, label: str, row: list[str]) -> bool:
    """Return whether a row has the name or the number of a token, and as many numbers."""
    name = label.rpartition(" ")[2]
    return len(row) == number and bool(name) and name in (query, str(number))


def _shares(line: str, labels: Tokens) -> str:
    """Return a line with the share of each token as a row: home -> we 16%, …, or 0.16 for we, ….

    Shares before their tokens are in the order of the keys: in another one, they are ranked.
    """
    match = _GIVEN.fullmatch(line.rstrip(" .")) if len(line) <= LONGEST else None
    row, pieces = (match["row"].rstrip(), _SHARES.split(match["rest"])) if match else ("", [])
    for form in (_WORD_FIRST, _WORD_LAST) if len(pieces) == len(labels.keys) > 1 else ():
        found = [form.fullmatch(each) for each in pieces]
        told = {each["word"]: each["share"] for each in found if each and each["share"].strip(" %")}
        is_row = row in labels
        if form is _WORD_LAST and [*told] == [*labels.keys]:
            is_row = bool(match and match["sign"]) or name_in(row, labels) is not None
        if is_row and {*told} == {*labels.keys}:
            return f"{row}: {', '.join(told[key].rstrip() for key in labels.keys)}"
    return ""
