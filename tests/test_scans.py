"""Typeset pages as pictures: layout, refusals, and (where the extra is installed) recognition."""

import io
import json
import re
import struct
import sys
import zlib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from conftest import BUNDLED, Command

from attncalc.base.errors import InputError
from attncalc.reading import scans, sets

HAS_OCR = all(find_spec(each) is not None for each in scans.NEEDED)
WITH_OCR = pytest.mark.skipif(not HAS_OCR, reason="attncalc[ocr] is not installed")
WIDE, HIGH = 10.0, 20.0


def letters(text: str, x: float, y: float, tilt: float = 0.0) -> list[Any]:
    """Return a line as it is recognized: a box for each letter, none for spaces."""
    found = []
    for place, letter in enumerate(text):
        left = x + WIDE * place
        top = y + tilt * left
        corners = [(left, top), (left + 8, top), (left + 8, top + HIGH), (left, top + HIGH)]
        if letter != " ":
            found.append((letter, 0.99, corners))
    return found


def page(tilt: float = 0.0) -> list[Any]:
    """Return Q and K side by side, their names beside their middle, and O below."""
    lines = [("1.00  -3.00", 80, 100), ("0.50  4.00", 80, 130), ("Q =", 10, 115)]
    lines += [("7.25", 400, 100), ("-8.00", 390, 130), ("K =", 320, 115)]
    lines += [("0 =", 10, 220), ("0.00t", 80, 220)]
    lines += [("Output 1: most input 2 (0.62)", 10, 300)]
    return [letters(*line, tilt) for line in lines]


@pytest.mark.parametrize("tilt", [0.0, 0.0175, -0.0175])
def test_matrices_side_by_side_become_text_under_their_names(tilt: float) -> None:
    text = scans.laid_out(page(tilt), tilt)
    assert "Q =\n1.00  -3.00\n0.50  4.00\n" in text
    assert "K =\n7.25\n-8.00\n" in text
    assert "O =\n0.00\n" in text
    assert re.search(r"Output 1: most input 2 \(0\.62\)", text)


def test_heads_side_by_side_keep_their_names_and_their_order() -> None:
    lines = [("Q(1)", 10, 115), ("all", 110, 100), ("me", 110, 130)]
    lines += [("1.00  -3.00", 180, 101), ("0.50  4.00", 180, 131)]
    lines += [("Q(2)", 430, 115), ("all", 530, 100), ("me", 530, 130)]
    lines += [("7.25  2.00", 600, 99), ("8.00  1.50", 600, 129)]
    text = scans.laid_out([letters(*line, 0.0) for line in lines], 0.0)
    first, second = "Q(1) =\n1.00  -3.00\n0.50  4.00\n", "Q(2) =\n7.25  2.00\n8.00  1.50\n"
    assert 0 <= text.find(first) < text.find(second)


@pytest.mark.parametrize(
    "text",
    [
        "1/2",
        "1 / 2",
        "3",
        "- 3 -",
        "(3)",
        "Page 1 of 2",
        "Seite 1 von 2",
        "p. 4",
        "第1页",
        "1 sur 2",
    ],
)
@pytest.mark.parametrize("y", [10, 900])
def test_the_number_of_a_page_is_no_work(text: str, y: int) -> None:
    lines = [("Q =", 10, 115), ("1.00  -3.00", 80, 100), ("0.50  4.00", 80, 130)]
    alone, whole = ([letters(*each) for each in (*lines, *more)] for more in ((), [(text, 300, y)]))
    assert scans.laid_out(whole, 0.0) == scans.laid_out(alone, 0.0)


@pytest.mark.parametrize(
    ("text", "y"), [("1/2", 150), ("1.50", 900), ("1/2 3/4", 900), ("1/2", 115)]
)
def test_entries_are_no_page_numbers(text: str, y: int) -> None:
    lines = [("O =", 10, 100), ("1.00", 80, 100), (text, 300, y)]
    found = scans.laid_out([letters(*each) for each in lines], 0.0)
    assert text.replace(" ", "") in found.replace(" ", "")


def test_an_entry_far_below_its_name_is_no_page_number() -> None:
    assert "1/2" in scans.laid_out([letters("O =", 10, 100), letters("1/2", 300, 400)], 0.0)
    assert "1/2" in scans.laid_out([letters("1/2", 300, 400)], 0.0)


def test_numbers_that_touch_are_split_at_a_minus() -> None:
    assert "1.00  -16.00" in scans.laid_out([letters("1.00-16.00", 0, 0)], 0.0)


def recognised(text: str, middles: list[float], width: float, height: float) -> list[Any]:
    """Return a line with letters at these places, as RapidOCR has them in boxes that overlap."""
    sides = ((x - width / 2, x + width / 2) for x in middles)
    boxes = [[(a, 0), (b, 0), (b, height), (a, height)] for a, b in sides]
    return [(letter, 0.99, box) for letter, box in zip(text, boxes, strict=True)]


def test_a_number_with_a_narrow_point_stays_one() -> None:
    """As recognized on a practice page that Chromium printed: the last zero is further away."""
    lines = [recognised("-5.00", [6, 16.5, 25, 35, 53], 10, 35)]
    lines += [recognised("-4.24", [5.5, 15, 23, 32.5, 49.5], 10, 33)]
    assert [scans.laid_out([line], 0.0).strip() for line in lines] == ["-5.00", "-4.24"]


@pytest.mark.parametrize("text", ["0.00÷0.00÷", "0.00†0.00†", "0,00†0,00†"])
def test_daggers_end_a_number(text: str) -> None:
    shown = text[:4]
    assert scans.laid_out([letters(text, 0, 0)], 0.0).strip() == f"{shown}  {shown}"


def png(width: int, height: int) -> bytes:
    """Return a small PNG that says it is of any size."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = chunk(b"IDAT", zlib.compress(bytes(1000)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + data + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (png(200_000, 200_000), "broken|pixels: at most 30 million"),
        (png(9_000, 9_000), "9000 × 9000 pixels: at most 30 million"),
        (png(100, 100)[:60], "it is broken"),
        (b"\xff\xd8\xff" + bytes(50), "it is broken"),
    ],
)
def test_hostile_pictures_are_refused(data: bytes, said: str) -> None:
    with pytest.raises(InputError, match=said):
        list(scans._pictures(data, "page.png"))


def test_large_files_are_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scans, "MOST_BYTES", 10)
    with pytest.raises(InputError, match="a scan has at most 10"):
        list(scans._pictures(b"\x89PNG" + bytes(20), "page.png"))


def test_a_page_that_is_not_surely_recognised_is_refused_with_the_figure() -> None:
    class Engine:
        boxes, txts, scores, word_results = [], ("1.00", "2"), (0.7, 0.8), []

    with pytest.raises(InputError, match=r"confidence of 0\.75.*20 to 36 of 51 numbers"):
        scans._page(blank_picture(), lambda *_, **__: Engine, "page.png")


def blank_picture() -> Any:
    from PIL import Image

    return Image.new("RGB", (10, 10))


@pytest.mark.skipif(HAS_OCR, reason="attncalc[ocr] is installed")
def test_without_the_extra_the_message_names_it(attncalc: Command, tmp_path: Path) -> None:
    (tmp_path / "page.png").write_bytes(png(10, 10))
    run = attncalc("check", str(BUNDLED / "self.json"), "page.png")
    assert run.code == 2
    assert "page.png: a picture cannot be read: type the matrices into a text" in run.err
    assert "pip install 'attncalc[ocr]' adds the recognition of typeset pages" in run.err


def test_a_scanned_page_without_steps_is_named_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    page = scans.ScannedPage(b"", "Homework 1\n")
    monkeypatch.setattr(scans, "_recognized", lambda data, place: iter([page]))
    with pytest.raises(InputError, match=r"^page\.png: no step is found in it"):
        scans._scanned(b"", "page.png", None)


def test_scanned_pages_are_beside_what_was_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from attncalc.cli.commands import check as command
    from attncalc.reading.answers import read_answer_bytes

    def read(place: str, expected: Any) -> scans.Scanned:
        saved = io.BytesIO()
        blank_picture().save(saved, "PNG")
        answer = read_answer_bytes(b"Q =\n1 3\n-1 1\n2.5 -2\n", place, expected)
        return scans.Scanned(
            **vars(answer), pages=(scans.ScannedPage(saved.getvalue(), "<b>1\n2"),)
        )

    monkeypatch.setattr(command, "read_file", read)
    monkeypatch.chdir(tmp_path)
    Path("page.txt").write_text("x")
    from attncalc.__main__ import main

    monkeypatch.setattr(
        sys, "argv", ["attncalc", "check", str(BUNDLED / "self.json"), "page.txt", "-o", "m.html"]
    )
    with pytest.raises(SystemExit):
        main()
    text = Path("m.html").read_text("utf-8")
    assert '<img src="data:image/png;base64,' in text
    assert "<pre>&lt;b&gt;1\n2</pre>" in text
    assert "img-src data:" in text


@WITH_OCR
@pytest.mark.slow
def test_a_typeset_page_is_read_and_provisional(attncalc: Command, tmp_path: Path) -> None:
    from attncalc.reading import read_problem
    from attncalc.solving.solution import solve
    from attncalc.writing.page import Contents, make_page
    from attncalc.writing.paper.writer import write_paper

    solution = solve(read_problem(BUNDLED / "self.json"))
    paper = write_paper([make_page(solution, Contents(solution.plan, given=False))])
    (tmp_path / "scan.pdf").write_bytes(paper.content)
    run = attncalc("check", str(BUNDLED / "self.json"), "scan.pdf", "--format", "json")
    marked = json.loads(run.out)
    assert "compare them with it" in run.out
    assert marked["verdict"].startswith("This score is provisional")


def scans_of_a_class(attncalc: Command, folder: Path) -> None:
    """Write a set of two students and two problems, and answers as stubs of scans."""
    (folder / "roster.csv").write_text("name,id\nAda Lovelace,1017\nBlaise Pascal,1018\n")
    (folder / "spec.json").write_text('{"problems": [{"name": "1"}, {"name": "2"}], "seed": 7}')
    made = ("new", "--class", "roster.csv", "--problems", "spec.json", "-o", "set")
    assert attncalc(*made).code == 0
    answers = {"a.pdf": ("Ada-Lovelace", 1), "b.pdf": ("Ada-Lovelace", 2)}
    (folder / "answers").mkdir()
    for file, (name, problem) in answers.items():
        key = (folder / f"set/keys/{name}/{problem}/key.md").read_text(encoding="utf-8")
        head, _, rest = key.partition("\n## ")
        if file == "b.pdf":  # the code was not recognized
            head = re.sub(r"code \w+-\w+", "c0de 8KWR", head)
        (folder / "answers" / file).write_text(f"%PDF\n{head}\n## {rest}", encoding="utf-8")
    (folder / "answers" / "c.pdf").write_text("%PDF\nO = [1 2]")
    text = (folder / "set/keys/Blaise-Pascal/1/key.md").read_text(encoding="utf-8")
    (folder / "answers" / "blaise pascal 1.md").write_text(text, encoding="utf-8")


@pytest.mark.slow
def test_scans_of_a_class_are_paired_by_their_header_and_provisional(
    attncalc: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stub reads the text of a file; recognition itself is tested where it is installed."""

    def recognised(data: bytes, place: str) -> Any:
        yield scans.ScannedPage(b"", data.decode().removeprefix("%PDF\n"))

    scans_of_a_class(attncalc, tmp_path)
    for module in (scans, sets):
        monkeypatch.setattr(module, "is_installed", lambda: True)
    monkeypatch.setattr(sets, "codes_in", lambda place: "")
    monkeypatch.setattr(scans, "_recognized", recognised)
    run = attncalc("check", "set", "answers", "--csv", "marks.csv", "--jobs", "1")
    assert "Traceback" not in run.err
    rows = (tmp_path / "marks.csv").read_text("utf-8")
    assert [rows.count(each) for each in ("code in the file", "name on the page")] == [1, 1]
    assert rows.count("%,provisional,") == 2, rows
    assert "answers/c.pdf,unmatched" in rows
    assert "none on its first page" in rows


@pytest.mark.slow
def test_without_the_extra_scans_are_listed_and_the_others_marked(
    attncalc: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scans_of_a_class(attncalc, tmp_path)
    (tmp_path / "answers" / "a.pdf").rename(tmp_path / "answers" / "ada 1.pdf")
    for module in (scans, sets):
        monkeypatch.setattr(module, "is_installed", lambda: False)
    assert attncalc("check", "set", "answers", "--csv", "marks.csv").code == 1
    rows = (tmp_path / "marks.csv").read_text("utf-8")
    assert rows.count("pip install 'attncalc[ocr]' adds the recognition of typeset pages") == 3
    assert "blaise pascal 1.md" in rows
