"""PDF pages without LaTeX: every digit is on them, within their margins, and can be copied."""

import json
import random
import re
import shutil
import subprocess
from collections import Counter
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import BUNDLED, Command, mostly_slow

from attncalc import check
from attncalc.languages.catalogue import LANGUAGES, catalogue
from attncalc.making.maker import words
from attncalc.problem.problem import Problem
from attncalc.reading import read_problem
from attncalc.solving.solution import solve
from attncalc.writing.latex import RULE_OF_LINES
from attncalc.writing.page import Contents, make_page
from attncalc.writing.paper import writer
from attncalc.writing.paper.ink import Ink, Letters, Mark, Stroke
from attncalc.writing.paper.pages import HEIGHT, MARGIN, WIDTH, Sheet, _around, _filled
from attncalc.writing.prose import line_in_text
from attncalc.writing.reports.marking import marking_document

NUMBER = re.compile(r"\d+(?:\.\d+)?")


def sheet_of(problem: Problem, ink: Ink, **contents: Any) -> Sheet:
    solution = solve(problem)
    page = make_page(solution, Contents(solution.plan, **contents))
    return writer._sheet(page, ink)


def texts(marks: list[Mark]) -> str:
    return " ".join(mark.text for mark in marks if isinstance(mark, Letters))


def pages_of(sheet: Sheet) -> list[list[Mark]]:
    return list(_filled(sheet.lines))


def wide_problem(tokens: int, width: int, decimals: int = 4) -> Problem:
    draw = random.Random(3)

    def matrix(rows: int, columns: int) -> list[list[float]]:
        return [[draw.randint(-99999, 99999) / 1000 for _ in range(columns)] for _ in range(rows)]

    weights = {name: matrix(width, 2) for name in ("W_Q", "W_K", "W_V")}
    return Problem(X=matrix(tokens, width), decimals=decimals, **weights)


@pytest.mark.parametrize(
    "sample",
    mostly_slow(
        ["self", "heads", "gradients", "sentence", "decoder", "encoder", "additive", "rope"]
    ),
)
def test_every_number_of_the_work_is_on_the_pages_in_order(sample: str) -> None:
    place = BUNDLED / f"{sample}.json"
    problem = read_problem(place if place.exists() else BUNDLED / sample)
    solution = solve(problem)
    page = make_page(solution, Contents(solution.plan, work=True))
    ink = Ink()
    for section in page.sections:
        for line in section.lines:
            alone = [*writer._Paper(ink)._derived(line)]
            shown = texts([mark for each in alone for mark in each.box.marks])
            wanted = line_in_text(line).split(" = ", 1)[-1].replace("×10^", " 10 ")
            missing = Counter(NUMBER.findall(wanted)) - Counter(NUMBER.findall(shown))
            assert not missing, (wanted, shown)


@pytest.mark.parametrize("language", mostly_slow(LANGUAGES, 2))
def test_pages_in_a_language_have_the_numbers_and_formulas_of_the_english_ones(
    language: str,
) -> None:
    solution = solve(read_problem(BUNDLED / "softmax.json"))
    page = make_page(solution, Contents(solution.plan, work=True))
    ink, drawn = Ink(), []
    for document in (page, replace(page, language=language)):
        marks = [mark for one in pages_of(writer._sheet(document, ink)) for mark in one]
        words = (m.text.replace(",", ".").strip("-−") for m in marks if isinstance(m, Letters))
        drawn.append(Counter(word for word in words if NUMBER.fullmatch(word)))
    assert sum(drawn[0].values()) > 30
    assert not drawn[0] - drawn[1]


@pytest.mark.parametrize("size", mostly_slow(["3x34", "30x4", "50x3"]))
def test_nothing_is_outside_the_margins(size: str) -> None:
    tokens, width = map(int, size.split("x"))
    sheet = sheet_of(wide_problem(tokens, width), Ink(), full=True, work=tokens < 10)
    found = pages_of(sheet)
    assert len(found) > 1
    for mark in (mark for page in found for mark in page):
        if isinstance(mark, Letters):
            assert mark.x >= MARGIN - 1
            assert mark.x + mark.width <= WIDTH - MARGIN + 3, mark.text
            assert MARGIN * 0.9 <= mark.y <= HEIGHT - MARGIN


@pytest.mark.slow
def test_a_matrix_in_blocks_has_all_of_its_entries() -> None:
    problem = wide_problem(45, 12)
    shown = texts([m for page in pages_of(sheet_of(problem, Ink(), full=True)) for m in page])
    for entry in problem.X.ravel():
        assert f"{abs(float(entry)):g}" in shown
    assert "Rows 1 to 36 of 45, columns 1 to" in shown


def test_text_wider_than_a_line_is_broken() -> None:
    ink = Ink()
    lines = list(ink.wrapped("x" * 500 + " 12345 " + "漢" * 200, 100.0))
    assert all(line.width <= 100.0 for line in lines)
    assert "".join(mark.text for line in lines for mark in line.marks).count("x") == 500


@pytest.mark.slow
def test_no_line_ends_with_an_opening_bracket_or_begins_with_a_sign_that_ends_words() -> None:
    text = "输出 落山：最关注输入 落山（1.00），没有第二（其他权重显示为 0.00）。" * 3
    lines = [texts(list(line.marks)) for line in Ink().wrapped(text, 130.0)]
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert len(lines) > 5
    assert not [line for line in lines if line[-1] in "（「" or line[0] in "、。，；：）」"]


@pytest.mark.parametrize("name", ["Ada", "María del Carmen Fernández y Rodríguez de la " * 2])
def test_a_code_is_beside_title_and_name_within_the_margins(name: str) -> None:
    pytest.importorskip("segno")
    title = "A long title of a worksheet on the attention of transformers, in two lines"
    problem = Problem(X=[[1, 2]], W_Q=[[1], [0]], W_K=[[1], [0]], W_V=[[1], [0]], title=title)
    problem = replace(problem, student=f"{name}(1017)", code="BKWR-TZNM")
    with_code, without = (
        pages_of(sheet_of(each, Ink(), blank=True))[0]
        for each in (problem, replace(problem, code=""))
    )
    bars = [mark for mark in with_code if isinstance(mark, Stroke) and mark.fill == 0.0]
    left, right = min(min(bar.xs) for bar in bars), max(max(bar.xs) for bar in bars)
    low = min(min(bar.ys) for bar in bars)
    assert right <= WIDTH - MARGIN
    letters = [mark for mark in with_code if isinstance(mark, Letters) and mark.y > low]
    assert all(mark.x + mark.width < left for mark in letters)
    assert "BKWR-TZNM" in texts(with_code)
    lowest = [min(mark.y for mark in page if isinstance(mark, Letters)) for page in
              (with_code, without)]  # fmt: skip
    assert lowest[0] >= lowest[1] - 12  # a line of the name at most, and no gap


def test_a_long_name_at_the_head_of_later_pages_cuts_no_title() -> None:
    for name, title in (("Ada", " Problem 1"), ("Ada" * 40, "")):
        marks = _around(Sheet("Problem 1", name, []), 2, 2, Ink())
        assert texts(list(marks)) == f"2 / 2 {name}{title}"


def test_letters_without_a_font_are_named_and_shown_as_codes() -> None:
    problem = Problem(X=[[1]], W_Q=[[1]], W_K=[[1]], W_V=[[1]], title="a\U000f0000b\uabcd")
    solution = solve(problem)
    paper = writer.write_paper([make_page(solution, Contents(solution.plan))])
    assert "\uabcd" in paper.notes[0] or not paper.notes
    ink = Ink()
    shown = texts([*ink.text("\ufdfd").marks])
    assert shown in ("\ufdfd", "U+FDFD")
    assert (shown == "U+FDFD") == ("\ufdfd" in ink.lacking)


@pytest.mark.slow
def test_markup_in_names_is_text(attncalc: Command, tmp_path: Path) -> None:
    hostile = r"$\frac{1}{0}$ <b>&amp;</b> \input{x}"
    given = {"X": [[1, 2]], "labels": [hostile], "title": hostile}
    given |= {name: [[1], [2]] for name in ("W_Q", "W_K", "W_V")}
    (tmp_path / "in.json").write_text(json.dumps(given))
    problem = read_problem(tmp_path / "in.json")
    shown = texts([mark for page in pages_of(sheet_of(problem, Ink())) for mark in page])
    assert hostile in shown
    (tmp_path / "empty").mkdir()
    assert attncalc("self", "in.json", "-o", "o.pdf", PATH=str(tmp_path / "empty")).code == 0


def test_a_worksheet_has_no_answers_and_a_line_for_the_name() -> None:
    problem = read_problem(BUNDLED / "self.json")
    found = pages_of(sheet_of(problem, Ink(), blank=True))
    shown = texts([mark for page in found for mark in page])
    assert len(found) == 2
    assert "13.25" not in shown
    assert "Name:" in shown
    assert texts(found[-1]).count("Inputs") == 1
    assert "draw a solid line" in texts(found[-1])


@pytest.mark.parametrize("tokens", mostly_slow(range(2, 7), 5))
def test_a_worksheet_fits_two_pages_with_its_map_and_instruction_on_one(tokens: int) -> None:
    for language in ("en", "de", "ja"):
        for heads, causal in ((1, False), (1, True), (2, False)):
            problem = small_problem(tokens, heads, causal=causal, language=language)
            pages = pages_of(sheet_of(problem, Ink(), blank=True))
            assert len(pages) <= 2
            say = catalogue(language).say
            assert texts(pages[-1]).split().count(say("Inputs")) == heads
            assert all(say(RULE_OF_LINES)[:20] not in texts(page) for page in pages[:-1])
            assert texts(pages[-1]).count(say("Work:")) >= 1


def small_problem(tokens: int, heads: int, **fields: Any) -> Problem:
    draw = random.Random(tokens * heads)
    weights = {n: [[draw.randint(-2, 2) for _ in range(4)] for _ in range(4)] for n in _WEIGHTS}
    tokens_given = [[draw.randint(-2, 2) for _ in range(4)] for _ in range(tokens)]
    return Problem(X=tokens_given, heads=heads, **weights, **fields)


_WEIGHTS = "W_Q", "W_K", "W_V"


@pytest.mark.slow
@pytest.mark.parametrize("tokens", [5, 6])
def test_named_tokens_and_two_heads_fit_two_pages(tokens: int) -> None:
    short = words(tokens, 3)
    for labels, output in (
        (short, {"W_O": np.eye(4)}),
        ([f"{x} of the whole city" for x in short], {}),
    ):
        problem = small_problem(tokens, 2, labels=labels, **output)
        for blank in (True, False):
            assert len(pages_of(sheet_of(problem, Ink(), blank=blank))) == 2


def test_the_key_of_an_encoder_fits_two_pages() -> None:
    pages = pages_of(sheet_of(read_problem(BUNDLED / "encoder.json"), Ink()))
    assert len(pages) == 2
    assert "What each output attends to" in texts(pages[-1])


@pytest.mark.parametrize("tokens", mostly_slow(range(2, 7), 5))
def test_a_map_is_on_the_page_of_its_sentences_and_no_last_page_is_nearly_empty(
    tokens: int,
) -> None:
    ink = Ink()
    for heads, causal, contents in product((1, 2), (False, True), ({}, {"work": True})):
        problem = small_problem(tokens, heads, causal=causal)
        pages = pages_of(sheet_of(problem, ink, **contents))
        for page in pages:
            told = texts(page)
            assert told.count("Inputs") == told.count("Output 1: most") == told.count("Solid:")
        low = min(mark.y for mark in pages[-1] if isinstance(mark, Letters))
        assert HEIGHT - MARGIN - low > 0.3 * (HEIGHT - 2 * MARGIN)


def test_map_and_heatmap_of_six_tokens_are_side_by_side() -> None:
    (line,) = (x for x in sheet_of(small_problem(6, 1), Ink()).lines if x.shrinks)
    assert line.box.width <= WIDTH - 2 * MARGIN


@pytest.mark.slow
def test_the_same_page_gives_the_same_bytes() -> None:
    solution = solve(read_problem(BUNDLED / "self.json"))
    page = make_page(solution, Contents(solution.plan))
    assert writer.write_paper([page]).content == writer.write_paper([page]).content


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("pdftotext"), reason="pdftotext is not installed")
def test_numbers_can_be_copied_from_the_pdf(attncalc: Command, tmp_path: Path) -> None:
    assert attncalc("self", "--work", "-o", "hw.pdf", PATH=str(tmp_path)).code == 0
    command = [shutil.which("pdftotext") or "", "-layout", str(tmp_path / "hw.pdf"), "-"]
    run = subprocess.run(command, capture_output=True, check=True)
    text = run.stdout.decode()
    assert re.search(r"8\.50 +8\.00 +−13\.25", text)
    assert "O3,1 = (0.62·2.50) + (0.38·−1.00) + (0.00·−2.00) = 1.17" in text
    assert re.search(r"1 ?/ ?2", text)
    assert "Output 3: most input 1 (0.62), second input 2 (0.38)." in text


@pytest.mark.slow
def test_a_marking_is_a_pdf(attncalc: Command, tmp_path: Path) -> None:
    answer = str(BUNDLED / "answers" / "dropped-term.m")
    run = attncalc("check", str(BUNDLED / "self.json"), answer, "-o", "marks.pdf")
    assert run.code == 1, run.err
    assert (tmp_path / "marks.pdf").read_bytes().startswith(b"%PDF-")


def test_missing_steps_of_a_marking_are_on_its_pages(tmp_path: Path) -> None:
    (tmp_path / "mine.m").write_text("Q = [1 2; 3 4; 5 6]")
    marking = check(read_problem(BUNDLED / "self.json"), tmp_path / "mine.m")
    assert marking.not_found
    pages = pages_of(writer._sheet(marking_document(marking), Ink()))
    assert "".join(map(texts, pages)).count("Not found.") == len(marking.not_found)


def test_a_key_with_a_little_more_than_a_page_is_one_with_steps_beside_one_another() -> None:
    labels = ["spät", "die", "Katze"]
    problem = read_problem(BUNDLED / "self.json", language="de", labels=labels, decimals=4)
    assert len(pages_of(sheet_of(problem, Ink()))) == 1
