"""The map described in sentences: read as meant, listed as not read, or ignored."""

import json
import random
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from answer_corpus import FOLDER, KNOWN
from answer_corpus import expected as expected_of
from conftest import for_all, mostly_slow
from fuzz.pace import takes_longer
from map_phrases import (
    HELD_OUT,
    HELD_OUT_LATER,
    IN_KNOWN_WORDS,
    IN_UNKNOWN_WORDS,
    NOT_A_MAP,
    REMARKS,
    UNREAD,
    WITH_TIES,
    WORKED_ON,
)

from attncalc import Problem, check, read_problem
from attncalc.base.errors import InputError
from attncalc.base.types import Matrix
from attncalc.grading.key import Key, key_of
from attncalc.grading.marking import mark
from attncalc.grading.marks import Marking
from attncalc.grading.rules import Rules, Status
from attncalc.problem.samples import sample
from attncalc.reading import read_stream
from attncalc.reading.answers import read_answer_bytes
from attncalc.reading.answers.answer import Answer
from attncalc.reading.answers.expected import Expected
from attncalc.reading.answers.map_choice import best_map, stated_map
from attncalc.reading.answers.map_lines import with_tables
from attncalc.reading.answers.map_names import readings
from attncalc.reading.answers.map_order import Said, maps_in_order
from attncalc.reading.answers.map_periods import lines_about, maps_in_periods
from attncalc.reading.answers.map_words import _KINDS
from attncalc.reading.answers.text import read_text_answer
from attncalc.reading.naming.name import Tokens
from attncalc.writing.reports.marking import marking_as_json
from attncalc.writing.verdict import verdict

MATRICES = "Q = [1 3; -1 1; 2.5 -2]\n"
RIGHT = [
    "Output token 1 attends to input token 3.",
    "Output token 2 attends to input token 3.",
    "Output token 3 attends to input token 1, and less to input token 2.",
]


def key(name: str) -> Key:
    if name != "words":
        return key_of(read_problem(sample(name).path), Rules())
    fields = json.loads(sample("self").path.read_text("utf-8")) | {"labels": ["cat", "sat", "mat"]}
    return key_of(read_stream(json.dumps(fields).encode(), "words.json"), Rules())


KEYS = {name: key(name) for name in ("self", "cross", "words")}


def read(problem: str, text: str) -> Answer:
    return read_text_answer(text, "a.txt", KEYS[problem].expected)


def in_short(answer: Answer) -> str:
    return " ".join(
        f"{each.output}>{','.join(each.most)}{'|' if each.second else ''}{','.join(each.second)}"
        for each in answer.connections or ()
    )


def found_in_order(text: str, heads: Matrix, names: Tokens) -> list[Said]:
    """Return the map of each head that the order of names states."""
    lines = [*enumerate(text.split("\n"), start=1)]
    return best_map(readings((*lines,), names, len(heads[0])), maps_in_order, heads)


def marked(text: str, place: str = "a.txt", **rules: Any) -> Marking:
    answer = read_answer_bytes(text.encode(), place, KEYS["self"].expected)
    return mark(KEYS["self"], answer, Rules(asked=("connections",), **rules))


@for_all(("problem", "text", "wanted"), HELD_OUT + HELD_OUT_LATER + WORKED_ON)
def test_an_ordinary_phrase_is_read_as_the_map_it_states(
    problem: str, text: str, wanted: str | None
) -> None:
    """`3>?` is an output that is listed as unread, None a text that is."""
    answer = read(problem, text)
    listed = [each for each in answer.unread if each.of_map]
    if wanted is None or "?" in wanted:
        assert listed
        wanted = " ".join(each for each in (wanted or "").split() if "?" not in each)
    else:
        assert not answer.unread
    assert in_short(answer) == wanted
    assert not answer.matrices or "=" in text


@for_all(("problem", "text"), NOT_A_MAP)
def test_other_sentences_are_not_read_as_statements_of_the_map(problem: str, text: str) -> None:
    assert read(problem, text).connections is None


@for_all(("problem", "text"), UNREAD)
def test_a_statement_that_is_not_understood_is_listed(problem: str, text: str) -> None:
    answer = read(problem, text)
    assert answer.connections is None
    assert [each.line for each in answer.unread if each.of_map] == [1]


def read_below_weights(X: list[list[float]], W_Q: list[list[float]], text: str) -> Answer:
    problem = Problem(X=X, W_Q=W_Q, W_K=np.eye(2), W_V=np.eye(2), scale="none", decimals=2)
    own = key_of(problem, Rules())
    rows = "\n".join(" ".join(f"{x:.2f}" for x in row) for row in own.expected.steps["A"])
    return read_text_answer(f"A =\n{rows}\n\n{text}\n", "a.txt", own.expected)


@for_all("text", WITH_TIES)
def test_the_weights_tell_which_words_join_inputs_that_tie(text: str) -> None:
    answer = read_below_weights([[1, 0], [0, 1], [1, 0], [1, 1]], [[1, 0], [0, 1]], text)
    assert in_short(answer) == "1>1,3,4|2 2>2,4|1,3 3>1,3,4|2 4>4|1,2,3"
    assert not answer.unread


@for_all("form", IN_UNKNOWN_WORDS)
def test_a_wrong_input_in_any_words_is_read_as_written(form: str) -> None:
    right = ["2", "3", "3", "2", "2", "3"]
    for place, other in [(None, ""), *((k, n) for k in range(6) for n in "123")]:
        said = [other if k == place else name for k, name in enumerate(right)]
        pairs = [*zip(said[::2], said[1::2], strict=True)]
        if any(most == second for most, second in pairs):
            continue
        answer = read_below_weights(
            [[1, 0], [0, 2], [1, 1]], [[0, 1], [1, 0.5]], form.format(*said)
        )
        lines = (f"{k}>{most}|{second}" for k, (most, second) in enumerate(pairs, start=1))
        assert in_short(answer) == " ".join(lines)


SCORES = [[0, 2, 1], [1, 0, 2], [2, 1, 0]]


def read_below_scores(text: str) -> Answer:
    problem = Problem(X=np.eye(3), W_Q=SCORES, W_K=np.eye(3), W_V=np.eye(3), scale="none")
    own = key_of(problem, Rules())
    rows = "\n".join(" ".join(f"{x:.3f}" for x in row) for row in own.expected.steps["A"])
    return read_text_answer(f"A =\n{rows}\n\n{text}\n", "a.txt", own.expected)


@for_all("line", IN_KNOWN_WORDS)
def test_words_rank_inputs_whatever_the_weights(line: str) -> None:
    right = [(2, 3), (3, 1), (1, 2)]
    other = [(3, 1), (1, 3), (3, 2)]
    for said in (right, [pair[::-1] for pair in right], other, [*right[:2], (2, 1)]):
        rows = [*zip((1, 2, 3), said, strict=True)]
        for own in (rows, [rows[2], rows[0], rows[1]]):
            text = "\n".join(line.format(o=o, m=m, s=s) for o, (m, s) in own)
            assert in_short(read_below_scores(text)) == " ".join(
                f"{o}>{m}|{s}" for o, (m, s) in rows
            )


@for_all("text", REMARKS)
def test_a_remark_below_the_weights_is_no_map(text: str) -> None:
    assert read_below_scores(text).connections is None


def test_a_remark_does_not_replace_a_wrong_map() -> None:
    said = "\n".join(
        IN_KNOWN_WORDS[0].format(o=o, m=m, s=s) for o, m, s in [(1, 3, 2), (2, 1, 3), (3, 1, 2)]
    )
    remark = "In row 1 I swapped columns 2 and 3.\nIn row 2 I swapped columns 3 and 1."
    answer = read_below_scores(f"{said}\n\n{remark}\nIn row 3 I swapped columns 1 and 2.")
    assert in_short(answer) == "1>3|2 2>1|3 3>1|2"


def test_an_empty_list_of_inputs_is_no_crash() -> None:
    table = "Strongest:\n output 1: inputs 1 and 3\n output 2: all the same\nNext:\n output 1: 2\n"
    assert read_below_scores(f"{table} output 2: -\n output 3: -").connections


@pytest.mark.slow
def test_the_maps_of_the_corpus_are_read_and_no_other_line_is_taken_for_one() -> None:
    stated = json.loads((FOLDER.parent / "recorded" / "maps.json").read_text("utf-8"))
    unclear = set()
    for name, known in KNOWN.items():
        try:
            data = (FOLDER / name).read_bytes()
            answer = read_answer_bytes(data, name, expected_of(known["problem"]))
        except InputError:
            continue
        lines = [each for each in answer.connections or () if each.is_told]
        told = " ".join(f"{each.output}>{','.join(each.most)}" for each in lines)
        assert told == stated.get(name, ""), name
        unclear |= {name for each in answer.unread if each.of_map}
    assert unclear == {
        "course-ac-25-submission.json",
        "course-g-re-re-homework.txt",
    }


@for_all(("name", "wanted"), [
    ("course-bm-loesung-finn-krause.md", "1>2|1 2>3|1 3>3|1 1>3|1 2>2|1 3>2|3"),
    ("course-bm-opdracht-bram.md", "sun>hot|is is>hot|sun hot>is|hot"),
    ("course-bm-zadanie-kowalczyk.txt", "sun>hot|is is>hot|sun hot>is|hot"),
    ("course-bn-3.txt", "io>love|you ti>I|you amo>love|you"),
    ("course-bn-4.html", "the>dog|ran dog>dog|ran ran>ran|dog home>dog|ran"),
    ("course-bn-5.txt", "red>car|red car>car|red red>car|red car>car|red"),
    ("course-bn-attenzione-incrociata-sara.md", "io>love|you ti>you|love amo>love|you"),
    ("course-bn-compito-attenzione-rossi.txt", "the>dog|ran dog>dog|ran ran>ran|dog home>dog|ran"),
    ("course-bn-es5-multihead-conti.py", "red>car|red car>car|red red>car|red car>car|red"),
    ("course-bn-n15.txt", "1>1 2>1 3>1"),
    ("course-bn-submission-tyler.json", "red>car|red car>car|red red>car|red car>car|red"),
    ("course-bn-td5-exo1-chloe.tex", "1>1|3 2>1|3 3>1|3"),
    ("course-by-causal4f-05-elif.txt", "we>we sing>sing|we old>sing|we songs>sing|we"),
    ("course-by-cross34f-02-notiz.txt", "1>4|3 2>4|3 3>4|3"),
    ("course-by-cross34f-10-sol.tex", "1>4|3 2>3|4 3>4|3"),
    ("course-be-chat-giulia.txt", "the>sat|the cat>cat|sat sat>sat|cat"),
    ("course-bo-task2-liam-oconnor.txt", "1>2|1 2>1|2 3>1|2"),
    ("course-cb-21-scan-p14.txt", "1>3|1 2>3|1"),
])  # fmt: skip
def test_a_map_in_marks_ranks_sections_columns_and_orders_is_read(name: str, wanted: str) -> None:
    key = expected_of(KNOWN[name]["problem"])
    assert in_short(read_answer_bytes((FOLDER / name).read_bytes(), name, key)) == wanted


def test_a_map_is_never_corrected_by_the_weights() -> None:
    """The outputs of the work above are no list of what a sentence is about."""
    fields = {
        "X1": [[1, 2, 0], [1, 0, 1]], "X2": [[1, 2, 0], [1, 0, 1], [2, 2, 1]],
        "W_Q": [[1, 1], [1, 0], [0, -1]], "W_K": [[0, 0], [1, 1], [1, -1]],
        "W_V": [[-1, -1], [0, -1], [1, 0]],
    }  # fmt: skip
    text = """A = 0.195 0.003 0.802; 0.284 0.140 0.576
y1 = 0.195·(-1, -3) + 0.003·(0, -1) + 0.802·(-1, -4) = (-0.997; -3.796)
y2 = 0.284·(-1, -3) + 0.140·(0, -1) + 0.576·(-1, -4) = (-0.860; -3.296)

Conclusión: la salida 1 mira más que nada a la entrada 3 y después a la 1.
La salida 2 también mira más a la entrada 3, y después a la 2."""
    expected = key_of(read_stream(json.dumps(fields).encode(), "a.json"), Rules()).expected
    assert "2>3|1" not in in_short(read_text_answer(text, "a.txt", expected))


def test_a_line_whose_brackets_may_name_the_second_input_is_listed() -> None:
    told = read("words", "cat → mat (then both sat and cat), sat → mat | cat, mat → cat | sat")
    assert [each.line for each in told.unread if each.of_map] == [1]


def test_a_sentence_about_a_missing_output_is_listed() -> None:
    told = read("words", "cat attends to mat.\nI forgot sat.\nmat attends to cat, then sat.")
    assert in_short(told) == "cat>mat mat>cat|sat"
    assert [each.line for each in told.unread if each.of_map] == [2]


def test_a_list_of_equal_inputs_is_one_place_of_the_map() -> None:
    weights = np.array([[0.2, 0.6, 0.2], [0.4, 0.2, 0.4], [1 / 3, 1 / 3, 1 / 3]])
    text = (
        "Output 1 attends most to input 2, then to inputs 1 and 3. Output 2 attends most to inputs "
        "1 and 3. Output 3 attends to all of them."
    )
    stated = stated_map([(1, text)], weights[np.newaxis], Tokens(("", "", ""), ("", "", "")))
    assert [each.says for each in stated] == [
        "output 1 → input 2, second 1 and 3",
        "output 2 → input 1 and 3",
        "output 3 → input 1 and 2 and 3",
    ]


def test_equal_weights_are_no_evidence_of_a_map() -> None:
    """Any names fit them, so that rows of other numbers would be a map."""
    lines = ((1, "1 | 2 | 3"), (2, "2 | 3 | 1"), (3, "3 | 1 | 2"))
    names = readings(lines, Tokens(("", "", ""), ("", "", "")), 3)
    equal, other = np.full((3, 3), 1 / 3), np.array([[0, 0.7, 0.3], [0.3, 0, 0.7], [0.7, 0.3, 0]])
    for weights, count in ((equal, 0), (other, 1)):
        found = (maps_in_periods(e.mentions, weights, about=lines_about(lines)) for e in names)
        assert len([*chain(*found)][:1]) == count


def test_a_missing_second_input_is_no_wrong_one() -> None:
    said = verdict(marked(MATRICES + "Output 3 attends to input 1.\n" + "\n".join(RIGHT[:2])))
    assert (
        "On the map, the dashed line of output 3 (line 2 was read as output 3 → input 1) is "
        "missing: it should go to 2."
    ) in said
    assert not any("wrong" in each for each in said)


def test_shares_of_all_inputs_are_no_map() -> None:
    """Each row names all inputs, whatever follows its last number."""
    text = "A\ncat: 0.20 to cat, 0.30 to sat, 0.50 to mat\n"
    assert read("words", text).connections is None


def test_a_value_before_its_input_ranks_it() -> None:
    told = read("words", "cat pays 0.99 to mat. mat pays 0.62 to cat and 0.38 to sat.")
    assert in_short(told) == "cat>mat mat>cat|sat"


def test_sentences_earn_the_points_of_worksheet_lines() -> None:
    marking = marked(MATRICES + "\n".join(RIGHT))
    assert [line.status.value for line in marking.lines] == ["correct"] * 3
    assert "On the map, every line is right." in verdict(marking)
    assert not marking.is_provisional


def test_a_wrong_line_shows_how_its_sentence_was_read() -> None:
    said = verdict(marked(MATRICES + "Output 1 attends to input 2.\n" + "\n".join(RIGHT[1:])))
    assert (
        "On the map, the solid line of output 1 (line 2 was read as output 1 → input 2) is wrong: "
        "it should go to 3."
    ) in said


def test_an_unread_statement_makes_the_score_provisional() -> None:
    marking = marked(MATRICES + "Output 1 attends to the last one.\n")
    said = verdict(marking)
    assert marking.is_provisional
    assert "This score is provisional: 1 statement about the map could not be read." in said
    assert not any("no lines" in each for each in said)
    assert any("line 2: Output 1 attends to the last one." in each for each in said)
    assert json.loads(marking_as_json(marking))["provisional"]


def test_a_map_that_is_not_there_is_not_provisional() -> None:
    marking = marked(MATRICES)
    assert not marking.is_provisional
    assert "Not found: the lines of the map." in verdict(marking)


def test_a_discussion_of_one_output_does_not_make_the_map_count() -> None:
    text = MATRICES + RIGHT[0]
    for more, asked in (("", False), ("\n" + "\n".join(RIGHT[1:]), True)):
        answer = read("self", text + more)
        marking = mark(KEYS["self"], answer, Rules())
        assert ("connections" in (marking.rules.asked or ())) is asked


def test_inputs_without_a_rank_share_the_first_place_only_where_their_weights_do() -> None:
    assert in_short(read("cross", "Output 1 attends to inputs 3 and 4.")) == "1>3,4"
    answer = read("cross", "Output 2 attends to inputs 3 and 4.")
    assert answer.connections is None
    assert [each.of_map for each in answer.unread] == [True]


@pytest.mark.parametrize(
    ("place", "text", "wanted"),
    [
        ("a.json", json.dumps({"connections": [*RIGHT[:2], "3 -> 1"]}), "1>3 2>3 3>1"),
        ("a.json", json.dumps({"connections": {"1": 3, "2": "3"}}), "1>3 2>3"),
        ("a.json", json.dumps({"connections": "\n".join(RIGHT)}), "1>3 2>3 3>1|2"),
        ("a.csv", "Q\n1,3\nconnections\noutput,largest,second\n1,3,\n3,1,2\n", "1>3 3>1|2"),
        ("a.csv", "Q\n1,3\nconnections\nsecond,output,largest\n,1,3\n2,3,1\n", "1>3 3>1|2"),
        ("a.csv", f"Q\n1,3\nconnections\n{RIGHT[0]}\n\"{RIGHT[2]}\"\n", "1>3 3>1|2"),
        ("a.html", "<table><tr><th>output</th><th>largest</th></tr><tr><td>1</td><td>3</td></tr>"
         "</table><p>Q = [1 3; -1 1; 2.5 -2]</p>", "1>3"),
    ],
)  # fmt: skip
def test_the_map_is_read_in_every_form(place: str, text: str, wanted: str) -> None:
    answer = read_answer_bytes(text.encode(), place, KEYS["self"].expected)
    assert in_short(answer) == wanted
    assert not answer.unread


def test_lists_of_ranks_in_json_are_the_map_of_their_head() -> None:
    steps = {"scores": [[7, 6, -7], [3, 4, -3], [3, 2, -3]], "most": [1, 2, 1], "second": [2, 1, 2]}
    others = {"scores": [[6, 5, 2], [7, 5, -1], [-4, -3, 0]], "most": [1, 1, 3], "second": [2] * 3}
    text = json.dumps({"head_1": steps, "head_2": others})
    answer = read_answer_bytes(text.encode(), "a.json", expected_of("bu3"))
    assert in_short(answer) == "1>1|2 2>2|1 3>1|2 1>1|2 2>1|2 3>3|2"
    assert not answer.unread


def test_names_of_several_lines_are_no_list_of_outputs() -> None:
    lines = ["the: más a chased, segundo it", "dog: más a chased, segundo it",
             "chased: más a chased, segundo the", "it: más a chased, segundo the"]  # fmt: skip
    weights = "A = [0.045 0.011 0.76 0.185; 0.045 0.011 0.76 0.185; " \
        "0.131 0.065 0.539 0.266; 0.131 0.065 0.539 0.266]"  # fmt: skip
    text = "\n".join([weights, *lines])
    answer = read_answer_bytes(text.encode(), "a.txt", expected_of("bv4"))
    assert in_short(answer).endswith("chased>chased|the it>chased|the")


def test_unread_parts_of_a_map_in_json_are_listed() -> None:
    text = json.dumps({"Q": [[1, 3]], "connections": [[1, 3], "somewhere"]})
    answer = read_answer_bytes(text.encode(), "a.json", KEYS["self"].expected)
    assert [each.text for each in answer.unread if each.of_map] == ['["1", "3"]', "somewhere"]


def test_words_above_sentences_name_their_head_and_attention() -> None:
    heads = key("heads")
    most = [int(row.argmax()) + 1 for row in heads.expected.steps["A"][1]]
    text = "Head 2\n\n" + "".join(
        f"output {k} attends to input {m}\n" for k, m in enumerate(most, 1)
    )
    found = read_text_answer(text, "a.txt", heads.expected).connections or ()
    assert [(each.head, each.most) for each in found] == [
        (2, (heads.expected.labels.keys[k - 1],)) for k in most
    ]
    decoder = key("decoder").expected
    most = [int(row.argmax()) + 1 for row in decoder.steps["cross.A"]]
    text = "cross map:\n\n" + "".join(f"{k} -> {m}\n" for k, m in enumerate(most, 1))
    found = read_text_answer(text, "a.txt", decoder).connections or ()
    assert [(each.of, each.output, each.most) for each in found] == [
        ("cross", str(k), (str(m),)) for k, m in enumerate(most, 1)
    ]


@pytest.mark.slow
def test_no_words_in_any_order_make_the_reader_fail() -> None:
    rng = random.Random(3)
    words = [word.strip("*") for word in _KINDS]
    words += [
        *"123(),.:|=\n",
        "x1",
        "X2",
        "k_3",
        "0,5",
        "–3",
        "+2",
        "62 %",
        "1/2",
        "->",
        "- ->",
    ] * 20
    words += ["the (1)", "first", "2nd", "two", '"cat"'] * 20
    for names in (("the (1)", "output", "2nd", "a b c"), ("cat", "word1", "x1", "no")):
        labels = Tokens(names, names)
        expected = replace(KEYS["self"].expected, labels=labels, names=names * 2)
        for _ in range(100):
            text = " ".join(rng.choices([*words, *names * 30], k=rng.randint(1, 25)))
            read_text_answer(text, "a.txt", expected)


@pytest.mark.campaign(3)
@pytest.mark.parametrize(
    "text",
    mostly_slow(
        ["1 -> " * 20_000, "output 1 attends to " * 5_000, "output 1 attends to\n" * 5_000,
         "1 -> 2\n" * 15_000, "output | most\n" * 7_000, "output | most\n" + "1 | 2\n" * 15_000,
         "first " * 15_000, "the first and\n" * 7_000, "1, " * 30_000, "(" * 90_000,
         "\\begin{tabular}\noutput & most\n" * 3_000, "output 1 and\n\n" * 7_000]
    ),
)  # fmt: skip
def test_no_sentences_take_long(text: str) -> None:
    assert not takes_longer(lambda: read("self", text), 2.0)


@pytest.mark.slow
def test_an_attncalc_page_is_read_as_it_was() -> None:
    """Dots in two columns below "Inputs Outputs" are not a table, and not sentences."""
    text = sample("worksheet").path.read_text("utf-8")
    answer = read("self", text)
    assert in_short(answer) == "1>3 2>3 3>1,2"
    assert not any(each.is_told for each in answer.connections or ())
    hows = [each.how for each in answer.taken if each.what == "map"]
    assert hows == ["output 1 → input 3", "output 2 → input 3", "output 3 → input 1 and 2"]


def test_a_table_row_with_one_input_twice_ranks_it_first() -> None:
    text = "output | largest | second\n1 | 3 | -\n2 | - | -\n3 | 1 | 1"
    assert in_short(read("self", text)) == "1>3 3>1"


SWAPPED = np.array([[0.1, 0.7, 0.2], [0.8, 0.1, 0.1], [0.2, 0.6, 0.2]])


@for_all(
    "text",
    [
        "出力1は入力2を最もよく見ており、次に入力3。\n出力2は入力1を最もよく見ており。\n出力3は入力2を最もよく見ており。",
        "Đầu ra 1 chú ý nhiều nhất vào đầu vào 2, sau đó là 3.\n"
        "Đầu ra 2 chú ý nhiều nhất vào đầu vào 1.\nĐầu ra 3 chú ý nhiều nhất vào đầu vào 2.",
        "Utdata 1 tittar mest på indata 2, sedan på indata 3. Utdata 2 tittar bara på indata 1. "
        "Utdata 3 tittar mest på indata 2.",
        "1→2, 2→1, 3→2 (c'est tout)",
        "| çıktı | en çok baktığı girdi |\n|:-:|:-:|\n| 1 | 2 |\n| 2 | 1 |\n| 3 | 2 |",
        "1. çıktı en çok 2. girdiye bakıyor. 2. çıktı en çok 1. girdiye bakıyor. 3. çıktı en çok "
        "2. girdiye bakıyor.",
        "1 kijkt naar 2 en 2 kijkt naar 1 en 3 kijkt naar 2",
        "Первый выход смотрит на 2, второй на 1, третий на 2.",
        "- id: 1\n  mira: 2\n- id: 2\n  mira: 1\n- id: 3\n  mira: 2",
        "The first one looks at input 2, the second one at input 1, the third one at input 2",
    ],
)
def test_a_map_in_any_words_is_read_where_it_fits_the_weights(text: str) -> None:
    lines = [*enumerate(text.split("\n"), start=1)]
    found = stated_map(lines, SWAPPED[None], Tokens())
    assert [(each.output, each.most) for each in found] == [
        ("1", ("2",)),
        ("2", ("1",)),
        ("3", ("2",)),
    ]


@pytest.mark.parametrize(
    "text", ["A.argmax(1)\n[1 0 1]", "which.max of each row\n[1] 2 1 2", "argmax\n\n2\n1\n2"]
)
def test_a_map_is_read_from_the_places_that_a_program_prints(text: str) -> None:
    found = stated_map([*enumerate(text.split("\n"), start=1)], SWAPPED[None], Tokens())
    assert [(each.output, each.most) for each in found] == [
        ("1", ("2",)), ("2", ("1",)), ("3", ("2",)),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    ["Sentence: a b c", "to 1   to 2   to 3", "| 1 | 3 | 2 |\n| 2 | 3 | 1 |\n| 3 | 1 | 2 |",
     "Exercise 1, page 2 of 3",
     "<tr><td>1</td><td>2</td></tr>\n<tr><td>2</td><td>1</td></tr>\n<tr><td>3</td><td>2</td></tr>",
     "q1 = (1, 2)\nq2 = (2, 1)\nq3 = (3, 2)"],
)  # fmt: skip
def test_other_numbers_are_not_a_map(text: str) -> None:
    assert not found_in_order(text, SWAPPED[None], Tokens(("a", "b", "c"), ("a", "b", "c")))


def test_a_wrong_line_of_a_map_in_equal_words_stays_wrong() -> None:
    lines = [
        (1, "Ausgang 1: am besten 2"),
        (2, "Ausgang 2: am besten 3"),
        (3, "Ausgang 3: am besten 2"),
    ]
    assert [each.most for each in stated_map(lines, SWAPPED[None], Tokens())] == [
        ("2",),
        ("3",),
        ("2",),
    ]


def test_a_map_beside_weights_with_tokens_as_columns() -> None:
    columns = SWAPPED.T
    rows = "; ".join(" ".join(map(str, row)) for row in columns)
    text = (
        f"A = [{rows}]\n\nUtdata 1 tittar mest på indata 2. Utdata 2 tittar bara på indata 1. "
        "Utdata 3 tittar helst på indata 2.\n"
    )
    answer = read_text_answer(text, "a.md", Expected({"A": columns}, by_columns=True))
    assert [each.most for each in answer.connections or ()] == [("2",), ("1",), ("2",)]


@pytest.mark.parametrize(
    "told",
    [
        {"interpretation": [
            {"query_token": 1, "attends_most_to_token": 3, "then_to_token": None},
            {"query_token": 2, "attends_most_to_token": 3, "then_to_token": None},
            {"query_token": 3, "attends_most_to_token": 1, "then_to_token": 2},
        ]},
        {"map": {"1": {"most": 3, "second": "-"}, "2": {"most": 3, "second": "-"},
                 "3": {"most": 1, "second": 2}}},
    ],
)  # fmt: skip
def test_records_of_json_are_read_as_a_table(told: dict[str, Any]) -> None:
    text = json.dumps({"Q": [[1, 3], [-1, 1], [2.5, -2]], **told})
    answer = read_answer_bytes(text.encode(), "a.json", KEYS["self"].expected)
    assert in_short(answer) == "1>3 2>3 3>1|2"


def test_behind_a_tie_the_next_weight_may_be_second() -> None:
    rule = Rules(asked=("connections",))
    (tied, _) = KEYS["cross"].solution.heads[0].connections
    assert len(tied.most) == 2
    first = " and ".join(str(k + 1) for k in tied.most)
    shares = []
    for second in ("", ", second input 1", ", second input 2"):
        text = f"Output 1: most inputs {first}{second}"
        (line, _) = mark(KEYS["cross"], read("cross", text), rule).lines
        shares.append(line.share)
    weights = KEYS["cross"].exact["A"][0]
    right = 1 if weights[0] > weights[1] else 2
    assert (shares[0], shares[right], shares[3 - right]) == (1, 1, 0.5)


def test_the_weights_tell_which_inputs_are_of_an_output() -> None:
    text = "wyjście 1\t2 i 3 (remis)\t1\nwyjście 2\t1\t3\nwyjście 3\t3\t1 i 2 (remis)"
    weights = np.array([[[0.2, 0.4, 0.4], [0.6, 0.1, 0.3], [0.2, 0.2, 0.6]]])
    found = stated_map([*enumerate(text.split("\n"), start=1)], weights, Tokens())
    assert [(e.most, e.second) for e in found] == [
        (("2", "3"), ("1",)), (("1",), ("3",)), (("3",), ("1", "2")),
    ]  # fmt: skip
    both = stated_map([(1, "Both rows put most on the second one.")], SWAPPED[None, ::2], Tokens())
    assert [(e.output, e.most) for e in both] == [("1", ("2",)), ("2", ("2",))]
    weights = np.array([[[0.0, 0.1, 0.6, 0.3], [0.1, 0.8, 0.0, 0.1]]])
    text = "The first query mostly reads token 3 of $X_2$, the second one reads token 2."
    assert [e.most for e in stated_map([(1, text)], weights, Tokens())] == [("3",), ("2",)]


def test_another_reading_ranks_no_inputs_that_share_a_line() -> None:
    steps = KEYS["cross"].exact["A"]
    rows = "; ".join(" ".join(f"{value:.2f}" for value in row) for row in steps)
    text = f"A = [{rows}]\n\nOutput 1: most inputs 3 and 4\nOutput 2: most input 4, second input 3"
    assert in_short(read("cross", text)) == "1>3,4 2>4|3"


IN_ORDER = (
    "peta: ana melihat bo, lalu ana. bo melihat ana, lalu bo.",
    "peta: ana xx bo, bo xx ana; yy: ana xx ana, bo xx bo",
    "1. ana: bo (zz ana)\n2. bo: ana (zz bo)",
    "| ana | bo | ana |\n| bo | ana | bo |",
    "ana = bo (xx ana), bo = ana (xx bo)",
    "bo → ana, then bo; ana → bo, then ana",
    "bo ══ ana\nana ══ bo\n\nana -- ana\nbo -- bo",  # inputs come first
    "xx ana yy bo. xx bo yy ana. zz ana ww ana. zz bo ww bo",
)


@for_all("text", IN_ORDER)
def test_a_map_is_read_by_the_order_of_its_names(text: str) -> None:
    names, weights = Tokens(("ana", "bo"), ("ana", "bo")), np.array([[[0.1, 0.9], [0.8, 0.2]]])
    lines = [*enumerate(text.split("\n"), start=1)]
    found = stated_map(lines, weights, names)
    assert sorted((e.output, e.most, e.second) for e in found) == [
        ("ana", ("bo",), ("ana",)),
        ("bo", ("ana",), ("bo",)),
    ]
    both = np.concatenate([weights, weights])
    twice = [*lines, *((n + len(lines), line) for n, line in lines)]
    assert [each.head for each in stated_map(twice, both, names)] == [1, 1, 2, 2]


@for_all(
    "text",
    (
        "most: ana → ana, bo → ana. second: ana – none, bo → bo",  # named alone
        "zz ana yy ana, zz bo yy ana; ww bo vv bo",
        "both ana and bo look at ana; then ana – none, bo → bo",
    ),
)
def test_an_output_that_sees_one_input_has_no_second_one(text: str) -> None:
    names, weights = Tokens(("ana", "bo"), ("ana", "bo")), np.array([[[1.0, 0.0], [0.8, 0.2]]])
    found = stated_map([(1, text)], weights, names)
    assert [(e.most, e.second) for e in found] == [(("ana",), ()), (("ana",), ("bo",))]


def test_names_over_tables_are_no_map() -> None:
    names, weights = Tokens(("ana", "bo"), ("ana", "bo")), np.array([[[0.9, 0.1], [0.8, 0.2]]])
    heads = [(line, "| | ana | bo |") for line in (1, 3, 5)]
    assert not stated_map(heads, weights, names)


def test_words_of_a_map_with_other_inputs_stay_wrong_and_formulas_are_no_map() -> None:
    names, weights = Tokens(("ana", "bo"), ("ana", "bo")), np.array([[[0.1, 0.9], [0.8, 0.2]]])
    (first, _) = stated_map(
        [(1, IN_ORDER[0].replace("melihat bo, lalu ana", "melihat ana, lalu bo"))], weights, names
    )
    assert (first.most, first.second) == (("ana",), ("bo",))
    assert not stated_map([(1, "ana · bo = 3, ana · ana = 2, bo · bo = 1")], weights, names)
    places = "ana looks at 0, then 2. bo looks at 0, then 3"  # no token is the first
    names = Tokens(("ana", "bo"), ("",) * 3)
    assert not found_in_order(places, np.full((1, 2, 3), 1 / 3), names)


def test_with_two_inputs_words_that_name_the_first_imply_the_second(tmp_path: Path) -> None:
    problem = Problem(
        X=np.eye(2), W_Q=2 * np.eye(2), W_K=np.eye(2), W_V=np.eye(2), labels=("we", "go")
    )
    for name, status in (("we", Status.CORRECT), ("go", Status.WRONG)):
        text = f"A = [0.804 0.196; 0.196 0.804]\n\nwe attends most to {name}, go most to go.\n"
        place = tmp_path / f"{name}.txt"
        place.write_text(text, encoding="utf-8")
        assert check(problem, place).lines[0].status is status


@for_all("dashed", ("-->", "- - >", "- - ->", "--> (putus-putus)"))
def test_two_arrows_of_an_output_are_its_first_and_its_second(dashed: str) -> None:
    arrow, _, behind = dashed.partition("> ")
    lines = (f"cat ==> sat\ncat {arrow.rstrip('>')}> mat {behind}\n", "sat ==> mat\n",
             f"sat {arrow.rstrip('>')}> cat {behind}\n", "mat ==> cat\n",
             f"mat {arrow.rstrip('>')}> sat {behind}\n")  # fmt: skip
    answer = read("words", MATRICES + "\nmap:\n" + "".join(lines))
    assert in_short(answer) == "cat>sat|mat sat>mat|cat mat>cat|sat"
    assert not answer.unread


TWO_HEADS = np.array([[[0.6, 0.1, 0.3], [0.2, 0.1, 0.7], [0.3, 0.5, 0.2]],
                      [[0.1, 0.3, 0.6], [0.5, 0.4, 0.1], [0.2, 0.7, 0.1]]])  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "| 1 | 1 | 3 | 3 | 2 |\n| 2 | 3 | 1 | 1 | 2 |\n| 3 | 2 | 1 | 2 | 1 |",
        "1\t1\t3\t\t1\t3\t2\n2\t3\t1\t\t2\t1\t2\n3\t2\t1\t\t3\t2\t1",
        "most  second\n1 3\n3 1\n2 1\nmost  second\n3 2\n1 2\n2 1",
    ],
)
def test_a_map_of_heads_is_read_from_columns(text: str) -> None:
    found = stated_map([*enumerate(text.split("\n"), start=1)], TWO_HEADS, Tokens())
    assert [(each.head, each.output, *each.most, *each.second) for each in found] == [
        (1, "1", "1", "3"), (1, "2", "3", "1"), (1, "3", "2", "1"),
        (2, "1", "3", "2"), (2, "2", "1", "2"), (2, "3", "2", "1"),
    ]  # fmt: skip


@pytest.mark.parametrize(("line", "inputs"), [(1, ()), (59, (2,))])
def test_the_only_input_of_an_output_is_named_near_the_others(
    line: int, inputs: tuple[int, ...]
) -> None:
    weights = np.array([[0, 0, 1], [0.33, 0.67, 0], [0.05, 0.1, 0.85]])
    lines = [(line, "most 3"), (60, "most 2 second 1"), (61, "most 3 second 2")]
    names = readings((*lines,), Tokens(), 3)
    found = (
        said
        for each in names
        for said in maps_in_periods(each.mentions, weights, about=lines_about(lines))
    )
    assert {said.inputs for said in found} == {(inputs, (1, 0), (2, 1))}


def test_weights_of_one_input_have_no_map_in_columns() -> None:
    lines, weights = [(1, "1 -> 1"), (2, "2 -> 1")], np.ones((2, 1))
    (way, *_) = readings((*lines,), Tokens(), 2)
    assert not [*maps_in_periods(way.mentions, weights, about=lines_about(lines))]


@pytest.mark.parametrize("text", ["1 3\n3 1\n2 3", "1 3 2\n3 1", "0.6 0.3\n0.7 0.2\n0.5 0.3"])
def test_columns_that_the_weights_do_not_rank_so_are_no_map(text: str) -> None:
    assert not stated_map([*enumerate(text.split("\n"), start=1)], TWO_HEADS[:1], Tokens())


def test_a_sentence_may_name_each_head() -> None:
    text = (
        "In head 1, token 1 looks at itself most, then at 3, token 2 at 3, then 1, token 3 at 2, "
        "then 1. In head 2, token 1 looks at 3, then 2, token 2 at 1, then itself, token 3 at 2, "
        "then 1."
    )
    found = stated_map([(1, text)], TWO_HEADS, Tokens())
    assert [(each.head, *each.most, *each.second) for each in found] == [
        (1, "1", "3"), (1, "3", "1"), (1, "2", "1"), (2, "3", "2"), (2, "1", "2"), (2, "2", "1"),
    ]  # fmt: skip


def test_a_second_input_may_have_a_weight_that_rounds_to_zero() -> None:
    weights = np.array([[[0.9996, 0.0004, 0], [0.2, 0.8, 0], [0.0002, 0.9995, 0.0003]]])
    names = ("cat", "sat", "mat")
    lines = ["cat -> cat, then sat (hardly)", "sat -> sat, then cat", "mat -> sat, then mat"]
    stated = stated_map([*enumerate(lines, start=1)], weights, Tokens(names, names))
    assert [(each.most, each.second) for each in stated] == [
        (("cat",), ("sat",)),
        (("sat",), ("cat",)),
        (("sat",), ("mat",)),
    ]


def test_second_inputs_of_some_outputs_are_not_completed_by_the_weights() -> None:
    weights = np.array([[[0.9, 0.1, 0], [0.3, 0.7, 0], [0.2, 0.5, 0.3]]])
    names = ("cat", "sat", "mat")
    lines = ["cat -> cat", "sat -> sat", "mat -> sat (0.5), mat in second place"]
    stated = stated_map([*enumerate(lines, start=1)], weights, Tokens(names, names))
    assert [each.second for each in stated] == [(), (), ("mat",)]


def test_a_table_of_a_map_has_a_column_for_each_output() -> None:
    table = "| output | 1 | 2 | 3 |\n|---|---|---|---|\n| most | 3 | 3 | {} |\n| second | {} |"
    assert in_short(read("self", table.format(1, "- | - | 2"))) == "1>3 2>3 3>1|2"
    assert in_short(read("self", table.format(2, "- | 1 | 1"))) == "1>3 2>3|1 3>2|1"


def test_a_table_of_a_map_has_a_column_of_heads_and_headings_in_any_language() -> None:
    head = "| hlava | výstup | nejvíc | potom |\n|---|---|---|---|\n"
    said = [("1", "1", "2", "1"), ("1", "2", "2", "-"), ("1", "3", "1", "2")]
    said += [("2", "1", "1", "3"), ("2", "2", "3", "1"), ("2", "3", "3", "-")]
    table = head + "\n".join(f"| {' | '.join(row)} |" for row in said)
    fields = json.loads(sample("heads").path.read_text("utf-8"))
    del fields["labels"]
    key = key_of(read_stream(json.dumps(fields).encode(), "heads.json"), Rules())
    answer = read_text_answer(f"{MATRICES}\n{table}\n", "a.txt", key.expected)
    read = {(e.head, e.output): (*e.most, *e.second) for e in answer.connections or ()}
    assert read == {(int(k), o): tuple(n for n in ms if n != "-") for k, o, *ms in said}


def test_a_latex_table_of_a_map_loses_no_cell() -> None:
    begin, end = "\\begin{tabular}{l|l} Output & Attends most to \\\\ \\hline\n", "\\end{tabular}"
    rows = with_tables(f"{begin}1\n & 3 \\\\\n2 & 3 \\\\\n{end}").split("\n")
    assert [row.split() for row in rows] == [
        ["|", "Output", "|", "Attends", "most", "to", "|"],
        ["1"],
        ["|", "|", "3", "|"],
        ["|", "2", "|", "3", "|"],
        [],
    ]


RIGHT_WEIGHTS = "A =\n0 0 1\n0 0 1\n0.62 0.38 0\n"


@for_all(
    ("lines", "read_as"),
    [
        # unknown words: two outputs are right, and the third one is not
        ("1 xyz 3, 1 pak\n2 xyz 3, 1 pak\n3 xyz 2, 1 pak", ""),
        ("out 1 -> in 3\nout 2 -> in 1\nout 3 -> in 1 (then in 2)", "1>3 2>1 3>1|2"),
        ("1 attends most to 3\n2 also attends to 1\n3 attends most to 1", "1>3 2>1 3>1"),
    ],
)
def test_a_wrong_line_of_a_map_is_never_read_as_a_right_one(lines: str, read_as: str) -> None:
    for other in ("", "The second column is always twice the first, the third column too.\n"):
        answer = read("self", f"{RIGHT_WEIGHTS}{other}\n{lines}\n")
        assert in_short(answer) in (read_as, "")


def test_a_negative_weight_beside_a_map_is_no_error() -> None:
    text = RIGHT_WEIGHTS.replace("0 0 1", "0 0 -1", 1)
    assert (
        read("self", f"{text}\n1 -> 3\n2 -> 3\n3 -> 1, then 2\n").matrices["A"].values[0, 2] == -1
    )


@for_all(
    ("lines", "listed"),
    [
        ("output ek token teen ko dekhta hai\n1 dekhe 3 ko, aur 1\n2 dekhe 3 ko, 3 dekhe 1 ko", 2),
        ("kisko: 1 aur 2; 2 aur 1; 3 aur 3", 1),
        ("1, 2 and 3 are the tokens.", 0),
        ("The rows 1 and 2 are alike.", 0),
        ("1 x 3 = 3, 2 x 3 = 6, 1 x 1 = 1", 0),
    ],
)
def test_lines_that_name_as_many_tokens_as_a_map_are_listed(lines: str, listed: int) -> None:
    answer = read("self", f"{RIGHT_WEIGHTS}\n{lines}\n")
    assert answer.connections is None
    assert sum(each.of_map for each in answer.unread) == listed


@for_all("first", ["casas", "the house", "x9"])
def test_a_second_input_is_not_taken_for_an_unknown_first_one(first: str) -> None:
    answer = read("self", f"{RIGHT_WEIGHTS}\nOutput 1: most {first}, second input 3\n")
    assert answer.connections is None
    assert [each.line for each in answer.unread if each.of_map] == [6]


def test_words_in_brackets_behind_a_token_are_no_part_of_its_name() -> None:
    lines = "Output 1 -> 3 (then 2)\nOutput 2 -> 3 (then 2)\nOutput 3 -> 1 (then 2)\n"
    answer = read("self", f"{RIGHT_WEIGHTS.replace('0 0 1', '0.1 0.2 0.7')}\n{lines}")
    assert in_short(answer) == "1>3|2 2>3|2 3>1|2"


def test_heads_side_by_side_have_the_numbers_of_their_titles() -> None:
    weights = np.array([[[0.7, 0.3], [0.4, 0.6]], [[0.2, 0.8], [0.9, 0.1]]])
    table = (
        "| Output | Head 2: most | Head 2: then | Head 1: most | Head 1: then |\n"
        "|---|---|---|---|---|\n| 1 | 2 | 1 | 1 | 2 |\n| 2 | 1 | 2 | 2 | 1 |\n"
    )
    answer = read_text_answer(table, "a.txt", Expected({"A": weights}))
    found = {(each.head, each.output): each.most for each in answer.connections or ()}
    assert found == {(1, "1"): ("1",), (1, "2"): ("2",), (2, "1"): ("2",), (2, "2"): ("1",)}
