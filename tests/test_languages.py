"""Languages: every sentence of pages, worksheets and markings is translated, with its numbers."""

import json
import re
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from importlib.resources import files
from itertools import chain
from pathlib import Path
from random import Random

import numpy as np
import pytest
from browser import Browser
from conftest import BUNDLED, Command, mostly_slow
from gradient_kinds import kind_of_attention, kind_of_layers, posed
from live_kinds import rarer
from matplotlib.text import Text
from test_live_page import press_button, quiet
from test_numbas import NODE
from test_systems import in_numbas

import attncalc
from attncalc import check
from attncalc.base.errors import AttncalcError
from attncalc.equations.own import Own
from attncalc.equations.tree import chosen
from attncalc.exporting.handed_in import results
from attncalc.exporting.typed_in import correct_answers, marked
from attncalc.grading.key import Key
from attncalc.grading.known import Known
from attncalc.grading.recipes import roundings
from attncalc.grading.recipes.conventions import _changes as conventions
from attncalc.grading.slack import ToTheDigit
from attncalc.languages.catalogue import catalogue, messages
from attncalc.problem.problem import Problem
from attncalc.reading import read_problem
from attncalc.reading.answers import CAN_BE_READ
from attncalc.reading.scans import HANDWRITING
from attncalc.solving.solution import solve
from attncalc.writing import document as parts
from attncalc.writing.frames import Screen
from attncalc.writing.html.page import write_html
from attncalc.writing.latex import write_latex
from attncalc.writing.live.made import write_page
from attncalc.writing.live.script import text_of, tokens
from attncalc.writing.markdown import write_markdown
from attncalc.writing.page import Contents, make_page
from attncalc.writing.paper.ink import Ink
from attncalc.writing.paper.writer import _sheet, write_paper
from attncalc.writing.patterns import sentence
from attncalc.writing.plotting.drawing import draw, draw_gradient, gradient_step, render
from attncalc.writing.plotting.look import Look
from attncalc.writing.reports.marking import MARKS, marking_document
from attncalc.writing.terminal import write_tables
from attncalc.writing.translated import in_language

LANGUAGES = ("de", "fr", "es", "pt", "zh", "ja")
FOLDER = files("attncalc.languages")
TRANSLATED = {
    name: dict(messages((FOLDER / f"{name}.po").read_text("utf-8"))) for name in LANGUAGES
}
SAMPLES = sorted(path.stem for path in BUNDLED.glob("*.json"))
LARGE = ("convolution-2d", "vit")
PLACE = re.compile(r"\{\w+\}")


def sentences(document: parts.Document) -> Iterator[str]:
    """Yield every sentence of a document; advice is for the command line."""
    yield document.title
    yield from (note for note in document.notes if note not in document.advice)
    for part in document.parts:
        yield from of_part(part)


def of_section(section: parts.Section) -> Iterator[str]:
    if not isinstance(section.step.operation, Own):  # its title is the author's
        yield section.said
    yield from section.remarks
    yield from (means for _, means in section.legend)
    yield from (line.remark for line in section.lines if line.remark)


def of_part(part: parts.Part) -> Iterator[str]:
    if isinstance(part, parts.Facts | parts.Bullets):
        yield from part.texts
    elif isinstance(part, parts.Section):
        yield from of_section(part)
    elif isinstance(part, parts.Connections):
        yield part.title
        yield from (text for _, told in part.heads for text in told)
    elif isinstance(part, parts.Verdict):
        yield f"Score: {part.score} ({part.share})"
        yield from part.sentences
    elif isinstance(part, parts.Legend):
        yield from (means for _, means in part.entries)
    elif isinstance(part, parts.Field):
        yield part.label


def untranslated(document: parts.Document, language: str) -> list[str]:
    words = catalogue(language)
    return [text for text in sentences(document) if words.said(text, strict=True) is None]


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_language_has_every_message_with_its_places(language: str) -> None:
    german, own = TRANSLATED["de"], TRANSLATED[language]
    assert list(own) == list(german)
    for msgid, msgstr in own.items():
        if msgid:
            assert msgstr, msgid
            assert sorted(PLACE.findall(msgstr)) == sorted(PLACE.findall(msgid)), msgid


@pytest.mark.parametrize("sample", mostly_slow(SAMPLES, 18))
def test_every_sentence_of_a_sample_is_translated(sample: str) -> None:
    solution = solve(read_problem(BUNDLED / f"{sample}.json"))
    work = sample not in LARGE
    for contents in (Contents(solution.plan, work=work), Contents(solution.plan, blank=True)):
        assert untranslated(make_page(solution, contents), "de") == []


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["md", "tex", "html"])
def test_words_of_formulas_are_translated(ending: str, attncalc: Command, tmp_path: Path) -> None:
    for sample in ("gradients", "convolution-2d"):
        for language in LANGUAGES:
            attncalc(
                "self", str(BUNDLED / f"{sample}.json"), "--language", language, "-o", f"p.{ending}"
            )
            page = (tmp_path / f"p.{ending}").read_text(encoding="utf-8")
            assert not re.search(r"text\{ (?:for each|and) \}|[Cc]olumns \d", page)
            assert "via" not in page or language in ("fr", "pt")


def test_each_of_several_rows_is_translated() -> None:
    sums = "row 1 sums to 1.01, row the cat sums to 0.99 and row 3 sums to 0.99"
    said = catalogue("de").said(f"weights are rounded as shown, so in head 2 {sums}, not 1.00")
    assert said
    assert "sums" not in said
    none = "output a, b and c in head 1: no key is left to attend to, all weights are 0"
    assert catalogue("fr").said(none).startswith("sortie a, b et c dans la tête 1 :")


def test_the_step_of_a_mistake_follows_its_translated_sentence() -> None:
    said = catalogue("fr").said("K Qᵀ is computed, not Q Kᵀ: the scores are transposed (in S)")
    assert said == "on a calculé K Qᵀ, et non Q Kᵀ : les scores sont transposés (dans S)"


def test_a_cause_with_a_colon_follows_the_number_of_its_answers() -> None:
    cause = "K Qᵀ is computed, not Q Kᵀ: the scores are transposed"
    for language in LANGUAGES:
        said = catalogue(language).said(f"3 answers, S: {cause}.")
        assert said
        assert catalogue(language).said(cause, strict=True) in said


@pytest.mark.parametrize(
    ("language", "said", "many"),
    [
        ("de", "Q, K und V sind richtig.", "Q, K und 5 weitere sind richtig."),
        ("fr", "Q, K et V sont justes.", "Q, K et 5 autres sont justes."),
        ("es", "Q, K y V son correctos.", "Q, K y 5 más son correctos."),
        ("pt", "Q, K e V estão corretos.", "Q, K e mais 5 estão corretos."),
        ("zh", "Q、K 和 V 正确。", "Q、K 和另外 5 个 正确。"),
        ("ja", "Q、K、V は正しいです。", "Q、K、ほか 5 個 は正しいです。"),
    ],
)
def test_lists_have_the_separators_of_the_language(language: str, said: str, many: str) -> None:
    assert catalogue(language).said("Q, K and V are right.") == said
    assert catalogue(language).said("Q, K and 5 more are right.") == many


def test_a_new_sentence_is_found() -> None:
    document = parts.Document("Encoder", (parts.Facts(("tokens are circles",)),))
    assert untranslated(document, "fr") == ["tokens are circles"]


@pytest.mark.campaign(3)
@pytest.mark.parametrize("answer", sorted(p.name for p in (BUNDLED / "answers").iterdir()))
def test_every_sentence_of_a_marking_is_translated(answer: str) -> None:
    marking = check(BUNDLED / "self.json", BUNDLED / "answers" / answer)
    document = marking_document(marking)
    left = [t for t in untranslated(document, "de") if not t.startswith(("As read", "Not read"))]
    assert left == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_labels_of_pages_are_translated(language: str) -> None:
    words = catalogue(language)
    labels = ["Given", "Notes", "Work:", "Name", "answer", "Key for", "Inputs", "Outputs", "Head 2"]
    labels += [mark.means for mark in MARKS.values() if mark.sign]
    for label in labels:
        assert words.said(label, strict=True), label


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "said", "number"),
    [
        ("de", "Ausgabe 3: am meisten Eingabe 1 (0,62), dann Eingabe 2 (0,38)", "-13,25"),
        ("fr", "Sortie 3 : surtout entrée 1 (0,62), puis entrée 2 (0,38)", "-13,25"),
        ("zh", "输出 3：最关注输入 1（0.62），其次输入 2（0.38）", "-13.25"),
        ("ja", "出力 3：最大は入力 1（0.62）、次は入力 2（0.38）", "-13.25"),
    ],
)
def test_a_page_in_a_language(
    attncalc: Command, tmp_path: Path, language: str, said: str, number: str
) -> None:
    run = attncalc("self", str(BUNDLED / "self.json"), "--language", language, "-o", "p.md")
    assert run.code == 0, run.err
    text = (tmp_path / "p.md").read_text("utf-8")
    assert said in text
    assert number in text
    assert "Output" not in text
    assert ("13.25" in text) == (number == "-13.25")


@pytest.mark.slow
def test_the_problem_states_the_language(attncalc: Command, tmp_path: Path) -> None:
    given = json.loads((BUNDLED / "self.json").read_text()) | {"language": "de"}
    (tmp_path / "p.json").write_text(json.dumps(given))
    assert "Köpfe" not in attncalc("self", "p.json").out
    assert "Tokens sind Zeilen" in attncalc("self", "p.json").out
    answer = str(BUNDLED / "answers" / "dropped-term.m")
    run = attncalc("check", "p.json", answer)
    assert "Der erste Fehler ist in S, Zeile 1, Spalte 3: S[1,3] ist 8,00, nicht 10,5." in run.out
    assert "Mögliche Ursache: ein Summand fehlt." in run.out
    assert attncalc("check", "p.json", answer, "-o", "m.html").code == 1
    page = (tmp_path / "m.html").read_text("utf-8")
    assert '<html lang="de">' in page
    assert "<script" not in page


LEFT_OVER = re.compile(
    r"\bbold\b|slanted|\bwhere\b|, else|hatched|Map of|Heatmap of|Weights of|, head \d"
)
"""English of legends, equations and pictures."""


@pytest.mark.parametrize("language", LANGUAGES)
def test_legends_equations_and_pictures_are_translated(language: str) -> None:
    problem = Problem(
        X=[[1, 2], [0, 1]], W_Q=[[1, 0], [1, 1]], W_K=[[0, 1], [1, -1]], W_V=[[1, 1], [0, 2]],
        heads=2, causal=True, language=language, student="Ada", code="BCDF-GHJK",
    )  # fmt: skip
    page = make_page(solution := solve(problem), Contents(solution.plan, work=True))
    tables = "\n".join(text.plain for text in write_tables(page, Screen()))
    texts = write_markdown(page), tables, write_html(page), write_latex(page)
    assert [each for text in texts for each in LEFT_OVER.findall(text)] == []
    code = catalogue(language).say("code BCDF-GHJK")
    assert all(code in text for text in texts[:3])


def test_a_count_is_no_decimal_number() -> None:
    assert catalogue("de").say("1,000 draws") == "1.000 Ziehungen"
    assert catalogue("ja").say("1,000 draws") == "1,000 回の抽出"


def test_data_have_no_language(attncalc: Command) -> None:
    one = attncalc("self", str(BUNDLED / "self.json"), "--format", "csv")
    other = attncalc("self", str(BUNDLED / "self.json"), "--format", "csv", "--language", "de")
    assert one.out == other.out.replace("language,de\n", "")


def test_names_are_never_translated() -> None:
    problem = Problem(
        X=[[1], [2]], W_Q=[[1]], W_K=[[1]], W_V=[[1]], labels=["Given", "wrong"], language="de"
    )
    solution = solve(problem)
    text = write_markdown(make_page(solution, Contents(solution.plan)))
    assert "Ausgabe wrong: am meisten Eingabe wrong" in text
    assert "**Given**" in text


def test_an_unknown_language_is_refused(attncalc: Command) -> None:
    run = attncalc("self", "--language", "tlh")
    assert run.code == 2
    assert '"en", "de", "fr", "es", "pt", "zh" or "ja"' in run.err


SCRIPTS = ("boxes", "practice", "unmarked", "numbas", "curve")
NO_SENTENCES = re.compile(
    r"attncalc practice .*|[a-z]+(-[a-z]+)+|td\[.*|table\[.*|[a-z(),.\s]*|Arrow\w+|Enter"
)
"""Names of attributes, keys and elements, among the texts of the script."""


def texts_in(module: str) -> Iterator[str]:
    """Yield the texts of a module of the script, with a place for each expression in one."""
    templates = list[str]()  # within one another
    for token in tokens(re.sub(r"^import .*$", "", text_of(module), flags=re.MULTILINE)):
        if token.kind == "string":
            yield json.loads(token.text)
        elif token.kind == "text":
            templates += [""] if token.text.startswith("`") else []
            templates[-1] += token.text.strip("`{}$") + ("1" if token.text.endswith("{") else "")
            if token.text.endswith("`"):
                yield templates.pop()


@pytest.mark.parametrize("module", SCRIPTS)
def test_every_sentence_of_a_script_is_translated(module: str) -> None:
    words = catalogue("de")
    found = [text for text in texts_in(module) if re.search("[a-z]{3}", text)]
    left = [text for text in found if words.said(text) is None]
    assert [text for text in left if not NO_SENTENCES.fullmatch(text)] == []


def english(text: str) -> set[str]:
    """Return the common English words of a text."""
    words = {word.lower() for word in re.findall(r"[A-Za-z]+", text.replace("each-step", ""))}
    return words & {
        *("the", "of", "your", "row", "column", "is", "are", "right", "not", "each", "and", "with"),
        *("head", "hint", "show", "given", "entries", "entry", "correct", "found", "enter", "to"),
        *("output", "input", "read", "most", "second", "first", "by", "shown", "full"),
    }


@pytest.mark.slow
@pytest.mark.parametrize("marks", [True, False])
def test_a_practice_page_in_german(browser: Browser, tmp_path: Path, marks: bool) -> None:
    """No English word is left when all its buttons were pressed."""
    problem = read_problem(BUNDLED / "self.json", language="de", causal=True)
    page = make_page(solve(problem), Contents(solve(problem).plan, blank=True))
    (tmp_path / "p.html").write_text(write_page(page, practice=True, marks=marks), "utf-8")
    browser.open(tmp_path / "p.html")
    browser.run(
        "document.querySelectorAll('td input').forEach((e, k) => (e.value = '9x'[k] ?? ''))"
    )
    browser.run("document.querySelector('td input').focus()")
    shown, seen = solve(problem).shown("S")[0][0].replace(".", ","), []
    for button in browser.run("[...document.querySelectorAll('button')].map((e) => e.textContent)"):
        if button != "Drucken":  # it waits for a person
            press_button(browser, button)
        seen.append(browser.run("document.body.innerText"))
        for name in ("aria-label", "title", "aria-description"):
            seen += browser.run(
                f"[...document.querySelectorAll('[{name}]')].map((e) => e.getAttribute('{name}'))"
            )
    assert not english(" ".join(seen))
    words = set(re.findall(r"[A-Za-z]+", " ".join(seen)))
    assert {"Zeile", "Spalte"} <= words
    if marks:
        browser.run("document.querySelector('#S-1-1 input').focus()")
        press_button(browser, "Zeigen")
        assert browser.run("document.querySelector('#S-1-1 input').value") == shown
        browser.run("document.querySelector('#S_masked-1-2 input').focus()")
        press_button(browser, "Zeigen")
        assert "durch die kausale Maske verboten" in browser.text(".at-hand .line")
    assert quiet(browser), (browser.failed, browser.asked)


TAGS = re.compile(r"<[^>]*>|MULTICHOICE|\[\[.*?\]\]|\{[^}]*\}")
GIVEN = {"X": [[1, 0], ["0.5", 2]], "W_Q": [[1, 2], [0, 1]], "W_K": [[1, 0], [0, 1]],
         "W_V": [[1, 0], [2, 1]], "causal": True, "language": "de"}  # fmt: skip


def in_german(attncalc: Command, folder: Path, system: str, out: str) -> None:
    (folder / "p.json").write_text(json.dumps(GIVEN))
    steps = "Q,S,A,O" if system == "stack" else "Q,S,A,O,connections"
    run = attncalc("export", "p.json", "--to", system, "--steps", steps, "-o", out)
    assert run.code == 0, run.err


@pytest.mark.parametrize("system", ["moodle", "stack"])
def test_a_question_for_moodle_in_german(attncalc: Command, tmp_path: Path, system: str) -> None:
    in_german(attncalc, tmp_path, system, "q.xml")
    text = (tmp_path / "q.xml").read_text("utf-8")
    (asked,) = re.findall(r"<questiontext.*?<!\[CDATA\[(.*?)\]\]>", text, re.DOTALL)
    assert "Berechne die unten verlangten Matrizen" in asked
    assert ">0,5<" in asked
    feedback = re.findall(r"<(?:prtcorrect|falsefeedback).*?<text>(.*?)</text>", text)
    said = TAGS.sub(" ", " ".join((asked, *feedback)))
    assert not english(said)
    assert system == "moodle" or "<decimals>,</decimals>" in text


def test_a_question_for_numbas_in_german(attncalc: Command, tmp_path: Path) -> None:
    in_german(attncalc, tmp_path, "numbas", "q.exam")
    exam = json.loads((tmp_path / "q.exam").read_text("utf-8").partition("\n")[2])
    question = exam["question_groups"][0]["questions"][0]
    data = json.loads(re.findall(r"Numbas\.attncalc\((\{.*\})\);", question["preamble"]["js"])[0])
    texts = [question["name"], *data["statements"], question["parts"][0]["prompt"]]
    assert not english(TAGS.sub(" ", " ".join(texts)))
    assert data["words"]["correct given your earlier values"].startswith("mit deinen")
    names = [gap["customName"] for gap in question["parts"][0]["gaps"]]
    assert names[-2:] == ["2, größtes Gewicht", "2, zweitgrößtes"]
    assert data["comma"]


@pytest.mark.slow
@pytest.mark.skipif(NODE is None, reason="there is no node")
def test_numbas_counts_entries_without_a_plural(attncalc: Command, tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text(json.dumps(GIVEN | {"language": "es"}))
    exam = attncalc("export", "p.json", "--to", "numbas", "--steps", "Q").out
    (said,) = in_numbas(exam, [{"Q": [["1", "2"], ["0", "0"]]}], runtime="")["said"]
    assert said["Q"].startswith("Q, de 4: 2 × correcto, 2 × incorrecto.")


@pytest.mark.slow
def test_a_question_for_prairielearn_in_german(attncalc: Command, tmp_path: Path) -> None:
    in_german(attncalc, tmp_path, "prairielearn", "q")
    asked = (tmp_path / "q" / "question.html").read_text("utf-8")
    labels = re.findall('aria-label="(.*?)"', asked)
    assert labels[0] == "Q, Zeile 1, Spalte 1"
    assert not english(TAGS.sub(" ", asked) + " ".join(labels))
    shown = correct_answers(str(tmp_path / "q"))
    for typed in ({}, shown, {**shown, "A_1_1": "7", "S_2_1": "0,1"}):
        assert not english(" ".join(marked(str(tmp_path / "q"), typed)["verdict"]))


@pytest.mark.slow
def test_an_autograder_for_gradescope_in_german(attncalc: Command, tmp_path: Path) -> None:
    in_german(attncalc, tmp_path, "gradescope", "a.zip")
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        archive.extractall(tmp_path / "source")
    for name in ("grade.py", "run_autograder"):
        assert "Dies konnte nicht bewertet werden" in (tmp_path / "source" / name).read_text(
            "utf-8"
        )
    for number, text in enumerate(("", "Q = [1 2; 0,5 3]", "Q = [1 2; 0,5 3]; S = [1 1; 1 1]")):
        submission = tmp_path / str(number)
        submission.mkdir()
        if text:
            (submission / "hw.txt").write_text(text)
        found = json.loads(results(tmp_path / "source", submission))
        said = [found["output"], *(f"{each['name']} {each['output']}" for each in found["tests"])]
        assert not english(" ".join(said)), said


@pytest.mark.parametrize("level", [1, 2, 3])
def test_hints_of_check_in_german(attncalc: Command, tmp_path: Path, level: int) -> None:
    (tmp_path / "p.json").write_text(json.dumps(GIVEN))
    for number, text in enumerate(("S = [1 1; 1 1]", "Q = [1 2; 0,5 3]; K = [1 0; 0,5 3]")):
        (tmp_path / f"{number}.txt").write_text(text)
        run = attncalc("check", "p.json", f"{number}.txt", "--hint", str(level))
        assert run.out.startswith("Sieh dir ")
        assert not english(run.out), run.out


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_pdf_in_each_language(language: str) -> None:
    solution = solve(read_problem(BUNDLED / "heads.json", language=language))
    page = make_page(solution, Contents(solution.plan))
    assert write_paper([page]).content.startswith(b"%PDF-")


def pattern_sentences(problem: Problem) -> Iterator[str]:
    """Yield the sentences on the weights of a problem."""
    try:
        solution = attncalc.solve(problem)
        yield from (sentence(problem, pattern) for pattern in solution.patterns)
    except AttncalcError:
        return


def left_in_english(language: str, told: Iterable[str]) -> dict[str, str | None]:
    """Return the sentences with an English word; "the" may be a token's name."""
    words = catalogue(language)
    said = {text: words.said(text, strict=True) for text in told}
    of_patterns = re.compile(r"\b(?:inputs?|outputs?|more|attends?|and|of|weights?|shows?|with)\b")
    return {text: each for text, each in said.items() if not each or of_patterns.search(each)}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_sentences_on_weights_are_translated(language: str) -> None:
    problem = read_problem(BUNDLED / "heads.json")
    assert left_in_english(language, pattern_sentences(problem)) == {}
    told = ("Head 1: output 2 attends almost only to input 1 of X2 (at least 0.995 of its weight)",)
    assert left_in_english(language, told) == {}


@pytest.mark.slow
def test_every_sentence_on_weights_of_samples_is_translated() -> None:
    told = {
        text for kind in KINDS for each in problems(kind, 12) for text in pattern_sentences(each)
    }
    assert len(told) > 300
    assert [left_in_english(language, told) for language in LANGUAGES] == [{}] * len(LANGUAGES)


def test_a_page_with_sentences_on_weights_counts_the_rest_in_its_language() -> None:
    solution = attncalc.solve(read_problem(BUNDLED / "heads.json", language="de"))
    text = write_markdown(make_page(solution, Contents((), given=False, patterns=True)))
    assert "weitere Sätze: attncalc explain --all zeigt alle" in text


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", ["heads", "vit", "gradients"])
def test_the_words_and_numbers_of_pictures_are_translated(kind: str, language: str) -> None:
    solution = solve(read_problem(BUNDLED / f"{kind}.json", language=language, title=""))
    look = Look("heatmap" if kind == "gradients" else "both")
    figure = (
        draw_gradient(solution, gradient_step(solution, "dS", look), look)
        if kind == "gradients"
        else draw(solution.problem, solution.heads, look)
    )
    drawn = [each.get_text() for each in figure.findobj(Text)]
    assert [text for text in drawn if LEFT_IN_PICTURES.search(text)] == []
    assert any(re.search(r"\d,\d", text) for text in drawn) == (language not in ("zh", "ja"))
    assert not any(re.search(r"\d\.\d", text) for text in drawn) or language in ("zh", "ja")
    svg = render(solution, "svg").content.decode()
    told = re.sub(r"\(\w+: [\w-]+\)", "", re.split('-description">|</desc', svg)[1])
    assert not LEFT_IN_PICTURES.search(told)


@pytest.mark.parametrize("language", mostly_slow(["ja", "de"]))
@pytest.mark.parametrize(
    "words", ["vary scale=0:inf", "vary Q[1,1]=-0.5:0.5:3 scale=0.5,1", "simulate K[a]~N(mu,I)"]
)
def test_pictures_of_studies_are_translated(
    words: str, language: str, attncalc: Command, tmp_path: Path
) -> None:
    command, *changes = words.split()
    few = ("--draws", "20", "--seed", "1") if command == "simulate" else ()
    file, out = str(BUNDLED / "average.json"), tmp_path / "study.svg"
    run = attncalc(command, file, *changes, *few, "--language", language, "-o", str(out))
    assert run.code == 0
    told = re.split('-description">|</desc', out.read_text(encoding="utf-8"))[1]
    assert not re.search(r"\b(?:values?|draws|mean|std|tokens|decimals|rows)\b", told)


OF_STUDIES = (
    *("vary average.json scale=0:inf", "vary average.json Q[1,1]=-0.5:0.5:3 scale=0.5,1"),
    *("simulate average.json K[a]~N(mu,I) --draws 20 --seed 1", "aim average.json v_b --beta 9"),
    *("train train-copy.json --steps 2", "generate ids.json --tokens 0 --count 2 --seed 1"),
    "generate ids.json --tokens 0 --count 2 --beams 2 --cache",
)


@pytest.mark.parametrize("language", mostly_slow(LANGUAGES, 3))
@pytest.mark.parametrize("words", OF_STUDIES)
def test_pages_of_studies_are_translated(words: str, language: str, attncalc: Command) -> None:
    command, file, *more = words.split()
    run = attncalc(command, str(BUNDLED / file), *more, "--language", language)
    assert run.code == 0
    told = f"{run.out}{run.err}".split("\n", 1)[1]  # the title is the author's
    assert not re.search(
        r"\b(?:values?|draws|mean(?!s)|rows|sum of|largest|chosen|is|error of)\b", told
    )


def test_tables_of_studies_are_named_by_their_titles(attncalc: Command) -> None:
    asked = ("vary", str(BUNDLED / "average.json"), "scale=1,2", "--language", "de")
    page = attncalc(*asked, "--format", "html").out
    assert 'aria-label="Bei jedem Wert von scale"' in page
    assert 'aria-label="the table"' not in page


LEFT_IN_PICTURES = re.compile(
    r"\b(?:[Ii]nputs?|[Oo]utputs?|keys|queries|heads?|weights?|itself|hatched|column|[Mm]ap|to"
    r"|most|second)\b"
)

ENGLISH = re.compile(
    r"\b(?:the|is|are|with|because|its|your|which|taken|written|read|match|each|not|left|by|alone"
    r"|added|after|before|where|their|marked)\b"
)
SCANNED = "Q:\n3 2\nl l\n1 -1\nK:\n2 -1\n1 -1\n-l 3\nV: 1 5; O 2; 2 O\nTel. 12 34 56\n7 8\n"
WRONG_WAYS = (
    {"A": [[0.62, 0.28, 0.67], [0.07, 0.14, 0.33], [0.31, 0.58, 0.00]]},
    {"S": [[4, 1, 3], [1, 0, 2], [3, 2, 4]], "O": [[1.23, 3.25], [1.44, 1.70], [0.86, 3.99]]},
    {"Q": [[2, 2], [1, 1], [1, -1]], "S": [[4, 1, 3], [1, 0, 2], [3, 2, -4]]},
    {"S_scaled": [[2.8, 0.7, 2.1], [0.7, 0, 1.4], [2.1, 1.4, -2.8]]},
    {"S": [[1, 0], [0, 1]]},
)


def wrong_answers(problem: Problem) -> Iterator[dict[str, object]]:
    """Yield answers with each wrong way of each step, and others."""
    yield from WRONG_WAYS
    key = Key(problem, ToTheDigit(2))
    known = Known(key, key.slack)
    for name, step in key.steps.items():
        for recipe in key.recipes[name]:
            with suppress(ValueError, AttncalcError), np.errstate(all="ignore"):
                made = known.result(step, None, recipe).middle
                yield {name: made.round(2).tolist()}


KINDS = ("samples", "layers", "masks and heads", "rarer")


def problems(kind: str, count: int) -> Iterator[Problem]:
    """Yield problems of a kind, the bundled ones or drawn ones."""
    if kind == "samples":
        for path in sorted(BUNDLED.rglob("*.json")):
            with suppress(AttncalcError):
                yield read_problem(path)
    for seed in range(0 if kind == "samples" else count):
        rng = Random(seed)
        with suppress(AttncalcError):
            if kind == "rarer":
                yield Problem(**rarer(rng, lambda rng=rng: rng.randint(-3, 3)))
            else:
                fields = kind_of_layers(seed) if kind == "layers" else kind_of_attention(seed)
                yield posed(fields)


def causes(problem: Problem) -> Iterator[str]:
    """Yield the text of each mistake that is known in a problem."""
    key = Key(problem, ToTheDigit(2))
    yield from (recipe.says for recipe in chain.from_iterable(key.recipes.values()))
    yield from (recipe.says for step in key.steps.values() for recipe in roundings(step, 2))
    yield from () if problem.is_alone else (says for _, says, _ in conventions(problem))


@pytest.mark.parametrize(
    ("kind", "count"),
    [("rarer", 6), *(pytest.param(kind, 250, marks=pytest.mark.slow) for kind in KINDS)],
)
def test_every_cause_is_translated(kind: str, count: int) -> None:
    words = catalogue("de")
    texts = {text for problem in problems(kind, count) for text in causes(problem)}
    said = {text: words.said(text, strict=True) for text in texts}
    assert {text: each for text, each in said.items() if not each or ENGLISH.search(each)} == {}


SIZES = ("d_k", "d_model", "d_other", "d_heads", "queries", "keys")


def test_every_mistake_of_an_equation_is_translated() -> None:
    """Each clause of mistakes.eq, whatever problem shows it."""
    text = (files("attncalc.grading.recipes") / "mistakes.eq").read_text("utf-8")
    clauses = [line.partition("  # ")[2] for line in text.splitlines() if line.startswith("    ")]
    words = catalogue("de")
    filled = dict.fromkeys(SIZES, "4") | {"line": "row", "across": "column"}
    plain = [
        re.sub(r"\{([^{}]+)\}", lambda m: filled.get(m[1], m[1]), chosen(clause, {*flags}))
        for clause in clauses
        for flags in (("embedded",), ("residual", "back", "sample"))
    ]
    said = {text: words.said(text, strict=True) for text in plain if text}
    assert len(said) > 100
    assert {text: each for text, each in said.items() if not each or ENGLISH.search(each)} == {}


@pytest.mark.parametrize(
    "said",
    [
        "it may not be var_2: Y is right, and does not follow from it",
        "it may not be A: these are no weights",
        "no name of a step is above it",
        "only the first 1,000 names are read",
        "only the first 1,000 matrices in brackets are looked at",
        "there is too much before it: what follows is not read",
        "there are no numbers in its columns",
        "A[1,2]: letters are read as digits: O.5 = 0.5",
        "A is read transposed, by its numbers",
        "Not read: line 3: (1) red (2) (these numbers are in a sentence).",
        "in/a.pdf: it is broken: scan it again",
        f"in/a.pdf: no number is recognized in the picture: {CAN_BE_READ}",
        f"a.png: the numbers are recognized with a confidence of 0.52, as of handwriting or a poor "
        f"picture: {HANDWRITING}: {CAN_BE_READ}",
        f"in/a.zip: a document (.zip) cannot be read: {CAN_BE_READ}",
        "the names of files do not say which answer it is",
        "attncalc, problem 1",
        "its letters are not in UTF-8: they are read as those of Windows",
        "a.md: its name is that of Ada, but BKWR-TZNM in it is the code of another student",
    ],
)
def test_rare_notes_on_an_answer_are_translated(said: str) -> None:
    for language in LANGUAGES:
        assert catalogue(language).said(said, strict=True) not in (None, said)


@pytest.mark.parametrize(
    ("said", "german"),
    [
        (
            "not read: line 36: 7 8 (these numbers are in a sentence); line 37: 1 2; 3 4 "
            "(these numbers are in a sentence)",
            "nicht gelesen: Zeile 36: 7 8 (diese Zahlen stehen in einem Satz); Zeile 37: 1 2; 3 4 "
            "(diese Zahlen stehen in einem Satz)",
        ),
        (
            "As read: line 27: X in S_masked is read as -∞, where masked.",
            "Gelesen als: Zeile 27: X in S_masked wird als -∞ gelesen, wo maskiert.",
        ),
        (
            "The first mistake is in S_masked, row 1 (wir), column 2 (gehen): S_masked[1,2] is "
            "-inf, not 0.5. S_masked[1,2] = 0.5   (forbidden by causal)",
            "Der erste Fehler ist in S_masked, Zeile 1 (wir), Spalte 2 (gehen): S_masked[1,2] ist "
            "-inf, nicht 0,5. S_masked[1,2] = 0,5   (durch die kausale Maske verboten)",
        ),
        ("\u200eno answer: علي\u200e", "\u200ekeine Antwort: علي\u200e"),
        ("V and O may be in line 6.", "V und O könnten stehen in: Zeile 6."),
        ("O may be in line 6.", "O könnte stehen in: Zeile 6."),
    ],
)
def test_sentences_of_several_parts_are_translated_whole(said: str, german: str) -> None:
    assert catalogue("de").say(said) == german


@pytest.mark.parametrize("every", [6, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("language", mostly_slow(LANGUAGES, 6))
def test_no_english_is_left_in_markings(language: str, every: int, tmp_path: Path) -> None:
    given = {"X": [[1, 2], [0, 1], [2, -1]], "W_Q": [[1, 0], [1, 1]], "W_K": [[0, 1], [1, -1]]}
    problem = Problem(**given, W_V=[[1, 1], [0, 2]], language=language, decimals=2)
    markings = [check(problem, each) for each in [*wrong_answers(problem)][::every]]
    (tmp_path / "scanned.txt").write_text(SCANNED)
    markings.append(check(problem, tmp_path / "scanned.txt"))
    found = {
        text
        for marking in markings
        for text in sentences(in_language(marking_document(marking)))
        if ENGLISH.search(text)
    }
    assert found == set()


@pytest.mark.slow
def test_the_table_of_a_folder_in_german(attncalc: Command, tmp_path: Path) -> None:
    given = {"X": [[1, 2], [0, 1]], "W_Q": [[1, 0], [1, 1]], "W_K": [[0, 1], [1, -1]]}
    values = {"W_V": [[1, 1], [0, 2]], "decimals": 2, "language": "de"}
    (tmp_path / "p.json").write_text(json.dumps(given | values))
    (tmp_path / "a").mkdir()
    answers = {"wrong.txt": "Q = [1 1; 1 1]", "scan.txt": SCANNED, "empty.txt": "?"}
    for name, text in answers.items():
        (tmp_path / "a" / name).write_text(text)
    printed = attncalc("check", "p.json", "a").out
    assert "a/wrong.txt" in printed  # a name is not translated
    assert re.search(r"\d,\d+ von \d", printed)
    assert not ENGLISH.search(printed.replace("a/wrong.txt", "").split("a/empty.txt")[0])
    assert attncalc("check", "p.json", "a", "-o", "t.md").code == 1
    page = (tmp_path / "t.md").read_text("utf-8")
    assert "# Antworten" in page
    assert "vorläufig" in page
    assert page.index("# Nicht gelesen, und Anmerkungen") > page.index("| a/wrong.txt |")
    assert "| note |" not in page


LESSON = """Given X = [1 2; 0 1], W_V = [1 1; 0 2].

V = X W_V = [1 5; 0 3]
"""


def test_a_lesson_in_german(attncalc: Command, tmp_path: Path) -> None:
    (tmp_path / "l.md").write_text(LESSON)
    run = attncalc("check", "--lesson", "l.md", "--language", "de")
    assert "1 falsche Zahl" in run.out
    assert "Zeile 3   V[2,2]   3   2" in run.out
    assert not ENGLISH.search(run.out)


def wide_problem(language: str) -> Problem:
    """Return a problem with captions: heads, rows and names wider than a line, large scores."""
    draw = Random(1)
    rows = {"X": 4, "W_Q": 36, "W_K": 36, "W_V": 36}
    size = {name: 36 if name == "X" else 5 for name in rows}
    given = {
        n: [[draw.randint(-9, 9) for _ in range(size[n])] for _ in range(rows[n])] for n in rows
    }
    labels = [f"{'W' * 20} {number}" for number in range(4)]
    return Problem(**given, heads=5, labels=labels, language=language)


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_captions_are_translated_in_latex_in_the_terminal_and_on_paper(
    language: str, tmp_path: Path
) -> None:
    """And these pages are read back."""
    solution = solve(wide_problem(language))
    page = make_page(solution, Contents(solution.plan, full=True, work=True))
    tables = "\n".join(text.plain for text in write_tables(page, Screen(80)))
    latex = write_latex(page)
    captions = r"(?i)\bhead \d of \d|\b(?:columns?|rows?) \d+ |columns:|is taken off first"
    assert re.findall(captions, tables + latex) == []
    for name, text in (("a.txt", tables), ("a.tex", latex)):
        (tmp_path / name).write_text(text, encoding="utf-8")
        marking = check(solution.problem, tmp_path / name)
        assert marking.score.earned == 10
        assert len(marking.verdict) == 3  # nothing is unread
    sheet = _sheet(replace(page, parts=(parts.Field("name", "Ada · code BCDF-GHJK"),)), Ink())
    assert sheet.name == f"Ada · {catalogue(language).say('code BCDF-GHJK')}"


@pytest.mark.slow
def test_an_exam_of_a_class_has_its_title_and_causes_in_the_language(
    attncalc: Command, tmp_path: Path
) -> None:
    (tmp_path / "roster.csv").write_text("name\nAda\n")
    wanted = {"name": "1", "tokens": 3, "language": "fr", "same_digits": False}
    (tmp_path / "spec.json").write_text(json.dumps({"problems": [wanted]}))
    run = attncalc("new", "--class", "roster.csv", "--problems", "spec.json", "-o", "set")
    assert run.code == 0, run.err
    text = attncalc("export", "set", "--to", "numbas", "--steps", "Q,A").out
    exam = json.loads(text.partition("\n")[2])
    assert exam["name"] == "Attention"
    assert "(dans S)" in text.encode().decode("unicode_escape")
    assert "(in S)" not in text


MAPS = {
    "de": "Ausgabe 2 beachtet Eingabe 1",
    "fr": "sortie 2 : surtout entrée 1",
    "es": "salida 2 atiende a entrada 1",
    "pt": "saída 2 presta atenção à entrada 1",
    "zh": "输出 2 关注输入 1",
    "ja": "出力 2 → 入力 1",
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_sentence_that_is_advised_for_the_map_is_read(language: str, tmp_path: Path) -> None:
    advice = catalogue(language).say(
        'it seems to be of the map: write it as "output 2 attends to input 1"'
    )
    assert MAPS[language] in advice
    problem = read_problem(BUNDLED / "self.json", language=language)
    rows = "\n".join("  ".join(row) for row in solve(problem).shown("A"))
    told = MAPS[language].replace("1", "3")  # which is right
    (tmp_path / "a.txt").write_text(f"A:\n{rows}\n{told}\n", encoding="utf-8")
    marking = check(problem, tmp_path / "a.txt", asked=("A", "connections"))
    assert [line.written is not None for line in marking.lines] == [False, True, False]
    for text in ("?\n", "-\n"):
        (tmp_path / "b.txt").write_text(text, encoding="utf-8")
        with pytest.raises(AttncalcError, match="no step is found") as found:
            check(problem, tmp_path / "b.txt")
        said = catalogue(language).each(str(found.value).removeprefix(str(tmp_path)))
        assert not english(said), said


def test_an_unread_sentence_of_the_map_is_shown_as_it_was_written(tmp_path: Path) -> None:
    problem = read_problem(BUNDLED / "self.json", language="pt")
    for told in ("Saída 1: mais entrada 1, segunda entrada 2", "Ausgabe 2 beachtet Eingabe 1"):
        (tmp_path / "a.txt").write_text(f"S = [1 2 3; 4 5 6; 7 8 9]\n{told}\n", encoding="utf-8")
        unread = [each.text for each in check(problem, tmp_path / "a.txt").answer.unread]
        assert unread in ([told], [])


def test_points_of_the_map_alone_are_said() -> None:
    said = catalogue("de").say("Points: the lines of the map 0.5 of 1.")
    assert said == "Punkte: Linien der Karte 0,5/1."


@pytest.mark.parametrize("names", ["The lines of the map", "S and the lines of the map"])
def test_where_the_map_may_be_is_translated(names: str) -> None:
    for language in LANGUAGES:
        said = catalogue(language).say(f"{names} may be in line 4, which could not be read.")
        assert not english(said), said


@pytest.mark.parametrize("language", ["zh", "ja"])
def test_a_decimal_comma_is_refused_in_the_language(language: str, tmp_path: Path) -> None:
    problem = read_problem(BUNDLED / "self.json", language=language)
    rows = "| 9,99 | 2.00 |\n| 1.00 | 1.00 |\n| 1.00 | -1.00 |"
    (tmp_path / "a.md").write_text(f"Q\n\n| 1 | 2 |\n| --- | --- |\n{rows}\n", encoding="utf-8")
    why = [each for each in check(problem, tmp_path / "a.md").answer.faults if "9,99" in each]
    assert why == [
        'Q[1,1]: "9,99" is not a number: write a decimal point, and no thousands separators'
    ]
    assert not english(catalogue(language).say(why[0]))
