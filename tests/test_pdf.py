"""A page as a PDF: the typesetter is found and named, and its errors are reported."""

import os
import shutil
import sys
from pathlib import Path

import pytest
from conftest import BUNDLED, Command, mostly_slow

FAKE = """#!{python}
import pathlib, sys
pathlib.Path({seen!r}).write_text("\\n".join(sys.argv[1:]) + "\\n" + "\\n".join(
    sorted(each.name for each in pathlib.Path().iterdir())))
source = pathlib.Path(sys.argv[-1]).read_text(encoding="utf-8")
{body}
"""
GOOD = 'pathlib.Path("page.pdf").write_bytes(b"%PDF-" + source.encode())'
STUCK = (
    'pathlib.Path("page.log").write_text("This is TeX\\n! Undefined control sequence.\\n'
    '<recently read> \\\\nope\\nl.7 \\\\nope\\n"); sys.exit(1)'
)


def install(folder: Path, name: str, body: str) -> dict[str, str]:
    """Put a program of that name where it is found, and nothing else beside it."""
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    text = FAKE.format(python=sys.executable, seen=str(folder / "seen"), body=body)
    (programs / name).write_text(text)
    (programs / name).chmod(0o755)
    return {"PATH": str(programs)}


@pytest.mark.parametrize("name", mostly_slow(["pdflatex", "tectonic", "lualatex"]))
def test_a_page_is_typeset_by_the_installed_latex_with_its_map(
    attncalc: Command, tmp_path: Path, name: str
) -> None:
    run = attncalc("self", "--work", "-o", "hw.pdf", **install(tmp_path, name, GOOD))
    assert (run.code, run.out) == (0, "")
    assert run.err.endswith(f"note: written to hw.pdf, typeset by {name}\n")
    made = (tmp_path / "hw.pdf").read_text(encoding="utf-8")
    assert made.startswith(r"%PDF-\documentclass")
    assert r"{map.pdf}" in made
    seen = (tmp_path / "seen").read_text().split("\n")
    assert seen[-3:] == ["page.tex", "map.pdf", "page.tex"]
    assert ("--untrusted" if name == "tectonic" else "-no-shell-escape") in seen
    assert sorted(each.name for each in tmp_path.iterdir()) == ["hw.pdf", "programs", "seen"]


def test_a_worksheet_as_a_pdf_contains_no_answer(attncalc: Command, tmp_path: Path) -> None:
    run = attncalc("self", "--blank", "-o", "hw.pdf", **install(tmp_path, "pdflatex", GOOD))
    assert run.code == 0
    assert "-13.25" not in (tmp_path / "hw.pdf").read_text(encoding="utf-8")
    assert "map.pdf" not in (tmp_path / "seen").read_text()


@pytest.mark.slow
def test_without_latex_the_page_is_laid_out_here(attncalc: Command, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    run = attncalc("self", "-o", "hw.pdf", PATH=str(tmp_path / "empty"))
    assert (run.code, run.out) == (0, "")
    assert run.err.endswith("note: written to hw.pdf, without LaTeX, which is not installed\n")
    assert (tmp_path / "hw.pdf").read_bytes().startswith(b"%PDF-")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "said"),
    [
        (STUCK, r"pdflatex failed: Undefined control sequence. l.7 \nope (a .tex with "),
        ('print("no space"); print(); sys.exit(3)', "pdflatex failed: no space (a .tex"),
        ("sys.exit(1)", "pdflatex failed: it printed no message (a .tex"),
        ("", "pdflatex failed: it created no PDF (a .tex"),
    ],
)
def test_after_an_error_of_latex_the_page_is_laid_out_here(
    attncalc: Command, tmp_path: Path, body: str, said: str
) -> None:
    (tmp_path / "hw.pdf").write_text("mine")
    run = attncalc("self", "-o", "hw.pdf", **install(tmp_path, "pdflatex", body))
    assert (run.code, run.out) == (0, "")
    assert f"note: {said}" in run.err
    assert "without LaTeX, whose error is above" in run.err
    assert "Traceback" not in run.err
    assert (tmp_path / "hw.pdf").read_bytes().startswith(b"%PDF-")


def test_a_slow_run_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from attncalc.base.errors import OutputError
    from attncalc.writing import pdf

    settings = install(tmp_path, "pdflatex", "import time; time.sleep(60)")
    monkeypatch.setenv("PATH", settings["PATH"])
    monkeypatch.setattr(pdf, "PATIENCE", 0.2)
    with pytest.raises(OutputError, match=r"pdflatex failed: not finished within 0\.2 seconds"):
        pdf.write_pdf("", {}, "pdflatex")


def test_a_problem_is_not_replaced_by_its_pdf(attncalc: Command, tmp_path: Path) -> None:
    shutil.copy(BUNDLED / "self.json", tmp_path / "in.pdf")
    run = attncalc("self", "in.pdf", "-o", "in.pdf", **install(tmp_path, "pdflatex", GOOD))
    assert run.code == 2
    assert "it is in.pdf, which was read" in run.err


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="pdflatex is not installed")
@pytest.mark.slow
def test_pdflatex_itself_typesets_a_page(attncalc: Command, tmp_path: Path) -> None:
    for sample, extra in (("self", "--work"), ("sentence", "--blank"), ("heads", "--fractions")):
        place = f"{sample}.pdf"
        run = attncalc("self", str(BUNDLED / f"{sample}.json"), extra, "-o", place)
        assert run.code == 0, run.err
        assert (tmp_path / place).read_bytes().startswith(b"%PDF-")
    again = {"HOME": os.environ.get("HOME", "/tmp")}
    before = (tmp_path / "sentence.pdf").read_bytes()
    sentence = str(BUNDLED / "sentence.json")
    assert attncalc("self", sentence, "--blank", "-o", "sentence.pdf", **again).code == 0
    assert (tmp_path / "sentence.pdf").read_bytes() == before


@pytest.mark.slow
def test_letters_that_latex_has_no_fonts_for_are_laid_out_here(
    attncalc: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("attncalc.writing.pdf.typesetter", lambda: "pdflatex")
    run = attncalc("self", str(BUNDLED / "self.json"), "--language", "zh", "--blank", "-o", "a.pdf")
    assert "note: pdflatex: its fonts do not contain 自 and similar letters\n" in run.err
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
