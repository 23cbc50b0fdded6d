"""Maps in tables and in lines of attncalc's own form: outputs, and the inputs they attend to."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise, product

import numpy as np

from attncalc.base.types import Matrix
from attncalc.reading.answers.answer import Unread, WrittenConnection, WrittenMatrix
from attncalc.reading.answers.expected import Expected
from attncalc.reading.answers.lines import attention_in, connection_in, is_open, names_in
from attncalc.reading.answers.map_order import NUMBERED, places_of
from attncalc.reading.answers.map_statements import statements
from attncalc.reading.answers.map_unread import unclear
from attncalc.reading.answers.map_words import labels_of, lexemes_in, place_of
from attncalc.reading.naming.name import head_in
from attncalc.reading.naming.vocabulary import plain_word
from attncalc.reading.plain.grids import Line
from attncalc.reading.plain.marks import CELL, GRID, ROW

LONGEST = 4000
FEWEST_ACROSS, MOST_ACROSS = 3, 3
"""The fewest columns and the most rows of a table whose columns are the outputs."""
_HINT = re.compile(r"[^\W\d_]|[→⇒⟶⟹↦➔➜←⇐]|[-=]>|<-")
_RULE = re.compile(r"[\s|+:=─━┼│-]*")
_ASIDE = re.compile(r"\(([^()\d]{0,60})\)")
_CELLS = re.compile(rf"[|│&\t{CELL}]|  ++")
_OWN = re.compile(rf"{NUMBERED}|\d{{1,7}} more|.{{0,60}}[_?…].{{0,60}}")
_TABULAR = "\\begin{tabular}"
_SPECIFIED = re.compile(r"\A(?:\[\w\])?\{(?:[^{}\n]|\{[^{}\n]{0,40}\}){0,80}+\}")
"""The columns of a table of LaTeX: {l|c}, {c p{2cm}}."""
_TEX_ROW = re.compile(
    r"\\\\(?:\[[^\]]{0,20}\])?|\\(?:hline|toprule|midrule|bottomrule|text(?:bf|it|rm)?)\b|[{}]"
)


class MapReader:
    """Finds the tables of a map in the lines of an answer.

    expected: the names and the number of the tokens.
    """

    def __init__(self, expected: Expected) -> None:
        self.labels = labels_of(expected.names)
        self.turned = (-1, -2) if expected.by_columns else (-2, -1)
        self.weights = {
            name.rpartition(".")[0]: np.moveaxis(each, self.turned, (-2, -1)).reshape(
                -1, *(each.shape[k] for k in self.turned)
            )
            for name, each in expected.steps.items()
            if name.rpartition(".")[2] == "A" and each.ndim > 1
        }
        self.sides = expected.labels
        self.names = tuple(dict.fromkeys(expected.names))
        pieces = (each for label in expected.names for each in (label, *names_in(label)))
        self.pieces = {each for piece in pieces for each in (piece, piece.lower())}
        self.told: dict[int, tuple[str, list[WrittenConnection]]] = {}
        self.missed: dict[int, str] = {}
        self.whole: set[int] = set()
        self.until = 0

    # -- lines ------------------------------------------------------------------------------------

    def takes(self, lines: Sequence[Line], i: int) -> bool:
        """Return whether a line is of a table of the map or of a sentence about it.

        What the rows of a table state is stored.
        """
        if i >= self.until:
            self.until = i + max(1, self._table(lines, i))
        number, text = lines[i].number, lines[i].text
        if number not in self.whole and self._is_sentence(text):
            self.whole.add(number)
            self.missed[number] = text
        return number in self.whole

    def _is_sentence(self, text: str) -> bool:
        """Return whether a line ranks outputs and inputs by their numbers, and has no others."""
        words = lexemes_in(text, self.labels) if len(text) < LONGEST and _HINT.search(text) else []
        kinds = {each.kind for each in words}
        places = [place_of(each.said, self.sides.keys) for each in words if each.kind == "number"]
        most = max((each.shape[-1] for each in self.weights.values()), default=0)
        is_next = "second" in kinds or ("ordinal", "2") in words
        are_named = is_next or (len(places) > 2 and not text.rstrip().endswith(":"))
        is_ranked = "most" in kinds and are_named and bool(kinds & {"out", "in", "token"})
        return is_ranked and max(places, default=most) < most and not kinds & {"data", "value"}

    # -- tables -----------------------------------------------------------------------------------

    def _table(self, lines: Sequence[Line], i: int) -> int:
        """Read a table with a column of outputs, and one of their inputs, by head."""
        kinds = self.columns(lines[i].text)
        if not kinds:
            return self._across(lines, i)
        out, stop, head = kinds.index("out"), i + 1, 0
        rows: list[tuple[Line, int, list[str]]] = []
        while stop < len(lines) and not GRID.search(lines[stop].text):
            text = " ".join(each.text for each in lines[stop : stop + 2]
                            if each.number == lines[stop].number)  # fmt: skip
            if not _RULE.fullmatch(text) or (rows and not text.strip()):
                cells = cells_of(text, len(kinds))
                is_named = bool(cells) and bool(self._names(cells[out]))
                if not is_named and not (head_in(text) and head_in(text) != head):
                    break
                if is_named:
                    counts = (c for kind, c in zip(kinds, cells, strict=True) if kind == "head")
                    head = next((int(cell) for cell in counts if cell.isdecimal()), head)
                    rows.append((lines[stop], head, cells))
                else:
                    head = head_in(text)
            stop += 1 + (lines[stop].text != text)
        titles = cells_of(lines[i].text)
        titles = [""] * (len(kinds) - len(titles)) + titles
        bands = self._bands(kinds, titles, [row for _, _, row in rows])
        if not bands:
            return 0
        for (head_of_band, ranks), (line, of, row) in product(bands, rows):
            cells_of_rank = [(row[k], rank) for k, rank in ranks.items()]
            self._row(line, head_of_band or of, self._names(row[out]), cells_of_rank)
        self.whole |= {line.number for line in lines[i:stop]}
        return stop - i

    def _across(self, lines: Sequence[Line], i: int) -> int:
        """Read a table whose columns are the outputs, and whose rows are ranks of inputs."""
        rows: list[list[str]] = []
        stop = i
        while stop < len(lines) and len(rows) < MOST_ACROSS:
            cells = cells_of(lines[stop].text)
            if not _RULE.fullmatch(lines[stop].text):
                if len(cells) < FEWEST_ACROSS or len(cells) != len((rows or [cells])[0]):
                    break
                rows.append(cells)
            elif not rows:
                break
            stop += 1
        heading, *ranked = rows or [[""]]
        ranks = [self._kind(row[0]) for row in ranked]
        outputs = [self._names(cell) for cell in heading[1:]]
        is_heading = self._kind(heading[0]) in ("out", "token", "") and all(outputs)
        if not (is_heading and "most" in ranks and {*ranks} <= {"most", "second"}):
            return 0
        for k, names in enumerate(outputs, start=1):
            self._row(lines[i], 0, names, [*zip((row[k] for row in ranked), ranks, strict=True)])
        self.whole |= {line.number for line in lines[i:stop]}
        return stop - i

    def _bands(
        self, kinds: Sequence[str], titles: Sequence[str], rows: Sequence[Sequence[str]]
    ) -> list[tuple[int, dict[int, str]]]:
        """Return the ranks of columns, with the head of each band of heads side by side.

        The head is that of the titles, or its place; 0 if there is one band. [] for no map.
        """
        starts = [k for k, kind in enumerate(kinds) if kind == "most"][1:]
        bands = [
            self._ranks([e if a <= k < b else "out" for k, e in enumerate(kinds)], rows)
            for a, b in pairwise([0, *starts, len(kinds)])
        ]
        if len(bands) == 1:
            return [(0, ranks) for ranks in bands if ranks]
        said = ((head_in(titles[k]) for k in ranks) for ranks in bands)
        heads = [next(filter(None, own), place) for place, own in enumerate(said, start=1)]
        return [*zip(heads, bands, strict=True)] if all(bands) else []

    def _ranks(self, kinds: Sequence[str], rows: Sequence[Sequence[str]]) -> dict[int, str]:
        """Return the ranks of the columns with inputs; {} if none has the first ones."""
        named = [any(self._names(row[k]) for row in rows) for k in range(len(kinds))]
        places = [(k, kind) for k, kind in enumerate(kinds) if named[k]]
        most = next((k for kind in ("most", "in") for k, own in places if own == kind), -1)
        seconds = [k for k, kind in places if kind == "second"]
        others = [  # their headings may be in another language
            k
            for k, kind in places
            if kind not in ("head", "out", "second")
            if all(self._names(row[k]) or _is_blank(row[k]) for row in rows)
        ]
        if most < 0 and seconds:
            most = next((k for k in others if k + 1 == seconds[0]), -1)
        seconds = seconds or [k for k in others if k == most + 1]
        return {most: "most", **dict.fromkeys(seconds, "second")} if most >= 0 else {}

    def _row(
        self, line: Line, head: int, outputs: list[str], cells: Sequence[tuple[str, str]]
    ) -> None:
        """Store a row of a table: its cells, by the rank of their column."""
        if any(not self._names(cell) and not _is_blank(cell) for cell, _ in cells):
            self.missed[line.number] = line.text
            return
        ranks = {name: rank for cell, rank in reversed(cells) for name in self._names(cell)}
        most, second = (
            tuple(sorted(name for name in ranks if ranks[name] == rank))
            for rank in ("most", "second")
        )
        head, of = head_in(line.text) or head, attention_in(line.text)
        own = [WrittenConnection(head, each, most, second, of, line.number, True)
               for each in outputs if ranks]  # fmt: skip
        if own:
            self.told.setdefault(line.number, (line.text, []))[1].extend(own)

    def columns(self, text: str) -> list[str]:
        """Return the ranks of the columns below a heading; [] if it is not the heading of a map."""
        cells = cells_of(text) if len(text) < LONGEST and _HINT.search(text) else []
        if len(cells) < 2 or len(cells) > 8:
            return []
        kinds = [self._kind(cell) for cell in cells]
        if text[:1] in (" ", "\t") and {*kinds} <= {"most", "second"}:
            kinds = ["out", *kinds]  # the first column has no heading
        other = next((kind for kind in ("token", "") if kind in kinds), None)
        if "out" not in kinds and other is not None:
            kinds[kinds.index(other)] = "out"
        if "most" in kinds and "second" not in kinds:  # most to token | then to token
            behind = kinds[kinds.index("most") :]
            kinds = [*kinds[: -len(behind)], *(k.replace("token", "second") for k in behind)]
        is_ranked = {*kinds} & {"most", "second"} or sorted(kinds) == ["in", "out"]
        return kinds if kinds.count("out") == 1 and is_ranked else []

    def _kind(self, cell: str) -> str:
        if cell and not head_in(cell) and head_in(f"{cell} 1") == 1:
            return "head"
        if cell.strip().lower() in ("out", "in"):
            return cell.strip().lower()
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
        if name := self.labels.get(plain_word(cell.strip())):
            return [name]
        words = lexemes_in(_ASIDE.sub(self._without_aside, cell), self.labels)
        kinds = " ".join(each.kind for each in words)
        kinds = kinds.replace("number unknown number", "number number")  # 1 och 3
        if not {"data", "unknown", "bad"}.isdisjoint(kinds.split()):
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
            or (_OWN.fullmatch(name) and name != "0")
            for name in (line.output, *line.most, *line.second)
        )

    def own_weights(self, matrices: Mapping[str, WrittenMatrix]) -> dict[str, Matrix]:
        """Return the weights of an answer by attention, or those of the key where it lacks some."""
        found = {}
        for of, heads in self.weights.items():
            written = matrices.get(f"{of}.A" if of else "A")
            own = np.moveaxis(written.values, self.turned, (-2, -1)) if written else heads
            is_whole = own.size == heads.size and own.shape[-2:] == heads.shape[-2:]
            found[of] = own.reshape(heads.shape) if is_whole and np.isfinite(own).all() else heads
        return found

    def heads_of(self, weights: Mapping[str, Matrix]) -> Matrix | None:
        """Return the weights of each head if there is one attention, or else None."""
        return next(iter(weights.values())) if len(weights) == 1 else None

    def is_complete(self, lines: Sequence[WrittenConnection]) -> bool:
        """Return whether something is read for every output."""
        count = sum(each.shape[-2] * len(each) for each in self.weights.values())
        return bool(count) and len({(e.of, e.head, self._index(e.output)) for e in lines}) >= count

    def new(
        self, lines: Iterable[WrittenConnection], known: Iterable[WrittenConnection]
    ) -> list[WrittenConnection]:
        """Return the first lines of outputs that known lines are not about."""
        before = {(each.of, each.head, self._index(each.output)) for each in known}
        keys = {(each.of, each.head, self._index(each.output)): each for each in reversed([*lines])}
        return [each for key, each in reversed(keys.items()) if key not in before]

    def _index(self, name: str) -> int | str:
        """Return the index of the output with a name, from 0; an unknown name is unchanged."""
        (place,) = places_of([name.strip()], self.sides.queries)
        return name.strip().lower() if place < 0 else place


def _is_blank(cell: str) -> bool:
    plain = cell.strip(" -–—_/*.").lower()
    return not plain or any(each.kind == "no" for each in lexemes_in(cell, {})) or plain == "n"


def cells_of(text: str, width: int = 0) -> list[str]:
    """Return the cells of a line of a table; [] if their number differs."""
    line = text.strip().replace(ROW, "").removeprefix("|").removesuffix("|").strip()
    cells = [each.strip(" *`$") for each in _CELLS.split(line)]
    if width and len(cells) != width:
        cells = [each for each in cells if each] or [""] if len(cells) > width else cells
        name, colon, first = cells[0].partition(": ")
        cells = [name, first, *cells[1:]] if colon and len(cells) < width else cells
        cells = line.split() if len(cells) != width else cells
    is_of_width = not width or 0 <= width - len(cells) <= 1
    return [*cells, *[""] * (width - len(cells))] if is_of_width else []


def told_in(
    lines: Sequence[Line], expected: Expected | None
) -> tuple[list[WrittenConnection], list[Unread]]:
    """Return the map that texts state, and the texts that are not understood.

    >>> [each.says for each in told_in([Line(1, "Output 1: most input 3")], None)[0]]
    ['output 1 → input 3']
    """
    expected = expected or Expected()
    reader, own = MapReader(expected), list[WrittenConnection]()
    for i, line in enumerate(lines):
        head = head_in(line.text.partition("Output")[0])
        drawn = connection_in(line.text, head)
        if drawn and reader.knows(drawn):
            own.append(drawn._replace(line=line.number))
        elif not (reader.takes(lines, i) or is_open(line.text) or _is_blank(line.text)):
            reader.missed[line.number] = line.text
    own += reader.new([each for _, row in reader.told.values() for each in row], own)
    texts = [*reader.missed.items()]
    told = statements(texts, reader.own_weights({}), expected.labels)
    own += reader.new(told, own)
    read = {each.line for each in own}.union(*told.values())
    return own, [unclear(line, text) for line, text in texts if line not in read]


def with_tables(text: str) -> str:
    """Return a text with LaTeX tables about the map as lines with bars; lines stay lines."""
    reader = MapReader(Expected())
    first, *pieces = text.split(_TABULAR)
    return "".join([first, *(_with_bars(piece, reader) for piece in pieces)])


def _with_bars(piece: str, reader: MapReader) -> str:
    """Return what is behind the beginning of a table, with bars if it is about the map."""
    body, end, rest = piece.partition("\\end{tabular}")
    rows = [
        f"| {line.replace('&', '|')} |" if "&" in line else line
        for line in _TEX_ROW.sub("", _SPECIFIED.sub("", body)).split("\n")
    ]
    is_map = end and any(map(reader.columns, rows))
    return "\n".join(rows) + rest if is_map else f"{_TABULAR}{piece}"
