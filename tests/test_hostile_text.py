"""Text from a file is data in every form: it shows as typed, and does nothing."""

import csv
import io
import json
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from conftest import Command, for_all, mostly_slow
from fuzz.judging import is_raw
from html_pages import read_page
from markdown_it import MarkdownIt

from attncalc import Problem, solve
from attncalc.base.text import harmless, harmless_cell, in_json, without_quote

pytestmark = pytest.mark.campaign(4)

UNSEEN = ["\x1b[31mred", "\x9b31mC1", "\u202eoverride", "\u2066isolate", "\u200bzero", "\ufeffbom"]
UNSEEN += ["two\u2028lines", "two\u2029paragraphs", "bell\x07", "delete\x7f", "half\ud800"]
FORMULAS = ["=1+1", "＝1+1", "\u200b=1+1", "\ufeff+1", " \t=1+1", "\t@SUM(1)", "﹣1", "'=1", "－2"]
LINKS = ["a@b.example", "http://e.example", "https://e.example", "www.e.example", "@octocat"]
LINKS += ["#12", "o/r#12", "GH-12", "ftp://e.example", "mailto:a@b.example", "WWW.E.EXAMPLE"]
MARKUP = ["<b>x</b>", "<script>1</script>", "</td>", "a|b", "[x](y)", "$x$", "\\input{x}", "%"]
MARKUP += ["[red]x", "\r=1"]
NASTY = [*UNSEEN, *FORMULAS, *LINKS, *MARKUP]
FORMS = ("table", "markdown", "latex", "html", "csv", "json")
GITHUB = re.compile(
    r"[\w.+-]@[\w-]|(?<!\w)@\w|https?://|ftp://|(?<!\w)www\.|#\d|\bGH-\d", re.IGNORECASE
)
"""What GitHub links in the text that HTML shows: addresses, people, issues."""


@pytest.fixture
def problem(tmp_path: Path) -> str:
    """Return the name of a problem whose labels, title and file name are all nasty."""
    ones = [[1]] * len(NASTY)
    fields = {"X": ones, "W_Q": [[1]], "W_K": [[1]], "W_V": [[2]]}
    fields |= {"labels": NASTY, "title": " ".join(NASTY)}
    name = "\x1b[31m\u202e＝a@b.example#12.json"
    (tmp_path / name).write_text(json.dumps(fields))
    return name


@pytest.fixture
def answers(tmp_path: Path) -> list[str]:
    """Return the names of answers, one of them unreadable, whose names and contents are nasty."""
    lines = [f"{text.splitlines()[0]} = [1 2; 3 x]" for text in NASTY if "\ud800" not in text]
    given = "\n".join([*lines, "Q = [1; 2]", "A = [\x1b[31m ＝1; @a 2]", "Output \u202e: most #12"])
    names = ["＝1+1\x1b[31m.txt", "@a\u202e.md", "－nothing a@b.example.txt"]
    for name, text in zip(names, (given, given, "\x1b[31m nothing"), strict=True):
        (tmp_path / name).write_text(text)
    return names


def raw(text: str) -> list[str]:
    """Return the characters that would do something to a terminal, or to the order of letters."""
    return sorted({f"U+{ord(character):04X}" for character in text if is_raw(character)})


@pytest.mark.campaign(6)
@pytest.mark.parametrize("form", mostly_slow(FORMS, 4))
@pytest.mark.parametrize("asked", ["page", "work", "marking", "class"])
def test_nothing_that_is_typed_does_anything(
    form: str, asked: str, attncalc: Command, problem: str, answers: list[str]
) -> None:
    lines = {
        "page": ("self", problem),
        "work": ("self", problem, "--entry", "A[1,1]"),
        "marking": ("check", problem, answers[0]),
        "class": ("check", problem, *answers),
    }
    run = attncalc(*lines[asked], "--format", form)
    assert run.code in (0, 1), run.err
    assert not raw(run.out.replace("\ufeff", ""))
    assert not raw(run.err)
    CHECKS[form](run.out)


def check_markdown(page: str) -> None:
    text = re.sub(r"\$\$.*?\$\$", "", page, flags=re.DOTALL)
    html = MarkdownIt("gfm-like").disable(["linkify"]).render(text)
    assert "<a " not in html
    assert not re.search(r"<(script|b)\b", html)
    shown = [text.strip() for text in re.split(r"<[^>]*>", html)]
    assert not [text for text in shown if GITHUB.search(text)]


def check_csv(page: str) -> None:
    cells = [cell for row in csv.reader(io.StringIO(page)) for cell in row]
    assert not [cell for cell in cells if is_formula(cell) and not is_number(cell)]


def is_formula(cell: str) -> bool:
    """Return whether a spreadsheet may read it as one, without the package's own rule."""
    seen = "".join(c for c in cell if unicodedata.category(c) not in ("Cf", "Cc"))
    return unicodedata.normalize("NFKC", seen).strip()[:1] in ("=", "+", "-", "@") and bool(seen)


def is_number(cell: str) -> bool:
    return re.fullmatch(r"-?\d+(\.\d+)?", cell) is not None


def check_latex(page: str) -> None:
    lines = [line for line in page.splitlines() if not line.startswith("%")]
    assert not [line for line in lines if "\\input" in line or re.search(r"(?<!\\)\$", line)]


def check_json(page: str) -> None:
    json.loads(page)
    assert page.isascii() or not raw(page)


CHECKS = {
    "table": lambda page: None,
    "markdown": check_markdown,
    "csv": check_csv,
    "latex": check_latex,
    "html": read_page,
    "json": check_json,
}


@pytest.mark.slow
def test_json_gives_every_label_back_as_it_was(attncalc: Command, problem: str) -> None:
    held = json.loads(attncalc("self", problem, "--format", "json").out)
    assert held["problem"]["labels"] == NASTY
    assert held["title"] == " ".join(NASTY)


@pytest.mark.slow
def test_csv_gives_back_every_label_that_can_be_seen(
    attncalc: Command, problem: str, tmp_path: Path
) -> None:
    attncalc("self", problem, "-o", "out.csv")
    held = json.loads(attncalc("self", "out.csv", "--format", "json").out)
    labels = [label.strip() for label in held["problem"]["labels"]["X"]]
    assert labels == [harmless(label).strip() for label in NASTY]


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_pictures_keep_text_literal(ending: str, attncalc: Command, tmp_path: Path) -> None:
    few = [UNSEEN[0], UNSEEN[2], UNSEEN[4], LINKS[0], *MARKUP[:2], MARKUP[5], "\ud800"]
    fields = {"X": [[1]] * len(few), "W_Q": [[1]], "W_K": [[1]], "W_V": [[2]], "labels": few}
    (tmp_path / "in.json").write_text(json.dumps(fields | {"title": " ".join(few)}))
    run = attncalc("plot", "in.json", "-o", f"map.{ending}")
    assert run.code == 0, run.err
    assert not raw(run.err)
    data = (tmp_path / f"map.{ending}").read_bytes()
    if ending == "svg":
        root = ElementTree.fromstring(data)
        assert not raw("".join(texts_of(root)))
        tags = {element.tag.rpartition("}")[2] for element in root.iter()}
        assert not tags & {"script", "b", "a", "foreignObject"}
    assert b"\x1b[31m" not in data
    assert "\u202e".encode() not in data


def texts_of(root: ElementTree.Element) -> Iterator[str]:
    for element in root.iter():
        yield from filter(None, (element.text, element.tail, *element.attrib.values()))


@pytest.mark.slow
@pytest.mark.parametrize("command", ["self", "cross", "plot", "check", "samples"])
def test_no_message_repeats_control_characters(command: str, attncalc: Command) -> None:
    for nasty in ("\x1b[31m\x9b\u202e\u2066a\u2028b\x7f", "--\x1b[2J", "\udcff"):
        for words in ((nasty,), ("-o", f"{nasty}/x.md"), ("-o", f"x.{nasty}"), ("-o", "x", nasty)):
            assert not raw(attncalc(command, *words).err)


@pytest.mark.parametrize("text", FORMULAS)
def test_a_quoted_cell_is_read_back(text: str) -> None:
    cell = harmless_cell(text)
    assert cell == "'" + harmless(text)
    assert without_quote(cell) == harmless(text)


@pytest.mark.parametrize("text", ["cat", "'tis", "''", "1", "a=b", "x-1", "½", "−1"])
def test_other_cells_than_formulas_are_not_quoted(text: str) -> None:
    assert without_quote(harmless_cell(text)) == harmless_cell(text) == text


@for_all("text", [*NASTY, "\U000e0041", "\U0001f469\u200d\U0001f52c", "日本", "é"])
def test_json_text_shows_every_character(text: str) -> None:
    written = in_json([text])
    assert json.loads(written) == [text]
    assert not raw(written)
    assert all(c == "\u200d" or unicodedata.category(c) != "Cf" for c in written)


@pytest.mark.slow
def test_a_notebook_shows_text_and_no_elements_of_it() -> None:
    fields = {"X": [[1]] * len(NASTY), "W_Q": [[1]], "W_K": [[1]], "W_V": [[2]], "labels": NASTY}
    solution = solve(Problem(**fields, title=" ".join(NASTY)))
    html = solution._repr_html_()
    assert re.findall(r"</?(\w+)", html) == ["iframe", "iframe"]
    assert not raw(html)
    assert not raw(str(solution))
