"""The code of a problem as a QR code: drawn as segno has it, and read back from pictures."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import Command
from test_scans import WITH_OCR

from attncalc.reading.scans import codes_in
from attncalc.writing.document import Document
from attncalc.writing.html import qr
from attncalc.writing.html.qr import MODULE, QUIET, qr_code
from attncalc.writing.latex import write_latex

CODE = "BKWR-TZNM"
ROSTER, SPEC = "name\nAda Lovelace\nBlaise Pascal\n", '{"problems": [{"name": "1"}], "seed": 7}'


def test_without_segno_there_is_only_the_short_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qr, "find_spec", lambda name: None)
    assert qr_code(CODE) is None
    assert qr_code("") is None


def test_bars_are_the_dark_modules() -> None:
    segno = pytest.importorskip("segno")
    svg = qr_code(CODE)
    assert svg is not None
    dark = set()
    for x, y, width in re.findall(r'<rect x="(\d+)" y="(\d+)" width="(\d+)"', svg):
        assert int(width) % MODULE == 0
        for column in range(int(x) // MODULE, (int(x) + int(width)) // MODULE):
            dark.add((int(y) // MODULE - QUIET, column - QUIET))
    rows = segno.make(CODE, error="h", micro=False).matrix
    assert dark == {(i, j) for i, row in enumerate(rows) for j, bit in enumerate(row) if bit}


def drawn(tex: str) -> set[tuple[int, int]]:
    """Return the modules that the rules of a LaTeX page cover."""
    found = re.search(r"begin\{picture\}\((\d+),\1\)(.*?)\\end\{picture\}", tex)
    assert found is not None
    side, dark = int(found[1]), set()
    rules = r"\\put\((\d+),(\d+)\)\{\\rule\{(\d+)\\unitlength\}\{1\.02\\unitlength\}\}"
    for x, y, width in re.findall(rules, found[2]):
        dark |= {(side - 1 - int(y), int(x) + k) for k in range(int(width))}
    return dark


def worksheet(attncalc: Command, folder: Path) -> tuple[str, str]:
    """Return a worksheet in LaTeX, and the code of its problem."""
    (folder / "roster.csv").write_text(ROSTER)
    (folder / "spec.json").write_text(SPEC)
    made = ("new", "--class", "roster.csv", "--problems", "spec.json", "-o", "set")
    assert attncalc(*made).code == 0
    tex = (folder / "set" / "Ada-Lovelace" / "worksheet.tex").read_text(encoding="utf-8")
    found = re.search("[B-Z]{4}-[B-Z]{4}", tex)
    assert found is not None
    return tex, found[0]


def test_latex_draws_the_same_modules_in_rules(attncalc: Command, tmp_path: Path) -> None:
    segno = pytest.importorskip("segno")
    tex, code = worksheet(attncalc, tmp_path)
    rows = segno.make(code, error="h", micro=False).matrix
    assert drawn(tex) == {(i, j) for i, row in enumerate(rows) for j, bit in enumerate(row) if bit}
    assert re.findall(r"\\usepackage.*", tex) == re.findall(
        r"\\usepackage.*", write_latex(Document("", ()), standalone=True)
    )


@WITH_OCR
def test_the_rules_of_latex_are_read_by_a_decoder(attncalc: Command, tmp_path: Path) -> None:
    """They are drawn here at 4 pixels a module, as a scan at 144 dots an inch has them."""
    pytest.importorskip("segno")
    import numpy as np
    from PIL import Image

    tex, code = worksheet(attncalc, tmp_path)
    page = np.full((400, 600), 255, np.uint8)
    for i, j in drawn(tex):
        page[40 + 4 * i : 44 + 4 * i, 400 + 4 * j : 404 + 4 * j] = 0
    Image.fromarray(page).save(tmp_path / "page.png")
    assert codes_in(tmp_path / "page.png") == code


@WITH_OCR
@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no LaTeX")
def test_a_page_of_latex_is_read_by_a_decoder(attncalc: Command, tmp_path: Path) -> None:
    pytest.importorskip("segno")
    _, code = worksheet(attncalc, tmp_path)
    run = ("pdflatex", "-interaction=batchmode", "set/Ada-Lovelace/worksheet.tex")
    subprocess.run(run, cwd=tmp_path, check=True, timeout=60)
    assert code in codes_in(tmp_path / "worksheet.pdf")


@WITH_OCR
def test_a_page_is_paired_by_its_qr_code(attncalc: Command, tmp_path: Path) -> None:
    """Also after rotation by a degree, blur and noise, as in a photo."""
    pytest.importorskip("segno")
    import numpy as np
    import pypdfium2
    from PIL import Image, ImageFilter

    (tmp_path / "roster.csv").write_text(ROSTER)
    (tmp_path / "spec.json").write_text(SPEC)
    made = ("new", "--class", "roster.csv", "--problems", "spec.json", "-o", "set")
    assert attncalc(*made).code == 0
    (tmp_path / "answers").mkdir()
    for number, name in enumerate(("Ada-Lovelace", "Blaise-Pascal")):
        out = f"{number}.pdf"
        assert attncalc("self", f"set/{name}/problem.json", "--blank", "-o", out).code == 0
        (page, *_) = pypdfium2.PdfDocument(tmp_path / out)
        picture = page.render(scale=2).to_pil().convert("RGB")
        if number:
            picture = picture.rotate(1.2, expand=True, fillcolor=(235, 232, 225))
            picture = picture.filter(ImageFilter.GaussianBlur(0.6))
            noise = np.random.default_rng(1).normal(0, 8, (*picture.size[::-1], 3))
            picture = Image.fromarray((np.asarray(picture) + noise).clip(0, 255).astype("uint8"))
        picture.save(tmp_path / "answers" / f"IMG_{number}.jpg")
        assert re.search("[B-Z]{4}-[B-Z]{4}", codes_in(tmp_path / "answers" / f"IMG_{number}.jpg"))
    run = attncalc("check", "set", "answers", "--csv", "marks.csv")
    assert "unmatched" not in run.out + run.err
    rows = (tmp_path / "marks.csv").read_text("utf-8").splitlines()
    assert [row.count("code in the file") for row in rows[1:]] == [1, 1]
