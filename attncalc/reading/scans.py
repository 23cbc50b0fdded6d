"""Typeset pages as pictures or PDF: their text is recognized, and laid out for the reader of text.

Nothing recognized is final: an answer from a picture is always provisional. Handwriting is refused.
"""

import io
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from attncalc.base.errors import InputError
from attncalc.reading.answers import CAN_BE_READ, read_answer, read_answer_bytes
from attncalc.reading.answers.answer import Answer, Unread
from attncalc.reading.answers.expected import Expected
from attncalc.reading.files import is_folder, read_bytes

NEEDED = ("rapidocr", "onnxruntime", "pypdfium2")
"""The packages of the extra ocr."""
STARTS = {b"%PDF": "a PDF", b"\x89PNG": "a picture", b"\xff\xd8\xff": "a picture"}
MOST_PIXELS, MOST_PAGES, MOST_BYTES = 30_000_000, 12, 50_000_000
MOST_ENLARGED = 24_000_000
"""Bytes of a picture up to which it is enlarged to find a QR code."""
LEAST_SURE = 0.9
"""The mean confidence below which a page is refused: typeset pages have 0.95 and more."""
HANDWRITING = "of handwriting, 20 to 36 of 51 numbers were recognized in a trial, too few to mark"
NARROW = 0.55
"""The step between two letters of a word, in heights of the line: words are further apart."""
_NUMBER = re.compile(r"[-−–]?\d+(?:[.,]\d+)?")
_DAGGER = re.compile(r"(?<=[.,]\d\d)[†‡÷+tf*']$")
"""The mark of a value that is not 0 and shown as 0.00, and what it is recognized as."""
_OF_SENTENCES = re.compile(r"[():·+/;]")
_PAGE_NUMBER = re.compile(
    r"[-–—(]?\s?(?:(?:page|seite|blatt|sheet|página|p\.|第)\s?)?\d{1,3}"
    r"(?:\s?(?:/|of|von|sur|de)\s?\d{1,3})?\s?(?:页|頁|ページ)?\s?[-–—)]?",
    re.IGNORECASE,
)
APART = 2.4
"""How far rows of a matrix are apart at most, in heights of a number."""
_WORD, _ANOTHER = re.compile(r"[A-Za-z]{3}"), re.compile(r"\s[A-Za-z]{2}")
_HEAD = r"\s?\([1-9]\d?\)"
_LABEL = re.compile(rf"([A-Za-z][\w.]*+(?:\s[\w.]++)?(?:{_HEAD})?)\s*+(?:=.*)?")
_OF_HEAD = re.compile(rf"([A-Z][A-Za-z_]*?){_HEAD}(?:\s?=)?")
"""The name of a matrix of a head, as Q(1)."""


def _is_sentence(text: str) -> bool:
    """Return whether a line is more than numbers and names: two words, or marks of a sentence."""
    if "=" in text or _OF_HEAD.fullmatch(text):
        return False
    word = _WORD.search(text)
    has_words = word is not None and _ANOTHER.search(text, word.end()) is not None
    return has_words or _OF_SENTENCES.search(text) is not None


class Word(NamedTuple):
    """Recognized letters that are close to one another, and where they are."""

    text: str
    left: float
    right: float
    y: float
    height: float

    @property
    def is_number(self) -> bool:
        """Whether it is one number."""
        return _NUMBER.fullmatch(self.text) is not None


class ScannedPage(NamedTuple):
    """A page as a picture, and the text that was recognized on it."""

    picture: bytes
    text: str


@dataclass(frozen=True)
class Scanned(Answer):
    """An answer that was recognized in pictures: its pages, for a person to compare."""

    pages: tuple[ScannedPage, ...] = ()


def read_file(place: str, expected: Expected | None) -> Answer:
    """Return the answer in a file; a picture of a typeset page is recognized."""
    path = Path(place)
    if is_folder(path):
        return read_answer(place, expected)
    data = read_bytes(path)
    kind = next((kind for start, kind in STARTS.items() if data.startswith(start)), "")
    if not kind:
        return read_answer_bytes(data, place, expected)
    if not is_installed():
        raise InputError(
            f"{place}: {kind} cannot be read: {CAN_BE_READ}; pip install 'attncalc[ocr]' adds the "
            "recognition of typeset pages"
        )
    return _scanned(data, place, expected)


def _scanned(data: bytes, place: str, expected: Expected | None) -> Answer:
    """Return the answer on recognized pages, which a person is to compare with them."""
    pages = list(_recognized(data, place))
    text = "\n\n".join(page.text for page in pages)
    read = read_answer_bytes(text.encode(), place, expected)
    why = "its numbers were recognized in a picture: compare them with it"
    note = Unread(0, Path(place).name, why, could_be_matrix=True)
    answer = replace(read, unread=(note, *read.unread))
    return Scanned(**vars(answer), pages=tuple(pages))


def _recognized(data: bytes, place: str) -> Iterator[ScannedPage]:
    from rapidocr import RapidOCR

    threads = "EngineConfig.onnxruntime.intra_op_num_threads"  # more spin where others work, too
    params = {"Global.use_cls": False, "Global.log_level": "error", threads: 1}
    engine = RapidOCR(params=params)
    yield from (_page(picture, engine, place) for picture in _pictures(data, place))


def is_installed() -> bool:
    """Return whether the extra ocr is installed."""
    return all(find_spec(each) is not None for each in NEEDED)


def first_page(place: Path) -> list[str]:
    """Return the recognized lines of the first page of a file."""
    page = next(_recognized(read_bytes(place), str(place)), None)
    return [] if page is None else page.text.splitlines()


def codes_in(place: Path) -> str:
    """Return what the QR code of each page of a file says."""
    import cv2  # rapidocr brings it
    import numpy as np

    reader, found = cv2.QRCodeDetector(), list[str]()
    for page in map(np.asarray, _pictures(read_bytes(place), str(place))):
        text = reader.detectAndDecode(page)[0]
        if not text and page.size < MOST_ENLARGED:  # small modules of a photo
            text = reader.detectAndDecode(cv2.resize(page, None, fx=2, fy=2))[0]
        found.append(text)
    return "\n".join(found)


def _pictures(data: bytes, place: str) -> Iterator[Any]:
    """Yield the pages of a file as pictures, none of them huge."""
    from PIL import Image

    if len(data) > MOST_BYTES:
        raise InputError(f"{place}: {len(data):,} bytes: a scan has at most {MOST_BYTES:,}")
    try:
        if data.startswith(b"%PDF"):
            yield from _pages_of_pdf(data, place)
            return
        with Image.open(io.BytesIO(data), formats=("PNG", "JPEG")) as picture:
            _check_size(*picture.size, place)
            yield picture.convert("RGB")
    except InputError:
        raise
    except Exception as error:  # any, since broken files raise many kinds
        raise InputError(f"{place}: it is broken: scan it again") from error


def _pages_of_pdf(data: bytes, place: str) -> Iterator[Any]:
    import pypdfium2

    document = pypdfium2.PdfDocument(data)
    if len(document) > MOST_PAGES:
        raise InputError(f"{place}: {len(document)} pages: a scan has at most {MOST_PAGES}")
    for page in document:
        width, height = page.get_size()
        _check_size(width * 2, height * 2, place)
        yield page.render(scale=2).to_pil().convert("RGB")


def _check_size(width: float, height: float, place: str) -> None:
    if width * height > MOST_PIXELS:
        most = MOST_PIXELS // 1_000_000
        raise InputError(f"{place}: {width:.0f} × {height:.0f} pixels: at most {most} million")


def _page(picture: Any, engine: Any, place: str) -> ScannedPage:
    """Return the recognized text of a page; refuse one that is not recognized surely."""
    import numpy as np

    found = engine(np.asarray(picture), return_word_box=True, return_single_char_box=True)
    texts = found.txts or ()
    scores = [s for s, text in zip(found.scores or (), texts, strict=True) if _NUMBER.search(text)]
    if not scores:
        raise InputError(f"{place}: no number is recognized in the picture: {CAN_BE_READ}")
    if (sure := sum(scores) / len(scores)) < LEAST_SURE:
        raise InputError(
            f"{place}: the numbers are recognized with a confidence of {sure:.2f}, as of "
            f"handwriting or a poor picture: {HANDWRITING}: {CAN_BE_READ}"
        )
    saved = io.BytesIO()
    picture.save(saved, "PNG")
    return ScannedPage(saved.getvalue(), laid_out(found.word_results, _tilt(found.boxes)))


def _tilt(boxes: Any) -> float:
    """Return the slope of the lines, from the upper edges of wide boxes."""
    edges = [(b[1][0] - b[0][0], b[1][1] - b[0][1]) for b in boxes]
    slopes = [float(dy / dx) for dx, dy in edges if dx > 60]
    return median(slopes) if slopes else 0.0


def laid_out(lines: Sequence[Any], tilt: float) -> str:
    """Return text with each matrix below its name, from the letters of lines, and their tilt."""
    words: list[Word] = []
    sentences: list[tuple[float, float, str]] = []
    read = [list(_words([(c, _upright(box, tilt)) for c, _, box in line])) for line in lines]
    read = [found for found in read if found]
    for found in read:
        text = _text(found)
        if _is_page_number(found, read):
            continue
        if _is_sentence(text):
            sentences.append((found[0].y, 0.0, text))
        else:
            words += found
    words = [w._replace(text="O =") if _is_the_letter(w, words) else w for w in words]
    numbers = [word for word in words if word.is_number]
    labels = [word for word in words if not word.is_number]
    parts = list(sentences)
    blocks = sorted(_blocks(numbers, labels), key=lambda block: min(word.y for word in block))
    top = -math.inf
    for block in blocks:
        rows = "\n".join("  ".join(word.text for word in row) for row in _rows(block))
        first = min(block, key=lambda word: word.y)
        top = top if first.y - top < first.height else first.y  # side by side: from the left
        parts.append((top, first.left, f"{_label(block, labels)}\n{rows}\n"))
    return "\n".join(text for *_, text in sorted(parts))


def _text(line: Sequence[Word]) -> str:
    return " ".join(word.text for word in line)


def _is_page_number(line: Sequence[Word], lines: Sequence[Sequence[Word]]) -> bool:
    """Return whether a line is the number of its page: above or below all others, and no entry."""
    if not _PAGE_NUMBER.fullmatch(_text(line)):
        return False
    away = [(each[0].y - line[0].y, _text(each)) for each in lines if each is not line]
    nearest, text = min(away, key=lambda each: abs(each[0]), default=(0.0, ""))
    is_outside = all((y > 0) == (nearest > 0) for y, _ in away)
    is_apart = abs(nearest) > APART * line[0].height
    return is_outside and is_apart and not text.endswith(("=", ":"))


def _is_the_letter(word: Word, words: Sequence[Word]) -> bool:
    """Return whether a 0 is the name O: before =, or alone on its line among decimals."""
    if word.text not in ("0", "0="):
        return False
    beside = [w for w in words if w is not word and abs(w.y - word.y) < 0.7 * word.height]
    decimals = [w for w in words if w.is_number and re.search("[.,]", w.text)]
    is_named = any(w.text.startswith("=") and 0 < w.left - word.left < 4 * w.height for w in beside)
    is_alone = not beside and 2 * len(decimals) > len(words)
    return word.text == "0=" or is_named or is_alone


def _upright(box: Any, tilt: float) -> tuple[float, float, float, float]:
    """Return left, right, middle and height of a letter, as if the page were not tilted."""
    xs, ys = [float(p[0]) for p in box], [float(p[1]) for p in box]
    y = sum(ys) / len(ys) - tilt * sum(xs) / len(xs)
    return min(xs), max(xs), y, max(ys) - min(ys)


def _words(letters: Sequence[tuple[str, Any]]) -> Iterator[Word]:
    """Yield the words of a line: letters with little room between their middles."""
    middles = [(box[0] + box[1]) / 2 for _, box in letters]
    steps = sorted(b - a for a, b in pairwise(middles))
    usual = steps[len(steps) // 3] if steps else 0.0
    height = median(box[3] for _, box in letters)  # beside a point, steps are less than usual
    least = max(1.75 * usual, NARROW * height)
    start = 0
    for place in range(1, len(letters) + 1):
        is_end = place == len(letters) or letters[place][0] == " "
        if not is_end:
            gap = middles[place] - middles[place - 1]
            minus = letters[place][0] in "-−–" and letters[place - 1][0].isdigit()
            dagger = letters[place][0].isdigit() and letters[place - 1][0] in "†‡÷"
            is_end = minus or dagger or (gap > least and letters[place - 1][0] not in "-−–")
        if is_end:
            yield from _word(letters[start:place])
            start = place


def _word(letters: Sequence[tuple[str, Any]]) -> Iterator[Word]:
    text = _DAGGER.sub("", "".join(letter for letter, _ in letters).strip().strip("[]|"))
    if text:
        boxes = [box for _, box in letters]
        y, height = (sum(box[i] for box in boxes) / len(boxes) for i in (2, 3))
        yield Word(text, min(b[0] for b in boxes), max(b[1] for b in boxes), y, height)


def _blocks(numbers: Sequence[Word], labels: Sequence[Word]) -> list[list[Word]]:
    """Return numbers in groups: matrices, between whose entries there is no name."""
    groups: list[list[Word]] = []
    for word in numbers:
        near = [g for g in groups if any(_are_near(word, other, labels) for other in g)]
        groups = [g for g in groups if g not in near] + [[word, *(w for g in near for w in g)]]
    return [part for group in groups for part in _parted(group)]


def _parted(group: Sequence[Word]) -> Iterator[list[Word]]:
    """Yield the rows of a group in parts, where two are much further apart than others."""
    rows = _rows(group)
    steps = [b[0].y - a[0].y for a, b in pairwise(rows)]
    part: list[Word] = []
    for place, row in enumerate(rows):
        if place and steps[place - 1] > 1.6 * min(steps):
            yield part
            part = []
        part += row
    yield part


def _are_near(one: Word, other: Word, labels: Sequence[Word]) -> bool:
    """Return whether two numbers are entries next to each other."""
    height = max(one.height, other.height)
    gap = max(one.left, other.left) - min(one.right, other.right)
    apart = abs(one.y - other.y)
    if apart < 0.6 * height:
        low, high = sorted((one, other), key=lambda word: word.left)
        return gap < 4.5 * height and not any(
            low.right <= label.left and label.right <= high.left and abs(label.y - one.y) < height
            for label in labels
        )
    low_y, high_y = sorted((one.y, other.y))
    return gap < 0 and apart < APART * height and not any(
        low_y < label.y < high_y and label.left < max(one.right, other.right)
        and label.right > min(one.left, other.left) - 8 * height
        and label.right - label.left < 12 * height and _is_above(label, one, other)
        for label in labels
    )  # fmt: skip


def _is_above(label: Word, one: Word, other: Word) -> bool:
    """Return whether a name is over numbers, and not beside them."""
    return label.right > min(one.left, other.left) or label.left > max(one.right, other.right)


def _rows(block: Sequence[Word]) -> list[list[Word]]:
    rows: list[list[Word]] = []
    for word in sorted(block, key=lambda word: word.y):
        if rows and word.y - rows[-1][0].y < 0.6 * word.height:
            rows[-1].append(word)
        else:
            rows.append([word])
    return [sorted(row, key=lambda word: word.left) for row in rows]


def _label(block: Sequence[Word], labels: Sequence[Word]) -> str:
    """Return the name of a matrix: beside it on the left, or the nearest above it."""
    top, bottom = min(w.y for w in block), max(w.y for w in block)
    left, right = min(w.left for w in block), max(w.right for w in block)
    height = max(w.height for w in block)
    named = [label for label in labels if _LABEL.fullmatch(label.text)]
    beside = [
        label
        for label in named
        if label.right <= left + height and left - label.right < 9 * height
        and top - height < label.y < bottom + height
    ]  # fmt: skip
    above = [
        label
        for label in named
        if 0 < top - label.y < 4 * height and left - 12 * height < label.left < right
    ]
    of_head = [
        label
        for label in named
        if _OF_HEAD.fullmatch(label.text) and 0 < left - label.left < 20 * height
        and top - height < label.y < bottom + height
    ]  # fmt: skip
    chosen = max(of_head or beside, key=lambda label: label.right, default=None) or max(
        above, key=lambda label: label.y, default=None
    )
    match = _LABEL.fullmatch(chosen.text) if chosen else None
    return f"{match[1]} =" if match else ""
