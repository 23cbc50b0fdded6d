"""Maps in text: sentences, arrows and tables among the lines of a text."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

import numpy as np

from attncalc.base.types import Matrix
from attncalc.reading.answers.answer import Unread, WrittenConnection, WrittenMatrix
from attncalc.reading.answers.expected import Expected
from attncalc.reading.answers.lines import attention_in, connection_in, is_about_lines, names_in
from attncalc.reading.answers.map_sentences import ALL, ITSELF, Heard, Share, Told, heard
from attncalc.reading.answers.map_words import Lexeme, labels_of, lexemes_in, place_of
from attncalc.reading.naming.name import head_in
from attncalc.reading.plain.grids import Line
from attncalc.reading.plain.marks import CELL, GRID, ROW

LONGEST = 4000
MOST_WORDS = 200
"""The largest number of words of a sentence that is read."""
MOST_JOINED = 6
"""The largest number of lines of one sentence."""
_HINT = re.compile(r"[^\W\d_]|[→⇒⟶⟹↦➔➜←⇐]|[-=]>|<-")
_RULE = re.compile(r"[\s|+:=─━┼│-]*")
_ASIDE = re.compile(r"\(([^()\d]{0,60})\)")
_CELLS = re.compile(rf"[|│&\t{CELL}]|  ++")
_BULLET = re.compile(r"\s*(?:[-*•·#>]|\(?\w{1,3}[.)]\s)")
_DONE = (".", ";", ":", "!", "?", "|", "_")
"""The ends of a line whose sentence does not continue below; the last is a blank to fill in."""
_HALF = ("out", "in", "token", "all", "sep", "to", "by", "most", "second", "attends", "feeds",
         "arrow", "ordinal", "")  # fmt: skip
"""Words that do not end a sentence."""
_OWN = re.compile(r"(?:token )?\d{1,7}(?: \(.{1,80}\))?|\d{1,7} more|.{0,60}[_?…].{0,60}")
_OWN_TOKEN = re.compile(r"token (\d{1,7})")
"""The replacement of a name on attncalc's own pages."""
_TEX_ROW = re.compile(
    r"\\\\(?:\[[^\]]{0,20}\])?|\\(?:hline|toprule|midrule|bottomrule|text(?:bf|it|rm)?)\b|[{}]"
)
HALF = 0.5
"""No other weight of its row is larger than this."""
UNCLEAR = 'write it as "output 1 attends to input 3"'


class Said(NamedTuple):
    """The map content of one line, with its head and attention."""

    line: int
    text: str
    told: tuple[Told, ...]
    head: int = 0
    of: str = ""


class MapReader:
    """Finds statements about the map in the lines of an answer.

    expected: the names and the number of the tokens.
    """

    def __init__(self, expected: Expected) -> None:
        self.labels = labels_of(expected.names)
        self.turned = (-1, -2) if expected.by_columns else (-2, -1)
        self.weights = [
            np.moveaxis(each, self.turned, (-2, -1)).reshape(
                -1, *(each.shape[k] for k in self.turned)
            )
            for name, each in expected.steps.items()
            if name.rpartition(".")[2] == "A" and each.ndim > 1
        ]
        self.sides = expected.labels
        self.names = tuple(dict.fromkeys(expected.names))
        pieces = (each for label in expected.names for each in (label, *names_in(label)))
        self.pieces = {each for piece in pieces for each in (piece, piece.lower())}
        self.has_columns = any(each.shape[-1:] == (1,) for each in expected.steps.values())
        self.told: dict[int, Said] = {}
        self.missed: dict[int, str] = {}
        self.whole: set[int] = set()
        self.until, self.run = 0, (0, False)

    # -- lines ------------------------------------------------------------------------------------

    def takes(self, lines: Sequence[Line], i: int) -> bool:
        """Return whether a line is only about the map; store what it states."""
        if i >= self.until:
            self.until = i + (self._table(lines, i) or self._sentence(lines, i))
        return lines[i].number in self.whole

    def _sentence(self, lines: Sequence[Line], i: int) -> int:
        """Read the sentences that begin on a line, and return their number of lines."""
        own = self._lexemes(lines[i].text)
        if not any(each.kind in ("number", "doubtful", *_HALF[:3]) or "symbol" in each.kind
                   for each in own):  # fmt: skip
            return 1
        words, stop = list(own), i + 1
        last = min(len(lines), i + MOST_JOINED)
        while stop < last and len(words) < MOST_WORDS and self._goes_on(lines, stop, own):
            own = self._lexemes(lines[stop].text)
            words, stop = words + own, stop + 1
        text = " ".join(line.text.strip() for line in lines[i:stop])
        if any(each.kind == "arrow" for each in words) and self._is_row(lines, i):
            return stop - i
        if self._keep(lines[i].number, text, words):
            self.whole |= {line.number for line in lines[i:stop]}
        return stop - i

    def _is_row(self, lines: Sequence[Line], i: int) -> bool:
        """Return whether lines with arrows contain the rows of a matrix: token 1 -> 1, 3."""
        if i >= self.run[0]:
            stop, counts, has_values = i, set(), False
            while stop < len(lines):
                own = self._lexemes(lines[stop].text)
                if not any(each.kind == "arrow" for each in own):
                    break
                behind = own[[each.kind for each in own].index("arrow") + 1 :]
                counts.add(len(behind) if all(e.kind in ("number", "sep") for e in behind) else 1)
                has_values = has_values or _has_values(behind)
                stop += 1
            self.run = stop, has_values or (len(counts) == 1 and counts != {1})
        return self.run[1]

    def _lexemes(self, text: str) -> list[Lexeme]:
        is_long = len(text) > LONGEST or not _HINT.search(text)
        return [] if is_long else lexemes_in(text, self.labels)

    def _goes_on(self, lines: Sequence[Line], i: int, before: Sequence[Lexeme]) -> bool:
        """Return whether a line continues the sentence of the previous line."""
        text, above = lines[i].text.strip(), lines[i - 1].text.rstrip()
        if not text or not before or above.endswith(_DONE) or _BULLET.match(text):
            return False
        if GRID.search(text):
            return False
        own = self._lexemes(text)
        if all(each.kind == "colon" for each in own):  # head 2:
            return False
        starts = own[0].kind in ("out", "in", "token", "number") or "symbol" in own[0].kind
        starts = starts or [e.kind for e in own[1:4:2]] == ["colon", "arrow"]  # second: 1 -> 3
        return before[-1].kind in _HALF or (text[0].islower() and not starts)

    def _keep(self, line: int, text: str, words: Sequence[Lexeme]) -> bool:
        """Store what sentences state; return whether they state nothing else."""
        told: list[Told] = []
        is_all, last = True, self._last(line)
        for is_end, group in groupby(words, lambda each: each.kind == "end"):
            own = [] if is_end else [*group]
            found = heard(own[:MOST_WORDS], last) if own else Heard()
            fits = not found.told or self._fits(found.told, own)
            told += found.told if fits else ()
            last = found.told[-1] if found.told else last
            is_missed = found.is_missed or (not fits and any(each.kind == "in" for each in own))
            if is_missed and not text.endswith("?"):
                self.missed[line] = text
            is_all = is_all and (not own or bool(found.told and fits))
        if told:
            self.told[line] = Said(line, text, tuple(told))
        is_plain = not any(each.kind in ("data", "stop") for each in words)
        return bool(told) and is_all and is_plain

    def _last(self, line: int) -> Told | None:
        """Return the last statement, if it is at most a few lines before a line."""
        near = [self.told[each] for each in range(line - MOST_JOINED, line) if each in self.told]
        return near[-1].told[-1] if near else None

    def _fits(self, told: Sequence[Told], words: Sequence[Lexeme]) -> bool:
        """Return whether the tokens exist, if only numbers are beside an arrow."""
        sizes = {each.shape[-2:] for each in self.weights}
        is_there = not sizes or any(
            all(_within(each.outputs, n) and _within([s.name for s in each.shares], m)
                for each in told)
            for n, m in sizes
        )  # fmt: skip
        if any(each.kind == "in" for each in words):
            return is_there and all(map(self._outputs, told))
        is_symbol = any(each.kind.startswith("symbol ") for each in words)  # q1 -> 3
        is_bare = any(
            a.kind == "arrow" and b.kind == "number" and b.said.isdigit()
            for a, b in pairwise(words)
        )
        is_entry = is_bare and (self.has_columns or is_symbol or not sizes)
        return is_there and not is_entry and all(map(self._outputs, told))

    def _outputs(self, told: Told) -> tuple[str, ...]:
        """Return the names of the outputs; none if their number is not known."""
        if told.outputs != (ALL,):
            return told.outputs
        count = max((each.shape[-2] for each in self.weights), default=0)
        names = self.sides.queries
        return names if any(names) else tuple(str(k) for k in range(1, count + 1))

    # -- tables -----------------------------------------------------------------------------------

    def _table(self, lines: Sequence[Line], i: int) -> int:
        """Read a table with a column of outputs, and one of their inputs."""
        kinds = self.columns(lines[i].text)
        if not kinds:
            return 0
        out, stop = kinds.index("out"), i + 1
        rows: list[tuple[Line, list[str]]] = []
        while stop < len(lines) and not GRID.search(lines[stop].text):
            if not _RULE.fullmatch(lines[stop].text) or (rows and not lines[stop].text.strip()):
                cells = cells_of(lines[stop].text, len(kinds))
                if not cells or not self._names(cells[out]):
                    break
                rows.append((lines[stop], cells))
            stop += 1
        named = [any(self._names(row[k]) for _, row in rows) for k in range(len(kinds))]
        places = [(k, kind) for k, kind in enumerate(kinds) if named[k]]
        most = next((k for kind in ("most", "in") for k, own in places if own == kind), -1)
        if most < 0:
            return 0
        ranks = {most: "most", **{k: "second" for k, kind in places if kind == "second"}}
        for line, row in rows:
            self._row(line, self._names(row[out]), [(row[k], rank) for k, rank in ranks.items()])
        self.whole |= {line.number for line in lines[i:stop]}
        return stop - i

    def _row(self, line: Line, outputs: list[str], cells: Sequence[tuple[str, str]]) -> None:
        """Store a row of a table: its cells, by the rank of their column."""
        if any(not self._names(cell) and not _is_blank(cell) for cell, _ in cells):
            self.missed[line.number] = line.text
            return
        ranks = {name: rank for cell, rank in reversed(cells) for name in self._names(cell)}
        if ranks:
            told = Told(tuple(outputs), tuple(Share(name, ranks[name]) for name in sorted(ranks)))
            self.told[line.number] = Said(line.number, line.text, (told,))

    def columns(self, text: str) -> list[str]:
        """Return the ranks of the columns below a heading; [] if it is not the heading of a map."""
        cells = cells_of(text) if len(text) < LONGEST and _HINT.search(text) else []
        if len(cells) < 2 or len(cells) > 8:
            return []
        kinds = [self._kind(cell) for cell in cells]
        other = next((kind for kind in ("token", "") if kind in kinds), None)
        if "out" not in kinds and other is not None:
            kinds[kinds.index(other)] = "out"
        if "most" in kinds and "second" not in kinds:  # most to token | then to token
            behind = kinds[kinds.index("most") :]
            kinds = [*kinds[: -len(behind)], *(k.replace("token", "second") for k in behind)]
        is_ranked = {*kinds} & {"most", "second"} or sorted(kinds) == ["in", "out"]
        return kinds if kinds.count("out") == 1 and is_ranked else []

    def _kind(self, cell: str) -> str:
        words = lexemes_in(cell, {})
        kinds = [each.said if each.kind == "ordinal" else each.kind for each in words]
        if "number" in kinds or "data" in kinds:
            return "none"
        for kind, signs in (("second", {"second", "2", "then"}), ("most", {"most", "1", "attends"}),
                            ("in", {"in"}), ("out", {"out"}), ("token", {"token"})):  # fmt: skip
            if signs & {*kinds}:
                return kind
        return "none" if cell.strip(" -") else ""

    def _names(self, cell: str) -> list[str]:
        words = lexemes_in(_ASIDE.sub(self._without_aside, cell), self.labels)
        if any(each.kind in ("data", "unknown", "bad") for each in words):
            return []
        return [each.said for each in words if each.kind == "number" or "symbol" in each.kind]

    def _without_aside(self, aside: "re.Match[str]") -> str:
        """Return words in brackets that name no token as ""; others are unchanged."""
        return aside[0] if aside[1].strip() in self.pieces else ""

    def knows(self, line: WrittenConnection) -> bool:
        """Return whether all names in a line of attncalc's form can be tokens."""
        return not self.weights or all(
            not name
            or not self.pieces.isdisjoint((name, name.strip(" \"'`*#")))
            or _OWN.fullmatch(name)
            for name in (line.output, *line.most, *line.second)
        )

    def own_weights(self, matrices: Mapping[str, WrittenMatrix]) -> Matrix | None:
        """Return the weights of an answer, by head, or those of the key if it lacks some.

        None if the key has no weights, or those of several attentions.
        """
        heads, written = self.weights[0] if len(self.weights) == 1 else None, matrices.get("A")
        if heads is None or written is None:
            return heads
        own = np.moveaxis(written.values, self.turned, (-2, -1))
        is_whole = own.size == heads.size and own.shape[-2:] == heads.shape[-2:]
        return own.reshape(heads.shape) if is_whole and np.isfinite(own).all() else heads

    def is_complete(self, lines: Sequence[WrittenConnection]) -> bool:
        """Return whether something is read for every output."""
        count = sum(each.shape[-2] * len(each) for each in self.weights)
        return bool(count) and len({(e.of, e.head, self._index(e.output)) for e in lines}) >= count

    def not_read(self) -> Iterator[Unread]:
        """Yield the parts that seem to be about the map, and were not understood."""
        for line, text in self.missed.items():
            yield Unread(line, text, f"it seems to be of the map: {UNCLEAR}", False, of_map=True)

    # -- results
    # ------------------------------------------------------------------------------------

    def connections(
        self, said: Sequence[Said], known: Sequence[WrittenConnection]
    ) -> Iterator[WrittenConnection | Unread]:
        """Yield the lines of the map that sentences state, and the sentences that are unclear.

        Lines in attncalc's own form, such as `Output 1: most input 3`, take precedence.
        """
        before = {(each.of, each.head, self._index(each.output)) for each in known}
        found: dict[tuple[str, int, str], list[tuple[Said, Told]]] = {}
        for each in said:
            for told in each.told:
                for output in self._outputs(told):
                    if (each.of, each.head, self._index(output)) not in before:
                        key = each.of, each.head, output
                        found.setdefault(key, []).append((each, told))
        for (of, head, output), own in found.items():
            line = own[-1][0].line
            settled = self._settled(output, [told for _, told in own])
            if settled is None:
                why = f"it does not say to which of them output {output} attends most"
                yield Unread(line, own[-1][0].text, why, False, of_map=True)
            else:
                yield WrittenConnection(
                    head, output, settled[0], settled[1], of, line, is_told=True
                )

    def _index(self, name: str) -> int | str:
        """Return the index of the output with a name, from 0; an unknown name is unchanged."""
        own = _OWN_TOKEN.fullmatch(name)
        if own and 0 < int(own[1]) <= len(self.names):
            name = self.names[int(own[1]) - 1]
        place = place_of(name.strip(), self.sides.queries)
        return name.strip().lower() if place < 0 else place

    def _settled(
        self, output: str, told: Sequence[Told]
    ) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
        """Return the inputs that an output attends to most, and second; None if that is open."""
        shares: dict[str, Share] = {}
        for each in told:
            for share in each.shares:
                name = output if share.name == ITSELF else share.name
                old = shares.get(name, share)
                shares[name] = share._replace(name=name, rank=share.rank or old.rank,
                                              value=share.value or old.value)  # fmt: skip
        most, second = (
            [name for name, share in shares.items() if share.rank == rank]
            for rank in ("most", "second")
        )
        free = [share for share in shares.values() if not share.rank]
        names = [share.name for share in free]
        if most:
            second += names
        elif len(free) < 2 or any(each.is_equal for each in told) or (
            not second and self._are_alike(output, names)
        ):  # fmt: skip
            most = names
        else:
            most, rest = _by_value(free)
            second += rest
        return (tuple(most), tuple(second)) if most or (second and not free) else None

    def _are_alike(self, output: str, names: Sequence[str]) -> bool:
        """Return whether these inputs have equal shown weights in some row of this output."""
        row = place_of(output, self.sides.queries)
        places = [place_of(name, self.sides.keys) for name in names]
        return any(
            0 <= row < len(head) and max(places) < head.shape[1]
            and min(places) >= 0 and len({*head[row, places].tolist()}) == 1
            for each in self.weights for head in each
        )  # fmt: skip


def _by_value(shares: Sequence[Share]) -> tuple[list[str], list[str]]:
    """Return the inputs with the largest weight, and with the next, if weights are given."""
    values = [share.value or 0.0 for share in shares]
    top = max(values)
    if top <= HALF and 0 in values:
        return [], []
    most = [share.name for share, value in zip(shares, values, strict=True) if value == top]
    rest = max((value for value in values if value < top), default=-1.0)
    second = [share.name for share, value in zip(shares, values, strict=True) if value == rest]
    return most, second if len(most) == 1 else []


def _has_values(words: Sequence[Lexeme]) -> bool:
    """Return whether decimals, or a matrix, are outside brackets."""
    depth = 0
    for each in words:
        depth += (each.kind == "open") - (each.kind == "close")
        if each.kind in ("value", "data") and depth == 0:
            return True
    return False


def _within(names: Sequence[str], count: int) -> bool:
    return all(not name.isdigit() or 0 < int(name) <= count for name in names)


def _is_blank(cell: str) -> bool:
    plain = cell.strip(" -–—_/*.").lower()
    return not plain or any(each.kind == "no" for each in lexemes_in(cell, {})) or plain == "n"


def cells_of(text: str, width: int = 0) -> list[str]:
    """Return the cells of a line of a table; [] if their number differs."""
    line = text.strip().replace(ROW, "").removeprefix("|").removesuffix("|").strip()
    cells = [each.strip(" *`$") for each in _CELLS.split(line)]
    if width and len(cells) != width:
        cells = [each for each in cells if each] if len(cells) > width else cells
        cells = line.split() if len(cells) != width else cells
    is_of_width = not width or 0 <= width - len(cells) <= 1
    return [*cells, *[""] * (width - len(cells))] if is_of_width else []


def told_in(
    lines: Sequence[Line], expected: Expected | None
) -> tuple[list[WrittenConnection], list[Unread]]:
    """Return the map that texts state, and the texts that are not understood.

    >>> [each.says for each in told_in([Line(1, "output 1 attends to input 3")], None)[0]]
    ['output 1 → input 3']
    """
    reader, own = MapReader(expected or Expected()), []
    for i, line in enumerate(lines):
        head = head_in(line.text.partition("Output")[0])
        if (drawn := connection_in(line.text, head)) and reader.knows(drawn):
            own.append(drawn._replace(line=line.number))
        elif not (reader.takes(lines, i) or line.number in reader.told):
            is_open = is_about_lines(line.text) and drawn is None  # not filled in
            if not is_open and not _is_blank(line.text):
                reader.missed[line.number] = line.text
    said = [
        each._replace(head=head_in(each.text), of=attention_in(each.text))
        for each in reader.told.values()
    ]
    found = [*own, *reader.connections(said, own), *reader.not_read()]
    return (
        [each for each in found if isinstance(each, WrittenConnection)],
        [each for each in found if isinstance(each, Unread)],
    )


def with_tables(text: str) -> str:
    """Return a text with LaTeX tables about the map as lines with bars; lines stay lines."""
    if "\\begin{tabular}" not in text:
        return text
    reader, lines = MapReader(Expected()), text.split("\n")
    begun, is_map = -1, False
    for i, line in enumerate(lines):
        if "\\begin{tabular}" in line:
            begun, is_map = i, False
        elif begun >= 0 and "&" in line and len(line) < LONGEST:
            clean = f"| {_TEX_ROW.sub('', line).replace('&', '|')} |"
            if not is_map and reader.columns(clean):
                is_map, lines[begun] = True, ""
            lines[i] = clean if is_map else line
        elif begun >= 0 and is_map:
            lines[i] = "" if "\\end{tabular}" in line else _TEX_ROW.sub("", line)
            begun = -1 if not lines[i] and "\\end{tabular}" in line else begun
    return "\n".join(lines)
