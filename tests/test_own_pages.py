"""Our own keys, handed in: flawless and whole, whatever the tokens are called."""

import json
import re
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from conftest import IN_FULL, Command, mostly_slow

from attncalc import read_problem
from attncalc.languages.catalogue import LANGUAGES, catalogue
from attncalc.problem.samples import sample
from attncalc.problem.serialising import in_json
from attncalc.reading.answers.expected import Expected
from attncalc.reading.answers.text import read_text_answer
from attncalc.reading.html_page import is_html, text_of_html
from attncalc.reading.naming.name import Tokens

FORMS = {
    "md": "markdown",
    "txt": "table",
    "tex": "latex",
    "html": "html",
    "json": "json",
    "csv": "csv",
    "npz": "npz",
}
NAMES = """W_Q;;≈ 4
a|b;;|x;;||;;$x;;$y$;;a $ b;;#1;;## 3;;a,b;;1,2;;23;;-4.5;;1/2;;Q[1,2] = 3;;S =;;Q;;A
\u202eabc;;<b>x</b>;;<script>1</script>;;&amp;;;a\\b;;\\frac{1}{2};;\\;;  lead;;trail  ;;the cat
Output 1: solid 2;;solid 1, dashed 2;;row 1;;x1;;~~3~~;;**b**;;_i_;;`c`;;[1 2; 3 4];;(1, 2);;= 3
{1};;%3;;a:b;;Q:;;head 2;;Head 1:;;layer 2;;self:;;none;;-;;●;;1.00;;0.50;;a;b;;"q";;';;é;;猫;;a & b
a and b;;2 heads;;Step 3;;1);;- 2;;> 3;;1e5;;-inf;;?;;_;;…;;NaN;;Summe;;feature 1"""
HOSTILE = [name for line in NAMES.split("\n") for name in line.split(";;")]
TAUGHT = ("self", "cross", "heads", "causal")
KINDS = (
    *("self", "cross", "causal", "masks", "heads", "grouped", "positions", "rope", "columns"),
    *("torch", "additive", "softmax", "encoder", "decoder", "gpt", "cache", "vit", "ids"),
    *("gradients", "gradients-target", "sentence", "blocks", "convolution"),
)


def with_names(name: str, random: Random, folder: Path) -> str:
    """Write a sample whose tokens have hostile names; return the command that solves it."""
    problem = read_problem(sample(name).path)
    said = in_json(problem) | {"labels": labels(problem, random)}
    said.pop("asked", None)
    (folder / "p.json").write_text(json.dumps(said), encoding="utf-8")
    return problem.what


def labels(problem: Any, random: Random) -> Any:
    """Return names for all tokens that can have one."""
    if problem.kind == "self":
        count = problem.tokens_of("X") if problem.X is not None else problem.n
        has_class = problem.class_token is not None
        return random.sample(HOSTILE, count - int(has_class))
    sides = {"X1" if problem.X1 is not None else "Q": problem.n}
    sides |= {"X2" if problem.X2 is not None else "K": problem.m}
    return {side: random.sample(HOSTILE, count) for side, count in sides.items()}


def check_flawless(attncalc: Command, command: str, ending: str, *flags: str) -> None:
    key = f"key.{ending}"
    made = attncalc(command, "p.json", "--format", FORMS[ending], "-o", key, *flags)
    assert made.code == 0, made.err
    run = attncalc("check", "p.json", key, "--format", "json")
    assert run.out, run.err
    found = json.loads(run.out)
    assert not found["provisional"], found["unread"]
    assert (found["not_found"], found["unread"]) == ([], [])
    assert found["score"]["earned"] == found["score"]["possible"], found["verdict"]
    assert run.code == 0


@pytest.mark.slow
@pytest.mark.parametrize("ending", FORMS)
def test_an_attncalc_key_is_flawless_with_any_names_of_tokens(
    ending: str, attncalc: Command, tmp_path: Path
) -> None:
    command = with_names("sentence", Random(ending), tmp_path)
    check_flawless(attncalc, command, ending)


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_keys_of_every_kind_are_flawless(name: str, attncalc: Command, tmp_path: Path) -> None:
    random = Random(name)
    command = with_names(name, random, tmp_path)
    for ending in FORMS if IN_FULL else random.sample(list(FORMS), 3):
        flags = ["--work"] if ending in ("md", "tex", "html") and random.random() < 0.3 else []
        check_flawless(attncalc, command, ending, *flags)


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_keys_in_every_language_are_flawless(
    language: str, attncalc: Command, tmp_path: Path
) -> None:
    random = Random(language)
    for name in (*TAUGHT, *random.sample(KINDS, 3)):
        command = with_names(name, random, tmp_path)
        if name in TAUGHT and random.random() < 0.7:
            (tmp_path / "p.json").write_text(sample(name).path.read_text("utf-8"), encoding="utf-8")
        for ending in ("md", "txt", "tex", "html"):
            flags = ["--work"] if random.random() < 0.3 else []
            check_flawless(attncalc, command, ending, "--language", language, *flags)


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_lines_of_the_map_copied_from_a_page_are_read(
    language: str, attncalc: Command, tmp_path: Path
) -> None:
    for name in TAUGHT:
        problem = str(sample(name).path)
        command = read_problem(sample(name).path).what
        attncalc(command, problem, "--language", language, "-o", "key.md")
        _, below = (tmp_path / "key.md").read_text("utf-8").split("rounding: ")
        (tmp_path / "copied.md").write_text(below.partition("\n")[2], encoding="utf-8")
        found = json.loads(attncalc("check", problem, "copied.md", "--format", "json").out)
        assert found["score"]["earned"] == found["score"]["possible"], found["verdict"]
        assert (found["unread"], found["provisional"]) == ([], False)


W = {"W_Q": [[1, 2], [0, 1]], "W_K": [[1, 0], [2, 1]], "W_V": [[1, 0], [0, 1]]}
MORE = W | {"W_Q": [[1, 3], [0, 1]], "W_K": [[1, 0], [3, 1]]}
FEEDING = {"W_1": [[1, 0], [0, 1]], "W_2": [[1, 0], [1, 1]]}
STACKS: dict[str, dict[str, Any]] = {
    "two layers": {"X": [[1, 2], [0, 1]], "layers": [W, MORE]},
    "of two heads": {"heads": 2, "X": [[1, 2], [0, 1]], "layers": [W, MORE]},
    "and back": {
        "heads": 2, "X": [[1, 2], [0, 1]], "layers": [W, MORE],
        "normalization": "rms", "backward": True,
    },
    "differing": {
        "X": [[1, 2], [0, 1]], "layers": [W | {"heads": 2}, MORE],
    },
    "of a decoder": {
        "block": "decoder", "X1": [[1, 2], [0, 1]], "X2": [[1, 1], [2, 0], [0, 1]],
        "layers": [{"self": W, "cross": W, **FEEDING}, {"self": MORE, **FEEDING}],
    },
}  # fmt: skip


@pytest.mark.campaign(5)
@pytest.mark.parametrize(
    ("stack", "ending"),
    mostly_slow([pytest.param(stack, ending) for stack in STACKS for ending in FORMS], 8),
)
def test_the_numbers_of_layers_are_read_correctly(
    stack: str, ending: str, attncalc: Command, tmp_path: Path
) -> None:
    """A layer's number, as the 1 of 1.Q, is neither an entry nor the number of a list."""
    said = STACKS[stack]
    (tmp_path / "p.json").write_text(json.dumps(said), encoding="utf-8")
    check_flawless(attncalc, said.get("block", "encoder"), ending)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stack", "ending"),
    mostly_slow([pytest.param(stack, e) for e in ("tex", "md") for stack in STACKS], 10),
)
def test_the_work_of_gradients_names_the_layers_that_they_are_of(
    stack: str, ending: str, attncalc: Command, tmp_path: Path
) -> None:
    r"""As ∂L/∂Y_{1,1}^{[1]} \text{ via } Q^{[2]}: what was read is of the layer before."""
    said = STACKS[stack] | {"backward": True}
    (tmp_path / "p.json").write_text(json.dumps(said), encoding="utf-8")
    check_flawless(attncalc, said.get("block", "encoder"), ending, "--work")


@pytest.mark.slow
@pytest.mark.parametrize("ending", mostly_slow(["md", "tex"], 2))
def test_tokens_of_a_decoder_at_their_places_are_read(
    ending: str, attncalc: Command, tmp_path: Path
) -> None:
    """X1_P is X_{1;1,2}^{P} in the work: its number is that of the tokens."""
    said = STACKS["of a decoder"] | {"P1": [[1, 0], [0, 1]]}
    (tmp_path / "p.json").write_text(json.dumps(said), encoding="utf-8")
    check_flawless(attncalc, "decoder", ending, "--work")


LONG: dict[str, Any] = {
    "block": "encoder",
    "X": [["-0.5815263697980362", "1.6420656516884673", "0.4928976935961168"]] * 2,
    "W_Q": [["-0.8857950297322367", "-0.4362921237761465", "0.9421127966476131"]] * 3,
    "W_K": [["0.0658086084326122", "-0.5204494745476659", "0.0289281855430705"]] * 3,
    "W_V": [["1.0597466423173438", "-0.6452077633808936", "0.5469179804902992"]] * 3,
    "b_Q": ["0.0333709118481757", "0.6416583521772170", "0.2596627845660672"],
    "gamma_1": ["-0.3171521105680999", "0.4872299067740079", "0.4872299067740079"],
    "backward": True,
}
"""Numbers as programs write them: a sum of their products takes several rows."""


@pytest.mark.slow
@pytest.mark.parametrize("ending", mostly_slow(["md", "tex"], 2))
def test_sums_on_several_rows_are_one_line(ending: str, attncalc: Command, tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text(json.dumps(LONG), encoding="utf-8")
    check_flawless(attncalc, "encoder", ending, "--work")


@pytest.mark.slow
def test_a_heading_of_two_heads_in_a_layer_is_not_a_matrix(
    attncalc: Command, tmp_path: Path
) -> None:
    """2 heads, their outputs side by side: that is a convention, and no C."""
    (tmp_path / "p.json").write_bytes(Path(sample("gpt").path).read_bytes())
    check_flawless(attncalc, "decoder", "txt")


def test_a_page_of_anybody_is_read_by_its_tables(attncalc: Command, tmp_path: Path) -> None:
    (tmp_path / "p.json").write_bytes(Path(sample("self").path).read_bytes())
    key = json.loads(Path(sample("hand").path).read_text(encoding="utf-8"))
    tables = "".join(
        f"<h2>{name}</h2><table>{''.join(row_of(row) for row in rows)}</table>"
        for name, rows in key.items()
        if name != "connections"
    )
    style = "<style>td { margin: 1px 2px 3px; } h2 { width: 3 }</style>"
    page = f"<!DOCTYPE html><html><head>{style}</head><body>{tables}</body></html>"
    (tmp_path / "mine.html").write_text(page, encoding="utf-8")
    found = json.loads(attncalc("check", "p.json", "mine.html", "--format", "json").out)
    assert (found["unread"], found["not_found"]) == ([], [])
    assert {step["name"] for step in found["steps"]} >= set(key) - {"connections"}


def row_of(row: list[Any]) -> str:
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>\n"


@pytest.mark.slow
def test_additions_to_an_attncalc_page_are_read(attncalc: Command, tmp_path: Path) -> None:
    (tmp_path / "p.json").write_bytes(Path(sample("self").path).read_bytes())
    attncalc("self", "p.json", "--format", "html", "-o", "key.html")
    page = (tmp_path / "key.html").read_text(encoding="utf-8")
    more = "<p>A = [9 9 9; 8 8 8; 7 7 7]</p>"
    (tmp_path / "key.html").write_text(page.replace("</main>", f"{more}</main>"), encoding="utf-8")
    found = json.loads(attncalc("check", "p.json", "key.html", "--format", "json").out)
    assert found["score"]["earned"] != found["score"]["possible"]


def test_lines_of_a_page_are_in_the_order_of_the_file() -> None:
    page = "<!DOCTYPE html>\n<html>\n<style>\n p { 1 }\n</style>\n<p>Q</p>\n\n<p>S</p></html>"
    assert is_html(page)
    lines = text_of_html(page).text.split("\n")
    assert lines.index("S") + 1 == 8
    assert "1 }" not in "".join(lines)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_filled_line_of_a_worksheet_is_read_below_its_conventions(language: str) -> None:
    say, names = catalogue(language).say, ("casa", "why", "warum")
    lines = [
        say("shown to 2 decimals, halves away from zero"),
        say("full precision carried from step to step (rounding: display)"),
        "",
    ]
    filled = [("casa", say("none")), ("why", ""), ("casa", "warum")]
    for output, blanks in zip(names, filled, strict=True):
        line = say(f"Output {output}: solid line to _____, dashed line to _____")
        lines.append(line.replace("_____", blanks[0], 1).replace("_____", blanks[1]))
    weights = np.array([[1, 0, 0], [0, 1, 0], [0.6, 0, 0.4]])
    expected = Expected({"A": weights}, labels=Tokens(names, names), names=names)
    answer = read_text_answer("\n".join(lines), "a.md", expected)
    assert [(each.output, *each.most, *each.second) for each in answer.connections or ()] == [
        ("casa", "casa"),
        ("why", "why"),
        ("warum", "casa", "warum"),
    ]
    assert not answer.unread


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_line_of_the_map_is_read_without_its_reason_whatever_the_weights(language: str) -> None:
    said = catalogue(language).say("Output 1: most input 2, no second (no other weight is above 0)")
    expected = Expected({"A": np.array([[0.2, 0.1, 0.7]])}, labels=Tokens(("",), ("", "", "")))
    answer = read_text_answer(re.split(" ?[(（]", said)[0], "a.md", expected)
    assert [(e.output, e.most, e.second) for e in answer.connections or ()] == [("1", ("2",), ())]


def test_no_second_input_denies_nothing() -> None:
    expected = Expected({"A": np.array([[1, 0], [0.5, 0.5]])}, labels=Tokens(("wir",), ("wir",)))
    answer = read_text_answer("Ausgabe 1: am meisten Eingabe 1, keine zweite", "a.md", expected)
    assert [(each.output, *each.most) for each in answer.connections or ()] == [("1", "1")]


def test_an_unread_line_of_a_page_is_quoted_as_typed() -> None:
    rules = "shown to 2 decimals, halves away from zero\nfull precision (rounding: display)\n\n"
    line = "Output casa: solid line to perro, dashed line to none"
    names = ("casa", "sol")
    expected = Expected({"A": np.eye(2)}, labels=Tokens(names, names), names=names)
    answer = read_text_answer(rules + line, "a.md", expected)
    assert [each.text for each in answer.unread] == [line]
