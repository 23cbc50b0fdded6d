"""LaTeX pages: they compile without an error or an overfull box, whatever names tokens have."""

import re
import shutil
import subprocess
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import BUNDLED, Command, for_all, mostly_slow

from attncalc import Problem, check, new, read_problem, solve
from attncalc.base.latex_text import in_latex
from attncalc.equations.expressions import Indexed, Number, Quotient, Sum
from attncalc.problem.samples import SAMPLES
from attncalc.writing.document import Facts, Section
from attncalc.writing.latex import write_latex, write_sheet, write_together
from attncalc.writing.latex_math import TexMath, in_tex, name_in_tex
from attncalc.writing.numbering import with_numbers
from attncalc.writing.page import Contents, make_page

needs_latex = pytest.mark.skipif(
    shutil.which("pdflatex") is None, reason="no pdflatex here (Debian's texlive-latex-base has it)"
)
XELATEX = shutil.which("xelatex")
HOST = r"\documentclass{article}\usepackage{amsmath}\begin{document}\input{body}\end{document}"
HOSTILE = [
    '$ & % # _ { } \\ ^ ~ < > " |',
    "\\input{/etc/passwd}",
    "\\end{document}",
    "%comment",
    "^^M^^41",
    "''``--,,?`!`",
    "שלום עולם",
    "👩‍👩‍👧",
    "猫と犬",
    "é à ü ñ ø ß œ ą đ ﬁ «»",
    "Ω α ς",
    "Wide" * 25,
    "new\nline",
    "",
]


def body(problem: Problem, *, shown_whole: bool = False, **contents: Any) -> str:
    solution = solve(problem)
    page = make_page(solution, Contents(solution.steps, **{"full": shown_whole, **contents}))
    return write_latex(page)


def random_problem(n: int, d: int, **fields: Any) -> Problem:
    random = np.random.default_rng(n * d)
    weights = {name: random.normal(size=(d, d)).round(2) for name in ("W_Q", "W_K", "W_V")}
    tokens = {"X": random.normal(size=(n, d)).round(2)}
    return Problem(**{**tokens, **weights, **fields})


def complaints(folder: Path, document: str) -> list[str]:
    """Compile a document and return its errors and its overfull boxes."""
    (folder / "doc.tex").write_text(document, encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "doc.tex"],
        cwd=folder,
        capture_output=True,
        check=False,
        timeout=120,
    )
    log = done.stdout.decode("utf-8", "replace").split("\n")
    assert (folder / "doc.pdf").exists(), "\n".join(log[-40:])
    return [line for line in log if re.match(r"!|Overfull|Missing character|LaTeX Warning", line)]


PAGES: dict[str, tuple[Problem, dict[str, Any]]] = {
    "hostile names": (
        random_problem(
            len(HOSTILE),
            2,
            X=None,
            X1=[[1, 2]] * len(HOSTILE),
            X2=[[3, 1], [0, 2]],
            labels={"X1": HOSTILE, "X2": HOSTILE[:2]},
            title=HOSTILE[0] + HOSTILE[6],
        ),
        {"work": True},
    ),
    "hostile names of all inputs": (
        random_problem(len(HOSTILE), 2, labels=HOSTILE, title=HOSTILE[0] + HOSTILE[6]),
        {"work": True},
    ),
    "a hostile worksheet": (random_problem(len(HOSTILE), 2, labels=HOSTILE), {"blank": True}),
    "40 tokens": (random_problem(40, 8), {}),
    "a worksheet of 40 tokens": (random_problem(40, 8), {"blank": True}),
    "70 tokens, shown whole": (random_problem(70, 2), {"shown_whole": True}),
    "long sums": (random_problem(10, 9, decimals=12), {"work": True}),
    "large numbers": (
        random_problem(4, 3, X=np.arange(12).reshape(4, 3) * 1e6, decimals=6),
        {"work": True},
    ),
    "every kind": (
        random_problem(
            5, 4, heads=2, causal=True, softcap=5, positions="rope", bias=np.ones((5, 5)) / 4
        ),
        {"work": True, "fractions": "mixed"},
    ),
    "long fractions": (
        Problem(
            X=[[Fraction(1, 3), Fraction(2, 7)], [Fraction(12345, 677), Fraction(5, 11)]],
            W_Q=[[Fraction(1, 3), 1], [2, Fraction(9, 13)]],
            W_K=[[1, Fraction(1, 17)], [Fraction(1, 19), 2]],
            W_V=[[1], [2]],
        ),
        {"work": True, "fractions": "plain"},
    ),
}


@needs_latex
@pytest.mark.parametrize("name", mostly_slow(PAGES, 99))
def test_a_body_compiles_in_the_narrowest_document(name: str, tmp_path: Path) -> None:
    problem, contents = PAGES[name]
    (tmp_path / "body.tex").write_text(body(problem, **contents), encoding="utf-8")
    assert complaints(tmp_path, HOST) == []


@needs_latex
@pytest.mark.parametrize("name", mostly_slow([each.name for each in SAMPLES], 99))
def test_every_sample_compiles_as_a_key_and_as_a_worksheet(name: str, tmp_path: Path) -> None:
    problem = read_problem(next(each.path for each in SAMPLES if each.name == name))
    work = name != "convolution-2d"  # which has more entries than are written out
    ways: Any = ({"work": work}, {"work": work, "fractions": "plain"}, {"blank": True})
    bodies = "\n\n".join(body(problem, **contents) for contents in ways)
    (tmp_path / "body.tex").write_text(bodies, encoding="utf-8")
    assert complaints(tmp_path, HOST) == []


def test_an_equation_wider_than_a_line_is_a_paragraph_and_both_sums_of_a_quotient_break() -> None:
    problem = read_problem(BUNDLED / "equations" / "gru.json")
    assert r"\noindent\(z = [\operatorname{sigmoid}(\sum" in body(problem)
    long = Sum(tuple(Number(str(each)) for each in range(3)))
    assert TexMath().pieces(Quotient(long, long)) == ["(0", "+ 1", "+ 2)", "/ (0", "+ 1", "+ 2)"]


@needs_latex
def test_a_document_compiles_with_its_map_next_to_it(attncalc: Command, tmp_path: Path) -> None:
    run = attncalc("self", "--work", "--standalone", "-o", "key 100%.tex")
    assert run.err.endswith("note: written to key 100%.tex and page-map.pdf\n")
    document = (tmp_path / "key 100%.tex").read_text(encoding="utf-8")
    assert "{page-map.pdf}" in document
    assert complaints(tmp_path, document) == []
    assert b"/Type /Page" in (tmp_path / "page-map.pdf").read_bytes()


@for_all(
    ("text", "latex"),
    [
        ("a_b", r"a\_b"),
        ("{x}^2~", r"\{x\}\textasciicircum{}2\textasciitilde{}"),
        ("\\input{x}", r"\textbackslash{}input\{x\}"),
        ("50% & #1 $", r"50\% \& \#1 \$"),
        ("é", r"\'{e}"),
        ("í", r"\'{\i}"),
        ("α Σ", r"\(\alpha\) \(\Sigma\)"),
        ("a--b", "a-{}-b"),
        ("猫", r"\attncalcletter{猫}{732B}"),
        ("\x1b[31m", "[31m"),
    ],
)
def test_text_is_set_as_it_reads(text: str, latex: str) -> None:
    assert in_latex(text) == latex


def test_the_homework_is_typeset_as_by_hand() -> None:
    page = body(read_problem(SAMPLES[0].path), work=True, fractions="plain")
    for line in (
        r"Q_{3,1} &= (-2 \cdot 0) + (2 \cdot 1) + (-1 \cdot {-\tfrac{1}{2}}) + (0 \cdot 1) = "
        r"\tfrac{5}{2}",
        r"A_{1,1} &= \frac{e^{3/2}}{e^{3/2} + e^{-5/2} + e^{8}} = \frac{4.48}{2985.52} \approx "
        r"{0.00}^{\dagger}",
        r"\mathbf{0.62} & \underline{0.38} & {0.00}^{\dagger}",
        r"\textdagger{} not zero: \(A_{1,1} = 0.0015\)",
        r"S = Q {K}^{\top} = \begin{bmatrix}",
    ):
        assert line in page


def test_a_body_needs_nothing_but_amsmath() -> None:
    page = body(read_problem(SAMPLES[0].path), work=True)
    assert r"\usepackage{amsmath}" in page.split("\n")[0]
    assert r"\documentclass" not in page
    assert r"\includegraphics" not in page


def test_a_worksheet_contains_the_problem_and_no_answer() -> None:
    page = body(read_problem(SAMPLES[0].path), blank=True)
    assert "-2 & 2 & -1 & 0" in page
    assert page.count(r"\underline{\hspace{3em}}") == 42
    assert page.count(r"\circle*") == 6
    assert not re.search(r"13\.25|0\.62|1\.17|dagger|most input|\\approx", page)


TWO_HEADS = Problem(
    X=[[1, 0, 1, 0], [0, 2, 0, 1], [1, 1, 0, 0], [0, 0, 1, 1]],
    W_Q=[[1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 0, 1], [0, 1, 1, 0]],
    W_K=[[0, 1, 1, 0], [1, 0, 0, 1], [1, 1, 0, 0], [0, 0, 1, 1]],
    W_V=[[1, 2, 0, 1], [0, 3, 1, 0], [1, 0, 2, 0], [0, 1, 0, 2]],
    heads=2,
    labels=["the", "cat", "sat", "down"],
)


@needs_latex
@pytest.mark.slow
def test_a_key_of_four_tokens_and_two_heads_is_under_five_pages(tmp_path: Path) -> None:
    solution = solve(TWO_HEADS)
    key = make_page(solution, Contents(solution.steps, work=True))
    assert complaints(tmp_path, write_latex(key, standalone=True)) == []
    log = (tmp_path / "doc.log").read_text(encoding="latin-1")
    pages = re.search(r"Output written on doc\.pdf \((\d+) pages", log)
    assert pages is not None
    assert int(pages[1]) < 5


WORKSHEETS: dict[str, dict[str, Any]] = {
    "self": {},
    "causal": {"causal": True},
    "cross": {"X": None, "X1": None, "X2": None},
    "heads": {"heads": 2, "W_O": np.eye(4)},
    "heads and long names": {"heads": 2},
    "heads and longer names": {"heads": 2},
}
NAMES = "the old professor,mathematics,differentiation,understands,international,responsibility"


TWO_HEADS_OF_WORDS: dict[str, Any] = {
    **{name: np.eye(4)[:, ::-1] for name in ("W_Q", "W_K", "W_V")},
    **{"heads": 2, "causal": True, "labels": ["red", "birds", "fly", "home"]},
    **{"title": "Problem 1", "student": "Ada Lovelace (1017)", "code": "BKWR-TZNM"},
}


def worksheet(kind: str, tokens: int) -> Problem:
    """Return a problem as in a class, to fill in."""
    fields = dict(WORKSHEETS[kind])
    rows = np.arange(4 * tokens).reshape(tokens, 4) % 5 - 2.0
    fields |= {name: rows for name in ("X1", "X2") if name in fields}
    width = 4 if "heads" in fields else 2
    if "names" in kind:
        longer = " of the whole city" if "longer" in kind else ""
        fields["labels"] = [f"{name}{longer}" for name in NAMES.split(",")[:tokens]]
    weights = {name: np.eye(4)[:, :width] for name in ("W_Q", "W_K", "W_V")}
    return Problem(**{"X": rows, **weights, **fields})


@needs_latex
@pytest.mark.slow
@pytest.mark.parametrize("tokens", range(2, 7))
def test_a_worksheet_and_its_key_fit_two_pages(tokens: int, tmp_path: Path) -> None:
    """And the key is read back, with small letters and steps side by side."""
    for kind, blank in product(WORKSHEETS, (True, False)):
        solution = solve(worksheet(kind, tokens))
        page = make_page(solution, Contents(solution.steps, blank=blank))
        assert complaints(tmp_path, write_latex(page, standalone=True)) == []
        log = (tmp_path / "doc.log").read_text(encoding="latin-1")
        pages = re.search(r"Output written on doc\.pdf \((\d+) page", log)
        assert pages is not None
        assert int(pages[1]) <= 2
        marking = check(solution.problem, tmp_path / "doc.tex")
        assert marking.score.earned == (0 if blank else marking.score.possible)


def test_both_pages_of_a_worksheet_of_two_heads_have_room_for_several_steps() -> None:
    for tokens in (3, 4):
        solution = solve(new(tokens=tokens, heads=2, d=4, d_k=2, seed=7))
        page = make_page(solution, Contents(solution.steps, blank=True))
        both = write_latex(page, standalone=True).split("\n\\pagebreak\n")
        assert [each.count(r"\vspace") > 1 for each in both] == [True, True]


@needs_latex
@pytest.mark.slow
def test_a_map_that_needs_a_second_page_takes_the_last_steps_with_it(tmp_path: Path) -> None:
    problem = new(kind="cross", tokens=2, keys=3, words=True, seed=7)
    named = replace(problem, student="Featherstonehaugh-Cholmondeley " * 5, code="BCDF-GHJK")
    solution = solve(named)
    page = make_page(solution, Contents(solution.steps, blank=True))
    assert complaints(tmp_path, write_latex(page, standalone=True)) == []  # nor a head too wide
    command = ["pdftotext", "-f", "2", "-layout", str(tmp_path / "doc.pdf"), "-"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "Featherstonehaugh" in text
    assert text.index("Outputs, 2") < text.index("What each output attends to")


@needs_latex
@pytest.mark.slow
@pytest.mark.parametrize("name", ["decoder", "gpt"])
def test_the_worksheet_of_a_decoder_fits_two_pages(name: str, tmp_path: Path) -> None:
    solution = solve(read_problem(BUNDLED / f"{name}.json"))
    page = make_page(solution, Contents(solution.steps, blank=True))
    assert complaints(tmp_path, write_latex(page, standalone=True)) == []
    log = (tmp_path / "doc.log").read_text(encoding="latin-1")
    assert "Output written on doc.pdf (2 pages" in log


@needs_latex
@pytest.mark.slow
def test_a_vision_transformer_takes_six_pages(tmp_path: Path) -> None:
    solution = solve(read_problem(BUNDLED / "vit.json"))
    page = make_page(solution, Contents(solution.steps, blank=True))
    assert complaints(tmp_path, write_latex(page, standalone=True)) == []
    log = (tmp_path / "doc.log").read_text(encoding="latin-1")
    assert "Output written on doc.pdf (6 pages" in log


def test_names_too_long_for_two_pages_are_listed_once_and_tokens_counted() -> None:
    for kind in ("heads and longer names", "heads"):
        solution = solve(worksheet(kind, 6))
        page = make_page(solution, Contents(solution.steps, blank=True))
        written = write_latex(page, standalone=True)
        assert written.count("mathematics of the whole city") == ("longer" in kind)
        assert ("(2) mathematics of the whole city; (3) " in written) == ("longer" in kind)


def test_query_tokens_and_key_tokens_are_counted_together() -> None:
    problem = Problem(
        Q=[[1], [2]], K=[[1], [3]], V=[[0], [1]], labels={"X1": ["a", "b"], "X2": ["c", "d"]}
    )
    page = make_page(solve(problem), Contents(solve(problem).steps))
    numbered = with_numbers(page)
    assert numbered is not None
    assert numbered.parts[1] == Facts(("(1) a", "(2) b", "(3) c", "(4) d"))
    (weights,) = [part for part in numbered.sections if part.step.name == "A"]
    assert (weights.grids[0].rows, weights.grids[0].columns) == (("(1)", "(2)"), ("(3)", "(4)"))


def test_a_list_of_numbered_tokens_is_read_as_part_of_the_page(tmp_path: Path) -> None:
    problem = Problem(X=np.eye(4), **TWO_HEADS_OF_WORDS)
    solution = solve(problem)
    numbered = with_numbers(make_page(solution, Contents(solution.steps, blank=True)))
    assert numbered is not None
    text = write_latex(numbered, standalone=True)
    assert "(1) red; (2) birds; (3) fly; (4) home." in text
    (tmp_path / "empty.tex").write_text(text, encoding="utf-8")
    assert check(problem, tmp_path / "empty.tex").answer.unread == ()


@pytest.mark.parametrize("kind", mostly_slow(WORKSHEETS, 3))
def test_a_worksheet_with_steps_side_by_side_is_read_back(kind: str, tmp_path: Path) -> None:
    solution = solve(worksheet(kind, 3))
    page = make_page(solution, Contents(solution.steps, blank=True))
    steps = [part.step.name for part in page.parts if isinstance(part, Section)]
    texts = iter(np.concatenate([np.ravel(solution.shown(name)) for name in steps]))
    empty = re.compile(r"\\rule\{0pt\}\{[\d.]+em\}\\underline\{\\hspace\{[\d.]+em\}\}")
    text = write_latex(page, standalone=True)
    assert text.count(r"\begin{minipage}") > 2
    (tmp_path / "filled.tex").write_text(empty.sub(lambda _: next(texts), text), encoding="utf-8")
    marking = check(solution.problem, tmp_path / "filled.tex")
    assert marking.score.earned == len(steps)
    assert marking.answer.unread == ()


def test_names_are_above_columns_and_beside_rows() -> None:
    page = body(TWO_HEADS, blank=True)
    scores = page.split(r"\subsection*{Scores")[1].split(r"\subsection*")[0]
    over = [rf"\makebox[0pt]{{{name}}}" for name in ("the", "cat", "sat", "down")]
    assert " & ".join(over) in scores
    strut = r"\rule{0pt}{1.5em}"
    assert scores.count(rf"\text{{cat}}{strut}") == 2, "names are as far apart as empty rows"
    assert "olumns: " not in page


def test_each_head_has_a_diagram_with_the_rule_of_the_lines() -> None:
    page = body(TWO_HEADS, blank=True)
    assert page.count(r"\begin{picture}") == 2
    assert "a solid line to the input of its largest weight" in page
    assert "a dashed line to that of its second" in page


def test_roots_are_typeset_in_sentences_too() -> None:
    assert in_latex("divided by √d_k = √2") == r"divided by \(\sqrt{d_k}\) = \(\sqrt{2}\)"
    assert in_latex("√x_1y √ 2√3a") == r"\(\surd\)x\_1y \(\surd\) 2\(\surd\)3a"


@needs_latex
@pytest.mark.slow
def test_a_marking_and_a_class_compile(attncalc: Command, tmp_path: Path) -> None:
    samples, bodies = Path(__file__).parent.parent / "samples", []
    for answers in ("answers/transposed-scores.txt", "answers"):
        run = attncalc("check", str(samples / "self.json"), str(samples / answers), "-o", "a.tex")
        assert run.code == 1
        bodies.append((tmp_path / "a.tex").read_text(encoding="utf-8"))
        assert r"\textbf{Score: 6.0 of 7 (86 \%)}" in bodies[-1] or "6.89 of 7" in bodies[-1]
        (tmp_path / "a.tex").unlink()
    (tmp_path / "body.tex").write_text("\n\n".join(bodies), encoding="utf-8")
    assert complaints(tmp_path, HOST) == []


@for_all(
    ("name", "written", "entry"),
    [
        ("A", "A", "A_{1,2}"),
        ("S_scaled", r"S^{\mathrm{scaled}}", r"S_{1,2}^{\mathrm{scaled}}"),
        ("X1", "X_1", "X_{1;1,2}"),
        ("W_1", "W_1", "W_{1;1,2}"),
        ("W_12", "W_{12}", "W_{12;1,2}"),
        ("gamma_2", r"\gamma_2", r"\gamma_{2;1,2}"),
        ("logits", r"\mathrm{logits}", r"\mathrm{logits_{1,2}}"),
        ("var_1", r"\mathrm{var_1}", r"\mathrm{var_{1;1,2}}"),
        ("2.Q", "Q^{[2]}", "Q_{1,2}^{[2]}"),
        ("2.self.Q", r"Q^{[2] \mathrm{self}}", r"Q_{1,2}^{[2] \mathrm{self}}"),
        ("self.Q", r"Q^{\mathrm{self}}", r"Q_{1,2}^{\mathrm{self}}"),
        ("50 %", r"\text{50 \%}", r"\text{50 \%}_{1,2}"),
    ],
)
def test_any_name_of_a_matrix_is_an_ordinary_name(name: str, written: str, entry: str) -> None:
    assert name_in_tex(name) == written
    assert in_tex(Indexed(name, (1, 2))) == entry


@pytest.mark.slow
def test_a_complete_document_loads_a_font_for_chinese_and_japanese_letters(
    attncalc: Command, tmp_path: Path
) -> None:
    for language in ("zh", "ja", "de"):
        run = attncalc("self", "--language", language, "--standalone", "-o", "page.tex")
        before, text = (tmp_path / "page.tex").read_text("utf-8").split(r"\begin{document}")
        assert r"\usepackage{fontspec}" in before
        assert (r"\let\attncalcfirst\attncalcja" in text) == (language == "ja")
        assert ("use XeLaTeX or LuaLaTeX, which loads a font" in run.err) == (language != "de")
        own = re.sub(r"\\attncalcletter\{.\}", "", text)
        assert own.isascii(), re.findall(r"[^\x00-\x7f]", own)


@pytest.mark.slow
@pytest.mark.skipif(XELATEX is None, reason="there is no xelatex")
def test_every_letter_of_a_class_is_in_its_pdf_or_has_its_code(tmp_path: Path) -> None:
    """Also letters of a later student, and letters that only the second font has."""
    sheets = []
    one = {name: [[1]] for name in ("X", "W_Q", "W_K", "W_V")}
    for language, token in (("en", "ไ"), ("ja", "変"), ("zh", "这"), ("zh", "検")):
        problem = Problem(**one, labels=[token], language=language)
        solution = solve(problem)
        sheets.append(write_sheet(make_page(solution, Contents(solution.steps))))
    (tmp_path / "all.tex").write_text("".join(write_together(sheets)), "utf-8")
    command = [str(XELATEX), "-interaction=nonstopmode", "all.tex"]
    subprocess.run(command, cwd=tmp_path, stdout=subprocess.DEVNULL, timeout=300, check=True)
    assert "Missing character" not in (tmp_path / "all.log").read_text("utf-8", "replace")
    assert "Overfull" not in (tmp_path / "all.log").read_text("utf-8", "replace")


def test_a_map_is_on_the_page_of_its_sentences() -> None:
    for tokens, is_together in ((6, True), (24, False)):
        solution = solve(random_problem(tokens, 2))
        page = make_page(solution, Contents(solution.steps))
        text = write_latex(page, standalone=True, picture="map.pdf")
        whole = re.compile(r"\\begin\{minipage\}\{\\linewidth\}(.*?)\\end\{minipage\}", re.DOTALL)
        found = whole.search(text)
        assert (found is not None) == is_together
        assert found is None or ("attends" in found[1] and "map.pdf" in found[1])


@pytest.mark.parametrize(("heads", "tokens", "count"), [(2, 3, 2), (4, 3, 4), (2, 20, 2)])
def test_the_dots_of_several_heads_are_on_one_page(heads: int, tokens: int, count: int) -> None:
    solution = solve(random_problem(tokens, 4, heads=heads))
    text = write_latex(make_page(solution, Contents(solution.steps, blank=True)), standalone=True)
    together = re.findall(r"\\begin\{minipage\}(.*?)\\end\{minipage\}", text, re.DOTALL)[-1]
    assert together.count("{Outputs}") == count
