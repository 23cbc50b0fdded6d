"""Answers in text of any kind: mails, Markdown, LaTeX, programs, spreadsheets, worksheets."""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

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
from attncalc.reading.answers.corrected import CORRECTED, quoted_lines, with_corrected, with_scanned
from attncalc.reading.answers.doubting import leave_noise, questioned
from attncalc.reading.answers.expected import SCORES, Expected, share_alike
from attncalc.reading.answers.html_page import is_html, text_of_html
from attncalc.reading.answers.keeping import Collected
from attncalc.reading.answers.lines import connection_in, is_about_lines, is_behind_numbers
from attncalc.reading.answers.map_lines import UNCLEAR, MapReader, with_tables
from attncalc.reading.answers.map_order import count_exact, is_prose, is_right, maps_in_order
from attncalc.reading.answers.map_printed import printed_map
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
from attncalc.reading.answers.witness import BECAUSE, witnessed
from attncalc.reading.naming.at_hand import names_there, with_layers_in_words
from attncalc.reading.naming.layer_words import step_of_layer
from attncalc.reading.naming.name import name_in
from attncalc.reading.naming.symbols import STEPS
from attncalc.reading.plain.blocks import blocks_of
from attncalc.reading.plain.cell_names import without_references
from attncalc.reading.plain.comments import Comment
from attncalc.reading.plain.corrections import with_corrections
from attncalc.reading.plain.grids import Line
from attncalc.reading.plain.marks import MASKED, MOST_GRIDS, PRIVATE, typed
from attncalc.reading.plain.numerals import read_entry
from attncalc.reading.plain.other_words import in_english
from attncalc.reading.plain.sentence_rows import with_counted_rows, with_rows, without_senders
from attncalc.reading.plain.sentence_vectors import with_vectors
from attncalc.reading.plain.spoken import with_digits
from attncalc.reading.plain.tidy import with_decimal_commas, within_bounds
from attncalc.reading.plain.topics import with_topics

MOST_FAULTS = 100
ENOUGH_COLUMNS, SURE_COLUMNS, WRONG, NEAR_SUM = 2, 3, 0.5, 0.01
"""The number of matrices with rows for columns that are a habit, and not a mistake."""
_MINUS = re.compile(r"⁻(?=[.\d])")
"""The raised minus of a calculator before a digit that is not raised."""
_MINUS_WORD = re.compile(r"(?<!\d )(?<!\) )\b(?:minus|moins|menos|meno) (?=\.?\d)", re.IGNORECASE)
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
_OTHER_DIGIT = re.compile(r"(?![0-9])\d")
_DOTS = re.compile(r"[^●•]{0,60}[●•]\s{3,}[●•][^●•]{0,60}|\s*(?:\S{1,40} )?[●•]\s*")


def read_text_answer(text: str, place: str, expected: Expected | None = None) -> Answer:
    """Return the answer in a text; unreadable parts are noted, and the others kept."""
    expected = expected or Expected()
    html = text_of_html(text) if is_html(text) else None
    page = handed_back(text if html is None else html.text, expected.names, html)
    page = page._replace(text=with_digits(_with_ascii_digits(page.text)))
    # before the text is rewritten, which makes it longer and takes time
    text, said = within_bounds(page.text)
    plain = with_decimal_commas(without_senders(PRIVATE.sub("", text)))
    text = _rewritten(plain, expected)
    of_map = MapReader(expected)
    blocks, document = blocks_of(
        text, partial(_names_a_row, expected), partial(_is_of_map, of_map), expected.labels
    )
    found = collected(blocks, expected, of_map)
    for struck in document.struck:
        found.taken.append(Taken(struck.line, struck.line, "", "struck out", struck.text))
    for comment in document.comments:
        _take_comment(comment, found)
    faults = said + [_at(line, fault) for line, fault in document.faults[:MOST_FAULTS]]
    faults = list(dict.fromkeys(faults))
    for line, left in document.shortened[:MOST_FAULTS]:
        why = "numbers are left out of it, where it has …: print all of them"
        found.unread.append(Unread(line, left, why, could_be_matrix=True))
    if document.cut_at:
        why = "there is too much before it: what follows is not read"
        found.unread.append(Unread(document.cut_at, "…", why, could_be_matrix=True))
    if document.is_full:
        why = f"only the first {MOST_GRIDS:,} matrices in brackets are looked at"
        found.unread.append(Unread(0, "…", why, could_be_matrix=True))
    _leave_quoted(quoted_lines(plain), found)
    _leave_lone_rows(expected, found)
    place_loose(found, expected)
    found.parts = [_with_masks(part, expected, found) for part in found.parts]
    parts = with_better_names(found, expected)
    matrices = _matrices(parts, expected, found)
    named, beside = partial(_step_called, expected), partial(_step_beside, expected)
    matrices = witnessed(plain, found, expected, named, beside, matrices)
    matrices = _fitting(_as_shares(matrices, expected, found), expected, found)
    matrices = _turned_alike(matrices, expected, found)
    _tell_columns(matrices, expected, found)
    matrices = with_scanned(matrices, found)
    matrices = with_corrected(plain, matrices, expected, found)
    search = partial(witnessed, plain, found, expected, named, beside)
    matrices = questioned(matrices, expected, found, search)
    leave_noise(matrices, expected, found)
    faults += [*found.faults, *faults_in(matrices)]
    _take_map(plain, matrices, expected, found, of_map)
    unread = tuple(sorted(found.unread, key=lambda each: each.line))
    connections = lines_from_one(map(page.lines.named, found.connections)) or None
    says = (each.says for each in connections or ())  # each has been noted, in this order
    noted = [each._replace(how=next(says)) if each.what == "map" else each for each in found.taken]
    taken = tuple(sorted(noted, key=lambda each: each.line))
    return Answer(
        place, matrices, connections, tuple(faults), unread, tuple(found.remarks), taken
    )  # fmt: skip


def _take_map(
    text: str,
    matrices: Mapping[str, WrittenMatrix],
    expected: Expected,
    found: Collected,
    of_map: MapReader,
) -> None:
    """Read a map that is not complete or not right from lines that are no step."""
    if len(of_map.weights) != 1 or not matrices:
        return
    steps_of = [each for each in found.taken if each.how.startswith(BECAUSE)]
    rows = {line for each in steps_of for line in each.lines}
    outside = [each for each in found.connections if each.line not in rows]
    heads = of_map.weights[0]
    if (written := matrices.get("A")) is not None:
        own = np.swapaxes(written.values, -1, -2) if expected.by_columns else written.values
        is_whole = own.size == heads.size and own.shape[-2:] == heads.shape[-2:]
        heads = own.reshape(heads.shape) if is_whole and np.isfinite(own).all() else heads
    left = {each.line for each in found.unread}
    own_parts = [e for e in found.taken if e.what not in ("", "map") and e.line not in left]
    steps = {line for each in own_parts for line in each.lines}
    texts = dict(enumerate(text.split("\n"), start=1))
    lines = [each for each in texts.items() if each[0] not in steps or is_prose(each[1])]
    labels, is_complete = expected.labels, of_map.is_complete(outside)
    stated = maps_in_order(lines, heads, labels)
    if len(heads) == 1 and count_exact(stated, heads, labels) < len(heads[0]):
        stated = printed_map(lines, heads[0], labels) or stated
    right, others = (count_exact(each, heads, labels) for each in (stated, outside))
    is_sure = len(heads) > 1 or not is_complete or right == len(stated)
    if is_sure and right > others and all(each.is_told for each in outside):
        _replace_map(stated, texts, found)
    elif len(heads) == 1:
        confirmed = partial(is_right, weights=heads[0], labels=labels)
        _take_confirmed(stated, outside, texts, found, confirmed, is_complete=is_complete)
    if stated and not found.connections:
        _replace_map(stated, texts, found)


def _take_confirmed(
    stated: list[WrittenConnection],
    outside: list[WrittenConnection],
    texts: Mapping[int, str],
    found: Collected,
    is_confirmed: Callable[[WrittenConnection], bool],
    *,
    is_complete: bool,
) -> None:
    """Replace a map by another reading that the weights confirm, if they do not confirm its own."""
    if is_complete and 2 * sum(map(is_confirmed, outside)) >= len(outside):
        own = {each.output: each for each in stated if is_confirmed(each) and each.second}
        found.connections[:] = [
            each if each.second else own.get(each.output, each) for each in found.connections
        ]
    elif stated and all(map(is_confirmed, stated)):
        _replace_map(stated, texts, found)
    elif not (is_complete and stated) and not all(is_confirmed(e) for e in outside if e.is_told):
        # words that were read in part, against the numbers, mark no output wrong
        told = dict.fromkeys(each.line for each in found.connections if each.is_told)
        found.connections[:] = [each for each in found.connections if not each.is_told]
        found.taken[:] = [e for e in found.taken if e.what != "map" or e.line not in told]
        found.unread += [
            Unread(line, texts[line], f"it seems to be of the map: {UNCLEAR}", False, of_map=True)
            for line in told
        ]


def _replace_map(
    stated: list[WrittenConnection], texts: Mapping[int, str], found: Collected
) -> None:
    """Replace the map by the lines of another reading."""
    numbers = [each.line for each in stated]
    own_lines = {*range(min(numbers), max(numbers) + 1)}
    own_lines |= {e.line for e in found.taken if e.line <= min(numbers) <= e.last}
    found.unread[:] = [
        each
        for each in found.unread
        if own_lines.isdisjoint(range(each.line, each.line + each.text.count(" / ") + 1))
    ]
    found.taken[:] = [e for e in found.taken if e.what != "map" and e.line not in own_lines]
    found.connections[:] = stated
    found.taken += [Taken(e.line, e.line, "map", "", texts[e.line]) for e in stated]


def _with_ascii_digits(text: str) -> str:
    """Return a text with digits, separators and signs of any script as ASCII; ▒ is illegible.

    >>> _with_ascii_digits("−٠٫٢٥ ⁻3"), _with_ascii_digits("x² 1½")
    ('−0.25 -3', 'x² 1½')
    """
    text = _MINUS_INFINITY.sub("-∞", text.replace("\\[Infinity]", "∞"))
    text = _MINUS_WORD.sub("-", _MINUS.sub("-", _ILLEGIBLE.sub(_unread_entry, text)))
    if not _OTHER_DIGIT.search(text):
        return text
    text = _OTHER_DIGIT.sub(lambda each: str(unicodedata.decimal(each[0])), text)
    return text.translate({ord("٫"): ".", ord("٬"): None, ord("،"): ",", ord("؛"): ";"})


def _unread_entry(match: "re.Match[str]") -> str:
    """Return the sign of an illegible number, in a line with numbers."""
    start, stop = match.span()
    before = match.string[max(0, start - LONGEST_ROW) : start + 1].rpartition("\n")[2]
    line = before + match.string[stop : stop + LONGEST_ROW].partition("\n")[0]
    return f"{match[1]}▒" if any(map(str.isdigit, line)) else match[0]


def _rewritten(text: str, expected: Expected) -> str:
    """Return a text with the statements of sentences as matrices; lines stay lines."""

    def size(words: str) -> tuple[int, ...]:
        return _step_named(expected, words)[1]

    text = in_english(with_layers_in_words(with_tables(text)))
    shapes = {key.shape[-2:] for key in expected.steps.values()}
    text = with_counted_rows(text, partial(_names_a_row, expected), shapes)
    text = with_corrections(without_references(text))
    text = with_rows_of_tokens(text, expected.labels)
    named = partial(_step_named, expected)
    return with_vectors(with_rows(with_topics(text, named), named), size)


def _step_named(expected: Expected, words: str) -> tuple[str, tuple[int, ...]]:
    """Return the step that words name, and its shape; "" for none, or for a part of one."""
    name = name_in(words, expected.labels)
    if name is None or any((name.head, name.row, name.column, name.number, name.turned)):
        return "", ()
    return name.matrix, expected.shape(name.matrix)


def _step_called(expected: Expected, words: str) -> str:
    """Return the step that words name, or ""."""
    return _step_named(expected, words)[0]


def _step_beside(expected: Expected, words: str) -> str:
    """Return the step that words before numbers name, or a row, column or entry of which."""
    name = name_in(words, expected.labels)
    return "" if name is None else name.matrix


def _names_a_row(expected: Expected, label: str) -> bool:
    """Return whether the text before a row names it, and does not only count it."""
    if len(label) > 1 and label in expected.labels and label not in STEPS:
        return False
    if names_there() and step_of_layer(label, names_there()) is not None:
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
        if (np.abs(sums - 100) <= written.shape[-1] / 2).all() and key.max() <= 1:
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
            why = f"this problem does not have {name}"
            found.unread.append(Unread(line, text, why, could_be_matrix=False))
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
            rows: dict[tuple[int, ...], list[str]] = {}
            for at in map(tuple, np.argwhere(~np.isnan(written.values)).tolist()):
                rows.setdefault(at[:-1], []).append(written.text(at))
            text = "; ".join(map(" ".join, rows.values()))
            why = f"it may be a part of {name}, which is {size}: write it in rows under its name"
            found.unread.append(Unread(line, text, why, could_be_matrix=True))
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
        if (np.abs(np.sum(entries, axis=0) - sums) <= NEAR_SUM * len(entries)).all():
            return written.arranged(lambda each: each[: shape[0], : shape[1]])
    return None


def _is_only_turned(name: str, written: WrittenMatrix, expected: Expected) -> bool:
    """Return whether a square matrix agrees with its step in full only as its transpose."""
    key = expected.steps.get(name)
    if key is None or key.ndim != 2 or written.shape != key.shape or key.shape != key.T.shape:
        return False
    turned, as_is = share_alike(written.values.T, key), share_alike(written.values, key)
    return turned == 1 and as_is < 1


def _turned_alike(
    matrices: Mapping[str, WrittenMatrix], expected: Expected, found: Collected
) -> dict[str, WrittenMatrix]:
    """Return the matrices, transposed if tokens are columns in several: by names or by numbers."""
    all_turned = {part.name for part in found.parts if part.turned}
    turned = all_turned.intersection("QKV")
    has_weights_turned = any(own_name(name)[:1] in ("S", "A") for name in all_turned)
    others = {
        name for name, each in matrices.items()
        if name not in turned and each.shape[::-1] == expected.shape(name) != each.shape
    }  # fmt: skip
    made = dict(matrices)
    columns = {name for name, each in matrices.items() if _is_only_turned(name, each, expected)}
    if len(columns.intersection("QKVO")) >= SURE_COLUMNS:
        for name in columns:
            made[name] = matrices[name].arranged(np.transpose)
        said = ", ".join(sorted(columns))
        found.remarks.append(f"{said} are read transposed: their numbers have tokens as columns")
        return made
    for name, written in matrices.items():
        key = expected.steps.get(name, written.values[:0])
        is_like = share_alike(written.values.T, key) == 1 > share_alike(written.values, key)
        is_of_tokens = own_name(name) in "QKVO" and name in {*columns, *others}
        is_square = name not in turned and len(turned) >= ENOUGH_COLUMNS
        by_numbers = is_like and (is_square or (bool(others and columns) and is_of_tokens))
        by_others = name in columns and has_weights_turned
        if by_numbers or by_others or (name in others and len(turned) >= ENOUGH_COLUMNS):
            made[name] = written.arranged(np.transpose)
            like = " and ".join(sorted(all_turned or others))
            found.remarks.append(f"{name} is read transposed, as {like} are")
    return made


def _tell_columns(
    matrices: Mapping[str, WrittenMatrix], expected: Expected, found: Collected
) -> None:
    """Note matrices that all have tokens as columns without a statement."""
    turned = [
        name
        for name, written in matrices.items()
        if name in ("Q", "K", "V")
        and written.values.ndim == 2
        and written.values.shape == expected.shape(name)[::-1] != expected.shape(name)
    ]
    if len(turned) < ENOUGH_COLUMNS:
        return
    said = ", ".join(turned[:-1]) + f" and {turned[-1]}"
    why = "it looks as if tokens were columns here: write them as rows, or mark with that layout"
    line = next((part.line for part in found.parts if part.name == turned[0]), 0)
    found.unread.append(Unread(line, said, why, could_be_matrix=True))


def _take_comment(comment: Comment, found: Collected) -> None:
    """Note the meaning of the numbers of a comment."""
    line, text = comment.line, comment.text
    if comment.is_out:
        found.taken.append(Taken(line, line, "", "commented out", text))
    elif role := "words" if comment.is_size else role_of_words(text):
        how = "a comment" if role == "words" else f"a comment: {role}"
        found.taken.append(Taken(line, line, "", how, text))
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
        own = _as_heads(_in_order(own, expected, found), expected, found)
        latest = _as_corrections(_latest(own, expected, found), expected)
        for part in latest:
            if part.corrects:
                found.remarks.append(f"line {part.line}: {part.what} {CORRECTED}")
        for part in contradicting(latest, expected.by_columns):
            _leave(part, f"all of {name} is elsewhere, with other numbers here", found)
        latest = _of_one_width(latest, expected, found)
        if not (latest := _within(latest, expected, found)):
            continue
        latest = [_as_column(part, expected, found) for part in latest]
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
    _remove(old, found)
    places = {(part.line, part.what) for part in old}
    for i, each in enumerate(found.taken):
        if (each.line, each.what) in places:
            found.taken[i] = each._replace(what="", how="an older version, quoted")


def _as_corrections(parts: list[Part], expected: Expected) -> list[Part]:
    """Return parts with a right row below its entire matrix as a correction of it."""
    key = expected.steps.get(parts[0].name)
    wholes = [part for part in parts if part.is_whole]
    if key is None or key.ndim != 2 or len(wholes) != 1 or expected.by_columns:
        return parts
    after = parts[parts.index(wholes[0]) + 1 :]
    rows = [p for p in after if 0 < p.row <= len(key) and not p.column and len(p.rows) == 1]
    values = {id(p): matrix_of_entries([entries_of(p.rows)], "").values for p in rows}
    right = {n for p in rows if share_alike(values[n := id(p)], key[p.row - 1 : p.row]) == 1}
    return [part._replace(is_again=True) if id(part) in right else part for part in parts]


def _of_one_width(parts: list[Part], expected: Expected, found: Collected) -> list[Part]:
    """Return parts without rows of another width, if their step has such a row elsewhere.

    q1 = (1, 3), and after "q1:" its scores: they would replace the query without a message.
    """
    width = (0, *expected.shape(parts[0].name))[-1]
    if not width or expected.by_columns:
        return parts
    rows = [part for part in parts if part.row and not part.column and len(part.rows) == 1]
    right = {(part.head, part.row) for part in rows if len(part.rows[0]) == width}
    wrong = [p for p in rows if len(p.rows[0]) != width and (p.head, p.row) in right]
    for part in wrong:
        _leave(part, f"{part.what} is elsewhere, with {width} numbers", found)
    return [part for part in parts if part not in wrong]


def _within(parts: list[Part], expected: Expected, found: Collected) -> list[Part]:
    """Return parts without rows far outside their step: e^3 = 20.086 made one of a number."""
    height = (0, 0, *expected.shape(parts[0].name))[-2]
    rows = {part.row for part in parts if part.row > 0}
    if not height or expected.by_columns or rows == {*range(1, len(rows) + 1)}:
        return parts
    beyond = [part for part in parts if part.row > height]
    for part in beyond:
        _leave(part, f"{part.name} has {height} rows", found)
    return [part for part in parts if part not in beyond]


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
    rows = [
        [
            sign if value == -np.inf and cell.strip() in MASKED else cell
            for cell, value in zip(row, values, strict=False)
        ]
        for row, values in zip(part.rows, key, strict=True)
    ]
    if rows == part.rows:
        return part
    marks = {cell for row, own in zip(part.rows, rows, strict=True) for cell in {*row} - {*own}}
    said = " and ".join(sorted(marks))
    shown = sign.replace("inf", "∞")
    found.remarks.append(
        f"line {part.line}: {said} in {part.what} is read as {shown}, where masked"
    )
    return part._replace(rows=rows)


def _as_column(part: Part, expected: Expected, found: Collected) -> Part:
    """Return a row under the name of a column as that column, and note it."""
    shape = expected.shape(part.name)[-2:]
    if not part.is_whole or part.size[0] != 1 or shape != part.size[::-1] or shape[0] == 1:
        return part
    found.remarks.append(f"line {part.line}: the row under {part.name} is taken as its column")
    return part._replace(rows=[[cell] for row in part.rows for cell in row], turned=False)


def _is_one_row(parts: list[Part], expected: Expected) -> bool:
    """Return whether a matrix is only one row, without a number."""
    height, width = (0, 0, *expected.shape(parts[0].name))[-2:]
    is_alone = len(parts) == 1 and parts[0].is_whole and parts[0].row_from == 0
    return is_alone and height > 1 and parts[0].size == (1, width) and width > 1


def _remove(parts: list[Part], found: Collected) -> None:
    """Remove parts, and keep the places of unnamed matrices among the others."""
    gone = {id(part) for part in parts}
    for each in found.loose:
        each.after -= sum(id(part) in gone for part in found.parts[: each.after])
    found.parts = [part for part in found.parts if id(part) not in gone]


def _leave_lone_rows(expected: Expected, found: Collected) -> None:
    """List rows that are no matrix, such as exponents on a line, if a matrix has no name."""
    sizes = {(len(each.grid.rows), len(each.grid.rows[0])) for each in found.loose}
    for name in {part.name for part in found.parts}:
        own = [part for part in found.parts if part.name == name]
        if expected.shape(name)[-2:] in sizes and _is_one_row(own, expected):
            _remove(own, found)
            _leave(own[0], f"one row, where {name} has {expected.shape(name)[-2]}", found)


def _in_order(parts: list[Part], expected: Expected, found: Collected) -> list[Part]:
    """Return single rows under one name as the rows of its matrix, if their number fits."""
    height, width = (0, 0, *expected.shape(parts[0].name))[-2:]
    rows = [part for part in parts if part.is_whole and part.size == (1, width) and not part.head]
    if len(rows) != height or len(rows) < 2 or len(rows) < len(parts):
        return parts
    name, lines = parts[0].name, f"lines {rows[0].line} to {rows[-1].line}"
    found.remarks.append(f"{lines}: these rows are taken as those of {name}, in their order")
    return [part._replace(row=i) for i, part in enumerate(rows, start=1)]


def _as_heads(parts: list[Part], expected: Expected, found: Collected) -> list[Part]:
    """Return matrices of one name and size as its heads, if it has as many.

    Otherwise the last would count as a correction of the others.
    """
    heads, shape = expected.heads(parts[0].name), expected.shape(parts[0].name)[-2:]
    alike = all(p.is_whole and not p.head and p.size == shape and not p.corrects for p in parts)
    if heads < 2 or len(parts) != heads or not alike or len({part.line for part in parts}) < heads:
        return parts
    lines = " and ".join(str(part.line) for part in parts)
    found.remarks.append(f"lines {lines}: these are taken as the heads of {parts[0].name}")
    return [part._replace(head=i) for i, part in enumerate(parts, start=1)]


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
    for part in own:
        if _differ([part], last):
            _leave(
                part,
                f"there are outputs on line {last.line} too: say which are those of a head",
                found,
            )
    return parts


def _latest(parts: list[Part], expected: Expected, found: Collected) -> list[Part]:
    """Return the parts of a matrix; if it was written twice, the later ones, with a note."""
    kept: dict[int, list[Part]] = {}
    for part in parts:
        own = kept.setdefault(part.head, [])
        if part.is_whole and part.row_from == part.column_from == 0:
            wholes = [each for each in own if each.is_whole]
            if wholes and _differ(wholes, part):
                is_right = len(wholes) == 1 and _is_rather_another(wholes[0], part, expected, found)
                if is_right or _is_other(wholes[-1], part, expected):
                    _list(part, wholes[-1], found)
                    continue
                if _are_powers(wholes[-1], part):
                    text = " / ".join(map(" ".join, part.rows))
                    how = f"e to the power of {part.what}"
                    found.taken.append(Taken(part.line, part.line, "", how, text))
                    continue
                lines = f"line {wholes[0].line} and again on line {part.line}"
                found.remarks.append(f"{part.what} is written on {lines}: the later one counts")
                if _is_lost(wholes[-1], part, expected):
                    _list(wholes[-1], part, found)
            own[:] = [each._replace(is_again=False) for each in own if not each.is_whole]
        own.append(part)
    return [part for own in kept.values() for part in own]


def _are_powers(before: Part, part: Part) -> bool:
    """Return whether a matrix is e to the power of an earlier one of its name: work."""
    scores, values = (
        matrix_of_entries([entries_of(each.rows)], "").values for each in (before, part)
    )
    with np.errstate(over="ignore"):
        powers = np.exp(scores)
    return values.shape == powers.shape and bool(
        (np.abs(values - powers) <= NEAR_SUM * np.maximum(1, powers)).all()
    )


def _is_rather_another(before: Part, part: Part, expected: Expected, found: Collected) -> bool:
    """Return whether a second matrix of a name may be a missing step, by its numbers.

    The first agrees with the step in every entry, the second in few: it may be the output under the
    name of its factor, "A.V".
    """
    there = {each.name for each in found.parts}
    if not any(
        key.shape == expected.shape(part.name) and name not in there
        for name, key in expected.steps.items()
    ):
        return False
    values = [matrix_of_entries([entries_of(each.rows)], "").values for each in (before, part)]
    first, second = (
        max(expected.agreement(part.name, own) for own in (each, each.swapaxes(-1, -2)))
        for each in values
    )
    return first == 1 and second < WRONG and values[0].size > len(values[0]) > 1


def _is_lost(before: Part, part: Part, expected: Expected) -> bool:
    """Return whether a matrix may not be a version of the later one of its name."""
    if before.size == (1, 1):  # a number beside a name, in prose
        return False
    is_right = part.size == expected.shape(part.name)[-2:]
    return not is_right or (part.size != before.size and len(before.rows) > 1)


def _is_other(before: Part, part: Part, expected: Expected) -> bool:
    """Return whether a matrix is not a later version of the previous one with the right shape."""
    shape = expected.shape(part.name)[-2:]
    return before.size == shape != part.size


def _list(lost: Part, kept: Part, found: Collected) -> None:
    """List a matrix of another size than the one of its name that counts."""
    why = f"{lost.what} is on line {kept.line} too"
    _leave(lost, why + ("" if lost.size == kept.size else ", in another size"), found)


def _leave(part: Part, why: str, found: Collected) -> None:
    """List a part as not read."""
    text = typed("; ".join(" ".join(row) for row in part.rows))
    found.unread.append(Unread(part.line, text, why, could_be_matrix=True))


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
    is_told = of_map.takes(lines, i)
    return is_told or is_about_lines(line)


def _at(line: int, what: str) -> str:
    return f"line {line}: {what}" if line else what
