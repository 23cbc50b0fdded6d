"""Answers in text of any kind: mails, Markdown, LaTeX, programs, spreadsheets, worksheets."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, groupby, pairwise

import numpy as np

from attncalc.base.text import of_each
from attncalc.base.types import Matrix
from attncalc.problem.fields import own_name
from attncalc.reading.answers.answer import (
    Answer,
    Taken,
    Unread,
    WrittenConnection,
    WrittenMatrix,
    faults_in,
    matrix_of_entries,
)
from attncalc.reading.answers.collecting import collected
from attncalc.reading.answers.corrected import (
    CORRECTED,
    quoted_lines,
    with_corrected,
    with_scanned,
    without_quoted,
)
from attncalc.reading.answers.cuts import numbers_of
from attncalc.reading.answers.doubting import followed, leave_noise, questioned
from attncalc.reading.answers.expected import SCORES, Expected, share_alike
from attncalc.reading.answers.keeping import Collected
from attncalc.reading.answers.lines import (
    connection_in,
    is_about_lines,
    is_behind_numbers,
    is_open,
)
from attncalc.reading.answers.map_choice import stated_map
from attncalc.reading.answers.map_lines import MapReader, with_tables
from attncalc.reading.answers.map_names import sentences_in
from attncalc.reading.answers.map_order import count_exact
from attncalc.reading.answers.map_statements import are_denied, statements
from attncalc.reading.answers.map_unread import (
    is_prose,
    lines_in_part,
    lines_that_may_state,
    lines_with_names,
    may_go_on,
    unclear,
    words_beside,
)
from attncalc.reading.answers.own_page import handed_back
from attncalc.reading.answers.parts import (
    Part,
    contradicting,
    entries_of,
    lines_from_one,
    matrix_of,
)
from attncalc.reading.answers.placing import place_loose
from attncalc.reading.answers.prose import IN_COMMENT, role_of_words
from attncalc.reading.answers.renaming import with_better_names
from attncalc.reading.answers.token_rows import with_rows_of_tokens
from attncalc.reading.answers.witness import BECAUSE, ROW_ENDS, witnessed
from attncalc.reading.html_page import is_html, text_of_html
from attncalc.reading.naming.at_hand import names_there, with_layers_in_words
from attncalc.reading.naming.layer_words import step_of_layer
from attncalc.reading.naming.name import Tokens, name_in
from attncalc.reading.naming.symbols import STEPS
from attncalc.reading.plain.blocks import blocks_of
from attncalc.reading.plain.comments import Comment
from attncalc.reading.plain.corrections import with_corrections
from attncalc.reading.plain.grids import Line
from attncalc.reading.plain.marks import COMMA, MASKED, MOST_GRIDS, PRIVATE
from attncalc.reading.plain.numerals import read_entry
from attncalc.reading.plain.other_words import in_english, with_digits
from attncalc.reading.plain.programs import without_references
from attncalc.reading.plain.rewriting import rewritten
from attncalc.reading.plain.sentence_rows import with_counted_rows
from attncalc.reading.plain.tidy import with_decimal_commas, within_bounds

MOST_FAULTS = 100
ENOUGH_COLUMNS, SURE_COLUMNS, WRONG, NEAR_SUM = 2, 3, 0.5, 0.01
"""The number of matrices with rows for columns that are a habit, and not a mistake."""
LIKELY, CLEARLY = 0.6, 0.3
"""The share of entries that agree with a transposed step, and how much more than others do."""
_MINUS = re.compile(r"[⁻¯](?=[.\d])|(?<![^\s\[({|,;=&:])—(?=\.?\d)")
"""The raised minus of a calculator before a digit that is not raised."""
_MINUS_WORD = re.compile(r"(?<!\d )(?<!\) )\b(?:minus|moins|menos|meno) (?=\.?\d)", re.IGNORECASE)
_ROOT = re.compile(
    r"\b(?:(?:square )?root(?: of)?|wortel(?: van)?|wurzel(?: aus)?"
    r"|ra[ií]z(?: [cq]uadrada)?(?: de)?|racine(?: carrée)?(?: de)?"
    r"|radice(?: quadrata)?(?: di)?|pierwiast\w{1,4}(?: z)?"
    r"|кор(?:ень|ня)(?: из)?|kvadratrot(?:en)?(?: (?:ur|av))?|karekök) ?(?=\(? ?(?:\d|d_?\{?k))"
    r"|(?:根号|平方根|ルート|루트) ?(?=\(? ?(?:\d|d_?k))",
    re.IGNORECASE,
)
_ROOT_VALUE = re.compile(
    r"(?<![/\d√*·])(√\(?\d{1,3}\)?) ?[=≈] ?\d{1,3}(?:[.,]\d{1,6})?(?= {1,20}[\[(]| ?:[ \[(])"
)
"""A root with its value, before a matrix."""
_PERCENT = re.compile(
    r"(?<=\d) (?:per ?cent|pour cent|por cien|por cent|prozent|procent|процент)\w{0,3}\b",
    re.IGNORECASE,
)
_PERCENT_FIRST = re.compile(
    r"(?<=[^\n][ \t;,|:(\[])%(\d{1,3}(?:[.,]\d{1,6})?)(?=[;,|\s]{1,4}%\d|[ \t|]*$)", re.MULTILINE
)
_CROSSES = re.compile(r"(?m)^([^\n×+=]{0,200}[\d|;,] )(×(?: ×){0,40})(?=[ \t]{0,20}$)")
"""Signs for masked entries at the end of a row, where nothing is multiplied."""
_DECIMAL = rf"-?\d{{1,6}}[.{COMMA}]\d{{1,6}}"
_SUM = rf"(?:[^\W\d][^\d\n=]{{0,30}} )?{_DECIMAL}(?: [-+–] {_DECIMAL}){{1,20}}[ \t]{{0,9}}"
_SUMS = re.compile(rf"^{_SUM}(?:\n{_SUM}){{1,20}}$", re.MULTILINE)
"""Lines of decimals with signs between them, and no result: the signs separate."""
_SIGN = re.compile(r" [-+–] (?=\d|-\d)")
_MINUS_INFINITY = re.compile(
    r"\b(?:minus|moins|menos|meno) (?:l')?(?:infinity|unendlich|infini(?:to)?)\b", re.IGNORECASE
)
_EXPLICIT = re.compile(r"= ?\[")
"""A matrix in brackets behind its name: its shape is meant."""
_ILLEGIBLE = re.compile(
    r"([\d|&;,\[(\]?][ \t]{1,20})(?:\[[^\W\d_]{3,20}\]|[#█▒░▓■]{2,20}"
    r"|[\[(<](?:illegible|unreadable|smudged?|stain|unleserlich|illisible|illeggibile|ilegible"
    r"|nieczytelne|неразборчиво|判読不能|看不清)[\])>])(?=[ \t]{0,20}(?:[-\d|&;,\])\n]|$))"
)
"""What people write for a number of a matrix that cannot be read: 1 [stain] 0, 2 ### 1."""
LONGEST_ROW = 200
_MASK = re.compile(r"(?<![\s,;|&])([\s,;|&]++)[-−]?[^\W\d_]{3,20}\.?")
_MASKS = re.compile(
    r"(?<=\d)(?:[\s,;|&]++(?P<word>[-−]?[^\W\d_]{3,20}\.?)(?:[\s,;|&]++(?P=word))*)(?=[\s|&\\]*$)"
)
"""The words at the end of a row of numbers, which are equal."""
OFF_ONE = 0.02
"""How far the sum of rounded weights may be from 1."""
QUOTED = "an older version, quoted"
_OTHER_DIGIT = re.compile(r"(?![0-9])\d")
_DOTS = re.compile(r"[^●•]{0,60}[●•]\s{3,}[●•][^●•]{0,60}|\s*(?:\S{1,40} )?[●•]\s*")


def read_text_answer(text: str, place: str, expected: Expected | None = None) -> Answer:
    """Return the answer in a text; unreadable parts are noted, and the others kept.

    An older mail that it quotes is left out if all its steps are stated again.
    """
    expected = expected or Expected()
    answer, (newer, older) = _read(text, place, expected), without_quoted(text)
    if not older:
        return answer
    latest = _read(newer, place, expected)
    if answer.matrices.keys() - latest.matrices.keys():
        return answer
    left_out = (Taken(line, line, "", QUOTED, each) for line, each in older)
    return replace(latest, taken=(*sorted((*latest.taken, *left_out), key=lambda e: e.line),))


def _read(text: str, place: str, expected: Expected) -> Answer:
    """Return the answer in a text, with all that it quotes."""
    html = text_of_html(text) if is_html(text) else None
    text = text if html is None else html.text
    typed = partial(_as_typed, text.split("\n"))
    page = handed_back(text, expected.names, html)
    page = page._replace(text=with_digits(_with_ascii_digits(page.text)))
    # before the text is rewritten, which makes it longer and takes time
    text, said = within_bounds(page.text)
    plain = with_decimal_commas(rewritten(PRIVATE.sub("", text), "chats"))
    plain = _SUMS.sub(lambda sums: _SIGN.sub("   ", sums[0]), plain)
    plain, masks = _with_masks_of_words(plain, expected)
    text = _rewritten(plain, expected)
    of_map = MapReader(expected)
    blocks, document = blocks_of(
        text, partial(_names_a_row, expected), partial(_is_of_map, of_map), expected.labels
    )
    found = collected(blocks, expected, of_map)
    for word, line in masks.items():
        found.tell(line, f'"{word}" is read as the sign of a masked entry')
    for struck in document.struck:
        found.note(struck.line, "", "struck out", struck.text)
    for comment in document.comments:
        _take_comment(comment, found)
    own = (f"line {line}: {why}" if line else why for line, why in document.faults[:MOST_FAULTS])
    faults = list(dict.fromkeys([*said, *own]))
    for line, left in document.shortened[:MOST_FAULTS]:
        found.leave(line, left, "numbers are left out of it, where it has …: print all of them")
    if document.cut_at:
        found.leave(document.cut_at, "…", "there is too much before it: what follows is not read")
    if document.is_full:
        found.leave(0, "…", f"only the first {MOST_GRIDS:,} matrices in brackets are looked at")
    _leave_quoted(quoted_lines(plain), found)
    found.parts = with_better_names(found, expected)
    place_loose(found, expected)
    found.parts = [_with_masks(part, expected, found) for part in found.parts]
    parts = with_better_names(found, expected)
    matrices = _matrices(parts, expected, found)
    search = partial(witnessed, plain, found, expected)
    matrices = search(matrices)
    matrices = _fitting(_as_shares(matrices, expected, found), expected, found)
    matrices = _turned_alike(matrices, expected, found)
    _tell_columns(matrices, expected, found)
    matrices = with_scanned(matrices, found)
    matrices = with_corrected(plain, matrices, expected, found)
    matrices = questioned(matrices, expected, found, search)
    leave_noise(matrices, expected, found)
    faults += [*found.faults, *faults_in(matrices)]
    if expected.has_map:
        _take_map(plain, matrices, expected, found, of_map)
    unread = tuple(sorted(dict.fromkeys(map(typed, found.unread)), key=lambda each: each.line))
    connections = lines_from_one(map(page.lines.named, found.connections)) or None
    says = (each.says for each in connections or ())  # each has been noted, in this order
    noted = [each._replace(how=next(says)) if each.what == "map" else each for each in found.taken]
    taken = tuple(sorted(noted, key=lambda each: each.line))
    remarks = tuple(found.remarks)
    return Answer(place, matrices, connections, tuple(faults), unread, remarks, taken)


def _as_typed(lines: Sequence[str], part: Unread) -> Unread:
    """Return an unread part with the line as typed, where what is read of it was rewritten."""
    line = lines[part.line - 1].strip() if 0 < part.line <= len(lines) else part.text
    is_of_rows = ROW_ENDS.search(part.text) or part.text == "…"
    return part if is_of_rows or part.text in line else part._replace(text=line)


def _take_map(
    text: str,
    matrices: Mapping[str, WrittenMatrix],
    expected: Expected,
    found: Collected,
    of_map: MapReader,
) -> None:
    """Read a map that is not complete or not right from lines that are no step."""
    weights = of_map.own_weights(matrices)
    steps_of = [each for each in found.taken if each.how.startswith(BECAUSE)]
    witnessed_on = {line for each in steps_of for line in each.lines}
    outside = [each for each in found.connections if each.line not in witnessed_on]
    texts, labels = dict(enumerate(text.split("\n"), start=1)), expected.labels
    rows = _rows_on_lines(matrices, found)
    lines = [
        (line, each if line not in rows or is_prose(each) else words_beside(each, rows[line]))
        for line, each in texts.items()
    ]
    if (heads := of_map.heads_of(weights)) is not None and matrices:
        others = count_exact(outside, heads, labels)
        is_complete = of_map.is_complete(outside)
        stated = list[WrittenConnection]()
        if others < len(outside) or not is_complete:
            stated = stated_map(lines, heads, labels, text, of_map.whole)
        right = count_exact(stated, heads, labels)
        is_sure = len(heads) > 1 or not is_complete or right == len(stated)
        are_of_heads = len(heads) == 1 or all(each.head for each in outside)
        is_firm = is_complete and are_of_heads and 2 * others > len(outside)
        is_of_same = {each.line for each in outside} <= {each.line for each in stated}
        are_told = is_of_same or all(each.is_told for each in outside)
        may_vary = are_told or others == len(outside)
        may_replace = is_sure and not is_firm and may_vary and not _are_turned(stated, outside)
        is_better = (may_replace and right > others) or not found.connections
        if is_better and stated and not are_denied(stated, statements(lines, weights, labels)):
            _replace_map(stated, texts, found)
    has_map = bool(found.connections)
    said = {} if of_map.is_complete(found.connections) else statements(lines, weights, labels)
    _take_lines(of_map.new(said, found.connections), texts, found)
    half, near = set[int](), set[int]()
    if heads is not None and any(each.is_told for each in found.connections):
        half, near = lines_in_part(found.connections, of_map.whole, lines, heads, labels)
        near -= {*chain(*said.values())}
    if has_map and _goes_on(lines, found, labels):
        half |= {each.line for each in found.connections if each.is_told}
    _leave_told(half, texts, found)
    _leave_lines(near, texts, found)
    if not of_map.is_complete(found.connections) and not any(e.of_map for e in found.unread):
        read = Counter(chain((each.line for each in found.connections), *said.values()))
        missed = Counter(of_map.missed.keys()) | _lines_missed(lines, heads, labels, found)
        _leave_lines((n for n in missed if missed[n] > read[n]), texts, found)


def _are_turned(stated: Sequence[WrittenConnection], known: Sequence[WrittenConnection]) -> bool:
    """Return whether a reading only has the known inputs in other ranks, which words say."""
    inputs = {(e.head, e.output): {*e.most, *e.second} for e in known if e.second}
    return bool(inputs) and all(
        inputs.get((each.head, each.output)) == {*each.most, *each.second} for each in stated
    )


def _lines_missed(
    lines: Sequence[tuple[int, str]], heads: Matrix | None, labels: Tokens, found: Collected
) -> Counter[int]:
    """Return the lines that seem to be of a map, each with the number of its statements."""
    missed, is_begun = Counter[int](), bool(found.connections)
    own = [each for each in lines if not is_open(each[1])]
    for texts in (own, sentences_in(own)):
        missed |= Counter(lines_that_may_state(texts, labels, is_begun=is_begun))
    weighed = [each.line for each in found.taken if own_name(each.step) == "A"]
    if heads is not None and weighed and not (missed or is_begun):
        steps = {line for each in found.taken if each.what for line in each.lines}
        below = [each for each in own if each[0] > min(weighed) and each[0] not in steps]
        missed |= Counter(lines_with_names(below, heads, labels))
    return missed


def _rows_on_lines(
    matrices: Mapping[str, WrittenMatrix], found: Collected
) -> dict[int, frozenset[tuple[float, ...]]]:
    """Return the rows of the steps that were read from each line, of lines that are read whole."""
    names: dict[int, frozenset[str]] = {}
    left = {each.line for each in found.unread}
    for each in found.taken:
        is_step = each.what not in ("", "map") and each.step in matrices
        for line in each.lines if is_step and each.line not in left else ():
            names[line] = names.get(line, frozenset()) | {each.step}
    rows = {
        own: frozenset(tuple(row) for name in own for row in _rows_of(matrices[name]))
        for own in {*names.values()}
    }
    return {line: rows[own] for line, own in names.items() if rows[own]}


def _goes_on(lines: Sequence[tuple[int, str]], found: Collected, labels: Tokens) -> bool:
    """Return whether a stated map has no second inputs, but a line behind it may name them."""
    last = max(each.line for each in found.connections)
    is_half = all(each.is_told and not each.second for each in found.connections)
    return is_half and len(labels.keys) > 2 and may_go_on(lines, last, labels)


def _leave_told(lines: set[int], texts: Mapping[int, str], found: Collected) -> None:
    """List the words of a map that were read in part, which mark no output wrong."""
    found.connections[:] = [e for e in found.connections if not (e.is_told and e.line in lines)]
    found.taken[:] = [e for e in found.taken if e.what != "map" or e.line not in lines]
    _leave_lines(lines, texts, found)


def _leave_lines(lines: Iterable[int], texts: Mapping[int, str], found: Collected) -> None:
    lines = {*lines}
    numbers = {each.line for each in found.unread if each.could_be_matrix}
    found.unread[:] = [each for each in found.unread if each.line not in lines]
    found.unread += [
        unclear(line, texts[line])._replace(could_be_matrix=line in numbers)
        for line in sorted(lines)
    ]


def _replace_map(
    stated: list[WrittenConnection], texts: Mapping[int, str], found: Collected
) -> None:
    """Replace the map by the lines of another reading."""
    numbers = [each.line for each in stated]
    own_lines = {*range(min(numbers), max(numbers) + 1)}
    own_lines |= {e.line for e in found.taken if e.line <= min(numbers) <= e.last}
    behind = max(numbers) + 1  # where the second of the last output may be
    own_lines |= {e.line for e in found.unread if e.of_map and e.line == behind}
    found.unread[:] = [e for e in found.unread if own_lines.isdisjoint(_lines_of(e))]
    found.taken[:] = [
        each
        for each in found.taken
        if each.what != "map" and (each.what or each.line not in own_lines)
    ]
    found.connections[:] = []
    _take_lines(stated, texts, found)


def _lines_of(unread: Unread) -> range:
    """Return the lines of the rows of an unread part."""
    return range(unread.line, unread.line + len(ROW_ENDS.split(unread.text)))


def _take_lines(
    stated: list[WrittenConnection], texts: Mapping[int, str], found: Collected
) -> None:
    """Add lines to the map, whose words are then not only words."""
    found.connections += stated
    lines = {each.line for each in stated}
    found.taken[:] = [e for e in found.taken if e.what or lines.isdisjoint(e.lines)]
    found.unread[:] = [e for e in found.unread if e.line not in lines]
    found.taken += [Taken(e.line, e.line, "map", "", texts[e.line]) for e in stated]


def _with_ascii_digits(text: str) -> str:
    """Return a text with digits, separators and signs of any script as ASCII, and words for signs.

    ▒ is an illegible number.

    >>> _with_ascii_digits("−٠٫٢٥ ⁻3"), _with_ascii_digits("x² 1½")
    ('−0.25 -3', 'x² 1½')
    """
    text = _CROSSES.sub(_crossed, _PERCENT_FIRST.sub(r"\1%", text))
    text = _PERCENT.sub("%", _MINUS_INFINITY.sub("-∞", text.replace("\\[Infinity]", "∞")))
    text = _MINUS_WORD.sub("-", _MINUS.sub("-", _ILLEGIBLE.sub(_unread_entry, text)))
    text = _ROOT_VALUE.sub(r"\1", _ROOT.sub("√", text))
    if not _OTHER_DIGIT.search(text):
        return text
    text = _OTHER_DIGIT.sub(lambda each: str(unicodedata.decimal(each[0])), text)
    return text.translate({ord("٫"): ".", ord("٬"): None, ord("،"): ",", ord("؛"): ";"})


def _crossed(row: "re.Match[str]") -> str:
    """Return a row with letters for the crosses at its end."""
    return row[1] + row[2].replace("×", "x")


def _unread_entry(match: "re.Match[str]") -> str:
    """Return the sign of an illegible number, in a line with numbers."""
    start, stop = match.span()
    before = match.string[max(0, start - LONGEST_ROW) : start + 1].rpartition("\n")[2]
    line = before + match.string[stop : stop + LONGEST_ROW].partition("\n")[0]
    return f"{match[1]}▒" if any(map(str.isdigit, line)) else match[0]


def _rewritten(text: str, expected: Expected) -> str:
    """Return a text with the statements of sentences as matrices; lines stay lines."""
    text = in_english(with_layers_in_words(with_tables(text)))
    shapes = {key.shape[-2:] for key in expected.steps.values()}
    text = with_counted_rows(text, partial(_names_a_row, expected), shapes)
    text = with_corrections(without_references(text))
    return with_rows_of_tokens(text, expected.labels)


def _with_masks_of_words(text: str, expected: Expected) -> tuple[str, dict[str, int]]:
    """Return a text with -∞ for a word that fills rows as a causal mask does.

    Below one another, each row has a number more and a word less: -1.4 masked masked, 0.5 2 masked.
    In weights, whose rows sum to 1, the word becomes a cross. Also return the first line of each
    word.
    """
    lines = text.split("\n")
    if not any(np.isneginf(key).any() for key in expected.steps.values()):
        return text, {}
    ends = [_MASKS.search(line) if len(line) <= LONGEST_ROW else None for line in lines]
    words = [
        (end["word"], len(_MASK.findall(end[0])))
        if end and read_entry(end["word"]).value is None
        else ("", 0)
        for end in ends
    ]
    found, width = dict[int, str](), 0
    for i, ((word, count), below) in enumerate(pairwise([*words, ("", 0)])):
        if count > 1 and below == (word, count - 1):
            width = width if i in found else count + 1
            found |= {i: word, i + 1: word}
        if i in found and (end := ends[i]):
            numbers = [float(each.value) for each in numbers_of(lines[i]) if each.is_last]
            are_shares = abs(sum(numbers[count - width :]) - 1) < OFF_ONE
            sign = r"\1x" if are_shares else r"\1-∞"
            lines[i] = lines[i][: end.start()] + _MASK.sub(sign, end[0]) + lines[i][end.end() :]
    return "\n".join(lines), {word: i + 1 for i, word in reversed(found.items())}


def _names_a_row(expected: Expected, label: str) -> bool:
    """Return whether the text before a row names it, and does not only count it."""
    if len(label) > 1 and label in expected.labels and label not in STEPS:
        return False
    if step_of_layer(label, names_there()) is not None:
        return True
    name = name_in(label, expected.labels)
    return name is not None and name.matrix not in ("X", "X1", "X2", "X3")


def _as_shares(
    matrices: Mapping[str, WrittenMatrix], expected: Expected, found: Collected
) -> dict[str, WrittenMatrix]:
    """Return the matrices, with weights whose rows sum to 100 read as percentages."""
    made = dict(matrices)
    for name, written in matrices.items():
        key = expected.steps.get(name)
        if key is None or written.shape != key.shape or own_name(name) != "A":
            continue
        sums = written.values.sum(axis=-1)
        off = min(written.shape[-1] / 2, 50)  # of many rounded shares; not as far as a sum of 1
        if (np.abs(sums - 100) <= off).all() and key.max() <= 1:
            places = np.ndindex(written.shape)
            cells = iter(
                [read_entry(f"{written.text(place)}%", decimal_comma=True) for place in places]
            )
            heads = written.values if written.values.ndim == 3 else [written.values]
            entries = [[[next(cells) for _ in row] for row in head] for head in heads]
            made[name] = matrix_of_entries(entries, written.place)
            found.remarks.append(f"{name} is read as percentages: its rows sum to 100")
    return made


def _fitting(
    matrices: Mapping[str, WrittenMatrix], expected: Expected, found: Collected
) -> dict[str, WrittenMatrix]:
    """Return the matrices without ragged ones and lone rows, which are listed as not read.

    A matrix of another shape may be a mistake; half of one is rather a misreading.
    """
    made = dict(matrices)
    for name, written in matrices.items():
        shape = expected.shape(name)[-2:]
        others = [row for n, each in made.items() if n != name for row in _rows_of(each)]
        is_again = written.values.size == 1 or all(row in others for row in _rows_of(written))
        if expected.steps and not shape and is_again:
            line = next((each.line for each in found.parts if each.name == name), 0)
            text = written.text((0,) * written.values.ndim)
            found.leave(line, text, f"this problem does not have {name}", could_be=False)
            del made[name]
        if not shape or written.shape[-2:] == shape:
            continue
        if (without := _without_sums(written, shape)) is not None:
            found.remarks.append(f"{name} is read without the sums beside its entries")
            made[name] = without
            continue
        texts = (each.text for each in found.taken if each.what == name)
        if any(_EXPLICIT.search(text) for text in texts):
            continue
        is_row = 1 in written.shape[-2:] and 1 not in shape
        if written.problem or is_row or np.isnan(written.values).any():
            line = int("".join(filter(str.isdigit, written.place.split(" to ")[0])) or 0)
            size = " × ".join(map(str, shape))
            places = [*map(tuple, np.argwhere(~np.isnan(written.values)).tolist())]
            rows = groupby(places, key=lambda place: place[:-1])
            text = "; ".join(" ".join(map(written.text, own)) for _, own in rows)
            why = f"it may be a part of {name}, which is {size}: write it in rows under its name"
            found.leave(line, text, why)
            del made[name]
    return made


def _rows_of(written: WrittenMatrix) -> list[list[float]]:
    """Return the rows of a matrix as lists of numbers."""
    return written.values.reshape(-1, written.shape[-1]).tolist()


def _without_sums(written: WrittenMatrix, shape: tuple[int, ...]) -> WrittenMatrix | None:
    """Return a matrix without a last row or column with the sums of the others; None for others."""
    for axis in (0, 1):
        larger = tuple(size + (k == axis) for k, size in enumerate(shape))
        if written.shape != larger or written.problem:
            continue
        *entries, sums = np.moveaxis(written.values, axis, 0)
        with np.errstate(invalid="ignore"):  # of infinities
            off = np.abs(np.sum(entries, axis=0) - sums)
        if (off <= NEAR_SUM * len(entries)).all():
            return written.arranged(lambda each: each[: shape[0], : shape[1]])
    return None


def _turned_alike(
    matrices: Mapping[str, WrittenMatrix], expected: Expected, found: Collected
) -> dict[str, WrittenMatrix]:
    """Return the matrices, transposed if tokens are columns in several: by names or by numbers."""
    stated = {part.name for part in found.parts if part.turned}
    has_weights = any(own_name(name)[:1] in ("S", "A") for name in stated)
    are_columns = len(stated.intersection("QKV")) >= ENOUGH_COLUMNS
    scores = {name: each for name, each in matrices.items() if own_name(name)[:1] == "S"}
    masked = [name for name, each in scores.items() if np.isneginf(each.values).any()]
    keys = {**expected.steps, **dict.fromkeys(masked, expected.steps.get("S_masked"))}
    flat = {
        name: (written.values, key)
        for name, written in matrices.items()
        if (key := keys.get(name)) is not None and key.ndim == written.values.ndim == 2
    }
    odd = {n for n, (own, key) in flat.items() if own.shape == key.shape[::-1] != key.shape}
    likely = {n for n, (own, key) in flat.items() if _is_turned(own, key)}
    by_numbers = {n for n in likely if share_alike(flat[n][0].T, flat[n][1]) == 1}
    of_weights = {n for n in likely if own_name(n)[:1] in ("S", "A")}
    has_weights |= {own_name(n)[:1] for n in of_weights} >= {"S", "A"} and bool(
        of_weights & by_numbers
    )
    is_seen = len((odd | by_numbers).intersection("QKVO")) >= SURE_COLUMNS
    by_numbers |= likely if is_seen or are_columns else likely & odd
    by_numbers |= of_weights if has_weights else set()
    made = dict(matrices)
    for name in matrices:
        is_square = len({*matrices[name].shape}) == 1 and own_name(name)[:1] not in "SA"
        is_shown = has_weights or is_square or is_seen
        is_right = (name in by_numbers and is_shown) or (is_seen and name in odd)
        own = followed(made, expected).get(name) if is_seen and name in flat else None
        is_right = is_right or (own is not None and _is_turned(made[name].values, own))
        if is_right or (are_columns and name in (odd | by_numbers) - stated.intersection("QKV")):
            made[name] = matrices[name].arranged(np.transpose)
            like = f"as {' and '.join(sorted(stated))} are" if stated else "by its numbers"
            found.remarks.append(f"{name} is read transposed, {like}")
    return made


def _is_turned(own: Matrix, key: Matrix) -> bool:
    """Return whether numbers agree with a step if they are transposed, and otherwise much less."""
    return share_alike(own.T, key) >= max(LIKELY, share_alike(own, key) + CLEARLY)


def _tell_columns(
    matrices: Mapping[str, WrittenMatrix], expected: Expected, found: Collected
) -> None:
    """Note matrices that all have tokens as columns without a statement."""
    turned = [
        name
        for name in ("Q", "K", "V")
        if name in matrices and matrices[name].shape == expected.shape(name)[::-1]
        if matrices[name].shape != expected.shape(name)
    ]
    if len(turned) >= ENOUGH_COLUMNS:
        why = (
            "it looks as if tokens were columns here: write them as rows, or mark with that layout"
        )
        line = next((part.line for part in found.parts if part.name == turned[0]), 0)
        found.leave(line, of_each(turned), why)


def _take_comment(comment: Comment, found: Collected) -> None:
    """Note the meaning of the numbers of a comment."""
    line, text = comment.line, comment.text
    if comment.is_out:
        found.note(line, "", "commented out", text)
    elif role := "words" if comment.is_size else role_of_words(text):
        how = "a comment" if role == "words" else f"a comment: {role}"
        found.note(line, "", how, text)
    else:
        found.unread.append(Unread(line, text, IN_COMMENT, "=" not in text or "[" in text))


def _matrices(
    parts: list[Part], expected: Expected, found: Collected
) -> Mapping[str, WrittenMatrix]:
    by_name: dict[str, list[Part]] = {}
    for part in _with_outputs_of_heads(parts, expected, found):
        by_name.setdefault(part.name, []).append(part)
    matrices = {}
    for name, own in by_name.items():
        own = _latest(_in_order(own, expected, found), expected, found)
        latest = _as_corrections(own, expected)
        for part in latest:
            if part.corrects:
                found.tell(part.line, f"{part.what} {CORRECTED}")
        for part in contradicting(latest, expected.by_columns):
            _leave(part, f"all of {name} is elsewhere, with other numbers here", found)
        latest = _without_misfits(latest, expected, found)
        if not latest:
            continue
        latest = [_in_all_rows(part, expected, found) for part in latest]
        if _is_one_row(latest, expected):
            part = latest[0]
            _leave(part, f"one row, where {name} has {expected.shape(name)[-2]}", found)
            continue
        matrices[name] = matrix_of(latest, expected.shape(name), expected.by_columns)
    return matrices


def _leave_quoted(lines: set[int], found: Collected) -> None:
    """Remove the steps of a quoted mail that the mail itself states whole."""
    own = {part.name for part in found.parts if part.is_whole and part.line not in lines}
    old = [part for part in found.parts if part.line in lines and part.name in own]
    for loose in found.loose:
        loose.after -= sum(part in old for part in found.parts[: loose.after])
    found.parts = [part for part in found.parts if part not in old]
    places = {(part.line, part.what) for part in old}
    for i, each in enumerate(found.taken):
        if (each.line, each.what) in places:
            found.taken[i] = each._replace(what="", how=QUOTED)


def _as_corrections(parts: list[Part], expected: Expected) -> list[Part]:
    """Return parts with a right row below its entire matrix as a correction of it."""
    key = expected.steps.get(parts[0].name)
    wholes = [part for part in parts if part.is_whole]
    if key is None or key.ndim != 2 or len(wholes) != 1 or expected.by_columns:
        return parts
    after = parts[parts.index(wholes[0]) + 1 :]
    rows = [p for p in after if 0 < p.row <= len(key) and not p.column and len(p.rows) == 1]
    right = {id(p) for p in rows if share_alike(p.values, key[p.row - 1 : p.row]) == 1}
    return [part._replace(is_again=True) if id(part) in right else part for part in parts]


def _without_misfits(parts: list[Part], expected: Expected, found: Collected) -> list[Part]:
    """Return parts without rows that their step cannot have.

    q1 = (1, 3), and after "q1:" its scores, which would replace it without a message; and e^3 =
    20.086, which is row 3 of nothing.
    """
    height, width = expected.size(parts[0].name)
    if not width or expected.by_columns:
        return parts
    rows = [part for part in parts if part.row and not part.column and len(part.rows) == 1]
    right = {(part.head, part.row) for part in rows if len(part.rows[0]) == width}
    counted = {part.row for part in parts if part.row > 0}
    last = len(counted) if counted == {*range(1, len(counted) + 1)} else height
    kept = []
    for part in parts:
        if part in rows and len(part.rows[0]) != width and (part.head, part.row) in right:
            _leave(part, f"{part.what} is elsewhere, with {width} numbers", found)
        elif part.row > last:
            _leave(part, f"{part.name} has {height} rows", found)
        else:
            kept.append(part)
    return kept


def _with_masks(part: Part, expected: Expected, found: Collected) -> Part:
    """Return a matrix with -∞, or a weight of 0, for the crosses and dashes of masked entries."""
    prefix, dot, own = part.name.rpartition(".")
    is_masked = own in (*SCORES, "A")
    key = expected.of_head(f"{prefix}{dot}S_masked" if is_masked else part.name, part.head)
    if key is not None and part.row and not part.column:
        key = key[part.row - 1 : part.row]
    if key is None or part.column or key.shape != part.size or part.turned:
        return part
    sign = "0" if own == "A" else "-inf"
    marked = [
        value == -np.inf
        for row, values in zip(part.rows, key, strict=True)
        for cell, value in zip(row, values, strict=False)
        if cell.strip() in MASKED
    ]
    is_mask = own == "S_masked" and len(marked) > 1 and not any(marked)  # on the other side
    rows = [
        [
            sign if (value == -np.inf or is_mask) and cell.strip() in MASKED else cell
            for cell, value in zip(row, values, strict=False)
        ]
        for row, values in zip(part.rows, key, strict=True)
    ]
    if rows == part.rows:
        return part
    marks = {cell for row, own in zip(part.rows, rows, strict=True) for cell in {*row} - {*own}}
    said = " and ".join(sorted(marks))
    shown = sign.replace("inf", "∞")
    found.tell(part.line, f"{said} in {part.what} is read as {shown}, where masked")
    return part._replace(rows=rows)


def _in_all_rows(part: Part, expected: Expected, found: Collected) -> Part:
    """Return the only row of a step as each of its rows, if these are equal in the key."""
    key = expected.steps.get(part.name)
    if key is None or key.ndim != 2 or not _is_one_row([part], expected) or (key != key[0]).any():
        return part
    found.tell(part.line, f"read as all {len(key)} rows of {part.name}, which are equal")
    return part._replace(rows=part.rows * len(key))


def _is_one_row(parts: list[Part], expected: Expected) -> bool:
    """Return whether a matrix is only one row, without a number."""
    height, width = (0, 0, *expected.shape(parts[0].name))[-2:]
    is_alone = len(parts) == 1 and parts[0].is_whole and parts[0].row_from == 0
    return is_alone and height > 1 and parts[0].size == (1, width) and width > 1


def _in_order(parts: list[Part], expected: Expected, found: Collected) -> list[Part]:
    """Return rows, or heads, under one name with their numbers, if there are all of them.

    Otherwise the last would count as a correction of the others.
    """
    name, lines = parts[0].name, f"lines {parts[0].line} to {parts[-1].line}"
    (height, width), heads = expected.size(name), expected.heads(name)
    for count, size, of in ((height, (1, width), "row"), (heads, (height, width), "head")):
        are_alike = all(p.is_whole and not p.head and p.size == size for p in parts)
        if len(parts) == count > 1 and are_alike:
            found.remarks.append(f"{lines}: these are taken as the {of}s of {name}, in their order")
            counted = [*enumerate(parts, start=1)]
            return [p._replace(row=i) if of == "row" else p._replace(head=i) for i, p in counted]
    return parts


def _with_outputs_of_heads(parts: list[Part], expected: Expected, found: Collected) -> list[Part]:
    """Return outputs as those of heads if each head has its own before all; otherwise list them.

    Otherwise the last of them would count as a correction of the others.
    """
    heads, shape = expected.heads("H"), expected.shape("H")[-2:]
    wholes = [part for part in parts if part.name == "O" and part.is_whole and not part.is_again]
    if not heads or len(wholes) < 2 or any(part.name == "H" for part in parts):
        return parts
    *own, last = wholes
    if len(own) == heads and all(part.size == shape for part in own):
        lines = " and ".join(str(part.line) for part in own)
        found.remarks.append(f"lines {lines}: these outputs are taken as those of the heads")
        named = {id(p): p._replace(name="H", head=h) for h, p in enumerate(own, start=1)}
        return [named.get(id(part), part) for part in parts]
    why = f"there are outputs on line {last.line} too: say which are those of a head"
    for part in own:
        if _differ([part], last):
            _leave(part, why, found)
    return parts


def _latest(parts: list[Part], expected: Expected, found: Collected) -> list[Part]:
    """Return the parts of a matrix; if it was written twice, the later ones, with a note."""
    kept: dict[int, list[Part]] = {}
    for part in parts:
        own = kept.setdefault(part.head, [])
        if part.is_whole and part.row_from == part.column_from == 0:
            wholes = [each for each in own if each.is_whole]
            if wholes and _differ(wholes, part):
                last = wholes[-1]
                if _is_better(last, part, expected, {each.name for each in found.parts}):
                    _list(part, last, found)
                    continue
                if any(_are_powers(each.values, part.values) for each in found.parts):
                    text = " / ".join(map(" ".join, part.rows))
                    found.note(part.line, "", f"e to the power of {part.what}", text)
                    continue
                lines = f"line {wholes[0].line} and again on line {part.line}"
                found.remarks.append(f"{part.what} is written on {lines}: the later one counts")
                is_right = part.size == expected.size(part.name)
                is_version = is_right and (part.size == last.size or len(last.rows) == 1)
                if last.size != (1, 1) and not is_version:
                    _list(last, part, found)
            own[:] = [each._replace(is_again=False) for each in own if not each.is_whole]
        own.append(part)
    return [part for own in kept.values() for part in own]


def _is_better(before: Part, part: Part, expected: Expected, there: set[str]) -> bool:
    """Return whether a matrix fits its step, and a later one of its name does not.

    The later may be a missing step of this shape: the output under the name of its factor, "A.V".
    """
    if before.size == expected.size(part.name) != part.size:
        return True
    shape = expected.shape(part.name)
    if all(name in there or key.shape != shape for name, key in expected.steps.items()):
        return False
    first, second = (
        max(expected.agreement(part.name, own) for own in (each, each.swapaxes(-1, -2)))
        for each in (before.values, part.values)
    )
    return first == 1 and second < WRONG and max(before.size) > 1


def _are_powers(scores: Matrix, values: Matrix) -> bool:
    """Return whether a matrix is e to the power of another: work."""
    with np.errstate(over="ignore"):
        powers = np.exp(scores)
    room = NEAR_SUM * np.maximum(1, powers)
    return values.shape == powers.shape and bool((abs(values - powers) <= room).all())


def _list(lost: Part, kept: Part, found: Collected) -> None:
    """List a matrix of the same name as the one that counts."""
    _leave(lost, f"{lost.what} is on line {kept.line} too", found)


def _leave(part: Part, why: str, found: Collected) -> None:
    """List a part as not read."""
    found.leave(part.line, "; ".join(" ".join(row) for row in part.rows), why)


def _differ(wholes: list[Part], part: Part) -> bool:
    before = [entry for each in wholes for row in entries_of(each.rows) for entry in row]
    after = [entry for row in entries_of(part.rows) for entry in row]
    return [entry.value for entry in before] != [entry.value for entry in after]


def _is_of_map(of_map: MapReader, lines: Sequence[Line], i: int) -> bool:
    """Return whether a line is only about the map: a sentence, or dots to connect."""
    line = lines[i].text
    if _DOTS.fullmatch(line):
        return True
    if is_behind_numbers(line):
        return False
    found = connection_in(line)
    # without a key, "What each output attends to: self.A" could be about an output "attends to"
    if found and of_map.knows(found) and (of_map.weights or is_about_lines(line)):
        return True
    return of_map.takes(lines, i) or is_about_lines(line)
