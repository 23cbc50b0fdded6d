"""The connection map, checked through what is drawn: which lines, which style, to which dot."""

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from attncalc import OutputError, Solution, cross_attention, read_problem, self_attention, solve
from attncalc.plotting.connection_map import THINNEST, draw_map
from attncalc.plotting.picture import check_ending, render
from attncalc.plotting.style import MOST, SECOND
from attncalc.samples import SAMPLES, sample


def solved(name: str) -> Solution:
    return solve(read_problem(sample(name).path))


def identity(scores: list[list[float]], **conventions: Any) -> Solution:
    """Return cross-attention whose scores are these: X1 = I, W_K = I and X2 = scores."""
    eye = np.eye(len(scores))
    values = [[1]] * len(scores)
    return cross_attention(eye, np.array(scores).T, eye, eye, values, scale="none", **conventions)


def random_problem(tokens: int) -> Solution:
    random = np.random.default_rng(7)
    weights = (random.normal(size=(4, 3)) for _ in range(3))
    labels = [f"token {i % 9}" for i in range(tokens)]
    return self_attention(random.normal(size=(tokens, 4)), *weights, labels=labels)


def drawn(solution: Solution) -> tuple[Figure, int]:
    return draw_map(solution.problem, solution.heads)


def dots(figure: Figure, column: str) -> list[tuple[float, float]]:
    """Return where the dots of the "inputs" or "outputs" stand."""
    (found,) = (line for line in figure.axes[0].lines if line.get_gid() == column)
    return list(zip(*found.get_data(), strict=True))


def connections(figure: Figure) -> set[tuple[int, int, str]]:
    """Return what the lines of the map say: output, input, "solid" or "dashed"."""
    inputs, outputs = dots(figure, "inputs"), dots(figure, "outputs")
    found = set()
    for rank in figure.axes[0].collections:
        assert isinstance(rank, LineCollection)
        _, dashes = rank.get_linestyles()[0]
        for start, end in (map(tuple, segment) for segment in rank.get_segments()):
            style = "solid" if dashes is None else "dashed"
            found.add((outputs.index(start), inputs.index(end), style))
    return found


def boxes(figure: Figure) -> list[Any]:
    """Return the rectangles that the written weights fill, in pixels."""
    canvas = FigureCanvasAgg(figure)
    return [
        text.get_window_extent(canvas.get_renderer())
        for text in figure.axes[0].texts
        if text.get_gid() == "weight"
    ]


def weights(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts if text.get_gid() == "weight"]


def test_the_homework_map_has_the_lines_of_its_solution() -> None:
    figure, unplaced = drawn(solved("self"))
    assert connections(figure) == {
        (0, 2, "solid"),
        (1, 2, "solid"),
        (2, 0, "solid"),
        (2, 1, "dashed"),
    }
    assert sorted(weights(figure)) == ["0.38", "0.62", "1.00", "1.00"]
    assert unplaced == 0


def test_the_cross_attention_map_has_two_firsts_for_output_one() -> None:
    figure, _ = drawn(solved("cross"))
    assert connections(figure) == {
        (0, 2, "solid"),
        (0, 3, "solid"),
        (1, 3, "solid"),
        (1, 2, "dashed"),
    }


@pytest.mark.parametrize(
    ("scores", "lines"),
    [
        ([[3, 2, 1]], {(0, 0, "solid"), (0, 1, "dashed")}),
        ([[3, 2, 2]], {(0, 0, "solid"), (0, 1, "dashed"), (0, 2, "dashed")}),
        ([[3, 3, 2]], {(0, 0, "solid"), (0, 1, "solid")}),
        ([[9, 2, 1]], {(0, 0, "solid")}),
        ([[5]], {(0, 0, "solid")}),
    ],
)
def test_ties_and_seconds_follow_the_rules(
    scores: list[list[float]], lines: set[tuple[int, int, str]]
) -> None:
    figure, _ = drawn(identity(scores))
    assert connections(figure) == lines


def test_a_second_line_depends_on_the_decimals_shown() -> None:
    """e⁻⁷ = 0.0009 shows as 0.00 but not as 0.001."""
    assert connections(drawn(identity([[9, 2]]))[0]) == {(0, 0, "solid")}
    assert connections(drawn(identity([[9, 2]], decimals=3))[0]) == {
        (0, 0, "solid"),
        (0, 1, "dashed"),
    }


@pytest.mark.parametrize("tokens", [1, 3, 40])
def test_weights_never_overlap_and_all_are_written(tokens: int) -> None:
    solution = random_problem(tokens)
    figure, unplaced = drawn(solution)
    assert unplaced == 0
    rectangles = boxes(figure)
    assert len(rectangles) == len(connections(figure))
    for i, one in enumerate(rectangles):
        assert not any(one.overlaps(other) for other in rectangles[:i])


def test_forty_equal_weights_share_one_text_for_each_output() -> None:
    figure, unplaced = drawn(self_attention([[1]] * 40, [[1]], [[1]], [[1]], decimals=3))
    assert len(connections(figure)) == 1600
    assert set(weights(figure)) == {"40 × 0.025"}
    assert unplaced == 0


def test_names_of_forty_tokens_stand_apart() -> None:
    figure, _ = drawn(random_problem(40))
    canvas = FigureCanvasAgg(figure)
    names = [t for t in figure.axes[0].texts if t.get_text().startswith("token ")]
    assert len({(t.get_text(), t.get_ha()) for t in names}) == 80, "repeated tokens are told apart"
    spans = [t.get_window_extent(canvas.get_renderer()) for t in names]
    assert not any(a.overlaps(b) for i, a in enumerate(spans) for b in spans[:i])


def test_line_width_grows_with_weight_and_never_vanishes() -> None:
    figure, _ = drawn(identity([[5, 1]], decimals=2))
    solid, dashed = (rank.get_linewidths()[0] for rank in figure.axes[0].collections)
    assert solid > dashed >= THINNEST


def test_rank_is_readable_without_colour() -> None:
    """The dash tells the rank; both inks are dark enough for grey print."""
    assert MOST["linestyle"] != SECOND["linestyle"]
    for look in (MOST, SECOND):
        red, green, blue = to_rgb(str(look["color"]))
        assert 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.5


@pytest.mark.parametrize("form", ["png", "svg", "pdf"])
def test_the_same_input_gives_the_same_bytes(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first = render(solved("sentence"), form).content
    monkeypatch.setitem(mpl.rcParams, "lines.linewidth", 9.0)
    monkeypatch.setitem(mpl.rcParams, "font.size", 30.0)
    assert render(solved("sentence"), form).content == first


@pytest.mark.parametrize("each", SAMPLES, ids=lambda each: each.name)
def test_every_sample_is_drawn(each: Any) -> None:
    picture = render(solved(each.name), "png")
    assert picture.content.startswith(b"\x89PNG")
    assert picture.notes == ()


def test_an_svg_speaks_to_screen_readers() -> None:
    root = ElementTree.fromstring(render(solved("cross"), "svg").content)
    texts = {child.tag.split("}")[1]: child.text for child in root[:2]}
    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == "map-title map-description"
    assert texts == {
        "title": "Cross-attention: Two tokens attend to four",
        "desc": (
            "Connection map. tokens are rows. scores not scaled. "
            "shown to 2 decimals, halves away from zero. "
            "each step rounded before the next reads it (rounding: each-step). "
            "Output 1: most inputs 3 and 4 (0.40 each), so no second. "
            "Output 2: most input 4 (0.64), second input 3 (0.24)."
        ),
    }


HOSTILE = ["$x^2$", "$\\frac{", "[red]", "<b>&amp;", "a\x1b[31m\x00b", "שלום", "\u202eevil"]


@pytest.mark.parametrize("form", ["png", "svg", "pdf"])
def test_hostile_names_are_drawn_as_text(form: str) -> None:
    X = [[i] for i in range(len(HOSTILE))]
    solution = self_attention(X, [[1]], [[1]], [[1]], labels=HOSTILE, title="$\\bad{ <svg> ]]>")
    picture = render(solution, form)
    assert picture.notes == ()
    if form == "svg":
        root = ElementTree.fromstring(picture.content)
        assert root[0].text == "Self-attention: $\\bad{ <svg> ]]>"


def test_letters_no_font_can_draw_are_named_in_a_note_and_stay_text_in_svg() -> None:
    """U+10FFFD is a private character: no font has it, so the note must say so."""
    solution = self_attention([[1]], [[1]], [[1]], [[1]], labels=["ᚠ\U0001fabf"])
    picture = render(solution, "svg")
    if picture.notes:
        assert re.fullmatch(
            "no font here can draw .*: boxes stand for them in the picture", picture.notes[0]
        )
        assert "ᚠ\U0001fabf" in picture.content.decode()


def test_only_known_kinds_of_picture_are_taken() -> None:
    assert [check_ending(Path(name)) for name in ("a.png", "b.SVG", "c.d.pdf")] == [
        "png",
        "svg",
        "pdf",
    ]
    for name, reason in (
        ("map.gif", 'map.gif: ".gif" is no kind of picture: end the name in .png, .svg or .pdf'),
        ("map", "map: no ending: end the name in .png, .svg or .pdf"),
    ):
        with pytest.raises(OutputError) as error:
            check_ending(Path(name))
        assert str(error.value) == reason
